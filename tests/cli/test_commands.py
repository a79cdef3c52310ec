"""The command line: one document on standard output, notes on standard error, exit status."""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import landscape
from landscape.cli import COMMANDS, main

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.cli import _building as building
from landscape.cli import _options as answering
from tests.servers import openai_server
from tests.servers.openai_server import KEY, OpenAIServer


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Function that makes `landscape info` raise an error."""

    def fail_with(error: BaseException) -> None:
        def fail(path: Path, **_: Any) -> None:
            raise error

        monkeypatch.setattr("landscape.open", fail)

    return fail_with


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for command in ("demo", "build", "info", "search", "figure", "evaluate", "fetch"):
        assert command in out


@pytest.mark.parametrize(
    "words",
    [[], ["paint"], ["build"], ["build", "x.jsonl"], ["figure"], ["fetch", "gopher"]],
    ids=" ".join,
)
def test_wrong_usage_exits_with_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("landscape: ")
    assert captured.err.count("\n") == 1


def test_an_unexpected_error_is_one_line_and_says_how_to_see_more(
    failing: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    failing(ZeroDivisionError("division by zero\nand more"))
    assert main(["info", "x.atlas"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "landscape: ZeroDivisionError: division by zero",
        "run with --debug for the traceback",
    ]


@pytest.mark.parametrize("words", [["--debug", "info", "x"], ["info", "x", "--debug"]])
def test_debug_shows_the_traceback(failing: Any, words: list[str]) -> None:
    failing(ZeroDivisionError("division by zero"))
    with pytest.raises(ZeroDivisionError):
        main(words)


def test_ctrl_c_says_how_to_go_on(failing: Any, capsys: pytest.CaptureFixture[str]) -> None:
    failing(KeyboardInterrupt())
    assert main(["info", "x.atlas"]) == 130
    assert capsys.readouterr().err == "stopped; run the same command again to continue\n"


def test_libraries_that_print_do_not_spoil_the_json(
    demo_atlas: landscape.Atlas, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = building.info

    @functools.wraps(inner)
    def chatty(*given: Any, **options: Any) -> answering.Answer:
        sys.stdout.write("a library says hello")
        return inner(*given, **options)

    monkeypatch.setattr(building, "info", chatty)
    assert main(["info", str(demo_atlas.path), "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["papers"] == len(demo_atlas)
    assert "a library says hello" in captured.err


def test_info_tells_what_the_atlas_holds(
    demo_atlas: landscape.Atlas, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", str(demo_atlas.path)]) == 0
    out = capsys.readouterr().out
    assert f"{len(demo_atlas):,}" in out
    assert "these papers do not exist" in out
    assert "all-MiniLM-L6-v2" in out
    for stage in demo_atlas.stages:
        assert stage in out

    assert main(["info", str(demo_atlas.path), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["generated"] is True
    assert facts["read"] == facts["papers"] + facts["merged"] + facts["rejected"]
    assert set(facts["stages"]) == set(demo_atlas.stages)


def test_evaluate_map_tells_the_stored_quality(
    demo_atlas: landscape.Atlas, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", "map", str(demo_atlas.path), "--json"]) == 0
    stored = json.loads(capsys.readouterr().out)
    assert stored == demo_atlas.quality
    assert 0 < stored["knn_recall_at_10"] <= 1


def test_evaluate_map_again_measures_the_same(
    demo_atlas: landscape.Atlas, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("landscape.mapping.quality.stability", lambda *_, **__: None)
    monkeypatch.setattr("landscape.mapping.quality.peak_recall", lambda *_, **__: None)
    assert main(["evaluate", "map", str(demo_atlas.path), "--again", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    for name in ("knn_recall_at_10", "trustworthiness", "category_accuracy_full"):
        assert again[name] == pytest.approx(demo_atlas.quality[name])


def test_search_prints_papers_or_one_json_document(
    demo_atlas: landscape.Atlas, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["search", str(demo_atlas.path), "stellar winds", "-k", "3", "--filter", "2000.."]
    assert main([*words, "--weight", "time", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [result["rank"] for result in found["results"]] == [1, 2, 3]
    assert {"paper_id", "arxiv_id", "bibcode", "title", "year", "score"} <= set(found["results"][0])
    assert found["settings"]["weights"]["time"] == 1
    assert found["spread"]["kind"] in ("one region", "two regions", "scattered")
    held = sum(region["papers"] for region in found["spread"]["regions"])
    assert held + found["spread"]["outside"] == 3
    assert found["coverage"]["searched"] < found["coverage"]["papers"] == len(demo_atlas)
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert " 1. " in printed
    assert "On the map, " in printed
    assert "these papers do not exist" in printed
    assert main([*words[:3], "--filter", "2000..;(dust"]) == 2
    assert "The filter cannot be read" in capsys.readouterr().err


def test_the_heatmap_is_drawn(
    demo_atlas: landscape.Atlas, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "map.png"
    assert main(["figure", "heatmap", str(demo_atlas.path), "-o", str(picture)]) == 0
    assert capsys.readouterr().out == f"{picture}\n"
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_papers_of_a_query_are_drawn(
    demo_atlas: landscape.Atlas, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "query.svg"
    words = ["figure", "query", str(demo_atlas.path), "stellar winds", "-o", str(picture)]
    assert main([*words, "-k", "5", "--filter", "2000..", "--colours", "dark"]) == 0
    assert capsys.readouterr().out == f"{picture}\n"
    assert picture.read_bytes().startswith(b"<?xml")
    assert picture.with_suffix(".csv").read_text(encoding="utf-8").count("\n") == 6
    assert "stellar winds" in picture.with_suffix(".alt.txt").read_text(encoding="utf-8")
    assert main([*words, "--filter", "2990.."]) == 2
    assert "no paper" in capsys.readouterr().err


def test_a_figure_of_an_unknown_kind_of_file_is_refused(
    demo_atlas: landscape.Atlas, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["figure", "heatmap", str(demo_atlas.path), "-o", str(tmp_path / "map.doc")]) == 2
    assert "map.doc" in capsys.readouterr().err
    # before anything is opened or searched
    assert main(["figure", "query", "no-such.atlas", "dust", "-o", str(tmp_path / "map.doc")]) == 2
    assert "map.doc" in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_error(demo_atlas: landscape.Atlas) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "landscape.cli", "info", str(demo_atlas.path)],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_build_goes_on_when_the_reader_of_its_notes_goes_away(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"title": f"Spiral galaxies {i}", "abstract": f"We measure {i} stellar haloes."}
        for i in range(6)
    ]
    source, out = tmp_path / "papers.jsonl", tmp_path / "a.atlas"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    read, write = os.pipe()
    os.close(read)
    words = ["--out", str(out), "--layout", "pca", "--tagger", "rules", "--workers", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "landscape.cli", "build", str(source), *words],
        stdout=write,
        stderr=write,
        check=False,
    )
    os.close(write)
    assert done.returncode == 0
    assert main(["info", str(out), "--verify"]) == 0
    assert "read 6 = kept 6" in capsys.readouterr().out


def test_without_a_terminal_spending_is_not_agreed_to(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", open(os.devnull))  # noqa: PTH123, SIM115 - stands for no terminal
    assert building.ask_on_terminal("Embed 1,000 papers for $1?") is False
    assert "--yes" in capsys.readouterr().err


def test_the_demo_ends_by_saying_what_to_open(
    demo_atlas: landscape.Atlas,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("landscape.pipeline.building.build", lambda *_, **__: demo_atlas)
    figures = tmp_path / "not" / "there" / "yet"
    words = ["demo", "--papers", "100", "--out", str(tmp_path / "d.atlas"), "--figures"]
    assert main([*words, str(figures)]) == 0
    out = capsys.readouterr().out
    assert "these papers do not exist" in out
    named = [Path(word) for word in out.split() if word.startswith(str(figures))]
    assert {path.suffix for path in named} == {".png", ".pdf"}
    assert all(path.stat().st_size > 1000 for path in named)
    _, _, after = out.partition("One finding: ")
    finding = re.match(r".* for \d+% of the papers on '.*' \((\d+) of (\d+); ", after)
    assert finding
    assert 0 < int(finding[1]) <= int(finding[2]) <= len(demo_atlas)
    _, _, steps = out.partition("Next:\n")
    assert len(steps.splitlines()) == 3


def test_search_exports_what_it_found(
    demo_atlas: landscape.Atlas, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["search", str(demo_atlas.path), "stellar winds", "-k", "3", "--json"]
    papers = tmp_path / "papers.bib"
    assert main([*words, "-o", str(papers)]) == 0
    captured = capsys.readouterr()
    assert len(json.loads(captured.out)["results"]) == 3
    assert f"{papers} contains 3 papers" in captured.err
    assert papers.read_text("utf-8").count("\n@") == 2
    assert main([*words, "--export", str(tmp_path / "papers.doc")]) == 2
    assert "papers.doc" in capsys.readouterr().err


def test_search_reranks_with_a_server(
    demo_atlas: landscape.Atlas, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["search", str(demo_atlas.path), "stellar winds", "--json", "--rerank-with"]
    with OpenAIServer() as server:
        monkeypatch.setenv("COHERE_API_KEY", KEY)
        monkeypatch.setenv("LANDSCAPE_RERANK_URL", server.url.replace("/v1", "/v2"))
        assert main([*words, "cohere:rerank-v3.5"]) == 0
        (request,) = server.requests
    assert request.body["model"] == "rerank-v3.5"
    found = json.loads(capsys.readouterr().out)["results"]
    assert [hit["score"] for hit in found] == [hit["parts"]["rerank"] for hit in found]
    monkeypatch.delenv("COHERE_API_KEY")
    monkeypatch.delenv("LANDSCAPE_RERANK_URL")
    assert main([*words, "cohere:rerank-v3.5"]) == 2
    assert "COHERE_API_KEY" in capsys.readouterr().err
    assert main([*words, "dice"]) == 2
    assert "no reranker 'dice'" in capsys.readouterr().err


def test_search_with_a_hypothetical_abstract(
    demo_atlas: landscape.Atlas, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["search", str(demo_atlas.path), "what is known", "--hyde"]
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "LANDSCAPE_LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)
    assert main(words) == 2
    assert "(HyDE) needs a language model: set OPENAI_API_KEY" in capsys.readouterr().err
    written = "We show that line-driven winds strip massive stars."
    with OpenAIServer() as server:
        server.reply = lambda _: written
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("LANDSCAPE_LLM_MODEL", "small-chat")
        monkeypatch.setattr("landscape.llm._client.default_cache_folder", lambda: None)
        assert main([*words, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["expansion"] == written
        assert main(words) == 0
        assert f"hypothetical abstract too: {written[:20]}" in capsys.readouterr().out
        server.always = openai_server.failing()
        monkeypatch.setattr("time.sleep", lambda _: None)
        assert main(words) == 0
        assert "Searched without a hypothetical abstract" in capsys.readouterr().err


def test_a_filter_may_begin_with_what_it_excludes(
    demo_atlas: landscape.Atlas, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["search", str(demo_atlas.path), "stellar winds", "--filter", "-title:stellar"]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["settings"]["filter"] == "-title:stellar"
    assert all("stellar" not in hit["title"].lower() for hit in found["results"])


def test_json_has_no_numbers_that_json_has_not() -> None:
    document = {"a": float("nan"), "b": [1.5, float("-inf")], "c": {"d": (1, None)}}
    written = answering.as_json(document)
    assert json.loads(written) == {"a": None, "b": [1.5, None], "c": {"d": [1, None]}}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_a_sentence(demo_atlas: landscape.Atlas) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "landscape.cli", "info", str(demo_atlas.path)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert (
        done.stderr
        == "landscape: the answer cannot be written to standard output (No space left on device)\n"
    )


def test_the_next_commands_can_be_run_from_where_the_demo_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / ".venv" / "bin" / "landscape"
    program.parent.mkdir(parents=True)
    program.touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", str(program.with_name("python")))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert building._program() == ".venv/bin/landscape"
    monkeypatch.setenv("PATH", str(program.parent))
    program.chmod(0o755)
    assert building._program() == "landscape"


def test_each_command_of_the_help_has_the_text_of_its_function() -> None:
    for commands in COMMANDS.values():
        for name, (where, text) in commands.items():
            module, function = where.split(":")
            found = getattr(importlib.import_module(f"landscape.cli._{module}"), function)
            if not function.startswith("add_"):
                assert inspect.getdoc(found) == text, name


def test_chosen_papers_are_asked(
    demo_atlas: landscape.Atlas, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = demo_atlas.search("winds of massive stars", k=2).papers
    names = [word for paper in chosen for word in ("--paper", paper.label)]
    question = "What drives the winds of massive stars?"
    assert main(["ask", str(demo_atlas.path), question, *names, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    quoted = {one["paper_id"] for claim in answer["claims"] for one in claim["evidence"]}
    assert quoted
    assert quoted <= {paper.paper_id for paper in chosen}
    assert main(["ask", str(demo_atlas.path), question, "--paper", "1900Nobody"]) == 2
    assert "1900Nobody" in capsys.readouterr().err


def test_the_method_of_the_keyphrases_has_the_name_of_its_setting(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["build", "--help"])
    shown = capsys.readouterr().out
    assert "--keywords CHOICE" in shown
    assert "--keywords-limit INT" in shown
