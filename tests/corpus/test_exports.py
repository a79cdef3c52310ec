"""Files as reference managers, services and spreadsheets write them."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from landscape.corpus import preview, read_pairs, read_papers
from landscape.corpus.records import Batch
from landscape.errors import InputError

TEXT = "We measure the spins of young stars in a cluster and find that they slow down with age."
BIBCODE = "2021A&A...645L..11A"
TITLE = "Spins of young stars"


def read(path: Path, content: str, encoding: str = "utf-8") -> Batch:
    path.write_bytes(content.encode(encoding))
    [batch] = read_papers(path)
    return batch


def entry(**fields: str) -> str:
    fields = {"title": TITLE, "abstract": TEXT, **fields}
    return "@article{key,\n" + ",\n".join(f" {k} = {{{v}}}" for k, v in fields.items()) + "\n}\n"


def paper_of(path: Path, content: str, encoding: str = "utf-8") -> dict[str, Any]:
    [paper] = read(path, content, encoding).papers.to_pylist()
    return paper


def test_the_cases_of_other_programs(real_data: Path, tmp_path: Path) -> None:
    script = real_data.parent / "records_check.py"
    found = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout


@pytest.mark.parametrize(
    ("names", "read_as"),
    [
        ("Nowak, U.; Misra, A.", "Nowak, U.|Misra, A."),
        ("Ada Nowak, Uma Misra, Eva Lind", "Ada Nowak|Uma Misra|Eva Lind"),
        ("Nowak, U., Misra, A., Lind, E.", "Nowak, U.|Misra, A.|Lind, E."),
        ("Nowak U, Misra AB, Lind E", "Nowak U|Misra AB|Lind E"),
        (r"{\'A}. Nowak and {\O}sten, U. and \AA{}berg, E.", "Á. Nowak|Østen, U.|Åberg, E."),
        ("Nowak, U. AND Misra, A. and others", "Nowak, U.|Misra, A."),
        ("{Kepler Team and Friends} and Nowak, U.", "Kepler Team and Friends|Nowak, U."),
        (
            "Planck Collaboration: Nowak, U. and Misra, A.",
            "Planck Collaboration|Nowak, U.|Misra, A.",
        ),
        ("Collaboration, Planck and Nowak, U.", "Planck Collaboration|Nowak, U."),
        ("Nowak, U.$^{1,2}$ and Misra, A.$^{*}$", "Nowak, U.|Misra, A."),
        (r"Ada Nowak\textsuperscript{1} and Uma Misra\inst{2}", "Ada Nowak|Uma Misra"),
        ("Ada Nowak1,2, Uma Misra3*", "Ada Nowak|Uma Misra"),
        ("{{Nowak, U. and Misra, A.}}", "Nowak, U.|Misra, A."),
        ("Nowak, U., Misra, A., and Lind, E.", "Nowak, U.|Misra, A.|Lind, E."),
        (r"S\o rensen, U. and Stra\ss e, A. and \L ojas, E.", "Sørensen, U.|Straße, A.|Łojas, E."),
        ("family=Nowak, given=U., prefix=de and family=Misra, given=A.", "de Nowak, U.|Misra, A."),
        ("Nowak, U. and {Misra, A.", "Nowak, U.|Misra, A."),
        ("Nowak, U. and Misra, A. and", "Nowak, U.|Misra, A."),
        ("U. Nowak, A. Misra and E. Lind", "U. Nowak|A. Misra|E. Lind"),
        ("{Nowak}, U. & Misra, A.", "Nowak, U.|Misra, A."),
    ],
)
def test_names(names: str, read_as: str, tmp_path: Path) -> None:
    assert paper_of(tmp_path / "a.bib", entry(author=names))["authors"] == read_as.split("|")


@pytest.mark.parametrize(
    ("fields", "day", "precision"),
    [
        ({"year": "{in prep.}"}, None, None),
        ({"year": "n.d."}, None, None),
        ({"year": "submitted 2020"}, date(2020, 1, 1), "year"),
        ({"year": "2008b"}, date(2008, 1, 1), "year"),
        ({"year": "2019--2020"}, date(2019, 1, 1), "year"),
        ({"year": "in press", "date": "2019-04"}, date(2019, 4, 1), "month"),
        ({"date": "2014-05~/2014-08"}, date(2014, 5, 1), "month"),
        ({"date": "2014-21"}, date(2014, 1, 1), "year"),
        ({"date": "../1999"}, date(1999, 1, 1), "year"),
        ({"date": "2004-06-uu"}, date(2004, 6, 1), "month"),
        ({"year": "2020", "month": "{March-April}"}, date(2020, 3, 1), "month"),
        ({"year": "20021"}, None, None),
        ({"year": "2020", "month": "jan # {~15}"}, date(2020, 1, 15), "day"),
        ({"year": "2020", "month": "Mai"}, date(2020, 5, 1), "month"),
        ({"year": "2020", "month": "décembre", "day": "3"}, date(2020, 12, 3), "day"),
        ({"year": "2020", "month": "juin"}, date(2020, 6, 1), "month"),
        ({"year": "2020", "month": "Feb. 30"}, date(2020, 2, 1), "month"),
        ({"date": "05/2020"}, date(2020, 5, 1), "month"),
        ({"date": "00/2020"}, date(2020, 1, 1), "year"),
        ({"date": "2020/06/1"}, date(2020, 6, 1), "month"),
        ({"date": "3. Oktober 2020"}, date(2020, 10, 3), "day"),
    ],
)
def test_dates(
    fields: dict[str, str], day: date | None, precision: str | None, tmp_path: Path
) -> None:
    paper = paper_of(tmp_path / "a.bib", entry(**fields))
    assert (paper["date"], paper["date_precision"]) == (day, precision)


@pytest.mark.parametrize(
    ("fields", "name", "value"),
    [
        ({"journal": "arXiv", "number": "2101.00005"}, "arxiv_id", "2101.00005"),
        ({"journal": "CoRR", "volume": "abs/2101.00005"}, "arxiv_id", "2101.00005"),
        ({"eid": "arXiv:2101.00005"}, "arxiv_id", "2101.00005"),
        ({"url": "https://arxiv.org/pdf/2101.00005v2"}, "arxiv_id", "2101.00005"),
        ({"doi": "10.48550/arXiv.2101.00005"}, "arxiv_id", "2101.00005"),
        ({"note": "see astro-ph.CO/0101001"}, "arxiv_id", "astro-ph/0101001"),
        ({"eprint": "0101001", "primaryclass": "astro-ph"}, "arxiv_id", "astro-ph/0101001"),
        ({"eprint": "2101.005", "archiveprefix": "ascl"}, "arxiv_id", None),
        ({"number": "2101.00005"}, "arxiv_id", None),
        ({"note": "Comment on arXiv:2101.00005"}, "arxiv_id", None),
        ({"note": r"\href{https://doi.org/10.1086/345794}{doi}"}, "doi", "10.1086/345794"),
        ({"note": "doi: 10.1086/345794, in press"}, "doi", "10.1086/345794"),
        ({"doi": r"10.1007/978{\_}12"}, "doi", "10.1007/978_12"),
        ({"url": "https://doi.org/10.1086/345794"}, "doi", "10.1086/345794"),
        (
            {"adsurl": r"http://adsabs.harvard.edu/abs/2021A\&A...645L..11A"},
            "bibcode",
            "2021A&A...645L..11A",
        ),
        (
            {"url": "https://scixplorer.org/abs/2021A%26A...645L..11A/abstract"},
            "bibcode",
            "2021A&A...645L..11A",
        ),
        ({"journal": "apj"}, "journal", "The Astrophysical Journal"),
        ({"journal": r"{\apj}"}, "journal", "The Astrophysical Journal"),
        ({"journal": r"\\apj"}, "journal", "The Astrophysical Journal"),
        ({"journal": r"$\backslash$apj"}, "journal", "The Astrophysical Journal"),
        ({"journal": "Nature"}, "journal", "Nature"),
    ],
)
def test_identifiers_and_journals(
    fields: dict[str, str], name: str, value: str | None, tmp_path: Path
) -> None:
    assert paper_of(tmp_path / "a.bib", entry(**fields))[name] == value


ADS_TAGGED = f"""%R 2021A&A...645L..11A
%T {TITLE}
%A Nowak, U.; Misra, A.
%F AA(Institute of Physics), AB(Observatory)
%J Astronomy and Astrophysics, Volume 645, id.L11
%V 645
%D 01/2021
%K Stars: rotation; Open clusters
%U https://ui.adsabs.harvard.edu/abs/2021A&A...645L..11A
%B {TEXT}
%Y DOI: 10.1051/0004-6361/202039988; eprintid: arXiv:2101.00005
"""
PUBMED = f"""
PMID- 123
TI  - {TITLE}
AB  - {TEXT}
FAU - Nowak, Uma
CN  - GRAVITY Collaboration
DP  - 2021 Jan 5
"""
SCOPUS = entry(
    author="Nowak, U.", note="Cited by: 12; All Open Access", collaboration="LIGO Scientific, Virgo"
)


@pytest.mark.parametrize(
    ("content", "name", "value"),
    [
        (ADS_TAGGED, "bibcode", "2021A&A...645L..11A"),
        (ADS_TAGGED, "authors", ["Nowak, U.", "Misra, A."]),
        (ADS_TAGGED, "arxiv_id", "2101.00005"),
        (ADS_TAGGED, "doi", "10.1051/0004-6361/202039988"),
        (ADS_TAGGED, "date", date(2021, 1, 1)),
        (PUBMED, "authors", ["Nowak, Uma", "GRAVITY Collaboration"]),
        (SCOPUS, "cites", 12),
        (SCOPUS, "authors", ["Nowak, U.", "LIGO Scientific Collaboration", "Virgo Collaboration"]),
    ],
)
def test_fields_in_unusual_places(content: str, name: str, value: object, tmp_path: Path) -> None:
    assert paper_of(tmp_path / "a.txt", content)[name] == value


@pytest.mark.parametrize(
    ("given", "read_as"),
    [
        (r"HST program \#12345 and HD\#12 of 50\% {\#}2", "HST program #12345 and HD#12 of 50% #2"),
        (
            r"One. \textbackslash\textbackslash(4 files). \textbackslash\textbackslash",
            "One. (4 files).",
        ),
        (r"One. \textbackslash\textbackslashThe other one", "One. The other one"),
        (
            r"with 20{\textbackslash}\% of {\textbackslash}textit\{Chandra\} data",
            "with 20% of Chandra data",
        ),
        (r"3.2 x 10{\^{}}5 M{\_}sun, 10{\^{}}{\{}44{\}} erg", "3.2 x 10⁵ M_sun, 10⁴⁴ erg"),
        (r"{\$}f{\_}{\{}{\textbackslash}rm esc{\}}{\$} is low here", "f_esc is low here"),
        (r"at <?CDATA $z\sim 3$?> <?MML ( z ∼ 3 ) ?> here", "at z∼3 here"),
        (
            "Fe <SMALL>II</SMALL> lines of 10^6^ galaxies, 10^5^ M_sun_",
            "Fe II lines of 10⁶ galaxies, 10⁵ M_sun",
        ),
        (
            "<math><msub><mi>g</mi><mrow><mi>a</mi><mi>γ</mi></mrow></msub><mo>&lt;</mo>"
            "<msup><mn>10</mn><mrow><mo>−</mo><mn>11</mn></mrow></msup></math> is low",
            "g_aγ<10⁻¹¹ is low",
        ),
        (
            "<mml:math><mml:msubsup><mml:mn>4.3</mml:mn><mml:mrow><mml:mo>-</mml:mo><mml:mn>0.4"
            "</mml:mn></mml:mrow><mml:mn>+0.5</mml:mn></mml:msubsup></mml:math> is high",
            "4.3 (+0.5/-0.4) is high",
        ),
        ("Abstract We see stars", "We see stars"),
        ("We see stars. Comment: 12 pages, 3 figures", "We see stars."),
        ("We see stars. This is an Open Access article, published by EDP", "We see stars."),
    ],
)
def test_texts_that_programs_have_escaped(given: str, read_as: str, tmp_path: Path) -> None:
    assert paper_of(tmp_path / "a.bib", entry(abstract=given))["abstract"] == read_as


@pytest.mark.parametrize(
    "given", [r"Not Available \textbackslash\textbackslash", "Abstract image available at: x"]
)
def test_placeholders_that_programs_have_escaped(given: str, tmp_path: Path) -> None:
    assert read(tmp_path / "a.bib", entry(abstract=given)).rejected[0].reason == "no abstract"


@pytest.mark.parametrize(
    ("names", "values", "name", "value"),
    [
        (
            "PT,AU,TI,AB,ID,PY,PD,UT",
            "J,Nowak U,{},{},STARS; AGES,2005,JUN 2,WOS:1",
            "paper_id",
            "WOS:1",
        ),
        (
            "PT,AU,TI,AB,ID,PY,PD,UT",
            "J,Nowak U,{},{},STARS; AGES,2005,JUN 2,WOS:1",
            "ads_keywords",
            ["STARS", "AGES"],
        ),
        (
            "PT,AU,TI,AB,ID,PY,PD,UT",
            "J,Nowak U,{},{},STARS; AGES,2005,JUN 2,WOS:1",
            "date",
            date(2005, 6, 2),
        ),
        (
            "PMID,Title,Abstract,Citation,Journal/Book",
            "1,{},{},Nat Astron. 2020;5:63,Nat Astron",
            "journal",
            "Nat Astron",
        ),
        (
            "PMID,Title,Abstract,Citation,Journal/Book",
            "1,{},{},Nat Astron. 2020;5:63,Nat Astron",
            "cite_bibcodes",
            [],
        ),
        ("title,abstract,doi", "\"['{}']\",{},['10.1086/345794']", "title", TITLE),
        ("title,abstract,doi", "\"['{}']\",{},['10.1086/345794']", "doi", "10.1086/345794"),
        (
            "title,abstract,identifier",
            "{},{},\"['2021A&A...645L..11A', 'arXiv:2101.00005']\"",
            "arxiv_id",
            "2101.00005",
        ),
        (
            "Timestamp,Title,Abstract,Pub. year",
            "3/14/2023 10:22:11,{},{},2013",
            "date",
            date(2013, 1, 1),
        ),
        (
            "Titel,Zusammenfassung,Zeitschrift,Datum",
            "{},{},AN,15/03/2018",
            "date",
            date(2018, 3, 15),
        ),
        ("title,abstract,date", "{},{},03/04/2018", "date_precision", "year"),
        (
            "title,abstract,Authors (with affiliations)",
            '{},{},"Nowak, U. (MIT); Misra, A. (MPE)"',
            "authors",
            ["Nowak, U.", "Misra, A."],
        ),
        ("title,abstract,citations", '{},{},"7,456"', "cites", 7456),
        (
            "title,abstract,doi",
            "{},{},10.1140/epjc/s10052-020-7683-610.48550/arXiv.1912.06970",
            "doi",
            "10.1140/epjc/s10052-020-7683-6",
        ),
    ],
)
def test_tables_of_services_and_programs(
    names: str, values: str, name: str, value: object, tmp_path: Path
) -> None:
    table = f"{names}\n{values.format(TITLE, TEXT)}\n"
    assert paper_of(tmp_path / "a.csv", table)[name] == value


def test_other_forms_of_tables(tmp_path: Path) -> None:
    excel = f"sep=;\ntitle;abstract\n{TITLE};{TEXT}\n"
    assert paper_of(tmp_path / "a.csv", excel, "utf-16")["title"] == TITLE
    by_column = json.dumps({"title": {"0": TITLE, "1": "Two"}, "abstract": {"0": TEXT, "1": TEXT}})
    split = json.dumps({"columns": ["title"], "index": [0], "data": [[TITLE]]})
    for content in (by_column, split):
        (tmp_path / "a.json").write_text(content)
        with pytest.raises(InputError, match="orient='records'"):
            [*read_papers(tmp_path / "a.json")]
    numbers = json.dumps(
        {"title": TITLE, "abstract": TEXT, "arxiv_id": 1001.027, "date": 1266537600000}
    )
    paper = paper_of(tmp_path / "b.json", numbers)
    assert (paper["arxiv_id"], paper["date"]) == ("1001.0270", date(2010, 2, 19))


ENDNOTE = f"""<xml><records><record><ref-type name="Journal Article">17</ref-type><titles><title>
<style face="normal">{TITLE} at 9 km s</style><style face="superscript">-1</style></title></titles>
<abstract><style face="normal">{TEXT}</style></abstract><dates><year>2022</year><pub-dates><date>
Jul 20</date></pub-dates></dates></record></records></xml>"""
REFWORKS = f"RT Journal\nT1 {TITLE}\nA1 Nowak, U.\nJF Weather\nFD 2018/01\nAB {TEXT}\n"
RIS = f"TY  - Thesis/Dissertation\nTI  - {TITLE}\nAB  - {TEXT}\nDA  - Jul 20\nPY  - 2006\nER  - \n"
ENW = f"%0 Journal Article\n%T {TITLE}\n%X {TEXT}\n%D 2020\n%8 13 December\n"
ENW += "%= eprint: arXiv:1912.06970\n"


@pytest.mark.parametrize(
    ("content", "name", "value"),
    [
        (ENDNOTE, "title", f"{TITLE} at 9 km s⁻¹"),
        (ENDNOTE, "date", date(2022, 7, 20)),
        (REFWORKS, "authors", ["Nowak, U."]),
        (REFWORKS, "journal", "Weather"),
        (REFWORKS, "date", date(2018, 1, 1)),
        (RIS, "date", date(2006, 7, 20)),
        (RIS, "kind", "thesis"),
        (ENW, "arxiv_id", "1912.06970"),
        (ENW, "date", date(2020, 12, 13)),
    ],
)
def test_tags_of_programs(content: str, name: str, value: object, tmp_path: Path) -> None:
    assert paper_of(tmp_path / "a.txt", content)[name] == value


def test_roles_of_inspire_and_translated_titles(tmp_path: Path) -> None:
    record = {
        "titles": [{"title": TITLE}],
        "abstracts": [{"value": TEXT}],
        "authors": [
            {"full_name": "Nowak, U.", "inspire_roles": ["author"]},
            {"full_name": "Misra, A.", "inspire_roles": ["supervisor"]},
        ],
        "collaborations": [{"value": "Planck"}],
        "dois": [
            {"value": "10.1086/1", "material": "erratum"},
            {"value": "10.1086/2", "material": "publication"},
        ],
    }
    paper = paper_of(tmp_path / "a.json", json.dumps(record))
    assert paper["authors"] == ["Nowak, U.", "Planck Collaboration"]
    assert paper["doi"] == "10.1086/2"
    titles = [{"title": "Spins junger Sterne", "titleType": "TranslatedTitle"}, {"title": TITLE}]
    creators = [{"name": "Nowak, U."}]
    described = [{"description": TEXT, "descriptionType": "Abstract"}]
    record = {"titles": titles, "creators": creators, "descriptions": described}
    assert paper_of(tmp_path / "b.json", json.dumps(record))["title"] == TITLE


def test_what_is_repaired_is_listed(tmp_path: Path) -> None:
    text = entry(year="2021, in press") + entry(note="{one", year="2020").replace("key,", "other,")
    text += f"@article{{third,\n title = {{{TITLE}}},\n note = {{a}},\n note = {{b}}\n"
    text += f" abstract = {{{TEXT}}}\n}}"
    batch = read(tmp_path / "a.bib", text)
    assert (batch.papers.num_rows, batch.rejected) == (3, [])
    assert [(one.line, one.reason) for one in batch.repaired] == [
        (1, "the date '2021, in press' is read as 2021"),
        (6, "a brace without its partner is removed"),
        (12, "the field 'note' is repeated; the first is used"),
        (12, "a comma is missing at the end of a field"),
    ]


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16", "utf-8-sig"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_tables_of_spreadsheets(encoding: str, delimiter: str, tmp_path: Path) -> None:
    rows = [["Title", "Abstract", "Authors", "Year"], [TITLE, TEXT, '"Müller K; Åberg E"', "2021"]]
    text = "\r\n".join(delimiter.join(row) for row in rows)
    batch = read(tmp_path / "a.csv", text, encoding)
    assert batch.papers["authors"].to_pylist() == [["Müller K", "Åberg E"]]
    said = [] if encoding == "utf-8-sig" else ["the file is not UTF-8 text"]
    assert [one.reason.split(";")[0] for one in batch.repaired] == said


def test_the_day_of_a_download_is_no_date_of_publication(tmp_path: Path) -> None:
    text = f"title,abstract,Year,Access Date,created\n{TITLE},{TEXT},2019,2023-05-12,2023-05-11\n"
    [paper] = read(tmp_path / "a.csv", text).papers.to_pylist()
    assert (paper["date"], paper["date_precision"]) == (date(2019, 1, 1), "year")


def test_ragged_rows_and_unknown_columns(tmp_path: Path) -> None:
    text = (
        f"title,abstract,year,doi\n{TITLE},{TEXT} And so, on.,2020,10.1000/x\n{TITLE} too,{TEXT}\n"
    )
    batch = read(tmp_path / "a.csv", text + f"{TITLE} again,{TEXT},2019,10.1000/y,,,\n")
    first, second, third = batch.papers.to_pylist()
    assert (first["title"], first["abstract"], first["year"]) == (
        TITLE,
        f"{TEXT} And so, on.",
        2020,
    )
    assert (second["year"], third["doi"]) == (None, "10.1000/y")
    text = f"Titel;Zusammenfassung;Autoren;Jahr\n{TITLE};{TEXT};Nowak, U.;2020\n"
    text += f"{TITLE} too;{TEXT};Nowak, U.;2021\n"
    batch = read(tmp_path / "b.csv", text)
    assert batch.papers["year"].to_pylist() == [2020, 2021]
    assert "the column 'Zusammenfassung' is read as abstract" in [r.reason for r in batch.repaired]


ENDNOTE = f"""<?xml version="1.0" encoding="UTF-8"?><xml><records><record><rec-number>1</rec-number>
<ref-type name="Thesis">32</ref-type><contributors><authors><author><style>Nowak, Uma</style>
</author></authors></contributors><titles><title><style>Spins of </style><style>young</style>
<style> stars</style></title></titles><dates><year><style>2021</style></year></dates>
<abstract><style>{TEXT}</style></abstract></record></records></xml>"""
PUBMED = f"""PMID- 1
TI  - Spins of
      young stars
