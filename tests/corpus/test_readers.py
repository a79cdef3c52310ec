"""Formats are recognised by content; a damaged file raises a one-sentence error."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from landscape.corpus import read_papers
from landscape.corpus.author_lists import read_author_list
from landscape.corpus.readers import READERS, choose_reader
from landscape.corpus.readers.bibtex import BibtexReader
from landscape.corpus.records import RawRecord, papers_schema
from landscape.errors import InputError

SNAPSHOT = {
    "id": "0704.0001",
    "submitter": "P. Nadolsky",
    "authors": "C. Bal\\'azs, E. L. Berger, P. M. Nadolsky, C.-P. Yuan",
    "title": "Calculation of prompt diphoton production cross sections at Tevatron and\n  LHC",
    "comments": "37 pages",
    "journal-ref": "Phys.Rev.D76:013009,2007",
    "doi": "10.1103/PhysRevD.76.013009",
    "categories": "hep-ph astro-ph.CO",
    "abstract": "  A fully differential calculation in $\\alpha_s$.\n",
    "versions": [
        {"version": "v1", "created": "Mon, 2 Apr 2007 19:18:42 GMT"},
        {"version": "v2", "created": "Tue, 24 Jul 2007 20:10:27 GMT"},
    ],
    "update_date": "2008-11-26",
    "authors_parsed": [
        ["Balázs", "C.", ""],
        ["Berger", "E. L.", ""],
        ["Yuan", "C. -P.", "Jr", "MSU"],
    ],
}
FLAT = {
    "arxiv_id": "astro-ph/9301002",
    "title": "Microwave Anisotropies",
    "abstract": "By Gaier {\\it et al.}",
    "authors": ["Scott Dodelson", "Jay M. Jubas"],
    "categories": ["astro-ph", "hep-ph"],
    "date": "1993-01-07",
    "doi": "10.1103/PhysRevLett.70.2224",
}
ADS = {
    "bibcode": "2021A&A...645L..11A",
    "title": ["Starlet l<SUB>1</SUB>-norm"],
    "abstract": "We present &lt; a statistic. <P />",
    "author": ["Ajani, Virginia", "Starck, Jean-Luc"],
    "aff": ["CEA", "-"],
    "pubdate": "2021-01-00",
    "identifier": ["2021arXiv210101542A", "10.1051/0004-6361/202039988", "arXiv:2101.01542"],
    "doi": ["10.1051/0004-6361/202039988"],
    "citation_count": 12,
    "read_count": 3,
    "keyword": ["gravitational lensing: weak"],
    "reference": ["2003ApJ...583....1X"],
    "doctype": "article",
    "pub": "Astronomy and Astrophysics",
}
SCILIT = {
    "Title": "A platform",
    "Author": [
        {"GivenName": "Nianlong", "FamilyName": "Gu"},
        {"GivenName": "Richard", "FamilyName": "Hahnloser"},
    ],
    "Venue": "ACL",
    "DOI": "10.18653/V1/2023.acl-demo.22",
    "PublicationDate": {"Year": 2023, "Month": "7", "Day": None},
    "Content": {
        "Abstract_Parsed": [
            {
                "section_id": 0,
                "section_title": "Abstract",
                "section_text": [
                    {"paragraph_text": [{"sentence_text": "One."}, {"sentence_text": "Two."}]},
                    {"paragraph_text": [{"sentence_text": "Three."}]},
                ],
            }
        ],
        "Fullbody_Parsed": [{"section_text": []}],
    },
    "Reference": [
        {"Title": "R", "DOI": "10.1086/345794"},
        {"Title": "Q", "ArxivId": "1707.03415"},
        {"Title": "lost"},
    ],
}
BIBTEX = r"""% exported
@STRING{aa = "Astronomy and Astrophysics"}
@ARTICLE{2021A&A...645L..11A,
       author = {{Ajani}, Virginia and {van der Starck}, Jean-Luc},
        title = "{Starlet {\ensuremath{\ell}}$_{1}$-norm, by 100\%}",
      journal = {\aap}, keywords = {gravitational lensing: weak, Astrophysics - Cosmology},
         year = 2021, month = jan, doi = {10.1051/0004-6361/202039988},
archivePrefix = {arXiv}, eprint = {2101.01542}, primaryClass = {astro-ph.CO},
     abstract = "{We present a statistic @home.}",
}

