"""Reviews on the map: colours relative to the expected number, and numbered gaps."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from landscape.errors import InputError
from landscape.figures import reviews
from landscape.figures.colours import theme
from landscape.figures.export import draw
from landscape.overlays.missions.measures import share_map
from landscape.types import Analysis
from tests.figures.test_bounding_boxes import overlap, rendered_boxes


def draw_reviews(atlas, gaps, found, **look):
    return draw(reviews.scene(atlas, analysis=gaps, found=found, **look))


def gaps_of(atlas, *, n=20):
    regions = atlas.topics[atlas.topics["level"] == 1].head(n)
    table = pd.DataFrame(
        {
            "rank": np.arange(1, len(regions) + 1),
            "topic_id": regions["topic_id"].to_numpy(),
            "label": regions["label"].to_numpy(),
            "score": np.linspace(9, 1, len(regions)),
            "papers": regions["n_papers"].to_numpy(),
            "reviews": 1,
            "years_without": pd.array([pd.NA] + [4.5] * (len(regions) - 1), dtype="Float64"),
            "growth": 1.2,
        }
    )
    return Analysis("review_gaps", table, "Gaps.", {"papers": 9}, atlas.coverage, ("Few.",))


@pytest.mark.parametrize("size", [(11, 8.5), (7, 6)])
def test_nothing_overlaps_and_numbers_agree(make_atlas, size):
    atlas = make_atlas(1500)
    found = np.random.default_rng(0).random(1500) < 0.1
    figure = draw_reviews(atlas, gaps_of(atlas), found, size_inches=size, raster_dpi=40)
    boxes = [
        box
        for kind in ("topic-", "ranking", "caption", "key")
        for box in rendered_boxes(figure, kind)
    ]
    page = figure.bbox
    for gid, box in boxes:
        assert page.x0 <= box.x0 < box.x1 <= page.x1, gid
        assert page.y0 <= box.y0 < box.y1 <= page.y1, gid
    for (one, first), (other, second) in combinations(boxes, 2):
        same_text = one == other and one.startswith(("topic-", "caption"))
        assert same_text or not overlap(first, second, slack=2.0), (one, other)
    on_map = {t.get_text() for t in figure.texts if str(t.get_gid()).startswith("rank-")}
    listed = {t.get_text() for t in figure.texts if t.get_gid() == "ranking"}
    assert on_map
    assert on_map <= listed
    assert "–" in listed, "what is not known is a dash"


def test_regions_with_enough_reviews_are_not_drawn_as_gaps(make_atlas):
    atlas = make_atlas(1500)
    gaps = gaps_of(atlas)
    gaps.table["rank"] = pd.array([1, pd.NA, 2] + [pd.NA] * 17, dtype="Int64")
    figure = draw_reviews(atlas, gaps, np.arange(1500) % 10 == 0, raster_dpi=40)
    numbers = {t.get_text() for t in figure.texts if str(t.get_gid()).startswith("rank-")}
    assert numbers == {"1", "2"}
    listed = [t.get_text() for t in figure.texts if t.get_gid() == "ranking"]
    assert gaps.table["label"][2] in listed
    assert gaps.table["label"][1] not in listed
    caption = " ".join(t.get_text() for t in figure.texts if t.get_gid() == "caption")
    assert "Years without a review count from" in caption
    assert "to 2026, the last year of the corpus" in caption
    none = replace(gaps, table=gaps.table.assign(rank=pd.array([pd.NA] * 20, dtype="Int64")))
    draw_reviews(atlas, none, np.arange(1500) % 10 == 0, raster_dpi=40)


def test_the_colour_compares_reviews_with_the_expected_number():
    rng = np.random.default_rng(0)
    x, y = np.repeat([-3.0, 3.0], 3000) + rng.normal(0, 0.5, 6000), rng.normal(0, 0.5, 6000)
    chance = np.repeat([0.02, 0.1], 3000)
    found = rng.random(6000) < chance
    shares = share_map(
        x,
        y,
        found,
        extent=(-6, -3, 6, 3),
        shape=(60, 120),
        bandwidth=0.4,
        weights=chance / chance.mean(),
    )
    assert shares.share[30, [30, 90]] / shares.overall == pytest.approx(1.0, abs=0.15)


def test_colours_differ_between_more_and_fewer_reviews(make_atlas):
    rng = np.random.default_rng(0)
    atlas = make_atlas(6000)
    atlas.map["x"] = np.repeat([-3.0, 0.0, 3.0], 2000) + rng.normal(0, 0.5, 6000)
    atlas.map["y"] = rng.normal(0, 0.5, 6000)

    def picture(found):
        figure = draw_reviews(atlas, gaps_of(atlas), found, raster_dpi=40)
        (axes,) = [axes for axes in figure.axes if axes.get_gid() == "map"]
        (image,) = [image for image in axes.images if image.get_gid() == "reviews"]
        return np.asarray(image.get_array()), image

    rgba, image = picture(rng.random(6000) < np.repeat([0.001, 0.02, 0.09], 2000))
    x0, x1, y0, y1 = image.get_extent()
    orange, blue = (
        rgba[int(-y0 / (y1 - y0) * len(rgba)), int((x - x0) / (x1 - x0) * rgba.shape[1])]
        for x in (-3, 3)
    )
    assert orange[0] > orange[2]
    assert blue[2] > blue[0]
    assert rgba[0, rgba.shape[1] // 2, 3] == 0
    none, _ = picture(np.zeros(6000, dtype=bool))
    assert np.ptp(none[..., :3], axis=2).max() < 0.01, "without reviews, all is grey"


def test_no_gap_is_refused(make_atlas):
    atlas = make_atlas(300)
    some = gaps_of(atlas)
    empty = Analysis(some.kind, some.table.head(0), some.caption, {}, {})
    with pytest.raises(InputError, match="no region can be ranked"):
        draw_reviews(atlas, empty, np.zeros(300, dtype=bool))


def test_only_gaps_with_a_verdict_are_numbered(make_atlas):
    atlas, found = make_atlas(1500), np.arange(1500) % 10 == 0
    gaps = gaps_of(atlas)
    gaps.table["density_ratio_high"] = [0.8, 0.9] + [1.3] * 18
    figure = draw_reviews(atlas, gaps, found, raster_dpi=40)
    numbers = {t.get_text() for t in figure.texts if str(t.get_gid()).startswith("rank-")}
    assert numbers == {"1", "2"}
    assert len(figure.table) == 20
    rows = [t for t in figure.texts if t.get_gid() == "ranking"]
    assert any("grey: uncertain" in t.get_text() for t in rows)
    colours = {t.get_text(): t.get_color() for t in rows}
    first, *others = gaps.table["label"][[0, 2, 3, 4]]
    assert set(others) <= set(colours), "the table is filled with gaps without a verdict"
    assert {colours[name] for name in others} == {theme("light").faint} != {colours[first]}
    gaps.table["density_ratio_high"] = 1.3
    figure = draw_reviews(atlas, gaps, found, raster_dpi=40)
    assert any(t.get_text().startswith("No significant gap") for t in figure.texts)
    assert not [t for t in figure.texts if str(t.get_gid()).startswith("rank-")]
    assert figure.axes, "the density of the reviews is drawn even without a significant gap"
