"""Generate the papers of the demo corpus, with authors and references, and the true labels."""

from __future__ import annotations

import gzip
import json
import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

from landscape._io import read_yaml
from landscape.corpus.demo._sentences import Writer
from landscape.corpus.demo.cards import (
    Card,
    Mention,
    Story,
    demo_data_folder,
    find_traps,
    load_aspects,
    load_cards,
    unmark,
)
from landscape.errors import InputError


def stream(name: str, seed: int, index: int = 0) -> Random:
    """Return a random number generator that is independent of the generators for other names."""
    return Random(f"{name} {seed} {index}")  # noqa: S311 - not used for cryptography


FIRST_YEAR, LAST_YEAR = 1990, 2026
LAST_DAY = date(2026, 6, 30)
_EPOCH = date(FIRST_YEAR, 1, 1)
REVIEW_SHARE = 0.04
# How often the own theme of a paper counts, and the largest number of related themes. A theme
# younger than _YOUNG years has one related theme at most.
_OWN, _GUESTS, _YOUNG = 2, 5, 8.0
_ASPECTS, _ASPECT_SHARE = 3, 0.55  # aspects of a paper, and share of papers that ask about one
_RUSH, _RUSH_YEARS = 12.0, 1.5  # weight of a question in the first years in which it is asked
_PEOPLE: Any = read_yaml(demo_data_folder() / "people.yaml")


@dataclass(frozen=True)
class Plan:
    """Theme, research question, sources of its facts, date and kind of a paper to be generated."""

    card: Card
    question: Card  # theme of the research question
    story: Story
    sources: tuple[Story, ...]  # of the facts; a source that occurs more often gives more
    day: date
    kind: str


def plan_papers(cards: Sequence[Card], n_papers: int, *, rng: Random) -> list[Plan]:
    """Draw the themes, dates and kinds of all papers. The result is sorted by date."""
    years = range(FIRST_YEAR, LAST_YEAR + 1)
    growth = [math.exp(0.045 * (year - FIRST_YEAR)) for year in years]
    growth[-1] *= 0.5  # the corpus ends in the middle of the last year
    # The size of a theme depends only on its weight, not on its age.
    sizes = _apportion([card.weight for card in cards], n_papers)
    drawn: list[tuple[date, int]] = []
    for position, (card, size) in enumerate(zip(cards, sizes, strict=True)):
        curve = [activity(card, year) * total for year, total in zip(years, growth, strict=True)]
        for year in rng.choices(years, weights=curve, k=size):
            first, last = date(year, 1, 1), min(date(year, 12, 31), LAST_DAY)
            day = first + timedelta(days=rng.randint(0, (last - first).days))
            drawn.append((max(day, date(card.start, 1, 1)), position))
    drawn.sort()
    reviews = _choose_reviews(drawn, cards, round(REVIEW_SHARE * n_papers), rng)
    by_id = {card.id: card for card in cards}
    plans = []
    for index, (day, position) in enumerate(drawn):
        card, when = cards[position], decimal_year(day)
        if index in reviews:
            story = _story(card, when, rng)
            plans.append(Plan(card, card, story, (card.source(story),), day, "review"))
            continue
        themes = _themes(card, by_id, when, rng)
        stories = {theme.id: _story(theme, when, rng) for theme in themes}
        question = rng.choice(themes)
        aspects = _aspects(question, when, rng)
        # Some papers study the subject that many themes share on the objects of one theme.
        story = aspects[0] if aspects and rng.random() < _ASPECT_SHARE else stories[question.id]
        kind = _kind(question, story, day.year, rng)
        sources = [theme.source(stories[theme.id]) for theme in themes] + aspects
        plans.append(Plan(card, question, story, tuple(sources), day, kind))
    return plans


def decimal_year(day: date) -> float:
    """Return a date as a year with decimals."""
    return day.year + (day.timetuple().tm_yday - 1) / 365.25


def _themes(card: Card, by_id: Mapping[str, Card], when: float, rng: Random) -> list[Card]:
    """Draw the themes of a paper: its own theme and related themes, each once or more often."""
    known = [by_id[name] for name in card.related if by_id[name].start <= when]
    # A young theme has not yet spread to its neighbours.
    guests = rng.randint(0, _GUESTS if when - card.start > _YOUNG else 1) if known else 0
    return [card] * _OWN + [rng.choice(known) for _ in range(guests)]


def _aspects(card: Card, when: float, rng: Random) -> list[Story]:
    """Draw the aspects of a paper, such as magnetic fields or machine learning."""
    fit = [aspect for aspect in load_aspects() if aspect.since <= when and card.id in aspect.where]
    return rng.choices(fit, k=_ASPECTS) if fit else []


