"""How well mentions of facilities are found, measured on mentions labelled by reading."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from landscape.errors import InputError
from landscape.evaluation.lines import json_lines, read_text
from landscape.overlays.missions import Mention, find_in_papers, load_facilities

if TYPE_CHECKING:
    import pandas as pd

_HALVES = ("development", "held out")


class LabelledMention(NamedTuple):
    """A surface in a paper, judged by reading.

    Attributes
    ----------
    arxiv_id : str
    field : {"title", "abstract"}
    surface : str
        As written there.
    occurrence : int
        How many times the surface occurs before, in the same field.
    facility : str
        The facility that is meant; empty where none is.
    """

    arxiv_id: str
    field: str
    surface: str
    occurrence: int
    facility: str

    @property
    def half(self) -> str:
        """To which half the paper belongs: rules may look at "development" alone."""
        return _HALVES[1 - hashlib.sha256(self.arxiv_id.encode()).digest()[0] % 2]


@dataclass(frozen=True)
class Agreement:
    """How labels and findings agree.

    Attributes
    ----------
    right, wrong, missed : int
        Mentions found as labelled; found where none is labelled, or another facility; labelled
        and not found, or found as another facility.
    """

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        """Share of the found that is right; 0 where nothing is found."""
        return self.right / max(self.right + self.wrong, 1)

    @property
    def recall(self) -> float:
        """Share of the labelled that is found; 0 where nothing is labelled."""
        return self.right / max(self.right + self.missed, 1)


def read_labels(path: Path) -> list[LabelledMention]:
    """Read labelled mentions from JSON lines.

    Raises
    ------
    InputError
        If the file cannot be read, or a line lacks a field.
    """
    labels = []
    for number, record in json_lines(read_text(path, wanted="a file of labelled mentions"), path):
        try:
            labels.append(LabelledMention(**record))
        except TypeError:
            fields = ", ".join(LabelledMention._fields)
            raise InputError(f"{path}, line {number}, must have the fields {fields}.") from None
    return labels


def evaluate_mentions(
    papers: Mapping[str, Mapping[str, Any]], labels: Iterable[LabelledMention]
) -> pd.DataFrame:
    """Measure the finder, and plain string matching beside it, on labelled mentions.

    Parameters
    ----------
    papers : mapping of str to mapping
        ``title`` and ``abstract`` by arXiv identifier, as they were labelled.
    labels : iterable of LabelledMention

    Returns
    -------
    pandas.DataFrame
        ``method, half, labelled, traps, precision, recall``. Labels whose paper is absent are
        left out. Where labels are surfaces that plain matching trips over, its recall is high by
        construction; its precision is what it costs.

    Examples
    --------
    >>> papers = {"1": {"title": "The Hubble constant", "abstract": "Seen with JWST."}}
    >>> labels = [LabelledMention("1", "title", "Hubble", 0, ""),
    ...           LabelledMention("1", "abstract", "JWST", 0, "JWST")]
    >>> found = evaluate_mentions(papers, labels).set_index("method")
    >>> found["precision"].to_dict()
    {'with context': 1.0, 'plain matching': 0.5}
    """
    import pandas as pd

    known = [label for label in labels if label.arxiv_id in papers]
    rows = []
    for method, find in (("with context", _find), ("plain matching", match_plainly)):
        for half in _HALVES:
            chosen = [label for label in known if label.half == half]
            if chosen:
                agreed = _agreement(papers, chosen, find)
                traps = sum(not label.facility for label in chosen)
                counts = (len(chosen) - traps, traps)
                rows.append((method, half, *counts, agreed.precision, agreed.recall))
    columns = ["method", "half", "labelled", "traps", "precision", "recall"]
    return pd.DataFrame(rows, columns=columns)


def match_plainly(paper: Mapping[str, Any]) -> dict[str, list[Mention]]:
    """Find every name of every facility by matching strings at the starts of words.

    Examples
    --------
    >>> match_plainly({"title": "The Planck mass"})["title"][0].facility
    'Planck'
    """
    pattern, facilities = _plain()
    return {
        field: [
            Mention(*match.span(), match.group(), facilities[match.group()])
            for match in pattern.finditer(paper.get(field) or "")
        ]
        for field in ("title", "abstract")
    }


@cache
def _plain() -> tuple[re.Pattern[str], dict[str, str]]:
    facilities: dict[str, str] = {}
    for facility in load_facilities().values():
        for name in facility.names:
            facilities.setdefault(name, facility.name)
    longest_first = sorted(facilities, key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})"), facilities


def _find(paper: Mapping[str, Any]) -> dict[str, list[Mention]]:
    found: dict[str, list[Mention]] = defaultdict(list)
    for row in find_in_papers([paper.get("title")], [paper.get("abstract")]).itertuples():
        found[row.field].append(Mention(row.start, row.end, row.surface, row.facility))
    return found


def _agreement(
    papers: Mapping[str, Mapping[str, Any]],
    labels: Iterable[LabelledMention],
    find: Callable[[Mapping[str, Any]], Mapping[str, list[Mention]]],
) -> Agreement:
    right = wrong = missed = 0
    for label in labels:
        paper = papers[label.arxiv_id]
        start, end = _place(str(paper[label.field]), label)
        meant = {
            mention.facility
            for mention in find(paper).get(label.field, ())
            if mention.start < end and mention.end > start
        }
        if label.facility and label.facility in meant:
            right += 1
        else:
            wrong += bool(meant)
            missed += bool(label.facility)
    return Agreement(right, wrong, missed)


def _place(text: str, label: LabelledMention) -> tuple[int, int]:
    """Where a labelled surface stands."""
    places = [match.span() for match in re.finditer(re.escape(label.surface), text)]
    if label.occurrence >= len(places):
        raise InputError(
            f"{label.surface!r} does not occur {label.occurrence + 1} times in the {label.field} "
            f"of {label.arxiv_id}; the labels are of other papers."
        )
    return places[label.occurrence]
