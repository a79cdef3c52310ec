"""The panel of outreach maps: theme, sheet, names, sea level, repainting."""

from __future__ import annotations

import html
import os
import tempfile
import threading
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape._io import expand_home, write_output
from landscape._progress import Stopped
from landscape._serializer import to_csv
from landscape.errors import InputError, install_line
from landscape.outreach._page import SIZES, choose_sheet
from landscape.outreach._themes import THEMES, find_theme
from landscape.search._settings import readable_text
from landscape.widgets._code_lines import call
from landscape.widgets._figure_view import analysis_css, download_link
from landscape.widgets._panel import (
    OpenedPanel,
    checked_atlas,
    checked_flag,
    checked_number,
    checked_whole,
    show_only,
)
from landscape.widgets._tables import Column, table_html

if TYPE_CHECKING:
    from landscape.atlas import Atlas
    from landscape.outreach import Fidelity, Rendering

DEFAULTS: dict[str, Any] = {
    "theme": "atlas", "size": "web", "title": None, "credits": "", "names": None,
    "language": "en", "everyday": False, "sea_share": 0.97, "recent_years": 5, "weights": None,
    "seed": 0, "strength": None,
}  # fmt: skip
"""Default settings."""
EXAMPLE = "stabilityai/stable-diffusion-xl-base-1.0"
_OWN = "own"
_SIZES = {
    "web": "Web picture", "slide": "Slide (16:9)", "poster": "Poster (A1)", "a4": "A4", "a3": "A3",
    "a2": "A2", "a1": "A1", "a0": "A0",
}  # fmt: skip
_LANGUAGES = {
    "en": "English", "de": "Deutsch", "fr": "Français", "es": "Español", "ar": "العربية",
    "hi": "हिन्दी", "zh": "中文",
}  # fmt: skip
_STRENGTHS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8)
_FREE = {"description_width": "initial"}


class OutreachControls(widgets.VBox):
    """The controls of an outreach map."""

    def __init__(
        self, chosen: Mapping[str, Any], *, title: str, on_change: Callable[[], None]
    ) -> None:
        given = {**DEFAULTS, **chosen}
        _check(given)
        self._on_change = on_change
        self._theme = _list(
            "Theme", "How the map looks",
            {name: f"{name}: {look.words}" for name, look in THEMES.items()}, given["theme"], 340,
        )  # fmt: skip
        size = str(given["size"]).strip().lower()
        self._size = _list(
            "Size", "The sheet", {**{one: _SIZES.get(one, one) for one in SIZES}, _OWN: "Own size"},
            size if size in SIZES else _OWN, 190,
        )  # fmt: skip
        self._own = _text(
            "Own size", "1200x628px, 600x400mm", "" if size in SIZES else size, 220,
            "such as 1200x628px, 600x400mm, 24x36in or a4-portrait",
        )  # fmt: skip
        self._title = _text("Title", title, given["title"] or "", 340, "heading of the map")
        self._credits = _text("Credits", "a line of thanks", given["credits"], 340)
        self._names = _text(
            "Everyday names", "a CSV file; none: technical names", str(given["names"] or ""), 340,
            "path of a CSV file with the columns region and name; an edited gazetteer will do",
        )  # fmt: skip
        self._language = _list(
            "Language", "Of the words around the map, and of everyday names",
            {**_LANGUAGES, given["language"]: _LANGUAGES.get(given["language"], given["language"])},
            given["language"], 165,
        )  # fmt: skip
        self._everyday = widgets.Checkbox(
            value=bool(given["everyday"]), description="Let the language model name the rest",
            tooltip="Everyday names by the language model that the environment names; they are "
            "asked for in the chosen language", indent=False, layout=_width(270),
        )  # fmt: skip
        self._sea = widgets.FloatSlider(
            value=given["sea_share"], min=min(0.8, given["sea_share"]),
            max=max(0.995, given["sea_share"]), step=0.005, description="Papers on land",
            readout_format=".1%", continuous_update=False,
            tooltip="Share of the papers on land: with less, more of the thin places is water",
            style=_FREE, layout=_width(340),
        )  # fmt: skip
        self._recent = widgets.BoundedIntText(
            value=given["recent_years"], min=1, max=200, description="New: the last … years",
            tooltip="How many of the last years count as new: coasts are coloured by them",
            style=_FREE, layout=_width(220),
        )  # fmt: skip
        self._weights = _text(
            "Stable Diffusion weights", "none: from the data alone", str(given["weights"] or ""),
            345, "a folder on this computer, or a name on the Hugging Face Hub",
        )  # fmt: skip
        self._seed = widgets.BoundedIntText(
            value=given["seed"], min=0, max=2**31 - 1, description="Seed", style=_FREE,
            tooltip="Another seed paints another picture of the same land", layout=_width(115),
        )  # fmt: skip
        strengths = sorted({*_STRENGTHS, *([given["strength"]] if given["strength"] else [])})
        self._strength = widgets.SelectionSlider(
            options=[("the theme's", 0.0), *((f"{one:g}", one) for one in strengths)],
            value=given["strength"] or 0.0, description="Strength",
            continuous_update=False, style=_FREE,
            tooltip="How much is painted anew: 0.2 is a finish, 0.6 another picture",
            layout=_width(310),
        )  # fmt: skip
        self._hint = widgets.HTML()
        super().__init__([
            _row(self._theme, self._size, self._own),
            _row(self._title, self._credits),
            _row(self._names, self._language, self._everyday),
            _row(self._sea, self._recent),
            _row(self._weights, self._seed, self._strength),
            self._hint,
        ])  # fmt: skip
        self.add_class("landscape-controls")
        self._suit()
        for one in self._all:
            one.observe(lambda _: self._changed(), "value")

    def __repr__(self) -> str:
        return f"<OutreachControls: {self.value}>"

    @property
    def value(self) -> dict[str, Any]:
        """What is chosen: all of `DEFAULTS`."""
        own = self._size.value == _OWN
        return {
            "theme": self._theme.value,
            "size": self._own.value.strip().lower() if own else self._size.value,
            "title": self._title.value.strip() or None,
            "credits": self._credits.value.strip(),
            "names": self._names.value.strip() or None,
            "language": self._language.value,
            "everyday": self._everyday.value,
            "sea_share": round(self._sea.value, 4),
            "recent_years": self._recent.value,
            "weights": self._weights.value.strip() or None,
            "seed": self._seed.value,
            "strength": self._strength.value or None,
        }

    @property
    def _all(self) -> tuple[widgets.Widget, ...]:
        return (
            self._theme, self._size, self._own, self._title, self._credits, self._names,
            self._language, self._everyday, self._sea, self._recent, self._weights, self._seed,
            self._strength,
        )  # fmt: skip

    def _changed(self) -> None:
        self._suit()
        self._on_change()

    def _suit(self) -> None:
        weights = self._weights.value.strip()
        show_only({self._own: self._size.value == _OWN})
        self._seed.disabled = self._strength.disabled = not weights
        self._hint.value = f"<div class='landscape-quiet'>{weights_hint(weights)}</div>"


