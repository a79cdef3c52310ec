"""Rerank texts by a model behind Cohere's HTTP protocol, which vLLM, Jina and others speak too."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError, RemoteError, require
from landscape.llm.server import server_url

if TYPE_CHECKING:
    from numpy.typing import NDArray

COHERE_URL = "https://api.cohere.com/v2"

_MODEL = "rerank-v3.5"
_AT_ONCE = 500  # documents; Cohere takes a thousand
_LONGEST_PAUSE = 30.0  # seconds
_MESSAGE_LENGTH = 200


class HttpReranker:
    """Scores of texts for a query, from a server.

    Parameters
    ----------
    model : str, optional
        Default: the environment variable LANDSCAPE_RERANK_MODEL, else rerank-v3.5.
    base_url : str, optional
        Address to which ``/rerank`` is added. Default: LANDSCAPE_RERANK_URL, else Cohere.
    api_key : str, optional
        Default: COHERE_API_KEY. A server other than Cohere may need none.
    timeout : float, default 30
        Seconds for one try.
    retries : int, default 3
        Further tries after a time-out, a broken connection, 408, 409, 429 or 5xx; one at most
        where no connection is made.
    pause : callable
        Waits some seconds between tries.

    Raises
    ------
    InputError
        Cohere itself is meant and there is no key.
    MissingExtraError
        The package ``httpx`` is not installed.

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
        timeout: float = 30.0,
        retries: int = 3,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._address = base_url or os.environ.get("LANDSCAPE_RERANK_URL") or COHERE_URL
        self._url = server_url(self._address)
        self._model = model or os.environ.get("LANDSCAPE_RERANK_MODEL") or _MODEL
        self._key = api_key or os.environ.get("COHERE_API_KEY") or ""
        self._timeout, self._retries, self._pause = timeout, retries, pause
        if self._url.rstrip("/") == COHERE_URL and not self._key:
            message = (
                "Cohere needs a key: set the environment variable COHERE_API_KEY, or set "
                "LANDSCAPE_RERANK_URL to a server of your own, such as http://localhost:8000/v2."
            )
            raise InputError(message)
        self._httpx = require("httpx", "fetch")

    @property
    def name(self) -> str:
        """Model and server, for the settings of a result."""
        return f"{self._model} at {self._url}"

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Score texts by how well they answer a query.

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
            The server failed, refused, or answered something else; a sentence for the user.
        """
        scores = np.zeros(len(texts), dtype=np.float32)
        if not texts:
            return scores
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        with self._httpx.Client(timeout=self._timeout, headers=headers) as client:
            for start in range(0, len(texts), _AT_ONCE):
                some = [text or " " for text in texts[start : start + _AT_ONCE]]
                document = self._document(client, query, some)
                scores[start : start + len(some)] = self._read(document, len(some))
        return scores

    def _document(self, client: Any, query: str, texts: list[str]) -> Any:
        body = {"model": self._model, "query": query, "documents": texts, "top_n": len(texts)}
        for tries_left in reversed(range(self._retries + 1)):
            try:
                reply = client.post(f"{self._address.rstrip('/')}/rerank", json=body)
                status = reply.status_code
                if status == 200:
                    return reply.json()
                wait = reply.headers.get("Retry-After")
                fault = self._refusal(status, self._plain(reply.text))
                passing = status in {408, 409, 429} or status >= 500
            except self._httpx.TimeoutException:
                fault = f"{self._url} gave no answer within {self._timeout:g} s."
                wait, passing = None, True
            except (self._httpx.HTTPError, self._httpx.InvalidURL) as error:
                fault = f"{self._url} cannot be reached ({self._plain(error)})."
                refused = isinstance(error, self._httpx.ConnectError)
                first = tries_left == self._retries
                wait = None
                passing = isinstance(error, self._httpx.TransportError) and (first or not refused)
            except ValueError as error:
                raise RemoteError(self._nonsense("no JSON")) from error
            if not passing or not tries_left:
                break
            self._pause(_seconds(wait, tried=self._retries - tries_left))
        raise RemoteError(fault)

    def _read(self, document: Any, n: int) -> NDArray[np.float32]:
        scores = np.full(n, np.nan, dtype=np.float32)
        try:
            for result in document["results"]:
                place = result["index"]
                if not isinstance(place, int) or not 0 <= place < n:
                    raise RemoteError(self._nonsense(f"the index {self._plain(place)}"))
                scores[place] = float(result["relevance_score"])
        except (TypeError, KeyError, ValueError) as error:
            raise RemoteError(self._nonsense(self._plain(error))) from error
        if not np.isfinite(scores).all():
            raise RemoteError(self._nonsense("no score for some of the texts"))
        return scores

    def _refusal(self, status: int, said: str) -> str:
        match status:
            case 401 | 403:
                return f"{self._url} refused the key ({said}). Check COHERE_API_KEY."
            case 404:
                return (
                    f"{self._url} does not rerank or does not know the model {self._model!r} "
                    f"({said}). Check LANDSCAPE_RERANK_URL and LANDSCAPE_RERANK_MODEL."
                )
            case 429:
                return f"{self._url} still limits the rate after all tries ({said})."
        return f"{self._url} answered with status {status} ({said})."

    def _nonsense(self, what: str) -> str:
        return (
            f"{self._url} answered with something that is not Cohere's protocol ({what}). "
            "Check LANDSCAPE_RERANK_URL."
        )

    def _plain(self, said: object) -> str:
        """One short line of what a server said, without the secrets that it may repeat."""
        line = " ".join(str(said).split()).replace(self._address, self._url)
        line = "".join(c for c in line if c.isprintable())
        if self._key:
            line = line.replace(self._key, "***")
        return line[:_MESSAGE_LENGTH] or "no reason given"


def _seconds(told: str | None, *, tried: int) -> float:
    """How long to wait: what the server asks for, else twice as long each time."""
    try:
        seconds = float(told) if told else 0.5 * 2.0**tried
    except ValueError:  # a date
        seconds = 0.5 * 2.0**tried
    return min(seconds, _LONGEST_PAUSE) if math.isfinite(seconds) and seconds >= 0 else 0.5
