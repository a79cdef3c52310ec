"""Commands `landscape lab` and `landscape app`: notebooks, ports and options of the servers."""

from __future__ import annotations

import errno
import http.cookiejar
import os
import re
import socket
import sys
import urllib.request
from pathlib import Path

import nbformat
import pytest

import landscape

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.cli import _notebooks as notebooks
from landscape.cli import _notebooks as serving
from landscape.cli import main
from landscape.cli._notebooks import choose_notebook, list_notebooks, notebooks_folder
from landscape.errors import InputError
from tests.conftest import REPOSITORY
from tests.processes import Running

NAMES = ["00_quickstart", "02_explore_the_map", "03_ask_the_literature", "12_explore_more"]
FILES = [Path(f"{name}.ipynb") for name in NAMES]


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Restore the environment variables that a command sets for kernels."""
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "/somewhere")
    monkeypatch.setenv("LANDSCAPE_DEMO", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Record the arguments of servers instead of starting them."""
    seen: list[list[str]] = []
    monkeypatch.setattr(serving, "_serve", lambda _server, words: seen.append(words))
    return seen


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("02", "02_explore_the_map"),
        ("2", "02_explore_the_map"),
        ("0", "00_quickstart"),
        ("ask", "03_ask_the_literature"),
        ("Ask the literature", "03_ask_the_literature"),
        ("explore_the", "02_explore_the_map"),
        ("02_explore_the_map.ipynb", "02_explore_the_map"),
    ],
)
def test_a_notebook_is_named_in_many_ways(name: str, meant: str) -> None:
    assert choose_notebook(name, FILES).stem == meant


def test_a_path_of_ones_own_is_taken(tmp_path: Path) -> None:
    (tmp_path / "mine.ipynb").write_text("{}")
    assert choose_notebook("mine.ipynb", FILES) == tmp_path / "mine.ipynb"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("outreach", "Unknown notebook 'outreach'; choose one of: 00_quickstart, 02_explore"),
        ("explore", "Several notebooks are named 'explore'; choose one of: 02_explore_the_"),
        ("99", "Unknown notebook '99'"),
        ("", "Unknown notebook ''"),
    ],
)
def test_a_name_that_means_none_or_several_lists_what_there_is(name: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        choose_notebook(name, FILES)


def test_copies_leave_what_is_there_alone(tmp_path: Path) -> None:
    mine = tmp_path / "work"
    mine.mkdir()
    (mine / "00_quickstart.ipynb").write_text("my changes")
    folder, said = notebooks_folder(mine)
    everything = {path.name for path in list_notebooks(REPOSITORY / "notebooks")}
    assert {path.name for path in list_notebooks(folder)} == everything
    assert said == f"{len(everything) - 1} notebooks copied to {mine}"
    assert (mine / "00_quickstart.ipynb").read_text() == "my changes"
    assert (mine / "README.md").is_file()
    assert notebooks_folder(mine) == (mine, "")


def test_an_installation_without_notebooks_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notebooks, "__file__", str(tmp_path / "a" / "b" / "c.py"))
    monkeypatch.setattr("importlib.metadata.files", lambda _: [])
    with pytest.raises(InputError, match="contains no notebooks"):
        notebooks_folder()


def test_lab_starts_on_the_start_page_for_this_machine_alone(
    started: list, demo_atlas: landscape.Atlas
) -> None:
    assert main(["lab", str(demo_atlas.path), "--no-browser", "--port", "18763"]) == 0
    (words,) = started
    assert "--ServerApp.ip=127.0.0.1" in words
    assert "--LabApp.default_url=/lab/tree/README.md" in words
    assert "--port=18763" in words
    assert "--no-browser" in words
    assert not any("token" in word for word in words)  # Jupyter makes one
    assert f"--ServerApp.root_dir={REPOSITORY / 'notebooks'}" in words
    assert os.environ["LANDSCAPE_DEMO"] == str(demo_atlas.path)
    first, ours = os.environ["JUPYTER_CONFIG_PATH"].split(os.pathsep)
    assert first == "/somewhere"
    assert (Path(ours) / "labconfig" / "default_setting_overrides.json").is_file()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["lab", "nowhere.atlas"], "There is no atlas nowhere.atlas"),
        (["lab", "--port", "99999"], "--port is 99999"),
        (["app", "inreach"], "Unknown notebook 'inreach'; choose one of: 00_quickstart"),
        (["app", "02", "--atlas", "nowhere.atlas"], "There is no atlas nowhere.atlas"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_is_one_sentence(
    words: list[str], said: str, started: list, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert started == []
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_a_port_that_may_not_be_used_is_not_told_as_in_use(
    started: list, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "_port_error", lambda _: errno.EACCES)
    assert main(["lab", "--port", "80"]) == 2
    said = "Port 80 cannot be used (Permission denied); choose another with --port."
    assert said in capsys.readouterr().err


def test_a_port_in_use_is_one_sentence_if_it_was_asked_for(
    started: list, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["lab", "--port", str(port)]) == 2
    assert f"Port {port} is in use; choose another with --port." in capsys.readouterr().err
    assert started == []


@pytest.mark.parametrize(("command", "module"), [("lab", "jupyterlab"), ("app", "voila")])
def test_without_the_packages_it_says_how_to_install_them(
    command: str,
    module: str,
    started: list,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name == module else found(name)
    )
    for name in [name for name in sys.modules if name.startswith(f"{module}.")]:
        monkeypatch.delitem(sys.modules, name)
    assert main([command, *(["02"] if command == "app" else [])]) == 1
    said = capsys.readouterr().err
    assert module in said
    assert "pip install" in said
    assert started == []


def test_a_kernel_that_loses_requests_is_told(
    started: list, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import importlib.metadata

    installed = importlib.metadata.version
    monkeypatch.setattr(
        "importlib.metadata.version",
        lambda name: "7.3.0" if name == "ipykernel" else installed(name),
    )
    assert main(["lab"]) == 0
    said = capsys.readouterr().err
    assert "ipykernel 7.3.0 is installed" in said
    assert 'pip install "ipykernel' in said
    assert len(started) == 1


def test_an_app_shows_results_without_code_to_whoever_has_the_token(
    tmp_path: Path, demo_atlas: landscape.Atlas
) -> None:
    cells = [
        nbformat.v4.new_markdown_cell("# For colleagues"),
        nbformat.v4.new_code_cell("import landscape as ls\nprint(len(ls.open_demo()), 'papers')"),
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, tmp_path / "small.ipynb")
    with Running("app", "small.ipynb", "--atlas", str(demo_atlas.path), folder=tmp_path) as address:
        page = _read(address)
        assert "400 papers" in page
        assert "For colleagues" in page
        assert "open_demo" not in page
        stranger = _read(address.split("?")[0])
        assert "400 papers" not in stranger
        assert "For colleagues" not in stranger


def _read(address: str) -> str:
    cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
    opener = urllib.request.build_opener(cookies)
    try:
        with opener.open(address, timeout=180) as page:
            return page.read().decode("utf-8")
    except urllib.error.HTTPError as error:
        return error.read().decode("utf-8")
