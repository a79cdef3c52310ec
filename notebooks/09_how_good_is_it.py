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
# # How good is it?
#
# A map and a search are only worth what they get right. This notebook measures both on the atlas
# that is open, and says what the numbers do and do not show.
#
# The first cell opens the atlas that you gave to `landscape lab`, or else the
# demo atlas, whose papers are *generated*. **On the
# demo the numbers only show how to measure**: its papers are easier to separate than real ones.

# %%
import landscape as ls

atlas = ls.open_demo()

# %% [markdown]
# ## The map
#
# A paper's meaning is a point in 384 dimensions. Two dimensions cannot keep all of that, and these
# numbers, stored in every atlas and printed on every map, say how much they keep:
#
# - **kNN recall**: of the ten papers nearest to a paper in full dimension, the share that is among
#   the ten nearest on the map. On real corpora it is low: 1 in 10 is common. This is why search,
#   similar papers and tagging never use the map.
# - **trustworthiness** and **continuity**: whether neighbours on the map are similar papers, and
#   whether similar papers are neighbours on the map. 1 is perfect, 0.5 is chance.
# - **category**: whether neighbours predict a paper's category, in full dimension, on the map, and
#   by chance.
# - **peaks** that return when papers are resampled, and the **surroundings** that two runs share:
#   what would look different tomorrow.

# %%
from landscape.store.info import quality_lines

print("\n".join(quality_lines(atlas.quality)))

# %% [markdown]
# How to read a map, then: regions, and who lives in them, are real as far as these numbers say.
# Directions, sizes of gaps, and distances between far regions mean nothing.

# %%
ls.figures.heatmap(atlas)

# %% [markdown]
# ## The search
#
# To measure a search one needs questions whose answers are known. The next cell makes some from the
# papers themselves: the first key words of a paper are the question, and the paper is the answer.
# With `model=landscape.llm.connect()`, a language model writes the questions in other words.
# **Such questions are too easy, and they favour methods that compare words.** They show whether the
# search works at all, not how good it is for what people ask.

# %%
from pathlib import Path
from tempfile import mkdtemp

from landscape.evaluation import evaluate_retrieval, make_benchmark

made = make_benchmark(atlas, "questions", Path(mkdtemp()) / "questions.jsonl", n=40)
questions = made.path
for row in made.rows[:3]:
    print(row["question"])

# %% [markdown]
# `success@10` is the share of questions whose paper is among the first ten; `mrr` is 1 if it always
# comes first, ½ if second, and so on. In brackets is the interval that contains the true value with
# 95% probability: with few questions it is wide. *default* is what `atlas.search` does.

# %%
measured = evaluate_retrieval(atlas, questions)
print(measured.to_text())

# %% [markdown]
# ## Your own questions
#
# Better questions come from people. Write one line for each into a file, with the papers that
# answer it, and measure with it, here or in a terminal. The papers must be in the atlas.

# %%
import json
from pathlib import Path
from tempfile import mkdtemp

best = atlas.search("winds of massive stars", k=1).papers[0]
mine = Path(mkdtemp(prefix="landscape-")) / "questions.jsonl"
line = {
    "qid": "1",
    "question": "What drives the winds of massive stars?",
    "relevant": [best.paper_id],
}
mine.write_text(json.dumps(line) + "\n", encoding="utf-8")
print(f"landscape evaluate retrieval my.atlas --queries {mine.name}")
print(evaluate_retrieval(atlas, mine, tf_idf=False).counts)

# %% [markdown]
# Two rules keep such a benchmark honest: write the questions without looking at what the search
# finds, and never change a setting because of the same questions that you then report.
#
# On real papers, with questions written by people, Landscape's search was measured beside simpler
# methods; the table is in the README of the project. The answers of a language model are checked
# sentence by sentence against the papers, and marked where the papers do not support them: see
# [03: ask the literature](03_ask_the_literature.ipynb).
