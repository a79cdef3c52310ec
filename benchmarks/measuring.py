"""Time and peak memory of a task, measured in a separate process."""

from __future__ import annotations

import gzip
import json
import multiprocessing
import os
import resource
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from landscape.embeddings.embedder import embedding_text

DATA = Path(os.environ.get("LANDSCAPE_DATA", Path(__file__).parents[2] / "shared" / "data"))
PAPERS = DATA / "astro-ph" / "papers.jsonl.gz"


def measured(work: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
    """Run `work` in a new process; return its time and memory.

    Returns
    -------
    dict
        ``seconds`` (wall clock, without starting the process and importing), ``peak_mb`` and
        ``result``, the value that `work` returned. If this is a dict with ``seconds``, they
        replace the measured time.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(sender, work, arguments))
    process.start()
    sender.close()
    try:
        report: dict[str, Any] = receiver.recv()
    except EOFError:
        raise SystemExit(f"{work.__name__} died without an answer") from None
    finally:
        process.join()
    return report


def _work(sender: Any, work: Callable[..., Any], arguments: Sequence[Any]) -> None:
    start = time.perf_counter()
    result = work(*arguments)
    seconds = time.perf_counter() - start
    if isinstance(result, dict) and "seconds" in result:
        seconds = result["seconds"]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sender.send({"seconds": seconds, "peak_mb": peak, "result": result})


def growth_exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Return the slope of log(seconds) against log(size); 1 is linear."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(seconds, 1e-3)), 1)[0])


def read_texts(path: Path, *, n: int) -> list[str]:
    """Return title and abstract of n papers spread over a JSON-lines file."""
    with gzip.open(path, "rt") as lines:
        rows = list(lines)
    chosen = np.linspace(0, len(rows) - 1, n).astype(int)
    papers = [json.loads(rows[i]) for i in chosen]
    return [embedding_text(paper["title"], paper["abstract"]) for paper in papers]
