"""Libraries of users: Zotero, bibliographies, identifiers, marks, formats that keep all fields."""

from __future__ import annotations

import json
import sqlite3
import string
import threading
from dataclasses import fields, replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from landscape.corpus import read_papers
from landscape.corpus.full_text import FullTextFolder
from landscape.corpus.libraries import (
    FORMATS,
    Library,
    LibraryEntry,
    Watched,
    change_library,
    find_library,
    library_file,
    mark_papers,
    open_library,
    read_library,
    write_library,
)
from landscape.errors import InputError
from landscape.types import Paper
from tests.zotero import write_zotero

PAPERS = (
    {
        "title": "Cool dust in nearby spiral galaxies",
        "abstractNote": "We observe <i>cold</i> dust in ten galaxies with a bolometer.",
        "publicationTitle": "The Astrophysical Journal",
        "date": "2021-05-00 May 2021",
        "DOI": "10.3847/1538-4357/abcd12",
        "volume": "910",
        "pages": "12-19",
        "extra": "Citation Key: rubinCoolDust2021\narXiv: 2101.01234 [astro-ph.GA]",
        "authors": ("Rubin, Vera", "Ford, Kent"),
        "tags": ("dust", "to read"),
        "collections": ("Chapter 2",),
        "notes": ("<p>Compare <b>Fig. 3</b> &amp; ours.</p>",),
        "files": ("Rubin 2021.html",),
        "content": "<html><body><h1>Cool dust</h1><h2>1 Data</h2><p>We use data.</p></body></html>",
    },
    {
        "type": "preprint",
        "title": "Warm gas in distant quasars",
        "repository": "arXiv",
        "archiveID": "arXiv:2203.00011",
        "date": "2022-03-01 2022-03-01",
        "authors": ("Müller, Ada",),
        "library": 2,
    },
    {"title": "A paper in the bin", "deleted": True},
    {"title": "A paper of a feed that nobody has chosen", "library": 3},
)


@pytest.fixture
def zotero(tmp_path: Path) -> Path:
    return write_zotero(tmp_path / "Zotero", PAPERS, {"Chapter 2": "Thesis"})


def test_zotero_is_read_with_tags_collections_notes_and_files(zotero: Path) -> None:
    library = read_library(zotero)
    assert library.name == "Zotero"
    first, second = library.entries
    assert first.key == "rubinCoolDust2021"
    assert first.authors == ("Rubin, Vera", "Ford, Kent")
    assert (first.date, first.precision) == (date(2021, 5, 1), "month")
    assert (first.arxiv_id, first.doi) == ("2101.01234", "10.3847/1538-4357/abcd12")
    assert (first.volume, first.pages) == ("910", "12-19")
    assert first.tags == ("dust", "to read")
    assert first.collections == ("Thesis/Chapter 2",)
    assert first.notes == ("Compare Fig. 3 & ours.",)
    assert Path(first.files[0]).is_file()
    assert (second.arxiv_id, second.authors) == ("2203.00011", ("Müller, Ada",))
    assert [one.key for one in library.part("thesis")] == ["rubinCoolDust2021"]
    assert [one.key for one in library.part("To read")] == ["rubinCoolDust2021"]
    with pytest.raises(InputError, match="no collection or tag 'Thesys'"):
        library.part("Thesys")


def test_zotero_can_run_meanwhile_and_its_file_stays_as_it_is(zotero: Path) -> None:
    """Zotero keeps an exclusive lock; the reader copies the file and its journal."""
    file = zotero / "zotero.sqlite"
    running = sqlite3.connect(file, isolation_level=None)
    running.execute("PRAGMA locking_mode = EXCLUSIVE")
    running.execute("BEGIN EXCLUSIVE")
    running.execute("INSERT INTO tags VALUES (99, 'unfinished')")
    before = file.read_bytes()
    assert len(read_library(file)) == 2
    assert file.read_bytes() == before
    running.execute("ROLLBACK")
    running.close()


def test_a_build_reads_the_database_too(zotero: Path) -> None:
    [batch] = read_papers(zotero / "zotero.sqlite")
    assert batch.papers["title"].to_pylist() == ["Cool dust in nearby spiral galaxies"]
    assert [one.reason for one in batch.rejected] == ["no abstract"]


def test_attachments_of_zotero_are_full_texts(zotero: Path) -> None:
    paper = Paper(row=0, paper_id="x", title="", abstract="", arxiv_id="2101.01234")
    found = FullTextFolder(zotero)(paper)
    assert found is not None
    assert any("We use data" in section.text for section in found.sections)


