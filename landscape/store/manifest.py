"""Read, write and validate the manifest of an atlas."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any

from landscape._io import write_bytes
from landscape.errors import AtlasError

_PART_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


DETAILS: dict[str, dict[str, Any]] = {
    "ingest": {
        "sources": dict[str, int],
        "first_date": str | None,
        "last_date": str | None,
        "generated": int,
        "read": int,
        "merged": int,
        "rejected": int,
    },
    "search": {"exact": bool, "n_probe": int | None},
}
"""Types of the details that are read for every atlas, by stage."""


def check_manifest(manifest: Manifest) -> None:
    """Raise ValueError or TypeError for an invalid manifest."""
    _check(manifest, type(manifest), "manifest")
    if manifest.n_papers >= 2**32:
        raise ValueError(f"it has {manifest.n_papers} papers")
    names = [part.name for part in manifest.parts]
    for name in names:
        if not _PART_NAME.fullmatch(name) or names.count(name) > 1:
            raise ValueError(f"the part name {name!r} is invalid or occurs twice")
    ingest = manifest.stages.get("ingest")
    ready = ingest.details.get("ready", {}) if ingest else {}
    _check(ready, dict[str, dict[str, str]], "ready")
    for stage, kinds in DETAILS.items():
        if stage in manifest.stages:
            details = manifest.stages[stage].details
            for name in kinds.keys() & details.keys():
                _check(details[name], kinds[name], name)
    for path in [*manifest.files, *chain.from_iterable(one.values() for one in ready.values())]:
        parts = PurePosixPath(path).parts
        if not parts or path.startswith("/") or ".." in parts or re.search(r"[\\:\0]", path):
            raise ValueError(f"the file path {path!r} is invalid")


def _check(value: Any, kind: Any, name: str) -> None:
    """Check a value against its declared type, recursively."""
    origin, inner = typing.get_origin(kind) or kind, typing.get_args(kind)
    if origin is Any:
        return
    if origin is types.UnionType:  # a union of a type and None
        if value is not None:
            _check(value, inner[0], name)
        return
    # JSON does not distinguish 1 and 1.0. In Python bool is a subclass of int, but not a number.
    allowed: Any = (int, float) if origin is float else origin
    if not isinstance(value, allowed) or (isinstance(value, bool) and origin is not bool):
        raise ValueError(f"{name} has the invalid value {value!r:.50}")
    if origin is int and not 0 <= value < 2**63:
        raise ValueError(f"{name} has the value {value}, which is out of range")
    if origin is dict:
        for key, one in value.items():
            _check(key, inner[0], name)
            _check(one, inner[1], key)
    elif origin is tuple:
        for one in value:
            _check(one, inner[0], name)
    elif dataclasses.is_dataclass(origin):
        for field, declared in typing.get_type_hints(origin).items():
            _check(getattr(value, field), declared, field)


_MAX_SIZE = 64 * 2**20  # bytes
FORMAT_VERSION = 1
MANIFEST_NAME = "manifest.json"
TABLES = ("papers.parquet", "embeddings", "words", "word_counts", "map.parquet")
"""Folders with one file per part and one row per paper; all folders use the same row order."""
LAYERS = ("uat.parquet", "missions.parquet", "reviews.parquet")
"""Folders with one file per part, in which a paper can have any number of rows."""


# Errors raised when a manifest is malformed; deeply nested JSON raises RecursionError.
_MALFORMED = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True)
class Output:
    """Size and checksum of a file written by a stage."""

    sha256: str
    bytes: int


@dataclass(frozen=True)
class Part:
    """One input file and its number of rows in the per-paper tables."""

    name: str
    rows: int
    source: str
    file: str
    sha256: str
    bytes: int
    modified: int
    read: int
    merged: int
    rejected: int


@dataclass(frozen=True)
class StageRecord:
    """One finished stage of a build."""

    fingerprint: str
    version: int
    parameters: dict[str, Any]
    inputs: dict[str, str]
    rows: int
    seconds: float
    peak_memory_mb: float
    finished: str
    outputs: dict[str, Output]
    products: dict[str, str] = field(default_factory=dict)
    model: dict[str, Any] | None = None
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Manifest:
    """Description of an atlas: stages, parts and versions."""

    format_version: int = FORMAT_VERSION
    package_version: str = ""
    title: str = ""
    complete: bool = False
    updated: str = ""
    parts: tuple[Part, ...] = ()
    stages: dict[str, StageRecord] = field(default_factory=dict)

    @property
    def n_papers(self) -> int:
        """Number of papers."""
        return sum(part.rows for part in self.parts)

    @property
    def files(self) -> dict[str, Output]:
        """Size and checksum of each file of the atlas, by relative path."""
        return {path: out for stage in self.stages.values() for path, out in stage.outputs.items()}

    def part_files(self, folder: Path, table: str, ending: str = ".parquet") -> list[Path]:
        """Return the files of a per-paper table, in the order of the rows."""
        return [folder / table / f"{part.name}{ending}" for part in self.parts]

    def without(self, *names: str) -> Manifest:
        """Return a copy of the manifest without the given stages, marked as unfinished."""
        kept = {name: record for name, record in self.stages.items() if name not in names}
        return dataclasses.replace(self, stages=kept, complete=False)


def digest(value: Any) -> str:
    """Return a short hash of a JSON value; the order of the keys has no effect."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def write_manifest(folder: Path, manifest: Manifest) -> Manifest:
    """Write ``manifest.json`` atomically, including a checksum of its content."""
    from landscape import __version__

    written = dataclasses.replace(
        manifest, updated=now(), package_version=__version__, format_version=FORMAT_VERSION
    )
    write_bytes(folder / MANIFEST_NAME, _serialise(written))
    return written


