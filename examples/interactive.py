"""The map as an interactive page that needs no network.

Run: python examples/interactive.py [ATLAS] [FILE]
"""

import sys

import landscape as ls

atlas = ls.open(sys.argv[1] if len(sys.argv) > 1 else "demo.atlas")
path = sys.argv[2] if len(sys.argv) > 2 else "interactive.html"
figure = ls.figures.interactive("heatmap", atlas)
ls.figures.save_figure(figure, path)
