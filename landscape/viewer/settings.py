"""Settings of the files of the viewer and of web sites, and formats of an export."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from landscape._settings import Settings, Whole


class SourceSettings(Settings):
    """Settings of the files of the viewer."""

    public: bool = Field(
        False,
        description="leave out what licences do not allow to publish: abstracts that are not from "
        "arXiv, whose metadata are in the public domain (CC0)",
    )
    search: Literal["abstracts", "titles"] = Field(
        "abstracts", description="texts that the search in the browser knows, besides authors"
    )
    seed: Whole = Field(0, ge=0, description="seed of the order of the papers")


class PublishSettings(SourceSettings):
    """Settings of a web site."""

    figures: bool = Field(True, description="draw the figures and the outreach map")
    library: str | None = Field(
        None,
        description="show the papers of this library in a colour of their own; all visitors see "
        "which papers it has",
    )


PUBLISH = PublishSettings()

Format = Literal["csv", "graphml", "embedding-atlas"]
"""Formats of an export."""


DEFAULTS: dict[str, Any] = {
    "query": "",
    "method": "hybrid",
    "k": 30,
    "colour": "region",
    "layers": ["names", "papers"],
    "uses": False,
    "reviews": False,
}
"""State of a viewer in which nothing is chosen; the browser reads it from ``source.json``."""
