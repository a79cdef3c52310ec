"""A list to choose several things from by typing: facilities, concepts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import ipywidgets as widgets

from landscape.widgets.closing import close_all


class Chooser(widgets.VBox):
    """A field to type into, and a button for each thing chosen that takes it away again.

    Parameters
    ----------
    description : str
        What is chosen.
    placeholder : str
        What an empty field says.
    chosen : sequence of str
    on_change : callable
        Called without arguments whenever the user changed the choice.

    Examples
    --------
    >>> chooser = Chooser("Facility", "type a name", [], on_change=lambda: None)
    >>> chooser.offer({"ALMA (76 papers)": "ALMA"})
    >>> chooser.field.value = "ALMA (76 papers)"
    >>> chooser.value
    ['ALMA']
    """

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
        """What is chosen, in the order of choosing; setting it does not tell of a change."""
        return list(self._chosen)

    @value.setter
    def value(self, chosen: Sequence[str]) -> None:
        self._chosen = list(dict.fromkeys(chosen))
        self._show()

    def offer(self, names: Mapping[str, str]) -> None:
        """Suggest names while the user types.

        Parameters
        ----------
        names : mapping of str to str
            What is shown, and what it stands for.
        """
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
