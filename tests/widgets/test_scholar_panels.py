"""Panels for surveys, citations and writing: reproducible code, stops, models, any text."""

from __future__ import annotations

import json
import re
import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ipywidgets")

import landscape as ls

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.agents import AtlasCollection
from landscape.atlas import Atlas
from landscape.errors import InputError
from landscape.widgets import CitationPanel, Connection, SurveyPanel, WritingPanel
from landscape.widgets._agent_panel import QueryPanel
from landscape.widgets._survey_panel import SurveyControls
from tests.agents import citing_models, survey_scripts
from tests.answers.sample_results import HOSTILE
from tests.servers.openai_server import KEY, OpenAIServer, failing, slow
from tests.timing import time_limit, until
from tests.widgets.asking import QUESTION, built_again, live_widgets, page_of

CONTEXT = "Massive stars lose much of their mass in winds that are driven by"
EXCERPT = "Winds strip the envelopes of massive stars before they explode [CITATION]."
SMALL = {"depth": 2, "breadth": 2, "papers": 15, "expand": 3}


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "LANDSCAPE_LLM_MODEL", "LANDSCAPE_LLM_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


@pytest.fixture
def connection(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> Connection:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return Connection(base_url=server.url, model="small-chat")


def done(panel: QueryPanel) -> Any:
    assert panel.wait(time_limit(60))
    value = panel.value  # type: ignore[attr-defined]  # each of the three has one
    assert value is not None, panel.status
    return value


def run_code(panel: QueryPanel) -> dict[str, Any]:
    """Run the lines of code of a panel; return the defined names."""
    names: dict[str, Any] = {"ls": ls, "atlas": panel.atlas}
    exec(panel.code, names)  # noqa: S102 - it is what is tested
    return names


# -- without a language model


def test_a_survey_its_code_and_its_files(demo_atlas: Atlas, tmp_path: Path) -> None:
    panel = SurveyPanel(demo_atlas, question=QUESTION, **SMALL)
    assert panel.value is None
    assert panel.selection is None
    assert "No language model is connected" in page_of(panel)
    panel.survey()
    found = done(panel)
    assert len(found) > 3
    assert run_code(panel)["survey"].crawled == found.crawled
    assert list(panel.selection["paper_id"]) == [one.key for one in found.selected]
    second = found.selected[1].key
    panel._view.papers.tick(second)
    assert list(panel.selection["paper_id"]) == [second]
    page = page_of(panel)
    assert f"{len(found)} papers selected of {len(found.crawled)} judged, the best of " in page
    assert f"{found.n_found} found by similarity" in page
    assert found.selected[0].reason in page
    lines = panel.save(tmp_path / "s.csv").read_text("utf-8").splitlines()
    assert len(lines) == len(found.crawled) + 1
    assert panel.save(tmp_path / "s.bib").read_text("utf-8").count("title = {") == 1
    with pytest.raises(InputError, match=r"\.csv"):
        panel.save(tmp_path / "s.docx")
    assert "papers found" in repr(panel)


def test_tree_and_map_are_drawn_when_looked_at(demo_atlas: Atlas) -> None:
    panel = SurveyPanel(demo_atlas, question=QUESTION, depth=1, papers=10)
    panel.survey()
    done(panel)
    view = panel._view
    assert "<img" not in page_of(view.tree)
    view.tabs.selected_index = 1
    assert view.tree.wait(time_limit(60))
    assert re.search(r"alt='GENERATED[^']*Tree of a survey\.", page_of(view.tree))


def test_a_survey_without_a_model_can_be_stopped_and_taken_to_its_end(demo_atlas: Atlas) -> None:
    panel = SurveyPanel(demo_atlas, question=QUESTION, **SMALL)
    begun, told = threading.Event(), panel._show_step

    def first_step(line: str, wish: threading.Event) -> None:
        told(line, wish)
        if not begun.is_set():
            begun.set()
            assert "papers found so far" in panel._live.value
            panel.stop()

    panel._show_step = first_step  # type: ignore[method-assign]  # a stop at a known moment
    panel.survey()
    part = done(panel)
    assert part.partial
    assert part.crawled
    assert "Stopped: these are the results so far." in panel.status
    assert "Partial: the survey was ended" in page_of(panel)
    panel.go_on()
    whole = done(panel)
    assert not whole.partial
    assert len(whole.searches) > len(part.searches)
    with pytest.raises(InputError, match="no partial survey"):
        panel.go_on()


def test_a_citation_its_code_and_its_abstention(demo_atlas: Atlas, tmp_path: Path) -> None:
    paper = citing_models.some_paper(demo_atlas)
    panel = CitationPanel(demo_atlas, excerpt=citing_models.excerpt_of(paper))
    assert "Sought by: " in page_of(panel)
    panel.find()
    found = done(panel)
    assert found.papers[0] == paper
    assert run_code(panel)["found"].guesses == found.guesses
    panel._papers.tick("2")
    assert list(panel.selection["rank"]) == [2]
    assert panel.save(tmp_path / "c.bib").read_text("utf-8").count("title = {") == 1
    panel.find("Statins lower mortality in four thousand patients [CITATION].", before="2019")
    said = done(panel)
    assert said.abstained
    assert "No paper was selected. The best guesses:" in page_of(panel)
    assert 'before="2019"' in panel.code
    assert len(panel.selection) == len(said.guesses)
    with pytest.raises(InputError, match="no mark"):
        panel.find("A sentence without one.")


def test_writing_a_paragraph_and_a_check(demo_atlas: Atlas, tmp_path: Path) -> None:
    panel = WritingPanel(demo_atlas)
    with pytest.raises(InputError, match="is empty"):
        panel.cite()
    panel.cite(CONTEXT, k=4)
    found = done(panel)
    assert len(found) == 4
    assert run_code(panel)["found"].suggestions == found.suggestions
    page = page_of(panel)
    assert "none are made up" in page
    assert found.suggestions[0].highlights[0].text[:30] in page
    with pytest.raises(InputError, match="No paper is ticked"):
        panel.choose()
    panel._papers.tick("1")
    panel._papers.tick("3")
    assert list(panel.selection["rank"]) == [1, 3]
    panel.choose()
    panel.write("How stars lose mass")
    assert panel.wait(time_limit(60))
    assert panel.paragraph is not None
    assert run_code(panel)["paragraph"].text == panel.paragraph.text
    assert "No language model was asked" in page_of(panel)
    bib, tex = tmp_path / "r.bib", tmp_path / "d.tex"
    bib.write_text(found.to_bibtex(), "utf-8")
    key = bib.read_text("utf-8").split("{")[1].split(",")[0]
    tex.write_text(f"Winds drive mass loss \\cite{{{key},missing}}. It has been shown.", "utf-8")
    panel.check(bib, tex)
    assert panel.wait(time_limit(60))
    assert panel.draft_check is not None
    assert run_code(panel)["found"].counts == panel.draft_check.counts
    assert "not in the bibliography" in page_of(panel)


def test_corpora_are_switched_on_the_page(demo_atlas: Atlas) -> None:
    desk = AtlasCollection().add(demo_atlas, "one").add(demo_atlas, "two")
    panel = WritingPanel(demo_atlas, desk=desk)
    panel._corpora["one"].value = False
    panel.cite(CONTEXT, k=2)
    assert {one.corpus for one in done(panel).suggestions} == {"two"}
    names: dict[str, Any] = {"desk": desk}
    exec(panel.code, names)  # noqa: S102 - it is what is tested
    assert names["found"].suggestions == panel.value.suggestions


def test_hostile_text_is_escaped(demo_atlas: Atlas) -> None:
    odd = f"{QUESTION} {HOSTILE} <img src=x onerror=alert(1)>"
    survey = SurveyPanel(demo_atlas, question=odd, depth=1, papers=5)
    survey.survey()
    crawled = done(survey)
    one = crawled.crawled[0]
    bad = replace(one, paper=replace(one.paper, title=HOSTILE, abstract=HOSTILE), reason=HOSTILE)
    survey._view.show(replace(crawled, crawled=(bad,), notes=(HOSTILE,)), demo_atlas)
    citation = CitationPanel(demo_atlas)
    citation.find(f"{odd} [CITATION].")
    done(citation)
    writing = WritingPanel(demo_atlas)
    writing.cite(odd, k=2)
    done(writing)
    for panel in (survey, citation, writing):
        page = page_of(panel)
        assert "<img src=x" not in page
        assert "<script" not in page
        assert "\n" not in repr(panel)


def test_settings_that_cannot_be_are_told() -> None:
    controls = SurveyControls()
    given = {"depth": 1, "papers": 12, "before": "2001", "threshold": 0.5, "prices": (1.0, 2.0)}
    controls.put(given)
    assert controls.given() == given
    controls.fields["tokens"].value = "many"
    with pytest.raises(InputError, match="a whole number"):
        controls.given()
    with pytest.raises(InputError, match="Unknown setting"):
        controls.put({"deep": 2})


@pytest.fixture
def own_atlas(demo_atlas: Atlas, tmp_path: Path) -> Atlas:
    """A copy of the demo atlas that can be rebuilt."""
    return ls.open(shutil.copytree(demo_atlas.path, tmp_path / "own.atlas"))


def test_writing_goes_on_with_an_atlas_that_was_built_again(own_atlas: Atlas) -> None:
    panel = WritingPanel(own_atlas)
    built_again(own_atlas.path)
    panel.cite(CONTEXT, k=2)
    assert panel.wait(time_limit(60))
    assert "was rebuilt" in panel.status
    panel._reopen.click()
    panel.cite(CONTEXT, k=2)
    assert len(done(panel)) == 2
    assert panel.status == ""


def test_a_desk_is_the_readers_own_to_open_again(own_atlas: Atlas) -> None:
    panel = WritingPanel(own_atlas, desk=AtlasCollection().add(own_atlas))
    built_again(own_atlas.path)
    panel.open_again()
    assert "AtlasCollection().add(ls.open(path))" in panel.status


def test_a_survey_is_shown_with_the_atlas_it_was_made_with(
    own_atlas: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = SurveyPanel(own_atlas, question=QUESTION, depth=1, papers=5)
    go_on, survey, shown = threading.Event(), Atlas.survey, []

    def survey_slowly(atlas: Atlas, *given: Any, **more: Any) -> Any:
        found = survey(atlas, *given, **more)
        go_on.wait(time_limit(60))
        return found

    monkeypatch.setattr(Atlas, "survey", survey_slowly)
    monkeypatch.setattr(panel._view, "show", lambda _, atlas: shown.append(atlas))
    panel.survey()
    panel.open_again()
    assert panel.atlas is not own_atlas
    go_on.set()
    assert panel.wait(time_limit(60))
    assert shown == [own_atlas]


def test_whatever_fails_behind_a_button_is_told(
    demo_atlas: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = SurveyPanel(demo_atlas, question=QUESTION)
    monkeypatch.setattr(panel.controls, "given", lambda: 1 / 0)
    panel._button.click()
    assert until(lambda: panel.status == "This action failed: ZeroDivisionError: division by zero")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"mark": 0}, "mark is 0; choose a whole number from 1 to 99"),
        ({"mark": "two"}, "mark is 'two'"),
        ({"max_actions": 500}, "max_actions is 500; choose a whole number from 1 to 100"),
        ({"demonstration": "maybe"}, "demonstration is 'maybe'; choose True or False"),
        ({"source": 5}, "source is 5; choose text"),
        ({"excerpt": None}, "The excerpt is None"),
    ],
)
def test_a_citation_panel_refuses_what_cannot_be(
    demo_atlas: Atlas, given: dict[str, Any], said: str
) -> None:
    before = live_widgets()
    with pytest.raises(InputError, match=said):
        CitationPanel(demo_atlas, **given)
    assert live_widgets() == before


