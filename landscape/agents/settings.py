"""Settings of surveys and of the search for a cited paper."""

from __future__ import annotations

from datetime import date
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from landscape._settings import Number, Settings, Whole
from landscape.errors import InputError

Protocol = Literal["auto", "json", "pasa"]
"""Format of prompts and replies: JSON, or the tokens of PaSa's own models."""


class SurveySettings(Settings):
    """Settings and budget of a survey.

    Examples
    --------
    >>> SurveySettings(depth=0)
    Traceback (most recent call last):
    landscape.errors.InputError: depth is 0; choose a whole number from 1 to 6.
    """

    depth: Whole = Field(
        3,
        ge=1,
        le=6,
        description="number of rounds; the first only searches, each further round follows the "
        "citations of the papers found",
    )
    breadth: Whole = Field(
        6, ge=1, le=20, description="maximum number of searches in the first round"
    )
    papers: Whole = Field(
        100, ge=1, le=2_000, description="maximum number of papers that are judged and listed"
    )
    expand: Whole = Field(
        40,
        ge=0,
        le=200,
        description="maximum number of papers per round whose citations are followed",
    )
    ensemble: Whole = Field(
        1,
        ge=1,
        le=5,
        description="number of crawlers, each with its own searches; their papers are combined",
    )
    search: Literal["atlas", "arxiv", "ads"] = Field(
        "atlas",
        description="also search arXiv or ADS; papers that the atlas does not have are listed "
        "apart from it",
    )
    before: str | None = Field(
        None, description="only papers before this day, month or year, such as 2019-06"
    )
    seeds: tuple[str, ...] = Field(
        (),
        description="papers to start from (bibcodes, arXiv identifiers or DOIs)",
        examples=["a list of identifiers of papers"],
    )
    without: tuple[str, ...] = Field(
        (),
        description="papers to exclude, with their citations",
        examples=["a list of identifiers of papers"],
    )
    threshold: Number | None = Field(
        None,
        ge=0,
        le=1,
        description="minimum score of a paper that is selected without a model, relative to the "
        "ten best papers (default: a calibrated value)",
    )
    selector: bool = Field(
        True,
        description="judge papers; otherwise all papers found are returned in the order of the "
        "searches",
    )
    calls: Whole = Field(
        300,
        ge=1,
        le=100_000,
        description="maximum number of requests to the language model; repeated requests after "
        "invalid replies are not counted",
    )
    tokens: Whole | None = Field(
        None,
        ge=1,
        le=10**9,
        description="maximum number of tokens, read and written; four bytes count as one token",
    )
    money: Number | None = Field(None, description="maximum cost, in the currency of the prices")
    prices: tuple[Number, Number] | None = Field(
        None,
        description="prices of a million tokens read and of a million tokens written",
        examples=["two numbers, such as (0.15, 0.6)"],
    )
    protocol: Protocol = Field(
        "auto",
        description="format of prompts and replies; pasa for models trained to write [Search] and "
        "[Expand], auto for pasa if the name of the model contains it",
    )
    parallel: Whole = Field(
        4, ge=1, le=32, description="number of parallel requests; it does not change the result"
    )

    @field_validator("before")
    @classmethod
    def _check_before(cls, value: str | None) -> str | None:
        if value is not None:
            last_day(value)
        return value

    @model_validator(mode="after")
    def _check_money(self) -> Self:
        if self.prices is not None and min(self.prices) < 0:
            raise InputError(f"prices is {self.prices!r}; give two numbers, such as (0.15, 0.6).")
        if self.money is not None and (self.prices is None or not self.money > 0):
            raise InputError(
                f"money is {self.money!r}; it must be positive and needs the prices of a million "
                "input tokens and of a million output tokens, such as prices=(0.15, 0.6)."
            )
        return self

    def without_costs(self) -> dict[str, object]:
        """Return the settings that change the result. They must be equal to resume from a log."""
        costs = ("calls", "tokens", "money", "prices", "parallel")
        return {name: value for name, value in self.to_dict().items() if name not in costs}


class AttributeSettings(Settings):
    """Settings of the search for a cited paper."""

    source: str | None = Field(
        None,
        description="paper that contains the excerpt (identifier or title); this paper and newer "
        "papers are not selected",
    )
    before: date | str | int | None = Field(
        None,
        description="last day or year of the papers, such as 2019 or 2019-06",
        examples=["a day or a year, such as 2019-06-30"],
    )
    only: Literal["search", "read", "none"] | None = Field(
        None,
        description="commands of the language model: search without reading, read the papers of "
        "one search, or none, to answer from memory (default: all)",
    )
    thoughts: bool = Field(True, description="let the language model write its thoughts")
    temperature: Number | None = Field(
        None,
        ge=0,
        le=2,
        description="temperature of the language model (default: the most probable replies)",
    )
    runs: Whole = Field(
        1,
        ge=1,
        le=20,
        description="number of runs at a temperature; the paper selected most often is the result",
    )
    max_actions: Whole = Field(
        15, ge=1, le=100, description="maximum number of actions of the language model"
    )
    demonstration: bool = Field(
        False, description="first show the language model an example of a complete search"
    )
    mark: Whole = Field(
        1, ge=1, le=99, description="number of the [CITATION] to use, if there are several"
    )

    @model_validator(mode="after")
    def _check_runs(self) -> Self:
        if self.runs > 1 and not self.temperature:
            raise InputError(
                f"runs is {self.runs}, but all runs are equal without a temperature; set "
                "temperature, such as 0.95."
            )
        return self


def last_day(text: str) -> date:
    """Parse a date. A year or a month means the first day of this year or month."""
    pieces = str(text).split("-")
    try:
        return date(*map(int, [*pieces, *["1"] * (3 - len(pieces))]))
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(
            f"before is {text!r}; give a day, a month or a year, such as 2019-06-30."
        ) from error
