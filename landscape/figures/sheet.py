"""The page that a map is drawn on: a matplotlib figure that carries its own words and numbers.

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


#: Letters keep their true widths at every resolution, so that what was measured holds; hatching is
#: fine, so that it does not look like a tone.
SETTINGS: dict[Any, Any] = {"text.hinting": "none", "hatch.linewidth": 0.4}


class Sheet(Figure):
    """A figure with its alternative text and the numbers behind it.

    Attributes
    ----------
    alt_text : str
        What the picture shows, for readers who cannot see it.
    table : pandas.DataFrame or None
        The numbers behind the picture, written beside it by `landscape.figures.save_figure`.
    caption : str
        The caption as printed, in one line a sentence.

    Examples
    --------
    >>> Sheet(figsize=(2, 1), alt_text="An empty page.").alt_text
    'An empty page.'
    """

    def __init__(
        self,
        *args: Any,
        alt_text: str = "",
        table: pd.DataFrame | None = None,
        caption: str = "",
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.alt_text = alt_text
        self.table = table
        self.caption = caption
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
        picture = {"width": width, "alt": self.alt_text}
        data = {
            "image/png": b64encode(buffer.getvalue()).decode("ascii"),
            "text/plain": self.alt_text or repr(self),
        }
        return data, {"image/png": picture}
