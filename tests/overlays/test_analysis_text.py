"""Tables of analyses in a terminal."""

from __future__ import annotations

import pandas as pd

from landscape.types import Analysis


def analysis(table: pd.DataFrame) -> Analysis:
    return Analysis(
        kind="reviews",
        table=table,
        caption="Reviews.",
        denominators={"papers": 3},
        bounds={"title": "a", "generated": False},
    )


def test_numbers_stand_with_their_intervals_and_years_without_commas():
    table = pd.DataFrame(
        {
            "share": [0.25, 0.5],
            "share_low": [0.2, None],
            "share_high": [0.3, None],
            "last_review": [2012.0, None],
            "year_low": [2011.0, 2013.0],
            "years_since": [1.5, 4.0],
            "cites": [12345.0, 3.0],
        }
    )
    text = analysis(table).to_text()
    assert "0.25 (0.2 to 0.3)" in text
    assert "2012" in text
    assert "2,01" not in text
    assert "12,345" in text
    assert "nan" not in text.lower()
    assert "share_low" not in text


def test_wide_rows_stand_upright():
    table = pd.DataFrame([{f"measure {i}": i for i in range(14)}])
    lines = analysis(table).to_text().splitlines()
    assert sum(line.startswith("measure") for line in lines) == 14
