"""Several facilities as small multiples, with their impact.

Run: python examples/impact_facilities.py [ATLAS] [FILE]
"""

import sys

import landscape as ls

atlas = ls.open(sys.argv[1] if len(sys.argv) > 1 else "demo.atlas")
path = sys.argv[2] if len(sys.argv) > 2 else "impact_facilities.png"
figure = ls.figures.impact(atlas, facilities=["HST", "ALMA", "Gaia", "Chandra"], multiples=True)
ls.figures.save_figure(figure, path)
