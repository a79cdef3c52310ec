"""Models of sentence-transformers from a folder, and the message if there is none."""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from landscape.embeddings import load_embedder
from landscape.embeddings.embedder import embedder_for
from landscape.embeddings.minilm import model_folder
from landscape.errors import InputError, MissingExtraError
from tests.timing import time_limit


def test_a_folder_with_a_model(texts: list[str]) -> None:
    pytest.importorskip("sentence_transformers", reason="the extra 'models' is not installed")
    embedder = load_embedder(f"st:{model_folder()}", device="cpu")
    steps: list[float] = []
    vectors = embedder.embed(texts[:5], advance=steps.append)
    assert vectors.shape == (5, embedder.dimension) == (5, 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)
    assert sum(steps) == 5
    description = embedder.describe()
    assert len(description["checksum"]) == 64
    changed = description | {"checksum": "f" * 64}
    with pytest.raises(InputError, match="checksum ffff"):
        embedder_for(changed, trust=True, device="cpu")


def test_a_name_without_network(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="the extra 'models' is not installed")
    code = (
        "from landscape.errors import InputError\n"
        "from landscape.embeddings.embedder import load_embedder\n"
        "try: load_embedder('st:nobody/no-such-model', device='cpu')\n"
        "except InputError as error: print(error)\n"
    )
    offline = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=offline,
        capture_output=True,
        text=True,
        timeout=time_limit(120),
    )
    (line,) = done.stdout.splitlines()
    assert line.startswith("The model 'nobody/no-such-model' cannot be loaded (")
    assert line.endswith("The default, minilm, needs neither.")


def test_a_folder_that_is_not_there() -> None:
    pytest.importorskip("sentence_transformers", reason="the extra 'models' is not installed")
    with pytest.raises(InputError, match=r"no folder './none'"):
        load_embedder("st:./none")


def test_without_the_package_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real, find = importlib.import_module, importlib.util.find_spec

    def missing(name: str, *rest: Any) -> Any:
        if name == "sentence_transformers":
            raise ModuleNotFoundError(name)
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", missing)
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: None if name == "sentence_transformers" else find(name, *rest),
    )
    with pytest.raises(MissingExtraError) as caught:
        load_embedder("st:some/model", device="cpu")
    assert 'Install it with: pip install "sentence-transformers>=6"' in str(caught.value)
