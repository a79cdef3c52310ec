"""How a survey speaks of its papers: how likely they are, and what led to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from landscape.corpus._names import short_names

if TYPE_CHECKING:
    from landscape.agents.survey.records import Crawled, Survey
    from landscape.query.records import Paper

_WAYS = {
    "reference": "cited by {}",
    "citation": "cites {}",
    "cited together": "cited together with {}",
    "similar": "its text is like that of {}",
    "section": "cited by {} in its section “{}”",
    "search": "by a search that {} gave rise to",
}

WHAT_WORDS_MEAN = (
    "Very likely, likely, possible: so say words, likeness and citations; no model has read the "
    "papers."
)


def called(paper: Paper) -> str:
    """Name a paper in a sentence: first author and year.

    Examples
    --------
    >>> from landscape.query.records import Paper
    >>> called(Paper(0, "x", "Dust", "", authors=("Rubin, V.", "Ford, W.")))
    'Rubin and Ford'
    """
    name = short_names(paper.authors) or "no authors known"
    return f"{name} ({paper.year})" if paper.year else name


def led(survey: Survey, one: Crawled) -> str:
    """Say how a paper was come upon, as what follows "found".

    Parameters
    ----------
    survey : Survey
    one : Crawled

    Returns
    -------
    str
    """
    if one.how == "seed":
        return "given to begin from"
    if one.parent:
        parent = survey.paper_of(one.parent)
        name = one.parent if parent is None else called(parent)
        return _WAYS[one.how].format(name, one.section)
    if one.query is None:
        return one.how
    asked = survey.searches[one.query]
    return "by the question itself" if asked.by == "question" else f"by the search “{asked.text}”"
