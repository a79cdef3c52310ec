"""Evaluate citation suggestions, with the measures of SciLit (Gu & Hahnloser 2023, tables 2 and 5).

The measures are Recall@K of the cited papers, and the highest ROUGE score of the first K generated
sentences, compared with the original citing sentence.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._progress import progress
from landscape.agents import AtlasCollection
from landscape.agents.collection import highlight
from landscape.errors import InputError, MissingExtraError, require
from landscape.evaluation._questions import checked_question, json_lines, known_rows, read_text
from landscape.overlays.citations import citation_graph
from landscape.search import open_engine
from landscape.statistics import bootstrap_interval
from landscape.store.tables import FULL_TEXTS
from landscape.text import split_sentences

if TYPE_CHECKING:
    from landscape.llm import WritingModel
    from landscape.store import AtlasStore
    from landscape.types import CitationSuggestions as Citing
    from landscape.types import Paper

DEPTHS = (1, 5, 10, 20, 50, 100)  # numbers of first suggestions for which recall is measured
ROUGE = ("rouge1", "rouge2", "rougeL")

UNREAD = ("acknowledgements", "data availability", "caption", "facilities", "software", "objects")
"""Kinds of sections without statements on the subject or on other papers."""
_WANTED = 'JSON lines {"context", "cited": [ids]}, optionally with "keywords" and "sentence"'
_MAX_CONTEXT = 1500  # maximum length of the context


@dataclass(frozen=True)
class Place:
    """Citation context: a position in a text, and the papers cited there."""

    qid: str
    context: str
    cited: tuple[str, ...]
    keywords: str | None = None
    sentence: str = ""
    citing: str | None = None


@dataclass(frozen=True)
class CitingScores:
    """Recall for several numbers of suggestions, and ROUGE scores of citing sentences."""

    recall: Mapping[str, Mapping[int, np.ndarray]]
    rouge: Mapping[int, Mapping[str, np.ndarray]]  # of the best of the first k sentences, by k
    highlights: Mapping[str, Mapping[str, np.ndarray]]  # of highlights, against abstracts
    counts: Mapping[str, int]
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as JSON values."""

        def means(how: str) -> dict[str, float]:
            by_depth = self.recall.get(how, {})
            return {f"recall@{k}": round(float(v.mean()), 4) for k, v in by_depth.items()}

        return {
            "n": self.counts["known"],
            **means("without keywords"),
            "with keywords": means("with keywords"),
            "rouge": _rounded(self.rouge[max(self.rouge)]) if self.rouge else {},
            "rouge of the first": {str(k): _rounded(scores) for k, scores in self.rouge.items()},
            "highlights": {name: _rounded(one) for name, one in self.highlights.items()},
            "counts": dict(self.counts),
            "median_seconds": round(self.seconds, 4),
        }

    def to_text(self) -> str:
        """Format the scores as a table."""
        given, known = self.counts["places"], self.counts["known"]
        lines = [f"{known:,} of {given:,} citation contexts cite papers of this atlas."]
        for how, by_depth in self.recall.items():
            for k, values in by_depth.items():
                lines.append(f"recall@{k:<4} {how:18} {bootstrap_interval(values)}")
        for k, scores in self.rouge.items():
            lines.append(f"citing sentences, best of {k:<3} {_shown(scores)}")
        for name, scores in self.highlights.items():
            lines.append(f"{name}, against abstracts  {_shown(scores)}")
        if not self.rouge:
            lines.append("left out: ROUGE of citing sentences, which needs a language model and")
            lines.append('places with their "sentence" (landscape evaluate make excerpts)')
        if not self.highlights:
            lines.append("left out: ROUGE of highlights, which needs full texts and rouge-score")
        lines.append(f"median time of a query {1000 * self.seconds:.0f} ms")
        return "\n".join(lines)


def _rounded(scores: Mapping[str, np.ndarray]) -> dict[str, float]:
    return {name: round(float(values.mean()), 4) for name, values in scores.items()}


