"""Embedding models of sentence-transformers, from the Hugging Face Hub or a directory."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from landscape.embeddings.minilm import choose_device
from landscape.embeddings.vectors import DescribedEmbedder, folder_checksum, normalised
from landscape.errors import InputError, require

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sentence_transformers import SentenceTransformer

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
