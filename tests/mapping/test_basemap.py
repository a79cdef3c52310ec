"""Basemaps: export, import, builds and updates on them, comparisons and invalid files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import landscape as ls
from landscape.cli import main
from landscape.errors import InputError
from landscape.mapping import Basemap, export_basemap, read_basemap
from tests.conftest import build_demo_atlas


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> ls.Atlas:
    return build_demo_atlas(tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def file(whole: ls.Atlas, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The basemap of the demo atlas."""
    path = tmp_path_factory.mktemp("basemap") / "demo.basemap"
    whole.export_basemap(path)
    return path


def _write_papers(whole: ls.Atlas, rows: range, path: Path) -> Path:
    """Write some papers of the atlas with other identifiers and slightly other abstracts."""
    papers = whole.papers.iloc[list(rows)]
    with path.open("w", encoding="utf-8") as out:
        for paper in papers.itertuples():
            record = {
                "title": paper.title,
                "abstract": f"{paper.abstract} We thank the observers.",
                "authors": list(paper.authors),
                "date": str(paper.date)[:10],
                "bibcode": f"2026Test...{paper.Index:03d}....1A",
            }
            out.write(json.dumps(record) + "\n")
    return path


@pytest.fixture(scope="module")
def groups(
    whole: ls.Atlas, file: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[ls.Atlas, ls.Atlas]:
    """Two atlases on one basemap: papers of three themes, and all other papers."""
    folder = tmp_path_factory.mktemp("groups")
    order = np.argsort(whole.map["x"].to_numpy(), kind="stable").tolist()
    built = []
    for name, rows in (("west", order[:60]), ("east", order[-60:])):
        papers = _write_papers(whole, rows, folder / f"{name}.jsonl")
        built.append(ls.build(papers, folder / f"{name}.atlas", on=file))
    return built[0], built[1]


def test_a_basemap_has_the_places_the_regions_and_the_model(whole: ls.Atlas, file: Path) -> None:
    basemap = read_basemap(file)
    assert basemap.model["checksum"] == whole.stages["embeddings"].model["checksum"]
    assert basemap.n_papers == 400
    np.testing.assert_array_equal(basemap.coordinates, whole.map[["x", "y"]].to_numpy("float32"))
    similar = np.einsum("ij,ij->i", basemap.vectors, whole.vectors())
    assert similar.min() > 0.9995  # 8-bit integers
    pd.testing.assert_frame_equal(
        basemap.topics[["topic_id", "label", "parent_id", "level"]],
        whole.topics[["topic_id", "label", "parent_id", "level"]],
        check_dtype=False,
    )
    assert file.stat().st_size < 400 * 384 * 1.5


def test_the_quality_of_placement_is_that_of_papers_placed_again(file: Path) -> None:
    quality = read_basemap(file).quality
    assert quality["papers"] == 40
    assert quality["own_region"] > 0.7
    assert 0.3 < quality["neighbours_kept"] <= 1


def test_papers_are_placed_near_their_places_on_the_map(
    whole: ls.Atlas, groups: tuple[ls.Atlas, ls.Atlas]
) -> None:
    west, east = groups
    assert west.map["x"].median() < whole.map["x"].quantile(0.25)
    assert east.map["x"].median() > whole.map["x"].quantile(0.75)
    for atlas in groups:
        true = whole.papers.reset_index().set_index("title")["index"][atlas.papers["title"]]
        moved = atlas.map[["x", "y"]].to_numpy() - whole.map[["x", "y"]].to_numpy()[true.to_numpy()]
        width = np.ptp(whole.map["x"])
        assert np.median(np.hypot(*moved.T)) < 0.05 * width
        same = atlas.map["topic_id"].to_numpy() == whole.map["topic_id"].to_numpy()[true.to_numpy()]
        assert same.mean() > 0.8


def test_regions_have_the_numbers_and_names_of_the_basemap(
    whole: ls.Atlas, groups: tuple[ls.Atlas, ls.Atlas]
) -> None:
    names = whole.topics.set_index("topic_id")["label"]
    for atlas in groups:
        topics = atlas.topics
        assert (topics["label"].to_numpy() == names[topics["topic_id"]].to_numpy()).all()
        sizes = atlas.map["topic_id"].value_counts()
        regions = topics[topics["level"] == 1].set_index("topic_id")
        assert regions["n_papers"].to_dict() == sizes[sizes.index >= 0].to_dict()
        ids = set(atlas.papers["paper_id"])
        assert all(len(rows) and set(rows) <= ids for rows in topics["exemplars"])
        assert atlas.stages["projection"].details["basemap"] == whole.title


def test_an_update_stays_on_the_basemap_and_moves_nothing(
    whole: ls.Atlas, groups: tuple[ls.Atlas, ls.Atlas], tmp_path: Path
) -> None:
    import shutil

    folder = tmp_path / "grown.atlas"
    shutil.copytree(groups[0].path, folder)
    before = ls.open(folder).map.set_index("paper_id")[["x", "y"]]
    order = np.argsort(whole.map["x"].to_numpy(), kind="stable").tolist()
    new = _write_papers(whole, order[200:220], tmp_path / "new.jsonl")
    said: list[str] = []
    grown = ls.update(folder, new, say=said.append)
    after = grown.map.set_index("paper_id")[["x", "y"]]
    assert len(after) == len(before) + 20
    pd.testing.assert_frame_equal(after.loc[before.index], before)
    assert grown.stages["projection"].parameters["layout"] == "basemap"
    assert any(line.startswith("20 papers placed on the basemap") for line in said)


def test_import_places_an_atlas_that_is_finished(
    whole: ls.Atlas, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    papers = _write_papers(whole, range(50), tmp_path / "mine.jsonl")
    mine = ls.build(papers, tmp_path / "mine.atlas", seed=1)
    vectors = mine.vectors().copy()
    assert main(["basemap", "import", str(file), str(mine.path)]) == 0
    placed = ls.open(mine.path)
    assert placed.stages["projection"].parameters["layout"] == "basemap"
    np.testing.assert_array_equal(placed.vectors(), vectors)
    assert main(["info", str(mine.path)]) == 0
    assert f"basemap    {whole.title}" in capsys.readouterr().out


def test_two_atlases_on_one_basemap_are_compared(groups: tuple[ls.Atlas, ls.Atlas]) -> None:
    west, east = groups
    found = ls.overlays.trends.compare(west, "", east)
    table = found.table
    assert table["a_papers"].sum() == (west.map["topic_id"] >= 0).sum()
    assert table["b_papers"].sum() == (east.map["topic_id"] >= 0).sum()
    assert {"a", "b"} <= set(table["over_in"])
    assert found.tables["selections"]["name"].tolist() == ["west", "east"]
    drawn = ls.figures.compare(west, "", str(east.path))
    dots = drawn.findobj(lambda one: one.get_gid() == "papers")
    assert [len(one.get_xdata()) for one in dots] == [60, 60]
    assert "Dots are papers" in drawn.alt_text


def test_papers_of_both_atlases_are_left_out(
    whole: ls.Atlas, groups: tuple[ls.Atlas, ls.Atlas], file: Path, tmp_path: Path
) -> None:
    order = np.argsort(whole.map["x"].to_numpy(), kind="stable").tolist()
    papers = _write_papers(whole, order[50:100], tmp_path / "more.jsonl")
    more = ls.build(papers, tmp_path / "more.atlas", on=file)
    found = ls.overlays.trends.compare(groups[0], "", more)
    assert found.tables["selections"]["compared"].tolist() == [50, 40]
    assert "10 papers in both atlases are excluded." in found.warnings


def test_atlases_with_other_regions_are_not_compared(
    whole: ls.Atlas, groups: tuple[ls.Atlas, ls.Atlas], tmp_path: Path
) -> None:
    papers = _write_papers(whole, range(60), tmp_path / "own.jsonl")
    own = ls.build(papers, tmp_path / "own.atlas", seed=1)
    with pytest.raises(InputError, match=r"has other regions than .* build both on one basemap"):
        ls.overlays.trends.compare(groups[0], "", own)
    ls.overlays.trends.compare(groups[0], "", whole)  # the atlas of the basemap has its regions


def test_papers_of_another_model_are_refused_before_they_are_embedded(
    whole: ls.Atlas, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = read_basemap(file)
    renamed = Basemap(**{**vars(other), "model": {**other.model, "model": "text-embedding-3"}})
    monkeypatch.setattr("landscape.mapping.basemap.read_basemap", lambda _: renamed)
    papers = _write_papers(whole, range(20), tmp_path / "mine.jsonl")
    monkeypatch.setattr("landscape.mapping.read_basemap", lambda _: renamed)
    with pytest.raises(
        InputError, match=r"embedded with all-MiniLM-L6-v2.* needs text-embedding-3"
    ):
        ls.build(papers, tmp_path / "mine.atlas", on=file)
    assert not list((tmp_path / "mine.atlas").rglob("*.npy"))


def test_vectors_of_another_model_are_refused(whole: ls.Atlas, file: Path, tmp_path: Path) -> None:
    papers = _write_papers(whole, range(20), tmp_path / "mine.jsonl")
    np.save(tmp_path / "vectors.npy", np.eye(20, 384, dtype="float32"))
    with pytest.raises(InputError, match=r"are embedded with my-model .* needs all-MiniLM-L6-v2"):
        ls.build(
            papers,
            tmp_path / "mine.atlas",
            on=file,
            embedder=f"ready:{tmp_path / 'vectors.npy'}@my-model",
        )


def topic(description: dict[str, Any], name: str, place: int = 0) -> Any:
    """Return a value of one region of a basemap."""
    topics = description["topics"]
    return topics["data"][place][topics["columns"].index(name)]


def set_topic(description: dict[str, Any], name: str, value: object) -> None:
    """Change a value of the first region of a basemap."""
    topics = description["topics"]
    topics["data"][0][topics["columns"].index(name)] = value


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format=2), "it has format 2, this version reads 1"),
        (lambda d: d.pop("topics"), "topics"),
        (lambda d: d["model"].update(dimension=12), "its vectors have 384 dimensions, not 12"),
        (lambda d: d["topics"]["data"].clear(), "a paper has a region that is not listed"),
        (lambda d: d.update(papers=float("inf")), "infinity"),
        (lambda d: d.update(quality=[]), "items"),
        (lambda d: d.update(min_dist=float("nan")), "min_dist is nan, not between 0 and 1"),
        (lambda d: set_topic(d, "x", None), "the place of a region is not finite"),
        (lambda d: set_topic(d, "level", 9), "a region has level 9"),
        (lambda d: set_topic(d, "parent_id", topic(d, "topic_id")), "a parent that is not above"),
        (lambda d: set_topic(d, "topic_id", topic(d, "topic_id", 1)), "twice"),
        (lambda d: set_topic(d, "keywords", "abc"), "keywords of a region are no list"),
        (lambda d: set_topic(d, "label", "a" * 2000), "more than 1000 characters"),
    ],
)
def test_a_damaged_basemap_is_named(
    file: Path, tmp_path: Path, change: object, message: str
) -> None:
    table = pq.read_table(file)
    key = b"landscape.basemap"
    description = json.loads(table.schema.metadata[key])
    change(description)  # type: ignore[operator]
    damaged = tmp_path / "damaged.basemap"
    pq.write_table(table.replace_schema_metadata({key: json.dumps(description)}), damaged)
    with pytest.raises(InputError, match=f"damaged.basemap is not a valid basemap.*{message}"):
        read_basemap(damaged)


