"""The default embedder all-MiniLM-L6-v2."""

from __future__ import annotations

import functools
import importlib.util
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from landscape.embeddings._openvino import Encoder, Process, import_openvino
from landscape.embeddings.vectors import DIMENSION as _WORD_DIMENSION
from landscape.embeddings.vectors import (
    DescribedEmbedder,
    Vocabulary,
    WordVectors,
    basis,
    join_pieces,
    round_to_bytes,
    unit_rows,
)
from landscape.embeddings.weights import CHECKSUM, MODEL, model_folder
from landscape.errors import InputError, require

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    Floats = NDArray[np.float32]

DIMENSION = 384  # number of values of a vector of the model
_HEADS = 12  # number of attention heads of the model
_MAX_TOKENS = 256  # maximum length in training; `embed` ignores later tokens
_CONTEXT, _MAX_WINDOWS = 16, 4  # overlap in tokens, and maximum number of windows per text
_TEXTS_AT_ONCE = 1024  # number of texts tokenised together, which limits the memory
_TOKENS_ON_GPU = 65_536  # maximum number of tokens in a padded batch
_PRECISIONS = ("auto", "float32", "bfloat16", "int8")
_INT8 = ("avx512vnni", "avxvnni")  # instructions for dot products of 8-bit numbers


class MiniLM(DescribedEmbedder):
    """all-MiniLM-L6-v2 (Wang et al. 2020, arXiv:2002.10957), as in sentence-transformers.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda", "mps"}, default "auto"
        Device of the network. "auto" uses a GPU if one is available.
    precision : {"auto", "float32", "bfloat16", "int8"}, default "auto"
        "auto" uses bf16 on a CPU with bf16 instructions, int8 on a CPU that has only 8-bit dot
        products (AVX512-VNNI or AVX-VNNI), otherwise float32. A GPU multiplies matrices of float32
        in TF32, which is more accurate than bf16 and about as fast. To resume a build, pass the
        precision from the manifest of the atlas.

    Raises
    ------
    InputError
        If the weights differ from the published model, or an option is unknown.

    Examples
    --------
    >>> embedder = MiniLM()
    >>> vectors = embedder.embed(["Dark matter haloes.", "Haloes of dark matter.", "Solar flares."])
    >>> vectors.shape
    (3, 384)
    >>> bool(vectors[0] @ vectors[1] > 0.9 > vectors[0] @ vectors[2])
    True
    """

    name = "minilm"
    model = MODEL
    dimension = DIMENSION
    checksum = CHECKSUM

    def __init__(self, *, device: str = "auto", precision: str = "auto") -> None:
        if precision not in _PRECISIONS:
            allowed = ", ".join(_PRECISIONS)
            raise InputError(f"Unknown precision {precision!r} for MiniLM; use one of: {allowed}.")
        self._wanted_device, self._wanted_precision = device, precision
        self._folder = model_folder()

    @functools.cached_property
    def device(self) -> str:
        """Device on which papers are embedded. Queries always use the CPU."""
        return choose_device() if self._wanted_device == "auto" else self._wanted_device

    @property
    def precision(self) -> str:
        """Floating-point precision with which papers are embedded."""
        return self._network[1]

    def embed(
        self, texts: Sequence[str], *, advance: Callable[[float], None] | None = None
    ) -> NDArray[np.float32]:
        """Embed the first 256 tokens of each text."""
        return self._embed(self._network[0], texts, advance)

    def embed_few(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed a few sentences as queries are: on the CPU, in float32."""
        return self._embed(_query_encoder(self._folder), texts, None)

    def _embed(
        self, read: _Read, texts: Sequence[str], advance: Callable[[float], None] | None
    ) -> NDArray[np.float32]:
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start, tokens in self._rounds(texts):
            beginnings = [_windows(text)[0].tokens for text in tokens]
            for place, vector in read(beginnings, lambda _, vector, __: vector.copy()):
                vectors[start + place] = vector
                if advance is not None:
                    advance(1)
        return vectors

    def embed_words(
        self, texts: Sequence[str], *, stop_words: frozenset[str] = frozenset()
    ) -> tuple[NDArray[np.float32], WordVectors]:
        """Return the vectors of texts, and the vectors of their words for late interaction."""
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        vocabulary = _vocabulary(self._folder, stop_words)
        found: list[NDArray[np.int8]] = []
        for start, tokens in self._rounds(texts):
            windows = [
                (row, window) for row, text in enumerate(tokens) for window in _windows(text)
            ]
            words = [_NO_WORDS] * len(windows)
            process = functools.partial(_with_words, windows=windows, vocabulary=vocabulary)
            tokens_read = [window.tokens for _, window in windows]
            for place, (vector, of_window) in self._network[0](tokens_read, process):
                row, window = windows[place]
                words[place] = of_window
                if window.first == 0:
                    vectors[start + row] = vector
            parts = zip((row for row, _ in windows), words, strict=True)
            by_text = itertools.groupby(parts, key=lambda part: part[0])
            found += [np.concatenate([part for _, part in of_text]) for _, of_text in by_text]
        lengths = np.array([len(part) for part in found], dtype=np.int64)
        return vectors, WordVectors(np.concatenate([_NO_WORDS, *found]), lengths)

    def read_query(self, query: str) -> tuple[NDArray[np.float32], list[str], NDArray[np.float32]]:
        """Return the vector of a query, its words, and the unit vectors of the words."""
        encoding = tokenizer(self._folder).encode(query)
        tokens = _windows(encoding.ids)[0].tokens
        read = _query_encoder(self._folder)
        [(_, (vector, states))] = read([tokens], lambda _, *found: [one.copy() for one in found])
        vocabulary = _vocabulary(self._folder, frozenset())
        joined, begins = join_pieces(states, np.array(tokens), vocabulary)
        spellings = []
        for begin in begins:
            last = begin
            while vocabulary.continues[tokens[last + 1]]:  # False for the end token
                last += 1
            spellings.append(query[encoding.offsets[begin][0] : encoding.offsets[last][1]])
        return vector, spellings, unit_rows(joined)

    def word_places(
        self, texts: Sequence[str], *, stop_words: frozenset[str] = frozenset()
    ) -> list[NDArray[np.int64]]:
        """Return the position of the first character of each word that `embed_words` embeds."""
        vocabulary = _vocabulary(self._folder, stop_words)
        found = []
        for encoding in tokenizer(self._folder).encode_batch(list(texts)):
            starts = [start for start, _ in encoding.offsets]
            places: list[int] = []
            done = 0  # number of tokens in earlier windows
            for window in _windows(encoding.ids):
                pieces = np.array(window.tokens)
                begins = np.flatnonzero(~vocabulary.continues[pieces])
                begins = begins[vocabulary.counts[pieces[begins]] & (begins >= window.first)]
                shift = done - (window.first or 1)
                places += [starts[1 + begin + shift] for begin in begins]
                done += len(window.tokens) - 1 - (window.first or 1)
            found.append(np.array(places, dtype=np.int64))
        return found

    @functools.cached_property
    def _network(self) -> tuple[_Read, str]:
        """Encoder for papers and its precision. PyTorch is imported when it is first used."""
        return _load(self._folder, device=self.device, precision=self._wanted_precision)

    def _rounds(self, texts: Sequence[str]) -> Iterator[tuple[int, list[list[int]]]]:
        """Yield the first row and the tokens of each round of texts."""
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            yield start, self._tokenise(texts[start : start + _TEXTS_AT_ONCE])

    def _tokenise(self, texts: Sequence[str]) -> list[list[int]]:
        return [found.ids for found in tokenizer(self._folder).encode_batch(list(texts))]


# Function that encodes tokenised texts, and yields the place of each text and what another function
# makes of its vector and of the projected states of its tokens.
_Read = Callable[[Sequence[Sequence[int]], Process[Any]], Iterator[tuple[int, Any]]]

_NO_WORDS: NDArray[np.int8] = np.zeros((0, _WORD_DIMENSION), np.int8)


def _with_words(
    place: int,
    vector: Floats,
    states: Floats,
    *,
    windows: Sequence[tuple[int, _Window]],
    vocabulary: Vocabulary,
) -> tuple[Floats, NDArray[np.int8]]:
    """Return the vector of a window, and the vectors of its words after the context."""
    window = windows[place][1]
    joined, begins = join_pieces(states, np.array(window.tokens), vocabulary)
    return vector.copy(), round_to_bytes(joined[begins >= window.first])


class _Window(NamedTuple):
    """Tokens of one model input. Tokens before `first` are only used as context."""

    tokens: list[int]
    first: int


def _windows(tokens: list[int]) -> list[_Window]:
    """Split a text of any length into overlapping windows of at most 256 tokens."""
    if len(tokens) <= _MAX_TOKENS:
        return [_Window(tokens, 0)]
    opening, body, closing = tokens[0], tokens[1:-1], tokens[-1]
    end = _MAX_TOKENS - 2
    windows = [_Window([opening, *body[:end], closing], 0)]
    while end < len(body) and len(windows) < _MAX_WINDOWS:
        context, begin = body[end - _CONTEXT : end], end
        end = begin + _MAX_TOKENS - 2 - _CONTEXT
        windows.append(_Window([opening, *context, *body[begin:end], closing], 1 + _CONTEXT))
    return windows


@functools.lru_cache(maxsize=1)
def tokenizer(folder: Path) -> Tokenizer:
    """Return the tokenizer of MiniLM, which neither truncates nor pads."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


@functools.lru_cache(maxsize=2)
def _vocabulary(folder: Path, stop_words: frozenset[str]) -> Vocabulary:
    return Vocabulary.of(tokenizer(folder).get_vocab(), stop_words=stop_words)


@functools.lru_cache(maxsize=1)
def _query_encoder(folder: Path) -> Encoder:
    return load_encoder(folder, precision="float32")


def load_encoder(folder: Path, *, precision: str, axes: Floats | None = None) -> Encoder:
    """Return the encoder for CPUs. States are projected to axes, by default those of words."""
    from safetensors.numpy import load_file

    weights = load_file(folder / "model.safetensors")
    axes = basis() if axes is None else axes
    return Encoder(weights, heads=_HEADS, axes=axes, precision=precision)


def _load(folder: Path, *, device: str, precision: str) -> tuple[_Read, str]:
    """Return the encoder for papers and its precision.

    The choice depends on the CPU instructions and not on the speed, so it is reproducible.
    """
    if precision == "auto":
        precision = fastest_precision() if device == "cpu" else "float32"
    if device != "cpu" and precision == "int8":
        raise InputError(f"precision int8 is for CPUs, but the device is {device!r}; omit it.")
    if device != "cpu":
        return load_padded(folder, device=device, precision=precision), precision
    if precision == "float32":
        return _query_encoder(folder), precision
    return load_encoder(folder, precision=precision), precision


def load_padded(folder: Path, *, device: str, precision: str) -> _Read:
    """Return a function that encodes padded batches of texts of similar length on a GPU."""
    transformers = require("transformers", "models")
    import torch
    from safetensors.torch import load_file

    bert: torch.nn.Module = transformers.BertModel(transformers.BertConfig.from_pretrained(folder))
    weights = load_file(folder / "model.safetensors")
    weights.pop("embeddings.position_ids", None)  # not used by newer versions of transformers
    bert.load_state_dict(weights)
    model = bert.to(device=device, dtype=getattr(torch, precision)).eval()

    def run(tokens: Sequence[Sequence[int]], process: Process[Any]) -> Iterator[tuple[int, Any]]:
        order = sorted(range(len(tokens)), key=lambda i: -len(tokens[i]))
        while order:
            n_texts = max(1, _TOKENS_ON_GPU // len(tokens[order[0]]))
            batch, order = order[:n_texts], order[n_texts:]
            lengths = torch.tensor([len(tokens[i]) for i in batch])
            rows = [torch.tensor(tokens[i]) for i in batch]
            ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True).to(device)
            mask = (torch.arange(ids.shape[1]) < lengths[:, None]).to(device)
            with torch.inference_mode(), _tf32():
                hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state.float()
                weight = mask.unsqueeze(-1).float()
                mean = (hidden * weight).sum(dim=1) / weight.sum(dim=1)
                unit = torch.nn.functional.normalize(mean, dim=1).cpu().numpy()
                states = (hidden @ torch.from_numpy(basis()).to(device)).cpu().numpy()
            for place, vector, row, length in zip(batch, unit, states, lengths, strict=True):
                yield place, process(place, vector, row[:length])

    return run


@contextmanager
def _tf32() -> Iterator[None]:
    """Multiply float32 matrices in TF32 on GPUs that have it."""
    import torch

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def choose_device() -> str:
    """Return the fastest device of this computer: the CPU unless the extra models is installed."""
    if any(importlib.util.find_spec(name) is None for name in ("torch", "transformers")):
        return "cpu"
    try:
        import torch
    except (ImportError, OSError):  # an installation that does not work
        return "cpu"

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def fastest_precision() -> str:
    """Return the fastest precision for which this CPU has instructions."""
    if "BF16" in import_openvino().Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
        return "bfloat16"
    from llvmlite.binding import get_host_cpu_features

    known = get_host_cpu_features()
    return "int8" if any(known.get(name) for name in _INT8) else "float32"
