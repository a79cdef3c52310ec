"""Damaged files of names, labels and reviews give a result or a one-sentence error."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from landscape.errors import LandscapeError

# Private modules: the readers of small files, which commands call with a path.
from landscape.outreach.names import read_names
from landscape.overlays.reviews import read_review_list
from landscape.store.tables import read_labels

FILES: dict[str, tuple[Callable[[Path], Any], bytes]] = {
    "names.csv": (
        lambda path: read_names(path, {"1": "Dust", "2": "Disks, cold"})[0],
        b'topic_id,name\n1,Sea of Dust\n2,"Cold disks"\n',
    ),
    "labels.csv": (read_labels, b'topic_id,label\n1,Dust\n2,"Disks, cold"\n'),
    "reviews.txt": (read_review_list, b"1998ARA&A..36..189K\n10.1146/annurev.astro.46.1\n"),
    "reviews.jsonl": (
        read_review_list,
        b'{"bibcode": "1998ARA&A..36..189K", "identifier": ["0909.0948"]}\n',
    ),
}
PIECES = (
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b'"',
    b"\n",
    b"\r",
    b",",
    b";",
    b"\t",
    b"=cmd|x",
    b"-1",
    b"9" * 400,
    b"\xe2\x80\xae",
    b"\xed\xa0\x80",
    b"{" * 300,
    b"[" * 300,
    b"null",
    b"1e999",
    b"a" * 200_000,
    b"\x1f\x8b\x08\x00",
)


def damaged(content: bytes, rng: random.Random) -> bytes:
    """Insert, replace, repeat or drop some pieces of a file."""
    for _ in range(rng.randint(1, 4)):
        start, end = sorted(rng.randrange(len(content) + 1) for _ in range(2))
        piece = rng.choice([*PIECES, content[start:end], b""])
        content = content[:start] + piece + content[rng.choice([start, end]) :]
    return content


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_read_or_refused_in_one_sentence(name: str, tmp_path: Path) -> None:
    read, good = FILES[name]
    path = tmp_path / name
    path.write_bytes(good)
    assert len(read(path)) > 0
    rng = random.Random(name)  # noqa: S311 - which bytes, no secret
    for _ in range(500):
        path.write_bytes(damaged(good, rng))
        message = ""
        try:
            read(path)
        except LandscapeError as error:
            message = str(error)
        assert "\n" not in message
