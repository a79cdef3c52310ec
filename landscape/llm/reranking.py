"""Rerankers: servers with Cohere's HTTP protocol (vLLM, Jina, ...), and local cross-encoders."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

import numpy as np

from landscape._http import HttpClient, Reply, RequestError, RetryPolicy
from landscape.errors import InputError, RemoteError, require
from landscape.llm.server import MAX_BYTES, TIMEOUT, Endpoint, Service

if TYPE_CHECKING:
    from numpy.typing import NDArray

COHERE = Service(
    "Cohere",
    "Cohere's protocol",
    "https://api.cohere.com/v2",
    "LANDSCAPE_RERANK_URL",
    "COHERE_API_KEY",
    "http://localhost:8000/v2",
)

_MODEL = "rerank-v3.5"
_AT_ONCE = 500  # documents per request; Cohere accepts up to 1,000


class Reranker(Protocol):
    """Protocol of models that score how well each text answers a query.

    The built-in late interaction is not a `Reranker`, because it uses vectors of the atlas.
    """

    @property
    def name(self) -> str:
        """Name of the reranker, stored in the settings of a result."""

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return scores of texts, shape (n,); higher is better. Compare only scores of one call."""


def load_reranker(spec: str) -> Reranker:
    """Load a reranker by its name.

    Parameters
    ----------
    spec : str
        ``"cohere:MODEL"`` or ``"cross-encoder:NAME_OR_PATH"``. The name ``"cohere:MODEL"`` needs
        a server with Cohere's protocol; see `HttpReranker` for the address and the key of the
        server. ``"cohere"`` uses the model set in the environment.

    Returns
    -------
    Reranker

    Raises
    ------
    InputError
        If the kind or model is unknown, or the key is missing.
    MissingExtraError
        If a required package is not installed.

    Examples
    --------
    >>> load_reranker("magic:8-ball")
    Traceback (most recent call last):
    landscape.errors.InputError: There is no reranker 'magic:8-ball'; use cohere:MODEL or ...
    """
    kind, _, detail = spec.partition(":")
    if kind == "cohere":
        return HttpReranker(model=detail or None)
    if kind == "cross-encoder" and detail:
        return CrossEncoderReranker(detail)
    raise InputError(
        f"There is no reranker {spec!r}; use cohere:MODEL or cross-encoder:NAME_OR_PATH, such as "
        "cross-encoder:cross-encoder/ms-marco-MiniLM-L-6-v2."
    )


def checked_scores(reranker: Reranker, query: str, texts: Sequence[str]) -> NDArray[np.float64]:
    """Return scores of texts; raise InputError if a score is missing or not finite.

    >>> class Silent:
    ...     name = "silent"
    ...     def scores(self, query, texts):
    ...         return np.full(len(texts), np.nan)
    >>> checked_scores(Silent(), "dust", ["Dust cools."])
    Traceback (most recent call last):
    landscape.errors.InputError: silent gave scores of shape (1,) for 1 texts, 1 of them not finite.
    """
    given = np.asarray(reranker.scores(query, texts), dtype=np.float64)
    broken = int((~np.isfinite(given)).sum())
    if given.shape != (len(texts),) or broken:
        raise InputError(
            f"{reranker.name} gave scores of shape {given.shape} for {len(texts)} texts, "
            f"{broken} of them not finite."
        )
    return given


