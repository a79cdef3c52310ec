"""A build that is killed at any time and started again gives the same atlas."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
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
from landscape.errors import AtlasError, InputError
from landscape.pipeline import _rows as chunks
from landscape.pipeline import commit
from landscape.pipeline.stages import WORK
from landscape.store import AtlasStore as Atlas
from landscape.store.info import verify
from landscape.store.manifest import read_manifest

N_KILLS = 20
N_KILLED_UPDATES = 8  # `python -m benchmarks robustness` kills 50


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
    # The quality is measured with samples of its own, and changes have dates.
    return name not in ("quality.json", "changes.parquet")


class Killed(BaseException):
    """An exception in place of SIGKILL in this process; no code may catch it."""


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
                assert len(open_atlas(tmp_path / "killed.atlas").papers) in (20, 34)
                continue
    assert number > 5
    assert_same(killed, undisturbed)
    assert killed.stages["embeddings"].details["reused"] == 20
    assert killed.stages["keywords"].details["reused"] == 20
    assert not (killed.path / ".work").exists()


def test_a_commit_that_is_killed_shows_the_new_version(
    tmp_path: Path,
    papers_file: Callable[..., Path],
    quick: dict[str, Any],
    small_steps: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = papers_file(tmp_path / "one.jsonl", range(20))
    two = papers_file(tmp_path / "two.jsonl", range(20, 34))
    base = build(one, tmp_path / "base.atlas", **quick)
    shutil.copytree(base.path, tmp_path / "new.atlas")
    new = build([one, two], tmp_path / "new.atlas", **quick)
    folder, replace = tmp_path / "killed.atlas", commit.link_file
    for number in range(1, 200, 3):
        shutil.copytree(base.path, folder)
        old, calls = open_atlas(folder), [0]
        old.topics  # noqa: B018 - reads a table before the commit, and the others after it

        def killing(*paths: Path, number: int = number, calls: list[int] = calls) -> None:
            calls[0] += (folder / ".ready").exists()
            if calls[0] == number:
                raise Killed
            replace(*paths)

        with monkeypatch.context() as patch:
            patch.setattr(commit, "link_file", killing)
            try:
                build([one, two], folder, **quick)
                break
            except Killed:
                assert_same(open_atlas(folder), new)
        assert verify(folder) == []
        with pytest.raises(AtlasError, match=r"was rebuilt since it was opened\. Open it again"):
            old.papers  # noqa: B018
        opened = open_atlas(folder)
        assert len(opened.topics) == len(new.topics)
        said: list[str] = []
        build([one, two], folder, say=said.append, **quick)
        assert said == ["Nothing has changed. The atlas is up to date."]
        assert_same(opened, new)  # the files have moved, but they are of the same version
        assert verify(folder) == []
        assert not [path.name for path in folder.iterdir() if path.name.startswith(".")]
        shutil.rmtree(folder)
    assert number > 15


def test_what_an_update_needs_is_said_and_bad_input_leaves_nothing(
    tmp_path: Path, papers_file: Callable[..., Path], quick: dict[str, Any], small_steps: None
) -> None:
    one = papers_file(tmp_path / "one.jsonl", range(20))
    two = papers_file(tmp_path / "two.jsonl", range(20, 34))
    said: list[str] = []
    build(one, tmp_path / "a.atlas", say=said.append, **quick)
    assert not any("stays readable" in line for line in said)
    (tmp_path / "empty.csv").write_text("title,abstract\n,\n")
    with pytest.raises(InputError, match=r"empty\.csv"):
        build(tmp_path / "empty.csv", tmp_path / "a.atlas", **quick)
    assert not list((tmp_path / "a.atlas").glob(".*"))
    build([one, two], tmp_path / "a.atlas", say=said.append, **quick)
    assert sum("The current version stays readable" in line for line in said) == 1


def test_a_file_system_without_hard_links(
    tmp_path: Path,
    papers_file: Callable[..., Path],
    quick: dict[str, Any],
    small_steps: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    one = papers_file(tmp_path / "one.jsonl", range(20))
    two = papers_file(tmp_path / "two.jsonl", range(20, 34))
    for sources in (one, [one, two]):
        linked = build(sources, tmp_path / "linked.atlas", **quick)
    monkeypatch.setattr(os, "link", refuse)
    for sources in (one, [one, two]):
        copied = build(sources, tmp_path / "copied.atlas", **quick)
    assert_same(copied, linked)
    assert verify(copied.path) == []


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
import landscape.embeddings, landscape.mapping
from landscape.pipeline import _rows as chunks
from landscape.cli import main
from tests.pipeline.test_killed import Lengths
chunks.CHUNK = 5
# The longest stages: without them, the kills are spread over all the others.
landscape.embeddings.load_embedder = lambda *_, **__: Lengths()
landscape.mapping.measure_quality = lambda *_, **__: {}
QUICK = ["--layout", "pca", "--tagger", "rules", "--workers", "1"]
"""

_ALONE = f"{_SMALLER_STEPS}sys.exit(main(['build', *sys.argv[1:], *QUICK]))"

