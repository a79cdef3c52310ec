"""The controls of the map explorer, and where they stand; they know nothing of papers."""

from __future__ import annotations

import contextlib
import html
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape._wording import count
from landscape.errors import LandscapeError
from landscape.widgets._colours import NAMES, columns_to_colour
from landscape.widgets._selection import record_html, short_line

if TYPE_CHECKING:
    from landscape.atlas import Atlas
    from landscape.widgets._scene import Found, MapData, Scene

METHODS = (
    ("Meaning and words", "hybrid"), ("Meaning", "semantic"), ("Words", "words"),
    ("Boolean filter", "filter"),
)  # fmt: skip
MODES = (("Move", "pan"), ("Zoom to box", "zoom"), ("Lasso", "lasso"), ("Select box", "select"))
FORMATS = (("PNG picture", ".png"), ("PDF for print", ".pdf"), ("Web page, offline", ".html"))
_TIMES = 520  # milliseconds between the years of the play button


def _width(pixels: int | str) -> widgets.Layout:
    return widgets.Layout(width=pixels if isinstance(pixels, str) else f"{pixels}px")


def _button(text: str, tooltip: str, *, icon: str = "", style: str = "") -> widgets.Button:
    return widgets.Button(
        description=text, tooltip=tooltip, icon=icon, button_style=style, layout=_width("auto")
    )


def _bar(*children: widgets.Widget) -> widgets.HBox:
    bar = widgets.HBox(list(children))
    bar.add_class("landscape-bar")
    return bar


