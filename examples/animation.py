"""A facility's share of the local literature over the years, animated.

Run: python examples/animation.py [ATLAS] [FILE]
"""

import sys

import landscape as ls

atlas = ls.open(sys.argv[1] if len(sys.argv) > 1 else "demo.atlas")
path = sys.argv[2] if len(sys.argv) > 2 else "animation.gif"
ls.figures.animate(atlas, "HST", path, size_inches=(6.4, 5.3))
