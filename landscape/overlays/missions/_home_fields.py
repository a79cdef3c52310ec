"""Whether a paper belongs to a field that a facility was built for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.store import AtlasStore

# Which of the thesaurus's top concepts a paper of an arXiv category may be of. Where a category
# spans two (SR: stars and the Sun) both count, so that "outside" is a safe statement.
_FIELDS = {
    "astro-ph.CO": ("Cosmology",),
    "astro-ph.EP": ("Exoplanet astronomy", "Solar system astronomy"),
    "astro-ph.GA": ("Galactic and extragalactic astronomy", "Interstellar medium"),
    "astro-ph.HE": ("High energy astrophysics",),
    "astro-ph.IM": ("Observational astronomy",),
    "astro-ph.SR": ("Stellar astronomy", "Solar physics"),
    "physics.space-ph": ("Solar physics", "Solar system astronomy"),
}
# Tags below methods and processes do not count as fields.
_SUBJECTS = frozenset(
    {
        "Cosmology", "Exoplanet astronomy", "Galactic and extragalactic astronomy",
        "High energy astrophysics", "Interstellar medium", "Solar physics",
        "Solar system astronomy", "Stellar astronomy",
    }
)  # fmt: skip
_ORDER = {field: bit for bit, field in enumerate(sorted({*_SUBJECTS, "Observational astronomy"}))}


def read_category_fields(categories: Sequence[Sequence[str] | None]) -> NDArray[np.uint16]:
    """Find the fields that each paper may be of by its arXiv categories, cross-lists too."""
    lengths = [0 if names is None else len(names) for names in categories]
    bits = {name: _bits(fields) for name, fields in _FIELDS.items()}
    flat = [bits.get(name, 0) for names in categories if names is not None for name in names]
    found = np.zeros(len(lengths), dtype=np.uint16)
    np.bitwise_or.at(found, np.repeat(np.arange(len(lengths)), lengths), np.array(flat, np.uint16))
    return found


def match_home_fields(home: Sequence[str], fields: NDArray[np.uint16]) -> NDArray[np.int8]:
    """1 where a paper is of a home field of a facility, 0 outside, -1 where not known."""
    wanted = _bits(home)
    known = (fields != 0) & bool(wanted)
    return np.where(known, (fields & wanted) != 0, -1).astype(np.int8)


def read_tag_fields(
    tags: pd.DataFrame, thesaurus: Any, rows: NDArray[np.int64]
) -> NDArray[np.uint16]:
    """Find the fields of the best informative thesaurus concept of each paper."""
    wanted = tags[tags["paper_row"].isin(rows)]
    above = {one: _bits(_fields_above(one, thesaurus)) for one in wanted["concept_id"].unique()}
    telling = wanted[wanted["concept_id"].isin([one for one, fields in above.items() if fields])]
    best = telling.sort_values("score", ascending=False, kind="stable").drop_duplicates("paper_row")
    by_row = best.set_index("paper_row")["concept_id"].map(above)
    return by_row.reindex(rows).fillna(0).to_numpy(np.uint16)


def flag_home_papers(
    atlas: AtlasStore, home: Sequence[Sequence[str]], rows: Sequence[NDArray[np.int64]]
) -> list[NDArray[np.int8]]:
    """Flag the papers of each facility: arXiv categories first, then thesaurus concepts."""
    every = np.unique(np.concatenate([*rows, np.zeros(0, dtype=np.int64)]))
    column = atlas.read_papers(["categories"])["categories"].to_numpy()
    fields = read_category_fields(column[every])
    unknown = fields == 0
    if unknown.any():
        fields[unknown] = read_tag_fields(
            atlas.read_layer("uat", ["concept_id", "score"]), atlas.thesaurus, every[unknown]
        )
    return [
        match_home_fields(one, fields[np.searchsorted(every, papers)])
        for one, papers in zip(home, rows, strict=True)
    ]


def _bits(fields: Iterable[str]) -> int:
    """A set of fields as bits; other names are ignored."""
    return sum({1 << _ORDER[field] for field in fields if field in _ORDER})


def _fields_above(concept: str, thesaurus: Any) -> list[str]:
    """Labels of the fields above a concept, itself included."""
    if concept not in thesaurus.concepts:
        return []
    above = {concept, *thesaurus.ancestors(concept)}.intersection(thesaurus.top)
    return sorted(_SUBJECTS.intersection(thesaurus.concepts[one].label for one in above))
