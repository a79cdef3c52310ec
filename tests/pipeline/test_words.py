"""Word vectors belong to the right papers after every kind of build."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import landscape
from landscape.embeddings.vectors import WordVectors
from landscape.store.arrays import open_words


def write_papers(path: Path, subjects: list[str]) -> Path:
    rows = [
        {
            "title": f"{subject.capitalize()} number {number}",
            "abstract": f"We observe {subject} and find them {'very ' * number}bright in the sky.",
            "arxiv_id": f"2401.{1000 * (len(subject) % 10) + number:05d}",
        }
        for subject in subjects
        for number in range(6)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def words_of(atlas: landscape.Atlas) -> dict[str, WordVectors]:
    return {
        part.name: open_words(
            atlas.path / "words" / f"{part.name}.npy",
            atlas.path / "word_counts" / f"{part.name}.npy",
        )
        for part in atlas.parts
    }


def test_words_survive_when_a_source_comes_or_goes(tmp_path: Path) -> None:
    one = write_papers(tmp_path / "one.jsonl", ["quasars", "comets"])
    two = write_papers(tmp_path / "two.jsonl", ["dwarf galaxies"])
    whole = words_of(landscape.build([one, two], tmp_path / "whole.atlas", layout="pca"))
    grown = tmp_path / "grown.atlas"
    landscape.build([one], grown, layout="pca")
    bigger = landscape.build([one, two], grown, layout="pca")
    assert bigger.stages["embeddings"].details["reused"] == 12
    for name, words in words_of(bigger).items():
        assert np.array_equal(words.vectors, whole[name].vectors)
        assert np.array_equal(words.lengths, whole[name].lengths)
        assert words.lengths.sum() == len(words.vectors) > 0
    smaller = landscape.build([two], grown, layout="pca")
    assert list(words_of(smaller)) == ["two"]
    assert np.array_equal(words_of(smaller)["two"].vectors, whole["two"].vectors)
    assert [path.name for path in (grown / "words").iterdir()] == ["two.npy"]
