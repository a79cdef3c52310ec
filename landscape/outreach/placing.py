"""Finding room for names: along ranges where that helps, else beside their peak."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from landscape.figures._labels import boxes_overlap
from landscape.outreach.curves import Baseline
from landscape.outreach.letters import Run, Style, extent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEADING = 1.08  # of the lines of one name, in font sizes
_RAISES = (0.0, 0.8, -0.8, 1.6, -1.6, 2.6, -2.6)  # in font sizes
_SLIDES = (0.5, 0.3, 0.7, 0.05, 0.95)  # where in the free length a name begins


@dataclass
class Room:
    """What of the map is still free: the frame, and the boxes taken so far.

    Attributes
    ----------
    frame : (float, float, float, float)
        No letter may leave it, in points.
    taken : ndarray of float, shape (n, 4)
        Boxes that no name may touch.
    gap : float
        Least distance between two names, in points.
    """

    frame: tuple[float, float, float, float]
    taken: Floats
    gap: float

    def free(self, boxes: Floats) -> bool:
        """Say whether boxes lie inside the frame and touch nothing.

        Examples
        --------
        >>> room = Room((0, 0, 100, 100), np.array([[0.0, 0, 20, 20]]), gap=2.0)
        >>> room.free(np.array([[30.0, 30, 40, 40]])), room.free(np.array([[21.0, 0, 30, 9]]))
        (True, False)
        """
        if not len(boxes):
            return False
        x0, y0, x1, y1 = self.frame
        inside = (boxes[:, :2] >= (x0, y0)).all() and (boxes[:, 2:] <= (x1, y1)).all()
        return bool(
            inside and not boxes_overlap(boxes[:, None], self.taken[None], gap=self.gap).any()
        )

    def take(self, boxes: Floats) -> None:
        """Take the room under some boxes."""
        self.taken = np.concatenate([self.taken, np.asarray(boxes, float).reshape(-1, 4)])


def along(
    lines: Sequence[str], style: Style, baseline: Baseline, *, spread: tuple[float, float]
) -> Iterator[tuple[float, list[Run]]]:
    """Set a name along a line in every way that may do, the best first.

    Parameters
    ----------
    lines : sequence of str
        The name, broken into lines.
    style : Style
    baseline : Baseline
        Through the middle of what is named.
    spread : (float, float)
        Least and most tracking, in font sizes; the name fills three quarters of the line where
        that tracking allows.

    Yields
    ------
    (float, list of Run)
        What each way costs, and the runs: one a line. Nothing where the name is too long.

    Examples
    --------
    >>> level = Baseline(np.column_stack([np.linspace(0, 200, 160), np.full(160, 50.0)]))
    >>> ways = along(["Dark matter"], Style(("STIXGeneral",), 10), level, spread=(0.0, 1.0))
    >>> next(ways)[1][0].style.tracking > 0.1
    True
    """
    longest = max(lines, key=lambda line: extent(line, style).width)
    tracked = _tracked(longest, style, 0.75 * baseline.length, spread)
    middle = (len(lines) - 1) / 2
    rise = 0.33 * style.size  # the middle of the letters lies above their baseline
    widths = [extent(line, tracked).width for line in lines]
    if max(widths) > 1.02 * baseline.length:
        return
    costs = [
        (0.5 * abs(raise_) + 1.2 * abs(slide - 0.5), raise_, slide)
        for raise_ in _RAISES
        for slide in _SLIDES
    ]
    for cost, raise_, slide in sorted(costs, key=lambda way: way[0]):
        runs = []
        for number, (line, width) in enumerate(zip(lines, widths, strict=True)):
            up = raise_ * style.size + (middle - number) * LEADING * style.size - rise
            ground = baseline.moved(up)
            start = slide * (ground.length - max(widths)) + (max(widths) - width) / 2
            runs.append(Run(line, tracked, baseline=ground.cut(start, width)))
        yield cost, runs


def block(lines: Sequence[str], style: Style) -> tuple[float, float]:
    """Width and height of a name on straight lines, in points.

    Examples
    --------
    >>> style = Style(("STIXGeneral",), 10)
    >>> block(["a", "b"], style)[1] > block(["a"], style)[1] + 10
    True
    """
    extents = [extent(line, style) for line in lines]
    leading = LEADING * style.size * (len(lines) - 1)
    height = extents[0].ascent + leading + extents[-1].descent
    return max(one.width for one in extents), height


def straight(lines: Sequence[str], style: Style, box: Floats, side: str) -> list[Run]:
    """Set a name on straight lines into a box that `block` measured.

    Parameters
    ----------
    lines : sequence of str
    style : Style
    box : ndarray of float, shape (4,)
    side : {"left", "centre", "right"}
        What its lines are flush with.

    Returns
    -------
    list of Run

    Examples
    --------
    >>> straight(["dark"], Style(("STIXGeneral",), 10), np.array([5.0, 5, 30, 15]), "left")[0].x
    5.0
    """
    runs = []
    top = extent(lines[0], style).ascent
    for number, line in enumerate(lines):
        width = extent(line, style).width
        x = {"left": box[0], "right": box[2] - width}.get(side, (box[0] + box[2] - width) / 2)
        y = box[3] - top - number * LEADING * style.size
        runs.append(Run(line, style, x=float(x), y=float(y)))
    return runs


def shape_cost(size: tuple[float, float], *, best: float = 3.2) -> float:
    """Cost of a way to break a name: least about `best` times as wide as high."""
    return 0.55 * max(abs(np.log2(size[0] / max(size[1], 1e-6) / best)) - 0.5, 0.0)


def _tracked(line: str, style: Style, length: float, spread: tuple[float, float]) -> Style:
    """Space letters so that a line comes near a length."""
    least = replace(style, tracking=spread[0])
    gaps = max(1, len(line) - 1)
    wanted = spread[0] + (length - extent(line, least).width) / (gaps * style.size)
    return replace(style, tracking=float(np.clip(wanted, *spread)))
