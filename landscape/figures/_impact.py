"""Share of the local literature that uses a facility (figure 8 of Iyer et al. 2024)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Unpack

import numpy as np
from numpy.typing import NDArray

from landscape._wording import join_names
from landscape.errors import InputError
from landscape.figures._trends import share_panel
from landscape.figures.caption import Caption, caption_of
from landscape.figures.colours import fade, pick, share_ramp, theme
from landscape.figures.export import figure
from landscape.figures.labels import clean_name
from landscape.figures.maps import (
    add_few_names,
    add_names,
    chosen_topics,
    fitted_page,
    map_panel,
    map_panels,
    positions,
)
from landscape.figures.page import BESIDE, Key, LegendEntry, Page, PageOptions, Ranking
from landscape.figures.scene import (
    Bools,
    Box,
    ColourBar,
    Floats,
    Hatched,
    Image,
    Lines,
    Panel,
    Points,
    Rule,
    Scene,
)
from landscape.mapping.density import (
    DensityGrid,
    contour_lines,
    default_bandwidth,
    highest_density_levels,
)
from landscape.overlays.missions import measure_usage
from landscape.overlays.missions.measures import ShareMap, share_map
from landscape.overlays.missions.usage import Usage, format_period, in_period, read_usage
from landscape.overlays.periods import describe_corpus, format_spans

if TYPE_CHECKING:
    import pandas as pd

    from landscape.corpus import Facility
    from landscape.store import AtlasStore
    from landscape.types import Analysis

    Ints = NDArray[np.int64]

_DRAWN, _PANELS = 9, 24
_NAMES_IN_PANEL = 0.9  # names per square inch of a small map
_MIN_PAPERS = 3  # minimum number of papers of a facility in a ranked region
_CELL = 2.2  # cell size of a share map, in points
_COARSE, _HOTTEST = 4, 0.2  # cells of a reserved box; maximum share of the map in hot spots
_TOPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.0)
# A share map is transparent where the kernel contains fewer than _SEEN papers, and opaque where it
# contains at least _SOLID papers.
_SEEN, _SOLID = 2.0, 12.0
_SMOOTHED = 3  # minimum half-width of hatched areas, in cells
_ON_SCALE = 0.9  # share of the papers of a facility at places within the colour scale
_STRONG = 0.4  # minimum share at a named peak, relative to the upper limit of the colour scale
_DIFFERENT_MIX = 0.05  # relative change of a share at a constant mix, from which it is drawn
_BEFORE = 5  # years before first light on a chart
_CHART = (100.0, 250.0)  # height of the chart of years, in points
_OUTLINE = 0.55  # line width in points
_SHARES = (
    "Colours: share of the papers nearby, shrunk towards the overall share where papers are few."
)


@dataclass(frozen=True)
class View:
    """Heading of one map, papers of its period, and papers that use its facility."""

    heading: str
    counts: str
    inside: Bools
    uses: Bools


@figure
def impact(
    atlas: AtlasStore,
    *,
    analysis: Analysis | None = None,
    facilities: str | Sequence[str] | None = None,
    since: int | None = None,
    until: int | None = None,
    multiples: bool = False,
    slices: Sequence[tuple[int, int]] | None = None,
    n_resamples: int = 1000,
    **look: Unpack[PageOptions],
) -> Scene:
    """Draw the share of the local literature that uses facilities.

    For one facility, draw its share map, a table of the regions with the largest shares, and its
    share by year. For several facilities, draw a small share map for each, with the same colour
    scale.

    Parameters
    ----------
    atlas : AtlasStore
    analysis : Analysis, optional
        Known result of `landscape.overlays.missions.impact`, which is then not computed again.
    facilities : str or sequence of str, optional
        Names or aliases; by default the nine most used facilities.
    since, until : int, optional
        First and last year, both included.
    multiples : bool, default False
        Draw a small map without a table also for one facility.
    slices : sequence of (int, int), optional
        Draw a share map for each facility and each of these periods, with the same colour scale.
    n_resamples : int, default 1000
        Bootstrap samples for the intervals of the table.
    **look
        ``colours``, ``size_inches``, ``title``, ``raster_dpi`` and ``ax``; see
        `landscape.figures.heatmap`. ``ax`` cannot be combined with several maps.

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
    if analysis is not None:
        usage = read_usage(atlas, analysis.table["facility"].drop_duplicates().tolist())
    else:
        usage = read_usage(atlas, facilities)
        if facilities is None:
            usage = replace(usage, facilities=usage.facilities[:_DRAWN], rows=usage.rows[:_DRAWN])
        analysis = measure_usage(
            atlas, usage, since=since, until=until, slices=slices, n_resamples=n_resamples
        )
    x, y, _ = _papers_on_map(atlas)
    windows: list[tuple[int | None, int | None]] = [(since, until)]
    if slices is not None:
        windows = [(int(first), int(last)) for first, last in slices]
    labels = [format_period(*window) for window in windows]
    if not all(label in analysis.caption for label in labels):
        raise InputError(
            f"The analysis is not of {', '.join(labels)}; pass the period that it was made for."
        )
    views = views_of(usage, windows)
    if len(views) > _PANELS:
        raise InputError(f"{len(views)} maps do not fit on a page; choose at most {_PANELS}.")
    if look.get("ax") is not None and len(views) > 1:
        raise InputError(f"{len(views)} maps do not fit into one ax; choose one facility.")
    alone = len(views) == 1 and not multiples
    size = fitted_page(x, y, len(views), beside=BESIDE if alone else 0.0)
    names = join_names([clean_name(facility.name) for facility in usage.facilities])
    names = names if len(usage.facilities) <= 4 else f"{len(usage.facilities)} facilities"
    period = format_period(*windows[0]) if slices is None else ""
    when = f", {period}" if period not in ("", "all years") else ""
    title = f"Impact of {names} on the literature{when}"
    caption = _write_bounds(atlas, analysis, views, usage, title=title)
    line = {"colour": theme(look.get("colours", "light")).ink, "width": _OUTLINE}
    legend = [LegendEntry("line around half of the facility's papers", line)]
    page = Page(caption, look, size=size, has_key=True, legend=legend)
    numbers = "; ".join(f"{clean_name(view.heading)}: {view.counts}" for view in views)
    if alone:
        numbers += f". {_draw_alone(page, atlas, views[0], analysis, usage.facilities[0])}"
    else:
        _draw_panels(page, atlas, views)
    words = caption.describe("Map of the impact of facilities.", f"{numbers}.")
    return page.scene(alt_text=words, table=analysis.table)


