"""Forward pass of a small BERT model on a CPU, in PyTorch for papers and in NumPy for queries.

For papers, this is faster than the model class of ``transformers`` (``benchmarks/embedding.py``)
because each core embeds one text without padding. The vector of a text does not depend on other
texts, so a resumed build writes the same bytes. Queries use NumPy because importing PyTorch takes
seconds. Both implementations give the same numbers up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_EPSILON = 1e-12  # epsilon of all layer normalisations in BERT
_PARTS = ("query", "key", "value")
_FEW = 64  # maximum number of tokens for the transposed matrix product
_Operation = Callable[["torch.Tensor"], "torch.Tensor"]


class TorchEncoder:
    """A BERT encoder with mean pooling (Devlin et al. 2019; Reimers & Gurevych 2019)."""

    def __init__(self, weights: Mapping[str, torch.Tensor], *, heads: int, precision: str) -> None:
        import torch

        self._dtype: torch.dtype = getattr(torch, precision)
        self._heads = heads
        self._words = weights["embeddings.word_embeddings.weight"]
        # All tokens are in one segment, so the type embedding is a constant.
        self._positions = (
            weights["embeddings.position_embeddings.weight"]
            + weights["embeddings.token_type_embeddings.weight"][0]
        )
        self._normalise = _normalisation(weights, "embeddings")
        layers = 1 + max(int(name.split(".")[2]) for name in weights if ".layer." in name)
        self._layers = [
            _TorchLayer(weights, f"encoder.layer.{i}", heads=heads, dtype=self._dtype)
            for i in range(layers)
        ]

    def states(self, tokens: Sequence[int]) -> torch.Tensor:
        """Return the token states of the last layer for one text, shape (n_tokens, dimension)."""
        import torch

        hidden = self._normalise(self._words[torch.tensor(tokens)] + self._positions[: len(tokens)])
        for layer in self._layers:
            hidden = layer(hidden)
        return hidden


def pooled_tensor(states: torch.Tensor) -> torch.Tensor:
    """Return the vector of a text, which is the normalised mean of its token states."""
    import torch

    return torch.nn.functional.normalize(states.mean(dim=0), dim=0)


class _TorchLayer:
    """Layer of BERT with self-attention, a feed-forward network, and residual connections."""

    def __init__(
        self, weights: Mapping[str, torch.Tensor], at: str, *, heads: int, dtype: torch.dtype
    ) -> None:
        import torch

        self._heads, self._dtype = heads, dtype
        parts = [f"{at}.attention.self.{part}" for part in _PARTS]
        # One matrix product computes query, key and value, so the input is read only once.
        self._attend = _linear(
            torch.cat([weights[f"{part}.weight"] for part in parts]),
            torch.cat([weights[f"{part}.bias"] for part in parts]),
            dtype=dtype,
        )

        def dense(name: str, *, gelu: bool = False) -> _Operation:
            weight, bias = (weights[f"{at}.{name}.dense.{kind}"] for kind in ("weight", "bias"))
            return _linear(weight, bias, dtype=dtype, gelu=gelu)

        self._mix = dense("attention.output")
        self._normalise_mixed = _normalisation(weights, f"{at}.attention.output")
        self._widen = dense("intermediate", gelu=True)
        self._narrow = dense("output")
        self._normalise_output = _normalisation(weights, f"{at}.output")

    def __call__(self, hidden: torch.Tensor) -> torch.Tensor:
        import torch

        n_tokens = len(hidden)
        projected = self._attend(hidden.to(self._dtype))
        split = projected.view(n_tokens, 3, self._heads, -1).permute(1, 2, 0, 3).unsqueeze(1)
        attended = torch.nn.functional.scaled_dot_product_attention(split[0], split[1], split[2])
        attended = attended[0].transpose(0, 1).reshape(n_tokens, -1)
        hidden = self._normalise_mixed(self._mix(attended) + hidden)
        widened = self._widen(hidden.to(self._dtype))
        return self._normalise_output(self._narrow(widened) + hidden)


def _normalisation(weights: Mapping[str, torch.Tensor], at: str) -> _Operation:
    import torch

    scale, shift = weights[f"{at}.LayerNorm.weight"], weights[f"{at}.LayerNorm.bias"]
    return lambda x: torch.nn.functional.layer_norm(x, scale.shape, scale, shift, _EPSILON)


def _linear(
    weight: torch.Tensor, bias: torch.Tensor, *, dtype: torch.dtype, gelu: bool = False
) -> _Operation:
    """Return a function that computes ``x @ weight.T + bias`` and, optionally, GELU."""
    import torch

    weight, bias = weight.to(dtype), bias.to(dtype)
    packed = _packed_linear(weight, bias, gelu=gelu)
    if packed is not None:
        return packed
    functional = torch.nn.functional
    if gelu:
        return lambda x: functional.gelu(functional.linear(x, weight, bias))
    return lambda x: functional.linear(x, weight, bias)


def _packed_linear(weight: torch.Tensor, bias: torch.Tensor, *, gelu: bool) -> _Operation | None:
    """Return a linear layer with weights reordered for oneDNN, as in ``torch.compile``.

    Return None if this version of PyTorch does not have these private operators.
    """
    import torch

    ending: tuple[object, ...] = ("gelu", [], "none") if gelu else ("none", [], "")
    try:
        pack = torch.ops.mkldnn._reorder_linear_weight
        multiply = torch.ops.mkldnn._linear_pointwise
        packed = pack(weight, 256)
        multiply(torch.zeros(2, weight.shape[1], dtype=weight.dtype), packed, bias, *ending)
    except (AttributeError, RuntimeError, TypeError):
        return None

    def apply(x: torch.Tensor) -> torch.Tensor:
        return multiply(x, packed, bias, *ending)

    return apply


class NumpyEncoder:
    """A BERT encoder with mean pooling (Devlin et al. 2019; Reimers & Gurevych 2019)."""

    def __init__(self, weights: Mapping[str, Floats], *, heads: int) -> None:
        self._weights, self._heads = dict(weights), heads
        self._layers = 1 + max(int(name.split(".")[2]) for name in weights if ".layer." in name)
        for number in range(self._layers):  # join query, key and value for one matrix product
            at = f"encoder.layer.{number}.attention.self"
            for kind in ("weight", "bias"):
                parts = [self._weights.pop(f"{at}.{part}.{kind}") for part in _PARTS]
                self._weights[f"{at}.{kind}"] = np.concatenate(parts)

    def states(self, texts: Sequence[Sequence[int]]) -> list[Floats]:
        """Return the token states of the last layer for each text.

        No padding is needed because attention processes one text at a time.
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
        """Apply scaled dot-product attention within each text (Vaswani et al. 2017, eq. 1)."""
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
        # If there are few rows, the transposed product takes half the time.
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
    """Return the vector of a text, which is the normalised mean of its token states."""
    mean = states.mean(axis=0)
    length = max(float(np.linalg.norm(mean)), _EPSILON)
    return np.asarray(mean / length, dtype=np.float32)


def gelu(x: Floats) -> Floats:
    """Return the Gaussian error linear unit, which is x times the normal distribution function.

    The error function uses eq. 7.1.26 of Abramowitz and Stegun (1964), which is accurate to 1.5e-7.
    This is sufficient for float32 and avoids importing SciPy.

    >>> gelu(np.array([-1.0, 0.0, 1.0], np.float32)).round(4).tolist()
    [-0.1587..., 0.0, 0.8413...]
    """
    # Computed in place because allocating arrays takes longer than the arithmetic.
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
