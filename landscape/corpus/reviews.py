"""Recognise reviews from lists of reviews, document type, journal, title and abstract.

A review summarises the work of many authors on a subject. Examples are review articles, handbook
chapters, lecture notes and reviews in proceedings. A paper that presents one survey, mission,
instrument, simulation or code ("XYZ: survey overview") is not a review. A chapter on what a future
facility will observe, and the summary of a conference, are not reviews either. Some journals, such
as those of research notes and telegrams, never publish reviews.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._bibliography import find_journal, journal_of_bibcode
from landscape._io import read_data
from landscape.corpus.identifiers import (
    arxiv_id_of_bibcode,
    parse_arxiv_id,
    parse_bibcode,
    parse_doi,
)
from landscape.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

ENOUGH = 0.5
"""Minimum score of a paper recognised as a review."""


def recognise(papers: pd.DataFrame, *, known: Collection[str] | None = None) -> pd.DataFrame:
    """Find the reviews among papers, with scores and evidence.

    Clues in the title and the abstract are combined as if they were independent (noisy or). Some
    clues are evidence against a review and reduce the score. They do not reduce a score from a
    list of reviews, the document type or the journal. Texts in journals that never publish reviews
    have no clues.

    Parameters
    ----------
    papers : pandas.DataFrame
        Columns ``title`` and ``abstract``, and optionally ``doctype``, ``journal``, ``bibcode``,
        ``arxiv_id``, ``doi``.
    known : collection of str, optional
        Identifiers of known reviews, see `read_review_list`.

    Returns
    -------
    pandas.DataFrame
        One row per paper with a score of at least 0.5: ``row`` (position in ``papers``),
        ``score`` (0 to 1) and ``evidence``.

    Examples
    --------
    >>> import pandas as pd
    >>> papers = pd.DataFrame({"title": ["Dust: a review", "A survey of dust: survey overview"],
    ...                        "abstract": ["We review recent progress.", "We present a survey."]})
    >>> recognise(papers)[["row", "evidence"]].values.tolist()
    [[0, 'title: a review; abstract: We review recent']]
    """
    import pandas as pd

    scored = score_papers(papers, known=known)
    found = [(row, *scored[row]) for row in sorted(scored) if scored[row][0] >= ENOUGH]
    table = pd.DataFrame(found, columns=["row", "score", "evidence"])
    return table.astype({"row": np.int64, "score": np.float64, "evidence": object})


def score_papers(
    papers: pd.DataFrame, *, known: Collection[str] | None = None
) -> dict[int, tuple[float, str]]:
    """Return a mapping from the positions of papers with clues to their scores and evidence."""
    listed = frozenset(known or ())
    names = ["title", "abstract", "doctype", "journal", "bibcode", "arxiv_id", "doi"]
    texts = papers.reindex(columns=names).to_numpy(dtype=object)
    scored: dict[int, tuple[float, str]] = {}
    for row, values in enumerate(texts):
        title, abstract, doctype, journal, bibcode, arxiv_id, doi = (
            value if isinstance(value, str) else "" for value in values
        )
        certain = _score_metadata(doctype, journal, bibcode)
        if listed and not listed.isdisjoint((bibcode, arxiv_id, doi)):
            certain.append((1.0, "list"))
        published_in = journal_of_bibcode(bibcode) or find_journal(journal)
        never = published_in is not None and published_in.never_reviews
        own = (0.0, "") if never else _score_text(title, abstract)
        if certain or own[0] > 0:
            score = max([own[0], *(one for one, _ in certain)])
            evidence = "; ".join(filter(None, [*(why for _, why in certain), own[1]]))
            scored[row] = (round(score, 3), evidence)
    return scored


def _score_metadata(doctype: str, journal: str, bibcode: str) -> list[tuple[float, str]]:
    """Return probabilities and evidence from the document type, the bibcode and the journal."""
    found = [(0.97, f"doctype: {doctype}")] if doctype.lower() == "review" else []
    published_in = journal_of_bibcode(bibcode)
    if published_in is not None and published_in.reviews:
        found.append((published_in.reviews, f"bibcode: {bibcode}"))
    if journal:
        clue = next((clue for clue in _clues()["journal"] if clue.pattern.search(journal)), None)
        if clue:
            found.append((clue.chance, f"journal: {journal[:60]}"))
    return found


def _score_text(title: str, abstract: str) -> tuple[float, str]:
    """Return a probability and evidence from the title and the abstract."""
    known = _clues()
    clues = _match(known["title"], title) + _match(known["abstract"], abstract)
    if not clues:
        return 0.0, ""
    against = [
        *_match(known["against_title"], title),
        *_match(known["against_abstract"], abstract),
        *_match(known["against_both"], f"{title.rstrip('.')}. {abstract}"),
    ]
    score = 1.0 - math.prod(1.0 - clue.chance for clue, _ in clues)
    listed: list[str] = []  # omit clues that are part of another clue
    for clue, words in clues + against:
        if not any(other.startswith(clue.name) and words in other for other in listed):
            listed.append(f"{clue.name}: {words}")
    return math.prod((clue.chance for clue, _ in against), start=score), "; ".join(listed)


def _match(clues: Iterable[Clue], text: str) -> list[tuple[Clue, str]]:
    folded = text.lower()
    found = (
        (clue, clue.pattern.search(text))
        for clue in clues
        if not clue.needs or any(word in folded for word in clue.needs)
    )
    return [(clue, match[0].strip(" :;.,-–—")[-60:]) for clue, match in found if match]


@dataclass(frozen=True)
class Clue:
    """Pattern in a text that raises or reduces the probability that a paper is a review."""

    name: str
    pattern: re.Pattern[str]
    chance: float
    needs: tuple[str, ...] = ()


@cache
def _clues() -> dict[str, Any]:
    """Read the clues for each field of a paper, and the patterns of `clue_pattern`."""
    stored = read_data("review_clues.yaml")
    kind = stored["parts"]["kind"]
    kinds = f"{kind['start']}{'|'.join(kind['any'])}{kind['end']}"
    parts = {"kind": kinds, **{name: stored["parts"][name] for name in ("authors", "facility")}}

    def read(name: str) -> tuple[Clue, ...]:
        clues = []
        for one in stored[name]:
            pattern = "|".join(one["any"])
            for part, meaning in parts.items():
                pattern = pattern.replace(f"<{part}>", meaning)
            needs = tuple(one.get("needs", ()))
            clues.append(Clue(name, re.compile(pattern, re.IGNORECASE), one["chance"], needs))
        return tuple(clues)

    return {
        **{name: read(name) for name in ("journal", "title", "abstract")},
        "against_title": read("one project") + read("other reviews"),
        "against_abstract": read("own results"),
        "against_both": read("science case"),
        # Arrow (RE2) evaluates these patterns twenty times as fast as `re`.
        **{name: rf"\b(?:{'|'.join(stored[name])})\b" for name in ("contrast", "pro", "con")},
    }


def clue_pattern(name: str) -> str:
    """Return a pattern for Arrow: words of "contrast", or that confirm or contradict."""
    pattern: str = _clues()[name]
    return pattern


def read_review_list(path: str | os.PathLike[str]) -> frozenset[str]:
    r"""Read the identifiers of known reviews.

    Parameters
    ----------
    path : path
        JSON lines with ``bibcode`` and ``identifier`` (a list), or one identifier per line.

    Returns
    -------
    frozenset of str
        Bibcodes, arXiv ids and DOIs in their normal spelling, for the parameter ``known`` of
        `recognise`.

    Raises
    ------
    InputError
        If the file cannot be read or contains no identifier.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "reviews.txt"
    >>> _ = path.write_text("1998ARA&A..36..189K\narXiv:astro-ph/9807187\n")
    >>> sorted(read_review_list(path))
    ['1998ARA&A..36..189K', 'astro-ph/9807187']
    """
    try:
        lines = Path(path).read_text("utf-8-sig").splitlines()
    except OSError as error:
        why = error.strerror or error
        raise InputError(
            f"The list of reviews {path} cannot be read ({why}); check the path."
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"The list of reviews {path} is not text in UTF-8; use a file with one bibcode, arXiv "
            "id or DOI per line (unpack a compressed file first)."
        ) from error
    found = frozenset(
        key for line in lines for name in _names(line) for key in normalise_identifier(name)
    )
    if not found:
        raise InputError(
            f"The list of reviews {path} names no paper; use a file with one bibcode, arXiv id or "
            'DOI per line, or JSON lines with "bibcode" and "identifier".'
        )
    return found


def normalise_identifier(name: str) -> frozenset[str]:
    """Return an identifier in the normal spelling, and the arXiv id contained in a bibcode."""
    arxiv_id = parse_arxiv_id(name)
    if arxiv_id:
        return frozenset({arxiv_id})
    bibcode = parse_bibcode(name)
    if bibcode:
        return frozenset(filter(None, (bibcode, arxiv_id_of_bibcode(bibcode))))
    return frozenset(filter(None, (parse_doi(name),)))


def _names(line: str) -> list[str]:
    text = line.strip()
    if not text.startswith("{"):
        return [text]
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):  # the line is not JSON, or is nested too deeply
        return []
    others = record.get("identifier")
    named = [record.get("bibcode"), *(others if isinstance(others, list) else [others])]
    return [name for name in named if isinstance(name, str)]
