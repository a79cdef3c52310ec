"""Answer a question with sentences quoted from the papers found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.answers._citations import without_labels
from landscape.search._sentences import Score, likeness, says_something, sentences_of, word_scores
from landscape.types import Answer, Claim, Evidence, Results

if TYPE_CHECKING:
    from numpy.typing import NDArray

METHOD = "extractive"
QUOTED = "Sentences quoted from the papers found; no language model is connected."
NOT_ANSWERED = "The papers searched do not answer this question."
_QUOTED_INSTEAD = "Sentences quoted from the papers found."

_LEAST = 0.25  # minimum relevance of a quoted sentence, relative to the best sentence
_RANK_SHARE = 0.2  # share of the relevance that depends on the rank of the paper
_PER_PAPER = 2


def extract_answer(
    question: str,
    results: Results,
    *,
    score: Score | None = None,
    nearest: float | None = None,
    threshold: float | None = None,
    n_sentences: int = 6,
    diversity: float = 0.3,
    notes: tuple[str, ...] = (QUOTED,),
) -> Answer:
    """Quote the best sentences for a question, or abstain.

    Sentences are chosen by maximal marginal relevance (Carbonell & Goldstein 1998), with at most
    two sentences per paper. They are quoted without changes.
    """

    def abstain(reason: str) -> Answer:
        return abstention(question, results, notes=(*notes, reason))

    if nearest is not None and threshold is not None and nearest < threshold:
        return abstain(
            f"No paper of this atlas is near enough to the question. The largest cosine is "
            f"{nearest:.2f}, and an answer needs at least {threshold:.2f}."
        )
    own = [
        [one for one in sentences_of(paper) if says_something(one.text)] for paper in results.papers
    ]
    sentences = [sentence for some in own for sentence in some]
    if not sentences:
        return abstain("No paper with an abstract was found.")
    texts = [sentence.text for sentence in sentences]
    relevance = np.asarray((score or word_scores)(question, texts), dtype=float)
    if not (relevance > 0).any():
        return abstain("No sentence of the papers found is near enough to the question.")
    ranks = np.repeat(np.arange(len(own)), [len(some) for some in own])
    trust = (1.0 - _RANK_SHARE) + _RANK_SHARE * (1.0 / np.sqrt(1.0 + ranks))
    relevance = np.clip(relevance / relevance.max(), 0.0, None) * trust
    chosen = _choose(sentences, relevance, n_sentences=n_sentences, diversity=diversity)
    quoted = [sentences[place] for place in chosen]
    labels = [paper.label for paper in results.papers]
    plain = [" ".join(without_labels(s.text, labels).split()) for s in quoted]
    return Answer(
        question=question,
        text="\n".join(f"- “{t}” [{s.label}]" for t, s in zip(plain, quoted, strict=True)),
        claims=tuple(Claim(s.text, (s.label,), (s,), "supported") for s in quoted),
        results=results,
        method=METHOD,
        style=METHOD,
        notes=notes,
    )


def abstention(
    question: str,
    results: Results,
    *,
    text: str = NOT_ANSWERED,
    method: str = METHOD,
    style: str = METHOD,
    notes: tuple[str, ...] = (),
    **fields: Any,
) -> Answer:
    """Return an answer that states that the papers do not answer the question."""
    return Answer(
        question, text, (), results, method, abstained=True, style=style, notes=notes, **fields
    )


def failure_notes(reason: object) -> tuple[str, ...]:
    """Return notes for an answer that quotes sentences because the language model failed."""
    return f"The language model failed: {reason}", _QUOTED_INSTEAD


def _choose(
    sentences: Sequence[Evidence],
    relevance: NDArray[np.float64],
    *,
    n_sentences: int,
    diversity: float,
) -> list[int]:
    """Return the indices of the sentences to quote, most relevant first."""
    alike = likeness([sentence.text for sentence in sentences])
    repeats = np.zeros(len(sentences))
    open_ = relevance >= _LEAST * relevance.max()
    chosen: list[int] = []
    while open_.any() and len(chosen) < n_sentences:
        gain = np.where(open_, (1.0 - diversity) * relevance - diversity * repeats, -np.inf)
        best = int(gain.argmax())
        chosen.append(best)
        repeats = np.maximum(repeats, alike[best])
        open_[best] = False
        open_ &= repeats < 0.9  # exclude the same sentence from other papers
        taken = [sentences[place].paper_id for place in chosen]
        if taken.count(sentences[best].paper_id) >= _PER_PAPER:
            open_ &= np.array([s.paper_id != sentences[best].paper_id for s in sentences])
    return sorted(chosen, key=lambda place: -relevance[place])
