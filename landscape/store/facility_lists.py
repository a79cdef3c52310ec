"""Bibliographies of facilities: how they decide which papers use a facility."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landscape.corpus.facilities import ROLES, find_facility
from landscape.corpus.identifiers import is_eprint_bibcode, is_eprint_doi

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.store._atlas_store import AtlasStore

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
    rows that use the facility by their text. `n_early` is the number of listed papers from before
    the first light, which describe the facility and do not count.
    """

    name: str
    date: str
    since: int
    until: int
    scope: NDArray[np.bool_]
    listed: Rows
    unrelated: Rows
    text: Rows
    n_early: int = 0

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
    Papers in a list from years before the first light describe the facility, and do not count.
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
    known = pd.to_numeric(atlas.read_papers(["year"])["year"])
    years = known.fillna(-1).to_numpy(np.int64, copy=True)
    years[atlas.invalid_papers] = -1
    found, added, decided = dict[str, FacilityList](), [], []
    of_pairs = pairs["facility"].astype(object)
    for name, own in entries.groupby("facility", sort=False):
        first_light = find_facility(str(name)).first_light.year
        every = np.unique(own.loc[own["uses"], "paper_row"].to_numpy(np.int64))
        listed = every[years[every] >= first_light]
        mine = of_pairs == name
        text = np.sort(
            pairs.loc[mine & (pairs["role"] == _SCIENCE), "paper_row"].to_numpy(np.int64)
        )
        scope = details.get(name)
        if scope is not None:
            since = max(scope["since"], first_light)
            inside = (years >= since) & (years <= scope["until"])
            inside &= _has(atlas, scope["kinds"]) | np.isin(years, scope["eprint_years"])
            of_list = own[own["list"] == scope["name"]]
            used = np.unique(of_list.loc[of_list["uses"], "paper_row"].to_numpy(np.int64))
            not_used = np.unique(of_list.loc[~of_list["uses"], "paper_row"].to_numpy(np.int64))
            found[str(name)] = FacilityList(
                scope["name"], scope["date"], since, scope["until"], inside, used,
                np.setdiff1d(not_used, used), text, len(every) - len(listed),
            )  # fmt: skip
            # An explicit "unrelated" decides in every year.
            outside = mine & (inside[pairs["paper_row"]] | pairs["paper_row"].isin(not_used))
            pairs = pairs.assign(role=pairs["role"].where(~outside, UNLISTED - 1))
            decided.append((str(name), used))
            listed = np.union1d(used[inside[used]], listed[~inside[listed]])
        added.append(pd.DataFrame({"facility": name, "paper_row": listed, "role": LISTED - 1}))
    joined = pd.concat([*added, pairs], ignore_index=True)
    return joined.drop_duplicates(["facility", "paper_row"]), found


def decide_mentions(atlas: AtlasStore, mentions: pd.DataFrame) -> pd.DataFrame:
    """Let the bibliographies of facilities decide about the roles of mentions.

    `mentions` has the columns ``facility, paper_row, role, surface``.
    """
    import pandas as pd

    if atlas.bibliographies.empty:
        return mentions
    keys = ["facility", "paper_row"]
    mentions = mentions.assign(
        facility=mentions["facility"].astype(object),
        role=mentions["role"].astype(object).fillna("science"),
    )
    numbers = mentions["role"].map(dict(zip(ROLES, range(len(ROLES)), strict=True)))
    pairs = mentions[keys].assign(role=numbers).sort_values("role", kind="stable")
    decided, _ = apply_lists(atlas, pairs.drop_duplicates(keys))
    listed = decided.loc[decided["role"] == LISTED - 1, keys]
    refused = decided.loc[decided["role"] == UNLISTED - 1, keys]
    is_refused = pd.MultiIndex.from_frame(mentions[keys]).isin(pd.MultiIndex.from_frame(refused))
    changed = is_refused & (mentions["role"] == ROLES[_SCIENCE])
    mentions = mentions.assign(role=mentions["role"].mask(changed, "mention"))
    added = listed.assign(role=ROLES[_SCIENCE], surface=listed["facility"])
    return pd.concat([mentions, added], ignore_index=True)


def _has(atlas: AtlasStore, kinds: Sequence[str]) -> NDArray[np.bool_]:
    """Return a mask of the papers with an identifier of these kinds of their publication.

    Bibcodes with ".tmp." stand for papers in press; lists have those of the final publication.
    """
    is_eprint = {"bibcode": is_eprint_bibcode, "doi": is_eprint_doi}
    papers = atlas.read_papers([*is_eprint])
    found = np.zeros(len(papers), dtype=bool)
    for kind in kinds:
        found |= [
            bool(name) and not is_eprint[kind](name) and ".tmp." not in name
            for name in papers[kind]
        ]
    return found
