r"""Full texts of papers: LaTeX, HTML of arXiv, JATS, PDF and plain text.

`read_full_text` reads one text, and `FullTextFolder` finds the texts of papers in a folder.

>>> import pathlib, tempfile
>>> from landscape.corpus.full_text import read_full_text
>>> path = pathlib.Path(tempfile.mkdtemp(), "paper.tex")
>>> _ = path.write_text(r"\section{Data} We use spectra. \facility{Keck}")
>>> [(section.kind, section.text) for section in read_full_text(path).sections]
[('data', 'We use spectra.'), ('facilities', 'Keck')]
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
