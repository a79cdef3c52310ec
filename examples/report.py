"""One page on a facility, ready for a proposal's appendix.

Run: python examples/report.py [ATLAS] [FILE]
"""

import sys

import landscape as ls

atlas = ls.open(sys.argv[1] if len(sys.argv) > 1 else "demo.atlas")
path = sys.argv[2] if len(sys.argv) > 2 else "report.png"
ls.figures.report(atlas, "ALMA", path)
