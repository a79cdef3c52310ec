"""The panel of outreach maps: theme, sheet, names, sea level, repainting."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape._io import expand_home, write_output
from landscape._render import render
from landscape._serializer import to_csv
from landscape._settings import field
from landscape.errors import InputError, install_line
from landscape.outreach import RenderSettings
from landscape.outreach.sheets import SIZES, choose_sheet
from landscape.outreach.themes import THEMES, find_theme
from landscape.search.settings import readable_text
from landscape.widgets._analysis_panel import ResultPanel
from landscape.widgets._code_lines import call
from landscape.widgets._controls import (
    checked_atlas,
    folded,
    make_control,
    panel_texts,
    quiet_html,
    show_only,
)
from landscape.widgets._figure_view import image_html
from landscape.widgets._tables import table_html

if TYPE_CHECKING:
    from landscape.atlas import Atlas
    from landscape.outreach import Rendering

_DECLARED = ("sea_share", "recent_years", "seed", "strength")
DEFAULTS: dict[str, Any] = {
    "theme": "atlas",
    "size": "web",
    "title": None,
    "credits": "",
    "names": None,
    "language": "en",
    "everyday": False,
    "weights": None,
    **{name: field(RenderSettings, name).default for name in _DECLARED},
}
"""Default settings."""
EXAMPLE = "stabilityai/stable-diffusion-xl-base-1.0"
_OWN = "own"


_SHOWN_ROWS = 2  # rows of settings above those that are folded


class OutreachControls(widgets.VBox):
    """Controls for the settings of an outreach map."""

    def __init__(
        self, chosen: Mapping[str, object], *, title: str, on_change: Callable[[], None]
    ) -> None:
        given = {**DEFAULTS, **chosen}
        _check(given)
        self._on_change = on_change
        self.fields = _fields(given, title)
        self._hint = widgets.HTML()
        rows = [
            widgets.HBox(
                [self.fields[name] for name in names],
                layout={"flex_flow": "row wrap", "align_items": "center", "grid_gap": "4px 12px"},
            )
            for names in panel_texts()["outreach_rows"]
        ]
        shown, more = rows[:_SHOWN_ROWS], rows[_SHOWN_ROWS:]
        super().__init__([*shown, folded("More settings", *more, self._hint)])
        self.add_class("landscape-controls")
        self._suit()
        for control in self.fields.values():
            control.observe(lambda _: self._changed(), "value")

    def __repr__(self) -> str:
        return f"<OutreachControls: {self.value}>"

    @property
    def value(self) -> dict[str, Any]:
        """Values of all settings, with the keys of `DEFAULTS`."""
        values: dict[str, Any] = {
            name: field.value.strip() if isinstance(field.value, str) else field.value
            for name, field in self.fields.items()
        }
        own = values.pop("own").lower()
        values["size"] = own if values["size"] == _OWN else values["size"]
        values["sea_share"] = round(values["sea_share"], 4)
        for name in ("title", "names", "weights", "strength"):
            values[name] = values[name] or None
        return {name: values[name] for name in DEFAULTS}

    def _changed(self) -> None:
        self._suit()
        self._on_change()

    def _suit(self) -> None:
        weights = self.fields["weights"].value.strip()
        show_only({self.fields["own"]: self.fields["size"].value == _OWN})
        self.fields["seed"].disabled = self.fields["strength"].disabled = not weights
        self._hint.value = render(
            "panel_results.html",
            part="weights",
            weights=weights,
            example=EXAMPLE,
            install="" if find_spec("diffusers") else install_line("outreach"),
        )


def _fields(given: Mapping[str, Any], title: str) -> dict[str, widgets.Widget]:
    """Create the controls, and set them to the given settings."""
    texts = panel_texts()
    size, language = str(given["size"]).strip().lower(), given["language"]
    sizes = {one: texts["sheet_sizes"].get(one, one) for one in SIZES}
    languages = {**texts["languages"], language: texts["languages"].get(language, language)}
    strengths = sorted({*texts["strengths"], *([given["strength"]] if given["strength"] else [])})
    values = {
        **{name: "" if value is None else value for name, value in given.items()},
        "size": size if size in SIZES else _OWN,
        "own": "" if size in SIZES else size,
        "names": str(given["names"] or ""),
        "weights": str(given["weights"] or ""),
        "strength": given["strength"] or 0.0,
    }
    more: dict[str, dict[str, Any]] = {
        "theme": {"options": [(f"{name}: {look.words}", name) for name, look in THEMES.items()]},
        "size": {"options": [(words, one) for one, words in {**sizes, _OWN: "Own size"}.items()]},
        "title": {"placeholder": title},
        "language": {"options": [(words, one) for one, words in languages.items()]},
        "sea_share": {"min": min(0.8, given["sea_share"]), "max": max(0.995, given["sea_share"])},
        "strength": {
            "options": [
                ("the theme's", 0.0),
                *((f"{strength:g}", strength) for strength in strengths),
            ]
        },
    }
    return {
        name: make_control(f"outreach.{name}", **more.get(name, {}), value=values[name])
        for name in texts["outreach"]
    }


def _check(given: Mapping[str, Any]) -> None:
    unknown = [name for name in given if name not in DEFAULTS]
    if unknown:
        raise InputError(
            f"Unknown setting {unknown[0]!r} of this panel; choose one of: {', '.join(DEFAULTS)}."
        )
    find_theme(given["theme"])
    choose_sheet(given["size"], aspect=1.0)
    if isinstance(given["names"], Mapping):
        raise InputError(
            "The panel reads everyday names from a CSV file. Pass the path of this file. For names "
            "in code, use ls.outreach.render(atlas, names={...})."
        )
    for name in ("credits", "language"):
        readable_text(name, given[name])
    for name in ("title", "names", "weights"):
        if given[name] is not None:
            value = given[name]
            readable_text(name, os.fspath(value) if isinstance(value, os.PathLike) else value)
    if not isinstance(given["everyday"], bool):
        raise InputError(f"everyday is {given['everyday']!r}; give True or False.")
    RenderSettings(**{name: given[name] for name in _DECLARED})


_KEYWORDS = 5


def picture_html(rendering: Rendering) -> str:
    """Return HTML with a preview of the map, and its alternative text below."""
    from landscape.outreach.files import preview

    image = image_html(preview(rendering), rendering.alt_text)
    return render("panel_results.html", part="picture", image=image, about=rendering.alt_text)


def used_html(rendering: Rendering) -> str:
    """Return HTML that describes the data, the methods and the warnings of a map."""
    used = rendering.used[:1].upper() + rendering.used[1:]
    return render("panel_results.html", part="used", used=used, notes=rendering.notes)


def scores_html(rendering: Rendering) -> str:
    """Return a table of the fidelity of a repainted map, or "" if the map is not repainted."""
    import pandas as pd

    scores = rendering.fidelity
    if scores is None:
        return ""
    least = scores.bars
    rows = [
        ("coasts", "Similarity of the coasts", scores.coasts, least.coasts),
        ("relief", "Similarity of the relief", scores.relief, least.relief),
    ]
    table = pd.DataFrame(rows, columns=["name", "measure", "value", "bar"])
    table["verdict"] = ["no" if name in scores.failed else "yes" for name in table["name"]]
    return render(
        "panel_results.html",
        part="scores",
        is_kept=rendering.settings.get("repainting", {}).get("kept", scores.passed),
        table=table_html(table, "fidelity", about="Fidelity to the data"),
    )


def places_html(rendering: Rendering) -> str:
    """Return the gazetteer as an HTML table; places shown on the map come first."""
    table = rendering.gazetteer
    differs = table["technical_name"] != table["name"]
    keywords = table["keywords"].map(lambda joined: "; ".join(joined.split("; ")[:_KEYWORDS]))
    table = table.assign(
        technical=table["technical_name"].where(differs),
        lettered=table["shown"].map({True: "yes", False: "no"}),
        about=table["note"].where(table["note"] != "", keywords),
    ).sort_values("shown", ascending=False, kind="stable")
    return table_html(table, "map_places", about="Places of the map")


def code_of(chosen: Mapping[str, object]) -> str:
    """Write the code that draws the same map."""
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


# These tasks do not report the amount of work done, so they are shown as steps.
_STEPS = ("Shaping the terrain", "Finding the places", "Lettering")


Made = tuple["Rendering", dict[str, Any], list[str]]
"""A map, its settings, and HTML of the picture, the data, the fidelity and the places."""


class OutreachPanel(ResultPanel):
    """Draw and save the outreach map of an atlas.

    Unlike the other panels, this panel draws only on request, because large maps take minutes.

    Parameters
    ----------
    atlas : Atlas
    **chosen
        Settings of `landscape.outreach.render`: ``theme, size, title, credits, names`` (path of a
        CSV file), ``language, sea_share, recent_years, weights, seed, strength``. In addition,
        ``everyday``: whether the language model set in the environment proposes names for places
        that are not in `names`.

    Raises
    ------
    InputError
        If a setting is unknown or invalid.

    Examples
    --------
    >>> from landscape.widgets import OutreachPanel
    >>> OutreachPanel(atlas, theme="night", size="slide")  # doctest: +SKIP
    """

    _result: Made | None = None

    def __init__(self, atlas: Atlas, **chosen: object) -> None:
        checked_atlas(atlas)
        self._controls = OutreachControls(chosen, title=atlas.title, on_change=self._change)
        self._draw = make_control("shared.draw_map", self.draw)
        self._changed, *self._parts = (widgets.HTML() for _ in range(5))
        _, self._used, self._scores, _ = self._parts
        drawing = widgets.HBox([self._draw, self._changed], layout={"align_items": "center"})
        super().__init__(
            "Outreach map:", atlas, controls=[self._controls, drawing], results=self._parts
        )
        self.draw()

    @property
    def rendering(self) -> Rendering | None:
        """The map that is shown, or None if no map is drawn yet."""
        return self._result[0] if self._result else None

    @property
    def selection(self) -> dict[str, Any]:
        """The settings as keyword arguments that create the same panel."""
        return self._controls.value

    def __repr__(self) -> str:
        theme, size = self.selection["theme"], self.selection["size"]
        return f"<OutreachPanel: {self.atlas.title}, {theme}, {size}>"

    def draw(self) -> None:
        """Draw the map with the current settings in the background, and show it."""
        chosen = self.selection
        if self._result is None:
            self.code = code_of(chosen)
        self._changed.value = ""
        # `_draw_newest` counts this request, because the worker may start after a later request.
        work = partial(self._work, chosen, self._request + 1)
        self._draw_newest("Drawing the map", work, self._show)

    def stop(self) -> None:
        """Stop drawing, and keep the current map."""
        self._request += 1
        super().stop()
        self._change()

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the map that is shown.

        Parameters
        ----------
        path : path
            File name. ``.png``, ``.pdf``, ``.svg`` and ``.html`` save the map, and additional
            files with gazetteer, alternative text and settings. ``.csv`` saves the gazetteer only.

        Returns
        -------
        pathlib.Path

        Raises
        ------
        InputError
            If the suffix is unknown, the folder cannot be written, or no map is drawn yet.
        """
        self.wait()
        if self.rendering is None:
            raise InputError("No map is drawn yet, so there is nothing to save. Draw a map first.")
        return _write(self.rendering, expand_home(path))

    # -- drawing

    def _work(self, chosen: dict[str, object], request: int, atlas: Atlas) -> Made:
        rendering = self._render(atlas, chosen, request)
        writers = (picture_html, used_html, scores_html, places_html)
        return rendering, chosen, [write(rendering) for write in writers]

    def _render(self, atlas: Atlas, chosen: Mapping[str, Any], request: int) -> Rendering:
        from landscape.outreach import render
        from landscape.outreach.weights import check_weights

        options = {name: value for name, value in chosen.items() if name != "everyday"}
        if options["weights"] is None:
            del options["strength"], options["seed"]
        else:
            check_weights(options["weights"])  # check before a request to the language model
        if chosen["everyday"]:
            from landscape.llm import connect

            options["model"] = connect()

        def note(text: str) -> None:
            if request == self._request:
                self.say(text)

        return render(atlas, **options, note=note)

    def _show(self, made: Made) -> None:
        self._result = rendering, chosen, pages = made
        for part, page in zip(self._parts, pages, strict=True):
            part.value = page
        self._links.value = ""
        self._offer_files(
            (words, tooltip, f"outreach-map{suffix}", partial(_write, rendering))
            for words, (suffix, tooltip) in panel_texts()["outreach_files"].items()
        )
        self.say("")  # the notes are now shown below the picture
        self.code = code_of(chosen)
        self._change()

    def _change(self) -> None:
        """Show a note if the settings differ from the settings of the map."""
        differs = self._result is not None and self._result[1] != self.selection
        text = "Settings have changed since this map was drawn." if differs else ""
        self._changed.value = quiet_html(text)

    def _show_error(self, error: Exception) -> None:
        super()._show_error(error)
        self._change()

    def _show_progress(self, task: str, done: float, total: float | None, unit: str) -> None:
        if task not in _STEPS:
            super()._show_progress(task, done, total, unit)
            return
        self._bar.value = (1 + _STEPS.index(task)) / (2 + len(_STEPS))
        self._bar_says.value = quiet_html(f"{task} …")


def _write(rendering: Rendering, path: Path) -> Path:
    if path.suffix.lower() != ".csv":
        return rendering.save(path)
    return write_output(path, to_csv(rendering.gazetteer, float_format="%.6g"))
