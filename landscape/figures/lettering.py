"""Outlines, sizes and line breaks of text in any script, and baselines for curved text."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from landscape.figures.fonts import FONTS, breaks_anywhere, can_be_spaced, clusters, covers, font
from landscape.figures.scene import Layer

if TYPE_CHECKING:
    from matplotlib.font_manager import FontProperties
    from matplotlib.path import Path
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


HALO_OPACITY = 0.66  # of the halo of a line of text
_STEPS = 96  # number of points of a baseline
_SHARPEST = np.radians(50)  # maximum angle between the first and the last letter


@dataclass(frozen=True)
class Baseline:
    """A smooth line for the letters of a label, from left to right."""

    points: Floats

    @property
    def length(self) -> float:
        """Length of the line, in points."""
        return float(self._course[0][-1])

    @cached_property
    def _course(self) -> tuple[Floats, Floats]:
        """Return the distance from the start, and the direction of the line, at each point."""
        steps = np.hypot(*np.diff(self.points, axis=0).T)
        reached = np.concatenate([[0.0], np.cumsum(steps)])
        return reached, np.gradient(self.points, reached, axis=0)

    def at(self, along: Floats) -> tuple[Floats, Floats]:
        """Return positions and unit normals at distances from the start, each of shape (n, 2)."""
        reached, slopes = self._course
        where = np.column_stack(
            [np.interp(along, reached, self.points[:, axis]) for axis in (0, 1)]
        )
        tangent = np.column_stack([np.interp(along, reached, slopes[:, axis]) for axis in (0, 1)])
        tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
        # The line continues straight beyond its ends.
        over = np.asarray(along) - np.clip(along, 0, reached[-1])
        where = where + over[:, None] * tangent
        return where, np.column_stack([-tangent[:, 1], tangent[:, 0]])

    def cut(self, start: float, length: float) -> Baseline:
        """Return the part that begins at `start` and has the given length, in points."""
        where, _ = self.at(np.linspace(start, start + length, _STEPS))
        return Baseline(where)

    def moved(self, up: float) -> Baseline:
        """Return the line moved along its normals by `up` points."""
        along = np.linspace(0, self.length, _STEPS)
        where, normals = self.at(along)
        return Baseline(where + up * normals)


@dataclass(frozen=True)
class Ridge:
    """Smooth main line of a point cloud, with its elongation and largest slope."""

    baseline: Baseline
    elongation: float
    steepest: float


def ridge_line(points: Floats, *, coverage: float = 0.8) -> Ridge:
    """Fit a parabola about the main axis of a cloud of points."""
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
    most = float(np.tan(_SHARPEST / 2)) * half / 2  # the slope at the end is 2 b / h
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
    """Bend an outline on the x axis so that it follows a baseline."""
    from matplotlib.path import Path

    vertices = np.asarray(path.vertices, dtype=np.float64)
    where, normals = baseline.at(vertices[:, 0])
    return Path(where + vertices[:, 1:] * normals, path.codes)


def _even(line: Floats) -> Baseline:
    """Return a baseline with points at equal distances along a line."""
    reached = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    along = np.linspace(0, reached[-1], _STEPS)
    return Baseline(np.column_stack([np.interp(along, reached, line[:, axis]) for axis in (0, 1)]))


_MAX_WORDS = 64  # maximum number of words in a line
_CHUNK = 0.7  # width of the boxes that cover a bent text, in font sizes


@dataclass(frozen=True)
class Style:
    """Font families, size and style of letters."""

    families: tuple[str, ...]
    size: float
    italic: bool = False
    bold: bool = False
    tracking: float = 0.0


@dataclass(frozen=True)
class Run(Layer):
    """A line of text on the page, straight or along a curved baseline."""

    text: str
    style: Style
    x: float = 0.0
    y: float = 0.0
    baseline: Baseline | None = None
    colour: str = "#000000"
    halo: str = ""
    halo_width: float = 0.0
    place: str = ""

    @cached_property
    def path(self) -> Path:
        """Outline of the text on the page, in points."""
        flat = outline(self.text, self.style)
        if self.baseline is not None:
            return bent(flat, self.baseline)
        from matplotlib.transforms import Affine2D

        return flat.transformed(Affine2D().translate(self.x, self.y))

    @property
    def is_plain(self) -> bool:
        """Whether a PDF can store the line as text: straight, without spacing, in its fonts."""
        if self.baseline is not None or self.style.tracking > 0:
            return False
        return all(any(covers(family, c) for family in FONTS) for c in self.text)

    @cached_property
    def boxes(self) -> Floats:
        """Boxes that cover the letters and halo, shape (n, 4); straight text has one box."""
        vertices = corners_of(self.path)
        if not len(vertices):
            return np.empty((0, 4))
        if self.baseline is None:
            starts = np.zeros(1, dtype=np.int64)
        else:
            along = corners_of(outline(self.text, self.style))[:, 0]
            chunk = np.floor(along / (_CHUNK * self.style.size)).astype(int)
            order = np.argsort(chunk, kind="stable")
            vertices = vertices[order]
            starts = np.flatnonzero(np.diff(chunk[order], prepend=-(10**9)))
        low = np.minimum.reduceat(vertices, starts, axis=0)
        high = np.maximum.reduceat(vertices, starts, axis=0)
        grown = np.array([-1, -1, 1, 1]) * self.halo_width / 2
        return np.hstack([low, high]) + grown


@dataclass(frozen=True)
class Extent:
    """Size of a line of text in points; `ascent` is above the baseline, `descent` below."""

    width: float
    ascent: float
    descent: float


@lru_cache(maxsize=4096)
def outline(text: str, style: Style) -> Path:
    """Return the outline of a text whose baseline starts at the origin."""
    from matplotlib.path import Path
    from matplotlib.transforms import Affine2D

    if not text.strip():
        return Path(np.empty((0, 2)))
    if style.tracking <= 0 or not can_be_spaced(text):
        return _shaped(text, style)
    parts, x = [], 0.0
    for cluster in clusters(text):
        if not cluster.isspace():
            parts.append(_shaped(cluster, style).transformed(Affine2D().translate(x, 0)))
        x += _advance(cluster, style) + style.tracking * style.size
    return Path.make_compound_path(*parts)


def corners_of(path: Path) -> Floats:
    """Return the points of an outline without closing points."""
    vertices = np.asarray(path.vertices, dtype=np.float64)
    if path.codes is None:
        return vertices
    return vertices[np.asarray(path.codes) != path.CLOSEPOLY]


@lru_cache(maxsize=4096)
def extent(text: str, style: Style) -> Extent:
    """Measure one line of text."""
    corners = corners_of(outline(text, style))
    if not len(corners):
        return Extent(0.0, 0.7 * style.size, 0.2 * style.size)
    (_, low), (right, high) = corners.min(axis=0), corners.max(axis=0)
    return Extent(width=float(right), ascent=float(high), descent=float(max(0.0, -low)))


def wrapped(text: str, style: Style, *, width: float) -> list[str]:
    """Break a text into lines of at most `width` points; wider words are split."""
    return break_lines(text, lambda line: extent(line, style).width, size=style.size, width=width)


def break_lines(
    text: str, measure: Callable[[str], float], *, size: float, width: float
) -> list[str]:
    """Break a text into lines that are at most `width` wide as measured; split wider words."""
    left = [
        (part, glue if first else "")
        for word, glue in _words(text)
        for first, part in _parts(word, measure, size=size, width=width)
    ]
    lines = []
    while left:
        # Measuring is slow; bisection finds the end of a line with few measurements.
        n = 1 + bisect_right(
            range(2, min(len(left), _MAX_WORDS) + 1),
            width,
            key=lambda n: measure(_joined(left[:n])),
        )
        lines.append(_joined(left[:n]))
        left = left[n:]
    return lines or [""]


def _joined(words: Sequence[tuple[str, str]]) -> str:
    return "".join(f"{glue}{word}" for word, glue in words).strip()


def _parts(
    word: str, measure: Callable[[str], float], *, size: float, width: float
) -> Iterator[tuple[bool, str]]:
    """Yield the parts of a word that fit on a line, and whether each is the first."""
    rest, first = clusters(word), True
    # No letter is wider than 1.5 times its size, so short words need not be measured.
    while len(rest) > max(1.0, width / (1.5 * size)) and measure("".join(rest)) > width:
        n = max(
            1, bisect_right(range(1, len(rest)), width, key=lambda n: measure("".join(rest[:n])))
        )
        yield first, "".join(rest[:n])
        rest, first = rest[n:], False
    yield first, "".join(rest)


def _words(text: str) -> Sequence[tuple[str, str]]:
    """Return the words of a text, each with the separator before it (empty in Chinese)."""
    words: list[tuple[str, str]] = []
    for word in text.split(" "):
        if breaks_anywhere(word):
            glue = " "
            for cluster in clusters(word):
                closing = unicodedata.category(cluster[0]) in ("Po", "Pe", "Pf")
                if closing and words:
                    words[-1] = (words[-1][0] + cluster, words[-1][1])
                else:
                    words.append((cluster, glue))
                glue = ""
        else:
            words.append((word, " "))
    return words


def _shaped(text: str, style: Style) -> Path:
    from matplotlib.path import Path

    vertices, codes = _at_one_point(text, replace(style, size=1.0, tracking=0.0))
    return Path(vertices * style.size, codes)


@lru_cache(maxsize=8192)
def _at_one_point(text: str, style: Style) -> tuple[Floats, NDArray[np.uint8]]:
    """Return the outline of a text with a font size of 1 point; other sizes are scaled from it."""
    from matplotlib.textpath import text_to_path

    # Dollar signs in names are not parsed as mathematics.
    vertices, codes = text_to_path.get_text_path(_font(style), text, ismath=False)
    return np.asarray(vertices, dtype=np.float64) / text_to_path.FONT_SCALE, np.asarray(codes)


@lru_cache(maxsize=256)
def _font(style: Style) -> FontProperties:
    return font(style.families, size=style.size, italic=style.italic, bold=style.bold)


@lru_cache(maxsize=4096)
def _advance(cluster: str, style: Style) -> float:
    from matplotlib.textpath import text_to_path

    one = replace(style, size=1.0, tracking=0.0)
    if style != one:
        return _advance(cluster, one) * style.size
    hundred = _font(replace(one, size=100.0))  # avoids rounding of widths at small sizes
    width, _, _ = text_to_path.get_text_width_height_descent(cluster, hundred, ismath=False)
    return float(width) / 100
