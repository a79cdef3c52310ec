"""Fixtures that every test folder shares."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from landscape import Atlas

REPOSITORY = Path(__file__).resolve().parent.parent

HOW_TO_GET_REAL_DATA = (
    "Set LANDSCAPE_DATA to a folder that holds astro-ph/papers.jsonl.gz and the other collections, "
    "or make your own papers with: landscape fetch arxiv --set physics:astro-ph --from 2026-01-01"
)


def real_data_folder() -> Path:
    """Where the real collections lie: LANDSCAPE_DATA, else ../shared/data beside the checkout."""
    return Path(os.environ.get("LANDSCAPE_DATA", REPOSITORY.parent / "shared" / "data"))


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of real data; a test that needs it is skipped by name where it is absent."""
    folder = real_data_folder()
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}. {HOW_TO_GET_REAL_DATA}")
    return folder


@pytest.fixture(scope="session")
def real_papers(real_data: Path) -> Path:
    """The file of 43,023 real astro-ph papers."""
    path = real_data / "astro-ph" / "papers.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"no real papers at {path}. {HOW_TO_GET_REAL_DATA}")
    return path


@pytest.fixture(scope="session")
def demo_atlas(tmp_path_factory: pytest.TempPathFactory) -> Atlas:
    """An atlas of 400 generated papers, built once for all tests. Not to be changed."""
    from landscape.atlas.build import build
    from landscape.corpus.demo import write_demo

    folder = tmp_path_factory.mktemp("demo")
    files = write_demo(folder / "demo-corpus", n_papers=400, seed=1)
    return build(
        files.papers,
        folder / "demo.atlas",
        seed=1,
        workers=1,
        tagger="rules",
        title="Demo corpus (generated)",
    )
