"""How widely papers of one person are spread in the embedding, and how far they move in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


def mean_distance(vectors: NDArray[np.float64]) -> tuple[float, float]:
    """Mean cosine distance of all pairs of unit vectors, with its jackknife error (Efron 1982).

    Parameters
    ----------
    vectors : ndarray of float, shape (n, n_dims)
        Of length 1.

    Returns
    -------
    mean, error : float
        Not numbers with fewer than two (the mean) or three (the error) vectors.

    Examples
    --------
    >>> import numpy as np
    >>> mean_distance(np.eye(3))
    (1.0, 0.0)
    """
    n = len(vectors)
    if n < 2:
        return float("nan"), float("nan")
    total = vectors.sum(axis=0)
    whole = float(total @ total)
    mean = 1 - (whole - n) / (n * (n - 1))
    if n < 3:
        return mean, float("nan")
    without = whole - 2 * vectors @ total + 1
    left_out = 1 - (without - (n - 1)) / ((n - 1) * (n - 2))
    error = np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())
    return mean, float(error)


def measure_drift(
    vectors: NDArray[np.float64], *, n_resamples: int = 1000, seed: int = 0
) -> tuple[float, float]:
    """Cosine distance of the earlier from the later half, and its permutation p value."""
    n = len(vectors)
    if n < 4:
        return float("nan"), float("nan")
    early = np.arange(n) < n // 2
    rng = np.random.default_rng(seed)
    orders = rng.permuted(np.tile(early, (n_resamples, 1)), axis=1)
    drift = _distance_of_halves(early[None], vectors)[0]
    chance = _distance_of_halves(orders, vectors)
    return float(drift), float((1 + (chance >= drift).sum()) / (1 + n_resamples))


def _distance_of_halves(
    early: NDArray[np.bool_], vectors: NDArray[np.float64]
) -> NDArray[np.float64]:
    first = early.astype(np.float64) @ vectors
    second = vectors.sum(axis=0) - first
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    distance: NDArray[np.float64] = 1 - (first * second).sum(axis=1) / np.maximum(lengths, 1e-12)
    return distance


def periods_table(
    papers: pd.DataFrame, vectors: NDArray[np.float64], period_years: int
) -> pd.DataFrame:
    """Where the papers of each period are, and how far that is from the period before.

    Parameters
    ----------
    papers : pandas.DataFrame
        ``year, x, y, topic_id, label``.
    vectors : ndarray of float, shape (n_papers, n_dims)
        Of length 1.
    period_years : int

    Returns
    -------
    pandas.DataFrame
        ``since, until, papers, x, y`` (medians), ``topic_id, label, main_share`` (of the region
        with most papers), ``distance`` (cosine distance of the means), ``moved``.
    """
    import pandas as pd

    start = papers["year"] - papers["year"] % period_years
    rows, before = [], None
    for first, of in papers.groupby(start):
        centre = vectors[of.index].sum(axis=0)
        centre = centre / max(np.linalg.norm(centre), 1e-12)
        inside = of[of["topic_id"] >= 0]["topic_id"].value_counts().sort_index()
        main = int(inside.idxmax()) if len(inside) else -1
        rows.append({
            "since": int(first),
            "until": int(first) + period_years - 1,
            "papers": len(of),
            "x": float(of["x"].median()),
            "y": float(of["y"].median()),
            "topic_id": main,
            "label": of.loc[of["topic_id"] == main, "label"].iloc[0] if main >= 0 else "",
            "main_share": inside.max() / len(of) if len(inside) else np.nan,
            "distance": np.nan if before is None else float(1 - centre @ before),
        })  # fmt: skip
        before = centre
    table = pd.DataFrame(rows)
    table["moved"] = (table["topic_id"] != table["topic_id"].shift()) & (table.index > 0)
    return table
