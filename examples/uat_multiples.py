"""The same concepts as small multiples.

Run: python examples/uat_multiples.py [ATLAS] [FILE]
"""

import sys

import landscape as ls

atlas = ls.open(sys.argv[1] if len(sys.argv) > 1 else "demo.atlas")
path = sys.argv[2] if len(sys.argv) > 2 else "uat_multiples.png"
figure = ls.figures.uat(atlas, multiples=True)
ls.figures.save_figure(figure, path)
