"""Read and validate the manifest of an atlas, and compare its files with it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from landscape._io import cache_folder, sha256_of, write_bytes
from landscape.errors import AtlasError

if TYPE_CHECKING:
    from pydantic import TypeAdapter


Count = Annotated[int, Field(ge=0, lt=2**63)]


class IngestDetails(TypedDict, total=False):
    """Details of the stage ``ingest`` that are read for every atlas."""

    sources: dict[str, Count]
    first_date: str | None
    last_date: str | None
    generated: Count
    read: Count
    merged: Count
    rejected: Count


class SearchDetails(TypedDict, total=False):
    """Details of the stage ``search`` that are read for every atlas."""

    exact: bool
    n_probe: Count | None


_DETAILS = {"ingest": IngestDetails, "search": SearchDetails}
INGEST_DETAILS = tuple(IngestDetails.__annotations__)
_PART_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_TIME, _VERSION = r"(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)?", r"[A-Za-z0-9.+!_-]{0,60}"

_MAX_SIZE = 64 * 2**20  # bytes
FORMAT_VERSION = 1  # version of the format of an atlas
MANIFEST_NAME = "manifest.json"
READY = ".ready"
"""Folder of the new version while a commit replaces the files of an atlas."""
TABLES = ("papers.parquet", "keys.parquet", "embeddings", "words", "word_counts", "map.parquet")
"""Folders with one file per part and one row per paper; all folders use the same row order."""
LAYERS = (
    "uat.parquet",
    "missions.parquet",
    "reviews.parquet",
    "sections.parquet",
    "references.parquet",
    "full_texts.parquet",
    "software.parquet",
    "objects.parquet",
    "values.parquet",
)
"""Folders with one file per part, in which a paper can have any number of rows."""


@dataclass(frozen=True)
class Output:
    """Size and checksum of a file written by a stage."""

    sha256: str
    bytes: Count


@dataclass(frozen=True)
class Part:
    """One input file and its number of rows in the per-paper tables."""

    name: str
    rows: Count
    source: str
    file: str
    sha256: str
    bytes: Count
    modified: Count
    read: Count
    merged: Count
    rejected: Count


@dataclass(frozen=True)
class StageRecord:
    """One finished stage of a build."""

    fingerprint: str
    version: Count
    parameters: dict[str, Any]
    inputs: dict[str, str]
    rows: Count
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

    format_version: Count = FORMAT_VERSION
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


def current_version(folder: Path) -> tuple[Path, int]:
    """Return where the files of the current version of an atlas are, and when it was written.

    The files are in `folder`, or in ``.ready`` during a commit; see `landscape.pipeline.commit`.
    The time is in ns; it is 0 if there is no manifest.
    """
    for place in (folder / READY, folder):
        with suppress(OSError):
            state = (place / MANIFEST_NAME).stat()
            if stat.S_ISREG(state.st_mode):
                return place, state.st_mtime_ns
    return folder, 0


def read_manifest(folder: Path) -> Manifest:
    """Read and check the manifest of the current version of an atlas."""
    if not folder.exists():
        raise AtlasError(
            f"There is no atlas {folder}; build one with: landscape build FILE --out {folder}"
        )
    if not folder.is_dir():
        raise AtlasError(f"{folder} is a file, not an atlas; pass the folder that a build wrote.")
    try:
        return read_manifest_file(folder / READY / MANIFEST_NAME)
    except FileNotFoundError:  # this is the rule, except during a commit
        pass
    try:
        return read_manifest_file(folder / MANIFEST_NAME)
    except FileNotFoundError:
        raise AtlasError(
            f"{folder} is not an atlas: it has no {MANIFEST_NAME}; pass the folder that a build "
            "wrote."
        ) from None


def read_manifest_file(path: Path) -> Manifest:
    """Read and check one ``manifest.json``; raise FileNotFoundError if it is not a file."""
    if not path.is_file():
        raise FileNotFoundError(path)
    if path.stat().st_size > _MAX_SIZE:
        raise AtlasError(f"{path} has more than {_MAX_SIZE >> 20} MB, so it is not a manifest.")
    content = path.read_bytes()
    try:
        version = json.loads(content)["format_version"]
        if isinstance(version, int) and version <= FORMAT_VERSION:
            manifest = _parse(content)
            if content != manifest_bytes(manifest):
                raise ValueError("its content does not match its checksum")
            return manifest
    except (
        ValueError,
        KeyError,
        TypeError,
        RecursionError,
    ) as error:  # deeply nested JSON recurses
        raise AtlasError(
            f"{path} is damaged ({error}): restore it from a copy, or build the atlas again in a "
            "new folder."
        ) from error
    raise AtlasError(
        f"{path.parent} has atlas format {version!r}; this version of Landscape reads formats up "
        f"to {FORMAT_VERSION}, so install a newer Landscape."
    )


def now() -> str:
    """Return the current UTC time in ISO 8601 format, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def manifest_bytes(manifest: Manifest) -> bytes:
    """Return the JSON of ``manifest.json``. Its last entry is the checksum of the others."""
    body = dataclasses.asdict(manifest)
    body["checksum"] = hashlib.sha256(_as_json(body)).hexdigest()
    return _as_json(body)


