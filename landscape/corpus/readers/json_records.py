"""JSON records out of a stream: lines, one array, an ADS reply, or objects one after another."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from landscape.corpus.readers.files import open_input
from landscape.corpus.readers.json_objects import LARGEST_RECORD, ObjectCutter
from landscape.corpus.schema import RawRecord, Rejection

_CHUNK = 1 << 20
_ENVELOPE = re.compile(rb'"docs"\s*:\s*\[')
_ARRAY = re.compile(rb"\[")
_PRETTY = re.compile(rb"\s*\{\s*\n\s*\"")

JsonRecord = tuple[int, dict[str, Any]]


def json_records(
    path: Path, *, on_bytes: Callable[[int], None] | None = None
) -> Iterator[JsonRecord | Rejection]:
    """Stream the JSON objects of a file.

    Parameters
    ----------
    path : pathlib.Path
        JSON lines, one JSON array, ADS replies (``{"response": {"docs": [...]}}``), or objects
        that span several lines.
    on_bytes : callable, optional
        Told the bytes consumed.

    Yields
    ------
    tuple of (int, dict) or Rejection
        Line on which the object starts, and the object; a rejection for anything else.
    """
    with open_input(path, on_bytes=on_bytes) as stream:
        pieces = _pieces(stream, stream.peek(_CHUNK)[:_CHUNK], source=str(path))
        for line, piece in pieces:
            value, problem = _parsed(piece)
            if problem is None:
                yield line, value
            else:
                yield Rejection(path.name, line, problem, _snippet(piece))


def raw_records(
    path: Path,
    fields_of: Callable[[dict[str, Any]], dict[str, Any]],
    *,
    on_bytes: Callable[[int], None] | None = None,
) -> Iterator[RawRecord | Rejection]:
    """Stream the JSON objects of a file as records.

    Parameters
    ----------
    path, on_bytes
        As for :func:`json_records`.
    fields_of : callable
        Gives the fields of a record for one object.

    Yields
    ------
    RawRecord or Rejection
    """
    for item in json_records(path, on_bytes=on_bytes):
        if isinstance(item, Rejection):
            yield item
        else:
            line, found = item
            yield RawRecord(line, fields_of(found))


@lru_cache(maxsize=4)
def first_objects(head: bytes) -> tuple[dict[str, Any], ...]:
    """Return the complete objects among the first of a file; none where it is no JSON."""
    if head.lstrip()[:1] not in (b"{", b"["):
        return ()
    found = []
    for number, (_, piece) in enumerate(_pieces(io.BytesIO(head), head, source="the input")):
        value, problem = _parsed(piece)
        if problem is None:
            found.append(value)
        if len(found) == 5 or number == 200:
            break
    return tuple(found)


def is_ads_reply(head: bytes) -> bool:
    """Whether a file is a whole reply of the ADS search service."""
    return (
        head.lstrip()[:1] == b"{"
        and b'"response"' in head[:4096]
        and _ENVELOPE.search(head) is not None
    )


def _pieces(stream: io.BufferedIOBase, head: bytes, *, source: str) -> Iterator[tuple[int, bytes]]:
    text = head.lstrip()
    if is_ads_reply(text):
        return ObjectCutter(_ENVELOPE).cut(stream, source=source)
    if text[:1] == b"[":
        return ObjectCutter(_ARRAY, alone=True).cut(stream, source=source)
    if _PRETTY.match(text):
        return ObjectCutter(None).cut(stream, source=source)
    return _lines(stream)


def _lines(stream: io.BufferedIOBase) -> Iterator[tuple[int, bytes]]:
    number = 0
    while line := stream.readline(LARGEST_RECORD):
        number += 1
        ended = line.endswith(b"\n")
        if line.strip(b" \t\r\n"):  # what JSON takes for space; a control character is damage
            yield number, line
        while not ended and (rest := stream.readline(LARGEST_RECORD)):
            ended = rest.endswith(b"\n")  # the tail of a line too long to be one record


def _parsed(piece: bytes) -> tuple[Any, str | None]:
    if len(piece) >= LARGEST_RECORD:
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
        return None, f"not a record but {_kind(value)}"
    return value, None


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _snippet(piece: bytes) -> str:
    return piece[:200].decode("utf-8", "replace").strip()
