"""The outreach map has the names of the atlas."""

from __future__ import annotations

from landscape.outreach import make_terrain
from landscape.outreach._places import find_places
from landscape.store import AtlasStore as Atlas


def test_lands_have_the_names_of_the_regions(demo_atlas: Atlas) -> None:
    places = find_places(demo_atlas, make_terrain(demo_atlas, size=(300, 200)))
    lands = [one for one in places if one.kind in ("continent", "region")]
    labels = demo_atlas.topics.set_index("topic_id")["label"]
    assert len(lands) > 5
    assert all(one.called({}) == labels[int(one.key)] for one in lands)
