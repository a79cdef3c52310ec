"""Exports of results and answers are complete and contain no active content."""

from __future__ import annotations

import dataclasses
import datetime
import json
import re
from pathlib import Path

import pandas as pd
import pytest

from landscape._bibliography import citation_keys, to_bibcodes, to_bibitems, to_bibtex, to_ris
from landscape.corpus.readers.bibtex import BibtexReader
from landscape.corpus.records import RawRecord, Rejection, normalise
from landscape.errors import InputError
from landscape.types import Answer, Coverage, Paper, Results, write_results
from tests.answers.sample_results import HOSTILE, sample_answer, sample_papers, sample_results


@pytest.fixture
def papers() -> tuple[Paper, ...]:
    return sample_papers()


@pytest.fixture
def results() -> Results:
    return sample_results()


@pytest.fixture
def answer() -> Answer:
    return sample_answer()


def test_quoted_papers_are_numbered_from_one(answer: Answer) -> None:
    found = answer.results
    hits = tuple(dataclasses.replace(hit, rank=3 * hit.rank) for hit in found.hits)
    text = dataclasses.replace(answer, results=dataclasses.replace(found, hits=hits)).to_text()
    numbers = re.findall(r"^ ?(\d+)\. ", text, flags=re.MULTILINE)
    assert numbers == [str(n) for n in range(1, len(numbers) + 1)]
    assert numbers


def test_table_has_one_row_a_paper(results: Results) -> None:
    table = results.table
    assert list(table.columns) == [
        "rank",
        "title",
        "authors",
        "year",
        "label",
        "bibcode",
        "arxiv_id",
        "doi",
        "cites",
        "score",
        "outlier",
        "url",
    ]
    assert table["rank"].tolist() == [1, 2, 3, 4]
    assert table["year"].tolist()[:2] == [2022, 2024]
    assert table["year"].isna().tolist() == [False, False, True, False]
    assert table["label"][1] == "arXiv:2401.00001"


def test_table_of_nothing_has_the_same_columns(results: Results) -> None:
    empty = Results("q", (), results.coverage)
    assert list(empty.table.columns) == list(results.table.columns)
    assert empty.table.dtypes.equals(results.table.dtypes)


def test_json_has_what_the_design_promises(results: Results) -> None:
    found = json.loads(json.dumps(results.to_dict(), allow_nan=False))
    assert found["query"] == results.query
    assert {"rank", "paper_id", "arxiv_id", "bibcode", "title", "year", "score"} <= set(
        found["results"][0]
    )
    assert found["coverage"]["searched"] + found["coverage"]["filtered_away"] == 1200
    assert found["settings"] == {"k": 4, "weights": ["time"]}
    assert found["results"][2]["title"] == HOSTILE


def test_answer_as_json_keeps_claims_with_their_places(answer: Answer) -> None:
    found = json.loads(json.dumps(answer.to_dict(), allow_nan=False))
    by_id = {paper["paper_id"]: paper for paper in found["results"]["results"]}
    for claim in found["claims"]:
        for piece in claim["evidence"]:
            abstract = by_id[piece["paper_id"]]["abstract"]
            assert abstract[piece["start"] : piece["end"]] == piece["text"]
    assert [claim["verdict"] for claim in found["claims"]] == [
        "supported",
        "contradicted",
        "not found",
        "not found",
    ]
    assert found["consensus"]["stances"][0]["position"] == "supports"
    assert found["trace"][0]["action"] == "search: `dust`"


def test_markdown_cannot_be_steered_by_papers(answer: Answer) -> None:
    page = answer.to_markdown()
    assert not re.search(r"(?<!\\)<(?=[a-z/!])", page)
    assert "](b)" not in page.replace(answer.text.replace("<", "&lt;"), "").replace(r"\](b)", "")
    assert "characters 12-21" in page
    assert "30 of 1,200 papers" in page