def weights_hint(weights: str) -> str:
    """Write the hint below the field for weights, as HTML."""
    install = (
        f" First install what runs them: <code>{html.escape(install_line('outreach'))}</code>."
        if find_spec("diffusers") is None
        else ""
    )
    if not weights:
        return (
            "No weights are given: the map is drawn from the data alone, and lacks nothing. For "
            f"one that Stable Diffusion repaints, write <code>{EXAMPLE}</code>, which is fetched "
            "once (some gigabytes), or the folder of any Stable Diffusion 1.5 or XL model in the "
            f"layout of diffusers. It wants a graphics card, or patience.{install}"
        )
    return (
        f"Repainted by <code>{html.escape(weights)}</code>, then compared with the data: what is "
        f"not true to them is not shown. Minutes with a graphics card, long without.{install}"
    )


def _check(given: Mapping[str, Any]) -> None:
    unknown = [name for name in given if name not in DEFAULTS]
    if unknown:
        raise InputError(
            f"There is no setting {unknown[0]!r} of this panel; there are {', '.join(DEFAULTS)}."
        )
    find_theme(given["theme"])
    choose_sheet(given["size"], aspect=1.0)
    if isinstance(given["names"], Mapping):
        raise InputError(
            "The panel takes everyday names from a CSV file; give its path, or use "
            "ls.outreach.render(atlas, names={...}) for names in code."
        )
    for name in ("credits", "language"):
        readable_text(name, given[name])
    for name in ("title", "names", "weights"):
        if given[name] is not None:
            readable_text(name, _plain(given[name]))
    checked_flag("everyday", given["everyday"])
    checked_number("sea_share", given["sea_share"], 0.5, 0.999)
    checked_whole("recent_years", given["recent_years"], 1, 200)
    checked_whole("seed", given["seed"], 0, 2**31 - 1)
    if given["strength"] is not None:
        checked_number("strength", given["strength"], 0.001, 1)


def _plain(value: Any) -> Any:
    """The text of a path; anything else as it is."""
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _row(*controls: widgets.Widget) -> widgets.HBox:
    return widgets.HBox(
        controls,
        layout=widgets.Layout(flex_flow="row wrap", align_items="center", grid_gap="4px 12px"),
    )


