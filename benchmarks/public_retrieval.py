"""Search in public test sets that nothing was fitted to, Cranfield and Vaswani.

Each set becomes an atlas in a temporary folder. The default search reranks the best papers by the
vectors of their words. It is compared with the fusion of both searches, and with each of them.

Run: python -m benchmarks.public_retrieval
"""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path

import landscape as ls
from benchmarks.measuring import DATA
from benchmarks.results import print_table, save
from landscape.evaluation import evaluate_retrieval
from landscape.statistics import paired_difference

SETS = ("cranfield", "vaswani")
_MEASURES = ("mrr", "recall@50", "ndcg@10")


def main() -> None:
    """Build both atlases, and print the measures and the gains of the default search."""
    rows, gains = [], []
    for name in SETS:
        with tempfile.TemporaryDirectory() as folder:
            papers = Path(folder, f"{name}.jsonl")
            with gzip.open(DATA / name / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
                papers.write_text("".join(map(_record, lines)), "utf-8")
            atlas = ls.build(papers, Path(folder, f"{name}.atlas"), seed=1)
            found = evaluate_retrieval(atlas, DATA / name)
        for method, scores in found.scores.items():
            means = [f"{scores.values[one].mean():.3f}" for one in _MEASURES]
            rows.append([name, str(len(scores.qids)), method, *means])
        default = found.scores["default"].values
        for method in ("words", "semantic", "fusion"):
            other = found.scores[method].values
            texts = [str(paired_difference(other[one], default[one])) for one in _MEASURES]
            gains.append([name, method, *texts])
    print_table("Search in public test sets", ["set", "questions", "search", *_MEASURES], rows)
    print_table("Gain of the default search", ["set", "over", *_MEASURES], gains)
    print(f"\n{save('public_retrieval', {'rows': rows, 'gains': gains})}")


def _record(line: str) -> str:
    paper = json.loads(line)
    record = {"paper_id": paper["doc_id"], "abstract": paper["text"], "date": "1960-01-01"}
    return json.dumps(record | {"title": paper.get("title") or paper["text"][:80]}) + "\n"


if __name__ == "__main__":
    main()
