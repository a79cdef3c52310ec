"""Every command line and every code block of the documents, taken from their text and executed."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import shutil
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import landscape
from landscape.cli import main, parse  # `parse` for commands that wait or need a network
from landscape.corpus.demo import write_demo
from landscape.evaluation import write_feedback
from tests.conftest import REPOSITORY
from tests.servers.openai_server import OpenAIServer
from tests.zotero import write_zotero

DOCS = REPOSITORY / "docs"
DOCUMENTS = [
    REPOSITORY / "README.md",
    DOCS / "start.md",
    *sorted((DOCS / "guides").glob("[0-9]*.md")),
    *sorted((DOCS / "concepts").glob("*.md")),
    *sorted((DOCS / "tutorials").glob("[0-9]*.md")),
]
"""Documents in the order in which they are executed, all in one folder."""


def blocks(document: Path, kind: str) -> list[str]:
    """Return the code blocks of a document in one language."""
    text = document.read_text("utf-8")
    found = re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [block for language, block in found if language == kind]


COMMANDS = [
    (document, line)
    for document in DOCUMENTS
    for block in blocks(document, "")
    for line in block.splitlines()
    if line.startswith("landscape ")
]
SERVERS = ("lab", "app", "mcp")  # they run until they are stopped; tests/cli starts them
DOWNLOADS = ("fetch", "pull", "push")  # also "update --from"; tests run them on own servers

BIB = r"""
@article{2015ApJ...801...12A, title={Quenching of satellite galaxies in haloes},
  author={Rubin, V. and Ford, K.}, year={2015}, journal={ApJ}, eprint={1501.00001},
  doi={10.1088/0004-637X/801/1/12},
  bibcode={2015ApJ...801...12A}, abstract={Satellite galaxies stop forming stars in massive haloes.
  We observe them with ALMA and NOEMA. Quenching begins in the densest haloes.}}
@article{2016ApJ...802...13B, title={Cold gas in galaxies}, author={Rubin, V.}, year={2016},
  journal={ApJ}, bibcode={2016ApJ...802...13B},
  abstract={We observe cold gas of the Milky Way with NOEMA and with JWST. The gas is cold. We find
  H0 = 71 ± 4 km/s/Mpc, and a mass of 3.1 ± 0.4 M_sun at a redshift of 0.52 ± 0.01.}}
"""
RDF = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns:skos="http://www.w3.org/2004/02/skos/core#">{concepts}</rdf:RDF>"""
CONCEPT = (
    '<skos:Concept rdf:about="http://astrothesaurus.org/uat/{number}">'
    '<skos:prefLabel xml:lang="en">{label}</skos:prefLabel></skos:Concept>'
)


