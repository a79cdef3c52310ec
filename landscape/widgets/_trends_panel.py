"""The panel of trends, of the path of an author, and of comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from landscape.atlas import Atlas

from collections.abc import Mapping
from typing import Any

import ipywidgets as widgets

from landscape.errors import InputError
from landscape.search._settings import readable_text
from landscape.widgets._analysis_panel import AnalysisPanel, View
from landscape.widgets._code_lines import call
from landscape.widgets._panel import (
    YearsControl,
    check_period,
    checked_atlas,
    show_only,
    what_control,
)
from landscape.widgets._tables import Column, table_html

WHAT = {
    "topics": "Topics that rise and fall", "author": "An author's path",
    "compare": "Two selections compared", "countries": "Countries",
    "institutions": "Institutions",
}  # fmt: skip
_MOST_NAMES = 400
_TOPICS = (
    Column("label", "Region"), Column("class", "Course"), Column("papers", "Papers", "count"),
    Column("share", "Share of all", "share"),
    Column("slope", "Change of the log odds a year (95% interval)", "number"),
    Column("q", "False discovery rate", "number"), Column("change_years", "Turned in", "list"),
)  # fmt: skip
_AUTHOR = (
    Column("year", "Year", "year"), Column("title", "Title"), Column("label", "Region"),
    Column("affiliation", "Affiliation"), Column("n_authors", "Authors", "count"),
    Column("group", "Group", "count"), Column("step", "Step from the paper before", "number"),
)  # fmt: skip
_SUMMARY = (
    Column("measure", "Measure"),
    Column("value", "Value (95% interval)", "number", low="low", high="high"),
    Column("note", "What it is"),
)  # fmt: skip
_COMPARED = (
    Column("label", "Region"), Column("said", "More in"),
    Column("a_papers", "Papers of a", "count"),
    Column("b_papers", "Papers of b", "count"), Column("a_share", "Share of a", "share"),
    Column("b_share", "Share of b", "share"),
    Column("odds_ratio", "Odds ratio (95% interval)", "number"),
    Column("q", "False discovery rate", "number"),
)  # fmt: skip
_PLACES = (
    Column("country", "Country"), Column("institution", "Institution"),
    Column("papers", "Papers", "count"), Column("fractional", "Fractional count", "count"),
    Column("share", "Share (95% interval)", "share"),
    Column("effective_regions", "Effective regions", "number"),
    Column("main_region", "Most in"),
)  # fmt: skip


class TrendsPanel(AnalysisPanel):
    """Follow topics and authors in time, and compare two selections of papers.

    Parameters
    ----------
    atlas : Atlas
    what : str, default "topics"
        ``"topics"``, ``"author"``, ``"compare"``, ``"countries"`` or ``"institutions"``.
    since, until : int, optional
        First and last year of the topics.
    author : str, default ""
        ``"Family, Given"``.
    a, b : str
        Filters of the two selections, such as ``"facility:HST"`` and ``"2015.."``; see
        `landscape.search._filters`. By default the earlier and the later half of the years.
    theme : {"light", "dark"}, default "light"
        Colours of the figures.

    Examples
    --------
    >>> from landscape.widgets import TrendsPanel
    >>> TrendsPanel(atlas, what="compare", a="facility:HST", b="facility:JWST")  # doctest: +SKIP
    """

    def __init__(
        self,
        atlas: Atlas,
        *,
        what: str = "topics",
        since: int | None = None,
        until: int | None = None,
        author: str = "",
        a: str = "",
        b: str = "",
        theme: str = "light",
    ) -> None:
        checked_atlas(atlas)
        check_period(since, until)
        for name, text in (("author", author), ("a", a), ("b", b)):
            readable_text(name, text)
        self._what = what_control(WHAT, what, self._change)
        self._years = YearsControl(atlas, since, until, self._change)
        middle = sum(self._years.corpus) // 2
        self._author = _field(
            widgets.Combobox, "Author", author, "Family, Given", self._change, ensure_option=False
        )
        self._a = _field(widgets.Text, "Selection a", a or f"..{middle}", "a filter", self._change)
        self._b = _field(
            widgets.Text, "Selection b", b or f"{middle + 1}..", "a filter", self._change
        )
        self._hint = widgets.HTML(
            "<span class='landscape-quiet'>Filters as in search: <code>2015..</code>, "
            "<code>facility:ALMA</code>, <code>author:Rubin</code>, "
            "<code>concept:Exoplanets</code>, <code>-review</code>; join them with "
            "<code>;</code></span>"
        )
        super().__init__(
            "Trends, authors, comparisons:", atlas, theme=theme,
            controls=[self._what, self._years, self._author, self._a, self._b, self._hint],
        )  # fmt: skip
        self._suit_controls()
        self.draw()

    @property
    def selection(self) -> dict[str, Any]:
        """``what, since, until, author, a, b``."""
        return {
            "what": self._what.value, **self._years.period, "author": self._author.value.strip(),
            "a": self._a.value.strip(), "b": self._b.value.strip(),
        }  # fmt: skip

    def _suit_controls(self) -> None:
        what = self._what.value
        compared = what == "compare"
        show_only({
            self._years: what == "topics", self._author: what == "author",
            self._a: compared, self._b: compared, self._hint: compared,
        })  # fmt: skip

    def _suit_atlas(self, atlas: Atlas) -> None:
        self._years.suit(atlas)

    def _prepare(self) -> list[str]:
        """Authors of many papers, to choose from."""
        authors = self.atlas.read_papers(["authors"])["authors"].explode().dropna()
        return [str(name) for name in authors.value_counts().head(_MOST_NAMES).index if "," in name]

    def _offer(self, known: list[str]) -> None:
        self._author.options = tuple(known)

    def _make(self, chosen: Mapping[str, Any]) -> View:
        if chosen["what"] == "author":
            return self._path(chosen["author"])
        if chosen["what"] == "compare":
            return self._comparison(chosen["a"], chosen["b"])
        if chosen["what"] == "topics":
            return self._topics({"since": chosen["since"], "until": chosen["until"]})
        return self._places(chosen["what"])

    def _topics(self, period: Mapping[str, Any]) -> View:
        from landscape.figures._trends import draw_trends
        from landscape.overlays.trends import trends

        found = trends(self.atlas, **period)
        page = draw_trends(found, colours=self.theme)
        asked = call("ls.overlays.trends.trends", **period)
        table = _changing_first(found.table)
        return self._view_of(found, _TOPICS, page, "trends", asked, "trends", table=table, **period)

    def _path(self, name: str) -> View:
        from landscape.figures._author import draw_author
        from landscape.overlays.trends import author_path

        if not name:
            raise InputError('Whose path? Write an author\'s name, such as "Rubin, Vera".')
        found = author_path(self.atlas, name)
        page = draw_author(self.atlas, found, colours=self.theme)
        asked = call("ls.overlays.trends.author_path", name)
        return self._view_of(found, _AUTHOR, page, "author", asked, "author", name)

    def _comparison(self, a: str, b: str) -> View:
        from landscape.figures._compare import draw_comparison
        from landscape.overlays.trends import compare

        if not (a and b):
            raise InputError(
                "Write a filter for each of the two selections, such as 2015.. or -review."
            )
        found = compare(self.atlas, a, b)
        page = draw_comparison(self.atlas, found, colours=self.theme)
        table = found.table.assign(said=found.table["over_in"].map({"a": a, "b": b}).fillna(""))
        asked = call("ls.overlays.trends.compare", a, b)
        return self._view_of(
            found, _COMPARED, page, "comparison", asked, "compare", a, b, table=table
        )

    def _places(self, kind: str) -> View:
        from landscape.overlays.trends import countries, institutions

        found = (countries if kind == "countries" else institutions)(self.atlas)
        columns = _PLACES if kind == "countries" else (_PLACES[1], _PLACES[0], *_PLACES[2:])
        return self._chart(kind, found, columns, kind, call(f"ls.overlays.trends.{kind}"))

    def _put_beside(self, view: View) -> list[widgets.Widget]:
        if view.analysis.kind != "author":
            return []
        summary = view.analysis.tables["summary"]
        return [widgets.HTML(table_html(summary, _SUMMARY, about="Spread and moves"))]


def _changing_first(table: Any) -> Any:
    """Put rising and falling topics before the steady ones."""
    order = table["class"].map({"emerging": 0, "fading": 1}).fillna(2)
    return table.iloc[order.argsort(kind="stable")].reset_index(drop=True)


def _field(
    kind: Any, description: str, value: str, placeholder: str, on_change: Any, **options: Any
) -> Any:
    """A field that reports a change when the user leaves it or presses Enter."""
    field = kind(
        value=value, description=description, placeholder=placeholder, continuous_update=False,
        tooltip=f"{description}: {placeholder}", style={"description_width": "initial"},
        layout=widgets.Layout(width="250px"), **options,
    )  # fmt: skip
    field.observe(lambda _: on_change(), "value")
    return field
