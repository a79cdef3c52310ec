"""Records shared by all packages: papers, search results, answers, surveys, citations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from landscape import _bibliography as bibliography
from landscape import _serializer as serializer
from landscape._author_names import short_names
from landscape._render import render
from landscape._serializer import Record
from landscape._wording import GENERATED, count

if TYPE_CHECKING:
    import pandas as pd

Verdict = Literal["supported", "contradicted", "not found"]
"""Result of checking a claim against sentences of papers."""

CitationVerdict = Literal[
    "supported", "unclear", "contradicted", "near", "far", "not in the corpus",
    "not in the bibliography",
]  # fmt: skip
"""Result of checking a citation. Without a language model, only the last four are possible."""

How = Literal["search", "reference", "citation", "cited together", "similar", "section", "seed"]
"""Ways in which a survey finds a paper."""

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
_WAYS = {
    "reference": "cited by {}",
    "citation": "cites {}",
    "cited together": "cited together with {}",
    "similar": "similar in text to {}",
    "section": "cited by {} in its section “{}”",
    "search": "by a search made from {}",
}
_MEANING_OF_REASONS = (
    "Very likely, likely, possible: judged from words, similarity and citations, without a "
    "language model."
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

    row: int  # row number in the vectors and in every table of papers
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
    cites: int | None = None  # number of citations, as given by the source
    keywords: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    source: tuple[str, ...] = ()

    @property
    def year(self) -> int | None:
        """Year of publication."""
        return self.date.year if self.date else None

    @property
    def label(self) -> str:
        """Name of the paper in answers: its bibcode, arXiv identifier, or key in the atlas."""
        if self.bibcode:
            return self.bibcode
        return f"arXiv:{self.arxiv_id}" if self.arxiv_id else self.paper_id

    @property
    def links(self) -> dict[str, str]:
        """Web addresses of the paper at ADS, arXiv and doi.org."""
        addresses = {
            "ADS": self.bibcode and f"https://ui.adsabs.harvard.edu/abs/{self.bibcode}/abstract",
            "arXiv": self.arxiv_id and f"https://arxiv.org/abs/{self.arxiv_id}",
            "DOI": self.doi and f"https://doi.org/{self.doi}",
        }
        return {name: url for name, url in addresses.items() if url}

    @property
    def url(self) -> str | None:
        """Address of the paper at ADS, arXiv or doi.org."""
        return next(iter(self.links.values()), None)

    @property
    def first_authors(self) -> str:
        """The first three authors."""
        return "; ".join(self.authors[:3]) + (" et al." if len(self.authors) > 3 else "")

    @property
    def short_name(self) -> str:
        """Authors and year as in a citation: ``Rubin and Ford (1970)``."""
        name = short_names(self.authors) or "no authors known"
        return f"{name} ({self.year})" if self.year else name


@dataclass(frozen=True)
class Hit(Record):
    """One search result."""

    _keys = "rank *paper score parts outlier"

    rank: int  # from 1
    paper: Paper
    score: float  # comparable only with other scores of the same result
    # Parts of the score, if used: ``semantic`` (cosine), ``words`` (BM25), ``fused``, weights,
    # ``rerank``
    parts: Mapping[str, float] = field(default_factory=dict)
    outlier: bool | None = None  # whether it differs strongly from the others; None if unknown

    def to_html(self) -> str:
        """Return title, links and abstract as HTML without styles."""
        return render("paper.html", hit=self)


@dataclass(frozen=True)
class Coverage(Record):
    """Papers that a search covered."""

    _keys = (
        "title papers=n_papers searched=n_searched filtered_away=n_filtered sources first_date "
        "last_date generated notes"
    )

    title: str  # name of the atlas
    n_papers: int  # papers in the atlas
    n_searched: int  # papers that passed the filter
    sources: Mapping[str, int]  # papers by source
    first_date: str | None  # date of the oldest paper
    last_date: str | None  # date of the newest paper
    generated: bool = False  # whether any paper is generated
    notes: tuple[str, ...] = ()  # limits of the result, such as a method that could not be used

    @property
    def n_filtered(self) -> int:
        """Papers that the filter removed."""
        return self.n_papers - self.n_searched

    @property
    def source_list(self) -> str:
        """The sources with their numbers of papers."""
        return ", ".join(f"{name} {n:,}" for name, n in self.sources.items())

    @property
    def bounds(self) -> str:
        """Papers, sources and dates in one line.

        Examples
        --------
        >>> Coverage("A", 1200, 30, {"arxiv": 1200}, "2020-01-01", "2024-01-01").bounds
        'A: 30 of 1,200 papers searched (arxiv 1,200), 2020-01-01 to 2024-01-01.'
        """
        searched = count(self.n_papers, "paper")
        if self.n_filtered:
            searched = f"{self.n_searched:,} of {self.n_papers:,} papers searched"
        sources = f" ({self.source_list})" if self.sources else ""
        dates = f", {self.first_date} to {self.last_date}" if self.first_date else ""
        return f"{self.title}: {searched}{sources}{dates}."

    @property
    def summary(self) -> str:
        """The bounds and notes in one line, with a warning if papers are generated."""
        return " ".join([self.bounds, *([GENERATED] if self.generated else []), *self.notes])

    def to_text(self) -> str:
        """Describe the papers searched in one sentence."""
        return render("coverage.txt", coverage=self)


@dataclass(frozen=True)
class Results(Record):
    """Papers found by a search."""

    query: str
    hits: tuple[Hit, ...]
    coverage: Coverage
    settings: Mapping[str, Any] = field(default_factory=dict)  # arguments that repeat the search
    expansion: str | None = None  # text that was added to the query
    seconds: float = 0.0

    @property
    def papers(self) -> tuple[Paper, ...]:
        """The papers, best first."""
        return tuple(hit.paper for hit in self.hits)

    @property
    def table(self) -> pd.DataFrame:
        """Table with one row per paper, best first. Missing years and citations are ``<NA>``."""
        rows = [serializer.pick(hit, _HIT_COLUMNS) for hit in self.hits]
        types = {"rank": "int64", "year": "Int16", "cites": "Int64", "score": "float64",
                 "outlier": "boolean"}  # fmt: skip
        return serializer.to_table(rows, _HIT_COLUMNS, types)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON values, as in ``landscape search --json``."""
        keys = "query results=hits coverage settings expansion"
        return {**serializer.to_dict(self, keys), "seconds": round(self.seconds, 4)}

    def to_text(self, *, where: str = "") -> str:
        """Return the numbered papers, their positions (`where`) and the coverage as text."""
        return render("results.txt", results=self, where=where)

    def to_bibtex(self) -> str:
        """Return the papers as BibTeX entries."""
        return bibliography.to_bibtex(self.papers)

    def to_ris(self) -> str:
        """Return the papers as RIS, for reference managers."""
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
    """A sentence of a paper that supports a claim: ``abstract[start:end] == text``."""

    paper_id: str
    label: str  # name of the paper in the answer
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Claim(Record):
    """One sentence of an answer."""

    _keys = "text citations verdict evidence"

    text: str  # without its citations
    citations: tuple[str, ...]  # labels of papers
    evidence: tuple[Evidence, ...] = ()
    verdict: Verdict = "not found"


