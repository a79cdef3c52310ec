"""Measure how well a digest finds the papers that its reader cites later, by a backtest.

Run: python -m benchmarks.digest [--data ../shared/data]

The papers are those of astro-ph of 1992-1996 (Paperscape, doi:10.5281/zenodo.10052, ODbL 1.0), with
the abstracts of arXiv where the data have them. The library of an author in a month is what the own
papers have cited before; the truth is what the own papers cite from that month on, among the papers
that are new in that month. Own papers are left out. Authors have at least 20 references.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.results import print_table, save

_LEAST_REFERENCES, _LEAST_KNOWN, _K = 20, 10, 20


class Episode(NamedTuple):
    """Month of a reader: known papers, new papers, and which of them the reader cites later."""

    known: list[int]
    new: np.ndarray
    wanted: np.ndarray


def read(data: Path) -> dict[str, Any]:
    """Return the titles, texts, months, authors and references of the papers."""
    from landscape._author_names import person_key

    with gzip.open(data / "paperscape/astro_1991_1996.jsonl.gz", "rt") as file:
        papers = [json.loads(line) for line in file]
    number = {paper["arxiv_id"]: place for place, paper in enumerate(papers)}
    abstracts: dict[str, str] = {}
    with gzip.open(data / "astro-ph/papers.jsonl.gz", "rt") as file:
        for line in file:
            one = json.loads(line)
            if one["arxiv_id"] in number:
                abstracts[one["arxiv_id"]] = one["abstract"]
    references: dict[int, set[int]] = defaultdict(set)
    with gzip.open(data / "paperscape/citation_edges_astro.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            if row["citing"] in number and row["cited"] in number:
                references[number[row["citing"]]].add(number[row["cited"]])
    digits = [paper["arxiv_id"].split("/")[1] for paper in papers]
    # Paperscape writes initials without spaces: "B.Paczynski".
    authors = [[name.replace(".", ". ").strip() for name in p["authors"]] for p in papers]
    return {
        "titles": [paper["title"] for paper in papers],
        "texts": [f"{p['title']}. {abstracts.get(p['arxiv_id'], '')}" for p in papers],
        "month": np.array([12 * int(d[:2]) + int(d[2:4]) for d in digits]),
        "authors": authors,
        "people": [{*map(person_key, names)} for names in authors],
        "references": references,
        "abstracts": len(abstracts),
    }


def episodes(papers: dict[str, Any]) -> Iterator[tuple[str, list[Episode]]]:
    """Yield the months of each author in which there is something to find."""
    month, references = papers["month"], papers["references"]
    own_of: dict[str, list[int]] = defaultdict(list)
    for place, people in enumerate(papers["people"]):
        for person in people:
            own_of[person].append(place)
    for person, own in sorted(own_of.items()):
        cited = {one for paper in own for one in references[paper]} - {*own}
        if len(cited) < _LEAST_REFERENCES:
            continue
        found = []
        for now in np.unique(month):
            before = {o for p in own if month[p] < now for o in references[p] if month[o] < now}
            later = {o for p in own if month[p] >= now for o in references[p] if month[o] == now}
            known = sorted(before - {*own})
            new = np.array([one for one in np.flatnonzero(month == now) if one not in own])
            if len(known) >= _LEAST_KNOWN and later - {*own}:
                found.append(Episode(known, new, np.isin(new, sorted(later))))
        if found:
            yield person, found


def methods(papers: dict[str, Any], vectors: np.ndarray) -> dict[str, Callable[[Episode], Any]]:
    """Return functions that score the new papers of a month."""
    from landscape.overlays.library import Literature, rank_papers

    bm25 = _bm25(papers["titles"])

    def literature(rows: Any) -> Literature:
        texts, authors = papers["texts"], papers["authors"]
        rows = list(rows)
        return Literature(vectors[rows], [texts[r] for r in rows], [authors[r] for r in rows])

    def cited(one: Episode) -> np.ndarray:
        known = {*one.known}
        return np.array([len(papers["references"].get(new, set()) & known) for new in one.new])

    def digest(one: Episode) -> Any:
        return rank_papers(literature(one.new), literature(one.known), cited(one)).score

    def without_citations(one: Episode) -> Any:
        new, known = literature(one.new), literature(one.known)
        return rank_papers(new, known, np.zeros(len(one.new), int)).score

    return {
        "newest first": lambda one: one.new.astype(float),
        "similarity to the mean": lambda one: vectors[one.new] @ vectors[one.known].mean(axis=0),
        "BM25 of titles": lambda one: bm25(one.known, one.new),
        "digest without citations": without_citations,
        "digest": digest,
    }


def _bm25(titles: list[str]) -> Callable[[list[int], np.ndarray], np.ndarray]:
    from sklearn.feature_extraction.text import CountVectorizer

    counts = CountVectorizer(stop_words="english").fit_transform(titles).astype(float).tocsr()
    n, length = len(titles), np.asarray(counts.sum(axis=1)).ravel()
    of_word = np.asarray((counts > 0).sum(axis=0)).ravel()
    rows = np.repeat(np.arange(n), np.diff(counts.indptr))
    norm = 1.2 * (0.25 + 0.75 * length[rows] / length.mean())
    weight = np.log(1 + (n - of_word + 0.5) / (of_word + 0.5))[counts.indices]
    scored = counts.copy()
    scored.data = 2.2 * counts.data / (counts.data + norm) * weight

    def score(known: list[int], new: np.ndarray) -> np.ndarray:
        query = np.asarray(counts[known].sum(axis=0) > 0).ravel().astype(float)
        return np.asarray(scored[new] @ query)

    return score


def recall(score: np.ndarray, wanted: np.ndarray) -> float:
    """Return the share of the wanted papers among the first 20."""
    order = np.argsort(-score, kind="stable")[:_K]
    return float(wanted[order].sum() / wanted.sum())


def main() -> None:
    """Run the backtest and print the recall of each method, with the mean over authors."""
    from landscape.embeddings.minilm import MiniLM

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    papers = read(parser.parse_args().data)
    vectors = MiniLM(precision="float32").embed(papers["texts"])
    months = dict(episodes(papers))
    n_months = sum(map(len, months.values()))
    found = {
        name: np.array(
            [np.mean([recall(score(e), e.wanted) for e in own]) for own in months.values()]
        )
        for name, score in methods(papers, vectors).items()
    }
    best = max(list(found)[:3], key=lambda name: found[name].mean())
    draws = np.random.default_rng(1).integers(0, len(months), (2_000, len(months)))
    rows, result = [], {"authors": len(months), "months": n_months, "best of the others": best}
    for name, values in found.items():
        ratios = values[draws].mean(axis=1) / found[best][draws].mean(axis=1)
        low, high = np.quantile(ratios, [0.025, 0.975])
        error = values.std(ddof=1) / np.sqrt(len(values))
        ratio = values.mean() / found[best].mean()
        result[name] = [values.mean(), error, ratio, low, high]
        rows.append(
            [name, f"{values.mean():.3f} ± {error:.3f}", f"{ratio:.2f} ({low:.2f}-{high:.2f})"]
        )
    head = ["method", f"recall@{_K} ± standard error", f"ratio to {best} (95%)"]
    n_new = np.mean([len(e.new) for own in months.values() for e in own])
    title = f"Digest: {len(months)} authors, {n_months} months with {n_new:.0f} new papers each"
    print_table(title, head, rows)
    print(f"\n{save('digest', result)}")


if __name__ == "__main__":
    main()
