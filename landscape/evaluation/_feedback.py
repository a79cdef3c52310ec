"""Store the ratings of answers, surveys and citations in a file of the user, and count them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape._serializer import plain
from landscape._wording import one_line
from landscape.errors import InputError
from landscape.evaluation._questions import json_lines, read_text
from landscape.statistics import share_interval

if TYPE_CHECKING:
    import pandas as pd

_MAX_SHOWN = 200  # characters of a question and of a comment
_NO_MODEL = "no model"
_OFFLINE = (None, "extractive", "tables", "offline", "similarity")  # methods without a model


@dataclass(frozen=True)
class Feedback:
    """Ratings by panel, type of question and method, and all comments.

    `table` has the columns ``panel, type, method, ratings, up, down, share, share_low, share_high``
    (95% intervals), as in pathfinder (Iyer et al. 2024, section 4.3).
    """

    table: pd.DataFrame
    comments: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the table and the comments as JSON values."""
        return {"table": plain(self.table), "comments": list(self.comments)}

    def to_text(self) -> str:
        """Format the table and the comments."""
        shown = self.table.round(2).to_string(index=False)
        return "\n".join([shown, *(f"- {comment}" for comment in self.comments)])


def feedback_file() -> Path:
    """Return the file of the ratings of this user.

    It is the value of the environment variable LANDSCAPE_FEEDBACK, or ``landscape/feedback.jsonl``
    in the folder that the environment variable XDG_DATA_HOME names (default: ``~/.local/share``).
    Nothing in it is sent anywhere.
    """
    if own := os.environ.get("LANDSCAPE_FEEDBACK"):
        return Path(own).expanduser()
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "landscape" / "feedback.jsonl"


def write_feedback(
    panel: str,
    question: str,
    *,
    is_good: bool,
    comment: str = "",
    method: str | None = None,
    settings: Mapping[str, object] = {},
    papers: Sequence[str] = (),
    path: Path | None = None,
) -> Path:
    """Append a rating to the file of the user; only its owner can read the file."""
    target = path or feedback_file()
    row = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "panel": panel,
        "question": question,
        "method": _NO_MODEL if method in _OFFLINE else method,
        "settings": plain(settings),
        "papers": list(papers),
        "rating": 1 if is_good else -1,
        "comment": " ".join(comment.split()),
    }
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        number = os.open(target, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(number, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(row) + "\n")
    except OSError as error:
        raise InputError(
            f"{target} cannot be written ({error.strerror}). Set LANDSCAPE_FEEDBACK to another "
            "file."
        ) from error
    return target


def read_feedback(path: str | Path) -> Feedback:
    """Count the ratings in a file by panel, type of question and method.

    Parameters
    ----------
    path : path
        File that the panels write; see the documentation of the panels.

    Returns
    -------
    Feedback

    Raises
    ------
    InputError
        If the file cannot be read or has no ratings.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "feedback.jsonl"
    >>> _ = write_feedback("ask", "What is dust?", is_good=True, path=path)
    >>> read_feedback(path).table[["panel", "up", "down"]].values.tolist()
    [['ask', 1, 0]]
    """
    import pandas as pd

    path = Path(path)
    rows = []
    comments = []
    for number, row in json_lines(read_text(path, wanted="a file of ratings"), path):
        settings = row.get("settings") or {}
        if row.get("rating") not in (1, -1) or not isinstance(settings, dict):
            raise InputError(f'{path}, line {number}, has no "rating" of 1 or -1; remove the line.')
        kind = str(settings.get("question_type") or "").partition(" (")[0]
        rows.append((str(row.get("panel")), kind, str(row.get("method")), row["rating"]))
        if row.get("comment"):
            sign = "+" if row["rating"] > 0 else "-"
            asked = one_line(str(row.get("question", "")), most=_MAX_SHOWN)
            comments.append(f"{sign} {asked}: {one_line(str(row['comment']), most=_MAX_SHOWN)}")
    if not rows:
        raise InputError(f"{path} has no ratings; rate an answer in a panel first.")
    given = pd.DataFrame(rows, columns=["panel", "type", "method", "rating"])
    groups = given.assign(up=given["rating"] > 0).groupby(["panel", "type", "method"])
    table = groups["up"].agg(ratings="size", up="sum").reset_index()
    table["down"] = table["ratings"] - table["up"]
    table["share"] = table["up"] / table["ratings"]
    table["share_low"], table["share_high"] = share_interval(table["up"], table["ratings"])
    return Feedback(table, tuple(comments))
