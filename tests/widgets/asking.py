"""A scripted model and the content of pages, for the tests of panels."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from landscape.pipeline.commit import write_manifest
from landscape.store.manifest import read_manifest
from tests.servers.openai_server import OpenAIServer

QUESTION = "How do stellar winds change the evolution of massive stars?"


def script(
    server: OpenAIServer, *, kind: str = "multi-paper factual", text: str = ""
) -> list[dict[str, Any]]:
    """Let the server classify, expand, write, check and judge; return the list of its requests."""
    asked: list[dict[str, Any]] = []

    def reply(body: dict[str, Any]) -> str:
        asked.append(body)
        form = json.dumps(body.get("response_format", {}))
        if '"flags"' in form:
            return json.dumps({"type": kind, "flags": []})
        if "verdicts" in form:
            return '{"verdicts": []}'
        shown = re.findall(r'"label": ?"([^"]+)"', body["messages"][-1]["content"])
        if '"stances"' in form:
            return json.dumps(
                {
                    "statement": "Winds matter.",
                    "stances": [],
                    "relevance": 0.5,
                    "level": "Weak Agreement",
                    "explanation": "Some say so.",
                }
            )
        if '"question"' in form:
            return json.dumps({"question": "How do winds and dust go together?"})
        if not shown:
            return "We show that line-driven winds strip the envelopes of massive stars."
        return text or f"Winds strip the envelopes of stars, word by word [{shown[0]}]."

    server.reply = reply
    return asked


def inside(widget: widgets.Widget) -> Iterator[widgets.Widget]:
    """Yield a widget and all its children."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from inside(child)


def page_of(widget: widgets.Widget) -> str:
    """Return all HTML of a panel, including collapsed sections."""
    return "\n".join(part.value for part in inside(widget) if isinstance(part, widgets.HTML))


def labels_of(widget: widgets.Widget) -> list[str]:
    """Return the labels of the controls."""
    return [part.description for part in inside(widget) if getattr(part, "description", "")]


def built_again(folder: Path) -> None:
    """Rewrite the manifest, as a rebuild of an open atlas does."""
    write_manifest(folder, read_manifest(folder))


def live_widgets() -> int:
    """Return the number of open widgets, which would be saved with the notebook."""
    return len(widgets.Widget.get_manager_state()["state"])