def _as_json(value: object) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def _parse(content: bytes) -> Manifest:
    """Validate the types of a manifest, and the contents that the types do not exclude."""
    from pydantic import ValidationError

    try:
        manifest = _validator(Manifest).validate_json(content, strict=True)
        details = {name: record.details for name, record in manifest.stages.items()}
        for stage, kind in _DETAILS.items():
            _validator(kind).validate_python(details.get(stage, {}), strict=True)
        ready = _validator(dict[str, dict[str, str]]).validate_python(
            details.get("ingest", {}).get("ready", {}), strict=True
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(map(str, first["loc"])) or "manifest"
        raise ValueError(f"{name} has the invalid value {first['input']!r:.50}") from error
    if manifest.n_papers >= 2**32:
        raise ValueError(f"it has {manifest.n_papers} papers")
    for name, form in (("updated", _TIME), ("package_version", _VERSION)):
        if not re.fullmatch(form, value := getattr(manifest, name), re.ASCII):
            raise ValueError(f"{name} has the invalid value {value!r:.50}")
    names = [part.name for part in manifest.parts]
    for name in names:
        if not _PART_NAME.fullmatch(name) or names.count(name) > 1:
            raise ValueError(f"the part name {name!r} is invalid or occurs twice")
    for path in [*manifest.files, *chain.from_iterable(files.values() for files in ready.values())]:
        parts = PurePosixPath(path).parts
        if (
            not parts
            or str(PurePosixPath(path)) != path
            or path.startswith("/")
            or ".." in parts
            or re.search(r"[\\:\0]", path)
        ):
            raise ValueError(f"the file path {path!r} is invalid")
    return manifest


@cache
def _validator(kind: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


_LARGE = 8 * 2**20  # minimum bytes of a file with a stored result

_checked: dict[tuple[str, str], list[int]] = {}
"""Size, times and number of checked files on disk, by path and checksum."""


def compare_file(path: Path, output: Output) -> str:
    """Compare a file with its entry in the manifest. Return a difference as text, or ""."""
    try:
        size = path.stat().st_size
        if size != output.bytes:
            return f"{path} has {size:,} bytes instead of {output.bytes:,}."
        found = sha256_of(path)
    except FileNotFoundError:
        return f"{path} is missing."
    except OSError as error:
        return f"{path} cannot be read ({error.strerror})."
    if found != output.sha256:
        return (
            f"{path} was changed: its sha256 is {found[:12]}... instead of {output.sha256[:12]}..."
        )
    return ""


def check_once(path: Path, output: Output) -> str:
    """Compare a file on its first use. An unchanged file is not read again.

    The result for a large file is stored in the cache folder of the user, because a checksum of
    gigabytes takes seconds.
    """
    key = (str(path.resolve()), output.sha256)
    state = _state(path)
    if state is not None and _checked.get(key) == state:
        return ""
    stored = cache_folder("checked") / f"{sha256(repr(key).encode()).hexdigest()[:32]}.json"
    if output.bytes >= _LARGE and state is not None:
        with suppress(OSError, ValueError):
            if json.loads(stored.read_bytes()) == state:
                _checked[key] = state
                return ""
    if problem := compare_file(path, output):
        return problem
    if state is not None:
        _checked[key] = state
        if output.bytes >= _LARGE:
            with suppress(OSError):
                stored.parent.mkdir(parents=True, exist_ok=True)
                write_bytes(stored, json.dumps(state).encode())
    return ""


def _state(path: Path) -> list[int] | None:
    """Return numbers that change when a file is written. Programs cannot set the change time."""
    try:
        found = path.stat()
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]