@article{broken, title = {No end
@article{Smith2001, title={Second}, abstract={Some text}, author={Smith, John and others},
  journal = aa, year={2001}}
@comment{ignored}
"""


def papers_of(path: Path) -> list[dict[str, Any]]:
    return [row for batch in read_papers(path) for row in batch.papers.to_pylist()]


def write_lines(path: Path, records: Iterable[Any]) -> Path:
    lines = (r if isinstance(r, str) else json.dumps(r, ensure_ascii=False) for r in records)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_the_arxiv_snapshot(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "whatever.csv", [SNAPSHOT])
    assert choose_reader(path).name == "arxiv"
    [paper] = papers_of(path)
    assert paper["paper_id"] == paper["arxiv_id"] == "0704.0001"
    assert paper["title"].endswith("at Tevatron and LHC")
    assert paper["title_original"] is None, "white space alone is no change worth keeping"
    assert paper["abstract"] == "A fully differential calculation in α_s."
    assert paper["abstract_original"] == SNAPSHOT["abstract"]
    assert paper["authors"] == ["Balázs, C.", "Berger, E. L.", "Yuan, C. -P., Jr"]
    assert paper["categories"] == ["hep-ph", "astro-ph.CO"]
    assert (paper["date"].isoformat(), paper["date_precision"]) == ("2007-04-02", "day")
    assert paper["journal"] == "Phys.Rev.D"
    assert paper["source"] == ["arxiv:whatever.csv"]


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (
            ["Hao Zhang (1", "2)", "L. Wu (3) ((1) KIAA (PKU", "Beijing)", "(2) MIT)"],
            "Hao Zhang|L. Wu",
        ),
        (["A. Ho (1) L. Wu (2)", "(25) University of Geneva"], "A. Ho|L. Wu"),
        (["A. Ho (1", "L. Wu (2)", "B. Bo ((1) KIAA", "Beijing"], "A. Ho|L. Wu|B. Bo"),
        (["A. Ho", "L. Wu)"], "A. Ho|L. Wu"),
        (["Yuxi (Lucy) Lu", "and Stefano Vitale"], "Yuxi Lu|Stefano Vitale"),
        (["D. Bird et al.", "et al. (201 additional authors not shown)", "et al"], "D. Bird"),
        (["Lyman Page", "19 pages", "latex", "10 figures", ":", "-", "(3)"], "Lyman Page"),
        (["Anukriti", "J", "R. Al", "Andrea Tal", "Andy"], "Anukriti|J|R. Al|Andrea Tal|Andy"),
        (["the LIGO Scientific Collaboration"], "the LIGO Scientific Collaboration"),
        (["Fermi-LAT Collaboration", "M33 Team"], "Fermi-LAT Collaboration|M33 Team"),
        (["A. Ho", "for the IceCube Collaboration"], "A. Ho|IceCube Collaboration"),
        (["A. Ho (for the DES Collaboration)", "L. Wu"], "A. Ho|L. Wu|DES Collaboration"),
        (
            "A. A. Penzias (1, 2), R. W. Wilson (MIT; USA) ((1) Leiden)",
            "A. A. Penzias|R. W. Wilson",
        ),
        ("Penzias, A. (1) and Wilson, R. (2)", "Penzias, A.|Wilson, R."),
        ("A. Penzias (1) R. Wilson (2)", "A. Penzias|R. Wilson"),
    ],
)
def test_authors_without_affiliations_and_comments(given: object, names: str) -> None:
    assert read_author_list(given) == names.split("|")


def test_authors_that_are_no_texts_are_left_for_the_check() -> None:
    assert read_author_list([1, "A. Ho (2)"]) == [1, "A. Ho (2)"]
    assert read_author_list(None) is None


def test_authors_that_were_split_within_their_affiliations(tmp_path: Path) -> None:
    line = "Zoe Hill (1), Sam (2, 3), Ann Orr (4) ((1) Institute, Town, (2) Other, (3) X, (4) Y)"
    record = {**FLAT, "authors": line.split(", ")}
    [paper] = papers_of(write_lines(tmp_path / "papers.jsonl", [record]))
    assert paper["authors"] == ["Zoe Hill", "Sam", "Ann Orr"]


def test_the_snapshots_parsed_authors_without_comments(tmp_path: Path) -> None:
    parsed = [["Ho", "A. (1", ""], ["2)", "", ""], ["et al", "", ""]]
    record = {**SNAPSHOT, "authors_parsed": parsed}
    [paper] = papers_of(write_lines(tmp_path / "papers.jsonl", [record]))
    assert paper["authors"] == ["Ho, A."]


@pytest.mark.parametrize(
    ("arxiv_id", "date", "read_as", "precision"),
    [
        ("astro-ph/9605151", "2026-06-19", "1996-05-01", "month"),
        ("astro-ph/0412001", "2002-01-05", "2004-12-01", "month"),
        ("1503.03442", "2013-11-28", "2015-03-01", "month"),
        ("1503.03442", "2016-03-30", "2016-03-30", "day"),
        ("1512.03442", "2014", "2014-01-01", "year"),
        ("1512.03442", "2013", "2015-12-01", "month"),
    ],
)
def test_a_date_far_from_the_arxiv_id_yields_to_it(
    tmp_path: Path, arxiv_id: str, date: str, read_as: str, precision: str
) -> None:
    record = {**FLAT, "arxiv_id": arxiv_id, "date": date}
    [paper] = papers_of(write_lines(tmp_path / "papers.jsonl", [record]))
    assert (str(paper["date"]), paper["date_precision"]) == (read_as, precision)


def test_the_flat_arxiv_shape_also_gzipped(tmp_path: Path) -> None:
    path = tmp_path / "papers"
    path.write_bytes(gzip.compress(json.dumps(FLAT).encode()))
    assert choose_reader(path).name == "arxiv"
    [paper] = papers_of(path)
    assert paper["authors"] == ["Scott Dodelson", "Jay M. Jubas"]
    assert paper["abstract"] == "By Gaier et al."
    assert paper["doi"] == "10.1103/physrevlett.70.2224"
    assert paper["year"] == 1993


def test_without_versions_the_month_is_that_of_the_id_not_of_the_last_change(
    tmp_path: Path,
) -> None:
    record = {k: v for k, v in SNAPSHOT.items() if k != "versions"}
    [paper] = papers_of(write_lines(tmp_path / "a", [record]))
    assert (paper["date"].isoformat(), paper["date_precision"]) == ("2007-04-01", "month")


@pytest.mark.parametrize("indent", [None, 2])
def test_an_ads_reply_and_its_documents_line_by_line(tmp_path: Path, indent: int | None) -> None:
    lines = write_lines(tmp_path / "docs.jsonl", [ADS])
    reply = {"responseHeader": {"status": 0}, "response": {"numFound": 1, "docs": [ADS, ADS]}}
    whole = tmp_path / "reply.json"
    whole.write_text(json.dumps(reply, indent=indent), encoding="utf-8")
    assert choose_reader(lines).name == choose_reader(whole).name == "ads"
    [paper] = papers_of(lines)
    assert [{**p, "source": None} for p in papers_of(whole)] == [{**paper, "source": None}] * 2
    assert paper["title"] == "Starlet l₁-norm"
    assert paper["abstract"] == "We present < a statistic."
    assert paper["paper_id"] == paper["ads_id"] == "2021A&A...645L..11A"
    assert paper["arxiv_id"] == "2101.01542"
    assert (paper["date"].isoformat(), paper["date_precision"]) == ("2021-01-01", "month")
    assert (paper["cites"], paper["read_count"]) == (12, 3)
    assert paper["ads_keywords"] == ["gravitational lensing: weak"]
    assert paper["ref_bibcodes"] == ["2003ApJ...583....1X"]


def test_real_ads_documents_odd_ones_included(real_data: Path) -> None:
    [batch] = read_papers(real_data / "ads" / "solr_docs.jsonl")
    assert batch.n_read == 110 == batch.papers.num_rows + len(batch.rejected)
    assert batch.papers.num_rows > 30
    assert {rejection.reason for rejection in batch.rejected} == {"no title", "no abstract"}
    texts = batch.papers["abstract"].to_pylist()
    assert not [text for text in texts if "<P" in text or "&gt;" in text or "SUB>" in text]


def test_scilit(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps(SCILIT, indent=1), encoding="utf-8")
    assert choose_reader(path).name == "scilit"
    [paper] = papers_of(path)
    assert paper["abstract"] == "One. Two. Three."
    assert paper["authors"] == ["Gu, Nianlong", "Hahnloser, Richard"]
    assert paper["ref_bibcodes"] == ["doi:10.1086/345794", "arXiv:1707.03415"]
    assert (paper["date"].isoformat(), paper["date_precision"]) == ("2023-07-01", "month")
    assert paper["paper_id"] == "10.18653/v1/2023.acl-demo.22"


def test_bibtex(tmp_path: Path) -> None:
    path = tmp_path / "refs.txt"
    path.write_text(BIBTEX, encoding="utf-8")
    assert choose_reader(path).name == "bibtex"
    [batch] = read_papers(path)
    first, second = batch.papers.to_pylist()
    assert first["paper_id"] == "2021A&A...645L..11A"
    assert first["arxiv_id"] == "2101.01542"
    assert first["title"] == "Starlet ℓ₁-norm, by 100%"
    assert first["authors"] == ["Ajani, Virginia", "van der Starck, Jean-Luc"]
    assert (first["date"].isoformat(), first["date_precision"]) == ("2021-01-01", "month")
    assert first["journal"] == second["journal"] == "Astronomy and Astrophysics"
    assert first["categories"] == ["astro-ph.CO"]
    assert first["ads_keywords"] == ["gravitational lensing: weak", "Astrophysics - Cosmology"]
    assert second["paper_id"] == "Smith2001"
    [rejection] = batch.rejected
    assert rejection.line == 12
    assert "BibTeX" in rejection.reason


def test_bibtex_of_a_thousand_entries_is_read_entry_by_entry(tmp_path: Path) -> None:
    path = tmp_path / "big.bib"
    entry = "@article{{k{0}, title={{Title {0}}}, abstract={{Text}}, year={{2001}}}}\n"
    path.write_text("".join(entry.format(i) for i in range(1000)))
    stream = BibtexReader().read(path)
    assert next(stream).line == 1
    assert sum(isinstance(record, RawRecord) for record in stream) == 999


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_csv_under_other_names(tmp_path: Path, delimiter: str) -> None:
    rows = [
        ["ID", "Title", "Summary", "Year", "Citation_Count", "authors", "keywords"],
        ["2101.00001v3", '"A ""quoted""', 'title"', "x", "y", "z", "w"],
    ]
    text = delimiter.join(rows[0]) + "\n"
    text += delimiter.join(
        ["2101.00001v3", '"A ""quoted"" title"', '"Two\nlines"', "2021", "7", '"B, C and D"', "a"]
    )
    path = tmp_path / "table.dat"
    path.write_text(text + "\n" + delimiter.join(["x", "short row"]) + "\n", encoding="utf-8-sig")
    [batch] = read_papers(path)
    [paper] = batch.papers.to_pylist()
    assert paper["arxiv_id"] == "2101.00001"
    assert paper["title"] == 'A "quoted" title'
    assert paper["abstract"] == "Two lines"
    assert (paper["year"], paper["cites"]) == (2021, 7)
    assert paper["source"] == ["table:table.dat"]
    assert [(r.line, r.reason) for r in batch.rejected] == [(4, "no abstract")]


def test_json_lines_and_an_array_and_parquet_of_the_same_table_read_alike(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [
        {
            "paper_id": f"p{i}",
            "title": f"Paper number {i}",
            "abstract": f"Text {i}",
            "date": "2020-05-01",
            "authors": ["A, B"],
            "generated": True,
            "source": "demo",
        }
        for i in range(5)
    ]
    lines = write_lines(tmp_path / "t.jsonl", rows)
    array = tmp_path / "t.json"
    array.write_text(json.dumps(rows, indent=2), encoding="utf-8")
    parquet = tmp_path / "t.bin"
    pq.write_table(pa.Table.from_pylist(rows), parquet)
    assert {choose_reader(p).name for p in (lines, array, parquet)} == {"table"}
    assert papers_of(lines) == papers_of(array) == papers_of(parquet)
    first = papers_of(lines)[0]
    assert (first["paper_id"], first["source"], first["generated"]) == ("p0", ["demo"], True)


def test_the_parts_of_an_atlas_can_be_read_again_unchanged(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    [batch] = read_papers(write_lines(tmp_path / "a.jsonl", [SNAPSHOT]))
    pq.write_table(batch.papers, tmp_path / "part.parquet")
    [again] = read_papers(tmp_path / "part.parquet")
    assert again.papers.equals(batch.papers)


def pathfinder_table(n: int, dimension: int = 8) -> Any:
    import numpy as np
    import pyarrow as pa

    vectors = np.random.default_rng(0).normal(size=(n, dimension)).astype("float64")
    return pa.table(
        {
            "ads_id": [f"{i}" for i in range(n)],
            "arxiv_id": [f"2101.{i:05d}" for i in range(n)],
            "title": [f"On the galaxy number {i}" for i in range(n)],
            "abstract": [f"We study galaxy {i}." for i in range(n)],
            "embed": vectors.tolist(),
            "umap_x": vectors[:, 0].astype("float32"),
            "umap_y": vectors[:, 1].astype("float32"),
            "date": pa.array([18628] * n, pa.date32()),
            "cites": list(range(n)),
            "bibcode": [f"2021arXiv2101{i:05d}A" for i in range(n)],
            "keywords": [["extracted"]] * n,
            "ads_keywords": [["galaxies"]] * n,
            "read_count": [1.0] * n,
            "doi": [["10.48550/arXiv.2101.00000"]] * n,
            "authors": [["Doe, J."]] * n,
            "aff": [["MIT"]] * n,
            "cite_bibcodes": [[]] * n,
            "ref_bibcodes": [["2003ApJ...583....1X"]] * n,
        }
    )


def test_pathfinder_keeps_its_embeddings_and_coordinates(tmp_path: Path) -> None:
    import numpy as np
    import pyarrow.parquet as pq

    table = pathfinder_table(2500)
    path = tmp_path / "train-00000-of-00001.parquet"
    pq.write_table(table, path, row_group_size=700)
    assert choose_reader(path).name == "pathfinder"
    batches = list(read_papers(path))
    vectors = np.concatenate([batch.vectors for batch in batches])
    positions = np.concatenate([batch.positions for batch in batches])
    expected = np.array(table["embed"].to_pylist(), dtype=np.float32)
    np.testing.assert_array_equal(vectors, expected)
    np.testing.assert_allclose(positions, expected[:, :2])
    paper = batches[0].papers.slice(7, 1).to_pylist()[0]
    assert paper["paper_id"] == "2021arXiv210100007A"
    assert paper["keywords"] is None
    assert paper["ads_keywords"] == ["galaxies"]
    assert paper["date"].isoformat() == "2021-01-01"
    assert sum(batch.n_bytes for batch in batches) == path.stat().st_size


def test_lines_that_are_no_records_are_rejected_with_line_and_reason(tmp_path: Path) -> None:
    good = json.dumps(FLAT)
    path = tmp_path / "mixed.jsonl"
    bad = [
        (b"{not json", "not JSON"),
        (b"[1, 2]", "not a record but a list"),
        (b"17", "not a record but a number"),
        (b'{"arxiv_id": "2101.00001", "title": "\xff\xfe", "abstract": "a"}', "not UTF-8"),
        (json.dumps({**FLAT, "title": 5}).encode(), "the title is a number"),
        (json.dumps({**FLAT, "title": " "}).encode(), "no title"),
        (json.dumps({**FLAT, "abstract": None}).encode(), "no abstract"),
        (json.dumps({**FLAT, "abstract": "Not Available <P />"}).encode(), "no abstract"),
        (json.dumps({**FLAT, "abstract": "x " * 60_000}).encode(), "too long"),
    ]
    path.write_bytes(b"\n".join([good.encode(), b"", *(line for line, _ in bad), good.encode()]))
    [batch] = read_papers(path)
    assert batch.papers.num_rows == 2
    assert batch.n_read == 2 + len(bad)
    assert [rejection.line for rejection in batch.rejected] == list(range(3, 3 + len(bad)))
    for rejection, (_, reason) in zip(batch.rejected, bad, strict=True):
        assert reason in rejection.reason
        assert rejection.file == "mixed.jsonl"


def test_a_secondary_field_never_costs_the_paper(tmp_path: Path) -> None:
    records = [{**FLAT, "authors": [1, "A. Ho"]}, {**FLAT, "date": "3025-01-01"}]
    [batch] = read_papers(write_lines(tmp_path / "odd.jsonl", records))
    assert batch.papers["authors"].to_pylist() == [["A. Ho"], ["Scott Dodelson", "Jay M. Jubas"]]
    assert [str(day) for day in batch.papers["date"].to_pylist()] == ["1993-01-07", "1993-01-01"]
    assert [(r.line, r.reason.split(" is ")[0]) for r in batch.repaired] == [
        (1, "authors: a number instead of a text; left out"),
        (2, "the date '3025-01-01'"),
    ]


def test_each_element_of_an_array_is_counted_once(tmp_path: Path) -> None:
    path = tmp_path / "array.json"
    paper = {"title": "Dust in galaxies", "abstract": "We see dust.", "year": 2020}
    path.write_text(f'[1, "a, \\"b", null,\n{json.dumps(paper)}, 7 8, [1, 2], "x"]', "utf-8")
    [batch] = read_papers(path)
    assert (batch.n_read, len(batch.papers), len(batch.rejected)) == (7, 1, 6)


def test_a_broken_element_of_an_array_costs_only_itself(tmp_path: Path) -> None:
    good = json.dumps(FLAT)
    path = tmp_path / "array.json"
    path.write_text(f'[\n{good},\n{{"broken": tru}},\n 12,\n{good}\n, {{"cut": "off')
    [batch] = read_papers(path)
    assert batch.papers.num_rows == 2
    assert [(r.line, r.reason.split(" (")[0]) for r in batch.rejected] == [
        (3, "not JSON"),
        (4, "not a record but a number"),
        (6, "not JSON"),
    ]


def test_an_array_larger_than_the_read_buffer_streams(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    records = [
        {**FLAT, "arxiv_id": f"2101.{i:05d}", "abstract": 'a "b" {[ ' * 300} for i in range(900)
    ]
    path.write_text(json.dumps(records, indent=1))
    assert path.stat().st_size > 2 << 20
    found = [r for r in choose_reader(path).read(path) if isinstance(r, RawRecord)]
    assert [r.fields["arxiv_id"] for r in found] == [r["arxiv_id"] for r in records]
    lines = path.read_text().splitlines()
    assert all(lines[record.line - 1].strip() == "{" for record in found)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (bytes(range(256)) * 40, "binary"),
        (b"PK\x03\x04rest of a zip", "zip"),
        (b"Dear diary,\ntoday I read papers.\n", "is unknown"),
        (b'{"children": []}\n', "is unknown"),
        (b"bibcode,mission\nx,y\n", "is unknown"),
        (b"PAR1 and then nothing of the kind PAR1", "damaged Parquet"),
        (gzip.compress(b"", mtime=0), "is empty"),
        (b"\x1f\x8b\x08\x00garbage that is no deflate stream", "damaged|truncated"),
    ],
)
def test_files_that_cannot_be_read_get_one_sentence(
    tmp_path: Path, content: bytes, sentence: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(InputError, match=sentence) as caught:
        choose_reader(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    assert len(message) < 500


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file"):
        choose_reader(tmp_path / "absent.jsonl")
    with pytest.raises(InputError, match="folder"):
        choose_reader(tmp_path)


@pytest.mark.parametrize("n", [100, 3000])
def test_a_truncated_gzip_says_how_much_was_good(tmp_path: Path, n: int) -> None:
    # Text that does not compress away: hashes.
    abstracts = [
        " ".join(sha256(b"%d %d" % (i, j)).hexdigest() for j in range(9)) for i in range(n)
    ]
    records = [{**FLAT, "abstract": abstract} for abstract in abstracts]
    whole = gzip.compress("".join(json.dumps(r) + "\n" for r in records).encode())
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(whole[: len(whole) // 2])
    reader = choose_reader(path)
    good: list[object] = []
    with pytest.raises(InputError) as caught:
        good.extend(reader.read(path))
    assert len(good) > 0.4 * n
    assert f"after {len(good):,} good records" in str(caught.value)
    assert "truncated" in str(caught.value)


def test_a_parquet_file_cut_short_is_told(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    path = tmp_path / "cut.parquet"
    pq.write_table(pathfinder_table(100), path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match="damaged Parquet"):
        choose_reader(path)


def test_reading_does_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    records = [{**FLAT, "arxiv_id": f"2101.{i:05d}"} for i in range(90)] + ["{broken"]
    path = write_lines(tmp_path / "many.jsonl", records)
    alone = list(read_papers(path, batch_size=20))
    together = list(read_papers(path, batch_size=20, workers=2))
    assert [b.papers for b in alone] == [b.papers for b in together]
    assert [b.rejected for b in alone] == [b.rejected for b in together]
    assert sum(b.n_bytes for b in alone) == path.stat().st_size
    skipped = list(read_papers(path, batch_size=20, skip=2))
    assert [b.papers for b in skipped] == [b.papers for b in alone[2:]]


def test_the_schema_is_that_of_the_contract() -> None:
    assert papers_schema().names[:4] == ["paper_id", "ads_id", "arxiv_id", "title"]
    assert str(papers_schema().field("keywords").type) == "list<element: string>" or str(
        papers_schema().field("keywords").type
    ).startswith("list<")


def test_an_unreadable_parquet_cell_costs_only_its_row(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    n = 1500
    titles = [f"Title {i}".encode() for i in range(n)]
    titles[1200] = b"\xff\xfe"
    text = pa.array(titles, pa.binary())
    table = pa.table(
        {
            "title": pa.StringArray.from_buffers(n, *text.buffers()[1:]),
            "abstract": [f"Abstract {i}" for i in range(n)],
            "date": pa.array([18628] * 3 + [10_000_000] + [18628] * (n - 4), pa.int32()).cast(
                pa.date32()
            ),
        }
    )
    path = tmp_path / "odd.parquet"
    pq.write_table(table, path)
    [batch] = read_papers(path)
    assert batch.papers.num_rows == n - 2
    assert [(r.line, r.reason.split(" (")[0]) for r in batch.rejected] == [
        (4, "unreadable cell in column 'date'"),
        (1201, "unreadable cell in column 'title'"),
    ]


def test_bibtex_takes_the_strings_an_entry_uses_and_survives_a_month_of_any_length(
    tmp_path: Path,
) -> None:
    path = tmp_path / "strings.bib"
    path.write_text(
        "@string{ whole = {Astronomical Journal} }\n"
        '@string{unused = "Nothing"}\n'
        "@article{a,\n title = {T},\n abstract = {A},\n journal = whole,\n"
        f" year = 2020,\n month = {'7' * 5000}\n}}\n"
        "@article{b,\n title = {U},\n abstract = {B},\n year = 2020, month = 07\n}\n"
    )
    first, second = BibtexReader().read(path)
    assert isinstance(first, RawRecord)
    assert isinstance(second, RawRecord)
    assert first.fields["journal"] == "Astronomical Journal"
    assert (first.fields["dates"], second.fields["dates"]) == (["2020"], ["2020-07"])


def test_csv_with_blank_lines_before_the_header(tmp_path: Path) -> None:
    path = tmp_path / "blank.csv"
    path.write_text("\n \r\n\ntitle,abstract\nT,A\nonly one\n")
    [batch] = read_papers(path)
    assert batch.papers["title"].to_pylist() == ["T"]
    assert [r.line for r in batch.rejected] == [6]


def test_a_csv_line_too_long_to_be_a_paper_is_one_rejection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("landscape.corpus.readers._tables.MAX_RECORD", 100)
    path = tmp_path / "long.csv"
    path.write_text("title,abstract\nT,A\n" + "x,y," * 1000 + "\nU,B\nalone\n")
    [batch] = read_papers(path)
    assert batch.papers["title"].to_pylist() == ["T", "U"]
    assert [r.line for r in batch.rejected] == [3, 5]
    assert "the line is too long to be one paper" in batch.rejected[0].reason


def test_a_json_record_without_end_is_told_with_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("landscape.corpus.readers._files.MAX_RECORD", 100)
    path = tmp_path / "endless.json"
    path.write_text('[{"title": "T", "abstract": "A"},\n{"title": ' + "1" * 5000)
    with pytest.raises(InputError, match=r"line 2 of .*endless\.json does not end"):
        list(READERS["table"].read(path))
