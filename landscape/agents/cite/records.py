"""What the writer's desk hands back: papers with highlights and, with a model, sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from landscape.query.records import Coverage, Evidence, Paper, Verdict

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Highlight:
    """A sentence of a paper that matters.

    Attributes
    ----------
    text : str
    start, end : int
        Characters of the text that it is from, the stored abstract or the full text given.
    score : float
        How much it matters, comparable within one paper only.
    matters : {"context", "paper"}
        Whether it is here because of the context or because of its paper as a whole.
    """

    text: str
    start: int
    end: int
    score: float
    matters: Literal["context", "paper"]


@dataclass(frozen=True)
class CitingSentence:
    """A sentence that cites a paper, written by a language model and checked.

    Attributes
    ----------
    text : str
        Without the citation itself.
    evidence : tuple of Evidence
        Sentences of the paper that bear it out; never empty.
    verdict : Verdict
        What the check said.
    """

    text: str
    evidence: tuple[Evidence, ...]
    verdict: Verdict


@dataclass(frozen=True)
class Suggestion:
    """A paper to cite.

    Attributes
    ----------
    rank : int
        From 1.
    paper : Paper
    corpus : str
        Where it was found.
    also_in : tuple of str
        Other corpora that hold it.
    score : float
        Comparable within one result only.
    highlights : tuple of Highlight
        In reading order.
    sentence : CitingSentence or None
        None without a language model, and where none could be written that the paper bears out.
    """

    rank: int
    paper: Paper
    corpus: str
    score: float
    also_in: tuple[str, ...] = ()
    highlights: tuple[Highlight, ...] = ()
    sentence: CitingSentence | None = None


@dataclass(frozen=True)
class Citing:
    """Papers to cite at a place in a text.

    Attributes
    ----------
    context : str
    keywords : str or None
        As a filter is written.
    suggestions : tuple of Suggestion
        Best first.
    coverage : mapping of str to Coverage
        What was searched, by corpus.
    method : str
        ``"offline"``, or the language model that wrote the sentences.
    partial : bool
        Whether the model failed before its sentences were written and checked.
    notes : tuple of str
    seconds : float
    """

    context: str
    keywords: str | None
    suggestions: tuple[Suggestion, ...]
    coverage: Mapping[str, Coverage]
    method: str
    partial: bool = False
    notes: tuple[str, ...] = ()
    seconds: float = field(default=0.0, compare=False)

    @property
    def papers(self) -> tuple[Paper, ...]:
        """The papers, best first."""
        return tuple(one.paper for one in self.suggestions)

    @property
    def table(self) -> pd.DataFrame:
        """One row a paper: ``rank, title, authors, year, label, corpus, also_in, score``..."""
        import pandas as pd

        columns = ["rank", "title", "authors", "year", "label", "corpus", "also_in", "score",
                   "highlights", "sentence", "url"]  # fmt: skip
        rows = [
            (one.rank, one.paper.title, "; ".join(one.paper.authors), one.paper.year,
             one.paper.label, one.corpus, "; ".join(one.also_in), one.score,
             " ".join(h.text for h in one.highlights),
             one.sentence.text if one.sentence else None, one.paper.url)
            for one in self.suggestions
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=columns).astype({"year": "Int16"})

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        from landscape.agents.writing import citing_as_dict

        return citing_as_dict(self)

    def to_text(self) -> str:
        """Papers with their highlights, for a terminal."""
        from landscape.agents.writing import citing_as_text

        return citing_as_text(self)

    def to_bibtex(self) -> str:
        """The papers as BibTeX entries."""
        from landscape.query.citing import to_bibtex

        return to_bibtex(self.papers)

    def __len__(self) -> int:
        return len(self.suggestions)

    def _repr_html_(self) -> str:
        from landscape.agents.html import citing_as_html

        return citing_as_html(self)
