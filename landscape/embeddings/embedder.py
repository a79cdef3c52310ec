"""Protocols of embedders, and functions that load an embedder by name or for an atlas."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from landscape.embeddings.minilm import choose_device
from landscape.embeddings.vectors import DescribedEmbedder, folder_checksum, normalised
from landscape.errors import InputError, require
from landscape.llm.server import server_url

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sentence_transformers import SentenceTransformer

    from landscape.embeddings._openai import Estimate
    from landscape.embeddings.vectors import WordVectors


DEFAULT = "minilm"


class Embedder(Protocol):
    """Interface of an embedder. The unit vector of a text does not depend on other texts."""

    @property
    def name(self) -> str:
        """Name in the registry, for example "minilm"."""

    @property
    def model(self) -> str:
        """Name under which the authors published the model."""

    @property
    def dimension(self) -> int:
        """Number of values per vector. For a remote model, it is 0 before the first reply."""

    @property
    def checksum(self) -> str | None:
        """Hexadecimal sha256 of the weights, or None if the weights are not accessible."""

    def embed(
        self, texts: Sequence[str], *, advance: Callable[[float], None] | None = None
    ) -> NDArray[np.float32]:
        """Return the L2-normalised float32 vectors of texts, shape (n, dimension)."""

    def describe(self) -> dict[str, Any]:
        """Return the name, model, dimension, checksum and precision for the manifest."""


@runtime_checkable
class PaidEmbedder(Protocol):
    """Interface of an embedder that costs money and requires permission."""

    def estimate(self, texts: Sequence[str]) -> Estimate:
        """Estimate the cost of embedding texts."""

    def allow(self, n_papers: int) -> None:
        """Permit the embedding of `n_papers` more papers."""


@runtime_checkable
class WordEmbedder(Protocol):
    """Interface of a local embedder that also returns word vectors (for late interaction)."""

    def embed_few(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed a few sentences without loading the network that embeds papers."""

    def embed_words(
        self, texts: Sequence[str], *, stop_words: frozenset[str] = frozenset()
    ) -> tuple[NDArray[np.float32], WordVectors]:
        """Return the vectors of texts and of their words."""

    def read_query(self, query: str) -> tuple[NDArray[np.float32], list[str], NDArray[np.float32]]:
        """Return the vector of a query, its words, and the vectors of the words."""


@runtime_checkable
class PlacingEmbedder(WordEmbedder, Protocol):
    """Interface of a word embedder that also returns the positions of words."""

    def word_places(
        self, texts: Sequence[str], *, stop_words: frozenset[str] = frozenset()
    ) -> list[NDArray[np.int64]]:
        """Return the position of the first character of each word that `embed_words` embeds."""


