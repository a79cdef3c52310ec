"""The map in time slices, with fixed axes and colours.

Run: python examples/time_slices.py [ATLAS] [FILE]
"""

import sys

import landscape as ls

atlas = ls.open(sys.argv[1] if len(sys.argv) > 1 else "demo.atlas")
path = sys.argv[2] if len(sys.argv) > 2 else "time_slices.png"
figure = ls.figures.time_slices(atlas)
ls.figures.save_figure(figure, path)
