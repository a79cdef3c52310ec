"""Answer questions about the literature, such as numbers of papers, from the tables of an atlas.

A question is split into a measure (papers, facilities, authors, ...) and a scope: the papers that
are counted. The scope is a filter of `landscape.search.parse_filter`, so that each number can be
repeated with one line of code.
"""

from __future__ import annotations

import calendar
import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from landscape._author_names import person_key
from landscape._bibliography import find_journal
from landscape._io import data_file, read_yaml
from landscape._wording import count
from landscape.answers.extractive import abstention
from landscape.corpus import find_facility
from landscape.corpus.facilities import ROLES
from landscape.corpus.thesaurus import MIN_SCORE
from landscape.errors import AtlasError, InputError, LandscapeError
from landscape.overlays.missions import find_mentions
from landscape.overlays.periods import format_spans, read_years, share_interval
from landscape.overlays.trends.affiliations import locate
from landscape.search import open_engine, propose_ads_query
from landscape.search.matching import person_name, subject_words
from landscape.types import Answer

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.store import AtlasStore

    Rows = NDArray[np.int64]

METHOD = "tables"
_HEADING = "Counted in the tables of the atlas; no sentence of a paper was read."
_WHEN = r"((?:19|20)\d\d(?:-\d\d)?)"
_PERIODS: tuple[tuple[str, str], ...] = (
    (rf"\b(?:between|from)\s+{_WHEN}\s+(?:and|to|until|-)\s+{_WHEN}(?!\d)", r"\1..\2"),
    (r"\b(\d{4})\s*(?:-|–|to)\s*(\d{4})\b", r"\1..\2"),
    (rf"\b(?:since\s+{_WHEN}|from\s+{_WHEN}\s+on(?:wards?)?)(?!\d)", r"\1\2.."),
    (rf"\bafter\s+{_WHEN}(?!\d)", r"date>\1"),
    (rf"\bbefore\s+{_WHEN}(?!\d)", r"date<\1"),
    (rf"\b(?:until|up to)\s+{_WHEN}(?!\d)", r"..\1"),
    (rf"\b(?:in|during|of|for|from)\s+(?:the year\s+)?{_WHEN}(?!\d)", r"date:\1"),
)
_MONTHS = {name[:3]: number for number, name in enumerate(calendar.month_name) if name}
_MONTH = rf"({'|'.join(_MONTHS)})[a-z]*\.?"
_AND = re.compile(r"\b(?:and|both|as well as)\b|,", re.IGNORECASE)
_OR = re.compile(r"\bor\b", re.IGNORECASE)
_SHARE = re.compile(
    r"\b(?:fraction|share|percentage|per ?cent|proportion) of (?P<whole>.*?)"
    r"(?=\b(?:are|is|us(?:e|es|ed|ing)|mention\w*|about|deals?|stud\w+)\b|$)",
    re.IGNORECASE,
)
_REVIEWS = re.compile(r"\breviews?\b", re.IGNORECASE)
_CAPITALISED = re.compile(r"(?<![\w'’-])[A-Z][\w'’-]++(?: (?:[A-Z]\.|[A-Z][\w'’-]++)){1,3}")
_BY_AUTHOR = re.compile(r"\b(?:by|of) (?:the )?(?:author )?([A-Z][\w'’-]+)(?= |\?|$)")
_USED = re.compile(
    r"\b(?:us(?:e|es|ed|ing)|mention(?:s|ing)?|data (?:of|from)) (?:the )?"
    r"([A-Z0-9][\w/+-]*(?: [A-Z][\w-]*){0,3})"
)
_MAX_ROWS = 10  # rows in the text; the table has all


