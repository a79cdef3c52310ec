"""Answer a question with sentences quoted from the papers found."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from landscape._io import data_file, read_yaml
from landscape.answers.agreement import side_of
from landscape.answers.citations import without_labels
from landscape.search import find_entities, sentences_of
from landscape.search.matching import subject_words
from landscape.search.sentences import (
    Score,
    absent_objects,
    likeness,
    says_something,
    shares_of_names,
    word_scores,
)
from landscape.text import tokenise
from landscape.types import Answer, Claim, Evidence, Paper, Results

if TYPE_CHECKING:
    from numpy.typing import NDArray

METHOD = "extractive"
QUOTED = "Sentences quoted from the papers found; no language model is connected."
NOT_ANSWERED = "The papers searched do not answer this question."
_QUOTED_INSTEAD = "Sentences quoted from the papers found."

_MIN_NUMBER = 0.2  # minimum relevance of a quoted sentence, relative to the best sentence
# Coefficients of the logistic regression for the probability that a paper answers a question:
# inverse square root of the rank, score and best sentence relative to the largest, and intercept.
# Fitted to the 150 questions of benchmarks/quotations.py; the other 120 are held out.
_RANK, _SCORE, _SENTENCE, _INTERCEPT = 3.3, 3.6, 4.0, -10.5
_PER_PAPER = 2
# Minimum share of the subject in a sentence with the title of its paper. Long questions name more
# than a sentence can repeat, so two terms are always enough.
_MIN_SHARED, _ENOUGH_TERMS = 0.34, 2
_BEST, _FITTING, _OTHER = 1.6, 1.0, 0.4  # weights of sentences by what the question asks for
_ON_APRIL_FIRST = 0.7  # weight of sentences of papers that may be jokes
_NUMBER = re.compile(r"\d")
_MEASURED = re.compile(r"\d\s*(?:±|\+/?-|\\pm|\(\+|×10|_\(|\^\+)|[=<>≃≈∼≤≥]\s*[-−]?\d")
_CLAUSE = 45  # characters between a name and its value
_DEFINED = (
    r"(?:known as|called|dubbed|termed|so-called|named)\W{{1,4}}(?:the )?{0}|"
    r"{0}\W{{1,3}}(?:\([^)]{{1,20}}\)\W{{0,3}})?(?:is|are) (?!not|also|often|shown|found)"
)
_META = re.compile(
    r"\b(?:we|this|our|the present|here,?)\b[^.]{0,40}?\b(?:attempt|review|discuss|describe|"
    r"summari[sz]e|aim|propose to|overview|outline|address|ask|investigate|examine|explore|"
    r"introduce|question)\b",
    re.IGNORECASE,
)
_RESULT = re.compile(
    r"\b(?:finds?|found|shows?|shown|conclude|measured?|obtain|detect|constrain)", re.IGNORECASE
)
_PREMISE = re.compile(r"^(?:why|how) (?:did|does|do|has|have|is|are|was|were)\b", re.IGNORECASE)
_STRONG = re.compile(
    r"\b(?:rul\w+ out|exclud\w+|disprov\w+|prov(?:e|es|ed|en)|confirm\w*|refut\w+|falsif\w+|"
    r"contradict\w*|discover\w*|detect\w*|fail(?:s|ed)?|reject\w*|abandon\w*)\b",
    re.IGNORECASE,
)
ONE_SIDE = "Only one side was found among these papers; this does not mean that astronomers agree."


class _Aim(NamedTuple):
    """What a question asks for: its kind, the names in it, and the terms of its subject."""

    kind: str  # "value", "definition", "comparison", "consensus" or ""
    names: tuple[str, ...]
    terms: frozenset[str]
    sources: tuple[str, ...] = ()  # names of objects, surveys and symbols, which have values
    defined: re.Pattern[str] | None = None  # matches sentences that define the subject


def extract_answer(
    question: str,
    results: Results,
    *,
    score: Score | None = None,
    n_sentences: int = 6,
    diversity: float = 0.3,
    notes: tuple[str, ...] = (QUOTED,),
) -> Answer:
    """Quote the best sentences for a question, or abstain.

    Sentences are chosen by maximal marginal relevance (Carbonell & Goldstein 1998), first one
    and then at most two per paper. The relevance is the product of the similarity of the
    sentence and the square root of the probability that its paper answers the question.
    Questions, sentences about the paper itself and sentences without the subject are left out.
    Sentences with the names and the kind of statement that the question asks for come first:
    values, definitions or comparisons. Sentences are quoted without changes.
    """

    def abstain(reason: str) -> Answer:
        return abstention(question, results, notes=(*notes, reason))

    if not results.matched:
        return abstain(results.note.replace("; the nearest are:", "."))
    aim = _aim_of(question)
    has_other_object = _names_other_object(question, results.papers)
    own = [
        [
            one
            for one in sentences_of(paper)
            if _is_statement(one.text) and not has_other_object(one.text)
        ]
        if not (_may_be_joke(paper) or _is_retracted(paper) or has_other_object(paper.title))
        else []
        for paper in results.papers
    ]
    sentences = [sentence for some in own for sentence in some]
    if not sentences:
        return abstain("No paper with an abstract was found.")
    texts = [sentence.text for sentence in sentences]
    near = np.clip(np.asarray((score or word_scores)(question, texts), dtype=float), 0.0, None)
    if not near.any():
        return abstain("No sentence of the papers found is near enough to the question.")
    ranks = np.repeat(np.arange(len(own)), [len(some) for some in own])
    titles = [results.papers[rank].title for rank in ranks]
    fit = np.array([_fit(aim, text, title) for text, title in zip(texts, titles, strict=True)])
    fit *= np.where(
        [_is_of_april_first(results.papers[rank]) for rank in ranks], _ON_APRIL_FIRST, 1.0
    )
    scores = np.array([results.hits[rank].score for rank in ranks], dtype=float)
    relevance = np.sqrt(_chance_of_answer(near, ranks, scores)) * near * fit
    if not (relevance > 0).any():
        return abstain("No sentence of the papers found is about the question.")
    sides = np.array([side_of(question, text) for text in texts])
    is_two_sided = aim.kind == "consensus" and any(
        (relevance[sides == side] >= _MIN_NUMBER * relevance.max()).any() for side in (1, -1)
    )
    chosen: list[int] = []
    for side in (1, -1) if is_two_sided else (None,):
        of = relevance if side is None else np.where(sides == side, relevance, 0.0)
        n = n_sentences if side is None else (n_sentences + 1) // 2
        some = _choose(sentences, of, n_sentences=n, diversity=diversity) if of.any() else []
        chosen += [place for place in some if relevance[place] >= _MIN_NUMBER * relevance.max()]
    quoted = [sentences[place] for place in chosen]
    labels = [paper.label for paper in results.papers]
    years = {paper.paper_id: paper.year for paper in results.papers}

    def line(one: Evidence) -> str:
        text = " ".join(without_labels(one.text, labels).split())
        year = years.get(one.paper_id)
        return f"- “{text}” {f'({year}) ' if year else ''}[{one.label}]"

    lines = list(map(line, quoted))
    side_names: list[Literal["", "for", "against"]] = [""] * len(quoted)
    if is_two_sided:
        side_names = ["for" if sides[place] > 0 else "against" for place in chosen]
        n_for = sum(sides[place] > 0 for place in chosen)
        if 0 < n_for < len(chosen):
            lines = ["For:", *lines[:n_for], "", "Against:", *lines[n_for:]]
        else:
            notes = (*notes, ONE_SIDE)
    of_april = [
        paper.label
        for paper in results.papers
        if _is_of_april_first(paper) and paper.label in {one.label for one in quoted}
    ]
    if of_april:
        appeared = "appeared on 1 April; some papers of this day are jokes."
        notes = (*notes, f"{', '.join(of_april)} {appeared}")
    return Answer(
        question=question,
        text="\n".join(lines),
        claims=tuple(
            Claim(s.text, (s.label,), (s,), "supported", side)
            for s, side in zip(quoted, side_names, strict=True)
        ),
        results=results,
        method=METHOD,
        style=METHOD,
        notes=(*notes, *_doubt_premise(question, aim, texts)),
    )


@cache
def _aims() -> dict[str, re.Pattern[str]]:
    stored = read_yaml(data_file("questions.yaml"))["aims"]
    return {name: re.compile("|".join(parts), re.IGNORECASE) for name, parts in stored.items()}


def _aim_of(question: str) -> _Aim:
    entities, subject = find_entities(question), " ".join(subject_words(question))
    names = tuple(entity.text for entity in entities)
    sources = tuple(entity.text for entity in entities if entity.kind in ("acronym", "object"))
    kind = next((name for name, pattern in _aims().items() if pattern.search(question)), "")
    phrase = re.escape(subject.removesuffix("s")) + "s?"
    defined = re.compile(_DEFINED.format(phrase), re.IGNORECASE)
    return _Aim(kind, names, frozenset(tokenise(subject)), sources, defined)


def _is_statement(text: str) -> bool:
    """Return whether a sentence states something about its subject, not about the paper."""
    if not says_something(text) or text.rstrip(" \"”'’)").endswith("?"):
        return False
    return not _META.search(text) or bool(_RESULT.search(text))


def _is_of_april_first(paper: Paper) -> bool:
    return paper.date is not None and (paper.date.month, paper.date.day) == (4, 1)


def _may_be_joke(paper: Paper) -> bool:
    """Return whether a popular paper appeared around the first of April."""
    day = (paper.date.month, paper.date.day) if paper.date else (0, 0)
    return paper.categories[:1] == ("physics.pop-ph",) and (3, 29) <= day <= (4, 2)


_RETRACTED = re.compile(
    r"^\W{0,3}(?:retract(?:ed|ion)|withdrawn)\b|"
    r"\b(?:paper|article|manuscript) (?:has been|was|is) (?:retracted|withdrawn)\b",
    re.IGNORECASE,
)


def _is_retracted(paper: Paper) -> bool:
    return bool(_RETRACTED.search(paper.title) or _RETRACTED.search(paper.abstract))


def _names_other_object(question: str, papers: Sequence[Paper]) -> Callable[[str], bool]:
    """Return a test for texts on other objects, if no paper has an object of the question."""
    absent = absent_objects(question, [f"{paper.title} {paper.abstract}" for paper in papers])
    return lambda text: (
        bool(absent) and any(entity.kind == "object" for entity in find_entities(text))
    )


def _fit(aim: _Aim, text: str, title: str) -> float:
    """Return the weight of a sentence for a question; 0 if it is not about the subject."""
    words = set(tokenise(text))
    context = words | set(tokenise(title))
    needed = min(_MIN_SHARED * len(aim.terms), _ENOUGH_TERMS)
    if aim.terms and len(aim.terms & context) < needed:
        return 0.0
    weight = 1.0
    if aim.names:
        named, titled = shares_of_names(aim.names, [plain_math(text), plain_math(title)])
        weight *= _OTHER + (_FITTING - _OTHER) * max(named, 0.7 * titled)
    if aim.kind == "value":
        is_value = bool(_MEASURED.search(text)) and bool(aim.terms & words)
        weight *= _BEST if _value_of_name(aim, text) else _FITTING if is_value else _OTHER
    elif aim.kind == "definition":
        weight *= _BEST if aim.defined and aim.defined.search(text) else _OTHER
    elif aim.kind == "comparison" and len(aim.terms) > 1:
        weight *= _OTHER + (_FITTING - _OTHER) * len(aim.terms & words) / len(aim.terms)
    return weight


def _chance_of_answer(
    near: NDArray[np.float64], ranks: NDArray[np.int64], scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the probability that the paper of each sentence answers the question."""
    best = np.array([near[ranks == rank].max() for rank in ranks])
    largest = max(float(scores.max()), 1e-9)
    sums = _RANK / np.sqrt(1.0 + ranks) + _SCORE * scores / largest + _SENTENCE * best / near.max()
    return np.asarray(1.0 / (1.0 + np.exp(-_INTERCEPT - sums)))


