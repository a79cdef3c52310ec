"""What a command answers, and the lines it writes meanwhile."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
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


_SHORT_OPTIONS = ("-h", "-k", "-o")


def command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], Answer], meaning: str
) -> argparse.ArgumentParser:
    """Add a command: its name, what runs it, and what it is for."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=meaning, description=f"{meaning[0].upper()}{meaning[1:]}."
    )
    parser.set_defaults(run=run)
    # Understood after the command as well as before it.
    parser.add_argument(
        "--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS
    )
    return parser


def positive(text: str) -> int:
    """Read a whole number from 1 up."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value


def as_span(text: str) -> tuple[int, int]:
    """Read years such as ``2010..2014``."""
    first, dots, last = text.partition("..")
    try:
        span = int(first), int(last if dots else first)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text} is not of the form FIRST..LAST") from error
    if span[0] > span[1]:
        raise argparse.ArgumentTypeError(f"{text} ends before it begins")
    return span


def add_period(parser: argparse.ArgumentParser) -> None:
    """Add the first and the last year that count."""
    parser.add_argument("--since", type=int, metavar="YEAR", help="first year")
    parser.add_argument("--until", type=int, metavar="YEAR", help="last year")


def with_filters_joined(words: Sequence[str]) -> list[str]:
    """Join ``--filter -review``, which would be read as two options, to ``--filter=-review``."""
    joined: list[str] = []
    for word in words:
        excludes = word[:1] == "-" and word[1:2] not in ("", "-") and word not in _SHORT_OPTIONS
        if excludes and joined and joined[-1] == "--filter":
            joined[-1] = f"--filter={word}"
        else:
            joined.append(word)
    return joined


def add_how_to_search(parser: argparse.ArgumentParser) -> None:
    """Add the options that decide how papers are searched for."""
    parser.add_argument(
        "--filter", metavar="FILTER", help="such as '2015..; author:Hubble; -review; citations>=50'"
    )
    parser.add_argument(
        "--weight",
        action="append",
        choices=("keyword", "time", "citation"),
        help="lift papers with the query's names, recent ones, cited ones; may be repeated",
    )
    parser.add_argument("--method", choices=("hybrid", "semantic", "words"), default="hybrid")
    reranking = parser.add_mutually_exclusive_group()
    reranking.add_argument(
        "--no-rerank", action="store_true", help="do not compare the first papers word by word"
    )
    reranking.add_argument(
        "--rerank-with",
        metavar="MODEL",
        help="instead: cohere:MODEL (needs COHERE_API_KEY, or LANDSCAPE_RERANK_URL of a server of "
        "your own) or cross-encoder:NAME_OR_PATH",
    )
    parser.add_argument(
        "--hyde",
        action="store_true",
        help="search with a hypothetical abstract too, written by the language model of "
        "OPENAI_API_KEY, or OPENAI_BASE_URL and LANDSCAPE_LLM_MODEL",
    )
