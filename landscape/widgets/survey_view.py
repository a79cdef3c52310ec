"""A survey with all that belongs to it, in tabs: papers, tree, map, table, searches, files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape._render import escape
from landscape._wording import count
from landscape.agents.survey.files import as_json
from landscape.types import Hit
from landscape.widgets.export import download_link
from landscape.widgets.paper_list import Item, PaperList
from landscape.widgets.scholar_panel import without_the_word_failed
from landscape.widgets.sheet_view import SheetView
from landscape.widgets.survey_controls import count_searches
from landscape.widgets.table_view import Column, table_html

if TYPE_CHECKING:
    import pandas as pd

    from landscape.atlas import Atlas as Atlas
    from landscape.types import Crawled, Survey

_TITLES = ("Papers", "Who led to whom", "Map", "Table", "How it was found", "Save")
_TREE, _MAP, _SAVE = 1, 2, 5
_SELECTED, _LEFT_OUT, _ALL = "selected", "left out", "all that were judged"
_COLUMNS = (
    Column("decision", "Decision"),
    Column("score", "Score", "number"),
    Column("title", "Title"),
    Column("year", "Year", "year"),
    Column("reason", "Reason"),
    Column("led", "Found"),
)
DRAWN = 36
"""Papers of the tree: with more, their names are too small to read in a notebook's cell."""
SIZE = (7.5, 9.0)
"""Inches of the tree: its letters are large enough on a page of 800 pixels."""
FILES = {
    ".csv": "Every paper judged (CSV)",
    ".bib": "Selected papers (BibTeX)",
    ".md": "Papers and searches (Markdown)",
    ".json": "Everything (JSON)",
}
"""What can be saved, by the ending of the file's name."""


class SurveyView(widgets.VBox):
    """Draws one survey at a time; tree and map only once somebody looks at them."""

    def __init__(self) -> None:
        self._survey: Survey | None = None
        self._head = widgets.HTML()
        self._which = widgets.Dropdown(
            options=[_SELECTED, _LEFT_OUT, _ALL], description="Papers",
            tooltip="Which papers are listed",
            style={"description_width": "50px"}, layout=widgets.Layout(width="270px"),
        )  # fmt: skip
        self._which.observe(lambda _: self._list(), "value")
        self.papers = PaperList()
        self.tree, self.map = SheetView("tree"), SheetView("map")
        self._table, self._method, self._files = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self.tabs = widgets.Tab(
            children=[
                widgets.VBox([self._which, self.papers]), self.tree, self.map,
                self._table, self._method, self._files,
            ],
            titles=_TITLES,
        )  # fmt: skip
        self.tabs.observe(lambda _: self._draw_when_seen(), "selected_index")
        super().__init__([self._head, self.tabs])
        self.layout.display = "none"

    @property
    def survey(self) -> Survey | None:
        """What is shown."""
        return self._survey

    @property
    def selection(self) -> pd.DataFrame | None:
        """Rows of the papers that are ticked; of all selected ones while none is."""
        if self._survey is None:
            return None
        table = self._survey.table
        chosen = self.papers.chosen
        rows = table["paper_id"].isin(chosen) if chosen else table["selected"]
        return table[rows].reset_index(drop=True)

    def show(self, survey: Survey, atlas: Atlas) -> None:
        """Draw a survey in place of the one before."""
        from landscape import figures

        self._survey = survey
        self._head.value = _head(survey)
        self._which.value = _SELECTED if survey.selected else _ALL
        self._list()
        self.tree.show(
            lambda colours: figures.survey_tree(
                survey, most=DRAWN, size_inches=SIZE, colours=colours
            )
        )
        self.map.show(lambda colours: figures.survey_map(atlas, survey, colours=colours))
        self._table.value = _table(survey)
        self._method.value = _method(survey)
        self._files.value = ""
        self.tabs.set_title(0, f"Papers ({len(survey)})")
        self.layout.display = ""
        self._draw_when_seen()

    def file(self, ending: str) -> str:
        """Write the survey as ``.csv``, ``.bib``, ``.md`` or ``.json``; ticked papers as BibTeX."""
        from landscape._bibliography import to_bibtex

        assert self._survey is not None  # noqa: S101 - there are no files before the first survey
        if ending == ".csv":
            return self._survey.to_csv()
        if ending == ".md":
            return self._survey.to_markdown()
        if ending == ".json":
            return as_json(self._survey)
        chosen = set(self.papers.chosen)
        if not chosen:
            return self._survey.to_bibtex()
        return to_bibtex([one.paper for one in self._survey.crawled if one.key in chosen])

    def _draw_when_seen(self) -> None:
        seen = self.tabs.selected_index
        if self._survey is None:
            return
        if seen == _TREE:
            self.tree.look()
        elif seen == _MAP:
            self.map.look()
        elif seen == _SAVE:
            self._offer_files()  # each time: other papers may be ticked

    def _offer_files(self) -> None:
        links = " ".join(
            download_link(f"survey{ending}", self.file(ending), text=text)
            for ending, text in FILES.items()
        )
        n = len(self.papers.chosen)
        which = f"the {n} ticked" if n else "all selected; tick some to save only these"
        self._files.value = (
            f"<p>{links}</p><p class='landscape-quiet'>BibTeX: {which}. In code: "
            '<code>panel.save("survey.csv")</code>; the tree for print: '
            "<code>ls.figures.survey_tree(panel.value)</code>.</p>"
        )

    def _list(self) -> None:
        if self._survey is None:
            return
        wanted = {_SELECTED: (True,), _LEFT_OUT: (False,), _ALL: (True, False)}[self._which.value]
        self.papers.show(
            [
                Item(one.key, f"{rank}.", one.paper.title, _paper(self._survey, one, rank))
                for rank, one in enumerate(self._survey.crawled, start=1)
                if one.selected in wanted
            ]
        )  # fmt: skip


