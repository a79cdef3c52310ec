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
from landscape.figures.caption import GENERATED, explanation, headline
from landscape.figures.density_map import facts_of
from landscape.figures.export import check_kind, save_figure
from landscape.widgets.legend import legend_html, shown_of, view_line
from landscape.widgets.paper_card import hover_text, links_html
from landscape.widgets.raster import draw_picture
from landscape.widgets.scene import Drawn, MapData, Scene, draw

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.figures.sheet import Sheet

_WIDTH = 11.0  # inches
_RASTER_DPI = 200
_SHARP = 2.0  # pixels of the picture in a page for the browser to one of the screen
_MOST_HOVERED = 3_000  # papers of a page for the browser that can be pointed at
_LISTED = 30
_MOST_NUMBERED = 100


def save_view(
    atlas: Any, scene: Scene, data: MapData, path: str | Path, *, texts: Mapping[int, str]
) -> Path:
    """Save a scene by the ending of the file.

    Parameters
    ----------
    atlas : Atlas
    scene : Scene
    data : MapData
    path : path
        ``.png``, ``.pdf``, ``.svg`` or ``.html``.
    texts : mapping of int to str
        What is told of papers under the pointer, as far as it is known.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    InputError
        For another ending, or a folder that cannot be written.
    """
    target = check_kind(path)
    if target.suffix.lower() == ".html":
        write_output(target, page_of(atlas, scene, data, texts=texts))
        return target
    return save_figure(sheet_of(atlas, scene, data), target)


def sentences_of(drawn: Drawn, data: MapData) -> list[str]:
    """What the caption says of the view itself: window, years, colours, marks."""
    scene, counts = drawn.scene, drawn.counts
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
    for layer, (title, rows) in scene.overlays.items():
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


def sheet_of(atlas: Any, scene: Scene, data: MapData) -> Sheet:
    """Draw a scene on a page of the same shape, with its caption and key.

    Parameters
    ----------
    atlas : Atlas
    scene : Scene
    data : MapData

    Returns
    -------
    Sheet
    """
    import matplotlib as mpl

    from landscape.figures.page import Frame
    from landscape.figures.panels import Plate
    from landscape.figures.sheet import SETTINGS

    facts, colours = facts_of(atlas), scene.colours
    drawn = draw(scene, data)
    said = [*sentences_of(drawn, data), *explanation(facts)]
    head = headline(facts)
    map_height = _WIDTH * scene.size[1] / scene.size[0]
    with mpl.rc_context(SETTINGS):

        def page(height: float) -> Plate:
            made = Plate(
                (_WIDTH, height), colours, raster_dpi=_RASTER_DPI, key=_key(scene),
                legend=_legend(drawn),
            )  # fmt: skip
            made.reserve_caption(head, said, facts)
            return made

        draft = page(map_height + 2.0)
        plate = page(map_height + draft.caption_height / 72)
        left, bottom, right, top = plate.area
        wide = replace(scene, view=_fitted(scene, (right - left) / (top - bottom)))
        frame = Frame(box=wide.view.box, page=plate.area)
        _draw_map(plate, wide, data, frame, drawn)
        if "names" in scene.layers:
            zoom = data.zoom(scene.view)
            chosen = data.labels.in_view(wide.view, zoom=zoom)
            table = plate.letter(
                data.labels.table.iloc[chosen].reset_index(drop=True), frame, labels=True,
                max_labels=len(chosen),
            )  # fmt: skip
            plate.sheet.table = table
        plate.write_caption(head, said, facts)
    sheet = plate.sheet
    sheet.caption = "\n".join([head, *said])
    generated = f"{GENERATED} " if facts.generated else ""
    sheet.alt_text = f"{generated}Part of a map of papers. {head} {' '.join(said)}"
    return sheet


def _fitted(scene: Scene, shape: float) -> Any:
    """The view widened a little to the shape of the page."""
    from landscape.widgets.views import view_of

    return view_of(scene.view.box, (round(shape * 10_000), 10_000))


