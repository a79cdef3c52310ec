"""Ranks agree with pytextrank; the rule tagger is compared with the English model of spaCy."""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path

import numpy as np
import pytest

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.text import extract_keywords
from landscape.text._textrank import POS_KEPT, rank_text, rank_words, score_chunks
from landscape.text.tagger import MODEL_WHEEL, TaggedText, tag_texts

TEXTS = [
    "Dark matter haloes host galaxies. Galaxies in massive haloes quench, and haloes merge.",
    "One word",
    "Star star star. Star.",
    "Gas cools. The gas disk cools the star disk; the disk gas cools gas.",
]


def real_texts(path: Path, n: int) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        papers = [json.loads(line) for line in itertools.islice(lines, 2000, 2000 + n)]
    return [f"{paper['title']}. {paper['abstract']}" for paper in papers]


def kept_words(text: TaggedText) -> np.ndarray:
    return np.array([tag in POS_KEPT for tag in text.tags], dtype=bool)


def array_ranks(text: TaggedText) -> np.ndarray:
    numbers: dict[tuple[str, str], int] = {}
    pairs = list(zip(text.lemmas, text.tags, strict=True))
    kept = kept_words(text)
    words = [numbers.setdefault(pairs[i], len(numbers)) for i in np.flatnonzero(kept)]
    ranks = np.zeros(len(kept))
    ranks[kept] = rank_words(
        np.array(words, dtype=np.int64), np.cumsum(text.starts)[kept], np.zeros(len(words), int)
    )
    return ranks


@pytest.mark.parametrize("tagger", ["rules", "spacy"])
def test_ranks_equal_pytextrank(tagger: str, real_papers: Path) -> None:
    for text in tag_texts(TEXTS + real_texts(real_papers, 25), tagger=tagger):
        assert array_ranks(text) == pytest.approx(rank_text(text), abs=1e-12)


def test_chunks_are_scored_as_the_stock_component_scores_them(real_papers: Path) -> None:
    import pytextrank  # noqa: F401  # registers its component with spaCy
    import spacy

    texts = TEXTS + real_texts(real_papers, 10)
    stock = spacy.load(MODEL_WHEEL, exclude=["ner"])
    stock.add_pipe("textrank", config={"pos_kept": POS_KEPT})
    for text, tagged in zip(texts, tag_texts(texts, tagger="spacy"), strict=True):
        scores = score_chunks(array_ranks(tagged), kept_words(tagged), tagged.chunks)
        by_span = dict(zip(tagged.chunks, scores.tolist(), strict=True))
        for phrase in stock(text)._.phrases:
            found = max(by_span[chunk.start, chunk.end] for chunk in phrase.chunks)
            assert found == pytest.approx(phrase.rank, abs=1e-12)


@pytest.mark.parametrize("tagger", ["rules", "spacy"])
def test_one_text_has_the_keywords_that_it_has_among_many(tagger: str, real_papers: Path) -> None:
    texts = ["", "We observe.", *TEXTS, *real_texts(real_papers, 10)]
    together = extract_keywords(texts, tagger=tagger)
    assert [extract_keywords(text, tagger=tagger) for text in texts] == together


def test_the_rules_find_the_nouns_and_adjectives_of_the_trained_model(real_papers: Path) -> None:
    texts = real_texts(real_papers, 40)
    rules, model = (
        [set(np.array(text.words)[kept_words(text)]) for text in tag_texts(texts, tagger=name)]
        for name in ("rules", "spacy")
    )
    shared = sum(len(ours & theirs) for ours, theirs in zip(rules, model, strict=True))
    precision, recall = shared / sum(map(len, rules)), shared / sum(map(len, model))
    assert precision > 0.85
    assert recall > 0.8


def test_ranks_sum_to_one_and_repetition_lifts_a_word() -> None:
    (text,) = tag_texts(TEXTS[:1], tagger="rules")
    ranks = dict(zip(text.lemmas, rank_text(text).tolist(), strict=True))
    assert np.isclose(sum(ranks.values()), 1.0)
    assert max(ranks, key=lambda lemma: ranks[lemma]) == "halo"


def test_a_text_has_tags_sentences_and_chunks() -> None:
    (text,) = tag_texts(["We map cool dust. Kepler's laws hold in NGC 1275."], tagger="rules")
    chunks = [text.words[begin:end] for begin, end in text.chunks]
    assert chunks == [["cool", "dust"], ["Kepler", "'s", "laws"], ["NGC", "1275"]]
    assert np.flatnonzero(text.starts).tolist() == [0, 5]
    assert text.tags[2] == "ADJ"


def test_many_documents_are_ranked_each_by_itself() -> None:
    generator = np.random.default_rng(1)
    lengths = [1, 40, 7, 90]
    words = [generator.integers(0, 12, length) for length in lengths]
    sentences = [np.sort(generator.integers(0, 4, length)) for length in lengths]
    shifted = [part + 10 * number for number, part in enumerate(sentences)]
    together = rank_words(
        np.concatenate(words), np.concatenate(shifted), np.repeat(np.arange(4), lengths)
    )
    alone = [
        rank_words(word, sentence, np.zeros(len(word), dtype=int))
        for word, sentence in zip(words, sentences, strict=True)
    ]
    assert together == pytest.approx(np.concatenate(alone), abs=1e-13)
