"""Controls of the map explorer: layout, options and values."""

from __future__ import annotations

import contextlib
import html
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING

import ipywidgets as widgets

from landscape.answers import describe_regions
from landscape.errors import LandscapeError
from landscape.figures.caption import GENERATED, explanation, facts_of, headline
from landscape.widgets._colours import NAMES, columns_to_colour
from landscape.widgets._panel import close_all, css_of, make_control, panel_texts, style_sheet
from landscape.widgets._selection import record_html, short_line

if TYPE_CHECKING:
    from landscape.atlas import Atlas
    from landscape.widgets._map_state import Found, MapData, MapState


def _quiet(text: str) -> str:
    return f"<div class='landscape-quiet'>{text}</div>"


NOTHING_FOUND = _quiet("Search above. The papers found are marked on the map and listed here.")
NOTHING_SELECTED = _quiet(
    "Nothing is selected. Draw around papers with the lasso or a box, or write a filter."
)
_NO_PAPER = _quiet("Click a paper to read about it here.")
_HOW_TO_SAVE = _quiet(
    "The picture shows this view, with the limits of the corpus below. To save the same picture "
    "from code, use <code>explorer.save(&quot;map.pdf&quot;)</code>."
)
_SIDE_HEIGHT = "318px"


def _bar(*children: widgets.Widget) -> widgets.HBox:
    bar = widgets.HBox(list(children))
    bar.add_class("landscape-bar")
    return bar


