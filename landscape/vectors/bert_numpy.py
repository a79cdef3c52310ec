"""The forward pass of a small BERT in NumPy, for a query and the sentences of an answer.

PyTorch takes seconds to import, and nothing else of a search or an answer needs it. For the
abstracts of a build `landscape.vectors.bert` is faster; both give the same numbers but for
rounding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_EPSILON = 1e-12  # of every layer normalisation in BERT
_PARTS = ("query", "key", "value")
_FEW = 64  # tokens


class QueryEncoder:
    """A BERT encoder with mean pooling (Devlin et al. 2019; Reimers & Gurevych 2019).

    Parameters
    ----------
    weights : mapping of str to ndarray of float32
        As stored in ``model.safetensors``.
    heads : int
        Attention heads of a layer.
    """

    def __init__(self, weights: Mapping[str, Floats], *, heads: int) -> None:
        self._weights, self._heads = dict(weights), heads
        self._layers = 1 + max(int(name.split(".")[2]) for name in weights if ".layer." in name)
        for number in range(self._layers):  # one product instead of three
            at = f"encoder.layer.{number}.attention.self"
            for kind in ("weight", "bias"):
                parts = [self._weights.pop(f"{at}.{part}.{kind}") for part in _PARTS]
                self._weights[f"{at}.{kind}"] = np.concatenate(parts)

    def states(self, texts: Sequence[Sequence[int]]) -> list[Floats]:
        """Read texts: the state of every token in the last layer.

        Nothing is padded: all tokens go through the dense layers side by side, and each text by
        itself through attention.

        Parameters
        ----------
        texts : sequence of sequence of int
            Token ids with the opening and closing tokens, at most as many of each text as the
            model has positions.

        Returns
        -------
        list of ndarray of float32, shape (n_tokens, dimension)
        """
        if not texts:
            return []
        ends = np.cumsum([len(tokens) for tokens in texts])
        words, positions, types = (
            self._weights[f"embeddings.{name}_embeddings.weight"]
            for name in ("word", "position", "token_type")
        )
        hidden = words[np.concatenate(texts)] + types[0]
        hidden += np.concatenate([positions[: len(tokens)] for tokens in texts])
        hidden = self._normalised(hidden, "embeddings")
        for number in range(self._layers):
            layer = f"encoder.layer.{number}"
            mixed = self._attended(hidden, ends, layer)
            mixed = self._linear(mixed, f"{layer}.attention.output.dense")
            mixed += hidden
            hidden = self._normalised(mixed, f"{layer}.attention.output")
            widened = gelu(self._linear(hidden, f"{layer}.intermediate.dense"))
            narrowed = self._linear(widened, f"{layer}.output.dense")
            narrowed += hidden
            hidden = self._normalised(narrowed, f"{layer}.output")
        return np.split(hidden, ends[:-1])

    def _attended(self, hidden: Floats, ends: NDArray[np.int64], layer: str) -> Floats:
        """Scaled dot-product attention within each text (Vaswani et al. 2017, eq. 1)."""
        every = self._linear(hidden, f"{layer}.attention.self")
        mixed = np.empty_like(hidden)
        for begin, end in pairwise((0, *ends.tolist())):
            parts = every[begin:end].reshape(end - begin, 3, self._heads, -1)
            query, key, value = parts.transpose(1, 2, 0, 3)
            share = query @ key.transpose(0, 2, 1)
            share -= share.max(axis=2, keepdims=True)
            share /= np.float32(np.sqrt(query.shape[2]))
            np.exp(share, out=share)
            share /= share.sum(axis=2, keepdims=True)
            mixed[begin:end] = (share @ value).transpose(1, 0, 2).reshape(end - begin, -1)
        return mixed

    def _linear(self, x: Floats, at: str) -> Floats:
        weight = self._weights[f"{at}.weight"]
        # Few rows and many weights: in the second order the product takes half the time.
        product: Floats = x @ weight.T if len(x) > _FEW else (weight @ x.T).T
        product += self._weights[f"{at}.bias"]
        return product

    def _normalised(self, x: Floats, at: str) -> Floats:
        scale, shift = (self._weights[f"{at}.LayerNorm.{name}"] for name in ("weight", "bias"))
        n = np.float32(x.shape[1])
        normal: Floats = np.subtract(x, np.add.reduce(x, axis=1, keepdims=True) / n)
        variance = np.einsum("ij,ij->i", normal, normal)[:, np.newaxis] / n
        normal *= scale / np.sqrt(variance + np.float32(_EPSILON))
        normal += shift
        return normal


def pooled(states: Floats) -> Floats:
    """Pool the states of a text to its vector: their mean, of unit length.

    Parameters
    ----------
    states : ndarray of float32, shape (n_tokens, dimension)

    Returns
    -------
    ndarray of float32, shape (dimension,)

    Examples
    --------
    >>> pooled(np.array([[3.0, 0.0], [3.0, 8.0]], np.float32)).round(1).tolist()
    [0.6000000238418579, 0.800000011920929]
    """
    mean = states.mean(axis=0)
    length = max(float(np.linalg.norm(mean)), _EPSILON)
    return np.asarray(mean / length, dtype=np.float32)


def gelu(x: Floats) -> Floats:
    """Gaussian error linear unit, x times the normal distribution function at x.

    Parameters
    ----------
    x : ndarray of float32

    Returns
    -------
    ndarray of float32, of the same shape

    Notes
    -----
    The error function is that of Abramowitz and Stegun (1964), eq. 7.1.26, right to 1.5e-7: as
    good as float32 has it, and SciPy need not be imported.

    Examples
    --------
    >>> gelu(np.array([-1.0, 0.0, 1.0], np.float32)).round(4).tolist()
    [-0.1587..., 0.0, 0.8413...]
    """
    # Everything in place: new arrays of this size cost more than the arithmetic.
    size = np.abs(x)
    size *= np.float32(np.sqrt(0.5))
    t = size * np.float32(0.3275911)
    t += 1
    np.reciprocal(t, out=t)
    erf = np.full_like(t, 1.061405429)
    for coefficient in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        erf *= t
        erf += np.float32(coefficient)
    erf *= t
    np.square(size, out=size)
    np.negative(size, out=size)
    erf *= np.exp(size, out=size)
    np.subtract(1, erf, out=erf)
    np.copysign(erf, x, out=erf)
    erf += 1
    erf *= x
    erf *= np.float32(0.5)
    return erf
