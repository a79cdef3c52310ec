"""Find regions of the map that grow or shrink relative to the whole corpus.

The rate of a region is its share of all papers of a year, or of a quarter in short periods. Growth
of the whole corpus therefore does not change the rates. An abrupt change of the corpus, for example
the start of a new source, changes the shares. Each era between such changes therefore has a
separate level in the fit, and such a corpus is standardised by primary category.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from landscape._wording import no_verdict
from landscape.errors import InputError
from landscape.overlays.periods import (
    UNKNOWN_YEAR,
    Years,
    abrupt_changes,
    check_period,
    count_by_year,
    count_years,
    format_spans,
    paper_months,
    paper_years,
    primary_categories,
    read_years,
    tabulate_years,
    warn,
)
from landscape.overlays.trends._forecasts import (
    HORIZON,
    Score,
    monthly_counts,
    score_claims,
    total_score,
    with_score,
)
from landscape.statistics import false_discovery_rates
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from landscape.store import AtlasStore

_CLAIMS = ("emerging", "fading")
_SCORED_YEARS = 12  # last years of which claims are scored
_FEW = 10  # minimum number of papers of a tested region
_STEEPEST = 1.0  # standard deviation of the prior of a fitted slope: one e-fold per year
_TYPICAL = 0.3  # standard deviation of the prior that shrinks slopes and bounds their intervals
_NOTABLE = 0.1  # a steady region changes by less than this per year
_NOTABLE_CHANGE = 0.405  # or, in a short period, by less than a factor of 1.5
_MIXED = 2.0  # chi-square per region above which the composition of the corpus changes
_SHORT = 6  # in periods of up to so many years, quarters are fitted
_NEARLY_FLAT = 1e-3  # precision of the prior of a level, for eras without papers
_MAX_STEPS = 60  # maximum number of Newton steps of a fit
_MAX_STEP = 2.0  # maximum change of a coefficient in one step, in natural logarithms of the odds
_WITHIN = 1.92  # half of the 95% point of chi-square with one degree of freedom


def trends(
    atlas: AtlasStore,
    *,
    since: int | None = None,
    until: int | None = None,
    level: int = 1,
    q: float = 0.05,
    least_change: float = 1.25,
    scored: bool = True,
) -> Analysis:
    """Find emerging and fading regions, and the years in which their trend changed.

    A rate is the share of a region in all papers of a year. Its slope is fitted by logistic
    regression with quasi-binomial errors (McCullagh & Nelder 1989, section 4.5) to the years that
    the corpus covers, or to quarters in periods of up to 6 years. A normal prior of 0.3 per year
    bounds slopes and intervals. If the composition of the corpus changes abruptly, each era has a
    separate level, and shares are relative to those expected from the primary categories. Shares
    add up to 1, so if some regions grow, others must shrink.

    Parameters
    ----------
    atlas : Atlas
    since, until : int, optional
        First and last year; default: all years, or the years since the last gap of the corpus
        that is longer than the covered years before it, or across which its number of papers
        changes by a factor of 3 or more.
    level : int, default 1
        1 to fit regions, 0 to fit continents.
    q : float, default 0.05
        False discovery rate among the regions called emerging or fading (Benjamini & Hochberg
        1995).
    least_change : float, default 1.25
        Minimum factor by which the odds of a trend change over the period.
    scored : bool, default True
        Whether to score the claims of `until`, or else those of earlier years, by the two years
        after them, beside two simple forecasts.

    Returns
    -------
    Analysis
        One row per region, the fastest growing first: ``topic_id, label, papers, share``;
        ``share_first, share_last`` (fitted shares at the first and the last covered date, rounded
        to 0.01%, without a value where the corpus cannot tell the trend); ``slope`` (change of
        the log odds per year; 0.05 is about 5% per year) and ``change`` (factor between the odds
        over the covered years), each with a 95% interval; ``overdispersion, p, q``;
        ``class`` ("emerging", "fading", "steady" if the interval excludes a change of 10% per
        year, or a factor of 1.5 in a short period, or "" if the corpus cannot tell) and ``why``;
        ``change_years`` (years in which the trend changed). With a score, ``hit_rate,
        hit_rate_low, hit_rate_high`` is the share of such claims that held, and, if the two years
        after `until` are known, ``later`` is the share in them relative to that before.
        ``tables["years"]`` has one row per region and year (or quarter), ``tables["changes"]`` one
        row per change of a trend.

    Raises
    ------
    InputError
        If the period has no paper, the corpus covers too few of its years, or a setting is
        invalid.

    Examples
    --------
    >>> from landscape.overlays.trends import trends
    >>> trends(None, since=2020, until=2010)
    Traceback (most recent call last):
    landscape.errors.InputError: The period 2020 to 2010 ends before it begins; ...
    """
    check_period(since, until)
    if level not in (0, 1):
        raise InputError(f"level is {level!r}; give 1 for regions or 0 for continents.")
    check_limits(q, least_change)
    years = paper_years(atlas)
    topics = read_topics(atlas, level)
    whole = read_years(atlas)
    recent = whole.last_stretch if since is None and until is None else None
    period = _within(whole, recent or since, until)
    dates, years, per_year = _find_dates(atlas, years, period)
    groups = read_groups(atlas, level)
    counts = count_by_year(groups, years, ids=topics["topic_id"], calendar=dates.years)
    covered = dates.covered
    totals, times = dates.counts[covered], dates.years[covered] / per_year
    eras = find_eras(totals)
    is_uneven = bool(find_eras(whole.counts[whole.covered])[-1])
    expected = None
    if is_uneven:
        expected = _expected_shares(atlas, groups, years, topics, dates)
        eras = find_eras(totals, counts[:, covered], expected * totals)
    _check_length(period, len(totals), int(eras[-1]) + 1, "years" if per_year == 1 else "quarters")
    slopes, fitted = fit_slopes(counts[:, covered], totals, times, eras, expected)
    changes = find_all_changes(
        counts[:, covered] if per_year == 1 else counts[:0], totals, times, eras
    )
    papers = counts.sum(axis=1)
    table = topics.assign(papers=papers, share=papers / dates.counts.sum())
    table = table.join(slopes.drop(columns="slope_error"))
    table["q"] = false_discovery_rates(np.where(papers > 0, table["p"], np.nan))
    table["class"], table["why"] = _judge(table, q=q, least_change=least_change)
    for name, place in (("share_first", 0), ("share_last", -1)):
        table[name] = np.where(table["class"] != "", fitted[:, place].round(4), np.nan)
    years_of = changes.groupby("row")["year"].agg(list).to_dict()
    table["change_years"] = [years_of.get(row, []) for row in range(len(table))]
    by_year = tabulate_years(topics, counts, dates, total="corpus_papers")
    if per_year > 1:
        by_year["year"] = by_year["year"] / per_year
    by_year.insert(5, "covered", by_year.pop("covered"))
    line = np.full(counts.shape, np.nan)
    line[:, covered] = fitted
    by_year["fitted"] = line.ravel()
    changes.insert(0, "topic_id", topics["topic_id"].to_numpy()[changes["row"]])
    changes.insert(1, "label", topics["label"].to_numpy()[changes["row"]])
    small = int((papers < _FEW).sum())
    have = "region has" if small == 1 else "regions have"
    warnings = warn(
        "trends",
        {"recent": recent, "standardised": is_uneven, "eras": eras[-1], "small": small},
        small=small,
        have=have,
        limit=_FEW,
        recent=recent,
    )
    of_class = table["class"].value_counts()
    score, later = _score(atlas, table, until, level, q, least_change) if scored else (None, {})
    table = with_score(table, score, table["topic_id"].map(later), table["class"].isin(_CLAIMS))
    return Analysis(
        kind="trends",
        table=table.sort_values("slope", ascending=False, ignore_index=True),
        caption=(
            f"Share of the regions of {atlas.coverage['title']} in the papers of each "
            f"{'year' if per_year == 1 else 'quarter'}, {period.years[0]} to "
            f"{period.years[-1]}: {of_class.get('emerging', 0)} emerging, "
            f"{of_class.get('fading', 0)} fading and {of_class.get('steady', 0)} steady of "
            f"{len(table)} (false discovery rate {q:g}, odds ratio at least {least_change:g})."
            + no_verdict(of_class.get("", 0), len(table), "their change is")
            + (f" {score.describe('trend')}" if score else "")
        ),
        denominators={
            "papers": int(dates.counts.sum()),
            "papers in regions": int(counts.sum()),
            "covered years": int(period.covered.sum()),
        },
        bounds=atlas.coverage,
        warnings=(*period.warnings, *warnings),
        tables={"years": by_year, "changes": changes.drop(columns="row")},
    )


def _score(
    atlas: AtlasStore, table: pd.DataFrame, until: int | None, level: int, q: float,
    least_change: float,
) -> tuple[Score, dict[int, float]]:  # fmt: skip
    """Score the trends of a year, or of earlier years, by the papers of the two years after."""
    import pandas as pd

    ids = read_topics(atlas, level)["topic_id"].to_numpy(np.int64)
    category, _ = pd.factorize(primary_categories(atlas.read_papers(["categories"])["categories"]))
    of_year, years = paper_months(atlas), paper_years(atlas)
    month = np.where((of_year > 0) & (years != UNKNOWN_YEAR), 12 * years + of_year - 1, 0)
    if not month.any():
        return Score(), {}
    counts, expected, first = monthly_counts(read_groups(atlas, level), ids, month, category)
    row_of = {topic: row for row, topic in enumerate(ids.tolist())}

    def scored(claims: pd.DataFrame, year: int) -> tuple[Score, NDArray[np.float64]]:
        up, down = (
            [row_of[topic] for topic in claims.loc[claims["class"] == name, "topic_id"]]
            for name in _CLAIMS
        )
        score, later = score_claims(counts, expected, 12 * (year + 1) - first, up, down)
        return score._replace(months=(str(year),)), later

    last = (first + counts.shape[1]) // 12 - 1  # the last complete year
    if until and until + HORIZON // 12 <= last:
        score, later = scored(table, until)
        return score, dict(zip(ids.tolist(), later.tolist(), strict=True))

    def before(year: int) -> Score:
        try:
            claims = trends(
                atlas, until=year, level=level, q=q, least_change=least_change, scored=False
            )
        except InputError:  # the corpus has too few years before
            return Score()
        return scored(claims.table, year)[0]

    start = max(first // 12 + 3, last - _SCORED_YEARS)
    return total_score(before, range(start, last - HORIZON // 12 + 1)), {}


def check_limits(q: float, least_change: float) -> None:
    """Raise InputError if a false discovery rate or a minimum factor is invalid."""
    if not 0 < q < 1:
        raise InputError(f"The false discovery rate is {q!r}; give a number between 0 and 1.")
    if not least_change >= 1:
        raise InputError(
            f"least_change is {least_change!r}; give a factor of 1 or more, such as 1.25."
        )


def read_topics(atlas: AtlasStore, level: int = 1) -> pd.DataFrame:
    """Return the numbers and names of the regions (level 1) or continents (level 0)."""
    topics = atlas.topics
    return topics.loc[topics["level"] == level, ["topic_id", "label"]].reset_index(drop=True)


def read_groups(atlas: AtlasStore, level: int = 1) -> NDArray[np.int64]:
    """Return the region (level 1) or continent (level 0) of each paper, or -1 if it has none."""
    regions = atlas.map["topic_id"]
    if level == 0:
        topics = atlas.topics[atlas.topics["level"] == 1]
        regions = regions.map(topics.set_index("topic_id")["parent_id"]).fillna(-1)
    return regions.to_numpy(dtype=np.int64)


def _within(whole: Years, since: int | None, until: int | None) -> Years:
    """Restrict years to a period; raise InputError if the period is too short for a trend."""
    first = whole.years[0] if since is None else since
    last = whole.years[-1] if until is None else until
    inside = (whole.years >= first) & (whole.years <= last)
    if not whole.counts[inside].sum():
        raise InputError(
            f"The atlas has no paper from {first} to {last}; choose a period within "
            f"{whole.years[0]} to {whole.years[-1]}."
        )
    return Years(whole.years[inside], whole.counts[inside], whole.covered[inside])


def _check_length(period: Years, n_dates: int, n_eras: int, unit: str) -> None:
    """Raise InputError if a period has too few years or quarters for a trend."""
    if n_dates < n_eras + 2:
        named = ", ".join(format_spans(period.years[period.covered])) or "none"
        raise InputError(
            f"A trend needs at least {n_eras + 2} {unit} that the corpus covers, but the period "
            f"{period.years[0]} to {period.years[-1]} has {n_dates} (in {named}); give a longer "
            "period."
        )


def _find_dates(
    atlas: AtlasStore, years: NDArray[np.int64], period: Years
) -> tuple[Years, NDArray[np.int64], int]:
    """Return the dates of a period, the date of each paper, and their number per year (1 or 4)."""
    import pandas as pd

    if period.covered.sum() > _SHORT:
        return period, years, 1
    date = pd.to_datetime(atlas.read_papers(["date"])["date"])
    inside = (years >= period.years[0]) & (years <= period.years[-1])
    known = inside & date.notna().to_numpy()
    month = date.dt.month.fillna(1).to_numpy(np.int64)
    if known.sum() < 0.9 * inside.sum() or (month[known] == 1).mean() > 0.5:  # only years
        return period, years, 1
    quarter = np.where(known, 4 * years + (month - 1) // 3, UNKNOWN_YEAR)
    counts = count_years(quarter)
    thick = np.flatnonzero(counts.counts >= 0.2 * np.median(counts.counts))  # omit partial quarters
    kept = slice(thick[0], thick[-1] + 1)
    covered = counts.covered & np.isin(counts.years // 4, period.years[period.covered])
    return Years(counts.years[kept], counts.counts[kept], covered[kept]), quarter, 4


def _expected_shares(
    atlas: AtlasStore,
    groups: NDArray[np.int64],
    dates: NDArray[np.int64],
    topics: pd.DataFrame,
    period: Years,
) -> NDArray[np.float64]:
    """Return the share of each region expected from the primary categories at each date."""
    import pandas as pd

    lists = atlas.read_papers(["categories"])["categories"]
    primary, _ = pd.factorize(primary_categories(lists))
    kept = np.isin(dates, period.years)
    size = np.bincount(primary[kept], minlength=primary.max() + 1)
    share = count_by_year(
        groups[kept], primary[kept], ids=topics["topic_id"], calendar=np.arange(len(size))
    ) / np.maximum(size, 1)
    mix = count_by_year(primary, dates, ids=np.arange(len(size)), calendar=period.years)
    expected = (share @ mix + 0.5) / (period.counts + 1.0)
    return np.minimum(expected, 0.999)[:, period.covered]


def _judge(table: pd.DataFrame, *, q: float, least_change: float) -> tuple[np.ndarray, list[str]]:
    """Return the class of each region, or "" where the corpus cannot tell, and the reason."""
    length = np.log(table["change_high"]) / table["slope_high"].where(table["slope_high"] != 0, 1)
    limit = np.maximum(_NOTABLE, _NOTABLE_CHANGE / np.maximum(length, 1e-6))
    enough = table["papers"] >= _FEW
    significant = enough & (table["q"] <= q)
    flat = enough & (table["slope_low"] > -limit) & (table["slope_high"] < limit)
    rises = significant & (table["change"] >= least_change)
    falls = significant & (table["change"] <= 1 / least_change)
    cases = [rises, falls, flat | significant]
    classes = np.select(cases, ["emerging", "fading", "steady"], "")
    low, high = (100 * np.expm1(table[f"slope{end}"]) for end in ("_low", "_high"))
    why = [
        ""
        if of
        else f"fewer than {_FEW} papers"
        if not many
        else f"the interval is too wide: {a:+.0f}% to {b:+.0f}% per year"
        for of, many, a, b in zip(classes, enough, low, high, strict=True)
    ]
    return classes, why


def find_eras(
    totals: ArrayLike,
    counts: NDArray[np.int64] | None = None,
    expected: NDArray[np.float64] | None = None,
) -> NDArray[np.int64]:
    """Number the eras, which are the periods between abrupt changes of the corpus.

    With the counts and the expected counts of all regions, a change of many regions at once is also
    an abrupt change: chi-square per region above `_MIXED` and above 1.5 times its median.
    """
    breaks = abrupt_changes(totals)
    if counts is not None and expected is not None and len(breaks):
        before, after = expected[:, :-1], expected[:, 1:]
        pairs = counts[:, :-1] + counts[:, 1:]
        share = before / np.maximum(before + after, 1e-12)
        variance = np.maximum(pairs * share * (1 - share), 1e-12)
        chi_square = (counts[:, :-1] - pairs * share) ** 2 / variance
        scatter = chi_square.sum(axis=0, where=pairs >= _FEW)
        scatter /= np.maximum((pairs >= _FEW).sum(axis=0), 1)
        breaks = breaks | (scatter > max(_MIXED, 1.5 * float(np.median(scatter))))
    return np.append(0, np.cumsum(breaks)).astype(np.int64)


@dataclass(frozen=True)
class Lines:
    """Straight lines in log odds, one for each row of counts."""

    slope: NDArray[np.float64]
    slope_error: NDArray[np.float64]
    fitted: NDArray[np.float64]
    log_likelihood: NDArray[np.float64]
    chi_square: NDArray[np.float64]
    n_parameters: NDArray[np.int64]


def fit_lines(
    counts: ArrayLike,
    totals: ArrayLike,
    years: ArrayLike,
    eras: ArrayLike | None = None,
    expected: NDArray[np.float64] | None = None,
) -> Lines:
    """Fit a logistic line in time to each row of counts, with a separate level for each era.

    The log odds are relative to those of the `expected` shares, if given.
    """
    from scipy.special import expit

    k = np.atleast_2d(np.asarray(counts, dtype=np.float64))
    n = np.broadcast_to(np.asarray(totals, dtype=np.float64), k.shape)
    k = np.where(n > 0, k, 0.0)
    t = np.asarray(years, dtype=np.float64)
    era = np.zeros(len(t), dtype=np.int64) if eras is None else np.asarray(eras, dtype=np.int64)
    era_of = (era[:, None] == np.unique(era)).astype(np.float64)
    design = np.column_stack([era_of, t - t.mean()])
    precision = np.r_[np.full(era_of.shape[1], _NEARLY_FLAT), 1 / _STEEPEST**2]
    offset = np.zeros(k.shape) if expected is None else np.log(expected / (1 - expected))
    found, information = _newton(k, n, design, precision, offset)
    odds = found @ design.T + offset
    fitted = expit(odds)
    variance = np.maximum(n * fitted * (1 - fitted), 1e-12)
    return Lines(
        slope=found[:, -1],
        slope_error=np.sqrt(np.linalg.inv(information)[:, -1, -1]),
        fitted=fitted,
        log_likelihood=(k * odds - n * np.logaddexp(0, odds)).sum(axis=1),
        chi_square=((k - n * fitted) ** 2 / variance).sum(axis=1, where=n > 0),
        n_parameters=((n > 0).astype(np.float64) @ era_of > 0).sum(axis=1) + 1,
    )


def _newton(
    k: NDArray[np.float64],
    n: NDArray[np.float64],
    design: NDArray[np.float64],
    precision: NDArray[np.float64],
    offset: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the maximum a posteriori coefficients and the information matrix of each row."""
    from scipy.special import expit

    whole = k.sum(axis=1) + 0.5
    found = np.zeros((len(k), design.shape[1]))
    found[:, :-1] = np.log(whole / (n.sum(axis=1) + 1.0 - whole))[:, None]
    found[:, :-1] -= offset.mean(axis=1, keepdims=True)
    products = design[:, :, None] * design[:, None, :]
    for _ in range(_MAX_STEPS):
        fitted = expit(found @ design.T + offset)
        weight = n * fitted * (1 - fitted)
        information = np.tensordot(weight, products, axes=1) + np.diag(precision)
        gradient = (k - n * fitted) @ design - precision * found
        step = np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        found = found + step * np.minimum(1.0, _MAX_STEP / np.maximum(longest, 1e-300))
        if longest.max(initial=0.0) < 1e-6:
            break
    return found, information


