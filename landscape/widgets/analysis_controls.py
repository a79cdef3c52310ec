"""Controls that several panels of analyses have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as widgets

from landscape.errors import InputError
from landscape.widgets.checking import checked_whole

_YEARS = 1, 9999


def what_control(kinds: Mapping[str, str], chosen: str, on_change: Callable[[], None]) -> Any:
    """A list of what a panel can show.

    Parameters
    ----------
    kinds : mapping of str to str
        What is offered, by its key.
    chosen : str
        A key.
    on_change : callable

    Raises
    ------
    InputError
        If there is no such key.
    """
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
    """First and last year; the whole range stands for all papers, those without a date too.

    Parameters
    ----------
    atlas : Atlas
    since, until : int, optional
    on_change : callable

    Attributes
    ----------
    corpus : (int, int)
        First and last year of the corpus.
    """

    def __init__(
        self, atlas: Any, since: int | None, until: int | None, on_change: Callable[[], None]
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

    def suit(self, atlas: Any) -> None:
        """Go on with an atlas that was built again; an end that was open stays so."""
        since, until = self.period.values()
        first, last = self.corpus = _years_of(atlas)
        value = first if since is None else since, last if until is None else until
        low, high = min(*value, *self.value), max(*value, *self.value)  # never a value outside
        bounds = {"min": min(low, first), "max": max(high, last), "value": value}
        for trait, wanted in bounds.items():
            self.set_trait(trait, wanted)


def _years_of(atlas: Any) -> tuple[int, int]:
    dates = (str(atlas.coverage[end] or "")[:4] for end in ("first_date", "last_date"))
    first, last = (int(year) if year.isdigit() else 0 for year in dates)
    return first, last


def check_period(since: Any, until: Any) -> None:
    """Refuse what is no year, and a period that ends before it begins.

    Raises
    ------
    InputError
    """
    for name, year in (("since", since), ("until", until)):
        if year is not None:
            checked_whole(name, year, *_YEARS)
    if since is not None and until is not None and since > until:
        raise InputError(f"The period {since}-{until} ends before it begins; swap the years.")


def show_only(controls: Mapping[widgets.Widget, bool]) -> None:
    """Show those controls that say something now, and hide the others."""
    for control, is_shown in controls.items():
        control.layout.display = None if is_shown else "none"
