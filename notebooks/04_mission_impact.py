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
# # The impact of a mission: a decadal-survey figure, from start to PDF
#
# A committee asks what a telescope did for astronomy. This notebook answers with a map, a table
# with intervals, a comparison, and a page to hand in.
#
# A paper counts as *using* a facility if its title or abstract names it, one of its instruments
# or one of its surveys. Papers that used it without saying so are missed, so every number is a
# lower bound, unless the atlas has full texts or the list of a librarian (below). Traps such as
# the Hubble constant or Kepler's laws are left out.
#
# The first cell opens the atlas that you gave to `landscape lab`, or else the demo atlas, whose
# papers are *generated*: nothing about them is a result.

# %%
import tempfile
from pathlib import Path

import landscape as ls
from landscape.widgets import ImpactPanel

atlas = ls.open_demo()
folder = Path(tempfile.mkdtemp(prefix="impact-"))  # where this notebook writes its files

# %% [markdown]
# ## Look around
#
# Each facility that the corpus mentions can be added by typing its name. Choose below what to show,
# and drag the two ends of *Years*. Everything is computed in the background: go on with the next
# cells meanwhile.
#
# The colour is the **share of the local literature**: of the papers around a place of the map, how
# many name the facility. Circles are regions; point at one to read its numbers.

# %%
panel = ImpactPanel(atlas, facilities=["HST", "ALMA", "Chandra"])
panel

# %% [markdown]
# Below the table are buttons that prepare a file, and the lines of code that do the same. The
# panel can be asked from code too. `wait()` waits until it is ready.

# %%
panel.wait()
print(panel.analysis.caption)
panel.table[["label", "papers", "region_papers", "share"]].head()

# %% [markdown]
# ## The table to defend
#
# On the day of the review somebody asks: *how sure is that?* Each number has its 95%
# interval, from resampling the papers, and what it is a share of.

# %%
ranked = ImpactPanel(atlas, facilities=["HST", "ALMA", "Chandra"], what="ranking")
ranked

# %% [markdown]
# ## Did anything change when it opened?
#
# Each row is a region of the map: the share of its papers that name the facility before its first
# light and since. This does not say that the facility was the cause, nor that the region grew.

# %%
ImpactPanel(atlas, facilities="ALMA", what="before_after")

# %% [markdown]
# ## Beside another facility
#
# Where does the first one weigh more than the others? Bars that cross zero show no difference.

# %%
ImpactPanel(atlas, facilities=["HST", "Chandra"], what="compare")

# %% [markdown]
# ## The figure for print
#
# On paper the same map has the regions where the facility weighs most beside it, and a caption with
# its denominators. Give years to keep to a period.

# %%
figure = ls.figures.impact(atlas, facilities="ALMA", title="ALMA in the demo corpus")
figure

# %% [markdown]
# ## The list of a librarian
#
# Many observatories keep a list of the papers that use their data. It knows papers that never
# name the telescope in the abstract. Give it to an atlas with `landscape update my.atlas
# --bibliography ALMA=alma.txt`, or as below. **The list here is generated**: most papers that use
# ALMA by their text, and some others. The atlas is copied first, so the one above stays as it is.
#
# The list decides in the years for which it is complete. The caption says for how many papers,
# and how often the text agrees. With full texts (`--full-text`), the text includes
# acknowledgements.

# %%
import shutil

copy = shutil.copytree(atlas.path, folder / "listed.atlas")
mentions = atlas.missions.query("facility == 'ALMA'")
used = mentions.query("role == 'science'")["paper_id"].unique()
named = mentions.query("role != 'science'")["paper_id"].unique()
silent = [key for key in atlas.papers["paper_id"][::97] if key not in set(mentions["paper_id"])]
entries = [key for n, key in enumerate(used) if n % 6] + list(named[::4]) + silent
(folder / "alma.txt").write_text("\n".join(entries))
listed = ls.update(copy, bibliography=f"ALMA[2000..2030]={folder / 'alma.txt'}")

# %%
both = ls.overlays.missions.impact(listed, ["ALMA"])
print(both.caption)
columns = ["facility", "papers", "list_papers", "text_papers", "both_papers", "list_recall"]
print(both.table[columns].to_string(index=False))
ls.figures.impact(listed, analysis=both, title="ALMA by its list and by the text")

# %% [markdown]
# For the librarian: papers that the list may lack, and papers that may not belong there, each
# with the sentence that decides.

# %%
candidates = ls.overlays.missions.bibliography(listed, "ALMA")
ls.figures.save_table(candidates, folder / "candidates.csv")
candidates.table.groupby("candidate").head(3)[["candidate", "certainty", "paper_id", "sentence"]]

# %% [markdown]
# ## Everything into files
#
# Names decide what is written: `.pdf`, `.png` and `.svg` for the figure, `.csv` and `.tex` for the
# table, `.html` for a page that works without a network. A figure comes with its numbers and a
# description for readers who cannot see it.

# %%
ls.figures.save_figure(figure, folder / "alma.pdf")
ranked.wait()
ranked.save(folder / "facilities.tex")
ranked.save(folder / "facilities.csv")
panel.save(folder / "share.html")
sorted(path.name for path in folder.iterdir())

# %% [markdown]
# ## One page for the appendix
#
# Key numbers, the map, the share in time, the regions where it works, papers to begin with, and how
# all of it was measured.

# %%
ls.figures.report(atlas, "ALMA", folder / "alma-report.pdf")
ImpactPanel(atlas, facilities="ALMA", what="report")

# %% [markdown]
# Before you submit it, read the text under the figure: which years the corpus covers, how many
# papers it holds, and what the warnings say. With your own papers (notebook 01), the first cell
# becomes `atlas = ls.open("my.atlas")`; nothing else changes.
