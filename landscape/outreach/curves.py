"""Baselines that bend: the line along a range of mountains, and letters set along it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.path import Path
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_STEPS = 96  # points of a baseline
_SHARPEST = np.radians(50)  # turn from the first letter to the last


@dataclass(frozen=True)
class Baseline:
    """A smooth line to set letters on, from left to right.

    Attributes
    ----------
    points : ndarray of float, shape (n, 2)
        In points (1/72 inch) of the page, y upwards, equally far apart.
    """

    points: Floats

    @property
    def length(self) -> float:
        """Length, in points."""
        return float(self._course[0][-1])

    @cached_property
    def _course(self) -> tuple[Floats, Floats]:
        """Distance from the start at each point, and how the line runs there."""
        steps = np.hypot(*np.diff(self.points, axis=0).T)
        reached = np.concatenate([[0.0], np.cumsum(steps)])
        return reached, np.gradient(self.points, reached, axis=0)

    def at(self, along: Floats) -> tuple[Floats, Floats]:
        """Positions and unit normals at distances from the start, each of shape (n, 2)."""
        reached, slopes = self._course
        where = np.column_stack(
            [np.interp(along, reached, self.points[:, axis]) for axis in (0, 1)]
        )
        tangent = np.column_stack([np.interp(along, reached, slopes[:, axis]) for axis in (0, 1)])
        tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
        # Beyond its ends the line goes on straight.
        over = np.asarray(along) - np.clip(along, 0, reached[-1])
        where = where + over[:, None] * tangent
        return where, np.column_stack([-tangent[:, 1], tangent[:, 0]])

    def cut(self, start: float, length: float) -> Baseline:
        """Take a part, `start` points from the beginning and `length` points long."""
        where, _ = self.at(np.linspace(start, start + length, _STEPS))
        return Baseline(where)

    def moved(self, up: float) -> Baseline:
        """Move along the normals, `up` points to the left of the line."""
        along = np.linspace(0, self.length, _STEPS)
        where, normals = self.at(along)
        return Baseline(where + up * normals)


@dataclass(frozen=True)
class Ridge:
    """The line that a cloud of points is stretched along.

    Attributes
    ----------
    baseline : Baseline
        Through the middle of the cloud, from left to right.
    elongation : float
        How many times longer than wide the cloud is.
    steepest : float
        Largest angle between the line and the horizontal, in degrees.
    """

    baseline: Baseline
    elongation: float
    steepest: float


def ridge_line(points: Floats, *, coverage: float = 0.8) -> Ridge:
    """Fit the line that a cloud of points is stretched along: a parabola about its main axis.

    Parameters
    ----------
    points : ndarray of float, shape (n, 2)
        In points of the page, y upwards; at least three that do not coincide.
    coverage : float, default 0.8
        Fraction of the points between the two ends of the line.

    Returns
    -------
    Ridge

    Notes
    -----
    The main axis is the first principal component; the bend is the least-squares parabola over it,
    held below a turn of 50 degrees from end to end.

    Examples
    --------
    >>> x = np.linspace(0, 100, 200)
    >>> ridge = ridge_line(np.column_stack([x, 0.002 * (x - 50) ** 2 + np.sin(9 * x)]))
    >>> ridge.steepest < 20, ridge.elongation > 5
    (True, True)
    >>> bool(ridge.baseline.points[0, 1] > ridge.baseline.points[48, 1])
    True
    """
    cloud = np.asarray(points, dtype=np.float64)
    centre = np.median(cloud, axis=0)
    offsets = cloud - centre
    variances, axes = np.linalg.eigh(np.cov(offsets.T) + 1e-9 * np.eye(2))
    main = axes[:, 1] * (1 if axes[0, 1] >= 0 else -1)
    side = np.array([-main[1], main[0]])
    along, across = offsets @ main, offsets @ side
    tail = (1 - coverage) / 2
    first, last = np.quantile(along, [tail, 1 - tail])
    inner = (along >= first) & (along <= last)
    half = max((last - first) / 2, 1e-6)
    middle = (first + last) / 2
    scaled = (along[inner] - middle) / half
    bend, slope, height = 0.0, 0.0, float(np.median(across))
    if inner.sum() >= 8:
        bend, slope, height = np.polyfit(scaled, across[inner], 2)
    most = float(np.tan(_SHARPEST / 2)) * half / 2  # of a parabola, the slope at its ends is 2b/h
    bend = float(np.clip(bend, -most, most))
    slope = float(np.clip(slope, -0.3 * half, 0.3 * half))
    t = np.linspace(-1, 1, _STEPS)
    line = centre + np.outer(middle + half * t, main)
    line = line + np.outer(bend * t**2 + slope * t + height, side)
    steepest = np.abs(np.arctan2(*np.diff(line, axis=0).T[::-1])).max()
    return Ridge(
        baseline=_even(line),
        elongation=float(np.sqrt(variances[1] / max(variances[0], 1e-9))),
        steepest=float(np.degrees(steepest)),
    )


def bent(path: Path, baseline: Baseline) -> Path:
    """Bend an outline that lies along the x axis, so that it lies along a baseline.

    Parameters
    ----------
    path : matplotlib.path.Path
        Outline of a text whose baseline is the x axis, in points.
    baseline : Baseline

    Returns
    -------
    matplotlib.path.Path

    Examples
    --------
    >>> from matplotlib.path import Path
    >>> level = Baseline(np.column_stack([np.linspace(10, 20, 50), np.full(50, 5.0)]))
    >>> bent(Path([[0, 0], [4, 2]]), level).vertices.tolist()
    [[10.0, 5.0], [14.0, 7.0]]
    """
    from matplotlib.path import Path

    vertices = np.asarray(path.vertices, dtype=np.float64)
    where, normals = baseline.at(vertices[:, 0])
    return Path(where + vertices[:, 1:] * normals, path.codes)


def _even(line: Floats) -> Baseline:
    """Space the points of a line evenly."""
    reached = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    along = np.linspace(0, reached[-1], _STEPS)
    return Baseline(np.column_stack([np.interp(along, reached, line[:, axis]) for axis in (0, 1)]))
