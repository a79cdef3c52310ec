"""Options of commands, made from the functions that they call, and the output of a command."""

from __future__ import annotations

import collections.abc
import inspect
import os
import re
import sys
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace, UnionType
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_args, get_origin

from cyclopts import App, Group, Parameter, Token

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


_SIMPLE = (str, int, float, bool, Path)


def derived(
    function: Callable[..., object],
    run: Callable[..., Answer],
    *,
    names: Mapping[str, str] = {},
    options: Collection[str] = (),
    hidden: Collection[str] = (),
    first: Sequence[inspect.Parameter] = (),
    extra: Sequence[inspect.Parameter] = (),
    of_atlas: bool = True,
) -> Callable[..., Answer]:
    """Return a command with the parameters of a function.

    Parameters
    ----------
    function : callable
        Function with a typed signature and a numpydoc docstring. Parameters of types that a
        command line cannot give are left out.
    run : callable
        Function that is called with the parameters of the command line.
    names : mapping of str to str
        Names of options that differ from the names of the parameters.
    options : collection of str
        Positional parameters that are options.
    hidden : collection of str
        Parameters that are left out.
    first, extra : sequence of inspect.Parameter
        Further positional parameters and options, which are given to `run`.
    of_atlas : bool
        Whether the first parameter of `function` is an atlas.
    """
    own = list(inspect.signature(function).parameters.values())[1 if of_atlas else 0 :]
    positional = [inspect.Parameter("atlas", _FIRST, annotation=AtlasFolder)] if of_atlas else []
    positional += first
    keyword = []
    for parameter in own:
        kind = None if parameter.name in hidden else _option_type(parameter, function)
        if kind is None or parameter.kind is parameter.VAR_KEYWORD:
            continue
        is_first = parameter.default is parameter.empty and parameter.kind is not _OPTION
        if is_first and parameter.name not in options:
            positional.append(parameter.replace(kind=_FIRST, annotation=kind))
            continue
        if parameter.name == "model":
            parameter = parameter.replace(default=False)
        written = names.get(parameter.name)
        if written or kind is bool:
            kind = Annotated[
                kind,
                Parameter(
                    name=written.split() if written else None,
                    negative=None if parameter.default is True else (),
                ),
            ]
        keyword.append(parameter.replace(kind=_OPTION, annotation=kind))
    if of_atlas:
        extra = [
            *extra,
            inspect.Parameter("trust_model", _OPTION, default=False, annotation=TrustModel),
        ]

    def command(*given: object, **options: object) -> Answer:
        bound = signature.bind(*given, **options)
        bound.apply_defaults()
        chosen = {name: value for name, value in bound.arguments.items() if value is not None}
        return run(function, **chosen)

    signature = inspect.Signature([*positional, *keyword, *extra])
    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {name: p.annotation for name, p in signature.parameters.items()}
    command.__doc__ = _SEVERAL.sub(_each_name, (function.__doc__ or "").replace("`", ""))
    return command


# Several parameters with one description, as "since, until : int".
_SEVERAL = re.compile(r"^( *)(\w+(?:, \w+)+)( :.*\n(?:\1 +.*\n)+)", re.MULTILINE)


def _each_name(match: re.Match[str]) -> str:
    """Repeat the description of several parameters for each of them."""
    return "".join(f"{match[1]}{name}{match[3]}" for name in match[2].split(", "))


_FIRST, _OPTION = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.KEYWORD_ONLY


def _option_type(parameter: inspect.Parameter, function: Callable[..., object]) -> Any:
    """Return the type that a command line reads for a parameter, or None if there is none."""
    if parameter.name == "model":
        return UseModel
    hint = parameter.annotation
    if isinstance(hint, str):
        try:
            known = inspect.unwrap(function).__globals__
            alone = SimpleNamespace(
                __annotations__={"type": hint}
            )  # of the others, some are unknown
            hint = typing.get_type_hints(alone, known, vars(typing), include_extras=True)["type"]
        except NameError:  # a type that is imported for the type checker only
            return str if parameter.default is parameter.empty else None
    members = get_args(hint) if get_origin(hint) in (typing.Union, UnionType) else (hint,)
    lists = [one for one in map(_list_type, members) if one is not None]
    if lists:
        return lists[0] | None
    simple = [m for m in members if m in _SIMPLE or get_origin(m) is Literal]
    if not simple:
        return str if parameter.default is parameter.empty else None
    chosen = Path if Path in simple else simple[0]
    return chosen if parameter.default is not None else chosen | None


def _list_type(hint: object) -> Any:
    """Return the type of an option that may be repeated, or of one with several values."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is tuple and inner[-1] is not ... and set(inner) <= set(_SIMPLE):
        return hint
    if origin not in (collections.abc.Sequence, tuple, list):
        return None
    if inner[0] == tuple[int, int]:
        return Annotated[
            list[tuple[int, int]],
            Parameter(converter=_read_spans, n_tokens=1, metavar="FIRST..LAST"),
        ]
    return list[inner[0]] if inner[0] in _SIMPLE else None  # type: ignore[valid-type]


def _read_spans(_: object, tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Read years such as ``2010..2014``."""
    spans = []
    for text in (token.value for token in tokens):
        first, dots, last = text.partition("..")
        try:
            span = int(first), int(last if dots else first)
        except ValueError as error:
            raise ValueError(f"{text} is not of the form FIRST..LAST") from error
        if span[0] > span[1]:
            raise ValueError(f"{text} ends before it begins")
        spans.append(span)
    return spans
