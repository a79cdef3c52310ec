"""Setting text on a page in points, and measuring it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from landscape.figures.names import FONTS

if TYPE_CHECKING:
    from matplotlib.text import Text

    from landscape.figures.colours import Theme
    from landscape.figures.sheet import Sheet


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
        self._widths: dict[tuple[str, float, str], float] = {}

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
            linespacing=1.04,
            parse_math=False,  # names are untrusted: a dollar sign is a dollar sign
            gid=gid,
            zorder=3,
        )
        return text

    def measure(self, text: Text) -> tuple[float, float]:
        """Width and height in points, with a hair more for the rounding of other resolutions."""
        import matplotlib as mpl

        from landscape.figures.sheet import SETTINGS

        with mpl.rc_context(SETTINGS):
            renderer = self.sheet.canvas.get_renderer()  # type: ignore[attr-defined]  # Agg's has it
            extent = text.get_window_extent(renderer)
        to_points = 72 / self.sheet.dpi
        return extent.width * to_points * 1.02 + 0.6, extent.height * to_points + 0.6

    def wrapped(self, words: str, *, size: float, weight: str, width: float) -> list[str]:
        """Break words into lines no wider than `width` points."""
        lines = [""]
        for word in words.split(" "):
            longer = f"{lines[-1]} {word}".strip()
            if not lines[-1] or self._width(longer, size, weight) <= width:
                lines[-1] = longer
            else:
                lines.append(word)
        return lines

    def _width(self, line: str, size: float, weight: str) -> float:
        """Width of one line, remembered: a caption is set twice."""
        if (line, size, weight) not in self._widths:
            text = self.text(line, size=size, weight=weight)
            self._widths[line, size, weight] = self.measure(text)[0]
            text.remove()
        return self._widths[line, size, weight]
