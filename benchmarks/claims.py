"""Print sentences of a language model on real papers, with the marks of the check.

``python -m benchmarks.claims ATLAS`` lets the model set in the environment summarise the abstracts
found for some questions, cites each abstract after each sentence, and checks the sentences as
those of an answer. Read the claims to judge the marks. A small model is run by
``python -m tests.servers.small_model_server``.
"""

from __future__ import annotations

import argparse
import textwrap
from collections import Counter
from pathlib import Path

import landscape
from landscape.answers import check_claims
from landscape.answers.citations import read_citations
from landscape.errors import RemoteError
from landscape.llm import WritingModel, connect
from landscape.types import Claim, Paper

QUESTIONS = (
    "How do stellar winds change the evolution of massive stars?",
    "What causes the Hubble tension?",
    "How do planets form in protoplanetary disks?",
    "What are the progenitors of type Ia supernovae?",
    "How are relativistic jets launched from black holes?",
    "What do pulsar timing arrays measure?",
    "What produces fast radio bursts?",
    "How does dust form in supernovae?",
    "What is the dark matter profile of dwarf galaxies?",
    "How do exoplanet atmospheres escape?",
    "What reionised the universe?",
    "How do binary black holes merge?",
    "What heats the solar corona?",
    "How do magnetic fields affect star formation?",
    "What do globular clusters show about the formation of galaxies?",
)
_SUMMARISE = "Summarise the abstract for an astronomer in three short sentences, in your own words."


def write_claims(
    writer: WritingModel, paper: Paper, *, checker: WritingModel | None = None
) -> tuple[Claim, ...]:
    """Return the sentences of a model on a paper, cited and checked.

    Parameters
    ----------
    writer : WritingModel
    paper : Paper
    checker : WritingModel, optional
        Model that checks the claims; by default, `check_claim` does.
    """
    summary = writer.complete(_SUMMARISE, paper.abstract)
    passages = [one for one in read_citations(summary, [paper.label]) if one.is_claim]
    lines = [f"{one.text.rstrip('.!? ')} [{paper.label}]." for one in passages]
    return check_claims("\n".join(lines), [paper], model=checker).claims


def main() -> None:
    """Print claims with their marks, their evidence and the abstracts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("atlas", type=Path)
    parser.add_argument("--papers", type=int, default=2, help="papers for each question")
    parser.add_argument("--check", action="store_true", help="let the model check the claims too")
    given = parser.parse_args()
    atlas, model = landscape.open(given.atlas), connect()
    marks: Counter[str] = Counter()
    for question in QUESTIONS:
        for paper in atlas.search(question, k=given.papers).papers:
            print(f"\n{paper.label}: {paper.title}\n{textwrap.fill(paper.abstract, 120)}")
            try:
                claims = write_claims(model, paper, checker=model if given.check else None)
            except RemoteError as error:
                print(f"  {error}")
                continue
            for claim in claims:
                marks[claim.verdict] += 1
                print(f"  {marks.total()}. {claim.verdict.upper()}: {claim.text}")
    print(f"\n{marks.total()} claims: {dict(marks)}")


if __name__ == "__main__":
    main()