@dataclass(frozen=True)
class Stance:
    """Position of one paper on a statement, with the sentence that shows it."""

    paper_id: str
    label: str
    position: Literal["supports", "refutes", "mixed", "irrelevant"]
    evidence: Evidence | None = None


@dataclass(frozen=True)
class Consensus:
    """How far the papers agree with a statement."""

    statement: str  # the question as a statement
    level: str  # one of `landscape.answers._evidence.LEVELS`
    explanation: str
    relevance: float  # 0 to 1: share of the papers that address the statement
    stances: tuple[Stance, ...] = ()


@dataclass(frozen=True)
class Step:
    """One step of a reasoning agent."""

    thought: str  # the intention
    action: str  # such as "search: dust in quasars; filter: 2015.."
    observation: str
    labels: tuple[str, ...] = ()  # papers that the step found


@dataclass(frozen=True)
class Answer(Record):
    """An answer with its evidence."""

    _keys = (
        "question text abstained claims method style question_type consensus trace ads_query notes "
        "settings results"
    )

    question: str
    text: str  # Markdown; citations in square brackets follow each sentence
    claims: tuple[Claim, ...]
    results: Results  # the papers that the answer is based on
    method: str  # ``"extractive"``, or the name of the language model
    abstained: bool = False  # whether the papers do not answer the question
    style: str = "multi-paper"  # style of the prompt
    question_type: str | None = None  # see `landscape.answers._questions.classify`
    consensus: Consensus | None = None
    trace: tuple[Step, ...] = ()  # steps of the agent, if an agent was used
    ads_query: str | None = None  # ADS query that answers a bibliometric question
    notes: tuple[str, ...] = ()  # limits of the answer, for example that the model failed
    # Settings that repeat the answer: ``atlas.ask(answer.question, **answer.settings)``
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def papers(self) -> tuple[Paper, ...]:
        """The papers that the answer is based on."""
        return self.results.papers

    @property
    def ads_url(self) -> str | None:
        """Address of the results of the ADS query."""
        return bibliography.ads_url(self.ads_query) if self.ads_query else None

    def to_markdown(self) -> str:
        """Return the answer, its evidence, papers and coverage as one Markdown document."""
        return render("answer.md", answer=self)

    def to_text(self) -> str:
        """Return the answer, the papers that it cites, and the coverage, for a terminal."""
        return render("answer.txt", answer=self)

    def to_html(self, part: Literal["claims", "consensus", "method"]) -> str:
        """Return one part of the answer as HTML, or an empty text if there is no consensus."""
        if part == "consensus" and self.consensus is None:
            return ""
        return render(f"{part}.html", answer=self, papers=self._by_id)

    @cached_property
    def _by_id(self) -> Mapping[str, Paper]:
        return {paper.paper_id: paper for paper in self.papers}

    def _repr_html_(self) -> str:
        return render("answer.html", answer=self, papers=self._by_id)


