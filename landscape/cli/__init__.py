"""Parse the command line, call the package and print the answer.

Slow modules are imported only by the commands that need them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from importlib import import_module
from typing import Any

from cyclopts import App, CycloptsError, Group

from landscape._io import report_full_disk
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
_NEEDS_ALL = {"--install-completion"}

COMMANDS: dict[str, dict[str, tuple[str, str]]] = {
    "Begin": {
        "demo": (
            "building:demo",
            "Build and draw an atlas of synthetic papers, or of new ones of arXiv.",
        ),
        "lab": ("notebooks:lab", "Open JupyterLab with the notebooks."),
        "read": (
            "building:read",
            "Show what a build would read, repair, reject and merge, without building an atlas.",
        ),
        "build": ("building:add_build", "Build an atlas from files of papers."),
    },
    "Ask": {
        "search": ("questions:search", "Find papers by meaning and by words."),
        "ask": ("questions:ask", "Answer a question with evidence."),
        "survey": (
            "questions:survey",
            "Find all papers on a question: search, select and follow citations.",
        ),
        "attribute": ("questions:attribute", "Find the paper that an excerpt cites."),
        "cite": (
            "questions:cite",
            "Find papers to cite after a text; without an atlas, print how to cite Landscape.",
        ),
        "check": (
            "questions:check",
            "Check whether cited papers support the sentences of a draft.",
        ),
        "mcp": (
            "questions:mcp",
            "Serve an atlas to an AI assistant (MCP, standard input and output).",
        ),
    },
    "Your papers": {
        "library": ("library:add_library", "Read, refresh and share a library of your papers."),
        "digest": (
            "library:digest",
            "List what arrived in an atlas since you last looked, with the reasons for each paper.",
        ),
    },
    "Analyse and draw": {
        "table": ("analyses:add_tables", "Compute the table of an analysis."),
        "figure": ("analyses:add_figures", "Draw a figure."),
        "object": (
            "analyses:describe_object",
            "Describe what is known about an object: papers, values, places and similar objects.",
        ),
        "value": (
            "analyses:compare_value",
            "Compare a value with the measured values, and find out if it is an outlier.",
        ),
        "render": ("analyses:add_render", "Draw the outreach map."),
        "propose": (
            "analyses:propose",
            "Propose concepts for the thesaurus, in the format of its maintainers.",
        ),
        "evaluate": ("analyses:add_evaluations", "Measure the quality of a map or a method."),
        "app": ("notebooks:app", "Open an atlas as a web page with all panels."),
        "publish": ("publishing:publish", "Write a web site of an atlas, which needs no server."),
        "export": ("publishing:export", "Write the papers of an atlas for another program."),
    },
    "Data": {
        "info": ("building:info", "Describe an atlas and how it was built."),
        "update": ("building:add_update", "Add, change or remove papers of an atlas."),
        "sources": (
            "building:sources",
            "List the sources of an atlas, with their numbers of papers.",
        ),
        "changes": (
            "building:changes",
            "List the regions of an atlas that updates and new builds have changed, with reasons.",
        ),
        "basemap": (
            "building:add_basemap",
            "Write the map of an atlas for others, or place an atlas on such a map.",
        ),
        "fetch": ("building:add_fetchers", "Download papers."),
    },
}
"""For each group of the help, the commands with their functions and their help texts."""


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
        with redirect_stdout(sys.stderr), report_full_disk():
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
    """Return the program. A command is imported, and a group filled, only when it is named."""
    from landscape import __version__

    program = new_app(
        "landscape",
        "Build a labelled map of a research literature from abstracts, and search it. "
        "Begin with demo, lab and build.",
    )
    program.version = f"landscape {__version__}"
    for place, (title, commands) in enumerate(COMMANDS.items()):
        group = Group(title, sort_key=place)
        for order, (name, (where, text)) in enumerate(commands.items()):
            module, function = f"landscape.cli._{where}".split(":")
            if not function.startswith("add_"):
                program.command(
                    f"{module}:{function}", name=name, help=text, group=group, sort_key=order
                )
                continue
            part = new_app(name, text, group)
            part.sort_key = order
            if not _NEEDS_ALL.isdisjoint(words[:1]) or name in words[:1]:
                getattr(import_module(module), function)(part)
            program.command(part)
    program.register_install_completion_command()
    return program


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
    from pydantic import ValidationError

    cause = error.__cause__
    if isinstance(cause, ValidationError):
        own = cause.errors()[0].get("ctx", {}).get("error")
        if isinstance(own, InputError):
            return str(own)
    text = " ".join(str(error).split())
    chain = " ".join(["landscape", *(error.command_chain or ())])
    return f"{text if text.endswith(('.', '?')) else f'{text}.'} See {chain} --help."
