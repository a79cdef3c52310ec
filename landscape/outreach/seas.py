"""Seas and straits: the water between two fields, named by what separates them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.outreach.terrain import Terrain

    Floats = NDArray[np.float64]

_GRID = 420  # cells along the longer side; finer shores change no name
_FACING = -0.2  # largest cosine between the ways to two shores that face each other
_SHORTEST = 0.02  # of the map's longer side: a shorter channel is a notch
_STRAIT = 0.045  # of the map's longer side: wider water is a sea
_WORD = (4, 24)  # letters of a name
# A word names a shore that has it in at least this share of its papers, and so many times as often
# as the shore across; where no word does, the water stays without a name.
_COMMON, _CONTRAST = 0.08, 3.0


@dataclass(frozen=True)
class Water:
    """Water between two fields.

    Attributes
    ----------
    shores : (int, int)
        Topics of the fields on its two shores, the smaller number first.
    kind : {"strait", "sea"}
    x, y : ndarray of float, shape (n,)
        Its middle line, in map coordinates.
    width : float
        Median distance from shore to shore, in map units.
    """

    shores: tuple[int, int]
    kind: str
    x: Floats
    y: Floats
    width: float

    @property
    def key(self) -> str:
        """Its key in the gazetteer.

        Examples
        --------
        >>> Water((3, 7), "sea", np.zeros(1), np.zeros(1), 1.0).key
        '3|7'
        """
        return f"{self.shores[0]}|{self.shores[1]}"


def find_waters(terrain: Terrain, x: Floats, y: Floats, fields: NDArray[np.integer]) -> list[Water]:
    """Find the waters that lie between two fields, the longest first.

    Parameters
    ----------
    terrain : Terrain
    x, y : ndarray of float, shape (n_papers,)
        Papers, in map coordinates.
    fields : ndarray of int, shape (n_papers,)
        Field of each paper; -1 for none.

    Returns
    -------
    list of Water
        At most one for each pair of fields.

    Notes
    -----
    Land belongs to the field of the nearest paper, water to the field of the nearest land. Where
    two fields meet on water, and their shores lie on opposite sides, runs the middle line.

    Examples
    --------
    >>> from landscape.outreach.terrain import Terrain
    >>> ground = np.full((40, 60), 0.5, dtype=np.float32)
    >>> ground[:, 25:35] = -0.5
    >>> terrain = Terrain(ground, ground, (0.0, 6.0, 0.0, 4.0))
    >>> waters = find_waters(terrain, np.array([1.0, 5.0]), np.array([2.0, 2.0]), np.array([4, 9]))
    >>> [(water.shores, round(water.width, 1)) for water in waters]
    [((4, 9), 1.0)]
    """
    from scipy.ndimage import distance_transform_edt, label
    from scipy.spatial import cKDTree

    known = np.flatnonzero(np.asarray(fields) >= 0)
    step = max(1, max(terrain.size) // _GRID)
    land = terrain.elevation[::step, ::step] >= 0
    if len(known) == 0 or land.all() or not land.any():
        return []
    known = known[:: max(1, len(known) // 20_000)]
    height, width = land.shape
    x0, x1, y0, y1 = terrain.extent
    across, up = (x1 - x0) / width, (y1 - y0) / height
    columns = x0 + (np.arange(width) + 0.5) * across
    rows = y1 - (np.arange(height) + 0.5) * up
    owner = np.full(land.shape, -1, dtype=np.int64)
    on_row, on_column = np.nonzero(land)
    tree = cKDTree(np.column_stack([np.asarray(x)[known], np.asarray(y)[known]]))
    _, nearest = tree.query(np.column_stack([columns[on_column], rows[on_row]]))
    owner[on_row, on_column] = np.asarray(fields)[known][nearest]

    distance, (shore_row, shore_column) = distance_transform_edt(
        ~land, sampling=(up, across), return_indices=True
    )
    owner = owner[shore_row, shore_column]
    side = max(x1 - x0, y1 - y0)
    meetings: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for down, right in ((0, 1), (1, 0)):
        here = (slice(0, height - down), slice(0, width - right))
        there = (slice(down, height), slice(right, width))
        meets = (owner[here] != owner[there]) & ~land[here] & ~land[there]
        for row, column in zip(*np.nonzero(meets), strict=True):
            other = row + down, column + right
            ways = []
            for r, c in ((row, column), other):
                way = np.array(
                    [(shore_column[r, c] - column) * across, (shore_row[r, c] - row) * up]
                )
                ways.append(way / max(float(np.linalg.norm(way)), 1e-12))
            if float(ways[0] @ ways[1]) <= _FACING:
                first, second = sorted((int(owner[row, column]), int(owner[other])))
                meetings.setdefault((first, second), []).append((int(row), int(column)))
    found = []
    for pair, cells in meetings.items():
        mask = np.zeros(land.shape, dtype=bool)
        mask[tuple(np.array(cells).T)] = True
        parts, count = label(mask, structure=np.ones((3, 3)))
        sizes = np.bincount(parts.ravel(), minlength=count + 1)[1:]
        row, column = np.nonzero(parts == 1 + int(sizes.argmax()))
        line_x, line_y = columns[column], rows[row]
        if np.hypot(np.ptp(line_x), np.ptp(line_y)) < _SHORTEST * side:
            continue
        wide = 2 * float(np.median(distance[row, column]))
        kind = "strait" if wide < _STRAIT * side else "sea"
        found.append(Water(pair, kind, line_x, line_y, wide))
    found.sort(key=lambda water: (-len(water.x) * water.width, water.shores))
    return found


@dataclass(frozen=True)
class Separation:
    """What separates two fields: a word of one shore and a word of the other.

    Attributes
    ----------
    words : (str, str)
        A keyword of each shore.
    shares : tuple of (float, float)
        For each word, the share of the papers on its own shore that have it, and on the other.
    """

    words: tuple[str, str]
    shares: tuple[tuple[float, float], tuple[float, float]]

    def sentence(self, first: str, second: str) -> str:
        """Say it for the gazetteer.

        Examples
        --------
        >>> Separation(("dust", "jets"), ((0.4, 0.1), (0.3, 0.0))).sentence("Comets", "Quasars")
        'dust: 40% of the papers near the shore of Comets, 10% across; jets: 30% ... 0% across'
        """
        (near, far), (near2, far2) = self.shares
        return (
            f"{self.words[0]}: {near:.0%} of the papers near the shore of {first}, {far:.0%} "
            f"across; {self.words[1]}: {near2:.0%} near the shore of {second}, {far2:.0%} across"
        )


def separation(
    first: Iterable[Sequence[str] | None],
    second: Iterable[Sequence[str] | None],
    *,
    avoid: Iterable[str] = (),
) -> Separation | None:
    """Find the keyword of each shore whose share differs most from the other shore's.

    A keyword has to be common on its own shore and rare across.

    Parameters
    ----------
    first, second : iterable of sequence of str
        Keywords of the papers near each shore; None for a paper that has none.
    avoid : iterable of str
        Words that are taken, such as names of regions.

    Returns
    -------
    Separation or None
        None where nothing tells the shores apart.

    Examples
    --------
    >>> shores = [["comets", "surveys"]] * 4, [["quasars", "surveys"]] * 4
    >>> separation(*shores).words
    ('comets', 'quasars')
    """
    counts, totals = [], []
    for papers in (first, second):
        sets = [{str(word) for word in words} for words in papers if words is not None]
        counts.append(Counter(word for words in sets for word in words))
        totals.append(max(1, len(sets)))
    taken = {word.casefold() for word in avoid}
    words, shares = [], []
    for own, other in ((0, 1), (1, 0)):
        scores = [
            (count / totals[own] - counts[other][word] / totals[other], word)
            for word, count in counts[own].items()
            if _WORD[0] <= len(word) <= _WORD[1]
            and word.casefold() not in taken
            and count >= _COMMON * totals[own]
            and count * totals[other] >= _CONTRAST * counts[other][word] * totals[own]
            and not any(character.isdigit() for character in word)
        ]
        if not scores:
            return None
        _, word = max(scores, key=lambda score: (score[0], score[1]))
        words.append(word)
        shares.append((counts[own][word] / totals[own], counts[other][word] / totals[other]))
        taken.add(word.casefold())
    return Separation((words[0], words[1]), (shares[0], shares[1]))


def papers_on_shores(
    water: Water, x: Floats, y: Floats, fields: NDArray[np.integer], *, most: int = 150
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of the papers nearest to a water, of each shore's field, nearest first.

    Examples
    --------
    >>> water = Water((0, 1), "sea", np.array([0.0]), np.array([0.0]), 1.0)
    >>> near = papers_on_shores(water, np.array([-1.0, -2, 3]), np.zeros(3), np.array([0, 0, 1]))
    >>> [rows.tolist() for rows in near]
    [[0, 1], [2]]
    """
    from scipy.spatial import cKDTree

    tree = cKDTree(np.column_stack([water.x, water.y]))
    shores = []
    for field in water.shores:
        rows = np.flatnonzero(np.asarray(fields) == field)
        away, _ = tree.query(np.column_stack([np.asarray(x)[rows], np.asarray(y)[rows]]))
        shores.append(rows[np.argsort(away, kind="stable")[:most]])
    return shores[0], shores[1]
