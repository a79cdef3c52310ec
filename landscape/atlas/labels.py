"""Labels edited by hand: ``labels.csv`` in the atlas, which survives every rebuild."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from landscape.errors import AtlasError

if TYPE_CHECKING:
    import pandas as pd

LABELS = "labels.csv"
BY_HAND = "labels.csv"


def read_labels(path: Path) -> dict[int, str]:
    """Read ``labels.csv``.

    Parameters
    ----------
    path : pathlib.Path
        A CSV file with the columns ``topic_id`` and ``label``; it need not exist.

    Returns
    -------
    dict of int to str
        The last line wins where a topic is named twice. Lines with an empty label are left out.

    Raises
    ------
    AtlasError
        If the file is no such table.

    Examples
    --------
    >>> read_labels(Path("no-such-labels.csv"))
    {}
    """
    if not path.is_file():
        return {}
    labels: dict[int, str] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.DictReader(stream)
            if not {"topic_id", "label"} <= set(rows.fieldnames or ()):
                raise AtlasError(
                    f"{path} needs the columns topic_id and label in its first line; it has: "
                    f"{', '.join(rows.fieldnames or ('nothing',))}."
                )
            for row in rows:
                label = (row["label"] or "").strip()
                if label:
                    labels[int(row["topic_id"])] = label
    except (UnicodeDecodeError, csv.Error, ValueError, TypeError) as error:
        if isinstance(error, AtlasError):
            raise
        raise AtlasError(
            f"{path} cannot be read as a table of topic_id and label ({error}); save it as CSV "
            "in UTF-8 with a whole number in every topic_id."
        ) from error
    return labels


def apply_labels(topics: pd.DataFrame, path: Path) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Put hand-made labels over those of the build.

    Parameters
    ----------
    topics : pandas.DataFrame
        As in ``topics.parquet``.
    path : pathlib.Path
        ``labels.csv``; it need not exist.

    Returns
    -------
    topics : pandas.DataFrame
        A copy with the labels, their ``label_source`` being ``"labels.csv"``.
    problems : tuple of str
        One sentence for each line that names a topic which the atlas does not have.

    Raises
    ------
    AtlasError
        If the file cannot be read.
    """
    labels = read_labels(path)
    named = topics.copy()
    by_hand = named["topic_id"].map(labels)
    named["label"] = by_hand.fillna(named["label"])
    named.loc[by_hand.notna(), "label_source"] = BY_HAND
    unknown = sorted(set(labels) - set(named["topic_id"].tolist()))
    problems = tuple(
        f"{path.name} names topic {number} ({labels[number]!r}), which this atlas does not have: "
        "look its number up in the table of topics."
        for number in unknown
    )
    return named, problems
