"""What stands around a map: the title above, the caption below, the key beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from landscape.figures.caption import GENERATED, MapFacts
from landscape.figures.names import clean_name
from landscape.figures.shading import Tones
from landscape.figures.typesetting import Typesetter

_CAPTION, _TITLE, _KEY, _KEY_NUMBERS = 8.0, 14.0, 7.0, 6.6  # font sizes
_LINE = 1.32  # line height of the caption, in font sizes
_KEY_WIDTH, _KEY_HEIGHT, _SQUARE = 168.0, 34.0, 11.0
_MOST_SQUARES = 6
_LEGEND_LINE = 11.0  # height


@dataclass(frozen=True)
class Margins:
    """The borders of a page, in points.

    Attributes
    ----------
    width, height : float
        Of the page.
    margin : float
        Width of the empty border.
    """

    width: float
    height: float
    margin: float


@dataclass(frozen=True)
class LegendEntry:
    """A symbol on the map and what it means.

    Attributes
    ----------
    words : str
        Short: it stands in a narrow column.
    style : mapping of str to Any
        How matplotlib draws it: a marker with its colours, or a line.
    """

    words: str
    style: Mapping[str, Any]


def write_title(setter: Typesetter, margins: Margins, title: str) -> float:
    """Write a heading, smaller if it must be, and return the height that it takes, in points."""
    words = clean_name(title, most=120)
    line = setter.extent(words, size=_TITLE, weight="bold")
    fitting = min(1.0, (margins.width - 2 * margins.margin) / line.width)
    text = setter.text(words, size=_TITLE * fitting, weight="bold", gid="title")
    text.set(ha="left", va="baseline")
    text.set_position((margins.margin, margins.height - 0.6 * margins.margin - line.ascent))
    return line.height + 0.8 * margins.margin


def caption_height(
    setter: Typesetter,
    margins: Margins,
    head: str,
    sentences: Sequence[str],
    facts: MapFacts,
    *,
    legend: Sequence[LegendEntry] = (),
) -> float:
    """Height that caption and key need, in points."""
    lines = _caption_lines(setter, margins, head, sentences, facts)
    size = _CAPTION * setter.scale
    key = (_KEY_HEIGHT + len(legend) * _LEGEND_LINE) * setter.scale
    text = len(lines) * size * _LINE
    return (max(text, key) if _beside(setter, margins) else text + key) + 1.35 * margins.margin


def write_caption(
    setter: Typesetter,
    margins: Margins,
    head: str,
    sentences: Sequence[str],
    facts: MapFacts,
    *,
    top: float,
) -> float:
    """Write the caption down from `top`, and return where it ends, in points."""
    size = _CAPTION * setter.scale
    lines = _caption_lines(setter, margins, head, sentences, facts)
    for number, (line, weight, colour) in enumerate(lines):
        text = setter.text(line, size=_CAPTION, weight=weight, gid="caption", colour=colour)
        text.set(ha="left", va="baseline")
        text.set_position((margins.margin, top - size * (1 + number * _LINE)))
    return top - len(lines) * size * _LINE


def draw_key(
    setter: Typesetter,
    margins: Margins,
    tones: Tones,
    *,
    pixel: float,
    top: float,
    below: float,
    legend: Sequence[LegendEntry] = (),
) -> None:
    """Draw the key: squares in map tones, each with the papers that an area its size holds.

    Below them go the symbols of the legend.

    Parameters
    ----------
    setter : Typesetter
    margins : Margins
    tones : Tones
    pixel : float
        Side of a pixel of the density picture, in points.
    top, below : float
        Where the key begins if there is room beside the caption, and if it must go below it.
    legend : sequence of LegendEntry, default ()
    """
    scale, colours = setter.scale, setter.colours
    side = _SQUARE * scale
    area = (side / pixel) ** 2  # pixels in one square of the key
    squares = []
    for value in key_values(tones.density(0.10) * area, tones.top * area):
        tone = float(tones.position(value / area))
        colour = tuple(float(part) for part in colours.ramp[round(tone * (len(colours.ramp) - 1))])
        squares.append((_short(value), colour))
    title = "Papers in a square this size"
    draw_squares(setter, margins, title, squares, top=top, below=below, legend=legend)


def draw_squares(
    setter: Typesetter,
    margins: Margins,
    title: str,
    squares: Sequence[tuple[str, tuple[float, ...]]],
    *,
    top: float,
    below: float,
    legend: Sequence[LegendEntry] = (),
) -> None:
    """Draw a key of squares, each with what its colour means, and the symbols of the legend.

    Parameters
    ----------
    setter : Typesetter
    margins : Margins
    title : str
        What the colours are about.
    squares : sequence of (str, sRGB colour)
        Six at most.
    top, below : float
        Where the key begins if there is room beside the caption, and if it must go below it.
    legend : sequence of LegendEntry, default ()
    """
    from matplotlib.patches import Rectangle

    scale, colours = setter.scale, setter.colours
    side, pitch = _SQUARE * scale, _KEY_WIDTH * scale / _MOST_SQUARES
    if _beside(setter, margins):
        left = margins.width - margins.margin - pitch * max(4, len(squares))
    else:
        left, top = margins.margin, below - 2 * scale
    words = setter.text(title, size=_KEY, gid="key", colour=colours.faint)
    words.set(ha="left", va="baseline")
    words.set_position((left, top - _KEY * scale))
    for number, (meaning, colour) in enumerate(squares):
        x, y = left + number * pitch, top - 12 * scale - side
        square = Rectangle((x, y), side, side, facecolor=colour, edgecolor=colours.faint)
        square.set(linewidth=0.3 * scale, transform=setter.points, gid="key")
        setter.sheet.add_artist(square)
        label = setter.text(meaning, size=_KEY_NUMBERS, gid="key", colour=colours.faint)
        label.set_position((x + side / 2, y - 6 * scale))
    _draw_legend(setter, legend, left=left, top=top - _KEY_HEIGHT * scale)


def _draw_legend(
    setter: Typesetter, legend: Sequence[LegendEntry], *, left: float, top: float
) -> None:
    """Draw symbols and what they mean, one below the other."""
    from matplotlib.lines import Line2D

    scale = setter.scale
    for number, entry in enumerate(legend):
        y = top - (number + 0.5) * _LEGEND_LINE * scale
        across = [left, left + _SQUARE * scale / 2, left + _SQUARE * scale]
        sample = Line2D(across, [y] * 3, markevery=[1])
        sample.set(transform=setter.points, gid="legend", **entry.style)
        setter.sheet.add_artist(sample)
        words = setter.text(entry.words, size=_KEY, gid="key", colour=setter.colours.faint)
        words.set(ha="left", va="center", position=(left + (_SQUARE + 5) * scale, y))


def key_values(least: float, most: float) -> list[float]:
    """Choose round numbers for the key, between two densities.

    Parameters
    ----------
    least, most : float
        Any unit.

    Returns
    -------
    list of float
        Two to six numbers.

    Examples
    --------
    >>> key_values(0.8, 120.0)
    [1.0, 3.0, 10.0, 30.0, 100.0]
    """
    fitting: list[float] = []
    for steps in ((1.0, 10.0), (1.0, 3.0), (1.0, 2.0, 5.0)):
        first, last = math.floor(math.log10(least)), math.ceil(math.log10(most))
        values = {step * 10.0**power for power in range(first, last + 1) for step in steps}
        fitting = sorted(value for value in values if least <= value <= most)
        if len(fitting) >= 4:
            break
    return fitting[-_MOST_SQUARES:] if len(fitting) >= 2 else [least, most]


def _beside(setter: Typesetter, margins: Margins) -> bool:
    """Whether the page is wide enough for the key to stand beside the caption."""
    return _column(setter, margins) >= 0.45 * margins.width


def _column(setter: Typesetter, margins: Margins) -> float:
    return margins.width - 4 * margins.margin - _KEY_WIDTH * setter.scale


def _caption_lines(
    setter: Typesetter, margins: Margins, head: str, sentences: Sequence[str], facts: MapFacts
) -> list[tuple[str, str, str]]:
    """Lines of the caption with their weight and colour, broken to the width of the column."""
    colours = setter.colours
    narrow = _column(setter, margins)
    column = narrow if _beside(setter, margins) else margins.width - 2 * margins.margin
    blocks = [(head, "bold", colours.ink), (" ".join(sentences), "normal", colours.faint)]
    if facts.generated:
        blocks.insert(0, (GENERATED, "bold", colours.accent))
    return [
        (line, weight, colour)
        for block, weight, colour in blocks
        for line in setter.wrapped(block, size=_CAPTION, weight=weight, width=column)
    ]


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:.1g}"
