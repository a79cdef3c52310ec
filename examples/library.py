"""Papers of a library on the map, with the regions that its owner knows.

Run: python examples/library.py [ATLAS] [FILE] [LIBRARY]
"""

import sys
import tempfile
from pathlib import Path

import landscape as ls

atlas = ls.open(sys.argv[1] if len(sys.argv) > 1 else "demo.atlas")
path = sys.argv[2] if len(sys.argv) > 2 else "library.png"
if len(sys.argv) > 3:
    library = sys.argv[3]
else:  # without a library, the papers of two searches
    library = str(Path(tempfile.mkdtemp()) / "mine.bib")
    found = [atlas.search(text, k=25) for text in ("satellite galaxies", "cold gas in galaxies")]
    Path(library).write_text("\n\n".join(one.to_bibtex() for one in found))
figure = ls.figures.library_map(atlas, library)
ls.figures.save_figure(figure, path)
