from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.corpus.thesaurus import MIN_SCORE, Concept, Thesaurus, embedded_thesaurus
from landscape.evaluation._layers import evaluate_tagging
from landscape.overlays.thesaurus import concept_counts, tag_papers
from landscape.overlays.thesaurus._extents import concept_members, count_concepts
from landscape.overlays.thesaurus.matching import (
    Lexicon,
    TermReader,
    arrange_terms,
    match,
    read_papers,
    split_texts,
)
from landscape.overlays.thesaurus.tagging import concept_texts, gather_evidence


def make(*made: Concept) -> Thesaurus:
    return Thesaurus("", {one.concept_id: one for one in made})


@pytest.fixture
def small() -> Thesaurus:
    return make(
        Concept("1", "Galaxies"),
        Concept("2", "Galaxy clusters", ("Clusters of galaxies",), ("1",)),
        Concept("3", "Open star clusters"),
        Concept("4", "White dwarf stars", ("White dwarfs",)),
        Concept("5", "Interstellar medium", ("ISM",)),
        Concept("6", "Protoplanetary disks"),
        Concept("7", "Galaxy evolution", broader=("1",)),
    )


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Galaxy clusters", {"2"}),
        ("clusters of galaxies", {"2"}),
        ("Galaxies outside a galaxy cluster", {"1", "2"}),
        ("Stars in clusters. Galaxies", {"1"}),
        ("A galaxy. Clusters of stars", {"1"}),
        ("Open-star cluster", {"3"}),
        ("white-dwarf companions", {"4"}),
        ("the ISM of dwarfs", {"5"}),
        ("fascism and realism", set()),
        ("protoplanetary discs", {"6"}),
        ("the evolution of galaxies", {"7"}),
        ("", set()),
    ],
)
def test_longest_match_and_variants(small, text, ids):
    terms = arrange_terms(small)
    found = match(split_texts([text], Lexicon(terms.words, {}, terms.spellings)), terms)
    assert {terms.concept_ids[one] for one in found[found.times > 0].column} == ids


def test_surface_is_as_written(small):
    terms = arrange_terms(small)
    texts = split_texts(["Two White-Dwarf stars"], Lexicon(terms.words, {}, terms.spellings))
    assert match(texts, terms).surface[0] == "White-Dwarf stars"


def test_tags_are_ordered_limited_and_explained():
    thesaurus = embedded_thesaurus()
    titles = ["Blazars and their relativistic jets", "Nothing to see", ""]
    abstracts = [
        "Active galactic nuclei with supermassive black holes and magnetic fields.",
        "",
        "",
    ]
    tags = tag_papers(titles, abstracts, None, None, thesaurus, limit=3)
    first = tags[tags.row == 0]
    assert len(first) == 3
    assert first.score.is_monotonic_decreasing
    assert first.score.between(0, 1).all()
    assert first.evidence.str.match("(title|abstract): ").all()
    assert "992" not in set(first.concept_id)  # magnetic fields do not make a magnetar
    assert not (tags.row == 2).any()


def test_keywords_give_concepts_outright():
    thesaurus = embedded_thesaurus()
    keywords = [["Galaxies (573) – Blazars"], []]
    tags = tag_papers(["Dust", "Dust"], ["", ""], keywords, None, thesaurus)
    given = tags[tags.evidence == "keywords"]
    assert set(zip(given.row, given.concept_id, strict=True)) == {(0, "573"), (0, "164")}


def test_meaning_tags_what_is_not_said():
    """A paper is tagged with a concept if it resembles papers that name the concept."""
    thesaurus = embedded_thesaurus()
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(2000, 16)).astype(np.float32)
    vectors[:40, 0] += 9
    vectors[40:80, 1] += 9
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    titles = ["Silence"] * 2000
    titles[:30] = ["Blazars"] * 30
    titles[40:70] = ["Comets"] * 30
    tags = tag_papers(titles, [""] * 2000, None, vectors, thesaurus, only=np.array([35, 75]))
    best = tags.drop_duplicates("row").set_index("row")
    assert best.concept_id.map(lambda one: thesaurus.find(one).label).to_dict() == {
        35: "Blazars",
        75: "Comets",
    }
    assert set(best.evidence) == {"meaning"}


