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
# # Trends and authors: what moves on the map
#
# Which topics rise and which fall? Where did an author begin, and where are they now? How do two
# groups of papers differ, and who works on what?
#
# The first cell opens the atlas that you gave to `landscape lab`, or else the
# demo atlas, whose papers are *generated*: nothing about them is a result.

# %%
import tempfile
from pathlib import Path

import landscape as ls
from landscape.widgets import TrendsPanel

atlas = ls.open_demo()
folder = Path(tempfile.mkdtemp(prefix="trends-"))  # where this notebook writes its files

# %% [markdown]
# ## Rising and falling topics
#
# More papers appear every year, so a count that grows says nothing. Shown is the **share** of each
# year's papers that a region has. A topic is called emerging or fading only where chance would
# rarely do that among so many regions. Grey regions have no verdict: the column *why* says why.
#
# Years that the corpus hardly covers are shaded: a gap in the corpus is no decline of a topic.

# %%
topics = TrendsPanel(atlas)
topics

# %%
topics.wait()
topics.table.query("`class` in ['emerging', 'fading', 'steady']")[
    ["label", "class", "papers", "slope", "q"]
].head(10)

# %% [markdown]
# ## An author's path
#
# Type a name, or choose one. Dots are papers, coloured by year; the line joins the periods of five
# years. Papers are matched by name, so two persons of one name are one here: the column *Group*
# separates papers that share neither co-authors nor affiliations.

# %%
names = atlas.read_papers(["authors"])["authors"].explode()
author = names.value_counts().index[0]
path = TrendsPanel(atlas, what="author", author=author)
path

# %% [markdown]
# ## What is new
#
# Phrases, concepts and regions that appear, burst or grow in the last months, compared with papers
# of the same categories.

# %%
new = TrendsPanel(atlas, what="new", months=36)
new

# %% [markdown]
# ## Two selections compared
#
# Write a filter for each, as in search: years, a facility, an author, a concept. An odds ratio of 2
# means: a paper of *a* is in that region at twice the odds of one of *b*.

# %%
compared = TrendsPanel(atlas, what="compare", a="..2015", b="2016..")
compared

# %% [markdown]
# ## Who works where
#
# Countries and institutions, as far as papers give affiliations. Listings of arXiv give none; ADS
# does.

# %%
TrendsPanel(atlas, what="countries")

# %% [markdown]
# ## For print, and into files

# %%
page = ls.figures.trends(atlas)
page

# %%
ls.figures.save_figure(page, folder / "trends.pdf")
path.wait()
path.save(folder / "path.html")
compared.wait()
compared.save(folder / "compared.csv")
sorted(file.name for file in folder.iterdir())
