"""Whether a paper is of a field that a facility was built for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

# Which of the thesaurus's top concepts a paper of an arXiv category may be of. Where a category
# spans two (SR: stars and the Sun) both count, so that "outside" is never said too lightly.
_FIELDS = {
    "astro-ph.CO": ("Cosmology",),
    "astro-ph.EP": ("Exoplanet astronomy", "Solar system astronomy"),
    "astro-ph.GA": ("Galactic and extragalactic astronomy", "Interstellar medium"),
    "astro-ph.HE": ("High energy astrophysics",),
    "astro-ph.IM": ("Observational astronomy",),
    "astro-ph.SR": ("Stellar astronomy", "Solar physics"),
    "physics.space-ph": ("Solar physics", "Solar system astronomy"),
}
# Methods and processes are no fields: a tag below them says nothing of a facility's home.
_SUBJECTS = frozenset(
    {
        "Cosmology", "Exoplanet astronomy", "Galactic and extragalactic astronomy",
        "High energy astrophysics", "Interstellar medium", "Solar physics",
        "Solar system astronomy", "Stellar astronomy",
    }
)  # fmt: skip


def in_home_fields(
    home: Sequence[str],
    categories: Sequence[Sequence[str]],
    tagged: Sequence[Sequence[str]] | None = None,
) -> NDArray[np.int8]:
    """Tell papers of a facility's home fields from those outside.

    A paper is at home if any of its arXiv categories (cross-lists too) may belong to a home
    field. Papers without a category that tells, as before 2009, go by the field of their best
    thesaurus concept; the others are not known and count neither way.

    Parameters
    ----------
    home : sequence of str
        Top concepts of the thesaurus.
    categories : sequence of sequence of str
        arXiv categories of each paper.
    tagged : sequence of sequence of str, optional
        Fields of each paper by its thesaurus concepts, see `fields_of_tags`.

    Returns
    -------
    ndarray of int, shape (n_papers,)
        1 at home, 0 outside, -1 not known.

    Examples
    --------
    >>> categories = [["astro-ph.EP", "astro-ph.SR"], ["astro-ph.CO"], ["astro-ph"], ["astro-ph"]]
    >>> in_home_fields(["Exoplanet astronomy"], categories, [(), (), ("Cosmology",), ()]).tolist()
    [1, 0, 0, -1]
    """
    wanted = frozenset(home)
    by_category = {name: bool(wanted & set(fields)) for name, fields in _FIELDS.items()}
    found = np.full(len(categories), -1, dtype=np.int8)
    if not wanted:
        return found
    for row, names in enumerate(categories):
        told = [by_category[name] for name in names if name in by_category]
        if told:
            found[row] = any(told)
        elif tagged is not None and len(tagged[row]):
            found[row] = not wanted.isdisjoint(tagged[row])
    return found


def fields_of_tags(tags: pd.DataFrame, thesaurus: Any, rows: NDArray[np.int64]) -> list[list[str]]:
    """Find the fields that the best thesaurus concept of each paper lies under.

    Parameters
    ----------
    tags : pandas.DataFrame
        ``paper_row, concept_id, score``.
    thesaurus : Thesaurus
    rows : ndarray of int, shape (n_papers,)
        Papers asked for.

    Returns
    -------
    list of list of str
        Labels of top concepts that are fields; empty where no tag tells.
    """
    wanted = tags[tags["paper_row"].isin(rows)]
    concepts = wanted["concept_id"].unique()
    fields = {concept: _fields_above(concept, thesaurus) for concept in concepts}
    telling = wanted[wanted["concept_id"].isin([one for one, above in fields.items() if above])]
    best = telling.sort_values("score", ascending=False, kind="stable").drop_duplicates("paper_row")
    by_row = dict(zip(best["paper_row"], best["concept_id"].map(fields.get), strict=True))
    return [by_row.get(int(row), []) for row in rows]


def flag_home(
    atlas: Any, home: Sequence[Sequence[str]], rows: Sequence[NDArray[np.int64]]
) -> list[NDArray[np.int8]]:
    """Tell for each facility which of its papers are of its home fields.

    Parameters
    ----------
    atlas : Atlas
        Its layer ``uat`` is asked only where categories do not tell.
    home : sequence of sequence of str
        Home fields of each facility.
    rows : sequence of ndarray of int
        Papers of each facility.

    Returns
    -------
    list of ndarray of int
        For each facility and paper 1 at home, 0 outside, -1 not known.
    """
    every = np.unique(np.concatenate([*rows, np.zeros(0, dtype=np.int64)]))
    column = atlas.read_papers(["categories"])["categories"].to_numpy()
    categories = [() if names is None else tuple(names) for names in column[every]]
    tagged: list[list[str]] = [[] for _ in every]
    untold = np.array([not any(name in _FIELDS for name in names) for names in categories], bool)
    if untold.any():
        told = fields_of_tags(atlas.uat, atlas.thesaurus, every[untold])
        for place, fields in zip(np.flatnonzero(untold), told, strict=True):
            tagged[place] = fields
    found = []
    for fields, papers in zip(home, rows, strict=True):
        places = np.searchsorted(every, papers)
        found.append(
            in_home_fields(fields, [categories[i] for i in places], [tagged[i] for i in places])
        )
    return found


def _fields_above(concept: str, thesaurus: Any) -> list[str]:
    """Labels of the fields that a concept lies under, itself included."""
    if concept not in thesaurus.concepts:
        return []
    above = {concept, *thesaurus.ancestors(concept)}.intersection(thesaurus.top)
    return sorted(_SUBJECTS.intersection(thesaurus.concepts[one].label for one in above))
