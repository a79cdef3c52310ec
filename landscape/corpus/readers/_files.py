"""Open source files and read JSON records."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

import orjson

from landscape._io import read_data
from landscape.corpus.identifiers import parse_arxiv_id
from landscape.corpus.records import WITHDRAWN, RawRecord, Rejection, kind_of
from landscape.errors import InputError

SAMPLE_BYTES = 1 << 20  # number of bytes read to detect the format of a file

PARQUET_MAGIC = b"PAR1"
SQLITE_MAGIC = b"SQLite format 3\0"
_GZIP_MAGIC = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_ARCHIVES = {
    b"PK\x03\x04": "a workbook or a zip archive; save a workbook as CSV, or unpack the archive",
    b"BZh": "compressed with bzip2; decompress it with bunzip2 first",
    b"\xfd7zXZ": "compressed with xz; decompress it with unxz first",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; decompress it with unzstd first",
    b"%PDF": "a PDF; pass a file of metadata, such as BibTeX",
    b"\x89HDF": "an HDF5 file; export its table as CSV or Parquet",
}


def sample(path: Path) -> bytes:
    """Return the first bytes of a file, decompressed and without a byte order mark."""
    if (path / "zotero.sqlite").is_file():
        path = path / "zotero.sqlite"
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file; pass the files in it.")
    with _input_errors(path), open_input(path) as stream:
        head = _beginning(stream)
    if not head.strip():
        raise InputError(f"{path} is empty; pass a file with at least one paper.")
    if head.startswith((PARQUET_MAGIC, SQLITE_MAGIC)):
        return head
    for magic, what in _ARCHIVES.items():
        if head.startswith(magic):
            raise InputError(f"{path} is {what}.")
    start = head[:65536]
    wrong = start.decode("utf-8", "replace").count("\ufffd")
    if b"\0" in start or wrong > len(start) / 10:
        raise InputError(
            f"{path} is a binary file (it begins with {head[:8].hex(' ')}), not text or Parquet; "
            "pass a file of papers."
        )
    return head


@contextmanager
def open_input(
    path: Path, *, on_bytes: Callable[[int], None] | None = None, is_text: bool = True
) -> Iterator[io.BufferedReader[Any]]:
    """Open a plain or gzip file for reading. Text is converted to UTF-8 without a mark."""
    with path.open("rb") as file:
        compressed = file.read(2) == _GZIP_MAGIC
        file.seek(0)
        raw = cast("io.RawIOBase", _Counting(file, on_bytes))
        counted = io.BufferedReader(raw, 1 << 18)
        if compressed:
            unpacked = gzip.GzipFile(fileobj=counted, mode="rb")
            stream = io.BufferedReader(cast("io.RawIOBase", _Unpacked(unpacked)), 1 << 16)
        else:
            stream = counted
        encoding = encoding_of(path) if is_text else "utf-8"
        if encoding != "utf-8":
            text = io.TextIOWrapper(stream, encoding, errors="replace", newline="")
            stream = io.BufferedReader(cast("io.RawIOBase", _Recoded(text)), 1 << 16)
        if stream.peek(3)[:3] == _BOM:
            stream.read(3)
        yield stream


def encoding_of(path: Path) -> str:
    """Return the encoding of a text file: that of its byte order mark, UTF-8, or a likely one."""
    status = path.stat()
    return _encoding(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=64)
def _encoding(path: Path, size: int, modified: int) -> str:  # noqa: ARG001  # the key
    with open_input(path, is_text=False) as stream:
        head = _beginning(stream)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    is_json = head.lstrip()[:1] in (b"{", b"[")  # JSON is always UTF-8
    if head.startswith(PARQUET_MAGIC) or is_json or head.isascii():
        return "utf-8"
    text = head.decode("utf-8", "replace")
    n_wrong = text.count("\ufffd")
    # A few damaged bytes in UTF-8 text cost only their own records.
    if n_wrong <= sum(character > "\x7f" for character in text) - n_wrong or b"\0" in head[:65536]:
        return "utf-8"
    from charset_normalizer import from_bytes

    for encodings in (["cp1252"], ["cp1250", "mac_roman", "latin_1"]):
        if found := from_bytes(head[:65536], cp_isolation=encodings).best():
            return found.encoding
    return "cp1252"


def checked(
    path: Path, records: Iterator[RawRecord | Rejection]
) -> Iterator[RawRecord | Rejection]:
    """Yield records. If the file is damaged, the error states the number of valid records."""
    n_good = 0
    with _input_errors(path, lambda: n_good):
        encoding = encoding_of(path)
        for record in records:
            if isinstance(record, RawRecord):
                n_good += 1
                if n_good == 1 and encoding != "utf-8":  # the assumption concerns the whole file
                    said = f"the file is not UTF-8 text; it is read as {encoding}"
                    record = replace(record, repairs=(said, *record.repairs))
            yield record


def _beginning(stream: io.BufferedReader) -> bytes:
    """Read the beginning of a file, or the readable part of a truncated file."""
    pieces: list[bytes] = []
    try:
        while sum(map(len, pieces)) < SAMPLE_BYTES and (piece := stream.read1(1 << 16)):
            pieces.append(piece)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        if not pieces:
            raise
    return b"".join(pieces)


@contextmanager
def _input_errors(path: Path, count: Callable[[], int] | None = None) -> Iterator[None]:
    """Convert errors of the operating system and of zlib to InputError."""

    def good() -> str:
        return "" if count is None else f" after {count():,} good records"

    try:
        yield
    except EOFError:
        raise InputError(
            f"{path} is incomplete (truncated gzip){good()}; download or copy it again."
        ) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(
            f"{path} is damaged (gzip: {error}){good()}; download or copy it again."
        ) from None
    except FileNotFoundError:
        raise InputError(f"There is no file {path}; check the name and the directory.") from None
    except PermissionError:
        raise InputError(f"{path} cannot be read; change its permissions.") from None


class _Unpacked(io.RawIOBase):
    """Decompressed stream of a gzip file. A damaged file is read as far as possible."""

    def __init__(self, file: gzip.GzipFile) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]  # the stub wants typing's private Buffer
        piece = self._file.read1(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


class _Recoded(io.RawIOBase):
    """Stream of UTF-8 bytes of a text in another encoding."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text, self._rest = text, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]  # the stub wants typing's private Buffer
        piece = self._rest or self._text.read(len(buffer)).encode("utf-8", "replace")
        buffer[: len(piece)] = piece[: len(buffer)]
        self._rest = piece[len(buffer) :]
        return min(len(piece), len(buffer))


