"""A setting is declared once: validation, messages, signature and documentation follow from it."""

from __future__ import annotations

import datetime
import inspect
from typing import Literal

import numpy as np
import pytest
from pydantic import Field

import landscape
from landscape._settings import Number, Settings, Whole, bounds, choices, takes_settings
from landscape.agents.settings import SurveySettings
from landscape.answers import AskSettings
from landscape.errors import InputError
from landscape.search import SearchSettings


class Cutout(Settings):
    radius: Whole = Field(3, ge=1, le=60, description="radius in arcminutes")
    share: Number | None = Field(None, ge=0, le=1, description="share of the papers")
    kind_of: Literal["round", "square"] = Field("round", description="form")
    names: tuple[str, ...] = Field((), description="names", examples=["a list of names"])
    dark: bool = Field(False, description="dark colours")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"radius": 0}, "radius is 0; choose a whole number from 1 to 60."),
        ({"radius": "five"}, "radius is 'five'; choose a whole number from 1 to 60."),
        ({"radius": True}, "radius is True; choose a whole number from 1 to 60."),
        ({"radius": None}, "radius is None; choose a whole number from 1 to 60."),
        ({"share": 1.5}, "share is 1.5; choose a number from 0 to 1."),
        ({"share": float("nan")}, "share is nan; choose a number from 0 to 1."),
        ({"kind_of": "oval"}, "Unknown kind_of 'oval'; use one of round, square."),
        ({"names": "dust"}, "names is 'dust'; give a list of names."),
        ({"dark": "perhaps"}, "dark is 'perhaps'; choose True or False."),
        (
            {"radus": 1},
            "Unknown setting 'radus'; did you mean 'radius'? "
            "Use one of radius, share, kind_of, names, dark.",
        ),
    ],
)
def test_an_invalid_value_is_one_sentence_with_the_value_and_the_cure(
    given: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError) as error:
        Cutout(**given)
    assert str(error.value) == message


def test_numbers_of_numpy_are_numbers() -> None:
    cutout = Cutout(radius=np.int64(5), share=np.float32(0.5))
    assert Cutout(radius="5", share="0.5") == cutout  # as a command line gives them
    assert (cutout.radius, cutout.share) == (5, 0.5)


def test_a_copy_is_checked_and_the_original_is_unchanged() -> None:
    cutout = Cutout(radius=5)
    assert (cutout.replaced(dark=True).radius, cutout.dark) == (5, False)
    with pytest.raises(InputError, match="radius is 99"):
        cutout.replaced(radius=99)


def test_a_declaration_has_bounds_and_choices() -> None:
    assert bounds(Cutout, "radius") == (1, 60)
    assert bounds(Cutout, "share") == (0, 1)
    assert choices(Cutout, "kind_of") == ("round", "square")
    assert choices(Cutout, "radius") == ()


def test_a_function_shows_the_settings_that_it_takes() -> None:
    @takes_settings(Cutout, without=["dark"])
    def cut(name: str, **settings: object) -> None:
        """Cut out a map.

        Parameters
        ----------
        name : str
        **settings
        """

    assert list(inspect.signature(cut).parameters) == [
        "name",
        "radius",
        "share",
        "kind_of",
        "names",
    ]
    assert inspect.signature(cut).parameters["radius"].default == 3
    assert "radius : int, default 3\n            Radius in arcminutes. From 1 to 60." in (
        cut.__doc__ or ""
    )
    assert "{'round', 'square'}, default 'round'" in (cut.__doc__ or "")


@pytest.mark.parametrize(
    ("method", "settings"),
    [("search", SearchSettings), ("ask", AskSettings), ("survey", SurveySettings)],
)
def test_the_methods_of_an_atlas_show_all_their_settings(
    method: str, settings: type[Settings]
) -> None:
    function = getattr(landscape.Atlas, method)
    assert settings.model_fields.keys() <= inspect.signature(function).parameters.keys()
    for name, declared in settings.model_fields.items():
        assert declared.description, name
        assert f"        {name} : " in function.__doc__
    assert "**settings" not in function.__doc__


def test_a_search_checks_its_settings() -> None:
    with pytest.raises(InputError, match="keywords is 'dust'; give a tuple of texts"):
        SearchSettings(keywords="dust")
    with pytest.raises(InputError, match="t_now is 'soon'; give a day, such as"):
        SearchSettings(t_now="soon")
    assert SearchSettings(t_now="2026-01-31").t_now == datetime.date(2026, 1, 31)
    with pytest.raises(InputError, match=r"Unknown weight 'age'. Use one of keyword, time"):
        SearchSettings(weights={"age": 1.0})


def test_an_answer_checks_its_settings() -> None:
    with pytest.raises(InputError, match="Unknown audience 'cats'; use one of expert"):
        AskSettings(audience="cats")
    with pytest.raises(InputError, match=r"'x{60}' is not the name of a language"):
        AskSettings(language="x" * 70)
    assert AskSettings(language="German (Austria)").language == "German (Austria)"
