"""Rankings of papers: fusion, weights and reranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from landscape.errors import InputError, require
from landscape.search._settings import Weights, apply_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    from landscape.search._settings import SearchSettings

    Rows = NDArray[np.int64]

SEMANTIC_SHARE = 0.65
"""Of the fused score; the rest is words. Flat between 0.6 and 0.7 on our questions."""

_RANK_CONSTANT = 60

_WORD_BY_WORD = 1.5  # weight of late interaction beside words and cosines


def fuse_scores(semantic: Floats, words: Floats, *, share: float = SEMANTIC_SHARE) -> Floats:
    """Add cosines and word scores."""
    largest = float(words.max(initial=0.0))
    fused: Floats = share * semantic + (1.0 - share) * (words / largest if largest > 0 else 0.0)
    return fused


def fuse_ranks(rankings: Sequence[Floats]) -> Floats:
    """Fuse scores by reciprocal ranks."""
    total = np.zeros(len(rankings[0]) if rankings else 0)
    for scores in rankings:
        ranks = np.empty(len(scores))
        ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
        total += np.where(np.isfinite(scores), 1.0 / (_RANK_CONSTANT + ranks), 0.0)
    return total


def standardised(scores: Floats) -> Floats:
    """Shift and scale scores to mean 0 and variance 1, so that different ones can be added."""
    spread = float(scores.std()) if len(scores) else 0.0
    centred: Floats = scores - scores.mean() if len(scores) else scores
    return centred / spread if spread > 1e-12 else np.zeros(len(scores))


class Reranker(Protocol):
    """Score how well each text answers a query.

    The built-in late interaction needs no object of this kind: its vectors are in the atlas.
    """

    @property
    def name(self) -> str:
        """Name of the model, shown in the settings of a result."""

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Score texts, shape (n,); higher is better, comparable within one call only."""


def load_reranker(spec: str) -> Reranker:
    """Load a reranker by its name.

    Parameters
    ----------
    spec : str
        ``"cohere:MODEL"``, a server that speaks Cohere's protocol, see
        `landscape.llm._reranking.HttpReranker` for its address and key; or
        ``"cross-encoder:NAME_OR_PATH"``. Plain ``"cohere"`` takes the model of the environment.

    Returns
    -------
    Reranker

    Raises
    ------
    InputError
        There is no such kind, no key, or no such model.
    MissingExtraError
        The package that it needs is not installed.

    Examples
    --------
    >>> load_reranker("magic:8-ball")
    Traceback (most recent call last):
    landscape.errors.InputError: There is no reranker 'magic:8-ball'; use cohere:MODEL or ...
    """
    kind, _, detail = spec.partition(":")
    if kind == "cohere":
        from landscape.llm._reranking import HttpReranker

        return HttpReranker(model=detail or None)
    if kind == "cross-encoder" and detail:
        return CrossEncoderReranker(detail)
    message = (
        f"There is no reranker {spec!r}; use cohere:MODEL or cross-encoder:NAME_OR_PATH, such as "
        "cross-encoder:cross-encoder/ms-marco-MiniLM-L-6-v2."
    )
    raise InputError(message)


def judge(reranker: Reranker, query: str, texts: Sequence[str]) -> NDArray[np.float64]:
    """Score texts, and check that each has a finite score."""
    given = np.asarray(reranker.scores(query, texts), dtype=np.float64)
    broken = int((~np.isfinite(given)).sum())
    if given.shape != (len(texts),) or broken:
        message = (
            f"{reranker.name} gave scores of shape {given.shape} for {len(texts)} texts, "
            f"{broken} of them no numbers."
        )
        raise InputError(message)
    return given


class CrossEncoderReranker:
    """Any cross-encoder of sentence-transformers, by local path or by name."""

    def __init__(self, model: str, *, device: str | None = None) -> None:
        library = require("sentence_transformers", "models")
        try:
            self._model = library.CrossEncoder(model, device=device)
        except (OSError, ValueError) as error:
            first = str(error).splitlines()[0] if str(error) else type(error).__name__
            message = (
                f"The cross-encoder {model!r} cannot be loaded ({first}); give the folder of one, "
                "or its name while there is a network."
            )
            raise InputError(message) from error
        self._name = model

    @property
    def name(self) -> str:
        """The model."""
        return self._name

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Score texts."""
        if not texts:
            return np.zeros(0, dtype=np.float32)
        pairs = [(query, text) for text in texts]
        found = self._model.predict(pairs, show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(found, dtype=np.float32)


@dataclass(frozen=True)
class Ranking:
    """Rows, total scores and partial scores of papers."""

    rows: Rows
    scores: Floats
    parts: Mapping[str, Floats]

    def sorted(self) -> Ranking:
        """Sort by score, highest first."""
        return self.taken(np.argsort(-self.scores, kind="stable"))

    def taken(self, which: NDArray[np.integer] | slice) -> Ranking:
        """Take some of the papers, or all in another order."""
        parts = {name: values[which] for name, values in self.parts.items()}
        return Ranking(self.rows[which], self.scores[which], parts)

    def __len__(self) -> int:
        return len(self.rows)


def fused(rows: Rows, semantic: Floats, words: Floats, settings: SearchSettings) -> Ranking:
    """Rank papers by the fused score of cosines and words."""
    relevance = _relevance(semantic, words, settings)
    parts = {"semantic": semantic, "words": words, "relevance": relevance}
    return Ranking(rows, relevance, parts)


def _relevance(semantic: Floats, words: Floats, settings: SearchSettings) -> Floats:
    if np.isnan(semantic).any() or settings.method == "words":
        return fuse_scores(np.zeros(len(words)), words, share=0.0)
    if settings.method == "semantic":
        return semantic
    if settings.fusion == "ranks":
        return fuse_ranks([semantic, np.where(words > 0, words, -np.inf)])
    return fuse_scores(semantic, words)


def weighed(ranking: Ranking, weights: Weights, facts: Mapping[str, Floats]) -> Ranking:
    """Apply weights to a ranking."""
    scores = apply_weights(ranking.scores, weights, **facts)
    return Ranking(ranking.rows, scores, {**ranking.parts, **facts})


def reranked(ranking: Ranking, judged: Floats, total: Floats) -> Ranking:
    """Reorder the first papers; the others follow."""
    order = np.argsort(-total, kind="stable")
    tail = np.arange(len(total), len(ranking))
    behind = total.min(initial=0.0) - 1.0 - np.arange(len(tail))
    whole = ranking.taken(np.concatenate([order, tail]))
    said = np.concatenate([judged[order], np.full(len(tail), np.nan)])
    return Ranking(
        whole.rows, np.concatenate([total[order], behind]), {**whole.parts, "rerank": said}
    )


def word_by_word(first: Ranking, matched: Floats, weights: Weights) -> Floats:
    """Sum of the late-interaction score, the first scores and the weights."""
    before = standardised(first.parts["words"]) + standardised(first.parts["semantic"])
    total: Floats = before + _WORD_BY_WORD * standardised(matched)
    relevance = first.parts["relevance"]
    is_pathfinder = weights.compat == "pathfinder"
    lift = np.zeros(len(first)) if is_pathfinder else first.scores - relevance
    spread = float(np.ptp(relevance)) or 1.0
    return total + lift * (float(np.ptp(total)) / spread)
