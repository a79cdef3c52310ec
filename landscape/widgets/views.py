"""The window of a map that a panel shows, and its scale in pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from landscape.errors import InputError

Box = tuple[float, float, float, float]
Size = tuple[int, int]
_SAMPLED = 200_000  # positions that tell the window of all
_MARGIN = 0.06
CLOSEST = 2e4  # zoom beyond which float32 places fall apart
FARTHEST = 1e-2


@dataclass(frozen=True)
class View:
    """A window of the map with equal scale both ways.

    Attributes
    ----------
    box : (float, float, float, float)
        ``x0, y0, x1, y1`` in map units.

    Examples
    --------
    >>> View((0.0, 0.0, 2.0, 1.0)).zoomed(2.0).box
    (0.5, 0.25, 1.5, 0.75)
    """

    box: Box

    @property
    def width(self) -> float:
        """In map units."""
        return self.box[2] - self.box[0]

    @property
    def height(self) -> float:
        """In map units."""
        return self.box[3] - self.box[1]

    @property
    def centre(self) -> tuple[float, float]:
        """In map units."""
        x0, y0, x1, y1 = self.box
        return (x0 + x1) / 2, (y0 + y1) / 2

    def zoomed(self, factor: float) -> View:
        """Look closer (a factor above 1) or from further away, at the same centre."""
        (x, y), across, up = self.centre, self.width / factor / 2, self.height / factor / 2
        return View((x - across, y - up, x + across, y + up))

    def moved(self, across: float, up: float) -> View:
        """Move by fractions of the window."""
        x0, y0, x1, y1 = self.box
        dx, dy = across * self.width, up * self.height
        return View((x0 + dx, y0 + dy, x1 + dx, y1 + dy))

    def to_pixels(self, x: Any, y: Any, size: Size) -> np.ndarray[Any, Any]:
        """Map units to pixels from the lower left corner, shape (n, 2)."""
        x0, y0, x1, y1 = self.box
        across = (np.asarray(x, dtype=float) - x0) * (size[0] / (x1 - x0))
        up = (np.asarray(y, dtype=float) - y0) * (size[1] / (y1 - y0))
        return np.column_stack([across, up])

    def holds(self, x: Any, y: Any) -> Any:
        """Whether places lie in the window, shape (n,)."""
        x0, y0, x1, y1 = self.box
        return (x >= x0) & (x <= x1) & (y >= y0) & (y <= y1)

    def differs_from(self, other: View) -> bool:
        """Whether another window is not the same to the eye."""
        slack = 1e-3 * min(self.width, other.width)
        return bool(np.max(np.abs(np.subtract(self.box, other.box))) > slack)


def view_of(box: Sequence[float], size: Size) -> View:
    """The smallest window of a size's shape that holds a box.

    Parameters
    ----------
    box : sequence of 4 float
        ``x0, y0, x1, y1`` in map units.
    size : (int, int)
        Width and height in pixels.

    Returns
    -------
    View

    Raises
    ------
    InputError
        If the box is none.

    Examples
    --------
    >>> view_of((0, 0, 1, 1), (200, 100)).box
    (-0.5, 0.0, 1.5, 1.0)
    """
    try:
        x0, y0, x1, y1 = (float(side) for side in box)
    except (TypeError, ValueError):
        raise InputError(f"The view is {box!r}; give (x0, y0, x1, y1) in map units.") from None
    if not (np.isfinite([x0, y0, x1, y1]).all() and x1 > x0 and y1 > y0):
        raise InputError(f"The view {box!r} is empty; give (x0, y0, x1, y1) with x0 < x1.")
    unit = max((x1 - x0) / size[0], (y1 - y0) / size[1])  # map units a pixel
    if unit * size[0] == x1 - x0 and unit * size[1] == y1 - y0:
        return View((x0, y0, x1, y1))
    (x, y), across, up = ((x0 + x1) / 2, (y0 + y1) / 2), unit * size[0] / 2, unit * size[1] / 2
    return View((x - across, y - up, x + across, y + up))


def whole_view(x: Any, y: Any, size: Size) -> View:
    """The window of all papers; a few that lie far off do not shrink the map of all others.

    Parameters
    ----------
    x, y : ndarray of float, shape (n,)
        Finite positions in map units.
    size : (int, int)
        Width and height in pixels.

    Returns
    -------
    View

    Examples
    --------
    >>> whole_view(np.array([3.0]), np.array([4.0]), (100, 100)).centre
    (3.0, 4.0)
    """
    sides = []
    for values in (x, y):
        some = np.asarray(values[:: max(1, len(values) // _SAMPLED)], dtype=float)
        if not len(some):
            sides.append((-1.0, 1.0))
            continue
        low, high = np.quantile(some, [0.0005, 0.9995])
        slack = 0.2 * (high - low)
        low, high = max(float(some.min()), low - slack), min(float(some.max()), high + slack)
        # Papers in one spot still get a window whose sides can be told apart.
        room = max(_MARGIN * (high - low), 1e-3 * max(1.0, abs(low)))
        sides.append((float(low - room), float(high + room)))
    (x0, x1), (y0, y1) = sides
    return view_of((x0, y0, x1, y1), size)
