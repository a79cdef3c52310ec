"""Find the papers that match a filter; `FIELDS` defines the columns and function of each field.

Refereed
    Only ADS stores this property, so it is inferred. A paper is refereed if its document type is
    article, review or letter. If the type is missing or eprint, the paper is refereed if it has a
    journal, or a DOI that is not registered by arXiv. Proceedings are not refereed.
Review
    The layer of reviews of an atlas lists the reviews. Without this layer, a paper is a review if
    its document type is review, if its journal publishes reviews (Annual Review, A&ARv, Living
    Reviews...), or if its title contains words such as "a review of" or ": an overview", but not
    "peer review".
Facility
    The layer of missions of an atlas lists the facilities. It distinguishes the satellite
    ``Planck`` from Planck's constant. The name of an instrument or a survey selects its own
    papers, and the name of an observatory those of its telescopes. ``facility:`` selects papers
    that use its data, as the figures and tables of facilities do, and ``mentions:`` all papers
    that mention it. Without this layer, both search the title and the abstract.
Object
    The layer of objects of an atlas lists the names of celestial objects. ``object:"M 31"``
    selects papers that name it in any form, such as NGC 224 or Andromeda galaxy, and the name of a
    star also selects the papers of its planets.
Role
    The role of a facility in a paper is the strongest role of its mentions. Beside facilities, as
    in ``facility:JWST; role:planned``, it is the role of these facilities. In a filter with a
    role, ``facility:`` has the meaning of ``mentions:``.
Missing values
    A paper without a year, a citation count or a journal does not match any condition on this
    value, so it matches all negated conditions. For example, ``citations<50`` selects papers
    with a known count below 50, and ``-citations>=50`` also selects papers with an unknown count.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection
from copy import copy
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._bibliography import Journal, find_journal
from landscape.corpus import Facility, find_facility, parse_arxiv_id, parse_doi
from landscape.corpus.facilities import ROLES
from landscape.corpus.reviews import ENOUGH, score_papers
from landscape.errors import InputError
from landscape.search._filter_patterns import (
    author_pattern,
    journal_patterns,
    phrase_pattern,
    word_patterns,
)
from landscape.search._filters import (
    And,
    Citations,
    Dates,
    Filter,
    Flag,
    Node,
    Not,
    Or,
    Term,
    Years,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

_FEW_WORDS = 2  # for longer phrases, the single words are searched first
_NOTHING = np.array([], object)

LAYERS = frozenset({"facilities", "is_review"})
BY_NAME = ("concept", "region", "object", "in")
"""Fields whose masks are columns of their own, such as ``concept:Dark matter``."""
_FACILITY = ("facility", "mentions")
_REFEREED_TYPES = ("article", "review", "letter")
_PROCEEDINGS = r"\b(?:proc|proceedings|conf|conference|symposium|workshop|thesis|meeting|IAU ?S)\b"
_ACADEMIES = r"\b(?:national academy|natl\.? acad|royal society|R\. ?Soc)"  # not proceedings
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
}


class Columns:
    """Columns of papers as Arrow arrays. Each column is converted on first use."""

    def __init__(self, papers: pd.DataFrame) -> None:
        self._papers = papers
        self._kept: dict[str, Any] = {}
        self.facility: str | None = None  # facility whose role is meant; None means any
        self.has_role = False  # whether the filter has roles, which then choose the papers

    def __len__(self) -> int:
        return len(self._papers)

    def __contains__(self, column: str) -> bool:
        return column in self._papers

    def take(self, rows: NDArray[np.intp]) -> Columns:
        """Return the columns of some papers; columns that are already converted are reused."""
        chosen = Columns(self._papers.iloc[rows])
        chosen.facility, chosen.has_role = self.facility, self.has_role
        for name, kept in self._kept.items():
            if not isinstance(kept, tuple):
                chosen._kept[name] = kept.take(rows)
        return chosen

    def about(self, facility: str) -> Columns:
        """Return the same columns, for roles of one facility."""
        same = copy(self)
        same.facility = facility
        return same

    def days(self, column: str) -> NDArray[np.datetime64]:
        """Return a column of dates, with NaT for missing values, shape (n,)."""
        import pandas as pd

        days = pd.to_datetime(self._papers[column]).to_numpy("datetime64[D]")
        return np.asarray(days, dtype="datetime64[D]")

    def numbers(self, column: str) -> NDArray[np.float64]:
        """Return a column of numbers, with NaN for missing values, shape (n,)."""
        return self._papers[column].to_numpy("float64", na_value=np.nan)

    def absent(self, column: str) -> Mask:
        """Return a mask that is True for missing or empty texts, shape (n,)."""
        import pyarrow.compute as pc

        text = self._text(column)
        empty = pc.or_kleene(pc.is_null(text), pc.equal(text, ""))
        return np.asarray(empty.fill_null(True))

    def matches(self, column: str, pattern: str, *, exact: bool = False) -> Mask:
        """Return the mask of texts that match a pattern, shape (n,). `exact` respects case."""
        return _found(self._text(column), pattern, exact=exact)

    def contains(self, column: str, phrase: str) -> Mask:
        """Return the mask of texts that contain a phrase, shape (n,)."""
        return _contains(self._text(column), phrase)

    def any_contains(self, column: str, phrase: str) -> Mask:
        """Return the mask of lists with a text that contains a phrase, shape (n,)."""
        texts, counts = self._texts(column)
        return _any_of_each(_contains(texts, phrase), counts)

    def any_matches(self, column: str, pattern: str, *, first_only: bool = False) -> Mask:
        """Return the mask of lists with a text that matches a pattern, shape (n,)."""
        texts, counts = self._texts(column)
        found = _found(texts, pattern)
        if first_only:
            mask = np.zeros(len(counts), bool)
            mask[counts > 0] = found[(np.cumsum(counts) - counts)[counts > 0]]
            return mask
        return _any_of_each(found, counts)

    def any_distinct(self, column: str, wanted: Callable[[str], bool]) -> Mask:
        """Return the mask of lists with a text that `wanted` accepts, shape (n,)."""
        import pyarrow.compute as pc

        texts, counts = self._texts(column)
        coded = pc.dictionary_encode(texts)
        passed = np.array([bool(value) and wanted(value) for value in coded.dictionary.to_pylist()])
        if not len(passed):
            return np.zeros(len(counts), bool)
        codes = np.asarray(coded.indices.fill_null(0))
        found = passed[codes] & ~np.asarray(coded.indices.is_null())
        return _any_of_each(found, counts)

    def reviews(self) -> Mask:
        """Return the mask of papers that are recognised as reviews, shape (n,)."""
        scored = score_papers(self._papers)
        return np.array([scored.get(row, (0.0,))[0] >= ENOUGH for row in range(len(self))], bool)

    def _text(self, column: str) -> pa.Array:
        import pyarrow as pa

        if column not in self._kept:
            # The abstracts of a million papers exceed 2 GB, the limit of a string array.
            array = pa.array(self._papers[column], pa.large_string(), from_pandas=True)
            if isinstance(array, pa.ChunkedArray):
                array = array.combine_chunks()
            self._kept[column] = array
        return self._kept[column]

    def _texts(self, column: str) -> tuple[pa.Array, NDArray[np.intp]]:
        """Return the concatenated texts of a column of lists, and the number of texts per paper."""
        if column not in self._kept:
            self._kept[column] = _flattened(self._papers[column])
        return self._kept[column]


def _flattened(values: pd.Series) -> tuple[pa.Array, NDArray[np.intp]]:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(values.dtype, pd.ArrowDtype):  # data read from Parquet are not copied
        lists = pa.array(values)
        if isinstance(lists, pa.ChunkedArray):
            lists = lists.combine_chunks()
        counts = np.asarray(pc.list_value_length(lists).fill_null(0), np.intp)
        return lists.flatten(), counts
    # A missing list is None in an atlas, but NaN in other data frames.
    rows = [_NOTHING if v is None or isinstance(v, float) else v for v in values]
    counts = np.fromiter(map(len, rows), np.intp, len(rows))
    flat = np.concatenate([_NOTHING, *rows])
    return pa.array(flat, pa.large_string(), from_pandas=True), counts


def _found(texts: pa.Array, pattern: str, *, exact: bool = False) -> Mask:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        found = pc.match_substring_regex(texts, pattern, ignore_case=not exact)
    except pa.ArrowInvalid as error:  # the pattern is too large
        raise InputError(
            "A term of the filter is too long to search for. Write fewer or shorter words."
        ) from error
    return np.array(found.fill_null(False), bool)


def _contains(texts: pa.Array, phrase: str) -> Mask:
    """Return the mask of texts that contain a phrase. Long phrases are searched by word first."""
    words = word_patterns(phrase)
    mask, left = np.zeros(len(texts), bool), np.arange(len(texts))
    if len(words) > _FEW_WORDS:
        for pattern in sorted(words, key=len, reverse=True):
            left = left[_found(texts.take(left), pattern)]
        texts = texts.take(left)
    mask[left] = _found(texts, phrase_pattern(phrase))
    return mask


def _any_of_each(mask: Mask, counts: NDArray[np.intp]) -> Mask:
    """Return the mask of papers with at least one match among their texts."""
    totals = np.concatenate([[0], np.cumsum(mask)])
    ends = np.cumsum(counts)
    return totals[ends] > totals[ends - counts]


def columns_needed(
    filter: Filter,  # noqa: A002 - the usual word
    layers: Collection[str] = (),
) -> set[str]:
    """Return the columns that a filter needs, so that no other columns are read."""
    return _needed(filter.root, layers)


def apply_filter(filter: Filter, papers: pd.DataFrame) -> Mask:  # noqa: A002
    """Return the mask of the papers that match a filter, shape (n,)."""
    missing = sorted(columns_needed(filter, LAYERS & set(papers.columns)) - set(papers.columns))
    if missing:
        raise InputError(
            f"The filter {str(filter)[:80]!r} needs the column {missing[0]!r}, which these papers "
            f"do not have; they have: {', '.join(map(str, papers.columns))}."
        )
    columns = Columns(papers)
    columns.has_role = "role" in _fields(filter.root)
    return _mask(filter.root, columns)


def _needed(node: Node, layers: Collection[str] = ()) -> set[str]:
    if isinstance(node, And | Or):
        return set().union(*(_needed(part, layers) for part in node.parts))
    if isinstance(node, Not):
        return _needed(node.part, layers)
    if isinstance(node, Years):
        return {"year"}
    if isinstance(node, Dates):
        return {"date"}
    if isinstance(node, Citations):
        return {"cites"}
    if isinstance(node, Flag):
        if node.name == "review" and "is_review" in layers:
            return {"is_review"}
        return FLAGS[node.name][0]
    if node.field in _FACILITY and "facilities" in layers:
        return {"facilities"}
    if node.field in BY_NAME:
        return {f"{node.field}:{node.text}"}
    return FIELDS[node.field][0]


def _mask(node: Node, papers: Columns) -> Mask:
    if isinstance(node, And | Or):
        return _combined(node, papers)
    if isinstance(node, Not):
        return ~_mask(node.part, papers)
    if isinstance(node, Years):
        years = papers.numbers("year")
        # Comparisons with NaN are false, so a missing year is outside of every range.
        return (years >= (node.first or 0)) & (years <= (9999 if node.last is None else node.last))
    if isinstance(node, Dates):
        days = papers.days("date")
        first, last = node.first or date.min, node.last or date.max
        return (days >= np.datetime64(first)) & (days <= np.datetime64(last))
    if isinstance(node, Citations):
        return _COMPARE[node.comparison](papers.numbers("cites"), node.count)
    if isinstance(node, Flag):
        return FLAGS[node.name][1](papers)
    return FIELDS[node.field][1](node.text, papers)


def _combined(node: And | Or, papers: Columns) -> Mask:
    """Combine the parts of a filter. Fast parts come first, so fewer abstracts are searched."""
    is_and = isinstance(node, And)
    mask = np.full(len(papers), is_and)
    parts = sorted(node.parts, key=_cost)
    facilities = [one.text for one in parts if isinstance(one, Term) and one.field in _FACILITY]
    if is_and and facilities:
        about = [part for part in parts if "role" in _fields(part)]
        parts = [part for part in parts if part not in about]
        for part in about:
            for facility in facilities:
                mask &= _mask(part, papers.about(facility))
    for part in parts:
        open_rows = np.flatnonzero(mask == is_and)
        if len(open_rows) == 0:
            break
        if len(open_rows) <= len(papers) // 2:
            mask[open_rows] = _mask(part, papers.take(open_rows))
        elif is_and:
            mask &= _mask(part, papers)
        else:
            mask |= _mask(part, papers)
    return mask


def _fields(node: Node) -> set[str]:
    if isinstance(node, And | Or):
        return set().union(*map(_fields, node.parts))
    if isinstance(node, Not):
        return _fields(node.part)
    return {node.field} if isinstance(node, Term) else set()


def _cost(node: Node) -> int:
    needed = _needed(node)
    if "abstract" in needed:
        return 3
    if needed & {"authors", "keywords"}:
        return 2
    return 0 if needed <= {"year", "date", "cites"} else 1


def _mentions(text: str, papers: Columns, roles: Collection[str] = ROLES) -> Mask:
    facility = find_facility(text)
    if "facilities" in papers:  # each mention is a facility, its role and the words, on three lines
        return papers.any_distinct("facilities", partial(_is_mention, facility, roles))
    return _in_text("title", "abstract")(text, papers)


def _uses(text: str, papers: Columns) -> Mask:
    return _mentions(text, papers, ROLES if papers.has_role else ROLES[:1])


def _is_mention(facility: Facility | None, roles: Collection[str], mention: str) -> bool:
    """Return whether a mention has one of the roles and is about the facility, if one is given."""
    name, role, surface = mention.split("\n", 2)
    return role in roles and (facility is None or facility.includes(name, surface))


def _role(text: str, papers: Columns) -> Mask:
    facility = None if papers.facility is None else find_facility(papers.facility)
    found, stronger = (
        papers.any_distinct("facilities", partial(_is_mention, facility, roles))
        for roles in ((text,), ROLES[: ROLES.index(text)])
    )
    return found & ~stronger


def _by_name(field: str) -> Callable[[str, Columns], Mask]:
    return lambda text, papers: papers.numbers(f"{field}:{text}") > 0


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
        return papers.contains("journal", text)
    return _in_journals((known,), papers)


def _in_journals(journals: tuple[Journal, ...], papers: Columns) -> Mask:
    names, longer, bibcodes = journal_patterns(journals)
    mask = papers.matches("journal", names)
    if longer is not None:
        mask &= ~papers.matches("journal", longer)
    return mask | papers.matches("bibcode", bibcodes, exact=True)


def _in_text(*columns: str, lists: tuple[str, ...] = ()) -> Callable[[str, Columns], Mask]:
    """Return a function that searches columns of texts, or of lists of texts, for a phrase."""

    def find(text: str, papers: Columns) -> Mask:
        masks = [papers.contains(column, text) for column in columns]
        masks += [papers.any_contains(column, text) for column in lists]
        return np.logical_or.reduce(masks)

    return find


def _identifier(
    column: str, parse: Callable[[str], str | None] | None = None
) -> Callable[[str, Columns], Mask]:
    """Return a function that searches a column for an identifier. A final ``*`` is a wildcard."""

    def find(text: str, papers: Columns) -> Mask:
        wanted = (parse(text) if parse else None) or text
        start = "^" + re.escape(wanted.removesuffix("*"))
        return papers.matches(column, start if wanted.endswith("*") else start + "$")

    return find


def _refereed(papers: Columns) -> Mask:
    unknown = papers.absent("doctype") | papers.matches("doctype", "^(?:eprint|preprint)$")
    published = ~papers.absent("journal") | papers.matches("doi", r"^10\.(?:[^4]|4[^8]|48[^5])")
    proceedings = papers.matches("journal", _PROCEEDINGS) & ~papers.matches("journal", _ACADEMIES)
    by_type = papers.matches("doctype", f"^(?:{'|'.join(_REFEREED_TYPES)})$")
    return (by_type | (unknown & published)) & ~proceedings


def _review(papers: Columns) -> Mask:
    if "is_review" in papers:
        return papers.numbers("is_review") > 0
    return papers.reviews()  # of a table without the layer of reviews


FIELDS: dict[str, tuple[set[str], Callable[[str, Columns], Mask]]] = {
    # Extracted keywords are not searched, because they already occur in the abstract.
    "any": (
        {"title", "abstract", "ads_keywords"},
        _in_text("title", "abstract", lists=("ads_keywords",)),
    ),
    "author": ({"authors"}, _author),
    "title": ({"title"}, _in_text("title")),
    "journal": ({"journal", "bibcode"}, _journal),
    "doi": ({"doi"}, _identifier("doi", parse_doi)),
    "kind": ({"kind"}, _identifier("kind")),
    "status": ({"status"}, _identifier("status")),
    "category": ({"categories"}, _category),
    "keyword": ({"keywords", "ads_keywords"}, _in_text(lists=("keywords", "ads_keywords"))),
    "facility": ({"title", "abstract"}, _uses),
    "mentions": ({"title", "abstract"}, _mentions),
    "role": ({"facilities"}, _role),
    **{name: (set[str](), _by_name(name)) for name in BY_NAME},
    "bibcode": ({"bibcode"}, _identifier("bibcode")),
    "arxiv": ({"arxiv_id"}, _identifier("arxiv_id", parse_arxiv_id)),
}
"""For each field, the required columns and the function that returns the mask of matches."""
FLAGS: dict[str, tuple[set[str], Callable[[Columns], Mask]]] = {
    "refereed": ({"doctype", "journal", "doi"}, _refereed),
    "review": ({"doctype", "journal", "bibcode", "title", "abstract"}, _review),
}
"""For each flag, the required columns and the function that returns the mask of matches."""
