"""What the steps of the engine hand on: frozen records, from a paper found to an answer checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas as pd

Verdict = Literal["supported", "contradicted", "not found"]
"""What checking a claim against its sentences gave."""


@dataclass(frozen=True)
class Paper:
    """One paper as the engine reads it from the atlas.

    Attributes
    ----------
    row : int
        Its place in the atlas: row of the vectors and of every per-paper table.
    paper_id, title, abstract : str
    authors : tuple of str
    date : datetime.date or None
    bibcode, arxiv_id, doi, journal, doctype : str or None
    cites : int or None
        Citations, where the source says.
    keywords, categories, source : tuple of str

    Examples
    --------
    >>> Paper(0, "2024ApJ...1..1A", "Dust", "It cools.", bibcode="2024ApJ...1..1A").label
    '2024ApJ...1..1A'
    """

    row: int
    paper_id: str
    title: str
    abstract: str
    authors: tuple[str, ...] = ()
    date: date | None = None
    bibcode: str | None = None
    arxiv_id: str | None = None
    doi: str | None = None
    journal: str | None = None
    doctype: str | None = None
    cites: int | None = None
    keywords: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    source: tuple[str, ...] = ()

    @property
    def year(self) -> int | None:
        """Year of publication."""
        return self.date.year if self.date else None

    @property
    def label(self) -> str:
        """How an answer cites it: bibcode, else arXiv identifier, else its key in the atlas."""
        if self.bibcode:
            return self.bibcode
        return f"arXiv:{self.arxiv_id}" if self.arxiv_id else self.paper_id

    @property
    def url(self) -> str | None:
        """Its page in ADS, at arXiv, or behind its DOI."""
        if self.bibcode:
            return f"https://ui.adsabs.harvard.edu/abs/{self.bibcode}/abstract"
        if self.arxiv_id:
            return f"https://arxiv.org/abs/{self.arxiv_id}"
        return f"https://doi.org/{self.doi}" if self.doi else None


@dataclass(frozen=True)
class Hit:
    """One paper found.

    Attributes
    ----------
    rank : int
        From 1.
    paper : Paper
    score : float
        What the ranking went by; comparable within one result only.
    parts : mapping of str to float
        What the score is made of: ``semantic`` (cosine), ``words`` (BM25), ``fused``, the weights
        and ``rerank``, as far as they were used.
    outlier : bool or None
        Whether the paper lies apart from the others found; None where nobody looked.
    """

    rank: int
    paper: Paper
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    outlier: bool | None = None


@dataclass(frozen=True)
class Coverage:
    """What was searched, without which no result is finished.

    Attributes
    ----------
    title : str
        Name of the atlas.
    n_papers : int
        Papers in the atlas.
    n_searched : int
        Papers that the filter let through.
    sources : mapping of str to int
        Papers by source.
    first_date, last_date : str or None
        Oldest and newest paper of the atlas.
    generated : bool
        Whether any paper is made up.
    notes : tuple of str
        What the reader should know: a method that could not be used, and why.
    """

    title: str
    n_papers: int
    n_searched: int
    sources: Mapping[str, int]
    first_date: str | None
    last_date: str | None
    generated: bool = False
    notes: tuple[str, ...] = ()

    @property
    def n_filtered(self) -> int:
        """Papers that the filter took away."""
        return self.n_papers - self.n_searched


@dataclass(frozen=True)
class Results:
    """What a search found.

    Attributes
    ----------
    query : str
    hits : tuple of Hit
    coverage : Coverage
    settings : mapping
        How it was searched, enough to search so again.
    expansion : str or None
        Text that was added to the query.
    seconds : float
    """

    query: str
    hits: tuple[Hit, ...]
    coverage: Coverage
    settings: Mapping[str, Any] = field(default_factory=dict)
    expansion: str | None = None
    seconds: float = 0.0

    @property
    def papers(self) -> tuple[Paper, ...]:
        """The papers, best first."""
        return tuple(hit.paper for hit in self.hits)

    @property
    def table(self) -> pd.DataFrame:
        """One row a paper, best first."""
        from landscape.query.exporting import as_table

        return as_table(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        from landscape.query.exporting import results_as_dict

        return results_as_dict(self)

    def to_bibtex(self) -> str:
        """The papers as BibTeX entries."""
        from landscape.query.citing import to_bibtex

        return to_bibtex(self.papers)

    def to_ris(self) -> str:
        """The papers as RIS, for reference managers."""
        from landscape.query.citing import to_ris

        return to_ris(self.papers)

    def to_aastex(self) -> str:
        r"""The papers as ``\bibitem`` lines of AASTeX."""
        from landscape.query.citing import to_bibitems

        return to_bibitems(self.papers)

    def to_bibcodes(self) -> str:
        """The bibcodes of the papers that have one, one a line, as ADS takes them."""
        from landscape.query.citing import to_bibcodes

        return to_bibcodes(self.papers)

    def __len__(self) -> int:
        return len(self.hits)

    def _repr_html_(self) -> str:
        from landscape.query.html import results_as_html

        return results_as_html(self)


@dataclass(frozen=True)
class Evidence:
    """A sentence of a paper that a claim rests on.

    Attributes
    ----------
    paper_id, label : str
        The paper, and how the answer cites it.
    start, end : int
        Characters of the stored abstract: ``abstract[start:end] == text``.
    text : str
    """

    paper_id: str
    label: str
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Claim:
    """One sentence of an answer.

    Attributes
    ----------
    text : str
        Without its citations.
    citations : tuple of str
        Labels of papers; those that were not found are stripped.
    evidence : tuple of Evidence
    verdict : Verdict
    """

    text: str
    citations: tuple[str, ...]
    evidence: tuple[Evidence, ...] = ()
    verdict: Verdict = "not found"


@dataclass(frozen=True)
class Stance:
    """What one paper says to a statement.

    Attributes
    ----------
    paper_id, label : str
    position : {"supports", "refutes", "mixed", "irrelevant"}
    evidence : Evidence or None
        The sentence that shows it.
    """

    paper_id: str
    label: str
    position: Literal["supports", "refutes", "mixed", "irrelevant"]
    evidence: Evidence | None = None


@dataclass(frozen=True)
class Consensus:
    """How far the papers found agree with a statement.

    Attributes
    ----------
    statement : str
        The question as a statement.
    level : str
        One of `landscape.answers._evidence.LEVELS`.
    explanation : str
    relevance : float
        From 0 to 1: how much the papers say about it at all.
    stances : tuple of Stance
    """

    statement: str
    level: str
    explanation: str
    relevance: float
    stances: tuple[Stance, ...] = ()


@dataclass(frozen=True)
class Step:
    """One step of a reasoning agent.

    Attributes
    ----------
    thought, action, observation : str
        What it meant to do, what it did (``search: dust in quasars; filter: 2015..``), and what
        came back.
    labels : tuple of str
        Papers that the step found.
    """

    thought: str
    action: str
    observation: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """An answer with its evidence.

    Attributes
    ----------
    question : str
    text : str
        Markdown; every sentence followed by its citations in square brackets.
    claims : tuple of Claim
    results : Results
        The papers that it was written from.
    method : str
        ``"extractive"``, or the name of the language model.
    abstained : bool
        Whether it says that the papers do not say.
    style : str
        The prompt's style.
    question_type : str or None
        What `landscape.answers._questions.classify` made of the question.
    consensus : Consensus or None
    trace : tuple of Step
        Of the agent, where one worked.
    ads_query : str or None
        For bibliometric questions: the search to run in ADS.
    notes : tuple of str
        What the reader should know, for example that a model failed and sentences are quoted.
    settings : mapping
        What it was answered with, whoever chose it: ``atlas.ask(answer.question,
        **answer.settings)`` asks so again.
    """

    question: str
    text: str
    claims: tuple[Claim, ...]
    results: Results
    method: str
    abstained: bool = False
    style: str = "multi-paper"
    question_type: str | None = None
    consensus: Consensus | None = None
    trace: tuple[Step, ...] = ()
    ads_query: str | None = None
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def papers(self) -> tuple[Paper, ...]:
        """The papers that it was written from."""
        return self.results.papers

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        from landscape.query.exporting import answer_as_dict

        return answer_as_dict(self)

    def to_markdown(self) -> str:
        """The answer, its evidence, papers and coverage as one Markdown document."""
        from landscape.query.exporting import answer_as_markdown

        return answer_as_markdown(self)

    def _repr_html_(self) -> str:
        from landscape.query.html import answer_as_html

        return answer_as_html(self)
