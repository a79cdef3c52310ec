"""Read benchmarks of retrieval: questions, and the papers that answer them."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from landscape.errors import InputError
from landscape.evaluation.lines import checked_question, json_lines, read_text
from landscape.evaluation.queries import Query, resolve_queries
from landscape.evaluation.trec import is_qrels, read_trec

__all__ = ["Query", "read_queries", "resolve_queries"]

_KINDS = (
    'JSON lines with "qid", "question" or "similar_to", and "relevant"; pathfinder\'s two JSON '
    "files; PaSa's JSON lines; CiteME's CSV; TREC qrels with topics beside them"
)


def read_queries(path: str | Path) -> list[Query]:
    """Read a benchmark, whichever of the known formats it has.

    Parameters
    ----------
    path : path
        A file, or a folder with TREC's qrels and topics. JSON lines ``{"qid", "question",
        "relevant": [ids]}`` (optionally with ``"grades": {id: grade}``), or ``{"qid",
        "similar_to": [ids], "relevant": [ids]}`` where papers like others are sought; pathfinder's
        ``{"arxiv_id": {"question_abstract": ...}}`` and ``{"key": {"question": ..., "arxiv":
        [...]}}``; PaSa's JSON lines (``question``, ``answer``, ``answer_arxiv_id``); CiteME's CSV
        (``excerpt``, ``target_paper_title``); TREC qrels.

    Returns
    -------
    list of Query
        In the order of the file. Queries of qrels without any relevant paper are left out.

    Raises
    ------
    InputError
        If it is none of these, or is damaged: one sentence with the line.

    Examples
    --------
    >>> read_queries("no-such-file.jsonl")
    Traceback (most recent call last):
    landscape.errors.InputError: There is no file no-such-file.jsonl; give a benchmark: ...
    """
    path = Path(path)
    if path.is_dir():
        return read_trec(path)
    text = read_text(path, wanted=f"a benchmark: {_KINDS}")
    head = text.lstrip()[:1]
    if head == "{":
        queries = _read_json(text, path)
    elif is_qrels(text.lstrip().partition("\n")[0]):
        queries = read_trec(path)
    elif "excerpt" in text.partition("\n")[0]:
        queries = _read_citeme(text, path)
    else:
        raise InputError(f"{path} is no benchmark that can be read; these can: {_KINDS}.")
    if not queries:
        raise InputError(f"{path} holds no question with a relevant paper.")
    seen: set[str] = set()
    for query in queries:
        if query.qid in seen:
            raise InputError(
                f"{path} has two questions with the id {query.qid!r}; give each its own."
            )
        seen.add(query.qid)
    return queries


def _read_json(text: str, path: Path) -> list[Query]:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, dict) and whole and all(isinstance(v, dict) for v in whole.values()):
        return [_pathfinder(key, value, path) for key, value in whole.items()]
    return [_record(record, number, path) for number, record in json_lines(text, path)]


def _pathfinder(key: str, value: Mapping[str, Any], path: Path) -> Query:
    """One entry of pathfinder's files: a question to one abstract, or to several papers."""
    where = f"{path}, entry {key!r},"
    if "question_abstract" in value:
        return Query(key, checked_question(value["question_abstract"], where), (key,))
    if "question" in value and "arxiv" in value:
        return Query(
            key, checked_question(value["question"], where), _names(value["arxiv"], where, "arxiv")
        )
    raise InputError(
        f'{where} has neither "question_abstract" nor "question" with "arxiv"; it has: '
        f"{', '.join(value) or 'nothing'}."
    )


def _record(record: Mapping[str, Any], number: int, path: Path) -> Query:
    """One line of the project's own format, or of PaSa's."""
    where = f"{path}, line {number},"
    if "similar_to" in record and "relevant" in record:
        seeds = _names(record["similar_to"], where, "similar_to")
        names = _names(record["relevant"], where, "relevant")
        return Query(str(record.get("qid", number)), "", names, similar_to=seeds)
    if "question" not in record:
        raise InputError(
            f'{where} has no "question"; it has: {", ".join(record) or "nothing"}. Known: {_KINDS}.'
        )
    question = checked_question(record["question"], where)
    qid = str(record.get("qid", number))
    if "relevant" in record:
        grades = record.get("grades") or {}
        if not isinstance(grades, dict) or not all(
            isinstance(grade, int | float) and 0 < grade < math.inf for grade in grades.values()
        ):
            raise InputError(
                f'{where} needs numbers above 0 in "grades", as {{"2401.00001": 2}}; leave out '
                "papers that are not relevant."
            )
        return Query(qid, question, _names(record["relevant"], where, "relevant"), grades)
    if record.get("answer_arxiv_id"):
        names = _names(record["answer_arxiv_id"], where, "answer_arxiv_id")
        return Query(qid, question, names)
    if "answer" in record:
        return Query(qid, question, _names(record["answer"], where, "answer"), by="title")
    raise InputError(
        f'{where} has no "relevant" papers; it has: {", ".join(record)}. Add a list of their ids.'
    )


def _names(value: object, where: str, name: str) -> tuple[str, ...]:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not listed or not all(
        isinstance(item, str) and item.strip() for item in listed
    ):  # fmt: skip
        raise InputError(f'{where} needs a list of papers in "{name}", not {str(value)[:40]!r}.')
    return tuple(dict.fromkeys(item.strip() for item in listed))


def _read_citeme(text: str, path: Path) -> list[Query]:
    """CiteME (Press et al. 2024, arXiv:2407.12861): an excerpt, and the title that it cites."""
    queries = []
    rows = csv.DictReader(text.splitlines(keepends=True))
    if not {"excerpt", "target_paper_title"} <= set(rows.fieldnames or ()):
        raise InputError(
            f"{path} needs the columns excerpt and target_paper_title; it has: "
            f"{', '.join(rows.fieldnames or ('none',))}."
        )
    try:
        for number, row in enumerate(rows, 1):
            where = f"{path}, row {number},"
            title = (row["target_paper_title"] or "").strip()
            if not title:
                raise InputError(f"{where} has no target_paper_title.")
            qid = (row.get("id") or "").strip() or str(number)
            queries.append(
                Query(qid, checked_question(row["excerpt"], where), (title,), by="title")
            )
    except csv.Error as error:
        raise InputError(f"{path} cannot be read as CSV ({error}).") from None
    return queries
