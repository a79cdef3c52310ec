"""Every notebook runs offline and without a key, and is stored without outputs."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jupytext
import nbformat
import pytest
from nbclient import NotebookClient

import landscape
from tests.conftest import REPOSITORY
from tests.servers.openai_server import KEY, OpenAIServer
from tests.timing import time_limit
from tests.widgets.asking import script

FOLDER = REPOSITORY / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MOST_CELLS = 25
_LINKS = re.compile(r"\]\(([\w-]+\.(?:ipynb|md))\)")
_SERVERS = ("OPENAI", "LANDSCAPE_LLM", "ADS_API", "COHERE")
# What a kernel does first: any way out of this machine is closed.
_OFFLINE = """
import socket as _socket
_connect = _socket.socket.connect
def _only_here(self, address):
    if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "localhost", "::1"):
        raise OSError(f"there is no network in this test: {address}")
    return _connect(self, address)
_socket.socket.connect = _only_here
"""


def names(paths: list[Path]) -> list[str]:
    return [path.stem for path in paths]


@dataclass(frozen=True)
class Done:
    """An executed notebook, and the files that it wrote."""

    notebook: nbformat.NotebookNode
    left: set[str]

    @property
    def cells(self) -> list[nbformat.NotebookNode]:
        return [cell for cell in self.notebook.cells if cell.cell_type == "code"]

    @property
    def shown(self) -> str:
        """Return the text that the cells print and show."""
        outputs = [output for cell in self.cells for output in cell.outputs]
        return "\n".join(one.get("text") or one.data.get("text/plain", "") for one in outputs)

    @property
    def warned(self) -> list[str]:
        outputs = [output for cell in self.cells for output in cell.outputs]
        return [one.text for one in outputs if one.get("name") == "stderr"]


@pytest.fixture(scope="module")
def offline(demo_atlas: landscape.Atlas) -> Iterator[None]:
    """The environment of a user without network and key, with the demo atlas."""
    with pytest.MonkeyPatch.context() as changed:
        for name in os.environ:
            if name.startswith(_SERVERS):
                changed.delenv(name)
        changed.setenv("LANDSCAPE_DEMO", str(demo_atlas.path.parent))
        yield


@pytest.fixture(scope="module")
def executed(offline: None, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Done]:
    """Function that runs a notebook offline and without a key; each notebook runs once."""

    @cache
    def run_once(path: Path) -> Done:
        return run(path, tmp_path_factory.mktemp(path.stem))

    return run_once


def run(path: Path, folder: Path) -> Done:
    """Execute a copy of a notebook; an error of a cell is raised."""
    shutil.copy(path, folder)
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(_OFFLINE))
    where = {"metadata": {"path": str(folder)}}
    NotebookClient(
        notebook, timeout=int(time_limit(900)), kernel_name="python3", resources=where
    ).execute()
    return Done(notebook, {file.name for file in folder.iterdir()} - {path.name})


@pytest.mark.parametrize("path", NOTEBOOKS, ids=names(NOTEBOOKS))
def test_runs_offline_with_no_key(path: Path, executed: Callable[[Path], Done]) -> None:
    done = executed(path)
    assert all(cell.execution_count for cell in done.cells)
    assert done.warned == []
    assert done.left == set(), "it leaves files behind"


def test_the_question_of_the_notebook_is_answered(executed: Callable[[Path], Done]) -> None:
    shown = executed(FOLDER / "03_ask_the_literature.ipynb").shown
    assert re.search(r"massive stars[^”]*\.”", shown), "sentences of abstracts are quoted"
    assert "do not answer this question" not in shown


def test_own_files_are_built_and_nothing_is_fetched(executed: Callable[[Path], Done]) -> None:
    said = executed(FOLDER / "01_build_your_own.ipynb").shown
    read, kept, merged = map(
        int, re.search(r"(\d+) read = (\d+) kept \+ (\d+) merged \+ 0 rejected", said).groups()
    )
    assert read == 170
    assert merged > 0
    assert kept == read - merged
    assert said.count("Nothing was fetched.") == 2


def test_asking_with_a_language_model_writes_and_keeps_the_key_out(
    offline: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = FOLDER / "03_ask_the_literature.ipynb"
    with OpenAIServer() as server:
        asked = script(server, kind="consensus")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("LANDSCAPE_LLM_MODEL", "small-chat")
        monkeypatch.setenv("LANDSCAPE_LLM_CACHE", str(tmp_path / "cache"))
        notebook = tmp_path / "here"
        notebook.mkdir()
        done = run(path, notebook)
    assert "answers by small-chat" in done.shown
    assert "Winds strip the envelopes of stars, word by word" in nbformat.writes(done.notebook)
    assert "Weak Agreement" in done.shown
    assert len(asked) >= 3
    assert done.warned == []
    assert KEY not in nbformat.writes(done.notebook)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=names(NOTEBOOKS))
def test_is_stored_without_output_and_short(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert len(notebook.cells) < MOST_CELLS
    assert notebook.cells[0].source.startswith("# ")
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None
    assert set(notebook.metadata) <= {"jupytext", "kernelspec"}, "saved with what changes always"
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    assert "open_demo()" in first.source


@pytest.mark.parametrize("path", NOTEBOOKS, ids=names(NOTEBOOKS))
def test_is_paired_with_its_script(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert notebook.metadata["jupytext"]["formats"] == "ipynb,py:percent"
    script = jupytext.read(path.with_suffix(".py"))
    how = f"jupytext --sync {path.relative_to(REPOSITORY)}"
    assert [(cell.cell_type, cell.source) for cell in script.cells] == [
        (cell.cell_type, cell.source) for cell in notebook.cells
    ], f"bring both in step with: {how}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=names(NOTEBOOKS))
def test_its_links_lead_somewhere(path: Path) -> None:
    for name in _LINKS.findall(path.read_text("utf-8")):
        assert (FOLDER / name).is_file(), f"{path.name} links to {name}"


def test_the_start_page_lists_every_notebook_in_order() -> None:
    linked = _LINKS.findall((FOLDER / "README.md").read_text("utf-8"))
    assert linked == [path.name for path in NOTEBOOKS]
