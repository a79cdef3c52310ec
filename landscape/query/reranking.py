"""What can put the first papers of a search into a better order, behind one protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from landscape.errors import InputError, require

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Reranker(Protocol):
    """Judges how well each text answers a query.

    The built-in late interaction needs no object of this kind: its vectors are in the atlas.
    """

    @property
    def name(self) -> str:
        """What did it, for the settings shown with a result."""

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Score texts, shape (n,); higher is better, comparable within one call only."""


def load_reranker(spec: str) -> Reranker:
    """Load a reranker by its name.

    Parameters
    ----------
    spec : str
        ``"cohere:MODEL"``, a server that speaks Cohere's protocol, see
        `landscape.llm.reranking.HttpReranker` for its address and key; or
        ``"cross-encoder:NAME_OR_PATH"``. Plain ``"cohere"`` takes the model of the environment.

    Returns
    -------
    Reranker

    Raises
    ------
    InputError
        There is no such kind, no key, or no such model.
    MissingExtraError
        The package that it needs is not installed.

    Examples
    --------
    >>> load_reranker("magic:8-ball")
    Traceback (most recent call last):
    landscape.errors.InputError: There is no reranker 'magic:8-ball'; use cohere:MODEL or ...
    """
    kind, _, detail = spec.partition(":")
    if kind == "cohere":
        from landscape.llm.reranking import HttpReranker

        return HttpReranker(model=detail or None)
    if kind == "cross-encoder" and detail:
        return CrossEncoderReranker(detail)
    message = (
        f"There is no reranker {spec!r}; use cohere:MODEL or cross-encoder:NAME_OR_PATH, such as "
        "cross-encoder:cross-encoder/ms-marco-MiniLM-L-6-v2."
    )
    raise InputError(message)


def judge(reranker: Reranker, query: str, texts: Sequence[str]) -> NDArray[np.float64]:
    """Score texts, and see that every one has got its score.

    Parameters
    ----------
    reranker : Reranker
    query : str
    texts : sequence of str, shape (n,)

    Returns
    -------
    ndarray of float64, shape (n,)

    Raises
    ------
    InputError
        If it gives another number of scores, or some that are no numbers.

    Examples
    --------
    >>> class Silent:
    ...     name = "silent"
    ...     def scores(self, query, texts):
    ...         return np.full(len(texts), np.nan)
    >>> judge(Silent(), "dust", ["Dust cools."])
    Traceback (most recent call last):
    landscape.errors.InputError: silent gave scores of shape (1,) for 1 texts, 1 of them no numbers.
    """
    given = np.asarray(reranker.scores(query, texts), dtype=np.float64)
    broken = int((~np.isfinite(given)).sum())
    if given.shape != (len(texts),) or broken:
        message = (
            f"{reranker.name} gave scores of shape {given.shape} for {len(texts)} texts, "
            f"{broken} of them no numbers."
        )
        raise InputError(message)
    return given


class CrossEncoderReranker:
    """Any cross-encoder of sentence-transformers, by local path or by name.

    Parameters
    ----------
    model : str
        Folder, or a name on the Hugging Face Hub such as ``cross-encoder/ms-marco-MiniLM-L-6-v2``.
    device : str, optional

    Raises
    ------
    MissingExtraError
        sentence-transformers is not installed.
    InputError
        The model cannot be loaded.
    """

    def __init__(self, model: str, *, device: str | None = None) -> None:
        library = require("sentence_transformers", "models")
        try:
            self._model = library.CrossEncoder(model, device=device)
        except (OSError, ValueError) as error:
            first = str(error).splitlines()[0] if str(error) else type(error).__name__
            message = (
                f"The cross-encoder {model!r} cannot be loaded ({first}); give the folder of one, "
                "or its name while there is a network."
            )
            raise InputError(message) from error
        self._name = model

    @property
    def name(self) -> str:
        """The model."""
        return self._name

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Score texts.

        Parameters
        ----------
        query : str
        texts : sequence of str

        Returns
        -------
        ndarray of float32, shape (n,)
        """
        if not texts:
            return np.zeros(0, dtype=np.float32)
        pairs = [(query, text) for text in texts]
        found = self._model.predict(pairs, show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(found, dtype=np.float32)
