"""Lines of code that do what the panels of survey, attribution and writing did."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from landscape.widgets.connection import Connection, Used


def called(function: str, *arguments: Any, **options: Any) -> str:
    """A call as a line of code.

    Examples
    --------
    >>> called("atlas.cite", "Dust cools", k=5)
    'atlas.cite("Dust cools", k=5)'
    """
    told = [written(value) for value in arguments]
    told += [f"{name}={written(value)}" for name, value in options.items()]
    return f"{function}({', '.join(told)})"


class Name(str):
    """A variable, written as it is."""


def written(value: Any) -> str:
    """A value as Python reads it, strings in double quotes.

    Examples
    --------
    >>> written(["a", 2, None]), written(Name("model"))
    ('["a", 2, None]', 'model')
    """
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
    """Lines that connect the model that a panel used; without one there are none.

    Parameters
    ----------
    connection : Connection
    name : str or None
        The model's name; None where none was connected.

    Returns
    -------
    list of str
        They hold no key, only the environment variable that it is taken from.
    """
    return [] if name is None else connecting_again(connection.used, name)


def connecting_again(used: Used, name: str) -> list[str]:
    """Lines that connect a model where it was connected before.

    Parameters
    ----------
    used : Used
    name : str
        The model's name.

    Examples
    --------
    >>> from landscape.widgets.connection import Used
    >>> print(connecting_again(Used("http://localhost:11434/v1", "MY_KEY"), "qwen3")[-1])
    model = connect(base_url="http://localhost:11434/v1", model="qwen3",
    api_key=os.environ.get("MY_KEY", ""))
    """
    # An empty key is none; without it, OPENAI_API_KEY would go to whatever server this is.
    key = f'os.environ.get({written(used.key_variable)}, "")'
    made = called("connect", base_url=used.server, model=name, api_key=Name(key))
    return ["import os", "from landscape.llm import connect", f"model = {made}"]


def desk_lines(names: str, *, is_ours: bool, off: Sequence[str] = ()) -> list[str]:
    """Lines that put the atlas on a desk, where one is needed.

    Parameters
    ----------
    names : str
        What else of `landscape.agents` is needed; empty where no desk is.
    is_ours : bool
        Whether the desk holds the atlas alone; else the reader has one, called `desk`.
    off : sequence of str
        Corpora that are switched off.

    Examples
    --------
    >>> desk_lines("as_latex", is_ours=True)
    ['from landscape.agents import Desk, as_latex', 'desk = Desk().add(atlas)']
    >>> desk_lines("", is_ours=False, off=["Mine"])
    ['desk = desk.switch_off("Mine")']
    """
    if is_ours:
        made = [f"from landscape.agents import Desk, {names}", "desk = Desk().add(atlas)"]
        return made if names else []
    switched = "".join(f".switch_off({written(name)})" for name in off)
    told = [f"from landscape.agents import {names}"] if names else []
    return [*told, f"desk = desk{switched}"] if switched else told


def lines(*told: str | Sequence[str]) -> str:
    """Lines of code, one below the other."""
    flat: list[str] = []
    for one in told:
        flat += [one] if isinstance(one, str) else list(one)
    return "\n".join(filter(None, flat))
