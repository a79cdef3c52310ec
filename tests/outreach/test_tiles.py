"""Tiles cover the sheet without visible seams."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.errors import InputError
from landscape.outreach._diffusion import (
    Plan,
    coast_picture,
    cut_tiles,
    depth_picture,
    draw_in_tiles,
    is_out_of_memory,
    list_plans,
    restore_water,
    window,
)


@settings(max_examples=25, deadline=None)
@given(
    width=st.integers(1, 500),
    height=st.integers(1, 400),
    tile=st.integers(64, 400),
    share=st.floats(0, 0.5),
)
def test_a_picture_comes_back_whole_from_its_tiles(
    width: int, height: int, tile: int, share: float
) -> None:
    overlap = int(tile * share)
    tiles = cut_tiles(width, height, tile=tile, overlap=overlap)
    picture = np.arange(width * height * 3).astype(np.uint8).reshape(height, width, 3)
    assert np.array_equal(
        draw_in_tiles((height, width), tiles, lambda one: window(picture, one)), picture
    )
    assert all(max(one.width, one.height) <= tile for one in tiles)
    assert all(0 <= one.left < width and 0 <= one.top < height for one in tiles)
    for one in tiles:
        assert one.left == 0 or one.over_left >= overlap // 64 * 64
        assert one.top == 0 or one.over_top >= overlap // 64 * 64


def test_tiles_of_different_tone_fade_into_each_other() -> None:
    tiles = cut_tiles(640, 512, tile=256, overlap=64)
    tones = {tile: 40 + 30 * (i % 5) for i, tile in enumerate(tiles)}
    sheet = draw_in_tiles(
        (512, 640),
        tiles,
        lambda one: np.full((one.height, one.width, 3), tones[one], dtype=np.uint8),
    ).astype(int)
    steps = max(np.abs(np.diff(sheet, axis=0)).max(), np.abs(np.diff(sheet, axis=1)).max())
    assert np.ptp(sheet) >= 100
    assert steps <= 6  # the tones differ by up to 120


@pytest.mark.parametrize(("tile", "overlap"), [(32, 0), (128, 65), (128, -1)])
def test_tiles_that_cannot_be_are_refused(tile: int, overlap: int) -> None:
    with pytest.raises(InputError):
        cut_tiles(500, 500, tile=tile, overlap=overlap)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), shore=st.integers(0, 5))
def test_the_water_comes_back_to_the_pixel(seed: int, shore: int) -> None:
    random = np.random.default_rng(seed)
    drawn, truth = random.integers(0, 256, (2, 20, 30, 3), dtype=np.uint8)
    land = random.random((20, 30)) > 0.4
    whole = restore_water(drawn, truth, land, shore=shore)
    assert np.array_equal(whole[~land], truth[~land])
    if shore == 0:
        assert np.array_equal(whole[land], drawn[land])


def test_controls_show_heights_and_coasts() -> None:
    heights = np.linspace(-1, 1, 21, dtype=np.float32)[None].repeat(5, axis=0)
    depth = depth_picture(heights)[0, :, 0].astype(int)
    assert (np.diff(depth) >= 0).all()
    assert len(set(depth[:10])) == 1  # water is flat
    assert depth[10] - depth[9] > 20  # and the shore a step
    assert set(np.flatnonzero(coast_picture(heights >= 0)[0, :, 0])) == {8, 9, 10, 11}
    assert not coast_picture(heights >= -2).any()


def test_smaller_tiles_come_before_the_processor() -> None:
    assert list_plans("cpu", 1024) == [Plan("cpu", size) for size in (1024, 768, 512, 384)]
    plans = list_plans("cuda", 512)
    assert plans[:2] == [Plan("cuda", 512), Plan("cuda", 512, spare=True)]
    assert [plan.tile for plan in plans if plan.spare] == [512, 384, 256]
    assert plans[4:] == [Plan("cpu", 512), Plan("cpu", 384), Plan("cpu", 256)]
    assert str(plans[1]) == "tiles of 512 pixels on the graphics card, with offloading"
    assert str(plans[4]) == "tiles of 512 pixels on the processor"


def test_a_lack_of_memory_is_recognized() -> None:
    assert is_out_of_memory(RuntimeError("CUDA out of memory. Tried to allocate 9.00 GiB"))
    assert is_out_of_memory(MemoryError())
    assert not is_out_of_memory(RuntimeError("sizes of tensors must match"))
