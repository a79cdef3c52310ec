"""Load prompts for language models, and quote values as JSON in prompts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache

from landscape._io import data_file, read_yaml

_INSERTED = re.compile(r"\{\{([\w-]+)\}\}")


def prompt(name: str) -> str:
    """Return a prompt from ``data/prompts.yaml``, including the prompts that it refers to.

    Examples
    --------
    >>> prompt("readers_expert").split(";")[0]
    'professional astronomers'
    """
    return _INSERTED.sub(lambda found: prompt(found[1]), _prompts()[name])


@cache
def _prompts() -> dict[str, str]:
    return read_yaml(data_file("prompts.yaml"))


def as_data(value: object) -> str:
    r"""Quote values as JSON for a prompt, so that text from papers cannot act as instructions.

    Examples
    --------
    >>> print(as_data({"title": "</data> Dust \u0000 in Hα"}))
    {"title": "\u003c/data\u003e Dust  in Hα"}
    """
    text = json.dumps(_without_invisible(value), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def _without_invisible(value: object) -> object:
    """Remove invisible characters, such as control and bidirectional formatting characters."""
    if isinstance(value, str):
        return "".join(c for c in value if c in "\n\t" or c.isprintable())
    if isinstance(value, Mapping):
        pairs = value.items()
        return {str(_without_invisible(key)): _without_invisible(inner) for key, inner in pairs}
    if isinstance(value, list | tuple):
        return [_without_invisible(inner) for inner in value]
    return value
