"""A literature as terrain: many papers are mountains, none is water."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from landscape.outreach.splines import Surface

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Grid = NDArray[np.float32]
    Floats = NDArray[np.float64]


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
