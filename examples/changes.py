"""What an update has changed.

The update adds generated papers to a copy of the atlas, and fits the map again: regions grow,
shrink and split.

Run: python examples/changes.py [ATLAS] [FILE]
"""

import shutil
import sys
import tempfile
from pathlib import Path

import landscape as ls
from landscape.corpus.demo import write_demo

atlas = sys.argv[1] if len(sys.argv) > 1 else "demo.atlas"
path = sys.argv[2] if len(sys.argv) > 2 else "changes.png"
with tempfile.TemporaryDirectory() as folder:
    copy = shutil.copytree(atlas, Path(folder) / "grown.atlas")
    n_papers = round(0.15 * len(ls.open(copy)))
    new = write_demo(Path(folder) / "new", n_papers=n_papers, seed=2).papers
    grown = ls.update(copy, new, layout="refit", workers=1)
    figure = ls.figures.changes(grown)
    ls.figures.save_figure(figure, path)
