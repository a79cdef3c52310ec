"""Untrusted atlases open no files outside the atlas and load no model without consent."""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from landscape.atlas import Atlas, build
from landscape.atlas import open as open_atlas
from landscape.cli import main
from landscape.errors import AtlasError, InputError

# Private modules: a stranger can write any manifest, which no public function does.
from landscape.overlays.thesaurus.concept_model import ConceptModel
from landscape.pipeline.commit import write_manifest
from landscape.store.info import verify
from landscape.store.manifest import manifest_bytes, read_manifest
from tests.store.forging import forge

EVIL_MODULE = """
from pathlib import Path
from torch import nn
Path({mark!r}).write_text("it ran")
class Evil(nn.Module):
    pass
"""


def forge_model(folder: Path, **model: Any) -> None:
    manifest = read_manifest(folder)
    record = manifest.stages["embeddings"]
    stages = manifest.stages | {
        "embeddings": dataclasses.replace(record, model=(record.model or {}) | model)
    }
    write_manifest(folder, dataclasses.replace(manifest, stages=stages))


def test_a_forged_list_of_the_word_index_deletes_no_file(
    atlas_copy: Path,
    few_papers: Path,
    papers_file: Callable[..., Path],
    tmp_path: Path,
    quick: dict[str, Any],
) -> None:
    victims = [tmp_path / "thesis.tex", atlas_copy / "notes.txt", tmp_path / "other" / "a.idx"]
    for victim in victims:
        victim.parent.mkdir(exist_ok=True)
        victim.write_text("years of work")
    listed = json.loads((atlas_copy / "lexical" / ".managed.json").read_bytes())
    listed += [str(victims[0]), "../notes.txt", "../../other/a.idx"]
    forge(atlas_copy, "lexical/.managed.json", json.dumps(listed).encode())
    assert verify(atlas_copy) == []
    more = papers_file(tmp_path / "more.jsonl", range(100, 104))
    atlas = build([few_papers, more], atlas_copy, **quick)
    assert [victim.read_text() for victim in victims] == ["years of work"] * 3
    managed = json.loads((atlas_copy / "lexical" / ".managed.json").read_bytes())
    assert all((atlas_copy / "lexical" / name).is_file() and "/" not in name for name in managed)
    assert len(atlas.search("galaxies", k=40, method="words", rerank=False).hits) > 0


def test_a_changed_file_of_the_word_index_is_not_linked(
    atlas_copy: Path,
    few_papers: Path,
    papers_file: Callable[..., Path],
    tmp_path: Path,
    quick: dict[str, Any],
) -> None:
    store = next((atlas_copy / "lexical").glob("*.store"))
    content = bytearray(store.read_bytes())
    content[len(content) // 2] ^= 255
    store.unlink()  # the file may be linked elsewhere
    store.write_bytes(content)
    (atlas_copy / "lexical" / "secret.idx").write_text("not of this index")
    more = papers_file(tmp_path / "more.jsonl", range(100, 102))
    atlas = build([few_papers, more], atlas_copy, **quick)
    assert atlas.stages["search"].details["indexed"] == len(atlas)  # the index was rebuilt
    assert not (atlas_copy / "lexical" / "secret.idx").exists()
    assert verify(atlas_copy) == []


@pytest.fixture
def evil_model(tmp_path: Path) -> tuple[Path, Path]:
    """A sentence-transformers model that runs code, and the file that this code writes."""
    folder, mark = tmp_path / "model", tmp_path / "it-ran"
    folder.mkdir()
    (folder / "evil.py").write_text(EVIL_MODULE.format(mark=str(mark)))
    modules = [{"idx": 0, "name": "0", "path": "", "type": "evil.Evil"}]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "config.json").write_text('{"model_type": "bert"}')
    return folder, mark


@pytest.mark.parametrize("trust", [False, True])
def test_a_model_of_a_manifest_never_runs_code(
    atlas_copy: Path, evil_model: tuple[Path, Path], trust: bool
) -> None:
    folder, mark = evil_model
    forge_model(atlas_copy, name="st", model=str(folder), checksum=None)
    atlas = open_atlas(atlas_copy, trust_model=trust)
    found = atlas.search("galaxies", k=3)
    notes = " ".join(found.coverage.notes)
    assert "words alone" in notes
    assert ("trust" in notes) is not trust
    assert not mark.exists()


