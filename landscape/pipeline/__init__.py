"""Build an atlas in stages. No other package writes an atlas."""
