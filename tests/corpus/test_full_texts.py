"""Readers of full texts: LaTeX, HTML of arXiv, JATS, PDF and plain text."""

from __future__ import annotations

import gzip
import io
import os
import re
import tarfile
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

from landscape.corpus.full_text import FullTextFolder, find_identifiers, read_full_text
from landscape.corpus.full_text._sections import kind_of_heading
from landscape.corpus.full_text.references import make_bibcode, parse_reference
from landscape.errors import InputError
from landscape.text import split_sentences
from landscape.types import FullText, Paper
from tests.timing import assert_growth

REAL = Path(os.environ.get("LANDSCAPE_DATA", "../shared/data")) / "fulltext"
real_texts = pytest.mark.skipif(not REAL.is_dir(), reason=f"{REAL} is absent")

LATEX = r"""
\documentclass{aastex631}
\newcommand{\kepler}{{\it Kepler}} \newcommand{\unit}[1]{\,\mathrm{#1}}
\def\teff{T_{\rm eff}}
\begin{document}
\title{Dust} \begin{abstract} Not read. \end{abstract}
\section{Introduction} Dust cools \citep[e.g.][]{smith20, doe21}. % \cite{commented}
\subsection{Our {\it Kepler} data} We use \kepler\ spectra with $\teff < 4000\unit{K}$
(Figure~\ref{fig:a}).\footnote{See \citet{doe21}.}
\begin{figure} \includegraphics{a.pdf} \caption{Spectra of \kepler.\label{fig:a}} \end{figure}
\section{Results} \input{results}
\begin{acknowledgments} We thank the staff. \end{acknowledgments}
\facilities{Kepler, HST (WFC3)} \software{astropy \citep{doe21}}
\appendix
\section{Details} More.
\begin{thebibliography}{9}
\bibitem[Smith(2020)]{smith20} Smith, A. 2020, \apj, 900, 12, arXiv:2001.01234
\bibitem[Doe et al.(2021)]{doe21} Doe, B., Roe, C., \& Poe, D. 2021, \aap, 650, A33,
\href{https://doi.org/10.1051/0004-6361/202140000}{doi}
\bibitem{commented} Nobody 2019, arXiv:2001.09999
\end{thebibliography}
\end{document}
"""
FILES = {"ms.tex": LATEX, "results.tex": "It cools by \\citet{smith20}."}
HTML = """<html><head><style>h2 {}</style></head><body><article class="ltx_document">
<h1 class="ltx_title_document">Dust</h1><div class="ltx_abstract"><p>Not read.</p></div>
<section class="ltx_section"><h2 class="ltx_title_section">1 <span>Introduction</span></h2>
<p class="ltx_p">It cools <a href="#bib.bib1">Smith</a> at <math alttext="z&lt;2">z</math>.</p>
<script>alert(1)</script>
<section class="ltx_subsection"><h3 class="ltx_title_subsection">1.1 Data</h3>
<p class="ltx_p">We use <a href="https://arxiv.org/html/x#bib.bib2">Doe</a>.</p>
<figure class="ltx_figure"><figcaption class="ltx_caption">Figure 1: Dust.</figcaption></figure>
</section></section>
<section class="ltx_bibliography"><ul><li class="ltx_bibitem" id="bib.bib1">Smith, A. 2020, ApJ,
900, 12 <a href="https://arxiv.org/abs/2001.01234">link</a></li>
<li class="ltx_bibitem" id="bib.bib2">Doe, B. 2021, doi:10.1093/mnras/stz3000</li></ul></section>
</article></body></html>"""
JATS = """<?xml version="1.0"?><!DOCTYPE article [<!ENTITY secret SYSTEM "file:///etc/passwd">]>
<article><front><article-meta><abstract><p>Not read.</p></abstract></article-meta></front>
<body><sec><title>1. Data</title><p>We use spectra <xref ref-type="bibr" rid="r1">1</xref>.
&secret;</p><fig><label>Figure 1</label><caption><p>Dust.</p></caption></fig>
<sec><title>Reduction</title><p>By hand.</p></sec></sec></body>
<back><ack><p>We thank the staff.</p></ack><ref-list><ref id="r1"><element-citation>
<person-group><name><surname>Smith</surname><given-names>A.</given-names></name></person-group>
<article-title>Cold dust</article-title><source>ApJ</source><year>2020</year><volume>900</volume>
<fpage>12</fpage></element-citation></ref></ref-list></back></article>"""


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def archive(folder: Path, files: dict[str, str], name: str = "2401.00001.tar.gz") -> Path:
    with tarfile.open(folder / name, "w:gz") as packed:
        for one, text in files.items():
            member = tarfile.TarInfo(one)
            member.size = len(text.encode())
            packed.addfile(member, io.BytesIO(text.encode()))
    return folder / name