def _head(survey: Survey) -> str:
    spent = survey.spent
    cost = (
        f", {count(spent.calls, 'request')} ({count(spent.tokens, 'token')})" if spent.calls else ""
    )
    money = f", {spent.money:.4f} in money" if spent.money else ""
    judges = sorted({one.judged_by for one in survey.crawled})
    by = f" by {' and '.join(judges)}" if judges else ""
    asked = count_searches(len(survey.searches))
    facts = f"{survey.counts}{by}, {asked}{cost}{money}, {spent.seconds:.1f} s"
    partial = (
        "<div class='landscape-partial'>Partial: the survey was ended before it was done. What it "
        "had found until then is below.</div>"
        if survey.partial
        else ""
    )
    generated = (
        "<div class='landscape-quiet'>The corpus is generated: nothing here is a finding about "
        "the sky.</div>"
        if survey.coverage.generated
        else ""
    )
    return (
        f"<div class='landscape-asked tex2jax_ignore mathjax_ignore'>{escape(survey.question)}"
        f"</div><div class='landscape-quiet'>{escape(facts)}</div>{partial}{generated}"
    )


def _paper(survey: Survey, one: Crawled, rank: int) -> str:
    decision = "selected" if one.selected else "left out"
    score = "" if one.judged_by == "similarity" else f", {one.score:.2f}"
    return (
        f"{Hit(rank, one.paper, one.score).to_html()}"
        f"<div class='landscape-quiet'><span class='landscape-verdict'>{decision}"
        f"{score}.</span> {escape(one.reason)} Found {escape(survey.origin_of(one))}.</div>"
    )


def _table(survey: Survey) -> str:
    table = survey.table
    table["decision"] = ["selected" if one else "left out" for one in table["selected"]]
    table["led"] = [survey.origin_of(one) for one in survey.crawled]
    return table_html(table, _COLUMNS, about="Papers judged")


def _method(survey: Survey) -> str:
    searches = "".join(
        f"<li>{escape(asked.text)} <span class='landscape-quiet'>(by {escape(asked.by)}: "
        f"{count(asked.found, 'paper')}, {asked.new:,} new)</span></li>"
        for asked in survey.searches
    )
    notes = "".join(
        f"<p class='landscape-quiet'>{escape(without_the_word_failed(note))}</p>"
        for note in survey.notes
    )
    beyond = "".join(
        f"<li>{escape(one.title or one.paper_id)} <span class='landscape-quiet'>"
        f"({escape(one.paper_id)}, cited by {one.score:.0f})</span></li>"
        for one in survey.beyond
    )
    heading = count_searches(len(survey.searches))
    more = f"<h4>Cited by several of these, and not in the atlas</h4><ul>{beyond}</ul>"
    settings = {name: value for name, value in dict(survey.settings).items() if value is not None}
    told = "; ".join(f"{name} {_said(value)}" for name, value in settings.items() if value != [])
    return (
        f"<div class='landscape-results tex2jax_ignore mathjax_ignore'>{notes}"
        f"<h4>{heading}</h4><ol>{searches}</ol>{more if beyond else ''}"
        f"<h4>Settings</h4><p class='landscape-quiet'>{escape(told)}</p>"
        f"<p class='landscape-quiet'>{escape(survey.coverage.summary)}</p></div>"
    )


def _said(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
