"""Answer questions for a value, such as "How massive is K2-18 b?", from the layer of values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from landscape._wording import count
from landscape.corpus.objects import find_objects
from landscape.errors import LandscapeError
from landscape.overlays.values import (
    OF_THE_UNIVERSE,
    asked_quantity,
    tension_text,
    unit_text,
    values,
)
from landscape.types import Answer, Claim, Evidence, Hit

if TYPE_CHECKING:
    import pandas as pd

    from landscape.search import Engine

_LISTED = 6  # values in the text; the table has all
_FEWEST = 5  # values whose spread is described


def asked_value(question: str) -> tuple[str, str] | None:
    """Return the quantity and the object that a question asks the value of, or None.

    >>> asked_value("How massive is TRAPPIST-1 e?"), asked_value("What is the Hubble constant?")
    (('mass', 'TRAPPIST-1 e'), ('H0', ''))
    >>> asked_value("What is the mass-metallicity relation of the Milky Way?")
    """
    quantity = asked_quantity(question)
    if not quantity or quantity in OF_THE_UNIVERSE:
        return (quantity, "") if quantity else None
    names = {one.name for one in find_objects(question)}
    return (quantity, names.pop()) if len(names) == 1 else None


def with_values(engine: Engine, question: str, filter_text: str | None, found: Answer) -> Answer:
    """Put the measured values before the quotations of an answer, if the question asks for them."""
    asked = asked_value(question)
    if asked is None or engine.is_restricted or "objects" not in engine.atlas.stages:
        return found
    quantity, name = asked
    try:
        table = values(engine.atlas, quantity=quantity, object=name, filter=filter_text).table
    except LandscapeError:
        return found
    own = table[table["own"]]
    shown = own if len(own) else table[table["status"].isin(["cited", "compared", "sample"])]
    if shown.empty:
        return found
    listed = shown.drop_duplicates("paper_row").head(_LISTED)
    papers = engine.papers(listed["paper_row"].tolist())
    known = {hit.paper.paper_id: hit for hit in found.results.hits}
    score = max((hit.score for hit in known.values()), default=1.0)
    new = [known.pop(paper.paper_id, Hit(0, paper, score)) for paper in papers]
    hits = [replace(hit, rank=rank) for rank, hit in enumerate([*new, *known.values()], 1)]
    lines, claims = [_summary(quantity, name, shown, measured=bool(len(own)))], []
    for row, paper in zip(listed.to_dict("records"), papers, strict=True):
        method = f", {row['method']}" if row["method"] else ""
        limit = {"upper": "at most ", "lower": "at least "}.get(row["limit"], "")
        lines.append(f"- {limit}{row['stated']}{method} ({row['year']}) [{paper.label}]")
        start = paper.abstract.find(row["sentence"])
        if start >= 0:  # evidence is of the abstract, not of the title
            end = start + len(row["sentence"])
            evidence = Evidence(paper.paper_id, paper.label, start, end, row["sentence"])
            claims.append(Claim(row["sentence"], (paper.label,), (evidence,), "supported"))
    quoted = [] if found.abstained else ["", found.text]
    return replace(
        found,
        text="\n".join([*lines, *quoted]),
        claims=(*claims, *(() if found.abstained else found.claims)),
        results=replace(found.results, hits=tuple(hits)),
        abstained=False,
        table=None,
    )


def _summary(quantity: str, name: str, table: pd.DataFrame, *, measured: bool) -> str:
    """Return the median, the spread and the disagreement of values in sentences."""
    of = f" of {name}" if name else ""
    n = table["paper_row"].nunique()
    unit = table["unit"].value_counts().index[0]
    alike = table[(table["limit"] == "") & (table["unit"] == unit)]
    plain = alike.drop_duplicates("paper_row")["value"].to_numpy(float)  # one of each paper
    verb = "measure" if measured else "state (but do not measure)"
    if n == 1:
        verb = "measures" if measured else "states (but does not measure)"
    head = f"{count(n, 'paper')} {verb} {quantity}{of}"
    if len(plain) < _FEWEST:
        return f"{head}:"
    low, middle, high = np.quantile(plain, [0.05, 0.5, 0.95])
    median = f"{middle:.4g} {unit_text(unit)}".strip()
    text = (
        f"{head}: median {median}, 90% of {len(plain):,} values between {low:.4g} and {high:.4g}."
    )
    return " ".join(filter(None, [text, tension_text(table), "The newest:"]))
