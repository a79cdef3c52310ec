"""The tree of a survey, and its papers on the map.

Run: python examples/survey.py [ATLAS] [FILE]
"""

import sys
from pathlib import Path

import landscape as ls

atlas = ls.open(sys.argv[1] if len(sys.argv) > 1 else "demo.atlas")
path = Path(sys.argv[2] if len(sys.argv) > 2 else "survey.png")
survey = atlas.survey("How does stellar feedback drive winds?", model=None)
ls.figures.save_figure(ls.figures.survey_tree(survey), path)
where = ls.figures.survey_map(atlas, survey)
ls.figures.save_figure(where, path.with_name(f"{path.stem}_map{path.suffix}"))
