"""The notebook of an answer is valid, has no key, and reproduces the answer."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ipywidgets")

from landscape.atlas import Atlas
from landscape.widgets import AskPanel, Connection
from tests.servers.openai_server import KEY, OpenAIServer
from tests.timing import time_limit
from tests.widgets.asking import QUESTION, script


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "LANDSCAPE_LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


def executed(notebook: str) -> tuple[dict[str, Any], str]:
    """Run the cells of a notebook; return the defined names and the printed text."""
    nbformat = pytest.importorskip("nbformat")
    nbformat.validate(nbformat.reads(notebook, as_version=4))
    names: dict[str, Any] = {}
    printed = io.StringIO()
    with redirect_stdout(printed):
        for cell in json.loads(notebook)["cells"]:
            if cell["cell_type"] == "code":
                exec(compile(cell["source"], "cell", "exec"), names)  # noqa: S102 - our own text
    return names, printed.getvalue()


def test_it_asks_again_and_the_same_comes_out(demo_atlas: Atlas, tmp_path: Path) -> None:
    panel = AskPanel(demo_atlas)
    panel.ask(QUESTION, k=7, weights={"time": 0.4}, filter="1995..", keywords=("WR 140", "O'Neil"))
    assert panel.wait(time_limit(90))
    names, printed = executed(panel.save(tmp_path / "answer.ipynb").read_text(encoding="utf-8"))
    assert printed.splitlines() == ["The same atlas.", "The same papers.", "The same text."]
    assert names["answer"].text == panel.value.text
    assert names["answer"].settings == panel.value.settings


def test_with_a_model_and_a_follow_up_it_holds_no_key(
    demo_atlas: Atlas, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    requests = script(server)
    connection = Connection(base_url=server.url, model="small-chat", key_variable="MY_KEY")
    connection.use_key(KEY)
    panel = AskPanel(demo_atlas, connection=connection)
    panel.ask(QUESTION, k=3)
    assert panel.wait(time_limit(90))
    panel.ask("And what about dust?", follow_up=True)
    assert panel.wait(time_limit(90))
    notebook = panel.save(tmp_path / "answer.ipynb").read_text(encoding="utf-8")
    assert KEY not in notebook
    monkeypatch.setenv("MY_KEY", KEY)
    n_asked = len(requests)
    names, printed = executed(notebook)
    assert printed.splitlines() == ["The same atlas.", "The same papers.", "The same text."]
    assert names["answer"].method == "small-chat"
    assert len(requests) == n_asked  # kept replies cost nothing


def saved_notebook(atlas: Atlas, question: str, folder: Path) -> str:
    """Ask a question in a panel without a model; return the notebook of the answer."""
    panel = AskPanel(atlas)
    panel.ask(question, k=3)
    assert panel.wait(time_limit(90))
    return panel.save(folder / "answer.ipynb").read_text(encoding="utf-8")


def test_another_atlas_is_noticed(demo_atlas: Atlas, tmp_path: Path) -> None:
    notebook = saved_notebook(demo_atlas, QUESTION, tmp_path)
    checksum = next(line for line in notebook.splitlines() if "digest(files) ==" in line)
    assert "digest(files)" in checksum
    spoilt = notebook.replace("digest(files) == '", "digest(files) == 'x")
    assert "The atlas was rebuilt since." in executed(spoilt)[1]


def test_a_hostile_question_is_neither_markup_nor_code(demo_atlas: Atlas, tmp_path: Path) -> None:
    hostile = "Why?'); import os #\n# <img src=x onerror=alert(1)> [a](javascript:b) ```"
    notebook = json.loads(saved_notebook(demo_atlas, hostile, tmp_path))
    prose = "".join(c["source"] for c in notebook["cells"] if c["cell_type"] == "markdown")
    assert "<img" not in prose
    assert "[a](javascript" not in prose
    code = next(c["source"] for c in notebook["cells"] if "atlas.ask(" in c["source"])
    assert json.dumps(hostile) in code
    compile(code, "cell", "exec")
