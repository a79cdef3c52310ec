"""Objects and values that the rules find, against what two readers found in real papers.

``objects_values.jsonl`` has the judgements of two readers on ten sets of papers, as places in the
cleaned titles and abstracts, without the texts. The first set was read before the code was written;
the rules were changed after each set but the last. ``BLIND`` has the results of the later sets
before the changes that they led to.

Beside the objects stands a regular expression with the ten most common catalogues,
and beside the number of values of H0 that of Crossland et al. 2019 (arXiv:1902.00027).

Run: python -m benchmarks.objects_values [ATLAS]
"""

from __future__ import annotations

import argparse
import bisect
import gzip
import json
import math
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.measuring import DATA, PAPERS, measured
from benchmarks.results import print_table, save
from landscape.corpus.cleaning import clean_text
from landscape.corpus.objects import find_objects, normal_name, object_key
from landscape.overlays.values import ValueStatement, find_values

JUDGEMENTS = Path(__file__).with_name("objects_values.jsonl")
BLIND = {  # precision and recall by set, before any change that the set led to
    "objects": {4: (0.936, 0.852), 5: (0.908, 0.836), 6: (0.988, 0.883), 7: (0.963, 0.926),
                8: (0.963, 0.821), 9: (0.976, 0.826), 10: (0.982, 0.933)},
    "values": {4: (0.921, 0.861), 5: (0.911, 0.882), 6: (0.943, 0.790), 7: (0.860, 0.881),
               8: (0.890, 0.746), 9: (0.940, 0.790), 10: (0.973, 0.893)},
}  # fmt: skip
# What a user would otherwise run: the catalogues with the most papers.
CATALOGUES = re.compile(
    r"\b(?:NGC|IC|HD|HIP|TOI|Abell|UGC|PSR [BJ]?|GRB|SN|Kepler-|WASP-|M)\s?\d+[\d+.-]*[A-Za-z]?\b"
)
_NOUNS = re.compile(r"(?:\s(?:spheroidal|stellar|galaxy|stream|field))+$")
CROSSLAND = (298, 208_541)  # values of H0, papers
Span = tuple[int, int]


def _texts(names: set[str]) -> dict[str, tuple[str, str]]:
    texts = {}
    with gzip.open(PAPERS, "rt", encoding="utf-8") as lines:
        for line in lines:
            paper = json.loads(line)
            if paper["arxiv_id"] in names:
                texts[paper["arxiv_id"]] = clean_text(paper["title"]), clean_text(paper["abstract"])
    return texts


