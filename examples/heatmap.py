"""Density map of all papers with labelled regions.

Run: python examples/heatmap.py [ATLAS] [FILE]
"""

import sys

import landscape as ls

atlas = ls.open(sys.argv[1] if len(sys.argv) > 1 else "demo.atlas")
path = sys.argv[2] if len(sys.argv) > 2 else "heatmap.png"
figure = ls.figures.heatmap(atlas)
ls.figures.save_figure(figure, path)
