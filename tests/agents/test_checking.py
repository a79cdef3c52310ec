"""Verdicts on the citations of a draft."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from landscape import Atlas
from landscape._bibliography import to_bibtex
from landscape.agents import AtlasCollection, check_draft
from landscape.answers.agreement import find_mismatch
from landscape.cli import main
from landscape.errors import InputError
from landscape.llm import ChatModel
from landscape.types import DraftCheck
from tests.agents.citing_models import some_paper
from tests.servers.openai_server import OpenAIServer, failing
from tests.timing import assert_growth

ADS = "https://ui.adsabs.harvard.edu/abs/"
ENTRIES = r"""
@article{inside, title = {%s}, author = {%s}, year = {%s}}
@article{lonely, title = {A paper that is nowhere}, author = {Nobody, N.}, year = {2001},
  abstract = {Cheese ripens in caves. The mould is blue.}}
@book{bare, title = {A book without abstract}, author = {Nobody, N.}, year = {2002}}
"""
DRAFT = r"""\documentclass{aastex631}
\title{On things \cite{never}}
\begin{document}
\begin{abstract} It has been shown before \cite{never}. \end{abstract}
\section{Introduction}
% \citep{never}
%s \citep[e.g.,][]{inside,bare}.
Blue mould grows on cheese that ripens in caves,
as \citet{lonely} told, and $E = mc^2$ holds \textcite[p.~3]{missing}.\nocite{never}
\begin{equation} a = \cite{never} \end{equation}

