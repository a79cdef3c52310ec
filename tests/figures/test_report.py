from __future__ import annotations

import re
from collections import Counter
from datetime import date

import numpy as np
import pandas as pd
import pytest

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.errors import InputError
from landscape.figures import report, report_scene
from landscape.figures._report import common_digits, exemplar_rows, key_numbers, share_words
from landscape.figures.export import draw


@pytest.fixture
def atlas(make_atlas):
    """An atlas in which ALMA is used by 90 papers, most of them in region 0; years 2005-2025."""
    made = make_atlas(1500, n_regions=8, generated=True)
    rng = np.random.default_rng(3)
    n = len(made.map)
    year = rng.integers(2005, 2026, n)
    region = made.map["topic_id"].to_numpy()
    likely = np.where(region == 0, 20.0, 1.0) * (year > 2011)
    rows = np.sort(rng.choice(n, 90, replace=False, p=likely / likely.sum()))
    papers = pd.DataFrame(
        {
            "paper_id": made.map["paper_id"],
            "title": [f"On the $\\alpha$ of <b>{row}</b>" for row in range(n)],
            "authors": [["Doe, J.", "Roe, R."]] * n,
            "year": year,
            "date": [date(int(one), 6, 1) for one in year],
            "cites": pd.array(rng.poisson(9, n), dtype="Int32"),
            "categories": [["astro-ph.GA"]] * n,
            "bibcode": None,
            "ref_bibcodes": [[]] * n,
        }
    )
    vectors = rng.normal(size=(n, 16)) + 3 * np.eye(16)[np.maximum(region, 0) % 16]
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    made.read_papers = lambda columns: papers[columns]
    made.vectors = lambda: vectors
    made.missions = pd.DataFrame(
        {"facility": "ALMA", "surface": "ALMA", "paper_row": rows, "role": "science"}
    )
    made.rows = rows
    return made


@pytest.fixture
def page(atlas):
    return draw(report_scene(atlas, "ALMA", n_resamples=50))


def words_of(figure, gid):
    return [text.get_text() for text in figure.texts if text.get_gid() == gid]


def test_it_states_key_numbers_with_intervals_and_denominators(page):
    assert words_of(page, "number")[:2] == ["90", "6.0%"]
    assert " to " in words_of(page, "interval")[1]
    meanings = " ".join(words_of(page, "meaning"))
    assert "papers of 1,500" in meanings
    assert "2011" in meanings, "first light"


def test_regions_are_listed_with_most_papers_first(page):
    assert words_of(page, "region")[0] == "Exoplanet atmospheres"
    assert page.table["papers"].is_monotonic_decreasing
    assert page.table["papers"].sum() <= 90


def test_it_says_that_the_corpus_is_generated(page):
    assert "GENERATED DEMO CORPUS" in " ".join(words_of(page, "caption"))
    assert page.alt_text.startswith("GENERATED DEMO CORPUS")
    assert "Atacama" in page.alt_text


def test_no_words_leave_the_page_or_touch_the_caption(page):
    page.canvas.draw()
    top = max(t.get_window_extent().y1 for t in page.texts if t.get_gid() == "caption")
    for text in page.texts:
        box = text.get_window_extent()
        assert min(box.x0, box.y0) >= 0, text
        assert box.x1 <= page.bbox.x1, text
        assert box.y1 <= page.bbox.y1, text
        if text.get_gid() in ("paper", "paper title", "region", "key"):
            assert box.y0 >= top, text


def test_titles_are_plain_text(page):
    (first, *_) = words_of(page, "paper title")
    assert "<b>" in first
    assert not any(text.get_parse_math() for text in page.texts)


def test_it_is_written_as_one_page(atlas, tmp_path):
    path = report(atlas, "ALMA", tmp_path / "alma.pdf", n_resamples=20)
    assert path.read_bytes().count(b"/Count 1") == 1
    assert path.with_suffix(".csv").exists()


@pytest.mark.parametrize("since", [None, 2022])
def test_the_chart_of_years_is_beside_the_map_and_papers_fill_two_columns(atlas, since):
    page = draw(report_scene(atlas, "ALMA", since=since, n_resamples=20))
    page.canvas.draw()
    (chart,) = [axes for axes in page.axes if axes.get_gid() == "years"]
    (share,) = [axes for axes in page.axes if axes.get_gid() == "map"]
    assert chart.get_position().height < 0.25
    assert chart.get_position().x0 > share.get_position().x1
    assert abs(chart.get_position().y0 - share.get_position().y0) < 0.02, "no empty part"
    texts = [text for text in page.texts if text.get_gid() == "paper title"]
    assert all(text.get_window_extent().y1 < share.get_window_extent().y0 for text in texts)
    columns = Counter(round(text.get_position()[0], 3) for text in texts)
    assert len(columns) == 2
    assert max(columns.values()) <= min(columns.values()) + 1


def test_unknown_and_unused_facilities_are_refused(atlas, tmp_path):
    with pytest.raises(InputError, match="ALMA"):
        report(atlas, "ALMMA", tmp_path / "a.pdf")
    with pytest.raises(InputError, match="uses XRISM"):
        report(atlas, "XRISM", tmp_path / "a.pdf", n_resamples=5)
    with pytest.raises(InputError, match="cannot be written as"):
        report(atlas, "ALMA", tmp_path / "a.docx")


def test_a_page_too_small_is_refused(atlas):
    with pytest.raises(InputError, match="7 x 9"):
        report_scene(atlas, "ALMA", size_inches=(5, 5))


