"""Fit the weights of concept tags, the `weights` and `judgements` of ``data/thesaurus.yaml``.

``python -m benchmarks.concept_weights ATLAS PAPERS UAT.json`` prints weights with the recall of a
cross-validation, and writes ``data/uat_usage.csv``. Call `fit_judgements` with the tags that a
reader judged.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from landscape._io import data_file, read_yaml
from landscape.corpus.thesaurus import read_thesaurus

# Private modules: the weights belong to the steps inside of tagging.
from landscape.overlays.thesaurus.matching import read_papers
from landscape.overlays.thesaurus.tagging import (
    FEATURES,
    Evidence,
    concept_texts,
    features,
    gather_evidence,
    usage,
)

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.corpus.thesaurus import Thesaurus


def chosen_concepts(given: Mapping[int, Sequence[str]], thesaurus: Thesaurus) -> pd.DataFrame:
    """Count the papers whose authors chose each concept, the table ``data/uat_usage.csv``."""
    import pandas as pd

    counts = Counter(one for ids in given.values() for one in set(ids))
    rows = [
        {"concept_id": one, "label": thesaurus.concepts[one].label, "papers": papers}
        for one, papers in counts.most_common()
        if one in thesaurus.concepts
    ]
    return pd.DataFrame(rows, columns=["concept_id", "label", "papers"])


@dataclass(frozen=True)
class Candidates:
    """Candidate concepts of papers, their features, and whether the authors chose them."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    measured: NDArray[np.float32]
    right: NDArray[np.bool_]

    def fit(self, used: NDArray[np.bool_]) -> Fit:
        """Fit the weights of tagging to the candidates of some papers by logistic regression."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import StandardScaler

        counts = np.bincount(self.columns, self.right & used).astype(np.float64)
        own = self.with_usage(counts, self.right)[used]
        scaler = StandardScaler().fit(own)
        model = LogisticRegression(max_iter=1000).fit(scaler.transform(own), self.right[used])
        weights = model.coef_[0] / scaler.scale_
        intercept = model.intercept_[0] - weights @ scaler.mean_
        return Fit(counts, np.array([intercept, *weights]))

    def with_usage(
        self, counts: NDArray[np.float64], own: NDArray[np.bool_] | int = 0
    ) -> NDArray[np.float64]:
        """Return the features with the use of concepts by other papers; see `usage`."""
        values = self.measured.astype(np.float64)
        chosen = np.maximum(counts[self.columns] - own, 0)
        values[:, FEATURES.index("usage")] = np.log(chosen + 0.5)
        return values


class Fit(NamedTuple):
    """How many papers chose each concept, and the weights; the first is the intercept."""

    counts: NDArray[np.float64]
    weights: NDArray[np.float64]


def find_candidates(
    papers: pd.DataFrame,
    vectors: NDArray[np.float32] | None,
    given: Mapping[int, Sequence[str]],
    thesaurus: Thesaurus,
    concept_vectors: NDArray[np.float32] | None,
) -> Candidates:
    """Find the candidate concepts of the papers whose authors chose concepts."""
    titles, abstracts = (papers[name].fillna("").tolist() for name in ("title", "abstract"))
    wording = read_papers(titles, abstracts, None, thesaurus)
    evidence = gather_evidence(wording, vectors, thesaurus)
    only = np.array(sorted(given), dtype=np.int64)
    blocks = features(evidence, vectors, concept_vectors, usage(thesaurus), only=only)
    rows, columns, values = (np.concatenate(block) for block in zip(*blocks, strict=True))
    ids = list(thesaurus.concepts)
    pairs = zip(rows, columns, strict=True)
    right = np.array([ids[column] in given[row] for row, column in pairs])
    return Candidates(rows, columns, values, right)


def cross_validate(
    candidates: Candidates, given: Mapping[int, Sequence[str]], names: Sequence[str], *, k: int = 10
) -> tuple[float, float]:
    """Return the mean recall of the first `k` concepts and its standard error, in 5 folds.

    The hash of the name of a paper decides its fold. The use of concepts is counted without the
    papers of the fold.
    """
    part = {row: hashlib.sha256(names[row].encode()).digest()[1] % 5 for row in given}
    folds = np.array([part[row] for row in candidates.rows])
    known = {name: place for place, name in enumerate(FEATURES)}
    judged = read_yaml(data_file("thesaurus.yaml"))["judgements"]
    judging = np.array([judged.get(name, 0.0) for name in known])
    hits = dict.fromkeys(given, 0)
    for fold in range(5):
        inside = folds == fold
        counts, weights = candidates.fit(~inside)
        odds = weights[0] + candidates.with_usage(counts)[inside] @ weights[1:]
        values = candidates.measured[inside]
        odds = judged["intercept"] + judged["odds"] * odds + values @ judging
        titled = values[:, known["in_full"]] > 0
        odds = np.where(titled, np.logaddexp(odds, judged["in_title"]), odds)
        rows, right = candidates.rows[inside], candidates.right[inside]
        for row in np.unique(rows):
            own = np.flatnonzero(rows == row)
            hits[row] = int(right[own[np.argsort(-odds[own], kind="stable")[:k]]].sum())
    recall = np.array([hits[row] / len(set(ids)) for row, ids in given.items()])
    return float(recall.mean()), float(recall.std() / np.sqrt(len(recall)))


JUDGED = (
    "in_full",
    "meaning",
    "alone",
    "once",
    "loose",
    "part",
    "title_covered",
    "below",
    "frequency",
)
_UNREAD = 0.25  # weight of a candidate that no reader judged; most of them are wrong


def fit_judgements(
    evidence: Evidence,
    vectors: NDArray[np.float32] | None,
    concept_vectors: NDArray[np.float32] | None,
    judged: Mapping[tuple[int, str], bool],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Fit a logistic regression to judged tags: intercept, log-odds and `JUDGED` features."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    thesaurus = evidence.thesaurus
    ids = tuple(thesaurus.concepts)
    only = np.unique([row for row, _ in judged])
    blocks = features(evidence, vectors, concept_vectors, usage(thesaurus), only=only)
    rows, columns, values = (np.concatenate(block) for block in zip(*blocks, strict=True))
    right = [judged.get((row, ids[column])) for row, column in zip(rows, columns, strict=True)]
    odds = weights[0] + values @ weights[1:]
    support = np.column_stack([odds, *(values[:, FEATURES.index(name)] for name in JUDGED)])
    scaler = StandardScaler().fit(support)
    model = LogisticRegression(C=0.3, max_iter=3000).fit(
        scaler.transform(support),
        np.array([answer is True for answer in right]),
        sample_weight=[_UNREAD if answer is None else 1.0 for answer in right],
    )
    fitted = model.coef_[0] / scaler.scale_
    return np.array([model.intercept_[0] - fitted @ scaler.mean_, *fitted])


def main(atlas_path: str, truth: str, uat: str) -> None:
    """Print the weights with and without embeddings, and write the use of concepts."""
    import landscape
    from landscape.embeddings.embedder import embedder_for

    atlas, thesaurus = landscape.open(atlas_path), read_thesaurus(Path(uat))
    papers = atlas.read_papers(["arxiv_id", "paper_id", "title", "abstract"])
    names = papers["arxiv_id"].fillna(papers["paper_id"]).tolist()
    with gzip.open(truth, mode="rt", encoding="utf-8") as file:
        lines = list(file)
    chosen = {
        paper["arxiv_id"]: [*map(str, paper["uat"])]
        for paper in map(json.loads, lines)
        if paper.get("uat")
    }
    given = {row: chosen[name] for row, name in enumerate(names) if name in chosen}
    chosen_concepts(given, thesaurus).to_csv(
        Path(__file__).parents[1] / "data" / "uat_usage.csv", index=False, lineterminator="\n"
    )
    described = atlas.stages["embeddings"].model
    if described is None:
        raise SystemExit("The embedding model of the atlas is unknown; build it with --embedder.")
    meant = np.asarray(embedder_for(described).embed(concept_texts(thesaurus)[1]))
    for known, vectors in (("with_vectors", (atlas.vectors(), meant)), ("without_vectors", None)):
        own, concepts = vectors or (None, None)
        candidates = find_candidates(papers, own, given, thesaurus, concepts)
        weights = candidates.fit(np.ones(len(candidates.rows), dtype=bool)).weights
        fitted = zip(("intercept", *FEATURES), weights.tolist(), strict=True)
        print(f"{known}:", ", ".join(f"{name}: {weight:.3f}" for name, weight in fitted if weight))
        print("recall@10 {:.4f} +- {:.4f}".format(*cross_validate(candidates, given, names)))


if __name__ == "__main__":
    main(*sys.argv[1:])
