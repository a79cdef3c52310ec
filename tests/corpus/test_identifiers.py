"""Identifiers in all spellings."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from landscape.corpus import parse_arxiv_id, parse_bibcode, parse_doi
from landscape.corpus.identifiers import arxiv_id_of_bibcode, arxiv_month, is_eprint_bibcode
from landscape.corpus.records import RawRecord, normalise


@pytest.mark.parametrize(
    ("text", "arxiv_id"),
    [
        ("2101.01542", "2101.01542"),
        ("arXiv:2101.01542v2", "2101.01542"),
        ("0704.0001v1", "0704.0001"),
        ("https://arxiv.org/abs/2101.01542v3", "2101.01542"),
        ("http://export.arxiv.org/pdf/2101.01542v3.pdf", "2101.01542"),
        ("10.48550/arXiv.2101.01542", "2101.01542"),
        ("https://doi.org/10.48550/arXiv.2101.01542", "2101.01542"),
        ("oai:arXiv.org:astro-ph/9301002", "astro-ph/9301002"),
        ("astro-ph/0703001v4", "astro-ph/0703001"),
        ("math.GT/0309136", "math/0309136"),
        ("2101.01542 [astro-ph.CO]", "2101.01542"),
        ("2113.01542", None),
        ("21.01542", None),
        ("astro-ph/0713001", None),
        ("10.1086/345794", None),
        ("2021A&A...645L..11A", None),
        ("", None),
        (2101.01542, None),
    ],
)
def test_arxiv_ids_fold_to_one_spelling(text: object, arxiv_id: str | None) -> None:
    assert parse_arxiv_id(text) == arxiv_id


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("10.1051/0004-6361/202039988", "10.1051/0004-6361/202039988"),
        ("https://doi.org/10.1103/PhysRevLett.70.2224", "10.1103/physrevlett.70.2224"),
        ("doi: 10.1086/345794.", "10.1086/345794"),
        ("10.1016/0927-6505(94)00043-3", "10.1016/0927-6505(94)00043-3"),
        ("10.1086/1 10.1086/2", "10.1086/1"),
        ("not a doi", None),
        ("10.12/x", None),
        (None, None),
    ],
)
def test_dois_fold_to_one_spelling(text: object, doi: str | None) -> None:
    assert parse_doi(text) == doi


@pytest.mark.parametrize(
    ("bibcode", "arxiv_id", "month"),
    [
        ("2021arXiv210101542A", "2101.01542", "2021-01-01"),
        ("2007arXiv0704.0001B", "0704.0001", "2007-04-01"),
        ("2001astro.ph..1234K", "astro-ph/0101234", "2001-01-01"),
        ("1999astro.ph.12345A", "astro-ph/9912345", "1999-12-01"),
        ("2001physics...2042S", "physics/0102042", "2001-02-01"),
    ],
)
def test_an_e_print_s_bibcode_holds_its_arxiv_id(bibcode: str, arxiv_id: str, month: str) -> None:
    assert parse_bibcode(bibcode) == bibcode
    assert arxiv_id_of_bibcode(bibcode) == arxiv_id
    assert is_eprint_bibcode(bibcode)
    assigned = arxiv_month(arxiv_id)
    assert assigned is not None
    assert assigned.date.isoformat() == month


@pytest.mark.parametrize("arxiv_id", ["9001.00001", "6512.00001", "astro-ph/9001001"])
def test_an_impossible_arxiv_month_is_unknown(arxiv_id: str) -> None:
    assert parse_arxiv_id(arxiv_id) == arxiv_id
    assert arxiv_month(arxiv_id) is None


def test_real_bibcodes_are_valid_and_their_pieces_are_not(real_data: Path) -> None:
    with (real_data / "ads" / "solr_docs.jsonl").open("rb") as stream:
        bibcodes = [orjson.loads(line).get("bibcode") for line in stream]
    real = [bibcode for bibcode in bibcodes if bibcode]
    known_odd = [bibcode for bibcode in real if parse_bibcode(bibcode) is None]
    assert len(real) > 100
    assert all(not b[4].isalpha() for b in known_odd), known_odd
    assert not any(parse_bibcode(bibcode[:18]) for bibcode in real)


def test_the_key_prefers_bibcode_then_arxiv_then_doi() -> None:
    names = {"bibcode": "2021A&A...645L..11A", "arxiv_id": "2101.01542", "doi": "10.1000/x"}
    chosen = []
    for missing in (None, "bibcode", "arxiv_id", "doi"):
        if missing:
            names[missing] = None  # type: ignore[assignment]  # one after another goes missing
        raw = RawRecord(1, {"title": "Dust", "abstract": "It cools.", **names})
        chosen.append(normalise(raw, file="a.jsonl", source="a")["paper_id"])  # type: ignore[index]  # a row
    assert chosen[:3] == ["2021A&A...645L..11A", "2101.01542", "10.1000/x"]
    assert chosen[3].startswith("sha256:")


@pytest.mark.parametrize("odd", ["\x00", "\x1b[2J", "\x85", "\u202e", "\u2066", "\ufeff", "\udc80"])
def test_identifiers_have_no_invisible_characters(odd: str) -> None:
    assert parse_doi(f"10.1051/0004{odd[:1]}-6361/2020") == "10.1051/0004-6361/2020"
    assert parse_doi("10.1051/0004%2D6361/20%E2%80%AE20").isprintable()
    assert parse_bibcode(f"2021A&A...645L{odd[:1]}..11A") == "2021A&A...645L..11A"
