"""Search the papers of an atlas."""