class Scope(NamedTuple):
    """The papers that are counted: a filter, its rows, and a phrase that describes the papers."""

    filter: str
    rows: Rows
    phrase: str
    base: Rows  # papers that shares are relative to, such as all papers of the period
    base_phrase: str = ""  # such as "since 2020"


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
            raise InputError(
                f"Questions with “{refusal[0].strip(' ?')}” are not counted. Ask for numbers of "
                "papers, facilities, authors, concepts, regions, journals or reviews, or use a "
                "filter."
            )
        if measure == "person":
            parts = [f'author:"{short}"', *([f"({filter_text})"] if filter_text else [])]
            scope = _scope(atlas, ";".join(parts), f"by {short}.")
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
    """Find the papers that a question is about: period, people, facilities, region and subject."""
    years, when, left = _read_period(_with_months(question))
    parts, phrases = _conditions(atlas, left, measure)
    if measure != "reviews" and _REVIEWS.search(question):
        parts.append("review")
        phrases.append("that are reviews")
    if filter_text:
        parts.append(f"({filter_text})")
        phrases.append(f"that pass the filter {filter_text}")
    base, of = ([years] if years else []), when
    share = _SHARE.search(left)
    if share and measure == "papers":  # the denominator of "What share of JWST papers ..."
        whole, whole_phrases = _conditions(atlas, share["whole"], measure)
        base, of = [*whole, *base], " ".join([*whole_phrases, when]).strip()
    parts += [years] if years else []
    phrases += [when] if when else []
    scope = _scope(atlas, ";".join(parts), " ".join(phrases), base=";".join(base), of=of)
    if parts and not len(scope.rows):
        raise InputError(f"No paper{_of(scope)} is in this atlas. Ask about another subject.")
    return scope


def _with_months(text: str) -> str:
    """Write months as in filters: "March and June 2025" becomes "2025-03 and 2025-06"."""
    text = re.sub(
        rf"\b{_MONTH} (and|to|until) {_MONTH} (\d{{4}})\b",
        r"\1 \4 \2 \3 \4",
        text,
        flags=re.IGNORECASE,
    )
    return re.sub(
        rf"\b{_MONTH} (\d{{4}})\b",
        lambda found: f"{found[2]}-{_MONTHS[found[1].capitalize()]:02d}",
        text,
        flags=re.IGNORECASE,
    )


def _read_period(text: str) -> tuple[str, str, str]:
    """Return the filter of a period, the words for it, and the rest of a question."""
    for pattern, written in _PERIODS:
        if match := re.search(pattern, text, re.IGNORECASE):
            left = text.replace(match[0], " ")
            if re.search(r"\b(?:19|20)\d\d\b", left):
                raise InputError("The question has several periods; ask about one of them.")
            return re.sub(r"\\\d", "", match.expand(written)), match[0].strip(), left
    return "", "", text


def _conditions(atlas: AtlasStore, text: str, measure: str) -> tuple[list[str], list[str]]:
    """Return the parts of a filter for a question without its period, and a phrase for each."""
    parts: list[str] = []
    phrases: list[str] = []
    left = text
    region = re.search(r"\b(?:in )?(?:the )?region (?:of )?[\"“']?([^\"”'?]+)[\"”']?", left)
    if region:
        name = re.sub(r"\s+(?:have|has|contain|hold)\b.*", "", region[1]).strip()
        parts.append(f'region:"{name}"')
        phrases.append(f"in the region {name}")
        left = left.replace(region[0], " ")
    left = _take_people(atlas, left, parts, phrases)
    if measure != "facilities" or re.search(r"\b(?:with|together with|besides)\b", left):
        left = _take_facilities(left, parts, phrases)
    cut = _patterns()["cut"]
    named = []
    for piece in _AND.split(left):
        either = [" ".join(subject_words(cut.sub(" ", one))) for one in _OR.split(piece)]
        either = [f'"{one}"' for one in either if one]
        if either:
            named.append(f"({'|'.join(either)})" if len(either) > 1 else either[0])
    if named:
        words = " and ".join(named).replace("|", " or ").replace("(", "").replace(")", "")
        parts += named
        phrases.insert(0, f"with the words {words}")
    return parts, phrases


