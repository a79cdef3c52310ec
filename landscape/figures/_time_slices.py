"""Maps of time slices with the same axes and colours, and an animation for a facility."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import numpy as np
from numpy.typing import NDArray

from landscape._io import check_output, write_output
from landscape._wording import count
from landscape.errors import InputError
from landscape.figures._impact import View, add_shares, percent, scale_top, share_key, share_maps
from landscape.figures.caption import GENERATED, NEARNESS, Caption, facts_of, headline
from landscape.figures.colours import Tones, choose_tones
from landscape.figures.export import draw, few_colours, figure
from landscape.figures.labels import clean_name
from landscape.figures.maps import (
    add_few_names,
    add_names,
    chosen_topics,
    density_key,
    fitted_page,
    map_panel,
    map_panels,
    positions,
    ramp_image,
)
from landscape.figures.page import IN_PART, Page, PageOptions
from landscape.figures.scene import Bools, Floats, Hatched, Panel, Points, Scene, Text, tile
from landscape.mapping.density import count_grid
from landscape.overlays.missions.usage import Usage, in_period, read_usage
from landscape.overlays.periods import UNKNOWN_YEAR, Years, format_spans, paper_years, read_years

if TYPE_CHECKING:
    import pandas as pd
    from PIL import Image

    from landscape.store import AtlasStore

    Ints = NDArray[np.int64]
    Grid = NDArray[np.float32]

_MAX_SLICES, _USUAL_SLICES, _NAMES_PER_SLICE = 24, 6, 9
_RASTER_DPI = 150  # maps of slices are small
_HEADING = 13.0  # height of the heading above each map, in points
_STRIP = 6.0  # height of a hatched strip, in points
_HOW = "Colours show shares of the papers of a slice, on one scale for all slices."


@figure
def time_slices(
    atlas: AtlasStore, *, edges: Sequence[int] | None = None, **look: Unpack[PageOptions]
) -> Scene:
    """Draw one map for each time slice, all with the same axes and colour scale.

    Each map shows the normalized density of the papers in its slice, smoothed with the same kernel,
    so that growth of the corpus does not look like growth of a topic.

    Parameters
    ----------
    atlas : AtlasStore
    edges : sequence of int, optional
        First years of the slices, and the first year after the last slice:
        ``[1990, 2005, 2015, 2027]`` defines three slices. By default, six slices with about
        equal numbers of papers.
    **look
        ``colours``, ``size_inches``, ``title`` and ``raster_dpi``; see `landscape.figures.heatmap`.

    Returns
    -------
    Sheet
        A matplotlib Figure, with ``alt_text`` and a ``table`` of ``slice, first_year, last_year,
        papers_in_slice, topic_id, region, papers, share``.

    Raises
    ------
    InputError
        If edges are not increasing integers, the slices have no papers, or the page is too small.

    Examples
    --------
    >>> import landscape as ls
    >>> atlas = ls.open("my.atlas")  # doctest: +SKIP
    >>> ls.figures.time_slices(atlas, edges=[2000, 2010, 2020, 2027])  # doctest: +SKIP
    """
    look.setdefault("raster_dpi", _RASTER_DPI)
    x, y = positions(atlas.map["x"], atlas.map["y"])
    year = paper_years(atlas)
    chosen, slice_of = cut(year, edges)
    years, facts = read_years(atlas), facts_of(atlas)
    caption = Caption(
        f"Time slices of {headline(facts)}", [_HOW, *years.warnings, NEARNESS], facts.generated
    )
    size = fitted_page(x, y, len(chosen) - 1)
    page = Page(caption, look, size=size, smallest=(4.0, 3.0), has_key=True)
    table = slice_table(atlas.map["topic_id"].to_numpy(), slice_of, chosen, atlas.topics)
    _draw(page, x, y, slice_of, chosen, years, topics=atlas.topics)
    _add_region_dots(page, table, atlas.topics)
    words = caption.describe("Maps of time slices.", _describe(table))
    return page.scene(alt_text=words, table=table)


def cut(year: Ints, edges: Sequence[int] | None) -> tuple[list[int], Ints]:
    """Return the edges of the slices, and the slice of each paper (-1 if outside all slices)."""
    known = year[year != UNKNOWN_YEAR]
    if not len(known):
        raise InputError(
            "Time slices need dates, but no paper of this corpus has one. Use an atlas with dates."
        )
    chosen = equal_slices(known) if edges is None else _checked(edges)
    slice_of = np.digitize(year, chosen) - 1
    slice_of[slice_of == len(chosen) - 1] = -1
    if not (slice_of >= 0).any():
        raise InputError(
            f"No paper is from {chosen[0]} to {chosen[-1] - 1}; the atlas has {known.min()} to "
            f"{known.max()}. Use other edges."
        )
    return chosen, slice_of


def equal_slices(year: Ints, *, n_slices: int = _USUAL_SLICES) -> list[int]:
    """Choose edges of slices with about equal numbers of papers."""
    inner = np.quantile(year, np.arange(1, n_slices) / n_slices, method="higher")
    first, last = int(year.min()), int(year.max())
    between = sorted({int(edge) for edge in inner if first < edge <= last})
    return [first, *between, last + 1]


def slice_table(
    topic_id: np.ndarray, slice_of: Ints, edges: Sequence[int], topics: pd.DataFrame
) -> pd.DataFrame:
    """Count the papers of each region in each slice, and compute their share of the slice."""
    import pandas as pd

    regions = chosen_topics(topics, levels=(1,)).sort_values("topic_id")
    ids = regions["topic_id"].to_numpy(dtype=np.int64)
    n_slices = len(edges) - 1
    place = pd.Index(ids).get_indexer(np.asarray(topic_id))
    counted = (slice_of >= 0) & (place >= 0)
    cells = np.bincount(
        slice_of[counted] * len(ids) + place[counted], minlength=n_slices * len(ids)
    )
    totals = np.bincount(slice_of[slice_of >= 0], minlength=n_slices)
    number = np.repeat(np.arange(n_slices), len(ids))
    firsts, lasts = np.asarray(edges[:-1]), np.asarray(edges[1:]) - 1
    return pd.DataFrame(
        {
            "slice": number + 1,
            "first_year": firsts[number],
            "last_year": lasts[number],
            "papers_in_slice": totals[number],
            "topic_id": np.tile(ids, n_slices),
            "region": np.tile(regions["label"].astype(str).to_numpy(), n_slices),
            "papers": cells,
            "share": cells / np.maximum(totals[number], 1),
        }
    )


def _checked(edges: Sequence[int]) -> list[int]:
    whole = [int(edge) for edge in edges]
    rising = all(a < b for a, b in pairwise(whole))
    if len(whole) < 2 or not rising or any(a != b for a, b in zip(whole, edges, strict=True)):
        raise InputError(
            f"The edges of time slices must be at least two rising years, not {list(edges)}. "
            "Use, for example, [2000, 2010, 2020, 2027]."
        )
    if len(whole) > _MAX_SLICES + 1:
        raise InputError(
            f"{len(whole) - 1} time slices do not fit on a page. Use at most {_MAX_SLICES}."
        )
    return whole


def _draw(
    page: Page,
    x: Floats,
    y: Floats,
    slice_of: Ints,
    edges: Sequence[int],
    years: Years,
    *,
    topics: pd.DataFrame,
) -> None:
    """Draw the maps of all slices with a common colour scale."""
    inside = [slice_of == number for number in range(len(edges) - 1)]
    held = [(years.years >= a) & (years.years < b) for a, b in pairwise(edges)]
    hatched = [
        2 * years.counts[its & years.covered].sum() <= years.counts[its].sum() for its in held
    ]
    left, bottom, right, top = page.chart_area
    box = left, bottom + 13 * page.scale * any(hatched), right, top
    boxes = tile(box, len(inside), heading=_HEADING * page.scale, gap=8 * page.scale)
    panels = map_panels(page, boxes, x, y)
    names = chosen_topics(topics, levels=(0,))
    positions_of, tones, n_usual = smoothed_slices(page, panels[0], x, y, inside)
    page.write_key(density_key(page, tones, share_of=n_usual))
    for number, (panel, position) in enumerate(zip(panels, positions_of, strict=True)):
        panel.layers.append(ramp_image(position, page.colours.ramp, panel.extent))
        n_papers, (first, last) = int(inside[number].sum()), (edges[number], edges[number + 1] - 1)
        gaps = format_spans(years.years[held[number] & ~years.covered])
        note = count(n_papers, "paper") + (f"; {', '.join(gaps)} in part" if gaps else "")
        page.write_heading(
            panel.box,
            f"{first}" if first == last else f"{first}-{last}",
            note,
            size=8.5,
            note_colour=page.colours.accent if gaps else None,
        )
        if hatched[number]:  # a strip in the margin, which hides no papers
            x0, y0, x1, y1 = panel.extent
            strip = _STRIP * page.scale / (panel.box[3] - panel.box[1]) * (y1 - y0)
            panel.layers.append(
                Hatched(
                    where=np.ones((1, 1), dtype=bool),
                    extent=(x0, y0, x1, y0 + strip),
                    colour=page.colours.faint,
                )
            )
        add_few_names(page, panel, names, most=_NAMES_PER_SLICE, size=6.2)
    if any(hatched):
        page.hatching_key(right, bottom, f"slice mostly of {IN_PART}")


def _add_region_dots(page: Page, table: pd.DataFrame, topics: pd.DataFrame) -> None:
    """Add dots with hover texts for the browser, one for each region in each slice."""
    places = table[["topic_id"]].merge(
        chosen_topics(topics, levels=(1,))[["topic_id", "x", "y"]].drop_duplicates("topic_id"),
        how="left",
    )
    for number, panel in enumerate([one for one in page.panels if one.gid != "key"], 1):
        rows = (table["slice"] == number).to_numpy()
        panel.layers.append(
            Points(
                x=places["x"].to_numpy(float)[rows],
                y=places["y"].to_numpy(float)[rows],
                size=3.0,
                colour=page.colours.ink,
                opacity=0.35,
                gid="regions",
                screen=True,
                hover=[
                    f"{row.region}\n{row.papers:,} of {row.papers_in_slice:,} papers: "
                    f"{row.share:.1%}"
                    for row in table[rows].itertuples()
                ],
            )
        )


def smoothed_slices(
    page: Page, panel: Panel, x: Floats, y: Floats, inside: list[Bools]
) -> tuple[list[Grid], Tones, float]:
    """Return the density of each slice as ramp positions, with a common kernel and scale.

    The scale is that of a slice with the median number of papers, which is also returned.
    """
    from scipy.ndimage import gaussian_filter

    left, bottom, right, top = panel.box
    rows, columns = (max(8, round(side / page.pixel)) for side in (top - bottom, right - left))
    shape = rows, columns
    counts = [count_grid(x[w], y[w], bounds=panel.extent, shape=shape) for w in inside]
    fewest = float(np.median([which.sum() for which in inside if which.any()]))
    # Kernel width in pixels: Scott's rule (Scott 1992) in 2-D, for a slice of median size.
    sigma = float(np.clip(min(shape) * 0.09 * fewest ** (-1 / 6), 1.2, min(shape) / 12))
    weights = [grid * np.float32(fewest / max(1.0, grid.sum())) for grid in counts]
    shares = [gaussian_filter(grid, sigma, mode="constant") for grid in weights]
    tones = choose_tones(np.concatenate(shares), np.concatenate(weights))
    drawn = [np.asarray(tones.position(share), dtype=np.float32) for share in shares]
    return drawn, tones, fewest


def _describe(table: pd.DataFrame) -> str:
    """Describe the papers and largest regions of each slice."""
    slices = []
    for _, part in table.groupby("slice"):
        row = part.iloc[0]
        largest = part.sort_values("papers", ascending=False).head(3)
        named = ", ".join(
            f"{clean_name(region)} ({share:.0%})"
            for region, share in zip(largest["region"], largest["share"], strict=True)
        )
        slices.append(
            f"{row.first_year} to {row.last_year}: {count(row.papers_in_slice, 'paper')}, "
            f"most in {named}"
        )
    return f"{'; '.join(slices)}."


FILM_INCHES = (8.0, 6.6)
FILM_DPI = 100
_NAMES_PER_FRAME = 8
_FILM_KINDS = (".gif", ".mp4")
_MAX_FRAMES = 150
_LAST_SHOWN = 4  # duration of the last frame, in frames
_HOW_TO_READ = (
    "The colour shows the share of nearby papers that use the facility. Where there are few "
    "papers, it is shrunk towards the share among all papers of the same period.",
    "Hatched areas contain papers of the corpus, but almost none of the period.",
)


def animate(
    atlas: AtlasStore,
    facility: str,
    path: str | os.PathLike[str],
    *,
    since: int | None = None,
    until: int | None = None,
    window: int = 3,
    seconds: float = 0.7,
    colours: str = "light",
    size_inches: tuple[float, float] = FILM_INCHES,
    dpi: int = FILM_DPI,
) -> Path:
    """Write an animation of the share of the local literature that uses a facility.

    Each frame shows a moving period of `window` years, with the same axes, kernel and colours.
    Areas in which the corpus has almost no papers of the period are hatched.

    Parameters
    ----------
    atlas : AtlasStore
    facility : str
        Name or alias.
    path : path
        File to write: ``.gif``, or ``.mp4`` if ffmpeg is installed. A description is
        written to a file ``.alt.txt`` next to it.
    since, until : int, optional
        First and last year; by default the first and last year of the corpus.
    window : int, default 3
        Number of years in a frame.
    seconds : float, default 0.7
        Duration of a frame in seconds.
    dpi : int, default 100
        Pixels per inch.
    colours, size_inches
        See `landscape.figures.heatmap`.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    InputError
        If the facility or the file type is unknown, ffmpeg is missing for ``.mp4``, the period has
        no papers, or a setting is out of range.

    Examples
    --------
    >>> import landscape as ls
    >>> atlas = ls.open("my.atlas")  # doctest: +SKIP
    >>> ls.figures.animate(atlas, "ALMA", "alma.gif", since=2005)  # doctest: +SKIP
    """
    target = _check_film(path, window=window, seconds=seconds, dpi=dpi)
    usage = read_usage(atlas, [facility])
    views = moving_views(usage, since=since, until=until, window=window)
    pictures = _draw_frames(atlas, usage, views, colours=colours, size_inches=size_inches, dpi=dpi)
    encode = _gif if target.suffix.lower() == ".gif" else _mp4
    write_output(target, encode(pictures, seconds))
    facts, frames = facts_of(atlas), "; ".join(f"{view.heading}: {view.counts}" for view in views)
    words = (
        f"{f'{GENERATED} ' if facts.generated else ''}Animated map of the share of the local "
        f"literature that uses {usage.facilities[0].name}. {headline(facts)} {frames}.\n"
    )
    write_output(target.with_suffix(".alt.txt"), words.encode())
    return target


def moving_views(usage: Usage, *, since: int | None, until: int | None, window: int) -> list[View]:
    """Return a view for each frame, with the papers of its period that are in covered years."""
    in_period(usage, since, until)  # raises InputError if the period has no papers
    years = usage.years.years
    first = int(years[0]) if since is None else max(since, int(years[0]))
    last = int(years[-1]) if until is None else min(until, int(years[-1]))
    starts = range(first, max(first, last - window + 1) + 1)
    if len(starts) > _MAX_FRAMES:
        raise InputError(
            f"{len(starts)} frames are too many. Choose a period of at most {_MAX_FRAMES} years."
        )
    covered, uses = usage.covered, usage.uses(0)
    views = []
    for start in starts:
        end = min(start + window - 1, last)
        inside = covered & (usage.year >= start) & (usage.year <= end)
        n, of = int((uses & inside).sum()), int(inside.sum())
        counts = f"{n:,} of {of:,} papers ({percent(n / of)})" if of else "covered in part"
        period = f"{start}" if start == end else f"{start}–{end}"
        views.append(View(f"{usage.facilities[0].name} {period}", counts, inside, uses & inside))
    return views


def _draw_frames(
    atlas: AtlasStore,
    usage: Usage,
    views: list[View],
    *,
    colours: str,
    size_inches: tuple[float, float],
    dpi: int,
) -> list[Image.Image]:
    """Draw a share map for each frame; names, caption and key are drawn once for all frames."""
    x, y = positions(atlas.map["x"], atlas.map["y"])
    facts = facts_of(atlas)
    sentences = [headline(facts), *usage.years.warnings, *_HOW_TO_READ]
    caption = Caption(views[-1].heading, sentences, facts.generated)
    topics = chosen_topics(atlas.topics, levels=(0,)).head(_NAMES_PER_FRAME)
    look: PageOptions = {"colours": colours, "size_inches": size_inches, "raster_dpi": FILM_DPI}
    page = Page(caption, look, has_key=True)
    panel = map_panel(page, page.area, x, y, include=topics)
    found, everywhere = share_maps(page, panel, x, y, views)
    top = scale_top(found)
    page.write_key(share_key(page, top))
    add_names(page, panel, topics, emphasized=())
    (title,) = [text for text in page.texts if text.gid == "title"]
    page.texts.remove(title)
    scene = page.scene()
    over = _pixels(scene, dpi, "none")
    pictures = []
    for view, shares in zip(views, found, strict=True):
        panel.layers.clear()
        add_shares(page, panel, shares, top, everywhere=everywhere, outline=False)
        counts = Text(
            view.counts,
            page.width - page.margin,
            title.y,
            9.0 * page.scale,
            page.colours.faint,
            align="right",
            gid="note",
        )
        texts = [replace(title, words=view.heading), counts]
        drawn = _pixels(replace(scene, layers=(), texts=texts), dpi, page.colours.page)
        drawn.alpha_composite(over)
        # Video encoders require an even width and height.
        width, height = drawn.size
        pictures.append(drawn.convert("RGB").crop((0, 0, width // 2 * 2, height // 2 * 2)))
    return pictures


def _pixels(scene: Scene, dpi: int, facecolor: str) -> Image.Image:
    """Render a scene as an image."""
    from PIL import Image

    sheet = draw(scene)
    buffer = io.BytesIO()
    sheet.savefig(buffer, format="rgba", dpi=dpi, facecolor=facecolor)
    width, height = (int(dpi * side) for side in sheet.get_size_inches())
    return Image.frombytes("RGBA", (width, height), buffer.getvalue())


def _gif(pictures: list[Image.Image], seconds: float) -> bytes:
    """Encode frames as a GIF with a common palette, so that colours are comparable."""
    from PIL import Image

    few = pictures[:: max(1, len(pictures) // 6)]
    palette = few_colours(Image.fromarray(np.vstack([np.asarray(picture) for picture in few])))
    frames = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    shown = [round(1000 * seconds)] * len(frames)
    shown[-1] *= _LAST_SHOWN
    buffer = io.BytesIO()
    frames[0].save(
        buffer,
        format="GIF",
        save_all=True,
        append_images=frames[1:],
        duration=shown,
        loop=0,
        optimize=False,
    )
    return buffer.getvalue()


def _mp4(pictures: list[Image.Image], seconds: float) -> bytes:
    """Encode frames as MP4 with ffmpeg; `_check_film` has checked that it is installed."""
    from matplotlib.animation import FFMpegWriter
    from matplotlib.figure import Figure

    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "made.mp4")
        sheet = Figure(figsize=pictures[0].size, dpi=1, frameon=False)  # one inch is one pixel
        frame = sheet.figimage(np.asarray(pictures[0]))
        writer = FFMpegWriter(
            fps=1 / seconds,  # type: ignore[arg-type]  # a frame can be longer than a second
            extra_args=["-r", "25"],  # players expect this rate
        )
        try:
            with writer.saving(sheet, str(made), dpi=1):
                for picture in pictures:
                    frame.set_data(np.asarray(picture))
                    writer.grab_frame()
        except (OSError, subprocess.CalledProcessError) as error:
            said = (getattr(error, "stderr", None) or b"").decode(errors="replace").split("\n")
            why = next(filter(None, reversed(said)), type(error).__name__)
            raise InputError(
                f"ffmpeg could not encode the animation ({why}). Write a .gif file instead."
            ) from error
        return made.read_bytes()


def _check_film(path: str | os.PathLike[str], *, window: int, seconds: float, dpi: int) -> Path:
    """Check the settings of an animation, and return the path of its file."""
    target = check_output(path, _FILM_KINDS, what="An animation")
    if target.suffix.lower() == ".mp4" and shutil.which("ffmpeg") is None:
        raise InputError(
            "ffmpeg was not found, but .mp4 files require it. Install ffmpeg or write a .gif file."
        )
    if not 1 <= window <= 50:
        raise InputError(f"The window must be 1 to 50 years, not {window}.")
    if not 0.02 <= seconds <= 60:
        raise InputError(f"The duration of a frame must be 0.02 to 60 seconds, not {seconds}.")
    if not 20 <= dpi <= 400:
        raise InputError(f"The resolution must be between 20 and 400 dpi, not {dpi}.")
    return target
