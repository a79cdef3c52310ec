"""Which papers a filter lets through, column by column.

Refereed
    As ADS knows it only from its own database, it is inferred: the document type is an article, a
    review or a letter; or there is no type, or it is an e-print, and the paper has a journal or a
    DOI other than arXiv's own. Proceedings are not refereed.
Review
    The document type is a review, or the journal publishes reviews (Annual Review, A&ARv, Living
    Reviews, Space Science Reviews, Reviews of Modern Physics, Physics Reports...), or the title
    calls itself one ("a review of", ": an overview", "... reviewed"); "peer review" does not. In an
    atlas the layer of reviews decides.
Facility
    In an atlas the layer of missions decides, which tells ``Planck`` the satellite from ``Planck``
    the constant; elsewhere, and for single instruments, the word in title or abstract does.
Missing values
    A paper without a year, a citation count or a journal matches no condition on it, and so does
    match its negation: write ``citations<50`` for known counts below 50, ``-citations>=50`` for
    all but those known to have more.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._journals import JOURNALS, Journal, find_journal
from landscape.corpus._facilities import find_facility
from landscape.errors import InputError
from landscape.search._filter_patterns import (
    author_pattern,
    journal_patterns,
    phrase_pattern,
    word_patterns,
)
from landscape.search._filters import And, Citations, Filter, Flag, Node, Not, Or, Years

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

_FEW_WORDS = 2  # of a phrase whose pattern is matched at once
_NOTHING = np.array([], object)

_COLUMNS: dict[str, frozenset[str]] = {
    # The extracted keywords are words of the abstract already.
    "any": frozenset({"title", "abstract", "ads_keywords"}),
    "author": frozenset({"authors"}),
    "title": frozenset({"title"}),
    "journal": frozenset({"journal", "bibcode"}),
    "doi": frozenset({"doi"}),
    "category": frozenset({"categories"}),
    "keyword": frozenset({"keywords", "ads_keywords"}),
    "facility": frozenset({"title", "abstract"}),
    "bibcode": frozenset({"bibcode"}),
    "arxiv": frozenset({"arxiv_id"}),
    "refereed": frozenset({"doctype", "journal", "doi"}),
    "review": frozenset({"doctype", "journal", "bibcode", "title"}),
}
LAYERS = frozenset({"facilities", "is_review"})
_REFEREED_TYPES = ("article", "review", "letter")
_PROCEEDINGS = r"\b(?:proc|proceedings|conf|conference|symposium|workshop|thesis|meeting|IAU ?S)\b"
_LEARNED = r"\b(?:national academy|natl\.? acad|royal society|R\. ?Soc)"  # these are journals
_REVIEW_TITLE = (
    r"(?:^|[:;.?–—] *|\b(?:an?|the|this|brief|short|critical|comprehensive|systematic|historical|"
    r"topical|mini|invited|pedagogical|concise|selective|state-of-the-art)[ -]*)"
    r"(?:review|overview)s?(?:$|[:.,;]| (?:of|on|and|for|article|from|with|in)\b)"
    r"|[,:–—-] *(?:a |an )?(?:[\w-]+ ){0,2}(?:review|overview)$|\breviewed$"
)
_NOT_A_REVIEW = r"\bpeer[ -]review|\breview (?:process|panel|board)"
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le, "=": operator.eq
}  # fmt: skip


class Columns:
    """Columns of papers as Arrow arrays, converted on first use."""

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
        """Where a text is missing or empty; shape (n,)."""
        import pyarrow.compute as pc

        text = self._text(column)
        empty = pc.or_kleene(pc.is_null(text), pc.equal(text, ""))
        return np.asarray(empty.fill_null(True))

    def matches(self, column: str, pattern: str, *, exact: bool = False) -> Mask:
        """Where a pattern is found in a text, with case ignored unless exact; shape (n,)."""
        return _found(self._text(column), pattern, exact=exact)

    def says(self, column: str, phrase: str) -> Mask:
        """Where a text contains a phrase; shape (n,)."""
        return _said(self._text(column), phrase)

    def any_says(self, column: str, phrase: str) -> Mask:
        """Where one text of a list contains a phrase; shape (n,)."""
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


def columns_needed(
    filter: Filter,  # noqa: A002 - the word of this field
    layers: Collection[str] = (),
) -> set[str]:
    """Columns that a filter needs, so that only these are read."""
    return _needed(filter.root, layers)


def apply_filter(filter: Filter, papers: pd.DataFrame) -> Mask:  # noqa: A002
    """Mask of the papers that pass a filter, shape (n,)."""
    missing = sorted(columns_needed(filter, LAYERS & set(papers.columns)) - set(papers.columns))
    if missing:
        raise InputError(
            f"The filter {str(filter)[:80]!r} needs the column {missing[0]!r}, which these papers "
            f"do not have; they have: {', '.join(map(str, papers.columns))}."
        )
    return _mask(filter.root, Columns(papers))


def _needed(node: Node, layers: Collection[str] = ()) -> set[str]:
    if isinstance(node, And | Or):
        return set().union(*(_needed(part, layers) for part in node.parts))
    if isinstance(node, Not):
        return _needed(node.part, layers)
    if isinstance(node, Years):
        return {"year"}
    if isinstance(node, Citations):
        return {"cites"}
    if isinstance(node, Flag):
        told = node.name == "review" and "is_review" in layers
        return {"is_review"} if told else set(_COLUMNS[node.name])
    if node.field == "facility" and "facilities" in layers and _known_facility(node.text):
        return {"facilities"}
    return set(_COLUMNS[node.field])


def _mask(node: Node, papers: Columns) -> Mask:
    if isinstance(node, And):
        return _all(node, papers)
    if isinstance(node, Or):
        return _any(node, papers)
    if isinstance(node, Not):
        return ~_mask(node.part, papers)
    if isinstance(node, Years):
        years = papers.numbers("year")
        # Comparisons with NaN are false, so that a missing year is in no range.
        return (years >= (node.first or 0)) & (years <= (9999 if node.last is None else node.last))
    if isinstance(node, Citations):
        found: Mask = _COMPARE[node.comparison](papers.numbers("cites"), node.count)
        return found
    if isinstance(node, Flag):
        return _refereed(papers) if node.name == "refereed" else _review(papers)
    return _TERMS[node.field](node.text, papers)


def _all(node: And, papers: Columns) -> Mask:
    """Cheap conditions first; abstracts are read only of the papers that are left."""
    mask = np.ones(len(papers), bool)
    for part in sorted(node.parts, key=_cost):
        left = np.flatnonzero(mask)
        if len(left) == 0:
            break
        if len(left) > len(papers) // 2:
            mask &= _mask(part, papers)
        else:
            mask[left] = _mask(part, papers.take(left))
    return mask


def _any(node: Or, papers: Columns) -> Mask:
    mask = np.zeros(len(papers), bool)
    for part in sorted(node.parts, key=_cost):
        left = np.flatnonzero(~mask)
        if len(left) == 0:
            break
        if len(left) > len(papers) // 2:
            mask |= _mask(part, papers)
        else:
            mask[left] = _mask(part, papers.take(left))
    return mask


def _cost(node: Node) -> int:
    needed = _needed(node)
    if "abstract" in needed:
        return 3
    if needed & {"authors", "keywords"}:
        return 2
    return 0 if needed <= {"year", "cites"} else 1


def _anywhere(text: str, papers: Columns) -> Mask:
    mask = papers.says("title", text) | papers.says("abstract", text)
    return mask | papers.any_says("ads_keywords", text)


def _known_facility(text: str) -> str | None:
    """The facility of that name; None for an instrument, which is searched as a word."""
    try:
        facility = find_facility(text)
    except InputError:
        return None
    own = (facility.name, facility.full_name, *facility.aliases)
    return facility.name if _letters(text) in map(_letters, own) else None


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9+]", "", name.lower())


def _facility(text: str, papers: Columns) -> Mask:
    facility = _known_facility(text)
    if facility is not None and "facilities" in papers:
        return papers.any_distinct("facilities", lambda name: name == facility)
    return papers.says("title", text) | papers.says("abstract", text)


def _keyword(text: str, papers: Columns) -> Mask:
    return papers.any_says("keywords", text) | papers.any_says("ads_keywords", text)


def _author(text: str, papers: Columns) -> Mask:
    return papers.any_matches(
        "authors", author_pattern(text.removeprefix("^")), first_only=text.startswith("^")
    )


def _category(text: str, papers: Columns) -> Mask:
    wanted = text.lower()

    def belongs(code: str) -> bool:
        code = code.lower()
        if wanted.endswith("*"):
            return code.startswith(wanted[:-1])
        return code == wanted or code.startswith(wanted + ".")

    return papers.any_distinct("categories", belongs)


def _journal(text: str, papers: Columns) -> Mask:
    known = find_journal(text.removesuffix("*"))
    if known is None:
        return papers.says("journal", text)
    return _in_journals((known,), papers)


def _in_journals(journals: tuple[Journal, ...], papers: Columns) -> Mask:
    names, longer, bibcodes = journal_patterns(journals)
    mask = papers.matches("journal", names)
    if longer is not None:
        mask &= ~papers.matches("journal", longer)
    return mask | papers.matches("bibcode", bibcodes, exact=True)


def _identifier(column: str) -> Callable[[str, Columns], Mask]:
    def find(text: str, papers: Columns) -> Mask:
        wanted = _PLAIN[column](text)
        begins = "^" + re.escape(wanted.removesuffix("*"))
        return papers.matches(column, begins if wanted.endswith("*") else begins + "$")

    return find


def _plain_arxiv(text: str) -> str:
    from landscape.corpus._identifiers import parse_arxiv_id

    return parse_arxiv_id(text) or text


def _plain_doi(text: str) -> str:
    from landscape.corpus._identifiers import parse_doi

    return parse_doi(text) or text


def _refereed(papers: Columns) -> Mask:
    unknown = papers.absent("doctype") | papers.matches("doctype", "^(?:eprint|preprint)$")
    published = ~papers.absent("journal") | papers.matches("doi", r"^10\.(?:[^4]|4[^8]|48[^5])")
    proceedings = papers.matches("journal", _PROCEEDINGS) & ~papers.matches("journal", _LEARNED)
    by_type = papers.matches("doctype", f"^(?:{'|'.join(_REFEREED_TYPES)})$")
    return (by_type | (unknown & published)) & ~proceedings


def _review(papers: Columns) -> Mask:
    if "is_review" in papers:
        return papers.numbers("is_review") > 0
    mask = papers.matches("doctype", "^review")
    mask |= papers.matches("title", _REVIEW_TITLE) & ~papers.matches("title", _NOT_A_REVIEW)
    return mask | _in_journals(tuple(j for j in JOURNALS if j.reviews), papers)


_PLAIN: dict[str, Callable[[str], str]] = {
    "doi": _plain_doi,
    "arxiv_id": _plain_arxiv,
    "bibcode": lambda text: text,
}
_TERMS: dict[str, Callable[[str, Columns], Mask]] = {
    "any": _anywhere,
    "author": _author,
    "title": lambda text, papers: papers.says("title", text),
    "journal": _journal,
    "doi": _identifier("doi"),
    "category": _category,
    "keyword": _keyword,
    "facility": _facility,
    "bibcode": _identifier("bibcode"),
    "arxiv": _identifier("arxiv_id"),
}
