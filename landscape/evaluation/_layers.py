"""Evaluate the layers of an atlas: facility mentions and concept tags."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from landscape.corpus import load_facilities
from landscape.corpus.thesaurus import Thesaurus
from landscape.embeddings.embedder import embedder_for
from landscape.errors import InputError
from landscape.evaluation._questions import json_lines, read_text
from landscape.overlays.missions import find_in_papers
from landscape.overlays.missions.roles import Place
from landscape.overlays.thesaurus import tag_papers
from landscape.overlays.thesaurus.tagging import concept_texts
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.store import AtlasStore


def evaluate_facilities(atlas: AtlasStore, labels: Path) -> Analysis:
    """Compare the detection of facilities with plain string matching.

    Parameters
    ----------
    atlas : AtlasStore
        Atlas that contains the labelled papers.
    labels : pathlib.Path
        JSON lines with ``arxiv_id`` (or the key of the paper), ``field``, ``surface``,
        ``occurrence`` and ``facility`` (empty if the word does not refer to a facility).

    Returns
    -------
    Analysis
        Table with the columns ``method, half, labelled, traps, precision, recall``.

    Raises
    ------
    InputError
        If the file cannot be read, or none of its papers is in the atlas.
    """
    read = read_labels(labels)
    papers = atlas.read_papers(["arxiv_id", "paper_id", "title", "abstract"])
    papers["name"] = papers["arxiv_id"].fillna(papers["paper_id"])
    wanted = papers[papers["name"].isin({label.arxiv_id for label in read})]
    if not len(wanted):
        raise InputError(f"None of the papers of {labels} is in {atlas.path}; use another atlas.")
    by_id = {
        row.name: {"title": row.title, "abstract": row.abstract}
        for row in wanted.itertuples(index=False)
    }
    return Analysis(
        "mentions",
        evaluate_mentions(by_id, read),
        f"Mentions of facilities in {atlas.title}, compared with {len(read):,} labels.",
        {"labels": len(read), "labelled papers in the atlas": len(wanted)},
        atlas.coverage,
    )


def evaluate_concepts(atlas: AtlasStore, truth: Path) -> Analysis:
    """Compare the tagging of papers with two simple methods.

    The simple methods are plain string matching and embedding similarity.

    Parameters
    ----------
    atlas : AtlasStore
    truth : pathlib.Path
        JSON lines with ``arxiv_id`` (or the key of the paper) and ``uat`` (list of the ids of the
        concepts that the authors chose).

    Returns
    -------
    Analysis
        Table with the columns ``method, recall, ndcg, recall_near, ndcg_near, papers`` for the
        first ten tags. Keywords are not used, because they may contain the concepts.

    Raises
    ------
    InputError
        If the file cannot be read, or none of its papers is in the atlas.
    """
    given: dict[str, list[str]] = {}
    for number, record in json_lines(read_text(truth, wanted="a file of concepts"), truth):
        concepts = record.get("uat")
        if not isinstance(record.get("arxiv_id"), str) or not isinstance(concepts, list):
            raise InputError(f"{truth}, line {number}, needs arxiv_id and a list of concepts, uat.")
        given[record["arxiv_id"]] = [str(concept) for concept in concepts]
    papers = atlas.read_papers(["arxiv_id", "paper_id", "title", "abstract"])
    names = papers["arxiv_id"].fillna(papers["paper_id"])
    rows = {row: given[name] for row, name in enumerate(names) if name in given}
    if not rows:
        raise InputError(f"None of the papers of {truth} is in {atlas.path}; use another atlas.")
    if not any(one in atlas.thesaurus.concepts for given_to in rows.values() for one in given_to):
        raise InputError(
            f"None of the concepts in {truth} is in the thesaurus of {atlas.path}. Build the "
            "atlas with UAT.json or UAT.rdf, because UAT.csv has no concept numbers."
        )
    return Analysis(
        "tagging",
        compare_taggings(papers, atlas.vectors(), rows, atlas.thesaurus, _concept_vectors(atlas)),
        f"Concepts of papers of {atlas.title}, compared with the concepts chosen by the authors.",
        {"papers with given concepts": len(rows)},
        atlas.coverage,
    )


def _concept_vectors(atlas: AtlasStore) -> np.ndarray:
    model = atlas.stages["embeddings"].model
    if model is None:
        raise InputError(
            f"The embedding model of {atlas.path} is unknown; build the atlas with --embedder."
        )
    return np.asarray(
        embedder_for(model, trust=atlas.trust_model).embed(concept_texts(atlas.thesaurus)[1])
    )


_HALVES = ("development", "held out")


class LabelledMention(NamedTuple):
    """String in a paper, with the facility assigned by a reader ("" if it is not a facility)."""

    arxiv_id: str
    field: str
    surface: str
    occurrence: int
    facility: str

    @property
    def half(self) -> str:
        """Half of the benchmark. Tune rules only on the "development" half."""
        return _HALVES[1 - hashlib.sha256(self.arxiv_id.encode()).digest()[0] % 2]


def read_labels(path: Path) -> list[LabelledMention]:
    """Read labelled mentions from JSON lines."""
    labels = []
    for number, record in json_lines(read_text(path, wanted="a file of labelled mentions"), path):
        try:
            labels.append(LabelledMention(**record))
        except TypeError:
            fields = ", ".join(LabelledMention._fields)
            raise InputError(f"{path}, line {number}, must have the fields {fields}.") from None
    return labels


def evaluate_mentions(
    papers: Mapping[str, Mapping[str, object]], labels: Iterable[LabelledMention]
) -> pd.DataFrame:
    """Compare `find_in_papers` with plain string matching on labelled mentions."""
    import pandas as pd

    known = [label for label in labels if label.arxiv_id in papers]
    rows = []
    for method, find in (("with context", _find), ("plain matching", match_plainly)):
        for half in _HALVES:
            chosen = [label for label in known if label.half == half]
            if chosen:
                traps = sum(not label.facility for label in chosen)
                counts = (len(chosen) - traps, traps)
                rows.append((method, half, *counts, *_agreement(papers, chosen, find)))
    columns = ["method", "half", "labelled", "traps", "precision", "recall"]
    return pd.DataFrame(rows, columns=columns)


def match_plainly(paper: Mapping[str, Any]) -> dict[str, list[Place]]:
    """Find the names of facilities by string matching at the start of words."""
    pattern, facilities = _facility_names()
    return {
        field: [
            Place(*match.span(), facilities[match.group()])
            for match in pattern.finditer(paper.get(field) or "")
        ]
        for field in ("title", "abstract")
    }


@cache
def _facility_names() -> tuple[re.Pattern[str], dict[str, str]]:
    known = reversed([*load_facilities().values()])  # the first facility with a name has priority
    facilities = {name: one.name for one in known for name in one.names}
    longest_first = sorted(facilities, key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})"), facilities


def _find(paper: Mapping[str, Any]) -> dict[str, list[Place]]:
    found: dict[str, list[Place]] = defaultdict(list)
    for row in find_in_papers([paper.get("title")], [paper.get("abstract")]).itertuples():
        found[row.field].append(Place(row.start, row.end, row.facility))
    return found


def _agreement(
    papers: Mapping[str, Mapping[str, object]],
    labels: Iterable[LabelledMention],
    find: Callable[[Mapping[str, object]], Mapping[str, list[Place]]],
) -> tuple[float, float]:
    """Return precision and recall; the values are 0 if nothing is found or labelled."""
    right = wrong = missed = 0
    for label in labels:
        paper = papers[label.arxiv_id]
        start, end = _place(str(paper[label.field]), label)
        meant = {
            mention.facility
            for mention in find(paper).get(label.field, ())
            if mention.start < end and mention.end > start
        }
        if label.facility and label.facility in meant:
            right += 1
        else:
            wrong += bool(meant)
            missed += bool(label.facility)
    return right / max(right + wrong, 1), right / max(right + missed, 1)


def _place(text: str, label: LabelledMention) -> tuple[int, int]:
    """Return the start and the end of a labelled string."""
    places = [match.span() for match in re.finditer(re.escape(label.surface), text)]
    if label.occurrence >= len(places):
        raise InputError(
            f"{label.surface!r} does not occur {label.occurrence + 1} times in the {label.field} "
            f"of {label.arxiv_id}; check that the labels belong to the papers of this atlas."
        )
    return places[label.occurrence]


_SEPARATORS = re.compile(r"[^a-z0-9]+")


def evaluate_tagging(
    tags: pd.DataFrame, given: Mapping[int, Sequence[str]], thesaurus: Thesaurus, *, k: int = 10
) -> dict[str, float]:
    """Return the mean recall and nDCG of tags, given the concepts that the authors chose."""
    if not given:
        raise InputError("No paper has concepts chosen by its authors; choose other papers.")
    kept = tags[tags["row"].isin(given)].sort_values(["row", "score"], ascending=[True, False])
    found = kept.groupby("row")["concept_id"].agg(list).to_dict()
    rows = []
    for row, wanted in given.items():
        best = found.get(row, [])[:k]
        near = {one: thesaurus.near(one) for one in wanted if one in thesaurus.concepts}
        rows.append((*_measure(best, wanted, {}, k), *_measure(best, wanted, near, k)))
    names = ("recall", "ndcg", "recall_near", "ndcg_near")
    means = {name: float(mean) for name, mean in zip(names, np.mean(rows, axis=0), strict=True)}
    return means | {"papers": len(given)}


def _measure(
    best: Sequence[str], wanted: Sequence[str], near: Mapping[str, frozenset[str]], k: int
) -> tuple[float, float]:
    """Return the recall and the nDCG of a paper; exact matches have priority over near matches."""
    left = dict.fromkeys(wanted)
    gains = np.zeros(k)
    for place, tag in enumerate(best):
        if tag in left:
            gains[place] = 1.0
            del left[tag]
    for place, tag in enumerate(best):
        close = next((one for one in left if tag in near.get(one, ())), None)
        if close is not None and not gains[place]:
            gains[place] = 1.0
            del left[close]
    discounts = 1.0 / np.log2(np.arange(2, k + 2))
    n_wanted = len(set(wanted))
    return gains.sum() / n_wanted, gains @ discounts / discounts[: min(k, n_wanted)].sum()


def compare_taggings(
    papers: pd.DataFrame,
    vectors: NDArray[np.float32],
    given: Mapping[int, Sequence[str]],
    thesaurus: Thesaurus,
    concept_vectors: NDArray[np.float32],
) -> pd.DataFrame:
    """Compare the tagging with plain string matching and with embedding similarity."""
    import pandas as pd

    rows = np.array(sorted(given), dtype=np.int64)
    titles, abstracts = (papers[name].fillna("").tolist() for name in ("title", "abstract"))
    similar = np.asarray(vectors[rows], np.float32) @ concept_vectors.T
    methods = {
        "plain string matching": _plain(rows, titles, abstracts, thesaurus),
        "embedding alone": _ranked(rows, similar, thesaurus),
        "tagging": tag_papers(
            titles, abstracts, None, vectors, thesaurus, concept_vectors, only=rows
        ),
    }

    return pd.DataFrame(
        [
            {"method": name, **evaluate_tagging(tags, given, thesaurus)}
            for name, tags in methods.items()
        ]
    )


def _plain(
    rows: NDArray[np.int64], titles: Sequence[str], abstracts: Sequence[str], thesaurus: Thesaurus
) -> pd.DataFrame:
    """Rank concepts by their frequency in a text, ignoring case and a plural s."""
    names = [
        (column, f" {_plain_text(name)} ")
        for column, concept in enumerate(thesaurus.concepts.values())
        for name in concept.names
    ]
    counts = np.zeros((len(rows), len(thesaurus.concepts)))
    for place, row in enumerate(rows):
        text = f" {_plain_text(titles[row] + ' ' + abstracts[row])} "
        for column, name in names:
            if name in text:
                counts[place, column] += text.count(name)
    return _ranked(rows, counts, thesaurus)


def _plain_text(text: str) -> str:
    return " ".join(word.rstrip("s") for word in _SEPARATORS.sub(" ", text.lower()).split())


def _ranked(
    rows: NDArray[np.int64], scores: np.ndarray, thesaurus: Thesaurus, *, k: int = 10
) -> pd.DataFrame:
    import pandas as pd

    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    ids = np.array(list(thesaurus.concepts), dtype=object)
    best = np.take_along_axis(scores, order, axis=1).ravel()
    made = {"row": np.repeat(rows, order.shape[1]), "concept_id": ids[order.ravel()], "score": best}
    table = pd.DataFrame(made)
    return table[table["score"] > 0]