It has been shown that comets are active far from the Sun.
In this paper we show that it has been shown. See Fig.~\ref{fig:x}.
\end{document}
"""


@pytest.fixture(scope="module")
def draft(demo_atlas: Atlas, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    paper = some_paper(demo_atlas)
    folder = tmp_path_factory.mktemp("draft")
    bib, tex = folder / "references.bib", folder / "draft.tex"
    names = " and ".join(paper.authors)
    bib.write_text(ENTRIES % (paper.title.upper(), names, paper.year), encoding="utf-8")
    first = paper.abstract.split(". ")[0].rstrip(".").replace("%", r"\%")
    tex.write_text(DRAFT.replace("%s", first), encoding="utf-8")
    return bib, tex


@pytest.fixture(scope="module")
def desk(demo_atlas: Atlas) -> AtlasCollection:
    return AtlasCollection().add(demo_atlas)


def check_text(source: str, folder: Path, **given: Any) -> DraftCheck:
    """Check a draft with this text, whose bibliography has one paper without an abstract."""
    bib, tex = folder / "references.bib", folder / "draft.tex"
    bib.write_text("@book{a, title = {Dust}, author = {Roe, J.}, year = {2002}}", encoding="utf-8")
    tex.write_text(source, encoding="utf-8")
    return check_draft(bib, tex, **given)


def test_a_draft_is_read_with_its_lines(tmp_path: Path) -> None:
    source = "One.\n\n\\section{A\nB}\nTwo \\citep{a, b}\nand three \\citet*{c}.\\cites{d}{e} Four."
    found = check_text(source, tmp_path)
    assert found.n_sentences == 3
    assert [one.key for one in found.judgements] == ["a", "b", "c", "d", "e"]
    assert {(one.sentence, one.line) for one in found.judgements} == {("Two and three.", 5)}
    assert check_text(source.replace("Four", "Four \\cite{f}"), tmp_path).judgements[-1].line == 6


@pytest.mark.parametrize(
    "source",
    [
        r"First.\\[2pt] Dust cools \cite{a}. \[ E=mc^2 \] It is hot \cite{b}.",
        "Dust cools.\\footnote{Gas\ncools \\citep[p.~2]{a}.} Stars \\emph{shine} \\cite{b}.",
        r"$a$$b$ is small \cite{a}. And $c$$d$ large. $$E = 1$$ Now \cite{b}.",
        "\\verb|50%| of it \\cite{a}.\nAnd $|x|$ then \\cite{b}.",
        r"\url{https://x/a%20b} is the place \cite{a}, said \cite{b}.",
        r"\newcommand{\own}[1]{\cite{#1}} Dust cools \cite{a}, or not \cite{b}.",
        r"\begin{tabularx}{9cm}{ll} x & \cite{t} \end{tabularx} Dust \cite{a} cools \cite{b}.",
    ],
)
def test_no_citation_is_lost_and_none_made_up(source: str, tmp_path: Path) -> None:
    found = check_text(source, tmp_path)
    assert sorted(one.key for one in found.judgements) == ["a", "b"]


@pytest.mark.parametrize(
    "piece",
    [
        r"\[",
        r"\cite",
        "cite",
        ".",
        "$",
        r"\footnote{",
        r"\cite{",
        r"\cite{a} ",
        "{",
        r"\\[",
        r"\newcommand{\a}[1]{\cite{",
        r"\newcommand ",
        r"\newcommand{\citeciteb}[1]{\citep{#1}}",
    ],
)
def test_a_hostile_draft_takes_no_more_than_linear_time(piece: str, tmp_path: Path) -> None:
    assert_growth(
        lambda text: check_text(text, tmp_path), lambda n: "\\" + piece * (n // len(piece)), 20_000
    )


@pytest.mark.parametrize(
    "source",
    [
        r"\cite{",
        r"\cite{}",
        r"{\bf open",
        "\\begin{verbatim} \\cite{a}",
        r"\verb|\cite{a}|",
        "\ue010" + "9" + "\ue011",
        r"100\% \% of 5 \citep",
        "$$ \\cite{a}$$",
    ],
)
def test_odd_latex_raises_nothing(source: str, tmp_path: Path) -> None:
    assert check_text(source, tmp_path).judgements == ()


def test_offline_it_says_quoted_near_or_far_and_no_more(
    draft: tuple[Path, Path], desk: AtlasCollection
) -> None:
    found = check_draft(*draft, desk=desk)
    verdicts = {one.key: one.verdict for one in found.judgements}
    assert verdicts == {
        "inside": "quoted",
        "bare": "not in the corpus",
        "lonely": "near",
        "missing": "not in the bibliography",
    }
    by_key = {one.key: one for one in found.judgements}
    assert by_key["inside"].line == 7
    assert by_key["lonely"].line == 8
    assert "no such key" in by_key["missing"].why
    assert by_key["lonely"].evidence
    assert by_key["lonely"].part.startswith("Blue mould")
    assert found.method == "offline"
    assert "near does not mean supported" in found.notes[0]
    assert json.loads(json.dumps(found.to_dict()))["counts"] == found.counts
    assert list(found.table["key"]) == [one.key for one in found.judgements]
    assert "line 8: lonely: near" in found.to_text()


def test_without_an_atlas_abstracts_of_the_bibliography_serve(draft: tuple[Path, Path]) -> None:
    found = check_draft(*draft)
    verdicts = {one.key: one.verdict for one in found.judgements}
    assert verdicts["lonely"] == "near"
    assert verdicts["inside"] == "not in the corpus"


def test_what_is_far_is_far(tmp_path: Path, demo_atlas: Atlas) -> None:
    paper = some_paper(demo_atlas)
    (tmp_path / "r.bib").write_text(to_bibtex([paper]), encoding="utf-8")
    key = to_bibtex([paper]).split("{")[1].split(",")[0]
    (tmp_path / "d.tex").write_text(f"Statins lower mortality in trials \\cite{{{key}}}.")
    found = check_draft(
        tmp_path / "r.bib", tmp_path / "d.tex", desk=AtlasCollection().add(demo_atlas)
    )
    assert [one.verdict for one in found.judgements] == ["far"]


def judging(server: OpenAIServer, verdicts: list[str]) -> None:
    left = list(verdicts)

    def reply(body: dict[str, Any]) -> str:
        shown = json.loads(body["messages"][1]["content"])
        by_label = {p["label"]: list(p["sentences"]) for p in shown["papers"]}
        return json.dumps(
            {
                "verdicts": [
                    {
                        "claim": c["claim"],
                        "verdict": left.pop(0),
                        "sentences": by_label[c["cites"][0]][:1],
                    }
                    for c in shown["claims"]
                ]
            }
        )

    server.reply = reply


def test_a_model_judges(
    draft: tuple[Path, Path], desk: AtlasCollection, server: OpenAIServer, model: ChatModel
) -> None:
    judging(server, ["supported", "contradicted"])
    found = check_draft(*draft, desk=desk, model=model)
    assert [one.verdict for one in found.judgements] == [
        "supported",
        "not in the corpus",
        "contradicted",
        "not in the bibliography",
    ]
    assert found.judgements[2].evidence[0].text == "Cheese ripens in caves."
    assert found.judgements[2].evidence[0].label == "lonely"
    assert not found.partial
    judging(server, ["not found", "supported"])
    again = check_draft(*draft, desk=desk, model=model)
    assert [one.verdict for one in again.judgements][:1] == ["unclear"]


@pytest.mark.parametrize("is_gone", [True, False])
def test_a_model_that_fails_leaves_near_and_far(
    draft: tuple[Path, Path],
    desk: AtlasCollection,
    server: OpenAIServer,
    model: ChatModel,
    is_gone: bool,
) -> None:
    if is_gone:
        server.always = failing(500)
    else:
        server.reply = lambda _: "nonsense"
    found = check_draft(*draft, desk=desk, model=model)
    assert found.partial
    nothing_judged = {"not in the corpus", "not in the bibliography"}
    assert {one.verdict for one in found.judgements} <= {"quoted", "near", "far"} | nothing_judged
    assert "are only near or far" in found.notes[0]


def test_commands_of_ones_own_cite_and_files_taken_in_are_named(tmp_path: Path) -> None:
    bib, tex = tmp_path / "r.bib", tmp_path / "d.tex"
    abstract = "Blue mould makes cheese ripen. Ripening takes cheese months. Stars shine."
    bib.write_text(f"@article{{a, title={{Cheese}}, author={{Roe, J.}}, abstract={{{abstract}}}}}")
    tex.write_text(
        "\\newcommand{\\refs}[1]{\\citep{#1}}\nCheese ripens by blue mould \\refs{a}.\n\n"
        "As \\citet{a} showed, both act.\n\\input{part2}\n"
    )
    found = check_draft(bib, tex)
    assert [one.key for one in found.judgements] == ["a", "a"]
    assert found.judgements[1].nearness > 0.3, "the sentence before tells what both are"
    assert [e.text for e in found.judgements[0].evidence] == [
        "Blue mould makes cheese ripen.",
        "Ripening takes cheese months.",
    ]
    assert "d.tex, line 5: part2 is not checked" in found.notes[0]
    part = tmp_path / "part2.tex"
    part.write_text("Milk is white.")
    assert not any("is not checked" in note for note in check_draft(bib, [tex, part]).notes)
    assert "Pass a LaTeX file" in check_draft(bib, part).notes[0]


def test_the_command(
    draft: tuple[Path, Path], demo_atlas: Atlas, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bib, tex = map(str, draft)
    words = ["check", bib, tex, "--atlas", str(demo_atlas.path), "--no-model"]
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"]["quoted"] == 1
    assert main(words) == 0
    assert "4 citations in" in capsys.readouterr().out
    assert main(["check", bib, "no-such.tex"]) == 2
    (tmp_path / "empty.bib").write_text("nothing")
    with pytest.raises(InputError, match="no BibTeX entry"):
        check_draft(tmp_path / "empty.bib", tex)


def test_a_report_has_the_mismatch_and_the_status_of_each_entry(
    demo_atlas: Atlas, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paper = some_paper(demo_atlas)
    bib, tex = tmp_path / "a.bib", tmp_path / "a.tex"
    title = "<script>alert(1)</script> heats $z \\sim 2$ gas"
    bib.write_text(
        f"@article{{roe, title={{{title}}}, author={{Roe, J.}}, year={{2001}},\n"
        "  abstract={We study dust. It rotates in 16.79 h in the models of this rotating gas.}}\n"
        f"@article{{in, title={{{paper.title}}}, author={{{' and '.join(paper.authors)}}},\n"
        "  journal={arXiv preprint arXiv:2401.00001}}\n"
        f"@article{{published, title={{{paper.title}}}, adsurl={{{ADS}{paper.bibcode}}}}}\n"
        f"@article{{wrong, title={{Cheese ripens slowly}}, adsurl={{{ADS}{paper.bibcode}}}}}",
        encoding="utf-8",
    )
    tex.write_text("The gas of these models rotates in 6.79 h with [x](y) \\cite{roe}.")
    words = ["check", str(bib), str(tex), "--atlas", str(demo_atlas.path), "--no-model"]
    found = {}
    for ending in ("html", "md", "json"):
        assert main([*words, "--json", "-o", str(tmp_path / f"report.{ending}")]) == 0
        printed = capsys.readouterr()
        assert "the report on 1 citation" in printed.err
        found[ending] = (tmp_path / f"report.{ending}").read_text(encoding="utf-8")
    assert json.loads(found["json"]) == json.loads(printed.out)
    [citation] = json.loads(printed.out)["citations"]
    assert citation["verdict"] == "mismatch"
    assert citation["deciding"]["text"].startswith("It rotates in 16.79 h")
    assert (citation["draft_says"], citation["paper_says"]) == ("6.79 h", "16.79 h")
    entries = {entry["key"]: entry for entry in json.loads(printed.out)["bibliography"]}
    assert {key: entry["status"] for key, entry in entries.items()} == {
        "roe": "unknown",
        "in": "now published",
        "published": "in the atlas",
        "wrong": "in the atlas",
    }
    other = {key: entry["other_title"] for key, entry in entries.items()}
    assert other == {"roe": None, "in": None, "published": None, "wrong": paper.title}
    assert entries["in"]["published_as"].startswith(f"{paper.bibcode}, {paper.journal}")
    assert entries["published"]["published_as"] is None
    assert main(words) == 0
    text = capsys.readouterr().out
    for said in (
        "identifier is that of",
        "6.79 h",
        "16.79 h",
        f"now published as {paper.bibcode}",
        "unknown",
    ):
        for report in (text, found["md"], found["html"]):
            assert said in report
    assert "heats z ∼ 2 gas" in found["md"]
    assert "[x](y)" not in found["md"]
    assert "<script" not in found["html"] + found["md"].replace("\\<script", "")
    assert main([*words, "-o", str(tmp_path / "report.pdf")]) == 2
    assert "ends in one of .md, .html, .json" in capsys.readouterr().err


def test_a_contradiction_found_by_a_model_quotes_both(
    draft: tuple[Path, Path], desk: AtlasCollection, server: OpenAIServer, model: ChatModel
) -> None:
    judging(server, ["supported", "contradicted"])
    found = check_draft(*draft, desk=desk, model=model).judgements[2]
    assert found.draft_says == found.part
    assert found.paper_says == "Cheese ripens in caves."


@pytest.mark.parametrize(
    ("claim", "sentence", "difference"),
    [
        ("It rotates in 6.79 h.", "Its rotation period is 16.79 h.", "6.79 h here, 16.79 h in"),
        ("The gas has 1.2 keV.", "We measure 5.7 keV in the gas.", "1.2 keV here, 5.7 keV in"),
        ("They found 12,000 bursts.", "We detect 4,539 bright bursts.", "12,000 bursts here"),
        ("Jets do not heat the gas.", "We show that jets heat the gas.", "the paper says"),
        ("GJ 1214 b is rocky.", "We find that L 98-59 b is rocky.", "GJ 1214 b here, L 98-59 b"),
        ("The delay was 31 minutes.", "Eclipses arrive 660 s late.", "31 minutes here"),
        ("It lies at 65 per cent.", "About 25% of them return.", "65% here, 25%"),
    ],
)
def test_numbers_objects_and_negations_that_differ_are_named(
    claim: str, sentence: str, difference: str
) -> None:
    assert difference in find_mismatch(claim, "", [sentence])


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("It rotates in 16.8 hours.", "Its rotation period is 16.79 h."),
        ("They found about 4,500 bursts.", "We detect 4,539 bright bursts."),
        ("The band lies near 1190 cm^-1, or 8.4 micron.", "The band is at 1188 cm⁻¹."),
        ("The delay was 11 minutes.", "Eclipses arrive 660 s late."),
        ("Oscillations near 200 mHz were seen.", "We report 0.2 Hz oscillations."),
        ("Jets heat the gas in clusters.", "We show that jets heat the gas."),
        ("L98-59 b is rocky.", "We find that L 98-59 b is rocky."),
        ("Slightly more than 5 sigma was reached.", "We report a 5.2σ detection."),
    ],
)
def test_rounded_numbers_and_other_units_do_not_differ(claim: str, sentence: str) -> None:
    assert find_mismatch(claim, "", [sentence]) == ""


def test_a_false_number_is_a_mismatch_and_an_unrelated_sentence_is_far(
    demo_atlas: Atlas, desk: AtlasCollection, tmp_path: Path
) -> None:
    numbered = (
        (paper, sentence)
        for paper in demo_atlas.engine.papers(range(200))
        for sentence in paper.abstract.split(". ")
        if re.search(r" \d{2,3} (?:stars|galaxies|pc|kpc|quasars|planets)\b", sentence)
    )
    paper, sentence = next(numbered)
    wrong = re.sub(r" (\d{2,3}) ", lambda found: f" {int(found[1]) * 7 + 3} ", sentence, count=1)
    bib, tex = tmp_path / "a.bib", tmp_path / "a.tex"
    bib.write_text(to_bibtex([paper]), encoding="utf-8")
    key = re.search(r"\{([^,]+),", bib.read_text(encoding="utf-8"))
    assert key
    escaped = [text.rstrip(".").replace("%", r"\%") for text in (wrong, sentence)]
    lines = [*escaped, f"{escaped[1]} \\cite{{{key[1]}}}. Cheese ripens in caves"]
    tex.write_text(
        "\\begin{document}\n"
        + "\n\n".join(f"{one} \\cite{{{key[1]}}}." for one in lines)
        + "\n\\end{document}\n",
        encoding="utf-8",
    )
    found = check_draft(bib, tex, desk=desk)
    assert [one.verdict for one in found.judgements] == ["mismatch", "quoted", "quoted", "far"]
    assert "in the paper" in found.judgements[0].why
    assert found.table["verdict"].tolist()[0] == "mismatch"
