"""Survey a question: the door to the crawler and the selector."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from landscape.agents.survey.crawling import Crawl
from landscape.agents.survey.journal import Journal
from landscape.agents.survey.library import Library
from landscape.agents.survey.minds import mind_of
from landscape.agents.survey.settings import SurveySettings, survey_settings
from landscape.agents.survey.spending import Meter
from landscape.llm import connect_from_environment
from landscape.overlays.citations._citation_graph import citation_graph
from landscape.search._settings import query_text
from landscape.types import Crawled, Spent, Survey

if TYPE_CHECKING:
    from landscape.agents.survey.fulltext import Reader
    from landscape.llm._client import WritingModel
    from landscape.store._atlas_store import AtlasStore
    from landscape.types import Linked

_MOST_BEYOND, _FEWEST_CITING = 20, 2
_MOSTLY = 0.75  # of the papers judged: where so many are selected, those not judged may be too


def survey(
    atlas: AtlasStore,
    question: str,
    settings: SurveySettings | None = None,
    *,
    model: WritingModel | None = None,
    read: Reader | None = None,
    resume: Path | None = None,
    on_step: Callable[[str], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Survey:
    """Survey the papers of an atlas for a question (after PaSa: He et al. 2025, arXiv:2501.10120).

    Parameters
    ----------
    atlas : AtlasStore
    question : str
    settings : SurveySettings, optional
    model : WritingModel, optional
        Makes the searches, chooses what to follow, and judges; without one the question is cut
        into facets and papers are judged by likeness and citations.
    read : callable, optional
        Gives the sections of a paper's full text, see `landscape.agents.survey.fulltext`.
    resume : pathlib.Path, optional
        A file that keeps what the model answers: interrupted, or ended by a budget, the same
        survey with the same file goes on without asking anything twice.
    on_step : callable, optional
        Told in one line what was done.
    stop : callable, optional
        Asked now and then whether to end; the survey is then partial.

    Returns
    -------
    Survey
        Partial where a budget, a failing server or `stop` ended it.

    Raises
    ------
    InputError
        For an empty question, a setting that cannot be, an unknown seed, or a file of another
        survey.

    Examples
    --------
    >>> import landscape as ls
    >>> found = survey(ls.open("my.atlas"), "How do winds strip massive stars?")  # doctest: +SKIP
    >>> [paper.title for paper in found.papers][:2]  # doctest: +SKIP
    """
    started = time.perf_counter()
    settings = settings or SurveySettings()
    text, told = query_text(question)
    library = Library(atlas, text, before=settings.before, without=settings.without)
    name = model.model if model is not None else "similarity"
    identity = {
        "question": text,
        "settings": settings.work(),
        "atlas": atlas.manifest.updated,
        "model": name,
    }
    meter = Meter(settings, Journal(resume, identity), stop=stop)
    crawl = Crawl(
        text,
        library,
        settings,
        mind=None if model is None else mind_of(model, settings.protocol),
        meter=meter,
        read=read,
        on_step=on_step,
    )
    crawl.run()
    crawled = _crawled(crawl, name)
    notes = [*told, *crawl.notes]
    n_selected = sum(one.selected for one in crawled)
    if settings.selector and n_selected > _MOSTLY * settings.papers:
        more = f"raise papers (now {settings.papers}) to have them judged"
        notes.append(
            f"{n_selected} of {len(crawled)} papers judged are selected: more may; {more}."
        )
    if meter.ended:
        notes.append(f"The survey is partial. {meter.ended}")
    if citation_graph(atlas).note:
        notes.append(f"Nothing could be followed by citations. {citation_graph(atlas).note}")
    seconds = time.perf_counter() - started
    seen = int(library.is_open[: len(atlas)].sum())
    return Survey(
        question=question,
        crawled=crawled,
        searches=tuple(crawl.searches),
        beyond=_beyond(crawl, crawled),
        coverage=replace(library.engine.indexes.coverage, n_searched=seen),
        settings=settings.to_dict(),
        spent=Spent(meter.calls, meter.tokens, meter.money, len(crawled), seconds),
        partial=bool(meter.ended),
        notes=tuple(notes),
        n_found=len(crawl.pool.origins),
    )


def _crawled(crawl: Crawl, model_name: str) -> tuple[Crawled, ...]:
    """List what was judged: selected papers first, best first."""
    pool, settings = crawl.pool, crawl.settings
    scores = pool.score_of()
    seeds = set(pool.seeds)
    if settings.selector:
        ranked = [row for row in pool.best_first().tolist() if row not in seeds]
        chosen = set(crawl.selected(ranked))
        ranked.sort(key=lambda row: (row not in chosen, -_final(crawl, row, scores)))
    else:
        ranked = [row for row in crawl.as_found() if row not in seeds]
        chosen = set(ranked)
    listed = [*ranked[: settings.papers], *pool.seeds]
    papers = crawl.library.papers(listed)
    keys = {paper.row: paper.paper_id for paper in papers}
    parents = [pool.origins[row].parent for row in listed]
    lost = [row for row in dict.fromkeys(parents) if row >= 0 and row not in keys]
    keys.update({paper.row: paper.paper_id for paper in crawl.library.papers(lost)})
    reasons = _reasons(crawl)
    found = []
    for paper in papers:
        origin, said = pool.origins[paper.row], pool.judged.get(paper.row)
        found.append(
            Crawled(
                paper=paper,
                score=round(_final(crawl, paper.row, scores), 6),
                selected=paper.row in chosen,
                reason=reasons[paper.row],
                judged_by="similarity" if said is None else model_name,
                how=origin.how,
                parent=keys.get(origin.parent, ""),
                query=origin.query,
                depth=origin.depth,
                expanded=paper.row in pool.expanded,
                section=origin.section,
            )
        )
    return tuple(found)


def _final(crawl: Crawl, row: int, scores: dict[int, float]) -> float:
    """The model's own score where it gave one; else what text and citations say."""
    said = crawl.pool.judged.get(row)
    return scores[row] if said is None or said.score is None else said.score


