"""Small corpora and small atlases for the tests of the build."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from landscape.atlas import Atlas, build

#: Below thirty, where the map's quality, the slowest stage at this size, is not measured.
N_PAPERS = 28

#: PCA instead of UMAP: the build's bookkeeping is the same, and a build takes seconds.
QUICK: dict[str, Any] = {"layout": "pca", "workers": 1, "tagger": "rules"}

_SUBJECTS = {
    "astro-ph.GA": ["spiral galaxies", "stellar haloes", "dwarf galaxies", "star formation"],
    "astro-ph.EP": ["hot Jupiters", "debris discs", "transit photometry", "planetary atmospheres"],
    "astro-ph.HE": ["magnetars", "relativistic jets", "gamma-ray bursts", "accretion discs"],
    "astro-ph.CO": ["weak lensing", "dark energy", "baryon acoustic oscillations", "voids"],
}
_VERBS = ["measure", "model", "constrain", "survey", "simulate", "revisit"]
_WITH = ["deep imaging", "integral-field spectroscopy", "hydrodynamic simulations", "archival data"]


def paper(number: int, *, seed: int = 0) -> dict[str, Any]:
    """Return a made-up paper; the same number gives the same paper."""
    rng = random.Random(f"{seed} {number}")  # noqa: S311 - made-up text, no secret
    category = rng.choice(sorted(_SUBJECTS))
    first, second = rng.sample(_SUBJECTS[category], 2)
    tool = rng.choice(_WITH)
    return {
        "arxiv_id": f"24{number // 10000 % 12 + 1:02d}.{number % 100000:05d}",
        "title": f"{first.capitalize()} and {second} in sample {number}",
        "abstract": (
            f"We {rng.choice(_VERBS)} {first} with {tool} in {rng.randint(12, 900)} objects. "
            f"The {second} depend on {rng.choice(_SUBJECTS[category])} at redshift "
            f"{rng.uniform(0, 3):.2f}. We compare {tool} with {rng.choice(_WITH)}."
        ),
        "date": f"{rng.randint(2001, 2025)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}",
        "authors": [f"Author{number % 37}, A.", f"Writer{number % 11}, B."],
        "categories": [category],
    }


def write_papers(path: Path, numbers: Any, **changes: Any) -> Path:
    """Write made-up papers as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as stream:
        for number in numbers:
            stream.write(json.dumps({**paper(number), **changes}) + "\n")
    return path


@pytest.fixture(scope="session")
def papers_file() -> Callable[..., Path]:
    """Function that writes made-up papers: ``papers_file(path, numbers, **changes)``."""
    return write_papers


@pytest.fixture
def quick() -> dict[str, Any]:
    """Return options of `build` for a small atlas that builds in about one second."""
    return dict(QUICK)


@pytest.fixture(scope="session")
def few_papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of made-up papers."""
    return write_papers(tmp_path_factory.mktemp("few") / "few.jsonl", range(N_PAPERS))


@pytest.fixture(scope="session")
def finished(few_papers: Path, tmp_path_factory: pytest.TempPathFactory) -> Atlas:
    """A small atlas, which tests must not change; see `atlas_copy`."""
    return build(few_papers, tmp_path_factory.mktemp("finished") / "few.atlas", **QUICK)


@pytest.fixture
def atlas_copy(finished: Atlas, tmp_path: Path) -> Path:
    """A copy of a small atlas, which a test may change."""
    folder = tmp_path / "few.atlas"
    shutil.copytree(finished.path, folder)
    return folder


@pytest.fixture
def stages_run() -> Callable[[list[str]], list[str]]:
    """Return the stages that ran, read from the messages of a build."""

    def names(lines: list[str]) -> list[str]:
        return [line.split(":")[0] for line in lines if line.endswith(" s")]

    return names
