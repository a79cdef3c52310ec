"""Queries that name papers, their authors or their titles."""

from __future__ import annotations

import pytest

from landscape import Atlas


def test_an_identifier_finds_its_paper(demo_atlas: Atlas) -> None:
    paper = demo_atlas.papers.iloc[5]
    for query in (paper.bibcode, f"https://ui.adsabs.harvard.edu/abs/{paper.bibcode}/abstract"):
        found = demo_atlas.search(query)
        assert [one.paper_id for one in found.papers] == [paper.paper_id]
        assert found.matched
        assert not found.note


def test_author_and_year_find_their_papers(demo_atlas: Atlas) -> None:
    paper = demo_atlas.papers.iloc[5]
    family = paper.authors[0].split(",")[0]
    for query in (f"{family} {paper.year}", f"{family} et al. ({paper.year})"):
        found = demo_atlas.search(query)
        assert paper.paper_id in {one.paper_id for one in found.papers}
        assert found.matched


def test_an_identifier_without_a_paper_is_said(demo_atlas: Atlas) -> None:
    found = demo_atlas.search("2604.13000")
    assert not found.matched
    assert found.note == "No paper in this atlas has the identifier 2604.13000."
    assert demo_atlas.ask("Summarise 2604.13000", model=None).abstained


def test_a_named_paper_is_summarised(demo_atlas: Atlas) -> None:
    paper = demo_atlas.papers.iloc[5]
    answer = demo_atlas.ask(f"Summarise {paper.bibcode}", model=None)
    assert not answer.abstained
    assert {one.paper_id for one in answer.papers} == {paper.paper_id}
    assert any(claim.text in paper.abstract for claim in answer.claims)


def test_a_title_that_holds_the_query_comes_first(demo_atlas: Atlas) -> None:
    for row in (5, 60, 200):
        title = demo_atlas.papers["title"].iloc[row]
        assert demo_atlas.search(title, k=3).papers[0].title == title


@pytest.mark.parametrize("form", ["{family}, {initial}.", "{initial}. {family}"])
def test_an_author_with_initials(demo_atlas: Atlas, form: str) -> None:
    family, given = demo_atlas.papers["authors"].iloc[5][0].split(", ")[:2]
    query = form.format(family=family, initial=given[0])
    found = demo_atlas.search(query, k=100)
    assert {one.row for one in found.papers} == set(
        map(int, demo_atlas.select(f'author:"{family}, {given[0]}"'))
    )
