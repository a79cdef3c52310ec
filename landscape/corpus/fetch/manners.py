"""How often, how patiently and over what a server is asked."""

from __future__ import annotations

import importlib.metadata
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

from landscape.errors import InputError


def say_nothing(note: str) -> None:
    """Take a note for the user and drop it."""


@dataclass(frozen=True)
class Manners:
    """Pace and patience of a fetch.

    Attributes
    ----------
    pause : float, default 0
        Least time between two requests, in seconds.
    attempts : int, default 6
        How often a request is tried in a row when it fails for a reason that may pass.
    first_wait, longest_wait : float
        Bounds of the exponential wait between attempts, in seconds.
    patience : float, default 900
        The longest wait that a server may ask for, in seconds; where it asks for more, the fetch
        stops and says so.
    timeout : float, default 120
        How long a silent connection is kept, in seconds.
    sleep, clock, jitter : callable
        Waiting, the time of day (seconds since 1970), a random fraction; tests bring their own.

    Examples
    --------
    >>> Manners(first_wait=1, jitter=lambda: 1.0).backoff(3)
    4.0
    """

    pause: float = 0.0
    attempts: int = 6
    first_wait: float = 2.0
    longest_wait: float = 120.0
    patience: float = 900.0
    timeout: float = 120.0
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.time
    jitter: Callable[[], float] = field(default_factory=lambda: random.SystemRandom().random)

    def backoff(self, failures: int) -> float:
        """Seconds to wait after `failures` in a row: doubling, half of it left to chance.

        The chance keeps many clients that failed together from coming back together.
        """
        longest = min(self.first_wait * 2.0 ** (failures - 1), self.longest_wait)
        return float(longest * (0.5 + 0.5 * self.jitter()))


def user_agent() -> str:
    """Name and version under which servers see us.

    Examples
    --------
    >>> user_agent().startswith("landscape/")
    True
    """
    try:
        version = importlib.metadata.version("landscape")
    except importlib.metadata.PackageNotFoundError:
        version = "0"
    return f"landscape/{version} (astronomy literature mapping)"


def require_https(url: str) -> None:
    """Refuse any address that is not https, this very machine excepted.

    Raises
    ------
    InputError

    Examples
    --------
    >>> require_https("https://example.org/oai")
    >>> require_https("http://127.0.0.1:8000/")
    """
    parts = urlsplit(url)
    if parts.scheme == "https" and parts.hostname:
        return
    if parts.scheme == "http" and is_this_machine(url):
        return
    raise InputError(f"Landscape fetches over https only, and the address is {url!r}")


def is_this_machine(url: str) -> bool:
    """Whether an address is on the loopback interface.

    Examples
    --------
    >>> is_this_machine("http://localhost:80/"), is_this_machine("https://example.org")
    (True, False)
    """
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def without_query(url: str) -> str:
    """An address short enough for a message, and without whatever its parameters hold.

    Examples
    --------
    >>> without_query("https://me:pw@example.org:8443/oai?verb=Identify")
    'https://example.org:8443/oai'
    """
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"