def shown(found: FullText) -> list[tuple[str, str]]:
    return [(section.kind, section.heading) for section in found.sections]


@pytest.fixture
def paper(tmp_path: Path) -> FullText:
    for name, text in FILES.items():
        written(tmp_path, name, text)
    return read_full_text(tmp_path)


def test_latex_has_its_sections_captions_and_macros_in_the_order_of_the_text(
    paper: FullText,
) -> None:
    assert shown(paper) == [
        ("introduction", "Introduction"),
        ("data", "Our Kepler data"),
        ("caption", "Figure 1"),
        ("results", "Results"),
        ("acknowledgements", "Acknowledgements"),
        ("facilities", ""),
        ("software", ""),
        ("appendix", "Details"),
    ]
    texts = [section.text for section in paper.sections]
    assert texts[0] == "Dust cools (e.g. Smith 2020; Doe et al. 2021)."
    assert texts[1].startswith("We use Kepler spectra with T_eff < 4000 K")
    assert texts[1].endswith("(Figure 1) (See Doe et al. (2021)).")
    assert texts[2:5] == ["Spectra of Kepler.", "It cools by Smith (2020).", "We thank the staff."]
    assert texts[5:7] == ["Kepler, HST (WFC3)", "astropy (Doe et al. 2021)"]


def test_references_have_identifiers_and_are_found_in_the_sections(paper: FullText) -> None:
    first, second, _ = paper.references
    assert first.names == ("2020ApJ...900...12S", "2001.01234")
    assert second.names == ("2021A&A...650A..33D", "10.1051/0004-6361/202140000")
    assert second.authors == ("Doe, B.", "Roe, C.", "Poe, D.")
    assert [section.references for section in paper.sections][:4] == [(0, 1), (1,), (), (0,)]


def test_an_archive_and_a_single_file_of_arxiv_are_read_and_not_unpacked(tmp_path: Path) -> None:
    path = archive(tmp_path, {"../../ms.tex": LATEX, "results.tex": "Found.", "x.png": "no"})
    assert shown(read_full_text(path))[:2] == [
        ("introduction", "Introduction"),
        ("data", "Our Kepler data"),
    ]
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    path.write_bytes(gzip.compress(LATEX.encode()))
    assert len(read_full_text(path).references) == 3


def test_files_outside_the_folder_are_not_included(tmp_path: Path) -> None:
    written(tmp_path, "secret.tex", "the secret")
    inside = tmp_path / "paper"
    inside.mkdir()
    for name in ("../secret", "../secret.tex", str(tmp_path / "secret.tex"), "/etc/passwd"):
        path = written(inside, "ms.tex", f"\\section{{Data}} Text \\input{{{name}}} ends.")
        for place in (path, inside):
            (section,) = read_full_text(place).sections
            assert section.text == "Text ends."


def test_html_of_arxiv(tmp_path: Path) -> None:
    found = read_full_text(written(tmp_path, "paper", HTML))
    assert shown(found) == [
        ("introduction", "1 Introduction"),
        ("data", "1.1 Data"),
        ("caption", ""),
    ]
    assert [section.references for section in found.sections] == [(0,), (1,), ()]
    assert found.references[0].names == ("2020ApJ...900...12S", "2001.01234")
    assert "z<2" in found.sections[0].text
    assert "alert" not in found.sections[0].text


def test_jats_without_its_entities(tmp_path: Path) -> None:
    found = read_full_text(written(tmp_path, "paper", JATS))
    assert shown(found) == [
        ("data", "1. Data"),
        ("caption", "Figure 1"),
        ("data", "Reduction"),
        ("acknowledgements", "Acknowledgements"),
    ]
    assert "root:" not in " ".join(section.text for section in found.sections)
    (reference,) = found.references
    assert (reference.title, reference.bibcode) == ("Cold dust", "2020ApJ...900...12S")
    assert found.sections[0].references == (0,)


