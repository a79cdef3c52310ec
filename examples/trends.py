"""Emerging and fading topics, relative to the whole corpus.

Run: python examples/trends.py [ATLAS] [FILE]
"""

import sys

import landscape as ls

atlas = ls.open(sys.argv[1] if len(sys.argv) > 1 else "demo.atlas")
path = sys.argv[2] if len(sys.argv) > 2 else "trends.png"
figure = ls.figures.trends(atlas)
ls.figures.save_figure(figure, path)
