"""Place labels inside the page without overlaps.

adjustText and pylabeladjust do not guarantee separated boxes. textalloc does, but it never places
a label on its own peak and does not support reserved areas or alternative line breaks. This module
uses point-feature labelling [1]_: each label has candidate positions, labels are placed greedily by
priority, and a repair step moves labels that block others.

All lengths have the same unit, such as points or pixels, and y increases upwards. A box is
``x0, y0, x1, y1``.

References
----------
.. [1] J. Christensen, J. Marks and S. Shieber, "An empirical study of algorithms for
   point-feature label placement", ACM Transactions on Graphics 14, 203 (1995).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from landscape._wording import one_line
from landscape.figures.fonts import FONTS, clusters, covers, in_capitals

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

MAX_LETTERS = 80
HAIR_SPACE, _WORD_SPACE = "\u200a", "\u2004"

TOUCHING = 3.0  # a label closer to its peak has no leader line
_REPAIRED = 60  # maximum number of labels that the repair step tries to place
_MOVED = 2  # maximum number of labels moved to make space for another label
_TRIED = 16  # number of positions tried for each label in the repair step
_AT_ONCE = 200  # number of positions tested together, in order of cost
_SWEEPS = 3


@dataclass(frozen=True)
class Placement:
    """Positions of labels: boxes (n, 4), chosen variants (n,), and leader lines (n, 4).

    If a label is not shown, its box and leader are NaN, and its variant is -1. The leader is also
    NaN if a label is next to its peak.
    """

    boxes: Floats
    variants: NDArray[np.int64]
    leaders: Floats

    @property
    def shown(self) -> Bools:
        """Whether each label is shown, shape (n,)."""
        return self.variants >= 0


@dataclass(frozen=True)
class _Candidates:
    """Candidate positions of one label, in order of cost."""

    boxes: Floats
    leaders: Floats
    variants: NDArray[np.int64]
    costs: Floats


def place_labels(
    peaks: Floats,
    sizes: Sequence[Floats],
    *,
    frame: Sequence[float],
    reserved: Floats | None = None,
    reluctance: Sequence[Floats] | None = None,
    crossing: float = 1.5,
    bare: float = 0.0,
    gap: float = 2.0,
    clear: float = 3.0,
    reach: float = 130.0,
    directions: int = 16,
    repair: bool = True,
) -> Placement:
    """Place labels near their `peaks` (n, 2), the most important label first.

    For each label, `sizes` contains the widths and heights of its variants (line breaks), shape
    (v, 2), and `reluctance` contains their extra costs, shape (v,). Labels are inside the `frame`
    and outside the `reserved` boxes (m, 4). The distance between labels is at least `gap`, a
    leader line is `clear` times as far from other labels, and a label is at most `reach` from its
    peak. `directions` is the number of directions tried. A leader line costs `crossing` for each
    reserved box that it crosses. If a peak is inside a reserved box, a label at most `bare` away
    has no leader line; with `bare`, this box also counts as crossed. With `repair`, labels are
    moved to make space for others; this step takes most of the time.
    """
    peaks = np.asarray(peaks, dtype=float).reshape(-1, 2)
    blocked = np.empty((0, 4)) if reserved is None else np.asarray(reserved, dtype=float)
    page = np.asarray(frame, dtype=float)
    around = reach, directions, crossing, bare
    costs = [np.zeros(len(size)) for size in sizes] if reluctance is None else reluctance
    candidates = [
        _candidates(peaks, name, np.asarray(size, dtype=float), page, blocked, around, cost)
        for name, (size, cost) in enumerate(zip(sizes, costs, strict=True))
    ]
    layout = _Layout(candidates, gap, clear * gap)
    for name in range(len(peaks)):
        layout.settle(name)
    if repair:
        layout.repair()
        for _ in range(_SWEEPS):  # the moves may have freed better positions
            if not sum(layout.settle(name) for name in range(len(peaks))):
                break
    variants = [
        options.variants[chosen] if chosen >= 0 else -1
        for options, chosen in zip(candidates, layout.choice, strict=True)
    ]
    return Placement(layout.boxes, np.array(variants, dtype=np.int64), layout.leaders)


class _Layout:
    """Labels placed so far. Labels without a position have NaN boxes, which overlap nothing."""

    def __init__(self, candidates: list[_Candidates], gap: float, clear: float) -> None:
        self.candidates = candidates
        self.gap, self.clear = gap, clear  # between labels; between a leader line and labels
        self.choice = np.full(len(candidates), -1)
        self.boxes = np.full((len(candidates), 4), np.nan)
        self.leaders = np.full((len(candidates), 4), np.nan)

    def settle(self, name: int) -> bool:
        """Move one label to its cheapest free position; return whether it moved."""
        before = self.choice[name]
        self._lift(name)
        self._put(name, self._first_free(name))
        return bool(self.choice[name] != before)

    def repair(self) -> None:
        """Place the remaining labels by moving other labels, starting with the most important."""
        tried = 0
        for name in range(len(self.choice)):
            if self.choice[name] < 0 and tried < _REPAIRED:
                tried += 1
                if not self._move_others(name, sacrifice=False):
                    self._move_others(name, sacrifice=True)

    def _move_others(self, name: int, *, sacrifice: bool) -> bool:
        """Try to place a label by moving at most two labels; return whether this succeeded."""
        options = np.arange(len(self.candidates[name].costs))
        options = options[self._covered(name, options).sum(axis=1) <= _MOVED][:_TRIED]
        clashes = self._clashes(name, options)
        for row in np.flatnonzero(clashes.sum(axis=1) <= _MOVED):
            kept = {int(other): int(self.choice[other]) for other in np.flatnonzero(clashes[row])}
            for other in kept:
                self._lift(other)
            self._put(name, int(options[row]))
            for other in kept:
                self._put(other, self._first_free(other))
            lost = [other for other in kept if self.choice[other] < 0]
            if not lost or (sacrifice and len(lost) == 1 and lost[0] > name):
                return True
            for other in [name, *kept]:
                self._lift(other)
            for other, chosen in kept.items():
                self._put(other, chosen)
        return False

    def _first_free(self, name: int) -> int:
        """Return the index of the cheapest candidate without overlaps, or -1 if all overlap."""
        every = np.arange(len(self.candidates[name].costs))
        for start in range(0, len(every), _AT_ONCE):
            some = every[start : start + _AT_ONCE]
            some = some[~self._covered(name, some).any(axis=1)]
            free = some[~self._clashes(name, some).any(axis=1)]
            if len(free):
                return int(free[0])
        return -1

    def _covered(self, name: int, options: NDArray[np.int64]) -> Bools:
        """Return whether each candidate box overlaps each label, shape (n_options, n_labels)."""
        boxes = self.candidates[name].boxes[options][:, None]
        touched = boxes_overlap(boxes, self.boxes[None], gap=self.gap)
        touched[:, name] = False
        return touched

    def _clashes(self, name: int, options: NDArray[np.int64]) -> Bools:
        """Return whether each candidate box or leader overlaps a label; shape as in `_covered`."""
        boxes = self.candidates[name].boxes[options][:, None]
        leaders = self.candidates[name].leaders[options][:, None]
        clash = boxes_overlap(boxes, self.boxes[None], gap=self.gap)
        # Most labels are on their peaks and have no leader line.
        leading = np.flatnonzero(~np.isnan(leaders[:, 0, 0]))
        if len(leading):
            clash[leading] |= segment_meets_box(leaders[leading], self.boxes[None], gap=self.clear)
        led = np.flatnonzero(~np.isnan(self.leaders[:, 0]))
        if len(led):
            theirs = self.leaders[None, led]
            clash[:, led] |= segment_meets_box(theirs, boxes, gap=self.clear)
            clash[:, led] |= segments_cross(leaders, theirs)
        clash[:, name] = False
        return clash

    def _put(self, name: int, option: int) -> None:
        self.choice[name] = option
        if option >= 0:
            self.boxes[name] = self.candidates[name].boxes[option]
            self.leaders[name] = self.candidates[name].leaders[option]

    def _lift(self, name: int) -> None:
        self.choice[name] = -1
        self.boxes[name] = np.nan
        self.leaders[name] = np.nan


def _candidates(
    peaks: Floats,
    name: int,
    sizes: Floats,
    frame: Floats,
    reserved: Floats,
    around: tuple[float, int, float, float],
    reluctance: Floats,
) -> _Candidates:
    """Return the candidate positions of one label inside the frame, in order of cost."""
    peak = peaks[name]
    reach, directions, crossing, bare = around
    halves = tuple(map(tuple, (sizes / 2).tolist()))
    around_peak, costs, variants = _boxes_around(halves, reach, directions)
    boxes = around_peak + np.tile(peak, 2)
    costs = costs + reluctance[variants]

    inside = (boxes[:, :2] >= frame[:2]).all(axis=1) & (boxes[:, 2:] <= frame[2:]).all(axis=1)
    inside &= ~boxes_overlap(boxes[:, None], reserved[None], gap=0).any(axis=1)
    boxes, costs, variants = boxes[inside], costs[inside], variants[inside]

    others = np.delete(peaks, name, axis=0)
    others = others[np.abs(others - peak).sum(axis=1) > TOUCHING]
    if len(boxes):
        within = (others > boxes[:, :2].min(axis=0)) & (others < boxes[:, 2:].max(axis=0))
        others = others[within.all(axis=1)]
    covers = (others[None, :, 0] > boxes[:, None, 0]) & (others[None, :, 0] < boxes[:, None, 2])
    covers &= (others[None, :, 1] > boxes[:, None, 1]) & (others[None, :, 1] < boxes[:, None, 3])
    costs = costs + 1.2 * covers.sum(axis=1)

    nearest = np.clip(peak, boxes[:, :2], boxes[:, 2:])
    leaders = np.hstack([np.broadcast_to(peak, nearest.shape), nearest])
    holds = (reserved[:, :2] <= peak).all(axis=1) & (reserved[:, 2:] >= peak).all(axis=1)
    away = np.hypot(*(nearest - peak).T)
    leaders[away <= (max(bare, TOUCHING) if holds.any() else TOUCHING)] = np.nan
    if len(reserved):
        crossed = reserved if bare else reserved[~holds]
        met = segment_meets_box(leaders[:, None], crossed[None], gap=0)
        costs = costs + np.where(met, crossing, 0.0).sum(axis=1)

    order = np.argsort(costs, kind="stable")
    order = order[np.isfinite(costs[order])]
    return _Candidates(boxes[order], leaders[order], variants[order], costs[order])


@lru_cache(maxsize=4096)
def _boxes_around(
    halves: tuple[tuple[float, ...], ...], reach: float, directions: int
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return the candidate boxes of a label with its peak at 0, their costs and variants."""
    slides, radial, direction, costs = _positions(reach, directions)
    boxes = []
    for size in halves:
        half = np.array(size)
        centres = np.concatenate([slides * half, radial + direction * half])
        boxes.append(np.hstack([centres - half, centres + half]))
    variants = np.repeat(np.arange(len(halves)), len(costs))
    return np.concatenate(boxes), np.tile(costs, len(halves)), variants