def test_a_pdf_has_pages_and_references(tmp_path: Path) -> None:
    pytest.importorskip("pypdfium2")
    from matplotlib.backends.backend_pdf import PdfPages
    from matplotlib.figure import Figure

    pages = (
        ("1. Introduction", "Dust cools by lines of atoms", "and molecules.", "2. Data"),
        ("We use spectra.", "References", "Smith, A. 2020, ApJ, 900, 12"),
    )
    with PdfPages(tmp_path / "paper.pdf") as pdf:
        for lines in pages:
            page = Figure(figsize=(6, 4))
            for place, line in enumerate(lines):
                page.text(0.1, 0.9 - 0.2 * place, line)
            pdf.savefig(page)
    found = read_full_text(tmp_path / "paper.pdf")
    assert shown(found) == [("introduction", "Introduction"), ("data", "Data")]
    assert found.sections[0].text == "Dust cools by lines of atoms and molecules."
    assert [(one.first_page, one.last_page) for one in found.sections] == [(1, 1), (2, 2)]
    assert [one.bibcode for one in found.references] == ["2020ApJ...900...12S"]
    with pytest.raises(InputError, match="cannot be read as a PDF"):
        read_full_text(written(tmp_path, "paper.pdf", b"%PDF-1.4 torn"))


@pytest.mark.parametrize(
    ("heading", "above", "kind"),
    [
        ("4.2 Observations and Data Reduction", "other", "data"),
        ("METHODOLOGY", "other", "methods"),
        ("A brief introduction to hierarchical inference", "other", "methods"),
        ("Summary and Conclusions", "other", "conclusions"),
        ("Comparison with previous work", "results", "discussion"),
        ("The Ophiuchus stream", "results", "results"),
        ("Data Availability", "other", "data availability"),
        ("Acknowledgements", "conclusions", "acknowledgements"),
    ],
)
def test_kinds_of_headings(heading: str, above: str, kind: str) -> None:
    assert kind_of_heading(heading, above) == kind  # type: ignore[arg-type]


def test_kinds_depend_on_the_sections_around(tmp_path: Path) -> None:
    headings = ["Observations", "sub:Calibration", "Results", "Calibration"]
    text = "".join(
        f"\\{'sub' * one.startswith('sub:')}section{{{one.removeprefix('sub:')}}} Text of it.\n"
        for one in headings
    )
    found = shown(read_full_text(written(tmp_path, "ms.tex", text)))
    assert [kind for kind, _ in found] == ["data", "data", "results", "methods"]


