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
# `MapExplorer` shows a map to wander about in. Whatever you do with the mouse can also be written
# as code, and the panel shows the line that does it.
#
# The first cell opens the atlas that you gave to `landscape lab` or `landscape app`, or else the
# demo atlas, whose papers are *generated*: nothing about them is a result.

# %%
import landscape as ls
from landscape.widgets import MapExplorer

atlas = ls.open_demo()

# %% [markdown]
# ## The map
#
# - **Zoom** with the mouse wheel, **move** by dragging. The names of regions appear level by level,
#   and once few papers are in view, each is a dot: point at it for its title, click it to read it.
# - **Search** above the map: what is found lights up, and is listed beside or below it.
# - **Colour by** topic, year, citations, or any other column.
# - **Select** papers with *Lasso* or *Select box*: click it, then draw on the map.
# - **Years**: drag the two ends of the slider, or press ▶ to play through time.
# - **Save** (its own tab) makes a picture, a PDF, or a web page that works without a network.

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
# Look closer at the largest region, and colour its papers by year:

# %%
largest = atlas.topics.query("level == 1").nlargest(1, "n_papers").iloc[0]
explorer.go_to(largest["label"])
explorer.colour_by = "year"
print(f"{largest['label']}: {largest['n_papers']} papers; in view now: {explorer.view}")

# %% [markdown]
# Move the window of time; `None` shows all years again:

# %%
explorer.time = (2015, 2026)

# %%
explorer.time = None
explorer.home()
explorer.colour_by = "density"

# %% [markdown]
# ## The selection
#
# `explorer.selection` is a table of the selected papers, whether you drew round them or chose them
# here with a filter. Try it: draw a lasso on the map above, then run the next cell again without
# its first line.

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
# The line that shows this very view again:

# %%
print(explorer.code)

# %% [markdown]
# Next: [03: ask the literature](03_ask_the_literature.ipynb)
