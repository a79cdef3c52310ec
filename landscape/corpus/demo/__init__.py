"""Generate the demo corpus of synthetic astronomy papers with known properties.

>>> from landscape.corpus.demo import generate
>>> papers, truth = generate(n_papers=80, seed=1)
>>> len(papers), papers[0]["generated"], papers[0]["source"]
(80, True, 'demo')
"""

from __future__ import annotations

from landscape.corpus.demo._papers import DemoFiles, generate, write_demo

__all__ = ["DemoFiles", "generate", "write_demo"]
