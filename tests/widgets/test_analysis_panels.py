"""Panels of analyses: choices, results, files and lines of code."""

from __future__ import annotations

import html
import re
import shutil
import threading
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("ipywidgets")
pytest.importorskip("plotly")

import ipywidgets as widgets

import landscape as ls

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.errors import AtlasError, InputError
from landscape.figures.plotly_backend import MAX_MARKS, count_marks
from landscape.widgets import (
    AskPanel,
    CitationPanel,
    ImpactPanel,
    OutreachPanel,
    ReviewPanel,
    SurveyPanel,
    ThesaurusPanel,
    TrendsPanel,
    WritingPanel,
)
from landscape.widgets._controls import Chooser, panel_texts
from landscape.widgets._tables import table_html
from tests.timing import time_limit
from tests.widgets.asking import built_again, live_widgets

SECONDS = 240
SLIDERS = widgets.FloatSlider | widgets.IntRangeSlider
RESULTS = panel_texts()["results"]
PANELS = [
    *((ImpactPanel, {"what": what, "facilities": ["HST", "ALMA"]}) for what in RESULTS["impact"]),
    *((ReviewPanel, {"what": what}) for what in RESULTS["reviews"]),
    *((ThesaurusPanel, {"what": what}) for what in RESULTS["thesaurus"]),
    *((TrendsPanel, {"what": what}) for what in RESULTS["trends"] if what != "author"),
]


def opened(kind, atlas, **chosen):
    panel = kind(atlas, **chosen)
    assert panel.wait(time_limit(SECONDS))
    return panel


def all_html(panel):
    def texts(widget):
        yield str(getattr(widget, "value", ""))
        for child in getattr(widget, "children", ()):
            yield from texts(child)

    return "".join(texts(panel))


def first_author(atlas):
    return atlas.read_papers(["authors"])["authors"].explode().value_counts().index[0]


def numbers_of(figure):
    """Return the positions of the marks of a plotly figure."""
    return [
        np.asarray([np.nan if one is None else one for one in trace.x], dtype=float)
        for trace in figure.data
    ]


@pytest.fixture
def own_atlas(demo_atlas, tmp_path):
    """A copy of the demo atlas that can be rebuilt."""
    return ls.open(shutil.copytree(demo_atlas.path, tmp_path / "own.atlas"))


@pytest.fixture(params=PANELS, ids=lambda one: f"{one[0].__name__}-{one[1]['what']}")
def panel(request, demo_atlas):
    kind, chosen = request.param
    return opened(kind, demo_atlas, **chosen)


def test_a_panel_shows_figure_table_caption_and_code_that_makes_the_same(
    panel, demo_atlas, tmp_path, monkeypatch
):
    assert panel.status == ""
    found, page = panel.analysis, all_html(panel)
    assert html.escape(found.caption) in page
    assert "these papers do not exist" in page
    assert all(f"{count:,}" in page for count in found.denominators.values())
    assert all(html.escape(warning) in page for warning in found.warnings)
    if len(panel.table):
        assert f"<td>{panel.table.iloc[0].get('label', '')}"[:9] in page
    else:  # 400 papers are too few
        assert panel.selection["what"] == "new"
    monkeypatch.chdir(tmp_path)
    made = {"ls": ls, "atlas": demo_atlas}
    exec(panel.code, made)  # noqa: S102 - the line that the panel tells the reader to run
    assert made["found"].caption == found.caption
    if "figure" in made and panel.figure.data:
        notes = [note.text for note in panel.figure.layout.annotations]
        assert not [text for text in notes if found.caption[:20] in text]  # it stands below
        assert count_marks(panel.figure) <= MAX_MARKS
        for mine, its in zip(numbers_of(panel.figure), numbers_of(made["figure"]), strict=True):
            assert np.allclose(mine, its, equal_nan=True)
    elif hasattr(panel.figure, "savefig"):
        assert panel.figure.alt_text
    assert hasattr(made["page"], "savefig") or made["page"].read_bytes().startswith(b"%PDF")


