"""What a command answers, and the lines it writes meanwhile."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import IO, Any, NamedTuple

DONE, FAILED, WRONG_INPUT, STOPPED = 0, 1, 2, 130


class Answer(NamedTuple):
    """What a command prints on standard output, and its exit status."""

    text: str
    status: int = DONE


def note(line: str) -> None:
    """Write one line for the user to standard error."""
    with suppress(OSError):  # a note that cannot be written stops no work
        write_line(line, sys.stderr)


def write_line(text: str, stream: IO[str], *, end: str = "\n") -> None:
    """Print; a reader that has gone, as in `landscape info X | head -1`, stops no work."""
    try:
        print(text, end=end, file=stream, flush=True)
    except OSError as error:
        # Whatever is written from here on, by libraries too, goes nowhere instead of failing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            raise


def as_json(document: Any) -> str:
    """Write a document as JSON: null for NaN and infinity, which JSON has not."""
    from landscape._serializer import plain

    return json.dumps(plain(document), indent=1, ensure_ascii=False, allow_nan=False)
