"""What a survey returns: the papers, who led to whom, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from landscape.query.records import Coverage, Hit, Paper, Results

if TYPE_CHECKING:
    import pandas as pd

    from landscape.overlays.citations._graph import Linked

How = Literal["search", "reference", "citation", "cited together", "similar", "section", "seed"]
"""How one paper led to another."""


@dataclass(frozen=True)
class Asked:
    """One search of a survey.

    Attributes
    ----------
    text : str
    by : {"question", "facet", "model", "seeds"}
        Who put it so.
    parent : str
        Key of the paper that gave rise to it; empty for the question itself.
    found, new : int
        Papers found, and those of them that nothing before had found.
    """

    text: str
    by: str
    parent: str = ""
    found: int = 0
    new: int = 0


@dataclass(frozen=True)
class Crawled:
    """One paper that a survey judged.

    Attributes
    ----------
    paper : Paper
    score : float
        How likely it belongs to the answer, 0 to 1: beside the best ten papers, or what a language
        model gave, whose decision stands above it in the order of the papers.
    selected : bool
    reason : str
        Why, in one sentence.
    judged_by : str
        Name of the language model, or "similarity".
    how : How
        How it was found first.
    parent : str
        Key of the paper that led to it; empty where a search did.
    query : int or None
        Index of the search that found it.
    depth : int
        Steps from the question; 1 for what a search of the question found.
    expanded : bool
        Whether its own references and citations were followed.
    section : str
        Section of the parent's text that cites it, where the text was read.
    """

    paper: Paper
    score: float
    selected: bool
    reason: str
    judged_by: str
    how: How
    parent: str = ""
    query: int | None = None
    depth: int = 1
    expanded: bool = False
    section: str = ""

    @property
    def key(self) -> str:
        """The paper's key in the atlas."""
        return self.paper.paper_id


@dataclass(frozen=True)
class Spent:
    """What a survey cost.

    Attributes
    ----------
    calls : int
        Requests to the language model.
    tokens : int
        Both ways, estimated as one for four bytes.
    money : float
        In the currency of the prices; 0 without prices.
    papers : int
        Papers judged.
    seconds : float
    """

    calls: int = 0
    tokens: int = 0
    money: float = 0.0
    papers: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Survey:
    """What a survey of a question found.

    Attributes
    ----------
    question : str
    crawled : tuple of Crawled
        Every paper judged: the selected ones first, best first.
    searches : tuple of Asked
    beyond : tuple of Linked
        Papers that the selected ones cite and that the atlas has not, most cited first.
    coverage : Coverage
    settings : mapping
        ``atlas.survey(survey.question, **survey.settings)`` asks so again.
    spent : Spent
    partial : bool
        Whether a budget or a failing server ended it before it was done.
    notes : tuple of str
        What the reader should know.
    n_found : int
        Papers that were come upon: the best of them, as many as `settings` says, are in `crawled`.

    Examples
    --------
    >>> survey = Survey("Does dust cool?", (), (), (), Coverage("A", 9, 9, {}, None, None))
    >>> len(survey), survey.partial
    (0, False)
    """

    question: str
    crawled: tuple[Crawled, ...]
    searches: tuple[Asked, ...]
    beyond: tuple[Linked, ...]
    coverage: Coverage
    settings: Mapping[str, Any] = field(default_factory=dict)
    spent: Spent = field(default_factory=Spent)
    partial: bool = False
    notes: tuple[str, ...] = ()
    n_found: int = 0

    @property
    def selected(self) -> tuple[Crawled, ...]:
        """The papers that belong to the answer, best first."""
        return tuple(one for one in self.crawled if one.selected)

    @property
    def papers(self) -> tuple[Paper, ...]:
        """The same as papers of the atlas."""
        return tuple(one.paper for one in self.selected)

    @property
    def results(self) -> Results:
        """The selected papers as a search gives them, for figures and exports."""
        hits = tuple(
            Hit(rank, one.paper, one.score) for rank, one in enumerate(self.selected, start=1)
        )
        return Results(
            self.question, hits, self.coverage, dict(self.settings), seconds=self.spent.seconds
        )

    @property
    def table(self) -> pd.DataFrame:
        """One row a paper judged, in the order of `crawled`."""
        from landscape.agents.survey.exporting import as_table

        return as_table(self)

    def paper_of(self, key: str) -> Paper | None:
        """Give a paper that was judged, by its key; None for any other."""
        return self._by_key.get(key)

    def children(self, key: str) -> tuple[Crawled, ...]:
        """The papers that one paper led to.

        Parameters
        ----------
        key : str
            Of a paper; empty for what the searches found.
        """
        return tuple(one for one in self.crawled if one.parent == key)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        from landscape.agents.survey.exporting import as_dict

        return as_dict(self)

    def to_bibtex(self) -> str:
        """The selected papers as BibTeX entries."""
        return self.results.to_bibtex()

    def to_csv(self) -> str:
        """Every paper judged as CSV; cells that a spreadsheet would run are defused."""
        from landscape.agents.survey.exporting import as_csv

        return as_csv(self)

    def to_markdown(self) -> str:
        """The papers, searches and bounds as one Markdown document."""
        from landscape.agents.survey.exporting import as_markdown

        return as_markdown(self)

    @cached_property
    def _by_key(self) -> Mapping[str, Paper]:
        return {one.key: one.paper for one in self.crawled}

    def __len__(self) -> int:
        return len(self.selected)

    def _repr_html_(self) -> str:
        from landscape.agents.survey.exporting import as_html

        return as_html(self)
