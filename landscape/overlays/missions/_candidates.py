"""Find names in the positions of facilities that ``missions.yaml`` lacks."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from landscape._io import read_yaml
from landscape.corpus.facilities import is_known_name
from landscape.errors import InputError
from landscape.overlays.missions._mentions import find_places
from landscape.overlays.periods import describe_corpus
from landscape.types import Analysis

if TYPE_CHECKING:
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
