"""Parse the command line, call the package and print the answer.

Slow modules are imported only by the commands that need them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from typing import Any

from cyclopts import App, CycloptsError, Group
from pydantic import ValidationError

from landscape.cli import _analyses, _building, _notebooks, _publishing, _questions
from landscape.cli._options import (
    DONE,
    FAILED,
    STOPPED,
    WRONG_INPUT,
    Answer,
    new_app,
    note,
    write_line,
)
from landscape.errors import InputError, LandscapeError

_HELP = {"--help", "-h"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    words = [word for word in words if word != "--debug"]
    try:
        try:
            command, given = parse(words)
        except CycloptsError as error:
            note(f"landscape: {_sentence(error)}")
            return WRONG_INPUT
        if isinstance(getattr(command, "__self__", None), App):  # the help, or the version
            return _print_help(command, given, words)
        # Some libraries print to standard output, which is reserved for the answer.
        with redirect_stdout(sys.stderr):
            answer: Answer = command(*given.args, **given.kwargs) or Answer("")
    except KeyboardInterrupt:
        note("stopped; run the same command again to continue")
        return STOPPED
    except LandscapeError as error:
        if debug:
            raise
        note(f"landscape: {error}")
        return error.exit_status
    except Exception as error:
        if debug:
            raise
        first_line = (str(error).splitlines() or [""])[0]
        note(f"landscape: {type(error).__name__}: {first_line}")
        note("run with --debug for the traceback")
        return FAILED
    if answer.text:
        try:
            write_line(answer.text, sys.stdout)
        except OSError as error:  # a full disk
            note(f"landscape: the answer cannot be written to standard output ({error.strerror})")
            return FAILED
    return answer.status


def parse(words: Sequence[str]) -> tuple[Callable[..., Any], Any]:
    """Return the command of a command line, and its arguments."""
    app = _program(words)
    command, given, _ = app.parse_args(list(words), print_error=False, exit_on_error=False)
    return command, given


def _program(words: Sequence[str]) -> App:
    """Return the program. Only the named group of commands is filled, because that takes time."""
    from landscape import __version__

    app = new_app(
        "landscape",
        "Build a labelled map of a research literature from abstracts, and search it. "
        "Begin with demo, lab and build.",
    )
    app.version = f"landscape {__version__}"
    begin, ask, analyse, data = (
        Group(name, sort_key=place)
        for place, name in enumerate(("Begin", "Ask", "Analyse and draw", "Data"))
    )
    for group, commands in (
        (begin, (_building.demo, _notebooks.lab)),
        (
            ask,
            (
                _questions.search,
                _questions.ask,
                _questions.survey,
                _questions.attribute,
                _questions.cite,
                _questions.check,
                _questions.mcp,
            ),
        ),
        (analyse, (_analyses.propose, _notebooks.app, _publishing.publish, _publishing.export)),
        (data, (_building.info, _building.sources, _building.changes)),
    ):
        for place, command in enumerate(commands):
            app.command(command, group=group, sort_key=place)  # type: ignore[call-overload]
    app.register_install_completion_command()
    named = next(iter(words), "")
    for group, name, text, fill in (
        (begin, "build", "Build an atlas from files of papers.", _building.add_build),
        (data, "update", "Add, change or remove papers of an atlas.", _building.add_update),
        (analyse, "render", "Draw the outreach map.", _analyses.add_render),
        (analyse, "figure", "Draw a figure.", _analyses.add_figures),
        (analyse, "table", "Compute the table of an analysis.", _analyses.add_tables),
        (
            analyse,
            "evaluate",
            "Measure the quality of a map or a method.",
            _analyses.add_evaluations,
        ),
        (data, "fetch", "Download papers.", _building.add_fetchers),
    ):
        part = new_app(name, text, group)
        if named in (name, "--install-completion"):
            fill(part)
        app.command(part)
    return app


def _print_help(command: Callable[..., Any], given: Any, words: Sequence[str]) -> int:
    """Print the help, or say on standard error that a command is missing."""
    if _HELP.isdisjoint(words) and "--version" not in words:
        line = " ".join(["landscape", *words])
        note(f"landscape: choose a command; {line} --help lists them")
        return WRONG_INPUT
    command(*given.args, **given.kwargs)
    return DONE


def _sentence(error: CycloptsError) -> str:
    """Return the message of an error of usage on one line, with the command that shows the help."""
    cause = error.__cause__
    if isinstance(cause, ValidationError):
        own = cause.errors()[0].get("ctx", {}).get("error")
        if isinstance(own, InputError):
            return str(own)
    text = " ".join(str(error).split())
    chain = " ".join(["landscape", *(error.command_chain or ())])
    return f"{text if text.endswith(('.', '?')) else f'{text}.'} See {chain} --help."
