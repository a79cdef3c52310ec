"""Full texts and bibliographies in a build and in updates."""

from __future__ import annotations

import gzip
import json
import shutil
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from landscape._serializer import SHOWN, shown_columns
from landscape.atlas import Atlas, build, update
from landscape.errors import InputError
from landscape.overlays.missions import bibliography, impact, software
from landscape.search import open_engine
from landscape.search.passages import passage_index, passages_of, with_bodies
from landscape.search.sentences import sentences_of
from landscape.viewer.site import publish

from .conftest import QUICK, paper, write_papers

WORD = "zyxwvutsrq"  # a word of the bodies only
N_TEXTS = 6


def text_of(number: int, sentence: str = "") -> str:
    """Return the LaTeX source of a made-up paper, which cites the next one."""
    cited = paper(number + 1)["arxiv_id"]
    return (
        "\\documentclass{aastex}\\begin{document}\n"
        f"\\section{{Data}} We use spectra of sample {number} from Keck {WORD}. {sentence}\n"
        f"\\section{{Results}} The {WORD} of sample {number} is {number}.5 mas \\citep{{a,b}}.\n"
        "\\begin{acknowledgments} This work includes data collected by the TESS mission."
        "\\end{acknowledgments} \\facilities{HST (WFC3)} \\software{astropy}\n"
        f"\\begin{{thebibliography}}{{2}} \\bibitem{{a}} Doe, A. 2024, arXiv:{cited}\n"
        "\\bibitem{b} Roe, B. 2020, ApJ, 900, 12 \\end{thebibliography}\\end{document}"
    )


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    for number in range(N_TEXTS):
        (folder / f"{paper(number)['arxiv_id']}.tex").write_text(text_of(number))
    (folder / f"{paper(20)['arxiv_id']}.pdf").write_bytes(b"%PDF-1.4 torn")
    (folder / "2499.99999.tex").write_text(text_of(0))
    return folder


