"""Institutions and countries of papers, read from affiliations."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from landscape._wording import normal_title
from landscape.errors import InputError
from landscape.overlays._periods import count_years, paper_years
from landscape.overlays.trends._rates import count_by_year, share_interval
from landscape.overlays.trends._topics import read_groups
from landscape.types import Analysis

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from landscape.store import AtlasStore

_EMAIL = re.compile(r"\S+@\S+|\be-?mail:?", re.IGNORECASE)
_WITH_DIGITS = re.compile(r"\b[\w-]*\d[\w-]*\b")
_TAG = re.compile(r"<[^>]*>|&[a-z]+;")
_FORMER = re.compile(r"^(?:also at|now at|present address|currently at)[:\s]+", re.IGNORECASE)
_DEPARTMENT = re.compile(
    r"\b(?:dep(?:ar)?t(?:a?ment|imento|\.)?|facult\w*|fakultät|school of|division|section|"
    r"physics group|dipartimento|sezione)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=1 << 17)
def read_affiliation(text: str) -> tuple[tuple[str, str], ...]:
    """Institutions and countries of one author's affiliation."""
    found = []
    for address in _TAG.sub(" ", text).split(";"):
        parts = [" ".join(part.split()).strip(" .-") for part in _EMAIL.sub("", address).split(",")]
        parts = [part for part in parts if part]
        if parts:
            country, rest = _country_of(parts)
            found.append((_institution_of(rest), country))
    return tuple(dict.fromkeys(one for one in found if any(one)))


def _country_of(parts: list[str]) -> tuple[str, list[str]]:
    """The country, looked for from the end, and the parts that are left."""
    names = country_names()
    for back in range(1, min(len(parts), 3) + 1):
        words = normal_title(_WITH_DIGITS.sub(" ", parts[-back])).split()
        for n_words in range(min(len(words), 5), 0, -1):
            # "Tokyo Japan": the last words will do, but not the "Maine" of "Le Maine University".
            if n_words < len(words) and back > 1:
                continue
            country = names.get(" ".join(words[-n_words:]))
            if country and not (n_words < len(words) and _names_institution(parts[-back])):
                return country, [*parts[: len(parts) - back]] or parts
    return "", parts


def _institution_of(parts: list[str]) -> str:
    own = [part for part in parts if not _DEPARTMENT.search(part)] or parts
    for level in _levels():
        for part in own:
            if level.search(part):
                return _FORMER.sub("", part)
    return _FORMER.sub("", own[0]) if own else ""


def _names_institution(part: str) -> bool:
    return any(level.search(part) for level in _levels())


@cache
def _levels() -> tuple[re.Pattern[str], ...]:
    """Marks of institutions, the most specific kind first."""
    return tuple(re.compile("|".join(line), re.IGNORECASE) for line in _lines("institutions"))


@cache
def country_names() -> dict[str, str]:
    """Countries by every normalised way to write them."""
    states = {normal_title(name): "United States" for line in _lines("states") for name in line}
    return states | {normal_title(name): line[0] for line in _lines("countries") for name in line}


