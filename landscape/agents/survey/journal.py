"""What a language model answered in a survey, kept in a file: an interrupted survey goes on.

A survey depends on its question, its settings, the atlas and the model's replies alone. So no state
needs saving but the replies: run again, it takes the same steps, finds each reply here until there
are no more, and asks from there on.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from landscape.errors import InputError

_FORM = "landscape survey 1"


class Journal:
    """Replies by the hash of what was asked; of no file, only for the moment.

    Parameters
    ----------
    path : pathlib.Path, optional
        Made if it does not exist; a line that broke off is passed over.
    identity : dict
        What survey it is: another one is refused.

    Raises
    ------
    InputError
        If the file is of another survey, or cannot be used.

    Examples
    --------
    >>> journal = Journal(None, {"question": "?"})
    >>> journal.keep("asked", {"queries": []})
    >>> journal.find("asked"), journal.find("else") is None
    ({'queries': []}, True)
    """

    def __init__(self, path: Path | None, identity: dict[str, Any]) -> None:
        self._path = path
        self._replies: dict[str, Any] = {}
        if path is None:
            return
        if path.exists() and path.stat().st_size:
            self._read(path, identity)
        else:
            self._write({"form": _FORM, "identity": identity})

    def find(self, asked: str) -> Any:
        """Give the reply to a request; None where there is none."""
        return self._replies.get(_key(asked))

    def keep(self, asked: str, reply: Any) -> None:
        """Keep a reply."""
        key = _key(asked)
        if key not in self._replies:
            self._replies[key] = reply
            self._write({"asked": key, "reply": reply})

    def _read(self, path: Path, identity: dict[str, Any]) -> None:
        try:
            lines = path.read_text("utf-8", errors="replace").split("\n")
            head = json.loads(lines[0])
            other = head["form"] != _FORM or head["identity"] != identity
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path} is no survey to go on with; name another file.") from error
        if other:
            raise InputError(
                f"{path} belongs to another survey (another question, atlas, model or setting); "
                "name another file."
            )
        for line in lines[1:]:
            try:
                kept = json.loads(line)
                self._replies[kept["asked"]] = kept["reply"]
            except (ValueError, KeyError, TypeError, RecursionError):
                continue  # the line that was being written when the survey was stopped
        if lines[-1]:
            self._append("\n")

    def _write(self, value: dict[str, Any]) -> None:
        if self._path is not None:
            self._append(json.dumps(value, ensure_ascii=False) + "\n")

    def _append(self, text: str) -> None:
        if self._path is None:
            return
        try:
            with open(self._path, "a", encoding="utf-8", opener=_for_the_owner) as stream:
                stream.write(text)
        except OSError as error:
            raise InputError(f"{self._path} cannot be written ({error.strerror}).") from error


def _for_the_owner(path: str, flags: int) -> int:
    """A question and its replies may quote what is not published yet."""
    return os.open(path, flags, 0o600)


def _key(asked: str) -> str:
    return hashlib.sha256(asked.encode("utf-8", "replace")).hexdigest()[:32]
