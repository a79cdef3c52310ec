"""A facility's share of the local literature through the years, as a moving picture."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape._io import check_output, write_output
from landscape.errors import InputError
from landscape.figures import _matplotlib
from landscape.figures._caption import GENERATED, Account, facts_of, headline
from landscape.figures._colours import theme
from landscape.figures._export import few_colours
from landscape.figures._impact import View, add_shares, percent, scale_top, share_key, share_maps
from landscape.figures._maps import add_names, chosen_topics, map_panel, positions
from landscape.figures._page import Page
from landscape.figures._scene import Panel, Scene, Text

if TYPE_CHECKING:
    from PIL import Image

    from landscape.overlays.missions._usage import Usage
    from landscape.store import AtlasStore

SIZE_INCHES = (8.0, 6.6)
DPI = 100
_NAMES = 8
_KINDS = (".gif", ".mp4")
_MOST_FRAMES = 150
_LAST_SHOWN = 4  # times as long as the others
_HOW_TO_READ = (
    "Colour is the share of the papers around a place that mention the facility, shrunk to the "
    "share of those years where papers are few.",
    "Hatched: the corpus has papers there, but hardly any of these years.",
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
    size_inches: tuple[float, float] = SIZE_INCHES,
    dpi: int = DPI,
) -> Path:
    """Write a moving picture of a facility's share of the local literature.

    Each frame shows a few years, the next one begins a year later; axes, kernel and colours are the
    same in all. Where the corpus does not cover the years the map is hatched.

    Parameters
    ----------
    atlas : AtlasStore
        With its mentions of facilities.
    facility : str
        Any of its names.
    path : path
        File to write: ``.gif``, or ``.mp4`` where the program ffmpeg is installed. What it shows
        goes into a file ``.alt.txt`` beside it.
    since, until : int, optional
        First and last year; all of the corpus when not given.
    window : int, default 3
        Years in a frame.
    seconds : float, default 0.7
        How long a frame is shown.
    colours : {"light", "dark"}, default "light"
    size_inches : (float, float), default (8, 6.6)
        Width and height.
    dpi : int, default 100
        Pixels per inch.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    InputError
        For an unknown facility, another kind of file, mp4 without ffmpeg, a period without papers,
        or settings that cannot be.

    Examples
    --------
    >>> import landscape as ls
    >>> atlas = ls.open("my.atlas")  # doctest: +SKIP
    >>> ls.figures.animate(atlas, "ALMA", "alma.gif", since=2005)  # doctest: +SKIP
    """
    from landscape.overlays.missions._usage import read_usage

    target = _check(path, window=window, seconds=seconds, dpi=dpi)
    usage = read_usage(atlas, [facility])
    views = moving_views(usage, since=since, until=until, window=window)
    pictures = _draw(atlas, usage, views, colours=colours, size_inches=size_inches, dpi=dpi)
    encode = _gif if target.suffix.lower() == ".gif" else _mp4
    write_output(target, encode(pictures, seconds))
    words = _alt_text(atlas, usage, views)
    write_output(target.with_suffix(".alt.txt"), f"{words}\n".encode())
    return target


def moving_views(usage: Usage, *, since: int | None, until: int | None, window: int) -> list[View]:
    """List the frames: the papers of each run of years, in years that the corpus covers."""
    from landscape.overlays.missions._usage import in_period

    in_period(usage, since, until)  # refuses a period without papers
    years = usage.years.years
    first = int(years[0]) if since is None else max(since, int(years[0]))
    last = int(years[-1]) if until is None else min(until, int(years[-1]))
    starts = range(first, max(first, last - window + 1) + 1)
    if len(starts) > _MOST_FRAMES:
        raise InputError(
            f"{len(starts)} frames are too many; choose a period of {_MOST_FRAMES} years at most."
        )
    covered, uses = usage.covered, usage.uses(0)
    views = []
    for start in starts:
        end = min(start + window - 1, last)
        inside = covered & (usage.year >= start) & (usage.year <= end)
        n, of = int((uses & inside).sum()), int(inside.sum())
        told = f"{n:,} of {of:,} papers ({percent(n / of)})" if of else "hardly covered"
        years_said = f"{start}" if start == end else f"{start}–{end}"
        views.append(View(f"{usage.facilities[0].name} {years_said}", told, inside, uses & inside))
    return views


def _draw(
    atlas: AtlasStore, usage: Usage, views: list[View], *, colours: str,
    size_inches: tuple[float, float], dpi: int,
) -> list[Image.Image]:  # fmt: skip
    """All frames: the share maps change, everything else is drawn once and laid over each."""
    x, y = positions(atlas.map["x"], atlas.map["y"])
    facts = facts_of(atlas)
    sentences = [headline(facts), *usage.years.warnings, *_HOW_TO_READ]
    account = Account(views[-1].heading, sentences, facts.generated)
    topics = chosen_topics(atlas.topics, levels=(0,)).head(_NAMES)
    page = Page(size_inches, theme(colours), account, raster_dpi=DPI, has_key=True)
    panel = map_panel(page, page.area, x, y, include=topics)
    found, everywhere = share_maps(page, panel, x, y, views)
    top = scale_top(found)
    page.write_key(share_key(page, top))
    add_names(page, panel, topics, loud=())
    (title,) = [text for text in page.texts if text.gid == "title"]
    page.texts.remove(title)
    over = _pixels(_scene(page, panel, page.texts), dpi, facecolor="none")
    pictures = []
    for view, shares in zip(views, found, strict=True):
        panel.layers.clear()
        add_shares(page, panel, shares, top, everywhere=everywhere, outline=False)
        told = Text(view.told, page.width - page.margin, title.y, 9.0 * page.scale,
                    page.colours.faint, align="right", gid="told")  # fmt: skip
        drawn = _pixels(
            _scene(page, panel, [replace(title, words=view.heading), told], bare=True), dpi
        )
        drawn.alpha_composite(over)
        pictures.append(_even(drawn))
    return pictures


def _scene(page: Page, panel: Panel, texts: list[Text], *, bare: bool = False) -> Scene:
    size = (page.width, page.height)
    return Scene(size, page.scale, page.colours, page.title, page.account, [panel],
                 [] if bare else page.layers, texts)  # fmt: skip


def _pixels(scene: Scene, dpi: int, *, facecolor: Any = None) -> Image.Image:
    """A scene as a picture, on its own colour or another."""
    from PIL import Image

    sheet = _matplotlib.draw(scene)
    buffer = io.BytesIO()
    colour = sheet.get_facecolor() if facecolor is None else facecolor
    sheet.savefig(buffer, format="rgba", dpi=dpi, facecolor=colour)
    width, height = (int(dpi * side) for side in sheet.get_size_inches())
    return Image.frombytes("RGBA", (width, height), buffer.getvalue())


def _even(picture: Image.Image) -> Image.Image:
    """A frame with even sides, as video encoders want them."""
    width, height = (side // 2 * 2 for side in picture.size)
    return picture.convert("RGB").crop((0, 0, width, height))


def _gif(pictures: list[Image.Image], seconds: float) -> bytes:
    """Encode frames as a GIF with one palette, so that colours mean the same in all."""
    from PIL import Image

    width, height = pictures[0].size
    few = pictures[:: max(1, len(pictures) // 6)]
    together = Image.new("RGB", (width, height * len(few)))
    for number, picture in enumerate(few):
        together.paste(picture, (0, number * height))
    palette = few_colours(together)
    frames = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    shown = [round(1000 * seconds)] * len(frames)
    shown[-1] *= _LAST_SHOWN
    buffer = io.BytesIO()
    frames[0].save(
        buffer, format="GIF", save_all=True, append_images=frames[1:], duration=shown, loop=0,
        optimize=False,
    )  # fmt: skip
    return buffer.getvalue()


def _mp4(pictures: list[Image.Image], seconds: float) -> bytes:
    """Encode frames as MP4 with ffmpeg, which `_check` found."""
    width, height = pictures[0].size
    program = shutil.which("ffmpeg") or "ffmpeg"
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "made.mp4")
        command = [
            program, "-loglevel", "error", "-f", "rawvideo", "-pixel_format", "rgb24",
            "-video_size", f"{width}x{height}", "-framerate", f"{1 / seconds:.6g}", "-i", "-",
            "-pix_fmt", "yuv420p", "-r", "25", str(made),
        ]  # fmt: skip
        frames = b"".join(picture.tobytes() for picture in pictures)
        done = subprocess.run(  # noqa: S603 - our own arguments, no shell
            command, input=frames, capture_output=True, check=False
        )
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise InputError(
                f"ffmpeg could not encode the animation ({said[-1] if said else 'no reason'}); "
                "write a .gif instead."
            )
        return made.read_bytes()


def _check(path: str | os.PathLike[str], *, window: int, seconds: float, dpi: int) -> Path:
    """Refuse what cannot be, before anything is drawn."""
    target = check_output(path, _KINDS, what="An animation")
    if target.suffix.lower() == ".mp4" and shutil.which("ffmpeg") is None:
        raise InputError("An .mp4 needs the program ffmpeg, which is not there; write a .gif.")
    if not 1 <= window <= 50:
        raise InputError(f"A frame holds 1 to 50 years, not {window}.")
    if not 0.02 <= seconds <= 60:
        raise InputError(f"A frame is shown 0.02 to 60 seconds, not {seconds}.")
    if not 20 <= dpi <= 400:
        raise InputError(f"The resolution must lie between 20 and 400 dpi, not {dpi}.")
    return target


def _alt_text(atlas: AtlasStore, usage: Usage, views: list[View]) -> str:
    """Describe the frames for readers who cannot see them."""
    facts = facts_of(atlas)
    generated = f"{GENERATED} " if facts.generated else ""
    told = "; ".join(f"{view.heading}: {view.told}" for view in views)
    return (
        f"{generated}Moving map of the share of the local literature that mentions "
        f"{usage.facilities[0].name}. {headline(facts)} {told}."
    )
