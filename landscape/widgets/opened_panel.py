"""What the panels share that show something of an atlas: one that is built again is opened anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ipywidgets as widgets

from landscape.errors import AtlasError, LandscapeError
from landscape.widgets.checking import checked_atlas
from landscape.widgets.panel import Panel

if TYPE_CHECKING:
    from landscape.atlas import Atlas


class OpenedPanel(Panel):
    """A panel of an atlas, which offers to open it again where it was built again.

    Parameters
    ----------
    verb : str
        What is done to the atlas; its heading is this and the title of the atlas.
    atlas : Atlas
    body : sequence of ipywidgets.Widget

    Raises
    ------
    InputError
        For what is no open atlas.
    """

    def __init__(self, verb: str, atlas: Atlas, body: list[widgets.Widget]) -> None:
        self._verb, self._atlas = verb, checked_atlas(atlas)
        self._reopen = widgets.Button(
            description="Open the atlas again", icon="refresh",
            tooltip="Open the atlas as it is now; what is shown stays until something new is",
            layout=widgets.Layout(width="190px", display="none"),
        )  # fmt: skip
        self._reopen.on_click(lambda _: self.open_again())
        super().__init__(f"{verb} {atlas.title}", body)

    @property
    def atlas(self) -> Atlas:
        """The atlas that is asked."""
        return self._atlas

    def open_again(self) -> None:
        """Open the atlas as it is now, after it was built again."""
        from landscape.atlas import open as open_atlas

        try:
            atlas = open_atlas(self._atlas.path)
        except LandscapeError as error:
            self._tell(error)
            return
        self.heading = f"{self._verb} {atlas.title}"
        self._reopen.layout.display = "none"
        self.say("The atlas was opened again.")
        self._take(atlas)

    def _take(self, atlas: Atlas) -> None:
        """Go on with the atlas as it is now."""
        self._atlas = atlas

    def _tell(self, error: Exception) -> None:
        super()._tell(error)
        if isinstance(error, AtlasError):
            self._reopen.layout.display = ""
