"""Builds: consistent counts, only the stages needed, and no lost or duplicated papers."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from landscape.atlas import Atlas, build
from landscape.errors import AtlasError, InputError
from landscape.store.manifest import read_manifest
from tests.timing import assert_cost

MAP = ["ingest", "keywords", "embeddings", "projection", "topics", "quality", "search"]
LAYERS = ["uat", "missions", "objects", "reviews", "citations"]
ALL = [*MAP, *LAYERS]


@pytest.fixture
def again(
    atlas_copy: Path,
    few_papers: Path,
    quick: dict[str, Any],
    stages_run: Callable[[list[str]], list[str]],
) -> Callable[..., tuple[Atlas, list[str]]]:
    """Build the copy again with changes; return the atlas and the stages that ran."""

    def run(*inputs: Path, **changes: Any) -> tuple[Atlas, list[str]]:
        lines: list[str] = []
        atlas = build(inputs or few_papers, atlas_copy, say=lines.append, **{**quick, **changes})
        return atlas, stages_run(lines)

    return run


def test_every_row_stands_in_every_table_in_the_same_order(finished: Atlas) -> None:
    assert len(finished) == 28
    assert finished.papers["paper_id"].tolist() == finished.map["paper_id"].tolist()
    assert finished.papers["paper_id"].is_unique
    vectors = finished.vectors()
    assert vectors.shape == (28, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
    assert finished.papers["keywords"].map(len).min() >= 1
    assert set(finished.map["topic_id"]) <= {-1, *finished.topics["topic_id"]}
    assert finished.quality["n_papers"] == 28


def test_pandas_reads_the_folders_of_parts_without_this_package(finished: Atlas) -> None:
    papers = pd.read_parquet(finished.path / "papers.parquet")
    assert papers["paper_id"].tolist() == finished.papers["paper_id"].tolist()
    assert len(pd.read_parquet(finished.path / "map.parquet")) == 28


def test_the_manifest_accounts_for_every_stage(finished: Atlas) -> None:
    assert list(finished.stages) == ALL
    for record in finished.stages.values():
        assert record.seconds > 0
        assert record.peak_memory_mb > 10
        assert all((finished.path / name).is_file() for name in record.outputs)
    model = finished.stages["embeddings"].model
    assert model is not None
    assert model["dimension"] == 384
    assert len(model["checksum"]) == 64
    assert finished.stages["keywords"].model == {"name": "landscape-rules-2"}
    assert not (finished.path / ".work").exists()
    assert not (finished.path / ".lock").exists()


def test_counts_add_up(tmp_path: Path, papers_file: Callable[..., Path], quick: Any) -> None:
    source = papers_file(tmp_path / "papers.jsonl", [*range(20), 3, 4])  # two of them twice
    with source.open("a", encoding="utf-8") as stream:
        stream.write("not json\n")
        stream.write(json.dumps({"title": "No abstract here", "date": "2020-01-01"}) + "\n")
    lines: list[str] = []
    atlas = build(source, tmp_path / "a.atlas", say=lines.append, **quick)
    assert lines[0].startswith("read 24 = kept 20 + merged 2 + rejected 2")
    found = atlas.coverage
    assert found["read"] == found["papers"] + found["merged"] + found["rejected"] == 24
    rejected = [
        json.loads(line)
        for line in (atlas.path / "rejected.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [entry["line"] for entry in rejected] == [23, 24]
    assert all(entry["reason"] and entry["file"] for entry in rejected)


def test_a_file_whose_papers_are_all_rejected_is_an_empty_part(
    tmp_path: Path, papers_file: Callable[..., Path], quick: Any
) -> None:
    source = papers_file(tmp_path / "papers.jsonl", range(20))
    empty = tmp_path / "titles.jsonl"
    empty.write_text(json.dumps({"title": "No abstract", "date": "2020-01-01"}) + "\n", "utf-8")
    atlas = build([source, empty], tmp_path / "a.atlas", **quick)
    assert [part.rows for part in atlas.parts] == [20, 0]
    assert len(atlas.map) == len(atlas.vectors()) == 20


def test_with_nothing_changed_no_stage_runs_and_no_byte_changes(
    again: Callable[..., tuple[Atlas, list[str]]],
    atlas_copy: Path,
    few_papers: Path,
    quick: dict[str, Any],
    tmp_path: Path,
) -> None:
    before = {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in _files(atlas_copy)}
    assert again()[1] == []
    new = (tmp_path / f"new-{number}.atlas" for number in itertools.count())
    assert_cost(again, lambda: build(few_papers, next(new), **quick), most=0.25, repeats=1)
    assert {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in _files(atlas_copy)} == before


def test_a_touched_input_is_recognised_by_its_content(
    again: Callable[..., tuple[Atlas, list[str]]], few_papers: Path
) -> None:
    os.utime(few_papers, ns=(1, time.time_ns()))
    assert again()[1] == []
    assert again()[0].parts[0].modified == few_papers.stat().st_mtime_ns


@pytest.mark.parametrize(
    ("change", "ran"),
    [
        ({"keywords_limit": 5}, ["keywords", "topics", "quality", "search"]),
        ({"keywords": "pytextrank"}, ["keywords", "topics", "quality", "search"]),
        ({"topics_method": "hdbscan"}, ["topics", "quality"]),
        ({"layout": "keep"}, ["projection", "topics", "quality"]),
        ({"workers": 2}, []),
        ({"title": "Another name"}, []),
    ],
)
def test_a_changed_option_runs_only_what_depends_on_it(
    again: Callable[..., tuple[Atlas, list[str]]], change: dict[str, Any], ran: list[str]
) -> None:
    atlas, stages = again(**change)
    # Quality need not be measured again where the topics came out the same.
    assert [s for s in stages if s != "quality"] == [s for s in ran if s != "quality"]
    assert again(**change)[1] == []
    assert len(atlas) == 28
    if "title" in change:
        assert atlas.title == "Another name"


def test_quality_is_measured_with_the_options_of_the_build(
    again: Callable[..., tuple[Atlas, list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: dict[str, Any] = {}

    def remember(*_: Any, **options: Any) -> dict[str, float]:
        told.update(options)
        return {}

    monkeypatch.setattr("landscape.mapping.measure_quality", remember)
    again(layout="keep", topics_method="hdbscan", n_neighbors=7, min_dist=0.3)
    wanted = {"layout": "keep", "topics_method": "hdbscan", "n_neighbors": 7, "min_dist": 0.3}
    assert wanted.items() <= told.items()


def test_the_build_says_how_many_names_a_language_model_failed_to_polish(
    atlas_copy: Path, few_papers: Path, quick: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Boasting:
        model = "boasting"

        def complete_json(self, _system: str, user: str, _schema: Any) -> dict[str, Any]:
            ids = [region["id"] for region in json.loads(user)]
            return {"names": [{"id": number, "name": f"Unheard-of {number}"} for number in ids]}

    monkeypatch.setattr("landscape.llm.connect", Boasting)
    lines: list[str] = []
    atlas = build(few_papers, atlas_copy, polish=True, say=lines.append, **quick)
    n = len(atlas.topics)
    assert (
        f"{n} of {n} names of topics were not changed: "
        f"the proposal has words that the topic does not have ({n})."
    ) in lines
    assert set(atlas.topics["label_source"]) == {"keywords"}


def test_fewer_keywords_are_the_first_of_the_many(
    again: Callable[..., tuple[Atlas, list[str]]], finished: Atlas
) -> None:
    few = again(keywords_limit=2)[0].papers["keywords"]
    assert [list(words) for words in few] == [list(w[:2]) for w in finished.papers["keywords"]]


def test_adding_a_source_leaves_the_work_on_the_others_alone(
    again: Callable[..., tuple[Atlas, list[str]]],
    finished: Atlas,
    few_papers: Path,
    papers_file: Callable[..., Path],
    tmp_path: Path,
) -> None:
    more = papers_file(tmp_path / "more.jsonl", range(28, 43))
    atlas, ran = again(few_papers, more)
    assert ran == ALL
    assert len(atlas) == 43
    assert [part.rows for part in atlas.parts] == [28, 15]
    for stage in ("keywords", "embeddings"):
        assert atlas.stages[stage].details["reused"] == 28
    assert np.array_equal(atlas.vector_parts()[0], finished.vectors())
    both = atlas.vectors()
    assert both.shape == (43, 384)

    smaller, _ = again(more)  # the list of inputs is what the atlas holds
    assert len(smaller) == 15
    assert smaller.stages["embeddings"].details["reused"] == 15
    assert np.array_equal(smaller.vectors(), both[28:])
    assert {p.name for p in (smaller.path / "embeddings").iterdir()} == {"more.npy"}
    assert set(smaller.papers["paper_id"]) == set(smaller.map["paper_id"])


def test_known_keywords_are_read_once_however_many_parts_there_are(
    papers_file: Callable[..., Path],
    tmp_path: Path,
    quick: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sources = [papers_file(tmp_path / f"{i}.jsonl", range(8 * i, 8 * i + 8)) for i in range(3)]
    before = build(sources, tmp_path / "a.atlas", **quick).papers["keywords"]
    papers_file(sources[1], [*range(8, 12), 90, *range(12, 16)])
    read, reads = pq.read_table, []

    def counted(path: Path, **options: Any) -> Any:
        if options.get("columns") == ["keywords"] and ".next" not in path.parts:
            reads.append(path.name)
        return read(path, **options)

    monkeypatch.setattr(pq, "read_table", counted)
    after = build(sources, tmp_path / "a.atlas", **quick).papers["keywords"]
    assert sorted(reads) == ["0.parquet", "1.parquet", "2.parquet"]
    assert [list(words) for words in after.drop(index=12)] == [list(words) for words in before]


def test_a_changed_record_is_the_only_one_worked_on_again(
    again: Callable[..., tuple[Atlas, list[str]]], papers_file: Callable[..., Path], tmp_path: Path
) -> None:
    source = papers_file(tmp_path / "few.jsonl", range(28))
    lines = source.read_text(encoding="utf-8").splitlines()
    changed = json.loads(lines[7]) | {"abstract": "We report comets near Alpha Centauri instead."}
    source.write_text("\n".join([*lines[:7], json.dumps(changed), *lines[8:]]), encoding="utf-8")
    atlas, _ = again(source)
    assert atlas.stages["embeddings"].details["reused"] == 27
    assert "comets" in " ".join(atlas.papers["keywords"][7])


def test_a_change_that_is_not_in_the_text_does_not_move_the_map(
    again: Callable[..., tuple[Atlas, list[str]]], papers_file: Callable[..., Path], tmp_path: Path
) -> None:
    source = papers_file(tmp_path / "few.jsonl", range(28), journal="Another Journal")
    atlas, ran = again(source)
    assert ran == ["ingest", "keywords", "search", *LAYERS]
    assert set(atlas.papers["journal"]) == {"Another Journal"}
    assert atlas.papers["keywords"].map(len).min() >= 1


def test_keep_places_new_papers_and_moves_no_old_one(
    again: Callable[..., tuple[Atlas, list[str]]],
    finished: Atlas,
    papers_file: Callable[..., Path],
    tmp_path: Path,
) -> None:
    source = papers_file(tmp_path / "few.jsonl", range(5, 38))
    atlas, _ = again(source, layout="keep")
    assert atlas.stages["projection"].details == {"placed": 10}
    both = finished.map.merge(atlas.map, on="paper_id", suffixes=("_old", "_new"))
    assert len(both) == 23
    assert np.array_equal(both[["x_old", "y_old"]], both[["x_new", "y_new"]])
    assert np.isfinite(atlas.map[["x", "y"]].to_numpy()).all()


def test_a_lost_file_is_made_anew(
    again: Callable[..., tuple[Atlas, list[str]]], atlas_copy: Path, finished: Atlas
) -> None:
    tables = [name for name in sorted(finished.manifest.files) if not name.startswith("lexical/")]
    for name in [*tables, "lexical/meta.json"]:
        (atlas_copy / name).unlink()
        atlas, ran = again()
        assert ran
        assert (atlas_copy / name).is_file()
    assert atlas.papers["keywords"].map(list).tolist() == (
        finished.papers["keywords"].map(list).tolist()
    )
    assert np.array_equal(atlas.vectors(), finished.vectors())


def test_labels_by_hand_survive_a_rebuild(
    again: Callable[..., tuple[Atlas, list[str]]], atlas_copy: Path, finished: Atlas
) -> None:
    topic = int(finished.topics["topic_id"].iloc[0])
    labels = atlas_copy / "labels.csv"
    labels.write_text(f"topic_id,label\n{topic},My own name\n999999,Nowhere\n", encoding="utf-8")
    atlas, _ = again(keywords_limit=10)
    with pytest.warns(UserWarning, match="topic 999999"):
        topics = atlas.topics
    row = topics[topics["topic_id"] == topic].iloc[0]
    assert (row["label"], row["label_source"]) == ("My own name", "labels.csv")
    assert (topics["label_source"] == "labels.csv").sum() == 1


@pytest.mark.parametrize("n_papers", [1, 2, 10])
def test_a_handful_of_papers_is_an_atlas_too(
    tmp_path: Path, papers_file: Callable[..., Path], quick: Any, n_papers: int
) -> None:
    source = papers_file(tmp_path / "few.jsonl", range(n_papers))
    atlas = build(source, tmp_path / "few.atlas", **{**quick, "layout": None})
    assert len(atlas) == len(atlas.map) == len(atlas.vectors()) == n_papers
    assert np.isfinite(atlas.map[["x", "y"]].to_numpy()).all()


def test_papers_that_are_all_identical_but_for_their_ids_are_an_atlas_too(
    tmp_path: Path, papers_file: Callable[..., Path], quick: Any
) -> None:
    source = papers_file(
        tmp_path / "same.jsonl", range(30), title="The same", abstract="The same abstract again."
    )
    atlas = build(source, tmp_path / "same.atlas", **{**quick, "layout": "umap"})
    assert atlas.coverage["read"] == 30 == len(atlas) + atlas.coverage["merged"]
    assert np.isfinite(atlas.map[["x", "y"]].to_numpy()).all()


def test_a_folder_that_is_not_an_atlas_is_left_alone(
    tmp_path: Path, few_papers: Path, quick: Any
) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(AtlasError, match=r"is not an atlas: it contains 'thesis.tex'"):
        build(few_papers, tmp_path, **quick)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_wrong_input_leaves_no_folder_behind(tmp_path: Path, quick: Any) -> None:
    with pytest.raises(InputError):
        build(tmp_path / "none.jsonl", tmp_path / "new.atlas", **quick)
    assert not (tmp_path / "new.atlas").exists()


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ({"layout": "swirl"}, "Unknown layout 'swirl'; use one of umap, pca"),
        ({"topics_method": "magic"}, "Unknown topics_method 'magic'; use one of density"),
        ({"embedder": "word2vec"}, "word2vec"),
        ({"keywords_limit": 0}, "keywords_limit is 0; choose a whole number of at least 1"),
        ({"tagger": "psychic"}, "psychic"),
        ({"min_dist": -0.1}, "min_dist is -0.1; choose a number from 0 to 1"),
        ({"min_dist": 1.5}, "min_dist is 1.5"),
        ({"min_dist": float("nan")}, "min_dist is nan"),
        ({"min_dist": float("inf")}, "min_dist is inf"),
        ({"seed": -1}, "seed is -1; choose a whole number from 0"),
        ({"seed": 2**32}, "seed is 4294967296; choose a whole number from 0"),
    ],
)
def test_a_wrong_option_is_refused_before_any_work(
    tmp_path: Path, few_papers: Path, quick: Any, option: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        build(few_papers, tmp_path / "new.atlas", **{**quick, **option})
    assert not (tmp_path / "new.atlas").exists()


@pytest.mark.parametrize("name", [".work", ".lock", "papers.parquet", "embeddings/x.npy"])
def test_a_build_changes_nothing_behind_a_link(
    atlas_copy: Path, few_papers: Path, tmp_path: Path, quick: Any, name: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "ingest" / "scan" / "mine").mkdir(parents=True)
    (elsewhere / "thesis.tex").write_text("years of work")
    place = atlas_copy / name
    if place.is_dir():
        shutil.rmtree(place)
    place.symlink_to(elsewhere / "thesis.tex" if name == ".lock" else elsewhere)
    with pytest.raises(AtlasError, match="is a symbolic link"):
        build(few_papers, atlas_copy, **quick)
    assert (elsewhere / "thesis.tex").read_text() == "years of work"
    assert (elsewhere / "ingest" / "scan" / "mine").is_dir()


def test_the_folder_itself_and_labels_may_be_links(
    atlas_copy: Path, few_papers: Path, tmp_path: Path, quick: Any
) -> None:
    (tmp_path / "mine.csv").write_text("topic_id,label\n")
    (atlas_copy / "labels.csv").symlink_to(tmp_path / "mine.csv")
    (tmp_path / "link.atlas").symlink_to(atlas_copy)
    assert len(build(few_papers, tmp_path / "link.atlas", **quick)) == 28


def test_a_source_given_twice_is_refused(few_papers: Path, tmp_path: Path, quick: Any) -> None:
    with pytest.raises(InputError, match="is given twice"):
        build([few_papers, few_papers], tmp_path / "new.atlas", **quick)


def test_an_unfinished_build_says_so(atlas_copy: Path) -> None:
    from landscape.atlas import open as open_atlas
    from landscape.pipeline.commit import write_manifest

    write_manifest(atlas_copy, read_manifest(atlas_copy).without("topics"))
    with pytest.raises(AtlasError, match=r"is not finished \(done so far: ingest, keywords"):
        open_atlas(atlas_copy)


def _files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]
