"""Connections to servers that speak the OpenAI protocol: OpenAI, vLLM, Ollama, llama.cpp."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

from landscape.errors import InputError, RemoteError, require

OPENAI_URL = "https://api.openai.com/v1"

_KNOCK, _SECOND_KNOCK = 3.0, 0.5  # seconds
_MESSAGE_LENGTH = 200  # of what a server says of itself: enough for a reason, too short for a page


class Server:
    """One server, its key, and what to say when it fails.

    Requests are repeated by the ``openai`` package after a time-out, a broken connection, 408, 409,
    429 and 5xx, with growing pauses or the one that ``Retry-After`` asks for. A server that refuses
    the first connection is tried once more and then given up.

    Parameters
    ----------
    base_url : str, optional
        Default: the environment variable OPENAI_BASE_URL, else OpenAI itself.
    api_key : str, optional
        Default: OPENAI_API_KEY; the empty string is no key. A server other than OpenAI may need
        none.
    timeout : float, default 60
        Seconds for one try.
    retries : int, default 4
        Further tries after a first that failed.

    Raises
    ------
    InputError
        OpenAI itself is meant and there is no key.
    MissingExtraError
        The package ``openai`` is not installed.
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
        """Turn whatever goes wrong inside into one sentence.

        Parameters
        ----------
        model : str
            What the server was asked for.

        Raises
        ------
        RemoteError
            The server failed, refused, or answered something else than the protocol has.
        """
        openai = require("openai", "llm")
        if not self._has_answered:
            self._knock()
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
            # ValueError and the like: the package read a reply that has not the promised form.
            message = (
                f"{self.url} answered the request for {model!r} with something that is not the "
                f"OpenAI protocol ({self._plain(error)}). Check OPENAI_BASE_URL."
            )
            raise RemoteError(message) from error

    def _knock(self) -> None:
        """Find out in a moment that nobody listens: no retry of a request will help.

        Whatever else may be wrong is left to the request and its retries.
        """
        for pause in (_SECOND_KNOCK, 0.0):
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
        """One short line of what a server said, without the secrets that it may repeat."""
        line = " ".join(str(said).split()).replace(self._address, self.url)
        line = "".join(c for c in line if c.isprintable())
        if self._key:
            line = line.replace(self._key, "***")
        return line[:_MESSAGE_LENGTH] or "no reason given"


def is_refused(address: str) -> bool:
    """Say whether a server refuses connections, which it does at once where none runs.

    Parameters
    ----------
    address : str
        URL of the server.

    Returns
    -------
    bool
        False too where it cannot be told: behind a proxy, without a name server, in silence.

    Examples
    --------
    >>> with socket.socket() as unused:
    ...     unused.bind(("127.0.0.1", 0))
    ...     is_refused(f"http://127.0.0.1:{unused.getsockname()[1]}/v1")
    True
    """
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port or (80 if parts.scheme == "http" else 443)
        if parts.scheme in getproxies() and not proxy_bypass(host):
            return False
        socket.create_connection((host, port), timeout=_KNOCK).close()
    except ConnectionRefusedError:
        return True
    except (OSError, ValueError):
        return False
    return False


def server_url(base_url: str | None = None) -> str:
    """Say which server is meant, for messages and manifests: without secrets.

    Parameters
    ----------
    base_url : str, optional
        As for :class:`Server`.

    Returns
    -------
    str
        The address without user, password, query and fragment.

    Raises
    ------
    InputError
        It is no address.

    Examples
    --------
    >>> server_url("https://me:secret@models.example/v1?key=secret")
    'https://models.example/v1'
    """
    try:
        parts = urlsplit(_address(base_url))
    except ValueError as error:
        message = f"{_address(base_url)[:60]!r} is no address of a server ({error})."
        raise InputError(message) from error
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _address(base_url: str | None) -> str:
    return base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL
