"""Papers without a date do not stop an analysis and are not counted in a year."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from landscape import Atlas, figures, overlays
from landscape.errors import InputError
from landscape.overlays.periods import UNKNOWN_YEAR, count_years


class Undated(Atlas):
    """An atlas whose first papers have no dates."""

    lost = 3

    def read_papers(self, columns=None, *, rows=None):
        papers = super().read_papers(columns, rows=rows)
        numbers = np.arange(len(self)) if rows is None else np.asarray(rows)
        for name in {"year", "date"} & set(papers.columns):
            papers[name] = papers[name].mask(numbers < self.lost)
        return papers


class Timeless(Undated):
    """An atlas without dates."""

    lost = 10**9


def author_of(atlas: Atlas) -> str:
    return str(atlas.read_papers(["authors"])["authors"].iloc[-1][0])


ASKED = {
    "reviews": lambda atlas: overlays.reviews.reviews(atlas),
    "review gaps": lambda atlas: overlays.reviews.review_gaps(atlas, n_resamples=20),
    "trends": lambda atlas: overlays.trends.trends(atlas),
    "new topics": lambda atlas: overlays.trends.new_topics(atlas, months=24),
    "author": lambda atlas: overlays.trends.author_path(atlas, author_of(atlas), n_resamples=20),
    "countries": lambda atlas: overlays.trends.countries(atlas),
    "compare": lambda atlas: overlays.trends.compare(atlas, np.arange(50), np.arange(50, 200)),
    "impact": lambda atlas: overlays.missions.impact(atlas, n_resamples=20),
    "thesaurus gaps": lambda atlas: overlays.thesaurus.thesaurus_gaps(atlas, limit=5),
}


@pytest.mark.parametrize("kind", ASKED)
def test_a_few_papers_without_a_date_stop_no_answer(kind: str, demo_atlas: Atlas) -> None:
    found = ASKED[kind](Undated(demo_atlas.path, demo_atlas.manifest))
    assert len(found.table) or kind == "new topics"  # 400 papers are too few
    years = [found.tables[name]["year"] for name in ("years",) if name in found.tables]
    assert all(one.between(1900, 2100).all() for one in years)
    assert not re.search(r"(?<![\d-])-1\b", found.caption), "the code of a missing year"


@pytest.mark.parametrize("kind", ASKED)
def test_a_corpus_without_dates_is_a_sentence_or_an_answer(kind: str, demo_atlas: Atlas) -> None:
    timeless = Timeless(demo_atlas.path, demo_atlas.manifest)
    if kind in ("compare", "thesaurus gaps"):
        assert len(ASKED[kind](timeless).table)
    else:
        with pytest.raises(InputError, match="has a date"):
            ASKED[kind](timeless)


def test_slices_of_time_leave_out_what_has_no_date(demo_atlas: Atlas, tmp_path: Path) -> None:
    undated = Undated(demo_atlas.path, demo_atlas.manifest)
    table = figures.time_slices(undated).table
    assert table["papers"].notna().all()
    assert table["first_year"].min() == undated.read_papers(["year"])["year"].min()
    counted = table.drop_duplicates("slice")["papers_in_slice"].sum()
    assert counted == len(demo_atlas) - Undated.lost
    with pytest.raises(InputError, match="need dates, but no paper of this corpus has one"):
        figures.time_slices(Timeless(demo_atlas.path, demo_atlas.manifest))


def test_years_are_counted_without_the_unknown_ones() -> None:
    counted = count_years([UNKNOWN_YEAR, 2020, 2021, UNKNOWN_YEAR])
    assert counted.years.tolist() == [2020, 2021]
    assert pd.Series(counted.counts).tolist() == [1, 1]
