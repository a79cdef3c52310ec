"""Files that are damaged anywhere give a result or one sentence, and never a wrong table."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import landscape
from landscape import Atlas
from landscape.errors import LandscapeError
from landscape.store.info import verify
from tests.properties.binary_files import binary_files
from tests.properties.good_files import TEXTS, Read
from tests.properties.hostile import EDITS, Edit, damaged, spoiled
from tests.properties.inspection import check_sentence

BINARY = ("papers.parquet", "pathfinder.parquet", "papers.jsonl.gz", "vectors.parquet")
BINARY += ("vectors.npy", "full.pdf", "full.tar.gz")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the damaged files of all examples."""
    return tmp_path_factory.mktemp("damaged")


@pytest.fixture(scope="module")
def binaries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Read, bytes]]:
    """Reader and content of each file that is not text."""
    return binary_files(tmp_path_factory.mktemp("good"))


def read_or_refused(read: Read, path: Path) -> Any:
    """Return what a reader returns, or None if it refuses the file in one sentence."""
    try:
        return read(path)
    except LandscapeError as error:
        check_sentence(error)
        return None


def place_of(folder: Path, name: str) -> Path:
    """Return the path of a file, alone in a folder but for the topics of judgements of TREC."""
    place = folder / name / name
    place.parent.mkdir(exist_ok=True)
    if name == "qrels.txt":
        place.with_name("topics.tsv").write_text("1\tWhy dust?\n")
    return place


@pytest.mark.parametrize("name", TEXTS)
@settings(max_examples=40)
@given(edits=EDITS, again=st.one_of(st.none(), EDITS))
@example(edits=[(0.0, 0.95, b"\x1f\x8b\x08\x00")], again=None)
def test_a_damaged_text_is_read_or_refused(
    folder: Path, name: str, edits: list[Edit], again: list[Edit] | None
) -> None:
    read, good = TEXTS[name]
    content = damaged(good, edits)
    if name.endswith(".gz"):
        content = gzip.compress(content)
        content = spoiled(content, again) if again else content
    path = place_of(folder, name)
    path.write_bytes(content)
    read_or_refused(read, path)


@pytest.mark.parametrize("name", TEXTS)
def test_the_files_are_good_before_they_are_damaged(folder: Path, name: str) -> None:
    read, good = TEXTS[name]
    path = place_of(folder, name)
    path.write_bytes(gzip.compress(good) if name.endswith(".gz") else good)
    assert read_or_refused(read, path) is not None


@pytest.mark.parametrize("name", BINARY)
@settings(max_examples=40)
@given(edits=EDITS)
@example(edits=[])
def test_a_damaged_binary_file_is_read_or_refused(
    folder: Path, binaries: dict[str, tuple[Read, bytes]], name: str, edits: list[Edit]
) -> None:
    read, good = binaries[name]
    path = folder / name
    path.write_bytes(spoiled(good, edits))
    found = read_or_refused(read, path)
    assert edits or found is not None


@pytest.fixture(scope="module")
def copied(finished: Atlas, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A copy of a small atlas, which every example damages and restores, and its facts."""
    path = tmp_path_factory.mktemp("copied") / "few.atlas"
    shutil.copytree(finished.path, path)
    return path, facts(finished)


def facts(atlas: Atlas) -> Any:
    """Return what the tables, the vectors and a search of an atlas say."""
    tables = (atlas.papers, atlas.map, atlas.topics, atlas.missions, atlas.uat, atlas.reviews)
    hits = tuple(paper.paper_id for paper in atlas.search("spiral galaxies", k=5).papers)
    sums = float(abs(atlas.vectors()).sum())
    return (*(table.to_json() for table in tables), len(atlas.thesaurus), hits, sums)


@settings(max_examples=60)
@given(number=st.integers(0, 10_000), edits=EDITS)
def test_an_atlas_with_changed_bytes_is_told_or_gives_the_same(
    copied: tuple[Path, Any], number: int, edits: list[Edit]
) -> None:
    path, known = copied
    files = sorted(one for one in path.rglob("*") if one.is_file() and one.stat().st_size)
    file = files[number % len(files)]
    good = file.read_bytes()
    try:
        file.write_bytes(spoiled(good, edits))
        found = read_or_refused(lambda path: facts(landscape.open(path)), path)
        assert found in (None, known), "a table changed without a message"
        problems = read_or_refused(verify, path)
        assert problems != [] or file.read_bytes() == good or file.name.endswith(".lock")
    finally:
        file.write_bytes(good)
