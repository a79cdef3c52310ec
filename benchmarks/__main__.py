"""Run benchmarks by name, or all of them (hours on two cores): python -m benchmarks [NAME ...]."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

QUICKEST_FIRST = (
    "startup",
    "latex",
    "facility_spans",
    "full_texts",
    "roles",
    "widgets",
    "keywords",
    "embedding",
    "search",
    "overlays",
    "trends",
    "mapping",
    "terrain",
    "stages",
)
# They run only if they are named.
ON_REQUEST = ("basemap", "demo", "robustness", "scale", "updates", "viewer")
EVERY = QUICKEST_FIRST + ON_REQUEST


def main() -> None:
    """Run the named benchmarks, from the fastest to the slowest."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(EVERY))
    given, options = parser.parse_known_args()
    names = given.names or QUICKEST_FIRST
    unknown = [name for name in names if name not in EVERY]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}; choose from {parser.prog} --help")
    sys.argv = [sys.argv[0], *options]
    for name in EVERY:
        if name in names:
            import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
