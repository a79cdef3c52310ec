"""Errors found by damage and malice; `tests.properties` looks for others."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from landscape import Atlas
from landscape._bibliography import escape_latex
from landscape._render import escape
from landscape._serializer import to_csv, to_json
from landscape.embeddings.precomputed import ReadyVectors  # a reader of a command
from landscape.errors import InputError
from landscape.llm import connect
from landscape.store.tables import read_labels
from tests.conftest import REPOSITORY
from tests.servers.hostile_server import MODES, HostileServer

MARKS = "a\u202eb\x9bc\x1bd"


def test_vectors_with_a_damaged_header_are_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "vectors.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', (((" + b" " * 94 + b"\n")
    with pytest.raises(InputError, match=r"it is not a \.npy file of numbers"):
        ReadyVectors(path)


def test_no_output_has_control_or_direction_characters(tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text(f"topic_id,label\n1,{MARKS}\n", "utf-8")
    texts = [
        read_labels(labels)[1],
        to_csv(pd.DataFrame({"title": [MARKS]})),
        to_json({"title": MARKS}),
        escape_latex(MARKS),
        escape(MARKS),
    ]
    for text in texts:
        assert not set(MARKS[1::2]) & set(text)


def test_the_limits_of_the_environment_hold_for_every_connection(
    demo_atlas: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANDSCAPE_LLM_TIMEOUT", "1")
    with HostileServer(MODES["never answers"]) as server:
        model = connect(model="m", base_url=server.url, api_key="k", retries=0)
        assert "within 1 s" in " ".join(demo_atlas.ask("Why dust?", model=model).notes)


CLOCKS = {"monotonic", "perf_counter", "process_time", "thread_time", "time", "time_ns"}
CLOCKS |= {f"{name}_ns" for name in CLOCKS}
SUMMARIES = {"abs", "float", "max", "mean", "median", "min", "round", "sum"}
SECONDS = """
def seconds():
    start = time.perf_counter()
    work()
    return time.perf_counter() - start

def test_rate():
    start = process_time()
    rate = 100 / (process_time() - start)
    assert time.monotonic() - start < 5
    assert 500 < rate
    assert min(seconds() for _ in range(8)) < LIMIT, "slow"
    assert time.monotonic() < deadline
    status = build(kill_after=0.5 * rate)
    assert status == 0
    assert time_limit(5) > 2
"""


def asserted_seconds(source: str) -> list[int]:
    """Return the lines of asserts that compare a measured time with anything but another one."""
    tree = ast.parse(source)
    names: set[str] = set()

    def name_of(node: ast.AST) -> str:
        return str(getattr(node, "attr", getattr(node, "id", "")))

    def reads_a_clock(node: ast.AST) -> bool:
        return any(isinstance(one, ast.Call) and name_of(one.func) in CLOCKS for one in parts(node))

    def is_measured(node: ast.AST) -> bool:
        return any(
            (isinstance(one, ast.BinOp) and isinstance(one.op, ast.Sub) and reads_a_clock(one))
            or (isinstance(one, ast.Name) and one.id in names)
            for one in parts(node)
        )

    def parts(node: ast.AST) -> Iterator[ast.AST]:
        """Yield the parts of a value; the result of another function is no time."""
        yield node
        is_other = isinstance(node, ast.Call) and name_of(node.func) not in SUMMARIES
        for one in [node.func] if is_other else ast.iter_child_nodes(node):
            yield from parts(one)

    for _ in range(3):  # a name may be made from another name
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and is_measured(node.value):
                names |= {one.id for one in node.targets if isinstance(one, ast.Name)}
            elif isinstance(node, ast.FunctionDef) and any(
                isinstance(one, ast.Return) and one.value and is_measured(one.value)
                for one in ast.walk(node)
            ):
                names.add(node.name)
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare)
        if 0 < sum(map(is_measured, sides := [node.test.left, *node.test.comparators])) < len(sides)
    ]


def test_no_test_asserts_a_number_of_seconds() -> None:
    lines = SECONDS.splitlines()
    assert all("assert" in lines[number - 1] for number in asserted_seconds(SECONDS))
    assert len(asserted_seconds(SECONDS)) == 3
    found = {
        f"{path.relative_to(REPOSITORY)}:{number}"
        for path in sorted((REPOSITORY / "tests").rglob("*.py"))
        for number in asserted_seconds(path.read_text("utf-8"))
    }
    assert found == set(), "use tests/timing.py"
