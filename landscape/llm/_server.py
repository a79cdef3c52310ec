"""Connections to servers that speak the OpenAI protocol: OpenAI, vLLM, Ollama, llama.cpp."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from landscape._http import is_refused, without_query
from landscape.errors import InputError, RemoteError, require

OPENAI_URL = "https://api.openai.com/v1"

_SECOND_TRY = 0.5  # seconds
_MESSAGE_LENGTH = 200  # of what a server says


class Server:
    """One server and its key; turns its failures into messages.

    The ``openai`` package repeats a request after a time-out, a broken connection, 408, 409, 429
    and 5xx, with growing pauses or the one that ``Retry-After`` asks for. A server that refuses
    the first connection is tried once more only. Defaults: OPENAI_BASE_URL, else OpenAI itself,
    and OPENAI_API_KEY; the empty string is no key. Raises InputError where OpenAI has no key.
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 60.0,
        retries: int = 4,
    ) -> None:
        self._address = _address(base_url)
        self.url = server_url(base_url)
        self._key = os.environ.get("OPENAI_API_KEY", "") if api_key is None else api_key
        self._timeout, self._retries = timeout, retries
        self._has_answered = False
        if self.is_openai and not self._key:
            message = (
                "OpenAI needs a key: set the environment variable OPENAI_API_KEY, or set "
                "OPENAI_BASE_URL to a server of your own, such as http://localhost:11434/v1."
            )
            raise InputError(message)
        self.client: Any = require("openai", "llm").OpenAI(
            base_url=self._address,
            api_key=self._key or "none",
            timeout=timeout,
            max_retries=retries,
        )

    @property
    def is_openai(self) -> bool:
        """Whether this is OpenAI itself, whose prices and limits are known."""
        return self.url.rstrip("/") == OPENAI_URL

    @contextmanager
    def reporting(self, model: str) -> Iterator[None]:
        """Raise RemoteError, with one sentence, for whatever fails inside."""
        openai = require("openai", "llm")
        if not self._has_answered:
            self._check_port()
        try:
            yield
            self._has_answered = True
        except openai.APITimeoutError as error:
            tries = self._retries + 1
            message = (
                f"{self.url} gave no answer within {self._timeout:g} s, {tries} times. "
                "Try again later: what is finished is kept."
            )
            raise RemoteError(message) from error
        except openai.APIConnectionError as error:
            message = (
                f"{self.url} cannot be reached ({self._plain(error.__cause__ or error)}). "
                "Check the network and OPENAI_BASE_URL."
            )
            raise RemoteError(message) from error
        except openai.APIStatusError as error:
            raise RemoteError(self._refusal(error, model)) from error
        except (openai.OpenAIError, ValueError, TypeError, AttributeError, LookupError) as error:
            # ValueError and the like: the package read a reply of another form.
            message = (
                f"{self.url} answered the request for {model!r} with something that is not the "
                f"OpenAI protocol ({self._plain(error)}). Check OPENAI_BASE_URL."
            )
            raise RemoteError(message) from error

    def _check_port(self) -> None:
        """Find out at once that nobody listens; other faults are left to the retries."""
        for pause in (_SECOND_TRY, 0.0):
            if not is_refused(self._address):
                return
            time.sleep(pause)
        message = (
            f"{self.url} cannot be reached (connection refused). Start that server, or check "
            "OPENAI_BASE_URL."
        )
        raise RemoteError(message)

    def _refusal(self, error: Any, model: str) -> str:
        said = self._plain(error.body if isinstance(error.body, str) else error.message)
        match error.status_code:
            case 401 | 403:
                return f"{self.url} refused the key ({said}). Check OPENAI_API_KEY."
            case 404:
                return f"{self.url} does not know the model {model!r} ({said})."
            case 429:
                return (
                    f"{self.url} still limits the rate, or the quota is spent, after "
                    f"{self._retries + 1} tries ({said}). Try again later."
                )
        return (
            f"{self.url} answered the request for {model!r} with status {error.status_code} "
            f"({said})."
        )

    def _plain(self, said: object) -> str:
        return one_line(said, {self._address: self.url, self._key: "***"})


def one_line(said: object, replaced: Mapping[str, str]) -> str:
    """One short line of what a server said, with the secrets that it may repeat replaced."""
    line = "".join(c for c in " ".join(str(said).split()) if c.isprintable())
    for secret, shown in replaced.items():
        if secret:
            line = line.replace(secret, shown)
    return line[:_MESSAGE_LENGTH] or "no reason given"


def server_url(base_url: str | None = None) -> str:
    """Address of a server without user, password, query and fragment.

    >>> server_url("https://me:secret@models.example/v1?key=secret")
    'https://models.example/v1'
    """
    try:
        return without_query(_address(base_url))
    except ValueError as error:
        message = f"Not the address of a server: {_address(base_url)[:60]!r} ({error})."
        raise InputError(message) from error


def _address(base_url: str | None) -> str:
    return base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL
