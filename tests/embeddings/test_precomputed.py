"""Given vectors are checked before they are used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from landscape.embeddings import precomputed  # small blocks are set
from landscape.embeddings.precomputed import ReadyVectors
from landscape.errors import InputError


def random_vectors(n: int = 50) -> np.ndarray:
    return np.random.default_rng(3).normal(size=(n, 6)) * 7


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_matrix_is_read_in_blocks_and_normalised(
    dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precomputed, "_BLOCK", 16)
    vectors = random_vectors().astype(dtype)
    np.save(tmp_path / "v.npy", vectors)
    blocks = list(ReadyVectors(tmp_path / "v.npy").blocks())
    assert [len(block) for block in blocks] == [16, 16, 16, 2]
    assert all(block.dtype == np.float32 for block in blocks)
    assert np.allclose(np.concatenate(blocks), unit(vectors.astype(float)), atol=1e-6)


@pytest.mark.parametrize("kind", [pa.list_(pa.float64()), pa.list_(pa.float32(), 6)])
def test_a_column_is_read_in_blocks_and_normalised(
    kind: pa.DataType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precomputed, "_BLOCK", 16)
    vectors = random_vectors()
    column = pa.array(vectors.tolist(), type=kind)
    pq.write_table(pa.table({"title": ["t"] * 50, "embedding": column}), tmp_path / "p.parquet")
    found = ReadyVectors(tmp_path / "p.parquet")
    assert found.dimension == 6
    assert np.allclose(np.concatenate(list(found.blocks())), unit(vectors), atol=1e-6)


@pytest.mark.parametrize(("value", "reason"), [(np.nan, "not finite"), (np.inf, "not finite")])
def test_a_row_that_is_not_finite(value: float, reason: str, tmp_path: Path) -> None:
    vectors = random_vectors()
    vectors[41, 2] = value
    np.save(tmp_path / "v.npy", vectors)
    with pytest.raises(InputError, match=f"row 41 is {reason}"):
        list(ReadyVectors(tmp_path / "v.npy").blocks())


def test_a_row_of_zeros_has_no_direction(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.zeros((2, 3)))
    with pytest.raises(InputError, match="row 0 is zero"):
        list(ReadyVectors(tmp_path / "v.npy").blocks())


def test_objects_are_never_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.array([{"a": 1}]), allow_pickle=True)
    with pytest.raises(InputError, match=r"not a \.npy file of numbers"):
        ReadyVectors(tmp_path / "v.npy")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not a .npy file"),
        (b"no numbers", "not a .npy file"),
        (np.lib.format.MAGIC_PREFIX + b"\x01\x00", "not a .npy file"),
    ],
)
def test_no_matrix(content: bytes, reason: str, tmp_path: Path) -> None:
    (tmp_path / "v.npy").write_bytes(content)
    with pytest.raises(InputError, match=reason):
        ReadyVectors(tmp_path / "v.npy")


def test_a_matrix_of_another_shape(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.ones(5))
    with pytest.raises(InputError, match="not one row of numbers per paper"):
        ReadyVectors(tmp_path / "v.npy")


@pytest.mark.parametrize(
    ("column", "rows", "reason"),
    [
        ("vector", [[1.0, 2.0]], "no column 'embedding'; its columns are vector"),
        ("embedding", ["text"], "does not hold lists of numbers"),
        ("embedding", [[1.0, 2.0], None], "1 paper without a vector"),
        ("embedding", [[1.0, 2.0], [1.0]], "not all 2 long"),
    ],
)
def test_an_unusable_column(column: str, rows: list[object], reason: str, tmp_path: Path) -> None:
    pq.write_table(pa.table({column: rows}), tmp_path / "p.parquet")
    with pytest.raises(InputError, match=reason):
        list(ReadyVectors(tmp_path / "p.parquet").blocks())


def test_ids_tell_whose_the_vectors_are(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"paper_id": ["b", "a"], "embedding": [[1.0], [2.0]]}), path)
    assert ReadyVectors(path).ids() == ["b", "a"]


@pytest.mark.parametrize(
    ("name", "ids", "reason"),
    [
        ("id", ["a", "b"], "no column 'paper_id'"),
        ("paper_id", ["a", "a"], "occurs twice"),
        ("paper_id", ["a", None], "is missing"),
    ],
)
def test_ids_that_tell_nothing(name: str, ids: list[object], reason: str, tmp_path: Path) -> None:
    pq.write_table(pa.table({name: ids, "embedding": [[1.0], [2.0]]}), tmp_path / "p.parquet")
    with pytest.raises(InputError, match=reason):
        ReadyVectors(tmp_path / "p.parquet").ids()


def test_new_text_needs_an_embedder(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", random_vectors())
    with pytest.raises(InputError, match=r"made before, by 'their-model'.*--embedder minilm"):
        ReadyVectors(tmp_path / "v.npy", model="their-model").embed(["text"])
