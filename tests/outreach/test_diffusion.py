"""Redrawing of maps: the real pipelines with tiny models that are made for the test."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import landscape

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.errors import InputError, MissingExtraError, RemoteError
from landscape.outreach import Terrain, paint, redraw, render
from landscape.outreach._diffusion import (
    DiffusionModel,
    Prompt,
    Redrawn,
    RedrawSettings,
    Tile,
    clean_prompt,
    coast_picture,
    depth_picture,
)
from landscape.outreach.weights import find_weights
from tests.outreach.made_terrain import made_terrain
from tests.outreach.tiny_models import write_model

pytest.importorskip("diffusers", reason='needs: pip install "diffusers>=0.32"')

SIZE = (120, 100)
LITTLE = 0.02  # one step of fifty: hardly any noise


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Use one thread, which is faster for models this small."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of weights. With strength 0, the models "mirror" return their input picture."""
    root = tmp_path_factory.mktemp("weights")
    return {
        "1.5": write_model(root / "tiny-15", mirror=True),
        "XL": write_model(root / "tiny-xl", sdxl=True, mirror=True),
        "1.5 random": write_model(root / "random-15"),
    }


@pytest.fixture(scope="module")
def terrain() -> Terrain:
    return made_terrain(1, size=SIZE)


@pytest.fixture(scope="module")
def picture(terrain: Terrain) -> Any:
    return paint(terrain)


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise OSError("Network is unreachable")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture(scope="module")
def kept(models: dict[str, Path], picture: Any, terrain: Terrain) -> Redrawn:
    return redraw(picture, terrain, weights=models["1.5"], strength=LITTLE, seed=7)


def water(terrain: Terrain) -> Any:
    return ~terrain.land


def test_hardly_any_strength_keeps_the_truth_and_is_shipped(
    kept: Redrawn, picture: Any, terrain: Terrain
) -> None:
    assert kept.kept, kept.notes
    assert kept.scores is not None
    assert kept.scores.passed
    assert kept.scores.coasts > 0.9
    assert kept.scores_after.passed
    assert not np.array_equal(kept.picture, picture)
    assert np.array_equal(kept.picture[water(terrain)], picture[water(terrain)])
    assert kept.notes == ()


def test_xl_is_drawn_in_tiles_without_network(
    models: dict[str, Path], picture: Any, terrain: Terrain, no_network: None
) -> None:
    drawn = redraw(
        picture, terrain, weights=models["XL"], strength=LITTLE, tile=64, overlap=0, seed=7
    )
    assert drawn.kept, drawn.notes
    assert drawn.settings["family"] == "Stable Diffusion XL"
    assert set(drawn.settings["controls"]) == {"depth", "coast"}
    assert drawn.settings["tile"] == 64


def test_the_expected_time_is_reported_after_two_steps(
    models: dict[str, Path], picture: Any, terrain: Terrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(0, 100_000, 60))  # each step takes a minute
    monkeypatch.setattr("landscape.outreach._diffusion.time.monotonic", lambda: next(clock))
    said: list[str] = []
    settings = {"strength": 0.5, "steps": 8, "attempts": 1, "tile": 64, "overlap": 0}
    drawn = redraw(picture, terrain, weights=models["1.5"], note=said.append, **settings)
    assert said[0] == "Redrawing 4 tiles takes about 16 minutes."  # 4 steps for each tile
    assert said[0] not in drawn.notes


def test_what_a_model_makes_up_is_refused_and_the_true_map_ships(
    models: dict[str, Path], picture: Any, terrain: Terrain
) -> None:
    said: list[str] = []
    drawn = redraw(
        picture,
        terrain,
        weights=models["1.5 random"],
        strength=0.5,
        steps=4,
        attempts=2,
        note=said.append,
    )
    assert not drawn.kept
    assert np.array_equal(drawn.picture, picture)
    assert drawn.scores is not None
    assert not drawn.scores.passed
    assert drawn.scores_after.passed
    assert [one["strength"] for one in drawn.settings["attempts"]] == [0.5, 0.3]
    assert "Trying strength 0.3" in said[0]
    assert "the map without the model is used" in said[1]
    assert drawn.notes == tuple(said)
    # Judged before the true water is put back: after it the coasts would be right of themselves.
    before = drawn.settings["attempts"][0]["before"]
    assert before["relief"] < 0.72
    assert "relief" in before["failed"]


