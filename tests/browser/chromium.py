"""Find or install the browser for the tests.

Run: python -m tests.browser.chromium
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_DEBIAN = ["apt-get", "install", "--yes", "--no-install-recommends", "chromium"]
_PLAYWRIGHT = [sys.executable, "-m", "playwright", "install", "chromium"]


def executable() -> str:
    """Return the path of a working Chromium.

    Raises
    ------
    FileNotFoundError
        If Chromium is missing; the message contains the command that installs it.
    """
    found = _found()
    if found is None:
        raise FileNotFoundError(f"There is no Chromium for the tests; install it: {how_to()}")
    return found


def how_to() -> str:
    """Return the command that installs Chromium."""
    if shutil.which("apt-get"):
        sudo = "" if _is_root() else "sudo "
        return f"{sudo}{' '.join(_DEBIAN)}"
    return "python -m playwright install --with-deps chromium"


def provide() -> str:
    """Install Chromium if it is missing; return its path."""
    found = _found()
    if found is None and _is_root() and shutil.which("apt-get"):
        quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], check=False, env=quiet, stdout=sys.stderr)
        subprocess.run([*_DEBIAN, "-qq"], check=False, env=quiet, stdout=sys.stderr)
        found = _found()
    if found is None:
        subprocess.run(_PLAYWRIGHT, check=False, stdout=sys.stderr)
    return executable()


def _found() -> str | None:
    named = os.environ.get("LANDSCAPE_CHROMIUM")
    for candidate in [named] if named else map(shutil.which, NAMES):
        if candidate and _starts(candidate):
            return candidate
    own = _of_playwright()  # asked last: it takes seconds
    return own if _starts(own) else None


def _of_playwright() -> str:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def _starts(path: str) -> bool:
    """Return whether a browser starts; `chromium-browser` of Ubuntu may only refer to a snap."""
    try:
        done = subprocess.run([path, "--version"], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and any(word in done.stdout for word in (b"Chrom", b"chrom"))


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


if __name__ == "__main__":
    try:
        print(provide())
    except FileNotFoundError as error:
        sys.exit(str(error))
