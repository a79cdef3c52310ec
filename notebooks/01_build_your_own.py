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
# # Build an atlas of your own papers
#
# An atlas is made from files of papers. Landscape looks into each file and sees what it is: BibTeX,
# a table (`.csv`, `.parquet`), what ADS or arXiv send, or the pathfinder dataset. Any mix will do,
# and a paper that occurs twice is kept once.
#
# This notebook first builds a small atlas from two files, so that you see every step. Then it shows
# where to get papers from. It runs without a network: what would be downloaded is only downloaded
# if you say so.

# %%
from pathlib import Path
from tempfile import mkdtemp

import landscape as ls

atlas = ls.open_demo()
folder = Path(mkdtemp(prefix="landscape-"))
print(f"What this notebook writes goes to {folder}")

# %% [markdown]
# ## 1. Your own files
#
# A table needs a **title** and an **abstract**, and is better with a **date**, **authors** and
# identifiers (`bibcode`, `arxiv_id`, `doi`). To have something to read, the next cell writes two
# files with (generated) papers of the demo: a table, and a BibTeX file. Some papers are in both.

# %%
papers = atlas.papers.head(150)
table = papers[["title", "abstract", "date", "bibcode", "cites"]].copy()
table["authors"] = ["; ".join(names) for names in papers["authors"]]
table.to_csv(folder / "my-papers.csv", index=False)

found = atlas.search("winds of massive stars", k=20)
(folder / "library.bib").write_text(found.to_bibtex(), encoding="utf-8")
table.head(3)

# %% [markdown]
# Now build. For your own papers, put the names of your files here instead. `seed` makes the map the
# same whenever you build it.

# %%
mine = ls.build(
    [folder / "my-papers.csv", folder / "library.bib"],
    folder / "my.atlas",
    title="My papers",
    seed=1,
    say=print,
)
mine

# %% [markdown]
# The account always adds up: *read = kept + merged + rejected*. What was rejected is listed with
# its reason in `rejected.jsonl` in the atlas's folder.

# %%
account = mine.coverage
print(
    f"{account['read']} read = {account['papers']} kept + {account['merged']} merged"
    f" + {account['rejected']} rejected"
)

# %%
ls.figures.heatmap(mine)

# %% [markdown]
# Were you interrupted? Run the same `build` again: it goes on where it was. You have more papers?
# Add their file to the list and build again: only what is new is worked on. `layout="keep"` leaves
# the papers you know where they are on the map.
#
# Are you unhappy with a name on the map? Write a file `labels.csv` with lines `topic_id,label` into
# the atlas's folder. It survives every rebuild.

# %% [markdown]
# ### Keyphrases by pytextrank
#
# Landscape ranks phrases as pytextrank does, with rules in place of spaCy. `keywords="pytextrank"`
# (in a terminal: `--keywords pytextrank`) builds with spaCy and pytextrank themselves. That takes
# about twenty times as long. Compare the phrases of one paper before you choose.

# %%
from landscape.text import extract_keywords

first = mine.engine.papers([0])[0]
text = f"{first.title}. {first.abstract}"
for method in ("landscape", "pytextrank"):
    print(method, extract_keywords(text, limit=8, method=method))

# %% [markdown]
# ## 2. Papers from the network
#
# The next cells fetch papers **only if you set this to `True`**. Otherwise each says what it would
# do.

# %%
FETCH = False


def would(what, command):
    print(
        f"Nothing was fetched. With FETCH = True this would {what}."
        f" In a terminal it is:\n\n  {command}"
    )


# %% [markdown]
# ### An ADS query
#
# ADS wants a token, which is free: make one in your ADS account settings, and set it as the
# environment variable `ADS_API_TOKEN` before you start. The token is never stored in the atlas.

# %%
query = 'abs:"fast radio burst" year:2020-2026'

if FETCH:
    from landscape.corpus.fetch import fetch_ads

    print(fetch_ads(folder / "frb.jsonl", query=query, max_records=500, notify=print))
else:
    would(
        "ask ADS for up to 500 papers",
        f"landscape fetch ads --query '{query}' -o frb.jsonl --limit 500",
    )

# %% [markdown]
# ### A listing of arXiv
#
# arXiv needs no token. Its server gives about a thousand papers at a time, and asks for patience in
# between.

# %%
if FETCH:
    from landscape.corpus.fetch import fetch_arxiv

    print(fetch_arxiv(folder / "arxiv.jsonl", since="2026-01-01", max_records=1000, notify=print))
else:
    would(
        "fetch 1,000 papers of astro-ph since January 2026",
        "landscape fetch arxiv --from 2026-01-01 -o arxiv.jsonl --limit 1000",
    )

# %% [markdown]
# ### The pathfinder dataset
#
# More than 350,000 papers of astronomy with ready-made vectors and a map (Iyer et al. 2024). It is
# 4.5 GB, so even with `FETCH = True` this cell only prints the command; run it in a terminal, where
# it can take its time and goes on after an interruption.

# %%
print("landscape fetch pathfinder -o pathfinder")
print("landscape build pathfinder/*.parquet --out pathfinder.atlas")

# %% [markdown]
# What was fetched is built like any other file:

# %%
fetched = sorted(folder.glob("*.jsonl"))
if fetched:
    bigger = ls.build([folder / "my-papers.csv", *fetched], folder / "bigger.atlas", say=print)
    print(bigger)
else:
    print("No fetched files yet.")

# %% [markdown]
# ## 3. Work with it
#
# Open an atlas with `ls.open("my.atlas")` in any notebook; or start with `landscape lab my.atlas`,
# and the first cell of each of these notebooks opens it instead of the demo.
#
# Next: [02: explore the map](02_explore_the_map.ipynb)
