"""Everyday names from a table and from a language model, and refused names."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.errors import InputError
from landscape.llm import connect
from landscape.outreach import Terrain
from landscape.outreach._places import find_waters, shared_idea
from landscape.outreach.names import LANGUAGES, ask_names, read_names, tidy_name, wording
from tests.servers.openai_server import OpenAIServer, failing

KNOWN = {"3": "Dark matter halos", "12": "Pulsars", "3|12": "Strait of A and B"}
PLACES = [{"key": key, "name": name, "keywords": ["a word"]} for key, name in KNOWN.items()]


@pytest.mark.parametrize(
    "table",
    [
        "region,name\ndark matter halos,Scaffolding\n",
        "topic_id,name\n3,Scaffolding\n",
        "\ufeffplace,kind,name,technical_name\n3,region,Scaffolding,Dark matter halos\n",
        "Topic_ID,phrase\n3,  Scaffolding \n",
    ],
)
def test_a_table_by_hand(tmp_path: Path, table: str) -> None:
    file = tmp_path / "names.csv"
    file.write_text(table, encoding="utf-8")
    assert read_names(file, KNOWN) == ({"3": "Scaffolding"}, [])


def test_a_column_for_a_language(tmp_path: Path) -> None:
    file = tmp_path / "names.csv"
    file.write_text("region,name,name_ar\nPulsars,Lighthouses,منارات\n", encoding="utf-8")
    assert read_names(file, KNOWN, language="ar")[0] == {"12": "منارات"}
    assert read_names(file, KNOWN, language="de")[0] == {"12": "Lighthouses"}


def test_rows_that_fit_nothing_are_told(tmp_path: Path) -> None:
    file = tmp_path / "names.csv"
    file.write_text("region,name\nUnicorns,Horses\nPulsars,Lighthouses\n")
    names, problems = read_names(file, KNOWN)
    assert names == {"12": "Lighthouses"}
    assert "1 of 2 rows" in problems[0]
    assert "Unicorns" in problems[0]


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"a,b\n1,2\n", "needs a column"), (b"", "nothing"), (b"\xff\xfe\x00x", "UTF-8")],
)
def test_what_is_no_table_of_names(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "names.csv"
    file.write_bytes(content)
    with pytest.raises(InputError, match=said):
        read_names(file, KNOWN)
    with pytest.raises(InputError, match="no table of names at"):
        read_names(tmp_path / "absent.csv", KNOWN)


def test_a_language_model_names_what_it_can(server: OpenAIServer) -> None:
    rows = [
        {"id": "3", "phrase": "Invisible scaffolding"},
        {"id": "12", "phrase": "<b>Lighthouses</b>"},
        {"id": "99", "phrase": "Nowhere"},
        {"id": "3|12", "phrase": "invisible SCAFFOLDINGS"},
    ]
    server.reply = lambda _: json.dumps({"names": rows})
    told: list[str] = []
    assert ask_names(connect(), PLACES, note=told.append) == {"3": "Invisible scaffolding"}
    assert "1 of 3 places" in told[0]
    asked = json.dumps(server.requests[0].body)
    assert "Dark matter halos" in asked


def test_a_silent_language_model_leaves_technical_names(server: OpenAIServer) -> None:
    server.always = failing(400)
    told: list[str] = []
    assert ask_names(connect(retries=0), PLACES, note=told.append) == {}
    assert "the technical names are used" in told[0]


def test_odd_characters_of_names() -> None:
    assert tidy_name("a\u202eb\x1b[2J\n c") == "ab[2J c"
    assert tidy_name("क्\u200dष") == "क्\u200dष"
    assert len(tidy_name("x" * 300)) == 80


def channel() -> Terrain:
    """Two shores with a channel between them, and open water to their left."""
    ground = np.full((60, 90), 0.5, dtype=np.float32)
    ground[:, 40:46] = -0.5
    ground[:, :8] = -0.5
    return Terrain(ground, ground, (0.0, 9.0, 0.0, 6.0), n_papers=10)


def test_water_between_two_fields_is_found_and_open_water_is_not() -> None:
    x, y = np.array([2.0, 2.5, 7.0, 7.5]), np.array([1.0, 5.0, 1.0, 5.0])
    waters = find_waters(channel(), x, y, np.array([4, 4, 9, 9]))
    assert [water.shores for water in waters] == [(4, 9)]
    assert np.allclose(waters[0].x, 4.3, atol=0.2)
    assert waters[0].width == pytest.approx(0.6, abs=0.15)
    assert find_waters(channel(), x, y, np.array([4, 4, 4, 4])) == []
    assert find_waters(channel(), x, y, np.full(4, -1)) == []


def test_a_water_is_named_by_an_idea_that_both_shores_share() -> None:
    first = [["dust", "stars", "HST"]] * 8 + [["jets", "stars", "HST"], None]
    second = [["jets", "stars", "HST"]] * 6 + [["wind", "stars", "HST"]] * 4
    assert shared_idea(first, second) == ("stars", (1.0, 1.0))
    other = shared_idea(first, second, avoid=["Stars"])
    assert other is not None
    assert other[0] == "jets"


def test_two_waters_do_not_differ_only_in_the_plural() -> None:
    shore = [["magnetic field", "dust"]] * 9 + [["magnetic fields"]] * 9
    assert shared_idea(shore, shore) == ("magnetic fields", (1.0, 1.0))
    other = shared_idea(shore, shore, avoid=["Magnetic fields"])
    assert other == ("dust", (0.5, 0.5))
    other = shared_idea(shore, shore, avoid=["Turbulence and magnetic fields"])
    assert other == ("dust", (0.5, 0.5))


def test_a_water_has_the_plural_if_it_is_common() -> None:
    often = [["atmosphere"]] * 7 + [["atmospheres"]] * 3
    assert shared_idea(often, often) == ("atmospheres", (1.0, 1.0))
    assert shared_idea(often, often, subjects=["dust"]) is None
    assert shared_idea(often, often, subjects=["atmosphere"]) == ("atmospheres", (1.0, 1.0))
    rarely = [["accretion"]] * 19 + [["accretions"]]
    assert shared_idea(rarely, rarely) == ("accretion", (1.0, 1.0))


def test_a_word_that_describes_others_names_no_water() -> None:
    shore = [["radio", "radio emission", "dust", "dust grains", "cosmic dust"]] * 9
    assert shared_idea(shore, shore, avoid=["Radio emission", "Cosmic dust", "Dust grains"]) == (
        "dust",
        (1.0, 1.0),
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_legend_of_mountains_counts_papers_only(language: str) -> None:
    first, *_ = re.split("[.。।]", wording(language).mountains)
    assert not re.search("[,،，]", first), "mountains are many papers, not much knowledge"


@pytest.mark.parametrize("word", ["results", "HST", "X-ray 2", "stellar masses", "gas"])
def test_facilities_numbers_and_measures_name_no_water(word: str) -> None:
    assert shared_idea([[word]] * 9, [[word]] * 9) is None


def test_shores_that_share_no_idea_leave_the_water_without_a_name() -> None:
    assert shared_idea([["dust"]] * 97 + [["winds"]] * 3, [["winds"]] * 100) is None
    assert shared_idea([None], []) is None
