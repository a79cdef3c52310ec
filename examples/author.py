"""An author's papers on the map and by region over time.

Run: python examples/author.py [ATLAS] [FILE]
"""

import sys

import landscape as ls

atlas = ls.open(sys.argv[1] if len(sys.argv) > 1 else "demo.atlas")
path = sys.argv[2] if len(sys.argv) > 2 else "author.png"
authors = atlas.read_papers(["authors"])["authors"].explode()
figure = ls.figures.author(atlas, authors.value_counts().index[0])
ls.figures.save_figure(figure, path)
