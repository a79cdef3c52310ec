"""Search arXiv or ADS with the searches of a survey, for papers that the atlas does not have."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from landscape._http import RetryPolicy
from landscape.errors import LandscapeError
from landscape.search.matching import subject_words
from landscape.types import Paper

Service = Literal["arxiv", "ads"]
_PAPERS = 20  # per search
_WORDS = 8  # of a search
_WORD = re.compile(r"\w[\w-]+")  # without operators of the services
_FIELDS = {one.name for one in fields(Paper)} - {"row"}


class OnlineSearch:
    """Search of a service, by relevance.

    Parameters
    ----------
    service : {"arxiv", "ads"}
        ADS needs a key; see `landscape.corpus.fetch.fetch_ads`.
    **options
        Options of the download, such as ``base_url``.
    """

    def __init__(self, service: Service, **options: Any) -> None:
        self.service = service
        self._policy = options.pop("policy", None) or RetryPolicy(
            pause=3.0 if service == "arxiv" else 0.5, first_wait=5.0, attempts=3, time_limit=120.0
        )
        self._options = options
        self._last = float("-inf")  # time of the last request

    def __call__(self, text: str) -> list[Paper]:
        """Return the papers of the service for a search, best first.

        All words are required first. If no paper has all of them, one word is enough.

        Raises
        ------
        RemoteError
            If the service fails.
        """
        known = (word for word in subject_words(text) if _WORD.fullmatch(word))
        words = list(dict.fromkeys(known))[:_WORDS]
        for link in (" AND ", " OR ") if words else ():
            if found := self._papers(words, link):
                return found
        return []

    def _papers(self, words: list[str], link: str) -> list[Paper]:
        from landscape.corpus import read_papers
        from landscape.corpus.fetch import NoRecordsError, fetch_ads, search_arxiv

        fetch: Callable[..., object] = search_arxiv
        query = link.join(f"all:{word}" for word in words)
        policy = self._policy
        options = {**self._options, "policy": policy}
        policy.sleep(max(0.0, self._last + policy.pause - policy.clock()))
        if self.service == "ads":
            query, fetch = f"abs:({link.join(words)})", fetch_ads
            options |= {"sort": "score desc"}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "papers.jsonl"
            try:
                fetch(path, query=query, max_records=_PAPERS, **options)
            except NoRecordsError:
                return []
            finally:
                self._last = policy.clock()
            rows = [row for batch in read_papers(path) for row in batch.papers.to_pylist()]
        return [_paper(row) for row in rows]


def _paper(row: dict[str, Any]) -> Paper:
    """Return a row of a corpus as a paper outside the atlas, whose row is -1."""
    known: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in row.items()
        if name in _FIELDS and value is not None
    }
    if isinstance(known.get("date"), datetime):
        known["date"] = known["date"].date()
    return Paper(row=-1, **known)


def is_in_atlas(paper: Paper, row_of: Callable[[str], int]) -> int | None:
    """Return the row of a paper in an atlas, by its identifiers, or None."""
    for name in (paper.arxiv_id, paper.bibcode, paper.doi):
        with suppress(LandscapeError):
            if name:
                return row_of(name)
    return None
