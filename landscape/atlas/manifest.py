"""The manifest of an atlas: what every stage read, was told, took and wrote."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from landscape.atlas.storage import write_bytes
from landscape.atlas.wellformed import check_manifest
from landscape.errors import AtlasError

FORMAT_VERSION = 1
MANIFEST_NAME = "manifest.json"
TABLES = ("papers.parquet", "embeddings", "words", "word_counts", "map.parquet")
"""Folders with one file a part, rows in the same order in each."""
LAYERS = ("uat.parquet", "missions.parquet", "reviews.parquet")
"""Folders with one file a part, and any number of rows a paper."""


# What comes of reading something else than a manifest; nesting without end is a RecursionError.
_MALFORMED = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True)
class Output:
    """One file that a stage wrote.

    Attributes
    ----------
    sha256 : str
        Checksum of the whole file.
    bytes : int
        Its size.
    """

    sha256: str
    bytes: int


@dataclass(frozen=True)
class Part:
    """One source of papers: a file that was read, and its rows in every per-paper table.

    Attributes
    ----------
    name : str
        Name of the part's files, without ending.
    rows : int
        Papers kept in this part.
    source : str
        Name of the source as it stands in the ``source`` column.
    file : str
        Name of the file that was read.
    sha256 : str
        Its checksum.
    bytes : int
        Its size.
    modified : int
        Its time of modification in nanoseconds, so that an unchanged file is not read again.
    read, merged, rejected : int
        Records read; merged into another paper; rejected. ``read = rows + merged + rejected``.
    """

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
    """One finished stage of a build.

    Attributes
    ----------
    fingerprint : str
        Hash of `version`, `parameters` and `inputs`: the stage runs again when it changes.
    version : int
        Version of the stage's own code.
    parameters : dict
        What it was told.
    inputs : dict of str to str
        Digests of what it read.
    rows : int
        Papers, or topics, that it worked on.
    seconds : float
        Wall-clock time.
    peak_memory_mb : float
        Largest resident memory of this process and its workers, in megabytes: an upper bound.
    finished : str
        When, in UTC.
    outputs : dict of str to Output
        Files written, by path relative to the atlas.
    products : dict of str to str
        Digests of what later stages read of it.
    model : dict or None
        Name, checksum and dimension of the model used, if any.
    details : dict
        Numbers and names worth keeping, such as the counts of papers.
    """

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
    """Everything that is known about an atlas apart from its tables.

    Attributes
    ----------
    format_version : int
        Version of the folder's layout.
    package_version : str
        Version of Landscape that wrote it.
    title : str
        Name for people, for captions.
    complete : bool
        Whether the last build came to its end.
    updated : str
        When the manifest was last written, in UTC.
    parts : tuple of Part
        The sources, in the order of the rows of the whole atlas.
    stages : dict of str to StageRecord
        Finished stages, in the order in which data flows.

    Examples
    --------
    >>> manifest = Manifest(title="Galaxies")
    >>> manifest.complete, manifest.n_papers
    (False, 0)
    """

    format_version: int = FORMAT_VERSION
    package_version: str = ""
    title: str = ""
    complete: bool = False
    updated: str = ""
    parts: tuple[Part, ...] = ()
    stages: dict[str, StageRecord] = field(default_factory=dict)

    @property
    def n_papers(self) -> int:
        """Papers in the atlas."""
        return sum(part.rows for part in self.parts)

    @property
    def files(self) -> dict[str, Output]:
        """Every file of the atlas as its last writer left it, by relative path."""
        return {path: out for stage in self.stages.values() for path, out in stage.outputs.items()}

    def without(self, *names: str) -> Manifest:
        """Forget stages that are about to run again; the atlas is unfinished from here on."""
        kept = {name: record for name, record in self.stages.items() if name not in names}
        return dataclasses.replace(self, stages=kept, complete=False)


def digest(value: Any) -> str:
    """Short, stable hash of a JSON value.

    Parameters
    ----------
    value
        Anything that ``json`` can write; the order of keys does not matter.

    Returns
    -------
    str
        32 hexadecimal digits.

    Examples
    --------
    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def write_manifest(folder: Path, manifest: Manifest) -> Manifest:
    """Write ``manifest.json`` atomically, with a checksum of its own content inside.

    Parameters
    ----------
    folder : pathlib.Path
        The atlas.
    manifest : Manifest
        What to write; the time and package version are brought up to date.

    Returns
    -------
    Manifest
        As written.

    Raises
    ------
    DiskFullError
        If the disk has no room left.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> written = write_manifest(folder, Manifest(title="Galaxies"))
    >>> read_manifest(folder) == written
    True
    """
    from landscape import __version__

    written = dataclasses.replace(
        manifest, updated=now(), package_version=__version__, format_version=FORMAT_VERSION
    )
    write_bytes(folder / MANIFEST_NAME, _serialise(written))
    return written


def read_manifest(folder: Path) -> Manifest:
    """Read and check ``manifest.json``.

    Parameters
    ----------
    folder : pathlib.Path
        The atlas.

    Returns
    -------
    Manifest

    Raises
    ------
    AtlasError
        If the folder has no manifest, or one that is damaged or of a newer format.
    """
    path = folder / MANIFEST_NAME
    if not folder.exists():
        raise AtlasError(
            f"There is no atlas {folder}; make one with: landscape build FILE --out {folder}"
        )
    if not folder.is_dir():
        raise AtlasError(f"{folder} is a file, not an atlas; give the folder that a build wrote.")
    if not path.is_file():
        raise AtlasError(f"{folder} is not an atlas: it holds no {MANIFEST_NAME}.")
    content = path.read_bytes()
    try:
        raw = json.loads(content)
        version = raw["format_version"]
    except _MALFORMED as error:
        raise AtlasError(_damaged(path, str(error))) from error
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise AtlasError(
            f"{folder} has atlas format {version!r}; this version of Landscape reads formats up "
            f"to {FORMAT_VERSION}: install a newer Landscape."
        )
    try:
        manifest = _parse(raw)
        check_manifest(manifest)
        unchanged = content == _serialise(manifest)
    except _MALFORMED as error:
        raise AtlasError(_damaged(path, str(error))) from error
    if not unchanged:
        raise AtlasError(_damaged(path, "it differs from the checksum inside"))
    return manifest


def now() -> str:
    """Return the present time in UTC, to the second, in ISO 8601.

    Examples
    --------
    >>> now().endswith("Z")
    True
    """
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _serialise(manifest: Manifest) -> bytes:
    """JSON with the checksum of all the rest as its last entry: one right spelling per content."""
    body = dataclasses.asdict(manifest)
    body["checksum"] = hashlib.sha256(_as_json(body)).hexdigest()
    return _as_json(body)


def _as_json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def _parse(raw: Mapping[str, Any]) -> Manifest:
    stages = {
        name: StageRecord(
            **{
                **record,
                "outputs": {path: Output(**out) for path, out in record["outputs"].items()},
            }
        )
        for name, record in raw["stages"].items()
    }
    known = {key: value for key, value in raw.items() if key != "checksum"}
    parts = tuple(Part(**part) for part in raw["parts"])
    return Manifest(**{**known, "parts": parts, "stages": stages})


def _damaged(path: Path, why: str) -> str:
    return (
        f"{path} is damaged ({why}): bring it back from a copy, or build the atlas again in a "
        "new folder."
    )
