"""The search engine of an atlas."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from landscape._wording import count, normal_title
from landscape.embeddings.embedder import WordEmbedder, embed_few
from landscape.embeddings.vectors import late_interaction
from landscape.errors import InputError, LandscapeError, RemoteError
from landscape.llm import connect_from_environment, load_reranker
from landscape.llm.prompts import as_data, prompt
from landscape.llm.reranking import checked_scores
from landscape.search._filters import parse_filter
from landscape.search.matching import (
    foreign_language,
    match_papers,
    person_name,
    shared_words,
    subject_words,
    with_long_forms,
    without_exclusions,
)
from landscape.search.outliers import find_outliers
from landscape.search.papers import SearchIndexes
from landscape.search.ranking import RANKING, Ranking, fused, reranked, weighed, word_by_word
from landscape.search.sentences import (
    absent_objects,
    find_entities,
    mixed_nearness,
    shares_of_names,
)
from landscape.search.settings import SearchSettings, query_text, readable_text
from landscape.types import Hit, Results

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.embeddings import Embedder
    from landscape.llm import Reranker, WritingModel
    from landscape.store import AtlasStore
    from landscape.types import Paper

    Rows = NDArray[np.int64]
    Floats = NDArray[np.float64]

_SEVERAL = 3  # minimum number of words of a query that a title can hold by intention
_MAX_LENGTH = 3_000  # maximum number of characters; typical abstracts are half as long

_NO_WORDS = "Not reranked word by word, because the embedder of the atlas has no word vectors."


def hypothetical_abstract(question: str, model: WritingModel) -> str:
    """Write the abstract of a hypothetical paper that answers a question (HyDE).

    The embedding of this abstract is closer to real abstracts than the embedding of the question
    (Gao et al. 2023, arXiv:2212.10496).
    """
    text = " ".join(
        model.complete(prompt("hypothetical_abstract"), as_data({"question": question})).split()
    )
    if not text:
        raise RemoteError("The model wrote no abstract. Try again, or search without hyde.")
    return text[:_MAX_LENGTH]


class _Reading(NamedTuple):
    """A query with its vectors, weights and terms."""

    text: str
    vector: NDArray[np.float32] | None = None
    words: NDArray[np.float32] | None = None
    weights: NDArray[np.float32] | None = None
    terms: Mapping[str, float] | None = None
    notes: tuple[str, ...] = ()


class Comparison:
    """An embedded query that can be compared with papers; see `Engine.compare`."""

    def __init__(self, indexes: SearchIndexes, reading: _Reading) -> None:
        self._indexes, self._reading = indexes, reading

    def cosines(self, rows: Rows) -> Floats:
        """Return the cosines between the query and papers, shape (n,)."""
        if self._reading.vector is None or not len(rows):
            return np.zeros(len(rows))
        return self._indexes.vectors.similarities(self._reading.vector, rows).astype(float)

    def cosines_of(self, texts: Sequence[str]) -> Floats:
        """Return the cosines between the query and texts outside the atlas, shape (n,)."""
        if self._reading.vector is None or not texts:
            return np.zeros(len(texts))
        return (embed_few(self._indexes.embedder, texts) @ self._reading.vector).astype(float)

    def matches(self, rows: Rows) -> Floats:
        """Return the late-interaction scores of papers, shape (n,)."""
        asked, weights = self._reading.words, self._reading.weights
        words = self._indexes.word_vectors(rows) if len(rows) and asked is not None else None
        if words is None or asked is None or weights is None:
            return np.zeros(len(rows))
        return late_interaction(asked, weights, words).astype(float)


class Engine:
    """Search engine of one atlas; it is immutable and therefore safe to use from several threads.

    Parameters
    ----------
    atlas : AtlasStore
    embedder : Embedder, optional
        Embedder of queries; by default the embedder of the atlas.

    Examples
    --------
    >>> Engine.search.__name__
    'search'
    """

    def __init__(self, atlas: AtlasStore, *, embedder: Embedder | None = None) -> None:
        self.atlas = atlas
        self.indexes = SearchIndexes(atlas, embedder=embedder)
        self._whole: Engine | None = None
        self._only: Rows | None = None

    @property
    def is_restricted(self) -> bool:
        """Whether only some papers are searched; see `within`."""
        return self._only is not None

    def within(self, rows: Sequence[int] | Rows) -> Engine:
        """Return an engine that is restricted to some papers and shares the open indexes."""
        only = np.unique(np.asarray(rows, dtype=np.int64))
        if len(only) and not 0 <= only[0] <= only[-1] < len(self.indexes):
            raise InputError(
                f"The rows are {only[0]} to {only[-1]}; pass rows from 0 to "
                f"{len(self.indexes) - 1}."
            )
        part = copy(self)
        part._whole = self._whole or self
        part._only = only if self._only is None else np.intersect1d(only, self._only)
        return part

    def search(
        self,
        query: str,
        settings: SearchSettings | None = None,
        *,
        reranker: Reranker | None = None,
        expansion: str | None = None,
    ) -> Results:
        """Find papers; `landscape.Atlas.search` documents the parameters and errors.

        `expansion` is a hypothetical abstract (HyDE: Gao et al. 2023, arXiv:2212.10496). Its
        vector is averaged with the vector of the query.
        """
        started = time.perf_counter()
        settings = settings or SearchSettings()
        self.indexes.check_unchanged()
        text, notes = query_text(query)
        text, excluded = without_exclusions(text)
        allowed = self._allowed(settings.filter)
        if excluded:
            named = self.select("|".join(f'"{name}"' for name in excluded))
            every = np.arange(len(self.indexes)) if allowed is None else allowed
            allowed = np.setdiff1d(every, named)
            notes = (f"Papers that name {' or '.join(excluded)} are excluded.", *notes)
        named, missing, _ = self.indexes.papers_named(text)
        if len(named) or missing:
            return self._named(query, named, missing, settings, allowed, started)
        if name := person_name(text):
            short, by = self.indexes.papers_of_person(name)
            if len(by):
                return self._by_person(query, short, by, settings, allowed, started)
        expansion = None if expansion is None else readable_text("expansion", expansion)
        reading = self._read(text, settings, expansion)
        language = self._foreign_language(reading)
        if language and expansion:
            text = expansion
            notes = (f"The query seems to be in {language}; the abstract was searched.", *notes)
            reading = self._read(text, settings, None)
        elif language:
            text = shared_words(self.indexes, text, language)
            names = f"Only its names and numbers are searched: {text}." if text else ""
            notes = (
                f"The query seems to be in {language}, and this atlas is searched in English. "
                f"{names or 'Write the query in English.'}",
                *notes,
            )
            if not text:
                none = self._results(query, _nothing(), settings, allowed)
                return replace(none, matched=False, note=notes[0])
            reading = self._read(text, settings, expansion)
        ranking = self._candidates(reading, settings, allowed)
        wanted = min(settings.k, len(self.indexes) if allowed is None else len(allowed))
        few_notes: tuple[str, ...] = ()
        if 0 < len(ranking) < wanted and settings.method != "semantic":
            n, verb = len(ranking), "contains" if len(ranking) == 1 else "contain"
            few_notes = (f"Only {count(n, 'paper')} {verb} any of the words.",)
        ranking, rerank_notes = self._reranked(ranking, reading, settings, reranker)
        ranking = self._titles_first(ranking, text)
        match = match_papers(self.indexes, text, ranking.rows, self._cosines(ranking))
        if not match.has_words:
            ranking = ranking.taken(slice(0))
        results = self._results(query, ranking, settings, allowed)
        used = {"reranker": reranker.name} if reranker is not None else {}
        papers = [f"{paper.title} {paper.abstract}" for paper in results.papers]
        absent = " or ".join(absent_objects(text, papers)) if papers else ""
        absent_notes = (f"None of the papers found names {absent}.",) if absent else ()
        return replace(
            results,
            settings={**results.settings, **used},
            coverage=replace(
                results.coverage,
                notes=(*absent_notes, *reading.notes, *notes, *few_notes, *rerank_notes),
            ),
            expansion=None if reading.vector is None else expansion,
            matched=match.matched and len(ranking) > 0,
            note=_note(match.note, settings.filter, n_allowed=wanted),
            seconds=time.perf_counter() - started,
        )

    def similar(
        self, paper_ids: str | Sequence[str], settings: SearchSettings | None = None
    ) -> Results:
        """Find papers similar to one or more papers, by embeddings and distinctive words."""
        started = time.perf_counter()
        settings = (settings or SearchSettings()).replaced(rerank=False)
        self.indexes.check_unchanged()
        try:
            names = [paper_ids] if isinstance(paper_ids, str) else list(paper_ids)
        except TypeError as error:
            raise InputError(
                f"paper_ids is {paper_ids!r}; give a name, or a list of names. A name is the key, "
                "bibcode or arXiv id of a paper."
            ) from error
        rows = np.array([self.row_of(name) for name in names], dtype=np.int64)
        if not len(rows):
            raise InputError("No paper is given. Pass the key, bibcode or arXiv id of a paper.")
        rows = np.unique(rows)
        text = " ".join(self.indexes.texts(rows))
        reading = _Reading(
            text,
            _unit(self.indexes.vectors.vectors(rows).mean(axis=0)),
            terms=self.indexes.words.distinctive_terms(text),
        )
        allowed = self._allowed(settings.filter)
        ranking = self._candidates(reading, settings, allowed, without=rows)
        results = self._results("papers like " + ", ".join(names), ranking, settings, allowed)
        return replace(results, seconds=time.perf_counter() - started)

    def nearness(self, question: str, sentences: Sequence[str]) -> Floats:
        """Return the similarity of sentences to a question; cosines are used if available."""
        cosines = np.zeros(len(sentences))
        with contextlib.suppress(LandscapeError):
            embedder = self.indexes.embedder
            if isinstance(embedder, WordEmbedder):  # word embedders are local and free
                vectors = embedder.embed_few([question, *sentences]).astype(float)
                cosines = vectors[1:] @ vectors[0]
        return mixed_nearness(question, sentences, cosines)

    def rank(self, query: str, settings: SearchSettings | None = None) -> tuple[Rows, Floats]:
        """Return the rows and scores that `search` finds, without reading the papers."""
        settings = settings or SearchSettings()
        text, _ = query_text(query)
        reading = self._read(text, settings, None)
        ranking = self._candidates(reading, settings, self._allowed(settings.filter))
        ranking, _ = self._reranked(ranking, reading, settings, None)
        first = ranking.taken(slice(settings.k))
        return first.rows, first.scores

    def compare(self, query: str) -> Comparison:
        """Embed a query once so that it can be compared with papers."""
        return Comparison(self.indexes, self._read(query_text(query)[0], SearchSettings(), None))

    def papers(self, rows: Sequence[int] | Rows) -> list[Paper]:
        """Read papers by row."""
        return self.indexes.paper_table.papers(rows)

    def select(self, filter_text: str) -> Rows:
        """Return the rows of the papers that match a filter; an empty filter matches all papers."""
        self.indexes.check_unchanged()
        allowed = self._allowed(filter_text)
        return np.arange(len(self.indexes), dtype=np.int64) if allowed is None else allowed

    def count_scope(self, filter_text: str | None) -> Results:
        """Return results without papers, with the number of papers that pass a filter."""
        settings = SearchSettings(filter=filter_text or None)
        return self._results("", _nothing(), settings, self._allowed(settings.filter))

    def row_of(self, name: str) -> int:
        """Find the row of a paper by its key, bibcode, arXiv identifier or DOI."""
        return self.indexes.row_of(name)

    # -- steps -----------------------------------------------------------------------------------

    def _allowed(self, filter_text: str | None) -> Rows | None:
        """Return the rows that a search can find, or None if it can find all rows."""
        passed = self.indexes.rows_that_pass(filter_text)
        if self._only is None or passed is None:
            return self._only if passed is None else passed
        return np.intersect1d(self._only, passed)

    def _read(self, text: str, settings: SearchSettings, expansion: str | None) -> _Reading:
        """Embed the query with long forms of acronyms; if there is no embedder, use words only."""
        text, of_forms = with_long_forms(text)
        terms = self._weighted_terms(text, of_forms) if of_forms else None
        if settings.method == "words":
            return _Reading(text, terms=terms)
        words = weights = None
        try:
            embedder = self.indexes.embedder
            if isinstance(embedder, WordEmbedder):
                vector, spellings, words = embedder.read_query(text)
                if settings.rerank:
                    shares = [of_forms.get(word.casefold(), 1.0) for word in spellings]
                    weights = self.indexes.rarity(spellings) * np.array(shares, dtype=np.float32)
            else:
                vector = embedder.embed([text])[0]
            if expansion:
                vector = _unit(vector + embed_few(embedder, [expansion])[0])
        except LandscapeError as error:
            note = f"Searched by words alone, because the query cannot be embedded. {error}"
            return _Reading(text, terms=terms, notes=(note,))
        return _Reading(text, vector, words, weights, terms)

    def _weighted_terms(self, text: str, of_forms: Mapping[str, float]) -> dict[str, float]:
        """Return the search terms of a query, with smaller weights for those of long forms."""
        index = self.indexes.words
        weights = dict.fromkeys(index.terms(text), 1.0)
        for word, weight in of_forms.items():
            weights |= {term: weight for term in index.terms(word) if term in weights}
        return weights

    def _candidates(
        self,
        reading: _Reading,
        settings: SearchSettings,
        allowed: Rows | None,
        *,
        without: Rows | Sequence[int] = (),
    ) -> Ranking:
        """Rank the papers found by any method, using the scores of all methods and the weights."""
        indexes = self.indexes
        n = max(
            RANKING.weighed if settings.weights.names else RANKING.candidates, settings.k
        ) + len(without)
        by_meaning = np.zeros(0, np.int64)
        if reading.vector is not None and settings.method != "words":
            by_meaning = indexes.vectors.search(reading.vector, k=n, rows=allowed).rows
        by_words, matches = np.zeros(0, np.int64), np.zeros(0)
        if settings.method != "semantic" or reading.vector is None:
            keys = None if allowed is None else indexes.keys[allowed]
            found = indexes.words.search(reading.terms or reading.text, k=5 * n, keys=keys)
            by_words, matches = indexes.rows_of_keys(found.keys), found.scores.astype(float)
        rows = np.setdiff1d(np.union1d(by_meaning, by_words[:n]), without)
        semantic = np.full(len(rows), np.nan)
        if reading.vector is not None:
            semantic = indexes.vectors.similarities(reading.vector, rows).astype(float)
        ranking = fused(rows, semantic, _looked_up(rows, by_words, matches), settings)
        return self._weighed(ranking, settings, names_of=reading.text).sorted()

    def _weighed(self, ranking: Ranking, settings: SearchSettings, *, names_of: str) -> Ranking:
        """Add the active weights to the scores."""
        on, indexes, rows = settings.weights.names, self.indexes, ranking.rows
        facts: dict[str, Floats] = {}
        names: list[str] = []
        if "keyword" in on:
            found = [entity.text for entity in find_entities(names_of)]
            names = list({name.lower(): name for name in (*found, *settings.keywords)}.values())
        if names:
            facts["keyword"] = np.array(shares_of_names(names, indexes.texts(rows)))
        if "time" in on:
            facts["age"] = indexes.ages(rows, today=settings.t_now)
        if "citation" in on:
            facts["citations"] = indexes.citations(rows)
        return weighed(ranking, settings.weights, facts) if on else ranking

    def _reranked(
        self,
        ranking: Ranking,
        reading: _Reading,
        settings: SearchSettings,
        reranker: Reranker | None,
    ) -> tuple[Ranking, tuple[str, ...]]:
        """Rerank the highest-ranked papers. If this fails, also return a note with the reason."""
        if not len(ranking) or not (settings.rerank or reranker is not None):
            return ranking, ()
        is_pathfinder = settings.weights.compat == "pathfinder"
        n = max(settings.k, RANKING.reranked_like_pathfinder if is_pathfinder else RANKING.reranked)
        first = ranking.taken(slice(n))
        if reranker is not None:
            try:
                judged = checked_scores(reranker, reading.text, self.indexes.texts(first.rows))
            except LandscapeError as error:
                return ranking, (f"Not reranked: {error}",)
            return reranked(ranking, judged, judged), ()
        if reading.vector is None:
            return ranking, ()
        words = self.indexes.word_vectors(first.rows)
        if words is None or reading.words is None or reading.weights is None:
            return ranking, (_NO_WORDS,)
        matched = late_interaction(reading.words, reading.weights, words).astype(float)
        return reranked(ranking, matched, word_by_word(first, matched, settings.weights)), ()

    def _titles_first(self, ranking: Ranking, text: str) -> Ranking:
        """Move papers to the front whose title is the query, or has all words of its subject."""
        terms = set(self.indexes.words.terms(" ".join(subject_words(text))))
        titles = self.indexes.paper_table.column("title", ranking.rows)
        whole, has_terms = normal_title(text), len(terms) >= _SEVERAL
        grades = [
            2 * (normal_title(title) == whole)
            + (has_terms and terms <= set(self.indexes.words.terms(title)))
            for title in titles
        ]
        return ranking.taken(np.argsort(-np.array(grades, dtype=np.int64), kind="stable"))

    def _foreign_language(self, reading: _Reading) -> str:
        """Return the language of a query that the embedder cannot read, or ""."""
        if reading.vector is None or isinstance(self.indexes.embedder, WordEmbedder):
            return foreign_language(self.indexes, reading.text)
        return ""

    def _by_person(
        self,
        query: str,
        name: str,
        rows: Rows,
        settings: SearchSettings,
        allowed: Rows | None,
        started: float,
    ) -> Results:
        """Return the papers by a person, newest first unless another order is requested."""
        rows = rows if allowed is None else np.intersect1d(rows, allowed)
        if settings.sort == "relevance":
            settings = settings.replaced(sort="date")
        every = self._in_order(Ranking(rows, np.ones(len(rows)), {}), settings)
        found = self._results(query, every, settings, allowed)
        order = "newest first" if settings.sort == "date" else "most cited first"
        papers = count(len(rows), "paper")
        note = f"{name}. is an author of {papers} in this atlas, {order}."
        return replace(
            found, note=note, matched=len(rows) > 0, seconds=time.perf_counter() - started
        )

    def _named(
        self,
        query: str,
        rows: Rows,
        missing: Sequence[str],
        settings: SearchSettings,
        allowed: Rows | None,
        started: float,
    ) -> Results:
        """Return the papers that a query names, in its order."""
        kept = rows if allowed is None else rows[np.isin(rows, allowed)]
        found = self._results(query, Ranking(kept, np.ones(len(kept)), {}), settings, allowed)
        note = (
            f"No paper in this atlas has the identifier {' or '.join(missing)}." if missing else ""
        )
        if len(rows) > len(kept):
            note = f"{note} Named papers that do not pass the filter: {len(rows) - len(kept)}."
        elapsed = time.perf_counter() - started
        return replace(found, note=note.strip(), matched=len(kept) > 0, seconds=elapsed)

    def _cosines(self, ranking: Ranking) -> Floats | None:
        """Return the cosines of papers; None if the scale of the cosines is unknown."""
        cosines = ranking.parts["semantic"]
        if np.isnan(cosines).any() or not isinstance(self.indexes.embedder, WordEmbedder):
            return None
        return cosines

    def _in_order(self, ranking: Ranking, settings: SearchSettings) -> Ranking:
        """Return papers sorted as requested; unknown dates and citations are last."""
        if settings.sort == "relevance":
            return ranking
        if settings.sort == "date":
            largest_first = -self.indexes.ages(ranking.rows, today=settings.t_now)
        else:
            largest_first = self.indexes.citations(ranking.rows)
        return ranking.taken(np.argsort(-largest_first, kind="stable"))

    def _results(
        self, query: str, ranking: Ranking, settings: SearchSettings, allowed: Rows | None
    ) -> Results:
        """Read the highest-ranked papers, and return them with facts on the searched papers."""
        indexes = self.indexes
        first = self._in_order(ranking.taken(slice(settings.k)), settings)
        apart = find_outliers(
            indexes.vectors.vectors(first.rows), indexes.cutoffs, gamma=settings.gamma
        )
        hits = tuple(
            Hit(
                rank=place + 1,
                paper=paper,
                score=float(first.scores[place]),
                parts={
                    name: float(values[place])
                    for name, values in first.parts.items()
                    if not np.isnan(values[place])
                },
                outlier=bool(apart[place]) if len(first) >= 3 else None,
            )
            for place, paper in enumerate(indexes.paper_table.papers(first.rows))
        )
        n_searched = len(indexes) if allowed is None else len(allowed)
        coverage = replace(indexes.coverage, n_searched=n_searched)
        return Results(query, hits, coverage, settings.to_dict())


def _note(note: str, filter_text: str | None, *, n_allowed: int) -> str:
    """Return the reason why no paper matches; it names the filter, if there is one."""
    if not n_allowed and filter_text:
        return f"No paper passes the filter {filter_text!r}. Remove or widen a condition."
    if not filter_text:
        return note
    return note.replace("No paper in this atlas is", "No paper that passes the filter is").replace(
        "No paper in this atlas names", "No paper that passes the filter names"
    )


def _nothing() -> Ranking:
    return Ranking(np.zeros(0, np.int64), np.zeros(0), {})


def _looked_up(rows: Rows, known: Rows, values: Floats) -> Floats:
    """Return the values of the given rows, with 0 for unknown values."""
    if not len(known):
        return np.zeros(len(rows))
    order = np.argsort(known)
    place = np.minimum(np.searchsorted(known[order], rows), len(order) - 1)
    return np.where(known[order][place] == rows, values[order][place], 0.0)


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    return vector / max(float(np.linalg.norm(vector)), 1e-12)


def search(
    engine: Engine,
    query: str,
    settings: SearchSettings,
    *,
    reranker: Reranker | str | None = None,
    expansion: str | None = None,
    hyde: bool = False,
    model: WritingModel | None = None,
) -> Results:
    """Find papers. If `hyde` is True, first write a hypothetical abstract with the model."""
    loaded = load_reranker(reranker) if isinstance(reranker, str) else reranker
    notes: tuple[str, ...] = ()
    if (hyde or expansion) and settings.method == "words":
        raise InputError(
            "A hypothetical abstract is searched by meaning only; use method hybrid or semantic."
        )
    if settings.filter:
        parse_filter(settings.filter)  # raises syntax errors before a paid request
    if hyde and expansion is None:
        text, _ = query_text(query)
        model = model or connect_from_environment()
        if model is None:
            raise InputError(
                "A hypothetical abstract (HyDE) needs a language model: set OPENAI_API_KEY, or "
                "OPENAI_BASE_URL and LANDSCAPE_LLM_MODEL."
            )
        try:
            expansion = hypothetical_abstract(text, model)
        except RemoteError as error:
            notes = (f"Searched without a hypothetical abstract: {error}",)
    found = engine.search(query, settings, reranker=loaded, expansion=expansion)
    coverage = replace(found.coverage, notes=(*notes, *found.coverage.notes))
    return replace(found, coverage=coverage) if notes else found


def open_engine(store: AtlasStore) -> Engine:
    """Return the search engine of an open atlas; its indexes are opened only once."""
    return store.cached("search engine", Engine)


def search_papers(
    store: AtlasStore,
    query: str,
    *,
    reranker: Reranker | str | None = None,
    expansion: str | None = None,
    hyde: bool = False,
    **settings: object,
) -> Results:
    """Find papers by meaning and by words; `landscape.Atlas.search` documents the parameters."""
    chosen = SearchSettings(**settings)
    engine = open_engine(store)
    return search(engine, query, chosen, reranker=reranker, expansion=expansion, hyde=hyde)


def similar_papers(
    store: AtlasStore, paper_ids: str | Sequence[str], **settings: object
) -> Results:
    """Find papers similar to given papers; `landscape.Atlas.similar` documents the parameters."""
    return open_engine(store).similar(paper_ids, SearchSettings(**settings))
