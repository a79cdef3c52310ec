"""The sentences that need a citation, found by `landscape check` in published papers.

The full texts of DEAL (Detecting Entities in the Astrophysics Literature, LANDSCAPE_DATA) have
citations. They are removed, and a sentence needs a citation if one was removed from it. Citations
of the sentences around it stay known, as in a draft. The papers with an even hash of the bibcode
fit the weights of `data/citation_need.yaml`; the others measure them.

Run: python -m benchmarks.citation_need [--fit]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.measuring import DATA
from benchmarks.results import print_table, save
from landscape.agents._citation_need import MIN_WORDS, citation_need, earlier_work, need_features
from landscape.text import split_sentences

FRAGMENTS = DATA / "deal" / "fragments.jsonl"
WEIGHTS = Path(__file__).parents[1] / "data" / "citation_need.yaml"
_YEAR = r"\b(?:19|20)\d\d[a-z]?\b"
_GROUP = re.compile(r"[(\[][^()\[\]]{0,800}[)\]]")
_WITH_NAME = re.compile(rf"[^\W\d_][.,]*\s+{_YEAR}")
_MONTH = re.compile(r"\b(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sep|Oct|Nov|Dec)[a-z]*\b")
_NAMES = re.compile(
    r"(?:(?:[A-Z][\w'’.-]*|et|al\.|etal\.|and|&|van|von|de|der|den|la|le|,)\s+){1,8}$"
)
_MARK = "\ue010"
_FOLDS, _STRENGTH, _MIN_COUNT = 5, 0.25, 12


@dataclass(frozen=True)
class Sentence:
    """Sentence of a fragment, without its citations."""

    text: str
    needs: bool
    cited: tuple[bool, ...]  # which sentences of the fragment have a citation
    place: int
    fragment: int


def read_sentences(*, held_out: bool, path: Path = FRAGMENTS) -> list[Sentence]:
    """Read the whole sentences of one half of the full texts."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        fragment = json.loads(line)
        odd = int(hashlib.sha256(fragment["bibcode"].encode()).hexdigest(), 16) % 2
        if fragment["section"] != "fulltext" or bool(odd) != held_out:
            continue
        text = without_citations(" ".join(fragment["tokens"]))
        pieces = [text[start:end] for start, end in split_sentences(text)][1:-1]
        cited = tuple(_MARK in piece for piece in pieces)
        found += [
            Sentence(" ".join(piece.replace(_MARK, " ").split()), cited[n], cited, n, number)
            for n, piece in enumerate(pieces)
        ]
    return found


def without_citations(text: str) -> str:
    """Replace citations such as "( Smith et al. 2010 )" and "Smith et al. ( 2010 )" by a mark."""
    pieces, done = [], 0
    for match in _GROUP.finditer(text):
        inside, start = match[0][1:-1].strip(), match.start()
        is_date = _MONTH.search(inside) and ";" not in inside and "al." not in inside
        if re.match(_YEAR, inside) and not is_date:
            names = _NAMES.search(text[max(done, start - 90) : start])
            if names is None:
                continue
            start -= len(names[0])
        elif is_date or not _WITH_NAME.search(inside):
            continue
        pieces += [text[done:start], f"{_MARK} "]
        done = match.end()
    return "".join([*pieces, text[done:]])


def by_rule(sentence: Sentence) -> bool:
    """Return the answer of the rule that the model replaced."""
    return len(sentence.text.split()) >= MIN_WORDS and bool(earlier_work(sentence.text))


def by_model(sentence: Sentence) -> bool:
    """Return the answer of the model."""
    return bool(citation_need(sentence.text, sentence.cited, sentence.place).cue)


def measures(needs: ArrayLike, found: ArrayLike) -> list[float]:
    """Return precision, recall and F1."""
    true, both = np.asarray(needs, dtype=bool), np.asarray(found, dtype=bool)
    right = float((true & both).sum())
    return [
        right / max(int(both.sum()), 1),
        right / max(int(true.sum()), 1),
        2 * right / max(int(true.sum() + both.sum()), 1),
    ]


def fit(sentences: Sequence[Sentence]) -> dict[str, Any]:
    """Fit the weights; the threshold has the best F1 of a cross-validation by fragment."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold

    used = [one for one in sentences if len(one.text.split()) >= MIN_WORDS]
    features = [need_features(one.text, one.cited, one.place) for one in used]
    counts = Counter(name for held in features for name, value in held.items() if value)
    features = [
        {name: value for name, value in held.items() if counts[name] >= _MIN_COUNT}
        for held in features
    ]
    needs = np.array([one.needs for one in used])
    vectorizer = DictVectorizer(dtype=np.float32, sparse=False)
    matrix = vectorizer.fit_transform(features)

    def model() -> Any:
        return LogisticRegression(C=_STRENGTH, l1_ratio=1.0, solver="liblinear", random_state=0)

    chances = np.zeros(len(used))
    groups = [one.fragment for one in used]
    for train, test in GroupKFold(_FOLDS).split(matrix, needs, groups):
        fitted = model().fit(matrix[train], needs[train])
        chances[test] = fitted.predict_proba(matrix[test])[:, 1]
    steps = np.arange(0.1, 0.6, 0.01)
    threshold = max(steps, key=lambda step: measures(needs, chances >= step)[2])
    print("cross-validation:", [round(x, 3) for x in measures(needs, chances >= threshold)])
    fitted = model().fit(matrix, needs)
    weights = {
        str(name): round(float(weight), 3)
        for name, weight in zip(vectorizer.get_feature_names_out(), fitted.coef_[0], strict=True)
        if abs(weight) >= 0.0005
    }
    return {
        "intercept": round(float(fitted.intercept_[0]), 3),
        "threshold": round(float(threshold), 2),
        "weights": dict(sorted(weights.items(), key=lambda item: -item[1])),
    }


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", action="store_true", help="fit the weights again")
    parser.add_argument("--held-out", action="store_true", help="measure the other half too")
    options = parser.parse_args()
    development = read_sentences(held_out=False)
    if options.fit:
        import yaml

        head = (
            "# Weights of agents/_citation_need.py, fitted by benchmarks/citation_need.py --fit.\n"
        )
        text = yaml.safe_dump(fit(development), sort_keys=False, allow_unicode=True)
        WEIGHTS.write_text(head + text, encoding="utf-8")
    ways: dict[str, Callable[[Sentence], bool]] = {
        "every sentence": lambda _: True,
        "phrases (the rule before)": by_rule,
        "model": by_model,
    }
    halves = {"development": development}
    if options.held_out:
        halves["held out"] = read_sentences(held_out=True)
    rows = [
        [way, half, *(f"{x:.2f}" for x in measures([s.needs for s in sentences], found))]
        for half, sentences in halves.items()
        for way, find in ways.items()
        for found in [[find(sentence) for sentence in sentences]]
    ]
    counts = ", ".join(
        f"{len(some):,} ({half}), {sum(one.needs for one in some):,} need one"
        for half, some in halves.items()
    )
    head_row = ["sentences that need a citation", "half", "precision", "recall", "F1"]
    print_table(f"Sentences of DEAL: {counts}", head_row, rows)
    if options.held_out:
        print(f"\n{save('citation_need', {'rows': rows})}")


if __name__ == "__main__":
    main()
