"""Write the requests of a survey to a language model, and parse the replies."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from landscape._wording import one_line
from landscape.agents.survey_requests import Request
from landscape.llm import complete_decided
from landscape.llm.prompts import ReplyForm, as_data, prompt, reply_schema

if TYPE_CHECKING:
    from landscape.llm import WritingModel
    from landscape.types import Paper

Form = TypeVar("Form", bound=ReplyForm)


class QueriesReply(ReplyForm):
    queries: list[str]


class ListsReply(ReplyForm):
    follow: list[str]
    search: str


class JudgedPaper(ReplyForm):
    label: str
    decision: bool
    score: float
    reason: str


class JudgementsReply(ReplyForm):
    papers: list[JudgedPaper]


MAX_SEARCH = 300  # maximum number of characters of a query
MAX_REASON = 400  # maximum number of characters of a reason
_DECIDED = re.compile(r"Decision:\s*+(?:\*++\s*+)?(True|False)\b", re.IGNORECASE)
_REASONED = re.compile(
    r"Reason:\s*+((?:\S++|[^\S\n]++|\n\s*+(?!Decision:))*+)", re.IGNORECASE
)  # each run of spaces is read once


def parse_tokens(reply: str, token: str) -> list[str]:
    """Parse the queries ("Search") or sections ("Expand") in the reply of PaSa's crawler."""
    pattern = rf"\[{token}\](.*?)(?=\[(?:Search|Expand|Stop)|$)"
    return one_line_each(re.findall(pattern, reply, re.DOTALL))


def parse_decision(reply: str) -> tuple[bool, str] | None:
    """Parse the decision and its reason in the reply of PaSa's selector."""
    match = _DECIDED.search(reply)
    if match is None:
        return None
    reason = _REASONED.search(reply)
    return match[1].casefold() == "true", one_line(reason[1] if reason else "", most=MAX_REASON)


def one_line_each(texts: Sequence[object]) -> list[str]:
    """Convert each text of a model to one line, and remove empty and repeated texts."""
    lines = (one_line(text, most=MAX_SEARCH) for text in texts if isinstance(text, str))
    kept: dict[str, str] = {}
    for line in lines:
        if line:
            kept.setdefault(line.casefold(), line)
    return list(kept.values())


_JUDGED_AT_ONCE = 6  # papers per request
_EARLIER = 30  # maximum number of earlier searches in a request


@dataclass(frozen=True)
class Decision:
    """Decision of a model on a paper."""

    selected: bool
    score: float | None
    reason: str


@dataclass(frozen=True)
class NextStep:
    """Names of the lists of linked papers to follow, and a new query."""

    follow: tuple[str, ...]
    search: str = ""


class JsonSurveyModel:
    """Prepare the requests to a chat model that replies in JSON."""

    def __init__(self, model: WritingModel) -> None:
        self._model = model

    def queries(self, question: str, asked: Sequence[str], most: int) -> Request:
        """Return a request for searches; the parsed reply is a list of str."""
        data = {"question": question, "searches_made": list(asked)[-_EARLIER:], "at_most": most}
        return self._request(
            "survey_queries", data, QueriesReply, lambda reply: one_line_each(reply.queries)[:most]
        )

    def read(
        self, question: str, paper: Paper, lists: Mapping[str, int], asked: Sequence[str]
    ) -> Request:
        """Return a request that asks which lists of a paper to follow (`NextStep`)."""
        data = {
            "question": question,
            "paper": _paper_fields(paper),
            "lists": [{"name": name, "papers": n} for name, n in lists.items()],
            "searches_made": list(asked)[-_EARLIER:],
        }

        def read(reply: ListsReply) -> NextStep:
            known = tuple(name for name in one_line_each(reply.follow) if name in lists)
            return NextStep(known, one_line(reply.search, most=MAX_SEARCH))

        return self._request("survey_read", data, ListsReply, read)

    def judge(self, question: str, papers: Sequence[Paper]) -> list[Request]:
        """Return requests to judge a few papers each; replies map paper_id to `Decision`."""
        starts = range(0, len(papers), _JUDGED_AT_ONCE)
        return [self._judge(question, papers[start : start + _JUDGED_AT_ONCE]) for start in starts]

    def _judge(self, question: str, papers: Sequence[Paper]) -> Request:
        by_label = {f"P{n}": paper for n, paper in enumerate(papers, start=1)}
        listed = [{"label": label, **_paper_fields(paper)} for label, paper in by_label.items()]

        def read(reply: JudgementsReply, chances: list[float]) -> dict[str, Decision]:
            found: dict[str, Decision] = {}
            scores = chances or [min(1.0, max(0.0, paper.score)) for paper in reply.papers]
            for paper, score in zip(reply.papers, scores, strict=True):
                if paper.label in by_label:  # ignores invented labels
                    reason = one_line(paper.reason, most=MAX_REASON)
                    decision = Decision(paper.decision, score, reason)
                    found.setdefault(by_label[paper.label].paper_id, decision)
            return found

        instructions = prompt("survey_judge")
        user = as_data({"question": question, "papers": listed})
        schema = reply_schema(JudgementsReply)

        def read_decided(raw: Mapping[str, Any]) -> dict[str, Decision]:
            reply = JudgementsReply.model_validate(raw["reply"])
            chances = raw["chances"][-len(reply.papers) :]
            return read(reply, chances if len(chances) == len(reply.papers) else [])

        return Request(
            lambda: _decided(self._model, instructions, user, schema, _DECISION_JSON),
            read_decided,
            instructions + user,
        )

    def _request(
        self, name: str, data: Mapping[str, object], form: type[Form], read: Callable[[Form], Any]
    ) -> Request:
        instructions, user, schema = prompt(name), as_data(data), reply_schema(form)
        return Request(
            lambda: self._model.complete_json(instructions, user, schema),
            lambda reply: read(form.model_validate(reply)),
            instructions + user,
        )


