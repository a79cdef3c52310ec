"""The panel for questions: models, stops, failures, hostile texts, rebuilt atlases."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.pipeline.commit import write_manifest
from landscape.store.manifest import read_manifest

pytest.importorskip("ipywidgets")

import ipywidgets as widgets
from ipywidgets.widgets.widget import _instances

import landscape
from landscape.atlas import Atlas
from landscape.errors import InputError
from landscape.types import Answer
from landscape.widgets import AskPanel, Connection, SurveyPanel
from landscape.widgets._code_lines import checksum_of
from landscape.widgets._connection import Used
from tests.answers.sample_results import HOSTILE, sample_answer
from tests.servers.openai_server import KEY, OpenAIServer, failing, fine, word_by_word
from tests.timing import time_limit, until
from tests.widgets.asking import QUESTION, inside, labels_of, page_of, script

LONG = "Winds strip the envelopes of massive stars and slow them down, word by word. " * 20


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "LANDSCAPE_LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def panel(demo_atlas: Atlas) -> AskPanel:
    return AskPanel(demo_atlas)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


@pytest.fixture
def connected(demo_atlas: Atlas, server: OpenAIServer) -> AskPanel:
    connection = Connection(base_url=server.url, model="small-chat")
    connection.use_key(KEY)
    return AskPanel(demo_atlas, connection=connection)


def asked(panel: AskPanel, question: str = QUESTION, **settings: object) -> Answer:
    panel.ask(question, **settings)
    assert panel.wait(time_limit(90))
    assert panel.value is not None, panel.status
    return panel.value


def open_widgets() -> Counter[str]:
    return Counter(type(one).__name__ for one in _instances.values())


def choice(panel: AskPanel, label: str) -> widgets.Dropdown:
    return next(
        w
        for w in inside(panel.controls)
        if isinstance(w, widgets.Dropdown) and w.description == label
    )


def test_without_a_model_it_quotes_and_says_how_to_connect_one(panel: AskPanel) -> None:
    assert panel.value is None
    assert panel.selection is None
    assert "No language model is connected" in page_of(panel)
    said = asked(panel)
    assert said.method == "extractive"
    page = page_of(panel)
    assert "<details" in page
    assert "<mark>" in page
    assert "connect one under “Language model”" in page
    assert "these papers do not exist" in page
    assert panel.code == f'atlas.ask("{QUESTION}")'
    assert panel.history == (said,)
    assert repr(panel) == f"<AskPanel: {panel.atlas.title}, 1 answer>"


def test_what_no_paper_speaks_of_is_told_before_the_answer(panel: AskPanel) -> None:
    asked(panel, "What drives winds of massive stars in NGC 99999?")
    assert "None of the papers found names NGC 99999." in page_of(panel)
    assert asked(panel, "How do I bake sourdough bread?").abstained
    assert "connect one under “Language model”" not in page_of(panel._view._parts["claims"])


def test_auto_is_shown_as_what_it_is(panel: AskPanel) -> None:
    panel._question.value = "Is there a tension between measurements of winds?"
    assert choice(panel, "Papers").label == "auto: 20"
    assert choice(panel, "Prompt style").label == "auto: nuanced"
    assert choice(panel, "Question type").label == "auto: consensus"
    assert choice(panel, "Weights").label == "auto: keywords and citations"
    assert all(
        w.index is not None for w in inside(panel.controls) if isinstance(w, widgets.Dropdown)
    )
    choice(panel, "Question type").value = "single-paper factual"
    assert choice(panel, "Papers").label == "auto: 5"
    choice(panel, "Papers").value = 7
    said = asked(panel, panel._question.value)
    assert len(said.papers) == 7
    assert said.question_type == "single-paper factual"
    assert panel.code.endswith('question_type="single-paper factual", k=7)')
    assert "k 7; style single-paper (auto)" in page_of(panel)


def test_every_setting_can_be_given_in_code_and_is_shown(panel: AskPanel) -> None:
    settings = {
        "k": 12,
        "filter": "2000..",
        "method": "words",
        "rerank": False,
        "generation": "quoted",
        "style": "nuanced",
        "language": "German",
        "audience": "public",
        "keywords": ("WR 140",),
        "weights": {"keyword": 0.3, "time": 0.0, "citation": 1.0},
        "check_with_model": False,
        "hyde": False,
        "question_type": "consensus",
    }
    said = asked(panel, **settings)
    assert {name: panel.controls.given()[name] for name in settings} == settings
    assert said.results.settings["method"] == "words"
    assert all((paper.year or 0) >= 2000 for paper in said.papers)
    assert choice(panel, "Papers").value == 12
    with pytest.raises(InputError, match="Unknown setting 'kk'"):
        panel.ask("Why?", kk=3)
    with pytest.raises(InputError, match="empty"):
        panel.ask("  ")


def test_letters_that_come_after_the_click_count(panel: AskPanel) -> None:
    panel._question.value = "What drives"
    panel._button.click()
    panel._question.value = QUESTION  # what the page held back
    assert until(lambda: panel.value is not None)
    assert panel.value is not None
    assert panel.value.question == QUESTION


def test_a_wrong_setting_on_the_page_is_one_sentence(panel: AskPanel) -> None:
    panel._question.value = QUESTION
    panel.controls.fields["filter"].value = "(dust"
    assert "landscape-warning" in page_of(panel.controls)
    panel._button.click()
    assert until(lambda: bool(panel.status))
    assert "Traceback" not in page_of(panel)
    assert panel.value is None


def test_enter_asks(panel: AskPanel) -> None:
    panel._question.value = QUESTION
    panel._question._handle_custom_msg({"event": "submit"}, [])
    assert until(lambda: panel.value is not None, 60)


def test_papers_are_sorted_chosen_and_saved(panel: AskPanel, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="ask a question first"):
        panel.save(tmp_path / "a.md")
    said = asked(panel, k=40)
    view = panel._view.papers
    assert [one.key for one in view.shown] == [str(rank) for rank in range(1, 31)]
    view._more.click()
    view._order.value = "newest first"
    hits = said.results.hits
    years = [hits[int(one.key) - 1].paper.year for one in view.shown]
    assert years == sorted(years, reverse=True)
    assert len(years) == 40
    view._order.value = "outliers first"
    apart = [bool(hits[int(one.key) - 1].outlier) for one in view.shown]
    assert apart == sorted(apart, reverse=True)
    assert len(panel.selection) == 40
    view.tick("8")
    view.tick("3")
    assert panel.selection["rank"].tolist() == [3, 8]
    assert panel.save(tmp_path / "p.bib").read_text().count("@") == 2
    assert panel.save(tmp_path / "p.csv").read_text().count(said.papers[2].title) == 1
    assert json.loads(panel.save(tmp_path / "a.json").read_text())["question"] == QUESTION
    assert QUESTION in panel.save(tmp_path / "a.md").read_text()
    with pytest.raises(InputError, match=r"\.ipynb"):
        panel.save(tmp_path / "a.docx")
    panel._view.tabs.selected_index = 5
    assert page_of(panel).count("download='") == 5


def test_the_map_is_drawn_when_it_is_looked_at(panel: AskPanel) -> None:
    go = pytest.importorskip("plotly.graph_objects")
    pytest.importorskip("anywidget")
    asked(panel)
    assert not panel._view.map._picture.children
    panel._view.tabs.selected_index = 2
    assert panel._view.map.wait(time_limit(60))
    (figure,) = panel._view.map._picture.children
    assert isinstance(figure, go.FigureWidget)
    found = len(panel.value.papers)
    assert sum(len(t.x) for t in figure.data if t.name in ("found", "outlier")) == found >= 10
    n_open = open_widgets()
    for n in range(2):
        asked(panel, f"What is dust number {n}?", k=10)
        assert panel._view.map.wait(time_limit(60))
        panel._view.map._colours.value = "dark" if n else "light"
        assert panel._view.map.wait(time_limit(60))
    assert figure.comm is None
    opened = open_widgets() - n_open
    assert opened["Button"] == 2  # one for each earlier question
    assert opened["ScreenFigure"] == 0
    assert opened["ButtonStyle"] == opened["Button"]


def test_a_model_answers_and_its_cost_is_told(connected: AskPanel, server: OpenAIServer) -> None:
    script(server)
    said = asked(connected, k=4)
    assert said.method == "small-chat"
    page = page_of(connected)
    assert "tokens" in page
    assert "Winds strip the envelopes" in page
    assert KEY not in page
    assert connected.unfinished == ""


def test_text_is_shown_while_it_is_written_and_stopping_keeps_the_rest(
    connected: AskPanel, server: OpenAIServer
) -> None:
    requests = script(server, text=LONG)
    server.script = [fine, fine, fine]
    first = asked(connected, k=3, hyde=False)
    server.always = word_by_word(0.05)
    connected.ask("What slows the winds of massive stars?", k=3, hyde=False)
    assert until(lambda: "Winds strip" in connected.unfinished)
    assert until(lambda: "Being written; not checked yet" in page_of(connected))
    assert connected.value is first  # still shown
    connected._stop.click()
    n_asked = len(requests)
    written = connected.unfinished
    assert connected.status == "Stopped."
    assert "Stopped. Written so far (unfinished, unchecked)" in page_of(connected)
    assert 0 < len(written) < len(LONG)
    assert connected.value is first
    assert connected.history == (first,)
    server.always = None
    second = asked(connected, "What slows the winds of massive stars, then?", k=3, hyde=False)
    assert connected.history == (first, second)
    assert "Written so far" not in page_of(connected)
    assert len(requests) - n_asked <= 4  # nothing more of the stopped question


def test_a_server_that_goes_in_the_middle_costs_the_text_and_no_answer(
    connected: AskPanel, server: OpenAIServer
) -> None:
    script(server, text=LONG)
    broken = lambda answer: replace(answer, sent=len(answer.body) // 2)  # noqa: E731 - one use
    server.script = [fine, broken]
    said = asked(connected, k=3, hyde=False, check_with_model=False)
    assert said.method == "extractive"
    page = page_of(connected)
    assert "What the model had written before it broke off (unfinished, unchecked)" in page
    assert "Winds strip the envelopes" in page
    assert "The language model failed" in page


def test_a_server_that_only_fails_leaves_quotations(
    connected: AskPanel, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openai._base_client.BaseClient._calculate_retry_timeout", lambda *_: 0.01)
    server.always = failing()
    said = asked(connected, k=3)
    assert said.method == "extractive"
    assert "status 500" in page_of(connected)


def test_what_is_typed_while_a_question_runs_is_for_the_next(
    connected: AskPanel, server: OpenAIServer
) -> None:
    script(server)
    server.always = word_by_word(0.05)
    connected.ask(QUESTION, k=3, hyde=False)
    connected.connection._server_box.value = "http://[::1"
    connected.connection._variable_box.value = "OTHER_KEY"
    assert connected.wait(time_limit(60))
    assert connected.value is not None, connected.status
    assert connected.value.method == "small-chat"
    assert connected._view.asked.used == Used(server.url, "OPENAI_API_KEY")
    assert f'base_url="{server.url}"' in connected.code


def test_the_code_asks_the_model_that_was_asked(
    connected: AskPanel, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(server)
    day = date(2020, 1, 1)
    said = asked(connected, k=3, t_now=day)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    names: dict[str, object] = {"atlas": connected.atlas}
    *before, last = connected.code.splitlines()
    exec("\n".join([*before, f"again = {last}"]), names)  # noqa: S102 - it is what is tested
    assert names["again"].method == "small-chat"
    assert names["again"].papers == said.papers
    assert KEY not in connected.code


def test_each_of_two_panels_tells_its_own_cost(
    connected: AskPanel, demo_atlas: Atlas, server: OpenAIServer
) -> None:
    requests = script(server)
    other = AskPanel(demo_atlas, connection=connected.connection)
    connected.ask(QUESTION, k=3)
    other.ask("What do winds do?", k=3)
    assert connected.wait(time_limit(90))
    assert other.wait(time_limit(90))
    costs = [panel._view.asked.cost for panel in (connected, other)]
    tokens = [int(cost.split(" tokens")[0].replace(",", "")) for cost in costs]
    assert min(tokens) > 0
    assert sum(tokens) == connected.connection.value.tokens_used == 100 * len(requests)


def test_text_of_a_question_that_gave_way_is_kept(
    connected: AskPanel, server: OpenAIServer
) -> None:
    script(server, text=LONG)
    server.always = word_by_word(0.05)
    connected.ask(QUESTION, k=3, hyde=False)
    assert until(lambda: "Winds strip" in connected.unfinished)
    server.always = None
    second = asked(connected, "What about dust?", k=3, hyde=False)
    assert connected.history == (second,)
    assert connected.unfinished.startswith("Winds strip")
    page = page_of(connected)
    assert f"What was written on “{QUESTION}” when the next question took its place" in page
    asked(connected, "And what about gas?", k=3, hyde=False)
    assert connected.unfinished == ""
    assert "took its place" not in page_of(connected)


def test_an_address_of_the_environment_that_cannot_be_read_is_said_in_the_panel(
    demo_atlas: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://[::1")
    for panel in (AskPanel(demo_atlas), SurveyPanel(demo_atlas)):
        said = "The address in OPENAI_BASE_URL cannot be read. Write an address"
        assert said in page_of(panel)


def test_a_follow_up_goes_on_from_the_answer_shown(
    connected: AskPanel, server: OpenAIServer
) -> None:
    requests = script(server)
    first = asked(connected, k=3)
    connected._question.value = "And what about dust?"
    connected._follow.value = True
    connected._button.click()
    assert until(lambda: connected.value is not first)
    assert connected.wait(time_limit(60))
    second = connected.value
    assert second is not None
    assert second.question == "And what about dust?"
    assert second.results.query == "How do winds and dust go together?"
    assert any(first.text in body["messages"][-1]["content"] for body in requests)
    assert not connected._follow.value
    notebook = connected._file(".ipynb")
    assert "thread.append(" in notebook
    assert connected.code.endswith("model=model)  # after 1 earlier answer")


def test_earlier_answers_are_shown_again(panel: AskPanel) -> None:
    first, second = asked(panel), asked(panel, "What are the masses of black holes?")
    assert panel.value is second
    old = [w for w in inside(panel._earlier) if isinstance(w, widgets.Button)]
    assert [button.description for button in old] == [second.question, first.question]
    old[1].click()
    assert panel.value is first
    assert panel.history == (first, second)
    assert QUESTION in panel.code


def test_consensus_is_shown_with_its_stances(connected: AskPanel, server: OpenAIServer) -> None:
    script(server, kind="consensus")
    asked(connected, k=3)
    page = page_of(connected)
    assert "Weak Agreement" in page
    assert "Winds matter." in page


def test_hostile_text_is_text(
    connected: AskPanel, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(server)
    monkeypatch.setattr("landscape.answers.asking.ask", lambda *_, **__: sample_answer())
    asked(connected, HOSTILE.replace("\n", " "))
    connected._live_text.begin(HOSTILE, HOSTILE).add(HOSTILE)
    page = page_of(connected) + page_of(connected._view.papers)
    connected._view.map.pick(3)
    page += page_of(connected._view)
    for tag in ("<script", "<img", "<b>atlas", "<i>cold"):
        assert tag not in page
    assert "&lt;script&gt;" in page
    assert 'href="javascript' not in page


def test_an_atlas_built_again_is_one_sentence_and_opened_again(
    demo_atlas: Atlas, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.atlas"
    shutil.copytree(demo_atlas.path, copy)
    panel = AskPanel(landscape.open(copy))
    first = asked(panel)
    write_manifest(copy, read_manifest(copy))
    panel.ask("What are the masses of black holes?")
    assert panel.wait(time_limit(60))
    assert "was rebuilt" in panel.status
    assert panel.value is first
    assert panel._reopen.layout.display == ""
    panel._reopen.click()
    asked(panel, "What are the masses of black holes?")
    assert len(panel.history) == 2
    theirs = panel._history[0]
    assert checksum_of(panel.atlas) in panel._file(".ipynb")
    panel._show(theirs)
    saved = panel.save(tmp_path / "first.ipynb").read_text("utf-8")
    assert checksum_of(theirs.atlas) in saved
    assert theirs.atlas is not panel.atlas


def test_the_map_of_an_answer_from_before_the_atlas_was_built_again(
    demo_atlas: Atlas, tmp_path: Path
) -> None:
    pytest.importorskip("anywidget")
    copy = tmp_path / "copy.atlas"
    shutil.copytree(demo_atlas.path, copy)
    panel = AskPanel(landscape.open(copy))
    asked(panel, k=3)
    manifest = read_manifest(copy)
    name, stage = next((n, s) for n, s in manifest.stages.items() if s.outputs)
    other = {path: replace(out, sha256="0" * 64) for path, out in stage.outputs.items()}
    stages = {**manifest.stages, name: replace(stage, outputs=other)}
    write_manifest(copy, replace(manifest, stages=stages))
    panel._view.tabs.selected_index = 2
    assert panel._view.map.wait(time_limit(60))
    assert "was rebuilt after this question" in page_of(panel._view.map)


def test_two_panels_share_nothing(demo_atlas: Atlas) -> None:
    one, two = AskPanel(demo_atlas), AskPanel(demo_atlas)
    asked(one, k=3)
    assert two.value is None
    assert two.controls.given() == {}


def test_every_control_says_what_it_is_for(panel: AskPanel) -> None:
    controls = (
        widgets.Button,
        widgets.Text,
        widgets.Dropdown,
        widgets.FloatSlider,
        widgets.Checkbox,
        widgets.Password,
    )
    silent = [w for w in inside(panel) if isinstance(w, controls) and not w.tooltip]
    assert silent == []
    assert "Key" in labels_of(panel)
