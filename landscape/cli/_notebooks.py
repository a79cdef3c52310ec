"""Commands ``lab``, which copies and opens the notebooks, and ``app``, which opens one page."""

from __future__ import annotations

import atexit
import errno
import html
import logging
import os
import shutil
import socket
import tempfile
import webbrowser
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

import landscape
from landscape._io import is_own_folder
from landscape.cli._options import Answer, note, option
from landscape.errors import InputError, misfits, require

START_PAGE = "README.md"
_FIRST = "00_quickstart.ipynb"
_COPY = "landscape-notebooks"


def notebooks_folder(chosen: Path | None = None) -> tuple[Path, str]:
    """Return the user's folder of notebooks, and a message if notebooks were copied."""
    clone = Path(__file__).resolve().parents[2] / "notebooks"
    is_clone = (clone / _FIRST).is_file()
    if is_clone and chosen is None:
        return clone, ""
    source = clone if is_clone else _installed()
    target = Path.cwd() / (chosen or _COPY)
    if target.exists() and not is_own_folder(target):
        raise InputError(
            f"{target} belongs to another user, and its notebooks would run as you. Choose a "
            "folder of your own: landscape lab --notebooks DIR"
        )
    try:
        copied = _copy_missing(source, target)
    except OSError as error:
        raise InputError(
            f"The notebooks cannot be copied to {target} ({error.strerror}). Choose a writable "
            "folder: landscape lab --notebooks DIR"
        ) from error
    return target, f"{copied} notebooks copied to {target}" if copied else ""


def _installed() -> Path:
    folder = Path(__file__).resolve().parents[1] / "_notebooks"  # see setup.py
    if not (folder / _FIRST).is_file():
        raise InputError(
            "This installation contains no notebooks. Clone the repository of Landscape and run "
            "the command there."
        )
    return folder


def _copy_missing(source: Path, target: Path) -> int:
    """Copy missing notebooks as writable files; return the number of copied notebooks."""
    target.mkdir(parents=True, exist_ok=True)
    missing = [
        path
        for path in sorted(source.iterdir())
        if path.suffix in (".ipynb", ".md") and not (target / path.name).exists()
    ]
    for path in missing:
        shutil.copyfile(path, target / path.name)
    return sum(path.suffix == ".ipynb" for path in missing)


_HOST = "127.0.0.1"  # the kernel is not reachable from the network
_JUPYTER_SETTINGS = Path(__file__).with_name("jupyter")
_LAST_PORT = 65535


Notebooks = Annotated[
    Path | None,
    option(
        "folder for copies of the notebooks (default: landscape-notebooks; in a clone, the "
        "original notebooks are used)"
    ),
]
Port = Annotated[int | None, option("default: 8888 or 8866, or the next free port")]
NoBrowser = Annotated[bool, option("print the address without opening a browser")]
_ATLAS = "atlas that the notebooks open (default: the demo atlas)"


def lab(
    atlas: Annotated[Path | None, Parameter(help=_ATLAS)] = None,
    /,
    *,
    notebooks: Notebooks = None,
    port: Port = None,
    no_browser: NoBrowser = False,
) -> Answer:
    """Open JupyterLab with the notebooks."""
    folder, copied = notebooks_folder(notebooks)
    server = require("jupyterlab.labapp", "lab")
    words = [*_prepared(atlas, port, no_browser, 8888), f"--ServerApp.root_dir={folder}"]
    words += [f"--LabApp.default_url=/lab/tree/{START_PAGE}", "--ServerApp.answer_yes=True"]
    words += ["--ServerApp.log_level=WARN"]  # the address is printed at every log level
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        words.append("--allow-root")  # needed in containers, and safe for a local server
    _note_all(copied, f"JupyterLab is serving the notebooks of {folder}; press Ctrl-C to stop")
    _serve(server.LabApp, [*words, f"--ServerApp.ip={_HOST}"])
    return Answer("")


# The template of Voila links a font on another host; this header forbids the request.
_POLICY = "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; frame-ancestors 'self'"
_NO_OTHER_HOST = {"headers": {"Content-Security-Policy": _POLICY}}
_TEMPLATE = "landscape"  # of Voila


Page = Literal[
    "explorer",
    "ask",
    "impact",
    "outreach",
    "citations",
    "writing",
    "survey",
    "reviews",
    "trends",
    "thesaurus",
    "library",
    "digest",
]


