"""Reviews: which papers are, where the literature has them, and where one would help."""
