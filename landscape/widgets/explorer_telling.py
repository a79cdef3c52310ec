"""What the controls of an explorer say, from what it is told; they know nothing of each other."""

from __future__ import annotations

import contextlib
import html
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from landscape._wording import count
from landscape.errors import LandscapeError
from landscape.widgets.colouring import NAMES, columns_to_colour
from landscape.widgets.paper_card import record_html, short_line

if TYPE_CHECKING:
    from landscape.widgets.explorer_controls import Controls
    from landscape.widgets.scene import Found, MapData, Scene

NOTHING_FOUND = ("<div class='landscape-quiet'>Search above: what is found lights up on the map "
                 "and is listed here.</div>")  # fmt: skip
NOTHING_CHOSEN = ("<div class='landscape-quiet'>Nothing is selected. Draw round papers with the "
                  "lasso or a box, or write a filter.</div>")  # fmt: skip
_NO_PAPER = "<div class='landscape-quiet'>Click a paper to read about it here.</div>"
_HOW_TO_SAVE = (
    "<div class='landscape-quiet'>The picture shows this view with its colours, names and "
    "marks, and the bounds of the corpus below. The same from code: "
    "<code>explorer.save(&quot;map.pdf&quot;)</code>.</div>"
)


def offer(controls: Controls, atlas: Any, data: MapData, scene: Scene) -> str:
    """Put into the controls what an atlas has.

    Returns
    -------
    str
        What it lacks, in sentences; empty where it lacks nothing.
    """
    labels = data.labels.table
    colours = [(NAMES[name], name) for name in NAMES]
    with contextlib.suppress(LandscapeError, OSError):
        colours += [
            (name.replace("_", " ").capitalize(), name) for name in columns_to_colour(atlas)
        ]
    controls.colour.options = colours
    ordered = labels.sort_values(
        "label", key=lambda names: names.map(lambda name: str(name).casefold())
    )
    controls.regions.options = [
        ("Go to …", -1),
        *((f"{row.label} ({row.n_papers:,})", int(row.topic_id)) for row in ordered.itertuples()),
    ]
    controls.regions.value = -1
    period = data.period
    controls.times.layout.display = "" if period and period[0] < period[1] else "none"
    if period:
        controls.set_times(*period, scene.time or period)
    controls.found_note.value = NOTHING_FOUND
    controls.summary.value = NOTHING_CHOSEN
    controls.record.value = _NO_PAPER
    controls.save_note.value = _HOW_TO_SAVE
    controls.caption.value = _caption(atlas, data)
    return _offer_names(controls, atlas, data)


def follow(
    controls: Controls,
    scene: Scene,
    data: MapData,
    *,
    colour_by: str,
    concept: str | None,
    facility: str | None,
    searched: tuple[str, str, int] | None,
) -> None:
    """Set the controls to what is shown, whoever changed it."""
    controls.colour.value = colour_by
    controls.concept.value = concept or ""
    controls.facility.value = facility or ""
    controls.dark.value = scene.theme == "dark"
    for name, box in controls.layers.items():
        box.value = name in scene.layers
    period = data.period
    if period is not None and controls.time.value != (scene.time or period):
        controls.time.value = scene.time or period
    if searched is not None:
        query, method, k = searched
        controls.query.value, controls.method.value = query, method
        if k in controls.n_found.options:
            controls.n_found.value = k


def found_note(scene: Scene, data: MapData) -> str:
    """What is said above the list of papers found, as the map is now."""
    found = scene.found
    if found is None:
        return NOTHING_FOUND
    said = [f"“{found.query}”: {found.note}"]
    if len(found.papers) < len(found.rows):
        said.append(f"The first {len(found.papers):,} are listed.")
    n_outside = int((~scene.view.holds(data.x[found.rows], data.y[found.rows])).sum())
    if n_outside:
        said.append(f"{n_outside:,} of them outside this view.")
    return f"<div class='landscape-quiet'>{html.escape(' '.join(said))}</div>"


def list_found(controls: Controls, found: Found, *, chosen: Callable[[int], None]) -> None:
    """List what a search found.

    Parameters
    ----------
    controls : Controls
    found : Found
    chosen : callable
        Told the row of the paper that is clicked.
    """
    texts = [
        short_line(paper, rank=rank, apart=bool(found.apart[rank - 1]))
        for rank, paper in enumerate(found.papers, 1)
    ]
    controls.lines(texts, lambda number: chosen(found.papers[number].row))
    controls.found_buttons.layout.display = ""
    controls.tabs.selected_index = 0


def list_nothing(controls: Controls) -> None:
    """Clear the list of what was found."""
    controls.found_note.value = NOTHING_FOUND
    controls.lines([], lambda _: None)
    controls.found_buttons.layout.display = "none"


def tell_paper(controls: Controls, row: int, atlas: Any, data: MapData) -> None:
    """Tell a paper in full."""
    (paper,) = atlas.engine.papers([row])
    names = data.labels.table
    topic = int(atlas.map["topic_id"].iloc[row]) if "topic_id" in atlas.map else -1
    found = names[names["topic_id"] == topic]["label"]
    region = str(found.iloc[0]) if len(found) else "outside every region"
    generated = bool(atlas.coverage.get("generated"))
    controls.record.value = record_html(paper, region=region, generated=generated)


def _offer_names(controls: Controls, atlas: Any, data: MapData) -> str:
    """Concepts and facilities to choose from, as far as the atlas has them."""
    from landscape.overlays.missions._facilities import load_facilities

    stages = atlas.stages
    controls.concept.disabled = "uat" not in stages
    controls.facility.disabled = "missions" not in stages
    controls.layers["reviews"].disabled = "reviews" not in stages
    if "missions" in stages:
        controls.facility.options = sorted(load_facilities())
    if "uat" in stages:
        with contextlib.suppress(LandscapeError):
            concepts = atlas.thesaurus.concepts.values()
            controls.concept.options = sorted(one.label for one in concepts)
    names = {"uat": "thesaurus", "missions": "missions", "reviews": "reviews"}
    lacking = [name for stage, name in names.items() if stage not in stages]
    said = []
    if lacking:
        said.append(f"This atlas has no layer of {', '.join(lacking)}; the same landscape "
                    "build run again adds it.")  # fmt: skip
    if not len(data.labels.table):
        said.append("This atlas has no named regions, so the map has no names.")
    if data.period is None:
        said.append("No paper has a date, so there is no time window.")
    return " ".join(said)


def _caption(atlas: Any, data: MapData) -> str:
    from landscape.figures._caption import GENERATED, explanation, facts_of, headline

    facts = facts_of(atlas)
    sentences = [headline(facts), *explanation(facts)]
    if data.undated:
        sentences.append(f"{count(data.undated, 'paper')} without a date show only with all years.")
    made_up = f"<b>{GENERATED}</b> " if facts.generated else ""
    return f"<div class='landscape-quiet'>{made_up}{html.escape(' '.join(sentences))}</div>"
