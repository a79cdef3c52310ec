"""What came back from a server: its content, its quota, and what it asks us to wait."""

from __future__ import annotations

import email.utils
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from landscape.errors import RemoteError

GO_ON = "run the same command again later, it goes on where it stopped"


@dataclass(frozen=True)
class Reply:
    """One whole answer of a server."""

    status: int
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True)
class Quota:
    """How many requests a server still allows.

    Attributes
    ----------
    limit, left : int
        Requests allowed in all, and still allowed.
    renewal : float
        When `left` becomes `limit` again, in seconds since 1970.
    """

    limit: int
    left: int
    renewal: float

    @property
    def renewed(self) -> str:
        """The time of renewal in words."""
        return f"{datetime.fromtimestamp(self.renewal, tz=UTC):%Y-%m-%d %H:%M} UTC"

    def __str__(self) -> str:
        return f"{self.left:,} of {self.limit:,} requests left until {self.renewed}"


class GarbledError(ValueError):
    """An answer that came with a good status and yet cannot be read; worth another try."""


def read_quota(headers: Mapping[str, str]) -> Quota | None:
    """Take the quota from X-RateLimit headers, None where there are none.

    Examples
    --------
    >>> print(read_quota({"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "42",
    ...                   "X-RateLimit-Reset": "1700000000"}))
    42 of 5,000 requests left until 2023-11-14 22:13 UTC
    """
    try:
        limit, left, renewal = (
            int(headers[f"X-RateLimit-{name}"]) for name in ("Limit", "Remaining", "Reset")
        )
        datetime.fromtimestamp(renewal, tz=UTC)
    except (KeyError, ValueError, OverflowError, OSError):
        return None
    return Quota(limit, left, float(renewal))


def expect_no_web_page(reply: Reply, name: str, wanted: str) -> None:
    """Refuse a web page (a login, a portal, a notice) that came in place of data.

    Raises
    ------
    RemoteError

    Examples
    --------
    >>> expect_no_web_page(Reply(200, {}, b"<OAI-PMH/>"), "arXiv", "XML")
    """
    head = reply.content[:1000].lstrip().lower()
    if head.startswith((b"<!doctype html", b"<html")) or b"<html" in head:
        raise RemoteError(
            f"{name} answered with a web page instead of {wanted}: a network login, or a notice "
            f"that the service is down; open its address in a browser, then {GO_ON}"
        )


def retry_after(headers: Mapping[str, str], *, now: float) -> float | None:
    """Seconds that a Retry-After header asks for, as a number or as a date (RFC 9110, 10.2.3).

    Examples
    --------
    >>> retry_after({"Retry-After": "30"}, now=0.0)
    30.0
    >>> retry_after({"Retry-After": "Thu, 01 Jan 1970 00:01:00 GMT"}, now=20.0)
    40.0
    """
    value = headers.get("Retry-After", "").strip()
    if not value:
        return None
    if value.isdecimal():
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - now)
    except ValueError:
        return None