def _story(card: Card, when: float, rng: Random) -> Story:
    """Draw a research question. New questions attract many papers."""
    known = [story for story in card.stories if story.since <= when] or card.stories[:1]
    weights = [_RUSH if when - story.since < _RUSH_YEARS else 1.0 for story in known]
    return rng.choices(known, weights=weights)[0]


def activity(card: Card, year: int) -> float:
    """Return the relative activity of a theme in a year, not including the growth of the field."""
    if year < card.start:
        return 0.0
    t = (year - FIRST_YEAR) / (LAST_YEAR - FIRST_YEAR)
    if card.activity == "rising":
        return 0.06 + math.pow((year - card.start + 1) / (LAST_YEAR - card.start + 1), 2.0)
    if card.activity == "falling":
        return 0.12 + math.pow(1.0 - t, 1.6)
    if card.activity == "burst":
        return 0.10 + 2.5 * math.exp(-0.5 * ((year - card.peak) / 3.0) ** 2)
    return 1.0


def _apportion(weights: Sequence[float], total: int) -> list[int]:
    """Split a total in proportion to weights, with the largest-remainder method."""
    scale = total / sum(weights)
    shares = [weight * scale for weight in weights]
    sizes = [int(share) for share in shares]
    by_remainder = sorted(range(len(weights)), key=lambda i: (sizes[i] - shares[i], i))
    for i in by_remainder[: total - sum(sizes)]:
        sizes[i] += 1
    return sizes


def _choose_reviews(
    drawn: Sequence[tuple[date, int]], cards: Sequence[Card], number: int, rng: Random
) -> set[int]:
    """Choose which papers are reviews. Themes that should have reviews get equal numbers."""
    by_theme: defaultdict[int, list[int]] = defaultdict(list)
    for index, (_, position) in enumerate(drawn):
        if cards[position].reviewed:
            by_theme[position].append(index)
    chosen: set[int] = set()
    order = list(by_theme)
    rng.shuffle(order)
    while len(chosen) < number:
        before = len(chosen)
        for position in order:
            papers = by_theme[position]
            late = [i for i in papers[int(0.55 * len(papers)) :] if i not in chosen]
            if late and len(chosen) < number:
                chosen.add(rng.choice(late))
        if len(chosen) == before:
            break
        rng.shuffle(order)
    return chosen


def _kind(card: Card, story: Story, year: int, rng: Random) -> str:
    """Draw the kind of a paper from the kinds that the research question allows."""
    t = (year - FIRST_YEAR) / (LAST_YEAR - FIRST_YEAR)
    observes = bool(card.observe)
    weights = {
        "observation": 0.55 * observes,
        "survey": 0.10 * observes * ((story.sample or card.sample)[2] >= 60),
        "theory": (0.22 - 0.06 * t) * bool(card.phrases(story, "model")),
        "simulation": (0.08 + 0.14 * t) * bool(card.phrases(story, "simulate")),
        "learning": max(0.0, 0.5 * t - 0.3) * bool(card.phrases(story, "learn")),
        "instrument": (0.7 if card.category == "astro-ph.IM" else 0.06)
        * bool(card.phrases(story, "build")),
    }
    possible = {k: w for k, w in weights.items() if k in story.kinds and w} or weights
    return rng.choices(list(possible), weights=list(possible.values()))[0]


@dataclass
class Author:
    """A generated author."""

    name: str
    group: int
    first_year: int
    last_year: int
    output: float
    affiliations: tuple[tuple[int, str], ...]

    def affiliation(self, year: int) -> str:
        """Return the institute of the author in the given year."""
        year = max(year, self.first_year)
        return [place for since, place in self.affiliations if since <= year][-1]


def draw_authors(
    members: Mapping[str, Sequence[Author]], plan: Plan, rng: Random
) -> tuple[list[str], list[str]]:
    """Draw the authors of a paper. Return their names and affiliations."""
    year = plan.day.year
    active = {
        theme: [a for a in members[theme] if a.first_year <= year <= a.last_year]
        for theme in (plan.card.id, *plan.card.related)
    }
    size = _team_size(year, plan.kind, rng)
    own = active[plan.card.id] or members[plan.card.id]
    lead = rng.choices(own, weights=[a.output for a in own])[0]
    pool = {a.name: a for a in own if a is not lead}
    weights = {a.name: a.output * (6.0 if a.group == lead.group else 1.0) for a in pool.values()}
    if size > 6 or rng.random() < 0.25:
        guests = [a for neighbour in plan.card.related for a in active[neighbour]]
        pool |= {a.name: a for a in guests}
        weights |= {a.name: 0.25 * a.output for a in guests}
    team = [lead]
    while len(team) < size and pool:
        name = rng.choices(list(pool), weights=[weights[n] for n in pool])[0]
        team.append(pool.pop(name))
    if size >= 25:  # large collaborations list authors alphabetically
        team[1:] = sorted(team[1:], key=lambda a: a.name)
    return [a.name for a in team], [a.affiliation(year) for a in team]


