"""How figures and captions of analyses stand in a notebook."""

from __future__ import annotations

import html
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from landscape.overlays._analysis import Analysis


@cache
def analysis_css() -> str:
    """The styles of these panels."""
    return files("landscape.widgets").joinpath("analysis.css").read_text(encoding="utf-8")


def is_page(figure: Any) -> bool:
    """Whether a figure is one for print."""
    return hasattr(figure, "savefig")


def caption_html(found: Analysis) -> str:
    """Caption, notes, sources and warnings of an analysis; all of it escaped."""
    notes = [note for note in found.notes if note not in found.warnings]
    generated = notes.pop() if found.bounds.get("generated") else ""
    sources = found.bounds.get("sources") or {}
    named = ", ".join(f"{name} ({count:,})" for name, count in dict(sources).items())
    quiet = " ".join([*notes, f"Sources: {named}." if named else ""])
    told = [f"<strong>{html.escape(generated)}</strong> " if generated else ""]
    told += [html.escape(found.caption)]
    told_apart = "".join(f"<div>{html.escape(warning)}</div>" for warning in found.warnings)
    warnings = (
        f"<div class='landscape-warning landscape-quiet'>{told_apart}</div>" if told_apart else ""
    )
    return (
        f"<div class='landscape-caption'>{''.join(told)}</div>"
        f"<div class='landscape-quiet'>{html.escape(quiet)}</div>{warnings}"
    )
