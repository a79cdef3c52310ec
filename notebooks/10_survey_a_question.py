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
# # Survey a question: search, select, follow citations, and again
#
# One search finds what uses your words. A scholar does more: they try other words, look into what
# the good papers cite and who cites them, drop what does not belong, and go on until nothing new
# turns up. `atlas.survey` works like that, after PaSa (He et al. 2025,
# [arXiv:2501.10120](https://arxiv.org/abs/2501.10120)).
#
# It runs without a network and without a key. The first cell opens the
# atlas that you gave to `landscape lab`, or else the demo atlas, whose papers
# are *generated*: nothing about them is a result. They cite each other, so
# that there are citations to follow.

# %%
import tempfile
from pathlib import Path

import landscape as ls
from landscape.widgets import SurveyPanel

atlas = ls.open_demo()
folder = Path(tempfile.mkdtemp(prefix="survey-"))  # where this notebook writes its files
atlas.citations.note or f"{atlas.citations.n_links:,} citations between papers"

# %% [markdown]
# ## The panel
#
# Type a question and press **Enter**. While it works, you see each step and how many papers were
# found so far. **Stop** keeps what was found: the survey is then marked *partial*, and **Go on from
# here** takes it to its end.
#
# *Settings* decide how far it goes: *Depth* 1 only searches, 2 also follows the citations of what
# it found, 3 once more. *Before* leaves out newer papers, and *More like* begins from papers that
# you know.

# %%
question = "How do stellar winds change the evolution of massive stars?"
panel = SurveyPanel(atlas, question=question)
panel

# %% [markdown]
# The same from code: `survey` begins, `wait` waits, and `value` is what came out. Under *Papers*
# each paper has a decision, how likely it belongs, a reason, and how it was found. Tick some, and
# `panel.selection` holds them as a table; its score is 1 for papers as likely as the best ten.

# %%
panel.survey()
panel.wait(300)
panel.selection[["title", "year", "score", "reason"]].head()

# %% [markdown]
# ## Who led to whom
#
# From left to right: the question, the searches, and the papers that each led to first. Filled
# dots were selected, open ones were judged and left out.

# %%
survey = panel.value
ls.figures.survey_tree(survey, most=40)

# %% [markdown]
# On the map, lines join a paper to what it led to. A survey that stays in one corner of the map may
# have missed another community that works on the same.

# %%
ls.figures.survey_map(atlas, survey)

# %% [markdown]
# ## Is it worth it? One search beside a survey
#
# A plain search for as many papers finds part of them. What only the survey found came by other
# words or by citations.

# %%
searched = {paper.paper_id for paper in atlas.search(question, k=max(len(survey), 1)).papers}
only_here = survey.table.query("selected and paper_id not in @searched")
print(f"{len(only_here)} of {len(survey)} papers were not among the first {len(searched)} searched")
only_here[["title", "year", "how", "score"]].head(10)

# %% [markdown]
# ## What the atlas has not
#
# Papers that several of the selected ones cite, and that are not in the atlas: reading, or the next
# ones to add to it.

# %%
[(one.paper_id, int(one.score)) for one in survey.beyond][:10]

# %% [markdown]
# ## More like these, and only older ones
#
# Begin from papers you know, and look no later than a date: what could somebody have read then?

# %%
seeds = [paper.paper_id for paper in survey.papers[:2]]
older = atlas.survey(question, depth=2, papers=40, seeds=seeds, before="2015")
older.table[["title", "year", "selected", "score"]].head()

# %% [markdown]
# ## Into files
#
# The table holds every paper that was judged, also those left out; BibTeX the selected ones.

# %%
panel.save(folder / "survey.csv")
panel.save(folder / "survey.bib")
ls.figures.save_figure(ls.figures.survey_tree(survey), folder / "tree.pdf")
sorted(file.name for file in folder.iterdir())

# %% [markdown]
# ## With a language model
#
# Connected under *Language model*, it makes the searches, decides which citations are worth
# following, and judges every paper in a sentence. That costs: `calls`, `tokens` and `money` are
# budgets, and a survey that has spent one hands over what it has. What the model said is kept on
# this computer, so that going on asks nothing twice.