def fit_slopes(
    counts: NDArray[np.int64],
    totals: ArrayLike,
    years: np.ndarray,
    eras: ArrayLike,
    expected: NDArray[np.float64] | None = None,
) -> tuple[pd.DataFrame, NDArray[np.float64]]:
    """Return the slopes, with intervals corrected for overdispersion, and the fitted shares."""
    import pandas as pd
    from scipy.stats import t as student

    lines = fit_lines(counts, totals, years, eras, expected)
    free = np.maximum(len(years) - lines.n_parameters, 1)
    overdispersion = np.maximum(lines.chi_square / free, 1.0)
    error = lines.slope_error * np.sqrt(overdispersion)
    kept = _TYPICAL**2 / (_TYPICAL**2 + error**2)
    slope, spread = kept * lines.slope, np.sqrt(kept) * error
    reach = np.minimum(student.ppf(0.975, free) * spread, student.ppf(0.975, np.inf) * _TYPICAL)
    # Only time within eras counts, so a slope is not extrapolated over changes of the corpus.
    numbers = np.asarray(eras)
    length = float(sum(np.ptp(years[numbers == era]) for era in np.unique(numbers)))
    ends = {"": slope, "_low": slope - reach, "_high": slope + reach}
    table = pd.DataFrame({f"slope{end}": of for end, of in ends.items()})
    table["slope_error"] = spread
    for end, of in ends.items():
        table[f"change{end}"] = np.exp(np.clip(of * length, -700, 700))
    table["overdispersion"] = overdispersion
    table["p"] = 2 * student.sf(np.abs(lines.slope) / error, free)
    return table, lines.fitted


