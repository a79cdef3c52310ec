"""Commands `landscape lab` and `landscape app`: notebooks, ports and options of the servers."""

from __future__ import annotations

import errno
import http.cookiejar
import os
import socket
import sys
import urllib.request
from pathlib import Path

import pytest

import landscape

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.cli import _notebooks as notebooks
from landscape.cli import _notebooks as serving
from landscape.cli import main
from landscape.cli._notebooks import notebooks_folder
from landscape.errors import InputError
from tests.conftest import REPOSITORY
from tests.processes import Running
from tests.timing import time_limit


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Restore the environment variables that a command sets for kernels."""
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "/somewhere")
    monkeypatch.setenv("JUPYTER_PATH", "/somewhere")
    monkeypatch.setenv("LANDSCAPE_DEMO", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Record the arguments of servers instead of starting them."""
    seen: list[list[str]] = []
    monkeypatch.setattr(serving, "_serve", lambda _server, words: seen.append(words))
    return seen


def test_copies_leave_what_is_there_alone(tmp_path: Path) -> None:
    mine = tmp_path / "work"
    mine.mkdir()
    (mine / "00_quickstart.ipynb").write_text("my changes")
    folder, said = notebooks_folder(mine)
    everything = {path.name for path in (REPOSITORY / "notebooks").glob("*.ipynb")}
    assert {path.name for path in folder.glob("*.ipynb")} == everything
    assert said == f"{len(everything) - 1} notebooks copied to {mine}"
    assert (mine / "00_quickstart.ipynb").read_text() == "my changes"
    assert (mine / "README.md").is_file()
    assert notebooks_folder(mine) == (mine, "")


def test_an_installation_without_notebooks_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notebooks, "__file__", str(tmp_path / "a" / "b" / "c.py"))
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
        (["app", "--page", "asks"], "explorer"),
        (["app", "nowhere.atlas"], "There is no atlas nowhere.atlas"),
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
    assert main([command]) == 1
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


def test_an_app_shows_an_atlas_to_whoever_has_the_token(
    tmp_path: Path, demo_atlas: landscape.Atlas
) -> None:
    with Running("app", str(demo_atlas.path), "--page", "ask", folder=tmp_path) as address:
        page = _read(address)
        assert "Workbench: Demo corpus (generated), ask" in page
        assert "import landscape" not in page
        stranger = _read(address.split("?")[0])
        assert "Workbench" not in stranger
        assert "Demo corpus" not in stranger


def test_the_notebook_of_the_page_is_private_and_removed(
    monkeypatch: pytest.MonkeyPatch, demo_atlas: landscape.Atlas
) -> None:
    seen: list[Path] = []

    def serve(_server: object, words: list[str]) -> None:
        seen.append(Path(words[-1]))
        assert "--Voila.ip=127.0.0.1" in words
        assert "--token" in words
        assert str(demo_atlas.path) in seen[0].read_text("utf-8")
        assert seen[0].parent.stat().st_mode & 0o077 == 0

    monkeypatch.setattr(serving, "_serve", serve)
    assert main(["app", str(demo_atlas.path), "--no-browser"]) == 0
    assert not seen[0].parent.exists()


def _read(address: str) -> str:
    cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
    opener = urllib.request.build_opener(cookies)
    try:
        with opener.open(address, timeout=time_limit(180)) as page:
            return page.read().decode("utf-8")
    except urllib.error.HTTPError as error:
        return error.read().decode("utf-8")
