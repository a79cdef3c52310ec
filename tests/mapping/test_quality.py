"""Measures of map quality on perfect, random and torn maps."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pandas as pd
import pytest

from landscape.embeddings.neighbours import sample_neighbours
from landscape.mapping import measure_quality
from landscape.mapping.quality import (
    category_accuracy,
    neighbours_of_sample,
    peak_recall,
    rank_measures,
    stability,
)
from landscape.mapping.regions import find_regions


@pytest.fixture(scope="module")
def world() -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Vectors on a cap of a sphere, and the perfect map of them."""
    rng = np.random.default_rng(0)
    plane = rng.uniform(-0.3, 0.3, size=(600, 2))
    vectors = np.column_stack([plane, np.sqrt(1 - (plane**2).sum(axis=1))]).astype(np.float32)
    kinds = np.where(plane[:, 0] > 0, "astro-ph.GA", "astro-ph.EP").tolist()
    return vectors, plane, kinds


def test_a_perfect_map_scores_near_one(world) -> None:
    vectors, plane, kinds = world
    quality = measure_quality(vectors, plane[:, 0], plane[:, 1], categories=kinds, layout="pca")
    assert quality["knn_recall_at_10"] > 0.9
    assert quality["trustworthiness"] > 0.99
    assert quality["continuity"] > 0.99
    assert quality["category_accuracy_map"] > 0.95
    assert 0.45 < quality["category_accuracy_chance"] < 0.6
    assert quality["stability"] == pytest.approx(1.0)


def test_a_shuffled_map_scores_like_chance(world) -> None:
    vectors, plane, kinds = world
    shuffled = np.random.default_rng(1).permutation(plane)
    quality = measure_quality(
        vectors, shuffled[:, 0], shuffled[:, 1], categories=kinds, layout="pca"
    )
    assert quality["knn_recall_at_10"] < 0.08
    assert quality["trustworthiness"] < 0.6
    assert quality["category_accuracy_map"] < 0.65
    assert quality["category_accuracy_full"] > 0.95


def test_a_torn_map_loses_continuity_before_trust(world) -> None:
    vectors, plane, _ = world
    torn = plane.copy()
    torn[plane[:, 0] > 0, 1] += 50.0
    trust, continuity = rank_measures(vectors, torn, k=10)
    assert continuity < trust


def test_exact_duplicates_are_not_their_own_neighbours() -> None:
    vectors = np.repeat(np.eye(4, dtype=np.float32), 5, axis=0)
    plane = np.repeat(np.arange(4.0)[:, None], 5, axis=0) * [1.0, 0.0]
    sample = sample_neighbours(vectors, n_sample=20, k=3)
    for near in neighbours_of_sample(sample, plane, k=3):
        assert near.shape == (20, 3)
        assert not (near == sample.rows[:, None]).any()


def test_papers_without_a_category_do_not_count() -> None:
    found = category_accuracy(
        ["a", None, "b", "a"], np.array([0, 1]), np.array([[3], [2]]), np.array([[3], [2]])
    )
    assert found["category_accuracy_map"] == 1.0


def test_peaks_that_are_there_are_recalled_and_made_up_ones_are_not() -> None:
    rng = np.random.default_rng(0)
    plane = np.concatenate([rng.normal([0, 0], 0.3, (400, 2)), rng.normal([9, 0], 0.3, (400, 2))])
    assert peak_recall(plane, np.array([0.0, 9.0]), np.array([0.0, 0.0])) == 1.0
    assert peak_recall(plane, np.array([0.0, 4.5]), np.array([0.0, 3.0])) == 0.5


def test_peaks_are_looked_for_again_as_they_were_found() -> None:
    rng = np.random.default_rng(0)
    plane = np.concatenate([rng.normal([0, 0], 0.3, (200, 2)), rng.normal([9, 0], 0.3, (200, 2))])
    topics = pd.DataFrame({"x": [0.0, 9.0], "y": [0.0, 0.0], "level": 1})
    vectors = np.column_stack([plane, np.ones(len(plane))]).astype(np.float32)
    with mock.patch("landscape.mapping.quality.find_regions", wraps=find_regions) as finding:
        quality = measure_quality(
            vectors, *plane.T, topics=topics, topics_method="hdbscan", layout="ready"
        )
    assert {call.kwargs["method"] for call in finding.call_args_list} == {"hdbscan"}
    assert quality["peak_recall"] > 0.9


def test_runs_that_are_compared_have_the_settings_of_the_map(world) -> None:
    vectors, plane, _ = world
    with mock.patch("landscape.mapping.quality.project", return_value=plane) as project:
        measure_quality(vectors, *plane.T, layout="umap", n_neighbors=7, min_dist=0.3)
    settings = [(c.kwargs["n_neighbors"], c.kwargs["min_dist"]) for c in project.call_args_list]
    assert settings == [(7, 0.3), (7, 0.3)]


@pytest.mark.parametrize("layout", ["ready", "keep"])
def test_a_map_that_no_run_made_has_a_reason_instead_of_stability(world, layout: str) -> None:
    vectors, plane, _ = world
    quality = measure_quality(vectors, *plane.T, layout=layout)
    assert quality["stability"] is None
    assert "the map" in quality["stability_reason"]
    assert "n_second_run" not in quality


@pytest.mark.parametrize("n_papers", [1, 2, 10, 29])
def test_too_few_papers_give_none_and_no_error(n_papers: int) -> None:
    vectors = np.ones((n_papers, 3), dtype=np.float32)
    quality = measure_quality(vectors, np.zeros(n_papers), np.zeros(n_papers))
    assert quality["knn_recall_at_10"] is None
    assert quality["n_papers"] == n_papers
    assert stability(vectors) is None


def test_identical_papers_are_measured_without_error() -> None:
    vectors = np.ones((60, 3), dtype=np.float32) / np.float32(np.sqrt(3))
    table = pd.DataFrame({"x": [0.0], "y": [0.0], "level": [1]})
    quality = measure_quality(vectors, np.zeros(60), np.zeros(60), topics=table)
    assert quality["peak_recall"] == 1.0
