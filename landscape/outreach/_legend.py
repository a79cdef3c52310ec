"""Legend with title, colour key, sources and credits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from landscape.figures.fonts import is_right_to_left
from landscape.figures.lettering import Run, Style, extent, wrapped
from landscape.figures.scene import Box, Image, Layer, Lines, Squares
from landscape.outreach._painting import paint
from landscape.outreach._terrain import Terrain
from landscape.outreach.names import Wording, tidy_name, wording
from landscape.outreach.sheets import Sheet
from landscape.outreach.themes import Inks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.store import AtlasStore

    Picture = NDArray[np.uint8]


_SOURCES = 4  # maximum number of sources that are named
_ENDINGS = re.compile(r"(?:\.(?:bib|csv|tsv|jsonl?|ndjson|parquet|xml|txt|gz|bz2|xz|zst))+$", re.I)
_PROVIDERS = {"arxiv": "arXiv", "ads": "NASA ADS", "pathfinder": "the pathfinder data set"}


@dataclass(frozen=True)
class About:
    """Content of the legend."""

    title: str
    n_papers: int = 0
    first: str = ""
    last: str = ""
    middle: int | None = None
    corpus: str = ""
    sources: Sequence[str] = ()
    generated: bool = False
    recent: tuple[int, int] | None = None
    rivers: bool = False
    credits: str = ""
    version: str = ""
    model: str = ""
    language: str = "en"
    in_ink: bool = False

    @property
    def words(self) -> Wording:
        """Texts of the legend in the chosen language."""
        return wording(self.language)

    def subtitle(self) -> str:
        """Return the line with the number and the years of the papers."""
        parts = [self.words.papers.format(n=self.words.count(self.n_papers))]
        if self.first and self.last and self.first != self.last:
            parts.append(self.words.between.format(first=self.first, last=self.last))
        elif self.first:
            parts.append(self.first)
        return ("، " if is_right_to_left(parts[0]) else ", ").join(parts)

    def legend(self) -> list[str]:
        """Return the sentences that explain land and water."""
        span = "–".join(map(str, dict.fromkeys(self.recent or ())))
        years = f" ({span})" if span else ""
        lines = [self.words.mountains]
        if self.recent:
            coasts = self.words.coasts_in_ink if self.in_ink else self.words.coasts
            lines.append(coasts.format(years=years))
        lines.append(self.words.water)
        if self.rivers:
            lines.append(self.words.rivers)
        return lines

    def fine_print(self) -> list[str]:
        """Return the sources of the papers and of the picture, and the credits."""
        sources = list(self.sources)
        named = ", ".join(sources[:_SOURCES]) + (" …" if len(sources) > _SOURCES else "")
        lines = [self.words.sources.format(title=self.corpus or self.title, sources=named or "–")]
        if self.middle is not None and self.first != self.last:
            lines[0] += " " + self.words.half.format(middle=self.middle)
        how = self.words.repainted.format(model=self.model) if self.model else self.words.plain
        lines.append(f"{self.words.drawn.format(version=self.version).strip()}; {how}.")
        if self.credits:
            lines.append(self.credits)
        return lines

    def everything(self) -> list[str]:
        """Return all texts of the legend, so that fonts can be chosen for them."""
        words = self.words
        return [
            self.title,
            self.subtitle(),
            words.generated,
            words.near,
            *words.few_to_many,
            *words.old_to_new,
            *self.legend(),
            *self.fine_print(),
        ]


def about_atlas(
    atlas: AtlasStore, title: str | None, credits_: str, language: str, model: str
) -> About:
    """Collect the legend of an atlas; `model` is the name of the diffusion model, if any."""
    from landscape import __version__

    coverage = atlas.coverage
    heading = tidy_name(title if title is not None else coverage["title"], most=120)
    return About(
        title=heading or "Papers",
        n_papers=int(coverage["papers"]),
        first=str(coverage["first_date"] or "")[:4],
        last=str(coverage["last_date"] or "")[:4],
        corpus=tidy_name(coverage["title"], most=80),
        sources=tuple(dict.fromkeys(credit_of(source) for source in coverage["sources"])),
        generated=bool(coverage["generated"]),
        credits=tidy_name(credits_, most=300),
        version=__version__,
        model=tidy_name(Path(model).name if model else "", most=60),
        language=language,
    )


def credit_of(source: str) -> str:
    """Return the provider of a source, or its file name without extensions."""
    kind, _, file = source.partition(":")
    return _PROVIDERS.get(kind) or tidy_name(_ENDINGS.sub("", file) or kind, most=60)


SHAPE = 0.36  # ratio of height to width
SHORE = 0.22  # position of the coast, as a share of the width
_SHEET = 3  # width of the sheet on which the key is painted, relative to the key


def key_picture(terrain: Terrain, *, theme: str, width: int = 420) -> Picture:
    """Paint the colour key: a small artificial coast in the theme of the map."""
    height = round(width * SHAPE)
    across = (
        np.linspace(0, 1, width)[None, :]
        + 0.02 * np.sin(np.linspace(0, 3.2 * np.pi, height))[:, None]
    )
    elevation = np.where(
        across < SHORE,
        -0.9 * (1 - across / SHORE),
        (np.maximum(across - SHORE, 0) / (1 - SHORE)) ** 1.15,
    )
    newer = np.linspace(1, -1, height)[:, None] * np.ones((1, width))
    share = terrain.recent_share
    # The colours of coasts range from 1/7 to 7 times the odds of the corpus.
    odds = share / (1 - share) * 7.0**newer if 0 < share < 1 else np.full(newer.shape, np.nan)
    recency = odds / (1 + odds)
    # The key is painted as a corner of a larger sheet, so that lines are as wide as on the map.
    beyond = ((0, (_SHEET - 1) * height), (0, (_SHEET - 1) * width))
    scene = replace(
        terrain,
        elevation=np.pad(np.clip(elevation, -1, 1), beyond, mode="edge").astype(np.float32),
        recency=np.pad(recency, beyond, mode="edge").astype(np.float32),
        extent=(0.0, _SHEET, 0.0, _SHEET * SHAPE),
        peaks=(),
        rivers=(),
    )
    return paint(scene, theme=theme, window=(0, 0, width, height))


_TITLE, _MIN_TITLE = 25.0, 12.0
_SUBTITLE, _NOTE, _WORDS, _FINE = 10.0, 9.2, 7.6, 6.4
_LINE = 1.34  # line height, in font sizes


@dataclass
class _Column:
    """Column of text and pictures; y is 0 at the top and decreases downwards."""

    width: float
    families: tuple[str, ...]
    scale: float
    flush_right: bool = False
    marks: list[Layer] = field(default_factory=list)
    y: float = 0.0

    def write(
        self,
        text: str,
        size: float,
        colour: str,
        *,
        bold: bool = False,
        italic: bool = False,
        gid: str = "cartouche",
        tracking: float = 0.0,
        after: float = 0.0,
    ) -> None:
        style = Style(self.families, size * self.scale, italic, bold, tracking)
        for line in wrapped(text, style, width=self.width):
            x = self.width - extent(line, style).width if self.flush_right else 0.0
            baseline = self.y - max(0.78 * style.size, min(extent(line, style).ascent, style.size))
            self.marks.append(Run(line, style, x=x, y=baseline, colour=colour, gid=gid))
            self.y -= _LINE * style.size
        self.y -= after * self.scale

    def rule(self, colour: str, *, after: float) -> None:
        points = np.array([[0.0, self.y], [self.width, self.y]])
        self.marks.append(
            Lines(lines=[points], colour=colour, width=0.5 * self.scale, gid="cartouche")
        )
        self.y -= after * self.scale


def compose(
    about: About, sheet: Sheet, inks: Inks, families: tuple[str, ...], key: Picture
) -> tuple[list[Layer], float]:
    """Lay out the legend; return its drawing elements and its height."""
    width = sheet.panel_width
    if sheet.panel == "side":
        for scale in sheet.scale * np.arange(1.4, 0.3, -0.1):
            columns = _columns(about, inks, families, key, (width,) * 4, float(scale))
            gap = 14 * float(scale)
            heights = [-column.y for column in columns]
            if sum(heights) + 3 * gap <= sheet.height - 2 * sheet.margin:
                break
        # The title is at the top, and the key and the notes are at the bottom.
        foot = sheet.height - 2 * sheet.margin
        third = heights[3] - foot
        second = third + heights[2] + gap
        tops = (0.0, second + heights[1] + 0.4 * gap, second, third)
        marks = [
            _moved(mark, 0.0, top)
            for column, top in zip(columns, tops, strict=True)
            for mark in column.marks
        ]
        return marks, foot
    gap = 20 * sheet.scale
    parts = np.array([0.31, 0.19, 0.26, 0.24]) * (width - 3 * gap)
    columns = _columns(about, inks, families, key, tuple(parts), sheet.scale)
    marks, x = [], 0.0
    for column, part in zip(columns, parts, strict=True):
        marks += [_moved(mark, x, 0.0) for mark in column.marks]
        x += float(part) + gap
    return marks, max(-column.y for column in columns)


def placed(marks: Sequence[Layer], box: Box) -> list[Layer]:
    """Move a composed legend into its box on the sheet."""
    x0, _, _, y1 = box
    return [_moved(mark, x0, y1) for mark in marks]


def frame_marks(box: Box, inks: Inks, scale: float) -> list[Layer]:
    """Return the double frame around the map."""
    x0, y0, x1, y1 = box
    away = 2.6 * scale
    outer = (x0 - away, y0 - away, x1 + away, y1 + away)
    return [_outline(box, inks, 0.5 * scale, "frame"), _outline(outer, inks, 1.0 * scale, "frame")]


def _outline(box: Box, inks: Inks, width: float, gid: str) -> Squares:
    return Squares(boxes=[box], colours=["none"], edge=inks.faint, width=width, gid=gid)


def _columns(
    about: About,
    inks: Inks,
    families: tuple[str, ...],
    key: Picture,
    widths: Sequence[float],
    scale: float,
) -> tuple[_Column, _Column, _Column, _Column]:
    """Return four columns with title, colour key, explanation and notes."""
    words = about.words
    right = is_right_to_left(words.near)
    title, colours, legend, notes = (
        _Column(float(width), families, scale, flush_right=right) for width in widths
    )
    size = _title_size(about.title, families, scale, title.width)
    title.write(about.title, size, inks.title, bold=True, gid="title", after=3)
    title.rule(inks.faint, after=7)
    title.write(about.subtitle(), _SUBTITLE, inks.text, italic=not right, after=3)
    if about.generated:
        title.write(words.generated, _WORDS, inks.land, bold=True, after=2)

    _key(colours, about, inks, key)
    for line in about.legend():
        legend.write(line, _WORDS, inks.text, after=1)

    notes.write(words.near, _NOTE, inks.title, italic=not right, after=4)
    for line in about.fine_print():
        notes.write(line, _FINE, inks.faint)
    return title, colours, legend, notes


def _key(column: _Column, about: About, inks: Inks, key: Picture) -> None:
    """Draw the colour key and label its sides."""
    scale, words = column.scale, about.words
    small = Style(column.families, _FINE * scale)
    dated = about.recent is not None
    margin = 0.0
    if dated:
        margin = 4 * scale + max(extent(text, small).width for text in words.old_to_new)
        margin = min(margin, 0.4 * column.width)
    wide = min(column.width - margin, 210 * scale)
    high = SHAPE * wide
    left = column.width - wide - margin if column.flush_right else 0.0
    box = (left, column.y - high, left + wide, column.y)
    column.marks.append(Image(pixels=key[::-1], extent=box, gid="key"))
    column.marks.append(_outline(box, inks, 0.4 * scale, "key"))
    if dated:
        for text, y in (
            (words.old_to_new[1], column.y - small.size * 0.85),
            (words.old_to_new[0], column.y - high + small.size * 0.25),
        ):
            column.marks.append(
                Run(text, small, x=left + wide + 4 * scale, y=y, colour=inks.faint, gid="key")
            )
    base = column.y - high - 1.1 * small.size
    few, many = words.few_to_many
    column.marks.append(
        Run(few, small, x=left + SHORE * wide, y=base, colour=inks.faint, gid="key")
    )
    column.marks.append(
        Run(
            many,
            small,
            x=left + wide - extent(many, small).width,
            y=base,
            colour=inks.faint,
            gid="key",
        )
    )
    column.y -= high + 2.0 * small.size


def _title_size(title: str, families: tuple[str, ...], scale: float, width: float) -> float:
    """Return the largest font size at which the title fits on three lines with whole words."""
    words = title.split() or [title]
    for size in np.arange(_TITLE, _MIN_TITLE - 0.1, -0.5):
        style = Style(families, float(size) * scale, bold=True)
        longest = max(extent(word, style).width for word in words)
        if longest <= width and len(wrapped(title, style, width=width)) <= 3:
            return float(size)
    return _MIN_TITLE


def _moved(mark: Layer, right: float, up: float) -> Layer:
    def box(old: Box) -> Box:
        return old[0] + right, old[1] + up, old[2] + right, old[3] + up

    if isinstance(mark, Run):
        return replace(mark, x=mark.x + right, y=mark.y + up)
    if isinstance(mark, Lines):
        return replace(mark, lines=[line + np.array([right, up]) for line in mark.lines])
    if isinstance(mark, Squares):
        return replace(mark, boxes=[box(one) for one in mark.boxes])
    if isinstance(mark, Image):
        return replace(mark, extent=box(mark.extent))
    raise TypeError(f"no layer of a legend: {mark}")
