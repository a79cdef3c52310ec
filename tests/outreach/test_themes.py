"""The themes of the outreach map are readable for all readers."""

from __future__ import annotations

import numpy as np
import pytest

from landscape.figures.areas import differences
from landscape.outreach.themes import THEMES, find_theme
from landscape.viewer.themes import rgb_of
from tests.figures.test_colours import contrast, luminance

themes = pytest.mark.parametrize("name", list(THEMES))


def unlike(one: list[str], other: list[str]) -> float:
    """Return the smallest difference between a colour of each list, for any reader."""
    both = differences(rgb_of([*one, *other]))
    return float(both[: len(one), len(one) :].min())


@themes
def test_land_and_water_differ_to_every_reader(name: str) -> None:
    theme = find_theme(name)
    land, water = ([colour for _, colour in stops] for stops in (theme.land, theme.water))
    assert unlike(land[:1], water[:1]) > 0.035  # at the shore; 0.02 is just noticeable
    assert unlike(land, water) > 0.03


@themes
def test_older_and_newer_coasts_differ_to_every_reader(name: str) -> None:
    theme = find_theme(name)
    old, _, new = theme.coast
    assert unlike([old], [new]) > 0.1
    water = [colour for _, colour in theme.water]
    assert unlike([new], water) > 0.1
    if name != "mono":  # there, older coasts are blank
        assert unlike([old], water) > 0.1


@themes
def test_heights_differ_to_every_reader(name: str) -> None:
    land = [colour for _, colour in find_theme(name).land]
    assert unlike(land[:1], land[-1:]) > 0.1
    assert np.linalg.norm(np.diff(rgb_of(land), axis=0), axis=1).min() > 0.02


@themes
def test_names_are_legible(name: str) -> None:
    inks = find_theme(name).inks
    pairs = [
        (inks.region, inks.halo),
        (inks.land, inks.halo),
        (inks.sea, inks.sea_halo),
        (inks.text, inks.page),
        (inks.title, inks.page),
    ]
    for ink, behind in pairs:
        first, second = (luminance(rgb_of([colour])[0]) for colour in (ink, behind))
        assert contrast(first, second) >= 4.5
    assert contrast(*(luminance(rgb_of([one])[0]) for one in (inks.faint, inks.page))) >= 4.0