def _career(name: str, country: str, rng: Random) -> Author:
    # Later years have more new authors, because the field grows.
    first = 2026 - int(46 * rng.random() ** 1.25)
    last = first + 4 + int(rng.expovariate(1 / 13.0))
    places = [(first, f"{_institute(rng)}, {country}")]
    while rng.random() < 0.5 and places[-1][0] + 3 < last:
        there = rng.choice(list(_PEOPLE["countries"])) if rng.random() < 0.5 else country
        places.append((places[-1][0] + rng.randint(2, 6), f"{_institute(rng)}, {there}"))
    return Author(name, rng.randrange(7), first, last, rng.paretovariate(1.3), tuple(places))


def _institute(rng: Random) -> str:
    template: str = rng.choice(_PEOPLE["institutes"])
    return template.format(rng.choice(_PEOPLE["towns"]))


def _distinct_names(number: int, rng: Random) -> list[tuple[str, str]]:
    """Draw unique author names. Return each name with its country."""
    countries = _PEOPLE["countries"]
    seen: dict[str, str] = {}
    while len(seen) < number:
        country = rng.choice(list(countries))
        parts = countries[country]
        family = rng.choice(parts["beginnings"]) + rng.choice(parts["endings"])
        first = rng.choice(parts["given"])
        if rng.random() < 0.45:
            first += f" {rng.choice('ABCDEFGHJKLMNPRSTVW')}."
        seen.setdefault(f"{family}, {first}", country)
    return list(seen.items())


def _team_size(year: int, kind: str, rng: Random) -> int:
    growth = (year - 1990) / 36.0
    typical = {"theory": 1.8, "review": 1.6, "simulation": 2.6, "learning": 3.0}.get(kind, 3.2)
    size = round(typical * (1.0 + 1.1 * growth) * rng.lognormvariate(0.0, 0.45))
    if kind in ("survey", "observation", "instrument") and rng.random() < 0.05 * growth:
        size = rng.randint(25, 45)
    return max(1, size)


# Minimum age of a reference in days. It exceeds a month, because some dates have no day.
MIN_LEAD_DAYS = 45
_SAME_THEME, _RELATED = 0.80, 0.15  # the remaining references can be on any theme
_MEMORY_DAYS = 365.0 * 9.0
_MAX_POOL = 150  # maximum number of candidates for references


def draw_references(papers: Sequence[Plan], *, rng: Random) -> list[list[int]]:
    """Draw the references of each paper. Return the indices of the cited papers."""
    days = [(paper.day - _EPOCH).days for paper in papers]
    fitness = [rng.lognormvariate(1.2 if p.kind == "review" else 0.0, 1.0) for p in papers]
    cited = [0] * len(papers)
    by_theme: defaultdict[str, list[int]] = defaultdict(list)
    graph: list[list[int]] = []
    for index, paper in enumerate(papers):
        theme = paper.question.id
        wanted = _reference_count(paper.kind, days[index], rng)
        neighbour = rng.choice(paper.question.related or ("",))
        pools = (
            (by_theme[theme], _SAME_THEME),
            (by_theme[neighbour], _RELATED),
            (range(index), 1.0 - _SAME_THEME - _RELATED),
        )
        chosen: set[int] = set()
        for pool, share in pools:
            # Pools are sorted by date, so papers that are old enough come first.
            latest = bisect_right(pool, days[index] - MIN_LEAD_DAYS, key=days.__getitem__)
            old_enough = pool[max(0, latest - _MAX_POOL) : latest]
            weights = [
                fitness[i] * (1.0 + cited[i]) * math.exp((days[i] - days[index]) / _MEMORY_DAYS)
                for i in old_enough
            ]
            number = round(wanted * share + rng.uniform(-0.5, 0.5))
            if old_enough and number > 0:
                chosen.update(rng.choices(old_enough, weights=weights, k=number))
        for i in chosen:
            cited[i] += 1
        graph.append(sorted(chosen))
        by_theme[theme].append(index)
    return graph