def _papers_on_map(atlas: AtlasStore) -> tuple[Floats, Floats, Ints]:
    """Return the positions and the regions of the papers."""
    return (*positions(atlas.map["x"], atlas.map["y"]), atlas.map["topic_id"].to_numpy())


def _write_bounds(
    atlas: AtlasStore, analysis: Analysis, views: Sequence[View], usage: Usage, *, title: str
) -> Caption:
    """Return a caption with numbers, a note on how to read the maps, and limitations."""
    corpus, row = describe_corpus(atlas), analysis.table.iloc[0]
    first = f"{describe_corpus(atlas, with_size=True)}."
    if len(views) == 1:
        first = (
            f"{row['papers']:,} of {row['corpus_papers']:,} papers of {corpus} {usage.verb} "
            f"{row['facility']}: {percent(row['share'])} (95% interval {_interval(row)}%)"
        )
        light = usage.facilities[0].first_light
        if 0 < row["corpus_since"] < row["corpus_papers"]:
            low, high = 100 * row["share_since_low"], 100 * row["share_since_high"]
            first += (
                f", and {percent(row['share_since'])} ({low:.1f}–{high:.1f}%) of the "
                f"{row['corpus_since']:,} papers since first light in {light:%B %Y}"
            )
        first += "."
    caption = limits_first(caption_of(analysis), usage)
    rest = [sentence for sentence in caption.sentences if not sentence.startswith("Bridges")]
    n_gaps = bool(usage.years.in_part)
    jumps = usage.years.warnings[n_gaps:]
    rest = [sentence for sentence in rest if sentence not in jumps]
    if len(views) == 1 and _mix_matters(analysis.tables["years"]):
        jumps = (*jumps, "Thin line: share at a constant mix of categories.")
    gaps, n_front = rest[:n_gaps], n_gaps + len(usage.lists)
    sentences = [first, *rest[n_gaps:n_front], *jumps, *gaps, _SHARES, *rest[n_front:]]
    return replace(caption, head=f"{title}.", sentences=sentences)


