"""Count the software that the full texts of papers name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from landscape.errors import InputError
from landscape.overlays.periods import UNKNOWN_YEAR, check_period, describe_corpus, paper_years
from landscape.statistics import ratio, share_interval
from landscape.types import Analysis

if TYPE_CHECKING:
    from landscape.store import AtlasStore


def software(
    atlas: AtlasStore,
    *,
    since: int | None = None,
    until: int | None = None,
    limit: int | None = None,
) -> Analysis:
    """Count the papers that name software in their full texts.

    Parameters
    ----------
    atlas : Atlas
        Atlas with full texts.
    since, until : int, optional
        First and last year, both included.
    limit : int, optional
        Number of rows; default: all.

    Returns
    -------
    Analysis
        One row per software, in order of decreasing number of papers, with the columns
        ``software, ascl`` (number in the Astrophysics Source Code Library), ``papers, share`` (of
        the papers with a full text) with its 95% interval, ``first_year, last_year``.
        ``tables["years"]`` has the papers by year.

    Raises
    ------
    InputError
        If the atlas has no full texts, or the period is invalid.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.overlays.missions.software(ls.open("my.atlas")).table  # doctest: +SKIP
    """
    check_period(since, until)
    if not atlas.has_sections:
        raise InputError(
            f"{atlas.path} has no full texts; add them with: landscape update {atlas.path} "
            "--full-text FOLDER"
        )
    years = paper_years(atlas)
    read = atlas.read_layer("full_texts", ["problem"])
    with_text = read.loc[read["problem"] == "", "paper_row"]
    named = atlas.read_layer("software", ["name", "ascl"]).drop_duplicates(["paper_row", "name"])
    first, last = since if since is not None else UNKNOWN_YEAR, until if until is not None else 9999
    inside = with_text[(years[with_text] >= first) & (years[with_text] <= last)]
    named = named[named["paper_row"].isin(inside)]
    named = named.assign(year=years[named["paper_row"]])
    dated = named[named["year"] != UNKNOWN_YEAR]
    table = (
        named.groupby("name", sort=False)
        .agg(ascl=("ascl", "first"), papers=("paper_row", "size"))
        .join(dated.groupby("name")["year"].agg(first_year="min", last_year="max"))
        .reset_index(names="software")
        .sort_values(["papers", "software"], ascending=[False, True], kind="stable")
        .reset_index(drop=True)
    )
    table.insert(3, "share", ratio(table["papers"], len(inside)))
    low, high = share_interval(table["papers"], [max(len(inside), 1)] * len(table))
    table.insert(4, "share_low", low)
    table.insert(5, "share_high", high)
    by_year = dated.groupby(["name", "year"]).size().reset_index(name="papers")
    return Analysis(
        "software",
        table.head(limit) if limit else table,
        f"Software that full texts name, in {len(inside):,} papers with a full text of "
        f"{describe_corpus(atlas, with_size=True)}.",
        {"papers with a full text": len(inside), "names": len(table)},
        atlas.coverage,
        tables={"years": by_year.rename(columns={"name": "software"})},
    )