def write_thesaurus(path: Path, labels: list[str]) -> None:
    concepts = (CONCEPT.format(number=n, label=label) for n, label in enumerate(labels, 1))
    path.write_text(RDF.format(concepts="".join(concepts)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the documents."""
    folder = tmp_path_factory.mktemp("documents")
    papers = write_demo(folder / "demo", n_papers=150, seed=1).papers
    shutil.copy(papers, folder / "more-papers.jsonl.gz")
    (folder / "my-papers.bib").write_text(BIB)
    (folder / "references.bib").write_text(BIB)
    (folder / "draft.tex").write_text(
        r"Satellite galaxies are quenched in dense haloes \cite{2015ApJ...801...12A}."
    )
    (folder / "edges.csv.gz").write_bytes(
        gzip.compress(b"citing,cited\n2016ApJ...802...13B,2015ApJ...801...12A\n")
    )
    (folder / "names.csv").write_text("topic_id,name\n")
    (folder / "alma.txt").write_text("# ALMA\n2015ApJ...801...12A\n")
    (folder / "full-texts").mkdir()
    with gzip.open(papers, "rt") as lines:
        cited = [json.loads(line) for line in islice(lines, 4)]
    (folder / "full-texts" / "1501.00001.tex").write_text(
        r"\section{Data} The throughput of the spectrograph is 41\%. \software{astropy}"
        r"\section{Introduction} Many groups have observed the gas of satellite galaxies in large "
        r"samples \citep{k1,k2,k3}. The loss of this gas was first seen in the outer parts of one "
        r"massive cluster \citep{k0}."
        r"\begin{thebibliography}{4}"
        + "".join(
            f"\\bibitem[{name}({year})]{{k{n}}} {name}, J. {year}, ApJ, 1, {n}, {one['bibcode']}\n"
            for n, (name, year, one) in enumerate(
                zip(("Adams", "Baker", "Clark", "Davis"), range(2001, 2005), cited, strict=True)
            )
        )
        + r"\end{thebibliography}"
    )
    write_feedback("ask", "What is dust?", is_good=True, path=folder / "feedback.jsonl")
    new = {"title": "Gas in satellites", "abstract": "We map gas.", "arxiv_id": "2601.00001"}
    (folder / "new-papers.jsonl").write_text(json.dumps(new) + "\n")
    with gzip.open(papers, "rt") as lines:
        known = [json.loads(line) for line in islice(lines, 0, 120, 12)]
    names = ("Quenching of satellite galaxies in haloes", *(one["title"] for one in known))
    library = [{"title": name, "collections": ("Chapter 2",)} for name in names]
    library[0]["extra"] = "arXiv: 1501.00001"
    write_zotero(folder / "Zotero", library)
    label = {"field": "abstract", "surface": "ALMA", "occurrence": 0, "facility": "ALMA"}
    for name, line in (("concepts", {"uat": ["594"]}), ("labels", label)):
        text = json.dumps({"arxiv_id": "1501.00001", **line})
        (folder / f"{name}.jsonl").write_text(f"{text}\n")
    write_thesaurus(folder / "UAT-3.1.rdf", ["Galaxies"])
    write_thesaurus(folder / "UAT-5.1.rdf", ["Galaxies", "Satellite galaxies"])
    return folder


@pytest.fixture
def at_home(folder: Path, monkeypatch: pytest.MonkeyPatch, server: OpenAIServer) -> OpenAIServer:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("LANDSCAPE_RERANK_URL", f"{server.url.removesuffix('/v1')}/v2")
    monkeypatch.setenv("COHERE_API_KEY", "sk-the-right-key")
    monkeypatch.setenv("LANDSCAPE_LLM_CACHE", str(folder / "cache"))
    text = "Satellite galaxies lose their gas in haloes."
    question = json.dumps({"question": "Which process takes it away there?"})
    server.reply = lambda body: (
        question if '"question"' in json.dumps(body.get("response_format")) else text
    )
    return server


def test_documents_have_commands_of_every_kind() -> None:
    names = {shlex.split(line)[1] for _, line in COMMANDS}
    assert {"build", "search", "ask", "figure", "table", "render", "survey", "check"} <= names
    assert {"library", "digest"} <= names
    assert {"update", "changes", "basemap", "publish", "export", "evaluate", "fetch"} <= names
    assert len(COMMANDS) > 60


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_a_document(
    document: Path,
    at_home: OpenAIServer,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    key, address = os.environ["OPENAI_API_KEY"], os.environ["OPENAI_BASE_URL"]
    for line in [line for path, line in COMMANDS if path == document]:
        words = shlex.split(line, comments=True)[1:]
        network = not {words[0], *words[1:2]}.isdisjoint(DOWNLOADS) or "--from" in words
        if words[0] in SERVERS or network:
            assert callable(parse(words)[0]), line
            continue
        # Few commands are for users with a language model.
        for name, value in (("OPENAI_API_KEY", key), ("OPENAI_BASE_URL", address)):
            if {"--hyde", "--model"} & set(words):
                monkeypatch.setenv(name, value)
            else:
                monkeypatch.delenv(name, raising=False)
        if words[0] == "render" and "--size" in words:
            words += ["--dpi", "72"]  # sheets in print quality take half a minute
        if words[0] == "build" and document.parent.name == "tutorials":
            # Readers of a tutorial begin with a new atlas, whose regions are numbered from 0.
            shutil.rmtree(words[words.index("--out") + 1], ignore_errors=True)
        if words[0] == "build" and not {"--seed", "--on", "--cluster"} & set(words):
            words += ["--seed", "1"]  # a new map of the same papers can number its regions anew
        status = main(words)
        said = capsys.readouterr()
        assert status == 0, f"{line}\n{said.err}"
        for option in ("-o", "--export", "--tree", "--out"):
            if option in words:
                assert Path(words[words.index(option) + 1]).exists(), line
    names: dict[str, Any] = {"ls": landscape}
    for block in blocks(document, "python"):
        exec(compile(block, document.name, "exec"), names)  # noqa: S102 - our own text
    if document.stem == "09_atlas_files":
        assert len(names["papers"]) == len(names["vectors"]) > 0


def test_the_line_for_every_morning() -> None:
    """Each command of the lines for cron and systemd is valid."""
    tutorial = (DOCS / "tutorials" / "09_every_morning.md").read_text("utf-8")
    lines = [line for block in blocks_of(tutorial) for line in block.splitlines()]
    found = [line for line in lines if "update" in line and "digest" in line]
    assert len(found) == 2
    for line in found:
        commands = re.findall(r"/bin/landscape ((?:update|digest) [^&\"]*)", line)
        assert len(commands) == 2
        for words in commands:
            assert callable(parse(shlex.split(words))[0])


def blocks_of(text: str) -> list[str]:
    return re.findall(r"^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_lines_for_cron_and_systemd() -> None:
    guide = (DOCS / "guides" / "08_updates.md").read_text("utf-8")
    lines = re.findall(r"`[^`\n]*(landscape update [^`]*--from [^`]*)`", guide)
    assert len(lines) == 2
    for line in lines:
        assert callable(parse(shlex.split(line)[1:])[0])
