"""Place names on the map without overlap."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from landscape.figures.fonts import breaks_anywhere, can_be_spaced, clusters, in_capitals
from landscape.figures.labels import boxes_overlap, line_breaks, place_labels
from landscape.figures.lettering import Baseline, Run, Style, extent, ridge_line
from landscape.figures.scene import Layer, Lines, Points
from landscape.outreach.themes import Inks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    OnWater = Callable[[Floats], bool]


_MAX_WORD = 26


@dataclass(frozen=True)
class Place:
    """A named place on the map."""

    key: str
    name: str
    kind: Literal["continent", "region", "water"]
    x: float
    y: float
    weight: float = 0.5
    cloud: Floats = field(default_factory=lambda: np.empty((0, 2)))


@dataclass(frozen=True)
class LabelStyle:
    """Style of each kind of name."""

    inks: Inks
    families: tuple[str, ...]
    scale: float

    def style(self, place: Place) -> Style:
        """Return the text style of a place; more important places have larger letters."""
        weight = float(np.clip(place.weight, 0, 1))
        if place.kind == "continent":
            # long names in capitals are smaller
            shrink = float(np.clip((20 / max(len(place.name), 1)) ** 0.4, 0.7, 1.0))
            size = (7.8 + 3.4 * weight) * shrink
            return Style(self.families, size * self.scale, bold=True, tracking=0.12)
        if place.kind == "water":
            return Style(self.families, (7.8 + 2.2 * weight) * self.scale, italic=True)
        return Style(self.families, (7.2 + 3.0 * weight) * self.scale)

    def label_text(self, place: Place) -> str:
        """Return the text of the label; names of continents are in capitals."""
        if place.kind != "continent":
            return place.name
        return in_capitals(place.name)

    def colour(self, run: Run, place: Place) -> Run:
        """Return a line of text in the colours of its kind of place."""
        ink = {
            "continent": (self.inks.land, self.inks.halo),
            "region": (self.inks.region, self.inks.halo),
            "water": (self.inks.sea, self.inks.sea_halo),
        }[place.kind]
        width = {"continent": 2.8, "region": 2.3, "water": 1.8}[place.kind] * self.scale
        return replace(
            run, colour=ink[0], halo=ink[1], halo_width=width, gid=place.kind, place=place.key
        )


def line_break_options(name: str, *, most_lines: int = 3) -> list[list[str]]:
    """Return the ways to break a name into lines, in any script."""
    if breaks_anywhere(name):
        letters = clusters(name)
        ways = []
        for lines in range(1, min(most_lines, 1 + len(letters) // 5) + 1):
            step = -(-len(letters) // lines)
            ways.append(["".join(letters[i : i + step]) for i in range(0, len(letters), step)])
        return ways
    most = max(most_lines, min(5, 1 + len(name) // 24))
    return [way.split("\n") for way in line_breaks(name, most_lines=most, longest_word=_MAX_WORD)]


LEADING = 1.08  # distance between the lines of a name, in font sizes
_RAISES = (0.0, 0.8, -0.8, 1.6, -1.6, 2.6, -2.6)  # offsets from the baseline, in font sizes
_SLIDES = (0.5, 0.3, 0.7, 0.05, 0.95)  # start of a name, as a share of the free length


@dataclass
class Room:
    """The free space on a map, defined by its frame and the occupied boxes."""

    frame: tuple[float, float, float, float]
    taken: Floats
    gap: float

    def free(self, boxes: Floats) -> bool:
        """Return whether boxes are inside the frame and do not overlap occupied boxes."""
        if not len(boxes):
            return False
        x0, y0, x1, y1 = self.frame
        inside = (boxes[:, :2] >= (x0, y0)).all() and (boxes[:, 2:] <= (x1, y1)).all()
        return bool(
            inside and not boxes_overlap(boxes[:, None], self.taken[None], gap=self.gap).any()
        )

    def take(self, boxes: Floats) -> None:
        """Mark boxes as occupied."""
        self.taken = np.concatenate([self.taken, np.asarray(boxes, float).reshape(-1, 4)])


def along(
    lines: Sequence[str], style: Style, baseline: Baseline, *, spread: tuple[float, float]
) -> Iterator[tuple[float, list[Run]]]:
    """Yield the costs and layouts of a name along a baseline, sorted by cost."""
    longest = max(lines, key=lambda line: extent(line, style).width)
    tracked = _tracked(longest, style, 0.75 * baseline.length, spread)
    middle = (len(lines) - 1) / 2
    rise = 0.33 * style.size  # distance from the baseline to the middle of the letters
    widths = [extent(line, tracked).width for line in lines]
    if max(widths) > 1.02 * baseline.length:
        return
    costs = [
        (0.5 * abs(raise_) + 1.2 * abs(slide - 0.5), raise_, slide)
        for raise_ in _RAISES
        for slide in _SLIDES
    ]
    for cost, raise_, slide in sorted(costs, key=lambda way: way[0]):
        runs = []
        for number, (line, width) in enumerate(zip(lines, widths, strict=True)):
            up = raise_ * style.size + (middle - number) * LEADING * style.size - rise
            ground = baseline.moved(up)
            start = slide * (ground.length - max(widths)) + (max(widths) - width) / 2
            runs.append(Run(line, tracked, baseline=ground.cut(start, width)))
        yield cost, runs


def block(lines: Sequence[str], style: Style) -> tuple[float, float]:
    """Return the width and the height of a name on straight lines, in points."""
    extents = [extent(line, style) for line in lines]
    leading = LEADING * style.size * (len(lines) - 1)
    height = extents[0].ascent + leading + extents[-1].descent
    return max(one.width for one in extents), height


def straight(lines: Sequence[str], style: Style, box: Floats, side: str) -> list[Run]:
    """Lay out a name on straight lines in a box of the size that `block` returns."""
    runs = []
    top = extent(lines[0], style).ascent
    for number, line in enumerate(lines):
        width = extent(line, style).width
        x = {"left": box[0], "right": box[2] - width}.get(side, (box[0] + box[2] - width) / 2)
        y = box[3] - top - number * LEADING * style.size
        runs.append(Run(line, style, x=float(x), y=float(y)))
    return runs


def shape_cost(size: tuple[float, float], *, best: float = 3.2) -> float:
    """Return the cost of a label shape, which is lowest if width / height is about `best`."""
    return 0.55 * max(abs(np.log2(size[0] / max(size[1], 1e-6) / best)) - 0.5, 0.0)


def _tracked(line: str, style: Style, length: float, spread: tuple[float, float]) -> Style:
    """Return a style with letter spacing that fits a line to a length, within limits."""
    least = replace(style, tracking=spread[0])
    gaps = max(1, len(line) - 1)
    wanted = spread[0] + (length - extent(line, least).width) / (gaps * style.size)
    return replace(style, tracking=float(np.clip(wanted, *spread)))


_CURVED = {"continent": 1.2, "region": 1.9}  # minimum elongation for a curved label
# maximum slope of a label in degrees, because steep labels are hard to read
_STEEPEST = {"continent": 42.0, "region": 36.0, "water": 42.0}
_AT_SEA = 0.15  # maximum share of a label that is over water or other regions
# maximum distance between a label and its peak; continents have no leader line
_REACH = {"continent": 6.0, "region": 30.0}
_BARE = 22.0  # maximum distance without a leader line, if the peak is under another name
# best ratio of width to height of a straight label
_SHAPE = {"continent": 5.0, "region": 3.2}


@dataclass(frozen=True)
class Lettering:
    """Drawing elements of the placed labels, and the keys of the labelled places."""

    marks: list[Layer]
    shown: frozenset[str]

    @property
    def runs(self) -> list[Run]:
        """Lines of text of all labels."""
        return [mark for mark in self.marks if isinstance(mark, Run)]


def letter(
    places: Sequence[Place],
    *,
    frame: tuple[float, float, float, float],
    inks: Inks,
    families: tuple[str, ...],
    scale: float,
    on_water: OnWater | None = None,
) -> Lettering:
    """Place labels inside the frame without overlaps; omit labels that do not fit."""
    pad = 3 * scale
    x0, y0, x1, y1 = frame
    room = Room((x0 + pad, y0 + pad, x1 - pad, y1 - pad), np.empty((0, 4)), 2.2 * scale)
    label_style = LabelStyle(inks, families, scale)
    # Omit places outside the map, because their leader lines would cross the border.
    places = [place for place in places if x0 <= place.x <= x1 and y0 <= place.y <= y1]
    peaks = np.array([(p.x, p.y) for p in places if p.kind == "region"]).reshape(-1, 2)
    marks: list[Layer] = []
    shown: set[str] = set()

    for kind, reach in _REACH.items():
        land = [place for place in places if place.kind == kind]
        lettered = _on_land(land, label_style, room, peaks, on_water, reach)
        marks += [mark for some in lettered.values() for mark in some]
        shown |= lettered.keys()
    for place in places:
        if place.kind == "water" and on_water is not None:
            runs = _on_water(place, label_style, room, on_water)
            if runs:
                room.take(np.concatenate([run.boxes for run in runs]))
                marks += runs
                shown.add(place.key)
    order = {Lines: 0, Points: 1}
    marks.sort(key=lambda mark: order.get(type(mark), 2))
    return Lettering(marks, frozenset(shown))


def _on_land(
    land: Sequence[Place],
    label_style: LabelStyle,
    room: Room,
    peaks: Floats,
    on_water: OnWater | None,
    reach: float,
) -> dict[str, list[Layer]]:
    """Place each label along the ridge line of its papers, or at its peak if it does not fit."""
    beside = _beside(land, label_style, room, reach)
    taken = {key: boxes for key, (_, boxes) in beside.items()}
    before = room.taken
    found: dict[str, list[Layer]] = {}
    for place in land:
        others = [boxes for key, boxes in taken.items() if key != place.key]
        room.taken = np.concatenate([before, *others])
        runs = _along_range(place, label_style, room, peaks, on_water)
        if runs:
            taken[place.key] = np.concatenate([run.boxes for run in runs])
            found[place.key] = list(runs)
        elif place.key in beside:
            found[place.key] = beside[place.key][0]
    room.taken = np.concatenate([before, *taken.values()])
    return found


def _along_range(
    place: Place, label_style: LabelStyle, room: Room, peaks: Floats, on_water: OnWater | None
) -> list[Run]:
    """Place a label along the ridge line of its papers, if it fits."""
    if len(place.cloud) < 12 or np.ptp(place.cloud, axis=0).max() < 1e-6:
        return []
    ridge = ridge_line(place.cloud)
    if ridge.steepest > _STEEPEST[place.kind] or ridge.elongation < _CURVED[place.kind]:
        return []
    name, style = label_style.label_text(place), label_style.style(place)
    spread = (0.16, 0.75) if place.kind == "continent" else (0.0, 0.12)
    if not can_be_spaced(name):
        spread = (0.0, 0.0)
    best: tuple[float, list[Run]] | None = None
    # labels of regions have one curved line, because regions are small
    for lines in line_break_options(name)[: 2 if place.kind == "continent" else 1]:
        for cost, runs in along(lines, style, ridge.baseline, spread=spread):
            total = cost + 0.6 * (len(lines) - 1)
            if best is not None and total >= best[0]:
                break  # all further layouts cost more
            inked = [label_style.colour(run, place) for run in runs]
            boxes = np.concatenate([run.boxes for run in inked])
            if not room.free(boxes) or _over_water(boxes, on_water):
                continue
            if _over_others(boxes, place.cloud, reach=1.2 * style.size):
                continue
            total += 0.5 * _covered(boxes, peaks)
            if best is None or total < best[0]:
                best = total, inked
    return best[1] if best else []


def _over_water(boxes: Floats, on_water: OnWater | None) -> bool:
    """Return whether too much of a label is over water."""
    if on_water is None:
        return False
    return float(np.mean([on_water(box[None]) for box in boxes])) > _AT_SEA


def _over_others(boxes: Floats, cloud: Floats, *, reach: float) -> bool:
    """Return whether too much of a label is far from its papers."""
    middles = (boxes[:, :2] + boxes[:, 2:]) / 2
    away = np.hypot(*(middles[:, None] - cloud[None]).transpose(2, 0, 1)).min(axis=1)
    return float((away > reach).mean()) > _AT_SEA


def _covered(boxes: Floats, peaks: Floats) -> int:
    """Count the peaks that a label would cover."""
    if not len(peaks):
        return 0
    x, y = peaks[:, 0][:, None], peaks[:, 1][:, None]
    under = (x > boxes[:, 0]) & (x < boxes[:, 2]) & (y > boxes[:, 1]) & (y < boxes[:, 3])
    return int(under.any(axis=1).sum())


def _beside(
    places: Sequence[Place], label_style: LabelStyle, room: Room, reach: float
) -> dict[str, tuple[list[Layer], Floats]]:
    """Place straight labels on or beside their peaks, with leader lines where needed."""
    if not places:
        return {}
    scale, kind = label_style.scale, places[0].kind
    styles = [label_style.style(place) for place in places]
    names = [label_style.label_text(place) for place in places]
    variants = [line_break_options(name) for name in names]
    halos = [label_style.colour(Run("", styles[0]), place).halo_width for place in places]
    sizes = [
        np.array([block(lines, style) for lines in ways]) + halo
        for ways, style, halo in zip(variants, styles, halos, strict=True)
    ]
    grown = room.taken + np.array([-1, -1, 1, 1]) * room.gap
    placement = place_labels(
        np.array([(place.x, place.y) for place in places]),
        sizes,
        frame=room.frame,
        reserved=grown,
        reluctance=[
            np.array([shape_cost(tuple(size), best=_SHAPE[kind]) for size in some])
            for some in sizes
        ],
        crossing=np.inf,
        bare=_BARE * scale,
        gap=room.gap,
        reach=reach * scale,
    )
    found: dict[str, tuple[list[Layer], Floats]] = {}
    for index in np.flatnonzero(placement.shown).tolist():
        place, leader, box = places[index], placement.leaders[index], placement.boxes[index]
        side = "left" if leader[2] == box[0] else "right" if leader[2] == box[2] else "centre"
        inner = box + np.array([1, 1, -1, -1]) * halos[index] / 2
        lines = variants[index][int(placement.variants[index])]
        marks: list[Layer] = [
            label_style.colour(run, place) for run in straight(lines, styles[index], inner, side)
        ]
        boxes = box[None]
        if not np.isnan(leader).any() and place.kind == "region":
            marks = [*_leader(leader, label_style), *marks]
            boxes = np.concatenate([boxes, _boxes_along(leader, scale)])
        found[place.key] = marks, boxes
    return found


def _leader(leader: Floats, label_style: LabelStyle) -> list[Layer]:
    """Return a leader line from a peak to its label, and a dot on the peak."""
    points = leader.reshape(2, 2).copy()
    back = points[0] - points[1]
    points[1] += 0.8 * label_style.scale * back / max(float(np.linalg.norm(back)), 1e-9)
    ink, halo, scale = label_style.inks.region, label_style.inks.halo, label_style.scale
    x, y = float(points[0, 0]), float(points[0, 1])
    return [
        Lines(lines=[points], colour=halo, width=1.6 * scale, gid="leader"),
        Lines(lines=[points], colour=ink, width=0.45 * scale, gid="leader"),
        Points(
            x=[x],
            y=[y],
            colour=ink,
            size=2.3 * scale,
            edge=halo,
            edge_width=0.6 * scale,
            gid="peak",
        ),
    ]


def _boxes_along(leader: Floats, scale: float) -> Floats:
    """Return small boxes along a leader line, which later labels must not overlap."""
    steps = max(2, int(np.hypot(*(leader[2:] - leader[:2])) / (3 * scale)))
    points = leader[:2] + np.linspace(0, 1, steps)[:, None] * (leader[2:] - leader[:2])
    return np.hstack([points - scale, points + scale])


def _on_water(place: Place, label_style: LabelStyle, room: Room, on_water: OnWater) -> list[Run]:
    """Place the name of a sea along its centre line, or on straight lines if it does not fit."""
    style = label_style.style(place)
    spread = (0.0, 0.3) if can_be_spaced(place.name) else (0.0, 0.0)
    ways = line_break_options(place.name, most_lines=3)
    if len(place.cloud) >= 12:
        ridge = ridge_line(place.cloud, coverage=0.96)
        for lines in ways[:2] if ridge.steepest <= _STEEPEST["water"] else ():
            for _, runs in along(lines, style, ridge.baseline, spread=spread):
                inked = [label_style.colour(run, place) for run in runs]
                boxes = np.concatenate([run.boxes for run in inked])
                if room.free(boxes) and on_water(boxes):
                    return inked
    middle = np.array([place.x, place.y])
    spots = place.cloud[:: max(1, len(place.cloud) // 40)] if len(place.cloud) else middle[None]
    spots = spots[np.argsort(np.hypot(*(spots - middle).T), kind="stable")]
    spaced = replace(style, tracking=0.06 if spread[1] else 0.0)
    for lines in ways:
        size = np.array(block(lines, spaced))
        for spot in spots:
            box = np.concatenate([spot - size / 2, spot + size / 2])
            runs = [
                label_style.colour(run, place) for run in straight(lines, spaced, box, "centre")
            ]
            boxes = np.concatenate([run.boxes for run in runs])
            if room.free(boxes) and on_water(boxes):
                return runs
    return []