def test_a_panel_opens_again_from_its_selection(panel, demo_atlas):
    again = opened(type(panel), demo_atlas, **panel.selection)
    assert again.selection == panel.selection
    assert again.code == panel.code


def test_the_name_of_a_panel_is_one_line(panel):
    assert "\n" not in repr(panel)
    assert repr(panel).startswith(f"<{type(panel).__name__}: Demo corpus")


def test_every_control_says_what_it_is(panel):
    def controls(widget):
        if isinstance(widget, widgets.Button | widgets.Dropdown | widgets.Text | SLIDERS):
            yield widget
        for child in getattr(widget, "children", ()):
            yield from controls(child)

    found = list(controls(panel))
    assert len(found) > 5
    assert all(one.description and one.tooltip for one in found)


@pytest.mark.parametrize("suffix", [".csv", ".tex", ".json", ".png", ".pdf", ".html"])
def test_what_is_shown_is_written_by_the_ending_of_the_name(demo_atlas, tmp_path, suffix):
    panel = opened(TrendsPanel, demo_atlas, what="countries")
    path = panel.save(tmp_path / f"countries{suffix}")
    begins = {".png": b"\x89PNG", ".pdf": b"%PDF", ".csv": b"# ", ".json": b"{", ".tex": b"\\begin"}
    content = path.read_bytes()
    assert content.startswith(begins.get(suffix, b"<"))
    if suffix == ".html":
        assert b"Plotly.newPlot" in content
        assert not re.search(rb'<script[^>]+src="http', content)
    if suffix == ".csv":
        assert str(panel.table["country"].iloc[0]).encode() in content