@pytest.fixture(scope="module")
def lists(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lists") / "tess.csv"
    rows = [(paper(n)["arxiv_id"], "tess" if n != 3 else "unrelated") for n in (0, 1, 2, 3, 9, 40)]
    path.write_text("\n".join(["arxiv,mission", *(f"{a},{b}" for a, b in rows)]))
    return path


def papers_of(folder: Path, numbers: Any) -> Path:
    return write_papers(folder / "few.jsonl", numbers, date="2024-06-01")


@pytest.fixture(scope="module")
def built(
    tmp_path_factory: pytest.TempPathFactory, texts: Path, lists: Path
) -> tuple[Atlas, list[str]]:
    folder, lines = tmp_path_factory.mktemp("full"), list[str]()
    atlas = build(
        papers_of(folder, range(28)),
        folder / "full.atlas",
        full_text=texts,
        bibliography=f"TESS[2024..2024]={lists}",
        say=lines.append,
        **QUICK,
    )
    return atlas, lines


def test_sections_and_references_are_layers(built: tuple[Atlas, list[str]]) -> None:
    atlas, lines = built
    sections = atlas.read_layer("sections", ["number", "kind", "heading", "text"])
    assert sections["paper_row"].nunique() == N_TEXTS
    first = atlas.sections([0])
    assert first["kind"].tolist() == [
        "data",
        "results",
        "acknowledgements",
        "facilities",
        "software",
    ]
    assert atlas.sections([0], kinds=["data"])["heading"].tolist() == ["Data"]
    references = atlas.read_of_papers("references.parquet", [0])
    assert references["bibcode"].tolist()[1] == "2020ApJ...900...12R"
    assert first["references"].map(list).tolist()[1] == [0, 1]
    graph = atlas.citations
    assert [one.paper_id for one in graph.references(paper(0)["arxiv_id"])][:1] == [
        paper(1)["arxiv_id"]
    ]
    assert any("2020ApJ...900...12R" in str(one) for one in graph.references(paper(0)["arxiv_id"]))
    said = "\n".join(lines)
    assert "cannot be read as a PDF" in said
    assert "1 file without a paper of this atlas: 2499.99999.tex" in said
    problems = atlas.read_layer("full_texts", ["file", "problem"])
    assert (problems["problem"] != "").sum() == 1


def test_facilities_and_software_of_the_body_count(built: tuple[Atlas, list[str]]) -> None:
    atlas, _ = built
    mentions = atlas.missions
    own = mentions[(mentions["paper_row"] == 0) & mentions["section"].notna()]
    used = {(row.facility, row.field, row.role) for row in own.itertuples()}
    assert used >= {
        ("Keck", "data", "science"),
        ("TESS", "acknowledgements", "science"),
        ("HST", "facilities", "science"),
    }
    table = software(atlas).table
    assert table[["software", "ascl", "papers"]].to_numpy().tolist() == [["Astropy", "1304.002", 6]]


def test_the_list_decides_where_it_is_complete(built: tuple[Atlas, list[str]]) -> None:
    atlas, lines = built
    assert any("tess.csv, 6 entries (" in line for line in lines)
    found = impact(atlas, ["TESS"], n_resamples=50)
    row = found.table.iloc[0]
    assert (row["papers"], row["list_papers"], row["text_papers"], row["both_papers"]) == (
        4,
        4,
        3,
        3,
    )
    assert (row["list_precision"], row["list_recall"]) == (0.5, 0.75)  # 6 texts, of which 3 listed
    assert "the list tess.csv decides for 2024" in found.caption
    assert set(SHOWN["impact"].split()[-7:]) <= set(found.table)
    agreement = bibliography(atlas, "TESS", by="year")
    assert shown_columns(agreement.table, agreement.kind)[:4] == ["year", "papers", "list", "text"]
    assert agreement.table["year"].tolist() == [2024]
    other = impact(atlas, ["HST"], n_resamples=50).table.iloc[0]
    assert other["papers"] == N_TEXTS
    assert "list_papers" not in other


def test_candidates_for_the_librarian(built: tuple[Atlas, list[str]]) -> None:
    found = bibliography(built[0], "TESS")
    lacking = found.table[found.table["candidate"] == "not in the list"]
    assert lacking["paper_id"].tolist() == [paper(n)["arxiv_id"] for n in (4, 5, 3)]
    assert lacking["list_says"].tolist() == ["", "", "unrelated"]
    assert set(lacking["sentence"]) == {"This work includes data collected by the TESS mission."}
    assert set(lacking["field"]) == {"acknowledgements"}
    years = found.tables["years"].iloc[0]
    assert (years["list"], years["text"], years["both"]) == (4, 6, 3)
    with pytest.raises(InputError, match="no bibliography of HST; it has one of TESS"):
        bibliography(built[0], "HST")


def test_passages_are_searched_and_quoted_with_their_section(
    built: tuple[Atlas, list[str]],
) -> None:
    atlas, _ = built
    index = passage_index(atlas)
    assert index is not None
    found = index.search(f"{WORD} of sample 4 in mas", k=3)
    assert (found[0].row, found[0].heading) == (4, "Results")
    answer = atlas.ask(f"What is the {WORD} of sample 4?", model=None)
    first = answer.claims[0].evidence[0]
    assert "4.5 mas" in first.text
    assert (first.section, first.paper_id) == ("Results", paper(4)["arxiv_id"])
    section = atlas.sections([4]).iloc[1]["text"]
    assert section[first.start : first.end] == first.text
    assert ", Results" in answer.text
    assert all(WORD not in one.abstract for one in answer.papers)  # only quoted


def test_an_update_keeps_full_texts_and_reads_only_changed_files(
    built: tuple[Atlas, list[str]], texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, copied = tmp_path / "full.atlas", tmp_path / "texts"
    shutil.copytree(built[0].path, folder)
    shutil.copytree(texts, copied)
    later = papers_of(tmp_path / "later", range(28, 34))
    updated = update(folder, later, workers=1)
    assert (
        updated.sections(range(28))["text"].tolist()
        == built[0].sections(range(28))["text"].tolist()
    )
    assert updated.bibliographies["paper_id"].notna().sum() == 5
    (copied / f"{paper(2)['arxiv_id']}.tex").write_text(text_of(2, "A new sentence."))
    (copied / f"{paper(30)['arxiv_id']}.tex").write_text(text_of(30))
    read: list[str] = []
    import landscape.pipeline._full_texts as stage

    original = stage.read_full_text
    monkeypatch.setattr(
        stage, "read_full_text", lambda path: (read.append(path.name), original(path))[1]
    )
    again = update(folder, full_text=copied, workers=1)
    assert {f"{paper(n)['arxiv_id']}.tex" for n in (2, 30)} <= set(read)
    assert f"{paper(0)['arxiv_id']}.tex" not in read
    assert "A new sentence." in again.sections([2])["text"].iloc[0]
    assert again.sections([30])["kind"].iloc[0] == "data"
    assert again.sections([0])["text"].tolist() == built[0].sections([0])["text"].tolist()


def test_a_build_without_full_texts_removes_them(
    built: tuple[Atlas, list[str]], tmp_path: Path
) -> None:
    folder = tmp_path / "full.atlas"
    shutil.copytree(built[0].path, folder)
    plain = build(papers_of(tmp_path, range(28)), folder, **QUICK)
    assert not plain.has_sections
    assert plain.sections([0]).empty
    assert not {"full-texts", "passages", "bibliographies"} & plain.stages.keys()
    assert not any((folder / "sections.parquet").glob("*"))
    assert plain.missions["section"].isna().all()
    with pytest.raises(InputError, match="has no full texts"):
        software(plain)


def _holders(folder: Path) -> list[str]:
    """Return the files that contain the words of a body, also compressed ones."""
    held = []
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            if content[:2] == b"\x1f\x8b":
                content = gzip.decompress(content)
            for piece in (content, _inflated(content)):
                if WORD.encode() in piece:
                    held.append(path.name)
                    break
    return held


def _inflated(content: bytes) -> bytes:
    try:
        return bytes(zlib.decompress(content))
    except zlib.error:
        return b""


def test_nothing_publishes_the_bodies(built: tuple[Atlas, list[str]], tmp_path: Path) -> None:
    import landscape as ls

    atlas, _ = built
    assert atlas.sections([0])["text"].str.contains(WORD).any()
    out, planted = tmp_path / "out", tmp_path / "planted"
    out.mkdir()
    planted.mkdir()
    (planted / "a.gz").write_bytes(gzip.compress(WORD.encode()))
    assert _holders(planted) == ["a.gz"]
    publish(atlas, out / "site")
    results = atlas.search("spiral galaxies")
    for name in ("papers.bib", "papers.ris", "papers.csv", "papers.json", "papers.tex"):
        ls.types.write_results(results, out / name)
    for figure in (ls.figures.heatmap(atlas), ls.figures.impact(atlas, facilities=["HST"])):
        ls.figures.save_figure(figure, out / f"{len(list(out.iterdir()))}.svg")
    ls.figures.save_table(software(atlas), out / "software.csv")
    atlas.papers.to_json(out / "table.json", orient="records")
    assert _holders(out) == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("TESS", "write the facility and the file"),
        ("Nothing=x.txt", "no facility 'Nothing'"),
        ("TESS=no-such.txt", "There is no bibliography no-such.txt"),
    ],
)
def test_a_wrong_bibliography_is_a_sentence(
    few_papers: Path, tmp_path: Path, given: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        build(few_papers, tmp_path / "a.atlas", bibliography=given)


def test_records_of_ads_say_which_facilities_a_paper_uses(tmp_path: Path) -> None:
    rows = [
        {
            "bibcode": f"2024ApJ...9{n:02}...12A",
            "title": [paper(n)["title"]],
            "abstract": paper(n)["abstract"],
            "author": ["A, B"],
            "pubdate": "2024-06-00",
            "identifier": [],
            "bibgroup": ["HST", "CfA"] if n < 4 else [],
            "data": ["Chandra:2", "SIMBAD:1"] if n == 5 else [],
            "property": ["REFEREED"],
        }
        for n in range(28)
    ]
    path = tmp_path / "ads.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    atlas = build(path, tmp_path / "ads.atlas", **QUICK)
    assert atlas.papers["bibgroup"].iloc[0].tolist() == ["HST", "CfA"]
    assert atlas.papers["property"].iloc[9].tolist() == ["REFEREED"]
    table = impact(atlas, ["HST", "Chandra"], n_resamples=20).table.set_index("facility")
    assert table["papers"].to_dict() == {"HST": 4, "Chandra": 1}


def test_texts_without_passages_are_no_error(few_papers: Path, tmp_path: Path) -> None:
    thanks = "\\documentclass{a}\\begin{document}\\section*{Acknowledgements} We thank the HST."
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / f"{paper(0)['arxiv_id']}.tex").write_text(f"{thanks}\\end{{document}}")
    atlas = build(few_papers, tmp_path / "a.atlas", full_text=texts, **QUICK)
    assert atlas.sections([0])["kind"].tolist() == ["acknowledgements"]
    index = passage_index(atlas)
    assert index is not None
    assert index.search("thanks") == index.search("thanks", rows=[0]) == []


