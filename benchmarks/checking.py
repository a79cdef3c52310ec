"""The numbers of false and true citations that `landscape check` flags.

`checking.yaml` has sentences about real papers: 40 that their abstracts support, and 40 with one
change: a number, a negation, an object, or another subject. A citation is flagged if its verdict is
"mismatch", "contradicted" or "far". The comparison is the similarity of text alone ("far").

Run: python -m benchmarks.checking ATLAS [--list]
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import landscape as ls
from benchmarks.results import print_table, save
from landscape._bibliography import escape_latex
from landscape._io import read_yaml
from landscape.agents import AtlasCollection

SENTENCES = Path(__file__).with_name("checking.yaml")
FLAGGED = ("mismatch", "contradicted", "far")


def verdicts(atlas: Any, cases: list[dict[str, str]]) -> list[Any]:
    """Write a draft with one citation per sentence, and check it."""
    with TemporaryDirectory() as folder:
        bibliography, draft = Path(folder, "a.bib"), Path(folder, "a.tex")
        bibliography.write_text(
            "\n".join(
                f"@article{{k{n}, title={{{n}}}, eprint={{{case['arxiv_id']}}}, "
                "archivePrefix={arXiv}}"
                for n, case in enumerate(cases)
            )
        )
        lines = (
            f"{escape_latex(case['sentence']).rstrip('.')} \\cite{{k{n}}}."
            for n, case in enumerate(cases)
        )
        draft.write_text("\\begin{document}\n" + "\n\n".join(lines) + "\n\\end{document}\n")
        desk = AtlasCollection().add(atlas)
        found = ls.agents.check_draft(bibliography, draft, desk=desk)
    by_key = {one.key: one for one in found.judgements}
    return [by_key[f"k{n}"] for n in range(len(cases))]


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("atlas")
    parser.add_argument("--list", action="store_true", help="print the wrong verdicts")
    options = parser.parse_args()
    cases: list[dict[str, str]] = read_yaml(SENTENCES)
    counts: Counter[tuple[str, str]] = Counter()
    flagged: Counter[tuple[str, str]] = Counter()
    far: Counter[tuple[str, str]] = Counter()
    for case, one in zip(cases, verdicts(ls.open(options.atlas), cases), strict=True):
        for half in (case["half"], "both"):
            key = case["change"], half
            counts[key] += 1
            flagged[key] += one.verdict in FLAGGED
            far[key] += one.verdict == "far"
        if options.list and (one.verdict in FLAGGED) != (case["truth"] == "false"):
            print(f"{case['change']}: {one.verdict} ({one.why}): {case['sentence']}")
    rows = [
        [
            change,
            *(
                f"{flagged[change, half]} of {counts[change, half]}"
                for half in ("chosen", "held", "both")
            ),
            str(far[change, "both"]),
        ]
        for change in ("none", "number", "negation", "object", "unrelated")
    ]
    head = ["change", "flagged, chosen", "held", "both", "by similarity alone"]
    print_table("Citations that are flagged", head, rows)
    print(f"\n{save('checking', {'rows': rows})}")


if __name__ == "__main__":
    main()
