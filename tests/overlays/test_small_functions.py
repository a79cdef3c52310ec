"""Small functions of the overlays that no other test calls directly."""

from __future__ import annotations

from types import SimpleNamespace as Atlas

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from landscape.corpus.facilities import missions_file
from landscape.corpus.thesaurus import Concept, Thesaurus
from landscape.errors import InputError
from landscape.mapping.density import kernel_within
from landscape.mapping.phrases import phrase_table
from landscape.mapping.quality import area_under_curve
from landscape.overlays.citations import normalise_name, read_year
from landscape.overlays.missions._impact import warn_of_rise
from landscape.overlays.missions._mentions import (
    all_names,
    defined_otherwise,
    is_in_list,
    names_an_object,
    pattern_of,
)
from landscape.overlays.missions.measures import citation_percentiles, median_of_counts
from landscape.overlays.missions.usage import format_period
from landscape.overlays.periods import abrupt_changes, count_years, paper_years
from landscape.overlays.reviews.gaps import check_weights, warn_of_few_reviews
from landscape.overlays.reviews.signs import (
    choose_n_nearest,
    choose_n_references,
    relative_citations,
    sample_rows,
)
from landscape.overlays.thesaurus._candidates import (
    abbreviation_letters,
    index_names,
    later_half,
    mean_cosines,
    measure_novelty,
    suggest_parents,
    word_bag,
)
from landscape.overlays.thesaurus._extents import neighbour_shares
from landscape.overlays.thesaurus.concept_model import learn_meaning
from landscape.overlays.thesaurus.matching import Lexicon, TermReader, split_texts
from landscape.overlays.trends._authors import is_compatible, person_key
from landscape.overlays.trends._topics import read_groups
from landscape.overlays.trends.affiliations import country_names
from landscape.overlays.trends.comparison import select_rows

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.statistics import (
    false_discovery_rates,
    growth_interval,
    newcombe_interval,
    percentile_interval,
    poisson_interval,
    share_interval,
)


def test_kernel_within() -> None:
    assert kernel_within((0, 0, 30, 20), 1.0) == 1.0
    assert kernel_within((0, 0, 0.02, 0.01), 1.0) == 0.005


def test_paper_years() -> None:
    atlas = Atlas(read_papers=lambda _columns: pd.DataFrame({"year": [2020, None]}))
    assert paper_years(atlas).tolist() == [2020, -1]


def test_a_last_year_of_one_month_is_not_an_abrupt_change() -> None:
    years = np.repeat([2023, 2024, 2025], [1200, 1200, 100])
    months = np.concatenate([np.tile(np.arange(1, 13), 200), np.ones(100, dtype=int)])
    assert count_years(years, months=months).jumps.tolist() == []
    assert count_years(years, months=np.zeros(2500, dtype=int)).jumps.tolist() == [1]
    assert count_years(years[:-90], months=months[:-90]).jumps.tolist() == [1]
    few = np.where(np.arange(2500) < 2490, months * (years < 2025), 1)  # most months are unknown
    assert count_years(years, months=few).jumps.tolist() == [1]
    winter = np.repeat([2020, 2021], [10, 90])
    assert count_years(winter, months=np.repeat([12, 1, 2, 3], [10, 30, 30, 30])).ends == (1, 3)


def test_poisson_interval() -> None:
    low, high = poisson_interval([0, 3], [1, 4])
    assert low == pytest.approx([0, 0.6187], abs=1e-3)
    assert high == pytest.approx([3.6889, 8.7673], abs=1e-3)


def test_abrupt_changes() -> None:
    assert abrupt_changes([100, 120, 500]).tolist() == [False, True]


def test_one_spelling() -> None:
    assert normalise_name("2021arXiv210101542A") == "2101.01542"
    assert normalise_name("https://doi.org/10.1093/A") == "10.1093/a"


def test_year_of_name() -> None:
    assert read_year("1973ApJ...179..427S") == 1973
    assert read_year("astro-ph/9301002") == 1993
    assert read_year("x") is None


def test_missions_file() -> None:
    assert missions_file().name == "missions.yaml"


