"""Names on the twins of maps touch neither each other nor what is marked; pages fit their rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landscape.figures.lettering import boxes_overlap
from landscape.figures.twin_names import SIZE, place_names

NAMES = ("Active galactic nuclei and galaxies", "Dust", "Stars and molecular clouds", "Solar wind")


def boxes_of(placed: list[tuple[int, tuple[str, ...], float, float]], unit: float) -> np.ndarray:
    half = np.array([
        [max(map(len, lines)) * 0.5 * SIZE / 2, len(lines) * SIZE / 2] for _, lines, _, _ in placed
    ]).reshape(-1, 2)  # fmt: skip
    middle = np.array([(x / unit, y / unit) for _, _, x, y in placed]).reshape(-1, 2)
    return np.hstack([middle - half, middle + half])


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=4, max_size=4))
@settings(max_examples=40, deadline=None)
def test_names_never_touch(places: list[tuple[float, float]]) -> None:
    x, y = zip(*places, strict=True)
    placed = place_names(NAMES, x, y, across=(-3.0, 3.0))
    assert placed[0][:1] == (0,), "the most important always stands"
    boxes = boxes_of(placed, 6.0 / 780)
    overlap = boxes_overlap(boxes[:, None], boxes[None], gap=0)
    np.fill_diagonal(overlap, False)
    assert not overlap.any()


def test_a_name_leaves_what_is_marked_free() -> None:
    ((_, lines, x, y),) = place_names(["Dust"], [0.0], [0.0], across=(-1.0, 1.0))
    assert (x, y) == pytest.approx((0.0, 0.0))
    marks = np.array([[0.0, 0.0], [0.005, 0.0]])
    ((_, lines, x, y),) = place_names(["Dust"], [0.0], [0.0], across=(-1.0, 1.0), clear_of=marks)
    ((x0, y0, x1, y1),) = boxes_of([(0, lines, x, y)], 2.0 / 780) * 2.0 / 780
    assert not (
        (marks[:, 0] > x0) & (marks[:, 0] < x1) & (marks[:, 1] > y0) & (marks[:, 1] < y1)
    ).any()
