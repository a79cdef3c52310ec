"""Every command and panel that can use a language model, with a real but weak model.

SmolLM2-135M writes fluent nonsense, so these tests assert what must hold for any model: the exit
status, the JSON, the citations, the marks of unsupported sentences, and the notes on failures.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import landscape
from benchmarks.claims import write_claims
from landscape import Atlas
from landscape.answers import check_claims, describe_regions
from landscape.answers.agreement import missing_numbers
from landscape.cli import main
from landscape.corpus.demo import write_demo
from landscape.errors import RemoteError
from landscape.llm import connect
from landscape.llm.region_names import MAX_NAME
from landscape.types import Claim, Paper
from tests.agents.citing_models import excerpt_of, some_paper
from tests.evaluation.test_making import made_atlas
from tests.servers.openai_server import KEY
from tests.servers.small_model_server import INVENTED, MODEL, SmallModelServer, missing_packages
from tests.timing import time_limit

pytestmark = [
    pytest.mark.language_model,
    pytest.mark.skipif(
        bool(missing_packages()),
        reason=f"not installed: {', '.join(missing_packages())}; run `make test-model`",
    ),
]

QUESTION = "How do stellar winds change the evolution of massive stars?"
CONTEXT = "Massive stars lose much of their mass in winds that are driven by"
MARK = re.compile(r"\[(unsupported|contradicted)\]")
MARKS = {"supported": [], "not found": ["unsupported"], "contradicted": ["contradicted"]}
FAILED = re.compile(r"[Ll]anguage model failed|in the wrong form|incomplete answer|cited none")

Run = Callable[..., dict[str, Any]]


# JSON that follows the schema, JSON that does not, and sentences with labels of papers.
SERVERS: dict[str, dict[str, bool]] = {
    "schema": {},
    "free": {"follows_schemas": False},
    "citing": {"cites": True},
}
both = pytest.mark.parametrize("running", ["schema", "free"], indirect=True)
all_three = pytest.mark.parametrize("running", SERVERS, indirect=True)


@pytest.fixture
def running(request: pytest.FixtureRequest) -> Iterator[SmallModelServer]:
    with SmallModelServer(**SERVERS[getattr(request, "param", "citing")]) as server:
        yield server


@pytest.fixture
def model(
    running: SmallModelServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> SmallModelServer:
    monkeypatch.setenv("OPENAI_BASE_URL", running.url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("LANDSCAPE_LLM_MODEL", MODEL)
    monkeypatch.setenv("LANDSCAPE_LLM_CACHE", str(tmp_path / "replies"))
    return running


@pytest.fixture
def run(model: SmallModelServer, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command, and return its JSON document."""

    def run(*words: object) -> dict[str, Any]:
        assert main([*map(str, words), "--json"]) == 0
        document: dict[str, Any] = json.loads(capsys.readouterr().out)
        return document

    return run


def paper_of(atlas: Atlas, name: str) -> Paper:
    return atlas.engine.papers([atlas.engine.row_of(name)])[0]


def check_claim(atlas: Atlas, claim: dict[str, Any], *, rewritten: bool = False) -> None:
    """The cited papers exist, and a supported claim has evidence and no other numbers."""
    papers = {label: paper_of(atlas, label) for label in claim["citations"]}
    for sentence in claim["evidence"]:
        paper = papers[sentence["label"]]
        assert sentence["text"] in f"{paper.title}\n{paper.abstract}"
    if claim["verdict"] == "supported":
        assert claim["evidence"]
        if not rewritten:
            whole = " ".join(f"{paper.title} {paper.abstract}" for paper in papers.values())
            assert not missing_numbers(claim["text"], whole), claim


def check_answer(atlas: Atlas, answer: dict[str, Any], *, rewritten: bool = False) -> None:
    """Every label is one of the papers found, and every unsupported sentence has its mark."""
    labels = {paper["label"] for paper in answer["results"]["results"]}
    for claim in answer["claims"]:
        assert set(claim["citations"]) <= labels
        check_claim(atlas, claim, rewritten=rewritten)
    shown = [mark for claim in answer["claims"] for mark in MARKS[claim["verdict"]]]
    assert MARK.findall(answer["text"]) == shown
    groups = re.findall(r"\[([^\]]+)\]", answer["text"])
    parts = {part for group in groups for part in group.split("; ")}
    assert {part for part in parts if re.match(r"\d{4}[A-Za-z]|arXiv:", part)} <= labels
    assert INVENTED not in answer["text"]
    assert not any("no language model is connected" in note for note in answer["notes"])
    if answer["method"] == "extractive":
        reasons = [note for note in answer["notes"] if FAILED.search(note)]
        assert reasons or not answer["results"]["matched"], answer["notes"]
    else:
        assert answer["method"] == MODEL
        assert answer["claims"] or answer["abstained"]


