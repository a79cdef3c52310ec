"""Celestial objects of a literature: a table of all, and a report on one.

`landscape.corpus.objects` has the grammar of names. Names of one object, such as "M31" and
"NGC 224", or coordinates of different precision, are counted together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from landscape._wording import count, did_you_mean
from landscape.corpus.objects import (
    ObjectMention,
    coordinates_of,
    find_objects,
    normal_name,
    object_key,
)
from landscape.corpus.thesaurus import MIN_SCORE
from landscape.errors import InputError
from landscape.overlays.periods import UNKNOWN_YEAR, describe_corpus, paper_years
from landscape.overlays.values import values
from landscape.search import open_engine
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.store import AtlasStore

__all__ = ["ObjectMention", "describe_object", "find_objects", "objects"]

_LISTED = 3  # facilities, concepts and regions of an object
_NEAR = 1_000  # papers nearest to an object whose objects are compared
_FEWEST, _MAX_COMPARED = 2, 20  # papers of an object that is compared
_SIMILAR, _PAPERS = 10, 20  # rows of tables of the report
_LONGEST_NAME = 300  # characters
_PLACES = frozenset({"field", "region"})  # kinds that are not compared


def objects(
    atlas: AtlasStore,
    *,
    filter: str | None = None,  # noqa: A002
    kind: str = "",
    limit: int | None = None,
) -> Analysis:
    """List the celestial objects that papers name.

    Parameters
    ----------
    atlas : Atlas
    filter : str, optional
        Only papers that match this filter, such as ``"year>=2024"``.
    kind : str, optional
        Only objects of this kind, such as "planet" or "galaxy".
    limit : int, optional
        Number of objects, those with most papers first. By default, all are listed.

    Returns
    -------
    Analysis
        ``name, kind, papers, first_year, last_year, per_year, facilities, concepts, regions,
        measured, ra, dec, precision``. ``per_year`` is the mean number of papers per year from
        the first to the last, ``measured`` counts the values that papers measure, and ``ra`` and
        ``dec`` are the coordinates in degrees (J2000) that the name holds, with their precision
        in arcseconds.

    Raises
    ------
    InputError
        If no object has the kind, the filter is wrong, or `limit` is below 1.
    AtlasError
        If the atlas was built by an earlier version.

    Examples
    --------
    >>> import landscape
    >>> atlas = landscape.open("my.atlas")  # doctest: +SKIP
    >>> landscape.overlays.objects.objects(atlas, kind="planet").table  # doctest: +SKIP
    """
    if limit is not None and limit < 1:
        raise InputError(f"limit is {limit}; give the number of objects to list, at least 1.")
    pairs = _pairs(atlas)
    rows = open_engine(atlas).indexes.rows_that_pass(filter)
    if rows is not None:
        pairs = pairs[pairs["paper_row"].isin(rows)]
    if kind:
        known = sorted({*pairs["kind"]} - {""})
        if not known:
            raise InputError("No paper that matches names an object of a known kind.")
        if kind not in known:
            hint = did_you_mean(kind, known, n=3, cutoff=0.5)
            raise InputError(f"No object is a {kind!r}{hint} The kinds are: {', '.join(known)}.")
        pairs = pairs[pairs["kind"] == kind]
    n_papers, n_objects = pairs["paper_row"].nunique(), pairs["key"].nunique()
    pairs = pairs.assign(year=paper_years(atlas)[pairs["paper_row"]])
    dated = pairs["year"].where(pairs["year"] != UNKNOWN_YEAR)
    groups = pairs.assign(year=dated).groupby("key", sort=False)
    table = groups.agg(
        name=("name", "first"), kind=("kind", "first"), papers=("paper_row", "size"),
        first_year=("year", "min"), last_year=("year", "max"),
    )  # fmt: skip
    table = table.sort_values(["papers", "name"], ascending=[False, True]).head(limit)
    pairs = pairs[pairs["key"].isin(table.index)]
    table["per_year"] = table["papers"] / (table["last_year"] - table["first_year"] + 1)
    for column, found in (
        ("facilities", _facilities(atlas)),
        ("concepts", _concepts(atlas)),
        ("regions", _regions(atlas)),
    ):  # fmt: skip
        table[column] = _most_frequent(pairs, found).reindex(table.index, fill_value="")
    stated = atlas.read_layer("values", ["object", "own"])
    own = stated.loc[stated["own"] & (stated["object"] != ""), "object"].map(object_key)
    table["measured"] = own.value_counts().reindex(table.index, fill_value=0)
    places = [coordinates_of(name) or (np.nan,) * 3 for name in table["name"]]
    table = table.reset_index(drop=True)
    table[["ra", "dec", "precision"]] = np.reshape(np.array(places, np.float64), (-1, 3))
    chosen = f" that match {filter}" if filter else ""
    return Analysis(
        kind="objects",
        table=table.astype({"first_year": "Int64", "last_year": "Int64"}),
        caption=f"{'Objects' if not kind else f'Objects ({kind})'} in papers of "
        f"{describe_corpus(atlas)}{chosen}: {n_objects:,} in {count(n_papers, 'paper')}.",
        denominators={"papers": len(atlas), "papers with an object": n_papers},
        bounds=atlas.coverage,
    )


def _pairs(atlas: AtlasStore) -> pd.DataFrame:
    """Return ``key, name, kind, paper_row``, one row for each object and paper.

    The name and kind of a key are the most frequent ones.
    """
    mentions = atlas.read_layer("objects", ["name", "kind"])
    keys = {name: object_key(name) for name in mentions["name"].unique()}
    mentions = mentions.assign(key=mentions["name"].map(keys))
    counts = mentions.value_counts(["key", "name", "kind"]).reset_index()
    counts["size"] = counts["name"].str.len()
    # A name with a kind and with more precise coordinates comes first.
    best = counts.sort_values(["count", "size"], ascending=False).drop_duplicates("key")
    pairs = mentions[["key", "paper_row"]].drop_duplicates()
    return pairs.merge(best[["key", "name", "kind"]], on="key")


def _most_frequent(pairs: pd.DataFrame, found: pd.DataFrame) -> pd.Series:
    """Return the most frequent names of each object, as text. `found` has names of papers."""
    joined = pairs[["key", "paper_row"]].merge(found, on="paper_row")
    counts = joined.value_counts(["key", "found"], sort=True).reset_index()
    top = counts.groupby("key", sort=False).head(_LISTED)
    return top.groupby("key", sort=False)["found"].agg(", ".join)


def _facilities(atlas: AtlasStore) -> pd.DataFrame:
    mentions = atlas.read_layer("missions", ["facility", "role"])
    used = mentions[mentions["role"] == "science"]
    return used[["paper_row", "facility"]].drop_duplicates().rename(columns={"facility": "found"})


def _concepts(atlas: AtlasStore) -> pd.DataFrame:
    tags = atlas.read_layer("uat", ["concept_id", "score"])
    tags = tags[tags["score"] >= MIN_SCORE]
    names = {
        one: atlas.thesaurus.find(one).label for one in tags["concept_id"].astype(str).unique()
    }
    return tags.assign(found=tags["concept_id"].astype(str).map(names))[["paper_row", "found"]]


def _regions(atlas: AtlasStore) -> pd.DataFrame:
    import pandas as pd

    names = atlas.map["topic_id"].map(atlas.region_names)
    found = pd.DataFrame({"paper_row": np.arange(len(atlas)), "found": names})
    return found[found["found"].notna()]


def describe_object(atlas: AtlasStore, name: str) -> Analysis:
    """Describe what the papers of an atlas say about a celestial object.

    Parameters
    ----------
    atlas : Atlas
    name : str
        Name of the object in any usual form, such as "M31" or "K2-18b".

    Returns
    -------
    Analysis
        ``measure, value``: kind, papers, years, facilities, concepts, regions and coordinates.
        ``tables["measured"]`` has the values that papers measure, ``tables["years"]`` the papers
        of each year, ``tables["places"]`` the regions with their papers and ``x, y``,
        ``tables["papers"]`` the papers that name the object most often, and
        ``tables["similar"]`` objects with similar papers (by their vectors) but fewer of them.

    Raises
    ------
    InputError
        If no paper names the object, or the name is empty.

    Examples
    --------
    >>> import landscape
    >>> atlas = landscape.open("my.atlas")  # doctest: +SKIP
    >>> landscape.overlays.objects.describe_object(atlas, "M31").to_text()  # doctest: +SKIP
    """
    import pandas as pd

    if not 0 < len(name.strip()) <= _LONGEST_NAME:
        raise InputError(f"Give the name of an object, of at most {_LONGEST_NAME} characters.")
    pairs, key = _pairs(atlas), object_key(normal_name(name))
    own = pairs[pairs["key"] == key]
    if own.empty:
        hint = did_you_mean(normal_name(name), pairs["name"].unique(), n=3, cutoff=0.6)
        raise InputError(f"No paper of this atlas names {normal_name(name)}{hint}")
    usual, kind = own.iloc[0][["name", "kind"]]
    rows = own["paper_row"].to_numpy(np.int64)
    years = paper_years(atlas)[rows]
    dated = years[years != UNKNOWN_YEAR]
    measured = values(atlas, object=usual).table
    measured = measured[measured["own"]]
    place = coordinates_of(usual)
    written = atlas.read_layer("objects", ["name", "surface"])
    surfaces = written.loc[written["name"].map(object_key) == key, "surface"].value_counts()
    common = surfaces.index[0]
    also = f" ({common})" if normal_name(common) == usual and common != usual else ""
    facts = {
        "kind": kind or "unknown",
        "also written": ", ".join(
            one for one in surfaces.index[:6] if len(one) > 1 and one != usual
        ),
        "papers": f"{len(rows):,}",
        "years": f"{dated.min()} to {dated.max()}" if len(dated) else "unknown",
        **{
            label: _most_frequent(own, found).get(key, "")
            for label, found in (
                ("facilities", _facilities(atlas)),
                ("concepts", _concepts(atlas)),
                ("regions", _regions(atlas)),
            )
        },
        "coordinates": place
        and f"{place.ra:.4f} {place.dec:+.4f} deg (J2000), to {place.precision:.3g} arcsec",
    }
    number, papers = np.unique(dated, return_counts=True)
    topics = atlas.map.iloc[rows]
    where = topics.groupby("topic_id").agg(
        papers=("x", "size"), x=("x", "median"), y=("y", "median")
    )
    where.insert(0, "region", where.index.map(atlas.region_names).fillna("outside the regions"))
    table = pd.DataFrame([pair for pair in facts.items() if pair[1]], columns=["measure", "value"])
    return Analysis(
        kind="object",
        table=table,
        caption=f"{usual}{also} in {describe_corpus(atlas)}.",
        denominators={"papers of the object": len(rows), "papers": len(atlas)},
        bounds=atlas.coverage,
        tables={
            "measured": measured.reset_index(drop=True),
            "similar": _similar(atlas, pairs, key, rows),
            "years": pd.DataFrame({"year": number, "papers": papers}),
            "places": where.sort_values("papers", ascending=False).reset_index(drop=True),
            "papers": _papers(atlas, rows, written, key),
        },
    )


def _papers(
    atlas: AtlasStore, rows: NDArray[np.int64], mentions: pd.DataFrame, key: str
) -> pd.DataFrame:
    """Return the papers that name an object most often, the newest first among equals."""
    of_object = mentions[mentions["paper_row"].isin(rows)]
    of_object = of_object[of_object["name"].map(object_key) == key]
    counts = of_object["paper_row"].value_counts()
    papers = atlas.read_papers(["paper_id", "title", "year", "bibcode"], rows=rows)
    papers = papers.assign(mentions=counts.reindex(rows).to_numpy())
    ordered = papers.sort_values(["mentions", "year"], ascending=False, kind="stable")
    return ordered.head(_PAPERS).reset_index(drop=True)


def _similar(
    atlas: AtlasStore, pairs: pd.DataFrame, key: str, rows: NDArray[np.int64]
) -> pd.DataFrame:
    """Return objects of the same kind with similar papers, but fewer of them.

    The similarity is the cosine between the mean vectors of the papers of two objects.
    """
    import pandas as pd

    vectors = open_engine(atlas).indexes.vectors
    centre = _mean(vectors.vectors(rows[:_MAX_COMPARED]))
    near = vectors.search(centre, k=min(_NEAR, len(atlas))).rows
    kind = pairs.loc[pairs["key"] == key, "kind"].iloc[0]
    sizes = pairs["key"].value_counts()
    others = pairs[pairs["paper_row"].isin(near) & (pairs["key"] != key)]
    others = others[(others["kind"] == kind) & ~others["kind"].isin(_PLACES)]
    enough = sizes[(sizes >= _FEWEST) & (sizes < len(rows))].index
    found = []
    for _, group in pairs[pairs["key"].isin(set(others["key"]) & set(enough))].groupby("key"):
        own = group["paper_row"].to_numpy(np.int64)
        shared = len(np.intersect1d(own, rows))
        if shared * 2 > len(own):
            continue  # its papers are those of the object
        cosine = float(_mean(vectors.vectors(own[:_MAX_COMPARED])) @ centre)
        found.append((group["name"].iloc[0], len(own), shared, cosine))
    table = pd.DataFrame(found, columns=["name", "papers", "shared", "similarity"])
    ordered = table.sort_values("similarity", ascending=False, ignore_index=True)
    return ordered.head(_SIMILAR)


def _mean(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    mean: NDArray[np.float32] = vectors.mean(axis=0)
    return mean / max(float(np.linalg.norm(mean)), 1e-9)
