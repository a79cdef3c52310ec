"""What the colours and marks of a map mean, as a line below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from landscape._render import escape
from landscape._wording import count
from landscape.widgets.map_figure import _OVERLAID
from landscape.widgets.scene import MOST_POINTS

if TYPE_CHECKING:
    from landscape.widgets.scene import Drawn

_STOPS = 9


def legend_html(drawn: Drawn, *, n_all: int) -> str:
    """The legend of what is drawn.

    Parameters
    ----------
    drawn : Drawn
    n_all : int
        Papers of the atlas.

    Returns
    -------
    str
        HTML; names from the papers are escaped.
    """
    scene = drawn.scene
    parts = [_colours(drawn, n_all)]
    colours = scene.colours
    for layer in ("concept", "facility", "reviews"):
        if layer not in scene.overlays:
            continue
        title, rows = scene.overlays[layer]
        colour = _OVERLAID[scene.theme][layer]
        if layer == "reviews" and "reviews" in drawn.marks:
            mark = f"<span class='ring square' style='color:{colour}'></span>"
            parts.append(f"{mark}{count(len(drawn.marks['reviews']), 'review')} in view")
            continue
        dashed = "" if layer == "concept" else " dashed"
        mark = f"<span class='line{dashed}' style='color:{colour}'></span>"
        told = shown_of(drawn.counts[layer], len(rows), "paper")
        has_lines = len(drawn.lines[layer][0]) > 0
        what = f"50% and 80% of {escape(title)}" if has_lines else f"{escape(title)}, no lines"
        parts.append(f"{mark}{what} ({told})")
    if scene.found is not None:
        if "found" in drawn.marks:
            mark = f"<span class='dot' style='background:{colours.found}'></span>"
            parts.append(f"{mark}{len(drawn.marks['found']):,} found in view")
            if len(drawn.marks["apart"]):
                mark = f"<span class='ring diamond' style='color:{colours.apart}'></span>"
                parts.append(f"{mark}{len(drawn.marks['apart']):,} apart from the others")
        else:
            mark = f"<span class='swatch' style='background:{colours.apart}'></span>"
            parts.append(f"{mark}where the {drawn.counts['found']:,} found lie")
    if len(scene.selected):
        if "selected" in drawn.marks:
            mark = "<span class='ring'></span>"
        elif scene.colouring.kind == "density":
            mark = f"<span class='swatch' style='background:{colours.apart}'></span>"
        else:
            mark = "<span class='swatch outlined'></span>"
        n, n_shown = len(scene.selected), drawn.counts["selected"]
        hidden = f", {n_shown:,} of these years" if n_shown < n else ""
        parts.append(f"{mark}{n:,} selected{hidden}")
    inside = "".join(f"<span>{part}</span>" for part in parts if part)
    return f"<div class='landscape-legend'>{inside}</div>"


def shown_of(n_shown: int, n_all: int, noun: str) -> str:
    """How many of some papers are of the time window, and how many there are where that differs.

    Examples
    --------
    >>> shown_of(20, 20, "paper"), shown_of(1, 20, "paper")
    ('20 papers', '1 paper of these years, of 20')
    """
    told = count(n_shown, noun)
    return told if n_shown == n_all else f"{told} of these years, of {n_all:,}"


def view_line(drawn: Drawn, *, n_all: int, zoom: float) -> str:
    """How many papers are in view, and how near.

    Parameters
    ----------
    drawn : Drawn
    n_all : int
    zoom : float

    Returns
    -------
    str
        HTML.
    """
    n = drawn.picture.n_papers
    told = f"<b>{n:,}</b> of {n_all:,} papers in view"
    if drawn.scene.time is not None:
        told += f", {drawn.scene.time[0]} to {drawn.scene.time[1]}"
    if zoom > 1.05:
        told += f" · {zoom:.2g} times enlarged"
    if "papers" in drawn.scene.layers:
        told += " · each dot a paper: point at it, click it" if "papers" in drawn.marks else (
            f" · zoom in to {MOST_POINTS:,} papers to point at them"
        )  # fmt: skip
    return f"<div class='landscape-quiet'>{told}</div>"


def _colours(drawn: Drawn, n_all: int) -> str:
    scene, colouring = drawn.scene, drawn.scene.colouring
    if colouring.kind == "density":
        ramp = _css_ramp(scene.colours.ramp)
        return f"few papers<span class='ramp' style='background:{ramp}'></span>many"
    missing = f" · grey: unknown ({colouring.missing:,})" if colouring.missing else ""
    palette = colouring.palette(scene.colours)
    if colouring.kind == "numbers":
        title = escape(colouring.title)
        if colouring.is_share:
            title = f"Share of papers: {title}"
        first, last = colouring.ends
        return (
            f"{title}: {first}"
            f"<span class='ramp' style='background:{_css_ramp(palette)}'></span>"
            f"{last}{missing}"
        )
    named = "</span><span>".join(
        f"<span class='swatch' style='background:{_hex(colour)}'></span>{escape(label)}"
        for label, colour in zip(colouring.labels, palette, strict=False)
    )
    share = f"{colouring.missing / max(1, n_all):.0%}"
    return f"{named}</span><span>" + (
        f"<span class='swatch' style='background:{_hex(palette[-1])}'></span>none ({share})"
        if colouring.missing else ""
    )  # fmt: skip


def _css_ramp(ramp: np.ndarray) -> str:
    places = np.linspace(0, len(ramp) - 1, _STOPS).round().astype(int)
    return f"linear-gradient(to right, {', '.join(_hex(ramp[place]) for place in places)})"


def _hex(colour: np.ndarray) -> str:
    red, green, blue = np.round(np.asarray(colour) * 255).astype(int)
    return f"#{red:02x}{green:02x}{blue:02x}"
