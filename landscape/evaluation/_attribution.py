"""Evaluate attribution on CiteME, or on excerpts that cite papers of an atlas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._progress import progress
from landscape.agents import attribute
from landscape.agents.bounded_search import (
    OTHER_PART,
    BoundedLibrary,
    Wording,
    bounds,
    has_same_title,
)
from landscape.agents.collection import title_key
from landscape.errors import InputError
from landscape.evaluation._questions import (
    checked_question,
    citeme_rows,
    json_lines,
    known_rows,
    read_text,
)
from landscape.llm import ChatModel
from landscape.search import open_engine, search_papers
from landscape.statistics import Interval, bootstrap_interval, paired_difference

if TYPE_CHECKING:
    from landscape.llm import LanguageModel
    from landscape.store import AtlasStore
    from landscape.types import Attribution

_SEPARATOR = "[TITLE_SEPARATOR]"  # separator of alternative titles in CiteME
_GUESSES = (1, 5, 10)  # numbers of first papers among which the cited paper is searched
_MARK = "[CITATION]"
_WANTED = 'CiteME\'s CSV, or JSON lines {"qid", "excerpt", "answer"}'


@dataclass(frozen=True)
class Case:
    """Excerpt of a benchmark, with the paper that it cites."""

    qid: str
    excerpt: str
    titles: tuple[str, ...] = ()
    answer: str | None = None
    source: str | None = None
    before: str | None = None
    half: str = ""
    known: bool | None = None  # whether a model names the paper without a search


@dataclass(frozen=True)
class AttributionScores:
    """Scores of an attribution benchmark, with one value per excerpt.

    `groups` divides the excerpts by year, by knowledge of the model, and by kind of error (Press et
    al. 2024, section 5 and table 8). `ablations` are the accuracies of other settings (table 4).
    """

    values: Mapping[str, np.ndarray]
    halves: tuple[str, ...]
    seconds: float
    partial: int
    counts: Mapping[str, int]
    method: str
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ablations: Mapping[str, AttributionScores] = field(default_factory=dict)

    def summary(self, half: str | None = None, *, group: str | None = None) -> dict[str, object]:
        """Return the means of all measures, and the share of correct selections, of a half.

        With a `group`, `half` is one of its parts.
        """
        parts = self.halves if group is None else self.groups[group]
        kept = np.array([half in (None, other) for other in parts], dtype=bool)
        means = {
            name: round(float(np.nanmean(v[kept])), 4)
            for name, v in self.values.items()
            if not np.isnan(v[kept]).all()
        }
        chosen = self.values["selected"][kept].sum()
        right = self.values["accuracy"][kept].sum()
        precision = round(float(right / chosen), 4) if chosen else None
        return {"n": int(kept.sum()), **means, "precision": precision}

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as JSON values, for the whole benchmark and for each half."""
        names = [name for name in dict.fromkeys(self.halves) if name]
        return {
            **self.summary(),
            "intervals_95": {
                name: [round(found.low, 4), round(found.high, 4)]
                for name, found in self._intervals().items()
            },
            "halves": {name: self.summary(name) for name in names},
            **{
                name: {one: self.summary(one, group=name) for one in sorted(set(parts))}
                for name, parts in self.groups.items()
                if name != "error"
            },
            "errors": dict(Counter(self.groups.get("error", ())).most_common()),
            "ablations": {name: one.summary() for name, one in self.ablations.items()},
            "median_seconds": round(self.seconds, 4),
            "partial": self.partial,
            "counts": dict(self.counts),
            "method": self.method,
        }

    def to_text(self) -> str:
        """Format the scores as a table."""
        known, given = self.counts["known"], self.counts["excerpts"]
        lines = [f"{known:,} of {given:,} excerpts cite a paper of this atlas ({self.method})."]
        lines += [f"{name:10} {found!s}" for name, found in self._intervals().items()]
        precision = self.summary()["precision"]
        if precision is not None:
            lines.append(f"{'precision':10} {precision:.3f} of the selected papers are correct")
        for name in dict.fromkeys(filter(None, self.halves)):
            summary = self.summary(name)
            shown = ", ".join(
                f"{key} {summary[key]:.3f}" for key in ("accuracy", "guess@1", "search@1")
            )
            lines.append(f"{name} half ({summary['n']}): {shown}")
        for name, parts in self.groups.items():
            if name == "error":
                counts = Counter(one for one in parts if one)
                lines += [f"error: {one} {n}" for one, n in counts.most_common()]
            elif len(set(parts)) > 1:
                for one in sorted(set(parts)):
                    right = self.values["accuracy"][np.array(parts) == one]
                    part = f"{name} {one or 'not stated'} ({len(right)})"
                    lines.append(f"{part}: accuracy {bootstrap_interval(right)}")
        if not np.isnan(self.values["spread"]).all():
            runs, spread = (float(np.nanmean(self.values[name])) for name in ("runs", "spread"))
            lines.append(f"mean accuracy of a run {runs:.3f}, spread of the runs {spread:.3f}")
        for name, other in self.ablations.items():
            lines.append(f"{name}: accuracy {bootstrap_interval(other.values['accuracy'])!s}")
        for name in ("seconds", "tokens", "money"):
            if name in self.values:
                cost = self.values[name]
                low, high = np.quantile(cost, [0.05, 0.95])
                lines.append(
                    f"{name} of an excerpt: {cost.mean():,.4g}, 90% from {low:,.4g} to {high:,.4g}"
                )
        gain = paired_difference(self.values["search@1"], self.values["guess@1"])
        lines.append(f"gain of the best guess over plain search: {gain}")
        lines.append(f"median time {1000 * self.seconds:.0f} ms, {self.partial} incomplete results")
        return "\n".join(lines)

    def _intervals(self) -> dict[str, Interval]:
        return {
            name: bootstrap_interval(values)
            for name, values in self.values.items()
            if name not in _COSTS
        }


