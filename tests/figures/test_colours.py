"""Colours can be distinguished in grey print and by colour-blind readers; names are legible."""

from __future__ import annotations

import numpy as np
import pytest

from landscape.errors import InputError
from landscape.figures.areas import DEFICIENCIES
from landscape.figures.colours import THEMES, series, srgb_to_oklab, theme

both = pytest.mark.parametrize("name", list(THEMES))


def linear(rgb):
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def luminance(rgb):
    return linear(np.asarray(rgb)) @ [0.2126, 0.7152, 0.0722]


def from_hex(colour):
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255


def contrast(first, second):
    bright, dim = np.maximum(first, second), np.minimum(first, second)
    return (bright + 0.05) / (dim + 0.05)


@both
def test_grey_print_keeps_the_order(name):
    grey = luminance(theme(name).ramp)
    steps = np.diff(grey)
    assert (steps < 0).all() or (steps > 0).all()


@both
def test_equal_steps_look_equal(name):
    lab = srgb_to_oklab(theme(name).ramp)
    assert np.allclose(np.diff(lab[:, 0], n=2), 0, atol=2e-3), "lightness runs straight"
    steps = np.linalg.norm(np.diff(lab, axis=0), axis=1)
    assert steps.max() / steps.min() < 2.2


@both
@pytest.mark.parametrize("deficiency", list(DEFICIENCIES))
def test_colour_blind_readers_see_every_tone(name, deficiency):
    seen = np.clip(linear(theme(name).ramp) @ np.array(DEFICIENCIES[deficiency]).T, 0, 1)
    seen = np.where(seen <= 0.0031308, 12.92 * seen, 1.055 * seen ** (1 / 2.4) - 0.055)
    lab = srgb_to_oklab(seen)[::25]
    apart = np.linalg.norm(lab[:, None] - lab[None], axis=2)
    assert apart[~np.eye(len(lab), dtype=bool)].min() > 0.03  # 0.02 is just noticeable
    lightness = np.diff(lab[:, 0])
    assert (lightness < 0).all() or (lightness > 0).all()


@both
@pytest.mark.parametrize("deficiency", list(DEFICIENCIES))
def test_colour_blind_readers_tell_the_colours_of_regions(name, deficiency):
    colours = np.array([from_hex(colour) for colour in series(theme(name), 7)])
    seen = np.clip(linear(colours) @ np.array(DEFICIENCIES[deficiency]).T, 0, 1)
    lab = srgb_to_oklab(
        np.where(seen <= 0.0031308, 12.92 * seen, 1.055 * seen ** (1 / 2.4) - 0.055)
    )
    apart = np.linalg.norm(lab[:, None] - lab[None], axis=2)
    assert apart[~np.eye(7, dtype=bool)].min() > 0.1  # 0.02 is just noticeable


@both
def test_names_read_on_every_tone(name):
    colours = theme(name)
    tones = luminance(colours.ramp)
    # On the last, rare tones a name relies on its halo.
    assert contrast(luminance(from_hex(colours.ink)), tones)[:192].min() > 3
    halo = luminance(from_hex(colours.halo))
    for words in (colours.ink, colours.continent):
        assert contrast(luminance(from_hex(words)), halo) > 7
    for words in (colours.faint, colours.accent):
        assert contrast(luminance(from_hex(words)), tones[0]) > 4.5


def test_unknown_colours_are_refused_with_the_known_ones():
    with pytest.raises(InputError, match=r"'sepia'.*light, dark"):
        theme("sepia")
