"""What a map shows, as one value: from the state of a panel to what is drawn of it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.figures._colours import Theme, quiet, theme
from landscape.widgets._colours import DENSITY, Colouring
from landscape.widgets._labels import Labels, Name
from landscape.widgets._raster import FINE, Picture, draw_picture
from landscape.widgets._view import Points, Size, View, whole_view

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.atlas import Atlas
    from landscape.types import Paper

    Rows = NDArray[np.int64]

MOST_POINTS = 1_500
"""Papers that are marked singly; of more the density is the better picture."""
_MOST_RINGS = 400  # more of them hide what they ring
_KEPT_CLEAR, _AVOIDED = 12, 100  # of the best papers found names keep clear; where they can
_MOST_VERTICES = 3_000
_CONTOURED = (0.5, 0.8)
_GRID = 200  # cells of the shorter side of what contours are traced on
Period = tuple[int, int]


@dataclass(frozen=True)
class Found:
    """Papers that a search found."""

    query: str
    method: str
    rows: Rows
    apart: NDArray[np.bool_]
    papers: tuple[Paper, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Scene:
    """Everything that decides what the map looks like."""

    view: View
    size: Size
    theme: str = "light"
    colouring: Colouring = DENSITY
    time: Period | None = None
    layers: frozenset[str] = frozenset({"names", "papers"})
    overlays: Mapping[str, tuple[str, Rows]] = field(default_factory=dict)
    found: Found | None = None
    selected: Rows = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def colours(self) -> Theme:
        """Quiet below whatever is marked on the map."""
        full = theme(self.theme)
        marked = self.found is not None or bool(self.overlays) or len(self.selected)
        return quiet(full) if marked and self.colouring.kind == "density" else full


class MapData:
    """The places, years and names of an atlas; nothing here changes once it is made."""

    def __init__(self, atlas: Atlas, size: Size) -> None:
        table = atlas.map
        self.x = table["x"].to_numpy(dtype=np.float32)
        self.y = table["y"].to_numpy(dtype=np.float32)
        self.points = Points(self.x, self.y)
        self.labels = Labels(atlas.topics)
        self.whole = whole_view(self.points.x, self.points.y, size)
        years = atlas.read_papers(["year"])["year"].to_numpy("float32", na_value=0)
        self.years = np.where(np.isfinite(years), years, 0).astype(np.int16)
        self._lock = threading.Lock()
        self._in_time: tuple[Period | None, Points] = (None, self.points)
        self._lines: dict[Any, Any] = {}

    def __len__(self) -> int:
        return len(self.x)

    @cached_property
    def period(self) -> Period | None:
        """First and last year, None where no paper has one."""
        known = self.years[self.years > 0]
        return (int(known.min()), int(known.max())) if len(known) else None

    @cached_property
    def undated(self) -> int:
        """Papers without a year."""
        return int((self.years <= 0).sum())

    def in_time(self, time: Period | None) -> Points:
        """The papers of a time window."""
        if time is None:
            return self.points
        with self._lock:
            known, points = self._in_time
        if known != time:
            points = self.points.only(self.is_in_time(time))
            with self._lock:
                self._in_time = (time, points)
        return points

    def is_in_time(self, time: Period | None) -> NDArray[np.bool_]:
        """Whether each paper is of a time window, shape (n_papers,)."""
        if time is None:
            return np.ones(len(self), dtype=bool)
        inside: NDArray[np.bool_] = (self.years >= time[0]) & (self.years <= time[1])
        return inside

    def of_time(self, rows: Rows, time: Period | None) -> Rows:
        """Those of some rows that are of a time window."""
        if time is None:
            return rows
        years = self.years[rows]
        return rows[(years >= time[0]) & (years <= time[1])]

    def zoom(self, view: View) -> float:
        """How much larger the map is than when it is seen whole."""
        return self.whole.width / view.width

    def contours(self, key: Any, rows: Rows) -> tuple[Any, Any]:
        """Lines that hold 50 and 80 per cent of some papers, as x and y with gaps between them."""
        with self._lock:
            known = self._lines.get(key)
        if known is None:
            known = _contours(self.x[rows], self.y[rows], self.whole)
            with self._lock:
                if len(self._lines) > 60:
                    self._lines.clear()
                self._lines[key] = known
        return known


@dataclass(frozen=True)
class Drawn:
    """A scene as it is drawn."""

    scene: Scene
    picture: Picture
    names: list[Name]
    marks: Mapping[str, Rows]
    lines: Mapping[str, tuple[Any, Any]]
    ranks: Mapping[int, int]
    counts: Mapping[str, int]


def draw(scene: Scene, data: MapData, *, fine: float = FINE) -> Drawn:
    """Draw a scene."""
    points = data.in_time(scene.time)
    marks, lit = marks_of(scene, data)
    picture = draw_picture(
        points, scene.view, scene.size, colours=scene.colours, colouring=scene.colouring,
        fine=fine, lit=lit,
        specks=not ("papers" in scene.layers and _few(points, scene.view)),
    )  # fmt: skip
    if "papers" in scene.layers and picture.n_papers <= MOST_POINTS:
        marks["papers"] = points.within(scene.view.box).astype(np.int64)
    zoom = data.zoom(scene.view)
    names = []
    if "names" in scene.layers:
        dots = _dots(scene, data, marks)
        names = data.labels.place(
            scene.view, scene.size, zoom=zoom, reserved=dots[:_KEPT_CLEAR], avoided=dots
        )
    lines = {}
    for layer, (title, rows) in scene.overlays.items():
        if layer != "reviews" or "reviews" not in marks:
            kept = data.of_time(rows, scene.time)
            lines[layer] = data.contours((layer, title, scene.time, len(kept)), kept)
    ranks = {}
    if scene.found is not None:
        ranks = {int(row): rank for rank, row in enumerate(scene.found.rows[:MOST_POINTS], 1)}
    return Drawn(scene, picture, names, marks, lines, ranks, _counts(scene, data))


def _counts(scene: Scene, data: MapData) -> dict[str, int]:
    rows = {layer: rows for layer, (_, rows) in scene.overlays.items()}
    rows["selected"] = scene.selected
    if scene.found is not None:
        rows["found"] = scene.found.rows
    return {name: len(data.of_time(some, scene.time)) for name, some in rows.items()}


def marks_of(scene: Scene, data: MapData) -> tuple[dict[str, Rows], Points | None]:
    """Papers to mark singly, and those that are too many for it."""
    marks: dict[str, Rows] = {}
    lit: list[Rows] = []

    def seen(rows: Rows) -> Rows:
        rows = data.of_time(rows, scene.time)
        here: Rows = rows[scene.view.holds(data.x[rows], data.y[rows])]
        return here

    if scene.found is not None:
        rows, apart = scene.found.rows, scene.found.apart
        here = seen(rows)
        if len(here) <= MOST_POINTS:
            marks["apart"] = seen(rows[apart])
            marks["found"] = seen(rows[~apart])
        else:
            lit.append(rows)
    if len(scene.selected):
        here = seen(scene.selected)
        if len(here) <= _MOST_RINGS:
            marks["selected"] = here
        else:
            lit.append(scene.selected)
    if "reviews" in scene.overlays:
        here = seen(scene.overlays["reviews"][1])
        if len(here) <= MOST_POINTS:
            marks["reviews"] = here
    if not lit:
        return marks, None
    mask = np.zeros(len(data), dtype=bool)
    for rows in lit:
        mask[rows] = True
    return marks, data.in_time(scene.time).only(mask)


def _dots(scene: Scene, data: MapData, marks: Mapping[str, Rows]) -> Any:
    """Boxes of the best papers found, in pixels, shape (n, 4)."""
    if scene.found is None or "found" not in marks:
        return np.empty((0, 4))
    best = data.of_time(scene.found.rows[:_AVOIDED], scene.time)
    at = scene.view.to_pixels(data.x[best], data.y[best], scene.size)
    return np.hstack([at - 5.0, at + 5.0])


def _few(points: Points, view: View) -> bool:
    return len(points.near(view.box)[0]) <= MOST_POINTS


def _contours(x: Any, y: Any, whole: View) -> tuple[Any, Any]:
    from landscape.mapping._density import contour_lines, density_grid, highest_density_levels

    if len(x) < 3:
        return np.zeros(0, dtype=np.float32), np.zeros(0, dtype=np.float32)
    shape = (_GRID, round(_GRID * whole.width / whole.height))
    grid = density_grid(x, y, bounds=whole.box, shape=shape)
    lines = [
        line for level in highest_density_levels(grid, _CONTOURED)
        for line in contour_lines(grid, level)
    ]  # fmt: skip
    step = max(1, -(-sum(map(len, lines)) // _MOST_VERTICES))
    pieces = [
        np.vstack([line[:-1:step], line[:1], [[np.nan, np.nan]]]) for line in lines if len(line) > 3
    ]
    joined = np.concatenate(pieces) if pieces else np.zeros((0, 2))
    return joined[:, 0].astype(np.float32), joined[:, 1].astype(np.float32)
