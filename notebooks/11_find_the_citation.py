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
# # Find the citation: which paper does this sentence mean?
#
# You remember a result and not the paper. Or a draft says "it was shown that ... [?]", and nobody
# knows by whom. Write `[CITATION]` where the paper would be cited, and `atlas.attribute` looks for
# the one paper that is meant, after CiteAgent (Press et al. 2024,
# [arXiv:2407.12861](https://arxiv.org/abs/2407.12861)).
#
# It runs without a network and without a key. The first cell opens the
# atlas that you gave to `landscape lab`, or else the demo atlas, whose papers
# are *generated*: nothing about them is a result, so never cite them.

# %%
import landscape as ls
from landscape.widgets import CitationPanel

atlas = ls.open_demo()
atlas

# %% [markdown]
# ## An excerpt to try
#
# To see whether it works, one has to know the answer. This takes a telling sentence from some
# paper of the atlas, as another paper would repeat it.

# %%
from landscape.search import sentences_of

paper = atlas.engine.papers([7])[0]
sentence = max((one.text for one in sentences_of(paper)), key=len).rstrip(".")
excerpt = f"Much is known by now. {sentence} [CITATION]. More work is needed."
print(excerpt, "\n\nIt is from:", paper.title)

# %% [markdown]
# ## The panel
#
# Below the box is what is *sought by*: the part of the sentence that the mark refers to. Other
# citations, such as (Rubin 1980) or `\citep{key}`, are left out. **It is from** names the paper
# that your excerpt is from: it is never the answer, nor is anything newer. **Until** does the same
# by a date.

# %%
panel = CitationPanel(atlas, excerpt=excerpt)
panel

# %%
panel.find()
panel.wait(300)
panel.value.table[["selected", "title", "year", "score", "reason"]]

# %% [markdown]
# ## It may say that it does not know
#
# Where no paper is clearly the best, none is selected: the best guesses are shown instead.
# A wrong citation is worse than none.

# %%
unknown = atlas.attribute(
    "Statins lower mortality in a trial of four thousand patients [CITATION]."
)
print("Abstained:", unknown.abstained)
unknown.notes

# %% [markdown]
# ## How it was found
#
# Every step is there to be checked. Without a language model these are searches, and what the best
# candidates cite together is lifted. With one, it is what the model searched for, read and thought.

# %%
for step in panel.value.trace:
    print(step.action, "->", step.observation)

# %% [markdown]
# ## Several marks in one passage
#
# `mark=2` means the second one. Here each refers to another part of the sentence.

# %%
two = "Winds of O stars are clumped [CITATION], and dust forms in supernovae [CITATION]."
for mark in (1, 2):
    found = atlas.attribute(two, mark=mark)
    print(f"{mark}: {found.clause!r}: {found.papers[0].title}")

# %% [markdown]
# ## Take it with you
#
# The papers that are ticked, or else the one selected, as BibTeX; the panel also has links.

# %%
print(panel.value.to_bibtex() or "No paper was selected.")
