"""Twins for notebooks of the figures that follow time: an author's path, the map in slices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._wording import count
from landscape.figures.author_map import year_tints
from landscape.figures.chart_page import sentences_of
from landscape.figures.colours import quiet, theme
from landscape.figures.density_map import positions
from landscape.figures.page import Frame
from landscape.figures.slice_maps import cut, smoothed_slices
from landscape.figures.twins import MOST_MARKS, letter, map_base, picture_link, plain
from landscape.overlays._periods import count_years, paper_years

if TYPE_CHECKING:
    from landscape.types import Analysis

_POINTS_TO_AN_INCH = 72
_TINTS = 9  # colours between which those of years are mixed


def author(
    atlas: Any, name: str, *, colours: str = "light", title: str | None = None, **options: Any
) -> Any:
    """Draw an author's papers on the map, coloured by year, and the path through the periods."""
    from landscape.overlays.trends._authors import author_path

    return draw_author(atlas, author_path(atlas, name, **options), colours=colours, title=title)


def draw_author(
    atlas: Any, found: Analysis, *, colours: str = "light", title: str | None = None
) -> Any:
    """Draw what `landscape.overlays.trends.author_path` found, see `author`."""
    import plotly.graph_objects as go

    palette = quiet(theme(colours))
    papers = found.table.head(MOST_MARKS // 2)
    figure = map_base(
        atlas, colours=palette, sentences=sentences_of(found), title=title, n_marks=0, specks=False
    )
    periods = found.tables["periods"]
    years = papers["year"].to_numpy(dtype=float)
    ends = float(np.nanmin(years)), float(np.nanmax(years))
    steps = np.linspace(0, 1, _TINTS)
    along = ends[0] + steps * (ends[1] - ends[0])
    tints = np.round(year_tints(along, dark=colours == "dark") * 255).astype(int)
    figure.add_trace(
        go.Scatter(
            x=periods["x"], y=periods["y"], mode="lines", name="path", showlegend=False,
            line={"color": palette.ink, "width": 1}, hoverinfo="skip",
        )
    )  # fmt: skip
    figure.add_trace(
        go.Scatter(
            x=papers["x"], y=papers["y"], mode="markers", name="papers", showlegend=False,
            marker={
                "size": 8, "color": years, "cmin": ends[0], "cmax": max(ends[1], ends[0] + 1),
                "colorscale": [
                    [float(step), f"rgb({r},{g},{b})"]
                    for step, (r, g, b) in zip(steps, tints, strict=True)
                ],
                "colorbar": {"title": {"text": "year"}, "tickformat": "d", "thickness": 12},
                "line": {"width": 0.6, "color": palette.halo},
            },
            hovertext=[
                f"{row.year} {plain(row.title)}<br>{plain(row.label)}"
                for row in papers.fillna({"label": ""}).itertuples()
            ],
            hoverinfo="text",
        )
    )  # fmt: skip
    letter(figure, atlas, palette)
    return figure


def time_slices(
    atlas: Any,
    *,
    edges: Sequence[int] | None = None,
    colours: str = "light",
    title: str | None = None,
) -> Any:
    """Draw the map in slices of time, with a slider from one to the next."""
    palette = theme(colours)
    year = paper_years(atlas)
    chosen, slice_of = cut(year, edges)
    inside = [slice_of == number for number in range(len(chosen) - 1)]
    sentences = [
        f"The map in slices of time: {count(len(year), 'paper')}.",
        "Axes and tones are the same in all slices, and the tone is the share of a slice's own "
        "papers on that place.",
        *count_years(year).warnings,
    ]
    figure = map_base(
        atlas, colours=palette, sentences=sentences, title=title, n_marks=0, specks=False
    )
    letter(figure, atlas, palette)
    x, y = positions(atlas.map["x"], atlas.map["y"])
    (x0, x1), (y0, y1) = figure.layout.xaxis.range, figure.layout.yaxis.range
    height = 760.0
    page = (0.0, 0.0, height * (x1 - x0) / (y1 - y0), height)
    frames = [Frame(box=(x0, y0, x1, y1), page=page)] * len(inside)
    base = figure.layout.images[0].to_plotly_json()
    steps = []
    for number, picture in enumerate(
        smoothed_slices(frames, x, y, inside, raster_dpi=_POINTS_TO_AN_INCH)
    ):
        first, last = chosen[number], chosen[number + 1] - 1
        label = f"{first}" if first == last else f"{first}-{last}"
        told = f"{label} ({int(inside[number].sum()):,})"
        images = [base | {"source": picture_link(picture, palette)}]
        steps.append({"label": told, "method": "relayout", "args": [{"images": images}]})
    figure.update_layout(
        images=steps[0]["args"][0]["images"],  # type: ignore[index]  # as written above
        sliders=[{"steps": steps, "active": 0, "y": 1.08, "x": 0.02, "len": 0.96,
                  "currentvalue": {"visible": False}}],
    )  # fmt: skip
    return figure
