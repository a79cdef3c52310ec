"""Choose colours of adjacent areas of a map that differ for all readers.

A pair of adjacent areas has a cost that increases with the length of their border and decreases
with the difference of their colours. The difference is the smallest one for normal vision,
protanopia, deuteranopia and tritanopia.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from landscape.figures.colours import Floats, srgb_to_oklab
from landscape.mapping.density import count_grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.figures.scene import Box

    Ints = NDArray[np.int64]

# Simulations at full severity, in linear light: Machado, Oliveira & Fernandes (2009), IEEE Trans.
# Vis. Comput. Graph. 15, 1291.
DEFICIENCIES = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
_EMPTY = 1e-6  # papers in a cell
_NEAR_CELLS = 3.0  # kernel width in cells
_FAR = 0.02  # weight of a pair of areas without a border, relative to the mean border
_LEAST = 0.02  # a difference in OKLab that is just noticeable
_MAX_PASSES = 50


def find_areas(
    x: Floats, y: Floats, groups: Ints, *, bounds: Box, shape: tuple[int, int]
) -> tuple[Ints, Ints]:
    """Return the groups from the largest on, and the place of the most frequent one in each cell.

    The groups are numbers of at least 0; -1 stands for papers outside. An empty cell belongs to the
    nearest area. The second array has the given shape.
    """
    from scipy.ndimage import distance_transform_edt, gaussian_filter

    numbers, papers = np.unique(groups[groups >= 0], return_counts=True)
    numbers = numbers[np.argsort(-papers, kind="stable")]
    most, leader = np.full(shape, _EMPTY), np.zeros(shape, dtype=np.int64)
    for place, number in enumerate(numbers):
        own = groups == number
        counts = count_grid(x[own], y[own], bounds=bounds, shape=shape)
        near = gaussian_filter(counts.astype(np.float64), _NEAR_CELLS)
        leader[near > most] = place
        most = np.maximum(most, near)
    if len(numbers):
        row, column = distance_transform_edt(
            most <= _EMPTY, return_distances=False, return_indices=True
        )
        leader = leader[row, column]
    return numbers, leader


def count_borders(leader: Ints, n: int) -> Floats:
    """Return the length of the border between each pair of `n` areas, in cells; shape (n, n)."""
    borders = np.zeros((n, n))
    for one, other in ((leader[1:], leader[:-1]), (leader[:, 1:], leader[:, :-1])):
        np.add.at(borders, (one, other), 1)
    borders += borders.T
    np.fill_diagonal(borders, 0)
    return borders


def measure_borders(outlines: Sequence[Floats], *, near: float) -> Floats:
    """Return how many points of two outlines are closer than `near` to the other, shape (n, n)."""
    from scipy.spatial import cKDTree

    borders, trees = np.zeros((len(outlines), len(outlines))), [cKDTree(one) for one in outlines]
    for one, other in permutations(range(len(outlines)), 2):
        distance, _ = trees[other].query(outlines[one], distance_upper_bound=near)
        borders[one, other] = np.isfinite(distance).sum()
    return borders + borders.T


def differences(colours: Floats) -> Floats:
    """Return the smallest difference of each pair of colours for any reader, shape (n, n)."""
    found = [_distances(srgb_to_oklab(colours))]
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    for matrix in DEFICIENCIES.values():
        seen = np.clip(linear @ np.array(matrix).T, 0, 1)
        seen = np.where(seen <= 0.0031308, 12.92 * seen, 1.055 * seen ** (1 / 2.4) - 0.055)
        found.append(_distances(srgb_to_oklab(seen)))
    return np.min(found, axis=0)


def _distances(lab: Floats) -> Floats:
    return np.asarray(np.linalg.norm(lab[:, None] - lab[None], axis=2))


def choose_colours(borders: Floats, palettes: Sequence[Floats]) -> list[int]:
    """Return the number of the colour of each area, so that adjacent areas differ.

    Parameters
    ----------
    borders : ndarray of float, shape (n, n)
        Lengths of the borders, with a diagonal of 0.
    palettes : sequence of ndarray of float, shape (n_colours, 3)
        Palettes of the same length in sRGB, such as those of the light and the dark theme. Colours
        are repeated only if there are more areas than colours.

    Returns
    -------
    list of int

    Examples
    --------
    >>> red_green_white = np.array([[0.8, 0.2, 0.1], [0.5, 0.4, 0.0], [1.0, 1.0, 1.0]])
    >>> in_a_row = np.array([[0.0, 9.0, 0.0], [9.0, 0.0, 9.0], [0.0, 9.0, 0.0]])
    >>> choose_colours(in_a_row, [red_green_white])[1]  # between the two others
    2
    """
    n, n_colours = len(borders), len(palettes[0])
    unlike = np.min([differences(palette) for palette in palettes], axis=0)
    penalty = 1 / (unlike + _LEAST) ** 4
    lengths = np.sqrt(borders)  # a short border counts too
    mean = lengths[lengths > 0].mean() if (lengths > 0).any() else 1.0
    weights = lengths + _FAR * mean * ~np.eye(n, dtype=bool)
    chosen = np.full(n, -1, dtype=np.int64)
    for area in np.argsort(-borders.sum(axis=1), kind="stable").tolist():
        known = np.flatnonzero(chosen >= 0)
        cost = weights[area, known] @ penalty[chosen[known]]
        if n <= n_colours:
            cost[chosen[known]] = np.inf
        chosen[area] = int(np.argmin(cost))
    for _ in range(_MAX_PASSES):
        if not _improve(chosen, weights, penalty, can_repeat=n > n_colours):
            break
    return [int(colour) for colour in chosen]


def _improve(chosen: Ints, weights: Floats, penalty: Floats, *, can_repeat: bool) -> bool:
    """Change the colour of single areas, or exchange those of two, if the cost decreases."""

    def cost(colours: Ints) -> float:
        return float((weights * penalty[np.ix_(colours, colours)]).sum())

    has_changed, best = False, cost(chosen)
    for area in range(len(chosen)):
        for colour in range(len(penalty)):
            trial = chosen.copy()
            if not can_repeat:
                trial[chosen == colour] = chosen[area]
            trial[area] = colour
            value = cost(trial)
            if value < best * (1 - 1e-9):
                chosen[:], best, has_changed = trial, value, True
    return has_changed
