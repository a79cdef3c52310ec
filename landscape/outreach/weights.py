"""Weights of a diffusion model: found on the Hub or in a folder, and looked at before use."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape.errors import InputError, require
from landscape.figures._labels import one_line
from landscape.outputs import is_file, is_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

SD15, SDXL = "Stable Diffusion 1.5", "Stable Diffusion XL"

_EXAMPLE = "stable-diffusion-v1-5/stable-diffusion-v1-5"
_PICKLES = (".bin", ".ckpt", ".pt", ".pth", ".pkl")
_MODELS: dict[str, tuple[str, ...]] = {SD15: ("unet", "vae", "text_encoder")}
_MODELS[SDXL] = (*_MODELS[SD15], "text_encoder_2")
_SAMPLES, _SAMPLE = 64, 65_536  # bytes of each file that enter the fingerprint


@dataclass(frozen=True)
class Weights:
    """A model that is ready to be loaded from disk.

    Parameters
    ----------
    name : str
        As the user gave it: a folder, or a name on the Hub.
    folder : pathlib.Path
        Where it lies now.
    family : str
        ``"Stable Diffusion 1.5"`` or ``"Stable Diffusion XL"``.
    revision : str
        Commit on the Hub; for a folder its fingerprint.
    fingerprint : str
        Name of the weights by their content, ``"files:..."``.
    variant : str or None
        ``"fp16"`` where there is only half precision.
    controls : mapping of str to pathlib.Path
        Folder of the ControlNet for each of ``"depth"`` and ``"coast"`` that there is.
    control_names : mapping of str to str
        What each of them was called, with its revision.
    """

    name: str
    folder: Path
    family: str
    revision: str
    fingerprint: str
    variant: str | None = None
    controls: Mapping[str, Path] = field(default_factory=dict)
    control_names: Mapping[str, str] = field(default_factory=dict)


def open_folder(folder: Path, *, name: str = "", revision: str = "") -> Weights:
    """Look at a folder of weights without loading them.

    Parameters
    ----------
    folder : pathlib.Path
        As ``save_pretrained`` of diffusers writes it, with a ``model_index.json``.
    name, revision : str, optional
        What the metadata shall call it.

    Returns
    -------
    Weights

    Raises
    ------
    InputError
        If it holds no such model, another kind of model, only pickles, or a broken file.

    Examples
    --------
    >>> open_folder(Path("no-such-folder"))
    Traceback (most recent call last):
    landscape.errors.InputError: There are no weights at no-such-folder: ...
    """
    name = name or str(folder)
    if not is_folder(folder):
        raise InputError(_not_a_folder(folder))
    index = _index(folder)
    family = _family(index, name)
    for part in _MODELS[family]:
        check_part(folder / part, of=name)
    for part in (*_MODELS[family], "scheduler", *(p for p in _TOKENIZERS if p in index)):
        if not (folder / part).is_dir():
            raise InputError(f"The weights {name} lack their {part}/: fetch the folder again.")
    _check_unet(folder / "unet", name)
    only_half = not [file for file in (folder / "unet").glob("*.safetensors") if _full(file)]
    content = fingerprint([folder / part for part in _MODELS[family]])
    return Weights(
        name=name,
        folder=folder,
        family=family,
        revision=revision or content,
        fingerprint=content,
        variant="fp16" if only_half else None,
    )


def check_part(folder: Path, *, of: str) -> None:
    """Check that one network of a model is there, whole, and no pickle.

    Raises
    ------
    InputError
    """
    from safetensors import SafetensorError, safe_open

    if not (folder / "config.json").is_file():
        raise InputError(
            f"The weights {of} lack {folder.name}/config.json: fetch the folder again."
        )
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        pickles = [file.name for file in sorted(folder.iterdir()) if file.suffix in _PICKLES]
        if pickles:
            raise InputError(
                f"The weights {of} hold {folder.name}/{pickles[0]} but no .safetensors file, and "
                "only those are opened: a pickle can run any program. Fetch the safetensors of the "
                "same model, or write it anew with save_pretrained(..., safe_serialization=True)."
            )
        raise InputError(f"The weights {of} have no {folder.name}/*.safetensors: fetch it again.")
    for file in files:
        try:
            with safe_open(file, framework="np") as whole:
                whole.keys()
        except (SafetensorError, OSError) as error:
            raise InputError(
                f"{file} is damaged or only partly downloaded ({error}): fetch it again."
            ) from error


def check_control(folder: Path, weights: Weights, kind: str) -> None:
    """Check that a ControlNet is whole and fits the model.

    Raises
    ------
    InputError
    """
    if not is_folder(folder):
        raise InputError(f"There is no ControlNet for {kind} at {folder}: give its folder.")
    check_part(folder, of=f"for {kind} in {folder}")
    its, ours = (
        _json(where / "config.json").get("cross_attention_dim")
        for where in (folder, weights.folder / "unet")
    )
    if its != ours:
        raise InputError(
            f"The ControlNet for {kind} in {folder} was made for another family of models "
            f"(width {its}, while {weights.name} has {ours}): use one for {weights.family}."
        )


def fingerprint(folders: list[Path]) -> str:
    """Name weights by their content, from samples of it: a model has gigabytes.

    Parameters
    ----------
    folders : list of pathlib.Path
        Their ``.safetensors`` and ``config.json`` count, with 64 blocks of each file.

    Returns
    -------
    str
        ``"files:"`` and 16 hexadecimal digits.

    Examples
    --------
    >>> fingerprint([])
    'files:e3b0c44298fc1c14'
    """
    digest = hashlib.sha256()
    for folder in folders:
        for file in sorted([*folder.glob("*.safetensors"), *folder.glob("config.json")]):
            size = file.stat().st_size
            digest.update(f"{folder.name}/{file.name}:{size}\n".encode())
            with file.open("rb") as content:
                for i in range(_SAMPLES):
                    content.seek(i * max(size - _SAMPLE, 0) // (_SAMPLES - 1))
                    digest.update(content.read(_SAMPLE))
                    if size <= _SAMPLE:
                        break
    return f"files:{digest.hexdigest()[:16]}"


def need_diffusers() -> Any:
    """Import diffusers, or say how to install it.

    Raises
    ------
    MissingExtraError
    """
    return require("diffusers", "outreach")


def _index(folder: Path) -> dict[str, Any]:
    """Read ``model_index.json``."""
    path = folder / "model_index.json"
    if not path.is_file():
        single = [
            file.name for file in folder.iterdir() if file.suffix in (".safetensors", ".ckpt")
        ]
        if single:
            raise InputError(_single_file(folder / single[0]))
        raise InputError(
            f"{folder} has no model_index.json, so it is no folder of diffusers weights; "
            f"give one as save_pretrained writes it, or a name on the Hub such as {_EXAMPLE}."
        )
    return _json(path)


def _json(path: Path) -> dict[str, Any]:
    """Read an object from a JSON file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read ({error}): fetch the weights again.") from error
    if not isinstance(found, dict):
        raise InputError(f"{path} holds no JSON object: fetch the weights again.")
    return found


