"""A build that is killed at any time and started again gives the same atlas."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.atlas import build
from landscape.atlas import open as open_atlas
from landscape.embeddings.vectors import WordVectors
from landscape.errors import AtlasError
from landscape.pipeline import _executor as chunks
from landscape.pipeline.stages import WORK
from landscape.store import AtlasStore as Atlas
from landscape.store.info import verify
from landscape.store.manifest import read_manifest

N_KILLS = 20


def assert_same(one: Atlas, other: Atlas) -> None:
    """Check that papers, keywords, vectors and positions of two atlases are identical."""
    for column in ("paper_id", "title", "abstract", "date", "source"):
        assert one.papers[column].astype(str).tolist() == other.papers[column].astype(str).tolist()
    assert one.papers["paper_id"].is_unique
    assert one.papers["keywords"].map(list).tolist() == other.papers["keywords"].map(list).tolist()
    assert np.array_equal(one.vectors(), other.vectors())
    assert one.map.equals(other.map)
    assert one.coverage | {"title": ""} == other.coverage | {"title": ""}
    assert {p: o for p, o in one.manifest.files.items() if _is_reproducible(p)} == {
        p: o for p, o in other.manifest.files.items() if _is_reproducible(p)
    }
    words = [
        atlas.search("galaxies", k=len(one), method="words", rerank=False) for atlas in (one, other)
    ]
    assert [hit.score for hit in words[0].hits] == [hit.score for hit in words[1].hits]


def _is_reproducible(name: str) -> bool:
    # tantivy names its files by chance, and the quality's samples are a measurement of their own
    return name != "quality.json" and not name.startswith("lexical/")


class Killed(BaseException):
    """Replaces SIGKILL inside the process; no code may catch it."""


class Lengths:
    """An embedder that loads immediately."""

    def embed(self, texts: list[str]) -> Any:
        vectors = np.array([[len(text), text.count("e"), 1] for text in texts], np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    embed_few = embed

    def embed_words(self, texts: list[str], **_: object) -> tuple[Any, WordVectors]:
        lengths = np.array([text.count("a") for text in texts])
        vectors = np.repeat(np.arange(len(texts)), lengths)[:, None] % 7 + np.arange(64)
        return self.embed(texts), WordVectors(vectors.astype(np.int8), lengths)

    def read_query(self, query: str) -> Any:
        return self.embed([query])[0], [], np.zeros((0, 64), np.float32)

    def describe(self) -> dict[str, Any]:
        return {"name": "lengths", "model": "lengths", "dimension": 3}


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use chunks of six papers, and skip slow steps."""
    monkeypatch.setattr(chunks, "CHUNK", 6)
    monkeypatch.setattr("landscape.embeddings.load_embedder", lambda *_, **__: Lengths())
    monkeypatch.setattr("landscape.mapping.measure_quality", lambda *_, **__: {})


def _killing_at(number: int, *, after: bool) -> Callable[[Path, Path], Path]:
    """Return a rename function that raises at the n-th call, before or after the rename."""
    calls = [0]
    rename = Path.replace

    def replace(self: Path, target: Path) -> Path:
        calls[0] += 1
        if calls[0] == number and not after:
            raise Killed
        moved = rename(self, target)
        if calls[0] == number:
            raise Killed
        return moved

    return replace