def test_links_outside_and_hidden_files_are_not_read(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "texts"
    for one in (outside, folder):
        one.mkdir()
    secret = written(outside, "private.tex", "TOP SECRET")
    (folder / "secret.tex").symlink_to(secret)
    (folder / ".#2401.00002.tex").symlink_to("nowhere")
    (folder / "2401.00003.tex").symlink_to("nowhere")
    written(folder, "._2401.00001.tex", b"\0\0\0")
    path = written(folder, "2401.00001.tex", "\\section{Data} We use \\input{secret}.")
    assert [one.name for one in FullTextFolder(folder).files] == ["2401.00001.tex"]
    assert "SECRET" not in read_full_text(path).sections[0].text


def test_macros_do_not_multiply_the_text(tmp_path: Path) -> None:
    macro = "\\newcommand{\\x}[3]{#1}\\section{Data} We use it. \\x"
    arguments = "".join(f"{{{one * 1200}}}" for one in ("#2", "#3", "y"))
    (section,) = read_full_text(written(tmp_path, "ms.tex", macro + arguments)).sections
    assert section.text.startswith("We use it.")
    assert len(section.text) < 10_000


def test_bibliographies_as_journals_write_them(tmp_path: Path) -> None:
    written(
        tmp_path,
        "ms.bbl",
        "\\begin{thebibliography}{1}\\bibitem[Doe(2013)]{a} Doe T. P., et al., 2013, "
        "\\href {http://adsabs.harvard.edu/abs/2013A%26A...558A..33D} {A\\&A, 558, A33}\n"
        "\\end{thebibliography}",
    )
    path = written(
        tmp_path,
        "ms.tex",
        "\\let\\old\\bibitem \\begin{document}\\section{Data} We \\cite{a}. "
        "\\iffalse \\figcaption{No.} not this \\fi This.\\end{document}",
    )
    found = read_full_text(path)
    assert [one.bibcode for one in found.references] == ["2013A&A...558A..33D"]
    assert "not this" not in found.sections[0].text
    assert found.sections[0].text.endswith("This.")


def test_comments_and_numbers_of_jats_are_no_text(tmp_path: Path) -> None:
    body = "<sec><label>1</label><title>Data</title><p>We<!-- EDITOR --> use<?pi no?> it.</p></sec>"
    path = written(tmp_path, "a.xml", f"<article><body>{body}</body></article>")
    assert [one.text for one in read_full_text(path).sections] == ["We use it."]


def test_nested_references_are_read_once(tmp_path: Path) -> None:
    many = 150
    nested = "<div class='ltx_bibitem'>Doe 2020" * many + "</div>" * many
    page = f"<html><section class='ltx_section'><p>Text.</p></section>{nested}</html>"
    assert len(read_full_text(written(tmp_path, "a.html", page)).references) == 1


def test_thanks_without_a_heading_become_acknowledgements(tmp_path: Path) -> None:
    text = "\\section{Conclusions} Dust cools.\n\nWe thank the referee for comments."
    first, second = read_full_text(written(tmp_path, "ms.tex", text)).sections
    assert (first.text, second.kind) == ("Dust cools.", "acknowledgements")


@pytest.mark.parametrize(
    ("entry", "bibcode", "year"),
    [
        ("Foreman-Mackey D., et al., 2013, PASP, 125, 306", "2013PASP..125..306F", 2013),
        ("Doe, T. P. (2013). Astronomy & Astrophysics, 558, A33", "2013A&A...558A..33D", 2013),
        ("Planck Collaboration 2020, A&A, 641, A6", "2020A&A...641A...6P", 2020),
        ("Kipping, D. M. 2014, arXiv:1408.1393", "2014arXiv1408.1393K", 2014),
        ("Bastien, F. A., & Stassun, K. G. 2014, ApJL, 788, L9", "2014ApJ...788L...9B", 2014),
        ("Cold, W. 1999, in Proceedings of the Dust, ed. X", None, 1999),
    ],
)  # fmt: skip
def test_references_as_journals_write_them(entry: str, bibcode: str | None, year: int) -> None:
    found = parse_reference(0, entry)
    assert (found.bibcode, found.year) == (bibcode, year)
    assert found.authors


def test_no_bibcode_is_made_of_a_guess() -> None:
    assert make_bibcode(2020, ["Doe, A."], "Journal of Dust, 12, 3") is None
    assert make_bibcode(None, ["Doe, A."], "ApJ, 900, 12") is None
    assert make_bibcode(2020, [], "ApJ, 900, 12") is None


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.tex", b"", "contains no text"),
        ("a.ps", b"%!PS-Adobe-2.0\n/a {moveto} def", "not a text, HTML"),
        ("a.pdf", b"\0\1\2binary", "not a text, HTML, JATS, a PDF"),
        ("a.tar.gz", gzip.compress(b"\0" * 600, mtime=0), "cannot be read|no LaTeX files"),
        ("a.tar.gz", b"\x1f\x8btorn", "cannot be read"),
        ("a.xml", b"<article><body/></article>", "contains no text"),
    ],
)
def test_what_cannot_be_read_is_a_sentence(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_full_text(written(tmp_path, name, content))


def _latex(repeated: str) -> Callable[[int], str]:
    return lambda n: "\\section{Data} Dust. " + repeated * (n // len(repeated))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *(
            ("a.tex", _latex(one))
            for one in (
                "\\section[",
                "\\section{",
                "{",
                "\\begin{figure}",
                "\\caption{",
                "\\cite[",
                "\\newcommand{\\a}{",
                "\\def\\x#1{\\x}",
                "\\footnote{",
                "\\bibitem[",
                "$$",
                "%",
                "\\begin{comment}",
            )
        ),
        ("a.tex", lambda n: "\\newcommand{\\a}{\\a\\a}\\section{Data} " + "\\a" * (n // 2)),
        ("a.tex", lambda n: "    " * n),
        ("a.html", lambda n: HTML + "<!--" * n),
        ("a.html", lambda n: HTML + "<a " * n),
        ("a.html", lambda n: HTML + "<div>" * n),
        ("a.html", lambda n: HTML + "&#" + "9" * n + ";"),
        ("a.xml", lambda n: "<article><body>" + "<sec>" * n),
    ],
)
def test_texts_that_outwit_a_parser_cost_only_themselves(
    tmp_path: Path, name: str, content: Callable[[int], str]
) -> None:
    def path(n: int) -> Path:
        return written(tmp_path, f"{n}{name}", content(n))

    def read(path: Path) -> None:
        with suppress(InputError):
            read_full_text(path)

    assert_growth(read, path, 20_000)


def test_macros_that_multiply_the_text_are_bounded(tmp_path: Path) -> None:
    letters = "abcdefghijklm"
    laughs = "".join(
        "\\newcommand{\\l" + new + "}{" + f"\\l{old} " * 10 + "}" for old, new in pairwise(letters)
    )
    text = f"\\newcommand{{\\la}}{{ha}}{laughs}\\section{{Data}} Dust. \\lm"
    (section,) = read_full_text(written(tmp_path, "a.tex", text)).sections
    assert len(section.text) < 500_000


def test_entities_that_multiply_are_not_expanded(tmp_path: Path) -> None:
    names = "abcdefgh"
    laughs = "".join(f'<!ENTITY {new} "{f"&{old};" * 10}">' for old, new in pairwise(names))
    text = (
        f'<!DOCTYPE article [<!ENTITY a "ha">{laughs}]><article><body><sec><title>Data</title>'
        "<p>Dust. &h;</p></sec></body></article>"
    )
    (section,) = read_full_text(written(tmp_path, "a.xml", text)).sections
    assert len(section.text) < 1_000


def test_an_archive_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("landscape.corpus.full_text.files._MAX_UNPACKED", 100_000)
    path = tmp_path / "bomb.tar.gz"
    with tarfile.open(path, "w:gz") as packed:
        zeros = tarfile.TarInfo("figure.png")
        zeros.size = 5_000_000
        packed.addfile(zeros, io.BytesIO(bytes(zeros.size)))
    with pytest.raises(InputError, match="unpacks to more than 100,000"):
        read_full_text(path)


@pytest.mark.parametrize("header", ["GNU.sparse.size", "GNU.sparse.map"])
def test_odd_headers_of_an_archive_are_a_sentence(tmp_path: Path, header: str) -> None:
    path = tmp_path / "2401.00001.tar"
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as packed:
        member = tarfile.TarInfo("x.tex")
        member.pax_headers = {header: "zz"}
        packed.addfile(member)
    with pytest.raises(InputError):
        read_full_text(path)


def _paper(**names: str) -> Paper:
    return Paper(row=0, paper_id="key", title="Dust", abstract="", **names)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("astro-ph_9301002.tex", {"arxiv_id": "astro-ph/9301002"}),
        ("2401.00001v2.html", {"arxiv_id": "2401.00001"}),
        ("arXiv.2401.00001.txt", {"arxiv_id": "2401.00001"}),
        ("2016ApJ...826...56R.pdf", {"bibcode": "2016ApJ...826...56R"}),
        ("2014A&A...564A..20V.xml", {"bibcode": "2014A&A...564A..20V"}),
        ("10.1093_mnras_stz3000.pdf", {"doi": "10.1093/mnras/stz3000"}),
        ("1408.1393.pdf", {"bibcode": "2014arXiv1408.1393K"}),
    ],
)
def test_files_are_found_by_any_identifier(
    tmp_path: Path, file: str, names: dict[str, str]
) -> None:
    path = written(tmp_path, file, "text")
    assert FullTextFolder(tmp_path).find(_paper(**names)) == path
    assert FullTextFolder(tmp_path).find(_paper(arxiv_id="2499.00001")) is None


