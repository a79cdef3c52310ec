"""Where the thesaurus lives on the map, and what it lacks, as a panel."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape.widgets._analysis_panel import AnalysisPanel, View
from landscape.widgets._code_lines import call
from landscape.widgets._panel import (
    Chooser,
    checked_atlas,
    checked_names,
    checked_whole,
    show_only,
    what_control,
)
from landscape.widgets._tables import Column

if TYPE_CHECKING:
    from landscape.atlas import Atlas
    from landscape.types import Analysis

WHAT = {
    "overlay": "Where concepts live on the map",
    "gaps": "What the thesaurus lacks",
}
_EXTENTS = (
    Column("label", "Concept"), Column("papers", "Papers", "count"),
    Column("share", "Share of all", "share"), Column("area_50", "Ground of half of them", "share"),
    Column("pieces_50", "Pieces", "count"), Column("area_80", "Ground of 80%", "share"),
    Column("pieces_80", "Pieces", "count"),
    Column("separability_full", "Separable by meaning (95% interval)", "number"),
    Column("separability_map", "Separable on the map (95% interval)", "number"),
)  # fmt: skip
_PROPOSED = (
    Column("rank", "Rank", "count"), Column("name", "Proposed term"),
    Column("papers", "Papers", "count"), Column("growth", "Growth", "number"),
    Column("growth_low", "At least", "number"), Column("parent", "Broader term"),
    Column("nearest", "Nearest concepts", "list"), Column("region", "Region"),
    Column("region_share", "Of its papers there", "share"),
    Column("alternatives", "Also written", "list"),
)  # fmt: skip

_MOST_PROPOSALS = 10_000


class ThesaurusPanel(AnalysisPanel):
    """See where concepts of the thesaurus live on the map, and what the thesaurus lacks.

    Parameters
    ----------
    atlas : Atlas
        With its thesaurus and tagged papers.
    concepts : str or sequence of str, optional
        Names or ids; those at the top of the thesaurus when not given.
    what : str, default "overlay"
        ``"overlay"`` or ``"gaps"``.
    limit : int, default 100
        Proposals.
    theme : {"light", "dark"}, default "light"
        Colours of the figures.

    Examples
    --------
    >>> from landscape.widgets import ThesaurusPanel
    >>> ThesaurusPanel(atlas, concepts=["Exoplanets", "Brown dwarfs"])  # doctest: +SKIP
    """

    def __init__(
        self,
        atlas: Atlas,
        *,
        concepts: str | Sequence[str] | None = None,
        what: str = "overlay",
        limit: int = 100,
        theme: str = "light",
    ) -> None:
        checked_atlas(atlas)
        given = checked_names("concepts", concepts)
        self._limit = checked_whole("limit", limit, 1, _MOST_PROPOSALS)
        self._what = what_control(WHAT, what, self._change)
        self._chooser = Chooser(
            "Add a concept", "type a name, such as Exoplanets", given, on_change=self._change
        )
        self._top = widgets.Button(
            description="The top concepts", icon="sitemap",
            tooltip="Show the concepts at the top of the thesaurus",
            layout=widgets.Layout(width="auto"),
        )  # fmt: skip
        self._top.on_click(lambda _: self._show_top())
        super().__init__(
            "Thesaurus on the map:", atlas, theme=theme,
            controls=[self._what, self._chooser, self._top],
        )  # fmt: skip
        self._suit_controls()
        self.draw()

    @property
    def selection(self) -> dict[str, Any]:
        """``concepts, what, limit``; no concepts are those at the top."""
        return {
            "concepts": self._chooser.value, "what": self._what.value, "limit": self._limit,
        }  # fmt: skip

    def _show_top(self) -> None:
        self._chooser.value = []
        self._change()

    def _suit_controls(self) -> None:
        overlay = self._what.value == "overlay"
        show_only({self._chooser: overlay, self._top: overlay and bool(self._chooser.value)})

    def _prepare(self) -> list[str]:
        return sorted(one.label for one in self.atlas.thesaurus.concepts.values())

    def _offer(self, known: list[str]) -> None:
        self._chooser.offer({label: label for label in known})

    def _make(self, chosen: Mapping[str, Any]) -> View:
        if chosen["what"] == "gaps":
            return self._gaps(chosen["limit"])
        return self._overlay(chosen["concepts"] or None)

    def _overlay(self, concepts: Sequence[str] | None) -> View:
        from landscape.figures._uat import draw_concepts
        from landscape.overlays.thesaurus import thesaurus_overlay

        found = thesaurus_overlay(self.atlas, concepts=concepts)
        page = draw_concepts(self.atlas, found, colours=self.theme)
        asked = call("ls.overlays.thesaurus.thesaurus_overlay", concepts=concepts)
        return self._view_of(found, _EXTENTS, page, "concepts", asked, "uat", concepts=concepts)

    def _gaps(self, limit: int) -> View:
        from landscape.overlays.thesaurus import thesaurus_gaps, to_uat_csv

        found = thesaurus_gaps(self.atlas, limit=limit)
        given = limit if limit != 100 else None
        return self._chart(
            "uat_gaps", found, _PROPOSED, "thesaurus-gaps",
            call("ls.overlays.thesaurus.thesaurus_gaps", limit=given), limit=given,
            files={
                "Forms for the maintainers": ("uat-proposals.csv", lambda: to_uat_csv(found))
            },
        )  # fmt: skip

    def _put_beside(self, view: View) -> list[widgets.Widget]:
        if view.analysis.kind != "thesaurus_gaps" or view.table.empty:
            return []
        return _forms(view.analysis)


def _forms(found: Analysis) -> list[widgets.Widget]:
    """The request for a new concept, of the proposal that is chosen."""
    from landscape.overlays.thesaurus import to_uat_form

    chooser = widgets.Dropdown(
        options=[(f"{row.rank}. {row.name}", row.name) for row in found.table.itertuples()],
        description="Request for", tooltip="Proposal whose request is shown",
        style={"description_width": "initial"}, layout=widgets.Layout(width="460px"),
    )  # fmt: skip
    shown = widgets.HTML()

    def show(_: Any = None) -> None:
        text = html.escape(to_uat_form(found, chooser.value))
        shown.value = (
            "<span class='landscape-quiet'>As the maintainers of the thesaurus ask for it; the "
            "definition is yours to write (click to select):</span>"
            f"<pre class='landscape-code' tabindex='0'>{text}</pre>"
        )

    chooser.observe(show, "value")
    show()
    return [chooser, shown]
