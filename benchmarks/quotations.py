"""How often an answer without a model quotes the paper that a question was written from.

The papers come from a search. Comparison: the first sentence of each of the first six papers.

Run: python -m benchmarks.quotations ATLAS [--questions tests/evaluation/questions.jsonl]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import fmean

import landscape as ls
from benchmarks.results import print_table, save

_QUESTIONS = (
    Path("tests/evaluation/questions.jsonl"),
    Path("tests/evaluation/questions_held_out.jsonl"),
)


def main() -> None:
    """Ask the questions and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("atlas")
    parser.add_argument("--questions", type=Path, nargs="*", default=_QUESTIONS)
    options = parser.parse_args()
    atlas = ls.open(options.atlas)
    rows = []
    for path in options.questions:
        quoted, found, first, sizes = [], [], [], []
        for line in path.read_text("utf-8").splitlines():
            case = json.loads(line)
            answer = atlas.ask(case["question"], model=None)
            names = [{paper.paper_id, paper.arxiv_id} for paper in answer.results.papers]
            right = [place for place, one in enumerate(names) if one & set(case["relevant"])]
            ids = {answer.results.papers[place].paper_id for place in right}
            quoted.append(any(one.paper_id in ids for c in answer.claims for one in c.evidence))
            found.append(bool(right))
            first.append(any(place < 6 for place in right))
            sizes.append(len(answer.claims))
        shares = [f"{fmean(one):.3f}" for one in (quoted, first, found)]
        rows.append([path.stem, str(len(quoted)), *shares, f"{fmean(sizes):.1f}"])
    head = ["questions", "n", "quoted", "among the first six", "among all found", "sentences"]
    print_table("Answers that quote the paper", head, rows)
    print(f"\n{save('quotations', {'head': head, 'rows': rows})}")


if __name__ == "__main__":
    main()
