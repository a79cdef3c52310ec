from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import landscape

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.errors import InputError
from landscape.figures import interactive, reviews, trends, uat
from landscape.figures.labels import boxes_overlap
from landscape.figures.matplotlib_backend import Sheet
from landscape.figures.plotly_backend import (
    MAX_MARKS,
    _font_link,
    count_marks,
    draw,
    draw_panels,
    safe_text,
    thinned,
)
from landscape.types import Analysis
from tests.figures.test_query_map import found

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
    assert count_marks(figure) <= MAX_MARKS
    assert len(figure.layout.images) == 1
    said = figure.layout.annotations[0].text
    assert ("have hover texts" in said) == (n > MAX_MARKS)


def test_text_of_papers_is_escaped(make_atlas):
    atlas = with_papers(make_atlas(50, n_regions=2), title=EVIL)
    atlas.topics.loc[0, "label"] = EVIL
    atlas.coverage["title"] = EVIL
    figure = interactive("heatmap", atlas, title=EVIL)
    words = [*hover_texts(figure), figure.layout.title.text, figure.layout.annotations[0].text]
    words += [note.text for note in figure.layout.annotations]
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
    results = found(atlas, [3, 5, 8], apart={3}, query="what is <b>dust</b>?")
    hits = [replace(hit, paper=replace(hit.paper, title=EVIL)) for hit in results.hits]
    figure = interactive("query", atlas, replace(results, hits=tuple(hits)))
    marks = {trace.name: len(trace.x) for trace in figure.data}
    assert marks["found"] == 2
    assert marks["outlier"] == 1
    assert "<img" not in json.dumps(list(hover_texts(figure)))
    with pytest.raises(InputError, match="found no paper"):
        interactive("query", atlas, replace(results, hits=()))


def test_names_touch_neither_each_other_nor_what_is_marked(make_atlas):
    atlas = make_atlas()
    figure = interactive("query", atlas, found(atlas, range(0, 200, 10)))
    x0, x1 = figure.layout.xaxis.range
    unit = (x1 - x0) / 800
    notes = [note for note in figure.layout.annotations if note.xref == "x"]
    assert len(notes) > 10
    boxes = []
    for note in notes:
        lines = note.text.replace("<b>", "").replace("</b>", "").split("<br>")
        size = note.font.size
        half = np.array([max(map(len, lines)) * 0.45 * size, len(lines) * 0.9 * size]) / 2
        boxes.append(
            [
                note.x / unit - half[0],
                note.y / unit - half[1],
                note.x / unit + half[0],
                note.y / unit + half[1],
            ]
        )
    overlap = boxes_overlap(np.array(boxes)[:, None], np.array(boxes)[None], gap=0)
    assert overlap.sum() == len(boxes)
    for trace in figure.data:
        if trace.name in ("found", "outlier"):
            at = np.column_stack([trace.x, trace.y]) / unit
            for box in boxes:
                inside = (at > box[:2]).all(axis=1) & (at < box[2:]).all(axis=1)
                assert not inside.any()


@pytest.fixture
def dated(make_atlas):
    atlas = make_atlas(3000, n_regions=12)
    year = np.random.default_rng(0).integers(2000, 2020, 3000)
    year[year == 2010] = 2011
    atlas.read_papers = lambda columns: pd.DataFrame({"year": year, "categories": None})[columns]
    return atlas


def test_trends_do_not_join_years_that_are_not_covered(dated):
    analysis = landscape.overlays.trends.trends(dated)
    kinds = ["emerging"] + [""] * (len(analysis.table) - 1)
    analysis = replace(analysis, table=analysis.table.assign(**{"class": kinds}))
    figure = draw_panels(trends.scene(dated, analysis=analysis))
    assert count_marks(figure) <= MAX_MARKS
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
                "concept_id": str(number),
                "share": share,
                "piece": 0,
                "order": np.arange(4000),
                "x": np.cos(angle) * share,
                "y": np.sin(angle) + number,
            }
        )
        for number in range(11)
        for share in (0.5, 0.8)
    )
    table = pd.DataFrame({"concept_id": [str(i) for i in range(11)], "label": EVIL, "papers": 9})
    places = pd.DataFrame(columns=["concept_id", "label", "x", "y", "papers"])
    tables = {"contours": lines, "places": places}
    bounds = {"title": "Made up", "papers": 100, "first_date": "2000", "last_date": "2020"}
    analysis = Analysis("uat", table, "Concepts.", {}, bounds, (), tables)
    figure = draw(uat.scene(atlas, analysis=analysis, multiples=True))
    assert 1000 < count_marks(figure) <= MAX_MARKS
    assert sum(str(trace.name).startswith("concept-") for trace in figure.data) == 22
    assert "<img" not in figure.to_json()


def test_a_thinned_contour_stays_closed():
    angle = np.linspace(0, 2 * np.pi, 1000)
    line = np.column_stack([np.cos(angle), np.sin(angle)])
    line[-1] = line[0]
    x, _ = thinned([line], most=50)
    assert len(x) <= 50
    assert x[-2] == x[0]
    assert np.isnan(x[-1])


def test_gaps_are_marked_by_rank(make_atlas):
    atlas = make_atlas(100, n_regions=12)
    table = pd.DataFrame(
        {
            "topic_id": np.arange(12),
            "label": EVIL,
            "rank": np.arange(1, 13),
            "papers": 50,
            "reviews": 1,
            "score": 0.5,
        }
    )
    gaps = Analysis("review_gaps", table, "Gaps.", {}, {})
    mask = np.zeros(100, dtype=bool)
    figure = draw_panels(reviews.scene(atlas, analysis=gaps, found=mask, listed=10))
    marks = {one.name: list(one.hovertext) for one in figure.data if one.name != "reviews"}
    told = [*marks["found"], *marks["gaps"]]
    assert sorted(int(text.partition(".")[0]) for text in told) == [*range(1, 13)]
    assert all("&lt;img" in text for text in told)


def test_plain_keeps_ordinary_text():
    assert safe_text("Type Ia supernovae") == "Type Ia supernovae"


@pytest.mark.parametrize(
    "kind", ["heatmap", "uat", "impact", "trends", "time_slices", "facilities"]
)
def test_figures_of_a_browser_are_not_drawn_with_matplotlib(kind, demo_atlas, monkeypatch):
    monkeypatch.setattr(Sheet, "__init__", lambda *_, **__: pytest.fail("a sheet was made"))
    figure = interactive(kind, demo_atlas)
    assert figure.data or "No trend is significant" in figure.layout.annotations[-1].text


def test_a_page_with_one_sentence_is_shown_in_a_browser(demo_atlas):
    analysis = landscape.overlays.trends.trends(demo_atlas)
    analysis = replace(analysis, table=analysis.table.assign(**{"class": ""}))
    figure = draw_panels(trends.scene(demo_atlas, analysis=analysis))
    assert any("No trend is significant" in str(note.text) for note in figure.layout.annotations)


def test_embedded_fonts_have_the_date_of_the_font(monkeypatch):
    first = _font_link("normal")
    monkeypatch.setattr("fontTools.misc.timeTools.time.time", lambda: 2.0**31)
    _font_link.cache_clear()
    assert _font_link("normal") == first
