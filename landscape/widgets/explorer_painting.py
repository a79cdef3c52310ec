"""The figure of an explorer, kept in step with its scene."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from landscape.widgets.map_figure import TRACES, MapFigure, figure_parts, theme_part, trace_style
from landscape.widgets.paper_card import hover_text
from landscape.widgets.raster import draw_picture
from landscape.widgets.scene import Drawn, MapData, Scene, draw

if TYPE_CHECKING:
    from landscape.types import Paper

# Pixels of the picture of the whole map, which shows until a sharper one is there.
_BASE_FINE = 0.45
_KEPT_TEXTS = 20_000
_READ_AT_ONCE = 200  # papers


class Painter:
    """Draws scenes into a figure, and tells of the papers in them.

    Parameters
    ----------
    scene : Scene
    data : MapData

    Attributes
    ----------
    figure : MapFigure
    drawn : Drawn
        What is in the figure.
    data : MapData
        Of which it was drawn.
    texts : dict of int to str
        What is told of papers under the pointer, by row.
    """

    def __init__(self, scene: Scene, data: MapData) -> None:
        self.figure = MapFigure(figure_parts(scene.view, scene.size, scene.colours))
        self.texts: dict[int, str] = {}
        self._base_of: Any = None
        self._dressed_for: Any = None
        self.drawn = self.draw(scene, data)

    def draw(self, scene: Scene, data: MapData) -> Drawn:
        """Put a scene into the figure."""
        drawn = draw(scene, data)
        self.data = data
        key = (id(scene.colouring), scene.colours.name, scene.time, scene.found is None,
               bool(scene.overlays), len(scene.selected))  # fmt: skip
        base = None
        if key != self._base_of:
            base = draw_picture(
                data.in_time(scene.time), data.whole.zoomed(0.6), scene.size,
                colours=scene.colours, colouring=scene.colouring, fine=_BASE_FINE, specks=False,
            )  # fmt: skip
        self._dress(scene)
        self.drawn = drawn
        self.figure.show_drawn(drawn, data, base=base)
        self._base_of = key
        return drawn

    def forget(self) -> None:
        """Know nothing of papers: those of another atlas are drawn from now on."""
        self.texts = {}  # not cleared: what is still read of the old ones goes into the old one

    def start_anew(self) -> None:
        """Send the whole map again with the next drawing."""
        self._base_of = None

    def focus(self, row: int | None, data: MapData) -> None:
        """Ring one paper, or none."""
        rows = [] if row is None else [row]
        with self.figure.drawing():
            trace = self.figure.trace("focus")
            trace.x, trace.y = data.x[rows], data.y[rows]

    def tell_papers(
        self,
        papers_of: Callable[[Sequence[int]], Sequence[Paper]],
        texts: dict[int, str],
        is_outdated: Callable[[], bool],
    ) -> None:
        """Read what is told of the marked papers under the pointer, after they are drawn.

        Parameters
        ----------
        papers_of : callable
            Papers by their rows.
        texts : dict of int to str
            What is known of papers of that atlas; what is read is added to it.
        is_outdated : callable
            Whether something else is to be drawn by now.
        """
        drawn = self.drawn
        wanted = [int(row) for rows in drawn.marks.values() for row in rows]
        if len(texts) > _KEPT_TEXTS:
            texts.clear()
        missing = [row for row in dict.fromkeys(wanted) if row not in texts]
        for start in range(0, len(missing), _READ_AT_ONCE):
            if is_outdated():
                return
            part = missing[start : start + _READ_AT_ONCE]
            for row, paper in zip(part, papers_of(part), strict=True):
                texts[row] = hover_text(paper)
        if is_outdated() or drawn is not self.drawn:
            return
        with self.figure.drawing():
            for name, rows in drawn.marks.items():
                told = [self._text_of(int(row), name, texts) for row in rows]
                if told:
                    trace = self.figure.trace(name)
                    trace.hovertext = told[::-1] if name in ("found", "apart") else told

    def _text_of(self, row: int, name: str, texts: dict[int, str]) -> str:
        told, ranks = texts.get(row, ""), self.drawn.ranks
        if name in ("found", "apart") and row in ranks:
            apart = "apart from the others, " if name == "apart" else ""
            told += f"<br><i>{apart}found as no. {ranks[row]}</i>"
        return told

    def _dress(self, scene: Scene) -> None:
        """Colours of the theme for everything but the picture."""
        key = scene.theme, scene.colours.ramp[-1, 0]
        if key == self._dressed_for:
            return
        self._dressed_for = key
        with self.figure.drawing():
            self.figure.layout.update(theme_part(scene.colours))
            for name in TRACES:
                self.figure.trace(name).update(trace_style(name, scene.colours))
