"""Dates of every precision, and invalid dates."""

from __future__ import annotations

import datetime as dt

import pytest

from landscape.corpus.identifiers import earliest, latest_year, parse_date


@pytest.mark.parametrize(
    ("value", "iso", "precision"),
    [
        (2018, "2018-01-01", "year"),
        (2018.0, "2018-01-01", "year"),
        ("2018", "2018-01-01", "year"),
        ("2018-00-00", "2018-01-01", "year"),
        ("2018-07", "2018-07-01", "month"),
        ("2018-07-00", "2018-07-01", "month"),
        ("2018-07-19", "2018-07-19", "day"),
        ("2018/7/9", "2018-07-09", "day"),
        ("20180719", "2018-07-19", "day"),
        ("2018-07-19T23:59:59Z", "2018-07-19", "day"),
        ("2018-07-19 12:00:00+02:00", "2018-07-19", "day"),
        ("Mon, 2 Apr 2007 19:18:42 GMT", "2007-04-02", "day"),
        ("2 April 2007", "2007-04-02", "day"),
        ("April 2, 2007", "2007-04-02", "day"),
        ("Apr 2007", "2007-04-01", "month"),
        (dt.date(1993, 1, 7), "1993-01-07", "day"),
        (dt.datetime(1993, 1, 7, 12), "1993-01-07", "day"),
        ("1665-03-06", "1665-03-06", "day"),
    ],
)
def test_every_precision_is_read(value: object, iso: str, precision: str) -> None:
    date = parse_date(value)
    assert (date.date.isoformat(), date.precision) == (iso, precision)


@pytest.mark.parametrize(
    "value",
    [
        *(0, "0000-00-00", "3025-01-01", "1066 BC", "1066", "2018-13-01", "2018-02-30", "soon", ""),
        *(True, None, [2018], 2018.5, -2018, "99999999999999999999", float("nan"), "2018 BC"),
    ],
)
def test_absurd_dates_are_refused_with_the_value(value: object) -> None:
    with pytest.raises(ValueError, match=r"date|day"):
        parse_date(value)


def test_next_year_s_issue_is_allowed_but_not_a_far_one() -> None:
    assert parse_date(latest_year()).date.year == latest_year()
    with pytest.raises(ValueError, match="outside the years"):
        parse_date(latest_year() + 1)


@pytest.mark.parametrize(
    ("dates", "first"),
    [
        (["2021-03", "2021-01-05"], "2021-01-05"),
        (["2021", "2021-06-14"], "2021-06-14"),
        (["2021-06-14", "2021"], "2021-06-14"),
        (["2021-06", "2021-06-14"], "2021-06-14"),
        (["2020", "2021-06-14"], "2020-01-01"),
    ],
)
def test_the_earliest_date_wins_unless_it_is_only_vaguer(dates: list[str], first: str) -> None:
    best = earliest([parse_date(date) for date in dates])
    assert best is not None
    assert best.date.isoformat() == first
