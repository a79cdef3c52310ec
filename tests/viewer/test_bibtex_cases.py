"""BibTeX is the same in Python and in the browser: both pass one file of cases."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

from landscape._bibliography import to_bibtex
from landscape.types import GENERATED_SOURCE, Paper

ROOT = Path(__file__).parents[2]
CASES = ROOT / "landscape/viewer/js/tests/bibtex.json"
_LISTED = 30  # authors in the files of the viewer
#: Kind of each document type, as in the files of the viewer.
_KINDS = {"phdthesis": "thesis", "inproceedings": "proceedings", "dataset": "data"}


def _paper(title: str = "Dust", paper_id: str = "x", **fields: Any) -> Paper:
    return Paper(row=0, paper_id=paper_id, title=title, abstract="", **fields)


_LETTER = "2022ApJ...931L..10S"
#: Papers of one file each.
GROUPS: tuple[tuple[Paper, ...], ...] = (
    (
        _paper(
            "Dust & gas",
            authors=("Smith, Anna B.", "Roe, Bo-Chen"),
            date=date(2022, 5, 1),
            bibcode=_LETTER,
            journal="ApJL",
            doi="10.3847/2041-8213/ac6e5b",
        ),
        _paper("The same key", bibcode=_LETTER, journal="ApJL", date=date(2021, 12, 1)),
        _paper("A third", bibcode=_LETTER, journal="ApJL"),
    ),
    (_paper(paper_id="Key", authors=("A, B",)), _paper(paper_id="KEY", authors=("A, B",))),
    (_paper("Étoiles à Besançon", authors=("Müller, Ö.", "Ångström, É.", "O’Brien, Jamie")),),
    (_paper(r"50% of A&B: #1 {x_1} ~ 10^5 \input{y} $5 <a|b>", paper_id="a_b c/é"),),
    (_paper(r"Open { brace, $z \sim 2$ and $\mathrm{H}_2$ of } two } kinds", paper_id="_"),),
    (_paper("Two\nlines,\ttabs, a\u00adsoft hyphen\u200b and\u00a0spaces", paper_id="{}"),),
    (_paper("", authors=("Rubin, Vera",)),),
    (_paper("A preprint", arxiv_id="2401.00001", date=date(2024, 1, 2), authors=("Vera Rubin",)),),
    (_paper("An old preprint", arxiv_id="astro-ph/9901001", categories=("astro-ph",)),),
    (_paper("A category", arxiv_id="2401.00002", categories=("astro-ph.GA", "gr-qc")),),
    (_paper("An e-print in ADS", bibcode="2025arXiv250401234R", arxiv_id="2504.01234"),),
    (
        _paper(
            "Names of people",
            authors=(
                "Richard de Grijs",
                "Ludwig van Beethoven",
                "J. Smith Jr.",
                "Smith, Jr., J.",
                "M. A. Smith III",
                "Pranjal R. S.",
                "Abhishek Balagopal V.",
                "de la Cruz, María",
                "Smith Jr.",
                "de Souza R. S.",
                "Madonna",
            ),
        ),
        _paper(
            "Names of groups",
            authors=("Planck Collaboration", "Gaia Collaboration, A.", "The LSST Team", "A & B"),
        ),
    ),
    (_paper("Many authors", authors=tuple(f"Author{n}, A. {n}" for n in range(90))),),
    (_paper("Pages", bibcode="2021A&A...645L..11A", journal="A&A", date=date(2021, 1, 1)),),
    (_paper("Five digits", bibcode="2020MNRAS.49812345S", journal="MNRAS", date=date(2020, 1, 1)),),
    (_paper("A section", bibcode="2019JCAP...04a.012S", journal="JCAP", date=date(2019, 1, 1)),),
    (_paper("Series", bibcode="2019ASPC..523..191S", journal="ASPC", date=date(2019, 10, 1)),),
    (_paper("A journal", journal="Annals of Dust & Gas", doi="10.1/x}}@article{evil,t={pwn}"),),
    (_paper("A thesis", doctype="phdthesis", bibcode="2020PhDT........12S", authors=("A, B",)),),
    (_paper("A talk", doctype="inproceedings", journal="Proceedings of Dust", authors=("A, B",)),),
    (_paper("Tables", doctype="dataset", doi="10.5281/zenodo.1234"),),
    (_paper("Software", doctype="software", bibcode="2019ascl.soft05001S", date=date(2019, 5, 1)),),
    (_paper("A demo", bibcode=_LETTER, journal="ApJL", source=(GENERATED_SOURCE,)),),
    (_paper("^^5cinput^^7b", arxiv_id="24}01\\x", authors=(r"\openout3=x, B", "} {, C")),),
)


def _row(paper: Paper) -> dict[str, Any]:
    """Return the paper as the viewer knows it."""
    return {
        "id": paper.paper_id,
        "title": paper.title,
        "authors": paper.authors[:_LISTED],
        "nAuthors": len(paper.authors),
        "year": paper.year,
        "journal": paper.journal or "",
        "kind": _KINDS.get(paper.doctype or "", paper.doctype or ""),
        "bibcode": paper.bibcode or "",
        "arxiv": paper.arxiv_id or "",
        "doi": paper.doi or "",
        "generated": GENERATED_SOURCE in paper.source,
    }


def written() -> str:
    """Return the papers of each file, and its BibTeX."""
    cases = [{"papers": list(map(_row, group)), "bibtex": to_bibtex(group)} for group in GROUPS]
    return json.dumps(cases, ensure_ascii=False, indent=1) + "\n"


def test_the_cases_of_the_browser_are_those_of_python() -> None:
    """To write the file again: python -m tests.viewer.test_bibtex_cases."""
    assert CASES.read_text("utf-8") == written()


if __name__ == "__main__":
    CASES.write_text(written(), "utf-8")
