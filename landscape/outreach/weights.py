"""Find and check Stable Diffusion weights in a folder or on the Hub."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from landscape._io import expand_home, is_file, is_folder
from landscape._wording import one_line
from landscape.errors import InputError, RemoteError, require

SD15, SDXL = "Stable Diffusion 1.5", "Stable Diffusion XL"
CONTROLS = ("depth", "coast")
"""ControlNets, in the order in which they are passed to a pipeline."""

# Default ControlNets of models from the Hub.
RECOMMENDED = {
    SD15: {
        "depth": "lllyasviel/control_v11f1p_sd15_depth",
        "coast": "lllyasviel/control_v11p_sd15_canny",
    },
    SDXL: {
        "depth": "diffusers/controlnet-depth-sdxl-1.0",
        "coast": "diffusers/controlnet-canny-sdxl-1.0",
    },
}
_EXAMPLE = "stable-diffusion-v1-5/stable-diffusion-v1-5"
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[\w.-]{1,96}")
_PICKLES = (".bin", ".ckpt", ".pt", ".pth", ".pkl")
# "stable_diffusion" is the library of safety checkers.
_LIBRARIES = ("diffusers", "transformers", "stable_diffusion", None)
_NETWORKS: dict[str, tuple[str, ...]] = {SD15: ("unet", "vae", "text_encoder")}
_NETWORKS[SDXL] = (*_NETWORKS[SD15], "text_encoder_2")
_TOKENIZERS = ("tokenizer", "tokenizer_2")
_SMALL_FILES = (
    "model_index.json",
    "scheduler/*.json",
    *(f"{part}/config.json" for part in _NETWORKS[SDXL]),
    *(f"{part}/*.{kind}" for part in _TOKENIZERS for kind in ("json", "txt")),
)
_SAMPLES, _SAMPLE = 64, 65_536  # number and size of the hashed blocks of a file


@dataclass(frozen=True)
class Weights:
    """A checked model on disk, with its ControlNets and versions."""

    name: str
    folder: Path
    family: str
    revision: str
    fingerprint: str
    controls: Mapping[str, Path] = field(default_factory=dict)
    control_names: Mapping[str, str] = field(default_factory=dict)


def check_weights(weights: str) -> None:
    """Check weights without loading them."""
    path = expand_home(weights)
    is_here = is_folder(path) or is_file(path)
    if is_here or weights.count("/") != 1 or weights.startswith((".", "~", "/")):
        open_folder(path, name=weights)
    else:
        find_weights(weights)


def find_weights(
    weights: str | Path,
    *,
    revision: str | None = None,
    depth: str = "auto",
    coast: str = "auto",
    cache: Path | None = None,
) -> Weights:
    """Find a model and its ControlNets, in a folder (without network access) or on the Hub."""
    path = expand_home(weights)
    local = is_folder(path) or is_file(path) or not _HUB_NAME.fullmatch(str(weights))
    if local:
        found = open_folder(path)
    else:
        require("diffusers", "outreach")  # fail before the download if diffusers is missing
        folder = _fetch(str(weights), revision, _SMALL_FILES, _NETWORKS[SDXL], cache)
        found = open_folder(folder, name=str(weights), revision=folder.name)
    for kind, wanted in zip(CONTROLS, (depth, coast), strict=True):
        if wanted == "auto" and local:
            inside = found.folder / f"controlnet_{kind}"
            wanted = str(inside) if inside.is_dir() else "none"
        elif wanted == "auto":
            wanted = RECOMMENDED[found.family][kind]
        if wanted != "none":
            found = _add_control(found, kind, wanted, cache)
    return found


def open_folder(folder: Path, *, name: str = "", revision: str = "") -> Weights:
    """Check a folder written by ``save_pretrained`` of diffusers, without loading the model."""
    name = name or str(folder)
    if is_file(folder):
        raise InputError(_single_file(folder))
    if not is_folder(folder):
        raise InputError(
            f"There are no weights at {folder}; pass a folder of diffusers weights "
            f"or a Hub id such as {_EXAMPLE}."
        )
    index = _read_index(folder)
    family = _family(index, name)
    for part in _NETWORKS[family]:
        _check_network(folder / part, name)
    for part in ("scheduler", *(p for p in _TOKENIZERS if p in index)):
        if not (folder / part).is_dir():
            raise InputError(f"The weights {name} have no {part}/; download the folder again.")
    unet = _read_json(folder / "unet" / "config.json")
    if unet.get("in_channels", 4) != unet.get("out_channels", 4):
        raise InputError(
            f"The weights {name} are made for inpainting or upscaling "
            f"({unet.get('in_channels')} input channels); use the plain model of the family."
        )
    content = _fingerprint([folder / part for part in _NETWORKS[family]])
    return Weights(name, folder, family, revision or content, content)


def variant_of(folder: Path) -> str | None:
    """Return ``"fp16"`` if a network has only files in half precision, else None."""
    names = [file.name for file in folder.glob("*.safetensors")]
    return "fp16" if all(".fp16" in name or ".non_ema" in name for name in names) else None


def _add_control(weights: Weights, kind: str, wanted: str, cache: Path | None) -> Weights:
    """Add a ControlNet from a folder or the Hub; raise InputError if it does not fit the model."""
    folder = expand_home(wanted)
    if is_folder(folder):
        name = f"{wanted}@{_fingerprint([folder])}"
    elif _HUB_NAME.fullmatch(wanted):
        folder = _fetch(wanted, None, ("config.json",), ("",), cache)
        name = f"{wanted}@{folder.name}"
    else:
        raise InputError(f"There is no ControlNet for {kind} at {wanted}. Pass another folder.")
    _check_network(folder, f"for {kind} in {folder}")
    its, ours = (
        _read_json(where / "config.json").get("cross_attention_dim")
        for where in (folder, weights.folder / "unet")
    )
    if its != ours:
        raise InputError(
            f"The ControlNet for {kind} in {folder} belongs to another family of models "
            f"(width {its}, while {weights.name} has {ours}). "
            f"Use a ControlNet for {weights.family}."
        )
    return replace(
        weights,
        controls={**weights.controls, kind: folder},
        control_names={**weights.control_names, kind: name},
    )


def _fetch(
    name: str, revision: str | None, small: Sequence[str], parts: Sequence[str], cache: Path | None
) -> Path:
    """Download configurations and safetensors from the Hub, or find them in its cache."""
    from huggingface_hub import snapshot_download

    for variant in ("", ".fp16"):
        stems = [
            f"{part}/{stem}".lstrip("/")
            for part in parts
            for stem in ("model", "diffusion_pytorch_model")
        ]
        ends = (
            f"{variant}.safetensors",
            f"{variant}-?????-of-?????.safetensors",
            f"{variant}.safetensors.index*.json",
        )
        patterns = [*small, *(stem + end for stem in stems for end in ends)]
        try:
            folder = Path(
                snapshot_download(name, revision=revision, allow_patterns=patterns, cache_dir=cache)
            )
        except Exception as error:
            # Different versions of the client raise different errors.
            if not isinstance(error, (OSError, ValueError)) and "hub" not in type(error).__module__:
                raise
            at = f" at revision {revision}" if revision else ""
            reason = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
            raise RemoteError(
                f"The weights {name}{at} cannot be downloaded from the Hub: {reason[:300]} "
                "Download them on a machine with network access, and pass the folder."
            ) from error
        if any(folder.glob("unet/*.safetensors")) or any(folder.glob("*.safetensors")):
            break
    return folder


def _check_network(folder: Path, of: str) -> None:
    """Check that one network is complete and stored as safetensors."""
    from safetensors import SafetensorError, safe_open

    if not (folder / "config.json").is_file():
        raise InputError(
            f"The weights {of} have no {folder.name}/config.json; download the folder again."
        )
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        pickles = [file.name for file in sorted(folder.iterdir()) if file.suffix in _PICKLES]
        if pickles:
            raise InputError(
                f"The weights {of} contain {folder.name}/{pickles[0]} but no .safetensors file. "
                "A pickle can run any program, so it is not opened. Download the safetensors of "
                "the model, or write them with save_pretrained(..., safe_serialization=True)."
            )
        raise InputError(
            f"The weights {of} have no {folder.name}/*.safetensors; download the folder again."
        )
    for file in files:
        try:
            with safe_open(file, framework="np") as whole:
                whole.keys()
        except (SafetensorError, OSError) as error:
            raise InputError(
                f"{file} is damaged or incomplete ({error}); download it again."
            ) from error


def _fingerprint(folders: list[Path]) -> str:
    """Return a hash of sampled blocks of the files."""
    digest = hashlib.sha256()
    for folder in folders:
        for file in sorted([*folder.glob("*.safetensors"), *folder.glob("config.json")]):
            size = file.stat().st_size
            digest.update(f"{folder.name}/{file.name}:{size}\n".encode())
            with file.open("rb") as content:
                for i in range(_SAMPLES if size > _SAMPLE else 1):
                    content.seek(i * max(size - _SAMPLE, 0) // (_SAMPLES - 1))
                    digest.update(content.read(_SAMPLE))
    return f"files:{digest.hexdigest()[:16]}"


def _read_index(folder: Path) -> dict[str, object]:
    """Read ``model_index.json``."""
    path = folder / "model_index.json"
    if path.is_file():
        return _read_json(path)
    for file in folder.iterdir():
        if file.suffix in (".safetensors", ".ckpt"):
            raise InputError(_single_file(file))
    raise InputError(
        f"{folder} has no model_index.json, so it is not a folder of diffusers weights; "
        f"pass a folder written by save_pretrained, or a Hub id such as {_EXAMPLE}."
    )


def _read_json(path: Path) -> dict[str, object]:
    """Read a JSON object."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read ({error}); download the weights again.") from error
    if not isinstance(found, dict):
        raise InputError(f"{path} contains no JSON object; download the weights again.")
    return found


