"""Proposals as the maintainers of the Unified Astronomy Thesaurus ask for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from landscape._serializer import to_csv
from landscape.errors import InputError

if TYPE_CHECKING:
    from landscape.types import Analysis

_FIELDS = (
    "Preferred term", "Alternative terms", "Broader term", "Related terms", "Definition",
    "References", "Evidence",
)  # fmt: skip


def to_uat_form(gaps: Analysis, name: str) -> str:
    """Write one proposal as the text of a request for a new concept.

    Parameters
    ----------
    gaps : Analysis
        What `landscape.overlays.thesaurus_gaps` gave.
    name : str
        Which proposal.

    Returns
    -------
    str
        One line a field. The definition is left empty: it is for a person to write.

    Raises
    ------
    InputError
        If there is no proposal of this name.
    """
    fields = _fields(gaps, name)
    return "".join(f"{field}: {fields[field]}\n" for field in _FIELDS)


def to_uat_csv(gaps: Analysis) -> str:
    """Write all proposals as a table for a spreadsheet, one row a proposal."""
    import pandas as pd

    rows = [_fields(gaps, name) for name in gaps.table["name"]]
    return to_csv(pd.DataFrame(rows, columns=_FIELDS))


def _fields(gaps: Analysis, name: str) -> dict[str, Any]:
    import difflib

    found = gaps.table[gaps.table["name"] == name]
    if not len(found):
        close = difflib.get_close_matches(name, gaps.table["name"].tolist(), n=3)
        hint = f"; the nearest: {', '.join(close)}" if close else ""
        raise InputError(f"There is no proposal {name!r} in this table{hint}.")
    row = found.iloc[0]
    papers = gaps.tables["papers"]
    papers = papers[papers["name"] == name]
    parent = f"{row['parent']} ({row['parent_id']})" if row["parent_id"] else ""
    references = (f"{one.paper_id} ({one.year}): {one.title}" for one in papers.itertuples())
    generated = " (generated papers)" if gaps.bounds.get("generated") else ""
    return {
        "Preferred term": f"{name[:1].upper()}{name[1:]}",
        "Alternative terms": "; ".join(row["alternatives"]),
        "Broader term": parent,
        "Related terms": "; ".join(one for one in row["nearest"] if one != parent),
        "Definition": "",
        "References": "; ".join(references),
        "Evidence": f"{row['papers']} papers of {gaps.bounds['title']}{generated}, "
        f"{row['in_title']:.0%} of them with the term in the title",
    }
