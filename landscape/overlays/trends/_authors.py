"""Follow an author's papers over the map, and measure their spread and drift."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from landscape._author_names import given_names, is_compatible, person_key, place_in_byline
from landscape._wording import close_names, normal_title
from landscape.errors import InputError
from landscape.overlays.periods import read_years, warn
from landscape.search import open_engine
from landscape.statistics import normal_interval
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.store import AtlasStore

_SAMPLE = 20_000  # number of papers sampled for the corpus spread
_MAX_NEAR = 5_000  # maximum number of names compared with an unknown name


def author_path(
    atlas: AtlasStore,
    name: str,
    *,
    group: int | None = None,
    period_years: int = 5,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Analysis:
    """Follow an author's papers over the map, and measure spread, drift and moves between regions.

    Distances are cosine distances of the full embeddings; the map coordinates are only for plots.
    Papers are matched by name, so they can belong to several people with the same name. Papers that
    share co-authors or affiliations form a group, and different groups may be different people.

    Parameters
    ----------
    atlas : Atlas
    name : str
        ``"Rubin, Vera C."``, ``"Vera Rubin"``, ``"Rubin, V"`` or ``"Rubin"``.
    group : int, optional
        Use only the papers of this group; see ``tables["groups"]``.
    period_years : int, default 5
        Length of a period in years.
    n_resamples : int, default 1000
        Number of permutations in the test of the drift.
    seed : int, default 0

    Returns
    -------
    Analysis
        One row per paper, sorted by date: ``paper_id, paper_row, date, year, title, spelled,
        affiliation, n_authors, group, x, y, topic_id, label, step`` (distance from the previous
        paper). ``tables``: ``"summary"`` (``measure, value, low, high, note``), ``"topics"``,
        ``"periods"`` (``moved`` is True if the main region changed), ``"groups"``,
        ``"coauthors"``.

    Raises
    ------
    InputError
        If no paper has this author, or the group does not exist.

    Examples
    --------
    >>> author_path(None, " ")
    Traceback (most recent call last):
    landscape.errors.InputError: The author's name is empty; give one such as "Rubin, Vera".
    """
    wanted = " ".join(name.replace('"', " ").split()).strip(" ,^")
    if not wanted:
        raise InputError('The author\'s name is empty; give one such as "Rubin, Vera".')
    if period_years < 1:
        raise InputError(f"A period of {period_years} years is too short; give at least 1.")
    papers = _papers_of(atlas, wanted)
    groups = _groups_table(papers)
    if group is not None:
        if group not in set(papers["group"]):
            listed = ", ".join(map(str, sorted(set(papers["group"]))))
            raise InputError(f"{wanted} has no group {group}; there are: {listed}.")
        papers = papers[papers["group"] == group].reset_index(drop=True)
    matrix = atlas.vectors()
    vectors = np.asarray(matrix[papers["paper_row"].to_numpy()], dtype=np.float64)
    papers["step"] = np.r_[np.nan, 1 - (vectors[1:] * vectors[:-1]).sum(axis=1)]
    others = papers["coauthors"].explode().dropna()
    coauthors = others.groupby(others.map(person_key)).agg(
        name=lambda names: names.mode().iloc[0], papers="size"
    )
    tables = {
        "summary": _summary(papers, vectors, matrix, n_resamples=n_resamples, seed=seed),
        "topics": _topics_table(papers),
        "periods": periods_table(papers, vectors, period_years),
        "groups": groups,
        "coauthors": coauthors.sort_values("papers", ascending=False, ignore_index=True).head(100),
    }
    moves = int(tables["periods"]["moved"].sum())
    return Analysis(
        kind="author",
        table=papers.drop(columns=["coauthors"]),
        caption=(
            f"Papers by {wanted} in {atlas.coverage['title']}, {papers['year'].min()} to "
            f"{papers['year'].max()}: {len(papers):,} papers in "
            f"{papers.loc[papers['topic_id'] >= 0, 'topic_id'].nunique()} regions, {moves} "
            f"{'change' if moves == 1 else 'changes'} of the main region between periods of "
            f"{period_years} years."
        ),
        denominators={"papers of the author": len(papers), "papers of the atlas": len(matrix)},
        bounds=atlas.coverage,
        warnings=(*_namesakes(papers, groups, group), *read_years(atlas).warnings),
        tables=tables,
    )


def _papers_of(atlas: AtlasStore, name: str) -> pd.DataFrame:
    """Return the papers of an author, sorted by date."""
    columns = ["paper_id", "date", "year", "title", "authors", "aff"]
    rows = np.asarray(open_engine(atlas).select(f'author:"{name}"'), dtype=np.int64)
    papers = atlas.read_papers(columns).iloc[rows].assign(paper_row=rows)
    papers["place"] = [place_in_byline(authors, name) for authors in papers["authors"]]
    papers = papers[papers["place"] >= 0]
    if papers.empty:
        raise InputError(
            f"No paper of this atlas has an author {name!r}{_nearest(atlas, name)}; see the names "
            'of a paper with atlas.read_papers(["title", "authors"]).'
        )
    papers = papers[papers["year"].notna()].astype({"year": np.int64})
    if papers.empty:
        raise InputError(
            f"No paper by {name!r} has a date, so there is no path over time; use another author."
        )
    papers = papers.sort_values(["date", "paper_row"], ignore_index=True)
    bylines = [list(authors) for authors in papers["authors"]]
    places = papers["place"].tolist()
    papers["spelled"] = [names[at] for names, at in zip(bylines, places, strict=True)]
    # Affiliations cannot be assigned if the lists have different lengths.
    papers["affiliation"] = [
        aff[at] if len(aff) == len(names) and aff[at] not in (None, "-") else ""
        for names, aff, at in zip(bylines, papers["aff"], places, strict=True)
    ]
    papers["coauthors"] = [
        names[:at] + names[at + 1 :] for names, at in zip(bylines, places, strict=True)
    ]
    papers["n_authors"] = [len(names) for names in bylines]
    papers["group"] = link_papers(
        papers["spelled"], papers["coauthors"], [text.split(";") for text in papers["affiliation"]]
    )
    at = atlas.map.iloc[papers["paper_row"]][["x", "y", "topic_id"]].reset_index(drop=True)
    papers = papers.drop(columns=["authors", "aff", "place"]).join(at)
    labels = atlas.topics.set_index("topic_id")["label"]
    papers["label"] = papers["topic_id"].map(labels).fillna("")
    return papers


def _nearest(atlas: AtlasStore, name: str) -> str:
    """Return the most similar author names of the atlas as text for an error message."""
    from itertools import islice

    start = f" {person_key(name)[:2]}"
    everybody = {one for of in atlas.read_papers(["authors"])["authors"] for one in of}
    alike = {person_key(one): one for one in everybody if start in f" {one.casefold()}"}
    near = close_names(person_key(name), islice(alike, _MAX_NEAR), cutoff=0.7)
    return f" (nearest: {'; '.join(alike[key] for key in near)})" if near else ""


def _summary(
    papers: pd.DataFrame,
    vectors: NDArray[np.float64],
    matrix: NDArray[np.float32],
    *,
    n_resamples: int,
    seed: int,
) -> pd.DataFrame:
    import pandas as pd

    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(len(matrix), min(_SAMPLE, len(matrix)), replace=False))
    corpus, _ = mean_distance(np.asarray(matrix[rows], dtype=np.float64))
    spread, error = mean_distance(vectors)
    drift, p = measure_drift(vectors, n_resamples=n_resamples, seed=seed)
    share = papers.loc[papers["topic_id"] >= 0, "topic_id"].value_counts(normalize=True)
    effective = float(np.exp(-(share * np.log(share)).sum())) if len(share) else np.nan
    (low, high), nan = normal_interval(spread, error), np.nan
    rows_ = [
        ("spread", spread, float(low), float(high), "mean cosine distance of two papers"),
        ("corpus spread", corpus, nan, nan, "mean cosine distance of two papers of the corpus"),
        ("effective regions", effective, nan, nan, "exponential of the entropy over regions"),
        ("drift", drift, nan, nan, "cosine distance of the earlier and later papers"),
        ("drift p", p, nan, nan, "share of random orders with at least this drift"),
    ]
    return pd.DataFrame(rows_, columns=["measure", "value", "low", "high", "note"])


_SPAN = {"papers": ("year", "size"), "first_year": ("year", "min"), "last_year": ("year", "max")}


def _topics_table(papers: pd.DataFrame) -> pd.DataFrame:
    inside = papers[papers["topic_id"] >= 0]
    table = inside.groupby(["topic_id", "label"], as_index=False).agg(**_SPAN)
    table["share"] = table["papers"] / len(papers)
    return table.sort_values(["papers", "topic_id"], ascending=[False, True], ignore_index=True)


def _groups_table(papers: pd.DataFrame) -> pd.DataFrame:
    names = {"spelled": "spelled", "affiliations": "affiliation", "labels": "label"}
    table = papers.groupby("group", as_index=False).agg(
        **_SPAN, **{name: (column, _distinct) for name, column in names.items()}
    )
    # Papers without a link to another paper (group 0) come last.
    return table.sort_values("group", key=lambda n: n.mask(n == 0, n.max() + 1), ignore_index=True)


def _distinct(texts: pd.Series) -> list[str]:
    return [str(text) for text in texts[texts != ""].value_counts().index[:5]]


def _namesakes(papers: pd.DataFrame, groups: pd.DataFrame, chosen: int | None) -> tuple[str, ...]:
    given = sorted({given_names(name) for name in papers["spelled"]})
    first = sorted({one[0] for one in given if one and len(one[0]) > 1})
    linked = int((groups["group"] > 0).sum())
    alone = int(groups.loc[groups["group"] == 0, "papers"].sum())
    needed = {
        "namesakes": True,
        "names": any(not is_compatible(a, b) for a in given for b in given),
        "groups": chosen is None and linked > 1,
    }
    return warn(
        "author",
        needed,
        groups=linked,
        alone=f" and {alone} linked to none" if alone else "",
        names=", ".join(one.title() for one in first[:6]) if len(first) > 1 else "by initials",
    )


_LONG_BYLINE = 30  # ignore lists with more authors, because shared authors are weak evidence


def link_papers(
    spellings: Sequence[str],
    coauthors: Sequence[Sequence[str]],
    affiliations: Sequence[Sequence[str]],
) -> NDArray[np.int64]:
    """Group papers with the same author name by shared co-authors and affiliations."""
    from scipy.sparse.csgraph import connected_components
    from sklearn.preprocessing import MultiLabelBinarizer

    marks = [
        {f"person {person_key(name)}" for name in others if len(others) < _LONG_BYLINE}
        | {f"place {key}" for key in map(normal_title, places) if key}
        for others, places in zip(coauthors, affiliations, strict=True)
    ]
    has_mark = MultiLabelBinarizer(sparse_output=True).fit_transform(marks)
    given = list(map(given_names, spellings))
    different = list(dict.fromkeys(given))
    kinds = np.array([different.index(one) for one in given])
    fits = np.array([[is_compatible(a, b) for b in different] for a in different])
    # "Y. Wang" can be Yu Wang or Yang Wang, so "Y. Wang" must not link the two people.
    clash = fits.astype(np.int64) @ (~fits).astype(np.int64)
    unclear = np.any(clash * fits > 0, axis=1)[kinds]
    linked = (has_mark @ has_mark.T).multiply(fits[np.ix_(kinds, kinds)]).tocsr()
    linked.eliminate_zeros()
    clear = np.flatnonzero(~unclear)
    group = np.arange(len(kinds)) + len(kinds)
    group[clear] = connected_components(linked[clear][:, clear], directed=False)[1]
    for paper in np.flatnonzero(unclear):
        near = np.intersect1d(linked[[paper]].indices, clear)
        owners = np.unique(group[near])
        if len(owners) == 1:
            group[paper] = owners[0]
    _, first, group, sizes = np.unique(
        group, return_index=True, return_inverse=True, return_counts=True
    )
    # Sort the groups by size, then by first paper. Papers without a link are in group 0.
    rank = np.lexsort((first, -sizes)).argsort() + 1
    return np.where(sizes[group] > 1, rank[group], 0)


def mean_distance(vectors: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean cosine distance of pairs of unit vectors and its jackknife error."""
    n = len(vectors)
    if n < 2:
        return float("nan"), float("nan")
    total = vectors.sum(axis=0)
    whole = float(total @ total)
    mean = 1 - (whole - n) / (n * (n - 1))
    if n < 3:
        return mean, float("nan")
    without = whole - 2 * vectors @ total + 1
    left_out = 1 - (without - (n - 1)) / ((n - 1) * (n - 2))
    error = np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())
    return mean, float(error)


