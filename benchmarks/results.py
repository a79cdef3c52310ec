"""Results of benchmarks: printed tables, JSON files, and sections of RESULTS.md."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import landscape

REPORT = Path(__file__).parent / "RESULTS.md"
_INTRODUCTION = """\
# Results of the benchmarks

Written by `make bench`, or by `python -m benchmarks.NAME`, which replaces its own section only.
"""
_tables: list[str] = []


def print_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table with aligned columns, and keep it for the report."""
    widths = [max(len(str(row[i])) for row in [head, *rows]) for i in range(len(head))]
    print(f"\n{title}")
    for row in [head, ["-" * width for width in widths], *rows]:
        cells = [str(cell).rjust(width) for cell, width in zip(row, widths, strict=True)]
        print("  " + "  ".join([str(row[0]).ljust(widths[0]), *cells[1:]]))
    marks = ["---", *["--:"] * (len(head) - 1)]
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in [head, marks, *rows]]
    _tables.append("\n".join([f"**{title}**", "", *lines]))


def save(name: str, result: Any, *, packages: Sequence[str] = ()) -> Path:
    """Write a result as JSON, and the tables printed since the last one into RESULTS.md."""
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    update_report(name, "\n\n".join([_setting(packages), *_tables]))
    _tables.clear()
    return path


def save_texts(name: str, texts: Mapping[str, str]) -> None:
    """Write outputs of commands into RESULTS.md, each below its title."""
    blocks = [f"**{title}**\n\n```\n{text}\n```" for title, text in texts.items()]
    update_report(name, "\n\n".join([_setting(()), *blocks]))


def update_report(name: str, text: str, *, report: Path = REPORT) -> None:
    """Replace one section of a report, or add it; the sections are in alphabetical order."""
    written = report.read_text("utf-8") if report.is_file() else _INTRODUCTION
    introduction, *parts = re.split(r"(?m)^## ", written)
    sections = {part.partition("\n")[0].strip(): part.partition("\n")[2].strip() for part in parts}
    sections[name] = text
    body = [f"## {one}\n\n{sections[one]}\n" for one in sorted(sections)]
    report.write_text("\n".join([introduction.rstrip() + "\n", *body]), "utf-8")


def _setting(packages: Sequence[str]) -> str:
    """Return date, processor and versions."""
    day = datetime.now(UTC).date().isoformat()
    versions = [f"landscape {landscape.__version__}"]
    versions += [f"{one} {version(one)}" for one in ("numpy", *packages)]
    python = f"Python {platform.python_version()}"
    return f"{day}; {_processor()}; " + ", ".join([python, *versions])


def _processor() -> str:
    known = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*:\s*(.+)", known.read_text()) if known.is_file() else None
    name = found[1].strip() if found else platform.processor() or platform.machine()
    return f"{name}, {os.cpu_count()} cores"
