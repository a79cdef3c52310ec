"""Types of questions and the search settings for each.

Types, flags and settings follow table 1 of the pathfinder paper (Iyer et al. 2024, ApJS 275, 38).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, cast, get_args

from landscape._io import data_file, read_yaml
from landscape.errors import InputError, RemoteError
from landscape.llm import LanguageModel, ReplyForm, request_reply
from landscape.llm.prompts import as_data, prompt
from landscape.overlays.missions import find_mentions
from landscape.search import find_entities

QuestionType = Literal[
    "single-paper factual",
    "multi-paper factual",
    "consensus",
    "compositional",
    "counterfactual",
    "unclassified",
]
Flag = Literal["named entity", "jargon", "bibliographic", "time-sensitive"]
TYPES: tuple[QuestionType, ...] = get_args(QuestionType)
FLAGS: tuple[Flag, ...] = get_args(Flag)


class _Classification(ReplyForm):
    type: QuestionType
    flags: list[Flag]


@dataclass(frozen=True)
class QuestionKind:
    """Type and flags of a question.

    Attributes
    ----------
    type : QuestionType
    flags : tuple of Flag
    by : str
        ``"rules"``, ``"the caller"``, or the name of the language model.
    """

    type: QuestionType
    flags: tuple[Flag, ...] = ()
    by: str = "rules"

    def __str__(self) -> str:
        return f"{self.type} ({', '.join(self.flags)})" if self.flags else self.type


@dataclass(frozen=True)
class Preset:
    """Settings of the search and the answer for a type of question.

    Attributes
    ----------
    name : str
        Name of the row in the table.
    top_k : int
        Number of papers to find.
    keyword, time, citation : bool
        Whether these weights are used.
    hyde, rerank : bool
        Whether to search with a hypothetical abstract, and whether to rerank.
    generation : {"rag", "react"} or None
        Method that generates the answer; None means the method for the type of question.
    style : str
        Style of the answer.
    """

    name: str
    top_k: int
    keyword: bool
    time: bool
    citation: bool
    hyde: bool
    rerank: bool
    generation: Literal["rag", "react"] | None
    style: str = "multi-paper"


# The publication gives ranges of k; these are the upper limits.
PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset("single-paper factual", 5, True, True, False, True, True, "rag", "single-paper"),
        Preset("multi-paper factual", 10, True, True, True, True, True, "rag"),
        Preset("consensus", 20, True, False, True, True, False, "rag", "nuanced"),
        Preset("counterfactual", 15, True, True, False, True, False, "react", "nuanced"),
        Preset("compositional", 15, True, False, True, True, True, "react"),
        Preset("named entity", 7, True, False, False, True, False, None),
        Preset("jargon", 10, True, True, True, True, True, None),
        Preset("bibliographic", 15, True, False, True, False, False, None, "bibliometric"),
        Preset("time-sensitive", 7, False, True, False, True, False, "rag"),
        Preset("unclassified", 10, True, True, True, True, True, "rag"),
    )
}
"""Rows of the table by name. "unclassified" uses the settings of "multi-paper factual"."""


def classify(question: str, *, model: LanguageModel | None = None) -> QuestionKind:
    """Classify a question.

    Parameters
    ----------
    question : str
    model : LanguageModel, optional
        Without a model, or if the model fails, rules classify the question.

    Returns
    -------
    QuestionKind

    Examples
    --------
    >>> print(classify("Do astronomers agree that dark energy evolves?"))
    consensus
    >>> print(classify("What would happen to NGC 1275 if it had no black hole?"))
    counterfactual (named entity)
    """
    if model is not None and question.strip():
        try:
            reply = request_reply(
                model, prompt("classify"), as_data({"question": question}), _Classification
            )
        except RemoteError:
            return _by_rule(question)
        flags = tuple(flag for flag in FLAGS if flag in reply.flags)
        return QuestionKind(reply.type, flags, model.model)
    return _by_rule(question)


def read_kind(text: str) -> QuestionKind:
    """Parse a `QuestionKind` from text: a type, followed by flags in parentheses.

    >>> read_kind("consensus (jargon, time-sensitive)").flags
    ('jargon', 'time-sensitive')
    >>> read_kind("riddle")
    Traceback (most recent call last):
    landscape.errors.InputError: Unknown kind of question 'riddle'. Choose one of: ...
    """
    name, _, rest = str(text).partition("(")
    flags = [flag.strip() for flag in rest.rstrip(") ").split(",") if flag.strip()]
    for what, given, allowed in (
        ("kind of question", [name.strip()], TYPES),
        ("flag of a question", flags, FLAGS),
    ):
        unknown = [word for word in given if word not in allowed]
        if unknown:
            raise InputError(
                f"Unknown {what} {unknown[0][:60]!r}. Choose one of: {', '.join(allowed)}."
            )
    kind = next(kind for kind in TYPES if kind == name.strip())
    return QuestionKind(kind, tuple(flag for flag in FLAGS if flag in flags), "the caller")


def preset_for(kind: QuestionKind) -> Preset:
    """Choose the settings for a kind of question.

    Factual and unclassified questions use the row of their flag, if any. All other questions use
    the row of their type.

    Parameters
    ----------
    kind : QuestionKind

    Returns
    -------
    Preset

    Examples
    --------
    >>> preset_for(QuestionKind("multi-paper factual", ("bibliographic",))).style
    'bibliometric'
    >>> preset_for(QuestionKind("compositional", ("jargon",))).generation
    'react'
    """
    own = PRESETS[kind.type]
    if kind.type not in ("single-paper factual", "multi-paper factual", "unclassified"):
        return own
    for flag in ("bibliographic", "time-sensitive", "named entity", "jargon"):
        if flag in kind.flags:
            row = PRESETS[flag]
            style = row.style if flag == "bibliographic" else own.style
            return replace(row, generation=row.generation or own.generation, style=style)
    return own


_REQUEST = re.compile(
    r"^(?:(?:hi|hello|hey|please)\b[ ,!]*)*"
    r"(?:(?:(?:do|can|could|would|will) (?:you|we|anyone|someone|anybody) )?"
    r"(?:please |kindly |also )?(?:know|tell|explain|describe|show|give|say|help|list|think)"
    r"|(?:i|we)(?:'m|’m|'d|’d| am| are| would)? "
    r"(?:want|need|like|wonder(?:ing)?|try|trying|curious|interested)"
    r"(?: to (?:know|understand|learn|find out|see))?)\b"
    r"(?: (?:me|us|in|to understand|to know|of|about|if|whether|that))*[,:]? (?=\w+ \w)",
    re.IGNORECASE,
)
_VERB_LAST = re.compile(r"^(what|who|where) (.+) (is|are|was|were)\W*$", re.IGNORECASE)


def plain_question(text: str) -> str:
    """Return a question without words of politeness.

    >>> plain_question("Could you please tell me what a kilonova is?")
    'What is a kilonova?'
    """
    text = " ".join(text.split())
    rest = _REQUEST.sub("", text, count=1)
    rest = _VERB_LAST.sub(r"\1 \3 \2?", rest) if rest != text else text
    return rest[:1].upper() + rest[1:]


@cache
def _rules() -> dict[str, re.Pattern[str]]:
    """Return the patterns of types and flags, in the order in which they are tested."""
    rules = read_yaml(data_file("questions.yaml"))
    del rules["words"], rules["aims"]  # see answers/_requests.py and answers/reading.py
    return {name: re.compile("|".join(parts), re.IGNORECASE) for name, parts in rules.items()}


def _is_eponym(name: str, text: str) -> bool:
    """Return whether a noun follows a name of one word, as in "Bayesian inference"."""
    return " " not in name and bool(re.search(rf"\b{re.escape(name)} [a-z]", text))


def _by_rule(question: str) -> QuestionKind:
    text, rules = plain_question(question), _rules()
    # "Andromeda" is a name, and "Hubble constant" is not.
    names = [
        one.text
        for one in find_entities(text)
        if one.kind == "object" or (one.kind == "name" and not _is_eponym(one.text, text))
    ]
    names += [text[one.start : one.end] for one in find_mentions(text)]
    unnamed = re.sub("|".join(map(re.escape, names)), " ", text) if names else text
    found = {
        flag: bool(rules[flag].search(unnamed if flag == "jargon" else text))
        for flag in FLAGS
        if flag in rules
    }
    flags = tuple(flag for flag in FLAGS if found.get(flag, bool(names)))
    types = (kind for kind in rules if kind in TYPES and rules[kind].search(text))
    asks_whether = text != question and re.search(r"\b(?:whether|say that|think)\b", question)
    default = "consensus" if asks_whether else "unclassified"
    return QuestionKind(cast("QuestionType", next(types, default)), flags)