def test_files_are_found_by_a_bibliography_beside_them(tmp_path: Path) -> None:
    (tmp_path / "files" / "12").mkdir(parents=True)
    by_key = written(tmp_path, "smith20.pdf", "text")
    attached = written(tmp_path, "files/12/Doe - Dust.pdf", "text")
    written(
        tmp_path,
        "library.bib",
        "@article{smith20, title={Dust}, eprint={2001.01234}, archivePrefix={arXiv}}\n"
        "@article{doe21, title={Cold}, doi={10.1000/x.y},\n"
        " file = {Full Text PDF:files/12/Doe - Dust.pdf:application/pdf;Out:../../etc/passwd:x}}\n",
    )
    folder = FullTextFolder(tmp_path)
    assert folder.find(_paper(arxiv_id="2001.01234")) == by_key
    assert folder.find(_paper(doi="10.1000/x.y")) == attached


def test_latex_is_preferred_to_a_pdf_of_the_same_paper(tmp_path: Path) -> None:
    for ending in (".txt", ".pdf", ".html", ".tex"):
        written(tmp_path, f"2401.00001{ending}", "text")
    found = FullTextFolder(tmp_path).find(_paper(arxiv_id="2401.00001"))
    assert found is not None
    assert found.suffix == ".tex"


def test_a_folder_tells_what_is_broken(tmp_path: Path) -> None:
    written(tmp_path, "2401.00002.tar.gz", b"\x1f\x8btorn")
    folder = FullTextFolder(tmp_path)
    assert folder(_paper(arxiv_id="2401.00002")) is None
    assert "cannot be read" in folder.problems[0]
    assert folder(_paper(arxiv_id="2401.00003")) is None


