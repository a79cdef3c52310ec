"""Controls that several panels of analyses have."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from landscape.atlas import Atlas

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets as widgets

from landscape.errors import InputError
from landscape.widgets._panel import checked_whole, close_all

_YEARS = 1, 9999


def what_control(kinds: Mapping[str, str], chosen: str, on_change: Callable[[], None]) -> Any:
    """A list of what a panel can show."""
    if chosen not in kinds:
        raise InputError(f"There is no {chosen!r} to show; use one of {', '.join(kinds)}.")
    control = widgets.Dropdown(
        options=[(words, key) for key, words in kinds.items()], value=chosen, description="Show",
        tooltip="What to show", style={"description_width": "initial"},
        layout=widgets.Layout(width="300px"),
    )  # fmt: skip
    control.observe(lambda _: on_change(), "value")
    return control


class YearsControl(widgets.IntRangeSlider):
    """First and last year; the whole range includes papers without a date."""

    def __init__(
        self, atlas: Atlas, since: int | None, until: int | None, on_change: Callable[[], None]
    ) -> None:
        first, last = self.corpus = _years_of(atlas)
        low = min([first, *(year for year in (since, until) if year is not None)])
        high = max([last, *(year for year in (since, until) if year is not None)])
        super().__init__(
            value=(first if since is None else since, last if until is None else until),
            min=low, max=high, step=1, description="Years", continuous_update=False,
            readout_format="d", tooltip="First and last year, both included",
            style={"description_width": "initial"}, layout=widgets.Layout(width="380px"),
        )  # fmt: skip
        self.observe(lambda _: on_change(), "value")

    @property
    def period(self) -> dict[str, int | None]:
        """``since`` and ``until``, None where that end is open."""
        low, high = self.value
        return {
            "since": None if low == self.corpus[0] else int(low),
            "until": None if high == self.corpus[1] else int(high),
        }

    def suit(self, atlas: Atlas) -> None:
        """Go on with an atlas that was built again; an end that was open stays so."""
        since, until = self.period.values()
        first, last = self.corpus = _years_of(atlas)
        value = first if since is None else since, last if until is None else until
        low, high = min(*value, *self.value), max(*value, *self.value)  # never a value outside
        bounds = {"min": min(low, first), "max": max(high, last), "value": value}
        for trait, wanted in bounds.items():
            self.set_trait(trait, wanted)


def _years_of(atlas: Atlas) -> tuple[int, int]:
    dates = (str(atlas.coverage[end] or "")[:4] for end in ("first_date", "last_date"))
    first, last = (int(year) if year.isdigit() else 0 for year in dates)
    return first, last


def check_period(since: Any, until: Any) -> None:
    """Refuse an invalid year, and a period that ends before it begins."""
    for name, year in (("since", since), ("until", until)):
        if year is not None:
            checked_whole(name, year, *_YEARS)
    if since is not None and until is not None and since > until:
        raise InputError(f"The period {since}-{until} ends before it begins; swap the years.")


def show_only(controls: Mapping[widgets.Widget, bool]) -> None:
    """Show the controls that apply, and hide the others."""
    for control, is_shown in controls.items():
        control.layout.display = None if is_shown else "none"


class Chooser(widgets.VBox):
    """A text field, and a button that removes each chosen name."""

    def __init__(
        self,
        description: str,
        placeholder: str,
        chosen: Sequence[str],
        *,
        on_change: Callable[[], None],
    ) -> None:
        self._names: dict[str, str] = {}
        self._on_change = on_change
        self._chosen: list[str] = list(chosen)
        self.field = widgets.Combobox(
            description=description, placeholder=placeholder, ensure_option=False,
            continuous_update=False, tooltip=f"{description}: {placeholder}",
            style={"description_width": "initial"}, layout=widgets.Layout(width="330px"),
        )  # fmt: skip
        self.field.observe(self._take, "value")
        self._chips = widgets.HBox(layout=widgets.Layout(flex_flow="row wrap"))
        super().__init__([self.field, self._chips])
        self._show()

    def __repr__(self) -> str:
        return f"<Chooser: {', '.join(self._chosen) or 'nothing'}>"

    @property
    def value(self) -> list[str]:
        """What is chosen, in the order of choosing; setting it does not call the callback."""
        return list(self._chosen)

    @value.setter
    def value(self, chosen: Sequence[str]) -> None:
        self._chosen = list(dict.fromkeys(chosen))
        self._show()

    def offer(self, names: Mapping[str, str]) -> None:
        """Suggest names while the user types."""
        self._names = dict(names)
        self.field.options = tuple(names)

    def _take(self, change: Mapping[str, str]) -> None:
        typed = change["new"].strip()
        if not typed:
            return
        name = self._names.get(typed, typed)
        self.field.value = ""
        if name not in self._chosen:
            self.value = [*self._chosen, name]
            self._on_change()

    def _drop(self, name: str) -> None:
        self.value = [one for one in self._chosen if one != name]
        self._on_change()

    def _show(self) -> None:
        old = self._chips.children
        self._chips.children = [self._chip(name) for name in self._chosen]
        close_all(*old)

    def _chip(self, name: str) -> widgets.Button:
        chip = widgets.Button(
            description=name, icon="times", tooltip=f"Take {name} away",
            layout=widgets.Layout(width="auto", max_width="260px"),
        )  # fmt: skip
        chip.on_click(lambda _: self._drop(name))
        return chip
