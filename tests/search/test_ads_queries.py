"""ADS queries: parsing, positions of errors, proposals and links."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landscape._bibliography import ads_url
from landscape.errors import InputError, RemoteError
from landscape.search import parse_ads, propose_ads_query

GOOD = [
    'author:"^Huchra, J" abs:"dark energy" year:2010-2015',
    'pubdate:[2003-01 TO 2003-03] bibstem:ApJ -title:(dust OR "cold gas")',
    'citations(author:"huchra, john") AND references(bibcode:2003AJ....125..525J)',
    "topn(100, database:astronomy, citation_count desc)",
    'pos(author:"Oort, J",1,3) property:(refereed openaccess)',
    "similar(bibcode:2003AJ....125..525J)",
    'trending(abs:"exoplanets") OR useful(object:M31) NOT reviews(abs:M31)',
    'title:(map NEAR5 planar) abs:/magell.*/ author:"huchra, jo*"',
    '=author:"smith, j" orcid:0000-0001-2345-6789 aff:(harvard AND NOT mit)',
    'inst:"STScI" keyword:"galaxies^2" full:"dark matter"~5 body:galax*',
    'object:"05h23m34.6s -69d45m22s:0.1667" doi:10.1016/S0747-7171(88)80043-9',
    "arXiv:1108.0669 arxiv_class:astro-ph.CO citation_count:[100 TO *] read_count:10",
    'author:"^moore", year:2023 +abs:dust^2.5',
    "docs(library/0123abc) year:2015- doctype:(article OR eprint)",
]


@pytest.mark.parametrize("query", GOOD)
def test_good_queries_are_read(query: str) -> None:
    assert parse_ads(query).text == " ".join(query.split())


def test_clauses_and_operators_are_told() -> None:
    query = parse_ads('citations(author:(Rubin OR "Ford, W")) -year:[1970 TO *] dust')
    assert query.clauses == (
        ("author", "Rubin"),
        ("author", '"Ford, W"'),
        ("year", "[1970 TO *]"),
        ("", "dust"),
    )
    assert query.fields == ("author", "year")
    assert query.operators == ("citations",)


@pytest.mark.parametrize(
    ("query", "position", "problem"),
    [
        ("auther:Huchra", 1, "nearest is author"),
        ("abs:dust citation(author:x)", 10, "nearest is citations"),
        ("abs:(dust OR", None, "a term is missing"),
        ("abs:(dust", None, "still open"),
        ("abs:dust)", 9, "never opened"),
        ('abs:"dust', 5, "never closed"),
        ("abs:", None, "no value"),
        ("abs: AND x", 6, "no value"),
        ("year:soon", 6, "a year is written"),
        ("year:[2010 2015]", 6, "[2010 TO 2015]"),
        ("property:refered", 10, "nearest is refereed"),
        ("doctype:paper", 9, "no value 'paper'"),
        ("citation_count:many", 16, "whole number"),
        ("topn(abs:dust)", 1, "2 to 3 arguments"),
        ("topn(many, abs:dust)", 1, "starts with a number"),
        ("topn(10, abs:dust, nicest first)", 1, "order"),
        ('pos(author:"Oort, J", last)', 1, "ends with numbers"),
        ("AND dust", 1, "missing"),
        ("dust OR OR gas", 9, "missing"),
        ("()", 2, "missing"),
        ('title:""', 7, "are empty"),
        ("12:30", 3, "colon"),
    ],
)
def test_broken_queries_point_at_the_character(
    query: str, position: int | None, problem: str
) -> None:
    with pytest.raises(InputError) as caught:
        parse_ads(query)
    message = str(caught.value)
    assert problem in message
    assert ("its end" if position is None else f"character {position} ") in message


def test_empty_long_and_deep_queries_are_refused() -> None:
    for query in ("", "  \n", "a" * 20_001, "(" * 9_000 + "a" + ")" * 9_000):
        with pytest.raises(InputError):
            parse_ads(query)


PIECES = st.sampled_from(
    [
        "author:",
        "year:",
        "2010",
        "abs:(",
        "(",
        ")",
        '"',
        "citations(",
        "topn(",
        "10,",
        ", ",
        " AND ",
        " OR ",
        "NOT ",
        "-",
        "=",
        "^",
        "~",
        "[1 TO 2]",
        "NEAR5",
        "/a.*/",
        "dust",
        "\\",
        ":",
        "*",
        "é",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=50), st.lists(PIECES, max_size=20).map("".join)))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        query = parse_ads(text)
    except InputError:
        return
    assert parse_ads(query.text).operators == query.operators


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.text(max_size=60),
        st.lists(
            st.sampled_from(
                [
                    "papers",
                    "by",
                    "Rubin",
                    "O'Brien, J.",
                    "first author",
                    "citing",
                    "in ApJ",
                    '"',
                    "from 1999 to 2004",
                    "M31",
                    "refereed",
                    "(",
                    ":",
                    "\\",
                    "on dust",
                    "top 10",
                    "^",
                    "similar to",
                    "10.1086/592738",
                    "with 3-5 authors",
                    "Müller et al.",
                    "’s work",
                    "since",
                    "2010",
                    "Planck Collaboration",
                    "JWST",
                    "second author",
                    "=",
                    "[",
                    "-",
                ]
            ),
            max_size=12,
        ).map(" ".join),
    )
)
def test_whatever_is_proposed_can_be_read(question: str) -> None:
    query = propose_ads_query(question)
    if query:
        parse_ads(query)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How does dust form in supernovae?", "abs:(dust form supernovae)"),
        ("papers on N-body simulations, and simulations", "abs:(N-body simulations)"),
        ('What is "little red dots" (LRDs)?', "abs:(little red dots LRDs)"),
        ("", ""),
        ("???", ""),
        ("what is the", ""),
    ],
)
def test_proposals_without_a_model_have_the_words_of_the_request(
    question: str, expected: str
) -> None:
    assert propose_ads_query(question) == expected


def test_links_keep_the_order_of_results() -> None:
    assert "citation_count" in ads_url("abs:dust", order="citation_count desc")


def test_links_hold_the_query_whole() -> None:
    query = 'author:"Rubin, V" abs:(dust & "50%") #/?é'
    url = ads_url(query)
    assert url.startswith("https://ui.adsabs.harvard.edu/search/q=")
    assert unquote(url.split("/q=")[1].split("&sort=")[0]) == query
    assert not set(url) & set(' "<>#')


@pytest.fixture(scope="module")
def gold(real_data: Path) -> list[dict[str, str]]:
    path = real_data / "nl-to-ads" / "gold_examples.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"no examples of ADS queries at {path}")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def refused(query: str) -> bool:
    try:
        parse_ads(query)
    except InputError:
        return True
    return False


def test_real_queries_are_read(gold: list[dict[str, str]]) -> None:
    """4,533 of 4,557 queries are read; the others have bare colons or unbalanced brackets."""
    assert sum(refused(row["ads_query"]) for row in gold) <= 24


def test_real_queries_that_are_cut_off_are_refused(gold: list[dict[str, str]]) -> None:
    quoted = [row["ads_query"] for row in gold if row["ads_query"].endswith('"')][:300]
    assert all(refused(query[:-1]) for query in quoted)
    grouped = [row["ads_query"] for row in gold if row["ads_query"].endswith(")")][:300]
    assert all(refused(query[:-1]) for query in grouped)


class _Model:
    """A language model that proposes a fixed query, or fails."""

    model = "fixed"

    def __init__(self, query: str | None) -> None:
        self.query = query

    def complete_json(self, _system: str, user: str, _schema: object) -> dict[str, str]:
        assert json.loads(user)["request"] == "papers by Rubin"
        if self.query is None:
            raise RemoteError("The model failed.")
        return {"query": self.query}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('author:"^Rubin, V" abs:dust', 'author:"^Rubin, V" abs:dust'),
        ("auther:Rubin", "abs:(Rubin)"),
        ("abs:(dust", "abs:(Rubin)"),
        (None, "abs:(Rubin)"),
    ],
)
def test_a_model_proposes_and_the_words_are_the_fallback(query: str | None, expected: str) -> None:
    assert propose_ads_query("papers by Rubin", model=_Model(query)) == expected
