"""What the panels share on which an atlas is asked: its language model, and what is typed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape.widgets.connection import Connection
from landscape.widgets.opened_panel import OpenedPanel
from landscape.widgets.panel import Panel

if TYPE_CHECKING:
    from landscape.atlas import Atlas

# Seconds: a page holds back the letters typed last while the kernel is busy with those before, but
# not the Enter, or the click, that follows them.
_LAST_KEYS = 0.25


class AtlasPanel(OpenedPanel):
    """A panel that asks something of an atlas, with a language model or without.

    Parameters
    ----------
    verb : str
        What is done to the atlas; its heading is this and the title of the atlas.
    atlas : Atlas
    connection : Connection, optional
        Which language model; by default the one that the environment names, if any.
    """

    def __init__(self, verb: str, atlas: Atlas, *, connection: Connection | None) -> None:
        super().__init__(verb, atlas, [])
        self.connection = connection if connection is not None else Connection()

    def _try(self, do: Callable[[], Any]) -> None:
        """Do what a control of the page asks for; what cannot be is told in one sentence."""
        try:
            do()
        except Exception as error:  # noqa: BLE001 - in a timer, nobody else would tell it
            Panel._tell(self, error)

    def _on_enter(self, box: widgets.Text, do: Callable[[], Any]) -> None:
        def entered(_widget: Any, content: Any, _buffers: Any) -> None:
            if isinstance(content, dict) and content.get("event") == "submit":
                self._soon(do)

        box.on_msg(entered)

    def _soon(self, do: Callable[[], Any]) -> None:
        """Do what a control asks for once the boxes beside it hold all that was typed."""
        threading.Timer(_LAST_KEYS, lambda: self._try(do)).start()
