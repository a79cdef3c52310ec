"""Damage that needs other processes; each campaign prints the number of cases and of failures.

Run: python -m benchmarks robustness [--cases 10000] [--only kills,servers,pages]

Hostile text and damaged files are in ``tests/properties``. Here, commands and panels ask hostile
model servers, outputs of hostile papers are opened in a browser, and builds are killed while
another process reads. A case fails if it ends in anything but a result or one sentence, if an
output is active, if a request to a model server takes longer than its limit, or if a process dies.
The table also shows the peak memory of a case above the memory in use before it.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import landscape
from benchmarks.results import print_table, save
from landscape import cli
from landscape.errors import LandscapeError
from landscape.pipeline.demo import build_demo
from tests.properties.hostile import POISONS
from tests.properties.inspection import inspect

Case = tuple[str, Callable[[], object]]

_MOST_MEMORY = 500.0  # MB above the memory in use before a case with a hostile server
_LIMIT = 1.0  # seconds for a request to a hostile server
_QUESTION = "How does dust cool in galaxies?"
_EXCERPT = "Dust cools by lines [CITATION]."
_EVERY = "servers,pages,kills"
_notes: dict[str, str] = {}  # what a campaign counted, for the table


class Memory:
    """Peak memory of this process above that at the start, in MB; 0 if it is not known."""

    def __init__(self) -> None:
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")  # the peak starts again
        self._idle = self._read("VmRSS")

    def peak(self) -> float:
        """Return the peak."""
        return (self._read("VmHWM") - self._idle) / 1024

    def _read(self, name: str) -> int:
        with contextlib.suppress(OSError):
            lines = Path("/proc/self/status").read_text().splitlines()
            return next(int(line.split()[1]) for line in lines if line.startswith(name))
        return 0


# The servers run in a process of their own, so that their memory is not counted.
_HOSTILE = """
import json, sys
from tests.servers.hostile_server import MODES, HostileServer
servers = {name: HostileServer(mode).__enter__() for name, mode in MODES.items()}
print(json.dumps({name: server.url for name, server in servers.items()}), flush=True)
sys.stdin.read()
"""
_ASK = {  # words in capitals are replaced
    "ask": "ask ATLAS QUESTION",
    "survey": "survey ATLAS QUESTION --papers 5",
    "attribute": "attribute ATLAS EXCERPT",
    "cite": "cite ATLAS QUESTION",
    "check": "check OUT/cited.bib OUT/draft.tex --atlas ATLAS",
    "search --hyde": "search ATLAS QUESTION --hyde",
    "search --rerank-with": "search ATLAS QUESTION --rerank-with cohere:m",
    "figure query": "figure query ATLAS QUESTION --hyde -o OUT/query.png",
    "render --everyday": "render ATLAS --everyday -o OUT/map.png",
    "build --polish": "build CORPUS --out OUT/a.atlas --polish",
    "build --embedder": "build CORPUS --out OUT/b.atlas --embedder openai:m --yes",
    "evaluate survey": "evaluate survey ATLAS --queries OUT/queries.jsonl --model",
    "evaluate attribution": "evaluate attribution ATLAS --excerpts OUT/excerpts.jsonl --model",
    "evaluate citing": "evaluate citing ATLAS --places OUT/places.jsonl --model",
}
_PANELS: dict[str, Callable[[Any], object]] = {
    "AskPanel": lambda panel: panel.ask(_QUESTION),
    "SurveyPanel": lambda panel: panel.survey(_QUESTION),
    "CitationPanel": lambda panel: panel.find(_EXCERPT),
    "WritingPanel": lambda panel: panel.cite("Dust cools by"),
}


def servers(
    atlas: landscape.Atlas, folder: Path, n_cases: int, rng: random.Random
) -> Iterator[Case]:
    """Yield commands and panels that ask hostile model servers."""
    folder.mkdir()
    uses = [*_ASK, *_PANELS]
    use_server = partial(_use, atlas, _write_inputs(atlas, folder), folder)
    for name in uses:  # loads what a use needs, so that it is not counted as memory
        with contextlib.suppress(LandscapeError):
            use_server(name, "http://127.0.0.1:9/v1")
    with subprocess.Popen(
        [sys.executable, "-c", _HOSTILE], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None  # noqa: S101 - for mypy
        addresses: dict[str, str] = json.loads(process.stdout.readline())
        _notes["servers"] = f"{len(uses)} uses, {len(addresses)} modes"
        pairs = [(use, mode) for use in uses for mode in addresses]
        rng.shuffle(pairs)
        for use, mode in sorted(pairs[: max(n_cases // 5, len(uses))]):
            yield f"{use}: server that {mode}", partial(_timed, use_server, use, addresses[mode])
        process.kill()


def _write_inputs(atlas: landscape.Atlas, folder: Path) -> str:
    """Write the files that commands read, and return the path of a corpus."""
    from landscape.corpus.demo import write_demo

    paper = str(atlas.papers["paper_id"].iloc[0])
    records: dict[str, dict[str, Any]] = {
        "queries": {"question": _QUESTION, "relevant": [paper]},
        "excerpts": {"excerpt": _EXCERPT, "answer": paper},
        "places": {"context": "Dust cools by", "cited": [paper], "sentence": "Dust cools."},
    }
    for name, record in records.items():
        (folder / f"{name}.jsonl").write_text(json.dumps(record) + "\n")
    (folder / "cited.bib").write_text("@article{a, title={Dust}, year={2001}, abstract={Cold.}}")
    (folder / "draft.tex").write_text("Dust cools by lines \\cite{a}. Disks are cold.")
    return str(write_demo(folder / "corpus", n_papers=80, seed=1).papers)


def _use(atlas: landscape.Atlas, corpus: str, folder: Path, name: str, url: str) -> None:
    """Run a command or a panel with the address of a server in its environment."""
    from landscape.embeddings._openai import OpenAIEmbedder

    surroundings = {"OPENAI_BASE_URL": url, "LANDSCAPE_RERANK_URL": url, "OPENAI_API_KEY": "k"}
    surroundings |= {"LANDSCAPE_LLM_MODEL": "m", "LANDSCAPE_LLM_TIMEOUT": f"{_LIMIT:.0f}"}
    surroundings["LANDSCAPE_LLM_CACHE"] = tempfile.mkdtemp(dir=folder)  # no earlier reply
    short = {"time_limit": _LIMIT, "retries": 0}
    with (
        mock.patch.dict(os.environ, surroundings),
        mock.patch("landscape.llm.reranking.TIMEOUT", _LIMIT),
        mock.patch.dict(OpenAIEmbedder.__init__.__kwdefaults__ or {}, short),
        contextlib.redirect_stdout(io.StringIO()) as said,
        contextlib.redirect_stderr(said),
    ):
        if name in _ASK:
            places = {"ATLAS": str(atlas.path), "CORPUS": corpus}
            places |= {"QUESTION": _QUESTION, "EXCERPT": _EXCERPT}
            words = [places.get(one, one.replace("OUT", str(folder))) for one in _ASK[name].split()]
            quick = ["--layout", "pca", "--workers", "1", "--tagger", "rules"]
            cli.main(["--debug", *words, *(quick if words[0] == "build" else [])])
        else:
            _use_panel(atlas, name, url)
    _fail(said.getvalue()[-300:] if "Traceback" in said.getvalue() else "")


def _use_panel(atlas: landscape.Atlas, name: str, url: str) -> None:
    from landscape import widgets

    panel = getattr(widgets, name)(atlas, connection=widgets.Connection(base_url=url, model="m"))
    _PANELS[name](panel)
    is_good = panel.wait(60) and "This action failed" not in panel.status
    _fail("" if is_good else f"the panel does not end well: {panel.status}")


def _timed(use: Callable[[str, str], object], name: str, url: str) -> None:
    """Run a use, and fail if a request exceeds its time limit by more than one second."""
    from landscape import _http

    late: list[float] = []

    real = _http.within

    def within(limit: float, *given: Any, **named: Any) -> Iterator[Any]:
        start = time.monotonic()
        try:
            yield from real(limit, *given, **named)
        finally:
            late.append(time.monotonic() - start - min(limit, _LIMIT))

    error = None
    with (
        mock.patch("landscape.llm.server.within", within),
        mock.patch("landscape._http.within", within),
    ):
        try:
            use(name, url)
        except LandscapeError as raised:
            error = raised
    is_late = not late or max(late) > 1.0
    _fail(f"requests outlived their limit by {late} s ({error})" if is_late else "")
    if error:
        raise error


_BEGIN = "window.pwnd = []; window.pwn = () => { window.pwnd.push('a script of the data ran'); };"
_BEGIN += "window.alert = window.pwn;"
_FIGURES = ("heatmap", "query", "uat", "impact", "reviews", "trends", "new", "compare", "slices")
_MORE = {"query": ["dust pwn"], "new": ["--months", "60"], "compare": ["..2008", "2009.."]}


def pages(folder: Path) -> Iterator[Case]:
    """Yield files that commands write of hostile papers; a browser opens pages and pictures."""
    from playwright.sync_api import sync_playwright

    from tests.browser.chromium import executable

    folder.mkdir()
    home = str(_build_hostile(folder).path)
    survey = ("survey", home, _QUESTION, "--papers", "30", "--no-model")
    words: dict[str, tuple[str, ...]] = {}
    for ending in ("svg", "html", "pdf", "png"):
        for kind in _FIGURES:
            more = _MORE.get(kind, [])
            words[f"figure-{kind}.{ending}"] = ("figure", kind, home, *more, "-o")
        words[f"render.{ending}"] = ("render", home, "--title", POISONS[1], "-o")
        words[f"tree.{ending}"] = (*survey, "--tree")
    for ending in ("bib", "ris", "tex", "csv", "json", "txt"):
        words[f"found.{ending}"] = ("search", home, "dust in galaxies pwn", "-k", "30", "-o")
    for kind in ("concepts", "reviews", "trends", "institutions", "countries"):
        words |= {f"{kind}.{one}": ("table", kind, home, "-o") for one in ("csv", "tex", "json")}
    words["survey.md"] = (*survey, "-o")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=["--no-sandbox"])
        for name, command in words.items():
            yield name, partial(_opened, browser, folder / name, command)
        browser.close()


def _build_hostile(folder: Path) -> landscape.Atlas:
    """Build an atlas of 200 papers, 30 of which contain hostile texts."""
    from landscape.corpus.demo import write_demo

    with gzip.open(write_demo(folder / "demo", n_papers=200, seed=1).papers, "rt") as stream:
        papers = [json.loads(line) for line in stream]
    for number, paper in enumerate(papers[:30]):
        one, two, three = (POISONS[(number * step) % len(POISONS)] for step in (1, 7, 11))
        paper["title"] = f"{one} dust in galaxies {two}"
        paper["abstract"] = f"{two} {paper['abstract']} {three} ALMA and HST observe dust. {one}"
        paper["authors"] = [f"{one}, A.", f"Rubin, {two}", *paper["authors"]]
        paper["aff"] = [f"{one}, Uni, Chile", *paper["aff"]]
        paper |= {"ads_keywords": [one, two, "Interstellar dust"], "doi": f"10.1/{one}"}
        paper |= {"journal": two, "uat": [three], "categories": [f"astro-ph.{one}"]}
    source = folder / "papers.jsonl"
    source.write_text("".join(json.dumps(paper) + "\n" for paper in papers))
    options: dict[str, Any] = {"seed": 1, "workers": 1, "layout": "pca", "title": POISONS[0]}
    return landscape.build([source], folder / "hostile.atlas", **options)


def _opened(browser: Any, path: Path, words: tuple[str, ...]) -> None:
    """Write a file, inspect it, and open it; fail if it runs a script or requests anything."""
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(said):
        cli.main(["--debug", *words, str(path)])
    inspect(path)
    path.with_suffix(".said.txt").write_text(said.getvalue(), "utf-8")
    inspect(path.with_suffix(".said.txt"))
    if path.suffix not in (".html", ".svg"):
        return
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.add_init_script(_BEGIN)
    page.goto(path.as_uri())
    page.wait_for_timeout(200)
    for step in range(8):
        page.mouse.move(100 + 130 * step, 250 + 60 * (step % 4), steps=4)
    others = [url for url in asked if not url.startswith(("file:", "data:", "blob:", "about:"))]
    found = others + page.evaluate("window.pwnd || []")
    page.close()
    _fail(f"{path.name} is active: {found[:3]}" if found else "")


def kills(folder: Path, n_kills: int, rng: random.Random) -> Iterator[Case]:
    """Yield updates that are killed at random times while another process reads.

    The reader must always find the complete old or the complete new version of the atlas.
    """
    from landscape.corpus.demo import write_demo

    one, two = (
        write_demo(folder / name, n_papers=size, seed=seed).papers
        for seed, (name, size) in enumerate((("one", 300), ("two", 100)))
    )
    new, grown = folder / "new.atlas", folder / "grown.atlas"
    seconds = _build(one, out=grown)  # the first run compiles and loads more than a later one
    versions = {300: [one], 400: [one, two]}
    context = multiprocessing.get_context("spawn")
    stop, (end, other) = context.Event(), context.Pipe()
    reader = context.Process(target=read_on, args=(grown, set(versions), stop, other), daemon=True)
    reader.start()
    target = 400
    for number in range(n_kills):
        after = rng.uniform(0.2, 1.0) * seconds
        out, n_papers = (grown, target) if number % 5 else (new, 300)
        title = f"{out.stem} killed after {after:.1f} s"
        yield title, partial(_kill, versions[n_papers], out, after, reader)
        if number >= n_kills - 2 or rng.random() < 0.2:
            yield "the same command again", partial(_finish, versions[n_papers], out, n_papers)
            if out == new:
                shutil.rmtree(out, ignore_errors=True)
            else:
                target = 700 - target
    stop.set()
    found = end.recv() if end.poll(60) else ["", "the reader does not answer"]
    _notes["kills"] = found.pop(0)
    for fault in found or [""]:
        yield "reader beside killed builds", partial(_fail, fault)


def _fail(fault: str) -> None:
    if fault:
        raise AssertionError(fault)


def _command(*sources: Path, out: Path) -> list[str]:
    words = [sys.executable, "-m", "landscape.cli", "build", *map(str, sources)]
    return [*words, "--out", str(out), "--seed", "1", "--workers", "2"]


def _build(*sources: Path, out: Path) -> float:
    start = time.monotonic()
    done = subprocess.run(_command(*sources, out=out), capture_output=True, text=True, check=False)
    _fail(f"the build failed: {done.stderr[-500:]}" if done.returncode else "")
    return time.monotonic() - start


def _kill(sources: list[Path], out: Path, after: float, reader: Any) -> None:
    """Start a build and kill its process group, unless it has ended before."""
    null, pipe = subprocess.DEVNULL, subprocess.PIPE
    process = subprocess.Popen(
        _command(*sources, out=out), stdout=null, stderr=pipe, text=True, start_new_session=True
    )
    try:
        _, said = process.communicate(timeout=after)
        _fail(f"the build failed: {said[-500:]}" if process.returncode else "")
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    _fail("" if reader.is_alive() else f"the reader died with {reader.exitcode}")


def _finish(sources: list[Path], out: Path, n_papers: int) -> None:
    from landscape.store.info import verify

    _build(*sources, out=out)
    atlas = landscape.open(out)
    is_whole = len(atlas) == n_papers and not verify(out) and atlas.search("dust in galaxies").hits
    _fail("" if is_whole else f"the atlas is wrong: {verify(out)}, {len(atlas)} papers")


def read_on(path: Path, versions: set[int], stop: Any, pipe: Any) -> None:
    """Open and search an atlas until `stop` is set; send the counts and the faults."""
    read = rebuilt = 0
    faults: Counter[str] = Counter()
    held = landscape.open(path)
    while not stop.is_set():
        try:
            opened = landscape.open(path)
        except Exception as error:  # noqa: BLE001 - what is looked for
            faults[f"open: {error!r:.300}"] += 1
            continue
        for atlas in (opened, held):  # also an atlas that was opened before
            try:
                search = partial(atlas.search, "dust in galaxies", k=3)
                found = [len(search(method=one)) for one in ("words", "semantic", "hybrid")]
                sizes = {len(atlas), len(atlas.papers), len(atlas.map), len(atlas.vectors())}
                if found != [3, 3, 3] or len(sizes) > 1 or not sizes <= versions:
                    faults[f"mixed: {found}, {sizes}"] += 1
                read += 1
            except Exception as error:  # noqa: BLE001 - what is looked for
                is_old = "was rebuilt since it was opened" in str(error)
                rebuilt += is_old
                faults.update([] if is_old else [f"read: {error!r:.300}"])
        held = opened
    counts = f"{read:,} reads gave results, {rebuilt:,} an old atlas, {faults.total():,} an error"
    pipe.send([counts, *sorted(faults)])


def main() -> None:
    """Run the campaigns and print a table; exit with 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--only", default=_EVERY)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    names = options.only.split(",")
    if not set(names) <= set(_EVERY.split(",")):
        parser.error(f"there is no campaign {options.only!r}; choose from {_EVERY}")
    rng = random.Random(options.seed)  # noqa: S311 - cases, no secret
    rows: list[list[str]] = []
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        atlas = landscape.open(build_demo(folder / "demo.atlas", n_papers=200, seed=1).path)
        campaigns = {
            "servers": lambda: servers(atlas, folder / "uses", options.cases, rng),
            "pages": lambda: pages(folder / "pages"),
            "kills": lambda: kills(folder, options.cases // 500, rng),
        }
        for name in names:
            start = time.monotonic()
            tried, found, peak = run(name, campaigns[name]())
            faults += found
            row = [name, f"{tried:,}", f"{len(found):,}", f"{peak:,.0f}"]
            rows.append([*row, f"{time.monotonic() - start:,.0f}", _notes.get(name, "")])
            print(rows[-1], flush=True)
    for fault in sorted(set(faults))[:60]:
        print(fault)
    head = ["campaign", "tried", "failed", "MB above idle", "seconds", "note"]
    print_table("Campaigns against damage and malice", head, rows)
    # A part does not replace the section of the report.
    section = "robustness" if options.only == _EVERY else f"robustness: {options.only}"
    print(f"\n{save(section, rows)}")
    raise SystemExit(bool(faults))


def run(name: str, cases: Iterator[Case]) -> tuple[int, list[str], float]:
    """Run cases; return their number, a line for each that failed, and the peak memory in MB."""
    tried, faults, peak = 0, [], 0.0
    for title, case in cases:
        tried += 1
        fault, memory = "", Memory()
        try:
            case()
        except LandscapeError as error:
            is_sentence = "Traceback" not in str(error) and "\n" not in str(error)
            fault = "" if is_sentence else f"{error!r:.300}"
        except Exception as error:  # noqa: BLE001 - what is looked for
            fault = f"{error!r:.300}"
        used = memory.peak()
        if used > _MOST_MEMORY and name == "servers":
            fault = fault or f"{used:,.0f} MB above the memory in use before"
        peak = max(peak, used)
        faults += [f"{title}: {fault}"] if fault else []
    return tried, faults, peak


if __name__ == "__main__":
    main()
