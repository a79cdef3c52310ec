"""Answer questions about the literature, such as numbers of papers, from the tables of an atlas.

`landscape.answers._requests` reads what a question counts, and in which papers. The papers are
given by a filter of `landscape.search.parse_filter`, so that each number can be repeated with one
line of code.
"""

from __future__ import annotations

import re
from calendar import month_name
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from landscape._author_names import given_names, parse_name, person_key
from landscape._bibliography import find_journal, journal_of_bibcode
from landscape._wording import close_names, count, did_you_mean
from landscape.answers._question_words import Condition
from landscape.answers.extractive import abstention
from landscape.answers.reading import Question
from landscape.corpus import load_facilities
from landscape.corpus.facilities import ROLES
from landscape.corpus.thesaurus import MIN_SCORE
from landscape.errors import AtlasError, InputError, LandscapeError
from landscape.overlays.periods import format_spans, paper_months, paper_years, read_years
from landscape.overlays.trends.affiliations import locate
from landscape.search import open_engine
from landscape.statistics import share_interval
from landscape.types import Answer

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.answers._requests import Request
    from landscape.overlays.periods import Years
    from landscape.search import Engine
    from landscape.store import AtlasStore

    Rows = NDArray[np.int64]

METHOD = "tables"
_HEADING = "Counted in the tables of the atlas; no sentence of a paper was read."
_VALID = ("-status:retracted", "-status:withdrawn")
_RESEMBLES = 0.74  # least similarity of a mistyped name (Ratcliff & Metzener 1988)
_MAX_ROWS = 10  # rows in the text; the table has all


class Scope(NamedTuple):
    """The papers that are counted: a filter, its rows, and a phrase that describes the papers."""

    filter: str
    rows: Rows
    phrase: str
    base: Rows  # papers that shares are relative to, such as all papers of the period
    base_phrase: str = ""  # such as "since 2020"
    period: Condition | None = None
    note: str = ""


@dataclass(frozen=True)
class _Count:
    """Result of a measure: a table, the sentence that states it, and the line of code."""

    table: pd.DataFrame
    sentence: str
    code: str
    warnings: tuple[str, ...] = ()


def answer_from_tables(atlas: AtlasStore, asked: Question, filter_text: str | None) -> Answer:
    """Answer a question about counts.

    Parameters
    ----------
    atlas : AtlasStore
    asked : Question
        Its request has a measure.
    filter_text : str or None
        Filter of the user, which the request contains.

    Returns
    -------
    Answer
        ``method`` is "tables", and ``table`` is the data frame with all rows. The answer abstains,
        with the reason in ``text``, if the tables do not have what the question counts.
    """
    engine = open_engine(atlas)
    request, nothing = asked.request, engine.count_scope(filter_text)
    in_ads = request.ads if request.measure == "papers" else None
    try:
        if request.fault:
            raise InputError(request.fault)
        if request.refused:
            raise InputError(
                f"Questions with “{request.refused}” are not counted. Ask for numbers of papers, "
                "facilities, authors, concepts, regions, journals or reviews, or use a filter."
            )
        scope = _scope(atlas, request)
        found = _MEASURES[request.measure](atlas, scope)
    except LandscapeError as error:
        return abstention(
            asked.text, nothing, text=str(error), method=METHOD, style=METHOD, ads_query=in_ads
        )
    results = engine.count_scope(scope.filter)
    rows = "\n".join(_rows(found.table))
    lines = [_HEADING, _ignored(request), found.sentence, rows, f"Code: {found.code}"]
    return Answer(
        question=asked.text,
        text="\n\n".join(filter(None, lines)),
        claims=(),
        results=results,
        method=METHOD,
        style=METHOD,
        notes=(*([scope.note] if scope.note else []), *found.warnings),
        ads_query=in_ads,
        table=found.table,
    )