def test_a_model_is_loaded_after_consent(
    atlas_copy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded: list[str] = []

    def load(spec: str, **_: Any) -> Any:
        loaded.append(spec)
        raise InputError(f"There is no model {spec}.")

    monkeypatch.setattr("landscape.embeddings.embedder.load_embedder", load)
    forge_model(atlas_copy, name="st", model="somebody/model")
    words = ["search", str(atlas_copy), "galaxies", "-k", "2"]
    assert main(words) == 0
    assert "--trust-model" in capsys.readouterr().err
    assert loaded == []
    assert main([*words, "--trust-model"]) == 0
    assert loaded == ["st:somebody/model"]
    assert isinstance(open_atlas(atlas_copy), Atlas)


def test_links_out_of_an_atlas_are_not_followed(atlas_copy: Path, tmp_path: Path) -> None:
    outside = tmp_path / "created"
    (atlas_copy / "lexical" / ".tantivy-meta.lock").unlink(missing_ok=True)
    (atlas_copy / "lexical" / ".tantivy-meta.lock").symlink_to(outside)
    with pytest.raises(AtlasError, match="is a symbolic link"):
        open_atlas(atlas_copy)
    assert not outside.exists()


def test_the_first_line_of_another_file_is_not_shown(atlas_copy: Path, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("s3cr3t")
    (atlas_copy / "labels.csv").symlink_to(tmp_path / "key")
    with pytest.raises(AtlasError, match="needs the columns") as error:
        open_atlas(atlas_copy).topics  # noqa: B018 - reads the labels
    assert "s3cr3t" not in str(error.value)


def test_control_characters_of_an_atlas_do_not_reach_the_terminal(
    atlas_copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = read_manifest(atlas_copy)
    title = "\x1b]0;pwn\x07\x1b[2J\u202eT"
    write_manifest(atlas_copy, dataclasses.replace(manifest, title=title))
    for words in (["info", str(atlas_copy)], ["search", str(atlas_copy), "galaxies"]):
        assert main(words) == 0
        output = "".join(capsys.readouterr())
        assert "pwn" in output
        assert not set("\x1b\x07\u202e") & set(output)


def test_topics_and_quality_of_a_forged_atlas_have_the_columns_and_numbers_that_are_read(
    atlas_copy: Path,
) -> None:
    atlas = open_atlas(atlas_copy)
    lists = {name: [1] for name in atlas.quality}
    topics = io.BytesIO()
    atlas.topics.drop(columns="level").to_parquet(topics)
    forge(atlas_copy, "quality.json", json.dumps(lists).encode())
    with pytest.raises(AtlasError, match="is not a number"):
        _ = open_atlas(atlas_copy).quality
    forge(atlas_copy, "topics.parquet", topics.getvalue())
    with pytest.raises(AtlasError, match="has no column 'level'"):
        _ = open_atlas(atlas_copy).topics


def as_parquet(table: pd.DataFrame) -> bytes:
    stream = io.BytesIO()
    table.to_parquet(stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("column", "value", "problem"),
    [
        ("topic_id", 2_000_000_000, "a region has the number 2000000000"),
        ("topic_id", -7, "a region has the number -7"),
        ("label", None, "a region has no label"),
        ("n_papers", None, "a region has no n_papers"),
    ],
)
def test_numbers_and_names_of_regions(
    atlas_copy: Path, column: str, value: Any, problem: str
) -> None:
    topics = open_atlas(atlas_copy).topics
    values = [value, *topics[column].tolist()[1:]]
    forge(atlas_copy, "topics.parquet", as_parquet(topics.assign(**{column: values})))
    for use in (lambda: open_atlas(atlas_copy).topics, lambda: open_atlas(atlas_copy).region_names):
        with pytest.raises(AtlasError, match=problem):
            use()


def test_the_map_has_one_row_for_each_paper_and_known_regions(atlas_copy: Path) -> None:
    place = open_atlas(atlas_copy).map
    name = f"map.parquet/{open_atlas(atlas_copy).parts[0].name}.parquet"
    unknown = place.assign(topic_id=2_000_000_000)
    for table, problem in ((place[:-1], "rows for"), (unknown, "unknown region 2000000000")):
        forge(atlas_copy, name, as_parquet(table))
        for use in (
            lambda: open_atlas(atlas_copy).map,
            lambda: open_atlas(atlas_copy).regions_of_papers,
        ):
            with pytest.raises(AtlasError, match=problem):
                use()


@pytest.mark.parametrize("field", ["updated", "package_version"])
def test_the_time_and_the_version_of_a_manifest_have_their_form(
    atlas_copy: Path, field: str
) -> None:
    forged = dataclasses.replace(
        read_manifest(atlas_copy), **{field: "2026},\n  note = {\\input{/etc/passwd}"}
    )
    (atlas_copy / "manifest.json").write_bytes(manifest_bytes(forged))
    with pytest.raises(AtlasError, match=f"{field} has the invalid value"):
        open_atlas(atlas_copy)


def test_a_long_file_of_labels_is_refused(atlas_copy: Path) -> None:
    labels = atlas_copy / "labels.csv"
    labels.write_text("topic_id,label\n" + "".join(f"{k},a\n" for k in range(900_000)))
    with pytest.raises(AtlasError, match=r"labels\.csv has .* MB, at most 4 MB are read"):
        _ = open_atlas(atlas_copy).topics
    labels.write_text("topic_id,label\n" + "".join(f"{k},a\n" for k in range(10**9, 10**9 + 100)))
    problems = open_atlas(atlas_copy).label_problems
    assert len(problems) == 21
    assert "80 other topics" in problems[-1]


def test_a_compressed_model_of_concepts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "concepts.npz"
    np.savez_compressed(path, rarity=np.zeros(10_000_000))
    with pytest.raises(AtlasError, match=r"concepts\.npz cannot be read \(it is compressed"):
        ConceptModel.read(path)
    np.savez(path, rarity=np.zeros(3))
    with pytest.raises(AtlasError, match="has no array 'frequency'"):
        ConceptModel.read(path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(AtlasError, match="cannot be read"):
        ConceptModel.read(path)
