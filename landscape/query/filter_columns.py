"""Columns of papers in the form that filters read them: Arrow arrays, made once a filter."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.query.filter_patterns import phrase_pattern, word_patterns

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

_FEW_WORDS = 2  # of a phrase whose pattern is matched at once
_NOTHING = np.array([], object)


class Columns:
    """Some papers, whose columns are converted when a condition first asks for them.

    Parameters
    ----------
    papers : pandas.DataFrame, shape (n, ...)
        As in ``papers.parquet``.

    Examples
    --------
    >>> import pandas as pd
    >>> papers = Columns(pd.DataFrame({"title": ["Dust", None], "authors": [["Rubin"], []]}))
    >>> papers.matches("title", "dust"), papers.any_matches("authors", "^ru")
    (array([ True, False]), array([ True, False]))
    """

    def __init__(self, papers: pd.DataFrame) -> None:
        self._papers = papers
        self._kept: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self._papers)

    def __contains__(self, column: str) -> bool:
        return column in self._papers

    def take(self, rows: NDArray[np.intp]) -> Columns:
        """Some of the papers, with what was already converted."""
        chosen = Columns(self._papers.iloc[rows])
        for name, kept in self._kept.items():
            if not isinstance(kept, tuple):
                chosen._kept[name] = kept.take(rows)
        return chosen

    def numbers(self, column: str) -> NDArray[np.float64]:
        """Numbers, NaN where there is none; shape (n,)."""
        values: NDArray[np.float64] = self._papers[column].to_numpy("float64", na_value=np.nan)
        return values

    def absent(self, column: str) -> Mask:
        """Where there is no text, or an empty one; shape (n,)."""
        import pyarrow.compute as pc

        text = self._text(column)
        empty = pc.or_kleene(pc.is_null(text), pc.equal(text, ""))
        return np.asarray(empty.fill_null(True))

    def matches(self, column: str, pattern: str, *, exact: bool = False) -> Mask:
        """Where a pattern is found in a text, with case ignored unless exact; shape (n,)."""
        return _found(self._text(column), pattern, exact=exact)

    def says(self, column: str, phrase: str) -> Mask:
        """Where a text holds a phrase; shape (n,)."""
        return _said(self._text(column), phrase)

    def any_says(self, column: str, phrase: str) -> Mask:
        """Where one text of a list holds a phrase; shape (n,)."""
        texts, counts = self._texts(column)
        return _any_of_each(_said(texts, phrase), counts)

    def any_matches(self, column: str, pattern: str, *, first_only: bool = False) -> Mask:
        """Where a pattern is found in one text of a list; shape (n,)."""
        texts, counts = self._texts(column)
        found = _found(texts, pattern)
        starts = np.cumsum(counts) - counts
        if first_only:
            mask = np.zeros(len(counts), bool)
            mask[counts > 0] = found[starts[counts > 0]]
            return mask
        return _any_of_each(found, counts)

    def any_distinct(self, column: str, wanted: Callable[[str], bool]) -> Mask:
        """Where a text of a list passes a test, which sees each distinct text once; shape (n,)."""
        import pyarrow.compute as pc

        texts, counts = self._texts(column)
        coded = pc.dictionary_encode(texts)
        passed = np.array([bool(value) and wanted(value) for value in coded.dictionary.to_pylist()])
        if not len(passed):
            return np.zeros(len(counts), bool)
        codes = np.asarray(coded.indices.fill_null(0))
        found = passed[codes] & ~np.asarray(coded.indices.is_null())
        return _any_of_each(found, counts)

    def _text(self, column: str) -> pa.Array:
        import pyarrow as pa

        if column not in self._kept:
            # large_string: the abstracts of a million papers pass 2 GB.
            array = pa.array(self._papers[column], pa.large_string(), from_pandas=True)
            if isinstance(array, pa.ChunkedArray):
                array = array.combine_chunks()
            self._kept[column] = array
        return self._kept[column]

    def _texts(self, column: str) -> tuple[pa.Array, NDArray[np.intp]]:
        """All texts of a column of lists, one after the other, and how many each paper has."""
        if column not in self._kept:
            self._kept[column] = _flattened(self._papers[column])
        kept: tuple[pa.Array, NDArray[np.intp]] = self._kept[column]
        return kept


def _flattened(values: pd.Series) -> tuple[pa.Array, NDArray[np.intp]]:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(values.dtype, pd.ArrowDtype):  # as read from Parquet, without a copy
        lists = pa.array(values)
        if isinstance(lists, pa.ChunkedArray):
            lists = lists.combine_chunks()
        counts = np.asarray(pc.list_value_length(lists).fill_null(0), np.intp)
        return lists.flatten(), counts
    # A missing list is None in an atlas, but NaN in a data frame made by hand.
    rows = [_NOTHING if v is None or isinstance(v, float) else v for v in values]
    counts = np.fromiter(map(len, rows), np.intp, len(rows))
    flat = np.concatenate([_NOTHING, *rows])
    return pa.array(flat, pa.large_string(), from_pandas=True), counts


def _found(texts: pa.Array, pattern: str, *, exact: bool = False) -> Mask:
    import pyarrow.compute as pc

    found = pc.match_substring_regex(texts, pattern, ignore_case=not exact)
    return np.array(found.fill_null(False), bool)


def _said(texts: pa.Array, phrase: str) -> Mask:
    """Where texts hold a phrase: its words are looked for first, one by one."""
    words = word_patterns(phrase)
    mask, left = np.zeros(len(texts), bool), np.arange(len(texts))
    if len(words) > _FEW_WORDS:
        for pattern in sorted(words, key=len, reverse=True):
            left = left[_found(texts.take(left), pattern)]
        texts = texts.take(left)
    mask[left] = _found(texts, phrase_pattern(phrase))
    return mask


def _any_of_each(found: Mask, counts: NDArray[np.intp]) -> Mask:
    """Whether any of each paper's texts was found."""
    totals = np.concatenate([[0], np.cumsum(found)])
    ends = np.cumsum(counts)
    mask: Mask = totals[ends] > totals[ends - counts]
    return mask
