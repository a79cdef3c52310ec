"""Shares of the local literature as a picture: scale, opacity, and what is hatched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landscape.figures.hues import Series, share_ramp

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from landscape.figures.colours import Theme
    from landscape.figures.page import Frame
    from landscape.figures.panels import Key, Plate
    from landscape.overlays.missions._measures import ShareMap

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

_CELL = 2.2  # points on the page
_TOPS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.10, 0.15, 0.20, 0.25, 0.50, 1.0)
# Papers under the kernel: below the first a place shows nothing, from the second it is opaque.
_SEEN, _SOLID = 2.0, 12.0
_SMOOTHED = 3  # cells: narrower slivers are not hatched


@dataclass(frozen=True)
class Scale:
    """From a share to a place on the ramp.

    Attributes
    ----------
    top : float
        Share at which the ramp ends.
    """

    top: float

    def position(self, share: Floats) -> Floats:
        """Place on the ramp, 0 to 1."""
        return np.clip(share / self.top, 0, 1)

    def meanings(self, n: int = 6) -> list[str]:
        """What evenly spaced colours mean.

        Examples
        --------
        >>> Scale(0.05).meanings()
        ['0%', '1%', '2%', '3%', '4%', '≥5%']
        """
        texts = [f"{100 * share:.3g}%" for share in np.linspace(0, self.top, n)]
        return [*texts[:-1], texts[-1] if self.top >= 1 else f"≥{texts[-1]}"]


def choose_scale(maps: Sequence[ShareMap]) -> Scale:
    """Choose one scale for several maps: it ends at a round number that few papers exceed.

    Parameters
    ----------
    maps : sequence of ShareMap

    Returns
    -------
    Scale
    """
    shares = np.concatenate([found.share[found.papers >= _SOLID] for found in maps])
    papers = np.concatenate([found.papers[found.papers >= _SOLID] for found in maps])
    if not len(shares):
        return Scale(max((found.overall for found in maps), default=0.0) or _TOPS[0])
    order = np.argsort(shares)
    held = np.cumsum(papers[order])
    high = shares[order][int(np.searchsorted(held, 0.985 * held[-1]))]
    return Scale(next((top for top in _TOPS if top >= 0.999 * high), 1.0))


def grid_shape(frame: Frame, *, scale: float) -> tuple[int, int]:
    """Rows and columns of a share map that fills a frame."""
    left, bottom, right, top = frame.page
    cell = _CELL * scale
    return max(16, round((top - bottom) / cell)), max(16, round((right - left) / cell))


def draw_shares(
    plate: Plate,
    axes: Axes,
    found: ShareMap,
    scale: Scale,
    *,
    everywhere: ShareMap | None = None,
    outline: bool = True,
) -> None:
    """Draw a share map, fading out where papers are few.

    Parameters
    ----------
    plate : Plate
    axes : matplotlib.axes.Axes
        In map units.
    found : ShareMap
    scale : Scale
    everywhere : ShareMap, optional
        The map of all years: where it has papers and `found` has none is hatched.
    outline : bool, default True
        Whether to draw the line that holds half of the facility's papers.
    """
    from landscape.figures.panels import draw_lines, draw_picture, hatch

    ramp = share_ramp(plate.colours)
    draw_picture(axes, picture(found, scale, ramp), found.extent, gid="share")
    if everywhere is not None:
        hatch(axes, bare_ground(found, everywhere), found.extent, colour=plate.colours.faint)
    if outline and found.facility_papers.sum() > 0:
        style = Series(plate.colours.ink, "-")
        draw_lines(axes, half_of(found), style, width=0.55 * plate.scale, gid="half")


def bare_ground(found: ShareMap, everywhere: ShareMap) -> Bools:
    """Where the corpus has papers, but hardly any of the period; without slivers."""
    from scipy.ndimage import binary_opening

    bare = (everywhere.papers >= _SOLID) & (found.papers < _SEEN)
    return np.asarray(binary_opening(bare, iterations=_SMOOTHED), dtype=bool)


def half_of(found: ShareMap) -> list[Floats]:
    """Contours that hold half of the facility's papers."""
    from landscape.overlays._contours import Grid, contour_lines, highest_density_levels

    grid = Grid(found.extent, found.facility_papers)
    (level,) = highest_density_levels(grid, (0.5,))
    return contour_lines(grid, level)


def picture(found: ShareMap, scale: Scale, ramp: Floats) -> Floats:
    """Colours of a share map with their opacity, shape (rows, columns, 4)."""
    tone = np.round(scale.position(found.share) * (len(ramp) - 1)).astype(int)
    seen = np.clip((found.papers - _SEEN) / (_SOLID - _SEEN), 0, 1)
    opacity = seen * seen * (3 - 2 * seen)
    return np.dstack([ramp[tone], opacity])


def share_key(colours: Theme, scale: Scale) -> Key:
    """The key of a share map."""
    from landscape.figures.panels import Key

    return Key("Share of the papers there", share_ramp(colours), scale.meanings())
