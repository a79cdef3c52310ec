"""Lists for the maintainers of ``missions.yaml``: names that it lacks, and uncertain roles."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from landscape._io import read_yaml
from landscape._progress import progress
from landscape._wording import count
from landscape.corpus.facilities import is_known_name
from landscape.errors import InputError
from landscape.llm import request_reply
from landscape.llm.budget import estimate_tokens
from landscape.llm.prompts import as_data, prompt
from landscape.overlays.missions._mentions import find_places
from landscape.overlays.missions.roles import CONTEXT, Place, RolesOfMentions, score_roles
from landscape.overlays.periods import describe_corpus
from landscape.store.tables import ROLES
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd

    from landscape.llm import LanguageModel
    from landscape.store import AtlasStore


_MIN_PAPERS = 2  # papers that have the name in the position of a facility
_BESIDE = 2  # characters between a known facility and a part of its name: "Gaia XP"
_ACRONYM = r"[A-Z][\w+]*[A-Z][\w+]*(?:-[\w+]+)*"
_WORDS = r"[A-Z][a-z]\w*(?:[ -][A-Z][\w-]*){0,5}"
_FIRST_WORD = re.compile(r"\b[A-Z]\w*")
_SENTENCES = re.compile(r"(?<=[.!?]) +(?=[A-Z])")


def facility_candidates(atlas: AtlasStore, *, limit: int = 50) -> Analysis:
    """Find names in the positions of facilities that the list of facilities lacks.

    Such positions are "observed with X", "X data", "the X telescope", and the brackets after the
    full name of a telescope or survey.

    Parameters
    ----------
    atlas : Atlas
    limit : int, default 50
        Number of names.

    Returns
    -------
    Analysis
        Table sorted by rank, with the columns ``rank, name, papers, in_position`` (papers that have
        the name in the position of a facility), ``share`` (of these papers), ``kinds`` (number of
        different positions), ``paper_id, sentence`` (an example).

    Raises
    ------
    InputError
        If the limit is not positive.
    """
    import pandas as pd

    if limit < 1:
        raise InputError(f"The limit is {limit}; give at least 1.")
    papers = atlas.read_papers(["paper_id", "title", "abstract"])
    texts = [
        " ".join(f"{title}. {abstract or ''}".split())
        for title, abstract in zip(papers["title"], papers["abstract"], strict=True)
    ]
    candidates = {
        name: places
        for name, places in _find_names(texts).items()
        if len({row for _, row, _ in places}) >= _MIN_PAPERS
    }
    totals = _count_papers(texts, list(candidates))
    rows = []
    for name, places in candidates.items():
        inside, kinds = len({row for _, row, _ in places}), len({kind for kind, _, _ in places})
        _, row, start = min(places)
        begin = sum(len(one) + 1 for one in _SENTENCES.split(texts[row][:start])[:-1])
        sentence = _SENTENCES.split(texts[row][begin:], maxsplit=1)[0]
        share = inside / max(inside, totals[name])
        rows.append(
            (
                inside * share * (1 + kinds),
                name,
                max(inside, totals[name]),
                inside,
                share,
                kinds,
                papers["paper_id"].iloc[row],
                sentence,
            )
        )
    rows.sort(key=lambda one: (-one[0], one[1]))
    columns = ["name", "papers", "in_position", "share", "kinds", "paper_id", "sentence"]
    table = pd.DataFrame([one[1:] for one in rows[:limit]], columns=columns)
    table.insert(0, "rank", range(1, len(table) + 1))
    return Analysis(
        "facility_candidates",
        table,
        f"Names in the positions of facilities that missions.yaml lacks, in "
        f"{describe_corpus(atlas)}.",
        {"papers": len(papers), "names": len(candidates)},
        atlas.coverage,
    )


def _find_names(texts: list[str]) -> dict[str, set[tuple[int, int, int]]]:
    """Return the kind of position, the text and the start of each unknown name."""
    patterns, excluded = _patterns()
    names: dict[str, set[tuple[int, int, int]]] = defaultdict(set)
    for row, text in enumerate(texts):
        matches = [
            (kind, one) for kind, pattern in enumerate(patterns) for one in pattern.finditer(text)
        ]
        if not matches:
            continue
        known = [(place.start, place.end + _BESIDE) for place in find_places((text,))[0]]
        for kind, match in matches:
            name, (start, end) = match[1], match.span(1)
            overlaps = any(start < last and first - _BESIDE < end for first, last in known)
            if not overlaps and name not in excluded and not is_known_name(name):
                names[name].add((kind, row, start))
    return names


def _count_papers(texts: list[str], names: list[str]) -> Counter[str]:
    """Return the number of texts that contain each name."""
    by_word: dict[str, list[tuple[str, re.Pattern[str]]]] = defaultdict(list)
    for name in names:
        pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        by_word[_FIRST_WORD.findall(name)[0]].append((name, pattern))
    totals: Counter[str] = Counter()
    for text in texts:
        for word in by_word.keys() & set(_FIRST_WORD.findall(text)):
            totals.update(name for name, one in by_word[word] if name in text and one.search(text))
    return totals


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], ...], frozenset[str]]:
    """Return the patterns of positions, the surest first, and names that are not facilities."""
    stored = read_yaml(Path(__file__).with_name("candidates.yaml"))
    kinds, verbs, data = ("|".join(stored[key]) for key in ("kinds", "verbs", "data"))
    written = "|".join(kind.capitalize() for kind in stored["kinds"])
    return tuple(
        map(
            re.compile,
            (
                rf"\b(?:{written})(?: [\w-]+){{0,4}} ?\(({_ACRONYM})[);,]",
                rf"\b[Tt]he ({_WORDS} (?:{written}))\b",
                rf"\b({_ACRONYM}) (?:{kinds}|{written})\b",
                rf"\b[Tt]he ({_WORDS}) (?:{kinds})\b",
                rf"\b(?:(?:{verbs}) (?:with|by|using|on|at|from)"
                rf"|(?:{data}) (?:from|with|of|by)|on ?board)"
                rf"(?: the)? ({_ACRONYM}|{_WORDS})(?![\w'])",
                rf"\b({_ACRONYM}) (?:{data})\b",
            ),
        )
    ), frozenset(stored["not_names"])


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
