"""Rules that check claims, on original and altered sentences of real abstracts."""

from __future__ import annotations

import gzip
import json
import re
from itertools import islice
from pathlib import Path

import pytest

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
