"""Lines of code that reproduce the result of a panel."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from landscape.widgets._connection import Connection, Used


class Name(str):
    """A variable, written as it is."""


def called(function: str, *arguments: Any, **options: Any) -> str:
    """Write a call as a line of code."""
    parts = [written(value) for value in arguments]
    parts += [f"{name}={written(value)}" for name, value in options.items()]
    return f"{function}({', '.join(parts)})"


def call(function: str, *arguments: Any, **options: Any) -> str:
    """Write the call of a function of the atlas; options that are None keep their default."""
    return called(function, Name("atlas"), *arguments, **_given(options))


def figure_lines(
    analysis: str, kind: str, *arguments: Any, printed: str | None = None, **options: Any
) -> str:
    """Write the calls of an analysis, of its figure for the screen and of the one for print."""
    of_kind = (kind, Name("atlas"), *arguments)
    screen = called("ls.figures.interactive", *of_kind, **_given(options))
    if printed == "intervals":
        page = called("ls.figures.intervals", *of_kind, **_given(options))
    else:
        page = call(f"ls.figures.{printed or kind}", *arguments, **options)
    return join_lines(f"found = {analysis}", f"figure = {screen}", f"page = {page}")


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def written(value: Any) -> str:
    """Write a value as a Python literal, strings in double quotes."""
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
    """Write the lines that connect the model that a panel used; none without a model."""
    return [] if name is None else connecting_again(connection.used, name)


def connecting_again(used: Used, name: str) -> list[str]:
    """Write the lines that connect a model to the same server."""
    # Without an explicit empty key, OPENAI_API_KEY would be sent to this server.
    key = f'os.environ.get({written(used.key_variable)}, "")'
    made = called("connect", base_url=used.server, model=name, api_key=Name(key))
    return ["import os", "from landscape.llm import connect", f"model = {made}"]


def desk_lines(names: str, *, is_ours: bool, off: Sequence[str] = ()) -> list[str]:
    """Write the lines that create a desk with the atlas, where one is needed."""
    if is_ours:
        made = [f"from landscape.agents import Desk, {names}", "desk = Desk().add(atlas)"]
        return made if names else []
    switched = "".join(f".switch_off({written(name)})" for name in off)
    imports = [f"from landscape.agents import {names}"] if names else []
    return [*imports, f"desk = desk{switched}"] if switched else imports


def join_lines(*parts: str | Sequence[str]) -> str:
    """Join lines of code, and lists of them; empty ones are omitted."""
    listed = [[part] if isinstance(part, str) else part for part in parts]
    return "\n".join(line for part in listed for line in part if line)
