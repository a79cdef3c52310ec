"""Search in the demo atlas, with real indexes."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import os
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import landscape
from landscape.atlas import Atlas
from landscape.errors import AtlasError, InputError, RemoteError
from landscape.pipeline.commit import write_manifest
from landscape.search.engine import Engine
from landscape.search.papers import SearchIndexes, names_of_paper
from landscape.search.sentences import find_entities
from landscape.search.settings import SearchSettings, Weights
from landscape.store.manifest import Manifest, Part
from landscape.types import write_results
from tests.timing import assert_growth


@pytest.fixture(scope="module")
def titles(demo_atlas: Atlas) -> list[str]:
    return list(demo_atlas.read_papers(["title"])["title"])


@pytest.mark.parametrize("method", ["hybrid", "semantic", "words"])
@pytest.mark.parametrize("rerank", [True, False])
def test_a_paper_is_found_by_its_title(
    demo_atlas: Atlas, titles: list[str], method: str, rerank: bool
) -> None:
    asked = titles[::40]
    found = [demo_atlas.search(title, k=3, method=method, rerank=rerank) for title in asked]
    hits = [
        title in [paper.title for paper in results.papers]
        for title, results in zip(asked, found, strict=True)
    ]
    assert np.mean(hits) >= 0.8


def test_results_say_what_was_searched(demo_atlas: Atlas) -> None:
    results = demo_atlas.search("dust in galaxies", k=7)
    assert [hit.rank for hit in results.hits] == list(range(1, 8))
    scores = [hit.score for hit in results.hits]
    assert scores == sorted(scores, reverse=True)
    assert results.coverage.n_papers == results.coverage.n_searched == len(demo_atlas)
    assert results.coverage.generated
    assert list(results.table["title"]) == [paper.title for paper in results.papers]
    assert "these papers do not exist" in results._repr_html_()


def test_printed_results_are_a_numbered_list(demo_atlas: Atlas) -> None:
    results = demo_atlas.search("white dwarfs", k=3)
    assert str(results) == results.to_text()
    assert str(results).lstrip().startswith("1. ")
    assert "Results(" not in str(results)


def test_filters_come_first_and_k_papers_come_back_wherever_k_exist(demo_atlas: Atlas) -> None:
    years = demo_atlas.read_papers(["year"])["year"]
    year = int(years.mode()[0])
    n = int((years == year).sum())
    results = demo_atlas.search("magnetars", k=n + 5, filter=f"{year}..{year}")
    assert len(results) == n == results.coverage.n_searched
    assert {paper.year for paper in results.papers} == {year}
    assert results.coverage.n_filtered == len(demo_atlas) - n
    nothing = demo_atlas.search("magnetars", filter="author:Nobodywiththisname")
    assert len(nothing) == nothing.coverage.n_searched == 0
    unheard = demo_atlas.search("zzzzqqq", k=12, method="words", rerank=False)
    assert len(unheard) == 0
    assert unheard.note == "No paper in this atlas has the word zzzzqqq."


@pytest.mark.parametrize("method", ["hybrid", "semantic", "words"])
def test_similar_papers_are_not_the_papers_themselves(demo_atlas: Atlas, method: str) -> None:
    papers = demo_atlas.read_papers(["paper_id"])["paper_id"]
    results = demo_atlas.similar([papers[0], papers[1]], k=5, method=method)
    assert len(results) == 5
    assert not {papers[0], papers[1]} & {paper.paper_id for paper in results.papers}


def test_similar_by_meaning_are_those_near_the_mean(demo_atlas: Atlas) -> None:
    papers = demo_atlas.read_papers(["paper_id"])["paper_id"]
    results = demo_atlas.similar([papers[0], papers[1]], k=5, method="semantic")
    vectors = demo_atlas.vectors()
    wanted = vectors[:2].mean(axis=0)
    wanted /= np.linalg.norm(wanted)
    best = np.argsort(-(vectors[2:] @ wanted))[:5] + 2
    assert [paper.row for paper in results.papers] == best.tolist()
    with pytest.raises(InputError, match="no paper 'unheard-of'"):
        demo_atlas.similar("unheard-of")


def test_similar_papers_share_distinctive_words(demo_atlas: Atlas) -> None:
    paper = demo_atlas.read_papers(["paper_id"])["paper_id"][0]
    both = demo_atlas.similar(paper, k=20)
    assert all(hit.parts["words"] > 0 for hit in both.hits[:5])
    weighted = demo_atlas.similar(paper, k=20, weights={"time": 1.0})
    assert [p.row for p in weighted.papers] != [p.row for p in both.papers]
    assert all("age" in hit.parts for hit in weighted.hits)


def test_a_weight_lifts_and_buries_nobody(demo_atlas: Atlas) -> None:
    plain = demo_atlas.search("stellar winds", k=100, rerank=False)
    recent = demo_atlas.search("stellar winds", k=100, rerank=False, weights={"time": 1.0})
    before = np.mean([paper.year for paper in plain.papers[:10]])
    after = np.mean([paper.year for paper in recent.papers[:10]])
    assert after >= before
    spread = plain.hits[0].score - plain.hits[-1].score
    best = recent.papers.index(plain.papers[0])
    assert recent.hits[0].score - recent.hits[best].score <= 0.16 * spread + 1e-9


def test_weights_of_pathfinder_are_its_formulas(demo_atlas: Atlas) -> None:
    weights = Weights(time=1, citation=1, compat="pathfinder")
    today = datetime.date(2026, 1, 1)
    results = demo_atlas.search(
        "stellar winds", k=50, method="semantic", rerank=False, weights=weights, t_now=today
    )
    for hit in results.hits:
        age = (today - hit.paper.date).days / 365.25
        cites = hit.paper.cites or 0
        wanted = hit.parts["semantic"] / (1 + np.exp(age / 0.7)) / (1 + np.exp((300 - cites) / 42))
        assert hit.score == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("query", ["dust " * 4_000, "<b>dust</b>", "\x00dust"])
def test_odd_queries_give_papers(demo_atlas: Atlas, query: str) -> None:
    results = demo_atlas.search(query, k=4)
    assert len(results) == 4
    assert bool(results.coverage.notes) == (len(" ".join(query.split())) > 4_000)


@pytest.mark.parametrize("query", ["the of and", "🪐🌌", "星系中的尘埃", "x" * 20_000, "NOT ("])
def test_queries_without_a_known_word_give_a_reason(demo_atlas: Atlas, query: str) -> None:
    results = demo_atlas.search(query, k=4)
    assert len(results) == 0
    assert not results.matched
    assert results.note


@pytest.mark.parametrize("filter_text", ["citations>=", "dust; year < ; gas", "citations>=x"])
def test_a_comparison_without_a_number_is_told(demo_atlas: Atlas, filter_text: str) -> None:
    with pytest.raises(InputError, match="whole number is missing"):
        demo_atlas.search("dust", filter=filter_text)


@pytest.mark.parametrize("query", ["", "  \n"])
def test_an_empty_query_is_told(demo_atlas: Atlas, query: str) -> None:
    with pytest.raises(InputError, match="query is empty"):
        demo_atlas.search(query)


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=40))
def test_whatever_is_filtered_by_nothing_breaks(demo_atlas: Atlas, text: str) -> None:
    with contextlib.suppress(InputError):
        results = demo_atlas.search("dust", filter=text, method="words", rerank=False)
        assert len(results) <= min(10, results.coverage.n_searched)


def test_wrong_settings_are_told(demo_atlas: Atlas) -> None:
    for wrong, said in (
        ({"method": "psychic"}, "method 'psychic'"),
        ({"k": 0}, "k is 0"),
        ({"weights": {"fame": 1.0}}, "weight 'fame'"),
        ({"weights": {"time": 3.0}}, "time weight is 3"),
        ({"rarank": True}, "setting 'rarank'"),
    ):
        with pytest.raises(InputError, match=said):
            demo_atlas.search("dust", **wrong)


def test_two_searches_at_once_give_what_each_gives_alone(
    demo_atlas: Atlas, titles: list[str]
) -> None:
    asked = titles[:12]
    engine = Engine(demo_atlas)
    alone = [[hit.paper.row for hit in engine.search(title).hits] for title in asked]
    fresh = Engine(demo_atlas)
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(fresh.search, asked))
    assert [[hit.paper.row for hit in results.hits] for results in together] == alone


class Unreachable:
    """An embedder and reranker whose server is unreachable."""

    name = "unreachable"

    def embed(self, *_: object, **__: object) -> np.ndarray:
        raise RemoteError("No server answers.")

    def scores(self, *_: object) -> np.ndarray:
        raise RemoteError("No server answers.")


def test_without_the_model_words_still_find_and_the_note_says_why(demo_atlas: Atlas) -> None:
    results = Engine(demo_atlas, embedder=Unreachable()).search("stellar winds")
    assert len(results) == 10
    assert "No server answers" in results.coverage.notes[0]
    assert all("semantic" not in hit.parts for hit in results.hits)


def test_a_reranker_decides_and_may_fail(demo_atlas: Atlas) -> None:
    class Longest:
        name = "longest"

        def scores(self, _query: str, texts: list[str]) -> np.ndarray:
            return np.array([len(text) for text in texts], np.float32)

    results = demo_atlas.search("stellar winds", k=20, reranker=Longest())
    lengths = [len(f"{paper.title}. {paper.abstract}") for paper in results.papers]
    assert lengths == sorted(lengths, reverse=True)
    assert results.settings["reranker"] == "longest"
    failed = demo_atlas.search("stellar winds", k=20, reranker=Unreachable())
    assert "Not reranked" in failed.coverage.notes[0]
    same = demo_atlas.search("stellar winds", k=20, rerank=False)
    assert [paper.row for paper in failed.papers] == [paper.row for paper in same.papers]


def test_a_hypothetical_abstract_moves_the_search(demo_atlas: Atlas, titles: list[str]) -> None:
    plain = demo_atlas.search("what is known", k=20, method="semantic", rerank=False)
    hyde = demo_atlas.search(
        "what is known", k=20, method="semantic", rerank=False, expansion=titles[0]
    )
    assert titles[0] in [paper.title for paper in hyde.papers]
    assert hyde.expansion == titles[0]
    assert [p.row for p in plain.papers] != [p.row for p in hyde.papers]


def test_settings_are_enough_to_search_so_again(demo_atlas: Atlas) -> None:
    first = demo_atlas.search("stellar winds", k=5, weights={"citation": 0.5})
    told = dict(first.settings)
    told["t_now"] = datetime.date.fromisoformat(told["t_now"])
    told["weights"] = Weights(**told["weights"])
    again = Engine(demo_atlas).search("stellar winds", SearchSettings(**told))
    assert [hit.score for hit in again.hits] == [hit.score for hit in first.hits]


@pytest.mark.parametrize("query", ["dark \udcff", None, 5])
def test_what_is_no_text_is_told(demo_atlas: Atlas, query: object) -> None:
    with pytest.raises(InputError, match="query is"):
        demo_atlas.search(query)
    with pytest.raises(InputError, match="question is"):
        demo_atlas.ask(query, model=None)
    with pytest.raises(InputError, match="filter is"):
        demo_atlas.search("dust", filter=query or 7)


def test_names_are_found_in_time_that_grows_with_the_text() -> None:
    for piece in ("a-", "1e+", "AA"):
        assert_growth(find_entities, piece.__mul__, 20_000)


@pytest.mark.parametrize(
    "name", ["words", "word_counts", "cutoffs.parquet", "rows.arrow", "embeddings", "lexical"]
)
def test_a_damaged_file_is_a_sentence(demo_atlas: Atlas, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "damaged.atlas"
    shutil.copytree(demo_atlas.path, folder)
    found = folder / name
    files = (
        [path for path in found.iterdir() if path.suffix != ".lock"] if found.is_dir() else [found]
    )
    for file in files:
        file.write_bytes(b"nonsense" * 20)
    with pytest.raises(AtlasError, match=r"damaged|build the atlas again|--verify"):
        landscape.open(folder).search("dust")


def test_an_atlas_that_may_only_be_read_is_searched(
    demo_atlas: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = [hit.paper.row for hit in demo_atlas.search("stellar winds").hits]
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert [hit.paper.row for hit in Engine(demo_atlas).search("stellar winds").hits] == wanted


def test_an_atlas_built_again_meanwhile_is_told(demo_atlas: Atlas, tmp_path: Path) -> None:
    folder = tmp_path / "again.atlas"
    shutil.copytree(demo_atlas.path, folder)
    atlas = landscape.open(folder)
    write_manifest(folder, dataclasses.replace(atlas.manifest, title="Another"))
    with pytest.raises(AtlasError, match="was rebuilt since it was opened"):
        atlas.search("dust")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"k": "ten"}, "k is 'ten'"),
        ({"k": 2.5}, "k is 2.5"),
        ({"k": True}, "k is True"),
        ({"gamma": "strict"}, "gamma is 'strict'"),
        ({"gamma": float("nan")}, "gamma is nan"),
        ({"t_now": "2026-13-01"}, "t_now is '2026-13-01'"),
        ({"t_now": datetime.datetime(2026, 1, 1, 12)}, "t_now is datetime"),
        ({"filter": 7}, "filter is 7"),
        ({"weights": "time"}, "weights is 'time'"),
        ({"weights": {"time": "much"}}, "time weight is 'much'"),
        ({"weights": {"time": float("nan")}}, "time weight is nan"),
        ({"reranker": "magic"}, "no reranker 'magic'"),
        ({"reranker": "cross-encoder:"}, "no reranker 'cross-encoder:'"),
    ],
)
def test_settings_of_the_wrong_kind_are_told(
    demo_atlas: Atlas, wrong: dict[str, object], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        demo_atlas.search("dust", **wrong)


def test_whole_numbers_of_numpy_are_whole_numbers(demo_atlas: Atlas) -> None:
    assert len(demo_atlas.search("stellar winds", k=np.int64(3), gamma=np.float32(0.1))) == 3


def test_papers_are_known_by_every_spelling_of_their_names() -> None:
    assert "2401.01234" in names_of_paper("2401.01234v2")
    assert "2401.01234" in names_of_paper("https://arxiv.org/pdf/2401.01234v2.pdf")
    assert "2401.01234" in names_of_paper("https://doi.org/10.48550/arXiv.2401.01234")
    assert "10.1051/0004-6361/202039988" in names_of_paper(
        "https://doi.org/10.1051/0004-6361/202039988"
    )
    assert "2021A&A...645L..11A" in names_of_paper(
        "https://ui.adsabs.harvard.edu/abs/2021A%26A...645L..11A/abstract"
    )


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("2401.01234", 0),
        ("arXiv:2401.01234", 0),
        ("2401.01234v2", 0),
        ("https://arxiv.org/abs/2401.01234v1", 0),
        ("10.1051/0004-6361/1A", 1),  # in whatever case
        ("https://doi.org/10.1051/0004-6361/1a", 1),
        ("2021A&A...645L..11A", 1),
        ("key of its own", 2),
    ],
)
def test_a_paper_is_found_by_any_spelling_of_its_names(tmp_path: Path, name: str, row: int) -> None:
    names = {
        "paper_id": ["2401.01234", "2021A&A...645L..11A", "key of its own"],
        "bibcode": [None, "2021A&A...645L..11A", None],
        "arxiv_id": ["2401.01234", None, None],
        "doi": [None, "10.1051/0004-6361/1a", None],
    }
    table = pa.table({key: pa.array(values, pa.string()) for key, values in names.items()})
    (tmp_path / "rows.arrow").mkdir()
    with pa.ipc.new_file(str(tmp_path / "rows.arrow" / "a.arrow"), table.schema) as file:
        file.write_table(table)
    parts = (Part("a", 3, "demo", "a.jsonl", "", 0, 0, 3, 0, 0),)
    manifest = write_manifest(tmp_path, Manifest(title="Three", parts=parts))
    held = SearchIndexes(Atlas(tmp_path, manifest))
    assert held.row_of(name) == row
    with pytest.raises(InputError, match=r"no paper '2401\.01235'"):
        held.row_of("2401.01235")
    with pytest.raises(InputError, match="paper is 7; it has to be text"):
        held.row_of(7)


def test_weights_lift_papers_like_others_too(demo_atlas: Atlas) -> None:
    first = demo_atlas.read_papers(["paper_id"])["paper_id"][0]
    weights = {"time": 1.0}
    plain, recent = (demo_atlas.similar(first, k=100, weights=given) for given in (None, weights))
    assert recent.settings["weights"]["time"] == 1.0
    assert all("age" in hit.parts for hit in recent.hits)
    before, after = (np.mean([p.year for p in r.papers[:10]]) for r in (plain, recent))
    assert after >= before


class Broken:
    """A reranker whose server sends invalid replies."""

    name = "broken"

    def __init__(self, *given: float) -> None:
        self.given = given

    def scores(self, _query: str, texts: Sequence[str]) -> np.ndarray:
        return np.array(self.given or [np.nan] * len(texts))


@pytest.mark.parametrize("given", [(), (1.0, 2.0, 3.0)])
def test_nonsense_of_a_reranker_changes_nothing(demo_atlas: Atlas, given: tuple) -> None:
    plain = demo_atlas.search("dust", k=5, rerank=False)
    found = demo_atlas.search("dust", k=5, reranker=Broken(*given))
    assert [p.row for p in found.papers] == [p.row for p in plain.papers]
    assert any("Not reranked: broken gave scores" in note for note in found.coverage.notes)


def test_words_alone_means_words_alone(demo_atlas: Atlas) -> None:
    found = demo_atlas.search("dust in galaxies", k=20, method="words")
    words = [hit.parts["words"] for hit in found.hits]
    assert words == sorted(words, reverse=True)
    with pytest.raises(InputError, match="is searched by meaning"):
        demo_atlas.search("dust", method="words", expansion="Dust cools gas.")
    with pytest.raises(InputError, match="give a name, or a list"):
        demo_atlas.similar(5)  # type: ignore[arg-type] # what is tested


def test_an_empty_result_replaces_no_file(demo_atlas: Atlas, tmp_path: Path) -> None:
    mine = tmp_path / "mine.bib"
    mine.write_text("precious")
    nothing = demo_atlas.search("dust", filter="1800..1801")
    with pytest.raises(InputError, match=r"mine\.bib is unchanged"):
        write_results(nothing, mine)
    assert mine.read_text() == "precious"


def test_an_engine_within_some_papers_finds_no_others(demo_atlas: Atlas) -> None:
    rows = np.arange(0, len(demo_atlas), 3)
    part = demo_atlas.engine.within(rows)
    found = part.search("dark matter", SearchSettings(k=20))
    assert found.hits
    assert {hit.paper.row for hit in found.hits} <= set(rows.tolist())
    assert found.coverage.n_searched == len(rows)
    assert part.select("").tolist() == rows.tolist()
    assert set(part.select("2010..").tolist()) == set(rows) & set(
        demo_atlas.select("2010..").tolist()
    )
    assert part.within([0, 1, 3]).select("").tolist() == [0, 3]
    whole = demo_atlas.engine.search("dark matter", SearchSettings(k=20))
    assert not {hit.paper.row for hit in whole.hits} <= set(rows.tolist())
    with pytest.raises(InputError, match="pass rows from 0 to 399"):
        demo_atlas.engine.within([400])


def test_vectors_of_different_models_are_not_compared(demo_atlas: Atlas, tmp_path: Path) -> None:
    folder = tmp_path / "mixed.atlas"
    shutil.copytree(demo_atlas.path, folder)
    manifest = landscape.open(folder).manifest
    stage = manifest.stages["embeddings"]
    part = manifest.parts[0].name
    assert stage.details["models"] == {part: stage.model["checksum"]}
    details = {**stage.details, "models": {part: "another"}}
    stages = {**manifest.stages, "embeddings": dataclasses.replace(stage, details=details)}
    write_manifest(folder, dataclasses.replace(manifest, stages=stages))
    notes = " ".join(landscape.open(folder).search("dust").coverage.notes)
    assert "Searched by words alone" in notes
    assert "embedded with different models" in notes