def _overlap(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return bool(one[0] < other[1] and other[0] < one[1])


def _keys(name: str) -> set[str]:
    """Return the keys of a name of a reader, such as "NGC 4321 (M100)" or "GD-1 stream"."""
    names = {name, *re.findall(r"[^()]+", name)}
    names |= {_NOUNS.sub("", one.strip()) for one in names}
    return names | {object_key(normal_name(one.strip())) for one in names}


def compare_objects(
    readers: list[list[list[Any]]], found: Iterable[tuple[int, int, str]]
) -> dict[str, int]:
    """Count the mentions found and missed. Those of one reader only are neither right nor wrong."""
    counts: dict[str, int] = defaultdict(int)
    # Planets named by one letter, such as "c", are omitted: some readers mark them.
    one, two = ([mark for mark in marks if mark[1] - mark[0] > 1] for marks in readers)
    found = [mention for mention in found if mention[1] - mention[0] > 1]
    for mention in found:
        marked = [mark for mark in one + two if _overlap(mark, mention)]
        counts["right" if marked else "wrong"] += 1
        if marked and mention[2]:
            counts["named"] += 1
            keys = {object_key(mention[2]), mention[2]}
            counts["well named"] += any(_keys(mark[2]) & keys for mark in marked)
    for mark in one:
        both = any(_overlap(mark, other) for other in two)
        counts["missed"] += both and not any(_overlap(mark, mention) for mention in found)
    return counts


def _close(one: float, other: float) -> bool:
    return abs(one - other) <= 0.02 * abs(other) + 1e-12


def _fits(found: ValueStatement, marked: dict[str, Any]) -> bool:
    """Return whether a statement has the quantity and the number of a reader."""
    if found.quantity != marked["quantity"]:
        return False
    value, low = marked.get("value"), marked.get("low")
    if low is not None:
        value = (low + marked["high"]) / 2
        if not math.isnan(found.plus) and _close(found.value - found.minus, low):
            return _close(found.value + found.plus, marked["high"])
    values = [found.value]
    if found.unit.startswith("dex"):
        values += [10**found.value] if abs(found.value) < 90 else []
        values += [math.log10(found.value)] if found.value > 0 else []
    return value is not None and any(_close(one, value) for one in values)


def compare_values(text: str, readers: list[list[dict[str, Any]]]) -> dict[str, int]:
    """Count the values found and missed in a sentence, and whether their marks are right."""
    counts: dict[str, int] = defaultdict(int)
    one, two = list(readers[0]), readers[1]
    for statement in find_values(text):
        mark = next((mark for mark in one if _fits(statement, mark)), None)
        if mark is None:
            counts["wrong"] += not any(_fits(statement, other) for other in two)
            continue
        one.remove(mark)
        counts["right"] += 1
        counts["own right"] += statement.own == bool(mark.get("own"))
        if mark.get("low") is None:
            counts["with errors"] += 1
            error = mark.get("plus")
            is_right = error is None or _close(statement.plus, error)
            counts["errors right"] += is_right and (error is None) == math.isnan(statement.plus)
    counts["missed"] += sum(
        any(mark["quantity"] == other["quantity"] and mark.get("value") == other.get("value")
            and mark.get("low") == other.get("low") for other in two)
        for mark in one
    )  # fmt: skip
    return counts


def _sum(parts: Iterable[dict[str, int]]) -> dict[str, int]:
    total: dict[str, int] = defaultdict(int)
    for part in parts:
        for name, count in part.items():
            total[name] += count
    return total


def _ratio(one: int, *others: int) -> str:
    whole = one + sum(others)
    return f"{one / whole:.3f} ({one} of {whole})" if whole else ""


def _blind(task: str, number: int) -> str:
    found = BLIND[task].get(number)
    return f"{found[0]:.3f} / {found[1]:.3f}" if found else ""


def readers_sets() -> None:
    """Print precision and recall for the sets of readers."""
    judged = [json.loads(line) for line in JUDGEMENTS.read_text("utf-8").splitlines()]
    texts = _texts({one["paper"] for one in judged})
    rows: dict[str, list[list[str]]] = {"objects": [], "values": []}
    for number in sorted({one["set"] for one in judged}):
        parts: dict[str, list[dict[str, int]]] = defaultdict(list)
        for one in (one for one in judged if one["set"] == number):
            title, abstract = texts[one["paper"]]
            if one["task"] == "values":
                sentence = abstract[one["start"] : one["end"]]
                parts["values"].append(compare_values(sentence, one["readers"]))
                continue
            text = f"{title} ## {abstract}"
            mentions = [
                (mention.start, mention.end, mention.name) for mention in find_objects(text)
            ]
            simple = [(*match.span(), "") for match in CATALOGUES.finditer(text)]
            parts["objects"].append(compare_objects(one["readers"], mentions))
            parts["regular expression"].append(compare_objects(one["readers"], simple))
        for name in ("objects", "regular expression"):
            sums = _sum(parts[name])
            good, named = sums["well named"], sums["named"]
            rows["objects"].append([
                f"set {number}, {name}", str(len(parts[name])),
                _ratio(sums["right"], sums["wrong"]),
                _ratio(sums["right"], sums["missed"]), _ratio(good, named - good),
                _blind("objects", number) if name == "objects" else "",
            ])  # fmt: skip
        sums = _sum(parts["values"])
        own, errors = sums["own right"], sums["errors right"]
        rows["values"].append([
            f"set {number}", str(len(parts["values"])), _ratio(sums["right"], sums["wrong"]),
            _ratio(sums["right"], sums["missed"]), _ratio(own, sums["right"] - own),
            _ratio(errors, sums["with errors"] - errors), _blind("values", number),
        ])  # fmt: skip
    for task, head in (
        ("objects", ["mentions of objects", "abstracts", "precision", "recall", "normal form",
                     "before changes"]),
        ("values", ["values", "sentences", "precision", "recall", "own or not", "errors",
                    "before changes"]),
    ):  # fmt: skip
        print_table(f"{task.capitalize()} against two readers", head, rows[task])


def deal() -> dict[str, float]:
    """Return F1 of entities and of tokens on the visible half of WIESP-DEAL."""
    counts = dict.fromkeys(("entity", "token"), (0, 0, 0))
    for line in (DATA / "deal" / "fragments.jsonl").read_text("utf-8").splitlines():
        fragment = json.loads(line)
        tokens, tags = fragment["tokens"], fragment["ner_tags"]
        starts = [sum(len(token) + 1 for token in tokens[:k]) for k in range(len(tokens) + 1)]
        marked: set[Span] = set()
        for first, tag in enumerate(tags):
            if tag in {"B-CelestialObject", "B-CelestialObjectRegion"}:
                last = first + 1
                while last < len(tags) and tags[last] == f"I-{tag[2:]}":
                    last += 1
                marked.add((first, last))
        found = {
            (bisect.bisect_right(starts, one.start) - 1, bisect.bisect_left(starts, one.end))
            for one in find_objects(" ".join(tokens))
        }
        by_token = [{k for span in spans for k in range(*span)} for spans in (marked, found)]
        for name, (right, all_found) in (("entity", (marked, found)), ("token", by_token)):
            both = len(right & all_found)
            old = counts[name]
            counts[name] = (old[0] + both, old[1] + len(right), old[2] + len(all_found))
    return {name: 2 * both / (right + found) for name, (both, right, found) in counts.items()}


def read_papers(n: int) -> float:
    """Return the seconds for objects and values of `n` abstracts in one process."""
    with gzip.open(PAPERS, "rt", encoding="utf-8") as lines:
        papers = [json.loads(line) for line in islice(lines, n)]
    texts = [clean_text(paper["abstract"]) for paper in papers]
    start = time.perf_counter()
    for text in texts:
        find_values(text, objects=find_objects(text))
    return time.perf_counter() - start


def _median_seconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return sorted(times)[1]


def of_atlas(path: Path) -> dict[str, Any]:
    """Measure the tables of an atlas, and count its values of H0."""
    import landscape
    from landscape.overlays.objects import describe_object, objects
    from landscape.overlays.values import compare_value, tension, values

    atlas = landscape.open(path)
    table = values(atlas, quantity="H0").table
    own = int(table["own"].sum())
    counts, papers = CROSSLAND
    rows = [
        ["this atlas", str(len(table)), str(own), f"{1_000 * len(table) / len(atlas):.2f}"],
        ["Crossland et al. 2019", str(counts), "", f"{1_000 * counts / papers:.2f}"],
    ]
    title = f"Values of H0 in abstracts. {tension(table).caption}"
    print_table(title, ["corpus", "values", "own", "per 1,000 papers"], rows)
    work: dict[str, Callable[[], object]] = {
        "table objects": lambda: objects(atlas),
        "table values": lambda: values(atlas),
        "object": lambda: describe_object(atlas, "NGC 1068"),
        "value": lambda: compare_value(atlas, "H0 = 70 ± 1 km/s/Mpc"),
        "figure values": lambda: landscape.figures.values(atlas, quantity="H0"),
    }
    seconds = {name: _median_seconds(one) for name, one in work.items()}
    times = [[name, f"{time:.2f}"] for name, time in seconds.items()]
    print_table(f"Seconds on {len(atlas):,} papers", ["command", "seconds"], times)
    return {"H0": len(table), "own": own, "seconds": seconds}


def main() -> None:
    """Run all parts, and save the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("atlas", type=Path, nargs="?", help="atlas of the real papers")
    path = parser.parse_args().atlas
    readers_sets()
    scores = deal()
    rows = [[name, f"{score:.3f}"] for name, score in scores.items()]
    print_table("Objects and regions of WIESP-DEAL, visible half", ["unit", "F1"], rows)
    speed = []
    for n in (2_000, 4_000, 8_000):
        run = measured(read_papers, n)
        seconds = run["result"]
        speed.append(
            [f"{n:,}", f"{seconds:.1f}", f"{1e3 * seconds / n:.2f}", f"{run['peak_mb']:.0f}"]
        )
    head = ["abstracts", "seconds in one process", "ms per abstract", "peak MB"]
    print_table("Reading of objects and values", head, speed)
    save("objects_values", {"deal": scores, "atlas": of_atlas(path) if path else {}})


if __name__ == "__main__":
    main()
