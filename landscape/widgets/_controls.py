"""Controls that several panels share, and checks of their arguments.

Unused widgets remain open in the page, in the kernel, and in notebooks that are saved with their
widgets. Widgets that are no longer shown are therefore closed, together with their parts.
"""

from __future__ import annotations

import html
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, reduce
from importlib.resources import files
from operator import getitem
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape._io import data_file, read_yaml
from landscape._settings import Settings, bare_type, bounds, choices, help_of, is_whole
from landscape.errors import InputError, LandscapeError

if TYPE_CHECKING:
    from landscape.atlas import Atlas


def close_all(*unused: object) -> None:
    """Close widgets with their children, layouts and styles, recursively."""
    for one in unused:
        if not isinstance(one, widgets.Widget):
            continue
        close_all(*getattr(one, "children", ()))
        # The layout of a plotly figure is not a widget, so the check above skips it.
        close_all(getattr(one, "layout", None), getattr(one, "style", None))
        one.close()


# -- checks of arguments


def checked_atlas(atlas: object) -> Atlas:
    """Return an open atlas; raise InputError for anything else."""
    from landscape.atlas import Atlas

    if isinstance(atlas, Atlas):
        return atlas
    if isinstance(atlas, str | os.PathLike):
        path = os.fspath(atlas)
        raise InputError(
            f"A panel needs an open atlas, not the path {path!r}; open it with ls.open({path!r})."
        )
    raise InputError(f"A panel needs an open atlas, not {atlas!r}; open one with ls.open(path).")


def checked_whole(name: str, value: Any, low: int, high: int) -> int:
    """Return a whole number; raise InputError if it is not between two bounds."""
    if not is_whole(value) or not low <= value <= high:
        raise InputError(f"{name} is {value!r}; give a whole number from {low:,} to {high:,}.")
    return int(value)


def checked_names(name: str, value: Any) -> list[str]:
    """Convert None, one name or several names to a list; raise InputError for other values."""
    if value is None:
        return []
    listed = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    if not all(isinstance(one, str) for one in listed):
        raise InputError(f"{name} is {value!r}; give a name, or a list of names.")
    return listed


def check_period(since: int | None, until: int | None) -> None:
    """Raise InputError for an invalid year, or a period that ends before it begins."""
    for name, year in (("since", since), ("until", until)):
        if year is not None:
            checked_whole(name, year, 1, 9999)
    if since is not None and until is not None and since > until:
        raise InputError(f"The period {since}-{until} ends before it begins; swap the years.")


# -- controls


MAX_SAVED_BYTES = 20_000  # of the result of a panel that a notebook keeps


