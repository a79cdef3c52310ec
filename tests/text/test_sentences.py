"""Positions of sentences in texts with full stops in abbreviations, numbers and names."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landscape.text import split_sentences


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@pytest.mark.parametrize(
    "parts",
    [
        ["Dust cools.", "Gas heats!", "Why?", "Nobody knows."],
        ["This was shown by Smith et al. (2003) and Jones et al. 2005.", "It holds."],
        ["We follow Smith et al.", "We find the same."],
        ["See Fig. 3 and Eq. 4 of Sec. 2.", "The rest follows."],
        ["Galaxies at z~2.", "The others lie at z = 3.5."],
        ["It grows as t^0.5.", "2MASS sees it."],
        ["Lines, e.g. [O III], i.e. forbidden ones, vs. permitted ones, are seen.", "They fade."],
        ["The U.S. Naval Observatory and J. K. Smith observed it.", "M. Brown did not."],
        ["We study Population I.", "The stars are young."],
        ["It is “bright.”", "(It is not faint.)", "So we see it."],
        ["We find: 1. Dust is hot.", "2. Gas is cold."],
        ["Is it so...", "Yes."],
        ["The mass is 3 M⊙.", "Its radius is ca. 10 km."],
        ["We find approx. 30 per cent of St. Andrews stars.", "No. 5 is a binary."],
        ["银河系有尘埃。", "它很冷。"],
        ["Results: p. 3.", "In 1987 it blew up."],
        ["Context. Dust is everywhere.", "Aims. We find it.", "We show results.", "It is so."],
        ["No stop at the end"],
    ],
)
def test_the_sentences_of(parts: list[str]) -> None:
    joint = "" if "。" in parts[0] else " "
    assert sentences(joint.join(parts)) == parts


def test_a_glued_full_stop_and_a_paragraph_end_sentences() -> None:
    assert sentences("We see clusters.We find gas\n\nand dust. End.") == [
        "We see clusters.",
        "We find gas",
        "and dust.",
        "End.",
    ]


@pytest.mark.parametrize("text", ["", " \n ", "...", "12.", ". . ."])
def test_hardly_any_text(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.sampled_from("aZ3 .!?\n()[]”é。e.g.alFig"), max_size=80))
def test_no_character_is_lost_and_none_is_twice(text: str) -> None:
    spans = split_sentences(text)
    assert all(start < end for start, end in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


def test_long_text_takes_no_long_time() -> None:
    assert len(sentences("Dust cools. " * 20_000)) == 20_000
    assert len(sentences("." * 200_000)) == 1
    assert len(sentences(" " * 200_000 + "a")) == 1


def test_real_abstracts_split_into_sentences_of_sensible_length(real_papers: Path) -> None:
    with gzip.open(real_papers, "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["abstract"] for line, _ in zip(lines, range(300), strict=False)]
    found = [sentence for text in texts for sentence in sentences(text)]
    short = [sentence for sentence in found if len(sentence.split()) < 4]
    assert 4 < len(found) / len(texts) < 9
    assert len(short) < 0.02 * len(found)
