"""What the attributor hands back: the paper, or its best guesses, with the way to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from landscape.query.records import Coverage, Paper, Step

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Guess:
    """A paper that may be the one.

    Attributes
    ----------
    paper : Paper
    score : float
        How well it fits, comparable within one attribution only.
    reason : str
        Why it is here, in a few words.
    """

    paper: Paper
    score: float
    reason: str = ""


@dataclass(frozen=True)
class Attribution:
    """Which paper an excerpt cites.

    Attributes
    ----------
    excerpt : str
    sentence, clause : str
        What the paper was sought by: the sentence around the mark, and its part of it.
    paper : Paper or None
        The paper; None where it abstains.
    guesses : tuple of Guess
        The best papers, best first; the one selected leads.
    method : str
        ``"offline"``, or the name of the language model.
    partial : bool
        Whether the model failed, or its budget was spent, before it came to a decision.
    trace : tuple of Step
        What was done, in order.
    coverage : Coverage
        What was searched.
    notes : tuple of str
        What the reader should know.
    settings : mapping
        ``source``, ``before``, ``max_actions``...
    seconds : float
    chance : float or None
        How often the first guess is right where the ranking is as clear as this one; None with a
        language model, and where no paper is near.
    """

    excerpt: str
    sentence: str
    clause: str
    paper: Paper | None
    guesses: tuple[Guess, ...]
    method: str
    coverage: Coverage
    partial: bool = False
    trace: tuple[Step, ...] = ()
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    chance: float | None = None

    @property
    def abstained(self) -> bool:
        """Whether no paper was selected."""
        return self.paper is None

    @property
    def papers(self) -> tuple[Paper, ...]:
        """The guesses' papers, best first."""
        return tuple(guess.paper for guess in self.guesses)

    @property
    def table(self) -> pd.DataFrame:
        """One row a guess: ``rank, selected, title, authors, year, label, score, reason, url``."""
        import pandas as pd

        columns = ["rank", "selected", "title", "authors", "year", "label", "score", "reason",
                   "url"]  # fmt: skip
        chosen = None if self.paper is None else self.paper.paper_id
        rows = [
            (rank, guess.paper.paper_id == chosen, guess.paper.title,
             "; ".join(guess.paper.authors), guess.paper.year, guess.paper.label, guess.score,
             guess.reason, guess.paper.url)
            for rank, guess in enumerate(self.guesses, start=1)
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=columns).astype({"year": "Int16"})

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        from landscape.agents.writing import attribution_as_dict

        return attribution_as_dict(self)

    def to_text(self) -> str:
        """The paper or the guesses, and what was searched, for a terminal."""
        from landscape.agents.writing import attribution_as_text

        return attribution_as_text(self)

    def to_bibtex(self) -> str:
        """The selected paper as a BibTeX entry; empty where none was selected."""
        from landscape.query.citing import to_bibtex

        return to_bibtex([self.paper]) if self.paper is not None else ""

    def _repr_html_(self) -> str:
        from landscape.agents.html import attribution_as_html

        return attribution_as_html(self)
