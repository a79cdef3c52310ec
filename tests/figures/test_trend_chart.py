from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from landscape.errors import InputError
from landscape.figures import trends
from landscape.figures.export import draw
from landscape.figures.scene import uncovered_spans
from landscape.types import Analysis

YEARS = np.arange(2000, 2020)


def draw_trends(analysis, **look):
    return draw(trends.scene(None, analysis=analysis, **look))


@pytest.fixture
def analysis():
    """Twenty topics, the first rising and the last falling; 2005 to 2007 are not covered."""
    slopes = np.linspace(0.1, -0.1, 20)
    kinds = np.where(slopes > 0.04, "emerging", np.where(slopes < -0.04, "fading", "steady"))
    table = pd.DataFrame(
        {
            "topic_id": np.arange(20),
            "label": [f"Topic {letter}" for letter in "abcdefghijklmnopqrst"],
            "papers": 100,
            "slope": slopes,
            "slope_low": slopes - 0.03,
            "slope_high": slopes + 0.03,
            "class": kinds,
        }
    )
    share = 0.01 * np.exp(slopes[:, None] * (YEARS - 2010))
    covered = ~np.isin(YEARS, [2005, 2006, 2007])
    years = pd.DataFrame(
        {
            "topic_id": np.repeat(np.arange(20), len(YEARS)),
            "year": np.tile(YEARS, 20),
            "share": share.ravel(),
            "share_low": 0.8 * share.ravel(),
            "share_high": 1.2 * share.ravel(),
            "covered": np.tile(covered, 20),
        }
    )
    return Analysis(
        "trends",
        table,
        "Shares of topics.",
        {"papers": 2000},
        {"generated": True},
        ("The corpus covers 2005-2007 in part.",),
        {"years": years},
    )


def charts(figure):
    return [axes for axes in figure.axes if axes.get_gid() == "chart"]


def test_risers_and_fallers_are_ranked_by_slope(analysis):
    figure = draw_trends(analysis, n_topics=10)
    names = [text.get_text() for text in figure.texts if text.get_gid() == "topic"]
    assert names == [f"Topic {letter}" for letter in "abcdepqrst"]


def test_years_not_covered_are_hatched_and_not_joined(analysis):
    for axes in charts(draw_trends(analysis)):
        (hatched,) = [patch for patch in axes.patches if patch.get_gid() == "not covered"]
        x0, x1 = hatched.get_extents().transformed(axes.transData.inverted()).intervalx
        assert (x0, x1) == (pytest.approx(2004.5), pytest.approx(2007.5))
        line = next(line for line in axes.lines if line.get_gid() == "share")
        assert np.isnan(line.get_ydata()[5:8]).all()
        assert np.isfinite(line.get_ydata()[8:]).all()


def test_shares_begin_at_zero(analysis):
    assert all(axes.get_ylim()[0] == 0 for axes in charts(draw_trends(analysis)))


def test_the_caption_carries_denominators_warnings_and_that_the_corpus_is_generated(analysis):
    figure = draw_trends(analysis)
    printed = " ".join(text.get_text() for text in figure.texts if text.get_gid() == "caption")
    for words in ("GENERATED DEMO CORPUS", "Based on 2,000 papers.", "covers 2005-2007 in part"):
        assert words in printed
    assert figure.alt_text.startswith("GENERATED DEMO CORPUS")
    assert "Topic a (+11% a year)" in figure.alt_text


def test_no_words_leave_the_page(analysis):
    figure = draw_trends(analysis, size_inches=(7, 6))
    figure.canvas.draw()
    whole = figure.bbox
    for text in figure.texts:
        box = text.get_window_extent()
        assert min(box.x0, box.y0) >= 0, text
        assert box.x1 <= whole.x1, text
        assert box.y1 <= whole.y1, text


def test_topics_without_any_trend_are_refused(analysis):
    empty = replace(analysis, table=analysis.table.assign(slope=np.nan))
    with pytest.raises(InputError, match="longer period"):
        draw_trends(empty)


def test_a_single_topic_can_be_drawn(analysis):
    figure = draw_trends(replace(analysis, table=analysis.table.head(1)))
    assert len(charts(figure)) == 1


