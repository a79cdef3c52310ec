"""Commands and options from ``commands.yaml``, and the output of a command."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import landscape
from landscape._io import data_file, read_yaml
from landscape._wording import escape_invisible
from landscape.errors import InputError

if TYPE_CHECKING:
    from landscape.atlas import Atlas
    from landscape.llm import WritingModel

DONE, FAILED, WRONG_INPUT, STOPPED = 0, 1, 2, 130


class Answer(NamedTuple):
    """Text for standard output, and the exit status."""

    text: str
    status: int = DONE


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


_TYPES = {"path": Path, "positive": positive, "integer": int, "number": float, "years": as_span}


def add_commands(
    parser: argparse.ArgumentParser, functions: Mapping[str, Callable[[argparse.Namespace], Answer]]
) -> None:
    """Add the commands of ``commands.yaml``.

    `functions` maps the name of a command, such as ``"search"`` or ``"evaluate map"``, to its
    function. The name of a group, such as ``"evaluate"``, maps to the function for all other
    commands of the group.
    """
    facts = read_yaml(data_file("commands.yaml"))
    shared = facts["shared"]
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, command in facts["commands"].items():
        if "commands" not in command:
            _add_command(commands, name, command, shared, functions[name])
            continue
        group = commands.add_parser(name, help=command["help"])
        kinds = group.add_subparsers(
            title=f"{command['kind']}s", metavar=command["kind"].upper(), required=True
        )
        for kind, its_command in command["commands"].items():
            run = functions.get(f"{name} {kind}") or functions[name]
            _add_command(kinds, kind, its_command, shared, run)


def _add_command(
    commands: Any,
    name: str,
    command: Mapping[str, Any],
    shared: Mapping[str, Any],
    run: Callable[[argparse.Namespace], Answer],
) -> None:
    meaning = command["help"]
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=meaning, description=f"{meaning[0].upper()}{meaning[1:]}."
    )
    # This option is accepted before and after the command.
    parser.add_argument(
        "--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS
    )
    exclusive = None
    added = []
    for names, own in command["options"].items():
        settings = dict(shared[names] if own is None else own)
        if "type" in settings:
            settings["type"] = _TYPES[settings["type"]]
        if isinstance(settings.get("metavar"), list):  # one name for each value
            settings["metavar"] = tuple(settings["metavar"])
        group: argparse._ActionsContainer = parser
        if names in ("--no-rerank", "--rerank-with"):
            group = exclusive = exclusive or parser.add_mutually_exclusive_group()
        added.append(group.add_argument(*names.split(", "), **settings).dest)
    if {"atlas", "--atlas"} & command["options"].keys() and name not in ("lab", "app"):
        parser.add_argument("--trust-model", **shared["--trust-model"])
    parser.set_defaults(run=run, function=command.get("function"), arguments=added)


def arguments_of(options: argparse.Namespace, *without: str) -> dict[str, Any]:
    """Return parsed options of a command, except atlas, output, json and the names in `without`."""
    omitted = {"atlas", "json", "output", *without}
    return picked(options, *(name for name in options.arguments if name not in omitted))


def function_of(options: argparse.Namespace) -> Callable[..., Any]:
    """Return the function that ``commands.yaml`` specifies for a command."""
    module, _, name = options.function.rpartition(".")
    function: Callable[..., Any] = getattr(importlib.import_module(f"landscape.{module}"), name)
    return function


def open_atlas(options: argparse.Namespace, folder: Path | None = None) -> Atlas:
    """Open the atlas of a command; the option ``--trust-model`` allows its embedding model."""
    return landscape.open(folder or options.atlas, trust_model=options.trust_model)


def run_analysis(options: argparse.Namespace) -> Answer:
    """Print or save the result of a function on an atlas.

    With ``--model``, the function receives the language model set in the environment.
    """
    from landscape.figures import save_table
    from landscape.figures.export import check_table_kind

    output = getattr(options, "output", None)
    if output:
        check_table_kind(output)
    given = arguments_of(options)
    if "model" in given:
        given["model"] = connected_model() if given["model"] else None
    found = function_of(options)(open_atlas(options), **given)
    return Answer(str(save_table(found, output))) if output else answer(found, options)


def picked(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return the parsed arguments with the given names."""
    return {name: getattr(options, name) for name in names}


def answer(record: Any, options: argparse.Namespace) -> Answer:
    """Return a record as text, or as JSON with ``--json``."""
    return Answer(as_json(record) if options.json else record.to_text())


def as_json(record: Any) -> str:
    """Write a record or a dict as JSON."""
    from landscape._serializer import to_json

    return to_json(record)


def connected_model() -> WritingModel:
    """Connect to the language model set in the environment; raise InputError if none is set."""
    from landscape.llm import connect_from_environment

    model = connect_from_environment()
    if model is None:
        raise InputError(
            "No language model is set. Set OPENAI_API_KEY, or OPENAI_BASE_URL and "
            "LANDSCAPE_LLM_MODEL, or omit --model."
        )
    return model


def note(line: str) -> None:
    """Write one line for the user to standard error."""
    with suppress(OSError):  # a closed standard error must not stop the command
        write_line(line, sys.stderr)


def write_line(text: str, stream: IO[str], *, end: str = "\n") -> None:
    """Print a text; ignore a closed pipe, as in `landscape info X | head -1`."""
    try:
        print(escape_invisible(text), end=end, file=stream, flush=True)
    except OSError as error:
        # Discard all later output, including output from libraries, so that it does not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            raise


def with_filters_joined(words: Sequence[str]) -> list[str]:
    """Join ``--filter -review`` into one argument, because argparse would read two options."""
    joined: list[str] = []
    for word in words:
        excludes = word[:1] == "-" and word[1:2] not in ("", "-") and word not in ("-h", "-k", "-o")
        if excludes and joined and joined[-1] == "--filter":
            joined[-1] = f"--filter={word}"
        else:
            joined.append(word)
    return joined