def app(
    atlas: Annotated[Path | None, Parameter(help="default: the demo atlas")] = None,
    /,
    *,
    page: Annotated[Page, option("page to open first")] = "explorer",
    port: Port = None,
    no_browser: NoBrowser = False,
) -> Answer:
    """Open an atlas as a web page with all panels."""
    server = require("voila.app", "lab")
    # Build the demo atlas before the page opens, because the build takes minutes.
    opened = landscape.open(atlas) if atlas else landscape.open_demo(say=note)
    words = [*_prepared(None, port, no_browser, 8866), "--token", f"--Voila.ip={_HOST}"]
    # The kernel starts with the server, before the browser asks for the page.
    words += ["--preheat_kernel=True", "--pool_size=1", f"--template={_TEMPLATE}"]
    words += ["--Voila.log_level=ERROR"]
    with tempfile.TemporaryDirectory(prefix="landscape-app-") as folder:
        notebook = Path(folder) / "landscape.ipynb"
        notebook.write_text(_page_notebook(opened.path, page), "utf-8")
        _add_template(Path(folder))
        _note_all()
        _serve(_server_of_page(server.Voila, opened.title, page), [*words, str(notebook)])
    return Answer("")


def _add_template(folder: Path) -> None:
    """Write the template of Voila to a folder of Jupyter data."""
    target = folder / "voila" / "templates" / _TEMPLATE
    target.mkdir(parents=True)
    (target / "conf.json").write_text('{"base_template": "lab"}', "utf-8")
    source = Path(landscape.__file__).with_name("templates") / "app.html"
    shutil.copyfile(source, target / "index.html.j2")
    known = os.environ.get("JUPYTER_PATH")
    os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, (str(folder), known)))


def _page_notebook(atlas: Path, page: Page) -> str:
    """Return a notebook whose only cell shows the workbench of an atlas."""
    nbformat = require("nbformat", "lab")

    code = (
        "import landscape\nfrom landscape.widgets import Workbench\n\n"
        f"Workbench(landscape.open({str(atlas.resolve())!r}), page={page!r})"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    notebook.metadata |= {
        "title": "Landscape",
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
    }
    return str(nbformat.writes(notebook))


def _prepared(atlas: Path | None, port: int | None, no_browser: bool, usual_port: int) -> list[str]:
    """Set environment variables for the kernels, and return the arguments of the server."""
    from landscape.pipeline.demo import FOLDER_VARIABLE

    if atlas is not None:
        os.environ[FOLDER_VARIABLE] = str(landscape.open(atlas).path.resolve())
    known = os.environ.get("JUPYTER_CONFIG_PATH")
    ours = str(_JUPYTER_SETTINGS)
    # The user's settings take precedence over these defaults. The defaults render Markdown, do not
    # fetch news, and keep the state of panels that are scrolled out of view.
    os.environ["JUPYTER_CONFIG_PATH"] = ours if not known else os.pathsep.join((known, ours))
    words = [f"--port={_free_port(port, usual_port)}"]
    return [*words, "--no-browser"] if no_browser else words


def _note_all(*lines: str) -> None:
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
                f"The server did not start (exit status {error.code}). See the messages above."
            ) from error


def _server_of_page(voila: Any, title: str, page: Page) -> Any:
    """Return a subclass of Voila that prints and opens its address with the access token."""

    class Server(voila):  # type: ignore[misc]  # a class known only at run time
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.tornado_settings = _NO_OTHER_HOST
            logging.getLogger("tornado").setLevel(logging.ERROR)

        @property
        def address(self) -> str:
            return f"{self.display_url}#{page}"

        def listen(self) -> None:
            from tornado.ioloop import IOLoop

            # The port is known when the loop runs.
            IOLoop.current().add_callback(
                lambda: note(f"{title}: {self.address} (press Ctrl-C to stop)")
            )
            super().listen()

        def launch_browser(self) -> None:
            # A page in a private file, because other users can see the arguments of a process.
            folder = tempfile.mkdtemp(prefix="landscape-app-")
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            opening = Path(folder) / "open.html"
            address = html.escape(self.address)
            opening.write_text(f'<meta http-equiv="refresh" content="0; url={address}">\n', "utf-8")
            webbrowser.open(opening.as_uri())

    return Server


def _free_port(chosen: int | None, usual: int) -> int:
    """Return the requested port, or the first free port from `usual` if none is requested."""
    if chosen is not None:
        if not 0 < chosen <= _LAST_PORT:
            raise InputError(f"--port is {chosen}; choose one from 1 to {_LAST_PORT}.")
        error_number = _port_error(chosen)
        if error_number == errno.EADDRINUSE:
            raise InputError(f"Port {chosen} is in use; choose another with --port.")
        if error_number is not None:
            reason = os.strerror(error_number)
            raise InputError(
                f"Port {chosen} cannot be used ({reason}); choose another with --port."
            )
        return chosen
    free = next((port for port in range(usual, usual + 50) if _port_error(port) is None), None)
    if free is None:
        raise InputError(f"Ports {usual} to {usual + 49} are in use; choose one with --port.")
    return free


def _port_error(port: int) -> int | None:
    """Return the system error number if a port cannot be used, else None."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HOST, port))
        except OSError as error:
            return error.errno
    return None
