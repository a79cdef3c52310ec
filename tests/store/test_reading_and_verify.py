from __future__ import annotations

import dataclasses
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from landscape.atlas import Atlas
from landscape.atlas import open as open_atlas
from landscape.errors import AtlasError, InputError
from landscape.pipeline.commit import write_manifest
from landscape.store.info import verify
from tests.store.forging import forge


def test_an_atlas_opens_again_as_it_was_built(finished: Atlas) -> None:
    opened = open_atlas(finished.path)
    assert opened == finished
    assert opened.papers["title"].tolist() == finished.papers["title"].tolist()


def test_coverage_tells_the_bounds_of_the_corpus(finished: Atlas) -> None:
    coverage = finished.coverage
    dates = finished.papers["date"]
    assert coverage["papers"] == 28
    assert coverage["first_date"] == dates.min().date().isoformat()
    assert coverage["last_date"] == dates.max().date().isoformat()
    assert sum(coverage["sources"].values()) == 28
    assert coverage["generated"] is False


def test_only_the_columns_asked_for_are_read(finished: Atlas) -> None:
    assert finished.read_papers(["title", "year"]).columns.tolist() == ["title", "year"]
    with pytest.raises(InputError, match=r"no column 'colour' in papers.parquet; it has: paper_id"):
        finished.read_papers(["colour"])


def test_vectors_of_one_part_are_memory_mapped(finished: Atlas) -> None:
    assert isinstance(finished.vectors(), np.memmap)
    assert not finished.vectors().flags.writeable


def test_repr_is_one_line_and_reads_no_table(finished: Atlas, tmp_path: Path) -> None:
    opened = dataclasses.replace(finished, path=tmp_path)  # no tables there
    assert repr(opened).startswith(f"<Atlas {tmp_path.name!r}: 28 papers")
    assert "\n" not in repr(opened)


def test_html_escapes_what_came_from_outside(finished: Atlas) -> None:
    evil = dataclasses.replace(finished.manifest, title="<script>alert(1)</script>")
    html = Atlas(finished.path, evil)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "28" in html


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (Path.absolute, r"There is no atlas .*; build one with: landscape build FILE --out"),
        (lambda path: path.write_text("x"), "is a file, not an atlas"),
        (lambda path: path.mkdir(), r"is not an atlas: it has no manifest\.json"),
    ],
)
def test_what_is_no_atlas_is_told_apart(
    tmp_path: Path, make: Callable[[Path], object], sentence: str
) -> None:
    make(tmp_path / "x.atlas")
    with pytest.raises(AtlasError, match=sentence):
        open_atlas(tmp_path / "x.atlas")


def test_a_lost_file_is_named(atlas_copy: Path) -> None:
    (atlas_copy / "topics.parquet").unlink()
    with pytest.raises(AtlasError, match=r"has no file topics\.parquet"):
        open_atlas(atlas_copy)


def test_a_damaged_table_is_a_sentence_and_not_a_traceback(atlas_copy: Path) -> None:
    for name in ("papers.parquet/few.parquet", "embeddings/few.npy", "quality.json"):
        forge(atlas_copy, name, b"\x00" * (atlas_copy / name).stat().st_size)
    atlas = open_atlas(atlas_copy)
    with pytest.raises(AtlasError, match="cannot be read"):
        _ = atlas.papers
    with pytest.raises(AtlasError, match="cannot be read"):
        atlas.vectors()
    with pytest.raises(AtlasError, match="cannot be read"):
        _ = atlas.quality


def test_a_changed_byte_in_a_layer_is_a_sentence_and_not_a_traceback(atlas_copy: Path) -> None:
    rng = random.Random(2)  # noqa: S311 - which bytes, no secret
    told = 0
    for name in ("missions", "uat", "reviews", "thesaurus"):
        file = f"{name}.parquet" if name == "thesaurus" else f"{name}.parquet/few.parquet"
        good = (atlas_copy / file).read_bytes()
        for _ in range(40):  # mostly the description of the columns, at the end
            damaged = bytearray(good)
            damaged[-1 - rng.randrange(min(len(good), 2500))] ^= 1 << rng.randrange(8)
            forge(atlas_copy, file, bytes(damaged))
            try:
                getattr(open_atlas(atlas_copy), name)
            except AtlasError:
                told += 1
        forge(atlas_copy, file, (atlas_copy / "topics.parquet").read_bytes())
        with pytest.raises(AtlasError, match="cannot be read"):
            getattr(open_atlas(atlas_copy), name)
        forge(atlas_copy, file, good)
    assert told > 40


def test_a_layer_that_names_papers_beyond_the_last_is_refused(atlas_copy: Path) -> None:
    import pandas as pd

    row = {"paper_id": ["x"], "row": [28], "score": [1.0], "evidence": ["title"]}
    frame = pd.DataFrame(row).astype({"row": "int32", "score": "float32"})
    forge(atlas_copy, "reviews.parquet/few.parquet", frame.to_parquet(index=False))
    with pytest.raises(AtlasError, match="exceeds the 28"):
        _ = open_atlas(atlas_copy).reviews


@pytest.mark.parametrize("name", ["missions", "uat", "reviews", "thesaurus"])
def test_an_atlas_of_before_there_were_layers_says_to_build_again(
    finished: Atlas, name: str
) -> None:
    older = finished.manifest.without("missions", "uat", "reviews")
    with pytest.raises(AtlasError, match=r"earlier version; run the same landscape build again"):
        getattr(Atlas(finished.path, older), name)


