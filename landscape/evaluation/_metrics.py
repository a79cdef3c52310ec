"""Measures of rankings, with confidence intervals."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from landscape.evaluation._questions import Query

MEASURES = ("success@10", "mrr", "recall@50", "ndcg@10")
"""What is reported when nothing else is asked for."""

_MEASURE = re.compile(r"(success|recall|ndcg|mrr|precision)(?:@([1-9]\d{0,5}))?")
_AT_ONCE = 4_000_000  # numbers in one block of resampling, 32 MB


@dataclass(frozen=True)
class Interval:
    """A mean with its confidence interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True)
class Difference:
    """How much better one method is than another on the same questions."""

    mean: float
    low: float
    high: float
    p: float

    def __str__(self) -> str:
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}], p = {self.p:.3g}"


@dataclass(frozen=True)
class Scores:
    """Measures of one method, question by question."""

    qids: tuple[str, ...]
    values: Mapping[str, NDArray[np.float64]]

    def summary(self) -> dict[str, float | int]:
        """``n`` and the mean of every measure, as ``evaluate retrieval --json`` gives them."""
        means = {name: round(float(values.mean()), 6) for name, values in self.values.items()}
        return {"n": len(self.qids), **means}

    def intervals(self, *, level: float = 0.95, seed: int = 0) -> dict[str, Interval]:
        """Every mean with its bootstrap confidence interval."""
        return {
            name: bootstrap_interval(values, level=level, seed=seed)
            for name, values in self.values.items()
        }


def score_rankings(
    queries: Sequence[Query],
    rankings: Mapping[str, Sequence[str]],
    *,
    measures: Sequence[str] = MEASURES,
) -> Scores:
    """Measure rankings against what is relevant."""
    if not queries:
        raise InputError("There are no questions to measure with.")
    parsed = {name: _parse_measure(name) for name in measures}
    depth = max((len(ranking) for ranking in rankings.values()), default=0)
    gains = np.zeros((len(queries), max(depth, 1)))
    for row, query in enumerate(queries):
        ranking = list(rankings.get(query.qid, ()))
        if len(set(ranking)) != len(ranking):
            raise InputError(f"The ranking of question {query.qid!r} names a paper twice.")
        gains[row, : len(ranking)] = [query.grade(paper) for paper in ranking]
    ideal = _ideal_gains(queries)
    values = {
        name: _measured(kind, gains if k is None else gains[:, :k], ideal, k)
        for name, (kind, k) in parsed.items()
    }
    return Scores(tuple(query.qid for query in queries), values)


def bootstrap_interval(
    values: ArrayLike, *, level: float = 0.95, samples: int = 10_000, seed: int = 0
) -> Interval:
    """Mean with a percentile bootstrap interval over questions (Efron & Tibshirani 1993)."""
    array = _numbers(values)
    rng = np.random.default_rng(seed)
    means = np.concatenate(
        [
            array[rng.integers(len(array), size=(block, len(array)))].mean(axis=1)
            for block in _blocks(samples, len(array))
        ]
    )
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(array.mean()), float(low), float(high))


def paired_difference(
    first: ArrayLike,
    second: ArrayLike,
    *,
    level: float = 0.95,
    samples: int = 10_000,
    seed: int = 0,
) -> Difference:
    """Compare two methods on the same questions, by Fisher's randomisation test.

    See Smucker, Allan & Carterette 2007, doi:10.1145/1321440.1321528.
    """
    before, after = _numbers(first), _numbers(second)
    if before.shape != after.shape:
        raise InputError(
            f"The two methods were measured on {len(before)} and {len(after)} questions; measure "
            "both on the same."
        )
    change = after - before
    interval = bootstrap_interval(change, level=level, samples=samples, seed=seed)
    rng = np.random.default_rng(seed + 1)
    as_far = 0
    for block in _blocks(samples, len(change)):
        signs = rng.integers(2, size=(block, len(change)), dtype=np.int8) * 2 - 1
        # A hair of tolerance: sums of the same numbers in another order differ in the last bit.
        as_far += int((np.abs(signs @ change) >= abs(change.sum()) - 1e-9).sum())
    p = (as_far + 1) / (samples + 1)  # the observed labelling is one of them
    return Difference(interval.mean, interval.low, interval.high, p)


def _parse_measure(name: str) -> tuple[str, int | None]:
    found = _MEASURE.fullmatch(name)
    if found is None or (found[2] is None and found[1] != "mrr"):
        raise InputError(
            f"There is no measure {name!r}; write success@10, recall@50, precision@10, ndcg@10, "
            "mrr or mrr@10."
        )
    return found[1], int(found[2]) if found[2] else None


def _measured(
    kind: str, gains: NDArray[np.float64], ideal: NDArray[np.float64], k: int | None
) -> NDArray[np.float64]:
    hits = gains > 0
    if kind == "success":
        return hits.any(axis=1).astype(float)
    if kind == "precision":
        precision: NDArray[np.float64] = hits.sum(axis=1) / float(k or 1)
        return precision
    if kind == "recall":
        recall: NDArray[np.float64] = hits.sum(axis=1) / (ideal > 0).sum(axis=1)
        return recall
    if kind == "mrr":
        return np.where(hits.any(axis=1), 1.0 / (hits.argmax(axis=1) + 1), 0.0)
    ndcg: NDArray[np.float64] = _dcg(gains) / _dcg(ideal[:, :k])
    return ndcg


def _dcg(gains: NDArray[np.float64]) -> NDArray[np.float64]:
    """Discounted cumulative gain: each gain over log2(rank + 1)."""
    total: NDArray[np.float64] = gains @ (1.0 / np.log2(np.arange(2, gains.shape[1] + 2)))
    return total


def _ideal_gains(queries: Sequence[Query]) -> NDArray[np.float64]:
    """Grades of the relevant papers, best first, padded with zeros."""
    rows = [sorted((q.grade(paper) for paper in q.relevant), reverse=True) for q in queries]
    for query, row in zip(queries, rows, strict=True):
        if not row or row[0] <= 0:
            raise InputError(f"Question {query.qid!r} has no relevant paper; leave it out.")
    ideal = np.zeros((len(rows), max(map(len, rows))))
    for number, row in enumerate(rows):
        ideal[number, : len(row)] = row
    return ideal


def _numbers(values: ArrayLike) -> NDArray[np.float64]:
    array: NDArray[Any] = np.asarray(values, float)
    if array.ndim != 1 or len(array) == 0 or not np.isfinite(array).all():
        raise InputError("Give one finite number a question, and at least one.")
    return array


def _blocks(samples: int, n: int) -> list[int]:
    size = max(1, min(samples, _AT_ONCE // n))
    return [min(size, samples - start) for start in range(0, samples, size)]
