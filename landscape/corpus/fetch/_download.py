"""Base class and output file for downloads that request pages and can be resumed."""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Self

import orjson

from landscape._http import RUN_AGAIN, HttpClient, RetryPolicy
from landscape._io import lock_exclusively, write_whole
from landscape._progress import progress
from landscape._wording import count
from landscape.corpus.records import WITHDRAWN
from landscape.errors import InputError, RemoteError

__all__ = ["Fetched", "PagedFetch", "ResumableFile", "RetryPolicy", "check_target", "disk_error"]


@dataclass(frozen=True)
class Fetched:
    """Result of one download.

    Attributes
    ----------
    path : pathlib.Path
        File or directory that `landscape build` can read.
    n_records : int
        Number of papers or concepts.
    n_skipped : int
        Number of records omitted because they are deleted, repeated or have no identifier.
    finished : bool
        False if the download stopped at `max_records`.
    note : str
        Message for the user, for example the remaining quota.

    Examples
    --------
    >>> Fetched(Path("a.jsonl"), n_records=2, n_skipped=0, finished=True, note="").n_records
    2
    """

    path: Path
    n_records: int
    n_skipped: int
    finished: bool
    note: str


# Restarts of a list repeat pages and records, but not more often.
_MAX_TIMES = 5  # per page
_MAX_REPEATED = 100  # successive records, in addition to twice the known ones


class NoRecordsError(InputError):
    """Raised when a service has no records for a request."""


class ResumableFile:
    """JSON-lines file that is written page by page and can be resumed after an interruption.

    With `withdrawn`, the file also lists the keys of withdrawn records.
    """

    def __init__(
        self, out: Path, *, key: str, request: Mapping[str, object], withdrawn: bool = False
    ) -> None:
        check_target(out)
        self.out = out
        self.position: dict[str, object] = {}
        self._key = key
        self._keeps_withdrawn = withdrawn
        self._request = dict(request)
        self._part = out.with_name(out.name + ".part")
        self._state = out.with_name(out.name + ".state.json")
        self._size = 0
        self._lines = 0
        self._latest: dict[str, bytes] = {}  # digest by key
        self._withdrawn: set[str] = set()  # keys of withdrawn records that are listed
        self._pages = Counter[bytes]()  # how often each page was sent, by digest of its keys
        self._n_repeated = 0  # records since the last new one
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
        with suppress(OSError):  # the state file does not count bytes that were not written
            self._stream.close()

    @property
    def n_records(self) -> int:
        """Number of distinct records that were not withdrawn."""
        return len(self._latest) - len(self._withdrawn)

    @property
    def is_empty(self) -> bool:
        """Whether the file would have no lines."""
        return not self._latest

    def add(
        self,
        records: Iterable[tuple[str, Mapping[str, object] | None]],
        *,
        position: Mapping[str, object],
    ) -> None:
        """Append a page of records, and save the position. Withdrawn records are passed as None.

        Raise RemoteError if the server repeats its pages or records more often than restarts do.
        """
        lines, keys = bytearray(), hashlib.blake2b(digest_size=8)
        for key, record in records:
            keys.update(f"{key}\n".encode(errors="replace"))
            line = self._line(key, record)
            self._n_repeated = 0 if line else self._n_repeated + (record is not None)
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
        self._pages[keys.digest()] += 1
        is_stuck = self._n_repeated > 2 * len(self._latest) + _MAX_REPEATED
        if not position["done"] and (is_stuck or self._pages[keys.digest()] > _MAX_TIMES):
            raise RemoteError(
                f"The server repeats the same records and its list does not end, after "
                f"{count(self.n_records, 'record')}. {RUN_AGAIN.capitalize()}, or pass another "
                "address or fewer records."
            )

    def finish(self) -> int:
        """Write the final file and return its number of records."""
        try:
            if self._lines > len(self._latest):
                self._write_newest_records()
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
        """Remove all temporary files of a download that returned no records."""
        self._stream.close()
        self._part.unlink(missing_ok=True)
        self._state.unlink(missing_ok=True)

    def _line(self, key: str, record: Mapping[str, object] | None) -> bytes:
        """Return the line to append, or ``b""`` if the file already contains the record."""
        if record is None:
            if not self._keeps_withdrawn and self._latest.pop(key, None) is None:
                return b""
            record = {self._key: key, WITHDRAWN: True}
            if not self._keeps_withdrawn:
                return orjson.dumps(record) + b"\n"
        line = orjson.dumps(record) + b"\n"
        if self._latest.get(key) == _digest(line):
            return b""
        self._keep(key, record, line)
        return line

    def _keep(self, key: str, record: Mapping[str, object], line: bytes) -> None:
        """Remember the newest line of a record."""
        self._latest[key] = _digest(line)
        if WITHDRAWN in record:
            self._withdrawn.add(key)
        else:
            self._withdrawn.discard(key)

    def _restore(self) -> None:
        """Restore the state of an earlier run, if there is one."""
        try:
            state = orjson.loads(self._state.read_bytes())
            request, position, size = state["request"], state["position"], state["bytes"]
            if self._part.stat().st_size < size:
                return
        except (OSError, ValueError, KeyError, TypeError):
            return  # start from the beginning
        if request != self._request:
            raise InputError(
                f"{self.out} is the unfinished result of another request "
                f"({describe_request(request)}); choose another file, or remove {self._state} to "
                "start from the beginning"
            )
        try:
            with self._part.open("rb") as stream:
                while stream.tell() < size:
                    line = stream.readline()
                    record = orjson.loads(line)
                    key = str(record[self._key])
                    self._lines += 1
                    if WITHDRAWN in record and not self._keeps_withdrawn:
                        self._latest.pop(key, None)
                    else:
                        self._keep(key, record, line)
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{self._part} was changed since it was fetched. To start from the beginning, "
                f"remove this file and {self._state.name}."
            ) from error
        self._size, self.position = size, position

    def _write_newest_records(self) -> None:
        """Write the final file, which contains only the newest version of each record."""
        tidy = self._part.with_name(self._part.name + ".tidy")
        written: set[str] = set()
        self._stream.seek(0)
        with tidy.open("wb") as stream:
            for line in self._stream:
                key = str(orjson.loads(line)[self._key])
                if self._latest.get(key) == _digest(line) and key not in written:
                    stream.write(line)
                    written.add(key)
            stream.flush()
            os.fsync(stream.fileno())
        tidy.replace(self.out)


