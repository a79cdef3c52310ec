"""Records shared by all packages, such as papers, search results, answers and surveys."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from landscape import _bibliography as bibliography
from landscape import _serializer as serializer
from landscape._author_names import byline, short_names
from landscape._io import check_output, write_output
from landscape._render import render
from landscape._serializer import Record
from landscape._wording import GENERATED, count, join_names, normal_title
from landscape.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

Verdict = Literal["supported", "contradicted", "not found"]
"""Result of checking a claim against sentences of papers."""
ClaimVerdict = Literal[Verdict, "unclear"]
"""Verdict on a sentence of an answer; "unclear" is a contradiction that is not probable enough."""

_ReadVerdict = Literal["supported", "unclear", "contradicted"]
CitationVerdict = Literal[
    _ReadVerdict,
    "quoted",
    "near",
    "mismatch",
    "far",
    "not in the corpus",
    "not in the bibliography",
]
"""Result of checking a citation. The first three values require a language model.

A mismatch is a number, an object or a negation that differs from the cited paper."""

EntryStatus = Literal["in the atlas", "now published", "unknown"]
"""Result of looking up an entry of a bibliography in the atlases."""

INVALID = ("retracted", "withdrawn")
"""Values of ``status`` of papers that count for nothing."""

How = Literal["search", "reference", "citation", "cited together", "similar", "section", "seed"]
"""Way in which a survey finds a paper."""

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


GENERATED_SOURCE = "demo"  # source of the generated papers of the demo corpus


@dataclass(frozen=True, kw_only=True)
class Paper(Record):
    """One paper of an atlas.

    Examples
    --------
    >>> Paper(row=0, paper_id="2401.00001", title="Dust", abstract="", arxiv_id="2401.00001").label
    'arXiv:2401.00001'
    """

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
    kind: str | None = None  # article, review, proceedings, thesis, software, data, ...
    status: str | None = None  # retracted, withdrawn or corrected
    status_reason: str | None = None  # sentence that states the status
    cites: int | None = None  # number of citations reported by the source
    keywords: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    source: tuple[str, ...] = ()

    @property
    def year(self) -> int | None:
        """Year of publication."""
        return self.date.year if self.date else None

    @property
    def is_valid(self) -> bool:
        """Whether the paper counts, and can be quoted and cited: not retracted or withdrawn."""
        return self.status not in INVALID

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
        """URLs of the paper at ADS, arXiv and doi.org, by name of the service.

        Generated papers have none, because their identifiers are invented.

        Examples
        --------
        >>> Paper(row=0, paper_id="a", title="", abstract="", bibcode="2021A&A...645L..11A").links
        {'ADS': 'https://ui.adsabs.harvard.edu/abs/2021A%26A...645L..11A/abstract'}
        """
        addresses = {
            "ADS": (self.bibcode, "https://ui.adsabs.harvard.edu/abs/{}/abstract", ""),
            "arXiv": (self.arxiv_id, "https://arxiv.org/abs/{}", "/"),
            "DOI": (self.doi, "https://doi.org/{}", "/:;()[]"),
        }
        return {
            name: address.format(quote("".join(filter(str.isprintable, bare)), safe=safe))
            for name, (identifier, address, safe) in addresses.items()
            if GENERATED_SOURCE not in self.source
            if (bare := "".join((identifier or "").split()))
        }

    @property
    def url(self) -> str | None:
        """URL of the paper at ADS, arXiv or doi.org."""
        return next(iter(self.links.values()), None)

    @property
    def first_authors(self) -> str:
        """Names of the first three authors."""
        return byline(self.authors, 3)

    @property
    def short_name(self) -> str:
        """Authors and year as in a citation, such as ``Rubin and Ford (1970)``."""
        name = short_names(self.authors) or "no authors known"
        return f"{name} ({self.year})" if self.year else name

    def _json(self) -> dict[str, object]:
        return {
            "paper_id": self.paper_id,
            "label": self.label,
            "arxiv_id": self.arxiv_id,
            "bibcode": self.bibcode,
            "doi": self.doi,
            "title": self.title,
            "authors": self.authors,
            "year": self.year,
            "date": self.date,
            "cites": self.cites,
            "journal": self.journal,
            "categories": self.categories,
            "keywords": self.keywords,
            "source": self.source,
            "abstract": self.abstract,
            "url": self.url,
        }


def title_notes(papers: Sequence[Paper]) -> tuple[str, ...]:
    """Return a note with the number of papers without an abstract, if there are any."""
    n = sum(not paper.has_abstract for paper in papers)
    note = f"{n:,} of the {count(len(papers), 'paper')} have no abstract; their titles are used."
    return (note,) if n else ()


@dataclass(frozen=True)
class Hit(Record):
    """One search result."""

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

    def _json(self) -> dict[str, object]:
        used = {"score": self.score, "parts": self.parts, "outlier": self.outlier}
        return {"rank": self.rank, **self.paper.to_dict(), **used}


@dataclass(frozen=True)
class Coverage(Record):
    """Description of the papers that a search covered."""

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

    def _json(self) -> dict[str, object]:
        return {
            "title": self.title,
            "papers": self.n_papers,
            "searched": self.n_searched,
            "filtered_away": self.n_filtered,
            "sources": self.sources,
            "first_date": self.first_date,
            "last_date": self.last_date,
            "in_part": self.in_part,
            "generated": self.generated,
            "notes": self.notes,
        }


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
        columns: dict[str, Sequence[object]] = {
            "rank": [hit.rank for hit in self.hits],
            **_titles(self.papers),
            "label": [paper.label for paper in self.papers],
            **_identifiers(self.papers),
            "cites": [paper.cites for paper in self.papers],
            "score": [hit.score for hit in self.hits],
            "outlier": [hit.outlier for hit in self.hits],
            "url": [paper.url for paper in self.papers],
        }
        return serializer.to_table(
            columns, rank="int64", year="Int16", cites="Int64", score="float64", outlier="boolean"
        )

    def valid(self) -> tuple[Results, list[str]]:
        """Return the results that can be quoted, and a note on each paper that cannot."""
        notes = [
            f"{paper.label} was {paper.status} and is not quoted: {paper.status_reason or '?'}"
            for paper in self.papers
            if not paper.is_valid
        ]
        kept = (hit for hit in self.hits if hit.paper.is_valid)
        hits = tuple(replace(hit, rank=rank) for rank, hit in enumerate(kept, start=1))
        return (replace(self, hits=hits) if notes else self), notes

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

    def _json(self) -> dict[str, object]:
        return {
            "query": self.query,
            "matched": self.matched,
            "note": self.note,
            "results": self.hits,
            "coverage": self.coverage,
            "settings": self.settings,
            "expansion": self.expansion,
            "seconds": round(self.seconds, 4),
        }


SectionKind = Literal[
    "introduction",
    "data",
    "methods",
    "results",
    "discussion",
    "conclusions",
    "acknowledgements",
    "data availability",
    "appendix",
    "caption",
    "facilities",
    "software",
    "objects",
    "other",
]
"""Kinds of sections of a full text. Facilities, software and objects are macros of AAS journals."""


@dataclass(frozen=True)
class Section:
    """Section, caption or macro of a full text.

    `references` are the numbers of the entries of the list of references that it cites. Pages
    count from 1 and are known for PDF files only.
    """

    number: int
    kind: SectionKind
    heading: str
    text: str
    first_page: int | None = None
    last_page: int | None = None
    references: tuple[int, ...] = ()


@dataclass(frozen=True)
class Reference:
    """Entry of the list of references of a full text."""

    number: int
    text: str
    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    bibcode: str | None = None
    doi: str | None = None
    arxiv_id: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Known identifiers."""
        return tuple(filter(None, (self.bibcode, self.doi, self.arxiv_id)))


