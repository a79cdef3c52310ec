"""Commands that print tables and write figures for the browser."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import landscape
from landscape.cli import main
from landscape.figures.plotly_backend import MAX_MARKS, count_marks

TABLES = {
    "concepts": [],
    "uat": [],
    "uat-gaps": ["--limit", "20"],
    "impact": ["--since", "2000"],
    "before-after": ["ALMA"],
    "facilities": ["HST", "ALMA"],
    "reviews": [],
    "review-gaps": [],
    "trends": [],
    "new": ["--months", "24"],
    "compare": ["facility:HST", "facility:Gaia"],
    "institutions": [],
    "countries": [],
}


def check_latex(text: str, columns: list[str]) -> None:
    """Check that a LaTeX table is narrow and complete, and names its omitted columns."""
    body = text[text.index(r"\toprule") : text.index(r"\bottomrule")]
    rows = [line for line in body.splitlines() if line.endswith(r"\\")]
    widths = {len(re.split(r"(?<!\\) & ", row)) for row in rows}
    assert len(widths) == 1
    assert 2 <= widths.pop() <= 8
    assert len(rows) <= 41
    assert "nan" not in body.lower().split()
    left_out = re.search("(?m)^% Other columns, in the CSV file: (.*)$", text)
    if left_out:
        assert set(left_out[1].split(", ")) < set(columns)
        assert "the CSV file has all" in text
    assert len(re.findall(r"(?<!\\)\{", text)) == len(re.findall(r"(?<!\\)\}", text))


@pytest.mark.parametrize("kind", TABLES)
def test_every_table_is_printed_and_written(
    kind: str, demo_atlas: landscape.Atlas, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["table", kind, str(demo_atlas.path), *TABLES[kind]]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["bounds"]["papers"] == len(demo_atlas)
    assert found["denominators"]
    assert found["table"] or kind == "new"  # nothing is new in 400 papers
    assert main([*words, "-o", str(tmp_path / "table.csv")]) == 0
    lines = (tmp_path / "table.csv").read_text().splitlines()
    assert any("do not exist" in line for line in lines if line.startswith("#"))
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert len(rows) == len(found["table"])
    assert main([*words, "-o", str(tmp_path / "table.tex")]) == 0
    check_latex((tmp_path / "table.tex").read_text(), lines[-len(rows) - 1].split(","))


@pytest.mark.parametrize("kind", ["concepts", "countries"])
def test_every_table_has_a_limit(
    kind: str, demo_atlas: landscape.Atlas, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["table", kind, str(demo_atlas.path), "--limit", "2", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["table"]) == 2
    assert main(["table", kind, str(demo_atlas.path), "--limit", "0"]) == 2
    assert "The limit is 0; give at least 1." in capsys.readouterr().err


def test_a_survey_is_listed_by_verdict_within_80_columns(
    demo_atlas: landscape.Atlas, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    words = ["survey", str(demo_atlas.path), "What drives the winds of massive stars?"]
    assert main(words) == 0
    brief = capsys.readouterr().out
    headings = re.findall(r"(?m)^(Very likely|Likely|Possible): \d+ papers?$", brief)
    assert headings == [one for one in ("Very likely", "Likely", "Possible") if one in headings]
    assert headings
    assert max(len(line) for line in brief.splitlines() if "http" not in line) <= 80
    assert main([*words, "--reasons"]) == 0
    assert "of the words of the question" in capsys.readouterr().out
    assert "of the words of the question" not in brief


def test_an_author_is_followed(
    demo_atlas: landscape.Atlas, capsys: pytest.CaptureFixture[str]
) -> None:
    authors = demo_atlas.read_papers(["authors"])["authors"].explode()
    name = authors.value_counts().index[0]
    assert main(["table", "author", str(demo_atlas.path), name]) == 0
    assert name.partition(",")[0] in capsys.readouterr().out
    assert main(["table", "author", str(demo_atlas.path), "Nobody, N."]) == 2
    assert "Nobody" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "task"),
    [
        (["figure", "heatmap", "-o", "x.pdf"], "Drawing x.pdf"),
        (["table", "review-gaps"], "Computing review gaps"),
    ],
)
def test_a_terminal_shows_what_is_done(
    words: list[str], task: str, demo_atlas: landscape.Atlas, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "landscape.cli", *words[:2], str(demo_atlas.path), *words[2:]]
    controller, terminal = pytest.importorskip("pty").openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=terminal, env=environment
    ) as process:
        os.close(terminal)
        shown = b""
        with suppress(OSError):  # Linux reports the end of a terminal as an error
            while part := os.read(controller, 4096):
                shown += part
        os.close(controller)
        assert process.stdout is not None
        assert process.stdout.read()
    assert process.returncode == 0, shown
    assert task.encode() in shown
    if words[0] == "table":  # a part of the task has a line of its own
        assert b"Ranking the regions" in shown
    quiet = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert task not in quiet.stderr


@pytest.mark.parametrize("kind", ["uat", "impact", "reviews", "trends", "slices"])
def test_figures_have_twins_for_the_browser(
    kind: str, demo_atlas: landscape.Atlas, tmp_path: Path
) -> None:
    page = tmp_path / f"{kind}.html"
    assert main(["figure", kind, str(demo_atlas.path), "-o", str(page)]) == 0
    assert "plotly" in page.read_text().lower()
    name = {"slices": "time_slices"}.get(kind, kind)
    twin = landscape.figures.interactive(name, demo_atlas)
    if kind == "trends" and not twin.data:
        assert "is significant" in twin.layout.annotations[-1].text
    else:
        assert 0 < count_marks(twin) <= MAX_MARKS


def test_the_papers_of_an_author_have_a_twin(demo_atlas: landscape.Atlas, tmp_path: Path) -> None:
    authors = demo_atlas.read_papers(["authors"])["authors"].explode()
    name, n_papers = next(iter(authors.value_counts().items()))
    figure = landscape.figures.interactive("author", demo_atlas, name)
    drawn = {trace.name: trace for trace in figure.data}
    assert len(drawn["papers"].x) == n_papers
    page = tmp_path / "author.html"
    assert main(["figure", "author", str(demo_atlas.path), name, "-o", str(page)]) == 0


def test_every_figure_has_a_twin() -> None:
    drawn = set(landscape.figures.__all__) - {"animate", "interactive", "intervals", "report"}
    drawn -= {"survey_map", "survey_tree"}  # of a survey, not of an atlas; it is shown as a page
    drawn |= {"before_after", "compare_facilities", "countries", "facilities", "uat_gaps"}
    for kind in (
        name for name in drawn if not name.startswith("save_") and not name.endswith("_scene")
    ):
        # Of no atlas at all: a kind that is not there would be told first, as an InputError.
        with pytest.raises((AttributeError, TypeError)):
            landscape.figures.interactive({"query_map": "query"}.get(kind, kind), None)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["impact", "--facility", "Huble"], "Hubble"),
        (["uat", "--concept", "Galxies"], "Galaxies"),
        (["compare", "year:1800", "HST"], "1800"),
        (["report", "Nowhere Telescope"], "Nowhere"),
        (["impact", "--facility", "ALMA", "--since", "2050"], "2050"),
    ],
)
def test_bad_input_is_told_in_one_sentence(
    words: list[str],
    said: str,
    demo_atlas: landscape.Atlas,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kind, *more = words
    picture = tmp_path / "x.pdf"
    assert main(["figure", kind, str(demo_atlas.path), *more, "-o", str(picture)]) == 2
    told = capsys.readouterr().err.strip().splitlines()
    assert said in told[-1]
    assert not picture.exists()


def test_a_table_of_an_unknown_kind_of_file_is_refused_before_anything_is_opened(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["table", "impact", "no-such.atlas", "-o", "impact.xls"]) == 2
    assert "impact.xls" in capsys.readouterr().err


def test_mentions_are_measured_on_labels(
    demo_atlas: landscape.Atlas, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = demo_atlas.read_papers(["paper_id"])["paper_id"]
    found = demo_atlas.missions.query("field == 'title'").head(30)
    records = [
        {
            "arxiv_id": ids[row.paper_row],
            "field": "title",
            "surface": row.surface,
            "occurrence": 0,
            "facility": row.facility if place % 3 else "HWO",
        }
        for place, row in enumerate(found.drop_duplicates("paper_row").itertuples())
    ]
    labels = tmp_path / "labels.jsonl"
    labels.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    words = ["evaluate", "mentions", str(demo_atlas.path), "--labels", str(labels), "--json"]
    assert main(words) == 0
    table = json.loads(capsys.readouterr().out)["table"]
    ours = [row for row in table if row["method"] == "with context"]
    wrong = sum(record["facility"] == "HWO" for record in records)
    assert sum(row["labelled"] for row in ours) == len(records) > wrong > 0
    right = sum(row["recall"] * row["labelled"] for row in ours)
    assert right == pytest.approx(len(records) - wrong)
    labels.write_text('{"arxiv_id": "1"}\n')
    assert main(words) == 2
    assert "line 1" in capsys.readouterr().err


def test_tags_are_measured_on_given_concepts(
    demo_atlas: landscape.Atlas, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = demo_atlas.read_papers(["paper_id"])["paper_id"]
    best = demo_atlas.uat.sort_values("score").drop_duplicates("paper_row", keep="last")
    truth = tmp_path / "truth.jsonl"
    truth.write_text(
        "".join(
            json.dumps({"arxiv_id": ids[row.paper_row], "uat": [row.concept_id]}) + "\n"
            for row in best.head(40).itertuples()
        )
    )
    words = ["evaluate", "tagging", str(demo_atlas.path), "--truth", str(truth), "--json"]
    assert main(words) == 0
    table = {row["method"]: row for row in json.loads(capsys.readouterr().out)["table"]}
    assert table["tagging"]["papers"] == 40
    assert table["tagging"]["recall"] > 0.7 > table["embedding alone"]["recall"]
    truth.write_text(json.dumps({"arxiv_id": ids[0], "uat": ["no-such-concept"]}) + "\n")
    assert main(words) == 2
    assert "is in the thesaurus of" in capsys.readouterr().err


def test_gaps_of_the_thesaurus_are_backtested(
    demo_atlas: landscape.Atlas, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(demo_atlas.path)
    earlier, later = tmp_path / "UAT-1.0.csv", tmp_path / "UAT-2.0.csv"
    rows = [("1", "Stars", "", ""), ("2", "Galaxies", "", ""), ("3", "Exoplanets", "", "")]
    for file, more in ((earlier, []), (later, [("4", "Stellar winds", "", "1")])):
        lines = ["concept_id,label,alternatives,broader"]
        file.write_text("\n".join([*lines, *(",".join(row) for row in [*rows, *more])]) + "\n")
    words = ["--earlier", str(earlier), "--later", str(later), "--json"]
    assert main(["evaluate", "thesaurus", path, *words]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["denominators"]["added concepts"] == 1
    assert {row["method"] for row in found["table"]} >= {"landscape", "frequency"}


def test_concepts_are_proposed_in_the_form_of_the_maintainers(
    demo_atlas: landscape.Atlas, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(demo_atlas.path)
    assert main(["propose", path]) == 0
    form = capsys.readouterr().out
    assert all(f"{field}:" in form for field in ("Preferred term", "Broader term", "Definition"))
    assert main(["propose", path, "-o", str(tmp_path / "all.csv")]) == 0
    rows = list(csv.DictReader((tmp_path / "all.csv").open()))
    assert rows
    assert {row["Definition"] for row in rows} == {""}  # left to a human
    assert main(["propose", path, "No such phrase"]) == 2
    assert main(["propose", path, "-o", "all.xls"]) == 2


def test_a_table_has_seven_columns_and_the_others_with_an_option(demo_atlas, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    words = ["table", "impact", str(demo_atlas.path)]
    assert main(words) == 0
    first = capsys.readouterr().out
    assert re.search(r"\d more columns with --all-columns: [^.]*Bridging\s*$", first)
    assert first.count("Bridging") == 1, "only in the note, not in the table"
    assert main([*words, "--all-columns"]) == 0
    whole = capsys.readouterr().out
    assert "Bridging" in whole
    assert "more column" not in whole
    assert "do not fit" not in whole
    assert main([*words, "--json"]) == 0
    assert "bridging" in json.loads(capsys.readouterr().out)["table"][0]
