"""Duplicates are merged, and similar but different papers are not."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.corpus._duplicates import (
    Details,
    Keys,
    find_duplicates,
    merge_records,
    normal_title,
    similar_titles,
    surname_hashes,
)
from landscape.corpus._scanning import with_keys
from landscape.corpus.records import RawRecord, Row, normalise, to_table
from tests.timing import assert_growth

TITLE = "On the quenching of satellite galaxies"


def paper(**fields: Any) -> Row:
    fields = {"title": TITLE, "abstract": f"Text {fields}.", "authors": ["Doe, J."], **fields}
    fields["dates"] = [fields.pop("date")] if "date" in fields else []
    row = normalise(RawRecord(1, fields), file="f", source=fields.pop("from_", "s"))
    assert isinstance(row, dict), row
    return row


def groups(*rows: Row) -> list[int]:
    table = with_keys(to_table(rows))
    names = [field.name for field in fields(Keys)]
    keys = Keys(
        **{
            name: table[name if name == "year" else f"key_{name}"].fill_null(0).to_numpy()
            for name in names
        }
    )
    details = [
        Details(frozenset(surname_hashes(row["authors"])), row["title"], row["journal"])
        for row in rows
    ]
    return find_duplicates(
        keys, lambda wanted: [details[i] for i in wanted]
    ).representative.tolist()


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


@pytest.mark.parametrize(
    ("abstract", "is_preprint"), [("Shorter.", True), ("The final abstract of the article.", False)]
)
def test_the_merged_record_has_the_text_of_one_version(abstract: str, *, is_preprint: bool) -> None:
    preprint = paper(
        arxiv_id="2101.01542",
        bibcode="2021arXiv210101542A",
        title="A preliminary title",
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
        abstract=abstract,
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
    version = preprint if is_preprint else journal
    for rows in ([preprint, journal], [journal, preprint]):
        merged = merge_records(rows)
        assert merged["paper_id"] == merged["bibcode"] == merged["ads_id"] == "2021A&A...645L..11A"
        assert merged["title"] == version["title"]
        assert merged["arxiv_id"] == "2101.01542"
        assert merged["doi"] == "10.1051/0004-6361/202039988"
        assert merged["abstract"] == version["abstract"]
        assert merged["date"].isoformat() == "2021-01-05"
        assert merged["cites"] == 12
        assert merged["authors"] == version["authors"]
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
    return Keys(none, arxiv, none, titles, titles, *[none] * 5, np.full(n, 2020, np.int16))


def keys_of_copies(n: int) -> Keys:
    """All records are copies of one."""
    none, same = np.zeros(n, np.uint64), np.ones(n, np.uint64)
    values = {field.name: none for field in fields(Keys)}
    values |= dict.fromkeys(("title", "text", "title_start", "title_end", "title_words"), same)
    return Keys(**values | {"year": np.full(n, 2020, np.int16)})


def test_the_time_to_link_records_grows_with_their_number() -> None:
    def find(keys: Keys) -> Any:
        one = Details(frozenset({1}), TITLE, None)
        return find_duplicates(keys, lambda rows: [one] * len(rows)).representative

    n = 200_000
    np.testing.assert_array_equal(find(keys_of_pairs(n)), np.tile(np.arange(n // 2), 2))
    assert_growth(find, keys_of_pairs, n)
    assert not find(keys_of_copies(n)).any()
    assert_growth(find, keys_of_copies, n)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Cooling of dust in disks (Extended Abstract)", "Cooling of dust in disks"),
        (
            "Causal evidence for primordial colors of asteroids",
            "Causal evidence for primordial colours of asteroids",
        ),
        ("Semi-structured models of young disks", "Semistructured models of young disks"),
        ("Cooling of dust in disks: a view from the ground", "Cooling of dust in disks"),
        ("Panel on dust cooling in young disks", "Dust cooling in young disks (panel session)"),
    ],
)
def test_similar_titles_are_one_paper(one: str, two: str) -> None:
    both = [paper(title=title, date=2020, authors=["Doe, J.", "Roe, R."]) for title in (one, two)]
    assert similar_titles(one, two)
    assert groups(*both) == [0, 0]
    assert groups(both[0], {**both[1], "year": 2021}) == [0, 1], "another year is another paper"


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Dust cooling in young disks. I", "Dust cooling in young disks. II"),
        ("Dust cooling in NGC 1068", "Dust cooling in NGC 1275"),
        ("Erratum: Dust cooling in young disks", "Dust cooling in young disks"),
        ("Dust cooling in young disks", "Polarized dust cooling in young disks"),
        ("Editorial", "Guest editorial"),
    ],
)
def test_titles_of_other_papers(one: str, two: str) -> None:
    assert not similar_titles(one, two)
    assert groups(*(paper(title=title, date=2020) for title in (one, two))) == [0, 1]


def test_a_column_and_two_journals_are_not_merged() -> None:
    column = [
        paper(title="Book review column", date=year, abstract=f"{year}.")
        for year in (2019, 2020, 2020, 2021)
    ]
    for number, one in enumerate(column):
        one["abstract"] = f"Issue {number}."
    assert groups(*column) == [0, 1, 2, 3]
    journals = ("Journal of Digital Studies", "Workshop of Digital Studies")
    assert groups(*(paper(date=2020, journal=name) for name in journals)) == [0, 1]
    journals = ("MNRAS", "Monthly Notices of the Royal Astronomical Society")
    assert groups(*(paper(date=2020, journal=name) for name in journals)) == [0, 0]


def test_versions_of_a_doi_are_one_paper() -> None:
    versions = [paper(doi=f"10.1002/14651858.cd002273.pub{n}", date=2002 + n) for n in (2, 3)]
    assert groups(*versions) == [0, 0]
