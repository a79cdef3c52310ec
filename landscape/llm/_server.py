"""Connections to servers with the OpenAI protocol: OpenAI, vLLM, Ollama, llama.cpp."""

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
_MESSAGE_LENGTH = 200  # maximum number of characters of a message from a server


class Server:
    """Address and key of a server, with messages for its errors.

    The ``openai`` package repeats requests after time-outs, broken connections and the statuses
    408, 409, 429 and 5xx. If a server refuses the first connection, there is only one more try.
    Default address: OPENAI_BASE_URL, or else OpenAI. Default key: OPENAI_API_KEY. An empty string
    means no key.
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
            raise InputError(
                "OpenAI needs a key: set the environment variable OPENAI_API_KEY, or set "
                "OPENAI_BASE_URL to your own server, such as http://localhost:11434/v1."
            )
        self.client: Any = require("openai", "llm").OpenAI(
            base_url=self._address,
            api_key=self._key or "none",
            timeout=timeout,
            max_retries=retries,
        )

    @property
    def is_openai(self) -> bool:
        """Whether this is the server of OpenAI."""
        return self.url.rstrip("/") == OPENAI_URL

    @contextmanager
    def reporting(self, model: str) -> Iterator[None]:
        """Convert errors of the ``openai`` package to a RemoteError with a one-sentence message."""
        openai = require("openai", "llm")
        if not self._has_answered:
            self._check_port()
        try:
            yield
            self._has_answered = True
        except openai.APITimeoutError as error:
            tries = self._retries + 1
            raise RemoteError(
                f"{self.url} gave no answer within {self._timeout:g} s, {tries} times. "
                "Try again later: finished parts are stored."
            ) from error
        except openai.APIConnectionError as error:
            raise RemoteError(
                f"{self.url} cannot be reached ({self._plain(error.__cause__ or error)}). "
                "Check the network and OPENAI_BASE_URL."
            ) from error
        except openai.APIStatusError as error:
            raise RemoteError(self._refusal(error, model)) from error
        except (openai.OpenAIError, ValueError, TypeError, AttributeError, LookupError) as error:
            # ValueError and similar errors mean that the reply has another format.
            raise RemoteError(
                f"{self.url} answered the request for {model!r} with something that is not the "
                f"OpenAI protocol ({self._plain(error)}). Check OPENAI_BASE_URL."
            ) from error

    def _check_port(self) -> None:
        """Raise an error immediately if no server is running; other errors are retried."""
        for pause in (_SECOND_TRY, 0.0):
            if not is_refused(self._address):
                return
            time.sleep(pause)
        raise RemoteError(
            f"{self.url} cannot be reached (connection refused). Start that server, or check "
            "OPENAI_BASE_URL."
        )

    def _refusal(self, error: Any, model: str) -> str:
        reason = self._plain(error.body if isinstance(error.body, str) else error.message)
        match error.status_code:
            case 401 | 403:
                return f"{self.url} refused the key ({reason}). Check OPENAI_API_KEY."
            case 404:
                return f"{self.url} has no model {model!r} ({reason})."
            case 429:
                return (
                    f"{self.url} still limits the rate, or the quota is spent, after "
                    f"{self._retries + 1} tries ({reason}). Try again later."
                )
        return (
            f"{self.url} answered the request for {model!r} with status {error.status_code} "
            f"({reason})."
        )

    def _plain(self, text: object) -> str:
        return one_line(text, {self._address: self.url, self._key: "***"})


def one_line(text: object, replaced: Mapping[str, str]) -> str:
    """Return a message of a server as one short line, without secrets."""
    line = "".join(c for c in " ".join(str(text).split()) if c.isprintable())
    for secret, shown in replaced.items():
        if secret:
            line = line.replace(secret, shown)
    return line[:_MESSAGE_LENGTH] or "no reason given"


def server_url(base_url: str | None = None) -> str:
    """Return the address of a server without user, password, query and fragment.

    >>> server_url("https://me:secret@models.example/v1?key=secret")
    'https://models.example/v1'
    """
    try:
        return without_query(_address(base_url))
    except ValueError as error:
        raise InputError(
            f"Invalid address of a server: {_address(base_url)[:60]!r} ({error})."
        ) from error


def _address(base_url: str | None) -> str:
    return base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL
