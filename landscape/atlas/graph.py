"""Stages and what decides whether one runs: fingerprints of what it is told and what it reads."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from landscape.atlas.manifest import (
    Manifest,
    Output,
    Part,
    StageRecord,
    digest,
    now,
    write_manifest,
)
from landscape.atlas.options import BuildOptions
from landscape.atlas.storage import remove_leftovers, sha256_of, telling_of_a_full_disk
from landscape.atlas.usage import measured

WORK = ".work"


@dataclass(frozen=True)
class InputFile:
    """A source file as it is now.

    Attributes
    ----------
    path : pathlib.Path
        As the user gave it.
    sha256 : str
        Its checksum.
    bytes : int
        Its size.
    modified : int
        Its time of modification, in nanoseconds.
    """

    path: Path
    sha256: str
    bytes: int
    modified: int


def _nothing_to_begin() -> None:
    """Stand for the start of writing while no stage runs."""


@dataclass
class Context:
    """What a running build hands from stage to stage.

    Attributes
    ----------
    folder : pathlib.Path
        The atlas being built.
    options : BuildOptions
        What the user asked for.
    manifest : Manifest
        As it stands on the disk now.
    say : callable
        Takes one line for the user.
    inputs : list of InputFile
        The source files as they are now.
    makeshift : set of str
        Stages of this build whose result is less than was asked for.
    begin_writing : callable
        Has to be called before the running stage changes the atlas: until then the atlas that
        was there is whole, and says so.
    """

    folder: Path
    options: BuildOptions
    manifest: Manifest
    say: Callable[[str], None]
    inputs: list[InputFile]
    makeshift: set[str] = field(default_factory=set)
    begin_writing: Callable[[], None] = _nothing_to_begin

    def work(self, *names: str) -> Path:
        """Return the folder for unfinished pieces, below ``.work``; not made yet."""
        return self.folder.joinpath(WORK, *names)

    def product(self, stage: str, name: str) -> str:
        """Return the digest of one thing that a finished stage handed on."""
        return self.manifest.stages[stage].products[name]

    def part_files(self, table: str, ending: str = ".parquet") -> list[Path]:
        """Return the files of a per-paper table, in the order of the atlas's rows."""
        return [self.folder / table / f"{part.name}{ending}" for part in self.manifest.parts]


@dataclass(frozen=True)
class StageResult:
    """What a stage reports when it is done.

    Attributes
    ----------
    rows : int
        Papers, or topics, worked on.
    outputs : sequence of str
        Files written, relative to the atlas.
    products : dict of str to str
        Digests of what later stages read.
    model : dict, optional
        The model that was used.
    details : dict
        Worth keeping in the manifest.
    parts : tuple of Part, optional
        The atlas's sources, where the stage decides them.
    makeshift : bool, default False
        Whether the result is less than was asked for, because a server did not answer. It
        stands for now, and the next build tries again.
    """

    rows: int
    outputs: Sequence[str]
    products: dict[str, str] = field(default_factory=dict)
    model: dict[str, Any] | None = None
    details: dict[str, Any] = field(default_factory=dict)
    parts: tuple[Part, ...] | None = None
    makeshift: bool = False


@dataclass(frozen=True)
class Stage:
    """One step of the build.

    Attributes
    ----------
    name : str
        Its name in the manifest.
    version : int
        Raised whenever its code would give another result.
    parameters : callable
        What it is told, from the context; JSON values.
    inputs : callable
        Digests of what it reads, from the context.
    run : callable
        Does the work, resumably, and returns a StageResult.
    shares : str, optional
        A folder that this stage writes first and another one completes.
    completed_by : str, optional
        That other stage, which has to run again whenever this one did.
    unit : str, default "papers"
        What its rows are.
    checks_first : bool, default False
        Whether it may find that it cannot run at all, and so begins to write by itself.
    """

    name: str
    version: int
    parameters: Callable[[Context], dict[str, Any]]
    inputs: Callable[[Context], dict[str, str]]
    run: Callable[[Context], StageResult]
    shares: str = ""
    completed_by: str = ""
    unit: str = "papers"
    checks_first: bool = False