def test_bibtex_reads_back(papers: tuple[Paper, ...], tmp_path: Path) -> None:
    path = tmp_path / "papers.bib"
    path.write_text(to_bibtex(papers), "utf-8")
    records = list(BibtexReader().read(path))
    assert all(isinstance(record, RawRecord) for record in records), records
    back = [
        normalise(record, file=path.name, source="bibtex")
        for record in records[:2]
        if isinstance(record, RawRecord)
    ]
    for paper, row in zip(papers, back, strict=False):
        assert not isinstance(row, Rejection), row
        assert row["title"] == paper.title
        assert row["abstract"] == paper.abstract
        assert row["bibcode"] == paper.bibcode
        assert row["arxiv_id"] == paper.arxiv_id
        assert row["date"] is not None
        assert (row["date"].year, row["date"].month) == (paper.date.year, paper.date.month)  # type: ignore[union-attr]  # these have one
    assert [row["authors"] for row in back] == [
        ["Smith, Anna B.", "Roe, Bo-Chen"],
        ["van Beethoven, Ludwig", "Müller, Ö.", "Planck Collaboration"],
    ]
    assert not back[0]["ads_keywords"]  # those of an atlas are found by machine
    assert back[0]["journal"] == "The Astrophysical Journal Letters"


def test_bibtex_has_only_known_fields() -> None:
    assert to_bibtex(
        [
            Paper(
                row=0,
                paper_id="x",
                title="Dust & gas",
                abstract="It cools.",
                authors=("Rubin, Vera",),
            )
        ]
    ) == (
        "@misc{x,\n  author = {{Rubin}, Vera},\n  title = {{Dust \\& gas}},\n"
        "  abstract = {It cools.}\n}"
    )


def test_ris_and_bibitem_of_a_small_record() -> None:
    small = Paper(
        row=0,
        paper_id="x",
        title="Dust",
        abstract="It cools.",
        authors=("Vera Rubin",),
        doi="10.1/2",
    )
    assert to_ris([small]).splitlines() == [
        "TY  - GEN",
        "AU  - Rubin, Vera",
        "TI  - Dust",
        "AB  - It cools.",
        "DO  - 10.1/2",
        "ID  - x",
        "ER  -",
    ]
    code = "2022ApJ...931L..10S"
    date = datetime.date(2022, 5, 1)
    letter = Paper(
        row=0,
        paper_id=code,
        title="T",
        abstract="",
        authors=("Smith, A.", "Roe, B. C."),
        date=date,
        bibcode=code,
        doi="10.3847/1",
    )
    assert to_bibitems([letter]) == (
        rf"\bibitem[{{Smith}} \& {{Roe}}(2022)]{{{code}}} {{Smith}}, A., \& {{Roe}}, B.~C. 2022,"
        "\n  \\apjl, 931, L10, \\dodoi{10.3847/1}"
    )


def test_bibtex_braces_balance_whatever_the_papers_hold(papers: tuple[Paper, ...]) -> None:
    for entry in to_bibtex(papers).split("\n\n"):
        depth = 0
        for mark in re.sub(r"\\.", "", entry):
            depth += {"{": 1, "}": -1}.get(mark, 0)
            assert depth >= 0
        assert depth == 0
        assert "\n@" not in entry


def test_what_latex_would_take_for_commands_is_escaped() -> None:
    title = r"{b} ~ 10^5 \input{x} $a_1$ #2 50% A&B <>"
    entry = to_bibtex([Paper(row=0, paper_id="x", title=title, abstract="")])
    assert r"{{\{b\} \textasciitilde{} 10\textasciicircum{}5 \textbackslash{}input\{x\}" in entry
    assert r"\$a\_1\$ \#2 50\% A\&B \ensuremath{<}\ensuremath{>}}}" in entry


def test_volume_and_page_come_from_the_bibcode(papers: tuple[Paper, ...]) -> None:
    entries = to_bibtex(papers).split("\n\n")
    assert "volume = {931}" in entries[0]
    assert "pages = {L10}" in entries[0]
    assert r"journal = {\apjl}" in entries[0]
    assert r"journal = {\aap}" in entries[3]
    assert "pages = {L53}" in entries[3]
    assert "volume" not in entries[1]


def test_no_bibcode_is_invented(papers: tuple[Paper, ...]) -> None:
    assert to_bibcodes(papers) == "2022ApJ...931L..10S\n2022A&A...412L..53Y"
    assert "arXiv24" not in to_bibtex(papers) + to_ris(papers) + to_bibitems(papers)
    wrong = Paper(row=0, paper_id="x", title="T", abstract="", bibcode="not a bibcode")
    assert to_bibcodes([wrong]) == ""


