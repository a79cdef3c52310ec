"""A valid file for every reader of the package; `test_damaged_files` damages them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Private modules: the readers of files that commands call with a path.
from landscape.agents._draft_check import read_bibliography, text_of
from landscape.agents._draft_latex import read_draft
from landscape.corpus import read_citations, read_papers
from landscape.corpus.bibliographies import read_facility_list
from landscape.corpus.full_text import read_full_text
from landscape.corpus.thesaurus import read_thesaurus
from landscape.evaluation import read_queries
from landscape.evaluation._attribution import read_cases
from landscape.evaluation._layers import read_labels as read_mentions
from landscape.evaluation.citing import read_places
from landscape.outreach.names import read_names
from landscape.overlays.reviews import read_review_list
from landscape.store.tables import read_labels

Read = Callable[[Path], Any]

PAPER = {
    "title": "Dust",
    "abstract": "Dust cools.",
    "year": 2020,
    "doi": "10.1/a",
    "aff": ["A; B"],
    "authors": ["A, B", "C, D"],
    "categories": "astro-ph.GA",
    "keywords": ["dust"],
    "ref_bibcodes": ["2015ApJ...1..1A"],
    "date": "2020-01-31",
}
_ADS = {
    "bibcode": "2015ApJ...801...12A",
    "title": ["Dust"],
    "abstract": "Dust cools.",
    "aff": ["A"],
    "author": ["A, B"],
    "pubdate": "2015-01-00",
    "identifier": ["arXiv:1501.00001"],
    "doi": ["10.1/a"],
    "citation_count": 3,
    "doctype": "article",
    "pub": "ApJ",
    "keyword": ["dust"],
    "reference": ["x"],
}
_ARXIV = {
    "id": "1501.00001",
    "submitter": "A",
    "authors": "A B (Uni, C), D E",
    "title": "Dust",
    "abstract": "Dust cools.",
    "journal-ref": "ApJ 1 (2015) 2",
    "doi": "10.1/a",
    "categories": "astro-ph.GA hep-th",
    "update_date": "2015-11-26",
    "versions": [{"version": "v1", "created": "Mon, 2 Apr 2007 19:18:42 GMT"}],
    "authors_parsed": [["A", "B", ""]],
}
_SENTENCES = [{"sentence_id": "0", "sentence_text": "Dust cools."}]
_PARAGRAPHS = [{"paragraph_id": "0", "paragraph_text": _SENTENCES}]
_SECTIONS = [{"section_id": "0", "section_text": _PARAGRAPHS}]
_SCILIT = {
    "Title": "Dust",
    "Author": [{"GivenName": "A", "FamilyName": "B"}],
    "DOI": "10.1/a",
    "Content": {"Abstract": "Dust cools.", "Abstract_Parsed": _SECTIONS},
    "PublicationDate": {"Year": "2020", "Month": "1"},
    "Reference": [{"DOI": "10.1/b"}],
    "Venue": "ApJ",
}
_BIBTEX = (
    "@string{apj = {The Astrophysical Journal}}\n@article{a, title={{Dust} $\\alpha$}, year=2020,\n"
    ' author="N{\\"o}, B. and C, D", abstract={Dust cools.}, journal=apj, doi={10.1/a}, month=1}\n'
)
_UAT = "http://astrothesaurus.org/uat/"
_TERM = {"name": "Dust", "uri": f"{_UAT}1", "altLabels": ["Grains"], "definition": "Small."}
_NARROWER = {
    "related": [{"name": "Gas", "uri": f"{_UAT}3"}],
    "children": [{"name": "Cold dust", "uri": f"{_UAT}2"}],
}
_LIST = [
    {"name": "Dust", "uri": f"{_UAT}1", "altNames": ["Grains"]},
    {"name": "Cold dust", "uri": "x/2", "broader": [{"uri": f"{_UAT}1"}]},
]
_RDF = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:skos="http://www.w3.org/2004/02/skos/core#"><rdf:Description rdf:about="x/1">'
    '<skos:prefLabel xml:lang="en">Dust</skos:prefLabel><skos:broader rdf:resource="x/2"/>'
    "</rdf:Description></rdf:RDF>"
)
TEX = (
    "\\section{Dust} Dust cools by lines \\citep{a, b}.\n\n%comment\nDisks \\cite[see][]{c} "
    "\\input{x} are cold \\begin{abstract}Cold.\\end{abstract} $x < 3$.\\bibliography{x}\n"
)
_HTML = (
    "<html><section><h2>Dust</h2><p>Dust <cite><a href='#bib.1'>1</a></cite> cools.</p></section>"
    "<ul><li id='bib.1'>A, B 2015, ApJ, 1, 2</li></ul></html>"
)
_JATS = (
    "<article><body><sec><title>Dust</title><p>Dust <xref ref-type='bibr' rid='r1'>1</xref> cools."
    "</p></sec></body><back><ref-list><ref id='r1'>A, B 2015, ApJ, 1, 2</ref></ref-list></back>"
    "</article>"
)
_CSV = (
    'title,abstract,year,authors\nDust,Dust cools.,2020,"A, B; C, D"\nDisks,They spin.,2021,"E"\n'
)
_QUERIES: tuple[dict[str, Any], ...] = (
    {"qid": "1", "question": "Why dust?", "relevant": ["a"], "grades": {"a": 2}},
    {"question": "How?", "answer": ["T"], "answer_arxiv_id": ["2401.00001"]},
)
_MENTION = {"arxiv_id": "a", "field": "title", "surface": "HST", "occurrence": 0, "facility": "HST"}
_PLACE = {"context": "Dust cools", "cited": ["a"], "keywords": ["dust"], "sentence": "S."}
_REFS = {"bibcode": "a", "title": "T", "refs": ["b", {"doi": "10.1/c", "title": "U"}]}


def _lines(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


_TEXTS: dict[Read, dict[str, str]] = {
    lambda path: list(read_papers(path)): {
        "papers.jsonl": _lines(PAPER, PAPER),
        "papers.json": json.dumps([PAPER, PAPER]),
        "papers.csv": _CSV,
        "papers.tsv": "title\tabstract\tyear\nDust\tDust cools.\t2020\n",
        "papers.csv.gz": _CSV,
        "ads-reply.json": json.dumps({"response": {"numFound": 2, "docs": [_ADS, _ADS]}}),
        "ads.jsonl": _lines(_ADS, _ADS),
        "arxiv.json.gz": _lines(_ARXIV, _ARXIV),
        "scilit.json": json.dumps([_SCILIT, _SCILIT]),
        "scilit.jsonl": json.dumps(_SCILIT, indent=1) * 2,
        "papers.bib": _BIBTEX,
        "papers.bib.gz": _BIBTEX,
    },
    read_bibliography: {"mine.bib": _BIBTEX},
    read_citations: {
        "edges.csv": 'citing,cited,cited_title\n2401.00001,"1973ApJ...179..427S","Dust"\na,b,c\n',
        "edges.csv.gz": "citing\tcited\n2401.00001\t1973ApJ...179..427S\n",
        "refs.jsonl": _lines(_REFS),
    },
    lambda path: read_names(path, {"1": "Dust", "2": "Disks, cold"}): {
        "names.csv": 'topic_id,name\n1,Sea of Dust\n2,"Cold disks"\n',
        "gazetteer.csv": 'region,name,language\nDust,Sea,en\n"Disks, cold",Rings,en\n',
    },
    read_labels: {"labels.csv": 'topic_id,label\n1,Dust\n2,"Disks, cold"\n'},
    read_review_list: {
        "reviews.txt": "1998ARA&A..36..189K\n10.1146/annurev.astro.46.1\n",
        "reviews.jsonl": _lines({"bibcode": "1998ARA&A..36..189K", "identifier": ["0909.0948"]}),
    },
    read_thesaurus: {
        "UAT.json": json.dumps({"children": [_TERM | _NARROWER]}),
        "UAT_list.json": json.dumps(_LIST),
        "UAT.csv": 'level 1,level 2\nDust\nDust,"Cold, dust"\n',
        "table.csv": "concept_id,label,broader,related,definition\n1,Dust,,,\n2,Cold,1,3,Small\n",
        "UAT.rdf": _RDF,
        "UAT.json.gz": json.dumps({"children": [_TERM | _NARROWER]}),
    },
    read_queries: {
        "queries.jsonl": _lines(*_QUERIES),
        "pathfinder.json": json.dumps({"2401.00001": {"question_abstract": "Why dust?"}}),
        "citeme.csv": 'id,excerpt,target_paper_title\n1,"Dust [CITATION].",Dust\n',
        "qrels.txt": "1 0 a 1\n1 0 b 0\n",  # topics are beside it
    },
    read_cases: {
        "cases.jsonl": _lines({"excerpt": "Dust [CITATION].", "answer": "a"}),
        "cases.csv": 'excerpt,target_paper_title\n"Dust [CITATION].",Dust\n',
    },
    read_places: {"places.jsonl": _lines(_PLACE)},
    read_mentions: {"mentions.jsonl": _lines(_MENTION)},
    lambda path: read_draft(text_of(path, kind=".tex")): {"draft.tex": TEX},
    read_full_text: {
        "full.tex": TEX,
        "full.html": _HTML,
        "full.xml": _JATS,
        "full.txt": "Dust cools by lines.\n\nIt is cold.",
        "single.tex.gz": TEX,
    },
    lambda path: read_facility_list(f"HST[2015..2020]={path}"): {
        "hst.txt": "# list\n2015ApJ...801...12A\n10.1000/xyz\n2401.00001\n",
        "hst.csv": "bibcode,use\n2015ApJ...801...12A,hst\n2016ApJ...801...12A,unrelated\n",
        "hst.bib": _BIBTEX.replace("10.1/a", "10.1000/a"),
    },
}
#: Reader and content of each file of text, before it is compressed if it ends in ``.gz``.
TEXTS = {
    name: (read, text.encode()) for read, files in _TEXTS.items() for name, text in files.items()
}
