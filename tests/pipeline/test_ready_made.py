"""Vectors and coordinates given with the papers, and vectors that cost money."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq
import pytest

from landscape.atlas import Atlas, build
from landscape.errors import InputError

N_PAPERS = 25


@pytest.fixture
def pathfinder(tmp_path: Path) -> Path:
    """A file in the format of the published pathfinder dataset."""
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "ads_id": [str(i) for i in range(N_PAPERS)],
            "arxiv_id": [f"2401.{i:05d}" for i in range(N_PAPERS)],
            "title": [f"Spiral galaxies in sample {i}" for i in range(N_PAPERS)],
            "abstract": [f"We measure {i} stellar haloes by imaging." for i in range(N_PAPERS)],
            "embed": list(rng.normal(size=(N_PAPERS, 1536))),
            "umap_x": rng.normal(size=N_PAPERS),
            "umap_y": rng.normal(size=N_PAPERS),
            "date": ["2024-01-01"] * N_PAPERS,
            "authors": [[f"Author{i}, A."] for i in range(N_PAPERS)],
        }
    )
    pq.write_table(table, tmp_path / "shard.parquet")
    return tmp_path / "shard.parquet"


def test_what_a_source_brings_is_used_and_can_be_had_again(
    pathfinder: Path, tmp_path: Path
) -> None:
    out, options = tmp_path / "a.atlas", {"tagger": "rules", "workers": 1}
    brought = pq.read_table(pathfinder)
    wanted = np.stack(brought["embed"].to_numpy())
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)

    atlas = build(pathfinder, out, **options)
    assert np.allclose(atlas.vectors(), wanted, atol=1e-6)
    assert np.allclose(atlas.map["x"], brought["umap_x"], atol=1e-6)
    assert np.allclose(atlas.map["y"], brought["umap_y"], atol=1e-6)
    model = atlas.stages["embeddings"].model
    assert model is not None
    assert model["model"] == "text-embedding-3-small"

    # Of our own making instead, and then back: the source has to be read again for it.
    atlas = build(pathfinder, out, embedder="minilm", layout="pca", **options)
    assert atlas.vectors().shape == (N_PAPERS, 384)
    atlas = build(pathfinder, out, **options)
    assert np.allclose(atlas.vectors(), wanted, atol=1e-6)
    assert np.allclose(atlas.map["x"], brought["umap_x"], atol=1e-6)
    assert atlas.papers["keywords"].map(len).min() >= 1


def test_a_file_of_vectors_goes_with_the_records_of_the_source(
    few_papers: Path, tmp_path: Path, quick: dict[str, Any]
) -> None:
    vectors = np.random.default_rng(0).normal(size=(28, 5)).astype(np.float32)
    file = tmp_path / "vectors.npy"
    np.save(file, vectors)
    atlas = build(few_papers, tmp_path / "a.atlas", embedder=f"ready:{file}", **quick)
    wanted = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert np.allclose(atlas.vectors(), wanted, atol=1e-6)
    np.save(file, vectors[:20])
    with pytest.raises(InputError, match="20 rows for 28 papers"):
        build(few_papers, tmp_path / "a.atlas", embedder=f"ready:{file}", **quick)


def test_rows_are_not_guessed_where_records_were_merged_or_rejected(
    tmp_path: Path, quick: dict[str, Any], papers_file: Callable[..., Path]
) -> None:
    source = papers_file(tmp_path / "few.jsonl", [0, 1, 1, 2, 3])
    np.save(tmp_path / "v.npy", np.eye(4))  # as many as there are papers, but whose?
    with pytest.raises(InputError, match=r"of 5 records, 1 were merged .* columns paper_id"):
        build(source, tmp_path / "a.atlas", embedder=f"ready:{tmp_path / 'v.npy'}", **quick)


def test_a_table_of_vectors_is_matched_by_id(
    finished: Atlas,
    few_papers: Path,
    tmp_path: Path,
    quick: dict[str, Any],
    papers_file: Callable[..., Path],
) -> None:
    ids = finished.papers["paper_id"].tolist()
    vectors = np.random.default_rng(0).normal(size=(30, 5))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    order = np.random.default_rng(1).permutation(30)
    table = pa.table(
        {
            "paper_id": np.array([*ids, "nobody-1", "nobody-2"])[order],
            "embedding": list(vectors[order]),
        }
    )
    file = tmp_path / "v.parquet"
    pq.write_table(table, file, row_group_size=7)
    # Two sources, and one paper in both of them.
    other = papers_file(tmp_path / "other.jsonl", [27])
    sources, spec = [few_papers, other], f"ready:{file}@text-embedding-3-small"
    atlas = build(sources, tmp_path / "a.atlas", embedder=spec, **quick)
    assert np.allclose(atlas.vectors(), vectors[:28], atol=1e-6)
    model = atlas.stages["embeddings"].model
    assert model is not None
    assert model["model"] == "text-embedding-3-small"

    pq.write_table(table.filter(pa.compute.not_equal(table["paper_id"], ids[3])), file)
    with pytest.raises(InputError, match=rf"no vector for 1 of 28 papers, such as .*{ids[3]}"):
        build(sources, tmp_path / "a.atlas", embedder=spec, **quick)


def test_ready_made_vectors_that_nobody_brought_are_a_sentence(
    few_papers: Path, tmp_path: Path, quick: dict[str, Any]
) -> None:
    with pytest.raises(InputError, match=r"few have no ready-made vectors; use --embedder minilm"):
        build(few_papers, tmp_path / "a.atlas", embedder="ready", **quick)


@dataclass
class _Estimate:
    papers: int
    tokens: int
    cost: float | None

    def __str__(self) -> str:
        return f"{self.papers} papers for ${self.cost:.2f}"


@dataclass
class Paid:
    """An embedder that costs a dollar per paper and can fail on request."""

    fails_after: int = 10**9
    allowed: int = 0
    spent: int = 0
    name: str = "openai"
    model: str = "costly"
    dimension: int = 0
    checksum: str | None = None

    def estimate(self, texts: Sequence[str]) -> _Estimate:
        return _Estimate(len(texts), 10 * len(texts), float(len(texts)))

    def allow(self, n_papers: int) -> None:
        self.allowed += n_papers

    def embed(self, texts: Sequence[str], **_: Any) -> Any:
        self.spent += len(texts)
        assert self.spent <= self.allowed
        if self.spent > self.fails_after:
            raise ConnectionError
        self.dimension = 3
        vectors = np.array([[len(text), i + 1, 1] for i, text in enumerate(texts)], np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, "model": self.model, "dimension": self.dimension}


def test_money_is_asked_for_once_and_what_was_paid_for_is_kept(
    few_papers: Path,
    tmp_path: Path,
    quick: dict[str, Any],
    papers_file: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("landscape.pipeline._rows.CHUNK", 10)
    out, questions = tmp_path / "a.atlas", []

    def run(embedder: Paid, *inputs: Path, agree: bool = True) -> Any:
        def approve(question: str) -> bool:
            questions.append(question)
            return agree

        monkeypatch.setattr("landscape.embeddings.load_embedder", lambda _: embedder)
        return build(inputs, out, embedder="openai:costly", approve=approve, **quick)

    refused = Paid()
    with pytest.raises(InputError, match=r"Nothing was sent: embedding 28 papers for \$28\.00"):
        run(refused, few_papers, agree=False)
    assert refused.spent == 0
    with pytest.raises(ConnectionError):
        run(Paid(fails_after=15), few_papers)
    rest = Paid()
    run(rest, few_papers)
    assert rest.spent == 18
    more = Paid()
    atlas = run(more, few_papers, papers_file(tmp_path / "more.jsonl", range(28, 33)))
    assert more.spent == 5
    assert questions == [
        "Embed 28 papers for $28.00?",
        "Embed 28 papers for $28.00?",
        "Embed 18 papers for $18.00?",
        "Embed 5 papers for $5.00?",
    ]
    assert len(atlas.vectors()) == 33


def test_an_interrupted_embedder_leaves_no_mark_on_another_one(
    few_papers: Path, tmp_path: Path, quick: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("landscape.pipeline._rows.CHUNK", 10)

    def run(embedder: Paid) -> Any:
        monkeypatch.setattr("landscape.embeddings.load_embedder", lambda _: embedder)
        spec = f"openai:{embedder.model}"
        return build(
            few_papers, tmp_path / "a.atlas", embedder=spec, approve=lambda _: True, **quick
        )

    with pytest.raises(ConnectionError):
        run(Paid(fails_after=15, model="first"))
    with pytest.raises(ConnectionError):
        run(Paid(fails_after=15, model="second"))
    model = run(Paid(model="second")).stages["embeddings"].model
    assert model == {"name": "openai", "model": "second", "dimension": 3}


def test_another_server_is_asked_for_all_and_its_secrets_are_not_kept(
    few_papers: Path, tmp_path: Path, quick: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("landscape.pipeline._rows.CHUNK", 10)

    def run(server: str, embedder: Paid) -> Any:
        monkeypatch.setenv("OPENAI_BASE_URL", server)
        monkeypatch.setattr("landscape.embeddings.load_embedder", lambda _: embedder)
        options = {"embedder": "openai:costly", "approve": lambda _: True, **quick}
        return build(few_papers, tmp_path / "a.atlas", **options)

    with pytest.raises(ConnectionError):
        run("http://one.example/v1", Paid(fails_after=15))
    resumed, same, other = Paid(), Paid(), Paid()
    run("http://me:secret@two.example/v1", resumed)
    run("http://two.example/v1", same)
    atlas = run("http://three.example/v1", other)
    assert (resumed.spent, same.spent, other.spent) == (28, 0, 28)
    assert atlas.stages["embeddings"].parameters["server"] == "http://three.example/v1"
    run("http://me:secret@two.example/v1", Paid())
    assert "secret" not in (tmp_path / "a.atlas" / "manifest.json").read_text()


def test_it_says_when_vectors_were_brought_in_vain(
    pathfinder: Path, papers_file: Callable[..., Path], tmp_path: Path, quick: dict[str, Any]
) -> None:
    lines: list[str] = []
    sources = [pathfinder, papers_file(tmp_path / "more.jsonl", range(100, 103))]
    atlas = build(sources, tmp_path / "a.atlas", say=lines.append, **quick)
    assert atlas.vectors().shape == (N_PAPERS + 3, 384)
    assert ("3 of 28 papers have no ready-made vectors, so minilm embeds all papers") in lines
