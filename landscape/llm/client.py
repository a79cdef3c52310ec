"""Ask a language model for an answer of a given form."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Protocol

from landscape.errors import InputError, RemoteError, require
from landscape.llm.server import Server

_OPENAI_MODEL = "gpt-4o-mini"

#: How a server can be held to a form, strictest first; older servers know only the later ones.
_FORMS = ("json_schema", "json_object", "text")


class LanguageModel(Protocol):
    """What the rest of Landscape knows of a language model."""

    @property
    def model(self) -> str:
        """Name of the model, for the manifest."""

    def complete_json(self, system: str, user: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Answer `user` under the instructions in `system`, in the form of a JSON schema.

        Raises
        ------
        RemoteError
            No usable answer; the message is a sentence for the user.
        """


def connect(
    *,
    model: str | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    timeout: float = 120.0,
    retries: int = 4,
    token_budget: int = 500_000,
) -> ChatModel:
    """Connect a language model behind the OpenAI protocol. Nothing is sent yet.

    Parameters
    ----------
    model : str, optional
        Default: the environment variable LANDSCAPE_LLM_MODEL; for OpenAI itself also gpt-4o-mini.
    base_url : str, optional
        Default: OPENAI_BASE_URL, else OpenAI.
    api_key : str, optional
        Default: OPENAI_API_KEY.
    timeout : float, default 120
        Seconds for one try.
    retries : int, default 4
        Further tries after a first that failed.
    token_budget : int, default 500000
        Tokens that this connection may use in all, both ways.

    Returns
    -------
    ChatModel

    Raises
    ------
    InputError
        Neither a key nor a server is set, or a server without a model name.
    MissingExtraError
        The package ``openai`` is not installed.

    Examples
    --------
    >>> connect(base_url="http://localhost:11434/v1", model="qwen3").model
    'qwen3'
    """
    server = Server(base_url=base_url, api_key=api_key, timeout=timeout, retries=retries)
    name = model or os.environ.get("LANDSCAPE_LLM_MODEL")
    if not name and not server.is_openai:
        message = (
            f"Which model of {server.url} to use? "
            "Set the environment variable LANDSCAPE_LLM_MODEL to its name."
        )
        raise InputError(message)
    return ChatModel(server, model=name or _OPENAI_MODEL, token_budget=token_budget)


class ChatModel:
    """A chat model on an OpenAI-compatible server.

    Parameters
    ----------
    server : Server
    model : str
    token_budget : int
        Tokens that may be used in all. Where a server does not count, four bytes are taken for one.

    Attributes
    ----------
    tokens_used : int
        So far.
    """

    def __init__(self, server: Server, *, model: str, token_budget: int) -> None:
        self._server, self._model = server, model
        self._budget = token_budget
        self._forms = list(_FORMS)
        self.tokens_used = 0

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._model

    def complete_json(self, system: str, user: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Answer in the form of a JSON schema; an answer of another form is asked for once more.

        Parameters
        ----------
        system, user : str
        schema : mapping
            JSON schema of an object, made of ``type``, ``properties``, ``required``, ``items``,
            ``enum`` and ``additionalProperties``.

        Returns
        -------
        dict
            Fits the schema.

        Raises
        ------
        RemoteError
            The server failed, the budget is spent, or two answers did not fit.
        """
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        fault = ""
        for _ in range(2):
            text = self._ask(messages, schema)
            value = first_object(text)
            fault = "it holds no JSON object" if value is None else misfit(value, schema)
            if value is not None and not fault:
                return value
            messages = [
                *messages[:2],
                {"role": "assistant", "content": text},
                {"role": "user", "content": f"This does not fit the schema: {fault}. Try again."},
            ]
        message = f"{self._model} on {self._server.url} answered twice in the wrong form: {fault}."
        raise RemoteError(message)

    def _ask(self, messages: list[dict[str, str]], schema: Mapping[str, Any]) -> str:
        """Send one request, in the strictest form that this server has not turned down."""
        self._check_budget(messages)
        openai = require("openai", "llm")
        while True:
            form = self._forms[0]
            with self._server.reporting(self._model):
                try:
                    reply = self._server.client.chat.completions.create(
                        **self._request(messages, schema, form=form)
                    )
                except (openai.BadRequestError, openai.UnprocessableEntityError):
                    if form == _FORMS[-1]:
                        raise
                    self._forms.pop(0)
                    continue
                choice = reply.choices[0]
                text = choice.message.content
                self._count(reply.usage, messages, text)
            return self._whole(text, reason=choice.finish_reason)

    def _request(
        self, messages: list[dict[str, str]], schema: Mapping[str, Any], *, form: str
    ) -> dict[str, Any]:
        request: dict[str, Any] = {"model": self._model, "messages": messages}
        if not self._server.is_openai:
            request["temperature"] = 0  # OpenAI's newest models accept only their default
        if form == "json_schema":
            named = {"name": "answer", "strict": True, "schema": schema}
            return request | {"response_format": {"type": "json_schema", "json_schema": named}}
        told = f"Answer with one JSON object of this schema and nothing else: {json.dumps(schema)}"
        first = {"role": "system", "content": f"{messages[0]['content']}\n\n{told}"}
        request["messages"] = [first, *messages[1:]]
        if form == "json_object":
            request["response_format"] = {"type": "json_object"}
        return request

    def _whole(self, text: object, *, reason: object) -> str:
        if reason == "length":
            message = f"{self._model} on {self._server.url} broke off in the middle of its answer."
            raise RemoteError(message)
        if not isinstance(text, str) or not text.strip():
            message = f"{self._model} on {self._server.url} gave an empty answer."
            raise RemoteError(message)
        return text

    def _check_budget(self, messages: list[dict[str, str]]) -> None:
        needed = self.tokens_used + _estimated_tokens(messages)
        if needed > self._budget:
            message = (
                f"The token budget of {self._budget:,} for {self._model} is spent "
                f"({self.tokens_used:,} used). Connect with a larger token_budget."
            )
            raise RemoteError(message)

    def _count(self, usage: Any, messages: list[dict[str, str]], text: object) -> None:
        counted = getattr(usage, "total_tokens", None)
        if not isinstance(counted, int) or counted < 0:
            counted = _estimated_tokens(messages) + len(str(text)) // 4
        self.tokens_used += counted


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
        except (json.JSONDecodeError, RecursionError):
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


def _estimated_tokens(messages: list[dict[str, str]]) -> int:
    return sum(len(message["content"].encode()) for message in messages) // 4
