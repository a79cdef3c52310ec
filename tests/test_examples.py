"""Every example runs and gives the figure of the gallery."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import landscape

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_draws_its_picture(
    script: Path, demo_atlas: landscape.Atlas, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ending = {"animation": "gif", "interactive": "html"}.get(script.stem, "png")
    picture = tmp_path / f"{script.stem}.{ending}"
    # In this process: one of its own would spend most of its time on imports.
    monkeypatch.setattr(sys, "argv", [str(script), str(demo_atlas.path), str(picture)])
    runpy.run_path(str(script), run_name="__main__")
    assert picture.stat().st_size > 10_000
    if ending == "png":
        assert "generated" in picture.with_suffix(".alt.txt").read_text().lower()


def test_an_example_is_a_program_of_its_own(demo_atlas: landscape.Atlas, tmp_path: Path) -> None:
    picture = tmp_path / "map.png"
    script = EXAMPLES[0].with_stem("heatmap")
    words = [sys.executable, str(script), str(demo_atlas.path), str(picture)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert picture.is_file()


def test_there_is_an_example_for_every_figure() -> None:
    drawn = "\n".join(path.read_text() for path in EXAMPLES)
    figures = {
        name
        for name in landscape.figures.__all__
        if not name.startswith("save_") and not name.endswith("_scene")
    }
    assert {name for name in figures if f"figures.{name}(" not in drawn} == set()
