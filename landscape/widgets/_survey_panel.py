"""The settings of a survey: how far it goes, and what it may cost."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape._io import check_output, write_output
from landscape._render import escape
from landscape._serializer import to_json
from landscape._wording import count
from landscape.agents._survey_settings import SurveySettings, survey_settings
from landscape.errors import InputError, LandscapeError
from landscape.search._settings import readable_text
from landscape.types import Hit
from landscape.widgets._agent_panel import (
    AgentRun,
    ScholarPanel,
    grid,
    main_button,
    model_option,
    needed,
    notes_html,
    partial_html,
    text_box,
)
from landscape.widgets._code_lines import called, connecting, join_lines
from landscape.widgets._figure_view import SheetView, download_link
from landscape.widgets._tables import Column, Item, PaperList, table_html

if TYPE_CHECKING:
    import pandas as pd

    from landscape.atlas import Atlas
    from landscape.types import Crawled, Survey
    from landscape.widgets._connection import Connection

_DEFAULT = SurveySettings()
_STYLE = {"description_width": "110px"}
_FULL = {"width": "calc(100% - 6px)"}
_BETWEEN = re.compile(r"[,;\s]+")
_BOXES = ("tokens", "money", "prices", "threshold")


class SurveyControls(widgets.VBox):
    """Everything that decides how a survey works."""

    def __init__(self) -> None:
        self._rest: dict[str, Any] = {}
        self._sliders = {
            "depth": _slider("Depth", 1, 6, "Levels: 1 only searches, 3 follows citations twice"),
            "breadth": _slider("Breadth", 1, 20, "Searches made of the question, at most"),
        }
        self._numbers = {
            "papers": _number("Papers", 2_000, "Papers judged and listed, at most"),
            "expand": _number("Followed", 200, "Papers whose citations are followed in one level"),
            "calls": _number("Requests", 100_000, "Requests to the language model, at most"),
        }
        self._sliders["depth"].value = _DEFAULT.depth
        self._sliders["breadth"].value = _DEFAULT.breadth
        for name, box in self._numbers.items():
            box.value = getattr(_DEFAULT, name)
        self._before = text_box(
            "Before", "such as 2019-06", "Only papers that appeared before this day, month or year"
        )
        self._seeds = text_box(
            "More like", "bibcodes, arXiv identifiers or DOIs", "Papers to begin from"
        )
        self._boxes = {
            "tokens": text_box("Tokens", "no limit", "Tokens of the language model, at most"),
            "money": text_box("Money", "no limit", "Money spent on the language model, at most"),
            "prices": text_box(
                "Prices", "such as 0.15, 0.6",
                "Prices of a million tokens read and of a million written",
            ),
            "threshold": text_box(
                "Selected from", "calibrated",
                "Score from which a paper is selected without a language model; 1 is as good as "
                "the best ten",
            ),
        }  # fmt: skip
        reset = widgets.Button(
            description="As usual", icon="undo", tooltip="All settings as they were at first",
            layout=widgets.Layout(width="120px"),
        )  # fmt: skip
        reset.on_click(lambda _: self.put({}))
        numbers, sliders, boxes = self._numbers, self._sliders, self._boxes
        super().__init__(
            [
                _headed("How far", [*sliders.values(), numbers["papers"], numbers["expand"],
                                    self._before, self._seeds, boxes["threshold"]]),
                _headed("Budget of the language model", [numbers["calls"], boxes["tokens"],
                                                         boxes["money"], boxes["prices"]]),
                reset,
            ]
        )  # fmt: skip

    def given(self) -> dict[str, Any]:
        """Settings that differ from the usual ones, for `Atlas.survey`."""
        given: dict[str, Any] = {name: one.value for name, one in self._sliders.items()}
        given |= {name: one.value for name, one in self._numbers.items()}
        given["before"] = self._before.value.strip() or None
        given["seeds"] = [one for one in _BETWEEN.split(self._seeds.value) if one]
        given["tokens"] = _read(self._boxes["tokens"], int, "a whole number")
        given["money"] = _read(self._boxes["money"], float, "a number")
        given["threshold"] = _read(self._boxes["threshold"], float, "a number from 0 to 1")
        given["prices"] = _read(self._boxes["prices"], _pair, "two numbers, such as 0.15, 0.6")
        settings = survey_settings(**given, **self._rest)
        usual = _DEFAULT.to_dict()
        return {
            name: given.get(name, self._rest.get(name))
            for name, value in settings.to_dict().items()
            if value != usual[name]
        }

    def put(self, settings: Mapping[str, Any]) -> None:
        """Set the controls; what is not named is as usual."""
        checked = survey_settings(**dict(settings))
        for name, one in (*self._sliders.items(), *self._numbers.items()):
            one.value = getattr(checked, name)
        self._before.value = checked.before or ""
        self._seeds.value = ", ".join(checked.seeds)
        for name in _BOXES:
            value = getattr(checked, name)
            shown = ", ".join(map(str, value)) if isinstance(value, tuple) else value
            self._boxes[name].value = "" if value is None else str(shown)
        shown_here = {*self._sliders, *self._numbers, *_BOXES, "before", "seeds"}
        self._rest = {name: value for name, value in settings.items() if name not in shown_here}

    def summary(self, *, with_model: bool) -> str:
        """How a survey would go now, in a line."""
        settings = survey_settings(**self.given())
        n = len(self.given())
        follow = f"citations followed in up to {settings.depth - 1} further levels"
        levels = "no citations followed" if settings.depth == 1 or not settings.expand else follow
        calls = f", at most {count(settings.calls, 'request')}" if with_model else ""
        who = f"{n} setting{'s' if n > 1 else ''} chosen" if n else "as usual"
        return (
            f"up to {count_searches(settings.breadth)}, {levels}, up to "
            f"{count(settings.papers, 'paper')} judged{calls} ({who})"
        )


def count_searches(number: int) -> str:
    """A number of searches in words."""
    return f"{number:,} search{'' if number == 1 else 'es'}"


def _slider(label: str, least: int, most: int, meaning: str) -> widgets.IntSlider:
    return widgets.IntSlider(
        min=least, max=most, description=label, tooltip=meaning, continuous_update=False,
        style=_STYLE, layout=widgets.Layout(**_FULL),
    )  # fmt: skip


def _number(label: str, most: int, meaning: str) -> widgets.BoundedIntText:
    return widgets.BoundedIntText(
        min=0 if label == "Followed" else 1, max=most, description=label, tooltip=meaning,
        style=_STYLE, layout=widgets.Layout(**_FULL),
    )  # fmt: skip


def _headed(title: str, controls: list[widgets.Widget]) -> widgets.VBox:
    heading = widgets.HTML(f"<div class='landscape-group'>{title}</div>")
    return widgets.VBox([heading, grid(controls)])


def _read(box: widgets.Text, kind: Any, what: str) -> Any:
    typed = box.value.strip()
    if not typed:
        return None
    try:
        return kind(typed)
    except ValueError as error:
        raise InputError(f"{box.description} is {typed!r}; give {what}, or nothing.") from error


def _pair(typed: str) -> tuple[float, float]:
    first, second = typed.split(",")
    return float(first), float(second)


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
            return to_json(self._survey)
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
    text = (
        "Partial: the survey was ended before it was done. What it had found until then is below."
    )
    partial = partial_html(text) if survey.partial else ""
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
    notes = notes_html(survey.notes, tag="p")
    beyond = "".join(
        f"<li>{escape(one.title or one.paper_id)} <span class='landscape-quiet'>"
        f"({escape(one.paper_id)}, cited by {one.score:.0f})</span></li>"
        for one in survey.beyond
    )
    heading = count_searches(len(survey.searches))
    more = f"<h4>Cited by several of these, and not in the atlas</h4><ul>{beyond}</ul>"
    settings = {name: value for name, value in dict(survey.settings).items() if value is not None}
    chosen = "; ".join(f"{name} {_said(value)}" for name, value in settings.items() if value != [])
    return (
        f"<div class='landscape-results tex2jax_ignore mathjax_ignore'>{notes}"
        f"<h4>{heading}</h4><ol>{searches}</ol>{more if beyond else ''}"
        f"<h4>Settings</h4><p class='landscape-quiet'>{escape(chosen)}</p>"
        f"<p class='landscape-quiet'>{escape(survey.coverage.summary)}</p></div>"
    )


def _said(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


_WITHOUT_MODEL = (
    "searches are parts of the question, and papers are judged by similarity and citations. With "
    "one, it makes the searches, judges each paper, and says why."
)
_NEW = re.compile(r"([\d,]+) new\b")
_SELECTED_survey = re.compile(r"([\d,]+) selected so far")


class SurveyPanel(ScholarPanel):
    """Survey a question as a scholar does: search, select, follow citations, and again.

    Parameters
    ----------
    atlas : Atlas
    connection : Connection, optional
        Which language model judges; by default the one that the environment names, if any.
    question : str, optional
        What stands in the box at first.
    **settings
        Of `Atlas.survey`, such as ``depth``, ``papers`` and ``before``.

    Attributes
    ----------
    value : Survey or None
        The survey shown.
    selection : pandas.DataFrame or None
        The papers that are ticked; all selected ones while none is.
    code : str
        Lines that give the same survey.

    Raises
    ------
    InputError
        For a setting that is none, or a value that cannot be.

    Examples
    --------
    >>> import landscape as ls
    >>> panel = SurveyPanel(ls.open("my.atlas"), depth=2)  # doctest: +SKIP
    >>> panel.survey("How do winds strip massive stars?")  # doctest: +SKIP
    >>> panel.wait(), panel.value.table  # doctest: +SKIP
    """

    def __init__(
        self, atlas: Atlas, *, connection: Connection | None = None, question: str = "",
        **settings: Any,
    ) -> None:  # fmt: skip
        readable_text("question", question)
        super().__init__("Survey", atlas, connection=connection, without_model=_WITHOUT_MODEL)
        self.controls = SurveyControls()
        self.controls.put(settings)
        self._view = SurveyView()
        self._question = widgets.Text(
            value=question, placeholder="What should be surveyed? Press Enter to begin",
            tooltip="The question", layout=widgets.Layout(flex="1 1 auto", width="auto"),
        )  # fmt: skip
        self._question.add_class("landscape-ask-question")
        self._button = main_button("Survey", "sitemap", "Survey this question")
        self._go_on = widgets.Button(
            description="Go on from here", icon="play", layout=widgets.Layout(width="170px"),
            tooltip="Survey the same to its end; the model is asked nothing twice",
        )  # fmt: skip
        self._like = widgets.Button(
            description="More like the ticked papers", icon="leaf",
            tooltip="Survey the question again, beginning from the papers that are ticked",
            layout=widgets.Layout(width="230px"),
        )  # fmt: skip
        self._next = widgets.HBox([self._go_on, self._like])
        self._next.layout.display = "none"
        self._plan = widgets.HTML()
        self._button.on_click(lambda _: self._soon(self.survey))
        self._go_on.on_click(lambda _: self._try(self.go_on))
        self._like.on_click(lambda _: self._try(self._more_like_these))
        self._on_enter(self._question, self.survey)
        self._lay_out(
            asking=[widgets.HBox([self._question, self._button]), self._plan],
            folds={"Settings": self.controls},
            found=[self._view, self._next],
        )
        self._folds.observe(lambda _: self._show_plan(), "selected_index")
        self._show_plan()

    def __repr__(self) -> str:
        found = (
            "nothing surveyed yet"
            if self.value is None
            else f"{count(len(self.value), 'paper')} found"
        )
        return f"<SurveyPanel: {self._atlas.title}, {found}>"

    @property
    def value(self) -> Survey | None:
        """The survey shown; None before the first."""
        return self._view.survey

    @property
    def selection(self) -> pd.DataFrame | None:
        """The papers that are ticked, or all selected ones while none is."""
        return self._view.selection

    def survey(self, question: str | None = None, **settings: Any) -> None:
        """Survey in the background; `wait` for it, then it is the panel's `value`.

        Parameters
        ----------
        question : str, optional
            Default: what stands in the box.
        **settings
            Of `Atlas.survey`; where any is given, they take the place of those on the page.

        Raises
        ------
        InputError
            For an empty question, or a setting that cannot be.
        """
        if settings:
            self.controls.put(settings)
        if question is not None:
            self._question.value = question
        asked = needed(self._question.value, what="The question")
        self._start(asked, self.controls.given())

    def go_on(self) -> None:
        """Go on with a survey that was ended before it was done.

        Raises
        ------
        InputError
            If there is none.
        """
        if self.value is None or not self.value.partial:
            raise InputError("There is no partial survey to go on with.")
        given = self.controls.given()
        self._question.value = self.value.question
        self._start(self.value.question, given)

    def save(self, path: str | Path) -> Path:
        """Write the survey shown into a file.

        Parameters
        ----------
        path : path
            Ends in ``.csv``, ``.bib`` (the papers of `selection`), ``.md`` or ``.json``.

        Returns
        -------
        pathlib.Path

        Raises
        ------
        InputError
            For another ending, before the first survey, or where it cannot be written.
        """
        target = check_output(path, FILES, what="A survey")
        if self.value is None:
            raise InputError("There is no survey to save yet; survey a question first.")
        return write_output(target, self._view.file(target.suffix.lower()))

    # -- steps

    def _start(self, question: str, given: dict[str, Any]) -> None:
        atlas = self._atlas

        def work(run: AgentRun) -> tuple[Survey, str | None]:
            name = run.model_name
            journal = None if name is None else _journal(atlas, question, given, name)
            found = atlas.survey(
                question, model=run.model, on_step=run.step, stop=run.is_stopped,
                resume=journal, **given,
            )  # fmt: skip
            return found, name

        self._begin("Surveying", work, lambda made: self._show(*made, given, atlas), unit="steps")

    def _show(self, found: Survey, model: str | None, given: dict[str, Any], atlas: Atlas) -> None:
        self._view.show(found, atlas)
        self._next.layout.display = ""
        self._go_on.layout.display = "" if found.partial else "none"
        whole = "  # what is shown was ended before it was done" if found.partial else ""
        asked = called("atlas.survey", found.question, **given, **model_option(model))
        self.code = join_lines(
            connecting(self.connection, model),
            f"survey = {asked}{whole}",
            f"tree = ls.figures.survey_tree(survey, most={DRAWN}, size_inches={SIZE})",
            "on_map = ls.figures.survey_map(atlas, survey)",
        )
        self._show_plan()

    def _more_like_these(self) -> None:
        chosen = self._view.papers.chosen
        if not chosen:
            raise InputError("No paper is ticked; tick those to begin from.")
        self.survey(**{**self.controls.given(), "seeds": list(chosen)})

    def _so_far(self, steps: list[str]) -> str:
        found = sum(int(n.replace(",", "")) for step in steps for n in _NEW.findall(step))
        chosen = [n for step in steps for n in _SELECTED_survey.findall(step)]
        selected = f", {chosen[-1]} of them selected" if chosen else ""
        return f"{count(found, 'paper')} found so far{selected}"

    def _show_plan(self) -> None:
        try:
            plan = f"Would be: {self.controls.summary(with_model=self.connection.is_told)}."
        except LandscapeError as error:
            plan = str(error)
        self._plan.value = f"<span class='landscape-quiet'>{escape(plan)}</span>"


def _journal(atlas: Atlas, question: str, given: dict[str, Any], model: str) -> Path | None:
    """The file that keeps the model's replies of this very survey; None where none can be kept."""
    from landscape.agents._survey_settings import survey_settings
    from landscape.llm._budget import default_cache_folder

    work = survey_settings(**given).without_costs()
    key = json.dumps([question, work, str(atlas.path), atlas.manifest.updated, model])
    path = (
        default_cache_folder()
        / "surveys"
        / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.jsonl"
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(exist_ok=False)
        path.unlink()
    except FileExistsError:
        return path
    except OSError:
        return None
    return path