@dataclass(frozen=True)
class Guess:
    """A paper that an excerpt may cite."""

    paper: Paper
    score: float  # comparable only with other guesses of the same attribution
    reason: str = ""


@dataclass(frozen=True)
class Attribution(Record):
    """The paper that an excerpt cites."""

    excerpt: str
    sentence: str
    clause: str  # part of the sentence that contains the citation
    paper: Paper | None  # None if no paper was selected
    guesses: tuple[Guess, ...]  # best first; the selected paper is the first
    method: str  # ``"offline"``, or the name of the language model
    coverage: Coverage
    partial: bool = False  # whether the model failed, or its budget ran out, too early
    trace: tuple[Step, ...] = ()
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)  # source, before, max_actions
    seconds: float = 0.0
    # Probability that the first guess is right; None with a language model, or if none is similar
    chance: float | None = None

    @property
    def abstained(self) -> bool:
        """Whether no paper was selected."""
        return self.paper is None

    @property
    def papers(self) -> tuple[Paper, ...]:
        """The papers of the guesses, best first."""
        return tuple(guess.paper for guess in self.guesses)

    @property
    def others(self) -> tuple[Guess, ...]:
        """The guesses except the selected one."""
        return tuple(guess for guess in self.guesses if not self.is_selected(guess))

    def is_selected(self, guess: Guess) -> bool:
        """Return whether a guess is the selected paper."""
        return self.paper is not None and guess.paper.paper_id == self.paper.paper_id

    @property
    def table(self) -> pd.DataFrame:
        """Table with one row per guess and its ``rank``, ``selected``, ``title``, ``score``..."""
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
        """Return the selected paper, or the guesses, and the coverage as text for a terminal."""
        return render("attribution.txt", found=self)

    def to_bibtex(self) -> str:
        """Return the selected paper as a BibTeX entry; empty if none was selected."""
        return bibliography.to_bibtex([self.paper]) if self.paper is not None else ""

    def _repr_html_(self) -> str:
        return render("attribution.html", found=self)


@dataclass(frozen=True)
class Highlight:
    """A sentence of a paper that is relevant to the context, or to its paper as a whole."""

    text: str
    start: int  # first character in the stored abstract or the full text
    end: int
    score: float  # comparable only with other highlights of the same paper
    matters: Literal["context", "paper"]


@dataclass(frozen=True)
class CitingSentence(Record):
    """A sentence that cites a paper, written by a language model and checked."""

    _keys = "text verdict evidence"

    text: str  # without the citation itself
    evidence: tuple[Evidence, ...]  # sentences of the paper that support it; never empty
    verdict: Verdict


@dataclass(frozen=True)
class Suggestion(Record):
    """A paper to cite."""

    _keys = "rank *paper corpus also_in score highlights sentence"

    rank: int  # from 1
    paper: Paper
    corpus: str  # name of the corpus that has the paper
    score: float  # comparable only with other scores of the same result
    also_in: tuple[str, ...] = ()  # other corpora that contain the paper
    highlights: tuple[Highlight, ...] = ()  # in reading order
    sentence: CitingSentence | None = None  # None without a model, or if unsupported

    def to_html(self) -> str:
        """Return paper, highlights and sentence as HTML without styles."""
        return render("suggestion.html", one=self)


