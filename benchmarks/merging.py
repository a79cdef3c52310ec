"""Measure how many records of the same paper are merged, and how many others.

The records are those of DBLP and ACM with their perfect mapping (Köpcke, Thor and Rahm 2010), 25
hard pairs of the tests of bib-dedupe, and real papers without their identifiers, of which none
should be merged, because they have different arXiv ids. ``--with PYTHON`` names a Python with
bib-dedupe, which is then measured beside Landscape.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

from benchmarks.results import print_table, save
from landscape.corpus import preview

DATA = Path(os.environ.get("LANDSCAPE_DATA", "../shared/data"))
_OTHER = """
import json, sys
import pandas as pd
from bib_dedupe.bib_dedupe import block, match, prep
records = pd.DataFrame(json.load(open(sys.argv[1])))
for name in ("ENTRYTYPE", "journal", "booktitle", "volume", "number", "pages", "doi", "abstract"):
    if name not in records:
        records[name] = "article" if name == "ENTRYTYPE" else ""
matched = match(block(prep(records.fillna(""), cpu=1), cpu=1), cpu=1)
matched = matched[matched["duplicate_label"].isin(sys.argv[2].split("+"))]
print("RESULT", json.dumps(matched[["ID_1", "ID_2"]].to_numpy().tolist()))
"""


def merged_by_landscape(records: list[dict[str, Any]]) -> list[list[str]]:
    """Return the groups of keys of the records that Landscape merges."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.jsonl"
        names = ("title", "abstract", "doi", "year", "authors", "journal")
        with path.open("w", encoding="utf-8") as lines:
            for one in records:
                record = {name: one[name] for name in names if one.get(name)}
                lines.write(json.dumps({"key": one["ID"], **record}) + "\n")
        groups: dict[str, list[str]] = {}
        for pair in preview([path])["merged"]:
            kept = pair["kept"]["id"]
            groups.setdefault(kept, [kept]).append(pair["record"]["id"])
    return list(groups.values())


def merged_by_other(records: list[dict[str, Any]], python: str, labels: str) -> list[list[str]]:
    """Return the pairs of keys of records that bib-dedupe labels so."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.json"
        path.write_text(
            json.dumps([{**one, "author": " and ".join(one["authors"])} for one in records])
        )
        made = subprocess.run(
            [python, "-c", _OTHER, str(path), labels], capture_output=True, text=True, check=True
        )
    [line] = [line for line in made.stdout.splitlines() if line.startswith("RESULT")]
    found: list[list[str]] = json.loads(line.removeprefix("RESULT "))
    return found


def dblp_and_acm() -> tuple[list[dict[str, Any]], set[frozenset[str]]]:
    """Return the records of DBLP and ACM, and the pairs of the same paper."""
    records = []
    for name in ("DBLP2.csv", "ACM.csv"):
        with (DATA / "dedupe" / name).open(encoding="latin-1") as file:
            for row in csv.DictReader(file):
                authors = [one.strip() for one in row["authors"].split(",") if one.strip()]
                text = f"The abstract of the record {row['id']}."
                records.append(
                    {"ID": row["id"], "title": row["title"], "authors": authors}
                    | {"year": row["year"], "abstract": text}
                )
    with (DATA / "dedupe" / "DBLP-ACM_perfectMapping.csv").open(encoding="latin-1") as file:
        return records, {frozenset(row) for row in csv.reader(file)}


def hard_pairs() -> list[tuple[list[dict[str, Any]], bool]]:
    """Return the pairs of bib-dedupe, and whether each is one paper."""
    cases = json.loads((DATA / "dedupe" / "bd.json").read_text("utf-8"))["cases"]
    pairs = []
    for case in cases:
        both = []
        for key in ("record_a", "record_b"):
            one = dict(case[key])
            names = one.pop("author", "")
            authors = names.split(" and ") if " and " in names else names.split(";")
            text = f"The abstract of {key}."
            journal = one.get("journal") or one.get("booktitle")
            both.append(
                {**one, "ID": key, "authors": authors, "abstract": text, "journal": journal}
            )
        pairs.append((both, bool(case["expected_duplicate"])))
    return pairs


def main() -> None:
    """Measure both programs, if the other one is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--with", dest="python", help="a Python with bib-dedupe")
    python = parser.parse_args().python
    programs: list[tuple[str, Callable[..., list[list[str]]]]]
    programs = [("landscape", merged_by_landscape)]
    if python:
        for labels in ("duplicate", "duplicate+maybe"):
            other = partial(merged_by_other, python=python, labels=labels)
            programs.append((f"bib-dedupe, {labels}", other))
    records, true = dblp_and_acm()
    source = {one["ID"]: "/" in one["ID"] for one in records}
    pairs, rows, result = hard_pairs(), [], {}
    for name, merge in programs:
        start = time.perf_counter()
        groups = merge(records)
        seconds = time.perf_counter() - start
        found = {
            frozenset(pair)
            for group in groups
            for pair in combinations(group, 2)
            if source[pair[0]] != source[pair[1]]
        }
        right = len(found & true)
        n_right = sum(bool(merged_by_landscape(both)) == same for both, same in pairs)
        result[name] = {"precision": right / max(len(found), 1), "recall": right / len(true)}
        measures = (right / max(len(found), 1), right / len(true))
        hard = f"{n_right} of {len(pairs)}" if name == "landscape" else "its own tests"
        shown = (hard, f"{seconds:.1f}")
        rows.append([name, *(f"{one:.3f}" for one in measures), *shown])
    title = f"{len(records):,} records of DBLP and ACM, of which {len(true):,} pairs are one paper"
    print_table(title, ["program", "precision", "recall", "hard pairs right", "seconds"], rows)
    with gzip.open(DATA / "astro-ph" / "papers.jsonl.gz", "rt", encoding="utf-8") as lines:
        papers = [json.loads(line) for line in lines]
    plain = [
        {
            "ID": f"paper {one['arxiv_id']}",
            "title": one["title"],
            "authors": one.get("authors") or [],
        }
        | {"year": one["year"], "abstract": one["abstract"]}
        for one in papers
    ]
    groups = merged_by_landscape(plain)
    n_merged = sum(len(group) - 1 for group in groups)
    print_table(
        f"{len(plain):,} astro-ph papers without identifiers; 7 titles occur twice in a year",
        ["program", "merged"],
        [["landscape", str(n_merged)]],
    )
    print(*groups, sep="\n")
    save("merging", result | {"merged_of_different": n_merged})


if __name__ == "__main__":
    main()
