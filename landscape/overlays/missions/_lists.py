"""Bibliographies of facilities: how they decide, and what they say about the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landscape.corpus.facilities import ROLES
from landscape.corpus.identifiers import is_eprint_bibcode, is_eprint_doi
from landscape.overlays.periods import paper_years
from landscape.statistics import ratio, share_interval

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.store import AtlasStore

    Rows = NDArray[np.int64]

# Numbers of roles, beside those of `ROLES` from 1: papers that a complete list contains or not.
LISTED, UNLISTED = 1 + len(ROLES), 2 + len(ROLES)
N_ROLES = 3 + len(ROLES)
_SCIENCE = ROLES.index("science")


@dataclass(frozen=True)
class FacilityList:
    """Bibliography of a facility in an atlas.

    `scope` is a mask of the papers for which the list is complete, shape (n_papers,): papers of its
    years that it would contain by an identifier that the atlas knows. `listed` and
    `unrelated` are rows of papers that the list contains as use, and as no use; `text` are the
    rows that use the facility by their text.
    """

    name: str
    date: str
    since: int
    until: int
    scope: NDArray[np.bool_]
    listed: Rows
    unrelated: Rows
    text: Rows

    def agreement(self, inside: NDArray[np.bool_] | None = None) -> tuple[int, int, int]:
        """Return the numbers of papers in the scope by both, by the list only, by the text only."""
        mask = self.scope if inside is None else self.scope & inside
        listed, text = (rows[mask[rows]] for rows in (self.listed, self.text))
        both = len(np.intersect1d(listed, text))
        return both, len(listed) - both, len(text) - both


def apply_lists(
    atlas: AtlasStore, pairs: pd.DataFrame
) -> tuple[pd.DataFrame, dict[str, FacilityList]]:
    """Let the bibliographies of facilities decide; return the pairs and the complete lists.

    In its scope, a list decides. Outside, a paper counts if it is in a list or if its text says so.
    """
    import pandas as pd

    entries = atlas.bibliographies
    entries = entries[entries["paper_id"].notna()]
    if entries.empty:
        return pairs, {}
    ids = pd.Index(atlas.read_papers(["paper_id"])["paper_id"])
    rows = ids.get_indexer(entries["paper_id"])
    entries = entries.assign(paper_row=rows)[~np.isin(rows, atlas.invalid_papers)]
    details = atlas.stages["bibliographies"].details["lists"]
    years = paper_years(atlas)
    found, added, decided = dict[str, FacilityList](), [], []
    of_pairs = pairs["facility"].astype(object)
    for name, own in entries.groupby("facility", sort=False):
        listed = np.unique(own.loc[own["uses"], "paper_row"].to_numpy(np.int64))
        mine = of_pairs == name
        text = np.sort(
            pairs.loc[mine & (pairs["role"] == _SCIENCE), "paper_row"].to_numpy(np.int64)
        )
        scope = details.get(name)
        if scope is not None:
            inside = (years >= scope["since"]) & (years <= scope["until"])
            inside &= _has(atlas, scope["kinds"]) | np.isin(years, scope["eprint_years"])
            of_list = own[own["list"] == scope["name"]]
            used = np.unique(of_list.loc[of_list["uses"], "paper_row"].to_numpy(np.int64))
            not_used = np.unique(of_list.loc[~of_list["uses"], "paper_row"].to_numpy(np.int64))
            found[str(name)] = FacilityList(
                scope["name"], scope["date"], scope["since"], scope["until"], inside, used,
                np.setdiff1d(not_used, used), text,
            )  # fmt: skip
            # An explicit "unrelated" decides in every year.
            outside = mine & (inside[pairs["paper_row"]] | pairs["paper_row"].isin(not_used))
            pairs = pairs.assign(role=pairs["role"].where(~outside, UNLISTED - 1))
            decided.append((str(name), used))
            listed = np.union1d(used, listed[~inside[listed]])
        added.append(pd.DataFrame({"facility": name, "paper_row": listed, "role": LISTED - 1}))
    joined = pd.concat([*added, pairs], ignore_index=True)
    return joined.drop_duplicates(["facility", "paper_row"]), found


def _has(atlas: AtlasStore, kinds: Sequence[str]) -> NDArray[np.bool_]:
    """Return a mask of the papers with an identifier of these kinds of their publication."""
    is_eprint = {"bibcode": is_eprint_bibcode, "doi": is_eprint_doi}
    papers = atlas.read_papers([*is_eprint])
    found = np.zeros(len(papers), dtype=bool)
    for kind in kinds:
        found |= [bool(name) and not is_eprint[kind](name) for name in papers[kind]]
    return found


def by_group(
    of: FacilityList, group: Rows, names: Mapping[int, object], *, key: str
) -> list[dict[str, object]]:
    """Return the agreement of list and text in each group of papers, such as years."""
    rows = []
    for number, name in names.items():
        both, only_list, only_text = of.agreement(group == number)
        n_list, n_text, every = both + only_list, both + only_text, both + only_list + only_text
        if not every:
            continue
        row: dict[str, object] = {
            key: name, "papers": int((of.scope & (group == number)).sum()),
            "list": n_list, "text": n_text, "both": both,
        }  # fmt: skip
        for column, right, total in (
            ("precision", both, n_text), ("recall", both, n_list), ("agreement", both, every),
        ):  # fmt: skip
            low, high = share_interval(np.array([right]), np.array([total]))
            value = ratio(np.array([right]), np.array([total]))[0]
            row |= {column: value, f"{column}_low": low[0], f"{column}_high": high[0]}
        rows.append(row)
    return rows