def _ignored(asked: Request) -> str:
    """Return the sentence on the words and conditions that were ignored."""
    parts = []
    if asked.unknown:
        words = ", ".join(f"“{word}”" for word in asked.unknown)
        parts.append(f"Not understood, and ignored: {words}.")
    if asked.measure in _WHOLE_ATLAS and asked.conditions:
        parts.append(f"The analysis is of the whole atlas, not only of papers {asked.phrase}.")
    return " ".join(parts)


def _scope(atlas: AtlasStore, asked: Request) -> Scope:
    """Find the papers that a question is about, and those that shares are relative to."""
    engine, (base, of) = open_engine(atlas), asked.base
    rows, whole = engine.select(asked.filter), engine.select(base)
    n_whole = len(whole)
    whole = np.setdiff1d(whole, atlas.invalid_papers)
    filter_text, note = asked.filter, _uncounted(n_whole - len(whole))
    n_invalid = len(np.intersect1d(rows, atlas.invalid_papers))
    if n_invalid and "status:" not in filter_text:
        rows = np.setdiff1d(rows, atlas.invalid_papers)
        filter_text = ";".join(filter(None, [filter_text, *_VALID]))
        note = _uncounted(n_invalid)
    scope = Scope(filter_text, rows, asked.phrase, whole, of, asked.period, note)
    if asked.filter and not len(rows) and asked.measure not in _WHOLE_ATLAS:
        mistyped = mistyped_facility(engine, " ".join(re.findall('"([^"]+)"', asked.filter)))
        raise InputError(
            f"No paper{_of(scope)} is in this atlas. Titles, abstracts and keywords were searched "
            f"with the filter {asked.filter}.{_without_each(engine, asked)} {mistyped}".rstrip()
        )
    return scope


def _uncounted(n: int) -> str:
    """Return a sentence on papers that are not counted."""
    verb = "is" if n == 1 else "are"
    return f"{count(n, 'retracted or withdrawn paper')} {verb} not counted." if n else ""


def _without_each(engine: Engine, asked: Request) -> str:
    """Return how many papers there are without each of several conditions."""
    found = []
    for one in asked.conditions if len(asked.conditions) > 1 or asked.period else ():
        kept = tuple(other for other in asked.conditions if other is not one)
        less = replace(asked, conditions=kept)
        if less.filter and (n := len(engine.select(less.filter))):
            found.append(f"{count(n, 'paper')} without the condition “{one.phrase}”")
    return f" The atlas has {' and '.join(found)}." if found else ""


def mistyped_facility(engine: Engine, text: str) -> str:
    """Return a sentence on a word that no paper has and that resembles the name of a facility."""
    for word in re.findall(r"[^\W\d_][\w-]{2,}", text):
        near = close_names(word, load_facilities(), cutoff=_RESEMBLES)
        if near and not len(engine.select(f'"{word}"')):
            return f"No paper has the word “{word}”{did_you_mean(word, near, cutoff=_RESEMBLES)}"
    return ""


def _of(scope: Scope) -> str:
    return f" {scope.phrase}" if scope.phrase else " of the atlas"


def _select(scope: Scope) -> str:
    return f"atlas.select({scope.filter!r})"