def test_a_thing_without_its_word_is_no_tag():
    """Detectors of neutrons resemble papers on neutron stars, which are never named."""
    thesaurus = make(
        Concept("1", "Neutron stars"),
        Concept("2", "Pulsars", broader=("1",)),
        Concept("3", "Astrochemistry"),
        Concept("4", "Comets"),
    )
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(2000, 16)).astype(np.float32)
    vectors[:40, 0] += 9
    vectors[40:80, 1] += 9
    vectors[80:120, 2] += 9
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    titles = ["Silence"] * 2000
    titles[:30] = ["Neutron stars"] * 30
    titles[30:40] = ["Neutron detectors"] * 10
    titles[40:70] = ["Astrochemistry"] * 30
    titles[80:110] = ["Comets"] * 30
    only = np.array([35, 75])
    tags = tag_papers(titles, [""] * 2000, None, vectors, thesaurus, only=only)
    score = tags.set_index(["row", "concept_id"])["score"]
    assert 0 < score[35, "1"] < MIN_SCORE < score[75, "3"]
    titles[35] = "Neutrons in a pulsar"
    tags = tag_papers(titles, [""] * 2000, None, vectors, thesaurus, only=only)
    assert tags.set_index(["row", "concept_id"])["score"][35, "1"] > MIN_SCORE


def test_words_tag_what_is_not_said():
    """Without vectors, a paper is tagged with a concept of papers with similar words."""
    thesaurus = embedded_thesaurus()
    titles = [
        *["Blazars with gamma-ray emission from relativistic plasma"] * 30,
        "Gamma-ray emission from relativistic plasma",
        *["Cosmology", "Galaxies", "Stellar winds", "Quasars"] * 20,
    ]
    only = np.array([30])
    tags = tag_papers(titles, [""] * len(titles), None, None, thesaurus, only=only)
    meant = tags.loc[tags["evidence"] == "words", "concept_id"]
    assert [thesaurus.find(one).label for one in meant[:1]] == ["Blazars"]


def test_counts_roll_up_once_a_paper(small):
    uat = pd.DataFrame(
        {
            "paper_row": [0, 0, 1, 2],
            "concept_id": ["2", "7", "1", "4"],
            "score": [0.9, 0.8, 0.7, 0.01],
        }
    )
    coverage = {"title": "Few", "first_date": "2020-01-01", "last_date": "2021-01-01"}
    atlas = SimpleNamespace(
        thesaurus=small,
        map=range(4),
        coverage=coverage,
        read_layer=lambda _, columns: uat[["paper_row", *columns]],
    )
    found = concept_counts(atlas)
    row = found.table.set_index("label").loc["Galaxies"]
    assert (row.papers, row.with_narrower, row.share) == (1, 2, 0.5)
    assert found.denominators == {"papers": 4, "papers with a concept": 2}
    assert "White dwarf stars" not in set(found.table.label)
    assert "2 papers have no tag" in found.warnings[0]


def test_evaluation_credits_each_given_concept_once(small):
    tags = pd.DataFrame({"row": [0, 0], "concept_id": ["2", "7"], "score": [0.9, 0.8]})
    measured = evaluate_tagging(tags, {0: ["1", "3"], 5: ["4"]}, small)
    assert measured["recall"] == 0.0
    assert measured["recall_near"] == pytest.approx(0.25)


def test_counts_go_by_the_rule_of_the_overlay(small):
    rng = np.random.default_rng(5)
    ids = list(small.concepts)
    tags = pd.DataFrame(
        {
            "paper_row": rng.integers(0, 40, 300),
            "concept_id": rng.choice(ids, 300),
            "score": rng.uniform(0.01, 0.6, 300),
        }
    ).drop_duplicates(["paper_row", "concept_id"])
    counted = count_concepts(tags, small, n_papers=40).set_index("concept_id")
    members = concept_members(tags, small, list(small.concepts.values()), n_papers=40)
    expected = dict(zip(ids, members.sum(axis=0), strict=True))
    assert {one: counted.with_narrower.get(one, 0) for one in ids} == expected


def test_texts_of_concepts_hold_alternatives() -> None:
    thesaurus = Thesaurus("", {"2": Concept("2", "Blazars", ("BL Lacs",))})
    assert concept_texts(thesaurus) == (["2"], ["Blazars (BL Lacs)"])


def test_a_concept_whose_full_name_is_in_the_title_is_a_tag():
    thesaurus = embedded_thesaurus()
    titles = ["Type Ia supernovae in the Coma cluster", "Probes of dark energy", "A nearby star"]
    tags = tag_papers(titles, ["", "", ""], None, None, thesaurus)
    found = {
        (row, thesaurus.concepts[concept].label)
        for row, concept, score in zip(tags["row"], tags["concept_id"], tags["score"], strict=True)
        if score >= 0.25
    }
    assert (0, "Type Ia supernovae") in found
    assert (1, "Dark energy") in found
    assert (1, "Space probes") not in found


