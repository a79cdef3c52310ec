"""Records shared by all packages, such as papers, search results, answers and surveys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from landscape import _bibliography as bibliography
from landscape import _serializer as serializer
from landscape._author_names import short_names
from landscape._render import render
from landscape._serializer import Record
from landscape._wording import GENERATED, count, normal_title

if TYPE_CHECKING:
    import pandas as pd

Verdict = Literal["supported", "contradicted", "not found"]
"""Result of checking a claim against sentences of papers."""

CitationVerdict = Literal[
    "supported", "unclear", "contradicted", "near", "mismatch", "far", "not in the corpus",
    "not in the bibliography",
]  # fmt: skip
"""Result of checking a citation. The first three values require a language model.

A mismatch is a number, an object or a negation that differs from the cited paper."""

How = Literal["search", "reference", "citation", "cited together", "similar", "section", "seed"]
"""Way in which a survey finds a paper."""

_HIT_COLUMNS = (
    "rank title=paper.title authors=paper.authors year=paper.year label=paper.label "
    "bibcode=paper.bibcode arxiv_id=paper.arxiv_id doi=paper.doi cites=paper.cites score outlier "
    "url=paper.url"
)
_GUESS_COLUMNS = (
    "rank selected title=paper.title authors=paper.authors year=paper.year label=paper.label score "
    "reason url=paper.url"
)
_SUGGESTION_COLUMNS = (
    "rank title=paper.title authors=paper.authors year=paper.year label=paper.label corpus also_in "
    "score highlights sentence=sentence.text url=paper.url"
)
_CRAWLED_COLUMNS = (
    "rank paper_id=paper.paper_id title=paper.title authors=paper.authors year=paper.year "
    "bibcode=paper.bibcode arxiv_id=paper.arxiv_id doi=paper.doi selected score reason judged_by "
    "how parent search depth section url=paper.url"
)
_MAX_BARS = 20  # of a chart of names
_WAYS = {
    "reference": "cited by {}",
    "citation": "cites {}",
    "cited together": "cited together with {}",
    "similar": "similar in text to {}",
    "section": "cited by {} in its section “{}”",
    "search": "by a search based on {}",
}
_MEANING_OF_REASONS = (
    "The terms very likely, likely and possible are estimates based on words, similarity and "
    "citations, without a language model."
)


@dataclass(frozen=True)
class Paper(Record):
    """One paper of an atlas.

    Examples
    --------
    >>> Paper(0, "2024ApJ...1..1A", "Dust", "It cools.", bibcode="2024ApJ...1..1A").label
    '2024ApJ...1..1A'
    """

    _keys = (
        "paper_id label arxiv_id bibcode doi title authors year date cites journal categories "
        "keywords source abstract url"
    )

    row: int  # row of the paper in the vectors and in every table of papers
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
    cites: int | None = None  # number of citations reported by the source
    keywords: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    source: tuple[str, ...] = ()

    @property
    def year(self) -> int | None:
        """Year of publication."""
        return self.date.year if self.date else None

    @property
    def label(self) -> str:
        """Name of the paper in answers (bibcode, arXiv identifier or key in the atlas)."""
        if self.bibcode:
            return self.bibcode
        return f"arXiv:{self.arxiv_id}" if self.arxiv_id else self.paper_id

    @property
    def has_abstract(self) -> bool:
        """Whether the abstract says more than the title."""
        return normal_title(self.abstract) != normal_title(self.title)

    @property
    def links(self) -> dict[str, str]:
        """URLs of the paper at ADS, arXiv and doi.org, by name of the service."""
        addresses = {
            "ADS": self.bibcode and f"https://ui.adsabs.harvard.edu/abs/{self.bibcode}/abstract",
            "arXiv": self.arxiv_id and f"https://arxiv.org/abs/{self.arxiv_id}",
            "DOI": self.doi and f"https://doi.org/{self.doi}",
        }
        return {name: url for name, url in addresses.items() if url}

    @property
    def url(self) -> str | None:
        """URL of the paper at ADS, arXiv or doi.org."""
        return next(iter(self.links.values()), None)

    @property
    def first_authors(self) -> str:
        """Names of the first three authors."""
        return "; ".join(self.authors[:3]) + (" et al." if len(self.authors) > 3 else "")

    @property
    def short_name(self) -> str:
        """Authors and year as in a citation, such as ``Rubin and Ford (1970)``."""
        name = short_names(self.authors) or "no authors known"
        return f"{name} ({self.year})" if self.year else name


def title_notes(papers: Sequence[Paper]) -> tuple[str, ...]:
    """Return a note with the number of papers without an abstract, if there are any."""
    n = sum(not paper.has_abstract for paper in papers)
    note = f"{n:,} of the {count(len(papers), 'paper')} have no abstract; their titles are used."
    return (note,) if n else ()


@dataclass(frozen=True)
class Hit(Record):
    """One search result."""

    _keys = "rank *paper score parts outlier"

    rank: int  # the best paper has rank 1
    paper: Paper
    score: float  # comparable only with other scores of the same result
    # Parts of the score that were used: ``semantic`` (cosine), ``words`` (BM25), ``fused``,
    # weights, ``rerank``
    parts: Mapping[str, float] = field(default_factory=dict)
    outlier: bool | None = None  # whether the paper is an outlier; None if there are few papers

    def to_html(self) -> str:
        """Return the title, links and abstract as HTML without CSS styles."""
        return render("paper.html", hit=self)


@dataclass(frozen=True)
class Coverage(Record):
    """Description of the papers that a search covered."""

    _keys = (
        "title papers=n_papers searched=n_searched filtered_away=n_filtered sources first_date "
        "last_date in_part generated notes"
    )

    title: str  # name of the atlas
    n_papers: int  # number of papers in the atlas
    n_searched: int  # number of papers that passed the filter
    sources: Mapping[str, int]  # number of papers from each source
    first_date: str | None  # date of the oldest paper
    last_date: str | None  # date of the newest paper
    generated: bool = False  # whether the atlas contains synthetic papers
    notes: tuple[str, ...] = ()  # limitations, such as a method that could not be used
    in_part: str = ""  # years that the atlas covers in part

    @property
    def n_filtered(self) -> int:
        """Number of papers that the filter removed."""
        return self.n_papers - self.n_searched

    @property
    def extent(self) -> str:
        """Number of papers and years, with the years that the atlas covers in part.

        Examples
        --------
        >>> Coverage("A", 1200, 30, {"arxiv": 1200}, "2020-01-01", "2024-01-01").extent
        '30 of 1,200 papers, 2020 to 2024'
        """
        searched = count(self.n_papers, "paper")
        if self.n_filtered:
            searched = f"{self.n_searched:,} of {self.n_papers:,} papers"
        if not self.first_date or not self.last_date:
            return searched
        part = f" ({self.in_part} in part)" if self.in_part else ""
        return f"{searched}, {self.first_date[:4]} to {self.last_date[:4]}{part}"

    @property
    def bounds(self) -> str:
        """Name of the atlas with its `extent`, as a sentence."""
        return f"{self.title}: {self.extent}."

    @property
    def summary(self) -> str:
        """The bounds and notes in one line, with a warning if some papers are synthetic."""
        return " ".join([self.bounds, *([GENERATED] if self.generated else []), *self.notes])

    def to_text(self) -> str:
        """Describe in one sentence which papers were searched."""
        return render("coverage.txt", coverage=self)


@dataclass(frozen=True)
class Results(Record):
    """Papers found by a search."""

    query: str
    hits: tuple[Hit, ...]
    coverage: Coverage
    settings: Mapping[str, Any] = field(default_factory=dict)  # arguments to repeat the search
    expansion: str | None = None  # text that was added to the query
    seconds: float = 0.0
    matched: bool = True  # whether the papers are about the query; if not, they are the nearest
    note: str = ""  # first line of the results, such as the reason why no paper matches

    @property
    def papers(self) -> tuple[Paper, ...]:
        """The papers, best first."""
        return tuple(hit.paper for hit in self.hits)

    @property
    def table(self) -> pd.DataFrame:
        """Table with one row per paper, best first. Unknown years and citations are ``<NA>``."""
        rows = [serializer.pick(hit, _HIT_COLUMNS) for hit in self.hits]
        types = {"rank": "int64", "year": "Int16", "cites": "Int64", "score": "float64",
                 "outlier": "boolean"}  # fmt: skip
        return serializer.to_table(rows, _HIT_COLUMNS, types)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON values, as in ``landscape search --json``."""
        keys = "query matched note results=hits coverage settings expansion"
        return {**serializer.to_dict(self, keys), "seconds": round(self.seconds, 4)}

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, *, where: str = "") -> str:
        """Return the numbered papers, the given text on their map positions, and the coverage."""
        return render("results.txt", results=self, where=where)

    def to_bibtex(self) -> str:
        """Return the papers as BibTeX entries."""
        return bibliography.to_bibtex(self.papers)

    def to_ris(self) -> str:
        """Return the papers in the RIS format for reference managers."""
        return bibliography.to_ris(self.papers)

    def to_aastex(self) -> str:
        r"""Return the papers as ``\bibitem`` lines of AASTeX."""
        return bibliography.to_bibitems(self.papers)

    def to_bibcodes(self) -> str:
        """Return the bibcodes of the papers, one per line. Papers without a bibcode are omitted."""
        return bibliography.to_bibcodes(self.papers)

    def __len__(self) -> int:
        return len(self.hits)

    def _repr_html_(self) -> str:
        return render("results.html", results=self)