def _shares(n: np.ndarray, of: np.ndarray | int) -> dict[str, NDArray[np.float64]]:
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
    every_year = _calendar(atlas, scope.base)
    n_base = len(scope.base)
    low, high = share_interval([len(scope.rows)], [n_base])
    share = len(scope.rows) / max(n_base, 1)
    counts, every = (
        np.array([of.get(year, 0) for year in whole.years.tolist()]) for of in (own, every_year)
    )
    table = pd.DataFrame({"year": whole.years, "papers": counts, "all_papers": every}).assign(
        **_shares(counts, every), covered=whole.covered
    )
    dated = table[table["papers"] > 0]
    if len(dated):
        table = table[table["year"].between(dated["year"].min(), dated["year"].max())]
    n, papers = count(len(scope.rows), "paper"), count(n_base, "paper")
    if scope.phrase:
        of = f"{papers} {scope.base_phrase}" if scope.base_phrase else f"{papers} of the atlas"
        percent = _percent(share, float(low[0]), float(high[0]))
        relative = "" if scope.phrase == scope.base_phrase else f", of {of} ({percent})"
        sentence = f"{n}{_of(scope)}{relative}."
    else:
        sentence = f"The atlas has {papers}."
    unknown = len(scope.rows) - sum(own.values())
    undated = (f"{count(unknown, 'paper')} without a date is not in a year.",) if unknown else ()
    part = table["year"][~table["covered"]]
    bounds = (
        f"The atlas covers {', '.join(format_spans(part))} in part; numbers of these years cannot "
        "be compared with other years.",
    )
    last = int(whole.years[-1])
    month = int(paper_months(atlas)[paper_years(atlas) == last].max(initial=0))
    is_cut = 0 < month < 12 and len(table) > 1 and table["year"].max() == last
    cut = (f"The papers of {last} end in {month_name[month]}.",) if is_cut else ()
    return _Count(
        table.reset_index(drop=True),
        sentence,
        f'atlas.papers.iloc[{_select(scope)}].groupby("year").size()',
        (*undated, *cut, *(bounds if len(part) else ()), *_limits_of(scope, whole)),
    )


def _limits_of(scope: Scope, years: Years) -> tuple[str, ...]:
    """Return warnings about an uneven corpus, and about kinds that few records have."""
    uneven = years.warnings[-1:] if len(years.jumps) else ()
    kinds = (
        ("The kind is that of the record; others of this kind may be recorded as articles.",)
        if "kind:" in scope.filter
        else ()
    )
    return (*uneven, *kinds)


def _calendar(atlas: AtlasStore, rows: Rows) -> dict[int, int]:
    years = atlas.read_papers(["year"])["year"].iloc[rows].dropna().astype(int)
    return {int(year): int(n) for year, n in years.value_counts().items()}


def _count_facilities(atlas: AtlasStore, scope: Scope) -> _Count:
    import pandas as pd

    mentions = atlas.missions
    mentions = mentions[mentions["paper_row"].isin(scope.rows)]
    if mentions["role"].isna().all() and len(mentions):
        raise AtlasError("The mentions of this atlas have no roles; build the atlas again.")
    order = {role: place for place, role in enumerate(ROLES)}
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
    code = (
        f'atlas.missions.query("role == \'science\'")[lambda m: m["paper_row"].isin('
        f'{_select(scope)})].groupby("facility")["paper_row"].nunique()'
    )
    note = "Roles are found by a classifier; intervals do not include its error."
    return _Count(table, sentence, code, (note,))


def _count_authors(atlas: AtlasStore, scope: Scope) -> _Count:
    bylines = atlas.read_papers(["authors"])["authors"].iloc[scope.rows]
    names: dict[str, Counter[str]] = {}
    n_known = 0
    for authors in bylines:
        own = {person_key(name): name for name in (authors if authors is not None else ())}
        n_known += bool(own)
        for key, name in own.items():
            names.setdefault(key, Counter())[name] += 1
    rows = [(_shown_name(spelled), sum(spelled.values())) for spelled in names.values()]
    return _ranked(
        "author",
        rows,
        scope,
        n_known,
        "with known authors",
        f'atlas.papers.iloc[{_select(scope)}]["authors"].explode().value_counts()',
        ("Names are compared by family name and initials, so one row can be several people.",),
    )


def _shown_name(spelled: Counter[str]) -> str:
    """Return the usual spelling of a name, or its initial if several people have it."""
    usual = spelled.most_common(1)[0][0]
    people = {given[0] for name in spelled if (given := given_names(name)) and len(given[0]) > 1}
    if len(people) < 2:
        return usual
    return f"{parse_name(usual).family}, {parse_name(usual).given[:1]}. ({len(people)} given names)"


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
    tags = tags[(tags["score"] >= MIN_SCORE) & tags["paper_row"].isin(scope.rows)]
    concepts = atlas.thesaurus.concepts
    counts = tags.groupby("concept_id")["paper_row"].nunique()
    rows = [(concepts[str(key)].label, int(n)) for key, n in counts.items() if str(key) in concepts]
    code = (
        f'atlas.uat.query("score >= {MIN_SCORE}")[lambda t: t["paper_row"].isin('
        f'{_select(scope)})].groupby("concept_id")["paper_row"].nunique()'
    )
    return _ranked("concept", rows, scope, int(tags["paper_row"].nunique()), "with a concept", code)


