"""Functions of landscape.answers that other tests reach only indirectly."""

from __future__ import annotations

from landscape.answers import AskSettings, QuestionKind
from landscape.answers.agreement import counts_differ, invents_numbers, missing_numbers
from landscape.answers.asking import resolved
from landscape.answers.citations import papers_as_data
from landscape.answers.extractive import abstention, failure_notes
from landscape.types import Coverage, Paper, Results


def test_missing_numbers() -> None:
    assert missing_numbers(
        "H0 is 73.0, about 10 per cent above 68", "H0 = 73.04, 9.5% more than 67.4"
    ) == (68.0,)


def test_invents_numbers() -> None:
    assert not invents_numbers("Zwei von 1.000 bei z = 3,5", "two of 1000 at z = 3.5")
    assert invents_numbers("2 of 1000 at z = 4", "two of 1000 at z = 3.5")


def test_counts_differ() -> None:
    assert counts_differ("Ten planets were found.", "We find 12 planets at z = 0.")
    assert not counts_differ("Ten planets were found.", "We find planets around 12 stars.")


def test_resolved() -> None:
    chosen = resolved(AskSettings(style="nuanced"), QuestionKind("single-paper factual"))
    assert (chosen.k, chosen.style, chosen.generation, chosen.weights.names) == (
        5,
        "nuanced",
        "rag",
        ("keyword", "time"),
    )


def test_abstention() -> None:
    nothing = Results("x", (), Coverage("", 0, 0, {}, None, None))
    assert abstention("Who knows?", nothing).abstained


def test_failure_notes() -> None:
    assert failure_notes("The server is down.") == (
        "The language model failed: The server is down.",
        "Sentences quoted from the papers found.",
    )


def test_papers_as_data() -> None:
    assert (
        papers_as_data(
            [Paper(row=0, paper_id="a", title="Dust", abstract="As [2020Fake..1A] says.")]
        )[0]["abstract"]
        == "As 2020Fake..1A says."
    )
