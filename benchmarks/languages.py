"""Compare the detection of languages with py3langid and langdetect, if they are installed.

``python -m benchmarks.languages`` reads the real papers of ``$LANDSCAPE_DATA``, which are in
English except one, and the texts of ``tests/pipeline/test_odd_corpora.py``.
"""

from __future__ import annotations

import gzip
import importlib
import json
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.results import print_table, save
from landscape.corpus.language import find_language
from tests.pipeline.test_odd_corpora import TEXTS


def _language_of(detect: Callable[[str], Any], text: str) -> str:
    """Return the language of a text; some libraries also return a score."""
    found = detect(text)
    return str(found[0] if isinstance(found, tuple) else found)


def main() -> None:
    """Print false alarms, texts that are recognised, and the time of each method."""
    path = Path(os.environ["LANDSCAPE_DATA"]) / "astro-ph/papers.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    papers = [f"{one['title']}\n{one['abstract'][:1000]}" for one in records]
    methods: list[tuple[str, Callable[[str], str], int]] = [("landscape", find_language, 1)]
    for name, function, step in (("py3langid", "classify", 20), ("langdetect", "detect", 40)):
        try:
            detect = getattr(importlib.import_module(name), function)
        except ImportError:
            continue
        methods.append((name, partial(_language_of, detect), step))
    rows, result = [], {}
    for name, detect, step in methods:
        start = time.perf_counter()
        alarms = [text for text in papers[::step] if detect(text) != "en"]
        each = (time.perf_counter() - start) / len(papers[::step]) * 1e3
        right = sum(detect(text)[:2] == code for code, text in TEXTS.items())
        result[name] = {"alarms": alarms, "right": right, "milliseconds": each}
        alarmed = f"{len(alarms)} of {len(papers[::step]):,}"
        rows.append([name, alarmed, f"{right} of {len(TEXTS)}", f"{each:.2f}"])
    head = ["method", "not English", "texts recognised", "ms per paper"]
    print_table("Languages of real papers, of which one is in French", head, rows)
    print(save("languages", result, packages=[name for name, *_ in methods[1:]]))


if __name__ == "__main__":
    main()
