"""Compare the reader of lines with tags with rispy, if it is installed.

Each form contains one record with the same title, abstract, first author, year and DOI, as
reference managers and services write it. rispy has classes for RIS and Web of Science. The time of
Landscape includes the cleaning of all fields.
"""

from __future__ import annotations

import importlib
import importlib.util
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.results import print_table, save
from landscape.corpus import read_papers

TITLE = "Spins of young stars"
TEXT = "We measure the spins of young stars in a cluster and find that they slow down with age."
WANTED = (TITLE, TEXT, "Nowak, U.", 2021, "10.1086/345794")
RIS = (
    f"TY  - JOUR\nAU  - Nowak, U.\nTI  - {TITLE}\nPY  - 2021\nDO  - {WANTED[4]}\n"
    f"AB  - {TEXT}\nER  - \n"
)
_HALF = len(TEXT) // 2 + TEXT[len(TEXT) // 2 :].index(" ")
FORMS = {
    "RIS": RIS,
    "RIS without its last line": RIS.replace("ER  - \n", ""),
    "RIS, a value on two lines": RIS.replace(TEXT, f"{TEXT[:_HALF]}\n{TEXT[_HALF + 1 :]}"),
    "RIS of EndNote (DA, T1, A1, N2)": (
        RIS.replace("TI  -", "T1  -")
        .replace("AU  -", "A1  -")
        .replace("AB  -", "N2  -")
        .replace("PY  - 2021", "PY  - 2021//\nDA  - Jul 20")
    ),
    "RIS with one space before the dash": RIS.replace("  -", " -"),
    "Web of Science": (
        f"FN Clarivate\nVR 1.0\nPT J\nAU Nowak, U.\nTI {TITLE}\nAB {TEXT}\nPY 2021\n"
        f"DI {WANTED[4]}\nUT WOS:1\nER\n\nEF\n"
    ),
    "PubMed": (
        f"PMID- 1\nTI  - {TITLE}\nAB  - {TEXT[:_HALF]}\n      {TEXT[_HALF + 1 :]}\n"
        f"AU  - Nowak, U.\nDP  - 2021 Jul\nLID - {WANTED[4]} [doi]\n"
    ),
    "EndNote": (
        f"%0 Journal Article\n%T {TITLE}\n%A Nowak, U.\n%D 2021\n%R {WANTED[4]}\n%X {TEXT}\n"
    ),
    "ADS tagged": (
        f"%R 2021A&A...645L..11A\n%T {TITLE}\n%A Nowak, U.\n%D 01/2021\n%B {TEXT}\n"
        f"%Y DOI: {WANTED[4]}\n"
    ),
}


def by_landscape(path: Path) -> list[tuple[Any, ...]]:
    """Return the title, abstract, first author, year and DOI of each paper."""
    rows = [row for batch in read_papers(path) for row in batch.papers.to_pylist()]
    return [(r["title"], r["abstract"], r["authors"][0], r["year"], r["doi"]) for r in rows]


def by_rispy(path: Path) -> list[tuple[Any, ...]]:
    """Return the same with rispy, with the first of its names of each field that is present."""
    rispy = importlib.import_module("rispy")
    text = path.read_text("utf-8")
    kind = rispy.WokParser if text.startswith("FN ") else rispy.RisParser
    found = []
    for one in rispy.loads(text, implementation=kind):
        title, abstract, authors, year, doi = (
            next((one[name] for name in names if one.get(name)), None)
            for names in (
                ("title", "primary_title", "document_title"),
                ("abstract", "notes_abstract"),
                ("authors", "first_authors"),
                ("year", "publication_year"),
                ("doi",),
            )
        )
        digits = str(year or "")[:4]
        found.append(
            (title, abstract, (authors or [None])[0], int(digits) if digits else None, doi)
        )
    return found


def main() -> None:
    """Print what both programs read right, and their times for 20,000 records."""
    programs: dict[str, Callable[[Path], list[tuple[Any, ...]]]] = {"landscape": by_landscape}
    if importlib.util.find_spec("rispy"):
        programs["rispy"] = by_rispy
    rows, result = [], {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.txt"
        for form, text in [*FORMS.items(), ("20,000 records of RIS", RIS * 20_000)]:
            path.write_text(text, "utf-8")
            cells: list[str] = []
            for name, read in programs.items():
                start = time.perf_counter()
                try:
                    found = read(path)
                except Exception as error:  # noqa: BLE001 - what a user would see
                    found, cells = [], [*cells, type(error).__name__]
                else:
                    right = found == [WANTED] * len(found) and bool(found)
                    cells.append("right" if right else "wrong")
                seconds = time.perf_counter() - start
                if len(found) > 1:
                    cells[-1] += f", {seconds:.1f} s"
                result[f"{name}: {form}"] = cells[-1]
            rows.append([form, *cells])
    print_table("Records with tags", ["form", *programs], rows)
    print(save("tagged", result, packages=["rispy"] if "rispy" in programs else []))


if __name__ == "__main__":
    main()
