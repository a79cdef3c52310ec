"""Draw a state of the viewer for print: the window, colours, marks and names of the screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._wording import count
from landscape.figures.caption import Caption, explanation, facts_of, headline
from landscape.figures.colours import THEMES, perceptual_ramp
from landscape.figures.export import draw
from landscape.figures.labels import clean_name
from landscape.figures.maps import (
    add_density,
    add_names,
    chosen_topics,
    density_key,
    label_table,
    mark_papers,
    symbols,
    window,
)
from landscape.figures.page import Key, LegendEntry, Page, PageOptions
from landscape.figures.scene import Image, Panel, Points
from landscape.viewer.columns import colours_of
from landscape.viewer.state import find_set, passing
from landscape.viewer.themes import rgb_of, viewer_themes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.figures.matplotlib_backend import Sheet
    from landscape.viewer.source import MapSource

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int64]
    Box = tuple[float, float, float, float]

_SIZE = (11.0, 8.5)  # inches
_RASTER_DPI = 200
_SHOWN_SETS = 7  # facilities or concepts with a colour; as in colours.js
_MAX_NUMBERED = 100
_CLOSE, _NEAR = 6.0, 1.5  # zooms from which subregions, and all regions, have names
_FIRST_REGIONS = 12  # regions with names on the whole map
_COLUMNS = {"citations": "cites"}


@dataclass(frozen=True)
class Shown:
    """What a map shows: the state, as in ``given.js``, and rows of marked papers, best first."""

    source: MapSource
    given: Mapping[str, Any]
    selected: Rows
    found: Rows

    @property
    def layers(self) -> list[str]:
        """The visible layers."""
        return list(self.given.get("layers", ["names", "papers"]))


def print_map(shown: Shown, theme: str = "light") -> Sheet:
    """Draw a map for print.

    Parameters
    ----------
    shown : Shown
    theme : {"light", "dark"}, default "light"

    Returns
    -------
    Sheet
        A matplotlib Figure for `landscape.figures.save_figure`.

    Raises
    ------
    InputError
        If the state names an unknown colour, facility or concept.
    """
    source = shown.source
    atlas, passes = source.atlas, passing(source, shown.given)
    x, y = (atlas.map[side].to_numpy(np.float64) for side in ("x", "y"))
    facts = facts_of(atlas)
    legend: list[LegendEntry] = []
    key, rgb = _colours(shown, theme, legend)
    sentences = [*_sentences(shown, passes), *explanation(facts)]
    caption = Caption(headline(facts), sentences, facts.generated)
    look: PageOptions = {"colours": theme, "size_inches": _SIZE, "raster_dpi": _RASTER_DPI}
    page = Page(caption, look, legend=legend, has_key=rgb is None or key is not None)
    panel = window(page, page.area, _fitted(shown, page.area))
    x0, y0, x1, y1 = panel.extent
    seen = passes & (x >= x0) & (x <= x1) & (y >= y0) & (y <= y1)
    if rgb is None:
        places = (x[seen], y[seen]) if seen.any() else (np.array([np.nan]), np.array([np.nan]))
        page.write_key(density_key(page, add_density(page, panel, *places, specks=True)))
    else:
        panel.layers.append(_dots(page, panel, x[seen], y[seen], rgb[seen]))
        if key is not None:
            page.write_key(key)
    reserved = _mark(shown, page, panel, x, y, seen)
    table = None
    if "names" in shown.layers:
        topics = _named(source, panel)
        boxes = add_names(page, panel, topics, most=len(topics), reserved=reserved)
        table = label_table(topics, boxes, panel, int(seen.sum()))
    sheet: Sheet = draw(page.scene(alt_text=caption.describe("A map of papers."), table=table))
    return sheet


def _fitted(shown: Shown, area: Box) -> Box:
    """Return the window, widened to the shape of the page."""
    x0, y0, side = shown.source.box
    x0, y0, x1, y1 = shown.given.get("view") or (x0, y0, x0 + side, y0 + side)
    shape = (area[2] - area[0]) / (area[3] - area[1])
    half = max(x1 - x0, (y1 - y0) * shape) / 2
    x, y = (x0 + x1) / 2, (y0 + y1) / 2
    return x - half, y - half / shape, x + half, y + half / shape


def _named(source: MapSource, panel: Panel) -> Any:
    """Return the topics to name: more levels in a smaller window."""
    x0, y0, x1, y1 = panel.extent
    zoom = source.box[2] / (x1 - x0)
    topics = chosen_topics(source.atlas.topics, levels=(1, 2) if zoom >= _CLOSE else (0, 1))
    if zoom < _NEAR and (topics["level"] == 0).any():
        first = topics[topics["level"] == 1].nlargest(_FIRST_REGIONS, "n_papers").index
        topics = topics[(topics["level"] == 0) | topics.index.isin(first)]
    return topics[topics["x"].between(x0, x1) & topics["y"].between(y0, y1)].reset_index(drop=True)


def _sentences(shown: Shown, passes: NDArray[np.bool_]) -> list[str]:
    """Return sentences on filters and marks."""
    given, topics = shown.given, shown.source.topics
    years, facility = given.get("years"), given.get("facility") or ""
    region = topics["label"][topics["topic_id"] == given.get("region")].tolist()
    conditions = [
        f"{years[0]} to {years[1]}" if years else "",
        f"region {region[0]}" if region else "",
        f"data of {facility}" if facility and given.get("uses") else facility,
        given.get("concept") or "",
        "reviews" if given.get("reviews") else "",
    ]
    told = ", ".join(filter(None, conditions))
    sentences = [f"Shown: {passes.sum():,} of {len(passes):,} papers ({told})."] if told else []
    if len(shown.found):
        query = clean_name(str(given.get("query", "")), most=120)
        sentences.append(f"Marked: {count(len(shown.found), 'paper')} found for “{query}”.")
    if len(shown.selected):
        n_shown = int(passes[shown.selected].sum())
        of = f" of {len(shown.selected):,} selected" if n_shown < len(shown.selected) else ""
        sentences.append(f"Rings: {count(n_shown, 'selected paper')}{of}.")
    if shown.source.mine is not None:
        sentences.append(f"Large dots: {count(len(shown.source.mine), 'own paper')}.")
    return sentences


# -- colours and marks


def _colours(
    shown: Shown, theme: str, legend: list[LegendEntry]
) -> tuple[Key | None, Floats | None]:
    """Return the key and the colour of each paper by row, or None for the density."""
    name, own = str(shown.given.get("colour", "region")), viewer_themes()[theme]
    missing, title = rgb_of([own["missing"]]), name.replace("_", " ").capitalize()
    if name == "density":
        return None, None
    if name in ("facility", "concept"):
        values, labels = _of_sets(shown, name)
    elif name == "region":
        values, labels = _of_regions(shown.source), []
    else:
        column = _COLUMNS.get(name, name)
        head, places = colours_of(column, shown.source.atlas.read_papers([column])[column])
        if head["labels"] is None:
            ramp = perceptual_ramp(THEMES[theme]["numbers"])
            at = np.round((places.astype(float) - 1) / 254 * (len(ramp) - 1)).astype(int)
            low, high = head["ends"]
            title += ", grey: not known" if head["unknown"] else ""
            return Key.of_ramp(title, ramp, [low, "", "", "", high]), np.where(
                (places > 0)[:, None], ramp[at], missing
            )
        values, labels = np.where(places == 255, -1, places.astype(int)), head["labels"]
    classes = rgb_of(own["classes"])
    palette = np.vstack([classes[np.arange(max(1, values.max() + 1)) % len(classes)], missing])
    for number, label in enumerate(labels):
        style = {"marker": "s", "size": 7, "colour": tuple(map(float, palette[number]))}
        legend.append(LegendEntry(str(label)[:40], style))
    return Key(title, ()) if legend else None, palette[values]


def _of_sets(shown: Shown, name: str) -> tuple[NDArray[np.int64], list[str]]:
    """Return the class of each paper by facilities or concepts, as `bySet` in ``colours.js``."""
    source, chosen = shown.source, shown.given.get(name)
    kind = "facilities" if name == "facility" else "concepts"
    values = np.full(len(source.order), -1)
    if chosen:
        one = find_set(source, kind, str(chosen))
        values[one.points], labels = 0, [one.name]
        if kind == "facilities":
            values[one.points], labels = 1, [f"uses data of {one.name}", f"mentions {one.name}"]
            values[one.strong] = 0
    else:
        sets = source.sets[kind][:_SHOWN_SETS]
        labels = [one.name for one in sets]
        for number, one in enumerate(sets):
            values[one.points] = number
    return values[source.point_of], labels


def _of_regions(source: MapSource) -> NDArray[np.int64]:
    """Return the number of the colour of the largest region around each paper, or -1."""
    values, levels = np.full(len(source.order), -1), source.topics["level"].to_numpy()
    for row in np.flatnonzero(levels == levels.min(initial=9)).tolist():
        values[np.isin(source.region, source.inside(row))] = source.colours[row]
    return values[source.point_of]


def _dots(page: Page, panel: Panel, x: Floats, y: Floats, rgb: Floats) -> Image:
    """Return a picture with one dot for each paper."""
    left, bottom, right, top = panel.box
    rows, columns = (max(8, round(side / page.pixel)) for side in (top - bottom, right - left))
    x0, y0, x1, y1 = panel.extent
    spacing = np.sqrt(rows * columns / max(len(x), 1))
    reach = int(np.clip(round(0.25 * spacing), 1, 6))
    pixels = np.zeros((rows, columns, 4), dtype=np.uint8)
    row = np.clip(((y - y0) / (y1 - y0) * rows).astype(int), 0, rows - 1)
    column = np.clip(((x - x0) / (x1 - x0) * columns).astype(int), 0, columns - 1)
    colours = np.column_stack([np.round(rgb * 255), np.full(len(rgb), 235)]).astype(np.uint8)
    for dy in range(-reach, reach + 1):
        for dx in range(-reach, reach + 1):
            if dx * dx + dy * dy <= reach * reach + 0.5:
                at = np.clip(row + dy, 0, rows - 1), np.clip(column + dx, 0, columns - 1)
                pixels[at] = colours
    return Image(pixels=pixels, extent=panel.extent, order=0.5, gid="papers")


def _mark(
    shown: Shown, page: Page, panel: Panel, x: Floats, y: Floats, seen: NDArray[np.bool_]
) -> Floats | None:
    """Add reviews, own papers, the selection and the papers found; return boxes to keep clear."""
    source, colours, scale = shown.source, page.colours, page.scale
    own = viewer_themes()[colours.name]

    def dots(rows: Rows, order: float, **style: Any) -> None:
        rows = rows[seen[rows]]
        panel.layers.append(Points(x=x[rows], y=y[rows], order=order, **style))

    if "reviews" in shown.layers:
        for one in source.sets["reviews"]:
            rows = source.order[one.points]
            dots(rows, 1.8, marker="s", size=3.4 * scale, colour=own["reviews"])
    if source.mine is not None:
        rim: dict[str, Any] = {"edge": colours.halo, "edge_width": 0.9 * scale}
        dots(source.mine, 1.9, size=6 * scale, colour=own["mine"], **rim)
    if len(shown.selected):
        for edge, width in ((colours.halo, 2.6), (colours.ink, 1.1)):  # visible on any colour
            ring = {"filled": False, "colour": edge, "edge_width": width * scale}
            dots(shown.selected, 2.0, size=5 * scale, **ring)
    rows = shown.found
    if 0 < len(rows) <= _MAX_NUMBERED and seen[rows].all():  # the numbers are ranks
        return mark_papers(page, panel, x[rows], y[rows], outliers=np.zeros(len(rows), bool))[0]
    if len(rows):
        dots(rows, 2.1, **symbols(colours, scale=scale)["found"][-1])
    return None
