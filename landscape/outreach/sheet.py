"""The sheet: how large it is, and where on it the map and the words go.

All lengths are points (1/72 inch) from the lower left corner, y upwards.
"""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass
from typing import Literal

from landscape.errors import InputError

Box = tuple[float, float, float, float]

_MM = 72 / 25.4
_A4_AREA = 210 * 297 * _MM * _MM
_LEAST, _MOST = 250.0, 7200.0  # points a side: 3.5 inches to 100
_LEAST_DPI, _MOST_DPI = 20, 1200
_MOST_PIXELS = 2.5e8  # A0 at 300 dpi has 1.4e8


@dataclass(frozen=True)
class _Kind:
    """A named size: points, pixels per inch, and how much larger than on a page letters are."""

    width: float
    height: float
    dpi: int
    turns: bool = True
    letters: float = 1.0


def _a(width: float, height: float, dpi: int) -> _Kind:
    return _Kind(height * _MM, width * _MM, dpi)


#: The named sizes, landscape; those of the A series turn to whichever way suits the map.
SIZES: dict[str, _Kind] = {
    "web": _Kind(768, 528, 150, turns=False, letters=1.12),
    "slide": _Kind(960, 540, 144, turns=False, letters=1.3),
    "a4": _a(210, 297, 300),
    "a3": _a(297, 420, 300),
    "a2": _a(420, 594, 200),
    "a1": _a(594, 841, 200),
    "a0": _a(841, 1189, 150),
    "poster": _a(594, 841, 200),
}


@dataclass(frozen=True)
class Sheet:
    """A sheet of paper or a screen, and how it is divided.

    Attributes
    ----------
    name : str
        What was asked for.
    width, height : float
        In points.
    dpi : int
        Pixels per inch of the picture.
    panel : {"side", "band"}
        Whether the words stand to the right of the map or below it.
    scale : float
        Size of letters against those of an A4 page.
    """

    name: str
    width: float
    height: float
    dpi: int
    panel: Literal["side", "band"]
    scale: float

    @property
    def margin(self) -> float:
        """Width of the empty border, in points."""
        return 15 * self.scale

    @property
    def pixels(self) -> tuple[int, int]:
        """Width and height of the whole sheet, in pixels."""
        return round(self.width * self.dpi / 72), round(self.height * self.dpi / 72)

    @property
    def panel_width(self) -> float:
        """Width of the words, in points."""
        inner = self.width - 2 * self.margin
        return max(0.235 * inner, 130 * self.scale) if self.panel == "side" else inner

    def areas(self, words: float) -> tuple[Box, Box]:
        """Boxes of the map and of the words; below the map, these are `words` points high."""
        left, low = self.margin, self.margin
        right, top = self.width - self.margin, self.height - self.margin
        if self.panel == "side":
            edge = right - self.panel_width
            return self._on_pixels((left, low, edge - 0.8 * self.margin, top)), (
                edge,
                low,
                right,
                top,
            )
        edge = low + words
        return self._on_pixels((left, edge + 0.7 * self.margin, right, top)), (
            left,
            low,
            right,
            edge,
        )

    def _on_pixels(self, box: Box) -> Box:
        """Move the sides of a box onto pixels, so that a picture in it is not resampled."""
        pixel = 72 / self.dpi
        high = self.pixels[1] * pixel
        x0, y0, x1, y1 = box
        return (
            round(x0 / pixel) * pixel,
            high - round((high - y0) / pixel) * pixel,
            round(x1 / pixel) * pixel,
            high - round((high - y1) / pixel) * pixel,
        )

    def pixel_box(self, box: Box) -> tuple[int, int, int, int]:
        """Columns and rows of a box that `areas` gave: left, top, right, bottom, from the top."""
        pixel = 72 / self.dpi
        high = self.pixels[1]
        x0, y0, x1, y1 = box
        left, right = round(x0 / pixel), round(x1 / pixel)
        return left, high - round(y1 / pixel), right, high - round(y0 / pixel)


