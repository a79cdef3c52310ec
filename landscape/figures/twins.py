"""Twins of the figures for notebooks: drawn by plotly, with at most 20,000 marks.

Density is one picture, so a map of a million papers weighs as much as one of a thousand; the papers
that can be pointed at are a random sample where all would be too many, and the figure says so.
"""

from __future__ import annotations

import html
import io
from base64 import b64encode
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._wording import count
from landscape.errors import InputError, require
from landscape.figures.caption import GENERATED, explanation, headline
from landscape.figures.colours import Theme, quiet, theme
from landscape.figures.density_map import chosen_topics, facts_of, positions
from landscape.figures.names import clean_name
from landscape.figures.shading import choose_tones, count_grid, smooth_adaptively
from landscape.figures.twin_names import SIZE, place_names

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MOST_MARKS = 20_000
_N_PIXELS = 684_000  # of the density picture
_WIDTH = 800  # pixels of a map in a notebook's cell
_FLATTEST, _TALLEST = 0.52, 0.92  # height of a map, in widths
_BORDER = 0.06
_WIDEST = 18.0  # pixels: coarsest smoothing
_LONGEST_HOVER = 160
_FONT = "STIX Two Text, STIXGeneral, Times New Roman, Times, serif"
_SYMBOL_SIZE = 4


def interactive(kind: str, atlas: Any, *arguments: Any, **options: Any) -> Any:
    """Draw the plotly twin of a figure.

    Parameters
    ----------
    kind : str
        ``"heatmap"``, ``"query"`` (with the results of a search), ``"uat"``, ``"impact"`` (with
        ``facilities``), ``"reviews"``, ``"trends"``, ``"compare"`` (with two filters),
        ``"author"`` (with a name), ``"time_slices"``, ``"coverage"`` (by reviews), or a kind of
        `landscape.figures.intervals`.
    atlas : Atlas
    *arguments, **options
        What that figure takes beside the atlas; ``colours="light"`` or ``"dark"`` for all.

    Returns
    -------
    plotly.graph_objects.Figure
        With at most 20,000 marks (points, vertices of lines, bars), whatever the corpus.

    Raises
    ------
    InputError
        For an unknown kind, and whatever the figure of that kind refuses.
    MissingExtraError
        If plotly is not installed.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.interactive("heatmap", ls.open("my.atlas"))  # doctest: +SKIP
    """
    from landscape.figures import twin_charts as charts
    from landscape.figures import twin_intervals
    from landscape.figures import twins_in_time as in_time

    kinds: dict[str, Callable[..., Any]] = {
        "heatmap": _heatmap,
        "query": _query,
        "uat": charts.uat,
        "impact": charts.impact,
        "reviews": charts.reviews,
        "trends": charts.trends,
        "compare": charts.compare,
        "author": in_time.author,
        "time_slices": in_time.time_slices,
        "coverage": twin_intervals.coverage,
        **{name: partial(twin_intervals.intervals, name) for name in twin_intervals.kinds()},
    }
    if kind not in kinds:
        raise InputError(f"There is no interactive {kind!r}; use one of {', '.join(kinds)}.")
    require("plotly", "lab")
    return kinds[kind](atlas, *arguments, **options)


def count_marks(figure: Any) -> int:
    """Count what a plotly figure draws: points, vertices of lines and bars; pictures count none.

    Examples
    --------
    >>> import plotly.graph_objects as go
    >>> count_marks(go.Figure([go.Bar(x=[1, 2], y=[3, 4]), go.Scatter(x=[1], y=[1])]))
    3
    """
    return sum(0 if trace.x is None else len(trace.x) for trace in figure.data)


def plain(text: Any, *, most: int = _LONGEST_HOVER) -> str:
    """Make text safe for plotly, which reads a subset of HTML, and mathematics between dollars.

    Examples
    --------
    >>> plain("<b>$x$ & y</b>")
    '&lt;b&gt;&#36;x&#36; &amp; y&lt;/b&gt;'
    """
    return html.escape(clean_name(str(text), most=most)).replace("$", "&#36;")


# -- the map that the kinds draw on


