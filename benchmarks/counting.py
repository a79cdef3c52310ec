"""Questions about counts, read by the grammar of `landscape.answers.reading`.

The questions and their true filters are in ``tests/answers/count_questions.tsv``. Two thirds were
written before the grammar, one third are those that a reader found wrong in its first version. A
question is right if exactly the papers of its filter are counted. The alternative of a user without
the grammar is a filter with all words of the question that are not in a list of stop words.

Run: python -m benchmarks.counting ATLAS [--list]
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

import landscape
from benchmarks.results import print_table, save
from landscape.answers._requests import read_request
from landscape.errors import InputError
from landscape.search.matching import subject_words

QUESTIONS = Path(__file__).parents[1] / "tests" / "answers" / "count_questions.tsv"


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("atlas")
    parser.add_argument("--list", action="store_true", help="print the questions that are wrong")
    options = parser.parse_args()
    atlas = landscape.open(options.atlas)
    with QUESTIONS.open(encoding="utf-8") as lines:
        questions = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    right: dict[str, list[bool]] = {
        "counts, grammar": [],
        "counts, all words": [],
        "other questions, grammar": [],
    }
    for question in questions:
        text, truth = question["question"], question["filter"]
        try:
            found = read_request(atlas, text)
        except InputError:
            found = None
        if truth == "no count":
            right["other questions, grammar"].append(found is not None and not found.measure)
            continue
        papers = atlas.select(truth)
        is_counted = found is not None and found.measure in ("papers", "reviews")
        counted = atlas.select(found.filter) if found and is_counted else np.zeros(0)
        is_right = np.array_equal(counted, papers)
        right["counts, grammar"].append(is_right)
        words = ";".join(f'"{word}"' for word in subject_words(text))
        right["counts, all words"].append(np.array_equal(atlas.select(words), papers))
        if options.list and not is_right:
            print(f"{text} {found.filter if found else 'not read'}; true: {truth}")
    rows = [[name, str(len(found)), f"{np.mean(found):.1%}"] for name, found in right.items()]
    print_table("Questions about counts", ["questions", "number", "right"], rows)
    save("counting", {name: float(np.mean(found)) for name, found in right.items()})


if __name__ == "__main__":
    main()
