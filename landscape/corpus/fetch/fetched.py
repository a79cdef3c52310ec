"""What a fetch brought home."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Fetched:
    """The outcome of one fetch.

    Attributes
    ----------
    path : pathlib.Path
        The file, or for many files the folder, that `landscape build` can read.
    n_records : int
        Records in it: papers, concepts, or files where `path` is a folder.
    n_skipped : int
        Records that the server sent and that were left out: deleted, repeated or without an id.
    finished : bool
        False where a wished-for limit cut the list before the server's end of it.
    note : str
        One sentence for the user, for example the quota that is left.

    Examples
    --------
    >>> Fetched(Path("a.jsonl"), n_records=2, n_skipped=0, finished=True, note="").n_records
    2
    """

    path: Path
    n_records: int
    n_skipped: int
    finished: bool
    note: str
