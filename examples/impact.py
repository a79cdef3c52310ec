"""A facility's share of the local literature, with the regions of its highest shares.

Run: python examples/impact.py [ATLAS] [FILE]
"""

import sys

import landscape as ls

atlas = ls.open(sys.argv[1] if len(sys.argv) > 1 else "demo.atlas")
path = sys.argv[2] if len(sys.argv) > 2 else "impact.png"
figure = ls.figures.impact(atlas, facilities="ALMA")
ls.figures.save_figure(figure, path)
