"""What a connection to a language model may cost, and what it has cost so far."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from landscape.errors import InputError, RemoteError

Prices = Mapping[str, tuple[float, float]]
"""Model to the price of a million tokens that it reads, and of a million that it writes."""


@dataclass
class Usage:
    """What one request cost.

    Attributes
    ----------
    read, written : int
        Tokens.
    """

    read: int = 0
    written: int = 0


class Budget:
    """Tokens and money of one connection, shared by all threads that use it.

    A request is let through if what it sends still fits; so the last answer may overdraw the
    budget, but nothing is asked after it. What requests under way will send counts at once.

    Parameters
    ----------
    model : str
    tokens : int
        That may be used in all, both ways.
    money : float, optional
        That may be spent in all, in the currency of the prices.
    prices : mapping of str to tuple of float, optional
        See `Prices`.

    Raises
    ------
    InputError
        Money is limited and the model has no price.

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
            message = (
                f"A budget in money needs the price of {model!r}: pass prices={{{model!r}: (a, b)}}"
                ", the prices of a million tokens read and of a million written."
            )
            raise InputError(message)
        self._used = Usage()
        self._under_way = 0
        self._lock = threading.Lock()

    @property
    def tokens_used(self) -> int:
        """Tokens used so far, both ways."""
        return self._used.read + self._used.written

    @property
    def money_spent(self) -> float | None:
        """Money spent so far; None where there is no price."""
        return self.cost(self._used)

    def cost(self, usage: Usage) -> float | None:
        """Money that so many tokens cost; None where there is no price."""
        return None if self._price is None else self._cost(usage)

    @contextmanager
    def spending(self, needed: int) -> Iterator[Usage]:
        """Let one request through, and count what it cost.

        Parameters
        ----------
        needed : int
            Tokens that it will send, estimated.

        Yields
        ------
        Usage
            To be filled in; counted even where the request fails later.

        Raises
        ------
        RemoteError
            The budget is spent.
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
            message = (
                f"The token budget of {self._tokens:,} for {self._model} is spent "
                f"({self.tokens_used:,} used). Connect with a larger token_budget."
            )
            raise RemoteError(message)
        cost = self._cost(Usage(self._used.read + ahead, self._used.written))
        if self._money is not None and cost > self._money:
            message = (
                f"The budget of {self._money:.2f} in money for {self._model} is spent "
                f"({self._cost(self._used):.4f} so far). Connect with a larger money_budget."
            )
            raise RemoteError(message)

    def _cost(self, usage: Usage) -> float:
        read, written = self._price or (0.0, 0.0)
        return (usage.read * read + usage.written * written) / 1e6

    def __str__(self) -> str:
        shown = f"{self.tokens_used:,} of {self._tokens:,} tokens"
        if self._price is None:
            return shown
        spent = f"{self._cost(self._used):.4f}"
        return f"{shown}, {spent}" + (f" of {self._money:.2f}" if self._money else "") + " in money"


class Part:
    """What one piece of work costs of a budget that others use at the same time.

    Parameters
    ----------
    whole : Budget or Part
        What the work uses counts there too.

    Examples
    --------
    >>> budget = Budget("small", tokens=1000)
    >>> one, other = Part(budget), Part(budget)
    >>> with one.spending(100) as usage:
    ...     usage.read, usage.written = 120, 30
    >>> one.tokens_used, other.tokens_used, budget.tokens_used
    (150, 0, 150)
    """

    def __init__(self, whole: Budget | Part) -> None:
        self._whole, self._used = whole, Usage()
        self._lock = threading.Lock()

    @property
    def tokens_used(self) -> int:
        """Tokens used so far, both ways."""
        return self._used.read + self._used.written

    @property
    def money_spent(self) -> float | None:
        """Money spent so far; None where there is no price."""
        return self.cost(self._used)

    def cost(self, usage: Usage) -> float | None:
        """Money that so many tokens cost; None where there is no price."""
        return self._whole.cost(usage)

    @contextmanager
    def spending(self, needed: int) -> Iterator[Usage]:
        """Let one request through, and count what it cost, here and in the whole.

        Parameters
        ----------
        needed : int
            Tokens that it will send, estimated.

        Yields
        ------
        Usage

        Raises
        ------
        RemoteError
            The whole budget is spent.
        """
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


def estimated_tokens(*texts: str) -> int:
    """Estimate the tokens of some texts where nobody has counted: one for four bytes.

    Parameters
    ----------
    *texts : str

    Returns
    -------
    int

    Examples
    --------
    >>> estimated_tokens("dust cools", "in quasars")
    5
    """
    return sum(len(text.encode()) for text in texts) // 4
