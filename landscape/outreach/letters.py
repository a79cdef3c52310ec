"""Text as outlines: measured and drawn alike at every resolution, in any script."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from landscape.outreach.curves import Baseline, bent
from landscape.outreach.fonts import can_be_spaced, font

if TYPE_CHECKING:
    from matplotlib.font_manager import FontProperties
    from matplotlib.path import Path
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_CHUNK = 0.7  # width of the boxes that cover a bent text, in font sizes


@dataclass(frozen=True)
class Style:
    """How letters look.

    Attributes
    ----------
    families : tuple of str
        Font families, the one to try first, first.
    size : float
        In points.
    italic, bold : bool
    tracking : float
        Extra space between letters, in font sizes; only scripts that allow it are spaced.
    """

    families: tuple[str, ...]
    size: float
    italic: bool = False
    bold: bool = False
    tracking: float = 0.0


@dataclass(frozen=True)
class Run:
    """One line of text at its place on the page, straight or bent.

    Attributes
    ----------
    text : str
    style : Style
    x, y : float
        Where a straight text's baseline begins on the left, in points from the lower left corner.
    baseline : Baseline or None
        What a bent text stands on; its letters begin where the line begins.
    colour : str
    halo : str
        Colour of the glow behind the letters; none where empty.
    halo_width : float
        How far the glow reaches around the letters, in points.
    role : str
        What the text is: ``"region"``, ``"continent"``, ``"water"``, ``"title"``, ...
    place : str
        Key of the place that it names in the gazetteer.
    """

    text: str
    style: Style
    x: float = 0.0
    y: float = 0.0
    baseline: Baseline | None = None
    colour: str = "#000000"
    halo: str = ""
    halo_width: float = 0.0
    role: str = ""
    place: str = ""

    @cached_property
    def path(self) -> Path:
        """Outline on the page, in points."""
        flat = outline(self.text, self.style)
        if self.baseline is not None:
            return bent(flat, self.baseline)
        from matplotlib.transforms import Affine2D

        return flat.transformed(Affine2D().translate(self.x, self.y))

    @cached_property
    def boxes(self) -> Floats:
        """Boxes that together cover the letters and their halo, shape (n, 4): one if straight."""
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
    """Room that one line takes, in points: `ascent` above its baseline, `descent` below."""

    width: float
    ascent: float
    descent: float


@lru_cache(maxsize=4096)
def outline(text: str, style: Style) -> Path:
    """Draw a text as an outline whose baseline begins at the origin.

    Parameters
    ----------
    text : str
        One line.
    style : Style

    Returns
    -------
    matplotlib.path.Path
        In points. Shaped: Arabic joins and runs from the right, Hindi stacks.

    Examples
    --------
    >>> style = Style(("STIXGeneral", "DejaVu Sans"), size=10)
    >>> wide = outline("Dark", Style(style.families, 10, tracking=0.5)).get_extents().width
    >>> bool(wide > outline("Dark", style).get_extents().width + 10)
    True
    """
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
    """Corners that an outline lies between: its points, without those that only close it."""
    vertices = np.asarray(path.vertices, dtype=np.float64)
    if path.codes is None:
        return vertices
    return vertices[np.asarray(path.codes) != path.CLOSEPOLY]


@lru_cache(maxsize=4096)
def extent(text: str, style: Style) -> Extent:
    """Measure one line of text.

    Examples
    --------
    >>> extent("Dark", Style(("STIXGeneral",), size=10)).width > 15
    True
    """
    corners = corners_of(outline(text, style))
    if not len(corners):
        return Extent(0.0, 0.7 * style.size, 0.2 * style.size)
    (_, low), (right, high) = corners.min(axis=0), corners.max(axis=0)
    return Extent(width=float(right), ascent=float(high), descent=float(max(0.0, -low)))


def wrapped(text: str, style: Style, *, width: float) -> list[str]:
    """Break a text into lines no wider than `width` points; a wider word is cut.

    Examples
    --------
    >>> wrapped("one two three", Style(("STIXGeneral",), size=10), width=45)
    ['one two', 'three']
    """
    lines = [""]
    for word, glue in _words(text):
        longer = f"{lines[-1]}{glue if lines[-1] else ''}{word}"
        if not lines[-1] or extent(longer, style).width <= width:
            lines[-1] = longer
        else:
            lines.append(word)
        while extent(lines[-1], style).width > width and len(clusters(lines[-1])) > 1:
            parts = clusters(lines[-1])
            fitting = len(parts) - 1
            while fitting > 1 and extent("".join(parts[:fitting]), style).width > width:
                fitting -= 1
            lines[-1:] = ["".join(parts[:fitting]), "".join(parts[fitting:])]
    return lines


def clusters(text: str) -> list[str]:
    r"""Part a text into characters with the marks that belong to them.

    Examples
    --------
    >>> [len(cluster) for cluster in clusters("e\u0301a")]
    [2, 1]
    """
    parts: list[str] = []
    for character in text:
        joins = unicodedata.category(character).startswith("M") or character in "\u200c\u200d"
        if parts and (joins or parts[-1].endswith("\u200d")):
            parts[-1] += character
        else:
            parts.append(character)
    return parts


def _words(text: str) -> Sequence[tuple[str, str]]:
    """Words and what goes before each: a space, or nothing between Chinese characters."""
    from landscape.outreach.fonts import breaks_anywhere

    found: list[tuple[str, str]] = []
    for word in text.split(" "):
        if breaks_anywhere(word):
            glue = " "
            for cluster in clusters(word):
                closing = unicodedata.category(cluster[0]) in ("Po", "Pe", "Pf")
                if closing and found:
                    found[-1] = (found[-1][0] + cluster, found[-1][1])
                else:
                    found.append((cluster, glue))
                glue = ""
        else:
            found.append((word, " "))
    return found


def _shaped(text: str, style: Style) -> Path:
    from matplotlib.path import Path

    vertices, codes = _at_one_point(text, replace(style, size=1.0, tracking=0.0))
    return Path(vertices * style.size, codes)


@lru_cache(maxsize=8192)
def _at_one_point(text: str, style: Style) -> tuple[Floats, NDArray[np.uint8]]:
    """Shape a text once for all sizes."""
    from matplotlib.textpath import text_to_path

    # A dollar sign is a dollar sign: text of papers is never read as mathematics.
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
    hundred = _font(replace(one, size=100.0))  # of a point, the width would be rounded
    width, _, _ = text_to_path.get_text_width_height_descent(cluster, hundred, ismath=False)
    return float(width) / 100