def _reference_count(kind: str, day: int, rng: Random) -> int:
    if kind == "review":
        return rng.randint(25, 60)
    growth = day / (365.0 * 36.0)
    return max(1, round((5.0 + 9.0 * growth) * rng.lognormvariate(0.0, 0.5)))


NOTE = (
    "Generated by Landscape: these papers, their authors, numbers and citations are invented for "
    "demonstration and tests. They are not literature and must not be cited."
)


@dataclass(frozen=True)
class PaperTruth:
    """True properties of one generated paper."""

    paper_id: str
    theme: str
    question: str  # theme of the research question, one of the neighbours of the theme
    kind: str
    mentions: tuple[Mention, ...]
    traps: tuple[Mention, ...]


@dataclass(frozen=True)
class ThemeTruth:
    """True properties of one theme of the demo corpus."""

    id: str
    name: str
    category: str
    activity: str
    start: int
    peak: int | None
    uat: tuple[str, ...]
    n_papers: int
    n_reviews: int


@dataclass(frozen=True)
class Truth:
    """True properties of the demo corpus, which are used to test analyses."""

    seed: int
    n_papers: int
    review_gaps: tuple[str, ...]
    uncovered_themes: tuple[str, ...]
    themes: tuple[ThemeTruth, ...]
    papers: tuple[PaperTruth, ...]


# Special journals of reviews and instrument papers, and the fraction of papers in these journals.
_JOURNALS = {"review": ("reviews", 0.7), "instrument": ("methods", 0.8)}
_AUTHORS_PER_THEME = 44
_UNTAGGED_SHARE = 0.35  # fraction of papers without author keywords
_MONTH_ONLY_SHARE = 0.08  # fraction of dates without a day

README = f"""# Demo corpus of Landscape

{NOTE}

- `papers.jsonl.gz` contains one JSON object per line. Every record has `"generated": true` and
  `"source": "demo"`. Journals, bibcodes, authors and institutes are invented. Facilities and their
  dates of first light are real.
- `truth.json` contains the true properties of the corpus: the theme of each paper, the themes
  without a review, the theme without a thesaurus concept, the mentions of facilities with their
  offsets, words that look like a facility but are not, and the activity of each theme.
"""


@dataclass(frozen=True)
class DemoFiles:
    """Files of the demo corpus."""

    papers: Path
    truth: Path


def write_demo(folder: Path, *, n_papers: int = 4000, seed: int = 1) -> DemoFiles:
    """Write the demo corpus to files. Files with the same seed are identical.

    Parameters
    ----------
    folder : pathlib.Path
        Directory for the files. It is created if it does not exist.
    n_papers : int, default 4000
    seed : int, default 1

    Returns
    -------
    DemoFiles
        ``papers.jsonl.gz`` and ``truth.json``, next to a ``README.md``.

    Raises
    ------
    InputError
        If `n_papers` is not positive.

    Examples
    --------
    >>> import tempfile
    >>> files = write_demo(Path(tempfile.mkdtemp()), n_papers=70)
    >>> files.papers.name, files.truth.name
    ('papers.jsonl.gz', 'truth.json')
    """
    records, truth = generate(n_papers, seed)
    folder.mkdir(parents=True, exist_ok=True)
    files = DemoFiles(folder / "papers.jsonl.gz", folder / "truth.json")
    # The gzip header has no file name and no time, so that equal contents give equal files.
    with files.papers.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as stream:
        for record in records:
            stream.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
    document = (
        json.dumps({"generated": True, "note": NOTE, **asdict(truth)}, ensure_ascii=False, indent=1)
        + "\n"
    )
    files.truth.write_text(document, encoding="utf-8")
    (folder / "README.md").write_text(README, encoding="utf-8")
    return files


