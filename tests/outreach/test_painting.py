"""Painted maps: no seams, light from the upper left, coasts by recency, error messages."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import ndimage
from skimage.color import rgb2lab

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.errors import InputError
from landscape.outreach import Terrain, _painting, paint
from landscape.outreach._legend import SHORE, key_picture
from landscape.outreach._painting import Canvas, contour_levels
from landscape.outreach._terrain import River
from landscape.outreach.themes import THEMES
from tests.outreach.made_terrain import made_terrain

WIDTH, HEIGHT = 96, 72


def island(*, recency: float = float("nan"), rivers: tuple[River, ...] = ()) -> Terrain:
    """A long ridge in the sea."""
    x, y = np.meshgrid(np.linspace(-2, 2, WIDTH), np.linspace(1.5, -1.5, HEIGHT))
    hill = np.exp(-(x**2) / 1.6 - y**2 * 2) + 0.4 * np.exp(-((x - 0.9) ** 2 + (y + 0.4) ** 2) * 9)
    height = (hill - 0.3) / (hill.max() - 0.3)
    return Terrain(
        elevation=np.where(height > 0, height, height * 2).astype(np.float32),
        recency=np.full((HEIGHT, WIDTH), recency, np.float32),
        extent=(-2.0, 2.0, -1.5, 1.5),
        rivers=rivers,
        recent_share=0.5 if np.isfinite(recency) else float("nan"),
        sea_density=2.0,
        peak_density=40.0,
    )


@pytest.fixture
def small_patches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_painting, "PATCH", 100)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.usefixtures("small_patches")
def test_patches_have_no_seams(theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    course = np.linspace(-1, 1, 30)
    terrain = island(recency=0.8, rivers=(River(0, 1, 9, course, 0.2 * course),))
    size = (321, 241)
    tiled = paint(terrain, theme=theme, size=size)
    window = paint(terrain, theme=theme, size=size, window=(57, 31, 260, 198))
    monkeypatch.setattr(_painting, "PATCH", 10_000)
    whole = paint(terrain, theme=theme, size=size)
    assert np.array_equal(tiled, whole)
    assert np.array_equal(window, whole[31:198, 57:260])
    assert len(np.unique(whole.reshape(-1, 3), axis=0)) > 100


def test_a_large_sheet_shows_the_same_map() -> None:
    small = paint(island(), size=(192, 144)).astype(float)
    large = paint(island(), size=(768, 576)).astype(float)
    shrunk = large.reshape(144, 4, 192, 4, 3).mean(axis=(1, 3))
    assert np.abs(small - shrunk).mean() < 6


def test_light_comes_from_the_upper_left() -> None:
    picture = paint(island(), theme="mono", size=(384, 288)).mean(axis=2)
    lit, dark = picture[95:125, 150:190], picture[165:195, 150:190]
    assert lit.mean() > dark.mean() + 15


def test_gullies_change_neither_coast_nor_water() -> None:
    sheet = Canvas.of(island(), theme="atlas", size=(384, 288))
    smooth = replace(sheet, theme=replace(sheet.theme, ruggedness=0.0))
    rugged, plain = (one.patch((0, 0, 384, 288)) for one in (sheet, smooth))
    differs = (rugged != plain).any(axis=2)
    height = sheet.elevation.at((384, 288))
    assert differs[height > 0.3].mean() > 0.3
    assert not differs[height < 0.015].any()


def test_new_coasts_are_warm_and_old_ones_cool() -> None:
    shore = np.zeros((288, 384), bool)
    sheet = Canvas.of(island(), theme="atlas", size=(384, 288))
    shore = (sheet.shore.at((384, 288)) > 0.004) & (sheet.shore.at((384, 288)) < 0.01)

    def warmth(recency: float) -> float:
        picture = paint(island(recency=recency), size=(384, 288)).astype(float)
        return float((picture[..., 0] - picture[..., 2])[shore].mean())

    unknown, old, same, new = (warmth(share) for share in (float("nan"), 0.1, 0.5, 0.9))
    assert old < same - 20 < same + 20 < new
    assert unknown == same


def test_contours_stand_for_round_ratios() -> None:
    levels, ratio = contour_levels(island())
    assert ratio == 1.5
    assert len(levels) == 7
    assert np.all(np.diff(levels) > 0)
    assert 0 < levels[0] < levels[-1] < 1


def test_what_cannot_be_painted_is_refused() -> None:
    with pytest.raises(InputError, match="atlas, parchment, night, mono, clear"):
        paint(island(), theme="neon")
    with pytest.raises(InputError, match="another shape"):
        paint(island(), size=(100, 100))
    with pytest.raises(InputError, match="32,768"):
        paint(island(), size=(96_000, 72_000))
    with pytest.raises(InputError, match="not inside"):
        paint(island(), window=(0, 0, 97, 10))


@pytest.mark.parametrize("theme", THEMES)
def test_the_key_shows_newer_and_older_coasts_apart(theme: str) -> None:
    hills = made_terrain()
    dated = replace(hills, recent_years=(2022, 2026), recent_share=0.5)
    key = rgb2lab(key_picture(dated, theme=theme, width=300) / 255)
    key = ndimage.gaussian_filter(key, (1, 1, 0))
    height, width, _ = key.shape
    shore = slice(round((SHORE + 0.02) * width), round((SHORE + 0.06) * width))
    newer, older = key[: height // 6, shore], key[-height // 6 :, shore]
    apart = np.linalg.norm(newer.mean(axis=(0, 1)) - older.mean(axis=(0, 1)))
    assert apart > 5  # in CIELAB, where 2 can just be told apart


def test_coasts_in_one_ink_are_hatched_and_not_darkened() -> None:
    hills = made_terrain()
    dated = replace(hills, recent_years=(2022, 2026), recent_share=0.5)
    key = key_picture(dated, theme="mono", width=300)[..., 0].astype(int)
    row = key[4, round((SHORE + 0.03) * 300) : round((SHORE + 0.09) * 300)]
    assert row.min() < 190
    assert row.max() > 230
    assert np.sum(np.diff(np.sign(row - 225)) != 0) >= 3  # lines, one beside the other
