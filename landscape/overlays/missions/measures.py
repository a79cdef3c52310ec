"""Compute statistics of facilities: shares, bootstrap samples, entropy and citations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from landscape.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


_MAX_TABLED = 100  # largest Poisson mean with tabled quantiles; larger ones are drawn as normal


def count_equal_rows(
    columns: Sequence[NDArray[np.integer]], repeats: NDArray[np.int64] | None = None
) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
    """Find the distinct rows of integer columns, and count the papers with equal rows.

    `repeats` has the number of papers of each row, by default 1.
    """
    sizes = [int(column.max(initial=-1)) + 2 for column in columns]
    code = np.zeros(len(columns[0]), dtype=np.int64)
    for column, size in zip(columns, sizes, strict=True):
        code = code * size + (column + 1)
    if repeats is not None:
        code, repeats = code[repeats > 0], repeats[repeats > 0]
    codes, place = np.unique(code, return_inverse=True)
    counts = np.bincount(place, weights=repeats, minlength=len(codes)).astype(np.int64)
    values = []
    for size in reversed(sizes):
        codes, value = np.divmod(codes, size)
        values.append(value - 1)
    return values[::-1], counts


def draw_cells(
    counts: NDArray[np.int64], *, n_resamples: int, random: np.random.Generator
) -> NDArray[np.float32]:
    """Draw Poisson bootstrap samples of counted papers, shape (n_resamples, n_cells).

    A cell is a group of papers with equal values. The count of a cell of c papers in a sample is
    drawn from a Poisson distribution with mean c (Hanley & MacGibbon 2006, Comput. Methods Programs
    Biomed. 83, 57). The cost depends on the number of cells, not on the number of papers.
    """
    drawn = np.empty((len(counts), n_resamples), dtype=np.float32)
    for mean in np.unique(counts[counts <= _MAX_TABLED]).tolist():
        places = np.flatnonzero(counts == mean)
        random_bits = random.integers(0, 1 << 16, size=(len(places), n_resamples), dtype=np.uint16)
        drawn[places] = _poisson_quantiles(mean)[random_bits]
    large = np.flatnonzero(counts > _MAX_TABLED)
    means = counts[large, None].astype(np.float32)
    noise = random.standard_normal((len(large), n_resamples), dtype=np.float32)
    drawn[large] = np.maximum(np.rint(means + np.sqrt(means) * noise), 0)
    return drawn.T


@cache
def _poisson_quantiles(mean: int) -> NDArray[np.float32]:
    """Return Poisson quantiles at the midpoints of 65,536 equal steps of probability."""
    from scipy.special import pdtr

    most = int(mean + 8 * np.sqrt(mean) + 10)
    steps = (np.arange(1 << 16) + 0.5) / (1 << 16)
    return np.searchsorted(pdtr(np.arange(most + 1), mean), steps).astype(np.float32)


_CORE_SHARE = 0.8  # share of the papers in the core regions


def entropy(counts: ArrayLike, *, n_regions: int | None = None) -> NDArray[np.float64]:
    """Return the entropy of papers over regions in nats, corrected as in Miller (1955).

    `n_regions` is the number of all regions if `counts` omits regions without papers.
    """
    given = np.asarray(counts, dtype=np.float64)
    total = given.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = given / total[..., None]
        plain = -np.where(share > 0, share * np.log(share), 0.0).sum(axis=-1)
        corrected = plain + ((given > 0).sum(axis=-1) - 1) / (2 * total)
    capped = np.minimum(corrected, np.log(max(n_regions or given.shape[-1], 1)))
    return np.where(total > 0, capped, np.nan)


def core_regions(counts: ArrayLike, *, share: float = _CORE_SHARE) -> NDArray[np.bool_]:
    """Return a mask of the smallest set of regions that contains a given share of the papers."""
    given = np.asarray(counts, dtype=np.int64)
    chosen = np.zeros(len(given), dtype=bool)
    order = np.argsort(-given, kind="stable")
    held = np.cumsum(given[order])
    if len(held) and held[-1]:
        needed = int(np.searchsorted(held, share * held[-1] - 1e-9)) + 1
        chosen[order[:needed]] = True
    return chosen


_MAX_BLOCKS = 1_000_000  # largest number of a block; above it, empty blocks are removed
_STRENGTHS = (0.5, 1e5)  # bounds of the weight of the prior, in papers


@dataclass(frozen=True)
class ShareMap:
    """Share of the papers that mention a facility, on a grid over the map."""

    extent: tuple[float, float, float, float]
    share: NDArray[np.float64]
    papers: NDArray[np.float64]
    facility_papers: NDArray[np.float64]
    overall: float
    prior_papers: float
    bandwidth: float


def share_map(
    x: ArrayLike,
    y: ArrayLike,
    mask: ArrayLike,
    *,
    extent: tuple[float, float, float, float] | None = None,
    shape: tuple[int, int] = (256, 256),
    bandwidth: float | None = None,
    weights: ArrayLike | None = None,
) -> ShareMap:
    r"""Map the local share of a facility, shrunk towards the overall share if papers are few.

    The local share is the beta-binomial mean :math:`(k + m\mu)/(n + m)`. Here k and n are the
    numbers of the facility's papers and of all papers (smoothed density times the effective area
    of the kernel, :math:`4\pi h^2`), :math:`\mu` is the overall share, and m is the weight of the
    overall share. `weights` are the expected shares of the papers relative to the overall share;
    n is their sum.
    """
    from landscape.mapping import density_grid
    from landscape.mapping.density import default_bandwidth, kernel_within, map_extent

    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    uses = np.asarray(mask, dtype=bool)
    if len(uses) != len(x):
        raise InputError(
            f"The mask has {len(uses):,} values, but there are {len(x):,} papers; give one value "
            "per paper."
        )
    window = map_extent(x, y) if extent is None else extent
    kernel = kernel_within(window, default_bandwidth(x, y) if bandwidth is None else bandwidth)
    every = density_grid(x, y, bounds=window, shape=shape, bandwidth=kernel, weights=weights)
    its = density_grid(x[uses], y[uses], bounds=window, shape=shape, bandwidth=kernel)
    area = max(4 * np.pi * kernel**2 / (every.cell_width * every.cell_height), 1.0)
    papers, hits = every.density * area, its.density * area
    overall = float(uses.mean())
    weight = fit_prior_papers(*_blocks(x, y, uses, side=2 * kernel), mean=overall)
    share = (hits + weight * overall) / (papers + weight)
    return ShareMap(window, share, papers, hits, overall, weight, float(kernel))


def fit_prior_papers(hits: ArrayLike, papers: ArrayLike, *, mean: float) -> float:
    """Fit the weight of the overall share by empirical Bayes (Casella 1985, Am. Stat. 39, 83)."""
    from scipy.optimize import minimize_scalar
    from scipy.special import betaln

    k, n = np.asarray(hits, dtype=np.float64), np.asarray(papers, dtype=np.float64)
    kept = n > 0
    if not kept.any() or not 0 < mean < 1:
        return 1.0
    pairs, repeats = np.unique(np.column_stack([k[kept], n[kept]]), axis=0, return_counts=True)
    k, n = pairs.T

    def unlikelihood(log_weight: float) -> float:
        a, b = np.exp(log_weight) * mean, np.exp(log_weight) * (1 - mean)
        return -float(np.sum(repeats * (betaln(k + a, n - k + b) - betaln(a, b))))

    optimum = minimize_scalar(unlikelihood, bounds=np.log(_STRENGTHS), method="bounded")
    return float(np.exp(optimum.x))


def shrink_shares(hits: ArrayLike, papers: ArrayLike, *, mean: float) -> NDArray[np.float64]:
    """Compute shares, and shrink shares from few papers towards the overall share."""
    weight = fit_prior_papers(hits, papers, mean=mean)
    return (np.asarray(hits) + weight * mean) / (np.asarray(papers) + weight)


def _blocks(
    x: NDArray[np.float64], y: NDArray[np.float64], uses: NDArray[np.bool_], *, side: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count papers in square blocks; unlike smoothed cells, the blocks are independent."""
    column = np.floor((x - x.min()) / side).astype(np.int64)
    row = np.floor((y - y.min()) / side).astype(np.int64)
    code = row * (int(column.max(initial=0)) + 1) + column
    if code.max(initial=0) > _MAX_BLOCKS:  # remove the empty blocks caused by outliers
        code = np.unique(code, return_inverse=True)[1]
    return np.bincount(code, uses).astype(np.int64), np.bincount(code)