def test_keys_are_unique_stable_and_fit_for_latex(papers: tuple[Paper, ...]) -> None:
    keys = citation_keys(papers)
    assert keys[0] == "2022ApJ...931L..10S"
    assert len({key.lower() for key in keys}) == len(keys)
    assert all(re.fullmatch(r"[A-Za-z0-9:.+/&-]+", key) for key in keys)
    assert citation_keys(papers[:2]) == keys[:2]
    twice = citation_keys([papers[0], papers[0]])
    assert twice == ["2022ApJ...931L..10S", "2022ApJ...931L..10S-2"]


def test_bibitems_tell_the_same_authors_and_year_apart(papers: tuple[Paper, ...]) -> None:
    items = to_bibitems(papers).split("\n\n")
    assert items[0].startswith(
        r"\bibitem[{Smith} \& {Roe}(2022a)]{2022ApJ...931L..10S} {Smith}, A."
    )
    assert items[3].startswith(r"\bibitem[{Smith} \& {Roe}(2022b)]")
    assert "B.-C. 2022a" in items[0]
    assert items[1].startswith("\\bibitem[{van Beethoven} et~al.(2024)]")
    assert "arXiv:2401.00001" in items[1]


def test_ris_is_one_tag_a_line(papers: tuple[Paper, ...]) -> None:
    lines = to_ris(papers).splitlines()
    assert all(re.match(r"[A-Z][A-Z0-9]  -", line) for line in lines)
    assert lines.count("ER  -") == len(papers)
    assert "AU  - van Beethoven, Ludwig" in lines
    assert not any(line.startswith("KW") for line in lines)  # found by machine


def test_control_characters_never_start_a_new_field() -> None:
    paper = Paper(
        row=0,
        paper_id="x",
        title="T\nER  - \n@misc{y,",
        abstract="a\u2028b\x00c",
        authors=("A\nAU  - B",),
    )
    assert len(to_ris([paper]).splitlines()) == 6
    entry = to_bibtex([paper])
    assert entry.count("@misc{") == 1
    assert r"@misc\textbraceleft{}y" in entry  # BibTeX counts braces after a backslash, too


def test_coverage_of_an_unknown_corpus() -> None:
    found = Results("q", (), Coverage("A", 0, 0, {}, None, None))
    assert found.to_dict()["coverage"]["papers"] == 0


def test_a_paper_without_authors_is_written_too(answer: Answer) -> None:
    bare = dataclasses.replace(answer.results.hits[0].paper, authors=())
    hit = dataclasses.replace(answer.results.hits[0], paper=bare)
    results = dataclasses.replace(answer.results, hits=(hit,))
    assert bare.label[:4] in dataclasses.replace(answer, results=results).to_markdown()


def test_results_are_written_as_what_the_name_ends_in(answer: Answer, tmp_path: Path) -> None:
    results = answer.results
    texts = {}
    for ending in ("bib", "ris", "tex", "txt", "csv", "json"):
        path = write_results(results, tmp_path / f"papers.{ending}")
        texts[ending] = path.read_text("utf-8")
    assert texts["bib"] == results.to_bibtex() + "\n"
    assert texts["ris"] == results.to_ris() + "\n"
    assert texts["tex"] == results.to_aastex() + "\n"
    assert texts["txt"].split() == results.to_bibcodes().split()
    assert json.loads(texts["json"]) == results.to_dict()
    assert len(pd.read_csv(tmp_path / "papers.csv")) == len(results)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        f"papers.{ending}" for ending in texts
    )


def test_a_title_is_no_formula_in_a_table(answer: Answer, tmp_path: Path) -> None:
    hit = answer.results.hits[0]
    paper = dataclasses.replace(hit.paper, title="=1+1")
    results = dataclasses.replace(answer.results, hits=(dataclasses.replace(hit, paper=paper),))
    path = write_results(results, tmp_path / "papers.csv")
    assert pd.read_csv(path)["title"][0] == "'=1+1"


