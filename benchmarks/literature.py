"""A made-up atlas of any size, for timing overlays and figures.

Regions, years, facilities, tags, reviews, citations and vectors are random, with the numbers of a
real corpus; abstracts are long strings without meaning.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from landscape import Atlas

YEARS = (1990, 2026)
N_DIMS = 384
AUTHOR = "Example, Ann"
_PART = "made-up"
_N_CONTINENTS = 12
_MEAN_TAGS = 10  # a paper, as in a real corpus
_MEAN_CITATIONS = 20
_REVIEWED = 0.02
_BETWEEN = 0.25  # papers that lie between two regions
_AUTHORS = 60_000
_SENTENCES = 4_000
_STAGES = (
    "keywords",
    "embeddings",
    "projection",
    "topics",
    "quality",
    "search",
    "missions",
    "uat",
    "reviews",
)


@dataclass(frozen=True)
class Plan:
    """Position and date of each made-up paper.

    Attributes
    ----------
    region, second : ndarray of int, shape (n_papers,)
        Region of the paper, and another region that it resembles.
    year : ndarray of int, shape (n_papers,)
    x, y : ndarray of float32, shape (n_papers,)
    centres : ndarray of float, shape (n_regions, 2)
    """

    region: NDArray[np.int64]
    second: NDArray[np.int64]
    year: NDArray[np.int64]
    x: NDArray[np.float32]
    y: NDArray[np.float32]
    centres: NDArray[np.float64]

    @property
    def n_papers(self) -> int:
        """Number of papers."""
        return len(self.region)


def made_up_plan(n_papers: int, n_regions: int) -> Plan:
    """Place papers in regions of unequal sizes on continents, with more papers every year."""
    rng = np.random.default_rng(4)
    continents = rng.normal(size=(_N_CONTINENTS, 2)) * 6
    centres = continents[np.arange(n_regions) % _N_CONTINENTS] + rng.normal(size=(n_regions, 2)) * 2
    weight = 1.0 / np.arange(1, n_regions + 1) ** 0.7
    region, second = rng.choice(n_regions, size=(2, n_papers), p=weight / weight.sum())
    lean = np.where(rng.random(n_papers) < _BETWEEN, rng.random(n_papers) / 2, 0)[:, None]
    place = (1 - lean) * centres[region] + lean * centres[second]
    place += rng.gamma(3.0, 0.15, size=(n_regions, 1))[region] * rng.normal(size=(n_papers, 2))
    years = np.arange(YEARS[0], YEARS[1] + 1)
    growth = 1.06 ** np.arange(len(years))
    year = np.sort(rng.choice(years, size=n_papers, p=growth / growth.sum()))
    x, y = place.T.astype(np.float32)
    return Plan(region, second, year, x, y, centres)


def write_made_up_atlas(
    folder: Path, *, n_papers: int, n_regions: int = 100, n_facilities: int = 60
) -> Atlas:
    """Write an atlas that `landscape.Atlas` reads, without an index for searching."""
    plan = made_up_plan(n_papers, n_regions)
    ids = [f"{year}made.{number:07d}" for number, year in enumerate(plan.year.tolist())]
    _write(folder, "papers.parquet", _papers(plan, ids), as_arrow=True)
    _write(folder, "map.parquet", _map(plan, ids))
    _write_vectors(folder, plan)
    _write(folder, "missions.parquet", _missions(plan, ids, n_facilities))
    thesaurus = _write_thesaurus(folder)
    _write(folder, "uat.parquet", _tags(plan, ids, thesaurus))
    _write(folder, "reviews.parquet", _reviews(plan, ids))
    _write_topics(folder, plan)
    quality = {"knn_recall_at_10": 0.15, "n_papers": n_papers, "n_sample": 2000}
    (folder / "quality.json").write_text(json.dumps(quality))
    return _manifest(folder, plan)


def open_made_up_atlas(folder: Path) -> Atlas:
    """Open an atlas that `write_made_up_atlas` wrote."""
    from landscape.atlas import Atlas
    from landscape.store.manifest import read_manifest

    return Atlas(folder, read_manifest(folder))


def _manifest(folder: Path, plan: Plan) -> Atlas:
    from landscape.atlas import Atlas
    from landscape.pipeline.commit import write_manifest
    from landscape.store.manifest import Manifest, Part, StageRecord

    def stage(**details: Any) -> StageRecord:
        return StageRecord("", 1, {}, {}, plan.n_papers, 0.0, 0.0, "", {}, details=details)

    n = plan.n_papers
    part = Part(_PART, n, "demo", f"{_PART}.jsonl", "", 0, 0, n, 0, 0)
    ingest = stage(
        read=n,
        kept=n,
        merged=0,
        rejected=0,
        generated=n,
        sources={"demo:made-up.jsonl": n},
        first_date=f"{YEARS[0]}-01-01",
        last_date=f"{YEARS[1]}-12-28",
    )
    stages = {"ingest": ingest} | {name: stage() for name in _STAGES}
    manifest = Manifest(title="Made-up papers", complete=True, parts=(part,), stages=stages)
    return Atlas(folder, write_manifest(folder, manifest))


def _write(folder: Path, table: str, content: pa.Table, *, as_arrow: bool = False) -> None:
    """Write a table as one Parquet file, and optionally as an Arrow file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    (folder / table).mkdir(parents=True, exist_ok=True)
    pq.write_table(content, folder / table / f"{_PART}.parquet", compression="zstd")
    if as_arrow:
        rows = folder / "rows.arrow" / f"{_PART}.arrow"
        rows.parent.mkdir(exist_ok=True)
        with pa.ipc.new_file(str(rows), content.schema) as writer:
            writer.write_table(content, max_chunksize=4096)


