"""Settings of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Literal, get_args

from pydantic import Field, field_validator

from landscape._settings import Settings, Whole
from landscape.errors import InputError
from landscape.search.settings import Keyword, Method, Weights

Style = Literal["single-paper", "multi-paper", "bibliometric", "nuanced"]
"""Styles of answers."""
STYLES: tuple[Style, ...] = get_args(Style)
Audience = Literal["expert", "student", "public"]
AUDIENCES: tuple[Audience, ...] = get_args(Audience)
Generation = Literal["rag", "react", "quoted"]
_MAX_LANGUAGE = 40  # characters


class AskSettings(Settings):
    """Settings of an answer. None means the value of the preset for the type of the question."""

    k: Whole | None = Field(
        None, ge=1, le=10_000, description="number of papers used for the answer"
    )
    style: Style | None = Field(None, description="focus of the answer")
    filter: str | None = Field(None, description="filter that restricts the papers, as in search")
    papers: tuple[Keyword, ...] = Field(
        (),
        description="answer from these papers only: keys, bibcodes, arXiv identifiers or DOIs",
        examples=["a tuple of names, such as ('2401.01234', '2024ApJ...961...42T')"],
    )
    weights: Weights | None = Field(
        None,
        description="strengths of keyword, time and citation",
        examples=["strengths, such as {'time': 0.5}"],
    )
    keywords: tuple[Keyword, ...] = Field(
        (),
        description="names that increase the score of a paper, besides those in the question",
        examples=["a tuple of texts, such as ('dust', 'AGN')"],
    )
    question_type: str | None = Field(
        None, description="type of the question; it is classified by default"
    )
    method: Method | None = Field(None, description="how papers are searched for (default: hybrid)")
    hyde: bool | None = Field(
        None, description="also search with a hypothetical abstract that a language model writes"
    )
    rerank: bool | None = Field(
        None, description="compare the best papers with the question word by word (default: yes)"
    )
    generation: Generation | None = Field(
        None,
        description="rag writes the answer from one search, react lets an agent search and write, "
        "and quoted quotes sentences",
    )
    language: str | None = Field(
        None, description="language of the answer (default: language of the question)"
    )
    audience: Audience | None = Field(
        None, description="readers of the answer; it needs a language model"
    )
    check_with_model: bool = Field(True, description="let the language model check each claim")
    t_now: date | None = Field(
        None,
        description="reference date for the ages of papers; today by default",
        examples=["a day, such as datetime.date(2026, 1, 31)"],
    )

    @field_validator("weights", mode="before")
    @classmethod
    def _read_weights(cls, value: object) -> object:
        return Weights(**value) if isinstance(value, Mapping) else value

    @field_validator("language")
    @classmethod
    def _check_language(cls, value: str | None) -> str | None:
        is_name = value is None or (
            0 < len(value) <= _MAX_LANGUAGE and all(c.isalpha() or c in " ()-'" for c in value)
        )
        if not is_name:
            raise InputError(
                f"{str(value)[:60]!r} is not the name of a language. Write, for example, Spanish."
            )
        return value