def measure_drift(
    vectors: NDArray[np.float64], *, n_resamples: int = 1000, seed: int = 0
) -> tuple[float, float]:
    """Return the cosine distance between the earlier and the later papers, and its p value."""
    n = len(vectors)
    if n < 4:
        return float("nan"), float("nan")
    early = np.arange(n) < n // 2
    rng = np.random.default_rng(seed)
    orders = rng.permuted(np.tile(early, (n_resamples, 1)), axis=1)
    drift = _distance_of_halves(early[None], vectors)[0]
    chance = _distance_of_halves(orders, vectors)
    return float(drift), float((1 + (chance >= drift).sum()) / (1 + n_resamples))


def _distance_of_halves(
    early: NDArray[np.bool_], vectors: NDArray[np.float64]
) -> NDArray[np.float64]:
    first = early.astype(np.float64) @ vectors
    second = vectors.sum(axis=0) - first
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return 1 - (first * second).sum(axis=1) / np.maximum(lengths, 1e-12)


def periods_table(
    papers: pd.DataFrame, vectors: NDArray[np.float64], period_years: int
) -> pd.DataFrame:
    """Summarise periods with their papers, main region and distance from the previous period."""
    import pandas as pd

    start = papers["year"] - papers["year"] % period_years
    rows, before = [], None
    for first, of in papers.groupby(start):
        centre = vectors[of.index].sum(axis=0)
        centre = centre / max(np.linalg.norm(centre), 1e-12)
        inside = of[of["topic_id"] >= 0]["topic_id"].value_counts().sort_index()
        main = int(inside.idxmax()) if len(inside) else -1
        rows.append(
            {
                "since": int(first),
                "until": int(first) + period_years - 1,
                "papers": len(of),
                "x": float(of["x"].median()),
                "y": float(of["y"].median()),
                "topic_id": main,
                "label": of.loc[of["topic_id"] == main, "label"].iloc[0] if main >= 0 else "",
                "main_share": inside.max() / len(of) if len(inside) else np.nan,
                "distance": np.nan if before is None else float(1 - centre @ before),
            }
        )
        before = centre
    table = pd.DataFrame(rows)
    table["moved"] = (table["topic_id"] != table["topic_id"].shift()) & (table.index > 0)
    return table
