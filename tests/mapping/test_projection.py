"""Projection of corpora of any size, reproducibility by seed, and placement of new papers."""

from __future__ import annotations

import numpy as np
import pytest

from landscape.embeddings import nearest
from landscape.errors import InputError
from landscape.mapping import place, project
from landscape.mapping.projection import (
    _neighbours,
    choose_landmarks,
    memberships,
    orient,
    place_between,
    settle,
    umap_with_kept_code,
)
from landscape.mapping.quality import neighbours_kept


def clusters(n: int, n_clusters: int = 4, n_dims: int = 16, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(n_clusters, n_dims))
    vectors = centres[np.arange(n) % n_clusters] + 0.15 * rng.normal(size=(n, n_dims))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("n_papers", [0, 1, 2, 3, 10, 13, 40])
def test_any_number_of_papers_gets_finite_places(n_papers: int) -> None:
    plane = project(clusters(n_papers) if n_papers else np.zeros((0, 16), dtype=np.float32))
    assert plane.shape == (n_papers, 2)
    assert np.isfinite(plane).all()


def test_identical_papers_share_one_place() -> None:
    plane = project(np.repeat(clusters(1), 50, axis=0))
    assert np.allclose(plane, 0)


def test_umap_keeps_clusters_together_and_apart() -> None:
    vectors = clusters(400)
    plane = project(vectors, seed=3)
    kind = np.arange(400) % 4
    centres = np.array([plane[kind == k].mean(axis=0) for k in range(4)])
    nearest = np.linalg.norm(plane[:, None] - centres, axis=2).argmin(axis=1)
    assert (nearest == kind).mean() > 0.98


def test_a_seed_gives_the_same_map_again() -> None:
    vectors = clusters(120)
    assert np.array_equal(project(vectors, seed=7), project(vectors, seed=7))
    assert not np.array_equal(project(vectors, seed=7), project(vectors, seed=8))


@pytest.mark.parametrize("start", ["pca", "spectral"])
def test_both_starts_work(start: str) -> None:
    assert np.isfinite(project(clusters(120), seed=1, start=start)).all()


def test_an_unknown_layout_names_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"'mds'.*pca, umap"):
        project(clusters(20), method="mds")


def test_a_value_that_is_not_finite_is_named_with_its_row() -> None:
    vectors = clusters(20)
    vectors[13, 2] = np.nan
    with pytest.raises(InputError, match="paper 13"):
        project(vectors)


def test_orient_is_blind_to_rotation_and_reflection() -> None:
    rng = np.random.default_rng(5)
    plane = (rng.gamma(2.0, size=(500, 2)) * [3.0, 1.0]).astype(np.float32)
    angle = 1.1
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    turned = (plane @ turn.T * [1.0, -1.0]).astype(np.float32)
    one, other = (drawn - drawn.mean(axis=0) for drawn in (orient(plane), orient(turned)))
    assert np.allclose(one, other, atol=0.3)


def test_new_papers_land_in_their_own_cluster() -> None:
    vectors = clusters(400)
    plane = project(vectors, seed=3)
    kind = np.arange(400) % 4
    centres = np.array([plane[kind == k].mean(axis=0) for k in range(4)])
    new = clusters(480)[400:]
    placed = place(new, vectors, plane)
    nearest = np.linalg.norm(placed[:, None] - centres, axis=2).argmin(axis=1)
    assert (nearest == np.arange(400, 480) % 4).mean() > 0.95


def test_a_paper_already_on_the_map_is_placed_near_itself() -> None:
    vectors = clusters(200)
    plane = project(vectors, seed=3)
    assert np.allclose(place(vectors[:20], vectors, plane, k=1), plane[:20], atol=1e-5)


def test_memberships_follow_umap() -> None:
    rng = np.random.default_rng(0)
    distances = np.sort(rng.uniform(0.1, 0.6, size=(30, 15)), axis=1)
    weights = memberships(distances)
    assert np.allclose(weights[:, 0], 1.0)
    assert (np.diff(weights, axis=1) <= 0).all()
    assert np.allclose(weights.sum(axis=1), np.log2(15), atol=1e-3)


def surface(n: int, seed: int) -> np.ndarray:
    """Return papers on a curved surface, so that a plane can keep their neighbours."""
    rng = np.random.default_rng(seed)
    waves, phases = rng.normal(scale=1.5, size=(2, 24)), rng.uniform(0, 2 * np.pi, size=24)
    vectors = np.sin(rng.uniform(0, 3, size=(n, 2)) @ waves + phases)
    vectors += 0.05 * rng.normal(size=vectors.shape)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_settled_papers_keep_more_of_their_neighbours() -> None:
    # One map is not enough: the optimisation of UMAP differs between processors.
    old = np.arange(1200) < 900
    kept = np.empty((6, 2))
    for seed in range(len(kept)):
        vectors = surface(1200, seed)
        plane = project(vectors[old], seed=seed)
        found = nearest(vectors[old], vectors[~old], k=10)
        placed = place_between(*found, plane)
        settled = settle(placed, *found, plane)
        assert np.median(np.linalg.norm(settled - placed, axis=1)) < np.ptp(plane) / 20
        for column, new in enumerate((placed, settled)):
            whole = np.empty((1200, 2), np.float32)
            whole[old], whole[~old] = plane, new
            kept[seed, column] = neighbours_kept(vectors, whole, ~old)
    assert np.array_equal(placed, place(vectors[~old], vectors[old], plane, k=10))
    assert np.array_equal(settled, settle(placed, *found, plane)), "the result is reproducible"
    assert kept[:, 1].mean() > 1.01 * kept[:, 0].mean()


def test_landmarks_come_from_all_subjects() -> None:
    # 2,000 papers of one subject and 20 of another.
    vectors = np.concatenate([clusters(2000, n_clusters=1), clusters(20, n_clusters=1, seed=5)])
    chosen = choose_landmarks(vectors, 300)
    assert len(np.unique(chosen)) == len(chosen)
    assert 300 <= len(chosen) <= 330
    assert (chosen >= 2000).sum() >= 15
    assert np.array_equal(chosen, choose_landmarks(vectors, 300))
    assert choose_landmarks(vectors, 5000).tolist() == [*range(2020)]


def test_functions_with_and_without_threads_have_caches_of_their_own() -> None:
    layouts = umap_with_kept_code().layouts
    name = "_nb_optimize_layout_euclidean_single_epoch"
    files = {
        getattr(layouts, f"{name}{kind}")._cache._cache_file._index_name
        for kind in ("", "_parallel")
    }
    assert len(files) == 2


@pytest.mark.filterwarnings("ignore:precomputed_knn")
def test_umap_has_the_graph_that_it_would_compute() -> None:
    vectors = clusters(300)
    rows, distances = _neighbours(vectors, 15)
    umap = umap_with_kept_code()
    settings = {"metric": "cosine", "n_epochs": 1, "random_state": 1, "n_jobs": 1}
    its = umap.UMAP(**settings).fit(vectors).graph_
    ours = umap.UMAP(**settings, precomputed_knn=(rows, distances, None)).fit(vectors).graph_
    assert abs(its - ours).max() < 1e-3
