"""Run every benchmark: python -m benchmarks (hours on two cores; each also runs alone)."""

from __future__ import annotations

import sys

from benchmarks import embedding, keywords, mapping, overlays, search, stages, startup


def main() -> None:
    """Run them from the quickest to the longest."""
    sys.argv = sys.argv[:1]
    for benchmark in (startup, keywords, embedding, search, overlays, mapping, stages):
        benchmark.main()


if __name__ == "__main__":
    main()
