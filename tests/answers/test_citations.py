"""Citations of retrieved papers are kept, others are removed; notation is unchanged."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landscape.answers.citations import (
    UNSUPPORTED,
    read_citations,
    without_labels,
    without_markup,
    write_citations,
)

A, B, C = "2024ApJ...961...12A", "2023A&A...670L...3B", "arXiv:2401.00123"
LABELS = (A, B, C)


def cited(text: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(passage.text, passage.citations) for passage in read_citations(text, LABELS)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"Dust cools [{A}].", [("Dust cools.", (A,))]),
        (f"Dust cools. [{A}] Gas heats.", [("Dust cools.", (A,)), ("Gas heats.", ())]),
        (f"Dust cools [{A}; {B}] [{A}].", [("Dust cools.", (A, B))]),
        (f"Dust cools [{A}, {B}].", [("Dust cools.", (A, B))]),
        (f"Dust cools ({A}).", [("Dust cools.", (A,))]),
        ("Dust cools [2023A&amp;A...670L...3B].", [("Dust cools.", (B,))]),
        ("Dust cools [2401.00123v2].", [("Dust cools.", (C,))]),
        (f"Dust cools [`{A}`].", [("Dust cools.", (A,))]),
        (
            f"Smith et al. [{A}] found dust. It cools.",
            [("Smith et al. found dust.", (A,)), ("It cools.", ())],
        ),
        (f"Dust cools [{A}; 2020Fake..1A].", [("Dust cools.", (A,))]),
        ("Dust cools [2020Fake..1A].", [("Dust cools.", ())]),
        ("Dust cools [1, 2].", [("Dust cools.", ())]),
        ("Dust cools (Smith et al. 2020).", [("Dust cools.", ())]),
        ("Dust cools [Smith et al., 2020].", [("Dust cools.", ())]),
        ("Dust cools (Smith & Jones 2020).", [("Dust cools.", ())]),
        (
            "[O III] is seen in [24 micron] maps (z > 2).",
            [("[O III] is seen in [24 micron] maps (z > 2).", ())],
        ),
        (f"Dust cools.\n[{A}]", [("Dust cools.", (A,))]),
        (f"[{A}] saw dust.", [("saw dust.", (A,))]),
        ("", []),
    ],
)
def test_citations_of(text: str, found: list[tuple[str, tuple[str, ...]]]) -> None:
    assert cited(text) == found


def test_what_was_good_comes_back_as_it_stood() -> None:
    text = f"## Dust\n\nTwo papers say:\n\n- As [{A}] shows, it cools.\n- Gas heats [{B}; {C}].\n"
    passages = read_citations(text, LABELS)
    assert write_citations(passages, [None] * len(passages)) == text.strip()
    assert [passage.is_claim for passage in passages] == [False, False, True, True]


def test_invented_citations_are_not_written_back() -> None:
    text = f"Dust cools [{A}; 2020Fake..1A], as is known [3]. Gas heats [2019Fake..2B]!"
    passages = read_citations(text, LABELS)
    shown = write_citations(passages, [None, UNSUPPORTED])
    assert shown == f"Dust cools [{A}], as is known. Gas heats [unsupported]!"
    assert [p.unknown for p in passages] == [("2020Fake..1A", "3"), ("2019Fake..2B",)]


def test_marks_are_read_over() -> None:
    once = write_citations(read_citations("Gas heats.", LABELS), [UNSUPPORTED])
    (passage,) = read_citations(once, LABELS)
    assert (passage.text, passage.shown, passage.unknown) == ("Gas heats.", "Gas heats.", ())


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [A, B, "2020Fake..1A", "[", "]", "(", ")", "; ", ". ", "Gas", "\n", "- ", "\ue000", " "]
        ),
        max_size=25,
    ).map("".join)
)
def test_only_known_labels_are_ever_cited_and_reading_again_gives_the_same(text: str) -> None:
    passages = read_citations(text, LABELS)
    assert {label for p in passages for label in p.citations} <= set(LABELS)
    again = read_citations(write_citations(passages, [None] * len(passages)), LABELS)
    assert {c for p in again for c in p.citations} <= {c for p in passages for c in p.citations}


def test_a_papers_text_cannot_pass_for_a_citation() -> None:
    text = f"As [{A}] and (2020Fake..1A) say of [O III]."
    assert without_labels(text, LABELS) == (f"As {A} and 2020Fake..1A say of [O III].")


def test_nothing_that_a_notebook_would_load_or_run_stays() -> None:
    text = "<script>alert(1)</script>See ![x](https://a.example/?q=1) [here](javascript:alert(1))."
    plain = without_markup(text)
    assert "<" not in plain
    assert "http" not in plain
    assert "javascript" not in plain
    assert without_markup("if a < b and c > d") == "if a < b and c > d"
