"""Make benchmarks from the papers of an atlas, as the authors of the four systems made theirs."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from landscape._author_names import parse_name
from landscape._io import check_output, write_output
from landscape._progress import progress
from landscape._wording import count
from landscape.agents.bounded_search import has_same_title
from landscape.agents.excerpts import MARK, find_citations, recall_title, without_citations
from landscape.errors import InputError, RemoteError
from landscape.evaluation._questions import KEYWORDS, identifiers_of, json_lines, read_text
from landscape.evaluation.citing import UNREAD, keyword_for
from landscape.llm import ReplyForm, request_reply
from landscape.llm.budget import estimate_tokens
from landscape.llm.prompts import as_data, prompt
from landscape.store.tables import FULL_TEXTS, REFERENCES
from landscape.text import split_sentences, tokenise
from landscape.types import Reference

if TYPE_CHECKING:
    from landscape.llm import LanguageModel
    from landscape.store import AtlasStore

BenchmarkKind = Literal["questions", "reviews", "surveys", "excerpts"]

_RELATED = re.compile(r"related work|previous|background|literature|state of the art", re.I)
_MIN_OF_REVIEW, _MIN_OF_SURVEY = 5, 3  # references of a sentence and of a paragraph
_MIN_WORDS = 8  # of a sentence
_MAX_WORDS = 80
_MAX_COPIED = 5  # successive words that a question may share with its paper
_MAX_OF_TITLE = 0.6  # share of the words of the title that an excerpt may contain
_REPLY_TOKENS = 60  # estimate
_MAX_FAILURES = 3  # a run ends after this number of successive failures of the model
_MAX_PARAGRAPH = 4_000  # characters
_BEFORE = 2  # sentences before the citing sentence that belong to an excerpt


class QuestionReply(ReplyForm):
    question: str


class ExcerptReply(ReplyForm):
    attributable: bool
    unambiguous: bool
    trivial: bool
    reasonable: bool


class Candidate(NamedTuple):
    """Row of a benchmark before a model reads it; `plain` is its question without a model."""

    row: Mapping[str, Any]
    data: Mapping[str, object]
    plain: str


@dataclass(frozen=True)
class MadeBenchmark:
    """Rows of a benchmark, the number of those of earlier runs, and reasons for omissions."""

    kind: BenchmarkKind
    path: Path
    rows: tuple[Mapping[str, Any], ...]
    n_earlier: int
    omitted: Mapping[str, int]
    method: str

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as JSON values."""
        return {
            "kind": self.kind,
            "file": str(self.path),
            "rows": len(self.rows),
            "earlier": self.n_earlier,
            "omitted": dict(self.omitted),
            "years": self._counts("year"),
            "sections": self._counts("section"),
            "known_to_model": sum(row.get("known") is True for row in self.rows),
            "method": self.method,
        }

    def to_text(self) -> str:
        """Format the counts, and those by year and by kind of section."""
        told = self.to_dict()
        lines = [f"{self.path}: {count(len(self.rows), 'row')} ({self.kind}, {self.method})"]
        if self.n_earlier:
            lines.append(f"made by an earlier run: {self.n_earlier:,}")
        lines += [f"omitted: {n:,} {reason}" for reason, n in self.omitted.items()]
        for name in ("years", "sections"):
            if told[name]:
                lines.append(f"{name}: {', '.join(f'{k} {n:,}' for k, n in told[name].items())}")
        if told["known_to_model"]:
            lines.append(f"known to the model, and marked: {told['known_to_model']:,}")
        return "\n".join(lines)

    def _counts(self, name: str) -> dict[str, int]:
        return dict(sorted(Counter(str(row[name]) for row in self.rows if row.get(name)).items()))


