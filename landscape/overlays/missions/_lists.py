"""Bibliographies of facilities: how they decide, and what they say about the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.corpus.facilities import ROLES
from landscape.corpus.identifiers import is_eprint_bibcode, is_eprint_doi
from landscape.overlays.periods import paper_years
from landscape.statistics import corrected_count_interval, ratio, share_interval

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.overlays.missions.usage import Usage
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


def list_columns(
    usage: Usage, table: pd.DataFrame, insides: Sequence[NDArray[np.bool_]]
) -> pd.DataFrame:
    """Return the sources of the papers of each row, and its papers corrected for the text."""
    import pandas as pd

    names = [facility.name for facility in usage.facilities]
    rows = []
    for name, inside in zip(table["facility"], insides, strict=True):
        number = names.index(name)
        rows.append(_columns(usage, number, inside) if number in usage.lists else {})
    return pd.DataFrame(rows, index=table.index)


def _columns(usage: Usage, number: int, inside: NDArray[np.bool_]) -> dict[str, Any]:
    of = usage.lists[number]
    counted = usage.uses(number) & inside
    by_list, by_text = np.zeros_like(counted), np.zeros_like(counted)
    by_list[of.listed], by_text[of.text] = True, True
    decided = counted & of.scope
    outside = counted & ~of.scope
    both, only_list, only_text = of.agreement()
    low, high = corrected_count_interval(
        int((outside & ~by_list).sum()), both, only_list, only_text
    )
    factor = ratio(np.array([both + only_list]), np.array([both + only_text]))[0]
    known = int((decided | (outside & by_list)).sum())
    corrected = known + float((outside & ~by_list).sum()) * factor
    every = int(inside.sum())
    found: dict[str, Any] = {
        "listed_papers": int((of.scope & inside).sum()),
        "list_papers": int((counted & by_list).sum()),
        "text_papers": int((counted & by_text).sum()),
        "both_papers": int((counted & by_list & by_text).sum()),
    }
    for name, right, total in (
        ("list_precision", both, both + only_text),
        ("list_recall", both, both + only_list),
    ):
        bounds = share_interval(np.array([right]), np.array([total]))
        found |= {name: ratio(np.array([right]), np.array([total]))[0]}
        found |= {f"{name}_low": bounds[0][0], f"{name}_high": bounds[1][0]}
    for name, scale in (("corrected_papers", 1), ("corrected_share", max(every, 1))):
        found |= {name: corrected / scale}
        found |= {f"{name}_low": (known + low) / scale, f"{name}_high": (known + high) / scale}
    return found


def describe_lists(usage: Usage) -> str:
    """Return sentences on the lists that decide, for captions."""
    said = []
    for number, of in usage.lists.items():
        name = usage.facilities[number].name
        both, only_list, only_text = of.agreement()
        share = of.scope.mean() if len(of.scope) else 0.0
        span = str(of.since) if of.since == of.until else f"{of.since}–{of.until}"
        right = f"{both / (both + only_text):.0%}" if both + only_text else "unknown"
        complete = f"{both / (both + only_list):.0%}" if both + only_list else "unknown"
        said.append(
            f" {name}: the list {of.name} decides for {span} ({share:.0%} of the papers), the text "
            f"elsewhere (precision {right}, recall {complete} against the list)."
        )
    return "".join(said)


def by_group(
    of: FacilityList, group: Rows, names: Mapping[int, object], *, least: int = 1
) -> list[dict[str, object]]:
    """Return the agreement of list and text in each group of papers, such as years."""
    rows = []
    for number, name in names.items():
        both, only_list, only_text = of.agreement(group == number)
        n_list, n_text, every = both + only_list, both + only_text, both + only_list + only_text
        if every < least:
            continue
        row: dict[str, object] = {
            "group": name, "papers": int((of.scope & (group == number)).sum()),
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