def test_writing_refuses_what_cannot_be(demo_atlas: Atlas) -> None:
    with pytest.raises(InputError, match="The context is None"):
        WritingPanel(demo_atlas, context=None)  # type: ignore[arg-type]  # it is what is tested
    panel = WritingPanel(demo_atlas)
    with pytest.raises(InputError, match="k is 500; give a whole number from 1 to 100"):
        panel.cite(CONTEXT, k=500)
    assert panel._context.value == ""


def test_choosing_all_papers_writes_the_files_once(
    demo_atlas: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel, written = CitationPanel(demo_atlas), []
    panel.find(EXCERPT)
    assert len(done(panel).guesses) > 3
    write = panel._file
    monkeypatch.setattr(panel, "_file", lambda ending: written.append(ending) or write(ending))
    panel._papers._all.click()
    assert written == [".csv", ".bib", ".json"]


def test_one_search_is_told_in_the_singular(demo_atlas: Atlas) -> None:
    panel = SurveyPanel(demo_atlas, question=QUESTION, depth=1, breadth=1, papers=5)
    assert "up to 1 search, no citations followed" in page_of(panel)
    panel.survey()
    assert len(done(panel).searches) == 1
    assert "<h4>1 search</h4>" in page_of(panel)


# -- with a scripted language model


def test_a_model_surveys_and_the_code_connects_it(
    demo_atlas: Atlas, server: OpenAIServer, connection: Connection
) -> None:
    survey_scripts.scripted(server, survey_scripts.good_scholar)
    panel = SurveyPanel(demo_atlas, connection=connection, question=QUESTION, **SMALL)
    panel.survey()
    found = done(panel)
    assert "small-chat" in {one.judged_by for one in found.selected}
    assert "It speaks of winds" in page_of(panel)
    assert KEY not in panel.code
    assert run_code(panel)["survey"].selected == found.selected


def test_what_is_typed_while_a_survey_runs_is_for_the_next(
    demo_atlas: Atlas, server: OpenAIServer, connection: Connection
) -> None:
    survey_scripts.scripted(server, survey_scripts.good_scholar)
    server.script = [slow(0.5)]
    panel = SurveyPanel(demo_atlas, connection=connection, question=QUESTION, **SMALL)
    panel.survey()
    connection._server_box.value = "http://[::1"
    connection._variable_box.value = "OTHER_KEY"
    found = done(panel)
    assert found.selected
    assert f'base_url="{server.url}"' in panel.code
    assert '"OPENAI_API_KEY"' in panel.code


def test_a_stopped_model_leaves_a_partial_survey_at_once(
    demo_atlas: Atlas, server: OpenAIServer, connection: Connection
) -> None:
    server.always = slow(30)
    panel = SurveyPanel(demo_atlas, connection=connection, question=QUESTION, **SMALL)
    panel.survey()
    assert until(lambda: len(server.requests) > 0)
    panel.stop()
    assert panel.wait(time_limit(15)), "it waited for the model"
    assert panel.value is not None
    assert panel.value.partial
    assert panel.value.crawled
    assert "language model failed" not in page_of(panel)


def test_a_model_attributes_and_its_failure_is_partial(
    demo_atlas: Atlas, server: OpenAIServer, connection: Connection
) -> None:
    paper = citing_models.some_paper(demo_atlas)
    steps = [
        citing_models.step("search", query=paper.title),
        citing_models.step("read", paper=paper.label),
        citing_models.step("select", paper=paper.label),
    ]
    citing_models.scripted(server, *steps)
    panel = CitationPanel(demo_atlas, connection=connection)
    panel.find(EXCERPT)
    assert done(panel).paper == paper
    assert "✓ selected." in page_of(panel)
    assert "model=model" in panel.code
    server.always = failing(400)
    panel.find(EXCERPT.replace("Winds", "Strong winds"))
    assert panel.wait(time_limit(60))
    assert panel.value is not None
    assert panel.value.partial
    assert panel.value.guesses
    assert "Partial: the language model ended" in page_of(panel)


def test_a_model_that_fails_costs_the_sentences_only(
    demo_atlas: Atlas, server: OpenAIServer, connection: Connection
) -> None:
    server.always = failing(400)
    panel = WritingPanel(demo_atlas, connection=connection)
    panel.cite(CONTEXT, k=3)
    found = done(panel)
    assert found.partial
    assert len(found) == 3
    assert "Partial: the language model ended" in page_of(panel)
    assert json.dumps(found.to_dict())
