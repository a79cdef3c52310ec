"""Every regular expression of the package takes linear time on adversarial text.

The texts are made of the characters that a pattern itself contains: repeated, alternating, and one
run after another. A pattern that takes quadratic time needs seconds for a long abstract or draft.
A pattern that is used only with ``match`` or ``fullmatch`` can begin with ``\\A``.
"""

from __future__ import annotations

import importlib
import itertools
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

import landscape
from landscape._author_names import parse_name
from landscape.agents._draft_latex import read_draft  # Private: only their own time is measured
from landscape.answers.citations import read_citations, without_labels, without_markup
from landscape.corpus import clean_text
from landscape.corpus.author_lists import read_author_list
from landscape.corpus.cleaning import clean_abstract, without_parentheses
from landscape.corpus.fetch._arxiv import parse_authors
from landscape.corpus.objects import find_objects
from landscape.corpus.readers.bibtex import parse_entries
from landscape.overlays.missions import find_mentions
from landscape.overlays.trends.affiliations import read_affiliation
from landscape.overlays.values import find_values
from landscape.search import find_entities
from landscape.text import split_sentences, tokenise
from landscape.text.words import normal_form, split_words

_parser: Any = importlib.import_module("re._parser")
SHORT, LONG, LONGER = 300, 2_400, 38_400  # characters
SHORTER = (20, 28, 40, 56, 80, 112, 160)  # exponential time would never end on a short text
TOO_SLOW = 0.02  # CPU seconds for a short text; linear patterns take a hundredth of it
SUSPECT = 0.0002  # CPU seconds for a long text
QUADRATIC = 14.0  # a linear pattern takes 8 times as long for 8 times the text, a quadratic one 64
CONFIRMED = 64.0  # for 16 times the text, these are 16 and 256


def modules() -> Iterator[ModuleType]:
    for info in pkgutil.walk_packages(landscape.__path__, "landscape."):
        if not info.name.endswith("__main__"):
            yield importlib.import_module(info.name)


def patterns_of(module: ModuleType) -> dict[str, re.Pattern[str]]:
    """Return the compiled patterns of a module, its tables and classes, by name."""
    found: dict[str, re.Pattern[str]] = {}

    def look(value: Any, name: str, depth: int) -> None:
        if isinstance(value, re.Pattern):
            if isinstance(value.pattern, str):
                found.setdefault(name if name not in found else f"{name}: {value.pattern}", value)
            return
        if depth > 3:
            return
        if isinstance(value, dict):
            value = list(value.values())
        is_own_class = isinstance(value, type) and value.__module__ == module.__name__
        is_record = type(value).__module__.startswith("landscape") and hasattr(value, "__dict__")
        if is_own_class or is_record:
            value = list(vars(value).values())
        if isinstance(value, list | tuple | set | frozenset):
            for one in value:
                look(one, name, depth + 1)

    for name, value in vars(module).items():
        look(value, name, 0)
    return found


ALPHABET = {"SPACE": " ", "DIGIT": "1", "WORD": "a", "NOT_SPACE": "a", "NOT_WORD": "-"}
CHARACTERS: dict[str, Callable[[Any], str]] = {
    "LITERAL": chr,
    "NOT_LITERAL": lambda _: "a",
    "ANY": lambda _: "a",
    "RANGE": lambda ends: chr(ends[0]),
    "CATEGORY": lambda name: ALPHABET.get(str(name).removeprefix("CATEGORY_"), "a"),
}


def characters_of(pattern: re.Pattern[str]) -> list[str]:
    """Return one character for each literal and each class of a pattern."""
    found = dict.fromkeys(walk(_parser.parse(pattern.pattern, pattern.flags)))
    # Letters of words behave alike, so a few of them are enough.
    letters = [c for c in found if c.isalpha()][:4]
    others = [c for c in found if not c.isalpha()][:8]
    return list(dict.fromkeys([*others, *letters, "a", " ", "1"]))


def walk(tree: Any) -> Iterator[str]:
    for code, value in tree:
        kind = str(code)
        if kind in ("LITERAL", "NOT_LITERAL", "ANY", "RANGE", "CATEGORY"):
            yield CHARACTERS[kind](value)
        elif kind == "IN":
            yield from walk(pair for pair in value if str(pair[0]) != "NEGATE")
        else:
            inner = value if isinstance(value, tuple | list) else [value]
            for one in inner:
                branches = one if isinstance(one, list) else [one]
                for branch in branches:
                    if isinstance(branch, _parser.SubPattern):
                        yield from walk(branch)