ASKED: dict[str, list[str]] = {
    "rag": ["--question-type", "single-paper factual"],
    "react": ["--generation", "react"],
    "consensus": ["--question-type", "consensus", "--style", "multi-paper"],
    "nuanced": ["--style", "nuanced", "--question-type", "compositional"],
    "rewritten": ["--language", "German", "--audience", "public"],
    "bibliographic": ["--question-type", "multi-paper factual (bibliographic)"],
}


@all_three
@pytest.mark.parametrize("options", ASKED.values(), ids=ASKED)
def test_ask(run: Run, model: SmallModelServer, demo_atlas: Atlas, options: list[str]) -> None:
    answer = run("ask", demo_atlas.path, QUESTION, "-k", "2", *options)
    assert model.written
    check_answer(demo_atlas, answer, rewritten="--language" in options)
    if model.cites and "single-paper factual" in options:
        assert answer["method"] == MODEL
        assert answer["claims"]
    consensus = answer["consensus"]
    if "consensus" in options and consensus is None:
        assert any("agreement of the papers was not judged" in note for note in answer["notes"])
    for stance in consensus["stances"] if consensus else ():
        assert (stance["position"] == "irrelevant") == (stance["evidence"] is None)
        paper_of(demo_atlas, stance["paper_id"])
    for step in answer["trace"]:
        for label in step["labels"]:
            paper_of(demo_atlas, label)


def test_a_follow_up_and_a_region(model: SmallModelServer, demo_atlas: Atlas) -> None:
    first = demo_atlas.ask(QUESTION, model=None, k=2)
    answer = demo_atlas.ask("And which of them are dusty?", thread=[first], k=2)
    assert answer.question == "And which of them are dusty?"
    check_answer(demo_atlas, json.loads(json.dumps(answer.to_dict(), default=str)))
    region = demo_atlas.topics["label"].iloc[0]
    described = describe_regions(demo_atlas, region, model=connect())
    assert described.table["paragraph"].iloc[0]
    assert described.warnings


def test_search_with_a_hypothetical_abstract(
    run: Run, model: SmallModelServer, demo_atlas: Atlas
) -> None:
    found = run("search", demo_atlas.path, QUESTION, "--hyde", "-k", "3")
    assert len(found["results"]) == 3
    assert len(model.written) == 1


@both
@pytest.mark.parametrize("protocol", ["json", "pasa"])
def test_survey(run: Run, model: SmallModelServer, demo_atlas: Atlas, protocol: str) -> None:
    limits = ("--depth", "1", "--breadth", "2", "--papers", "4", "--calls", "6", "--expand", "1")
    found = run("survey", demo_atlas.path, QUESTION, *limits, "--protocol", protocol)
    assert 0 < found["spent"]["calls"] <= 6
    assert 0 < len(found["papers"]) <= 4
    for paper in found["papers"]:
        paper_of(demo_atlas, paper["paper_id"])
        assert paper["judged_by"] in ("similarity", MODEL)
        assert 0 <= paper["score"] <= 1
    if any(paper["judged_by"] == "similarity" for paper in found["papers"]):
        assert found["notes"]


@pytest.fixture(scope="module")
def cited_atlas(tmp_path_factory: pytest.TempPathFactory) -> Atlas:
    return made_atlas(tmp_path_factory.mktemp("made"))


@pytest.mark.parametrize("running", ["schema"], indirect=True)
@pytest.mark.parametrize("kind", ["questions", "excerpts"])
def test_benchmarks_are_made_and_one_table_is_printed(
    run: Run, model: SmallModelServer, cited_atlas: Atlas, tmp_path: Path, kind: str
) -> None:
    path, prices = tmp_path / "made.jsonl", ("--prices", "1", "2")
    words = ("evaluate", "make", kind, cited_atlas.path, "-o", path, "--n", "2", "--model", *prices)
    made = run(*words)
    assert model.written
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert len(rows) == made["rows"] <= 2
    n_asked = 28 if kind == "questions" else 4  # if fewer rows are made, all others were omitted
    assert made["rows"] == 2 or made["rows"] + sum(made["omitted"].values()) == n_asked
    assert {row["by"] for row in rows} <= {MODEL}
    if kind == "excerpts":
        assert all(row["known"] in (True, False) for row in rows)
        return
    queries = tmp_path / "plain.jsonl"
    run("evaluate", "make", "questions", cited_atlas.path, "-o", queries, "--n", "3")
    table = run("evaluate", "retrieval", cited_atlas.path, "--queries", queries, "--model")
    assert 0 <= table["HyDE"]["mrr"] <= 1
    assert list(table["left_out"]) == ["HyDE, reranker"]