@dataclass(frozen=True)
class Evidence:
    """Sentence of a paper that supports a claim. It is ``abstract[start:end]``."""

    paper_id: str
    label: str  # name of the paper in the answer
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Claim(Record):
    """One sentence of an answer."""

    _keys = "text citations verdict evidence"

    text: str  # sentence without the citations
    citations: tuple[str, ...]  # labels of papers
    evidence: tuple[Evidence, ...] = ()
    verdict: Verdict = "not found"
    side: Literal["", "for", "against"] = (
        ""  # side of a quoted sentence, for questions of consensus
    )


@dataclass(frozen=True)
class Stance:
    """Position of one paper on a statement, with the sentence that shows this position."""

    paper_id: str
    label: str
    position: Literal["supports", "refutes", "mixed", "irrelevant"]
    evidence: Evidence | None = None


@dataclass(frozen=True)
class Consensus:
    """Degree to which the papers agree with a statement."""

    statement: str  # the question, reworded as a statement
    level: str  # one of `landscape.answers._evidence.LEVELS`
    explanation: str
    relevance: float  # fraction of the papers that address the statement
    stances: tuple[Stance, ...] = ()


@dataclass(frozen=True)
class Step:
    """One step of a reasoning agent."""

    thought: str  # purpose of the step
    action: str  # for example "search: dust in quasars; filter: 2015.."
    observation: str
    labels: tuple[str, ...] = ()  # papers that the step found


