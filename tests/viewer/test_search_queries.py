"""Filters are the same in Python and in the browser: both pass one file of cases."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest

from landscape.errors import InputError
from landscape.search import parse_filter
from landscape.search._filter_fields import apply_filter
from landscape.text.word_index import STOP_WORDS
from landscape.viewer.search_index import index_files, varints

ROOT = Path(__file__).parents[2]
CASES = ROOT / "landscape/viewer/js/tests/queries.json"
REGIONS = ("Galaxies", "Dark haloes", "Stars")  # dark haloes are part of galaxies

_NAMES = ("title", "abstract", "authors", "year", "cites", "region", "concept", "role", "review")
# The role is that of JWST, if the paper mentions it.
_ROWS = """
Dark matter haloes of spiral galaxies|Rotation is flat.|Rubin, Vera C.; Ford, W.|1970|900|1|yes||0
Dust and gas in galaxies|JWST images show cold dust.|Smith, John|2023|3|0||science|0
Gas around dark stars|The matter is cold.|de Grijs, Richard|2019||2|||0
Star-forming galaxies in NGC 1275|Ice is rare.|Müller, A.; Smith, Kate|2020|50|0||mention|0
A review of dust|Grains, ice and gas.|Draine, B. T.|2003|1000|2|||1
Cold dark matter|Simulations of self-interacting matter.|Ford, Kate|2021|10|1|yes||0
Ice on grains|Dusty nothing.|Planck Collaboration|2015|0|2|||0
Supernovae of type Ia|Review of light curves.|Riess, Adam|1998|5000|2|||0
Quasars at high redshift|Gas flows into galaxies.|Rubin, Kate||7|0|||0
Planets without ice|Or with ice: not and never.||2024||2||planned|0
Dark energy, and matter|A universe of gas.|Riess, Adam; Rubin, Vera|2011|100|0|yes||1
Grains|Grains of dust in colour.|O'Brien, J.|2020|51|2||science|0
"""
_SPELLINGS = ("object:NGC 1275", "object:NGC1275")
_MINE = [1, 2, 8]  # papers of the user's library
#: Identifiers of the first paper.
_IDS = {"bibcode": "1970ApJ...159..379R", "arxiv_id": "2301.00001", "doi": "10.1086/150317"}
_PAPERS = [dict(zip(_NAMES, line.split("|"), strict=True)) for line in _ROWS.strip().splitlines()]

QUERIES = (
    "dust",
    "DUST",
    "galaxy",
    '"dark matter"',
    '"matter dark"',
    '"Dark Matter Haloes"',
    "dust AND gas",
    "dust and gas; ice",
    "dust && gas",
    "dust; gas",
    "dust OR ice",
    "dust || ice",
    "dust|ice",
    "dark matter|ice; gas",
    "dark matter AND cold",
    "gas; dust|ice",
    "gas; dust OR ice",
    "gas AND (dust OR ice)",
    "(gas AND dust) OR quasar",
    "gas AND dust OR ice",
    "gas OR dust AND ice",
    "dust NOT gas",
    "dust -gas",
    "dust \u2212gas",
    "NOT dust; not gas; Not ice",
    "-dust -gas",
    "--dust",
    "-(dust|gas|ice)",
    "-dust|gas",
    "NOT (dust OR NOT gas)",
    "((dust))",
    "((dust|ice) -(gas; grains))|quasar",
    "star-forming AND galaxies",
    '"star forming"',
    "self-interacting matter; cold",
    "NGC 1275; galaxies",
    '"NGC 1275"',
    "and; dust",
    '"not and never"',
    "author:Rubin",
    "author:rubin; dark matter",
    "author : Smith; dust",
    "AUTHOR:Smith",
    'author:"de Grijs"',
    "author:(Rubin|Ford)",
    "author:(Rubin;Ford)",
    "author:(Rubin -Riess)",
    "-author:Rubin; gas",
    "author:Muller",
    'author:"Rubin, Vera"',
    'author:"^Rubin"',
    "author:Rubin dust",
    'author:Rubin "dark matter"',
    "author:Rubin 1970",
    "year:2020|author:Draine dust",
    "author:and; dust",
    "title:Grains NOT ice",
    "dust author:Smith",
    "title:dust",
    "TITLE:Grains",
    "title:(dust|ice)",
    'title:"dark matter"',
    "2019..2021",
    "2015..",
    "..2003",
    "dust 2020..",
    "2020.. dust",
    "2020; dust",
    '"2020"; dust',
    "year:2020",
    "year:2019..2021",
    "year:2019-2021",
    "year:(2019|2021)",
    "date:(2019|2021)",
    "date:(2019..2021)",
    "year>=2020; year<2024",
    "year > 2020",
    "year==2020",
    "date>2020",
    "date:2020..2021",
    "-2000..",
    "2021..2019",
    "date>2020-06-01",
    "2020-06..",
    "citations>=50",
    "citations<50",
    "citations=0",
    "-citations>=50",
    "citations <= 10 AND gas",
    "citations:50",
    "year:20202020",
    "citations>=many",
    "facility:JWST",
    "mentions:jwst",
    "facility:JWST; ice|dust",
    "facility:JWST; role:planned",
    "kind:review",
    "review; dust",
    '"review"; gas|light',
    "refereed; dust",
    'concept:"dark matter"',
    "concept:(dark matter)",
    "region:Galaxies",
    'region:"Dark haloes"; cold',
    "region:2",
    "region:Nowhere",
    'object:"NGC 1275"',
    "object:NGC1275; ice",
    "-object:(NGC 1275); dust",
    "in:mine",
    "in:MINE; gas",
    "-in:mine",
    "in:other",
    "arxiv:2301.00001",
    "arXiv:2301.00001v2 dark matter",
    "arXiv:2301.00001v2; dark matter",
    "doi:10.1086/150317",
    "10.1086/150317 -ice",
    "bibcode:1970ApJ...159..379R",
    "bibcode:1970ApJ*",
    "keyword:dust",
    "journal:ApJ",
    "telescope:JWST",
    "dust; since 2015",
    "dust; 2015-2020",
    "dust; 1/2/2015",
    "dust; ~",
    "dust AND",
    "AND dust",
    "dust OR",
    "dust;",
    "dust;|gas",
    "NOT",
    "dust; -",
    "title:",
    "title: ; dust",
    "dust; (gas",
    "dust) AND gas",
    "dust; ()",
    'dust; "gas',
    "gala*; gas",
    "",
)
#: What the browser does where the map lacks what Python knows, or a search box differs: another
#: query, "error", "nothing", or "words" for a search without operators.
BROWSER = {
    'author:"Rubin, Vera"': "author:Rubin",  # the index has family names only
    'author:"^Rubin"': "error",
    'title:"dark matter"': "error",
    "date>2020-06-01": "error",
    "2020-06..": "error",
    "facility:JWST; role:planned": "error",
    "refereed; dust": "error",
    "keyword:dust": "error",
    "journal:ApJ": "error",
    "and; dust": "error",  # the index has no words such as "and"
    "arXiv:2301.00001v2 dark matter": "words",
    "bibcode:1970ApJ*": "nothing",
    "gala*; gas": "nothing",  # the word is named as missing
    "title:": "words",
    "": "nothing",  # an empty search box is no search
}


def _numbers(name: str) -> list[int | None]:
    return [int(paper[name]) if paper[name] else None for paper in _PAPERS]


def _having(name: str) -> list[int]:
    return [row for row, paper in enumerate(_PAPERS) if paper[name] not in ("", "0")]


def table() -> pd.DataFrame:
    """Return the papers with the columns that filters need."""
    region = np.array(_numbers("region"), float)
    columns: dict[str, Any] = {
        "title": [paper["title"] for paper in _PAPERS],
        "abstract": [paper["abstract"] for paper in _PAPERS],
        "authors": [[name for name in paper["authors"].split("; ") if name] for paper in _PAPERS],
        "year": pd.array(_numbers("year"), dtype="Int32"),
        "cites": pd.array(_numbers("cites"), dtype="Int32"),
        "facilities": [[f"JWST\n{one['role']}\nJWST"] if one["role"] else [] for one in _PAPERS],
        "is_review": np.array(_numbers("review"), float),
        "kind": ["review" if paper["review"] == "1" else "article" for paper in _PAPERS],
        "concept:dark matter": [float(bool(paper["concept"])) for paper in _PAPERS],
        "region:Galaxies": (region < 2).astype(float),
        "region:Dark haloes": (region == 1).astype(float),
        "region:2": (region == 2).astype(float),
        **dict.fromkeys(_SPELLINGS, np.isin(np.arange(len(_PAPERS)), [3]).astype(float)),
        "in:mine": np.isin(np.arange(len(_PAPERS)), _MINE).astype(float),
        "in:MINE": np.isin(np.arange(len(_PAPERS)), _MINE).astype(float),
    }
    columns |= {name: [value] + [None] * (len(_PAPERS) - 1) for name, value in _IDS.items()}
    empty = dict.fromkeys(("doctype", "journal", "date"))
    lists: dict[str, Any] = {name: [[] for _ in _PAPERS] for name in ("keywords", "ads_keywords")}
    return pd.DataFrame(columns | lists).assign(**empty)


def found(query: str, papers: pd.DataFrame) -> list[int] | None:
    """Return the papers that a filter selects, or None if it is an error."""
    try:
        return np.flatnonzero(apply_filter(parse_filter(query), papers)).tolist()
    except InputError:
        return None


def _encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _set(name: str, kinds: dict[int, int]) -> tuple[dict[str, Any], str]:
    steps = np.diff(np.array(list(kinds)), prepend=0) * 2 + np.array(list(kinds.values()))
    content = varints(steps)
    entry = {"name": name, "papers": len(kinds), "uses": sum(kinds.values())}
    return entry | {"at": [0, len(content)]}, _encoded(content)


def written() -> str:
    """Return the files of the map, and each query with the papers that Python selects."""
    papers = table()
    atlas = cast(Any, SimpleNamespace(read_papers=lambda names, rows: papers.iloc[rows][names]))
    n = len(papers)
    ((first, words, places),) = index_files(atlas, np.arange(n), np.ones(n, bool))
    uses = {row: int(_PAPERS[row]["role"] == "science") for row in _having("role")}
    sets = {
        "facilities": _set("JWST", uses),
        "concepts": _set("Dark matter", dict.fromkeys(_having("concept"), 0)),
        "reviews": _set("Reviews", dict.fromkeys(_having("review"), 0)),
        "objects": _set("NGC 1275", {3: 0}),
        "mine": _set("mine", dict.fromkeys(_MINE, 0)),
    }
    content = {
        "year": _numbers("year"),
        "citations": _numbers("cites"),
        "region": _numbers("region"),
        "regions": [
            {"id": number, "label": label, "parent": 0 if number == 1 else -1}
            for number, label in enumerate(REGIONS)
        ],
        "stop_words": sorted(STOP_WORDS),
        "sets": {
            kind: [entry | ({"also": ["NGC1275"]} if kind == "objects" else {})]
            for kind, (entry, _) in sets.items()
        },
        "files": {
            "words.json": _encoded(json.dumps([first]).encode()),
            "ids/0.json": _encoded(json.dumps(dict.fromkeys(_IDS.values(), 0)).encode()),
            "words/0.bin": _encoded(words),
            "places/0.bin": _encoded(places),
            **{f"{kind}.bin": content for kind, (_, content) in sets.items()},
        },
    }
    cases: list[dict[str, Any]] = []
    for query in QUERIES:
        case = {"query": query, "papers": found(query, papers)}
        cases.append(case | ({"browser": BROWSER[query]} if query in BROWSER else {}))
    lines = ",\n  ".join(json.dumps(case, ensure_ascii=False) for case in cases)
    parts = [f'"{name}": {json.dumps(part, ensure_ascii=False)}' for name, part in content.items()]
    return "{" + ",\n ".join([*parts, f'"cases": [\n  {lines}\n ]']) + "}\n"


def test_the_cases_of_the_browser_are_those_of_python() -> None:
    """To write the file again: python -m tests.viewer.test_search_queries."""
    assert CASES.read_text("utf-8") == written()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("gas; dust|ice", [1, 4]),
        ("gas AND dust OR ice", None),
        ("2019..2021", [2, 3, 5, 11]),
        ("-citations>=50", [1, 2, 5, 6, 8, 9]),
        ("author:Rubin dust", None),
    ],
)
def test_some_cases_by_hand(query: str, expected: list[int] | None) -> None:
    assert found(query, table()) == expected


if __name__ == "__main__":
    CASES.write_text(written(), "utf-8")
