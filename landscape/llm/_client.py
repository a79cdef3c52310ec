"""Connect to language models with the OpenAI protocol; request text, streams or JSON."""

from __future__ import annotations

import copy
import json
import math
import os
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
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
from landscape.llm.prompts import (
    AnswerFilter,
    ReplyForm,
    find_fault,
    first_error,
    first_object,
    reply_schema,
)
from landscape.llm.server import MAX_BYTES, TIMEOUT, Piece, Server, read_reply

_OPENAI_MODEL = "gpt-4o-mini"

_MESSAGE_LENGTH = 2000  # characters of an error that are searched
_MAX_TOKENS = 4096  # of an answer, only for servers that demand a limit
_MIN_CHECKED_TOKENS = 1500  # shorter prompts fit into the context of all servers
_MIN_CONTEXT_TOKENS = 256  # smaller counts leave out cached tokens

_REFUSALS = frozenset({400, 404, 405, 406, 415, 422, 500, 501})
#: Words of errors that refuse a request option.
_REFUSALS_OF = {
    "response_format": r"response.?format|json|schema|grammar|structured",
    "stream_options": r"stream.?options|include_usage",
    "temperature": r"temperature",
    "logprobs": r"log.?prob",
    "max_tokens": r"max_(completion_)?tokens.*(required|missing|support|instead)",
}

Messages = list[dict[str, str]]
Schema = Mapping[str, object]

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


def complete_decided(
    model: WritingModel, system: str, user: str, schema: Schema | None, decision: str
) -> tuple[Any, list[float]]:
    """Return a reply and the probabilities of its decisions; see `ChatModel.complete_decided`.

    Models without log-probabilities give an empty list.
    """
    if hasattr(model, "complete_decided"):
        reply, chances = model.complete_decided(system, user, schema, decision)
        return reply, chances
    if schema is None:
        return model.complete(system, user), []
    return model.complete_json(system, user, schema), []


