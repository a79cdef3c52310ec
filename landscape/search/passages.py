"""Passages of full texts: their index, and the passages of papers that fit a text.

A passage has about 900 characters of one section and begins and ends with a sentence. The index has
the same words as that of the abstracts; vectors of the passages are optional.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from landscape.search.engine import open_engine
from landscape.search.ranking import fuse_ranks
from landscape.text.word_index import WordIndex
from landscape.text.words import PARAGRAPH

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

    from landscape.search.engine import Engine
    from landscape.store import AtlasStore
    from landscape.types import Evidence, Highlight, Paper

    Quoted = TypeVar("Quoted", Evidence, Highlight)

PASSAGES = "passages"
"""Folder of the word index of passages."""
VECTORS = "passage_vectors"
"""Folder of the vectors of passages, and of their keys."""
INDEXED = (
    "introduction", "data", "methods", "results", "discussion", "conclusions", "data availability",
    "appendix", "caption", "other",
)  # fmt: skip
"""Kinds of sections whose passages are searched."""
_LENGTH = 900  # characters of a passage
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z“(])|\n+")
_SECTION_BITS, _NUMBER_BITS, _ROW_BITS = 11, 9, 20
_MAX_SHOWN = 4  # passages of a paper that are added to its abstract
_BLOCK = 100_000  # vectors that are compared at a time
_FEW = 300  # papers whose passages are searched alone; each adds half a millisecond


class Passage(NamedTuple):
    """Part of a section that was found; `start` and `end` are its place in the section."""

    row: int
    section: int
    start: int
    end: int
    score: float
    kind: str
    heading: str
    text: str
    page: int | None


def passages_of(text: str) -> list[tuple[int, int]]:
    """Divide the text of a section into passages, given by start and end.

    >>> [(0, 10)] == passages_of("Dust cools")
    True
    """
    cuts = [match.end() for match in _END.finditer(text)]
    found, start, last = [], 0, 0
    for cut in [*cuts, len(text)]:
        if cut - start > _LENGTH and last > start:
            found.append((start, last))
            start = last
        last = cut
    if start < len(text):
        found.append((start, len(text)))
    return found[: 1 << _NUMBER_BITS]


def part_code(name: str) -> int:
    """Return the number by which keys name a part of the atlas."""
    return int.from_bytes(blake2b(name.encode(), digest_size=3).digest())


def passage_key(part: int, row: int, section: int, number: int) -> int:
    """Return the key of a passage: its part, the row in the part, its section and its number."""
    key = (part << _ROW_BITS) | row
    return (((key << _SECTION_BITS) | section) << _NUMBER_BITS) | number


class PassageIndex:
    """Search in the passages of the full texts of an atlas."""

    def __init__(self, atlas: AtlasStore) -> None:
        self._atlas = atlas
        self._words = atlas.read(PASSAGES, lambda folder: WordIndex(folder / PASSAGES))
        self._starts = np.cumsum([0, *(part.rows for part in atlas.parts)])
        self._codes = [part_code(part.name) for part in atlas.parts]
        self._first = dict(zip(self._codes, self._starts.tolist(), strict=False))

    def search(
        self,
        query: str,
        *,
        k: int = 20,
        rows: Iterable[int] | None = None,
        of_paper: int = _MAX_SHOWN,
    ) -> list[Passage]:
        """Find the passages that fit a text best, at most some of each paper."""
        wanted = None if rows is None else sorted({int(row) for row in rows})
        if wanted is not None and len(wanted) <= _FEW:
            ranges = [self._keys(row) for row in wanted]
            return self._read(self._best(query, k, len(self._words), of_paper, None, ranges))
        allowed = None if wanted is None else frozenset(wanted)
        n = 40 * k
        chosen = self._best(query, k, n, of_paper, allowed)
        while allowed and len(chosen) < k and n < len(self._words):
            n *= 8
            chosen = self._best(query, k, n, of_paper, allowed)
        return self._read(chosen)

    def _keys(self, row: int) -> tuple[int, int]:
        """Return the range of the keys of the passages of a paper."""
        part = int(np.searchsorted(self._starts, row, side="right")) - 1
        code, place = self._codes[part], row - int(self._starts[part])
        return passage_key(code, place, 0, 0), passage_key(code, place + 1, 0, 0)

    def _best(
        self,
        query: str,
        k: int,
        n: int,
        of_paper: int,
        allowed: frozenset[int] | None,
        ranges: Sequence[tuple[int, int]] | None = None,
    ) -> list[tuple[int, int, int, float]]:
        """Return the row, section, number and score of the best of the first `n` passages."""
        if not len(self._words) or ranges == []:
            return []
        found = self._words.search(query, k=n, ranges=ranges)
        chosen: list[tuple[int, int, int, float]] = []
        counts: dict[int, int] = {}
        for key, score in self._fused(query, found.keys.tolist(), n, ranges):
            number = key & ((1 << _NUMBER_BITS) - 1)
            section = (key >> _NUMBER_BITS) & ((1 << _SECTION_BITS) - 1)
            place = key >> (_NUMBER_BITS + _SECTION_BITS)
            first = self._first.get(place >> _ROW_BITS)
            if first is None:
                continue
            row = first + (place & ((1 << _ROW_BITS) - 1))
            if (allowed is not None and row not in allowed) or counts.get(row, 0) >= of_paper:
                continue
            counts[row] = counts.get(row, 0) + 1
            chosen.append((row, section, number, score))
            if len(chosen) >= k:
                break
        return chosen

    def _fused(
        self, query: str, by_words: list[int], n: int, ranges: Sequence[tuple[int, int]] | None
    ) -> list[tuple[int, float]]:
        """Rank passages by words and, if the atlas has vectors of passages, by meaning."""
        rankings = [
            {key: -float(rank) for rank, key in enumerate(keys)}
            for keys in (by_words, self._by_meaning(query, n, ranges))
        ]
        keys = sorted(rankings[0].keys() | rankings[1].keys())
        total = fuse_ranks([np.array([one.get(key, -np.inf) for key in keys]) for one in rankings])
        return [(keys[n], float(total[n])) for n in np.argsort(-total, kind="stable")]

    def _by_meaning(
        self, query: str, n: int, ranges: Sequence[tuple[int, int]] | None
    ) -> list[int]:
        names = [f"{VECTORS}/{part.name}" for part in self._atlas.parts]
        names = [name for name in names if f"{name}.npy" in self._atlas.manifest.files]
        if not names:
            return []
        vector = open_engine(self._atlas).indexes.embedder.embed([query])[0]

        def best(folder: Path) -> tuple[NDArray[np.uint64], NDArray[np.float32]]:
            from landscape.store.arrays import open_matrix

            keys, scores = [np.zeros(0, np.uint64)], [np.zeros(0, np.float32)]
            for name in names:
                matrix = open_matrix(folder / f"{name}.npy")
                own = np.load(folder / f"{name}.keys.npy", allow_pickle=False)
                if ranges is None:
                    cuts = [*range(0, len(own), _BLOCK), len(own)]
                    pieces = list(itertools.pairwise(cuts))
                else:  # the keys of a part are in order
                    edges = np.searchsorted(own, np.array(ranges, np.uint64))
                    pieces = [(int(start), int(end)) for start, end in edges if end > start]
                blocks = [matrix[start:end] @ vector for start, end in pieces]
                values = np.concatenate([scores[0], *blocks])
                of = np.concatenate([keys[0], *(own[start:end] for start, end in pieces)])
                first = np.argsort(-values, kind="stable")[:n]
                keys.append(of[first])
                scores.append(values[first])
            return np.concatenate(keys), np.concatenate(scores)

        keys, scores = self._atlas.read(VECTORS, best)
        return [int(key) for key in keys[np.argsort(-scores, kind="stable")][:n]]

    def _read(self, chosen: Sequence[tuple[int, int, int, float]]) -> list[Passage]:
        """Read the texts of passages."""
        table = self._atlas.sections({row for row, *_ in chosen})
        columns = ["paper_row", "number", "kind", "heading", "text", "first_page", "last_page"]
        by_key = {(one[0], one[1]): one for one in table[columns].itertuples(index=False)}
        found = []
        for row, section, number, score in chosen:
            one = by_key.get((row, section))
            spans = passages_of(one.text) if one else []
            if one is None or number >= len(spans):
                continue
            start, end = spans[number]
            found.append(
                Passage(row, section, start, end, score, one.kind, _heading(table, row, section),
                        one.text[start:end].strip(), _page(one, start))
            )  # fmt: skip
        return found


def _heading(table: pd.DataFrame, row: int, section: int) -> str:
    own = table[(table["paper_row"] == row) & (table["number"] == section)].iloc[0]
    return str(own["heading"] or own["kind"].capitalize())


def _page(section: object, start: int) -> int | None:
    """Estimate the page of a place from the pages of its section."""
    first, last = section.first_page, section.last_page  # type: ignore[attr-defined]
    if first is None or first != first:
        return None
    share = start / max(len(section.text), 1)  # type: ignore[attr-defined]
    return int(first + share * (last - first))


def passage_index(atlas: AtlasStore) -> PassageIndex | None:
    """Return the index of the passages of an open atlas, or None without full texts."""
    if not any(name.startswith(f"{PASSAGES}/") for name in atlas.manifest.files):
        return None
    return atlas.cached("passage index", PassageIndex)


@dataclass(frozen=True)
class BodyText:
    """Papers whose abstracts are followed by passages of their bodies.

    The functions that read abstracts so read passages, too. `located` restores the evidence.
    """

    papers: tuple[Paper, ...]
    places: dict[str, tuple[tuple[int, Passage], ...]]  # start in the text, by paper

    def located(self, one: Quoted, paper_id: str = "") -> Quoted:
        """Return a sentence from a passage with its section, its page and its place there."""
        own = self.places.get(paper_id or getattr(one, "paper_id", ""), ())
        at = bisect_right([start for start, _ in own], one.start) - 1
        if at < 0:
            return one
        start, passage = own[at]
        shift = passage.start - start
        return replace(
            one, start=one.start + shift, end=one.end + shift,
            section=passage.heading, page=passage.page,
        )  # fmt: skip


def with_bodies(
    atlas: AtlasStore, papers: Sequence[Paper], query: str, *, of_paper: int = _MAX_SHOWN
) -> BodyText:
    """Add to the abstracts of papers the passages of their bodies that fit a text best."""
    index = passage_index(atlas)
    rows = [paper.row for paper in papers if paper.row >= 0]
    if index is None or not rows:
        return BodyText(tuple(papers), {})
    found: dict[int, list[Passage]] = {}
    for one in index.search(query, k=of_paper * len(rows), rows=rows, of_paper=of_paper):
        found.setdefault(one.row, []).append(one)
    extended, places = [], {}
    for paper in papers:
        text, own = paper.abstract, []
        for passage in sorted(found.get(paper.row, ()), key=lambda one: (one.section, one.start)):
            text += PARAGRAPH
            own.append((len(text), passage))
            text += passage.text
        if own:
            places[paper.paper_id] = tuple(own)
        extended.append(replace(paper, abstract=text) if own else paper)
    return BodyText(tuple(extended), places)


def papers_of_passages(
    engine: Engine, query: str, *, k: int, rows: NDArray[np.int64] | None
) -> list[Paper]:
    """Return the papers with the best passages for a query."""
    index = passage_index(engine.atlas)
    if index is None:
        return []
    found = index.search(query, k=4 * k, rows=None if rows is None else rows.tolist())
    return engine.papers(list(dict.fromkeys(one.row for one in found))[:k])