class CrossEncoderReranker:
    """A cross-encoder from sentence-transformers, given by a folder or a name on the Hub."""

    def __init__(self, model: str, *, device: str | None = None) -> None:
        library = require("sentence_transformers", "models")
        try:
            self._model = library.CrossEncoder(model, device=device)
        except (OSError, ValueError) as error:
            first = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise InputError(
                f"The cross-encoder {model!r} cannot be loaded ({first}). Pass a folder, or a "
                "name on the Hub if there is a network."
            ) from error
        self.name = model

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return scores of texts, shape (n,)."""
        if not texts:
            return np.zeros(0, dtype=np.float32)
        pairs = [(query, text) for text in texts]
        found = self._model.predict(pairs, show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(found, dtype=np.float32)


class HttpReranker:
    """Reranker on a server with Cohere's protocol.

    Parameters
    ----------
    model : str, optional
        Default: the environment variable LANDSCAPE_RERANK_MODEL, or rerank-v3.5 if it is not set.
    base_url : str, optional
        Address without ``/rerank``. Default: the environment variable LANDSCAPE_RERANK_URL, or
        the address of Cohere if it is not set.
    api_key : str, optional
        Default: the environment variable COHERE_API_KEY. Other servers may not need a key.
    policy : RetryPolicy, optional
        Default: at most 4 attempts of 30 s each, or 2 attempts if there is no connection. Each
        wait between attempts is at most 30 s, the whole request at most 120 s, and the reply at
        most 2 MB.

    Raises
    ------
    InputError
        If the server is Cohere and there is no key.
    MissingExtraError
        If the package ``httpx`` is not installed.

    Examples
    --------
    >>> HttpReranker(base_url="http://localhost:8000/v2", model="bge").name
    'bge at http://localhost:8000/v2'
    """

    def __init__(
        self,
        *,
        model: str | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        policy: RetryPolicy | None = None,
    ) -> None:
        self._endpoint = Endpoint(COHERE, base_url, api_key or None)
        self._model = model or os.environ.get("LANDSCAPE_RERANK_MODEL") or _MODEL
        self._policy = policy or RetryPolicy(
            attempts=4,
            connect_attempts=2,
            first_wait=0.5,
            longest_retry_after=30.0,
            cap_retry_after=True,
            timeout=30.0,
            time_limit=TIMEOUT,
            largest_reply=MAX_BYTES,
        )
        require("httpx", "fetch")
        self.name = f"{self._model} at {self._endpoint.url}"

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a score for each text that measures how well it answers a query.

        Parameters
        ----------
        query : str
        texts : sequence of str

        Returns
        -------
        ndarray of float32, shape (n_texts,)
            In the order of the texts; larger is better.

        Raises
        ------
        RemoteError
            If the server fails, refuses the request or sends an invalid reply.
        """
        scores = np.zeros(len(texts), dtype=np.float32)
        if not texts:
            return scores
        key = self._endpoint.key
        with HttpClient(
            "The reranker",
            self._endpoint.address,
            policy=self._policy,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            secret=bool(key),
            https_only=False,
        ) as client:
            for start in range(0, len(texts), _AT_ONCE):
                some = [text or " " for text in texts[start : start + _AT_ONCE]]
                scores[start : start + len(some)] = self._request(client, query, some)
        return scores

    def _request(self, client: HttpClient, query: str, texts: list[str]) -> NDArray[np.float32]:
        body = {"model": self._model, "query": query, "documents": texts, "top_n": len(texts)}
        read = partial(self._read, n=len(texts))
        try:
            return client.request(f"{client.base_url}/rerank", json=body, read=read)
        except RequestError as error:
            raise RemoteError(self._failure(error)) from error

    def _read(self, reply: Reply, n: int) -> NDArray[np.float32]:
        scores = np.full(n, np.nan, dtype=np.float32)
        try:
            for result in json.loads(reply.content)["results"]:
                place = result["index"]
                if not isinstance(place, int) or not 0 <= place < n:
                    raise self._protocol_error(f"the index {place}")
                scores[place] = float(result["relevance_score"])
        except (TypeError, KeyError, ValueError, RecursionError) as error:
            raise self._protocol_error(error) from error
        if not np.isfinite(scores).all():
            raise self._protocol_error("no score for some of the texts")
        return scores

    def _failure(self, error: RequestError) -> str:
        server, policy = self._endpoint, self._policy
        if error.timed_out:
            return (
                f"{server.url} gave no answer within {min(policy.timeout, policy.time_limit):g} s. "
                "Try again later."
            )
        if error.status is None:
            cause = error.__cause__
            return f"{server.url}: {error}." if cause is None else server.unreachable(cause)
        if error.status == 404:
            return (
                f"{server.url} does not rerank, or has no model {self._model!r} "
                f"({server.plain(error.text)}). Check LANDSCAPE_RERANK_URL and "
                "LANDSCAPE_RERANK_MODEL."
            )
        return server.refusal(error.status, error.text, model=self._model, tries=policy.attempts)

    def _protocol_error(self, fault: object) -> RemoteError:
        return RemoteError(self._endpoint.other_protocol(fault, self._model))