def _lines(name: str) -> list[list[str]]:
    """Names of each line of a data file, between semicolons."""
    text = Path(__file__).with_name(f"{name}.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return [[one.strip() for one in line.split(";")] for line in lines]


_FOLLOWED = 30  # places whose years and regions are tabled
_WELL_KNOWN = 0.5  # share of papers with affiliations; below it, places are those of a part


def countries(atlas: AtlasStore, *, limit: int = 100) -> Analysis:
    """Count the papers of each country, and find what it works on.

    A paper counts once for each country of its authors ("papers") and is shared out equally
    among its authors, and their affiliations, in "fractional" (Waltman & van Eck 2015). The
    activity index is the share of a region in a country's papers, divided by its share in all
    papers with a known country (Schubert & Braun 1986).

    Parameters
    ----------
    atlas : Atlas
    limit : int, default 100
        Countries listed.

    Returns
    -------
    Analysis
        One row a country: ``country, papers, fractional, share, share_low, share_high,
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
    """Count the papers of each institution, and find what it works on.

    As `countries`, with ``institution`` and ``country``. Institutions are as affiliations write
    them, case and punctuation aside; no register is used.

    Parameters
    ----------
    atlas : Atlas
    limit : int, default 100
        Institutions listed.

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
    """Institutions and countries of papers, with the fraction of the paper that each has."""
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
    authors["institution"] = _one_spelling(authors["institution"])
    of = authors.groupby(["row", "institution", "country"], as_index=False)["weight"].sum()
    return of.astype({"row": np.int64, "weight": np.float64})


def _one_spelling(names: pd.Series) -> pd.Series:
    """The most frequent spelling among those that differ in case and punctuation only."""
    counted = names.value_counts().rename_axis("name").reset_index(name="n")
    counted["key"] = counted["name"].map(normal_title)
    first = counted.drop_duplicates("key").set_index("key")["name"]
    return names.map(counted.set_index("name")["key"].map(first))


def _places(atlas: AtlasStore, kind: str, limit: int) -> Analysis:
    if limit < 1:
        raise InputError(f"The limit is {limit}; give at least 1.")
    papers = atlas.read_papers(["aff"])
    places = locate(papers["aff"])
    places = places[places[kind] != ""]
    if places.empty:
        raise InputError(
            f"No paper of {atlas.coverage['title']} has an affiliation that names "
            f"{'a' if kind == 'country' else 'an'} {kind}; arXiv's listings have none, build the "
            "atlas from ADS documents."
        )
    names, cells = _cells(places, kind)
    years = paper_years(atlas)
    groups = read_groups(atlas)
    cells = cells.assign(year=years[cells["row"]], topic_id=groups[cells["row"]])
    located = np.unique(cells["row"].to_numpy())
    period = count_years(years[located])
    labels = atlas.topics.set_index("topic_id")["label"]
    table = _table(names, cells, labels, located=len(located))
    followed = table.head(_FOLLOWED)
    kept = cells[cells["place"].isin(followed["place"])]
    return Analysis(
        kind="countries" if kind == "country" else "institutions",
        table=table.drop(columns="place").head(limit),
        caption=(
            f"{'Countries' if kind == 'country' else 'Institutions'} of the authors of "
            f"{atlas.coverage['title']}: {len(table):,} in {len(located):,} papers with known "
            f"affiliations, {period.years[0]} to {period.years[-1]}."
        ),
        denominators={f"papers with a known {kind}": len(located), "papers": len(papers)},
        bounds=atlas.coverage,
        warnings=(*_warnings(kind, len(located), len(papers)), *period.warnings),
        tables={
            "regions": _regions(names, kept, labels, groups[located]),
            "years": _years(names, kept, followed["place"], years[located]),
        },
    )


def _cells(places: pd.DataFrame, kind: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Names of places by number, and ``place, row, weight``: one row a place and paper."""
    keys = ["country"]
    if kind == "institution":
        keys = ["institution", "country"]
        places = _with_country(places)
    grouped = places.groupby(keys)
    places = places.assign(place=grouped.ngroup())
    names = places.drop_duplicates("place").set_index("place")[keys].sort_index()
    return names, places.groupby(["place", "row"], as_index=False)["weight"].sum()


def _with_country(places: pd.DataFrame) -> pd.DataFrame:
    """Where no country is written, the only one that the same institution has elsewhere."""
    named = places[places["country"] != ""].drop_duplicates(["institution", "country"])
    only = named.drop_duplicates("institution", keep=False).set_index("institution")["country"]
    missing = places["country"] == ""
    found = places["institution"].map(only).fillna("")
    return places.assign(country=places["country"].where(~missing, found))


def _table(
    names: pd.DataFrame, cells: pd.DataFrame, labels: pd.Series, *, located: int
) -> pd.DataFrame:
    """A row a place: how much, over how many regions, and in which most."""
    of = cells.groupby("place")
    table = names.assign(papers=of.size(), fractional=of["weight"].sum())
    table["share"] = table["papers"] / located
    table["share_low"], table["share_high"] = share_interval(table["papers"], located)
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
    names: pd.DataFrame, cells: pd.DataFrame, labels: pd.Series, located: NDArray[np.int64]
) -> pd.DataFrame:
    import pandas as pd

    of_place = cells.groupby("place").size()
    in_region = pd.Series(located).value_counts()
    table = cells[cells["topic_id"] >= 0].groupby(["place", "topic_id"]).size()
    table = table.rename("papers").reset_index()
    everywhere = table["topic_id"].map(in_region)
    own = table["papers"] / table["place"].map(of_place)
    table.insert(2, "label", table["topic_id"].map(labels))
    table["share"] = table["papers"] / everywhere
    table["activity_index"] = own / (everywhere / len(located))
    table = table.sort_values(["place", "papers"], ascending=[True, False])
    return _named(names, table)


def _years(
    names: pd.DataFrame, cells: pd.DataFrame, followed: pd.Series, located: NDArray[np.int64]
) -> pd.DataFrame:
    """Papers of each place and year; the denominators are papers whose places are known."""
    import pandas as pd

    period = count_years(located)
    counts = count_by_year(cells["place"], cells["year"], ids=followed, calendar=period.years)
    low, high = share_interval(counts, period.counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = counts / period.counts
    table = pd.DataFrame({
        "place": np.repeat(followed.to_numpy(), len(period.years)),
        "year": np.tile(period.years, len(followed)),
        "papers": counts.ravel(),
        "located_papers": np.tile(period.counts, len(followed)),
        "share": np.where(period.covered, share, np.nan).ravel(),
        "share_low": np.where(period.covered, low, np.nan).ravel(),
        "share_high": np.where(period.covered, high, np.nan).ravel(),
        "covered": np.tile(period.covered, len(followed)),
    })  # fmt: skip
    return _named(names, table)


def _named(names: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Names in front, instead of numbers of places."""
    whole = names.loc[table["place"]].reset_index(drop=True)
    return whole.join(table.drop(columns="place").reset_index(drop=True))


def _warnings(kind: str, located: int, n_papers: int) -> tuple[str, ...]:
    said = []
    if located < _WELL_KNOWN * n_papers:
        said.append(
            f"Only {located / n_papers:.0%} of the papers have a known {kind}; the others may "
            "differ."
        )
    if kind == "institution":
        said.append("Institutions are as affiliations write them: one may occur under two names.")
    return tuple(said)
