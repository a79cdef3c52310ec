"""The panel of reviews and of regions that lack one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape.widgets._analysis_panel import AnalysisPanel, View
from landscape.widgets._code_lines import call, figure_lines
from landscape.widgets._panel import checked_atlas, show_only, what_control
from landscape.widgets._tables import Column, table_html

if TYPE_CHECKING:
    import pandas as pd

    from landscape.atlas import Atlas
    from landscape.types import Analysis

WHAT = {"gaps": "Where a review would help most", "coverage": "Coverage by reviews"}
_SAID = {
    "volume": ("Papers waiting", "Papers newer than every review near them"),
    "growth": ("Growth", "Papers of the last covered years against those expected"),
    "citations": ("Citations", "Citations of the waiting papers, against others of their year"),
    "years_without": ("Years without", "Mean years since the latest review near a paper"),
    "disagreement": ("Disagreement", "Abstracts that contrast, confirm and contradict"),
}
_MOST = 2.0
_GAPS = (
    Column("rank", "Rank (95% of resamples)", "count"), Column("label", "Region"),
    Column("score", "Score (95% interval)", "number"), Column("papers", "Papers", "count"),
    Column("reviews", "Reviews", "count"), Column("last_review", "Last review", "year"),
    Column("volume", "Papers waiting", "count"), Column("growth", "Growth", "number"),
    Column("citations", "Citations", "number"), Column("years_without", "Years without", "number"),
    Column("disagreement", "Disagreement", "number"),
)  # fmt: skip
_COVERAGE = (
    Column("label", "Region"), Column("papers", "Papers", "count"),
    Column("reviews", "Reviews", "count"), Column("expected", "Expected", "number"),
    Column("density_ratio", "Reviews to expected (95% interval)", "number"),
    Column("last_review", "Last review", "year"), Column("papers_since", "Papers since", "count"),
)  # fmt: skip
_WAITING = (
    Column("place", "", "count"), Column("title", "Papers that wait for a review"),
    Column("year", "Year", "year"), Column("cites", "Citations", "count"),
    Column("paper_id", "Key"),
)  # fmt: skip


class ReviewPanel(AnalysisPanel):
    """See where reviews are, and rank where one would help by weights of your own.

    Parameters
    ----------
    atlas : Atlas
        With its recognised reviews.
    what : str, default "gaps"
        ``"gaps"`` or ``"coverage"``.
    weights : mapping of str to float, optional
        Of ``volume, growth, citations, years_without, disagreement``, see
        `landscape.overlays.review_gaps`.
    theme : {"light", "dark"}, default "light"
        Colours of the figures.

    Examples
    --------
    >>> from landscape.widgets import ReviewPanel
    >>> ReviewPanel(atlas, weights={"growth": 1.0})  # doctest: +SKIP
    """

    def __init__(
        self,
        atlas: Atlas,
        *,
        what: str = "gaps",
        weights: Mapping[str, float] | None = None,
        theme: str = "light",
    ) -> None:
        from landscape.overlays.reviews._gaps import check_weights

        checked_atlas(atlas)
        self._what = what_control(WHAT, what, self._change)
        self._weights = {
            name: self._slider(name, weight) for name, weight in check_weights(weights).items()
        }
        said = widgets.HTML(
            "<span class='landscape-quiet'>Weights: how much each reason counts; 0 leaves it out"
            "</span>"
        )
        sliders = widgets.HBox(
            list(self._weights.values()),
            layout=widgets.Layout(flex_flow="row wrap", grid_gap="0 10px"),
        )
        self._weighing = widgets.VBox([said, sliders], layout=widgets.Layout(width="100%"))
        self._read: pd.DataFrame | None = None
        super().__init__(
            "Reviews and gaps:", atlas, theme=theme,
            controls=[self._what, self._weighing],
        )  # fmt: skip
        self._suit_controls()
        self.draw()

    @property
    def selection(self) -> dict[str, Any]:
        """``what, weights``."""
        weights = {name: round(slider.value, 2) for name, slider in self._weights.items()}
        return {"what": self._what.value, "weights": weights}

    def _slider(self, name: str, weight: float) -> Any:
        words, meaning = _SAID[name]
        slider = widgets.FloatSlider(
            value=weight, min=0.0, max=max(_MOST, weight), step=0.1, description=words,
            tooltip=f"{words}: {meaning}", continuous_update=False, readout_format=".1f",
            style={"description_width": "100px"}, layout=widgets.Layout(width="258px"),
        )  # fmt: skip
        slider.observe(lambda _: self._change(), "value")
        return slider

    def _suit_controls(self) -> None:
        show_only({self._weighing: self._what.value == "gaps"})

    def _forget(self) -> None:
        super()._forget()
        self._read = None

    def _make(self, chosen: Mapping[str, Any]) -> View:
        return self._coverage() if chosen["what"] == "coverage" else self._gaps(chosen["weights"])

    def _gaps(self, weights: Mapping[str, float]) -> View:
        from landscape.figures._reviews import draw_reviews
        from landscape.overlays.reviews import review_gaps
        from landscape.overlays.reviews._gaps import review_mask

        found = review_gaps(self.atlas, weights=weights, signs=self._signs())
        page = draw_reviews(self.atlas, found, review_mask(self.atlas), colours=self.theme)
        changed = _changed(weights)
        asked = call("ls.overlays.reviews.review_gaps", weights=changed)
        return self._view_of(found, _GAPS, page, "review-gaps", asked, "reviews", weights=changed)

    def _coverage(self) -> View:
        from landscape.figures._plotly import draw_panels
        from landscape.figures._reviews import draw_coverage, draw_reviews
        from landscape.overlays.reviews import review_gaps, reviews
        from landscape.overlays.reviews._gaps import review_mask

        found = reviews(self.atlas)
        return View(
            found, found.table, _COVERAGE,
            draw_panels(draw_coverage(self.atlas, found, colours=self.theme).scene),
            figure_lines(
                call("ls.overlays.reviews.reviews"), "coverage", printed="reviews",
                colours=self._colours,
            ),
            lambda: draw_reviews(
                self.atlas, review_gaps(self.atlas, signs=self._signs()),
                review_mask(self.atlas), colours=self.theme,
            ),
            "review-coverage",
        )  # fmt: skip

    def _signs(self) -> pd.DataFrame:
        """What the ranking rests on; read once, so that weights can be tried out."""
        from landscape.overlays.reviews._gaps import review_mask
        from landscape.overlays.reviews._recognition import read_signs

        if self._read is None:
            self._read = read_signs(self.atlas, review_mask(self.atlas), seed=0)
        return self._read

    def _put_beside(self, view: View) -> list[widgets.Widget]:
        if view.analysis.kind != "review_gaps":
            return []
        return _waiting_papers(view.analysis)


def _changed(weights: Mapping[str, float]) -> dict[str, float] | None:
    """Weights that differ from the usual ones."""
    from landscape.overlays.reviews._gaps import DEFAULT_WEIGHTS

    return {
        name: value for name, value in weights.items() if value != DEFAULT_WEIGHTS[name]
    } or None


def _waiting_papers(found: Analysis) -> list[widgets.Widget]:
    """Papers that wait for a review, of the region that is chosen."""
    papers = found.tables["exemplars"]
    regions = found.table[found.table["topic_id"].isin(papers["topic_id"])]
    if regions.empty:
        return []
    chooser = widgets.Dropdown(
        options=[(f"{row.rank}. {row.label}", row.topic_id) for row in regions.itertuples()],
        description="Papers to begin with in", tooltip="Region whose waiting papers are listed",
        style={"description_width": "initial"}, layout=widgets.Layout(width="460px"),
    )  # fmt: skip
    shown = widgets.HTML()

    def show(_: Any = None) -> None:
        part = papers[papers["topic_id"] == chooser.value]
        shown.value = table_html(part, _WAITING, about="Papers that wait for a review")

    chooser.observe(show, "value")
    show()
    return [chooser, shown]
