"""The built-in tagger on constructions that determine noun phrases."""

from __future__ import annotations

import pytest

from landscape.text.tagger import tag_words
from landscape.text.words import readable, split_words


def tagged(text: str) -> list[tuple[str, str]]:
    words, _ = split_words(text)
    return list(zip(words, tag_words(words)[0], strict=True))


@pytest.mark.parametrize(
    ("text", "word", "tag"),
    [
        ("Models predict the masses.", "predict", "VERB"),
        ("Haloes host massive galaxies.", "host", "VERB"),
        ("The host galaxies are blue.", "host", "NOUN"),
        ("We model the flux.", "model", "VERB"),
        ("The model fails.", "model", "NOUN"),
        ("This model yields results.", "yields", "VERB"),
        ("The stellar yields are low.", "yields", "NOUN"),
        ("To trace the gas we need CO.", "trace", "VERB"),
        ("We observed galaxies.", "observed", "VERB"),
        ("The observed flux is low.", "observed", "ADJ"),
        ("The flux was observed with ALMA.", "observed", "VERB"),
        ("The rotating black hole spins.", "rotating", "ADJ"),
        ("Stars rotating fast lose mass.", "rotating", "VERB"),
        ("Weak lensing constrains it.", "lensing", "NOUN"),
        ("By mapping the sky we learn.", "mapping", "VERB"),
        ("Galaxies that host AGN are red.", "that", "PRON"),
        ("We show that galaxies merge.", "that", "SCONJ"),
        ("We study NGC 1275 here.", "1275", "PROPN"),
        ("We study 1275 galaxies here.", "1275", "NUM"),
        ("At 20 kpc it ends.", "kpc", "SYM"),
        ("The B modes are faint.", "B", "PROPN"),
        ("A star forms.", "A", "DET"),
    ],
)
def test_word_classes_in_context(text: str, word: str, tag: str) -> None:
    assert dict(tagged(text))[word] == tag


@pytest.mark.parametrize(
    "whole",
    [
        "[O III]",
        "star-forming",
        "f(R)",
        "HD",
        "209458b",
        "z",
        "GW170817",
        "Hα",
        "Be/X-ray",
        "km/s",
        "J0523-1403",
        "21-cm",
        "10–100",
        "HCO+",
        "A*",
        "2MASS",
        "mass–metallicity",
        "e.g.",
        "1.4-GHz",
    ],
)
def test_the_notation_of_astronomy_stays_whole(whole: str) -> None:
    assert whole in split_words(f"We use {whole} and, again, {whole}.")[0]


def test_sentences_end_at_full_stops_only() -> None:
    text = (
        "Smith et al. (2020) found 3.5 keV lines, e.g. in Fig. 3 of J. Doe, i.e. near 0.5 kpc. "
        "We follow Jones et al. The line is at z = 2.1. Is it dark matter? It may be."
    )
    words, _ = split_words(text)
    starts = tag_words(words)[2]
    firsts = [word for word, start in zip(words, starts, strict=True) if start]
    assert firsts == ["Smith", "We", "The", "Is", "It"]


def test_title_case_is_undone_for_common_words_only() -> None:
    tags = dict(tagged("Dark Matter Haloes Around Abell Clusters. We weigh them."))
    assert tags["Matter"] == "NOUN"
    assert tags["Abell"] == "PROPN"
    assert tags["Around"] == "ADP"


def test_raw_latex_and_copyright_lines_are_reduced_to_words() -> None:
    text = readable(
        r"The \emph{Planck} H$\alpha$ and $\Lambda$CDM, \cite{x} $M_\odot^{2}$ of \'Etoile."
    )
    assert "Planck Hα and ΛCDM" in text
    assert "Étoile" in text
    assert not set(text) & set("\\${}")
    assert readable("A star. © 2020 RAS. All rights reserved.").strip() == "A star."


def test_words_and_spaces_give_the_text_back() -> None:
    text = "The [O III] (λ5007) line of Kepler's star, at 10-20 kpc; why?"
    words, spaces = split_words(text)
    joined = "".join(word + " " * space for word, space in zip(words, spaces, strict=True))
    assert joined.strip() == text