class _Counting(io.RawIOBase):
    """Stream that reports the number of bytes read to a callback."""

    def __init__(self, file: BinaryIO, on_bytes: Callable[[int], None] | None) -> None:
        self._file = file
        self._on_bytes = on_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview | bytearray) -> int:  # type: ignore[override]  # the stub wants typing's private Buffer
        n_read = self._file.readinto(buffer)  # type: ignore[attr-defined]  # BinaryIO hides it
        if n_read and self._on_bytes is not None:
            self._on_bytes(n_read)
        return int(n_read)


MAX_RECORD = 16 << 20  # bytes; in a larger record, a quotation mark or bracket is missing

# A complete string or one bracket. Brackets inside strings are ignored.
_STRUCTURE = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)
_BETWEEN = b" \t\r\n,"
_ALL = re.compile(rb".*", re.DOTALL)
_VALUE = re.compile(rb'(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[^,"]++)++', re.DOTALL)  # between two commas

Piece = tuple[int, bytes]


class Stream(Protocol):
    """Interface of a readable stream, such as a buffered file or bytes in memory."""

    def read1(self, size: int, /) -> bytes:
        """Read at most `size` bytes. At the end of the stream, return ``b""``."""
        ...


class ObjectCutter:
    """Splitter of a stream into JSON objects, which are in an array or follow each other."""

    def __init__(self, opening: re.Pattern[bytes] | None, *, alone: bool = False) -> None:
        self._opening = opening
        self._alone = alone
        self._buffer = b""
        self._line = 1  # line number at `_counted`
        self._counted = 0  # end of the bytes whose lines are counted
        self._at = 0  # end of the scanned bytes
        self._done = 0  # end of the returned bytes
        self._start = -1  # start of the current object, or -1 if there is none
        self._depth = 0
        self._inside = opening is None

    def cut(self, stream: Stream, *, source: str = "the input") -> Iterator[Piece]:
        """Yield each JSON object as bytes, with the number of its first line."""
        ended = False
        while not ended:
            chunk = stream.read1(_CHUNK)
            ended = not chunk
            self._append(chunk)
            yield from self._scan(ended=ended)
            if len(self._buffer) - self._done > MAX_RECORD:
                raise InputError(
                    f"The JSON record that starts on line {self._line_of(max(self._start, 0)):,} "
                    f"of {source} does not end; add the missing quotation mark or bracket."
                )
        if self._inside or self._alone:
            yield from self._rest(len(self._buffer))

    def _append(self, chunk: bytes) -> None:
        self._line_of(self._done)
        self._buffer, self._counted = self._buffer[self._done :] + chunk, 0
        self._at -= self._done
        self._start -= self._done if self._start >= 0 else 0
        self._done = 0

    def _scan(self, *, ended: bool) -> Iterator[Piece]:
        while self._inside or self._enter():
            token = _STRUCTURE.search(self._buffer, self._at)
            if token is None:
                self._at = len(self._buffer)
                return
            if token[0][:1] != b'"':
                yield from self._bracket(token)
            elif token.end() == len(self._buffer) and not ended:
                self._at = token.start()  # the string may continue in the next chunk
                return
            self._at = token.end()

    def _enter(self) -> bool:
        """Move to the start of the next array. Return False if the buffer has no further array."""
        found = self._opening.search(self._buffer, self._done) if self._opening else None
        if found is None:
            if not self._alone:  # the name of the array may continue in the next chunk
                self._done = max(self._done, len(self._buffer) - 64)
            self._at = self._done
            return False
        self._inside, self._depth = True, 0
        self._at = self._done = found.end()
        return True

    def _bracket(self, token: re.Match[bytes]) -> Iterator[Piece]:
        if token[0] in b"{[":
            if self._depth == 0:
                yield from self._rest(token.start())
                self._start = token.start()
            self._depth += 1
        elif self._depth > 0:
            self._depth -= 1
            if self._depth == 0:
                yield self._line_of(self._start), self._buffer[self._start : token.end()]
                self._start, self._done = -1, token.end()
        elif self._opening is not None:
            yield from self._rest(token.start())
            self._inside, self._done = False, token.end()

    def _rest(self, end: int) -> Iterator[Piece]:
        """Yield the values between the last object and `end`; an array has one per comma."""
        rest = self._buffer[self._done : end]
        pieces = _VALUE.finditer(rest) if self._inside and self._opening else [_ALL.match(rest)]
        for piece in pieces:
            value = piece[0].strip(_BETWEEN) if piece else b""
            if piece and value:
                start = self._done + piece.start() + piece[0].find(value)
                yield self._line_of(start), value
        self._done = end

    def _line_of(self, at: int) -> int:
        """Return the line number of a byte, which is not before that of the last call."""
        self._line += self._buffer.count(b"\n", self._counted, at)
        self._counted = at
        return self._line