def test_rise_warnings() -> None:
    assert (
        warn_of_rise({"HST": 3, "JWST": 5000})[0][-45:]
        == "f HST, so a rise since then cannot be measured."[-45:]
    )


def test_share_interval() -> None:
    low, high = share_interval([0], [10])
    assert low.round(3).tolist() == [0.0]
    assert high.round(3).tolist() == [0.278]


def test_newcombe_interval() -> None:
    shares = [
        (np.array([hits / trials]), *share_interval([hits], [trials]))
        for hits, trials in ((56, 70), (48, 80))
    ]
    low, high = newcombe_interval(shares[0], shares[1])
    assert low.round(4).tolist() == [0.0524]
    assert high.round(4).tolist() == [0.3339]


def test_growth_interval() -> None:
    ratio, low, high = growth_interval([200], [1000], [100], [1000])
    assert ratio.round(2).tolist() == [2.0]
    assert low.round(2).tolist() == [1.6]
    assert high.round(2).tolist() == [2.49]


def test_percentile_interval() -> None:
    assert percentile_interval(np.arange(101.0)) == pytest.approx((2.5, 97.5))


def test_citation_percentiles() -> None:
    assert citation_percentiles(
        np.array([0.0, 9.0, 3.0]), np.array([1990, 1990, 2020])
    ).tolist() == [0.25, 0.75, 0.5]


def test_median_of_counts() -> None:
    assert median_of_counts(
        np.array([0.0, 5.0, 9.0]), np.array([[1, 1, 2], [3, 1, 0]])
    ).tolist() == [7.0, 0.0]


def test_all_names() -> None:
    assert b"Hubble" in all_names().first_words


def test_pattern_of() -> None:
    assert pattern_of("XMM").search("with XMM-Newton").group() == "XMM-Newton"
    assert pattern_of("Hubble").search("a Hubble constant").lastindex is not None


def test_in_list() -> None:
    assert is_in_list("Fermi, and INTEGRAL", 5, 11)
    assert not (is_in_list("ACT Cluster", 3, 4, parted=True))


def test_names_an_object() -> None:
    assert names_an_object("Swift J1644+57", 0, 5)
    assert not (names_an_object("Swift observed", 0, 5))


def test_defined_otherwise() -> None:
    assert defined_otherwise("diffusive shock acceleration (DSA)", 30, 33)
    assert not (defined_otherwise("the Deep Synoptic Array (DSA)", 25, 28))


def test_said_period() -> None:
    assert format_period(2014, None) == "2014 and later"
    assert format_period(2005, 2009) == "2005 to 2009"
    assert format_period(None, None) == "all years"


def test_few_reviews() -> None:
    assert warn_of_few_reviews(100) == ()


def test_checked_weights() -> None:
    assert check_weights({"growth": 0})["growth"] == 0.0
    with pytest.raises(InputError, match="did you mean 'growth'"):
        check_weights({"grwth": 1})


def test_cited_relatively() -> None:
    assert (
        repr(
            relative_citations(np.array([1.0, 3.0, np.nan]), np.array([2020, 2020, 2020])).tolist()
        )
        == "[0.5, 1.5, nan]"
    )


def test_sampled_rows() -> None:
    topic = np.repeat([0, 1], [900, 100])
    rows, weight = sample_rows(topic, topic >= 0, 200, np.random.default_rng(0))
    assert len(rows) == 200
    assert weight.sum().round().item() == 1000.0


def test_similarity_threshold() -> None:
    assert choose_n_nearest(4000, 80) == 50
    assert choose_n_nearest(4000, 0) == 200
    assert choose_n_nearest(100, 50) == 20


def test_enough_references() -> None:
    assert choose_n_references(43_000, 60) == 43000
    assert choose_n_references(350_000, 500) == 11200


def test_measure_novelty() -> None:
    table = phrase_table([["ring", "arc"]] * 20 + [["star", "sun"]] * 20)
    phrases = pd.DataFrame({"phrase": range(4), "covered": np.isin(table.forms, ["sun"])})
    found = measure_novelty(table, phrases)
    assert found.min() < 0 < found.max()


