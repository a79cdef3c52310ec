"""Descriptions of regions."""

from __future__ import annotations

import numpy as np
import pytest

from landscape.answers import describe_regions
from landscape.errors import InputError


def test_every_region_has_a_description(demo_atlas) -> None:
    found = describe_regions(demo_atlas)
    topics = demo_atlas.topics.set_index("topic_id")
    assert set(found.table["topic_id"]) == set(topics.index)
    for row in found.table.itertuples():
        assert row.papers == topics.n_papers[row.topic_id]
        assert row.first_year <= row.last_year
        assert row.typical
        assert row.newest


def test_sentences_are_quoted_from_papers_of_the_region(demo_atlas) -> None:
    papers = demo_atlas.read_papers(["abstract"])
    table = describe_regions(demo_atlas).table
    for one in table[table["level"] == 1].itertuples():
        inside = np.flatnonzero(demo_atlas.map["topic_id"] == one.topic_id)
        texts = papers["abstract"].iloc[inside]
        assert 1 <= len(one.sentences) <= 2
        for sentence in one.sentences:
            quoted = sentence[1 : sentence.index("”")]
            assert texts.str.contains(quoted, regex=False).any()


def test_a_region_is_found_by_its_name_and_by_its_number(demo_atlas) -> None:
    topic = demo_atlas.topics[demo_atlas.topics["level"] == 1].iloc[0]
    by_name = describe_regions(demo_atlas, topic["label"].upper())
    by_number = describe_regions(demo_atlas, int(topic["topic_id"]))
    assert by_name.to_text() == by_number.to_text()
    assert by_name.caption.startswith(f"{topic['label']}: {topic['n_papers']} papers, ")
    assert by_name.table["sentences"][0][0] in by_name.caption


def test_an_unknown_region_is_refused(demo_atlas) -> None:
    with pytest.raises(InputError, match="no region 'Cheese'"):
        describe_regions(demo_atlas, "Cheese")


def test_a_model_writes_a_checked_paragraph(demo_atlas, model, server) -> None:
    with pytest.raises(InputError, match="one region"):
        describe_regions(demo_atlas, model=model)
    name = demo_atlas.topics["label"].iloc[-1]
    found = describe_regions(demo_atlas, name, model=model)
    assert found.table["paragraph"][0] in found.caption
    assert found.warnings
