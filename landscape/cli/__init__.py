"""Parse the command line, call the package and print the answer.

Slow modules are imported only by the commands that need them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout

from landscape.cli import _analyses, _build, _notebooks, _questions
from landscape.cli._arguments import (
    FAILED,
    STOPPED,
    Answer,
    add_commands,
    note,
    with_filters_joined,
    write_line,
)
from landscape.errors import LandscapeError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command."""
    words = sys.argv[1:] if arguments is None else arguments
    options = _parser().parse_args(with_filters_joined(words))
    try:
        # Some libraries print to standard output, which is reserved for the answer.
        with redirect_stdout(sys.stderr):
            answer: Answer = options.run(options)
    except KeyboardInterrupt:
        note("stopped; run the same command again to continue")
        return STOPPED
    except LandscapeError as error:
        if options.debug:
            raise
        note(f"landscape: {error}")
        return error.exit_status
    except Exception as error:
        if options.debug:
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


def _parser() -> argparse.ArgumentParser:
    from landscape import __version__

    parser = argparse.ArgumentParser(
        prog="landscape",
        description="Build a labelled map of a research literature from abstracts, and search it.",
    )
    parser.add_argument("--version", action="version", version=f"landscape {__version__}")
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    add_commands(
        parser, _build.COMMANDS | _questions.COMMANDS | _analyses.COMMANDS | _notebooks.COMMANDS
    )
    return parser