def test_named_forms() -> None:
    named = index_names(Thesaurus("", {"7": Concept("7", "Galaxy clusters")}))
    assert named[word_bag("clusters of galaxies")] == "7"


def test_letters_of() -> None:
    assert abbreviation_letters("PWNe") == "pwn"
    assert abbreviation_letters("FRBs") == "frb"
    assert abbreviation_letters("Titan") == ""
    assert abbreviation_letters("Dark Energy") == ""


def test_mean_cosines() -> None:
    table = phrase_table([["comets"], ["comets"], ["stars"], ["stars"]])
    assert mean_cosines(table, np.array([[1, 0], [1, 0], [1, 0], [0, 1.0]])).tolist() == [1.0, 0.0]


def test_later_half() -> None:
    assert later_half(np.array([2019, 2020, 2020, 2021])).tolist() == [False, True, True, True]


def test_suggest_parents() -> None:
    uat = Thesaurus("", {"1": Concept("1", "Galaxies")})
    assert suggest_parents(["jellyfish galaxies"], [[]], uat, {"galaxy": "1"}) == ["1"]


def test_neighbour_shares() -> None:
    points = np.array([[0.0], [0.1], [5.0], [5.1]])
    members = np.array([[True], [True], [False], [False]])
    assert neighbour_shares(points, members, k=1)[0].ravel().tolist() == [1.0, 1.0, 0.0, 0.0]


def testarea_under_curve() -> None:
    area, _error = area_under_curve(np.array([0.9, 0.8, 0.3, 0.1]), np.array([1, 1, 0, 0]) > 0)
    assert area == 1.0


def test_reader() -> None:
    reader = TermReader(Thesaurus("", {"1": Concept("1", "Galaxies")}))
    wording = reader.read(["A galaxy"], ["It turns."], [["Galaxies (1)"]])
    assert wording.title.surface.tolist() == ["galaxy"]
    assert wording.given.score.tolist() == [1.0, 0.97]


def test_split_texts() -> None:
    lexicon = Lexicon({"galaxy": 1, "cluster": 2}, {})
    assert split_texts(["Galaxy clusters,", "galaxies"], lexicon).words.tolist() == [
        1,
        2,
        0,
        0,
        1,
        0,
    ]


def test_learn_meaning() -> None:
    vectors = np.repeat(np.eye(2, dtype=np.float32), 50, axis=0)
    named = csr_matrix(np.repeat([[1.0], [0.0]], [20, 80], axis=0))
    scores = learn_meaning(vectors, named).scores(vectors)[:, 0]
    assert scores[49] > scores[50]


def test_country_names() -> None:
    names = country_names()
    assert names["the netherlands"] == "Netherlands"
    assert names["deutschland"] == "Germany"
    assert names["u s a"] == "United States"


def test_is_compatible() -> None:
    assert is_compatible(("vera", "c"), ("v",))
    assert not (is_compatible(("yang",), ("yu",)))


def test_person_key() -> None:
    assert person_key("Vera C. Rubin") == person_key("Rubin, V.")


def test_rows_of() -> None:
    assert select_rows(None, [4, 2, 2], 5).tolist() == [2, 4]
    assert select_rows(None, [True, False], 2).tolist() == [0]


def test_adjusted() -> None:
    assert repr(false_discovery_rates([0.01, float("nan"), 0.04]).tolist()) == "[0.02, nan, 0.04]"


def test_groups_of() -> None:
    topics = pd.DataFrame({"topic_id": [0, 7], "parent_id": [-1, 0], "level": [0, 1]})
    atlas = Atlas(topics=topics, map=pd.DataFrame({"topic_id": [7, -1]}))
    assert read_groups(atlas, 1).tolist() == [7, -1]
    assert read_groups(atlas, 0).tolist() == [0, -1]


def test_papers_without_a_comparable_year_are_in_no_half() -> None:
    assert later_half(np.array([-1, 2020, 2021, -1])).tolist() == [False, False, True, False]
