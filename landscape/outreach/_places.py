"""Find the places on the map and their positions on the page, and write the gazetteer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._progress import progress
from landscape._wording import count
from landscape.corpus.thesaurus import embedded_thesaurus
from landscape.errors import InputError
from landscape.figures.caption import place_in_words
from landscape.figures.scene import Box
from landscape.mapping.phrases import QUANTITIES, UNTELLING
from landscape.outreach._labels import Place
from landscape.outreach._terrain import Terrain
from landscape.outreach.names import tidy_name, wording
from landscape.text.words import normal_form, normal_forms

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from landscape.store import AtlasStore

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Projection:
    """Conversion of map coordinates to points of the page."""

    extent: tuple[float, float, float, float]
    box: Box

    def __call__(self, x: ArrayLike, y: ArrayLike) -> Floats:
        """Return the positions on the page, shape (n, 2)."""
        x0, x1, y0, y1 = self.extent
        left, low, right, top = self.box
        across = left + (np.asarray(x, float) - x0) * (right - left) / (x1 - x0)
        up = low + (np.asarray(y, float) - y0) * (top - low) / (y1 - y0)
        return np.column_stack([across, up])

    def on_water(self, terrain: Terrain) -> Callable[[Floats], bool]:
        """Return a function that tests whether boxes are entirely over water."""
        wet = terrain.elevation < 0
        rows, columns = wet.shape
        left, low, right, top = self.box
        dry = np.zeros((rows + 1, columns + 1), dtype=np.int64)  # cumulative sums
        dry[1:, 1:] = (~wet).cumsum(axis=0).cumsum(axis=1)

        def test(boxes: Floats) -> bool:
            across = (boxes[:, [0, 2]] - left) * columns / (right - left)
            down = (top - boxes[:, [3, 1]]) * rows / (top - low)
            c = np.clip(np.stack([np.floor(across[:, 0]), np.ceil(across[:, 1])]), 0, columns)
            r = np.clip(np.stack([np.floor(down[:, 0]), np.ceil(down[:, 1])]), 0, rows)
            (c0, c1), (r0, r1) = c.astype(int), r.astype(int)
            land = dry[r1, c1] - dry[r0, c1] - dry[r1, c0] + dry[r0, c0]
            return bool((land == 0).all())

        return test


def aspect_of(atlas: AtlasStore) -> float:
    """Return the ratio of width to height of the map, without outliers."""
    table = atlas.map
    if not len(table):
        raise InputError("The atlas has no papers, so no map can be drawn. Add papers.")
    spans = [
        float(np.ptp(np.quantile(table[axis].to_numpy(np.float64), [0.002, 0.998])))
        for axis in ("x", "y")
    ]
    if not np.isfinite(spans).all() or min(spans) <= 0:
        return 1.0
    return float(np.clip(spans[0] / spans[1], 0.4, 2.5))


@dataclass(frozen=True)
class Entry:
    """One place of the gazetteer."""

    place: str
    kind: str
    name: str
    technical_name: str
    x: float
    y: float
    elevation: float | None = None
    n_papers: int | None = None
    share: float | None = None
    recent_share: float | None = None
    shown: bool = False
    part_of: str = ""
    keywords: Sequence[str] = ()
    note: str = ""


def as_table(entries: Sequence[Entry]) -> pd.DataFrame:
    """Convert entries into a table, one row per place."""
    import pandas as pd

    rows = [vars(entry) | {"keywords": "; ".join(map(str, entry.keywords))} for entry in entries]
    table = pd.DataFrame(rows, columns=[column.name for column in fields(Entry)])
    table["n_papers"] = table["n_papers"].astype("Int64")
    return table


def describe(
    entries: Sequence[Entry],
    *,
    head: str,
    extent: tuple[float, float, float, float],
    notes: Sequence[str] = (),
    most: int = 10,
) -> str:
    """Describe the map for readers who cannot see it."""
    x0, x1, y0, y1 = extent
    parts = [head]
    nouns = {"continent": "continent", "region": "region", "strait": "strait", "sea": "sea"}
    for kind, noun in nouns.items():
        is_land = kind in ("continent", "region")  # seas and straits are listed only if labelled
        some = [entry for entry in entries if entry.kind == kind and (is_land or entry.shown)]
        if not some:
            continue
        some.sort(key=lambda entry: (-(entry.n_papers or 0), entry.place))
        named = []
        for entry in some[:most]:
            where = place_in_words((entry.x - x0) / (x1 - x0), (entry.y - y0) / (y1 - y0))
            technical = (
                f"technically {entry.technical_name}; "
                if entry.technical_name and entry.technical_name != entry.name
                else ""
            )
            papers = f"{count(int(entry.n_papers), 'paper')}, " if entry.n_papers else ""
            named.append(f"{entry.name} ({technical}{papers}{where})")
        lead = "Largest: " if is_land else ""
        parts.append(f"{count(len(some), noun)}. {lead}{', '.join(named)}.")
    return " ".join([*parts, *notes])


def places_as_json(entries: Sequence[Entry]) -> list[dict[str, object]]:
    """Convert entries into JSON values for the zoomable page."""
    return [
        {
            "place": entry.place,
            "kind": entry.kind,
            "name": entry.name,
            "technical": entry.technical_name,
            "papers": entry.n_papers,
            "note": entry.note,
            "shown": entry.shown,
            "partOf": entry.part_of,
            "recent": None if entry.recent_share is None else round(entry.recent_share, 3),
            "keywords": list(entry.keywords)[:8],
        }
        for entry in entries
    ]


_CLOUD = 500  # maximum number of papers that determine the direction of a label
_WATERS = 10
_SMALL_WORDS = {"and", "of", "the", "in", "on", "for", "to", "a", "an", "with", "by"}


@dataclass(frozen=True)
class FoundPlace:
    """A place that can have a label."""

    key: str
    kind: str
    technical_name: str
    x: float
    y: float
    n_papers: int | None = None
    part_of: str = ""
    keywords: tuple[str, ...] = ()
    cloud: Floats = field(default_factory=lambda: np.empty((0, 2)))
    note: str = ""

    def called(self, names: Mapping[str, str]) -> str:
        """Return the name on the map; `names` take precedence."""
        return names.get(self.key) or self.technical_name


@progress("Finding the places", total=None, unit="steps")
def find_places(atlas: AtlasStore, terrain: Terrain, *, language: str = "en") -> list[FoundPlace]:
    """List continents, regions and waters; each kind is sorted by importance."""
    topics = atlas.topics
    table = atlas.map
    x, y = (table[axis].to_numpy(np.float64) for axis in ("x", "y"))
    topic = table["topic_id"].to_numpy(np.int64)
    places: list[FoundPlace] = []
    children = topics[topics["level"] == 1]["parent_id"].value_counts()
    parents = dict(
        zip(topics["topic_id"].astype(int), topics["parent_id"].astype(int), strict=True)
    )
    # The last element is for papers without a topic (-1).
    continent_of = np.full(int(max([*parents, 0])) + 2, -1, dtype=np.int64)
    for child, parent in parents.items():
        if child >= 0:
            continent_of[child] = parent if parent >= 0 else child
    continents = continent_of[topic]
    # Sort by number of papers, then by topic number.
    ordered = topics.sort_values(["n_papers", "topic_id"], ascending=[False, True])
    for level, kind in ((0, "continent"), (1, "region")):
        for row in ordered[ordered["level"] == level].itertuples():
            if level == 0 and children.get(row.topic_id, 0) < 2:
                continue
            members = np.flatnonzero((continents if level == 0 else topic) == row.topic_id)
            places.append(_land(row, kind, members, x, y, parents))
    field_of = continents if len(set(continents[continents >= 0])) > 1 else topic
    return [*places, *_waters(atlas, terrain, x, y, field_of, places, language)]


def as_places(
    found: Sequence[FoundPlace], names: Mapping[str, str], to_page: Any, *, most: int | None = None
) -> list[Place]:
    """Convert map places to label candidates with positions on the page."""
    largest = {
        kind: max([one.n_papers or 1 for one in found if one.kind == kind], default=1)
        for kind in ("continent", "region")
    }
    places: list[Place] = []
    named = 0
    for one in found:
        if one.kind == "region":
            named += 1
            if most is not None and named > most:
                continue
        x, y = to_page([one.x], [one.y])[0]
        cloud = to_page(one.cloud[:, 0], one.cloud[:, 1]) if len(one.cloud) else one.cloud
        is_land = one.kind in largest
        weight = np.sqrt((one.n_papers or 1) / largest[one.kind]) if is_land else 0.5
        places.append(
            Place(
                key=one.key,
                name=one.called(names),
                kind=one.kind if is_land else "water",  # type: ignore[arg-type]  # two kinds of land
                x=float(x),
                y=float(y),
                weight=float(weight),
                cloud=cloud,
            )
        )
    return places


def as_entries(
    found: Sequence[FoundPlace], names: Mapping[str, str], shown: frozenset[str], terrain: Terrain
) -> list[Entry]:
    """Convert map places to entries of the gazetteer."""
    heights = {str(peak.region): peak.elevation for peak in terrain.peaks}
    entries = []
    for one in found:
        is_land = one.kind in ("continent", "region")
        if not is_land and one.key not in shown:
            continue
        entries.append(
            Entry(
                place=one.key,
                kind=one.kind,
                name=one.called(names),
                technical_name=one.technical_name,
                x=one.x,
                y=one.y,
                elevation=heights.get(one.key),
                n_papers=one.n_papers,
                share=(one.n_papers or 0) / max(1, terrain.n_papers) if is_land else None,
                recent_share=_recency(terrain, one) if is_land else None,
                shown=one.key in shown,
                part_of=one.part_of,
                keywords=one.keywords,
                note=one.note,
            )
        )
    return entries


def _land(
    row: Any,
    kind: str,
    members: NDArray[np.int64],
    x: Floats,
    y: Floats,
    parents: Mapping[int, int],
) -> FoundPlace:
    few = members[:: max(1, len(members) // _CLOUD)]
    cloud = np.column_stack([x[few], y[few]])
    place = (float(row.x), float(row.y))
    parent = parents.get(int(row.topic_id), -1)
    words = getattr(row, "keywords", None)
    return FoundPlace(
        key=str(int(row.topic_id)),
        kind=kind,
        technical_name=tidy_name(row.label),
        x=place[0],
        y=place[1],
        n_papers=int(row.n_papers),
        part_of=str(parent) if parent >= 0 else "",
        keywords=tuple(tidy_name(word) for word in words) if words is not None else (),
        cloud=cloud,
    )


def _waters(
    atlas: AtlasStore,
    terrain: Terrain,
    x: Floats,
    y: Floats,
    field_of: NDArray[np.int64],
    lands: Sequence[FoundPlace],
    language: str,
) -> list[FoundPlace]:
    """Find seas and straits, and name them after a keyword that both shores share."""
    labels = {int(land.key): land.called({}) for land in lands}
    waters = find_waters(terrain, x, y, field_of)[:_WATERS]
    avoid = set(labels.values())
    # Last words of concepts, such as "dust" of "interstellar dust": a sea is not named after
    # "logarithmic slope".
    names = [name.split() for one in embedded_thesaurus().concepts.values() for name in one.names]
    subjects = {*normal_forms([" ".join(name[at:]) for name in names for at in range(len(name))])}
    found = []
    for water in waters:
        shores = papers_on_shores(water, x, y, field_of)
        words = [atlas.read_papers(["keywords"], rows=rows.tolist())["keywords"] for rows in shores]
        found_idea = shared_idea(words[0], words[1], avoid=avoid, subjects=subjects)
        if found_idea is None:
            continue
        idea, (near, far) = found_idea
        avoid.add(idea)
        texts = wording(language)
        template = texts.strait if water.kind == "strait" else texts.sea
        name = template.format(a=_titled(tidy_name(idea), language))
        middle = np.argmin(np.hypot(water.x - np.median(water.x), water.y - np.median(water.y)))
        first, second = (labels.get(shore, str(shore)) for shore in water.shores)
        found.append(
            FoundPlace(
                key=water.key,
                kind=water.kind,
                technical_name=name,
                x=float(water.x[middle]),
                y=float(water.y[middle]),
                keywords=(idea,),
                cloud=np.column_stack([water.x, water.y]),
                note=f"It is between {first} and {second}: {near:.0%} of the papers near the first "
                f"shore and {far:.0%} near the second have the keyword {idea!r}.",
            )
        )
    return found


def _titled(words: str, language: str) -> str:
    """Capitalise the words of an English name; return other names unchanged."""
    if not language.lower().startswith("en"):
        return words
    return " ".join(
        word if word in _SMALL_WORDS or not word[:1].islower() else word[0].upper() + word[1:]
        for word in words.split(" ")
    )


def _recency(terrain: Terrain, place: FoundPlace) -> float | None:
    """Return the share of recent papers near a place, or None if it is unknown."""
    column, row = terrain.pixels_of([place.x], [place.y])
    width, height = terrain.size
    value = float(
        terrain.recency[int(np.clip(row[0], 0, height - 1)), int(np.clip(column[0], 0, width - 1))]
    )
    return value if np.isfinite(value) else None


_GRID = 420  # cells along the longer side
_FACING = -0.2  # maximum cosine of the angle between the directions to two shores
_MIN_LENGTH = 0.02  # minimum length of a channel, relative to the map's longer side
_STRAIT = 0.045  # maximum width of a strait, relative to the map's longer side
_WORD = (4, 24)  # minimum and maximum number of characters of a keyword
# Minimum share of the papers on both shores that have the keyword. Waters without one have no name.
_COMMON = 0.04
_DESCRIBES = 5  # maximum number of keywords that start with a word, per keyword that ends with it
_PLURAL = 0.2  # minimum frequency of a plural, relative to the most frequent spelling


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
    waters = []
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
        waters.append(Water(pair, kind, line_x, line_y, wide))
    waters.sort(key=lambda water: (-len(water.x) * water.width, water.shores))
    return waters


def shared_idea(
    first: Iterable[Sequence[str] | None],
    second: Iterable[Sequence[str] | None],
    *,
    avoid: Iterable[str] = (),
    subjects: Collection[str] | None = None,
) -> tuple[str, tuple[float, float]] | None:
    """Find the plain keyword that is most frequent on both shores, and its share on each.

    With `subjects`, the normal form of the keyword is one of them. Singular and plural are one
    keyword, also in `avoid`, with the names of other places. The plural is returned if it is
    common: "Sea of Atmospheres", but "Sea of Dust".
    """
    counts, totals, spellings = [], [], Counter[str]()
    for papers in (first, second):
        lists = [[str(word) for word in words] for words in papers if words is not None]
        spellings.update(word for words in lists for word in words)
        counts.append(Counter(form for words in lists for form in set(normal_forms(words))))
        totals.append(max(1, len(lists)))
    taken = {normal_form(part) for name in avoid for part in (name, *name.split(" and "))}
    longer = [word.split(" ") for word in spellings.elements() if " " in word]
    starts, ends = (Counter(words[place] for words in longer) for place in (0, -1))
    # Acronyms, names of facilities, numbers, words of methods and words that mostly describe
    # another one ("radio") are not plain.
    plain = [
        word
        for word, _ in sorted(spellings.items(), key=lambda item: (-item[1], item[0]))
        if _WORD[0] <= len(word) <= _WORD[1]
        and word.replace(" ", "").replace("-", "").isalpha()
        and word == word.lower()
        and (form := normal_form(word)) not in taken | UNTELLING
        and form.split(" ")[-1] not in QUANTITIES - {"field"}
        and (subjects is None or form in subjects)
        and starts[word] <= _DESCRIBES * max(ends[word], 1)
    ]
    forms = {word: normal_form(word) for word in plain}
    shares = {
        word: (counts[0][form] / totals[0], counts[1][form] / totals[1])
        for word, form in forms.items()
    }
    best = max(plain, key=lambda word: min(shares[word]), default="")
    if not best or min(shares[best]) < _COMMON:
        return None
    plurals = [word for word in plain if forms[word] == forms[best] and word.endswith("s")]
    is_common = plurals and spellings[plurals[0]] >= _PLURAL * spellings[best]
    return plurals[0] if is_common else best, shares[best]


def papers_on_shores(
    water: Water, x: Floats, y: Floats, fields: NDArray[np.integer], *, most: int = 150
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of the papers nearest to the water, separately for each shore."""
    from scipy.spatial import cKDTree

    tree = cKDTree(np.column_stack([water.x, water.y]))
    shores = []
    for home in water.shores:
        rows = np.flatnonzero(np.asarray(fields) == home)
        away, _ = tree.query(np.column_stack([np.asarray(x)[rows], np.asarray(y)[rows]]))
        shores.append(rows[np.argsort(away, kind="stable")[:most]])
    return shores[0], shores[1]
