"""Top concepts of the Unified Astronomy Thesaurus on the map.

Run: python examples/uat.py [ATLAS] [FILE]
"""

import sys

import landscape as ls

atlas = ls.open(sys.argv[1] if len(sys.argv) > 1 else "demo.atlas")
path = sys.argv[2] if len(sys.argv) > 2 else "uat.png"
figure = ls.figures.uat(atlas)
ls.figures.save_figure(figure, path)