def _width(pixels: int) -> widgets.Layout:
    return widgets.Layout(width=f"{pixels}px", max_width="100%")


def _list(
    description: str, tooltip: str, options: Mapping[str, str], value: str, width: int
) -> widgets.Dropdown:
    return widgets.Dropdown(
        options=[(words, key) for key, words in options.items()], value=value,
        description=description, tooltip=tooltip, style=_FREE, layout=_width(width),
    )  # fmt: skip


def _text(
    description: str, placeholder: str, value: str, width: int, about: str = ""
) -> widgets.Text:
    return widgets.Text(
        value=value, description=description, placeholder=placeholder, continuous_update=False,
        tooltip=f"{description}: {about or placeholder}", style=_FREE, layout=_width(width),
    )  # fmt: skip


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
    """The map as a picture no wider than a screen, its words for who cannot see it below."""
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
    warnings = f"<div class='landscape-warning landscape-quiet'>{notes}</div>" if notes else ""
    return f"<div class='landscape-caption'>{html.escape(used)}.</div>{warnings}"


def scores_html(rendering: Rendering) -> str:
    """Fidelity scores of a repainted map; empty if the map is not repainted."""
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
    """The line that draws the same map."""
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


_FILES = {
    "PNG": (".png", "The map as a picture, for the web and slides"),
    "PDF": (".pdf", "The map for print, with its words as text"),
    "SVG": (".svg", "The map to edit in a drawing program"),
    "HTML": (".html", "A page to zoom and search, which works offline"),
    "CSV": (".csv", "The places of the map; change names in it and give it as everyday names"),
}
_NAME = "outreach-map"
# Work that reports no amounts is shown as a step.
_STEPS = ("Shaping the terrain", "Finding the places", "Lettering")


@dataclass(frozen=True)
class Shown:
    """A map, what was chosen for it, and what of it stands on the page."""

    rendering: Rendering
    chosen: Mapping[str, Any]
    picture: str
    scores: str
    places: str


