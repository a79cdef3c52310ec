"""The two-dimensional map: projection, density, peaks, topic names and their quality."""
