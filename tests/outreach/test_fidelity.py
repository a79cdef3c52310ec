"""Scores of redrawn pictures: correct pictures pass, and every kind of error fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.errors import InputError
from landscape.outreach import Fidelity, Terrain, judge, paint
from landscape.outreach._fidelity import Bars, TrueMap
from landscape.outreach.themes import THEMES
from tests.outreach.made_terrain import made_terrain

Picture = Any


@cache
def drawn(theme: str, seed: int = 1) -> tuple[Terrain, Picture]:
    terrain = made_terrain(seed, size=(216, 180))
    return terrain, paint(terrain, theme=theme)


@cache
def true_map(theme: str, seed: int = 1) -> TrueMap:
    return TrueMap(*drawn(theme, seed))


def score(picture: Picture, theme: str, seed: int = 1) -> Fidelity:
    return true_map(theme, seed).judge(np.ascontiguousarray(picture))


@pytest.mark.parametrize("theme", list(THEMES))
def test_an_honest_picture_of_every_theme_passes(theme: str) -> None:
    _, truth = drawn(theme)
    found = score(truth, theme)
    assert found.passed, found.says
    assert (found.coasts, found.relief) == pytest.approx((1, 1))


@pytest.mark.parametrize("theme", list(THEMES))
def test_grain_and_another_tone_are_no_lie(theme: str) -> None:
    _, truth = drawn(theme)
    grain = np.random.default_rng(0).normal(0, 6, truth.shape)
    painted = np.clip(truth * 0.94 + 9 + grain, 0, 255).astype(np.uint8)
    assert score(painted, theme).passed, score(painted, theme).says


@pytest.mark.parametrize("scale", [1, 2, 4])
@pytest.mark.parametrize("theme", list(THEMES))
def test_the_texture_of_a_brush_is_no_lie(theme: str, scale: int) -> None:
    _, truth = drawn(theme)
    texture = gaussian_filter(np.random.default_rng(0).normal(size=truth.shape[:2]), scale)
    painted = truth + (15 / texture.std() * texture)[..., None]
    painted = np.clip(painted, 0, 255).astype(np.uint8)
    assert score(painted, theme).passed, score(painted, theme).says


def of_less_land(terrain: Terrain) -> Terrain:
    return replace(terrain, elevation=np.clip(terrain.elevation - np.float32(0.12), -1, 1))


def upside_down(terrain: Terrain) -> Terrain:
    """Return a terrain with the same coasts and inverted heights."""
    low = np.clip(1 - terrain.elevation, 0, 1) * np.clip(terrain.elevation * 20, 0, 1)
    return replace(terrain, elevation=np.where(terrain.land, low, terrain.elevation))


def inside_out(terrain: Terrain) -> Terrain:
    return replace(terrain, elevation=-terrain.elevation)


@pytest.mark.parametrize("theme", list(THEMES))
@pytest.mark.parametrize(
    ("lie", "caught_by"),
    [(of_less_land, "coasts"), (inside_out, "relief"), (upside_down, "relief")],
    ids=["eroded", "inside out", "upside down"],
)
def test_a_well_painted_map_of_other_data_fails(
    theme: str, lie: Callable[[Terrain], Terrain], caught_by: str
) -> None:
    terrain, _ = drawn(theme)
    found = score(paint(lie(terrain), theme=theme), theme)
    assert not found.passed
    assert caught_by in found.failed


def shuffled_tiles(truth: Picture) -> Picture:
    random = np.random.default_rng(0)
    rows, columns = truth.shape[0] // 48, truth.shape[1] // 48
    tiles = truth[: rows * 48, : columns * 48].reshape(rows, 48, columns, 48, 3).swapaxes(1, 2)
    mixed = random.permutation(tiles.reshape(-1, 48, 48, 3)).reshape(tiles.shape)
    return mixed.swapaxes(1, 2).reshape(rows * 48, columns * 48, 3)


@pytest.mark.parametrize("theme", list(THEMES))
@pytest.mark.parametrize(
    "spoil",
    [
        lambda truth: 255 - truth,
        lambda truth: truth[:, ::-1],
        lambda truth: truth[::-1],
        shuffled_tiles,
        lambda truth: np.full_like(truth, 128),
        lambda truth: np.random.default_rng(0).integers(0, 256, truth.shape, dtype=np.uint8),
    ],
    ids=["negative", "mirrored", "on its head", "shuffled", "grey", "noise"],
)
def test_a_spoilt_picture_fails(theme: str, spoil: Callable[[Picture], Picture]) -> None:
    _, truth = drawn(theme)
    assert not score(spoil(truth), theme).passed


@pytest.mark.parametrize("theme", list(THEMES))
def test_true_coasts_do_not_save_a_false_inside(theme: str) -> None:
    terrain, truth = drawn(theme)
    stirred = truth.copy()
    stirred[terrain.land] = np.random.default_rng(0).permutation(truth[terrain.land])
    assert "relief" in score(stirred, theme).failed


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    theme=st.sampled_from(sorted(THEMES)),
    by=st.integers(7, 100),
    across=st.booleans(),
    back=st.booleans(),
)
def test_any_shift_of_three_per_cent_or_more_fails(
    theme: str, by: int, across: bool, back: bool
) -> None:
    _, truth = drawn(theme)
    moved = np.roll(truth, -by if back else by, axis=1 if across else 0)
    assert not score(moved, theme).passed


@pytest.mark.parametrize(("one", "other"), [(1, 1), (2, 1), (3, 1), (1, 2), (2, 2)])
def test_a_map_passes_for_its_own_data_alone(one: int, other: int) -> None:
    _, painted = drawn("parchment", one)
    assert score(painted, "parchment", other).passed == (one == other)


def test_scores_fall_as_the_picture_leaves_the_truth() -> None:
    terrain, _ = drawn("atlas")
    lies = [
        paint(replace(terrain, elevation=np.clip(terrain.elevation - by, -1, 1)))
        for by in np.float32([0, 0.05, 0.15, 0.3])
    ]
    relief = [score(lie, "atlas").relief for lie in lies]
    assert relief == sorted(relief, reverse=True)
    assert relief[0] - relief[-1] > 0.3


def test_a_large_picture_is_judged_like_a_small_one() -> None:
    terrain, _ = drawn("atlas")
    large = paint(terrain, theme="atlas", size=(540, 450))
    assert judge(large, terrain, truth=large).passed
    assert not judge(np.roll(large, 30, axis=1), terrain, truth=large).passed


@pytest.mark.parametrize("level", [-0.5, 0.5])
def test_a_sheet_of_one_kind_is_judged_without_dividing_by_nothing(level: float) -> None:
    flat = np.full((64, 64), level, dtype=np.float32)
    terrain = Terrain(flat, np.full_like(flat, np.nan), (0.0, 1.0, 0.0, 1.0))
    truth = paint(terrain)
    found = judge(truth, terrain)
    assert found.passed, found.says
    assert np.isfinite(found.relief)


def test_what_is_no_picture_is_refused() -> None:
    terrain, truth = drawn("atlas")
    with pytest.raises(InputError, match="uint8"):
        judge(truth.astype(float), terrain, truth=truth)
    with pytest.raises(
        InputError, match="lowest accepted coasts is 95; it must be between 0 and 1"
    ):
        Bars(coasts=95)


def test_a_map_that_is_too_narrow_is_refused() -> None:
    strip = np.ones((12, 200), dtype=np.float32)
    terrain = Terrain(strip, np.full_like(strip, np.nan), (0.0, 1.0, 0.0, 1.0))
    with pytest.raises(InputError, match="12 pixels on its shorter side"):
        judge(np.zeros((12, 200, 3), np.uint8), terrain, truth=np.zeros((12, 200, 3), np.uint8))


def test_a_score_that_is_no_number_does_not_pass() -> None:
    assert not Fidelity(float("nan"), 1.0).passed


def test_bars_of_the_user_count() -> None:
    terrain, truth = drawn("mono")
    brighter = np.clip(truth + 30.0, 0, 255).astype(np.uint8)
    assert judge(brighter, terrain, truth=truth).passed
    assert not judge(brighter, terrain, truth=truth, bars=Bars(relief=1.0)).passed
    eroded = paint(of_less_land(terrain), theme="mono")
    lax = Bars(coasts=0, relief=0)
    assert not judge(eroded, terrain, truth=truth).passed
    assert judge(np.maximum(truth, eroded), terrain, truth=truth, bars=lax).passed
