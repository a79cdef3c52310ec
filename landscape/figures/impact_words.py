"""What is written beside and below an impact map: ranked tables, key numbers, notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from landscape.figures.names import clean_name
from landscape.figures.ranking import Ranking, Row

if TYPE_CHECKING:
    from landscape.figures.hues import Series
    from landscape.figures.panels import Plate
    from landscape.overlays._analysis import Analysis

_LONGEST_NOTE = 400
_FACILITIES_TOLD, _REGIONS_TOLD = 8, 5
_FEWEST = 3  # papers of a facility in a region that is ranked


def facility_ranking(plate: Plate, analysis: Analysis, drawn: Mapping[str, Series]) -> Ranking:
    """Rank facilities by papers; those on the map have their line before the name."""
    rows = []
    for _, row in analysis.table.iterrows():
        name = str(row["facility"])
        style = drawn.get(name)
        sample = style and {
            "color": style.colour, "linestyle": style.dashes, "linewidth": 1.7 * plate.scale,
        }  # fmt: skip
        numbers = (
            f"{row['papers']:,}",
            percent(row["share"]),
            interval(row, "share"),
            number(row["effective_regions"]),
            percent(row["outside_home"], digits=0),
        )
        rows.append(Row(name, numbers, style=sample or {"linestyle": "none"}))
    headings = ("Facility", "Papers", "Share", "95%", "Effective\nregions", "Outside\nhome")
    return Ranking("Facilities by papers that mention them", headings, rows)


def region_ranking(analysis: Analysis, facility: str) -> tuple[Ranking, list[int]]:
    """Rank regions by how much of their literature uses a facility.

    The order is that of the interval's lower bound, so that a region with two papers does not
    come first; regions below the share of all these regions together are left away.

    Parameters
    ----------
    analysis : Analysis
        With ``tables["regions"]``.
    facility : str

    Returns
    -------
    Ranking, list of int
        And the ``topic_id`` of its rows.
    """
    regions = analysis.tables["regions"]
    own = regions[(regions["facility"] == facility) & (regions["papers"] >= _FEWEST)]
    overall = own["papers"].sum() / max(own["region_papers"].sum(), 1)
    own = own[own["share"] >= overall]
    own = own.sort_values(["share_low", "topic_id"], ascending=[False, True])
    rows = [
        Row(
            str(row["label"]),
            (f"{row['papers']:,}", f"{row['region_papers']:,}", percent(row["share"], digits=0),
             interval(row, "share", digits=0)),
        )
        for _, row in own.iterrows()
    ]  # fmt: skip
    title = f"{clean_name(facility)}: regions with the largest shares"
    headings = ("Region, by the lower bound", "Papers", "of", "Share", "95%")
    return Ranking(title, headings, rows), own["topic_id"].astype(int).tolist()


def key_numbers(row: Any) -> list[str]:
    """What a facility did, in one sentence, with intervals and denominators."""
    parts = [
        f"{row['papers']:,} of {row['corpus_papers']:,} papers mention {row['facility']} "
        f"({percent(row['share'])}, 95% interval {interval(row, 'share')})"
    ]
    if row["effective_regions"] == row["effective_regions"]:
        parts.append(f"spread as over {number(row['effective_regions'])} equal regions")
    if row["outside_home"] == row["outside_home"]:
        parts.append(
            f"{percent(row['outside_home'], digits=0)} of those with a known field lie outside "
            "its home fields"
        )
    return ["; ".join(parts) + "."]


def notes_of(
    analysis: Analysis, *, shares: bool, hatched: bool, denominators: bool = True
) -> list[str]:
    """How to read the map, then denominators, where no heading has them, and warnings."""
    told = replace(analysis, bounds={}).notes if denominators else analysis.warnings
    notes = [clean_name(note, most=_LONGEST_NOTE) for note in told]
    if shares:
        how = [
            "Colour is the share of the papers around a place that mention the facility, shrunk "
            "to the overall share where papers are few; inside the thin line lie half of its "
            "papers."
        ]
        if hatched:
            how.append("Hatched: the corpus has papers there, but hardly any of the period.")
    else:
        how = [
            "The strong line holds half of a facility's papers, the thin one 80 in 100; behind is "
            "the density of all papers."
        ]
    return [*how, *notes]


def in_words(analysis: Analysis) -> str:
    """The numbers for readers who cannot see the map."""
    table = analysis.table
    told = [
        f"{clean_name(str(row['facility']))}"
        f"{', ' + str(row['period']) if 'period' in table else ''}: {row['papers']:,} papers, "
        f"{percent(row['share'])}"
        for _, row in table.head(_FACILITIES_TOLD).iterrows()
    ]
    if len(table) == 1:
        ranking, _ = region_ranking(analysis, str(table["facility"].iloc[0]))
        told += [f"{clean_name(row.name)} {row.numbers[2]}" for row in ranking.rows[:_REGIONS_TOLD]]
    return f"{'; '.join(told)}."


def percent(share: Any, *, digits: int = 1) -> str:
    """Write a share; a missing one is a dash.

    Examples
    --------
    >>> percent(0.1234), percent(float("nan"))
    ('12.3%', '–')
    """
    return f"{share:.{digits}%}" if share == share else "–"


def number(value: Any) -> str:
    """Write a number with two or three digits; a missing one is a dash."""
    return "–" if value != value else f"{value:.0f}" if value >= 10 else f"{value:.1f}"


def interval(row: Any, name: str, *, digits: int = 1) -> str:
    """Write the interval of a share, in per cent.

    Examples
    --------
    >>> interval({"share_low": 0.02, "share_high": 0.035}, "share")
    '2.0–3.5'
    """
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return f"{100 * low:.{digits}f}–{100 * high:.{digits}f}" if low == low else "–"