def _papers(plan: Plan, ids: list[str]) -> pa.Table:
    import pyarrow as pa

    from landscape.corpus.records import papers_schema

    rng = np.random.default_rng(5)
    n = plan.n_papers
    months = rng.integers(0, 12, n) + 12 * (plan.year - 1970)
    days = months.astype("datetime64[M]").astype("datetime64[D]") + rng.integers(0, 28, n)
    cites = rng.negative_binomial(0.5, 0.5 / (0.5 + _MEAN_CITATIONS), n)
    categories = pa.array([[f"astro-ph.{name}"] for name in ("CO", "EP", "GA", "HE", "IM", "SR")])
    columns: dict[str, pa.Array] = {
        "paper_id": pa.array(ids),
        "bibcode": pa.array(ids),
        "title": _texts(rng, n, n_sentences=1, n_words=9),
        "abstract": _texts(rng, n, n_sentences=8, n_words=22),
        "date": pa.array(days),
        "date_precision": pa.array(["day"] * n),
        "year": pa.array(plan.year.astype(np.int16)),
        "cites": pa.array(cites.astype(np.int32), mask=rng.random(n) < 0.1),
        "authors": _authors(rng, n),
        "categories": categories.take(pa.array(plan.region % 6)),
        "generated": pa.array(np.ones(n, dtype=bool)),
    }
    nothing = pa.array([[]], pa.list_(pa.string())).take(pa.array(np.zeros(n, dtype=np.int64)))
    arrays = [
        columns[field.name].cast(field.type)
        if field.name in columns
        else nothing
        if pa.types.is_list(field.type)
        else pa.nulls(n, field.type)
        for field in papers_schema()
    ]
    return pa.Table.from_arrays(arrays, schema=papers_schema())


def _texts(rng: np.random.Generator, n: int, *, n_sentences: int, n_words: int) -> pa.Array:
    """Return texts of made-up words."""
    import pyarrow as pa

    letters = np.array(list("etaoinshrdlu"))
    words = ["".join(letters[rng.integers(0, 12, rng.integers(2, 11))]) for _ in range(3_000)]
    chosen = rng.integers(0, len(words), size=(_SENTENCES, n_words))
    sentences = [" ".join(words[one] for one in row).capitalize() + "." for row in chosen]
    rows = rng.integers(0, len(sentences), size=(n, n_sentences)).tolist()
    return pa.array([" ".join([sentences[one] for one in row]) for row in rows])


def _authors(rng: np.random.Generator, n: int) -> pa.Array:
    """Return five authors per paper; one author has many papers."""
    import pyarrow as pa

    names = [AUTHOR] + [f"Name{number}, {chr(65 + number % 26)}." for number in range(1, _AUTHORS)]
    codes = rng.integers(1, len(names), size=(n, 5))
    codes[rng.choice(n, min(n, 400), replace=False), 0] = 0
    flat = pa.array(names).take(pa.array(codes.ravel()))
    return pa.ListArray.from_arrays(pa.array(np.arange(0, 5 * n + 1, 5, dtype=np.int32)), flat)


def _map(plan: Plan, ids: list[str]) -> pa.Table:
    import pyarrow as pa

    topic = plan.region.astype(np.int32)
    return pa.table({"paper_id": ids, "x": plan.x, "y": plan.y, "topic_id": topic})


def _write_vectors(folder: Path, plan: Plan) -> None:
    """Write unit vectors around one direction per region; some lie between two regions."""
    rng = np.random.default_rng(6)
    directions = rng.standard_normal((len(plan.centres), N_DIMS), dtype=np.float32)
    (folder / "embeddings").mkdir(exist_ok=True)
    shape = (plan.n_papers, N_DIMS)
    file = np.lib.format.open_memmap(
        folder / "embeddings" / f"{_PART}.npy", mode="w+", dtype=np.float32, shape=shape
    )
    lean = np.where(rng.random(plan.n_papers) < _BETWEEN, rng.random(plan.n_papers) / 2, 0)
    for start in range(0, plan.n_papers, 20_000):
        part = slice(start, start + 20_000)
        own = lean[part, None].astype(np.float32)
        block = (1 - own) * directions[plan.region[part]] + own * directions[plan.second[part]]
        block += 1.2 * rng.standard_normal(block.shape, dtype=np.float32)
        file[part] = block / np.linalg.norm(block, axis=1, keepdims=True)
    file.flush()