def test_other_files_are_refused(file: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.basemap"
    text.write_text("no basemap")
    with pytest.raises(InputError, match=r"text.basemap is not a valid basemap"):
        read_basemap(text)
    pq.write_table(pq.read_table(file).replace_schema_metadata(None), text)
    with pytest.raises(InputError, match="it is another kind of Parquet file"):
        read_basemap(text)
    half = tmp_path / "half.basemap"
    half.write_bytes(file.read_bytes()[:5000])
    with pytest.raises(InputError, match=r"half.basemap is not a valid basemap"):
        read_basemap(half)


def test_exports_that_cannot_be_used_are_refused(
    whole: ls.Atlas, tmp_path: Path, groups: tuple[ls.Atlas, ls.Atlas], file: Path
) -> None:
    with pytest.raises(InputError, match=r"use a name that ends in .basemap"):
        export_basemap(whole, tmp_path / "map.parquet")
    with pytest.raises(InputError, match="has 60 papers; a basemap needs at least 100"):
        export_basemap(groups[0], tmp_path / "small.basemap")
    with pytest.raises(InputError, match="landmarks is 5; choose at least 100"):
        export_basemap(whole, tmp_path / "small.basemap", landmarks=5)
    with pytest.raises(InputError, match="choose one of both"):
        ls.build(file, tmp_path / "x.atlas", on=file, layout="umap")
    assert not list(tmp_path.iterdir())
