"""Every command line and every code block of README, taken from its text and executed."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

import landscape
from landscape.cli import main, parse  # `parse` for commands that wait or need a network
from landscape.corpus.demo import write_demo
from tests.conftest import REPOSITORY
from tests.servers.openai_server import OpenAIServer

README = (REPOSITORY / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
COMMANDS = [
    line
    for kind, block in BLOCKS
    if kind == ""
    for line in block.splitlines()
    if line.startswith("landscape ")
]
SERVERS = ("lab", "app", "mcp")  # they run until they are stopped; tests/cli starts them
DOWNLOADS = ("fetch",)  # also "update --from"; tests/corpus/fetch runs them on its own servers

BIB = r"""
@article{2015ApJ...801...12A, title={Quenching of satellite galaxies in haloes},
  author={Rubin, V. and Ford, K.}, year={2015}, journal={ApJ}, eprint={1501.00001},
  doi={10.1088/0004-637X/801/1/12},
  bibcode={2015ApJ...801...12A}, abstract={Satellite galaxies stop forming stars in massive haloes.
  We observe them with ALMA and NOEMA. Quenching begins in the densest haloes.}}
@article{2016ApJ...802...13B, title={Cold gas in galaxies}, author={Rubin, V.}, year={2016},
  journal={ApJ}, bibcode={2016ApJ...802...13B},
  abstract={We observe cold gas with NOEMA and with JWST. The gas is cold.}}
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
    """A folder with the files of README, and the atlas that its first command builds."""
    folder = tmp_path_factory.mktemp("readme")
    papers = write_demo(folder / "demo", n_papers=300, seed=1).papers
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
    new = {"title": "Gas in satellites", "abstract": "We map gas.", "arxiv_id": "2601.00001"}
    (folder / "new-papers.jsonl").write_text(json.dumps(new) + "\n")
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
    server.reply = lambda _: "Satellite galaxies lose their gas in haloes."
    return server


def test_readme_has_commands_of_every_kind() -> None:
    names = {shlex.split(line)[1] for line in COMMANDS}
    assert {"build", "search", "ask", "figure", "table", "render", "survey", "check"} <= names
    assert len(COMMANDS) > 35


@pytest.mark.parametrize("line", COMMANDS, ids=lambda line: line.split("#")[0].strip())
def test_a_command_of_readme(
    line: str,
    at_home: OpenAIServer,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = shlex.split(line, comments=True)[1:]
    if words[0] in SERVERS + DOWNLOADS or "--from" in words:
        assert callable(parse(words)[0])
        return
    if "--hyde" not in words:  # the others are for users without a language model
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    status = main(words)
    assert status == 0, capsys.readouterr().err
    for option in ("-o", "--export", "--tree", "--out"):
        if option in words:
            assert Path(words[words.index(option) + 1]).exists()


def test_the_lines_for_cron_and_systemd() -> None:
    lines = re.findall(r"`[^`\n]*(landscape update [^`]*--from [^`]*)`", README)
    assert len(lines) == 2
    for line in lines:
        assert callable(parse(shlex.split(line)[1:])[0])


def test_the_python_of_readme(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    names: dict[str, Any] = {"ls": landscape}
    blocks = [block for kind, block in BLOCKS if kind == "python"]
    assert len(blocks) >= 2
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)  # noqa: S102 - our own text
    assert len(names["papers"]) == len(names["vectors"]) == len(names["atlas"]) > 0
