from __future__ import annotations

import numpy as np
import pytest

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.figures import author
from landscape.figures.colours import srgb_to_oklab
from landscape.figures.export import draw
from landscape.types import Analysis


def draw_author(atlas, analysis, **look):
    return draw(author.scene(atlas, "Doe, J.", analysis=analysis, **look))


@pytest.fixture
def atlas(make_atlas):
    return make_atlas(800, n_regions=10, generated=True)


@pytest.fixture
def found(atlas):
    """Thirty papers: 15 in region 1, then 14 in region 2, then one outside all regions."""
    region = atlas.map["topic_id"].to_numpy()
    rows = np.r_[np.flatnonzero(region == 1)[:15], np.flatnonzero(region == 2)[:14]]
    rows = np.r_[rows, np.flatnonzero(region == -1)[:1]]
    labels = atlas.topics.set_index("topic_id")["label"]
    papers = atlas.map.iloc[rows].reset_index(drop=True)
    papers["label"] = papers["topic_id"].map(labels).fillna("")
    papers["year"] = np.linspace(1990, 2020, len(papers)).astype(int)
    papers["title"] = "<b>$x$</b>"
    periods = papers.groupby(papers["year"] // 10)[["x", "y"]].median()
    return Analysis(
        "author",
        papers,
        "Papers by Doe, J.",
        {"papers of the author": len(papers)},
        {"generated": True},
        ("Papers are matched by name.",),
        {"periods": periods},
    )


def test_papers_lie_where_the_map_has_them(atlas, found):
    figure = draw_author(atlas, found)
    (axes,) = [axes for axes in figure.axes if axes.get_gid() == "map"]
    dots = next(item for item in axes.collections if item.get_gid() == "papers")
    drawn = np.sort(np.asarray(dots.get_offsets()), axis=0)
    assert np.allclose(drawn, np.sort(found.table[["x", "y"]].to_numpy(), axis=0))


def test_regions_stand_in_the_order_of_time(atlas, found):
    figure = draw_author(atlas, found)
    rows = [text.get_text() for text in figure.texts if text.get_gid() == "region"]
    names = [found.table["label"].iloc[0], found.table["label"].iloc[20]]
    assert rows[:2] == [f"{names[0]} (15)", f"{names[1]} (14)"]
    assert rows[2].startswith("outside every region")


def test_caption_states_the_limits(atlas, found):
    figure = draw_author(atlas, found)
    assert "matched by name" in figure.caption
    assert figure.alt_text.startswith("GENERATED DEMO CORPUS")


def test_a_single_paper_can_be_drawn(atlas, found):
    from dataclasses import replace

    one = replace(found, table=found.table.head(1), tables={})
    figure = draw_author(atlas, one)
    figure.canvas.draw()
    assert [t.get_text() for t in figure.texts if t.get_gid() == "key"] == ["1990"]


def test_no_words_leave_the_page(atlas, found):
    figure = draw_author(atlas, found, size_inches=(7, 6))
    figure.canvas.draw()
    for text in figure.texts:
        box = text.get_window_extent()
        assert min(box.x0, box.y0) >= 0, text
        assert box.x1 <= figure.bbox.x1, text


def test_later_years_are_darker_for_any_colour_vision(atlas, found):
    figure = draw_author(atlas, found)
    (axes,) = [axes for axes in figure.axes if axes.get_gid() == "map"]
    dots = next(item for item in axes.collections if item.get_gid() == "papers")
    year_at = {(x, y): year for x, y, year in found.table[["x", "y", "year"]].to_numpy(float)}
    years = [year_at[tuple(place)] for place in np.asarray(dots.get_offsets(), dtype=float)]
    lightness = srgb_to_oklab(np.asarray(dots.get_facecolors())[:, :3])[np.argsort(years), 0]
    assert len(lightness) == 30
    assert (np.diff(lightness) < 0).all()
