"""One rule decides whether papers match a query; people and other languages are recognised."""

from __future__ import annotations

import json

import pytest

from landscape import Atlas
from landscape._io import data_file, read_yaml
from landscape.cli import main
from landscape.mcp_server import Tools
from landscape.search.matching import long_forms, person_name, subject_words, with_long_forms

NONSENSE = ["asdfqwer zxcv", "the", "chocolate cake recipe", "landlord law", "how to train a puppy"]
SUBJECTS = [
    "stellar winds of massive stars",
    "exoplanet atmospheres",
    "dark matter halos",
    "How do galaxies form stars?",
    "gravitational lensing",
]


@pytest.mark.parametrize("query", NONSENSE)
def test_nonsense_matches_nothing_in_any_search(demo_atlas: Atlas, query: str) -> None:
    found = demo_atlas.search(query)
    assert not found.matched
    assert found.to_text().startswith(("No paper in this atlas", "The query has no word"))
    assert found.to_dict()["matched"] is False
    assert demo_atlas.ask(query, model=None).abstained
    assert not demo_atlas.survey(query, model=None).selected
    assert Tools(demo_atlas).search(query)["matched"] is False


@pytest.mark.parametrize("query", SUBJECTS)
def test_subjects_of_the_atlas_match(demo_atlas: Atlas, query: str) -> None:
    found = demo_atlas.search(query)
    assert found.matched
    assert found.note == ""


def test_words_that_no_paper_has_are_named_and_nothing_is_listed(demo_atlas: Atlas) -> None:
    found = demo_atlas.search("asdfqwer zxcv")
    assert found.note == "No paper in this atlas has any of the words asdfqwer, zxcv."
    assert not found.hits


def test_an_object_that_no_paper_names_does_not_match(demo_atlas: Atlas) -> None:
    found = demo_atlas.search("stars of NGC 99999")
    assert not found.matched
    assert "names NGC 99999; the nearest are:" in found.note


def test_the_command_says_whether_papers_match(
    demo_atlas: Atlas, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["search", str(demo_atlas.path), "landlord law", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["matched"] is False


def test_empty_words_are_no_subject() -> None:
    assert subject_words("What is the mass of the Milky Way?") == ("mass", "Milky", "Way")
    assert subject_words("recent survey") == ("recent", "survey")
    assert subject_words("the of and") == ()


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("Vera Rubin", "Vera Rubin"),
        ("papers by Avi Loeb", "Avi Loeb"),
        ("Rubin, V.", "Rubin, V"),
        ("Rubin observes stars", ""),
        ("NGC 1275", ""),
        ("the Milky Way", ""),
    ],
)
def test_names_of_people_are_recognised(query: str, name: str) -> None:
    assert person_name(query) == name


def test_a_person_has_the_papers_of_the_author(demo_atlas: Atlas) -> None:
    names = demo_atlas.read_papers(["authors"])["authors"].explode().dropna()
    family, given = next(
        (name.split(", ") for name in names if name.count(", ") == 1 and len(name.split()) == 2),
        ("", ""),
    )
    assert family
    found = demo_atlas.search(f"{given} {family}", k=400)
    assert found.matched
    rows = {hit.paper.row for hit in found.hits}
    assert rows == set(demo_atlas.select(f'author:"{family}, {given[0]}"'))
    answer = demo_atlas.ask(f"{given} {family}", model=None)
    assert answer.method == "tables"
    assert f"{family}, {given[0]}." in answer.text


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("¿Qué es la materia oscura de las galaxias?", "Spanish"),
        ("Pourquoi les galaxies cessent-elles de former des étoiles ?", "French"),
        ("Warum bilden die Galaxien keine Sterne mehr?", "German"),
        ("星系中的尘埃", "another language"),
    ],
)
def test_other_languages_are_refused_in_one_sentence(
    demo_atlas: Atlas, query: str, language: str
) -> None:
    found = demo_atlas.search(query)
    assert not found.matched
    assert f"seems to be in {language}" in found.note
    assert demo_atlas.ask(query, model=None).abstained


@pytest.mark.parametrize("query", ["de Sitter universe", "La Silla telescopes", "Centaurus A"])
def test_names_with_foreign_words_are_english(demo_atlas: Atlas, query: str) -> None:
    assert "language" not in demo_atlas.search(query).note
    assert "seems to be" not in " ".join(demo_atlas.search(query).coverage.notes)


@pytest.mark.parametrize(
    ("query", "forms"),
    [
        ("GW memory", {"GW": "gravitational wave"}),
        ("PAHs in disks", {"PAHs": "polycyclic aromatic hydrocarbons"}),
        ("active galactic nuclei (AGN)", {}),  # the query has the long form
        ("SN 1987A", {}),  # the name of an object
        ("HI in dwarfs", {}),  # neutral hydrogen is no acronym
        ("in the ism", {}),  # not written as an acronym
    ],
)
def test_acronyms_of_a_query_have_long_forms(query: str, forms: dict[str, str]) -> None:
    assert long_forms(query) == forms


def test_a_long_form_counts_as_one_word() -> None:
    text, weights = with_long_forms("PAHs in disks")
    assert text == "polycyclic aromatic hydrocarbons (PAHs) in disks"
    assert sum(weights[word] for word in ("polycyclic", "aromatic", "hydrocarbons")) == 1.0
    assert weights["pahs"] < 1.0
    assert "disks" not in weights


def test_no_acronym_is_the_name_of_a_facility() -> None:
    acronyms = read_yaml(data_file("acronyms.yaml"))
    assert not set(acronyms) & set(read_yaml(data_file("missions.yaml")))
    assert all(len(form) > len(acronym) for acronym, form in acronyms.items())