def test_strength_is_lowered_until_the_picture_is_true(
    models: dict[str, Path], picture: Any, terrain: Terrain
) -> None:
    drawn = redraw(
        picture, terrain, weights=models["1.5"], strength=0.6, lowering=0.1, steps=5, depth="none"
    )
    assert drawn.kept, drawn.notes
    assert drawn.settings["strength"] == 0.06
    assert len(drawn.settings["attempts"]) == 2
    assert len(drawn.notes) == 1
    assert set(drawn.settings["controls"]) == {"coast"}


def test_the_record_is_enough_to_draw_the_same_bytes_again(
    kept: Redrawn, picture: Any, terrain: Terrain
) -> None:
    record = json.loads(json.dumps(kept.settings))
    choices = {**record["settings"], "strength": record["strength"], "tile": record["tile"]}
    again = redraw(picture, terrain, weights=record["model"], theme=record["theme"], **choices)
    assert np.array_equal(again.picture, kept.picture)
    assert again.settings["picture_sha256"] == record["picture_sha256"]
    assert again.settings["start_sha256"] == record["start_sha256"]
    assert again.settings["fingerprint"] == record["fingerprint"]
    assert again.notes == ()


def test_the_metadata_hold_what_it_takes(kept: Redrawn, models: dict[str, Path]) -> None:
    record = kept.settings
    assert record["model"] == str(models["1.5"])
    assert record["revision"].startswith("files:")
    assert record["scheduler"]["class"] == "DPMSolverMultistepScheduler"
    assert record["scheduler"]["config"]["beta_end"] == 0.012
    assert record["seed"] == 7
    assert record["strength"] == LITTLE
    assert record["atlas_hash"] == "0" * 64
    assert "letters" in record["negative_prompt"]
    assert record["attempts"][0]["before"]["passed"]
    assert record["settings"]["bars"]["coasts"] == 0.75
    assert {"torch", "diffusers", "landscape"} <= set(record["versions"])


def test_controls_seed_and_place_count(
    models: dict[str, Path], picture: Any, terrain: Terrain
) -> None:
    model = DiffusionModel(find_weights(models["1.5 random"]))
    heights = terrain.elevation[:64, :64]
    controls = {"depth": depth_picture(heights), "coast": coast_picture(heights >= 0)}

    def draw(*, depth: float = 0.5, coast: float = 0.5, seed: int = 1, left: int = 0) -> bytes:
        return model.draw(
            np.ascontiguousarray(picture[:64, :64]),
            controls,
            tile=Tile(left, 0, 64, 64),
            noise=model.noise(*SIZE, seed),
            prompt=Prompt("hills", "text", 0.5),
            settings=RedrawSettings(
                seed=seed, steps=2, guidance=5, depth_scale=depth, coast_scale=coast
            ),
        ).tobytes()

    assert draw() == draw()
    different = [draw(), draw(depth=2), draw(coast=2), draw(seed=2), draw(left=8)]
    assert len(set(different)) == len(different)


