"""Embedders: the protocol, the registry, and the embedder that fits an atlas."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from landscape.embeddings._vectors import folder_checksum
from landscape.errors import InputError
from landscape.llm._server import server_url

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from landscape.embeddings._openai import Estimate
    from landscape.embeddings._word_vectors import WordVectors

DEFAULT = "minilm"


class Embedder(Protocol):
    """Embeds texts as vectors of unit length; the same text always gets the same vector."""

    @property
    def name(self) -> str:
        """Name in the registry, for example "minilm"."""

    @property
    def model(self) -> str:
        """Name of the model, as its makers call it."""

    @property
    def dimension(self) -> int:
        """Length of a vector; 0 where a remote model has not answered yet."""

    @property
    def checksum(self) -> str | None:
        """Hexadecimal sha256 of the weights; None where they are not accessible."""

    def embed(
        self, texts: Sequence[str], *, advance: Callable[[float], None] | None = None
    ) -> NDArray[np.float32]:
        """Embed texts: (n, dimension) float32, L2-normalised, in the order of `texts`."""

    def describe(self) -> dict[str, Any]:
        """Name, model, dimension, checksum, precision and more, for the manifest."""


@runtime_checkable
class PaidEmbedder(Protocol):
    """An embedder that costs money and needs permission to spend it."""

    def estimate(self, texts: Sequence[str]) -> Estimate:
        """Estimate the cost of embedding these texts."""

    def allow(self, n_papers: int) -> None:
        """Allow that many texts to be embedded."""


@runtime_checkable
class WordEmbedder(Protocol):
    """An embedder on this machine, which also gives the vectors of words, for late interaction."""

    def embed_few(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed some sentences at once, without loading what only the papers of a build need."""

    def embed_words(
        self, texts: Sequence[str], *, stop_words: frozenset[str] = frozenset()
    ) -> tuple[NDArray[np.float32], WordVectors]:
        """Embed texts, and their words, in one reading."""

    def read_query(self, query: str) -> tuple[NDArray[np.float32], list[str], NDArray[np.float32]]:
        """Embed a query: its vector, its words as written, and their vectors."""


@runtime_checkable
class PlacingEmbedder(WordEmbedder, Protocol):
    """An embedder of words that knows their positions in the text."""

    def word_places(
        self, texts: Sequence[str], *, stop_words: frozenset[str] = frozenset()
    ) -> list[NDArray[np.int64]]:
        """First character of each word that `embed_words` gives a vector of."""


