"""Settings of a survey, its budget for language models, and the log of replies to resume it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any, Literal, get_args

from landscape.errors import InputError, RemoteError
from landscape.llm._budget import estimate_tokens
from landscape.search._settings import is_whole

Protocol = Literal["auto", "json", "pasa"]
"""How to prompt a language model: in JSON, or in the tokens of PaSa's own models."""

_WHOLE = {"depth": (1, 6), "breadth": (1, 20), "papers": (1, 2_000), "expand": (0, 200),
          "calls": (1, 100_000), "tokens": (1, 10**9), "parallel": (1, 32)}  # fmt: skip


@dataclass(frozen=True)
class SurveySettings:
    """How a survey works and what it may cost.

    Attributes
    ----------
    depth : int, default 3
        Levels: 1 only searches; 3 follows the citations of what it found, and of what these found.
    breadth : int, default 6
        Searches made of the question, at most.
    papers : int, default 100
        Papers judged and listed, at most.
    expand : int, default 40
        Papers followed in one level; 0 follows none.
    calls : int, default 300
        Requests to the language model. One whose reply has the wrong form is made once more.
    tokens : int, optional
        Tokens, both ways, estimated as one for four bytes.
    money : float, optional
        Money, in the currency of `prices`.
    prices : (float, float), optional
        Of a million tokens read, and of a million written.
    before : str or None
        Only papers that appeared before this day (``"2019-06-30"``, ``"2019-06"`` or ``"2019"``);
        newer ones are not even followed.
    seeds : tuple of str
        Papers to begin from: "more like these".
    without : tuple of str
        Papers to exclude, with all their citations.
    threshold : float, optional
        Score from which a paper is selected without a model, 0 to 1 beside the best ten papers; by
        default the calibrated one.
    selector : bool, default True
        Whether papers are judged; without, all that were found are returned in the order of the
        searches (for comparison).
    protocol : {"auto", "json", "pasa"}, default "auto"
        "auto" uses PaSa's tokens for models with "pasa" in their name, JSON for others.
    parallel : int, default 4
        Requests at a time. Changes no result.

    Examples
    --------
    >>> SurveySettings(depth=0)
    Traceback (most recent call last):
    landscape.errors.InputError: depth is 0; it has to be a whole number from 1 to 6.
    """

    depth: int = 3
    breadth: int = 6
    papers: int = 100
    expand: int = 40
    calls: int = 300
    tokens: int | None = None
    money: float | None = None
    prices: tuple[float, float] | None = None
    before: str | None = None
    seeds: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    threshold: float | None = None
    selector: bool = True
    protocol: Protocol = "auto"
    parallel: int = 4

    def __post_init__(self) -> None:
        for name, (least, most) in _WHOLE.items():
            value = getattr(self, name)
            if value is None and name == "tokens":
                continue
            if not is_whole(value) or not least <= value <= most:
                message = f"{name} is {value!r}; it has to be a whole number from {least} to {most}"
                raise InputError(f"{message}.")
        self._check_money()
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise InputError(f"threshold is {self.threshold!r}; it has to be from 0 to 1.")
        if self.protocol not in get_args(Protocol):
            known = ", ".join(get_args(Protocol))
            raise InputError(f"Unknown protocol {self.protocol!r}; use one of {known}.")
        for name in ("seeds", "without"):
            value = getattr(self, name)
            if isinstance(value, str) or not all(isinstance(one, str) for one in value):
                raise InputError(f"{name} is {value!r}; give a list of names of papers.")
            object.__setattr__(self, name, tuple(value))
        if self.before is not None:
            last_day(self.before)

    def _check_money(self) -> None:
        prices = self.prices
        if prices is not None:
            if len(prices) != 2 or not all(price >= 0 for price in prices):
                raise InputError(f"prices is {prices!r}; give two numbers, such as (0.15, 0.6).")
            object.__setattr__(self, "prices", (float(prices[0]), float(prices[1])))
        if self.money is not None and (self.prices is None or not self.money > 0):
            raise InputError(
                f"A budget of {self.money!r} in money needs to be above 0 and to know the prices "
                "of a million tokens read and of a million written: prices=(0.15, 0.6)."
            )

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}

    def without_costs(self) -> dict[str, Any]:
        """The settings that decide the result: a log can be resumed with the same ones."""
        costs = ("calls", "tokens", "money", "prices", "parallel")
        return {name: value for name, value in self.to_dict().items() if name not in costs}


def survey_settings(**given: Any) -> SurveySettings:
    """Make settings from keyword arguments, with an error for unknown names."""
    known = [field.name for field in fields(SurveySettings)]
    for name in given:
        if name not in known:
            raise InputError(
                f"Unknown setting {name!r} of a survey; use one of {', '.join(known)}."
            )
    return SurveySettings(**given)


def last_day(text: str) -> date:
    """Read the day before which papers count."""
    pieces = str(text).split("-")
    try:
        return date(*map(int, [*pieces, *["1"] * (3 - len(pieces))]))
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(
            f"before is {text!r}; give a day, a month or a year, such as 2019-06-30."
        ) from error


_FORM = "landscape survey 1"


