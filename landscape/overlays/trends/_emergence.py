"""Find what is new: phrases, concepts and regions that appear, burst or grow in the last months.

The number of papers of a term in a month is compared with the number expected if the term kept its
share of the papers of each primary category. A change of the number of papers, or of their
categories, therefore does not make a term new. Other changes of the corpus, such as a new selection
by key words, change the shares of many terms at once. The scatter of all terms between the same two
periods is therefore part of the error of each of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from landscape._wording import count
from landscape.errors import InputError
from landscape.overlays.periods import warn
from landscape.overlays.trends._forecasts import (
    HORIZON,
    Score,
    earlier_months,
    score_claims,
    total_score,
    with_score,
)
from landscape.overlays.trends._monthly_counts import (
    FEWEST,
    FEWEST_BEFORE,
    FEWEST_NEW,
    WORDS,
    Period,
    Terms,
    month_of_name,
    read_period,
    read_terms,
)
from landscape.overlays.trends._topics import check_limits
from landscape.statistics import false_discovery_rates, odds_ratio_interval, poisson_range
from landscape.text.words import normal_form
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.store import AtlasStore

    Floats = NDArray[np.float64]

_LENGTHS = (3, 6, 12, 24)  # months of a burst
_STILL = 3  # months before the last months, in which a topic begins that has not ended
_OUTLIERS = 0.2  # share of the terms that may be news, so that their change is not scatter
_FEWEST_TERMS = 50  # that measure the scatter, each with a variance of 2 papers or more
_LARGEST_SCATTER = 10.0  # variance of the logarithm of a rate
_PROMISING = 3.0  # standard deviations without scatter, above which the p value is computed
_NOTED_SCATTER = 0.02  # of the largest scatter of rates, above which there is a warning
_WITHIN = 1.92  # half of the 95% point of chi-square with one degree of freedom
_DATED = "the name contains the date"
_LETTERS = 3  # of names that mean the same, such as SKA, SKAO and SKA-Mid
_CHANGE = ("change", "change_low", "change_high", "p", "q")  # not measured
_NEW_RATE = 0.1  # a new term had less than this share of its later rate before
_SAME = 0.35  # cosine of the papers of two names of the same news
_STEPS = ((1, 24), (3, 84), (12, 10**6))  # months of a row, up to so many months in all
_YEAR, _WHOLE = 12, 120  # months; of the period in which claims are scored
_N_PAPERS = 3  # first papers that are listed for each term
_NODES = np.linspace(-7.0, 7.0, 57)  # of the integral over the scatter, in standard deviations


def new_topics(
    atlas: AtlasStore,
    *,
    months: int = 12,
    until: str | None = None,
    q: float = 0.05,
    least_change: float = 2.0,
    scored: bool = True,
) -> Analysis:
    """Find the keyphrases, concepts and regions that are new in the last months of the corpus.

    For each term, the papers of the last months, or of a burst of 3 to 24 months that begins in
    them, are compared with those of the other months (a scan statistic; Kulldorff 1997,
    doi:10.1080/03610929708831995). The expected number keeps the share of the term in the papers of
    each primary category. Given the papers of a term, their number in a period is binomial, and the
    logarithm of its rate has a normal scatter. The scatter is fitted to all terms, so that at most
    a fifth of them are outliers. The p value is multiplied by the number of first months compared.

    Parameters
    ----------
    atlas : Atlas
    months : int, default 12
        Number of months in which a term can become new. Topics that began up to three months
        earlier are news too, if they have not ended.
    until : str, optional
        Last month, such as ``"2025-09"``; default: the last month that the corpus covers.
    q : float, default 0.05
        False discovery rate among the terms (Benjamini & Hochberg 1995).
    least_change : float, default 2
        Minimum factor between the rates in and outside the period.
    scored : bool, default True
        Whether to score the claims of `until`, or else those of earlier months, by the two years
        after them, beside two simple forecasts.

    Returns
    -------
    Analysis
        One row per topic, the largest number of additional papers first: ``rank, term, kind``
        ("keyphrase", "concept", "region", "subregion", or "object" for dated objects and data
        releases); ``also`` (other names with much the same
        papers); ``class``: "new" (at most a tenth of its later rate before), "burst" (it ended
        before the last month) or "growing"; ``since`` and ``last`` (first and last month of the
        period), with the interval ``since_low, since_high``; ``papers`` and ``expected`` in the
        period, ``papers_before`` it; ``additional`` (papers more than at the rate of the other
        months); ``change`` (factor between the rates, with a 95% interval ``change_low,
        change_high``); ``p, q``; ``topic_id, region`` (the region with most of its papers), and
        ``why`` ("the name contains the date" for objects that need no test, otherwise empty). With
        a score, ``hit_rate, hit_rate_low, hit_rate_high`` is the share of such claims that held,
        and, if the two years after `until` are known, ``later`` is the rate in them relative to the
        rate before the last year.
        ``tables["times"]`` has one row per topic and month, or quarter or year if the months
        compared are many: ``term``, ``year`` (the middle, such as 2025.375), ``papers``,
        ``expected`` (at the rate of the months outside the period; unknown if the name has a date),
        the 95% interval of a Poisson distribution ``expected_low, expected_high``, and ``covered``
        (whether all of its months are compared).
        ``tables["first_papers"]`` has the first papers of each topic: ``term, date, title,
        paper_id``.

    Raises
    ------
    InputError
        If a setting is invalid, or the corpus has too few months before the period.

    Examples
    --------
    >>> from landscape.overlays.trends import new_topics
    >>> new_topics(None, months=0)
    Traceback (most recent call last):
    landscape.errors.InputError: months is 0; give 1 or more.
    """
    import pandas as pd

    if months < 1:
        raise InputError(f"months is {months!r}; give 1 or more.")
    check_limits(q, least_change)
    period = read_period(atlas, months, until)
    terms = read_terms(atlas, period)
    found, scatter = _scan(terms, min(months + _STILL, period.length - 1))
    found["q"] = false_discovery_rates(found["p"])
    is_news = (
        (found["q"] <= q)
        & (found["change"] >= least_change)
        & (found["change_low"] > 1)
        & (found["papers"] >= FEWEST_NEW)
        # A selection by key words can omit a subject for a time, so earlier years count too.
        & (found["papers"] / _papers_in(found, period) >= least_change * found["share_earlier"])
    )
    dated = _from_names(found, terms, period, months)
    news = _refined(found[is_news], terms, period.length - months)
    is_old = (news["class"] == "new") & _is_established(news["term"], atlas)
    found = pd.concat([news[~is_old], dated.drop(index=news.index, errors="ignore")])
    table = _group(found.sort_values("additional", ascending=False, kind="stable"), terms)
    table = _locate(_add_intervals(table, terms), terms, atlas)
    times = _tabulate(table, terms, period)
    papers = _first_papers(table, terms, atlas)
    for name in ("since", "last", "since_low", "since_high"):
        table[name] = [period.name_of(month) for month in table[name]]
    table = table.drop(columns=["share_earlier", "scatter"])
    given = (table, until, period, months, q, least_change)
    score, later = _score(atlas, *given) if scored else (None, {})
    table = with_score(table, score, table["term"].map(later))
    table.insert(0, "rank", np.arange(1, len(table) + 1))
    first, begin, last = (period.name_of(at) for at in (0, -months, -1))
    of = table["class"].value_counts()
    return Analysis(
        kind="new_topics",
        table=table.reset_index(drop=True),
        caption=(
            f"What is new in {atlas.coverage.get('title') or 'the corpus'}, {begin} to {last}: "
            f"{count(of.get('new', 0), 'new topic')}, {count(of.get('burst', 0), 'burst')} and "
            f"{count(of.get('growing', 0), 'growing topic')} among {len(terms.names):,} phrases, "
            f"concepts and regions, relative to the papers of the same categories since {first} "
            f"(false discovery rate {q:g}, factor {least_change:g} or more)."
            + (f" {score.describe('new topic')}" if score else "")
        ),
        denominators={
            f"papers since {first}": int(period.mix.sum()),
            f"papers since {begin}": int(period.mix[:, -months:].sum()),
        },
        bounds=atlas.coverage,
        warnings=warn(
            "new_topics",
            {"scatter": scatter > _NOTED_SCATTER, "early": (period.length < 3 * months)},
            scatter=float(np.expm1(np.sqrt(scatter))),
            first=first,
        ),
        tables={"times": times, "first_papers": papers},
    )


def _score(
    atlas: AtlasStore, table: pd.DataFrame, until: str | None, period: Period, months: int,
    q: float, least_change: float,
) -> tuple[Score, dict[str, float]]:  # fmt: skip
    """Score the claims of a month, or of earlier months, by the papers of the two years after."""
    whole = read_period(atlas, _WHOLE, None)
    terms = read_terms(atlas, whole)
    row_of = {name: row for row, name in enumerate(terms.names.tolist())}

    def scored(claims: pd.DataFrame, now: int) -> tuple[Score, Floats]:
        is_over = claims["class"] == "burst"
        up, down = (
            [row_of[name] for name in claims.loc[mask, "term"] if name in row_of]
            for mask in (~is_over, is_over)
        )
        score, later = score_claims(terms.counts, terms.expected, now, up, down)
        return score._replace(months=(whole.name_of(now - 1),)), later

    now = period.first + period.length - whole.first
    if until and now + HORIZON <= whole.length and now > _YEAR:
        score, later = scored(table, now)
        return score, dict(zip(terms.names, later.tolist(), strict=True))

    def of_month(now: int) -> Score:
        claims = new_topics(
            atlas, months=months, until=whole.name_of(now - 1), q=q, least_change=least_change,
            scored=False,
        )  # fmt: skip
        return scored(claims.table, now)[0]

    least = max(months + FEWEST_BEFORE, 2 * _YEAR) + 1
    return total_score(of_month, earlier_months(whole.length, least)), {}


def _scan(terms: Terms, n_last: int) -> tuple[pd.DataFrame, float]:
    """Find the most significant period of each term, and the largest scatter of the periods.

    A period begins in the last months, and ends after some months or not at all.
    """
    import pandas as pd
    from scipy.special import xlogy

    n, length = terms.counts.shape
    total = terms.counts.sum(axis=1)
    is_tested = total >= FEWEST
    papers, expected = (
        np.column_stack([np.zeros(n), np.cumsum(of, axis=1)])
        for of in (terms.counts, terms.expected)
    )
    p, begin, end, variance = (
        np.ones(n),
        np.full(n, length - n_last),
        np.full(n, length),
        np.zeros(n),
    )
    periods = [
        (start, stop)
        for start in range(length - n_last, length)
        for stop in [*(start + one for one in _LENGTHS if start + one < length), length]
    ]
    for start, stop in periods:
        inside, mean = papers[:, stop] - papers[:, start], expected[:, stop] - expected[:, start]
        share = np.clip(mean / total, 1e-9, 1 - 1e-9)
        # Signed root of the likelihood ratio: a standard normal if the rate is constant
        ratio = xlogy(inside, inside / (total * share)) + xlogy(
            total - inside, (total - inside) / (total * (1 - share))
        )
        sigma = np.sign(inside - mean) * np.sqrt(2 * np.maximum(ratio, 0))
        scatter = _fit_scatter(sigma, total * share * (1 - share))
        rows = np.flatnonzero((sigma > _PROMISING) & is_tested & (inside >= FEWEST_NEW))
        found = _tail(inside[rows], total[rows], share[rows], scatter)
        better = found < p[rows]
        rows, found = rows[better], found[better]
        p[rows], begin[rows], end[rows], variance[rows] = found, start, stop, scatter
    table = pd.DataFrame(
        {
            "term": terms.names,
            "kind": terms.kinds,
            "since": begin,
            "last": end - 1,
            "scatter": variance,
            "p": np.where(is_tested, np.minimum(p * n_last, 1.0), np.nan),
        }
    )
    return _measure(table, terms), float(variance.max(initial=0.0))


def _fit_scatter(sigma: Floats, binomial: Floats) -> float:
    """Return the variance of the logarithm of rates, so that a fifth of the terms are outliers."""
    from scipy.optimize import brentq
    from scipy.stats import chi2

    known = binomial >= 2
    if known.sum() < _FEWEST_TERMS:
        return 0.0
    square, mean, limit = sigma[known] ** 2, binomial[known], chi2.ppf(1 - _OUTLIERS, 1)

    def excess(scatter: float) -> float:
        return float(np.quantile(square / (1 + scatter * mean), 1 - _OUTLIERS) - limit)

    if excess(0.0) <= 0:
        return 0.0
    if excess(_LARGEST_SCATTER) >= 0:
        return _LARGEST_SCATTER
    return float(brentq(excess, 0.0, _LARGEST_SCATTER, xtol=1e-4))


def _tail(inside: Floats, total: Floats, share: Floats, scatter: float) -> Floats:
    """Return the probability of as many papers in a period, or more."""
    from scipy.stats import binom, norm

    if scatter == 0:
        return np.asarray(binom.sf(inside - 1, total, share), dtype=np.float64)
    weights = norm.pdf(_NODES)
    odds = (share / (1 - share))[:, None] * np.exp(np.sqrt(scatter) * _NODES)
    tails = binom.sf(inside[:, None] - 1, total[:, None], odds / (1 + odds))
    return np.asarray(tails @ weights / weights.sum(), dtype=np.float64)


def _measure(table: pd.DataFrame, terms: Terms) -> pd.DataFrame:
    """Add the numbers of papers in the period of each term, and its change with an interval."""
    month = np.arange(terms.counts.shape[1])
    since, last = (table[name].to_numpy()[:, None] for name in ("since", "last"))
    is_in = (month >= since) & (month <= last)

    def sums(of: Floats, where: NDArray[np.bool_]) -> Floats:
        return np.asarray(of.sum(axis=1, where=where), dtype=np.float64)

    papers, expected = sums(terms.counts, is_in), sums(terms.expected, is_in)
    rest, expected_rest = sums(terms.counts, ~is_in), sums(terms.expected, ~is_in)
    before, expected_before = sums(terms.counts, month < since), sums(terms.expected, month < since)
    # Half a paper is added to both numbers, as in the odds ratio of Haldane (1956).
    log = np.log((papers + 0.5) / np.maximum(expected, 1e-9)) - np.log(
        (rest + 0.5) / np.maximum(expected_rest, 1e-9)
    )
    cells = np.stack([papers + 0.5, rest + 0.5])
    spread = odds_ratio_interval(cells, scatter=table["scatter"])
    rate = papers / np.maximum(expected, 1e-9)
    rate_before = before / np.maximum(expected_before, 1e-9)
    is_new = (rate_before <= _NEW_RATE * rate) & (before <= _NEW_RATE * papers)
    is_over = last[:, 0] < len(month) - 1
    return table.assign(
        papers=papers.astype(int),
        expected=expected,
        papers_before=before.astype(int),
        additional=papers - expected * rest / np.maximum(expected_rest, 1e-9),
        change=np.exp(log),
        share_earlier=terms.earlier,
        change_low=np.exp(log) / spread,
        change_high=np.exp(log) * spread,
        **{"class": np.select([is_new, is_over], ["new", "burst"], "growing")},
        why="",
    )


def _refined(news: pd.DataFrame, terms: Terms, first: int) -> pd.DataFrame:
    """Move both ends of each period to the most likely months; omit news from before `first`.

    A period that ends with the last month stays open, and may begin some months earlier.
    """
    rows, ends = [], []
    for row, last in zip(news.index, news["last"], strict=True):
        length = len(terms.counts[row])
        closes = range(length) if last < length - 1 else (length - 1,)
        fits = [(_fit(terms, row, close), close) for close in closes]
        fit, close = max(fits, key=lambda one: one[0].max())
        start = int(fit.argmax())
        is_open = close == length - 1 and start >= first - _STILL
        if start >= first or is_open:
            rows.append(row)
            ends.append((start, close))
    table = news.loc[rows]
    if not rows:
        return table
    table[["since", "last"]] = ends
    return _measure(table, terms.part(rows))


def _fit(terms: Terms, row: int, last: int) -> Floats:
    """Return the log likelihood ratio of a rise from each month to the last one of a period."""
    from scipy.special import xlogy

    counts, expected = terms.counts[row], terms.expected[row]
    inside = counts[: last + 1][::-1].cumsum()[::-1]
    mean = np.maximum(expected[: last + 1][::-1].cumsum()[::-1], 1e-9)
    rest, total = counts.sum() - inside, max(expected.sum(), 1e-9)
    fit = xlogy(inside, inside / mean) + xlogy(rest, rest / np.maximum(total - mean, 1e-9))
    fit[inside / mean * (total - mean) < rest] = -np.inf  # a fall
    return np.asarray(fit, dtype=np.float64)


def _is_established(terms: pd.Series, atlas: AtlasStore) -> NDArray[np.bool_]:
    """Return whether each term is one of the thesaurus, so that its subject is not new."""
    concepts = atlas.thesaurus.concepts.values()
    known = {normal_form(name) for concept in concepts for name in concept.names}
    return np.array([normal_form(term.partition(" (")[0]) in known for term in terms], dtype=bool)


def _papers_in(table: pd.DataFrame, period: Period) -> Floats:
    """Count all papers of the corpus in the period of each term."""
    sums = np.append(0, np.cumsum(period.mix.sum(axis=0)))
    return np.asarray(sums[table["last"].to_numpy() + 1] - sums[table["since"].to_numpy()])


def _add_intervals(table: pd.DataFrame, terms: Terms) -> pd.DataFrame:
    """Add the first months that fit almost as well as the best one (95%)."""
    low, high = [], []
    for row, since, last in zip(table.index, table["since"], table["last"], strict=True):
        fit = _fit(terms, row, int(last))
        near = np.flatnonzero(fit >= fit[int(since)] - _WITHIN)
        low.append(min(int(since), *near))
        high.append(max(int(since), *near))
    return table.assign(since_low=low, since_high=high)


def _from_names(found: pd.DataFrame, terms: Terms, period: Period, months: int) -> pd.DataFrame:
    """Return the objects whose names have a date in the last months; they need no test."""
    begin, rows, first = period.first + period.length - months, [], []
    for row in np.flatnonzero(terms.kinds == "object").tolist():
        month = month_of_name(str(terms.names[row]))
        papers = np.flatnonzero(terms.counts[row])
        # The papers on an object of the month before are news too, if they appear later.
        is_dated = month is not None and month >= begin - _STILL
        if is_dated and period.first + papers[0] >= begin:
            rows.append(row)
            first.append(int(papers[0]))
    chosen = terms.part(rows)
    dated = found.loc[rows, ["term", "kind"]].assign(
        since=first, last=period.length - 1, scatter=0.0
    )
    return _measure(dated, chosen).assign(
        **{"class": "new"}, **dict.fromkeys(_CHANGE, np.nan), why=_DATED
    )


def _group(table: pd.DataFrame, terms: Terms) -> pd.DataFrame:
    """Join the names of the same news, which have much the same papers; the first name stays."""
    leaders: list[tuple[int, set[int], list[str], int]] = []
    for row, name, since, last in zip(
        table.index, table["term"], table["since"], table["last"], strict=True
    ):
        papers = set(terms.papers_of(row, since, last).tolist())
        for _, others, names, begin in leaders:
            has_same_papers = len(papers & others) >= _SAME * np.sqrt(len(papers) * len(others))
            if has_same_papers or (since == begin and _share_a_name(names[0], str(name))):
                names.append(str(name))
                break
        else:
            leaders.append((row, papers, [str(name)], since))
    also = [
        "; ".join(name for name in dict.fromkeys(names) if name.casefold() != names[0].casefold())
        for _, _, names, _ in leaders
    ]
    kept = table.loc[[row for row, _, _, _ in leaders]]
    kept.insert(2, "also", also)
    return kept


def _share_a_name(one: str, other: str) -> bool:
    """Return whether two names have a word with capitals in common, such as SKA and SKAO."""
    words = [
        {word[:_LETTERS] for word in WORDS.findall(name) if sum(map(str.isupper, word)) > 1}
        for name in (one, other)
    ]
    return bool(words[0] & words[1])


def _locate(table: pd.DataFrame, terms: Terms, atlas: AtlasStore) -> pd.DataFrame:
    """Add the region that has the most papers of each topic."""
    import pandas as pd

    topic = atlas.map["topic_id"].to_numpy(np.int64)
    largest = []
    for row, since, last in zip(table.index, table["since"], table["last"], strict=True):
        of = topic[terms.papers_of(row, since, last)]
        ids, sizes = np.unique(of[of >= 0], return_counts=True)
        largest.append(int(ids[sizes.argmax()]) if len(ids) else -1)
    names = pd.Series(largest, dtype=np.int64).map(atlas.region_names).fillna("")
    return table.assign(topic_id=largest, region=names.to_numpy())


def _tabulate(table: pd.DataFrame, terms: Terms, period: Period) -> pd.DataFrame:
    """Return papers and expected papers of each topic by month, quarter or year."""
    import pandas as pd

    step = next(step for step, most in _STEPS if period.length <= most)
    month = period.first + np.arange(period.length)
    bins, place = np.unique(month // step, return_inverse=True)
    frames = []
    for row, name in zip(table.index, table["term"], strict=True):
        papers, expected = (np.bincount(place, of[row]) for of in (terms.counts, terms.expected))
        if table.loc[row, "why"]:
            expected = np.full(len(bins), np.nan)  # unknown, before the name existed
        else:  # at the rate of the other months
            outside = np.ones(period.length, dtype=bool)
            outside[int(table.loc[row, "since"]) : int(table.loc[row, "last"]) + 1] = False
            rest = max(terms.expected[row][outside].sum(), 1e-9)
            expected = expected * (terms.counts[row][outside].sum() / rest)
        low, high = poisson_range(expected)
        frames.append(
            pd.DataFrame(
                {
                    "term": name,
                    "year": (bins + 0.5) * step / 12,
                    "papers": papers.astype(int),
                    "expected": expected,
                    "expected_low": low,
                    "expected_high": high,
                    "covered": np.bincount(place) == step,
                }
            )
        )
    if not frames:
        columns = ["papers", "expected", "expected_low", "expected_high", "covered"]
        return pd.DataFrame(columns=["term", "year", *columns])
    return pd.concat(frames, ignore_index=True)


def _first_papers(table: pd.DataFrame, terms: Terms, atlas: AtlasStore) -> pd.DataFrame:
    """List the first papers of each topic."""
    import pandas as pd

    rows, names = [], []
    for row, name, since, last in zip(
        table.index, table["term"], table["since"], table["last"], strict=True
    ):
        papers = terms.papers_of(row, since, last)
        first = papers[np.lexsort((papers, terms.month[papers]))][:_N_PAPERS]
        rows += first.tolist()
        names += [name] * len(first)
    papers = atlas.read_papers(["date", "title", "paper_id"], rows=rows)
    papers.insert(0, "term", names)
    return papers.assign(date=pd.to_datetime(papers["date"]).dt.strftime("%Y-%m-%d"))
