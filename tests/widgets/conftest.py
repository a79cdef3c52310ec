"""Fixtures for the tests of the map explorer."""

from __future__ import annotations

import pytest

from landscape import Atlas
from landscape.widgets import MapExplorer
from tests.timing import time_limit


@pytest.fixture(scope="module")
def opened(demo_atlas: Atlas) -> MapExplorer:
    return MapExplorer(demo_atlas)


@pytest.fixture
def explorer(opened: MapExplorer) -> MapExplorer:
    """One explorer for all tests of a file, reset before each test."""
    opened.stop()
    opened.clear()
    opened.time = opened.concept = opened.facility = opened.region = None
    opened.layers, opened.colour_by, opened.theme = ("names", "papers"), "region", "auto"
    opened.home().say("")
    opened.map.given = {}
    opened.map.outcome = ""
    assert opened.wait(time_limit(60))
    assert opened.code == "MapExplorer(atlas)"
    return opened
