"""Coverage by reviews, and the regions that need a review most.

Run: python examples/reviews.py [ATLAS] [FILE]
"""

import sys

import landscape as ls

atlas = ls.open(sys.argv[1] if len(sys.argv) > 1 else "demo.atlas")
path = sys.argv[2] if len(sys.argv) > 2 else "reviews.png"
figure = ls.figures.reviews(atlas)
ls.figures.save_figure(figure, path)
