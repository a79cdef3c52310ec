"""Mutations, peak memory and notes for the campaigns of `benchmarks.robustness`."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from pathlib import Path

LIMIT = 1.0  # seconds for a request to a hostile server
_PIECES = (
    "\x00",
    "\x1b[2J",
    "\u202e",
    "\ud800",
    '"',
    "'",
    "\\",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    ":",
    ";",
    "..",
    "\n",
    "\r",
    "\t",
    "null",
    "NaN",
    "1e999",
    "-1",
    "9" * 400,
    "a" * 5000,
    "$\\frac{",
    "<script>",
    "=cmd|x",
    "%00",
    "|",
    "&",
    "~",
    "^",
    "*",
    "?",
    "author:",
    "year:",
    "(" * 200,
)

Case = tuple[str, Callable[[], object]]
notes: dict[str, str] = {}  # what a campaign counted, for the table


def mutate(text: str, rng: random.Random) -> str:
    """Insert, replace, repeat or drop some pieces of a text."""
    for _ in range(rng.randint(1, 4)):
        start, end = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        piece = rng.choice([*_PIECES, text[start:end][:200], ""])
        text = text[:start] + piece + text[rng.choice([start, end]) :]
    return text


def flip(content: bytes, rng: random.Random) -> bytes:
    """Change some bytes of a file, or drop its end."""
    changed = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        changed[rng.randrange(len(changed))] = rng.choice((0, 255, rng.randrange(256)))
    return bytes(changed[: rng.choice((len(changed), len(changed), rng.randrange(len(changed))))])


class Memory:
    """Peak memory of a process above the memory that it used at the start, in MB."""

    def __init__(self, process: int | str = "self") -> None:
        self._folder = Path("/proc") / str(process)
        with contextlib.suppress(OSError):
            (self._folder / "clear_refs").write_text("5")  # the peak starts again
        self._idle = self._read("VmRSS")

    def peak(self) -> float:
        """Return the peak, or 0 on a system that does not report it."""
        return (self._read("VmHWM") - self._idle) / 1024

    def _read(self, name: str) -> int:
        with contextlib.suppress(OSError):
            lines = (self._folder / "status").read_text().splitlines()
            return next(int(line.split()[1]) for line in lines if line.startswith(name))
        return 0
