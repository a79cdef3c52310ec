"""The labelled density map of a literature (after figure 2 of Iyer et al. 2024, ApJS 275, 38)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError
from landscape.figures.caption import MapFacts, alt_text, explanation, headline
from landscape.figures.colours import theme
from landscape.figures.shading import FEW_ENOUGH_TO_SEE

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from landscape.figures.sheet import Sheet

SIZE_INCHES = (11.0, 8.5)
BESIDE_A_TABLE = (11.0, 6.8)  # a map that a table takes room from
RASTER_DPI = 200


def heatmap(
    atlas: Any,
    *,
    colours: str = "light",
    levels: Sequence[int] = (0, 1),
    size_inches: tuple[float, float] = SIZE_INCHES,
    labels: bool = True,
    max_labels: int | None = None,
    title: str | None = None,
    raster_dpi: int = RASTER_DPI,
) -> Sheet:
    """Draw the density of an atlas's papers, with its regions named.

    Parameters
    ----------
    atlas : Atlas
        With its ``map``, ``topics``, ``quality`` and ``coverage``.
    colours : {"light", "dark"}, default "light"
        For print or for screens.
    levels : sequence of int, default (0, 1)
        Which names: 0 continents, 1 regions.
    size_inches : (float, float), default (11, 8.5)
        Width and height of the page.
    labels : bool, default True
        False leaves the names away.
    max_labels : int, optional
        Most names to letter, the largest topics first. Chosen from the size of the page when not
        given.
    title : str, optional
        Heading above the map.
    raster_dpi : int, default 200
        Pixels per inch of the density picture; the lettering is always drawn as text.

    Returns
    -------
    Sheet
        A matplotlib Figure, with ``alt_text`` and ``table`` for `save_figure`.

    Raises
    ------
    InputError
        For unknown colours, a page too small to letter, or an atlas without a map.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.heatmap(ls.open("my.atlas"))  # doctest: +SKIP
    """
    papers = atlas.map
    return draw_heatmap(
        papers["x"].to_numpy(),
        papers["y"].to_numpy(),
        atlas.topics,
        facts=facts_of(atlas),
        colours=colours,
        levels=levels,
        size_inches=size_inches,
        labels=labels,
        max_labels=max_labels,
        title=title,
        raster_dpi=raster_dpi,
    )


def draw_heatmap(
    x: ArrayLike,
    y: ArrayLike,
    topics: pd.DataFrame | None = None,
    *,
    facts: MapFacts | None = None,
    colours: str = "light",
    levels: Sequence[int] = (0, 1),
    size_inches: tuple[float, float] = SIZE_INCHES,
    labels: bool = True,
    max_labels: int | None = None,
    title: str | None = None,
    raster_dpi: int = RASTER_DPI,
) -> Sheet:
    """Draw a density map of points, with named topics on it.

    Parameters
    ----------
    x, y : array_like of float, shape (n,)
        Positions of the papers, in map units.
    topics : pandas.DataFrame, optional
        ``topic_id, label, level, x, y, n_papers`` and, if there, ``keywords, parent_id``.
    facts : MapFacts, optional
        What the caption states; by default only the number of papers.
    colours, levels, size_inches, labels, max_labels, title, raster_dpi
        As for `heatmap`.

    Returns
    -------
    Sheet

    Raises
    ------
    InputError
        For positions that are not finite numbers, of two lengths, or none at all; for unknown
        colours; for a page too small to letter.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> figure = draw_heatmap(*rng.normal(size=(2, 500)), size_inches=(5, 4), raster_dpi=50)
    >>> len(figure.axes[0].images)
    1
    """
    import matplotlib as mpl

    from landscape.figures.page import Page
    from landscape.figures.sheet import SETTINGS

    across, up = positions(x, y)
    if facts is None:
        facts = MapFacts(n_papers=len(across))
    chosen = chosen_topics(topics, levels=levels)
    with mpl.rc_context(SETTINGS):  # letters are measured as they will be drawn
        page = Page(size_inches, theme(colours), raster_dpi=raster_dpi, title=title)
        # The caption is set twice: first to learn its height, then with what the map left out.
        draft = explanation(facts, not_shown=len(chosen), outside=len(across), specks=True)
        page.reserve_caption(headline(facts), draft, facts)
        frame = page.fit(across, up, chosen)
        page.draw_density(across, up, frame)
        table = page.letter(chosen, frame, labels=labels, max_labels=max_labels)
        sentences = explanation(
            facts,
            not_shown=int((~table["shown"]).sum()) if labels else 0,
            outside=frame.outside(across, up),
            specks=len(across) < FEW_ENOUGH_TO_SEE,
        )
        page.write_caption(headline(facts), sentences, facts)
    sheet = page.sheet
    sheet.table = table
    sheet.caption = "\n".join([headline(facts), *sentences])
    sheet.alt_text = alt_text(facts, _on_page(chosen, frame.box))
    return sheet


def facts_of(atlas: Any) -> MapFacts:
    """Gather what the caption states from an atlas.

    Parameters
    ----------
    atlas : Atlas

    Returns
    -------
    MapFacts

    Examples
    --------
    >>> import pandas as pd
    >>> from types import SimpleNamespace
    >>> papers = pd.DataFrame({"x": [0.0], "y": [0.0], "topic_id": [-1]})
    >>> facts_of(SimpleNamespace(map=papers, topics=None)).n_papers
    1
    """
    coverage = dict(getattr(atlas, "coverage", None) or {})
    topics = getattr(atlas, "topics", None)
    topic_id = atlas.map["topic_id"].to_numpy() if "topic_id" in atlas.map else None
    return MapFacts(
        title=str(coverage.get("title") or "Papers"),
        n_papers=len(atlas.map),
        sources=readable_sources(coverage.get("sources") or ()),
        first=_text(coverage.get("first_date")),
        last=_text(coverage.get("last_date")),
        generated=bool(coverage.get("generated")),
        share_named=None if topic_id is None else float(np.mean(topic_id >= 0)),
        n_regions=int((_levels(topics) == 1).sum()) if topics is not None else 0,
        quality=dict(getattr(atlas, "quality", None) or {}),
    )


_SOURCE_NAMES = {
    "ads": "ADS",
    "arxiv": "arXiv",
    "bibtex": "BibTeX",
    "demo": "the demo generator",
    "pathfinder": "the pathfinder dataset",
    "scilit": "SciLit",
}


def readable_sources(sources: Iterable[Any]) -> list[str]:
    """Name sources as readers know them: the archive where it is known, else the file.

    Parameters
    ----------
    sources : iterable of str
        ``reader:file``, as the papers carry them.

    Returns
    -------
    list of str

    Examples
    --------
    >>> readable_sources(["arxiv:a.jsonl", "arxiv:b.jsonl.gz", "table:mine.csv"])
    ['arXiv', 'mine.csv']
    """
    named = []
    for source in map(str, sources):
        reader, _, file = source.partition(":")
        named.append(_SOURCE_NAMES.get(reader, file or reader))
    return list(dict.fromkeys(named))


def _text(date: Any) -> str | None:
    return None if date is None else str(date)


def positions(x: ArrayLike, y: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Check the positions of the papers, x and y, each of shape (n,)."""
    across, up = (np.asarray(values, dtype=np.float64).ravel() for values in (x, y))
    if len(across) != len(up):
        raise InputError(
            f"The map has {len(across):,} x and {len(up):,} y coordinates; every paper needs both."
        )
    if not len(across):
        raise InputError("The map holds no papers, so there is nothing to draw; build it first.")
    broken = int((~(np.isfinite(across) & np.isfinite(up))).sum())
    if broken:
        raise InputError(
            f"{broken:,} of {len(across):,} map positions are not finite numbers; "
            "build the map again, or leave those papers out."
        )
    return across, up