def map_base(
    atlas: Any,
    *,
    colours: Theme,
    sentences: Sequence[str],
    title: str | None,
    n_marks: int,
    specks: bool = True,
) -> Any:
    """Start a map: the density as a picture, papers to point at, and the caption below.

    Parameters
    ----------
    atlas : Atlas
    colours : Theme
    sentences : sequence of str
        The caption.
    title : str or None
    n_marks : int
        Marks that papers may take; the rest is for what is drawn on the map.
    specks : bool, default True
        Whether papers can be pointed at.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    import plotly.graph_objects as go

    x, y = positions(atlas.map["x"], atlas.map["y"])
    box, shape = _window(x, y)
    figure = go.Figure()
    picture = _density_picture(x, y, box, shape, colours)
    figure.add_layout_image(
        source=picture, xref="x", yref="y", x=box[0], y=box[3], sizex=box[2] - box[0],
        sizey=box[3] - box[1], sizing="stretch", layer="below",
    )  # fmt: skip
    generated = bool(dict(getattr(atlas, "coverage", None) or {}).get("generated"))
    told = list(sentences)
    if specks:
        rows = _sample(len(x), most=n_marks)
        figure.add_trace(_papers(atlas, x, y, rows, colours))
        if len(rows) < len(x):
            told.append(f"A random {len(rows):,} of {len(x):,} papers can be pointed at.")
    dress(figure, colours, sentences=told, title=title, generated=generated)
    around = figure.layout.margin.t + figure.layout.margin.b
    figure.update_layout(height=round(_WIDTH * shape[0] / shape[1]) + around)
    axis = {"visible": False, "showgrid": False, "zeroline": False}
    figure.update_xaxes(range=[box[0], box[2]], **axis)
    figure.update_yaxes(range=[box[1], box[3]], scaleanchor="x", **axis)
    return figure


def dress(
    figure: Any,
    colours: Theme,
    *,
    sentences: Sequence[str],
    title: str | None = None,
    generated: bool = False,
    below: int = 12,
) -> None:
    """Give a plotly figure the colours of the theme, a heading and the caption below it.

    The caption begins `below` pixels under the axes.
    """
    from textwrap import wrap

    blocks = [(GENERATED, True)] if generated else []
    blocks += [(sentence, place == 0) for place, sentence in enumerate(sentences[:1])]
    blocks.append((" ".join(sentences[1:]), False))
    lines = []
    for block, bold in blocks:
        for line in wrap(clean_name(block, most=2000), 150):
            safe = plain(line, most=200)
            lines.append(f"<b>{safe}</b>" if bold else safe)
    figure.update_layout(
        template="none",
        font={"family": _FONT, "size": 13, "color": colours.ink},
        paper_bgcolor=colours.page,
        plot_bgcolor=colours.page,
        title={"text": plain(title)} if title else None,
        height=720 + 15 * len(lines),
        margin={"l": 30, "r": 20, "t": 50 if title else 24, "b": below + 20 + 15 * len(lines)},
        hoverlabel={"font": {"family": _FONT}},
    )
    figure.add_annotation(
        text="<br>".join(lines), xref="paper", yref="paper", x=0, y=0, yshift=-below,
        showarrow=False, xanchor="left", yanchor="top", align="left",
        font={"size": 11, "color": colours.faint},
    )  # fmt: skip


def letter(
    figure: Any,
    atlas: Any,
    colours: Theme,
    *,
    levels: Sequence[int] = (0,),
    clear_of: Any = (),
) -> int:
    """Write the names of continents on a map, and return how many marks that took.

    Regions, at level 1, are dots that tell their names: all names together would not be legible.
    Names never touch each other, and where they can, leave the places of `clear_of`, of shape
    (n, 2) in map units, free.
    """
    import plotly.graph_objects as go

    topics = chosen_topics(atlas.topics, levels=levels)
    regions, continents = (topics[topics["level"] == level] for level in (1, 0))
    common: dict[str, Any] = {"showlegend": False, "hoverinfo": "text"}
    if len(regions):
        figure.add_trace(
            go.Scatter(
                x=regions["x"], y=regions["y"], mode="markers", name="regions",
                marker={"size": 7, "color": colours.halo, "opacity": 0.9,
                        "line": {"width": 1.2, "color": colours.ink}},
                hovertext=_told_of(regions), **common,
            )
        )  # fmt: skip
    if len(continents):
        placed = place_names(
            continents["label"].tolist(), continents["x"], continents["y"],
            across=figure.layout.xaxis.range, clear_of=clear_of,
        )  # fmt: skip
        shown = continents.iloc[[number for number, _, _, _ in placed]]
        figure.add_trace(
            go.Scatter(
                x=[x for _, _, x, _ in placed], y=[y for _, _, _, y in placed], mode="text",
                name="continents", textfont={"size": SIZE, "color": colours.ink},
                text=["<br>".join(plain(line, most=60) for line in lines)
                      for _, lines, _, _ in placed],
                hovertext=_told_of(shown), **common,
            )
        )  # fmt: skip
    return len(topics)


def _told_of(topics: pd.DataFrame) -> list[str]:
    return [f"{plain(row.label)}: {count(row.n_papers, 'paper')}" for row in topics.itertuples()]


def _heatmap(atlas: Any, *, colours: str = "light", title: str | None = None) -> Any:
    palette, facts = theme(colours), facts_of(atlas)
    n_names = len(chosen_topics(atlas.topics, levels=(0, 1)))
    figure = map_base(
        atlas, colours=palette, title=title, n_marks=max(0, MOST_MARKS - n_names),
        sentences=[headline(facts), *explanation(facts)],
    )  # fmt: skip
    letter(figure, atlas, palette, levels=(0, 1))
    return figure


def _query(atlas: Any, results: Any, *, colours: str = "light", title: str | None = None) -> Any:
    import plotly.graph_objects as go

    palette, facts = quiet(theme(colours)), facts_of(atlas)
    table = _found(atlas, results).head(MOST_MARKS // 2)
    figure = map_base(
        atlas, colours=palette, title=title, n_marks=0, specks=False,
        sentences=[f"“{results.query}”: {count(len(table), 'paper')} found.", headline(facts)],
    )  # fmt: skip
    letter(figure, atlas, palette, clear_of=table[["x", "y"]].to_numpy())
    apart = table["outlier"].fillna(False).to_numpy(dtype=bool)
    for which, name, colour, symbol in (
        (~apart, "found", palette.found, "circle"),
        (apart, "apart from the others", palette.apart, "diamond-open"),
    ):
        part = table[which]
        if len(part):
            figure.add_trace(
                go.Scattergl(
                    x=part["x"], y=part["y"], mode="markers", name=name,
                    marker={"size": 9, "color": colour, "symbol": symbol},
                    hovertext=[
                        f"{row.rank}. {plain(row.title)}<br>{plain(row.region)}"
                        for row in part.itertuples()
                    ],
                    hoverinfo="text",
                )
            )  # fmt: skip
    return figure


def _found(atlas: Any, results: Any) -> pd.DataFrame:
    """One row a paper found: where it lies and what is told of it."""
    import pandas as pd

    from landscape.search._outliers import rows_on_map

    if not results.hits:
        raise InputError(
            "The search found no paper, so there is nothing to mark on the map; "
            "ask with other words, or a wider filter."
        )
    there = atlas.map.iloc[rows_on_map(atlas.map["paper_id"], [p.paper_id for p in results.papers])]
    names = dict(zip(atlas.topics["topic_id"], atlas.topics["label"], strict=True))
    return pd.DataFrame(
        {
            "rank": [hit.rank for hit in results.hits],
            "title": [paper.title for paper in results.papers],
            "x": there["x"].to_numpy(dtype=float),
            "y": there["y"].to_numpy(dtype=float),
            "region": [str(names.get(topic, "")) for topic in there["topic_id"]],
            "outlier": pd.array([hit.outlier for hit in results.hits], dtype="boolean"),
        }
    )


def _papers(atlas: Any, x: Floats, y: Floats, rows: NDArray[np.int64], colours: Theme) -> Any:
    """Papers to point at: almost unseen, for the picture shows where they are."""
    import plotly.graph_objects as go

    told = atlas.read_papers(["title", "year"]).iloc[rows]
    return go.Scattergl(
        x=x[rows].astype(np.float32), y=y[rows].astype(np.float32), mode="markers", name="papers",
        marker={"size": _SYMBOL_SIZE, "color": colours.ink, "opacity": 0.06}, showlegend=False,
        hovertext=[
            f"{plain(title)} ({year})"
            for title, year in zip(told["title"], told["year"], strict=True)
        ],
        hoverinfo="text",
    )  # fmt: skip


def _sample(n: int, *, most: int) -> NDArray[np.int64]:
    """Rows of at most so many papers, at random but always the same."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False))


