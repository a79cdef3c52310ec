"""Cutting the objects out of a large JSON document without reading it whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol

from landscape.errors import InputError

LARGEST_RECORD = 16 << 20
"""Bytes. No paper is as large; what is has lost a quote or a bracket."""

_CHUNK = 1 << 20
# A string whole (so that brackets inside it do not count), else one bracket.
_STRUCTURE = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)
_BETWEEN = b" \t\r\n,"

Piece = tuple[int, bytes]


class Stream(Protocol):
    """What can be read as it comes: a buffered file or bytes in memory."""

    def read1(self, size: int, /) -> bytes:
        """Read at most so many bytes, fewer where fewer are at hand; none at the end."""
        ...


class ObjectCutter:
    r"""Finds the objects of an array, or objects that follow one another, by their brackets.

    What stands between objects is given out too, so that nothing is lost in silence; it will not
    parse as a record.

    Parameters
    ----------
    opening : re.Pattern of bytes or None
        Where an array begins; more than one may follow. None where there is no array.
    alone : bool, default False
        Whether nothing but the array belongs in the file.

    Examples
    --------
    >>> import io
    >>> text = b'[{"a": "}"},\n {"a": [{}]}]'
    >>> list(ObjectCutter(re.compile(rb"\[")).cut(io.BytesIO(text)))
    [(1, b'{"a": "}"}'), (2, b'{"a": [{}]}')]
    """

    def __init__(self, opening: re.Pattern[bytes] | None, *, alone: bool = False) -> None:
        self._opening = opening
        self._alone = alone
        self._buffer = b""
        self._line = 1  # of the first byte of the buffer
        self._at = 0  # looked at up to here
        self._done = 0  # given out up to here
        self._start = -1  # of the object we are in
        self._depth = 0
        self._inside = opening is None

    def cut(self, stream: Stream, *, source: str = "the input") -> Iterator[Piece]:
        """Stream the pieces, each with the line on which it starts.

        Parameters
        ----------
        stream : Stream
        source : str
            What an error calls it.

        Raises
        ------
        landscape.errors.InputError
            If an object does not end within :data:`LARGEST_RECORD`.
        """
        ended = False
        while not ended:
            chunk = stream.read1(_CHUNK)
            ended = not chunk
            self._append(chunk)
            yield from self._scan(ended=ended)
            if len(self._buffer) - self._done > LARGEST_RECORD:
                raise InputError(
                    f"The JSON record that starts on line {self._line_of(max(self._start, 0)):,} "
                    f"of {source} does not end; a quote or a bracket is missing there."
                )
        if self._inside or self._alone:
            yield from self._rest(len(self._buffer))

    def _append(self, chunk: bytes) -> None:
        self._line = self._line_of(self._done)
        self._buffer = self._buffer[self._done :] + chunk
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
                self._at = token.start()  # a string perhaps cut by the end of the chunk
                return
            self._at = token.end()

    def _enter(self) -> bool:
        """Go to the beginning of the next array."""
        found = self._opening.search(self._buffer, self._done) if self._opening else None
        if found is None:
            if not self._alone:  # what names the array may be cut by the end of the chunk
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
        """Give out what stands between the last piece and `end`, unless it is only commas."""
        rest = self._buffer[self._done : end]
        if rest.strip(_BETWEEN):
            start = self._done + len(rest) - len(rest.lstrip(_BETWEEN))
            yield self._line_of(start), rest.strip(_BETWEEN)
        self._done = end

    def _line_of(self, at: int) -> int:
        return self._line + self._buffer.count(b"\n", 0, at)
