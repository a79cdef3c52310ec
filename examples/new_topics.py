"""What is new in the last five years, by month, quarter or year.

Run: python examples/new_topics.py [ATLAS] [FILE]
"""

import sys

import landscape as ls

atlas = ls.open(sys.argv[1] if len(sys.argv) > 1 else "demo.atlas")
path = sys.argv[2] if len(sys.argv) > 2 else "new_topics.png"
figure = ls.figures.new_topics(atlas, months=60)
ls.figures.save_figure(figure, path)