@both
def test_attribute(run: Run, model: SmallModelServer, demo_atlas: Atlas) -> None:
    excerpt = excerpt_of(some_paper(demo_atlas))
    found = run("attribute", demo_atlas.path, excerpt, "--max-actions", "2")
    assert model.written
    assert found["guesses"]
    shown = {label for step in found["trace"] for label in step["labels"]}
    for label in (*shown, *(guess["label"] for guess in found["guesses"])):
        paper_of(demo_atlas, label)
    if found["paper"]:
        assert found["paper"]["label"] in shown
    else:
        assert any(
            FAILED.search(note) or "selected no paper" in note for note in found["notes"]
        ) or (found["trace"][-1]["action"] == "give up")
    assert found["partial"] == any(FAILED.search(note) for note in found["notes"])


@both
def test_cite(run: Run, model: SmallModelServer, demo_atlas: Atlas) -> None:
    found = run("cite", demo_atlas.path, CONTEXT, "-k", "2")
    assert model.written
    without = 0
    for one in found["suggestions"]:
        paper = paper_of(demo_atlas, one["paper_id"])
        if one["sentence"] is None:
            without += 1
            continue
        assert one["sentence"]["verdict"] == "supported"
        assert not missing_numbers(one["sentence"]["text"], paper.abstract)
        assert all(sentence["text"] in paper.abstract for sentence in one["sentence"]["evidence"])
    assert not without or found["notes"]
    assert found["partial"] == any("No citing sentences" in note for note in found["notes"])


def write_draft(atlas: Atlas, folder: Path) -> list[str]:
    """Write a draft that cites a paper with one of its sentences, and with another number."""
    paper = some_paper(atlas)
    sentence = excerpt_of(paper).split(". ")[1].removesuffix(" [CITATION]")
    (folder / "r.bib").write_text(
        f"@article{{a, title={{{paper.title}}}, bibcode={{{paper.bibcode}}}, year={{{paper.year}}},"
        f" author={{{paper.authors[0]}}}, abstract={{{paper.abstract}}}}}"
    )
    (folder / "d.tex").write_text(
        f"{sentence} \\cite{{a}}. Their winds reach 98765 km/s in 4321 stars \\cite{{a}}. "
        "Dust is cold \\cite{missing}."
    )
    return ["check", str(folder / "r.bib"), str(folder / "d.tex"), "--atlas", str(atlas.path)]


@both
def test_check(run: Run, model: SmallModelServer, demo_atlas: Atlas, tmp_path: Path) -> None:
    found = run(*write_draft(demo_atlas, tmp_path))
    assert model.written
    good, wrong, missing = found["citations"]
    assert wrong["verdict"] not in ("supported", "near")
    assert missing["verdict"] == "not in the bibliography"
    assert good["paper"]["label"] == wrong["paper"]["label"] == some_paper(demo_atlas).label
    assert found["partial"] == any(FAILED.search(note) for note in found["notes"])


def test_evaluate(run: Run, model: SmallModelServer, demo_atlas: Atlas, tmp_path: Path) -> None:
    run("evaluate", "citing", demo_atlas.path, "--n", "1", "--model")
    assert model.written
    paper = some_paper(demo_atlas)
    case = {"qid": "1", "excerpt": excerpt_of(paper), "answer": paper.label}
    (tmp_path / "cases.jsonl").write_text(json.dumps(case))
    model.written.clear()
    run(
        "evaluate",
        "attribution",
        demo_atlas.path,
        "--excerpts",
        tmp_path / "cases.jsonl",
        "--model",
    )
    assert model.written