class OutreachPanel(OpenedPanel):
    """Draw the outreach map of an atlas, look at it, and take it away.

    Unlike the other panels this one draws on request: a large sheet takes minutes.

    Parameters
    ----------
    atlas : Atlas
    **chosen
        As of `landscape.outreach.render`: ``theme, size, title, credits, names`` (path of a CSV
        file), ``language, sea_share, recent_years, weights, seed, strength``; and ``everyday``:
        whether the language model of the environment finds names where `names` has none.

    Attributes
    ----------
    rendering : landscape.outreach.Rendering or None
        The map that is shown.
    selection : dict
        What is chosen, as keywords of the panel.

    Raises
    ------
    InputError
        For a setting that cannot be.

    Examples
    --------
    >>> from landscape.widgets import OutreachPanel
    >>> OutreachPanel(atlas, theme="night", size="slide")  # doctest: +SKIP
    """

    def __init__(self, atlas: Atlas, **chosen: Any) -> None:
        checked_atlas(atlas)
        self._shown: Shown | None = None
        self._asked, self._turn = 0, threading.Lock()
        self._controls = OutreachControls(chosen, title=atlas.title, on_change=self._change)
        self._draw = widgets.Button(
            description="Draw the map", icon="paint-brush", button_style="primary",
            tooltip="Draw the map with these settings", layout=widgets.Layout(width="160px"),
        )  # fmt: skip
        self._draw.on_click(lambda _: self.draw())
        self._changed = widgets.HTML()
        self._picture, self._used = widgets.HTML(), widgets.HTML()
        self._scores, self._places = widgets.HTML(), widgets.HTML()
        self._links = widgets.HTML()
        said = widgets.HTML("<span class='landscape-quiet'>Download as&nbsp;</span>")
        self._buttons = widgets.HBox(
            [said, *(self._button(words) for words in _FILES)],
            layout=widgets.Layout(flex_flow="row wrap", display="none"),
        )
        self._buttons.add_class("landscape-files")
        super().__init__("Outreach map:", atlas, [])
        style, head, working, status, code = tuple(self.children)
        own = widgets.HTML(
            f"<style>{analysis_css()}</style>", layout=widgets.Layout(display="none")
        )
        asking = widgets.HBox(
            [self._draw, self._changed], layout=widgets.Layout(align_items="center")
        )
        self.children: tuple[widgets.Widget, ...] = (
            style, own, head, self._controls, asking, working, status, self._reopen, self._picture,
            self._used, self._scores, self._buttons, self._links, self._places, code,
        )  # fmt: skip
        self.add_class("landscape-analysis")
        self.draw()

    @property
    def rendering(self) -> Rendering | None:
        """The map that is shown; None before the first."""
        return self._shown.rendering if self._shown else None

    @property
    def selection(self) -> dict[str, Any]:
        """The settings, as keywords that open the same panel again."""
        return self._controls.value

    def __repr__(self) -> str:
        theme, size = self.selection["theme"], self.selection["size"]
        return f"<OutreachPanel: {self.atlas.title}, {theme}, {size}>"

    def draw(self) -> None:
        """Draw what is chosen, in the background, and show it."""
        self._asked += 1
        turn, atlas, chosen = self._asked, self._atlas, self.selection
        if self._shown is None:
            self.code = code_of(chosen)
        self._changed.value = ""
        self.run(
            "Drawing the map", lambda: self._work(turn, atlas, chosen), self._show, kind="draw"
        )

    def stop(self) -> None:
        """Stop drawing; the map that was there stays."""
        self._asked += 1
        super().stop()
        self._change()

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the map that is shown.

        Parameters
        ----------
        path : path
            ``.png``, ``.pdf``, ``.svg`` or ``.html`` for the map, with gazetteer, alternative text
            and settings beside it; ``.csv`` for the gazetteer alone.

        Returns
        -------
        pathlib.Path

        Raises
        ------
        InputError
            For another ending, a folder that cannot be written, or where nothing is shown yet.
        """
        self.wait()
        if self._shown is None:
            raise InputError("No map is drawn yet, so there is nothing to save.")
        return _write(self._shown.rendering, expand_home(path))

    # -- drawing

    def _work(self, turn: int, atlas: Atlas, chosen: Mapping[str, Any]) -> Shown:
        with self._turn:  # one at a time: what was stopped meanwhile is not drawn
            if turn != self._asked:
                raise Stopped
            atlas.check_unchanged()
            try:
                rendering = self._render(turn, atlas, chosen)
            finally:
                atlas.check_unchanged()  # else it may be of both, or have failed for that
            return Shown(
                rendering, chosen, picture_html(rendering), scores_html(rendering),
                places_html(rendering),
            )  # fmt: skip

    def _render(self, turn: int, atlas: Atlas, chosen: Mapping[str, Any]) -> Rendering:
        from landscape.outreach import render
        from landscape.outreach._weights import check_weights

        options = {name: value for name, value in chosen.items() if name != "everyday"}
        if options["weights"] is None:
            del options["strength"], options["seed"]
        else:
            check_weights(options["weights"])  # before the language model is asked for names
        if chosen["everyday"]:
            from landscape.llm._client import connect

            options["model"] = connect()

        def tell(note: str) -> None:
            if turn == self._asked:
                self.say(note)

        return render(atlas, **options, note=tell)

    def _show(self, shown: Shown) -> None:
        self._shown = shown
        self._picture.value, self._used.value = shown.picture, used_html(shown.rendering)
        self._scores.value, self._places.value = shown.scores, shown.places
        self._links.value = ""
        self._buttons.layout.display = ""
        self.say("")  # what came up on the way stands below the picture
        self.code = code_of(shown.chosen)
        self._change()

    def _change(self) -> None:
        """Say so where the picture is not that of the settings."""
        differs = self._shown is not None and self._shown.chosen != self.selection
        said = "Settings have changed since this map was drawn." if differs else ""
        self._changed.value = f"<span class='landscape-quiet'>{said}</span>"

    def _tell(self, error: Exception) -> None:
        super()._tell(error)
        self._change()

    def _show_progress(self, task: str, done: float, total: float | None, unit: str) -> None:
        if task not in _STEPS:
            super()._show_progress(task, done, total, unit)
            return
        self._bar.value = (1 + _STEPS.index(task)) / (2 + len(_STEPS))
        self._bar_says.value = f"<span class='landscape-quiet'>{task} …</span>"

    # -- files

    def _button(self, words: str) -> widgets.Button:
        button = widgets.Button(
            description=words, icon="download", tooltip=_FILES[words][1],
            layout=widgets.Layout(width="auto"),
        )  # fmt: skip
        button.on_click(lambda _: self._prepare_file(f"{_NAME}{_FILES[words][0]}"))
        return button

    def _prepare_file(self, name: str) -> None:
        shown = self._shown
        if shown is None:
            return

        def work() -> str:
            with tempfile.TemporaryDirectory() as folder:
                path = _write(shown.rendering, Path(folder) / name)
                return download_link(name, path.read_bytes())

        def put(link: str) -> None:
            if self._shown is shown:
                self._links.value = f"<p>{link}<span class='landscape-quiet'> is ready.</span></p>"

        self.run(f"Writing {name}", work, put, kind=name)


def _write(rendering: Rendering, path: Path) -> Path:
    if path.suffix.lower() != ".csv":
        return rendering.save(path)

    return write_output(path, to_csv(rendering.gazetteer, float_format="%.6g"))