def generate(n_papers: int = 4000, seed: int = 1) -> tuple[list[dict[str, Any]], Truth]:
    """Generate the demo corpus in memory. The parameters are the same as in `write_demo`.

    Returns
    -------
    list of dict
        Records with the columns of ``papers.parquet`` that a source can have, sorted by date.
    Truth

    Examples
    --------
    >>> papers, truth = generate(66, seed=3)
    >>> len(papers) == truth.n_papers == 66
    True
    """
    if n_papers < 1:
        raise InputError(f"n_papers is {n_papers}, but must be at least 1.")
    cards = load_cards()
    plans = plan_papers(cards, n_papers, rng=stream("plans", seed))
    rng = stream("people", seed)
    names = _distinct_names(len(cards) * _AUTHORS_PER_THEME, rng)
    members = {
        card.id: [_career(*names.pop(), rng) for _ in range(_AUTHORS_PER_THEME)] for card in cards
    }
    references = draw_references(plans, rng=stream("citations", seed))
    writer = Writer()
    texts, bylines = [], []
    for index, plan in enumerate(plans):
        rng = stream("paper", seed, index)
        sources = plan.sources
        texts.append(
            writer.write(
                plan.question,
                plan.story,
                sources=sources,
                kind=plan.kind,
                date=decimal_year(plan.day),
                rng=rng,
            )
        )
        bylines.append(draw_authors(members, plan, rng))
    bibcodes = _bibcodes(plans, bylines, rng=stream("journals", seed))
    citing: list[list[int]] = [[] for _ in plans]
    for index, cited in enumerate(references):
        for position in cited:
            citing[position].append(index)
    records, truths = [], []
    for index, plan in enumerate(plans):
        record, truth = _record(plan, texts[index], bylines[index], stream("record", seed, index))
        journal, bibcode = bibcodes[index]
        n_cites, recent = len(citing[index]), 2.5 if plan.day.year >= 2023 else 1.0
        spread = stream("reads", seed, index).lognormvariate(0.0, 0.7)
        record |= {
            "bibcode": bibcode,
            "journal": journal,
            "cites": n_cites,
            "read_count": round((3.0 + 4.0 * n_cites) * recent * spread),
            "ref_bibcodes": [bibcodes[i][1] for i in references[index]],
            "cite_bibcodes": [bibcodes[i][1] for i in citing[index]],
        }
        records.append(record)
        truths.append(PaperTruth(bibcode, plan.card.id, plan.question.id, plan.kind, *truth))
    sizes = Counter(plan.card.id for plan in plans)
    reviews = Counter(plan.card.id for plan in plans if plan.kind == "review")
    themes = tuple(
        ThemeTruth(
            **card.model_dump(include={"id", "name", "category", "activity", "start", "uat"}),
            peak=card.peak if card.activity == "burst" else None,
            n_papers=sizes[card.id],
            n_reviews=reviews[card.id],
        )
        for card in cards
    )
    gaps = tuple(card.id for card in cards if not card.reviewed)
    uncovered = tuple(card.id for card in cards if not card.uat)
    return records, Truth(seed, len(plans), gaps, uncovered, themes, tuple(truths))


def _record(
    plan: Plan, text: tuple[str, str], byline: tuple[list[str], list[str]], rng: Random
) -> tuple[dict[str, Any], tuple[Any, Any]]:
    title, title_mentions = unmark(text[0], field="title")
    abstract, abstract_mentions = unmark(text[1], field="abstract")
    traps = find_traps(title, field="title", mentions=title_mentions)
    traps += find_traps(abstract, field="abstract", mentions=abstract_mentions)
    card = plan.card
    tagged = bool(card.uat) and rng.random() > _UNTAGGED_SHARE
    concepts = rng.sample(card.uat, min(len(card.uat), rng.randint(2, 4))) if tagged else []
    crossed = [c for c in card.cross if rng.random() < 0.4]
    day = plan.day.isoformat()
    record = {
        "title": title,
        "abstract": abstract,
        "date": day[:7] if rng.random() < _MONTH_ONLY_SHARE else day,
        "year": plan.day.year,
        "authors": byline[0],
        "aff": byline[1],
        "ads_keywords": concepts,
        "categories": [card.category, *crossed],
        "doctype": "review" if plan.kind == "review" else "article",
        "arxiv_id": None,
        "doi": None,
        "source": "demo",
        "generated": True,
    }
    return record, (tuple(title_mentions + abstract_mentions), tuple(traps))


def _bibcodes(
    plans: Sequence[Plan], bylines: Sequence[tuple[list[str], list[str]]], *, rng: Random
) -> list[tuple[str, str]]:
    """Return the journal and an ADS bibcode (19 characters) of each paper."""
    pages: Counter[tuple[str, int]] = Counter()
    bibcodes = []
    for plan, (authors, _) in zip(plans, bylines, strict=True):
        special, share = _JOURNALS.get(plan.kind, ("letters", 0.12))
        name = special if rng.random() < share else "main"
        stem, journal = _PEOPLE["journals"][name]
        volume = plan.day.year - 1989
        pages[stem, volume] += rng.randint(1, 14)
        initial = next((c for c in authors[0].upper() if "A" <= c <= "Z"), "A")
        bibcode = f"{plan.day.year}{stem}{volume:.>4}.{pages[stem, volume]:.>4}{initial}"
        bibcodes.append((journal, bibcode))
    return bibcodes
