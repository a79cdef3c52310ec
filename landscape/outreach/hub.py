"""Where weights come from: a folder on disk, without any network, or a name on the Hub."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from landscape._io import at_home, is_file, is_folder
from landscape.errors import InputError, RemoteError
from landscape.outreach.controls import KINDS
from landscape.outreach.weights import (
    SD15,
    SDXL,
    Weights,
    check_control,
    fingerprint,
    need_diffusers,
    open_folder,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")

# The ControlNets that are fetched with a model from the Hub where none is named. All of them have
# safetensors; those for 1.5 in half precision only.
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

_PARTS = ("unet", "vae", "text_encoder", "text_encoder_2")
_SMALL_FILES = (
    "model_index.json",
    "scheduler/*.json",
    *(f"{part}/config.json" for part in _PARTS),
    *(f"tokenizer{n}/*.{kind}" for n in ("", "_2") for kind in ("json", "txt")),
)


def find_weights(
    weights: str | Path,
    *,
    revision: str | None = None,
    depth: str = "auto",
    coast: str = "auto",
    cache: Path | None = None,
) -> Weights:
    """Find a model and its ControlNets.

    Parameters
    ----------
    weights : str or path
        A folder on disk, which is used without any network, or a name on the Hub.
    revision : str, optional
        Branch, tag or commit on the Hub.
    depth, coast : str, default "auto"
        ControlNet for the heights and for the coasts: a folder, a name on the Hub, or ``"none"``.
        ``"auto"`` takes ``controlnet_depth/`` and ``controlnet_coast/`` inside a folder of
        weights, where they are, and the ones in `RECOMMENDED` with a model from the Hub.
    cache : path, optional
        Where files from the Hub are kept, if not where huggingface_hub keeps them.

    Returns
    -------
    Weights

    Raises
    ------
    InputError
        If the folder or the name is no use.
    RemoteError
        If the Hub cannot be reached, or does not have it, and it was never fetched before.
    MissingExtraError
        If diffusers is not installed.

    Examples
    --------
    >>> find_weights("what a name?")
    Traceback (most recent call last):
    landscape.errors.InputError: There are no weights at what a name?: ...
    """
    path = at_home(weights)
    local = is_folder(path) or is_file(path) or not _NAME.fullmatch(str(weights))
    if local:
        found = open_folder(path)
    else:
        need_diffusers()  # before gigabytes are fetched for it
        folder = _fetch(str(weights), revision, _SMALL_FILES, _PARTS, cache)
        found = open_folder(folder, name=str(weights), revision=folder.name)
    for kind, asked in zip(KINDS, (depth, coast), strict=True):
        found = _with_control(found, kind, asked, local=local, cache=cache)
    return found


def _with_control(
    weights: Weights, kind: str, asked: str, *, local: bool, cache: Path | None
) -> Weights:
    """Add one ControlNet, if there is to be one."""
    if asked == "none":
        return weights
    if asked == "auto":
        inside = weights.folder / f"controlnet_{kind}"
        if local and not inside.is_dir():
            return weights
        asked = str(inside) if local else RECOMMENDED[weights.family][kind]
    folder = at_home(asked)
    if is_folder(folder):
        name = f"{asked}@{fingerprint([folder])}"
    elif _NAME.fullmatch(asked):
        folder = _fetch(asked, None, ("config.json",), ("",), cache)
        name = f"{asked}@{folder.name}"
    else:
        raise InputError(f"There is no ControlNet for {kind} at {asked}: give its folder.")
    check_control(folder, weights, kind)
    return replace(
        weights,
        controls={**weights.controls, kind: folder},
        control_names={**weights.control_names, kind: name},
    )


def _fetch(
    name: str,
    revision: str | None,
    small: Sequence[str],
    parts: Sequence[str],
    cache: Path | None,
) -> Path:
    """Fetch the files that are needed and no others, and never a pickle.

    What was fetched before is used when the Hub cannot be reached.
    """
    from huggingface_hub import snapshot_download

    for variant in ("", ".fp16"):
        wanted = [
            f"{part}/{stem}{variant}{shard}.safetensors".lstrip("/")
            for part in parts
            for stem in ("model", "diffusion_pytorch_model")
            for shard in ("", "-?????-of-?????")
        ]
        wanted += [pattern.replace("-?????-of-?????.safetensors", ".safetensors.index*.json")
                   for pattern in wanted if "?????" in pattern]  # fmt: skip
        try:
            folder = Path(
                snapshot_download(
                    name, revision=revision, allow_patterns=[*small, *wanted], cache_dir=cache
                )
            )
        except Exception as error:
            # The client's own errors differ between its versions; all of them mean the same here.
            if not isinstance(error, (OSError, ValueError)) and "hub" not in type(error).__module__:
                raise
            at = f" at revision {revision}" if revision else ""
            reason = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
            raise RemoteError(
                f"The weights {name}{at} could not be fetched from the Hub: {reason[:300]} "
                "Fetch them where there is a network, and give their folder instead."
            ) from error
        if any(folder.glob("unet/*.safetensors")) or any(folder.glob("*.safetensors")):
            break
    return folder
