"""The names on the map: how each looks, and where it goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from landscape.figures._labels import place_labels
from landscape.outreach.curves import ridge_line
from landscape.outreach.fonts import can_be_spaced
from landscape.outreach.hand import Hand, Place, broken
from landscape.outreach.letters import Run
from landscape.outreach.marks import Dot, Line, Mark
from landscape.outreach.placing import Room, along, block, shape_cost, straight

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.outreach.themes import Inks

    Floats = NDArray[np.float64]
    OnWater = Callable[[Floats], bool]

_CURVED = {"continent": 1.2, "region": 1.9}  # least elongation of a range lettered along
# Degrees: a name on its side is not read, a large one sooner than a small one.
_STEEPEST = {"continent": 42.0, "region": 36.0, "water": 42.0}
_AT_SEA = 0.15  # largest share of a range's name on water, or on others' ground
# Longest leader; a continent's name is large and stands on its land, or nowhere.
_REACH = {"continent": 6.0, "region": 75.0}
# How many times wider than high a name on straight lines is best.
_SHAPE = {"continent": 5.0, "region": 3.2}


@dataclass(frozen=True)
class Lettering:
    """Names that found a place.

    Attributes
    ----------
    marks : list of Mark
        Leader lines, dots and runs of text, in the order they are drawn.
    shown : frozenset of str
        Keys of the places that are named.
    """

    marks: list[Mark]
    shown: frozenset[str]

    @property
    def runs(self) -> list[Run]:
        """The lines of text."""
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
    """Letter a map: no name touches another, none leaves the frame.

    Parameters
    ----------
    places : sequence of Place
        The most important of each kind first.
    frame : (float, float, float, float)
        Box of the map, in points.
    inks : Inks
        Colours, see `landscape.outreach.themes`.
    families : tuple of str
        Fonts, see `landscape.outreach.fonts.families`.
    scale : float
        Size of letters against those of an A4 page.
    on_water : callable, optional
        Says whether boxes, shape (n, 4), all lie on water; names of waters are only set there.

    Returns
    -------
    Lettering
        The same for the same input, always. A name without room is left out.

    Examples
    --------
    >>> from landscape.outreach.themes import find_theme
    >>> places = [Place("1", "Dark matter", "region", 100, 100)]
    >>> found = letter(places, frame=(0, 0, 300, 200), inks=find_theme("atlas").inks,
    ...                families=("STIXGeneral",), scale=1.0)
    >>> [run.text for run in found.runs], sorted(found.shown)
    (['Dark matter'], ['1'])
    """
    pad = 3 * scale
    x0, y0, x1, y1 = frame
    room = Room((x0 + pad, y0 + pad, x1 - pad, y1 - pad), np.empty((0, 4)), 2.2 * scale)
    hand = Hand(inks, families, scale)
    peaks = np.array([(p.x, p.y) for p in places if p.kind == "region"]).reshape(-1, 2)
    marks: list[Mark] = []
    shown: set[str] = set()

    for kind, reach in _REACH.items():
        land = [place for place in places if place.kind == kind]
        lettered = _on_land(land, hand, room, peaks, on_water, reach)
        marks += [mark for some in lettered.values() for mark in some]
        shown |= lettered.keys()
    for place in places:
        if place.kind == "water" and on_water is not None:
            runs = _on_water(place, hand, room, on_water)
            if runs:
                room.take(np.concatenate([run.boxes for run in runs]))
                marks += runs
                shown.add(place.key)
    order = {Line: 0, Dot: 1}
    marks.sort(key=lambda mark: order.get(type(mark), 2))
    return Lettering(marks, frozenset(shown))


def _on_land(
    land: Sequence[Place],
    hand: Hand,
    room: Room,
    peaks: Floats,
    on_water: OnWater | None,
    reach: float,
) -> dict[str, list[Mark]]:
    """Letter places of one kind: all beside their peaks first, then along ranges where that helps.

    The largest go first in both, and a range takes only what room is left: a small place never
    takes the room of a large one.
    """
    beside = _beside(land, hand, room, reach)
    taken = {key: boxes for key, (_, boxes) in beside.items()}
    before = room.taken
    found: dict[str, list[Mark]] = {}
    for place in land:
        others = [boxes for key, boxes in taken.items() if key != place.key]
        room.taken = np.concatenate([before, *others])
        runs = _along_range(place, hand, room, peaks, on_water)
        if runs:
            taken[place.key] = np.concatenate([run.boxes for run in runs])
            found[place.key] = list(runs)
        elif place.key in beside:
            found[place.key] = beside[place.key][0]
    room.taken = np.concatenate([before, *taken.values()])
    return found


def _along_range(
    place: Place, hand: Hand, room: Room, peaks: Floats, on_water: OnWater | None
) -> list[Run]:
    """Letter a place along its range; nothing where that does not help."""
    if len(place.cloud) < 12 or np.ptp(place.cloud, axis=0).max() < 1e-6:
        return []
    ridge = ridge_line(place.cloud)
    if ridge.steepest > _STEEPEST[place.kind] or ridge.elongation < _CURVED[place.kind]:
        return []
    name, style = hand.written(place), hand.style(place)
    spread = (0.16, 0.75) if place.kind == "continent" else (0.0, 0.12)
    if not can_be_spaced(name):
        spread = (0.0, 0.0)
    best: tuple[float, list[Run]] | None = None
    # A range of one region is too small for two lines that bend.
    for lines in broken(name)[: 2 if place.kind == "continent" else 1]:
        for cost, runs in along(lines, style, ridge.baseline, spread=spread):
            total = cost + 0.6 * (len(lines) - 1)
            if best is not None and total >= best[0]:
                break  # the others cost more
            inked = [hand.inked(run, place) for run in runs]
            boxes = np.concatenate([run.boxes for run in inked])
            if not room.free(boxes) or _adrift(boxes, on_water):
                continue
            if _astray(boxes, place.cloud, reach=1.2 * style.size):
                continue
            total += 0.5 * _covered(boxes, peaks)
            if best is None or total < best[0]:
                best = total, inked
    return best[1] if best else []


def _adrift(boxes: Floats, on_water: OnWater | None) -> bool:
    """Whether a name along a range of islands would stand on water for the most part."""
    if on_water is None:
        return False
    return float(np.mean([on_water(box[None]) for box in boxes])) > _AT_SEA


def _astray(boxes: Floats, cloud: Floats, *, reach: float) -> bool:
    """Whether a name along a range would stand on ground that holds none of its papers."""
    middles = (boxes[:, :2] + boxes[:, 2:]) / 2
    away = np.hypot(*(middles[:, None] - cloud[None]).transpose(2, 0, 1)).min(axis=1)
    return float((away > reach).mean()) > _AT_SEA


def _covered(boxes: Floats, peaks: Floats) -> int:
    """How many peaks lie under boxes."""
    if not len(peaks):
        return 0
    x, y = peaks[:, 0][:, None], peaks[:, 1][:, None]
    under = (x > boxes[:, 0]) & (x < boxes[:, 2]) & (y > boxes[:, 1]) & (y < boxes[:, 3])
    return int(under.any(axis=1).sum())


def _beside(
    places: Sequence[Place], hand: Hand, room: Room, reach: float
) -> dict[str, tuple[list[Mark], Floats]]:
    """Letter places on straight lines on or beside their peaks, with leaders where they need.

    By key: the marks, and the boxes that they take.
    """
    if not places:
        return {}
    scale, kind = hand.scale, places[0].kind
    styles = [hand.style(place) for place in places]
    names = [hand.written(place) for place in places]
    variants = [broken(name) for name in names]
    halos = [hand.inked(Run("", styles[0]), place).halo_width for place in places]
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
        gap=room.gap,
        reach=reach * scale,
    )
    found: dict[str, tuple[list[Mark], Floats]] = {}
    for index in np.flatnonzero(placement.shown).tolist():
        place, leader, box = places[index], placement.leaders[index], placement.boxes[index]
        side = "left" if leader[2] == box[0] else "right" if leader[2] == box[2] else "centre"
        inner = box + np.array([1, 1, -1, -1]) * halos[index] / 2
        lines = variants[index][int(placement.variants[index])]
        marks: list[Mark] = [
            hand.inked(run, place) for run in straight(lines, styles[index], inner, side)
        ]
        boxes = box[None]
        if not np.isnan(leader).any() and place.kind == "region":
            marks = [*_leader(leader, hand), *marks]
            boxes = np.concatenate([boxes, _boxes_along(leader, scale)])
        found[place.key] = marks, boxes
    return found


def _leader(leader: Floats, hand: Hand) -> list[Mark]:
    """A line from a peak to its name, which stops short of the letters, and a dot on the peak."""
    points = leader.reshape(2, 2).copy()
    back = points[0] - points[1]
    points[1] += 0.8 * hand.scale * back / max(float(np.linalg.norm(back)), 1e-9)
    ink, halo, scale = hand.inks.region, hand.inks.halo, hand.scale
    x, y = float(points[0, 0]), float(points[0, 1])
    return [
        Line(points, halo, 1.6 * scale, "leader"),
        Line(points, ink, 0.45 * scale, "leader"),
        Dot(x, y, 1.15 * scale, ink, halo, 0.6 * scale, "peak"),
    ]


def _boxes_along(leader: Floats, scale: float) -> Floats:
    """Small boxes along a leader, so that no later name is struck through."""
    steps = max(2, int(np.hypot(*(leader[2:] - leader[:2])) / (3 * scale)))
    points = leader[:2] + np.linspace(0, 1, steps)[:, None] * (leader[2:] - leader[:2])
    return np.hstack([points - scale, points + scale])


def _on_water(place: Place, hand: Hand, room: Room, on_water: OnWater) -> list[Run]:
    """Letter a water along its middle line, or straight where it is wide enough."""
    style = hand.style(place)
    spread = (0.0, 0.3) if can_be_spaced(place.name) else (0.0, 0.0)
    ways = broken(place.name, most_lines=3)
    if len(place.cloud) >= 12:
        ridge = ridge_line(place.cloud, coverage=0.96)
        for lines in ways[:2] if ridge.steepest <= _STEEPEST["water"] else ():
            for _, runs in along(lines, style, ridge.baseline, spread=spread):
                inked = [hand.inked(run, place) for run in runs]
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
            runs = [hand.inked(run, place) for run in straight(lines, spaced, box, "centre")]
            boxes = np.concatenate([run.boxes for run in runs])
            if room.free(boxes) and on_water(boxes):
                return runs
    return []
