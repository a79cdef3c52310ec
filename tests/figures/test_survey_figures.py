"""A survey drawn as a tree and on the map."""

from __future__ import annotations

from dataclasses import replace

import pytest
from matplotlib.figure import Figure

from landscape import figures
from landscape._author_names import parse_name
from landscape.errors import InputError
from landscape.store import AtlasStore as Atlas
from landscape.types import Survey


@pytest.fixture(scope="module")
def survey(demo_atlas: Atlas) -> Survey:
    question = "How do stellar winds change the evolution of massive stars?"
    # so low a threshold that papers are drawn which others led to
    return demo_atlas.survey(question, model=None, papers=40, threshold=0.005)


def test_every_paper_of_the_tree_hangs_on_what_led_to_it(survey: Survey) -> None:
    sheet = figures.survey_tree(survey, most=30)
    table = sheet.table
    papers = table[table["paper_id"] != ""]
    assert 30 <= len(papers) <= len(survey.crawled)
    column = dict(zip(papers["paper_id"], papers["column"], strict=True))
    for one in papers.itertuples():
        if one.parent in column:
            assert one.column == column[one.parent] + 1
            assert one.row > papers.set_index("paper_id")["row"][one.parent]
    assert table["row"].tolist() == list(range(len(table)))
    assert survey.question in sheet.alt_text
    axes = Figure(figsize=(6, 4)).subplots()
    assert figures.survey_tree(survey, most=30, ax=axes) is axes
    labels = [text.get_text() for text in axes.texts if text.get_gid() == "label"]
    assert labels
    with pytest.raises(InputError, match="the survey judged no papers"):
        figures.survey_tree(replace(survey, crawled=()))


def test_the_map_has_an_arrow_for_each_link_that_can_be_seen(
    demo_atlas: Atlas, survey: Survey
) -> None:
    sheet = figures.survey_map(demo_atlas, survey)
    keys = {one.key for one in survey.selected}
    links = sum(one.parent in keys for one in survey.selected)
    arrows = [patch for patch in sheet.axes[0].patches if patch.get_gid() == "led to"]
    assert 0 < len(arrows) <= links
    assert len(sheet.table) == len(survey.selected)
    assert "Arrows point" in sheet.caption
    words = [text.get_text() for text in sheet.texts if text.get_gid() == "ranking"]
    assert words.count("Score") == 1
    assert f"{survey.selected[0].score:.2f}" in words
    with pytest.raises(InputError, match="selected no paper"):
        figures.survey_map(demo_atlas, replace(survey, crawled=()))


def test_scores_have_one_heading_and_the_caption_fits_the_levels(survey: Survey) -> None:
    searched = tuple(replace(one, how="search", parent="", query=0) for one in survey.crawled)
    flat = figures.survey_tree(replace(survey, crawled=searched), most=20)
    words = [text.get_text() for text in flat.texts]
    assert words.count("Score") == 1
    assert not [word for word in words if word.startswith("score")]
    notes = [text.get_text() for text in flat.texts if text.get_gid() == "note"]
    assert sum(word.replace(".", "").isdigit() for word in notes) == 20
    assert "indented" not in flat.caption
    assert "All papers drawn were found by a search." in flat.caption
    assert "indented" in figures.survey_tree(survey, most=80).caption


def test_scores_are_next_to_the_titles(survey: Survey) -> None:
    sheet = figures.survey_tree(survey, most=20)
    labels = [text for text in sheet.texts if text.get_gid() == "label"]
    notes = [text for text in sheet.texts if text.get_gid() == "note" and text.get_text()]
    end = max(text.get_window_extent().x1 for text in labels)
    assert len({text.get_position()[0] for text in notes}) == 1, "right-aligned"
    first = min(text.get_window_extent().x0 for text in notes)
    assert end < first < end + 40 / 72 * sheet.dpi


def test_long_titles_use_the_width_and_missing_authors_are_named(survey: Survey) -> None:
    first, second, *rest = survey.crawled
    title = "Dust in the winds of massive stars, " * 4 + "and their metallicity: the last words"
    first = replace(first, paper=replace(first.paper, title=title, authors=("Ada Lovelace",)))
    second = replace(second, paper=replace(second.paper, authors=()))
    sheet = figures.survey_tree(replace(survey, crawled=(first, second, *rest)), most=10)
    labels = [text.get_text() for text in sheet.texts if text.get_gid() == "label"]
    assert any(label.startswith("Lovelace") and label.endswith("last words") for label in labels)
    assert any(label.startswith("(no authors known)") for label in labels)


@pytest.mark.parametrize(
    ("name", "family", "given"),
    [
        ("Pranjal R. S.", "Pranjal", "R. S."),
        ("Silpa S.", "Silpa", "S."),
        ("A. Balagopal V.", "Balagopal V.", "A."),
        ("Keerthi Vasan G.C.", "Vasan G.C.", "Keerthi"),
        ("Navaneeth P K", "Navaneeth", "P K"),
        ("Vivian U", "U", "Vivian"),
        ("R. de Grijs", "de Grijs", "R."),
        ("N. P.", "P.", "N."),
    ],
)
def test_initials_at_the_end_are_no_family_name(name: str, family: str, given: str) -> None:
    assert parse_name(name)[:2] == (family, given)
