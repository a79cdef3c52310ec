"""Replies of a model server, damaged or hostile, give a result or one sentence.

Servers that hang, send without end or fill the memory are in `tests.llm.test_hostile_servers`.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from landscape import Atlas, search
from landscape.agents import AtlasCollection, check_draft
from landscape.embeddings import OpenAIEmbedder
from landscape.errors import LandscapeError, RemoteError
from landscape.llm import HttpReranker, connect
from landscape.llm.prompts import AnswerFilter, find_fault, first_object
from landscape.llm.region_names import polish_names
from landscape.llm.reranking import RetryPolicy

# Private step: names for places of everyday language, which a command requests.
from landscape.outreach.names import ask_names
from tests.properties.hostile import EDITS, HOSTILE, Edit, HostileModel, damaged
from tests.properties.inspection import check_html, check_markdown, check_plain, check_sentence
from tests.servers.openai_server import KEY, OpenAIServer

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
JSON = st.recursive(
    st.one_of(HOSTILE, st.none(), st.booleans(), st.integers(), st.floats()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["choices", "message", "content", "delta", "error", "usage", "data"]),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=8,
)
TEXTS = st.lists(HOSTILE.map(lambda one: one.encode("utf-8", "replace").decode()), min_size=2)
TAGS = st.sampled_from(["<think>", "</think>", "[THINK]", "[/THINK]", "a < b", "dust ", "\n"])


@pytest.fixture(scope="module")
def served() -> Iterator[OpenAIServer]:
    """A server for all examples."""
    with OpenAIServer() as running:
        running.reply = lambda _: '{"a": "Dust cools."}'
        yield running


def one_sentence(use: Callable[[], Any]) -> Any:
    """Return the result of a use, or None if it ends in one sentence without the key."""
    try:
        return use()
    except RemoteError as error:
        check_sentence(error)
        check_sentence(RuntimeError(str(error).replace(KEY, "Traceback")))  # no key is shown
        return None


def uses_of(url: str) -> list[Callable[[], Any]]:
    options: dict[str, Any] = {"base_url": url, "api_key": KEY, "retries": 0}
    model = connect(model="small-chat", **options)
    policy = RetryPolicy(attempts=1, largest_reply=10**6)
    reranker = HttpReranker(
        model="rerank-v3.5", base_url=f"{url[:-3]}/v2", api_key=KEY, policy=policy
    )
    embedder = OpenAIEmbedder("text-embedding-3-small", confirm=lambda _: True, **options)
    return [
        lambda: model.complete("Be brief.", "What?"),
        lambda: "".join(model.stream("Be brief.", "What?")),
        lambda: model.complete_json("Be brief.", "What?", SCHEMA),
        lambda: reranker.scores("q", ["a", "b"]),
        lambda: embedder.embed(["a", "b"]),
    ]


@settings(max_examples=20)
@given(edits=EDITS)
@example(edits=[])
def test_a_damaged_reply_is_read_or_told(served: OpenAIServer, edits: list[Edit]) -> None:
    served.always = lambda answer: replace(answer, body=damaged(answer.body, edits))
    for use in uses_of(served.url):
        assert one_sentence(use) is not None or edits


@settings(max_examples=20)
@given(document=JSON)
def test_any_json_is_read_or_told(served: OpenAIServer, document: object) -> None:
    body = json.dumps(document).encode()
    served.always = lambda answer: replace(
        answer, body=b"data: %b\n\ndata: [DONE]\n\n" % body if b"data: " in answer.body else body
    )
    for use in uses_of(served.url):
        one_sentence(use)


@given(st.lists(st.one_of(TAGS, HOSTILE), max_size=6), st.lists(st.integers(0, 80), max_size=5))
def test_a_reply_in_any_pieces_has_the_same_answer(parts: list[str], cuts: list[int]) -> None:
    text = "".join(parts)[:200]
    places = sorted({0, *(cut for cut in cuts if cut < len(text)), len(text)})
    for held in (False, True):
        whole = "".join(AnswerFilter(held=held).add(text, last=True))
        split, read = AnswerFilter(held=held), ""
        for start, end in itertools.pairwise(places):
            read += "".join(split.add(text[start:end]))
        read += "".join(split.add("", last=True))
        if not split.omits_opening_tag or held:
            assert read == whole


@given(HOSTILE, HOSTILE)
def test_an_object_is_found_in_any_text(before: str, after: str) -> None:
    found = first_object(before + '{"a": "b"}' + after, SCHEMA)
    assert found == {"a": "b"}
    first = first_object(before + after)
    assert first is None or isinstance(first, dict)


@given(JSON)
def test_any_value_fits_a_schema_or_has_one_fault(value: object) -> None:
    fits = isinstance(value, dict) and isinstance(value.get("a"), str)
    assert (find_fault(value, SCHEMA) == "") == fits


QUESTION = "How do spiral galaxies form?"
REGIONS = [
    {"id": n, "name": name, "keywords": [name], "titles": [name], "neighbours": []}
    for n, name in enumerate(("Dust", "Disks"))
]
USES: dict[str, Callable[[Atlas, Any], Any]] = {
    "ask": lambda atlas, model: atlas.ask(QUESTION, model=model),
    "ask, nuanced": lambda atlas, model: atlas.ask(QUESTION, model=model, style="nuanced"),
    "survey": lambda atlas, model: atlas.survey(QUESTION, model=model, papers=5, depth=1),
    "survey, pasa": lambda atlas, model: atlas.survey(
        QUESTION, model=model, papers=5, protocol="pasa"
    ),
    "attribute": lambda atlas, model: atlas.attribute("Galaxies spin [CITATION].", model=model),
    "cite": lambda atlas, model: atlas.cite("Spiral galaxies form by", model=model, k=3),
    "ADS query": lambda _, model: search.propose_ads_query("papers by Rubin on dust", model=model),
    "names of regions": lambda _, model: polish_names(model, REGIONS),
    "everyday names": lambda _, model: ask_names(model, [{"key": "1"} | REGIONS[0]]),
    "related work": lambda atlas, model: (
        AtlasCollection().add(atlas).related_work(list(atlas.papers["paper_id"][:3]), model=model)
    ),
}


@pytest.mark.parametrize("use", USES)
@settings(max_examples=8)
@given(texts=TEXTS, numbers=st.lists(st.integers(0, 9), min_size=1, max_size=5))
def test_a_hostile_model_gives_an_inert_result(
    finished: Atlas, use: str, texts: list[str], numbers: list[int]
) -> None:
    label = finished.search("galaxies", k=1).papers[0].label
    model = HostileModel([*texts, f"{texts[0]} [{label}]", label], numbers)
    try:
        result = USES[use](finished, model)
    except LandscapeError as error:
        check_sentence(error)
        return
    checks = {"_repr_html_": check_html, "to_markdown": check_markdown, "to_text": check_plain}
    for name, check in checks.items():
        if hasattr(result, name):
            check(getattr(result, name)())


@settings(max_examples=8)
@given(texts=TEXTS)
def test_a_hostile_judge_of_a_draft_is_inert(
    finished: Atlas, tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    folder: Path = tmp_path_factory.mktemp("judged")
    (folder / "a.bib").write_text("@article{a, title={Dust}, year={2001}, abstract={Dust cools.}}")
    (folder / "a.tex").write_text("Dust cools by lines \\cite{a}. Disks are cold.")
    desk, model = AtlasCollection().add(finished), HostileModel(texts, [1, 2, 3])
    checked = check_draft(folder / "a.bib", [folder / "a.tex"], desk=desk, model=model)
    check_markdown(checked.to_markdown())
    check_plain(checked.to_text())