_CHUNK = 1 << 20  # number of bytes read at a time
_ARRAY = re.compile(rb"\[")
_PRETTY = re.compile(rb"\s*\{\s*\n\s*\"")
_DATA: dict[str, Any] = read_data("formats.yaml")
_WRAPPERS: list[str] = _DATA["wrappers"]
_ENVELOPE = re.compile(
    rb'"(?:%s)"\s*:\s*\[\s*(?=[{\]])' % b"|".join(map(str.encode, _DATA["envelopes"]))
)
_TITLE = re.compile(rb'"(?:titles?|Title)"\s*:')


def raw_records(
    path: Path,
    record_of: Callable[[int, dict[str, Any]], RawRecord],
    *,
    on_bytes: Callable[[int], None] | None = None,
) -> Iterator[RawRecord | Rejection]:
    """Yield the JSON objects of a file as records. Invalid objects are yielded as rejections."""
    with open_input(path, on_bytes=on_bytes) as stream:
        pieces = _pieces(stream, stream.peek(_CHUNK)[:_CHUNK], source=str(path))
        for line, piece in pieces:
            value, problem = _parsed(piece)
            if problem is None and WITHDRAWN in value:
                yield Rejection(path.name, line, WITHDRAWN, parse_arxiv_id(value.get("id")) or "")
            elif problem is None:
                yield record_of(line, value)
            else:
                snippet = piece[:200].decode("utf-8", "replace").strip()
                yield Rejection(path.name, line, problem, snippet)


