"""A seeded build gives the same tables on every CPU."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from landscape.atlas import build
from landscape.atlas import open as open_atlas

# Without AVX-512, in the libraries that choose their code by the CPU.
AVX2 = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "DNNL_MAX_CPU_ISA": "AVX2",
    "OPENBLAS_CORETYPE": "Haswell",
    "FAISS_SIMD_LEVEL": "AVX2",
}


def test_tables_are_equal_with_and_without_avx512(
    tmp_path: Path, papers_file: Callable[..., Path]
) -> None:
    source = papers_file(tmp_path / "papers.jsonl", range(60))
    builds = []
    for name, forced in (("native", {}), ("avx2", AVX2)):
        words = ["build", str(source), "--out", str(tmp_path / f"{name}.atlas"), "--seed", "1"]
        words = ["-m", "landscape.cli", *words, "--layout", "pca", "--workers", "1"]
        with (tmp_path / f"{name}.log").open("w") as log:
            environment = os.environ | forced
            command = [sys.executable, *words]
            builds.append(subprocess.Popen(command, stdout=log, stderr=log, env=environment))
    assert [one.wait() for one in builds] == [0, 0]
    native, avx2 = (open_atlas(tmp_path / f"{name}.atlas") for name in ("native", "avx2"))
    for atlas in (native, avx2):
        assert atlas.stages["embeddings"].model["precision"] == "float32"
    for table in ("papers", "missions"):
        assert getattr(native, table).equals(getattr(avx2, table)), table
    assert np.allclose(native.vectors(), avx2.vectors(), atol=1e-6)
    assert np.allclose(native.map[["x", "y"]], avx2.map[["x", "y"]], atol=1e-3)
    names = ["label", "n_papers", "level"]
    assert native.topics[names].equals(avx2.topics[names])
    # The candidates are the best of a list, so a tie may fall either way for doubtful tags.
    tags = [atlas.uat.set_index(["paper_id", "concept_id"])["score"] for atlas in (native, avx2)]
    one, other = tags[0].align(tags[1], join="outer", fill_value=0)
    likely = np.maximum(one, other) > 0.25  # the tags that count by default
    assert likely.sum() > 50
    assert np.allclose(one[likely], other[likely], atol=1e-3)


@pytest.mark.parametrize(
    ("seed", "asked", "precision"),
    [
        (1, None, "float32"),
        (1, "auto", "bfloat16"),
        (None, "float32", "float32"),
        (None, None, "bfloat16"),
        (None, "int8", "int8"),
    ],
)
def test_only_a_build_without_seed_uses_bf16_unless_asked(
    tmp_path: Path,
    papers_file: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    seed: int | None,
    asked: Literal["auto", "float32", "int8"] | None,
    precision: str,
) -> None:
    monkeypatch.setattr("landscape.embeddings.minilm.fastest_precision", lambda: "bfloat16")
    source = papers_file(tmp_path / "papers.jsonl", range(12))
    for _ in range(2):
        atlas = build(
            source, tmp_path / "a.atlas", seed=seed, precision=asked, layout="pca", workers=1
        )
        assert atlas.stages["embeddings"].model["precision"] == precision
        source = papers_file(tmp_path / "papers.jsonl", range(14))
    assert atlas.stages["embeddings"].details["reused"] == 12
