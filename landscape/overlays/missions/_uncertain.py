"""List mentions of facilities with uncertain roles, and let a language model decide them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from landscape._progress import progress
from landscape._wording import count
from landscape.errors import InputError
from landscape.llm import request_reply
from landscape.llm.budget import estimate_tokens
from landscape.llm.prompts import as_data, prompt
from landscape.overlays.missions.roles import CONTEXT, Place, RolesOfMentions, score_roles
from landscape.overlays.periods import describe_corpus
from landscape.store.tables import ROLES
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd

    from landscape.llm import LanguageModel
    from landscape.store import AtlasStore

_AT_ONCE = 20  # mentions of a request
_MAX_PAPER = 3000  # characters
_REPLY = 12  # tokens of the answer for a mention


def uncertain_roles(
    atlas: AtlasStore, *, limit: int = 100, model: LanguageModel | None = None
) -> Analysis:
    """List the mentions of facilities whose roles are least certain, the least certain first.

    With a language model, the model decides these roles, 20 in a request. Without it, the caption
    says how many requests and tokens this would need. If the table is saved as ``roles.csv`` in the
    folder of the atlas, all analyses use its roles; the file can be edited by hand, and updates of
    the atlas keep it.

    Parameters
    ----------
    atlas : Atlas
    limit : int, default 100
        Number of mentions.
    model : LanguageModel, optional
        Model that decides the roles.

    Returns
    -------
    Analysis
        ``table``: ``paper_id, field, start, facility, surface, role, role_before, margin, context,
        title``. The margin is the difference of the log odds of the two most probable roles.
        ``role`` differs from ``role_before``, that of the classifier, if the model decided so.

    Raises
    ------
    InputError
        If the limit is not positive.
    RemoteError
        If the model does not answer, or its budget is spent.

    Examples
    --------
    >>> import landscape as ls
    >>> found = ls.overlays.missions.uncertain_roles(ls.open("my.atlas"))  # doctest: +SKIP
    >>> ls.figures.save_table(found, "my.atlas/roles.csv")  # doctest: +SKIP
    """
    if limit < 1:
        raise InputError(f"The limit is {limit}; give at least 1.")
    mentions = atlas.missions
    table = _least_certain(atlas, mentions, limit)
    batches = [table.iloc[at : at + _AT_ONCE] for at in range(0, len(table), _AT_ONCE)]
    requests = [_request(batch) for batch in batches]
    system = prompt("mention_roles")
    tokens = sum(estimate_tokens(system, text) + _REPLY * _AT_ONCE for text in requests)
    cost = f"{count(len(batches), 'request')} and about {round(tokens, -2):,} tokens"
    said = f"To let a language model decide them needs {cost}."
    if model is not None and batches:
        decided = table["role"].to_numpy(dtype=object).copy()
        title = f"Deciding {len(table):,} roles with {model.model} ({cost})"
        with progress(title, total=len(batches), unit="requests") as advance:
            for number, text in enumerate(requests):
                for one in request_reply(model, system, text, RolesOfMentions).mentions:
                    if 0 <= one.number < len(batches[number]):
                        decided[number * _AT_ONCE + one.number] = one.role
                advance(1)
        table["role"] = decided
        changed = int((table["role"] != table["role_before"]).sum())
        said = f"{model.model} decided them in {cost}, and changed {changed:,}."
    return Analysis(
        kind="uncertain_roles",
        table=table.drop(columns=["text", "at"]),
        caption=(
            f"The {len(table):,} mentions of facilities with the least certain roles, of "
            f"{describe_corpus(atlas)}. {said} Saved as {ROLES} in the folder of the atlas, the "
            "table is used by all analyses."
        ),
        denominators={"mentions": len(mentions), "papers": mentions["paper_row"].nunique()},
        bounds=atlas.coverage,
    )


def _least_certain(atlas: AtlasStore, mentions: pd.DataFrame, limit: int) -> pd.DataFrame:
    """Return the mentions with the smallest margins, and the texts of their papers."""
    import pandas as pd

    rows = np.unique(mentions["paper_row"])
    papers = atlas.read_papers(["title", "abstract", "date"], rows=rows)
    titles, abstracts = (papers[name].fillna("").tolist() for name in ("title", "abstract"))
    days = pd.to_datetime(papers["date"])
    place_of = np.searchsorted(rows, mentions["paper_row"])
    shift = np.where(mentions["field"] == "title", 0, [len(titles[at]) + 1 for at in place_of])
    start, end = (mentions[name].to_numpy(np.int64) + shift for name in ("start", "end"))
    margin = np.full(len(mentions), math.inf)
    of_paper = pd.Series(np.arange(len(mentions))).groupby(place_of)
    with progress("Scoring the roles of mentions", total=len(rows), unit="papers") as advance:
        for paper, own in of_paper.indices.items():
            own = own[np.argsort(start[own], kind="stable")]
            text = f"{titles[paper]}\n{abstracts[paper]}"
            facility = mentions["facility"].iloc[own]
            places = [Place(*one) for one in zip(start[own], end[own], facility, strict=True)]
            day = None if pd.isna(days.iloc[paper]) else days.iloc[paper].date()
            scores = np.sort(score_roles(text, places, day), axis=1)
            margin[own[: len(scores)]] = scores[:, -1] - scores[:, -2]
            advance(1)
    chosen = np.argsort(margin, kind="stable")[:limit]
    chosen = chosen[np.isfinite(margin[chosen])]
    table = mentions.iloc[chosen].reset_index(drop=True)
    texts = [f"{titles[at]}\n{abstracts[at]}" for at in place_of[chosen]]
    context = [
        " ".join(one[max(first - CONTEXT, 0) : last + CONTEXT].split())
        for one, first, last in zip(texts, start[chosen], end[chosen], strict=True)
    ]
    names = ["paper_id", "field", "start", "facility", "surface", "role"]
    return table[names].assign(
        role_before=table["role"],
        margin=margin[chosen],
        context=context,
        title=[titles[at] for at in place_of[chosen]],
        text=texts,
        at=place_of[chosen],
    )


def _request(batch: pd.DataFrame) -> str:
    """Return the papers and mentions of a request as data."""
    papers = []
    for _, own in batch.reset_index(drop=True).groupby("at", sort=False):
        mentions = [
            {
                "number": int(number),
                "facility": row["facility"],
                "mention": row["surface"],
                "context": row["context"],
            }
            for number, row in own.iterrows()
        ]
        papers.append({"paper": own["text"].iloc[0][:_MAX_PAPER], "mentions": mentions})
    return as_data({"papers": papers})