def make_benchmark(
    atlas: AtlasStore,
    kind: BenchmarkKind,
    path: str | Path,
    *,
    n: int = 100,
    seed: int = 0,
    model: LanguageModel | None = None,
    prices: tuple[float, float] | None = None,
    notify: Callable[[str], None] = lambda _: None,
) -> MadeBenchmark:
    """Make a benchmark from the papers of an atlas.

    Parameters
    ----------
    atlas : AtlasStore
    kind : {"questions", "reviews", "surveys", "excerpts"}
        - questions: one question for each of `n` random papers, in other words than the paper
          (Iyer et al. 2024, section 4.1);
        - reviews: sentences of reviews with five or more references (section 4.2);
        - surveys: paragraphs of introductions and of related work, and the papers that they cite
          (He et al. 2025, section 3.1);
        - excerpts: sentences that cite one paper and pass the four filters of CiteME (Press et al.
          2024, section 2). Those whose paper the model names without a search are marked.

        All but questions need the full texts of an atlas.
    path : path
        JSON lines. The rows of an existing file of the same kind are kept.
    n : int, default 100
        Number of rows.
    seed : int, default 0
        Seed of the random order of papers and sentences.
    model : LanguageModel, optional
        Model that writes the questions and applies the filters. Without a model, sentences are used
        as they are, only rules filter the excerpts, and questions are keywords. These are easier
        than real questions and favour word search: they show that a search fails, not how good it
        is.
    prices : tuple of float, optional
        Prices of a million tokens read and of a million tokens written.
    notify : callable, optional
        Called with the estimated cost before the first request.

    Returns
    -------
    MadeBenchmark

    Raises
    ------
    InputError
        If no paper or sentence is suitable, or the file is of another kind.
    RemoteError
        If the model fails three times in a row. The rows made before are kept, and the same call
        continues.

    Examples
    --------
    >>> import landscape as ls
    >>> make_benchmark(ls.open("my.atlas"), "excerpts", "my.jsonl")  # doctest: +SKIP
    """
    if n < 1:
        raise InputError(f"n is {n}; it must be 1 or more.")
    target = check_output(path, [".jsonl"], what="A benchmark")
    rows = _earlier_rows(target, kind)
    n_earlier, done = len(rows), {row["qid"] for row in rows}
    drawn = _CANDIDATES[kind](atlas, np.random.default_rng(seed))
    waiting = (one for one in drawn if one.row["qid"] not in done)
    first = list(islice(waiting, max(n - n_earlier, 0)))
    if not first and not rows:
        raise InputError(_NONE[kind].format(atlas.path))
    name = "no model: the texts themselves" if model is None else model.model
    if model is not None and first:
        notify(_cost(kind, first, prices))
    omitted: Counter[str] = Counter()
    failed = 0
    with (
        progress(f"Making {kind}", total=max(n - len(rows), 0)) as advance,
        target.open("a", encoding="utf-8") as stream,
    ):
        for one in chain(first, waiting):
            if len(rows) >= n:
                break
            try:
                more, reason = _finished(kind, one, model)
                failed = 0
            except RemoteError:
                failed, more, reason = failed + 1, {}, "with a failed reply of the model"
                if failed == _MAX_FAILURES:
                    raise
            if reason:
                omitted[reason] += 1
                continue
            rows.append({**one.row, **more, "kind": kind, "by": name})
            stream.write(json.dumps(rows[-1], ensure_ascii=False) + "\n")
            stream.flush()
            advance(1)
    return MadeBenchmark(kind, target, tuple(rows), n_earlier, dict(omitted), name)


def _earlier_rows(path: Path, kind: str) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    text = stored = read_text(path, wanted="a benchmark")
    whole, _, last = text.rpartition("\n")
    if last:  # a run was stopped while it wrote, or an editor removed the end of the line
        try:
            json.loads(last)
            text += "\n"
        except ValueError:
            text = f"{whole}\n" if whole else ""
    rows = [row for _, row in json_lines(text, path)]
    if any(row.get("kind") != kind or "qid" not in row for row in rows):
        raise InputError(f"{path} is not a benchmark of the kind {kind}; choose another file.")
    if stored and not rows:
        raise InputError(f"{path} is not a benchmark; choose another file.")
    if text != stored:
        write_output(path, text)
    return rows


