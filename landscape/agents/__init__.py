"""Scholars on top of the query engine: survey, attribute, cite, check."""