def _shown(scores: Mapping[str, np.ndarray]) -> str:
    return "  ".join(f"{name} {bootstrap_interval(values)}" for name, values in scores.items())


def read_places(path: str | Path) -> list[Place]:
    """Read citation contexts from a file of JSON lines."""
    path = Path(path)
    places = []
    for number, record in json_lines(read_text(path, wanted=_WANTED), path):
        where = f"{path}, line {number},"
        cited = record.get("cited")
        listed = [cited] if isinstance(cited, str) else cited
        if not isinstance(listed, list) or not listed:
            raise InputError(f'{where} needs a list of paper identifiers in "cited".')
        words = record.get("keywords")
        if isinstance(words, list):
            words = ";".join(f'"{word}"' for word in words)
        places.append(
            Place(
                str(record.get("qid", number)),
                checked_question(record.get("context"), where),
                tuple(str(name) for name in listed),
                str(words) if words else None,
                str(record.get("sentence") or ""),
                str(record.get("citing") or record.get("source") or "") or None,
            )
        )
    if not places:
        raise InputError(f"{path} has no citation contexts; give {_WANTED}.")
    return places


def places_from_graph(atlas: AtlasStore, *, n: int = 200, seed: int = 0) -> list[Place]:
    """Make citation contexts from titles and abstracts of citing papers in the citation graph."""
    if n < 1:
        raise InputError(f"n is {n}; choose at least one citation context.")
    graph = citation_graph(atlas)
    links = graph.reference_links
    with_references = [
        row
        for row in np.flatnonzero(graph.out_degree).tolist()
        if (links.of(row) < len(atlas)).any()
    ]
    if not with_references:
        raise InputError(
            graph.note
            or f"No paper of {atlas.path} cites another paper of the atlas; use another atlas."
        )
    chosen = np.random.default_rng(seed).permutation(with_references)[:n]
    places = []
    for row in sorted(chosen.tolist()):
        citing = open_engine(atlas).papers([row])[0]
        nodes = links.of(row)
        cited = open_engine(atlas).papers(np.asarray(nodes[nodes < len(atlas)], dtype=np.int64))
        context = f"{citing.title}. {citing.abstract}"[:_MAX_CONTEXT]
        places.append(
            Place(
                citing.paper_id,
                context,
                tuple(paper.paper_id for paper in cited),
                keyword_for(context, cited[0].keywords, cited[0].title),
                citing=citing.paper_id,
            )
        )
    return places


