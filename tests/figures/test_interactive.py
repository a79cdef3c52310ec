from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from landscape.errors import InputError
from landscape.figures.twin_charts import draw_concepts, draw_gaps, thinned
from landscape.figures.twins import MOST_MARKS, count_marks, interactive, plain
from landscape.overlays._analysis import Analysis

pytest.importorskip("plotly")
EVIL = "<img src=x onerror=alert(1)> $\\alpha$ & more"


def with_papers(atlas, *, title="Dust"):
    n = len(atlas.map)
    papers = pd.DataFrame({"title": [title] * n, "year": 2000 + np.arange(n) % 25})
    atlas.read_papers = lambda columns: papers[columns]
    return atlas


def hover_texts(figure):
    for trace in figure.data:
        text = trace.hovertext
        yield from [text] if isinstance(text, str) else list(text if text is not None else ())


@pytest.mark.parametrize("n", [300, 60_000])
def test_a_heatmap_draws_at_most_so_many_marks_whatever_the_corpus(make_atlas, n):
    atlas = with_papers(make_atlas(n))
    figure = interactive("heatmap", atlas)
    assert count_marks(figure) <= MOST_MARKS
    assert len(figure.layout.images) == 1
    said = figure.layout.annotations[0].text
    assert ("can be pointed at" in said) == (n > MOST_MARKS)


def test_text_of_papers_is_escaped(make_atlas):
    atlas = with_papers(make_atlas(50, n_regions=2), title=EVIL)
    atlas.topics.loc[0, "label"] = EVIL
    atlas.coverage["title"] = EVIL
    figure = interactive("heatmap", atlas, title=EVIL)
    words = [*hover_texts(figure), figure.layout.title.text, figure.layout.annotations[0].text]
    words += [text for trace in figure.data for text in (trace.text or ())]
    for text in words:
        assert "<img" not in text
        assert "$" not in text
    assert any("&lt;img" in text for text in words)


def test_a_generated_corpus_is_said_to_be_so(make_atlas):
    figure = interactive("heatmap", with_papers(make_atlas(50, generated=True)))
    assert "GENERATED DEMO CORPUS" in figure.layout.annotations[0].text


def test_the_density_picture_lies_where_the_papers_are(make_atlas):
    atlas = with_papers(make_atlas(500))
    figure = interactive("heatmap", atlas)
    (picture,) = figure.layout.images
    assert picture.x <= atlas.map["x"].min()
    assert picture.x + picture.sizex >= atlas.map["x"].max()
    assert picture.y >= atlas.map["y"].max()
    assert figure.layout.xaxis.range[0] == picture.x


def test_unknown_kinds_are_refused(make_atlas):
    with pytest.raises(InputError, match="heatmap, query, uat"):
        interactive("pie", make_atlas(10))


def test_a_query_marks_what_was_found_and_what_lies_apart(make_atlas):
    atlas = make_atlas(200)
    papers = [SimpleNamespace(paper_id=f"paper-{i}", title=EVIL) for i in (3, 5, 8)]
    hits = [SimpleNamespace(rank=i + 1, outlier=i == 2) for i in range(3)]
    results = SimpleNamespace(papers=papers, hits=hits, query="what is <b>dust</b>?")
    figure = interactive("query", atlas, results)
    marks = {trace.name: len(trace.x) for trace in figure.data}
    assert marks["found"] == 2
    assert marks["apart from the others"] == 1
    assert "<img" not in json.dumps(list(hover_texts(figure)))
    with pytest.raises(InputError, match="found no paper"):
        interactive("query", atlas, SimpleNamespace(papers=[], hits=[], query="x"))


@pytest.fixture
def dated(make_atlas):
    atlas = make_atlas(3000, n_regions=12)
    year = np.random.default_rng(0).integers(2000, 2020, 3000)
    year[year == 2010] = 2011
    atlas.read_papers = lambda columns: pd.DataFrame({"year": year})[columns]
    return atlas


def test_trends_do_not_join_years_that_are_not_covered(dated):
    figure = interactive("trends", dated)
    assert count_marks(figure) <= MOST_MARKS
    (line, *_) = figure.data
    gap = list(line.x).index(2010)
    assert not np.isfinite(np.asarray(line.y, dtype=float)[gap])
    assert line.connectgaps is False
    assert figure.layout.shapes[0].x0 == 2009.5
    assert figure.layout.shapes[0].x1 == 2010.5


def test_compare_draws_every_region_with_its_interval(dated):
    figure = interactive("compare", dated, np.arange(1000), np.arange(1000, 3000))
    assert count_marks(figure) == 12
    for trace in figure.data:
        assert (np.asarray(trace.error_x.array) >= 0).all()
        assert (np.asarray(trace.error_x.arrayminus) >= 0).all()


def test_contours_are_thinned_to_the_marks_allowed(make_atlas):
    atlas = make_atlas(100)
    angle = np.linspace(0, 2 * np.pi, 4000)
    lines = pd.concat(
        pd.DataFrame(
            {
                "concept_id": str(number), "share": share, "piece": 0, "order": np.arange(4000),
                "x": np.cos(angle) * share, "y": np.sin(angle) + number,
            }
        )
        for number in range(11)
        for share in (0.5, 0.8)
    )  # fmt: skip
    table = pd.DataFrame({"concept_id": [str(i) for i in range(11)], "label": EVIL, "papers": 9})
    found = Analysis("uat", table, "Concepts.", {}, {}, (), {"contours": lines})
    figure = draw_concepts(atlas, found)
    assert 1000 < count_marks(figure) <= MOST_MARKS
    assert len(figure.data) == 22 + 1, "contours, and the names of continents"
    assert "<img" not in figure.to_json()


def test_a_thinned_contour_stays_closed():
    part = pd.DataFrame({"piece": 0, "order": range(1000), "x": range(1000), "y": 1.0})
    x, _ = thinned(part, most=50)
    assert len(x) <= 50
    assert x[-2] == x[0]
    assert np.isnan(x[-1])


def test_gaps_are_marked_by_rank(make_atlas):
    atlas = make_atlas(100, n_regions=12)
    table = pd.DataFrame(
        {
            "topic_id": np.arange(12), "label": EVIL, "rank": np.arange(1, 13),
            "papers": 50, "reviews": 1, "score": 0.5,
        }
    )  # fmt: skip
    figure = draw_gaps(atlas, Analysis("review_gaps", table, "Gaps.", {}, {}))
    gaps = next(trace for trace in figure.data if trace.name == "gaps")
    assert [text for text in gaps.text if text] == [str(rank) for rank in range(1, 11)]
    assert all("&lt;img" in text for text in gaps.hovertext)


def test_plain_keeps_ordinary_text():
    assert plain("Type Ia supernovae") == "Type Ia supernovae"
