"""Evaluate attribution: CiteME, and excerpts over an atlas of one's own."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._progress import progress
from landscape.agents._attribution import attribute
from landscape.agents._bounded_search import BoundedLibrary, Wording, bounds
from landscape.agents._desk import title_key
from landscape.errors import InputError
from landscape.evaluation._questions import checked_question, json_lines, read_text
from landscape.evaluation._retrieval import Interval, bootstrap_interval, paired_difference
from landscape.search import search_papers
from landscape.search._engine import open_engine

if TYPE_CHECKING:
    from landscape.llm._client import LanguageModel
    from landscape.store import AtlasStore
    from landscape.types import Attribution

SAME_TITLE = 0.8
"""Similarity above which two titles are one paper's (Press et al. 2024, appendix)."""

_SEPARATOR = "[TITLE_SEPARATOR]"  # of CiteME, where a paper has two titles
_GUESSES = (1, 5, 10)
_MARK = "[CITATION]"
_WANTED = 'CiteME\'s CSV, or JSON lines {"qid", "excerpt", "answer"}'


@dataclass(frozen=True)
class Case:
    """One excerpt of a benchmark."""

    qid: str
    excerpt: str
    titles: tuple[str, ...] = ()
    answer: str | None = None
    source: str | None = None
    before: str | None = None
    half: str = ""


@dataclass(frozen=True)
class AttributionScores:
    """Scores of attribution, excerpt by excerpt."""

    values: Mapping[str, np.ndarray]
    halves: tuple[str, ...]
    seconds: float
    partial: int
    counts: Mapping[str, int]
    method: str

    def summary(self, half: str | None = None) -> dict[str, Any]:
        """Means of all measures, and the share of selections that are right."""
        kept = np.array([half is None or one == half for one in self.halves], dtype=bool)
        means = {name: round(float(v[kept].mean()), 4) for name, v in self.values.items()}
        chosen = self.values["selected"][kept].sum()
        right = self.values["accuracy"][kept].sum()
        precision = round(float(right / chosen), 4) if chosen else None
        return {"n": int(kept.sum()), **means, "precision": precision}

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values; each half of the benchmark by its name too."""
        names = [name for name in dict.fromkeys(self.halves) if name]
        return {
            **self.summary(),
            "intervals_95": {
                name: [round(found.low, 4), round(found.high, 4)]
                for name, found in self._intervals().items()
            },
            "halves": {name: self.summary(name) for name in names},
            "median_seconds": round(self.seconds, 4),
            "partial": self.partial,
            "counts": dict(self.counts),
            "method": self.method,
        }

    def to_text(self) -> str:
        """Format as a table."""
        known, given = self.counts["known"], self.counts["excerpts"]
        lines = [f"{known:,} of {given:,} excerpts cite a paper of this atlas ({self.method})."]
        lines += [f"{name:10} {found!s}" for name, found in self._intervals().items()]
        precision = self.summary()["precision"]
        if precision is not None:
            lines.append(f"{'precision':10} {precision:.3f} of the papers selected are right")
        for name in dict.fromkeys(filter(None, self.halves)):
            summary = self.summary(name)
            shown = ", ".join(
                f"{key} {summary[key]:.3f}" for key in ("accuracy", "guess@1", "search@1")
            )
            lines.append(f"{name} half ({summary['n']}): {shown}")
        gain = paired_difference(self.values["search@1"], self.values["guess@1"])
        lines.append(f"best guess over plain search: {gain}")
        lines.append(f"median {1000 * self.seconds:.0f} ms, {self.partial} partial")
        return "\n".join(lines)

    def _intervals(self) -> dict[str, Interval]:
        return {name: bootstrap_interval(values) for name, values in self.values.items()}


def read_cases(path: str | Path) -> list[Case]:
    """Read excerpts."""
    path = Path(path)
    text = read_text(path, wanted=_WANTED)
    cases = _jsonl(text, path) if text.lstrip()[:1] == "{" else _citeme(text, path)
    for case in cases:
        if _MARK.lower() not in case.excerpt.lower():
            raise InputError(f"{path}, excerpt {case.qid}, has no {_MARK} in it.")
    if not cases:
        raise InputError(f"{path} holds no excerpt; give {_WANTED}.")
    return cases


def title_matches(title: str, titles: Sequence[str]) -> bool:
    """Whether a title is one of some others, by CiteME's rule."""
    return any(
        SequenceMatcher(a=title.lower(), b=one.lower()).ratio() > SAME_TITLE for one in titles
    )