def _value_of_name(aim: _Aim, text: str) -> bool:
    """Return whether a value directly follows a name, such as SH0ES or S8, of a question."""
    plain = plain_math(text)
    for name in aim.sources:
        for match in re.finditer(re.escape(plain_math(name)), plain, re.IGNORECASE):
            if _MEASURED.search(plain[match.end() : match.end() + _CLAUSE]):
                return True
    return False


def plain_math(text: str) -> str:
    r"""Write symbols without LaTeX, so that ``$S_{8}$`` and ``$f_{\rm NL}$`` are S8 and fNL."""
    text = re.sub(r"\\(?:rm|mathrm|text|textrm)\b\s*", "", text)
    return re.sub(r"[\\${}_]", "", text)


def _doubt_premise(question: str, aim: _Aim, texts: Sequence[str]) -> tuple[str, ...]:
    """Return a note if a question assumes a result that no sentence states."""
    verb = _STRONG.search(question)
    if verb is None or not _PREMISE.search(question):
        return ()
    stem = verb[0].lower()[:4]
    needed = aim.terms - set(tokenise(verb[0]))
    stated = any(
        stem in text.lower() and len(needed & set(tokenise(text))) >= 0.9 * len(needed)
        for text in texts
    )
    premise = _PREMISE.sub("", question).strip(" ?.")
    note = f"No paper found states that “{premise}”; the question may assume what is not so."
    return () if stated else (note,)


