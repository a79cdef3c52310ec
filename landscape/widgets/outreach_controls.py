"""What can be chosen of an outreach map: look, sheet, names, sea, and who repaints it."""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

import ipywidgets as widgets

from landscape.errors import InputError, install_line
from landscape.outreach._page import SIZES, choose_sheet
from landscape.outreach._themes import THEMES, find_theme
from landscape.search._settings import readable_text
from landscape.widgets.analysis_controls import show_only
from landscape.widgets.checking import checked_flag, checked_number, checked_whole

DEFAULTS: dict[str, Any] = {
    "theme": "atlas", "size": "web", "title": None, "credits": "", "names": None,
    "language": "en", "everyday": False, "sea_share": 0.97, "recent_years": 5, "weights": None,
    "seed": 0, "strength": None,
}  # fmt: skip
"""What is chosen where nothing is."""
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
    """The controls of an outreach map.

    Parameters
    ----------
    chosen : mapping
        Some of `DEFAULTS`, with other values.
    title : str
        What the map is called where no title is given.
    on_change : callable
        Called without arguments whenever the user changed something.

    Raises
    ------
    InputError
        For a value that cannot be.

    Examples
    --------
    >>> controls = OutreachControls({"theme": "night"}, title="Stars", on_change=lambda: None)
    >>> controls.value["theme"], controls.value["size"]
    ('night', 'web')
    """

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
    """What is said below the field for weights, as HTML.

    Examples
    --------
    >>> weights_hint("").startswith("No weights are given: the map is drawn from the data alone")
    True
    """
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
