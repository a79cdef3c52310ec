"""Check whether cited papers support a draft."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from landscape.agents._draft_latex import DraftSentence, inputs_of, read_draft
from landscape.agents.collection import AtlasCollection, Corpus
from landscape.answers import check_claim, check_claims
from landscape.answers.agreement import find_mismatch, objects_differ
from landscape.answers.citations import without_labels
from landscape.answers.sentence_scoring import plain_math
from landscape.corpus.libraries import LibraryEntry, is_published, read_library
from landscape.embeddings import Embedder, load_embedder
from landscape.embeddings.embedder import WordEmbedder, embed_few, embedding_text
from landscape.errors import InputError, LandscapeError
from landscape.llm import connect_from_environment
from landscape.overlays.values import MANY_SIGMA, OF_THE_UNIVERSE, compare_value, find_values
from landscape.search import open_engine, sentences_of
from landscape.search.passages import with_bodies
from landscape.search.sentences import mixed_nearness
from landscape.search.settings import MAX_QUERY
from landscape.text import tokenise
from landscape.text.words import WORD, normal_form
from landscape.types import (
    BibliographyEntry,
    CitationVerdict,
    Claim,
    DraftCheck,
    EntryStatus,
    Evidence,
    Judgement,
    Paper,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.llm import WritingModel
    from landscape.search.passages import BodyText

    Floats = NDArray[np.float64]


def read_bibliography(path: str | Path) -> dict[str, LibraryEntry]:
    """Return the entries of a bibliography by key."""
    if not re.search(r"^\s{0,99}@", text_of(Path(path), kind=".bib"), re.MULTILINE):
        raise InputError(f"{path} contains no BibTeX entry. Pass the .bib file of the draft.")
    return {entry.key: entry for entry in read_library(path, name="draft").entries}


def text_of(path: Path, *, kind: str) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError) as error:  # an invalid file name raises ValueError
        why = getattr(error, "strerror", None) or error
        raise InputError(
            f"{str(path)!r} cannot be read ({why}). Pass the {kind} file of the draft."
        ) from error


_SAMPLE = 2_000  # maximum number of papers compared with a sentence
_PERCENTILE = 99.0  # percentile of these cosines that is the threshold
_MIN_THRESHOLD, _MAX_THRESHOLD = 0.30, 0.55  # cosines
_WITHOUT_ATLAS = 0.45  # cosine threshold if no atlas is given
_UNRELATED = 0.2  # cosine of a sentence without common words below which it is unrelated


def thresholds(vectors: NDArray[np.float32], corpus: Corpus | None) -> Floats:
    """Return the cosine threshold of each sentence, from its cosines with papers of the corpus."""
    if corpus is None or not len(vectors):
        return np.full(len(vectors), _WITHOUT_ATLAS)
    n = len(corpus.atlas)
    rows = np.unique(np.linspace(0, n - 1, min(n, _SAMPLE)).astype(np.int64))
    others = open_engine(corpus.atlas).indexes.vectors.vectors(rows)
    cosines = vectors @ others.T
    found: Floats = np.percentile(cosines, _PERCENTILE, axis=1)
    return np.clip(found, _MIN_THRESHOLD, _MAX_THRESHOLD)


def paper_vectors(
    papers: Sequence[tuple[Corpus | None, Paper]], embedder: Embedder
) -> NDArray[np.float32]:
    """Return the vectors of papers; compute the vectors of papers that are not in an atlas."""
    vectors = np.zeros((len(papers), embedder.dimension), dtype=np.float32)
    outside = []
    for place, (corpus, paper) in enumerate(papers):
        if (
            corpus is not None
            and open_engine(corpus.atlas).indexes.embedder.model == embedder.model
        ):
            row = np.array([paper.row], dtype=np.int64)
            vectors[place] = open_engine(corpus.atlas).indexes.vectors.vectors(row)[0]
        else:
            outside.append(place)
    if outside:
        texts = [embedding_text(papers[p][1].title, papers[p][1].abstract) for p in outside]
        vectors[outside] = embedder.embed(texts)
    return vectors


METHOD = "offline"

_HAS_WORDS = "the abstract has these words"
_SHORTEST_QUOTE = 6  # spaces around and between the words of a quotation
_AT_ONCE = 12  # claims per request
_MIN_WORDS = 7  # of a text that is judged alone
_SHOWN = 2  # sentences per abstract
_MAX_VALUES = 50  # values of a draft that are compared with measured ones
_VERDICTS: dict[str, CitationVerdict] = {
    "supported": "supported",
    "contradicted": "contradicted",
    "not found": "unclear",
    "unclear": "unclear",
}
_OFFLINE_NOTE = (
    "The citations were judged by text similarity, numbers, names and negations only, so near does "
    "not mean supported, and far does not mean wrong. Connect a language model to check each "
    "sentence."
)


@dataclass(frozen=True)
class _CitationUse:
    """A citation key in a sentence, and the text that is compared with the cited paper."""

    sentence: DraftSentence
    part: str
    key: str
    judged_by: str


def check_draft(
    bibliography: str | Path,
    drafts: str | Path | Sequence[str | Path],
    *,
    desk: AtlasCollection | None = None,
    model: WritingModel | Literal["auto"] | None = None,
) -> DraftCheck:
    r"""Check each ``\cite`` of a draft.

    Parameters
    ----------
    bibliography : path
        ``.bib`` file. Its abstracts are used for papers that no corpus contains.
    drafts : path or sequence of path
        ``.tex`` files. Files included with ``\input`` are checked only if they are listed too.
    desk : AtlasCollection, optional
        Corpora that are searched for the cited papers.
    model : WritingModel, "auto" or None
        Model that checks the citations. Without a model, citations are "quoted" if the abstract or
        the title has the same words, "supported" or "contradicted" if `check_claim` is certain,
        "mismatch" if a number, an object or a negation differs from the cited paper, and
        otherwise "near" or "far".

    Returns
    -------
    DraftCheck
        The result is partial if the model failed; the remaining citations are "near" or "far".

    Raises
    ------
    InputError
        If a file cannot be read, or the bibliography is empty.
    """
    desk = desk or AtlasCollection()
    files = [drafts] if isinstance(drafts, str | Path) else list(drafts)
    entries = read_bibliography(bibliography)
    texts = [text_of(Path(file), kind=".tex") for file in files]
    sentences = [sentence for text in texts for sentence in read_draft(text)]
    places = _list_citations(sentences)
    found = _find_entries(entries, desk)
    # Without a paper in a corpus, a citation is compared with the abstract of the entry.
    known: dict[str, tuple[Corpus | None, Paper]] = {
        key: (None, entry) for key, entry in entries.items() if entry.abstract
    }
    known |= found
    judgements, bodies = _judge_by_similarity(places, entries, known, desk)
    model = connect_from_environment() if model == "auto" else model
    given = {Path(file).stem for file in files}
    notes = [
        f"{Path(file).name}, line {line}: {name} is not checked; pass this file too."
        for file, text in zip(files, texts, strict=True)
        for line, name in inputs_of(text)
        if Path(name).stem not in given
    ]
    invalid = {key: one for key, (_, one) in known.items() if not one.is_valid}
    notes += [
        f"{key} cites a paper that was {one.status}: {one.status_reason or one.title}"
        for key, one in invalid.items()
    ]
    notes += _outliers(sentences, desk)
    if not places:
        notes.append("No citation was found. Pass a LaTeX file with \\cite commands.")
    partial = False
    if model is not None:
        judgements, failure = _judge_by_model(judgements, model)
        partial = bool(failure)
        notes += [failure] if failure else []
    elif any(judgement.verdict in ("near", "far", "mismatch") for judgement in judgements):
        notes.append(_OFFLINE_NOTE)
    return DraftCheck(
        judgements=tuple(map(_located, judgements, bodies)),
        method=METHOD if model is None else model.model,
        partial=partial,
        notes=tuple(notes),
        n_sentences=len(sentences),
        entries=tuple(_status(key, entry, found.get(key)) for key, entry in entries.items()),
    )


def _outliers(sentences: Sequence[DraftSentence], desk: AtlasCollection) -> Iterator[str]:
    """Yield a note for each number of a draft that is far from the median of the measured ones."""
    atlases = [one.atlas for one in desk.corpora if "objects" in one.atlas.stages]
    found = [
        (sentence.line, value)
        for sentence in sentences
        for value in find_values(plain_math(sentence.text), plausible=False)
        if value.limit == "" and (value.object or value.quantity in OF_THE_UNIVERSE)
    ]
    for line, value in found[: _MAX_VALUES if atlases else 0]:
        for atlas in atlases:
            with suppress(LandscapeError):  # the atlas has no such value
                compared = compare_value(atlas, value)
                if compared.tables["given"]["deviations"][0] > MANY_SIGMA:
                    yield f"line {line}: {compared.caption}"


def _list_citations(sentences: Sequence[DraftSentence]) -> list[_CitationUse]:
    """List the citation keys. A short text is judged together with the previous sentence."""
    places = []
    for number, sentence in enumerate(sentences):
        for citation in sentence.citations:
            part = citation.part or sentence.text
            few = sum(len(word) > 2 for word in WORD.findall(part)) < _MIN_WORDS
            before = sentences[number - 1].text if few and number else ""
            judged_by = f"{before} {part}".strip()
            places += [_CitationUse(sentence, part, key, judged_by) for key in citation.keys]
    return places


def _find_entries(
    entries: dict[str, LibraryEntry], desk: AtlasCollection
) -> dict[str, tuple[Corpus, Paper]]:
    """Find the papers of a bibliography by identifier, or else by title and author or year."""
    known: dict[str, tuple[Corpus, Paper]] = {}
    for key, entry in entries.items():
        for corpus in desk.corpora:
            engine = open_engine(corpus.atlas)
            if rows := engine.indexes.rows_of_entry(entry):
                known[key] = corpus, engine.papers(rows[:1])[0]
                break
    return known


def _status(key: str, entry: LibraryEntry, found: tuple[Corpus, Paper] | None) -> BibliographyEntry:
    """Return whether an atlas contains an entry, and whether its preprint is now published."""
    if found is None:
        return BibliographyEntry(key, entry.title, "unknown")
    paper = found[1]
    is_preprint = bool(entry.arxiv_id or paper.arxiv_id) and not is_published(entry)
    status: EntryStatus = "now published" if is_preprint and is_published(paper) else "in the atlas"
    return BibliographyEntry(key, entry.title, status, paper)


def _judge_by_similarity(
    places: Sequence[_CitationUse],
    entries: dict[str, LibraryEntry],
    known: dict[str, tuple[Corpus | None, Paper]],
    desk: AtlasCollection,
) -> tuple[list[Judgement], list[BodyText | None]]:
    """Judge the citations; papers with a full text have its fitting passages in their abstract."""
    cited = [place for place in places if place.key in known]
    compared: Iterator[tuple[NDArray[np.float32], float, float]] = iter(())
    if cited:
        corpus = desk.corpora[0] if len(desk) else None
        embedder = load_embedder() if corpus is None else open_engine(corpus.atlas).indexes.embedder
        vectors = embed_few(embedder, [place.judged_by for place in cited])
        papers = paper_vectors([known[place.key] for place in cited], embedder)
        cosines = (vectors * papers).sum(axis=1).astype(float).tolist()
        compared = zip(vectors, cosines, thresholds(vectors, corpus).tolist(), strict=True)
    judged: list[Judgement] = []
    bodies: list[BodyText | None] = []
    for place in places:
        bodies.append(None)
        use = (place.key, place.sentence.line, place.sentence.text, place.part)
        if place.key in known:
            vector, cosine, limit = next(compared)
            corpus, paper = known[place.key]
            if corpus is not None:
                body = with_bodies(corpus.atlas, [paper], place.judged_by[:MAX_QUERY])
                bodies[-1], paper = body, body.papers[0]
                cosine = max(cosine, _of_passages(vector, body, embedder))
            ranked = _nearest_sentences(place.judged_by, vector, paper, embedder)
            evidence = tuple(sorted(ranked[:_SHOWN], key=lambda piece: piece.start))
            verdict: CitationVerdict = "near" if cosine >= limit else "far"
            why = f"cosine {cosine:.2f}, threshold {limit:.2f}"
            alone = place.part if place.part != place.judged_by else ""
            if verdict == "near" and alone and _is_unrelated(alone, paper, embedder):
                verdict, why = "far", "the sentence itself shares nothing with the paper"
            judged.append(
                Judgement(*use, verdict, paper, evidence, cosine, why, next(iter(ranked), None))
            )
            if quote := _quoted(place.part, paper):
                judged[-1] = replace(judged[-1], verdict="quoted", why=quote[0], deciding=quote[1])
            elif verdict == "near":
                judged[-1] = _with_claim_check(judged[-1])
        elif place.key not in entries:
            judged.append(Judgement(*use, "not in the bibliography", why="no such key"))
        else:
            why = "no corpus contains the paper, and the BibTeX entry has no abstract"
            judged.append(Judgement(*use, "not in the corpus", why=why))
    return judged, bodies


def _of_passages(vector: NDArray[np.float32], body: BodyText, embedder: Embedder) -> float:
    """Return the largest cosine of a sentence and the passages of a paper, or -1."""
    texts = [passage.text for places in body.places.values() for _, passage in places]
    if not texts or not isinstance(embedder, WordEmbedder):  # this embedder is local and free
        return -1.0
    return float((embedder.embed_few(texts) @ vector).max())


def _located(judgement: Judgement, body: BodyText | None) -> Judgement:
    """Restore the abstract of a paper, and say in which section its sentences are."""
    paper = judgement.paper
    if body is None or paper is None or not body.places:
        return judgement
    deciding = judgement.deciding and body.located(judgement.deciding)
    why = judgement.why
    if deciding and deciding.section and why == _HAS_WORDS:
        why = f"the section {deciding.where} has these words"
    return replace(
        judgement,
        paper=replace(paper, abstract=paper.abstract[: body.places[paper.paper_id][0][0] - 1]),
        evidence=tuple(map(body.located, judgement.evidence)),
        deciding=deciding,
        why=why,
    )


def _with_claim_check(judgement: Judgement) -> Judgement:
    """Judge a citation as supported, contradicted or mismatch, if that is certain enough."""
    paper, part = judgement.paper, plain_math(judgement.part)
    assert paper is not None  # noqa: S101 - only papers with an abstract are compared
    sentences = sentences_of(paper)
    found = check_claim(part, [paper.title, *(one.text for one in sentences)])
    differs = bool(found.missing_numbers or objects_differ(part, f"{paper.title} {paper.abstract}"))
    if not found.is_certain or found.label == "not found" or differs:
        return _with_mismatch(judgement, "mismatch")
    best = found.places[0] - 1  # the title is the first text
    deciding = sentences[best] if best >= 0 else None
    why = f"{found.label} with a probability of {found.probability:.2f}"
    judged = replace(judgement, verdict=found.label, why=why, deciding=deciding)
    if found.label == "contradicted":
        says = found.sentences[0]
        return replace(judged, draft_says=judgement.part, paper_says=says)
    return judged


def _quoted(part: str, paper: Paper) -> tuple[str, Evidence | None] | None:
    """Return where a paper has the words of a text in the same order, or None."""
    wanted = _plain_words(part)
    if wanted.count(" ") < _SHORTEST_QUOTE:
        return None
    for sentence in sentences_of(paper):
        if wanted in _plain_words(sentence.text):
            return _HAS_WORDS, sentence
    return ("the title has these words", None) if wanted in _plain_words(paper.title) else None


def _plain_words(text: str) -> str:
    return f" {' '.join(normal_form(text).split())} "


def _is_unrelated(part: str, paper: Paper, embedder: Embedder) -> bool:
    """Return whether a short text has no word and little meaning in common with a paper."""
    text = f"{paper.title}. {paper.abstract}"
    if set(tokenise(part)) & set(tokenise(text)):
        return False
    one, other = embed_few(embedder, [part, text])
    return float(one @ other) < _UNRELATED


def _with_mismatch(judgement: Judgement, verdict: CitationVerdict) -> Judgement:
    """Add how the draft differs from the paper in numbers, objects or negations, if it does."""
    paper, part = judgement.paper, plain_math(judgement.part)
    assert paper is not None  # noqa: S101 - only papers with an abstract are compared
    sentences = sentences_of(paper)
    why = find_mismatch(part, paper.title, [one.text for one in sentences])
    if not why:
        return judgement
    mine, has_both, theirs = why.partition(" here, ")
    if has_both:
        theirs = theirs.removesuffix(" in the paper")
    else:
        mine, theirs = judgement.part, why.removeprefix("the paper says “").removesuffix("”")
    # A number may have another unit in the abstract, so its digits are sought too.
    quoted = [
        one for sought in (theirs, theirs.split()[0]) for one in sentences if sought in one.text
    ]
    return replace(
        judgement,
        verdict=verdict,
        why=why,
        deciding=next(iter(quoted), judgement.deciding),
        draft_says=mine,
        paper_says=theirs,
    )


def _nearest_sentences(
    part: str, vector: NDArray[np.float32], paper: Paper, embedder: Embedder
) -> tuple[Evidence, ...]:
    """Return the sentences of an abstract that resemble a text, the most similar first."""
    sentences = sentences_of(paper)
    if not sentences:
        return ()
    texts = [sentence.text for sentence in sentences]
    cosines = np.zeros(len(texts))
    if isinstance(embedder, WordEmbedder):  # this embedder is local and free
        cosines = (embedder.embed_few(texts) @ vector).astype(float)
    scores = mixed_nearness(part, texts, cosines)
    best = np.argsort(-scores, kind="stable")
    return tuple(sentences[n] for n in best.tolist() if scores[n] > 0)


def _judge_by_model(
    judgements: Sequence[Judgement], model: WritingModel
) -> tuple[list[Judgement], str]:
    """Judge the citations of papers with an abstract; also return an error message, or ""."""
    judged = list(judgements)
    open_ = [n for n, one in enumerate(judged) if one.paper is not None and one.paper.abstract]
    for start in range(0, len(open_), _AT_ONCE):
        batch = open_[start : start + _AT_ONCE]
        papers = [_named(judged[n].paper, n) for n in batch]
        parts = [" ".join(without_labels(judged[n].part).split()) for n in batch]
        lines = [
            f"{part.rstrip('.!? ')} [{paper.label}]."
            for part, paper in zip(parts, papers, strict=True)
        ]
        checked = check_claims("\n".join(lines), papers, model=model)
        failed = [note for note in checked.notes if note.startswith("Claims were not checked")]
        if failed:
            left = len(open_) - start
            why = failed[0].partition(": ")[2]
            return judged, (
                f"The language model failed ({why}). {left} citations are only near or far, "
                "judged by text similarity."
            )
        by_label: dict[str, Claim] = {
            label: claim for claim in checked.claims for label in claim.citations
        }
        for n, paper in zip(batch, papers, strict=True):
            claim = by_label.get(paper.label)
            if claim is not None:
                evidence = tuple(
                    replace(e, label=judged[n].paper.label, paper_id=judged[n].paper.paper_id)  # type: ignore[union-attr]  # it has a paper
                    for e in claim.evidence
                )
                judged[n] = replace(
                    judged[n],
                    verdict=_VERDICTS[claim.verdict],
                    evidence=evidence,
                    why="",
                    deciding=next(iter(evidence), None),
                    draft_says="",
                    paper_says="",
                )
                if claim.verdict == "contradicted":
                    judged[n] = _contradicted(judged[n])
    return judged, ""


def _contradicted(judgement: Judgement) -> Judgement:
    """Add what the draft and the paper say; without a difference by rule, quote both sentences."""
    found = _with_mismatch(judgement, "contradicted")
    if found.draft_says or found.deciding is None:
        return found
    return replace(found, draft_says=found.part, paper_says=found.deciding.text)


def _named(paper: Paper | None, n: int) -> Paper:
    """Return the paper with a unique label, because a paper can be cited several times."""
    assert paper is not None  # noqa: S101 - the caller passes only papers
    return replace(paper, paper_id=f"2000Cited.{n:06d}", bibcode=f"2000Cited.{n:06d}")