def _sources(usage: Usage) -> list[str]:
    """Return short sentences on the lists that decide, for what, and how the text agrees."""
    found = []
    for number, of in usage.lists.items():
        both, only_list, only_text = of.agreement()
        agrees = f"; the text finds {both:,} of {both + only_list:,}, and {only_text:,} others"
        found.append(
            f"{usage.facilities[number].name}: list {of.name} in {of.since}–{of.until} "
            f"({percent(of.scope.mean())} of the papers{agrees}), list and text elsewhere."
        )
    return found


def limits_first(caption: Caption, usage: Usage) -> Caption:
    """Move the sentence on hatched years to the front, because long captions are cut.

    Shorter sentences on the lists follow it and replace those of the analysis.
    """
    gaps = usage.years.warnings[:1] if usage.years.in_part else ()
    names = [f"the list {of.name}" for of in usage.lists.values()]
    kept = [one for one in caption.sentences if not any(name in one for name in names)]
    first = [one for one in kept if one in gaps]
    others = [one for one in kept if one not in gaps]
    return replace(caption, sentences=[*first, *_sources(usage), *others])


def views_of(usage: Usage, windows: Sequence[tuple[int | None, int | None]]) -> list[View]:
    """Return one view for each facility and period; slices omit years covered in part."""
    views = []
    gaps = usage.years.years[~usage.years.covered]
    for index, facility in enumerate(usage.facilities):
        for since, until in windows:
            inside = in_period(usage, since, until)
            if len(windows) > 1:
                inside &= ~np.isin(usage.year, gaps)
            uses = usage.uses(index) & inside
            low, high = -np.inf if since is None else since, np.inf if until is None else until
            missed = format_spans(gaps[(gaps >= low) & (gaps <= high)])
            counts = f"{int(uses.sum()):,} of {int(inside.sum()):,} papers"
            if not inside.any():
                counts = f"covered in part: {', '.join(missed)}"
            elif missed and len(windows) > 1:
                counts += f", without {', '.join(missed)}"
            name = facility.name if len(usage.facilities) > 1 or len(windows) == 1 else ""
            period = str(since) if since == until else format_period(since, until)
            period = period if len(windows) > 1 else ""
            views.append(View(", ".join(filter(None, [name, period])), counts, inside, uses))
    return views


# -- layouts: one share map, or a small map for each view


def _draw_alone(page: Page, atlas: AtlasStore, view: View, analysis: Analysis, of: Facility) -> str:
    """Draw one map, a table of regions and a chart of years; return the first regions in words."""
    import pandas as pd

    box, column = page.divided()
    regions = chosen_topics(atlas.topics, levels=(1,))
    x, y, topic_id = _papers_on_map(atlas)
    panel = map_panel(page, box, x, y, include=regions, border=6 * page.scale, reach=_reach(x, y))
    (found,), everywhere = share_maps(page, panel, x, y, [view])
    top = scale_top([found])
    add_shares(page, panel, found, top, everywhere=everywhere)
    page.write_key(share_key(page, top))
    ranking, ranked = _region_ranking(analysis, of.name)
    if column is not None:
        left, bottom, right, upper = column
        needed = (11 * len(ranking.rows) + 70) * page.scale
        low, high = (length * page.scale for length in _CHART)
        cut = bottom + min(max(low, upper - bottom - needed), high)
        page.write_ranking(ranking, (left, cut, right, upper))
        draw_years(page, (left, bottom, right, cut), analysis.tables["years"], of)
    own = analysis.tables["regions"]
    _add_region_dots(page, panel, own[(own["facility"] == of.name) & (own["papers"] > 0)], top)
    peaks = name_peaks(found, x[view.uses], y[view.uses], topic_id[view.uses], regions, top)
    order = list(dict.fromkeys([*ranked, *regions["topic_id"]]))
    others = regions.set_index("topic_id").loc[order].reset_index()
    others = others[~others["topic_id"].isin(peaks["topic_id"])]
    named = [part for part in (peaks, others) if len(part)] or [others]
    add_names(
        page,
        panel,
        pd.concat(named),
        reserved=spot_boxes(panel, found, top),
        emphasized=peaks["topic_id"].tolist(),
    )
    # Names that are not at their spots need leader lines.
    panel.layers[-1] = replace(panel.layers[-1], leader_colour=page.colours.ink)
    return "; ".join(f"{clean_name(row.name)} {row.numbers[2]}" for row in ranking.rows[:5])


