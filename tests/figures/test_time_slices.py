from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import Rectangle

from landscape import figures
from landscape.errors import InputError
from landscape.figures import time_slices
from landscape.figures.scene import tile

COARSE = 30


@pytest.fixture
def dated(make_atlas):
    """An atlas whose papers have years; 2003 to 2005 are partly covered."""
    atlas = make_atlas(1200, n_regions=8)
    rng = np.random.default_rng(1)
    year = rng.choice(np.r_[2000:2003, 2006:2010], len(atlas.map))
    year[:3] = [2003, 2004, 2005]
    atlas.read_papers = lambda columns: pd.DataFrame({"year": year, "categories": None})[columns]
    return atlas


def test_slices_have_the_same_axes_and_say_how_many_papers_they_hold(dated):
    figure = time_slices(dated, edges=[2000, 2003, 2006, 2010], raster_dpi=COARSE)
    maps = [axes for axes in figure.axes if axes.get_gid() == "map"]
    assert len(maps) == 3
    assert len({(axes.get_xlim(), axes.get_ylim()) for axes in maps}) == 1
    headings = [text.get_text() for text in figure.texts if text.get_gid() == "heading"]
    assert headings[0] == "2000-2002"
    notes = [text.get_text() for text in figure.texts if text.get_gid() == "note"]
    assert notes[1] == "3 papers; 2003-2005 in part"


def test_a_slice_that_the_corpus_does_not_cover_is_hatched(dated):
    figure = time_slices(dated, edges=[2000, 2003, 2006, 2010], raster_dpi=COARSE)
    maps = [axes for axes in figure.axes if axes.get_gid() == "map"]
    hatched = [any(patch.get_hatch() for patch in axes.patches) for axes in maps]
    assert hatched == [False, True, False]
    assert "covers 2003-2005 in part" in figure.caption


def test_more_papers_do_not_darken_a_slice(make_atlas):
    atlas = make_atlas(4000, n_regions=3)
    rng = np.random.default_rng(0)
    year = rng.choice([2000, 2001], len(atlas.map), p=[0.2, 0.8])
    atlas.read_papers = lambda columns: pd.DataFrame({"year": year, "categories": None})[columns]
    figure = time_slices(atlas, edges=[2000, 2001, 2002], raster_dpi=COARSE)
    first, second = (
        axes.images[0].get_array().astype(float).mean()
        for axes in figure.axes
        if axes.get_gid() == "map"
    )
    assert first == pytest.approx(second, rel=0.03)


def test_the_table_counts_every_region_of_every_slice(dated):
    table = time_slices(dated, edges=[2000, 2003, 2010], raster_dpi=COARSE).table
    assert len(table) == 2 * 8
    named = int((dated.map["topic_id"] >= 0).sum())
    assert table["papers"].sum() == named
    assert np.allclose(table["share"], table["papers"] / table["papers_in_slice"])


def in_years(atlas, year):
    atlas.read_papers = lambda columns: pd.DataFrame({"year": year, "categories": None})[columns]
    return atlas


def test_shares_are_of_all_papers_of_a_slice(make_atlas):
    atlas = make_atlas(300, n_regions=2)
    region = atlas.map["topic_id"].to_numpy()
    year = np.where((region == 1) | (np.arange(300) % 3 == 0), 2001, 2000)
    figure = time_slices(in_years(atlas, year), edges=[2000, 2001, 2002], raster_dpi=COARSE)
    table = figure.table.set_index(["first_year", "topic_id"])
    assert len(table) == 4
    assert table.loc[(2000, 1), "papers"] == 0
    for (first, topic), row in table.iterrows():
        assert row["papers"] == ((year == first) & (region == topic)).sum()
        assert row["share"] == row["papers"] / (year == first).sum()


@pytest.mark.parametrize("edges", [[2000], [2005, 2000], [2000, 2000], [2000.5, 2003]])
def test_edges_that_are_no_rising_years_are_refused(dated, edges):
    with pytest.raises(InputError, match="rising years"):
        time_slices(dated, edges=edges)


def test_slices_without_any_paper_are_refused(dated):
    with pytest.raises(InputError, match="No paper is from 1900 to 1909; the atlas has 2000"):
        time_slices(dated, edges=[1900, 1905, 1910])


def test_papers_of_a_single_year_are_one_slice(make_atlas):
    atlas = in_years(make_atlas(300, n_regions=2), np.full(300, 2020))
    table = time_slices(atlas, raster_dpi=COARSE).table
    assert set(zip(table["first_year"], table["last_year"], strict=True)) == {(2020, 2020)}


@pytest.mark.parametrize("n", [1, 2, 5, 6, 12, 24])
def test_boxes_neither_touch_nor_leave_the_room(n):
    boxes = tile((10, 20, 700, 500), n, heading=12, gap=8)
    assert len(boxes) == n
    for i, (left, bottom, right, top) in enumerate(boxes):
        assert 10 <= left < right <= 700.01
        assert 19.99 <= bottom < top <= 488.01
        for other in boxes[i + 1 :]:
            assert right < other[0] or other[2] < left or other[3] < bottom or top < other[1]


def test_it_can_be_saved(dated, tmp_path):
    figure = time_slices(dated, edges=[2000, 2010], raster_dpi=COARSE)
    path = figures.save_figure(figure, tmp_path / "slices.svg")
    assert path.with_suffix(".csv").read_text().startswith("slice,first_year,last_year")


def test_hatching_is_a_strip_in_the_margin_of_the_map(dated):
    figure = time_slices(dated, edges=[2000, 2003, 2006, 2010], raster_dpi=COARSE)
    axes = [axes for axes in figure.axes if axes.get_gid() == "map"][1]
    (strip,) = [patch for patch in axes.patches if patch.get_hatch()]
    top = strip.get_y() + strip.get_height()
    assert strip.get_height() < 0.1 * np.ptp(axes.get_ylim())
    assert top < np.quantile(dated.map["y"], 0.0005)


def test_the_key_of_the_slices_gives_the_colour_of_a_share(make_atlas):
    atlas = make_atlas(4000, n_regions=3)
    year = np.where(np.arange(4000) % 4 == 0, 2000, 2001)
    figure = time_slices(in_years(atlas, year), edges=[2000, 2001, 2002], raster_dpi=100)
    keys = [text.get_text() for text in figure.texts if text.get_gid() == "key"]
    assert keys[0] == "Percent of papers in a square this size"
    values = [float(words.replace(",", "")) for words in keys[1:]]
    squares = [
        one
        for one in figure.get_children()
        if isinstance(one, Rectangle) and one.get_gid() == "key"
    ]
    colours = np.array([square.get_facecolor()[:3] for square in squares])
    first, side = figure.axes[0], squares[0].get_width() / 72 * 100  # in pixels of the image
    pixels = first.images[0].get_array()[..., :3] / 255
    nearest = np.abs(pixels[..., None, :] - colours).sum(axis=-1).argmin(axis=-1)
    total = np.array(values)[nearest][pixels.min(axis=-1) < 0.9].sum() / side**2
    assert 60 < total < 170, "the colours of a map add up to about 100%"


def test_the_title_and_the_caption_of_the_slices_are_short(dated):
    caption = time_slices(dated, raster_dpi=COARSE).caption
    assert caption.splitlines()[0].count(":") == 1
    assert "on one scale for all slices" in caption.splitlines()[1]
