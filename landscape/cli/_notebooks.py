"""``landscape lab`` and ``landscape app``: find, copy and open notebooks."""

from __future__ import annotations

import argparse
import errno
import importlib.metadata
import os
import re
import shutil
import socket
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from landscape.cli._arguments import Answer, command, note
from landscape.errors import InputError, misfits, require

START_PAGE = "README.md"
_FIRST = "00_quickstart.ipynb"
_COPY = "landscape-notebooks"


def notebooks_folder(chosen: Path | None = None) -> tuple[Path, str]:
    """Find the folder of notebooks to work in."""
    clone = Path(__file__).resolve().parents[2] / "notebooks"
    is_clone = (clone / _FIRST).is_file()
    if is_clone and chosen is None:
        return clone, ""
    source = clone if is_clone else _installed()
    target = Path.cwd() / (chosen or _COPY)
    try:
        copied = _copy_missing(source, target)
    except OSError as error:
        raise InputError(
            f"The notebooks cannot be copied to {target} ({error.strerror}); choose a folder that "
            "you may write to: landscape lab --notebooks DIR"
        ) from error
    return target, f"{copied} notebooks copied to {target}" if copied else ""


def list_notebooks(folder: Path) -> list[Path]:
    """All notebooks of a folder, in the order of their numbers."""
    return sorted(folder.glob("*.ipynb"))


def choose_notebook(name: str, notebooks: Sequence[Path]) -> Path:
    """Find the notebook that a name means."""
    if name.endswith(".ipynb") and Path(name).is_file():
        return Path(name).resolve()
    wanted = _plain(Path(name).stem)
    exact = [path for path in notebooks if wanted == _plain(path.stem)]
    numbered = [path for path in notebooks if wanted.isdigit() and _number(path) == int(wanted)]
    named = [path for path in notebooks if wanted and wanted in _plain(path.stem)]
    found = exact or numbered or (named if not wanted.isdigit() else [])
    if len(found) == 1:
        return found[0]
    what = f"Several notebooks are named {name!r}" if found else f"There is no notebook {name!r}"
    listed = ", ".join(path.stem for path in found or notebooks) or "none"
    raise InputError(f"{what}; choose one of: {listed}.")


def _installed() -> Path:
    """Folder that the installation put the notebooks into."""
    try:
        files = importlib.metadata.files("landscape") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == _FIRST and (path := Path(os.fspath(file.locate()))).is_file():
            return path.resolve().parent
    raise InputError(
        "This installation came without its notebooks; clone the repository of Landscape and run "
        "the command there."
    )


def _copy_missing(source: Path, target: Path) -> int:
    """Copy missing notebooks as writable files; return the number copied."""
    target.mkdir(parents=True, exist_ok=True)
    missing = [
        path
        for path in sorted(source.iterdir())
        if path.suffix in (".ipynb", ".md") and not (target / path.name).exists()
    ]
    for path in missing:
        shutil.copyfile(path, target / path.name)
    return sum(path.suffix == ".ipynb" for path in missing)


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name).strip().casefold()


def _number(path: Path) -> int | None:
    number = re.match(r"\d+", path.stem)
    return int(number.group()) if number else None


_HOST = "127.0.0.1"  # the kernel is not reachable from the network
_JUPYTER_SETTINGS = Path(__file__).with_name("jupyter")
_LAST_PORT = 65535


def add_lab(commands: Any) -> None:
    """Add ``landscape lab``."""
    lab = command(commands, "lab", _lab, "open JupyterLab on the notebooks")
    lab.add_argument(
        "atlas",
        nargs="?",
        type=Path,
        metavar="ATLAS",
        help="atlas that the notebooks open (default: the demo atlas)",
    )
    _server_options(lab, 8888)


def add_app(commands: Any) -> None:
    """Add ``landscape app``."""
    app = command(commands, "app", _app, "serve a notebook without its code, as a web page")
    app.add_argument("notebook", metavar="NOTEBOOK", help="such as 02, ask, or a path")
    app.add_argument(
        "--atlas",
        type=Path,
        metavar="DIR",
        help="atlas that the notebook opens (default: the demo atlas)",
    )
    _server_options(app, 8866)


