"""The outreach map: a literature as terrain, true to the data."""
