# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#       jupytext_version: 1.19.6
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # My library, my morning
#
# Your own papers on the map, and a digest of what is new for them. The library is a file of your
# own: from Zotero, a bibliography, or ADS.
#
# It runs without a network and without a key. The first cell opens the
# atlas that you gave to `landscape lab`, or else the demo atlas, whose papers
# are *generated*: nothing about them is a result, so never cite them.

# %%
import tempfile
from pathlib import Path

import landscape as ls
from landscape.corpus.libraries import mark_papers, read_library, write_library
from landscape.overlays.library import library_regions, make_digest, refresh_bibliography
from landscape.widgets import DigestPanel, LibraryPanel, MapExplorer

atlas = ls.open_demo()
folder = Path(tempfile.mkdtemp(prefix="library-"))  # where this notebook writes its files

# %% [markdown]
# ## A library
#
# Here, the papers of a search are written to a `.bib` file, which stands for yours. `read_library`
# also reads the data directory of Zotero, RIS, CSL-JSON, and lists of bibcodes.

# %%
bib = folder / "mine.bib"
bib.write_text(atlas.search("quenching of satellite galaxies", k=40).to_bibtex())
library = read_library(bib)
file = write_library(library, folder / "mine.library.json")
len(library), library.entries[0].key

# %% [markdown]
# ## My papers on the map
#
# Regions that you *know* have at least three of your papers. Regions that *border* on them have
# papers that are among the most similar to yours.

# %%
LibraryPanel(atlas, str(file))

# %%
library_regions(atlas, library).table.head(8)

# %%
MapExplorer(atlas, mine=str(file), height=480)

# %% [markdown]
# ## The digest
#
# What arrived since you last looked, with the reasons for each paper. The first digest has the last
# 30 days of the atlas.

# %%
panel = DigestPanel(atlas, str(file))
panel

# %%
panel.wait(300)
digest = make_digest(atlas, library)
digest.table[["group", "title", "reasons"]].head(5)

# %% [markdown]
# Marks move the ranking: papers like those that you are not interested in come later.

# %%
marked = mark_papers(library, digest.papers[:1], "not interested")
make_digest(atlas, marked).notes

# %%
page = folder / "digest.html"
page.write_text(digest.to_page())
feed = folder / "digest.xml"
feed.write_text(digest.to_atom())
page.stat().st_size, feed.stat().st_size

# %% [markdown]
# ## A bibliography that is up to date
#
# Publications of preprints, withdrawn papers, identifiers and repeated entries. Every key stays,
# and nothing is changed without a row in this table.

# %%
refreshed = refresh_bibliography(bib, [atlas])
refreshed.analysis.table.head(8)

# %% [markdown]
# The command line does the same: `landscape library` and `landscape digest`. The tutorial *Every
# morning* sets up one line for cron.
