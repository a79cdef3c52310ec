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

from landscape.errors import InputError
from landscape.overlays.missions._facilities import find_facility
from landscape.query.filter_columns import Columns
from landscape.query.filter_patterns import author_pattern, journal_patterns
from landscape.query.filter_tree import (
    And,
    Citations,
    Filter,
    Flag,
    Node,
    Not,
    Or,
    Years,
)
from landscape.query.journals import JOURNALS, Journal, find_journal

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

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


def columns_needed(
    filter: Filter,  # noqa: A002 - the word of this field
    layers: Collection[str] = (),
) -> set[str]:
    """Columns of the papers that a filter looks at, so that only these are read.

    Parameters
    ----------
    filter : Filter
    layers : collection of str, optional
        What layers of an atlas can tell instead of words: ``"facilities"``, the facilities that a
        paper names; ``"is_review"``, whether it was recognised as a review.

    Returns
    -------
    set of str
        Empty where the filter lets everything through.

    Examples
    --------
    >>> from landscape.query.filters import parse_filter
    >>> sorted(columns_needed(parse_filter("year:2010; category:astro-ph; citations>3")))
    ['categories', 'cites', 'year']
    >>> columns_needed(parse_filter("facility:ALMA"), LAYERS)
    {'facilities'}
    """
    return _needed(filter.root, layers)


def apply_filter(filter: Filter, papers: pd.DataFrame) -> Mask:  # noqa: A002
    """Say which papers a filter lets through.

    Parameters
    ----------
    filter : Filter
        See `landscape.query.filters.parse_filter`.
    papers : pandas.DataFrame, shape (n, ...)
        With at least the columns of `columns_needed`.

    Returns
    -------
    numpy.ndarray of bool, shape (n,)

    Raises
    ------
    InputError
        If a column is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> from landscape.query.filters import parse_filter
    >>> papers = pd.DataFrame({"year": [1999, 2010, 2020], "cites": [60, None, 3]})
    >>> apply_filter(parse_filter("..2010;-citations<50"), papers)
    array([ True,  True, False])
    """
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
    """The facility of that name; none for one of its instruments, which is sought by its word."""
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
    from landscape.corpus.identifiers import parse_arxiv_id

    return parse_arxiv_id(text) or text


def _plain_doi(text: str) -> str:
    from landscape.corpus.identifiers import parse_doi

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
