"""Tiles: they cover the sheet, and nobody sees where they meet."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landscape.errors import InputError
from landscape.outreach.controls import coast_picture, depth_picture, mask_sea_back
from landscape.outreach.memory import OutOfMemoryError, Plan, plans, with_less_memory
from landscape.outreach.tiles import cut, draw_in_tiles, window


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
    tiles = cut(width, height, tile=tile, overlap=overlap)
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
    tiles = cut(640, 512, tile=256, overlap=64)
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
        cut(500, 500, tile=tile, overlap=overlap)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), shore=st.integers(0, 5))
def test_the_water_comes_back_to_the_pixel(seed: int, shore: int) -> None:
    random = np.random.default_rng(seed)
    drawn, truth = random.integers(0, 256, (2, 20, 30, 3), dtype=np.uint8)
    land = random.random((20, 30)) > 0.4
    whole = mask_sea_back(drawn, truth, land, shore=shore)
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


def test_less_and_less_memory_is_tried_and_said() -> None:
    said: list[str] = []

    def work(plan: Plan) -> str:
        if plan.device == "cuda":
            raise RuntimeError("CUDA out of memory. Tried to allocate 9.00 GiB")
        return "drawn"

    found, plan = with_less_memory(work, plans("cuda", 512), note=said.append)
    assert (found, plan) == ("drawn", Plan("cpu", 512))
    assert len(said) == 3
    assert said[-1].endswith("going on with tiles of 512 pixels on the processor.")

    with pytest.raises(RuntimeError, match="sizes"):
        with_less_memory(lambda _: fail("sizes must match"), plans("cuda", 512), note=said.append)
    with pytest.raises(OutOfMemoryError, match="not enough memory"):
        with_less_memory(lambda _: fail("out of memory"), plans("cpu", 512), note=said.append)


def fail(words: str) -> None:
    raise RuntimeError(words)
