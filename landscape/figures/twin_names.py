"""Names on the twins of maps: beside each other and beside what is marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.figures.lettering import boxes_overlap
from landscape.figures.names import clean_name, line_breaks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SIZE = 13  # pixels
_LINE = 1.3
_LETTER = 0.56  # mean width, in font sizes, of the widest font that a browser may choose
_WIDTH = 780  # pixels of a map in a notebook's cell
_GAP = 5.0
_MARK = 6.0  # half the width of a marked paper with its border
# Where a name may stand, in its own widths and heights from its place, the best first.
_SLIDES = np.array(
    [(0, 0), (0, 0.8), (0, -0.8), (0.3, 0), (-0.3, 0), (0, 1.5), (0, -1.5), (0.3, 0.8), (-0.3, 0.8),
     (0.3, -0.8), (-0.3, -0.8), (0.5, 0), (-0.5, 0), (0, 2.2), (0, -2.2)]
)  # fmt: skip


def place_names(
    names: Sequence[str],
    x: Any,
    y: Any,
    *,
    across: tuple[float, float],
    clear_of: Any = (),
) -> list[tuple[int, tuple[str, ...], float, float]]:
    """Choose where names stand on a map in a notebook.

    Parameters
    ----------
    names : sequence of str, shape (n,)
        The most important first.
    x, y : array_like of float, shape (n,)
        Where they belong, in map units.
    across : (float, float)
        Map units from the left edge to the right.
    clear_of : array_like of float, shape (m, 2)
        Places that a name covers only where it has no other.

    Returns
    -------
    list of (int, tuple of str, float, float)
        Number of the name, its lines, and its middle in map units; those for which there is no
        room are left out.

    Examples
    --------
    >>> placed = place_names(["Dust", "Stars"], [0.0, 0.01], [0.0, 0.0], across=(-1.0, 1.0))
    >>> [lines for _, lines, _, _ in placed], placed[0][3] != placed[1][3]
    ([('Dust',), ('Stars',)], True)
    """
    unit = (across[1] - across[0]) / _WIDTH
    places = np.column_stack([x, y]).astype(float) / unit
    marks = np.asarray(clear_of, dtype=float).reshape(-1, 2) / unit
    marked = np.hstack([marks - _MARK, marks + _MARK])
    taken = np.empty((0, 4))
    placed = []
    for number, name in enumerate(names):
        ways = [tuple(way.split("\n")) for way in line_breaks(clean_name(name, most=60))]
        ways.sort(key=lambda lines: (max(map(len, lines)) > 24, len(lines)))
        found = _first_free(places[number], ways, taken, marked)
        if found is None:
            continue
        lines, box = found
        taken = np.vstack([taken, box])
        middle = (box[:2] + box[2:]) / 2 * unit
        placed.append((number, lines, float(middle[0]), float(middle[1])))
    return placed


def _first_free(
    place: Floats, ways: list[tuple[str, ...]], taken: Floats, marked: Floats
) -> tuple[tuple[str, ...], Floats] | None:
    """The first way and place that meets no name, and as few marks as can be."""
    best: tuple[int, tuple[str, ...], Floats] | None = None
    for lines in ways:
        half = np.array([max(map(len, lines)) * _LETTER, len(lines) * _LINE]) * SIZE / 2
        centres = place + _SLIDES * (2 * half)
        boxes = np.hstack([centres - half, centres + half])
        boxes = boxes[~boxes_overlap(boxes[:, None], taken[None], gap=_GAP).any(axis=1)]
        if not len(boxes):
            continue
        covered = boxes_overlap(boxes[:, None], marked[None], gap=0).sum(axis=1)
        first = int(np.argmin(covered))
        if best is None or covered[first] < best[0]:
            best = int(covered[first]), lines, boxes[first]
        if best[0] == 0:
            break
    return None if best is None else best[1:]
