"""The path of an author's papers over the map and through its regions in time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.figures._caption import NEARNESS, caption_of, place_of
from landscape.figures._colours import oklab_to_srgb, quiet, theme
from landscape.figures._labels import clean_name
from landscape.figures._maps import add_density, add_few_names, map_box, map_panel, positions
from landscape.figures._page import SIZE_INCHES, SMALL, Page
from landscape.figures._scene import (
    Axis,
    Box,
    ColourBar,
    Curve,
    Floats,
    Lines,
    Panel,
    Points,
    ticks,
)

if TYPE_CHECKING:
    import pandas as pd

    from landscape.figures._matplotlib import Sheet
    from landscape.store._atlas_store import AtlasStore
    from landscape.types import Analysis

_MOST_REGIONS = 16
_ROW, _ROOMY_ROW = 12.0, 22.0  # points


def author(
    atlas: AtlasStore,
    name: str,
    *,
    colours: str = "light",
    size_inches: tuple[float, float] = SIZE_INCHES,
    title: str | None = None,
    **options: Any,
) -> Sheet:
    """Draw an author's papers over the map and through its regions in time.

    Left, the papers on the map, coloured by year, a line leading from period to period; right,
    when the author wrote in which region.

    Parameters
    ----------
    atlas : AtlasStore
    name : str
        Such as ``"Rubin, Vera"``. Namesakes are taken together, as the caption says.
    **options
        Passed on to `landscape.overlays.author_path`: ``group``, ``period_years``, ...
    colours, size_inches, title
        As for `landscape.figures.heatmap`.

    Returns
    -------
    Sheet
        A matplotlib Figure, with ``alt_text`` and the ``table`` of the papers.

    Raises
    ------
    InputError
        If no paper is by such an author.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.author(ls.open("my.atlas"), "Rubin, Vera")  # doctest: +SKIP
    """
    from landscape.overlays.trends import author_path

    found = author_path(atlas, name, **options)
    return draw_author(atlas, found, colours=colours, size_inches=size_inches, title=title)


def draw_author(
    atlas: AtlasStore,
    analysis: Analysis,
    *,
    colours: str = "light",
    size_inches: tuple[float, float] = SIZE_INCHES,
    title: str | None = None,
) -> Sheet:
    """Draw the papers of an analysis of an author (``title, year, x, y, topic_id, label``)."""
    papers = analysis.table
    caption = caption_of(
        analysis, NEARNESS, "The line joins the middles of the periods in the order of time."
    )
    page = Page(size_inches, quiet(theme(colours)), caption, title=title, smallest=(4.0, 3.0))
    left, bottom, right, top = page.room
    middle = left + 0.6 * (right - left)
    tints = year_tints(papers["year"].to_numpy(dtype=float), dark=colours == "dark")
    panel = _draw_map(
        page, (left, bottom, middle - 10 * page.scale, top - 4 * page.scale), atlas, analysis, tints
    )
    _draw_regions(page, (middle + 4 * page.scale, bottom, right, top), papers, tints)
    told = []
    for label, part in papers.groupby("label", sort=False):
        years = f"{part['year'].min()} to {part['year'].max()}"
        place = place_of(part["x"].mean(), part["y"].mean(), panel.extent)
        name = clean_name(label) or "outside every region"
        told.append(f"{name} ({len(part)}, {years}, {place})")
    more = f"In order: {'; '.join(told[:12])}."
    words = caption.describe("Map of an author's papers in time.", more)
    return page.draw(alt_text=words, table=papers)


def year_tints(years: Floats, *, dark: bool = False) -> Floats:
    """Colours from the first year to the last: yellow-brown to violet-blue, even in lightness."""
    span = years.max() - years.min()
    along = (years - years.min()) / span if span else np.ones(len(years))
    lightness = (0.9 - 0.25 * along) if dark else (0.72 - 0.34 * along)
    # Through grey in a straight line from yellow to blue: distinct with any colour vision.
    return oklab_to_srgb(
        np.column_stack([lightness, 0.02 + 0.02 * along, 0.13 - 0.28 * along])
    )  # fmt: skip


def _draw_map(page: Page, box: Box, atlas: AtlasStore, analysis: Analysis, tints: Floats) -> Panel:
    """Draw papers and path on the map."""
    papers, scale, colours = analysis.table, page.scale, page.colours
    x, y = positions(atlas.map["x"], atlas.map["y"])
    left, bottom, right, top = box
    room = map_box((left, bottom + 16 * scale, right, top), x, y)
    panel = map_panel(page, room, x, y, border=10 * scale, framed=True)
    add_density(page, panel, x, y)
    periods = analysis.tables.get("periods")
    if periods is not None and {"x", "y"} <= set(periods.columns) and len(periods) > 1:
        path = periods[["x", "y"]].to_numpy(dtype=float)
        panel.layers.append(
            Curve(x=path[:, 0], y=path[:, 1], colour=colours.ink, width=0.8 * scale, gid="path")
        )
    last_first = papers[::-1]  # so that the many late papers do not hide the early ones
    years = last_first["year"].to_numpy(dtype=float)
    ends = float(years.min()), max(float(years.max()), float(years.min()) + 1)
    ramp = year_tints(np.linspace(*ends, 64), dark=colours.name == "dark")
    panel.layers.append(
        Points(
            x=last_first["x"].to_numpy(float), y=last_first["y"].to_numpy(float),
            size=4.2 * scale, colour=tints[::-1], order=3, gid="papers", edge=colours.halo,
            edge_width=0.5 * scale, bar=ColourBar("year", years, ends, ramp),
            hover=[f"{row.year} {row.title}\n{row.label}" for row in last_first.itertuples()],
        )
    )  # fmt: skip
    at, half = panel.to_page(papers["x"], papers["y"]), 2.5 * scale
    wanted = papers.loc[papers["topic_id"] >= 0, "topic_id"].value_counts()
    topics = atlas.topics.set_index("topic_id", drop=False)
    add_few_names(
        page, panel, topics.loc[[topic for topic in wanted.index if topic in topics.index]],
        most=14, size=7, reach=14 * scale, reserved=np.hstack([at - half, at + half]),
    )  # fmt: skip
    first, last = int(papers["year"].min()), int(papers["year"].max())
    y_of_key = panel.box[1] - 12 * scale
    page.colour_bar(left, y_of_key, ramp, str(first), str(last) if last > first else "")
    return panel


def _draw_regions(page: Page, box: Box, papers: pd.DataFrame, tints: Floats) -> None:
    """Draw a row of dots for each region the author wrote in, the first one on top."""
    left, bottom, right, top = box
    scale = page.scale
    page.write("Regions in time", left, top - 9 * scale, size=9, weight="bold", gid="heading")
    label = papers["label"].where(papers["topic_id"] >= 0, "outside every region")
    counts = label.value_counts()
    fitting = int((top - bottom - 40 * scale) / (_ROW * scale))
    kept = list(counts.index[: max(1, min(_MOST_REGIONS, fitting))])
    first = papers.assign(label=label).groupby("label")["year"].min()
    rows = sorted(kept, key=lambda one: (first[one], one))
    pitch = min(_ROOMY_ROW * scale, (top - bottom - 40 * scale) / len(rows))
    names, upper = left + 0.42 * (right - left), top - 16 * scale
    years = papers["year"].to_numpy(dtype=float)
    pad = max(1.0, 0.04 * (years.max() - years.min()))
    limits = years.min() - pad, years.max() + pad
    panel = page.chart(
        (names, upper - pitch * len(rows), right, upper),
        Axis(limits, ticks(limits, 5, lambda v: f"{v:.0f}", whole=True)),
        Axis((len(rows) - 0.5, -0.5)), gid="regions", rows=list(enumerate(rows)),
    )  # fmt: skip
    for place, region in enumerate(rows):
        of = (label == region).to_numpy()
        line = np.array([[years[of].min(), place], [years[of].max(), place]])
        each, n = np.unique(years[of], return_counts=True)
        tint = np.array([tints[np.flatnonzero(years == year)[0]] for year in each])
        panel.layers.extend([
            Lines(lines=[line], width=0.7 * scale, colour=page.colours.faint, order=1),
            Points(x=each, y=np.full(len(each), place), size=4 * scale * np.sqrt(n), colour=tint,
                   hover=[f"{region}, {year:.0f}: {count}"
                          for year, count in zip(each, n, strict=True)]),
        ])  # fmt: skip
        words = page.shortened(f"{region} ({of.sum()})", width=names - left - 8 * scale, size=7.5)
        page.write(words, names - 6 * scale, upper - (place + 0.5) * pitch - 2.5 * scale, size=7.5,
                   align="right", gid="region")  # fmt: skip
    if len(counts) > len(rows):
        rest = f"and {len(counts) - len(rows)} more regions"
        page.write(rest, left, upper - pitch * len(rows) - 22 * scale, size=SMALL,
                   colour=page.colours.faint)  # fmt: skip