def embed_few(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Embed a few sentences, with `WordEmbedder.embed_few` if the embedder has this method."""
    quick = embedder.embed_few if isinstance(embedder, WordEmbedder) else embedder.embed
    return quick(texts)


def embedding_text(title: str | None, abstract: str | None) -> str:
    """Return the text to embed for a paper, which is its title and abstract.

    >>> embedding_text("A quiet galaxy", "We find nothing.")
    'A quiet galaxy. We find nothing.'
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
        Options of the embedder: ``precision`` and ``device`` for minilm; ``confirm``, ``base_url``
        and ``timeout`` for openai; ``device`` for st; ``model`` for ready.

    Returns
    -------
    Embedder

    Raises
    ------
    InputError
        If the name is unknown, or an option is invalid.
    MissingExtraError
        If a package is not installed.

    Examples
    --------
    >>> load_embedder("minilm").dimension
    384
    >>> load_embedder("word2vec")
    Traceback (most recent call last):
    landscape.errors.InputError: There is no embedder 'word2vec'; use minilm, openai:MODEL, ...
    """
    name, _, detail = (spec or DEFAULT).partition(":")
    if name == "minilm":
        from landscape.embeddings.minilm import MiniLM

        if detail:
            raise InputError(f"The embedder minilm has no variant {detail!r}; use plain minilm.")
        return MiniLM(**options)
    if name == "openai":
        from landscape.embeddings._openai import DEFAULT_MODEL, OpenAIEmbedder

        return OpenAIEmbedder(detail or DEFAULT_MODEL, **options)
    if name == "st":
        return SentenceTransformerEmbedder(detail, **options)
    if name == "ready":
        from landscape.embeddings.precomputed import ReadyVectors, file_and_model

        path, model = file_and_model(detail)
        return ReadyVectors(path, **{"model": model, **options})
    raise InputError(
        f"There is no embedder {spec!r}; use minilm, openai:MODEL, st:NAME_OR_PATH or ready:FILE."
    )


def identity(spec: str) -> dict[str, str]:
    """Return the server or the checksum of an embedder. The embedder is not loaded."""
    name, _, detail = spec.partition(":")
    if name == "openai":
        return {"server": server_url()}
    if name == "st":
        checksum = folder_checksum(Path(detail)) if detail else None
        return {"checksum": checksum} if checksum else {}
    return {}


def embedder_for(
    description: Mapping[str, object], *, trust: bool = False, **options: object
) -> Embedder:
    """Load the embedder for queries to an atlas, as described in its manifest.

    A remote embedder needs no confirmation for queries, because their cost is negligible.
    Raise InputError if the model is unknown or differs from the model of the atlas. Also raise
    it if the model is from a third party and `trust` is False.
    """
    name, model = str(description.get("name")), str(description.get("model"))
    if name == "minilm" or (name == "ready" and model.endswith("all-MiniLM-L6-v2")):
        spec = "minilm"
    elif name == "openai" or (name == "ready" and model.startswith("text-embedding-")):
        spec = f"openai:{model}"
    elif name == "st":
        if not trust:
            raise InputError(
                f"The atlas needs the model {model!r}, whose author is unknown. If you trust this "
                "model, use --trust-model, or landscape.open(..., trust_model=True)."
            )
        spec = f"st:{model}"
    else:
        raise InputError(
            f"This atlas was embedded with {model!r} ({name}), which is not available, but a query "
            "needs the same model. Build the atlas again with --embedder minilm. If the vectors "
            "are precomputed, give the name of their model: --embedder ready:FILE@MODEL."
        )
    embedder = load_embedder(spec, **options)
    if isinstance(embedder, PaidEmbedder):
        embedder.allow(_QUERIES)
    for key, now in (("checksum", embedder.checksum), ("dimension", embedder.dimension)):
        then = description.get(key)
        if then and now and then != now:
            raise InputError(
                f"This atlas was embedded with {model!r} ({key} {then}), but the installed model "
                f"has {key} {now}. A query needs the same model. Install the model of the "
                "atlas, or build the atlas again."
            )
    return embedder


_QUERIES = 10_000  # maximum number of queries per session; limits the cost of an endless loop


EMBEDDERS = ("minilm", "openai", "st", "ready")
"""Names of the embedders, used in `load_embedder` before the colon."""


_TEXTS_AT_ONCE = 1024  # number of texts per call; the library sorts them by length


class SentenceTransformerEmbedder(DescribedEmbedder):
    """Embedding model that is loaded with the package ``sentence-transformers``.

    Program code in the repository of a model is never executed.

    Parameters
    ----------
    model : str
        Name on the Hub, such as ``"BAAI/bge-small-en-v1.5"``, or a directory. A model on the Hub
        is downloaded when it is first used.
    device : {"auto", "cpu", "cuda", "mps"}, default "auto"

    Raises
    ------
    InputError
        If the model does not exist, or cannot be downloaded.
    MissingExtraError
        If the package ``sentence-transformers`` is not installed.
    """

    name = "st"

    def __init__(self, model: str, *, device: str = "auto") -> None:
        if not model:
            raise InputError("The name of the model is missing; pass st:NAME or st:FOLDER.")
        self.model = model
        self.device = choose_device() if device == "auto" else device
        self._network = _load(model, device=self.device)
        # Models on the Hub have no checksum.
        self.checksum = folder_checksum(Path(model))
        self.dimension = int(self._network.encode(["dimension"]).shape[1])

    def embed(
        self, texts: Sequence[str], *, advance: Callable[[float], None] | None = None
    ) -> NDArray[np.float32]:
        """Return the unit vectors of texts, shape (n, dimension)."""
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            some = list(texts[start : start + _TEXTS_AT_ONCE])
            found = self._network.encode(some, show_progress_bar=False)
            try:
                vectors[start : start + len(some)] = normalised(found)
            except ValueError as error:
                raise InputError(
                    f"The model {self.model!r} returned an invalid vector: {error}."
                ) from error
            if advance is not None:
                advance(len(some))
        return vectors


def _load(model: str, *, device: str) -> SentenceTransformer:
    library = require("sentence_transformers", "models")
    looks_like_path = model.startswith((".", "/", "~")) or "\\" in model
    if looks_like_path and not Path(model).is_dir():
        raise InputError(f"There is no folder {model!r}. Pass the folder of a saved model.")
    _refuse_code(Path(model))
    # The library logs long warnings before it raises an error. The message below replaces them.
    logger = logging.getLogger("sentence_transformers")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        return library.SentenceTransformer(model, device=device, trust_remote_code=False)
    except (OSError, ValueError, KeyError, RuntimeError, TypeError) as error:
        reason = " ".join(str(error).split())[:160]
        raise InputError(
            f"The model {model!r} cannot be loaded ({type(error).__name__}: {reason}). The "
            "first use needs a network, unless st:FOLDER is the folder of a saved model. "
            "The default, minilm, needs neither."
        ) from error
    finally:
        logger.setLevel(level)


def _refuse_code(folder: Path) -> None:
    """Raise InputError if a saved model needs custom code. Old library versions would run it."""
    try:
        modules = json.loads((folder / "modules.json").read_bytes())
        kinds = [str(module["type"]) for module in modules]
    except FileNotFoundError:
        return
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(
            f"{folder / 'modules.json'} cannot be read ({error}). Save the model again."
        ) from error
    foreign = [kind for kind in kinds if not kind.startswith("sentence_transformers.")]
    if foreign:
        raise InputError(
            f"The model {str(folder)!r} needs program code ({foreign[0][:80]!r}) that is not in "
            "sentence-transformers, so it was not loaded. Use a model without custom code."
        )