@dataclass(frozen=True)
class FullText:
    """Sections and references of a full text, and the format from which they were read."""

    format: str
    sections: tuple[Section, ...]
    references: tuple[Reference, ...] = ()


@dataclass(frozen=True)
class Evidence(Record):
    """Sentence of a paper that supports a claim.

    It is ``abstract[start:end]``, or, with a `section`, these characters of the section of the full
    text.
    """

    paper_id: str
    label: str  # name of the paper in the answer
    start: int
    end: int
    text: str
    section: str = ""  # heading of the section of a full text
    page: int | None = None  # of a PDF

    @property
    def where(self) -> str:
        """Section and page, such as "Methods, p. 4", or ""."""
        return _where(self.section, self.page)

    def _json(self) -> dict[str, object]:
        return _with_place(self, ("paper_id", "label", "start", "end", "text"))


def _where(section: str, page: int | None) -> str:
    return ", ".join(filter(None, (section, "" if page is None else f"p. {page}")))


def _with_place(one: Evidence | Highlight, names: Sequence[str]) -> dict[str, object]:
    """Return fields by name, with section and page for sentences of full texts."""
    found: dict[str, object] = {name: getattr(one, name) for name in names}
    return found | ({"section": one.section, "page": one.page} if one.section else {})


@dataclass(frozen=True)
class Claim(Record):
    """One sentence of an answer."""

    text: str  # sentence without the citations
    citations: tuple[str, ...]  # labels of papers
    evidence: tuple[Evidence, ...] = ()
    verdict: ClaimVerdict = "not found"
    side: str = ""  # of a quoted sentence: "for", "against", "both", or one of two compared things

    def _json(self) -> dict[str, object]:
        return {
            "text": self.text,
            "citations": self.citations,
            "verdict": self.verdict,
            "evidence": self.evidence,
        }


