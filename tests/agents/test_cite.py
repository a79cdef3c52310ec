"""Suggested citations: several corpora, quoted highlights, and checked citing sentences."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

# Private modules: no public function exposes the steps tested here by themselves.
from landscape import Atlas, agents
from landscape.agents import AtlasCollection, as_latex
from landscape.agents.collection import is_same
from landscape.cli import main
from landscape.errors import InputError
from landscape.llm import ChatModel
from landscape.store.manifest import read_manifest
from landscape.types import CitationSuggestions, Highlight
from tests.agents.citing_models import some_paper
from tests.servers.openai_server import OpenAIServer, failing

CONTEXT = "Comets far from the Sun are known to be active. Their gas is driven mainly by"


@pytest.fixture(scope="module")
def found(demo_atlas: Atlas) -> CitationSuggestions:
    return demo_atlas.cite(CONTEXT)


def test_ten_papers_with_highlights_that_are_quotations(
    demo_atlas: Atlas, found: CitationSuggestions
) -> None:
    assert len(found) == 10
    assert [one.rank for one in found.suggestions] == list(range(1, 11))
    for one in found.suggestions:
        assert 1 <= len(one.highlights) <= 3
        for piece in one.highlights:
            assert one.paper.abstract[piece.start : piece.end] == piece.text
        assert one.sentence is None  # never a fake
    assert found.method == "offline"
    assert found.to_bibtex().count("title = {") == 10
    document = json.loads(json.dumps(found.to_dict()))
    assert (
        document["suggestions"][0]["highlights"][0]["text"]
        in found.to_text().replace("\n      ", " ")
        or document["suggestions"]
    )
    assert "<script" not in found._repr_html_()
    assert len(found.table) == 10


def test_keywords_are_a_filter_in_the_engines_syntax(demo_atlas: Atlas) -> None:
    keywords = "dust; 2005..; -author:Nobody"
    found = demo_atlas.cite(CONTEXT, keywords, k=50)
    assert 0 < len(found) <= 50
    assert {paper.row for paper in found.papers} <= set(demo_atlas.select(keywords).tolist())
    assert found.coverage[demo_atlas.title].n_searched == len(demo_atlas.select(keywords))
    alone = demo_atlas.cite("", ["dust"], k=3)
    assert len(alone) == 3
    none = demo_atlas.cite(CONTEXT, "nonexistentword")
    assert none.suggestions == ()
    assert none.notes == ("No paper passes the keywords.",)
    with pytest.raises(InputError, match="cannot be read"):
        demo_atlas.cite(CONTEXT, "dust;|")


@pytest.mark.parametrize("context", ["", "  ", "[CITATION]", "\\citep{a}"])
def test_no_text_is_told(demo_atlas: Atlas, context: str) -> None:
    with pytest.raises(InputError, match="context is empty"):
        demo_atlas.cite(context)


def test_corpora_come_and_go_without_touching_each_other(demo_atlas: Atlas) -> None:
    before = read_manifest(demo_atlas.path).updated
    first = AtlasCollection().add(demo_atlas)
    both = first.add(demo_atlas, "again")
    assert [len(first), len(both)] == [1, 2]
    found = both.cite(CONTEXT, k=8)
    single = first.cite(CONTEXT, k=8)
    assert {one.also_in for one in found.suggestions} == {("again",)}
    assert {p.paper_id for p in found.papers} == {p.paper_id for p in single.papers}
    assert list(found.coverage) == [demo_atlas.title, "again"]
    off = both.switch_off(demo_atlas.title)
    assert {one.corpus for one in off.cite(CONTEXT, k=8).suggestions} == {"again"}
    assert off.switch_on(demo_atlas.title) == both
    assert both.remove("again") == first
    with pytest.raises(InputError, match="another name"):
        both.add(demo_atlas)
    with pytest.raises(InputError, match="no corpus 'x'"):
        both.remove("x")
    with pytest.raises(InputError, match="switched on"):
        off.switch_off("again").cite(CONTEXT)
    assert list(both.table["papers"]) == [len(demo_atlas)] * 2
    assert read_manifest(demo_atlas.path).updated == before


def test_the_same_paper_is_told_by_title_and_authors(demo_atlas: Atlas) -> None:
    paper = some_paper(demo_atlas)
    eprint = replace(
        paper, bibcode=None, doi=None, arxiv_id="9901.00001", title=paper.title.upper() + "!"
    )
    assert is_same(paper, eprint)
    assert not is_same(paper, replace(eprint, authors=("Somebody, E.",)))
    assert not is_same(paper, replace(eprint, title="Another title altogether"))
    assert not is_same(
        replace(paper, title="Erratum"), replace(eprint, title="Erratum")
    )  # too short to tell


def highlights_in(atlas: Atlas, text: str, context: str, n: int) -> tuple[Highlight, ...]:
    """Return the highlights of the first paper cited, if `text` is its full text."""
    (paper,) = atlas.cite(context, k=1).papers
    full_texts = {paper.paper_id: text}
    return atlas.cite(context, k=1, full_texts=full_texts, n_highlights=n).suggestions[0].highlights


def test_highlights_follow_the_context(demo_atlas: Atlas) -> None:
    text = (
        "Quasars are bright. We find that dust in them cools by its infrared lines. "
        "The outflows of gas reach a speed of 3000 km/s in most of them. We thank the referee."
    )
    about_dust = highlights_in(demo_atlas, text, "how dust cools", 1)
    about_gas = highlights_in(demo_atlas, text, "the speed of gas in outflows", 1)
    assert "infrared" in about_dust[0].text
    assert "3000 km/s" in about_gas[0].text
    assert highlights_in(demo_atlas, "", "how dust cools", 3) == ()
    assert highlights_in(demo_atlas, text, "how dust cools", 0) == ()
    full = " ".join(f"Sentence number {n} speaks of star {n}." for n in range(400))
    assert len(highlights_in(demo_atlas, full + " " + text, "how dust cools", 4)) == 4


def test_highlights_of_a_full_text(demo_atlas: Atlas, found: CitationSuggestions) -> None:
    paper = found.papers[0]
    text = "Comets are driven by carbon monoxide beyond three au. Nothing else happens here at all."
    again = demo_atlas.cite(CONTEXT, full_texts={paper.paper_id: text}, n_highlights=1)
    assert again.suggestions[0].highlights[0].text.startswith("Comets are driven")


def reply_for(server: OpenAIServer, sentences: list[dict[str, Any]], *, verdict: str) -> None:
    """Make the server write `sentences`, and then reply with `verdict` for each of them."""

    def reply(body: dict[str, Any]) -> str:
        if "verdicts" not in json.dumps(body["response_format"]):
            return json.dumps({"sentences": sentences})
        shown = json.loads(body["messages"][1]["content"])
        first = {p["label"]: next(iter(p["sentences"])) for p in shown["papers"]}
        verdicts = [
            {"claim": claim["claim"], "verdict": verdict, "sentences": [first[claim["cites"][0]]]}
            for claim in shown["claims"]
        ]
        return json.dumps({"verdicts": verdicts})

    server.reply = reply


def test_citing_sentences_have_evidence_and_are_checked(
    demo_atlas: Atlas, server: OpenAIServer, model: ChatModel
) -> None:
    written = [
        {
            "paper": "p1",
            "sentence": "Gas escapes from comets at large distances.",
            "evidence": ["p1s1"],
        },
        {"paper": "p2", "sentence": "This one has no evidence.", "evidence": ["p1s1", "p2s99"]},
        {"paper": "p9", "sentence": "This paper is invented.", "evidence": ["p9s1"]},
    ]
    reply_for(server, written, verdict="supported")
    found = demo_atlas.cite(CONTEXT, k=3, model=model)
    first, second, third = found.suggestions
    assert first.sentence is not None
    assert first.sentence.text == written[0]["sentence"]
    assert first.sentence.verdict == "supported"
    assert first.sentence.evidence[0].paper_id == first.paper.paper_id
    assert second.sentence is None
    assert third.sentence is None
    assert found.method == "small-chat"
    assert not found.partial
    assert first.sentence.text in found.to_text()
    assert "✓ supported" in found._repr_html_()


def test_one_sentence_is_written_again_with_other_keywords(
    demo_atlas: Atlas, server: OpenAIServer, model: ChatModel
) -> None:
    desk = AtlasCollection().add(demo_atlas)
    found = desk.cite(CONTEXT, k=3, model=None)
    text = "It was found far from the Sun."
    reply_for(
        server, [{"paper": "p1", "sentence": text, "evidence": ["p1s1"]}], verdict="supported"
    )
    again = desk.rewrite(found, 2, "dust and rotation", model=model)
    assert [one.paper for one in again.suggestions] == [one.paper for one in found.suggestions]
    assert [one.sentence and one.sentence.text for one in again.suggestions] == [None, text, None]
    shown = json.loads(server.requests[0].body["messages"][1]["content"])
    assert shown["key_words"] == "dust and rotation"
    assert [one["title"] for one in shown["papers"]] == [found.suggestions[1].paper.title]
    offline = desk.rewrite(found, 1, "tail of ions", model=None)
    assert offline.suggestions[1:] == found.suggestions[1:]
    for rank, words in ((9, "dust"), (1, " ")):
        with pytest.raises(InputError, match="Nothing to write again"):
            desk.rewrite(found, rank, words, model=None)


def test_without_a_model_a_sentence_is_quoted(
    demo_atlas: Atlas, capsys: pytest.CaptureFixture[str]
) -> None:
    found = demo_atlas.cite(CONTEXT, k=2, model=None)
    for one in found.suggestions:
        best = max(one.highlights, key=lambda point: point.score)
        assert one.quotation.startswith(f"According to {one.paper.short_name}, “")
        assert best.text.rstrip(". ") in one.quotation
        assert one.sentence is None
    assert "According to" in found._repr_html_()
    words = ["cite", str(demo_atlas.path), CONTEXT, "-k", "2", "--no-model", "--again", "2", "dust"]
    assert main(words) == 0
    assert capsys.readouterr().out.count("→ According to") == 2
    assert demo_atlas.cite(CONTEXT, k=2, model=None, n_highlights=0).suggestions[0].quotation == ""


def test_excluded_papers_are_neither_suggested_nor_count(demo_atlas: Atlas) -> None:
    found = demo_atlas.cite(CONTEXT, k=5, model=None)
    desk = AtlasCollection().add(demo_atlas)
    label = found.papers[0].label
    for without in ([label], label, ["unknown", label]):
        rest = desk.cite(CONTEXT, k=5, model=None, without=without)
        assert found.papers[0] not in rest.papers


@pytest.mark.parametrize("verdict", ["contradicted", "not found"])
def test_a_sentence_that_the_paper_does_not_support_is_omitted(
    demo_atlas: Atlas, server: OpenAIServer, model: ChatModel, verdict: str
) -> None:
    reply_for(
        server,
        [{"paper": "p1", "sentence": "Cheese is made on the Moon.", "evidence": ["p1s1"]}],
        verdict=verdict,
    )
    found = demo_atlas.cite(CONTEXT, k=2, model=model)
    assert all(one.sentence is None for one in found.suggestions)
    assert any("do not support" in note for note in found.notes)


@pytest.mark.parametrize("reply", ["", "nonsense", '{"sentences": "none"}'])
def test_a_model_that_fails_costs_the_sentences_only(
    demo_atlas: Atlas,
    server: OpenAIServer,
    model: ChatModel,
    reply: str,
    found: CitationSuggestions,
) -> None:
    server.reply = lambda _: reply
    again = demo_atlas.cite(CONTEXT, model=model)
    assert again.partial
    assert again.papers == found.papers
    assert again.suggestions[0].highlights == found.suggestions[0].highlights


def test_related_work_is_cited_and_checked(
    demo_atlas: Atlas, server: OpenAIServer, model: ChatModel, found: CitationSuggestions
) -> None:
    desk = AtlasCollection().add(demo_atlas)
    one, two = found.papers[:2]
    first = one.abstract.split(". ")[0].rstrip(".")
    text = f"{first} [{one.label}]. Cheese is blue [{two.label}]. Fakes abound [2020Fake..1A]."
    server.reply = lambda body: '{"verdicts": []}' if "response_format" in body else text
    said = desk.related_work([one, two.label, one], context=CONTEXT, model=model)
    assert [claim.verdict for claim in said.claims] == ["supported", "not found", "not found"]
    assert "2020Fake" not in said.text
    assert said.text.count("[unsupported]") == 2
    assert said.style == "related-work"
    assert len(said.papers) == 2
    latex = as_latex(said)
    assert f"\\citep{{{one.bibcode}}}" in latex
    assert str(one.bibcode) in said.results.to_bibtex()


def test_related_work_without_a_model_quotes(demo_atlas: Atlas, found: CitationSuggestions) -> None:
    said = AtlasCollection().add(demo_atlas).related_work([p.label for p in found.papers[:3]])
    assert said.method == "extractive"
    assert {claim.verdict for claim in said.claims} == {"supported"}
    with pytest.raises(InputError, match="No corpus of the collection contains"):
        AtlasCollection().add(demo_atlas).related_work(["2020Fake..1A"])
    with pytest.raises(InputError, match="0 papers"):
        AtlasCollection().add(demo_atlas).related_work([])


def test_related_work_when_the_server_is_gone(
    demo_atlas: Atlas, server: OpenAIServer, model: ChatModel, found: CitationSuggestions
) -> None:
    server.always = failing(500)
    said = AtlasCollection().add(demo_atlas).related_work([found.papers[0]], model=model)
    assert said.method == "extractive"
    assert "language model failed" in said.notes[0]


def test_the_command(
    demo_atlas: Atlas,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from landscape.cli import main

    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    bib = tmp_path / "found.bib"
    folder = str(demo_atlas.path)
    assert main(["cite", folder, CONTEXT, "-k", "3", "-o", str(bib), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["suggestions"]) == 3
    assert bib.read_text(encoding="utf-8").count("title = {") == 3
    assert main(["cite", folder, CONTEXT, "-k", "2", "--also", folder]) == 0
    assert "in Demo corpus (generated)" in capsys.readouterr().out
    assert main(["cite", folder, CONTEXT, "-o", "found.ris"]) == 2
    excerpt = "Comets are driven by carbon monoxide [CITATION]."
    assert main(["attribute", folder, excerpt, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["guesses"]
    assert main(["attribute", folder, "No mark."]) == 2


def test_the_old_name_of_a_collection_warns() -> None:
    with pytest.warns(DeprecationWarning, match="Desk is called AtlasCollection now"):
        assert agents.Desk is agents.AtlasCollection  # type: ignore[attr-defined]
