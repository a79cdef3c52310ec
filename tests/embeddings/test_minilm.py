"""The default embedder reproduces the vectors of the published model."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from landscape.embeddings import (
    MiniLM,
    minilm,  # both of its networks are compared
)
from landscape.embeddings.embedder import embedding_text
from landscape.embeddings.minilm import load_padded
from landscape.embeddings.vectors import late_interaction
from landscape.embeddings.weights import CHECKSUM, model_folder
from landscape.errors import InputError


@pytest.fixture(scope="module")
def embedder() -> MiniLM:
    return MiniLM(device="cpu", precision="float32")


def cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", first, second)


def test_real_abstracts_as_sentence_transformers_embeds_them(
    embedder: MiniLM, real_papers: Path
) -> None:
    library = pytest.importorskip("sentence_transformers", reason="not installed: the reference")
    with gzip.open(real_papers, "rt") as lines:
        rows = [json.loads(line) for _, line in zip(range(30), lines, strict=False)]
    texts = [embedding_text(row["title"], row["abstract"]) for row in rows]
    model = library.SentenceTransformer(str(model_folder()), device="cpu")
    expected = model.encode(texts, normalize_embeddings=True, show_progress_bar=False)
    assert cosines(embedder.embed(texts), expected).min() > 0.99999


def test_padded_batches_for_gpus_agree(embedder: MiniLM, texts: list[str]) -> None:
    tokens = [minilm._windows(found)[0].tokens for found in embedder._tokenise(texts)]
    runs = (load_padded(model_folder(), device="cpu", precision="float32"), embedder._network[0])
    padded, alone = (
        dict(run(tokens, lambda _, *found: [one.copy() for one in found])) for run in runs
    )
    assert sorted(padded) == sorted(alone) == list(range(len(texts)))
    for place in alone:
        assert padded[place][0] == pytest.approx(alone[place][0], abs=1e-5)
        assert padded[place][1] == pytest.approx(alone[place][1], abs=1e-3)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("precision", ["auto", "bfloat16"])
def test_vectors_of_a_gpu_and_of_a_cpu_mix(
    embedder: MiniLM, texts: list[str], precision: str
) -> None:
    on_gpu = MiniLM(device="cuda", precision=precision)
    least = {"auto": 0.99999, "bfloat16": 0.9999}[precision]
    assert cosines(on_gpu.embed(texts), embedder.embed(texts)).min() > least
    assert torch.get_float32_matmul_precision() == "highest"


def test_one_reading_gives_the_same_vectors_and_the_words_of_the_whole_text(
    embedder: MiniLM, texts: list[str]
) -> None:
    long = "Tidal streams of dwarf galaxies. " * 60 + "Magnetars flare."
    vectors, words = embedder.embed_words([*texts, long], stop_words=frozenset(["of"]))
    assert np.array_equal(vectors, embedder.embed([*texts, long]))
    assert words.vectors.dtype == np.int8
    assert words.lengths.sum() == len(words.vectors)
    assert words.lengths[-1] == 60 * 4 + 2  # read in two windows, each word once


def test_words_of_a_query_find_their_like(embedder: MiniLM) -> None:
    texts = ["Dust cools in quasars.", "Planets migrate in discs.", ""]
    _, words = embedder.embed_words(texts, stop_words=frozenset(["in"]))
    vector, spellings, query = embedder.read_query("How do exoplanets migrate?")
    assert spellings == ["How", "do", "exoplanets", "migrate"]
    assert vector == pytest.approx(embedder.embed(["How do exoplanets migrate?"])[0], abs=1e-6)
    scores = late_interaction(query, np.array([0, 0, 1, 1], np.float32), words)
    assert scores[1] > scores[0] > scores[2] == 0


@pytest.mark.parametrize("query", ["", "dust", "Is H₀ = 73 km/s/Mpc? " * 60])
def test_queries_are_read_as_papers(embedder: MiniLM, query: str) -> None:
    vector, spellings, words = embedder.read_query(query)
    assert np.array_equal(vector, embedder.embed([query])[0])
    assert words.shape == (len(spellings), 64)


def test_sentences_are_read_as_papers(embedder: MiniLM, texts: list[str]) -> None:
    assert embedder.embed_few([]).shape == (0, 384)
    assert np.array_equal(embedder.embed_few(texts), embedder.embed(texts))


def test_an_error_while_words_are_joined_is_raised_once(embedder: MiniLM, texts: list[str]) -> None:
    def fail(place: int, *_: np.ndarray) -> None:
        raise ValueError("no words")

    tokens = [minilm._windows(found)[0].tokens for found in embedder._tokenise(texts)]
    with pytest.raises(ValueError, match="no words"):
        list(embedder._network[0](tokens, fail))
    assert len(embedder.embed(texts)) == len(texts)  # the network still works


@pytest.mark.parametrize(("precision", "least"), [("bfloat16", 0.9995), ("int8", 0.998)])
def test_a_faster_precision_is_close_to_float32(
    embedder: MiniLM, texts: list[str], precision: str, least: float
) -> None:
    fast = MiniLM(device="cpu", precision=precision)
    assert fast.describe()["precision"] == precision
    vectors = fast.embed(texts)
    assert cosines(vectors, embedder.embed(texts)).mean() > least
    assert not np.array_equal(vectors, embedder.embed(texts))
    alone = np.concatenate([fast.embed([text]) for text in texts])
    assert np.array_equal(vectors, alone)  # a resumed build has the same vectors


def test_a_vector_depends_on_nothing_but_its_text(embedder: MiniLM, texts: list[str]) -> None:
    together = embedder.embed(texts)
    assert np.array_equal(together, np.concatenate([embedder.embed([text]) for text in texts]))
    assert np.array_equal(together[::-1], embedder.embed(texts[::-1]))


def test_phrases_that_are_read_together_have_the_vectors_that_they_have_alone(
    embedder: MiniLM,
) -> None:
    words = ("dust", "gas", "stars", "black holes", "dark matter", "gravitational waves")
    phrases = [f"{one} and {other}" for one in words for other in words]
    together = embedder.embed(phrases)
    assert np.array_equal(together, np.vstack([embedder.embed([phrase]) for phrase in phrases]))


def test_vectors_are_unit_float32_and_progress_adds_up(
    embedder: MiniLM, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minilm, "_TEXTS_AT_ONCE", 4)  # several rounds
    steps: list[float] = []
    vectors = embedder.embed(texts, advance=steps.append)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)
    assert sum(steps) == len(texts)
    assert embedder.embed([]).shape == (0, 384)


def test_only_the_first_256_tokens_count(embedder: MiniLM) -> None:
    long = "star " * 254
    first, second, shorter = embedder.embed([long + "galaxy", long + "comet", long[:-5] + "comet"])
    assert np.array_equal(first, second)
    assert not np.array_equal(first, shorter)


@pytest.mark.parametrize(
    ("capabilities", "features", "precision"),
    [
        (["FP32", "INT8"], {"avx2": True, "avx512vnni": False}, "float32"),
        (["FP32", "INT8"], {"avx512vnni": True}, "int8"),
        (["FP32", "INT8"], {"avxvnni": True}, "int8"),
        (["FP32", "BF16"], {"avx512vnni": True}, "bfloat16"),
    ],
)
def test_the_precision_follows_the_instructions_of_the_cpu(
    monkeypatch: pytest.MonkeyPatch, capabilities: list[str], features: Any, precision: str
) -> None:
    core = SimpleNamespace(get_property=lambda *_: capabilities)
    monkeypatch.setattr(minilm, "import_openvino", lambda: SimpleNamespace(Core=lambda: core))
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", lambda: features)
    assert minilm.fastest_precision() == precision


def test_an_automatic_precision_is_described(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "fastest_precision", lambda: "bfloat16")
    embedder = MiniLM(device="cpu")
    assert embedder.describe() == {
        "name": "minilm",
        "model": "all-MiniLM-L6-v2",
        "dimension": 384,
        "checksum": CHECKSUM,
        "precision": "bfloat16",
    }


def test_an_unknown_precision_is_refused() -> None:
    with pytest.raises(InputError, match=r"Unknown precision 'int4'.*float32, bfloat16, int8"):
        MiniLM(precision="int4")
    with pytest.raises(InputError, match="precision int8 is for CPUs, but the device is 'cuda'"):
        MiniLM(precision="int8", device="cuda").embed(["Stars."])
