"""Commands ``publish`` and ``export``, which write an atlas for the web and other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from landscape.cli._options import (
    SETTINGS,
    Answer,
    AtlasFolder,
    TrustModel,
    note,
    open_atlas,
    option,
)
from landscape.viewer.settings import PUBLISH, Format, PublishSettings


def publish(
    atlas: AtlasFolder,
    /,
    out: Annotated[
        Path,
        option("folder of the site, or a page (.html) with the map", "--output", "--out", "-o"),
    ],
    *,
    settings: Annotated[PublishSettings, SETTINGS] = PUBLISH,
    trust_model: TrustModel = False,
) -> Answer:
    """Write a web site of an atlas, which needs no server."""
    from landscape.viewer import publish as write_site

    written = write_site(open_atlas(atlas, trust_model), out, settings=settings, say=note)
    if written.is_dir():
        return Answer(
            f"The site is in {written}. To look at it: python -m http.server -d {written}"
        )
    return Answer(f"The map is in {written}.")


def export(
    atlas: AtlasFolder,
    /,
    out: Annotated[
        Path, option("file to write: .csv, .graphml or .parquet", "--output", "--out", "-o")
    ],
    *,
    to: Annotated[
        Format | None,
        option("table, graph, or Parquet for Embedding Atlas; the default is that of the suffix"),
    ] = None,
) -> Answer:
    """Write the papers of an atlas for another program."""
    from landscape.viewer import export as write_papers

    return Answer(
        f"The papers are in {write_papers(open_atlas(atlas, trust_model=False), out, to=to)}."
    )
