"""Save the view of a map as a figure for print, or as a web page that works offline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from landscape._io import write_output
from landscape._render import render
from landscape.figures import save_figure
from landscape.figures.caption import GENERATED, Caption, explanation, facts_of, headline
from landscape.figures.colours import THEMES
from landscape.figures.export import check_kind
from landscape.figures.export import draw as draw_scene
from landscape.figures.maps import (
    add_density,
    add_names,
    density_key,
    label_table,
    mark_papers,
    symbols,
    window,
)
from landscape.figures.page import Key, LegendEntry, Page, PageOptions
from landscape.figures.scene import Lines, Panel, Points
from landscape.widgets._map_figure import (
    CONFIG,
    figure_parts,
    image_part,
    legend_html,
    paper_marker,
    shown_of,
    trace_parts,
    view_line,
)
from landscape.widgets._map_state import Drawn, MapData, MapState, draw, marks_of
from landscape.widgets._raster import draw_picture
from landscape.widgets._selection import hover_text, links_html
from landscape.widgets._view import view_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.atlas import Atlas
    from landscape.figures.matplotlib_backend import Sheet

_WIDTH = 11.0  # inches
_RASTER_DPI = 200
_SHARP = 2.0  # pixels of the saved picture per screen pixel
_MAX_HOVERED = 3_000  # maximum number of papers with a hover text on a saved page
_MAX_NUMBERED = 100
_DASHES = {"concept": "-", "facility": "dashed", "reviews": "dotted"}


def save_view(
    atlas: Atlas, state: MapState, data: MapData, path: str | Path, *, texts: Mapping[int, str]
) -> Path:
    """Save a map; the suffix of the file name selects the format."""
    target = check_kind(path)
    if target.suffix.lower() == ".html":
        return write_output(target, _page(atlas, state, data, dict(texts)))
    return save_figure(_sheet(atlas, state, data), target)


def sentences_of(drawn: Drawn, data: MapData) -> list[str]:
    """Return caption sentences on the view: window, years, colours and marked papers."""
    text = render("map_view.txt", drawn=drawn, n_all=len(data), shown_of=shown_of)
    return text.split("\n")


# -- for print


def _sheet(atlas: Atlas, state: MapState, data: MapData) -> Sheet:
    """Draw a map for print with the same aspect ratio, a caption and a colour key."""
    facts, colours = facts_of(atlas), state.colours
    drawn = draw(state, data)
    sentences = [*sentences_of(drawn, data), *explanation(facts)]
    caption = Caption(headline(facts), sentences, facts.generated)

    def page_of_height(height: float) -> Page:
        look: PageOptions = {
            "colours": colours,
            "size_inches": (_WIDTH, height),
            "raster_dpi": _RASTER_DPI,
        }
        return Page(caption, look, legend=_legend(drawn), has_key=True)

    map_height = _WIDTH * state.size[1] / state.size[0]
    draft = page_of_height(map_height + 2.0)
    page = page_of_height(map_height + (draft.caption_height + draft.title_height) / 72)
    left, bottom, right, top = page.area
    # Widen the view slightly to fill the page.
    shape = (round((right - left) / (top - bottom) * 10_000), 10_000)
    wide = replace(state, view=view_of(state.view.box, shape))
    panel = window(page, page.area, wide.view.box)
    points = data.in_time(wide.time)
    near_x, near_y, _ = points.near(panel.extent)
    inside = wide.view.holds(near_x, near_y)
    x, y = near_x[inside].astype(np.float64), near_y[inside].astype(np.float64)
    if not len(x):
        x = y = np.zeros(1) + np.nan  # one missing point, so that an empty page has axes
    specks = "papers" not in drawn.marks
    tones = add_density(page, panel, x, y, specks=specks)
    page.write_key(_key(state) or density_key(page, tones))
    lit = marks_of(wide, data)[1]
    if wide.colouring.kind != "density" or lit is not None:
        n_across = round((right - left) / page.pixel)
        size = (n_across, round(n_across * wide.view.height / wide.view.width))
        picture = draw_picture(
            points,
            wide.view,
            size,
            colours=colours,
            colouring=wide.colouring,
            fine=1.0,
            specks=specks,
            lit=lit,
        )
        panel.layers[0] = replace(panel.layers[0], pixels=picture.rgb[::-1])
    _add_marks(page, panel, wide, data, drawn)
    table = None
    if "names" in state.layers:
        chosen = data.labels.in_view(wide.view, zoom=data.zoom(state.view))
        topics = data.labels.table.iloc[chosen].reset_index(drop=True)
        boxes = add_names(page, panel, topics, most=len(chosen))
        table = label_table(topics, boxes, panel, len(x))
    scene = page.scene(alt_text=caption.describe("Part of a map of papers."), table=table)
    return draw_scene(scene)


def _add_marks(page: Page, panel: Panel, state: MapState, data: MapData, drawn: Drawn) -> None:
    """Add contours and the dots of single papers, as on the screen."""
    scale, colours, marks = page.scale, state.colours, drawn.marks
    overlaid = THEMES[state.theme]["overlays"]

    def dots(rows: NDArray[np.int64], order: float, **style: Any) -> None:
        panel.layers.append(Points(x=data.x[rows], y=data.y[rows], order=order, **style))

    for layer, (x, y) in drawn.lines.items():
        points = np.column_stack([x, y]).astype(float)
        gaps = np.flatnonzero(np.isnan(points[:, 0]))
        lines = [line[~np.isnan(line[:, 0])] for line in np.split(points, gaps)]
        panel.layers.append(
            Lines(
                lines=lines,
                colour=overlaid[layer],
                order=1.7,
                dashes=_DASHES[layer],
                width=1.2 * scale,
                gid=layer,
            )
        )
    if "papers" in marks:
        rows = marks["papers"]
        chosen = paper_marker(rows, drawn)["color"]
        shades = [_rgb(chosen)] * len(rows) if isinstance(chosen, str) else map(_rgb, chosen)
        dots(
            rows,
            1.8,
            size=3.4 * scale,
            colour=list(shades),
            edge=colours.halo,
            edge_width=0.3 * scale,
        )
    if "reviews" in marks:
        dots(
            marks["reviews"],
            1.9,
            marker="s",
            size=5 * scale,
            filled=False,
            colour=overlaid["reviews"],
            edge_width=1.2 * scale,
        )
    if "selected" in marks:
        for edge, width in ((colours.halo, 2.6), (colours.ink, 1.1)):  # visible on any colour
            dots(
                marks["selected"],
                2.0,
                size=5 * scale,
                filled=False,
                colour=edge,
                edge_width=width * scale,
            )
    n_marked = len(marks.get("found", ())) + len(marks.get("apart", ()))
    if state.found is not None and n_marked == len(state.found.rows) <= _MAX_NUMBERED:
        rows = state.found.rows  # all papers found are in view, and are numbered by rank
        mark_papers(
            page,
            panel,
            data.x[rows].astype(np.float64),
            data.y[rows].astype(np.float64),
            outliers=state.found.apart,
        )
    elif "found" in marks:
        for kind, order in (("found", 2.1), ("apart", 2.2)):
            dots(marks[kind], order, **symbols(colours, scale=scale)[kind][-1])


def _rgb(colour: str) -> tuple[float, ...] | str:
    if colour.startswith("rgb("):
        return tuple(int(part) / 255 for part in colour[4:-1].split(","))
    return colour


def _key(state: MapState) -> Key | None:
    """Return the colour key, or None if the colour is the density, which has another key."""
    colouring = state.colouring
    if colouring.kind == "density":
        return None
    if colouring.kind == "classes":  # too many classes for the key; the legend lists the classes
        return Key(colouring.title, ())
    meanings = [colouring.meaning(float(place)) for place in np.linspace(0, 1, 5)]
    title = f"Share of papers: {colouring.title}" if colouring.is_share else colouring.title
    return Key.of_ramp(title, colouring.palette(state.colours), meanings)


def _legend(drawn: Drawn) -> list[LegendEntry]:
    """Return the legend entries of colour classes, which are not in the key."""
    colouring = drawn.state.colouring
    if colouring.kind != "classes":
        return []
    palette = colouring.palette(drawn.state.colours)
    labels = [*colouring.labels, *(["unknown"] if colouring.missing else [])]
    shades = [*palette[: len(colouring.labels)], palette[-1]]
    return [
        LegendEntry(label[:40], {"marker": "s", "size": 7, "colour": tuple(map(float, shade))})
        for label, shade in zip(labels, shades, strict=False)
    ]


# -- for a browser


def _page(atlas: Atlas, state: MapState, data: MapData, texts: dict[int, str]) -> str:
    """Return a web page with a map, including the JavaScript library that draws it."""
    facts, colours = facts_of(atlas), state.colours
    drawn = _with_sample(draw(state, data, fine=_SHARP), data)
    missing = sorted({int(row) for some in drawn.marks.values() for row in some} - set(texts))
    papers = atlas.engine.papers(missing) if missing else ()
    texts |= {row: hover_text(paper) for row, paper in zip(missing, papers, strict=True)}
    figure = go.Figure(figure_parts(state.view, state.size, colours))
    base = draw_picture(
        data.in_time(state.time),
        data.whole,
        state.size,
        colours=colours,
        colouring=state.colouring,
        fine=1.0,
        specks=False,
    )
    for image, picture in zip(figure.layout.images, (base, drawn.picture), strict=False):
        image.update(image_part(picture.box, picture.link))
    traces = {trace.name: trace for trace in figure.data}
    for name, part in trace_parts(drawn, data).items():
        if name in drawn.marks:
            order = drawn.marks[name][:: -1 if name in ("found", "apart") else 1]
            part["hovertext"] = [texts.get(int(row), "") for row in order]
        traces[name].update(part)
    n_dots = len(drawn.marks.get("papers", ()))
    sentences = [*sentences_of(drawn, data), *explanation(facts)]
    if 0 < n_dots < drawn.picture.n_papers:  # a sample
        traces["papers"].marker.opacity = 0.12
        sentences.append(
            f"A random {n_dots:,} of {drawn.picture.n_papers:,} papers have a hover text."
        )
    shown = replace(drawn, marks={k: v for k, v in drawn.marks.items() if k != "papers"})
    return render(
        "saved_map.html",
        title=f"Map of {facts.title}",
        colours=colours,
        width=state.size[0],
        generated=GENERATED if facts.generated else "",
        headline=headline(facts),
        drawing=figure.to_html(
            include_plotlyjs=True, full_html=False, config={**CONFIG, "displayModeBar": False}
        ),
        view_line=view_line(shown, n_all=len(data), zoom=data.zoom(state.view)),
        legend=legend_html(shown, n_all=len(data)),
        sentences=sentences,
        found=state.found,
        links=links_html,
    )


def _with_sample(drawn: Drawn, data: MapData) -> Drawn:
    """Add papers with hover texts; if there are too many, add a random sample (fixed seed)."""
    if "papers" not in drawn.state.layers or "papers" in drawn.marks:
        return drawn
    rows = data.in_time(drawn.state.time).within(drawn.state.view.box).astype(np.int64)
    if len(rows) > _MAX_HOVERED:
        rows = np.sort(np.random.default_rng(0).choice(rows, _MAX_HOVERED, replace=False))
    return replace(drawn, marks={**drawn.marks, "papers": rows})
