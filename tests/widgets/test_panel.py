"""Base class of all panels: background work, cancellation, and error messages."""

from __future__ import annotations

import threading
import time

import pytest

pytest.importorskip("ipywidgets")

# Private modules: no public function exposes the steps tested here by themselves.
from landscape._progress import progress
from landscape.errors import InputError
from landscape.widgets._controls import panel_texts
from landscape.widgets._panel import Panel
from landscape.widgets._tables import Item, PaperList
from tests.timing import assert_cost, time_limit
from tests.widgets.asking import live_widgets


@pytest.fixture
def panel() -> Panel:
    return Panel("Map of <b>stars</b>", [])


def shown(panel: Panel) -> str:
    return "".join(getattr(child, "value", "") for child in panel.children)


def test_what_comes_from_papers_is_escaped(panel):
    panel.say("<script>alert(1)</script>")
    panel.code = 'atlas.search("<img src=x>")'
    assert "<script>" not in shown(panel)
    assert "<img" not in shown(panel)
    assert "<b>stars" not in shown(panel)


def test_work_runs_beside_and_tells_its_result(panel):
    told = []
    panel.run("Adding", lambda: threading.current_thread(), told.append)
    assert panel.wait(time_limit(5))
    assert told[0] is not threading.current_thread()


def test_a_failure_is_one_sentence(panel):
    def fail():
        raise InputError("The facility 'ALMO' is unknown; did you mean ALMA?")

    panel.run("Asking", fail, lambda _: None)
    assert panel.wait(time_limit(5))
    assert panel.status == "The facility 'ALMO' is unknown; did you mean ALMA?"
    panel.run("Asking", lambda: 1 / 0, lambda _: None)
    assert panel.wait(time_limit(5))
    assert "division by zero" in panel.status
    assert "Traceback" not in shown(panel)


def test_a_failure_to_show_a_result_is_one_sentence_too(panel):
    panel.run("Asking", lambda: 0, lambda found: 1 / found)
    assert panel.wait(time_limit(5))
    assert "division by zero" in panel.status


def test_stopping_does_not_wait_for_work_that_cannot_be_ended(panel):
    go_on, told = threading.Event(), []

    def stop():
        panel.run("Waiting", go_on.wait, told.append)
        panel.stop()
        assert panel.wait(0)

    def finish():
        panel.run("Doing nothing", lambda: None, lambda _: None)
        assert panel.wait(time_limit(5))

    assert_cost(stop, finish, most=50, clock=time.perf_counter)
    assert panel.status == "Stopped."
    go_on.set()
    time.sleep(0.1)
    assert told == []


def test_work_that_shows_progress_ends_when_it_is_stopped(panel):
    ended, begun = threading.Event(), threading.Event()

    def count():
        try:
            with progress("Counting", total=10_000) as advance:
                for _ in range(10_000):
                    advance(1)
                    begun.set()
                    time.sleep(0.01)
        finally:
            ended.set()

    panel.run("Counting", count, lambda _: None)
    assert begun.wait(time_limit(5))
    panel.stop()
    assert ended.wait(time_limit(2))


def test_progress_tells_the_time_left(panel, monkeypatch):
    monkeypatch.setattr("landscape.widgets._panel._SHOWN_AFTER", 0.0)
    monkeypatch.setattr("landscape.widgets._panel._SOON", 0.0)
    words = []

    def count():
        with progress("Counting", total=4) as advance:
            for _ in range(3):
                time.sleep(0.3)
                advance(1)
                words.append(panel._bar_says.value)

    panel.run("Counting", count, lambda _: None)
    assert panel.wait(time_limit(5))
    assert "Counting: 3 of 4 papers" in words[-1]
    assert "s left" in words[-1]


def test_new_work_takes_the_place_of_the_old(panel):
    go_on, told = threading.Event(), []
    panel.run("Old", lambda: go_on.wait() and "old", told.append)
    panel.run("New", lambda: "new", told.append)
    assert panel.wait(time_limit(5))
    go_on.set()
    time.sleep(0.1)
    assert told == ["new"]


def test_work_of_another_kind_waits_and_nothing_is_lost(panel):
    go_on, told = threading.Event(), []
    panel.run("Searching", lambda: go_on.wait() and "found", told.append, kind="search")
    panel.run("Drawing the file", lambda: "old file", told.append, kind="file")
    assert panel.status == "Drawing the file comes next, after: Searching."
    panel.run("Drawing the file", lambda: "file", told.append, kind="file")
    go_on.set()
    assert panel.wait(time_limit(5))
    assert told == ["found", "file"]
    assert panel.status == ""


def test_a_failure_does_not_keep_what_waits(panel):
    go_on, told = threading.Event(), []
    panel.run("Failing", lambda: go_on.wait() and 1 / 0, told.append, kind="one")
    panel.run("Counting", lambda: 2, told.append, kind="two")
    go_on.set()
    assert panel.wait(time_limit(5))
    assert told == [2]
    assert "division by zero" in panel.status


def test_stopping_ends_what_waits_too(panel):
    go_on, told = threading.Event(), []
    panel.run("One", go_on.wait, told.append, kind="one")
    panel.run("Two", lambda: 2, told.append, kind="two")
    panel.stop()
    go_on.set()
    assert panel.wait(time_limit(5))
    panel.run("Three", lambda: 3, told.append, kind="three")
    assert panel.wait(time_limit(5))
    assert told == [3]


def papers(n):
    return [Item(f"p{i}", f"{i}.", f"Dust {i}", f"<b>Dust {i}</b>") for i in range(n)]


def test_choosing_all_papers_is_one_change():
    told = []
    listed = PaperList(on_change=lambda: told.append(len(listed.chosen)))
    listed.show(papers(20))
    told.clear()
    listed._all.click()
    listed._all.click()
    assert told == [20, 0]
    listed.tick("p3")
    assert told == [20, 0, 1]


def test_other_papers_leave_no_widgets_of_those_before():
    listed = PaperList()
    listed.show(papers(20))
    before = live_widgets()
    listed.show(papers(20))
    assert live_widgets() == before


def test_the_texts_of_controls_are_not_cut_at_a_comma() -> None:
    """In YAML, a comma ends a text without quotes, and its rest becomes a key without a value."""
    groups = [group for group in panel_texts().values() if isinstance(group, dict)]
    controls = [one for group in groups for one in group.values() if isinstance(one, dict)]
    cut = [key for one in controls for key in one if one[key] is None]
    assert cut == []
