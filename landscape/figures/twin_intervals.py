"""Twins for notebooks of charts of intervals, and of the coverage by reviews."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.figures.chart_page import sentences_of
from landscape.figures.colours import quiet, theme
from landscape.figures.hues import contrast_ramp, series
from landscape.figures.interval_rows import KINDS, ask, interval_rows
from landscape.figures.twins import MOST_MARKS, dress, letter, map_base, plain

if TYPE_CHECKING:
    from landscape.overlays._analysis import Analysis

_FOLD = 4.0  # the ramp of coverage ends at a fourth of the expected reviews, and at four times
_APART = 0.3  # rows between two groups of one label


def intervals(
    kind: str,
    atlas: Any,
    *arguments: Any,
    colours: str = "light",
    title: str | None = None,
    **options: Any,
) -> Any:
    """Draw values with their intervals, see `landscape.figures.intervals`."""
    found = ask(kind, atlas, *arguments, **options)
    return draw_intervals(kind, found, colours=colours, title=title)


def kinds() -> tuple[str, ...]:
    """Kinds that `intervals` draws."""
    return tuple(KINDS)


def draw_intervals(
    kind: str, found: Analysis, *, colours: str = "light", title: str | None = None
) -> Any:
    """Draw what an analysis found, see `intervals`."""
    import plotly.graph_objects as go

    palette = theme(colours)
    shown = interval_rows(kind, found)
    labels, groups = shown.labels, shown.groups
    place_of = {label: place for place, label in enumerate(labels)}
    figure = go.Figure()
    for number, (group, style) in enumerate(zip(groups, series(palette, len(groups)), strict=True)):
        part = shown.rows[shown.rows["group"] == group].head(MOST_MARKS // max(1, len(groups)))
        shift = (number - (len(groups) - 1) / 2) * _APART
        figure.add_trace(
            go.Scatter(
                x=part["value"], y=[place_of[label] + shift for label in part["label"]],
                mode="markers", cliponaxis=False, name=plain(group) or "values",
                showlegend=len(groups) > 1,
                marker={"color": style.colour, "size": 8},
                error_x={
                    "type": "data", "symmetric": False, "thickness": 1.4, "width": 0,
                    "array": part["high"] - part["value"],
                    "arrayminus": part["value"] - part["low"], "color": style.colour,
                },
                hovertext=[
                    f"{plain(row.label)}{f', {plain(row.group)}' if row.group else ''}<br>"
                    f"{shown.written(row.value)} ({shown.written(row.low)} to "
                    f"{shown.written(row.high)})<br>{plain(row.told)}"
                    for row in part.itertuples()
                ],
                hoverinfo="text",
            )
        )  # fmt: skip
    dress(
        figure, palette, sentences=sentences_of(found), title=title,
        generated=bool(found.bounds.get("generated")), below=56,
    )  # fmt: skip
    figure.update_yaxes(
        tickvals=list(place_of.values()), ticktext=[plain(label, most=40) for label in labels],
        range=[len(labels) - 0.5, -0.5], automargin=True, zeroline=False,
        gridcolor=f"rgba{(*_rgb(palette.faint), 0.18)}",
    )  # fmt: skip
    figure.update_xaxes(
        title=plain(shown.axis), zeroline=False, tickformat=".1%" if shown.is_share else None,
        gridcolor=f"rgba{(*_rgb(palette.faint), 0.18)}",
        type="log" if shown.is_ratio else None, dtick=np.log10(2) if shown.is_ratio else None,
        rangemode="tozero" if shown.reference is None else None,
    )  # fmt: skip
    if shown.reference is not None:
        figure.add_vline(x=shown.reference, line={"width": 1, "color": palette.faint})
    figure.update_layout(height=max(240, 24 * len(labels) + 130))
    return figure


def coverage(atlas: Any, *, colours: str = "light", title: str | None = None) -> Any:
    """Draw the regions by their reviews against those expected at the corpus's rate."""
    from landscape.overlays.reviews import reviews

    return draw_coverage(atlas, reviews(atlas), colours=colours, title=title)


def draw_coverage(
    atlas: Any, found: Analysis, *, colours: str = "light", title: str | None = None
) -> Any:
    """Draw what `landscape.overlays.reviews` found, see `coverage`."""
    import plotly.graph_objects as go

    loud = theme(colours)
    palette = quiet(loud)
    figure = map_base(
        atlas, colours=palette, sentences=sentences_of(found), title=title, n_marks=0, specks=False
    )
    table = found.table.nlargest(MOST_MARKS // 4, "papers")
    ramp = contrast_ramp(loud)
    steps = np.linspace(0, len(ramp) - 1, 9).astype(int)
    ticks = [1 / _FOLD, 0.5, 1.0, 2.0, _FOLD]
    figure.add_trace(
        go.Scatter(
            x=table["x"], y=table["y"], mode="markers", name="regions", showlegend=False,
            marker={
                "size": 7 + 20 * np.sqrt(table["papers"] / max(1, table["papers"].max())),
                "color": np.log2(table["density_ratio"].clip(1 / _FOLD, _FOLD)),
                "cmin": -np.log2(_FOLD), "cmax": np.log2(_FOLD), "opacity": 0.92,
                "colorscale": [
                    [place / 8, "rgb({},{},{})".format(*np.round(ramp[at] * 255).astype(int))]
                    for place, at in enumerate(steps)
                ],
                "colorbar": {
                    "title": {"text": "reviews, against<br>those expected"}, "thickness": 12,
                    "tickvals": [float(np.log2(tick)) for tick in ticks],
                    "ticktext": ["a fourth", "half", "as many", "twice", "four times"],
                },
                "line": {"width": 0.6, "color": palette.ink},
            },
            hovertext=[
                f"{plain(row.label)}<br>{row.reviews:,} reviews of {row.papers:,} papers, "
                f"{row.expected:.1f} expected<br>ratio {row.density_ratio:.2f} "
                f"({row.density_ratio_low:.2f} to {row.density_ratio_high:.2f})"
                for row in table.itertuples()
            ],
            hoverinfo="text",
        )
    )  # fmt: skip
    letter(figure, atlas, palette)
    return figure


def _rgb(colour: str) -> tuple[int, int, int]:
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return red, green, blue