def abstention(
    question: str,
    results: Results,
    *,
    text: str = NOT_ANSWERED,
    method: str = METHOD,
    style: str = METHOD,
    notes: tuple[str, ...] = (),
    **fields: Any,
) -> Answer:
    """Return an answer that states that the papers do not answer the question."""
    return Answer(
        question, text, (), results, method, abstained=True, style=style, notes=notes, **fields
    )


def failure_notes(reason: object) -> tuple[str, ...]:
    """Return notes for an answer that quotes sentences because the language model failed."""
    return f"The language model failed: {reason}", _QUOTED_INSTEAD


def _choose(
    sentences: Sequence[Evidence],
    relevance: NDArray[np.float64],
    *,
    n_sentences: int,
    diversity: float,
) -> list[int]:
    """Return the indices of the sentences to quote, most relevant first."""
    alike = likeness([sentence.text for sentence in sentences])
    papers = [sentence.paper_id for sentence in sentences]
    worth, repeats = relevance / relevance.max(), np.zeros(len(sentences))
    open_ = worth >= _MIN_NUMBER
    chosen: list[int] = []
    while open_.any() and len(chosen) < n_sentences:
        counts = Counter(papers[place] for place in chosen)
        is_new = open_ & np.array([counts[paper] == 0 for paper in papers])
        gain = (1.0 - diversity) * worth - diversity * repeats
        best = int(np.where(is_new if is_new.any() else open_, gain, -np.inf).argmax())
        chosen.append(best)
        repeats = np.maximum(repeats, alike[best])
        open_[best] = False
        open_ &= repeats < 0.9  # exclude the same sentence from other papers
        if counts[papers[best]] + 1 >= _PER_PAPER:
            open_ &= np.array([paper != papers[best] for paper in papers])
    return sorted(chosen, key=lambda place: -relevance[place])