def name_peaks(
    found: ShareMap, x: Floats, y: Floats, topic_id: Ints, regions: pd.DataFrame, top: float
) -> pd.DataFrame:
    """Name the peaks of a share map after the regions of the facility's papers near them."""
    from scipy.ndimage import maximum_filter

    (x0, y0, x1, y1), (n_rows, n_columns) = found.extent, found.share.shape
    size = max(3, round(3 * found.bandwidth / (x1 - x0) * n_columns))
    spots = _spots(found, top)
    (seen, _), (held, _) = spots
    marked = [(grid == maximum_filter(grid, size)) & (grid >= least) for grid, least in spots]
    peaks = np.argwhere(marked[0] | marked[1])
    places: dict[int, tuple[float, float]] = {}
    # The place with the largest share is named first, then those of the most papers.
    first = seen[tuple(peaks.T)] == seen.max(initial=0)
    for row, column in peaks[np.lexsort((-held[tuple(peaks.T)], ~first))]:
        at = x0 + (column + 0.5) * (x1 - x0) / n_columns, y0 + (row + 0.5) * (y1 - y0) / n_rows
        near = np.hypot(x - at[0], y - at[1]) < 2 * found.bandwidth
        ids, counts = np.unique(
            topic_id[near & np.isin(topic_id, regions["topic_id"])], return_counts=True
        )
        for topic in ids[np.argsort(-counts)][: int((counts >= _MIN_PAPERS).sum())].tolist():
            if topic not in places:
                places[topic] = at
                break
    named = regions.set_index("topic_id").loc[list(places)].reset_index()
    return named.assign(x=[at[0] for at in places.values()], y=[at[1] for at in places.values()])


def _spots(found: ShareMap, top: float) -> list[tuple[Floats, float]]:
    """Return shares and papers of a facility on a grid, each with the least value of a hot spot."""
    seen = np.where(found.papers >= (_SEEN + _SOLID) / 2, found.share, 0.0)
    held = found.facility_papers
    half = highest_density_levels(DensityGrid.of_window(found.extent, held), (0.5,))[0]
    return [(seen, _STRONG * top), (held, half)]


