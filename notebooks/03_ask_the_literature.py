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
# # Ask the literature: every step of an answer
#
# Ask an atlas a question, and much happens before the answer appears: the question is
# understood, papers are found and put in order, sentences are chosen, and what is said is checked
# against them. This notebook takes one step in each cell, so that you can look at what goes in and
# what comes out. At its end is a panel that does all of it at once.
#
# It runs without a network and without a key. The first cell opens the
# atlas that you gave to `landscape lab`, or else the demo atlas, whose papers
# are *generated*: nothing about them is a result, so never cite them.
#
# **With a language model**, answers are written instead of quoted. Before you start, set the
# environment variables `OPENAI_API_KEY` (for OpenAI), or `OPENAI_BASE_URL` and
# `LANDSCAPE_LLM_MODEL` (for a server of your own, such as Ollama); or connect one in the panel
# below.

# %%
import landscape as ls
from landscape.llm import connect_from_environment

atlas = ls.open_demo()
model = connect_from_environment()  # None where the environment names no language model
question = (
    "Is there a consensus that binary interaction is the rule in the evolution of massive stars?"
)
print(f"{len(atlas):,} papers;", f"answers by {model.model}" if model else "answers are quoted")

# %% [markdown]
# ## 1. What kind of question is it?
#
# A question for one number wants few papers, a question of consensus wants many. The kind of the
# question decides how it is searched for and answered, after table 1 of Iyer et al. (2024,
# [arXiv:2408.01556](https://arxiv.org/abs/2408.01556)). These are the `auto` settings of the
# panel.

# %%
from landscape.answers import classify, preset_for

kind = classify(question, model=model)
print(kind)
preset_for(kind)

# %% [markdown]
# ## 2. Which names does it hold?
#
# Names of objects, telescopes, surveys and people count more than other words: papers that have
# them can be lifted in step 5. You may add names of your own.

# %%
from landscape.search import find_entities

keywords = [entity.text for entity in find_entities(question)]
keywords

# %% [markdown]
# ## 3. Find papers
#
# Papers are found in two ways. By *words*, a paper has to use yours. By *meaning*, it has to lie
# near the question among the embeddings, whatever its words. Usually both are added up ("hybrid").
# The table shows the first papers of each.

# %%
import pandas as pd

methods = {
    method: atlas.search(question, k=5, method=method, rerank=False)
    for method in ("words", "semantic", "hybrid")
}
pd.DataFrame({name: [paper.title for paper in found.papers] for name, found in methods.items()})

# %% [markdown]
# ## 4. Rerank
#
# The first hundred papers are then compared with the question word by word, which is slower and
# more exact. `moved` says how many places a paper rose.

# %%
before = atlas.search(question, k=30, rerank=False)
after = atlas.search(question, k=10)
places = {paper.paper_id: place for place, paper in enumerate(before.papers, start=1)}
moved = [places.get(hit.paper.paper_id, 31) - hit.rank for hit in after.hits]
after.table[["rank", "title", "year", "cites", "score"]].assign(moved=moved)

# %% [markdown]
# ## 5. Weigh
#
# Weights lift papers that name the question's keywords, that are recent, or that are much cited.
# Each strength goes from 0 (off) to 1. A weight puts neighbours into another order; it never
# buries a paper that answers the question.

# %%
weights = {"keyword": 0.5, "time": 0.5, "citation": 0.5}
results = atlas.search(question, k=20, weights=weights, keywords=("Wolf-Rayet",))
labels = [paper.label for paper in results.papers]
pd.DataFrame([hit.parts for hit in results.hits], index=labels).head()

# %% [markdown]
# ## 6. Which papers are outliers?
#
# Some papers are found for a single word and are about something else. A paper is marked as an
# outlier if it is further from the centre of the others than neighbours in this corpus usually
# do, measured among the embeddings and not on the map. The map shows where the papers are.

# %%
print([hit.paper.title for hit in results.hits if hit.outlier] or "No paper lies apart.")
ls.figures.query_map(atlas, results)

# %% [markdown]
# ## 7. Find the evidence
#
# Every sentence of the papers found is compared with the question, by its words and by its
# meaning. The best of them are what an answer rests on, each with its place in the abstract.

# %%
from landscape.search import sentences_of

sentences = [sentence for paper in results.papers for sentence in sentences_of(paper)]
nearness = atlas.engine.nearness(question, [sentence.text for sentence in sentences])
evidence = pd.DataFrame(sentences).assign(nearness=nearness)
evidence.drop(columns="paper_id").sort_values("nearness", ascending=False).head()

# %% [markdown]
# ## 8. Answer
#
# `atlas.ask` takes all the steps. Click a sentence of the answer to see what it rests on. With a
# language model, each of its sentences is checked against the papers: *supported*, *contradicted*
# or *not found*. If nothing in the atlas is near enough to the question, the answer says so.

# %%
answer = atlas.ask(question, model=model, keywords=("Wolf-Rayet",))
answer

# %% [markdown]
# ## 9. Do the papers agree?
#
# For questions of consensus, a language model judges what each paper says to the statement behind
# the question. A stance counts only with a sentence of the paper that shows it.

# %%
if answer.consensus is None:
    stances = pd.DataFrame()
    print("How far the papers agree needs a language model; connect one, and run this again.")
else:
    stances = pd.DataFrame(answer.consensus.stances).reindex(columns=["label", "position"])
    print(f"{answer.consensus.level} with: {answer.consensus.statement}")
stances

# %% [markdown]
# ## 10. Take it with you
#
# `answer.settings` holds every setting that was used, whoever chose it, so that asking again gives
# the same. Papers are exported as BibTeX, RIS, AASTeX or a table; the answer as Markdown or JSON.

# %%
again = atlas.ask(answer.question, model=model, **answer.settings)
print("The same papers again:", again.papers == answer.papers)
print(answer.results.to_bibtex()[:600])

# %% [markdown]
# ## All at once: the panel
#
# Type a question and press **Enter**. Under *Settings*, whatever you leave on *auto* follows the
# kind of the question. *Language model* connects one and tests the connection; a key that you type
# there is not saved in this notebook. *Save* holds a notebook that asks the same question again.
#
# From code: `panel.ask("...", k=20)`, `panel.wait()`, `panel.value`, `panel.selection`.

# %%
from landscape.widgets import AskPanel

panel = AskPanel(atlas, question=question)
panel
