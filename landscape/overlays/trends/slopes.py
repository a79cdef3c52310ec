"""Slopes and changes of course of all topics at once, as data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from landscape.overlays.trends.changes import find_changes
from landscape.overlays.trends.rates import fit_lines

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

FEW = 10  # papers of a topic; fewer say little
_CHANGES = [
    "row", "year", "year_low", "year_high", "share_before", "share_after", "slope_before",
    "slope_after", "turn",
]  # fmt: skip


def fit_slopes(
    counts: NDArray[np.int64], totals: ArrayLike, years: NDArray[np.int64], eras: ArrayLike
) -> tuple[pd.DataFrame, NDArray[np.float64]]:
    """Slopes with intervals that allow for overdispersion, and the fitted shares.

    Parameters
    ----------
    counts : ndarray of int, shape (n_topics, n_years)
    totals, years, eras : array_like of int, shape (n_years,)
        Of covered years only.

    Returns
    -------
    table : pandas.DataFrame
        ``slope, slope_low, slope_high, slope_error, change, change_low, change_high,
        overdispersion, p``.
    fitted : ndarray of float, shape (n_topics, n_years)

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([[10, 14, 20, 28, 40]])
    >>> table, _ = fit_slopes(counts, [1000] * 5, np.arange(2001, 2006), [0] * 5)
    >>> table.loc[0, ["slope", "change"]].round(2).tolist()
    [0.35, 4.11]
    """
    import pandas as pd
    from scipy.stats import t as student

    lines = fit_lines(counts, totals, years, eras)
    free = np.maximum(len(years) - lines.n_parameters, 1)
    overdispersion = np.maximum(lines.chi_square / free, 1.0)
    error = lines.slope_error * np.sqrt(overdispersion)
    reach = student.ppf(0.975, free) * error
    length = int(years[-1] - years[0])
    ends = {"": lines.slope, "_low": lines.slope - reach, "_high": lines.slope + reach}
    table = pd.DataFrame({f"slope{end}": slope for end, slope in ends.items()})
    table["slope_error"] = error
    for end, slope in ends.items():
        table[f"change{end}"] = np.exp(np.clip(slope * length, -700, 700))
    table["overdispersion"] = overdispersion
    table["p"] = 2 * student.sf(np.abs(lines.slope) / error, free)
    return table, lines.fitted


def changes_of(
    counts: NDArray[np.int64], totals: ArrayLike, years: ArrayLike, eras: ArrayLike
) -> pd.DataFrame:
    """The changes of course of all topics, one row each; ``row`` is the topic's row in counts.

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([[20] * 20, [10] * 10 + [40] * 10])
    >>> found = changes_of(counts, [1000] * 20, np.arange(2000, 2020), [0] * 20)
    >>> found[["row", "year", "turn"]].values.tolist()
    [[1, 2010, 'up']]
    """
    from dataclasses import asdict

    import pandas as pd

    found = [
        {"row": row, **asdict(change)}
        for row, of in enumerate(counts)
        if of.sum() >= FEW
        for change in find_changes(of, totals, years, eras)
    ]
    return pd.DataFrame(found, columns=_CHANGES)


def adjusted(p: ArrayLike) -> NDArray[np.float64]:
    """The q values of Benjamini & Hochberg (1995); tests that were not made (NaN) stay so.

    Examples
    --------
    >>> adjusted([0.01, float("nan"), 0.04]).tolist()
    [0.02, nan, 0.04]
    """
    from scipy.stats import false_discovery_control

    values = np.asarray(p, dtype=np.float64)
    q = np.full(len(values), np.nan)
    made = np.isfinite(values)
    if made.any():
        q[made] = false_discovery_control(values[made])
    return q
