"""Settings of a search, weights of papers, and the text of a query."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator

from landscape._settings import Number, Settings, Whole
from landscape.errors import InputError

MAX_QUERY = 4_000
"""Maximum number of characters of a query; the rest is ignored."""
Method = Literal["hybrid", "semantic", "words"]
Fusion = Literal["scores", "ranks"]
Sort = Literal["relevance", "date", "citations"]


class Weights(Settings):
    """Strengths of the weights that are added to the relevance, each from 0 (off) to 1.

    With ``compat="pathfinder"``, the scores are multiplied by the weights, with the formulas of
    the pathfinder paper (Iyer et al. 2024, section 3.2). All strengths above 0 then have the same
    effect.

    Raises
    ------
    InputError
        If a strength is not between 0 and 1.

    Examples
    --------
    >>> Weights(time=0.5).names
    ('time',)
    """

    kind = "weight"
    subject = "The {name} weight"

    keyword: Number = Field(0.0, ge=0, le=1, description="strength for names from the query")
    time: Number = Field(0.0, ge=0, le=1, description="strength for recent papers")
    citation: Number = Field(0.0, ge=0, le=1, description="strength for highly cited papers")
    compat: Literal["pathfinder"] | None = Field(
        None, description="pathfinder multiplies the scores by the weights"
    )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the weights above 0."""
        return tuple(n for n in ("keyword", "time", "citation") if getattr(self, n) > 0)


def query_text(query: object) -> tuple[str, tuple[str, ...]]:
    """Return a query with normalised white space and limited length, and notes about it."""
    text = " ".join(readable_text("query", query).split())
    if not text:
        raise InputError("The query is empty; write a question or some words.")
    cut = f"Only the first {MAX_QUERY:,} characters of the query were read."
    return text[:MAX_QUERY], (cut,) if len(text) > MAX_QUERY else ()


def readable_text(what: str, text: object) -> str:
    """Return a text; raise InputError if it is not valid Unicode text."""
    if not isinstance(text, str):
        raise InputError(f"The {what} is {text!r}; it has to be text.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"The {what} is not UTF-8 text. Remove character {error.start + 1}."
        ) from error
    return text


Keyword = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"\S")]


class SearchSettings(Settings):
    """Settings of a search. The weights can be given as a mapping.

    Raises
    ------
    InputError
        If a value is invalid.

    Examples
    --------
    >>> SearchSettings(k=0)
    Traceback (most recent call last):
    landscape.errors.InputError: k is 0; choose a whole number from 1 to 10,000.
    >>> SearchSettings(weights={"time": 0.5}).weights.names
    ('time',)
    """

    k: Whole = Field(10, ge=1, le=10_000, description="number of papers")
    method: Method = Field("hybrid", description="how papers are searched for")
    fusion: Fusion = Field(
        "scores", description="rule of the hybrid method to combine the two rankings"
    )
    filter: str | None = Field(
        None,
        description="filter such as '2015..; author:Hubble; -review; citations>=50; facility:JWST'",
    )
    sort: Sort = Field("relevance", description="order of the k most relevant papers")
    rerank: bool = Field(
        True, description="compare the best papers with the query word by word, and rerank them"
    )
    weights: Weights = Field(
        Weights(),
        description="strengths of keyword, time and citation",
        examples=["strengths, such as {'time': 0.5}"],
    )
    keywords: tuple[Keyword, ...] = Field(
        (),
        description="names for the keyword weight, in addition to those in the query",
        examples=["a tuple of texts, such as ('dust', 'AGN')"],
    )
    gamma: Number = Field(
        0.1, description="strictness of the outlier test; a larger value gives more outliers"
    )
    t_now: date = Field(
        default_factory=lambda: datetime.now(UTC).date(),
        description="reference date for the ages of papers; today by default",
        examples=["a day, such as datetime.date(2026, 1, 31)"],
    )

    @field_validator("filter")
    @classmethod
    def _check_filter(cls, value: str | None) -> str | None:
        return None if value is None else readable_text("filter", value)

    @field_validator("weights", mode="before")
    @classmethod
    def _read_weights(cls, value: object) -> object:
        return Weights(**value) if isinstance(value, Mapping) else value or Weights()
