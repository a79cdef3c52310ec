"""Answer a question with sentences quoted from the papers found."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from landscape._wording import count
from landscape.answers.agreement import differs, side_of
from landscape.answers.citations import without_labels
from landscape.answers.reading import Aim, aim_of
from landscape.answers.sentence_scoring import ROLE_WEIGHTS, fit_of, role_probabilities
from landscape.search import find_entities, sentences_of
from landscape.search.sentences import Score, absent_objects, likeness, says_something, word_scores
from landscape.text import tokenise
from landscape.text.words import PARAGRAPH
from landscape.types import Answer, Claim, Evidence, Paper, Results

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Texts = NDArray[np.object_]

METHOD = "extractive"
QUOTED = "Sentences quoted from the papers found; no language model is connected."
NOT_ANSWERED = "The papers searched do not answer this question."
_QUOTED_INSTEAD = "Sentences quoted from the papers found."

_LEAST = 0.2  # minimum relevance of a quoted sentence, relative to the best sentence
# Coefficients of the logistic regression for the probability that a paper answers a question:
# inverse square root of the rank, score and best sentence relative to the largest, and intercept.
# Fitted to the 150 questions of benchmarks/quotations.py; the other 120 are held out.
_RANK, _SCORE, _SENTENCE, _INTERCEPT = 3.3, 3.6, 4.0, -10.5
_PER_PAPER = 2
# Powers of the probability that the paper answers. Any paper on a subject can define it.
_POWERS, _POWER = {"definition": 0.0, "value": 0.25, "cause": 0.2}, 0.35
# Long questions often describe one paper, whose aims and methods are then evidence too.
_LONG_QUESTION = 6  # terms
# Minimum weight of the role of a sentence in a full text, where methods and data are facts, too.
_IN_BODY = 0.8
_OLD, _OLD_YEARS = 0.7, 20  # weight of papers that are much older than the newest one
# Sentences state the same if they share this number of words of their own, and this share of the
# shorter one (half of it of the longer one).
_SAME_WORDS, _SAME_SHARE = 3, 0.4
_SHOWN = 4  # maximum number of papers that are listed for a statement
_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_MEASURED = 120  # number of sentences whose similarity to the question is measured
_UNSHARED = 0.1  # weight of a sentence without words of the question, in this choice
_SIDES, _BOTH = ("for", "against"), "both"
_ON_APRIL_FIRST = 0.7  # weight of sentences of papers that may be jokes
_META = re.compile(
    r"\b(?:we|this|our|the present|here,?)\b[^.]{0,40}?\b(?:attempt|review|discuss|describe|"
    r"summari[sz]e|aim|propose to|overview|outline|address|ask|investigate|examine|explore|"
    r"introduce|question)\b|"
    r"\b(?:is|are|will be) (?:also |briefly |then )?(?:discussed|described|presented|reviewed|"
    r"summari[sz]ed|outlined|considered|investigated|explored|examined)\b",
    re.IGNORECASE,
)
_RESULT = re.compile(
    r"\b(?:finds?|found|shows?|shown|conclude|measured?|obtain|detect|constrain)", re.IGNORECASE
)
_PREMISE = re.compile(
    r"^(?:(?:why|how|when) (?:did|does|do|has|have|is|are|was|were)|did|has|have)\b", re.IGNORECASE
)
_WHY = re.compile(r"^(?:why|when)\b", re.IGNORECASE)
_FEW_TERMS = 6  # of a question whose premise one sentence can state
_STRONG = re.compile(
    r"\b(?:rul\w+ out|exclud\w+|disprov\w+|prov(?:e|es|ed|en)|confirm\w*|refut\w+|falsif\w+|"
    r"contradict\w*|discover\w*|detect\w*|fail(?:s|ed)?|reject\w*|abandon\w*)\b",
    re.IGNORECASE,
)
_STANCE = re.compile(
    r"\b(?:support\w*|favou?r\w*|prefer\w*|evidence|consistent|compatible|agree\w*|confirm\w*|"
    r"indicates?|indicated|suggest\w*|conclud\w*|find|found|shows?|detect\w*|demonstrates?|"
    r"demonstrated|rul\w+ out|exclud\w*|reject\w*|challeng\w*|tension|disprov\w*|must|"
    r"strong\w*)\b",
    re.IGNORECASE,
)
NO_SIDE = "No sentence found takes a side."
ONE_SIDE = "Only one side was found among these papers; this does not mean that astronomers agree."
SIDES_UNREAD = (
    "The side of some sentences was not recognised without a language model; read them before you "
    "conclude that astronomers agree."
)


def extract_answer(
    question: str,
    results: Results,
    *,
    aim: Aim | None = None,
    score: Score | None = None,
    n_sentences: int = 6,
    n_listed: int | None = None,
    least: float = _LEAST,
    diversity: float = 0.3,
    locate: Callable[[Evidence], Evidence] = lambda one: one,
    notes: tuple[str, ...] = (QUOTED,),
) -> Answer:
    """Quote the best sentences for a question, or abstain.

    Sentences are chosen by maximal marginal relevance (Carbonell & Goldstein 1998), first one
    and then at most two per paper. The relevance is the product of the similarity of the
    sentence, a power of the probability that its paper answers the question, and weights of its
    role and its fit: sentences on the aims and methods of a paper seldom answer a question.
    Questions, sentences about the paper itself and sentences without the subject are left out.
    Sentences with the names and the kind of statement that the question asks for come first:
    values, definitions, causes or comparisons. Sentences are quoted without changes.
    The `aim` is that of the question, unless it is known. With `n_listed`, the answer contains only
    the first papers and those that it quotes. `least` is the smallest relevance of a quoted
    sentence, relative to the best one. `locate` gives sentences of full texts their section.
    """

    def abstain(reason: str) -> Answer:
        listed = results if n_listed is None else _with_quoted_papers(results, (), n_listed)
        return abstention(question, listed, notes=(*notes, reason))

    if not results.matched:
        return abstain(results.note.replace("; the nearest are:", "."))
    aim = aim or aim_of(question)
    pool = _read_pool(question, results, aim, locate)
    if not pool.sentences:
        return abstain("No paper with an abstract was found.")
    texts = [sentence.text for sentence in pool.sentences]
    asked = f"{question} {aim.nouns}".strip()
    near = np.clip(np.asarray((score or word_scores)(asked, texts), dtype=float), 0.0, None)
    if not near.any():
        return abstain("No sentence of the papers found is near enough to the question.")
    scores = np.array([results.hits[rank].score for rank in pool.ranks], dtype=float)
    chance = _chance_of_answer(near, pool.ranks, scores)
    relevance = near * pool.fit * chance ** _POWERS.get(aim.kind, _POWER)
    if not (relevance > 0).any():
        if least > 0:
            return abstain(f"No sentence of the papers found {aim.wanted}.")
        relevance = near * chance  # every paper is quoted, although its sentences miss the aim
    names, sides = _sides(question, aim, texts)
    same = _restatements(texts, aim, sides, [one.paper_id for one in pool.sentences])
    same |= _overlaps(pool.sentences)
    choose = partial(_choose, pool.sentences, same, least=least, diversity=diversity)
    chosen = _choose_by_side(names, sides, relevance, choose, n=n_sentences)
    alike = _alike([place for place, _ in chosen], same, relevance, pool.sentences)
    quoted = [[locate(pool.sentences[one]) for one in group[:_SHOWN]] for group in alike]
    if n_listed is not None:
        results = _with_quoted_papers(results, [one for group in quoted for one in group], n_listed)
    labels = [paper.label for paper in results.papers]
    years = {paper.paper_id: paper.year for paper in results.papers}

    def line(group: Sequence[Evidence], n_alike: int) -> str:
        one = group[0]
        text = " ".join(without_labels(one.text, labels).split())
        year = years.get(one.paper_id)
        also = ""
        if n_alike > 1:
            among = "" if n_alike == len(group) else ", such as"
            names = " ".join(f"[{other.label}]" for other in group[1:])
            also = f" and {count(n_alike - 1, 'more paper')}{among} {names}"
        where = f", {one.where}" if one.section else ""
        return f"- “{text}” {f'({year}) ' if year else ''}[{one.label}]{where}{also}"

    lines: list[str] = []
    names = tuple(dict.fromkeys(side for _, side in chosen))
    for name in names if len(names) > 1 and "" not in names else ("",):
        title = [f"{name[:1].upper()}{name[1:]}:"] if name else []
        some = [
            line(group, len(every))
            for group, every, (_, side) in zip(quoted, alike, chosen, strict=True)
            if side == name or not name
        ]
        lines += [*([""] if lines else []), *title, *some]
    n_sides = len({*names} - {""})
    if aim.kind == "consensus" and not aim.compared and n_sides < 2:
        notes = (*notes, NO_SIDE if not n_sides else SIDES_UNREAD if "" in names else ONE_SIDE)
    return Answer(
        question=question,
        text="\n".join(lines),
        claims=tuple(
            Claim(group[0].text, tuple(e.label for e in group), tuple(group), "supported", side)
            for group, (_, side) in zip(quoted, chosen, strict=True)
        ),
        results=results,
        method=METHOD,
        style=METHOD,
        notes=(
            *notes,
            *_note_april_first(results, [group[0] for group in quoted]),
            *_doubt_premise(question, aim, texts),
        ),
    )


class _Pool(NamedTuple):
    """Sentences that can be quoted, their weights, and the places of their papers."""

    sentences: list[Evidence]
    fit: Floats
    ranks: NDArray[np.int64]


def _read_pool(
    question: str, results: Results, aim: Aim, locate: Callable[[Evidence], Evidence]
) -> _Pool:
    """Return the sentences that share most words with a question and fit its aim."""
    has_other_object = _names_other_object(question, results.papers)
    newest = max((paper.year or 0 for paper in results.papers), default=0)
    sentences: list[Evidence] = []
    fits: list[float] = []
    ranks: list[int] = []
    for rank, paper in enumerate(results.papers):
        if _may_be_joke(paper) or not paper.is_valid or has_other_object(paper.title):
            continue
        every = _with_antecedents(paper, locate)
        roles = role_probabilities([one.text for one in every]) @ ROLE_WEIGHTS[aim.kind]
        in_body = [bool(locate(one).section) for one in every]
        roles = np.where(in_body, np.maximum(roles, _IN_BODY), roles)
        if len(aim.terms) > _LONG_QUESTION:
            roles = np.sqrt(roles)
        usual = _ON_APRIL_FIRST if _is_of_april_first(paper) else 1.0
        if paper.year and newest - paper.year > _OLD_YEARS:
            usual *= _OLD
        for one, role in zip(every, roles, strict=True):
            if _is_statement(one.text) and not has_other_object(one.text):
                sentences.append(one)
                fits.append(usual * role * fit_of(aim, one.text, paper.title))
                ranks.append(rank)
    fit, texts = np.array(fits), [one.text for one in sentences]
    shared = word_scores(f"{question} {aim.nouns}", texts)
    kept = np.sort(np.argsort(-fit * (_UNSHARED + shared), kind="stable")[:_MEASURED])
    return _Pool([sentences[place] for place in kept], fit[kept], np.array(ranks)[kept])


_DEPENDENT = re.compile(
    r"(?:This|These|Those|It|Its|They|Their|Here|There|Such|Both|Then|Thus|Therefore)\b"
)
_MAX_JOINED = 600  # characters of a sentence and the one that it refers to


def _with_antecedents(paper: Paper, locate: Callable[[Evidence], Evidence]) -> tuple[Evidence, ...]:
    """Return the sentences of a paper; in full texts, "This star ..." has the sentence before."""
    found: list[Evidence] = []
    for one in sentences_of(paper):
        before = found[-1] if found else None
        if (
            before is not None
            and one.end - before.start <= _MAX_JOINED
            and _DEPENDENT.match(one.text)
            and PARAGRAPH not in paper.abstract[before.start : one.end]
            and locate(one).section
        ):
            one = replace(one, start=before.start, text=paper.abstract[before.start : one.end])
        found.append(one)
    return tuple(found)


def _choose_by_side(
    names: Sequence[str],
    sides: Texts,
    relevance: Floats,
    choose: Callable[..., list[int]],
    *,
    n: int,
) -> list[tuple[int, str]]:
    """Return the places and sides of the sentences to quote; a question without sides has ""."""
    top = float(relevance.max())
    of_side = {name: np.where(sides == name, relevance, 0.0) for name in names}
    known = {name: of for name, of in of_side.items() if of.max() >= _LEAST * top}
    if len(known) < 2:  # quote the best sentences, whatever their side
        return [(place, str(sides[place])) for place in choose(relevance, n_sentences=n)]
    return [
        (place, name)
        for name, of in known.items()
        for place in choose(of, n_sentences=(n + 1) // 2, top=top)
    ]


def _sides(question: str, aim: Aim, texts: Sequence[str]) -> tuple[tuple[str, ...], Texts]:
    """Return the names of the sides of a question, and the side of each text, or ""."""
    if aim.compared:
        one, other = (set(tokenise(thing)) for thing in aim.compared)
        own = (one - other or one, other - one or other)
        names = (*aim.compared, _BOTH)
        found = []
        for text in texts:
            words = set(tokenise(text))
            has = [2 * len(words & terms) >= len(terms) for terms in own]
            found.append(_BOTH if all(has) else names[has.index(True)] if any(has) else "")
        return names, np.array(found, dtype=object)
    if aim.kind == "consensus":
        by_sign = {1: _SIDES[0], -1: _SIDES[1], 0: ""}
        found = [by_sign[side_of(question, one) if _STANCE.search(one) else 0] for one in texts]
        return _SIDES, np.array(found, dtype=object)
    return (), np.full(len(texts), "", dtype=object)


def _with_quoted_papers(results: Results, quoted: Sequence[Evidence], n: int) -> Results:
    """Return the first n papers and those that are quoted."""
    ids = {one.paper_id for one in quoted}
    hits = [hit for place, hit in enumerate(results.hits) if place < n or hit.paper.paper_id in ids]
    ranked = tuple(replace(hit, rank=rank) for rank, hit in enumerate(hits, start=1))
    return replace(results, hits=ranked, settings={**results.settings, "k": n})


def _restatements(texts: Sequence[str], aim: Aim, sides: Texts, papers: Sequence[str]) -> Bools:
    """Return which sentences of other papers state the same, shape (n, n).

    They share most words besides those of the question, and no number or negation differs.
    """
    asked = aim.terms | {term for name in aim.names for term in tokenise(name)}
    own = [frozenset(tokenise(text)) - asked for text in texts]
    same = np.eye(len(texts), dtype=bool)
    for one, other in itertools.combinations(range(len(texts)), 2):
        shared, lengths = len(own[one] & own[other]), (len(own[one]), len(own[other]))
        least = max(_SAME_WORDS, _SAME_SHARE * min(lengths), _SAME_SHARE / 2 * max(lengths))
        if shared < least or sides[one] != sides[other] or papers[one] == papers[other]:
            continue
        numbers = [set(_DIGITS.findall(texts[place])) for place in (one, other)]
        agree = numbers[0] <= numbers[1] or numbers[1] <= numbers[0]
        same[one, other] = same[other, one] = agree and not differs(texts[one], texts[other])
    return same


def _overlaps(sentences: Sequence[Evidence]) -> Bools:
    """Return which quotations overlap, because a sentence can have the one before it."""
    _, paper = np.unique([one.paper_id for one in sentences], return_inverse=True)
    start, end = (np.array([getattr(one, name) for one in sentences]) for name in ("start", "end"))
    within = (start[:, None] < end) & (start < end[:, None])
    return np.asarray(within & (paper[:, None] == paper))


def _alike(
    chosen: Sequence[int], same: Bools, relevance: Floats, sentences: Sequence[Evidence]
) -> list[list[int]]:
    """Return each chosen sentence with those that state the same, one of each paper and group."""
    taken, groups = set(chosen), []
    for place in chosen:
        found = {sentences[place].paper_id: place}
        for other in sorted(np.flatnonzero(same[place]).tolist(), key=lambda one: -relevance[one]):
            if relevance[other] > 0 and other not in taken:
                found.setdefault(sentences[other].paper_id, other)
        taken.update(found.values())
        groups.append(list(found.values()))
    return groups


def _note_april_first(results: Results, quoted: Sequence[Evidence]) -> tuple[str, ...]:
    labels = {one.label for one in quoted}
    found = [p.label for p in results.papers if _is_of_april_first(p) and p.label in labels]
    appeared = "appeared on 1 April; some papers of this day are jokes."
    return (f"{', '.join(found)} {appeared}",) if found else ()


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


def _names_other_object(question: str, papers: Sequence[Paper]) -> Callable[[str], bool]:
    """Return a test for texts on other objects, if no paper has an object of the question."""
    absent = absent_objects(question, [f"{paper.title} {paper.abstract}" for paper in papers])
    return lambda text: (
        bool(absent) and any(entity.kind == "object" for entity in find_entities(text))
    )


def _chance_of_answer(near: Floats, ranks: NDArray[np.int64], scores: Floats) -> Floats:
    """Return the probability that the paper of each sentence answers the question."""
    best = np.array([near[ranks == rank].max() for rank in ranks])
    largest = max(float(scores.max()), 1e-9)
    sums = _RANK / np.sqrt(1.0 + ranks) + _SCORE * scores / largest + _SENTENCE * best / near.max()
    return np.asarray(1.0 / (1.0 + np.exp(-_INTERCEPT - sums)))


def _doubt_premise(question: str, aim: Aim, texts: Sequence[str]) -> tuple[str, ...]:
    """Return a note if a question assumes a result that no sentence states."""
    if not _PREMISE.search(question):
        return ()
    verb = _STRONG.search(question)
    held = [(text.lower(), set(tokenise(text))) for text in texts]
    if verb is not None:
        stem = verb[0].lower()[:4]
        needed = aim.terms - set(tokenise(verb[0]))
        stated = any(
            stem in text and len(needed & words) >= 0.9 * len(needed) for text, words in held
        )
    elif _WHY.search(question) and 1 < len(aim.terms) <= _FEW_TERMS:
        most = max((len(aim.terms & words) for _, words in held), default=0)
        stated = most >= 0.75 * len(aim.terms)
    else:
        return ()
    note = f"No paper found states what “{question.strip()}” asks or assumes; it may not be so."
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
    same: Bools,
    relevance: Floats,
    *,
    n_sentences: int,
    least: float,
    diversity: float,
    top: float | None = None,
) -> list[int]:
    """Return the indices of the sentences to quote, most relevant first.

    Their relevance is positive, and at least `least` times the largest (`top`).
    """
    alike = likeness([sentence.text for sentence in sentences])
    papers = [sentence.paper_id for sentence in sentences]
    worth, repeats = relevance / (top or relevance.max()), np.zeros(len(sentences))
    open_ = (worth > 0) & (worth >= least)
    chosen: list[int] = []
    while open_.any() and len(chosen) < n_sentences:
        counts = Counter(papers[place] for place in chosen)
        is_new = open_ & np.array([counts[paper] == 0 for paper in papers])
        gain = (1.0 - diversity) * worth - diversity * repeats
        best = int(np.where(is_new if is_new.any() else open_, gain, -np.inf).argmax())
        chosen.append(best)
        repeats = np.maximum(repeats, alike[best])
        open_ &= ~same[best]
        open_ &= repeats < 0.9  # exclude the same sentence from other papers
        if counts[papers[best]] + 1 >= _PER_PAPER:
            open_ &= np.array([paper != papers[best] for paper in papers])
    return sorted(chosen, key=lambda place: -relevance[place])
