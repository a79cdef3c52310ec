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
# # Explore the map
#
# `MapExplorer` shows the map of an atlas. Each change that you make with the mouse can also be
# written as code, and the line below the map shows it.
#
# The first cell opens the atlas that you gave to `landscape lab`, or else the
# demo atlas, whose papers are *generated*: nothing about them is a result.

# %%
import landscape as ls
from landscape.widgets import MapExplorer

atlas = ls.open_demo()

# %% [markdown]
# ## The map
#
# - **Zoom** with the mouse wheel, **move** by dragging. Point at a paper for its title. A click
#   opens its record beside the map, with its references and similar papers.
# - **Search** above the map: the papers found are marked, and listed under *Papers*. Titles are
#   searched at once, and by meaning when the kernel is free.
# - **Colour** by region, density, year, citations, facility, concept or another column.
# - **Select** papers: press *Select*, then draw around them. *Add* and *Remove* change a selection.
# - **Filters**: drag over years, or click a facility, a concept or a region.
# - **Tools**: select by a filter, count and compare the selected papers, ask them a question, and
#   save the map as a picture, a PDF, or a web page that works without a network.

# %%
explorer = MapExplorer(atlas)
explorer

# %% [markdown]
# ## The same from code
#
# The cells below do with the panel above what you can do by hand. Scroll up to see it follow.
#
# Search; the first papers found:

# %%
explorer.search("winds of massive stars", k=30)
explorer.wait(60)
found = explorer.results
print(found.note)
for paper in found.papers[:5]:
    print("-", paper.title)

# %% [markdown]
# Look closer at the largest region, and colour the papers by year:

# %%
largest = atlas.topics.query("level == 1").nlargest(1, "n_papers").iloc[0]
explorer.go_to(largest["label"])
explorer.colour_by = "year"
print(f"{largest['label']}: {largest['n_papers']} papers; in view now: {explorer.view}")

# %% [markdown]
# Filter by years; `None` shows all years again:

# %%
explorer.time = (2015, 2026)

# %%
explorer.time = None
explorer.home()
explorer.colour_by = "region"

# %% [markdown]
# ## The selection
#
# `explorer.selection` is a table of the papers that you selected on the map or with a filter. Try
# it: select papers on the map above, then run the next cell again without its first line.

# %%
explorer.select("2015..; -review")
explorer.wait(60)
explorer.selection.head()

# %% [markdown]
# What is it about, and where does it differ from all other papers?

# %%
explorer.summarise()

# %%
explorer.compare()

# %% [markdown]
# Ask only these papers:

# %%
explorer.ask("What drives the winds of massive stars?", model=None)

# %% [markdown]
# ## Save it
#
# The selection as a table or a bibliography; the map as a picture, a PDF for print, or a web page
# that needs neither a network nor Landscape. The ending of the name decides.

# %%
from tempfile import mkdtemp

folder = mkdtemp(prefix="landscape-")
for name in ("selection.csv", "selection.bib", "map.png", "map.pdf", "map.html"):
    path = explorer.save(f"{folder}/{name}")
    print(f"{path}: {path.stat().st_size / 1000:,.0f} kB")

# %% [markdown]
# The line that makes the same map again:

# %%
print(explorer.code)

# %% [markdown]
# Next: [03: ask the literature](03_ask_the_literature.ipynb)
