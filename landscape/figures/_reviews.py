"""Density of reviews, and gaps between them (figure 9 of Iyer et al. 2024)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from landscape.errors import InputError
from landscape.figures._impact import grid_shape
from landscape.figures.caption import caption_of, place_of
from landscape.figures.colours import contrast_ramp, fade, pick
from landscape.figures.export import figure
from landscape.figures.labels import clean_name
from landscape.figures.maps import (
    add_density,
    add_names,
    chosen_topics,
    fitted_page,
    map_panel,
    mark_papers,
    positions,
)
from landscape.figures.page import Key, Page, PageOptions, Ranking
from landscape.figures.scene import Bools, ColourBar, Floats, Image, Panel, Points, Scene
from landscape.mapping.density import default_bandwidth
from landscape.overlays.missions.measures import ShareMap, share_map
from landscape.overlays.periods import paper_years
from landscape.overlays.reviews import review_gaps
from landscape.overlays.reviews import reviews as count_reviews
from landscape.overlays.reviews.gaps import chance_of_review, define_reviews, review_mask
from landscape.overlays.reviews.signs import RECENT_YEARS

if TYPE_CHECKING:
    import pandas as pd

    from landscape.store import AtlasStore
    from landscape.types import Analysis

_LISTED = 15
_FOLD = 4.0  # the colours range from 1/4 to 4 times the usual density of reviews
_BESIDE = 0.39  # width of the table, as a fraction of the page width
_NO_GAP = "No significant gap between reviews"
_GREYER = 0.1  # contrast of the grey of uncertain places to the middle of the ramp
_UNCERTAIN, _CERTAIN = 0.32, 0.03  # p values between which the grey changes to a colour
_WIDER = 1.5  # kernel width for reviews, relative to the width for papers
_MEANINGS = ("≤¼", "½", "uncertain", "2×", "≥4×")
_COLUMNS = (  # the score and its components
    ("gap", "Gap", "{:.1f}"),
    ("need", "Need", "{:.1f}"),
    ("papers", "Papers", "{:,.0f}"),
    ("reviews_near", "Reviews\nnear", "{:,.1f}"),
    ("expected", "Reviews\nexpected", "{:,.1f}"),
    ("years_without", "Years\nwithout", "{:.0f}"),
    ("growth", "Growth", "{:.1f}"),
)
_NOTES = (  # definitions of the columns
    "Need: papers newer than the reviews near them, times growth, citations and disagreement "
    "between abstracts.",
    "Gap: mean of the need and of the need for the size of the region, divided by the upper limit "
    "of the ratio of reviews near to expected.",
    f"Growth: share of papers from the last {RECENT_YEARS} years. The mean region has a need and a "
    "growth of 1.",
    "A review counts for the regions of its nearest papers.",
)


@figure
def reviews(
    atlas: AtlasStore,
    *,
    analysis: Analysis | None = None,
    found: Bools | None = None,
    weights: Mapping[str, float] | None = None,
    n_resamples: int = 200,
    listed: int = _LISTED,
    **look: Unpack[PageOptions],
) -> Scene:
    """Draw the density of reviews relative to the expected density, and list the gaps.

    Parameters
    ----------
    atlas : AtlasStore
    analysis : Analysis, optional
        Known result of `landscape.overlays.review_gaps`, which is then not computed again.
    found : ndarray of bool, optional
        Known mask of the reviews.
    weights : mapping of str to float, optional
        Weights of the components of the score, see `landscape.overlays.review_gaps`.
    n_resamples : int, default 200
        Number of bootstrap samples for the intervals of the ranks.
    listed : int, default 15
        Number of gaps on the map and in the table. Significant gaps are numbered and come first;
        those within the uncertainty are grey.
    **look
        ``colours``, ``size_inches``, ``title``, ``raster_dpi`` and ``ax``; see
        `landscape.figures.heatmap`.

    Returns
    -------
    Sheet or matplotlib.axes.Axes
        A matplotlib Figure with the ``table`` of `landscape.overlays.review_gaps`, or `ax`.

    Raises
    ------
    InputError
        If no region can be ranked, the colours are unknown, or the page is too small.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.reviews(ls.open("my.atlas"))  # doctest: +SKIP
    """
    gaps = analysis or review_gaps(atlas, weights=weights, n_resamples=n_resamples)
    found = review_mask(atlas) if found is None else found
    if not len(gaps.table):
        raise InputError(
            "Nothing to plot: no region can be ranked by its reviews. Use a larger atlas."
        )
    x, y = positions(atlas.map["x"], atlas.map["y"])
    # Keep the ranked regions that have a peak on the map.
    peaks = atlas.topics.set_index("topic_id")[["x", "y"]]
    located = gaps.table.drop(columns=["x", "y"], errors="ignore").join(peaks, on="topic_id")
    located = located.dropna(subset=["x", "y"]).sort_values("rank", ignore_index=True)
    ranked = located["rank"].notna()
    if "density_ratio_high" in located:
        ranked &= located["density_ratio_high"] < 1
    if "years_without" in located:
        ranked &= ~(located["years_without"] < 1).fillna(False).astype(bool)
    best = located[ranked].head(max(1, listed))
    unclear = located[located["rank"].notna() & ~ranked].head(max(1, listed) - len(best))
    year = paper_years(atlas)
    about = caption_of(
        gaps,
        f"The corpus has {found.sum():,} reviews of {len(found):,} papers. Where there are few "
        "papers, the colour is shrunk towards the usual. Small dots are reviews, and numbers are "
        "the ranks of the gaps.",
    )
    definitions = (
        "Colours and ranks compare the reviews with the number expected from the papers and their "
        "years; regions with at least 80% of this number are not listed.",
        define_reviews(year),
    )
    caption = replace(about, sentences=[*definitions, *about.sentences])
    page = Page(caption, look, size=fitted_page(x, y, 1, beside=_BESIDE), has_key=True)
    ramp = contrast_ramp(page.colours)
    page.write_key(_key("Reviews relative to expected", ramp))
    box, column = page.divided(beside=_BESIDE)
    panel = map_panel(page, box, x, y, include=best)
    shares = share_map(
        x,
        y,
        found,
        extent=panel.extent,
        shape=grid_shape(panel.box, scale=page.scale),
        bandwidth=_WIDER * default_bandwidth(x, y),
        weights=chance_of_review(year, found) / max(float(found.mean()), 1e-12),
    )
    panel.layers.append(
        Image(
            pixels=contrast_pixels(shares, ramp),
            extent=shares.extent,
            smooth=True,
            gid="reviews",
            order=1.0,
        )
    )
    panel.layers.append(
        Points(
            x=x[found],
            y=y[found],
            size=1.4 * page.scale,
            colour=page.colours.ink,
            gid="review-papers",
            name="reviews",
        )
    )
    title = "Gaps between reviews" if len(best) else _NO_GAP
    rows = located.loc[[*best.index, *unclear.index]]
    rows = rows.assign(rank=rows["rank"].where(rows.index.isin(best.index)))
    heading = "Region (grey: uncertain)" if len(unclear) else "Region"
    ranking = Ranking.of_table(title, heading, rows, _COLUMNS, numbered=True)
    written = page.write_ranking(replace(ranking, notes=_NOTES), column)
    unclear = unclear.head(max(0, written - len(best)))
    _mark_gaps(page, panel, best.head(written), unclear, located)
    places = [
        f"{row.rank} {clean_name(row.label)} ({place_of(row.x, row.y, panel.extent)})"
        for row in best.itertuples()
    ]
    words = caption.describe(
        "Map of reviews and of gaps between them.", f"Gaps by rank: {'; '.join(places)}."
    )
    return page.scene(alt_text=words, table=gaps.table)


def coverage_scene(
    atlas: AtlasStore, *, analysis: Analysis | None = None, **look: Unpack[PageOptions]
) -> Scene:
    """Return a map of regions, coloured by the ratio of their reviews to the expected number."""
    found = analysis or count_reviews(atlas)
    about = "Dots are regions; larger dots have more papers, and grey ones agree with the number."
    caption = caption_of(found, about)
    table = found.table.sort_values("papers", ascending=False)
    certain = ((table["density_ratio_high"] < 1) | (table["density_ratio_low"] > 1)).to_numpy()
    x, y = positions(atlas.map["x"], atlas.map["y"])
    page = Page(caption, look, soft=True, has_key=True)
    ramp = contrast_ramp(page.colours)
    page.write_key(_key("Reviews relative to the expected number", ramp))
    panel = map_panel(page, page.area, x, y)
    add_density(page, panel, x, y)
    ratio = np.log2(table["density_ratio"].clip(1 / _FOLD, _FOLD).to_numpy(float))
    ratio[~certain] = 0.0
    reach = float(np.log2(_FOLD))
    size = 5 + 15 * np.sqrt(table["papers"].to_numpy(float) / max(1, table["papers"].max()))
    panel.layers.append(
        Points(
            x=table["x"].to_numpy(float),
            y=table["y"].to_numpy(float),
            size=size * page.scale,
            colour=np.where(certain[:, None], pick(ramp, (ratio / reach + 1) / 2), grey_of(ramp)),
            edge=page.colours.ink,
            edge_width=0.5 * page.scale,
            gid="regions",
            bar=ColourBar(
                "reviews relative to<br>the expected number<br>(powers of 2)",
                ratio,
                (-reach, reach),
                ramp,
            ),
            hover=[
                f"{row.label}\n{row.reviews:,} reviews of {row.papers:,} papers, "
                f"{row.expected:.1f} expected\nratio {row.density_ratio:.2f} "
                f"({row.density_ratio_low:.2f} to {row.density_ratio_high:.2f})"
                for row in table.itertuples()
            ],
        )
    )
    add_names(page, panel, chosen_topics(atlas.topics, levels=(0,)))
    words = caption.describe("Map of regions by their reviews.")
    return page.scene(alt_text=words, table=found.table)


def _key(title: str, ramp: Floats) -> Key:
    """Return the colour key; its middle is the grey of uncertain values."""
    key = Key.of_ramp(title, ramp, _MEANINGS)
    squares = list(key.squares)
    squares[len(squares) // 2] = (squares[len(squares) // 2][0], grey_of(ramp))
    return replace(key, squares=squares)


def grey_of(ramp: Floats) -> tuple[float, float, float]:
    """Return a grey beside the middle of a ramp, for values that are not certain."""
    middle = float(pick(ramp, np.asarray(0.5)).mean())
    grey = middle - _GREYER if middle > 0.5 else middle + _GREYER
    return grey, grey, grey


def contrast_pixels(shares: ShareMap, ramp: Floats) -> Floats:
    """Return colours that show the logarithm of the share relative to the overall share.

    They are grey where the difference is below about two standard errors.
    """
    from scipy.special import betainc

    usual = max(shares.overall, 1e-12)
    with np.errstate(divide="ignore"):
        times = np.log(shares.share / usual) / np.log(_FOLD) if shares.overall else 0 * shares.share
    # The shrunk share is the mean of a beta distribution with these two parameters.
    hits = shares.facility_papers + shares.prior_papers * usual
    misses = np.maximum(shares.papers + shares.prior_papers - hits, 1e-9)
    below = betainc(np.maximum(hits, 1e-9), misses, usual)  # probability of a share below the usual
    tail = 2 * np.minimum(below, 1 - below) if shares.overall else np.ones_like(below)
    certain = np.clip((_UNCERTAIN - tail) / (_UNCERTAIN - _CERTAIN), 0, 1)[..., None]
    colours = certain * pick(ramp, (times + 1) / 2) + (1 - certain) * np.asarray(grey_of(ramp))
    return np.dstack([colours, fade(shares.papers, 6, 30)])


def _mark_gaps(
    page: Page, panel: Panel, best: pd.DataFrame, unclear: pd.DataFrame, located: pd.DataFrame
) -> None:
    """Number the gaps on the map, add names where there is space, and add all hover texts."""
    import pandas as pd

    hover = [
        ("" if pd.isna(row["rank"]) else f"{row['rank']}. ")
        + f"{row['label']}\n"
        + ", ".join(
            f"{heading.replace(chr(10), '').replace('-', '').lower()} {form.format(row[name])}"
            for name, heading, form in _COLUMNS
            if name in located and not pd.isna(row[name])
        )
        for _, row in located.iterrows()
    ]
    rest = located.drop([*best.index, *unclear.index])  # located is numbered from 0
    panel.layers.append(
        Points(
            x=rest["x"].to_numpy(float),
            y=rest["y"].to_numpy(float),
            size=4.0,
            gid="gaps",
            colour=page.colours.faint,
            hover=[hover[place] for place in rest.index],
            screen=True,
        )
    )
    if len(unclear):
        panel.layers.append(
            Points(
                x=unclear["x"].to_numpy(float),
                y=unclear["y"].to_numpy(float),
                size=4.0 * page.scale,
                gid="unclear",
                colour=page.colours.halo,
                edge=page.colours.faint,
                edge_width=0.8 * page.scale,
                hover=[hover[place] for place in unclear.index],
                name="within the uncertainty",
            )
        )
    at, half = panel.to_page(unclear["x"], unclear["y"]), 3 * page.scale
    boxes, _ = mark_papers(
        page,
        panel,
        best["x"].to_numpy(dtype=float),
        best["y"].to_numpy(dtype=float),
        outliers=np.zeros(len(best), dtype=bool),
        hover=[hover[place] for place in best.index],
        ranks=best["rank"].tolist(),
    )
    names = pd.concat([one for one in (best, unclear) if len(one)] or [best])
    names = names.assign(level=1, n_papers=names.get("papers", 0))
    reserved = np.vstack([boxes, np.hstack([at - half, at + half])])
    add_names(page, panel, names, reserved=reserved, emphasized=best["topic_id"].tolist())