def test_uncovered_spans_of_a_covered_corpus():
    assert uncovered_spans([2000, 2001], [True, True]) == []


def test_a_hatched_year_is_in_the_legend(analysis):
    figure = draw_trends(analysis)
    words = [text.get_text() for text in figure.texts if text.get_gid() == "key"]
    assert words[-1] == "years that the corpus covers in part"
    (square,) = [axes for axes in figure.axes if axes.get_gid() == "key"]
    assert square.patches[0].get_hatch()
    years = analysis.tables["years"].assign(covered=True)
    figure = draw_trends(replace(analysis, tables={"years": years}))
    assert not [axes for axes in figure.axes if axes.get_gid() == "key"]


def test_no_interval_leaves_its_axis(analysis):
    years = analysis.tables["years"]
    wide = years.assign(share_high=np.where(years["year"] == 2010, 0.9, years["share_high"]))
    table = analysis.table
    table = table.assign(slope_high=np.where(table.index == 0, 0.9, table["slope_high"]))
    figure = draw_trends(replace(analysis, table=table, tables={"years": wide}))
    for axes in charts(figure):
        assert axes.get_ylim()[1] > 90
    (slopes,) = [axes for axes in figure.axes if axes.get_gid() == "slopes"]
    bars = np.concatenate([line.get_xdata() for line in slopes.lines])
    low, high = slopes.get_xlim()
    assert low <= bars.min() < bars.max() <= high


def test_two_outliers_do_not_squeeze_the_axis(analysis):
    slopes = analysis.table["slope"].to_numpy().copy()
    slopes[[0, 1]] = 1.0, 0.3
    table = analysis.table.assign(slope=slopes, slope_low=slopes - 0.2, slope_high=slopes + 0.2)
    table.loc[2:, "slope_low"], table.loc[2:, "slope_high"] = slopes[2:] - 0.03, slopes[2:] + 0.03
    figure = draw_trends(replace(analysis, table=table), n_topics=20)
    (slopes_axes,) = [axes for axes in figure.axes if axes.get_gid() == "slopes"]
    low, high = slopes_axes.get_xlim()
    assert high - low < 60, "the others have half of the axis"
    notes = [text for text in figure.texts if text.get_gid() == "beyond" and text.get_text()]
    assert [text.get_text() for text in notes] == ["→ +172%", "→ +35%"]
    right = slopes_axes.get_window_extent().x1
    assert all(text.get_window_extent().x0 > right for text in notes)
    key = [text.get_text() for text in figure.texts if text.get_gid() == "key"]
    assert "→ beyond the axis" in key
    dots = [line.get_xdata() for line in slopes_axes.lines if line.get_gid() == "slope"]
    assert np.isnan(np.concatenate(dots)).sum() == 2, "no dot where the value is not"
    plain = draw_trends(analysis)
    assert not [text for text in plain.texts if text.get_text().startswith("→")]


def test_a_chart_without_a_verdict_is_one_sentence(analysis):
    table = analysis.table.assign(**{"class": ""})
    figure = draw_trends(replace(analysis, table=table))
    (sentence,) = [text.get_text() for text in figure.texts if text.get_gid() == "sentence"]
    assert sentence.startswith("No trend is significant")
    assert sentence.endswith("all 20 topics.")
    assert sentence in figure.alt_text
    assert not figure.axes


def test_only_topics_with_a_verdict_are_ranked_and_only_changes_have_a_chart(analysis):
    kinds = ["emerging"] * 3 + ["steady"] * 5 + [""] * 10 + ["fading"] * 2
    figure = draw_trends(replace(analysis, table=analysis.table.assign(**{"class": kinds})))
    names = {text.get_text() for text in figure.texts if text.get_gid() == "topic"}
    assert names == {f"Topic {letter}" for letter in "abcdefghst"}
    assert len(charts(figure)) == 5


def test_steady_topics_alone_are_one_sentence(analysis):
    kinds = ["steady"] * 12 + [""] * 8
    figure = draw_trends(replace(analysis, table=analysis.table.assign(**{"class": kinds})))
    (sentence,) = [text.get_text() for text in figure.texts if text.get_gid() == "sentence"]
    assert "12 of 20 topics are steady" in sentence
    assert not figure.axes
