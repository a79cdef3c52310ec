"""Switches of the agents: probabilities, several crawlers, online search, commands, replay."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

import landscape as ls
from landscape.agents.online_search import OnlineSearch
from landscape.atlas import Atlas
from landscape.cli import main
from landscape.corpus import read_papers
from landscape.errors import InputError, RemoteError
from landscape.evaluation import evaluate_attribution
from landscape.llm import ChatModel
from tests.agents.citing_models import excerpt_of, scripted, some_paper, step, told
from tests.agents.survey_scripts import good_scholar, pasa
from tests.agents.survey_scripts import scripted as survey_script
from tests.servers.ads_server import KEY as ADS_KEY
from tests.servers.ads_server import AdsServer, some_docs
from tests.servers.arxiv_server import ArxivServer
from tests.servers.openai_server import OpenAIServer

QUESTION = "How do stellar winds change the evolution of massive stars?"
SMALL: dict[str, Any] = {"papers": 12, "expand": 3, "breadth": 2, "depth": 1}
TRUE = 0.6


def tokens(text: str) -> list[dict[str, Any]]:
    """Divide a reply into tokens; each true and false has the other one as its alternative."""
    found = []
    for piece in re.findall(r"[A-Za-z]+|[^A-Za-z]+", text):
        word = piece.casefold()
        odds = {"true": TRUE, "false": 1 - TRUE} if word in ("true", "false") else {piece: 1.0}
        if piece[:1].isupper():
            odds = {name.capitalize(): p for name, p in odds.items()}
        listed = [{"token": name, "logprob": math.log(p)} for name, p in odds.items()]
        own = math.log(odds.get(piece, 1.0))
        found.append({"token": piece, "logprob": own, "top_logprobs": listed})
    return found


@pytest.mark.parametrize("protocol", ["json", "pasa"])
def test_the_probability_of_the_decision_is_the_score(
    demo_atlas: Atlas, server: OpenAIServer, model: ChatModel, protocol: str
) -> None:
    if protocol == "pasa":
        server.reply = pasa
    else:
        survey_script(server, good_scholar)
    without = demo_atlas.survey(QUESTION, model=model, protocol=protocol, **SMALL)
    server.logprobs = tokens
    found = demo_atlas.survey(QUESTION, model=model, protocol=protocol, **SMALL)
    judged = {one.score for one in found.crawled if one.judged_by == model.model}
    assert judged == {TRUE}
    assert {one.score for one in without.crawled if one.judged_by == model.model} != {TRUE}
    assert {one.key for one in found.selected} == {one.key for one in without.selected}


def test_a_server_that_refuses_probabilities_still_judges(
    demo_atlas: Atlas, server: OpenAIServer, model: ChatModel
) -> None:
    survey_script(server, good_scholar)
    refused: list[bool] = []

    def refuse(body: dict[str, Any]) -> tuple[int, str] | None:
        if "logprobs" in body:
            refused.append(True)
            return 403, "You are not allowed to request logprobs from this model."
        return None

    server.refuses = refuse
    found = demo_atlas.survey(QUESTION, model=model, **SMALL)
    assert refused
    assert not found.partial
    assert any(one.judged_by == model.model for one in found.crawled)


def test_a_seed_with_the_title_of_the_question(demo_atlas: Atlas) -> None:
    seed = some_paper(demo_atlas)
    found = demo_atlas.survey(seed.title, model=None, seeds=(seed.paper_id,), papers=20)
    assert found.searches[-1].text or found.searches
    assert any(search.by == "question" for search in found.searches)


def test_a_second_crawler_makes_other_searches(
    demo_atlas: Atlas, server: OpenAIServer, model: ChatModel
) -> None:
    one = demo_atlas.survey(QUESTION, model=None, papers=30)
    two = demo_atlas.survey(QUESTION, model=None, papers=30, ensemble=2)
    texts = [search.text for search in two.searches]
    assert texts[: len(one.searches)] == [search.text for search in one.searches]
    assert len(set(texts)) == len(texts) > len(one.searches)
    asked = survey_script(server, good_scholar)
    demo_atlas.survey(QUESTION, model=model, **SMALL, ensemble=3)
    assert asked.count("queries") == 3
    with pytest.raises(InputError, match="ensemble is 9"):
        demo_atlas.survey(QUESTION, model=None, ensemble=9)


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> Any:
    from landscape.corpus.fetch import RetryPolicy

    return RetryPolicy(pause=0.0, first_wait=0.0)


def test_new_papers_of_arxiv_are_listed_for_an_update(
    demo_atlas: Atlas, tmp_path: Path, fast: Any
) -> None:
    with ArxivServer(6) as server:
        online = OnlineSearch("arxiv", base_url=server.url, policy=fast)
        found = demo_atlas.survey("shocks of comets", model=None, online=online, papers=20)
    assert {one.paper.arxiv_id for one in found.outside} == {f"2605.{n:05d}" for n in range(6)}
    assert all(one.paper.row == -1 for one in found.outside)
    assert found.to_dict()["outside"][0]["title"].startswith("Comets and shocks")
    path = tmp_path / "new.jsonl"
    path.write_text(found.outside_to_jsonl(), "utf-8")
    chosen = [one.paper for one in found.outside if one.selected]
    assert chosen
    assert "Not in the atlas" in found.to_text()
    assert "Not in the atlas" in found.to_markdown() + found._repr_html_()
    [batch] = read_papers(path)
    assert batch.papers["title"].to_pylist() == [paper.title for paper in chosen]
    assert batch.papers["arxiv_id"].to_pylist() == [paper.arxiv_id for paper in chosen]
    assert not batch.rejected
    assert [request.query["sortBy"] for request in server.requests] == ["relevance"] * len(
        server.requests
    )


def test_papers_of_the_atlas_join_its_candidates_and_a_model_judges_the_others(
    demo_atlas: Atlas, server: OpenAIServer, model: ChatModel, fast: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("ADS_API_TOKEN", ADS_KEY)
    known = some_paper(demo_atlas, 40)
    docs = some_docs(3)
    docs[0] |= {"bibcode": known.bibcode, "identifier": []}
    survey_script(server, good_scholar)
    with AdsServer(docs) as ads:
        online = OnlineSearch("ads", base_url=f"{ads.url}/v1", policy=fast)
        found = demo_atlas.survey(QUESTION, model=model, online=online, **SMALL)
    assert {one.paper.bibcode for one in found.outside} == {doc["bibcode"] for doc in docs[1:]}
    assert not any(one.selected for one in found.outside)  # they do not speak of winds
    assert {one.judged_by for one in found.outside} == {model.model}
    assert known.bibcode not in {one.paper.bibcode for one in found.outside}
    assert ads.requests[0].query["q"].startswith("abs:(")


def test_a_service_that_fails_leaves_the_survey_of_the_atlas(demo_atlas: Atlas) -> None:
    class Gone:
        service = "arxiv"
        asked = 0

        def __call__(self, _: str) -> list[Any]:
            self.asked += 1
            message = "arXiv cannot be reached."
            raise RemoteError(message)

    gone: Any = Gone()
    found = demo_atlas.survey(QUESTION, model=None, papers=20, online=gone)
    assert found.selected
    assert gone.asked == 1
    assert "arxiv was searched only in part. arXiv cannot be reached." in found.notes


def test_new_needs_a_search_outside(
    demo_atlas: Atlas, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["survey", str(demo_atlas.path), QUESTION, "--no-model"]
    assert main([*words, "--new", str(tmp_path / "new.jsonl")]) == 2
    assert "add --search arxiv or ads" in capsys.readouterr().err


def actions_of(server: OpenAIServer) -> list[str]:
    """Return the actions that the form of the last request allows."""
    form = server.requests[-1].body["response_format"]["json_schema"]["schema"]
    return list(form["properties"]["action"]["enum"])


def test_a_model_that_only_searches_selects_without_reading(
    demo_atlas: Atlas, server: OpenAIServer, model: ChatModel
) -> None:
    paper = some_paper(demo_atlas)
    scripted(server, step("search", query=paper.title), step("select", paper=paper.label))
    found = demo_atlas.attribute(excerpt_of(paper), model=model, only="search")
    assert found.paper == paper
    assert actions_of(server) == ["search", "select", "give up"]
    assert not any("abstract is shown" in one.observation for one in found.trace)


def test_a_model_that_only_reads_gets_one_search(
    demo_atlas: Atlas, server: OpenAIServer, model: ChatModel
) -> None:
    paper = some_paper(demo_atlas)
    scripted(server, step("read", paper=paper.label), step("select", paper=paper.label))
    found = demo_atlas.attribute(excerpt_of(paper), model=model, only="read")
    assert found.paper == paper
    assert actions_of(server) == ["read", "select", "give up"]
    assert found.trace[0].action.startswith("search: ")
    scripted(server, step("search", query=paper.title))
    assert demo_atlas.attribute(excerpt_of(paper), model=model, only="read").partial


def test_a_model_without_commands_names_a_title(
    demo_atlas: Atlas, server: OpenAIServer, model: ChatModel
) -> None:
    paper = some_paper(demo_atlas)
    server.reply = lambda _: json.dumps({"title": paper.title.upper()})
    found = demo_atlas.attribute(excerpt_of(paper), model=model, only="none")
    assert found.paper == paper
    assert len(server.requests) == 1
    server.reply = lambda _: json.dumps({"title": "Nobody wrote this"})
    assert demo_atlas.attribute(excerpt_of(paper), model=model, only="none").paper is None


def test_thoughts_can_be_left_out(
    demo_atlas: Atlas, server: OpenAIServer, model: ChatModel
) -> None:
    paper = some_paper(demo_atlas)

    def reply(body: dict[str, Any]) -> str:
        fields = body["response_format"]["json_schema"]["schema"]["properties"]
        assert "thought" not in fields
        return json.dumps({k: v for k, v in json.loads(step("give up")).items() if k != "thought"})

    server.reply = reply
    found = demo_atlas.attribute(excerpt_of(paper), model=model, thoughts=False, max_actions=1)
    assert [one.thought for one in found.trace] == [""]
    assert "thought:" not in server.requests[-1].body["messages"][0]["content"]


def test_what_is_read_has_references(
    demo_atlas: Atlas, server: OpenAIServer, model: ChatModel
) -> None:
    graph = demo_atlas.citations
    row = int(graph.out_degree[: len(demo_atlas)].argmax())
    paper = some_paper(demo_atlas, row)
    scripted(server, step("search", query=paper.title), step("read", paper=paper.label),
             step("give up"))  # fmt: skip
    demo_atlas.attribute(excerpt_of(paper), model=model)
    read = told(server)["steps"][1]["paper"]
    cited = {some_paper(demo_atlas, n).label for n in graph.reference_links.of(row)
             if n < len(demo_atlas)}  # fmt: skip
    assert {one.partition(": ")[0] for one in read["references"]} <= cited
    assert read["references"]


def test_runs_at_a_temperature_are_counted(
    demo_atlas: Atlas, server: OpenAIServer, model: ChatModel
) -> None:
    right, wrong = some_paper(demo_atlas, 7), some_paper(demo_atlas, 3)
    titles = [right.title, wrong.title, right.title]
    left = list(titles)
    server.reply = lambda _: json.dumps({"title": left.pop(0)})
    found = demo_atlas.attribute(
        excerpt_of(right), model=model, only="none", temperature=0.95, runs=3
    )
    assert [paper and paper.title for paper in found.runs] == titles
    assert found.paper == right
    assert "2 of 3 runs selected this paper." in found.notes
    assert {request.body["temperature"] for request in server.requests} == {0.95}
    assert json.loads(json.dumps(found.to_dict()))["runs"] == [
        right.label, wrong.label, right.label
    ]  # fmt: skip


def test_runs_without_a_temperature_are_refused(demo_atlas: Atlas, model: ChatModel) -> None:
    with pytest.raises(InputError, match="all runs are equal without a temperature"):
        demo_atlas.attribute("Dust cools [CITATION].", model=model, runs=3)


def test_a_trajectory_is_replayed_without_a_model(
    demo_atlas: Atlas, server: OpenAIServer, model: ChatModel, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    paper, path = some_paper(demo_atlas), tmp_path / "steps.jsonl"
    scripted(server, step("search", query=paper.title), step("read", paper=paper.label),
             step("select", paper=paper.label))  # fmt: skip
    excerpt = excerpt_of(paper)
    found = demo_atlas.attribute(excerpt, model=model, trajectory=path)
    n_requests = len(server.requests)
    again = demo_atlas.attribute(excerpt, model=None, trajectory=path)
    assert len(server.requests) == n_requests
    assert (again.paper, again.trace, again.method) == (found.paper, found.trace, model.model)
    words = ["attribute", str(demo_atlas.path), excerpt, "--no-model", "--trajectory", str(path)]
    assert main(words) == 0
    assert paper.label in capsys.readouterr().out
    with pytest.raises(InputError, match="is the log of another search"):
        demo_atlas.attribute(excerpt, model=None, trajectory=path, max_actions=3)
    with pytest.raises(InputError, match="There is no file"):
        demo_atlas.attribute(excerpt, model=None, trajectory=tmp_path / "none.jsonl")
    path.write_text("".join(path.read_text("utf-8").splitlines(keepends=True)[:2]), "utf-8")
    short = demo_atlas.attribute(excerpt, model=None, trajectory=path)
    assert short.partial
    assert "Connect a language model." in short.notes[-1]


def test_the_table_of_citeme_has_ablations_years_costs_and_errors(
    demo_atlas: Atlas, server: OpenAIServer, model: ChatModel, tmp_path: Path
) -> None:
    papers = [some_paper(demo_atlas, row) for row in (7, 50)]
    path = tmp_path / "excerpts.jsonl"
    lines = [
        {"excerpt": excerpt_of(one), "answer": one.paper_id, "before": str(2027 + n),
         "known": bool(n)}
        for n, one in enumerate(papers)
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")

    def reply(body: dict[str, Any]) -> str:
        form = json.dumps(body["response_format"])
        if '"query"' not in form:
            return json.dumps({"title": papers[0].title})
        data = json.loads(body["messages"][1]["content"])
        if not data["steps"]:
            return step("search", query=papers[0].title)
        return step("select", paper=papers[0].label)

    server.reply = reply
    found = evaluate_attribution(
        demo_atlas, path, model=model, ablations=True, prices=(1.0, 4.0), runs=2, temperature=1.0
    )
    assert found.summary()["accuracy"] == 0.5
    assert found.groups["year"] == ("2027", "2028")
    assert found.groups["known"] == ("unknown", "known")
    assert {name: one.summary()["accuracy"] for name, one in found.ablations.items()} == {
        "search only": 0.5,
        "no commands": 0.5,
    }
    assert [bool(one) for one in found.groups["error"]] == [False, True]
    assert found.values["tokens"].min() > 0
    assert found.values["money"].min() > 0
    text = found.to_text()
    for line in (
        "year 2027 (1): accuracy 1.000",
        "year 2028 (1): accuracy 0.000",
        "no commands: accuracy",
        "money of an excerpt",
        "mean accuracy of a run",
        "error: ",
    ):
        assert line in text
    json.dumps(found.to_dict())
    with pytest.raises(InputError, match="need a language model"):
        evaluate_attribution(demo_atlas, path, ablations=True)


def test_a_model_without_a_temperature_is_refused(demo_atlas: Atlas) -> None:
    class Plain:
        model = "plain"

    plain: Any = Plain()
    with pytest.raises(InputError, match="The temperature of plain cannot be set"):
        ls.open(demo_atlas.path).attribute("Dust [CITATION].", model=plain, temperature=0.5)
