from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

# Private modules: no public function exposes the steps tested here by themselves.
from landscape._io import replacing
from landscape.pipeline import _rows as chunks
from landscape.pipeline._executor import Executor
from landscape.pipeline._rows import PartWork, column_digest, match_rows, row_keys
from landscape.store.arrays import gather_rows, open_matrices, write_matrix


def _part(path: Path, texts: list[str], cites: int = 0) -> Path:
    table = pa.table(
        {
            "title": [text[:3] for text in texts],
            "abstract": [text[3:] for text in texts],
            "cites": [cites] * len(texts),
            "keywords": [[text[:1], text[1:2]] for text in texts],
        }
    )
    pq.write_table(table, path, row_group_size=3)
    return path


def test_keys_follow_the_text_and_nothing_else(tmp_path: Path) -> None:
    texts = [f"abc text {i}" for i in range(10)]
    one = row_keys(_part(tmp_path / "one.parquet", texts))
    two = row_keys(_part(tmp_path / "two.parquet", texts[::-1], cites=5))
    assert np.array_equal(one, two[::-1])
    assert len(np.unique(one, axis=0)) == 10


def test_rows_are_found_again_or_marked_new(tmp_path: Path) -> None:
    known = row_keys(_part(tmp_path / "known.parquet", ["aaa1", "bbb2", "bbb2", "ccc3"]))
    asked = row_keys(_part(tmp_path / "asked.parquet", ["ccc3", "ddd4", "bbb2"]))
    found = match_rows(asked, known)
    assert found[0] == 3
    assert found[1] == -1
    assert found[2] in (1, 2)
    assert match_rows(asked, known[:0]).tolist() == [-1, -1, -1]


def test_column_digests_see_every_value(tmp_path: Path) -> None:
    one = [_part(tmp_path / "one.parquet", ["aaa1", "bbb2"])]
    two = [_part(tmp_path / "two.parquet", ["aaa1", "bcb2"])]
    assert column_digest(one, ["keywords"]) != column_digest(two, ["keywords"])
    assert column_digest(one, ["cites"]) == column_digest(two, ["cites"])


class Killed(BaseException):
    """Exception that simulates a kill signal."""


@pytest.mark.parametrize("killed_in", [0, 1, 2, 3])
def test_chunks_do_not_depend_on_where_a_build_was_killed(
    tmp_path: Path, killed_in: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"abc text {i}" for i in range(11)]
    part = _part(tmp_path / "part.parquet", texts)
    rows = np.array([0, 1, 2, 4, 5, 6, 7, 8, 10])
    known = row_keys(part)[[3, 9]]
    worked: list[str] = []
    kills = [killed_in * 3]

    def work(chunk: chunks.Chunk) -> None:
        batch, path = chunk.texts(), chunk.file
        if kills and len(worked) == kills[0]:
            kills.clear()
            with replacing(path) as beside:
                beside.write_text("half")
                raise Killed
        worked.extend(batch)
        with replacing(path) as beside:
            beside.write_text("|".join(batch))

    monkeypatch.setattr(chunks, "CHUNK", 3)
    done: list[float] = []

    def run(told: str = "limit=20") -> list[Path]:
        done.clear()
        planned = PartWork.plan(
            part, known, folder=tmp_path / "work", settings_digest=told, ending=".txt"
        )
        chunks.finish(Executor(), work, [planned], done.append)
        return [chunk.file for chunk in planned.chunks]

    if killed_in < 3:
        with pytest.raises(Killed):
            run()
        assert len(worked) == killed_in * 3
    files = run()
    # join(" . ") of title and abstract, each text once, in the order of the rows
    wanted = [f"{texts[row][:3]}. {texts[row][3:]}" for row in rows]
    assert [text for path in files for text in path.read_text().split("|")] == wanted
    assert worked == wanted
    kills.clear()
    assert sum(done) == 11
    assert run() == files
    assert sum(done) == 11
    assert len(worked) == 9
    assert set(run("limit=10")).isdisjoint(files)


def test_matrices_are_joined_and_picked_over_parts(tmp_path: Path) -> None:
    whole = np.random.default_rng(0).normal(size=(9, 4)).astype(np.float32)
    files = [tmp_path / "a.npy", tmp_path / "b.npy", tmp_path / "c.npy"]
    for path, rows in zip(files, (whole[:5], whole[5:5], whole[5:]), strict=True):
        write_matrix(path, iter([rows[:2], rows[2:]]), rows=len(rows), columns=4)
    joined = open_matrices(files)
    assert np.array_equal(joined, whole)
    assert joined.shape == (9, 4)
    for chosen in (slice(3, 7), np.array([8, 0]), np.arange(9) % 2 == 0, 6, slice(None)):
        assert np.array_equal(joined[chosen], whole[chosen])
    parts = [np.load(path) for path in files]
    order = np.array([8, 0, 4, 5])
    assert np.array_equal(gather_rows(parts, order), whole[order])


def test_a_matrix_of_another_shape_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="rows"):
        write_matrix(tmp_path / "a.npy", iter([np.zeros((2, 3), np.float32)]), rows=3, columns=3)
    assert list(tmp_path.iterdir()) == []
