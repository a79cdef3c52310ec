"""Roles of facility mentions: agreement of two readers, and the classifier that the package uses.

`tests/overlays/missions/roles.jsonl` has labelled mentions in real titles and abstracts. Two
readers labelled 1,110 of them independently: science (data are used), instrumentation (about the
facility), planned (forecast or future) or mention (context). The sample "test" (450 random
mentions) is for measurements only; this benchmark reads it only with --final. Its first 250, read
twice, also served to choose the weight of the role "mention"; the last 200, by one reader, did not.
"random" is uniform over mentions, "cue" has words such as "forecast" nearby, and "model" was chosen
by an earlier classifier and labelled by one reader. "rare" has mentions that a later classifier
called context or instrumentation, or nearly so, drawn at random within each group: the first 270
by one reader, and 300 on which two readers agree (of 310).

Run: python -m benchmarks.roles [--final] [--write]
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import PAPERS
from benchmarks.results import print_table, save
from landscape.corpus.facilities import ROLES
from landscape.models import write_weights

# Private: the benchmark fits the weights that the package reads.
from landscape.overlays.missions._mentions import find_places
from landscape.overlays.missions.roles import N_FEATURES, Place, describe_places, feature_numbers

LABELS = Path(__file__).parents[1] / "tests/overlays/missions/roles.jsonl"
_FOLDS = 10
_STRENGTH = 0.05  # inverse of the regularisation
_OF_MENTION = 1.3  # total weight of the role "mention", which is found least
# Weights of mentions that an earlier classifier chose, relative to the others.
_CHOSEN = {"model": 0.3, "rare": 0.3}


def read_labels() -> tuple[list[dict[str, Any]], dict[str, dict[str, str]]]:
    """Return labelled mentions, and their papers by arXiv identifier."""
    labels = [json.loads(line) for line in LABELS.read_text("utf-8").splitlines()]
    wanted = {label["arxiv_id"] for label in labels}
    with gzip.open(PAPERS, "rt") as lines:
        papers = {
            one["arxiv_id"]: one for one in map(json.loads, lines) if one["arxiv_id"] in wanted
        }
    return labels, papers


def features(label: dict[str, Any], paper: dict[str, str], *, with_title: bool = True) -> Any:
    """Return the features of a mention, a row of a sparse matrix."""
    from scipy.sparse import csr_array

    texts = [paper["title"], paper["abstract"]] if with_title else [paper["abstract"]]
    start = len(texts[0]) + 1 if with_title and label["field"] == "abstract" else 0
    text = "\n".join(texts)
    own = Place(label["start"] + start, label["end"] + start, label["facility"])
    starts = [0, len(texts[0]) + 1]
    places = {
        Place(one.start + at, one.end + at, one.facility)
        for at, found in zip(starts, find_places(texts), strict=False)
        for one in found
        if one.end + at <= own.start or one.start + at >= own.end
    }
    ordered = sorted({own, *places})
    day = date.fromisoformat(paper["date"]) if len(paper["date"]) == len("2026-01-01") else None
    shared, *each = describe_places(text, ordered, day)
    values = np.zeros((1, N_FEATURES), dtype=np.float32)
    values[0, feature_numbers([*shared, *each[ordered.index(own)]])] = 1
    return csr_array(values)


def fit(rows: Any, truth: Any, weights: Any) -> Any:
    """Fit a multinomial logistic regression in which each role has a fixed total weight."""
    from sklearn.linear_model import LogisticRegression

    totals = {role: weights[truth == role].sum() for role in ROLES}
    weights = weights / np.array([totals[role] for role in truth])
    weights = np.where(truth == "mention", _OF_MENTION, 1.0) * weights
    model = LogisticRegression(C=_STRENGTH, max_iter=1000)
    return model.fit(rows, truth, sample_weight=weights * len(weights) / weights.sum())


def score(truth: Sequence[str], found: Sequence[str], name: str) -> list[str]:
    """Return accuracy, macro F1 and F1 of each role."""
    from sklearn.metrics import accuracy_score, f1_score

    each = f1_score(truth, found, average=None, labels=list(ROLES), zero_division=0)
    return [
        name,
        f"{accuracy_score(truth, found):.2f}",
        f"{each.mean():.2f}",
        *(f"{one:.2f}" for one in each),
    ]


def write(model: Any, confusion: Any) -> None:
    """Write the weights in 8 bits."""
    order = [list(model.classes_).index(role) for role in ROLES]
    weights, bias = model.coef_[order].T, model.intercept_[order]
    step = np.abs(weights).max() / 127
    arrays = {
        "weights": np.rint(weights / step).astype(np.int8),
        "scale": np.array(step, dtype=np.float32),
        "bias": bias.astype(np.float32),
        "confusion": confusion,
    }
    write_weights("facility_roles", arrays)


def main() -> None:
    """Run the benchmark and print the results; with --write, write the weights of the package."""
    from scipy.sparse import vstack
    from sklearn.metrics import cohen_kappa_score, confusion_matrix
    from sklearn.model_selection import StratifiedKFold

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--final", action="store_true", help="measure on the sample test")
    parser.add_argument("--write", action="store_true", help="write the weights of the package")
    options = parser.parse_args()
    labels, papers = read_labels()
    # Of the sample "rare", only labels on which two readers agree were kept.
    double = [one for one in labels if "second" in one and one["sample"] != "rare"]
    kappa = cohen_kappa_score([one["role"] for one in double], [one["second"] for one in double])
    held = [one for one in labels if one["sample"] == "test"]
    used = [one for one in labels if one["sample"] != "test"]
    rows = vstack([features(one, papers[one["arxiv_id"]]) for one in used]).tocsr()
    bare = [one for one in used if one["field"] == "abstract"]
    bare_rows = vstack([features(one, papers[one["arxiv_id"]], with_title=False) for one in bare])
    numbers = {id(one): number for number, one in enumerate(used)}
    owner = np.array([numbers[id(one)] for one in bare])
    truth = np.array([one["role"] for one in used])
    sample = np.array([one["sample"] for one in used])
    fair = np.isin(sample, ["random", "cue"])  # chosen without a classifier
    weights = np.array([_CHOSEN.get(one, 1.0) for one in sample])

    def fitted(chosen: Any) -> Any:
        # Each text is learnt with and without its title, because users give both kinds.
        also = np.isin(owner, chosen)
        return fit(
            vstack([rows[chosen], bare_rows.tocsr()[also]]),
            np.append(truth[chosen], truth[owner[also]]),
            np.append(weights[chosen], weights[owner[also]]),
        )

    found = np.empty(len(used), dtype=object)
    for chosen, rest in StratifiedKFold(_FOLDS, shuffle=True, random_state=0).split(truth, truth):
        found[rest] = fitted(chosen).predict(rows[rest])
    table = [
        score([one["role"] for one in double], [one["second"] for one in double], "second reader"),
        score(truth[fair].tolist(), ["science"] * int(fair.sum()), "always science"),
        score(truth[fair].tolist(), found[fair].tolist(), "words, ten folds"),
        score(truth.tolist(), found.tolist(), "words, ten folds, all samples"),
    ]
    model = fitted(np.arange(len(used)))
    if options.write:
        uniform = sample == "random"
        write(model, confusion_matrix(truth[uniform], found[uniform], labels=list(ROLES)))
    if options.final:
        for name, title in (("words, test", True), ("words, test, no title", False)):
            asked = [one for one in held if title or one["field"] == "abstract"]
            predicted = model.predict(
                vstack([features(one, papers[one["arxiv_id"]], with_title=title) for one in asked])
            )
            table.append(score([one["role"] for one in asked], list(predicted), name))
    head = ["", "accuracy", "macro F1", *ROLES]
    print_table(f"Roles of {len(labels):,} mentions; kappa of two readers {kappa:.2f}", head, table)
    print(f"\n{save('roles', {'kappa': kappa, 'rows': table})}")


if __name__ == "__main__":
    main()
