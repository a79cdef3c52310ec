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
# # The thesaurus on the map, and what it lacks
#
# The [Unified Astronomy Thesaurus](https://astrothesaurus.org) is the field's agreed list of
# concepts, from *Exoplanets* to *Cosmology*, each with broader and narrower ones. Landscape tags
# papers with its concepts and asks two things: where on the map does a concept live, and which
# phrases of the literature deserve a concept and have none?
#
# The first cell opens the atlas that you gave to `landscape lab`, or else the
# demo atlas, whose papers are *generated*: nothing about them is a result.

# %%
import tempfile
from pathlib import Path

import landscape as ls
from landscape.widgets import ThesaurusPanel

atlas = ls.open_demo()
folder = Path(tempfile.mkdtemp(prefix="thesaurus-"))  # where this notebook writes its files

# %% [markdown]
# ## The top concepts on the map
#
# Each place has the colour of the concept that is most over-represented there.
# A click on a name in the key hides that concept, a double click shows it alone. The table gives
# the share of the map, the number of pieces, and the separability: 1 if neighbours of its papers
# are papers of the concept, 0.5 is chance.

# %%
overlay = ThesaurusPanel(atlas)
overlay

# %% [markdown]
# ## Concepts of your choice
#
# Type a name into *Add a concept*, or give names in code.

# %%
ThesaurusPanel(atlas, concepts=["Exoplanets", "Supernovae"])

# %% [markdown]
# How many papers does each concept have? Papers of narrower concepts count for the broader ones.

# %%
counts = ls.overlays.thesaurus.concept_counts(atlas)
print(counts.caption)
counts.table.head(8)

# %% [markdown]
# ## What the thesaurus lacks
#
# Phrases that are used as concepts are, and that no concept names. Each comes with its papers, how
# it grew, the nearest concepts, and a broader term that it could belong to. This looks through
# the phrases of all papers, which takes some seconds here and some minutes for a large corpus.

# %%
gaps = ThesaurusPanel(atlas, what="gaps", limit=20)
gaps

# %% [markdown]
# Below the table is the request for a new concept, as the maintainers of the thesaurus ask for
# it. The definition is left empty: that is for a person who knows the subject.

# %%
gaps.wait()
proposals = gaps.analysis
print(ls.overlays.thesaurus.to_uat_form(proposals, proposals.table["name"].iloc[0]))

# %% [markdown]
# ## Into files
#
# The figure with its table for print, the proposals as a spreadsheet of such requests.

# %%
overlay.wait()
overlay.save(folder / "concepts.pdf")
overlay.save(folder / "concepts.tex")
(folder / "proposals.csv").write_text(ls.overlays.thesaurus.to_uat_csv(proposals))
sorted(path.name for path in folder.iterdir())

# %% [markdown]
# The package brings 430 concepts; `landscape build --thesaurus UAT.json` takes the whole thesaurus,
# of any version, and `landscape fetch uat` gets it.