def spot_boxes(panel: Panel, found: ShareMap, top: float) -> Floats:
    """Return boxes on the page that cover the hot spots of a share map, shape (n, 4)."""
    (seen, strong), (held, half) = _spots(found, top)
    known = seen[seen > 0]
    strong = max(strong, float(np.quantile(known, 1 - _HOTTEST))) if len(known) else strong
    hot = ((seen >= strong) | (held >= half)) & (found.papers >= _SEEN) & (found.share > 0)
    left, bottom, right, top_edge = panel.box
    side = np.array([right - left, top_edge - bottom]) / np.array(hot.shape[::-1]) * _COARSE
    corners = np.argwhere(hot[_COARSE // 2 :: _COARSE, _COARSE // 2 :: _COARSE])[:, ::-1] * side
    corners = corners + np.array([left, bottom])
    pad = 0.3 * side
    return np.hstack([corners - pad, corners + side + pad])


def _add_region_dots(page: Page, panel: Panel, regions: pd.DataFrame, top: float) -> None:
    """Add dots with hover texts for the browser; their size shows the number of papers."""
    ramp, share = share_ramp(page.colours), regions["share"].to_numpy(float)
    size = 4 + 12 * np.sqrt(regions["papers"].to_numpy(float) / max(1, regions["papers"].max()))
    panel.layers.append(
        Points(
            x=regions["x"].to_numpy(float),
            y=regions["y"].to_numpy(float),
            size=size,
            colour=pick(ramp, share / top),
            edge=page.colours.ink,
            edge_width=0.5,
            gid="regions",
            screen=True,
            bar=ColourBar("share", share, (0.0, top), ramp),
            hover=[
                f"{row.label}\n{row.papers:,} of {row.region_papers:,} papers: {row.share:.1%} "
                f"({row.share_low:.1%} to {row.share_high:.1%})"
                for row in regions.itertuples()
            ],
        )
    )


def _reach(x: Floats, y: Floats) -> float:
    """Return the distance to which the smoothed papers of a map can be seen."""
    return 2 * default_bandwidth(x, y)


def _draw_panels(page: Page, atlas: AtlasStore, views: Sequence[View]) -> None:
    """Draw a small share map per view."""
    x, y, topic_id = _papers_on_map(atlas)
    boxes = page.tiled(len(views))
    panels = map_panels(page, boxes, x, y, reach=_reach(x, y))
    found, everywhere = share_maps(page, panels[0], x, y, views)
    top, regions = scale_top(found), chosen_topics(atlas.topics, levels=(1,))
    left, bottom, right, upper = boxes[0]
    most = round(_NAMES_IN_PANEL * (right - left) * (upper - bottom) / (72 * page.scale) ** 2)
    for view, panel, shares in zip(views, panels, found, strict=True):
        add_shares(page, panel, shares, top, everywhere=everywhere)
        its = x[view.uses], y[view.uses], topic_id[view.uses]
        peaks = name_peaks(shares, *its, regions, top)
        add_few_names(page, panel, peaks, most=max(4, most), size=7.0, reach=9 * page.scale)
        page.write_heading(panel.box, view.heading, view.counts)
    page.write_key(share_key(page, top))


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
    """Return the upper limit of the colour scale, a round number.

    At least `_ON_SCALE` of the papers of the facilities are at places with smaller shares.
    """
    weights = np.concatenate(
        [
            (shown / max(shown.sum(), 1e-9)).ravel()
            for shown in (
                found.facility_papers * fade(found.papers, _SEEN, _SOLID) for found in maps
            )
        ]
    )
    shares = np.concatenate([found.share.ravel() for found in maps])
    order = np.argsort(shares)
    held = np.cumsum(weights[order])
    if not held[-1] > 0:
        return max((found.overall for found in maps), default=0.0) or _TOPS[0]
    high = shares[order][int(np.searchsorted(held, _ON_SCALE * held[-1]))]
    return next((top for top in _TOPS if top >= 0.999 * high), 1.0)


def share_key(page: Page, top: float) -> Key:
    """Return the colour key of the share maps on a page, with round values."""
    values = [top * part for part in (0.0, 0.05, 0.1, 0.2, 0.5, 1.0)]
    squares = [
        (
            f"{'≥' * (top == value < 1)}{100 * value:.3g}%",
            tuple(pick(share_ramp(page.colours), value / top).tolist()),
        )
        for value in values
    ]
    hatched = any(isinstance(layer, Hatched) for panel in page.panels for layer in panel.layers)
    return Key(f"Share of nearby papers{' (hatched: too few papers)' * hatched}", squares)


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
        hatched = Hatched(
            where=not_covered(found, everywhere),
            extent=found.extent,
            colour=page.colours.faint,
            gid="not covered",
        )
        panel.layers.extend([hatched] if hatched.where.any() else [])
    if outline and found.facility_papers.sum() > 0:
        grid = DensityGrid.of_window(found.extent, found.facility_papers)
        lines = contour_lines(grid, *highest_density_levels(grid, (0.5,)))
        panel.layers.append(
            Lines(
                lines=lines,
                colour=page.colours.ink,
                width=_OUTLINE * page.scale,
                gid="half",
                order=1.6,
            )
        )


def share_pixels(found: ShareMap, top: float, ramp: Floats) -> Floats:
    """Return the colours of a share map with opacity, shape (rows, columns, 4)."""
    return np.dstack([pick(ramp, found.share / top), fade(found.papers, _SEEN, _SOLID)])


def not_covered(found: ShareMap, everywhere: ShareMap) -> Bools:
    """Return a mask of cells with papers of the corpus, but almost none of the period."""
    from scipy.ndimage import binary_opening

    bare = (everywhere.papers >= _SOLID) & (found.papers < _SEEN)
    return np.asarray(binary_opening(bare, iterations=_SMOOTHED), dtype=bool)


# -- tables and numbers


def _region_ranking(analysis: Analysis, facility: str) -> tuple[Ranking, list[int]]:
    """Rank regions by the share of papers with a facility; return the table and the topic ids."""
    regions = analysis.tables["regions"]
    own = regions[(regions["facility"] == facility) & (regions["papers"] >= _MIN_PAPERS)]
    overall = own["papers"].sum() / max(own["region_papers"].sum(), 1)
    own = own[own["share"] >= overall]
    own = own.sort_values(["share_low", "topic_id"], ascending=[False, True])
    own = own.assign(interval=[_interval(row, digits=0) for _, row in own.iterrows()])
    columns = [
        ("papers", "Papers", "{:,}"),
        ("region_papers", "Of all", "{:,}"),
        ("share", "Share", "{:.0%}"),
        ("interval", "95%\ninterval", "{}"),
    ]
    title = "Regions with the largest shares"
    ranking = Ranking.of_table(title, "Region, sorted by the lower bound", own, columns)
    ranking = replace(ranking, notes=[_LOCAL])
    return ranking, own["topic_id"].astype(int).tolist()


_LOCAL = "The colours of the map are local: a part of a region can have a larger share."


def _mix_matters(years: pd.DataFrame) -> bool:
    """Return whether a share at a constant mix of categories differs by more than a twentieth."""
    covered = years[years["covered"] & (years["share"] > 0)]
    return bool((np.abs(covered["share_constant"] / covered["share"] - 1) > _DIFFERENT_MIX).any())


def draw_years(page: Page, box: Box, years: pd.DataFrame, of: Facility) -> None:
    """Draw the share of papers by year with intervals; hatch years that are not covered."""
    scale, (left, bottom, right, top) = page.scale, box
    since = years["year"] >= of.first_light.year - _BEFORE
    years = years[since] if since.sum() > _BEFORE else years
    begins = np.flatnonzero(years["covered"].to_numpy(dtype=bool))[:1]
    years = years.iloc[max([0, *(begins - 1).tolist()]) :]  # one year that is not covered is enough
    page.write(
        "Share of all papers by year", left, top - 9 * scale, size=9, weight="bold", gid="heading"
    )
    panel = share_panel(
        page,
        (left + 24 * scale, bottom + 14 * scale, right, top - 16 * scale),
        years.rename(
            columns={"low": "share_low", "high": "share_high"}
            | ({"share_constant": "fitted"} if _mix_matters(years) else {})
        ),
        colour=page.colours.found,
        gid="years",
        n_ticks=4,
    )
    first = of.first_light.year + of.first_light.month / 12 - 0.5
    if panel.x.limits[0] < first < panel.x.limits[1]:
        panel.layers.append(
            Rule(
                x=first,
                colour=page.colours.ink,
                width=0.7 * scale,
                dashes="dotted",
                label="first light",
                gid="first light",
            )
        )
    if not years["covered"].all():
        page.hatching_key(right, top - 9 * scale, "years covered in part")


def percent(share: float, *, digits: int = 1) -> str:
    """Format a share in per cent, or a missing share as a dash."""
    return f"{share:.{digits}%}" if share == share else "–"


def _interval(row: pd.Series, *, digits: int = 1) -> str:
    """Format the interval of a share, in per cent."""
    low, high = row["share_low"], row["share_high"]
    return f"{100 * low:.{digits}f}–{100 * high:.{digits}f}" if low == low else "–"
