"""Processes started by the tests."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.timing import time_limit

_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/\S*\?token=\w+")


def interruptible() -> None:
    """Let Ctrl-C stop a new process, even if the parent of the tests ignores it.

    A shell starts background processes that ignore it, and their children inherit this.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Running:
    """A server of the command line that is stopped by Ctrl-C."""

    def __init__(
        self,
        *words: str,
        folder: Path,
        program: Sequence[str] = (sys.executable, "-m", "landscape.cli"),
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._words, self._folder, self._env = (*program, *words, "--no-browser"), folder, env
        self._log = folder / "server.log"

    def __enter__(self) -> str:
        with self._log.open("w") as out:
            self._server = subprocess.Popen(
                self._words,
                stdout=out,
                stderr=out,
                cwd=self._folder,
                env=self._env,
                preexec_fn=interruptible,
            )
        deadline = time.monotonic() + time_limit(180)
        while self._server.poll() is None and time.monotonic() < deadline:
            if found := _ADDRESS.search(self._log.read_text()):
                return found.group()
            time.sleep(0.1)
        self._server.kill()
        raise AssertionError(self._log.read_text())

    def __exit__(self, *_: Any) -> None:
        # Jupyter can miss an interrupt while its extensions start, as users know.
        interrupts = 0
        while self._server.poll() is None and interrupts < 6:
            self._server.send_signal(signal.SIGINT)
            interrupts += 1
            with suppress(subprocess.TimeoutExpired):
                self._server.wait(timeout=time_limit(15))
        status = self._server.poll()
        self._server.kill()
        assert status == 0, f"status {status}: {self._log.read_text()}"
        # A second interrupt may stop the shutdown itself, which prints a traceback.
        assert interrupts > 1 or "Traceback" not in self._log.read_text()