@dataclass(frozen=True)
class CitationSuggestions(Record):
    """Papers to cite at one position in a text."""

    context: str
    keywords: str | None  # in the syntax of filters
    suggestions: tuple[Suggestion, ...]  # best first
    coverage: Mapping[str, Coverage]  # by corpus
    method: str  # ``"offline"``, or the language model that wrote the sentences
    partial: bool = False  # whether the model failed before all sentences were checked
    notes: tuple[str, ...] = ()
    seconds: float = field(default=0.0, compare=False)

    @property
    def papers(self) -> tuple[Paper, ...]:
        """The papers, best first."""
        return tuple(one.paper for one in self.suggestions)

    @property
    def citation_keys(self) -> list[str]:
        r"""The keys of the papers in `to_bibtex`, for ``\cite``."""
        return bibliography.citation_keys(self.papers)

    @property
    def table(self) -> pd.DataFrame:
        """One row per paper: ``rank, title, authors, year, label, corpus, also_in, score``..."""
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
    """Verdict on one paper cited in a sentence of a draft."""

    key: str  # BibTeX key
    line: int  # of the draft
    sentence: str
    part: str  # part of the sentence that the citation supports
    verdict: CitationVerdict
    paper: Paper | None = None  # None if its abstract was not found
    evidence: tuple[Evidence, ...] = ()  # relevant sentences of its abstract
    nearness: float | None = None  # cosine similarity of the sentence and the paper
    why: str = ""  # short reason


@dataclass(frozen=True)
class Uncited(Record):
    """A sentence that seems to need a citation."""

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
    method: str  # ``"offline"``, or the language model
    partial: bool = False  # whether the model failed; other citations are then judged by similarity
    notes: tuple[str, ...] = ()
    n_sentences: int = 0  # sentences of the draft
    sought: bool = False  # whether sentences without a citation were examined

    @property
    def counts(self) -> dict[str, int]:
        """Number of citations by verdict."""
        return dict(Counter(one.verdict for one in self.judgements))

    @property
    def table(self) -> pd.DataFrame:
        """Table of citations: ``line, key, verdict, sentence, evidence, title, why``."""
        columns = "line key verdict sentence evidence title=paper.title why"
        rows = [
            serializer.pick(one, columns)
            | {"evidence": " ".join(piece.text for piece in one.evidence)}
            for one in self.judgements
        ]
        return serializer.to_table(rows, columns, {})

    def to_text(self) -> str:
        """Return the verdicts in the order of the draft as text for a terminal."""
        return render("draft_check.txt", found=self)


@dataclass(frozen=True)
class Linked:
    """A paper linked to another one by a citation. For a stub, only the name is known."""

    paper_id: str  # for a stub: arXiv identifier, bibcode, DOI or the given name
    node: int  # row in the atlas; n_papers or more for a stub
    title: str  # empty if unknown
    year: int | None
    score: float = 1.0  # strength of the relation; 1 for a reference or a citation
    is_stub: bool = False


@dataclass(frozen=True)
class Asked:
    """One search of a survey."""

    text: str
    by: str  # "question", "facet", "model" or "seeds"
    parent: str = ""  # key of the paper that led to this search
    found: int = 0
    new: int = 0  # number of papers that no earlier search found


@dataclass(frozen=True)
class Crawled:
    """One paper that a survey judged."""

    paper: Paper
    score: float  # probability that it belongs to the answer
    selected: bool
    reason: str  # one sentence
    judged_by: str  # name of the language model, or "similarity"
    how: How  # first way in which it was found
    parent: str = ""  # key of the paper that led to it; empty if a search found it
    query: int | None = None  # index of the search that found it
    depth: int = 1  # steps from the question
    expanded: bool = False  # whether its references and citations were followed
    section: str = ""  # section of the parent that cites it

    @property
    def key(self) -> str:
        """The paper's key in the atlas."""
        return self.paper.paper_id