@dataclass(frozen=True)
class ClaimCheck(Record):
    """Verdict on a claim after comparison with a text, from `landscape.answers.check_claim`.

    The probability is that of the label. `probabilities` are of "supported", "contradicted" and
    "not found". A verdict is certain if verdicts of this probability were right in at least 80% of
    the measured pairs. `mismatch` describes a number, an object or a negation that differs.
    """

    claim: str
    label: Verdict
    probability: float
    probabilities: tuple[float, ...]
    places: tuple[int, ...] = ()  # of the nearest sentences of the text, nearest first
    sentences: tuple[str, ...] = ()  # these sentences
    mismatch: str = ""
    is_certain: bool = False
    missing_numbers: tuple[float, ...] = ()  # numbers of the claim that are not in the text

    @property
    def verdict(self) -> ClaimVerdict:
        """The label, if it is safe to show it.

        A contradiction that is not certain is "unclear". A claim with a mismatch, or with a number
        that is not in the text, is not shown as supported.
        """
        if self.label == "contradicted":
            return self.label if self.is_certain else "unclear"
        if self.label == "supported" and (self.mismatch or self.missing_numbers):
            return "unclear" if self.mismatch else "not found"
        return self.label

    def _json(self) -> dict[str, object]:
        return {**vars(self), "verdict": self.verdict}


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
    sub_questions: tuple[str, ...] = ()  # parts of the question, or the things that it compares

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
        return render("answer.md", answer=self, papers=self._by_id)

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

    def _json(self) -> dict[str, object]:
        return {
            "question": self.question,
            "text": self.text,
            "abstained": self.abstained,
            "claims": self.claims,
            "method": self.method,
            "style": self.style,
            "question_type": self.question_type,
            "consensus": self.consensus,
            "trace": self.trace,
            "ads_query": self.ads_query,
            "notes": self.notes,
            "settings": self.settings,
            "results": self.results,
            "table": self.table,
            "sub_questions": self.sub_questions,
        }


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
    runs: tuple[Paper | None, ...] = ()  # paper that each run of a language model selected

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
        columns: dict[str, Sequence[object]] = {
            "rank": list(range(1, len(self.guesses) + 1)),
            "selected": [self.is_selected(guess) for guess in self.guesses],
            **_titles(self.papers),
            "label": [paper.label for paper in self.papers],
            "score": [guess.score for guess in self.guesses],
            "reason": [guess.reason for guess in self.guesses],
            "url": [paper.url for paper in self.papers],
        }
        return serializer.to_table(columns, year="Int16")

    def to_text(self) -> str:
        """Return the selected paper (all guesses if there is none) and the coverage as text."""
        return render("attribution.txt", attribution=self)

    def to_bibtex(self) -> str:
        """Return the selected paper as a BibTeX entry. If there is none, the text is empty."""
        return bibliography.to_bibtex([self.paper]) if self.paper is not None else ""

    def _repr_html_(self) -> str:
        return render("attribution.html", attribution=self)

    def _json(self) -> dict[str, object]:
        return {
            "excerpt": self.excerpt,
            "sentence": self.sentence,
            "clause": self.clause,
            "abstained": self.abstained,
            "partial": self.partial,
            "paper": self.paper,
            "chance": None if self.chance is None else round(self.chance, 2),
            "guesses": [
                {"rank": n, **guess.paper.to_dict(), "score": guess.score, "reason": guess.reason}
                for n, guess in enumerate(self.guesses, start=1)
            ],
            "method": self.method,
            "trace": self.trace,
            "notes": self.notes,
            "settings": self.settings,
            "coverage": self.coverage,
            "seconds": round(self.seconds, 4),
            "runs": [None if paper is None else paper.label for paper in self.runs],
        }


@dataclass(frozen=True)
class Highlight(Record):
    """Sentence of a paper that is relevant to the context or central to the paper."""

    text: str
    start: int  # index of the first character in the stored abstract or full text
    end: int
    score: float  # comparable only with other highlights of the same paper
    matters: Literal["context", "paper"]
    section: str = ""  # heading of the section of a full text, in which the places count
    page: int | None = None

    @property
    def where(self) -> str:
        """Section and page, such as "Methods, p. 4", or ""."""
        return _where(self.section, self.page)

    def _json(self) -> dict[str, object]:
        return _with_place(self, ("text", "start", "end", "score", "matters"))


@dataclass(frozen=True)
class CitingSentence(Record):
    """Sentence that cites a paper. It was written by a language model and then checked."""

    text: str  # sentence without the citation
    evidence: tuple[Evidence, ...]  # sentences of the paper that support the text; never empty
    verdict: Verdict

    def _json(self) -> dict[str, object]:
        return {"text": self.text, "verdict": self.verdict, "evidence": self.evidence}


