"""Shares of regions before and since the first light of a facility, with intervals.

Run: python examples/intervals.py [ATLAS] [FILE]
"""

import sys

import landscape as ls

atlas = ls.open(sys.argv[1] if len(sys.argv) > 1 else "demo.atlas")
path = sys.argv[2] if len(sys.argv) > 2 else "intervals.png"
figure = ls.figures.intervals("before_after", atlas, "ALMA")
ls.figures.save_figure(figure, path)
