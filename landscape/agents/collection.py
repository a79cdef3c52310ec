"""Find papers to cite in several corpora (SciLit, Gu & Hahnloser 2023, arXiv:2306.03535)."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from landscape._author_names import parse_name
from landscape._bibliography import citation_keys, escape_latex
from landscape._wording import count, normal_title
from landscape.agents._citing_sentences import highlight as highlight
from landscape.agents._citing_sentences import highlight_papers, write_sentences
from landscape.agents.bounded_search import Found, Wording, search_wordings
from landscape.answers.citations import papers_as_data
from landscape.answers.extractive import QUOTED, extract_answer, failure_notes
from landscape.answers.generation import finish
from landscape.errors import InputError, RemoteError
from landscape.llm import connect_from_environment
from landscape.llm.prompts import as_data, prompt
from landscape.models import read_numbers
from landscape.overlays.citations import citation_graph
from landscape.search import SearchSettings, open_engine, parse_filter
from landscape.search.passages import with_bodies
from landscape.search.ranking import fuse_ranks, standardised
from landscape.search.settings import MAX_QUERY, readable_text
from landscape.text import split_sentences
from landscape.types import Answer, CitationSuggestions, Hit, Paper, Results, Suggestion

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.llm import WritingModel
    from landscape.store import AtlasStore
    from landscape.types import Highlight

    Connection = WritingModel | Literal["auto"] | None


@dataclass(frozen=True)
class Corpus:
    """Atlas with its name in an `AtlasCollection`."""

    name: str
    atlas: AtlasStore
    on: bool = True


@dataclass(frozen=True)
class AtlasCollection:
    """A set of atlases in which to find papers to cite. Its methods return a new one.

    Attributes
    ----------
    corpora : tuple of Corpus

    Examples
    --------
    >>> from pathlib import Path
    >>> from landscape.store.manifest import Manifest
    >>> from landscape.store._atlas_store import AtlasStore
    >>> def atlas(name):
    ...     return AtlasStore(Path(f"{name}.atlas"), Manifest(title=name))
    >>> collection = AtlasCollection().add(atlas("Galaxies")).add(atlas("Mine"), "my papers")
    >>> collection = collection.switch_off("Galaxies")
    >>> [(corpus.name, corpus.on) for corpus in collection.corpora]
    [('Galaxies', False), ('my papers', True)]
    >>> [corpus.name for corpus in collection.remove("my papers").corpora]
    ['Galaxies']
    """

    corpora: tuple[Corpus, ...] = ()

    def add(self, atlas: AtlasStore, name: str | None = None) -> AtlasCollection:
        """Add an atlas.

        Parameters
        ----------
        atlas : AtlasStore
        name : str, optional
            Default: the title of the atlas.

        Returns
        -------
        AtlasCollection

        Raises
        ------
        InputError
            If the collection already has a corpus with this name.
        """
        called = (name or atlas.title).strip()
        if not called or any(corpus.name == called for corpus in self.corpora):
            raise InputError(
                f"The collection already has a corpus {called!r}. Choose another name."
            )
        return AtlasCollection((*self.corpora, Corpus(called, atlas)))

    def remove(self, name: str) -> AtlasCollection:
        """Remove a corpus from the collection; its files are not deleted."""
        gone = self._named(name)
        return AtlasCollection(tuple(corpus for corpus in self.corpora if corpus is not gone))

    def switch_off(self, name: str) -> AtlasCollection:
        """Exclude a corpus from searches until it is switched on again."""
        return self._set_on(name, on=False)

    def switch_on(self, name: str) -> AtlasCollection:
        """Include a corpus in searches again."""
        return self._set_on(name, on=True)

    @property
    def searched(self) -> tuple[Corpus, ...]:
        """Corpora that are switched on.

        Raises
        ------
        InputError
            If no corpus is switched on.
        """
        on = tuple(corpus for corpus in self.corpora if corpus.on)
        if not on:
            raise InputError(
                "No corpus of the collection is switched on. Add one with collection.add(atlas), "
                "or switch one on."
            )
        return on

    @property
    def table(self) -> pd.DataFrame:
        """Table with one row per corpus: ``name, on, papers, path``."""
        import pandas as pd

        rows = [(c.name, c.on, len(c.atlas), str(c.atlas.path)) for c in self.corpora]
        return pd.DataFrame(rows, columns=["name", "on", "papers", "path"])

    def cite(
        self,
        context: str,
        keywords: str | Sequence[str] | None = None,
        *,
        k: int = 10,
        model: Connection = "auto",
        n_highlights: int = 3,
        full_texts: Mapping[str, str] | None = None,
        without: Sequence[str] = (),
    ) -> CitationSuggestions:
        """Find papers to cite after a text, with highlights and, with a model, citing sentences.

        Parameters
        ----------
        context : str
            The text before the citation; its last sentence has the largest weight.
        keywords : str or sequence of str, optional
            Filter of the papers, in the syntax of `Atlas.search`. A paper must match all items of
            a sequence. Plain words also count in the ranking.
        k : int, default 10
            Number of papers.
        model : WritingModel, "auto" or None
            Model that writes the sentences. "auto" connects the model set in the environment.
        n_highlights : int, default 3
            Number of highlights per paper.
        full_texts : mapping of str to str, optional
            Full texts by paper id. They replace the abstracts, and the full texts of the atlas, as
            source of the highlights.
        without : sequence of str, optional
            Identifiers of papers that are not suggested, such as the paper that is written.

        Returns
        -------
        CitationSuggestions
            If the model fails, the result is partial and has no citing sentences.

        Raises
        ------
        InputError
            If both context and keywords are empty, if the keywords are invalid, or if no corpus
            is switched on.
        """
        started = time.perf_counter()
        SearchSettings(k=k)  # checks k
        asked, within = _read_context(context, keywords)
        corpora = self.searched
        names = [without] if isinstance(without, str) else without
        excluded = [paper for name in names for paper in self._named_papers(name)]

        def allows(paper: Paper) -> bool:
            return not any(is_same(paper, other) for other in excluded)

        found = {
            corpus.name: search_wordings(
                open_engine(corpus.atlas),
                asked,
                k=max(k + _SPARE, _RANKED),
                filter=within,
                rerank=False,
                allows=allows if excluded else None,
            )  # word by word, papers to cite are found less often (benchmarks/RESULTS.md)
            for corpus in corpora
        }
        listed = merge_duplicates(_rank_together(corpora, found))
        merged = _rank_by_citations(corpora, listed, allows, adds=within is None)[:k]
        suggestions = _with_highlights(
            merged,
            corpora,
            context or " ".join(w.text for w in asked),
            n_highlights,
            dict(full_texts or {}),
        )
        model = connect_from_environment() if model == "auto" else model
        partial = False
        notes = _distance_notes(corpora, found)
        n = len(suggestions)
        if within is not None and n < k:
            which = f"Only {count(n, 'paper')} pass{'es' * (n == 1)}" if n else "No paper passes"
            notes = (*notes, f"{which} the keywords.")
        if model is not None and suggestions:
            try:
                suggestions, more = write_sentences(context, within, suggestions, model)
                notes = (*notes, *more)
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

    def rewrite(
        self, found: CitationSuggestions, rank: int, keywords: str, *, model: Connection = "auto"
    ) -> CitationSuggestions:
        """Write the sentence of one suggestion again, with other keywords.

        Parameters
        ----------
        found : CitationSuggestions
            Result of `cite`. All other suggestions are kept.
        rank : int
            Rank of the suggestion.
        keywords : str
            Words that the sentence and the highlights should be about.
        model : WritingModel, "auto" or None
            Model that writes the sentence. Without a model, the highlights are chosen again.

        Returns
        -------
        CitationSuggestions

        Raises
        ------
        InputError
            If no suggestion has this rank, or the keywords are empty.
        RemoteError
            If the model fails.
        """
        old = next((one for one in found.suggestions if one.rank == rank), None)
        if old is None or not keywords.strip():
            raise InputError(
                f"Nothing to write again for rank {rank} of {count(len(found), 'paper')} and the "
                f"keywords {keywords[:60]!r}. Give the rank of a paper, and keywords."
            )
        n = max(len(old.highlights), 1)
        (new,) = _with_highlights([old], self.corpora, readable_text("keywords", keywords), n, {})
        model = connect_from_environment() if model == "auto" else model
        notes: tuple[str, ...] = ()
        if model is not None:
            (new,), notes = write_sentences(found.context, keywords, [new], model)
        listed = tuple(new if one is old else one for one in found.suggestions)
        method = found.method if model is None else model.model
        return replace(found, suggestions=listed, notes=(*found.notes, *notes), method=method)

    def related_work(
        self, papers: Sequence[str | Paper], *, context: str = "", model: Connection = None
    ) -> Answer:
        """Write a paragraph of related work on up to 40 papers, with checked citations."""
        if not papers or len(papers) > _MAX_PAPERS:
            raise InputError(f"papers has {len(papers)} items; pass 1 to {_MAX_PAPERS} papers.")
        chosen: list[Paper] = []
        corpora = []
        for one in papers:
            corpus, paper = self.find(one if isinstance(one, str) else one.paper_id)
            corpora.append(corpus)
            if not any(is_same(paper, earlier) for earlier in chosen):
                chosen.append(paper)
        engine = open_engine(corpora[0].atlas)
        hits = tuple(Hit(rank, paper, 1.0 / rank) for rank, paper in enumerate(chosen, start=1))
        question = context.strip() or "Related work"
        results = Results(question, hits, replace(engine.indexes.coverage, n_searched=len(chosen)))
        model = connect_from_environment() if model == "auto" else model
        subject = ". ".join(filter(None, [context.strip(), *(paper.title for paper in chosen)]))
        notes: tuple[str, ...] = (QUOTED,)
        if model is not None:
            brief = {"text": context, "papers": papers_as_data(chosen)}
            try:
                text = model.complete(prompt("related_work"), as_data(brief))
                written = finish(question, text, results, model=model, style=STYLE)
            except RemoteError as error:
                notes = failure_notes(error)
            else:
                if written is not None:
                    cited = {label for claim in written.claims for label in claim.citations}
                    left = [paper.label for paper in written.papers if paper.label not in cited]
                    if left:
                        notes = (*written.notes, f"The paragraph does not cite {', '.join(left)}.")
                        written = replace(written, notes=notes)
                    return written
                notes = failure_notes("The model cited none of the papers.")
        quoted = extract_answer(
            subject, results, n_sentences=2 * len(chosen), least=0.0, notes=notes
        )
        return replace(quoted, question=question, style=STYLE)

    def find(self, name: str) -> tuple[Corpus, Paper]:
        """Find a paper by its identifier in all corpora, including corpora that are switched off.

        Raises
        ------
        InputError
            If no corpus contains the paper.
        """
        for corpus in self.corpora:
            try:
                row = open_engine(corpus.atlas).row_of(name)
            except InputError:
                continue
            return corpus, open_engine(corpus.atlas).papers([row])[0]
        raise InputError(
            f"No corpus of the collection contains {name!r}. Pass a bibcode, arXiv identifier or "
            "DOI."
        )

    def _named_papers(self, name: str) -> list[Paper]:
        """Return the paper with an identifier, or an empty list."""
        try:
            return [self.find(name)[1]]
        except InputError:
            return []

    def _set_on(self, name: str, *, on: bool) -> AtlasCollection:
        chosen = self._named(name)
        return AtlasCollection(
            tuple(replace(corpus, on=on) if corpus is chosen else corpus for corpus in self.corpora)
        )

    def _named(self, name: str) -> Corpus:
        for corpus in self.corpora:
            if corpus.name == name:
                return corpus
        known = ", ".join(repr(corpus.name) for corpus in self.corpora) or "none"
        raise InputError(f"The collection has no corpus {name!r}. Existing corpora: {known}.")

    def __len__(self) -> int:
        return len(self.corpora)


_IDENTIFIERS = ("bibcode", "arxiv_id", "doi")
_MIN_TITLE = 12  # minimum number of letters; "Erratum" does not identify a paper
_YEARS_APART = 2  # maximum number of years between the e-print and the publication


def merge_duplicates(found: Sequence[Suggestion]) -> list[Suggestion]:
    """Merge records of the same paper into the first record, and renumber the ranks."""
    kept: list[Suggestion] = []
    by_key = defaultdict[tuple[str, str], list[int]](list)  # records of one paper share a key
    for one in found:
        keys = _keys(one.paper)
        for place in sorted({place for key in keys for place in by_key[key]}):
            same = kept[place]
            if same.corpus != one.corpus and is_same(same.paper, one.paper):
                also_in = tuple(dict.fromkeys((*same.also_in, one.corpus)))
                kept[place] = replace(same, also_in=also_in)
                break
        else:
            for key in keys:
                by_key[key].append(len(kept))
            kept.append(replace(one, rank=len(kept) + 1))
    return kept


def _keys(paper: Paper) -> list[tuple[str, str]]:
    """Return the keys of a paper. Records of the same paper (`is_same`) share at least one key."""
    names = [(name, str(getattr(paper, name) or "").lower()) for name in _IDENTIFIERS]
    return [key for key in (*names, ("title", title_key(paper.title))) if key[1]]


def is_same(one: Paper, other: Paper) -> bool:
    """Return whether two records describe the same paper."""
    for name in _IDENTIFIERS:
        mine, yours = getattr(one, name), getattr(other, name)
        if mine and yours and mine.lower() == yours.lower():
            return True
    title = title_key(one.title)
    if len(title) < _MIN_TITLE or title != title_key(other.title):
        return False
    if one.year and other.year and abs(one.year - other.year) > _YEARS_APART:
        return False
    mine, yours = family_names(one.authors), family_names(other.authors)
    return bool(mine & yours) or not mine or not yours


def title_key(title: str) -> str:
    """Return the letters and digits of a title in lower case, without accents."""
    return normal_title(title).replace(" ", "")


def family_names(authors: Sequence[str]) -> frozenset[str]:
    """Return the family names of authors in lower case, without accents."""
    return frozenset(filter(None, (title_key(parse_name(name).family) for name in authors)))


METHOD = "offline"

_FOCUS, _WHOLE, _KEYWORDS = 1.0, 0.6, 0.5  # weights of last sentence, context and keywords
_SENTENCES = 4  # number of last sentences of the context that are used as a query
_SPARE = 20  # number of papers in addition to k, because duplicates are removed later
_RANKED = 100  # minimum number of papers that are ranked by their citations
_VOTERS = 30  # number of best papers whose references count
_LABEL = re.compile(r"\[(?:CITATION|\?)\]|\\cite[a-z]*\{[^}]*\}|\[\d[\d, –-]*\]", re.IGNORECASE)
_OPERATOR = re.compile(
    r"(?<!\S)(?:[^\s:<>=.]|\.(?!\.))*+(?:[:<>=]|\.\.)\S*+|-\S++|\b(?:AND|OR|NOT)\b|[();|\"*]"
)


def _read_context(
    context: str, keywords: str | Sequence[str] | None
) -> tuple[list[Wording], str | None]:
    """Convert a context to search texts, and keywords to a filter."""
    text = " ".join(_LABEL.sub(" ", readable_text("context", context)).split())
    if keywords is not None and not isinstance(keywords, str):
        keywords = ";".join(f'"{word}"' for word in keywords)
    within = keywords.strip() if keywords and keywords.strip() else None
    plain = ""
    if within:
        parse_filter(within)  # raises errors before the search starts
        plain = " ".join(_OPERATOR.sub(" ", within).split())
    sentences = [text[start:end] for start, end in split_sentences(text)]
    wordings = []
    if sentences:
        wordings.append(Wording(sentences[-1][:MAX_QUERY], _FOCUS))
        whole = " ".join(sentences[-_SENTENCES:])[-MAX_QUERY:]
        wordings.append(Wording(whole, _WHOLE))
    if plain:
        wordings.append(Wording(plain, _KEYWORDS))
    if not wordings:
        raise InputError("The context is empty. Pass the text before the citation, or keywords.")
    return wordings, within


def _rank_together(corpora: Sequence[Corpus], found: Mapping[str, Found]) -> list[Suggestion]:
    """Rank the papers of all corpora together.

    Cosines and word scores of several corpora are comparable if the embedders are the same and the
    search text is the same. Otherwise, only the ranks are comparable.
    """
    entries = [(c.name, hit) for c in corpora for hit in found[c.name].hits]
    if len({open_engine(c.atlas).indexes.embedder.model for c in corpora}) > 1:
        scores = fuse_ranks(
            [
                np.array([hit.score if name == c.name else -np.inf for name, hit in entries])
                for c in corpora
            ]
        )
    else:
        scores = np.zeros(len(entries))
        for number, weight in enumerate(found[corpora[0].name].weights):
            hits = {
                (c.name, hit.paper.row): hit
                for c in corpora
                for hit in found[c.name].searches[number].hits
            }
            totals = dict(zip(hits, _comparable_scores(list(hits.values())), strict=True))
            least = min(totals.values(), default=0.0)
            scores += weight * np.array([totals.get((n, h.paper.row), least) for n, h in entries])
    ranked = enumerate(np.argsort(-scores, kind="stable"), start=1)
    return [
        Suggestion(rank, entries[i][1].paper, entries[i][0], float(scores[i])) for rank, i in ranked
    ]


def _rank_by_citations(
    corpora: Sequence[Corpus],
    listed: Sequence[Suggestion],
    allows: Callable[[Paper], bool],
    *,
    adds: bool,
) -> list[Suggestion]:
    """Rank papers again by their rank, their citations, and the best papers that cite them.

    The weights are fitted to references of other papers; see the card of the model.
    """
    fitted = read_numbers("citation_ranking")
    entries, features = citation_features(corpora, listed, allows, adds=adds)
    odds = features @ np.array([fitted[name] for name in ("rank", "votes", "cites")])
    order = np.argsort(-odds, kind="stable").tolist()
    return merge_duplicates([replace(entries[n], score=float(odds[n])) for n in order])


def citation_features(
    corpora: Sequence[Corpus],
    listed: Sequence[Suggestion],
    allows: Callable[[Paper], bool],
    *,
    adds: bool,
    voters: Container[int] | None = None,
) -> tuple[list[Suggestion], NDArray[np.float64]]:
    """Return papers to rank, and logarithms of their rank, votes and citations, shape (n, 3).

    A vote is a reference of one of the best papers, or of the rows `voters`. With `adds`, papers
    with votes are added.
    """
    entries = list(listed)
    votes = np.zeros(len(entries))
    for corpus in corpora:
        graph = citation_graph(corpus.atlas)
        mine = [place for place, one in enumerate(entries) if one.corpus == corpus.name]
        if not len(graph) or not mine:
            continue
        rows = [entries[place].paper.row for place in mine]
        voting = [
            (place, row)
            for place, row in zip(mine, rows, strict=True)
            if (place < _VOTERS if voters is None else row in voters)
        ]
        cast = [
            (cited, 1 / np.sqrt(1 + place))
            for place, row in voting
            for cited in graph.reference_links.of(row).tolist()
            if cited < graph.n_papers
        ]
        # Complete lists of references give many more votes than those of a sparse graph.
        usual = max(len(cast) / max(len(voting), 1), 1.0)
        weights: defaultdict[int, float] = defaultdict(float)
        for cited, weight in cast:
            weights[cited] += weight / usual
        # Votes in excess of those that as many random papers would give.
        per_paper = sum(1 / np.sqrt(1 + place) for place, _ in voting) / usual / graph.n_papers
        for cited in weights:
            expected = per_paper * graph.citation_links.degrees[cited]
            weights[cited] = max(weights[cited] - expected, 0.0)
        votes[mine] = [weights.pop(row, 0.0) for row in rows]
        if adds:
            new = sorted(weights, key=lambda row: (-weights[row], row))[:_VOTERS]
            for paper in filter(allows, open_engine(corpus.atlas).papers(new)):
                entries.append(Suggestion(0, paper, corpus.name, 0.0))
                votes = np.append(votes, weights[paper.row])
    cites = [max(one.paper.cites or 0, 0) for one in entries]
    return entries, np.log1p(np.array([range(len(entries)), votes, cites], dtype=float)).T


def _comparable_scores(hits: Sequence[Hit]) -> list[float]:
    """Return the scores of the papers found with one search text in several corpora."""
    scores = np.zeros(len(hits))
    for part in ("semantic", "words"):
        column = np.array([hit.parts.get(part, np.nan) for hit in hits], dtype=float)
        known = column[~np.isnan(column)]
        scores += standardised(
            np.where(np.isnan(column), known.min() if len(known) else 0.0, column)
        )
    return standardised(scores).tolist()


def _with_highlights(
    listed: Sequence[Suggestion],
    corpora: Sequence[Corpus],
    context: str,
    n: int,
    full_texts: dict[str, str],
) -> tuple[Suggestion, ...]:
    chosen: dict[int, tuple[Highlight, ...]] = {}
    for corpus in corpora:
        mine = [one for one in listed if one.corpus == corpus.name]
        body = with_bodies(corpus.atlas, [one.paper for one in mine], context[-MAX_QUERY:])
        own = {one.paper_id: one.abstract for one in body.papers if one.paper_id in body.places}
        sets = highlight_papers(
            open_engine(corpus.atlas).indexes,
            [one.paper for one in mine],
            context[-MAX_QUERY:],
            n=n,
            full_texts=own | full_texts,
        )
        for one, highlights in zip(mine, sets, strict=True):
            name = one.paper.paper_id
            is_own = name not in full_texts
            chosen[one.rank] = tuple(
                body.located(point, name) if is_own else point for point in highlights
            )
    return tuple(replace(one, highlights=chosen[one.rank]) for one in listed)


def _distance_notes(corpora: Sequence[Corpus], found: Mapping[str, Found]) -> tuple[str, ...]:
    """Return a note if no corpus has a paper about the context."""
    searches = [search for corpus in corpora for search in found[corpus.name].searches]
    if any(search.matched for search in searches) or not any(search.hits for search in searches):
        return ()
    return ("No abstract is similar to the context.",)


STYLE = "related-work"

_MAX_PAPERS = 40  # maximum number of papers in a paragraph of related work
_LABELS = re.compile(r"(?:(?<!\s)\s++|(?!\s))\[([^\[\]\n]{1,600})\]")


def as_latex(paragraph: Answer) -> str:
    r"""Write a paragraph as LaTeX, with citations as ``\citep``.

    Parameters
    ----------
    paragraph : Answer
        Result of `AtlasCollection.related_work`.

    Returns
    -------
    str
        LaTeX with the citation keys of ``paragraph.results.to_bibtex()``. Marks such as
        ``[unsupported]`` are kept.

    Examples
    --------
    >>> from landscape.types import Coverage
    >>> paper = Paper(row=0, paper_id="x", title="Dust", abstract="", bibcode="2024A&A...1A")
    >>> found = Results("", (Hit(1, paper, 1.0),), Coverage("", 1, 1, {}, None, None))
    >>> print(as_latex(Answer("", "Dust is 5% carbon [2024A&A...1A].", (), found, "x")))
    Dust is 5\% carbon~\citep{2024A&A...1A}.
    """
    keys = dict(
        zip((p.label for p in paragraph.papers), citation_keys(paragraph.papers), strict=True)
    )
    pieces = []
    start = 0
    for match in _LABELS.finditer(paragraph.text):
        labels = [part.strip() for part in re.split(r"[;,]", match[1])]
        if all(label in keys for label in labels):
            pieces.append(_escaped(paragraph.text[start : match.start()]))
            pieces.append(f"~\\citep{{{','.join(keys[label] for label in labels)}}}")
            start = match.end()
    pieces.append(_escaped(paragraph.text[start:]))
    return "".join(pieces)


def _escaped(text: str) -> str:
    """Escape a text for LaTeX, but keep its leading space, which `escape_latex` removes."""
    return (" " if text[:1].isspace() else "") + escape_latex(text)