def test_killed_at_every_single_rename(
    tmp_path: Path,
    papers_file: Callable[..., Path],
    quick: dict[str, Any],
    small_steps: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sources = [
        papers_file(tmp_path / "one.jsonl", range(16)),
        papers_file(tmp_path / "two.jsonl", range(12, 28)),
    ]
    undisturbed = build(sources, tmp_path / "undisturbed.atlas", **quick)
    for after in (False, True):
        folder = tmp_path / f"killed-{after}.atlas"
        kills = 0
        for number in range(200):
            with monkeypatch.context() as patch:
                patch.setattr(Path, "replace", _killing_at(1 + number % 7, after=after))
                try:
                    build(sources, folder, **quick)
                    break
                except Killed:
                    kills += 1
            with pytest.raises(AtlasError):
                open_atlas(folder)
        assert kills > 15
        assert_same(build(sources, folder, **quick), undisturbed)
        assert verify(folder) == []


def test_an_update_that_is_killed_neither_loses_nor_doubles_nor_redoes(
    tmp_path: Path,
    papers_file: Callable[..., Path],
    quick: dict[str, Any],
    small_steps: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = papers_file(tmp_path / "one.jsonl", range(20))
    two = papers_file(tmp_path / "two.jsonl", range(20, 34))
    for name in ("undisturbed", "killed"):
        build(one, tmp_path / f"{name}.atlas", **quick)
    undisturbed = build([two, one], tmp_path / "undisturbed.atlas", **quick)
    for number in range(200):
        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", _killing_at(1 + number % 17, after=bool(number % 2)))
            try:
                killed = build([two, one], tmp_path / "killed.atlas", **quick)
                break
            except Killed:
                continue
    assert number > 5
    assert_same(killed, undisturbed)
    assert killed.stages["embeddings"].details["reused"] == 20
    assert killed.stages["keywords"].details["reused"] == 20
    assert not (killed.path / ".work").exists()


def test_killed_while_the_chunks_of_a_stage_are_removed(
    tmp_path: Path,
    papers_file: Callable[..., Path],
    quick: dict[str, Any],
    small_steps: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = papers_file(tmp_path / "one.jsonl", range(16))
    undisturbed = build(source, tmp_path / "undisturbed.atlas", **quick)
    remove = shutil.rmtree

    def half_removed(folder: Path, **options: Any) -> None:
        counts = sorted(Path(folder).rglob("*.counts.npy"))
        if not counts:
            remove(folder, **options)
            return
        for path in counts:
            path.unlink()
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", half_removed)
        with pytest.raises(Killed):
            build(source, tmp_path / "killed.atlas", **quick)
    assert_same(build(source, tmp_path / "killed.atlas", **quick), undisturbed)


_SMALLER_STEPS = """
import os, sys
import landscape.mapping
from landscape.pipeline import _executor as chunks
from landscape.cli import main
from landscape.embeddings.vectors import WordVectors
chunks.CHUNK = 10
landscape.mapping.measure_quality = lambda *_, **__: {}  # the longest stage, and one without chunks
QUICK = ["--layout", "pca", "--tagger", "rules", "--workers", "1"]
"""

_ALONE = f"{_SMALLER_STEPS}sys.exit(main(['build', *sys.argv[1:], *QUICK]))"

# A process that has imported everything and starts builds by forking, so that the kills fall into
# the work and not into imports.
_STARTER = f"""{_SMALLER_STEPS}
reports = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
import faiss, pandas, pyarrow.parquet, pytextrank, safetensors.torch, skimage.segmentation
import scipy.stats, sklearn.cluster, spacy, tokenizers, torch
import landscape.pipeline.building, landscape.corpus._ingest, landscape.text.keywords
import landscape.embeddings.minilm
print("ready", file=reports, flush=True)
for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        os._exit(main(["build", *line.strip().split("\\t"), *QUICK]))
    print(pid, file=reports, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), file=reports, flush=True)
"""


class Starter:
    """Start builds and kill them after some time."""

    def __init__(self, said: Path) -> None:
        self.said = said  # what the builds wrote to standard error
        with said.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _STARTER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self._read() == "ready"

    def build(self, sources: list[Path], folder: Path, *, kill_after: float | None = None) -> int:
        """Return the exit status of a build, or minus the signal that killed it."""
        assert self._process.stdin is not None
        print(*sources, "--out", folder, sep="\t", file=self._process.stdin, flush=True)
        pid = int(self._read())
        if kill_after is not None:
            time.sleep(kill_after)
            with contextlib.suppress(ProcessLookupError):  # it came to its end before
                os.kill(pid, signal.SIGKILL)
        return int(self._read())

    def end(self) -> None:
        self._process.kill()
        self._process.wait()

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


@pytest.fixture
def starter(tmp_path: Path) -> Iterator[Starter]:
    started = Starter(tmp_path / "said.txt")
    yield started
    started.end()


@pytest.fixture
def sources(tmp_path: Path, papers_file: Callable[..., Path]) -> list[Path]:
    return [
        papers_file(tmp_path / "first.jsonl", range(80)),
        papers_file(tmp_path / "second.jsonl", range(70, 120)),
    ]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_killed_at_twenty_random_moments(
    tmp_path: Path, sources: list[Path], starter: Starter
) -> None:
    # From a process of its own, with its own seed for hashing.
    words = [*map(str, sources), "--out", str(tmp_path / "undisturbed.atlas")]
    subprocess.run([sys.executable, "-c", _ALONE, *words], check=True, capture_output=True)
    undisturbed = open_atlas(tmp_path / "undisturbed.atlas")
    begin = time.monotonic()
    assert starter.build(sources, tmp_path / "timed.atlas") == 0
    whole = time.monotonic() - begin
    assert_same(open_atlas(tmp_path / "timed.atlas"), undisturbed)

    rng = random.Random(os.environ.get("LANDSCAPE_TEST_SEED", "20"))  # noqa: S311 - moments
    kills, number, seen = 0, 0, set()
    while kills < N_KILLS:
        # A build that comes to its end between two kills is compared, and another one begun.
        folder = tmp_path / f"killed-{number}.atlas"
        status = starter.build(sources, folder, kill_after=rng.uniform(0.0, 0.9) * whole)
        if status == 0:
            assert_same(open_atlas(folder), undisturbed)
            number += 1
            whole *= 0.8  # the machine is faster than before
        else:
            assert status == -signal.SIGKILL, starter.said.read_text("utf-8")[-2000:]
            kills += 1
            progress = _progress(folder)
            whole *= 1.1 if progress in seen else 1.0  # the machine may be slower
            seen.add(progress)
    last = tmp_path / f"killed-{number}.atlas"
    assert starter.build(sources, last) == 0
    assert_same(open_atlas(last), undisturbed)
    assert verify(last) == []
    assert len(seen) >= 5, f"the kills always hit the same moments: {seen}"


def _progress(folder: Path) -> tuple[int, int]:
    """Return the finished stages and the number of unfinished pieces of a killed build."""
    try:
        stages = len(read_manifest(folder).stages)
    except AtlasError:
        return (-1, 0)
    return stages, sum(path.is_file() for path in (folder / WORK).rglob("*"))
