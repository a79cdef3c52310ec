"""Ingestion: papers are neither lost nor duplicated, even after an interruption."""

from __future__ import annotations

import errno
import gzip
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.corpus import _ingest, _scanning, ingest
from landscape.corpus._scanning import part_names
from landscape.corpus.records import IngestReport, papers_schema
from landscape.errors import InputError


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> int:
    """Use chunks of a hundred records."""
    monkeypatch.setattr(_scanning, "BATCH_SIZE", 100)
    return 100


def record(i: int, **fields: Any) -> dict[str, Any]:
    return {
        "arxiv_id": f"2101.{i:05d}",
        "title": f"A study of galaxy number {i}",
        "abstract": f"We study galaxy {i} with $M_\\odot$.",
        "authors": [f"Author{i}, A."],
        "categories": ["astro-ph.GA"],
        "date": "2021-01-15",
        **fields,
    }


def write(path: Path, records: Iterable[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(orjson.dumps(r) + b"\n" for r in records))
    return path


def run(home: Path, *inputs: Path, workers: int = 1) -> IngestReport:
    report = ingest(inputs, home / "x.atlas", work=home / "work", workers=workers)
    assert report.read == report.kept + report.merged + report.rejected
    for part in report.parts:
        assert part.read == part.rows + part.merged + part.rejected
        assert table(home, part.name).num_rows == part.rows
        assert table(home, part.name).schema.equals(papers_schema())
    return report


def table(home: Path, part: str) -> pa.Table:
    return pq.ParquetFile(home / "x.atlas" / "papers.parquet" / f"{part}.parquet").read()


def rejected(home: Path) -> list[dict[str, Any]]:
    lines = (home / "x.atlas" / "rejected.jsonl").read_bytes().splitlines()
    return [orjson.loads(line) for line in lines]


def digests(home: Path) -> dict[str, str]:
    files = [*(home / "x.atlas").rglob("*.*"), *(home / "work" / "ready").rglob("*.*")]
    return {
        str(path.relative_to(home)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if path.is_file()
    }


def test_a_paper_of_two_sources_stands_merged_in_the_first(tmp_path: Path) -> None:
    one = write(tmp_path / "arxiv.jsonl", [record(i) for i in range(10)])
    published = {
        "bibcode": "2021A&A...645L..11A",
        "identifier": ["arXiv:2101.00003"],
        "title": ["A study of galaxy number 3"],
        "abstract": "We study galaxy 3 with M⊙, at greater length.",
        "author": ["Author3, A."],
        "pubdate": "2021-04-00",
        "citation_count": 5,
    }
    other = {**published, "bibcode": "2021A&A...646A..12B", "identifier": [], "title": ["Alone"]}
    two = write(tmp_path / "ads.jsonl", [other, published, {"title": ["No abstract"]}])
    report = run(tmp_path, one, two)
    assert (report.read, report.kept, report.merged, report.rejected) == (13, 11, 1, 1)
    assert [(p.name, p.source, p.rows, p.merged) for p in report.parts] == [
        ("1-arxiv", "arxiv", 10, 0),
        ("2-ads", "ads", 1, 1),
    ]
    merged = table(tmp_path, "1-arxiv").slice(3, 1).to_pylist()[0]
    assert merged["paper_id"] == "2021A&A...645L..11A"
    assert merged["source"] == ["arxiv:arxiv.jsonl", "ads:ads.jsonl"]
    assert merged["abstract"].endswith("at greater length.")
    assert (merged["cites"], merged["date"].isoformat()) == (5, "2021-01-15")
    order = table(tmp_path, "1-arxiv")["arxiv_id"].to_pylist()
    assert order == [f"2101.{i:05d}" for i in range(10)], "the order of the input is kept"
    assert rejected(tmp_path) == [
        {"file": "ads.jsonl", "line": 3, "reason": "no abstract", "snippet": "No abstract"}
    ]
    assert (report.parts[0].oldest, report.parts[0].newest) == ("2021-01-15", "2021-01-15")
    assert report.parts[0].categories == {"astro-ph.GA": 10}


def test_merging_reaches_over_many_chunks_in_any_order(tmp_path: Path, small_chunks: int) -> None:
    n = 25 * small_chunks
    first = write(tmp_path / "a.jsonl", (record(i) for i in range(n)))
    shuffled = random.Random(3).sample(range(n), n)  # noqa: S311  # an order, no secret
    second = write(
        tmp_path / "b.jsonl",
        (record(i, arxiv_id=f"2101.{i:05d}v2", citation_count=i) for i in shuffled),
    )
    report = run(tmp_path, first, second)
    assert (report.kept, report.merged) == (n, n)
    assert table(tmp_path, "a")["cites"].to_pylist() == list(range(n))
    assert table(tmp_path, "b").num_rows == 0


def test_all_papers_identical_are_one(tmp_path: Path) -> None:
    same = {"title": "The only paper there is", "abstract": "It says one thing.", "year": 2020}
    report = run(tmp_path, write(tmp_path / "same.jsonl", [same] * 2500))
    assert (report.kept, report.merged) == (1, 2499)


@pytest.mark.parametrize("n", [1, 10])
def test_few_papers(tmp_path: Path, n: int) -> None:
    assert run(tmp_path, write(tmp_path / "few.jsonl", map(record, range(n)))).kept == n


def test_one_broken_record_in_a_hundred(tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    lines = [orjson.dumps(record(i)) for i in range(1000)]
    for i in range(0, 1000, 100):
        lines[i] = lines[i][: 20 + i % 37] if i % 200 else lines[i].replace(b"galaxy", b"\xff\xfe")
    path.write_bytes(b"\n".join(lines) + b"\n")
    report = run(tmp_path, path)
    assert (report.kept, report.rejected) == (990, 10)
    assert [item["line"] for item in rejected(tmp_path)] == list(range(1, 1001, 100))


def test_an_impossible_date_in_an_identifier_leaves_the_date_unknown(tmp_path: Path) -> None:
    texts = [f"Galaxies of number {i}, seen at high redshift." for i in range(5)]
    papers = [
        {"arxiv_id": "9001.00001", "title": "First survey", "abstract": texts[0]},
        {"arxiv_id": "9001.00002", "title": "Second map", "abstract": texts[1], "year": 2020},
        {"bibcode": "2090ApJ...123..456A", "title": "Third sky", "abstract": texts[2]},
        {"arxiv_id": "9002.00003", "title": "Fourth", "abstract": texts[3], "categories": "x"},
    ]
    # The last one alone goes through the arXiv reader.
    write(tmp_path / "a.jsonl", papers[:3])
    write(tmp_path / "b.jsonl", papers[3:])
    report = run(tmp_path, tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    assert (report.kept, report.rejected) == (4, 0)
    assert [part.source for part in report.parts] == ["table", "arxiv"]
    assert table(tmp_path, "a")["year"].to_pylist() == [None, 2020, None]
    assert table(tmp_path, "b")["date"].to_pylist() == [None]


def test_no_abstract_anywhere_is_told_and_leaves_the_atlas_alone(tmp_path: Path) -> None:
    run(tmp_path, write(tmp_path / "good.jsonl", [record(1)]))
    bad = write(tmp_path / "bad.jsonl", [record(i, abstract=None) for i in range(40)])
    with pytest.raises(InputError, match=r"None of the 40 records .* no abstract"):
        run(tmp_path, bad)
    assert table(tmp_path, "good").num_rows == 1
    assert rejected(tmp_path) == []  # the account of the atlas that stands


def test_the_papers_of_one_volume_keep_keys_of_their_own(tmp_path: Path) -> None:
    talks = [
        {
            "doi": "10.1000/volume",
            "title": f"Talk {i} on dust",
            "abstract": f"Text {i}",
            "id": "same",
        }
        for i in range(20)
    ]
    assert run(tmp_path, write(tmp_path / "talks.jsonl", talks)).kept == 20
    keys = table(tmp_path, "talks")["paper_id"].to_pylist()
    assert keys[0] == "10.1000/volume"
    assert len(set(keys)) == 20


def test_ready_vectors_and_coordinates_follow_their_papers(
    tmp_path: Path, small_chunks: int
) -> None:
    n = 9 * small_chunks
    random_ = np.random.default_rng(5)
    vectors = random_.normal(size=(n, 6)).astype(np.float32)
    rows = [
        {**record(i), "embed": vectors[i].tolist(), "umap_x": float(i), "umap_y": -float(i)}
        for i in range(n)
    ]
    rows[7]["embed"] = None
    rows[9]["abstract"] = ""
    rows.append({**rows[7], "embed": vectors[7].tolist()})  # the same paper, now with its vector
    path = tmp_path / "ready.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    plain = write(tmp_path / "plain.jsonl", [record(n + 1)])
    report = run(tmp_path, path, plain)
    assert (report.embeddings["2-plain"], report.coordinates["2-plain"]) == (None, None)
    assert report.embeddings["1-ready"] == tmp_path / "work" / "ready" / "1-ready.npy"
    embeddings = np.load(report.embeddings["1-ready"], allow_pickle=False)
    coordinates = np.load(report.coordinates["1-ready"] or "", allow_pickle=False)
    kept = np.delete(np.arange(n), 9)
    np.testing.assert_array_equal(embeddings, vectors[kept])
    np.testing.assert_array_equal(coordinates, np.stack([kept, -kept], axis=1))
    assert report.parts[0].ready_vectors == report.parts[0].rows == n - 1
    assert embeddings.dtype == np.float32


def test_a_paper_without_its_vector_is_a_row_of_nan(tmp_path: Path) -> None:
    rows = [{**record(i), "embedding": [1.0, float(i)]} for i in range(4)]
    rows[1]["embedding"] = None
    rows[2]["embedding"] = [1.0, 2.0, 3.0]
    report = run(tmp_path, write(tmp_path / "some.jsonl", rows))
    embeddings = np.load(report.embeddings["some"] or "", allow_pickle=False)
    np.testing.assert_array_equal(np.isnan(embeddings).all(axis=1), [False, True, True, False])
    assert report.parts[0].ready_vectors == 2


def test_inputs_of_one_name_get_parts_of_their_own(tmp_path: Path) -> None:
    one = write(tmp_path / "a" / "papers.jsonl", [record(1)])
    two = write(tmp_path / "b" / "papers.jsonl.gz", [record(2)])
    report = run(tmp_path, one, two)
    names = [part.name for part in report.parts]
    assert names[0] == "1-papers"
    assert names[1].startswith("2-papers-")
    assert len(set(part_names([one, two, one, one]))) == 4


@pytest.mark.parametrize(
    "given",
    [("b", "a"), ("a", "a-b"), ("a", "a.b", "a-b"), ("x",) * 12, tuple("cab") * 5, ("10", "9")],
)
def test_part_files_sort_in_the_order_of_the_rows(given: tuple[str, ...]) -> None:
    names = part_names([Path(f"/{n}/{name}.jsonl") for n, name in enumerate(given)])
    for ending in (".parquet", ".npy"):
        files = [f"{name}{ending}" for name in names]
        assert files == sorted(files)
    assert len(set(names)) == len(given)


def test_a_part_without_an_input_goes(tmp_path: Path) -> None:
    one = write(tmp_path / "one.jsonl", [record(1)])
    two = write(tmp_path / "two.jsonl", [record(2)])
    run(tmp_path, one, two)
    run(tmp_path, two)
    assert {p.name for p in (tmp_path / "x.atlas" / "papers.parquet").iterdir()} == {"two.parquet"}


def test_progress_adds_up_to_the_bytes_of_the_inputs(tmp_path: Path, small_chunks: int) -> None:
    one = write(tmp_path / "one.jsonl", map(record, range(7 * small_chunks + 3)))
    two = tmp_path / "two.jsonl.gz"
    two.write_bytes(gzip.compress(one.read_bytes()))
    for _ in range(2):  # the second time everything is there already
        told: list[float] = []
        ingest([one, two], tmp_path / "x.atlas", work=tmp_path / "work", advance=told.append)
        assert sum(told) == one.stat().st_size + two.stat().st_size


def test_a_changed_input_is_read_again(tmp_path: Path) -> None:
    path = write(tmp_path / "one.jsonl", [record(1)])
    run(tmp_path, path)
    write(path, [record(1), record(2)])
    assert run(tmp_path, path).kept == 2


def test_workers_and_repetition_change_no_byte(tmp_path: Path, small_chunks: int) -> None:
    records = (record(i % (5 * small_chunks)) for i in range(6 * small_chunks))
    path = write(tmp_path / "many.jsonl", records)
    seen = []
    for workers in (1, 2, 1):
        run(tmp_path, path, workers=workers)
        seen.append(digests(tmp_path))
        shutil.rmtree(tmp_path / "work")
    seen[2] = {name: seen[2][name] for name in seen[0]}
    assert seen[0] == seen[1] == seen[2]
    assert len(seen[0]) == 5


KILLED = """
import sys
from pathlib import Path
from landscape.corpus import _scanning, ingest
_scanning.BATCH_SIZE = 50
if __name__ == "__main__":
    home = Path(sys.argv[1])
    print("begun", flush=True)
    ingest([home / "a.parquet", home / "b.jsonl"], home / "x.atlas", work=home / "work")
"""


def test_killed_at_any_moment_and_run_again_the_bytes_are_the_same(tmp_path: Path) -> None:
    script = tmp_path / "ingest_in_small_chunks.py"
    script.write_text(KILLED)
    rows = [{**record(i), "embed": [float(i), 1.0]} for i in range(3000)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    write(
        tmp_path / "b.jsonl",
        (record(i, date="bad" if i % 50 == 0 else 2021) for i in range(2000, 4000)),
    )
    command = [sys.executable, str(script), str(tmp_path)]
    started = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    whole = time.monotonic() - started
    undisturbed = digests(tmp_path)
    assert len(undisturbed) == 8
    shutil.rmtree(tmp_path / "work")
    shutil.rmtree(tmp_path / "x.atlas")
    moments = random.Random(7)  # noqa: S311  # moments, no secret
    kills = 0
    for _ in range(6):
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(moments.uniform(0, 0.3 * whole))
            kills += process.poll() is None
            process.kill()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert kills >= 2
    assert digests(tmp_path) == undisturbed


def test_a_full_disk_leaves_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "one.jsonl", map(record, range(300)))
    run(tmp_path, write(tmp_path / "before.jsonl", [record(9)]))
    before = digests(tmp_path)

    class FullDisk(pq.ParquetWriter):  # type: ignore[misc]  # pyarrow has no types
        def write_table(self, *args: Any, **options: Any) -> None:
            super().write_table(*args, **options)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(pq, "ParquetWriter", FullDisk)
    with pytest.raises(OSError, match="No space left") as caught:
        run(tmp_path, path)
    assert caught.value.errno == errno.ENOSPC
    folder = tmp_path / "x.atlas" / "papers.parquet"
    assert [p.name for p in folder.iterdir()] == ["before.parquet"]
    assert (
        digests(tmp_path)["x.atlas/papers.parquet/before.parquet"]
        == (before["x.atlas/papers.parquet/before.parquet"])
    )
    monkeypatch.undo()
    assert run(tmp_path, path).kept == 300


def test_a_really_full_disk(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full on this system")
    target = tmp_path / "m.npy"
    target.with_name(".m.npy.unfinished").symlink_to(full)
    with (
        pytest.raises(OSError, match="No space left") as caught,
        _ingest.Matrix(target, 9) as matrix,
    ):
        matrix.add(np.ones((9, 100_000), np.float32))
    assert caught.value.errno == errno.ENOSPC
    assert list(tmp_path.iterdir()) == []


def test_a_truncated_gzip_fails_with_the_count_and_keeps_nothing_half(
    tmp_path: Path, small_chunks: int
) -> None:
    # Text that does not compress away: hashes.
    texts = [hashlib.sha256(b"%d" % i).hexdigest() * 3 for i in range(1000)]
    lines = [json.dumps(record(i, abstract=text)) for i, text in enumerate(texts)]
    whole = gzip.compress("\n".join(lines).encode())
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(whole[:-9000])
    for _ in range(2):  # again from the chunks of the first time
        with pytest.raises(InputError, match=r"truncated gzip\) after 8\d\d good records"):
            run(tmp_path, path)
    assert not (tmp_path / "x.atlas" / "papers.parquet").exists()


def test_real_papers(tmp_path: Path, real_papers: Path) -> None:
    with gzip.open(real_papers) as stream:
        (tmp_path / "real.jsonl").write_bytes(b"".join(islice(stream, 0, 43_000, 40)))
    report = run(tmp_path, tmp_path / "real.jsonl")
    assert report.rejected == 0
    assert report.merged <= 2
    papers = table(tmp_path, "real")
    assert len(set(papers["paper_id"].to_pylist())) == report.kept
    assert papers["date"].null_count == papers["year"].null_count == 0
    changed = papers.filter(pa.compute.is_valid(papers["abstract_original"]))
    assert 0.3 < changed.num_rows / report.kept < 0.7


@pytest.mark.parametrize(
    "broken", ["000001.json", "000001.parquet", "000001.vectors.npy", "input.json"]
)
def test_a_chunk_that_a_power_cut_emptied_is_read_again(
    tmp_path: Path, small_chunks: int, broken: str
) -> None:
    rows = [{**record(i), "embed": [1.0, float(i)]} for i in range(3 * small_chunks)]
    path = write(tmp_path / "a.jsonl", rows)
    run(tmp_path, path)
    before = digests(tmp_path)
    (tmp_path / "work" / "scan" / "a" / broken).write_bytes(b"")
    run(tmp_path, path)
    assert digests(tmp_path) == before


def test_inputs_named_alike_but_for_map_keep_their_vectors_and_coordinates(tmp_path: Path) -> None:
    rows = [{**record(i), "embed": [1.0, i], "umap_x": i, "umap_y": -i} for i in range(6)]
    one = write(tmp_path / "x.jsonl", rows[:3])
    two = write(tmp_path / "x.map.jsonl", rows[3:])
    report = run(tmp_path, one, two)
    files = [*report.embeddings.values(), *report.coordinates.values()]
    found = [np.load(file, allow_pickle=False)[:, 1].tolist() for file in files if file]
    assert found == [[0, 1, 2], [3, 4, 5], [0, -1, -2], [-3, -4, -5]]