# A process that has imported everything, has read the lists of names, and starts builds by forking,
# so that the kills fall into the work and not into imports.
_STARTER = f"""{_SMALLER_STEPS}
reports = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
import faiss, pandas, pyarrow.parquet, pytextrank, skimage.segmentation
import scipy.stats, sklearn.cluster, spacy
import landscape.pipeline.building, landscape.corpus._ingest, landscape.text.keywords
from landscape.corpus.facilities import is_known_name
from landscape.overlays.missions import find_mentions
from landscape.text.keywords import extract_keywords
is_known_name("HST"), find_mentions("HST observes dust."), extract_keywords("HST observes dust.")
print("ready", file=reports, flush=True)
for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        os._exit(main(["build", *line.strip().split("\\t"), *QUICK]))
    print(pid, file=reports, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), file=reports, flush=True)
"""


class Starter:
    """A process that starts builds and kills them after some time."""

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


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Starter]:
    started = Starter(tmp_path_factory.mktemp("starter") / "said.txt")
    yield started
    started.end()


@pytest.fixture
def sources(tmp_path: Path, papers_file: Callable[..., Path]) -> list[Path]:
    return [
        papers_file(tmp_path / "first.jsonl", range(40)),
        papers_file(tmp_path / "second.jsonl", range(35, 60)),
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


class Reader(threading.Thread):
    """A thread that repeatedly opens an atlas and reads all its tables."""

    def __init__(self, folder: Path, versions: set[int]) -> None:
        super().__init__(daemon=True)
        self.folder, self.versions = folder, versions  # numbers of papers of the two versions
        self.reads = self.rebuilt = 0
        self.errors: list[str] = []
        self.seen: set[int] = set()
        self.ended = threading.Event()

    def run(self) -> None:
        while not self.ended.is_set():
            try:
                atlas = open_atlas(self.folder)
            except Exception as error:  # noqa: BLE001 - any error is reported by the test
                self.errors.append(f"open: {error!r}")
                continue
            try:
                self._read(atlas)
                self.reads += 1
            except AtlasError as error:
                if "was rebuilt since it was opened" in str(error):
                    self.rebuilt += 1
                else:
                    self.errors.append(f"read: {error!r}")
            except Exception as error:  # noqa: BLE001
                self.errors.append(f"read: {error!r}")

    def _read(self, atlas: Atlas) -> None:
        papers, map_, topics, n = atlas.papers, atlas.map, atlas.topics, len(atlas)
        layers = (atlas.missions, atlas.uat, atlas.reviews)
        self.seen.add(n)
        assert n in self.versions
        assert len(papers) == len(atlas.vectors()) == n
        assert map_["paper_id"].tolist() == papers["paper_id"].tolist()
        assert set(map_["topic_id"]) <= {-1, *topics["topic_id"]}
        assert all(layer["paper_row"].max() < n for layer in layers if len(layer))
        assert len(atlas.search("galaxies", k=5, method="words", rerank=False).hits) == 5
        assert atlas.coverage["papers"] == n


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_readers_see_one_whole_version_while_updates_are_killed(
    tmp_path: Path, sources: list[Path], starter: Starter
) -> None:
    folder = tmp_path / "read.atlas"
    choices = [sources[:1], sources]
    sizes = []
    for chosen in choices:
        begin = time.monotonic()
        assert starter.build(chosen, folder) == 0
        whole = time.monotonic() - begin
        sizes.append(len(open_atlas(folder)))
    assert sizes[0] < sizes[1]
    reader = Reader(folder, set(sizes))
    reader.start()
    rng = random.Random(os.environ.get("LANDSCAPE_TEST_SEED", "50"))  # noqa: S311 - moments
    kills = commits = 0
    states = set()
    while kills < N_KILLED_UPDATES or commits < 2:
        chosen = choices[commits % 2]  # the other version is current
        status = starter.build(chosen, folder, kill_after=rng.uniform(0.0, 1.1) * whole)
        if status == 0:
            commits += 1
        else:
            assert status == -signal.SIGKILL, starter.said.read_text("utf-8")[-2000:]
            kills += 1
            states.add(tuple(sorted(path.name for path in folder.glob(".*"))))
        assert len(open_atlas(folder)) in sizes
    reader.ended.set()
    reader.join()
    assert not reader.errors, "\n".join(reader.errors[:5])
    assert reader.reads > kills
    assert reader.seen == set(sizes)
    assert any(".next" in state for state in states), states
    assert starter.build(choices[commits % 2], folder) == 0
    assert len(open_atlas(folder)) == sizes[commits % 2]
    assert verify(folder) == []
    assert [path.name for path in folder.glob(".*")] == []


def _progress(folder: Path) -> tuple[int, int]:
    """Return the finished stages and the number of unfinished pieces of a killed build."""
    try:
        stages = len(read_manifest(folder).stages)
    except AtlasError:
        return (-1, 0)
    return stages, sum(path.is_file() for path in (folder / WORK).rglob("*"))
