"""Connect to language models with the OpenAI protocol; request text, streams or JSON."""

from __future__ import annotations

import copy
import json
import os
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pydantic import ValidationError

from landscape.errors import InputError, RemoteError, require
from landscape.llm.budget import (
    Budget,
    BudgetPart,
    Prices,
    ReplyCache,
    Usage,
    default_cache_folder,
    estimate_tokens,
)
from landscape.llm.prompts import ReplyForm, find_fault, first_error, first_object, reply_schema
from landscape.llm.server import MAX_BYTES, TIMEOUT, Server

_OPENAI_MODEL = "gpt-4o-mini"

#: Structured output, strictest first; older servers support only the later forms.
_FORMS = ("json_schema", "json_object", "text")

Messages = list[dict[str, str]]

Form = TypeVar("Form", bound=ReplyForm)


class LanguageModel(Protocol):
    """A language model that answers with JSON that follows a schema."""

    @property
    def model(self) -> str:
        """Name of the model, stored in the manifest."""

    def complete_json(self, system: str, user: str, schema: Mapping[str, object]) -> dict[str, Any]:
        """Answer `user` with JSON that follows `schema`; `system` contains the instructions.

        Raises
        ------
        RemoteError
            If there is no valid answer. The message of the error can be shown to users.
        """


class WritingModel(LanguageModel, Protocol):
    """A language model that also writes free text."""

    def complete(self, system: str, user: str) -> str:
        """Answer the text `user` according to the instructions `system`; may raise RemoteError."""

    def stream(self, system: str, user: str) -> Iterator[str]:
        """Yield the answer of `complete` in pieces."""


def request_reply(model: LanguageModel, system: str, user: str, form: type[Form]) -> Form:
    """Request a reply that follows a `ReplyForm`.

    Parameters
    ----------
    model : LanguageModel
    system, user : str
    form : subclass of ReplyForm

    Returns
    -------
    ReplyForm
        Instance of `form`.

    Raises
    ------
    RemoteError
        If there is no valid reply.

    Examples
    --------
    >>> class Fixed:
    ...     model = "fixed"
    ...     def complete_json(self, system, user, schema):
    ...         return {"queries": ["dust"]}
    >>> class Queries(ReplyForm):
    ...     queries: list[str]
    >>> request_reply(Fixed(), "Be brief.", "What?", Queries)
    Queries(queries=['dust'])
    """
    reply = model.complete_json(system, user, reply_schema(form))
    try:
        return form.model_validate(reply)
    except ValidationError as error:
        raise RemoteError(
            f"{model.model} returned a reply in the wrong form: {first_error(error)}. Try again or "
            "use another model."
        ) from error


