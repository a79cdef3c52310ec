"""JSON in what a language model says: find it, and say where it departs from a schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def first_object(text: str) -> dict[str, Any] | None:
    """Find the first JSON object in a text, whatever stands around it.

    Parameters
    ----------
    text : str

    Returns
    -------
    dict or None

    Examples
    --------
    >>> first_object('Sure! {here} you go: {"a": {"b": 1}} Anything else?')
    {'a': {'b': 1}}
    >>> first_object("[1, 2]") is None
    True
    """
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        try:
            value, _ = decoder.raw_decode(text, at)
        except RecursionError:
            return None  # nested by the thousand: the rest is no better, and takes minutes
        except json.JSONDecodeError:
            at = text.find("{", at + 1)
            continue
        return value if isinstance(value, dict) else None
    return None


_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}


def misfit(value: object, schema: Mapping[str, Any], *, at: str = "the answer") -> str:
    """Say where a value departs from a JSON schema.

    Parameters
    ----------
    value : object
        As parsed from JSON.
    schema : mapping
        The part of JSON schema that ``complete_json`` names; other keys are ignored.
    at : str, default "the answer"
        What to call the value.

    Returns
    -------
    str
        Empty where it fits.

    Examples
    --------
    >>> misfit({"n": "2"}, {"type": "object", "properties": {"n": {"type": "integer"}}})
    'n is not of type integer'
    """
    kind = schema.get("type", "")
    fits = isinstance(value, _TYPES.get(kind, object))
    if not fits or (isinstance(value, bool) and kind in ("integer", "number")):
        return f"{at} is not of type {kind}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{at} is none of {schema['enum']}"
    if isinstance(value, dict):
        return _misfit_of_object(value, schema, at=at)
    if isinstance(value, list) and "items" in schema:
        return next(filter(None, (misfit(v, schema["items"], at=f"{at}[]") for v in value)), "")
    return ""


def _misfit_of_object(value: dict[str, Any], schema: Mapping[str, Any], *, at: str) -> str:
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            return f"{at} has no {name!r}"
    if schema.get("additionalProperties") is False and value.keys() - known.keys():
        return f"{at} has a key that the schema does not have"
    return next(filter(None, (misfit(value[n], known[n], at=n) for n in known if n in value)), "")