def _density_picture(
    x: Floats, y: Floats, box: tuple[float, float, float, float], shape: tuple[int, int],
    colours: Theme,
) -> str:  # fmt: skip
    """The density as a PNG in a data link."""
    counts = count_grid(x, y, extent=box, shape=shape)
    density = smooth_adaptively(counts, coarsest=_WIDEST)
    return picture_link(choose_tones(density, counts).position(density), colours)


def picture_link(position: Any, colours: Theme) -> str:
    """Ramp positions, 0 to 1 with row 0 the lowest, as a PNG in a data link."""
    from PIL import Image

    tone = np.round(np.asarray(position)[::-1] * (len(colours.ramp) - 1)).astype(np.uint8)
    picture = Image.fromarray(tone, mode="P")
    picture.putpalette(np.round(colours.ramp * 255).astype(np.uint8).tobytes())
    buffer = io.BytesIO()
    picture.save(buffer, format="png", optimize=True)
    return f"data:image/png;base64,{b64encode(buffer.getvalue()).decode('ascii')}"


def _window(x: Floats, y: Floats) -> tuple[tuple[float, float, float, float], tuple[int, int]]:
    """Where the papers lie, and the rows and columns of a picture of that shape."""
    from landscape.figures.chart_page import frame_in, map_box

    page = map_box((0.0, 0.0, 1.0, _TALLEST), x, y, least=_FLATTEST)
    height = page[3] - page[1]
    columns = float(np.sqrt(_N_PIXELS / height))
    return frame_in(page, x, y, border=_BORDER).box, (round(columns * height), round(columns))