class Controls(SimpleNamespace):
    """Controls defined in ``panels.yaml``, and text fields, by name; `body` is the layout."""

    def __init__(self, figure: widgets.Widget, size: tuple[int, int]) -> None:
        super().__init__(
            **{name: make_control(f"explorer.{name}") for name in panel_texts()["explorer"]}
        )
        self.layers = {name: getattr(self, name) for name in ("names", "papers", "reviews")}
        self.legend, self.view_line, self.caption = (widgets.HTML() for _ in range(3))
        self.found_note, self.links, self.outcome = (widgets.HTML() for _ in range(3))
        self.summary, self.file, self.save_note, self.record = (widgets.HTML() for _ in range(4))
        self.reload.layout.display = "none"
        self.times = _bar(self.time, self.play, self.all_times)
        framed = widgets.Box(
            [figure], layout=widgets.Layout(width=f"{size[0] + 2}px", height=f"{size[1] + 2}px")
        )
        framed.add_class("landscape-map")
        moves = _bar(self.mode, self.zoom_in, self.zoom_out, self.home, self.back, self.regions)
        left = widgets.VBox(
            [framed, self.view_line, self.legend, moves, self.times],
            layout=widgets.Layout(width=f"{size[0] + 6}px", overflow="visible"),
        )
        main = widgets.HBox([left, self._side()])
        main.add_class("landscape-main")
        searches = _bar(self.query, self.method, self.n_found, self.search, self.clear_search)
        looks = _bar(self.colour, self.concept, self.facility, *self.layers.values(), self.dark)
        self.body = [
            style_sheet(css_of("explorer")),
            searches,
            looks,
            main,
            self.caption,
            self.reload,
        ]

    def _side(self) -> widgets.VBox:
        self.found_list = widgets.VBox(layout=widgets.Layout(max_height="248px"))
        self.found_buttons = _bar(self.zoom_found, self.select_found)
        self.found_buttons.layout.display = "none"
        selection_buttons = _bar(self.compare, self.export, self.clear_selection)
        pages = [
            widgets.VBox([self.found_note, self.found_list, self.found_buttons]),
            widgets.VBox(
                [
                    self.summary,
                    self.filter,
                    selection_buttons,
                    self.links,
                    self.question,
                    self.outcome,
                ]
            ),
            widgets.VBox([_bar(self.format, self.make), self.file, self.save_note]),
        ]
        self.tabs = widgets.Tab(pages, titles=("Found", "Selected", "Save"))
        record_box = widgets.VBox([self.record], layout=widgets.Layout(max_height="330px"))
        for page in pages:
            page.layout.height = _SIDE_HEIGHT
        for box in (*pages, self.found_list, record_box):
            box.add_class("landscape-scrolled")
        for text in (self.outcome, self.record):
            text.add_class("landscape-record")
        side = widgets.VBox([self.tabs, record_box])
        side.add_class("landscape-side")
        return side

    # -- options of an atlas

    def offer(self, atlas: Atlas, data: MapData, state: MapState) -> str:
        """Set the options for an atlas; return sentences about missing data."""
        labels = data.labels.table[data.labels.table["level"] < 2]
        colours = [(words, name) for name, words in NAMES.items()]
        with contextlib.suppress(LandscapeError, OSError):
            colours += [
                (name.replace("_", " ").capitalize(), name) for name in columns_to_colour(atlas)
            ]
        self.colour.options = colours
        ordered = labels.iloc[labels["label"].astype(str).str.casefold().argsort(kind="stable")]
        self.regions.options = [
            ("Go to …", -1),
            *(
                (f"{row.label} ({row.n_papers:,})", int(row.topic_id))
                for row in ordered.itertuples()
            ),
        ]
        self.regions.value = -1
        period = data.period
        self.times.layout.display = "" if period and period[0] < period[1] else "none"
        if period:
            for control in (self.time, self.play):
                # The lower bound must never be above the upper bound.
                control.max, control.min = max(period[1], control.min), period[0]
                control.max = period[1]
            self.time.value = state.time or period
        self.found_note.value, self.summary.value = NOTHING_FOUND, NOTHING_SELECTED
        self.record.value, self.save_note.value = _NO_PAPER, _HOW_TO_SAVE
        self.caption.value = _caption(atlas, data)
        missing = self._offer_layers(atlas)
        if not len(labels):
            missing.append("This atlas has no named regions, so the map has no names.")
        if period is None:
            missing.append("No paper has a date, so there is no time window.")
        return " ".join(missing)

    def _offer_layers(self, atlas: Atlas) -> list[str]:
        from landscape.corpus import load_facilities

        controls = {
            "uat": ("thesaurus", self.concept),
            "missions": ("missions", self.facility),
            "reviews": ("reviews", self.layers["reviews"]),
        }
        for stage, (_, control) in controls.items():
            control.disabled = stage not in atlas.stages
        if "missions" in atlas.stages:
            self.facility.options = sorted(load_facilities())
        if "uat" in atlas.stages:
            with contextlib.suppress(LandscapeError):
                concepts = atlas.thesaurus.concepts.values()
                self.concept.options = sorted(concept.label for concept in concepts)
        missing = [name for stage, (name, _) in controls.items() if stage not in atlas.stages]
        if not missing:
            return []
        return [
            f"This atlas has no layer of {', '.join(missing)}. Run the same landscape build "
            "again to add it."
        ]

    # -- values

    def follow(self, state: MapState, data: MapData) -> None:
        """Set the values of the controls to the state."""
        self.colour.value = state.colouring.name
        self.concept.value = state.name_of("concept") or ""
        self.facility.value = state.name_of("facility") or ""
        self.dark.value = state.theme == "dark"
        for name, box in self.layers.items():
            box.value = name in state.layers
        if data.period is not None and self.time.value != (state.time or data.period):
            self.time.value = state.time or data.period
        if state.found is not None:
            self.query.value, self.method.value = state.found.query, state.found.method
            if state.found.k in self.n_found.options:
                self.n_found.value = state.found.k

    def list_found(self, found: Found | None, show: Callable[[int], None]) -> None:
        """List the papers found as buttons; a click calls `show` with the row of the paper."""
        old, buttons = self.found_list.children, []
        papers = zip(found.papers, found.apart, strict=False) if found else ()
        for rank, (paper, apart) in enumerate(papers, 1):
            line = short_line(paper, rank=rank, apart=bool(apart))
            buttons.append(
                make_control("shared.paper_line", partial(show, paper.row), description=line)
            )
        self.found_list.children = buttons
        close_all(*old)
        self.found_buttons.layout.display = "" if found else "none"
        if found:
            self.tabs.selected_index = 0
        else:
            self.found_note.value = NOTHING_FOUND

    def show_region(self, number: int, atlas: Atlas) -> None:
        """Show the description of a region."""
        text = describe_regions(atlas, number)._repr_html_()
        self.record.value = f"<div style='white-space: pre-line'>{text}</div>"

    def show_paper(self, row: int, atlas: Atlas, data: MapData) -> None:
        """Show the record of a paper."""
        (paper,) = atlas.engine.papers([row])
        names = data.labels.table
        topic = int(atlas.map["topic_id"].iloc[row]) if "topic_id" in atlas.map else -1
        found = names[names["topic_id"] == topic]["label"]
        region = str(found.iloc[0]) if len(found) else "outside every region"
        generated = bool(atlas.coverage.get("generated"))
        self.record.value = record_html(paper, region=region, generated=generated)


def found_note(state: MapState, data: MapData) -> str:
    """Write the note above the list of papers found."""
    found = state.found
    if found is None:
        return NOTHING_FOUND
    notes = [f"“{found.query}”: {found.note}"]
    if len(found.papers) < len(found.rows):
        notes.append(f"The first {len(found.papers):,} are listed.")
    n_outside = int((~state.view.holds(data.x[found.rows], data.y[found.rows])).sum())
    if n_outside:
        notes.append(f"{n_outside:,} of the papers found are outside this view.")
    return _quiet(html.escape(" ".join(notes)))


def _caption(atlas: Atlas, data: MapData) -> str:
    facts = facts_of(atlas)
    sentences = [headline(facts), *explanation(facts)]
    if data.undated:
        n = f"{data.undated:,}"
        sentences.append(f"Papers without a date ({n}) are shown only with all years.")
    notice = f"<b>{GENERATED}</b> " if facts.generated else ""
    return _quiet(f"{notice}{html.escape(' '.join(sentences))}")
