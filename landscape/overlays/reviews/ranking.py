"""How regions are ranked by how much a review is missed: components, weights, intervals."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

COMPONENTS = ("volume", "growth", "citations", "years_without", "disagreement")
DEFAULT_WEIGHTS: Mapping[str, float] = {
    "volume": 1.0, "growth": 0.5, "citations": 0.5, "years_without": 0.5, "disagreement": 0.5,
}  # fmt: skip
"""Exponents of the components; 0 leaves one out."""

_PRIOR_PAPERS = 10.0  # papers like the corpus's mean that are added to each region
_SUMS = 9


def rank_gaps(
    signs: pd.DataFrame,
    *,
    weights: Mapping[str, float] | None = None,
    n_resamples: int = 200,
    seed: int = 0,
) -> pd.DataFrame:
    """Rank regions by how much a review is missed there.

    The score is the product of the components, each relative to the mean of the corpus and raised
    to its weight: 4 says that a review is missed four times as much as in the mean region.
    Components of small regions are drawn to the mean. Papers are resampled within the corpus with
    weights from a Poisson distribution of mean one (the bootstrap for large samples); the
    reviews there are, are facts and stay.

    Parameters
    ----------
    signs : pandas.DataFrame
        As from `read_signs`.
    weights : mapping of str to float, optional
        Exponents by component, for those that differ from `DEFAULT_WEIGHTS`.
    n_resamples : int, default 200
    seed : int, default 0

    Returns
    -------
    pandas.DataFrame
        By ``rank``: ``topic_id, score, score_low, score_high, rank_low, rank_high`` (95%), the
        components ``volume`` (papers newer than every review near them), ``growth`` (papers of the
        last five covered years to those expected at the corpus's rate), ``citations`` (of these
        waiting papers, relative to the mean of their year), ``years_without`` (mean years since
        the latest review near a paper) and ``disagreement`` (mean of ``contrast``, the share of
        abstracts that speak of it, and ``stance_spread``, the standard deviation of confirming
        against contradicting), and ``n_sampled``.

    Raises
    ------
    InputError
        If a weight is of no component, negative or no number, or there is no paper.
    """
    import pandas as pd

    chosen = checked_weights(weights)
    if signs.empty:
        raise InputError("There is no paper in any region to rank; build the atlas with more.")
    topics, place = np.unique(signs["topic_id"].to_numpy(), return_inverse=True)
    one = _sums(signs, place, np.ones((1, len(signs))))
    totals = one[0].sum(axis=0)
    found = _components(one, totals)
    levels = {name: max(float(_level(found, one, name)), 1e-12) for name in COMPONENTS}
    score = _score(found, levels, chosen)[0]
    random = np.random.default_rng(seed)
    drawn = random.poisson(1.0, size=(max(n_resamples, 1), len(signs))).astype(np.float64)
    scores = _score(_components(_sums(signs, place, drawn), totals), levels, chosen)
    ranks = (-scores).argsort(axis=1).argsort(axis=1) + 1
    columns: dict[str, Any] = {"topic_id": topics, "score": score}
    columns["score_low"], columns["score_high"] = np.percentile(scores, (2.5, 97.5), axis=0)
    columns["rank_low"], columns["rank_high"] = (
        np.percentile(ranks, q, axis=0).round().astype(int) for q in (2.5, 97.5)
    )
    columns |= {name: values[0] for name, values in found.items()}
    columns["n_sampled"] = np.bincount(place)
    table = pd.DataFrame(columns).sort_values(
        ["score", "topic_id"], ascending=[False, True], ignore_index=True
    )
    table.insert(0, "rank", np.arange(1, len(table) + 1))
    return table


def checked_weights(weights: Mapping[str, float] | None) -> dict[str, float]:
    """Weights of all components; those not given are the default ones.

    Examples
    --------
    >>> checked_weights({"growth": 0})["growth"]
    0.0
    >>> checked_weights({"grwth": 1})
    Traceback (most recent call last):
    landscape.errors.InputError: There is no component 'grwth'; did you mean 'growth'? ...
    """
    chosen = dict(DEFAULT_WEIGHTS)
    for name, weight in (weights or {}).items():
        if name not in chosen:
            near = difflib.get_close_matches(name, COMPONENTS, n=1)
            meant = f" did you mean {near[0]!r}?" if near else ""
            raise InputError(
                f"There is no component {name!r};{meant} There are: {', '.join(COMPONENTS)}."
            )
        if not (isinstance(weight, int | float) and np.isfinite(weight) and weight >= 0):
            raise InputError(f"The weight of {name} is {weight!r}; give a number from 0.")
        chosen[name] = float(weight)
    return chosen


def _sums(
    signs: pd.DataFrame, place: NDArray[np.int64], drawn: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What adds up over the papers of each region, shape (n_resamples, n_regions, 9)."""
    from scipy.sparse import csr_matrix

    waiting = signs["waiting"].to_numpy(np.float64)
    cited = signs["cited"].to_numpy(np.float64)
    known = waiting * ~np.isnan(cited)
    stance = signs["stance"].to_numpy(np.float64)
    values = np.column_stack([
        np.ones(len(signs)), waiting, signs["years_without"], signs["recent"],
        np.nan_to_num(cited) * known, known, signs["contrast"], stance, np.abs(stance),
    ]).astype(np.float64) * signs["stands_for"].to_numpy(np.float64)[:, None]  # fmt: skip
    n_regions = int(place.max()) + 1
    cells = place[:, None] * _SUMS + np.arange(_SUMS)
    rows = np.repeat(np.arange(len(signs)), _SUMS)
    spread = csr_matrix(
        (values.ravel(), (rows, cells.ravel())), shape=(len(signs), n_regions * _SUMS)
    )
    return np.asarray(drawn @ spread).reshape(len(drawn), n_regions, _SUMS)


def _components(
    sums: NDArray[np.float64], totals: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """Components from sums; the mean of the corpus stands in for papers that are few."""
    n, waiting, years, recent, cited, known, contrast, stance, taken = np.moveaxis(sums, -1, 0)
    mean = totals / max(totals[0], 1e-12)
    prior = _PRIOR_PAPERS
    mean_cited = totals[4] / totals[5] if totals[5] else 1.0
    padded = n + prior
    signed = (stance + prior * mean[7]) / padded
    spread = np.sqrt(np.maximum((taken + prior * mean[8]) / padded - signed**2, 0.0))
    speaking = (contrast + prior * mean[6]) / padded
    return {
        "volume": waiting,
        "growth": (recent + prior * mean[3]) / np.maximum(padded * mean[3], 1e-12),
        "citations": (cited + prior * mean_cited) / (known + prior),
        "years_without": (years + prior * mean[2]) / padded,
        "disagreement": (speaking + spread) / 2.0,
        "contrast": speaking,
        "stance_spread": spread,
    }


def _level(found: Mapping[str, NDArray[np.float64]], sums: NDArray[np.float64], name: str) -> float:
    """Mean of a component: over regions for volume, over papers for the others."""
    papers = None if name == "volume" else sums[0, :, 0]
    return float(np.average(found[name][0], weights=papers))


def _score(
    found: Mapping[str, NDArray[np.float64]],
    levels: Mapping[str, float],
    weights: Mapping[str, float],
) -> NDArray[np.float64]:
    logarithm: NDArray[np.float64] = sum(
        (weights[name] * np.log(np.maximum(found[name] / levels[name], 1e-3))
         for name in COMPONENTS),
        start=np.zeros_like(found["volume"]),
    )  # fmt: skip
    return np.exp(logarithm)
