"""Columns that panels and LaTeX tables show."""

from __future__ import annotations

import pytest

from landscape._serializer import SHOWN, heading, shown_columns
from landscape.overlays import changes, missions, reviews, thesaurus, trends

# Columns that only some tables of a kind have.
OPTIONAL = {"period", "level", "with_narrower"}
OF_LISTS = {"listed_papers", "list_papers", "text_papers", "both_papers", "corrected_papers"} | {
    "list_precision",
    "list_recall",
}


@pytest.mark.parametrize(
    ("analyse", "subtable"),
    [
        (lambda atlas: missions.impact(atlas, ["HST"]), "facility_regions"),
        (lambda atlas: missions.before_after(atlas, "HST"), None),
        (lambda atlas: missions.compare_facilities(atlas, ["HST", "ALMA"]), None),
        (reviews.review_gaps, "papers_waiting"),
        (reviews.reviews, None),
        (thesaurus.thesaurus_gaps, None),
        (thesaurus.thesaurus_overlay, None),
        (thesaurus.concept_counts, None),
        (trends.trends, None),
        (lambda atlas: trends.compare(atlas, "2015..", "..2010"), None),
        (trends.countries, None),
        (trends.institutions, None),
        (changes.region_changes, None),
    ],
)
def test_every_shown_column_exists(demo_atlas, analyse, subtable):
    analysis = analyse(demo_atlas)
    tables = {analysis.kind: analysis.table}
    if subtable == "facility_regions":
        tables[subtable] = analysis.tables["regions"]
    elif subtable:
        tables[subtable] = analysis.tables["exemplars"]
    for kind, table in tables.items():
        missing = set(SHOWN[kind].split()) - set(table) - OPTIONAL - OF_LISTS
        assert not missing, f"{kind} has no {missing}"
        assert shown_columns(table, kind)
        assert len({heading(kind, name) for name in shown_columns(table, kind)}) > 1
