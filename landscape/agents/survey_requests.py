"""Budget of a survey for language models, and the log of replies to resume it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from landscape.agents.settings import SurveySettings
from landscape.errors import InputError, RemoteError
from landscape.llm.budget import estimate_tokens

_FORM = "landscape survey 1"


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
            raise InputError(f"{path} is not the log of a survey; choose another file.") from error
        if other:
            raise InputError(
                f"{path} is the log of another survey (another question, atlas, model or setting); "
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