def _draw_map(plate: Any, scene: Scene, data: MapData, frame: Any, drawn: Drawn) -> None:
    points = data.in_time(scene.time)
    near_x, near_y, _ = points.near(frame.box)
    inside = scene.view.holds(near_x, near_y)
    x, y = near_x[inside].astype(np.float64), near_y[inside].astype(np.float64)
    if not len(x):
        x = y = np.zeros(1) + np.nan  # an empty page still has its axes
    plate.draw_density(x, y, frame, specks="papers" not in drawn.marks)
    axes = plate.sheet.axes[0]
    n_across = round((frame.page[2] - frame.page[0]) / plate.pixel)
    lit = _lit(scene, data)
    if scene.colouring.kind != "density" or lit is not None:
        size = (n_across, round(n_across * scene.view.height / scene.view.width))
        picture = draw_picture(
            points, scene.view, size, colours=scene.colours, colouring=scene.colouring, fine=1.0,
            specks="papers" not in drawn.marks, lit=lit,
        )  # fmt: skip
        axes.images[0].set_data(picture.rgb[::-1])
    _draw_marks(plate, scene, data, frame, drawn)


def _lit(scene: Scene, data: MapData) -> Any:
    from landscape.widgets.scene import marks_of

    return marks_of(scene, data)[1]


def _draw_marks(plate: Any, scene: Scene, data: MapData, frame: Any, drawn: Drawn) -> None:
    """Contours and marks of single papers, as on the screen."""
    from landscape.widgets.map_figure import _OVERLAID, paper_marker

    axes, scale, colours = plate.sheet.axes[0], plate.scale, scene.colours

    def dots(rows: NDArray[np.int64], order: float, **style: Any) -> None:
        at = frame.to_page(data.x[rows], data.y[rows])
        axes.plot(*at.T, linestyle="none", transform=plate.points, zorder=order, scalex=False,
                  scaley=False, **style)  # fmt: skip

    for layer, (x, y) in drawn.lines.items():
        dash = {"concept": "-", "facility": "--", "reviews": ":"}[layer]
        axes.plot(x, y, dash, color=_OVERLAID[scene.theme][layer], linewidth=1.2 * scale,
                  zorder=1.7, gid=layer)  # fmt: skip
    if "papers" in drawn.marks:
        rows = drawn.marks["papers"]
        chosen = paper_marker(rows, drawn)["color"]
        shades = [_plain(chosen)] * len(rows) if isinstance(chosen, str) else map(_plain, chosen)
        at = frame.to_page(data.x[rows], data.y[rows])
        axes.scatter(*at.T, s=(3.4 * scale) ** 2, c=list(shades), linewidths=0.3 * scale,
                     edgecolors=colours.halo, transform=plate.points, zorder=1.8)  # fmt: skip
    hollow = {"markerfacecolor": "none", "markeredgewidth": 1.2 * scale}
    if "reviews" in drawn.marks:
        dots(drawn.marks["reviews"], 1.9, marker="s", markersize=5 * scale,
             markeredgecolor=_OVERLAID[scene.theme]["reviews"], **hollow)  # fmt: skip
    if "selected" in drawn.marks:
        for edge, width in ((colours.halo, 2.6), (colours.ink, 1.1)):  # seen on any colour
            dots(drawn.marks["selected"], 2.0, marker="o", markersize=5 * scale,
                 markeredgecolor=edge, **hollow | {"markeredgewidth": width * scale})  # fmt: skip
    if scene.found is not None and _all_found_in_view(scene, drawn):
        from landscape.figures.marks import mark_papers

        rows = scene.found.rows
        mark_papers(
            plate, frame, data.x[rows].astype(np.float64), data.y[rows].astype(np.float64),
            apart=scene.found.apart,
        )  # fmt: skip
    elif "found" in drawn.marks:
        dots(drawn.marks["found"], 2.1, marker="o", markersize=6 * scale,
             markerfacecolor=colours.found, markeredgecolor=colours.halo)  # fmt: skip
        dots(drawn.marks["apart"], 2.2, marker="D", markersize=6 * scale,
             markeredgecolor=colours.apart, **hollow)  # fmt: skip
    x0, y0, x1, y1 = frame.box
    axes.set(xlim=(x0, x1), ylim=(y0, y1))


