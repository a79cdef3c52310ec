"""The search index is updated with the papers, and repaired if it is damaged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import landscape
from landscape.embeddings import neighbours
from landscape.store.info import describe
from landscape.text import WordIndex


def words_find(atlas: landscape.Atlas, query: str) -> list[str]:
    results = atlas.search(query, k=3, method="words", rerank=False)
    return [paper.paper_id for paper in results.papers]


def test_only_papers_that_changed_are_indexed_again(
    tmp_path: Path, papers_file: Callable[..., Path], quick: dict[str, Any]
) -> None:
    one = papers_file(tmp_path / "one.jsonl", range(20))
    two = papers_file(tmp_path / "two.jsonl", range(100, 106))
    folder = tmp_path / "a.atlas"
    assert landscape.build(one, folder, **quick).stages["search"].details["indexed"] == 20
    both = landscape.build([one, two], folder, **quick)
    assert both.stages["search"].details["indexed"] == 6
    assert len(WordIndex(folder / "lexical")) == 26
    assert words_find(both, "sample 103")[0] == "2401.00103"
    less = landscape.build([one], folder, **quick)
    assert less.stages["search"].details["indexed"] == 0
    assert len(WordIndex(folder / "lexical")) == 20
    assert "2401.00103" not in words_find(less, "sample 103")


def test_the_updated_index_ranks_as_a_new_one(
    tmp_path: Path, papers_file: Callable[..., Path], quick: dict[str, Any]
) -> None:
    one = papers_file(tmp_path / "one.jsonl", range(20))
    two = papers_file(tmp_path / "two.jsonl", range(100, 106))
    landscape.build(one, tmp_path / "grown.atlas", **quick)
    grown = landscape.build([one, two], tmp_path / "grown.atlas", **quick)
    fresh = landscape.build([one, two], tmp_path / "fresh.atlas", **quick)
    for query in ("weak lensing", "hot Jupiters with archival data", "sample 7"):
        assert words_find(grown, query) == words_find(fresh, query)


@pytest.mark.parametrize("damage", ["papers.npy", "meta.json"])
def test_a_damaged_word_index_is_made_anew(
    atlas_copy: Path, few_papers: Path, quick: dict[str, Any], damage: str
) -> None:
    (atlas_copy / "lexical" / damage).write_bytes(b"nonsense")
    (atlas_copy / "cutoffs.parquet").unlink()  # so that the stage runs
    atlas = landscape.build(few_papers, atlas_copy, **quick)
    assert len(words_find(atlas, "galaxies")) == 3


def test_many_vectors_get_an_approximate_index_whose_recall_is_told(
    tmp_path: Path,
    papers_file: Callable[..., Path],
    quick: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    papers = papers_file(tmp_path / "one.jsonl", range(120))
    exact = landscape.build(papers, tmp_path / "exact.atlas", **quick)
    monkeypatch.setattr(neighbours, "MAX_EXACT", 1000)
    rough = landscape.build(papers, tmp_path / "rough.atlas", **quick)
    assert (rough.path / "index.faiss").is_file()
    assert rough.stages["search"].details["recall_at_100"] >= 0.99
    assert "of the true 100 nearest" in describe(rough)
    found = []
    for atlas in (exact, rough):
        results = atlas.search("hot Jupiters", k=10, method="semantic", rerank=False)
        found.append([paper.paper_id for paper in results.papers])
    assert np.mean([paper in found[0] for paper in found[1]]) >= 0.9
    chosen = rough.search("hot Jupiters", k=10, method="semantic", filter="2023..2023")
    assert len(chosen) == min(10, chosen.coverage.n_searched) > 0


def test_an_update_adds_its_vectors_to_the_approximate_index(
    tmp_path: Path,
    papers_file: Callable[..., Path],
    quick: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(neighbours, "MAX_EXACT", 1000)
    folder = tmp_path / "a.atlas"
    built = landscape.build(papers_file(tmp_path / "0.jsonl", range(160)), folder, **quick)
    cells = [built.stages["search"].details["n_cells"]]
    for number in range(1, 6):
        new = papers_file(tmp_path / f"{number}.jsonl", range(120 + 40 * number, 160 + 40 * number))
        grown = landscape.update(folder, new)
        details = grown.stages["search"].details
        cells.append(details["n_cells"])
        assert details["recall_at_100"] >= 0.99
        for row in (0, 159, len(grown) - 1):
            paper = grown.read_papers(["paper_id"], rows=[row])["paper_id"].iloc[0]
            assert paper not in [hit.paper_id for hit in grown.similar(paper, k=3).papers]
    assert cells[1] == cells[0], "the cells of a small update are kept"
    assert cells[-1] > cells[0], "an index that has grown is trained again"


def test_a_forged_list_of_segments_is_made_anew(
    atlas_copy: Path, few_papers: Path, quick: dict[str, Any]
) -> None:
    for name in ("/etc/passwd", "../../x", 7):
        listed = {"segments": [{"segment_id": name, "max_doc": 28}]}
        path = atlas_copy / "lexical" / "meta.json"
        path.unlink()  # the file may be linked elsewhere
        path.write_text(json.dumps(listed))
        (atlas_copy / "cutoffs.parquet").unlink()  # so that the stage runs
        atlas = landscape.build(few_papers, atlas_copy, **quick)
        assert len(words_find(atlas, "galaxies")) == 3


def test_segments_do_not_change_the_scores(
    tmp_path: Path, few_papers: Path, quick: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for size in (1000, 6):
        monkeypatch.setattr("landscape.pipeline._text_stages._SEGMENT", size)
        atlas = landscape.build(few_papers, tmp_path / f"{size}.atlas", **quick)
        results = atlas.search("dwarf galaxies", k=28, method="words", rerank=False)
        found.append({hit.paper.paper_id: hit.score for hit in results.hits})
    assert found[0] == pytest.approx(found[1])
    assert len(list((atlas.path / "lexical").glob("*.idx"))) == 5
