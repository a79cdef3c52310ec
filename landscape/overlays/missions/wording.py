"""What limits an impact table, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from landscape.overlays.missions.gathering import Usage

FEW = 10
_MOST_NAMED = 8
_FEW_CITED = 0.5


def rise_warnings(corpus_before: Mapping[str, float]) -> list[str]:
    """Say of which facilities no rise since first light can be told.

    Parameters
    ----------
    corpus_before : mapping of str to float
        Facility to the papers before its first light, of the regions where it works.

    Returns
    -------
    list of str
        One sentence, or none.

    Examples
    --------
    >>> rise_warnings({"HST": 3, "JWST": 5000})[0][-41:]
    'of HST; a rise since then cannot be told.'
    """
    few = [name for name, papers in corpus_before.items() if papers < FEW]
    if not few:
        return []
    return [
        f"The corpus has hardly a paper before the first light of {listed(few)}; "
        "a rise since then cannot be told."
    ]


def impact_warnings(usage: Usage, table: pd.DataFrame, *, links: str) -> tuple[str, ...]:
    """Say what limits a table of impact.

    Parameters
    ----------
    usage : Usage
    table : pandas.DataFrame
        See `impact.impact`.
    links : str
        ``"vectors"`` or ``"citations"``.

    Returns
    -------
    tuple of str
    """
    said = list(usage.years.warnings)
    few = table.loc[table["papers"] < FEW, "facility"].unique()
    if len(few):
        said.append(
            f"{listed(few)} {'has' if len(few) == 1 else 'have'} fewer than {FEW} papers; such "
            "measures are hardly more than anecdotes."
        )
    before = table.groupby("facility", sort=False)["corpus_before"].min()
    said += rise_warnings(before.to_dict())
    no_after = table.loc[(table["corpus_after"] == 0) & (table["papers"] > 0), "facility"].unique()
    if len(no_after):
        said.append(
            f"{listed(no_after)} had not seen first light in the period: these papers are of plans."
        )
    if len(usage.years.jumps):
        said.append(
            "As the corpus changes abruptly, a rise since first light may be the corpus's and not "
            "the facility's."
        )
    known = float(np.isfinite(usage.cites).mean())
    if known < 1:
        said.append(
            f"Citations are known of {known:.0%} of the papers"
            + ("; what they say may not hold for the rest." if known < _FEW_CITED else ".")
        )
    if links == "citations" and not table["linked_papers"].any():
        said.append("The corpus has no references within itself; there are no bridges to find.")
    return tuple(said)


def listed(names: Sequence[str]) -> str:
    """List some names.

    Examples
    --------
    >>> listed(["A", "B", "C"])
    'A, B and C'
    """
    given = [str(name) for name in names]
    if len(given) > _MOST_NAMED:
        given = [*given[: _MOST_NAMED - 1], f"{len(given) - _MOST_NAMED + 1} others"]
    return given[0] if len(given) == 1 else f"{', '.join(given[:-1])} and {given[-1]}"
