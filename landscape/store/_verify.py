"""Check an atlas against the checksums in its manifest."""

from __future__ import annotations

import os
from pathlib import Path

from landscape._io import sha256_of
from landscape.errors import AtlasError
from landscape.store._manifest import LAYERS, TABLES, Manifest, read_manifest
from landscape.store._tables import LABELS, read_labels


def verify(path: str | os.PathLike[str]) -> list[str]:
    """Compare every file of an atlas with its checksum."""
    folder = Path(path)
    manifest = read_manifest(folder)
    problems = [] if manifest.complete else [f"The build of {folder} is not finished."]
    problems += [
        problem
        for name, output in sorted(manifest.files.items())
        if (problem := _compare(folder / name, output.sha256, output.bytes))
    ]
    problems += _strangers(folder, manifest)
    try:
        read_labels(folder / LABELS)
    except AtlasError as error:
        problems.append(str(error))
    return problems


def _compare(path: Path, sha256: str, n_bytes: int) -> str:
    if not path.is_file():
        return f"{path} is missing."
    size = path.stat().st_size
    if size != n_bytes:
        return f"{path} has {size:,} bytes instead of {n_bytes:,}."
    try:
        found = sha256_of(path)
    except OSError as error:
        return f"{path} cannot be read ({error.strerror})."
    if found != sha256:
        return f"{path} was changed: its sha256 is {found[:12]}... instead of {sha256[:12]}..."
    return ""


def _strangers(folder: Path, manifest: Manifest) -> list[str]:
    """Files that a reader of a folder of parts would take for papers of this atlas."""
    return [
        f"{path} does not belong to this atlas; remove it."
        for table in (*TABLES, *LAYERS)
        if (folder / table).is_dir()
        for path in sorted((folder / table).iterdir())
        if not path.name.startswith((".", "_")) and f"{table}/{path.name}" not in manifest.files
    ]