class ReplyLog:
    """Replies by the hash of what was asked; of no file, only for the moment."""

    def __init__(self, path: Path | None, identity: dict[str, Any]) -> None:
        self._path = path
        self._replies: dict[str, Any] = {}
        if path is None:
            return
        if path.exists() and path.stat().st_size:
            self._read(path, identity)
        else:
            self._write({"form": _FORM, "identity": identity})

    def find(self, asked: str) -> Any:
        """Give the reply to a request; None where there is none."""
        return self._replies.get(_key(asked))

    def keep(self, asked: str, reply: Any) -> None:
        """Keep a reply."""
        key = _key(asked)
        if key not in self._replies:
            self._replies[key] = reply
            self._write({"asked": key, "reply": reply})

    def _read(self, path: Path, identity: dict[str, Any]) -> None:
        try:
            lines = path.read_text("utf-8", errors="replace").split("\n")
            head = json.loads(lines[0])
            other = head["form"] != _FORM or head["identity"] != identity
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path} is not a log of a survey; name another file.") from error
        if other:
            raise InputError(
                f"{path} belongs to another survey (another question, atlas, model or setting); "
                "name another file."
            )
        for line in lines[1:]:
            try:
                kept = json.loads(line)
                self._replies[kept["asked"]] = kept["reply"]
            except (ValueError, KeyError, TypeError, RecursionError):
                continue  # the line that was being written when the survey was stopped
        if lines[-1]:
            self._append("\n")

    def _write(self, value: dict[str, Any]) -> None:
        if self._path is not None:
            self._append(json.dumps(value, ensure_ascii=False) + "\n")

    def _append(self, text: str) -> None:
        if self._path is None:
            return
        try:
            with open(self._path, "a", encoding="utf-8", opener=_open_for_owner) as stream:
                stream.write(text)
        except OSError as error:
            raise InputError(f"{self._path} cannot be written ({error.strerror}).") from error


def _open_for_owner(path: str, flags: int) -> int:
    """A question and its replies may quote what is not published yet."""
    return os.open(path, flags, 0o600)


def _key(asked: str) -> str:
    return hashlib.sha256(asked.encode("utf-8", "replace")).hexdigest()[:32]


# Requests between two checks of the budget, independent of how many run in parallel.
BATCH = 8
_MOST_FAILURES = 3  # requests that fail in a row: the server has gone


@dataclass(frozen=True)
class Request:
    """One request."""

    send: Callable[[], Any]
    read: Callable[[Any], Any]
    text: str


@dataclass(frozen=True)
class Reply:
    """The value read from a reply, or the fault."""

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
        """Send requests, and give the replies in their order."""
        replies: list[Reply] = []
        for start in range(0, len(requests), BATCH):
            self.check_stop()
            batch = self._within_budget(requests[start : start + BATCH])
            answered = self._reply_to_each(batch)
            replies += answered
            self._failed_in_a_row = self._count_failed_in_a_row(answered)
            if self._failed_in_a_row >= _MOST_FAILURES:
                self.ended = f"The language model failed: {answered[-1].fault}"
            if self.ended:
                break
        replies += [Reply(fault=self.ended)] * (len(requests) - len(replies))
        return replies

    def check_stop(self) -> str:
        """Check whether the user has stopped; return why the survey has ended, if it has."""
        if not self.ended and self._stop is not None and self._stop():
            self.ended = "It was stopped."
        return self.ended

    def _count_failed_in_a_row(self, answered: Sequence[Reply]) -> int:
        """Requests in a row that failed, counted by waves: within one, order means nothing."""
        if not all(reply.fault for reply in answered):
            return 0
        return self._failed_in_a_row + len(answered)

    def _within_budget(self, batch: Sequence[Request]) -> list[Request]:
        if self.ended:
            return []
        kept: list[Request] = []
        calls, tokens, money = self.calls, self.tokens, self.money
        for request in batch:
            sent = estimate_tokens(request.text)
            calls, tokens, money = calls + 1, tokens + sent, money + self._cost(sent, 0)
            self.ended = self._budget_exceeded(calls, tokens, money)
            if self.ended:
                break
            kept.append(request)
        return kept

    def _budget_exceeded(self, calls: int, tokens: int, money: float) -> str:
        limits = self._settings
        if calls > limits.calls:
            return f"The budget of {limits.calls:,} calls is spent."
        if limits.tokens is not None and tokens > limits.tokens:
            return f"The budget of {limits.tokens:,} tokens is spent."
        if limits.money is not None and money > limits.money:
            return f"The budget of {limits.money:g} in money is spent."
        return ""

    def _reply_to_each(self, batch: Sequence[Request]) -> list[Reply]:
        """Reply to each: as before where that is known, else as the model says now."""
        known = [self._reply_log.find(request.text) for request in batch]
        to_send = [request for request, kept in zip(batch, known, strict=True) if kept is None]
        sent = iter(self._send_all(to_send))
        replies = []
        for request, kept in zip(batch, known, strict=True):
            raw, fault = (kept, "") if kept is not None else next(sent)
            self._count(request.text, raw)
            if fault:
                self.failures += 1
                replies.append(Reply(fault=fault))
                continue
            try:
                value = request.read(raw)
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                self.failures += 1
                replies.append(Reply(fault=f"its reply had another form ({type(error).__name__})"))
                continue
            # Only what could be read is kept: a survey that goes on would trip over it again.
            self._reply_log.keep(request.text, raw)
            replies.append(Reply(value))
        return replies

    def _send_all(self, requests: Sequence[Request]) -> list[tuple[Any, str]]:
        if not requests:
            return []
        workers = min(len(requests), self._settings.parallel)
        with ThreadPoolExecutor(max_workers=workers) as pool:
            return list(pool.map(_send, requests))

    def _count(self, text: str, raw: Any) -> None:
        read, written = estimate_tokens(text), estimate_tokens(str(raw or ""))
        self.calls += 1
        self.tokens += read + written
        self.money += self._cost(read, written)

    def _cost(self, read: int, written: int) -> float:
        a, b = self._settings.prices or (0.0, 0.0)
        return (read * a + written * b) / 1e6


def _send(request: Request) -> tuple[Any, str]:
    try:
        return request.send(), ""
    except RemoteError as error:
        return None, str(error)
