"""Layers of maps, such as the density of papers, region names and symbols of papers."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from landscape._wording import count
from landscape.errors import InputError
from landscape.figures.areas import choose_colours, count_borders, find_areas
from landscape.figures.caption import levels_of
from landscape.figures.colours import Theme, Tones, pick, series, shade
from landscape.figures.labels import capitals, clean_name, line_breaks, place_labels
from landscape.figures.page import SIZE_INCHES, Key, LegendEntry, Page
from landscape.figures.scene import (
    Axis,
    Bools,
    Box,
    Floats,
    Image,
    Name,
    Names,
    Panel,
    Points,
    padded_range,
)
from landscape.mapping.density import count_grid

if TYPE_CHECKING:
    import pandas as pd

    from landscape.store import AtlasStore

FEW = 40  # maximum number of numbered papers; if there are more papers, symbols are smaller
_NUMBER_POINTS, _SMALL_POINTS = 7.4, 6.4  # font sizes of numbers for few and for many papers
_DOT, _DIAMOND = 5.2, 6.4  # symbol sizes in points for few papers
_ALONGSIDE = 8.0  # maximum distance between a number without leader line and its symbol
_REGION, _CONTINENT = 8.6, 10.5  # font sizes of names
_PROPOSED = 2  # level of a proposed region; levels 0 and 1 are continents and regions
_GROWTH = (0.82, 1.45)  # limits of the growth of letters with the papers of a topic
_FADED = 0.7  # exponent: below 1, sparse places keep more of the colour of their region
_DEEPEST = 0.72  # share of the colour of a region where papers are the most dense
_KERNEL = 0.13  # width of the widest smoothing kernel in inches, for 4,000 papers
_PIXELS_PER_CELL = 3  # of the grid of the colours of regions
_LEADING = 1.08  # distance between the lines of a name, in font sizes
_CELL = 2.0  # cells in which the places of names are searched, in points
_PADDING = 4  # cells around a name inside its place
_LEAST_INSIDE = 0.7  # minimum share of the name of a further place inside its borders
_LONGEST = 16.0  # maximum width of a name that can be broken into lines, in heights
_MAX_POINTED_AT = 18_000  # maximum number of papers with hover texts in the browser


def positions(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """Return the positions of the papers as float arrays; raise InputError if any is invalid."""
    across, up = (np.asarray(values, dtype=np.float64).ravel() for values in (x, y))
    if len(across) != len(up):
        raise InputError(
            f"The map has {len(across):,} x and {len(up):,} y coordinates. Every paper needs both."
        )
    if not len(across):
        raise InputError("Nothing to plot: the map has no papers. Build it first.")
    broken = int((~(np.isfinite(across) & np.isfinite(up))).sum())
    if broken:
        raise InputError(
            f"{broken:,} of {len(across):,} map positions are not finite numbers. "
            "Build the map again, or remove these papers."
        )
    return across, up


def chosen_topics(topics: pd.DataFrame | None, *, levels: Sequence[int]) -> pd.DataFrame:
    """Choose the topics to name: continents first, then regions by their number of papers."""
    import pandas as pd

    columns = ["topic_id", "label", "x", "y", "n_papers"]
    if topics is None or topics.empty:
        return pd.DataFrame({"level": [], **{column: [] for column in columns}})
    missing = [column for column in columns if column not in topics]
    if missing:
        raise InputError(
            f"The table of topics lacks {', '.join(missing)}. It needs the columns "
            f"{', '.join(columns)}."
        )
    table = topics.assign(level=levels_of(topics))
    table = table[table["level"].isin(list(levels)) & np.isfinite(table["x"] + table["y"])]
    # The only region of a small corpus can have the name of its continent, which is named once.
    repeated = (table["level"] > 0) & table["label"].isin(table.loc[table["level"] == 0, "label"])
    table = table[~repeated]
    order = ["level", "n_papers", "topic_id"]
    return table.sort_values(order, ascending=[True, False, True]).reset_index(drop=True)


# -- the panel


def map_panel(
    page: Page,
    box: Box,
    x: Floats,
    y: Floats,
    *,
    include: pd.DataFrame | None = None,
    border: float | None = None,
    framed: bool = False,
    reach: float = 0.0,
) -> Panel:
    """Add a map panel that shows all papers except outliers, and all positions in `include`.

    `reach` is the distance, in units of the map, to which smoothed papers spread.
    """
    low, high = [], []
    for values, column in ((x, "x"), (y, "y")):
        least, most = padded_range(values)
        more = [] if include is None else [float(one) for one in include[column]]
        low.append(min([least, *more]) - reach)
        high.append(max([most, *more]) + reach)
    sides = np.array([box[2] - box[0], box[3] - box[1]])
    border = 1.2 * page.margin if border is None else border
    border = min(border, 0.2 * float(sides.min()))
    centre = (np.array(low) + np.array(high)) / 2
    span = np.array(high) - np.array(low)
    # Even if all papers have the same position, the window is wide enough for float32.
    span = np.maximum(span, 1e-3 * max(1.0, float(np.abs(centre).max())))
    half = float((span / (sides - 2 * border)).max()) * sides / 2
    (x0, y0), (x1, y1) = centre - half, centre + half
    return window(page, box, (float(x0), float(y0), float(x1), float(y1)), framed=framed)


def map_panels(
    page: Page,
    boxes: Sequence[Box],
    x: Floats,
    y: Floats,
    *,
    include: pd.DataFrame | None = None,
    reach: float = 0.0,
) -> list[Panel]:
    """Add framed map panels to the page, which all show the same area."""
    border = 8 * page.scale
    first = map_panel(
        page, boxes[0], x, y, include=include, border=border, framed=True, reach=reach
    )
    return [first, *(window(page, box, first.extent, framed=True) for box in boxes[1:])]


def window(page: Page, box: Box, extent: Box, *, framed: bool = False) -> Panel:
    """Add a map panel that shows a given area (`extent`) to the page."""
    x0, y0, x1, y1 = extent
    edge = "box" if framed else "none"
    return page.add(Panel(box, Axis((x0, x1)), Axis((y0, y1)), gid="map", edge=edge))


def map_box(box: Box, x: Floats, y: Floats, *, least: float = 0.5) -> Box:
    """Reduce the height of a box to fit the map, but not below `least` times its width."""
    left, bottom, right, top = box
    spans = [float(np.subtract(*np.quantile(values, [0.9995, 0.0005]))) for values in (x, y)]
    shape = spans[1] / spans[0] if spans[0] > 0 else 1.0
    height = (right - left) * float(np.clip(shape, least, 10.0))
    return left, max(bottom, round(top - height, 2)), right, top


# -- the density


def fitted_page(x: Floats, y: Floats, n: int, *, beside: float = 0.0) -> tuple[float, float]:
    """Return the size in inches of a page without empty margins around `n` maps."""
    least = n if n < 4 else math.ceil(math.sqrt(n))
    columns = min((least, least + (n > 6)), key=lambda columns: -n % columns)
    width = 72 * SIZE_INCHES[0] * (1 - beside) / columns - 16
    map_height, height = -map_box((0.0, -1e6, width, 0.0), x, y)[1], SIZE_INCHES[1]
    for _ in range(4):  # the height of titles and captions depends on the size of the page
        scale = math.sqrt(max(SIZE_INCHES[0] * height / 93.5, 0.64))
        height = (math.ceil(n / columns) * (map_height + 20 * scale) + 98 * scale) / 72
    return SIZE_INCHES[0], float(np.clip(height, 3.0, 16.0))


def add_density(
    page: Page,
    panel: Panel,
    x: Floats,
    y: Floats,
    *,
    specks: bool = False,
    dpi: float | None = None,
    regions: NDArray[np.int64] | None = None,
) -> Tones:
    """Draw the density as an image; with `specks`, also draw single papers of a small corpus.

    With the number of the region of each paper (-1: none), each region has its own colour.
    """
    left, bottom, right, top = panel.box
    pixel = 72 / dpi if dpi else page.pixel
    rows, columns = (max(8, round(side / pixel)) for side in (top - bottom, right - left))
    counts = count_grid(x, y, bounds=panel.extent, shape=(rows, columns)).astype(np.float32)
    widest = _KERNEL * page.scale * 72 / pixel
    position, tones = shade(counts, widest=widest, n_papers=len(x), specks=specks)
    picture = ramp_image(position, page.colours.ramp, panel.extent)
    if regions is not None:
        hues = _region_colours(page.colours, x, y, regions, panel.extent, position.shape)
        share = position[..., None] ** _FADED
        mixed = page.colours.ramp[0] * (1 - _DEEPEST * share) + hues * _DEEPEST * share
        picture = replace(picture, pixels=np.round(mixed * 255).astype(np.uint8))
    panel.layers.append(picture)
    return tones


def _region_colours(
    colours: Theme,
    x: Floats,
    y: Floats,
    regions: NDArray[np.int64],
    bounds: Box,
    shape: tuple[int, ...],
) -> Floats:
    """Return the colour of the most frequent region at each pixel, shape (rows, columns, 3)."""
    from matplotlib.colors import to_rgb

    rows, columns = (max(side // _PIXELS_PER_CELL, 8) for side in shape)
    numbers, leader = find_areas(x, y, regions, bounds=bounds, shape=(rows, columns))
    names = np.array([to_rgb(name) for name in series(colours, 7)])
    chosen = choose_colours(count_borders(leader, len(numbers)), [names]) if len(numbers) else []
    palette = names[chosen] if chosen else colours.ramp[:1]
    row, column = np.arange(shape[0]) * rows // shape[0], np.arange(shape[1]) * columns // shape[1]
    return palette[leader[np.ix_(row, column)]]


def ramp_image(position: ArrayLike, ramp: Floats, extent: Box, *, gid: str = "density") -> Image:
    """Return an image of ramp positions from 0 to 1, where row 0 is the lowest row."""
    pixels = pick(np.round(ramp * 255).astype(np.uint8), position)
    return Image(pixels=pixels, extent=extent, gid=gid, order=0.0)


def density_key(page: Page, tones: Tones, *, share_of: float | None = None) -> Key:
    """Return the colour key of a density map, in papers per area of one square of the key.

    If `share_of` is given, the unit is percent of this number of papers.
    """
    area = (11.0 * page.scale / page.pixel) ** 2  # pixels in one square of the key
    area *= 1 if share_of is None else 100 / share_of
    squares = []
    for value in key_values(tones.density(0.10) * area, tones.top * area):
        colour = pick(page.colours.ramp, tones.position(value / area))
        words = f"{value:,.0f}" if value >= 1 else f"{value:.1g}"
        squares.append((words, tuple(colour.tolist())))
    what = "Papers" if share_of is None else "Percent of papers"
    return Key(f"{what} in a square this size", squares)


def key_values(least: float, most: float) -> list[float]:
    """Choose two to six round numbers between two densities."""
    fitting: list[float] = []
    for steps in ((1.0, 10.0), (1.0, 3.0), (1.0, 2.0, 5.0)):
        first, last = math.floor(math.log10(least)), math.ceil(math.log10(most))
        values = {step * 10.0**power for power in range(first, last + 1) for step in steps}
        fitting = sorted(value for value in values if least <= value <= most)
        if len(fitting) >= 4:
            break
    return fitting[-6:] if len(fitting) >= 2 else [least, most]


def add_papers(panel: Panel, atlas: AtlasStore, colours: Theme) -> None:
    """Add hover texts of papers for the browser. In a large corpus, use a random sample."""
    n = len(atlas.map)
    rows = np.arange(n)
    if n > _MAX_POINTED_AT:
        rows = np.sort(np.random.default_rng(0).choice(n, _MAX_POINTED_AT, replace=False))

    def hover() -> list[str]:
        papers = atlas.read_papers(["title", "year"]).iloc[rows]
        return [f"{paper.title} ({paper.year})" for paper in papers.itertuples()]

    at = atlas.map[["x", "y"]].iloc[rows].astype(np.float32)
    panel.layers.append(
        Points(
            x=at["x"],
            y=at["y"],
            size=3.0,
            colour=colours.ink,
            opacity=0.02,
            hover=hover,
            gid="papers",
            screen=True,
            of=n,
        )
    )


# -- names


def add_names(
    page: Page,
    panel: Panel,
    topics: pd.DataFrame,
    *,
    most: int | None = None,
    reserved: Floats | None = None,
    emphasized: Collection[int] | None = None,
    by_papers: bool = False,
) -> Floats:
    """Draw topic names (`emphasized` names in bold); return their boxes, NaN for omitted names."""
    left, bottom, right, top = panel.box
    if most is None:
        share = (right - left) * (top - bottom) / 72**2 / page.scale**2
        most = max(12, round(1.25 * share))
    wanted = topics.head(most)
    growth = [1.0] * len(wanted)
    if by_papers:  # letters grow with the papers, relative to the topics of the same level
        middle = wanted.groupby("level")["n_papers"].transform("median")
        growth = ((wanted["n_papers"] / middle) ** 0.3).clip(*_GROWTH).tolist()
    names = [
        _style(row, page.colours, emphasized, size)
        for row, size in zip(wanted.itertuples(), growth, strict=True)
    ]
    return _place(page, panel, wanted, names, reserved=reserved, leaders=emphasized is None)


def add_names_inside(
    page: Page, panel: Panel, places: pd.DataFrame, borders: Mapping[str, Sequence[Floats]]
) -> None:
    """Draw the name of each place inside the borders of its concept, in the largest size that fits.

    If no size fits, the name has the size with the largest share inside. Further places of a
    concept have no name if this share is small.
    """
    cell, (left, bottom, right, top) = _CELL * page.scale, panel.box
    shape = int((top - bottom) / cell) + 1, int((right - left) / cell) + 1
    inside = {
        concept: _rasterize(
            [(panel.to_page(*line.T) - (left, bottom)) / cell for line in lines], shape
        )
        for concept, lines in borders.items()
    }
    nowhere = np.zeros(shape, np.int64)
    at, styles, named = [], [], []
    for row, peak in zip(places.itertuples(), panel.to_page(places["x"], places["y"]), strict=True):
        start, found = (peak - (left, bottom)) / cell, []
        for ways, size, weight, colour in _inside_styles(row, page.colours):
            for lines in ways:
                sides = np.array(_measure(page, lines, size, weight))
                cells = np.ceil(sides / cell).astype(int) + _PADDING
                share, centre = _roomiest(inside.get(row.concept_id, nowhere), cells, start)
                found.append(
                    (share, -np.hypot(*(centre - start)), centre, ([lines], size, weight, colour))
                )
            if any(one[0] == 1 for one in found):
                break
        share, _, centre, style = max(found, key=lambda one: one[:2])
        named.append(not row.level or share >= _LEAST_INSIDE)
        styles.append(style)
        at.append(centre * cell + (left, bottom))
    x, y = panel.to_data(np.array(at).reshape(-1, 2)).T
    styles = [style for style, kept in zip(styles, named, strict=True) if kept]
    places = places.assign(x=x, y=y)[np.array(named, dtype=bool)]
    _place(page, panel, places, styles, reserved=None, leaders=False, reach=1.0)


def _inside_styles(row: Any, colours: Theme) -> list[_Style]:
    """Return the styles of the name of a place, the largest first."""
    large = [_style(row, colours, None, growth) for growth in (1.0, 0.85, 0.72)]
    small = [] if row.level else [_style(row._replace(level=1), colours, None, 1.0)]
    return [*large, *small]


def _rasterize(lines: Sequence[Floats], shape: tuple[int, int]) -> NDArray[np.int64]:
    """Number the connected cells inside closed lines from 1; holes and other cells are 0."""
    from PIL import Image as Pillow
    from PIL import ImageDraw
    from scipy.ndimage import label

    mask = np.zeros(shape, bool)
    for line in lines:
        drawn = Pillow.new("1", shape[::-1])
        ImageDraw.Draw(drawn).polygon([tuple(point) for point in line.tolist()], fill=1)
        mask ^= np.asarray(drawn)
    return np.asarray(label(mask)[0])


def _roomiest(
    numbers: NDArray[np.int64], cells: NDArray[np.int64], peak: Floats
) -> tuple[float, Floats]:
    """Return the largest share of a box inside the piece at `peak`, and the nearest such centre."""
    from scipy.ndimage import uniform_filter

    row, column = np.clip(peak[::-1].astype(int), 0, np.array(numbers.shape) - 1)
    piece = (numbers == numbers[row, column]) & (numbers > 0)
    share = np.round(uniform_filter(piece.astype(float), cells[::-1].tolist(), mode="constant"), 6)
    near = np.argwhere(share == share.max())
    centre = near[np.hypot(*(near - (row, column)).T).argmin()]
    return float(share.max()), (centre[::-1] + 0.5 * (cells % 2)).astype(float)


def add_few_names(
    page: Page,
    panel: Panel,
    topics: pd.DataFrame,
    *,
    most: int,
    size: float,
    reserved: Floats | None = None,
    reach: float = 1.0,
) -> None:
    """Draw the names of the first `most` topics at their peaks, without leader lines."""
    x0, y0, x1, y1 = panel.extent
    inside = topics["x"].between(x0, x1) & topics["y"].between(y0, y1)
    wanted = topics[inside].head(most)
    names = [
        (
            [way.split("\n") for way in line_breaks(clean_name(label))],
            size,
            "normal",
            page.colours.ink,
        )
        for label in wanted["label"]
    ]
    _place(page, panel, wanted, names, reserved=reserved, leaders=False, reach=reach)


_Style = tuple[list[list[str]], float, str, str]  # line breaks, size, weight and colour of a name


def _style(
    row: Any, colours: Theme, emphasized: Collection[int] | None, growth: float = 1.0
) -> _Style:
    ways = [way.split("\n") for way in line_breaks(clean_name(row.label))]
    if emphasized is not None:
        if row.topic_id in emphasized:
            return ways, _REGION, "bold", colours.ink
        return ways, _REGION, "normal", colours.faint
    if row.level == _PROPOSED:
        return ways, _REGION * growth, "bold", colours.apart
    if row.level == 0:
        raised = [[capitals(line) for line in lines] for lines in ways]
        return raised, _CONTINENT * growth, "bold", colours.continent
    return ways, _REGION * growth, "normal", colours.ink


def _measure(page: Page, lines: Sequence[str], size: float, weight: str) -> tuple[float, float]:
    """Return the width and the height of a name in points."""
    extents = [page.extent(line, size=size * page.shrink, weight=weight) for line in lines]
    height = extents[0].ascent + extents[-1].descent
    height += _LEADING * page.points(size * page.shrink) * (len(lines) - 1)
    return max(extent.width for extent in extents), height


def _without_long_lines(page: Page, style: _Style) -> _Style:
    """Omit line breaks that make a name so long that it covers other regions."""
    ways, size, weight, colour = style
    shapes = [np.divide(*_measure(page, lines, size, weight)) for lines in ways]
    kept = [lines for lines, shape in zip(ways, shapes, strict=True) if shape < _LONGEST]
    return kept or ways[-1:], size, weight, colour


def _place(
    page: Page,
    panel: Panel,
    topics: pd.DataFrame,
    styles: Sequence[_Style],
    *,
    reserved: Floats | None,
    leaders: bool,
    reach: float | None = None,
) -> Floats:
    """Place names and add them to the panel."""
    scale = page.scale
    styles = [_without_long_lines(page, style) for style in styles]
    sizes = [
        np.array([_measure(page, lines, size, weight) for lines in ways])
        for ways, size, weight, _ in styles
    ]
    peaks = panel.to_page(topics["x"], topics["y"])
    # Labels about three times as wide as high have the lowest cost.
    shapes = [np.abs(np.log2(size[:, 0] / size[:, 1] / 3.2)) for size in sizes]
    placed = place_labels(
        peaks,
        sizes,
        frame=_frame(page, panel),
        reserved=reserved,
        gap=2.0 * scale,
        reluctance=[0.55 * np.maximum(shape - 0.5, 0) for shape in shapes],
        reach=130 * scale if reach is None else reach,
    )
    names = []
    papers = topics["n_papers"] if "n_papers" in topics else [0] * len(topics)
    hover = [
        f"{label}: {count(int(n), 'paper')}" if n else str(label)
        for label, n in zip(topics["label"], papers, strict=True)
    ]
    for place in np.flatnonzero(placed.shown).tolist():
        ways, size, weight, colour = styles[place]
        lines, box = ways[int(placed.variants[place])], placed.boxes[place]
        first = page.extent(lines[0], size=size * page.shrink, weight=weight).ascent
        points = page.points(size * page.shrink)
        step = _LEADING * points
        leader = placed.leaders[place]
        # Align text to the side where its leader line ends.
        side = "left" if leader[2] == box[0] else "right" if leader[2] == box[2] else "center"
        names.append(
            Name(
                lines,
                box,
                [float(box[3] - first - n * step) for n in range(len(lines))],
                points,
                weight,
                colour,
                f"topic-{topics['topic_id'].iloc[place]}",
                side,
                hover[place],
                (float(peaks[place, 0]), float(peaks[place, 1])),
            )
        )
    panel.layers.append(
        Names(
            names=names,
            leaders=placed.leaders[placed.shown],
            gid="names",
            leader_colour=page.colours.ink if leaders else "",
        )
    )
    return placed.boxes


def _frame(page: Page, panel: Panel) -> Box:
    """Return the box of a panel without a narrow margin."""
    left, bottom, right, top = panel.box
    pad = 3 * page.scale
    return left + pad, bottom + pad, right - pad, top - pad


def label_table(topics: pd.DataFrame, boxes: Floats, panel: Panel, n_papers: int) -> pd.DataFrame:
    """Return the data of the names, one row per topic."""
    centres = np.full((len(topics), 2), np.nan)
    if len(boxes):
        middle = np.column_stack([boxes[:, [0, 2]].mean(axis=1), boxes[:, [1, 3]].mean(axis=1)])
        centres[: len(boxes)] = panel.to_data(middle)
    parent = ["parent_id"] if "parent_id" in topics else []
    whole = ["topic_id", "level", *parent, "n_papers"]
    table = topics[["topic_id", "level", *parent, "label", "x", "y", "n_papers"]].astype(
        {**dict.fromkeys(whole, "int64"), "label": str, "x": float, "y": float}
    )
    words = topics["keywords"] if "keywords" in topics else [()] * len(topics)
    return table.assign(
        share=table["n_papers"] / max(1, n_papers),
        shown=~np.isnan(centres[:, 0]),
        label_x=centres[:, 0],
        label_y=centres[:, 1],
        keywords=[
            few if isinstance(few, str) else "; ".join(map(str, () if few is None else few))
            for few in words
        ],
    )


# -- marked papers


def mark_papers(
    page: Page,
    panel: Panel,
    x: Floats,
    y: Floats,
    *,
    outliers: Bools,
    hover: Sequence[str] = (),
    ranks: Sequence[int] | None = None,
    numbered: Bools | None = None,
    reserved: Floats | None = None,
) -> tuple[Floats, list[int]]:
    """Mark and number the papers, the best on top; return occupied boxes and omitted numbers.

    The numbers are `ranks`, or count from 1; papers that are not `numbered` have none.
    """
    shown = list(ranks if ranks is not None else range(1, len(x) + 1))
    wanted = np.ones(len(x), bool) if numbered is None else numbered
    at, small = panel.to_page(x, y), page.scale * _shrinking(len(x))
    half = small * np.where(outliers, 0.75 * _DIAMOND, 0.5 * _DOT) + 0.6
    dots = np.hstack([at - half[:, None], at + half[:, None]])
    blocked = dots if reserved is None else np.vstack([dots, reserved])
    numbers, leaders = _place_numbers(page, panel, at, blocked, shown, wanted)
    for which, gid, order in ((~outliers, "found", 2.3), (outliers, "apart", 2.4)):
        styles = symbols(page.colours, scale=small)[gid]
        back = np.flatnonzero(which)[::-1].tolist()  # the first paper is on top
        texts = [hover[place] for place in back] if len(hover) else ()
        for number, style in enumerate(styles if which.any() else ()):
            last = number == len(styles) - 1  # the first of two styles is a halo
            panel.layers.append(
                Points(
                    x=x[back],
                    y=y[back],
                    **style,
                    gid=gid,
                    order=order + 0.01 * number,
                    hover=texts,
                    screen=None if last else False,
                    name="outlier" if gid == "apart" else "found",
                )
            )
        size = page.points(_NUMBER_POINTS if len(at) <= FEW else _SMALL_POINTS)
        colour = getattr(page.colours, gid)
        written = [
            Name(
                [str(shown[place])],
                box,
                [float(box[1])],
                size,
                "bold",
                colour,
                f"rank-{shown[place]}",
                peak=(float(at[place, 0]), float(at[place, 1])),
            )
            for place, box in enumerate(numbers)
            if which[place] and np.isfinite(box[0])
        ]
        panel.layers.append(
            Names(
                names=written,
                leaders=leaders[which],
                leader_colour=colour,
                peaks=False,
                gid="ranks",
            )
        )
    placed = ~np.isnan(numbers[:, 0])
    taken = np.concatenate([dots, numbers[placed], _along(leaders)])
    return taken, [shown[place] for place in np.flatnonzero(wanted & ~placed).tolist()]


def symbols(colours: Theme, *, scale: float) -> dict[str, tuple[dict[str, Any], ...]]:
    """Return the symbols for papers found and for outliers (``apart``); halos come first."""
    hollow = {"marker": "D", "size": _DIAMOND * scale, "filled": False}
    dot = {
        "marker": "o",
        "size": _DOT * scale,
        "colour": colours.found,
        "edge": colours.halo,
        "edge_width": 0.7 * scale,
    }
    return {
        "found": (dot,),
        "apart": (
            {**hollow, "colour": colours.halo, "edge_width": 3.0 * scale},
            {**hollow, "colour": colours.apart, "edge_width": 1.5 * scale},
        ),
    }


def legend_of(
    colours: Theme, *, scale: float, n_papers: int, outliers: bool, outlined: int
) -> list[LegendEntry]:
    """Return the legend entries for papers found, outliers and outlines."""
    styles = symbols(colours, scale=scale * _shrinking(n_papers))
    numbered = f"{FEW} best numbered" if n_papers > FEW else "numbered by rank"
    entries = [LegendEntry(f"paper found, {numbered}", styles["found"][-1])]
    if outliers:
        entries.append(LegendEntry("paper found, outlier", styles["apart"][-1]))
    if outlined:
        words = f"region{'' if outlined == 1 else 's'} with most of the papers found"
        entries.append(LegendEntry(words, outline_style(colours, scale)))
    return entries


def own_papers(colours: Theme, scale: float) -> dict[str, Any]:
    """Return the style of the papers of a library, whose colour nothing else on a map has."""
    rim = {"edge": colours.halo, "edge_width": 0.8 * scale}
    return {"size": 5.2 * scale, "colour": colours.apart, "marker": "o", **rim}


def add_own_papers(
    page: Page, panel: Panel, x: Floats, y: Floats, *, hover: Sequence[str] = ()
) -> None:
    """Mark the papers of a library on a map."""
    style = own_papers(page.colours, page.scale * _shrinking(len(x) // 10))
    panel.layers.append(Points(x=x, y=y, gid="library", order=2.2, hover=hover, **style))


def outline_style(colours: Theme, scale: float) -> dict[str, Any]:
    """Return the style of the outline of a region."""
    return {"colour": colours.found, "width": 1.2 * scale, "dashes": "dashed"}


def _shrinking(n: int) -> float:
    """Return the relative size of symbols, which decreases with the number of papers."""
    return float(np.clip((FEW / max(n, 1)) ** 0.3, 0.5, 1.0))


def _place_numbers(
    page: Page, panel: Panel, at: Floats, blocked: Floats, ranks: Sequence[int], wanted: Bools
) -> tuple[Floats, Floats]:
    """Return the boxes and leader lines of the numbers, or NaN for numbers that do not fit."""
    numbers, leaders = np.full((len(at), 4), np.nan), np.full((len(at), 4), np.nan)
    some = np.flatnonzero(wanted)[:FEW]
    size = _NUMBER_POINTS if len(at) <= FEW else _SMALL_POINTS
    extents = [page.extent(str(ranks[place]), size=size, weight="bold") for place in some]
    placement = place_labels(
        at[some],
        [np.array([[extent.width, extent.ascent]]) for extent in extents],
        frame=_frame(page, panel),
        reserved=blocked,
        gap=page.scale,
        clear=0.5,
        reach=200 * page.scale,
        directions=48,
    )
    numbers[some], leaders[some] = placement.boxes, placement.leaders
    alongside = _clearly_alongside(at, at[some], placement.boxes, near=_ALONGSIDE * page.scale)
    leaders[some[alongside]] = np.nan
    return numbers, leaders


def _clearly_alongside(at: Floats, own_at: Floats, boxes: Floats, *, near: float) -> Bools:
    """Return whether each number is near its own symbol and far from others, shape (n,)."""
    nearest = np.clip(at[None], boxes[:, None, :2], boxes[:, None, 2:])
    # distances between numbers and symbols
    away = np.hypot(*np.moveaxis(nearest - at[None], -1, 0))
    own = np.hypot(*(np.clip(own_at, boxes[:, :2], boxes[:, 2:]) - own_at).T)
    elsewhere = np.hypot(*np.moveaxis(own_at[:, None] - at[None], -1, 0)) > 0.5
    others = np.where(elsewhere, away, np.inf).min(axis=1, initial=np.inf)
    return (own <= near) & (others > 1.6 * own)


def _along(leaders: Floats, *, step: float = 3.0) -> Floats:
    """Return small boxes along leader lines. Other labels must not overlap these boxes."""
    boxes = [np.empty((0, 4))]
    for start_x, start_y, end_x, end_y in leaders[~np.isnan(leaders[:, 0])]:
        length = float(np.hypot(end_x - start_x, end_y - start_y))
        along = np.linspace(0, 1, max(2, int(length / step) + 1))[:, None]
        points = np.array([start_x, start_y]) * (1 - along) + np.array([end_x, end_y]) * along
        boxes.append(np.hstack([points - 1, points + 1]))
    return np.concatenate(boxes)


def pieces(table: pd.DataFrame) -> list[NDArray[np.float64]]:
    """Split a table of contours (``piece, order, x, y``) into lines, each of shape (n, 2)."""
    ordered = table.sort_values(["piece", "order"])
    points = ordered[["x", "y"]].to_numpy(dtype=float)
    split = np.split(points, np.flatnonzero(np.diff(ordered["piece"])) + 1)
    return [line for line in split if len(line)]