@dataclass(frozen=True)
class Answer(Record):
    """An answer with its evidence."""

    _keys = (
        "question text abstained claims method style question_type consensus trace ads_query notes "
        "settings results table"
    )

    question: str
    text: str  # Markdown text with citations in square brackets after each sentence
    claims: tuple[Claim, ...]
    results: Results  # papers on which the answer is based
    method: str  # ``"extractive"`` or the name of the language model
    abstained: bool = False  # whether the papers do not answer the question
    style: str = "multi-paper"  # style of the prompt
    question_type: str | None = None  # see `landscape.answers.questions.classify`
    consensus: Consensus | None = None
    trace: tuple[Step, ...] = ()  # steps of the agent; empty if no agent was used
    ads_query: str | None = None  # ADS query that answers a bibliometric question
    notes: tuple[str, ...] = ()  # limitations, for example that the language model failed
    # Settings to repeat the answer with ``atlas.ask(answer.question, **answer.settings)``
    settings: Mapping[str, Any] = field(default_factory=dict)
    table: pd.DataFrame | None = field(default=None, compare=False)  # counts, if method is "tables"

    @property
    def papers(self) -> tuple[Paper, ...]:
        """Papers on which the answer is based."""
        return self.results.papers

    @property
    def ads_url(self) -> str | None:
        """URL of the results of the ADS query, or None if there is no ADS query."""
        return bibliography.ads_url(self.ads_query) if self.ads_query else None

    def to_markdown(self) -> str:
        """Return the answer, the evidence, the papers and the coverage as one Markdown document."""
        return render("answer.md", answer=self)

    def to_text(self) -> str:
        """Return the answer, the cited papers and the coverage as text for a terminal."""
        return render("answer.txt", answer=self)

    def to_html(self, part: Literal["claims", "consensus", "method"]) -> str:
        """Return one part of the answer as HTML. A missing consensus gives an empty text."""
        if part == "consensus" and self.consensus is None:
            return ""
        return render(f"{part}.html", answer=self, papers=self._by_id, table=self._table_html)

    @property
    def bars(self) -> list[tuple[str, int]]:
        """Name and number of papers of each bar of a small chart; empty without a table."""
        if self.table is None or "papers" not in self.table:
            return []
        rows = self.table if "all_papers" in self.table else self.table.head(_MAX_BARS)
        return [
            (str(name), int(n)) for name, n in zip(rows.iloc[:, 0], rows["papers"], strict=True)
        ]

    @property
    def _table_html(self) -> str:
        return "" if self.table is None else serializer.to_html(self.table)

    @cached_property
    def _by_id(self) -> Mapping[str, Paper]:
        return {paper.paper_id: paper for paper in self.papers}

    def _repr_html_(self) -> str:
        return render("answer.html", answer=self, papers=self._by_id, table=self._table_html)


