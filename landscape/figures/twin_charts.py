"""Twins for notebooks of the figures that answer questions: concepts, impact, reviews, trends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.figures.chart_page import sentences_of, uncovered_spans
from landscape.figures.colours import Theme, quiet, theme
from landscape.figures.hues import series, share_ramp
from landscape.figures.twins import MOST_MARKS, dress, letter, map_base, picture_link, plain

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.types import Analysis

    Floats = NDArray[np.float64]

_SHARE_CELLS = (300, 360)
_MOST_TOPICS = 40
_FIRST_TOPICS = 4  # of those that emerge, and of those that fade, drawn before one asks for more
_DASHES = {"(5, 1.8)": "dash", "(1.2, 1.4)": "dot"}  # as `hues.series` has them
_LITERATURE = (0.5, 3.0)  # papers under the kernel: below is no literature, above is enough


def uat(
    atlas: Any,
    *,
    concepts: Sequence[str] | None = None,
    colours: str = "light",
    title: str | None = None,
) -> Any:
    """Draw the contours of concepts; each can be switched on and off in the key."""
    from landscape.overlays.thesaurus import thesaurus_overlay

    found = thesaurus_overlay(atlas, concepts=concepts)
    return draw_concepts(atlas, found, colours=colours, title=title)


def draw_concepts(
    atlas: Any, found: Analysis, *, colours: str = "light", title: str | None = None
) -> Any:
    """Draw what `landscape.overlays.thesaurus_overlay` found, see `uat`."""
    import plotly.graph_objects as go

    palette = quiet(theme(colours))
    figure = _map(atlas, found, palette, title=title)
    lines = found.tables["contours"]
    room = MOST_MARKS - int((atlas.topics["level"] == 0).sum())
    labels = dict(zip(found.table["concept_id"], found.table["label"], strict=True))
    for (concept, label), style in zip(
        labels.items(), series(theme(colours), len(labels)), strict=True
    ):
        for share, part in lines[lines["concept_id"] == concept].groupby("share"):
            x, y = thinned(part, most=max(8, int(room * len(part) / max(1, len(lines)))))
            figure.add_trace(
                go.Scatter(
                    x=x, y=y, mode="lines", name=plain(label), legendgroup=str(concept),
                    showlegend=bool(share == lines["share"].min()), hoverinfo="text",
                    hovertext=f"{plain(label)}: {share:.0%} of its papers",
                    line={
                        "color": style.colour,
                        "width": 2.4 if share == lines["share"].min() else 1.2,
                        "dash": _DASHES.get(str(style.dashes[-1]), "solid"),
                    },
                )
            )  # fmt: skip
    letter(figure, atlas, palette)  # on top of the lines
    return figure


def impact(
    atlas: Any,
    *,
    facilities: str | Sequence[str] | None = None,
    since: int | None = None,
    until: int | None = None,
    colours: str = "light",
    title: str | None = None,
    **options: Any,
) -> Any:
    """Draw a facility's share of the local literature, and its numbers in each region.

    By default of the facility that most papers name; of several, the first.
    """
    from landscape.overlays.missions._impact import impact as measure

    named = atlas.read_layer("missions", ["facility"]).drop_duplicates()["facility"]
    chosen = [facilities] if isinstance(facilities, str) else facilities
    name = next(iter(chosen or named.value_counts().index), "")
    found = measure(atlas, [name], since=since, until=until, **options)
    return draw_impact(atlas, found, since=since, until=until, colours=colours, title=title)


def draw_impact(
    atlas: Any,
    found: Analysis,
    *,
    since: int | None = None,
    until: int | None = None,
    colours: str = "light",
    title: str | None = None,
) -> Any:
    """Draw what `landscape.overlays.missions.impact` found of one facility, see `impact`."""
    import plotly.graph_objects as go

    from landscape.overlays.missions._measures import share_map
    from landscape.overlays.missions._usage import in_period, read_usage

    palette = theme(colours)
    usage = read_usage(atlas, found.table["facility"].head(1).tolist())
    inside = in_period(usage, since, until)
    figure = _map(atlas, found, palette, title=title)
    box = (*figure.layout.xaxis.range, *figure.layout.yaxis.range)
    x, y = (atlas.map[axis].to_numpy(dtype=float)[inside] for axis in "xy")
    shares = share_map(
        x, y, usage.uses(0)[inside], extent=(box[0], box[2], box[1], box[3]), shape=_SHARE_CELLS
    )
    most = _put_shares(figure, shares, palette)
    regions = found.tables["regions"].query("papers > 0").nlargest(MOST_MARKS // 4, "papers")
    figure.add_trace(
        go.Scatter(
            x=regions["x"], y=regions["y"], mode="markers", showlegend=False, name="regions",
            marker={
                "size": 5 + 20 * np.sqrt(regions["papers"] / max(1, regions["papers"].max())),
                "color": regions["share"], "cmin": 0, "cmax": most, "opacity": 0.85,
                "colorscale": _colorscale(share_ramp(palette)),
                "colorbar": {"title": {"text": "share"}, "tickformat": ".0%", "thickness": 12},
                "line": {"width": 0.6, "color": palette.ink},
            },
            hovertext=[
                f"{plain(row.label)}<br>{row.papers:,} of {row.region_papers:,} papers: "
                f"{row.share:.1%} ({row.share_low:.1%} to {row.share_high:.1%})"
                for row in regions.itertuples()
            ],
            hoverinfo="text",
        )
    )  # fmt: skip
    letter(figure, atlas, palette)
    return figure


def reviews(atlas: Any, *, colours: str = "light", title: str | None = None, **options: Any) -> Any:
    """Draw the regions by how much a review would help there."""
    from landscape.overlays.reviews._gaps import review_gaps

    return draw_gaps(atlas, review_gaps(atlas, **options), colours=colours, title=title)


def draw_gaps(
    atlas: Any, found: Analysis, *, colours: str = "light", title: str | None = None
) -> Any:
    """Draw what `landscape.overlays.review_gaps` ranked, see `reviews`."""
    import plotly.graph_objects as go

    palette = quiet(theme(colours))
    figure = _map(atlas, found, palette, title=title)
    places = atlas.topics[["topic_id", "x", "y"]]
    table = found.table.drop(columns=["x", "y"], errors="ignore").merge(places, on="topic_id")
    table = table.sort_values("rank").head(MOST_MARKS // 4)
    figure.add_trace(
        go.Scatter(
            x=table["x"], y=table["y"], mode="markers+text", showlegend=False, name="gaps",
            text=[str(rank) if rank <= 10 else "" for rank in table["rank"]],
            textposition="middle right",
            marker={
                "size": 6 + 14 * np.clip(1 - (table["rank"] - 1) / max(10, len(table) / 3), 0, 1),
                "color": [palette.apart if rank <= 10 else palette.faint for rank in table["rank"]],
                "line": {"width": 0.6, "color": palette.halo},
            },
            hovertext=[
                f"{row.rank}. {plain(row.label)}<br>{row.papers:,} papers, {row.reviews:,} reviews"
                f"<br>score {row.score:.2f}"
                for row in table.itertuples()
            ],
            hoverinfo="text",
        )
    )  # fmt: skip
    letter(figure, atlas, palette)
    return figure


def trends(
    atlas: Any,
    *,
    since: int | None = None,
    until: int | None = None,
    colours: str = "light",
    title: str | None = None,
    **options: Any,
) -> Any:
    """Draw the course of emerging and fading topics; each can be switched on and off."""
    from landscape.overlays.trends import trends as find

    found = find(atlas, since=since, until=until, **options)
    return draw_trends(found, colours=colours, title=title)


def draw_trends(found: Analysis, *, colours: str = "light", title: str | None = None) -> Any:
    """Draw what `landscape.overlays.trends` found, see `trends`."""
    import plotly.graph_objects as go

    from landscape.figures.trend_chart import colour_of

    palette = theme(colours)
    figure = go.Figure()
    years = found.tables["years"]
    n_years = max(1, years["year"].nunique())
    table = found.table[found.table["slope"].notna()]
    steep = table.loc[table["slope"].abs().sort_values(ascending=False).index]
    sure = steep["class"].isin(["emerging", "fading"])
    chosen = _first(steep, sure, most=min(_MOST_TOPICS, MOST_MARKS // (2 * n_years)))
    first = chosen[chosen["class"] != "steady"].groupby("class").head(_FIRST_TOPICS)["topic_id"]
    for row in chosen.to_dict("records"):
        part = years[years["topic_id"] == row["topic_id"]].sort_values("year")
        shown = {
            "name": plain(row["label"], most=40), "legendgroup": str(row["topic_id"]),
            "visible": True if row["topic_id"] in set(first) else "legendonly",
        }  # fmt: skip
        colour = colour_of(row["class"], palette)
        # The course is the line; what the years scatter about it are dots.
        figure.add_trace(
            go.Scatter(
                x=part["year"], y=part["fitted"].where(part["covered"]), mode="lines",
                line={"color": colour, "width": 2.2}, connectgaps=False,
                hovertext=f"{plain(row['label'])}: {row['class']}", hoverinfo="text", **shown,
            )
        )  # fmt: skip
        figure.add_trace(
            go.Scatter(
                x=part["year"], y=part["share"].where(part["covered"]), mode="markers",
                marker={"size": 5, "color": colour, "opacity": 0.4}, showlegend=False,
                hovertext=[
                    f"{plain(row['label'])}, {one.year}<br>{one.share:.2%} "
                    f"({one.share_low:.2%} to {one.share_high:.2%})"
                    for one in part.itertuples()
                ],
                hoverinfo="text", **shown,
            )
        )  # fmt: skip
    once = years.drop_duplicates("year").sort_values("year")
    _hatch(figure, uncovered_spans(once["year"], once["covered"]), palette)
    _dress(figure, found, palette, title=title)
    figure.update_yaxes(
        tickformat=".1%", rangemode="tozero", title="share of all papers", automargin=True
    )
    return figure


def compare(
    atlas: Any,
    a: Any,
    b: Any,
    *,
    colours: str = "light",
    title: str | None = None,
    **options: Any,
) -> Any:
    """Draw the odds ratios of all regions between two selections."""
    from landscape.overlays.trends import compare as find

    return draw_comparison(find(atlas, a, b, **options), colours=colours, title=title)


def draw_comparison(found: Analysis, *, colours: str = "light", title: str | None = None) -> Any:
    """Draw what `landscape.overlays.compare` found, see `compare`."""
    import plotly.graph_objects as go

    palette = theme(colours)
    table = found.table[found.table["p"].notna()].head(MOST_MARKS // 4)
    table = table.sort_values("odds_ratio", ignore_index=True)
    figure = go.Figure()
    kinds: Mapping[str, tuple[str, str]] = {
        "a": ("over-represented in a", palette.found),
        "b": ("over-represented in b", palette.apart),
        "": ("no difference shown", palette.faint),
    }
    for side, (words, colour) in kinds.items():
        part = table[table["over_in"] == side]
        if part.empty:
            continue
        figure.add_trace(
            go.Scatter(
                x=part["odds_ratio"], y=part.index, mode="markers", name=words,
                marker={"color": colour, "size": 7},
                error_x={
                    "type": "data", "symmetric": False, "thickness": 1,
                    "array": part["odds_ratio_high"] - part["odds_ratio"],
                    "arrayminus": part["odds_ratio"] - part["odds_ratio_low"],
                },
                hovertext=[
                    f"{plain(row.label)}<br>{row.a_papers:,} against {row.b_papers:,} papers<br>"
                    f"odds ratio {row.odds_ratio:.2f} ({row.odds_ratio_low:.2f} to "
                    f"{row.odds_ratio_high:.2f}), q {row.q:.2g}"
                    for row in part.itertuples()
                ],
                hoverinfo="text",
            )
        )  # fmt: skip
    _dress(figure, found, palette, title=title)
    figure.update_xaxes(type="log", title="odds ratio, a against b")
    figure.update_yaxes(
        tickvals=list(table.index), ticktext=[plain(label, most=32) for label in table["label"]],
        automargin=True, tickfont={"size": 9},
    )  # fmt: skip
    figure.update_layout(height=max(560, 14 * len(table) + 260))
    return figure


def thinned(part: pd.DataFrame, *, most: int) -> tuple[Floats, Floats]:
    """Join the pieces of a contour into one line with gaps, of at most so many vertices.

    Parameters
    ----------
    part : pandas.DataFrame
        ``piece, order, x, y``.
    most : int

    Returns
    -------
    x, y : ndarray of float
        NaN between pieces.

    Examples
    --------
    >>> import pandas as pd
    >>> square = pd.DataFrame({"piece": 0, "order": range(100), "x": range(100), "y": 0.0})
    >>> len(thinned(square, most=20)[0]) <= 20
    True
    """
    pieces = [piece.sort_values("order") for _, piece in part.groupby("piece")]
    pieces.sort(key=len, reverse=True)
    pieces = pieces[: max(1, most // 6)]  # a triangle that is closed, and a gap
    room = most - 2 * len(pieces)
    total = sum(len(piece) for piece in pieces)
    step = max(1, int(np.ceil(total / max(1, room))))
    gap = np.array([np.nan])
    across: list[Floats] = []
    up: list[Floats] = []
    for piece in pieces:
        # The first point again at the end closes what thinning left open.
        for values, column in ((across, "x"), (up, "y")):
            points = piece[column].to_numpy(dtype=float)
            values.extend([points[::step], points[:1] if step > 1 else points[:0], gap])
    return np.concatenate(across)[:most], np.concatenate(up)[:most]


def _map(atlas: Any, found: Analysis, colours: Theme, *, title: str | None) -> Any:
    """A map with the caption of an analysis, no papers to point at."""
    return map_base(
        atlas, colours=colours, sentences=sentences_of(found), title=title, n_marks=0, specks=False
    )


def _dress(figure: Any, found: Analysis, colours: Theme, *, title: str | None) -> None:
    dress(
        figure, colours, sentences=sentences_of(found), title=title,
        generated=bool(found.bounds.get("generated")), below=52,
    )  # fmt: skip


def _first(steep: pd.DataFrame, sure: Any, *, most: int) -> pd.DataFrame:
    import pandas as pd

    return pd.concat([steep[sure], steep[~sure]]).head(max(1, most))


def _put_shares(figure: Any, shares: Any, colours: Theme) -> float:
    """Put a share map over the density, and return the share at the end of its ramp."""
    from dataclasses import replace

    held = shares.papers > (_LITERATURE[0] + _LITERATURE[1]) / 2
    most = max(float(np.quantile(shares.share[held], 0.995)) if held.any() else 0.0, 1e-6)
    ramp = share_ramp(colours)
    page = np.vstack([colours.ramp[:1], ramp[:-1]])  # the first colour is that of the empty page
    position = np.where(held, np.clip(shares.share / most, 1 / 255, 1), 0.0)
    x0, y0, x1, y1 = shares.extent
    figure.layout.images = ()
    figure.add_layout_image(
        source=picture_link(position, replace(colours, ramp=page)), xref="x", yref="y",
        x=x0, y=y1, sizex=x1 - x0, sizey=y1 - y0, sizing="stretch", layer="below",
    )  # fmt: skip
    return most


def _colorscale(ramp: Floats) -> list[list[Any]]:
    chosen = np.linspace(0, len(ramp) - 1, 9).astype(int)
    return [
        [place / 8, "rgb({},{},{})".format(*np.round(ramp[at] * 255).astype(int))]
        for place, at in enumerate(chosen)
    ]


def _hatch(figure: Any, spans: Sequence[tuple[float, float]], colours: Theme) -> None:
    """Mark the years that the corpus does not cover."""
    for start, end in spans:
        figure.add_vrect(
            x0=start, x1=end, fillcolor=colours.faint, opacity=0.15, line_width=0,
            annotation_text="not covered", annotation_font_size=9,
        )  # fmt: skip
