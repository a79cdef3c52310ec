"""An outreach map in a notebook: picture, what was used, scores, places; and the line of code."""

from __future__ import annotations

import html
from base64 import b64encode
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from landscape.widgets.code_lines import call
from landscape.widgets.outreach_controls import DEFAULTS
from landscape.widgets.table_view import Column, table_html

if TYPE_CHECKING:
    from landscape.outreach._fidelity import Fidelity
    from landscape.outreach._files import Rendering

_KEYWORDS = 5
_PLACES = (
    Column("name", "Name"), Column("technical", "Technical name"), Column("kind", "Kind"),
    Column("n_papers", "Papers", "count"), Column("share", "Share of all", "share"),
    Column("recent_share", "New at its peak", "share"), Column("lettered", "On the map"),
    Column("about", "Keywords; of a water, what it parts"),
)  # fmt: skip
_SCORES = (
    Column("measure", "Measure"), Column("value", "This picture", "number"),
    Column("bar", "At least", "number"), Column("verdict", "Reached"),
)  # fmt: skip


def picture_html(rendering: Rendering) -> str:
    """The map as a picture no wider than a screen, its words for who cannot see it below.

    Parameters
    ----------
    rendering : Rendering

    Returns
    -------
    str
        HTML. Names and titles are escaped.
    """
    from landscape.outreach._files import preview

    source = f"data:image/png;base64,{b64encode(preview(rendering)).decode('ascii')}"
    about = html.escape(rendering.alt_text, quote=True)
    return (
        f"<img class='landscape-page' src='{source}' alt='{about}' style='max-width:100%'>"
        "<details class='landscape-quiet'><summary>The map in words, for readers who cannot see "
        f"it</summary>{about}</details>"
    )


def used_html(rendering: Rendering) -> str:
    """One line on what the picture was made with, and what the user should know."""
    used = rendering.used[:1].upper() + rendering.used[1:]
    notes = "".join(f"<div>{html.escape(note)}</div>" for note in rendering.notes)
    told = f"<div class='landscape-warning landscape-quiet'>{notes}</div>" if notes else ""
    return f"<div class='landscape-caption'>{html.escape(used)}.</div>{told}"


def scores_html(rendering: Rendering) -> str:
    """How true a repainted picture is to the data; empty for a map from the data alone.

    Parameters
    ----------
    rendering : Rendering

    Returns
    -------
    str
    """
    import pandas as pd

    scores = rendering.fidelity
    if scores is None:
        return ""
    table = pd.DataFrame(
        [
            (said, value, bar, "no" if name in scores.failed else "yes")
            for name, said, value, bar in _measured(scores)
        ],
        columns=["measure", "value", "bar", "verdict"],
    )
    kept = bool(rendering.settings.get("repainting", {}).get("kept", scores.passed))
    said = (
        "The repainted picture is true to the data. What its pixels say:"
        if kept
        else "The repainted picture was not true to the data and is not shown. What it scored:"
    )
    kind = "landscape-quiet" if kept else "landscape-warning"
    shown = table_html(table, _SCORES, about="How true the picture is to the data")
    return f"<div class='{kind}'>{said}</div>{shown}"


def places_html(rendering: Rendering) -> str:
    """The gazetteer as a table: what is on the map first."""
    table = rendering.gazetteer
    differs = table["technical_name"] != table["name"]
    table = table.assign(
        technical=table["technical_name"].where(differs),
        lettered=table["shown"].map({True: "yes", False: "no"}),
        about=table["note"].where(table["note"] != "", table["keywords"].map(_first_keywords)),
    )
    order = table["shown"].astype(int).mul(-1).argsort(kind="stable")
    return table_html(table.iloc[order], _PLACES, about="Places of the map")


def code_of(chosen: Mapping[str, Any]) -> str:
    """The line that draws the same map.

    Parameters
    ----------
    chosen : mapping
        As `landscape.widgets.outreach_controls.OutreachControls.value`.

    Returns
    -------
    str

    Examples
    --------
    >>> code_of({"theme": "night", "size": "web", "title": None})
    'picture = ls.outreach.render(atlas, theme="night")'
    """
    given = {
        name: value
        for name, value in chosen.items()
        if value != DEFAULTS[name] and name != "everyday"
    }
    if "weights" not in given:
        given = {name: value for name, value in given.items() if name not in ("seed", "strength")}
    line = f"picture = {call('ls.outreach.render', **given)}"
    if not chosen.get("everyday"):
        return line
    return f"from landscape.llm import connect\n\n{line[:-1]}, model=connect())"


def _measured(scores: Fidelity) -> list[tuple[str, str, float, float]]:
    bars = scores.bars
    return [
        ("iou", "Land and water where they belong (overlap)", scores.iou, bars.iou),
        ("boundary_f1", "Coasts where they belong", scores.boundary_f1, bars.boundary_f1),
        (
            "peaks_kept", f"Peaks that are still peaks, of {scores.n_peaks}", scores.peaks_kept,
            bars.peaks_kept,
        ),
        (
            "relief", "Heights follow the relief (rank correlation)",
            scores.relief_correlation, bars.relief * max(scores.relief_of_truth, 0.0),
        ),
    ]  # fmt: skip


def _first_keywords(joined: str) -> str:
    return "; ".join(joined.split("; ")[:_KEYWORDS])
