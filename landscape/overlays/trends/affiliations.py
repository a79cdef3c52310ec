"""Count papers by institution and country, from the affiliations of their authors."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from landscape._wording import normal_title
from landscape.errors import InputError
from landscape.overlays.periods import count_by_year, paper_years, read_years, tabulate_years, warn
from landscape.overlays.trends._topics import read_groups
from landscape.statistics import share_interval
from landscape.types import Analysis

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from landscape.store import AtlasStore

_N_DETAILED = 30  # number of places with detailed tables
_WELL_KNOWN = 0.5  # warn if the share of papers with affiliations is smaller
_EMAIL = re.compile(r"(?<!\S)\S[^\s@]*+@\S++|\be-?mail:?", re.IGNORECASE)
_WITH_DIGITS = re.compile(r"(?<![\w-])(?:[^\W\d]|-)*+\d[\w-]*+")
_TAG = re.compile(r"<[^<>]*+>|&[a-z]++;")
_FORMER = re.compile(r"^(?:also at|now at|present address|currently at)[:\s]+", re.IGNORECASE)
_DEPARTMENT = re.compile(
    r"\b(?:dep(?:ar)?t(?:a?ment|imento|\.)?|facult\w*|fakultät|school of|division|section|"
    r"physics group|dipartimento|sezione)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=1 << 17)
def read_affiliation(text: str) -> tuple[tuple[str, str], ...]:
    """Return the institutions and countries in the affiliation of an author."""
    found = []
    for address in _TAG.sub(" ", text).split(";"):
        parts = [" ".join(part.split()).strip(" .-") for part in _EMAIL.sub("", address).split(",")]
        parts = [part for part in parts if part]
        if parts:
            country, rest = _country_of(parts)
            own = [part for part in rest if not _DEPARTMENT.search(part)] or rest
            # Use the part with the most specific kind of institution.
            named = (
                part for level in _institution_patterns() for part in own if level.search(part)
            )
            found.append((_FORMER.sub("", next(named, own[0])), country))
    return tuple(dict.fromkeys(one for one in found if any(one)))


def _country_of(parts: list[str]) -> tuple[str, list[str]]:
    """Find the country at the end of an address; return the country and the other parts."""
    names = country_names()
    for back in range(1, min(len(parts), 3) + 1):
        words = normal_title(_WITH_DIGITS.sub(" ", parts[-back])).split()
        for n_words in range(min(len(words), 5), 0, -1):
            is_part = n_words < len(words)
            # Accept the last words as country in "Tokyo Japan", not in "Le Maine University".
            if is_part and back > 1:
                continue
            country = names.get(" ".join(words[-n_words:]))
            if country and not (
                is_part and any(level.search(parts[-back]) for level in _institution_patterns())
            ):
                return country, parts[:-back] or parts
    return "", parts


@cache
def _institution_patterns() -> tuple[re.Pattern[str], ...]:
    """Return patterns for kinds of institutions, sorted from specific to general."""
    return tuple(re.compile("|".join(line), re.IGNORECASE) for line in _lines("institutions"))


@cache
def country_names() -> dict[str, str]:
    """Return a mapping from normalised names of countries and US states to countries."""
    states = {normal_title(name): "United States" for line in _lines("states") for name in line}
    return states | {normal_title(name): line[0] for line in _lines("countries") for name in line}


def _lines(name: str) -> list[list[str]]:
    """Read the names, separated by semicolons, in each line of a data file."""
    text = Path(__file__).with_name(f"{name}.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return [[one.strip() for one in line.split(";")] for line in lines]


def countries(atlas: AtlasStore, *, limit: int = 100) -> Analysis:
    """Count the papers of each country, overall, by region and by year.

    In the column ``papers``, a paper counts once for each country of its authors. In
    ``fractional``, it is divided equally among its authors and their affiliations (Waltman & van
    Eck 2015). The activity index is the share of a region in a country's papers, divided by the
    share of the region in all papers with a known country (Schubert & Braun 1986).

    Parameters
    ----------
    atlas : Atlas
    limit : int, default 100
        Number of countries in the table.

    Returns
    -------
    Analysis
        One row per country: ``country, papers, fractional, share, share_low, share_high,
        effective_regions, main_region``. ``tables["regions"]``: ``country, topic_id, label,
        papers, share, activity_index``; ``tables["years"]``: ``country, year, papers,
        located_papers, share, share_low, share_high, covered``.

    Raises
    ------
    InputError
        If no paper has affiliations, or the limit is less than 1.
    """
    return _places(atlas, "country", limit)


def institutions(atlas: AtlasStore, *, limit: int = 100) -> Analysis:
    """Count the papers of each institution, overall, by region and by year.

    The tables are similar to the tables of `countries`, with the columns ``institution`` and
    ``country``.
    Names are taken from the affiliations, ignoring case and punctuation. The names are not
    compared with a list of institutions.

    Parameters
    ----------
    atlas : Atlas
    limit : int, default 100
        Number of institutions in the table.

    Returns
    -------
    Analysis

    Raises
    ------
    InputError
        If no paper has affiliations, or the limit is less than 1.
    """
    return _places(atlas, "institution", limit)


def locate(affiliations: Iterable[Sequence[str] | None]) -> pd.DataFrame:
    """Return the institutions and countries of each paper, and the fraction credited to each."""
    import pandas as pd

    texts = pd.Series([list(of) if of is not None else [] for of in affiliations], dtype=object)
    authors = texts.explode().dropna().rename("text").rename_axis("row").reset_index()
    code, different = pd.factorize(authors["text"].astype(str))
    read = [read_affiliation(text) for text in different]
    authors["place"] = pd.Series(read, dtype=object).iloc[code].to_numpy()
    authors["n_places"] = authors["place"].map(len)
    authors = authors[authors["n_places"] > 0]
    n_authors = authors.groupby("row")["row"].transform("size")
    authors = authors.assign(weight=1 / (authors["n_places"] * n_authors)).explode("place")
    authors["institution"] = [place[0] for place in authors["place"]]
    authors["country"] = [place[1] for place in authors["place"]]
    # Use the most frequent spelling of names that differ only in case and punctuation.
    counted = authors["institution"].value_counts().rename_axis("name").reset_index(name="n")
    counted["key"] = counted["name"].map(normal_title)
    spelling = counted.groupby("key", sort=False)["name"].transform("first")
    authors["institution"] = authors["institution"].map(
        dict(zip(counted["name"], spelling, strict=True))
    )
    of = authors.groupby(["row", "institution", "country"], as_index=False)["weight"].sum()
    return of.astype({"row": np.int64, "weight": np.float64})


def _places(atlas: AtlasStore, kind: str, limit: int) -> Analysis:
    if limit < 1:
        raise InputError(f"The limit is {limit}; give at least 1.")
    papers = atlas.read_papers(["aff"])
    places = locate(papers["aff"])
    places = places[places[kind] != ""]
    title = atlas.coverage["title"]
    if places.empty:
        raise InputError(
            f"No paper of {title} has an affiliation that names "
            f"{'a' if kind == 'country' else 'an'} {kind}; build the atlas from ADS documents, "
            "because arXiv listings have no affiliations."
        )
    names, cells = _cells(places, kind)
    years, groups = paper_years(atlas), read_groups(atlas)
    cells = cells.assign(year=years[cells["row"]], topic_id=groups[cells["row"]])
    located = np.unique(cells["row"].to_numpy())
    period = read_years(atlas, located)
    labels = atlas.topics.set_index("topic_id")["label"]
    table = _table(names, cells, labels, n_located=len(located))
    followed = table["place"].head(_N_DETAILED)
    kept = cells[cells["place"].isin(followed)]
    counts = count_by_year(kept["place"], kept["year"], ids=followed, calendar=period.years)
    share = len(located) / len(papers)
    needed = {"few": share < _WELL_KNOWN, "spelling": kind == "institution"}
    kinds = "countries" if kind == "country" else "institutions"
    return Analysis(
        kind=kinds,
        table=table.drop(columns="place").head(limit),
        caption=(
            f"{kinds.capitalize()} of the authors of {title}: {len(table):,} in {len(located):,} "
            f"papers with known affiliations, {period.years[0]} to {period.years[-1]}."
        ),
        denominators={f"papers with a known {kind}": len(located), "papers": len(papers)},
        bounds=atlas.coverage,
        warnings=(*warn("places", needed, share=share, kind=kind), *period.warnings),
        tables={
            "regions": _regions(names, kept, labels, groups[located]),
            # The denominators are papers with known places.
            "years": tabulate_years(names.loc[followed], counts, period, total="located_papers"),
        },
    )


def _cells(places: pd.DataFrame, kind: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Number the places; return a table of names and a table of papers by place."""
    keys = ["country"]
    if kind == "institution":
        keys = ["institution", "country"]
        # If the text has no country, use the country of the institution in other affiliations,
        # provided that these affiliations name only one country.
        named = places[places["country"] != ""].drop_duplicates(keys)
        only = named.drop_duplicates("institution", keep=False).set_index("institution")["country"]
        found = places["institution"].map(only).fillna("")
        places = places.assign(country=places["country"].where(places["country"] != "", found))
    places = places.assign(place=places.groupby(keys).ngroup())
    names = places.drop_duplicates("place").set_index("place")[keys].sort_index()
    return names, places.groupby(["place", "row"], as_index=False)["weight"].sum()


