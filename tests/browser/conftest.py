"""One JupyterLab and one browser for all browser tests."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from landscape import Atlas
from tests.browser.chromium import executable
from tests.browser.jupyter_page import SECOND, WINDOW, JupyterPage
from tests.processes import interruptible
from tests.servers.openai_server import KEY, OpenAIServer
from tests.timing import time_limit

_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/\S*\?token=([0-9a-f]+)")


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab."""

    address: str
    token: str
    folder: Path
    log: Path


@pytest.fixture(scope="package")
def lab(tmp_path_factory: pytest.TempPathFactory, demo_atlas: Atlas) -> Iterator[Lab]:
    """JupyterLab started by `landscape lab` on copies of the notebooks, and stopped with Ctrl-C."""
    home = tmp_path_factory.mktemp("lab")
    log = home / "lab.log"
    # A copy of the atlas, so that a test may rebuild it.
    shutil.copytree(demo_atlas.path, home / "demo.atlas")
    surroundings = {name: value for name, value in os.environ.items() if "OPENAI" not in name} | {
        "HOME": str(home),
        "LANDSCAPE_DEMO": str(home),
        "PYTHONUNBUFFERED": "1",
    }
    surroundings.pop("LANDSCAPE_LLM_MODEL", None)
    words = [sys.executable, "-m", "landscape.cli", "lab", "--no-browser"]
    words += ["--notebooks", "notebooks"]
    with log.open("w") as out:
        server = subprocess.Popen(
            words, stdout=out, stderr=out, env=surroundings, cwd=home, preexec_fn=interruptible
        )
    try:
        port, token = wait_for_address(server, log)
        yield Lab(f"http://127.0.0.1:{port}", token, home / "notebooks", log)
    finally:
        server.send_signal(signal.SIGINT)
        try:
            status = server.wait(timeout=time_limit(60))
        except subprocess.TimeoutExpired:
            server.kill()
            raise
    assert status == 0, log.read_text()


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium without a window."""
    expect.set_options(timeout=time_limit(30) * SECOND)
    with sync_playwright() as playwright:
        found = executable()
        started = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield started
        started.close()


@pytest.fixture(scope="package")
def jupyter(lab: Lab, browser: Browser) -> Iterator[JupyterPage]:
    """One page for all tests, because JupyterLab loads slowly."""
    context = browser.new_context(viewport=WINDOW, accept_downloads=True)
    yield JupyterPage(context.new_page(), lab.address, lab.token)
    context.close()


@pytest.fixture(scope="package")
def model_server() -> Iterator[OpenAIServer]:
    """A scripted language model on the loopback interface."""
    with OpenAIServer() as running:
        assert KEY
        yield running


def wait_for_address(server: subprocess.Popen[bytes], log: Path) -> tuple[int, str]:
    """Return the port and the token of a JupyterLab that starts."""
    deadline = time.monotonic() + time_limit(180)
    while time.monotonic() < deadline and server.poll() is None:
        if found := _ADDRESS.search(log.read_text()):
            port, token = int(found[1]), found[2]
            api = f"http://127.0.0.1:{port}/api?token={token}"
            urllib.request.urlopen(api, timeout=time_limit(60)).close()
            return port, token
        time.sleep(0.2)
    raise AssertionError(f"JupyterLab did not start:\n{log.read_text()}")