def _levels(topics: pd.DataFrame) -> NDArray[np.int64]:
    """Level of each topic; tables without that column tell it by the parent."""
    if "level" in topics:
        return np.asarray(topics["level"], dtype=np.int64)
    if "parent_id" in topics:
        return np.where(topics["parent_id"] == -1, 0, 1)
    return np.ones(len(topics), dtype=np.int64)


def chosen_topics(topics: pd.DataFrame | None, *, levels: Sequence[int]) -> pd.DataFrame:
    """Choose the topics to letter, the most important first: continents, then by papers."""
    import pandas as pd

    columns = ["topic_id", "label", "x", "y", "n_papers"]
    if topics is None or topics.empty:
        return pd.DataFrame({"level": [], **{column: [] for column in columns}})
    missing = [column for column in columns if column not in topics]
    if missing:
        raise InputError(
            f"The table of topics lacks {', '.join(missing)}; it needs {', '.join(columns)}."
        )
    table = topics.assign(level=_levels(topics))
    table = table[table["level"].isin(list(levels)) & np.isfinite(table["x"] + table["y"])]
    order = ["level", "n_papers", "topic_id"]
    return table.sort_values(order, ascending=[True, False, True]).reset_index(drop=True)


def _on_page(topics: pd.DataFrame, box: tuple[float, float, float, float]) -> pd.DataFrame:
    x0, y0, x1, y1 = box
    return topics.assign(x=(topics["x"] - x0) / (x1 - x0), y=(topics["y"] - y0) / (y1 - y0))
