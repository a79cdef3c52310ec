"""Budget of a survey for language models, and the log of replies to resume or repeat a search."""

from __future__ import annotations

import copy
import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape.agents.settings import SurveySettings
from landscape.errors import InputError, RemoteError
from landscape.llm import sample
from landscape.llm.budget import estimate_tokens

if TYPE_CHECKING:
    from landscape.llm import LanguageModel

_FORM = "landscape replies 2"


class ReplyLog:
    """Replies of a model by hash of the request, stored in a file if a path is given."""

    def __init__(self, path: Path | None, identity: Mapping[str, object]) -> None:
        self._path = path
        self._replies: dict[str, object] = {}
        if path is None:
            return
        if path.exists() and path.stat().st_size:
            self._read(path, identity)
        else:
            self._append({"form": _FORM, "identity": identity})

    def find(self, asked: str) -> Any:
        """Return the stored reply to a request, or None."""
        return self._replies.get(_key(asked))

    def keep(self, asked: str, reply: object) -> None:
        """Store the reply to a request in the log."""
        key = _key(asked)
        if key not in self._replies:
            self._replies[key] = reply
            self._append({"asked": key, "reply": reply})

    def _read(self, path: Path, identity: Mapping[str, object]) -> None:
        try:
            lines = path.read_text("utf-8", errors="replace").split("\n")
            head = json.loads(lines[0])
            other = head["form"] != _FORM or head["identity"] != identity
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path} is not a log of replies; choose another file.") from error
        if other:
            raise InputError(
                f"{path} is the log of another search (another question, atlas, model or setting); "
                "choose another file."
            )
        for line in lines[1:]:
            try:
                kept = json.loads(line)
                self._replies[kept["asked"]] = kept["reply"]
            except (ValueError, KeyError, TypeError, RecursionError):
                continue  # an incomplete line, written when the survey was stopped
        if lines[-1]:
            self._append(None)

    def _append(self, value: dict[str, object] | None) -> None:
        """Append a line with a value; None ends an incomplete line."""
        if self._path is None:
            return
        line = "" if value is None else json.dumps(value, ensure_ascii=False)
        try:
            with open(self._path, "a", encoding="utf-8", opener=_open_for_owner) as stream:
                stream.write(f"{line}\n")
        except OSError as error:
            raise InputError(
                f"{self._path} cannot be written ({error.strerror}). Choose another file."
            ) from error


class ReplayedModel:
    """Language model whose replies are stored in a file, and read from it if they are there.

    Without a model, all replies come from the file.
    """

    def __init__(
        self, path: Path, identity: Mapping[str, object], model: LanguageModel | None
    ) -> None:
        if model is None and not path.is_file():
            raise InputError(f"There is no file {path} to replay; connect a language model.")
        self._model, self._run = model, ""
        self.model = read_model_name(path) or (model.model if model is not None else "")
        if model is not None and model.model != self.model:
            self.model = model.model  # the log refuses replies of another model
        self._log = ReplyLog(path, {**identity, "model": self.model})

    def sampled(self, temperature: float, *, run: int = 1) -> ReplayedModel:
        """Return a copy for a run at a temperature."""
        copied = copy.copy(self)
        copied._run = f"run {run}"
        if self._model is not None:
            copied._model = sample(self._model, temperature, run=run)
        return copied

    def complete_json(self, system: str, user: str, schema: Mapping[str, object]) -> dict[str, Any]:
        """Return the stored reply to a request, or request and store it."""
        asked = f"{self._run}\n{system}\n{user}"
        reply = self._log.find(asked)
        if not isinstance(reply, dict):
            if self._model is None:
                raise RemoteError("The file has no reply for this step. Connect a language model.")
            reply = self._model.complete_json(system, user, schema)
            self._log.keep(asked, reply)
        return reply


def read_model_name(path: Path) -> str:
    """Return the name of the model whose replies a log contains, or "" if there is none."""
    with suppress(OSError, ValueError, KeyError, TypeError), path.open(encoding="utf-8") as lines:
        return str(json.loads(lines.readline())["identity"]["model"])
    return ""


