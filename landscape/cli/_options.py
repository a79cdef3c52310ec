"""Options that several commands share, and the output of a command."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, NamedTuple

from cyclopts import App, Group, Parameter

import landscape
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


def option(help: str = "", *names: str) -> Parameter:  # noqa: A002 - the word of the library
    """Return an option with a help text, and without the form ``--no-...``."""
    return Parameter(name=names or None, help=help or None, negative=())


SETTINGS = Parameter(name="*")
"""Each field of a settings class is an option of its own."""

AtlasFolder = Annotated[Path, Parameter(help="directory of the atlas")]
Json = Annotated[bool, option("print one JSON document")]
NoModel = Annotated[bool, option("do not use the language model set in the environment")]
UseModel = Annotated[bool, option("use the language model set in the environment")]
TrustModel = Annotated[
    bool,
    option(
        "load the sentence-transformers model named in the atlas; use it only if you trust the "
        "atlas"
    ),
]

# An option that may be repeated is named in the singular.
_SINGULAR = {
    "concepts": "concept",
    "facilities": "facility",
    "keywords": "keyword",
    "seeds": "seed",
    "slices": "slice",
}


def option_name(name: str) -> str:
    """Return the name of the option of a parameter."""
    return _SINGULAR.get(name, name).replace("_", "-")


def new_app(name: str, help: str, group: Group | None = None) -> App:  # noqa: A002
    """Return a program or a group of commands."""
    return App(
        name=name,
        help=help,
        group=group,
        version=None,
        help_format="plaintext",
        default_parameter=Parameter(
            name_transform=option_name,
            negative_iterable=(),
            negative_none=(),
            allow_leading_hyphen=True,
            show_default=lambda value: str(value) if value else None,
            short_alias=lambda field, _: "-k" if field.name == "k" else None,
        ),
    )


def open_atlas(folder: Path, trust_model: bool) -> Atlas:
    """Open the atlas of a command."""
    return landscape.open(folder, trust_model=trust_model)


def answer(record: Any, json: bool) -> Answer:
    """Return a record as text, or as JSON with ``--json``."""
    return Answer(as_json(record) if json else record.to_text())


def as_json(record: Any) -> str:
    """Write a record or a dict as JSON."""
    from landscape._serializer import to_json

    return to_json(record)


def connected_model(wanted: bool = True) -> WritingModel | None:
    """Connect to the language model set in the environment; raise InputError if none is set."""
    if not wanted:
        return None
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
