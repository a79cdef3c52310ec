"""Regions in which two selections of papers differ.

Run: python examples/compare.py [ATLAS] [FILE]
"""

import sys

import landscape as ls

atlas = ls.open(sys.argv[1] if len(sys.argv) > 1 else "demo.atlas")
path = sys.argv[2] if len(sys.argv) > 2 else "compare.png"
figure = ls.figures.compare(atlas, "facility:HST", "facility:ALMA")
ls.figures.save_figure(figure, path)
