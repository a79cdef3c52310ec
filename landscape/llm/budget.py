"""Limit the tokens and costs of a language model, and cache its replies on disk."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from landscape._io import cache_folder, write_whole
from landscape.errors import InputError, RemoteError

Prices = Mapping[str, tuple[float, float]]
"""Prices of a million input tokens and of a million output tokens, by model."""


@dataclass
class Usage:
    """Number of input and output tokens of one request."""

    read: int = 0
    written: int = 0


class Budget:
    """Budget of tokens and money of one connection; it is safe to use from several threads.

    A request is allowed if the tokens that it sends fit into the budget. The last answer may
    therefore exceed the budget. Tokens of pending requests are counted immediately.

    Parameters
    ----------
    model : str
    tokens : int
        Maximum number of input and output tokens together.
    money : float, optional
        Maximum cost, in the currency of the prices.
    prices : mapping of str to tuple of float, optional
        Prices of a million input tokens and of a million output tokens, by model.

    Raises
    ------
    InputError
        If money is limited and the model has no price.

    Examples
    --------
    >>> budget = Budget("small", tokens=1000, money=1.0, prices={"small": (0.5, 2.0)})
    >>> with budget.spending(100) as usage:
    ...     usage.read, usage.written = 120, 30
    >>> print(budget)
    150 of 1,000 tokens, 0.0001 of 1.00 in money
    """

    def __init__(
        self, model: str, *, tokens: int, money: float | None = None, prices: Prices | None = None
    ) -> None:
        self._model, self._tokens, self._money = model, tokens, money
        self._price = (prices or {}).get(model)
        if money is not None and self._price is None:
            raise InputError(
                f"A budget in money needs the price of {model!r}. Pass prices={{{model!r}: (a, b)}}"
                ", with the prices of a million input tokens and of a million output tokens."
            )
        self._used = Usage()
        self._under_way = 0
        self._lock = threading.Lock()

    @property
    def tokens_used(self) -> int:
        """Number of input and output tokens used so far."""
        return self._used.read + self._used.written

    @property
    def used(self) -> Usage:
        """Input and output tokens used so far."""
        return self._used

    @property
    def money_spent(self) -> float | None:
        """Money spent so far, or None if the model has no price."""
        return self.cost(self._used)

    def cost(self, usage: Usage) -> float | None:
        """Return the price of tokens, or None if the model has no price."""
        return None if self._price is None else self._cost(usage)

    @contextmanager
    def spending(self, needed: int) -> Iterator[Usage]:
        """Reserve `needed` tokens for a request; yield a `Usage` that the caller fills in.

        Raises RemoteError if the budget is spent.
        """
        with self._lock:
            self._check(needed)
            self._under_way += needed
        usage = Usage()
        try:
            yield usage
        finally:
            with self._lock:
                self._under_way -= needed
                self._used.read += usage.read
                self._used.written += usage.written

    def _check(self, needed: int) -> None:
        ahead = self._under_way + needed
        if self.tokens_used + ahead > self._tokens:
            raise RemoteError(
                f"The token budget of {self._tokens:,} for {self._model} is spent "
                f"({self.tokens_used:,} used). Connect with a larger token_budget."
            )
        cost = self._cost(Usage(self._used.read + ahead, self._used.written))
        if self._money is not None and cost > self._money:
            raise RemoteError(
                f"The budget of {self._money:.2f} in money for {self._model} is spent "
                f"({self._cost(self._used):.4f} so far). Connect with a larger money_budget."
            )

    def _cost(self, usage: Usage) -> float:
        read, written = self._price or (0.0, 0.0)
        return (usage.read * read + usage.written * written) / 1e6

    def __str__(self) -> str:
        shown = f"{self.tokens_used:,} of {self._tokens:,} tokens"
        if self._price is None:
            return shown
        spent = f"{self._cost(self._used):.4f}"
        return f"{shown}, {spent}" + (f" of {self._money:.2f}" if self._money else "") + " in money"


class BudgetPart(Budget):
    """Budget for a part of the work. Its usage also counts towards the `whole` budget.

    >>> budget = Budget("small", tokens=1000)
    >>> one, other = BudgetPart(budget), BudgetPart(budget)
    >>> with one.spending(100) as usage:
    ...     usage.read, usage.written = 120, 30
    >>> one.tokens_used, other.tokens_used, budget.tokens_used
    (150, 0, 150)
    """

    def __init__(self, whole: Budget) -> None:
        self._whole, self._price, self._used = whole, whole._price, Usage()
        self._lock = threading.Lock()

    @contextmanager
    def spending(self, needed: int) -> Iterator[Usage]:
        """Reserve tokens in the `whole` budget; count the usage in both budgets."""
        with self._whole.spending(needed) as usage:
            try:
                yield usage
            finally:
                with self._lock:
                    self._used.read += usage.read
                    self._used.written += usage.written

    def __str__(self) -> str:
        money = self.money_spent
        paid = "" if money is None else f", {money:.4f} in money"
        return f"{self.tokens_used:,} tokens{paid} (this connection so far: {self._whole})"


def estimate_tokens(*texts: str) -> int:
    """Estimate the number of tokens of texts, with one token per four bytes.

    >>> estimate_tokens("dust cools", "in quasars")
    5
    """
    return sum(len(text.encode()) for text in texts) // 4


class ReplyCache:
    """Cache of replies in a folder, with one JSON file per request.

    Files are written atomically, and unreadable files are ignored, so threads and processes may
    share a folder. API keys are never stored.

    Parameters
    ----------
    folder : pathlib.Path
        Created with the first reply.

    Examples
    --------
    >>> import tempfile
    >>> cache = ReplyCache(Path(tempfile.mkdtemp()))
    >>> cache.keep({"model": "small", "messages": ["Why?"]}, "Because.")
    >>> cache.find({"messages": ["Why?"], "model": "small"})
    'Because.'
    """

    def __init__(self, folder: Path) -> None:
        self._folder = Path(folder)

    def find(self, request: dict[str, object]) -> str | None:
        """Return the stored reply to a request (JSON values), or None if there is no reply."""
        key = _cache_key(request)
        try:
            stored = json.loads(self._path(key).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        is_valid = isinstance(stored, dict) and stored.get("key") == key
        reply = stored.get("reply") if is_valid else None
        return reply if isinstance(reply, str) else None

    def keep(self, request: dict[str, object], reply: str) -> None:
        """Store the reply to a request; disk errors are ignored."""
        key = _cache_key(request)
        path = self._path(key)
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps({"key": key, "model": request.get("model"), "reply": reply})
            write_whole(path, text.encode(), mode=0o600)  # replies may quote unpublished papers

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"


def default_cache_folder() -> Path:
    """Return the folder of stored replies.

    Returns
    -------
    pathlib.Path
        The value of the environment variable LANDSCAPE_LLM_CACHE, or ``landscape/replies`` in the
        cache folder of the user.

    Examples
    --------
    >>> default_cache_folder().is_absolute()
    True
    """
    if own := os.environ.get("LANDSCAPE_LLM_CACHE"):
        return Path(own).expanduser().resolve()
    return cache_folder("replies")


def _cache_key(request: dict[str, object]) -> str:
    text = json.dumps(request, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
