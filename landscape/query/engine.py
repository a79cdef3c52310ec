"""The engine of an atlas: each search a chain of steps over its indexes."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from landscape.embeddings._embedder import WordEmbedder, embed_few
from landscape.embeddings._word_vectors import late_interaction
from landscape.errors import InputError, LandscapeError
from landscape.llm._reranking import checked_scores
from landscape.query.entities import absent_objects, find_entities, shares_of_names
from landscape.query.holdings import Holdings
from landscape.query.outliers import find_outliers
from landscape.query.ranking import Ranking, fused, reranked, weighed, word_by_word
from landscape.query.records import Hit, Results
from landscape.query.settings import SearchSettings
from landscape.query.wording import query_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.atlas.reading import Atlas
    from landscape.embeddings._embedder import Embedder
    from landscape.llm._reranking import Reranker
    from landscape.query.records import Paper

    Rows = NDArray[np.int64]
    Floats = NDArray[np.float64]

_CANDIDATES = 300  # of each method
_WEIGHED = 1_000  # papers that weights reorder (pathfinder: the top 1000)
_RERANKED = 100
_RERANKED_LIKE_PATHFINDER = 250
_CALIBRATED_ON = 150  # titles
_SURELY_NEAR = 0.5  # cosine that needs no calibration, which takes seconds

_NO_WORDS = "Not reranked word by word: the atlas has no word vectors (its embedder gives none)."


class _Reading(NamedTuple):
    """A query as the indexes see it."""

    text: str
    vector: NDArray[np.float32] | None = None
    words: NDArray[np.float32] | None = None
    weights: NDArray[np.float32] | None = None
    terms: Mapping[str, float] | None = None
    notes: tuple[str, ...] = ()


class Comparison:
    """A query that was read once, beside which any papers can be laid; see `Engine.compare`.

    Zeros where the atlas or its embedder cannot tell.
    """

    def __init__(self, held: Holdings, reading: _Reading) -> None:
        self._held, self._reading = held, reading

    def cosines(self, rows: Rows) -> Floats:
        """Say how near papers are by meaning, shape (n,)."""
        if self._reading.vector is None or not len(rows):
            return np.zeros(len(rows))
        return self._held.vectors.similarities(self._reading.vector, rows).astype(float)

    def matches(self, rows: Rows) -> Floats:
        """Say how well the words of papers match, see `late_interaction`, shape (n,)."""
        asked, weights = self._reading.words, self._reading.weights
        words = self._held.word_vectors(rows) if len(rows) and asked is not None else None
        if words is None or asked is None or weights is None:
            return np.zeros(len(rows))
        return late_interaction(asked, weights, words).astype(float)


class Engine:
    """Search over one atlas; safe to use from several threads, as nothing in it changes.

    Parameters
    ----------
    atlas : Atlas
    embedder : Embedder, optional
        For queries; by default the one that the atlas was made with.

    Examples
    --------
    >>> Engine.search.__name__
    'search'
    """

    def __init__(self, atlas: Atlas, *, embedder: Embedder | None = None) -> None:
        self._held = Holdings(atlas, embedder=embedder)
        self._whole: Engine | None = None
        self._only: Rows | None = None

    def within(self, rows: Sequence[int] | Rows) -> Engine:
        """An engine that finds only some of the papers, on the same open indexes.

        Parameters
        ----------
        rows : sequence of int

        Returns
        -------
        Engine

        Raises
        ------
        InputError
            If there are no such rows.
        """
        only = np.unique(np.asarray(rows, dtype=np.int64))
        if len(only) and not 0 <= only[0] <= only[-1] < len(self._held):
            message = f"The rows reach from {only[0]} to {only[-1]}; there are {len(self._held)}."
            raise InputError(message)
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
        """Find papers.

        Parameters
        ----------
        query : str
            A question or key words.
        settings : SearchSettings, optional
        reranker : Reranker, optional
            Reranks instead of the built-in comparison word by word.
        expansion : str, optional
            A hypothetical abstract (HyDE: Gao et al. 2023, arXiv:2212.10496); its vector is
            averaged with that of the query.

        Returns
        -------
        Results

        Raises
        ------
        InputError
            For an empty query, or a filter with a mistake.
        """
        started = time.perf_counter()
        settings = settings or SearchSettings()
        self._held.check_unchanged()
        text, notes = query_text(query)
        allowed = self._allowed(settings.filter)
        reading = self._read(text, settings, expansion)
        ranking = self._candidates(reading, settings, allowed)
        ranking = self._weighed(ranking, settings, names_of=text).sorted()
        wanted = min(settings.k, len(self._held) if allowed is None else len(allowed))
        few = len(ranking) < wanted and settings.method != "semantic"
        few_notes = (_few(len(ranking)),) if few else ()
        ranking, rerank_notes = self._reranked(ranking, reading, settings, reranker)
        results = self._results(query, ranking, settings, allowed)
        used = {"reranker": reranker.name} if reranker is not None else {}
        absent_notes = _absent(text, results)
        return replace(
            results,
            settings={**results.settings, **used},
            coverage=replace(
                results.coverage,
                notes=(*absent_notes, *reading.notes, *notes, *few_notes, *rerank_notes),
            ),
            expansion=None if reading.vector is None else expansion,
            seconds=time.perf_counter() - started,
        )

    def similar(
        self, paper_ids: str | Sequence[str], settings: SearchSettings | None = None
    ) -> Results:
        """Find papers like one or several others, by meaning and by their distinctive words.

        Parameters
        ----------
        paper_ids : str or sequence of str
            Keys, bibcodes, DOIs or arXiv identifiers.
        settings : SearchSettings, optional
            All but ``rerank``: nothing is compared word by word.

        Returns
        -------
        Results
            Without the papers themselves.

        Raises
        ------
        InputError
            If one of them is not in the atlas.
        """
        started = time.perf_counter()
        settings = replace(settings or SearchSettings(), rerank=False)
        self._held.check_unchanged()
        try:
            names = [paper_ids] if isinstance(paper_ids, str) else list(paper_ids)
        except TypeError as error:
            message = f"The papers are {paper_ids!r}; give a name, or a list of names."
            raise InputError(message) from error
        rows = np.array([self.row_of(name) for name in names], dtype=np.int64)
        if not len(rows):
            message = "No paper is given; name at least one by its key, bibcode or arXiv id."
            raise InputError(message)
        rows = np.unique(rows)
        text = " ".join(self._held.texts(rows))
        reading = _Reading(
            text,
            _unit(self._held.vectors.vectors(rows).mean(axis=0)),
            terms=self._held.words.distinctive_terms(text),
        )
        allowed = self._allowed(settings.filter)
        ranking = self._candidates(reading, settings, allowed, without=rows)
        ranking = self._weighed(ranking, settings, names_of=text).sorted()
        results = self._results("papers like " + ", ".join(names), ranking, settings, allowed)
        return replace(results, seconds=time.perf_counter() - started)

    def nearness(self, question: str, sentences: Sequence[str]) -> Floats:
        """Say how near sentences are to a question, by words and, where possible, by meaning.

        Parameters
        ----------
        question : str
        sentences : sequence of str, shape (n,)

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        from landscape.query.asking import mixed_nearness

        cosines = np.zeros(len(sentences))
        with contextlib.suppress(LandscapeError):
            embedder = self._held.embedder
            if isinstance(embedder, WordEmbedder):  # a local one: it costs only time
                vectors = embedder.embed_few([question, *sentences]).astype(float)
                cosines = vectors[1:] @ vectors[0]
        return mixed_nearness(question, sentences, cosines)

    @cached_property
    def near_enough(self) -> float | None:
        """Cosine that the nearest paper has to reach for the atlas to answer a question.

        Calibrated on the corpus: one title in a hundred, asked as a question, has no other paper
        as near as that. None where titles cannot be embedded for nothing.
        """
        if self._whole is not None:
            return self._whole.near_enough
        with contextlib.suppress(LandscapeError):
            embedder = self._held.embedder
            if isinstance(embedder, WordEmbedder) and len(self._held) > _CALIBRATED_ON:
                rows = np.linspace(0, len(self._held) - 1, _CALIBRATED_ON).astype(np.int64)
                titles = embedder.embed(self._held.shelf.column("title", rows))
                others = [self._held.vectors.search(v, k=2).similarities[-1] for v in titles]
                return float(np.percentile(others, 1))
        return None

    def missed_bar(self, nearest: float | None) -> float | None:
        """Tell which cosine a question's nearest paper misses; None where it is near enough.

        Parameters
        ----------
        nearest : float or None
            Cosine of the nearest paper; None where it is not known.

        Returns
        -------
        float or None
            `near_enough`, which is calibrated only where there is a doubt.
        """
        if nearest is None or nearest >= _SURELY_NEAR or self.near_enough is None:
            return None
        return self.near_enough if nearest < self.near_enough else None

    @property
    def holdings(self) -> Holdings:
        """The indexes and tables that it searches."""
        return self._held

    def rank(self, query: str, settings: SearchSettings | None = None) -> tuple[Rows, Floats]:
        """Find the rows of papers as `search` does, without taking them off the shelf.

        Parameters
        ----------
        query : str
        settings : SearchSettings, optional

        Returns
        -------
        rows : ndarray of int64, shape (at most k,)
            Best first.
        scores : ndarray of float64, same shape

        Raises
        ------
        InputError
            For an empty query.
        """
        settings = settings or SearchSettings()
        text, _ = query_text(query)
        reading = self._read(text, settings, None)
        ranking = self._candidates(reading, settings, self._allowed(settings.filter))
        ranking = self._weighed(ranking, settings, names_of=text).sorted()
        ranking, _ = self._reranked(ranking, reading, settings, None)
        first = ranking.taken(slice(settings.k))
        return first.rows, first.scores

    def compare(self, query: str) -> Comparison:
        """Read a query once, to say of any papers how near they are to it.

        Parameters
        ----------
        query : str

        Returns
        -------
        Comparison
        """
        return Comparison(self._held, self._read(query_text(query)[0], SearchSettings(), None))

    def papers(self, rows: Sequence[int] | Rows) -> list[Paper]:
        """Take papers out of the atlas by their rows."""
        return self._held.shelf.papers(rows)

    def select(self, filter_text: str) -> Rows:
        """Find the rows of the papers that a filter lets through; an empty one lets all through.

        Raises
        ------
        InputError
            If it has a mistake.
        """
        self._held.check_unchanged()
        allowed = self._allowed(filter_text)
        return np.arange(len(self._held), dtype=np.int64) if allowed is None else allowed

    def row_of(self, name: str) -> int:
        """Find the row of a paper by its key, bibcode, arXiv identifier or DOI.

        Parameters
        ----------
        name : str

        Returns
        -------
        int

        Raises
        ------
        InputError
            If there is none.
        """
        return self._held.row_of(name)

    # -- steps -----------------------------------------------------------------------------------

    def _allowed(self, filter_text: str | None) -> Rows | None:
        """Rows that may be found; None for all."""
        passed = self._held.rows_that_pass(filter_text)
        if self._only is None or passed is None:
            return self._only if passed is None else passed
        return np.intersect1d(self._only, passed)

    def _read(self, text: str, settings: SearchSettings, expansion: str | None) -> _Reading:
        """Embed the query, as far as the atlas lets it."""
        if settings.method == "words":
            return _Reading(text)
        words = weights = None
        try:
            embedder = self._held.embedder
            if isinstance(embedder, WordEmbedder):
                vector, spellings, words = embedder.read_query(text)
                weights = self._held.rarity(spellings) if settings.rerank else None
            else:
                vector = embedder.embed([text])[0]
            if expansion:
                vector = _unit(vector + embed_few(embedder, [expansion])[0])
        except LandscapeError as error:
            note = f"Found by words alone: the query cannot be embedded. {error}"
            return _Reading(text, notes=(note,))
        return _Reading(text, vector, words, weights)

    def _candidates(
        self,
        reading: _Reading,
        settings: SearchSettings,
        allowed: Rows | None,
        *,
        without: Rows | Sequence[int] = (),
    ) -> Ranking:
        """Gather what each method finds, and ask each about what the others found."""
        held = self._held
        n = max(_WEIGHED if settings.weights.names else _CANDIDATES, settings.k) + len(without)
        by_meaning = np.zeros(0, np.int64)
        if reading.vector is not None and settings.method != "words":
            by_meaning = held.vectors.search(reading.vector, k=n, rows=allowed).rows
        by_words, matches = np.zeros(0, np.int64), np.zeros(0)
        if settings.method != "semantic" or reading.vector is None:
            keys = None if allowed is None else held.keys[allowed]
            found = held.words.search(reading.terms or reading.text, k=5 * n, keys=keys)
            by_words, matches = held.rows_of_keys(found.keys), found.scores.astype(float)
        rows = np.setdiff1d(np.union1d(by_meaning, by_words[:n]), without)
        semantic = np.full(len(rows), np.nan)
        if reading.vector is not None:
            semantic = held.vectors.similarities(reading.vector, rows).astype(float)
        return fused(rows, semantic, _looked_up(rows, by_words, matches), settings)

    def _weighed(self, ranking: Ranking, settings: SearchSettings, *, names_of: str) -> Ranking:
        """Lift papers by what the weights that are on count."""
        on, held, rows = settings.weights.names, self._held, ranking.rows
        facts: dict[str, Floats] = {}
        names: list[str] = []
        if "keyword" in on:
            found = [entity.text for entity in find_entities(names_of)]
            names = list({name.lower(): name for name in (*found, *settings.keywords)}.values())
        if names:
            facts["keyword"] = np.array(shares_of_names(names, held.texts(rows)))
        if "time" in on:
            facts["age"] = held.ages(rows, today=settings.t_now)
        if "citation" in on:
            facts["citations"] = held.citations(rows)
        return weighed(ranking, settings.weights, facts) if on else ranking

    def _reranked(
        self,
        ranking: Ranking,
        reading: _Reading,
        settings: SearchSettings,
        reranker: Reranker | None,
    ) -> tuple[Ranking, tuple[str, ...]]:
        """Put the first papers into a new order, or say why not."""
        if not len(ranking) or not (settings.rerank or reranker is not None):
            return ranking, ()
        is_pathfinder = settings.weights.compat == "pathfinder"
        n = max(settings.k, _RERANKED_LIKE_PATHFINDER if is_pathfinder else _RERANKED)
        first = ranking.taken(slice(n))
        if reranker is not None:
            try:
                judged = checked_scores(reranker, reading.text, self._held.texts(first.rows))
            except LandscapeError as error:
                return ranking, (f"Not reranked: {error}",)
            return reranked(ranking, judged, judged), ()
        if reading.vector is None:
            return ranking, ()
        words = self._held.word_vectors(first.rows)
        if words is None or reading.words is None or reading.weights is None:
            return ranking, (_NO_WORDS,)
        matched = late_interaction(reading.words, reading.weights, words).astype(float)
        return reranked(ranking, matched, word_by_word(first, matched, settings.weights)), ()

    def _results(
        self, query: str, ranking: Ranking, settings: SearchSettings, allowed: Rows | None
    ) -> Results:
        """Take the first papers off the shelf, and say what was searched."""
        held = self._held
        first = ranking.taken(slice(settings.k))
        apart = find_outliers(held.vectors.vectors(first.rows), held.cutoffs, gamma=settings.gamma)
        hits = tuple(
            Hit(
                rank=place + 1,
                paper=paper,
                score=float(first.scores[place]),
                parts=_known(first, place),
                outlier=bool(apart[place]) if len(first) >= 3 else None,
            )
            for place, paper in enumerate(held.shelf.papers(first.rows))
        )
        n_searched = len(held) if allowed is None else len(allowed)
        coverage = replace(held.coverage, n_searched=n_searched)
        return Results(query, hits, coverage, settings.to_dict())


def _few(n: int) -> str:
    if n == 0:
        return "No paper holds any of the words."
    return f"Only {n:,} paper{'s hold' if n > 1 else ' holds'} any of the words."


def _absent(text: str, results: Results) -> tuple[str, ...]:
    papers = [f"{paper.title} {paper.abstract}" for paper in results.papers]
    names = absent_objects(text, papers) if papers else ()
    return (f"None of the papers found names {' or '.join(names)}.",) if names else ()


def _known(ranking: Ranking, place: int) -> dict[str, float]:
    values = {name: float(column[place]) for name, column in ranking.parts.items()}
    return {name: value for name, value in values.items() if not np.isnan(value)}


def _looked_up(rows: Rows, known: Rows, values: Floats) -> Floats:
    """Values of rows, 0 where none is known."""
    if not len(known):
        return np.zeros(len(rows))
    order = np.argsort(known)
    place = np.minimum(np.searchsorted(known[order], rows), len(order) - 1)
    return np.where(known[order][place] == rows, values[order][place], 0.0)


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    return vector / max(float(np.linalg.norm(vector)), 1e-12)
