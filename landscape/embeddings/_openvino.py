"""Forward pass of a small BERT model on CPUs, in OpenVINO.

Each request embeds one text, or some short texts of the same length, without padding. The vector of
a text does not depend on other texts or on the number of threads, so a resumed build writes the
same bytes.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from landscape._processes import n_usable_cores

if TYPE_CHECKING:
    import openvino
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_STATISTICS, _CONVERTERS = "openvino_telemetry", "openvino.tools.ovc"
_SHORT, _AT_ONCE = 16, 16  # phrases of at most so many tokens are read together
_EPSILON = 1e-12  # epsilon of all layer normalisations in BERT
_T = TypeVar("_T")
_PRECISIONS = {"float32": "f32", "bfloat16": "bf16", "int8": "f32"}
# Numbers that share a scale in int8: weights of an output, and components of a token. Smaller
# groups are more accurate and slower.
_GROUPS = 128, 64
Process = Callable[[int, "Floats", "Floats"], _T]
"""Function of the place of a text, its vector, and the projected states of its tokens.

The arrays are overwritten after the function returns.
"""


class Encoder:
    """A BERT encoder with mean pooling (Devlin et al. 2019; Reimers & Gurevych 2019).

    Parameters
    ----------
    weights : mapping of str to numpy.ndarray
        Weights by the names of ``transformers``.
    heads : int
        Number of attention heads.
    axes : numpy.ndarray
        Matrix that projects the states of tokens, shape (dimension, n_axes).
    precision : {"float32", "bfloat16", "int8"}
        With "int8", weights have 8 bits, and so have the inputs of matrix products, which OpenVINO
        rounds for each token ("dynamic quantization"). Attention and sums are float32.

    Notes
    -----
    Each core embeds one text at a time. The threads do not survive a fork, so a process that was
    forked from a process with an encoder cannot embed; spawn it instead.
    """

    def __init__(
        self, weights: Mapping[str, Floats], *, heads: int, axes: Floats, precision: str
    ) -> None:
        openvino = import_openvino()
        n_threads = _n_threads()
        options = {
            "INFERENCE_PRECISION_HINT": _PRECISIONS[precision],
            "NUM_STREAMS": n_threads,
            "INFERENCE_NUM_THREADS": n_threads,
            "ENABLE_CPU_PINNING": False,  # other programs may use some of the cores
        }
        if precision == "int8":
            options["DYNAMIC_QUANTIZATION_GROUP_SIZE"] = _GROUPS[1]
        model = _model(weights, heads=heads, axes=axes, is_int8=precision == "int8")
        compiled = openvino.Core().compile_model(model, "CPU", options)
        # One more thread than streams, so that a stream does not wait for Python. Callbacks of
        # OpenVINO are not used, because it can wait for them forever when the model is deleted.
        self._pool = ThreadPoolExecutor(n_threads + 1)
        self._idle: SimpleQueue[Any] = SimpleQueue()
        for _ in range(n_threads + 1):
            self._idle.put(compiled.create_infer_request())

    def __call__(
        self, texts: Sequence[Sequence[int]], process: Process[_T]
    ) -> Iterator[tuple[int, _T]]:
        """Embed tokenised texts; yield their places and the results of a function.

        The longest texts are first. The function is called while other texts are embedded.
        """

        def embed(places: list[int]) -> list[tuple[int, _T]]:
            request = self._idle.get()
            try:
                tokens = np.array([texts[place] for place in places], dtype=np.int64)
                request.infer([tokens], share_inputs=True)
                outputs = (request.get_output_tensor(number).data for number in (0, 1))
                read = zip(places, *outputs, strict=True)
                return [(place, process(place, vector, states)) for place, vector, states in read]
            finally:
                self._idle.put(request)

        for found in self._pool.map(embed, _batches([len(text) for text in texts])):
            yield from found


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the places of texts, the longest first, and short ones of one length together."""
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    for length, group in itertools.groupby(order, key=lambda place: lengths[place]):
        places, step = list(group), _AT_ONCE if length <= _SHORT else 1
        yield from (places[begin : begin + step] for begin in range(0, len(places), step))


_IMPORTING = threading.Lock()


def import_openvino() -> Any:
    """Import OpenVINO without its statistics, which are sent to a server, and slow converters."""
    with _IMPORTING:  # two threads may search for the first time at once
        known = {name: sys.modules.get(name) for name in (_STATISTICS, _CONVERTERS)}
        for name in known:
            sys.modules[name] = None  # type: ignore[assignment] # this module cannot be imported
        try:
            import openvino
            import openvino.opset13
        finally:
            for name, module in known.items():
                del sys.modules[name]
                if module is not None:
                    sys.modules[name] = module
    vars(openvino).setdefault("convert_model", _convert_model)
    return openvino


