"""The digest: papers that arrived in an atlas since its reader last looked, in groups."""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from landscape._author_names import parse_name, place_in_byline
from landscape._io import wait_for_lock, write_bytes
from landscape._wording import count, did_you_mean, join_names, one_line
from landscape.corpus.facilities import find_facility
from landscape.corpus.libraries import MARKS, Library, libraries_folder, open_library
from landscape.embeddings.embedder import embed_few
from landscape.errors import InputError, LandscapeError
from landscape.mapping.growth import find_novel
from landscape.overlays.changes import region_changes
from landscape.overlays.citations import citation_graph
from landscape.overlays.library._interest import Interest, Literature, rank_papers
from landscape.overlays.trends import new_topics
from landscape.search import SearchSettings, open_engine
from landscape.types import Digest, DigestGroup, DigestPaper

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.store import AtlasStore
    from landscape.types import Paper

    Rows = NDArray[np.int64]

Source = Literal["library", "filter", "region", "text"]
_FIRST_DAYS = 30  # of arrivals, if the reader has not looked before
_BACKFILE_DAYS = 100  # median age of the papers of a part, from which they count by their dates
_MAX_EMBEDDED, _MAX_KNOWN = 300, 3_000  # papers of a library that are compared
_WHOLE = ("author", "cites")  # groups of which all papers are listed
_LIKE_DISLIKED = 0.75  # cosine
_KNOWN_AUTHOR = 3  # papers of the library, from which an author is a reason
_AROUND, _JOINS = 20, 0.3  # neighbours, and their least share in each of two regions
_MAX_SAMPLED = 50_000  # papers from which it is estimated how similar papers are
_GROUPS = {
    "author": "By authors you watch",
    "cites": "Citing your papers",
    "facility": "With facilities you watch",
    "region": "In regions you watch",
    "similar": "Close to your papers",
}


@dataclass(frozen=True)
class _Arrivals:
    """Rows of new papers, with their first and last day, and what is not certain about them."""

    rows: Rows
    since: date | None
    until: date | None
    note: str = ""


def make_digest(
    atlas: AtlasStore,
    reader: Library | str | os.PathLike[str],
    *,
    kind: Source = "library",
    since: str | None = None,
    k: int = 20,
    record: bool = False,
) -> Digest:
    """List the papers that arrived in an atlas since a reader last looked.

    A paper arrives when an update adds it, whatever its date is. Papers of parts with old papers,
    such as the first build, count by their dates.

    Parameters
    ----------
    atlas : AtlasStore
    reader : Library, path or str
        Library, its name, or a file that `landscape.corpus.libraries.read_library` reads; or the
        filter, region or text that `kind` says.
    kind : {"library", "filter", "region", "text"}, default "library"
    since : str, optional
        First day of arrival, such as ``"2026-11-01"``. By default, the papers that arrived since
        the last recorded digest; if there is none, those of the last 30 days.
    k : int, default 20
        Maximum number of papers in a group. Papers of watched authors, and papers that cite the
        library, are all listed.
    record : bool, default False
        Whether to remember, in a file of the user, that these papers were shown.

    Returns
    -------
    Digest

    Raises
    ------
    InputError
        If the reader is unknown, `since` is not a day, or `k` is not positive.

    Examples
    --------
    >>> import landscape
    >>> atlas = landscape.open("my.atlas")  # doctest: +SKIP
    >>> make_digest(atlas, "mine").groups  # doctest: +SKIP
    """
    if k < 1:
        raise InputError(f"k is {k}; give at least 1.")
    library = open_library(reader) if kind == "library" else None
    name = f"the library {library.name}" if library else f"the {kind} {one_line(str(reader))!r}"
    seen = _Seen(atlas, f"{library.name}:{library.source}" if library else f"{kind}:{reader}")
    arrivals = _arrivals(atlas, since, seen)
    rows, notes = arrivals.rows, [arrivals.note] if arrivals.note else []
    if library is not None:
        groups, more = _for_library(atlas, library, rows, k)
    else:
        groups, more = _for_query(atlas, kind, str(reader), rows, k)
    topics = _topics(atlas, seen)
    since_day = str(arrivals.since) if arrivals.since else None
    digest = Digest(
        reader=name,
        since=arrivals.since,
        until=arrivals.until,
        n_new=len(rows),
        groups=tuple(group for group in groups if group.papers),
        topics=topics,
        changes=_changes(atlas, since_day),
        notes=(*notes, *more),
        coverage=open_engine(atlas).indexes.coverage,
    )
    if record:
        seen.record()
    return digest


# -- arrivals