def _count_regions(atlas: AtlasStore, scope: Scope) -> _Count:
    places = atlas.map["topic_id"].to_numpy()[scope.rows]
    labels = dict(zip(atlas.topics["topic_id"], atlas.topics["label"], strict=True))
    counts = Counter(int(topic) for topic in places if topic >= 0)
    rows = [(str(labels[topic]), n) for topic, n in counts.items()]
    code = f'atlas.map.iloc[{_select(scope)}].groupby("topic_id").size()'
    return _ranked("region", rows, scope, sum(counts.values()), "in a region", code)


def _count_journals(atlas: AtlasStore, scope: Scope) -> _Count:
    papers = atlas.read_papers(["journal", "bibcode"]).iloc[scope.rows].fillna("")
    pairs = zip(papers["journal"], papers["bibcode"], strict=True)
    names = [_journal_name(str(name)) or _journal_in(str(code)) for name, code in pairs]
    counts = Counter(filter(None, names))
    code = f'atlas.papers.iloc[{_select(scope)}]["journal"].value_counts()'
    known = "with a journal in their record or bibcode"
    return _ranked("journal", [*counts.items()], scope, counts.total(), known, code)


def _journal_in(bibcode: str) -> str:
    """Return the name of the journal of a bibcode, or "" if it is unknown or arXiv."""
    known = journal_of_bibcode(bibcode)
    return known.names[0] if known and known.stem != "arXiv" else ""


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
        name
        for names in bylines
        for name in (names if names is not None else ())
        if _is_signed(name, scope.phrase)
    )
    names = ", ".join(f"{name} ({n:,})" for name, n in spelled.most_common(4))
    sentence = f"{found.sentence} Signed as {names}. Main regions: {main}."
    return _Count(
        found.table, sentence, found.code, ("One name can be several people.", *found.warnings)
    )


def _is_signed(name: str, phrase: str) -> bool:
    family, _, initial = phrase.removeprefix("by ").rstrip(".").partition(", ")
    return family in name and name.replace(family, "").strip(" ,")[:1] == initial


def _list_trends(atlas: AtlasStore, _: Scope) -> _Count:
    from landscape.overlays.trends import trends

    table = trends(atlas, scored=False).table
    table = table[table["class"] != ""].rename(columns={"class": "trend"})
    table["share"] = [
        f"from {100 * first:.2g}% to {100 * last:.2g}% of the papers"
        for first, last in zip(table["share_first"], table["share_last"], strict=True)
    ]
    table = table[["label", "trend", "papers", "share"]]
    emerging = table[table["trend"] == "emerging"]
    fading = count(int((table["trend"] == "fading").sum()), "region")
    sentence = (
        f"{count(len(emerging), 'region')} of the map are emerging and {fading} fading, at a false "
        "discovery rate of 5%. "
    )
    sentence += (
        "Regions whose trend the corpus can tell, with their share of all papers at the start and "
        "the end of the covered years, the fastest growing first:"
        if len(table)
        else "The corpus cannot tell the trend of any region."
    )
    figure = "The figure: landscape figure trends ATLAS -o trends.pdf."
    return _Count(table, sentence, "landscape.overlays.trends.trends(atlas).table", (figure,))


def _list_gaps(atlas: AtlasStore, _: Scope) -> _Count:
    from landscape.overlays.reviews import review_gaps

    table = review_gaps(atlas).table
    table = table[table["rank"].notna()] if "rank" in table else table
    columns = ["label", "papers", "reviews_near", "expected", "newer_papers", "last_review"]
    table = table[columns].reset_index(drop=True)
    sentence = (
        f"{count(len(table), 'region')} of the map have fewer than 80% of the reviews that their "
        "papers let expect. The largest gap first, from volume, growth and citations:"
    )
    figure = "The figure: landscape figure reviews ATLAS -o reviews.pdf."
    code = "landscape.overlays.reviews.review_gaps(atlas).table"
    return _Count(table, sentence, code, (figure,))