def sample(model: Any, temperature: float, *, run: int = 1) -> Any:
    """Return a copy of a model that samples its replies; see `ChatModel.sampled`.

    Raises
    ------
    InputError
        If the temperature of the model cannot be set.
    """
    if not hasattr(model, "sampled"):
        raise InputError(
            f"The temperature of {model.model} cannot be set; use landscape.llm.connect."
        )
    return model.sampled(temperature, run=run)


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
    """What a server accepts and sends, learned from replies; shared by copies of a connection."""

    accepted: dict[str, int] = field(default_factory=dict)  # number of an option's alternative
    omits_opening_tag: bool | None = None  # of thoughts; None until the first reply


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
        self._sampling: dict[str, float] = {}  # temperature and number of the run
        self._tokens: list[tuple[str, dict[str, float]]] | None = None  # None if not requested
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

    def sampled(self, temperature: float, *, run: int = 1) -> ChatModel:
        """Return a copy of this connection that samples its replies.

        Parameters
        ----------
        temperature : float
            From 0 (the most probable reply) to 2.
        run : int, default 1
            Number of a repeated run. Replies of other runs are not taken from the cache.

        Returns
        -------
        ChatModel
        """
        copied = copy.copy(self)
        copied._sampling = {"temperature": temperature, "run": run}
        return copied

    def complete_decided(
        self, system: str, user: str, schema: Schema | None, decision: str
    ) -> tuple[Any, list[float]]:
        """Return a reply and the probability that each decision in it is true.

        Parameters
        ----------
        system, user : str
        schema : mapping or None
            As in `complete_json`; None is a reply in free text, as in `complete`.
        decision : str
            Pattern of the text before a decision, which is the word true or false.

        Returns
        -------
        reply : dict or str
        chances : list of float
            In the order of the decisions; empty if the server sends no log-probabilities.

        Raises
        ------
        RemoteError
            As in `complete_json`.
        """
        key = self._cache_key(_messages(system, user), schema) | {"decision": decision}
        if self._cache and (kept := self._cache.find(key)):
            reply, chances = json.loads(kept)
            return reply, chances
        copied = copy.copy(self)
        copied._cache, copied._tokens = None, []
        reply = (
            copied.complete(system, user)
            if schema is None
            else copied.complete_json(system, user, schema)
        )
        chances = _chances(copied._tokens, decision)
        if self._cache:
            self._cache.keep(key, json.dumps([reply, chances]))
        return reply, chances

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
        return "".join(self._answer(_messages(system, user), stream=False))

    def stream(self, system: str, user: str) -> Iterator[str]:
        """Yield an answer in free text, piece by piece as the model writes it.

        The first reply of a connection is yielded at its end, unless the server is OpenAI: only
        then it is known whether the server sends thoughts without an opening tag.

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
        yield from self._answer(_messages(system, user), stream=True)

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
        request = self._cache_key(original, schema)
        kept = self._cache.find(request) if self._cache else None
        stored = first_object(kept or "", schema)
        if stored is not None and not find_fault(stored, schema):
            return stored
        fault = ""
        for _ in range(2):
            text = "".join(self._pieces(messages, schema))
            value = first_object(text, schema)
            fault = "it contains no JSON object" if value is None else find_fault(value, schema)
            if value is not None and not fault:
                if self._cache:
                    self._cache.keep(request, text)
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

    def _answer(self, messages: Messages, *, stream: bool) -> Iterator[str]:
        """Yield a stored answer, or request it and store it."""
        request = self._cache_key(messages)
        stored = self._cache.find(request) if self._cache else None
        pieces: list[str] = []
        for piece in self._pieces(messages, stream=stream) if stored is None else [stored]:
            pieces.append(piece)
            yield piece
        if self._cache and stored is None:
            self._cache.keep(request, self._server.redacted("".join(pieces)))

    def _pieces(
        self, messages: Messages, schema: Schema | None = None, *, stream: bool = False
    ) -> Iterator[str]:
        """Send one request; yield the pieces of the answer, without thoughts."""
        server, abilities = self._server, self._abilities
        held = not server.is_openai and abilities.omits_opening_tag is not False
        answer, n_sent, received = AnswerFilter(held=held), _tokens(messages), ""
        reason = counted = None
        if self._tokens is not None:
            self._tokens.clear()

        def send() -> Iterator[Piece]:
            return read_reply(self._create(messages, schema, stream=stream), stream=stream)

        with self.budget.spending(n_sent) as usage:
            try:
                for piece in server.stream(self.model, send):
                    reason, counted = reason or piece.reason, piece.counted or counted
                    received += piece.thought + piece.text
                    if self._tokens is not None:
                        self._tokens.extend(piece.tokens)
                    added = answer.add(piece.text, thought=piece.thought, last=piece.is_last)
                    yield from map(server.redacted, added)
            except RemoteError:
                yield from map(server.redacted, answer.add("", last=True))
                raise
            finally:  # runs even if the caller stops reading early
                _count(usage, counted, n_sent, received)
        abilities.omits_opening_tag = abilities.omits_opening_tag or answer.omits_opening_tag
        if fault := _fault(answer, reason, counted, n_sent):
            raise RemoteError(f"{self.model} on {server.url} {fault}")

    def _create(self, messages: Messages, schema: Schema | None, *, stream: bool) -> Any:
        """Send a request with the first alternatives of its options that the server accepts."""
        openai = require("openai", "llm")
        options = _options(messages, schema, stream=stream, is_openai=self._server.is_openai)
        if self._sampling:
            options["temperature"] = [{"temperature": self._sampling["temperature"]}]
        if self._tokens is not None:
            options["logprobs"] = [{"logprobs": True, "top_logprobs": 5}, {}]
        tried = {name: self._abilities.accepted.get(name, 0) for name in options}
        client = self._server.client
        while True:
            request: dict[str, Any] = {"model": self.model, "messages": messages, "stream": stream}
            for name, alternatives in options.items():
                request |= alternatives[tried[name]]
            try:
                reply = client.chat.completions.create(**request)
            except openai.APIStatusError as error:
                left = [name for name in options if tried[name] + 1 < len(options[name])]
                if (refused := _refused(error, left)) is None:
                    raise
                tried[refused] += 1
                if error.status_code >= 500:  # it was already repeated
                    client = self._server.client.with_options(max_retries=0)
                continue
            self._abilities.accepted |= tried  # only if another alternative helped
            return reply

    def _cache_key(self, messages: Messages, schema: Schema | None = None) -> dict[str, Any]:
        """Return what identifies a request in the cache."""
        named: dict[str, Any] = {"server": self._server.url, "model": self.model}
        named |= {"messages": messages, **self._sampling}
        return named | {"schema": dict(schema) if schema else None}


def _messages(system: str, user: str) -> Messages:
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


def _options(
    messages: Messages, schema: Schema | None, *, stream: bool, is_openai: bool
) -> dict[str, list[dict[str, Any]]]:
    """Return the alternatives of each request option, preferred first."""
    options: dict[str, list[dict[str, Any]]] = {}
    if schema is not None:
        named = {"name": "answer", "strict": True, "schema": schema}
        rule = f"Answer with one JSON object of this schema and nothing else: {json.dumps(schema)}"
        first = {"role": "system", "content": f"{messages[0]['content']}\n\n{rule}"}
        told = {"messages": [first, *messages[1:]]}
        options["response_format"] = [
            {"response_format": {"type": "json_schema", "json_schema": named}},
            told | {"response_format": {"type": "json_object"}},
            told,
        ]
    if stream:
        options["stream_options"] = [{"stream_options": {"include_usage": True}}, {}]
    if not is_openai:  # new OpenAI models accept only the default value
        options["temperature"] = [{"temperature": 0}, {}]
    options["max_tokens"] = [
        {},
        {"max_tokens": _MAX_TOKENS},
        {"max_completion_tokens": _MAX_TOKENS},
    ]
    return options


def _chances(tokens: Sequence[tuple[str, dict[str, float]]], decision: str) -> list[float]:
    """Return the probability of "true" at each decision, relative to "false"."""
    text, starts = "", []
    for token, _ in tokens:
        starts.append(len(text))
        text += token
    found = []
    for match in re.finditer(rf"(?:{decision})\s{{0,9}}(true|false)\b", text, re.IGNORECASE):
        _, others = tokens[bisect_right(starts, match.start(1)) - 1]
        weights = {"true": 0.0, "false": 0.0}
        for other, logprob in others.items():
            start = re.sub(r"\W", "", other).casefold()
            for word in weights:
                if start and word.startswith(start):
                    weights[word] += math.exp(min(logprob, 0.0))
        total = sum(weights.values())
        found.append(weights["true"] / total if total else float(match[1].casefold() == "true"))
    return found


def _refused(error: Any, names: list[str]) -> str | None:
    """Return the option that an error refuses; most servers do not name the form of the reply."""
    status, message = error.status_code, error.message[:_MESSAGE_LENGTH]
    if status == 403 and re.search(_REFUSALS_OF["logprobs"], message, re.I):
        return "logprobs" if "logprobs" in names else None
    if status not in _REFUSALS:
        return None
    unnamed = ["logprobs", "response_format"] + ["stream_options"] * (status in (400, 422))
    named = [name for name in names if re.search(_REFUSALS_OF[name], message, re.I | re.S)]
    return next((name for name in [*named, *unnamed] if name in names), None)


def _fault(answer: AnswerFilter, reason: object, counted: Any, n_sent: int) -> str | None:
    """Describe what is wrong with an answer, and the cure."""
    if answer.is_empty and answer.thinks:
        return (
            "gave only its reasoning and no answer. Increase the output limit of the server, turn "
            "off the reasoning, or use a model without reasoning."
        )
    details = getattr(counted, "prompt_tokens_details", None)
    # Servers differ in whether the number of tokens of a prompt includes the cached ones.
    n_read = _number(counted, "prompt_tokens") + _number(details, "cached_tokens")
    if n_sent > _MIN_CHECKED_TOKENS and _MIN_CONTEXT_TOKENS <= n_read < n_sent / 2:
        return (
            f"read only {n_read:,} of about {n_sent:,} tokens of the prompt, so its answer is "
            "based on a part of it. Increase the context of the server, with Ollama by "
            "OLLAMA_CONTEXT_LENGTH=32768 or num_ctx."
        )
    kind = "incomplete" if reason in (None, "length") else "empty" if answer.is_empty else ""
    return f"gave an {kind} answer. Try again or use another model." if kind else None


def _tokens(messages: Messages) -> int:
    return estimate_tokens(*(message["content"] for message in messages))


def _number(counted: object, name: str) -> int:
    """Return a number of tokens, or 0 if the server does not give it."""
    number = getattr(counted, name, None)
    return max(0, number) if isinstance(number, int) else 0


def _count(usage: Usage, counted: object, n_sent: int, received: str) -> None:
    if total := _number(counted, "total_tokens"):
        usage.read = min(_number(counted, "prompt_tokens") or total, total)
        usage.written = total - usage.read
    else:
        usage.read, usage.written = n_sent, estimate_tokens(received)
