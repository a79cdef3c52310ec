"""Fit and measure the roles of sentences.

``python -m benchmarks.sentence_roles ATLAS`` reads the abstracts with headings, such as "Aims.",
fits the model `sentence_roles` to them without the headings, and measures it by
cross-validation over papers.
"""

from __future__ import annotations

import argparse
import re

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import GroupKFold

import landscape
from benchmarks.results import print_table, save
from landscape.answers.sentence_scoring import (
    ROLES,
    position_features,
    role_of_heading,
    role_probabilities,
    terms_of,
)
from landscape.models import read_numbers, write_numbers
from landscape.text import split_sentences

_HEADING = re.compile(
    r"(?:^|(?<=[.!?:)\]] ))(?=(?:Context|Background|Aims?|Objectives?|Methods?|Results?|"
    r"Conclusions?)\s?[.:]\s)"
)
_AFTER_HEADING = re.compile(r"\w+\s?[.:]\s+")
_MIN_ROLES = 3
_TERMS = 1_500
_STEP = 0.01  # of the stored weights

Abstract = list[tuple[str, str]]  # sentences and their roles


def read_abstract(text: str) -> Abstract:
    """Return the sentences of an abstract without headings, and their roles."""
    found: Abstract = []
    for part in _HEADING.split(text):
        role = role_of_heading(part)
        if role:
            body = _AFTER_HEADING.sub("", part, count=1)
            found += [(body[start:end], role) for start, end in split_sentences(body)]
    return found


def variants(abstract: Abstract, generator: np.random.Generator) -> list[Abstract]:
    """Return an abstract, copies without a role, and a copy in another order.

    Abstracts without headings do not have all roles, and mix them.
    """
    copies = [[one for one in abstract if one[1] != role] for role in ("context", "aim", "method")]
    mixed = [abstract[place] for place in generator.permutation(len(abstract))]
    return [abstract, *copies, mixed]


def features(abstracts: list[Abstract], counter: CountVectorizer) -> sparse.csr_matrix:
    """Return terms, scaled by the square root of their number, and positions."""
    sentences = [sentence for abstract in abstracts for sentence, _ in abstract]
    counts = counter.transform(sentences)
    scale = 1.0 / np.sqrt(np.maximum(counts.sum(axis=1).A1, 1.0))
    places = np.vstack([position_features(len(abstract)) for abstract in abstracts])
    return sparse.hstack([sparse.diags(scale) @ counts, places]).tocsr()


def fit(abstracts: list[Abstract]) -> dict[str, object]:
    """Fit the model, and return what is stored."""
    generator = np.random.default_rng(0)
    parts = [part for one in abstracts for part in variants(one, generator) if part]
    counter = CountVectorizer(analyzer=terms_of, max_features=_TERMS, binary=True)
    counter.fit([sentence for abstract in abstracts for sentence, _ in abstract])
    roles = [ROLES.index(role) for part in parts for _, role in part]
    model = LogisticRegression(C=1.0, max_iter=1_000).fit(features(parts, counter), roles)
    weights = model.coef_.T
    names = counter.get_feature_names_out()
    terms = {
        name: np.rint(row / _STEP).astype(int).tolist()
        for name, row in zip(names, weights, strict=False)
    }
    return {
        "intercept": model.intercept_.round(3).tolist(),
        "positions": weights[len(names) :].round(3).tolist(),
        "terms": terms,
    }


def store(model: dict[str, object]) -> None:
    """Write the model, and forget the one that was read before."""
    from landscape.answers import sentence_scoring

    write_numbers("sentence_roles", model)
    read_numbers.cache_clear()
    sentence_scoring._model.cache_clear()


def main() -> None:
    """Measure the model by cross-validation, and store the fit to all abstracts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("atlas")
    atlas = landscape.open(parser.parse_args().atlas)
    every = [read_abstract(text) for text in atlas.read_papers()["abstract"]]
    abstracts = [one for one in every if len({role for _, role in one}) >= _MIN_ROLES]
    truth: list[int] = []
    found: list[int] = []
    by_place: list[int] = []
    gains: list[float] = []  # of each abstract
    for train, test in GroupKFold(5).split(abstracts, groups=np.arange(len(abstracts))):
        store(fit([abstracts[row] for row in train]))
        for row in test:
            sentences, roles = zip(*abstracts[row], strict=True)
            truth += [ROLES.index(role) for role in roles]
            found += role_probabilities(sentences).argmax(axis=1).tolist()
            by_place += _by_place(len(sentences))
            own = np.array([truth, found, by_place])[:, -len(sentences) :]
            gains.append(float((own[1] == own[0]).mean() - (own[2] == own[0]).mean()))
    store(fit(abstracts))
    rows = [
        [name, f"{accuracy_score(truth, got):.3f}", f"{f1_score(truth, got, average='macro'):.3f}"]
        + [f"{f1:.2f}" for f1 in f1_score(truth, got, average=None)]
        for name, got in (("position alone", by_place), ("model", found))
    ]
    print_table(
        f"Roles of {len(truth):,} sentences of {len(abstracts):,} abstracts, cross-validated",
        ["", "accuracy", "macro F1", *(f"F1 of {role}" for role in ROLES)],
        rows,
    )
    error = np.std(gains) / np.sqrt(len(gains))
    print(f"\ngain in accuracy {np.mean(gains):.3f} +- {error:.3f} over the abstracts")
    print(f"\n{save('sentence_roles', rows)}")


def _by_place(n: int) -> list[int]:
    """Return the most frequent role at each place: context, aim, methods, and then results."""
    return np.searchsorted([0.17, 0.3, 0.53], np.arange(n) / max(n - 1, 1)).tolist()


if __name__ == "__main__":
    main()
