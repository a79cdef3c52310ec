"""Measured values of a quantity with their errors, by method and year.

Run: python examples/values.py [ATLAS] [FILE] [QUANTITY]
"""

import sys

import landscape as ls

atlas = ls.open(sys.argv[1] if len(sys.argv) > 1 else "demo.atlas")
path = sys.argv[2] if len(sys.argv) > 2 else "values.png"
quantity = sys.argv[3] if len(sys.argv) > 3 else "age"
ls.figures.save_figure(ls.figures.values(atlas, quantity=quantity), path)
