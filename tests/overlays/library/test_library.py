"""The library of a user on an atlas: filters, regions, graph, figures, refreshed bibliographies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import landscape
from landscape import Atlas, figures
from landscape.atlas import build
from landscape.cli import main
from landscape.corpus.libraries import Library, entry_of_name, mark_papers, write_library
from landscape.corpus.readers.bibtex import parse_entries
from landscape.errors import InputError
from landscape.overlays.library import (
    library_graph,
    library_papers,
    library_regions,
    library_rows,
    refresh_bibliography,
    set_field,
)
from landscape.viewer import single_page
from landscape.viewer.source import MapSource
from tests.pipeline.conftest import QUICK, paper

ROWS = [*range(10), 40, 41, 300]


@pytest.fixture(scope="session")
def mine(demo_atlas: Atlas) -> Library:
    """A library of some papers of the demo atlas, and of one that it lacks."""
    papers = demo_atlas.engine.papers(ROWS)
    entries = [entry_of_name(one.bibcode or one.arxiv_id or one.doi or "") for one in papers]
    entries = [replace(one, tags=("first",) if n < 3 else ()) for n, one in enumerate(entries)]
    library = Library("mine", (*entries, entry_of_name("2020ApJ...900....1Z")))
    library = mark_papers(library, demo_atlas.engine.papers([77]), "later")
    write_library(library)
    return library


@pytest.mark.usefixtures("mine")
def test_a_library_is_a_filter(demo_atlas: Atlas) -> None:
    assert demo_atlas.select("in:mine").tolist() == ROWS
    assert demo_atlas.select('in:"mine/first"').tolist() == ROWS[:3]
    assert demo_atlas.select("in:mine/later").tolist() == [77]
    assert demo_atlas.select("-in:mine").tolist() == [n for n in range(400) if n not in ROWS]
    both = set(demo_atlas.select("2015..")) & set(ROWS)
    assert set(demo_atlas.select("in:mine;2015..")) == both
    found = demo_atlas.search("dust", filter="in:mine", k=50)
    assert {hit.paper.row for hit in found.hits} <= set(ROWS)
    with pytest.raises(InputError, match=r"no library 'other'.*mine"):
        demo_atlas.select("in:other")


def test_a_filter_follows_changes_of_the_library(demo_atlas: Atlas) -> None:
    for row in (5, 6):
        names = [one.bibcode or one.arxiv_id or "" for one in demo_atlas.engine.papers([row])]
        write_library(Library("changing", tuple(map(entry_of_name, names))))
        assert demo_atlas.select("in:changing").tolist() == [row]


def test_entries_without_identifiers_are_found_by_their_titles(demo_atlas: Atlas) -> None:
    papers = demo_atlas.engine.papers([3, 4])
    entries = tuple(
        replace(
            entry_of_name("2020ApJ...900....1Z"),
            bibcode=None, paper_id="x", title=one.title.upper(), authors=one.authors, date=one.date,
        )
        for one in papers
    )  # fmt: skip
    wrong = replace(entries[1], authors=("Somebody, Else",))
    assert library_rows(demo_atlas, Library("t", entries)).tolist() == [3, 4]
    assert library_rows(demo_atlas, Library("t", (entries[0], wrong))).tolist() == [3]
    with pytest.raises(InputError, match="None of the 1 paper in the library t is in this atlas"):
        library_rows(demo_atlas, Library("t", (wrong,)))


@pytest.mark.usefixtures("mine")
def test_papers_and_those_that_the_atlas_lacks(demo_atlas: Atlas) -> None:
    found = library_papers(demo_atlas, "mine")
    assert found.table["in_atlas"].tolist() == [True] * len(ROWS) + [False]
    assert "has 13 of its 14 papers, and lacks 1" in found.caption
    assert found.table["tags"].tolist()[:4] == ["first", "first", "first", ""]


@pytest.mark.usefixtures("mine")
def test_regions_are_known_bordering_or_unknown(demo_atlas: Atlas) -> None:
    found = library_regions(demo_atlas, "mine").table
    topics = demo_atlas.map["topic_id"].to_numpy()[ROWS]
    for row in found.itertuples():
        assert row.mine == (topics == row.topic_id).sum()
        assert (row.state == "known") == (row.mine >= 3)
        assert (row.state == "bordering") == (row.mine < 3 and row.near >= 3)
    assert set(found["state"]) >= {"known", "unknown"}
    assert found["state"].tolist() == sorted(
        found["state"], key=["known", "bordering", "unknown"].index
    )


@pytest.mark.usefixtures("mine")
def test_the_graph_has_links_among_my_papers_only(demo_atlas: Atlas) -> None:
    found = library_graph(demo_atlas, "mine")
    ids = demo_atlas.read_papers(["paper_id"], rows=ROWS)["paper_id"].tolist()
    assert found.tables["papers"]["paper_id"].tolist() == ids
    assert set(found.table["source"]) | set(found.table["target"]) <= set(ids)
    cites = found.table[found.table["kind"] == "cites"]
    expected = {
        (ids[a], ids[b])
        for a, row in enumerate(ROWS)
        for b, other in enumerate(ROWS)
        if other in demo_atlas.citations.reference_links.of(row)
    }
    assert set(zip(cites["source"], cites["target"], strict=True)) == expected
    similar = found.table[found.table["kind"] == "similar"]
    assert (similar["weight"] >= 0.5).all()
    assert not similar.duplicated(["source", "target"]).any()


@pytest.mark.usefixtures("mine")
def test_my_papers_have_a_colour_of_their_own(demo_atlas: Atlas, tmp_path: Path) -> None:
    sheet = figures.library_map(demo_atlas, "mine")
    points = [one for one in sheet.scene.panels[0].layers if one.gid == "library"]
    assert len(points[0].x) == len(ROWS)
    assert "13 papers of the library mine" in sheet.alt_text
    plain, own = figures.heatmap(demo_atlas), figures.heatmap(demo_atlas, library="mine")
    assert "Dots: 13 papers of your library." in own.alt_text
    assert "library" not in plain.alt_text
    assert len(MapSource(demo_atlas, mine=library_rows(demo_atlas, "mine")).sets["mine"]) == 1
    assert figures.interactive("library_map", demo_atlas, "mine").data


@pytest.mark.usefixtures("mine")
def test_a_site_shows_a_library_on_demand_only(demo_atlas: Atlas, tmp_path: Path) -> None:
    path = str(demo_atlas.path)
    assert main(["publish", path, "-o", str(tmp_path / "a.html"), "--library", "mine"]) == 0
    assert main(["publish", path, "-o", str(tmp_path / "b.html")]) == 0
    assert "mine.bin" in (tmp_path / "a.html").read_text()
    assert "mine.bin" not in (tmp_path / "b.html").read_text()
    assert "mine.bin" not in single_page(demo_atlas)


# -- refreshed bibliographies


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Atlas:
    """An atlas in which some preprints are published, and one is withdrawn."""
    folder = tmp_path_factory.mktemp("published")
    papers = [paper(n) for n in range(28)]
    papers[1] |= {"doi": "10.1000/one", "journal": "ApJ", "bibcode": "2024ApJ...960...12A"}
    papers[2]["comments"] = "This paper has been withdrawn due to an error in Eq. 3"
    file = folder / "papers.jsonl"
    pd.DataFrame(papers).to_json(file, orient="records", lines=True)
    return build(file, folder / "p.atlas", **QUICK)


def entry(number: int, key: str, *lines: str, kind: str = "misc") -> str:
    own = paper(number)
    names = " and ".join(own["authors"])
    fields = [f"title = {{{own['title']}}}", f"author = {{{names}}}", *lines]
    return f"@{kind}{{{key},\n  " + ",\n  ".join(fields) + "\n}\n"


def refreshed(tmp_path: Path, text: str, atlases: Any) -> tuple[str, pd.DataFrame]:
    file = tmp_path / "my.bib"
    file.write_text(text)
    found = refresh_bibliography(file, atlases)
    old, new = parse_entries(text), parse_entries(found.text)
    assert [one.key for one in old] == [one.key for one in new]  # every old key is kept
    return found.text, found.analysis.table


def test_a_preprint_that_is_published_gets_its_publication(
    tmp_path: Path, published: Atlas
) -> None:
    start = "% my papers\n@string{apj = {ApJ}}\n\n"
    text = start + entry(1, "Own_Key:1", f"eprint = {{{paper(1)['arxiv_id']}}}", "note = {mine}")
    new, table = refreshed(tmp_path, text, [published])
    [found] = parse_entries(new)
    assert new.startswith(start)
    assert found.entry_type == "article"
    assert found.fields["doi"] == "10.1000/one"
    assert found.fields["volume"] == "960"
    assert found.fields["note"] == "mine"
    assert found.fields["title"] == paper(1)["title"]
    assert set(table["kind"]) == {"published"}
    changed = {"entry type", *table["field"]}
    before = parse_entries(text)[0].fields
    for name, value in found.fields.items():
        assert name in changed or before[name] == value  # nothing is changed without a row


def test_withdrawn_unknown_and_repeated_entries_are_listed(
    tmp_path: Path, published: Atlas
) -> None:
    text = (
        entry(2, "bad", f"eprint = {{{paper(2)['arxiv_id']}}}")
        + entry(3, "one", f"eprint = {{{paper(3)['arxiv_id']}}}")
        + entry(3, "two")
        + "@book{far, title = {A book on other things that nobody has}, author = {N. Body}}\n"
    )
    new, table = refreshed(tmp_path, text, [published])
    rows = {(row.key, row.kind): row for row in table.itertuples()}
    assert "error in Eq. 3" in rows["bad", "withdrawn"].reason
    assert rows["two", "repeated"].new_key == "one"
    assert rows["far", "unknown"].reason == "in no atlas; nothing is changed"
    assert ("two", "identifier added") in rows
    assert new.count("@") == 4


def test_wrong_identifiers_are_corrected_only_if_the_paper_is_certain(
    tmp_path: Path, published: Atlas
) -> None:
    other = f"eprint = {{{paper(5)['arxiv_id']}}}"
    text = entry(4, "wrong", other) + entry(4, "strange", other).replace("Author4", "Other")
    text += f"@misc{{title, title = {{Something else in the sky}}, {other}}}\n"
    new, table = refreshed(tmp_path, text, [published])
    rows = {row.key: row for row in table[table["kind"] != "repeated"].itertuples()}
    assert rows["wrong"].kind == "identifier corrected"
    assert (rows["wrong"].old, rows["wrong"].new) == (paper(5)["arxiv_id"], paper(4)["arxiv_id"])
    assert rows["strange"].kind == "doubtful"
    assert rows["title"].kind == "doubtful"
    entries = {one.key: one.fields for one in parse_entries(new)}
    assert entries["wrong"]["eprint"] == paper(4)["arxiv_id"]
    assert entries["strange"]["eprint"] == paper(5)["arxiv_id"]


def test_a_file_that_is_not_bibtex_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.ris").write_text("TY  - JOUR\nTI  - Dust\nAB  - Dust.\nER  - \n")
    with pytest.raises(InputError, match="is not BibTeX"):
        refresh_bibliography(tmp_path / "a.ris")


@pytest.mark.parametrize(
    ("block", "name", "expected"),
    [
        ('@a{k, year = "19{"}90", b={x, y}}', "b", '@a{k, year = "19{"}90", b={new}}'),
        ("@a{k, doi = 10 # {x}, z = 1}", "doi", "@a{k, doi = {new}, z = 1}"),
        ("@a(k, t = {)})", "t", "@a(k, t = {new})"),
        ("@a{k}\n% {", "t", "@a{k,\n  t = {new}\n}\n% {"),
        ("@a{k, T = {a \\} b}}", "t", "@a{k, T = {new}}"),
    ],
)
def test_fields_are_replaced_in_place(block: str, name: str, expected: str) -> None:
    assert set_field(block, name, "new") == expected


def test_commands_of_libraries(
    demo_atlas: Atlas, tmp_path: Path, capsys: pytest.CaptureFixture[str], mine: Library
) -> None:
    bib, atlas = tmp_path / "some.bib", str(demo_atlas.path)
    bib.write_text(demo_atlas.search("dust", k=5).to_bibtex())
    assert main(["library", "read", str(bib), "--name", "some"]) == 0
    assert main(["library", "watch", "some", "--author", "Rubin, V", "--facility", "hst"]) == 0
    assert "facilities: HST" in capsys.readouterr().out
    assert main(["library", "watch", "some", "--author", "Rubin, V", "--remove"]) == 0
    paper_id = demo_atlas.papers["paper_id"].iloc[9]
    assert main(["library", "mark", atlas, "some", paper_id, "--as", "read"]) == 0
    assert main(["library", "read", str(bib), "--name", "some"]) == 0  # the mark is kept
    assert demo_atlas.select("in:some/read").tolist() == [9]
    for part in ("papers", "regions", "graph"):
        assert main(["library", part, atlas, "some"]) == 0
    for name in ("a.bib", "a.ris", "a.json", "a.txt"):
        assert main(["library", "export", "some", "-o", str(tmp_path / name)]) == 0
    new = tmp_path / "new.bib"
    words = ["library", "refresh", str(bib), atlas, "-o", str(new)]
    assert main([*words, "--table", str(tmp_path / "t.csv")]) == 0
    assert len(parse_entries(new.read_text())) == 5
    assert main(["library", "list"]) == 0
    assert "some: 5 papers, 1 marked" in capsys.readouterr().out
    assert main(["figure", "library", atlas, "some", "-o", str(tmp_path / "a.png")]) == 0
    assert main(["search", atlas, "dust", "--filter", "in:some"]) == 0
    assert main(["library", "watch", "nothing", "--author", "X"]) == 2
    assert main(["library", "export", "some", "-o", str(tmp_path / "a.xyz")]) == 2
    assert np.isin(demo_atlas.select("in:some"), np.arange(400)).all()
    assert landscape.open(atlas).select("in:mine").tolist() == ROWS


def test_what_is_not_listed_stays_byte_for_byte(tmp_path: Path, published: Atlas) -> None:
    """Line ends, byte order mark, encoding and wrong bytes stay; added lines have the same ends."""
    text = (
        "% commänt {\r\n@string{me = {Me}}\r\n@comment{jabref-meta: databaseType:bibtex;}\r\n"
        + entry(1, "A", f"eprint = {{{paper(1)['arxiv_id']}}}").replace("\n", "\r\n")
        + "@article(B, title = {Ünknown things in the sky (part 1)}, year = 1999)\r\n"
        + "free text )\r\n"
    )
    for name, raw, start in (
        ("utf8", text.encode(), b""), ("bom", text.encode(), b"\xef\xbb\xbf"),
        ("latin", text.encode("cp1252"), b""), ("bad", text.encode() + b"\x81\xff", b""),
        ("wide", text.encode("utf-16-le"), b"\xff\xfe"),
    ):  # fmt: skip
        file = tmp_path / f"{name}.bib"
        file.write_bytes(start + raw)
        found = refresh_bibliography(file, [published])
        if name == "wide":
            assert found.content.decode("utf-16").count("\r\n") == found.text.count("\n")
            continue
        kept = [
            line for line in found.content.split(b"\r\n") if line in (start + raw).split(b"\r\n")
        ]
        assert kept[0] == start + raw.split(b"\r\n")[0]
        assert kept[-1] == raw.split(b"\r\n")[-1]
        assert found.content.count(b"\n") == found.content.count(b"\r\n")
        assert set(found.analysis.table["key"]) == {"A", "B"}


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        (["author = {Else, Someone}", "year = 2002"], "doubtful"),  # only the title is the same
        (["author = {Author1, A.}", "year = 1980"], "doubtful"),
        (["author = {Author1, A.}", "doi = {10.5281/zenodo.123}"], "doubtful"),
        (["author = {Author1, A.}", "eprint = {123}", "eprinttype = {jstor}"], "published"),
    ],
)
def test_another_work_with_the_same_title_is_not_changed(
    tmp_path: Path, published: Atlas, lines: list[str], kind: str
) -> None:
    year = paper(1)["date"][:4]
    own = [f"title = {{{paper(1)['title']}}}", *lines]
    own += [] if "year" in str(lines) else [f"year = {year}"]
    text = "@article{k,\n" + ",\n".join(own) + "}\n"
    new, table = refreshed(tmp_path, text, [published])
    assert kind in set(table["kind"])
    for line in own:
        assert line in new or kind == "published"
    assert "jstor" not in text or "eprint = {123}" in new


def test_a_thesis_is_not_the_article_of_its_name(tmp_path: Path, published: Atlas) -> None:
    text = entry(1, "thesis", f"year = {paper(1)['date'][:4]}", "school = {X}", kind="phdthesis")
    new, table = refreshed(tmp_path, text, [published])
    assert new == text
    assert table["kind"].tolist() == ["doubtful"]


def test_odd_entries_are_changed_in_their_own_text(tmp_path: Path, published: Atlas) -> None:
    own = paper(1)
    start = f"title = {{{own['title']}}}, author = {{{own['authors'][0]}}}"
    eprint = f"eprint = {{{own['arxiv_id']}}}"
    text = (
        f"@article{{comma, {start}, {eprint},\n journal = {{arXiv e-prints}}\n year = 2024}}\n"
        f"@article(round, {start}, {eprint})\n and a note (in parentheses)\n"
        f"@online{{latex, {start}, eprint = {{{own['arxiv_id']}}}, eprinttype = {{arxiv}},\n"
        " date = {2024}, pubstate = {preprint}}\n"
        "@article{open, title = {A brace that is never closed\n@misc{nothing, year = 2000}\n"
    )
    new, table = refreshed(tmp_path, text, [published])
    entries = {one.key: one.fields for one in parse_entries(new)}
    assert "year = 2024" in new  # the comma before it is missing
    assert entries["round"]["doi"] == "10.1000/one"
    assert new.count(" and a note (in parentheses)\n") == 1
    assert entries["latex"]["pubstate"] == "published"
    assert "journal" not in entries["latex"]
    assert entries["latex"]["journaltitle"]
    assert table.loc[table["kind"] == "unreadable", "key"].tolist() == ["open", "nothing"]


def test_keys_of_entries_are_not_identifiers(tmp_path: Path) -> None:
    """An atlas and a library can use one key, such as Smith3, for different papers."""
    papers = [paper(n) for n in range(28)]
    text = "\n".join(
        f"@article{{Smith{n}, title = {{{one['title']}}}, abstract = {{{one['abstract']}}}}}"
        for n, one in enumerate(papers)
    )
    (tmp_path / "atlas.bib").write_text(text)
    atlas = build(tmp_path / "atlas.bib", tmp_path / "a.atlas", **QUICK)
    assert atlas.papers["paper_id"].iloc[3] == "Smith3"
    file = tmp_path / "my.bib"
    file.write_text("@article{Smith3, title = {Something that nobody else has}, year = 2001}")
    with pytest.raises(InputError, match="None of the 1 paper"):
        library_rows(atlas, file)
    table = refresh_bibliography(file, [atlas]).analysis.table
    assert table["kind"].tolist() == ["unknown"]


def test_an_empty_library_has_a_table_without_rows(demo_atlas: Atlas) -> None:
    write_library(Library("nil"))
    assert len(library_papers(demo_atlas, "nil").table) == 0
    assert demo_atlas.select("in:nil").tolist() == []


def test_a_library_never_replaces_another_file(
    demo_atlas: Atlas, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bib = tmp_path / "mine.bib"
    bib.write_text(demo_atlas.search("dust", k=3).to_bibtex())
    before = bib.read_bytes()
    for target in (bib, demo_atlas.path / "x.library.json"):
        assert main(["library", "read", str(bib), "-o", str(target)]) == 2
    assert bib.read_bytes() == before
    assert main(["library", "watch", "mine", "--author", " "]) == 2
    capsys.readouterr()
