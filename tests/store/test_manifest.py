from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from landscape.atlas import open as open_atlas
from landscape.errors import AtlasError
from landscape.pipeline.commit import write_manifest
from landscape.store.manifest import (
    FORMAT_VERSION,
    Manifest,
    Output,
    Part,
    StageRecord,
    digest,
    read_manifest,
)

RECORD = StageRecord(
    fingerprint="f",
    version=1,
    parameters={"limit": 20},
    inputs={"papers": "p"},
    rows=3,
    seconds=0.5,
    peak_memory_mb=100.0,
    finished="2026-01-01T00:00:00Z",
    outputs={"papers.parquet/a.parquet": Output("00", 10)},
)
PART = Part("a", 3, "table", "a.jsonl", "00", 10, 0, 5, 1, 1)


@pytest.fixture
def written(tmp_path: Path) -> Manifest:
    manifest = Manifest(
        title="Galaxies — «naïve»",
        complete=True,
        parts=(PART,),
        stages={"ingest": RECORD, "keywords": RECORD},
    )
    return write_manifest(tmp_path, manifest)


def test_a_manifest_comes_back_as_it_was_written(tmp_path: Path, written: Manifest) -> None:
    assert read_manifest(tmp_path) == written
    assert written.n_papers == 3


def test_every_changed_byte_of_the_manifest_is_noticed(tmp_path: Path, written: Manifest) -> None:
    path = tmp_path / "manifest.json"
    whole = path.read_bytes()
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 0x01
        path.write_bytes(changed)
        with pytest.raises(AtlasError):
            read_manifest(tmp_path)


def test_a_newer_format_is_named_before_anything_else_is_judged(
    tmp_path: Path, written: Manifest
) -> None:
    newer = {"format_version": FORMAT_VERSION + 1, "entirely": "different"}
    (tmp_path / "manifest.json").write_text(json.dumps(newer))
    with pytest.raises(AtlasError, match=r"atlas format 2; .* install a newer Landscape"):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff\xfe",
        b'{"format_version": 1}',
        b"[" * 200_000,
        b'{"format_version": 1, "parts": [], "stages": ' + b'{"a":' * 900 + b"1" + b"}" * 901,
    ],
    ids=lambda content: repr(content[:12]),
)
def test_a_damaged_manifest_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(AtlasError, match="is damaged"):
        read_manifest(tmp_path)


def test_the_last_writer_of_a_file_is_the_one_that_counts(written: Manifest) -> None:
    later = StageRecord(
        **{**vars(RECORD), "outputs": {"papers.parquet/a.parquet": Output("11", 9)}}
    )
    manifest = Manifest(stages={"ingest": RECORD, "keywords": later})
    assert manifest.files["papers.parquet/a.parquet"] == Output("11", 9)
    assert not written.without("keywords").complete
    assert list(written.without("keywords").stages) == ["ingest"]


def test_a_digest_sees_values_and_not_their_order() -> None:
    assert digest({"a": 1, "b": [1, 2]}) == digest({"b": [1, 2], "a": 1})
    assert digest({"a": [1, 2]}) != digest({"a": [2, 1]})


@pytest.mark.parametrize(
    "changes",
    [
        {"parts": (replace(PART, name="../../thesis"),)},
        {"parts": (replace(PART, name=".."),)},
        {"parts": (replace(PART, name=""),)},
        {"parts": (PART, PART)},
        {"parts": (replace(PART, rows=-1),)},
        {"parts": (replace(PART, rows="3"),)},
        {"title": ["Galaxies"]},
        {"complete": 1},
        {"stages": {"ingest": replace(RECORD, outputs={"/etc/passwd": Output("0", 1)})}},
        {"stages": {"ingest": replace(RECORD, outputs={"a/../../b": Output("0", 1)})}},
        {"stages": {"ingest": replace(RECORD, outputs={"a": Output("0", None)})}},
        {"stages": {"ingest": replace(RECORD, details={"ready": {"vectors": {"a": "/etc"}}})}},
        {"stages": {"ingest": replace(RECORD, details={"ready": [1]})}},
        {"stages": {"ingest": replace(RECORD, seconds=None)}},
    ],
    ids=str,
)
def test_what_no_build_has_written_is_refused_though_the_checksum_fits(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    write_manifest(tmp_path, Manifest(**{"parts": (PART,), "stages": {}, **changes}))
    with pytest.raises(AtlasError, match="is damaged"):
        read_manifest(tmp_path)


def test_a_finished_atlas_that_lacks_a_stage_is_refused(tmp_path: Path, written: Manifest) -> None:
    with pytest.raises(AtlasError, match=r"is damaged.*embeddings"):
        open_atlas(tmp_path)
