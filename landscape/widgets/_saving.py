"""What is seen, as a file: a page for print, or one for the browser that needs no network."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._io import write_output
from landscape._wording import count
from landscape.figures._caption import GENERATED, explanation, facts_of, headline
from landscape.figures._export import check_kind, save_figure
from landscape.widgets._map_figure import legend_html, shown_of, view_line
from landscape.widgets._map_state import Drawn, MapData, MapState, draw
from landscape.widgets._raster import draw_picture
from landscape.widgets._selection import hover_text, links_html

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.atlas import Atlas
    from landscape.figures._matplotlib import Sheet

_WIDTH = 11.0  # inches
_RASTER_DPI = 200
_SHARP = 2.0  # pixels of the picture in a page for the browser to one of the screen
_MOST_HOVERED = 3_000  # papers of a page for the browser that can be pointed at
_LISTED = 30
_MOST_NUMBERED = 100


def save_view(
    atlas: Atlas, scene: MapState, data: MapData, path: str | Path, *, texts: Mapping[int, str]
) -> Path:
    """Save a scene by the ending of the file."""
    target = check_kind(path)
    if target.suffix.lower() == ".html":
        write_output(target, page_of(atlas, scene, data, texts=texts))
        return target
    return save_figure(sheet_of(atlas, scene, data), target)


def sentences_of(drawn: Drawn, data: MapData) -> list[str]:
    """What the caption says of the view itself: window, years, colours, marks."""
    scene, counts = drawn.state, drawn.counts
    said = [f"This view: {count(drawn.picture.n_papers, 'paper')} of {len(data):,}"]
    if scene.time is not None:
        said[0] += f", of {scene.time[0]} to {scene.time[1]}"
    said[0] += "."
    colouring = scene.colouring
    if colouring.kind == "numbers":
        what = "share of papers of " if colouring.is_share else ""
        mean = "geometric mean (of one more than each)" if colouring.logarithmic else "mean"
        said.append(
            f"Colour: {what}{colouring.title.lower() if not what else colouring.title}, {mean} of "
            "the papers around; pale where papers are few."
        )
    elif colouring.kind == "classes":
        said.append(f"Colour: the most frequent {colouring.title.lower()} around.")
    if colouring.missing:
        said.append(f"Grey: unknown, {count(colouring.missing, 'paper')} of the atlas.")
    for layer, (title, rows, _) in scene.overlays.items():
        if layer in drawn.marks:
            in_view = len(drawn.marks[layer])
            said.append(f"Squares: {count(in_view, 'review')} in view.")
            continue
        told = shown_of(counts[layer], len(rows), "paper")
        if len(drawn.lines[layer][0]):
            line = {"concept": "Solid", "facility": "Dashed", "reviews": "Dotted"}[layer]
            said.append(f"{line} lines hold 50% and 80% of {told}: {title}.")
        else:
            said.append(f"No lines, for too few papers: {title}, {told}.")
    if scene.found is not None:
        n_found = len(scene.found.rows)
        told = shown_of(counts["found"], n_found, "paper")
        said.append(f"Found for “{scene.found.query}”: {told}.")
    if len(scene.selected):
        said.append(f"Selected: {shown_of(counts['selected'], len(scene.selected), 'paper')}.")
    return said


# -- for print


def sheet_of(atlas: Atlas, scene: MapState, data: MapData) -> Sheet:
    """Draw a scene on a page of the same shape, with its caption and key."""
    from landscape.figures._caption import Caption
    from landscape.figures._maps import add_density, add_names, density_key, label_table, window
    from landscape.figures._page import Page

    facts, colours = facts_of(atlas), scene.colours
    drawn = draw(scene, data)
    caption = Caption(headline(facts), [*sentences_of(drawn, data), *explanation(facts)],
                      facts.generated)  # fmt: skip

    def page_of_height(height: float) -> Page:
        return Page((_WIDTH, height), colours, caption, raster_dpi=_RASTER_DPI,
                    legend=_legend(drawn), has_key=True)  # fmt: skip

    map_height = _WIDTH * scene.size[1] / scene.size[0]
    draft = page_of_height(map_height + 2.0)
    page = page_of_height(map_height + (draft.caption_height + draft.title_height) / 72)
    left, bottom, right, top = page.area
    wide = replace(scene, view=_fitted(scene, (right - left) / (top - bottom)))
    panel = window(page, page.area, wide.view.box)
    points = data.in_time(wide.time)
    near_x, near_y, _ = points.near(panel.extent)
    inside = wide.view.holds(near_x, near_y)
    x, y = near_x[inside].astype(np.float64), near_y[inside].astype(np.float64)
    if not len(x):
        x = y = np.zeros(1) + np.nan  # an empty page still has its axes
    tones = add_density(page, panel, x, y, specks="papers" not in drawn.marks)
    page.write_key(_key(scene) or density_key(page, tones))
    lit = _lit(wide, data)
    if wide.colouring.kind != "density" or lit is not None:
        n_across = round((right - left) / page.pixel)
        size = (n_across, round(n_across * wide.view.height / wide.view.width))
        picture = draw_picture(
            points, wide.view, size, colours=colours, colouring=wide.colouring, fine=1.0,
            specks="papers" not in drawn.marks, lit=lit,
        )  # fmt: skip
        panel.layers[0] = replace(panel.layers[0], pixels=picture.rgb[::-1])
    _add_marks(page, panel, wide, data, drawn)
    table = None
    if "names" in scene.layers:
        chosen = data.labels.in_view(wide.view, zoom=data.zoom(scene.view))
        topics = data.labels.table.iloc[chosen].reset_index(drop=True)
        boxes = add_names(page, panel, topics, most=len(chosen))
        table = label_table(topics, boxes, panel, len(x))
    words = caption.describe("Part of a map of papers.")
    sheet: Sheet = page.draw(alt_text=words, table=table)
    return sheet


def _fitted(scene: MapState, shape: float) -> Any:
    """The view widened a little to the shape of the page."""
    from landscape.widgets._view import view_of

    return view_of(scene.view.box, (round(shape * 10_000), 10_000))


def _lit(scene: MapState, data: MapData) -> Any:
    from landscape.widgets._map_state import marks_of

    return marks_of(scene, data)[1]


def _add_marks(page: Any, panel: Any, scene: MapState, data: MapData, drawn: Drawn) -> None:
    """Contours and marks of single papers, as on the screen."""
    from landscape.figures._maps import mark_papers, symbols
    from landscape.figures._scene import Lines, Points
    from landscape.widgets._map_figure import OVERLAY_COLOURS, paper_marker

    scale, colours = page.scale, scene.colours

    def dots(rows: NDArray[np.int64], order: float, **style: Any) -> None:
        panel.layers.append(Points(x=data.x[rows], y=data.y[rows], order=order, **style))

    for layer, (x, y) in drawn.lines.items():
        dashes = {"concept": "-", "facility": "dashed", "reviews": "dotted"}[layer]
        points = np.column_stack([x, y]).astype(float)
        gaps = np.flatnonzero(np.isnan(points[:, 0]))
        lines = [line[~np.isnan(line[:, 0])] for line in np.split(points, gaps)]
        panel.layers.append(
            Lines(lines=lines, colour=OVERLAY_COLOURS[scene.theme][layer], order=1.7,
                  dashes=dashes, width=1.2 * scale, gid=layer)
        )  # fmt: skip
    if "papers" in drawn.marks:
        rows = drawn.marks["papers"]
        chosen = paper_marker(rows, drawn)["color"]
        shades = [_plain(chosen)] * len(rows) if isinstance(chosen, str) else map(_plain, chosen)
        dots(rows, 1.8, size=3.4 * scale, colour=list(shades), edge=colours.halo,
             edge_width=0.3 * scale)  # fmt: skip
    if "reviews" in drawn.marks:
        dots(drawn.marks["reviews"], 1.9, marker="s", size=5 * scale, filled=False,
             colour=OVERLAY_COLOURS[scene.theme]["reviews"], edge_width=1.2 * scale)  # fmt: skip
    if "selected" in drawn.marks:
        for edge, width in ((colours.halo, 2.6), (colours.ink, 1.1)):  # seen on any colour
            dots(drawn.marks["selected"], 2.0, size=5 * scale, filled=False, colour=edge,
                 edge_width=width * scale)  # fmt: skip
    if scene.found is not None and _all_found_in_view(scene, drawn):
        rows = scene.found.rows
        mark_papers(
            page, panel, data.x[rows].astype(np.float64), data.y[rows].astype(np.float64),
            outliers=scene.found.apart,
        )  # fmt: skip
    elif "found" in drawn.marks:
        for kind, order in (("found", 2.1), ("apart", 2.2)):
            dots(drawn.marks[kind], order, **symbols(colours, scale=scale)[kind][-1])


def _all_found_in_view(scene: MapState, drawn: Drawn) -> bool:
    """Whether the papers found can be numbered by their rank."""
    n = len(drawn.marks.get("found", ())) + len(drawn.marks.get("apart", ()))
    return scene.found is not None and n == len(scene.found.rows) <= _MOST_NUMBERED


def _plain(colour: str) -> Any:
    if colour.startswith("rgb("):
        return tuple(int(part) / 255 for part in colour[4:-1].split(","))
    return colour


def _key(scene: MapState) -> Any:
    """The key of another colouring than density, six squares at most."""
    from landscape.figures._page import Key

    colouring = scene.colouring
    if colouring.kind == "density":
        return None
    if colouring.kind == "classes":  # the legend below names them: squares have no room for it
        return Key(colouring.title, ())
    meanings = [colouring.meaning(float(place)) for place in np.linspace(0, 1, 5)]
    title = f"Share of papers: {colouring.title}" if colouring.is_share else colouring.title
    return Key.of_ramp(title, colouring.palette(scene.colours), meanings)


def _legend(drawn: Drawn) -> list[Any]:
    """The classes of the colours, for a page that has no squares for them."""
    from landscape.figures._page import LegendEntry

    colouring = drawn.state.colouring
    if colouring.kind != "classes":
        return []
    palette = colouring.palette(drawn.state.colours)
    labels = [*colouring.labels, *(["unknown"] if colouring.missing else [])]
    shades = [*palette[: len(colouring.labels)], palette[-1]]
    return [
        LegendEntry(label[:40], {"marker": "s", "size": 7, "colour": tuple(map(float, shade))})
        for label, shade in zip(labels, shades, strict=False)
    ]  # fmt: skip


# -- for the browser


def page_of(
    atlas: Atlas, scene: MapState, data: MapData, *, texts: Mapping[int, str] | None = None
) -> str:
    """Write a scene as one page for the browser, with the library that draws it inside."""
    import plotly.graph_objects as go

    from landscape.widgets._map_figure import CONFIG, figure_parts, image_part, trace_parts

    colours = scene.colours
    drawn = _with_sample(draw(scene, data, fine=_SHARP), data)
    known = dict(texts or {})
    rows = {int(row) for some in drawn.marks.values() for row in some} - set(known)
    missing = sorted(rows)
    for row, paper in zip(missing, atlas.engine.papers(missing) if missing else (), strict=True):
        known[row] = hover_text(paper)
    figure = go.Figure(figure_parts(scene.view, scene.size, colours))
    base = draw_picture(
        data.in_time(scene.time), data.whole, scene.size, colours=colours,
        colouring=scene.colouring, fine=1.0, specks=False,
    )  # fmt: skip
    for place, picture in enumerate((base, drawn.picture)):
        figure.layout.images[place].update(image_part(picture.box, picture.link))
    for name, part in trace_parts(drawn, data).items():
        if name in drawn.marks:
            shown = drawn.marks[name]
            order = shown[::-1] if name in ("found", "apart") else shown
            part["hovertext"] = [known.get(int(row), "") for row in order]
        figure.data[[trace.name for trace in figure.data].index(name)].update(part)
    if len(drawn.marks.get("papers", ())) and "papers" not in draw_marks(scene, drawn):
        trace = next(one for one in figure.data if one.name == "papers")
        trace.marker.opacity = 0.12
    drawing = figure.to_html(
        include_plotlyjs=True, full_html=False, config={**CONFIG, "displayModeBar": False}
    )
    return _page(atlas, scene, data, drawn, drawing)


def draw_marks(scene: MapState, drawn: Drawn) -> tuple[str, ...]:
    """Which marks stand for all papers in view, and not for a sample of them."""
    n = drawn.picture.n_papers
    return (
        ("papers",) if len(drawn.marks.get("papers", ())) >= n and "papers" in scene.layers else ()
    )


def _with_sample(drawn: Drawn, data: MapData) -> Drawn:
    """Papers to point at where all would be too many: a random sample, always the same."""
    if "papers" not in drawn.state.layers or "papers" in drawn.marks:
        return drawn
    rows = data.in_time(drawn.state.time).within(drawn.state.view.box).astype(np.int64)
    if len(rows) > _MOST_HOVERED:
        rows = np.sort(np.random.default_rng(0).choice(rows, _MOST_HOVERED, replace=False))
    return replace(drawn, marks={**drawn.marks, "papers": rows})


def _page(atlas: Atlas, scene: MapState, data: MapData, drawn: Drawn, drawing: str) -> str:
    from importlib.resources import files

    facts, colours = facts_of(atlas), scene.colours
    safe = html.escape
    made_up = f"<p class='made-up'>{GENERATED}</p>" if facts.generated else ""
    said = [*sentences_of(drawn, data), *explanation(facts)]
    sample = len(drawn.marks.get("papers", ()))
    if 0 < sample < drawn.picture.n_papers:
        said.append(f"A random {sample:,} of {drawn.picture.n_papers:,} papers can be pointed at.")
    shown = replace(drawn, marks={k: v for k, v in drawn.marks.items() if k != "papers"})
    found = ""
    if scene.found is not None and scene.found.papers:
        items = "".join(
            f"<li>{safe(paper.title)} <span class='quiet'>{paper.year or ''}</span> "
            f"{links_html(paper)}{' ◇ apart from the others' if apart else ''}</li>"
            for paper, apart in zip(
                scene.found.papers[:_LISTED], scene.found.apart[:_LISTED], strict=False
            )
        )
        found = f"<h2>Found for “{safe(scene.found.query)}”</h2><ol>{items}</ol>"
    style = files("landscape.widgets").joinpath("saved_page.css").read_text(encoding="utf-8")
    tones = f":root {{--page: {colours.page}; --ink: {colours.ink}; --faint: {colours.faint}}}"
    title = safe(f"Map of {facts.title}")
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{title}</title><style>{tones}\n{style}</style></head><body>"
        f"<main class='landscape-explorer'><h1>{title}</h1>{made_up}"
        f"<div class='map' style='width: {scene.size[0]}px'>{drawing}</div>"
        f"{view_line(shown, n_all=len(data), zoom=data.zoom(scene.view))}"
        f"{legend_html(shown, n_all=len(data))}"
        f"<p class='quiet'><b>{safe(headline(facts))}</b> {safe(' '.join(said))}</p>{found}"
        "</main></body></html>\n"
    )
