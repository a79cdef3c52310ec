"""Everything without an extra works without the packages of the extras."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# A process in which the packages of the extras cannot be found.
LIGHT = """
import sys
from importlib.machinery import PathFinder

HEAVY = {"torch", "transformers", "sentence_transformers", "spacy", "pytextrank", "diffusers"}

class Light(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in HEAVY else super().find_spec(name, path, target)

sys.meta_path = [Light if one is PathFinder else one for one in sys.meta_path]
"""
JOB = """
from pathlib import Path

import landscape
from landscape.corpus.demo import write_demo
from landscape.text.keywords import extract_keywords

files = write_demo(Path("corpus"), n_papers=120, seed=1)
atlas = landscape.build(files.papers, "light.atlas", workers=1, title="A light atlas")
assert atlas.stages["embeddings"].model["name"] == "minilm"
assert atlas.search("stellar winds").hits
assert atlas.ask("How many papers are there per year?").text
landscape.figures.save_figure(landscape.figures.heatmap(atlas), "map.png")
print(landscape.overlays.missions.impact(atlas).to_text())
print(extract_keywords("Tidal disruption of stars. Black holes disrupt stars.", limit=3))
"""


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", LIGHT + code]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_main_job_needs_no_pytorch_and_no_spacy(tmp_path: Path) -> None:
    done = run(JOB, tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "black holes" in done.stdout
    assert (tmp_path / "map.png").stat().st_size > 20_000


@pytest.mark.parametrize(
    ("call", "package"),
    [
        ("embeddings.load_embedder('st:model')", "sentence-transformers"),
        ("embeddings.MiniLM(device='cuda').embed(['a'])", "transformers"),
        ("text.tagger.tag_texts(['Dust cools.'], tagger='spacy')", "spacy"),
    ],
)
def test_what_needs_an_extra_names_its_packages(tmp_path: Path, call: str, package: str) -> None:
    module = call.partition("(")[0].rpartition(".")[0]
    code = f"""
import landscape.{module}
try:
    landscape.{call}
except landscape.errors.MissingExtraError as error:
    print(error)
"""
    done = run(code, tmp_path)
    assert "Install it with: pip install" in done.stdout, done.stderr[-2000:]
    assert f'"{package}' in done.stdout
