"""Make the terrain of an atlas: heights, peaks, rivers, and the recency of papers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from landscape._progress import progress
from landscape._settings import Number, Settings, Whole, takes_settings
from landscape.errors import InputError
from landscape.outreach._elevation import Ground, Surface, blurred, measure_ground, relief_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from landscape.store import AtlasStore

    Grid = NDArray[np.float32]
    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Course = tuple[Floats, Floats, float]


MAX_SIZE = 4096  # pixels along a side of the arrays


@dataclass(frozen=True)
class Peak:
    """The highest point of one region."""

    region: int
    x: float
    y: float
    elevation: float
    papers: int
    summit: bool = True


@dataclass(frozen=True)
class River:
    """Citations between two regions that are more frequent than expected by chance."""

    source: int
    target: int
    citations: int
    x: Floats
    y: Floats


@dataclass(frozen=True)
class Terrain:
    """Terrain of an atlas. Row 0 of the arrays is the top of the map, with the highest y."""

    elevation: Grid  # sea level 0, highest peak 1, water -1 to 0
    # Share of recent papers among the dated papers near each pixel, 0 to 1, shrunk towards
    # `recent_share` where there are few papers; NaN if too few papers have dates
    recency: Grid
    # ``x0, x1, y0, y1``: map coordinates of the left, right, bottom and top edges
    extent: tuple[float, float, float, float]
    peaks: tuple[Peak, ...] = ()  # highest point of each region with land, sorted by height
    rivers: tuple[River, ...] = ()  # strongest flows of citations, sorted by strength
    n_papers: int = 0  # number of papers of the atlas
    n_undated: int = 0  # number of papers without a year, which are used only for the height
    years: tuple[int, int] | None = None  # first and last year of the papers
    middle_year: int | None = None  # median year of the dated papers
    recent_years: tuple[int, int] | None = None  # first and last recent year, if known
    recent_share: float = float("nan")  # share of recent papers among the dated papers
    sea_share: float = 0.97  # requested share of the papers on land
    land_share: float = float("nan")  # share of the papers on land
    sea_density: float = float("nan")  # papers per unit area of the map at sea level
    peak_density: float = float("nan")  # papers per unit area on the highest peak
    atlas_hash: str = ""  # hash of positions, regions and years
    title: str = "Papers"  # name of the atlas
    generated: bool = False  # whether the atlas contains synthetic papers

    @property
    def size(self) -> tuple[int, int]:
        """Width and height, in pixels."""
        return self.elevation.shape[1], self.elevation.shape[0]

    @property
    def land(self) -> NDArray[np.bool_]:
        """Mask of the land, shape (height, width)."""
        return self.elevation >= 0

    def pixels_of(self, x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
        """Return the columns and rows of map positions, in pixels from the upper left corner."""
        x0, x1, y0, y1 = self.extent
        width, height = self.size
        column = (np.asarray(x, dtype=np.float64) - x0) * (width / (x1 - x0))
        row = (y1 - np.asarray(y, dtype=np.float64)) * (height / (y1 - y0))
        return column, row

    def window(self, left: int, top: int, right: int, bottom: int) -> Terrain:
        """Crop the terrain to a window in pixels; peaks and rivers are unchanged."""
        x0, x1, y0, y1 = self.extent
        width, height = self.size
        across, up = (x1 - x0) / width, (y1 - y0) / height
        return replace(
            self,
            elevation=self.elevation[top:bottom, left:right],
            recency=self.recency[top:bottom, left:right],
            extent=(x0 + left * across, x0 + right * across, y1 - bottom * up, y1 - top * up),
        )


class TerrainSettings(Settings):
    """Settings of the land, the water and the coasts."""

    sea_share: Number = Field(
        0.97, ge=0.5, le=0.999, description="share of the papers that are on land"
    )
    recent_years: Whole = Field(
        5,
        ge=1,
        le=200,
        description="number of years, at the end of the corpus, that are considered recent",
    )
    margin: Number = Field(
        0.04,
        ge=0,
        le=0.3,
        description="width of the water at the edge, as a share of the longer side",
    )


@takes_settings(TerrainSettings)
@progress("Shaping the terrain", total=None, unit="steps")
def make_terrain(
    atlas: AtlasStore, *, size: tuple[int, int] = (2048, 2048), **settings: object
) -> Terrain:
    """Make the terrain of the map of an atlas.

    The height is the logarithm of the smoothed density of papers. The sea level is the contour
    that contains `sea_share` of the papers, after very small islands and lakes are removed. The
    result is bit-identical for the same atlas.

    Parameters
    ----------
    atlas : Atlas
        Atlas with ``map`` and, optionally, ``topics`` and the years of the papers.
    size : (int, int), default (2048, 2048)
        Width and height of the arrays, in pixels, each 16 to 4,096;
        `landscape.outreach.paint` draws the terrain at any size.
    **settings

    Returns
    -------
    Terrain

    Raises
    ------
    InputError
        If the atlas has no papers, a position is not finite, or a setting is out of range.

    Examples
    --------
    >>> import pandas as pd
    >>> from types import SimpleNamespace
    >>> x, y = np.random.default_rng(0).normal(size=(2, 300))
    >>> terrain = make_terrain(SimpleNamespace(map=pd.DataFrame({"x": x, "y": y})), size=(64, 48))
    >>> terrain.size, terrain.n_papers, round(terrain.land_share, 2)
    ((64, 48), 300, 0.97)
    """
    from landscape.figures.maps import positions

    _check(size)
    chosen = TerrainSettings(**settings)
    sea_share = chosen.sea_share
    x, y = positions(atlas.map["x"], atlas.map["y"])
    dates = read_dates(years_of(atlas, len(x)), recent_years=chosen.recent_years)
    topic = topics_of(atlas, len(x))
    ground = measure_ground(
        x, y, aspect=size[0] / size[1], sea_share=sea_share, margin=chosen.margin
    )
    highest = max(float(ground.height.max()), 1e-6)
    recency = map_recency(ground, x, y, dates)
    peaks = find_peaks(ground, x, y, topic)
    flows = citation_flows(*citations_of(atlas), topic)
    coverage = dict(getattr(atlas, "coverage", None) or {})
    return Terrain(
        elevation=relief_of(Surface.through(ground.height).at(size), highest=highest),
        recency=np.clip(Surface.through(recency).at(size), 0, 1),
        extent=ground.extent,
        peaks=peaks,
        rivers=find_rivers(ground, peaks, flows),
        n_papers=len(x),
        n_undated=dates.n_undated,
        years=dates.span,
        middle_year=dates.middle,
        recent_years=dates.recent,
        recent_share=dates.share,
        sea_share=sea_share,
        land_share=ground.land_share,
        sea_density=ground.sea_density,
        peak_density=ground.peak_density,
        atlas_hash=digest_of(x, y, topic, dates.years),
        title=str(coverage.get("title") or "Papers"),
        generated=bool(coverage.get("generated")),
    )


def _check(size: tuple[int, int]) -> None:
    if not all(16 <= side <= MAX_SIZE for side in size):
        raise InputError(
            f"A terrain of {size[0]:,} x {size[1]:,} pixels is not supported; each side must be 16 "
            f"to {MAX_SIZE:,} pixels. For a larger picture, use paint(terrain, size=...)."
        )


def years_of(atlas: AtlasStore, n_papers: int) -> NDArray[np.float64]:
    """Return the year of each paper, or NaN if it is unknown."""
    if not hasattr(atlas, "read_papers"):
        return np.full(n_papers, np.nan)
    return np.asarray(atlas.read_papers(["year"])["year"].to_numpy(np.float64, na_value=np.nan))


def topics_of(atlas: AtlasStore, n_papers: int) -> NDArray[np.int64]:
    """Return the region of each paper, or -1 for a paper without a region."""
    if "topic_id" not in atlas.map:
        return np.full(n_papers, -1)
    return np.asarray(atlas.map["topic_id"], dtype=np.int64)


def citations_of(atlas: AtlasStore) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of the citing and the cited papers, for citations within the atlas."""
    graph = getattr(atlas, "citations", None)
    if graph is None or not graph.n_links:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    links = graph.reference_links
    citing = np.repeat(np.arange(links.n_nodes), links.degrees)
    cited = np.asarray(links.targets, dtype=np.int64)
    both = (citing < len(atlas.map)) & (cited < len(atlas.map))
    return citing[both], cited[both]