def read_manifest(folder: Path) -> Manifest:
    """Read and check ``manifest.json``."""
    path = folder / MANIFEST_NAME
    if not folder.exists():
        raise AtlasError(
            f"There is no atlas {folder}; build one with: landscape build FILE --out {folder}"
        )
    if not folder.is_dir():
        raise AtlasError(f"{folder} is a file, not an atlas; pass the folder that a build wrote.")
    if not path.is_file():
        raise AtlasError(
            f"{folder} is not an atlas: it has no {MANIFEST_NAME}; pass the folder that a build "
            "wrote."
        )
    if path.stat().st_size > _MAX_SIZE:
        raise AtlasError(f"{path} has more than {_MAX_SIZE >> 20} MB, so it is not a manifest.")
    content = path.read_bytes()
    try:
        raw = json.loads(content)
        version = raw["format_version"]
        if isinstance(version, int) and version <= FORMAT_VERSION:
            manifest = _parse(raw)
            check_manifest(manifest)
            if content != _serialise(manifest):
                raise ValueError("its content does not match its checksum")
            return manifest
    except _MALFORMED as error:
        raise AtlasError(
            f"{path} is damaged ({error}): restore it from a copy, or build the atlas again in a "
            "new folder."
        ) from error
    raise AtlasError(
        f"{folder} has atlas format {version!r}; this version of Landscape reads formats up "
        f"to {FORMAT_VERSION}, so install a newer Landscape."
    )


def now() -> str:
    """Return the current UTC time in ISO 8601 format, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _serialise(manifest: Manifest) -> bytes:
    """Return JSON whose last entry is the checksum of the other entries."""
    body = dataclasses.asdict(manifest)
    body["checksum"] = hashlib.sha256(_as_json(body)).hexdigest()
    return _as_json(body)


def _as_json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def _parse(raw: Mapping[str, Any]) -> Manifest:
    stages = {}
    for name, record in raw["stages"].items():
        outputs = {path: Output(**out) for path, out in record["outputs"].items()}
        stages[name] = StageRecord(**{**record, "outputs": outputs})
    known = {key: value for key, value in raw.items() if key != "checksum"}
    parts = tuple(Part(**part) for part in raw["parts"])
    return Manifest(**{**known, "parts": parts, "stages": stages})