_TOKENIZERS = ("tokenizer", "tokenizer_2")
_LIBRARIES = ("diffusers", "transformers", "stable_diffusion", None)  # the third: safety checker


def _family(index: dict[str, Any], name: str) -> str:
    """Tell the family from the parts of a model."""
    parts = {part for part, what in index.items() if isinstance(what, list) and any(what)}
    kind = index.get("_class_name", "unknown")
    # Older releases of diffusers import whatever module a part names, also one in the folder.
    foreign = [part for part in sorted(parts) if index[part][0] not in _LIBRARIES]
    if not isinstance(kind, str):
        foreign.insert(0, "the pipeline")
    if foreign:
        raise InputError(
            f"The weights {name} bring program code of their own for {one_line(foreign[0])[:80]}, "
            "which is not run; use a plain Stable Diffusion 1.5 or XL model."
        )
    if not {"unet", "vae", "text_encoder"} <= parts:
        raise InputError(
            f"The weights {name} are a {one_line(kind)[:80]}, which is not supported; "
            f"use a model of {SD15} or {SDXL}, such as {_EXAMPLE}."
        )
    return SDXL if "text_encoder_2" in parts else SD15


def _check_unet(folder: Path, name: str) -> None:
    """Refuse models for inpainting and the like, whose input has more channels."""
    config = _json(folder / "config.json")
    if config.get("in_channels", 4) != config.get("out_channels", 4):
        raise InputError(
            f"The weights {name} are made for inpainting or upscaling "
            f"({config.get('in_channels')} input channels); use the plain model of the family."
        )


def _full(file: Path) -> bool:
    """Whether a file of weights is no variant: ``model.safetensors``, not ``model.fp16...``."""
    return ".fp16" not in file.name and ".non_ema" not in file.name


def _not_a_folder(path: Path) -> str:
    if is_file(path):
        return _single_file(path)
    return (
        f"There are no weights at {path}: give a folder of diffusers weights, "
        f"or a name on the Hub such as {_EXAMPLE}."
    )


def _single_file(path: Path) -> str:
    return (
        f"{path} is a checkpoint in one file; make a folder of it once with diffusers: "
        f"StableDiffusionPipeline.from_single_file({str(path)!r}).save_pretrained('my-weights'), "
        "and give that folder."
    )