def test_vectors_of_passages_are_kept_by_an_update(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import landscape.pipeline._full_texts as stage

    first = papers_of(tmp_path, range(28))
    folder = tmp_path / "a.atlas"
    built = build(first, folder, full_text=texts, passage_vectors=True, **QUICK)
    vectors = {name for name in built.manifest.files if name.startswith("passage_vectors/")}
    assert vectors
    embedded: list[int] = []
    original = stage.embed_texts

    def embed(context: Any, every: Any, what: str) -> Any:
        embedded.append(len(every))
        return original(context, every, what)

    monkeypatch.setattr(stage, "embed_texts", embed)
    updated = update(folder, papers_of(tmp_path / "later", range(28, 34)), workers=1)
    assert vectors <= set(updated.manifest.files)
    assert not embedded
    index = passage_index(updated)
    assert index is not None
    query = f"{WORD} of sample 4 in mas"
    assert [one.row for one in index.search(query, k=1, rows=[3])] == [3]
    assert index.search(query, k=1)[0].row == 4


def test_passages_of_one_paper_are_found_among_many(
    built: tuple[Atlas, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    index = passage_index(built[0])
    assert index is not None
    query = f"{WORD} of sample in mas"
    for row in range(N_TEXTS):
        alone = index.search(query, k=4, rows=[row])
        assert {one.row for one in alone} == {row}
        assert {one.heading for one in alone} == {"Data", "Results"}
    monkeypatch.setattr("landscape.search.passages._FEW", 1)
    assert {one.row for one in index.search(query, k=4, rows=[0, 5])} == {0, 5}


def test_an_abstract_and_a_passage_are_different_sentences(built: tuple[Atlas, list[str]]) -> None:
    atlas, _ = built
    one = replace(open_engine(atlas).papers([0])[0], abstract="An abstract without a stop")
    extended = with_bodies(atlas, [one], WORD)
    sentences = [extended.located(one) for one in sentences_of(extended.papers[0])]
    assert sentences[0].text == "An abstract without a stop"
    assert sentences[0].section == ""
    assert all(WORD not in one.text or one.section for one in sentences)


def test_a_filter_selects_the_papers_that_the_figure_counts(built: tuple[Atlas, list[str]]) -> None:
    atlas, _ = built
    papers = impact(atlas, ["TESS"], n_resamples=20).table["papers"].iloc[0]
    assert len(atlas.select('facility:"TESS"')) == papers
    assert 3 not in atlas.select('facility:"TESS"')  # the librarian wrote "unrelated"
    assert 3 in atlas.select('mentions:"TESS"')


def test_lists_that_cannot_decide(few_papers: Path, tmp_path: Path) -> None:
    lists = [tmp_path / name for name in ("a.txt", "b.txt")]
    for path, year in zip(lists, (2015, 2019), strict=True):
        path.write_text(f"{year}ApJ...900...12R")
    with pytest.raises(InputError, match="TESS has two bibliographies"):
        build(few_papers, tmp_path / "a.atlas", bibliography=[f"TESS={one}" for one in lists])
    atlas = build(few_papers, tmp_path / "b.atlas", bibliography=f"TESS={lists[1]}", **QUICK)
    with pytest.raises(InputError, match="no paper of the 1 entries"):
        bibliography(atlas, "TESS")


def test_papers_from_before_the_first_light_do_not_count(tmp_path: Path) -> None:
    rows = [
        {
            "bibcode": f"{2012 + n % 10}ApJ...9{n:02}...12A",
            "title": paper(n)["title"],
            "abstract": paper(n)["abstract"],
            "date": f"{2012 + n % 10}-06-01",
        }
        for n in range(28)
    ]
    path, listed = tmp_path / "papers.jsonl", tmp_path / "tess.txt"
    path.write_text("\n".join(map(json.dumps, rows)))
    listed.write_text("\n".join(row["bibcode"] for row in rows))
    atlas = build(path, tmp_path / "a.atlas", bibliography=f"TESS={listed}", **QUICK)
    found = impact(atlas, ["TESS"], n_resamples=20)
    years = found.tables["years"]
    assert years.loc[years["year"] < 2018, "papers"].sum() == 0
    assert found.table["papers"].iloc[0] == sum(row["date"] >= "2018" for row in rows)
    assert "Not counted: 18 listed papers from before the first light" in found.caption


def test_passages_cover_a_text_and_end_with_sentences() -> None:
    text = " ".join(f"Sentence number {n} is about dust." for n in range(200))
    spans = passages_of(text)
    assert "".join(text[a:b] for a, b in spans) == text
    assert all(b - a < 1_000 for a, b in spans)
    assert all(text[a:b].rstrip().endswith(".") for a, b in spans)


def test_many_passages_are_indexed_in_several_segments(
    built: tuple[Atlas, list[str]], texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("landscape.pipeline._full_texts._SEGMENT", 5)
    papers = papers_of(tmp_path, range(28))
    atlas = build(papers, tmp_path / "a.atlas", full_text=texts, **QUICK)
    whole, divided = (passage_index(one) for one in (built[0], atlas))
    assert whole is not None
    assert divided is not None
    assert len([*(atlas.path / "passages").glob("*.store")]) == -(-N_TEXTS * 2 // 5)
    query = f"{WORD} of sample 4 in mas"
    assert divided.search(query, k=8) == whole.search(query, k=8)


def test_figures_say_once_what_the_list_decides(
    built: tuple[Atlas, list[str]], tmp_path: Path
) -> None:
    import landscape as ls

    figure = ls.figures.impact(built[0], facilities=["TESS"])
    ls.figures.save_figure(figure, tmp_path / "impact.svg")
    ls.figures.report(built[0], "TESS", tmp_path / "report.svg")
    for name in ("impact", "report"):
        words = (tmp_path / f"{name}.alt.txt").read_text()
        assert words.count("list tess.csv") == 1
