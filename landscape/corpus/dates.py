"""Dates of every precision, from the year alone to a time stamp with its zone."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Literal

Precision = Literal["day", "month", "year"]

EARLIEST_YEAR = 1500
"""Before this no dated paper exists in any source: older years are mistakes."""

_ISO = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?(?:[T\s]\d.*)?", re.DOTALL)
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})")
_WORDS = re.compile(r"(?:(\d{1,2})\s+)?([A-Za-z]{3,9})\.?,?\s+(?:(\d{1,2}),?\s+)?(\d{4})")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@dataclass(frozen=True, slots=True)
class PaperDate:
    """When a paper appeared, and how exactly that is known.

    Attributes
    ----------
    date : datetime.date
        Unknown months and days are 1.
    precision : {"day", "month", "year"}
    """

    date: dt.date
    precision: Precision

    def covers(self, other: PaperDate) -> bool:
        """Whether `other` says the same, but more exactly."""
        if self.precision == "year":
            return other.precision != "year" and self.date.year == other.date.year
        if self.precision == "month":
            same = (self.date.year, self.date.month) == (other.date.year, other.date.month)
            return same and other.precision == "day"
        return False


def latest_year() -> int:
    """Latest year that a paper can bear: journals date issues up to two years ahead."""
    return max(dt.datetime.now(dt.UTC).year, 2026) + 2


def parse_date(value: object) -> PaperDate:
    """Read a date as any of our sources writes it.

    Parameters
    ----------
    value : str, int, float, datetime.date or datetime.datetime
        ``2018``, ``"2018-01"``, ``"2018-01-00"``, ``"2018-00-00"``, ISO time stamps,
        ``"Mon, 2 Apr 2007 19:18:42 GMT"``, ``"April 2007"``, ``"20070402"``.

    Returns
    -------
    PaperDate

    Raises
    ------
    ValueError
        Saying in a few words what is wrong: not a date, no such day, or an absurd year.

    Examples
    --------
    >>> parse_date("2018-01-00")
    PaperDate(date=datetime.date(2018, 1, 1), precision='month')
    >>> parse_date("1066 BC")
    Traceback (most recent call last):
        ...
    ValueError: '1066 BC' is not a date
    """
    if isinstance(value, dt.datetime):
        return _checked(value.year, value.month, value.day, value)
    if isinstance(value, dt.date):
        return _checked(value.year, value.month, value.day, value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        value = f"{value:04d}" if 0 <= value <= 99999999 else str(value)
    if not isinstance(value, str):
        raise ValueError(f"{_shown(value)} is not a date")
    text = value.strip()
    if match := _COMPACT.fullmatch(text) or _ISO.fullmatch(text):
        year, month, day = (int(group or 0) for group in match.groups())
        return _checked(year, month, day, value)
    if match := _WORDS.fullmatch(text):
        named = month_number(match[2])
        if named:
            return _checked(int(match[4]), named, int(match[1] or match[3] or 0), value)
    return _from_mail_header(text)


def month_number(name: str) -> int | None:
    """Number of a month from its English name or abbreviation, None for anything else.

    Examples
    --------
    >>> month_number("Sept"), month_number("spring")
    (9, None)
    """
    start = name.strip().lower()[:3]
    return _MONTHS.index(start) + 1 if start in _MONTHS else None


def earliest(dates: list[PaperDate]) -> PaperDate | None:
    """First of several dates of one paper; of two that agree, the more exact one.

    Examples
    --------
    >>> earliest([parse_date("2021"), parse_date("2021-06-14"), parse_date("2022-01")]).date
    datetime.date(2021, 6, 14)
    """
    best: PaperDate | None = None
    for date in dates:
        more_exact = best is None or best.covers(date)
        if more_exact or (best and not date.covers(best) and date.date < best.date):
            best = date
    return best


def _from_mail_header(text: str) -> PaperDate:
    try:
        stamp = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        raise ValueError(f"{_shown(text)} is not a date") from None
    return _checked(stamp.year, stamp.month, stamp.day, text)


def _checked(year: int, month: int, day: int, value: object) -> PaperDate:
    if not EARLIEST_YEAR <= year <= latest_year():
        raise ValueError(
            f"{_shown(value)} is an absurd date, papers are of {EARLIEST_YEAR} to {latest_year()}"
        )
    precision: Precision = "day" if month and day else "month" if month else "year"
    try:
        return PaperDate(dt.date(year, month or 1, (day if month else 0) or 1), precision)
    except ValueError:
        raise ValueError(f"{_shown(value)} is no day of the calendar") from None


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else str(value)
    return repr(text if len(text) <= 40 else f"{text[:37]}...")