AB  - {TEXT}
FAU - Nowak, Uma
AU  - Nowak U
DP  - 2021 May 3
LID - 10.1000/n [doi]
PT  - Journal Article
PT  - Retracted Publication
"""
WEB_OF_SCIENCE = f"""FN Clarivate
PT J
AF Nowak, Uma
   Misra, Asha
TI Spins of
   young stars
AB {TEXT}
PD MAY 3
PY 2021
DT Review
ER
"""
ENDNOTE_TAGS = f"%0 Thesis\n%A Nowak, Uma\n%T {TITLE}\n%D 2021\n%X {TEXT}\n"
RIS = f"TY  - CONF\r\nA1  - Nowak, Uma\r\nT1  - {TITLE}\r\nN2  - {TEXT}\r\nY1  - 2021///\r\n"
CROSSREF = {
    "message": {
        "facets": {},
        "items": [
            {
                "DOI": "10.1000/C",
                "type": "journal-article",
                "title": [TITLE],
                "abstract": f"<jats:title>Abstract</jats:title><jats:p>{TEXT}</jats:p>",
                "author": [{"given": "Uma", "family": "Nowak"}],
                "issued": {"date-parts": [[2021, 5]]},
                "updated-by": [{"type": "retraction"}],
            }
        ],
    }
}
INSPIRE = {
    "hits": {
        "hits": [
            {
                "metadata": {
                    "titles": [{"title": TITLE}],
                    "abstracts": [{"value": TEXT}],
                    "authors": [{"full_name": "Nowak, Uma"}],
                    "arxiv_eprints": [{"value": "2105.00001", "categories": ["astro-ph.SR"]}],
                    "publication_info": [{"year": 2021}],
                    "document_type": ["review"],
                }
            }
        ]
    }
}
ZOTERO = [
    {
        "data": {
            "itemType": "dataset",
            "title": TITLE,
            "abstractNote": TEXT,
            "creators": [{"firstName": "Uma", "lastName": "Nowak"}],
            "date": "May 3, 2021",
        }
    }
]
OAI = f"""<OAI-PMH><ListRecords><record><header><identifier>oai:1</identifier></header><metadata>
<arXiv xmlns="http://arxiv.org/OAI/arXiv/"><id>2105.00001</id><created>2021-05-03</created><authors>
<author><keyname>Nowak</keyname><forenames>Uma</forenames></author></authors><title>{TITLE}</title>
<categories>astro-ph.SR</categories><comments>PhD thesis</comments>
<abstract>{TEXT}</abstract></arXiv></metadata></record></ListRecords></OAI-PMH>"""
DATACITE = {
    "data": [
        {
            "attributes": {
                "titles": [{"title": TITLE}],
                "creators": [{"name": "Nowak, Uma"}],
                "descriptions": [
                    {"description": "12 pages", "descriptionType": "Other"},
                    {"description": TEXT, "descriptionType": "Abstract"},
                ],
                "publicationYear": 2021,
                "types": {"resourceTypeGeneral": "Software"},
            }
        }
    ]
}


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (ENDNOTE, "thesis", None),
        (PUBMED, "article", "retracted"),
        (WEB_OF_SCIENCE, "review", None),
        (ENDNOTE_TAGS, "thesis", None),
        (RIS, "proceedings", None),
        (json.dumps(CROSSREF), "article", "retracted"),
        (json.dumps(INSPIRE, indent=1), "review", None),
        (json.dumps(ZOTERO), "data", None),
        (json.dumps(DATACITE), "software", None),
        (OAI, "thesis", None),
    ],
    ids=[
        "endnote",
        "pubmed",
        "wos",
        "enw",
        "ris",
        "crossref",
        "inspire",
        "zotero",
        "datacite",
        "oai",
    ],
)
def test_formats(content: str, kind: str, status: str | None, tmp_path: Path) -> None:
    paper = paper_of(tmp_path / "records", content)
    assert (paper["title"], paper["abstract"], paper["year"]) == (TITLE, TEXT, 2021)
    assert paper["authors"][0] == "Nowak, Uma"
    assert (paper["kind"], paper["status"]) == (kind, status)


def test_xml_expands_no_entities(tmp_path: Path) -> None:
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    text = f'<!DOCTYPE x [<!ENTITY e0 "ha">{levels}<!ENTITY f SYSTEM "file:///etc/passwd">]><feed><entry>'
    text += f"<title>{TITLE}</title><summary>{TEXT} &e11; &f;</summary></entry></feed>"
    with pytest.raises(InputError, match="damaged XML"):
        read(tmp_path / "a.xml", text)
    text = text.replace("&e11;", "")
    assert paper_of(tmp_path / "a.xml", text)["abstract"] == TEXT


@pytest.mark.parametrize(
    ("given", "abstract"),
    [
        (f"{TEXT} © 2021 The Authors. Published by Elsevier B.V. All rights reserved.", TEXT),
        (f"ABSTRACT {TEXT}", TEXT),
        (f"International audience; {TEXT}", TEXT),
        (f"<p>{TEXT}</p>", TEXT),
        ("Of 10<jats:sup>6</jats:sup> H<jats:sub>2</jats:sub>O.", "Of 10⁶ H₂O."),
        (
            r"At \$z{\textbackslash}sim0.5\$ and z\raisebox{-1ex}\textasciitilde2.",
            "At z∼0.5 and z~2.",
        ),
        ("Abstract: Not available", None),
        ("Copyright 2020 The Author(s).", None),
        ("The mass <tex-math>$M_1$</tex-math> is high.", "The mass M₁ is high."),
        (
            "A <alternatives><tex-math>$z$</tex-math><mml:math><mml:mi>z</mml:mi></mml:math>"
            "</alternatives> here.",
            "A z here.",
        ),
        (r"At \ifmmode z\else $z$\fi{} it is \texorpdfstring{$\Lambda$}{L}.", "At z it is Λ."),
        ("[No abstract available]", None),
        ("International audience", None),
        ("Comment: 12 pages, 3 figures", None),
        ("This article has no abstract.", None),
    ],
)
def test_abstracts(given: str, abstract: str | None, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"title": TITLE, "abstract": given}))
    [batch] = read_papers(path)
    assert batch.papers["abstract"].to_pylist() == ([abstract] if abstract else [])


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"title": f"RETRACTED: {TITLE}"}, "retracted"),
        ({"title": f"{TITLE} [Withdrawn]"}, "withdrawn"),
        ({"abstract": f"This paper has been withdrawn by the author. {TEXT}"}, "withdrawn"),
        ({"comments": "12 pages; withdrawn due to an error, superseded by 2101.1"}, "withdrawn"),
        ({"comments": "replaces a withdrawn version"}, None),
        ({"comments": "Retracted? No. Read for the thesis."}, None),
        ({"comments": "Withdrawn from my list."}, None),
        ({"comments": "Accepted by ApJ. Retracted by the editors."}, "retracted"),
        ({"comments": "Erratum added"}, "corrected"),
        ({"is_retracted": True}, "retracted"),
        ({"title": "Retracted jets of young stars"}, None),
        ({"abstract": f"{TEXT} The retracted estimate is not used."}, None),
    ],
)
def test_status(fields: dict[str, Any], status: str | None, tmp_path: Path) -> None:
    record = {"arxiv_id": "2101.00001", "title": TITLE, "abstract": TEXT, **fields}
    assert paper_of(tmp_path / "a.jsonl", json.dumps(record))["status"] == status


def test_a_notice_of_withdrawal_is_no_abstract(tmp_path: Path) -> None:
    notice = "This paper has been withdrawn by the author due to a sign error in equation 1."
    batch = read(tmp_path / "a.jsonl", json.dumps({"title": TITLE, "abstract": notice}))
    assert [one.reason for one in batch.rejected] == ["withdrawn, without an abstract"]


def test_a_preview_and_pairs_that_are_never_merged(tmp_path: Path) -> None:
    path, pairs = tmp_path / "a.bib", tmp_path / "pairs.csv"
    again = entry(title=f"{TITLE} (Extended Abstract)", author="Nowak, U.", year="2020")
    none = "@article{empty, title = {Nothing}}\n"
    path.write_text(entry(author="Nowak, U.", year="2020") + again.replace("key,", "again,") + none)
    found = preview([path])
    assert (found["read"], found["kept"], found["without_abstract"]) == (3, 1, 1)
    [merged] = found["merged"]
    assert (merged["kept"]["id"], merged["record"]["id"]) == ("key", "again")
    assert merged["reason"] == "a similar title and common authors"
    pairs.write_text("key,again\n")
    assert preview([path], never_merge=read_pairs(pairs))["merged"] == []
    pairs.write_text("key\n")
    with pytest.raises(InputError, match="line 1: 'key' is not a pair"):
        read_pairs(pairs)


@pytest.mark.parametrize(
    ("bibcode", "journal", "kind"),
    [
        ("2022hst..prop16888I", "HST Proposal", "proposal"),
        ("2020yCat..51590001L", "VizieR Online Data Catalog", "catalogue"),
        ("2019AAS...23312345A", "American Astronomical Society Meeting Abstracts", "proceedings"),
        ("2019PhDT........12A", "Ph.D. Thesis", "thesis"),
        ("2013ascl.soft04002A", "Astrophysics Source Code Library", "software"),
        ("2019ApJ...870...12A", "The Astrophysical Journal", "article"),
    ],
)
@pytest.mark.parametrize("doctype", ["misc", "article"])
def test_the_place_of_publication_tells_the_kind(
    doctype: str, bibcode: str, journal: str, kind: str, tmp_path: Path
) -> None:
    text = entry(journal=journal, year="2020").replace("@article{key", f"@{doctype}{{{bibcode}")
    assert paper_of(tmp_path / "a.bib", text)["kind"] == kind


@pytest.mark.parametrize(
    ("given", "read_as"),
    [
        (
            "The Astrophysical Journal, Volume 633, Issue 2, pp. 560-574.",
            "The Astrophysical Journal",
        ),
        ("Astrophys.J.662:72-93,2007", "Astrophys.J."),
        ("Studia Math, vol. 10, p. 1", "Studia Math"),
        ("Frontiers in 3D Imaging", "Frontiers in 3D Imaging"),
    ],
)
def test_a_journal_has_no_volume(given: str, read_as: str, tmp_path: Path) -> None:
    assert paper_of(tmp_path / "a.bib", entry(journal=given))["journal"] == read_as


def test_escapes_of_mendeley(tmp_path: Path) -> None:
    text = (
        TEXT
        + r" At z {\~{}} 2, {\$}\backslashSigma{\$} is {\~{}}1{\%} and {\$}{\backslash}alpha{\$}."
    )
    paper = paper_of(tmp_path / "a.bib", entry(abstract=text))
    assert paper["abstract"].endswith("At z ~ 2, Σ is ~1% and α.")


def test_a_remark_before_an_abstract_does_not_hide_it(tmp_path: Path) -> None:
    record = {"title": TITLE, "abstract": f"Comment: submitted. {TEXT}"}
    assert TEXT in paper_of(tmp_path / "a.jsonl", json.dumps(record))["abstract"]


def test_columns_of_a_small_sheet_are_guessed_beside_known_names(tmp_path: Path) -> None:
    rows = [
        ["Link", "Article", "Who", "When", "Abstract"],
        ["https://arxiv.org/abs/2001.08888", TITLE, "Ito, A.; Misra, B.", "Spring 2020", TEXT],
        ["n/a", "Planets of old stars", "Lind, E.; Ito, A.", "1998-99", TEXT.replace("We", "They")],
        ["", "Another placeholder of a list", "unknown", "n.d.", "No abstract available."],
    ]
    content = "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows)
    papers = read(tmp_path / "a.csv", content).papers.to_pylist()
    assert [paper["title"] for paper in papers] == [TITLE, "Planets of old stars"]
    assert [paper["year"] for paper in papers] == [2020, 1998]
    assert papers[0]["authors"] == ["Ito, A.", "Misra, B."]


def test_deposits_of_zenodo_and_roles_of_zotero(tmp_path: Path) -> None:
    deposit = {
        "doi": "10.5281/zenodo.1",
        "links": {},
        "metadata": {
            "title": TITLE,
            "description": f"<p>{TEXT}</p>",
            "creators": [{"name": "Ito, A."}],
            "publication_date": "2020-02-01",
            "resource_type": {"type": "software"},
        },
    }
    paper = paper_of(tmp_path / "a.json", json.dumps({"hits": {"hits": [deposit]}}))
    assert (paper["abstract"], paper["kind"], paper["authors"]) == (TEXT, "software", ["Ito, A."])
    people = [
        {"creatorType": kind, "firstName": "A.", "lastName": name}
        for kind, name in (("author", "Ito"), ("editor", "Lind"))
    ]
    item = {"itemType": "journalArticle", "title": TITLE, "creators": people, "abstractNote": TEXT}
    paper = paper_of(tmp_path / "b.json", json.dumps([{"key": "A", "data": item}]))
    assert paper["authors"] == ["Ito, A."]


def test_several_values_in_one_field_of_ris(tmp_path: Path) -> None:
    lines = [
        "TY  - JOUR",
        f"TI  - {TITLE}",
        f"AB  - {TEXT}",
        "AU  - Ito,Aya",
        "AU  - Example Team,",
        "PY  - 2023",
        "Y1  - 2023/06/12",
        "DO  - DOI: 10.1000/abc; arXiv:1003.6074",
        "UR  - https://a.org/1 https://ui.adsabs.harvard.edu/abs/2010ARA&A..48..581S",
        "ER  - ",
    ]
    paper = paper_of(tmp_path / "a.ris", "\n".join(lines))
    assert paper["authors"] == ["Ito, Aya", "Example Team"]
    assert (str(paper["date"]), paper["arxiv_id"]) == ("2023-06-12", "1003.6074")
    assert (paper["doi"], paper["bibcode"]) == ("10.1000/abc", "2010ARA&A..48..581S")
