"""Options that several commands share, and the output of a command."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from landscape.llm import WritingModel

DONE, FAILED, WRONG_INPUT, STOPPED = 0, 1, 2, 130


class Answer(NamedTuple):
    """Text for standard output, and the exit status."""

    text: str
    status: int = DONE


class Option(NamedTuple):
    """Arguments of ``ArgumentParser.add_argument``."""

    names: tuple[str, ...]
    settings: dict[str, Any]


def option(*names: str, **settings: Any) -> Option:
    """Describe an option or a positional argument."""
    return Option(names, settings)


def flag(name: str, meaning: str, **settings: Any) -> Option:
    """Describe an option without a value."""
    return Option((name,), {"action": "store_true", "help": meaning} | settings)


def positive(text: str) -> int:
    """Read a positive integer."""
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


ATLAS = option("atlas", type=Path, metavar="DIR", help="directory of the atlas")
JSON = flag("--json", "print one JSON document")
NO_MODEL = flag("--no-model", "do not use the language model set in the environment")
PERIOD = (
    option("--since", type=int, metavar="YEAR", help="first year"),
    option("--until", type=int, metavar="YEAR", help="last year"),
)
SEARCHING = (
    option("--filter", metavar="FILTER",
           help="such as '2015..; author:Hubble; -review; citations>=50'"),
    option("--weight", action="append", choices=("keyword", "time", "citation"),
           help="raise papers that contain the query's names, recent papers or much-cited papers; "
           "may be repeated"),
    option("--method", choices=("hybrid", "semantic", "words"), default="hybrid",
           help="default: hybrid"),
    flag("--no-rerank", "do not compare the best papers with the query word by word"),
    option("--rerank-with", metavar="MODEL",
           help="rerank with cohere:MODEL (needs COHERE_API_KEY, or LANDSCAPE_RERANK_URL with the "
           "address of your own server) or cross-encoder:NAME_OR_PATH"),
    flag("--hyde", "also search with a hypothetical abstract that a language model writes (set "
         "OPENAI_API_KEY, or OPENAI_BASE_URL and LANDSCAPE_LLM_MODEL)"),
)  # fmt: skip


def command(
    commands: Any,
    name: str,
    run: Callable[[argparse.Namespace], Answer],
    meaning: str,
    *options: Option,
) -> list[str]:
    """Add a command with its options; return their names in the parsed arguments."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=meaning, description=f"{meaning[0].upper()}{meaning[1:]}."
    )
    parser.set_defaults(run=run)
    # Accepted before and after the command.
    parser.add_argument(
        "--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS
    )
    exclusive = None
    added = []
    for names, settings in options:
        group: argparse._ActionsContainer = parser
        if names[0] in ("--no-rerank", "--rerank-with"):
            group = exclusive = exclusive or parser.add_mutually_exclusive_group()
        added.append(group.add_argument(*names, **settings).dest)
    return added


def add_analysis(
    kinds: Any, name: str, function: str, meaning: str, *options: Option, saves: bool = False
) -> None:
    """Add a command that prints or saves the result of a function on an atlas.

    The function is named as ``module.function`` below ``landscape``. `options` become its keyword
    arguments; ``--model`` becomes the language model of the environment.
    """

    def run(parsed: argparse.Namespace) -> Answer:
        from landscape.atlas import open as open_atlas
        from landscape.figures._export import check_table_kind, save_table

        output = parsed.output if saves else None
        if output:
            check_table_kind(output)
        given = picked(parsed, *names)
        if "model" in given:
            given["model"] = connected_model() if given["model"] else None
        module, _, called = function.rpartition(".")
        analyse = getattr(importlib.import_module(f"landscape.{module}"), called)
        found = analyse(open_atlas(parsed.atlas), **given)
        return Answer(str(save_table(found, output))) if output else answer(found, parsed)

    output = option("-o", "--output", type=Path, metavar="FILE", help="csv, tex or json")
    added = command(kinds, name, run, meaning, ATLAS, JSON, *([output] if saves else []), *options)
    names = added[3 if saves else 2 :]


def picked(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return some of the parsed arguments by name."""
    return {name: getattr(options, name) for name in names}


def answer(record: Any, options: argparse.Namespace) -> Answer:
    """Return a record as text, or as JSON with ``--json``."""
    return Answer(as_json(record) if options.json else record.to_text())


def as_json(record: Any) -> str:
    """Write a record or a dict as JSON."""
    from landscape._serializer import to_json

    return to_json(record)


def connected_model() -> WritingModel:
    """Connect the language model of the environment; raise InputError if none is set."""
    from landscape.errors import InputError
    from landscape.llm import connect_from_environment

    model = connect_from_environment()
    if model is None:
        raise InputError(
            "No language model is set: set OPENAI_API_KEY, or OPENAI_BASE_URL and "
            "LANDSCAPE_LLM_MODEL, or omit --model."
        )
    return model


def note(line: str) -> None:
    """Write one line for the user to standard error."""
    with suppress(OSError):  # a closed standard error must not stop the command
        write_line(line, sys.stderr)


def write_line(text: str, stream: IO[str], *, end: str = "\n") -> None:
    """Print a text; a closed pipe, as in `landscape info X | head -1`, is not an error."""
    try:
        print(text, end=end, file=stream, flush=True)
    except OSError as error:
        # All later output, also of libraries, is discarded instead of failing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            raise


def with_filters_joined(words: Sequence[str]) -> list[str]:
    """Join ``--filter -review`` into one word, since argparse would read two options."""
    joined: list[str] = []
    for word in words:
        excludes = word[:1] == "-" and word[1:2] not in ("", "-") and word not in ("-h", "-k", "-o")
        if excludes and joined and joined[-1] == "--filter":
            joined[-1] = f"--filter={word}"
        else:
            joined.append(word)
    return joined
