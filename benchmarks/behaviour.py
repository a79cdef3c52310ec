"""Record the outputs of Landscape, and compare two versions (a script, not a test).

    python benchmarks/behaviour.py record OUT [--papers N] [--atlas ATLAS] [--only REGEX]
    python benchmarks/behaviour.py compare OLD NEW
    python benchmarks/behaviour.py open ATLAS

``record`` builds the demo atlas (``--seed 1``) in OUT, runs every command and option of the README
that needs no network, and the Python calls of the README. It stores printed text, ``--json``
documents, tables, bibliographies, exit codes, small figures and checksums of the atlas' tables.
``--atlas`` uses an atlas that an earlier ``record`` built: differences then come from the analyses
and not from the build. ``--only`` records the cases whose names match, to compare a part.
``compare`` prints the differences, and exits with 1 if anything but text differs. ``open`` runs
four commands on an atlas that another version built. Set PYTHONPATH to the version to run.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from behaviour_inputs import CASES, PROGRAM, list_cases, talk_to_server, write_inputs
from PIL import Image

FIGURE_WIDTH = 500
SIMILARITY = 0.97
TOLERANCE = 1e-6
SIZE_RATIO = 1.5
# Times, sizes in memory, dates of the run and versions differ between two runs of one version.
VOLATILE = re.compile(
    r"(^|[./_])(seconds|took|peak_memory\w*|finished|modified|updated|created|version|sha256|fingerprint"
    r"|bytes|products|inputs|calls|path|layout_seconds)\b"
)
DURATION = re.compile(
    r"seconds=[\d.e-]+|\d[\d,.]*\s?(ms|s|seconds?|min|minutes?|[kMG]B)\b|\d{4}-\d\d-\d\dT[\d:.+Z]+"
)

REMOTE = ("OPENAI_", "ADS_", "COHERE_", "LANDSCAPE_LLM", "LANDSCAPE_RERANK", "LANDSCAPE_DEMO")


def record(out: Path, papers: int, atlas: Path | None, only: str) -> None:
    """Run all cases and store their outputs in `out`."""
    for folder in ("text", "json", "files", "pictures", "inputs", "python"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    for name in [name for name in os.environ if name.startswith(REMOTE)]:
        del os.environ[name]
    os.environ |= {"MPLBACKEND": "Agg", "COLUMNS": "100", "HF_HUB_OFFLINE": "1"}
    if atlas is not None and not (out / "demo.atlas").exists():
        (out / "demo.atlas").symlink_to(atlas)
    os.chdir(out)
    known = Path("exits.json")
    exits: dict[str, int] = json.loads(known.read_text()) if known.is_file() else {}
    cases = CASES["builds"].copy()
    if atlas is None:
        run("demo", cases["demo"].format(papers=papers), exits)
    names = write_inputs(atlas.resolve().with_name("demo-corpus") if atlas else Path("demo-corpus"))
    cases.pop("demo")
    cases |= list_cases()
    for name, command in cases.items():
        if re.search(only, name):
            run(name, command.format(atlas="demo.atlas", **names), exits)
    run_python(names, exits, only)
    known.write_text(json.dumps(exits, indent=1))
    if re.search(only, "mcp"):
        Path("mcp.json").write_text(json.dumps(talk_to_server(), indent=1))
    for built in sorted(Path().glob("*.atlas")):
        tables = Path(f"tables_{built.stem}.json")
        if not built.is_symlink() and not tables.exists():
            tables.write_text(json.dumps(describe_tables(built), indent=1))
    for picture in Path("pictures").rglob("*.*"):
        shrink(picture)


def run(name: str, command: str, exits: dict[str, int]) -> None:
    """Run one command as the console script does; store its streams and exit code."""
    print(f"{name}: {command}", file=sys.stderr, flush=True)
    words = shlex.split(command)
    out, err = io.StringIO(), io.StringIO()
    if words[0] in ("demo", "build"):  # these start processes
        done = subprocess.run([*PROGRAM, *words], capture_output=True, text=True, check=False)
        code = done.returncode
        out.write(done.stdout)
        err.write(done.stderr)
    else:
        from landscape.cli import main

        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(words)
            except SystemExit as stop:
                code = stop.code if isinstance(stop.code, int) else 1
    exits[name] = code
    if "--json" in words and out.getvalue().startswith(("{", "[")):
        Path(f"json/{name}.json").write_text(out.getvalue())
        out = io.StringIO()
    Path(f"text/{name}.txt").write_text(f"{out.getvalue()}\n--- messages\n{err.getvalue()}")


def run_python(names: dict[str, str], exits: dict[str, int], only: str) -> None:
    """Evaluate the Python calls; store tables as CSV and everything as text."""
    import landscape as ls
    from landscape import widgets

    atlas = ls.open("demo.atlas")
    known = {"ls": ls, "atlas": atlas, "widgets": widgets, "panels": CASES["panels"], **names}
    for name, call in CASES["python"].items():
        if not re.search(only, f"python_{name}"):
            continue
        print(f"python {name}", file=sys.stderr, flush=True)
        try:
            result, exits[f"python_{name}"] = eval(call, known), 0  # noqa: S307 - calls above
        except Exception as error:  # noqa: BLE001 - the kind of failure is part of the record
            result, exits[f"python_{name}"] = f"{type(error).__name__}: {error}", 1
        table = result if isinstance(result, pd.DataFrame) else getattr(result, "table", None)
        if isinstance(table, pd.DataFrame):
            table.to_csv(f"python/{name}.csv", index=False)
        if not isinstance(result, pd.DataFrame):
            Path(f"python/{name}.txt").write_text(str(result))


def describe_tables(atlas: Path) -> dict[str, Any]:
    """Return rows, means and a checksum of the sorted content of each table of an atlas."""
    found: dict[str, Any] = {}
    for path in sorted(path for path in atlas.rglob("*.*") if path.is_file()):
        if path.suffix not in (".parquet", ".npy"):
            continue
        if path.suffix == ".npy":
            array = np.load(path, mmap_mode="r")
            table = pd.DataFrame({"value": np.asarray(array, dtype=float).ravel()})
        else:
            table = pd.read_parquet(path)
        numbers = table.select_dtypes("number")
        rounded = table.assign(**{c: numbers[c].astype(float).round(5) + 0.0 for c in numbers})
        rows = "\n".join(sorted(map(str, rounded[sorted(rounded)].itertuples(index=False))))
        found[str(path.relative_to(atlas))] = {
            "rows": len(table),
            "columns": list(table.columns),
            "means": {str(c): float(v) for c, v in numbers.astype(float).mean().items()},
            "content": hashlib.sha256(rows.encode()).hexdigest()[:16],
        }
    return found


def shrink(path: Path) -> None:
    """Keep a small copy of a picture, and only the size of any other figure."""
    if path.suffix == ".png":
        with Image.open(path) as picture:
            small = picture.convert("RGB")
        small.resize((FIGURE_WIDTH, round(FIGURE_WIDTH * small.height / small.width))).save(path)
    elif path.suffix in (".html", ".svg", ".pdf", ".gif"):
        path.with_name(path.name + ".size").write_text(str(path.stat().st_size))
        path.unlink()


def flatten(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of a JSON document with their paths."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from flatten(item, f"{name}/{key}")
    elif isinstance(value, list):
        yield f"{name}#", len(value)
        for n, item in enumerate(value):
            yield from flatten(item, f"{name}/{n}")
    else:
        yield name, value


def leaves(path: Path) -> dict[str, Any]:
    """Return the values of a recorded file by name; the content of a text file is one value."""
    if path.suffix == ".json" or (path.suffix == ".txt" and path.read_text()[:1] in "{["):
        with contextlib.suppress(ValueError):
            return dict(flatten(json.loads(path.read_text())))
    if path.suffix == ".csv":
        with contextlib.suppress(pd.errors.ParserError, pd.errors.EmptyDataError):
            table = pd.read_csv(path, comment="#")
            found = {f"{c}/{n}": v for c in table for n, v in enumerate(table[c].tolist())}
            return {"rows": len(table), "columns": str(list(table)), **found}
    text = DURATION.sub("<time>", path.read_text(errors="replace"))
    return {"text": re.sub(r"\d+\.\d{7,}", lambda long: f"{float(long[0]):.6g}", text)}


def differences(old: Path, new: Path) -> Iterator[tuple[str, str]]:
    """Return kind and description of each difference between two recorded files."""
    if old.suffix == ".png":
        from skimage.metrics import structural_similarity

        one, two = (np.asarray(Image.open(path).convert("L")) for path in (old, new))
        if one.shape != two.shape:
            yield "figure", f"size {one.shape} became {two.shape}"
        elif (alike := structural_similarity(one, two)) < SIMILARITY:
            yield "figure", f"similarity {alike:.3f}"
        return
    if old.suffix == ".size":
        sizes = sorted(int(path.read_text()) for path in (old, new))
        if sizes[1] > SIZE_RATIO * sizes[0]:
            yield "size", f"{old.read_text()} became {new.read_text()} bytes"
        return
    one, two = leaves(old), leaves(new)
    for name in sorted(one.keys() | two.keys()):
        a, b = one.get(name), two.get(name)
        if old.name == "exits.json" and b is None:
            continue
        if VOLATILE.search(name) or a == b or (a != a and b != b):
            continue
        if isinstance(a, int | float) and isinstance(b, int | float):
            if abs(a - b) > TOLERANCE * max(1, abs(a), abs(b)):
                yield "number", f"{name}: {a} became {b}"
        elif name not in one or name not in two:
            yield "structure", f"{name} is only in the {'new' if name in two else 'old'} record"
        else:
            exact = old.suffix in (".bib", ".ris") or old.name == "search.tex" or name == "columns"
            kind = "content" if exact or name.endswith("/content") else "text"
            yield kind, f"{name}: {first_change(str(a), str(b))}"


def first_change(old: str, new: str) -> str:
    """Describe the first pair of lines that differ between two texts."""
    pairs = zip([*old.splitlines(), ""], [*new.splitlines(), ""], strict=False)
    a, b = next(((a, b) for a, b in pairs if a != b), ("", "more lines"))
    same = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), 0)
    start = max(same - 40, 0)
    return f"{a[start : start + 120]!r} became {b[start : start + 120]!r}"


def compare(old: Path, new: Path) -> int:
    """Print the differences between two records; return 1 if anything but text differs."""
    found: list[tuple[str, str, str]] = []
    files = [
        {
            str(p.relative_to(root))
            for p in root.rglob("*")
            if p.is_file()
            and not any(
                part.endswith(".atlas") or part in ("inputs", "demo-corpus")
                for part in p.relative_to(root).parts
            )
        }
        for root in (old, new)
    ]
    partial = len(json.loads((new / "exits.json").read_text())) < len(
        json.loads((old / "exits.json").read_text())
    )
    found += [("added", name, "") for name in files[1] - files[0]]
    found += [] if partial else [("missing", name, "") for name in files[0] - files[1]]
    for name in sorted(files[0] & files[1]):
        found += [(kind, name, what) for kind, what in differences(old / name, new / name)]
    shown: Counter[tuple[str, str]] = Counter()
    for kind, name, what in sorted(found, key=lambda item: (item[0] == "text", item)):
        shown[kind, name] += 1
        if shown[kind, name] <= 5:
            print(f"{kind:10}{name:40}{what}")
    kinds = dict(Counter(kind for kind, *_ in found))
    print(f"\n{len(files[0] & files[1])} files compared; differences: {kinds}")
    return int(any(kind != "text" for kind, *_ in found))


def open_atlas(atlas: str) -> int:
    """Run four commands on an atlas of another version; return the highest exit code."""
    from landscape.cli import main

    codes = []
    for command in CASES["open"]:
        codes.append(main(shlex.split(command.format(shlex.quote(atlas)))))
        print(f"--- {command}: exit code {codes[-1]}\n")
    return max(codes)


def main() -> int:
    """Read the arguments and run one of the three commands."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("command", choices=("record", "compare", "open"))
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--papers", type=int, default=4000)
    parser.add_argument("--atlas", type=Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    atlas = options.atlas and options.atlas.resolve()
    if options.command == "record":
        record(options.folders[0], options.papers, atlas, options.only)
        return 0
    if options.command == "compare":
        return compare(*options.folders)
    return open_atlas(str(options.folders[0]))


if __name__ == "__main__":
    sys.exit(main())