def test_a_file_that_cannot_be_is_refused(demo_atlas, tmp_path):
    panel = opened(TrendsPanel, demo_atlas, what="countries")
    with pytest.raises(InputError, match=r"use a name that ends in one of \.csv"):
        panel.save(tmp_path / "countries.doc")
    report = opened(ImpactPanel, demo_atlas, facilities="HST", what="report")
    with pytest.raises(InputError, match=r"report\.html"):
        report.save(tmp_path / "report.html")
    assert report.save(tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


def test_a_download_is_a_link_that_holds_the_file(demo_atlas):
    panel = opened(ImpactPanel, demo_atlas, facilities=["HST", "ALMA"], what="ranking")
    csv = next(
        one for one in panel._buttons.children if one.description == "CSV" if hasattr(one, "click")
    )
    csv.click()
    assert panel.wait(time_limit(SECONDS))
    assert "download='facilities.csv'" in panel._links.value
    assert "data:text/csv;base64," in panel._links.value


@pytest.mark.parametrize(
    ("kind", "chosen", "said"),
    [
        (ImpactPanel, {"facilities": "ALMAX"}, "nearest names are: ALMA"),
        (ImpactPanel, {"facilities": ["ALMA"], "what": "compare"}, "at least two facilities"),
        (ImpactPanel, {"since": 1800, "until": 1801}, "no paper of 1800 to 1801"),
        (ThesaurusPanel, {"concepts": ["Exoplanetz"]}, "Exoplanetz"),
        (TrendsPanel, {"what": "author", "author": "Nobody, N."}, "No paper of this atlas has"),
        (TrendsPanel, {"what": "author"}, "No author is given: write a name"),
        (TrendsPanel, {"what": "compare", "a": "1800..1801", "b": "-review"}, "1800..1801"),
        (TrendsPanel, {"what": "compare", "a": "yeer:2000", "b": "-review"}, "yeer"),
        (TrendsPanel, {"since": 1800, "until": 1801}, "no paper from 1800 to 1801"),
    ],
)
def test_a_wish_that_cannot_be_is_one_sentence(demo_atlas, kind, chosen, said):
    panel = opened(kind, demo_atlas, **chosen)
    assert said in panel.status
    assert "Traceback" not in all_html(panel)
    assert panel.analysis is None
    with pytest.raises(InputError, match="Nothing is shown yet"):
        panel.save("nothing.csv")


@pytest.mark.parametrize("kind", [ImpactPanel, ReviewPanel, ThesaurusPanel])
def test_a_missing_layer_is_one_sentence_with_the_command_that_makes_it(demo_atlas, kind):
    kept = {
        name: stage
        for name, stage in demo_atlas.stages.items()
        if name not in ("missions", "reviews", "uat")
    }
    old = replace(demo_atlas, manifest=replace(demo_atlas.manifest, stages=kept))
    panel = opened(kind, old)
    assert "landscape build" in panel.status
    assert "Traceback" not in all_html(panel)


def test_what_does_not_exist_is_refused_at_once(demo_atlas):
    with pytest.raises(InputError, match="no 'pie' to show"):
        ImpactPanel(demo_atlas, what="pie")
    with pytest.raises(InputError, match="swap the years"):
        ImpactPanel(demo_atlas, since=2020, until=2010)
    with pytest.raises(InputError, match="colours"):
        TrendsPanel(demo_atlas, theme="pink")
    with pytest.raises(InputError, match="grwth"):
        ReviewPanel(demo_atlas, weights={"grwth": 1})


@pytest.mark.parametrize(
    ("kind", "chosen", "said"),
    [
        (TrendsPanel, {"since": "2010"}, "since is '2010'; give a whole number from 1 to 9,999"),
        (ImpactPanel, {"until": 2010.5}, r"until is 2010\.5"),
        (TrendsPanel, {"author": None}, "The author is None; it has to be text"),
        (ImpactPanel, {"facilities": 5}, "facilities is 5; give a name, or a list of names"),
        (ImpactPanel, {"facilities": [5]}, r"facilities is \[5\]"),
        (ThesaurusPanel, {"concepts": 5}, "concepts is 5"),
        (ThesaurusPanel, {"limit": "many"}, "limit is 'many'; give a whole number from 1"),
    ],
)
def test_what_is_of_no_use_is_refused_before_any_widget_is_made(demo_atlas, kind, chosen, said):
    before = live_widgets()
    with pytest.raises(InputError, match=said):
        kind(demo_atlas, **chosen)
    assert live_widgets() == before


@pytest.mark.parametrize(
    "kind",
    [
        AskPanel,
        CitationPanel,
        ImpactPanel,
        OutreachPanel,
        ReviewPanel,
        SurveyPanel,
        ThesaurusPanel,
        TrendsPanel,
        WritingPanel,
    ],
)
def test_a_path_is_no_atlas(kind):
    with pytest.raises(InputError, match=r"open it with ls\.open\('my\.atlas'\)"):
        kind("my.atlas")
    with pytest.raises(InputError, match="not None; open one"):
        kind(None)


def test_an_unknown_name_stays_in_its_field_and_is_not_chosen(demo_atlas):
    panel = opened(ImpactPanel, demo_atlas, facilities=["HST"])
    there = panel.analysis
    panel._chooser.field.value = "ALAM"
    assert panel.wait(time_limit(SECONDS))
    assert "no facility 'ALAM'" in panel.status
    assert "ALMA" in panel.status
    assert panel._chooser.field.value == "ALAM"
    assert panel.selection["facilities"] == ["HST"]
    assert panel.analysis is there


def test_a_facility_that_is_added_is_shown(demo_atlas):
    panel = opened(ImpactPanel, demo_atlas, facilities=["HST"])
    panel._chooser.field.value = "Atacama Large Millimeter Array"
    assert panel.wait(time_limit(SECONDS))
    assert panel.selection["facilities"] == ["ALMA", "HST"]
    assert '"ALMA"' in panel.code


def test_facilities_are_chosen_by_typing_and_taken_away_by_their_button(demo_atlas):
    panel = opened(ImpactPanel, demo_atlas, facilities=["HST"], what="ranking")
    offered = next(one for one in panel._chooser.field.options if one.startswith("ALMA ("))
    counted = demo_atlas.missions.query("facility == 'ALMA'")["paper_row"].nunique()
    assert f"({counted} paper" in offered
    panel._chooser.field.value = offered
    assert panel.wait(time_limit(SECONDS))
    assert set(panel.table["facility"]) == {"HST", "ALMA"}
    panel._chooser._chips.children[0].click()
    assert panel.wait(time_limit(SECONDS))
    assert panel.selection["facilities"] == ["ALMA"]
    assert list(panel.table["facility"]) == ["ALMA"]


def test_without_a_choice_the_most_mentioned_facilities_are_shown(demo_atlas):
    panel = opened(ImpactPanel, demo_atlas)
    used = demo_atlas.missions[demo_atlas.missions["role"] == "science"]
    pairs = used[["facility", "paper_row"]].drop_duplicates()
    most = pairs["facility"].value_counts()
    chosen = panel.selection["facilities"]
    assert [most[name] for name in chosen] == sorted(most, reverse=True)[: len(chosen)]
    assert panel.analysis.table["facility"].tolist() == chosen[:1]


def test_a_period_is_that_of_the_slider(demo_atlas):
    panel = opened(ImpactPanel, demo_atlas, facilities=["HST"])
    assert panel.selection["since"] is None
    panel._years.value = (2005, panel._years.max)
    assert panel.wait(time_limit(SECONDS))
    assert panel.selection["since"] == 2005
    assert panel.selection["until"] is None
    assert "since=2005" in panel.code
    assert panel.analysis.table["corpus_papers"].iloc[0] < len(demo_atlas)


def test_weights_rank_the_gaps_and_stand_in_the_code(demo_atlas):
    panel = opened(ReviewPanel, demo_atlas)
    assert "weights" not in panel.code
    by_default = panel.table["label"].tolist()
    for name in ("volume", "growth", "citations", "disagreement"):
        panel._weights[name].value = 0.0
    panel._weights["years_without"].value = 1.0
    assert panel.wait(time_limit(SECONDS))
    assert panel.table["label"].tolist() != by_default
    ranked = panel.table[panel.table["rank"].notna()]
    assert ranked["years_without"].is_monotonic_decreasing
    assert len(ranked) > 1
    assert '"volume": 0.0' in panel.code
    assert (panel.table["rank_low"] <= panel.table["rank_high"]).all()


def test_proposals_are_told_as_the_maintainers_ask(demo_atlas):
    panel = opened(ThesaurusPanel, demo_atlas, what="gaps", limit=5)
    page = all_html(panel)
    assert "Preferred term: " in page
    assert "Definition: " in page
    form = next(one for one in panel._buttons.children if "maintainers" in str(one.description))
    form.click()
    assert panel.wait(time_limit(SECONDS))
    assert "uat-proposals.csv" in panel._links.value


def test_an_author_is_followed(demo_atlas):
    name = first_author(demo_atlas)
    panel = opened(TrendsPanel, demo_atlas, what="author", author=name)
    assert panel.analysis.kind == "author"
    assert len(panel.table) == panel.analysis.denominators["papers of the author"]
    made = {"ls": ls, "atlas": demo_atlas}
    exec(panel.code, made)  # noqa: S102 - the line that the panel tells the reader to run
    assert made["found"].table["paper_id"].tolist() == panel.table["paper_id"].tolist()


def test_a_newer_wish_replaces_an_older(demo_atlas):
    panel = ImpactPanel(demo_atlas, facilities=["HST"], what="ranking")
    for what in ("map", "before_after", "ranking", "before_after"):
        panel._what.value = what
    assert panel.wait(time_limit(SECONDS))
    assert panel.analysis.kind == "before_after"


def test_two_panels_of_one_atlas_do_not_know_of_each_other(demo_atlas):
    one = opened(ImpactPanel, demo_atlas, facilities=["HST"])
    other = opened(ImpactPanel, demo_atlas, facilities=["ALMA"], theme="dark")
    assert one.selection["facilities"] == ["HST"]
    assert other.selection["facilities"] == ["ALMA"]
    assert one.figure.layout.paper_bgcolor != other.figure.layout.paper_bgcolor
    assert 'colours="dark"' in other.code


def test_an_atlas_that_was_built_again_is_not_mixed_with_the_old(own_atlas, tmp_path):
    panel = opened(ReviewPanel, own_atlas)
    there, read = panel.analysis, panel._signs()
    assert panel._reopen.layout.display == "none"
    built_again(own_atlas.path)
    with pytest.raises(AtlasError, match="rebuilt since"):
        panel.save(tmp_path / "gaps.pdf")
    assert panel.save(tmp_path / "table.csv").exists()
    panel.draw()
    assert panel.wait(time_limit(SECONDS))
    assert "was rebuilt" in panel.status
    assert panel.analysis is there
    assert panel._reopen.layout.display == ""
    panel._reopen.click()
    assert panel.wait(time_limit(SECONDS))
    assert panel._reopen.layout.display == "none"
    assert panel.atlas is not own_atlas
    assert panel._signs() is not read
    assert panel.analysis is not there
    assert panel.save(tmp_path / "gaps.pdf").exists()


@pytest.mark.parametrize("fails", [False, True])
def test_an_atlas_that_is_built_again_during_a_look_is_told(own_atlas, monkeypatch, fails):
    panel = opened(TrendsPanel, own_atlas, what="countries")
    there, make = panel.analysis, panel._make

    def make_meanwhile(chosen):
        built_again(own_atlas.path)
        if fails:
            raise IndexError("index 412 is out of bounds")
        return make(chosen)

    monkeypatch.setattr(panel, "_make", make_meanwhile)
    panel.draw()
    assert panel.wait(time_limit(SECONDS))
    assert "was rebuilt" in panel.status
    assert panel.analysis is there


def test_controls_suit_an_atlas_that_was_built_again(own_atlas, monkeypatch):
    panel = opened(ImpactPanel, own_atlas, facilities=["HST"], until=2015)
    first, last = panel._years.corpus
    longer = {"first_date": str(first - 10), "last_date": str(last + 1)}
    facts = {**own_atlas.coverage, **longer}
    monkeypatch.setattr(type(own_atlas), "coverage", property(lambda _: facts))
    offered = panel._chooser.field.options
    panel._chooser.field.options = ()
    panel.open_again()
    assert panel.wait(time_limit(SECONDS))
    assert (panel._years.min, panel._years.max) == (first - 10, last + 1)
    assert panel._years.value == (first - 10, 2015)
    assert panel.selection["since"] is None
    assert panel._chooser.field.options == offered


def test_a_change_counts_that_comes_while_controls_are_filled_in(demo_atlas):
    panel = opened(TrendsPanel, demo_atlas, what="countries")
    begun, go_on = threading.Event(), threading.Event()

    def fill():
        with panel._filled_in():
            begun.set()
            go_on.wait(time_limit(SECONDS))

    thread = threading.Thread(target=fill)
    thread.start()
    assert begun.wait(time_limit(SECONDS))
    panel._what.value = "institutions"
    go_on.set()
    thread.join()
    assert panel.wait(time_limit(SECONDS))
    assert panel.analysis.kind == "institutions"


@pytest.mark.parametrize(
    ("kind", "chosen"),
    [
        (ImpactPanel, {"what": "maps", "facilities": ["HST", "ALMA"]}),
        (ReviewPanel, {"what": "gaps"}),
        (TrendsPanel, {"what": "countries"}),
    ],
)
def test_drawing_again_leaves_no_widgets_behind(demo_atlas, kind, chosen):
    panel = opened(kind, demo_atlas, **chosen)
    before = live_widgets()
    panel.draw()
    assert panel.wait(time_limit(SECONDS))
    assert live_widgets() == before


def test_a_choice_that_is_taken_away_leaves_no_widgets_behind():
    chooser = Chooser("facility", ["HST"], on_change=lambda: None)
    before = live_widgets()
    chooser.value = ["ALMA"]
    assert live_widgets() == before


def test_a_rise_is_in_percentage_points(demo_atlas):
    panel = opened(ImpactPanel, demo_atlas, facilities=["VLT"], what="ranking")
    page = panel._table.value
    assert "Rise since first light (points)" in page
    assert f"{100 * panel.table['rise'].iloc[0]:+.3g} <span" in page
    assert "In brackets: 95% intervals." in page


def test_texts_of_papers_are_escaped_in_tables():
    import pandas as pd

    evil = "<img src=x onerror=alert(1)>"
    table = pd.DataFrame({evil: [evil], "names": [[evil]], "n": [pd.NA]})
    text = table_html(table, "another table", about=evil)
    assert "<img" not in text
    assert "Names" in text
    assert '<th scope="col" class="number">N</th>' not in text


def test_decimal_points_align_and_other_columns_are_folded():
    import pandas as pd

    table = pd.DataFrame({"share": [0.12, 0.0035], **{f"value_{i}": [1, 20] for i in range(8)}})
    first, _, whole = table_html(table, "another table", about="x").partition("<details>")
    assert ">12\u2008\u2007\u2007</td>" in first, "a digit and a point are missing: 12 and 0.35"
    assert ">\u20070.35</td>" in first
    assert first.count("<th ") == 7
    assert whole.startswith("<summary>all columns</summary>")
    assert whole.count("<th ") == 9
    assert "<details>" not in table_html(table.iloc[:, :7], "another table", about="x")


def test_intervals_align_in_panels():
    import pandas as pd

    table = pd.DataFrame({"papers": [1, 2], "share": [0.5, 0.25]})
    table = table.assign(share_low=[0.4, 0.125], share_high=[0.6, 0.375])
    page = table_html(table, "another table", about="x")
    assert "(\u2007\u2007\u2007\u200740 to 60)" in page
    assert "(12.5 to 37.5)" in page


def test_names_on_a_smaller_map_are_smaller_and_do_not_overlap():
    import plotly.graph_objects as go

    from landscape.widgets._figure_view import for_screen

    names = [
        {"x": x, "y": 5, "text": f"<b>{text}</b>", "font": {"size": 18}, "showarrow": False}
        for x, text in ((2, "INTERSTELLAR<br>MEDIUM"), (2.4, "SOLAR SYSTEM"), (8, "COSMOLOGY"))
    ]
    title = {"x": 0, "y": 1, "xref": "paper", "yref": "paper", "text": "caption"}
    axis = {"visible": False, "range": [0, 10]}
    layout = {"xaxis": axis, "yaxis": axis, "height": 1000, "annotations": [*names, title]}
    shown = for_screen(go.Figure(go.Scatter(x=[1], y=[1]), layout=layout)).layout.annotations
    assert [note.text[3:8] for note in shown] == ["INTER", "COSMO"]
    assert all(8 < note.font.size < 12 for note in shown)


def test_a_page_never_hears_of_a_figure_that_is_not_whole(monkeypatch):
    import plotly.graph_objects as go

    from landscape.widgets._figure_view import for_screen

    told = []
    real = widgets.Widget.open

    def record(widget):
        if isinstance(widget, go.FigureWidget):
            told.append(widget.get_state())
        real(widget)

    monkeypatch.setattr(widgets.Widget, "open", record)
    for_screen(go.Figure(go.Bar(x=[1], y=[2]), layout={"title": "One"}))
    assert len(told) == 1
    assert told[0]["_widget_data"][0]["type"] == "bar"
    assert told[0]["_widget_layout"]["title"]["text"] == "One"


def test_what_the_controls_no_longer_say_is_pale(demo_atlas):
    panel = opened(ImpactPanel, demo_atlas, facilities=["HST"], what="ranking")
    assert "landscape-outdated" not in panel._picture._dom_classes
    panel._chooser.value = ["Nonsuch Telescope"]
    panel.draw()
    assert panel.wait(time_limit(SECONDS))
    assert "Nonsuch Telescope" in panel.status
    assert "landscape-outdated" in panel._picture._dom_classes
    panel._chooser.value = ["HST"]
    panel.draw()
    assert panel.wait(time_limit(SECONDS))
    assert "landscape-outdated" not in panel._picture._dom_classes


def test_reviews_without_a_verdict_are_drawn_and_the_panel_says_so(demo_atlas):
    panel = opened(ReviewPanel, demo_atlas)
    assert "No verdict for" in all_html(panel)
    assert panel.figure.data
    assert len(panel.table) == (demo_atlas.topics["level"] == 1).sum()
