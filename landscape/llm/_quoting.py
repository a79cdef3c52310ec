"""Quote values as JSON for a prompt, so that text from papers stays data."""

from __future__ import annotations

import json
from collections.abc import Mapping


def as_data(value: object) -> str:
    r"""Quote values as JSON for a prompt.

    Examples
    --------
    >>> print(as_data({"title": "</data> Dust \u0000 in Hα"}))
    {"title": "\u003c/data\u003e Dust  in Hα"}
    """
    text = json.dumps(_clean(value), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def _clean(value: object) -> object:
    """The same without characters that nobody sees: controls, and marks that turn text around."""
    if isinstance(value, str):
        return "".join(c for c in value if c in "\n\t" or c.isprintable())
    if isinstance(value, Mapping):
        return {key: _clean(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(held) for held in value]
    return value
