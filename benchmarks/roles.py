"""Roles of facility mentions: agreement of two readers, and a first classifier.

`tests/overlays/missions/roles.jsonl` has 1,000 mentions in real titles and abstracts. Two readers
labelled 800 of them independently: science (its data are used), instrumentation (about the
facility), planned (forecast or future) or mention (context). The sample "test" (250 random
mentions) is for final measurements only; this benchmark reads it only with --final. "random" is
uniform over mentions, "cue" has words such as "forecast" nearby, and "model" was chosen by an
earlier classifier and labelled by one reader.

Run: python -m benchmarks.roles [--final]
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import PAPERS
from benchmarks.results import print_table, save
from landscape.corpus import load_facilities
from landscape.overlays.missions import find_mentions

LABELS = Path(__file__).parents[1] / "tests/overlays/missions/roles.jsonl"
ROLES = ("science", "instrumentation", "planned", "mention")
_WORDS = re.compile(r"[A-Za-z0-9][A-Za-z0-9'\-]*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\\$(])")
_FOLDS = 10
_NEAR = 3  # words before and after a mention whose order is a feature


def read_labels() -> tuple[list[dict[str, Any]], dict[str, dict[str, str]]]:
    """Labelled mentions, and the papers that they are in, by arXiv identifier."""
    labels = [json.loads(line) for line in LABELS.read_text("utf-8").splitlines()]
    wanted = {label["arxiv_id"] for label in labels}
    with gzip.open(PAPERS, "rt") as lines:
        papers = {one["arxiv_id"]: one for one in map(json.loads, lines)
                  if one["arxiv_id"] in wanted}  # fmt: skip
    return labels, papers


def features(label: dict[str, Any], paper: dict[str, str]) -> dict[str, float]:
    """Words of the sentence and of the title, words next to the mention, and the facility."""
    text, start, end = paper[label["field"]], label["start"], label["end"]
    first = max((match.end() for match in _SENTENCE_END.finditer(text, 0, start)), default=0)
    stop = _SENTENCE_END.search(text, end)
    before = [word.lower() for word in _WORDS.findall(text[first:start])]
    after = [word.lower() for word in _WORDS.findall(text[end : stop.start() if stop else None])]
    title = [word.lower() for word in _WORDS.findall(paper["title"])]
    found = {f"sentence:{word}": 1.0 for word in (*before, *after)}
    found |= {f"title:{word}": 1.0 for word in title}
    found |= {f"before {n}:{word}": 1.0 for n, word in enumerate(before[: -_NEAR - 1 : -1])}
    found |= {f"after {n}:{word}": 1.0 for n, word in enumerate(after[:_NEAR])}
    facility = load_facilities().get(label["facility"])
    here = [one.facility for one in find_mentions(paper["title"])]
    others = {one.facility for one in find_mentions(paper["abstract"])}
    return found | {
        "in title": float(label["field"] == "title"),
        "also in title": float(label["facility"] in here),
        "first sentence": float(first == 0),
        "place": start / max(len(text), 1),
        "facilities": min(len(others), 6) / 6,
        "planned facility": float(facility is not None and facility.first_light.year >= 2026),
    }


def score(truth: Sequence[str], found: Sequence[str], name: str) -> list[str]:
    """Accuracy, macro F1 and F1 of each role."""
    from sklearn.metrics import accuracy_score, f1_score

    each = f1_score(truth, found, average=None, labels=list(ROLES), zero_division=0)
    return [name, f"{accuracy_score(truth, found):.2f}", f"{each.mean():.2f}",
            *(f"{one:.2f}" for one in each)]  # fmt: skip


def main() -> None:
    """Measure and print."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import cohen_kappa_score
    from sklearn.model_selection import StratifiedKFold
    from sklearn.pipeline import make_pipeline

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--final", action="store_true", help="measure on the sample test")
    options = parser.parse_args()
    labels, papers = read_labels()
    double = [one for one in labels if "second" in one]
    kappa = cohen_kappa_score([one["role"] for one in double], [one["second"] for one in double])
    held = [one for one in labels if one["sample"] == "test"]
    used = [one for one in labels if one["sample"] != "test"]
    described = [features(one, papers[one["arxiv_id"]]) for one in used]
    truth = np.array([one["role"] for one in used])
    fair = np.array([one["sample"] != "model" for one in used])  # chosen without a classifier

    def fitted(rows: Any) -> Any:
        model = LogisticRegression(C=0.1, max_iter=3000, class_weight="balanced")
        return make_pipeline(DictVectorizer(), model).fit([described[i] for i in rows], truth[rows])

    found = np.empty(len(used), dtype=object)
    for rows, rest in StratifiedKFold(_FOLDS, shuffle=True, random_state=0).split(truth, truth):
        found[rest] = fitted(rows).predict([described[i] for i in rest])
    table = [
        score([one["role"] for one in double], [one["second"] for one in double], "second reader"),
        score(truth[fair].tolist(), ["science"] * int(fair.sum()), "always science"),
        score(truth[fair].tolist(), found[fair].tolist(), "words, ten folds"),
    ]
    if options.final:
        predicted = fitted(np.arange(len(used))).predict(
            [features(one, papers[one["arxiv_id"]]) for one in held]
        )
        table.append(score([one["role"] for one in held], list(predicted), "words, test"))
    head = ["", "accuracy", "macro F1", *ROLES]
    print_table(f"Roles of {len(labels):,} mentions; kappa of two readers {kappa:.2f}", head, table)
    print(f"\n{save('roles', {'kappa': kappa, 'rows': table})}")


if __name__ == "__main__":
    main()