class PagedFetch(ABC):
    """Base class for downloads that request pages. An interrupted download can be resumed."""

    def __init__(
        self,
        papers: ResumableFile,
        client: HttpClient,
        request: Mapping[str, str | None],
        *,
        start: Mapping[str, object],
        max_records: int | None,
        notify: Callable[[str], None],
    ) -> None:
        self._papers, self._client, self._request = papers, client, request
        self._max_records, self._notify = max_records, notify
        self._restarts = 0
        self._position: dict[str, Any] = {**start, "skipped": 0, "done": False, **papers.position}

    @abstractmethod
    def _take_page(self) -> None:
        """Request the next page, and write its records and the new position."""

    @abstractmethod
    def _empty_message(self) -> str:
        """Return the error message for a request without results."""

    @abstractmethod
    def _note(self) -> str:
        """Return a message for the user about the result."""

    @property
    def _has_enough(self) -> bool:
        return self._max_records is not None and self._papers.n_records >= self._max_records

    def run(self) -> Fetched:
        """Download all remaining pages and write the final file."""
        papers, position = self._papers, self._position
        if papers.position:  # an earlier run was interrupted
            self._notify(f"Resuming the download after {count(papers.n_records, 'paper')}")
        with progress(f"Fetching from {self._client.name}", total=self._max_records) as advance:
            advance(papers.n_records)
            while not position["done"] and not self._has_enough:
                before = papers.n_records
                self._take_page()
                advance(papers.n_records - before)
        if papers.is_empty:
            papers.discard()
            raise NoRecordsError(self._empty_message())
        note = self._note()
        n_records = papers.finish()
        return Fetched(papers.out, n_records, position["skipped"], position["done"], note)


def check_target(out: Path) -> None:
    """Raise InputError if a path cannot be used for an uncompressed file of JSON lines."""
    if out.is_dir():
        raise InputError(f"{out} is a directory; pass a file name, for example papers.jsonl")
    if out.suffix.lower() in {".gz", ".bz2", ".xz", ".zst", ".zip"}:
        raise InputError(
            f"Cannot write a compressed file: {out.name}. Downloads are plain JSON lines, so that "
            f"they can be resumed. Name the file {out.name.removesuffix(out.suffix)}."
        )
    if not out.parent.is_dir():
        raise InputError(f"No such directory: {out.parent}. Create it first.")


def describe_request(request: Mapping[str, object]) -> str:
    """Describe the parameters of a request for messages. Empty parameters are omitted."""
    return ", ".join(f"{name} {value}" for name, value in request.items() if value)


def disk_error(path: Path, error: OSError) -> InputError:
    """Return the error for a file that cannot be written."""
    return InputError(
        f"Cannot write {path}: {error.strerror or error}; free disk space or choose another "
        "directory, then run the same command again"
    )


def _digest(line: bytes) -> bytes:
    return hashlib.blake2b(line, digest_size=8).digest()


def _lock(stream: BinaryIO, out: Path) -> None:
    """Lock a file. Raise InputError if another process is writing the file."""
    try:
        lock_exclusively(stream)
    except BlockingIOError as error:
        stream.close()
        raise InputError(f"Another process is writing {out}; wait until it has finished") from error
    except OSError:
        return  # some network file systems do not support locks
