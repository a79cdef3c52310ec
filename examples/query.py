"""Papers found by a question, with outliers marked.

Run: python examples/query.py [ATLAS] [FILE]
"""

import sys

import landscape as ls

atlas = ls.open(sys.argv[1] if len(sys.argv) > 1 else "demo.atlas")
path = sys.argv[2] if len(sys.argv) > 2 else "query.png"
results = atlas.search("How does stellar feedback drive winds?", k=20)
figure = ls.figures.query_map(atlas, results)
ls.figures.save_figure(figure, path)
