"""Compare the detection of languages with py3langid and langdetect, if they are installed.

``python -m benchmarks.languages`` reads the real papers of ``$LANDSCAPE_DATA``, which are in
English except one, and the texts of ``tests/pipeline/test_odd_corpora.py``. Measured with one
core and 36 texts of eight languages:

| method | false alarms | texts recognised | ms per paper |
|---|---|---|---|
| landscape | 0 of 43,023 (1 French paper found) | 36 of 36 | 0.2 |
| py3langid 0.4.0 | 0 of 2,152 | 36 of 36 | 1.6 |
| langdetect 1.0.9 | 0 of 1,076 | 36 of 36 | 8.2 |
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
    for name, detect, step in methods:
        start = time.perf_counter()
        alarms = [text for text in papers[::step] if detect(text) != "en"]
        each = (time.perf_counter() - start) / len(papers[::step]) * 1e3
        right = sum(detect(text)[:2] == code for code, text in TEXTS.items())
        print(
            f"{name}: {len(alarms)} alarms of {len(papers[::step])}, {right} of {len(TEXTS)} texts"
        )
        print(f"  {each:.2f} ms per paper; {[text[:60] for text in alarms[:3]]}")


if __name__ == "__main__":
    main()
