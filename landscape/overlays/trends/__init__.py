"""Analyse topics, authors and institutions over time, and compare selections of papers.

Each function takes an atlas and returns a `landscape.overlays.Analysis`:

- `trends`: regions that grow or shrink relative to the corpus, and years in which trends change;
- `new_topics`: phrases, concepts and regions that appear, burst or grow in the last months;
- `author_path`: an author's papers on the map and in regions over time;
- `institutions`, `countries`: papers of institutions and countries by region and year;
- `compare`: regions where one selection is over-represented relative to another.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
