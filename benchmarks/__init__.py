"""Time and quality of each part, compared with common alternatives in the same run."""
