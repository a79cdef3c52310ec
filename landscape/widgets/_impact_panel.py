"""The panel of the impact of facilities on the literature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape.errors import InputError
from landscape.widgets._analysis_panel import AnalysisPanel, View
from landscape.widgets._code_lines import call, join_lines
from landscape.widgets._panel import (
    Chooser,
    YearsControl,
    check_period,
    checked_atlas,
    checked_names,
    show_only,
    what_control,
)
from landscape.widgets._tables import Column

if TYPE_CHECKING:
    from landscape.atlas import Atlas
    from landscape.types import Analysis

WHAT = {
    "map": "Share map of a facility",
    "ranking": "Ranked table",
    "before_after": "Before and since first light",
    "compare": "The first beside the others",
    "maps": "Small maps, one each",
    "report": "One-page report (PDF)",
}
_USUAL = 4

_REGIONS = (
    Column("label", "Region"), Column("papers", "Papers with it", "count"),
    Column("region_papers", "All papers", "count"),
    Column("share", "Share (95% interval)", "share"),
    Column("of_facility", "Of the facility's papers", "share"),
    Column("share_before", "Before first light", "share"),
    Column("rise", "Rise (points)", "points"),
)  # fmt: skip
_RANKED = (
    Column("facility", "Facility"), Column("papers", "Papers", "count"),
    Column("share", "Share of all papers", "share"),
    Column("local_share", "Share where it works", "share"),
    Column("rise", "Rise since first light (points)", "points"),
    Column("citations", "Citations", "count"),
    Column("citation_percentile", "Citation percentile", "share"),
    Column("effective_regions", "Effective regions", "number"),
    Column("outside_home", "Outside home fields", "share"),
    Column("bridging", "Bridging", "number"),
)  # fmt: skip
_ERAS = (
    Column("label", "Region"), Column("papers_before", "Papers before", "count"),
    Column("share_before", "Share before", "share"),
    Column("papers_after", "Papers since", "count"), Column("share_after", "Share since", "share"),
    Column("rise", "Rise (points)", "points"), Column("growth", "Growth of the region", "number"),
)  # fmt: skip
_COMPARED = (
    Column("said", "Measure"), Column("facility", "First"), Column("value", "Its value", "number"),
    Column("other", "Other"), Column("other_value", "Its value", "number"),
    Column("difference", "Difference (95% interval)", "number", low="low", high="high"),
    Column("probability", "Chance that the first is larger", "share"),
)  # fmt: skip
_MEASURES = {
    "papers": "papers", "share": "share of all papers", "local_share": "share where it works",
    "rise": "rise since first light", "entropy": "entropy over regions",
    "effective_regions": "effective regions", "outside_home": "share outside home fields",
    "bridging": "bridging", "citations_median": "median citations",
    "citation_percentile": "citation percentile",
}  # fmt: skip


class ImpactPanel(AnalysisPanel):
    """Choose facilities and a period, and see what they did to the literature.

    Parameters
    ----------
    atlas : Atlas
        With its layer of facilities.
    facilities : str or sequence of str, optional
        Any of their names; the most mentioned ones when not given.
    what : str, default "map"
        ``"map"``, ``"ranking"``, ``"before_after"``, ``"compare"``, ``"maps"`` or ``"report"``.
        A map, a report, and before and since are those of the first facility.
    since, until : int, optional
        First and last year, both included.
    theme : {"light", "dark"}, default "light"
        Colours of the figures.

    Examples
    --------
    >>> from landscape.widgets import ImpactPanel
    >>> ImpactPanel(atlas, facilities=["ALMA"], since=2014)  # doctest: +SKIP
    """

    def __init__(
        self,
        atlas: Atlas,
        *,
        facilities: str | Sequence[str] | None = None,
        what: str = "map",
        since: int | None = None,
        until: int | None = None,
        theme: str = "light",
    ) -> None:
        checked_atlas(atlas)
        check_period(since, until)
        given = checked_names("facilities", facilities)
        self._what = what_control(WHAT, what, self._change)
        self._chooser = Chooser(
            "Add a facility", "type a name, such as ALMA", given, on_change=self._change
        )
        self._first = widgets.Dropdown(
            description="Of", tooltip="Which of the facilities to show",
            style={"description_width": "initial"}, layout=widgets.Layout(width="170px"),
        )  # fmt: skip
        self._first.observe(lambda _: self._change(), "value")
        self._years = YearsControl(atlas, since, until, self._change)
        super().__init__(
            "Impact of facilities:", atlas, theme=theme,
            controls=[self._what, self._first, self._chooser, self._years],
        )  # fmt: skip
        with self._filled_in():
            self._suit_controls()
        self.draw()

    @property
    def selection(self) -> dict[str, Any]:
        """``facilities, what, since, until``: the facility shown first, then the others."""
        names = self._chooser.value
        first = self._first.value
        if first in names and self._what.value in ("map", "before_after", "report", "compare"):
            names = [first, *(name for name in names if name != first)]
        return {"facilities": names, "what": self._what.value, **self._years.period}

    def _list_first(self) -> None:
        names, old = self._chooser.value, self._first.value
        if tuple(names) != tuple(self._first.options):
            self._first.options = tuple(names)
            self._first.value = old if old in names else next(iter(names), None)

    def _suit_controls(self) -> None:
        self._list_first()
        what = self._what.value
        several = len(self._chooser.value) > 1
        show_only({
            self._first: several and what in ("map", "before_after", "report", "compare"),
            self._years: what != "before_after",
        })  # fmt: skip

    def _suit_atlas(self, atlas: Atlas) -> None:
        self._years.suit(atlas)

    def _prepare(self) -> dict[str, int]:
        """Papers that mention each facility, the most first."""
        pairs = self.atlas.missions[["facility", "paper_row"]].drop_duplicates()
        counts = pairs["facility"].astype(str).value_counts()
        return {str(name): int(number) for name, number in counts.items() if number}

    def _offer(self, known: dict[str, int]) -> None:
        self._chooser.offer({
            f"{name} ({number:,} {'paper' if number == 1 else 'papers'})": name
            for name, number in known.items()
        })  # fmt: skip
        if not self._chooser.value:
            self._chooser.value = list(known)[:_USUAL]
        self._suit_controls()

    def _make(self, chosen: Mapping[str, Any]) -> View:
        names = chosen["facilities"] or list(self._known)[:_USUAL]
        if not names:
            raise InputError("This corpus mentions no facility, so there is no impact to show.")
        period = {"since": chosen["since"], "until": chosen["until"]}
        makers = {
            "map": self._share_map, "ranking": self._ranking, "before_after": self._eras,
            "compare": self._comparison, "maps": self._small_maps, "report": self._report,
        }  # fmt: skip
        return makers[chosen["what"]](names, period)

    def _measure(self, names: Sequence[str], period: Mapping[str, Any]) -> Analysis:
        from landscape.overlays.missions import impact

        return impact(self.atlas, names, **period)

    def _share_map(self, names: Sequence[str], period: Mapping[str, Any]) -> View:
        from landscape.figures._impact import draw_impact

        name = names[0]
        found = self._measure([name], period)
        page = draw_impact(self.atlas, found, colours=self.theme, **period)
        return self._view_of(
            found, _REGIONS, page, f"{_file_stem(name)}-share",
            call("ls.overlays.missions.impact", [name], **period), "impact",
            table=_regions_with_papers(found), facilities=[name], **period,
        )  # fmt: skip

    def _ranking(self, names: Sequence[str], period: Mapping[str, Any]) -> View:
        asked = call("ls.overlays.missions.impact", names, **period)
        found = self._measure(names, period)
        return self._chart("facilities", found, _RANKED, "facilities", asked, names, **period)

    def _eras(self, names: Sequence[str], _period: Mapping[str, Any]) -> View:
        from landscape.overlays.missions import before_after

        name = names[0]
        asked = call("ls.overlays.missions.before_after", name)
        return self._chart(
            "before_after", before_after(self.atlas, name), _ERAS,
            f"{_file_stem(name)}-before-after", asked, name,
        )  # fmt: skip

    def _comparison(self, names: Sequence[str], period: Mapping[str, Any]) -> View:
        from landscape.overlays.missions import compare_facilities

        found = compare_facilities(self.atlas, names, **period)
        table = found.table.assign(said=found.table["measure"].map(_MEASURES))
        asked = call("ls.overlays.missions.compare_facilities", names, **period)
        return self._chart(
            "compare_facilities", found, _COMPARED, f"{_file_stem(names[0])}-compared", asked,
            names, table=table, **period,
        )  # fmt: skip

    def _small_maps(self, names: Sequence[str], period: Mapping[str, Any]) -> View:
        from landscape import figures

        found = self._measure(names, period)
        options = {"facilities": list(names), "multiples": True, **period}
        page = figures.impact(self.atlas, **options, colours=self.theme)
        code = join_lines(
            f"found = {call('ls.overlays.missions.impact', names, **period)}",
            f"page = {call('ls.figures.impact', **options, colours=self._colours)}",
        )
        return View(found, found.table, _RANKED, page, code, lambda: page, "facilities-maps")

    def _report(self, names: Sequence[str], period: Mapping[str, Any]) -> View:
        from landscape.figures._report import draw_report

        name, stem = names[0], f"{_file_stem(names[0])}-report"
        found = self._measure([name], period)
        page = draw_report(self.atlas, name, **period, colours=self.theme)
        drawn = call("ls.figures.report", name, f"{stem}.pdf", **period, colours=self._colours)
        code = join_lines(
            f"found = {call('ls.overlays.missions.impact', [name], **period)}", f"page = {drawn}"
        )
        table = _regions_with_papers(found)
        return View(found, table, _REGIONS, page, code, lambda: page, stem)


def _regions_with_papers(found: Analysis) -> Any:
    """Regions with papers of the facility, the largest share first."""
    regions = found.tables["regions"]
    return regions[regions["papers"] > 0].sort_values(
        "shrunk_share", ascending=False, ignore_index=True
    )


def _file_stem(name: str) -> str:
    """Turn a name into the stem of a file name."""
    return "".join(sign if sign.isalnum() else "-" for sign in name.lower()).strip("-") or "it"