def cut_text_html(text: str) -> str:
    """Return HTML of the beginning of a text that fits into `MAX_SAVED_BYTES`."""
    cut = text.encode()[:MAX_SAVED_BYTES].decode(errors="ignore")
    while len(page := html.escape(cut).encode()) > MAX_SAVED_BYTES:
        cut = cut[: len(cut) * 9 // 10]
    more = " …" if len(cut) < len(text) else ""
    return f"<pre style='white-space: pre-wrap'>{page.decode()}{more}</pre>"


def quiet_html(text: str) -> str:
    """Return HTML of a text in small grey letters."""
    return f"<span class='landscape-quiet'>{html.escape(text)}</span>" if text else ""


def style_sheet(css: str) -> widgets.HTML:
    """Return an invisible widget that adds styles to the page."""
    return widgets.HTML(f"<style>{css}</style>", layout=widgets.Layout(display="none"))


@cache
def css_of(*names: str) -> str:
    """Return the contents of style sheets of this package."""
    folder = files("landscape.widgets")
    return "\n".join(folder.joinpath(f"{name}.css").read_text("utf-8") for name in names)


def scrolling(*parts: widgets.Widget) -> widgets.VBox:
    """Arrange the long parts of a panel in a box that scrolls if the panel fills the window."""
    box = widgets.VBox(parts)
    box.add_class("landscape-scrolls")
    return box


def button(
    text: str, about: str, on_click: Callable[[], object], *, width: str = "auto", **options: object
) -> widgets.Button:
    """Return a button as wide as its text, unless a width is given."""
    layout = {"width": width, "flex": "0 0 auto", "align_self": "flex-start"}
    made = widgets.Button(description=text, tooltip=about, layout=layout, **options)
    made.on_click(lambda _: on_click())
    return made


@cache
def panel_texts() -> dict[str, Any]:
    """Return the contents of ``panels.yaml``: tables, controls and texts."""
    return read_yaml(data_file("panels.yaml"))


def make_control(
    path: str, on_change: Callable[[], object] | None = None, **traits: object
) -> widgets.Widget:
    """Create a control from its entry in ``panels.yaml``, such as ``"writing.keywords"``.

    `traits` replace the traits in the entry. `on_change` is called when a button is clicked, or
    when the value of another control changes.
    """
    entry = {**reduce(getitem, path.split("."), panel_texts()), **traits}
    kind, width = entry.pop("kind", "Text"), entry.pop("width", "auto")
    label, css_class = entry.pop("label", None), entry.pop("class", None)
    layout = {"width": f"{width}px" if isinstance(width, int) else width, **entry.pop("layout", {})}
    if isinstance(kind, str):
        kind = Choice if kind == "Choice" else getattr(widgets, kind)
    control = kind(layout=layout, **entry)
    if label is not None:
        control.style.description_width = f"{label}px" if isinstance(label, int) else label
    if css_class is not None:
        control.add_class(css_class)
    if on_change is not None and isinstance(control, widgets.Button):
        control.on_click(lambda _: on_change())
    elif on_change is not None:
        control.observe(lambda _: on_change(), "value")
    return control


def grid(*controls: widgets.Widget, least: int = 300, **layout: str) -> widgets.GridBox:
    """Arrange controls in columns with a minimum width in pixels."""
    columns = f"repeat(auto-fill, minmax({least}px, 1fr))"
    layout |= {"grid_template_columns": columns, "grid_gap": "4px 20px"}
    return widgets.GridBox(controls, layout=layout)


def group(title: str, *controls: widgets.Widget) -> widgets.VBox:
    """Arrange controls in columns below a heading."""
    heading = widgets.HTML(f"<div class='landscape-group'>{html.escape(title)}</div>")
    return widgets.VBox([heading, grid(*controls)])


Parsers = Mapping[str, tuple[Callable[[str], object], str]]
"""For each setting, a function that parses the typed text, and a description of valid texts."""


def read_fields(fields: Mapping[str, widgets.Widget], parsers: Parsers) -> dict[str, object]:
    """Return the settings from their fields; empty fields are omitted."""
    found = {}
    for name, one in fields.items():
        value = one.chosen if isinstance(one, Choice) else one.value
        if isinstance(one, widgets.Text):
            parse, wanted = parsers.get(name, (str, "text"))
            typed = value.strip()
            try:
                value = parse(typed) if typed else None
            except ValueError as error:
                what = f"{one.description} is {typed!r}; give {wanted}, or leave it empty."
                raise InputError(what) from error
        if value is not None:
            found[name] = value
    return found


def fill_fields(fields: Mapping[str, widgets.Widget], settings: Mapping[str, object]) -> None:
    """Show settings in their fields. Clear the text fields of all other settings."""
    for name, one in fields.items():
        value = settings.get(name)
        if isinstance(one, Choice):
            one.choose(value)
        elif isinstance(one, widgets.Text):
            parts = value if isinstance(value, list | tuple) else [] if value is None else [value]
            one.value = ", ".join(map(str, parts))
        else:
            one.value = value


_AUTO = "auto"  # not None, which would be shown as an empty choice


class Choice(widgets.Dropdown):
    """A drop-down list. The first option, `auto`, shows the value used for the question."""

    def __init__(self, *, options: Mapping[object, str], **traits: object) -> None:
        self._labels, self._first = dict(options), _AUTO
        self.is_relabelling = False
        super().__init__(options=self._options(), **traits)

    @property
    def chosen(self) -> Any:
        """The value, or None for `auto`."""
        return None if self.value == _AUTO else self.value

    def suggest(self, value: object) -> None:
        """Show the value that `auto` currently means."""
        text = f"auto: {self._labels.get(value, value)}"
        if self._first != text:
            self._relabel(text)

    def choose(self, value: object) -> None:
        """Choose a value, or `auto` for None; unknown values are added to the options."""
        if value is not None and value not in self._labels:
            self._labels[value] = str(value)
            self._relabel(self._first)
        self.value = _AUTO if value is None else value

    def _options(self) -> list[tuple[str, object]]:
        return [(self._first, _AUTO), *((text, value) for value, text in self._labels.items())]

    def _relabel(self, first: str) -> None:
        self._first, chosen = first, self.value
        self.is_relabelling = True  # setting new options briefly selects the first option
        try:
            self.options = self._options()
            self.value = chosen
        finally:
            self.is_relabelling = False


def make_fields(
    settings: type[Settings],
    groups: Mapping[str, Mapping[str, str]],
    *,
    label: int,
    options: Mapping[str, Mapping[object, str]] = {},
) -> tuple[dict[str, widgets.Widget], dict[str, list[widgets.Widget]]]:
    """Create the fields of settings, with the label of each setting by group.

    The kind of a field and its bounds follow from the declaration of the setting. `options` has
    the texts of the values that a list shows.
    """
    fields: dict[str, widgets.Widget] = {}
    for names in groups.values():
        for name, text in names.items():
            known = options.get(name) or {value: value for value in choices(settings, name)}
            fields[name] = _field(settings, name, text, known, label)
    return fields, {title: [fields[name] for name in names] for title, names in groups.items()}


_MAX_SLIDER = 20


def _field(
    settings: type[Settings], name: str, text: str, known: Mapping[object, str], label: int
) -> widgets.Widget:
    """Create the field of a setting: a list, a box to tick, a number with bounds, or text."""
    meaning = help_of(settings, name)
    least, most = bounds(settings, name)
    traits: dict[str, Any] = {
        "description": text,
        "tooltip": meaning[:1].upper() + meaning[1:],
        "layout": {"width": "calc(100% - 6px)"},
    }
    kind = bare_type(settings, name)
    if known:
        control = Choice(options=known, **traits)
    elif kind is bool:
        return widgets.Checkbox(**traits | {"indent": False, "layout": {"width": "auto"}})
    elif kind is int and most is not None:
        number = widgets.IntSlider if most <= _MAX_SLIDER else widgets.BoundedIntText
        slides = {"continuous_update": False} if number is widgets.IntSlider else {}
        control = number(min=least, max=most, **slides, **traits)
    else:
        such = re.search(r"such as (.*?)(?:;|$)|\((?:default: )([^)]*)\)", meaning)
        hint = next(filter(None, such.groups()), "") if such else ""
        control = widgets.Text(placeholder=hint, continuous_update=False, **traits)
    control.style.description_width = f"{label}px"
    return control


def what_control(panel: str, chosen: str, on_change: Callable[[], None]) -> widgets.Widget:
    """Return a control to choose one of the results of a panel, as defined in ``panels.yaml``."""
    kinds = panel_texts()["results"][panel]
    if chosen not in kinds:
        raise InputError(f"There is no {chosen!r} to show; use one of {', '.join(kinds)}.")
    options = [(words, key) for key, words in kinds.items()]
    return make_control("shared.what", on_change, options=options, value=chosen)


class YearsControl(widgets.IntRangeSlider):
    """Slider for the first and last year; the full range includes papers without a date."""

    def __init__(
        self, atlas: Atlas, since: int | None, until: int | None, on_change: Callable[[], None]
    ) -> None:
        self.corpus = _years_of(atlas)
        value = self._filled(since, until)
        ends, traits = (*self.corpus, *value), panel_texts()["shared"]["years"]
        super().__init__(value=value, min=min(ends), max=max(ends), **traits)
        self.observe(lambda _: on_change(), "value")

    def _filled(self, since: int | None, until: int | None) -> tuple[int, int]:
        first, last = self.corpus
        return first if since is None else since, last if until is None else until

    @property
    def period(self) -> dict[str, int | None]:
        """The years ``since`` and ``until``; None means an open end."""
        low, high = self.value
        return {
            "since": None if low == self.corpus[0] else int(low),
            "until": None if high == self.corpus[1] else int(high),
        }

    def suit(self, atlas: Atlas) -> None:
        """Set the range of years for a rebuilt atlas. Open ends of the range remain open."""
        since, until = self.period.values()
        self.corpus = _years_of(atlas)
        # The bounds must include the old value until it is replaced.
        value = self._filled(since, until)
        ends = (*self.corpus, *value, *self.value)
        self.min, self.max = min(ends), max(ends)
        self.set_trait("value", value)


def _years_of(atlas: Atlas) -> tuple[int, int]:
    dates = (str(atlas.coverage[end] or "")[:4] for end in ("first_date", "last_date"))
    first, last = (int(year) if year.isdigit() else 0 for year in dates)
    return first, last


def folded(title: str, *rows: widgets.Widget) -> widgets.Accordion:
    """Put rows of controls that few users need below a title, which opens them."""
    return widgets.Accordion(
        children=[widgets.VBox(list(rows))],
        titles=[title],
        selected_index=None,
        layout={"width": "100%"},
    )


def show_only(controls: Mapping[widgets.Widget, bool]) -> None:
    """Show the controls with the value True, and hide the others."""
    for control, is_shown in controls.items():
        control.layout.display = None if is_shown else "none"


class Chooser(widgets.VBox):
    """A text field to choose names, with a button for each chosen name that removes it.

    `find` returns the name that a typed text means, or raises InputError; then the text stays in
    the field, and `on_error` is called.
    """

    def __init__(
        self,
        kind: str,
        chosen: Sequence[str],
        *,
        on_change: Callable[[], None],
        find: Callable[[str], str] = str,
        on_error: Callable[[Exception], None] = lambda _: None,
    ) -> None:
        self._names: dict[str, str] = {}
        self._on_change, self._find, self._on_error = on_change, find, on_error
        self.field = make_control(f"choosers.{kind}")
        self.field.observe(self._take, "value")
        self._chips = widgets.HBox(layout={"flex_flow": "row wrap"})
        super().__init__([self.field, self._chips])
        self.value = chosen

    def __repr__(self) -> str:
        return f"<Chooser: {', '.join(self._chosen) or 'nothing'}>"

    @property
    def value(self) -> list[str]:
        """The chosen names in order. Setting them does not call `on_change`."""
        return list(self._chosen)

    @value.setter
    def value(self, chosen: Sequence[str]) -> None:
        self._chosen = list(dict.fromkeys(chosen))
        old = self._chips.children
        self._chips.children = [self._chip(name) for name in self._chosen]
        close_all(*old)

    def offer(self, names: Mapping[str, str]) -> None:
        """Set the names that are suggested while the user types."""
        self._names = dict(names)
        self.field.options = tuple(names)

    def _take(self, change: Mapping[str, str]) -> None:
        typed = change["new"].strip()
        if not typed:
            return
        try:
            name = self._names.get(typed) or self._find(typed)
        except LandscapeError as error:
            self._on_error(error)
            return
        self.field.value = ""
        if name not in self._chosen:
            self.value = [*self._chosen, name]
            self._on_change()

    def _drop(self, name: str) -> None:
        self.value = [one for one in self._chosen if one != name]
        self._on_change()

    def _chip(self, name: str) -> widgets.Button:
        chip = button(name, f"Remove {name}", lambda: self._drop(name), icon="times")
        chip.layout.max_width = "260px"
        return chip
