"""Arrows between papers on a map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.figures.page import Frame, Page

_BEND = 0.12  # of the length: lines there and back do not cover each other
_SHORTEST = 6.0  # points; shorter ones would be hidden by the marks


def draw_links(
    page: Page,
    frame: Frame,
    places: NDArray[np.float64],
    links: Sequence[tuple[int, int]],
) -> int:
    """Draw bent arrows below the marks of papers.

    Parameters
    ----------
    page : Page
        With its density picture.
    frame : Frame
    places : ndarray of float64, shape (n, 2)
        In map units.
    links : sequence of (int, int)
        From which paper to which.

    Returns
    -------
    int
        How many are long enough to be seen.
    """
    from matplotlib.patches import FancyArrowPatch

    if not len(links):
        return 0
    at = frame.to_page(places[:, 0], places[:, 1])
    axes = page.sheet.axes[0]
    drawn = 0
    for start, end in links:
        if np.hypot(*(at[end] - at[start])) < _SHORTEST * page.scale:
            continue
        arrow = FancyArrowPatch(
            tuple(at[start]),
            tuple(at[end]),
            transform=page.points,
            connectionstyle=f"arc3,rad={_BEND}",
            arrowstyle="-|>",
            mutation_scale=5.0 * page.scale,
            linewidth=0.6 * page.scale,
            color=page.colours.found,
            alpha=0.55,
            shrinkA=2.5 * page.scale,
            shrinkB=2.5 * page.scale,
            zorder=2.2,
            gid="led to",
        )
        axes.add_patch(arrow)
        drawn += 1
    return drawn