def _server_options(parser: argparse.ArgumentParser, usual: int) -> None:
    parser.add_argument(
        "--notebooks",
        type=Path,
        metavar="DIR",
        help="work on copies in this folder (default: the notebooks of a clone themselves, "
        "else copies in landscape-notebooks)",
    )
    parser.add_argument(
        "--port", type=int, metavar="N", help=f"default: {usual}, or the next one that is free"
    )
    parser.add_argument("--no-browser", action="store_true", help="only say the address")
    parser.set_defaults(usual_port=usual)


def _lab(options: argparse.Namespace) -> Answer:
    folder, said = notebooks_folder(options.notebooks)
    server = require("jupyterlab.labapp", "lab")
    words = [*_prepared(options), f"--ServerApp.root_dir={folder}"]
    words += [f"--LabApp.default_url=/lab/tree/{START_PAGE}", "--ServerApp.answer_yes=True"]
    words += ["--ServerApp.log_level=WARN"]  # the address is said all the same
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        words.append("--allow-root")  # as in a container; the server is for this machine alone
    _say(said, f"JupyterLab with the notebooks of {folder}; Ctrl-C ends it")
    _serve(server.LabApp, [*words, f"--ServerApp.ip={_HOST}"])
    return Answer("")


def _app(options: argparse.Namespace) -> Answer:
    folder, said = notebooks_folder(options.notebooks)
    shipped = list_notebooks(folder)
    notebook = choose_notebook(options.notebook, shipped)
    server = require("voila.app", "lab")
    words = [*_prepared(options), "--token", f"--Voila.ip={_HOST}"]
    if notebook in shipped and options.atlas is None:
        # Built here and not on the page: who opens that should not wait for minutes.
        from landscape.atlas import open_demo
        from landscape.pipeline._demo import FOLDER_VARIABLE

        os.environ[FOLDER_VARIABLE] = str(open_demo(say=note).path.resolve())
    _say(said, f"{notebook.name} as a page without code; Ctrl-C ends it")
    _serve(_opening_with_its_token(server.Voila), [*words, str(notebook)])
    return Answer("")


def _prepared(options: argparse.Namespace) -> list[str]:
    """Set the environment of the kernels; the words of the server's own command line."""
    from landscape.pipeline._demo import FOLDER_VARIABLE

    if options.atlas is not None:
        from landscape.atlas import open as open_atlas

        os.environ[FOLDER_VARIABLE] = str(open_atlas(options.atlas).path.resolve())
    known = os.environ.get("JUPYTER_CONFIG_PATH")
    ours = str(_JUPYTER_SETTINGS)
    # Defaults with lower priority than the user's: Markdown is rendered, no news are fetched, and
    # panels stay as they are while they are scrolled out of sight.
    os.environ["JUPYTER_CONFIG_PATH"] = ours if not known else os.pathsep.join((known, ours))
    words = [f"--port={_free_port(options.port, options.usual_port)}"]
    return [*words, "--no-browser"] if options.no_browser else words


def _say(*lines: str) -> None:
    for line in (*misfits("lab"), *lines):
        if line:
            note(line)


def _serve(server: Any, words: list[str]) -> None:
    """Run a server in this process until Ctrl-C."""
    try:
        server.launch_instance(words)
    except SystemExit as error:
        if error.code not in (None, 0):
            raise InputError(
                f"The server did not start (exit status {error.code}); what it said is above."
            ) from error


def _opening_with_its_token(voila: Any) -> Any:
    """Voila's application; of itself it opens the browser on a page that asks for the token."""

    class Page(voila):  # type: ignore[misc]  # voila is known when this runs
        def launch_browser(self) -> None:
            webbrowser.open(self.display_url)

    return Page


def _free_port(asked: int | None, usual: int) -> int:
    """The port asked for; else the usual one, or the first one above it that is free."""
    if asked is not None:
        if not 0 < asked <= _LAST_PORT:
            raise InputError(f"--port is {asked}; choose one from 1 to {_LAST_PORT}.")
        hindrance = _hindrance(asked)
        if hindrance == errno.EADDRINUSE:
            raise InputError(f"Port {asked} is in use; choose another with --port.")
        if hindrance is not None:
            reason = os.strerror(hindrance)
            raise InputError(f"Port {asked} cannot be used ({reason}); choose another with --port.")
        return asked
    free = next((port for port in range(usual, usual + 50) if _hindrance(port) is None), None)
    if free is None:
        raise InputError(f"Ports {usual} to {usual + 49} are in use; choose one with --port.")
    return free


def _hindrance(port: int) -> int | None:
    """The number of the system's error where nothing can be served at a port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HOST, port))
        except OSError as error:
            return error.errno
    return None