class Change(NamedTuple):
    """Year in which a trend changes, its interval, and shares and slopes on both sides."""

    year: int
    year_low: int
    year_high: int
    share_before: float
    share_after: float
    slope_before: float
    slope_after: float
    turn: str


def find_all_changes(
    counts: NDArray[np.int64], totals: ArrayLike, years: ArrayLike, eras: ArrayLike
) -> pd.DataFrame:
    """Return a table with one row per trend change; ``row`` is the row of `counts`."""
    import pandas as pd

    changes = [
        (row, *change)
        for row, of in enumerate(counts)
        if of.sum() >= _FEW
        for change in find_changes(of, totals, years, eras)
    ]
    return pd.DataFrame(changes, columns=["row", *Change._fields])


def find_changes(
    counts: ArrayLike,
    totals: ArrayLike,
    years: ArrayLike,
    eras: ArrayLike | None = None,
    *,
    most: int = 3,
    shortest: int = 4,
) -> list[Change]:
    k, n = np.asarray(counts, dtype=np.float64), np.asarray(totals, dtype=np.float64)
    most = min(most, len(k) // shortest - 1)
    if most < 1 or not k.sum():
        return []
    calendar = np.asarray(years, dtype=np.int64)
    era = np.zeros(len(k), dtype=np.int64) if eras is None else np.asarray(eras, dtype=np.int64)
    segments = _Segments.fit(k, n, calendar, era, shortest)
    best = [segments.best_cuts(pieces) for pieces in range(1, most + 2)]
    # Dispersion: Pearson's chi-square per degree of freedom of the most flexible model.
    pieces = segments.pieces(best[-1])
    free = len(k) - segments.lines.n_parameters[pieces].sum() - (len(pieces) - 1)
    dispersion = max(1.0, segments.lines.chi_square[pieces].sum() / max(free, 1))
    cuts = min(best, key=lambda one: segments.criterion(one, dispersion))
    triples = zip(cuts, cuts[1:], cuts[2:], strict=False)
    return [segments.describe(*triple, dispersion=dispersion) for triple in triples]


@dataclass(frozen=True)
class _Segments:
    """Lines fitted to every possible segment of a series of years."""

    number: NDArray[np.int64]  # number of the segment from i to j - 1, or -1 if it is too short
    lines: Lines
    years: NDArray[np.int64]
    eras: NDArray[np.int64]

    @classmethod
    def fit(
        cls,
        k: NDArray[np.float64],
        n: NDArray[np.float64],
        years: NDArray[np.int64],
        eras: NDArray[np.int64],
        shortest: int,
    ) -> _Segments:
        at = np.arange(len(k))
        first, end = np.nonzero(np.arange(len(k) + 1) >= at[:, None] + shortest)
        inside = (at >= first[:, None]) & (at < end[:, None])
        number = np.full((len(k) + 1, len(k) + 1), -1, dtype=np.int64)
        number[first, end] = np.arange(len(first))
        lines = fit_lines(np.where(inside, k, 0.0), np.where(inside, n, 0.0), years, eras)
        return cls(number, lines, years, eras)

    def pieces(self, cuts: list[int]) -> NDArray[np.int64]:
        return self.number[cuts[:-1], cuts[1:]]

    def best_cuts(self, pieces: int) -> list[int]:
        """Return the cuts of the most likely division into pieces, including both ends."""
        gain = np.where(self.number >= 0, self.lines.log_likelihood[self.number], -np.inf)
        reached = gain[0].copy()
        came_from = []
        for _ in range(pieces - 1):
            ways = reached[:, None] + gain
            came_from.append(ways.argmax(axis=0))
            reached = ways.max(axis=0)
        cuts = [len(gain) - 1]
        for source in reversed(came_from):
            cuts.append(int(source[cuts[-1]]))
        return [0, *reversed(cuts)]

    def criterion(self, cuts: list[int], dispersion: float) -> float:
        """Return the Bayesian information criterion of a division."""
        pieces = self.pieces(cuts)
        parameters = self.lines.n_parameters[pieces].sum() + len(pieces) - 1
        likelihood = self.lines.log_likelihood[pieces].sum() / dispersion
        return float(-2 * likelihood + parameters * np.log(len(self.years)))

    def describe(self, start: int, cut: int, end: int, *, dispersion: float) -> Change:
        """Describe the change at a cut, with an interval of cuts that fit almost equally well."""
        lines, before, after = self.lines, self.number[start], self.number[:, end]
        left, right = before[cut], after[cut]
        possible = np.flatnonzero((before >= 0) & (after >= 0))
        fit = lines.log_likelihood[before[possible]] + lines.log_likelihood[after[possible]]
        near = possible[fit / dispersion >= fit[possible == cut][0] / dispersion - _WITHIN]
        later = min(cut + 3, end - 1)  # a change of slope becomes visible after a few years
        if self.eras[later] == self.eras[cut - 1]:
            goes_up = lines.fitted[right, later] > lines.fitted[left, later]
        else:  # the levels of different eras cannot be compared
            goes_up = lines.slope[right] > lines.slope[left]
        return Change(
            year=int(self.years[cut]),
            year_low=int(self.years[near[0] - 1]) + 1,
            year_high=int(self.years[near[-1]]),
            share_before=float(lines.fitted[left, cut - 1]),
            share_after=float(lines.fitted[right, cut]),
            slope_before=float(lines.slope[left]),
            slope_after=float(lines.slope[right]),
            turn="up" if goes_up else "down",
        )
