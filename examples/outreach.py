"""The outreach map: the literature as terrain, with everyday names.

Run: python examples/outreach.py [ATLAS] [FILE] [THEME]
"""

import sys
from pathlib import Path

import landscape as ls
from landscape.outreach import render

atlas = ls.open(sys.argv[1] if len(sys.argv) > 1 else "demo.atlas")
path = sys.argv[2] if len(sys.argv) > 2 else "outreach.png"
theme = sys.argv[3] if len(sys.argv) > 3 else "atlas"
names = Path(sys.argv[0]).with_name("everyday_names.csv")
render(atlas, path, theme=theme, names=names, title="A map of made-up astronomy")
