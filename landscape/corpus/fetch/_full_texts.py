"""Download full texts from arXiv: the HTML page of a paper, otherwise its source or PDF."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path

from landscape._http import (
    RUN_AGAIN,
    GarbledReplyError,
    HttpClient,
    Reply,
    RequestError,
    RetryPolicy,
    ignore_note,
)
from landscape._io import write_whole
from landscape._progress import progress
from landscape._wording import count
from landscape.corpus.fetch._download import Fetched, disk_error
from landscape.corpus.full_text import FullTextFolder
from landscape.corpus.identifiers import parse_arxiv_id
from landscape.errors import InputError
from landscape.types import Paper

ARXIV = "https://arxiv.org"
#: One request in three seconds: https://info.arxiv.org/help/api/tou.html
PAUSE = 3.0
POLICY = RetryPolicy(pause=PAUSE, largest_reply=60 * 2**20)
_KINDS = ((b"%PDF-", ".pdf"), (b"\x1f\x8b", ".tar.gz"), (b"<", ".html"))
_ABSENT = frozenset({403, 404, 410})  # arXiv has no page of this kind for the paper


def fetch_full_texts(
    arxiv_ids: Iterable[str],
    folder: str | Path,
    *,
    base_url: str = ARXIV,
    policy: RetryPolicy = POLICY,
    notify: Callable[[str], None] = ignore_note,
) -> Fetched:
    """Download the full texts of papers from arXiv, one request in three seconds.

    The HTML page of a paper is preferred; older papers have their LaTeX source, and a few a PDF.
    Full texts that the folder has are not requested again, so the same call continues an
    interrupted download.

    Parameters
    ----------
    arxiv_ids : iterable of str
    folder : path
        Folder for the files, which are named by the arXiv id. It is created if necessary.
    base_url : str
        Address of arXiv.
    policy : RetryPolicy
    notify : callable, optional
        Called with messages for the user, such as how long the download takes.

    Returns
    -------
    Fetched
        `n_records` counts the full texts in the folder, `n_skipped` the papers without one.

    Raises
    ------
    InputError
        If no paper has an arXiv id, or the folder cannot be written.
    RemoteError
        If arXiv cannot be reached.

    Examples
    --------
    >>> fetch_full_texts([], "full-texts")
    Traceback (most recent call last):
    ...
    landscape.errors.InputError: No paper has an arXiv id; choose other papers with --filter.
    """
    names = list(dict.fromkeys(filter(None, map(parse_arxiv_id, arxiv_ids))))
    if not names:
        raise InputError("No paper has an arXiv id; choose other papers with --filter.")
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise disk_error(place, error) from error
    known = FullTextFolder(place)
    todo = [name for name in names if known.find(_paper(name)) is None]
    seconds = timedelta(seconds=round(len(todo) * max(policy.pause, 0.1)))
    notify(
        f"{count(len(todo), 'full text')} of {count(len(names), 'paper')} to fetch from arXiv; "
        f"this takes about {seconds} to {2 * seconds}. {RUN_AGAIN.capitalize()}."
    )
    absent = 0
    with (
        HttpClient("arXiv", base_url, policy=policy, notify=notify) as client,
        progress("Fetching full texts", total=len(todo)) as advance,
    ):
        for name in todo:
            found = _fetch(client, name)
            if found is None or not found[0]:
                absent += 1
                kind = f" of a known kind (it begins with {found[1][:20]!r})" if found else ""
                notify(f"arXiv has no full text{kind} of {name}")
            else:
                ending, content = found
                try:
                    write_whole(place / f"{name.replace('/', '_')}{ending}", content)
                except OSError as error:
                    raise disk_error(place, error) from error
            advance(1)
    note = f"Add them with: landscape update ATLAS --full-text {place}"
    return Fetched(place, len(names) - absent, absent, True, note)


def _paper(arxiv_id: str) -> Paper:
    return Paper(row=0, paper_id=arxiv_id, title="", abstract="", arxiv_id=arxiv_id)


def _fetch(client: HttpClient, name: str) -> tuple[str, bytes] | None:
    """Return the ending and the content of the HTML page or the source, or None."""
    for kind in ("html", "e-print"):
        try:
            return client.request(f"{client.base_url}/{kind}/{name}", read=_read)
        except RequestError as error:
            if error.status not in _ABSENT:
                raise
    return None


def _read(reply: Reply) -> tuple[str, bytes]:
    content = reply.content
    for start, ending in _KINDS:
        if content.lstrip()[: len(start)] == start:
            return ending, content
    if content[:1] in (b"\\", b"%"):
        return ".tex", content
    if not content:
        raise GarbledReplyError("it sent an empty file")
    return "", content
