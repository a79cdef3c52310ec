"""Write a sheet as SVG, with selectable text over the picture."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from landscape.outreach._fonts import can_be_spaced, covers, font_file, is_right_to_left
from landscape.outreach._letters import Dot, Inset, Line, Mark, Run
from landscape.outreach.page import Box, Sheet

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Picture = NDArray[np.uint8]


_HALO_STRENGTH = 0.66


def svg_text(
    sheet: Sheet,
    picture: Picture,
    map_box: Box,
    marks: Sequence[Mark],
    *,
    page: str,
    title: str,
    description: str,
    about: str = "",
    language: str = "en",
) -> str:
    """Write a whole sheet as SVG with embedded fonts."""
    x0, y0, x1, y1 = map_box
    width, height = sheet.width, sheet.height
    parts = [
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_n(width)} {_n(height)}" '
        f'width="{_n(width)}pt" height="{_n(height)}pt" role="img" lang={quoteattr(language)} '
        f"aria-label={quoteattr(title)}>",
        f"<title>{escape(title)}</title>\n<desc>{escape(description)}</desc>",
        f"<metadata>{escape(about)}</metadata>" if about else "",
        f"<style>{font_faces(marks)}</style>",
        f'<rect width="100%" height="100%" fill="{page}"/>',
        image(picture, (x0, height - y1, x1, height - y0)),
        svg_marks(marks, height),
        "</svg>\n",
    ]
    return "\n".join(part for part in parts if part)


def svg_marks(marks: Sequence[Mark], height: float) -> str:
    """Write drawing elements as SVG, with one group per place."""
    parts = []
    for (place, role), group in groupby(marks, key=_owner):
        inner = "\n".join(_element(mark, height) for mark in group)
        if role:
            key = f" data-place={quoteattr(place)}" if place else ""
            inner = f"<g class={quoteattr(role)}{key}>\n{inner}\n</g>"
        parts.append(inner)
    return "\n".join(parts)


def font_faces(marks: Iterable[Mark]) -> str:
    """Write the fonts of lines of text as CSS, reduced to the characters that are used."""
    needed: dict[tuple[str, bool, bool], set[str]] = {}
    for run in marks:
        if not isinstance(run, Run):
            continue
        for character in run.text:
            family = next((f for f in run.style.families if covers(f, character)), None)
            if family:
                key = family, run.style.italic, run.style.bold
                needed.setdefault(key, set()).add(character)
    faces = []
    for (family, italic, bold), characters in sorted(needed.items()):
        data = _subset(family, italic, bold, "".join(sorted(characters)))
        faces.append(
            f"@font-face{{font-family:{_css(family)};font-style:{'italic' if italic else 'normal'};"
            f"font-weight:{'bold' if bold else 'normal'};"
            f"src:url(data:font/woff;base64,{data}) format('woff')}}"
        )
    return "\n".join(faces)


def image(picture: Picture, box: Box, *, jpeg: int = 0) -> str:
    """Write a picture as an SVG element in `box` (left, top, right, bottom), as PNG or JPEG."""
    left, top, right, bottom = box
    return (
        f'<image x="{_n(left)}" y="{_n(top)}" width="{_n(right - left)}" '
        f'height="{_n(bottom - top)}" preserveAspectRatio="none" '
        f'href="{data_address(picture, jpeg=jpeg)}"/>'
    )


def data_address(picture: Picture, *, jpeg: int = 0) -> str:
    """Return a picture as a data URL in PNG format, or in JPEG format with quality `jpeg`."""
    from PIL import Image

    buffer = io.BytesIO()
    if jpeg:
        Image.fromarray(picture).save(buffer, format="jpeg", quality=jpeg, subsampling=0)
    else:
        Image.fromarray(picture).save(buffer, format="png", compress_level=6)
    kind = "jpeg" if jpeg else "png"
    return f"data:image/{kind};base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"


def _owner(mark: Mark) -> tuple[str, str]:
    return (mark.place, mark.role) if isinstance(mark, Run) else ("", mark.role)


def _element(mark: Mark, height: float) -> str:
    if isinstance(mark, Run):
        return _text(mark, height)
    if isinstance(mark, Line):
        points = " ".join(f"{_n(x)},{_n(height - y)}" for x, y in mark.points)
        return (
            f'<polyline points="{points}" fill="none" stroke="{mark.colour}" '
            f'stroke-width="{_n(mark.width)}" stroke-linecap="round"/>'
        )
    if isinstance(mark, Dot):
        edge = f' stroke="{mark.edge}" stroke-width="{_n(mark.edge_width)}"' if mark.edge else ""
        return (
            f'<circle cx="{_n(mark.x)}" cy="{_n(height - mark.y)}" r="{_n(mark.radius)}" '
            f'fill="{mark.colour}"{edge}/>'
        )
    x0, y0, x1, y1 = mark.box
    if isinstance(mark, Inset):
        return image(mark.picture, (x0, height - y1, x1, height - y0))
    edge = f' stroke="{mark.edge}" stroke-width="{_n(mark.width)}"' if mark.edge else ""
    return (
        f'<rect x="{_n(x0)}" y="{_n(height - y1)}" width="{_n(x1 - x0)}" '
        f'height="{_n(y1 - y0)}" fill="{mark.face or "none"}"{edge}/>'
    )


def _text(run: Run, height: float) -> str:
    style = run.style
    families = ", ".join(_css(family) for family in style.families)
    look = f'font-family="{families}, serif" font-size="{_n(style.size)}" fill="{run.colour}"'
    if style.italic:
        look += ' font-style="italic"'
    if style.bold:
        look += ' font-weight="bold"'
    if style.tracking > 0 and can_be_spaced(run.text):
        look += f' letter-spacing="{_n(style.tracking * style.size)}"'
    if run.halo:
        look += (
            f' stroke="{run.halo}" stroke-width="{_n(run.halo_width)}" stroke-linejoin="round" '
            f'stroke-opacity="{_HALO_STRENGTH}" paint-order="stroke"'
        )
    words = escape(run.text)
    if run.baseline is None:
        # the left end of a right-to-left line is the end of the text
        turned = ' direction="rtl" text-anchor="end"' if is_right_to_left(run.text) else ""
        return f'<text x="{_n(run.x)}" y="{_n(height - run.y)}" {look}{turned}>{words}</text>'
    if not can_be_spaced(run.text):
        return _outlined(run, height)  # browsers draw joined letters on curves incorrectly
    name = f"b{abs(_stable_number(run)):x}"
    points = run.baseline.points[::4]
    if (run.baseline.points[-1] != points[-1]).any():
        points = np.vstack([points, run.baseline.points[-1]])
    # The path is extended, because browsers omit letters beyond its end.
    step = points[-1] - points[-2]
    more = points[-1] + 0.6 * style.size * step / max(float(np.linalg.norm(step)), 1e-9)
    way = " L".join(f"{_n(x)} {_n(height - y)}" for x, y in [*points, more])
    return (
        f'<path id="{name}" d="M{way}" fill="none"/>'
        f'<text {look}><textPath href="#{name}">{words}</textPath></text>'
    )


def _outlined(run: Run, height: float) -> str:
    """Return a line of text as outlines, with a label for screen readers."""
    from matplotlib.path import Path

    letters = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C"}
    way = []
    for points, code in run.path.iter_segments(curves=True, simplify=False):
        if code == Path.CLOSEPOLY:
            way.append("Z")
            continue
        pairs = " ".join(f"{_n(x)} {_n(height - y)}" for x, y in np.asarray(points).reshape(-1, 2))
        way.append(f"{letters[code]}{pairs}")
    halo = (
        f' stroke="{run.halo}" stroke-width="{_n(run.halo_width)}" stroke-linejoin="round" '
        f'stroke-opacity="{_HALO_STRENGTH}" paint-order="stroke"'
        if run.halo
        else ""
    )
    return (
        f'<path d="{"".join(way)}" fill="{run.colour}"{halo} role="img" '
        f"aria-label={quoteattr(run.text)}><title>{escape(run.text)}</title></path>"
    )


def _stable_number(run: Run) -> int:
    from zlib import crc32

    where = "" if run.baseline is None else f"{run.baseline.points[0]}"
    return crc32(f"{run.place} {run.text} {where}".encode())


def _css(family: str) -> str:
    return "'" + family.replace("\\", "").replace("'", "") + "'"


@lru_cache(maxsize=64)
def _subset(family: str, italic: bool, bold: bool, characters: str) -> str:
    """Return the subset of a font as base64 of WOFF, including shaping tables."""
    from fontTools import subset

    path, number = font_file(family, italic=italic, bold=bold)
    options = subset.Options()
    options.layout_features = ["*"]
    options.flavor = "woff"
    options.recalc_timestamp = False
    options.notdef_outline = True
    options.drop_tables += ["FFTM"]  # a table of FontForge, which fontTools does not support
    options.font_number = number
    options.ignore_missing_unicodes = True
    loaded = subset.load_font(str(path), options)
    cutter = subset.Subsetter(options)
    cutter.populate(text=characters)
    cutter.subset(loaded)
    buffer = io.BytesIO()
    subset.save_font(loaded, buffer, options)
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def _n(value: float) -> str:
    """Format a number without trailing zeros."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value else "0"
