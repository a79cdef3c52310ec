"""The papers that a search found, on the map (after figure 4 of Iyer et al. 2024, ApJS 275, 38)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._wording import count
from landscape.embeddings._neighbours import LONGEST
from landscape.errors import InputError
from landscape.figures.caption import GENERATED, explanation, headline, place_in_words
from landscape.figures.colours import quiet, theme
from landscape.figures.density_map import (
    RASTER_DPI,
    SIZE_INCHES,
    chosen_topics,
    facts_of,
    positions,
)
from landscape.figures.names import clean_name
from landscape.search._outliers import rows_on_map, spread_of

if TYPE_CHECKING:
    import pandas as pd

    from landscape.figures.caption import MapFacts
    from landscape.figures.page import Frame
    from landscape.figures.sheet import Sheet
    from landscape.search._outliers import Spread
    from landscape.types import Results

_LONGEST_QUESTION = 240
_LONGEST_NOTE = 160
_REGIONS_NAMED, _FOR_ORIENTATION = 16, 8
_PAPERS_TOLD, _RANKS_TOLD = 10, 12
_ENOUGH_TO_OUTLINE = 3
_LED = "Arrows lead from a paper to those that it led to."


def query_map(
    atlas: Any,
    results: Results,
    *,
    colours: str = "light",
    size_inches: tuple[float, float] = SIZE_INCHES,
    title: str | None = None,
    raster_dpi: int = RASTER_DPI,
    links: Sequence[tuple[int, int]] = (),
    how: str | None = None,
) -> Sheet:
    """Draw where the papers that a search found lie on the map.

    The density of the whole atlas stays in the background. Every paper found is marked, and
    the first are numbered by their rank; those that lie apart from the others have another symbol.
    Where one or two regions hold them, these are outlined.

    Parameters
    ----------
    atlas : Atlas
        With its ``map``, ``topics``, ``quality`` and ``coverage``.
    results : Results
        What ``atlas.search`` found.
    colours : {"light", "dark"}, default "light"
        For print or for screens.
    size_inches : (float, float), default (11, 8.5)
        Width and height of the page.
    title : str, optional
        Heading above the map.
    raster_dpi : int, default 200
        Pixels per inch of the density picture; the lettering is always drawn as text.
    links : sequence of (int, int)
        Papers that led to papers, by their places among the hits, from 0: drawn as arrows.
    how : str, optional
        How they were chosen, such as ``"9 papers selected of 100 judged"``; by default as those
        that a search found best.

    Returns
    -------
    Sheet
        A matplotlib Figure, with ``alt_text`` and, for `save_figure`, a ``table`` of ``rank,
        paper_id, title, x, y, topic_id, region, score, outlier``.

    Raises
    ------
    InputError
        If nothing was found, if the result is of another atlas, for unknown colours, or for a page
        too small to letter.

    Examples
    --------
    >>> import landscape as ls
    >>> atlas = ls.open("my.atlas")  # doctest: +SKIP
    >>> ls.figures.query_map(atlas, atlas.search("dust in quasars", k=20))  # doctest: +SKIP
    """
    import matplotlib as mpl
    import pandas as pd

    from landscape.figures.links import draw_links
    from landscape.figures.marks import legend_of, mark_papers, outline_region
    from landscape.figures.page import Page
    from landscape.figures.sheet import SETTINGS

    if not results.hits:
        raise InputError(
            "The search found no paper, so there is nothing to mark on the map; "
            "ask with other words, or a wider filter."
        )
    papers = atlas.map
    x, y = positions(papers["x"], papers["y"])
    table = _table(atlas, results)
    spread = spread_of(atlas, results)
    topics = _topics_to_name(atlas.topics, spread)
    apart = table["outlier"].fillna(False).to_numpy(dtype=bool)
    facts = facts_of(atlas)
    outlined = _outlined(spread)
    palette = quiet(theme(colours))

    with mpl.rc_context(SETTINGS):  # letters are measured as they will be drawn
        page = Page(size_inches, palette, raster_dpi=raster_dpi, title=title)
        page.legend = legend_of(
            palette,
            scale=page.scale,
            n_papers=len(table),
            apart=bool(apart.any()),
            outlined=len(outlined),
        )
        head = _head(results, how)
        # The caption is set twice: first to learn its height, then with what the map left out.
        draft = _sentences(results, spread, facts, not_numbered=len(table), outside=len(x))
        draft += [_LED] if links else []
        page.reserve_caption(head, draft, facts)
        shown = pd.concat([topics[["x", "y"]], table[["x", "y"]]])
        frame = page.fit(x, y, shown)
        page.draw_density(x, y, frame, specks=False)
        for topic in outlined:
            inside = papers["topic_id"].to_numpy() == topic
            found = papers["paper_id"][inside].isin(table["paper_id"]).to_numpy()
            outline_region(page, frame, x[inside], y[inside], found=found)
        draw_links(page, frame, table[["x", "y"]].to_numpy(), links)
        marked = mark_papers(page, frame, table["x"].to_numpy(), table["y"].to_numpy(), apart=apart)
        loud = [topic for topic, *_ in spread.inside]
        page.letter(topics, frame, labels=True, max_labels=None, reserved=marked.boxes, loud=loud)
        sentences = _sentences(
            results,
            spread,
            facts,
            not_numbered=marked.not_numbered,
            outside=frame.outside(x, y),
        )
        sentences += [_LED] if links else []
        page.write_caption(head, sentences, facts)
    sheet = page.sheet
    sheet.table = table
    sheet.caption = "\n".join([head, *sentences])
    sheet.alt_text = _alt_text(head, sentences, facts, table, frame)
    return sheet


def _table(atlas: Any, results: Results) -> pd.DataFrame:
    """One row a paper found: the numbers behind the picture."""
    import pandas as pd

    found = results.papers
    there = atlas.map.iloc[rows_on_map(atlas.map["paper_id"], [p.paper_id for p in found])]
    names = dict(zip(atlas.topics["topic_id"], atlas.topics["label"], strict=True))
    return pd.DataFrame(
        {
            "rank": [hit.rank for hit in results.hits],
            "paper_id": [paper.paper_id for paper in found],
            "title": [paper.title for paper in found],
            "x": there["x"].to_numpy(dtype=float),
            "y": there["y"].to_numpy(dtype=float),
            "topic_id": there["topic_id"].to_numpy(dtype=np.int64),
            "region": [str(names.get(topic, "")) for topic in there["topic_id"]],
            "score": [hit.score for hit in results.hits],
            "outlier": pd.array([hit.outlier for hit in results.hits], dtype="boolean"),
        }
    )


def _topics_to_name(topics: pd.DataFrame, spread: Spread) -> pd.DataFrame:
    """The regions that hold papers found, most papers first, then the largest others."""
    import pandas as pd

    regions = chosen_topics(topics, levels=(1,))
    order = {topic: place for place, (topic, *_) in enumerate(spread.inside)}
    place = regions["topic_id"].map(order)
    held = regions[place.notna()].iloc[np.argsort(place.dropna().to_numpy(), kind="stable")]
    others = regions[place.isna()].head(_FOR_ORIENTATION)
    return pd.concat([held.head(_REGIONS_NAMED), others], ignore_index=True)


def _outlined(spread: Spread) -> list[int]:
    """Regions to outline: those that the verdict names."""
    most = {"one region": 1, "two regions": 2, "scattered": 0}[spread.kind]
    return [topic for topic, _, n in spread.inside[:most] if n >= _ENOUGH_TO_OUTLINE]


def _head(results: Results, how: str | None) -> str:
    question = clean_name(results.query, most=_LONGEST_QUESTION)
    searched = results.coverage.n_searched
    best = f"{count(len(results), 'paper')} found, the best of {searched:,} searched"
    return f"“{question}”: {best if how is None else how}."


def _sentences(
    results: Results, spread: Spread, facts: MapFacts, *, not_numbered: int, outside: int
) -> list[str]:
    """The caption below the question, one sentence an item."""
    how_to_read = explanation(
        replace(facts, share_named=None, quality=_nearness(facts)), outside=outside
    )
    sentences = [
        clean_name(spread.to_text(), most=4 * _LONGEST_NOTE),
        _apart_in_words(results, n_papers=facts.n_papers),
        _settings_in_words(results),
        *(clean_name(note, most=_LONGEST_NOTE) for note in results.coverage.notes),
        headline(facts),
        *how_to_read,
    ]
    if not_numbered:
        sentences.append(f"{count(not_numbered, 'paper')} marked without a number.")
    return [sentence for sentence in sentences if sentence]


def _nearness(facts: MapFacts) -> dict[str, Any]:
    """How far nearness on the map can be trusted."""
    key = "knn_recall_at_10"
    return {key: facts.quality[key]} if key in facts.quality else {}


def _apart_in_words(results: Results, *, n_papers: int) -> str:
    """Say which papers are outliers, and by what measure."""
    known = [hit for hit in results.hits if hit.outlier is not None]
    if not known:
        return ""
    ranks = [hit.rank for hit in known if hit.outlier]
    gamma = results.settings.get("gamma")
    less = f" − {gamma:g}" if isinstance(gamma, (int, float)) else " − γ"
    k = min(len(results), LONGEST, n_papers - 1)  # cutoffs are stored up to there
    measure = (
        "further from the centroid of the others, in full dimension, than "
        f"D95({k}){less}, with D95(k) the 95th percentile of the distances from papers "
        "to their k nearest neighbours"
    )
    if not ranks:
        return f"No paper lies apart from the others ({measure})."
    lies = "lies" if len(ranks) == 1 else "lie"
    which = _listed(ranks)
    return f"{count(len(ranks), 'paper')} ({which}) {lies} apart from the others: {measure}."


def _listed(ranks: Sequence[int]) -> str:
    more = f" and {len(ranks) - _RANKS_TOLD} more" if len(ranks) > _RANKS_TOLD else ""
    numbers = ", ".join(map(str, ranks[:_RANKS_TOLD]))
    return f"number{'s' if len(ranks) > 1 else ''} {numbers}{more}"


def _settings_in_words(results: Results) -> str:
    """Say what narrowed or tilted the search; an ordinary one needs no words."""
    settings = results.settings
    parts = []
    if settings.get("method") in ("semantic", "words"):
        parts.append({"semantic": "by meaning", "words": "by words"}[settings["method"]] + " only")
    if settings.get("filter"):
        parts.append(f"with the filter “{clean_name(settings['filter'], most=_LONGEST_NOTE)}”")
    weights = dict(settings.get("weights") or {})
    lifted = [name for name in ("keyword", "time", "citation") if weights.get(name)]
    if lifted:
        parts.append(f"weighted by {' and '.join(lifted)}")
    return f"Searched {', '.join(parts)}." if parts else ""


def _alt_text(
    head: str, sentences: Sequence[str], facts: MapFacts, table: pd.DataFrame, frame: Frame
) -> str:
    """Describe the picture for readers who cannot see it."""
    x0, y0, x1, y1 = frame.box
    apart_ranks = set(table["rank"][table["outlier"].fillna(False).astype(bool)])
    told = []
    for row in table.head(_PAPERS_TOLD).itertuples():
        place = place_in_words((row.x - x0) / (x1 - x0), (row.y - y0) / (y1 - y0))
        where = ", ".join(filter(None, [clean_name(row.region), place]))
        apart = ", apart from the others" if row.rank in apart_ranks else ""
        told.append(f"{row.rank} {clean_name(row.title)} ({where}{apart})")
    generated = f"{GENERATED} " if facts.generated else ""
    first = "The first" if len(table) > _PAPERS_TOLD else "They are"
    return (
        f"{generated}Map of the papers found for a question. {head} {' '.join(sentences)} "
        f"{first}: {'; '.join(told)}."
    )
