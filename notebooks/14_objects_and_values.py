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
# # Objects and values
#
# What is known about this object, and is my number an outlier? The build finds the celestial
# objects that papers name, and the values that their sentences state.
#
# It runs without a network and without a key. The first cell opens the
# atlas that you gave to `landscape lab`, or else the demo atlas, whose papers
# are *generated*: nothing about them is a result, so never cite them.

# %%
import tempfile
from pathlib import Path

import landscape as ls
from landscape.overlays.objects import describe_object, find_objects, objects
from landscape.overlays.values import compare_value, find_values, values

atlas = ls.open_demo()
folder = Path(tempfile.mkdtemp(prefix="values-"))  # where this notebook writes its files

# %% [markdown]
# ## One sentence
#
# The two functions that read text work without an atlas. An object has a normal form, so that
# `M31` and `NGC 224` are the same. A value is *own* if the sentence reports it as a measurement
# of the paper; values that are cited, assumed or forecast are not.

# %%
sentence = "We observe M31 and K2-18 b with JWST, and find a radius of 2.61 +- 0.09 Earth radii."
find_objects(sentence)

# %%
find_values(sentence + " We assume H0 = 70 km/s/Mpc.")

# %% [markdown]
# ## Objects of the atlas
#
# Papers of each object, with the facilities and concepts that most of them have.

# %%
table = objects(atlas)
table.table.head(10)

# %%
name = table.table["name"].iloc[0]
page = describe_object(atlas, name)
page

# %% [markdown]
# `object:` is a filter for every search, panel and figure.

# %%
atlas.search("star formation", filter=f'object:"{name}"', k=5).table[["title", "year"]]

# %% [markdown]
# ## Values
#
# All values of a quantity are in the unit that most of them have. The sentence is beside the
# value: read it before you use the number.

# %%
masses = values(atlas, quantity="mass")
print(masses.caption)
masses.table[["stated", "status", "object", "year", "sentence"]].head(8)

# %%
ls.figures.values(atlas, quantity="Omega_m", mine="Ω_m = 0.30 ± 0.02")

# %% [markdown]
# ## Is my value an outlier?
#
# The difference to the median of the measured values, in units of their spread, and to each
# value, in combined errors. Quantities that are not those of the Universe need an object, such as
# "mass of Sgr A* = 4 million solar masses".

# %%
verdict = compare_value(atlas, "Ω_m = 0.30 ± 0.02")
print(verdict.caption)
verdict.table.head(5)

# %% [markdown]
# Questions for a value are answered from the same table.

# %%
atlas.ask("What is the mass of Neptune?")

# %% [markdown]
# ## Files
#
# A VOTable opens in TOPCAT. Objects whose name holds a position have `ra` and `dec`.

# %%
for analysis, file in ((table, "objects.vot"), (masses, "masses.csv"), (page, "object.html")):
    ls.figures.save_table(analysis, folder / file)
sorted(path.name for path in folder.iterdir())

# %% [markdown]
# The command line does the same: `landscape table objects`, `landscape table values`,
# `landscape object`, `landscape value` and `landscape figure values`.