class Controls:
    """Every control of the explorer by its name, and `body`, where they stand."""

    def __init__(self, figure: widgets.Widget, size: tuple[int, int]) -> None:
        self._make_search()
        self._make_looks()
        self._make_moves()
        self._make_time()
        self._make_side()
        self.legend, self.view_line, self.caption = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self.reload = _button("Reload the atlas", "Open the atlas anew, as it is now",
                              icon="refresh", style="warning")  # fmt: skip
        self.reload.layout.display = "none"
        framed = widgets.Box([figure], layout=widgets.Layout(
            width=f"{size[0] + 2}px", height=f"{size[1] + 2}px"))  # fmt: skip
        framed.add_class("landscape-map")
        left = widgets.VBox(
            [framed, self.view_line, self.legend, self.moves, self.times],
            layout=widgets.Layout(width=f"{size[0] + 6}px", overflow="visible"),
        )
        side = widgets.VBox([self.tabs, self.record_box])
        side.add_class("landscape-side")
        main = widgets.HBox([left, side])
        main.add_class("landscape-main")
        style = widgets.HTML(f"<style>{_css()}</style>", layout=widgets.Layout(display="none"))
        self.body = [style, self.searches, self.looks, main, self.caption, self.reload]

    def _make_search(self) -> None:
        self.query = widgets.Text(
            description="Search", placeholder="a question, key words, or a filter",
            continuous_update=False, layout=_width("auto"),
            tooltip="Search the papers; Enter starts",
        )  # fmt: skip
        self.query.layout.flex = "1 1 320px"
        self.query.style.description_width = "48px"
        self.method = widgets.Dropdown(
            options=METHODS, value="hybrid", description="by", layout=_width(200),
            tooltip="How to search",
        )  # fmt: skip
        self.method.style.description_width = "20px"
        self.n_found = widgets.Dropdown(
            options=[10, 30, 100, 300], value=30, description="Papers", layout=_width(120),
            tooltip="How many papers to find",
        )  # fmt: skip
        self.n_found.style.description_width = "48px"
        self.search = _button("Search", "Light up the papers that fit", icon="search",
                              style="primary")  # fmt: skip
        self.clear_search = _button("Clear", "Take the search off the map")
        self.searches = _bar(self.query, self.method, self.n_found, self.search, self.clear_search)

    def _make_looks(self) -> None:
        self.colour = widgets.Dropdown(
            options=[("Density of papers", "density")], description="Colour by",
            layout=_width(220), tooltip="What the colours of the map stand for",
        )  # fmt: skip
        self.colour.style.description_width = "72px"
        self.concept = widgets.Combobox(
            description="Concept", placeholder="of the thesaurus", ensure_option=False,
            continuous_update=False, layout=_width(230),
            tooltip="Outline where papers on a concept of the thesaurus lie",
        )  # fmt: skip
        self.concept.style.description_width = "56px"
        self.facility = widgets.Combobox(
            description="Facility", placeholder="such as ALMA", ensure_option=False,
            continuous_update=False, layout=_width(200),
            tooltip="Outline where papers that name a mission or telescope lie",
        )  # fmt: skip
        self.facility.style.description_width = "52px"
        self.layers = {
            name: widgets.Checkbox(value=name != "reviews", description=text, indent=False,
                                   tooltip=tip, layout=_width("auto"))
            for name, text, tip in (
                ("names", "Names", "Write the names of regions"),
                ("papers", "Single papers", "Mark papers once few are in view"),
                ("reviews", "Reviews", "Mark reviews"),
            )
        }  # fmt: skip
        self.dark = widgets.Checkbox(value=False, description="Dark", indent=False,
                                     tooltip="Dark map", layout=_width("auto"))  # fmt: skip
        self.looks = _bar(
            self.colour, self.concept, self.facility, *self.layers.values(), self.dark
        )

    def _make_moves(self) -> None:
        self.mode = widgets.ToggleButtons(
            options=MODES, value="pan", tooltips=[
                "Drag moves the map; the wheel zooms", "Drag a box to look at",
                "Draw round papers to select them", "Drag a box to select papers",
            ],
        )  # fmt: skip
        self.mode.style.button_width = "auto"
        self.zoom_in = _button("+", "Zoom in")
        self.zoom_out = _button("−", "Zoom out")
        self.home = _button("Whole map", "Show the whole map")
        self.back = _button("Back", "Back to the view before")
        self.regions = widgets.Dropdown(
            options=[("Go to …", -1)], value=-1, layout=_width(150),
            tooltip="Go to a region of the map",
        )  # fmt: skip
        self.moves = _bar(
            self.mode, self.zoom_in, self.zoom_out, self.home, self.back, self.regions
        )

    def _make_time(self) -> None:
        self.time = widgets.IntRangeSlider(
            description="Years", min=0, max=1, value=(0, 1), continuous_update=False,
            layout=_width(430), tooltip="Show papers of these years",
        )  # fmt: skip
        self.time.style.description_width = "40px"
        self.play = widgets.Play(
            min=0, max=1, interval=_TIMES, description="Play through the years",
            tooltip="Move the time window through the years",
        )  # fmt: skip
        self.all_times = _button("All years", "Show papers of all years")
        self.times = _bar(self.time, self.play, self.all_times)

    def _make_side(self) -> None:
        self.found_note, self.found_list = widgets.HTML(), widgets.VBox()
        self.found_list.add_class("landscape-scrolled")
        self.found_list.layout.max_height = "248px"
        self.zoom_found = _button("Zoom to them", "Show the part of the map that holds them")
        self.select_found = _button("Select them", "Select the papers found")
        self.found_buttons = _bar(self.zoom_found, self.select_found)
        self.found_buttons.layout.display = "none"

        self.summary = widgets.HTML()
        self.filter = widgets.Text(
            placeholder="filter, such as 2015..; author:Rubin", continuous_update=False,
            description="Select", layout=_width("auto"),
            tooltip="Select papers by a filter; Enter starts",
        )  # fmt: skip
        self.filter.style.description_width = "42px"
        self.question = widgets.Text(
            placeholder="a question to these papers", continuous_update=False, description="Ask",
            layout=_width("auto"), tooltip="Ask only the selected papers; Enter starts",
        )  # fmt: skip
        self.question.style.description_width = "42px"
        self.compare = _button("Compare with the rest", "Which regions hold more of them than "
                               "of all other papers")  # fmt: skip
        self.export = _button("CSV, BibTeX", "Make files of the selected papers", icon="download")
        self.clear_selection = _button("Clear", "Select nothing")
        self.links, self.outcome = widgets.HTML(), widgets.HTML()
        self.outcome.add_class("landscape-record")
        self.chosen_buttons = _bar(self.compare, self.export, self.clear_selection)

        self.format = widgets.Dropdown(options=FORMATS, description="As", layout=_width(190),
                                       tooltip="Kind of file")  # fmt: skip
        self.format.style.description_width = "22px"
        self.make = _button("Make the file", "Draw what the map shows", icon="download")
        self.file = widgets.HTML()
        self.save_note = widgets.HTML()

        pages = [
            widgets.VBox([self.found_note, self.found_list, self.found_buttons]),
            widgets.VBox([self.summary, self.filter, self.chosen_buttons, self.links,
                          self.question, self.outcome]),
            widgets.VBox([_bar(self.format, self.make), self.file, self.save_note]),
        ]  # fmt: skip
        for page in pages:
            page.layout.height = "318px"
            page.add_class("landscape-scrolled")
        self.tabs = widgets.Tab(pages, titles=("Found", "Selected", "Save"))
        self.record = widgets.HTML()
        self.record.add_class("landscape-record")
        self.record_box = widgets.VBox([self.record], layout=widgets.Layout(max_height="330px"))
        self.record_box.add_class("landscape-scrolled")

    def set_times(self, first: int, last: int, chosen: tuple[int, int]) -> None:
        """Give the slider its years."""
        self.time.max, self.time.min = max(last, self.time.min), first
        self.time.max = last
        self.time.value = chosen
        self.play.max, self.play.min = max(last, self.play.min), first
        self.play.max = last

    def lines(self, texts: list[str], chosen: Any) -> None:
        """List papers as buttons; `chosen` is told the number of the one that is clicked."""
        old = self.found_list.children
        buttons = []
        for number, text in enumerate(texts):
            button = widgets.Button(description=text, tooltip="Show this paper",
                                    layout=widgets.Layout(width="100%", height="auto"))  # fmt: skip
            button.add_class("landscape-paper-line")
            button.on_click(lambda _, number=number: chosen(number))
            buttons.append(button)
        self.found_list.children = buttons
        for button in old:
            button.layout.close()
            button.style.close()
            button.close()


