"""Textual entailment by decomposable attention over the token states of MiniLM.

The network aligns the tokens of a claim with the tokens of a text, compares the aligned pairs, and
sums the comparisons (Parikh et al. 2016, arXiv:1606.01933). The states of each text are computed
once, so many claims can be compared with many sentences. ``python -m benchmarks.entailment`` fits
the network.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from landscape.embeddings import minilm
from landscape.embeddings.weights import has_weights, model_folder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

NETWORK = Path(__file__).with_name("entailment.npz")
MAX_TOKENS = 110
"""Maximum number of tokens of a sentence; later tokens are ignored."""


class Reading(NamedTuple):
    """A text as the network reads it."""

    vector: Floats  # unit vector of the text, shape (384,)
    tokens: NDArray[np.int64]  # shape (n_tokens,)
    states: Floats  # projected states of the tokens, shape (n_tokens, width)
    has_digit: NDArray[np.bool_]  # shape (n_tokens,)


def read(texts: Sequence[str]) -> list[Reading] | None:
    """Return the readings of texts, or None if the weights of MiniLM are not installed."""
    if not has_weights():
        return None
    folder = _folder()
    tokenised = [found.ids for found in minilm.tokenizer(folder).encode_batch(list(texts))]
    tokenised = [[*tokens[: MAX_TOKENS - 1], tokens[-1]] for tokens in tokenised]
    bias, digits = _network()["proj.bias"], _tokens_with_digits(folder)
    readings: list[Reading] = [None] * len(texts)  # type: ignore[list-item]
    inner = _encoder(folder)(
        tokenised, lambda _, vector, states: (vector.copy(), states[1:-1].copy())
    )
    for place, (vector, states) in inner:
        tokens = np.array(tokenised[place][1:-1], dtype=np.int64)
        readings[place] = Reading(vector, tokens, np.maximum(states + bias, 0.0), digits[tokens])
    return readings


def joined(readings: Sequence[Reading]) -> Reading:
    """Return the reading of several sentences together."""
    return Reading(
        readings[0].vector,
        np.concatenate([one.tokens for one in readings]),
        np.concatenate([one.states for one in readings]),
        np.concatenate([one.has_digit for one in readings]),
    )


def entailment(text: Reading, claim: Reading) -> Floats:
    """Return the probabilities that a text supports, contradicts or does not decide a claim."""
    if not len(text.tokens) or not len(claim.tokens):
        return np.array([0.0, 0.0, 1.0], dtype=np.float32)
    net = _network()
    ours, theirs = (one.states @ net["att.weight"].T + net["att.bias"] for one in (text, claim))
    same = text.tokens[:, None] == claim.tokens[None, :]
    scores = ours @ theirs.T / np.sqrt(ours.shape[1]) + net["same"] * same
    to_claim = _softmax(scores, axis=0).T @ text.states
    to_text = _softmax(scores, axis=1) @ claim.states
    pooled = [
        _compared(claim, to_claim, same.any(axis=0)),
        _compared(text, to_text, same.any(axis=1)),
    ]
    hidden = np.maximum(net["out1.weight"] @ np.concatenate(pooled) + net["out1.bias"], 0.0)
    return _softmax(net["out2.weight"] @ hidden + net["out2.bias"], axis=0)


def _compared(reading: Reading, aligned: Floats, is_same: NDArray[np.bool_]) -> Floats:
    """Compare tokens with what they are aligned with; return the mean and the maximum."""
    net, own = _network(), reading.states
    flags = np.stack([is_same, reading.has_digit], axis=1).astype(np.float32)
    features = np.concatenate([own, aligned, np.abs(own - aligned), own * aligned, flags], axis=1)
    compared = np.maximum(features @ net["comp.weight"].T + net["comp.bias"], 0.0)
    return np.concatenate([compared.mean(axis=0), compared.max(axis=0)])


def _softmax(scores: Floats, axis: int) -> Floats:
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


@cache
def _network() -> dict[str, Floats]:
    with np.load(NETWORK, allow_pickle=False) as stored:
        return {name: stored[name].astype(np.float32) for name in stored.files}


@cache
def _folder() -> Path:
    return model_folder()  # it reads the whole file for its checksum


@cache
def _encoder(folder: Path) -> Any:
    axes = np.ascontiguousarray(_network()["proj.weight"].T)
    return minilm.load_encoder(folder, precision="float32", axes=axes)


@cache
def _tokens_with_digits(folder: Path) -> NDArray[np.bool_]:
    """Return for each token of the vocabulary whether it contains a digit."""
    vocabulary = minilm.tokenizer(folder).get_vocab()
    has_digit = np.zeros(max(vocabulary.values()) + 1, dtype=bool)
    has_digit[[n for token, n in vocabulary.items() if any(map(str.isdigit, token))]] = True
    return has_digit