_MEASURES = ("citations", "citations_median", "citations_share")
PERCENTILE_STEPS = 200  # number of percentile steps (0.5% each)


def measure_citations(
    cites: NDArray[np.float64],
    corpus: tuple[NDArray[np.float64], NDArray[np.int64]],
    draw: Callable[[NDArray[np.int64]], NDArray[np.float32]],
) -> tuple[dict[str, float], dict[str, NDArray[np.float64]]]:
    """Return the sum, median and share of a facility's citations, with bootstrap samples."""
    known = cites[np.isfinite(cites)]
    values, papers = corpus
    places, its = np.unique(np.searchsorted(values, known), return_counts=True)
    drawn = draw(its.astype(np.int64))
    found, draws = [np.nan] * 3, [np.full(len(drawn), np.nan)] * 3
    if len(known):
        others = papers.copy()
        others[places] -= its
        rest = draw(others) @ values
        sums = drawn @ values[places]
        total, every = float(known.sum()), float(papers @ values)
        found = [total, float(np.median(known)), total / every if every else np.nan]
        with np.errstate(divide="ignore", invalid="ignore"):
            draws = [sums, median_of_counts(values[places], drawn), sums / (sums + rest)]
    estimates = {"cited_papers": float(len(known))} | dict(zip(_MEASURES, found, strict=True))
    return estimates, dict(zip(_MEASURES, draws, strict=True))


