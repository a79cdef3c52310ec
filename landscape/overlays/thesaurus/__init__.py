"""The Unified Astronomy Thesaurus: its concepts, papers tagged with them, and what it lacks."""