def test_unknown_numbers_and_numbers_without_information_are_omitted():
    row = {
        "papers": 1,
        "corpus_papers": 9,
        "citations_share": float("nan"),
        "cited_papers": 0,
        "rise": 0.1,
        "rise_comparable": False,
        "bridging": 0.9,
        "bridging_low": 0.5,
        "bridging_high": 0.97,
    }
    assert [number.meaning for number in key_numbers(row)] == ["papers of 9"]
    risen = {"rise_comparable": True, "rise_low": 0.03, "rise_high": 0.2, "first_light": 2011}
    clear = key_numbers({**row, **risen})
    assert (clear[-1].value, clear[-1].interval) == ("+10", "+3 to +20")


def test_numbers_fill_their_rows_and_need_no_terms(page):
    numbers = [text for text in page.texts if text.get_gid() == "number"]
    columns = {round(text.get_position()[0], 3) for text in numbers}
    assert len(numbers) % len(columns) == 0, "no empty place"
    words = " ".join([*words_of(page, "meaning"), page.caption])
    assert not any(term in words for term in ("effective", "links", "Bridges", "main regions"))


def test_no_text_is_cut(atlas):
    long = "Dwarf galaxies, star formation rates and the baryonic Tully-Fisher relation"
    atlas.topics["label"] = [f"{long} {n}" for n in range(len(atlas.topics))]
    read, title = atlas.read_papers, "A long title of a paper that needs three lines " * 3
    atlas.read_papers = lambda columns: read(columns).assign(title=title)[columns]
    page = draw(report_scene(atlas, "ALMA", n_resamples=20))
    kinds = ("region", "paper", "paper title", "meaning")
    printed = [words for kind in kinds for words in words_of(page, kind)]
    assert not [words for words in printed if words.endswith("…")]
    names = " ".join(words_of(page, "region"))
    assert names.count("Tully-Fisher relation") > 3


def test_shares_in_a_column_have_the_same_decimals(page):
    shares = words_of(page, "share")
    assert len(shares) > 3
    assert len({len(share.partition("%")[0].partition(".")[2]) for share in shares}) == 1
    boxes = {
        gid: [text.get_window_extent() for text in page.texts if text.get_gid() == gid]
        for gid in ("counts", "share")
    }
    ends = max(box.x1 for box in boxes["counts"])
    assert ends + 0.1 * page.dpi < min(box.x0 for box in boxes["share"]), "space between columns"
    assert common_digits([(0.29, 0.22, 0.32), (0.05, 0.03, 0.07)]) == 0
    assert common_digits([(0.29, 0.22, 0.32), (0.011, 0.004, 0.02)]) == 1


def test_the_summary_can_be_quoted(page):
    words = " ".join(words_of(page, "summary"))
    assert words.startswith("90 of 1,500 papers use data of ALMA: 6.0% (95% interval ")
    assert "Exoplanet atmospheres" in words
    printed = " ".join(text.get_text() for text in page.texts)
    assert "0% (0% to 0%)" not in printed
    assert "not known" not in printed
    assert "not comparable" not in printed


@pytest.mark.parametrize(
    ("share", "words"),
    [
        ((0.0019, 0.0015, 0.0023), ("0.19%", "0.15% to 0.23%")),
        ((0.85, 0.78, 0.90), ("85%", "78% to 90%")),
        ((0.174, 0.167, 0.182), ("17.4%", "16.7% to 18.2%")),
    ],
)
def test_the_digits_of_a_share_tell_its_bounds_apart(share, words):
    assert share_words(*share) == words


def test_exemplars_are_the_most_cited_of_each_region(atlas):
    rows = exemplar_rows(atlas, atlas.rows, [0, 1], most=2)
    cites = atlas.read_papers(["cites"])["cites"].to_numpy(dtype=float)
    region = atlas.map["topic_id"].to_numpy()
    for topic, row in zip([0, 1], rows, strict=True):
        of = atlas.rows[region[atlas.rows] == topic]
        assert cites[row] == cites[of].max()


def test_without_citations_exemplars_are_the_most_typical(atlas):
    empty = pd.DataFrame({"cites": pd.array([pd.NA] * len(atlas.map), dtype="Int32")})
    atlas.read_papers = lambda columns: empty[columns]
    (row,) = exemplar_rows(atlas, atlas.rows, [0], most=1)
    of = atlas.rows[atlas.map["topic_id"].to_numpy()[atlas.rows] == 0]
    mean = atlas.vectors()[of].mean(axis=0)
    assert row == of[np.argmax(atlas.vectors()[of] @ mean)]


def test_the_summary_counts_the_papers_of_other_roles(atlas):
    rows = np.setdiff1d(np.arange(len(atlas.map)), atlas.rows)[:7]
    others = pd.DataFrame({"facility": "ALMA", "paper_row": rows, "role": "planned"})
    atlas.missions = pd.concat([atlas.missions, others], ignore_index=True)
    page = draw(report_scene(atlas, "ALMA", n_resamples=20))
    words = " ".join(text.get_text() for text in page.texts)
    assert "Of the other papers, 7 plan or forecast its use." in " ".join(words.split())
    assert "90 of 1,500 papers use data of ALMA" in words


def test_a_facility_outside_all_regions_has_a_report(atlas):
    """All papers of the facility are outside the named regions, so no region is listed."""
    place = atlas.map["topic_id"].to_numpy().copy()
    place[atlas.rows] = -1
    atlas.map["topic_id"] = place
    figure = draw(report_scene(atlas, "ALMA", n_resamples=20))
    texts = [text.get_text() for text in figure.texts]
    assert "Regions with the most papers" in texts
    assert not any(re.fullmatch(r"[\d,]+ of [\d,]+", text) for text in texts)
