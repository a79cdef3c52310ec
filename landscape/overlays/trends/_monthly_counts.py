"""Count the papers of keyphrases, concepts, regions and dated objects by month."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.corpus.thesaurus import MIN_SCORE
from landscape.errors import InputError
from landscape.mapping.phrases import UNTELLING, PhraseTable, phrase_table
from landscape.overlays.periods import invalid_papers, primary_categories, read_years
from landscape.text.words import normal_forms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.store import AtlasStore

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

FEWEST = 8  # papers of a tested term, at any time
FEWEST_NEW = 5  # papers of a term in the months in which it is new
_BY_AUTHORS = 0.2  # a concept has fewer of its papers by keywords of their authors
FEWEST_BEFORE = 6  # months before the last months, for comparison
_LAST_OF_CENTURY = 50  # years above it are of the 20th century
_ACRONYM = re.compile(r"([A-Z]\w*[A-Z])s?")
WORDS = re.compile(r"\w+")
_OF_ACRONYM = 0.25  # share of the papers of an acronym that have its long form
_BEFORE, _LEAST_BEFORE = 2, 36  # times the last months, and months: the months compared with
_LAST_DAY = 24  # at least, of the papers of a complete last month
_PARTIAL = 0.2  # a first or last month with less than this share of the median is omitted
# Releases of data and catalogues: DESI DR2, Rubin DP1, GWTC-4.
_RELEASE = re.compile(
    r"(?<![\w-])(?:[A-Z][\w-]{1,20}[ ~](?:DR|DP|EDR|PDR)[ ~]?\d{1,2}|GWTC-\d)(?:\.\d)?(?![\w])"
)
# Texts that can have one of these names or one of the following; RE2 is fast.
_HAS_NAME = r"GWTC-|D[RP][ ~]?\d|(?:SN|AT|GW|GRB|FRB|EP|XRF|S|[CPAI]/)[ ~]?\d{4}"
# Names that contain the date of their object: SN 2023ixf, GW230529, GRB 221009A, C/2025 N1.
_DATED_NAME = re.compile(
    r"(?<![\w/])(?:(?P<of_year>(?:SN|AT)(?=[ ~]?(?:19|20)\d\d[a-zA-Z]{1,4}\b)|[CPAI]/"
    r"(?=(?:19|20)\d\d [A-Z]+\d))[ ~]?(?P<year>\d{4})(?P<name> ?[A-Za-z]+\d*)"
    r"|(?P<of_day>GW|GRB|FRB|EP|XRF|S(?=\d{6}[a-z]))[ ~]?(?:20)?(?P<day>\d\d[01]\d[0-3]\d)"
    r"(?P<letter>[A-Za-z]{0,3}))(?![A-Za-z0-9])"
)


@dataclass(frozen=True)
class Period:
    """Months that the corpus covers, and the month and the category of each paper."""

    first: int  # number of the first month, 12 * year + month - 1
    month: Ints  # of each paper, counted from the first month, or -1
    category: Ints
    mix: Floats  # papers of each category in each month
    earlier: NDArray[np.bool_]  # papers before a gap of the corpus, before the first month

    @property
    def length(self) -> int:
        return self.mix.shape[1]

    def name_of(self, month: float) -> str:
        """Return the name of a month, such as 2025-07; negative months are counted from the end."""
        number = self.first + int(month) + (self.length if month < 0 else 0)
        return f"{number // 12}-{number % 12 + 1:02d}"


@dataclass(frozen=True)
class Terms:
    """Terms with enough papers, their pairs with papers, and counts by month."""

    names: NDArray[np.object_]
    kinds: NDArray[np.object_]
    paper: Ints  # sorted by term
    starts: Ints  # of the papers of each term, and the end
    counts: Floats  # papers in each month
    expected: Floats  # at a constant share of each category
    earlier: Floats  # share of the papers before a gap of the corpus
    month: Ints  # of all papers of the atlas

    def part(self, rows: list[int]) -> Terms:
        """Return some of the terms, for counts by month only."""
        names = ("names", "kinds", "counts", "expected", "earlier")
        return replace(self, **{name: getattr(self, name)[rows] for name in names})

    def papers_of(self, term: int, since: float = 0, last: float = np.inf) -> Ints:
        """Return the papers of a term in some months."""
        papers = self.paper[self.starts[term] : self.starts[term + 1]]
        month = self.month[papers]
        return papers[(month >= since) & (month <= last)]


def read_period(atlas: AtlasStore, months: int, until: str | None) -> Period:
    """Read the months of the papers since the last gap of the corpus."""
    import pandas as pd

    whole = read_years(atlas)
    papers = atlas.read_papers(["date", "categories"])
    date = pd.to_datetime(papers["date"])
    date.iloc[invalid_papers(atlas)] = pd.NaT
    known = date.notna().to_numpy()
    if not known.any() or (date[known].dt.month == 1).mean() > 0.5:
        raise InputError(
            "New topics need papers with months, but most papers of this corpus have only a year; "
            "use landscape table trends."
        )
    number = (12 * date.dt.year + date.dt.month - 1).fillna(-1).to_numpy(np.int64)
    first = 12 * (whole.last_stretch or int(whole.years[whole.covered][0]))
    last = _month_number(until) if until else int(number.max())
    inside = known & (number >= first) & (number <= last)
    if inside.any():
        size = np.bincount(number[inside] - first)
        thick = np.flatnonzero(size >= _PARTIAL * np.median(size[size > 0]))
        first, last = first + int(thick[0]), first + int(thick[-1])
        if not until and date[number == last].dt.day.max() < _LAST_DAY:
            last -= 1
        inside = known & (number >= first) & (number <= last)
    # Subjects change within decades, so that the last months are compared with the years before.
    first = max(first, last + 1 - months - max(_BEFORE * months, _LEAST_BEFORE))
    inside &= number >= first
    if not inside.any() or last - first + 1 < FEWEST_BEFORE + 1:
        raise InputError(
            f"New topics need {FEWEST_BEFORE + 1} months of papers or more, but the corpus covers "
            f"fewer before {until or 'its end'}; give a later month."
        )
    category, names = pd.factorize(primary_categories(papers["categories"]))
    month = np.where(inside, number - first, -1)
    mix = np.zeros((len(names), last - first + 1))
    np.add.at(mix, (category[inside], month[inside]), 1)
    return Period(first, month, category, mix, known & (number < first) & (number >= 0))


def _month_number(name: str) -> int:
    match = re.fullmatch(r"(\d{4})-(0[1-9]|1[0-2])", name)
    if not match:
        raise InputError(f"until is {name!r}; give a month such as 2025-09.")
    return 12 * int(match[1]) + int(match[2]) - 1


def read_terms(atlas: AtlasStore, period: Period) -> Terms:
    """Read the keyphrases, concepts and regions of the papers of a period."""
    import pandas as pd

    table = phrase_table(atlas.read_papers(["keywords"])["keywords"])
    names_of_phrases, numbers = _join_acronyms(table)
    tags = atlas.read_layer("uat", ["concept_id", "score", "evidence"])
    tags = tags[tags["score"] >= MIN_SCORE]
    # Keywords of authors are known for a part of the papers only.
    by_authors = (tags["evidence"] == "keywords").groupby(tags["concept_id"]).transform("mean")
    tags = tags[by_authors < _BY_AUTHORS]
    concept, ids = pd.factorize(tags["concept_id"])
    named = [atlas.thesaurus.find(one).label for one in ids]
    parts: list[tuple[str, Any, Ints, Ints]] = [
        ("keyphrase", names_of_phrases, table.paper, numbers[table.phrase]),
        ("concept", named, tags["paper_row"].to_numpy(), concept),
    ]
    label = atlas.topics.set_index("topic_id")["label"]
    for kind, column in (("region", "topic_id"), ("subregion", "subregion_id")):
        rows = np.flatnonzero(atlas.map[column].isin(label.index))
        region, ids = pd.factorize(atlas.map[column].iloc[rows])
        parts.append((kind, label.loc[ids], rows, region))
    parts.append(("object", *_find_objects(atlas, period)))
    sizes = [len(names) for _, names, _, _ in parts]
    starts = np.cumsum([0, *sizes])[:-1]
    n_papers = len(period.month)
    code = np.concatenate(  # one number for each pair, because numbers are sorted quickly
        [
            (number + start) * n_papers + paper
            for start, (_, _, paper, number) in zip(starts, parts, strict=True)
        ]
    )
    term, paper = np.divmod(np.unique(code), n_papers)
    names = np.concatenate([np.asarray(part[1], dtype=object) for part in parts])
    earlier = np.bincount(term[period.earlier[paper]], minlength=len(names))
    is_in = period.month[paper] >= 0
    term, paper = term[is_in], paper[is_in]
    fewest = np.repeat([FEWEST] * (len(parts) - 1) + [FEWEST_NEW], sizes)
    many = np.bincount(term, minlength=len(names)) >= fewest
    # Keyphrases such as "white paper" are not topics.
    phrases = np.flatnonzero(many[: sizes[0]])
    forms = normal_forms(names[phrases].tolist())
    many[phrases] = [form not in UNTELLING for form in forms]
    term, paper = (np.cumsum(many) - 1)[term[many[term]]], paper[many[term]]
    n, length = int(many.sum()), period.length
    of_category = np.zeros((n, len(period.mix)))
    np.add.at(of_category, (term, period.category[paper]), 1)
    sums = period.mix.sum(axis=1)
    counts = np.bincount(term * length + period.month[paper], minlength=n * length)
    return Terms(
        names=names[many],
        kinds=np.repeat(np.array([part[0] for part in parts], dtype=object), sizes)[many],
        paper=paper,
        starts=np.searchsorted(term, np.arange(n + 1)),
        counts=counts.reshape(n, length).astype(np.float64),
        expected=of_category @ (period.mix / np.maximum(sums, 1)[:, None]),
        earlier=earlier[many] / max(period.earlier.sum(), 1),
        month=period.month,
    )


def _find_objects(atlas: AtlasStore, period: Period) -> tuple[list[str], Ints, Ints]:
    """Find names of dated objects and of releases of data, and their pairs with papers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    papers = atlas.read_papers(["title", "abstract"])
    texts = pa.array(papers["title"] + "\n" + papers["abstract"].fillna(""))
    has_name = np.asarray(pc.match_substring_regex(texts, _HAS_NAME).fill_null(False))
    numbers: dict[str, int] = {}
    pairs = set()
    for row in np.flatnonzero(has_name & (period.month >= 0)).tolist():
        text = texts[row].as_py()
        names = [_object_name(match) for match in _DATED_NAME.finditer(text)]
        names += [re.sub(r"[ ~]+", " ", match[0]) for match in _RELEASE.finditer(text)]
        pairs |= {(row, numbers.setdefault(name, len(numbers))) for name in names}
    paper, number = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2).T
    return list(numbers), paper, number