def test_links_that_lead_outside_are_ignored(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    written(tmp_path, "secret.tex", LATEX)
    (inside / "2401.00001.tex").symlink_to(tmp_path / "secret.tex")
    assert FullTextFolder(inside).files == []


@real_texts
def test_a_real_paper_in_one_file() -> None:
    found = read_full_text(REAL / "ophiuchus")
    source = (REAL / "ophiuchus" / "ms.tex").read_text()
    headings = [section.heading for section in found.sections if section.heading]
    captions = [section for section in found.sections if section.kind == "caption"]
    assert len(captions) == len(re.findall(r"^[^%\n]*\\caption\{", source, re.MULTILINE))
    named = re.findall(r"^\\(?:sub)*section\{([^}]*)\}", source, re.MULTILINE)
    assert [name for name in headings if not re.match(r"Figure|Table|Ackn", name)] == named
    kinds = {section.heading: section.kind for section in found.sections}
    assert kinds["Results I: Orbit fits and chaos"] == "results"
    assert kinds["Generating mock streams"] == "methods"
    assert kinds["Future work: Modeling the Galactic bar"] == "discussion"
    assert kinds["Priors"] == "appendix"
    assert "acknowledgements" in kinds.values()


@real_texts
def test_a_real_paper_and_its_pdf_have_the_same_sentences() -> None:
    pytest.importorskip("pypdfium2")
    source, pdf = (read_full_text(REAL / "period_gap" / name) for name in ("ms.tex", "ms.pdf"))

    def letters(text: str) -> str:
        return re.sub(r"[^a-z]", "", text.lower())

    in_pdf = {
        is_caption: letters(
            " ".join(one.text for one in pdf.sections if (one.kind == "caption") is is_caption)
        )
        for is_caption in (True, False)
    }
    place, right, total = {True: 0, False: 0}, 0, 0
    for section in source.sections:
        is_caption = section.kind == "caption"
        for start, end in split_sentences(section.text):
            total += 1
            sentence = letters(section.text[start:end])
            found = in_pdf[is_caption].find(sentence, place[is_caption])
            if found >= 0:
                right, place[is_caption] = right + 1, found
    assert right >= 0.9 * total  # in the order of the text
    assert len(source.references) == 6
    assert sum(bool(one.year and one.authors and one.title) for one in source.references) == 5


def test_identifiers_in_a_text() -> None:
    text = "Smith 2020, arXiv:2001.01234v2; doi:10.1093/mnras/stz3000."
    assert find_identifiers(text) == ("2001.01234", "10.1093/mnras/stz3000")
    with pytest.raises(InputError, match="Not a directory"):
        FullTextFolder("no-such-folder")