def citation_percentiles(
    cites: NDArray[np.float64], year: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return citation percentiles within the same year (Schreiber 2013, JASIST 64, 372)."""
    import pandas as pd

    groups = pd.Series(cites).groupby(year)
    ranks = groups.rank(method="average")
    return ((ranks - 0.5) / groups.transform("count")).to_numpy()


def measure_percentile(
    percentiles: NDArray[np.float64], draw: Callable[[NDArray[np.int64]], NDArray[np.float32]]
) -> tuple[float, NDArray[np.float64]]:
    """Return the mean citation percentile of a facility's papers, and its bootstrap values."""
    known = percentiles[np.isfinite(percentiles)]
    steps, counts = np.unique(np.round(known * PERCENTILE_STEPS), return_counts=True)
    drawn = draw(counts.astype(np.int64))
    with np.errstate(invalid="ignore"):
        means = drawn @ (steps / PERCENTILE_STEPS) / drawn.sum(axis=1)
    return float(known.mean()) if len(known) else float("nan"), means


def median_of_counts(
    values: NDArray[np.float64], counts: NDArray[np.number]
) -> NDArray[np.float64]:
    """Return the median of each sample from the number of occurrences of each value."""
    if not len(values):
        return np.full(len(counts), np.nan)
    held = np.cumsum(counts, axis=1)
    papers = held[:, -1:]
    lower = values[np.argmax(held >= (papers + 1) // 2, axis=1)]
    upper = values[np.argmax(held >= papers // 2 + 1, axis=1)]
    return np.where(papers[:, 0] > 0, (lower + upper) / 2, np.nan)
