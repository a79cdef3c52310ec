"""Paper sizes, and the boxes of map and legend on a sheet."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

from landscape._wording import did_you_mean
from landscape.errors import InputError
from landscape.figures.scene import Box

_MM = 72 / 25.4
_A4_AREA = 210 * 297 * _MM * _MM
_MIN_SIDE, _MAX_SIDE = 250.0, 7200.0  # limits of a side in points (3.5 and 100 inches)
_MIN_DPI, _MAX_DPI = 20, 1200
_MAX_PIXELS = 2.5e8  # a sheet of A0 at 300 dpi has 1.4e8 pixels


@dataclass(frozen=True)
class _Kind:
    """A named sheet size in points, with a resolution and a relative font size."""

    width: float
    height: float
    dpi: int
    turns: bool = True
    letters: float = 1.0


def _a(width: float, height: float, dpi: int) -> _Kind:
    return _Kind(height * _MM, width * _MM, dpi)


#: Named sizes in landscape orientation; the A series can be rotated.
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
    """A sheet of paper or a screen, and its layout."""

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
        """Width of the legend, in points."""
        inner = self.width - 2 * self.margin
        return max(0.235 * inner, 130 * self.scale) if self.panel == "side" else inner

    def areas(self, words: float) -> tuple[Box, Box]:
        """Return the boxes of map and legend; `words` is the height of a legend below the map."""
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
        """Round the sides of a box to pixels, to avoid resampling."""
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
        """Return left, top, right and bottom of a box, in pixels from the top left corner."""
        pixel = 72 / self.dpi
        high = self.pixels[1]
        x0, y0, x1, y1 = box
        left, right = round(x0 / pixel), round(x1 / pixel)
        return left, high - round(y1 / pixel), right, high - round(y0 / pixel)


def choose_sheet(size: str, *, aspect: float, dpi: int | None = None) -> Sheet:
    """Choose the orientation and layout with the largest map for a sheet of a given size."""
    name = str(size).strip().lower()
    kind, ways = _kind(name)
    resolution = kind.dpi if dpi is None else int(dpi)
    if not _MIN_DPI <= resolution <= _MAX_DPI:
        raise InputError(
            f"The resolution must be between {_MIN_DPI} and {_MAX_DPI} dpi, not {dpi}."
        )
    sheets = []
    for width, height in ways:
        if not (min(width, height) >= _MIN_SIDE and max(width, height) <= _MAX_SIDE):
            raise InputError(
                f"A sheet of {width / 72:.3g} x {height / 72:.3g} inches cannot be lettered; use "
                f"at least {_MIN_SIDE / 72:.1f} and at most {_MAX_SIDE / 72:.0f} inches per side."
            )
        if width * height * (resolution / 72) ** 2 > _MAX_PIXELS:
            most = math.floor(72 * math.sqrt(_MAX_PIXELS / (width * height)))
            raise InputError(
                f"A sheet of {width / 72:.3g} x {height / 72:.3g} inches at {resolution} dpi has "
                f"more than {_MAX_PIXELS / 1e6:.0f} million pixels; use at most {most} dpi."
            )
        scale = kind.letters * min(8.0, max(0.55, math.sqrt(width * height / _A4_AREA)))
        for panel in ("side", "band"):
            sheet = Sheet(name, width, height, resolution, panel, scale)
            if panel == "side" and width < 1.15 * height:
                continue
            sheets.append(sheet)
    return max(sheets, key=lambda sheet: _map_scale(sheet, aspect))


def _map_scale(sheet: Sheet, aspect: float) -> float:
    """Estimate the scale of the map on a sheet."""
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
    hint = did_you_mean(name, SIZES, cutoff=0.4)
    raise InputError(
        f"There is no size {name!r}{hint} Sizes: {', '.join(SIZES)}, the A sizes with -portrait or "
        "-landscape, or a width and height such as 600x400mm, 24x36in or 1200x628px."
    )
