"""Reviews among the nearest papers, compared with a brute-force search."""

from __future__ import annotations

import numpy as np
import pytest

from landscape.overlays.reviews.signs import near_reviews


@pytest.fixture
def corpus():
    random = np.random.default_rng(5)
    vectors = random.normal(size=(700, 16))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    years = random.integers(1990, 2021, 700)
    return vectors.astype(np.float32), years, random.random(700) < 0.03


def test_brute_force_finds_the_same(corpus):
    vectors, years, is_review = corpus
    rows = np.arange(0, 700, 7)
    n_near, latest = near_reviews(vectors, years, is_review, rows, k=40)
    similarities = vectors @ vectors.T
    for place, row in enumerate(rows):
        others = np.delete(np.arange(700), row)
        nearest = others[np.argsort(-similarities[row, others])[:40]]
        near = nearest[is_review[nearest]]
        assert n_near[place] == len(near)
        assert np.array_equal(
            latest[place], years[near].max() if len(near) else np.nan, equal_nan=True
        )


def test_a_sample_of_the_corpus_says_about_the_same(corpus):
    vectors, years, is_review = corpus
    rows = np.arange(700)
    exact, _ = near_reviews(vectors, years, is_review, rows, k=70)
    sampled, _ = near_reviews(vectors, years, is_review, rows, k=70, n_references=350)
    assert abs(exact.mean() - sampled.mean()) < 0.1 * exact.mean()


def test_without_reviews_nothing_is_near(corpus):
    vectors, years, _ = corpus
    n_near, latest = near_reviews(vectors, years, np.zeros(700, bool), np.arange(5))
    assert n_near.sum() == 0
    assert np.isnan(latest).all()
