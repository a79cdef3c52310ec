"""Replies of a scripted language model to the requests of a survey."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from tests.servers.openai_server import OpenAIServer

Script = Callable[[str, dict[str, Any]], str]


def shown(body: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a prompt."""
    text = body["messages"][-1]["content"]
    return json.loads(text[text.index("{") :])


def kind_of(body: dict[str, Any]) -> str:
    """Return what a request asks for: "queries", "read" or "judge"."""
    form = json.dumps(body.get("response_format", {})) + body["messages"][0]["content"]
    for name, sign in (("queries", '"queries"'), ("read", '"follow"'), ("judge", '"decision"')):
        if sign in form.replace('\\"', '"'):
            return name
    return "other"


def scripted(server: OpenAIServer, script: Script) -> list[str]:
    """Make the server reply with `script`; return the list of the kinds of requests."""
    asked: list[str] = []

    def reply(body: dict[str, Any]) -> str:
        kind = kind_of(body)
        asked.append(kind)
        return script(kind, body)

    server.reply = reply
    return asked


def good_scholar(kind: str, body: dict[str, Any]) -> str:
    """Search twice, follow all citations, and select papers that mention winds."""
    data = shown(body)
    if kind == "queries":
        return json.dumps({"queries": ["mass loss of hot stars", "line-driven winds"]})
    if kind == "read":
        names = [one["name"] for one in data["lists"]]
        return json.dumps({"follow": [*names, "a list that is none"], "search": ""})
    said = [
        {
            "label": paper["label"],
            "decision": bool(re.search("wind", paper["abstract"], re.IGNORECASE)),
            "score": 0.9,
            "reason": "It speaks of winds, or it does not.",
        }
        for paper in data["papers"]
    ]
    said.append({"label": "P99", "decision": True, "score": 1.0, "reason": "An invented paper."})
    return json.dumps({"papers": said})


def pasa(body: dict[str, Any]) -> str:
    """Reply as `good_scholar` does, in PaSa's tokens."""
    text = body["messages"][-1]["content"]
    if "[StopSearch]" in text:
        return "[Search] mass loss of hot stars [Search]line-driven winds [StopSearch]"
    if "[StopExpand]" in text:
        return "[Expand] References [Expand]A list that is none [StopExpand]"
    decision = "wind" in shown(body)["abstract"].lower()
    return f"Decision: {decision}\nReason: It speaks of winds, or it does not."