def _missions(plan: Plan, ids: list[str], n_facilities: int) -> pa.Table:
    """Return mentions of the first facilities, each used in some regions since first light."""
    import pyarrow as pa

    from landscape.corpus import load_facilities

    rng = np.random.default_rng(7)
    facilities = list(load_facilities().values())[:n_facilities]
    rows, codes = [], []
    for number, facility in enumerate(facilities):
        taste = rng.gamma(0.3, size=len(plan.centres))
        since = np.where(plan.year >= facility.first_light.year, 1.0, 0.05)
        chance = taste[plan.region] * since
        wanted = 0.055 * plan.n_papers / (number + 1) ** 0.7
        its = np.flatnonzero(rng.random(plan.n_papers) < chance * wanted / chance.sum())
        rows.append(np.repeat(its, 1 + rng.poisson(0.7, len(its))))
        codes.append(np.full(len(rows[-1]), number))
    row, code = np.concatenate(rows), np.concatenate(codes)
    order = np.argsort(row, kind="stable")
    row, code = row[order], code[order]
    names = pa.array([one.name for one in facilities]).take(pa.array(code))
    start = rng.integers(0, 1000, len(row)).astype(np.int32)
    return pa.table(
        {
            "paper_id": pa.array(ids).take(pa.array(row)),
            "row": row.astype(np.int32),
            "facility": names,
            "field": pa.array(["abstract"] * len(row)),
            "start": start,
            "end": start + 4,
            "surface": names,
        }
    )


def _write_thesaurus(folder: Path) -> Any:
    from landscape.corpus.thesaurus import embedded_thesaurus

    thesaurus = embedded_thesaurus()
    thesaurus.to_frame().to_parquet(folder / "thesaurus.parquet")
    return thesaurus


def _tags(plan: Plan, ids: list[str], thesaurus: Any) -> pa.Table:
    """Return random concept tags of each paper, from the concepts of its region."""
    import pyarrow as pa

    rng = np.random.default_rng(8)
    concepts = pa.array(list(thesaurus.concepts))
    own = rng.integers(0, len(concepts), size=(len(plan.centres), 40))
    row = np.repeat(np.arange(plan.n_papers), _MEAN_TAGS)
    code = own[plan.region[row], rng.integers(0, 40, len(row))]
    keep = np.append(True, (np.diff(row) != 0) | (np.diff(code) != 0))
    row, code = row[keep], code[keep]
    evidence = pa.array(["meaning", "title: halo", "abstract: halo", "keyword: Halo"])
    return pa.table(
        {
            "paper_id": pa.array(ids).take(pa.array(row)),
            "row": row.astype(np.int32),
            "concept_id": concepts.take(pa.array(code)),
            "score": rng.beta(1.5, 3, len(row)).astype(np.float32),
            "evidence": evidence.take(pa.array(rng.integers(0, 4, len(row)))),
        }
    )


def _reviews(plan: Plan, ids: list[str]) -> pa.Table:
    import pyarrow as pa

    row = np.flatnonzero(np.random.default_rng(9).random(plan.n_papers) < _REVIEWED)
    return pa.table(
        {
            "paper_id": pa.array(ids).take(pa.array(row)),
            "row": row.astype(np.int32),
            "score": np.full(len(row), 0.9, dtype=np.float32),
            "evidence": pa.array(["title: a Review"] * len(row)),
        }
    )


def _write_topics(folder: Path, plan: Plan) -> None:
    """Write regions and their continents."""
    import pandas as pd

    n_regions = len(plan.centres)
    numbers = np.arange(n_regions)
    papers = np.bincount(plan.region, minlength=n_regions)
    home = numbers % _N_CONTINENTS
    regions = pd.DataFrame(
        {
            "topic_id": numbers,
            "x": plan.centres[:, 0],
            "y": plan.centres[:, 1],
            "label": [f"Made-up region {number}" for number in numbers],
            "n_papers": papers,
            "parent_id": 1000 + home,
            "level": 1,
        }
    )
    continents = regions.groupby("parent_id", as_index=False).agg(
        x=("x", "mean"), y=("y", "mean"), n_papers=("n_papers", "sum")
    )
    continents["topic_id"] = continents["parent_id"]
    continents = continents.assign(parent_id=-1, level=0)
    continents["label"] = [f"Continent {number - 1000}" for number in continents["topic_id"]]
    table = pd.concat([continents, regions], ignore_index=True)
    table = table.assign(keywords=[["made up"]] * len(table), label_source="keywords", density=1.0)
    table["exemplars"] = [[]] * len(table)
    kinds = {"topic_id": "int32", "n_papers": "int32", "parent_id": "int32", "level": "int8"}
    table.astype(kinds).to_parquet(folder / "topics.parquet")
