"""Rules that check claims, on original and altered sentences of real abstracts."""

from __future__ import annotations

import gzip
import json
import re
from itertools import islice
from pathlib import Path

import pytest

from landscape.answers.agreement import find_mismatch, side_of
from landscape.answers.verdicts import check_many
from landscape.search.sentences import says_something
from landscape.text import split_sentences


@pytest.fixture(scope="module")
def abstracts(real_papers: Path) -> list[list[str]]:
    with gzip.open(real_papers, "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["abstract"] for line in islice(lines, 30_000, 30_080)]
    return [[text[start:end] for start, end in split_sentences(text)] for text in texts]


def test_a_quotation_is_supported_by_its_own_abstract_alone(abstracts: list[list[str]]) -> None:
    pairs: dict[str, list[tuple[str, list[str]]]] = {"own": [], "other": []}
    n = 0
    for own, other in zip(abstracts, [*abstracts[7:], *abstracts[:7]], strict=True):
        quoted = list(filter(says_something, own))
        n += len(quoted)
        for name, text in (("own", own), ("other", other)):
            pairs[name] += [(sentence, text) for sentence in quoted]
    checks = check_many(pairs["own"] + pairs["other"])  # each text is read once
    right = [check.verdict == "supported" for check in checks]
    supported = {"own": sum(right[:n]), "other": sum(right[n:])}
    assert n > 500
    assert supported["own"] == n
    assert supported["other"] < 0.01 * n


def test_hardly_a_changed_number_or_a_negation_slips_through(abstracts: list[list[str]]) -> None:
    numbers: list[tuple[str, list[str]]] = []
    negations: list[tuple[str, list[str]]] = []
    for own in abstracts:
        for sentence in own:
            number = re.search(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])", sentence)
            if number:
                other = f"{float(number[0]) * 1.7 + 3:.2f}"
                changed = sentence[: number.start()] + other + sentence[number.end() :]
                numbers.append((changed, own))
            if " not " not in sentence and re.search(r"\b(is|are|can)\b", sentence):
                denied = re.sub(r"\b(is|are|can)\b", r"\1 not", sentence, count=1)
                negations.append((denied, own))
    for pairs, most in ((numbers, 0.03), (negations, 0.15)):
        assert len(pairs) > 100
        checks = check_many(pairs)  # each text is read once
        assert sum(check.verdict == "supported" for check in checks) < most * len(pairs)


@pytest.mark.parametrize(
    ("question", "sentence", "side"),
    [
        ("Is there a Hubble tension?", "We find that the Hubble tension is robust.", 1),
        ("Is there a Hubble tension?", "We find no evidence for a Hubble tension.", -1),
        ("Is there a Hubble tension?", "HDE models cannot alleviate the Hubble tension.", 0),
        ("Is there a Hubble tension?", "The Hubble tension can be alleviated, as we show.", 0),
        ("Is the universe flat?", "We find no deviations from a flat universe.", 0),
        ("Is the universe flat?", "The data rule out a flat universe.", -1),
        ("Are there planets around white dwarfs?", "We find no planets around white dwarfs.", -1),
        ("Does dark energy evolve?", "Non-monotonic dark energy evolves, we find.", 1),
    ],
)
def test_a_side_is_taken_on_what_is_asked(question: str, sentence: str, side: int) -> None:
    assert side_of(question, sentence) == side


def test_objects_with_names_of_constellations_are_compared() -> None:
    paper = ["Methanol is abundant in Orion KL."]
    assert find_mismatch("Methanol is abundant in Sgr B2.", "", paper)
    assert not find_mismatch("Orion KL has abundant methanol.", "", paper)
