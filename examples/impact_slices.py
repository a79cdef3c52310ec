"""A facility's share of the local literature, in slices of time.

Run: python examples/impact_slices.py [ATLAS] [FILE]
"""

import sys

import landscape as ls

atlas = ls.open(sys.argv[1] if len(sys.argv) > 1 else "demo.atlas")
path = sys.argv[2] if len(sys.argv) > 2 else "impact_slices.png"
slices = [(1990, 1999), (2000, 2009), (2010, 2019), (2020, 2026)]
figure = ls.figures.impact(atlas, facilities="HST", slices=slices)
ls.figures.save_figure(figure, path)
