"""A literature as terrain: many papers are mountains, none is water."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError
from landscape.outreach.splines import Surface
from landscape.progress import progress

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Grid = NDArray[np.float32]
    Floats = NDArray[np.float64]

LARGEST = 4096  # pixels along a side of the arrays


@dataclass(frozen=True)
class Peak:
    """The highest ground of one region.

    Attributes
    ----------
    region : int
        Its ``topic_id``.
    x, y : float
        Map coordinates.
    elevation : float
        0 (sea level) to 1 (highest peak of the map).
    papers : int
        Papers of the region.
    summit : bool
        Whether the ground falls on every side; False is the shoulder of a neighbour's mountain.
    """

    region: int
    x: float
    y: float
    elevation: float
    papers: int
    summit: bool = True


@dataclass(frozen=True)
class River:
    """Where citations run from one region to another, more than chance would bring.

    Attributes
    ----------
    source, target : int
        ``topic_id`` of the region that is cited, and of the one that cites it.
    citations : int
        How many.
    x, y : ndarray of float, shape (n,)
        Course on the map, in map coordinates, from source to target.
    """

    source: int
    target: int
    citations: int
    x: Floats
    y: Floats


@dataclass(frozen=True)
class Terrain:
    """The numbers behind the picture. Arrays lie as pictures do: row 0 is the top, the highest y.

    Attributes
    ----------
    elevation : ndarray of float32, shape (height, width)
        0 is sea level, 1 the highest peak, negative (down to -1) under water.
    recency : ndarray of float32, shape (height, width)
        Share of recent papers among the dated ones near each pixel, 0 to 1; where papers are few
        it is drawn to `recent_share`. NaN everywhere when the dates do not tell.
    extent : (float, float, float, float)
        ``x0, x1, y0, y1``: map coordinates of the left, right, bottom and top edges.
    peaks : tuple of Peak
        One for each region that has land, the highest first.
    rivers : tuple of River
        The strongest flows of citations, the largest first; empty where the data give none.
    n_papers : int
        Papers of the atlas.
    n_undated : int
        Papers without a year: they count for the height, never for the recency.
    years : (int, int) or None
        First and last year of the papers.
    middle_year : int or None
        Latest year from which on at least half of the dated papers are.
    recent_years : (int, int) or None
        First and last year that count as recent; None when the dates do not tell.
    recent_share : float
        Share of recent papers among all the dated ones; NaN when the dates do not tell.
    sea_share : float
        Share of the papers that the sea level was asked to leave on land.
    land_share : float
        Share of the papers that lie on land.
    sea_density, peak_density : float
        Papers per square unit of the map at sea level and on the highest peak.
    atlas_hash : str
        Digest of positions, regions and years: the same data give the same hash.
    title : str
        Name of the atlas.
    generated : bool
        Whether any paper is made up.
    """

    elevation: Grid
    recency: Grid
    extent: tuple[float, float, float, float]
    peaks: tuple[Peak, ...] = ()
    rivers: tuple[River, ...] = ()
    n_papers: int = 0
    n_undated: int = 0
    years: tuple[int, int] | None = None
    middle_year: int | None = None
    recent_years: tuple[int, int] | None = None
    recent_share: float = float("nan")
    sea_share: float = 0.97
    land_share: float = float("nan")
    sea_density: float = float("nan")
    peak_density: float = float("nan")
    atlas_hash: str = ""
    title: str = "Papers"
    generated: bool = False

    @property
    def size(self) -> tuple[int, int]:
        """Width and height, in pixels."""
        return self.elevation.shape[1], self.elevation.shape[0]

    @property
    def land(self) -> NDArray[np.bool_]:
        """Where there is land, shape (height, width)."""
        return self.elevation >= 0

    def pixels_of(self, x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
        """Column and row of map positions, in pixels from the upper left corner of the picture.

        Examples
        --------
        >>> flat = np.zeros((10, 20), dtype=np.float32)
        >>> column, row = Terrain(flat, flat, (0.0, 2.0, 0.0, 1.0)).pixels_of([1.0], [1.0])
        >>> column.tolist(), row.tolist()
        ([10.0], [0.0])
        """
        x0, x1, y0, y1 = self.extent
        width, height = self.size
        column = (np.asarray(x, dtype=np.float64) - x0) * (width / (x1 - x0))
        row = (y1 - np.asarray(y, dtype=np.float64)) * (height / (y1 - y0))
        return column, row

    def resized(self, size: tuple[int, int]) -> Terrain:
        """Draw the same terrain on more pixels or fewer, without facets.

        Parameters
        ----------
        size : (int, int)
            Width and height, in pixels.

        Returns
        -------
        Terrain

        Examples
        --------
        >>> hill = np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]], dtype=np.float32)
        >>> Terrain(hill, hill, (0.0, 1.0, 0.0, 1.0)).resized((30, 12)).size
        (30, 12)
        """
        if size == self.size:
            return self
        return replace(
            self,
            elevation=np.clip(Surface.through(self.elevation).at(size), -1, 1),
            recency=np.clip(Surface.through(self.recency).at(size), 0, 1),
        )

    def window(self, left: int, top: int, right: int, bottom: int) -> Terrain:
        """Cut a window out, in pixels; peaks and rivers keep their map coordinates.

        Parameters
        ----------
        left, top, right, bottom : int
            Columns ``left`` to ``right - 1`` and rows ``top`` to ``bottom - 1``.

        Returns
        -------
        Terrain

        Examples
        --------
        >>> flat = np.zeros((10, 20), dtype=np.float32)
        >>> Terrain(flat, flat, (0.0, 2.0, 0.0, 1.0)).window(10, 0, 20, 5).extent
        (1.0, 2.0, 0.5, 1.0)
        """
        x0, x1, y0, y1 = self.extent
        width, height = self.size
        across, up = (x1 - x0) / width, (y1 - y0) / height
        return replace(
            self,
            elevation=self.elevation[top:bottom, left:right],
            recency=self.recency[top:bottom, left:right],
            extent=(x0 + left * across, x0 + right * across, y1 - bottom * up, y1 - top * up),
        )


@progress("Shaping the terrain", total=None, unit="steps")
def make_terrain(
    atlas: Any,
    *,
    size: tuple[int, int] = (2048, 2048),
    sea_share: float = 0.97,
    recent_years: int = 5,
    margin: float = 0.04,
) -> Terrain:
    """Turn the map of an atlas into terrain.

    The number of papers is counted on a fine grid, smoothed, and its logarithm is the height. The
    sea stands at the contour that holds `sea_share` of the papers. Islets of a handful of papers
    are drowned and puddles filled before the level is found. The same atlas gives the same
    terrain, to the bit.

    Parameters
    ----------
    atlas : Atlas
        With its ``map`` and, if there, ``topics`` and the years of its papers.
    size : (int, int), default (2048, 2048)
        Width and height of the arrays, in pixels, each 16 to 4,096: what is finer than that
        `landscape.outreach.painting.paint` draws from the same terrain at any size.
    sea_share : float, default 0.97
        Share of the papers on land, 0.5 to 0.999.
    recent_years : int, default 5
        How many of the last years that the corpus covers count as recent.
    margin : float, default 0.04
        Water between the land and the edge, as a share of the longer side.

    Returns
    -------
    Terrain

    Raises
    ------
    InputError
        For an atlas without papers or with positions that are not finite, or a setting beyond its
        limits.

    Examples
    --------
    >>> import pandas as pd
    >>> from types import SimpleNamespace
    >>> x, y = np.random.default_rng(0).normal(size=(2, 300))
    >>> terrain = make_terrain(SimpleNamespace(map=pd.DataFrame({"x": x, "y": y})), size=(64, 48))
    >>> terrain.size, terrain.n_papers, round(terrain.land_share, 2)
    ((64, 48), 300, 0.97)
    """
    from landscape.figures._maps import positions
    from landscape.outreach.columns import citations_of, digest_of, topics_of, years_of
    from landscape.outreach.elevation import raise_ground, relief_of
    from landscape.outreach.peaks import find_peaks
    from landscape.outreach.recency import map_recency, read_dates
    from landscape.outreach.rivers import citation_flows, find_rivers

    _check(size, sea_share=sea_share, recent_years=recent_years, margin=margin)
    x, y = positions(atlas.map["x"], atlas.map["y"])
    dates = read_dates(years_of(atlas, len(x)), recent_years=recent_years)
    topic = topics_of(atlas, len(x))
    ground = raise_ground(x, y, aspect=size[0] / size[1], sea_share=sea_share, margin=margin)
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


def _check(size: tuple[int, int], *, sea_share: float, recent_years: int, margin: float) -> None:
    if not all(16 <= side <= LARGEST for side in size):
        raise InputError(
            f"A terrain of {size[0]:,} x {size[1]:,} pixels cannot be made; each side must be 16 "
            f"to {LARGEST:,}. Larger pictures are painted from a terrain of that shape: "
            "paint(terrain, size=...)."
        )
    if not 0.5 <= sea_share <= 0.999:
        raise InputError(f"The share of papers on land is {sea_share}; use 0.5 to 0.999.")
    if recent_years < 1:
        raise InputError(f"Recent means the last {recent_years} years; use 1 or more.")
    if not 0 <= margin <= 0.3:
        raise InputError(f"The margin of water is {margin} of the sheet; use 0 to 0.3.")
