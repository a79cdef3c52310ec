"""Fit the ranking of papers to cite to the citations of an atlas, and measure it in two folds.

Run: python -m benchmarks.citation_ranking --atlas real.atlas [--write]

The contexts are titles and abstracts of citing papers. Only references of papers that are not newer
than the citing paper count as votes. A context is scored by weights that were fitted without it.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.results import print_table, save

_FILE = Path("landscape/models/citation_ranking.json")
_NAMES = ("rank", "votes", "cites")


def read_contexts(path: Path, n: int) -> list[dict[str, Any]]:
    """Return the features and the truth of each context, with and without a keyword."""
    import landscape
    from landscape.agents import AtlasCollection
    from landscape.agents.bounded_search import search_wordings
    from landscape.agents.collection import (
        _rank_together,
        _read_context,
        citation_features,
        merge_duplicates,
    )
    from landscape.evaluation.citing import places_from_graph

    atlas = landscape.open(path)
    corpora = AtlasCollection().add(atlas).corpora
    found = []
    for place in places_from_graph(atlas, n=n):
        (citing,) = atlas.engine.papers([atlas.engine.row_of(str(place.citing))])

        def allows(paper: Any, citing: Any = citing) -> bool:
            return paper.row != citing.row

        for keywords in (None, place.keywords):
            asked, within = _read_context(place.context, keywords)
            hits = search_wordings(
                atlas.engine, asked, k=100, filter=within, rerank=False, allows=allows
            )
            listed = merge_duplicates(_rank_together(corpora, {corpora[0].name: hits}))
            # A paper that is newer than the citing paper does not vote, because it is last.
            known = [one for one in listed if not _is_newer(one.paper, citing)]
            voting = {one.paper.row for one in known[:30]}
            entries, features = citation_features(
                corpora, listed, allows, adds=keywords is None, voters=voting
            )
            truth = {atlas.engine.row_of(name) for name in place.cited}
            found.append(
                {
                    "qid": place.qid,
                    "keyword": keywords is not None,
                    "features": features,
                    "right": np.array([one.paper.row in truth for one in entries], dtype=bool),
                    "n": len(truth),
                }
            )
    return found


def _is_newer(paper: Any, citing: Any) -> bool:
    return bool(paper.date and citing.date and paper.date > citing.date)


def fit(contexts: list[dict[str, Any]]) -> np.ndarray:
    """Return the weights of a logistic regression."""
    from sklearn.linear_model import LogisticRegression

    known = [one for one in contexts if len(one["features"])]
    matrix = np.vstack([one["features"] for one in known])
    right = np.concatenate([one["right"] for one in known])
    weights: np.ndarray = LogisticRegression(max_iter=2000).fit(matrix, right).coef_[0]
    return weights


def recall(one: dict[str, Any], weights: np.ndarray | None, k: int = 10) -> float:
    """Return the recall of the first papers, in the order of the search without weights."""
    order = np.arange(len(one["right"]))
    if weights is not None and len(order):
        order = np.argsort(-(one["features"] @ weights), kind="stable")
    return float(one["right"][order[:k]].sum() / one["n"])


def main() -> None:
    """Run the benchmark, print the results, and write the weights if requested."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--atlas", type=Path, required=True)
    parser.add_argument("--n", type=int, default=2_000)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    contexts = read_contexts(options.atlas, options.n)
    papers = sorted({one["qid"] for one in contexts})
    fold = dict(zip(papers, np.random.default_rng(1).integers(0, 2, len(papers)), strict=True))
    weights = [fit([c for c in contexts if fold[c["qid"]] != k]) for k in (0, 1)]
    rows, result = [], {}
    for keyword in (False, True):
        own = [one for one in contexts if one["keyword"] == keyword]
        before = np.array([recall(one, None) for one in own])
        after = np.array([recall(one, weights[fold[one["qid"]]]) for one in own])
        error = (after - before).std() / np.sqrt(len(own))
        name = "with a keyword" if keyword else "without keywords"
        result[name] = [before.mean(), after.mean(), error]
        gain = f"{after.mean() - before.mean():+.3f} ± {error:.3f}"
        rows.append([name, f"{before.mean():.3f}", f"{after.mean():.3f}", gain])
    head = ["recall@10", "search", "ranking", "gain ± standard error"]
    print_table(f"Papers to cite, {len(papers):,} citing papers, two folds", head, rows)
    if options.write:
        values = dict(zip(_NAMES, fit(contexts).round(3).tolist(), strict=True))
        _FILE.write_text(json.dumps(values, separators=(",", ":")) + "\n")
    print(f"\n{save('citation_ranking', result)}")


if __name__ == "__main__":
    main()
