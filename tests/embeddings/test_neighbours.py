"""Exact neighbours are exact."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.embeddings import _neighbours  # small blocks are set
from landscape.embeddings._neighbours import nearest
from landscape.errors import InputError


def unit(n: int, d: int = 16, *, seed: int = 0) -> np.ndarray:
    """Clustered vectors, as embeddings are."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(20, d))
    vectors = centres[random.integers(20, size=n)] + 0.5 * random.normal(size=(n, d))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@settings(max_examples=30, deadline=None)
@given(n=st.integers(1, 200), m=st.integers(0, 30), k=st.integers(1, 12), block=st.integers(1, 90))
def test_neighbours_are_those_of_all_products(n: int, m: int, k: int, block: int) -> None:
    vectors, queries, k = unit(n), unit(m, seed=1), min(k, n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_neighbours, "_BLOCK", block)
        patch.setattr(_neighbours, "_QUERIES", 7)
        indices, similarities = nearest(vectors, queries, k=k)
    products = queries @ vectors.T
    assert indices.shape == similarities.shape == (m, k)
    assert np.allclose(similarities, -np.sort(-products, axis=1)[:, :k], atol=1e-5)
    assert np.allclose(np.take_along_axis(products, indices, 1), similarities, atol=1e-5)
    assert all(len(set(row)) == k for row in indices.tolist())


def test_a_memory_mapped_matrix_finds_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_neighbours, "_BLOCK", 100)
    np.save(tmp_path / "v.npy", unit(950))
    mapped = np.load(tmp_path / "v.npy", mmap_mode="r")
    indices, similarities = nearest(mapped, mapped[::10], k=3)
    assert indices[:, 0].tolist() == list(range(0, 950, 10))
    assert similarities[:, 0] == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("k", [0, 11])
def test_more_neighbours_than_papers(k: int) -> None:
    with pytest.raises(InputError, match=f"k={k} neighbours of 10 papers requested"):
        nearest(unit(10), unit(2), k=k)


def test_vectors_of_two_models() -> None:
    with pytest.raises(InputError, match="the same embedding model"):
        nearest(unit(10, 16), unit(2, 8), k=1)