def _reasons(crawl: Crawl) -> dict[int, str]:
    """Why each paper was decided on as it was, by row."""
    if crawl.settings.selector:
        reasons = crawl.reasons()
    else:
        reasons = dict.fromkeys(crawl.pool.origins, "Not judged, as asked for.")
    reasons |= dict.fromkeys(crawl.pool.seeds, "Given as a paper to begin from.")
    return reasons | {row: said.reason for row, said in crawl.pool.judged.items()}


def _beyond(crawl: Crawl, crawled: tuple[Crawled, ...]) -> tuple[Linked, ...]:
    """Papers that the atlas has not and several of the selected ones cite."""
    library = crawl.library
    counts: Counter[int] = Counter()
    for one in crawled:
        if one.selected:
            nodes = library.cites(one.paper.row)
            counts.update(nodes[nodes >= library.n_papers].tolist())
    often = sorted(
        (node for node, n in counts.items() if n >= _FEWEST_CITING),
        key=lambda node: (-counts[node], node),
    )
    return tuple(library.graph.stub(n, score=float(counts[n])) for n in often[:_MOST_BEYOND])


def survey_question(
    store: AtlasStore,
    question: str,
    *,
    model: WritingModel | Literal["auto"] | None = "auto",
    resume: str | Path | None = None,
    read: Reader | None = None,
    on_step: Callable[[str], None] | None = None,
    stop: Callable[[], bool] | None = None,
    **settings: Any,
) -> Survey:
    """Survey the papers for a question; `landscape.Atlas.survey` documents the parameters."""
    connected = connect_from_environment() if model == "auto" else model
    path = None if resume is None else Path(resume)
    return survey(
        store, question, survey_settings(**settings), model=connected, read=read, resume=path,
        on_step=on_step, stop=stop,
    )  # fmt: skip
