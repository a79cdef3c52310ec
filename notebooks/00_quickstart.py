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
# # Quickstart: from an atlas to a first answer
#
# Landscape turns a pile of abstracts into an **atlas**: a folder with the papers, a map on which
# similar papers lie close together, and names for the regions of that map. This notebook opens one,
# looks at its map, finds papers, and asks a question. It needs no network and no key.
#
# To run a cell, click into it and press **Shift + Enter**. To run all of them, choose
# *Run → Run All Cells*.
#
# The next cell opens the atlas that you gave to `landscape lab`, or else the
# demo atlas, which is built first if there is none (some minutes, once). The papers of the demo
# are *generated*: nothing about them is a result.

# %%
import landscape as ls

atlas = ls.open_demo()
atlas

# %% [markdown]
# ## The map
#
# Every paper is one point; the darker the map, the more papers there are. Read it with care:
# *near means similar*, but directions, and distances between far regions, mean nothing. The line
# under the map says how many papers there are and how far the map can be trusted.

# %%
ls.figures.heatmap(atlas)

# %% [markdown]
# The names are in a table, biggest region first. *Level 0* are the continents, *level 1* the
# regions on them.

# %%
regions = atlas.topics[["label", "level", "n_papers", "keywords"]]
regions.sort_values("n_papers", ascending=False).head(10)

# %% [markdown]
# ## Find papers
#
# Search by what you mean. Papers are compared by meaning and by words, and the best come first.

# %%
atlas.search("winds of massive stars", k=5)

# %% [markdown]
# A filter narrows the search. This one wants papers since 2010 and no reviews. The result holds a
# table that pandas, a spreadsheet or your own code can go on with.

# %%
found = atlas.search("winds of massive stars", k=5, filter="2010..; -review")
found.table[["title", "year", "cites"]]

# %% [markdown]
# ## Ask a question
#
# An answer is made of sentences, and each says which paper it comes from. Without a language model,
# the sentences that answer best are quoted word for word. With one connected (notebook 03 shows
# how), they are written for you and each is checked against the papers.

# %%
answer = atlas.ask("What drives the winds of massive stars?", model=None)
answer

# %% [markdown]
# Where on the map are the papers that were used?

# %%
ls.figures.query_map(atlas, answer.results)

# %% [markdown]
# ## Wander about
#
# The panel below is the same map, to move about in: turn the mouse wheel to zoom, drag to move, and
# point at a paper to see its title. Notebook 02 is the tour.

# %%
from landscape.widgets import MapExplorer

MapExplorer(atlas)

# %% [markdown]
# ## Where to go next
#
# - [01: build an atlas of your own papers](01_build_your_own.ipynb)
# - [02: explore the map](02_explore_the_map.ipynb)
# - [03: ask the literature](03_ask_the_literature.ipynb)
# - [04: the impact of a mission](04_mission_impact.ipynb)
#
# All of them are listed on the [start page](README.md).
