"""Fit and measure the verdicts of `landscape.answers.check_claim`.

Pairs: SciFact (Wadden et al. 2020) and ScholarQA-Multi (Asai et al. 2024) in the folder of real
data, and pairs that `claim_pairs` generates from an atlas of real papers. Half of each, by the hash
of the claim, question or paper, fits the logistic regression that is measured on the other half.
The stored regression is fitted to all pairs. Comparison: a regression on the cosine of MiniLM with
words of negation and direction, on the same halves.

Run: python -m benchmarks.verdicts ATLAS [--write]
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

import landscape as ls
from benchmarks.claim_pairs import generate
from benchmarks.measuring import DATA
from benchmarks.results import print_table, save
from landscape.answers import entailment
from landscape.answers.verdicts import LABELS, MODEL, Features, features, split_text

_SCIFACT = {"SUPPORTS": "supported", "REFUTES": "contradicted", "NOT_ENOUGH_INFO": "not found"}
_N_GENERATED = 900
_PRECISION = 0.8  # of verdicts that are called certain
_STRENGTHS = {"scifact": 1.0, "generated": 0.5, "scholarqa": 0.5}  # weights of the pairs
_REGULARISATION = 0.05  # inverse strength, chosen by cross-validation in the first half
_BASELINE = ("cosine of 1", "one denied", "opposite direction", "same direction", "denied")
Floats = NDArray[np.float64]


class Case(NamedTuple):
    """A claim and a text with the true verdict."""

    source: str
    claim: str
    text: tuple[str, ...]
    label: str
    group: str  # cases of a group are in the same half


def is_held_out(group: str) -> bool:
    """Return whether a group belongs to the half that only measures."""
    return int(hashlib.sha256(group.encode()).hexdigest(), 16) % 2 == 1


def public_cases() -> list[Case]:
    """Read SciFact and ScholarQA."""
    cases = []
    for pair in _read("scifact"):
        text = split_text(pair["evidence"])
        cases.append(Case("scifact", pair["claim"], text, _SCIFACT[pair["label"]], pair["claim"]))
    for pair in _read("scholarqa"):
        for key, label in (("cited", "supported"), ("other", "not found")):
            text = split_text(f"{pair[key]['title']}. {pair[key]['text']}")
            cases.append(Case("scholarqa", pair["claim"], text, label, pair["id"]))
    return cases


def _read(name: str) -> list[dict[str, Any]]:
    lines = (DATA / name / "pairs.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def generated_cases(atlas: ls.Atlas, n: int = _N_GENERATED) -> list[Case]:
    """Generate pairs from the papers of an atlas; one in ten papers, which no network has seen."""
    table = atlas.read_papers()
    vectors = np.load(next((atlas.path / "embeddings").glob("*.npy")), mmap_mode="r")
    rows = [row for row, one in enumerate(table["paper_id"]) if is_for_verdicts(str(one))][:6000]
    own = np.asarray(vectors[rows], dtype=np.float32)
    papers = [{key: str(table[key].iloc[row]) for key in ("title", "abstract")} for row in rows]

    def near(place: int) -> int:
        cosines = own @ own[place]
        return int(np.argsort(-cosines)[3 + place % 20])

    pairs = islice(generate(papers, near, seed=1, per_paper=1), n)
    ids = [str(table["paper_id"].iloc[row]) for row in rows]
    return [
        Case("generated", pair.claim, pair.sentences, pair.label, ids[row]) for row, pair in pairs
    ]


def is_for_verdicts(paper_id: str) -> bool:
    """Return whether pairs of a paper fit the regression and not the network."""
    return int(hashlib.md5(paper_id.encode()).hexdigest(), 16) % 10 == 0  # noqa: S324


def read_features(cases: Sequence[Case], *, words_only: bool = False) -> list[Features]:
    """Compute the features of all cases; each text is read once."""
    texts = list(dict.fromkeys(text for case in cases for text in (case.claim, *case.text)))
    readings = None if words_only else entailment.read(texts)
    known = dict(zip(texts, readings, strict=True)) if readings else {}
    return [
        features(
            case.claim,
            known.get(case.claim),
            case.text,
            [known[text] for text in case.text] if known else None,
        )
        for case in cases
    ]


def fit(
    cases: Sequence[Case], found: Sequence[Features], names: Sequence[str] | None = None
) -> dict[str, Any]:
    """Fit the logistic regression; return coefficients for features that are not scaled."""
    names = list(names or found[0].values)
    values = np.array([[one.values[name] for name in names] for one in found])
    labels = np.array([LABELS.index(case.label) for case in cases])
    mean, scale = values.mean(axis=0), values.std(axis=0) + 1e-9
    counts = {source: sum(case.source == source for case in cases) for source in _STRENGTHS}
    strengths = np.array([_STRENGTHS[case.source] / counts[case.source] for case in cases])
    model = LogisticRegression(C=_REGULARISATION * 3, max_iter=5000)
    model.fit(
        (values - mean) / scale, labels, sample_weight=strengths * 208 / _STRENGTHS["scifact"]
    )
    coefficients = model.coef_ / scale
    intercepts = model.intercept_ - coefficients @ mean
    return {
        "intercepts": [round(float(one), 4) for one in intercepts],
        "coefficients": {
            name: [round(float(one), 4) for one in coefficients[:, n]]
            for n, name in enumerate(names)
        },
    }


def predict(model: dict[str, Any], found: Sequence[Features]) -> Floats:
    """Return the probabilities of the labels for each case."""
    weights = np.array(list(model["coefficients"].values()))
    values = np.array([[one.values[name] for name in model["coefficients"]] for one in found])
    scores = values @ weights + np.array(model["intercepts"])
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def measure(cases: Sequence[Case], probabilities: Floats) -> dict[str, float]:
    """Return accuracies, F1, calibration error, and the share of preferred cited passages."""
    truth = np.array([LABELS.index(case.label) for case in cases])
    said = probabilities.argmax(axis=1)
    of = {name: np.array([case.source == name for case in cases]) for name in _STRENGTHS}
    result = {}
    for name in ("scifact", "generated"):
        result[f"{name} accuracy"] = float((said == truth)[of[name]].mean())
        result[f"{name} F1"] = float(f1_score(truth[of[name]], said[of[name]], average="macro"))
    supports = probabilities[of["scholarqa"], 0]
    result["scholarqa preferred"] = float((supports[::2] > supports[1::2]).mean())
    both = of["scifact"] | of["generated"]
    result["calibration error"] = calibration_error(
        probabilities[both].max(axis=1), (said == truth)[both]
    )
    return result


def calibration_error(probabilities: Floats, is_right: NDArray[np.bool_]) -> float:
    """Return the expected calibration error in ten bins of equal size (Naeini et al. 2015)."""
    bins = np.array_split(np.argsort(probabilities), 10)
    return float(
        sum(abs(probabilities[one].mean() - is_right[one].mean()) * len(one) for one in bins)
        / len(probabilities)
    )


def threshold(cases: Sequence[Case], probabilities: Floats, label: int) -> float:
    """Return the smallest probability of a label from which its precision is high enough."""
    truth = np.array([LABELS.index(case.label) for case in cases])
    chosen = np.flatnonzero(
        (probabilities.argmax(axis=1) == label)
        & np.array([case.source != "scholarqa" for case in cases])
    )
    order = chosen[np.argsort(-probabilities[chosen, label])]
    right = np.cumsum(truth[order] == label) / np.arange(1, len(order) + 1)
    good = np.flatnonzero(right >= _PRECISION)
    return float(probabilities[order[good[-1]], label]) if len(good) else 1.0


def main() -> None:
    """Fit on one half, measure on the other, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("atlas")
    parser.add_argument("--write", action="store_true", help="fit to all pairs and store the fit")
    options = parser.parse_args()
    cases = public_cases() + generated_cases(ls.open(options.atlas))
    first = np.array([not is_held_out(case.group) for case in cases])
    halves = [
        [case for case, one in zip(cases, first, strict=True) if one == half]
        for half in (True, False)
    ]
    rows, stored = [], {}
    for kind in ("network", "words", "baseline"):
        found = read_features(cases, words_only=kind == "words")
        chosen = [
            [f for f, one in zip(found, first, strict=True) if one == half]
            for half in (True, False)
        ]
        names = _BASELINE if kind == "baseline" else None
        model = fit(halves[0], chosen[0], names)
        probabilities = predict(model, chosen[1])
        measured = measure(halves[1], probabilities)
        sure = threshold(halves[1], probabilities, 1)
        rows.append([kind, *(f"{value:.3f}" for value in measured.values()), f"{sure:.2f}"])
        if kind != "baseline":
            stored[kind] = fit(cases, found, names)
            limits = [threshold(halves[1], probabilities, label) for label in range(3)]
            stored[kind]["certain"] = dict(zip(LABELS, np.round(limits, 3).tolist(), strict=True))
    print_table(
        "Verdicts on the half that was not fitted", ["features", *measured, "certain"], rows
    )
    if options.write:
        MODEL.write_text(json.dumps(stored, indent=1) + "\n", "utf-8")
    print(f"\n{save('verdicts', {'rows': rows})}")


if __name__ == "__main__":
    main()
