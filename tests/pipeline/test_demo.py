"""The demo atlas is found if it exists, and built otherwise."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import landscape
from landscape.errors import AtlasError, InputError
from landscape.pipeline import demo as demo
from landscape.pipeline.commit import write_manifest
from landscape.store.manifest import read_manifest


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("LANDSCAPE_DEMO", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def built(demo_atlas: landscape.Atlas, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, int]]:
    """Record the requested builds instead of building."""
    seen: list[tuple[Path, int]] = []

    def build(out: Path, **how: int) -> landscape.Atlas:
        seen.append((out, how["n_papers"]))
        return demo_atlas

    monkeypatch.setattr(demo, "build_demo", build)
    return seen


def lay(atlas: landscape.Atlas, folder: Path) -> Path:
    shutil.copytree(atlas.path, folder / "demo.atlas", copy_function=os.link)
    return folder


def test_one_in_a_folder_above_is_opened(
    demo_atlas: landscape.Atlas, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(demo_atlas, elsewhere)
    deeper = elsewhere / "notebooks" / "mine"
    deeper.mkdir(parents=True)
    monkeypatch.chdir(deeper)
    assert landscape.open_demo().path == elsewhere / "demo.atlas"


def test_the_environment_names_the_folder(
    demo_atlas: landscape.Atlas, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(demo_atlas, elsewhere)
    monkeypatch.setenv("LANDSCAPE_DEMO", str(demo_atlas.path.parent))
    assert landscape.open_demo().path == demo_atlas.path
    assert landscape.open_demo(elsewhere).path == elsewhere / "demo.atlas"


def test_the_environment_may_name_another_atlas(
    demo_atlas: landscape.Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANDSCAPE_DEMO", str(demo_atlas.path))
    assert landscape.open_demo().path == demo_atlas.path


def test_without_one_it_is_built_here(elsewhere: Path, built: list) -> None:
    landscape.open_demo(n_papers=80)
    assert built == [(elsewhere / "demo.atlas", 80)]


def test_one_whose_build_was_stopped_goes_on(
    demo_atlas: landscape.Atlas, elsewhere: Path, built: list
) -> None:
    folder = lay(demo_atlas, elsewhere) / "demo.atlas"
    (folder / "manifest.json").unlink()  # a link: the original stays as it is
    manifest = read_manifest(demo_atlas.path)
    write_manifest(folder, manifest.without("quality"))
    landscape.open_demo()
    assert [out for out, _ in built] == [folder]


def test_something_else_of_that_name_is_left_alone(elsewhere: Path, built: list) -> None:
    (elsewhere / "demo.atlas").mkdir()
    (elsewhere / "demo.atlas" / "thesis.txt").write_text("mine")
    with pytest.raises(AtlasError):
        landscape.open_demo()
    assert built == []


def test_a_folder_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(InputError, match=r"Not a directory: nowhere"):
        landscape.open_demo("nowhere")


def test_a_small_one_is_built_for_real(elsewhere: Path) -> None:
    said: list[str] = []
    atlas = landscape.open_demo(n_papers=120, say=said.append)
    assert len(atlas) == 120
    assert atlas.coverage["generated"]
    assert "120 papers that do not exist" in said[0]
    assert landscape.open_demo().manifest == atlas.manifest
