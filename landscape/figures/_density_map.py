"""Draw the density of papers on the map (figure 2 of Iyer et al. 2024, ApJS 275, 38)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from landscape._wording import count
from landscape.corpus.thesaurus import MIN_SCORE
from landscape.errors import InputError
from landscape.figures.areas import choose_colours, count_borders, find_areas
from landscape.figures.caption import Caption, alt_text, explanation, facts_of, headline
from landscape.figures.colours import (
    FAINTEST,
    FEW_ENOUGH_TO_SEE,
    STRONGEST,
    THEMES,
    Theme,
    series,
    shade_by_category,
)
from landscape.figures.export import figure
from landscape.figures.labels import clean_name
from landscape.figures.maps import (
    add_density,
    add_names,
    add_own_papers,
    add_papers,
    chosen_topics,
    density_key,
    label_table,
    map_panel,
    positions,
)
from landscape.figures.page import NORMAL, RASTER_DPI, SIZE_INCHES, Key, Page, PageOptions
from landscape.figures.scene import Box, Floats, Image, Panel, Points, Scene
from landscape.mapping.density import count_by_category
from landscape.overlays.library import library_rows
from landscape.overlays.missions.usage import read_usage

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from landscape.store import AtlasStore

_COLOURS = ("density", "regions", "facility", "concept")
_HUES = 7  # number of colours of `series`
# Number of papers from which regions are drawn with datashader: there are then enough papers per
# pixel to see the fine structure and the mixture of regions, which the smoothed drawing hides.
_MANY = 100_000
_SPACING = 0.25  # radius of a dot, relative to the mean distance between dots on a full page
_CELLS = (300, 400)  # rows and columns in which adjacent regions are found
_MAX_BESIDE = 0.4  # width of the legend, relative to the page
_MAX_REACH = 0.02  # largest radius of a dot, in inches


@dataclass(frozen=True)
class Categories:
    """Category of each paper, or -1, and the names and numbers of papers of all categories.

    A paper with several categories is counted in each of them, and has the rarest.
    """

    of_paper: NDArray[np.int64]
    names: Sequence[str]
    papers: Sequence[int]
    sentence: str

    @property
    def numbers(self) -> str:
        """Names and numbers of papers, for the alternative text."""
        pairs = zip(self.names, self.papers, strict=True)
        return f"Papers: {', '.join(f'{name} {papers:,}' for name, papers in pairs)}."


@figure
def heatmap(
    atlas: AtlasStore,
    *,
    colours: str | Theme = "light",
    colour: str = "density",
    levels: Sequence[int] = (0, 1),
    size_inches: tuple[float, float] | None = SIZE_INCHES,
    labels: bool = True,
    max_labels: int | None = None,
    library: str | None = None,
    title: str | None = None,
    raster_dpi: int = RASTER_DPI,
    ax: Axes | None = None,
) -> Scene:
    """Draw the density of the papers of an atlas, with the names of its regions.

    Parameters
    ----------
    atlas : AtlasStore
        Atlas with a map. Its ``topics``, ``quality`` and ``coverage`` are also used.
    colours : {"light", "dark"}, default "light"
        Theme: ``"light"`` for print, ``"dark"`` for screens.
    colour : {"density", "regions", "facility", "concept"}, default "density"
        ``"regions"`` gives each region one of seven colours, which is stronger where there are more
        papers. Neighbours have different colours as far as seven colours allow it.
        ``"facility"`` and ``"concept"`` mix the colours of the papers at each pixel: those that use
        the data of one of the seven most used facilities, or are tagged with one of the seven most
        frequent concepts. Other papers are grey. A paper with several
        facilities or concepts has the colour of the rarest.
    levels : sequence of int, default (0, 1)
        Levels of the topics to name: 0 for continents, 1 for regions.
    size_inches : (float, float), default (11, 8.5)
        Width and height of the page.
    labels : bool, default True
        Whether to draw the names.
    max_labels : int, optional
        Maximum number of names; larger topics have priority. The default depends on the page.
    library : str, optional
        Name of a library, or a file of papers, whose papers are marked in a colour of their own;
        see `library_map`.
    title : str, optional
        Heading above the map; by default the name and the dates of the corpus.
    raster_dpi : int, default 200
        Pixels per inch of the density picture; names are always drawn as text.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into. By default a new page is made.

    Returns
    -------
    Sheet or matplotlib.axes.Axes
        A matplotlib Figure with ``alt_text`` and ``table`` for `save_figure`, or `ax`.

    Raises
    ------
    InputError
        If the colours or `colour` are unknown, the page is too small, the atlas has no map, or it
        has no papers with a facility or a concept.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.heatmap(ls.open("my.atlas"))  # doctest: +SKIP
    """
    look: PageOptions = {"colours": colours, "size_inches": size_inches, "title": title}
    look |= {"raster_dpi": raster_dpi, "ax": ax}
    if colour not in _COLOURS:
        raise InputError(f"colour is {colour!r}; choose {', '.join(_COLOURS)}.")
    x, y = positions(atlas.map["x"], atlas.map["y"])
    facts, chosen = facts_of(atlas), chosen_topics(atlas.topics, levels=levels)
    kinds = _read_categories(atlas, colour)
    specks = len(x) < FEW_ENOUGH_TO_SEE
    own = [kinds.sentence] if kinds else []
    mine = None if library is None else library_rows(atlas, library)
    if mine is not None:
        own.append(f"Dots: {count(len(mine), 'paper')} of your library.")
    caption = Caption(headline(facts), own + explanation(facts, specks=specks), facts.generated)
    page = Page(caption, look, has_key=colour != "regions")
    box = _write_legend(page, kinds) if kinds else page.area
    panel = map_panel(page, box, x, y, include=chosen)
    if kinds is not None:
        panel.layers.append(_mix_colours(page, panel, x, y, kinds.of_paper))
        page.write_key(_strength_key(page.colours))
    elif colour == "regions":
        _add_regions(page, panel, x, y, atlas.map["topic_id"].to_numpy(np.int64))
    else:
        page.write_key(density_key(page, add_density(page, panel, x, y, specks=True)))
    add_papers(panel, atlas, page.colours)
    if mine is not None:
        add_own_papers(page, panel, x[mine], y[mine])
    boxes = add_names(page, panel, chosen, most=max_labels if labels else 0, by_papers=True)
    table = label_table(chosen, boxes, panel, len(x))
    hidden = chosen[(chosen["level"] == 1) & ~table["shown"].to_numpy(dtype=bool)]
    if len(hidden):
        panel.layers.append(
            Points(
                x=hidden["x"].to_numpy(float),
                y=hidden["y"].to_numpy(float),
                size=5.0,
                colour=page.colours.halo,
                edge=page.colours.ink,
                edge_width=1.0,
                gid="regions",
                screen=True,
                hover=[
                    f"{row.label}: {count(row.n_papers, 'paper')}" for row in hidden.itertuples()
                ],
            )
        )
    sentences = own + explanation(
        facts,
        not_shown=int((~table["shown"]).sum()) if labels else 0,
        outside=panel.outside(x, y),
        specks=specks,
    )
    x0, y0, x1, y1 = panel.extent
    seen = chosen.assign(x=(chosen["x"] - x0) / (x1 - x0), y=(chosen["y"] - y0) / (y1 - y0))
    return page.scene(
        alt_text=" ".join([alt_text(facts, seen), *sentences, *([kinds.numbers] if kinds else [])]),
        table=table,
        caption=replace(caption, sentences=sentences),
    )


# -- categories of papers


def _read_categories(atlas: AtlasStore, colour: str) -> Categories | None:
    """Return the facilities or concepts with the most papers, or None for other colours."""
    if colour == "facility":
        usage = read_usage(atlas)
        sets = dict(zip((one.name for one in usage.facilities), usage.rows, strict=True))
        what = f"papers that {usage.verb} the most used facilities"
    elif colour == "concept":
        tags = atlas.read_layer("uat", ["concept_id", "score"])
        tags = tags[tags["score"] >= MIN_SCORE].drop_duplicates(["concept_id", "paper_row"])
        rows = tags.groupby("concept_id", observed=True)["paper_row"]
        known = atlas.thesaurus.concepts
        sets = {known[name].label: own.to_numpy(np.int64) for name, own in rows if name in known}
        what = "papers tagged with the most frequent concepts"
    else:
        return None
    ranked = sorted(sets.items(), key=lambda one: (-len(one[1]), one[0]))[:_HUES]
    ranked = [(name, rows) for name, rows in ranked if len(rows)]
    if not ranked:
        raise InputError(f"The atlas has no papers with a {colour}; choose another colour.")
    of_paper = np.full(len(atlas.map), -1, dtype=np.int64)
    for number, (_, rows) in enumerate(ranked):  # the rarest is last
        of_paper[rows] = number
    sentence = f"Colours: {what}; a paper with several has the colour of the rarest."
    return Categories(
        of_paper, [name for name, _ in ranked], [len(rows) for _, rows in ranked], sentence
    )


def _add_regions(
    page: Page, panel: Panel, x: Floats, y: Floats, regions: NDArray[np.int64]
) -> None:
    """Draw the papers in the colours of their regions; -1 is for papers outside regions."""
    if len(x) < _MANY:
        add_density(page, panel, x, y, specks=True, regions=regions)
        return
    numbers, leader = find_areas(x, y, regions, bounds=panel.extent, shape=_CELLS)
    hues = np.full(int(regions.max()) + 2, -1, dtype=np.int64)  # the last one is for -1
    if len(numbers):
        borders = count_borders(leader, len(numbers))
        hues[numbers] = choose_colours(borders, [_palette(page.colours)[:-1]])
    panel.layers.append(_mix_colours(page, panel, x, y, hues[regions]))


def _palette(colours: Theme) -> Floats:
    """Return the seven colours of categories, and the colour of other papers, shape (8, 3)."""
    from matplotlib.colors import to_rgb

    names = [*series(colours, _HUES), THEMES[colours.name]["missing"]]
    return np.array([to_rgb(name) for name in names])


def _mix_colours(
    page: Page, panel: Panel, x: Floats, y: Floats, category: NDArray[np.int64]
) -> Image:
    """Return a picture with the mixed colours of the papers at each pixel."""
    left, bottom, right, top = panel.box
    shape = (max(8, round((top - bottom) / page.pixel)), max(8, round((right - left) / page.pixel)))
    spacing = float(np.sqrt(shape[0] * shape[1] / len(x)))
    reach = round(min(_SPACING * spacing, 72 * _MAX_REACH * page.scale / page.pixel))
    category = np.where(category < 0, _HUES, category)
    counts = count_by_category(x, y, category, _HUES + 1, bounds=panel.extent, shape=shape)
    pixels = shade_by_category(counts, _palette(page.colours), page.colours.ramp[0], reach=reach)
    return Image(pixels=pixels, extent=panel.extent, gid="density", order=0.0)


def _write_legend(page: Page, kinds: Categories) -> Box:
    """Write names and numbers of papers to the right of the map; return the box for the map."""
    scale, others = page.scale, int((kinds.of_paper < 0).sum())
    names = [clean_name(name, most=60) for name in [*kinds.names, "other papers"]]
    numbers = [f"{papers:,}" for papers in [*kinds.papers, others]]
    hues = [*range(len(kinds.names)), _HUES]
    widths = [max(page.extent(one, size=NORMAL).width for one in all_) for all_ in (names, numbers)]
    indent, gap = 14 * scale, 8 * scale
    needed = indent + widths[0] + gap + widths[1] + 1.3 * page.margin
    box, column = page.divided(beside=min(needed / page.width, _MAX_BESIDE))
    if column is not None:
        left, _, right, y = column
        # A square has the colour of one paper, which is frequent in the map. A saved PNG has 256
        # colours, and replaces colours that occur only in a legend by other ones.
        ground = page.colours.ramp[0]
        palette = (ground + FAINTEST * (_palette(page.colours) - ground)).tolist()
        room = right - left - indent - gap - widths[1]
        for name, number, hue in zip(names, numbers, hues, strict=True):
            y -= 14 * scale
            style = {"marker": "s", "size": 8 * scale, "colour": tuple(palette[hue])}
            page.sample(style, left, left + 0.7 * indent, y + 2.6 * scale)
            page.write(name, left + indent, y, width=room, gid="key")
            page.write(number, right, y, align="right", gid="key")
    return box


def _strength_key(colours: Theme) -> Key:
    """Return the key of the strength of the colours."""
    from matplotlib.colors import to_rgb

    strengths = np.linspace(FAINTEST, STRONGEST, 5)[:, None]
    ramp = colours.ramp[0] + strengths * (np.array(to_rgb(colours.faint)) - colours.ramp[0])
    return Key.of_ramp("Papers per pixel", ramp, ["few", "", "", "", "many"])