def _table(
    names: pd.DataFrame, cells: pd.DataFrame, labels: pd.Series, *, n_located: int
) -> pd.DataFrame:
    """Return a table with the papers, effective regions and main region of each place."""
    of = cells.groupby("place")
    table = names.assign(papers=of.size(), fractional=of["weight"].sum())
    table["share"] = table["papers"] / n_located
    table["share_low"], table["share_high"] = share_interval(table["papers"], n_located)
    inside = cells[cells["topic_id"] >= 0].groupby(["place", "topic_id"]).size()
    share = inside / inside.groupby(level=0).transform("sum")
    table["effective_regions"] = np.exp(-(share * np.log(share)).groupby(level=0).sum())
    main = inside.rename("n").reset_index().sort_values("n", ascending=False, kind="stable")
    main = main.drop_duplicates("place").set_index("place")["topic_id"]
    table["main_region"] = main.map(labels)
    table["main_region"] = table["main_region"].fillna("")
    return table.reset_index().sort_values(
        ["papers", "fractional", "place"], ascending=[False, False, True], ignore_index=True
    )


def _regions(
    names: pd.DataFrame, cells: pd.DataFrame, labels: pd.Series, located: np.ndarray
) -> pd.DataFrame:
    """Return a table with the activity index of each place and region."""
    import pandas as pd

    table = cells[cells["topic_id"] >= 0].groupby(["place", "topic_id"]).size()
    table = table.rename("papers").reset_index()
    everywhere = table["topic_id"].map(pd.Series(located).value_counts())
    own = table["papers"] / table["place"].map(cells.groupby("place").size())
    table.insert(2, "label", table["topic_id"].map(labels))
    table["share"] = table["papers"] / everywhere
    table["activity_index"] = own / (everywhere / len(located))
    table = table.sort_values(["place", "papers"], ascending=[True, False], ignore_index=True)
    return names.loc[table.pop("place")].reset_index(drop=True).join(table)
