"""Which papers are reviews, told from a list, document type, journal, title and abstract.

A review sets out what is known of a subject from the work of many: review articles, chapters of
handbooks, lecture notes, reviews in proceedings. The paper that presents one survey, mission,
instrument, simulation or code ("XYZ: survey overview") is none, whatever its title says.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.overlays.reviews.clues import (
    ABSTRACT,
    AGAINST,
    JOURNALS,
    OWN_WORK,
    STEMS,
    TITLE,
    Clue,
)

if TYPE_CHECKING:
    import pandas as pd

ENOUGH = 0.5
"""Score from which a paper counts as a review."""


def recognise(papers: pd.DataFrame, *, known: Collection[str] | None = None) -> pd.DataFrame:
    """Score every paper for being a review, and say why.

    Clues are combined as if independent (noisy or); clues against scale the result down. What a
    list, the document type or the journal says is not outweighed by words.

    Parameters
    ----------
    papers : pandas.DataFrame
        Columns ``title`` and ``abstract``, and where there are any ``doctype``, ``journal``,
        ``bibcode``, ``arxiv_id``, ``doi``.
    known : collection of str, optional
        Identifiers of known reviews, see `landscape.overlays.reviews.lists.read_review_list`.

    Returns
    -------
    pandas.DataFrame
        ``row`` (position in ``papers``), ``score`` (0 to 1) and ``evidence`` of the papers that
        count as reviews (score at least 0.5).

    Examples
    --------
    >>> import pandas as pd
    >>> papers = pd.DataFrame({"title": ["Dust: a review", "A survey of dust: survey overview"],
    ...                        "abstract": ["We review recent progress.", "We present a survey."]})
    >>> recognise(papers)[["row", "evidence"]].values.tolist()
    [[0, 'title: a review; abstract: We review recent']]
    """
    import pandas as pd

    scored = score_papers(papers, known=known)
    found = [(row, *scored[row]) for row in sorted(scored) if scored[row][0] >= ENOUGH]
    table = pd.DataFrame(found, columns=["row", "score", "evidence"])
    return table.astype({"row": np.int64, "score": np.float64, "evidence": object})


def score_papers(
    papers: pd.DataFrame, *, known: Collection[str] | None = None
) -> dict[int, tuple[float, str]]:
    """Score and evidence of every paper that has a clue, by its position."""
    listed = frozenset(known or ())
    columns = {
        name: _texts(papers[name]) if name in papers else [""] * len(papers)
        for name in ("title", "abstract", "doctype", "journal", "bibcode", "arxiv_id", "doi")
    }
    scored: dict[int, tuple[float, str]] = {}
    for row, values in enumerate(zip(*columns.values(), strict=True)):
        title, abstract, doctype, journal, bibcode, arxiv_id, doi = values
        certain = _outside(doctype, journal, bibcode)
        if listed and not listed.isdisjoint((bibcode, arxiv_id, doi)):
            certain.append((1.0, "list"))
        said = _said(title, abstract)
        if certain or said[0] > 0:
            score = max([said[0], *(one for one, _ in certain)])
            evidence = "; ".join(filter(None, [*(why for _, why in certain), said[1]]))
            scored[row] = (round(score, 3), evidence)
    return scored


def _outside(doctype: str, journal: str, bibcode: str) -> list[tuple[float, str]]:
    """What others say of the paper: its document type and where it appeared."""
    found = [(0.97, f"doctype: {doctype}")] if doctype.lower() == "review" else []
    chance = STEMS.get(bibcode[4:9].rstrip("."), 0.0) if bibcode else 0.0
    if chance:
        found.append((chance, f"bibcode: {bibcode}"))
    if journal:
        clue = next((clue for clue in JOURNALS if clue.pattern.search(journal)), None)
        if clue:
            found.append((clue.chance, f"journal: {journal[:60]}"))
    return found


def _said(title: str, abstract: str) -> tuple[float, str]:
    """What the paper says of itself."""
    clues = [*_met(TITLE, title), *_met(ABSTRACT, abstract)]
    if not clues:
        return 0.0, ""
    doubt = 1.0
    for clue, _ in clues:
        doubt *= 1.0 - clue.chance
    score = 1.0 - doubt
    against = [*_met(AGAINST, title), *_met((OWN_WORK,), abstract)]
    for clue, _ in against:
        score *= clue.chance
    return score, "; ".join(_told([*clues, *against]))


def _told(clues: Iterable[tuple[Clue, str]]) -> list[str]:
    """Clues as evidence, without those whose words another clue has already."""
    told: list[str] = []
    for clue, words in clues:
        one = f"{clue.name}: {words}"
        if not any(other.startswith(clue.name) and words in other for other in told):
            told.append(one)
    return told


def _met(clues: Iterable[Clue], text: str) -> list[tuple[Clue, str]]:
    folded = text.lower()
    found = (
        (clue, clue.pattern.search(text))
        for clue in clues
        if not clue.needs or any(word in folded for word in clue.needs)
    )
    return [(clue, match[0].strip(" :;.,-–—")[-60:]) for clue, match in found if match]


def _texts(column: pd.Series[Any]) -> list[str]:
    return ["" if not isinstance(value, str) else value for value in column.tolist()]
