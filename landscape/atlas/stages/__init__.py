"""The stages of a build, one module each, in the order in which data flows."""