class PasaSurveyModel:
    """Prepare the requests to a model that replies in PaSa's tokens, such as ``[Search]``.

    He et al. (2025, arXiv:2501.10120) trained their crawler to write ``[Search]`` and ``[Expand]``,
    each with a query or a section, and their selector to write a decision and its reason.
    """

    def __init__(self, model: WritingModel) -> None:
        self._model = model

    def queries(self, question: str, asked: Sequence[str], most: int) -> Request:
        """Return a request for searches; the parsed reply is a list of str."""
        data = {"question": question, "searches_made": list(asked)[-_EARLIER:]}
        return self._request(
            "pasa_queries", data, lambda reply: parse_tokens(reply, "Search")[:most]
        )

    def read(
        self, question: str, paper: Paper, lists: Mapping[str, int], asked: Sequence[str]
    ) -> Request:
        """Return a request that asks which lists of a paper to follow (`NextStep`)."""
        data = {
            "question": question,
            **_paper_fields(paper),
            "sections": list(lists),
            "searches_made": list(asked)[-_EARLIER:],
        }
        names = {name.casefold(): name for name in lists}

        def read(reply: str) -> NextStep:
            wanted = (name.casefold() for name in parse_tokens(reply, "Expand"))
            more = parse_tokens(reply, "Search")
            return NextStep(tuple(names[n] for n in wanted if n in names), more[0] if more else "")

        return self._request("pasa_read", data, read)

    def judge(self, question: str, papers: Sequence[Paper]) -> list[Request]:
        """Return one request per paper, because PaSa's selector was trained on single papers."""

        def request(paper: Paper) -> Request:
            def read(raw: Mapping[str, Any]) -> dict[str, Decision]:
                found = parse_decision(raw["reply"])
                score = raw["chances"][-1] if raw["chances"] else None
                if found is None:
                    return {}
                return {paper.paper_id: Decision(found[0], score, found[1])}

            data = {"question": question, **_paper_fields(paper)}
            system, user = prompt("pasa_system"), pasa_message("pasa_judge", data)
            return Request(
                lambda: _decided(self._model, system, user, None, _DECISION_TEXT),
                read,
                system + user,
            )

        return [request(paper) for paper in papers]

    def _request(
        self, name: str, data: Mapping[str, object], read: Callable[[str], Any]
    ) -> Request:
        system, user = prompt("pasa_system"), pasa_message(name, data)
        return Request(lambda: self._model.complete(system, user), read, system + user)


_DECISION_JSON, _DECISION_TEXT = r'"decision"\s{0,9}:', r"Decision:[\s*]{0,9}"


def _decided(
    model: WritingModel, system: str, user: str, schema: Mapping[str, Any] | None, decision: str
) -> dict[str, Any]:
    """Return a reply and the probabilities of its decisions, where the server gives them.

    The probability of the token of a decision ranks papers, as in PaSa (section 4.3).
    """
    reply, chances = complete_decided(model, system, user, schema, decision)
    return {"reply": reply, "chances": chances}


SurveyModel = JsonSurveyModel | PasaSurveyModel


def pasa_message(name: str, data: Mapping[str, object]) -> str:
    """Return instructions and data in one message, as PaSa's models expect them."""
    return f"{prompt(name)}\n{as_data(data)}"


def choose_survey_model(model: WritingModel, protocol: str) -> SurveyModel:
    """Return the protocol for a model: the tokens of PaSa, or JSON."""
    is_pasa = protocol == "pasa" or (protocol == "auto" and "pasa" in model.model.casefold())
    return PasaSurveyModel(model) if is_pasa else JsonSurveyModel(model)


def _paper_fields(paper: Paper) -> dict[str, object]:
    return {"title": paper.title, "year": paper.year, "abstract": paper.abstract}
