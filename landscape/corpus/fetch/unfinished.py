"""A JSON-lines file that grows page by page and survives being cut off at any byte."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Self

import orjson

from landscape._io import write_whole
from landscape.errors import InputError

_WITHDRAWN = "withdrawn by its source"


class Unfinished:
    """The unfinished file of a fetch and the place from where to go on.

    Beside the wished-for file lie ``NAME.part``, to which whole pages of records are appended, and
    ``NAME.state.json``, written after each page with the number of good bytes. What a crash left
    beyond those bytes is cut away, so no record is lost or doubled wherever the crash fell. A
    record that comes again replaces the older one when the file is finished.

    Parameters
    ----------
    out : pathlib.Path
        The file that is wished for.
    key : str
        Field that names a record, for example ``"bibcode"``.
    request : mapping
        What was asked for; an unfinished file of another request is not continued.

    Attributes
    ----------
    position : dict
        What the caller stored with the last page; empty at the start.
    n_records : int
        Distinct records so far.

    Raises
    ------
    InputError
        When `out` cannot be written, or lies unfinished from another request or in other hands.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     out = Path(folder) / "papers.jsonl"
    ...     with Unfinished(out, key="id", request={"set": "a"}) as papers:
    ...         papers.add([("1", {"id": "1"})], position={"token": "next"})
    ...     with Unfinished(out, key="id", request={"set": "a"}) as papers:
    ...         papers.position, papers.n_records
    ({'token': 'next'}, 1)
    """

    def __init__(self, out: Path, *, key: str, request: Mapping[str, object]) -> None:
        check_place(out)
        self.out = out
        self.position: dict[str, object] = {}
        self._key = key
        self._request = dict(request)
        self._part = out.with_name(out.name + ".part")
        self._state = out.with_name(out.name + ".state.json")
        self._size = 0
        self._lines = 0
        self._latest: dict[str, bytes] = {}  # key -> digest of its newest line
        self._withdrawn: set[str] = set()
        self._restore()
        try:
            self._stream: BinaryIO = self._part.open("r+b" if self._part.exists() else "w+b")
            _lock(self._stream, out)
            self._stream.truncate(self._size)
            self._stream.seek(self._size)
        except OSError as error:
            raise disk_error(self._part, error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # what a full disk did not take is not among the counted bytes
            self._stream.close()

    @property
    def n_records(self) -> int:
        """Distinct records so far, without those withdrawn since."""
        return len(self._latest) - len(self._withdrawn)

    @property
    def continues(self) -> bool:
        """Whether an earlier run left something to go on from."""
        return bool(self.position)

    def add(
        self,
        records: Iterable[tuple[str, Mapping[str, object] | None]],
        *,
        position: Mapping[str, object],
    ) -> None:
        """Append one page, and remember the position after it.

        Parameters
        ----------
        records : iterable of (str, mapping or None)
            Key and record; None where the source withdrew a record that it had sent before.
        position : mapping
            From where to go on; JSON values only.

        Raises
        ------
        InputError
            When the disk is full or will not take it.
        """
        lines = bytearray()
        for key, record in records:
            line = self._line(key, record)
            if line:
                lines += line
                self._lines += 1
        try:
            self._stream.write(lines)
            self._stream.flush()
            os.fsync(self._stream.fileno())
            self._size += len(lines)
            self.position = dict(position)
            write_whole(
                self._state,
                orjson.dumps(
                    {"request": self._request, "position": self.position, "bytes": self._size}
                ),
            )
        except OSError as error:
            raise disk_error(self._part, error) from error

    def finish(self) -> int:
        """Move the file into place and return its number of records.

        Raises
        ------
        InputError
            When the disk is full or will not take it.
        """
        try:
            if self._lines > self.n_records:
                self._keep_newest_only()
                self._stream.close()
                self._part.unlink()
            else:
                self._stream.close()
                self._part.replace(self.out)
            self._state.unlink(missing_ok=True)
        except OSError as error:
            raise disk_error(self._part, error) from error
        return self.n_records

    def discard(self) -> None:
        """Leave nothing behind, for a fetch that found nothing."""
        self._stream.close()
        self._part.unlink(missing_ok=True)
        self._state.unlink(missing_ok=True)

    def _line(self, key: str, record: Mapping[str, object] | None) -> bytes:
        """The line to append, empty where the file says the same already."""
        if record is None:
            if key not in self._latest or key in self._withdrawn:
                return b""
            line = orjson.dumps({self._key: key, _WITHDRAWN: True}) + b"\n"
            self._withdrawn.add(key)
        else:
            line = orjson.dumps(record) + b"\n"
            if self._latest.get(key) == _digest(line):
                return b""
            self._withdrawn.discard(key)
        self._latest[key] = _digest(line)
        return line

    def _restore(self) -> None:
        """Take up what an earlier run left behind."""
        try:
            state = orjson.loads(self._state.read_bytes())
            request, position, size = state["request"], state["position"], state["bytes"]
            if self._part.stat().st_size < size:
                return
        except (OSError, ValueError, KeyError, TypeError):
            return  # nothing usable: start afresh
        if request != self._request:
            raise InputError(
                f"{self.out} is unfinished from another request ({_words(request)}); choose "
                f"another file, or remove {self._state} to start afresh"
            )
        with self._part.open("rb") as stream:
            while stream.tell() < size:
                self._recall(stream.readline())
        self._size, self.position = size, position

    def _recall(self, line: bytes) -> None:
        try:
            record = orjson.loads(line)
            key = str(record[self._key])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{self._part} was changed since it was fetched; remove it and {self._state.name} "
                "to start afresh"
            ) from error
        self._latest[key] = _digest(line)
        self._lines += 1
        if _WITHDRAWN in record:
            self._withdrawn.add(key)
        else:
            self._withdrawn.discard(key)

    def _keep_newest_only(self) -> None:
        """Write the wished-for file with one line a record, each the newest."""
        tidy = self._part.with_name(self._part.name + ".tidy")
        written: set[str] = set()
        self._stream.seek(0)
        with tidy.open("wb") as stream:
            for line in self._stream:
                key = str(orjson.loads(line)[self._key])
                newest = self._latest[key] == _digest(line)
                if newest and key not in self._withdrawn and key not in written:
                    stream.write(line)
                    written.add(key)
            stream.flush()
            os.fsync(stream.fileno())
        tidy.replace(self.out)


def check_place(out: Path) -> None:
    """Refuse a place where no plain file can be written.

    Raises
    ------
    InputError

    Examples
    --------
    >>> check_place(Path("papers.jsonl.gz"))
    Traceback (most recent call last):
    ...
    landscape.errors.InputError: papers.jsonl.gz would not be compressed: ...
    """
    if out.is_dir():
        raise InputError(f"{out} is a folder; name the file to write, for example papers.jsonl")
    if out.suffix.lower() in {".gz", ".bz2", ".xz", ".zst", ".zip"}:
        raise InputError(
            f"{out.name} would not be compressed: fetch writes plain JSON lines, so that it can go "
            f"on where it was cut off; name it {out.name.removesuffix(out.suffix)}"
        )
    if not out.parent.is_dir():
        raise InputError(f"There is no folder {out.parent} to write {out.name} into; make it first")


def _digest(line: bytes) -> bytes:
    return hashlib.blake2b(line, digest_size=8).digest()


def _words(request: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in request.items() if value is not None)


def _lock(stream: BinaryIO, out: Path) -> None:
    """Keep a second fetch away from the same file, where the system has such locks."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        stream.close()
        raise InputError(f"Another fetch is writing {out} at this moment; wait for it") from error
    except OSError:
        return  # some network file systems have no locks


def disk_error(path: Path, error: OSError) -> InputError:
    """The sentence for a file that the system will not write.

    Examples
    --------
    >>> str(disk_error(Path("a.part"), OSError(28, "No space left on device")))
    'Cannot write a.part: No space left on device; make room or choose another place, ...'
    """
    return InputError(
        f"Cannot write {path}: {error.strerror or error}; make room or choose another place, then "
        "run the same command again"
    )
