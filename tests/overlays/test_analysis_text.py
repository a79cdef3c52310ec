"""Tables of analyses in a terminal."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from landscape.errors import InputError
from landscape.types import Analysis


def analysis(table: pd.DataFrame) -> Analysis:
    return Analysis(
        kind="any",
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
    assert "25 (20 to 30)" in text
    assert "2012" in text
    assert "2,01" not in text
    assert "12,345" in text
    assert "nan" not in text.lower()
    assert "low" not in text


def test_wide_rows_stand_upright():
    table = pd.DataFrame([{f"measure {i}": i for i in range(30)}])
    lines = analysis(table).to_text(width=80).splitlines()
    assert sum(line.startswith("Measure") for line in lines) == 30


def test_tables_fit_the_terminal_and_name_the_columns_that_do_not():
    rows = [{"label": "Dust and gas of galaxies", **{f"value_{i}": 1000 + i for i in range(30)}}]
    found = analysis(pd.DataFrame(rows * 50))
    for width in (60, 120):
        lines = found.to_text(width=width).splitlines()
        assert max(map(len, lines[1:-2])) <= width
    assert "Value 29" in lines[-2]
    assert lines[-2].startswith("... 10 more rows; columns that do not fit: Value ")
    text = found.to_text(columns=["value_29", "label"], width=80)
    assert "Value 29" in text
    assert "Value 1" not in text
    with pytest.raises(InputError, match=r"no column 'value_99'.*Choose from: label, value_0"):
        found.to_text(columns=["value_99"])


def test_captions_and_notes_are_wrapped_only_in_a_terminal():
    caption = " ".join(["A sentence about the papers of an atlas."] * 5)
    found = replace(analysis(pd.DataFrame({"papers": [1]})), caption=caption, warnings=(caption,))
    assert max(map(len, found.to_text(width=60).splitlines())) <= 60
    assert " ".join(found.to_text(width=60).split()).count(caption) == 2
    assert f"# {caption}\n" in found.to_csv()


def test_the_texts_of_papers_are_inert():
    table = pd.DataFrame({"label": ["[red]not a colour[/red] \x1b[31m", "a" * 70]})
    text = analysis(table).to_text(width=60)
    assert "[red]not a colour[/red]" in text
    assert "\x1b" not in text
    assert text.count("a" * 20) >= 3, "long words are folded, not cut"


def test_tables_are_text_in_a_notebook_too(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    table = pd.DataFrame({"label": ["中", "Dust"], "papers": [1, 2]})
    text = analysis(table).to_text(width=60)
    assert "中" in text
    assert "Dust" in text


def test_columns_are_chosen_once_and_bounds_belong_to_their_values():
    table = pd.DataFrame({"share": [0.5], "share_low": [0.4], "share_high": [0.6], "papers": [3]})
    text = analysis(table).to_text(columns=["papers", "share", "papers"])
    assert text.splitlines()[1].split() == ["Papers", "Share", "(%)"]
    with pytest.raises(InputError, match=r"no column 'share_low'.*Choose from: share, papers"):
        analysis(table).to_text(columns=["share", "share_low"])
