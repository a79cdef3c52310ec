"""Read the questions of benchmarks from files."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from landscape._wording import one_line
from landscape.corpus.identifiers import parse_arxiv_id, parse_doi
from landscape.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from landscape.store import AtlasStore

KEYWORDS = 4
"""Number of keywords of a paper in a question without a language model."""
MAX_SIZE = 200_000_000  # maximum size of a file in bytes


def read_text(path: Path, *, wanted: str) -> str:
    """Read a small UTF-8 file; raise InputError with the file name and the reason."""
    if not path.is_file():
        raise InputError(f"There is no file {path}; give {wanted}.")
    if path.stat().st_size > MAX_SIZE:
        raise InputError(f"{path} has more than {MAX_SIZE:,} bytes; give a smaller benchmark.")
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text ({error.reason}); save it as UTF-8.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); check the file.") from None


def json_lines(text: str, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read JSON lines; yield each line number with its object."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}, line {number}, is not JSON ({error}); correct it.") from None
        if not isinstance(record, dict):
            raise InputError(f"{path}, line {number}, is not a JSON object: {line[:40]!r}.")
        yield number, record


def checked_question(value: object, where: str) -> str:
    """Strip a question of white space; raise InputError if it is empty or not text."""
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where} needs a question in words, not {str(value)[:40]!r}.")
    return value.strip()


def known_rows(atlas: AtlasStore, names: Iterable[str]) -> set[int]:
    """Return the rows of the named papers; names of papers outside the atlas are ignored."""
    from landscape.search import open_engine

    rows = set()
    for name in names:
        with suppress(InputError):
            rows.add(open_engine(atlas).row_of(name))
    return rows


_NOT_LETTERS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Query:
    """Query of a benchmark, which is a question or a set of papers for a similarity search.

    Attributes
    ----------
    qid : str
        Identifier of the query.
    question : str
        Text of the question; empty if `similar_to` is given.
    relevant : tuple of str
        Papers that answer the question, as paper ids, arXiv ids, bibcodes, DOIs or titles.
    grades : mapping of str to float
        Relevance of each paper; 1 if the benchmark has no grades.
    by : {"id", "title"}
        Kind of the names in `relevant`.
    similar_to : tuple of str
        Papers for a similarity search, with names as in `relevant`.
    source : str
        Paper that the question was made from, which is no answer.

    Examples
    --------
    >>> Query("1", "Does dust cool?", ("2401.00001",)).grade("2401.00001")
    1.0
    """

    qid: str
    question: str
    relevant: tuple[str, ...]
    grades: Mapping[str, float] = field(default_factory=dict)
    by: Literal["id", "title"] = "id"
    similar_to: tuple[str, ...] = ()
    source: str = ""

    def grade(self, paper: str) -> float:
        """Return the relevance of a paper, which is 0 if the paper is not listed."""
        return float(self.grades.get(paper, 1.0)) if paper in self.relevant else 0.0


def resolve_queries(
    queries: Sequence[Query], papers: pd.DataFrame
) -> tuple[list[Query], dict[str, int]]:
    """Replace names of papers by their ids in an atlas, and count the queries."""
    ids = _identifiers(papers)
    titles: dict[str, str] = {}
    if "title" in papers and any(query.by == "title" for query in queries):
        titles = dict(
            zip(map(_title_key, papers["title"].fillna("")), papers["paper_id"], strict=True)
        )
    titles.pop("", None)  # titles without letters have an empty key
    resolved = [
        _resolved(query, titles, _title_key)
        if query.by == "title"
        else _resolved(query, ids, _plain_id)
        for query in queries
    ]
    kept = [
        query
        for query, asked in zip(resolved, queries, strict=True)
        if query.relevant and len(query.similar_to) == len(asked.similar_to)
    ]
    return kept, {
        "queries": len(queries),
        "queries_known": len(kept),
        "relevant": sum(len(query.relevant) for query in queries),
        "relevant_known": sum(len(query.relevant) for query in kept),
    }


def identifiers_of(atlas: AtlasStore) -> dict[str, str]:
    """Return the ids of the papers by each of their identifiers, in lower case."""
    return _identifiers(atlas.read_papers(["paper_id", "arxiv_id", "bibcode", "doi"]))


def _identifiers(papers: pd.DataFrame) -> dict[str, str]:
    ids: dict[str, str] = {}
    for column in ("doi", "bibcode", "arxiv_id", "paper_id"):  # later columns have priority
        if column in papers:
            known = papers[column].notna()
            keys = papers.loc[known, column].astype(str).str.lower()
            ids.update(zip(keys, papers.loc[known, "paper_id"], strict=True))
    return ids


def _resolved(query: Query, paper_ids: Mapping[str, str], key: Callable[[str], str]) -> Query:
    grades: dict[str, float] = {}
    for name in query.relevant:
        found = paper_ids.get(key(name))
        if found is not None:
            grades[found] = max(grades.get(found, 0.0), query.grade(name))
    sought = [paper_ids.get(key(name)) for name in query.similar_to]
    return replace(
        query,
        relevant=tuple(grades),
        grades=grades,
        by="id",
        source=paper_ids.get(key(query.source), query.source),
        similar_to=tuple(paper for paper in sought if paper is not None),
    )


def _plain_id(name: str) -> str:
    return (parse_arxiv_id(name) or parse_doi(name) or name).lower()


def _title_key(title: str) -> str:
    return _NOT_LETTERS.sub("", title.casefold())


_KINDS = (
    'JSON lines with "qid", "question" or "similar_to", and "relevant"; pathfinder\'s two JSON '
    "files; PaSa's JSON lines; CiteME's CSV; TREC qrels with topics in the same folder"
)


def read_queries(path: str | Path) -> list[Query]:
    """Read a benchmark in one of the supported formats.

    Parameters
    ----------
    path : path
        A file, or a folder with qrels and topics of TREC. The formats are:

        - JSON lines ``{"qid", "question", "relevant": [ids]}``, optionally with
          ``"grades": {id: grade}``, or ``{"qid", "similar_to": [ids], "relevant": [ids]}`` for
          similar papers;
        - pathfinder's ``{"arxiv_id": {"question_abstract": ...}}`` and
          ``{"key": {"question": ..., "arxiv": [...]}}``;
        - PaSa's JSON lines (``question``, ``answer``, ``answer_arxiv_id``);
        - CiteME's CSV (``excerpt``, ``target_paper_title``);
        - TREC qrels.

    Returns
    -------
    list of Query
        Queries in the order of the file. Queries without a relevant paper in qrels are omitted.

    Raises
    ------
    InputError
        If the format is unknown or the file is damaged. The message contains the line number.

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
        raise InputError(f"The format of {path} is unknown; use one of: {_KINDS}.")
    if not queries:
        raise InputError(
            f"No question in {path} has a relevant paper; list the relevant papers of questions."
        )
    seen: set[str] = set()
    for query in queries:
        if query.qid in seen:
            raise InputError(
                f"{path} has two questions with the id {query.qid!r}; give each a different id."
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


def _pathfinder(key: str, value: Mapping[str, object], path: Path) -> Query:
    """Read a question about one abstract or several papers from a file of pathfinder."""
    where = f"{path}, entry {key!r},"
    if "question_abstract" in value:
        return Query(key, checked_question(value["question_abstract"], where), (key,))
    if "question" in value and "arxiv" in value:
        return Query(
            key, checked_question(value["question"], where), _names(value["arxiv"], where, "arxiv")
        )
    raise InputError(
        f'{where} has neither "question_abstract" nor "question" with "arxiv"; the '
        f"fields are: {', '.join(value) or 'none'}."
    )


def _record(record: Mapping[str, object], number: int, path: Path) -> Query:
    """Read a line in the format of this package or of PaSa."""
    where = f"{path}, line {number},"
    if "similar_to" in record and "relevant" in record:
        seeds = _names(record["similar_to"], where, "similar_to")
        names = _names(record["relevant"], where, "relevant")
        return Query(str(record.get("qid", number)), "", names, similar_to=seeds)
    if "question" not in record:
        raise InputError(
            f'{where} has no "question"; the fields are: {", ".join(record) or "none"}. '
            f"Use one of the known formats: {_KINDS}."
        )
    question = checked_question(record["question"], where)
    qid = str(record.get("qid", number))
    if "relevant" in record:
        grades = record.get("grades") or {}
        if not isinstance(grades, dict) or not all(
            isinstance(grade, int | float) and 0 < grade < math.inf for grade in grades.values()
        ):
            raise InputError(
                f'{where} needs numbers above 0 in "grades", for example {{"2401.00001": 2}}; omit '
                "papers that are not relevant."
            )
        names = _names(record["relevant"], where, "relevant")
        return Query(qid, question, names, grades, source=str(record.get("source") or ""))
    if record.get("answer_arxiv_id"):
        names = _names(record["answer_arxiv_id"], where, "answer_arxiv_id")
        return Query(qid, question, names)
    if "answer" in record:
        return Query(qid, question, _names(record["answer"], where, "answer"), by="title")
    raise InputError(
        f'{where} has no "relevant" papers; the fields are: {", ".join(record)}. Add a list of '
        "paper ids."
    )


def _names(value: object, where: str, name: str) -> tuple[str, ...]:
    listed = [value] if isinstance(value, str) else value
    if (
        not isinstance(listed, list)
        or not listed
        or not all(isinstance(item, str) and item.strip() for item in listed)
    ):
        raise InputError(f'{where} needs a list of papers in "{name}", not {str(value)[:40]!r}.')
    return tuple(dict.fromkeys(item.strip() for item in listed))


def _read_citeme(text: str, path: Path) -> list[Query]:
    """Read the excerpts of CiteME and the titles they cite (Press et al. 2024)."""
    return [
        Query(qid, excerpt, (row["target_paper_title"].strip(),), by="title")
        for qid, excerpt, row in citeme_rows(text, path)
    ]


def citeme_rows(text: str, path: Path) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield the identifier, the excerpt and all columns of each row of CiteME's CSV file."""
    rows = csv.DictReader(text.splitlines(keepends=True))
    if not {"excerpt", "target_paper_title"} <= set(rows.fieldnames or ()):
        raise InputError(
            f"{path} needs the columns excerpt and target_paper_title; the columns are: "
            f"{one_line(', '.join(rows.fieldnames or ('none',)), most=200)}."
        )
    try:
        for number, row in enumerate(rows, 1):
            where = f"{path}, row {number},"
            if not (row["target_paper_title"] or "").strip():
                raise InputError(f"{where} has no target_paper_title; add the title.")
            qid = (row.get("id") or "").strip() or str(number)
            yield qid, checked_question(row["excerpt"], where), row
    except csv.Error as error:
        raise InputError(f"{path} cannot be read as CSV ({error}); save it again.") from None


_TOPIC = re.compile(
    r"<num>\s*(?:Number:)?\s*(\S+?)\s*(?:</num>)?\s*<title>\s*(?:Topic:)?\s*(.+?)\s*"
    r"(?=</title>|<desc>|</top>|<narr>)",
    re.DOTALL | re.IGNORECASE,
)
_TOPIC_NAMES = ("queries*", "topics*", "*.topics", "*queries*", "*topics*")


def is_qrels(line: str) -> bool:
    """Return whether a line has the qrels format of TREC."""
    parts = line.split()
    return len(parts) == 4 and parts[3].removeprefix("-").isdecimal()


def read_trec(path: Path) -> list[Query]:
    """Read qrels, with lines ``query 0 document grade``, and the topics in the same directory."""
    if path.is_dir():
        path = _only_qrels(path)
    judged: dict[str, dict[str, float]] = {}
    for number, line in enumerate(read_text(path, wanted="qrels").split("\n"), 1):
        if not line.strip():
            continue
        if not is_qrels(line):
            raise InputError(
                f"{path}, line {number}, is not a line of qrels (query, 0, document, grade): "
                f"{line[:40]!r}."
            )
        qid, _, document, grade = line.split()
        judged.setdefault(qid, {})[document] = float(grade)
    topics_path = _topics_beside(path)
    topics = _read_topics(topics_path)
    queries = []
    for qid, grades in judged.items():
        if qid not in topics:
            raise InputError(
                f"{path} has the query {qid!r}, but {topics_path} does not; add its topic there."
            )
        positive = {paper: grade for paper, grade in grades.items() if grade > 0}
        if positive:
            queries.append(Query(qid, topics[qid], tuple(positive), positive))
    return queries


def _only_qrels(folder: Path) -> Path:
    qrels = sorted(file for file in folder.iterdir() if "qrel" in file.name.lower())
    if len(qrels) != 1:
        names = ", ".join(file.name for file in qrels) or "none"
        raise InputError(
            f"{folder} must have exactly one file of qrels, but has: {names}. Pass the path of the "
            "file, and keep the topics in the same folder."
        )
    return qrels[0]


def _topics_beside(path: Path) -> Path:
    for pattern in _TOPIC_NAMES:
        for file in sorted(path.parent.glob(pattern)):
            if file != path and file.is_file() and "qrel" not in file.name.lower():
                return file
    raise InputError(
        f"There are no topics in the folder of {path}; add a file such as queries.jsonl."
    )


def _read_topics(path: Path) -> dict[str, str]:
    """Read topics from JSON lines, from the markup of TREC, or from lines "id TAB text"."""
    text = read_text(path, wanted="qrels")
    if text.lstrip()[:1] == "{":
        return dict(_json_topic(record, n, path) for n, record in json_lines(text, path))
    topics = {topic[1]: " ".join(topic[2].split()) for topic in _TOPIC.finditer(text)}
    if not topics:
        lines = (line.split("\t", 1) for line in text.split("\n") if "\t" in line)
        topics = {qid.strip(): question.strip() for qid, question in lines}
    if not topics:
        raise InputError(
            f"{path} has no topics; use JSON lines, <num> and <title>, or lines with id TAB text."
        )
    return topics


def _json_topic(record: Mapping[str, object], number: int, path: Path) -> tuple[str, str]:
    where = f"{path}, line {number},"
    names = ("query_id", "qid", "_id", "id"), ("text", "question", "query", "title")
    values = [next((record[n] for n in group if n in record), None) for group in names]
    if values[0] is None:
        raise InputError(f"{where} has no query_id; it has: {', '.join(record)}.")
    return str(values[0]), checked_question(values[1], where)
