"""Roles of sentences in abstracts."""

from __future__ import annotations

import numpy as np
import pytest

from landscape.answers.sentence_scoring import ROLES, role_of_heading, role_probabilities

ABSTRACT = [
    "Galaxy clusters are the largest bound objects in the Universe.",
    "In this paper we aim to measure the mass of the cluster Abell 1689.",
    "We use weak-lensing data from the Subaru telescope and fit a model with MCMC.",
    "We find that the cluster has a mass of 1.2 ± 0.1 times 10^15 solar masses.",
]


def test_each_sentence_has_its_role() -> None:
    found = role_probabilities(ABSTRACT)
    assert found.shape == (4, 4)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert [ROLES[row.argmax()] for row in found] == ["context", "aim", "method", "result"]


@pytest.mark.parametrize("order", [[3, 2, 1, 0], [1, 3, 0, 2]])
def test_words_count_more_than_the_place(order: list[int]) -> None:
    found = role_probabilities([ABSTRACT[place] for place in order])
    roles = [ROLES[row.argmax()] for row in found]
    assert roles[order.index(3)] == "result"
    assert roles[order.index(1)] == "aim"


def test_a_heading_gives_the_role_of_what_follows() -> None:
    found = role_probabilities(["Context. We find nothing.", "We show more.", "Results: It is so."])
    assert [ROLES[row.argmax()] for row in found] == ["context", "context", "result"]
    assert role_of_heading("Aims. We test it.") == "aim"
    assert role_of_heading("Results are shown.") == ""


@pytest.mark.parametrize("sentences", [[], [""], ["…"]])
def test_any_text_has_probabilities(sentences: list[str]) -> None:
    found = role_probabilities(sentences)
    assert found.shape == (len(sentences), 4)
    assert np.isfinite(found).all()
