"""Adjacent areas of a map have colours that differ for all readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from landscape.figures.areas import choose_colours, count_borders, differences, find_areas
from landscape.figures.colours import THEMES, series, theme
from landscape.viewer.source import MapSource
from landscape.viewer.themes import rgb_of, viewer_themes

if TYPE_CHECKING:
    import landscape


def scattered(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the papers of groups that divide the plane like the cells of a Voronoi diagram."""
    random = np.random.default_rng(seed)
    centres, points = random.random((n, 2)), random.random((40 * n, 2))
    group = ((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    return points[:, 0], points[:, 1], group


@pytest.mark.parametrize("name", list(THEMES))
@pytest.mark.parametrize("n", [5, 40, 120])
def test_no_two_adjacent_areas_have_the_same_colour(n: int, name: str) -> None:
    x, y, group = scattered(n, seed=n)
    numbers, leader = find_areas(x, y, group, bounds=(0, 0, 1, 1), shape=(200, 200))
    borders = count_borders(leader, len(numbers))
    palette = rgb_of(series(theme(name), 7))
    chosen = choose_colours(borders, [palette])
    is_border = borders > 5
    unlike = differences(palette)[np.ix_(chosen, chosen)]
    assert unlike[is_border].min() > 0.09  # 0.02 is just noticeable
    if n <= 7:
        assert len(set(chosen)) == n
    assert choose_colours(borders, [palette]) == chosen


def test_continents_of_the_explorer_differ_from_their_neighbours(
    demo_atlas: landscape.Atlas,
) -> None:
    source = MapSource(demo_atlas)
    top = np.flatnonzero(source.topics["level"] == 0).tolist()
    group = np.full(len(source.region), -1)
    for place, row in enumerate(top):
        group[np.isin(source.region, source.inside(row))] = place
    x, y = source.plane.T
    numbers, leader = find_areas(x, y, group, bounds=(0, 0, 1, 1), shape=(128, 128))
    borders = count_borders(leader, len(numbers))
    chosen = [source.colours[top[number]] for number in numbers]
    assert len(set(chosen)) == len(chosen)
    for colours in viewer_themes().values():
        unlike = differences(rgb_of(colours["classes"]))[np.ix_(chosen, chosen)]
        assert unlike[borders > 5].min() > 0.05


def test_readers_see_less_than_normal_vision() -> None:
    red_green = np.array([[0.84, 0.37, 0.0], [0.42, 0.56, 0.14]])
    blue_yellow = np.array([[0.1, 0.2, 0.8], [0.9, 0.8, 0.1]])
    assert differences(red_green)[0, 1] < 0.5 * differences(blue_yellow)[0, 1]
