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


def index_files(
    atlas: Atlas, point_of: NDArray[np.int64], has_text: NDArray[np.bool_]
) -> Iterator[tuple[str, bytes]]:
    """Yield the first word and the content of each file of the index.

    A file has a line of JSON with its words and the ends of their lists, followed by the lists:
    differences between points, times four, plus two if the title has the word and plus one if the
    paper has it more than once, as variable-length integers.
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
                point = 4 * int(point_of[row])
                for word, strength in _strengths(title or "", text or "").items():
                    lists[word].append(point + strength)
                for name in {author_word(name) for name in list(authors or ())[:_AUTHORS]}:
                    lists[name].append(point)
            advance(len(rows))
    words: list[tuple[str, int]] = []
    contents: list[bytes] = []
    for word in sorted(lists):
        found = np.sort(np.frombuffer(lists.pop(word), dtype=np.uint64).astype(np.int64))
        content = varints(np.diff(found >> 2, prepend=0) * 4 + (found & 3))
        size = words[-1][1] if words else 0
        if size and size + len(content) > _IN_A_FILE:
            yield words[0][0], _content(words, contents)
            words, contents, size = [], [], 0
        words.append((word, size + len(content)))
        contents.append(content)
    if words:
        yield words[0][0], _content(words, contents)


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


def _strengths(title: str, text: str) -> dict[str, int]:
    """Return the words of a paper, with 2 for the title and 1 for more than one occurrence."""
    found: dict[str, int] = {}
    for word in tokenise(title):
        word = sys.intern(word[:_LONGEST])
        found[word] = 3 if word in found else 2
    for word in tokenise(text):
        word = word[:_LONGEST]
        known = found.get(word)
        found[word] = 0 if known is None else known | 1
    return found


def _content(words: list[tuple[str, int]], contents: list[bytes]) -> bytes:
    head = json.dumps(words, ensure_ascii=False, separators=(",", ":")).encode()
    return head + b"\n" + b"".join(contents)
