"""Replies of a scripted model and excerpts, for the tests of agents."""

from __future__ import annotations

import json
from typing import Any

from landscape import Atlas
from landscape.search import sentences_of
from landscape.types import Paper
from tests.servers.openai_server import OpenAIServer


def step(action: str, *, query: str = "", paper: str = "", sort: str = "relevance") -> str:
    return json.dumps(
        {
            "thought": "Let me see.",
            "part": "",
            "action": action,
            "query": query,
            "sort": sort,
            "paper": paper,
        }
    )


def scripted(server: OpenAIServer, *steps: str) -> None:
    """Make the server return the steps in order, and repeat the last one."""
    left = list(steps)
    server.reply = lambda _: left.pop(0) if len(left) > 1 else left[0]


def told(server: OpenAIServer, place: int = -1) -> dict[str, Any]:
    """Return the data that a request contains."""
    shown: dict[str, Any] = json.loads(server.requests[place].body["messages"][1]["content"])
    return shown


def some_paper(atlas: Atlas, row: int = 7) -> Paper:
    return atlas.engine.papers([row])[0]


def excerpt_of(paper: Paper) -> str:
    """Return an excerpt that cites a paper by its most specific sentence."""
    sentences = [one.text for one in sentences_of(paper)]
    longest = max(sentences, key=len).rstrip(".")
    return f"Much is known. {longest} [CITATION]. More work is needed."
