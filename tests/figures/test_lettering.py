from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from landscape.figures.labels import boxes_overlap, place_labels, segment_meets_box, segments_cross
from tests.timing import assert_cost, assert_growth

FRAME = (0.0, 0.0, 792.0, 560.0)


def crowd(n, seed):
    rng = np.random.default_rng(seed)
    peaks = rng.normal([396, 280], [150, 110], (n, 2)).clip([5, 5], [787, 555])
    widths = rng.uniform(30, 150, n)
    sizes = [np.array([[w, 10.0], [w * 0.55, 20.0], [w * 0.4, 30.0]]) for w in widths]
    return peaks, sizes


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n", [1, 2, 30, 120])
def test_nothing_touches_and_nothing_leaves(n, seed):
    peaks, sizes = crowd(n, seed)
    reserved = np.array([[600.0, 0.0, 792.0, 80.0]])
    at = place_labels(peaks, sizes, frame=FRAME, reserved=reserved, gap=2)
    boxes, leaders = at.boxes[at.shown], at.leaders[at.shown]
    assert at.shown.sum() >= min(n, 30)
    touch = boxes_overlap(boxes[:, None], boxes[None], gap=2)
    assert (touch == np.eye(len(boxes), dtype=bool)).all()
    assert not boxes_overlap(boxes[:, None], reserved[None], gap=0).any()
    assert (boxes[:, :2] >= 0).all()
    assert (boxes[:, 2:] <= FRAME[2:]).all()
    led = ~np.isnan(leaders).any(axis=1)
    crossing = segment_meets_box(leaders[led][:, None], boxes[None], gap=5)
    own = np.flatnonzero(led)[:, None] == np.arange(len(boxes))
    assert not (crossing & ~own).any(), "a leader line crosses a name, or ends beside it"
    assert not segments_cross(leaders[led][:, None], leaders[led][None]).any()
    # A name without a leader line touches its peak; one with a line begins at it.
    peak = peaks[at.shown]
    away = np.hypot(*(np.clip(peak, boxes[:, :2], boxes[:, 2:]) - peak).T)
    assert (away[~led] <= 3.0 + 1e-9).all()
    assert np.allclose(leaders[led, :2], peak[led])


def test_same_input_same_places():
    peaks, sizes = crowd(60, 1)
    first, second = (place_labels(peaks, sizes, frame=FRAME) for _ in range(2))
    assert np.array_equal(first.boxes, second.boxes, equal_nan=True)


def test_the_important_name_keeps_its_peak():
    peaks = np.array([[100.0, 100.0], [108.0, 101.0]])
    at = place_labels(peaks, [np.array([[60.0, 12.0]])] * 2, frame=FRAME)
    assert at.shown.all()
    centre = (at.boxes[0, :2] + at.boxes[0, 2:]) / 2
    assert np.hypot(*(centre - peaks[0])) <= np.hypot(
        *((at.boxes[1, :2] + at.boxes[1, 2:]) / 2 - peaks[1])
    )


def test_repair_moves_a_name_out_of_the_way():
    # The first name would sit in the one place that the second can take.
    frame = (0.0, 0.0, 100.0, 24.0)
    peaks = np.array([[50.0, 12.0], [50.0, 12.0]])
    sizes = [np.array([[40.0, 10.0]]), np.array([[96.0, 10.0]])]
    assert place_labels(peaks, sizes, frame=frame).shown.all()


def test_a_name_wider_than_the_page_is_left_out():
    at = place_labels(np.array([[50.0, 50.0]]), [np.array([[900.0, 10.0]])], frame=FRAME)
    assert not at.shown.any()
    assert np.isnan(at.boxes).all()


def test_no_names_at_all():
    assert len(place_labels(np.empty((0, 2)), [], frame=FRAME).boxes) == 0


def test_the_time_to_place_names_grows_at_most_with_their_pairs():
    def place(n, **options):
        return place_labels(*crowd(n, 3), frame=FRAME, **options)

    assert_growth(partial(place, repair=False), int, 100, power=2)
    assert_cost(partial(place, 100), partial(place, 100, repair=False), most=20)


@pytest.mark.parametrize("seed", range(3))
def test_the_names_left_out_are_the_less_important(seed):
    peaks, sizes = crowd(150, seed)
    shown = place_labels(peaks, sizes, frame=(200.0, 150.0, 600.0, 420.0)).shown
    inside = ((peaks > [200, 150]) & (peaks < [600, 420])).all(axis=1)
    rank = np.flatnonzero(inside & shown), np.flatnonzero(inside & ~shown)
    assert len(rank[1]) > 20
    assert np.median(rank[0]) < np.median(rank[1]) - 20
    assert shown[inside][:10].all()