def _cost(
    kind: BenchmarkKind, waiting: Sequence[Candidate], prices: tuple[float, float] | None
) -> str:
    names = _PROMPTS[kind]
    read = sum(
        estimate_tokens(prompt(name), as_data(one.data)) for one in waiting for name in names
    )
    written = _REPLY_TOKENS * len(names) * len(waiting)
    requests = count(len(names) * len(waiting), "request")
    money = ""
    if prices is not None:
        money = f", {(read * prices[0] + written * prices[1]) / 1e6:.4f} in money"
    return f"about {requests}, {read + written:,} tokens{money}; omitted rows cost more"


def _finished(
    kind: BenchmarkKind, one: Candidate, model: LanguageModel | None
) -> tuple[dict[str, Any], str]:
    """Return the fields that are missing in a row, or the reason why it is omitted."""
    if kind == "excerpts":
        return ({}, "") if model is None else _judged(one, model)
    if model is None:
        return {"question": one.plain}, ""
    reply = request_reply(model, prompt(_PROMPTS[kind][0]), as_data(one.data), QuestionReply)
    question = " ".join(reply.question.split())
    if not question:
        return {}, "without a question"
    source = " ".join(str(value) for value in one.data.values())
    if _longest_copy(question, source) >= _MAX_COPIED:
        return {}, "with a question in the words of its source"
    return {"question": question}, ""


def _longest_copy(question: str, source: str) -> int:
    """Return the largest number of successive words of a question that occur in its source."""
    words, text = (re.findall(r"\w+", one.casefold()) for one in (question, source))
    return SequenceMatcher(a=words, b=text, autojunk=False).find_longest_match().size


def _judged(one: Candidate, model: LanguageModel) -> tuple[dict[str, Any], str]:
    """Apply the filters of CiteME, and ask which paper the model knows without any search."""
    reply = request_reply(model, prompt("judge_excerpt"), as_data(one.data), ExcerptReply)
    for is_good, reason in (
        (reply.attributable, "not attributable"),
        (reply.unambiguous, "ambiguous"),
        (not reply.trivial, "trivial"),
        (reply.reasonable, "not reasonable"),
    ):
        if not is_good:
            return {}, f"{reason}, for the model"
    recalled = recall_title(model, one.row["excerpt"])
    return {"known": has_same_title(recalled, [str(one.data["title"])])}, ""


_PROMPTS: Mapping[BenchmarkKind, tuple[str, ...]] = {
    "questions": ("make_question",),
    "reviews": ("make_review_question",),
    "surveys": ("make_survey_question",),
    "excerpts": ("judge_excerpt", "recall_paper"),
}


def _questions(atlas: AtlasStore, random: np.random.Generator) -> Iterator[Candidate]:
    """Yield random papers; without a model, their first keywords are the question."""
    papers = atlas.read_papers(["paper_id", "title", "abstract", "keywords", "year"])
    wrong = set(atlas.invalid_papers.tolist())
    for row in random.permutation(len(papers)).tolist():
        one = papers.iloc[row]
        words = () if one["keywords"] is None else tuple(one["keywords"])
        if row in wrong or len(words) < KEYWORDS or not one["abstract"]:
            continue
        yield Candidate(
            {
                "qid": str(one["paper_id"]),
                "relevant": [str(one["paper_id"])],
                "sentence": str(one["title"]),
                "year": _year(one["year"]),
            },
            {"title": one["title"], "abstract": one["abstract"]},
            ", ".join(words[:KEYWORDS]),
        )


class _Text(NamedTuple):
    """A paragraph of a full text with the references of the paper."""

    paper: Mapping[str, Any]
    section: str  # kind
    heading: str
    number: int  # of the section
    start: int
    text: str
    references: Mapping[int, Reference]
    numbered: bool  # whether the paper cites by number


