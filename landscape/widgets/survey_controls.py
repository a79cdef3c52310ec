"""The settings of a survey: how far it goes, and what it may cost."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import ipywidgets as widgets

from landscape._wording import count
from landscape.agents.survey.settings import SurveySettings, survey_settings
from landscape.errors import InputError
from landscape.widgets.scholar_panel import grid, text_box

_DEFAULT = SurveySettings()
_STYLE = {"description_width": "110px"}
_FULL = {"width": "calc(100% - 6px)"}
_BETWEEN = re.compile(r"[,;\s]+")
_BOXES = ("tokens", "money", "prices", "threshold")


class SurveyControls(widgets.VBox):
    """Everything that decides how a survey works.

    Examples
    --------
    >>> controls = SurveyControls()
    >>> controls.put({"depth": 2, "before": "2019", "seeds": ["2015ApJ...801...12A"]})
    >>> controls.given()
    {'depth': 2, 'before': '2019', 'seeds': ['2015ApJ...801...12A']}
    """

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
        """Settings that differ from the usual ones, for `Atlas.survey`.

        Raises
        ------
        InputError
            For a value that cannot be.
        """
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
        """Set the controls; what is not named is as usual.

        Raises
        ------
        InputError
            For a setting that is none, or a value that cannot be.
        """
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
        """How a survey would go now, in a line.

        Raises
        ------
        InputError
            For a value that cannot be.
        """
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
    """A number of searches in words.

    Examples
    --------
    >>> count_searches(1), count_searches(3)
    ('1 search', '3 searches')
    """
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