def evaluate_attribution(
    atlas: AtlasStore,
    cases: str | Path | Sequence[Case],
    *,
    model: LanguageModel | None = None,
    on_result: Callable[[Case, Attribution], None] | None = None,
    **settings: Any,
) -> AttributionScores:
    """Run a benchmark on an atlas.

    Parameters
    ----------
    atlas : AtlasStore
    cases : path or sequence of Case
    model : LanguageModel, optional
    on_result : callable, optional
        Called with each case and its attribution.
    **settings
        Further ones of `landscape.agents._attribution.attribute`.

    Returns
    -------
    AttributionScores
        Of the excerpts whose answer is in the atlas: no other can be found in it.

    Raises
    ------
    InputError
        If the file cannot be read, or the atlas holds none of the answers.
    """
    asked = read_cases(cases) if isinstance(cases, str | Path) else list(cases)
    known = _find_shown(atlas, asked)
    if not known:
        message = f"{atlas.path} holds none of the papers that the {len(asked):,} excerpts cite."
        raise InputError(message)
    rows: list[dict[str, float]] = []
    seconds = []
    partial = 0
    search_papers(atlas, "warm up", k=1)  # opens what is opened once
    with progress("Excerpts", total=len(known)) as advance:
        for case in known:
            found = attribute(
                atlas, case.excerpt, source=case.source, before=case.before,
                model=model, **settings,
            )  # fmt: skip
            rows.append(_scores(atlas, case, found))
            seconds.append(found.seconds)
            partial += found.partial
            if on_result is not None:
                on_result(case, found)
            advance(1)
    return AttributionScores(
        values={name: np.array([row[name] for row in rows]) for name in rows[0]},
        halves=tuple(case.half for case in known),
        seconds=float(np.median(seconds)),
        partial=partial,
        counts={"excerpts": len(asked), "known": len(known)},
        method="offline" if model is None else model.model,
    )


def _scores(atlas: AtlasStore, case: Case, found: Attribution) -> dict[str, float]:
    limits = bounds(atlas, source=case.source, before=case.before)
    plain = " ".join(case.excerpt.replace(_MARK, " ").split())
    searched = BoundedLibrary(atlas, limits).search_wordings([Wording(plain)]).papers
    right = [title_matches(paper.title, case.titles) for paper in found.papers]
    there = [title_matches(paper.title, case.titles) for paper in searched[: _GUESSES[-1]]]
    chosen = found.paper is not None and title_matches(found.paper.title, case.titles)
    return {
        "accuracy": float(chosen),
        "selected": float(found.paper is not None),
        **{f"guess@{k}": float(any(right[:k])) for k in _GUESSES},
        **{f"search@{k}": float(any(there[:k])) for k in _GUESSES},
    }


def _find_shown(atlas: AtlasStore, cases: Sequence[Case]) -> list[Case]:
    """Cases whose answer is in the atlas, with its title."""
    titles = {title_key(title) for title in atlas.read_papers(["title"])["title"]}
    kept = []
    for case in cases:
        if case.answer is not None:
            try:
                row = open_engine(atlas).row_of(case.answer)
            except InputError:
                continue
            kept.append(replace(case, titles=(open_engine(atlas).papers([row])[0].title,)))
        elif any(title_key(title) in titles for title in case.titles):
            kept.append(case)
    return kept


def _jsonl(text: str, path: Path) -> list[Case]:
    cases = []
    for number, record in json_lines(text, path):
        where = f"{path}, line {number},"
        excerpt = checked_question(record.get("excerpt"), where)
        answer = record.get("answer")
        if not isinstance(answer, str) or not answer:
            raise InputError(f'{where} needs an "answer": the identifier of the paper cited.')
        optional = {
            name: str(record[name]) if record.get(name) is not None else None
            for name in ("source", "before", "half")
        }
        cases.append(
            Case(
                str(record.get("qid", number)),
                excerpt,
                answer=answer,
                source=optional["source"],
                before=optional["before"],
                half=optional["half"] or "",
            )
        )
    return cases


def _citeme(text: str, path: Path) -> list[Case]:
    rows = csv.DictReader(text.splitlines(keepends=True))
    names = set(rows.fieldnames or ())
    if not {"excerpt", "target_paper_title"} <= names:
        shown = ", ".join(sorted(names)) or "no columns"
        raise InputError(f"{path} has {shown}; give {_WANTED}.")
    cases = []
    for number, row in enumerate(rows, 1):
        where = f"{path}, row {number},"
        titles = tuple(t.strip() for t in (row["target_paper_title"] or "").split(_SEPARATOR))
        if not any(titles):
            raise InputError(f"{where} has no target_paper_title.")
        year = (row.get("year") or "").strip().removesuffix(".0")
        cases.append(
            Case(
                (row.get("id") or "").strip() or str(number),
                checked_question(row["excerpt"], where),
                tuple(filter(None, titles)),
                source=(row.get("source_paper_title") or "").strip() or None,
                before=year or None,
                half=(row.get("split") or "").strip(),
            )
        )
    return cases
