"""Answer questions from the papers of an atlas."""
