"""Share of the local literature that mentions a facility (figure 8 of Iyer et al. 2024)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from landscape.errors import InputError
from landscape.figures._caption import Caption, caption_of
from landscape.figures._colours import Series, fade, pick, series, share_ramp
from landscape.figures._labels import clean_name
from landscape.figures._maps import (
    add_density,
    add_names,
    chosen_topics,
    density_key,
    map_panel,
    map_panels,
    positions,
)
from landscape.figures._page import BESIDE_A_TABLE, SIZE_INCHES, Key, Page, PageOptions, Ranking
from landscape.figures._scene import (
    Bools,
    Box,
    ColourBar,
    Floats,
    Hatched,
    Image,
    Lines,
    Panel,
    Points,
)
from landscape.mapping._density import (
    DensityGrid,
    contour_lines,
    default_bandwidth,
    density_grid,
    highest_density_levels,
)
from landscape.overlays._periods import format_spans
from landscape.overlays.missions._impact import measure_usage
from landscape.overlays.missions._measures import ShareMap, share_map
from landscape.overlays.missions._usage import Usage, format_period, in_period, read_usage

if TYPE_CHECKING:
    import pandas as pd

    from landscape.store import AtlasStore
    from landscape.types import Analysis

_TOGETHER, _RANKED, _PANELS, _SERIES = 6, 20, 24, 21
_REGIONS_NAMED, _FACILITIES_DESCRIBED, _REGIONS_DESCRIBED = 10, 8, 5
_FEWEST = 3  # minimum number of papers of a facility in a ranked region
_WIDER = 1.5  # kernel width for a facility with few papers, relative to the width for all papers
_CELL = 2.2  # cell size of a share map, in points
_TOPS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.10, 0.15, 0.20, 0.25, 0.50, 1.0)
# A share map is transparent where the kernel contains fewer than _SEEN papers, and opaque where it
# contains at least _SOLID papers.
_SEEN, _SOLID = 2.0, 12.0
_SMOOTHED = 3  # minimum half-width of hatched areas, in cells
_SHARES = (
    "The colour shows the share of nearby papers that mention the facility. Where there are few "
    "papers, it is shrunk towards the overall share. The thin line contains half of the papers "
    "that mention the facility."
)
_CONTOURS = (
    "The thick line contains 50% of a facility's papers, and the thin line 80%. The background is "
    "the density of all papers."
)
_HATCHING = "Hatched areas contain papers of the corpus, but almost none of this period."


@dataclass(frozen=True)
class View:
    """Heading of one map, papers of its period, and papers that mention its facility."""

    heading: str
    counts: str
    inside: Bools
    uses: Bools


def impact(
    atlas: AtlasStore,
    *,
    facilities: str | Sequence[str] | None = None,
    since: int | None = None,
    until: int | None = None,
    multiples: bool = False,
    slices: Sequence[tuple[int, int]] | None = None,
    n_resamples: int = 1000,
    **look: Unpack[PageOptions],
) -> Any:
    """Draw the share of the local literature that mentions facilities.

    For one facility, draw its share map and a table of the regions with the largest shares. For
    several facilities, draw contours that contain 50% and 80% of the papers of each facility, and
    a ranked table.

    Parameters
    ----------
    atlas : AtlasStore
    facilities : str or sequence of str, optional
        Names or aliases; by default the six most mentioned facilities.
    since, until : int, optional
        First and last year, both included.
    multiples : bool, default False
        Draw a share map for each facility, all with the same colour scale.
    slices : sequence of (int, int), optional
        Draw a share map for each facility and each of these periods, with the same colour scale.
    n_resamples : int, default 1000
        Bootstrap samples for the intervals of the table.
    **look
        ``colours``, ``size_inches``, ``title``, ``raster_dpi`` and ``ax``; see
        `landscape.figures.heatmap`. ``ax`` cannot be combined with `multiples` or `slices`.

    Returns
    -------
    Sheet or matplotlib.axes.Axes
        A matplotlib Figure with the ``table`` of `landscape.overlays.missions.impact`, or `ax`.

    Raises
    ------
    InputError
        If a facility or the colours are unknown, a period has no papers, there are more than 24
        maps on a page, or the page is too small.

    Examples
    --------
    >>> import landscape as ls
    >>> atlas = ls.open("my.atlas")  # doctest: +SKIP
    >>> ls.figures.impact(atlas, facilities="ALMA", since=2014)  # doctest: +SKIP
    """
    usage = read_usage(atlas, facilities)
    if facilities is None:
        usage = _first(usage, _RANKED)
    analysis = measure_usage(
        atlas, usage, since=since, until=until, slices=slices, n_resamples=n_resamples
    )
    if facilities is None:
        usage = _first(usage, _TOGETHER)
    return draw_impact(
        atlas, analysis, usage=usage, since=since, until=until, multiples=multiples,
        slices=slices, **look,
    )  # fmt: skip


def _first(usage: Usage, n: int) -> Usage:
    return replace(usage, facilities=usage.facilities[:n], rows=usage.rows[:n])


def draw_impact(
    atlas: AtlasStore,
    analysis: Analysis,
    *,
    usage: Usage | None = None,
    since: int | None = None,
    until: int | None = None,
    multiples: bool = False,
    slices: Sequence[tuple[int, int]] | None = None,
    **look: Unpack[PageOptions],
) -> Any:
    """Draw the result of `measure_usage` for the facilities in `usage`."""
    if usage is None:
        usage = read_usage(atlas, analysis.table["facility"].drop_duplicates().tolist())
    x, y = positions(atlas.map["x"], atlas.map["y"])
    windows: list[tuple[int | None, int | None]] = [(since, until)]
    if slices is not None:
        windows = [(int(first), int(last)) for first, last in slices]
    views = views_of(usage, windows)
    in_panels = multiples or slices is not None
    alone = len(views) == 1 and not in_panels
    if in_panels and len(views) > _PANELS:
        raise InputError(f"{len(views)} maps do not fit on a page; choose at most {_PANELS}.")
    if not in_panels and len(views) > _SERIES:
        raise InputError(
            f"{len(views)} facilities are too many for one map; choose at most {_SERIES}."
        )
    caption = _write_bounds(analysis, views, alone=alone, in_panels=in_panels, sliced=bool(slices))
    size, soft = SIZE_INCHES if in_panels else BESIDE_A_TABLE, not (alone or in_panels)
    page = Page(caption, look, size=size, soft=soft, has_key=True)
    if in_panels:
        _draw_panels(page, x, y, views)
    elif alone:
        _draw_alone(page, x, y, views[0], analysis, atlas.topics)
    else:
        _draw_together(page, x, y, views, analysis)
    words = caption.describe("Map of the impact of facilities.", _describe(analysis))
    return page.draw(alt_text=words, table=analysis.table)


def _write_bounds(
    analysis: Analysis, views: Sequence[View], *, alone: bool, in_panels: bool, sliced: bool
) -> Caption:
    """Return a caption with title, numbers, limitations, and a note on how to read the map."""
    caption = caption_of(replace(analysis, denominators={}) if sliced else analysis)
    how = [_SHARES if alone or in_panels else _CONTOURS]
    if in_panels or alone:
        how += [_HATCHING] if any(not view.inside.all() for view in views) else []
    numbers = [_key_numbers(analysis.table.iloc[0])] if alone else []
    head, names = caption.head, analysis.table["facility"].unique()
    if len(names) == 1:
        head = head.replace("Impact of facilities", f"Impact of {clean_name(str(names[0]))}", 1)
    return replace(caption, head=head, sentences=[*numbers, *caption.sentences, *how])


def views_of(usage: Usage, windows: Sequence[tuple[int | None, int | None]]) -> list[View]:
    """Return one view for each facility and period; omit years that the corpus does not cover."""
    views = []
    gaps = usage.years.years[~usage.years.covered]
    for index, facility in enumerate(usage.facilities):
        for since, until in windows:
            inside = in_period(usage, since, until) & ~np.isin(usage.year, gaps)
            uses = usage.uses(index) & inside
            low, high = -np.inf if since is None else since, np.inf if until is None else until
            missed = format_spans(gaps[(gaps >= low) & (gaps <= high)])
            counts = f"{int(uses.sum()):,} of {int(inside.sum()):,} papers"
            if missed and len(windows) > 1 and not inside.any():
                counts = f"hardly covered: {', '.join(missed)}"
            several = len(usage.facilities) > 1 or len(windows) == 1
            name = facility.name if several else ""
            period = format_period(since, until) if len(windows) > 1 else ""
            period = str(since) if period and since == until else period
            views.append(View(", ".join(filter(None, [name, period])), counts, inside, uses))
    return views


# -- layouts: one share map, contours on one map, or one panel for each view


def _draw_alone(
    page: Page, x: Floats, y: Floats, view: View, analysis: Analysis, topics: pd.DataFrame
) -> None:
    """Draw one share map, and a table of the regions with the largest shares."""
    box, column = page.divided()
    regions = chosen_topics(topics, levels=(1,))
    panel = map_panel(page, box, x, y, include=regions)
    (found,), everywhere = share_maps(page, panel, x, y, [view])
    top = scale_top([found])
    page.write_key(share_key(page, top))
    add_shares(page, panel, found, top, everywhere=everywhere)
    name = str(analysis.table["facility"].iloc[0])
    ranking, ranked = _region_ranking(analysis, name)
    page.write_ranking(ranking, column)
    own = analysis.tables["regions"]
    _add_region_dots(page, panel, own[(own["facility"] == name) & (own["papers"] > 0)], top)
    add_names(page, panel, regions.set_index("topic_id").loc[ranked[:_REGIONS_NAMED]].reset_index())


def _add_region_dots(page: Page, panel: Panel, regions: pd.DataFrame, top: float) -> None:
    """Add dots with hover texts for the browser; their size shows the number of papers."""
    if not {"x", "y"} <= set(regions.columns):
        return
    regions = regions.dropna(subset=["x", "y"])
    ramp, share = share_ramp(page.colours), regions["share"].to_numpy(float)
    size = 4 + 12 * np.sqrt(regions["papers"].to_numpy(float) / max(1, regions["papers"].max()))
    panel.layers.append(
        Points(
            x=regions["x"].to_numpy(float), y=regions["y"].to_numpy(float), size=size,
            colour=pick(ramp, share / top), edge=page.colours.ink, edge_width=0.5, gid="regions",
            screen=True, bar=ColourBar("share", share, (0.0, top), ramp),
            hover=[
                f"{row.label}\n{row.papers:,} of {row.region_papers:,} papers: {row.share:.1%} "
                f"({row.share_low:.1%} to {row.share_high:.1%})"
                for row in regions.itertuples()
            ],
        )
    )  # fmt: skip


def _draw_together(
    page: Page, x: Floats, y: Floats, views: Sequence[View], analysis: Analysis
) -> None:
    """Draw contours of several facilities on one map, and a ranked table."""
    import pandas as pd

    box, column = page.divided()
    panel = map_panel(page, box, x, y)
    page.write_key(density_key(page, add_density(page, panel, x, y)))
    shape = grid_shape(panel.box, scale=page.scale)
    kernel = _WIDER * default_bandwidth(x, y)
    styles = dict(zip([view.heading for view in views], series(page.colours, len(views)),
                      strict=True))  # fmt: skip
    peaks: list[dict[str, Any]] = []
    for view in views:
        if not view.uses.any():
            continue
        own, style = (x[view.uses], y[view.uses]), styles[view.heading]
        grid = density_grid(*own, bounds=panel.extent, shape=shape, bandwidth=kernel)
        levels = highest_density_levels(grid, (0.8, 0.5))
        for share, level, width in zip((0.8, 0.5), levels, (0.7, 1.7), strict=True):
            panel.layers.append(
                Lines(
                    lines=contour_lines(grid, level), colour=style.colour, dashes=style.dashes,
                    width=width * page.scale, halo=page.colours.halo if share == 0.5 else None,
                    gid=f"facility-{view.heading}", order=1.6,
                    name=view.heading if share == 0.5 else "",
                    hover=f"{view.heading}: {share:.0%} of its papers",
                )
            )  # fmt: skip
        row, place = np.unravel_index(int(grid.density.argmax()), shape)
        width, height = grid.cell_width, grid.cell_height
        peaks.append(
            {
                "topic_id": len(peaks), "label": view.heading, "level": 1, "colour": style.colour,
                "x": panel.extent[0] + (place + 0.5) * width,
                "y": panel.extent[1] + (row + 0.5) * height, "n_papers": int(view.uses.sum()),
            }
        )  # fmt: skip
    if peaks:
        add_names(page, panel, pd.DataFrame(peaks))
    page.write_ranking(_facility_ranking(analysis, styles), column)


def _draw_panels(page: Page, x: Floats, y: Floats, views: Sequence[View]) -> None:
    """Draw a share map per view, all on the same axes and scale."""
    panels = map_panels(page, page.tiled(len(views)), x, y)
    found, everywhere = share_maps(page, panels[0], x, y, views)
    top = scale_top(found)
    page.write_key(share_key(page, top))
    for view, panel, shares in zip(views, panels, found, strict=True):
        add_shares(page, panel, shares, top, everywhere=everywhere)
        page.write_heading(panel.box, view.heading, view.counts)


# -- share maps


def grid_shape(box: Box, *, scale: float) -> tuple[int, int]:
    """Return the numbers of rows and columns of a share map that fills a box of the page."""
    left, bottom, right, top = box
    cell = _CELL * scale
    return max(16, round((top - bottom) / cell)), max(16, round((right - left) / cell))


def share_maps(
    page: Page, panel: Panel, x: Floats, y: Floats, views: Sequence[View]
) -> tuple[list[ShareMap], ShareMap]:
    """Return a share map for each view and a map for all papers, with the same grid and kernel."""
    shape, kernel = grid_shape(panel.box, scale=page.scale), default_bandwidth(x, y)

    def of(inside: Bools, uses: Bools) -> ShareMap:
        return share_map(
            x[inside], y[inside], uses[inside], extent=panel.extent, shape=shape, bandwidth=kernel
        )

    every = of(np.ones(len(x), dtype=bool), np.zeros(len(x), dtype=bool))
    return [
        of(view.inside, view.uses)
        if view.inside.any()
        else replace(every, papers=np.zeros_like(every.papers))
        for view in views
    ], every


def scale_top(maps: Sequence[ShareMap]) -> float:
    """Return the upper limit of the colour scale, a round number that few values exceed."""
    shares = np.concatenate([found.share[found.papers >= _SOLID] for found in maps])
    papers = np.concatenate([found.papers[found.papers >= _SOLID] for found in maps])
    if not len(shares):
        return max((found.overall for found in maps), default=0.0) or _TOPS[0]
    order = np.argsort(shares)
    held = np.cumsum(papers[order])
    high = shares[order][int(np.searchsorted(held, 0.985 * held[-1]))]
    return next((top for top in _TOPS if top >= 0.999 * high), 1.0)


def share_key(page: Page, top: float) -> Key:
    """Return the colour key of a share map."""
    texts = [f"{100 * share:.3g}%" for share in np.linspace(0, top, 6)]
    meanings = [*texts[:-1], texts[-1] if top >= 1 else f"≥{texts[-1]}"]
    return Key.of_ramp("Share of nearby papers", share_ramp(page.colours), meanings)


def add_shares(
    page: Page,
    panel: Panel,
    found: ShareMap,
    top: float,
    *,
    everywhere: ShareMap | None = None,
    outline: bool = True,
) -> None:
    """Draw a share map, which is transparent where there are few papers."""
    pixels = share_pixels(found, top, share_ramp(page.colours))
    panel.layers.append(
        Image(pixels=pixels, extent=found.extent, smooth=True, gid="share", order=1.0)
    )
    if everywhere is not None:
        where = not_covered(found, everywhere)
        panel.layers.append(
            Hatched(where=where, extent=found.extent, colour=page.colours.faint, gid="not covered")
        )
    if outline and found.facility_papers.sum() > 0:
        grid = DensityGrid.of_window(found.extent, found.facility_papers)
        lines = contour_lines(grid, *highest_density_levels(grid, (0.5,)))
        panel.layers.append(
            Lines(lines=lines, colour=page.colours.ink, width=0.55 * page.scale, gid="half",
                  order=1.6)
        )  # fmt: skip


def share_pixels(found: ShareMap, top: float, ramp: Floats) -> Floats:
    """Return the colours of a share map with opacity, shape (rows, columns, 4)."""
    return np.dstack([pick(ramp, found.share / top), fade(found.papers, _SEEN, _SOLID)])


def not_covered(found: ShareMap, everywhere: ShareMap) -> Bools:
    """Return a mask of cells with papers of the corpus, but almost none of the period."""
    from scipy.ndimage import binary_opening

    bare = (everywhere.papers >= _SOLID) & (found.papers < _SEEN)
    return np.asarray(binary_opening(bare, iterations=_SMOOTHED), dtype=bool)


# -- tables and numbers


def _facility_ranking(analysis: Analysis, drawn: Mapping[str, Series]) -> Ranking:
    """Rank facilities by papers; facilities on the map have a line sample before the name."""
    table = analysis.table.assign(
        label=analysis.table["facility"].astype(str),
        interval=[_interval(row) for _, row in analysis.table.iterrows()],
        effective=[_number(value) for value in analysis.table["effective_regions"]],
    )
    columns = [
        ("papers", "Papers", "{:,}"), ("share", "Share", "{:.1%}"), ("interval", "95%", "{}"),
        ("effective", "Effective\nregions", "{}"), ("outside_home", "Outside\nhome", "{:.0%}"),
    ]  # fmt: skip
    title = "Facilities by papers that mention them"
    styles = [drawn.get(name) for name in table["label"]]
    return Ranking.of_table(title, "Facility", table, columns, styles=styles)


def _region_ranking(analysis: Analysis, facility: str) -> tuple[Ranking, list[int]]:
    """Rank regions by the share of papers with a facility; return the table and the topic ids."""
    regions = analysis.tables["regions"]
    own = regions[(regions["facility"] == facility) & (regions["papers"] >= _FEWEST)]
    overall = own["papers"].sum() / max(own["region_papers"].sum(), 1)
    own = own[own["share"] >= overall]
    own = own.sort_values(["share_low", "topic_id"], ascending=[False, True])
    own = own.assign(interval=[_interval(row, digits=0) for _, row in own.iterrows()])
    columns = [
        ("papers", "Papers", "{:,}"), ("region_papers", "of", "{:,}"),
        ("share", "Share", "{:.0%}"), ("interval", "95%", "{}"),
    ]  # fmt: skip
    title = f"{clean_name(facility)}: regions with the largest shares"
    ranking = Ranking.of_table(title, "Region, sorted by the lower bound", own, columns)
    return ranking, own["topic_id"].astype(int).tolist()


def _key_numbers(row: Any) -> str:
    """Summarize a facility in one sentence, with intervals and denominators."""
    parts = [
        f"{row['papers']:,} of {row['corpus_papers']:,} papers mention {row['facility']} "
        f"({percent(row['share'])}, 95% interval {_interval(row)})"
    ]
    if row["effective_regions"] == row["effective_regions"]:
        parts.append(f"spread over {_number(row['effective_regions'])} effective regions")
    if row["outside_home"] == row["outside_home"]:
        parts.append(
            f"{percent(row['outside_home'], digits=0)} of its papers with a known field are "
            "outside the main research fields of the facility"
        )
    return "; ".join(parts) + "."


def _describe(analysis: Analysis) -> str:
    """Return the main numbers, for the alternative text."""
    table = analysis.table
    parts = [
        f"{clean_name(str(row['facility']))}"
        f"{', ' + str(row['period']) if 'period' in table else ''}: {row['papers']:,} papers, "
        f"{percent(row['share'])}"
        for _, row in table.head(_FACILITIES_DESCRIBED).iterrows()
    ]
    if len(table) == 1:
        ranking, _ = _region_ranking(analysis, str(table["facility"].iloc[0]))
        parts += [
            f"{clean_name(row.name)} {row.numbers[2]}" for row in ranking.rows[:_REGIONS_DESCRIBED]
        ]
    return f"{'; '.join(parts)}."


def percent(share: Any, *, digits: int = 1) -> str:
    """Format a share in per cent, or a missing share as a dash."""
    return f"{share:.{digits}%}" if share == share else "–"


def _number(value: Any) -> str:
    """Format a number with two or three digits, or a missing number as a dash."""
    return "–" if value != value else f"{value:.0f}" if value >= 10 else f"{value:.1f}"


def _interval(row: Any, *, digits: int = 1) -> str:
    """Format the interval of a share, in per cent."""
    low, high = row["share_low"], row["share_high"]
    return f"{100 * low:.{digits}f}–{100 * high:.{digits}f}" if low == low else "–"
