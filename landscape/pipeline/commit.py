"""Replace the version of an atlas by a new one, so that readers always see one whole version.

A build of a finished atlas works in the folder ``.next`` of the atlas, which begins with hard links
to the current files. A commit then has three steps:

1. ``.next`` is renamed to ``.ready``. From now on, readers find the new version in ``.ready``.
2. The files of ``.ready`` are linked to their places in the atlas, the manifest last.
3. ``.ready`` is removed. From now on, readers find the new version in the atlas.

The first step is atomic. If a process is stopped before it, the atlas has its old version, and the
next build resumes in ``.next``. If a process is stopped after it, the atlas has its new version,
and the next build completes the other steps. `landscape.store.manifest.current_version` is the
reading side.
"""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
from pathlib import Path

from landscape._io import BY_USER, link_file, report_full_disk, write_bytes
from landscape.errors import AtlasError
from landscape.store.manifest import (
    FORMAT_VERSION,
    MANIFEST_NAME,
    READY,
    Manifest,
    manifest_bytes,
    now,
    read_manifest_file,
)

NEXT = ".next"
_GROWING = ".next.new"  # becomes ".next" when it has links to all files
_REMOVED = ".removed"  # suffix of a folder that is being removed


def write_manifest(folder: Path, manifest: Manifest, *, is_changed: bool = True) -> Manifest:
    """Write ``manifest.json`` atomically, with the time and the version of the package."""
    from landscape import __version__

    if is_changed:
        manifest = dataclasses.replace(
            manifest, updated=now(), package_version=__version__, format_version=FORMAT_VERSION
        )
    write_bytes(folder / MANIFEST_NAME, manifest_bytes(manifest))
    return manifest


def begin_version(folder: Path, manifest: Manifest) -> Manifest:
    """Fill ``.next`` with links to the files of a finished atlas, unless a build left it there.

    Return the manifest of ``.next``.
    """
    begun, growing = folder / NEXT, folder / _GROWING
    if not (begun / MANIFEST_NAME).is_file():
        discard(begun)
        if not growing.is_dir():
            discard(growing)
        with report_full_disk(growing):
            growing.mkdir(exist_ok=True)
            for name in manifest.files:
                if (folder / name).is_file():
                    link_file(folder / name, growing / name)
            write_manifest(growing, manifest, is_changed=False)
        growing.rename(begun)
    return read_manifest_file(begun / MANIFEST_NAME)


def commit(folder: Path) -> None:
    """Make the finished version in ``.next`` the version of the atlas."""
    (folder / NEXT).rename(folder / READY)
    finish_commit(folder)


def finish_commit(folder: Path) -> None:
    """Complete a commit, also one that was interrupted. Do nothing if there is none."""
    for name in (NEXT, _GROWING, READY):
        shutil.rmtree(folder / f"{name}{_REMOVED}", ignore_errors=True)
    ready = folder / READY
    if not (ready / MANIFEST_NAME).is_file():
        discard(ready)
        return
    manifest = read_manifest_file(ready / MANIFEST_NAME)
    with report_full_disk(folder):
        for name in manifest.files:
            link_file(ready / name, folder / name)
        for name in _outdated(folder, manifest):
            (folder / name).unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # the folder still contains files
                (folder / name).parent.rmdir()
        link_file(ready / MANIFEST_NAME, folder / MANIFEST_NAME)
    discard(ready)


def discard_version(folder: Path) -> None:
    """Remove what a build left of a version that is not complete."""
    for name in (NEXT, _GROWING):
        discard(folder / name)


def discard(folder: Path) -> None:
    """Remove a folder. A process that is stopped meanwhile leaves no incomplete folder."""
    if folder.is_file():
        folder.unlink()
    elif folder.exists():
        removed = folder.with_name(f"{folder.name}{_REMOVED}")
        shutil.rmtree(removed, ignore_errors=True)
        folder.rename(removed)
        shutil.rmtree(removed, ignore_errors=True)


def _outdated(folder: Path, manifest: Manifest) -> set[str]:
    """Return the files that the new version does not have, in the folders of both versions."""
    names = set(manifest.files)
    with contextlib.suppress(AtlasError, FileNotFoundError):  # the user changed the old manifest
        names |= set(read_manifest_file(folder / MANIFEST_NAME).files)
    for parent in {name.rpartition("/")[0] for name in names} - {""}:
        names |= {f"{parent}/{path.name}" for path in (folder / parent).glob("*")}
    return {name for name in names if (folder / name).is_file()} - {*manifest.files, *BY_USER}
