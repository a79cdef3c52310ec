"""Write a sheet as SVG, with selectable text over the picture."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from landscape.figures.fonts import can_be_spaced, covers, font_file, is_right_to_left
from landscape.figures.lettering import HALO_OPACITY, Run
from landscape.figures.scene import Box, Image, Layer, Lines, Points, Scene, Squares

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Picture = NDArray[np.uint8]


def svg_text(scene: Scene, *, about: str = "", language: str = "en") -> str:
    """Write a whole sheet as SVG with embedded fonts."""
    width, height = scene.size
    parts = [
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_n(width)} {_n(height)}" '
        f'width="{_n(width)}pt" height="{_n(height)}pt" role="img" lang={quoteattr(language)} '
        f"aria-label={quoteattr(scene.title)}>",
        f"<title>{escape(scene.title)}</title>\n<desc>{escape(scene.alt_text)}</desc>",
        f"<metadata>{escape(about)}</metadata>" if about else "",
        f"<style>{font_faces(scene.layers)}</style>",
        f'<rect width="100%" height="100%" fill="{scene.colours.page}"/>',
        *(
            _element(replace(layer, extent=panel.box), height)
            for panel in scene.panels
            for layer in panel.layers
        ),
        svg_layers(scene.layers, height),
        "</svg>\n",
    ]
    return "\n".join(part for part in parts if part)


def svg_layers(layers: Sequence[Layer], height: float) -> str:
    """Write layers of a page as SVG, with one group per place."""
    parts = []
    for (place, role), group in groupby(layers, key=_owner):
        inner = "\n".join(_element(layer, height) for layer in group)
        if role:
            key = f" data-place={quoteattr(place)}" if place else ""
            inner = f"<g class={quoteattr(role)}{key}>\n{inner}\n</g>"
        parts.append(inner)
    return "\n".join(parts)


def font_faces(layers: Iterable[Layer]) -> str:
    """Write the fonts of lines of text as CSS, reduced to the characters that are used."""
    needed: dict[tuple[str, bool, bool], set[str]] = {}
    for run in layers:
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


def _owner(layer: Layer) -> tuple[str, str]:
    return (layer.place if isinstance(layer, Run) else "", layer.gid)


def _element(layer: Layer, height: float) -> str:
    if isinstance(layer, Run):
        return _text(layer, height)
    if isinstance(layer, Image):
        x0, y0, x1, y1 = layer.extent
        return image(layer.pixels[::-1], (x0, height - y1, x1, height - y0))
    if isinstance(layer, Lines):
        ways = (" ".join(f"{_n(x)},{_n(height - y)}" for x, y in line) for line in layer.lines)
        return "".join(
            f'<polyline points="{way}" fill="none" stroke="{layer.colour}" '
            f'stroke-width="{_n(layer.width)}" stroke-linecap="round"/>'
            for way in ways
        )
    if isinstance(layer, Points):
        return "".join(
            f'<circle cx="{_n(x)}" cy="{_n(height - y)}" r="{_n(float(layer.size) / 2)}" '
            f'fill="{layer.colour}"{_edge(layer.edge, layer.edge_width)}/>'
            for x, y in zip(layer.x, layer.y, strict=True)
        )
    if isinstance(layer, Squares):
        return "".join(
            f'<rect x="{_n(x0)}" y="{_n(height - y1)}" width="{_n(x1 - x0)}" '
            f'height="{_n(y1 - y0)}" fill="{colour}"{_edge(layer.edge, layer.width)}/>'
            for (x0, y0, x1, y1), colour in zip(layer.boxes, layer.colours, strict=True)
        )
    raise TypeError(f"no layer of a sheet: {layer}")


def _edge(colour: str | None, width: float) -> str:
    return f' stroke="{colour}" stroke-width="{_n(width)}"' if colour else ""


def _halo(run: Run) -> str:
    return (
        f' stroke="{run.halo}" stroke-width="{_n(run.halo_width)}" stroke-linejoin="round" '
        f'stroke-opacity="{HALO_OPACITY}" paint-order="stroke"'
        if run.halo
        else ""
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
    look += _halo(run)
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
    return (
        f'<path d="{"".join(way)}" fill="{run.colour}"{_halo(run)} role="img" '
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