@cache
def _css() -> str:
    return files("landscape.widgets").joinpath("explorer.css").read_text(encoding="utf-8")


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


def offer(controls: Controls, atlas: Atlas, data: MapData, scene: Scene) -> str:
    """Put into the controls what an atlas has."""
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
    """List what a search found."""
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


def tell_paper(controls: Controls, row: int, atlas: Atlas, data: MapData) -> None:
    """Tell a paper in full."""
    (paper,) = atlas.engine.papers([row])
    names = data.labels.table
    topic = int(atlas.map["topic_id"].iloc[row]) if "topic_id" in atlas.map else -1
    found = names[names["topic_id"] == topic]["label"]
    region = str(found.iloc[0]) if len(found) else "outside every region"
    generated = bool(atlas.coverage.get("generated"))
    controls.record.value = record_html(paper, region=region, generated=generated)


def _offer_names(controls: Controls, atlas: Atlas, data: MapData) -> str:
    """Concepts and facilities to choose from, as far as the atlas has them."""
    from landscape.corpus._facilities import load_facilities

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


def _caption(atlas: Atlas, data: MapData) -> str:
    from landscape.figures._caption import GENERATED, explanation, facts_of, headline

    facts = facts_of(atlas)
    sentences = [headline(facts), *explanation(facts)]
    if data.undated:
        sentences.append(f"{count(data.undated, 'paper')} without a date show only with all years.")
    made_up = f"<b>{GENERATED}</b> " if facts.generated else ""
    return f"<div class='landscape-quiet'>{made_up}{html.escape(' '.join(sentences))}</div>"
