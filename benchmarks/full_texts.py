"""Readers of full texts, and the use of facilities in acknowledgements.

Sections, references and speed are measured on the two real papers of ``fulltext``, and on more real
papers with their sources in the folder that ``--papers`` names. LaTeX is also converted with
pylatexenc, and PDF with pypdf and pdfminer, if they are installed. Facilities are compared with
what two readers found in 434 acknowledgements of WIESP-DEAL (``acknowledgements.jsonl``): rules
were made on the first set; the others were read later, and a few rules were added after each.

Run: python -m benchmarks.full_texts [--papers FOLDER] [--scale N]
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from benchmarks.facility_spans import FRAGMENTS
from benchmarks.measuring import PAPERS
from benchmarks.results import print_table, save
from landscape._io import read_yaml
from landscape.corpus import find_facility
from landscape.corpus.facilities import missions_file
from landscape.corpus.full_text import read_full_text
from landscape.errors import InputError
from landscape.overlays.missions import find_in_sections
from landscape.text import split_sentences
from landscape.types import FullText

TEXTS = PAPERS.parents[1] / "fulltext"
LABELS = Path(__file__).with_name("acknowledgements.jsonl")
# A list of facilities that readers judged differently: "complementary imaging is being obtained".
_UNDECIDED = re.compile(r"[Cc]omplementary imaging of the GAMA regions")


def _seconds(function: Callable[[], object], repeats: int = 5) -> float:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return statistics.median(times)


def _complete(found: FullText) -> int:
    return sum(
        bool((one.title or one.bibcode) and one.year and one.authors) for one in found.references
    )


def _sources(folders: Iterable[Path]) -> list[Path]:
    return [
        path
        for folder in folders
        if folder.is_dir()
        for path in sorted(folder.iterdir())
        if path.is_dir()
    ]


def latex_rows(papers: list[Path]) -> list[list[str]]:
    """Return what is read of LaTeX sources, and how fast."""
    from pylatexenc.latex2text import LatexNodes2Text

    rows = []
    for path in papers:
        found = read_full_text(path)
        seconds = _seconds(lambda path=path: read_full_text(path))  # type: ignore[misc]
        source = "\n".join(one.read_text("utf-8", "replace") for one in path.glob("*.tex"))
        theirs = "error"
        with suppress(IndexError, TypeError, ValueError, RecursionError):
            theirs = f"{1 / _seconds(lambda: LatexNodes2Text().latex_to_text(source), 1):.1f}"  # noqa: B023
        sections = [one for one in found.sections if one.kind != "caption"]
        rows.append([
            path.name, f"{len(sections)}", f"{len(found.sections) - len(sections)}",
            f"{_complete(found)} of {len(found.references)}", f"{1 / seconds:.0f}", theirs,
        ])  # fmt: skip
    return rows


def jats_of(found: FullText) -> bytes:
    """Return the text of a paper as JATS."""
    from xml.sax.saxutils import escape

    body = "".join(
        f"<sec><title>{escape(one.heading)}</title><p>{escape(one.text)}</p></sec>"
        for one in found.sections
    )
    references = "".join(
        f"<ref id='r{one.number}'><mixed-citation>{escape(one.text)}</mixed-citation></ref>"
        for one in found.references
    )
    text = f"<body>{body}</body><back><ref-list>{references}</ref-list></back>"
    return f"<article>{text}</article>".encode()


def speed_rows(papers: list[Path], folder: Path) -> list[list[str]]:
    """Return papers a second of each format."""
    rates: dict[str, list[float]] = {"LaTeX": [], "JATS": [], "PDF": []}
    for path in papers:
        found = read_full_text(path)
        jats = folder / f"{path.name}.xml"
        jats.write_bytes(jats_of(found))
        rates["LaTeX"].append(_seconds(lambda path=path: read_full_text(path)))  # type: ignore[misc]
        rates["JATS"].append(_seconds(lambda jats=jats: read_full_text(jats)))  # type: ignore[misc]
    pdf = TEXTS / "period_gap" / "ms.pdf"
    rates["PDF"].append(_seconds(lambda: read_full_text(pdf)))
    goals = {"LaTeX": "20", "JATS": "50", "PDF": "4"}
    rows = [
        [name, f"{1 / statistics.mean(times):.0f}", goals[name]] for name, times in rates.items()
    ]
    for name, read in (("pypdf", _pypdf), ("pdfminer.six", _pdfminer)):
        with suppress(ImportError):
            seconds = _seconds(partial(read, pdf), 2)
            rows.append([f"PDF, text only with {name}", f"{1 / seconds:.1f}", ""])
    return rows


def _pypdf(path: Path) -> None:
    from pypdf import PdfReader

    for page in PdfReader(path).pages:
        page.extract_text()


def _pdfminer(path: Path) -> None:
    from pdfminer.high_level import extract_text

    extract_text(str(path))


def sentences_in_order() -> tuple[int, int]:
    """Return how many sentences of a LaTeX source its PDF has in the same order, and all."""
    source, pdf = (read_full_text(TEXTS / "period_gap" / name) for name in ("ms.tex", "ms.pdf"))

    def letters(text: str) -> str:
        return re.sub(r"[^a-z]", "", text.lower())

    held = {
        is_caption: letters(
            " ".join(s.text for s in pdf.sections if (s.kind == "caption") is is_caption)
        )
        for is_caption in (True, False)
    }
    place, right, total = {True: 0, False: 0}, 0, 0
    for section in source.sections:
        is_caption = section.kind == "caption"
        for start, end in split_sentences(section.text):
            found = held[is_caption].find(letters(section.text[start:end]), place[is_caption])
            total += 1
            if found >= 0:
                right, place[is_caption] = right + 1, found
    return right, total


def facility_rows() -> list[list[str]]:
    """Return precision and recall of facilities whose data acknowledgements thank for."""
    import pandas as pd

    texts = {}
    for line in FRAGMENTS.read_text("utf-8").splitlines():
        one = json.loads(line)
        texts[one["unique_id"]] = " ".join(one["tokens"])
    # Observatories are sites of telescopes, and databases are no facilities for the readers.
    neutral = {
        name for name, entry in read_yaml(missions_file()).items()
        if entry.get("kind") in ("observatory", "catalogue")
    } | {"WEBDA", "WDS", "TEXES"}  # fmt: skip
    counts: dict[str, list[int]] = {}
    for line in LABELS.read_text("utf-8").splitlines():
        label = json.loads(line)
        text = texts[label["id"]]
        if _UNDECIDED.search(text):
            continue
        row = {"row": 0, "number": 0, "kind": "acknowledgements", "text": text}
        mentions, _ = find_in_sections(pd.DataFrame([row]), [None])
        found = set(mentions.loc[mentions["role"] == "science", "facility"]) - neutral
        readers = [
            set().union(*map(_canonical, names)) if names else set() for names in label["readers"]
        ]
        both = {name for name in readers[0] & readers[1] if name and name not in neutral}
        own = counts.setdefault(label["set"], [0, 0, 0])
        own[0] += len(found & both)
        own[1] += len(found - (readers[0] | readers[1]))
        own[2] += len(both - found)
    counts["all"] = [sum(column) for column in zip(*counts.values(), strict=True)]
    return [
        [
            name,
            f"{right / (right + false):.3f}",
            f"{right / (right + missed):.3f}",
            f"{right + missed}",
        ]
        for name, (right, false, missed) in counts.items()
    ]


def _canonical(name: str) -> set[str]:
    """Return the facility that a reader named, or nothing if the name is not listed or a site."""
    try:
        counted = find_facility(name).counted_as
    except InputError:
        return {""}
    return set(counted) if len(counted) == 1 else {""}


def scale_rows(papers: list[Path], n: int, folder: Path) -> list[list[str]]:
    """Build an atlas of n papers with copies of the real sources, and search its passages."""
    import gzip

    from landscape._io import measured
    from landscape.atlas import build
    from landscape.search.passages import passage_index

    with gzip.open(PAPERS, "rt") as stream:
        chosen = [json.loads(line) for line, _ in zip(stream, range(n), strict=False)]
    folder.mkdir()
    corpus = folder / "papers.jsonl"
    corpus.write_text("\n".join(map(json.dumps, chosen)))
    texts = folder / "texts"
    texts.mkdir()
    archives = [Path(shutil.make_archive(str(folder / one.name), "gztar", one)) for one in papers]
    for number, one in enumerate(chosen):
        name = f"{one['arxiv_id'].replace('/', '_')}.tar.gz"
        (texts / name).hardlink_to(archives[number % len(archives)])
    lines: list[str] = []
    with measured() as usage:
        atlas = build(corpus, folder / "n.atlas", full_text=texts, layout="pca", say=lines.append)
    stages = {
        name: atlas.stages[name] for name in ("full-texts", "passages", "missions", "citations")
    }
    index = passage_index(atlas)
    assert index is not None  # noqa: S101 - it was built
    queries = ("dust map used for dereddening", "prior on eccentricity", "burn-in of the chains")
    index.search(queries[0])
    times = [_wall(lambda q=q: index.search(q, k=10)) for q in queries * 3]  # type: ignore[misc]
    rows = range(0, n, max(1, n // 40))
    of_papers = [_wall(lambda q=q: index.search(q, k=160, rows=rows)) for q in queries * 3]  # type: ignore[misc]
    return [
        *([f"stage {name}, s", f"{record.seconds:.0f}"] for name, record in stages.items()),
        ["full texts a second, all cores", f"{n / stages['full-texts'].seconds:.0f}"],
        ["peak memory of the build, MB", f"{usage.peak_memory_mb:.0f}"],
        ["passages", f"{stages['passages'].rows:,}"],
        ["search of passages, ms, median", f"{1000 * statistics.median(times):.0f}"],
        ["search of the passages of 40 papers, ms", f"{1000 * statistics.median(of_papers):.0f}"],
    ]


def _wall(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=Path, nargs="*", default=[], help="folders of sources")
    parser.add_argument("--scale", type=int, default=0, help="papers of an atlas that is built")
    options = parser.parse_args()
    papers = _sources([TEXTS, *options.papers])
    found: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        found["latex"] = latex_rows(papers)
        head = [
            "paper",
            "sections",
            "captions",
            "references complete",
            "papers/s",
            "pylatexenc, papers/s",
        ]
        print_table("LaTeX sources", head, found["latex"])  # type: ignore[arg-type]
        found["speed"] = speed_rows(papers, Path(folder))
        print_table("Papers a CPU second", ["format", "papers/s", "goal"], found["speed"])  # type: ignore[arg-type]
        right, total = sentences_in_order()
        print(f"\nSentences of the LaTeX source that the PDF has in order: {right} of {total}\n")
        found["facilities"] = facility_rows()
        print_table(
            "Facilities that acknowledgements thank for data, against two readers",
            ["set", "precision", "recall", "facilities"],
            found["facilities"],  # type: ignore[arg-type]
        )
        if options.scale:
            sizes = (options.scale // 4, options.scale)
            # A fresh process for each size, so that the peak of the memory is its own.
            with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
                folders = [Path(folder, f"{n}") for n in sizes]
                parts = list(pool.map(scale_rows, [papers] * len(sizes), sizes, folders))
            names = [row[0] for row in parts[0]]
            values = [[row[1] for row in part] for part in parts]
            found["scale"] = [[*row] for row in zip(names, *values, strict=True)]
            head = ["papers with full texts", *(f"{n:,}" for n in sizes)]
            print_table("An atlas with full texts", head, found["scale"])  # type: ignore[arg-type]
    print(
        save("full_texts", {**found, "sentences": [right, total]}, packages=["pypdfium2", "lxml"])
    )


if __name__ == "__main__":
    main()