def embed_few(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Embed some sentences, the quick way where an embedder has one.

    Parameters
    ----------
    embedder : Embedder
    texts : sequence of str, shape (n,)

    Returns
    -------
    ndarray of float32, shape (n, dimension)

    Examples
    --------
    >>> embed_few(load_embedder("minilm"), ["Dust cools."]).shape
    (1, 384)
    """
    quick = embedder.embed_few if isinstance(embedder, WordEmbedder) else embedder.embed
    return quick(texts)


def embedding_text(title: str | None, abstract: str | None) -> str:
    """Join title and abstract into the text that is embedded for a paper.

    Parameters
    ----------
    title, abstract : str or None

    Returns
    -------
    str

    Examples
    --------
    >>> embedding_text("A quiet galaxy", "We find nothing.")
    'A quiet galaxy. We find nothing.'
    >>> embedding_text("A quiet galaxy", None)
    'A quiet galaxy. '
    """
    return f"{title or ''}. {abstract or ''}"


def load_embedder(spec: str | None = None, **options: Any) -> Embedder:
    """Load an embedder by its name.

    Parameters
    ----------
    spec : str, optional
        "minilm" (the default), "openai:MODEL", "st:NAME_OR_PATH", "ready:FILE" or
        "ready:FILE@MODEL" (FILE is ``.npy`` or Parquet).
    **options
        For that embedder: ``precision`` and ``device`` (minilm), ``confirm``, ``base_url`` and
        ``timeout`` (openai), ``device`` (st), ``model`` (ready).

    Returns
    -------
    Embedder

    Raises
    ------
    InputError
        There is no embedder of that name, or it cannot be used as asked.
    MissingExtraError
        It needs a package that is not installed.

    Examples
    --------
    >>> load_embedder("minilm").dimension
    384
    >>> load_embedder("word2vec")
    Traceback (most recent call last):
    landscape.errors.InputError: There is no embedder 'word2vec'; use minilm, openai:MODEL, ...
    """
    name, _, detail = (spec or DEFAULT).partition(":")
    loader = EMBEDDERS.get(name)
    if loader is None:
        message = (
            f"There is no embedder {spec!r}; "
            "use minilm, openai:MODEL, st:NAME_OR_PATH or ready:FILE."
        )
        raise InputError(message)
    return loader(detail, **options)


def identity(spec: str) -> dict[str, str]:
    """Server or checksum behind the name of an embedder, without loading it."""
    name, _, detail = spec.partition(":")
    if name == "openai":
        return {"server": server_url()}
    if name == "st":
        checksum = folder_checksum(Path(detail)) if detail else None
        return {"checksum": checksum} if checksum else {}
    return {}


def embedder_for(description: Mapping[str, Any], **options: Any) -> Embedder:
    """Load the embedder for queries to an atlas: the same model that embedded its papers.

    Parameters
    ----------
    description : mapping
        What :meth:`Embedder.describe` said when the atlas was built, from its manifest.
    **options
        As for :func:`load_embedder`.

    Returns
    -------
    Embedder
        A remote one is allowed to embed queries without asking: they cost next to nothing.

    Raises
    ------
    InputError
        The model is not known or not the same any more.

    Examples
    --------
    >>> embedder = load_embedder("minilm")
    >>> embedder_for(embedder.describe()).model
    'all-MiniLM-L6-v2'
    """
    name, model = str(description.get("name")), str(description.get("model"))
    spec = _query_spec(name, model)
    if spec is None:
        message = (
            f"This atlas was embedded with {model!r} ({name}); a query can only be embedded with "
            "the same model, and this one is not known here. Build the atlas again with "
            "--embedder minilm, or name the model of ready-made vectors when building."
        )
        raise InputError(message)
    embedder = load_embedder(spec, **options)
    if isinstance(embedder, PaidEmbedder):
        embedder.allow(_QUERIES)
    _check_same(description, embedder)
    return embedder


_QUERIES = 10_000  # of one session; a bound on a runaway loop rather than on a reader


def _query_spec(name: str, model: str) -> str | None:
    """Ready-made vectors can be queried where the model that made them is one we can run."""
    if name == "minilm" or (name == "ready" and model.endswith("all-MiniLM-L6-v2")):
        return "minilm"
    if name == "openai" or (name == "ready" and model.startswith("text-embedding-")):
        return f"openai:{model}"
    return f"st:{model}" if name == "st" else None


def _check_same(description: Mapping[str, Any], embedder: Embedder) -> None:
    for key, now in (("checksum", embedder.checksum), ("dimension", embedder.dimension)):
        then = description.get(key)
        if then and now and then != now:
            message = (
                f"This atlas was embedded with {description.get('model')!r} of {key} {then}, and "
                f"the one installed here has {now}; a query can only be embedded with the "
                "same model. Install that one, or build the atlas again."
            )
            raise InputError(message)


def _load_minilm(detail: str, **options: Any) -> Embedder:
    from landscape.embeddings._minilm import MiniLM

    if detail:
        message = f"The embedder minilm has no variant {detail!r}; use plain minilm."
        raise InputError(message)
    return MiniLM(**options)


def _load_openai(detail: str, **options: Any) -> Embedder:
    from landscape.embeddings._openai import DEFAULT_MODEL, OpenAIEmbedder

    return OpenAIEmbedder(detail or DEFAULT_MODEL, **options)


def _load_sentence_transformer(detail: str, **options: Any) -> Embedder:
    from landscape.embeddings._sentence_transformers import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(detail, **options)


def _load_ready(detail: str, **options: Any) -> Embedder:
    from landscape.embeddings._precomputed import ReadyVectors, file_and_model

    path, model = file_and_model(detail)
    return ReadyVectors(path, **{"model": model, **options})


EMBEDDERS: dict[str, Callable[..., Embedder]] = {
    "minilm": _load_minilm,
    "openai": _load_openai,
    "st": _load_sentence_transformer,
    "ready": _load_ready,
}
"""What loads an embedder, by the first word of its name."""
