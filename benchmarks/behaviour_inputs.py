"""The cases of `behaviour.py`, and their inputs from the demo corpus."""

from __future__ import annotations

import csv
import gzip
import json
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

CASES = tomllib.loads(Path(__file__).with_name("behaviour.toml").read_text())
PROGRAM = [sys.executable, "-c", "import sys; from landscape.cli import main; sys.exit(main())"]


def list_cases() -> dict[str, str]:
    """Return all commands except builds, by name."""
    cases = {}
    cases["search_bib"] = "search {atlas} galaxies -k 20 --export files/search.bib"
    for ending in ("ris", "tex", "txt", "csv", "json"):
        cases[f"search_{ending}"] = f"search {{atlas}} galaxies -k 20 -o files/search.{ending}"
    cases |= CASES["commands"]
    for kind, rest in CASES["figures"].items():
        for ending in ("png", "html"):
            output = f"pictures/{kind}.{ending}"
            cases[f"figure_{kind}_{ending}"] = f"figure {kind} {{atlas}} {rest} -o {output}"
    for kind, rest in CASES["tables"].items():
        cases[f"table_{kind}"] = f"table {kind} {{atlas}} {rest}"
        cases[f"table_{kind}_json"] = f"table {kind} {{atlas}} {rest} --json"
        cases[f"table_{kind}_csv"] = f"table {kind} {{atlas}} {rest} -o files/{kind}.csv"
    cases["table_tex"] = "table impact {atlas} --facility HST -o files/impact.tex"
    cases |= {f"help_{command}": f"{command} --help" for command in CASES["help"]}
    return cases


def write_inputs(corpus: Path) -> dict[str, str]:
    """Write small inputs from the demo corpus; return names that commands need."""
    import landscape as ls

    with gzip.open(corpus / "papers.jsonl.gz", "rt", encoding="utf-8") as stream:
        papers = [json.loads(line) for line in stream]
    truth = json.loads((corpus / "truth.json").read_text())
    for n, paper in enumerate(papers):
        paper["arxiv_id"] = f"1501.{n:05d}"
    kept, themes = papers[:400], {theme["id"]: theme for theme in truth["themes"]}
    number = {paper["bibcode"]: paper["arxiv_id"] for paper in kept}
    rows = {row["paper_id"]: row for row in truth["papers"]}
    inputs = Path("inputs")

    def write(name: str, items: list[Any]) -> None:
        text = "\n".join(x if isinstance(x, str) else json.dumps(x) for x in items)
        (inputs / name).write_text(text + "\n")

    write("mine.jsonl", kept)
    write("more.jsonl", papers[400:450])
    write("names.csv", ["region,name", "Dust,Where dust is", "Winds,Where winds blow"])
    write("known.txt", [paper["bibcode"] for paper in kept[:20]])
    links = [f"{p['bibcode']},{r}" for p in kept for r in p["ref_bibcodes"]]
    write("edges.csv", ["citing,cited", *links])
    columns = ["title", "abstract", "date"]
    with (inputs / "mine.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([columns, *([p[c] for c in columns] for p in kept[:200])])
    entries = [
        f"@article{{{p['bibcode']},\n title={{{p['title']}}},\n abstract={{{p['abstract']}}},\n"
        f" author={{{' and '.join(p['authors'])}}},\n year={p['year']}\n}}"
        for p in kept[:150]
    ]
    write("mine.bib", entries)
    subjects: dict[str, list[str]] = {}
    for key, row in rows.items():
        subjects.setdefault(row["theme"], []).append(key)
    write(
        "queries.jsonl",
        [
            {"qid": key, "question": themes[key]["name"], "relevant": ids}
            for key, ids in list(subjects.items())[:12]
        ],
    )
    cited = [paper for paper in papers if len(paper["cite_bibcodes"]) >= 3][:8]
    excerpts = [f"It was shown before that {p['title'].lower()} matters [CITATION]." for p in cited]
    write(
        "excerpts.jsonl",
        [
            {"qid": str(n), "excerpt": excerpt, "answer": paper["bibcode"]}
            for n, (excerpt, paper) in enumerate(zip(excerpts, cited, strict=True))
        ],
    )
    write(
        "labels.jsonl",
        [
            {
                "arxiv_id": number[key],
                "field": m["field"],
                "surface": m["surface"],
                "occurrence": 0,
                "facility": m["facility"],
            }
            for key in number
            for m in rows[key]["mentions"][:1]
        ],
    )
    thesaurus = ls.overlays.thesaurus.embedded_thesaurus()
    concepts = {name: thesaurus.find(name) for theme in themes.values() for name in theme["uat"]}
    write(
        "tags.jsonl",
        [
            {
                "arxiv_id": number[key],
                "uat": [
                    c.concept_id
                    for name in themes[rows[key]["theme"]]["uat"]
                    if (c := concepts[name]) is not None
                ],
            }
            for key in number
        ],
    )
    uri = "http://astrothesaurus.org/uat/"
    leaves = [{"name": f"Leaf {n}", "uri": f"{uri}{9000 + n}"} for n in range(3)]
    top = {"name": "Galaxies", "uri": f"{uri}573", "children": leaves}
    write("UAT.json", [{"children": [top]}])
    keys = [paper["bibcode"] for paper in cited]
    sentences = [f"{p['title']} \\citep{{{p['bibcode']}}}." for p in cited]
    write("draft.tex", [r"\section{Draft}", *sentences])
    (author, _), *_ = Counter(name for paper in papers for name in paper["authors"]).most_common(1)
    family = author.partition(",")[0]
    return {"author": author, "family": family, "excerpt": excerpts[0], "paper": keys[0]}


def talk_to_server() -> list[Any]:
    """Return the replies of `landscape mcp` to three requests on standard input."""
    client = {"name": "behaviour", "version": "1"}
    start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    search = {"name": "search", "arguments": {"query": "dust", "k": 3}}
    requests = [("initialize", start), ("tools/list", {}), ("tools/call", search)]
    replies = []
    pipe = subprocess.PIPE
    words = [*PROGRAM, "mcp", "demo.atlas"]
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True) as server:
        assert server.stdin is not None and server.stdout is not None  # noqa: PT018, S101 - both are pipes
        for n, (method, parameters) in enumerate(requests):
            message = {"jsonrpc": "2.0", "id": n, "method": method, "params": parameters}
            server.stdin.write(json.dumps(message) + "\n")
            server.stdin.flush()
            replies.append(json.loads(server.stdout.readline() or "null"))
            if n == 0:
                server.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        server.stdin.close()
    return replies
