"""Ratings of results: written by the panels to a file of the user, and counted."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from landscape import Atlas
from landscape.cli import main
from landscape.errors import InputError
from landscape.evaluation import read_feedback, write_feedback
from landscape.widgets import AskPanel, SurveyPanel, WritingPanel


def test_ratings_are_counted_by_type_and_method(tmp_path: Path) -> None:
    path = tmp_path / "mine" / "feedback.jsonl"
    for n in range(4):
        write_feedback("ask", "Why?", is_good=n > 0, comment="too\nlong" * (n == 0),
                       settings={"question_type": "consensus (jargon)"}, path=path)  # fmt: skip
    write_feedback("survey", "Which?", is_good=True, method="small-chat", path=path)
    found = read_feedback(path)
    rows = found.table.set_index("panel")
    assert rows.loc["ask", ["type", "method", "ratings", "up", "down"]].tolist() == [
        "consensus", "no model", 4, 3, 1,
    ]  # fmt: skip
    assert rows.loc["survey", "method"] == "small-chat"
    assert rows.loc["ask", "share_low"] < rows.loc["ask", "share"] == 0.75
    assert found.comments == ("- Why?: too long",)
    assert "too long" in found.to_text()
    if os.name != "nt":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_command_and_its_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "feedback.jsonl"
    assert main(["evaluate", "feedback", str(path)]) == 2
    path.write_text('{"rating": 7}\n')
    assert main(["evaluate", "feedback", str(path)]) == 2
    assert 'has no "rating" of 1 or -1' in capsys.readouterr().err
    path.write_text("\n")
    with pytest.raises(InputError, match="has no ratings"):
        read_feedback(path)
    write_feedback("cite", "Dust", is_good=True, path=path)
    assert main(["evaluate", "feedback", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["table"][0]["up"] == 1


def test_the_panels_write_the_question_the_settings_and_the_papers(
    demo_atlas: Atlas, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "feedback.jsonl"
    monkeypatch.setenv("LANDSCAPE_FEEDBACK", str(path))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    ask = AskPanel(demo_atlas)
    with pytest.raises(InputError):
        ask.rate(True)
    assert ask._rating.layout.display == "none"
    ask.ask("What strips gas from satellite galaxies?")
    assert ask.wait(60)
    assert ask._rating.layout.display == ""
    ask.rate(True, "useful")
    survey = SurveyPanel(demo_atlas)
    survey.survey("winds of massive stars", papers=20)
    assert survey.wait(60)
    survey.rate(False)
    writing = WritingPanel(demo_atlas)
    writing.cite("Massive stars lose mass in winds", k=3)
    assert writing.wait(60)
    writing.rewrite(2, "rotation")
    assert writing.wait(60)
    writing.rate(True)
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert [(row["panel"], row["rating"]) for row in rows] == [
        ("ask", 1), ("survey", -1), ("writing", 1),
    ]  # fmt: skip
    assert rows[0]["comment"] == "useful"
    assert rows[0]["settings"]["question_type"]
    assert all(row["papers"] and row["method"] == "no model" for row in rows)
    assert len(rows[2]["papers"]) == 3
