"""Calls as lines of code, as a reader would type them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def call(function: str, *arguments: Any, **options: Any) -> str:
    """A call as a line of code; what is None is left to its default.

    Examples
    --------
    >>> call("ls.figures.trends", since=2010, until=None)
    'ls.figures.trends(atlas, since=2010)'
    >>> call("ls.figures.compare", "facility:HST", "..2005")
    'ls.figures.compare(atlas, "facility:HST", "..2005")'
    """
    return _call(function, ["atlas", *map(_written, arguments)], options)


def twin_call(kind: str, *arguments: Any, **options: Any) -> str:
    """The call of a figure's twin for the screen.

    Examples
    --------
    >>> twin_call("trends")
    'ls.figures.interactive("trends", atlas)'
    """
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
