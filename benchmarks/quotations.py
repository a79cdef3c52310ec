"""How often an answer without a model quotes the right paper, and sentences that answer.

Known papers: each question was written from one paper. Comparison: the first sentence of each of
the first six papers. Judged sentences: readers judged candidate sentences of the 43,018 papers of
``../shared/data`` for 82 questions (3: states the answer, 2: a part of it, 1: only on the subject,
0: off the question). Comparison: the best choice of as many of these sentences.

Run: python -m benchmarks.quotations ATLAS [--questions tests/evaluation/questions.jsonl]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import fmean
from typing import Any

import landscape as ls
from benchmarks.results import print_table, save

_QUESTIONS = (
    Path("tests/evaluation/questions.jsonl"),
    Path("tests/evaluation/questions_held_out.jsonl"),
)
_JUDGED = Path(__file__).with_name("quoted_sentences.jsonl")
_USEFUL, _ANSWER = 2, 3  # judgements


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
    judged = _judged(atlas)
    print_table("Quoted sentences that readers judged", list(judged), [list(judged.values())])
    print(f"\n{save('quotations', {'head': head, 'rows': rows, 'judged': judged})}")


def _judged(atlas: Any) -> dict[str, str]:
    """Return the shares of quoted sentences that are useful, and of answers that have one."""
    useful, best, answered, unknown = [], [], [], []
    for line in _JUDGED.read_text("utf-8").splitlines():
        case = json.loads(line)
        known = {(paper, start): judgement for paper, start, judgement in case["sentences"]}
        answer = atlas.ask(case["question"], model=None)
        keys = [(c.evidence[0].paper_id, c.evidence[0].start) for c in answer.claims if c.evidence]
        judgements = [known[key] for key in keys if key in known]
        unknown.append(len(keys) - len(judgements))
        if judgements:
            ideal = sorted(known.values(), reverse=True)[: len(judgements)]
            useful.append(fmean(one >= _USEFUL for one in judgements))
            best.append(fmean(one >= _USEFUL for one in ideal))
            answered.append(max(judgements) >= _ANSWER)
    return {
        "questions": str(len(useful)),
        "useful sentences": f"{fmean(useful):.3f}",
        "best choice": f"{fmean(best):.3f}",
        "answers with a direct statement": f"{fmean(answered):.3f}",
        "sentences not judged": f"{fmean(unknown):.1f}",
    }


if __name__ == "__main__":
    main()
