"""Citing, attribution, surveys and draft checks read the full texts of an atlas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from landscape.agents import AtlasCollection, check_draft
from landscape.atlas import Atlas, build
from landscape.llm import ChatModel
from tests.agents.citing_models import scripted, step, told
from tests.pipeline.conftest import QUICK, paper, write_papers
from tests.servers.openai_server import OpenAIServer

KEY = paper(3)["arxiv_id"]
FACT = "The tungsten spectrograph reached a throughput of 41 per cent in the blue arm."


def source(number: int) -> str:
    cited = [paper(number + n)["arxiv_id"] for n in (5, 6, 7)]
    return (
        "\\section{Introduction} Much was said before \\citep{a}.\n"
        f"\\section{{Instrument}} {FACT if number == 3 else 'It is usual.'} "
        "We weigh it \\citep{b,c}.\n"
        "\\begin{thebibliography}{3}"
        + "".join(
            f"\\bibitem{{{k}}} Doe 2020, arXiv:{c}\n" for k, c in zip("abc", cited, strict=True)
        )
        + "\\end{thebibliography}"
    )


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory) -> Atlas:
    folder = tmp_path_factory.mktemp("bodies")
    texts = folder / "texts"
    texts.mkdir()
    for number in range(8):
        (texts / f"{paper(number)['arxiv_id']}.tex").write_text(source(number))
    return build(
        write_papers(folder / "few.jsonl", range(28)),
        folder / "few.atlas",
        full_text=texts,
        **{**QUICK, "passage_vectors": True},
    )


def test_highlights_come_from_the_body_with_their_section(atlas: Atlas) -> None:
    title = paper(3)["title"]
    found = atlas.cite(f"{title} with a tungsten spectrograph throughput", k=5, model=None)
    one = next(one for one in found.suggestions if one.paper.paper_id == KEY)
    point = next(point for point in one.highlights if "tungsten" in point.text)
    assert point.section == "Instrument"
    body = atlas.sections([3]).iloc[1]["text"]
    assert body[point.start : point.end] == point.text
    assert "(Instrument)" in found.to_text()
    assert "tungsten" not in one.paper.abstract


def test_a_model_reads_the_headings_and_fitting_passages(
    atlas: Atlas, model: ChatModel, server: OpenAIServer
) -> None:
    scripted(
        server,
        step("search", query=paper(3)["title"]),
        step("read", paper=f"arXiv:{KEY}"),
        step("select", paper=f"arXiv:{KEY}"),
    )
    excerpt = "The tungsten spectrograph has a throughput of 41 per cent [CITATION]."
    found = atlas.attribute(excerpt, model=model)
    assert found.paper is not None
    assert found.paper.paper_id == KEY
    read = told(server)["steps"][1]["paper"]
    assert read["sections"] == ["Introduction", "Instrument"]
    assert any(FACT in one["text"] for one in read["passages"])


def test_surveys_follow_the_references_of_the_section_on_the_question(atlas: Atlas) -> None:
    question = f"{paper(3)['title']}: tungsten spectrograph throughput in the blue arm"
    found = atlas.survey(question, model=None, papers=60, depth=2, threshold=0.99)
    by_section = {one.section for one in found.crawled if one.how == "section"}
    assert by_section <= {"Instrument", "section references", ""}
    from landscape.agents._survey import full_text_of

    read = full_text_of(atlas)
    assert read is not None
    text = read(atlas.engine.papers([3])[0])
    assert text is not None
    cited = {text.references[n].arxiv_id for n in text.sections[1].references}
    assert cited == {paper(9)["arxiv_id"], paper(10)["arxiv_id"]}
    assert read(atlas.engine.papers([20])[0]) is None


def test_a_draft_is_compared_with_the_body(atlas: Atlas, tmp_path: Path) -> None:
    bib = tmp_path / "a.bib"
    bib.write_text(f"@article{{x, title={{{paper(3)['title']}}}, eprint={{{KEY}}}, "
                   "archivePrefix={arXiv}, year=2024}")  # fmt: skip
    draft = tmp_path / "a.tex"
    draft.write_text(f"{FACT.rstrip('.')} \\citep{{x}}.")
    desk = AtlasCollection().add(atlas)
    (judged,) = check_draft(bib, draft, desk=desk).judgements
    assert judged.verdict == "quoted"
    assert judged.why == "the section Instrument has these words"
    assert judged.deciding is not None
    assert judged.deciding.section == "Instrument"
    assert judged.paper is not None
    assert "tungsten" not in judged.paper.abstract
    report: dict[str, Any] = check_draft(bib, draft, desk=desk).to_dict()
    assert "Instrument" in str(report)
    assert "(Instrument)" in check_draft(bib, draft, desk=desk).to_text()


def test_answers_of_a_model_have_evidence_from_the_body(
    atlas: Atlas, model: ChatModel, server: OpenAIServer
) -> None:
    server.reply = lambda _: f"{FACT.rstrip('.')} [arXiv:{KEY}]."
    answer = atlas.ask("What throughput did the tungsten spectrograph reach?", model=model,
                       check_with_model=False)  # fmt: skip
    assert FACT in str(told(server))
    (claim,) = answer.claims
    assert claim.verdict == "supported"
    assert claim.evidence[0].section == "Instrument"
    assert "tungsten" not in answer.papers[0].abstract
    assert "Instrument" in answer._repr_html_()
