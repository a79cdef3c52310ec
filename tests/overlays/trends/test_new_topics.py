"""New topics: known bursts are found, and changes of the sampling are not news."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks.trends import SAMPLINGS, judge_news, make_world, months_between
from landscape.errors import InputError
from landscape.overlays.trends import new_topics

# Private: no public function gives the date in a name.
from landscape.overlays.trends._monthly_counts import _DATED_NAME, _object_name, month_of_name

if TYPE_CHECKING:
    from landscape.store import AtlasStore as Atlas


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_a_change_of_the_sampling_is_no_news(sampling: str) -> None:
    _, _, _, wrong = judge_news(sampling, news=False, seed=11)
    assert wrong <= 1


def test_news_are_found_within_a_quarter() -> None:
    n, found, near, wrong = np.sum(
        [judge_news("none", news=True, seed=seed) for seed in (11, 12)], axis=0
    )
    assert found >= 0.9 * n
    assert near >= 0.75 * n
    assert wrong == 0


def test_the_table_describes_each_topic() -> None:
    atlas, truth = make_world("none", news=True, seed=11)
    found = new_topics(atlas, months=24)
    table = found.table[found.table["term"].isin(truth)]
    kinds = {name: kind for name, (_, kind) in truth.items()}
    assert (table["class"] == table["term"].map(kinds)).mean() >= 0.7
    assert (table["change_low"] > 1).all()
    assert (table["change_low"] <= table["change"]).all()
    assert (table["change"] <= table["change_high"]).all()
    assert (table["since_low"] <= table["since"]).all()
    assert (table["since"] <= table["since_high"]).all()
    assert found.table["additional"].is_monotonic_decreasing
    times = found.tables["times"]
    for row in table[table["class"] == "growing"].itertuples():
        year, month = (int(part) for part in row.since.split("-"))
        begin = year + (month - 3) / 12  # a quarter before
        of = times[(times["term"] == row.term) & (times["year"] < begin)]
        assert of["expected"].sum() == pytest.approx(of["papers"].sum(), rel=0.35)
        assert (of["expected_low"] <= of["expected"]).all()
    first = found.tables["first_papers"]
    assert (first.groupby("term").size() <= 3).all()
    assert found.table["also"].str.len().max() > 0  # both keywords of a subject are one topic
    assert found.to_text()
    assert found.to_csv()


def test_an_earlier_end_finds_what_was_new_then() -> None:
    atlas, truth = make_world("none", news=True, seed=12)
    name, (start, _) = min(truth.items(), key=lambda item: item[1][0])
    year, month = (int(part) for part in start.split("-"))
    end = f"{year + (month + 5) // 12}-{(month + 5) % 12 + 1:02d}"
    table = new_topics(atlas, months=9, until=end).table
    row = table[table["term"].eq(name) | table["also"].str.contains(name)].iloc[0]
    assert months_between(row["since"], start) <= 3
    assert (table["since"] <= end).all()


@pytest.mark.parametrize(
    ("text", "name", "month"),
    [
        ("the nearby SN 2023ixf", "SN 2023ixf", (2023, 12)),
        ("SN2023ixf", "SN 2023ixf", (2023, 12)),
        ("GW230529_181500", "GW230529", (2023, 5)),
        ("GRB~221009A", "GRB 221009A", (2022, 10)),
        ("comet C/2025 N1 (ATLAS)", "C/2025 N1", (2025, 12)),
        ("FRB 20240114A", "FRB240114A", (2024, 1)),
        ("the superevent S250206dm", "S250206dm", (2025, 2)),
        ("GRB 970228", "GRB 970228", (1997, 2)),
    ],
)
def test_names_have_dates(text: str, name: str, month: tuple[int, int]) -> None:
    match = _DATED_NAME.search(text)
    assert match
    assert _object_name(match) == name
    assert month_of_name(name) == 12 * month[0] + month[1] - 1


@pytest.mark.parametrize("text", ["NGC 4151", "SN 1987A-like", "AT 10 pc", "S 235", "PSR J0740+66"])
def test_other_names_have_no_recent_date(text: str) -> None:
    match = _DATED_NAME.search(text)
    assert match is None or (month_of_name(_object_name(match)) or 0) < 12 * 2000


def test_an_object_is_new_by_its_name() -> None:
    atlas, _ = make_world("none", news=False, seed=13)
    whole = atlas.read_papers(["title"]).index
    read = atlas.read_papers

    def with_object(columns: list[str], rows: list[int] | None = None) -> object:
        papers = read(columns, rows=rows).copy()
        if "abstract" in columns and rows is None:
            papers.loc[whole[-30::5], "abstract"] = "We observe SN2024xyz."
        return papers

    atlas.read_papers = with_object
    row = new_topics(atlas, months=12).table.set_index("term").loc["SN 2024xyz"]
    assert row["class"] == "new"
    assert row["papers"] == 6
    assert np.isnan(row["change"])
    assert "date" in row["why"]


def test_bad_settings_and_short_periods_are_explained(demo_atlas: Atlas) -> None:
    with pytest.raises(InputError, match="months is 0"):
        new_topics(demo_atlas, months=0)
    with pytest.raises(InputError, match="until is '2025'"):
        new_topics(demo_atlas, until="2025")
    with pytest.raises(InputError, match="7 months of papers or more"):
        new_topics(demo_atlas, until="1980-01")
    with pytest.raises(InputError, match=r"least_change is 0\.5"):
        new_topics(demo_atlas, least_change=0.5)
    with pytest.raises(InputError, match="false discovery rate is 2"):
        new_topics(demo_atlas, q=2)