def _take_people(atlas: AtlasStore, text: str, parts: list[str], phrases: list[str]) -> str:
    """Add the conditions of authors that a text names, and return the rest of the text."""
    indexes = open_engine(atlas).indexes
    for match in _CAPITALISED.finditer(text):
        short, rows = indexes.papers_of_person(match[0])
        if len(rows):
            parts.append(f'author:"{short}"')
            phrases.append(f"by {short}.")
            text = text.replace(match[0], " ")
    by = _BY_AUTHOR.search(text)
    if by and not find_mentions(by[0]) and len(open_engine(atlas).select(f'author:"{by[1]}"')):
        parts.append(f'author:"{by[1]}"')
        phrases.append(f"by {by[1]}")
        text = text.replace(by[0], " ")
    return re.sub(r"\b(?:did|has|have|does|by)\b", " ", text) if phrases else text


def _take_facilities(text: str, parts: list[str], phrases: list[str]) -> str:
    """Add the conditions of facilities that a text names, and return the rest of the text."""
    spans = {
        (mention.start, mention.end): text[mention.start : mention.end]
        for mention in find_mentions(text)
    }
    for match in _USED.finditer(text):
        if not any(start < match.end(1) and match.start(1) < end for start, end in spans):
            with suppress(InputError):
                find_facility(match[1])
                spans[match.span(1)] = match[1]
    names = []
    for (start, end), surface in sorted(spans.items(), reverse=True):
        with suppress(InputError):
            names.append(find_facility(surface).name)
            text = f"{text[:start]} {text[end:]}"
    names = list(dict.fromkeys(reversed(names)))
    if not names:
        return text
    either = len(names) > 1 and bool(_OR.search(text))
    planned = re.search(r"\bplan(?:s|ned|ning)?\b", text, re.IGNORECASE)
    mentioned = re.search(r"\bmention", text, re.IGNORECASE)
    verb = "mention" if mentioned else "plan to use" if planned else "use data of"
    field = "mentions" if mentioned else "facility"
    quoted = [f'{field}:"{name}"' for name in names]
    parts += [f"({'|'.join(quoted)})"] if either else quoted
    parts += ["role:planned"] if planned and not mentioned else []
    phrases.append(f"that {verb} {(' or ' if either else ' and ').join(names)}")
    return re.sub(
        r"\b(?:us(?:e|es|ed|ing)|mention\w*|plan\w*|data|observations?|or|and)\b", " ", text
    )


def _scope(atlas: AtlasStore, text: str, phrase: str, *, base: str = "", of: str = "") -> Scope:
    engine = open_engine(atlas)
    whole = engine.select(base) if base else np.arange(len(atlas))
    rows, whole = (np.setdiff1d(of, atlas.invalid_papers) for of in (engine.select(text), whole))
    return Scope(text, rows, phrase, whole, of)


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
    rows = [(spelled.most_common(1)[0][0], sum(spelled.values())) for spelled in names.values()]
    return _ranked(
        "author",
        rows,
        scope,
        n_known,
        "with known authors",
        f'atlas.papers.iloc[{_select(scope)}]["authors"].explode().value_counts()',
        ("Names are compared by family name and initials, so one row can be several people.",),
    )


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
            lines.append(
                f"- {row['year']}: {row['papers']:,} of {row['all_papers']:,}"
                f" ({_written(row['share'])}%{part})"
            )
        elif "title" in row:
            cites = f", {row['cites']:,.0f} citations" if "cites" in row else ""
            year = "no year" if row["year"] != row["year"] else f"{row['year']:.0f}"
            lines.append(f"- {row['title']} ({year}{cites}) [{row['paper_id']}]")
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
    more = "earlier years are" if is_calendar else f"{rest:,} more rows are"
    return [*lines, f"- ({more} in the table)"] if rest > 0 else lines
