"""What checking a draft gives: a verdict for each citation, and where one seems to be missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from landscape.query.records import Evidence, Paper

if TYPE_CHECKING:
    import pandas as pd

    from landscape.agents.cite.records import Suggestion

Judged = Literal[
    "supported", "unclear", "contradicted", "near", "far", "not in the corpus",
    "not in the bibliography",
]  # fmt: skip
"""Without a language model only the last four: being near is not being supported."""


@dataclass(frozen=True)
class Judgement:
    """One cited paper of one sentence.

    Attributes
    ----------
    key : str
        Of the bibliography.
    line : int
        Of the draft.
    sentence, part : str
        The sentence, and what of it the citation stands for.
    verdict : Judged
    paper : Paper or None
        None where neither the corpora nor the bibliography know what it says.
    evidence : tuple of Evidence
        Sentences of its abstract.
    nearness : float or None
        Cosine of sentence and paper, where both have a vector.
    why : str
        In a few words.
    """

    key: str
    line: int
    sentence: str
    part: str
    verdict: Judged
    paper: Paper | None = None
    evidence: tuple[Evidence, ...] = ()
    nearness: float | None = None
    why: str = ""


@dataclass(frozen=True)
class Uncited:
    """A sentence that seems to need a citation.

    Attributes
    ----------
    line : int
    sentence : str
    why : str
        The words that make it seem so.
    candidates : tuple of Suggestion
    """

    line: int
    sentence: str
    why: str
    candidates: tuple[Suggestion, ...] = ()


@dataclass(frozen=True)
class DraftCheck:
    """What was found in a draft.

    Attributes
    ----------
    judgements : tuple of Judgement
        In the order of the draft.
    uncited : tuple of Uncited
    method : str
        ``"offline"``, or the language model.
    partial : bool
        Whether the model failed before all citations were judged; the others are near or far.
    notes : tuple of str
    n_sentences : int
        Sentences of the draft.
    sought : bool
        Whether sentences without a citation were looked for.
    """

    judgements: tuple[Judgement, ...]
    uncited: tuple[Uncited, ...]
    method: str
    partial: bool = False
    notes: tuple[str, ...] = ()
    n_sentences: int = 0
    sought: bool = False

    @property
    def counts(self) -> dict[str, int]:
        """Citations by verdict."""
        counted: dict[str, int] = {}
        for one in self.judgements:
            counted[one.verdict] = counted.get(one.verdict, 0) + 1
        return counted

    @property
    def table(self) -> pd.DataFrame:
        """One row a citation: ``line, key, verdict, sentence, evidence, title, why``."""
        import pandas as pd

        rows = [
            (one.line, one.key, one.verdict, one.sentence,
             " ".join(piece.text for piece in one.evidence),
             one.paper.title if one.paper else None, one.why)
            for one in self.judgements
        ]  # fmt: skip
        names = ["line", "key", "verdict", "sentence", "evidence", "title", "why"]
        return pd.DataFrame(rows, columns=names)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        from landscape.agents.checking.writing import check_as_dict

        return check_as_dict(self)

    def to_text(self) -> str:
        """Line by line, for a terminal."""
        from landscape.agents.checking.writing import check_as_text

        return check_as_text(self)
