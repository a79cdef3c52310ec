"""Names in questions, and whether the papers found contain them."""

from __future__ import annotations

from landscape import Atlas
from landscape.search.sentences import absent_objects


def test_an_object_that_no_paper_names_is_found() -> None:
    texts = ["A survey of M 31 and its dust.", "Young stars of NGC 1333."]
    assert absent_objects("How do winds act in NGC 3603?", texts) == ("NGC 3603",)
    assert absent_objects("Is M31 like NGC1333?", texts) == ()
    assert absent_objects("Do winds matter?", texts) == ()


def test_a_search_and_an_answer_tell_of_it(demo_atlas: Atlas) -> None:
    asked = "Do winds of massive stars act in NGC 99999?"
    told = "None of the papers found names NGC 99999."
    assert demo_atlas.search(asked).coverage.notes[0] == told
    assert demo_atlas.ask(asked)._repr_html_().count(told) == 1
    assert told not in demo_atlas.search("Do winds of massive stars act?").coverage.notes