def test_an_atlas_that_was_built_again_is_not_read_beside_the_old_one(
    atlas_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = open_atlas(atlas_copy)
    assert len(opened.read_papers(["title"])) == len(opened)
    monkeypatch.setattr("landscape.store.manifest.now", lambda: "2001-01-01T00:00:00Z")
    write_manifest(atlas_copy, opened.manifest)
    for read in (
        lambda: opened.read_papers(["title"]),
        lambda: opened.read_papers(["title"], rows=[0]),
        lambda: opened.map,
        lambda: opened.topics,
        lambda: opened.reviews,
        lambda: opened.read_layer("missions", ["facility"]),
        lambda: opened.thesaurus,
        opened.vectors,
        lambda: opened.engine.papers([0]),
    ):
        with pytest.raises(AtlasError, match=r"rebuilt since it was opened\. Open it again"):
            read()
    shutil.rmtree(atlas_copy)
    with pytest.raises(AtlasError, match="There is no atlas"):
        opened.read_papers(["title"])


def test_a_good_atlas_has_no_problems(finished: Atlas) -> None:
    assert verify(finished.path) == []


def test_one_changed_byte_in_any_file_is_found(finished: Atlas, tmp_path: Path) -> None:
    rng = random.Random(0)  # noqa: S311 - a place in a file, no secret
    files = [path.relative_to(finished.path) for path in finished.path.rglob("*") if path.is_file()]
    assert len(files) >= 6
    for file in files:
        folder = tmp_path / "changed.atlas"
        shutil.copytree(finished.path, folder)
        content = bytearray((folder / file).read_bytes())
        if content:  # rejected.jsonl of a clean corpus is empty
            content[rng.randrange(len(content))] ^= 0x10
        else:
            content.append(10)
        (folder / file).write_bytes(content)
        if file.name == "manifest.json":
            with pytest.raises(AtlasError, match=r"manifest\.json"):
                verify(folder)
        else:
            problems = verify(folder)
            assert len(problems) == 1
            assert str(file) in problems[0]
        shutil.rmtree(folder)


def test_strangers_and_lost_files_are_found(atlas_copy: Path) -> None:
    (atlas_copy / "papers.parquet" / "copy of few.parquet").write_bytes(b"")
    (atlas_copy / "papers.parquet" / ".DS_Store").write_bytes(b"")
    (atlas_copy / "quality.json").unlink()
    problems = verify(atlas_copy)
    assert len(problems) == 2
    assert "quality.json is missing" in problems[0]
    assert "copy of few.parquet does not belong to this atlas" in problems[1]


def test_an_unfinished_build_is_a_problem(atlas_copy: Path, finished: Atlas) -> None:
    write_manifest(atlas_copy, finished.manifest.without("quality"))
    assert "is not finished" in verify(atlas_copy)[0]


@pytest.mark.parametrize(
    "content",
    [b"number,name\n1,x\n", b"topic_id,label\nfirst,x\n", b"topic_id,label\n1,\xff\xfe\n", b""],
)
def test_labels_that_cannot_be_read_are_a_sentence(atlas_copy: Path, content: bytes) -> None:
    (atlas_copy / "labels.csv").write_bytes(content)
    with pytest.raises(AtlasError, match=r"labels\.csv"):
        _ = open_atlas(atlas_copy).topics
    assert any("labels.csv" in problem for problem in verify(atlas_copy))


USES: dict[str, Callable[[Atlas], object]] = {
    "papers": lambda atlas: atlas.papers,
    "some papers": lambda atlas: atlas.read_papers(["title"], rows=[0]),
    "map": lambda atlas: atlas.map,
    "topics": lambda atlas: atlas.topics,
    "missions": lambda atlas: atlas.missions,
    "uat": lambda atlas: atlas.uat,
    "objects": lambda atlas: atlas.objects,
    "values": lambda atlas: atlas.stated_values,
    "reviews": lambda atlas: atlas.reviews,
    "thesaurus": lambda atlas: atlas.thesaurus,
    "quality": lambda atlas: atlas.quality,
    "vectors": lambda atlas: atlas.vectors(),
    "search": lambda atlas: atlas.search("galaxies", k=3),
    "outliers": lambda atlas: atlas.engine.indexes.cutoffs,
    "references": lambda atlas: atlas.citations.references(atlas.papers["paper_id"][0]),
    "citing papers": lambda atlas: atlas.citations.citations(atlas.papers["paper_id"][0]),
    "influence": lambda atlas: atlas.citations.influence,
    "stubs": lambda atlas: atlas.citations.stubs,
    "changes": lambda atlas: atlas.changes,
}


def test_a_flipped_bit_is_found_on_use_and_changes_no_table(
    finished: Atlas, tmp_path: Path
) -> None:
    unread = []
    # Only an update reads the hashed keys and the model of concepts; it checks all files first.
    of_updates = ("keys.parquet/", "concepts.npz")
    names = [name for name in finished.manifest.files if not name.startswith(of_updates)]
    for number, name in enumerate(sorted(names)):
        folder = tmp_path / f"{number}.atlas"
        shutil.copytree(finished.path, folder)
        content = bytearray((folder / name).read_bytes())
        if not content:
            continue
        content[len(content) // 2] ^= 1
        (folder / name).write_bytes(content)
        atlas, messages = open_atlas(folder), []
        for use in USES.values():
            try:
                use(atlas)
            except AtlasError as error:
                messages.append(str(error))
        if not messages:
            unread.append(name)
        assert all(name.rpartition("/")[2] in message for message in messages)
        shutil.rmtree(folder)
    assert unread == []