def _paragraphs(
    atlas: AtlasStore, random: np.random.Generator, rows: Sequence[int] | None = None
) -> Iterator[_Text]:
    """Yield the paragraphs of the full texts in random order of the papers."""
    if not atlas.has_sections:
        return
    every = atlas.read_of_papers(FULL_TEXTS, range(len(atlas)))["paper_row"].unique()
    chosen = every if rows is None else np.intersect1d(every, rows)
    papers = atlas.read_papers(["paper_id", "title", "year"])
    for row in random.permutation(chosen).tolist():
        table = atlas.read_of_papers(REFERENCES, [row])
        entries = {
            one.number: Reference(
                one.number, one.text, one.title, tuple(one.authors), _year(one.year),
                one.bibcode, one.doi, one.arxiv_id,
            )
            for one in table.itertuples()
        }  # fmt: skip
        paper = papers.iloc[row].to_dict()
        sections = atlas.sections([row])
        opening = " ".join(sections["text"].head(_OPENING))
        numbered = not find_cited(opening, entries, numbered=False)
        for one in sections.itertuples():
            if one.kind in UNREAD:
                continue
            cited = {n: entries[n] for n in one.references if n in entries}
            for match in re.finditer(r"[^\n\u2029]+", one.text):
                text = match[0][:_MAX_PARAGRAPH]
                yield _Text(
                    paper, one.kind, one.heading, one.number, match.start(), text, cited, numbered
                )


def _reviews(atlas: AtlasStore, random: np.random.Generator) -> Iterator[Candidate]:
    """Yield sentences of reviews with several references."""
    known = identifiers_of(atlas)
    for one in _paragraphs(atlas, random, atlas.reviews["paper_row"].tolist()):
        for start, end in split_sentences(one.text):
            sentence = one.text[start:end]
            cited = find_cited(sentence, one.references, numbered=one.numbered)
            if len(cited) >= _MIN_OF_REVIEW and (row := _row(one, cited, known, start, sentence)):
                plain = without_citations(sentence)
                yield Candidate(row, {"sentence": plain}, plain)


def _surveys(atlas: AtlasStore, random: np.random.Generator) -> Iterator[Candidate]:
    """Yield paragraphs of introductions and of related work."""
    known = identifiers_of(atlas)
    for one in _paragraphs(atlas, random):
        if one.section != "introduction" and not _RELATED.search(one.heading):
            continue
        cited = find_cited(one.text, one.references, numbered=one.numbered)
        row = _row(one, cited, known, 0, one.text)
        if row is None or len(row["relevant"]) < _MIN_OF_SURVEY:
            continue
        plain = without_citations(one.text)
        first = [plain[start:end] for start, end in split_sentences(plain)][:1]
        data = {
            "paragraph": plain,
            "cited": [one.references[n].title or one.references[n].text for n in cited],
        }
        yield Candidate(row, data, " ".join(first))


def _excerpts(atlas: AtlasStore, random: np.random.Generator) -> Iterator[Candidate]:
    """Yield sentences with one citation that pass the rules of the four filters."""
    known = identifiers_of(atlas)
    papers = atlas.read_papers(["paper_id", "title", "authors", "keywords"]).set_index("paper_id")
    for one in _paragraphs(atlas, random):
        spans = split_sentences(one.text)
        for place, (start, end) in enumerate(spans):
            sentence = one.text[start:end]
            cited = find_cited(sentence, one.references, numbered=one.numbered)
            marks = find_citations(sentence)
            if len(cited) != 1 or len(marks) != 1:
                continue  # not unambiguous
            row = _row(one, cited, known, start, sentence)
            if row is None or row["relevant"] == [one.paper["paper_id"]]:
                continue  # not attributable to a paper of the atlas
            (answer,) = row.pop("relevant")
            marked = f"{sentence[: marks[0][0]]}{MARK}{sentence[marks[0][1] :]}"
            words = sentence.split()
            is_whole = sentence[:1].isupper() and sentence.rstrip()[-1:] in tuple(".!?")
            if not is_whole or not _MIN_WORDS <= len(words) <= _MAX_WORDS:
                continue  # not reasonable
            paper = papers.loc[answer]
            if _is_trivial(marked, paper["title"], paper["authors"]):
                continue
            earlier = (one.text[slice(*span)] for span in spans[max(place - _BEFORE, 0) : place])
            before = without_citations(" ".join(earlier))
            row |= {
                "excerpt": f"{before} {marked}".strip(),
                "answer": answer,
                # Fields that `evaluate citing` reads.
                "context": before or without_citations(sentence),
                "cited": [answer],
                "keywords": keyword_for(sentence, list(paper["keywords"]), paper["title"]),
            }
            yield Candidate(row, {"excerpt": row["excerpt"], "title": paper["title"]}, "")