@pytest.mark.parametrize("content", [b"SQLite format 3\0" + b"\0" * 200, b"SQLite format 3\0"])
def test_another_database_is_refused_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.sqlite"
    path.write_bytes(content)
    with pytest.raises(InputError, match="cannot be read as a database of Zotero"):
        read_library(path)
    empty = tmp_path / "empty.sqlite"
    sqlite3.connect(empty).execute("CREATE TABLE a (b)").connection.commit()
    with pytest.raises(InputError, match="cannot be read as a database of Zotero"):
        read_library(empty)


def test_entries_need_no_abstract_and_keep_their_keys(tmp_path: Path) -> None:
    file = tmp_path / "my.bib"
    file.write_text(
        "@article{Key:1, title={Dust}, year=2020}\n@misc{key:1, eprint={2101.00001}}\n"
        "@book{B, author={A. Writer}, title={Stars}, publisher={Press}}\n@misc{nothing, year=2000}"
    )
    library = read_library(file)
    assert [one.key for one in library.entries] == ["Key:1", "key:1-2", "B"]
    assert library.problems == ("my.bib:4: no title and no identifier",)
    assert library.entries[0].precision == "year"


def test_lists_of_identifiers_are_libraries(tmp_path: Path) -> None:
    file = tmp_path / "codes.txt"
    file.write_text("2021ApJ...910...12R\n\narXiv:2101.01234v2\nhttps://doi.org/10.1000/ab.c\n")
    entries = read_library(file).entries
    assert [one.names[0] for one in entries] == [
        "2021ApJ...910...12R",
        "2101.01234",
        "10.1000/ab.c",
    ]


def test_a_library_without_papers_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("no papers here\n")
    with pytest.raises(InputError):
        read_library(tmp_path / "a.txt")
    with pytest.raises(InputError, match=r"cannot be named '\.\./x'"):
        find_library("../x")


def test_a_library_is_written_and_read_without_loss(zotero: Path, tmp_path: Path) -> None:
    library = read_library(zotero, name="mine")
    library = replace(library, watched=Watched(("Rubin, Vera",), ("ALMA",)), filter="2015..")
    paper = Paper(row=3, paper_id="p", title="", abstract="", doi="10.1000/x")
    library = mark_papers(library, [paper], "later")
    path = write_library(library)
    assert path == library_file("mine")
    found = find_library("mine")
    assert replace(found, entries=()) == replace(library, entries=())
    for one, other in zip(found.entries, library.entries, strict=True):
        assert replace(one, source=()) == replace(other, source=())
    assert mark_papers(found, [paper], None).marks == {}
    with pytest.raises(InputError, match="no mark 'loved'"):
        mark_papers(found, [paper], "loved")  # type: ignore[arg-type]
    assert open_library(str(zotero)).name == "Zotero"


