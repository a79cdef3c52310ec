"""Requests to a language model: counted before they are sent, sent side by side, kept in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from landscape.agents.survey.journal import Journal
from landscape.agents.survey.settings import SurveySettings
from landscape.errors import RemoteError
from landscape.llm._budget import estimate_tokens

WAVE = 8
"""Requests that are sent before the budget is looked at again: always as many, however many are
under way at a time, so that the result does not depend on it."""


_GIVEN_UP = 3  # requests that fail in a row: the server has gone


@dataclass(frozen=True)
class Request:
    """One request.

    Attributes
    ----------
    send : callable
        Sends it and gives the reply as JSON values; may raise RemoteError.
    read : callable
        Makes of the reply what is wanted.
    text : str
        What it sends: it is counted, and the reply is kept under it.
    """

    send: Callable[[], Any]
    read: Callable[[Any], Any]
    text: str


@dataclass(frozen=True)
class Reply:
    """What came of a request.

    Attributes
    ----------
    value
        What was read in the reply; None where there is none.
    fault : str
        Why there is none.
    """

    value: Any = None
    fault: str = ""


class Meter:
    """Sends requests, counts what they cost, and says when it is enough.

    Parameters
    ----------
    settings : SurveySettings
    journal : Journal
        Replies of the same survey before it was interrupted; they cost what they cost then.
    stop : callable, optional
        Asked before each wave whether the reader has had enough.

    Examples
    --------
    >>> meter = Meter(SurveySettings(calls=1), Journal(None, {}))
    >>> asked = [Request(lambda: "yes", str.upper, "a?"), Request(lambda: "no", str.upper, "b?")]
    >>> [reply.fault or reply.value for reply in meter.ask(asked)]
    ['YES', 'The budget of 1 calls is spent.']
    """

    def __init__(
        self,
        settings: SurveySettings,
        journal: Journal,
        *,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        self._settings, self._journal, self._stop = settings, journal, stop
        self.calls, self.tokens, self.money = 0, 0, 0.0
        self.failures = self._silence = 0
        self.ended = ""

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        """Send requests, and give the replies in their order.

        Parameters
        ----------
        requests : sequence of Request

        Returns
        -------
        list of Reply
            One each. When the budget is spent, or nothing but failures comes back, no more are
            sent, and `ended` says why.
        """
        replies: list[Reply] = []
        for start in range(0, len(requests), WAVE):
            self.look()
            wave = self._affordable(requests[start : start + WAVE])
            answered = self._answered(wave)
            replies += answered
            self._silence = self._silent_now(answered)
            if self._silence >= _GIVEN_UP:
                self.ended = f"The language model failed: {answered[-1].fault}"
            if self.ended:
                break
        replies += [Reply(fault=self.ended)] * (len(requests) - len(replies))
        return replies

    def look(self) -> str:
        """Ask whether the reader has had enough; gives why it has ended, if it has."""
        if not self.ended and self._stop is not None and self._stop():
            self.ended = "It was stopped."
        return self.ended

    def _silent_now(self, answered: Sequence[Reply]) -> int:
        """Requests in a row that failed, counted by waves: within one, order means nothing."""
        if not all(reply.fault for reply in answered):
            return 0
        return self._silence + len(answered)

    def _affordable(self, wave: Sequence[Request]) -> list[Request]:
        if self.ended:
            return []
        kept: list[Request] = []
        calls, tokens, money = self.calls, self.tokens, self.money
        for request in wave:
            sent = estimate_tokens(request.text)
            calls, tokens, money = calls + 1, tokens + sent, money + self._cost(sent, 0)
            self.ended = self._too_much(calls, tokens, money)
            if self.ended:
                break
            kept.append(request)
        return kept

    def _too_much(self, calls: int, tokens: int, money: float) -> str:
        told = self._settings
        if calls > told.calls:
            return f"The budget of {told.calls:,} calls is spent."
        if told.tokens is not None and tokens > told.tokens:
            return f"The budget of {told.tokens:,} tokens is spent."
        if told.money is not None and money > told.money:
            return f"The budget of {told.money:g} in money is spent."
        return ""

    def _answered(self, wave: Sequence[Request]) -> list[Reply]:
        """Reply to each: as before where that is known, else as the model says now."""
        known = [self._journal.find(request.text) for request in wave]
        to_send = [request for request, kept in zip(wave, known, strict=True) if kept is None]
        sent = iter(self._sent(to_send))
        replies = []
        for request, kept in zip(wave, known, strict=True):
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
            self._journal.keep(request.text, raw)
            replies.append(Reply(value))
        return replies

    def _sent(self, requests: Sequence[Request]) -> list[tuple[Any, str]]:
        if not requests:
            return []
        workers = min(len(requests), self._settings.parallel)
        with ThreadPoolExecutor(max_workers=workers) as crew:
            return list(crew.map(_send, requests))

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