@dataclass(frozen=True)
class Spent:
    """Cost of a survey."""

    calls: int = 0  # requests to the language model
    tokens: int = 0  # sent and received; estimated as one token per four bytes
    money: float = 0.0  # in the currency of the prices
    papers: int = 0  # papers judged
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
    crawled: tuple[Crawled, ...]  # all judged papers: selected papers first, then by score
    searches: tuple[Asked, ...]
    beyond: tuple[Linked, ...]  # cited papers outside the atlas, most cited first
    coverage: Coverage
    # To repeat the survey: ``atlas.survey(survey.question, **survey.settings)``
    settings: Mapping[str, Any] = field(default_factory=dict)
    spent: Spent = field(default_factory=Spent)
    partial: bool = False  # whether a budget or a server error ended it early
    notes: tuple[str, ...] = ()
    n_found: int = 0  # number of papers found; `crawled` contains the best

    @property
    def selected(self) -> tuple[Crawled, ...]:
        """The papers that belong to the answer, best first."""
        return tuple(one for one in self.crawled if one.selected)

    @property
    def papers(self) -> tuple[Paper, ...]:
        """The selected papers, as papers of the atlas."""
        return tuple(one.paper for one in self.selected)

    @property
    def results(self) -> Results:
        """The selected papers as results of a search, for figures and exports."""
        hits = tuple(Hit(n, one.paper, one.score) for n, one in enumerate(self.selected, start=1))
        settings = dict(self.settings)
        return Results(self.question, hits, self.coverage, settings, seconds=self.spent.seconds)

    @property
    def table(self) -> pd.DataFrame:
        """Table of the judged papers, in the order of `crawled`. Only selected ones have a rank."""
        types = {"rank": "Int64", "year": "Int16", "depth": "int64", "selected": "bool"}
        return serializer.to_table(self._rows(), _CRAWLED_COLUMNS, types)

    @property
    def counts(self) -> str:
        """Numbers of papers found, judged and selected, as text."""
        judged = len(self.crawled)
        best = f", the best of {self.n_found:,} found" if self.n_found > judged else ""
        return f"{count(len(self.selected), 'paper')} selected of {judged:,} judged{best}"

    def paper_of(self, key: str) -> Paper | None:
        """Return a judged paper by its key, or None."""
        return self._by_key.get(key)

    def children(self, key: str) -> tuple[Crawled, ...]:
        """Return the papers found through one paper, or by searches if the key is empty."""
        return tuple(one for one in self.crawled if one.parent == key)

    @property
    def headline(self) -> str:
        """Summary of the papers, searches and cost in one line."""
        spent = self.spent
        cost = f", {spent.calls} requests to the language model" if spent.calls else ""
        by = "" if spent.calls else " by similarity and citations, without a language model"
        state = "Partial: " if self.partial else ""
        searches = f"{len(self.searches)} searches"
        return f"{state}{self.counts}{by}, {searches}{cost}, {spent.seconds:.1f} s"

    @property
    def all_notes(self) -> tuple[str, ...]:
        """The notes, and an explanation of judgements by similarity."""
        is_used = any(one.judged_by == "similarity" for one in self.selected)
        return (*self.notes, _MEANING_OF_REASONS) if is_used else self.notes

    def origin_of(self, one: Crawled) -> str:
        """Describe how a paper was found, to complete a sentence that begins with "Found"."""
        if one.how == "seed":
            return "given as a start"
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
        """Describe the score of a paper, the reason, and how it was found."""
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
        """Return all judged papers as CSV, with spreadsheet formulas disabled."""
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
    """Result of an analysis: a main table with its caption, coverage and warnings.

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

    kind: str  # such as ``"impact"`` or ``"reviews"``
    table: pd.DataFrame
    caption: str  # description of the table in one or two sentences
    # Denominators of shares: ``{"papers": 4000, "papers with a facility": 1200}``
    denominators: Mapping[str, int]
    bounds: Mapping[str, Any]  # title, papers, sources and dates of the atlas
    warnings: tuple[str, ...] = ()  # limits of the result, one sentence each
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)  # for figures, by name

    @property
    def notes(self) -> tuple[str, ...]:
        """Denominators and warnings, with a note if the corpus is generated."""
        of = "; ".join(f"{n:,} {what}" for what, n in self.denominators.items())
        generated = GENERATED if self.bounds.get("generated") else ""
        return tuple(filter(None, (of and f"Of {of}.", *self.warnings, generated)))

    def to_csv(self) -> str:
        """Return the main table, with caption and notes as comments (``#``) above it."""
        lines = [self.caption, *self.notes]
        return "".join(f"# {line}\n" for line in lines) + serializer.to_csv(self.table)

    def to_latex(self) -> str:
        r"""Return the main table as a LaTeX ``table`` (needs the package booktabs)."""
        return serializer.to_latex(self.table, self.caption, self.notes)

    def to_text(self) -> str:
        """Return the main table as text for a terminal, with intervals in brackets."""
        return "\n".join([self.caption, serializer.to_text(self.table), *self.notes])

    def _repr_html_(self) -> str:
        return render("analysis.html", found=self, table=serializer.to_html(self.table))