@pytest.fixture
def forms() -> Thesaurus:
    return make(
        Concept("1", "Solar coronal loops"),
        Concept("2", "Stellar coronal loops"),
        Concept("3", "Spectropolarimetry"),
        Concept("4", "Type II supernovae"),
        Concept("5", "Small Magellanic Cloud", ("SMC",)),
        Concept("6", "Dark energy"),
        Concept("7", "Of stars"),
        Concept("8", "Multiple mirror telescopes", ("MM",)),
        Concept("9", "White dwarf stars", ("White dwarfs",)),
        Concept("10", "Brown dwarf stars", ("Brown dwarfs",)),
        Concept("11", "Blue dwarf stars"),
        Concept("12", "Primordial black holes"),
        Concept("13", "Jets"),
        Concept("14", "Stellar evolution"),
        Concept("15", "Physical properties (Ice)"),
        Concept("16", "Star formation"),
    )


@pytest.mark.parametrize(
    ("title", "abstract", "ids"),
    [
        ("Oscillating coronal loops", "We observe the Sun.", {"1"}),
        ("Oscillating coronal loops", "The star flares.", {"2"}),
        ("Oscillating coronal loops", "It has two solar masses.", set()),
        ("A spectropolarimetric survey", "", {"3"}),
        ("The SN II 2023ixf", "", {"4"}),
        ("SNe IIP near us", "", {"4"}),
        ("Hosts of SMC-mass", "", {"5"}),
        ("Data", "In the Dark Energy Survey we see it.", set()),
        ("Data", "Tests of Dark Energy.", {"6"}),
        ("A theory of star formation", "", {"16"}),
        ("Sunspots", "The Maunder Minimum (MM) was long. MM data are few.", set()),
        ("Blue dwarfs", "", {"11"}),
        ("Growth of PBHs", "We weigh a primordial black hole (PBH).", {"12"}),
        ("A radio jet", "", {"13"}),
        ("Evolution of stars", "", {"14"}),
        ("Evolution of stellar clusters", "", set()),
        ("Physical properties of grains", "", set()),
        ("Physical properties of ice", "", {"15"}),
    ],
)
def test_forms_of_terms(forms, title, abstract, ids):
    found = TermReader(forms).read([title], [abstract])
    named = found.abstract if title == "Data" else found.title
    assert {list(forms.concepts)[one] for one in named[named.times > 0].column} == ids


def test_a_word_of_many_concepts_names_none():
    stars = [Concept(str(number), f"Kind {number} stars") for number in range(30)]
    found = TermReader(make(Concept("x", "Types", ("Stars",)), *stars)).read(["Stars"], [""])
    assert not len(found.title)


def tag(thesaurus: Thesaurus, title: str, abstract: str = "", *keywords: str) -> pd.Series:
    tags = tag_papers([title], [abstract], [keywords], None, thesaurus)
    labels = [thesaurus.concepts[one].label for one in tags.concept_id]
    return pd.Series(tags.score.to_numpy(), labels)


def test_a_concept_in_full_in_the_title_ranks_before_broader_concepts():
    thesaurus = make(
        Concept("1", "Processes"),
        Concept("2", "Gravitation", broader=("1",)),
        Concept("3", "Galaxies"),
        Concept("4", "Active galaxies", broader=("3",)),
        Concept("5", "Blazars", broader=("4",)),
    )
    scores = tag(thesaurus, "Blazars among galaxies", "", "Gravitation")
    assert scores.index[0] == "Blazars"
    assert scores["Gravitation"] == 0.97
    assert scores["Blazars"] > scores["Galaxies"]


def test_words_with_many_meanings():
    thesaurus = make(
        Concept("1", "AM Herculis stars", ("Polars",)),
        Concept("2", "Gravitation", ("Gravity",)),
        Concept("3", "Cosmic inflation", ("Inflation (cosmology)",)),
        Concept("4", "Apogee"),
        Concept("5", "Solar system planets", ("Planets",)),
    )
    titles = ["Polar ice", "The gravity-mode", "Inflation", "Gravitation", "APOGEE", "Planets, Sun"]
    wording = read_papers(titles, [""] * 6, None, thesaurus)
    loose = gather_evidence(wording, None, thesaurus).loose.toarray()
    assert loose.max(axis=1).tolist() == [1, 1, 0, 0, 1, 2]
