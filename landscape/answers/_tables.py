"""Answer questions about the literature, such as numbers of papers, from the tables of an atlas.

A question is split into a measure (papers, facilities, authors, ...) and a scope: the papers that
are counted. The scope is a filter of `landscape.search.parse_filter`, so that each number can be
repeated with one line of code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from landscape._author_names import person_key
from landscape._io import data_file, read_yaml
from landscape._journals import find_journal
from landscape._wording import count
from landscape.answers._extractive import abstention
from landscape.corpus._thesaurus import LEAST_SCORE
from landscape.errors import AtlasError, InputError, LandscapeError
from landscape.overlays._periods import format_spans, read_years, share_interval
from landscape.overlays.missions import find_mentions
from landscape.overlays.trends._affiliations import locate
from landscape.search._ads_queries import propose_ads_query
from landscape.search._engine import open_engine
from landscape.search._matching import person_name, subject_words
from landscape.types import Answer

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.store import AtlasStore

    Rows = NDArray[np.int64]

METHOD = "tables"
_HEADING = "Counted in the tables of the atlas; no sentence of a paper was read."
_AND = re.compile(r"\b(?:and|both|as well as)\b|,", re.IGNORECASE)
_SHARE = re.compile(r"\b(?:fraction|share|percentage|per ?cent|proportion)\b", re.IGNORECASE)
_MAX_ROWS = 10  # rows in the text; the table has all
_PERIODS: tuple[tuple[str, str], ...] = (
    (r"\b(?:between|from)\s+(\d{4})\s+(?:and|to|until|-)\s+(\d{4})\b", r"\1..\2"),
    (r"\b(\d{4})\s*(?:-|–|to)\s*(\d{4})\b", r"\1..\2"),
    (r"\b(?:since|from)\s+(\d{4})\b(?:\s+on(?:wards?)?)?", r"\1.."),
    (r"\bafter\s+(\d{4})\b", r"year>\1"),
    (r"\bbefore\s+(\d{4})\b", r"year<\1"),
    (r"\b(?:until|up to)\s+(\d{4})\b", r"..\1"),
    (r"\b(?:in|during|of|for)\s+(?:the year\s+)?((?:19|20)\d{2})\b", r"year:\1"),
)


class Scope(NamedTuple):
    """The papers that are counted: a filter, its rows, and a phrase that describes the papers."""

    filter: str
    rows: Rows
    phrase: str
    n_period: int  # number of all papers of the period
    period: str = ""  # such as "since 2020"


@dataclass(frozen=True)
class _Count:
    """Result of a measure: a table, the sentence that states it, and the line of code."""

    table: pd.DataFrame
    sentence: str
    code: str
    warnings: tuple[str, ...] = ()


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    stored = read_yaml(data_file("questions.yaml"))["tables"]
    return {name: re.compile("|".join(parts), re.IGNORECASE) for name, parts in stored.items()}


def measure_of(question: str) -> str:
    """Return what a question counts, such as "papers" or "authors", or "" if it counts nothing.

    >>> measure_of("How many papers per year use ALMA?"), measure_of("How many planets are known?")
    ('papers', '')
    """
    patterns = _patterns()
    names = (name for name in patterns if name not in ("cut", "refused"))
    return next((name for name in names if patterns[name].search(question)), "")


def answer_from_tables(
    atlas: AtlasStore, question: str, *, filter_text: str | None = None
) -> Answer | None:
    """Answer a question about counts, or return None if the question is about something else.

    Parameters
    ----------
    atlas : AtlasStore
    question : str
    filter_text : str, optional
        Filter of the papers that are counted.

    Returns
    -------
    Answer or None
        ``method`` is "tables", and ``table`` is the data frame with all rows. The answer abstains,
        with the reason in ``text``, if the tables do not have what the question counts.
    """
    text = " ".join(question.split())
    nothing = open_engine(atlas).count_scope(filter_text)
    name = person_name(text)
    short, by = open_engine(atlas).indexes.papers_of_person(name) if name else ("", ())
    measure = "person" if len(by) else measure_of(text)
    if not measure:
        return None
    refusal = _patterns()["refused"].search(text)
    in_ads = propose_ads_query(_patterns()["cut"].sub(" ", text)) if measure == "papers" else None
    try:
        if refusal and measure != "person":
            raise InputError(f"The tables of an atlas do not have {refusal[0].strip(' ?')}.")
        if measure == "person":
            scope = _scope(atlas, f'author:"{short}"', filter_text, f"by {short}.")
        else:
            scope = read_scope(atlas, text, measure, filter_text)
        found = _MEASURES[measure](atlas, scope)
    except LandscapeError as error:
        return abstention(
            question, nothing, text=str(error), method=METHOD, style=METHOD, ads_query=in_ads
        )
    results = open_engine(atlas).count_scope(scope.filter)
    lines = [_HEADING, found.sentence, *_rows(found.table), f"Code: {found.code}"]
    return Answer(
        question=question,
        text="\n\n".join(filter(None, [*lines[:2], "\n".join(lines[2:-1]), lines[-1]])),
        claims=(),
        results=results,
        method=METHOD,
        style=METHOD,
        notes=found.warnings,
        ads_query=in_ads,
        table=found.table,
    )


def read_scope(atlas: AtlasStore, question: str, measure: str, filter_text: str | None) -> Scope:
    """Find the papers that a question is about: period, facility, region and subject."""
    parts, phrases, left, years, when = [], [], question, "", ""
    for pattern, written in _PERIODS:
        found = re.search(pattern, left, re.IGNORECASE)
        if found:
            years, when = found.expand(written), found[0].strip()
            parts.append(years)
            phrases.append(when)
            left = left.replace(found[0], " ")
            break
    region = re.search(r"\bin (?:the )?region (?:of )?[\"“']?([^\"”'?]+)[\"”']?", left)
    if region:
        name = region[1].strip()
        parts.append(f'region:"{name}"')
        phrases.append(f"in the region {name}")
        left = left.replace(region[0], " ")
    facilities = list(dict.fromkeys(one.facility for one in find_mentions(left)))
    if measure != "facilities" or re.search(r"\b(?:with|together with|besides)\b", left):
        role = "" if re.search(r"\bmention", left, re.IGNORECASE) else ";role:science"
        for mention in reversed(find_mentions(left)):
            left = f"{left[: mention.start]} {left[mention.end :]}"
        if facilities:
            parts += [f'facility:"{name}"' for name in facilities] + ([role[1:]] if role else [])
            verb = "use data of" if role else "mention"
            phrases.insert(0, f"that {verb} {' and '.join(facilities)}")
        left = re.sub(r"\b(?:us(?:e|es|ed|ing)|mention\w*|data|observations?)\b", " ", left)
    pieces = _patterns()["cut"].sub(" ", left)
    subjects = [" ".join(subject_words(piece)) for piece in _AND.split(pieces)]
    named = [f'"{subject}"' for subject in subjects if subject]
    if named:
        phrases.insert(0, f"with the words {' and '.join(named)}")
    whole = ";".join([*named, *([years] if years else [])])
    parts += named
    if filter_text:
        parts.append(f"({filter_text})")
        phrases.append(f"that pass the filter {filter_text}")
    of = when
    if facilities and named and _SHARE.search(question):  # a share of the papers on a subject
        years, of = whole, f"with the words {' and '.join(named)} {when}".strip()
    scope = _scope(atlas, ";".join(parts), None, " ".join(phrases), years=years, when=of)
    if named and not len(scope.rows):
        raise InputError(f"No paper {scope.phrase} is in this atlas. Ask about another subject.")
    return scope


def _scope(
    atlas: AtlasStore,
    text: str,
    filter_text: str | None,
    phrase: str,
    *,
    years: str = "",
    when: str = "",
) -> Scope:
    whole = ";".join(f"({part})" for part in (text, filter_text) if part and filter_text) or text
    period = open_engine(atlas).select(years) if years else ()
    n_period = len(period) if years else len(atlas)
    return Scope(whole, open_engine(atlas).select(whole), phrase, n_period, when)


def _of(scope: Scope) -> str:
    return f" {scope.phrase}" if scope.phrase else " of the atlas"


def _select(scope: Scope) -> str:
    return f"atlas.select({scope.filter!r})"


def _shares(n: NDArray[Any], of: NDArray[Any] | int) -> dict[str, NDArray[np.float64]]:
    low, high = share_interval(n, of)
    whole = np.maximum(np.broadcast_to(np.asarray(of, float), np.shape(n)), 1)
    return {"share": np.asarray(n) / whole, "share_low": low, "share_high": high}


def _percent(share: float, low: float, high: float) -> str:
    return f"{_written(share)}%, 95% interval {_written(low)} to {_written(high)}%"


def _written(share: float) -> str:
    """Return a percentage with two digits, but at least whole numbers."""
    return f"{100 * share:.0f}" if share >= 0.1 else f"{100 * share:.2g}"


def _count_papers(atlas: AtlasStore, scope: Scope) -> _Count:
    import pandas as pd

    whole, own = read_years(atlas), _calendar(atlas, scope.rows)
    low, high = share_interval([len(scope.rows)], [scope.n_period])
    share = len(scope.rows) / max(scope.n_period, 1)
    counts = np.array([own.get(year, 0) for year in whole.years.tolist()])
    table = pd.DataFrame(
        {"year": whole.years, "papers": counts, "all_papers": whole.counts}
    ).assign(**_shares(counts, whole.counts), covered=whole.covered)
    dated = table[table["papers"] > 0]
    if len(dated):
        table = table[table["year"].between(dated["year"].min(), dated["year"].max())]
    n, every = count(len(scope.rows), "paper"), f"{scope.n_period:,} papers"
    if scope.phrase:
        percent = _percent(share, float(low[0]), float(high[0]))
        of = f"{every} {scope.period}" if scope.period else f"{every} of the atlas"
        whole_share = "" if scope.phrase == scope.period else f", of {of} ({percent})"
        sentence = f"{n}{_of(scope)}{whole_share}."
    else:
        sentence = f"The atlas has {every}."
    unknown = len(scope.rows) - sum(own.values())
    undated = (f"{count(unknown, 'paper')} without a date is not in a year.",) if unknown else ()
    part = table["year"][~table["covered"]]
    bounds = (
        f"The atlas covers {', '.join(format_spans(part))} in part; numbers of these years cannot "
        "be compared with other years.",
    )
    return _Count(
        table.reset_index(drop=True),
        sentence,
        f'atlas.papers.iloc[{_select(scope)}].groupby("year").size()',
        (*undated, *(bounds if len(part) else ())),
    )


def _calendar(atlas: AtlasStore, rows: Rows) -> dict[int, int]:
    years = atlas.read_papers(["year"])["year"].iloc[rows].dropna().astype(int)
    return {int(year): int(n) for year, n in years.value_counts().items()}


def _count_facilities(atlas: AtlasStore, scope: Scope) -> _Count:
    import pandas as pd

    mentions = atlas.missions
    mentions = mentions[mentions["paper_row"].isin(scope.rows)]
    if mentions["role"].isna().all() and len(mentions):
        raise AtlasError("The mentions of this atlas have no roles; build the atlas again.")
    order = {"science": 0, "instrumentation": 1, "planned": 2, "mention": 3}
    ranked = mentions.assign(rank=mentions["role"].map(order)).sort_values("rank", kind="stable")
    strongest = ranked.drop_duplicates(["paper_row", "facility"])
    table = pd.crosstab(strongest["facility"], strongest["role"]).reindex(columns=list(order))
    table = table.fillna(0).astype(int).rename(columns={"science": "papers"})
    table = table.sort_values(["papers", "planned"], ascending=False).reset_index()
    table = table.assign(**_shares(table["papers"].to_numpy(), len(scope.rows)))
    n = int(strongest[strongest["role"] == "science"]["paper_row"].nunique())
    sentence = (
        f"{n:,} of {count(len(scope.rows), 'paper')}{_of(scope)} use data of a facility that the "
        "text names. Facilities by the number of papers that use their data:"
    )
    code = (f'atlas.missions.query("role == \'science\'")[lambda m: m["paper_row"].isin('
            f'{_select(scope)})].groupby("facility")["paper_row"].nunique()')  # fmt: skip
    note = "Roles are found by a classifier; intervals do not include its error."
    return _Count(table, sentence, code, (note,))


def _count_authors(atlas: AtlasStore, scope: Scope) -> _Count:
    bylines = atlas.read_papers(["authors"])["authors"].iloc[scope.rows]
    names: dict[Any, Counter[str]] = {}
    n_known = 0
    for authors in bylines:
        own = {person_key(name): name for name in (authors if authors is not None else ())}
        n_known += bool(own)
        for key, name in own.items():
            names.setdefault(key, Counter())[name] += 1
    rows = [(spelled.most_common(1)[0][0], sum(spelled.values())) for spelled in names.values()]
    return _ranked(
        "author", rows, scope, n_known, "with known authors",
        f'atlas.papers.iloc[{_select(scope)}]["authors"].explode().value_counts()',
        ("Names are compared by family name and initials, so one row can be several people.",),
    )  # fmt: skip


def _count_places(kind: str) -> Callable[[AtlasStore, Scope], _Count]:
    def measure(atlas: AtlasStore, scope: Scope) -> _Count:
        places = locate(atlas.read_papers(["aff"])["aff"].iloc[scope.rows])
        places = places[places[kind] != ""]
        if places.empty:
            raise InputError(
                f"No {kind} is known for the papers{_of(scope)}; build the atlas "
                "from ADS documents, because arXiv listings have no affiliations."
            )
        counts = places.groupby(kind)["row"].nunique()
        rows = [(str(name), int(n)) for name, n in counts.items()]
        code = f'atlas.papers.iloc[{_select(scope)}]["aff"].explode().value_counts()'
        n_known = int(places["row"].nunique())
        return _ranked(kind, rows, scope, n_known, f"with a known {kind}", code)

    return measure


def _count_concepts(atlas: AtlasStore, scope: Scope) -> _Count:
    tags = atlas.read_layer("uat", ["concept_id", "score"])
    tags = tags[(tags["score"] >= LEAST_SCORE) & tags["paper_row"].isin(scope.rows)]
    concepts = atlas.thesaurus.concepts
    counts = tags.groupby("concept_id")["paper_row"].nunique()
    rows = [(concepts[str(key)].label, int(n)) for key, n in counts.items() if str(key) in concepts]
    code = (f'atlas.uat.query("score >= {LEAST_SCORE}")[lambda t: t["paper_row"].isin('
            f'{_select(scope)})].groupby("concept_id")["paper_row"].nunique()')  # fmt: skip
    return _ranked("concept", rows, scope, int(tags["paper_row"].nunique()), "with a concept", code)


def _count_regions(atlas: AtlasStore, scope: Scope) -> _Count:
    places = atlas.map["topic_id"].to_numpy()[scope.rows]
    labels = dict(zip(atlas.topics["topic_id"], atlas.topics["label"], strict=True))
    counts = Counter(int(topic) for topic in places if topic >= 0)
    rows = [(str(labels[topic]), n) for topic, n in counts.items()]
    code = f'atlas.map.iloc[{_select(scope)}].groupby("topic_id").size()'
    return _ranked("region", rows, scope, sum(counts.values()), "in a region", code)


def _count_journals(atlas: AtlasStore, scope: Scope) -> _Count:
    journals = atlas.read_papers(["journal"])["journal"].iloc[scope.rows].dropna()
    journals = journals[journals != ""]
    counts = Counter(_journal_name(str(name)) for name in journals)
    rows = [(name, n) for name, n in counts.items() if name]
    code = f'atlas.papers.iloc[{_select(scope)}]["journal"].value_counts()'
    return _ranked("journal", rows, scope, len(journals), "with a known journal", code)


def _journal_name(reference: str) -> str:
    """Return the name of a journal without volume and page."""
    name = re.split(r"[,\d(]", reference)[0].strip(" .")
    known = find_journal(name)
    return known.names[0] if known else name


def _ranked(
    kind: str,
    rows: list[tuple[str, int]],
    scope: Scope,
    n_known: int,
    known: str,
    code: str,
    warnings: tuple[str, ...] = (),
) -> _Count:
    """Return a table of names with their papers, most papers first, and shares of known papers."""
    import pandas as pd

    if not rows:
        raise InputError(f"No paper{_of(scope)} is {known}.")
    ordered = sorted(rows, key=lambda row: (-row[1], row[0]))
    table = pd.DataFrame(ordered, columns=[kind, "papers"])
    table = table.assign(**_shares(table["papers"].to_numpy(), n_known))
    plural = {"country": "Countries"}.get(kind, f"{kind.capitalize()}s")
    sentence = (
        f"{plural} ({len(table):,}) by the number of papers, of {n_known:,} papers {known} among "
        f"{count(len(scope.rows), 'paper')}{_of(scope)}:"
    )
    return _Count(table, sentence, code, warnings)


def _list_reviews(atlas: AtlasStore, scope: Scope) -> _Count:
    rows = np.intersect1d(atlas.read_layer("reviews", [])["paper_row"], scope.rows)
    papers = atlas.read_papers(["title", "year", "paper_id"]).iloc[rows]
    table = papers.sort_values("year", ascending=False, kind="stable").reset_index(drop=True)
    low, high = share_interval([len(rows)], [max(len(scope.rows), 1)])
    share = len(rows) / max(len(scope.rows), 1)
    sentence = (
        f"{len(rows):,} of {count(len(scope.rows), 'paper')}{_of(scope)} are reviews "
        f"({_percent(share, float(low[0]), float(high[0]))}). Newest first:"
    )
    filter_text = f"({scope.filter});review" if scope.filter else "review"
    code = f'atlas.papers.iloc[atlas.select({filter_text!r})][["year", "title"]]'
    return _Count(table, sentence, code)


def _list_cited(atlas: AtlasStore, scope: Scope) -> _Count:
    papers = atlas.read_papers(["title", "year", "cites", "paper_id"]).iloc[scope.rows]
    known = papers[papers["cites"].notna()]
    if known.empty:
        raise InputError(f"No citation count is known for the papers{_of(scope)}.")
    table = known.sort_values("cites", ascending=False, kind="stable").reset_index(drop=True)
    sentence = (
        f"Citation counts are known for {len(known):,} of {count(len(papers), 'paper')}"
        f"{_of(scope)}. Most cited first:"
    )
    code = f'atlas.papers.iloc[{_select(scope)}].nlargest(10, "cites")[["title", "cites"]]'
    return _Count(table, sentence, code)


def _describe_person(atlas: AtlasStore, scope: Scope) -> _Count:
    found = _count_papers(atlas, scope)
    regions = _count_regions(atlas, scope).table
    main = "; ".join(f"{row.region} ({row.papers:,})" for row in regions.head(3).itertuples())
    bylines = atlas.read_papers(["authors"])["authors"].iloc[scope.rows]
    spelled = Counter(
        name for names in bylines for name in (names if names is not None else ())
        if _is_signed(name, scope.phrase)
    )  # fmt: skip
    names = ", ".join(f"{name} ({n:,})" for name, n in spelled.most_common(4))
    sentence = f"{found.sentence} Signed as {names}. Main regions: {main}."
    return _Count(found.table, sentence, found.code,
                  ("One name can be several people.", *found.warnings))  # fmt: skip


def _is_signed(name: str, phrase: str) -> bool:
    family, _, initial = phrase.removeprefix("by ").rstrip(".").partition(", ")
    return family in name and name.replace(family, "").strip(" ,")[:1] == initial


_MEASURES: dict[str, Callable[[AtlasStore, Scope], _Count]] = {
    "papers": _count_papers,
    "facilities": _count_facilities,
    "authors": _count_authors,
    "countries": _count_places("country"),
    "institutions": _count_places("institution"),
    "concepts": _count_concepts,
    "regions": _count_regions,
    "journals": _count_journals,
    "reviews": _list_reviews,
    "cited": _list_cited,
    "person": _describe_person,
}


def _rows(table: pd.DataFrame) -> list[str]:
    """Return the first rows of a table as lines; the newest years come last."""
    is_calendar = "year" in table and "all_papers" in table
    shown = table.tail(_MAX_ROWS) if is_calendar else table.head(_MAX_ROWS)
    lines = []
    for row in shown.to_dict("records"):
        if is_calendar:
            part = "" if row["covered"] else ", covered in part"
            lines.append(f"- {row['year']}: {row['papers']:,} of {row['all_papers']:,}"
                         f" ({_written(row['share'])}%{part})")  # fmt: skip
        elif "title" in row:
            cites = f", {row['cites']:,.0f} citations" if "cites" in row else ""
            year = "no year" if row["year"] != row["year"] else f"{row['year']:.0f}"
            lines.append(f"- {row['title']} ({year}{cites}) [{row['paper_id']}]")
        else:
            name = next(iter(row.values()))
            roles = ""
            if "instrumentation" in row:
                roles = (f"; {row['instrumentation']:,} about it, {row['planned']:,} planned, "
                         f"{row['mention']:,} only mention it")  # fmt: skip
            low, high = _written(row["share_low"]), _written(row["share_high"])
            lines.append(f"- {name}: {count(row['papers'], 'paper')} ({_written(row['share'])}%, "
                         f"{low} to {high}%){roles}")  # fmt: skip
    rest = len(table) - len(shown)
    more = "earlier years are" if is_calendar else f"{rest:,} more rows are"
    return [*lines, f"- ({more} in the table)"] if rest > 0 else lines
