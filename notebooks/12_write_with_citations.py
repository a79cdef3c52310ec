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
# # Write with citations: what to cite, a paragraph, and a check of the draft
#
# While you write: which papers belong behind this sentence, and what do they say? Afterwards: do
# the papers that you cite say what you have them say? This follows SciLit (Gu & Hahnloser 2023,
# [arXiv:2306.03535](https://arxiv.org/abs/2306.03535)).
#
# It runs without a network and without a key. The first cell opens the
# atlas that you gave to `landscape lab`, or else the demo atlas, whose papers
# are *generated*: nothing about them is a result, so never cite them.

# %%
import tempfile
from pathlib import Path

import landscape as ls
from landscape.agents import AtlasCollection, as_latex
from landscape.widgets import WritingPanel

atlas = ls.open_demo()
folder = Path(tempfile.mkdtemp(prefix="writing-"))  # where this notebook writes its files

# %% [markdown]
# ## The panel
#
# Paste the text before the citation; its last sentence, finished or not, counts most. *Keywords*
# narrow the papers down, in the same syntax as search: `dust; 2005..; -author:Hubble`.
#
# Below each paper are its **highlights**: the sentences of its abstract that matter most here,
# word for word. A sentence that cites it needs a language model, and is shown only if the paper
# supports it. Tick papers, and put them into a paragraph of related work.

# %%
context = (
    "Massive stars live fast. Before they explode, they lose much of their mass in winds that are "
    "driven by"
)
panel = WritingPanel(atlas, context=context)
panel

# %%
panel.cite(k=5)
panel.wait(300)
panel.selection[["title", "year", "highlights"]]

# %% [markdown]
# ## Keywords narrow it down
#
# From code, `atlas.cite` does the same.

# %%
found = atlas.cite(context, "winds; 2005..", k=3)
print(found.to_text())

# %% [markdown]
# ## A paragraph of related work
#
# From the papers you chose. Without a language model, it quotes the sentence of each that matters
# most: material to write from, not a text of yours. With one, it is written, every sentence is
# checked against its papers, and marked where they do not support it.

# %%
panel.choose([paper.paper_id for paper in panel.value.papers[:3]])
panel.write("How massive stars lose their mass")
panel.wait(300)
panel.paragraph

# %% [markdown]
# For the manuscript, with keys that fit the bibliography:

# %%
print(as_latex(panel.paragraph))
print(panel.paragraph.results.to_bibtex()[:500])

# %% [markdown]
# ## Check a draft
#
# For every `\cite`: does the paper say what the sentence says? Here is a small draft with a right
# citation, a wrong one, and a sentence that seems to lack one.

# %%
bibliography, draft = folder / "references.bib", folder / "draft.tex"
bibliography.write_text(panel.value.to_bibtex())
keys = panel.value.citation_keys
draft.write_text(
    rf"""\begin{{document}}
The winds of massive stars are driven by radiation pressure on spectral lines \citep{{{keys[0]}}}.
Cheese ripens in caves \citep{{{keys[1]}}}.
It has been shown that comets are active far from the Sun.
\end{{document}}"""
)
panel.check(bibliography, draft)
panel.wait(300)
panel.draft_check.table[["line", "verdict", "sentence", "evidence"]]

# %% [markdown]
# Without a language model the verdict is *near* or *far*, by likeness alone: near does not mean
# supported. With one it is *supported*, *unclear* or *contradicted*, with the sentence. In a
# terminal: `landscape check my.atlas references.bib draft.tex`.

# %%
print(panel.draft_check.to_text())

# %% [markdown]
# ## Several corpora side by side
#
# An *atlas collection* holds more than one atlas, such as your own library beside all of
# astro-ph. Each is switched on and off by itself, and papers that are in both appear once. In the
# panel: `WritingPanel(atlas, desk=desk)`.

# %%
desk = AtlasCollection().add(atlas, "all of it").add(atlas, "my library").switch_off("my library")
print(desk.table[["name", "on", "papers"]])
[one.corpus for one in desk.cite(context, k=3).suggestions]