def read_cases(path: str | Path) -> list[Case]:
    """Read the excerpts of a benchmark."""
    path = Path(path)
    text = read_text(path, wanted=_WANTED)
    cases = _jsonl(text, path) if text.lstrip()[:1] == "{" else _citeme(text, path)
    for case in cases:
        if _MARK.lower() not in case.excerpt.lower():
            raise InputError(f"{path}, excerpt {case.qid}, has no {_MARK}; add it at the citation.")
    if not cases:
        raise InputError(f"{path} has no excerpts; give {_WANTED}.")
    return cases


def evaluate_attribution(
    atlas: AtlasStore,
    cases: str | Path | Sequence[Case],
    *,
    model: LanguageModel | None = None,
    ablations: bool = False,
    prices: tuple[float, float] | None = None,
    on_result: Callable[[Case, Attribution], None] | None = None,
    **settings: Any,
) -> AttributionScores:
    """Measure how often the paper cited in an excerpt is found.

    Parameters
    ----------
    atlas : AtlasStore
    cases : path or sequence of Case
        Benchmark file, or its excerpts.
    model : LanguageModel, optional
        Language model that selects the papers; default: no model.
    ablations : bool, default False
        Also measure the model with searches only, and without any command.
    prices : tuple of float, optional
        Prices of a million tokens read and of a million tokens written.
    on_result : callable, optional
        Function that receives each case and its attribution.
    **settings
        Other settings of `Atlas.attribute`.

    Returns
    -------
    AttributionScores
        Scores of the excerpts whose answer is in the atlas.

    Raises
    ------
    InputError
        If the file cannot be read, or the atlas contains none of the answers.
    """
    asked = read_cases(cases) if isinstance(cases, str | Path) else list(cases)
    known = _find_shown(atlas, asked)
    if not known:
        raise InputError(
            f"{atlas.path} contains none of the papers that the {len(asked):,} excerpts cite; use "
            "an atlas of the cited papers."
        )
    if ablations and model is None:
        raise InputError("The ablations need a language model; connect one, or omit ablations.")
    rows: list[dict[str, float]] = []
    results = []
    search_papers(atlas, "warm up", k=1)  # load the indexes before timing
    with progress("Excerpts", total=len(known)) as advance:
        for case in known:
            part = model.part() if isinstance(model, ChatModel) else model
            attribution = attribute(
                atlas, case.excerpt, source=case.source, before=case.before, model=part, **settings
            )
            costs = _costs(part, prices) if isinstance(part, ChatModel) else {}
            costs["seconds"] = attribution.seconds
            rows.append(_scores(atlas, case, attribution) | costs)
            results.append(attribution)
            if on_result is not None:
                on_result(case, attribution)
            advance(1)
    others = {"search only": "search", "no commands": "none"} if ablations else {}
    groups = {
        "year": tuple(_year(atlas, case) for case in known),
        "known": tuple({True: "known", False: "unknown", None: ""}[case.known] for case in known),
        "error": tuple(_error(atlas, *pair) for pair in zip(known, results, strict=True)),
    }
    return AttributionScores(
        values={name: np.array([row[name] for row in rows]) for name in rows[0]},
        halves=tuple(case.half for case in known),
        seconds=float(np.median([row["seconds"] for row in rows])),
        partial=sum(one.partial for one in results),
        counts={"excerpts": len(asked), "known": len(known)},
        method="offline" if model is None else model.model,
        groups={name: parts for name, parts in groups.items() if any(parts)},
        ablations={
            name: evaluate_attribution(
                atlas, known, model=model, prices=prices, **{**settings, "only": only}
            )
            for name, only in others.items()
        },
    )


