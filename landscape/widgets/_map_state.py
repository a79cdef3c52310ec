"""State of a map, and functions that draw its picture, names, papers and contours."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from landscape._wording import count
from landscape.figures.colours import Theme, quiet, theme
from landscape.figures.labels import place_labels
from landscape.figures.maps import chosen_topics
from landscape.figures.plotly_backend import safe_text, thinned
from landscape.viewer.names import shapes_of
from landscape.widgets._colours import DENSITY, Colouring
from landscape.widgets._raster import FINE, Picture, draw_picture
from landscape.widgets._view import Points, Size, View, whole_view

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.atlas import Atlas
    from landscape.types import Paper

    Rows = NDArray[np.int64]
    Line = tuple[NDArray[np.float32], NDArray[np.float32]]  # x and y of vertices

MAX_POINTS = 1_500
"""Maximum number of papers drawn as single dots. If there are more, their density is clearer."""
_MAX_RINGS = 400  # maximum number of rings; more rings would cover the papers
_KEPT_CLEAR = 12  # number of best papers found that names must not cover
_MAX_VERTICES = 3_000
_CONTOURED = (0.5, 0.8)
_GRID = 200  # number of grid cells along the shorter side, used to compute contours
_KEPT_LINES = 60
Period = tuple[int, int]


class Overlay(NamedTuple):
    """Papers outlined on the map: the papers of a concept or a facility, or all reviews."""

    title: str
    rows: Rows
    name: str = ""  # as typed by the user


@dataclass(frozen=True)
class Found:
    """Papers that a search found."""

    query: str
    method: str
    k: int
    rows: Rows
    apart: NDArray[np.bool_]
    papers: tuple[Paper, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class MapState:
    """All settings that determine the map."""

    view: View
    size: Size
    theme: str = "light"
    colouring: Colouring = DENSITY
    time: Period | None = None
    layers: frozenset[str] = frozenset({"names", "papers"})
    overlays: Mapping[str, Overlay] = field(default_factory=dict)
    found: Found | None = None
    selected: Rows = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    selected_by: tuple[str, object] | None = None  # ("select", filter) or ("outline", corners)
    selected_in: Period | None = None  # time window of the selection

    @property
    def colours(self) -> Theme:
        """The theme; its colour ramp is less intense if papers are marked."""
        full = theme(self.theme)
        marked = self.found is not None or bool(self.overlays) or len(self.selected)
        return quiet(full) if marked and self.colouring.kind == "density" else full

    def name_of(self, kind: str) -> str | None:
        """Return the name of the outlined concept or facility."""
        return self.overlays[kind].name if kind in self.overlays else None


# -- names

LINE = 1.3  # line height of plotly, relative to the font size
_GAP = 5.0
_MAX_NAMES = 44
# Maximum distance in pixels between a name and its peak, because there are no leader lines.
_REACH = 2.0
# Zooms at which more regions appear, regions have priority, and subregions replace continents.
_FAR, _NEAR, _CLOSE = 1.5, 3.0, 6.0
_FIRST_REGIONS = 12  # maximum number of region names on the whole map


@dataclass(frozen=True)
class Name:
    """A name and its position on the map."""

    topic_id: int
    level: int
    lines: tuple[str, ...]
    x: float
    y: float
    box: tuple[float, float, float, float]


class Labels:
    """Names on the map. Their sizes are measured once, and they are placed again for each view."""

    def __init__(self, topics: pd.DataFrame) -> None:
        self.table = chosen_topics(topics, levels=(0, 1, 2))
        self._level = self.table["level"].to_numpy(dtype=np.int64)
        self._x, self._y = (self.table[side].to_numpy(dtype=np.float64) for side in ("x", "y"))
        self._has_continents = bool((self._level == 0).any())
        self._shapes = [
            shapes_of(str(label), min(int(level), 1), LINE)
            for label, level in zip(self.table["label"], self._level, strict=True)
        ]

    @cached_property
    def cards(self) -> dict[int, str]:
        """Hover text of each region."""
        cards = {}
        for row in self.table.to_dict("records"):
            words = row.get("keywords")
            some = [] if words is None or isinstance(words, str | float) else list(words[:3])
            lines = [f"<b>{safe_text(row['label'])}</b>", count(int(row["n_papers"]), "paper")]
            lines += [", ".join(map(safe_text, some))] if some else []
            cards[int(row["topic_id"])] = "<br>".join([*lines, "<i>click to go there</i>"])
        return cards

    def in_view(self, view: View, *, zoom: float) -> NDArray[np.int64]:
        """Return the rows of `table` whose names may be shown, the most important first."""
        inside = view.holds(self._x, self._y)
        continents = np.flatnonzero(inside & (self._level == 0))
        regions = np.flatnonzero(inside & (self._level == 1))
        if zoom < _FAR and self._has_continents:
            regions = regions[:_FIRST_REGIONS]
        if zoom >= _CLOSE:
            continents = continents[:0]
            regions = np.append(regions, np.flatnonzero(inside & (self._level == 2)))
        first, then = (continents, regions) if zoom < _NEAR else (regions, continents)
        return np.concatenate([first, then])[:_MAX_NAMES]

    def place(
        self, view: View, size: Size, *, zoom: float, reserved: NDArray[np.float64] | None = None
    ) -> list[Name]:
        """Choose and place names so that they do not overlap each other or reserved boxes."""
        chosen = self.in_view(view, zoom=zoom)
        shapes = [self._shapes[index] for index in chosen.tolist()]
        placed = place_labels(
            view.to_pixels(self._x[chosen], self._y[chosen], size),
            [shape.sizes for shape in shapes],
            frame=(2, 2, size[0] - 2, size[1] - 2),
            reserved=reserved,
            reluctance=[shape.reluctance for shape in shapes],
            gap=_GAP,
            reach=_REACH,
            directions=8,
            repair=False,  # faster, since names are placed after each move
        )
        unit = view.width / size[0]
        names = []
        for place in np.flatnonzero(placed.shown).tolist():
            topic, box = chosen[place], placed.boxes[place].tolist()
            names.append(
                Name(
                    int(self.table["topic_id"].iloc[topic]),
                    min(int(self._level[topic]), 1),
                    shapes[place].lines[int(placed.variants[place])],
                    view.box[0] + unit * (box[0] + box[2]) / 2,
                    view.box[1] + unit * (box[1] + box[3]) / 2,
                    (box[0], box[1], box[2], box[3]),
                )
            )
        return names


# -- papers


class MapData:
    """Positions, years and names of an atlas, which do not change."""

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
        self._lines: dict[object, Line] = {}

    def __len__(self) -> int:
        return len(self.x)

    @cached_property
    def period(self) -> Period | None:
        """First and last year, or None if no paper has a year."""
        known = self.years[self.years > 0]
        return (int(known.min()), int(known.max())) if len(known) else None

    @cached_property
    def undated(self) -> int:
        """Number of papers without a year."""
        return int((self.years <= 0).sum())

    def in_time(self, time: Period | None) -> Points:
        """Return the points of the papers in a time window."""
        if time is None:
            return self.points
        with self._lock:
            known, points = self._in_time
        if known != time:
            points = self.points.only((self.years >= time[0]) & (self.years <= time[1]))
            with self._lock:
                self._in_time = (time, points)
        return points

    def of_time(self, rows: Rows, time: Period | None) -> Rows:
        """Return the rows of the papers in a time window."""
        if time is None:
            return rows
        years = self.years[rows]
        return rows[(years >= time[0]) & (years <= time[1])]

    def zoom(self, view: View) -> float:
        """Return the magnification of a view, 1 for the whole map."""
        return self.whole.width / view.width

    def contours(self, key: object, rows: Rows) -> Line:
        """Return x and y of the contours that contain 50% and 80% of papers, separated by NaN."""
        with self._lock:
            known = self._lines.get(key)
        if known is None:
            known = _contours(self.x[rows], self.y[rows], self.whole)
            with self._lock:
                if len(self._lines) > _KEPT_LINES:
                    self._lines.clear()
                self._lines[key] = known
        return known


def _contours(x: NDArray[np.float32], y: NDArray[np.float32], whole: View) -> Line:
    from landscape.mapping import density_grid
    from landscape.mapping.density import contour_lines, highest_density_levels

    lines: list[NDArray[np.float64]] = []
    if len(x) >= 3:
        shape = (_GRID, round(_GRID * whole.width / whole.height))
        grid = density_grid(x, y, bounds=whole.box, shape=shape)
        levels = highest_density_levels(grid, _CONTOURED)
        lines = [line for level in levels for line in contour_lines(grid, level) if len(line) > 3]
    if not lines:
        return np.zeros(0, dtype=np.float32), np.zeros(0, dtype=np.float32)
    across, up = thinned(lines, most=_MAX_VERTICES)
    return across.astype(np.float32), up.astype(np.float32)


# -- drawing


@dataclass(frozen=True)
class Drawn:
    """Drawing of a state of the map: picture, names, papers and contours."""

    state: MapState
    picture: Picture
    names: list[Name]
    marks: Mapping[str, Rows]
    lines: Mapping[str, Line]
    ranks: Mapping[int, int]
    counts: Mapping[str, int]


def draw(state: MapState, data: MapData, *, fine: float = FINE) -> Drawn:
    """Draw the picture, names, papers and contours of a state."""
    points = data.in_time(state.time)
    marks, lit = marks_of(state, data)
    n_near = len(points.near(state.view.box)[0])
    picture = draw_picture(
        points,
        state.view,
        state.size,
        colours=state.colours,
        colouring=state.colouring,
        fine=fine,
        lit=lit,
        specks=not ("papers" in state.layers and n_near <= MAX_POINTS),
    )
    if "papers" in state.layers and picture.n_papers <= MAX_POINTS:
        marks["papers"] = points.within(state.view.box).astype(np.int64)
    names: list[Name] = []
    if "names" in state.layers:
        names = data.labels.place(
            state.view,
            state.size,
            zoom=data.zoom(state.view),
            reserved=_best_found(state, data) if "found" in marks else None,
        )
    kept = {kind: data.of_time(one.rows, state.time) for kind, one in state.overlays.items()}
    lines = {
        kind: data.contours((kind, state.overlays[kind].title, state.time, len(rows)), rows)
        for kind, rows in kept.items()
        if kind != "reviews" or "reviews" not in marks
    }
    counts = {kind: len(rows) for kind, rows in kept.items()}
    counts["selected"] = len(data.of_time(state.selected, state.time))
    ranks = {}
    if state.found is not None:
        counts["found"] = len(data.of_time(state.found.rows, state.time))
        ranks = {int(row): rank for rank, row in enumerate(state.found.rows[:MAX_POINTS], 1)}
    return Drawn(state, picture, names, marks, lines, ranks, counts)


def marks_of(state: MapState, data: MapData) -> tuple[dict[str, Rows], Points | None]:
    """Return the papers drawn as single dots, and the points of sets too large for dots."""
    marks: dict[str, Rows] = {}
    too_many: list[Rows] = []

    def in_view(rows: Rows) -> Rows:
        rows = data.of_time(rows, state.time)
        return rows[state.view.holds(data.x[rows], data.y[rows])]

    if state.found is not None:
        rows, apart = state.found.rows, state.found.apart
        if len(in_view(rows)) <= MAX_POINTS:
            marks["apart"], marks["found"] = in_view(rows[apart]), in_view(rows[~apart])
        else:
            too_many.append(rows)
    if len(state.selected):
        marks["selected"] = in_view(state.selected)
        if len(marks["selected"]) > _MAX_RINGS:
            too_many.append(state.selected)
            del marks["selected"]
    if "reviews" in state.overlays:
        marks["reviews"] = in_view(state.overlays["reviews"].rows)
        if len(marks["reviews"]) > MAX_POINTS:
            del marks["reviews"]
    if not too_many:
        return marks, None
    mask = np.zeros(len(data), dtype=bool)
    mask[np.concatenate(too_many)] = True
    return marks, data.in_time(state.time).only(mask)


def _best_found(state: MapState, data: MapData) -> NDArray[np.float64] | None:
    """Return boxes around the best papers found, in pixels, shape (n, 4)."""
    if state.found is None:
        return None
    best = data.of_time(state.found.rows, state.time)[:_KEPT_CLEAR]
    centres = state.view.to_pixels(data.x[best], data.y[best], state.size)
    return np.hstack([centres - 5.0, centres + 5.0])
