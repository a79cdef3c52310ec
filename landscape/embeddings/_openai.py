"""Embeddings from OpenAI or a compatible server. The user must first confirm the cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from landscape.embeddings.vectors import DescribedEmbedder, normalised
from landscape.errors import InputError, RemoteError
from landscape.llm.server import TIMEOUT, Server

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEFAULT_MODEL = "text-embedding-3-small"

#: Dimension and price in dollars per million tokens at OpenAI, as listed in 2025.
_MODELS = {
    "text-embedding-3-small": (1536, 0.02),
    "text-embedding-3-large": (3072, 0.13),
    "text-embedding-ada-002": (1536, 0.10),
}

_BYTES_PER_TOKEN = 3.5  # for abstracts with formulas; about 4 bytes for plain English
_TOKENS_AT_ONCE = 100_000  # maximum estimated tokens per request; OpenAI allows 300,000
_TEXTS_AT_ONCE = 256  # maximum number of texts per request
_MAX_BYTES = 64_000_000  # maximum size of a response, in which numbers are text
_MAX_TEXT = 24_000  # maximum bytes per text; OpenAI allows 8,191 tokens


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """Estimated cost of embedding texts. `cost` is in US dollars, or None if it is unknown."""

    papers: int
    tokens: int
    cost: float | None
    model: str
    url: str

    def __str__(self) -> str:
        price = "at an unknown price" if self.cost is None else f"about ${self.cost:.2f}"
        return (
            f"{self.papers:,} papers, about {self.tokens:,} tokens, {price}, "
            f"with {self.model} at {self.url}"
        )


class OpenAIEmbedder(DescribedEmbedder):
    """Embedding model of OpenAI or a compatible server (``/v1/embeddings``).

    Parameters
    ----------
    model : str, default "text-embedding-3-small"
    confirm : callable, optional
        Function that is called with a question about the cost and returns whether to continue.
        If it is not given, :meth:`allow` must be called before texts are embedded.
    base_url, api_key : str, optional
        By default, the environment variables OPENAI_BASE_URL and OPENAI_API_KEY.
    timeout : float, default 60
        Seconds per attempt.
    time_limit : float, default 120
        Maximum time of a request with all its attempts, in seconds.
    retries : int, default 6
        Number of further attempts after a failed request.

    Raises
    ------
    InputError
        If the server is OpenAI and no key is given.
    MissingExtraError
        If the package ``openai`` is not installed.
    """

    name = "openai"

    def __init__(
        self,
        model: str = DEFAULT_MODEL,
        *,
        confirm: Callable[[str], bool] | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 60.0,
        time_limit: float = TIMEOUT,
        retries: int = 6,
    ) -> None:
        self.model = model
        self.dimension = _MODELS.get(model, (0, 0.0))[0]
        self._server = Server(
            base_url=base_url,
            api_key=api_key,
            timeout=time_limit,
            most_bytes=_MAX_BYTES,
            attempt_timeout=timeout,
            retries=retries,
        )
        self._confirm = confirm
        self._allowed = 0

    def estimate(self, texts: Sequence[str]) -> Estimate:
        """Estimate the cost of embedding texts, without contacting the server."""
        tokens = sum(map(_estimated_tokens, texts))
        known = self._server.is_openai and self.model in _MODELS
        return Estimate(
            papers=len(texts),
            tokens=tokens,
            cost=tokens * _MODELS[self.model][1] / 1e6 if known else None,
            model=self.model,
            url=self._server.url,
        )

    def allow(self, n_papers: int) -> None:
        """Permit the embedding of more papers without confirmation."""
        self._allowed += n_papers

    def embed(
        self, texts: Sequence[str], *, advance: Callable[[float], None] | None = None
    ) -> NDArray[np.float32]:
        """Embed texts. If a request fails, all vectors are lost, unlike in `embed_batches`."""
        batches = []
        for batch in self.embed_batches(texts):
            batches.append(batch)
            if advance is not None:
                advance(len(batch))
        if not batches:
            return np.empty((0, self.dimension), dtype=np.float32)
        return np.concatenate(batches)

    def embed_batches(self, texts: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        """Embed texts and yield the vectors of each request."""
        self._ask_before_spending(texts)
        for batch in batches_of(texts):
            yield self._request(batch)
            self._allowed -= len(batch)

    def describe(self) -> dict[str, Any]:
        """Return the name, model, dimension, checksum, precision and URL."""
        return {**super().describe(), "url": self._server.url}

    def _ask_before_spending(self, texts: Sequence[str]) -> None:
        if len(texts) <= self._allowed:
            return
        estimate = self.estimate(texts[self._allowed :])
        if self._confirm is None or not self._confirm(f"Embed {estimate}?"):
            raise InputError(
                f"Nothing was sent: embedding {estimate} was not confirmed. "
                "Answer the question with yes, or pass --yes."
            )
        self.allow(estimate.papers)

    def _request(self, texts: Sequence[str]) -> NDArray[np.float32]:
        def send() -> tuple[dict[int, list[float]], int]:
            reply = self._server.client.embeddings.create(model=self.model, input=list(texts))
            # Sort by index, because the protocol allows any order.
            return {item.index: item.embedding for item in reply.data}, len(reply.data)

        found, n_answered = self._server.request(self.model, send)
        if n_answered != len(texts) or set(found) != set(range(len(texts))):
            self._reject(f"{n_answered} vectors for {len(texts)} texts")
        try:
            vectors = normalised([found[i] for i in range(len(texts))])
        except (ValueError, TypeError) as error:
            self._reject(f"an invalid vector: {error}")
        if self.dimension not in (0, vectors.shape[1]):
            self._reject(f"vectors of dimension {vectors.shape[1]} instead of {self.dimension}")
        self.dimension = vectors.shape[1]
        return vectors

    def _reject(self, answer: str) -> NoReturn:
        raise RemoteError(
            f"{self._server.url} returned {answer}. Choose an embedding model, not {self.model!r}."
        )


def batches_of(texts: Sequence[str]) -> Iterator[list[str]]:
    """Split texts into batches. Each batch is sent in one request.

    >>> [len(batch) for batch in batches_of(["word " * 4_000] * 40)]
    [17, 17, 6]
    """
    batch: list[str] = []
    tokens = 0
    for text in texts:
        sent = text.encode()[:_MAX_TEXT].decode(errors="ignore") or " "
        needed = _estimated_tokens(sent)
        if batch and (tokens + needed > _TOKENS_AT_ONCE or len(batch) == _TEXTS_AT_ONCE):
            yield batch
            batch, tokens = [], 0
        batch.append(sent)
        tokens += needed
    if batch:
        yield batch


def _estimated_tokens(text: str) -> int:
    return 1 + int(min(len(text.encode()), _MAX_TEXT) / _BYTES_PER_TOKEN)
