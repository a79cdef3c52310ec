"""Regions, continents and their names, on made-up corpora with known subjects."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from landscape.errors import InputError
from landscape.mapping import build_topics
from landscape.mapping.naming import Namer, capitalised
from landscape.mapping.phrases import broadened, phrase_table
from landscape.mapping.regions import FIRST_CONTINENT, Topics, find_regions, settle_regions
from landscape.text.words import normal_forms

SUBJECTS = {
    "tidal disruption events": (0.0, 0.0),
    "fast radio bursts": (4.0, 0.0),
    "hot Jupiters": (20.0, 20.0),
    "debris disks": (24.0, 20.0),
    "dark energy": (0.0, 24.0),
    "galaxy clusters": (4.0, 24.0),
}


@pytest.fixture(scope="module")
def literature() -> tuple[np.ndarray, np.ndarray, list[list[str]], np.ndarray]:
    """Six subjects in three fields; all papers also contain common phrases."""
    rng = np.random.default_rng(0)
    x, y, keywords, truth = [], [], [], []
    for number, (subject, centre) in enumerate(SUBJECTS.items()):
        points = rng.normal(centre, 0.7, size=(200, 2))
        x.extend(points[:, 0])
        y.extend(points[:, 1])
        for i in range(200):
            words = ["numerical simulations", "results", "observational data"]
            if i % 10 < 7:
                words.append(subject)
            if i % 3 == 0:
                words.append(f"rare phrase {number} {i}")
            keywords.append(words)
            truth.append(number)
    return np.array(x), np.array(y), keywords, np.array(truth)


def regions(topics):
    return topics.table[topics.table.level == 1]


def before_of(topics) -> np.ndarray:
    """Return region, continent and subregion of each paper, as input of the next build."""
    parent = topics.table.set_index("topic_id").parent_id.to_dict() | {-1: -1}
    continent = [parent[t] for t in topics.topic_id.tolist()]
    return np.column_stack([topics.topic_id, continent, topics.subregion_id])


def test_every_subject_becomes_a_region_with_its_own_name(literature) -> None:
    x, y, keywords, truth = literature
    topics = build_topics(x, y, keywords)
    assert set(regions(topics).label) == {capitalised(s) for s in SUBJECTS}
    for number, subject in enumerate(SUBJECTS):
        row = regions(topics)[regions(topics).label == capitalised(subject)].iloc[0]
        members = topics.topic_id[truth == number]
        assert (members == row.topic_id).mean() > 0.9


def test_what_is_frequent_everywhere_names_nothing(literature) -> None:
    x, y, keywords, _ = literature
    for label in build_topics(x, y, keywords).table.label:
        assert "simulation" not in label.lower()
        assert "observational" not in label.lower()


def labels_on_the_map(topics: Topics) -> pd.Series:
    """Names of all topics except regions that are alone in a continent, which have its name."""
    table = topics.table
    is_region = table.level == 1
    alone = is_region & ~table.parent_id.duplicated(keep=False)
    continents = table.set_index("topic_id").label
    assert table.label[alone].tolist() == continents[table.parent_id[alone]].tolist()
    return table.label[~alone]


def test_no_name_occurs_twice_even_if_two_regions_are_about_the_same() -> None:
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, 0.5, 200), rng.normal(9, 0.5, 200)])
    y = rng.normal(0, 0.5, 400)
    topics = build_topics(
        x, y, [["pulsars", "glitches"]] * 200 + [["pulsars", "pulsar wind"]] * 200
    )
    assert labels_on_the_map(topics).str.lower().is_unique


def test_continents_gather_neighbouring_regions(literature) -> None:
    x, y, keywords, _ = literature
    topics = build_topics(x, y, keywords, n_continents=3)
    parents = regions(topics).set_index("label").parent_id
    assert len(topics.table[topics.table.level == 0]) == 3
    assert parents["Hot Jupiters"] == parents["Debris disks"]
    assert parents["Dark energy"] == parents["Galaxy clusters"]
    assert parents["Dark energy"] != parents["Hot Jupiters"]
    assert (parents >= FIRST_CONTINENT).all()


def test_counts_add_up(literature) -> None:
    x, y, keywords, _ = literature
    topics = build_topics(x, y, keywords)
    inside = topics.topic_id >= 0
    assert regions(topics).n_papers.sum() == inside.sum()
    assert topics.table[topics.table.level == 0].n_papers.sum() == inside.sum()
    for row in regions(topics).itertuples():
        assert row.n_papers == (topics.topic_id == row.topic_id).sum()
        assert all(topics.topic_id[paper] == row.topic_id for paper in row.exemplars)


def test_regions_keep_their_numbers_when_papers_are_added(literature) -> None:
    x, y, keywords, _ = literature
    old = build_topics(x, y, keywords)
    rng = np.random.default_rng(9)
    order = rng.permutation(len(x))
    grown = build_topics(
        np.append(x[order], rng.normal(-20, 0.4, 250)),
        np.append(y[order], rng.normal(-20, 0.4, 250)),
        [*(keywords[i] for i in order), *([["comets"]] * 250)],
        previous=np.concatenate([before_of(old)[order], np.full((250, 3), -1)]),
    )
    before = regions(old).set_index("label").topic_id
    after = regions(grown).set_index("label").topic_id
    assert "Comets" in after.index
    for label, number in before.items():
        assert after[label] == number
    assert after["Comets"] not in set(old.table.topic_id)
    assert set(grown.topic_id[grown.topic_id >= 0]) == set(regions(grown).topic_id)


def test_a_number_is_not_handed_to_a_stranger_when_its_region_vanishes(literature) -> None:
    x, y, keywords, truth = literature
    old = build_topics(x, y, keywords)
    left = truth != 2
    new = build_topics(
        x[left],
        y[left],
        [k for k, kept in zip(keywords, left, strict=True) if kept],
        previous=before_of(old)[left],
    )
    before = regions(old).set_index("label").topic_id
    after = regions(new).set_index("label").topic_id
    assert "Hot Jupiters" not in after.index
    assert before["Hot Jupiters"] not in set(after)
    assert all(after[label] == before[label] for label in after.index)


def test_continents_keep_their_numbers_though_their_sizes_change(literature) -> None:
    x, y, keywords, truth = literature
    old = build_topics(x, y, keywords, n_continents=3)
    rows = np.concatenate(
        [np.arange(len(x)), np.flatnonzero(truth >= 4), np.flatnonzero(truth >= 4)]
    )
    new = build_topics(
        x[rows], y[rows], [keywords[i] for i in rows], n_continents=3, previous=before_of(old)[rows]
    )
    before = regions(old).set_index("label").parent_id
    after = regions(new).set_index("label").parent_id
    assert all(after[label] == before[label] for label in before.index)


def test_names_differ_across_the_two_levels(literature) -> None:
    x, y, keywords, _ = literature
    for n_continents in (2, 3, 6):
        topics = build_topics(x, y, keywords, n_continents=n_continents)
        assert labels_on_the_map(topics).str.lower().is_unique


def test_the_same_input_gives_the_same_names(literature) -> None:
    x, y, keywords, _ = literature
    one, two = (build_topics(x, y, keywords).table for _ in range(2))
    assert one.label.tolist() == two.label.tolist()


def test_hdbscan_finds_the_subjects_too(literature) -> None:
    x, y, keywords, _ = literature
    topics = build_topics(x, y, keywords, method="hdbscan")
    assert {capitalised(s) for s in SUBJECTS} <= set(regions(topics).label)


def test_an_unknown_method_names_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"'kmeans'.*density, hdbscan"):
        find_regions(np.zeros(5), np.zeros(5), method="kmeans")


@pytest.mark.parametrize("n_papers", [0, 1, 2, 10])
@pytest.mark.parametrize("method", ["density", "hdbscan"])
def test_a_handful_of_papers_works(n_papers: int, method: str) -> None:
    rng = np.random.default_rng(0)
    topics = build_topics(
        rng.normal(size=n_papers), rng.normal(size=n_papers), [["stars"]] * n_papers, method=method
    )
    assert len(topics.topic_id) == n_papers
    assert (len(regions(topics)) >= 1) == (n_papers > 0)


def test_papers_without_keywords_still_get_regions() -> None:
    rng = np.random.default_rng(0)
    topics = build_topics(rng.normal(size=50), rng.normal(size=50), [[]] * 50)
    assert topics.table.label.str.startswith(("Region", "Continent")).all()
    assert labels_on_the_map(topics).is_unique


def test_two_spellings_are_one_phrase_shown_as_most_papers_write_it() -> None:
    table = phrase_table([["X-ray binaries"], ["X-ray binary"], ["X-ray binaries"], ["comets"]])
    assert table.shown.tolist() == ["X-ray binaries"]
    assert table.paper.tolist() == [0, 1, 2]


def test_a_longer_phrase_counts_for_the_shorter_one_that_stands_alone() -> None:
    keywords = [["dark matter"]] * 6 + [["cold dark matter"]] * 4
    table = phrase_table(keywords)
    held = table.paper[table.phrase == table.forms.tolist().index("dark matter")]
    assert held.tolist() == list(range(10))


def test_a_fragment_is_not_a_phrase() -> None:
    keywords = [["cosmic microwave background"]] * 20 + [["cosmic microwave"]] * 2
    table = phrase_table(keywords)
    held = table.paper[table.phrase == table.forms.tolist().index("cosmic microwave")]
    assert held.tolist() == [20, 21]


def test_keywords_may_come_as_an_arrow_array_with_nulls() -> None:
    keywords = pa.array([["stars"], None, [], ["stars"]], type=pa.list_(pa.string()))
    table = phrase_table(keywords)
    assert table.paper.tolist() == [0, 3]
    assert table.n_papers == 4


def test_the_neighbours_decide_what_distinguishes() -> None:
    """Both regions are about stars; each name is the phrase that only one region has."""
    keywords = [["stars", "flares"]] * 50 + [["stars", "spots"]] * 50 + [["dust"]] * 100
    region = np.repeat([0, 1, 2], [50, 50, 100])
    names, _ = Namer(phrase_table(keywords)).name(region, [[1], [0], [0]])
    assert names == ["Flares", "Spots", "Dust"]


def test_a_wide_region_is_named_by_two_subjects_that_complement_each_other() -> None:
    keywords = (
        [["black holes", "event horizons"]] * 30 + [["neutron stars"]] * 28 + [["comets"]] * 40
    )
    region = np.repeat([0, 1], [58, 40])
    names, words = Namer(phrase_table(keywords)).name(region, [[1], [0]])
    assert set(names[0].lower().split(" and ")) == {"black holes", "neutron stars"}
    assert names[1] == "Comets"
    assert "event horizons" in words[0]


def test_a_name_is_the_phrase_that_fits_most_papers_of_the_region() -> None:
    """The embeddings determine the name, although another phrase is more frequent."""
    keywords = [["quasars", "red quasars"]] * 20 + [["quasars", "blazars"]] * 30
    keywords += [["dust"]] * 50
    region = np.repeat([0, 1], [50, 50])
    vectors = np.array([[1.0, 0.0]] * 50 + [[0.0, 1.0]] * 50, dtype=np.float32)
    fits = {"Quasars": 0.2, "Red quasars": 0.3, "Blazars": 0.9, "Dust": 0.0}

    def embed(texts):
        across = np.array([fits[text] for text in texts])
        return np.column_stack([across, np.sqrt(1 - across**2)]).astype(np.float32)

    names, _ = Namer(phrase_table(keywords), vectors, embed).name(region, [[1], [0]])
    assert names == ["Blazars", "Dust"]


def _named(keywords, fits, **options):
    """Name the first of two regions; the other has as many papers about dust."""
    n = len(keywords)
    vectors = np.array([[1.0, 0.0]] * n + [[0.0, 1.0]] * n, dtype=np.float32)

    def embed(texts):
        across = np.array([fits.get(text, 0.0) for text in texts])
        return np.column_stack([across, np.sqrt(1 - across**2)]).astype(np.float32)

    namer = Namer(phrase_table(keywords + [["dust"]] * n), vectors, embed)
    return namer.name(np.repeat([0, 1], n), [[1], [0]], pairs=False, **options)[0][0]


def test_a_kind_of_few_of_the_papers_about_a_thing_is_no_name() -> None:
    keywords = [["galaxies", "dwarf galaxies"]] * 10 + [["galaxies", "galaxy evolution"]] * 10
    keywords += [["galaxies"]] * 80
    fits = {"Galaxies": 0.5, "Dwarf galaxies": 0.51, "Galaxy evolution": 0.5}
    assert _named(keywords, fits, taken=["Galaxies"]) == "Galaxy evolution"


def test_an_acronym_is_no_name_beside_its_words() -> None:
    keywords = [["GPUs"]] * 30 + [["graphics processing units"]] * 20
    assert _named(keywords, {"GPUs": 0.6, "Graphics processing units": 0.4}) == (
        "Graphics processing units"
    )


def test_a_region_leaves_a_name_to_its_continent_if_it_has_a_similar_one() -> None:
    keywords = [["cosmic rays", "galactic cosmic rays"]] * 40 + [["cosmic rays"]] * 10
    fits = {"Cosmic rays": 0.5, "Galactic cosmic rays": 0.5}
    assert _named(keywords, fits) == "Cosmic rays"
    assert _named(keywords, fits, wanted=["Cosmic rays"]) == "Galactic cosmic rays"


def test_papers_of_a_narrower_concept_count_for_the_broader_one() -> None:
    keywords = [["brown dwarfs"]] * 5 + [["Y dwarfs"]] * 4 + [["comets"]] * 3
    table = broadened(phrase_table(keywords))
    held = table.paper[table.phrase == table.forms.tolist().index("brown dwarf")]
    assert held.tolist() == list(range(9))


def test_a_large_region_has_subregions_within_it() -> None:
    rng = np.random.default_rng(0)
    centres = rng.uniform(0, 40, size=(120, 2))
    points = np.concatenate([rng.normal(centre, 0.35, size=(60, 2)) for centre in centres])
    topics = build_topics(*points.T, [["stars"]] * len(points), max_regions=20)
    table = topics.table.set_index("topic_id")
    assert len(regions(topics)) == 20
    assert (table.level == 2).sum() > 40
    inside = topics.subregion_id >= 0
    above = table.parent_id[topics.subregion_id[inside]].to_numpy()
    assert (above == topics.topic_id[inside]).all()
    assert table.n_papers[table.level == 2].sum() == inside.sum()
    assert table.label.is_unique


def test_an_old_name_remains_unless_another_is_clearly_better() -> None:
    region = np.repeat([0, 1], 100)
    others = [["comets"]] * 100

    def name(n_planets: int, **old: object) -> str:
        planets = [["giant planets"]] * n_planets + [["hot Jupiters"]] * (100 - n_planets)
        namer = Namer(phrase_table(planets + others))
        return namer.name(region, [[1], [0]], pairs=False, **old)[0][0]

    assert name(51) == "Giant planets"
    assert name(51, old={0: "Hot Jupiters"}) == "Hot Jupiters"
    assert name(90, old={0: "Hot Jupiters"}) == "Giant planets"
    assert name(51, old={0: "Dark matter"}) == "Giant planets"


def test_a_name_covers_all_parts_of_a_continent() -> None:
    keywords = [["radio bursts"] if n < 51 else ["dust"] for n in range(100)]
    keywords = [[*words, "radio pulsars"] if n % 2 else words for n, words in enumerate(keywords)]
    group, parts = np.repeat([0, 1], 100), np.repeat([0, 1, 2], [51, 49, 100])
    namer = Namer(phrase_table(keywords + [["comets", "dust"]] * 100))
    names, _ = namer.name(group, [[1], [0]], parts=parts, fields=True, pairs=False)
    assert names == ["Radio pulsars", "Comets"]


def test_a_field_is_a_name_only_if_many_of_its_papers_are_inside() -> None:
    """Three quarters of the papers on the Sun are elsewhere in the second literature."""

    def name(n_elsewhere: int) -> str:
        keywords = [["solar physics"]] * 80 + [["sunspots"]] * 20
        keywords += [["solar physics"]] * n_elsewhere + [["comets"]] * 300
        group = np.repeat([0, 1], [100, 300 + n_elsewhere])
        namer = Namer(phrase_table(keywords))
        return namer.name(group, [[1], [0]], fields=True, pairs=False)[0][0]

    assert name(20) == "Solar physics"
    assert name(300) == "Sunspots"


@pytest.mark.parametrize(("n_beside", "expected"), [(50, "Flares"), (15, "Pulsars")])
def test_a_phrase_of_the_whole_continent_is_not_the_name_of_a_region(n_beside, expected) -> None:
    """The main subject of a region is its name if not too many of its papers are beside it."""
    keywords = [["pulsars", "flares"]] * 25 + [["pulsars"]] * 25 + [["pulsars", "dust"]] * n_beside
    keywords += [["comets"]] * 500
    region = np.repeat([0, 1, 2], [50, n_beside, 500])
    continent = np.repeat([0, 1], [50 + n_beside, 500])
    namer = Namer(phrase_table(keywords))

    def name(**more: object) -> list[str]:
        return namer.name(region, [[2], [2], [0]], pairs=False, **more)[0]

    assert name()[0] == "Pulsars"
    assert name(above=continent) == [expected, "Dust", "Comets"]


def test_the_beginning_of_a_longer_phrase_is_not_a_name() -> None:
    """A name such as "Quark" would remain if "quark stars" were the name of another group."""

    def name(n_longer: int) -> str:
        keywords = [["quark"]] * 60 + [["comets", "quark"]] * 40 + [["quark stars"]] * n_longer
        group = np.repeat([0, 1], [100, n_longer])
        return Namer(phrase_table(keywords)).name(group, [[1], [0]], pairs=False)[0][0]

    assert name(50) == "Quark"
    assert name(200) == "Comets"


def test_a_rare_subject_is_not_the_second_subject() -> None:
    """Dust is in 10% of the papers of a group, and all its papers are there."""

    def name(n_dust: int) -> str:
        keywords = [["black holes"]] * (100 - n_dust) + [["dust"]] * n_dust + [["comets"]] * 100
        return Namer(phrase_table(keywords)).name(np.repeat([0, 1], 100), [[1], [0]])[0][0]

    assert name(5) == "Black holes"
    assert name(40) == "Black holes and dust"


def test_a_second_subject_is_not_that_of_another_group() -> None:
    """Dust is a subject of the third group, although 20 papers of the first have it too."""
    keywords = [["black holes"]] * 30 + [["dust"]] * 20 + [["comets"]] * 40 + [["dust"]] * 60
    namer = Namer(phrase_table(keywords))
    names, _ = namer.name(np.repeat([0, 1, 2], [50, 40, 60]), [[1, 2], [0, 2], [0, 1]])
    assert names == ["Black holes", "Comets", "Dust"]


def test_concepts_are_shares_of_a_group() -> None:
    keywords = [["brown dwarfs"]] * 5 + [["comets"]] * 5 + [["brown dwarfs"]] * 4 + [["soup"]] * 4
    group = np.repeat([0, 1, 2], [10, 4, 4])
    shares = Namer(phrase_table(keywords)).concept_shares(group, 3)
    assert np.allclose((shares**2).sum(axis=1), [1, 1, 0])
    assert ((shares > 0) @ np.ones(shares.shape[1]))[0] > (shares[1] > 0).sum()


def test_continents_follow_the_concepts_of_the_keywords() -> None:
    """The vectors differ equally; the first two subjects have the same broader concept."""
    rng = np.random.default_rng(0)
    words = ["comets", "asteroids", "blazars", "dust"]
    corners = [(0, 0), (20, 0), (0, 20), (20, 20)]
    for order in ([0, 1, 2, 3], [0, 2, 1, 3]):
        points = np.concatenate([rng.normal(corner, 1, size=(200, 2)) for corner in corners])
        subject = np.repeat(order, 200)
        vectors = np.eye(4, dtype=np.float32)[subject]
        table = build_topics(
            *points.T, [[words[n]] for n in subject], vectors=vectors, n_continents=3
        ).table.set_index("label")
        assert table.parent_id["Comets"] == table.parent_id["Asteroids"]


def test_subjects_of_a_name_are_not_names_elsewhere() -> None:
    keywords = [["radio pulsars", "dust"]] * 50 + [["comets"]] * 50
    group = np.repeat([0, 1], 50)
    namer = Namer(phrase_table(keywords))
    names, _ = namer.name(group, [[1], [0]], taken=["Turbulence and radio pulsar"])
    assert names == ["Dust", "Comets"]


def test_continents_regions_and_subregions_share_no_subject(literature) -> None:
    x, y, keywords, _ = literature
    for n_continents in (2, 3, 6):
        labels = labels_on_the_map(build_topics(x, y, keywords, n_continents=n_continents))
        subjects = normal_forms([part for label in labels for part in label.split(" and ")])
        assert len(subjects) == len(set(subjects))


@pytest.mark.parametrize(
    ("phrase", "more"),
    [
        ("Solar Dynamics Observatory", []),
        ("Large Telescope", []),
        ("Chandra observations", []),
        ("professional astronomers", []),
        ("star low-mass X-ray binaries", [["low-mass X-ray binaries"]] * 150),
    ],
)
def test_facilities_people_and_cut_phrases_are_not_names(phrase: str, more: list) -> None:
    keywords = [[phrase]] * 60 + [["dust"]] * 40 + [["comets"]] * 100 + more
    group = np.repeat([0, 1, -1], [100, 100, len(more)])
    names, _ = Namer(phrase_table(keywords)).name(group, [[1], [0]], pairs=False)
    assert names[0] != capitalised(phrase)
    assert names[1] == "Comets"


def test_the_second_subject_of_a_name_has_papers_of_its_own() -> None:
    keywords = [["black holes"]] * 30 + [["event horizons", "black holes"]] * 30
    keywords += [["comets"]] * 60
    vectors = np.repeat(np.eye(3, dtype=np.float32), [30, 30, 60], axis=0)
    fits = {"Black holes": 0, "Event horizons": 1, "Comets": 2}

    def embed(texts):
        return np.eye(3, dtype=np.float32)[[fits[text] for text in texts]]

    group = np.repeat([0, 1], 60)
    names, _ = Namer(phrase_table(keywords), vectors, embed).name(group, [[1], [0]])
    assert names == ["Black holes", "Comets"]


def test_a_region_moves_to_the_adjacent_continent_that_it_resembles() -> None:
    """The third region was merged with two that are different from it."""
    profile = np.array([[0.0, 0.0], [0.1, 0.0], [0.9, 0.0], [1.0, 0.0], [1.1, 0.0]])
    size, regions = np.full(5, 10), np.arange(5)
    chain = [[1], [0, 2], [1, 3], [2, 4], [3]]
    settled = settle_regions(profile, size, regions, np.array([0, 0, 0, 1, 1]), chain)
    assert settled.tolist() == [1, 1, 0, 0, 0]  # numbered by size
    apart = [[1], [0, 2], [1], [4], [3]]
    stays = settle_regions(profile, size, regions, np.array([0, 0, 0, 1, 1]), apart)
    assert stays.tolist() == [0, 0, 0, 1, 1]


def test_a_continent_is_not_split_by_a_region_that_moves() -> None:
    profile = np.array([[0.0, 0.0], [0.9, 0.0], [0.1, 0.0], [1.0, 0.0], [1.1, 0.0]])
    chain = [[1], [0, 2, 3], [1], [1, 4], [3]]
    old = np.array([0, 0, 0, 1, 1])
    assert (
        settle_regions(profile, np.full(5, 10), np.arange(5), old, chain).tolist() == old.tolist()
    )
