"""Draw a scene with matplotlib, as a page for print or as one panel in existing axes.

This module is imported only when a figure is drawn. It imports matplotlib at the top, because
`Sheet` is a subclass of its Figure.
"""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.patheffects import PathPatchEffect, Stroke
from matplotlib.text import Text as Words
from matplotlib.ticker import NullLocator
from matplotlib.transforms import Affine2D, Bbox, BboxTransform, Transform

from landscape.figures.caption import GENERATED
from landscape.figures.fonts import FONTS
from landscape.figures.labels import HAIR_SPACE
from landscape.figures.lettering import HALO_OPACITY, Run
from landscape.figures.scene import (
    Arrows,
    Band,
    Box,
    Curve,
    Hatched,
    Image,
    Intervals,
    Layer,
    Lines,
    Names,
    Panel,
    Points,
    Rule,
    Scene,
    Spans,
    Squares,
    Text,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.backend_bases import RendererBase

_HATCH = "////"
_BEND = 0.12  # bend of an arrow divided by its length; the bend separates opposite arrows
_STYLES = {"-": "-", "dashed": (0, (4, 2)), "dotted": ":"}
_FONT: dict[str, Any] = {"fontfamily": list(FONTS), "parse_math": False}  # names are untrusted

#: Without hinting, the width of text is the same at every resolution. Hatching lines are thin, so
#: that hatched areas are not mistaken for a colour of the density.
SETTINGS: dict[Any, Any] = {"text.hinting": "none", "hatch.linewidth": 0.4}


class Sheet(Figure):
    """A figure with its scene, alternative text, full caption and data."""

    def __init__(
        self,
        *args: Any,
        alt_text: str = "",
        table: pd.DataFrame | None = None,
        caption: str = "",
        scene: Scene | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.alt_text, self.table, self.caption = alt_text, table, caption
        self.scene: Any = scene  # None if the figure was not drawn from a scene
        FigureCanvasAgg(self)

    def draw(self, renderer: RendererBase) -> None:
        """Draw the figure without font hinting."""
        with mpl.rc_context(SETTINGS):
            super().draw(renderer)

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return a PNG for notebooks at twice the screen resolution."""
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=144, facecolor=self.get_facecolor())
        width = round(self.get_figwidth() * 72)
        data = {
            "image/png": b64encode(buffer.getvalue()).decode("ascii"),
            "text/plain": self.alt_text or repr(self),
        }
        return data, {"image/png": {"width": width, "alt": self.alt_text}}


def draw(scene: Scene, *, outlined: bool = False) -> Sheet:
    """Draw a scene as a page with all its panels and texts.

    With `outlined`, lines of text of the class `Run` are drawn as outlines, which are sharper in a
    picture; without, straight ones are text that a PDF can search.
    """
    width, height = scene.size
    sheet = Sheet(
        figsize=(width / 72, height / 72),
        facecolor=scene.colours.page,
        scene=scene,
        alt_text=scene.alt_text,
        table=scene.table,
        caption=scene.caption.text,
    )
    points = Affine2D().scale(1 / 72) + sheet.dpi_scale_trans
    brush = _Brush(scene, sheet, points, outlined=outlined)
    with mpl.rc_context(SETTINGS):
        for panel in scene.panels:
            brush.panel(sheet.add_axes(_shares(panel.box, scene.size)), panel)
        brush.page(sheet, scene)
    return sheet


def _shares(box: Box, size: tuple[float, float]) -> Box:
    """Return the left and bottom side, width and height of a box as shares of the page."""
    (left, bottom, right, top), (width, height) = box, size
    return left / width, bottom / height, (right - left) / width, (top - bottom) / height


def draw_onto(axes: Axes, scene: Scene) -> Axes:
    """Draw the first panel of a scene into axes, with the title above and a caption below."""
    (panel, *_) = scene.panels
    x0, y0, x1, y1 = panel.extent
    left, bottom, right, top = panel.box
    page = Bbox.from_extents(left, bottom, right, top)
    axes.set_facecolor(scene.colours.page)
    points: Transform = (
        BboxTransform(page, Bbox.unit()) + axes.transAxes
        if panel.x.log or panel.y.log
        else BboxTransform(page, Bbox.from_extents(x0, y0, x1, y1)) + axes.transData
    )
    brush = _Brush(scene, axes, points)
    brush.panel(axes, panel)
    for text in scene.texts:
        brush.text(text)
    size = 7.0 * scene.scale
    if panel.rows:
        axes.set_yticks(
            [at for at, _ in panel.rows], [words for _, words in panel.rows], fontsize=size, **_FONT
        )
    if panel.x.title:
        axes.set_xlabel(panel.x.title, fontsize=size, **_FONT)
    axes.set_title(scene.title or scene.caption.head, loc="left", fontsize=1.3 * size, **_FONT)
    lines = [*([GENERATED] if scene.caption.generated else []), *scene.caption.sentences[:1]]
    axes.annotate(
        "\n".join(lines),
        (0, 0),
        xycoords="axes fraction",
        fontsize=0.9 * size,
        xytext=(0, -(26 if panel.x.ticks else 4)),
        textcoords="offset points",
        va="top",
        color=scene.colours.faint,
        gid="caption",
        annotation_clip=False,
        **_FONT,
    )
    return axes


class _Brush:
    """Draws layers into axes, and texts into `target`, a figure or axes."""

    def __init__(
        self, scene: Scene, target: Figure | Axes, points: Transform, *, outlined: bool = False
    ) -> None:
        self.scene, self.colours, self.scale = scene, scene.colours, scene.scale
        self.target, self.points, self.outlined = target, points, outlined

    def panel(self, axes: Axes, panel: Panel) -> None:
        """Draw a panel into axes; each layer is drawn by the method named after its class."""
        self._style(axes, panel)
        for layer in panel.layers:
            if layer.screen is not True:
                getattr(self, f"_{type(layer).__name__.lower()}")(axes, layer)
        axes.set(xlim=panel.x.limits, ylim=panel.y.limits)

    def page(self, sheet: Sheet, scene: Scene) -> None:
        """Draw the texts and layers that are not part of a panel."""
        for number, layer in enumerate(scene.layers):
            order = layer.order + 1e-4 * number  # matplotlib would draw pictures last
            if isinstance(layer, Image):
                axes = sheet.add_axes(_shares(layer.extent, scene.size), zorder=order)
                axes.set_axis_off()
                self._image(axes, layer)
            for artist in self._artists(layer, order):
                artist.set(transform=self.points, gid=layer.gid)
                sheet.add_artist(artist)
        for text in scene.texts:
            self.text(text)

    def _artists(self, layer: Layer, order: float) -> Iterator[Artist]:
        """Yield the artists of a layer of the page, in points."""
        if isinstance(layer, Squares):
            for (x0, y0, x1, y1), colour in zip(layer.boxes, layer.colours, strict=True):
                square = Rectangle((x0, y0), x1 - x0, y1 - y0, facecolor=colour, zorder=order)
                square.set(edgecolor=layer.edge, linewidth=layer.width)
                yield square
        elif isinstance(layer, Lines):
            for line in layer.lines:
                drawn = Line2D(*line.T, color=layer.colour, zorder=order)
                drawn.set(linewidth=layer.width, alpha=layer.opacity)
                drawn.set(linestyle=_STYLES.get(layer.dashes, layer.dashes))
                drawn.set(solid_capstyle="round", solid_joinstyle="round")
                yield drawn
        elif isinstance(layer, Points):
            yield Line2D(layer.x, layer.y, **_mark_style(layer), zorder=order)
        elif isinstance(layer, Run) and np.size(layer.path.vertices):
            if layer.halo:
                halo = PathPatch(layer.path, facecolor="none", edgecolor=layer.halo, zorder=order)
                halo.set(joinstyle="round", capstyle="round")
                halo.set(linewidth=layer.halo_width, alpha=HALO_OPACITY)
                yield halo
            # Letters are drawn above all halos.
            if self.outlined or not layer.is_plain:
                yield PathPatch(layer.path, facecolor=layer.colour, linewidth=0, zorder=order + 1)
            else:
                style = layer.style
                words = Words(layer.x, layer.y, layer.text, parse_math=False, zorder=order + 1)
                words.set(fontfamily=list(style.families), fontsize=style.size, color=layer.colour)
                words.set(fontstyle="italic" if style.italic else "normal", va="baseline")
                words.set(fontweight="bold" if style.bold else "normal")
                yield words

    def text(self, text: Text) -> Any:
        """Draw one line of text."""
        behind = {"facecolor": self.colours.page, "edgecolor": "none", "pad": 0.4, "alpha": 0.85}
        return self.target.text(
            text.x,
            text.y,
            text.words,
            transform=self.points,
            fontsize=text.size,
            fontweight=text.weight,
            color=text.colour,
            ha=text.align,
            va="baseline",
            gid=text.gid,
            zorder=3,
            bbox=behind if text.in_panel else None,
            **_FONT,
        )

    def _style(self, axes: Axes, panel: Panel) -> None:
        """Style the axes with thin lines; set log scales before limits."""
        faint, scale = self.colours.faint, self.scale
        axes.set_gid(panel.gid)
        for axis, drawn, name in ((panel.x, axes.xaxis, "x"), (panel.y, axes.yaxis, "y")):
            if axis.log:
                getattr(axes, f"set_{name}scale")("log")
            drawn.set_minor_locator(NullLocator())
            drawn.set_ticks([at for at, _ in axis.ticks], [words for _, words in axis.ticks])
        axes.tick_params(
            colors=faint,
            labelsize=7.0 * scale,
            width=0.5 * scale,
            length=2.5 * scale,
            pad=2 * scale,
            labelfontfamily=list(FONTS),
        )
        if axes is not self.target:
            axes.set_facecolor("none")
        shown = {"none": (), "box": ("left", "bottom", "right", "top"), "chart": ("left", "bottom")}
        for side, spine in axes.spines.items():
            spine.set(visible=side in shown[panel.edge], color=faint, linewidth=0.5 * scale)
        if panel.edge == "chart" and not panel.y.ticks:
            axes.spines["left"].set_visible(False)
        if panel.edge == "none":
            axes.set_axis_off()

    def _image(self, axes: Axes, layer: Image) -> None:
        x0, y0, x1, y1 = layer.extent
        axes.imshow(
            layer.pixels,
            extent=(x0, x1, y0, y1),
            origin="lower",
            aspect="auto",
            gid=layer.gid,
            zorder=layer.order,
            interpolation="bilinear" if layer.smooth else None,
        )

    def _lines(self, axes: Axes, layer: Lines) -> None:
        lines = [line for line in layer.lines if len(line)]
        if not lines:
            return
        if layer.fill:
            # A single compound path leaves holes unfilled.
            whole = Path.make_compound_path(*(Path(line, closed=True) for line in lines))
            axes.add_patch(
                PathPatch(
                    whole,
                    facecolor=layer.colour,
                    alpha=layer.fill,
                    linewidth=0,
                    gid=f"{layer.gid} fill",
                )
            )
        drawn = LineCollection(
            lines,
            colors=layer.colour,
            linewidths=layer.width,
            alpha=layer.opacity,
            linestyles=[_STYLES.get(layer.dashes, layer.dashes)],
        )
        drawn.set(gid=layer.gid, zorder=layer.order + 0.1, capstyle="butt", joinstyle="round")
        axes.add_collection(drawn, autolim=False)

    def _points(self, axes: Axes, layer: Points) -> None:
        if isinstance(layer.colour, str) and np.ndim(layer.size) == 0:
            axes.plot(
                layer.x,
                layer.y,
                **_mark_style(layer),
                alpha=layer.opacity,
                zorder=layer.order,
                scalex=False,
                scaley=False,
            )
            return
        size = np.asarray(layer.size, dtype=float) ** 2
        axes.scatter(
            layer.x,
            layer.y,
            s=size,
            c=layer.colour,
            marker=layer.marker,
            gid=layer.gid,
            zorder=layer.order,
            edgecolors=layer.edge or "none",
            linewidths=layer.edge_width,
            alpha=layer.opacity,
        )

    def _curve(self, axes: Axes, layer: Curve) -> None:
        axes.plot(
            layer.x, layer.y, color=layer.colour, lw=layer.width, gid=layer.gid, zorder=layer.order
        )

    def _band(self, axes: Axes, layer: Band) -> None:
        axes.fill_between(
            layer.x,
            layer.low,
            layer.high,
            color=layer.colour,
            alpha=0.22,
            linewidth=0,
            gid=layer.gid,
        )

    def _intervals(self, axes: Axes, layer: Intervals) -> None:
        rows = zip(
            layer.at, layer.value, layer.low, layer.high, layer.colours, layer.filled, strict=True
        )
        for at, value, low, high, colour, filled in rows:
            axes.plot(
                [low, high],
                [at, at],
                color=colour,
                lw=layer.width,
                gid="interval",
                solid_capstyle="butt",
            )
            axes.plot(
                value,
                at,
                "o",
                color=colour,
                ms=layer.size,
                gid=layer.gid,
                clip_on=False,
                markerfacecolor=colour if filled else self.colours.page,
            )

    def _rule(self, axes: Axes, layer: Rule) -> None:
        axes.axvline(
            layer.x,
            color=layer.colour,
            lw=layer.width,
            zorder=layer.order,
            ls=_STYLES.get(layer.dashes, layer.dashes),
            gid=layer.gid,
        )
        if layer.label:
            axes.annotate(
                layer.label,
                (layer.x, 1),
                xycoords=("data", "axes fraction"),
                xytext=(3, -7),
                textcoords="offset points",
                fontsize=7 * self.scale,
                color=layer.colour,
                gid=layer.gid,
                **_FONT,
            )

    def _spans(self, axes: Axes, layer: Spans) -> None:
        for start, end in layer.spans:
            axes.axvspan(
                start,
                end,
                facecolor="none",
                edgecolor=layer.colour,
                hatch=_HATCH,
                linewidth=0,
                alpha=0.45,
                zorder=0.5,
                gid="not covered",
            )

    def _hatched(self, axes: Axes, layer: Hatched) -> None:
        x0, y0, x1, y1 = layer.extent
        if layer.where.all():
            whole = Rectangle((x0, y0), x1 - x0, y1 - y0, facecolor="none", hatch=_HATCH)
            whole.set(edgecolor=layer.colour, linewidth=0, alpha=0.5, gid="not covered")
            axes.add_patch(whole)
        elif layer.where.any():
            rows, columns = layer.where.shape
            across = x0 + (np.arange(columns) + 0.5) * (x1 - x0) / columns
            up = y0 + (np.arange(rows) + 0.5) * (y1 - y0) / rows
            drawn = axes.contourf(
                across,
                up,
                layer.where.astype(float),
                levels=[0.5, 1.5],
                colors="none",
                hatches=[_HATCH],
            )
            drawn.set(edgecolor=layer.colour, linewidth=0.0, zorder=1.3, gid="not covered")

    def _arrows(self, axes: Axes, layer: Arrows) -> None:
        for start, end in zip(layer.starts, layer.ends, strict=True):
            axes.add_patch(
                FancyArrowPatch(
                    tuple(start),
                    tuple(end),
                    connectionstyle=f"arc3,rad={_BEND}",
                    arrowstyle="-|>",
                    mutation_scale=5.0 * self.scale,
                    linewidth=layer.width,
                    color=layer.colour,
                    alpha=0.55,
                    shrinkA=2.5 * self.scale,
                    shrinkB=2.5 * self.scale,
                    zorder=layer.order,
                    gid=layer.gid,
                )
            )

    def _names(self, axes: Axes, layer: Names) -> None:
        self._leaders(axes, layer)
        halo_of_names = Stroke(linewidth=2.4 * self.scale, foreground=self.colours.halo, alpha=0.75)
        for name in layer.names:
            x = {"left": name.box[0], "right": name.box[2]}.get(
                name.side, (name.box[0] + name.box[2]) / 2
            )
            for line, y in zip(name.lines, name.baselines, strict=True):
                text = Text(line, x, y, name.size, name.colour, name.weight, name.side, name.gid)
                drawn = self.text(text)
                if HAIR_SPACE in line:  # the PDF fonts of matplotlib misplace letters beside it
                    drawn.set_path_effects([PathPatchEffect(facecolor=name.colour, linewidth=0)])
                # matplotlib draws text with a path effect as outlines. Only the halo has a path
                # effect, so that the name is stored as text in PDF and SVG.
                halo = self.text(text)
                halo.set(gid="halo", path_effects=[halo_of_names], zorder=2.5)

    def _leaders(self, axes: Axes, layer: Names) -> None:
        """Draw lines from peaks to names, with a dot at each peak."""
        drawn = layer.leaders[~np.isnan(layer.leaders).any(axis=1)].reshape(-1, 2, 2).copy()
        if not layer.leader_colour:
            return
        # Leader lines end at a small distance from the letters.
        along = drawn[:, 0] - drawn[:, 1]
        drawn[:, 1] += 1.5 * self.scale * along / np.linalg.norm(along, axis=1, keepdims=True)
        for colour, width, order in (
            (self.colours.halo, 1.8, 2.0),
            (layer.leader_colour, 0.5, 2.1),
        ):
            lines = LineCollection(
                list(drawn), colors=colour, linewidths=width * self.scale, gid="leaders"
            )
            lines.set_transform(self.points)
            lines.set_zorder(order)
            axes.add_collection(lines, autolim=False)
        if layer.peaks and len(drawn):
            axes.plot(
                *drawn[:, 0].T,
                "o",
                transform=self.points,
                color=layer.leader_colour,
                markersize=2.4 * self.scale,
                markeredgecolor=self.colours.halo,
                markeredgewidth=0.6 * self.scale,
                gid="peaks",
                zorder=2.2,
                scalex=False,
                scaley=False,
            )


def _mark_style(layer: Points) -> dict[str, Any]:
    edge = layer.edge or layer.colour
    return {
        "linestyle": "none",
        "marker": layer.marker,
        "markersize": layer.size,
        "color": layer.colour,
        "markerfacecolor": layer.colour if layer.filled else "none",
        "markeredgecolor": edge,
        "markeredgewidth": layer.edge_width,
        "gid": layer.gid,
    }