def _family(index: dict[str, Any], name: str) -> str:
    """Return the family of a model; raise InputError if it contains program code."""
    parts = {part for part, what in index.items() if isinstance(what, list) and any(what)}
    kind = index.get("_class_name", "unknown")
    # Old versions of diffusers import any module that the index names, even from the folder.
    foreign = [part for part in sorted(parts) if index[part][0] not in _LIBRARIES]
    if not isinstance(kind, str):
        foreign.insert(0, "the pipeline")
    if foreign:
        raise InputError(
            f"The weights {name} contain program code for {one_line(foreign[0])[:80]} and were "
            "not loaded. Use a plain Stable Diffusion 1.5 or XL model."
        )
    if not {"unet", "vae", "text_encoder"} <= parts:
        raise InputError(
            f"The weights {name} are a {one_line(kind)[:80]}, which is not supported; "
            f"use a model of {SD15} or {SDXL}, such as {_EXAMPLE}."
        )
    return SDXL if "text_encoder_2" in parts else SD15


def _single_file(path: Path) -> str:
    return (
        f"{path} is a checkpoint in one file; convert it to a folder with diffusers: "
        f"StableDiffusionPipeline.from_single_file({str(path)!r}).save_pretrained('my-weights'), "
        "and pass that folder."
    )
