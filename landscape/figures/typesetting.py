"""Setting text on a page in points, and measuring it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from landscape.figures.names import FONTS

if TYPE_CHECKING:
    from matplotlib.text import Text

    from landscape.figures.colours import Theme
    from landscape.figures.sheet import Sheet


_MOST_WORDS = 64  # of a line


@dataclass(frozen=True)
class Extent:
    """Size of one line of text, in points.

    Attributes
    ----------
    width, ascent, descent : float
        Ascent is above the baseline and descent below it, both positive.
    """

    width: float
    ascent: float
    descent: float

    @property
    def height(self) -> float:
        """Ascent and descent together."""
        return self.ascent + self.descent


class Typesetter:
    """Sets and measures text on a sheet, in points from its lower left corner.

    Parameters
    ----------
    sheet : Sheet
    colours : Theme
    scale : float
        Every size is multiplied by this: larger pages have larger letters.

    Examples
    --------
    >>> from landscape.figures.colours import theme
    >>> from landscape.figures.sheet import Sheet
    >>> setter = Typesetter(Sheet(figsize=(4, 3)), theme("light"), scale=1.0)
    >>> setter.wrapped("one two three", size=10, weight="normal", width=40)
    ['one two', 'three']
    """

    def __init__(self, sheet: Sheet, colours: Theme, *, scale: float) -> None:
        from matplotlib.transforms import Affine2D

        self.sheet = sheet
        self.colours = colours
        self.scale = scale
        self.points = Affine2D().scale(1 / 72) + sheet.dpi_scale_trans
        self._extents: dict[tuple[str, float, str], Extent] = {}

    def text(
        self,
        words: str,
        *,
        size: float,
        weight: str = "normal",
        gid: str = "",
        colour: str | None = None,
    ) -> Text:
        """Set text, centred on the origin until it is moved."""
        text: Text = self.sheet.text(
            0,
            0,
            words,
            transform=self.points,
            fontfamily=list(FONTS),
            fontsize=size * self.scale,
            fontweight=weight,
            color=colour or self.colours.ink,
            ha="center",
            va="center",
            parse_math=False,  # names are untrusted: a dollar sign is a dollar sign
            gid=gid,
            zorder=3,
        )
        return text

    def over_halo(
        self, words: str, *, size: float, weight: str, gid: str, colour: str
    ) -> tuple[Text, Text]:
        """Set text twice: to be read, and as the halo behind it."""
        from matplotlib.patheffects import Stroke

        text, halo = (
            self.text(words, size=size, weight=weight, gid=name, colour=colour)
            for name in (gid, "halo")
        )
        # A text with a path effect is drawn as outlines: only the halo has one, so that the text
        # itself stays text in PDF and SVG.
        halo.set_path_effects(
            [Stroke(linewidth=2.4 * self.scale, foreground=self.colours.halo, alpha=0.75)]
        )
        halo.set_zorder(2.5)
        return text, halo

    def extent(self, words: str, *, size: float, weight: str = "normal") -> Extent:
        """Measure one line, with a hair more for the rounding of other resolutions."""
        key = (words, size, weight)
        if key not in self._extents:
            text = self.text(words, size=size, weight=weight)
            text.set_verticalalignment("baseline")
            renderer = self.sheet.canvas.get_renderer()  # type: ignore[attr-defined]  # Agg's has it
            box = text.get_window_extent(renderer)
            text.remove()
            point = 72 / self.sheet.dpi
            self._extents[key] = Extent(
                width=box.width * point * 1.02 + 0.6,
                ascent=box.y1 * point + 0.3,
                descent=-box.y0 * point + 0.3,
            )
        return self._extents[key]

    def wrapped(self, words: str, *, size: float, weight: str, width: float) -> list[str]:
        """Break words into lines no wider than `width` points; a wider word is cut."""
        left = list(self._pieces(words, size=size, weight=weight, width=width))
        lines = []
        while left:
            # Measuring is the slow part: halving finds the end of a line in a few measurements.
            n = bisect_right(
                range(2, min(len(left), _MOST_WORDS) + 1),
                width,
                key=lambda n: self.extent(" ".join(left[:n]), size=size, weight=weight).width,
            )
            lines.append(" ".join(left[: n + 1]).strip())
            left = left[n + 1 :]
        return lines or [""]

    def _pieces(self, words: str, *, size: float, weight: str, width: float) -> Iterator[str]:
        """Words, the few that are wider than a line in pieces."""

        def first(length: int) -> float:
            return self.extent(rest[:length], size=size, weight=weight).width

        for rest in words.split(" "):
            # No letter is wider than one and a half times its size: most words need no measuring.
            room = width / (1.5 * size * self.scale)
            while len(rest) > max(1, room) and first(len(rest)) > width:
                fitting = max(1, bisect_right(range(1, len(rest)), width, key=first))
                yield rest[:fitting]
                rest = rest[fitting:]
            yield rest
