"""Whether a paper is of a field that a facility was built for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
_ORDER = {field: bit for bit, field in enumerate(sorted({*_SUBJECTS, "Observational astronomy"}))}


def fields_of_categories(categories: Sequence[Sequence[str] | None]) -> NDArray[np.uint16]:
    """Find the fields that each paper may be of by its arXiv categories, cross-lists too."""
    lengths = [0 if names is None else len(names) for names in categories]
    bits = {name: _bits(fields) for name, fields in _FIELDS.items()}
    flat = [bits.get(name, 0) for names in categories if names is not None for name in names]
    found = np.zeros(len(lengths), dtype=np.uint16)
    np.bitwise_or.at(found, np.repeat(np.arange(len(lengths)), lengths), np.array(flat, np.uint16))
    return found


def at_home(home: Sequence[str], fields: NDArray[np.uint16]) -> NDArray[np.int8]:
    """Tell papers of a facility's home fields from those outside."""
    wanted = _bits(home)
    known = (fields != 0) & bool(wanted)
    return np.where(known, (fields & wanted) != 0, -1).astype(np.int8)


def fields_of_tags(
    tags: pd.DataFrame, thesaurus: Any, rows: NDArray[np.int64]
) -> NDArray[np.uint16]:
    """Find the fields that the best telling thesaurus concept of each paper lies under."""
    wanted = tags[tags["paper_row"].isin(rows)]
    above = {one: _bits(_fields_above(one, thesaurus)) for one in wanted["concept_id"].unique()}
    telling = wanted[wanted["concept_id"].isin([one for one, fields in above.items() if fields])]
    best = telling.sort_values("score", ascending=False, kind="stable").drop_duplicates("paper_row")
    by_row = best.set_index("paper_row")["concept_id"].map(above)
    return by_row.reindex(rows).fillna(0).to_numpy(np.uint16)


def flag_home(
    atlas: Any, home: Sequence[Sequence[str]], rows: Sequence[NDArray[np.int64]]
) -> list[NDArray[np.int8]]:
    """Tell for each facility which of its papers are of its home fields."""
    every = np.unique(np.concatenate([*rows, np.zeros(0, dtype=np.int64)]))
    column = atlas.read_papers(["categories"])["categories"].to_numpy()
    fields = fields_of_categories(column[every])
    untold = fields == 0
    if untold.any():
        fields[untold] = fields_of_tags(
            atlas.read_layer("uat", ["concept_id", "score"]), atlas.thesaurus, every[untold]
        )
    return [
        at_home(one, fields[np.searchsorted(every, papers)])
        for one, papers in zip(home, rows, strict=True)
    ]


def _bits(fields: Iterable[str]) -> int:
    """A set of fields as bits; names that are no field are passed over."""
    return sum({1 << _ORDER[field] for field in fields if field in _ORDER})


def _fields_above(concept: str, thesaurus: Any) -> list[str]:
    """Labels of the fields that a concept lies under, itself included."""
    if concept not in thesaurus.concepts:
        return []
    above = {concept, *thesaurus.ancestors(concept)}.intersection(thesaurus.top)
    return sorted(_SUBJECTS.intersection(thesaurus.concepts[one].label for one in above))