def is_fresh(stage: Stage, context: Context) -> bool:
    """Whether a stage's results on the disk are what it would write again.

    Parameters
    ----------
    stage : Stage
        Which.
    context : Context
        The build.

    Returns
    -------
    bool
        False if it never finished, was told something else, would read something else, or if
        one of its files is missing or has another size.
    """
    record = context.manifest.stages.get(stage.name)
    if record is None:
        return False
    if stage.name not in context.makeshift and (
        record.fingerprint != fingerprint(stage, context)[0]
    ):
        return False
    completing = context.manifest.stages.get(stage.completed_by)
    expected = record.outputs | (completing.outputs if completing else {})
    for name, output in expected.items():
        path = context.folder / name
        if not path.is_file():
            return False
        rewritten_meanwhile = completing is None and stage.shares and name.startswith(stage.shares)
        if not rewritten_meanwhile and path.stat().st_size != output.bytes:
            return False
    return True


def fingerprint(stage: Stage, context: Context) -> tuple[str, dict[str, Any], dict[str, str]]:
    """Hash of everything that decides a stage's result.

    Parameters
    ----------
    stage : Stage
        Which.
    context : Context
        The build, with everything before this stage finished.

    Returns
    -------
    fingerprint : str
    parameters : dict
    inputs : dict of str to str
        Digests of content, not of time: when a stage before ran again but gave the same, this
        one need not.
    """
    parameters, inputs = stage.parameters(context), stage.inputs(context)
    return digest([stage.name, stage.version, parameters, inputs]), parameters, inputs


def run_stage(stage: Stage, context: Context) -> None:
    """Run one stage and enter it in the manifest.

    Parameters
    ----------
    stage : Stage
        Which; its earlier record, and that of the stage which completes its files, is removed
        from the manifest before anything of the atlas is written.
    context : Context
        The build; its manifest is brought up to date.
    """
    mark, parameters, inputs = fingerprint(stage, context)

    def begin_writing() -> None:
        unfinished = context.manifest.without(stage.name, stage.completed_by)
        context.manifest = write_manifest(context.folder, unfinished)

    context.begin_writing = begin_writing
    if not stage.checks_first:
        begin_writing()
    with measured() as usage, telling_of_a_full_disk(context.folder):
        result = stage.run(context)
    if result.makeshift:
        context.makeshift.add(stage.name)
    record = StageRecord(
        fingerprint="makeshift" if result.makeshift else mark,
        version=stage.version,
        parameters=parameters,
        inputs=inputs,
        rows=result.rows,
        seconds=round(usage.seconds, 3),
        peak_memory_mb=round(usage.peak_memory_mb, 1),
        finished=now(),
        outputs={name: _output(context.folder / name) for name in sorted(result.outputs)},
        products=result.products,
        model=result.model,
        details=result.details,
    )
    changed = context.manifest
    if result.parts is not None:
        changed = dataclasses.replace(changed, parts=result.parts)
    stages = {**changed.stages, stage.name: record}
    context.manifest = write_manifest(context.folder, dataclasses.replace(changed, stages=stages))


def keep_only(folder: Path, names: set[str]) -> None:
    """Remove the files of parts that the atlas no longer has.

    Parameters
    ----------
    folder : pathlib.Path
        The folder of one per-paper table.
    names : set of str
        File names that stay.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "a.npy").touch(); (folder / "b.npy").touch()
    >>> keep_only(folder, {"a.npy"})
    >>> [path.name for path in folder.iterdir()]
    ['a.npy']
    """
    remove_leftovers(folder)
    for path in folder.iterdir():
        if path.is_file() and path.name not in names:
            path.unlink()


def clear_work(context: Context, *names: str) -> None:
    """Remove the unfinished pieces of a stage that is finished."""
    shutil.rmtree(context.work(*names), ignore_errors=True)


def _output(path: Path) -> Output:
    return Output(sha256=sha256_of(path), bytes=path.stat().st_size)
