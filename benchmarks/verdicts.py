"""Fit and measure the verdicts of `landscape.answers.check_claim`.

Pairs: SciFact (Wadden et al. 2020) and ScholarQA-Multi (Asai et al. 2024) in the folder of real
data, and pairs that `claim_pairs` generates from an atlas of real papers. The results are
cross-validated: a claim, a question or a paper is in one part. The stored regressions are fitted to
all pairs. Comparison: the same regressions on the cosine of MiniLM with words of negation and
direction.

Run: python -m benchmarks.verdicts ATLAS [--write]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from hashlib import sha256
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
from landscape.answers.verdicts import (
    LABELS,
    Features,
    embed,
    features,
    probabilities_of,
    share_of_copies,
    split_text,
)
from landscape.models import write_numbers

_SCIFACT = {"SUPPORTS": "supported", "REFUTES": "contradicted", "NOT_ENOUGH_INFO": "not found"}
_N_GENERATED, _SAMPLE = 1200, 4300
_PRECISION = 0.8  # of verdicts that are called certain
_PARTS = 10  # of the cross-validation
_SIZE = 208  # sum of the weights of pairs of strength 1
# Inverse strength of the regularisation, and the weights of the pairs of each source.
_FITS: dict[str, tuple[float, dict[str, float]]] = {
    "copies": (0.1, {"scifact": 0.5, "generated": 1.0, "scholarqa": 0.1}),
    "paraphrases": (0.05, {"scifact": 1.0, "generated": 0.1, "scholarqa": 0.4}),
}
_SOURCES = ("scifact", "generated", "scholarqa")
_BASELINE = ("cosine of 1", "one denied", "opposite direction", "same direction", "denied")
Floats = NDArray[np.float64]


class Case(NamedTuple):
    """A claim and a text with the true verdict."""

    source: str
    claim: str
    text: tuple[str, ...]
    label: str
    group: str  # cases of a group are in the same half


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
    """Generate pairs from papers of an atlas."""
    table = atlas.read_papers()
    vectors = np.load(next((atlas.path / "embeddings").glob("*.npy")), mmap_mode="r")
    rows = np.unique(np.linspace(0, len(table) - 1, min(len(table), _SAMPLE)).astype(int)).tolist()
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


def read_features(cases: Sequence[Case], *, words_only: bool = False) -> list[Features]:
    """Compute the features of all cases; each text is read once."""
    texts = list(dict.fromkeys(text for case in cases for text in (case.claim, *case.text)))
    vectors = None if words_only else embed(texts)
    if vectors is None:
        return [features(case.claim, case.text, None) for case in cases]
    known = dict(zip(texts, vectors, strict=True))
    return [
        features(
            case.claim, case.text, np.array([known[text] @ known[case.claim] for text in case.text])
        )
        for case in cases
    ]


def fit(cases: Sequence[Case], found: Sequence[Features], names: Sequence[str]) -> dict[str, Any]:
    """Fit the regressions for copies and for paraphrases."""
    covered = np.array([one.values["covered"] for one in found])
    shares = {"copies": share_of_copies(covered), "paraphrases": 1.0 - share_of_copies(covered)}
    sources = np.array([case.source for case in cases])
    fitted = {}
    for kind, (regularisation, strengths) in _FITS.items():
        weights = np.zeros(len(cases))
        for source, strength in strengths.items():
            share = np.where(sources == source, shares[kind], 0.0)
            weights += strength * share / share.sum()
        fitted[kind] = _regression(cases, found, names, weights * _SIZE, regularisation)
    return fitted


def _regression(
    cases: Sequence[Case],
    found: Sequence[Features],
    names: Sequence[str],
    weights: Floats,
    regularisation: float,
) -> dict[str, Any]:
    """Fit one regression; return coefficients for features that are not scaled."""
    values = np.array([[one.values[name] for name in names] for one in found])
    mean, scale = values.mean(axis=0), values.std(axis=0) + 1e-9
    model = LogisticRegression(C=regularisation, max_iter=5000)
    model.fit((values - mean) / scale, _labels(cases), sample_weight=weights)
    coefficients = model.coef_ / scale
    intercepts = model.intercept_ - coefficients @ mean
    return {
        "intercepts": [round(float(one), 4) for one in intercepts],
        "coefficients": {
            name: [round(float(one), 4) for one in coefficients[:, n]]
            for n, name in enumerate(names)
        },
    }


def _labels(cases: Sequence[Case]) -> NDArray[np.int64]:
    return np.array([LABELS.index(case.label) for case in cases])


def predict(model: dict[str, Any], found: Sequence[Features]) -> Floats:
    """Return the probabilities of the labels for each case."""
    return np.array([probabilities_of(one.values, model) for one in found])


def cross_validate(
    cases: Sequence[Case], found: Sequence[Features], names: Sequence[str]
) -> Floats:
    """Return probabilities for each case from a fit to the cases of other groups."""
    parts = np.array([int(sha256(case.group.encode()).hexdigest(), 16) % _PARTS for case in cases])
    probabilities = np.zeros((len(cases), len(LABELS)))
    for part in range(_PARTS):
        own, others = np.flatnonzero(parts == part), np.flatnonzero(parts != part)
        model = fit([cases[int(n)] for n in others], [found[int(n)] for n in others], names)
        probabilities[own] = predict(model, [found[int(n)] for n in own])
    return probabilities


def measure(cases: Sequence[Case], probabilities: Floats) -> dict[str, float]:
    """Return accuracies, F1, calibration error, and the share of preferred cited passages."""
    truth = _labels(cases)
    said = probabilities.argmax(axis=1)
    of = {name: np.array([case.source == name for case in cases]) for name in _SOURCES}
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


def are_right(cases: Sequence[Case], probabilities: Floats) -> dict[str, Floats]:
    """Return 1 for each right label, or for each preferred passage of ScholarQA, and 0 else."""
    said, truth = probabilities.argmax(axis=1), _labels(cases)
    sources = np.array([case.source for case in cases])
    found = {name: (said == truth)[sources == name].astype(float) for name in _SOURCES}
    supports = probabilities[sources == "scholarqa", 0]
    return found | {"scholarqa": (supports[::2] > supports[1::2]).astype(float)}


def calibration_error(probabilities: Floats, is_right: NDArray[np.bool_]) -> float:
    """Return the expected calibration error in ten bins of equal size (Naeini et al. 2015)."""
    bins = np.array_split(np.argsort(probabilities), 10)
    return float(
        sum(abs(probabilities[one].mean() - is_right[one].mean()) * len(one) for one in bins)
        / len(probabilities)
    )


def threshold(cases: Sequence[Case], probabilities: Floats, label: int) -> float:
    """Return the probability of a label from which its precision is high enough everywhere."""
    truth, sources = _labels(cases), np.array([case.source for case in cases])
    limits = []
    for source in ("scifact", "generated"):
        chosen = np.flatnonzero((probabilities.argmax(axis=1) == label) & (sources == source))
        order = chosen[np.argsort(-probabilities[chosen, label])]
        precision = np.cumsum(truth[order] == label) / np.arange(1, len(order) + 1)
        good = np.flatnonzero(precision >= _PRECISION)
        limits.append(float(probabilities[order[good[-1]], label]) if len(good) else 1.0)
    return max(limits)


def main() -> None:
    """Cross-validate, print the results, and store a fit to all pairs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("atlas")
    parser.add_argument("--write", action="store_true", help="fit to all pairs and store the fit")
    options = parser.parse_args()
    cases = public_cases() + generated_cases(ls.open(options.atlas))
    rows, stored, right = [], {}, {}
    for kind in ("vectors", "words", "baseline"):
        found = read_features(cases, words_only=kind == "words")
        names = _BASELINE if kind == "baseline" else tuple(found[0].values)
        probabilities = cross_validate(cases, found, names)
        measured = measure(cases, probabilities)
        right[kind] = are_right(cases, probabilities)
        limits = [round(threshold(cases, probabilities, label), 3) for label in range(len(LABELS))]
        rows.append([kind, *(f"{value:.3f}" for value in measured.values()), f"{limits[1]:.2f}"])
        if kind != "baseline":
            stored[kind] = {
                "certain": dict(zip(LABELS, limits, strict=True)),
                **fit(cases, found, names),
            }
    head = ["features", *measured, "certain contradiction"]
    print_table("Verdicts, cross-validated", head, rows)
    gains = []
    for kind in ("vectors", "words"):
        for source in _SOURCES:
            gain = right[kind][source] - right["baseline"][source]
            error = gain.std(ddof=1) / np.sqrt(len(gain))
            gains.append([kind, source, str(len(gain)), f"{gain.mean():.3f}", f"{error:.3f}"])
    print_table("Gain over the baseline", ["features", "pairs", "n", "gain", "error"], gains)
    if options.write:
        write_numbers("verdicts", stored)
    print(f"\n{save('verdicts', {'head': head, 'rows': rows})}")


if __name__ == "__main__":
    main()
