"""Quality on real papers: every measurement of `landscape evaluate`, on one atlas.

Run: python -m benchmarks.quality --atlas real.atlas

The atlas contains the papers of LANDSCAPE_DATA, built with its thesaurus, list of reviews and
citations (the options of `landscape build`).
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.measuring import DATA, PAPERS
from benchmarks.results import save_texts
from landscape.cli import main as landscape

_TESTS = Path(__file__).parents[1] / "tests"
_MEASUREMENTS = {
    "map": ["map"],
    "retrieval, 150 questions (two weights were chosen on them)": [
        "retrieval",
        "--queries",
        f"{_TESTS}/evaluation/questions.jsonl",
    ],
    "retrieval, 120 held-out questions": [
        "retrieval",
        "--queries",
        f"{_TESTS}/evaluation/questions_held_out.jsonl",
    ],
    "similar papers: references of 300 papers": [
        "retrieval",
        "--queries",
        f"{_TESTS}/evaluation/similar.jsonl",
    ],
    "concepts of the thesaurus, against those of the authors": ["tagging", "--truth", "{truth}"],
    "mentions of facilities": ["mentions", "--labels", f"{_TESTS}/overlays/missions/labels.jsonl"],
    "attribution, 66 excerpts (the second half is held out)": [
        "attribution",
        "--excerpts",
        f"{_TESTS}/evaluation/attribution.jsonl",
    ],
    "survey, the held-out half": ["survey", "--half", "second"],
    "citing, 100 papers": ["citing", "--n", "100", "--seed", "1"],
}


def measure_reviews() -> str:
    """Recognise reviews by title and abstract alone, on papers that readers labelled."""
    import pandas as pd

    from landscape.corpus.reviews import score_papers

    lines = Path(_TESTS, "overlays", "reviews", "labels.jsonl").read_text("utf-8").splitlines()
    labels = {label["arxiv_id"]: label for label in map(json.loads, lines)}
    with gzip.open(PAPERS, "rt", encoding="utf-8") as papers:
        rows = [row for row in map(json.loads, papers) if row["arxiv_id"] in labels]
    frame = pd.DataFrame(rows)[["arxiv_id", "title", "abstract"]].map(
        lambda text: " ".join(text.split())
    )
    frame["found"] = 0.0
    for row, (score, _) in score_papers(frame).items():
        frame.loc[row, "found"] = score
    chosen = [label for label in labels.values() if label["half"] == "check"]
    found = set(frame.loc[frame["found"] >= 0.5, "arxiv_id"])
    precision, recall = stratified_agreement(chosen, found)
    return (
        f"{len(chosen)} held-out papers, weighted by stratum\n"
        f"precision {precision:.2f}\nrecall    {recall:.2f}"
    )


def stratified_agreement(
    labels: Sequence[Mapping[str, Any]], found: Collection[str]
) -> tuple[float, float]:
    """Return precision and recall over the corpus from labels of a stratified sample."""
    sizes = Counter(label["stratum"] for label in labels)
    right = wrong = missed = 0.0
    for label in labels:
        # A label counts for its share of the stratum that it was sampled from.
        weight = label["papers_in_stratum"] / sizes[label["stratum"]]
        is_found = label["arxiv_id"] in found
        right += weight * (is_found and label["review"])
        wrong += weight * (is_found and not label["review"])
        missed += weight * (not is_found and label["review"])
    return right / (right + wrong), right / (right + missed)


def main() -> None:
    """Run all measurements, and write their output into the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--atlas", type=Path, required=True)
    parser.add_argument("--only", default="", help="measure what contains this word")
    options = parser.parse_args()
    texts = {}
    with TemporaryDirectory() as folder:
        truth = Path(folder, "papers.jsonl")
        with gzip.open(PAPERS, "rt", encoding="utf-8") as papers:
            truth.write_text("".join(line for line in papers if json.loads(line).get("uat")))
        for title, (kind, *arguments) in _MEASUREMENTS.items():
            if options.only not in title:
                continue
            words = [word.format(truth=truth) for word in arguments]
            output = io.StringIO()
            with redirect_stdout(output):
                if landscape(["evaluate", kind, str(options.atlas), *words]):
                    raise SystemExit(f"The measurement {title!r} failed.")
            texts[title] = output.getvalue().strip()
            print(f"\n{title}\n{texts[title]}")
        title = "reviews, by title and abstract alone"
        if options.only in title:
            texts[title] = measure_reviews()
            print(f"\n{title}\n{texts[title]}")
    if not options.only:
        save_texts("quality", texts)


if __name__ == "__main__":
    if not DATA.is_dir():
        raise SystemExit(f"There is no data folder {DATA}; set LANDSCAPE_DATA.")
    main()
