"""Papers to cite behind a text (SciLit, Gu & Hahnloser 2023, arXiv:2306.03535)."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from landscape.agents.cite.highlights import highlight_papers
from landscape.agents.cite.merging import Held, merge
from landscape.agents.cite.sentences import write_sentences
from landscape.agents.seeking import Found, Wording, seek
from landscape.errors import InputError, RemoteError
from landscape.llm._client import connect_from_environment
from landscape.search._engine import open_engine
from landscape.search._filters import parse_filter
from landscape.search._ranking import RANKING, fuse_ranks, standardised
from landscape.search._settings import LONGEST_QUERY, SearchSettings, readable_text
from landscape.text._sentences import split_sentences
from landscape.types import CitationSuggestions, Suggestion

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.agents.cite.desk import Corpus, Desk
    from landscape.llm._client import WritingModel
    from landscape.types import Highlight

METHOD = "offline"

_FOCUS, _WHOLE, _KEYWORDS = 1.0, 0.6, 0.5  # weights of the wordings
_SENTENCES = 4  # of the context that are searched with
_SPARE = 20  # papers beyond k, for duplicates and a second wording
_LABEL = re.compile(r"\[(?:CITATION|\?)\]|\\cite[a-z]*\{[^}]*\}|\[\d[\d, –-]*\]", re.IGNORECASE)
_OPERATOR = re.compile(r"-\S+|\b(?:AND|OR|NOT)\b|\S*[:<>=]\S*|\S*\.\.\S*|[();|\"*]")


def cite(
    desk: Desk,
    context: str,
    keywords: str | Sequence[str] | None = None,
    *,
    k: int = 10,
    model: WritingModel | Literal["auto"] | None = None,
    n_highlights: int = 3,
    full_texts: Mapping[str, str] | None = None,
) -> CitationSuggestions:
    """Find papers to cite behind a text, with highlights and, with a model, citing sentences.

    Parameters
    ----------
    desk : Desk
    context : str
        The text before the citation; its last sentence, finished or not, counts most.
    keywords : str or sequence of str, optional
        Which papers are considered, in the syntax of `Atlas.search`; a sequence asks for all
        of them. Their plain words count in the ranking too.
    k : int, default 10
        Papers wanted.
    model : WritingModel, "auto" or None
        Writes the sentences; "auto" connects the one that the environment names, if any.
    n_highlights : int, default 3
        Sentences of each paper.
    full_texts : mapping of str to str, optional
        By paper id: text to take highlights from instead of the abstract.

    Returns
    -------
    CitationSuggestions
        A model that fails costs the sentences, and the result is marked partial.

    Raises
    ------
    InputError
        Neither context nor keywords are given, the keywords have a mistake, or no corpus is on.
    """
    started = time.perf_counter()
    SearchSettings(k=k)  # says what is wrong with k
    asked, within = _read(context, keywords)
    corpora = desk.searched
    found = {
        corpus.name: seek(open_engine(corpus.atlas), asked, k=k + _SPARE, filter=within)
        for corpus in corpora
    }
    merged = merge(_pooled(corpora, found))[:k]
    suggestions = _with_highlights(merged, corpora, context or " ".join(w.text for w in asked),
                                   n_highlights, dict(full_texts or {}))  # fmt: skip
    model = connect_from_environment() if model == "auto" else model
    partial = False
    notes = (*_far_off(corpora, found), *_notes(suggestions, within, k))
    if model is not None and suggestions:
        try:
            suggestions, told = write_sentences(context, within, suggestions, model)
            notes = (*notes, *told)
        except RemoteError as error:
            partial = True
            notes = (*notes, f"No citing sentences were written: {error}")
    return CitationSuggestions(
        context=context,
        keywords=within,
        suggestions=suggestions,
        coverage={name: one.searches[0].coverage for name, one in found.items()},
        method=METHOD if model is None else model.model,
        partial=partial,
        notes=notes,
        seconds=time.perf_counter() - started,
    )


def _read(context: str, keywords: str | Sequence[str] | None) -> tuple[list[Wording], str | None]:
    """Wordings of a context, and the filter that its keywords are."""
    text = " ".join(_LABEL.sub(" ", readable_text("context", context)).split())
    if keywords is not None and not isinstance(keywords, str):
        keywords = ";".join(f'"{word}"' for word in keywords)
    within = keywords.strip() if keywords and keywords.strip() else None
    plain = ""
    if within:
        parse_filter(within)  # a mistake in it is told before anything is searched
        plain = " ".join(_OPERATOR.sub(" ", within).split())
    sentences = [text[start:end] for start, end in split_sentences(text)]
    wordings = []
    if sentences:
        wordings.append(Wording(sentences[-1][:LONGEST_QUERY], _FOCUS))
        whole = " ".join(sentences[-_SENTENCES:])[-LONGEST_QUERY:]
        wordings.append(Wording(whole, _WHOLE))
    if plain:
        wordings.append(Wording(plain, _KEYWORDS))
    if not wordings:
        message = "The context is empty; give the text before the citation, or key words."
        raise InputError(message)
    return wordings, within


def _pooled(corpora: Sequence[Corpus], found: Mapping[str, Found]) -> list[Held]:
    """Papers of all corpora in one order.

    One corpus keeps its own order. Scores of different ones are put on one scale by what can be
    compared between them, cosines and words matched; with different embedders only ranks can.
    """
    entries = [(c.name, hit) for c in corpora for hit in found[c.name].hits]
    if len(corpora) == 1:
        return [Held(name, hit.paper, hit.score) for name, hit in entries]
    if len({open_engine(c.atlas).indexes.embedder.model for c in corpora}) > 1:
        scores = fuse_ranks([
            np.array([hit.score if name == c.name else -np.inf for name, hit in entries])
            for c in corpora
        ])  # fmt: skip
    else:
        scores = np.zeros(len(entries))
        for part, weight in (
            ("semantic", 1.0),
            ("words", 1.0),
            ("rerank", RANKING.late_interaction),
        ):
            column = np.array([hit.parts.get(part, np.nan) for _, hit in entries], dtype=float)
            scores += weight * standardised(_filled(column))
    order = np.argsort(-scores, kind="stable")
    return [Held(entries[i][0], entries[i][1].paper, float(scores[i])) for i in order]


def _filled(column: NDArray[np.float64]) -> NDArray[np.float64]:
    known = column[~np.isnan(column)]
    return np.where(np.isnan(column), known.min() if len(known) else 0.0, column)


def _with_highlights(
    merged: Sequence[tuple[Held, tuple[str, ...]]],
    corpora: Sequence[Corpus],
    context: str,
    n: int,
    full_texts: dict[str, str],
) -> tuple[Suggestion, ...]:
    listed = [
        Suggestion(rank, held.paper, held.corpus, held.score, also)
        for rank, (held, also) in enumerate(merged, start=1)
    ]
    chosen: dict[int, tuple[Highlight, ...]] = {}
    for corpus in corpora:
        mine = [one for one in listed if one.corpus == corpus.name]
        sets = highlight_papers(
            open_engine(corpus.atlas).indexes,
            [one.paper for one in mine],
            context[-LONGEST_QUERY:],
            n=n,
            full_texts=full_texts,
        )
        chosen |= {one.rank: highlights for one, highlights in zip(mine, sets, strict=True)}
    return tuple(replace(one, highlights=chosen[one.rank]) for one in listed)


def _far_off(corpora: Sequence[Corpus], found: Mapping[str, Found]) -> tuple[str, ...]:
    """Say where no corpus holds a paper as near to the context as papers usually are."""
    far = []
    for corpus in corpora:
        near = [hit.parts["semantic"] for hit in found[corpus.name].hits if "semantic" in hit.parts]
        usual = open_engine(corpus.atlas).missed_threshold(max(near, default=None))
        if usual is None:
            return ()
        far.append(f"{max(near):.2f} in {corpus.name}, where {usual:.2f} is usual")
    return (f"No paper is near the context: the nearest is at {'; '.join(far)}.",) if far else ()


def _notes(suggestions: Sequence[Suggestion], within: str | None, k: int) -> tuple[str, ...]:
    if len(suggestions) >= k or within is None:
        return ()
    n = len(suggestions)
    which = "No paper passes" if not n else f"Only {n} paper{'s' * (n > 1)} pass{'es' * (n == 1)}"
    return (f"{which} the keywords.",)
