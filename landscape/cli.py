"""The command line: parses, calls, prints. No science, and nothing heavy before it is needed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout

from landscape.commands.answering import FAILED, STOPPED, Answer, note, write_line
from landscape.commands.building import add_build, add_demo, add_info
from landscape.commands.citing import add_attribute, add_check, add_cite, add_mcp
from landscape.commands.drawing import add_figure
from landscape.commands.fetching import add_fetch
from landscape.commands.measuring import add_evaluate
from landscape.commands.parsing import with_filters_joined
from landscape.commands.rendering import add_render
from landscape.commands.searching import add_ask, add_search
from landscape.commands.serving import add_app, add_lab
from landscape.commands.surveying import add_survey
from landscape.commands.tabling import add_propose, add_table
from landscape.errors import LandscapeError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words after ``landscape``; those of the process when not given.

    Returns
    -------
    int
        Exit status: 0 done, 2 wrong usage or bad input, 1 anything else, 130 stopped by Ctrl-C.

    Examples
    --------
    >>> main(["info", "no-such.atlas"])
    2
    """
    words = sys.argv[1:] if arguments is None else arguments
    options = _parser().parse_args(with_filters_joined(words))
    try:
        # Some libraries print as they please; standard output is for the answer alone.
        with redirect_stdout(sys.stderr):
            answer: Answer = options.run(options)
    except KeyboardInterrupt:
        note("stopped; run the same command again to go on")
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
            note(f"landscape: the answer cannot be written ({error.strerror})")
            return FAILED
    return answer.status


def _parser() -> argparse.ArgumentParser:
    from landscape import __version__

    parser = argparse.ArgumentParser(
        prog="landscape",
        description="Map a research literature: from a pile of abstracts to a labelled atlas.",
    )
    parser.add_argument("--version", action="version", version=f"landscape {__version__}")
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in (
        add_demo,
        add_build,
        add_info,
        add_search,
        add_ask,
        add_survey,
        add_attribute,
        add_cite,
        add_check,
        add_figure,
        add_render,
        add_table,
        add_propose,
        add_evaluate,
        add_fetch,
        add_mcp,
        add_lab,
        add_app,
    ):
        add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
