"""Sections of full texts and their citations, from LaTeX, HTML of arXiv, and PDF."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from landscape.agents.full_text import FolderReader, read_html, read_latex, read_pdf
from landscape.atlas import Atlas
from landscape.errors import InputError
from landscape.types import Paper
from tests.timing import assert_growth

LATEX = r"""
\section{Introduction} Dust cools \citep[e.g.][]{smith20, doe21}. % \cite{commented}
\section*{The {\it data}} We use \citet{doe21} and \cite{nobody}.
\begin{thebibliography}{9}
\bibitem[Smith(2020)]{smith20} Smith 2020, arXiv:2001.01234
\bibitem{doe21} Doe, \href{https://doi.org/10.1093/mnras/stz3000}{MNRAS}, 2021
\bibitem{commented} arXiv:2001.09999
\end{thebibliography}
"""
HTML = """<html><head><style>h2 {}</style></head><body><h1>Dust</h1>
<h2>1 <span>Introduction</span></h2><p>It cools <a href="#bib.bib1">Smith</a>.</p>
<script>alert(1)</script>
<h2>2 Data</h2><p>We use <a href="https://arxiv.org/html/x#bib.bib2">Doe</a>.</p>
<section class="ltx_bibliography"><ul><li id="bib.bib1">Smith 2020
<a href="https://arxiv.org/abs/2001.01234">link</a></li>
<li id="bib.bib2">Doe 2021, doi:10.1093/mnras/stz3000</li></ul></section></body></html>"""


def test_latex_says_what_each_section_cites(tmp_path: Path) -> None:
    path = tmp_path / "paper.tex"
    path.write_text(LATEX)
    first, second = read_latex(path)
    assert (first.name, first.cites) == ("Introduction", ("2001.01234", "10.1093/mnras/stz3000"))
    assert (second.name, second.cites) == ("The data", ("10.1093/mnras/stz3000",))


def test_an_archive_is_read_and_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "2401.00001.tar.gz"
    body, bibliography = LATEX.split(r"\begin{thebibliography}")
    with tarfile.open(path, "w:gz") as archive:
        for name, text in (("../../main.tex", body), ("main.bbl", bibliography), ("x.png", "no")):
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    assert [section.name for section in read_latex(path)] == ["Introduction", "The data"]
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    path.write_bytes(gzip.compress(b"no archive"))
    with pytest.raises(InputError, match="archive of LaTeX"):
        read_latex(path)


def test_html_of_arxiv_says_what_each_section_cites(tmp_path: Path) -> None:
    path = tmp_path / "paper.html"
    path.write_text(HTML)
    first, second = read_html(path)[:2]
    assert (first.name, first.cites) == ("1 Introduction", ("2001.01234",))
    assert (second.name, second.cites) == ("2 Data", ("10.1093/mnras/stz3000",))
    assert "alert" not in first.text


def test_a_pdf_gives_its_identifiers(tmp_path: Path) -> None:
    pytest.importorskip("pypdf")
    from matplotlib.figure import Figure

    page = Figure(figsize=(6, 4))
    for place, line in enumerate(("1 Introduction", "Dust cools (arXiv:2001.01234).")):
        page.text(0.1, 0.9 - 0.2 * place, line)
    path = tmp_path / "paper.pdf"
    page.savefig(path)
    assert "2001.01234" in [name for section in read_pdf(path) for name in section.cites]
    path.write_bytes(b"%PDF-1.4 torn")
    with pytest.raises(InputError, match="cannot be read as a PDF"):
        read_pdf(path)


def test_a_single_file_of_arxiv_is_read(tmp_path: Path) -> None:
    path = tmp_path / "2401.00001.tar.gz"
    path.write_bytes(gzip.compress(LATEX.encode()))
    assert [section.name for section in read_latex(path)] == ["Introduction", "The data"]


@pytest.mark.parametrize(
    "page",
    [
        lambda n: "<h2>A</h2>" + "<![foo[x]]>" * (n // 100),
        lambda n: "&#" + "9" * (n // 20) + ";",
        lambda n: "<!--" * n,
        lambda n: "<a " * n,
        lambda n: "<" * n,
        lambda n: "<?" * n,
    ],
    ids=["marked section", "number", "comments", "tags", "brackets", "instructions"],
)
def test_pages_that_outwit_a_parser_cost_only_themselves(
    tmp_path: Path, page: Callable[[int], str]
) -> None:
    def written(n: int) -> Path:
        path = tmp_path / f"2401.{n:05}.html"
        path.write_text(HTML + page(n))
        return path

    assert read_html(written(100_000))[0].name == "1 Introduction"
    assert_growth(read_html, written, 100_000)


@pytest.mark.parametrize("header", ["GNU.sparse.size", "GNU.sparse.map"])
def test_odd_headers_of_an_archive_are_a_sentence(tmp_path: Path, header: str) -> None:
    path = tmp_path / "2401.00001.tar"
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        member = tarfile.TarInfo("x.tex")
        member.pax_headers = {header: "zz"}
        archive.addfile(member)
    with pytest.raises(InputError, match="archive of LaTeX"):
        read_latex(path)


def test_a_folder_gives_what_it_has_and_tells_what_is_broken(tmp_path: Path) -> None:
    (tmp_path / "astro-ph_9301002.tex").write_text(LATEX)
    (tmp_path / "2401.00002.tar.gz").write_bytes(b"torn")
    read = FolderReader(tmp_path)
    old = Paper(
        row=0, paper_id="astro-ph/9301002", title="Old", abstract="", arxiv_id="astro-ph/9301002"
    )
    assert len(read(old)) == 2
    assert (
        read(Paper(row=1, paper_id="2401.00002", title="Torn", abstract="", arxiv_id="2401.00002"))
        == ()
    )
    assert "cannot be read as an archive" in read.problems[0]
    assert (
        read(
            Paper(row=2, paper_id="2401.00003", title="Absent", abstract="", arxiv_id="2401.00003")
        )
        == ()
    )


def test_sections_of_a_text_are_followed(demo_atlas: Atlas, tmp_path: Path) -> None:
    question = "How do stellar winds change the evolution of massive stars?"
    plain = demo_atlas.survey(question, model=None, papers=40)
    best = plain.selected[0].paper
    listed = {one.key for one in plain.crawled}
    ids = demo_atlas.read_papers(["paper_id"])["paper_id"]
    cited = [key for key in ids if key not in listed][:2]
    (tmp_path / f"{best.label}.tex").write_text(
        rf"\section{{Winds}} As \cite{{a,b}} say. \bibitem{{a}} {cited[0]} \bibitem{{b}} {cited[1]}"
    )
    read = demo_atlas.survey(question, model=None, papers=400, read=FolderReader(tmp_path), depth=2)
    found = {one.key: one for one in read.crawled}
    assert all(key in found for key in cited)
    by_section = [found[key] for key in cited if found[key].how == "section"]
    assert all((one.section, one.parent) == ("Winds", best.paper_id) for one in by_section)


@pytest.mark.parametrize(
    ("latex", "names"),
    [
        ("\\section{Intro} Dust \\cite{a}.\\bibliography{refs}", ["Intro"]),
        ("A letter on dust \\cite{a}. \\bibitem{a} arXiv:2401.00001", ["text"]),
    ],
)
def test_papers_without_sections_or_a_bibliography(
    tmp_path: Path, latex: str, names: list[str]
) -> None:
    path = tmp_path / "paper.tex"
    path.write_text(latex)
    assert [section.name for section in read_latex(path)] == names


@pytest.mark.parametrize("attack", [("", "\\section["), ("\\section", "    "), ("", "\\cite[")])
def test_brackets_alone_take_no_minutes(tmp_path: Path, attack: tuple[str, str]) -> None:
    def written(n: int) -> Path:
        path = tmp_path / f"paper-{n}.tex"
        path.write_text(attack[0] + attack[1] * n)
        return path

    assert_growth(read_latex, written, 4000)


def test_an_archive_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("landscape.agents.full_text._MAX_UNPACKED", 100_000)
    path = tmp_path / "bomb.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        zeros = tarfile.TarInfo("figure.png")
        zeros.size = 5_000_000
        archive.addfile(zeros, io.BytesIO(bytes(zeros.size)))
    with pytest.raises(InputError, match="unpacks to more than 100,000"):
        read_latex(path)
