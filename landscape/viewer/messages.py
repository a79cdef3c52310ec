"""Messages between the viewer in a notebook and the kernel, declared once for both sides.

`typescript` writes the same declarations for the JavaScript of the viewer, which are in
``js/src/messages.d.ts``. A test compares the file with this module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from types import UnionType
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_type_hints

from landscape._wording import did_you_mean
from landscape.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Read:
    """The browser needs a file of the map."""

    name: str


@dataclass(frozen=True)
class Search:
    """Find papers; the answer is a `SearchResult` with the same key."""

    query: str
    method: str
    k: int
    years: list[int] | None


@dataclass(frozen=True)
class Select:
    """Select the papers that pass a filter."""

    filter: str


@dataclass(frozen=True)
class Summary:
    """Show a summary of the selected papers."""


@dataclass(frozen=True)
class Compare:
    """Compare the selected papers with the rest."""


@dataclass(frozen=True)
class Ask:
    """Answer a question from the selected papers."""

    question: str


@dataclass(frozen=True)
class Save:
    """Make a file of the map, whose ending is `suffix`."""

    suffix: str


@dataclass(frozen=True)
class Table:
    """Make a table of the listed papers; `name` is ``papers.csv`` or ``papers.bib``."""

    name: str


@dataclass(frozen=True)
class Rename:
    """Save another name of a region."""

    region: int
    label: str


@dataclass(frozen=True)
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
    given = {key: value for key, value in message.items() if key != "do"}
    wanted = {field.name for field in fields(_REQUESTS[name])}
    faults = {"lacks": wanted - given.keys(), "does not have": given.keys() - wanted}
    for fault, odd in faults.items():
        if odd:
            field = min(map(str, odd))[:40]
            raise InputError(
                f"The request {name!r} {fault} the field {field!r}; load the page again."
            )
    for key, hint in get_type_hints(_REQUESTS[name]).items():
        if not _fits(given[key], hint):
            raise InputError(f"The request {name!r} of the page has a wrong value of {key!r}.")
    request: Request = _REQUESTS[name](**given)
    return request


def _fits(value: object, hint: Any) -> bool:
    """Return whether a value has the type of a field; a list has two items, as years have."""
    if isinstance(hint, UnionType):
        return any(_fits(value, one) for one in get_args(hint))
    if arguments := get_args(hint):
        return (
            isinstance(value, list)
            and len(value) == 2
            and all(_fits(one, arguments[0]) for one in value)
        )
    return isinstance(value, hint) and not (hint is int and isinstance(value, bool))


_TYPES = {str: "string", int: "number", float: "number", bool: "boolean", bytes: "DataView"}


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
    if isinstance(hint, UnionType):
        return " | ".join("null" if one is type(None) else _type(one) for one in get_args(hint))
    if arguments := get_args(hint):
        return f"{_type(arguments[0])}[]"
    return _TYPES.get(hint, "unknown")