def _convert_model(*arguments: Any, **options: Any) -> Any:
    """Convert a model with the converters that `import_openvino` did not import."""
    from openvino.tools.ovc import convert_model

    return convert_model(*arguments, **options)


def _n_threads() -> int:
    """Return the number of threads, which Dask limits for its workers by a variable."""
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return min(n_usable_cores(), int(limit)) if limit.isdigit() and int(limit) else n_usable_cores()


def _model(
    weights: Mapping[str, Floats], *, heads: int, axes: Floats, is_int8: bool
) -> openvino.Model:
    """Return the network: from tokens, shape (m, n), to the vector and the projected states."""
    openvino = import_openvino()
    nn = openvino.opset13

    def constant(value: Any) -> Any:
        return nn.constant(np.ascontiguousarray(value))

    def integers(*values: int) -> Any:
        return constant(np.array(values, dtype=np.int64))

    def rounded(matrix: Floats) -> Any:
        """Return a matrix in 8 bits, shape (n_out, n_in), with a scale for each group of inputs."""
        groups = matrix.reshape(len(matrix), -1, _GROUPS[0])
        scales = np.abs(groups).max(axis=2, keepdims=True) / np.float32(127)
        numbers = constant(np.round(groups / scales).astype(np.int8))
        scaled = nn.multiply(nn.convert(numbers, "f32"), constant(scales))
        return nn.reshape(scaled, integers(*matrix.shape), False)

    def dense(x: Any, *layers: str) -> Any:
        matrix, bias = (
            np.concatenate([weights[f"{at}.{kind}"] for at in layers])
            for kind in ("weight", "bias")
        )
        product = nn.matmul(x, rounded(matrix) if is_int8 else constant(matrix), False, True)
        return nn.add(product, constant(bias))

    def normalised(x: Any, at: str) -> Any:
        scale, shift = (weights[f"{at}.LayerNorm.{kind}"] for kind in ("weight", "bias"))
        x = nn.mvn(x, integers(-1), True, _EPSILON, "inside_sqrt")
        return nn.add(nn.multiply(x, constant(scale)), constant(shift))

    def by_head(x: Any) -> Any:
        parts = nn.reshape(x, integers(0, 0, heads, -1), True)
        return nn.transpose(parts, integers(0, 2, 1, 3))

    def attended(x: Any, at: str) -> Any:
        """Scaled dot-product attention (Vaswani et al. 2017, eq. 1)."""
        names = [f"{at}.{part}" for part in ("query", "key", "value")]
        if is_int8:  # one product, so that its input is rounded once
            parts = nn.split(dense(x, *names), nn.constant(np.int64(2)), 3).outputs()
        else:
            parts = [dense(x, name) for name in names]
        parts = map(by_head, parts)
        joined = nn.transpose(nn.scaled_dot_product_attention(*parts), integers(0, 2, 1, 3))
        return nn.reshape(joined, integers(0, 0, -1), True)

    words, positions, types = (
        weights[f"embeddings.{name}_embeddings.weight"]
        for name in ("word", "position", "token_type")
    )
    tokens = nn.parameter([-1, -1], np.int64, name="tokens")
    n_tokens = nn.slice(nn.shape_of(tokens), integers(1), integers(2), integers(1))
    # All tokens are in one segment, so the type embedding is a constant.
    places = nn.slice(
        constant(positions + types[0]), integers(0), n_tokens, integers(1), integers(0)
    )
    hidden = nn.add(nn.gather(constant(words), tokens, constant(np.int64(0))), places)
    hidden = normalised(hidden, "embeddings")
    for number in range(1 + max(int(name.split(".")[2]) for name in weights if ".layer." in name)):
        at = f"encoder.layer.{number}"
        mixed = dense(attended(hidden, f"{at}.attention.self"), f"{at}.attention.output.dense")
        hidden = normalised(nn.add(mixed, hidden), f"{at}.attention.output")
        widened = nn.gelu(dense(hidden, f"{at}.intermediate.dense"), "erf")
        narrowed = dense(widened, f"{at}.output.dense")
        hidden = normalised(nn.add(narrowed, hidden), f"{at}.output")
    mean = nn.reduce_mean(hidden, integers(1))
    vector = nn.normalize_l2(mean, integers(1), _EPSILON, "max")
    states = nn.matmul(hidden, constant(axes), False, False)
    return openvino.Model([vector, states], [tokens], "bert")
