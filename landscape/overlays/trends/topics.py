"""Which regions of the map grow or shrink relative to the whole corpus, and since when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError
from landscape.overlays.analysis import Analysis
from landscape.overlays.periods import Years, count_years, spans
from landscape.overlays.trends.changes import find_changes
from landscape.overlays.trends.rates import count_by_year, find_eras, fit_lines, share_interval

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

_FEW = 10  # papers of a topic; fewer say little
_CHANGES = [
    "row", "year", "year_low", "year_high", "share_before", "share_after", "slope_before",
    "slope_after", "turn",
]  # fmt: skip


def trends(
    atlas: Any,
    *,
    since: int | None = None,
    until: int | None = None,
    level: int = 1,
    q: float = 0.05,
    least_change: float = 1.25,
) -> Analysis:
    """Find emerging and fading regions, and the years in which their course changed.

    A rate is the share of a region in all papers of a year; its slope is that of a logistic
    regression with quasi-binomial errors (McCullagh & Nelder 1989, section 4.5), fitted to the
    years that the corpus covers, with a level of its own for each era between abrupt changes of
    the corpus. Shares add up: where some regions grow, the others must shrink.

    Parameters
    ----------
    atlas : Atlas
    since, until : int, optional
        First and last year; all when not given.
    level : int, default 1
        1 for regions, 0 for continents.
    q : float, default 0.05
        False discovery rate among the regions called emerging or fading (Benjamini & Hochberg
        1995).
    least_change : float, default 1.25
        Factor by which the odds must have changed over the period for it to be called a trend.

    Returns
    -------
    Analysis
        One row a region, the fastest growing first: ``topic_id, label, papers, share``;
        ``slope`` (change of the log odds a year: 0.05 is about 5 per cent a year), ``change``
        (factor over the period), each with its interval; ``overdispersion, p, q``;
        ``class`` ("emerging", "fading", or "steady" where no trend is shown); ``change_years``
        and ``latest_slope`` (since the last of them). ``tables["years"]`` has every region and
        year, ``tables["changes"]`` the changes of course.

    Raises
    ------
    InputError
        If no paper is of this period, too few years are covered, or a setting cannot be.

    Examples
    --------
    >>> from landscape.overlays.trends import trends
    >>> trends(None, since=2020, until=2010)
    Traceback (most recent call last):
    landscape.errors.InputError: The period 2020 to 2010 ends before it begins; ...
    """
    _check(since, until, level=level, q=q, least_change=least_change)
    years = atlas.read_papers(["year"])["year"].to_numpy(dtype=np.int64)
    topics = atlas.topics
    chosen = topics[topics["level"] == level][["topic_id", "label"]].reset_index(drop=True)
    groups = groups_of(atlas, level)
    period = _within(count_years(years), since, until)
    table, tables = _trends_of(chosen, groups, years, period, q=q, least_change=least_change)
    n_papers = int(period.counts.sum())
    placed = int(tables["years"]["papers"].sum())
    return Analysis(
        kind="trends",
        table=table,
        caption=(
            f"Regions of {atlas.coverage['title']} by their share of the papers of a year, "
            f"{period.years[0]} to {period.years[-1]}: {(table['class'] == 'emerging').sum()} "
            f"emerging, {(table['class'] == 'fading').sum()} fading of {len(table)} "
            f"(false discovery rate {q:g}, odds changed at least {least_change:g}-fold)."
        ),
        denominators={
            "papers": n_papers,
            "papers in regions": placed,
            "covered years": int(period.covered.sum()),
        },
        bounds=atlas.coverage,
        warnings=(*period.warnings, *_warnings(period, table)),
        tables=tables,
    )


def groups_of(atlas: Any, level: int = 1) -> NDArray[np.int64]:
    """The region (level 1) or continent (level 0) of every paper, -1 outside.

    Examples
    --------
    >>> import pandas as pd
    >>> from types import SimpleNamespace as Atlas
    >>> topics = pd.DataFrame({"topic_id": [0, 7], "parent_id": [-1, 0], "level": [0, 1]})
    >>> atlas = Atlas(topics=topics, map=pd.DataFrame({"topic_id": [7, -1]}))
    >>> groups_of(atlas, 1).tolist(), groups_of(atlas, 0).tolist()
    ([7, -1], [0, -1])
    """
    regions = atlas.map["topic_id"]
    if level == 0:
        topics = atlas.topics
        parent = topics.set_index("topic_id")["parent_id"].where(
            topics.set_index("topic_id")["level"] == 1
        )
        regions = regions.map(parent).fillna(-1)
    groups: NDArray[np.int64] = regions.to_numpy(dtype=np.int64)
    return groups


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


def _check(
    since: int | None, until: int | None, *, level: int, q: float, least_change: float
) -> None:
    if since is not None and until is not None and since > until:
        raise InputError(
            f"The period {since} to {until} ends before it begins; exchange the two years."
        )
    if level not in (0, 1):
        raise InputError(f"There is no level {level!r}; give 1 for regions or 0 for continents.")
    if not 0 < q < 1:
        raise InputError(f"The false discovery rate is {q!r}; give a number between 0 and 1.")
    if not least_change >= 1:
        raise InputError(
            f"The least change is {least_change!r}; give a factor of 1 or more, such as 1.25."
        )


def _within(whole: Years, since: int | None, until: int | None) -> Years:
    """The years of a period, with what the whole corpus says about their coverage."""
    first = whole.years[0] if since is None else since
    last = whole.years[-1] if until is None else until
    inside = (whole.years >= first) & (whole.years <= last)
    if not whole.counts[inside].sum():
        raise InputError(
            f"The atlas has no paper from {first} to {last}; its papers are of {whole.years[0]} "
            f"to {whole.years[-1]}."
        )
    period = Years(whole.years[inside], whole.counts[inside], whole.covered[inside])
    covered = period.years[period.covered]
    n_eras = len(np.unique(find_eras(period.counts[period.covered])))
    if len(covered) < n_eras + 2:
        named = ", ".join(spans(covered)) or "none"
        raise InputError(
            f"A trend needs at least {n_eras + 2} years that the corpus covers, and from {first} "
            f"to {last} there are {len(covered)} ({named}); give a longer period."
        )
    return period


def _trends_of(
    topics: pd.DataFrame,
    groups: NDArray[np.int64],
    years: NDArray[np.int64],
    period: Years,
    *,
    q: float,
    least_change: float,
) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    counts = count_by_year(groups, years, ids=topics["topic_id"], calendar=period.years)
    covered = period.covered
    calendar, totals = period.years[covered], period.counts[covered]
    eras = find_eras(totals)
    slopes, fitted = fit_slopes(counts[:, covered], totals, calendar, eras)
    changes = changes_of(counts[:, covered], totals, calendar, eras)
    papers = counts.sum(axis=1)
    table = topics.assign(papers=papers, share=papers / period.counts.sum())
    table = table.join(slopes.drop(columns="slope_error"))
    table["q"] = adjusted(np.where(papers > 0, table["p"], np.nan))
    table["class"] = _classes(table, q=q, least_change=least_change)
    found = changes.groupby("row")
    table["change_years"] = [
        found.get_group(row)["year"].tolist() if row in found.groups else []
        for row in range(len(table))
    ]
    table["latest_slope"] = table.index.map(found["slope_after"].last())
    table["latest_slope"] = table["latest_slope"].astype(float).fillna(table["slope"])
    tables = {
        "years": _years_table(topics, counts, period, fitted),
        "changes": topics.loc[changes["row"]]
        .reset_index(drop=True)
        .join(changes.drop(columns="row").reset_index(drop=True)),
    }
    return table.sort_values("slope", ascending=False, ignore_index=True), tables


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
        if of.sum() >= _FEW
        for change in find_changes(of, totals, years, eras)
    ]
    return pd.DataFrame(found, columns=_CHANGES)


def _classes(table: pd.DataFrame, *, q: float, least_change: float) -> NDArray[np.str_]:
    shown = (table["q"] <= q) & (table["papers"] >= _FEW)
    emerging = shown & (table["change"] >= least_change)
    fading = shown & (table["change"] <= 1 / least_change)
    return np.where(emerging, "emerging", np.where(fading, "fading", "steady"))


def _years_table(
    topics: pd.DataFrame, counts: NDArray[np.int64], period: Years, fitted: NDArray[np.float64]
) -> pd.DataFrame:
    """A row for each topic and year; no share where the corpus does not cover the year."""
    n_topics, n_years = counts.shape
    low, high = share_interval(counts, period.counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = counts / period.counts
    line = np.full(counts.shape, np.nan)
    line[:, period.covered] = fitted
    table = topics.loc[topics.index.repeat(n_years)].reset_index(drop=True)
    columns = {"share": share, "share_low": low, "share_high": high, "fitted": line}
    return table.assign(
        year=np.tile(period.years, n_topics),
        papers=counts.ravel(),
        corpus_papers=np.tile(period.counts, n_topics),
        covered=np.tile(period.covered, n_topics),
        **{
            name: np.where(period.covered, values, np.nan).ravel()
            for name, values in columns.items()
        },
    )


def _warnings(period: Years, table: pd.DataFrame) -> tuple[str, ...]:
    said = []
    if len(np.unique(find_eras(period.counts[period.covered]))) > 1:
        said.append("Slopes are those within the eras between abrupt changes of the corpus.")
    small = int((table["papers"] < _FEW).sum())
    if small:
        said.append(f"{small} regions have fewer than {_FEW} papers of this period: no class.")
    return tuple(said)
