"""The attributor: which one paper an excerpt cites."""