@dataclass(frozen=True)
class Suggestion(Record):
    """Paper that is suggested as a citation."""

    rank: int  # the best paper has rank 1
    paper: Paper
    corpus: str  # name of the corpus that contains the paper
    score: float  # comparable only with other scores of the same result
    also_in: tuple[str, ...] = ()  # other corpora that contain the paper
    highlights: tuple[Highlight, ...] = ()  # in reading order
    sentence: CitingSentence | None = None  # None if no model was used or no sentence is supported

    @property
    def quotation(self) -> str:
        """Citing sentence that quotes the best highlight; empty without highlights.

        Examples
        --------
        >>> paper = Paper(row=0, paper_id="a", title="Dust", abstract="", authors=("Doe, J.",))
        >>> point = Highlight("It cools.", 0, 9, 1.0, "paper")
        >>> Suggestion(1, paper, "A", 1.0, highlights=(point,)).quotation
        'According to Doe, “It cools”.'
        """
        best = max(self.highlights, key=lambda one: one.score, default=None)
        quoted = best.text.rstrip(". ") if best else ""
        return f"According to {self.paper.short_name}, “{quoted}”." if quoted else ""

    def to_html(self) -> str:
        """Return the paper, highlights and sentence as HTML without CSS styles."""
        return render("suggestion.html", suggestion=self)

    def _json(self) -> dict[str, object]:
        return {
            "rank": self.rank,
            **self.paper.to_dict(),
            "corpus": self.corpus,
            "also_in": self.also_in,
            "score": self.score,
            "highlights": self.highlights,
            "sentence": self.sentence,
            "quotation": self.quotation,
        }


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
        return tuple(suggestion.paper for suggestion in self.suggestions)

    @property
    def citation_keys(self) -> list[str]:
        r"""Keys of the BibTeX entries of `to_bibtex`, to be used in ``\cite``."""
        return bibliography.citation_keys(self.papers)

    @property
    def table(self) -> pd.DataFrame:
        """Table with one row per paper and columns such as ``rank``, ``title`` and ``score``."""
        suggestions = self.suggestions
        columns: dict[str, Sequence[object]] = {
            "rank": [suggestion.rank for suggestion in suggestions],
            **_titles(self.papers),
            "label": [paper.label for paper in self.papers],
            "corpus": [suggestion.corpus for suggestion in suggestions],
            "also_in": [suggestion.also_in for suggestion in suggestions],
            "score": [suggestion.score for suggestion in suggestions],
            "highlights": [_joined(suggestion.highlights) for suggestion in suggestions],
            "sentence": [each.sentence and each.sentence.text for each in suggestions],
            "url": [paper.url for paper in self.papers],
        }
        return serializer.to_table(columns, year="Int16")

    def to_text(self) -> str:
        """Return the papers with their highlights as text for a terminal."""
        return render("suggestions.txt", citing=self)

    def to_bibtex(self) -> str:
        """Return the papers as BibTeX entries."""
        return bibliography.to_bibtex(self.papers)

    def __len__(self) -> int:
        return len(self.suggestions)

    def _repr_html_(self) -> str:
        return render("suggestions.html", citing=self)

    def _json(self) -> dict[str, object]:
        return {
            "context": self.context,
            "keywords": self.keywords,
            "suggestions": self.suggestions,
            "method": self.method,
            "partial": self.partial,
            "notes": self.notes,
            "coverage": self.coverage,
            "seconds": round(self.seconds, 4),
        }


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
    deciding: Evidence | None = None  # sentence of the abstract that decides the verdict
    draft_says: str = ""  # text of the draft that differs from the paper
    paper_says: str = ""  # text of the paper that differs from the draft


_SAME_TITLE = 0.4  # share of the words of the shorter title


@dataclass(frozen=True)
class BibliographyEntry(Record):
    """Entry of a bibliography, and the paper of an atlas that it describes.

    Examples
    --------
    >>> paper = Paper(row=0, paper_id="a", title="Dust", abstract="", journal="ApJ", doi="10.1/a")
    >>> BibliographyEntry("roe24", "Dust", "now published", paper).published_as
    'ApJ, doi:10.1/a'
    """

    key: str  # BibTeX key
    title: str
    status: EntryStatus
    paper: Paper | None = None  # paper of an atlas

    @property
    def published_as(self) -> str:
        """Bibcode, journal and DOI of the paper if the entry is a preprint of it."""
        if self.paper is None or self.status != "now published":
            return ""
        doi = self.paper.doi and f"doi:{self.paper.doi}"
        return ", ".join(filter(None, (self.paper.bibcode, self.paper.journal, doi)))

    @property
    def other_title(self) -> str:
        """Title of the paper if it shares few words with that of the entry, otherwise ""."""
        if self.paper is None:
            return ""
        mine, its = (set(normal_title(one).split()) for one in (self.title, self.paper.title))
        is_same = not mine or not its or len(mine & its) >= _SAME_TITLE * min(len(mine), len(its))
        return "" if is_same else self.paper.title

    def _json(self) -> dict[str, object]:
        return {
            "key": self.key,
            "title": self.title,
            "status": self.status,
            "published_as": self.published_as or None,
            "other_title": self.other_title or None,
            "paper": self.paper,
        }


