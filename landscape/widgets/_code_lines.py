"""Calls as lines of code, as a reader would type them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from landscape.widgets._connection import Connection, Used


def call(function: str, *arguments: Any, **options: Any) -> str:
    """A call as a line of code; what is None is left to its default."""
    return _call(function, ["atlas", *map(_written, arguments)], options)


def twin_call(kind: str, *arguments: Any, **options: Any) -> str:
    """The call of a figure's twin for the screen."""
    parts = [_written(kind), "atlas", *map(_written, arguments)]
    return _call("ls.figures.interactive", parts, options)


def intervals_call(kind: str, *arguments: Any, **options: Any) -> str:
    """The call of a chart of intervals for print."""
    parts = [_written(kind), "atlas", *map(_written, arguments)]
    return _call("ls.figures.intervals", parts, options)


def lines(*, found: str, figure: str | None, page: str | None) -> str:
    """Lines of code: the analysis, the figure on the screen, the page for print."""
    named = (("found", found), ("figure", figure), ("page", page))
    return "\n".join(f"{name} = {made}" for name, made in named if made)


def _call(function: str, parts: list[str], options: Mapping[str, Any]) -> str:
    told = [f"{name}={_written(value)}" for name, value in options.items() if value is not None]
    return f"{function}({', '.join([*parts, *told])})"


def _written(value: Any) -> str:
    """A value as Python writes it, strings in double quotes."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_written(k)}: {_written(v)}' for k, v in value.items())}}}"
    return repr(value)


def called(function: str, *arguments: Any, **options: Any) -> str:
    """A call as a line of code."""
    told = [written(value) for value in arguments]
    told += [f"{name}={written(value)}" for name, value in options.items()]
    return f"{function}({', '.join(told)})"


class Name(str):
    """A variable, written as it is."""


def written(value: Any) -> str:
    """A value as Python reads it, strings in double quotes."""
    if isinstance(value, Name):
        return str(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{written(k)}: {written(v)}' for k, v in value.items())}}}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(written, value))}]"
    return repr(value)


def connecting(connection: Connection, name: str | None) -> list[str]:
    """Lines that connect the model that a panel used; without one there are none."""
    return [] if name is None else connecting_again(connection.used, name)


def connecting_again(used: Used, name: str) -> list[str]:
    """Lines that connect a model where it was connected before."""
    # An empty key is none; without it, OPENAI_API_KEY would go to whatever server this is.
    key = f'os.environ.get({written(used.key_variable)}, "")'
    made = called("connect", base_url=used.server, model=name, api_key=Name(key))
    return ["import os", "from landscape.llm import connect", f"model = {made}"]


def desk_lines(names: str, *, is_ours: bool, off: Sequence[str] = ()) -> list[str]:
    """Lines that put the atlas on a desk, where one is needed."""
    if is_ours:
        made = [f"from landscape.agents import Desk, {names}", "desk = Desk().add(atlas)"]
        return made if names else []
    switched = "".join(f".switch_off({written(name)})" for name in off)
    told = [f"from landscape.agents import {names}"] if names else []
    return [*told, f"desk = desk{switched}"] if switched else told


def lines_scholar_code(*told: str | Sequence[str]) -> str:
    """Lines of code, one below the other."""
    flat: list[str] = []
    for one in told:
        flat += [one] if isinstance(one, str) else list(one)
    return "\n".join(filter(None, flat))