@dataclass(frozen=True)
class Guess:
    """Paper that an excerpt may cite, with a score."""

    paper: Paper
    score: float  # comparable only with other guesses of the same attribution
    reason: str = ""


@dataclass(frozen=True)
class Attribution(Record):
    """Result of the search for the paper that an excerpt cites."""

    excerpt: str
    sentence: str
    clause: str  # part of the sentence that contains the citation
    paper: Paper | None  # None if no paper was selected
    guesses: tuple[Guess, ...]  # best first; if a paper is selected, it is the first guess
    method: str  # ``"offline"``, or the name of the language model
    coverage: Coverage
    partial: bool = False  # whether the model failed or reached its limit before the end
    trace: tuple[Step, ...] = ()
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)  # arguments of the attribution
    seconds: float = 0.0
    # Probability that the first guess is correct. None if a language model was used or if no paper
    # is similar.
    chance: float | None = None

    @property
    def abstained(self) -> bool:
        """Whether no paper was selected."""
        return self.paper is None

    @property
    def papers(self) -> tuple[Paper, ...]:
        """Papers of the guesses, best first."""
        return tuple(guess.paper for guess in self.guesses)

    @property
    def others(self) -> tuple[Guess, ...]:
        """All guesses except the selected paper."""
        return tuple(guess for guess in self.guesses if not self.is_selected(guess))

    def is_selected(self, guess: Guess) -> bool:
        """Return whether a guess is the selected paper."""
        return self.paper is not None and guess.paper.paper_id == self.paper.paper_id

    @property
    def table(self) -> pd.DataFrame:
        """Table with one row per guess and columns such as ``rank``, ``title`` and ``score``."""
        keys = _GUESS_COLUMNS.removeprefix("rank selected ")
        rows = [
            {"rank": n, "selected": self.is_selected(one), **serializer.pick(one, keys)}
            for n, one in enumerate(self.guesses, start=1)
        ]
        return serializer.to_table(rows, _GUESS_COLUMNS, {"year": "Int16"})

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON values."""
        guesses = [
            {"rank": n, **serializer.to_dict(one, "*paper score reason")}
            for n, one in enumerate(self.guesses, start=1)
        ]
        keys = (
            "excerpt sentence clause abstained partial paper chance guesses method trace notes "
            "settings coverage seconds"
        )
        chance = None if self.chance is None else round(self.chance, 2)
        found = serializer.to_dict(self, keys)
        return {**found, "chance": chance, "guesses": guesses, "seconds": round(self.seconds, 4)}

    def to_text(self) -> str:
        """Return the selected paper (all guesses if there is none) and the coverage as text."""
        return render("attribution.txt", found=self)

    def to_bibtex(self) -> str:
        """Return the selected paper as a BibTeX entry. If there is none, the text is empty."""
        return bibliography.to_bibtex([self.paper]) if self.paper is not None else ""

    def _repr_html_(self) -> str:
        return render("attribution.html", found=self)


@dataclass(frozen=True)
class Highlight:
    """Sentence of a paper that is relevant to the context or central to the paper."""

    text: str
    start: int  # index of the first character in the stored abstract or full text
    end: int
    score: float  # comparable only with other highlights of the same paper
    matters: Literal["context", "paper"]


@dataclass(frozen=True)
class CitingSentence(Record):
    """Sentence that cites a paper. It was written by a language model and then checked."""

    _keys = "text verdict evidence"

    text: str  # sentence without the citation
    evidence: tuple[Evidence, ...]  # sentences of the paper that support the text; never empty
    verdict: Verdict


@dataclass(frozen=True)
class Suggestion(Record):
    """Paper that is suggested as a citation."""

    _keys = "rank *paper corpus also_in score highlights sentence"

    rank: int  # the best paper has rank 1
    paper: Paper
    corpus: str  # name of the corpus that contains the paper
    score: float  # comparable only with other scores of the same result
    also_in: tuple[str, ...] = ()  # other corpora that contain the paper
    highlights: tuple[Highlight, ...] = ()  # in reading order
    sentence: CitingSentence | None = None  # None if no model was used or no sentence is supported

    def to_html(self) -> str:
        """Return the paper, highlights and sentence as HTML without CSS styles."""
        return render("suggestion.html", one=self)


@dataclass(frozen=True)
class CitationSuggestions(Record):
    """Suggested citations for one position in a text."""

    context: str
    keywords: str | None  # keyword filter, in the filter syntax
    suggestions: tuple[Suggestion, ...]  # best first
    coverage: Mapping[str, Coverage]  # coverage by corpus name
    method: str  # ``"offline"`` or the name of the language model that wrote the sentences
    partial: bool = False  # whether the model failed before all sentences were checked
    notes: tuple[str, ...] = ()
    seconds: float = field(default=0.0, compare=False)

    @property
    def papers(self) -> tuple[Paper, ...]:
        """The papers, best first."""
        return tuple(one.paper for one in self.suggestions)

    @property
    def citation_keys(self) -> list[str]:
        r"""Keys of the BibTeX entries of `to_bibtex`, to be used in ``\cite``."""
        return bibliography.citation_keys(self.papers)

    @property
    def table(self) -> pd.DataFrame:
        """Table with one row per paper and columns such as ``rank``, ``title`` and ``score``."""
        rows = [
            serializer.pick(one, _SUGGESTION_COLUMNS)
            | {"highlights": " ".join(point.text for point in one.highlights)}
            for one in self.suggestions
        ]
        return serializer.to_table(rows, _SUGGESTION_COLUMNS, {"year": "Int16"})

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON values."""
        keys = "context keywords suggestions method partial notes coverage"
        return {**serializer.to_dict(self, keys), "seconds": round(self.seconds, 4)}

    def to_text(self) -> str:
        """Return the papers with their highlights as text for a terminal."""
        return render("suggestions.txt", found=self)

    def to_bibtex(self) -> str:
        """Return the papers as BibTeX entries."""
        return bibliography.to_bibtex(self.papers)

    def __len__(self) -> int:
        return len(self.suggestions)

    def _repr_html_(self) -> str:
        return render("suggestions.html", found=self)