def connect_from_environment() -> WritingModel | None:
    """Connect the language model set in the environment.

    Returns
    -------
    WritingModel or None
        None if neither ``OPENAI_API_KEY`` nor ``OPENAI_BASE_URL`` is set.
    """
    if not (os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL")):
        return None
    return connect(cache=default_cache_folder())


def _positive(variable: str, default: float) -> float:
    """Read a positive whole number from an environment variable."""
    given = os.environ.get(variable, "")
    if not given:
        return default
    if not re.fullmatch(r"[1-9][0-9]{0,11}", given):
        raise InputError(f"{variable} is {given[:40]!r}; set it to a whole number above 0.")
    return float(given)


def connect(
    *,
    model: str | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    timeout: float | None = None,
    most_bytes: int | None = None,
    retries: int = 4,
    token_budget: int = 500_000,
    money_budget: float | None = None,
    prices: Prices | None = None,
    cache: Path | None = None,
) -> ChatModel:
    """Connect a language model with the OpenAI protocol; no request is sent yet.

    Parameters
    ----------
    model : str, optional
        Default: the environment variable LANDSCAPE_LLM_MODEL. If it is not set, OpenAI uses
        gpt-4o-mini; other servers need a name.
    base_url : str, optional
        Address of the server. Default: the environment variable OPENAI_BASE_URL. If it is not
        set, OpenAI is used.
    api_key : str, optional
        Default: the environment variable OPENAI_API_KEY. The empty string means no key.
    timeout : float, optional
        Maximum time of a request with all its attempts, in seconds. Default: the environment
        variable LANDSCAPE_LLM_TIMEOUT, or 120 if it is not set.
    most_bytes : int, optional
        Maximum size of a reply, in bytes. Default: the environment variable
        LANDSCAPE_LLM_MOST_BYTES, or 2000000 if it is not set.
    retries : int, default 4
        Maximum number of further attempts after a failed attempt.
    token_budget : int, default 500000
        Maximum number of input and output tokens of this connection together.
    money_budget : float, optional
        Maximum cost of this connection, in the currency of `prices`.
    prices : mapping of str to tuple of float, optional
        Prices of a million input tokens and of a million output tokens, by model.
    cache : pathlib.Path, optional
        Folder of stored replies; see `default_cache_folder`. By default, replies are not stored.

    Returns
    -------
    ChatModel

    Raises
    ------
    InputError
        If neither a key nor a server is set, if no model is given for the server, or if
        `money_budget` is given without a price for the model.
    MissingExtraError
        If the package ``openai`` is not installed.

    Examples
    --------
    >>> connect(base_url="http://localhost:11434/v1", model="qwen3").model
    'qwen3'
    """
    if timeout is None:
        timeout = _positive("LANDSCAPE_LLM_TIMEOUT", TIMEOUT)
    if most_bytes is None:
        most_bytes = int(_positive("LANDSCAPE_LLM_MOST_BYTES", MAX_BYTES))
    server = Server(
        base_url=base_url, api_key=api_key, timeout=timeout, most_bytes=most_bytes, retries=retries
    )
    name = model or os.environ.get("LANDSCAPE_LLM_MODEL")
    if not name and not server.is_openai:
        raise InputError(
            f"No model is given for {server.url}. "
            "Set the environment variable LANDSCAPE_LLM_MODEL to the name of a model."
        )
    name = name or _OPENAI_MODEL
    budget = Budget(name, tokens=token_budget, money=money_budget, prices=prices)
    return ChatModel(server, model=name, budget=budget, cache=ReplyCache(cache) if cache else None)


@dataclass
class _Abilities:
    """Features that a server supports, shared by all copies of a connection."""

    forms: tuple[str, ...] = _FORMS
    counts_streams: bool = True
    lock: threading.Lock = field(default_factory=threading.Lock)


class ChatModel:
    """A chat model on an OpenAI-compatible server; it is safe to use from several threads.

    Parameters
    ----------
    server : Server
    model : str
    budget : Budget
        Budget of the connection. If a server does not count tokens, four bytes count as one token.
    cache : ReplyCache, optional
    """

    def __init__(
        self, server: Server, *, model: str, budget: Budget, cache: ReplyCache | None = None
    ) -> None:
        self._server, self.model, self._cache = server, model, cache
        self._abilities = _Abilities()
        self.budget = budget

    @property
    def tokens_used(self) -> int:
        """Number of input and output tokens used so far."""
        return self.budget.tokens_used

    def part(self) -> ChatModel:
        """Return a copy of this connection with its own budget, which is part of the total budget.

        Returns
        -------
        ChatModel
            Its `budget` counts only the usage of this copy.

        Examples
        --------
        >>> model = connect(base_url="http://localhost:11434/v1", model="qwen3")
        >>> print(model.part().budget)
        0 tokens (this connection so far: 0 of 500,000 tokens)
        """
        part = copy.copy(self)
        part.budget = BudgetPart(self.budget)
        return part

    def complete(self, system: str, user: str) -> str:
        """Return an answer in free text.

        Parameters
        ----------
        system, user : str

        Returns
        -------
        str

        Raises
        ------
        RemoteError
            If the server fails, the budget is spent, or the answer is empty or incomplete.
        """
        messages = _messages(system, user)
        reply = self._kept(messages)
        if reply is None:
            reply = self._send(messages, self._request(messages))
            self._keep(messages, reply)
        return reply

    def stream(self, system: str, user: str) -> Iterator[str]:
        """Yield an answer in free text, piece by piece as the model writes it.

        Parameters
        ----------
        system, user : str

        Yields
        ------
        str
            Pieces of the answer.

        Raises
        ------
        RemoteError
            If the server fails, the budget is spent, or the answer is empty or incomplete. The
            pieces yielded before the error are then an incomplete answer.
        """
        messages = _messages(system, user)
        reply = self._kept(messages)
        if reply is not None:
            yield reply
            return
        pieces: list[str] = []
        for piece in self._pieces(messages):
            pieces.append(piece)
            yield piece
        self._keep(messages, self._server.redacted("".join(pieces)))

    def complete_json(self, system: str, user: str, schema: Mapping[str, object]) -> dict[str, Any]:
        """Request a reply that is valid for a JSON schema; retry once if it is invalid.

        Parameters
        ----------
        system, user : str
        schema : mapping
            JSON schema of an object, made of ``type``, ``properties``, ``required``, ``items``,
            ``enum`` and ``additionalProperties``; see `request_reply` for pydantic models.

        Returns
        -------
        dict
            Reply that is valid for the schema.

        Raises
        ------
        RemoteError
            If the server fails, the budget is spent, or two answers are invalid.
        """
        original = messages = _messages(system, user)
        stored = first_object(self._kept(original, schema) or "")
        if stored is not None and not find_fault(stored, schema):
            return stored
        fault = ""
        for _ in range(2):
            text = self._ask(messages, schema)
            value = first_object(text)
            fault = "it contains no JSON object" if value is None else find_fault(value, schema)
            if value is not None and not fault:
                self._keep(original, text, schema)
                return value
            messages = [
                *original,
                {"role": "assistant", "content": text},
                {"role": "user", "content": f"This does not fit the schema: {fault}. Try again."},
            ]
        raise RemoteError(
            f"{self.model} on {self._server.url} replied twice in the wrong form: {fault}. "
            "Try again or use another model."
        )

    def _ask(self, messages: Messages, schema: Mapping[str, object]) -> str:
        """Send one request; use the strictest output format that the server accepts."""
        openai = require("openai", "llm")
        while True:
            form = self._abilities.forms[0]
            request = self._request(messages) | _form_request(messages, schema, form=form)
            try:
                return self._send(messages, request)
            except RemoteError as error:
                refused = (openai.BadRequestError, openai.UnprocessableEntityError)
                if form == _FORMS[-1] or not isinstance(error.__cause__, refused):
                    raise
                with self._abilities.lock:  # several threads may detect this at the same time
                    self._abilities.forms = _FORMS[_FORMS.index(form) + 1 :]

    def _send(self, messages: Messages, request: dict[str, object]) -> str:
        def send() -> tuple[str | None, str | None, object]:
            reply = self._server.client.chat.completions.create(**request)
            choice = reply.choices[0]
            return choice.message.content, choice.finish_reason, reply.usage

        with self.budget.spending(_tokens(messages)) as usage:
            text, reason, counted = self._server.request(self.model, send)
            _count(usage, counted, messages, text)
            return self._server.redacted(self._whole(text, reason=reason))

    def _pieces(self, messages: Messages) -> Iterator[str]:
        request = self._request(messages) | {"stream": True}
        pieces: list[str] = []
        reason = counted = None
        with self.budget.spending(_tokens(messages)) as usage:
            try:
                for piece, ended, used in self._server.stream(
                    self.model, lambda: self._read_stream(request)
                ):
                    reason, counted = ended or reason, used or counted
                    if piece:
                        pieces.append(piece)
                        yield piece
            finally:  # runs even if the caller stops reading early
                _count(usage, counted, messages, "".join(pieces))
        # A stream without a finish reason was interrupted, although no error was raised.
        self._whole("".join(pieces), reason=reason or "length")

    def _read_stream(
        self, request: dict[str, object]
    ) -> Iterator[tuple[str | None, str | None, object]]:
        """Yield the text, the finish reason and the usage of each chunk."""
        for chunk in self._open_stream(request):
            choices = chunk.choices[:1]
            text, reason = "", None
            for choice in choices:
                text, reason = choice.delta.content, choice.finish_reason
            if not isinstance(text, str | None):
                raise TypeError("a piece of the answer is not text")
            yield text, reason, getattr(chunk, "usage", None)

    def _open_stream(self, request: dict[str, object]) -> Any:
        """Open a stream that counts its tokens if the server supports it."""
        openai = require("openai", "llm")
        create = self._server.client.chat.completions.create
        if self._abilities.counts_streams:
            try:
                return create(**request, stream_options={"include_usage": True})
            except (openai.BadRequestError, openai.UnprocessableEntityError):
                self._abilities.counts_streams = False
        return create(**request)

    def _request(self, messages: Messages) -> dict[str, Any]:
        request: dict[str, Any] = {"model": self.model, "messages": messages}
        if not self._server.is_openai:
            request["temperature"] = 0  # new OpenAI models accept only the default value
        return request

    def _whole(self, text: object, *, reason: object) -> str:
        if reason == "length":
            raise RemoteError(
                f"{self.model} on {self._server.url} gave an incomplete answer. Try again or use "
                "another model."
            )
        if not isinstance(text, str) or not text.strip():
            raise RemoteError(
                f"{self.model} on {self._server.url} gave an empty answer. Try again or use "
                "another model."
            )
        return text

    def _kept(self, messages: Messages, schema: Mapping[str, object] | None = None) -> str | None:
        return self._cache.find(self._identity(messages, schema)) if self._cache else None

    def _keep(
        self, messages: Messages, reply: str, schema: Mapping[str, object] | None = None
    ) -> None:
        if self._cache:
            self._cache.keep(self._identity(messages, schema), reply)

    def _identity(self, messages: Messages, schema: Mapping[str, object] | None) -> dict[str, Any]:
        return {
            "server": self._server.url,
            "model": self.model,
            "messages": messages,
            "schema": dict(schema) if schema else None,
        }


def _messages(system: str, user: str) -> Messages:
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


def _form_request(messages: Messages, schema: Mapping[str, object], *, form: str) -> dict[str, Any]:
    """Return the part of a request that describes the format of the reply."""
    if form == "json_schema":
        named = {"name": "answer", "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    instruction = (
        f"Answer with one JSON object of this schema and nothing else: {json.dumps(schema)}"
    )
    first = {"role": "system", "content": f"{messages[0]['content']}\n\n{instruction}"}
    more: dict[str, Any] = {"messages": [first, *messages[1:]]}
    if form == "json_object":
        more["response_format"] = {"type": "json_object"}
    return more


def _tokens(messages: Messages) -> int:
    return estimate_tokens(*(message["content"] for message in messages))


def _count(usage: Usage, counted: object, messages: Messages, text: object) -> None:
    total, read = (getattr(counted, f"{name}_tokens", None) for name in ("total", "prompt"))
    if not isinstance(total, int) or total < 0:
        usage.read, usage.written = _tokens(messages), estimate_tokens(str(text or ""))
        return
    usage.read = min(read, total) if isinstance(read, int) and read >= 0 else total
    usage.written = total - usage.read
