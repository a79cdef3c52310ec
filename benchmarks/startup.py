"""Start-up times of `import landscape` and `landscape --help`.

Run: python -m benchmarks.startup
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from benchmarks.results import print_table, save

COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import landscape": ["-c", "import landscape"],
    "landscape --help": ["-m", "landscape.cli", "--help"],
}


def main() -> None:
    """Run the benchmark and print the results."""
    found: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(7):
        for name, arguments in COMMANDS.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
            found[name].append(time.perf_counter() - start)
    rows = [[name, f"{statistics.median(seconds):.3f}"] for name, seconds in found.items()]
    print_table("Start, median of 7", ["command", "seconds"], rows)
    print(f"\n{save('startup', found)}")


if __name__ == "__main__":
    main()