@dataclass(frozen=True)
class DraftCheck(Record):
    """Result of checking the citations of a draft."""

    judgements: tuple[Judgement, ...]  # in the order of the draft
    method: str  # ``"offline"`` or the name of the language model
    partial: bool = False  # whether the model failed; then the rest is checked by similarity
    notes: tuple[str, ...] = ()
    n_sentences: int = 0  # number of sentences in the draft
    entries: tuple[BibliographyEntry, ...] = ()  # in the order of the bibliography

    @property
    def counts(self) -> dict[str, int]:
        """Number of citations by verdict."""
        return dict(Counter(judgement.verdict for judgement in self.judgements))

    @property
    def table(self) -> pd.DataFrame:
        """Table with one row per citation and columns such as ``line``, ``key`` and ``verdict``."""
        judgements = self.judgements
        columns: dict[str, Sequence[object]] = {
            "line": [judgement.line for judgement in judgements],
            "key": [judgement.key for judgement in judgements],
            "verdict": [judgement.verdict for judgement in judgements],
            "sentence": [judgement.sentence for judgement in judgements],
            "evidence": [_joined(judgement.evidence) for judgement in judgements],
            "title": [judgement.paper and judgement.paper.title for judgement in judgements],
            "why": [judgement.why for judgement in judgements],
            "deciding": [one.deciding and one.deciding.text for one in judgements],
            "draft_says": [judgement.draft_says for judgement in judgements],
            "paper_says": [judgement.paper_says for judgement in judgements],
        }
        return serializer.to_table(columns)

    def to_text(self) -> str:
        """Return the verdicts as text for a terminal, in the order of the draft."""
        return render("draft_check.txt", check=self)

    def to_markdown(self) -> str:
        """Return the report as one Markdown document."""
        return render("draft_check.md", check=self)

    def to_html(self) -> str:
        """Return the report as a web page that loads nothing from elsewhere."""
        return render("draft_check.html", check=self)

    def _json(self) -> dict[str, object]:
        return {
            "citations": self.judgements,
            "bibliography": self.entries,
            "counts": self.counts,
            "sentences": self.n_sentences,
            "method": self.method,
            "partial": self.partial,
            "notes": self.notes,
        }


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

    @property
    def verdict(self) -> str:
        """Verdict in one or two words, such as "Very likely", or which model judged the paper."""
        if self.judged_by != "similarity":
            return f"Judged by {self.judged_by}"
        return self.reason.rstrip(".").partition(";")[0] or "Not judged"


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
    outside: tuple[Crawled, ...] = ()  # papers of arXiv or ADS that the atlas does not have

    @property
    def selected(self) -> tuple[Crawled, ...]:
        """Papers that are relevant to the question, best first."""
        return tuple(crawled for crawled in self.crawled if crawled.selected)

    @property
    def papers(self) -> tuple[Paper, ...]:
        """Selected papers as `Paper` objects, best first."""
        return tuple(crawled.paper for crawled in self.selected)

    @property
    def results(self) -> Results:
        """Selected papers as search results, which can be used for figures and exports."""
        ranked = enumerate(self.selected, start=1)
        hits = tuple(Hit(rank, crawled.paper, crawled.score) for rank, crawled in ranked)
        settings = dict(self.settings)
        return Results(self.question, hits, self.coverage, settings, seconds=self.spent.seconds)

    @property
    def table(self) -> pd.DataFrame:
        """Table of the judged papers as in `crawled`. Only selected papers have a rank."""
        return serializer.to_table(
            self._columns(), rank="Int64", year="Int16", depth="int64", selected="bool"
        )

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
        return tuple(crawled for crawled in self.crawled if crawled.parent == key)

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
        is_used = any(crawled.judged_by == "similarity" for crawled in self.selected)
        return (*self.notes, _MEANING_OF_REASONS) if is_used else self.notes

    def origin_of(self, crawled: Crawled) -> str:
        """Describe how a paper was found, to complete a sentence that begins with "Found"."""
        if crawled.how == "seed":
            return "as a starting paper"
        if crawled.parent:
            parent = self.paper_of(crawled.parent)
            name = crawled.parent if parent is None else parent.short_name
            return _WAYS[crawled.how].format(name, crawled.section)
        if crawled.query is None:
            return crawled.how
        search = self.searches[crawled.query]
        is_question = search.by == "question"
        return "by the question itself" if is_question else f"by the search “{search.text}”"

    def reason_for(self, crawled: Crawled) -> str:
        """Describe the score of a paper, the reason for it, and how the paper was found."""
        score = "" if crawled.judged_by == "similarity" else f"{crawled.score:.2f}. "
        return " ".join(f"{score}{crawled.reason} Found {self.origin_of(crawled)}.".split())

    def to_bibtex(self) -> str:
        """Return the selected papers as BibTeX entries."""
        return self.results.to_bibtex()

    def to_csv(self) -> str:
        """Return all judged papers as CSV. Spreadsheet formulas in the texts are disabled."""
        return serializer.to_csv(self.table)

    def to_markdown(self) -> str:
        """Return the papers, searches and coverage as one Markdown document."""
        return render("survey.md", survey=self)

    def to_text(self, *, most: int = 50, reasons: bool = False, width: int | None = None) -> str:
        """Return the best papers as text for a terminal, the most likely first.

        Parameters
        ----------
        most : int, default 50
            Maximum number of papers.
        reasons : bool, default False
            Add the reason for the verdict on each paper, and how it was found.
        width : int, optional
            Characters of a line, by default the width of the terminal. Links are not broken.

        Returns
        -------
        str
        """
        listed = self.selected[:most]
        groups: dict[str, list[Crawled]] = defaultdict(list)
        for one in sorted(listed, key=lambda one: _verdict_order(one.verdict)):
            groups[one.verdict].append(one)
        text = render(
            "survey.txt",
            survey=self,
            most=most,
            reasons=reasons,
            ranks={one.key: rank for rank, one in enumerate(listed, start=1)},
            groups=groups,
        )
        width = width or shutil.get_terminal_size((80, 24)).columns
        return "\n".join(_wrapped(line, width) for line in text.split("\n"))

    @cached_property
    def _by_key(self) -> Mapping[str, Paper]:
        return {crawled.key: crawled.paper for crawled in self.crawled}

    def _columns(self) -> dict[str, Sequence[object]]:
        crawled = self.crawled
        papers = [each.paper for each in crawled]
        ranks = enumerate(crawled, start=1)
        searches = [None if each.query is None else self.searches[each.query] for each in crawled]
        return {
            "rank": [rank if each.selected else None for rank, each in ranks],
            "paper_id": [paper.paper_id for paper in papers],
            **_titles(papers),
            **_identifiers(papers),
            "selected": [each.selected for each in crawled],
            "score": [each.score for each in crawled],
            "reason": [each.reason for each in crawled],
            "judged_by": [each.judged_by for each in crawled],
            "how": [each.how for each in crawled],
            "parent": [each.parent for each in crawled],
            "search": [search.text if search else "" for search in searches],
            "depth": [each.depth for each in crawled],
            "section": [each.section for each in crawled],
            "url": [paper.url for paper in papers],
        }

    def _json(self) -> dict[str, object]:
        columns = {**self._columns(), "expanded": [each.expanded for each in self.crawled]}
        return {
            "question": self.question,
            "partial": self.partial,
            "papers": [
                dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
            ],
            "searches": self.searches,
            "beyond": [
                {
                    "name": stub.paper_id,
                    "title": stub.title,
                    "year": stub.year,
                    "citing": int(stub.score),
                }
                for stub in self.beyond
            ],
            "found": self.n_found,
            "spent": self.spent,
            "settings": self.settings,
            "coverage": self.coverage,
            "notes": self.notes,
            "outside": [
                {**one.paper.to_dict(), "selected": one.selected, "score": one.score,
                 "reason": one.reason}
                for one in self.outside
            ],
        }  # fmt: skip

    def outside_to_jsonl(self) -> str:
        """Return the selected papers outside the atlas as JSON lines for `landscape update`."""
        names = ("title", "abstract", "authors", "date", "bibcode", "arxiv_id", "doi", "journal")
        rows = [
            {name: serializer.plain(getattr(one.paper, name)) for name in names}
            for one in self.outside
            if one.selected
        ]
        return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)

    def __len__(self) -> int:
        return len(self.selected)

    def _repr_html_(self) -> str:
        return render("survey.html", survey=self, most=50)