@lru_cache(maxsize=4)
def first_objects(head: bytes) -> tuple[dict[str, Any], ...]:
    """Return the first complete JSON objects of a file, or () if the file is not JSON."""
    if head.lstrip()[:1] not in (b"{", b"["):
        return ()
    objects = []
    for number, (_, piece) in enumerate(_pieces(io.BytesIO(head), head, source="the input")):
        value, problem = _parsed(piece)
        if problem is None:
            objects.append(value)
        if len(objects) == 5 or number == 200:
            break
    return tuple(objects)


def _envelope(text: bytes) -> re.Match[bytes] | None:
    """Return the beginning of the array of records in a reply of a service, if there is one."""
    found = _ENVELOPE.search(text) if text[:1] == b"{" else None
    return None if found is None or _TITLE.search(text, 0, found.start()) else found


def is_ads_reply(head: bytes) -> bool:
    """Return whether a file is a response of the ADS search service."""
    found = _envelope(head.lstrip())
    return found is not None and found[0].startswith(b'"docs"') and b'"response"' in head[:4096]


def _pieces(stream: io.BufferedIOBase, head: bytes, *, source: str) -> Iterator[tuple[int, bytes]]:
    text = head.lstrip()
    if found := _envelope(text):
        opening = re.compile(re.escape(found[0].split(b":")[0]) + rb"\s*:\s*\[")
        return ObjectCutter(opening).cut(stream, source=source)
    if text[:1] == b"[":
        return ObjectCutter(_ARRAY, alone=True).cut(stream, source=source)
    if _PRETTY.match(text):
        return ObjectCutter(None).cut(stream, source=source)
    return _lines(stream)


def _lines(stream: io.BufferedIOBase) -> Iterator[tuple[int, bytes]]:
    number = 0
    while line := stream.readline(MAX_RECORD):
        number += 1
        ended = line.endswith(b"\n")
        if line.strip(b" \t\r\n"):  # lines with other control characters are errors
            yield number, line
        while not ended and (rest := stream.readline(MAX_RECORD)):
            ended = rest.endswith(b"\n")  # skip the rest of a line that is too long


def _parsed(piece: bytes) -> tuple[Any, str | None]:
    if len(piece) >= MAX_RECORD:
        return None, "the record is too large to be one paper"
    try:
        value = orjson.loads(piece)
    except orjson.JSONDecodeError as error:
        try:
            piece.decode("utf-8")
        except UnicodeDecodeError as wrong:
            return None, f"not UTF-8 text (byte {wrong.start + 1} of the record)"
        return None, f"not JSON ({error.msg})"
    if not isinstance(value, dict):
        return None, f"not a record but {kind_of(value)}"
    return _unwrapped(value), None


def _unwrapped(record: dict[str, Any]) -> dict[str, Any]:
    """Return the record inside an object such as the ``metadata`` of INSPIRE."""
    for _ in range(2):
        wrapped = (record[name] for name in _WRAPPERS if isinstance(record.get(name), dict))
        inner: dict[str, Any] = next(wrapped, {})
        if not inner or not {"title", "titles", "Title"}.isdisjoint(record):
            break
        record = {name: value for name, value in record.items() if name not in inner} | inner
    return record
