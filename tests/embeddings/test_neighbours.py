"""Exact nearest neighbours agree with a brute-force computation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landscape.embeddings import (
    VectorIndex,
    nearest,
    neighbours,  # small blocks are set
)
from landscape.embeddings.neighbours import (
    IndexReport,
    join_index,
    read_index,
    train_index,
    write_neighbours,
    write_shard,
)
from landscape.errors import AtlasError, InputError


def unit(n: int, d: int = 16, *, seed: int = 0) -> np.ndarray:
    """Return clustered unit vectors."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(20, d))
    vectors = centres[random.integers(20, size=n)] + 0.5 * random.normal(size=(n, d))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def write_index(parts: Sequence[np.ndarray], file: Path, **options: Any) -> IndexReport:
    """Write an index as a build does: cells first, then shards of at most 700 vectors."""
    trained = file.with_suffix(".trained")
    train_index(parts, trained)
    shards, first = [], 0
    for part in parts:
        for start in range(0, len(part), 700):
            shards.append(file.with_suffix(f".{len(shards)}"))
            write_shard(part[start : start + 700], first + start, trained, shards[-1])
        first += len(part)
    return join_index(parts, shards, file, **options)


@settings(max_examples=30, deadline=None)
@given(n=st.integers(1, 200), m=st.integers(0, 30), k=st.integers(1, 12), block=st.integers(1, 90))
def test_neighbours_are_those_of_all_products(n: int, m: int, k: int, block: int) -> None:
    vectors, queries, k = unit(n), unit(m, seed=1), min(k, n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "_BLOCK", block)
        patch.setattr(neighbours, "_QUERIES", 7)
        indices, similarities = nearest(vectors, queries, k=k)
    products = queries @ vectors.T
    assert indices.shape == similarities.shape == (m, k)
    assert np.allclose(similarities, -np.sort(-products, axis=1)[:, :k], atol=1e-5)
    assert np.allclose(np.take_along_axis(products, indices, 1), similarities, atol=1e-5)
    assert all(len(set(row)) == k for row in indices.tolist())


def test_a_memory_mapped_matrix_finds_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighbours, "_BLOCK", 100)
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


@pytest.mark.parametrize("n_different", [10, 5_000])
def test_only_an_index_of_a_build_is_read(tmp_path: Path, n_different: int) -> None:
    """With few different vectors, most cells are empty and FAISS uses another layout."""
    made = np.random.default_rng(0).normal(size=(n_different, 64))
    vectors = np.repeat(made / np.linalg.norm(made, axis=1, keepdims=True), 5_000 // n_different, 0)
    vectors = vectors.astype(np.float32)
    file = tmp_path / "index.faiss"
    write_index([vectors], file)
    index = read_index(file, n_papers=5_000, dimension=64)
    assert 7 in VectorIndex([vectors], index=index, n_probe=4).search(vectors[7], k=10).rows
    good = file.read_bytes()
    other = tmp_path / "forged.faiss"  # the first file is still mapped into memory
    for forged in (good + b"x", good[:-1], good.replace(b"ilar", b"ilod"), b"IxHe" + good[4:]):
        other.write_bytes(forged)
        with pytest.raises(AtlasError, match="cannot be read"):
            read_index(other, n_papers=5_000, dimension=64)


def test_an_index_grows_by_the_vectors_of_an_update(tmp_path: Path) -> None:
    vectors = unit(3_000)
    write_index([vectors[:2_000]], tmp_path / "old.faiss")
    trained, shard = tmp_path / "trained", tmp_path / "shard"
    train_index([vectors], trained, known=tmp_path / "old.faiss")
    write_shard(vectors[2_000:], 2_000, trained, shard)
    report = join_index([vectors], [tmp_path / "old.faiss", shard], tmp_path / "new.faiss")
    assert report.recall >= 0.99
    index = read_index(tmp_path / "new.faiss", n_papers=3_000, dimension=16)
    search = VectorIndex([vectors], index=index, n_probe=report.n_probe).search
    for row in (3, 1_999, 2_000, 2_999):
        assert search(vectors[row], k=1).rows.tolist() == [row]


def test_neighbours_of_landmarks_have_exact_distances(tmp_path: Path) -> None:
    every = unit(2_050)
    vectors, asked = every[:2_000], every[2_000:]
    near = write_neighbours(vectors, tmp_path / "near", k=15)
    assert near.recall >= 0.99
    rows, similarities = near.search(asked, k=15)
    exact, wanted = nearest(vectors, asked, k=15)
    shared = [len(set(one) & set(other)) for one, other in zip(rows, exact, strict=True)]
    assert np.mean(shared) > 14.5
    assert np.allclose(similarities, (vectors[rows] * asked[:, None]).sum(axis=2), atol=1e-6)
    assert np.allclose(similarities[:, 0], wanted[:, 0], atol=1e-6)
