"""Draw emerging and fading topics, and the papers of an author over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import numpy as np

from landscape._wording import count
from landscape.errors import InputError
from landscape.figures.caption import NEARNESS, Caption, caption_of, place_of
from landscape.figures.colours import Theme, oklab_to_srgb
from landscape.figures.export import figure
from landscape.figures.labels import clean_name
from landscape.figures.maps import (
    add_density,
    add_few_names,
    fitted_page,
    map_box,
    map_panel,
    positions,
)
from landscape.figures.page import SMALL, Page, PageOptions, sentence_scene
from landscape.figures.scene import (
    Axis,
    Band,
    Box,
    ColourBar,
    Curve,
    Floats,
    Intervals,
    Lines,
    Panel,
    Points,
    Rule,
    Scene,
    Spans,
    ticks,
    tile,
    uncovered_spans,
)
from landscape.overlays.trends import author_path
from landscape.overlays.trends import trends as find_trends

if TYPE_CHECKING:
    import pandas as pd

    from landscape.store import AtlasStore
    from landscape.types import Analysis

_MAX_ROWS, _MAX_PANELS = 30, 12
_SIGNIFICANT = ("emerging", "fading")
_HEADING, _ROW, _ROOMY_ROW = 12.0, 13.0, 20.0  # points
_HEADING_SIZE = 7.5  # font size of the name above a small chart
_FAR = 2.5  # maximum length of the axis, relative to the upper quartile of the ends of intervals
_HOW = (
    "Bars and bands are 95% intervals, thin lines are fits, dotted lines are changes of trend; "
    "share axes differ."
)


@figure
def trends(
    atlas: AtlasStore,
    *,
    analysis: Analysis | None = None,
    since: int | None = None,
    until: int | None = None,
    level: int = 1,
    q: float = 0.05,
    least_change: float = 1.25,
    n_topics: int = 24,
    **look: Unpack[PageOptions],
) -> Scene:
    """Draw emerging and fading topics, relative to the whole corpus.

    The left side ranks topics by the yearly change of their share of all papers, with 95%
    intervals; topics without a verdict are omitted. The right side shows the shares by year of the
    emerging and fading topics. Years that the corpus covers in part are hatched. If no topic is
    emerging or fading, the page has one sentence instead.

    Parameters
    ----------
    atlas : AtlasStore
    analysis : Analysis, optional
        Known result of `landscape.overlays.trends`, which is then not computed again.
    since, until : int, optional
        First and last year.
    level : int, default 1
        Level of the regions: 0 for continents, 1 for regions.
    q : float, default 0.05
        False discovery rate over all topics.
    least_change : float, default 1.25
        Minimum factor by which the odds of a trend change over the period.
    n_topics : int, default 24
        Number of topics in the ranking: one half with the largest rise, the other half with the
        largest fall.
    **look
        ``colours``, ``size_inches`` and ``title``; see `landscape.figures.heatmap`.

    Returns
    -------
    Sheet
        A matplotlib Figure, with ``alt_text`` and the ``table`` of the trends.

    Raises
    ------
    InputError
        If the atlas has no topics, the period has no papers, or the page is too small.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.trends(ls.open("my.atlas"), since=2000)  # doctest: +SKIP
    """
    if analysis is None:
        analysis = find_trends(
            atlas,
            since=since,
            until=until,
            level=level,
            q=q,
            least_change=least_change,
            scored=False,
        )
    if not analysis.table["slope"].notna().any():
        raise InputError(
            "No topic has papers in enough years to compute a trend. Use a longer period."
        )
    if not analysis.table["class"].isin(_SIGNIFICANT).any():
        n_steady, n = int((analysis.table["class"] == "steady").sum()), len(analysis.table)
        sentence = (
            f"No trend is significant: {n_steady} of {count(n, 'topic')} are steady, and the "
            "change of the others is within the uncertainty."
            if n_steady
            else "No trend is significant: the intervals of the yearly change are too wide for all "
            f"{count(n, 'topic')}."
        )
        return sentence_scene(caption_of(analysis), sentence, look, table=analysis.table)
    known, most = int((analysis.table["class"] != "").sum()), min(n_topics, _MAX_ROWS)
    listed = f"At most {most} of {known} topics are listed. " if known > most else ""
    caption = caption_of(analysis, listed + _HOW)
    page = Page(caption, look, smallest=(4.0, 3.0))
    left, bottom, right, top = page.chart_area
    middle = left + 0.47 * (right - left)
    fitting = (top - bottom - 40 * page.scale) / (_ROW * page.scale)
    shown = _ranked(analysis.table, n=int(np.clip(min(n_topics, fitting), 2, _MAX_ROWS)))
    gaps = not analysis.tables["years"]["covered"].all()
    _draw_ranking(page, (left, bottom, middle - 14 * page.scale, top), shown, gaps=gaps)
    _draw_panels(page, (middle + 4 * page.scale, bottom, right, top), shown, analysis)
    words = _describe(shown, caption)
    return page.scene(alt_text=words, table=analysis.table, on_screen=("chart",))


def colour_of(kind: object, colours: Theme) -> str:
    """Return the colour of a trend: blue if emerging, orange if fading, grey if there is none."""
    known = {"emerging": colours.found, "fading": colours.apart, "steady": colours.ink}
    return known.get(str(kind), colours.faint)


def _ranked(table: pd.DataFrame, *, n: int) -> pd.DataFrame:
    """Return topics with a verdict, sorted by slope; significant changes have priority."""
    import pandas as pd

    known = table[table["slope"].notna() & (table["class"] != "")]
    known = known.assign(doubt=~known["class"].isin(_SIGNIFICANT))
    rising = known[known["slope"] >= 0].sort_values(["doubt", "slope"], ascending=[True, False])
    falling = known[known["slope"] < 0].sort_values(["doubt", "slope"])
    n_rising = min(len(rising), max(n - n // 2, n - len(falling)))
    chosen = pd.concat([rising.head(n_rising), falling.head(n - n_rising)])
    return chosen.sort_values("slope", ascending=False).reset_index(drop=True)


def _percent_a_year(slope: np.ndarray) -> Floats:
    """Convert a change in log odds to per cent per year (for small shares)."""
    return 100 * np.expm1(np.clip(np.asarray(slope, dtype=float), -3, 3))


def _draw_ranking(page: Page, box: Box, shown: pd.DataFrame, *, gaps: bool) -> None:
    """Draw the slope of each topic as a dot with an interval, and its name to the left."""
    left, bottom, right, top = box
    scale, faint = page.scale, page.colours.faint
    names = left + 0.52 * (right - left)
    page.write("Yearly change of share", left, top - 9 * scale, weight="bold", size=9)
    pitch = min(_ROOMY_ROW * scale, (top - bottom - (40 + 11 * gaps) * scale) / len(shown))
    upper = top - 18 * scale
    middle, low, high = (
        _percent_a_year(shown[name]) for name in ("slope", "slope_low", "slope_high")
    )
    limits = _axis_limits(low, high)
    marks = ticks(limits, 5, lambda v: f"{v:+.0f}%" if v else "0")
    beyond = [_beyond_axis(*row, limits) for row in zip(middle, low, high, strict=True)]
    before, after = (
        max(
            (page.extent(row[side], size=SMALL).width + 4 * scale) * bool(row[side])
            for row in beyond
        )
        for side in (0, 1)
    )
    panel = page.chart(
        (names + before, upper - pitch * len(shown), right - after, upper),
        Axis(limits, marks),
        Axis((len(shown) - 0.5, -0.5)),
        gid="slopes",
        rows=list(enumerate(shown["label"])),
    )
    edges = panel.box[0] - 3 * scale, panel.box[2] + 3 * scale
    colours = [colour_of(kind, page.colours) for kind in shown["class"]]
    panel.layers.extend(
        [
            Rule(x=0.0, colour=faint, width=0.6 * scale, order=0.0),
            Intervals(
                at=np.arange(len(shown)),
                value=np.where((middle < limits[0]) | (middle > limits[1]), np.nan, middle),
                low=np.clip(low, *limits),
                high=np.clip(high, *limits),
                colours=colours,
                filled=[True] * len(shown),
                width=1.1 * scale,
                size=3.6 * scale,
                gid="slope",
                hover=[
                    f"{label}: {kind}\n{m:+.1f}% a year ({a:+.1f}% to {b:+.1f}%)"
                    for label, kind, m, a, b in zip(
                        shown["label"], shown["class"], middle, low, high, strict=True
                    )
                ],
            ),
        ]
    )
    for row, (words, colour) in enumerate(zip(shown["label"], colours, strict=True)):
        y = upper - (row + 0.5) * pitch - 2.5 * scale
        page.write(
            words,
            names - 4 * scale,
            y,
            size=7.5,
            align="right",
            colour=colour,
            gid="topic",
            width=names - left - 6 * scale,
        )
        for x, align, note in zip(edges, ("right", "left"), beyond[row], strict=True):
            page.write(note, x, y, size=SMALL, align=align, colour=colour, gid="beyond")
    x, y = left, max(bottom + 11 * scale * gaps, upper - pitch * len(shown) - 26 * scale)
    key = [(f"● {kind}", kind) for kind in (*_SIGNIFICANT, "steady") if kind in set(shown["class"])]
    for words, kind in [*key, *[("→ beyond the axis", "")] * any(map(any, beyond))]:
        page.write(words, x, y, size=SMALL, colour=colour_of(kind, page.colours), gid="key")
        x += page.extent(words, size=SMALL).width + 8 * scale
    if gaps:
        page.hatching_key(right, y - 11 * scale)


def _axis_limits(low: Floats, high: Floats) -> tuple[float, float]:
    """Return the limits of the axis of slopes, so that few long intervals do not squeeze others."""
    most = _FAR * float(np.quantile(np.maximum(np.abs(low), np.abs(high)), 0.75))
    lower, higher = max(min(0.0, low.min()), -most), min(max(0.0, high.max()), most)
    border = 0.03 * (higher - lower)
    return float(lower - border), float(higher + border)


def _beyond_axis(
    value: float, low: float, high: float, limits: tuple[float, float]
) -> tuple[str, str]:
    """Return the texts for what is beyond the left and the right end of the axis."""
    first, last = limits
    before = f"{value:+.0f}% ←" if value < first else f"to {low:+.0f}% ←" if low < first else ""
    after = f"→ {value:+.0f}%" if value > last else f"→ to {high:+.0f}%" if high > last else ""
    return before, after


def _draw_panels(page: Page, box: Box, shown: pd.DataFrame, analysis: Analysis) -> None:
    """Draw a small chart of the shares by year for each emerging or fading topic."""
    years, changes = analysis.tables["years"], analysis.tables.get("changes")
    steep = shown[~shown["doubt"]].sort_values("slope", key=abs, ascending=False)
    steep = steep.head(_MAX_PANELS).sort_values("slope", ascending=False)
    scale, leading = page.scale, 1.15 * _HEADING_SIZE * page.scale
    first = tile(box, len(steep), heading=_HEADING * scale, gap=16 * scale)
    width = min((right - left for left, _, right, _ in first), default=0.0)
    names = [
        page.wrapped(label, size=_HEADING_SIZE, width=width, weight="bold", most=2)
        for label in steep["label"]
    ]
    more = leading * (max(map(len, names), default=1) - 1)
    boxes = tile(box, len(steep), heading=_HEADING * scale + more, gap=16 * scale)
    for row, lines, cell in zip(steep.to_dict("records"), names, boxes, strict=True):
        left, bottom, right, top = cell
        colour = colour_of(row["class"], page.colours)
        for above, line in enumerate(reversed(lines)):
            page.write(
                line,
                left,
                top + 3 * scale + above * leading,
                size=_HEADING_SIZE,
                weight="bold",
                colour=colour,
                gid="heading",
            )
        panel = share_panel(
            page,
            (left + 16 * scale, bottom + 4 * scale, right, top - 2 * scale),
            years[years["topic_id"] == row["topic_id"]],
            colour=colour,
            heading=str(row["label"]),
        )
        if changes is not None and len(changes):
            panel.layers.extend(
                [
                    Rule(
                        x=float(year) - 0.5,
                        colour=page.colours.ink,
                        width=0.6 * scale,
                        dashes="dotted",
                        gid="change",
                    )
                    for year in changes.loc[changes["topic_id"] == row["topic_id"], "year"]
                ]
            )


def share_panel(
    page: Page,
    box: Box,
    years: pd.DataFrame,
    *,
    colour: str,
    heading: str = "",
    gid: str = "chart",
    n_ticks: int = 3,
) -> Panel:
    """Draw shares by year with intervals (``year, share, share_low, share_high, covered``)."""
    ordered = years.sort_values("year")
    at = ordered["year"].to_numpy(dtype=float)
    covered = ordered["covered"].to_numpy(dtype=bool)
    share, low, high = (
        np.where(covered, 100 * ordered[name].to_numpy(dtype=float), np.nan)
        for name in ("share", "share_low", "share_high")
    )
    fitted = 100 * ordered["fitted"].to_numpy(dtype=float) if "fitted" in ordered else np.array([])
    most = float(np.nanmax([*share, *high, *fitted, 1e-6]))
    step = float(np.min(np.diff(at), initial=1.0))  # a year, or a quarter
    across, up = (at.min() - step / 2, at.max() + step / 2), (0.0, 1.08 * most)
    panel = page.chart(
        box,
        Axis(across, ticks(across, n_ticks, lambda v: f"{v:.0f}", whole=True)),
        Axis(up, ticks(up, n_ticks, lambda v: f"{v:g}%")),
        gid=gid,
        heading=heading,
    )
    hover = [
        f"{heading + ', ' if heading else ''}{year:g}\n{s:.2f}% ({a:.2f}% to {b:.2f}%)"
        for year, s, a, b in zip(at, share, low, high, strict=True)
    ]
    panel.layers.extend(
        [
            Curve(x=at, y=share, colour=colour, width=1.1 * page.scale, gid="share"),
            Band(x=at, low=low, high=high, colour=colour, gid="interval", order=1.0),
            # A covered year between two gaps has no line, so it is drawn as a point.
            Points(x=at, y=share, colour=colour, size=2.2 * page.scale, gid="share", hover=hover),
            Spans(
                spans=[
                    (step * start, step * end)
                    for start, end in uncovered_spans(np.round(at / step), covered)
                ],
                colour=page.colours.faint,
                gid="not covered",
            ),
        ]
    )
    if len(fitted):
        panel.layers.append(
            Curve(x=at, y=fitted, colour=page.colours.ink, width=0.6 * page.scale, gid="fitted")
        )
    return panel


def _describe(shown: pd.DataFrame, caption: Caption) -> str:
    parts = []
    for kind, rows in (("emerging", shown), ("fading", shown.iloc[::-1])):
        named = ", ".join(
            f"{clean_name(row.label)} ({_percent_a_year(row.slope):+.0f}% a year)"
            for row in rows[rows["class"] == kind].head(6).itertuples()
        )
        parts.append(f"{kind.capitalize()}: {named or 'none'}.")
    return caption.describe("Chart of topics over time.", " ".join(parts))


# -- authors

_MAP_SHARE = 0.6  # of the width of the page
_MAX_REGIONS = 16
_PERIOD_ROW, _ROOMIEST_PERIOD_ROW = 12.0, 22.0  # points


@figure
def author(
    atlas: AtlasStore,
    name: str,
    *,
    analysis: Analysis | None = None,
    group: int | None = None,
    period_years: int = 5,
    n_resamples: int = 1000,
    seed: int = 0,
    **look: Unpack[PageOptions],
) -> Scene:
    """Draw the papers of an author on the map, and by region and year.

    The left side shows the papers on the map, coloured by year. The right side shows the papers of
    each region by year.

    Parameters
    ----------
    atlas : AtlasStore
    name : str
        Name of the author, such as ``"Rubin, Vera"``. Authors with the same name are not
        distinguished.
    analysis : Analysis, optional
        Known result of `landscape.overlays.author_path`, which is then not computed again.
    group : int, optional
        Number of a group of papers with common co-authors or affiliations. Default: all papers.
    period_years : int, default 5
        Length of the periods in years.
    n_resamples : int, default 1000
        Number of permutations in the test of the drift.
    seed : int, default 0
    **look
        ``colours``, ``size_inches`` and ``title``; see `landscape.figures.heatmap`.

    Returns
    -------
    Sheet
        A matplotlib Figure, with ``alt_text`` and the ``table`` of the papers.

    Raises
    ------
    InputError
        If the atlas contains no paper by this author.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.author(ls.open("my.atlas"), "Rubin, Vera")  # doctest: +SKIP
    """
    if analysis is None:
        analysis = author_path(
            atlas, name, group=group, period_years=period_years, n_resamples=n_resamples, seed=seed
        )
    papers = analysis.table
    caption = caption_of(analysis, NEARNESS)
    x, y = positions(atlas.map["x"], atlas.map["y"])
    size = fitted_page(x, y, 1, beside=1 - _MAP_SHARE)
    page = Page(caption, look, size=size, soft=True, smallest=(4.0, 3.0))
    left, bottom, right, top = page.chart_area
    middle = left + _MAP_SHARE * (right - left)
    tints = year_tints(papers["year"].to_numpy(dtype=float), dark=page.colours.name == "dark")
    panel = _draw_author_map(
        page, (left, bottom, middle - 10 * page.scale, top - 4 * page.scale), atlas, analysis, tints
    )
    _draw_author_regions(page, (middle + 4 * page.scale, bottom, right, top), papers, tints)
    regions = []
    for label, part in papers.groupby("label", sort=False):
        years = f"{part['year'].min()} to {part['year'].max()}"
        place = place_of(part["x"].mean(), part["y"].mean(), panel.extent)
        name = clean_name(label) or "outside every region"
        regions.append(f"{name} ({len(part)}, {years}, {place})")
    more = f"Regions in order of first paper: {'; '.join(regions[:12])}."
    words = caption.describe("Map of an author's papers over time.", more)
    return page.scene(alt_text=words, table=papers)


def year_tints(years: Floats, *, dark: bool = False) -> Floats:
    """Return a colour for each year, from yellow-brown (first) to violet-blue (last)."""
    span = years.max() - years.min()
    along = (years - years.min()) / span if span else np.ones(len(years))
    lightness = (0.9 - 0.25 * along) if dark else (0.72 - 0.34 * along)
    # Yellow and blue can be distinguished with all types of colour vision.
    return oklab_to_srgb(np.column_stack([lightness, 0.02 + 0.02 * along, 0.13 - 0.28 * along]))


def _draw_author_map(
    page: Page, box: Box, atlas: AtlasStore, analysis: Analysis, tints: Floats
) -> Panel:
    """Draw the papers of the author on the map; return the panel."""
    papers, scale, colours = analysis.table, page.scale, page.colours
    x, y = positions(atlas.map["x"], atlas.map["y"])
    left, bottom, right, top = box
    inner = map_box((left, bottom + 16 * scale, right, top), x, y)
    panel = map_panel(page, inner, x, y, border=10 * scale, framed=True)
    add_density(page, panel, x, y)
    last_first = papers[::-1]  # earlier papers are drawn above later papers
    years = last_first["year"].to_numpy(dtype=float)
    ends = float(years.min()), max(float(years.max()), float(years.min()) + 1)
    ramp = year_tints(np.linspace(*ends, 64), dark=colours.name == "dark")
    panel.layers.append(
        Points(
            x=last_first["x"].to_numpy(float),
            y=last_first["y"].to_numpy(float),
            size=4.2 * scale,
            colour=tints[::-1],
            order=3,
            gid="papers",
            edge=colours.halo,
            edge_width=0.5 * scale,
            bar=ColourBar("year", years, ends, ramp),
            hover=[f"{row.year} {row.title}\n{row.label}" for row in last_first.itertuples()],
        )
    )
    at, half = panel.to_page(papers["x"], papers["y"]), 2.5 * scale
    wanted = papers.loc[papers["topic_id"] >= 0, "topic_id"].value_counts()
    topics = atlas.topics.set_index("topic_id", drop=False)
    add_few_names(
        page,
        panel,
        topics.loc[[topic for topic in wanted.index if topic in topics.index]],
        most=14,
        size=7,
        reach=14 * scale,
        reserved=np.hstack([at - half, at + half]),
    )
    first, last = int(papers["year"].min()), int(papers["year"].max())
    y_of_key = panel.box[1] - 12 * scale
    page.colour_bar(left, y_of_key, ramp, str(first), str(last) if last > first else "")
    return panel


def _draw_author_regions(page: Page, box: Box, papers: pd.DataFrame, tints: Floats) -> None:
    """Draw the papers by year, with a row of dots for each region; sort regions by first year."""
    left, bottom, right, top = box
    scale = page.scale
    page.write("Regions in time", left, top - 9 * scale, size=9, weight="bold", gid="heading")
    label = papers["label"].where(papers["topic_id"] >= 0, "outside every region")
    counts = label.value_counts()
    fitting = int((top - bottom - 40 * scale) / (_PERIOD_ROW * scale))
    kept = list(counts.index[: max(1, min(_MAX_REGIONS, fitting))])
    first = papers.assign(label=label).groupby("label")["year"].min()
    rows = sorted(kept, key=lambda one: (first[one], one))
    pitch = min(_ROOMIEST_PERIOD_ROW * scale, (top - bottom - 40 * scale) / len(rows))
    names, upper = left + 0.5 * (right - left), top - 16 * scale
    years = papers["year"].to_numpy(dtype=float)
    pad = max(1.0, 0.04 * (years.max() - years.min()))
    limits = years.min() - pad, years.max() + pad
    panel = page.chart(
        (names, upper - pitch * len(rows), right, upper),
        Axis(limits, ticks(limits, 5, lambda v: f"{v:.0f}", whole=True)),
        Axis((len(rows) - 0.5, -0.5)),
        gid="regions",
        rows=list(enumerate(rows)),
    )
    for place, region in enumerate(rows):
        of = (label == region).to_numpy()
        line = np.array([[years[of].min(), place], [years[of].max(), place]])
        each, n = np.unique(years[of], return_counts=True)
        tint = np.array([tints[np.flatnonzero(years == year)[0]] for year in each])
        panel.layers.extend(
            [
                Lines(lines=[line], width=0.7 * scale, colour=page.colours.faint, order=1),
                Points(
                    x=each,
                    y=np.full(len(each), place),
                    size=4 * scale * np.sqrt(n),
                    colour=tint,
                    hover=[
                        f"{region}, {year:.0f}: {count}"
                        for year, count in zip(each, n, strict=True)
                    ],
                ),
            ]
        )
        y = upper - (place + 0.5) * pitch - 2.5 * scale
        page.write(
            f"{region} ({of.sum()})",
            names - 6 * scale,
            y,
            size=7.5,
            align="right",
            gid="region",
            width=names - left - 8 * scale,
        )
    if len(counts) > len(rows):
        rest = f"and {len(counts) - len(rows)} more regions"
        page.write(
            rest,
            left,
            upper - pitch * len(rows) - 22 * scale,
            size=SMALL,
            colour=page.colours.faint,
        )
