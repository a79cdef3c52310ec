"""How good the layers of an atlas are, measured on what people said of its papers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError
from landscape.evaluation.lines import json_lines, read_text
from landscape.evaluation.mentions import evaluate_mentions, read_labels
from landscape.evaluation.tagging import compare_taggings
from landscape.overlays._analysis import Analysis
from landscape.overlays.thesaurus._tagging import concept_texts
from landscape.vectors.embedder import embedder_for

if TYPE_CHECKING:
    from landscape.atlas.reading import Atlas


def evaluate_facilities(atlas: Atlas, labels: Path) -> Analysis:
    """Measure how well facilities are found, beside plain string matching.

    Parameters
    ----------
    atlas : Atlas
        With the papers that were labelled.
    labels : pathlib.Path
        JSON lines with ``arxiv_id`` (the paper's key where it has none), ``field, surface,
        occurrence, facility``, see `landscape.evaluation.mentions.LabelledMention`.

    Returns
    -------
    Analysis
        ``method, half, labelled, traps, precision, recall``.

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
        raise InputError(f"None of the papers of {labels} is in {atlas.path}.")
    by_id = {row.name: {"title": row.title, "abstract": row.abstract}
             for row in wanted.itertuples(index=False)}  # fmt: skip
    return Analysis(
        "mentions",
        evaluate_mentions(by_id, read),
        f"Mentions of facilities in {atlas.title}, against {len(read):,} labels.",
        {"labels": len(read), "labelled papers in the atlas": len(wanted)},
        atlas.coverage,
    )


def evaluate_concepts(atlas: Atlas, truth: Path) -> Analysis:
    """Measure how well papers are tagged, beside string matching and embeddings alone.

    Parameters
    ----------
    atlas : Atlas
    truth : pathlib.Path
        JSON lines with ``arxiv_id`` (the paper's key where it has none) and ``uat``: ids of the
        concepts that the authors gave.

    Returns
    -------
    Analysis
        ``method, recall, ndcg, recall_near, ndcg_near, papers``, of the first ten tags. Keywords
        of the papers are not used: they may hold the answer.

    Raises
    ------
    InputError
        If the file cannot be read, or none of its papers is in the atlas.
    """
    given: dict[str, list[str]] = {}
    for number, record in json_lines(read_text(truth, wanted="a file of given concepts"), truth):
        concepts = record.get("uat")
        if not isinstance(record.get("arxiv_id"), str) or not isinstance(concepts, list):
            raise InputError(f"{truth}, line {number}, must have arxiv_id and a list uat.")
        given[record["arxiv_id"]] = [str(concept) for concept in concepts]
    papers = atlas.read_papers(["arxiv_id", "paper_id", "title", "abstract"])
    names = papers["arxiv_id"].fillna(papers["paper_id"])
    rows = {row: given[name] for row, name in enumerate(names) if name in given}
    if not rows:
        raise InputError(f"None of the papers of {truth} is in {atlas.path}.")
    return Analysis(
        "tagging",
        compare_taggings(papers, atlas.vectors(), rows, atlas.thesaurus, _concept_vectors(atlas)),
        f"Concepts of papers of {atlas.title}, against those that their authors gave.",
        {"papers with given concepts": len(rows)},
        atlas.coverage,
    )


def _concept_vectors(atlas: Atlas) -> Any:
    model = atlas.stages["embeddings"].model
    if model is None:
        raise InputError(f"{atlas.path} does not say which model made its vectors.")
    return np.asarray(embedder_for(model).embed(concept_texts(atlas.thesaurus)[1]))