def _is_trivial(excerpt: str, title: str, authors: Sequence[str]) -> bool:
    """Return whether an excerpt contains the first author or most words of the title."""
    terms, words = set(tokenise(title)), set(tokenise(excerpt))
    shared = len(terms & words) / max(len(terms), 1)
    first = parse_name(authors[0]).family if len(authors) else ""
    return shared > _MAX_OF_TITLE or (bool(first) and first.casefold() in excerpt.casefold())


def _row(
    one: _Text, cited: Sequence[int], known: Mapping[str, str], start: int, text: str
) -> dict[str, Any] | None:
    """Return the row of a text that cites papers of the atlas, or None."""
    named = (known.get(name.lower()) for n in cited for name in one.references[n].names)
    relevant = list(dict.fromkeys(paper for paper in named if paper))
    if not relevant or len(text.split()) < _MIN_WORDS:
        return None
    source = str(one.paper["paper_id"])
    return {
        "qid": f"{source}#{one.number}:{one.start + start}",
        "relevant": relevant,
        "sentence": text,
        "source": source,
        "section": one.section,
        "heading": one.heading,
        "year": _year(one.paper["year"]),
    }


def _year(value: Any) -> int | None:
    return None if value is None or value != value else int(value)


_NUMBERED = re.compile(r"\[\s{0,3}(\d{1,3}(?:\s{0,3}[,;–-]\s{0,3}\d{1,3}){0,40})\s{0,3}\]")
_OPENING = 4  # first sections, which show whether a paper cites by name or by number
_MAX_NAMES = 4  # authors of a reference that can be named in a text


def find_cited(
    text: str, references: Mapping[int, Reference], *, numbered: bool = True
) -> list[int]:
    """Return the numbers of the references that a text cites by names and year.

    With `numbered`, numbers in brackets cite, too. In a paper that cites by name, these are
    intervals and units.
    """
    cited = [
        number
        for number, one in references.items()
        if one.year and str(one.year) in text and (named := _named(one)) and named.search(text)
    ]
    for match in _NUMBERED.finditer(text) if numbered else ():
        for part in re.split(r"[,;]", match[1]):
            first, *last = (int(n) for n in re.findall(r"\d+", part))
            listed = range(first, min((last or [first])[0], first + 50) + 1)
            cited += [n - 1 for n in listed if n - 1 in references]
    return sorted(set(cited))


def _named(one: Reference) -> re.Pattern[str] | None:
    """Return the pattern of a citation by names and year, as in "Doe, Roe & Li 2019, 2020a"."""
    families = (parse_name(name).family for name in one.authors[:_MAX_NAMES])
    names = [re.escape(family) for family in families if family]
    if not names:
        return None
    others = "|".join([r"et\s?al\.?", "and", "&", *names[1:]])
    return re.compile(
        rf"(?<!\w){names[0]}(?:['’]s)?(?:[\s,]{{0,3}}(?:{others})){{0,8}}[\s,(]{{0,4}}"
        rf"(?:\d{{4}}[a-z]?,\s?){{0,4}}{one.year}(?!\d)"
    )


_CANDIDATES: Mapping[
    BenchmarkKind, Callable[[AtlasStore, np.random.Generator], Iterator[Candidate]]
] = {"questions": _questions, "reviews": _reviews, "surveys": _surveys, "excerpts": _excerpts}

_FROM_TEXTS = "{} has no suitable {}; build it with --full-text, from papers that cite each other."
_NONE: Mapping[BenchmarkKind, str] = {
    "questions": "{} has no paper with an abstract and four keywords; use another atlas.",
    "reviews": _FROM_TEXTS.format("{}", "sentence of a review with five references"),
    "surveys": _FROM_TEXTS.format("{}", "paragraph of related work with three cited papers"),
    "excerpts": _FROM_TEXTS.format("{}", "sentence that cites one paper"),
}
