"""Valid input files of each reader; `benchmarks.robustness` damages them."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from landscape.agents._draft_check import read_bibliography, text_of
from landscape.agents._draft_latex import read_draft
from landscape.agents.full_text import read_archive, read_html, read_latex, read_pdf
from landscape.corpus import read_citations, read_papers
from landscape.corpus.thesaurus import read_thesaurus
from landscape.embeddings.precomputed import ReadyVectors
from landscape.evaluation import read_queries
from landscape.evaluation._attribution import read_cases
from landscape.evaluation._layers import read_labels as read_mentions
from landscape.evaluation.citing import read_places
from landscape.outreach.names import read_names
from landscape.overlays.reviews import read_review_list
from landscape.store.tables import read_labels

Read = Callable[[Path], object]
Kind = tuple[str, str, Read, str | bytes]  # title, file name, reader, good content

_PAPER = {
    "title": "Dust",
    "abstract": "Dust cools.",
    "year": 2020,
    "doi": "10.1/a",
    "aff": ["A; B"],
    "authors": ["A, B", "C, D"],
    "categories": "astro-ph.GA",
    "ref_bibcodes": ["2015ApJ...1..1A"],
    "keywords": ["dust"],
    "date": "2020-01-31",
    "embed": [0.5, 0.25],
    "umap_x": 1.0,
    "umap_y": 2.0,
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
_SCILIT = {
    "Title": "Dust",
    "Author": [{"GivenName": "A", "FamilyName": "B"}],
    "DOI": "10.1/a",
    "Content": {
        "Abstract": "Dust cools.",
        "Abstract_Parsed": [
            {
                "section_id": "0",
                "section_text": [{"paragraph_id": "0", "paragraph_text": _SENTENCES}],
            }
        ],
    },
    "PublicationDate": {"Year": "2020", "Month": "1"},
    "Reference": [{"DOI": "10.1/b"}],
    "Venue": "ApJ",
    "Abstract": "Dust cools.",
}
_BIBTEX = (
    "@string{apj = {The Astrophysical Journal}}\n@article{a, title={{Dust} $\\alpha$}, year=2020,\n"
    ' author="N{\\"o}, B. and C, D", abstract={Dust cools.}, journal=apj, doi={10.1/a}, month=1}\n'
)
_TREE = {
    "children": [
        {
            "name": "Dust",
            "uri": "http://astrothesaurus.org/uat/1",
            "altLabels": ["Grains"],
            "related": [{"name": "Gas", "uri": "http://astrothesaurus.org/uat/3"}],
            "definition": "Small.",
            "children": [{"name": "Cold dust", "uri": "http://astrothesaurus.org/uat/2"}],
        }
    ]
}
_LIST = [
    {"name": "Dust", "uri": "http://astrothesaurus.org/uat/1", "altNames": ["Grains"]},
    {"name": "Cold dust", "uri": "x/2", "broader": [{"uri": "http://astrothesaurus.org/uat/1"}]},
]
_RDF = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:skos="http://www.w3.org/2004/02/skos/core#"><rdf:Description rdf:about="x/1">'
    '<skos:prefLabel xml:lang="en">Dust</skos:prefLabel><skos:broader rdf:resource="x/2"/>'
    "</rdf:Description></rdf:RDF>"
)
_TEX = (
    "\\section{Dust} Dust cools by lines \\citep{a, b}.\n\n%comment\nDisks \\cite[see][]{c} "
    "\\input{x} are cold \\begin{abstract}Cold.\\end{abstract} $x < 3$.\\bibliography{x}\n"
)


def _papers(path: Path) -> object:
    return list(read_papers(path))


def _names(path: Path) -> object:
    return read_names(path, {"1": "Dust", "2": "Disks, cold"})


def _draft(path: Path) -> object:
    return read_draft(text_of(path, kind=".tex"))


def _lines(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


_CSV = (
    'title,abstract,year,authors\nDust,Dust cools.,2020,"A, B; C, D"\nDisks,They spin.,2021,"E"\n'
)
READERS: tuple[Kind, ...] = (
    ("table", "papers.jsonl", _papers, _lines(_PAPER, _PAPER)),
    ("table", "papers.json", _papers, json.dumps([_PAPER, _PAPER])),
    ("table", "papers.csv", _papers, _CSV),
    ("table", "papers.tsv", _papers, "title\tabstract\tyear\nDust\tDust cools.\t2020\n"),
    ("table, packed", "papers.jsonl.gz", _papers, _lines(_PAPER, _PAPER)),
    ("table, packed", "papers.csv.gz", _papers, _CSV),
    ("ADS", "reply.json", _papers, json.dumps({"response": {"numFound": 2, "docs": [_ADS, _ADS]}})),
    ("ADS", "ads.jsonl", _papers, _lines(_ADS, _ADS)),
    ("arXiv", "arxiv.json", _papers, _lines(_ARXIV, _ARXIV)),
    ("arXiv, packed", "arxiv.json.gz", _papers, _lines(_ARXIV, _ARXIV)),
    ("SciLit", "scilit.json", _papers, json.dumps([_SCILIT, _SCILIT])),
    ("SciLit", "scilit.jsonl", _papers, json.dumps(_SCILIT, indent=1) * 2),
    ("BibTeX", "papers.bib", _papers, _BIBTEX),
    ("BibTeX, packed", "papers.bib.gz", _papers, _BIBTEX),
    ("bibliography", "mine.bib", read_bibliography, _BIBTEX),
    (
        "citations",
        "edges.csv",
        read_citations,
        'citing,cited,cited_title\n2401.00001,"1973ApJ...179..427S","Dust, cold"\na,b,c\n',
    ),
    (
        "citations",
        "edges.csv.gz",
        read_citations,
        "citing\tcited\n2401.00001\t1973ApJ...179..427S\n",
    ),
    (
        "citations",
        "refs.jsonl",
        read_citations,
        _lines({"bibcode": "a", "title": "T", "refs": ["b", {"doi": "10.1/c", "title": "U"}]}),
    ),
    ("names", "names.csv", _names, 'topic_id,name\n1,Sea of Dust\n2,"Cold disks"\n'),
    (
        "names",
        "gazetteer.csv",
        _names,
        'region,name,language\nDust,Sea,en\n"Disks, cold",Rings,en\n',
    ),
    ("labels", "labels.csv", read_labels, 'topic_id,label\n1,Dust\n2,"Disks, cold"\n'),
    (
        "reviews",
        "reviews.txt",
        read_review_list,
        "1998ARA&A..36..189K\n10.1146/annurev.astro.46.1\n",
    ),
    (
        "reviews",
        "reviews.jsonl",
        read_review_list,
        '{"bibcode": "1998ARA&A..36..189K", "identifier": ["0909.0948"]}\n',
    ),
    ("thesaurus", "UAT.json", read_thesaurus, json.dumps(_TREE)),
    ("thesaurus", "UAT_list.json", read_thesaurus, json.dumps(_LIST)),
    ("thesaurus", "UAT.csv", read_thesaurus, 'level 1,level 2\nDust\nDust,"Cold, dust"\n'),
    (
        "thesaurus",
        "table.csv",
        read_thesaurus,
        "concept_id,label,broader,related,definition\n1,Dust,,,\n2,Cold dust,1,3|4,Small.\n",
    ),
    ("thesaurus", "UAT.rdf", read_thesaurus, _RDF),
    ("thesaurus, packed", "UAT.json.gz", read_thesaurus, json.dumps(_TREE)),
    (
        "questions",
        "queries.jsonl",
        read_queries,
        _lines(
            {"qid": "1", "question": "Why dust?", "relevant": ["a"], "grades": {"a": 2}},
            {"question": "How?", "answer": ["T"], "answer_arxiv_id": ["2401.00001"]},
        ),
    ),
    (
        "questions",
        "pathfinder.json",
        read_queries,
        json.dumps({"2401.00001": {"question_abstract": "Why dust?"}}),
    ),
    (
        "questions",
        "citeme.csv",
        read_queries,
        'id,excerpt,target_paper_title\n1,"Dust [CITATION].",Dust\n',
    ),
    ("questions", "qrels.txt", read_queries, "1 0 a 1\n1 0 b 0\n"),
    ("excerpts", "cases.jsonl", read_cases, _lines({"excerpt": "Dust [CITATION].", "answer": "a"})),
    ("excerpts", "cases.csv", read_cases, 'excerpt,target_paper_title\n"Dust [CITATION].",Dust\n'),
    (
        "places",
        "places.jsonl",
        read_places,
        _lines({"context": "Dust cools", "cited": ["a"], "keywords": ["dust"], "sentence": "S."}),
    ),
    (
        "mentions",
        "mentions.jsonl",
        read_mentions,
        _lines(
            {
                "arxiv_id": "a",
                "field": "title",
                "surface": "HST",
                "occurrence": 0,
                "facility": "HST",
            }
        ),
    ),
    ("draft", "draft.tex", _draft, _TEX),
    ("full text", "full.tex", read_latex, _TEX),
    (
        "full text",
        "full.html",
        read_html,
        "<html><section><h2>Dust</h2>"
        "<p>Dust <cite><a href='#bib.1'>1</a></cite> cools.</p></section>"
        "<ul><li id='bib.1'>A, B 2015, ApJ, 1, 2</li></ul></html>",
    ),
    ("full text, packed", "single.tex.gz", read_archive, _TEX),
)


def binaries(folder: Path) -> Iterator[Kind]:
    """Write valid files of the binary formats; yield them in the form of `READERS`."""
    import numpy as np
    import pandas as pd
    from matplotlib.figure import Figure

    folder.mkdir()
    table = pd.DataFrame([_PAPER, _PAPER])
    table.drop(columns=["embed", "umap_x", "umap_y"]).to_parquet(folder / "papers.parquet")
    table.rename(columns={"doi": "ads_id"}).to_parquet(folder / "pathfinder.parquet")
    vectors = pd.DataFrame({"paper_id": ["a", "b"], "embedding": [[0.5, 0.25], [1.0, 0.0]]})
    vectors.to_parquet(folder / "vectors.parquet")
    np.save(folder / "vectors.npy", np.eye(4, dtype=np.float32))
    figure = Figure()
    figure.text(0.1, 0.5, "Dust cools by lines.")
    figure.savefig(folder / "full.pdf")
    with tarfile.open(folder / "full.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("main.tex")
        member.size = len(_TEX)
        archive.addfile(member, io.BytesIO(_TEX.encode()))

    def vectors_of(path: Path) -> object:
        return list(ReadyVectors(path).blocks())

    for title, name, read in (
        ("Parquet", "papers.parquet", _papers),
        ("pathfinder", "pathfinder.parquet", _papers),
        ("vectors", "vectors.parquet", vectors_of),
        ("vectors", "vectors.npy", vectors_of),
        ("full text", "full.pdf", read_pdf),
        ("full text", "full.tar.gz", read_archive),
    ):
        yield title, name, read, (folder / name).read_bytes()
