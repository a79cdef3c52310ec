"""The panel that surveys a question: settings, budget, papers, citation tree, map and files."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape._render import render
from landscape._wording import count
from landscape.agents.settings import SurveySettings
from landscape.errors import InputError, LandscapeError
from landscape.search.settings import readable_text
from landscape.types import Hit, Survey
from landscape.widgets._agent_panel import (
    AgentRun,
    QueryPanel,
    ResultTabs,
    clean_notes,
    model_option,
    needed,
)
from landscape.widgets._code_lines import called, connecting, join_lines
from landscape.widgets._controls import (
    Parsers,
    fill_fields,
    group,
    make_control,
    make_fields,
    quiet_html,
    read_fields,
)
from landscape.widgets._figure_view import SheetView
from landscape.widgets._tables import Item, PaperList, table_html

if TYPE_CHECKING:
    from landscape.atlas import Atlas
    from landscape.widgets._agent_panel import Listed
    from landscape.widgets._connection import Connection

_DEFAULTS = SurveySettings().to_dict()


def _prices(typed: str) -> tuple[float, float]:
    first, second = typed.split(",")
    return float(first), float(second)


_PARSERS: Parsers = {
    "seeds": (lambda typed: [one for one in re.split(r"[,;\s]+", typed) if one], "names"),
    "tokens": (int, "a whole number"),
    "money": (float, "a number"),
    "threshold": (float, "a number from 0 to 1"),
    "prices": (_prices, "two numbers, such as 0.15, 0.6"),
}


_GROUPS = {
    "Scope": {
        "depth": "Depth",
        "breadth": "Breadth",
        "papers": "Papers",
        "expand": "Followed",
        "before": "Before",
        "seeds": "More like",
        "threshold": "Selected from",
    },
    "Budget of the language model": {
        "calls": "Requests",
        "tokens": "Tokens",
        "money": "Money",
        "prices": "Prices",
    },
}


class SurveyControls(widgets.VBox):
    """Settings of a survey and its budget."""

    def __init__(self) -> None:
        self._rest: dict[str, object] = {}  # settings that have no field
        self.fields, groups = make_fields(SurveySettings, _GROUPS, label=110)
        reset = make_control("questions.reset_survey", lambda: self.put({}))
        super().__init__([*(group(title, *made) for title, made in groups.items()), reset])
        self.put({})

    def given(self) -> dict[str, Any]:
        """Return the settings that differ from the defaults, as arguments of `Atlas.survey`."""
        given = read_fields(self.fields, _PARSERS) | self._rest
        settings = SurveySettings(**given).to_dict()
        return {name: given[name] for name in settings if settings[name] != _DEFAULTS[name]}

    def put(self, settings: Mapping[str, object]) -> None:
        """Set the controls. Settings that are not given get their default values."""
        fill_fields(self.fields, SurveySettings(**settings).to_dict())
        self._rest = {name: value for name, value in settings.items() if name not in self.fields}

    def summary(self, *, with_model: bool) -> str:
        """Describe the current settings of a survey in one line."""
        given = self.given()
        settings = SurveySettings(**given)
        levels = f"citations followed in up to {settings.depth - 1} further levels"
        if settings.depth == 1 or not settings.expand:
            levels = "no citations followed"
        searches = f"{settings.breadth:,} search{'' if settings.breadth == 1 else 'es'}"
        calls = f", at most {count(settings.calls, 'request')}" if with_model else ""
        return (
            f"up to {searches}, {levels}, up to "
            f"{count(settings.papers, 'paper')} judged{calls} "
            f"({count(len(given), 'setting') + ' chosen' if given else 'as usual'})"
        )


_SELECTED, _LEFT_OUT, _ALL = "selected", "left out", "all judged papers"
DRAWN = 36
"""Maximum number of papers in the tree; with more, the text is too small for a notebook."""
SIZE = (7.5, 9.0)
"""Size of the tree in inches; its text is readable on a page with a width of 800 pixels."""


class SurveyView(ResultTabs):
    """Tabs of one survey: papers, citation tree, map, table, method and files."""

    def __init__(self, files: widgets.HTML, offer_files: Callable[[], None]) -> None:
        self.survey: Survey | None = None
        self._which = make_control(
            "questions.which", self._list, options=[_SELECTED, _LEFT_OUT, _ALL]
        )
        self.papers = PaperList()
        self.tree, self.map = SheetView("tree"), SheetView("map")
        self._table, self._method = widgets.HTML(), widgets.HTML()
        tabs = {
            "Papers": widgets.VBox([self._which, self.papers]),
            "Who led to whom": self.tree,
            "Map": self.map,
            "Table": self._table,
            "How it was found": self._method,
        }
        when_opened = {"Who led to whom": self.tree.look, "Map": self.map.look}
        super().__init__(tabs, files=files, offer_files=offer_files, when_opened=when_opened)

    def show(self, survey: Survey, atlas: Atlas) -> None:
        """Show a survey, and replace the previous one."""
        from landscape import figures

        self.survey = survey
        self._which.value = _SELECTED if survey.selected else _ALL
        self._list()
        self.tree.show(
            lambda colours: figures.survey_tree(
                survey, most=DRAWN, size_inches=SIZE, colours=colours
            )
        )
        self.map.show(lambda colours: figures.survey_map(atlas, survey, colours=colours))
        table = survey.table
        table["decision"] = ["selected" if one else "left out" for one in table["selected"]]
        table["led"] = [survey.origin_of(one) for one in survey.crawled]
        self._table.value = table_html(table, "survey", about="Papers judged")
        notes = clean_notes(survey.notes)
        self._method.value = render("panel_survey.html", part="method", survey=survey, notes=notes)
        self.tabs.set_title(0, f"Papers ({len(survey)})")
        self._show_tabs(render("panel_survey.html", part="heading", survey=survey))

    def _list(self) -> None:
        survey = self.survey
        if survey is None:
            return
        wanted = {_SELECTED: (True,), _LEFT_OUT: (False,), _ALL: (True, False)}[self._which.value]
        items = []
        for rank, one in enumerate(survey.crawled, start=1):
            if one.selected in wanted:
                hit = Hit(rank, one.paper, one.score).to_html()
                page = render("panel_survey.html", part="paper", survey=survey, one=one, hit=hit)
                items.append(Item(one.key, f"{rank}.", one.paper.title, page))
        self.papers.show(items)


_NEW = re.compile(r"(?<![\d,])([\d,]{1,20}+) new\b")
_SELECTED_SO_FAR = re.compile(r"(?<![\d,])([\d,]{1,20}+) selected so far")


class SurveyPanel(QueryPanel[Survey]):
    """Survey a question: repeatedly search, select papers and follow citations.

    Parameters
    ----------
    atlas : Atlas
    connection : Connection, optional
        Language model that judges papers. Default: the model set in the environment, if any.
    question : str, optional
        Initial text of the question field.
    **settings
        Settings of `Atlas.survey`, such as ``depth``, ``papers`` and ``before``.

    Raises
    ------
    InputError
        If a setting is unknown or has an invalid value.

    Examples
    --------
    >>> import landscape as ls
    >>> panel = SurveyPanel(ls.open("my.atlas"), depth=2)  # doctest: +SKIP
    >>> panel.survey("How do winds strip massive stars?")  # doctest: +SKIP
    >>> panel.wait(), panel.value.table  # doctest: +SKIP
    """

    def __init__(
        self,
        atlas: Atlas,
        *,
        connection: Connection | None = None,
        question: str = "",
        **settings: object,
    ) -> None:
        readable_text("question", question)
        super().__init__("survey", atlas, connection=connection)
        self.controls = SurveyControls()
        self.controls.put(settings)
        self._view = SurveyView(self._files, self._offer_files)
        self._papers = self._view.papers
        self._question = make_control("questions.survey_question", value=question)
        self._button = make_control("questions.survey", lambda: self._soon(self.survey))
        self._go_on = make_control("questions.go_on", lambda: self._try(self.go_on))
        like = make_control("questions.like", lambda: self._try(self._more_like_these))
        self._next = widgets.HBox([self._go_on, like])
        self._next.layout.display = "none"
        self._plan = widgets.HTML()
        self._on_enter(self._question, self.survey)
        self._lay_out(
            asking=[widgets.HBox([self._question, self._button]), self._plan, self._model_line],
            folds={"Settings": self.controls, "Language model": self.connection},
            found=[self._view, self._next],
        )
        self._folds.observe(lambda _: self._show_plan(), "selected_index")
        self._show_plan()

    def __repr__(self) -> str:
        found = "nothing surveyed yet"
        if self.value is not None:
            found = f"{count(len(self.value), 'paper')} found"
        return f"<SurveyPanel: {self.atlas.title}, {found}>"

    def survey(self, question: str | None = None, **settings: object) -> None:
        """Survey a question in the background. Call `wait`, then read the survey from `value`.

        Parameters
        ----------
        question : str, optional
            Default: the text of the question field.
        **settings
            Settings of `Atlas.survey`. If a setting is given, the given settings replace all
            settings on the page.

        Raises
        ------
        InputError
            If the question is empty, or a setting is invalid.
        """
        if settings:
            self.controls.put(settings)
        if question is not None:
            self._question.value = question
        self._start(needed(self._question.value, what="The question"))

    def go_on(self) -> None:
        """Complete a partial survey.

        Raises
        ------
        InputError
            If there is no partial survey.
        """
        if self.value is None or not self.value.partial:
            raise InputError("There is no partial survey to continue. Run a survey first.")
        self._question.value = self.value.question
        self._start(self.value.question)

    def _listed(self, survey: Survey) -> Listed:
        return survey.table, [(one.key, one.paper, one.selected) for one in survey.crawled]

    def _file(self, ending: str) -> str:
        if ending == ".csv" and self._value is not None:
            return self._value.to_csv()  # all papers judged
        return super()._file(ending)

    def _start(self, question: str) -> None:
        atlas, given = self.atlas, self.controls.given()

        def work(run: AgentRun) -> Survey:
            name = run.model_name
            journal = None if name is None else _journal(atlas, question, given, name)
            return atlas.survey(
                question,
                model=run.model,
                on_step=run.step,
                stop=run.stopping.is_set,
                resume=journal,
                **given,
            )

        def show(found: Survey, model: str | None) -> None:
            self._value = found
            self._view.show(found, atlas)
            self._next.layout.display = ""
            self._go_on.layout.display = "" if found.partial else "none"
            comment = "  # the survey that is shown is partial" if found.partial else ""
            asked = called("atlas.survey", found.question, **given, **model_option(model))
            self.code = join_lines(
                connecting(self.connection.used, model),
                f"survey = {asked}{comment}",
                f"tree = ls.figures.survey_tree(survey, most={DRAWN}, size_inches={SIZE})",
                "on_map = ls.figures.survey_map(atlas, survey)",
            )
            self._show_plan()

        self._begin("Surveying", work, show)

    def _more_like_these(self) -> None:
        chosen = self._view.papers.chosen
        if not chosen:
            raise InputError("No paper is ticked. Tick the papers to start from.")
        self.survey(**{**self.controls.given(), "seeds": list(chosen)})

    def _so_far(self, steps: list[str]) -> str:
        found = sum(int(n.replace(",", "")) for step in steps for n in _NEW.findall(step))
        chosen = [n for step in steps for n in _SELECTED_SO_FAR.findall(step)]
        selected = f", {chosen[-1]} of them selected" if chosen else ""
        return f"{count(found, 'paper')} found so far{selected}"

    def _show_plan(self) -> None:
        try:
            plan = f"Settings: {self.controls.summary(with_model=self.connection.is_configured)}."
        except LandscapeError as error:
            plan = str(error)
        self._plan.value = quiet_html(plan)


def _journal(atlas: Atlas, question: str, given: dict[str, object], model: str) -> Path | None:
    """Return the path of the log of replies for a survey, or None if it cannot be written."""
    from landscape.llm import default_cache_folder

    work = SurveySettings(**given).without_costs()
    key = json.dumps([question, work, str(atlas.path), atlas.manifest.updated, model])
    name = f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.jsonl"
    path = default_cache_folder() / "surveys" / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(0o600)  # private to its owner: replies may quote unpublished text
    except OSError:
        return None
    return path
