"""Index of words for the search in the browser, in files of words in alphabetical order.

The words are those of `landscape.text.tokenise`, so that different notations of a line, an object
or a redshift are one word. A browser looks up the words of a query, and joins neighbours ("NGC
1275", "H alpha") to find such names. The words also have the family names of authors, after "@".
"""

from __future__ import annotations

import json
import sys
import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from landscape._author_names import parse_name
from landscape._progress import progress
from landscape.text import tokenise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.atlas import Atlas

_READ_AT_ONCE = 4_096  # papers
_IN_A_FILE = 400_000  # bytes before compression
_LONGEST = 40  # characters of a word
_AUTHORS = 60  # of a paper
_PLACE_BITS = 12
_PLACES = (1 << _PLACE_BITS) - 1  # place of all later words of a text
_GAP = 8  # places between title and abstract, across which no phrase is found


def index_files(
    atlas: Atlas, point_of: NDArray[np.int64], has_text: NDArray[np.bool_]
) -> Iterator[tuple[str, bytes, bytes]]:
    """Yield the first word of each file of the index, its lists of papers, and their places.

    Both contents are a line of JSON with the words and the ends of their lists, followed by the
    lists as variable-length integers. Papers are differences between points, times four, plus two
    if the title has the word and plus one if the paper has it more than once. Places are, for each
    paper, differences between the numbers of the word in the text, times two, plus one if another
    place in the same paper follows.
    """
    lists: dict[str, array[int]] = defaultdict(lambda: array("Q"))
    n = len(point_of)
    with progress("Word index", total=n) as advance:
        for start in range(0, n, _READ_AT_ONCE):
            rows = np.arange(start, min(n, start + _READ_AT_ONCE))
            table = atlas.read_papers(["title", "abstract", "authors"], rows=rows)
            texts = table["abstract"].where(has_text[rows], "")
            columns = table["title"], texts, table["authors"]
            for row, title, text, authors in zip(rows.tolist(), *columns, strict=True):
                point = int(point_of[row]) << _PLACE_BITS + 1
                words = tokenise(title or "")
                for place, word in enumerate(words):
                    lists[_entry(word)].append(point + 2 * min(place, _PLACES) + 1)
                for place, word in enumerate(tokenise(text or ""), len(words) + _GAP):
                    lists[_entry(word)].append(point + 2 * min(place, _PLACES))
                for name in {author_word(name) for name in list(authors or ())[:_AUTHORS]}:
                    lists[name].append(point)
            advance(len(rows))
    papers, places = _Lists(), _Lists()
    for word in sorted(lists):
        codes = np.sort(np.frombuffer(lists.pop(word), dtype=np.uint64).astype(np.int64))
        own, where = _encode(codes)
        if papers.size and papers.size + len(own) > _IN_A_FILE:
            yield papers.words[0][0], papers.content(), places.content()
            papers, places = _Lists(), _Lists()
        papers.add(word, own)
        if not word.startswith("@"):
            places.add(word, where)
    if papers.words:
        yield papers.words[0][0], papers.content(), places.content()


def _entry(word: str) -> str:
    return sys.intern(word[:_LONGEST])


def _encode(codes: NDArray[np.int64]) -> tuple[bytes, bytes]:
    """Encode the papers of a word, and its places in each paper."""
    point, place, in_title = codes >> _PLACE_BITS + 1, (codes >> 1) & _PLACES, codes & 1
    is_first = np.diff(point, prepend=-1) > 0
    starts = np.flatnonzero(is_first)
    counts = np.diff(starts, append=len(codes))
    kinds = 2 * np.maximum.reduceat(in_title, starts) + (counts > 1)
    papers = np.diff(point[starts], prepend=0) * 4 + kinds
    steps = np.where(is_first, place, np.diff(place, prepend=0))
    return varints(papers), varints(2 * steps + ~np.append(is_first[1:], True))


class _Lists:
    """Lists of one file of the index."""

    def __init__(self) -> None:
        self.words: list[tuple[str, int]] = []
        self.size = 0
        self._contents: list[bytes] = []

    def add(self, word: str, content: bytes) -> None:
        self.size += len(content)
        self.words.append((word, self.size))
        self._contents.append(content)

    def content(self) -> bytes:
        head = json.dumps(self.words, ensure_ascii=False, separators=(",", ":")).encode()
        return head + b"\n" + b"".join(self._contents)


def varints(values: NDArray[np.int64]) -> bytes:
    """Encode integers with 7 bits per byte, the lowest first; the highest bit says "continues"."""
    rest = np.asarray(values, dtype=np.uint64)
    columns, more = [], np.ones(len(rest), dtype=bool)
    present = []
    while more.any():
        present.append(more)
        after = more & (rest >= 128)
        columns.append((rest & np.uint64(127)) | (after.astype(np.uint64) << np.uint64(7)))
        rest, more = rest >> np.uint64(7), after
    if not columns:
        return b""
    table, mask = np.column_stack(columns).astype(np.uint8), np.column_stack(present)
    return table[mask].tobytes()


def author_word(name: str) -> str:
    """Return the entry of an author in the index: the family name in plain letters after "@".

    >>> author_word("de Grijs, R."), author_word("Vera C. Müller-Rubin")
    ('@degrijs', '@mullerrubin')
    """
    plain = unicodedata.normalize("NFKD", _family(name)).lower()
    return "@" + "".join(c for c in plain if c.isalnum())[:_LONGEST]


@lru_cache(maxsize=100_000)
def _family(name: str) -> str:
    return parse_name(name).family
