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
# # Reviews and gaps: where would a review help?
#
# Reviews are recognised by their journal, their type in ADS, their title and their abstract. This
# notebook shows where on the map they are, and ranks the regions in which one is missed most.
#
# The first cell opens the atlas that you gave to `landscape lab`, or else the
# demo atlas, whose papers are *generated*: nothing about them is a result.

# %%
import tempfile
from pathlib import Path

import landscape as ls
from landscape.widgets import ReviewPanel

atlas = ls.open_demo()
folder = Path(tempfile.mkdtemp(prefix="reviews-"))  # where this notebook writes its files

# %% [markdown]
# ## Where the reviews are
#
# A region is blue where it has more reviews than its papers would have at the rate of the whole
# corpus, and orange where it has fewer. Where few are expected the ratio is drawn towards *as
# many*, for chance alone would make it extreme.

# %%
coverage = ReviewPanel(atlas, what="coverage")
coverage

# %% [markdown]
# ## Where one would help most
#
# Five reasons speak for a review: papers newer than every review near them, a region
# that grows, papers that are cited, years without a review, and abstracts that disagree. The score
# is their product, and the sliders say how much each reason counts. Try it: set *Growth* to 2, or
# *Citations* to 0, and watch the ranks.
#
# The numbers in brackets beside a rank are the ranks that the region takes in 95% of resampled
# corpora. A region that is third, but between first and twelfth, is no firm third.

# %%
gaps = ReviewPanel(atlas, weights={"volume": 1.0, "growth": 0.5})
gaps

# %% [markdown]
# Below its table the panel lists, for a region that you choose, papers to begin a review with: the
# most typical of those that wait for one.
#
# ## The same from code
#
# What is shown is a data frame with every reason in a column of its own.

# %%
gaps.wait()
reasons = ["volume", "growth", "citations", "years_without", "disagreement"]
gaps.table[["rank", "rank_low", "rank_high", "label", "score", "need", *reasons]].head()

# %%
for title in gaps.table["exemplars"].iloc[0]:
    print("-", title)

# %% [markdown]
# ## For print
#
# One page with both: the density of reviews against that of papers as a map, and the ranked gaps
# beside it.

# %%
page = ls.figures.reviews(atlas)
page

# %%
ls.figures.save_figure(page, folder / "reviews.pdf")
gaps.save(folder / "gaps.csv")
gaps.save(folder / "gaps.html")
sorted(path.name for path in folder.iterdir())

# %% [markdown]
# ## How far to trust it
#
# - Reviews outside the corpus are not seen. Two years of papers say little about *years without*.
# - Reviews are recognised with some error; `landscape build --known-reviews FILE` adds those that
#   you know of.
