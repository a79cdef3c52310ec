"""A small atlas whose papers come without references."""

from __future__ import annotations

from pathlib import Path

import pytest

import landscape


@pytest.fixture
def atlas_without_references(tmp_path: Path) -> Path:
    """Twelve papers, which a test may change."""
    import json

    path = tmp_path / "few.jsonl"
    subjects = ("spiral galaxies", "hot Jupiters", "magnetars", "weak lensing")
    with path.open("w", encoding="utf-8") as stream:
        for n in range(12):
            subject = subjects[n % 4]
            text = f"We study {subject} number {n} with deep imaging, and measure {subject} again."
            record = {
                "arxiv_id": f"2401.{n:05d}",
                "title": f"On {subject}, part {n}",
                "abstract": text,
                "date": f"2024-01-{n + 1:02d}",
            }
            stream.write(json.dumps(record) + "\n")
    atlas = landscape.build(path, tmp_path / "few.atlas", layout="pca", workers=1, tagger="rules")
    return atlas.path
