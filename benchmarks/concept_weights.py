"""Fit the rankings of concept tags, and the `judgements` of ``data/thesaurus.yaml``.

``python -m benchmarks.concept_weights ATLAS PAPERS UAT.json`` writes the model `concept_rankings`
and ``data/uat_usage.csv``, and prints the recall of a cross-validation beside that of a logistic
regression. Call `fit_judgements` with the tags that a reader judged.
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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from landscape._io import data_file, read_yaml
from landscape.corpus.thesaurus import read_thesaurus
from landscape.overlays.thesaurus.concept_model import Ranking, write_rankings
from landscape.overlays.thesaurus.matching import read_papers

# Private modules: the weights belong to the steps inside of tagging.
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

    def fit(self, used: NDArray[np.bool_], *, linear: bool = False) -> Fit:
        """Fit a ranking to the candidates of some papers."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.neural_network import MLPClassifier
        from sklearn.preprocessing import StandardScaler

        counts = np.bincount(self.columns, self.right & used).astype(np.float64)
        own = self.with_usage(counts, self.right)[used]
        scaler = StandardScaler().fit(own)
        limits = own.min(axis=0), own.max(axis=0)
        own, right = scaler.transform(own), self.right[used]
        if linear:  # a line is the difference of two units with opposite weights
            model = LogisticRegression(max_iter=1000).fit(own, right)
            inner = np.column_stack([model.coef_[0], -model.coef_[0]])
            parts = [(inner, np.zeros(2), np.array([1.0, -1.0]), model.intercept_[0])]
        else:
            parts = []
            for seed in range(_N_NETWORKS):
                network = MLPClassifier((_N_UNITS,), random_state=seed, **_NETWORK).fit(own, right)
                (inner, outer), (shift, intercept) = network.coefs_, network.intercepts_
                parts.append((inner, shift, outer[:, 0], intercept[0]))
        # The mean of the log-odds of several networks is one network with all of their units.
        hidden = np.hstack([one[0] for one in parts]) / scaler.scale_[:, None]
        shift = np.concatenate([one[1] for one in parts]) - scaler.mean_ @ hidden
        output = np.concatenate([one[2] for one in parts]) / len(parts)
        intercept = float(np.mean([one[3] for one in parts]))
        return Fit(counts, Ranking(hidden, shift, output, intercept, *limits))

    def with_usage(
        self, counts: NDArray[np.float64], own: NDArray[np.bool_] | int = 0
    ) -> NDArray[np.float64]:
        """Return the features with the use of concepts by other papers; see `usage`."""
        values = self.measured.astype(np.float64)
        chosen = np.maximum(counts[self.columns] - own, 0)
        values[:, FEATURES.index("usage")] = np.log(chosen + 0.5)
        return values


# Chosen by the cross-validation.
_N_UNITS, _N_NETWORKS = 16, 4
_NETWORK: Mapping[str, Any] = {
    "alpha": 0.1,
    "batch_size": 512,
    "learning_rate_init": 0.002,
    "max_iter": 25,
}


class Fit(NamedTuple):
    """How many papers chose each concept, and the ranking."""

    counts: NDArray[np.float64]
    ranking: Ranking


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
    candidates: Candidates,
    given: Mapping[int, Sequence[str]],
    names: Sequence[str],
    *,
    k: int = 10,
    linear: bool = False,
) -> NDArray[np.float64]:
    """Return the recall of the first `k` concepts of each paper, in 5 folds.

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
        counts, ranking = candidates.fit(~inside, linear=linear)
        odds = ranking.log_odds(candidates.with_usage(counts)[inside])
        values = candidates.measured[inside]
        odds = judged["intercept"] + judged["odds"] * odds + values @ judging
        titled = values[:, known["in_full"]] > 0
        odds = np.where(titled, np.logaddexp(odds, judged["in_title"]), odds)
        rows, right = candidates.rows[inside], candidates.right[inside]
        for row in np.unique(rows):
            own = np.flatnonzero(rows == row)
            hits[row] = int(right[own[np.argsort(-odds[own], kind="stable")[:k]]].sum())
    return np.array([hits[row] / len(set(ids)) for row, ids in given.items()])


JUDGED = (
    "in_full",
    "meaning",
    "alone",
    "once",
    "loose",
    "part",
    "title_covered",
    "below",
    "about",
    "usage",
)
_UNREAD = 0.25  # weight of a candidate that no reader judged; most of them are wrong


def fit_judgements(
    evidence: Evidence,
    vectors: NDArray[np.float32] | None,
    concept_vectors: NDArray[np.float32] | None,
    judged: Mapping[tuple[int, str], bool],
    ranking: Ranking,
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
    odds = ranking.log_odds(values)
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
    """Write the rankings with and without embeddings and the use of concepts; print recalls."""
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
    rankings = {}
    for known, vectors in (("with_vectors", (atlas.vectors(), meant)), ("without_vectors", None)):
        own, concepts = vectors or (None, None)
        candidates = find_candidates(papers, own, given, thesaurus, concepts)
        rankings[known] = candidates.fit(np.ones(len(candidates.rows), dtype=bool)).ranking
        recalls = [cross_validate(candidates, given, names, linear=one) for one in (False, True)]
        kinds = ("networks", "logistic regression", "gain")
        for kind, recall in zip(kinds, [*recalls, recalls[0] - recalls[1]], strict=True):
            error = recall.std() / np.sqrt(len(recall))
            print(f"{known}, {kind}: recall@10 {recall.mean():.4f} +- {error:.4f}")
    write_rankings(rankings)


if __name__ == "__main__":
    main(*sys.argv[1:])