@cache
def _positions(reach: float, directions: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Return offsets on the peak in half label sizes, offsets beside it in two parts, and costs."""
    # Positions on the peak; the label is shifted, but always covers the peak.
    across, up = np.meshgrid([0, -0.3, 0.3, -0.6, 0.6, -0.85, 0.85], [0, -0.5, 0.5, -1, 1])
    slides = np.column_stack([across.ravel(), up.ravel()])
    on_costs = 0.9 * np.abs(slides[:, 0]) + 0.6 * np.abs(slides[:, 1])
    # Positions beside the peak, at increasing distances in all directions.
    angles = np.arange(directions) * (2 * np.pi / directions)
    radii = np.array([2.0, 6, 12, 20, 30, 42, 56, 72, 90, 110, 135, 165, 200])
    radii = radii[radii <= reach]
    angle, radius = (grid.ravel() for grid in np.meshgrid(angles, radii))
    direction = np.column_stack([np.cos(angle), np.sin(angle)])
    beside_costs = 1.4 + 0.12 * radius + 0.15 * np.abs(np.sin(2 * angle))
    costs = np.concatenate([on_costs, beside_costs])
    return slides, direction * radius[:, None], np.clip(1.7 * direction, -1, 1), costs


def boxes_overlap(first: Floats, second: Floats, *, gap: float) -> Bools:
    """Return whether boxes are closer than `gap`; shapes (..., 4) broadcast."""
    return (
        (first[..., 0] < second[..., 2] + gap)
        & (second[..., 0] < first[..., 2] + gap)
        & (first[..., 1] < second[..., 3] + gap)
        & (second[..., 1] < first[..., 3] + gap)
    )


def segment_meets_box(segment: Floats, box: Floats, *, gap: float) -> Bools:
    """Return whether segments meet boxes enlarged by `gap`; shapes (..., 4) broadcast."""
    enter = np.zeros(1)
    leave = np.ones(1)
    for axis in (0, 1):
        start = segment[..., axis]
        step = segment[..., axis + 2] - start
        # A minimum step avoids division by zero for vertical and horizontal lines.
        step = np.where(np.abs(step) < 1e-9, 1e-9, step)
        near = (box[..., axis] - gap - start) / step
        far = (box[..., axis + 2] + gap - start) / step
        enter = np.maximum(enter, np.minimum(near, far))
        leave = np.minimum(leave, np.maximum(near, far))
    return enter <= leave


def segments_cross(first: Floats, second: Floats) -> Bools:
    """Return whether line segments cross; shapes (..., 4) broadcast."""

    def side(segment: Floats, x: Floats, y: Floats) -> Floats:
        return (segment[..., 2] - segment[..., 0]) * (y - segment[..., 1]) - (
            segment[..., 3] - segment[..., 1]
        ) * (x - segment[..., 0])

    return (
        side(first, second[..., 0], second[..., 1]) * side(first, second[..., 2], second[..., 3])
        < 0
    ) & (
        side(second, first[..., 0], first[..., 1]) * side(second, first[..., 2], first[..., 3]) < 0
    )


# -- label texts


def clean_name(name: str, *, most: int = MAX_LETTERS) -> str:
    """Replace characters that no font has, and truncate a name to `most` characters."""
    text = one_line(unicodedata.normalize("NFC", name), control="")
    if not text.isascii():  # every font has the ASCII characters
        text = "".join(c if _drawable(c) else _plainer(c) for c in text)
    return shortened(text, most=most)


def shortened(text: str, *, most: int) -> str:
    """Truncate a text to `most` characters, with an ellipsis."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def capitals(name: str) -> str:
    """Return a name in spaced capitals, for continents."""
    return _WORD_SPACE.join(HAIR_SPACE.join(clusters(in_capitals(word))) for word in name.split())


def line_breaks(name: str, *, most_lines: int = 3, longest_word: int = 26) -> list[str]:
    """Return the best line breaks of a name for 1, 2, ... `most_lines` lines."""
    words = [
        word[start : start + longest_word]
        for word in name.split(" ")
        for start in range(0, max(len(word), 1), longest_word)
    ]
    breaks = (_evenly(words, lines) for lines in range(1, min(most_lines, len(words)) + 1))
    return list(dict.fromkeys(breaks))


def _evenly(words: Sequence[str], lines: int) -> str:
    """Break words into lines of similar length, by minimizing the sum of squared lengths."""
    ways = (
        [" ".join(words[start:end]) for start, end in pairwise((0, *cuts, len(words)))]
        for cuts in combinations(range(1, len(words)), lines - 1)
    )
    return "\n".join(min(ways, key=lambda way: sum(len(line) ** 2 for line in way)))


def _plainer(character: str) -> str:
    """Return a compatible form of a character that no font has, or a replacement character."""
    plain = unicodedata.normalize("NFKD", character)
    return plain if plain != character and all(map(_drawable, plain)) else "\ufffd"


def _drawable(character: str) -> bool:
    return any(covers(family, character) for family in FONTS)