def _all_found_in_view(scene: Scene, drawn: Drawn) -> bool:
    """Whether the papers found can be numbered by their rank."""
    n = len(drawn.marks.get("found", ())) + len(drawn.marks.get("apart", ()))
    return scene.found is not None and n == len(scene.found.rows) <= _MOST_NUMBERED


def _plain(colour: str) -> Any:
    if colour.startswith("rgb("):
        return tuple(int(part) / 255 for part in colour[4:-1].split(","))
    return colour


def _key(scene: Scene) -> Any:
    """The key of another colouring than density, six squares at most."""
    from landscape.figures.panels import Key

    colouring = scene.colouring
    if colouring.kind == "density":
        return None
    if colouring.kind == "classes":  # the legend below names them: squares have no room for it
        return Key(colouring.title, colouring.palette(scene.colours), ())
    meanings = [colouring.meaning(float(place)) for place in np.linspace(0, 1, 5)]
    title = f"Share of papers: {colouring.title}" if colouring.is_share else colouring.title
    return Key(title, colouring.palette(scene.colours), meanings)


def _legend(drawn: Drawn) -> list[Any]:
    """The classes of the colours, for a page that has no squares for them."""
    from landscape.figures.marginalia import LegendEntry

    colouring = drawn.scene.colouring
    if colouring.kind != "classes":
        return []
    palette = colouring.palette(drawn.scene.colours)
    labels = [*colouring.labels, *(["unknown"] if colouring.missing else [])]
    shades = [*palette[: len(colouring.labels)], palette[-1]]
    return [
        LegendEntry(label[:40], {"linestyle": "none", "marker": "s", "markersize": 7,
                                 "markerfacecolor": tuple(shade), "markeredgecolor": "none"})
        for label, shade in zip(labels, shades, strict=False)
    ]  # fmt: skip


# -- for the browser


def page_of(
    atlas: Any, scene: Scene, data: MapData, *, texts: Mapping[int, str] | None = None
) -> str:
    """Write a scene as one page for the browser, with the library that draws it inside.

    Parameters
    ----------
    atlas : Atlas
    scene : Scene
    data : MapData
    texts : mapping of int to str, optional
        What is told of papers under the pointer, as far as it is known.

    Returns
    -------
    str
        HTML that needs no network; everything from the papers is escaped.
    """
    import plotly.graph_objects as go

    from landscape.widgets.map_figure import CONFIG, figure_parts, image_part, trace_parts

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


def draw_marks(scene: Scene, drawn: Drawn) -> tuple[str, ...]:
    """Which marks stand for all papers in view, and not for a sample of them."""
    n = drawn.picture.n_papers
    return (
        ("papers",) if len(drawn.marks.get("papers", ())) >= n and "papers" in scene.layers else ()
    )


def _with_sample(drawn: Drawn, data: MapData) -> Drawn:
    """Papers to point at where all would be too many: a random sample, always the same."""
    if "papers" not in drawn.scene.layers or "papers" in drawn.marks:
        return drawn
    rows = data.in_time(drawn.scene.time).within(drawn.scene.view.box).astype(np.int64)
    if len(rows) > _MOST_HOVERED:
        rows = np.sort(np.random.default_rng(0).choice(rows, _MOST_HOVERED, replace=False))
    return replace(drawn, marks={**drawn.marks, "papers": rows})


def _page(atlas: Any, scene: Scene, data: MapData, drawn: Drawn, drawing: str) -> str:
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
