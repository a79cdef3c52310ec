"""How a language model takes part in a survey: it searches, it reads on, it selects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from landscape.agents.survey import prompts
from landscape.agents.survey.spending import Request
from landscape.corpus._cleaning import one_line
from landscape.llm._quoting import as_data

if TYPE_CHECKING:
    from landscape.llm._client import WritingModel
    from landscape.types import Paper

_JUDGED_AT_ONCE = 6  # papers in one request
_EARLIER = 30  # searches that a model is reminded of


@dataclass(frozen=True)
class Judgement:
    """What a model said of a paper.

    Attributes
    ----------
    decision : bool
    score : float or None
        None where the model gives none.
    reason : str
    """

    decision: bool
    score: float | None
    reason: str


@dataclass(frozen=True)
class Next:
    """What a model wants to do with a paper.

    Attributes
    ----------
    follow : tuple of str
        Names of lists; those that do not exist are left out.
    search : str
        Empty for none.
    """

    follow: tuple[str, ...]
    search: str = ""


class Mind(Protocol):
    """A language model in one way of speaking. Requests are sent elsewhere."""

    def queries(self, question: str, asked: Sequence[str], most: int) -> Request:
        """Ask for searches; the reply is a list of str."""

    def read(
        self, question: str, paper: Paper, lists: Mapping[str, int], asked: Sequence[str]
    ) -> Request:
        """Ask what to follow from a paper; the reply is a Next."""

    def judge(self, question: str, papers: Sequence[Paper]) -> list[Request]:
        """Ask about papers; each reply is a dict of paper_id to Judgement."""


class JsonMind:
    """Any chat model, spoken to in JSON; needs no calling of tools.

    Parameters
    ----------
    model : WritingModel
    """

    def __init__(self, model: WritingModel) -> None:
        self._model = model

    def queries(self, question: str, asked: Sequence[str], most: int) -> Request:
        """Ask for searches."""
        data = {"question": question, "searches_made": list(asked)[-_EARLIER:], "at_most": most}

        def read(reply: Mapping[str, Any]) -> list[str]:
            return prompts.one_line_each(reply["queries"])[:most]

        return self._request(prompts.QUERIES, data, prompts.QUERIES_SCHEMA, read)

    def read(
        self, question: str, paper: Paper, lists: Mapping[str, int], asked: Sequence[str]
    ) -> Request:
        """Ask what to follow from a paper."""
        data = {
            "question": question,
            "paper": _shown(paper),
            "lists": [{"name": name, "papers": n} for name, n in lists.items()],
            "searches_made": list(asked)[-_EARLIER:],
        }

        def read(reply: Mapping[str, Any]) -> Next:
            wanted = prompts.one_line_each(reply["follow"])
            known = tuple(name for name in wanted if name in lists)
            return Next(known, one_line(reply["search"], most=prompts.LONGEST_SEARCH))

        return self._request(prompts.READ, data, prompts.READ_SCHEMA, read)

    def judge(self, question: str, papers: Sequence[Paper]) -> list[Request]:
        """Ask about papers, some at a time."""
        return [
            self._judged(question, papers[start : start + _JUDGED_AT_ONCE])
            for start in range(0, len(papers), _JUDGED_AT_ONCE)
        ]

    def _judged(self, question: str, papers: Sequence[Paper]) -> Request:
        labels = {f"P{n}": paper.paper_id for n, paper in enumerate(papers, start=1)}
        shown = zip(labels, papers, strict=True)
        data = {
            "question": question,
            "papers": [{"label": label, **_shown(paper)} for label, paper in shown],
        }

        def read(reply: Mapping[str, Any]) -> dict[str, Judgement]:
            found: dict[str, Judgement] = {}
            for one in reply["papers"]:
                key = labels.get(one["label"])  # a label that was not shown judges nothing
                if key is not None and key not in found:
                    score = float(min(1.0, max(0.0, one["score"])))
                    reason = one_line(one["reason"], most=prompts.LONGEST_REASON)
                    found[key] = Judgement(bool(one["decision"]), score, reason)
            return found

        return self._request(prompts.JUDGE, data, prompts.JUDGE_SCHEMA, read)

    def _request(
        self, told: str, data: Mapping[str, Any], schema: Mapping[str, Any], read: Any
    ) -> Request:
        user = as_data(data)
        return Request(lambda: self._model.complete_json(told, user, schema), read, told + user)


class PasaMind:
    """A model that speaks in PaSa's tokens: ``[Search]``, ``[Expand]``, ``Decision: True``.

    Parameters
    ----------
    model : WritingModel
    """

    def __init__(self, model: WritingModel) -> None:
        self._model = model

    def queries(self, question: str, asked: Sequence[str], most: int) -> Request:
        """Ask for searches."""
        data = {"question": question, "searches_made": list(asked)[-_EARLIER:]}
        return self._request(
            prompts.PASA_QUERIES, data, lambda reply: prompts.searched(reply)[:most]
        )

    def read(
        self, question: str, paper: Paper, lists: Mapping[str, int], asked: Sequence[str]
    ) -> Request:
        """Ask what to follow from a paper."""
        data = {
            "question": question,
            **_shown(paper),
            "sections": list(lists),
            "searches_made": list(asked)[-_EARLIER:],
        }
        names = {name.casefold(): name for name in lists}

        def read(reply: str) -> Next:
            wanted = (one.casefold() for one in prompts.expanded(reply))
            more = prompts.searched(reply)
            return Next(tuple(names[n] for n in wanted if n in names), more[0] if more else "")

        return self._request(prompts.PASA_READ, data, read)

    def judge(self, question: str, papers: Sequence[Paper]) -> list[Request]:
        """Ask about papers, one at a time, as PaSa's selector was trained."""

        def request(paper: Paper) -> Request:
            def read(reply: str) -> dict[str, Judgement]:
                said = prompts.decided(reply)
                return {} if said is None else {paper.paper_id: Judgement(said[0], None, said[1])}

            data = {"question": question, **_shown(paper)}
            return self._request(prompts.PASA_JUDGE, data, read)

        return [request(paper) for paper in papers]

    def _request(self, told: str, data: Mapping[str, Any], read: Any) -> Request:
        user = prompts.pasa_prompt(told, data)
        system = prompts.PASA_SYSTEM
        return Request(lambda: self._model.complete(system, user), read, system + user)


def mind_of(model: WritingModel, protocol: str) -> Mind:
    """Choose the way to speak to a model.

    Parameters
    ----------
    model : WritingModel
    protocol : {"auto", "json", "pasa"}

    Returns
    -------
    Mind
    """
    is_pasa = protocol == "pasa" or (protocol == "auto" and "pasa" in model.model.casefold())
    return PasaMind(model) if is_pasa else JsonMind(model)


def _shown(paper: Paper) -> dict[str, Any]:
    return {"title": paper.title, "year": paper.year, "abstract": paper.abstract}
