"""Every place of the map as a table, and the picture in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from landscape.figures._caption import place_in_words
from landscape.plural import count

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "place",
    "kind",
    "name",
    "technical_name",
    "x",
    "y",
    "elevation",
    "n_papers",
    "share",
    "recent_share",
    "shown",
    "part_of",
    "keywords",
    "note",
)


@dataclass(frozen=True)
class Entry:
    """One place of the gazetteer.

    Attributes
    ----------
    place : str
        Its key: a topic number, or two with a bar between for a water.
    kind : str
        ``"continent"``, ``"region"``, ``"strait"`` or ``"sea"``.
    name, technical_name : str
        As lettered, and as the atlas calls it.
    x, y : float
        Map coordinates of its peak or middle.
    elevation : float or None
        Of its peak, 0 (sea level) to 1 (highest of the map).
    n_papers : int or None
    share : float or None
        Of the map's papers.
    recent_share : float or None
        Share of recent papers at its peak.
    shown : bool
        Whether its name found room on the map.
    part_of : str
        Key of the continent.
    keywords : sequence of str
    note : str
        What a water separates.
    """

    place: str
    kind: str
    name: str
    technical_name: str
    x: float
    y: float
    elevation: float | None = None
    n_papers: int | None = None
    share: float | None = None
    recent_share: float | None = None
    shown: bool = False
    part_of: str = ""
    keywords: Sequence[str] = ()
    note: str = ""


def as_table(entries: Sequence[Entry]) -> pd.DataFrame:
    """Put entries into a table, one row a place.

    Returns
    -------
    pandas.DataFrame
        With the columns `COLUMNS`.

    Examples
    --------
    >>> as_table([Entry("7", "region", "Scaffolding", "Dark matter", 0.0, 1.0)])["name"].tolist()
    ['Scaffolding']
    """
    import pandas as pd

    rows = [
        [
            "; ".join(map(str, entry.keywords)) if column == "keywords" else getattr(entry, column)
            for column in COLUMNS
        ]
        for entry in entries
    ]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    table["n_papers"] = table["n_papers"].astype("Int64")
    return table


def describe(
    entries: Sequence[Entry],
    *,
    head: str,
    extent: tuple[float, float, float, float],
    notes: Sequence[str] = (),
    most: int = 10,
) -> str:
    """Describe the map for readers who cannot see it.

    Parameters
    ----------
    entries : sequence of Entry
    head : str
        First sentences: what it is, how many papers, whether they are generated.
    extent : (float, float, float, float)
        ``x0, x1, y0, y1`` of the map.
    notes : sequence of str
        Last sentences.
    most : int, default 10
        Places of each kind to name.

    Returns
    -------
    str

    Examples
    --------
    >>> places = [Entry("7", "region", "Scaffolding", "Dark matter", 0.1, 0.9, n_papers=5)]
    >>> describe(places, head="A map.", extent=(0, 1, 0, 1))
    'A map. 1 region. Largest: Scaffolding (technically Dark matter; 5 papers, upper left).'
    """
    x0, x1, y0, y1 = extent
    parts = [head]
    nouns = {"continent": "continent", "region": "region", "strait": "strait", "sea": "sea"}
    for kind, noun in nouns.items():
        is_land = kind in ("continent", "region")  # of waters, those that the picture names
        some = [entry for entry in entries if entry.kind == kind and (is_land or entry.shown)]
        if not some:
            continue
        some.sort(key=lambda entry: (-(entry.n_papers or 0), entry.place))
        named = []
        for entry in some[:most]:
            where = place_in_words((entry.x - x0) / (x1 - x0), (entry.y - y0) / (y1 - y0))
            technical = (
                f"technically {entry.technical_name}; "
                if entry.technical_name and entry.technical_name != entry.name
                else ""
            )
            papers = f"{count(int(entry.n_papers), 'paper')}, " if entry.n_papers else ""
            named.append(f"{entry.name} ({technical}{papers}{where})")
        lead = "Largest: " if is_land else ""
        parts.append(f"{count(len(some), noun)}. {lead}{', '.join(named)}.")
    return " ".join([*parts, *notes])


def places_as_json(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Entries as plain values, for the page in the browser."""
    return [
        {
            "place": entry.place,
            "kind": entry.kind,
            "name": entry.name,
            "technical": entry.technical_name,
            "papers": entry.n_papers,
            "recent": None if entry.recent_share is None else round(entry.recent_share, 3),
            "keywords": list(entry.keywords)[:8],
            "note": entry.note,
            "shown": entry.shown,
            "partOf": entry.part_of,
        }
        for entry in entries
    ]