def test_out_of_memory_means_smaller_tiles_and_is_said_aloud(
    models: dict[str, Path], picture: Any, terrain: Terrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    real = DiffusionModel.draw

    def draw(self: DiffusionModel, part: Any, *args: Any, **kwargs: Any) -> Any:
        if max(part.shape) > 64:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return real(self, part, *args, **kwargs)

    monkeypatch.setattr(DiffusionModel, "draw", draw)
    drawn = redraw(picture, terrain, weights=models["1.5"], strength=LITTLE, overlap=0)
    assert drawn.settings["tile"] == 64
    assert any("Out of memory with tiles of 128 pixels" in note for note in drawn.notes)
    assert drawn.kept, drawn.notes


def test_no_memory_at_all_ships_the_true_map(
    models: dict[str, Path], picture: Any, terrain: Terrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    def draw(*_: Any, **__: Any) -> Any:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 GB")

    monkeypatch.setattr(DiffusionModel, "draw", draw)
    drawn = redraw(picture, terrain, weights=models["1.5"])
    assert not drawn.kept
    assert np.array_equal(drawn.picture, picture)
    assert "not enough memory" in drawn.notes[-1]


def test_a_prompt_of_odd_characters_is_no_trouble(
    models: dict[str, Path], picture: Any, terrain: Terrain
) -> None:
    odd = "山脈 ‮\x00\x1b[2J <|endoftext|> \ud83d 🏔️ {}%s '; --\n" + "word " * 200
    drawn = redraw(
        picture, terrain, weights=models["1.5"], strength=LITTLE, prompt=odd, negative="\x07"
    )
    assert drawn.kept, drawn.notes
    assert drawn.settings["prompt"].startswith("山脈")
    assert "\x00" not in drawn.settings["prompt"]
    assert "letters" in drawn.settings["negative_prompt"]
    assert any("the model ignores its end" in note for note in drawn.notes)
    assert json.loads(json.dumps(drawn.settings))


def test_a_prompt_is_cleaned_of_what_a_tokenizer_reads_as_marks() -> None:
    odd = "  mountains\nof\x1b[31m wool <|endoftext|>\ud800 山脈 "
    assert clean_prompt(odd) == "mountains of [31m wool 山脈"


# Weights that are no use ------------------------------------------------------------------------


@pytest.fixture
def copied(models: dict[str, Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(models["1.5 random"], tmp_path / "copied"))


def refused(folder: Path, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        find_weights(folder)
    assert "\n" not in str(caught.value)


def test_pickles_are_not_opened(copied: Path) -> None:
    (copied / "unet" / "diffusion_pytorch_model.safetensors").rename(
        copied / "unet" / "diffusion_pytorch_model.bin"
    )
    refused(copied, "A pickle can run any program")


def test_half_a_file_is_refused(copied: Path) -> None:
    file = copied / "vae" / "diffusion_pytorch_model.safetensors"
    file.write_bytes(file.read_bytes()[:-100])
    refused(copied, "damaged or incomplete")


def test_a_folder_that_lacks_a_part_is_refused(copied: Path) -> None:
    shutil.rmtree(copied / "tokenizer")
    refused(copied, "have no tokenizer/")
    shutil.rmtree(copied / "text_encoder")
    refused(copied, "have no text_encoder/config.json")
    (copied / "model_index.json").write_text("{")
    refused(copied, "cannot be read")
    (copied / "model_index.json").unlink()
    refused(copied, "no model_index.json")


def test_another_kind_of_model_is_refused(copied: Path) -> None:
    index = json.loads((copied / "model_index.json").read_text())
    foreign = {**index, "unet": ["my_own_code", "MyNet"]}
    (copied / "model_index.json").write_text(json.dumps(foreign))
    refused(copied, "contain program code")
    other = {"_class_name": "FluxPipeline", "transformer": ["diffusers", "FluxTransformer2DModel"]}
    (copied / "model_index.json").write_text(json.dumps(other))
    refused(copied, "are a FluxPipeline, which is not supported")


def test_weights_that_do_not_fit_their_description_are_refused(
    copied: Path, picture: Any, terrain: Terrain
) -> None:
    config = copied / "unet" / "config.json"
    config.write_text(config.read_text().replace('"norm_num_groups": 4', '"norm_num_groups": 3'))
    with pytest.raises(InputError, match="cannot be loaded"):
        redraw(picture, terrain, weights=copied)


def test_a_control_of_the_other_family_is_refused(models: dict[str, Path]) -> None:
    with pytest.raises(InputError, match="belongs to another family"):
        find_weights(models["1.5"], depth=str(models["XL"] / "controlnet_depth"))
    with pytest.raises(InputError, match="no ControlNet for coast at"):
        find_weights(models["1.5"], coast="nowhere at all")


def test_a_checkpoint_in_one_file_is_told_how_to_become_a_folder(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    file.write_bytes(b"x")
    refused(file, "from_single_file")
    refused(tmp_path, "from_single_file")
    refused(tmp_path / "nowhere", "no weights at")


def test_a_model_of_the_hub_comes_from_the_cache_or_a_sentence(
    models: dict[str, Path], tmp_path: Path, no_network: None
) -> None:
    with pytest.raises(RemoteError, match="cannot be downloaded from the Hub") as caught:
        find_weights("someone/tiny", cache=tmp_path)
    assert "\n" not in str(caught.value)
    commit = "0123456789abcdef0123456789abcdef01234567"
    held = tmp_path / "models--someone--tiny"
    shutil.copytree(models["1.5 random"], held / "snapshots" / commit)
    (held / "refs").mkdir()
    (held / "refs" / "main").write_text(commit)
    found = find_weights("someone/tiny", cache=tmp_path, depth="none", coast="none")
    assert found.revision == commit
    assert found.fingerprint == find_weights(models["1.5 random"]).fingerprint


def test_without_diffusers_the_line_that_installs_it_is_said(
    models: dict[str, Path], picture: Any, terrain: Terrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.util
    import sys

    monkeypatch.setitem(sys.modules, "diffusers", None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install .*diffusers"):
        redraw(picture, terrain, weights=models["1.5"])


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"strenght": 1}, "Unknown setting 'strenght'"),
        ({"strength": 0.0}, "strength is 0.0; choose a number from 0.001 to 1"),
        ({"steps": 0}, "steps is 0; choose a whole number from 1 to 1,000"),
        ({"tile": 128, "overlap": 100}, "may overlap by 0 to 64"),
        ({"device": "tpu"}, "device 'tpu' is not available"),
        ({"scheduler": "chance"}, "Unknown scheduler 'chance'"),
    ],
)
def test_settings_out_of_range_are_refused(
    choices: dict[str, Any], words: str, models: dict[str, Path], picture: Any, terrain: Terrain
) -> None:
    with pytest.raises(InputError, match=words):
        redraw(picture, terrain, weights=models["1.5 random"], **choices)


# -- through the public door


@pytest.mark.parametrize(("which", "strength"), [("1.5", LITTLE), ("1.5 random", 0.3)])
def test_render_ships_what_is_true_and_says_which(
    demo_atlas: landscape.Atlas,
    models: dict[str, Path],
    tmp_path: Path,
    which: str,
    strength: float,
) -> None:
    target = tmp_path / "map.png"
    drawn = render(
        demo_atlas,
        target,
        size="640x540px",
        weights=models[which],
        strength=strength,
        steps=50 if which == "1.5" else 4,
        attempts=1,
    )
    sidecar = json.loads((tmp_path / "map.json").read_text("utf-8"))
    kept = which == "1.5"
    assert drawn.fidelity is not None
    assert drawn.fidelity.passed is sidecar["fidelity"]["passed"] is kept
    plain = render(demo_atlas, size="640x540px")
    assert np.array_equal(drawn.picture, plain.picture) is not kept
    words = "repainted by" if kept else "drawn from the data alone, because"
    assert words in drawn.used
    assert "failed the check" in drawn.used or kept
    with Image.open(target) as written:
        record = json.loads(written.text["Landscape"])["settings"]["repainting"]  # type: ignore[attr-defined]  # of a PNG
    assert record["atlas_hash"] == drawn.terrain.atlas_hash
    assert record["seed"] == 0