@dataclass(frozen=True)
class Judgement:
    """Verdict on one paper that is cited in a sentence of a draft."""

    key: str  # BibTeX key
    line: int  # line number in the draft
    sentence: str
    part: str  # part of the sentence that the citation supports
    verdict: CitationVerdict
    paper: Paper | None = None  # None if the abstract of the paper was not found
    evidence: tuple[Evidence, ...] = ()  # relevant sentences of the abstract
    nearness: float | None = None  # cosine similarity of the sentence and the paper
    why: str = ""  # short reason


@dataclass(frozen=True)
class Uncited(Record):
    """Sentence that has no citation but probably needs a citation."""

    line: int
    sentence: str
    why: str  # words that suggest that a citation is needed
    candidates: tuple[Suggestion, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON values, including the candidate papers."""
        papers = [one.paper.to_dict() for one in self.candidates]
        return {**serializer.to_dict(self, "line sentence why"), "candidates": papers}


@dataclass(frozen=True)
class DraftCheck(Record):
    """Result of checking the citations of a draft."""

    _keys = "citations=judgements uncited counts sentences=n_sentences method partial notes"

    judgements: tuple[Judgement, ...]  # in the order of the draft
    uncited: tuple[Uncited, ...]
    method: str  # ``"offline"`` or the name of the language model
    partial: bool = False  # whether the model failed; then the rest is checked by similarity
    notes: tuple[str, ...] = ()
    n_sentences: int = 0  # number of sentences in the draft
    sought: bool = False  # whether sentences without a citation were examined

    @property
    def counts(self) -> dict[str, int]:
        """Number of citations by verdict."""
        return dict(Counter(one.verdict for one in self.judgements))

    @property
    def table(self) -> pd.DataFrame:
        """Table with one row per citation and columns such as ``line``, ``key`` and ``verdict``."""
        columns = "line key verdict sentence evidence title=paper.title why"
        rows = [
            serializer.pick(one, columns)
            | {"evidence": " ".join(piece.text for piece in one.evidence)}
            for one in self.judgements
        ]
        return serializer.to_table(rows, columns, {})

    def to_text(self) -> str:
        """Return the verdicts as text for a terminal, in the order of the draft."""
        return render("draft_check.txt", found=self)


@dataclass(frozen=True)
class Linked:
    """Paper linked to another paper by a citation. A stub is a paper outside the atlas."""

    paper_id: str  # the id of a stub is an arXiv identifier, a bibcode, a DOI or the given name
    node: int  # row in the atlas; stubs have numbers from n_papers
    title: str  # empty if unknown
    year: int | None
    score: float = 1.0  # strength of the link, which is 1 for a reference or a citation
    is_stub: bool = False


@dataclass(frozen=True)
class Asked:
    """One search of a survey."""

    text: str
    by: str  # origin of the search: "question", "facet", "model" or "seeds"
    parent: str = ""  # key of the paper that led to this search
    found: int = 0  # number of papers found
    new: int = 0  # number of papers that no earlier search found


@dataclass(frozen=True)
class Crawled:
    """Paper that was judged in a survey."""

    paper: Paper
    score: float  # probability that the paper is relevant to the question
    selected: bool
    reason: str  # one sentence
    judged_by: str  # name of the language model, or "similarity"
    how: How  # way in which the paper was first found
    parent: str = ""  # key of the paper that led to this paper; empty if a search found it
    query: int | None = None  # index of the search that found the paper
    depth: int = 1  # number of steps from the question
    expanded: bool = False  # whether the references and citations of the paper were followed
    section: str = ""  # section of the parent that cites the paper

    @property
    def key(self) -> str:
        """Key of the paper in the atlas."""
        return self.paper.paper_id


@dataclass(frozen=True)
class Spent:
    """Cost of a survey."""

    calls: int = 0  # number of requests to the language model
    tokens: int = 0  # number of tokens sent and received, estimated as one per four bytes
    money: float = 0.0  # cost in the currency of the prices
    papers: int = 0  # number of papers judged
    seconds: float = 0.0


@dataclass(frozen=True)
class Survey(Record):
    """Result of a survey of a question.

    Examples
    --------
    >>> survey = Survey("Does dust cool?", (), (), (), Coverage("A", 9, 9, {}, None, None))
    >>> len(survey), survey.partial, survey.table.shape
    (0, False, (0, 18))
    """

    question: str
    crawled: tuple[Crawled, ...]  # judged papers; selected papers are first, then sorted by score
    searches: tuple[Asked, ...]
    beyond: tuple[Linked, ...]  # cited papers outside the atlas, most cited first
    coverage: Coverage
    # Settings to repeat the survey with ``atlas.survey(survey.question, **survey.settings)``
    settings: Mapping[str, Any] = field(default_factory=dict)
    spent: Spent = field(default_factory=Spent)
    partial: bool = False  # whether a limit or a server error ended the survey early
    notes: tuple[str, ...] = ()
    n_found: int = 0  # number of papers found; `crawled` contains only the best papers

    @property
    def selected(self) -> tuple[Crawled, ...]:
        """Papers that are relevant to the question, best first."""
        return tuple(one for one in self.crawled if one.selected)

    @property
    def papers(self) -> tuple[Paper, ...]:
        """Selected papers as `Paper` objects, best first."""
        return tuple(one.paper for one in self.selected)

    @property
    def results(self) -> Results:
        """Selected papers as search results, which can be used for figures and exports."""
        hits = tuple(Hit(n, one.paper, one.score) for n, one in enumerate(self.selected, start=1))
        settings = dict(self.settings)
        return Results(self.question, hits, self.coverage, settings, seconds=self.spent.seconds)

    @property
    def table(self) -> pd.DataFrame:
        """Table of the judged papers as in `crawled`. Only selected papers have a rank."""
        types = {"rank": "Int64", "year": "Int16", "depth": "int64", "selected": "bool"}
        return serializer.to_table(self._rows(), _CRAWLED_COLUMNS, types)

    @property
    def counts(self) -> str:
        """Text with the numbers of papers that were found, judged and selected."""
        judged = len(self.crawled)
        best = f", the best of {self.n_found:,} found" if self.n_found > judged else ""
        return f"{count(len(self.selected), 'paper')} selected of {judged:,} judged{best}"

    def paper_of(self, key: str) -> Paper | None:
        """Return the judged paper with this key, or None if there is no such paper."""
        return self._by_key.get(key)

    def children(self, key: str) -> tuple[Crawled, ...]:
        """Return the papers to which a paper led. An empty key selects papers found by searches."""
        return tuple(one for one in self.crawled if one.parent == key)

    @property
    def headline(self) -> str:
        """Summary of the number of papers, the searches and the cost in one line."""
        spent = self.spent
        cost = f", {spent.calls} requests to the language model" if spent.calls else ""
        by = "" if spent.calls else " by similarity and citations, without a language model"
        state = "Partial: " if self.partial else ""
        searches = f"{len(self.searches)} searches"
        return f"{state}{self.counts}{by}, {searches}{cost}, {spent.seconds:.1f} s"

    @property
    def all_notes(self) -> tuple[str, ...]:
        """Notes on the survey, with an explanation if papers were judged by similarity."""
        is_used = any(one.judged_by == "similarity" for one in self.selected)
        return (*self.notes, _MEANING_OF_REASONS) if is_used else self.notes

    def origin_of(self, one: Crawled) -> str:
        """Describe how a paper was found, to complete a sentence that begins with "Found"."""
        if one.how == "seed":
            return "as a starting paper"
        if one.parent:
            parent = self.paper_of(one.parent)
            name = one.parent if parent is None else parent.short_name
            return _WAYS[one.how].format(name, one.section)
        if one.query is None:
            return one.how
        search = self.searches[one.query]
        is_question = search.by == "question"
        return "by the question itself" if is_question else f"by the search “{search.text}”"

    def reason_for(self, one: Crawled) -> str:
        """Describe the score of a paper, the reason for it, and how the paper was found."""
        score = "" if one.judged_by == "similarity" else f"{one.score:.2f}. "
        return " ".join(f"{score}{one.reason} Found {self.origin_of(one)}.".split())

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON values."""
        papers = [
            {**serializer.plain(row), "expanded": one.expanded}
            for row, one in zip(self._rows(), self.crawled, strict=True)
        ]
        keys = "name=paper_id title year citing=score"
        beyond = [serializer.to_dict(one, keys) | {"citing": int(one.score)} for one in self.beyond]
        keys = "question partial papers searches beyond found=n_found spent settings coverage notes"
        return {**serializer.to_dict(self, keys), "papers": papers, "beyond": beyond}

    def to_bibtex(self) -> str:
        """Return the selected papers as BibTeX entries."""
        return self.results.to_bibtex()

    def to_csv(self) -> str:
        """Return all judged papers as CSV. Spreadsheet formulas in the texts are disabled."""
        return serializer.to_csv(self.table)

    def to_markdown(self) -> str:
        """Return the papers, searches and coverage as one Markdown document."""
        return render("survey.md", survey=self)

    def to_text(self, *, most: int = 50) -> str:
        """Return at most `most` papers as text for a terminal."""
        return render("survey.txt", survey=self, most=most)

    @cached_property
    def _by_key(self) -> Mapping[str, Paper]:
        return {one.key: one.paper for one in self.crawled}

    def _rows(self) -> list[dict[str, Any]]:
        keys = _CRAWLED_COLUMNS.replace("rank", "rank=selected").replace("search", "search=query")
        return [
            serializer.pick(one, keys)
            | {
                "rank": n if one.selected else None,
                "search": "" if one.query is None else self.searches[one.query].text,
            }
            for n, one in enumerate(self.crawled, start=1)
        ]

    def __len__(self) -> int:
        return len(self.selected)

    def _repr_html_(self) -> str:
        return render("survey.html", survey=self, most=50)


@dataclass(frozen=True)
class Analysis(Record):
    """Result of an analysis, with a main table, its caption, the coverage and warnings.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"facility": ["ALMA"], "share": [0.25]})
    >>> found = Analysis("impact", table, "Share of papers.", {"papers": 8}, {"generated": True})
    >>> print(found.to_text())
    Share of papers.
    facility  share
        ALMA   0.25
    Of 8 papers.
    Generated demo corpus: these papers do not exist.
    """

    _keys = "kind caption denominators bounds warnings table tables"

    kind: str  # name of the analysis, such as ``"impact"`` or ``"reviews"``
    table: pd.DataFrame
    caption: str  # description of the table in one or two sentences
    # Denominators of fractions, such as ``{"papers": 4000, "papers with a facility": 1200}``
    denominators: Mapping[str, int]
    bounds: Mapping[str, Any]  # title, papers, sources and dates of the atlas
    warnings: tuple[str, ...] = ()  # limitations of the result, one sentence each
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)  # tables for figures

    @property
    def notes(self) -> tuple[str, ...]:
        """Denominators and warnings, with a note if the corpus is synthetic."""
        of = "; ".join(f"{n:,} {what}" for what, n in self.denominators.items())
        generated = GENERATED if self.bounds.get("generated") else ""
        return tuple(filter(None, (of and f"Of {of}.", *self.warnings, generated)))

    def to_csv(self) -> str:
        """Return the main table as CSV, after the caption and notes in comment lines (``#``)."""
        lines = [self.caption, *self.notes]
        return "".join(f"# {line}\n" for line in lines) + serializer.to_csv(self.table)

    def to_latex(self) -> str:
        r"""Return up to 8 columns and 40 rows as a LaTeX ``table``, for the package booktabs."""
        return serializer.to_latex(self.table, self.kind, self.caption, self.notes)

    def to_text(self) -> str:
        """Return the main table as text for a terminal. Intervals are in brackets."""
        rows = serializer.to_text(self.table) if len(self.table) else "The table has no rows."
        return "\n".join([self.caption, rows, *self.notes])

    def _repr_html_(self) -> str:
        return render("analysis.html", found=self, table=serializer.to_html(self.table))
