"""Messages between the viewer in a notebook and the kernel, declared once for both sides.

`typescript` writes the same declarations for the JavaScript of the viewer, which are in
``js/src/messages.d.ts``. A test compares the file with this module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, Field, ValidationError
from pydantic.dataclasses import dataclass

from landscape._wording import did_you_mean
from landscape.errors import InputError
from landscape.llm.prompts import first_error

_CHECKED = ConfigDict(strict=True, extra="forbid")


@dataclass(frozen=True, config=_CHECKED)
class Read:
    """The browser needs a file of the map."""

    name: str


@dataclass(frozen=True, config=_CHECKED)
class Search:
    """Find papers; the answer is a `SearchResult` with the same key."""

    query: str
    method: str
    k: int
    years: Annotated[list[int], Field(min_length=2, max_length=2)] | None


@dataclass(frozen=True, config=_CHECKED)
class Select:
    """Select the papers that pass a filter."""

    filter: str


@dataclass(frozen=True, config=_CHECKED)
class Summary:
    """Show a summary of the selected papers."""


@dataclass(frozen=True, config=_CHECKED)
class Compare:
    """Compare the selected papers with the rest."""


@dataclass(frozen=True, config=_CHECKED)
class Ask:
    """Answer a question from the selected papers."""

    question: str


@dataclass(frozen=True, config=_CHECKED)
class Save:
    """Make a file of the map, whose ending is `suffix`."""

    suffix: str


@dataclass(frozen=True, config=_CHECKED)
class Table:
    """Make a table of the listed papers; `name` is ``papers.csv`` or ``papers.bib``."""

    name: str


@dataclass(frozen=True, config=_CHECKED)
class Rename:
    """Save another name of a region."""

    region: int
    label: str


@dataclass(frozen=True, config=_CHECKED)
class Reload:
    """Open the atlas again after a rebuild."""


Request = Read | Search | Select | Summary | Compare | Ask | Save | Table | Rename | Reload
"""Messages of the browser to the kernel."""

_REQUESTS: Mapping[str, type[Any]] = {one.__name__.lower(): one for one in get_args(Request)}


class SearchResult(NamedTuple):
    """Papers found, as the value of the trait `found` of the widget."""

    key: Sequence[object]  # query, method, k and years of the search
    note: str = ""
    problem: str = ""
    points: bytes = b""


def read_request(message: Mapping[str, Any]) -> Request:
    """Return the request in a message of the browser; raise InputError if it has another form.

    >>> read_request({"do": "select", "filter": "2015.."})
    Select(filter='2015..')
    >>> read_request({"do": "selected"})
    Traceback (most recent call last):
    landscape.errors.InputError: The page sent the request 'selected'; did you mean 'select'? ...
    """
    name = str(message.get("do", "")) if isinstance(message, Mapping) else ""
    if name not in _REQUESTS:
        hint = did_you_mean(name, _REQUESTS)
        raise InputError(f"The page sent the request {name[:40]!r}{hint} Load the page again.")
    try:
        request: Request = _REQUESTS[name](
            **{str(key): value for key, value in message.items() if key != "do"}
        )
    except ValidationError as error:
        fault = first_error(error, whole="it")[:200]
        raise InputError(
            f"The request {name!r} of the page cannot be read ({fault}). Load the page again."
        ) from None
    return request


_TYPES = {str: "string", int: "number", bytes: "DataView"}


def typescript() -> str:
    """Return the declarations of the messages in TypeScript."""
    requests = [f"  | {_shape(one, name)}" for name, one in _REQUESTS.items()]
    return (
        "// Written by python -m tests.viewer.test_messages from landscape/viewer/messages.py.\n\n"
        + "export type Request =\n"
        + "\n".join(requests)
        + f";\n\nexport type SearchResult = {_shape(SearchResult)};\n"
    )


def _shape(message: type[Any], request: str = "") -> str:
    """Return the fields of a message; the first one of a request is its name."""
    own = [f"{name}: {_type(hint)}" for name, hint in get_type_hints(message).items()]
    return f"{{ {'; '.join([*([f'do: {request!r}'] if request else []), *own])} }}"


def _type(hint: Any) -> str:
    if get_origin(hint) in (Union, UnionType):
        return " | ".join("null" if one is type(None) else _type(one) for one in get_args(hint))
    if arguments := get_args(hint):
        return f"{_type(arguments[0])}[]"
    return _TYPES.get(hint, "unknown")