def choose_sheet(size: str, *, aspect: float, dpi: int | None = None) -> Sheet:
    """Choose the sheet of a size, turned and divided so that the map comes out largest.

    Parameters
    ----------
    size : str
        ``"web"``, ``"slide"`` (16:9), ``"poster"`` (A1), ``"a4"`` to ``"a0"`` (with ``-portrait``
        or ``-landscape`` to say which way), or a size of your own such as ``"600x400mm"``,
        ``"24x36in"``, ``"1200x628px"``.
    aspect : float
        Width of the map over its height.
    dpi : int, optional
        Pixels per inch; that of the named size when not given, 150 for a size of your own.

    Returns
    -------
    Sheet

    Raises
    ------
    InputError
        For a size that is not known, or too small or too large to draw.

    Examples
    --------
    >>> choose_sheet("slide", aspect=1.0).pixels
    (1920, 1080)
    >>> sheet = choose_sheet("a1", aspect=0.7, dpi=300)
    >>> sheet.pixels, sheet.panel
    ((7016, 9933), 'band')
    >>> choose_sheet("slid", aspect=1.0)
    Traceback (most recent call last):
    landscape.errors.InputError: There is no size 'slid'; did you mean 'slide'? Sizes: web, ...
    """
    name = str(size).strip().lower()
    kind, ways = _kind(name)
    resolution = kind.dpi if dpi is None else int(dpi)
    if not _LEAST_DPI <= resolution <= _MOST_DPI:
        raise InputError(
            f"The resolution must lie between {_LEAST_DPI} and {_MOST_DPI} dpi, not {dpi}."
        )
    sheets = []
    for width, height in ways:
        if not (min(width, height) >= _LEAST and max(width, height) <= _MOST):
            raise InputError(
                f"A sheet of {width / 72:.3g} x {height / 72:.3g} inches cannot be lettered; use "
                f"at least {_LEAST / 72:.1f} and at most {_MOST / 72:.0f} inches a side."
            )
        if width * height * (resolution / 72) ** 2 > _MOST_PIXELS:
            most = math.floor(72 * math.sqrt(_MOST_PIXELS / (width * height)))
            raise InputError(
                f"A sheet of {width / 72:.3g} x {height / 72:.3g} inches at {resolution} dpi has "
                f"more than {_MOST_PIXELS / 1e6:.0f} million pixels; use at most {most} dpi."
            )
        scale = kind.letters * min(8.0, max(0.55, math.sqrt(width * height / _A4_AREA)))
        for panel in ("side", "band"):
            sheet = Sheet(name, width, height, resolution, panel, scale)
            if panel == "side" and width < 1.15 * height:
                continue
            sheets.append(sheet)
    return max(sheets, key=lambda sheet: _map_scale(sheet, aspect))


def _map_scale(sheet: Sheet, aspect: float) -> float:
    """How large the map comes out; a band is reckoned as high as it usually gets."""
    (x0, y0, x1, y1), _ = sheet.areas(0.0 if sheet.panel == "side" else 96 * sheet.scale)
    return min((x1 - x0) / max(aspect, 1e-3), y1 - y0)


def _kind(name: str) -> tuple[_Kind, list[tuple[float, float]]]:
    base, _, way = name.partition("-")
    if base in SIZES and way in ("", "portrait", "landscape"):
        kind = SIZES[base]
        wide, tall = (kind.width, kind.height), (kind.height, kind.width)
        if way:
            return kind, [wide if way == "landscape" else tall]
        return kind, [wide, tall] if kind.turns else [wide]
    own = re.fullmatch(r"(\d+(?:\.\d+)?)\s*[x×]\s*(\d+(?:\.\d+)?)\s*(mm|cm|in|px)", name)
    if own:
        unit = {"mm": _MM, "cm": 10 * _MM, "in": 72.0, "px": 72 / 150}[own[3]]
        width, height = float(own[1]) * unit, float(own[2]) * unit
        return _Kind(width, height, 150, turns=False), [(width, height)]
    near = difflib.get_close_matches(name, SIZES, n=1, cutoff=0.4)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    raise InputError(
        f"There is no size {name!r}{hint} Sizes: {', '.join(SIZES)}, the A sizes with -portrait or "
        "-landscape, or your own such as 600x400mm, 24x36in or 1200x628px."
    )
