"""Find names for continents, and the seas and straits between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import AtlasError
from landscape.mapping._naming import capitalised
from landscape.outreach._terrain import Terrain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.store import AtlasStore

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]


_JOINED = " and "
_DEEPEST = 1  # deepest thesaurus level whose concepts are research fields
_SURE = (0.6, 0.25)  # minimum claim and share of a field that is preferred as the name
_LIKELY = (0.3, 0.12)  # minimum claim and share if the continent has no usable name
_OWN = 2.0  # ratio of the concept's share on the continent to its share elsewhere
_REACH = 0.2  # minimum share of the papers of a field that are on the continent
_FEWEST = 20  # minimum number of papers tagged with the concept itself
_FEWEST_LETTERS = 4
_PARTED = 0.002  # added to shares, so that rare concepts are not preferred


@dataclass(frozen=True)
class Field:
    """A concept that may name a continent; `claim` measures how typical it is of the continent."""

    label: str
    claim: float
    share: float
    level: int


def continent_names(
    labels: Mapping[int, str],
    regions: Mapping[int, str],
    fields: Mapping[int, Sequence[Field]],
    chosen: Collection[str] = (),
) -> tuple[dict[int, str], frozenset[int]]:
    """Choose names for continents that differ from all names of regions."""
    names: dict[int, str] = {}
    silent: set[int] = set()
    carriers: dict[str, int] = {}
    for number, label in regions.items():
        for half in (label, *label.split(_JOINED)):
            carriers.setdefault(half.casefold(), number)
    taken = {label.casefold() for label in (*regions.values(), *chosen)}
    # Broad fields come first, then fields with the largest claim. Names are unique.
    claims = [(number, field) for number in labels for field in fields.get(number, ())]
    claims.sort(key=lambda one: (one[1].level, -one[1].claim, one[0]))

    def call_by_field(least_claim: float, least_share: float) -> None:
        for number, field in claims:
            is_free = number not in names and field.label.casefold() not in taken
            if is_free and field.claim >= least_claim and field.share >= least_share:
                names[number] = field.label
                taken.add(field.label.casefold())

    halves = {number: _halves(label) for number, label in labels.items()}
    free = {
        number: [half for half in own if half.casefold() not in carriers]
        for number, own in halves.items()
    }
    call_by_field(*_SURE)
    for number, own in halves.items():
        name = _JOINED.join(free[number])
        if number not in names and own[0] in free[number] and name.casefold() not in taken:
            names[number] = name
            taken.add(name.casefold())
    call_by_field(*_LIKELY)
    for number, own in halves.items():
        if number not in names:
            called = {name.casefold() for name in (*names.values(), *chosen)}
            name = next((half for half in free[number] or own if half.casefold() not in called), "")
            names[number] = capitalised(name) or labels[number]
            if name and not free[number]:
                silent.add(carriers[name.casefold()])
    return {number: names[number] for number in labels}, frozenset(silent)


def fields_of(atlas: AtlasStore, continents: Ints) -> dict[int, list[Field]]:
    """Find the thesaurus fields that distinguish continents."""
    from landscape.overlays.thesaurus._extents import LEAST_SCORE

    try:
        thesaurus, tags = atlas.thesaurus, atlas.read_layer("uat", ["concept_id", "score"])
    except AtlasError:
        return {}
    levels = _levels(thesaurus)
    wide = {concept: place for place, concept in enumerate(levels)}
    tags = tags[tags["score"] >= LEAST_SCORE]
    codes, concepts = tags["concept_id"].astype(str).factorize()
    rows = tags["paper_row"].to_numpy(np.int64)
    above = [
        [wide[one] for one in (name, *thesaurus.ancestors(name)) if one in wide]
        if name in thesaurus.concepts
        else []
        for name in concepts
    ]
    itself = np.array([wide.get(name, -1) for name in concepts], dtype=np.int64)
    counts = np.array([len(one) for one in above], dtype=np.int64)
    flat = np.array([place for one in above for place in one], dtype=np.int64)
    starts = np.cumsum(counts) - counts
    each = counts[codes]
    within = np.arange(int(each.sum())) - np.repeat(np.cumsum(each) - each, each)
    borne = flat[np.repeat(starts[codes], each) + within]

    numbers, place_of = np.unique(continents, return_inverse=True)
    held = _papers(np.repeat(rows, each), borne, place_of, (len(numbers), len(wide)))
    own = itself[codes] >= 0
    direct = _papers(rows[own], itself[codes][own], place_of, (len(numbers), len(wide)))
    papers = np.bincount(place_of, minlength=len(numbers)).astype(float)[:, None]
    share, elsewhere = _shares(held, papers)
    near, far = _shares(direct, papers)
    reach = held / np.maximum(held.sum(axis=0), 1)
    claim = share * np.log((share + _PARTED) / (elsewhere + _PARTED))
    tells = (near >= _OWN * far) & (direct.sum(axis=0) >= _FEWEST) & (claim >= _LIKELY[0])
    tells &= reach >= _REACH
    found: dict[int, list[Field]] = {}
    names, depths = [thesaurus.concepts[one].label for one in levels], list(levels.values())
    for row, column in np.argwhere(tells).tolist():
        number = int(numbers[row])
        if number >= 0:
            field = Field(
                names[column], float(claim[row, column]), float(share[row, column]), depths[column]
            )
            found.setdefault(number, []).append(field)
    return found


def _papers(rows: Ints, concepts: Ints, place_of: Ints, shape: tuple[int, int]) -> Floats:
    """Count the papers with each concept on each continent."""
    pairs = np.unique(rows * shape[1] + concepts)
    cells = place_of[pairs // shape[1]] * shape[1] + pairs % shape[1]
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape).astype(float)


def _shares(counts: Floats, papers: Floats) -> tuple[Floats, Floats]:
    """Return the share of each concept on each continent, and its share among the other papers."""
    elsewhere = (counts.sum(axis=0) - counts) / np.maximum(papers.sum() - papers, 1)
    return counts / np.maximum(papers, 1), elsewhere


def _levels(thesaurus: Any) -> dict[str, int]:
    """Return the level of each concept in the top levels of a thesaurus."""
    levels = dict.fromkeys(thesaurus.top, 0)
    rank = list(levels)
    for level in range(1, _DEEPEST + 1):
        rank = [below for one in rank for below in thesaurus.narrower(one) if below not in levels]
        levels |= dict.fromkeys(rank, level)
    return levels


def _halves(label: str) -> list[str]:
    """Split a name at each "and"; omit symbols such as σ₈ if other parts are words."""
    halves = label.split(_JOINED)
    telling = [half for half in halves if sum(c.isalpha() for c in half) >= _FEWEST_LETTERS]
    return telling or [label]


_GRID = 420  # cells along the longer side
_FACING = -0.2  # maximum cosine of the angle between the directions to two shores
_SHORTEST = 0.02  # minimum length of a channel, relative to the map's longer side
_STRAIT = 0.045  # maximum width of a strait, relative to the map's longer side
_WORD = (4, 24)  # minimum and maximum number of characters of a keyword
# Minimum share of the papers on a shore that have a keyword, and minimum ratio of this share to
# the share on the other shore. Seas and straits without such keywords have no name.
_COMMON, _CONTRAST = 0.08, 3.0


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
        if np.hypot(np.ptp(line_x), np.ptp(line_y)) < _SHORTEST * side:
            continue
        wide = 2 * float(np.median(distance[row, column]))
        kind = "strait" if wide < _STRAIT * side else "sea"
        found.append(Water(pair, kind, line_x, line_y, wide))
    found.sort(key=lambda water: (-len(water.x) * water.width, water.shores))
    return found


@dataclass(frozen=True)
class Separation:
    """Two keywords, each of which is typical of one of two shores."""

    words: tuple[str, str]
    shares: tuple[tuple[float, float], tuple[float, float]]

    def sentence(self, first: str, second: str) -> str:
        """Return a text for the gazetteer with the keywords and their shares."""
        (near, far), (near2, far2) = self.shares
        return (
            f"{self.words[0]}: {near:.0%} of the papers near the shore of {first}, {far:.0%} "
            f"across the water; {self.words[1]}: {near2:.0%} near the shore of {second}, "
            f"{far2:.0%} across the water"
        )


def separation(
    first: Iterable[Sequence[str] | None],
    second: Iterable[Sequence[str] | None],
    *,
    avoid: Iterable[str] = (),
) -> Separation | None:
    """Find for each shore the keyword whose share most exceeds its share on the other shore."""
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
    """Return the rows of the papers nearest to the water, separately for each shore."""
    from scipy.spatial import cKDTree

    tree = cKDTree(np.column_stack([water.x, water.y]))
    shores = []
    for field in water.shores:
        rows = np.flatnonzero(np.asarray(fields) == field)
        away, _ = tree.query(np.column_stack([np.asarray(x)[rows], np.asarray(y)[rows]]))
        shores.append(rows[np.argsort(away, kind="stable")[:most]])
    return shores[0], shores[1]