@pytest.mark.parametrize(
    "change",
    [
        {"format": "x"}, {"version": 99}, {"entries": 3}, {"marks": []}, {"name": "../a"},
        {"entries": [{"title": 3}]}, {"entries": [{"date": "yesterday"}]}, {"watched": {"x": []}},
    ],
)  # fmt: skip
def test_a_damaged_library_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    path = write_library(Library("mine"), tmp_path / "mine.library.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError, match="is not a library"):
        read_library(path)


def test_a_group_can_mark_papers_at_the_same_time(tmp_path: Path) -> None:
    """Every mark of several writers is kept."""
    path = write_library(Library("group"), tmp_path / "group.library.json")
    papers = [Paper(row=n, paper_id=f"p{n}", title="", abstract="") for n in range(12)]

    def add(paper: Paper) -> None:
        change_library(path, lambda old: mark_papers(old, [paper], "later"))

    threads = [threading.Thread(target=add, args=(paper,)) for paper in papers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(read_library(path).marks) == {paper.paper_id for paper in papers}


# -- formats

SIGNS = "àéüŁ°αβ&%$#_{}^~<>|\"'()[]-:,.;+*/=@ "
WORDS = st.text(string.ascii_letters + string.digits + SIGNS, max_size=60)
STARTS = st.sampled_from(["Dust", "Gas (I)", "A 3% effect:"])
TITLES = st.builds(lambda start, words: f"{start} {words}", STARTS, WORDS)
NAMES = st.builds(
    lambda family, given: f"{family}, {given}",
    st.sampled_from(["Rubin", "de Grijs", "O'Neil", "Müller-Lüdenscheidt", "van der Berg", "Ng"]),
    st.sampled_from(["Vera", "V. C.", "Jean-Luc", "X."]),
)
TAGS = st.sampled_from(["dust", "to read", "galaxies: evolution", "H II"])
ENTRIES = st.builds(
    LibraryEntry,
    row=st.just(-1),
    paper_id=st.just(""),
    key=st.from_regex(r"[A-Za-z][A-Za-z0-9:_-]{1,12}", fullmatch=True),
    title=TITLES,
    abstract=WORDS,
    authors=st.lists(NAMES, min_size=1, max_size=4).map(tuple),
    date=st.dates(date(1995, 1, 1), date(2025, 12, 31)),
    precision=st.sampled_from(["day", "month", "year"]),
    doi=st.none() | st.sampled_from(["10.1000/xyz.123", "10.3847/1538-4357/ab_1"]),
    arxiv_id=st.none() | st.sampled_from(["2101.01234", "astro-ph/9901234"]),
    bibcode=st.none() | st.sampled_from(["2021ApJ...910...12R", "2016A&A...595A...1G"]),
    journal=st.none()
    | st.sampled_from(["The Astrophysical Journal", "Icarus & Friends", "Unknown J."]),
    volume=st.none() | st.sampled_from(["910", "12"]),
    number=st.none() | st.sampled_from(["2"]),
    pages=st.none() | st.sampled_from(["12-19", "A15"]),
    tags=st.lists(TAGS, unique=True, max_size=3).map(tuple),
    doctype=st.sampled_from(["article", "inproceedings", "phdthesis", "book", "software"]),
)
# The word of the source for the type, and where the entry was read, belong to the file.
OWN = ("doctype", "source", "paper_id")


def again(library: Library, form: str, folder: Path) -> Library:
    path = folder / f"x.{form}"
    path.write_text(FORMATS[form](library), encoding="utf-8")
    return read_library(path, name="x")


@pytest.mark.parametrize("form", ["bibtex", "biblatex", "ris", "csl"])
@given(entries=st.lists(ENTRIES, min_size=1, max_size=4, unique_by=lambda one: one.key.lower()))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_read_write_read_is_the_identity(
    tmp_path: Path, form: str, entries: list[LibraryEntry]
) -> None:
    first = again(Library("x", tuple(entries)), form, tmp_path)
    second = again(first, form, tmp_path)
    assert len(first) == len(second) == len(entries)
    for one, other, given_entry in zip(first.entries, second.entries, entries, strict=True):
        for name in (field.name for field in fields(LibraryEntry) if field.name not in OWN):
            assert getattr(one, name) == getattr(other, name), name
        for name in ("key", "authors", "doi", "arxiv_id", "bibcode", "volume", "number", "pages"):
            assert getattr(one, name) == getattr(given_entry, name), name
        # An arXiv id tells the month of a paper of which only the year is written.
        assert one.precision == given_entry.precision or one.arxiv_id
        assert one.year == given_entry.year
        assert set(one.tags) == set(given_entry.tags)


def test_bibcodes_are_read_back(tmp_path: Path) -> None:
    codes = ["2021ApJ...910...12R", "2016A&A...595A...1G"]
    (tmp_path / "a.txt").write_text("\n".join(codes))
    library = read_library(tmp_path / "a.txt")
    assert again(library, "bibcodes", tmp_path).to_bibcodes().split() == codes


def test_fields_that_only_bibliographies_have_are_kept(tmp_path: Path) -> None:
    text = (
        "@incollection{a, title={Dust in discs}, booktitle={The Book}, author={Doe, J.},\n"
        "  editor={Roe, R. and Poe, P.}, publisher={Press \\& Co}, series={S}, edition={2}}\n"
        "@phdthesis{b, title={Gas in discs}, author={Doe, J.}, school={A University},\n"
        "  year={2001}, url={https://a.example/t}, note={unpublished}}\n"
        "@misc{c, title={Stars in discs}, eprint={2101.01234}, pages={12--20}}\n"
    )
    file = tmp_path / "a.bib"
    file.write_text(text)
    written = read_library(file).to_bibtex()
    for part in ("@incollection{a", "booktitle = {The Book}", "editor = {Roe, R. and Poe, P.}",
                 "publisher = {Press \\& Co}", "@phdthesis{b", "school = {A University}",
                 "url = {https://a.example/t}", "note = {unpublished}", "@misc{c",
                 "pages = {12--20}"):  # fmt: skip
        assert part in written
    path = write_library(read_library(file, name="kept"))
    assert read_library(path).to_bibtex() == written


def test_several_entries_on_a_line_and_braces_on_the_next_are_read(tmp_path: Path) -> None:
    file = tmp_path / "a.bib"
    file.write_text(
        "@misc{a, title={Dust one}} @misc{b, title={Dust two}}\n@article\n{c, title={Dust three}}\n"
        "@article{d, title={Dust four}, author={{Event Horizon Telescope Collaboration, The}}}\n"
    )
    library = read_library(file)
    assert [one.key for one in library.entries] == ["a", "b", "c", "d"]
    assert library.entries[-1].authors == ("Event Horizon Telescope Collaboration",)