def test_where_papers_cannot_be_written_is_told(answer: Answer, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'papers.doc'.*\.bib, \.ris, \.tex"):
        write_results(answer.results, tmp_path / "papers.doc")
    (tmp_path / "papers.bib").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        write_results(answer.results, tmp_path / "papers.bib")


def test_a_published_paper_has_the_year_and_place_of_its_journal() -> None:
    paper = Paper(
        row=0,
        paper_id="2504.01234",
        title="Dust",
        abstract="",
        authors=("Vera Rubin",),
        date=datetime.date(2025, 4, 2),
        bibcode="2023ApJ...959...23R",
        arxiv_id="2504.01234",
        keywords=("disfavor",),
    )
    ris = to_ris([paper]).splitlines()
    for line in (
        "TY  - JOUR",
        "PY  - 2023",
        "JO  - Astrophysical Journal",
        "VL  - 959",
        "SP  - 23",
    ):
        assert line in ris
    assert not any(line.startswith(("DA", "KW")) for line in ris)
    bibtex = to_bibtex([paper])
    assert "year = {2023}" in bibtex
    assert "month" not in bibtex
    assert "(2023)" in to_bibitems([paper])
    eprint = dataclasses.replace(paper, bibcode="2025arXiv250401234R")
    assert "year = {2025}" in to_bibtex([eprint])
    assert "month = apr" in to_bibtex([eprint])


def test_bibitems_of_odd_authors() -> None:
    odd = Paper(row=0, paper_id="x", title="Dust", abstract="", authors=("Harvard & Smithsonian",))
    assert r"{Smithsonian}, H. " in to_bibitems([odd])
    assert "Dust 2" in to_bibitems(
        [Paper(row=0, paper_id="y", title="Dust", abstract="", date=datetime.date(2020, 1, 1))]
    )


def test_an_eprint_with_the_bibcode_of_a_journal_is_an_article() -> None:
    paper = Paper(
        row=0, paper_id="x", title="T", abstract="", bibcode="2023ApJ...959...23R", doctype="eprint"
    )
    assert to_ris([paper]).startswith("TY  - JOUR")
    eprint = dataclasses.replace(paper, bibcode="2025arXiv250401234R")
    assert to_ris([eprint]).startswith("TY  - UNPB")


@pytest.mark.parametrize(
    ("name", "bibtex", "ris", "bibitem"),
    [
        ("J. Smith Jr.", "{Smith}, Jr., J.", "Smith, J., Jr.", "{Smith}, J., Jr."),
        ("M. A. Smith III", "{Smith}, III, M. A.", "Smith, M. A., III", "{Smith}, M.~A., III"),
        ("Smith III, M.", "{Smith}, III, M.", "Smith, M., III", "{Smith}, M., III"),
        ("Smith, Jr., J.", "{Smith}, Jr., J.", "Smith, J., Jr.", "{Smith}, J., Jr."),
        ("Smith Jr.", "{Smith Jr.}", "Smith Jr.", "{Smith Jr.}"),
    ],
)
def test_a_suffix_is_no_family_name(name: str, bibtex: str, ris: str, bibitem: str) -> None:
    paper = Paper(row=0, paper_id="x", title="T", abstract="", authors=(name,))
    assert f"author = {{{bibtex}}}" in to_bibtex([paper])
    assert f"AU  - {ris}" in to_ris([paper]).splitlines()
    assert f"{{x}} {bibitem} n.d.," in to_bibitems([paper])


def test_a_bibitem_has_its_title_once() -> None:
    assert (
        to_bibitems([Paper(row=0, paper_id="x", title="Dust", abstract="")])
        == r"\bibitem[{Dust}(n.d.)]{x} Dust n.d."
    )


@pytest.mark.parametrize("evil", [r"}\input{/etc/passwd}", "^^5cinput^^7b/etc/passwd^^7d"])
def test_no_field_of_a_paper_puts_a_command_into_latex(evil: str) -> None:
    fields = {
        "title": evil,
        "abstract": evil,
        "doi": f"10.1234/{evil}",
        "arxiv_id": evil,
        "authors": (f"{evil}, A",),
        "journal": evil,
        "doctype": evil,
        "bibcode": evil,
        "categories": (evil,),
        "paper_id": evil,
    }
    for name, value in fields.items():
        for without in ((), ("bibcode",), ("bibcode", "journal")):
            given = {"title": "T", "paper_id": "x", "arxiv_id": "2001.00001", name: value}
            blank = dict.fromkeys(without)
            paper = dataclasses.replace(sample_papers()[0], **{**given, **blank})
            for written in (to_bibtex([paper]), to_bibitems([paper])):
                assert "^^" not in written.replace("\\^{}", "")
                assert "\\input" not in written.replace("\\textbackslash{}input", "")


def test_a_forged_bibcode_puts_nothing_into_latex() -> None:
    code = "2022ApJ...931.1&2.S"
    text = to_bibitems(
        [Paper(row=0, paper_id=code, title="T", abstract="", authors=("Smith, A.",), bibcode=code)]
    )
    assert "&" not in text.replace(code, "")  # as a key it is never printed
    assert "ApJ" in text