def month_of_name(name: str) -> int | None:
    """Return the month in the name of an object, December if it has only a year, or None.

    >>> month_of_name("GW230529") == 12 * 2023 + 4
    True
    """
    match = _DATED_NAME.fullmatch(name)
    if not match:
        return None
    day = match["day"] or match["year"][2:] + "12"
    century = 1900 if int(day[:2]) > _LAST_OF_CENTURY else 2000
    return 12 * (century + int(day[:2])) + int(day[2:4]) - 1


def _object_name(match: re.Match[str]) -> str:
    """Return the usual spelling of a name with a date."""
    if match["of_year"]:
        between = "" if match["of_year"].endswith("/") else " "
        return match["of_year"] + between + match["year"] + match["name"]
    between = " " if match["of_day"] in ("GRB", "XRF") else ""
    return match["of_day"] + between + match["day"] + match["letter"]


def _join_acronyms(table: PhraseTable) -> tuple[NDArray[np.object_], Ints]:
    """Return names, and for each phrase its number or that of the long form of an acronym.

    A long form has the initials of the acronym, and is a phrase of many of its papers, or it is the
    only phrase with four initials or more.
    """
    size = np.bincount(table.phrase, minlength=len(table.forms))
    order = np.argsort(table.phrase, kind="stable")
    papers, ends = table.paper[order], np.cumsum(size)
    of_initials: dict[str, list[int]] = {}
    for number, form in enumerate(table.forms):
        words = WORDS.findall(form)
        if len(words) > 1 and size[number] >= FEWEST_NEW:
            of_initials.setdefault("".join(word[0] for word in words), []).append(number)
    names, numbers = table.shown.copy(), np.arange(len(table.forms))
    for number in np.flatnonzero(size >= FEWEST_NEW).tolist():
        acronym = _ACRONYM.fullmatch(table.shown[number])
        own = papers[ends[number] - size[number] : ends[number]]
        forms = of_initials.get(acronym[1].casefold(), []) if acronym else []
        is_clear = len(forms) == 1 and len(acronym[1]) > 3 if acronym else False
        best, most = -1, 0 if is_clear else max(_OF_ACRONYM * len(own), 3)
        for long in forms:
            both = np.isin(own, papers[ends[long] - size[long] : ends[long]]).sum()
            if both >= most:
                best, most = long, both
        if best >= 0:
            numbers[number] = best
            names[best] = f"{table.shown[best]} ({table.shown[number]})"
    return names, numbers
