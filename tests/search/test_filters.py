"""Filters: selected papers, printed form, and error messages."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.errors import InputError
from landscape.search import _filter_fields, parse_filter
from landscape.search._filter_fields import Columns, apply_filter, columns_needed
from landscape.search._filter_patterns import phrase_pattern
from landscape.search._filters import And, Not, Or, Term
from tests.timing import assert_cost, assert_growth

PAPERS = pd.DataFrame(
    {
        "title": [
            "Dark-matter haloes of spiral galaxies",
            "A review of type Ia supernovae",
            "Hα emission in NGC 2024",
            "Panel recommendations for peer review",
            "La poussière interstellaire",
        ],
        "abstract": [
            "We use ALMA. Dust cools the gas.",
            "Darkness matters; dusty nothing.",
            "Étoile and ETOILE at z~2 in [O III].",
            "No result in 2010.",
            "",
        ],
        "ads_keywords": [["Galaxies: kinematics"], [], None, ["sociology"], ["dust grains"]],
        "keywords": [["spiral galaxy"], None, [], [], []],
        "authors": [
            ["Rubin, Vera C.", "Ford, W. Kent"],
            ["Richard de Grijs", "M. Günther"],
            ["Müller, Ä.", "O’Brien, Jamie A."],
            ["Planck Collaboration", "John A. Smith, Jr."],
            None,
        ],
        "journal": ["ApJ, 977, 269", "Space Sci Rev 221", "Nature Astronomy 3", None, "A&A"],
        "bibcode": ["2024ApJ...977..269R", None, None, None, "2003A&A...412L..53Y"],
        "doi": ["10.1086/592738", None, "10.1016/S0747-7171(88)80043-9", None, None],
        "arxiv_id": [None, "2510.00753", "astro-ph/0703001", "2401.00001", None],
        "categories": [["astro-ph.GA"], ["astro-ph"], ["physics.ins", "astro-ph.SR"], [], None],
        "year": [2024, 1999, 2010, 2015, 2003],
        "cites": pd.array([50, None, 0, 3, 1000], dtype="Int32"),
        "doctype": ["article", None, None, "eprint", "inproceedings"],
    }
)


def rows(text: str, papers: pd.DataFrame = PAPERS) -> list[int]:
    return np.flatnonzero(apply_filter(parse_filter(text), papers)).tolist()


def refusal(text: str) -> str | None:
    try:
        parse_filter(text)
    except InputError as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [0, 1, 2, 3, 4]),
        ("dust", [0, 4]),  # whole words: not "dusty"
        ("DUST", [0, 4]),
        ("galaxy", [0]),  # singular and plural
        ("supernova", [1]),
        ("dark matter", [0]),  # bare words are a phrase, over hyphens too
        ('"dark matter halo"', [0]),
        ("poussiere", [4]),
        ("étoile", [2]),
        ("H-alpha", [2]),
        ('"Hα"', [2]),
        ("H alpha", [2]),
        ("alpha", []),
        ("2010", [2]),  # a year alone
        ('"2010"', [3]),  # a quoted number is a word
        ("NGC 2024", [2]),
        ("z~2", [2]),
        ('"[O III]"', [2]),
        ("supern*", [1]),
        ("title:dust", []),
        ("keyword:spiral*", [0]),
        ('keyword:"dust grain"', [4]),
        ("keyword:sociology", [3]),
        ("facility:alma", [0]),
        ("year:2010", [2]),
        ("2010..2010", [2]),
        ("1999..2010", [1, 2, 4]),
        ("2015..", [0, 3]),
        ("..2003", [1, 4]),
        ("year>=2015", [0, 3]),
        ("year<2003", [1]),
        ("citations>=50", [0, 4]),
        ("citations<50", [2, 3]),  # unknown counts never match
        ("citations=0", [2]),
        ("-citations>=50", [1, 2, 3]),  # but match the negation
        ("category:astro-ph", [0, 1, 2]),
        ("category:astro-ph.GA", [0]),
        ("category:ASTRO-PH.sr", [2]),
        ("category:physics*", [2]),
        ("journal:ApJ", [0]),
        ('journal:"The Astrophysical Journal"', [0]),
        ("journal:Nature", []),  # not Nature Astronomy
        ('journal:"Nature Astronomy"', [2]),
        ("journal:A&A", [4]),
        ('journal:"space science reviews"', [1]),
        ("bibcode:2024ApJ...977..269R", [0]),
        ("bibcode:2003A&A*", [4]),
        ("doi:10.1086/592738", [0]),
        ("doi:https", []),
        ("10.1016/s0747-7171(88)80043-9", [2]),
        ("arxiv:2510.00753", [1]),
        ('arxiv:"arXiv:2510.00753v2"', [1]),
        ("arxiv:astro-ph/0703001", [2]),
        ("refereed", [0, 1, 2]),
        ("review", [1]),
        ("dust;year:2024", [0]),
        ("dust|supernova;1999..2003", [1, 4]),  # "or" binds closer, as in SciLit
        ("dust;(2024..|title:La)", [0, 4]),
        ("-dust;-refereed", [3]),
        ("NOT (dust OR refereed)", [3]),
        ("citations>=50 -facility:ALMA", [4]),
        ("author:(Rubin|Grijs);-author:Ford", [1]),
    ],
)
def test_what_a_filter_lets_through(text: str, expected: list[int]) -> None:
    assert rows(text) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Rubin", [0]),
        ("rubin", [0]),
        ("Rubi", []),
        ("Rubi*", [0]),
        ("Vera", []),
        ("Rubin, V", [0]),
        ("Rubin, V.", [0]),
        ("Rubin, V. C.", [0]),
        ("Rubin, Vera", [0]),
        ("Rubin, Veronica", []),
        ("Rubin, V. D.", []),
        ("Vera Rubin", [0]),
        ("V. C. Rubin", [0]),
        ("^Rubin", [0]),
        ("^Ford", []),
        ("Ford", [0]),
        ("Grijs", [1]),
        ("de Grijs", [1]),
        ("de Grijs, R", [1]),
        ("Günther", [1]),
        ("Guenther", [1]),
        ("Gunther, Max", [1]),
        ("Muller", [2]),
        ("Mueller, A", [2]),
        ("O'Brien, J", [2]),
        ("Planck Collaboration", [3]),
        ("Planck", []),
        ("Smith, J. A.", [3]),
        ("Smith, J. B.", []),
    ],
)
def test_authors_in_either_spelling(name: str, expected: list[int]) -> None:
    assert rows(f'author:"{name}"') == expected


def test_tables_read_as_arrow_give_the_same() -> None:
    arrow = PAPERS.convert_dtypes(dtype_backend="pyarrow")
    for column in ("ads_keywords", "keywords", "authors", "categories"):
        import pyarrow as pa

        listed = pa.array(PAPERS[column].tolist(), pa.list_(pa.string()))
        arrow[column] = pd.Series(listed, dtype=pd.ArrowDtype(listed.type))
    for text in (
        "dust",
        "keyword:dust*",
        "author:Rubin",
        "category:astro-ph",
        "refereed",
        "-citations>=50",
        'author:"^Ford"',
        "2015..",
        "journal:ApJ",
    ):
        assert rows(text, arrow) == rows(text), text


def test_no_papers_and_no_column() -> None:
    assert rows("dust|author:Rubin|category:x|review", PAPERS.iloc[:0]) == []
    with pytest.raises(InputError, match="needs the column 'cites'"):
        rows("citations>1", PAPERS[["year"]])


def test_only_the_columns_that_are_needed() -> None:
    assert columns_needed(parse_filter("")) == set()
    assert columns_needed(parse_filter("2015..;-citations<3")) == {"year", "cites"}
    assert columns_needed(parse_filter("dust")) == {"title", "abstract", "ads_keywords"}


@pytest.mark.parametrize(
    ("text", "position", "problem"),
    [
        ("dust;|gas", 6, "a term is missing before '|'"),
        ("dust |", None, "a term is missing at the end"),
        ("(dust", None, "still open"),
        ("dust)", 5, "never opened"),
        ('dust "gas', 6, "never closed"),
        ("colour:red", 1, "no field 'colour'"),
        ("dust; colour:red", 7, "no field 'colour'"),
        ("author:", None, "a value is missing"),
        ("title:dark matter", 12, "quote a value of several words"),
        ("a AND b OR c", 9, "parentheses"),
        ("2010..2001", 1, "write 2001..2010"),
        ("year:soon", 6, "not a year"),
        ("dust; +", 7, "no letter or digit"),
        ("title:\uff9e", 7, "no letter or digit"),
        ("author:(a|2010..)", 8, "words and phrases only"),
        ("a AND OR b", 7, "missing"),
        ("()", 2, "missing"),
    ],
)
def test_errors_point_at_the_character(text: str, position: int | None, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_filter(text)
    message = str(caught.value)
    assert problem in message
    assert ("its end" if position is None else f"character {position} ") in message
    _, shown, caret = message.splitlines()
    assert shown == "    " + text
    assert len(caret) - 5 == (len(text) if position is None else position - 1)


def test_attacks_are_refused_quickly() -> None:
    attacks = [
        lambda n: "(" * (n // 2) + "a" + ")" * (n // 2 - 1),
        lambda n: "-" * (n - 1000) + "a",
        lambda n: "author:(" * (n // 10),
        lambda n: "a|" * (n // 2 - 1) + "a",
        lambda n: "a;" * (n // 2 - 1) + "b",
        lambda n: '"' * (n - 1),
        lambda n: "NOT " * (n // 5) + "a",
        lambda n: "a" * (n + 1),
        lambda n: "\\" * n,
        lambda n: "((((a|b);c)|d);" * (n // 20),
    ]
    for attack in attacks:
        message = refusal(attack(20_000))
        assert message is None or len(message) < 600  # the text is cut around the character
        assert_growth(refusal, attack, 20_000)


def test_patterns_are_never_read_from_the_filter() -> None:
    for text in ('".*"', '"(qa+)+$"', '"[a-z"', r'author:".*,.*"', 'title:"d.st"'):
        assert "letter or digit" in (refusal(text) or "") or rows(text) == []


ALPHABET = st.sampled_from([*'abzé2019";|()-:.,* \t\\~^&\u2212🚀𝛼\x00\u202e暗'])
PIECES = st.sampled_from(
    [
        "author:",
        "title:",
        "year:",
        "citations>=5",
        "2010..",
        "..1999",
        "refereed",
        "review",
        "AND",
        " OR ",
        "NOT ",
        ";",
        "|",
        "(",
        ")",
        "-",
        '"',
        '"dark matter"',
        "dust",
        " ",
        "10.1086/59",
        ":",
        "keyword:(",
        "doi:10.1/x(1)",
        "..",
        "year>2",
        "*",
        "^",
    ]
)
NODES = st.recursive(
    st.builds(
        Term,
        st.text('ab"\\ ;|-é:', min_size=1, max_size=8).map(lambda t: " ".join(("x" + t).split())),
        st.sampled_from(["any", "author", "title", "doi"]),
    ),
    lambda inner: st.one_of(
        inner.map(Not),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: And(tuple(parts))),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: Or(tuple(parts))),
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.text(max_size=60),
        st.text(ALPHABET, max_size=60),
        st.lists(PIECES, max_size=25).map("".join),
    )
)
@example("a and (b or (c and d))")
@example("-(-(a|b))")
def test_any_text_parses_or_says_why(text: str) -> None:
    message = refusal(text)
    if message is not None:
        assert "cannot be read" in message
        return
    found = parse_filter(text)
    assert parse_filter(str(found)) == found
    assert apply_filter(found, PAPERS).shape == (5,)


@settings(max_examples=150, deadline=None)
@given(NODES)
def test_what_is_printed_means_the_same(node: And | Or | Not | Term) -> None:
    from landscape.search import Filter

    again = parse_filter(str(node))
    assert np.array_equal(apply_filter(again, PAPERS), apply_filter(Filter(node), PAPERS))
    assert parse_filter(str(again)) == again


def test_real_papers(real_papers: Path) -> None:
    """A filter is compared with a plain search in the texts."""
    papers = pd.read_json(real_papers, lines=True, nrows=5000)
    papers = papers.reindex(columns=["title", "abstract", "categories", "year", "keywords"])
    papers = papers.rename(columns={"keywords": "ads_keywords"}).assign(cites=np.nan)
    texts = [*papers["title"], *papers["abstract"]]
    for query, most in (
        ("year:1993", 0.5),
        ("citations>=50", 0.5),
        ("category:gr-qc", 1.0),
        ("dust", 2.0),
        ("dust;-gas;1993..1995", 2.0),
    ):
        select = partial(apply_filter, parse_filter(query), papers)
        assert 0 <= select().sum() < len(papers)
        assert_cost(select, lambda: [re.search(r"(?i)\bdust", text) for text in texts], most=most)


_LONG = "Non-Gaussian primordial density fluctuations of Hα emitters"


@pytest.mark.parametrize(
    "phrase",
    ["dark matter", "dark matter halo", "active galactic nuclei at high redshift", _LONG, "Hα*"],
)
def test_a_long_phrase_is_found_word_by_word_where_its_pattern_finds_it(phrase: str) -> None:
    texts = [
        "Dark-matter haloes",
        "dark halo of matter",
        "Active galactic nucleus at high red shift",
        "active galactic nuclei at high redshifts.",
        _LONG,
        _LONG.lower().replace(" ", "  "),
        f"{_LONG[:30]}. {_LONG[30:]}",
        "H alpha emission",
        "Hαs",
        None,
        "",
    ]
    columns = Columns(pd.DataFrame({"title": texts, "keywords": [[text] for text in texts]}))
    wanted = columns.matches("title", phrase_pattern(phrase))
    assert np.array_equal(columns.contains("title", phrase), wanted)
    assert np.array_equal(columns.any_contains("keywords", phrase), wanted)
    assert wanted.any()


def test_a_long_phrase_takes_no_longer_than_its_words() -> None:
    texts = ["Fluctuations of the density of dark matter, seen in galaxies. " * 40] * 400
    columns = Columns(pd.DataFrame({"abstract": texts}))
    assert not columns.contains("abstract", _LONG).any()
    assert_cost(
        lambda: columns.contains("abstract", _LONG),
        lambda: columns.matches("abstract", phrase_pattern(_LONG)),
        most=0.2,
    )


@pytest.mark.parametrize(
    "text",
    [
        "2026/08/10..",
        "2024-13",
        "2025-Q1",
        "20240315",
        "since 2024",
        "March 2024",
        "cites>10",
        "2026-02-30..",
        "role:user",
        "2015..2012-01",
    ],
)
def test_periods_that_are_not_understood_are_an_error_with_an_example(text: str) -> None:
    with pytest.raises(InputError, match=r"2026-08-10\.\.|the roles are|before its start"):
        parse_filter(text)


def test_a_term_has_a_limit_of_words_and_of_its_pattern() -> None:
    words = " ".join(f"star{number}" for number in range(500))
    for text in (words, f'"{words}"', f'author:"{words}"', f'title:("{words}")'):
        with pytest.raises(InputError, match="the term has 500 words; write at most 50 words"):
            parse_filter(text)
    long = " ".join(["star"] * 500)  # a query in the syntax of ADS has no limit of words
    with pytest.raises(InputError, match="too long to search for"):
        # Private: the pattern is compiled only when papers are searched.
        _filter_fields._contains(pa.array([long]), long)


@pytest.mark.parametrize(
    ("phrase", "title"),
    [
        ("protoplanetary disks", "A protoplanetary disc"),
        ("colour gradient", "Color gradients"),
        ("cluster of galaxies", "Clusters of galaxies"),
        ("ionisation", "Ionization of gas"),
    ],
)
def test_spellings_and_plurals_inside_a_phrase(phrase: str, title: str) -> None:
    papers = pd.DataFrame({"title": [title, "Planets"]})
    assert apply_filter(parse_filter(f'title:"{phrase}"'), papers).tolist() == [True, False]
