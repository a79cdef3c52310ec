"""Time and memory of one piece of work, each in a process of its own so that peaks are honest."""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(os.environ.get("LANDSCAPE_DATA", Path(__file__).parents[2] / "shared" / "data"))
PAPERS = DATA / "astro-ph" / "papers.jsonl.gz"


def measured(work: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
    """Run `work` in a fresh process and say what it took.

    Returns
    -------
    dict
        ``seconds`` (wall clock, without starting the process and importing), ``peak_mb`` and
        ``result``, whatever `work` returned. Work may name its own ``seconds`` by returning a
        dict that holds them.
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
    """Slope of log(seconds) against log(size): 1 is linear."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(seconds, 1e-3)), 1)[0])


def print_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table with aligned columns."""
    widths = [max(len(str(row[i])) for row in [head, *rows]) for i in range(len(head))]
    print(f"\n{title}")
    for row in [head, ["-" * width for width in widths], *rows]:
        cells = [str(cell).rjust(width) for cell, width in zip(row, widths, strict=True)]
        print("  " + "  ".join([str(row[0]).ljust(widths[0]), *cells[1:]]))


def save(name: str, result: Any) -> Path:
    """Write a result as JSON beside the others."""
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    return path
