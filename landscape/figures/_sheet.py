"""The matplotlib figure that carries its own words and numbers.

Imported only when a figure is drawn, hence matplotlib at the top: a class needs its base.
"""

from __future__ import annotations

import io
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.backend_bases import RendererBase

    from landscape.figures._scene import Scene

#: Letters keep their true widths at every resolution, so that what was measured holds; hatching is
#: fine, so that it does not look like a tone.
SETTINGS: dict[Any, Any] = {"text.hinting": "none", "hatch.linewidth": 0.4}


class Sheet(Figure):
    """A figure with its scene, its alternative text, its full caption and the numbers behind it."""

    def __init__(
        self,
        *args: Any,
        alt_text: str = "",
        table: pd.DataFrame | None = None,
        caption: str = "",
        scene: Scene | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.alt_text, self.table, self.caption = alt_text, table, caption
        self.scene: Any = scene  # None of a figure that was not composed here
        FigureCanvasAgg(self)

    def draw(self, renderer: RendererBase) -> None:
        """Draw with the letters' true widths."""
        with mpl.rc_context(SETTINGS):
            super().draw(renderer)

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Show in notebooks, sharp on dense screens, whether or not pyplot was imported."""
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=144, facecolor=self.get_facecolor())
        width = round(self.get_figwidth() * 72)
        data = {
            "image/png": b64encode(buffer.getvalue()).decode("ascii"),
            "text/plain": self.alt_text or repr(self),
        }
        return data, {"image/png": {"width": width, "alt": self.alt_text}}
