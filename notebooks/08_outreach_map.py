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
# # The outreach map: a literature as land and sea
#
# For a poster, a slide, a web page: **mountains** of many papers, **plains** of active study,
# **coasts** coloured by how new the papers are, and **water** where hardly anybody has. The map is
# drawn from the papers alone. It needs no network, no key and no graphics card.
#
# The first cell opens the atlas that you gave to `landscape lab`, or else the
# demo atlas, whose papers are *generated*; the map then says so.

# %%
import csv
import tempfile
from pathlib import Path

import landscape as ls
from landscape.widgets import OutreachPanel

atlas = ls.open_demo()
folder = Path(tempfile.mkdtemp(prefix="outreach-"))  # where this notebook writes its files

# %% [markdown]
# ## Choose, and draw
#
# Choose a look and a sheet, give the map a title, and press *Draw the map*. It is drawn in the
# background, and *Stop* ends it. A picture for the web takes seconds, a large poster minutes.
#
# Below the map are its settings, buttons to download it, every place with its papers,
# and the line of code that draws the same.

# %%
panel = OutreachPanel(atlas, theme="parchment", title="A map of the sky, as papers see it")
panel

# %% [markdown]
# Read it like this: *near means similar; directions mean nothing*. Heights show how many papers are
# around a place. A small island is an isolated topic, not an unimportant one.
#
# `wait()` waits until the map is ready; `rendering` is the map, with its words for readers who
# cannot see it.

# %%
panel.wait()
print(panel.rendering.used)
print(panel.rendering.alt_text)

# %% [markdown]
# ## Names that everybody understands
#
# Regions carry technical names. For the public, write your own into a table with the columns
# `region` and `name`, with a spreadsheet or as below. Places that you leave out keep their names.
# The file behind the *CSV* button is such a table too: change its column `name`. The technical
# names stay in the gazetteer, beside yours.

# %%
places = panel.rendering.gazetteer
largest = places[places["kind"] == "region"].nlargest(3, "n_papers")
names = folder / "names.csv"
with names.open("w", newline="") as table:
    rows = csv.writer(table)
    rows.writerow(["region", "name"])
    for technical in largest["technical_name"]:
        rows.writerow([technical, f"Land of {technical.lower()}"])
print(names.read_text())

# %%
everyday = OutreachPanel(atlas, theme="atlas", names=str(names))
everyday

# %% [markdown]
# A language model can name the rest, in the language that you choose: connect one as in notebook 03
# and tick *Let the language model name the rest*. Read its names before you print them.

# %% [markdown]
# ## How much is water?
#
# *Papers on land* moves the sea: with 90 % on land, thin places are drowned and straits part what
# hangs together by few papers. *New: the last … years* says which papers count as new there.

# %%
islands = ls.outreach.render(atlas, theme="clear", sea_share=0.9, recent_years=3)
islands

# %% [markdown]
# ## Painted by Stable Diffusion, and held to the data
#
# With the weights of a Stable Diffusion model, the same land is repainted. Give the panel a
# folder with weights, or a name on the Hugging Face Hub. Without a graphics card this takes long.
#
# What a model paints looks convincing whether or not it is true. So the picture is compared with
# the data: land and water, coasts, peaks and relief. If it fails, it is painted again with
# less *strength*; if that does not help, you get the map drawn from the data. The scores are
# below the picture.
#
# ```python
# OutreachPanel(atlas, weights="stabilityai/stable-diffusion-xl-base-1.0", seed=7)
# ```

# %% [markdown]
# ## Into files
#
# `.png` for the web and slides, `.pdf` for the printer, `.svg` to edit, `.html` for a page to zoom
# and search. Beside the map are its gazetteer, a description for readers who cannot see it, and
# the settings that draw it again. For a poster choose *Poster (A1)*, or `size="a0"` in code.

# %%
everyday.wait()
everyday.save(folder / "map.png")
everyday.save(folder / "map.pdf")
everyday.save(folder / "places.csv")
sorted(path.name for path in folder.iterdir())

# %% [markdown]
# Before you hang it up, look at it from afar and from near: are the names right, and would a
# specialist agree? With your own papers (notebook 01), the first cell becomes
# `atlas = ls.open("my.atlas")`; nothing else changes.
