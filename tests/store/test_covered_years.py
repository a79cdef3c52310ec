"""Covered years depend on the numbers of papers and on their categories."""

from __future__ import annotations

import gzip
import json
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from landscape.atlas import Atlas
from landscape.figures.caption import MapFacts, explanation, headline
from landscape.pipeline.commit import write_manifest
from landscape.store.info import describe
from landscape.store.manifest import Manifest, Part
from landscape.store.years import count_years

FIELDS = ("astro-ph.GA", "astro-ph.HE", "astro-ph.SR", "astro-ph.CO", "gr-qc")


def _draw(
    years: range, n: int, shares: dict[str, float], seed: int = 0
) -> tuple[list[int], list[str]]:
    random = np.random.default_rng(seed)
    names = random.choice(list(shares), n * len(years), p=list(shares.values()))
    return np.repeat(list(years), n).tolist(), names.tolist()


def _join(*parts: tuple[list[int], list[str]]) -> tuple[list[int], list[str]]:
    years, names = zip(*parts, strict=True)
    return list(chain(*years)), list(chain(*names))


EVEN = dict.fromkeys(FIELDS, 0.2)
SPECIAL = {"physics.space-ph": 0.4, "physics.plasm-ph": 0.2, "astro-ph.SR": 0.4}


@pytest.mark.parametrize("n", [30, 300])
def test_years_with_other_categories_are_covered_in_part(n: int) -> None:
    given = _join(
        _draw(range(1993, 1999), n, {"astro-ph": 0.8, "gr-qc": 0.2}),
        _draw(range(1999, 2010), n, SPECIAL),
        _draw(range(2010, 2020), 2 * n, EVEN),
    )
    found = count_years(*given)
    assert count_years(given[0]).text == "1993-2019", "there are as many papers as in other years"
    assert found.in_part == "1999-2009"
    assert found.text == "1993-1998 and 2010-2019 well, 1999-2009 in part"
    assert found.warnings[0].startswith("The corpus covers 1999-2009 in part")
    assert found.last_stretch == 2010
    assert found.has_gap_at(2010)
    assert not found.has_gap_at(2012)


@pytest.mark.parametrize("n", [3, 10, 30, 300])
@pytest.mark.parametrize("seed", range(5))
def test_years_of_one_kind_are_covered_however_few_their_papers(n: int, seed: int) -> None:
    assert count_years(*_draw(range(1990, 2020), n, EVEN, seed)).text == "1990-2019"


def test_a_slow_change_of_a_field_is_no_other_selection() -> None:
    share = np.linspace(0, 1, 30)
    drift = [
        _draw(range(1990 + i, 1991 + i), 500, {"hep-th": 1 - p, "cs.LG": p})
        for i, p in enumerate(share)
    ]
    assert count_years(*_join(*drift)).text == "1990-2019"


def test_categories_that_most_papers_lack_are_not_compared() -> None:
    even, special = _draw(range(2000, 2005), 100, EVEN), _draw(range(2005, 2010), 100, SPECIAL)
    years, names = _join(even, special)
    lacking = [name if i % 3 == 0 else "" for i, name in enumerate(names)]
    assert count_years(years, lacking).in_part == ""
    assert count_years(years, [""] * len(years)).text == "2000-2009"


def test_many_gaps_are_counted() -> None:
    years = np.repeat(np.arange(2000, 2012), [50, 1] * 6)
    assert count_years(years).in_part == "5 years of 2001-2009"


def test_the_real_papers_of_1995_to_2022_are_a_part(real_papers: Path) -> None:
    with gzip.open(real_papers, "rt", encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    found = count_years([row["year"] for row in rows], [row["categories"][0] for row in rows])
    assert found.text == "1993-1994 and 2023-2026 well, 1995-2022 in part"


def test_an_atlas_tells_its_covered_years(finished: Atlas, tmp_path: Path) -> None:
    years = finished.papers["year"]
    assert finished.coverage["years"] == count_years(years, [""] * len(years)).text
    assert f"coverage   {finished.coverage['years']}\n" in describe(finished)
    given = _join(_draw(range(2000, 2005), 50, SPECIAL), _draw(range(2005, 2010), 100, EVEN))
    lists = [[name, "astro-ph.IM"] for name in given[1]]
    table = pa.table(
        {
            "year": pa.array([None, *given[0], None], pa.int16()),
            "categories": pa.array([None, *lists, []], pa.list_(pa.string())),
        }
    )
    (tmp_path / "rows.arrow").mkdir()
    with pa.ipc.new_file(str(tmp_path / "rows.arrow" / "a.arrow"), table.schema) as file:
        for batch in table.to_batches(max_chunksize=64):
            file.write_batch(batch)
    parts = (Part("a", len(table), "demo", "a.jsonl", "", 0, 0, len(table), 0, 0),)
    held = Atlas(tmp_path, write_manifest(tmp_path, Manifest(title="Two", parts=parts)))
    read = held.paper_table.years_and_categories()
    assert read == ([-1, *given[0], -1], ["", *given[1], ""])
    assert count_years(*read).in_part == "2000-2004"


def test_captions_of_maps_tell_the_years_in_part() -> None:
    facts = MapFacts("Real", 9, (), "1993-01-01", "2026-06-30", in_part="1995-2022")
    assert headline(facts) == "Real: 9 papers, 1993-01-01 to 2026-06-30 (1995-2022 in part)."
    assert "The corpus covers 1995-2022 in part (few papers or other categories)." in explanation(
        facts
    )


def test_months_without_papers_beside_a_gap_are_not_covered() -> None:
    """A corpus of 2023 that begins in May does not cover January to April."""
    years = np.repeat([1993, 1994, 1995, 2022, 2023, 2024], [1200, 1200, 20, 20, 820, 1200])
    months = np.concatenate(
        [
            np.tile(np.arange(1, 13), 200),
            np.full(20, 5),
            np.full(20, 5),
            np.repeat(np.arange(1, 13), [5, 5, 5, 5, *[100] * 8]),
            np.tile(np.arange(1, 13), 100),
        ]
    )
    found = count_years(years, months=months)
    assert found.text == "1993-1994 and May 2023-2024 well, 1995-April 2023 in part"
    months[years == 1994] = np.minimum(months[years == 1994], 9)
    found = count_years(years, months=months)
    assert found.in_part == "October 1994-April 2023"
    assert count_years(years, months=np.zeros(len(years))).in_part == "1995-2022"
