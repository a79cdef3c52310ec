"""Files from which the viewer in the browser draws an atlas.

Papers are called points here. Their order differs from that of the atlas: a random sample of all
papers comes first, so that a browser can draw the map before it has all of it, and the points of
one file follow a Morton curve, so that neighbours on the map are neighbours in the files. All
files are compressed with gzip.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.corpus.thesaurus import MIN_SCORE
from landscape.errors import InputError
from landscape.figures.areas import choose_colours, count_borders, find_areas
from landscape.overlays.citations import citation_graph
from landscape.text.word_index import STOP_WORDS
from landscape.viewer.names import LINE, SIZES, name_ranges
from landscape.viewer.search_index import index_files, varints
from landscape.viewer.settings import DEFAULTS, SourceSettings
from landscape.viewer.themes import rgb_of, viewer_themes

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.atlas import Atlas
    from landscape.types import Paper

    Points = NDArray[np.int64]

FORMAT = 3
"""Version of the files, which the viewer checks."""
MANIFEST = "source.json"
WORDS = "words.json"  # the first word of each file of the index of words

_FIRST = 60_000  # points of the first file
_IN_A_PART = 2_000_000  # points of the other files, which are at most 20 MB
_RECORDS, _DETAILS = 512, 128  # papers in a file of titles, and of abstracts
_IDS = 2_000  # identifiers in a file
_MAX_SETS = 600  # concepts, and facilities
_FEWEST = 3  # papers of a concept, facility or object
_SPELLINGS = 6  # forms of the name of an object
_LISTED = 40  # references and citations of a paper
_AUTHORS = 30
_MAX_SIMILAR = 120_000  # papers of an atlas whose nearest papers are computed
_SIMILAR = 8
_GRID = (256, 256)  # cells in which the borders of regions are found
_NONE = 0xFFFF  # region of papers outside every region
_NUMBER = re.compile(r"\d+")


class MapSource:
    """Files of the viewer for one atlas.

    Parameters
    ----------
    atlas : Atlas
    settings : SourceSettings, optional
    mine : ndarray of int, optional
        Rows of the user's own papers, which the map shows in a colour of their own.
    library : str, default "mine"
        Name of their library, by which the filter ``in:NAME`` finds them.
    has_details : bool, default True
        Whether the files have abstracts, references and similar papers.

    Attributes
    ----------
    order : ndarray of int, shape (n_papers,)
        Row in the atlas of each point.
    point_of : ndarray of int, shape (n_papers,)
        Point of each row of the atlas.

    Raises
    ------
    InputError
        If the atlas has no papers.

    Examples
    --------
    >>> import landscape as ls
    >>> source = MapSource(ls.open("my.atlas"))  # doctest: +SKIP
    >>> dict(source.files())["source.json"][:20]  # doctest: +SKIP
    """

    def __init__(
        self,
        atlas: Atlas,
        settings: SourceSettings | None = None,
        *,
        mine: Points | None = None,
        library: str = "mine",
        has_details: bool = True,
    ) -> None:
        self.atlas = atlas
        self.has_details = has_details
        self.settings = settings or SourceSettings()
        self.mine, self.library = mine, library
        if not len(atlas):
            raise InputError(
                f"The atlas {atlas.title!r} has no papers, so there is no map to show."
            )
        table = atlas.map
        x, y = table["x"].to_numpy(np.float64), table["y"].to_numpy(np.float64)
        self.box = _square(x, y)
        x0, y0, side = self.box
        plane = np.column_stack([(x - x0) / side, (y - y0) / side])
        codes = np.round(plane * 0xFFFF).astype(np.uint32)
        self.parts, self.order = order_points(codes, self.settings.seed)
        self.point_of = np.empty(len(atlas), dtype=np.int64)
        self.point_of[self.order] = np.arange(len(atlas))
        self._codes = codes[self.order].astype(np.uint16)

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Yield the name and the content of each file, ``source.json`` first."""
        for name in self.names():
            yield name, self.file(name)

    def names(self, *kinds: str) -> list[str]:
        """Return the names of all files, or of some kinds such as ``"records"``, in their order."""
        numbered = [
            name.format(number)
            for name, (count, _) in self._numbered.items()
            if not kinds or name.startswith(kinds)
            for number in range(count())
        ]
        words = [WORDS] if not kinds or "words" in kinds else []
        first = [] if kinds else [MANIFEST, *(f"{kind}.bin" for kind in self.sets)]
        return [*first, *words, *numbered]

    def file(self, name: str) -> bytes:
        """Return the content of a file.

        Raises
        ------
        InputError
            If there is no file with this name.
        """
        if name == MANIFEST:
            return _packed_json(self.manifest)
        if name == WORDS:
            return _packed_json([word for word, *_ in self._word_files])
        if name.removesuffix(".bin") in self.sets:
            return self.set_file(name.removesuffix(".bin"))
        found = _NUMBER.search(name)
        count, make = self._numbered.get(_NUMBER.sub("{}", name), (int, self.points))
        if found is None or int(found[0]) >= count():
            raise InputError(f"The viewer has no file {name!r}.")
        return make(int(found[0]))

    @property
    def _numbered(self) -> dict[str, tuple[Callable[[], int], Callable[[int], bytes]]]:
        """Number and content of the files of each kind; the number of some takes time."""
        n = len(self.order)
        return {
            "points-{}.bin": (lambda: len(self.parts), self.points),
            "records/{}.json": (lambda: -(-n // _RECORDS), self.records),
            "details/{}.json": (lambda: -(-n // _DETAILS) if self.has_details else 0, self.details),
            "ids/{}.json": (lambda: self._n_id_files, lambda at: _packed_json(self._ids[at])),
            "words/{}.bin": (
                lambda: len(self._word_files),
                lambda at: packed(self._word_files[at][1]),
            ),
            "places/{}.bin": (
                lambda: len(self._word_files) if self._has_phrases else 0,
                lambda at: packed(self._word_files[at][2]),
            ),
        }

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """Content of ``source.json``."""
        atlas, topics = self.atlas, self.topics
        x0, y0, side = self.box
        years = self.years[self.years > 0]
        return {
            "format": FORMAT,
            "title": atlas.title,
            "papers": len(self.order),
            "generated": bool(atlas.coverage["generated"]),
            "box": [x0, y0, x0 + side, y0 + side],
            "parts": self.parts,
            "columns": [name for name, _ in self._columns],
            "years": [int(years.min()), int(years.max())] if len(years) else None,
            "records": _RECORDS,
            "details": _DETAILS if self.has_details else 0,
            "ids": self._n_id_files,
            "regions": _region_rows(topics, self.colours),
            "names": [
                {
                    "region": int(np.flatnonzero(topics["topic_id"] == name.topic_id)[0]),
                    "lines": name.lines,
                    "dx": name.dx,
                    "dy": name.dy,
                    "scales": [round(name.smallest, 1), round(name.largest, 1)],
                }
                for name in name_ranges(
                    topics,
                    (topics["x"].to_numpy(np.float64) - x0) / side,
                    (topics["y"].to_numpy(np.float64) - y0) / side,
                )
            ],
            "fonts": {"sizes": [SIZES[level] for level in sorted(SIZES)], "line": LINE},
            "themes": viewer_themes(),
            "sets": {kind: [one.entry for one in sets] for kind, sets in self.sets.items()},
            "defaults": DEFAULTS,
            "stop_words": sorted(STOP_WORDS),
            "phrases": self._has_phrases,
        }

    @cached_property
    def topics(self) -> pd.DataFrame:
        """Continents, regions and subregions, the largest of each level first."""
        topics = self.atlas.topics
        order = ["level", "n_papers"]
        return topics.sort_values(order, ascending=[True, False]).reset_index(drop=True)

    # -- points

    @property
    def plane(self) -> NDArray[np.float64]:
        """Position of each point in the square around all papers, as the viewer knows it."""
        return self._codes / 0xFFFF

    @cached_property
    def years(self) -> NDArray[np.uint16]:
        """Year of each point; 0 if it is not known."""
        years = self.atlas.read_papers(["year"])["year"].to_numpy("float64", na_value=0.0)
        return np.clip(np.nan_to_num(years), 0, 0xFFFE).astype(np.uint16)[self.order]

    @cached_property
    def region(self) -> NDArray[np.uint16]:
        """Row in `topics` of the smallest region of each point."""
        table, ids = self.atlas.map, self.topics["topic_id"].to_numpy()
        number = {int(topic): row for row, topic in enumerate(ids.tolist())}
        region = table["topic_id"].to_numpy(np.int64)
        if "subregion_id" in table:
            finest = table["subregion_id"].to_numpy(np.int64)
            region = np.where(finest >= 0, finest, region)
        known = np.array([number.get(topic, _NONE) for topic in range(int(region.max()) + 2)])
        return known[region][self.order].astype(np.uint16)

    @cached_property
    def colours(self) -> list[int]:
        """Number of the colour of each region of the uppermost level, so that neighbours differ."""
        levels = self.topics["level"].to_numpy()
        top = np.flatnonzero(levels == levels.min(initial=9)).tolist()
        group = np.full(len(self.region), -1)
        for place, row in enumerate(top):
            group[np.isin(self.region, self.inside(row))] = place
        x, y = self.plane.T
        places, leader = find_areas(x, y, group, bounds=(0, 0, 1, 1), shape=_GRID)
        palettes = [rgb_of(theme["classes"]) for theme in viewer_themes().values()]
        chosen = choose_colours(count_borders(leader, len(places)), palettes) if len(places) else []
        found = [0] * len(levels)
        for place, colour in zip(places.tolist(), chosen, strict=True):
            found[top[place]] = colour
        return found

    def inside(self, row: int) -> list[int]:
        """Return the rows in `topics` of a region and of all regions inside."""
        ids, parents = (self.topics[name].tolist() for name in ("topic_id", "parent_id"))
        found = [row]
        for here in found:  # the list grows
            found += [below for below, parent in enumerate(parents) if parent == ids[here]]
        return found

    @cached_property
    def _columns(self) -> list[tuple[str, NDArray[np.uint16]]]:
        """Columns of the points, in the order of the file."""
        cites = self.atlas.read_papers(["cites"])["cites"].to_numpy("float64", na_value=-1.0)
        return [
            ("x", self._codes[:, 0]),
            ("y", self._codes[:, 1]),
            ("region", self.region),
            ("year", self.years),
            # One more than the number of citations; 0 if it is not known.
            ("citations", np.clip(cites + 1, 0, 0xFFFF).astype(np.uint16)[self.order]),
        ]

    def points(self, number: int) -> bytes:
        """Return the columns of a part: for each, the high bytes and then the low bytes."""
        part = slice(sum(self.parts[:number]), sum(self.parts[: number + 1]))
        planes = [
            plane.astype(np.uint8).tobytes()
            for _, values in self._columns
            for plane in (values[part] >> 8, values[part] & 0xFF)
        ]
        return packed(b"".join(planes))

    # -- sets of papers

    @cached_property
    def sets(self) -> dict[str, list[PointSet]]:
        """Papers of the most frequent facilities, concepts and objects, reviews, the user's own."""
        found = {"facilities": self._facilities(), "concepts": self._concepts()}
        found["objects"] = self._objects()
        found["reviews"] = self._one_set("Reviews", self._reviews())
        if self.mine is not None:
            found["mine"] = self._one_set(self.library, self.mine)
        return found

    def set_file(self, kind: str) -> bytes:
        """Return the points of all sets of a kind."""
        return packed(b"".join(one.content for one in self.sets[kind]))

    def _reviews(self) -> Points:
        if "reviews" not in self.atlas.stages:
            return np.zeros(0, dtype=np.int64)
        return self.atlas.read_layer("reviews", [])["paper_row"].to_numpy(np.int64)

    def _one_set(self, name: str, rows: Points) -> list[PointSet]:
        points = np.unique(self.point_of[rows])
        content = varints(np.diff(points, prepend=0) * 2)
        return [PointSet(name, points, points[:0], 0, content)] if len(points) else []

    def _facilities(self) -> list[PointSet]:
        """Papers of each facility; the class of a paper is 1 if it uses the facility's data."""
        if "missions" not in self.atlas.stages:
            return []
        mentions = self.atlas.read_layer("missions", ["facility", "role"])
        uses = (mentions["role"] == "science").to_numpy(np.int64)
        return self._sets(mentions["facility"], mentions["paper_row"].to_numpy(), uses)

    def _concepts(self) -> list[PointSet]:
        """Papers of each concept of the thesaurus."""
        if "uat" not in self.atlas.stages:
            return []
        tags = self.atlas.uat
        tags = tags[tags["score"] >= MIN_SCORE]
        concepts = self.atlas.thesaurus.concepts
        labels = {name: one.label for name, one in concepts.items()}
        rows = tags["paper_row"].to_numpy()
        return self._sets(tags["concept_id"].map(labels), rows, np.zeros(len(tags), np.int64))

    def _objects(self) -> list[PointSet]:
        """Papers of each celestial object, with other forms of its name."""
        if self._mentions.empty:
            return []
        names = self._mentions["name"]
        rows = self._mentions["paper_row"].to_numpy()
        found = self._sets(names, rows, np.zeros(len(rows), np.int64))
        written = self._mentions.groupby("name")["surface"]
        for one in found:
            others = written.get_group(one.name).value_counts().index[:_SPELLINGS]
            one.entry["also"] = [name for name in others if len(name) > 1 and name != one.name]
        return found

    @cached_property
    def _mentions(self) -> pd.DataFrame:
        """Mentions of celestial objects; without rows in an atlas of an earlier version."""
        import pandas as pd

        columns = ["name", "surface"]
        if "objects" not in self.atlas.stages:
            return pd.DataFrame(columns=["paper_row", *columns])
        return self.atlas.read_layer("objects", columns)

    @cached_property
    def _names_of_rows(self) -> dict[int, list[str]]:
        """Names of the celestial objects of each paper, the most frequent first."""
        counts = self._mentions.value_counts(["paper_row", "name"]).reset_index()
        return counts.groupby("paper_row")["name"].agg(list).to_dict()

    def _sets(
        self, names: pd.Series, rows: NDArray[np.int64], classes: NDArray[np.int64]
    ) -> list[PointSet]:
        points = self.point_of[rows]
        sets, start = [], 0
        for name, inside in names.groupby(names, observed=True).indices.items():
            inside = inside[np.argsort(points[inside], kind="stable")]
            own, first = np.unique(points[inside], return_index=True)
            if len(own) >= _FEWEST:
                sets.append((str(name), own, np.maximum.reduceat(classes[inside], first)))
        sets.sort(key=lambda one: (-len(one[1]), one[0]))
        found = []
        for name, own, kinds in sets[:_MAX_SETS]:
            content = varints(np.diff(own, prepend=0) * 2 + kinds)
            found.append(PointSet(name, own, own[kinds > 0], start, content))
            start += len(content)
        return found

    # -- records

    def records(self, number: int) -> bytes:
        """Return titles, first authors and identifiers of some papers, by column."""
        rows = self.order[number * _RECORDS : (number + 1) * _RECORDS]
        table = self.atlas.read_papers(["title", "authors", "paper_id"], rows=rows)
        authors = [list(names) if names is not None else [] for names in table["authors"]]
        return _packed_json(
            {
                "id": table["paper_id"].tolist(),
                "title": [title or "" for title in table["title"]],
                "author": [names[0] if names else "" for names in authors],
                "authors": [len(names) for names in authors],
            }
        )

    def details(self, number: int) -> bytes:
        """Return abstracts, authors, links, references and similar papers of some papers."""
        points = range(number * _DETAILS, min((number + 1) * _DETAILS, len(self.order)))
        rows = self.order[points.start : points.stop]
        papers, similar = self.atlas.engine.papers(rows.tolist()), self._similar_to(rows)
        return _packed_json(list(map(self._detail, rows.tolist(), papers, similar)))

    def _detail(self, row: int, paper: Paper, similar: list[int]) -> dict[str, Any]:
        found: dict[str, Any] = {
            "authors": list(paper.authors[:_AUTHORS]),
            "abstract": paper.abstract if self.has_text[row] and paper.has_abstract else "",
            "date": paper.date.isoformat() if paper.date else "",
            "journal": paper.journal or "",
            "kind": paper.kind if paper.kind != "article" else "",
            "status": paper.status or "",
            "status_reason": paper.status_reason or "",
            "bibcode": paper.bibcode or "",
            "arxiv": paper.arxiv_id or "",
            "doi": paper.doi or "",
            "keywords": list(paper.keywords[:8]),
            "objects": self._names_of_rows.get(row, [])[:8],
            "references": self._linked(self._graph.reference_links, row),
            "cited_by": self._linked(self._graph.citation_links, row),
            "similar": similar,
        }
        return {name: value for name, value in found.items() if value}

    @cached_property
    def has_text(self) -> NDArray[np.bool_]:
        """Papers whose abstracts are published, by row."""
        if not self.settings.public:
            return np.ones(len(self.order), dtype=bool)
        sources = self.atlas.read_papers(["source"])["source"]
        found = [any(one.startswith("arxiv") for one in names) for names in sources]
        return np.array(found, dtype=bool)

    @cached_property
    def _graph(self) -> Any:
        return citation_graph(self.atlas)

    def _linked(self, links: Any, row: int) -> list[int]:
        nodes = links.of(row)
        inside = nodes[nodes < len(self.order)][:_LISTED]
        return self.point_of[np.asarray(inside, dtype=np.int64)].tolist()

    def _similar_to(self, rows: Points) -> list[list[int]]:
        """Return the points nearest to some papers; none if the atlas has too many papers."""
        from landscape.embeddings.neighbours import nearest, without_self

        n = len(self.order)
        if n > _MAX_SIMILAR or n < 2:
            return [[]] * len(rows)
        found, _ = nearest(self._vectors, self._vectors[rows], k=min(_SIMILAR + 1, n))
        near: list[list[int]] = self.point_of[without_self(found, rows, _SIMILAR)].tolist()
        return near

    @cached_property
    def _vectors(self) -> NDArray[np.float32]:
        return self.atlas.vectors()

    @property
    def _n_id_files(self) -> int:
        return -(-len(self.order) // _IDS)

    @cached_property
    def _ids(self) -> list[dict[str, int]]:
        """Points by identifier, in files by the hash of the identifier."""
        columns = (
            "doi",
            "arxiv_id",
            "bibcode",
            "paper_id",
        )  # an identifier of the atlas comes last
        table = self.atlas.read_papers(list(columns))
        table["doi"] = table["doi"].str.lower()
        files: list[dict[str, int]] = [{} for _ in range(self._n_id_files)]
        for column in columns:
            for name, point in zip(table[column], self.point_of.tolist(), strict=True):
                if isinstance(name, str) and name:
                    files[_hash(name) % len(files)][name] = point
        return files

    # -- words

    @property
    def _has_phrases(self) -> bool:
        """Whether the index of words has their places, which would be large in a notebook."""
        return self.settings.search == "abstracts"

    @cached_property
    def _word_files(self) -> list[tuple[str, bytes, bytes]]:
        has_text = self.has_text & self._has_phrases
        return list(index_files(self.atlas, self.point_of, has_text))


class PointSet:
    """Points of a facility or concept, encoded as differences; `strong` are of class 1."""

    def __init__(self, name: str, points: Points, strong: Points, start: int, content: bytes):
        self.name, self.points, self.strong, self.content = name, points, strong, content
        self.entry = {
            "name": name,
            "papers": len(points),
            "uses": len(strong),
            "at": [start, start + len(content)],
        }


def _region_rows(topics: pd.DataFrame, colours: list[int]) -> list[dict[str, Any]]:
    number = {int(topic): row for row, topic in enumerate(topics["topic_id"].tolist())}
    return [
        {
            "id": int(one.topic_id),
            "level": int(one.level),
            "parent": number.get(int(one.parent_id), -1),
            "label": str(one.label),
            "papers": int(one.n_papers),
            "colour": colour,
            "x": float(one.x),
            "y": float(one.y),
            "keywords": [str(word) for word in list(one.keywords)[:6]],
        }
        for one, colour in zip(topics.itertuples(), colours, strict=True)
    ]


def _square(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the lower left corner and the side of a square around all papers."""
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise InputError("The map has papers without finite coordinates; build the atlas again.")
    side = max(float(np.ptp(x)), float(np.ptp(y))) * 1.04 or 1.0
    return float(x.min() + x.max() - side) / 2, float(y.min() + y.max() - side) / 2, side


def order_points(codes: NDArray[np.uint32], seed: int) -> tuple[list[int], NDArray[np.int64]]:
    """Return the sizes of the parts, and the rows of the points."""
    rows = np.random.default_rng(seed).permutation(len(codes))
    ends = [*range(_FIRST, len(rows), _IN_A_PART), len(rows)]
    curve = _spread(codes[:, 0]) | (_spread(codes[:, 1]) << np.uint64(1))
    pieces = [piece[np.argsort(curve[piece], kind="stable")] for piece in np.split(rows, ends[:-1])]
    return [len(piece) for piece in pieces], np.concatenate(pieces)


def _spread(values: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Move bit i of 16-bit values to bit 2i, for Morton codes."""
    found = values.astype(np.uint64)
    for shift, mask in ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
        found = (found | (found << np.uint64(shift))) & np.uint64(mask)
    return found


def _hash(name: str) -> int:
    """Return a hash of a name that the viewer computes in the same way."""
    found = 0
    for code in name.encode("utf-16-le"):
        found = (found * 31 + code) & 0xFFFFFFFF
    return found


def packed(content: bytes) -> bytes:
    """Compress a file."""
    return gzip.compress(content, 6, mtime=0)


def _packed_json(content: object) -> bytes:
    return packed(json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode())
