"""The Unified Astronomy Thesaurus (UAT), from its official repository."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson

from landscape._http import (
    GarbledReplyError,
    HttpClient,
    Reply,
    RetryPolicy,
    ignore_note,
    refuse_web_page,
)
from landscape._io import write_whole
from landscape.corpus.fetch._download import Fetched, check_target, disk_error
from landscape.errors import InputError, RemoteError

UAT_FILES = "https://raw.githubusercontent.com/astrothesaurus/UAT"

_VERSION = re.compile(r"\d+\.\d+\.\d+")
_CONCEPT = re.compile(r"https?://astrothesaurus\.org/uat/\d+")
_FEWEST_CONCEPTS = 100  # the first release had some 1,800


def fetch_uat(
    out: str | Path,
    *,
    version: str = "5.1.0",
    file: str = "UAT.json",
    base_url: str = UAT_FILES,
    policy: RetryPolicy = RetryPolicy(),  # noqa: B008 - frozen
    notify: Callable[[str], None] = ignore_note,
) -> Fetched:
    """Fetch one release of the thesaurus as JSON, and check that it is a thesaurus.

    Parameters
    ----------
    out : str or Path
        The file to write, for example ``UAT.json``.
    version : str, default "5.1.0"
        A release, or ``"latest"`` for the newest published file.
    file : str, default "UAT.json"
        ``"UAT.json"`` is the tree of concepts, ``"UAT_list.json"`` the flat list.
    base_url : str
        Address of the files, one folder a release.
    policy : RetryPolicy
    notify : callable, optional
        Called with messages for the user.

    Returns
    -------
    Fetched
        `n_records` is the number of distinct concepts.

    Raises
    ------
    InputError
        A version that does not exist, or an unwritable file.
    RemoteError
        When the server cannot be reached, or sends something else than the thesaurus.

    Notes
    -----
    The UAT is licensed CC BY-SA 3.0.

    Examples
    --------
    >>> fetch_uat("UAT.json", version="five")
    Traceback (most recent call last):
    ...
    landscape.errors.InputError: A UAT version looks like 5.1.0 (or 'latest'), and is 'five'
    """
    out = Path(out)
    check_target(out)
    with HttpClient("The UAT repository", base_url, policy=policy, notify=notify) as client:
        for tag in _tags(version):
            content = client.request(
                f"{client.base_url}/{tag}/{file}", read=_read, accept=frozenset({404})
            )
            if content is not None:
                break
        else:
            raise InputError(
                f"The UAT repository has no {file} of version {version!r}; its releases are at "
                "https://github.com/astrothesaurus/UAT/releases"
            )
    n_concepts = len(set(concepts(orjson.loads(content))))
    try:
        write_whole(out, content)
    except OSError as error:
        raise disk_error(out, error) from error
    note = f"Unified Astronomy Thesaurus, release {tag.lstrip('v.')}, CC BY-SA 3.0"
    return Fetched(out, n_concepts, 0, finished=True, note=note)


def concepts(thesaurus: Any) -> Iterator[str]:
    """URIs of all concepts of a UAT file, tree or list; a concept may come several times.

    >>> tree = {"children": [{"name": "Stars", "uri": "http://astrothesaurus.org/uat/1"}]}
    >>> list(concepts(tree))
    ['http://astrothesaurus.org/uat/1']
    """
    waiting = [thesaurus]
    while waiting:  # a stack: no file can overflow the recursion limit
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, dict):
            uri = node.get("uri")
            if isinstance(uri, str) and _CONCEPT.fullmatch(uri) and node.get("name"):
                yield uri
            waiting.append(node.get("children"))


def _tags(version: str) -> list[str]:
    if version == "latest":
        return ["master"]
    bare = version.removeprefix("v").removeprefix(".")
    if not _VERSION.fullmatch(bare):
        raise InputError(f"A UAT version looks like 5.1.0 (or 'latest'), and is {version!r}")
    return [f"v{bare}", f"v.{bare}", bare]  # the releases have been tagged in several ways


def _read(reply: Reply) -> bytes | None:
    """The content, checked; None where there is no such file."""
    if reply.status == 404:
        return None
    refuse_web_page(reply, "The UAT repository", "JSON")
    try:
        thesaurus = orjson.loads(reply.content)
    except ValueError as error:
        raise GarbledReplyError("its JSON is damaged or cut off") from error
    if sum(1 for _ in concepts(thesaurus)) < _FEWEST_CONCEPTS:
        raise RemoteError(
            "The UAT repository sent JSON that is not the thesaurus; check the address, or take "
            "the file from https://github.com/astrothesaurus/UAT"
        )
    return reply.content
