"""Questions made from papers have one answer each and depend on the seed only."""

from __future__ import annotations

import pytest

import landscape
from landscape.errors import InputError
from landscape.evaluation import evaluate_retrieval, known_items


def test_each_asks_for_one_paper_by_its_own_key_words(demo_atlas: landscape.Atlas) -> None:
    queries = known_items(demo_atlas, n=12, seed=3)
    papers = demo_atlas.read_papers(["paper_id", "keywords"]).set_index("paper_id")["keywords"]
    assert len({query.relevant for query in queries}) == 12
    for query in queries:
        assert query.question.split(", ") == ", ".join(papers[query.relevant[0]][:4]).split(", ")
    assert queries == known_items(demo_atlas, n=12, seed=3)
    assert queries != known_items(demo_atlas, n=12, seed=4)


def test_the_default_search_finds_most_of_them(demo_atlas: landscape.Atlas) -> None:
    found = evaluate_retrieval(
        demo_atlas, known_items(demo_atlas, n=10), steps={"default": {}}, tf_idf=False
    )
    assert found.counts["queries_known"] == 10
    assert found.scores["default"].summary()["success@10"] >= 0.9


def test_no_question_is_an_error(demo_atlas: landscape.Atlas) -> None:
    with pytest.raises(InputError, match="n is 0"):
        known_items(demo_atlas, n=0)