@dataclass(frozen=True)
class DigestPaper(Record):
    """New paper for a reader, with the reasons why it is listed."""

    paper: Paper
    reasons: tuple[str, ...]
    region: str = ""  # name of its region on the map
    unusual: str = ""  # how it differs from earlier papers, or ""
    status: str = ""  # whether it is published, retracted, ...; and the mark of the reader
    score: float = 0.0

    def _json(self) -> dict[str, object]:
        return {
            "paper": self.paper,
            "reasons": self.reasons,
            "region": self.region,
            "unusual": self.unusual,
            "status": self.status,
            "score": round(self.score, 3),
        }


@dataclass(frozen=True)
class DigestGroup(Record):
    """Group of a digest; `n_papers` counts also the papers that are not listed."""

    name: str
    papers: tuple[DigestPaper, ...]
    n_papers: int

    def _json(self) -> dict[str, object]:
        return {"name": self.name, "n_papers": self.n_papers, "papers": self.papers}


@dataclass(frozen=True, kw_only=True)
class Digest(Record):
    """New papers of an atlas for a reader, in groups; see `landscape.overlays.library.make_digest`.

    Attributes
    ----------
    reader : str
        Name of the library, text, region or filter for which the papers are chosen.
    since, until : date or None
        First and last day on which the papers arrived in the atlas.
    n_new : int
        Number of papers that arrived.
    groups : tuple of DigestGroup
    topics : tuple of str
        New topics of these months, one sentence each.
    changes : tuple of str
        Regions that changed in this time, one sentence each.
    notes : tuple of str
        What the selection is based on, and what is not known.
    coverage : Coverage
    """

    reader: str
    since: date | None
    until: date | None
    n_new: int
    groups: tuple[DigestGroup, ...]
    topics: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    coverage: Coverage

    @property
    def papers(self) -> tuple[Paper, ...]:
        """All listed papers."""
        return tuple(one.paper for group in self.groups for one in group.papers)

    @property
    def headline(self) -> str:
        """Number of new papers, their days of arrival, and the reader."""
        last = (
            self.until
            if self.n_new and self.until and self.until >= (self.since or date.min)
            else None
        )
        days = " to ".join(dict.fromkeys(str(day) for day in (self.since, last) if day))
        when = f" ({days})" if days else ""
        return f"{count(self.n_new, 'new paper')}{when} for {self.reader}"

    @property
    def table(self) -> pd.DataFrame:
        """Listed papers, one per row, with their group and reasons."""
        listed = [(group.name, one) for group in self.groups for one in group.papers]
        columns: dict[str, Sequence[object]] = {"group": [name for name, _ in listed]}
        columns |= _titles([one.paper for _, one in listed])
        columns |= {
            "region": [one.region for _, one in listed],
            "reasons": [one.reasons for _, one in listed],
            "unusual": [one.unusual for _, one in listed],
            "status": [one.status for _, one in listed],
            "score": [one.score for _, one in listed],
            "paper_id": [one.paper.paper_id for _, one in listed],
        }
        return serializer.to_table(columns, year="Int64")

    def to_text(self) -> str:
        """Format the digest for a terminal."""
        return render("digest.txt", digest=self)

    def to_markdown(self) -> str:
        """Format the digest for a chat or a mail."""
        return render("digest.md", digest=self)

    def to_page(self) -> str:
        """Format the digest as a web page without other files."""
        return render("digest_page.html", digest=self)

    def to_atom(self) -> str:
        """Format the digest as an Atom feed (RFC 4287), with one entry per paper."""
        return render("digest.xml", digest=self, time=f"{self.until or date.today()}T00:00:00Z")

    def to_bibtex(self) -> str:
        """Write the listed papers as BibTeX."""
        return bibliography.to_bibtex(self.papers)

    def __len__(self) -> int:
        return len(self.papers)

    def _repr_html_(self) -> str:
        return render("digest.html", digest=self)

    def _json(self) -> dict[str, object]:
        return {
            "reader": self.reader,
            "since": self.since,
            "until": self.until,
            "n_new": self.n_new,
            "topics": self.topics,
            "changes": self.changes,
            "groups": self.groups,
            "notes": self.notes,
            "coverage": self.coverage,
        }


