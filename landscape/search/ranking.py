"""Rankings of papers: fusion, weights and reranking."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    from landscape.search.settings import SearchSettings, Weights

    Rows = NDArray[np.int64]


@dataclass(frozen=True)
class RankingSettings:
    """Constants of the ranking.

    Values of `semantic_share` between 0.6 and 0.7 give equal results on our test questions; see
    `landscape.evaluation`. The rank constant is from Cormack, Clarke and Buettcher (SIGIR 2009).
    The pathfinder paper (Iyer et al. 2024) applies weights to 1,000 papers and reranks 250 papers.
    """

    semantic_share: float = 0.65  # share of cosines in the fused score; the rest is for words
    rank_constant: int = 60
    late_interaction: float = 1.5  # weight relative to the sum of word scores and cosines
    candidates: int = 300  # number of papers from each method
    weighed: int = 1_000  # number of papers that weights can reorder
    reranked: int = 100
    reranked_like_pathfinder: int = 250


RANKING = RankingSettings()


# Maximum effect of a weight, as a share of the range of scores. It reorders papers only if their
# scores are similar.
_MAX_LIFT = 0.15
_HALF_LIFE = 8.0  # years
_MANY_CITATIONS = 1000.0


def apply_weights(
    scores: Floats,
    weights: Weights,
    *,
    keyword: Floats | None = None,
    age: Floats | None = None,
    citations: Floats | None = None,
) -> Floats:
    """Multiply scores by the weights of recency, citations and keywords, shape (n,)."""
    given = {"keyword": keyword, "time": age, "citation": citations}
    formulas = _PATHFINDER if weights.compat == "pathfinder" else _BOUNDED
    lifts = {
        name: formulas[name](values)
        for name in weights.names
        if (values := given[name]) is not None
    }
    if weights.compat == "pathfinder":
        return np.prod([scores, *lifts.values()], axis=0)
    spread = _MAX_LIFT * float(np.ptp(scores)) if len(scores) else 0.0
    return scores + spread * sum(getattr(weights, n) * lift for n, lift in lifts.items())


def recency(age: Floats) -> Floats:
    """Return weights that are halved for every eight years of age."""
    return np.nan_to_num(0.5 ** (np.maximum(age, 0.0) / _HALF_LIFE), nan=0.0)


def standing(citations: Floats) -> Floats:
    """Return logarithmic weights of citation counts. The weight of 1,000 or more citations is 1."""
    counted = np.nan_to_num(citations, nan=0.0)
    return np.minimum(np.log1p(np.maximum(counted, 0.0)) / np.log1p(_MANY_CITATIONS), 1.0)


def pathfinder_recency(age: Floats) -> Floats:
    """Return the time weight of pathfinder, 1 / (1 + exp(age / 0.7 yr)) (Iyer et al. 2024)."""
    return 1.0 / (1.0 + np.exp(np.minimum(np.nan_to_num(age, nan=np.inf) / 0.7, 700.0)))


def pathfinder_standing(citations: Floats) -> Floats:
    """Return the citation weight of pathfinder, 1 / (1 + exp((300 - n) / 42))."""
    exponent = (300.0 - np.nan_to_num(citations, nan=0.0)) / 42.0
    return 1.0 / (1.0 + np.exp(np.minimum(exponent, 700.0)))


_Formulas = dict[str, Callable[["Floats"], "Floats"]]
_BOUNDED: _Formulas = {"keyword": np.positive, "time": recency, "citation": standing}
_PATHFINDER: _Formulas = {
    "keyword": np.positive,
    "time": pathfinder_recency,
    "citation": pathfinder_standing,
}


def fuse_scores(
    semantic: Floats, words: Floats, *, share: float = RANKING.semantic_share
) -> Floats:
    """Add cosines and scaled word scores, weighted by their shares."""
    largest = float(words.max(initial=0.0))
    return share * semantic + (1.0 - share) * (words / largest if largest > 0 else 0.0)


def fuse_ranks(rankings: Sequence[Floats]) -> Floats:
    """Fuse rankings by adding reciprocal ranks."""
    total = np.zeros(len(rankings[0]) if rankings else 0)
    for scores in rankings:
        ranks = np.empty(len(scores))
        ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
        total += np.where(np.isfinite(scores), 1.0 / (RANKING.rank_constant + ranks), 0.0)
    return total


def standardised(scores: Floats) -> Floats:
    """Shift and scale scores to mean 0 and variance 1, so that different scores can be added."""
    spread = float(scores.std()) if len(scores) else 0.0
    centred: Floats = scores - scores.mean() if len(scores) else scores
    return centred / spread if spread > 1e-12 else np.zeros(len(scores))


@dataclass(frozen=True)
class Ranking:
    """Rows, total scores and partial scores of papers."""

    rows: Rows
    scores: Floats
    parts: Mapping[str, Floats]

    def sorted(self) -> Ranking:
        """Return the papers sorted by score, highest first."""
        return self.taken(np.argsort(-self.scores, kind="stable"))

    def taken(self, which: NDArray[np.integer] | slice) -> Ranking:
        """Return the papers at the given positions, in this order."""
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
    """Multiply the scores of a ranking by the weights of recency, citations and keywords."""
    scores = apply_weights(ranking.scores, weights, **facts)
    return Ranking(ranking.rows, scores, {**ranking.parts, **facts})


def reranked(ranking: Ranking, judged: Floats, total: Floats) -> Ranking:
    """Reorder the highest-ranked papers by new scores; keep the order of the other papers."""
    order = np.argsort(-total, kind="stable")
    tail = np.arange(len(total), len(ranking))
    behind = total.min(initial=0.0) - 1.0 - np.arange(len(tail))
    whole = ranking.taken(np.concatenate([order, tail]))
    scores = np.concatenate([judged[order], np.full(len(tail), np.nan)])
    return Ranking(
        whole.rows, np.concatenate([total[order], behind]), {**whole.parts, "rerank": scores}
    )


def word_by_word(first: Ranking, matched: Floats, weights: Weights) -> Floats:
    """Return the sum of late-interaction scores, scores of the first ranking, and weights."""
    before = standardised(first.parts["words"]) + standardised(first.parts["semantic"])
    total: Floats = before + RANKING.late_interaction * standardised(matched)
    relevance = first.parts["relevance"]
    is_pathfinder = weights.compat == "pathfinder"
    lift = np.zeros(len(first)) if is_pathfinder else first.scores - relevance
    spread = float(np.ptp(relevance)) or 1.0
    return total + lift * (float(np.ptp(total)) / spread)
