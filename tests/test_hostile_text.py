"""Text of a model, an excerpt and a file of papers is read in time that grows with its length."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest

# Private modules: only the time of these steps is measured.
from landscape.agents._survey_model import parse_decision
from landscape.agents.excerpts import MARK, read_excerpt
from landscape.corpus.readers._files import ObjectCutter
from tests.timing import assert_growth

REPLIES: dict[str, Callable[[int], str]] = {
    "spaces before a decision": lambda n: "Decision:" + " " * n,
    "spaces between stars": lambda n: "Decision:" + " *" * n,
    "empty lines in a reason": lambda n: "Decision: True\nReason: a" + "\n" * n + "b",
}
EXCERPTS: dict[str, Callable[[int], str]] = {
    "a long command": lambda n: "\\" + "cite" * n,
    "open arguments": lambda n: "\\cite[" * n,
    "open keys": lambda n: "\\cite{" * n,
    "a name with hyphens": lambda n: "A-" * n,
    "a name with apostrophes": lambda n: "A'" * n,
    "open numbers": lambda n: "[1," * n,
    "many numbers": lambda n: "[" + "1 " * n,
    "open years": lambda n: "(1990 " * n,
}


@pytest.mark.parametrize("name", REPLIES)
def test_a_decision_is_parsed_in_linear_time(name: str) -> None:
    assert_growth(parse_decision, REPLIES[name], 16_000)


@pytest.mark.parametrize("name", EXCERPTS)
def test_an_excerpt_is_read_in_linear_time(name: str) -> None:
    make = EXCERPTS[name]
    read: Callable[[str], object] = read_excerpt
    assert_growth(read, lambda n: f"Stars rotate {MARK}. {make(n)} b", 8_000)


def test_lines_of_json_records_are_counted_once() -> None:
    def cut(content: bytes) -> list[tuple[int, bytes]]:
        return list(ObjectCutter(re.compile(rb"\["), alone=True).cut(io.BytesIO(content)))

    assert_growth(cut, lambda n: b"[" + b'{"a":1},\n\n\n\n' * n + b"{}]", 60_000)
    assert cut(b'[{"a":1},\n{"b":2},\n\n 3,\n{"c":[1,\n2]}]') == [
        (1, b'{"a":1}'),
        (2, b'{"b":2}'),
        (4, b"3"),
        (5, b'{"c":[1,\n2]}'),
    ]


def test_the_reason_of_a_decision_ends_before_the_decision() -> None:
    assert parse_decision("Reason: a b  \n c \n\n Decision: ** False") == (False, "a b c")
    assert parse_decision("Decision: True\nReason: Decision: by hand\nx") == (
        True,
        "Decision: by hand x",
    )
