"""Start-up is fast: large packages are imported only when they are needed."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

import landscape
from tests.timing import assert_cost

HEAVY = {
    "datashader",
    "faiss",
    "hdbscan",
    "httpx",
    "matplotlib",
    "openai",
    "pandas",
    "plotly",
    "pyarrow",
    "pylatexenc",
    "pytextrank",
    "scipy",
    "skimage",
    "sklearn",
    "spacy",
    "torch",
    "transformers",
    "umap",
}


@pytest.mark.parametrize(
    ("arguments", "plain", "most"),
    [
        (["-c", "import landscape"], "pass", 3),
        (["-m", "landscape.cli", "--help"], "import cyclopts", 4),
    ],
    ids=["import landscape", "landscape --help"],
)
def test_a_start_takes_little_longer_than_what_it_needs(
    arguments: list[str], plain: str, most: int
) -> None:
    # Without compiled files, each start would compile all modules again.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}

    def start(*words: str) -> None:
        command = [sys.executable, *words]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)

    start(*arguments)  # the first start compiles
    # The processor time of a child is not part of this process's.
    clock = time.perf_counter
    assert_cost(lambda: start(*arguments), lambda: start("-c", plain), most=most, clock=clock)


@pytest.mark.parametrize(
    "module",
    [
        "landscape",
        "landscape.cli",
        "landscape.figures",
        "landscape.pipeline.building",
        "landscape.atlas",
        "landscape.mapping.regions",
    ],
)
def test_importing_loads_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert HEAVY.isdisjoint(done.stdout.split())


def test_a_first_search_imports_neither_pytorch_nor_pandas(demo_atlas: landscape.Atlas) -> None:
    code = (
        "import sys, landscape; found = landscape.open(sys.argv[1]).search('stellar winds'); "
        "assert all('rerank' in hit.parts for hit in found.hits); "
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(demo_atlas.path)],
        check=True,
        capture_output=True,
        text=True,
    )
    assert {"torch", "pandas", "scipy", "sklearn", "transformers"}.isdisjoint(done.stdout.split())


def test_the_search_command_imports_neither_pandas_nor_converters(
    demo_atlas: landscape.Atlas,
) -> None:
    code = (
        "import sys; from landscape.cli import main; main(sys.argv[1:]); "
        "import openvino; assert callable(openvino.convert_model); print(*sys.modules)"
    )
    command = [sys.executable, "-c", code, "search", str(demo_atlas.path), "stellar winds"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "On the map, " in done.stdout
    modules = set(done.stdout.splitlines()[-1].split())
    assert {"torch", "pandas", "openvino.tools.ovc"}.isdisjoint(modules)
