"""How a survey works and what it may cost, as one typed object."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from datetime import date
from typing import Any, Literal, get_args

from landscape.errors import InputError
from landscape.search._settings import is_whole

Protocol = Literal["auto", "json", "pasa"]
"""How a language model is spoken to: in JSON, or in the tokens of PaSa's own models."""

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
        Papers that are taken out of the atlas for this survey, with all their citations.
    threshold : float, optional
        Score from which a paper is selected without a model, 0 to 1 beside the best ten papers; by
        default the calibrated one.
    selector : bool, default True
        Whether papers are judged; without, all that were found are returned in the order of the
        searches (for comparison).
    protocol : {"auto", "json", "pasa"}, default "auto"
        "auto" speaks PaSa's tokens to models whose name holds "pasa", JSON to all others.
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
            raise InputError(f"There is no protocol {self.protocol!r}; use one of {known}.")
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

    def work(self) -> dict[str, Any]:
        """What decides the result, without what it may cost: the same work can be resumed."""
        costs = ("calls", "tokens", "money", "prices", "parallel")
        return {name: value for name, value in self.to_dict().items() if name not in costs}


def survey_settings(**given: Any) -> SurveySettings:
    """Make settings out of what a caller wrote.

    Raises
    ------
    InputError
        For a name that is none, or a value that cannot be.

    Examples
    --------
    >>> survey_settings(depth=2).depth
    2
    >>> survey_settings(dept=2)
    Traceback (most recent call last):
    landscape.errors.InputError: A survey has no setting 'dept'; there are depth, breadth, ...
    """
    known = [field.name for field in fields(SurveySettings)]
    for name in given:
        if name not in known:
            raise InputError(f"A survey has no setting {name!r}; there are {', '.join(known)}.")
    return SurveySettings(**given)


def last_day(text: str) -> date:
    """Read the day before which papers count.

    Parameters
    ----------
    text : str
        A day, a month or a year.

    Returns
    -------
    datetime.date
        Its first day: what appeared on it does not count.

    Raises
    ------
    InputError

    Examples
    --------
    >>> last_day("2019-06")
    datetime.date(2019, 6, 1)
    """
    pieces = str(text).split("-")
    try:
        return date(*map(int, [*pieces, *["1"] * (3 - len(pieces))]))
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(
            f"before is {text!r}; give a day, a month or a year, such as 2019-06-30."
        ) from error