def test_names_of_regions(
    model: SmallModelServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = write_demo(tmp_path / "corpus", n_papers=120, seed=1)
    words = ["build", files.papers, "--out", tmp_path / "a.atlas", "--workers", "1", "--polish"]
    assert main(list(map(str, words))) == 0
    assert model.written
    assert "Traceback" not in capsys.readouterr().err
    assert all(
        3 <= len(name) <= MAX_NAME for name in landscape.open(tmp_path / "a.atlas").topics["label"]
    )


def test_everyday_names(
    model: SmallModelServer, demo_atlas: Atlas, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "map.png"
    assert main(["render", str(demo_atlas.path), "-o", str(picture), "--everyday"]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert model.written
    assert "Traceback" not in capsys.readouterr().err


def test_tools_of_assistants(model: SmallModelServer, demo_atlas: Atlas) -> None:
    from mcp import Client, StdioServerParameters

    calls: dict[str, dict[str, Any]] = {
        "ask": {"question": QUESTION, "k": 2},
        "survey": {"question": QUESTION, "papers": 3},
        "attribute": {"excerpt": excerpt_of(some_paper(demo_atlas))},
    }
    command = ["-m", "landscape.cli", "mcp", str(demo_atlas.path), "--model"]
    server = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))

    async def talk() -> dict[str, Any]:
        async with Client(server, read_timeout_seconds=time_limit(600)) as client:
            replies = {name: await client.call_tool(name, given) for name, given in calls.items()}
        assert not any(reply.is_error for reply in replies.values()), replies
        return {name: reply.structured_content for name, reply in replies.items()}

    replies = asyncio.run(talk())
    assert model.written
    assert set(replies) == set(calls)
    text = json.dumps(replies)
    for label in set(re.findall(r'"label": "([^"]+)"', text)):
        paper_of(demo_atlas, label)


def test_panels(model: SmallModelServer, demo_atlas: Atlas, tmp_path: Path) -> None:
    pytest.importorskip("ipywidgets")
    from landscape.widgets import AskPanel, CitationPanel, SurveyPanel, WritingPanel

    asking = AskPanel(demo_atlas)
    asking.ask(QUESTION, k=2, question_type="single-paper factual")
    survey = SurveyPanel(demo_atlas, question=QUESTION, depth=1, breadth=1, papers=3, calls=3)
    survey.survey()
    citation = CitationPanel(demo_atlas, excerpt=excerpt_of(some_paper(demo_atlas)))
    citation.find(max_actions=1)
    writing = WritingPanel(demo_atlas)
    writing.cite(CONTEXT, k=2)
    for panel in (asking, survey, citation, writing):
        assert panel.wait(time_limit(300))
        assert panel.value is not None, panel.status
    assert asking.value
    check_answer(demo_atlas, json.loads(json.dumps(asking.value.to_dict(), default=str)))
    writing.choose([writing.value.suggestions[0].paper.label])
    writing.write("How stars lose mass")
    assert writing.wait(time_limit(300))
    assert writing.paragraph is not None
    assert {paper.label for paper in writing.paragraph.papers} <= {
        one.paper.label for one in writing.value.suggestions
    }
    bibliography, draft = write_draft(demo_atlas, tmp_path)[1:3]
    writing.check(bibliography, draft)
    assert writing.wait(time_limit(300))
    assert writing.draft_check is not None
    assert model.written


def test_made_up_labels_numbers_and_sentences(model: SmallModelServer, demo_atlas: Atlas) -> None:
    """Sentences of the model on a paper are marked, and labels of other papers are dropped."""
    chat = connect()
    claims: list[Claim] = []
    for row in (7, 20, 33, 46):
        with suppress(RemoteError):  # some replies never end
            claims += write_claims(chat, some_paper(demo_atlas, row), checker=chat)
    assert claims
    for claim in claims:
        check_claim(demo_atlas, claim.to_dict())
    paper = some_paper(demo_atlas)
    text = f"{claims[0].text.rstrip('.')} [{INVENTED}]. It is 98765 K [{paper.label}]."
    checked = check_claims(text, [paper], model=chat)
    assert INVENTED not in checked.text
    assert checked.unknown == (INVENTED,)
    assert [claim.verdict for claim in checked.claims] == ["not found", "not found"]
    assert MARK.findall(checked.text) == ["unsupported", "unsupported"]


def test_a_time_limit_holds(run: Run, demo_atlas: Atlas, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANDSCAPE_LLM_TIMEOUT", "1")
    deadline = time.monotonic() + time_limit(30)
    answer = run("ask", demo_atlas.path, QUESTION, "-k", "8", "--question-type", "compositional")
    assert time.monotonic() < deadline
    assert answer["method"] == "extractive"
    assert any("gave no answer within 1 s" in note for note in answer["notes"])
