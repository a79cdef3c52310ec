"""The panel that surveys a question: papers found, who led to whom, and what it cost."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape._io import check_output, write_output
from landscape._render import escape
from landscape._wording import count
from landscape.errors import InputError, LandscapeError
from landscape.search._settings import readable_text
from landscape.widgets.scholar_code import Name, called, connecting, lines
from landscape.widgets.scholar_panel import ScholarPanel, Told, main_button, needed
from landscape.widgets.survey_controls import SurveyControls
from landscape.widgets.survey_view import DRAWN, FILES, SIZE, SurveyView

if TYPE_CHECKING:
    import pandas as pd

    from landscape.atlas import Atlas as Atlas
    from landscape.types import Survey
    from landscape.widgets.connection import Connection

_WITHOUT_MODEL = (
    "searches are parts of the question, and papers are judged by likeness and citations. With "
    "one, it makes the searches, judges each paper, and says why."
)
_NEW = re.compile(r"([\d,]+) new\b")
_SELECTED = re.compile(r"([\d,]+) selected so far")


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

        def work(told: Told) -> tuple[Survey, str | None]:
            name = told.model.model if told.model is not None else None
            journal = None if name is None else _journal(atlas, question, given, name)
            found = atlas.survey(
                question, model=told.model, on_step=told.step, stop=told.is_enough,
                resume=journal, **given,
            )  # fmt: skip
            return found, name

        self._begin("Surveying", work, lambda made: self._show(*made, given, atlas), unit="steps")

    def _show(self, found: Survey, model: str | None, given: dict[str, Any], atlas: Atlas) -> None:
        self._view.show(found, atlas)
        self._next.layout.display = ""
        self._go_on.layout.display = "" if found.partial else "none"
        told = {} if model is None else {"model": Name("model")}
        whole = "  # what is shown was ended before it was done" if found.partial else ""
        self.code = lines(
            connecting(self.connection, model),
            f"survey = {called('atlas.survey', found.question, **given, **told)}{whole}",
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
        chosen = [n for step in steps for n in _SELECTED.findall(step)]
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
    from landscape.agents.survey.settings import survey_settings
    from landscape.llm._budget import default_cache_folder

    work = survey_settings(**given).work()
    told = json.dumps([question, work, str(atlas.path), atlas.manifest.updated, model])
    path = (
        default_cache_folder()
        / "surveys"
        / f"{hashlib.sha256(told.encode()).hexdigest()[:24]}.jsonl"
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
