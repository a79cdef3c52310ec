"""Load prompts for language models, quote values in prompts, and parse replies."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

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


class ReplyForm(BaseModel):
    """Base class of reply forms. All fields are required, and other fields are not allowed.

    Examples
    --------
    >>> class Queries(ReplyForm):
    ...     queries: list[str]
    >>> Queries(queries=["dust in quasars"]).queries
    ['dust in quasars']
    """

    model_config = ConfigDict(extra="forbid", strict=True)


def reply_schema(form: type[ReplyForm]) -> dict[str, Any]:
    """Return the JSON schema of a reply form, without references and titles."""
    schema = form.model_json_schema()
    return _inlined(schema, schema.get("$defs", {}))


def _inlined(schema: dict[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return _inlined(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    kept = {k: v for k, v in schema.items() if k not in ("title", "description", "$defs")}
    if "properties" in kept:
        kept["properties"] = {
            name: _inlined(part, definitions) for name, part in kept["properties"].items()
        }
    if "items" in kept:
        kept["items"] = _inlined(kept["items"], definitions)
    return kept


def find_fault(value: object, schema: Mapping[str, object]) -> str:
    """Return the first violation of a JSON schema, or "" if the value is valid."""
    try:
        TypeAdapter(_type_of(schema)).validate_python(value, strict=True)
    except ValidationError as error:
        return first_error(error)
    return ""


_TYPES = {"string": str, "integer": int, "number": float, "boolean": bool}


def _type_of(schema: Mapping[str, Any]) -> Any:
    """Convert a JSON schema to a type that pydantic can check."""
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    kind = schema.get("type")
    if kind == "array":
        return list[_type_of(schema.get("items", {}))]  # type: ignore[misc] # a dynamic type
    if kind != "object":
        return _TYPES.get(str(kind), Any)
    required = schema.get("required", ())
    fields = {
        name: _type_of(part) if name in required else NotRequired[_type_of(part)]
        for name, part in schema.get("properties", {}).items()
    }
    form: Any = TypedDict("form", fields)  # type: ignore[misc] # a dynamic type
    extra: Any = "forbid" if schema.get("additionalProperties") is False else "allow"
    return with_config(ConfigDict(extra=extra))(form)


def first_error(error: ValidationError, *, whole: str = "the answer") -> str:
    """Describe the first validation error; `whole` names what was validated."""
    found = error.errors()[0]
    *path, last = found["loc"] or (whole,)
    within = ".".join(map(str, path)) or whole
    if found["type"] == "missing":
        return f"{within} has no {last!r}"
    if found["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"{within} has a key that the schema does not have"
    return f"{'.'.join(map(str, (*path, last)))}: {found['msg']}"


def first_object(text: str, schema: Mapping[str, object] | None = None) -> dict[str, Any] | None:
    """Return the first JSON object in a text that fits a schema, else the first one, or None.

    >>> first_object('Not {"b": 1} but {"a": 2}.', {"type": "object", "required": ["a"],
    ...     "properties": {"a": {"type": "integer"}}})
    {'a': 2}
    """
    decoder = json.JSONDecoder()
    first = None
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except RecursionError:
            break  # with thousands of nested brackets, parsing the rest takes minutes
        except json.JSONDecodeError:
            end = at + 1
        else:
            if schema is None or not find_fault(value, schema):
                return value
            first = value if first is None else first
        at = text.find("{", end)
    return first


_OPENING = r"<think(?:ing)?>|<thought>|<reasoning>|\[THINK\]|<\|channel\|>analysis<\|message\|>"
_CLOSING = (
    r"</think(?:ing)?>|</thought>|</reasoning>|\[/THINK\]|"
    r"<\|channel\|>final(?: ?<\|constrain\|>\w+)?<\|message\|>"
)
_TAG = re.compile(rf"(?P<opens>{_OPENING})|{_CLOSING}", re.IGNORECASE)
_START_OF_TAG = re.compile(r"(?:<\|.{0,60}|</?[a-z]{0,9}|\[/?[A-Z]{0,9})\Z", re.IGNORECASE)
_LONGEST_TAG = 60  # characters


class AnswerFilter:
    """Remove the thoughts of a model from a reply that arrives in pieces.

    If the opening tag is part of the prompt of a server, the reply starts with thoughts without a
    tag; with `held`, the answer is therefore returned after the first tag, or at the end.

    >>> AnswerFilter(held=False).add("<think>Why?</think>Because.", last=True)
    ['Because.']
    """

    def __init__(self, *, held: bool) -> None:
        self._held = held
        self.is_empty = True
        self.thinks = self.omits_opening_tag = False
        self._is_inside = self._is_after_tag = False
        self._rest = ""
        self._answer: list[str] = []

    def add(self, text: str, *, thought: str = "", last: bool = False) -> list[str]:
        """Return the pieces of the answer that are certain after another piece of the reply."""
        self.thinks = self.thinks or bool(thought)
        self._rest += text
        while tag := _TAG.search(self._rest):
            self._keep(tag.start())
            self._rest = self._rest.removeprefix(tag[0])
            if not tag["opens"] and not self._is_inside:
                self.omits_opening_tag = True
                self._answer.clear()
            self._is_inside = bool(tag["opens"])
            self.thinks = self._is_after_tag = True
        part = None if last else _START_OF_TAG.search(self._rest[-_LONGEST_TAG:])
        self._keep(len(self._rest) - len(part[0] if part else ""))
        if self._held and not self.thinks and not last:
            return []
        certain, self._answer = self._answer, []
        self.is_empty = self.is_empty and not "".join(certain).strip()
        return certain

    def _keep(self, n: int) -> None:
        """Move the first characters of the rest to the answer, unless they are thoughts."""
        text, self._rest = self._rest[:n], self._rest[n:]
        text = text.lstrip() if self._is_after_tag else text
        if text and not self._is_inside:
            self._answer.append(text)
            self._is_after_tag = False
