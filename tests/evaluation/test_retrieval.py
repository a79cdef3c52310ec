"""Evaluation of retrieval, compared with an independent computation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from landscape.cli import main
from landscape.errors import InputError
from landscape.evaluation import Query, evaluate_retrieval, read_queries
from landscape.llm import connect
from landscape.store import AtlasStore as Atlas
from tests.servers.openai_server import KEY, OpenAIServer


@pytest.fixture(scope="module")
def benchmark(demo_atlas: Atlas, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Last sentences of abstracts as questions, and a question about a missing paper."""
    papers = demo_atlas.read_papers(["paper_id", "abstract"]).iloc[::25]
    lines = [
        {"qid": paper, "question": abstract.rstrip(".").split(". ")[-1], "relevant": [paper]}
        for paper, abstract in zip(papers["paper_id"], papers["abstract"], strict=True)
    ]
    lines.append({"qid": "stranger", "question": "Which?", "relevant": ["9999.99999"]})
    path = tmp_path_factory.mktemp("benchmark") / "questions.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_the_command_prints_the_default_and_the_others_beside_it(
    demo_atlas: Atlas, benchmark: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["evaluate", "retrieval", str(demo_atlas.path), "--queries", str(benchmark)]
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["n"] == 16
    assert found["counts"] == {
        "queries": 17,
        "queries_known": 16,
        "relevant": 17,
        "relevant_known": 16,
    }
    for name in ("tf-idf", "words", "semantic", "fusion of ranks", "fusion"):
        assert 0.3 < found[name]["success@10"] <= 1
        assert found[name]["median_seconds"] > 0
    low, high = found["intervals_95"]["success@10"]
    assert low <= found["success@10"] <= high
    by_hand = []
    for line in benchmark.read_text(encoding="utf-8").splitlines()[:-1]:
        query = json.loads(line)
        hits = demo_atlas.search(query["question"], k=100).papers
        ranks = [place for place, paper in enumerate(hits, 1) if paper.paper_id == query["qid"]]
        by_hand.append(1 / ranks[0] if ranks else 0.0)
    assert found["mrr"] == pytest.approx(sum(by_hand) / len(by_hand), abs=1e-6)
    assert main(command) == 0
    table = capsys.readouterr().out
    assert table.startswith("16 of 17 questions have an answer in this atlas.")
    assert "default over words: mrr" in table


def test_a_benchmark_of_other_papers_is_told(demo_atlas: Atlas) -> None:
    with pytest.raises(InputError, match="None of the 1 questions has a relevant paper"):
        evaluate_retrieval(demo_atlas, [Query("1", "?", ("9999.99999",))])


def test_papers_like_others_are_sought_without_those(demo_atlas: Atlas) -> None:
    seed = demo_atlas.read_papers(["paper_id"])["paper_id"][7]
    nearest = demo_atlas.similar(seed, k=1).papers[0]
    query = Query("1", "", (nearest.paper_id,), similar_to=(seed,))
    own = Query("2", "", (seed,), similar_to=(seed,))
    found = evaluate_retrieval(demo_atlas, [query, own])
    assert found.scores["default"].values["mrr"].tolist() == [1.0, 0.0]
    assert found.scores["tf-idf"].values["mrr"][1] == 0.0


def test_rows_of_pathfinder_need_a_model_and_a_reranker(
    demo_atlas: Atlas, benchmark: Path, server: OpenAIServer
) -> None:
    abstracts = dict(demo_atlas.read_papers(["paper_id", "abstract"]).itertuples(index=False))
    by_question = {one.question: abstracts.get(one.qid, "") for one in read_queries(benchmark)}

    def reply(body: dict[str, Any]) -> str:
        return by_question[json.loads(body["messages"][1]["content"])["question"]] or "None."

    server.reply = reply
    model = connect(base_url=server.url, api_key=KEY, model="small-chat", retries=0)

    class Reversed:
        """Reranker that prefers the shortest text."""

        name = "shortest"

        def scores(self, _: str, texts: Sequence[str]) -> np.ndarray:
            return -np.array([len(text) for text in texts], dtype=np.float32)

    found = evaluate_retrieval(demo_atlas, benchmark, model=model, reranker=Reversed())
    assert list(found.scores)[-2:] == ["HyDE", "HyDE, reranker"]
    assert found.left_out == {}
    assert len(server.requests) == 16  # one abstract for each question with an answer
    means = {name: one.summary()["mrr"] for name, one in found.scores.items()}
    assert means["HyDE"] > max(means["semantic"], means["HyDE, reranker"])
