"""Odd corpora give a map that a person finds right, or a sentence that says why not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from landscape import figures
from landscape.atlas import Atlas, build, update
from landscape.corpus import ingest
from landscape.corpus._duplicates import merge_records
from landscape.corpus.language import LANGUAGES, find_language
from landscape.errors import LandscapeError
from landscape.figures.maps import chosen_topics
from landscape.mapping import build_topics

from .conftest import QUICK, paper

TEXTS = {
    "en": "We measure the masses of young star clusters from imaging in five bands, and find that "
    "the mass function follows a power law.",
    "fr": "Nous mesurons les masses des jeunes amas d'étoiles à partir d'images dans cinq bandes. "
    "La fonction de masse suit une loi de puissance, et il n'y a pas de coupure.",
    "de": "Wir messen die Massen junger Sternhaufen aus Aufnahmen in fünf Filtern. Die "
    "Massenfunktion folgt einem Potenzgesetz, und es gibt keine Hinweise auf eine Grenze.",
    "es": "Medimos las masas de los cúmulos estelares jóvenes con imágenes en cinco filtros. La "
    "función de masa sigue una ley de potencias y no hay indicios de un corte.",
    "pt": "Medimos as massas dos aglomerados estelares jovens com imagens em cinco filtros. A "
    "função de massa segue uma lei de potência e não há indícios de um corte.",
    "it": "Misuriamo le masse degli ammassi stellari giovani con immagini in cinque filtri. La "
    "funzione di massa segue una legge di potenza e non ci sono indizi di un taglio.",
    "nl": "Wij meten de massa van jonge sterrenhopen met beelden in vijf filters. De "
    "massafunctie volgt een machtswet en er is geen aanwijzing voor een grens.",
    "ru": "Мы измеряем массы молодых звёздных скоплений по снимкам в пяти полосах.",
    "zh": "我们测量了年轻星团的质量,并发现质量函数遵循幂律。",
    "ja": "若い星団の質量を測定し、質量関数がべき乗則に従うことを示す。",
    "ko": "우리는 젊은 성단의 질량을 측정하고 질량 함수가 멱법칙을 따름을 보인다.",
}


def written(path: Path, papers: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in papers), "utf-8")
    return path


def built(folder: Path, papers: list[dict[str, Any]], **settings: Any) -> tuple[Atlas, list[str]]:
    said: list[str] = []
    settings = QUICK | settings
    file = written(folder / "papers.jsonl", papers)
    return build(file, folder / "x.atlas", say=said.append, **settings), said


def in_languages(*codes: str, each: int = 3) -> list[dict[str, Any]]:
    """Return papers with the texts of some languages; the titles of all papers differ."""
    return [
        paper(number) | {"title": f"{TEXTS[code][:40]} {number}", "abstract": TEXTS[code]}
        for number, code in enumerate(code for code in codes for _ in range(each))
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"authors": []},
        {"authors": ["Nowak, U."]},
        {"categories": []},
        {"arxiv_id": None, "date": None, "bibcode": None},
        {"arxiv_id": None, "date": "2021-03-04", "bibcode": None},
    ],
    ids=["no authors", "one author", "no categories", "no dates", "one day"],
)
def test_a_corpus_without_a_field_is_a_map(tmp_path: Path, change: dict[str, Any]) -> None:
    atlas, _ = built(tmp_path, [paper(number) | change for number in range(40)])
    assert len(atlas) == 40
    assert atlas.topics["n_papers"].max() <= 40
    figures.save_figure(figures.heatmap(atlas), tmp_path / "map.png")
    assert (tmp_path / "map.png").stat().st_size > 5_000
    if atlas.papers["date"].isna().all():
        with pytest.raises(LandscapeError, match="No paper of this corpus has a date"):
            figures.trends(atlas)


@pytest.mark.parametrize("n_papers", [1, 2, 3])
def test_few_papers_are_in_one_region(tmp_path: Path, n_papers: int) -> None:
    atlas, said = built(tmp_path, [paper(number) for number in range(n_papers)])
    assert atlas.map["topic_id"].tolist() == [0] * n_papers
    assert atlas.topics["n_papers"].tolist() == [n_papers] * 2  # a continent and a region
    assert sum("too few for several regions" in line for line in said) == 1


def test_papers_of_different_subjects_are_not_named_after_one() -> None:
    words = [["hot Jupiters"], ["cosmic shear"], ["radio pulsars"]]
    topics = build_topics(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 0.0]), words)
    assert set(topics.table["label"]) == {"All papers"}
    assert len(chosen_topics(topics.table, levels=(0, 1))) == 1  # drawn once


def test_papers_with_the_same_text_are_in_one_region() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.uniform(size=(2, 40))
    vectors = np.tile([1.0, 0.0, 0.0, 0.0], (40, 1)) + rng.normal(0, 0.05, (40, 4))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    said: list[str] = []
    topics = build_topics(
        x, y, [["globular clusters"]] * 40, vectors=vectors.astype(np.float32), note=said.append
    )
    assert topics.topic_id.tolist() == [0] * 40
    assert said == ["All papers have nearly the same text, so one region contains them all."]


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_language_is_found(code: str) -> None:
    assert find_language(TEXTS[code]) == code


def test_names_and_quotations_do_not_change_the_language() -> None:
    text = "We use the catalogue of de la Rosa, El Niño data and 'la mer de la nuit' of 1902. "
    assert find_language(text + TEXTS["en"]) == "en"
    assert find_language("NGC 1275") == "en"


def test_a_build_warns_of_several_languages(tmp_path: Path) -> None:
    _, said = built(tmp_path, in_languages("en", "fr", "de"))
    [line] = [line for line in said if line.startswith("Warning")]
    assert "3 in English, 3 in French and 3 in German" in line
    assert "--language en" in line


def test_a_build_in_one_language_has_no_warning(tmp_path: Path) -> None:
    _, said = built(tmp_path, in_languages("en", "fr", each=1) + [paper(n) for n in range(9, 18)])
    assert not [line for line in said if line.startswith("Warning")]


def test_papers_in_other_languages_are_rejected_with_their_reason(tmp_path: Path) -> None:
    atlas, said = built(tmp_path, in_languages("en", "fr", "de"), language="en")
    assert len(atlas) == 3
    assert said[0].startswith("read 9 = kept 3 + merged 0 + rejected 6")
    lines = (tmp_path / "x.atlas/rejected.jsonl").read_text("utf-8").splitlines()
    reasons = [json.loads(line)["reason"] for line in lines]
    assert reasons == ["written in French"] * 3 + ["written in German"] * 3
    # An update has the language of the build.
    papers = [one | {"arxiv_id": None} for one in in_languages("es", "it", each=2)]
    new = written(tmp_path / "new.jsonl", [*papers, paper(77)])
    assert len(update(atlas.path, new)) == 4


def test_repeated_records_are_merged_without_keeping_them(tmp_path: Path) -> None:
    papers = [paper(1)] * 5000 + [paper(1) | {"doi": "10.1000/one"}, paper(2)]
    file = written(tmp_path / "papers.jsonl", papers)
    kept = 0

    def count(records: list[dict[str, Any]], **options: Any) -> dict[str, Any]:
        nonlocal kept
        kept += len(records)
        return merge_records(records, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("landscape.corpus._ingest.merge_records", count)
        report = ingest([file], tmp_path / "x", work=tmp_path / "work")
    assert (report.read, report.kept, report.merged) == (5002, 2, 5000)
    assert kept < 10  # one record of each chunk, and the record with a DOI
    rows = pq.read_table(tmp_path / "x/papers.parquet/papers.parquet").to_pylist()
    assert rows[0]["doi"] == "10.1000/one"