def evaluate_citing(
    atlas: AtlasStore,
    places: str | Path | Sequence[Place],
    *,
    model: WritingModel | None = None,
    n_sentences: int = 10,
    n_texts: int = 100,
    seed: int = 0,
) -> CitingScores:
    """Measure how many of the papers cited in each context are suggested.

    Parameters
    ----------
    atlas : AtlasStore
    places : path or sequence of Place
        File of citation contexts, or the contexts.
    model : WritingModel, optional
        Model that writes citing sentences for comparison with the original sentences.
    n_sentences : int, default 10
        Number of papers for which a sentence is written. The best of the first sentences counts.
    n_texts : int, default 100
        Number of full texts whose highlights are compared with the abstracts.
    seed : int, default 0
        Seed of the random selection of full texts.

    Returns
    -------
    CitingScores

    Raises
    ------
    InputError
        If the file cannot be read, or the atlas contains none of the cited papers.
    """
    asked = read_places(places) if isinstance(places, str | Path) else list(places)
    known = [(place, rows) for place in asked if (rows := known_rows(atlas, place.cited))]
    if not known:
        raise InputError(f"{atlas.path} contains none of the cited papers; use another atlas.")
    highlights: dict[str, dict[str, np.ndarray]] = {}
    with suppress(MissingExtraError):  # the table then says what is left out
        highlights = highlight_scores(
            atlas, open_engine(atlas).papers(_drawn(atlas, n_texts, seed))
        )
    desk = AtlasCollection().add(atlas)
    recall: dict[str, list[list[float]]] = {"without keywords": [], "with keywords": []}
    seconds, best = [], []
    with progress("Places", total=len(known)) as advance:
        for place, rows in known:
            without = [place.citing] if place.citing else []
            for how, words in (("without keywords", None), ("with keywords", place.keywords)):
                if how == "with keywords" and words is None:
                    continue
                started = time.perf_counter()
                suggestions = desk.cite(
                    place.context, words, k=DEPTHS[-1], n_highlights=0, without=without
                )
                seconds.append(time.perf_counter() - started)
                hits = [paper.row in rows for paper in suggestions.papers]
                recall[how].append([sum(hits[:k]) / len(rows) for k in DEPTHS])
            if model is not None and place.sentence:
                written_for = desk.cite(
                    place.context, place.keywords, k=n_sentences, model=model, without=without
                )
                if scores := _rouges(place.sentence, written_for):
                    best.append(scores)
            advance(1)
    return CitingScores(
        recall={
            how: dict(zip(DEPTHS, np.transpose(places_found), strict=True))
            for how, places_found in recall.items()
            if places_found
        },
        rouge={
            k: {
                name: np.array([max(score[name] for score in one[:k]) for one in best])
                for name in ROUGE
            }
            for k in sorted({*(k for k in DEPTHS if k < n_sentences), n_sentences})
            if best
        },
        highlights=highlights,
        counts={"places": len(asked), "known": len(known), "sentences": len(best)},
        seconds=statistics.median(seconds),
    )


def rouge(text: str, reference: str) -> dict[str, float]:
    """Return the F-measures of ROUGE-1, ROUGE-2 and ROUGE-L, computed from word stems."""
    module = require("rouge_score.rouge_scorer", "dev")
    found = module.RougeScorer(list(ROUGE), use_stemmer=True).score(reference, text)
    return {name: float(found[name].fmeasure) for name in ROUGE}


def _rouges(sentence: str, citing: Citing) -> list[dict[str, float]]:
    """Return the ROUGE scores of the citing sentences, in the order of the suggestions."""
    texts = (one.sentence.text for one in citing.suggestions if one.sentence)
    return [rouge(text, sentence) for text in texts]


def _drawn(atlas: AtlasStore, n: int, seed: int) -> list[int]:
    rows = atlas.read_of_papers(FULL_TEXTS, range(len(atlas)))["paper_row"].unique()
    return sorted(np.random.default_rng(seed).permutation(rows)[:n].tolist())


def highlight_scores(
    atlas: AtlasStore, papers: Sequence[Paper], *, n: int = 6
) -> dict[str, dict[str, np.ndarray]]:
    """Compare the highlights of full texts with the abstracts (SciLit, table 3), by ROUGE.

    The first `n` sentences of each text are the baseline.
    """
    scores: dict[str, list[dict[str, float]]] = {"highlights": [], "first sentences": []}
    for paper in papers:
        sections = atlas.sections([paper.row])
        text = "\n".join(sections["text"][~sections["kind"].isin(UNREAD)])
        best = highlight(text, n=n)
        if not best or not paper.has_abstract:
            continue
        first = [text[start:end] for start, end in split_sentences(text)[:n]]
        for name, chosen in zip(scores, ([one.text for one in best], first), strict=True):
            scores[name].append(rouge(" ".join(chosen), paper.abstract))
    return {
        name: {kind: np.array([one[kind] for one in own]) for kind in ROUGE}
        for name, own in scores.items()
        if own
    }


def keyword_for(context: str, keywords: Sequence[str], title: str) -> str | None:
    """Return the longest keyword in the context or, if there is none, the longest in the title."""
    for text in (context.casefold(), title.casefold()):
        held = [word for word in keywords if word.casefold() in text and '"' not in word]
        if held:
            return f'"{max(held, key=len)}"'
    return None