def texts_of(pattern: re.Pattern[str]) -> Iterator[Callable[[int], str]]:
    characters = characters_of(pattern)
    for one in characters:
        yield lambda n, one=one: one * n
    for one, other in itertools.permutations(characters[:8], 2):
        yield lambda n, pair=one + other: pair * (n // 2)
        yield lambda n, one=one, other=other: one * (n // 2) + other * (n // 2)


Use = Callable[[str], object]


def seconds(use: Use, text: str, *, repeats: int) -> float:
    """Return the least CPU time of several calls, without that of threads of other tests."""
    times = []
    for _ in range(repeats):
        start = time.thread_time()
        use(text)
        times.append(time.thread_time() - start)
    return min(times)


def is_quadratic(use: Use, make: Callable[[int], str]) -> bool:
    """Return whether the time grows with more than the length, twice in a row.

    A pattern that looks ahead at most 500 characters grows as a quadratic one from 300 to 2,400
    characters, but not from 2,400 to 38,400.
    """
    first = 0.0
    for length in (*SHORTER, SHORT):
        first = seconds(use, make(length), repeats=1)
        if first > TOO_SLOW and seconds(use, make(length), repeats=5) > TOO_SLOW:
            return True
    long = make(LONG)
    later = seconds(use, long, repeats=1)
    if later < SUSPECT or later < QUADRATIC * first:
        return False
    return seconds(use, make(LONGER), repeats=3) > CONFIRMED * seconds(use, long, repeats=5)


def slowest(pattern: re.Pattern[str]) -> str:
    """Return the beginning of a text for which a pattern takes more than linear time, or ""."""

    def find_all(text: str) -> int:
        return sum(1 for _ in pattern.finditer(text))

    for make in texts_of(pattern):
        for use in (find_all, pattern.match, pattern.fullmatch):
            if is_quadratic(use, make):
                return repr(make(8))
    return ""


@pytest.mark.parametrize(
    ("pattern", "quadratic"),
    [
        ("a+b", True),
        ("[a-c][^b]*b", True),
        ("(?:a+)+b", True),
        ("a{1,500}b", False),
        (r"\ba+b", False),
    ],
)
def test_the_measurement_tells_quadratic_from_linear(pattern: str, quadratic: bool) -> None:
    assert bool(slowest(re.compile(pattern))) == quadratic


@pytest.mark.parametrize("module", list(modules()), ids=lambda module: module.__name__)
def test_patterns_take_linear_time(module: ModuleType) -> None:
    slow = {name: slowest(pattern) for name, pattern in patterns_of(module).items()}
    assert {name: text for name, text in slow.items() if text} == {}


SINGLE = "a A1 \n\t\x1f.,;:?!'\"()[]{}<>$\\^_~&@%#=-–/|*"
PIECES = (*SINGLE, "a ", ". ", "A.", "(a", "{a", "\\$", "HST ")
RUNS = ("()", "[A", "{}", " a")
READERS: tuple[Use, ...] = (
    clean_text,
    clean_abstract,
    without_parentheses,
    split_sentences,
    split_words,
    normal_form,
    tokenise,
    find_mentions,
    find_entities,
    find_objects,
    find_values,
    parse_name,
    read_author_list,
    parse_authors,
    read_affiliation,
    parse_entries,
    read_draft,
    without_labels,
    without_markup,
    lambda text: read_citations(text, []),
    lambda text: parse_entries(f"@article{{a, title={{{text}}}, author={{{text}}}}}"),
)


@pytest.mark.parametrize("use", READERS)
def test_repeated_characters_are_read_in_linear_time(use: Use) -> None:
    use("HST observes a star.")  # files that are loaded once are not timed
    makers = [lambda n, piece=piece: piece * (n // len(piece)) for piece in PIECES]
    makers += [
        lambda n, one=one, other=other: one * (n // 2) + other * (n // 2) for one, other in RUNS
    ]
    slow = [make for make in makers if is_quadratic(use, make)]
    assert [make(20) for make in slow] == []