def _open_for_owner(path: str, flags: int) -> int:
    """Open a file that only its owner can read, because it may quote unpublished text."""
    number = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o600)
    if hasattr(os, "fchmod"):
        try:
            os.fchmod(number, 0o600)  # the file may exist with other permissions
        except OSError:
            os.close(number)
            raise
    return number


def _key(asked: str) -> str:
    return hashlib.sha256(asked.encode("utf-8", "replace")).hexdigest()[:32]


# Number of requests between two checks of the budget. It does not depend on `parallel`.
BATCH = 8
_MAX_FAILURES = 3  # the survey ends after this number of consecutive failures


@dataclass(frozen=True)
class Request:
    """Text of a request, and functions that send the request and parse the reply."""

    send: Callable[[], object]
    read: Callable[[Any], object]
    text: str


@dataclass(frozen=True)
class Reply:
    """Value of a reply, or an error message."""

    value: Any = None
    fault: str = ""


class RequestBudget:
    """Send requests within the budget, and count their costs."""

    def __init__(
        self,
        settings: SurveySettings,
        reply_log: ReplyLog,
        *,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        self._settings, self._reply_log, self._stop = settings, reply_log, stop
        self.calls, self.tokens, self.money = 0, 0, 0.0
        self.failures = self._failed_in_a_row = 0
        self.ended = ""

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        """Send requests, and return the replies in the same order."""
        replies: list[Reply] = []
        for start in range(0, len(requests), BATCH):
            if self.check_stop():
                break
            batch = self._within_budget(requests[start : start + BATCH])
            with ThreadPoolExecutor(max_workers=self._settings.parallel) as pool:
                raw = list(pool.map(self._find_or_send, batch))
            answered = [self._read(request, *one) for request, one in zip(batch, raw, strict=True)]
            replies += answered
            # Failures are counted per batch, because the order within a batch is arbitrary.
            all_failed = all(reply.fault for reply in answered)
            self._failed_in_a_row = self._failed_in_a_row + len(answered) if all_failed else 0
            if self._failed_in_a_row >= _MAX_FAILURES:
                self.ended = f"The language model failed: {answered[-1].fault}"
            if self.ended:
                break
        replies += [Reply(fault=self.ended)] * (len(requests) - len(replies))
        return replies

    def check_stop(self) -> str:
        """Check whether the user stopped the survey; return the reason if the survey has ended."""
        if not self.ended and self._stop is not None and self._stop():
            self.ended = "It was stopped."
        return self.ended

    def _within_budget(self, batch: Sequence[Request]) -> Sequence[Request]:
        calls, tokens, money = self.calls, self.tokens, self.money
        for n, request in enumerate(batch):
            sent = estimate_tokens(request.text)
            calls, tokens, money = calls + 1, tokens + sent, money + self._cost(sent, 0)
            self.ended = self._budget_exceeded(calls, tokens, money)
            if self.ended:
                return batch[:n]
        return batch

    def _budget_exceeded(self, calls: int, tokens: int, money: float) -> str:
        limits = self._settings
        if calls > limits.calls:
            return f"The budget of {limits.calls:,} calls is spent."
        if limits.tokens is not None and tokens > limits.tokens:
            return f"The budget of {limits.tokens:,} tokens is spent."
        if limits.money is not None and money > limits.money:
            return f"The budget of {limits.money:g} in money is spent."
        return ""

    def _find_or_send(self, request: Request) -> tuple[object, str]:
        """Return a reply (from the log if possible) and "", or None and an error message."""
        try:
            kept = self._reply_log.find(request.text)
            return (request.send() if kept is None else kept), ""
        except RemoteError as error:
            return None, str(error)

    def _read(self, request: Request, raw: object, fault: str) -> Reply:
        read, written = estimate_tokens(request.text), estimate_tokens(str(raw or ""))
        self.calls += 1
        self.tokens += read + written
        self.money += self._cost(read, written)
        if not fault:
            try:
                reply = Reply(request.read(raw))
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                fault = f"its reply has the wrong form ({type(error).__name__})"
        if fault:
            self.failures += 1
            return Reply(fault=fault)
        # Only valid replies are stored, because a resumed survey would fail again otherwise.
        self._reply_log.keep(request.text, raw)
        return reply

    def _cost(self, read: int, written: int) -> float:
        a, b = self._settings.prices or (0.0, 0.0)
        return (read * a + written * b) / 1e6