@dataclass(frozen=True)
class Analysis(Record):
    """Result of an analysis, with a main table, its caption, the coverage and warnings.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"facility": ["ALMA"], "share": [0.25]})
    >>> impact = Analysis("impact", table, "Share of papers.", {"papers": 8}, {"generated": True})
    >>> print(impact.to_text())
    Share of papers.
    Facility  Share (%)
    ALMA             25
    Based on 8 papers.
    Generated demo corpus: these papers do not exist.
    """

    kind: str  # name of the analysis, such as ``"impact"`` or ``"reviews"``
    table: pd.DataFrame
    caption: str  # description of the table in one or two sentences
    # Denominators of fractions, such as ``{"papers": 4000, "papers with a facility": 1200}``
    denominators: Mapping[str, int]
    bounds: Mapping[str, object]  # title, papers, sources and dates of the atlas
    warnings: tuple[str, ...] = ()  # limitations of the result, one sentence each
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)  # tables for figures

    @property
    def notes(self) -> tuple[str, ...]:
        """Denominators and warnings, with a note if the corpus is synthetic."""
        counts = join_names([f"{n:,} {what}" for what, n in self.denominators.items()])
        generated = GENERATED if self.bounds.get("generated") else ""
        return tuple(filter(None, (counts and f"Based on {counts}.", *self.warnings, generated)))

    def to_csv(self) -> str:
        """Return the main table as CSV, after the caption and notes in comment lines (``#``)."""
        lines = [self.caption, *self.notes]
        return "".join(f"# {line}\n" for line in lines) + serializer.to_csv(self.table)

    def to_latex(self) -> str:
        r"""Return up to 8 columns and 40 rows as a LaTeX ``table``, for the package booktabs."""
        return serializer.to_latex(self.table, self.kind, self.caption, self.notes)

    @property
    def sections(self) -> list[serializer.Section]:
        """Title, headings and rows of the tables that pages show, as text."""
        named = {f"{self.kind}.{name}": table for name, table in self.tables.items()}
        shown = {kind: table for kind, table in named.items() if kind in serializer.SHOWN}
        return serializer.to_sections({self.kind: self.table, **shown})

    def to_markdown(self) -> str:
        """Return the caption, the notes and the shown columns of the tables as Markdown."""
        return render("analysis.md", analysis=self)

    def to_text(self, *, columns: Sequence[str] = (), width: int | None = None) -> str:
        """Return the main table as text for a terminal. Intervals are in brackets.

        Parameters
        ----------
        columns : sequence of str, optional
            Names of columns of ``table``, by default the main ones.
        width : int, optional
            Characters of a line, by default the width of the terminal.

        Returns
        -------
        str

        Raises
        ------
        InputError
            If a column is unknown.
        """
        width = width or shutil.get_terminal_size((100, 24)).columns
        rows = "The table has no rows."
        if len(self.table):
            rows = serializer.to_text(self.table, self.kind, columns=columns, width=width)
        wrap = TextWrapper(width, break_long_words=False, break_on_hyphens=False).fill
        above, *below = map(wrap, (self.caption, *self.notes))
        return "\n".join([above, rows, *below])

    def _repr_html_(self) -> str:
        return render("analysis.html", analysis=self, table=serializer.to_html(self.table))

    def _json(self) -> dict[str, object]:
        return {
            "kind": self.kind,
            "caption": self.caption,
            "denominators": self.denominators,
            "bounds": self.bounds,
            "warnings": self.warnings,
            "table": self.table,
            "tables": self.tables,
        }


