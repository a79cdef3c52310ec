"""Duplicates are merged, and similar but different papers are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.corpus._duplicates import (
    Keys,
    content_hash,
    find_duplicates,
    merge_records,
    normal_title,
    surname_hashes,
    text_hash,
    title_hash,
)
from landscape.corpus.identifiers import is_eprint_bibcode
from landscape.corpus.records import RawRecord, Row, normalise
from tests.timing import assert_growth

TITLE = "On the quenching of satellite galaxies"


def paper(**fields: Any) -> Row:
    fields = {"title": TITLE, "abstract": f"Text {fields}.", "authors": ["Doe, J."], **fields}
    fields["dates"] = [fields.pop("date")] if "date" in fields else []
    row = normalise(RawRecord(1, fields), file="f", source=fields.pop("from_", "s"))
    assert isinstance(row, dict), row
    return row


def groups(*rows: Row) -> list[int]:
    bibcodes = [b if b and not is_eprint_bibcode(b) else None for b in (r["bibcode"] for r in rows)]
    keys = Keys(
        np.array([text_hash(b) for b in bibcodes], np.uint64),
        *(
            np.array([text_hash(row[name]) for row in rows], np.uint64)
            for name in ("arxiv_id", "doi")
        ),
        np.array([title_hash(row["title"]) for row in rows], np.uint64),
        np.array([content_hash(row["title"], row["abstract"]) for row in rows], np.uint64),
        np.array([text_hash(row["paper_id"]) for row in rows], np.uint64),
        np.array([row["year"] or 0 for row in rows], np.int16),
    )
    authors = [frozenset(surname_hashes(row["authors"])) for row in rows]
    return find_duplicates(keys, lambda wanted: [authors[i] for i in wanted]).tolist()


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"arxiv_id": "2101.00001v1"}, {"arxiv_id": "2101.00001v7", "title": "Renamed"}),
        ({"doi": "10.1086/345794"}, {"doi": "https://doi.org/10.1086/345794"}),
        (
            {"bibcode": "2021A&A...645L..11A", "title": "A title of its own"},
            {"bibcode": "2021A&A...645L..11A"},
        ),
        ({"arxiv_id": "2101.00001"}, {"bibcode": "2021A&A...645L..11A"}),
        ({"authors": ["John Doe"]}, {"authors": ["Roe, R.", "Doe, J. A., Jr."]}),
        ({"title": f"{TITLE.upper()}."}, {"title": TITLE.replace(" ", "  ")}),
        ({"date": 2020, "arxiv_id": "2012.00001"}, {"date": 2021, "doi": "10.1086/1"}),
        ({"bibcode": "2021arXiv210100001D"}, {"arxiv_id": "2101.00001", "title": "Other"}),
    ],
)
def test_one_paper(one: dict[str, Any], two: dict[str, Any]) -> None:
    assert groups(paper(**one), paper(**two)) == [0, 0]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"authors": ["Doe, J."]}, {"authors": ["Roe, R."]}),
        ({"authors": [], "abstract": "One."}, {"authors": [], "abstract": "Two."}),
        ({"title": "Preface", "abstract": "One."}, {"title": "Preface", "abstract": "Two."}),
        ({"bibcode": "2021A&A...645L..11A"}, {"bibcode": "2021A&A...646L..12A"}),
        ({"arxiv_id": "2310.12840"}, {"arxiv_id": "2510.17523"}),
        ({"doi": "10.1086/1"}, {"doi": "10.1086/2"}),
        ({"date": 1998}, {"date": 2004}),
        (
            {"doi": "10.1017/s002237781", "arxiv_id": "1603.05731", "title": "First of a pair"},
            {"doi": "10.1017/s002237781", "arxiv_id": "1804.10291", "title": "Second of a pair"},
        ),
        (
            {"doi": "10.1000/proceedings", "title": "A talk on dust", "authors": ["Roe, R."]},
            {"doi": "10.1000/proceedings", "title": "A talk on gas"},
        ),
    ],
)
def test_two_papers(one: dict[str, Any], two: dict[str, Any]) -> None:
    assert groups(paper(**one), paper(**two)) == [0, 1]


def test_the_same_text_twice_is_one_paper_whatever_the_names() -> None:
    text = {"abstract": "The very same."}
    assert groups(paper(arxiv_id="2101.00001", **text), paper(arxiv_id="2202.00002", **text)) == [
        0,
        0,
    ]


def test_links_carry_on_through_a_third_record() -> None:
    preprint = paper(arxiv_id="2101.00001", title="A preliminary title")
    journal = paper(doi="10.1086/1", title="The final title")
    both = paper(arxiv_id="2101.00001", doi="10.1086/1", title="The final title")
    assert groups(preprint, journal, paper(title="Something else"), both) == [0, 0, 2, 0]


def test_a_proceedings_doi_does_not_swallow_its_papers() -> None:
    talks = [paper(doi="10.1000/volume", title=f"Talk number {i} on things") for i in range(20)]
    again = paper(doi="10.1000/volume", title="Talk number 3 on things", abstract="Other words")
    assert groups(*talks, again) == [*range(20), 3]


def test_a_chain_of_wrong_links_is_taken_apart() -> None:
    # Each record shares one wrong identifier with the next: in the end all would be one paper.
    def identifier(number: int) -> dict[str, str]:
        spellings = {
            "arxiv_id": f"2101.{number:05d}",
            "doi": f"10.1086/{number}",
            "bibcode": f"2021A&A...6{number:02d}L..11A",
        }
        kind = list(spellings)[number % 3]
        return {kind: spellings[kind]}

    rows = [
        paper(title=f"Paper {i} of 10", **identifier(i), **identifier(i + 1)) for i in range(10)
    ]
    assert groups(*rows) == list(range(10))


def test_many_papers_under_one_title_are_told_apart_by_their_authors() -> None:
    rows = [paper(authors=[f"Author{i % 30}, A."], date=2000) for i in range(60)]
    assert groups(*rows) == [*range(30), *range(30)]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("van der Berg, J.", "Jan van der Berg"),
        ("Müller-Lüdenscheidt, K.", "K. Muller-Ludenscheidt"),
        ("Smith, John, Jr.", "John Smith Jr."),
        ("Planck Collaboration", "The Planck Collaboration".removeprefix("The ")),
    ],
)
def test_surnames_meet_however_they_are_written(one: str, two: str) -> None:
    assert surname_hashes([one]) == surname_hashes([two])


def test_two_collaborations_share_no_author() -> None:
    assert not set(surname_hashes(["Planck Collaboration"])) & set(
        surname_hashes(["LIGO Collaboration"])
    )


def test_titles_are_compared_without_case_accents_and_punctuation() -> None:
    assert normal_title("The “Étoile”: H-α, again!") == normal_title("the etoile h α AGAIN")


def test_the_merged_record_keeps_the_best_of_both() -> None:
    preprint = paper(
        arxiv_id="2101.01542",
        bibcode="2021arXiv210101542A",
        abstract="The longer abstract of the preprint.",
        date="2021-01-05",
        cites=3,
        categories=["astro-ph.CO"],
        doi="10.48550/arXiv.2101.01542",
        authors=["Doe, J.", "Roe, R."],
        doctype="eprint",
        ads_keywords=["Galaxies"],
        from_="arxiv:a",
    )
    journal = paper(
        bibcode="2021A&A...645L..11A",
        title="On the quenching of satellite galaxies!",
        abstract="Shorter.",
        date="2021-03",
        cites=12,
        doi="10.1051/0004-6361/202039988",
        authors=["Doe, J."],
        aff=["MIT"],
        doctype="article",
        journal="A&A",
        ads_keywords=["galaxies", "dust"],
        from_="ads:b",
    )
    for rows in ([preprint, journal], [journal, preprint]):
        merged = merge_records(rows)
        assert merged["paper_id"] == merged["bibcode"] == merged["ads_id"] == "2021A&A...645L..11A"
        assert merged["title"] == journal["title"]
        assert merged["arxiv_id"] == "2101.01542"
        assert merged["doi"] == "10.1051/0004-6361/202039988"
        assert merged["abstract"] == preprint["abstract"]
        assert merged["date"].isoformat() == "2021-01-05"
        assert merged["cites"] == 12
        assert merged["authors"] == ["Doe, J.", "Roe, R."]
        assert merged["aff"] == ["MIT"]
        assert merged["journal"] == "A&A"
        assert merged["doctype"] == "article"
        assert {word.lower() for word in merged["ads_keywords"]} == {"galaxies", "dust"}
        assert set(merged["source"]) == {"arxiv:a", "ads:b"}


def keys_of_pairs(n: int) -> Keys:
    """The second half of the records are duplicates of the first half."""
    random = np.random.default_rng(1)
    none = np.zeros(n, np.uint64)
    titles = random.integers(1, 1 << 60, n, dtype=np.uint64)
    arxiv = random.integers(1, 1 << 60, n, dtype=np.uint64)
    arxiv[n // 2 :] = arxiv[: n // 2]
    titles[n // 2 :] = titles[: n // 2]
    return Keys(none, arxiv, none, titles, titles, none, np.full(n, 2020, np.int16))


def test_the_time_to_link_records_grows_with_their_number() -> None:
    def find(keys: Keys) -> Any:
        return find_duplicates(keys, lambda rows: [frozenset({1})] * len(rows))

    n = 200_000
    np.testing.assert_array_equal(find(keys_of_pairs(n)), np.tile(np.arange(n // 2), 2))
    assert_growth(find, keys_of_pairs, n)