def digest_of(*columns: np.ndarray) -> str:
    """Return a hash of columns of numbers."""
    import hashlib

    whole = hashlib.sha256()
    for column in columns:
        whole.update(np.ascontiguousarray(column).tobytes())
    return whole.hexdigest()[:32]


_VOTES = 25  # number of nearest papers that determine the region of a summit


def find_peaks(ground: Ground, x: Floats, y: Floats, topic: NDArray[np.int64]) -> tuple[Peak, ...]:
    """Find the highest point of each region that has land."""
    height = ground.height
    highest = max(float(height.max()), 1e-6)
    cells, inside = ground.cells_of(x, y)
    named = np.flatnonzero(inside & (topic >= 0) & (height.ravel()[cells] > 0))
    if not len(named):
        return ()
    papers = dict(
        zip(*(part.tolist() for part in np.unique(topic, return_counts=True)), strict=True)
    )
    best: dict[int, tuple[bool, float, int]] = {}
    # Start with the highest paper of each region. Replace it if the region has a summit.
    order = named[np.lexsort((cells[named], height.ravel()[cells[named]]))]
    for region, last in zip(*np.unique(topic[order][::-1], return_index=True), strict=True):
        cell = int(cells[order[::-1][last]])
        best[int(region)] = (False, float(height.ravel()[cell]), cell)
    for cell, region in _summits(ground, x[named], y[named], topic[named]):
        claim = (True, float(height.ravel()[cell]), cell)
        best[region] = max(best[region], claim)
    drawn = relief_of(np.array([claim[1] for claim in best.values()], np.float32), highest=highest)
    x0, x1, y0, y1 = ground.extent
    rows, columns = height.shape
    peaks = [
        Peak(
            region=region,
            x=x0 + (cell % columns + 0.5) * (x1 - x0) / columns,
            y=y1 - (cell // columns + 0.5) * (y1 - y0) / rows,
            elevation=float(elevation),
            papers=papers[region],
            summit=summit,
        )
        for (region, (summit, _, cell)), elevation in zip(best.items(), drawn, strict=True)
    ]
    return tuple(sorted(peaks, key=lambda peak: (-peak.elevation, peak.region)))


def _summits(
    ground: Ground, x: Floats, y: Floats, topic: NDArray[np.int64]
) -> list[tuple[int, int]]:
    """Return the cell and the region of each local maximum on land."""
    from scipy.ndimage import maximum_filter
    from scipy.spatial import cKDTree

    height = ground.height
    width = 2 * round(ground.bandwidth) + 1
    top = (height == maximum_filter(height, size=width, mode="nearest")) & (height > 0)
    row, column = np.nonzero(top)
    x0, x1, y0, y1 = ground.extent
    places = np.column_stack(
        [
            x0 + (column + 0.5) * (x1 - x0) / height.shape[1],
            y1 - (row + 0.5) * (y1 - y0) / height.shape[0],
        ]
    )
    votes = min(_VOTES, len(x))
    _, nearest = cKDTree(np.column_stack([x, y])).query(places, k=votes)
    regions = topic[np.asarray(nearest).reshape(len(places), votes)]
    return [
        (int(cell), int(np.bincount(voting).argmax()))
        for cell, voting in zip(row * height.shape[1] + column, regions, strict=True)
    ]


_WIDE = 2.0  # kernel width of the recency, relative to the narrowest kernel of the heights
_PRIOR = 25.0  # weight of the share of the whole corpus, in papers
_STRAY = 0.002  # share of papers with the latest dates, which are treated as errors
# Recency is mapped only if the share of recent papers differs from 0 and 1 by more than this.
_TELLING = 0.02


@dataclass(frozen=True)
class Dates:
    """Recent years of a corpus and the recency of its papers."""

    years: Floats
    span: tuple[int, int] | None
    recent: tuple[int, int] | None
    share: float

    @property
    def middle(self) -> int | None:
        """Median year of the dated papers, or the later of two middle years."""
        known = np.sort(self.years[np.isfinite(self.years)])
        return int(known[len(known) // 2]) if len(known) else None

    @property
    def n_undated(self) -> int:
        """Number of papers without a year."""
        return int(np.isnan(self.years).sum())


def read_dates(years: ArrayLike, *, recent_years: int) -> Dates:
    """Find the recent years of a corpus, and the share of papers in them."""
    year = np.asarray(years, dtype=np.float64)
    known = np.sort(year[np.isfinite(year)])
    if not len(known):
        return Dates(year, None, None, float("nan"))
    span = (int(known[0]), int(known[-1]))
    stray = int(_STRAY * len(known))
    last = int(known[len(known) - 1 - stray])
    recent = (last - recent_years + 1, last)
    share = float(np.mean(known >= recent[0]))
    if not _TELLING < share < 1 - _TELLING or len(known) < _PRIOR / 5:
        return Dates(year, span, None, float("nan"))
    return Dates(year, span, recent, share)


def map_recency(ground: Ground, x: Floats, y: Floats, dates: Dates) -> Grid:
    """Smooth the share of recent papers over the map.

    The share is :math:`(r + k s) / (d + k)`, the mean of a beta-binomial distribution. Here
    :math:`r` is the number of recent papers and :math:`d` the number of dated papers within the
    kernel, :math:`s` is the share of the whole map, and :math:`k = 25` papers. Places with few
    papers therefore have a share near :math:`s`.
    """
    shape = ground.height.shape
    if dates.recent is None:
        return np.full(shape, np.nan, dtype=np.float32)
    cells, inside = ground.cells_of(x, y)
    dated = inside & np.isfinite(dates.years)
    newer = dated & (dates.years >= dates.recent[0])

    def counted(chosen: np.ndarray) -> Grid:
        counts = np.bincount(cells[chosen], minlength=shape[0] * shape[1])
        return counts.reshape(shape).astype(np.float32)

    sigma = _WIDE * ground.bandwidth
    within = np.float32(4 * np.pi * sigma**2)  # number of cells in the Gaussian
    all_dated = blurred(counted(dated), sigma) * within
    recent = blurred(counted(newer), sigma) * within
    share = (recent + _PRIOR * dates.share) / (all_dated + _PRIOR)
    return np.clip(share, 0, 1).astype(np.float32)


def recency_position(recency: np.ndarray, *, whole: float) -> np.ndarray:
    """Compare shares of recent papers with the corpus, from 0 (older) to 1 (newer)."""
    if np.isnan(whole):
        return np.full_like(np.asarray(recency, dtype=np.float32), 0.5)
    share = np.clip(recency, 1e-4, 1 - 1e-4)
    odds = np.log(share / (1 - share)) - np.log(whole / (1 - whole))
    return np.clip(0.5 + odds / (2 * np.log(7)), 0, 1)


MOST = 18  # maximum number of rivers on a map
_MIN_CITATIONS = 12
_BEYOND_CHANCE = 2.0
_STEP = 4  # cells of the height grid per cell of the river grid
_MIN_LENGTH = 0.06  # minimum length of a river, relative to the longer side


def citation_flows(citing: Ints, cited: Ints, topic: Ints) -> list[tuple[int, int, int]]:
    """Count citations between regions that cite each other more often than expected by chance."""
    source, target = topic[cited], topic[citing]
    between = (source >= 0) & (target >= 0) & (source != target)
    source, target = source[between], target[between]
    if not len(source):
        return []
    regions, code = np.unique(np.concatenate([source, target]), return_inverse=True)
    n = len(regions)
    table = np.bincount(code[: len(source)] * n + code[len(source) :], minlength=n * n)
    table = table.reshape(n, n)
    chance = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    strong = (table >= _MIN_CITATIONS) & (table >= _BEYOND_CHANCE * chance)
    # Keep the stronger direction of each pair. If both are equal, keep the direction from the
    # region with the lower number.
    lower = np.tri(n, k=-1, dtype=bool)
    strong &= (table > table.T) | ((table == table.T) & ~lower)
    flows = [(int(regions[i]), int(regions[j]), int(table[i, j])) for i, j in np.argwhere(strong)]
    return sorted(flows, key=lambda flow: (-flow[2], flow[0], flow[1]))


def find_rivers(
    ground: Ground, peaks: Sequence[Peak], flows: Sequence[tuple[int, int, int]]
) -> tuple[River, ...]:
    """Find the courses of rivers for the strongest flows, in valleys and only on land."""
    from scipy.ndimage import distance_transform_edt
    from skimage.graph import MCP_Geometric

    where = {peak.region: (peak.x, peak.y) for peak in peaks}
    height = ground.height[::_STEP, ::_STEP].astype(np.float64)
    share = height / height.max()
    inland = distance_transform_edt(height > 0)
    # Negative costs are impassable; cells along the coast are expensive.
    cost = 0.12 + 4 * np.maximum(share, 0) ** 1.5 + 1.5 * np.exp(-inland / 2)
    cost = np.where(share > 0.02, cost, -1.0)
    x0, x1, y0, y1 = ground.extent
    rows, columns = height.shape

    def cell_of(place: tuple[float, float]) -> tuple[int, int]:
        row = int((y1 - place[1]) / (y1 - y0) * rows)
        column = int((place[0] - x0) / (x1 - x0) * columns)
        return min(max(row, 0), rows - 1), min(max(column, 0), columns - 1)

    rivers: list[River] = []
    for source, target, citations in flows:
        if len(rivers) == MOST:
            break
        if source not in where or target not in where:
            continue
        start, end = cell_of(where[source]), cell_of(where[target])
        if cost[start] < 0 or cost[end] < 0:
            continue
        search: Any = MCP_Geometric(cost)
        reach, _ = search.find_costs([start], [end])
        if not np.isfinite(reach[end]):
            continue
        path = np.array(search.traceback(end), dtype=np.float64)
        if len(path) < _MIN_LENGTH * max(rows, columns):
            continue
        bed = path.astype(int)
        cost[bed[:, 0], bed[:, 1]] = np.minimum(cost[bed[:, 0], bed[:, 1]], 0.09)
        smooth = _rounded(path)
        rivers.append(
            River(
                source=source,
                target=target,
                citations=citations,
                x=x0 + (smooth[:, 1] + 0.5) * (x1 - x0) / columns,
                y=y1 - (smooth[:, 0] + 0.5) * (y1 - y0) / rows,
            )
        )
    return tuple(rivers)


def _rounded(path: Floats) -> Floats:
    """Smooth a path on a grid, and keep its ends fixed."""
    from scipy.ndimage import gaussian_filter1d

    along = np.arange(len(path))
    finer = np.linspace(0, len(path) - 1, 4 * (len(path) - 1) + 1)
    fine = np.column_stack([np.interp(finer, along, side) for side in path.T])
    line = fine[0] + (fine[-1] - fine[0]) * (finer / finer[-1])[:, None]
    # The difference from the straight line is zero at the ends.
    bends = gaussian_filter1d(fine - line, 6.0, axis=0, mode="constant")
    bends *= np.minimum(1, np.minimum(finer, finer[::-1]) / 2)[:, None]
    return np.asarray(line + bends)


def river_cover(
    size: tuple[int, int], window: tuple[int, int, int, int], courses: Sequence[Course]
) -> NDArray[np.float32]:
    """Return the share of each pixel that rivers cover; rivers widen along their course."""
    left, top, right, bottom = window
    cover = np.zeros((bottom - top, right - left), dtype=np.float32)
    for across, down, breadth in courses:
        column, row = across * size[0], down * size[1]
        for i in range(len(column) - 1):
            a, b = (column[i], row[i]), (column[i + 1], row[i + 1])
            half = breadth * (0.4 + 0.6 * (i + 1) / (len(column) - 1)) / 2
            reach = half + 1
            x0 = max(left, int(np.floor(min(a[0], b[0]) - reach)))
            x1 = min(right, int(np.ceil(max(a[0], b[0]) + reach)))
            y0 = max(top, int(np.floor(min(a[1], b[1]) - reach)))
            y1 = min(bottom, int(np.ceil(max(a[1], b[1]) + reach)))
            if x0 >= x1 or y0 >= y1:
                continue
            away_x = np.arange(x0, x1) + 0.5 - a[0]
            away_y = (np.arange(y0, y1) + 0.5 - a[1])[:, None]
            run = np.array([b[0] - a[0], b[1] - a[1]])
            part = np.clip((away_x * run[0] + away_y * run[1]) / max(run @ run, 1e-12), 0, 1)
            away = np.hypot(away_x - part * run[0], away_y - part * run[1])
            patch = cover[y0 - top : y1 - top, x0 - left : x1 - left]
            np.maximum(patch, np.clip(half + 0.5 - away, 0, 1), out=patch, casting="same_kind")
    return cover
