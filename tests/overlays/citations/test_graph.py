"""The citation graph: identifiers in all spellings, and related papers."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from landscape.corpus import read_citations
from landscape.errors import InputError
from landscape.overlays.citations import cocited, coupled, influence, link, resolve
from landscape.store import AtlasStore as Atlas
from tests.timing import assert_growth


def test_both_ways_agree_and_repeats_and_loops_are_gone() -> None:
    random = np.random.default_rng(0)
    sources, targets = random.integers(0, 200, (2, 3000))
    references = link(sources, targets, n_nodes=200)
    citations = references.reversed()
    wanted = {(s, t) for s, t in zip(sources.tolist(), targets.tolist(), strict=True) if s != t}
    assert {(s, t) for s in range(200) for t in references.of(s).tolist()} == wanted
    assert {(s, t) for t in range(200) for s in citations.of(t).tolist()} == wanted
    assert all((np.diff(citations.of(t)) > 0).all() for t in range(200))


def test_related_papers_are_those_that_counting_by_hand_finds() -> None:
    random = np.random.default_rng(1)
    references = link(*random.integers(0, 60, (2, 600)), n_nodes=60)
    citations = references.reversed()
    together = Counter(
        other
        for citing in citations.of(7).tolist()
        for other in references.of(citing).tolist()
        if other != 7
    )
    found, scores = cocited(references, citations, np.array([7]))
    assert set(found.tolist()) == set(together)
    degrees = citations.degrees
    for node, score in zip(found.tolist(), scores.tolist(), strict=True):
        assert score == pytest.approx(together[node] / np.sqrt(degrees[7] * degrees[node]))
    assert (np.diff(scores) <= 1e-12).all()
    same, shared = coupled(references, citations, np.array([7]), k=3)
    for node, score in zip(same.tolist(), shared.tolist(), strict=True):
        both = set(references.of(7).tolist()) & set(references.of(node).tolist())
        sizes = references.degrees[7] * references.degrees[node]
        assert score == pytest.approx(len(both) / np.sqrt(sizes))


def test_influence_counts_who_cites_not_only_how_many() -> None:
    # 5 and 6 are cited once each; 5 by a paper that itself is cited three times.
    ranks = influence(link(np.array([0, 1, 2, 3, 4]), np.array([3, 3, 3, 5, 6]), n_nodes=7))
    assert ranks[5] > ranks[6]
    assert ranks.mean() == pytest.approx(1, abs=1e-5)


def test_names_mean_papers_in_every_spelling_and_strangers_become_stubs() -> None:
    papers = {
        "paper_id": ["2021A&A...645L..11A", "astro-ph/9301002"],
        "arxiv_id": ["2101.01542", "astro-ph/9301002"],
        "doi": ["10.1051/0004-6361/202039988", None],
    }
    names = [
        "2021A&A...645L..11A",
        "2021arXiv210101542A",
        "arXiv:2101.01542v3",
        "https://doi.org/10.1051/0004-6361/202039988",
        "astro-ph/9301002v1",
        "1973ApJ...179..427S",
        "1973ApJ...179..427S",
        "",
        "Some book, 1999",
    ]
    found = resolve(names, papers, n_papers=2)
    assert found.nodes.tolist() == [0, 0, 0, 0, 1, 2, 2, -1, 3]
    assert found.stubs == ("1973ApJ...179..427S", "Some book, 1999")


def test_the_time_of_a_graph_grows_with_the_citations() -> None:
    def some_citations(m: int) -> tuple[np.ndarray, int]:
        n = m * 2 // 15
        return np.random.default_rng(2).integers(0, n, (2, m)), n

    def relate(given: tuple[np.ndarray, int]) -> None:
        (sources, targets), n = given
        references = link(sources, targets, n_nodes=n)
        citations = references.reversed()
        cocited(references, citations, np.array([5]), k=20)
        assert citations.degrees.sum() == references.degrees.sum()

    assert_growth(relate, some_citations, 1_500_000)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"a,b\n1,2\n", "Pass a table with the columns citing and cited"),
        (b"citing,cited\n1\n", "cannot be read as a table"),
        (b'{"refs": ["x"]}\n', "line 1, has no paper name"),
        (b'{"id": "a", "refs": [\n', "cannot be read after 1 lines"),
        (b"", "is empty"),
    ],
)
def test_files_that_are_none_are_refused(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "edges.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=told):
        read_citations(path)


def test_reference_lists_bring_titles(tmp_path: Path) -> None:
    path = tmp_path / "papers.jsonl.gz"
    listed = ["2401.00002", {"doi": "10.1093/mnras/1", "title": "Old dust"}, {"title": "A book"}, 7]
    path.write_bytes(gzip.compress(json.dumps({"id": "2401.00001", "refs": listed}).encode()))
    read = read_citations(path)
    assert read.cited.to_pylist() == ["2401.00002", "10.1093/mnras/1", "A book"]
    assert read.titles == {"10.1093/mnras/1": "Old dust", "A book": "A book"}


def test_the_demo_corpus_has_its_graph(demo_atlas: Atlas) -> None:
    graph = demo_atlas.citations
    papers = demo_atlas.read_papers(["paper_id", "ref_bibcodes"])
    assert graph.n_links == papers["ref_bibcodes"].map(len).sum() > 0
    row = int(papers["ref_bibcodes"].map(len).argmax())
    paper_id, listed = papers["paper_id"][row], set(papers["ref_bibcodes"][row])
    assert {one.paper_id for one in graph.references(paper_id)} == listed
    cited = graph.references(paper_id)[0]
    assert paper_id in {one.paper_id for one in graph.citations(cited.paper_id)}
    assert graph.in_degree[cited.node] == len(graph.citations(cited.paper_id))
    assert graph.influence.shape == (len(demo_atlas),)
    related = graph.coupled(paper_id, 5)
    assert related
    assert related[0].score >= related[-1].score > 0
    assert graph.note == ""