def _list_new(atlas: AtlasStore, scope: Scope) -> _Count:
    from landscape.overlays.trends import new_topics

    months, when = 12, "in the last 12 months of the atlas"
    first = re.search(r"\d{4}(?:-\d\d)?", scope.period.filter) if scope.period else None
    if first and scope.period:
        last = atlas.papers["date"].max()
        year, _, month = first[0].partition("-")
        months = 12 * (last.year - int(year)) + last.month - int(month or 1) + 1
        when = scope.period.phrase
        if months < 1:
            raise InputError(f"The atlas has no paper {when}; its last one is of {last:%Y-%m-%d}.")
    table = new_topics(atlas, months=months, scored=False).table
    more = (table["papers"] - table["expected"]).sort_values(ascending=False, kind="stable")
    table = table.loc[more.index, ["term", "papers", "expected", "since", "region"]]
    sentence = (
        f"{count(len(table), 'topic')} {'is' if len(table) == 1 else 'are'} new, or had a burst of "
        f"papers, {when}; a burst may have begun up to 3 months before. The largest number of "
        "additional papers first:"
    )
    code = f"landscape.overlays.trends.new_topics(atlas, months={months}).table"
    return _Count(table, sentence, code, ("The figure: landscape figure new ATLAS -o new.pdf.",))


_WHOLE_ATLAS = ("growth", "gaps", "new")  # measures of analyses that no filter restricts
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
    "growth": _list_trends,
    "gaps": _list_gaps,
    "new": _list_new,
}


def _cell(value: object) -> str:
    return f"{value:,.3g}" if isinstance(value, float) else str(value)


def _described(row: dict[str, object]) -> Iterator[str]:
    """Yield the known values of a row with their names and intervals."""
    for name, value in row.items():
        if name.endswith(("_low", "_high")) or value in ("", None) or value != value:
            continue
        ends = [_cell(row[f"{name}_{side}"]) for side in ("low", "high") if f"{name}_{side}" in row]
        interval = f" ({' to '.join(ends)})" if ends else ""
        yield f"{name.replace('_', ' ')} {_cell(value)}{interval}"


def _rows(table: pd.DataFrame) -> list[str]:
    """Return the first rows of a table as lines; the newest years come last."""
    is_calendar = "year" in table and "all_papers" in table
    shown = table.tail(_MAX_ROWS) if is_calendar else table.head(_MAX_ROWS)
    lines = []
    for row in shown.to_dict("records"):
        if is_calendar:
            part = "" if row["covered"] else ", covered in part"
            lines.append(
                f"- {row['year']}: {row['papers']:,} of {row['all_papers']:,}"
                f" ({_written(row['share'])}%{part})"
            )
        elif "title" in row:
            cites = f", {row['cites']:,.0f} citations" if "cites" in row else ""
            year = "no year" if row["year"] != row["year"] else f"{row['year']:.0f}"
            lines.append(f"- {row['title']} ({year}{cites}) [{row['paper_id']}]")
        elif "share_low" not in row:
            name, *values = row.items()
            lines.append(f"- {name[1]}: {', '.join(_described(dict(values)))}")
        else:
            name = next(iter(row.values()))
            roles = ""
            if "instrumentation" in row:
                roles = (
                    f"; {row['instrumentation']:,} about it, {row['planned']:,} planned, "
                    f"{row['mention']:,} only mention it"
                )
            low, high = _written(row["share_low"]), _written(row["share_high"])
            lines.append(
                f"- {name}: {count(row['papers'], 'paper')} ({_written(row['share'])}%, "
                f"{low} to {high}%){roles}"
            )
    rest = len(table) - len(shown)
    more = "earlier years" if is_calendar else f"{rest:,} more rows"
    return [*lines, f"- (the code below gives {more})"] if rest > 0 else lines