class _Seen:
    """What a reader has seen of an atlas, in a file of the user (not in the shared library)."""

    def __init__(self, atlas: AtlasStore, reader: str) -> None:
        self._atlas = atlas
        self._key = f"{reader}|{atlas.path.resolve()}"
        self.file = libraries_folder() / "seen.json"
        known = self._read().get(self._key)
        self.known: dict[str, Any] = known if isinstance(known, dict) else {}
        try:
            self.day: date | None = date.fromisoformat(str(self.known["time"])[:10])
        except (KeyError, ValueError):  # never looked, or the file is damaged
            self.known, self.day = {}, None

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(self.file.read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def record(self) -> None:
        """Remember the parts of the atlas, the time, and the new topics."""
        self.known["parts"] = [_identity(part) for part in self._atlas.parts]
        self.known["time"] = datetime.now(UTC).isoformat(timespec="seconds")
        with wait_for_lock(self.file):
            write_bytes(self.file, json.dumps(self._read() | {self._key: self.known}).encode())


def _identity(part: Any) -> str:
    return f"{part.name}:{part.sha256[:16]}"


def _arrivals(atlas: AtlasStore, since: str | None, seen: _Seen) -> _Arrivals:
    days = _days_of_arrival(atlas)
    known = days[~np.isnat(days)]
    if since is not None:
        try:
            first = np.datetime64(date.fromisoformat(since))
        except ValueError as error:
            raise InputError(f"since is {since!r}; give a day such as 2026-11-01.") from error
        return _between(days, first, "")
    parts = seen.known.get("parts")
    if isinstance(parts, list):
        is_seen = [_identity(part) in parts for part in atlas.parts]
        if any(is_seen):
            rows = np.flatnonzero(~np.repeat(is_seen, [part.rows for part in atlas.parts]))
            until = max(_day_of(part) for part in atlas.parts)
            note = "" if len(rows) else "Nothing has arrived since you last looked."
            return _Arrivals(rows, seen.day, until, note)
        note = "The atlas was built again since you last looked, so papers count by their dates."
        return _between(days, np.datetime64(seen.day), note)
    if not len(known):
        return _Arrivals(np.zeros(0, np.int64), None, None, "The atlas has no papers.")
    note = f"This is the first digest: it has the last {_FIRST_DAYS} days of the atlas."
    return _between(days, known.max() - np.timedelta64(_FIRST_DAYS, "D"), note)


def _between(days: NDArray[np.datetime64], first: np.datetime64, note: str) -> _Arrivals:
    rows = np.flatnonzero(days >= first)
    until = days[rows].max().astype(object) if len(rows) else None
    if undated := int(np.isnat(days).sum()):
        note = f"{note} {count(undated, 'paper')} without a date left out.".strip()
    return _Arrivals(rows, first.astype("datetime64[D]").astype(object), until, note)


def _days_of_arrival(atlas: AtlasStore) -> NDArray[np.datetime64]:
    """Return the day on which each paper arrived, shape (n_papers,); NaT if it is unknown.

    Papers of a part with old papers count by their dates; those without a date have no day.
    """
    import pandas as pd

    dates = pd.to_datetime(atlas.read_papers(["date"])["date"]).to_numpy("datetime64[D]")
    days, start = dates.copy(), 0
    for part in atlas.parts:
        own = slice(start, start + part.rows)
        start += part.rows
        day = np.datetime64(_day_of(part))
        known = dates[own][~np.isnat(dates[own])]
        ages = (day - known).astype(int)
        if not len(known) or np.median(ages) <= _BACKFILE_DAYS:
            days[own] = day
    return days


def _day_of(part: Any) -> date:
    return datetime.fromtimestamp(part.modified / 1e9, UTC).date()


# -- papers for a library


def _for_library(
    atlas: AtlasStore, library: Library, rows: Rows, k: int
) -> tuple[list[DigestGroup], list[str]]:
    """Return the groups of a digest, and notes."""
    engine = open_engine(atlas)
    in_atlas = engine.indexes.rows_of_entries(library.entries)
    mine = np.unique(in_atlas[in_atlas >= 0])
    marked = {mark: engine.indexes.rows_of_marks(library, mark) for mark in MARKS}
    hidden = np.concatenate([mine, marked["read"], marked["not interested"]])
    new = rows[~np.isin(rows, hidden) & ~np.isin(rows, atlas.invalid_papers)]
    known, titles, notes = _known(atlas, library, in_atlas, marked)
    if not known.texts:
        raise InputError(f"The library {library.name} has no papers with a text; add papers first.")
    papers = engine.papers(new)
    graph = citation_graph(atlas)
    cites = [_cited(graph, row, mine) for row in new.tolist()]
    vectors = engine.indexes.vectors
    disliked = vectors.vectors(marked["not interested"])
    interest = rank_papers(
        Literature(
            vectors.vectors(new), engine.indexes.texts(new), [paper.authors for paper in papers]
        ),
        known,
        np.array([len(one) for one in cites], dtype=np.int64),
        disliked=disliked if len(disliked) else None,
    )
    groups = _Reasons(atlas, library, papers, new, titles, interest, cites).groups(k)
    about = [*_not_listed(groups, len(rows), len(new)), *_missing_regions(atlas, library)]
    if len(disliked):
        about.append(
            f"Papers similar to {count(len(disliked), 'paper')} that you marked as not interesting "
            "come later."
        )
    if liked := len(marked["read"]) + len(marked["later"]):
        about.append(f"{count(liked, 'paper')} marked as read or later count as yours.")
    if not graph.n_links:
        about.append("The atlas has no citations, so no paper is listed for what it cites.")
    return groups, [*about, *notes]


def _not_listed(groups: Sequence[DigestGroup], n_rows: int, n_new: int) -> Iterable[str]:
    """Yield notes on new papers that are not listed."""
    n_grouped = sum(group.n_papers for group in groups)
    if far := n_new - n_grouped:
        yield f"{count(far, 'new paper')} not listed: nothing links them to the library."
    if more := n_grouped - sum(len(group.papers) for group in groups):
        largest = max(group.n_papers for group in groups)
        yield (
            f"{count(more, 'paper')} of these groups not listed; -k {largest} lists all (with "
            "--since, if they were shown)."
        )
    if hidden := n_rows - n_new:
        yield (
            f"{count(hidden, 'new paper')} not listed: in your library, marked as read or not "
            "interesting, or withdrawn."
        )


def _missing_regions(atlas: AtlasStore, library: Library) -> Iterable[str]:
    for name in library.watched.regions:
        if not _region(atlas, name):
            hint = did_you_mean(name, atlas.topics["label"], n=3, cutoff=0.5)
            yield f"The map has no region {name!r}, which the library watches{hint}"


def _known(
    atlas: AtlasStore, library: Library, in_atlas: Rows, marked: Mapping[str, Rows]
) -> tuple[Literature, list[str], list[str]]:
    """Return the papers with which new ones are compared, their titles, and notes."""
    engine, notes = open_engine(atlas), list[str]()
    rows = np.unique(np.concatenate([in_atlas, marked["read"], marked["later"]]))
    rows = rows[rows >= 0]
    if len(rows) > _MAX_KNOWN:
        dates = engine.indexes.ages(rows, today=date.today())
        rows = rows[np.argsort(np.nan_to_num(dates, nan=1e9), kind="stable")[:_MAX_KNOWN]]
        notes.append(f"The {_MAX_KNOWN:,} newest papers of the library are compared.")
    lacking = [
        one for one, row in zip(library.entries, in_atlas, strict=True) if row < 0 and one.title
    ]
    if len(lacking) > _MAX_EMBEDDED:
        notes.append(
            f"{len(lacking) - _MAX_EMBEDDED:,} papers of the library that the atlas lacks are not "
            "compared."
        )
        lacking = sorted(lacking, key=lambda one: str(one.date or ""))[-_MAX_EMBEDDED:]
    vectors = engine.indexes.vectors.vectors(rows)
    texts = [f"{one.title}. {one.abstract}" for one in lacking]
    try:
        own = embed_few(engine.indexes.embedder, texts) if lacking else vectors[:0]
        vectors = np.concatenate([vectors, own])
    except LandscapeError as error:  # the embedder of the atlas is not available
        notes.append(f"Papers that the atlas lacks are not compared. {error}")
        lacking, texts = [], []
    papers: list[Paper] = [*engine.papers(rows), *lacking]
    texts = [*engine.indexes.texts(rows), *texts]
    titles = [paper.title for paper in papers]
    return Literature(vectors, texts, [paper.authors for paper in papers]), titles, notes


def _cited(graph: Any, row: int, mine: Rows) -> list[int]:
    if not graph.n_links:
        return []
    nodes = graph.reference_links.of(row)
    return np.intersect1d(nodes, mine).tolist()


class _Reasons:
    """Reasons for each new paper, and the groups that follow from them."""

    def __init__(
        self,
        atlas: AtlasStore,
        library: Library,
        papers: Sequence[Paper],
        rows: Rows,
        titles: Sequence[str],
        interest: Interest,
        cites: Sequence[Sequence[int]],
    ) -> None:
        self._atlas, self._library, self._papers, self._rows = atlas, library, papers, rows
        self._titles, self._interest, self._cites = titles, interest, cites
        watched = library.watched
        self._people = [(parse_name(name).comma_form, name) for name in watched.authors]
        self._regions = [inside for name in watched.regions if (inside := _region(atlas, name))]
        self._uses = _uses(atlas, rows, watched.facilities)
        self._of_paper = atlas.map["topic_id"].to_numpy()

    def groups(self, k: int) -> list[DigestGroup]:
        """Return the groups; each paper is in the first that fits."""
        found: dict[str, list[int]] = {kind: [] for kind in _GROUPS}
        for place in np.argsort(-self._interest.score, kind="stable").tolist():
            if group := self._group(place):
                found[group].append(place)
        return [
            DigestGroup(
                title,
                tuple(map(self._entry, found[kind][: None if kind in _WHOLE else k])),
                len(found[kind]),
            )
            for kind, title in _GROUPS.items()
        ]

    def _group(self, place: int) -> str:
        if self._watched_authors(place):
            return "author"
        if self._cites[place]:
            return "cites"
        if self._uses.get(place):
            return "facility"
        topic = self._of_paper[self._rows[place]]
        if any(topic in inside for inside in self._regions):
            return "region"
        known = self._interest.people[place] >= _KNOWN_AUTHOR
        return "similar" if known or self._near(place) else ""

    def _watched_authors(self, place: int) -> list[str]:
        """Return the watched authors of a paper; an initial agrees with any given name."""
        authors = self._papers[place].authors
        return [shown for shown, name in self._people if place_in_byline(authors, name) >= 0]

    def _near(self, place: int) -> list[str]:
        """Return the titles of the known papers that are about as similar as known papers are."""
        pairs = zip(self._interest.nearest[place], self._interest.cosines[place], strict=True)
        return [
            _quoted(self._titles[at])
            for at, cosine in pairs
            if at >= 0 and cosine >= self._interest.similar
        ]

    def _entry(self, place: int) -> DigestPaper:
        paper, row = self._papers[place], int(self._rows[place])
        named = self._atlas.region_names.get(int(self._of_paper[row]), "")
        status = [paper.status or "", f"published in {paper.journal}" if paper.journal else ""]
        if any(name in self._library.marked("later") for name in _names(paper)):
            status.append("marked for later")
        return DigestPaper(
            paper,
            tuple(self._reasons(place)),
            named,
            unusual_in(self._atlas, row),
            "; ".join(filter(None, status)),
            float(self._interest.score[place]),
        )

    def _reasons(self, place: int) -> Iterable[str]:
        paper, interest = self._papers[place], self._interest
        if watched := self._watched_authors(place):
            yield f"by {join_names(watched)}, whom you watch"
        if cited := self._cites[place]:
            titles = [_quoted(one.title) for one in open_engine(self._atlas).papers(cited[:2])]
            more = f" and {len(cited) - 2} more" if len(cited) > 2 else ""
            yield f"cites {join_names(titles) if not more else ', '.join(titles) + more} of yours"
        if used := self._uses.get(place):
            yield f"uses {join_names(used)}"
        topic = self._of_paper[self._rows[place]]
        if any(topic in inside for inside in self._regions):
            yield "in a region you watch"
        if near := self._near(place):
            yield f"similar to {join_names(near)}"
        if (known := int(interest.people[place])) >= _KNOWN_AUTHOR:
            name = paper.authors[interest.person[place]]
            yield f"by {name}, with {known} papers in your library"
        if interest.lowered[place] >= _LIKE_DISLIKED:
            yield "lower, because it is similar to a paper you marked as not interesting"


def _names(paper: Paper) -> tuple[str, ...]:
    return tuple(filter(None, (paper.arxiv_id, paper.doi, paper.bibcode, paper.paper_id)))


def _quoted(title: str) -> str:
    return f"“{textwrap.shorten(one_line(title), 60, placeholder=' …')}”"


def _region(atlas: AtlasStore, name: str) -> set[int]:
    """Return the numbers of a region and of those in it; none if the map has no such region."""
    topics = atlas.topics
    ids = set(topics.loc[topics["label"].str.casefold() == name.casefold(), "topic_id"])
    return ids | set(topics.loc[topics["parent_id"].isin(ids), "topic_id"])


def _uses(atlas: AtlasStore, rows: Rows, watched: Sequence[str]) -> dict[int, list[str]]:
    """Return the watched facilities whose data each new paper uses, by its place."""
    if not watched or "missions" not in atlas.stages:
        return {}
    names = {one for name in watched for one in find_facility(name).counted_as}
    table = atlas.read_layer("missions", ["facility", "role"])
    table = table[(table["role"] == "science") & table["facility"].isin(names)]
    table = table[table["paper_row"].isin(rows)]
    places = {int(row): place for place, row in enumerate(rows)}
    found: dict[int, list[str]] = {}
    for row, own in table.groupby("paper_row"):
        found[places[int(row)]] = sorted(set(own["facility"].astype(str)))
    return found


def unusual_in(atlas: AtlasStore, row: int) -> str:
    """Return how a paper differs from the others: no similar paper, or between two regions."""
    engine = open_engine(atlas)
    vectors = engine.indexes.vectors
    near = vectors.search(vectors.vectors(np.array([row]))[0], k=_AROUND + 1)
    others = [(at, one) for at, one in zip(near.rows, near.similarities, strict=True) if at != row]
    if not others:
        return ""
    if others[0][1] < atlas.cached("novel_below", _novel_below):
        return "unlike the other papers of the atlas"
    topics = atlas.map["topic_id"].to_numpy()[[at for at, _ in others[:_AROUND]]]
    known, counts = np.unique(topics[topics >= 0], return_counts=True)
    order = np.argsort(-counts, kind="stable")[:2]
    if len(order) == 2 and counts[order[1]] >= _JOINS * len(topics):
        names = [atlas.region_names.get(int(one), "") for one in known[order]]
        return f"joins {names[0]} and {names[1]}"
    return ""


def _novel_below(atlas: AtlasStore) -> float:
    """Return the cosine with the nearest paper that 99% of the papers exceed."""
    known = atlas.stages["projection"].details.get("threshold")
    if known is None:
        vectors = open_engine(atlas).indexes.vectors
        step = max(1, len(atlas) // _MAX_SAMPLED)
        some = vectors.vectors(np.arange(0, len(atlas), step))
        known = find_novel(some[:0], some)[1]
    return 1.0 - float(known)


# -- papers for a text, a region or a filter


def _for_query(
    atlas: AtlasStore, kind: Source, asked: str, rows: Rows, k: int
) -> tuple[list[DigestGroup], list[str]]:
    engine = open_engine(atlas)
    if kind == "text":
        new = rows[~np.isin(rows, atlas.invalid_papers)]
        hits = engine.within(new).search(asked, SearchSettings(k=k)).hits if len(new) else ()
        found = [(hit.paper, "close to the text") for hit in hits]
        total, title = len(new), "Close to the text"
    else:
        quoted = asked if kind == "filter" else f'region:"{asked}"'
        chosen = np.intersect1d(rows, engine.select(quoted))
        newest = sorted(engine.papers(chosen), key=lambda one: str(one.date or ""), reverse=True)
        reason = "passes the filter" if kind == "filter" else f"in the region {asked}"
        found = [(paper, reason) for paper in newest[:k]]
        total, title = len(chosen), "Passing the filter" if kind == "filter" else f"In {asked}"
    topics = atlas.map["topic_id"].to_numpy()
    papers = tuple(
        DigestPaper(
            paper,
            (reason,),
            atlas.region_names.get(int(topics[paper.row]), ""),
            unusual_in(atlas, paper.row),
            "; ".join(filter(None, (paper.status, paper.journal))),
        )
        for paper, reason in found
    )
    return [DigestGroup(title, papers, total)], []


# -- topics and regions


def _topics(atlas: AtlasStore, seen: _Seen) -> tuple[str, ...]:
    """Return the new topics, which are those of the last digest if no month was added."""
    state = [str(atlas.coverage["last_date"])[:7], atlas.title]
    known = seen.known.get("topics")
    if isinstance(known, list) and seen.known.get("topics_of") == state:
        return tuple(map(str, known))
    try:
        table = new_topics(atlas, months=1, scored=False).table
    except InputError:  # too few months
        return ()
    found = tuple(
        f"{row.term} ({row.papers:,} papers since {row.since}"
        + (f"; mostly in {row.region})" if row.region else ")")
        for row in table.head(5).itertuples()
    )
    seen.known |= {"topics": list(found), "topics_of": state}
    return found


def _changes(atlas: AtlasStore, since: str | None) -> tuple[str, ...]:
    table = region_changes(atlas, since=since).table
    return tuple(
        f"{row.label} {row.kind} ({row.papers:,} papers): {row.reason}"
        for row in table.head(5).itertuples()
    )
