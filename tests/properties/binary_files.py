"""A valid file for every reader of files that are not text."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from landscape.corpus import read_papers
from landscape.corpus.full_text import read_full_text
from landscape.embeddings.precomputed import ReadyVectors  # a reader of a command
from tests.properties.good_files import PAPER, TEX, Read


def binary_files(folder: Path) -> dict[str, tuple[Read, bytes]]:
    """Return reader and content of each file that is not text."""
    table = pd.DataFrame([PAPER, PAPER])
    table.to_parquet(folder / "papers.parquet")
    ready = table.assign(embed=[[0.5, 0.25]] * 2, umap_x=1.0, umap_y=2.0)
    ready.rename(columns={"doi": "ads_id"}).to_parquet(folder / "pathfinder.parquet")
    vectors = pd.DataFrame({"paper_id": ["a", "b"], "embedding": [[0.5, 0.25], [1.0, 0.0]]})
    vectors.to_parquet(folder / "vectors.parquet")
    np.save(folder / "vectors.npy", np.eye(4, dtype=np.float32))
    figure = Figure()
    figure.text(0.1, 0.5, "Dust cools by lines.")
    figure.savefig(folder / "full.pdf")
    with tarfile.open(folder / "full.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("main.tex")
        member.size = len(TEX)
        archive.addfile(member, io.BytesIO(TEX.encode()))
    (folder / "papers.jsonl.gz").write_bytes(gzip.compress(json.dumps(PAPER).encode()))
    papers: Read = lambda path: list(read_papers(path))  # noqa: E731
    vectors_of: Read = lambda path: list(ReadyVectors(path).blocks())  # noqa: E731
    readers = {
        "papers.parquet": papers,
        "pathfinder.parquet": papers,
        "papers.jsonl.gz": papers,
        "vectors.parquet": vectors_of,
        "vectors.npy": vectors_of,
        "full.pdf": read_full_text,
        "full.tar.gz": read_full_text,
    }
    return {name: (read, (folder / name).read_bytes()) for name, read in readers.items()}
