"""Facilities found in text fragments of WIESP-DEAL, whose spans ADS curators marked.

A marked span counts as found if a mention overlaps it, and a mention as right if it overlaps a
marked span of a telescope, observatory, mission, survey or instrument. The halves are those of the
sum of the characters of the bibcode: the list of facilities and its rules were developed on the
first.

Run: python -m benchmarks.facility_spans
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from benchmarks.measuring import PAPERS
from benchmarks.results import print_table, save
from landscape.overlays.missions import find_mentions

FRAGMENTS = PAPERS.parents[1] / "deal" / "fragments.jsonl"
KINDS = ("Telescope", "Mission", "Survey", "Instrument", "Observatory")


def spans(tokens: list[str], tags: list[str]) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of the marked facilities in the joined tokens."""
    start, found = 0, None
    for token, tag in zip(tokens, tags, strict=True):
        kind, end = tag[2:], start + len(token)
        if found and tag.startswith("I-") and kind == found[2]:
            found = (found[0], end, kind)
        else:
            if found:
                yield found
            found = (start, end, kind) if kind in KINDS else None
        start = end + 1
    if found:
        yield found


def main() -> None:
    """Run the benchmark and print the results."""
    totals: Counter[tuple[int, str]] = Counter()
    hits: Counter[tuple[int, str]] = Counter()
    for line in FRAGMENTS.read_text("utf-8").splitlines():
        one = json.loads(line)
        half = sum(map(ord, one["bibcode"])) % 2
        mentions = find_mentions(" ".join(one["tokens"]))
        marked = list(spans(one["tokens"], one["ner_tags"]))
        for start, end, kind in marked:
            totals[half, kind] += 1
            hits[half, kind] += any(m.start < end and m.end > start for m in mentions)
        for mention in mentions:
            totals[half, "right"] += 1
            hits[half, "right"] += any(mention.start < b and mention.end > a for a, b, _ in marked)
    rows = [
        [
            kind,
            *(
                f"{hits[half, kind] / totals[half, kind]:.3f} ({totals[half, kind]})"
                for half in (0, 1)
            ),
        ]
        for kind in (*KINDS, "right")
    ]
    rows[-1][0] = "mentions that are right"
    print_table("Facilities of WIESP-DEAL that are found", ["", "development", "kept"], rows)
    print(f"\n{save('facility_spans', {'rows': rows})}")


if __name__ == "__main__":
    main()