_NUMBERED = re.compile(r" +(?:\d+\. )?")  # the number of a paper, but not one of its title
_VERDICTS = ("Very likely", "Likely", "Possible")


def _verdict_order(verdict: str) -> tuple[bool, int]:
    """Sort verdicts from a language model first, then those by similarity."""
    known = verdict in _VERDICTS
    return known, _VERDICTS.index(verdict) if known else 0


def _wrapped(line: str, width: int) -> str:
    """Wrap a line; the indent of further lines is that of the text after a number."""
    start = _NUMBERED.match(line)
    indent = " " * len(start[0]) if start else ""
    return TextWrapper(
        width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    ).fill(line)


def _titles(papers: Sequence[Paper]) -> dict[str, list[object]]:
    return {
        "title": [paper.title for paper in papers],
        "authors": [paper.authors for paper in papers],
        "year": [paper.year for paper in papers],
    }


def _identifiers(papers: Sequence[Paper]) -> dict[str, list[object]]:
    return {
        "bibcode": [paper.bibcode for paper in papers],
        "arxiv_id": [paper.arxiv_id for paper in papers],
        "doi": [paper.doi for paper in papers],
    }


def _joined(quotations: Iterable[Evidence | Highlight]) -> str:
    return " ".join(quotation.text for quotation in quotations)


_PAPER_FORMATS: Mapping[str, Callable[[Results], str]] = {
    ".bib": Results.to_bibtex,
    ".ris": Results.to_ris,
    ".tex": Results.to_aastex,
    ".txt": Results.to_bibcodes,
}


def check_results_file(path: str | os.PathLike[str], *, is_survey: bool = False) -> Path:
    """Check before a search that `write_results` can write a file, or raise InputError."""
    endings = (*_PAPER_FORMATS, ".csv", ".json", *([".md"] if is_survey else []))
    return check_output(path, endings, what="A survey" if is_survey else "Papers")


def write_results(results: Results | Survey, path: str | os.PathLike[str]) -> Path:
    """Write the `Results` of a search, or a `Survey`, in the format of the file extension.

    ``.bib``, ``.ris``, ``.tex`` (AASTeX) and ``.txt`` (bibcodes) files contain the papers of a
    search, or the selected papers of a survey. ``.csv`` files contain all judged papers of a
    survey. ``.json`` and ``.md`` files contain all fields. If there is no paper to write, an
    existing file is not changed.
    """
    is_survey = isinstance(results, Survey)
    path = check_results_file(path, is_survey=is_survey)
    papers = results.results if isinstance(results, Survey) else results
    ending = path.suffix.lower()
    if not len(papers) and (ending in _PAPER_FORMATS or not is_survey):
        raise InputError(f"No paper was found; {path} is unchanged. Try another question.")
    if ending in _PAPER_FORMATS:
        text = _PAPER_FORMATS[ending](papers)
    elif ending == ".csv":
        text = serializer.to_csv(results.table)
    elif isinstance(results, Survey) and ending == ".md":
        text = results.to_markdown()
    else:
        text = serializer.to_json(results)
    return write_output(path, text if text.endswith("\n") or not text else f"{text}\n")


def count_written(papers: Results, path: Path) -> str:
    """Return a message with the numbers of written and omitted papers."""
    left_out = len(papers) - len(papers.to_bibcodes().split()) if path.suffix == ".txt" else 0
    without = f"; {left_out:,} without a bibcode are omitted" if left_out else ""
    return f"{path} contains {count(len(papers) - left_out, 'paper')}{without}"


_REPORT_FORMATS: Mapping[str, Callable[[DraftCheck], str]] = {
    ".md": DraftCheck.to_markdown,
    ".html": DraftCheck.to_html,
    ".json": serializer.to_json,
}


def check_report_file(path: str | os.PathLike[str]) -> Path:
    """Check before a long check that `write_report` can write a file, or raise InputError."""
    return check_output(path, _REPORT_FORMATS, what="A report on a draft")


def write_report(check: DraftCheck, path: str | os.PathLike[str]) -> Path:
    """Write the result of a draft check in the format of the file extension."""
    path = check_report_file(path)
    return write_output(path, _REPORT_FORMATS[path.suffix.lower()](check).rstrip("\n") + "\n")
