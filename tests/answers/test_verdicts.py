"""Verdicts on claims with calibrated probabilities."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from landscape.answers import check_claim, verdicts
from landscape.errors import InputError

ABSTRACT = (
    "We observe twelve dwarf galaxies with ALMA. The gas mass increases with stellar mass. "
    "Their winds carry away 40% of the gas within 2 Gyr. We find no evidence for an active nucleus."
)


@pytest.mark.parametrize(
    ("claim", "label"),
    [
        ("The gas mass increases with stellar mass.", "supported"),
        ("The gas mass decreases with stellar mass.", "contradicted"),
        ("Their winds carry away 80% of the gas within 2 Gyr.", "contradicted"),
        ("Pulsars glitch because of superfluid vortices.", "not found"),
    ],
)
def test_the_label_has_the_largest_probability(claim: str, label: str) -> None:
    found = check_claim(claim, ABSTRACT)
    assert found.label == label
    assert found.probability == max(found.probabilities)
    assert sum(found.probabilities) == pytest.approx(1.0, abs=0.01)
    assert found.sentences[0] in ABSTRACT


def test_sentences_can_be_given_instead_of_a_text() -> None:
    sentences = ["Dust is grey.", "The gas mass increases with stellar mass."]
    found = check_claim("The gas mass decreases with stellar mass.", sentences)
    assert (found.label, found.places[0]) == ("contradicted", 1)
    assert "increases" in found.mismatch


def test_a_record_is_plain_json() -> None:
    found = json.loads(json.dumps(check_claim("Gas cools.", ABSTRACT).to_dict()))
    assert set(found) >= {"claim", "label", "probability", "verdict", "mismatch"}


@pytest.mark.parametrize("claim", ["", "  ", "the of and", "\x00", "?" * 50])
def test_a_claim_without_words_is_not_found(claim: str) -> None:
    assert check_claim(claim, ABSTRACT).label == "not found"


@pytest.mark.parametrize("text", ["", [], "\n"])
def test_a_text_without_words_supports_nothing(text: str | list[str]) -> None:
    assert check_claim("Gas cools by lines.", text).label == "not found"


def test_claims_and_texts_are_texts() -> None:
    with pytest.raises(InputError, match="claim is a int"):
        check_claim(3, ABSTRACT)  # type: ignore[arg-type]


def test_a_contradiction_that_is_not_certain_is_unclear() -> None:
    found = check_claim("The gas mass decreases with stellar mass.", ABSTRACT)
    assert found.verdict == "contradicted"
    limit = verdicts._model()["vectors"]["certain"]["contradicted"]
    assert found.probability >= limit


def test_words_decide_without_the_weights_of_minilm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "embed", lambda _: None)
    assert check_claim("The gas mass increases with stellar mass.", ABSTRACT).label == "supported"
    assert check_claim("Pulsars glitch because of vortices.", ABSTRACT).label == "not found"


def test_verdicts_on_public_pairs_beat_chance(real_data: Path) -> None:
    labels = {"SUPPORTS": "supported", "REFUTES": "contradicted", "NOT_ENOUGH_INFO": "not found"}
    lines = (real_data / "scifact" / "pairs.jsonl").read_text("utf-8").splitlines()[::4]
    pairs = [json.loads(line) for line in lines]
    found = verdicts.check_many([(pair["claim"], pair["evidence"]) for pair in pairs])
    right = [one.label == labels[pair["label"]] for one, pair in zip(found, pairs, strict=True)]
    most_frequent = max(Counter(pair["label"] for pair in pairs).values()) / len(pairs)
    assert np.mean(right) > most_frequent + 0.15