_COSTS = ("seconds", "tokens", "money", "runs", "spread")  # values that are no shares


def _costs(part: ChatModel, prices: tuple[float, float] | None) -> dict[str, float]:
    """Return the tokens, and the money, that one excerpt cost."""
    used = part.budget.used
    costs = {"tokens": float(used.read + used.written)}
    if prices is not None:
        costs["money"] = (used.read * prices[0] + used.written * prices[1]) / 1e6
    return costs


def _year(atlas: AtlasStore, case: Case) -> str:
    """Return the year of an excerpt: of its source, or of the last papers that it can cite."""
    rows = known_rows(atlas, [case.source]) if case.source else set()
    years = [paper.year for paper in open_engine(atlas).papers(sorted(rows)) if paper.year]
    return str(years[0]) if years else (case.before or "")[:4]


def _error(atlas: AtlasStore, case: Case, found: Attribution) -> str:
    """Return the kind of error of an attribution, or "" if the paper is correct.

    The kinds are those of Press et al. (2024, section 5), as far as the steps show them.
    """
    if found.paper is not None and has_same_title(found.paper.title, case.titles):
        return ""
    if found.partial:
        return "technical failure"
    if found.paper is not None:
        cited = BoundedLibrary(atlas, bounds(atlas, source=None, before=None)).references(
            found.paper
        )
        if any(has_same_title(paper.title, case.titles) for paper in cited):
            return "selected a paper that cites the right one"
    searches = [step for step in found.trace if step.action.startswith("search")]
    if searches and all(OTHER_PART in step.observation for step in searches):
        return "searched for another part of the excerpt"
    rows = known_rows(atlas, [label for step in found.trace for label in step.labels])
    shown = open_engine(atlas).papers(sorted(rows))
    if any(has_same_title(paper.title, case.titles) for paper in shown):
        return "found the right paper, but did not select it"
    return "did not find the right paper"


def _scores(atlas: AtlasStore, case: Case, attribution: Attribution) -> dict[str, float]:
    limits = bounds(atlas, source=case.source, before=case.before)
    plain = " ".join(case.excerpt.replace(_MARK, " ").split())
    searched = BoundedLibrary(atlas, limits).search_wordings([Wording(plain)]).papers
    right = [has_same_title(paper.title, case.titles) for paper in attribution.papers]
    there = [has_same_title(paper.title, case.titles) for paper in searched[: _GUESSES[-1]]]
    chosen = attribution.paper is not None and has_same_title(attribution.paper.title, case.titles)
    runs = [
        paper is not None and has_same_title(paper.title, case.titles) for paper in attribution.runs
    ]
    repeated = {
        "runs": float(np.mean(runs)) if runs else float("nan"),
        "spread": float(np.std(runs)) if runs[1:] else float("nan"),
    }
    return {
        "accuracy": float(chosen),
        "selected": float(attribution.paper is not None),
        **{f"guess@{k}": float(any(right[:k])) for k in _GUESSES},
        **{f"search@{k}": float(any(there[:k])) for k in _GUESSES},
        **repeated,
    }


def _find_shown(atlas: AtlasStore, cases: Sequence[Case]) -> list[Case]:
    """Return the cases whose answer is in the atlas, with the title of the answer."""
    titles = {title_key(title) for title in atlas.read_papers(["title"])["title"]}
    kept = []
    for case in cases:
        if case.answer is not None:
            answers = open_engine(atlas).papers(list(known_rows(atlas, [case.answer])))
            kept += [replace(case, titles=(paper.title,)) for paper in answers]
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
            raise InputError(f'{where} needs "answer", the identifier of the cited paper.')
        source, before, half = (
            str(record[name]) if record.get(name) is not None else None
            for name in ("source", "before", "half")
        )
        cases.append(
            Case(
                str(record.get("qid", number)),
                excerpt,
                answer=answer,
                source=source,
                before=before,
                half=half or "",
                known=record["known"] if isinstance(record.get("known"), bool) else None,
            )
        )
    return cases


def _citeme(text: str, path: Path) -> list[Case]:
    return [
        Case(
            qid,
            excerpt,
            tuple(t.strip() for t in row["target_paper_title"].split(_SEPARATOR) if t.strip()),
            source=(row.get("source_paper_title") or "").strip() or None,
            before=(row.get("year") or "").strip().removesuffix(".0") or None,
            half=(row.get("split") or "").strip(),
        )
        for qid, excerpt, row in citeme_rows(text, path)
    ]
