"""Find the seas and straits between continents, and their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landscape.mapping.naming import QUANTITIES, UNTELLING
from landscape.outreach._terrain import Terrain
from landscape.text.words import normal_form, normal_forms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


_GRID = 420  # cells along the longer side
_FACING = -0.2  # maximum cosine of the angle between the directions to two shores
_MIN_LENGTH = 0.02  # minimum length of a channel, relative to the map's longer side
_STRAIT = 0.045  # maximum width of a strait, relative to the map's longer side
_WORD = (4, 24)  # minimum and maximum number of characters of a keyword
# Minimum share of the papers on both shores that have the keyword. Waters without one have no name.
_COMMON = 0.04


@dataclass(frozen=True)
class Water:
    """A sea or strait between two fields of research."""

    shores: tuple[int, int]
    kind: str
    x: Floats
    y: Floats
    width: float

    @property
    def key(self) -> str:
        """Key of this sea or strait in the gazetteer."""
        return f"{self.shores[0]}|{self.shores[1]}"


def find_waters(terrain: Terrain, x: Floats, y: Floats, fields: NDArray[np.integer]) -> list[Water]:
    """Find the seas and straits between pairs of fields, and sort them by size."""
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
        if np.hypot(np.ptp(line_x), np.ptp(line_y)) < _MIN_LENGTH * side:
            continue
        wide = 2 * float(np.median(distance[row, column]))
        kind = "strait" if wide < _STRAIT * side else "sea"
        found.append(Water(pair, kind, line_x, line_y, wide))
    found.sort(key=lambda water: (-len(water.x) * water.width, water.shores))
    return found


def shared_idea(
    first: Iterable[Sequence[str] | None],
    second: Iterable[Sequence[str] | None],
    *,
    avoid: Iterable[str] = (),
) -> tuple[str, tuple[float, float]] | None:
    """Find the plain keyword that is most frequent on both shores, and its share on each.

    Singular and plural are one keyword, also in `avoid`, with the names of other places.
    """
    counts, totals, spellings = [], [], Counter[str]()
    for papers in (first, second):
        lists = [[str(word) for word in words] for words in papers if words is not None]
        spellings.update(word for words in lists for word in words)
        counts.append(Counter(form for words in lists for form in set(normal_forms(words))))
        totals.append(max(1, len(lists)))
    taken = {normal_form(part) for name in avoid for part in (name, *name.split(" and "))}
    # Acronyms, names of facilities, numbers and words of methods are not plain.
    plain = [
        word
        for word, _ in sorted(spellings.items(), key=lambda item: (-item[1], item[0]))
        if _WORD[0] <= len(word) <= _WORD[1]
        and word.replace(" ", "").replace("-", "").isalpha()
        and word == word.lower()
        and (form := normal_form(word)) not in taken | UNTELLING
        and form.split(" ")[-1] not in QUANTITIES - {"field"}
    ]
    forms = {word: normal_form(word) for word in plain}
    shares = {
        word: (counts[0][form] / totals[0], counts[1][form] / totals[1])
        for word, form in forms.items()
    }
    best = max(plain, key=lambda word: min(shares[word]), default="")
    return (best, shares[best]) if best and min(shares[best]) >= _COMMON else None


def papers_on_shores(
    water: Water, x: Floats, y: Floats, fields: NDArray[np.integer], *, most: int = 150
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of the papers nearest to the water, separately for each shore."""
    from scipy.spatial import cKDTree

    tree = cKDTree(np.column_stack([water.x, water.y]))
    shores = []
    for field in water.shores:
        rows = np.flatnonzero(np.asarray(fields) == field)
        away, _ = tree.query(np.column_stack([np.asarray(x)[rows], np.asarray(y)[rows]]))
        shores.append(rows[np.argsort(away, kind="stable")[:most]])
    return shores[0], shores[1]
