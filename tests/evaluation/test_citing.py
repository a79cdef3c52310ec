"""Recall of papers to cite, with and without keywords, and ROUGE of citing sentences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from landscape import Atlas
from landscape.errors import InputError
from landscape.evaluation import evaluate_citing
from landscape.evaluation.citing import Place, places_from_graph, read_places, rouge
from landscape.llm import connect
from tests.agents.citing_models import some_paper
from tests.servers.openai_server import KEY, OpenAIServer


def test_recall_with_and_without_keywords(demo_atlas: Atlas) -> None:
    places = []
    for row in (5, 90, 200):
        paper = some_paper(demo_atlas, row)
        words = paper.title.split()[0]
        places.append(Place(str(row), paper.abstract.split(". ")[0], (paper.paper_id,), words))
    places.append(Place("stranger", "Nothing is known", ("2020Fake..1A",)))
    found = evaluate_citing(demo_atlas, places)
    told = found.to_dict()
    assert told["n"] == 3
    assert told["counts"]["places"] == 4
    assert told["recall@1"] <= told["recall@10"] <= told["recall@100"]
    assert told["recall@10"] == 1.0
    assert told["with keywords"]["recall@10"] == 1.0
    assert told["rouge"] == {}
    assert "recall@10" in found.to_text()
    with pytest.raises(InputError, match="none of the cited papers"):
        evaluate_citing(demo_atlas, places[-1:])


def test_places_out_of_the_citation_graph(demo_atlas: Atlas) -> None:
    if not len(demo_atlas.citations):
        with pytest.raises(InputError):
            places_from_graph(demo_atlas)
        return
    places = places_from_graph(demo_atlas, n=4)
    assert 1 <= len(places) <= 4
    assert places == places_from_graph(demo_atlas, n=4)
    for place in places:
        cited = {one.paper_id for one in demo_atlas.citations.references(place.qid)}
        assert set(place.cited) <= cited
        assert place.citing == place.qid not in place.cited
    assert evaluate_citing(demo_atlas, places[:2]).counts["known"] == 2


def test_the_best_sentence_counts(demo_atlas: Atlas) -> None:
    paper = some_paper(demo_atlas)
    context, truth = paper.abstract.split(". ")[:2]

    def reply(body: dict[str, Any]) -> str:
        shown = json.loads(body["messages"][1]["content"])
        if "claims" in shown:
            first = {p["label"]: next(iter(p["sentences"])) for p in shown["papers"]}
            return json.dumps(
                {
                    "verdicts": [
                        {
                            "claim": c["claim"],
                            "verdict": "supported",
                            "sentences": [first[c["cites"][0]]],
                        }
                        for c in shown["claims"]
                    ]
                }
            )
        texts = ["Something else", truth]
        return json.dumps(
            {
                "sentences": [
                    {"paper": f"p{n}", "sentence": text, "evidence": [f"p{n}s1"]}
                    for n, text in enumerate(texts, 1)
                ]
            }
        )

    with OpenAIServer() as server:
        server.reply = reply
        model = connect(base_url=server.url, api_key=KEY, model="small-chat", retries=0)
        places = [Place("1", context, (paper.paper_id,), sentence=truth)]
        found = evaluate_citing(demo_atlas, places, model=model, n_sentences=2)
    assert found.counts["sentences"] == 1
    assert found.rouge[2]["rouge1"] > 0.9
    assert found.rouge[1]["rouge1"] < found.rouge[2]["rouge1"]
    assert found.to_dict()["rouge"]["rouge1"] > 0.9


def test_rouge_of_highlights(demo_atlas: Atlas) -> None:
    abstract = "We find that dust cools by its infrared lines."
    full = "Much is known. We find that dust cools by infrared lines. Gas is hot everywhere."
    (paper,) = demo_atlas.cite("", ["dust"], k=1).papers
    full_texts = {paper.paper_id: full}
    found = demo_atlas.cite("", ["dust"], k=1, full_texts=full_texts, n_highlights=1)
    [best] = found.suggestions[0].highlights
    assert rouge(best.text, abstract)["rouge1"] > 0.8
    assert rouge("same words", "same words")["rougeL"] == 1.0


def test_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "places.jsonl"
    path.write_text('{"context": "Dust cools", "cited": "a", "keywords": ["dust", "gas"]}\n')
    assert read_places(path) == [Place("1", "Dust cools", ("a",), '"dust";"gas"')]
    path.write_text('{"context": "Dust cools"}\n')
    with pytest.raises(InputError, match="cited"):
        read_places(path)
