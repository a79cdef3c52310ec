"""The theme of the demo corpus that no concept covers is found."""

from __future__ import annotations

import numpy as np
import pandas as pd

from landscape.corpus.demo import generate

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.corpus.thesaurus import embedded_thesaurus
from landscape.overlays.thesaurus._candidates import complete_name
from landscape.overlays.thesaurus._gaps import gather_evidence, rank_gaps
from landscape.text import extract_keywords


def test_the_planted_gap_of_the_demo_corpus_is_among_the_first() -> None:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    papers, truth = generate(n_papers=3000, seed=1)
    (planted,) = truth.uncovered_themes
    titles = [str(paper["title"]) for paper in papers]
    abstracts = [str(paper.get("abstract") or "") for paper in papers]
    years = np.array([int(str(paper.get("date") or paper["year"])[:4]) for paper in papers])
    texts = [f"{title}. {abstract}" for title, abstract in zip(titles, abstracts, strict=True)]
    # Words stand in for the embedding: what is tested is the ranking.
    words = TfidfVectorizer(stop_words="english", min_df=3, sublinear_tf=True).fit_transform(texts)
    vectors = TruncatedSVD(64, random_state=0).fit_transform(words)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    keywords = extract_keywords(texts, tagger="rules")
    columns = {"keywords": keywords, "title": titles, "abstract": abstracts, "categories": None}
    evidence = gather_evidence(pd.DataFrame(columns), years, vectors)
    _, proposals = rank_gaps(evidence, embedded_thesaurus(), limit=20)
    names = [complete_name(name, texts) for name in proposals["name"]]
    assert planted.replace("-", " ") in names, names
