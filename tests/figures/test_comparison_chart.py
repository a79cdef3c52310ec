from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from landscape.errors import InputError
from landscape.figures import compare
from landscape.figures.export import draw
from landscape.figures.maps import map_box
from landscape.overlays.trends import compare as differences


@pytest.fixture
def atlas(make_atlas):
    made = make_atlas(1500, n_regions=10)
    made.read_papers = lambda columns: pd.DataFrame({"year": np.full(1500, 2020)})[columns]
    return made


@pytest.fixture
def halves(atlas):
    """Rows of two selections; a contains all papers of region 0, and b none of them."""
    region = atlas.map["topic_id"].to_numpy()
    rows = np.arange(len(region))
    return rows[(rows < 700) | (region == 0)], rows[(rows >= 700) & (region != 0)]


def test_regions_are_ranked_and_coloured_by_where_they_are_over_represented(atlas, halves):
    figure = compare(atlas, *halves)
    names = [text for text in figure.texts if text.get_gid() == "region"]
    assert names[0].get_text() == "Exoplanet atmospheres"
    colours = {text.get_text(): text.get_color() for text in names}
    over = figure.table.set_index("label")["over_in"]
    assert over["Exoplanet atmospheres"] == "a"
    assert colours["Exoplanet atmospheres"] != colours[over.index[over == ""][0]]
    (map_axes,) = [axes for axes in figure.axes if axes.get_gid() == "map"]
    marked = {line.get_gid(): len(line.get_xdata()) for line in map_axes.lines}
    assert marked["over in a"] == (over == "a").sum()


def test_an_infinite_odds_ratio_stays_on_the_chart(atlas, halves):
    figure = compare(atlas, *halves)
    (forest,) = [axes for axes in figure.axes if axes.get_gid() == "odds ratios"]
    low, high = forest.get_xlim()
    for line in forest.lines:
        if line.get_marker() == "o":
            assert low <= line.get_xdata()[0] <= high


def test_no_interval_leaves_its_axis(atlas):
    topics = atlas.map["topic_id"]
    inside = topics.to_numpy() == topics.max()
    one, rest = np.flatnonzero(inside), np.flatnonzero(~inside)
    found = compare(atlas, np.append(one[1:], rest[:1]), np.append(rest[1:], one[:1]))
    (forest,) = [axes for axes in found.axes if axes.get_gid() == "odds ratios"]
    shown = found.table[(found.table["a_papers"] > 0) & (found.table["b_papers"] > 0)]
    assert shown["odds_ratio_high"].max() > 64
    low, high = forest.get_xlim()
    assert low <= shown["odds_ratio_low"].min() < shown["odds_ratio_high"].max() <= high


def test_marks_are_filled_if_clear_and_absent_if_a_share_is_zero(atlas, halves):
    figure = compare(atlas, *halves)
    (forest,) = [axes for axes in figure.axes if axes.get_gid() == "odds ratios"]
    shown = figure.table.set_index("label")
    names = [text.get_text() for text in figure.texts if text.get_gid() == "region"]
    marks = {
        round(line.get_ydata()[0]): line.get_markerfacecolor() != line.get_color()
        for line in forest.lines
        if line.get_marker() == "o"
    }
    assert marks
    for row, name in enumerate(names):
        found = shown.loc[name]
        assert (row in marks) == bool(found["a_papers"] and found["b_papers"]), name
        clear = found["odds_ratio_low"] > 1 or found["odds_ratio_high"] < 1
        assert not found["over_in"] or clear
        if row in marks:
            assert marks[row] == (not found["over_in"]), "open if the interval includes 1"


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("facility:JWST", "JWST"),
        ('facility:"James Webb"', "James Webb"),
        ("mentions:JWST", "mentions:JWST"),
        ("..2010", "until 2010"),
        ("year:2011..", "2011 and later"),
        ("1999-2009", "1999 to 2009"),
        ("2011..; facility:ALMA", "2011..; facility:ALMA"),
    ],
)
def test_selections_have_short_names(atlas, halves, words, name):
    found = differences(atlas, *halves)
    selections = found.tables["selections"].assign(name=[words, "other papers"])
    named = replace(found, tables={**found.tables, "selections": selections})
    figure = draw(compare.scene(atlas, *halves, analysis=named))
    title = f"selections. {name} against other papers: regions with different shares"
    assert title.casefold() in figure.alt_text.casefold()


def test_caption_names_both_selections_and_their_papers(atlas, halves):
    figure = compare(atlas, *halves)
    printed = " ".join(text.get_text() for text in figure.texts)
    assert f"selection A ({len(halves[0]):,} papers)" in printed
    assert "larger share: selection A" in printed
    assert "Based on " in figure.caption
    assert "false discovery rate" in figure.alt_text


def test_empty_and_equal_selections_are_refused(atlas):
    with pytest.raises(InputError, match="no paper"):
        compare(atlas, np.array([], dtype=int), np.arange(5))
    with pytest.raises(InputError, match="same"):
        compare(atlas, np.arange(5), np.arange(5))


def test_one_region_alone_can_be_drawn(atlas, halves):
    from landscape.overlays.trends import compare as find

    found = find(atlas, *halves)
    figure = draw(compare.scene(atlas, *halves, analysis=replace(found, table=found.table.head(1))))
    assert sum(text.get_gid() == "region" for text in figure.texts) == 1


def test_no_words_leave_the_page(atlas, halves):
    figure = compare(atlas, *halves, size_inches=(7, 6))
    figure.canvas.draw()
    for text in figure.texts:
        box = text.get_window_extent()
        assert min(box.x0, box.y0) >= 0, text
        assert box.x1 <= figure.bbox.x1, text
        assert box.y1 <= figure.bbox.y1, text


def test_a_flat_map_gets_a_box_of_some_height():
    assert map_box((0, 0, 100, 300), np.arange(9.0), np.zeros(9)) == (0, 250.0, 100, 300)


def test_a_comparison_of_facilities_counts_the_papers_that_use_their_data(demo_atlas):
    figure = compare(demo_atlas, "facility:HST", "facility:Gaia")
    used = [set(demo_atlas.select(f"facility:{name}; role:science")) for name in ("HST", "Gaia")]
    printed = " ".join(text.get_text() for text in figure.texts)
    assert f"HST ({len(used[0] - used[1]):,} papers)" in printed
    assert "use its data" in figure.caption


def test_open_intervals_end_in_an_arrow_and_the_caption_says_why(atlas, halves):
    figure = compare(atlas, *halves)
    (forest,) = [axes for axes in figure.axes if axes.get_gid() == "odds ratios"]
    arrows = [line for line in forest.lines if line.get_gid() == "open end"]
    table = figure.table[figure.table["p"].notna()]
    assert len(arrows) == (table[["a_papers", "b_papers"]] == 0).any(axis=1).sum() > 0
    low, high = forest.get_xlim()
    for line in arrows:
        (x,) = line.get_xdata()
        assert line.get_marker() == (">" if x > 1 else "<")
        assert low < x < high
    assert "An interval with an arrow has no end" in figure.caption
    mixed = compare(atlas, np.arange(700), np.arange(700, 1500))
    assert "arrow" not in mixed.caption


def test_the_page_says_which_regions_are_listed_and_what_open_marks_are(atlas, halves):
    figure = compare(atlas, *halves)
    printed = " ".join(text.get_text() for text in figure.texts if text.get_gid() == "caption")
    assert "The regions with the smallest p values are listed, ordered by odds ratio." in printed
    assert "open marks are not significant after correction for multiple tests" in printed
