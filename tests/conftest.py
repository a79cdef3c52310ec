"""Fixtures that every test folder shares."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
from xdist.scheduler import LoadFileScheduling

import landscape
from landscape import Atlas
from tests.servers.openai_server import KEY, OpenAIServer
from tests.timing import time_limit

REPOSITORY = Path(__file__).resolve().parent.parent
DEMO_MAP = Path(__file__).with_name("demo_map.csv")

# These tests end servers with Ctrl-C or processes with signals, which Windows does not have.
collect_ignore = ["atlas/test_killed.py", "browser", "commands"] if os.name == "nt" else []
_SLOWEST_FILE = "test_killed.py"

# A check says the same of the same commit, however often it is run. New cases are looked for with
# `pytest --hypothesis-profile search`, and what is found is written down as an example.
hypothesis.settings.register_profile("same", derandomize=True, deadline=None)
hypothesis.settings.register_profile("search", deadline=None, print_blob=True)
hypothesis.settings.load_profile("same")
HOW_TO_GET_REAL_DATA = (
    "Set LANDSCAPE_DATA to a folder that holds astro-ph/papers.jsonl.gz and the other collections, "
    "or make your own papers with: landscape fetch arxiv --set physics:astro-ph --from 2026-01-01"
)


def real_data_folder() -> Path:
    """Return the folder of real collections: LANDSCAPE_DATA, or ../shared/data."""
    return Path(os.environ.get("LANDSCAPE_DATA", REPOSITORY.parent / "shared" / "data"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the longest file, while another process builds the demo atlas."""
    items.sort(key=lambda item: item.path.name != _SLOWEST_FILE)


class _ByFolder(LoadFileScheduling):  # type: ignore[misc]  # a class without types
    """Run the tests of a folder in one process, so that it makes their fixtures once."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        folder = file.rpartition("/")[0]
        return folder if folder.startswith("tests/") else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> _ByFolder | None:
    """Replace the distribution by files."""
    return _ByFolder(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.fixture(scope="session", autouse=True)
def own_libraries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the libraries of tests apart from those of the user."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LANDSCAPE_LIBRARIES", str(tmp_path_factory.mktemp("libraries")))
        yield


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of real data; tests that need it are skipped if it is missing."""
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


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """A scripted language model on this machine, set in the environment."""
    with OpenAIServer() as running:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("LANDSCAPE_LLM_MODEL", "small-chat")
        yield running


@pytest.fixture(scope="session")
def demo_atlas(tmp_path_factory: pytest.TempPathFactory) -> Atlas:
    """An atlas of 400 generated papers, built once; tests must not change it."""
    root = tmp_path_factory.getbasetemp()
    # Test processes share what they can: one of them builds, the others wait for it.
    folder = (root.parent if "PYTEST_XDIST_WORKER" in os.environ else root) / "demo"
    try:
        folder.mkdir()
    except FileExistsError:
        deadline = time.monotonic() + time_limit(900)
        while not (folder / "built").exists():
            if (folder / "failed").exists() or time.monotonic() > deadline:
                pytest.fail("the demo atlas could not be built by another test process")
            time.sleep(0.5)
        return landscape.open(folder / "demo.atlas")
    try:
        atlas = build_demo_atlas(folder)
    except BaseException:
        (folder / "failed").touch()
        raise
    (folder / "built").touch()
    return atlas


def build_demo_atlas(folder: Path) -> Atlas:
    """Generate a small demo corpus and build its atlas on the stored map.

    UMAP amplifies the rounding of a CPU, so a map made here would differ from that of another CPU.
    If the generated corpus changes, store the map again: ``python -m tests.conftest``.
    """
    stored = np.loadtxt(DEMO_MAP, delimiter=",", dtype=np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("landscape.mapping.project", lambda *_, **__: stored)
        return _build_demo(folder)


def _build_demo(folder: Path) -> Atlas:
    from landscape.corpus.demo import write_demo

    files = write_demo(folder / "demo-corpus", n_papers=400, seed=1)
    return landscape.build(
        files.papers,
        folder / "demo.atlas",
        seed=1,
        workers=1,
        tagger="rules",
        title="Demo corpus (generated)",
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        np.savetxt(DEMO_MAP, _build_demo(Path(made)).map[["x", "y"]], fmt="%.4f", delimiter=",")
