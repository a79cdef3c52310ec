"""The demo corpus as records and as files."""

from __future__ import annotations

import gzip
import io
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

from landscape.corpus.demo.cards import load_cards
from landscape.corpus.demo.citations import Citable, draw_references, invert
from landscape.corpus.demo.facilities import find_traps, unmark
from landscape.corpus.demo.grammar import Text, Writer
from landscape.corpus.demo.people import Byline, Community
from landscape.corpus.demo.planning import Plan, plan_papers
from landscape.corpus.demo.seeds import stream
from landscape.corpus.demo.themes import Card
from landscape.corpus.demo.truth import NOTE, PaperTruth, ThemeTruth, Truth
from landscape.errors import InputError

# Journals that do not exist, with bibcode stems that no real journal has.
_JOURNALS = {
    "main": ("Demo.", "Demonstration Journal of Astronomy"),
    "letters": ("DemoL", "Demonstration Letters in Astronomy"),
    "methods": ("DemoM", "Demonstration Instruments and Methods"),
    "reviews": ("DemoR", "Demonstration Reviews of Astronomy"),
}
_AUTHORS_PER_THEME = 44
_UNTAGGED_SHARE = 0.35  # papers without author keywords, as in real corpora
_MONTH_ONLY_SHARE = 0.08  # dates that are known to the month
_EPOCH = date(1990, 1, 1)

README = f"""# Demo corpus of Landscape

{NOTE}

- `papers.jsonl.gz`: one JSON object a line; every record has `"generated": true` and
  `"source": "demo"`. Journals, bibcodes, authors and institutes are invented; facilities and their
  dates of first light are real.
- `truth.json`: what is planted: the theme of each paper, the themes left without a review, the
  theme that no thesaurus concept covers, every true facility use with its offsets, every word that
  only looks like one, and the kind of activity of each theme.
"""


@dataclass(frozen=True)
class DemoFiles:
    """Where the demo corpus was written."""

    papers: Path
    truth: Path


def write_demo(folder: Path, *, n_papers: int = 4000, seed: int = 1) -> DemoFiles:
    """Write the demo corpus: the same bytes for the same seed.

    Parameters
    ----------
    folder : pathlib.Path
        Made if it is not there.
    n_papers : int, default 4000
    seed : int, default 1

    Returns
    -------
    DemoFiles
        ``papers.jsonl.gz`` and ``truth.json``; a ``README.md`` that says that all is generated
        lies beside them.

    Raises
    ------
    InputError
        If ``n_papers`` is not positive.

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
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    files.papers.write_bytes(_gzipped(lines.encode()))
    document = json.dumps(truth.as_json(), ensure_ascii=False, indent=1) + "\n"
    files.truth.write_text(document, encoding="utf-8")
    (folder / "README.md").write_text(README, encoding="utf-8")
    return files


def generate(n_papers: int = 4000, seed: int = 1) -> tuple[list[dict[str, Any]], Truth]:
    """Generate the demo corpus in memory.

    Parameters
    ----------
    n_papers : int, default 4000
    seed : int, default 1

    Returns
    -------
    list of dict
        Records with the columns of ``papers.parquet`` that a source can give, in order of date.
    Truth

    Raises
    ------
    InputError
        If ``n_papers`` is not positive.

    Examples
    --------
    >>> papers, truth = generate(66, seed=3)
    >>> len(papers) == truth.n_papers == 66
    True
    """
    if n_papers < 1:
        raise InputError(f"n_papers is {n_papers}: a demo corpus needs at least one paper")
    cards = load_cards()
    related = {card.id: card.related for card in cards}
    plans = plan_papers(cards, n_papers, rng=stream("plans", seed))
    community = Community(
        list(related), related, per_theme=_AUTHORS_PER_THEME, rng=stream("people", seed)
    )
    citable = [Citable((p.day - _EPOCH).days, p.card.id, p.kind == "review") for p in plans]
    references = draw_references(citable, related, rng=stream("citations", seed))
    writer = Writer()
    texts, bylines = [], []
    for index, plan in enumerate(plans):
        rng = stream("paper", seed, index)
        texts.append(_written(writer, plan, rng))
        bylines.append(community.sign(plan.card.id, year=plan.day.year, kind=plan.kind, rng=rng))
    bibcodes = _bibcodes(plans, bylines, rng=stream("journals", seed))
    citing = invert(references)
    records, truths = [], []
    for index, plan in enumerate(plans):
        record, truth = _record(plan, texts[index], bylines[index], stream("record", seed, index))
        journal, bibcode = bibcodes[index]
        record |= {
            "bibcode": bibcode,
            "journal": journal,
            "cites": len(citing[index]),
            "read_count": _reads(len(citing[index]), plan, stream("reads", seed, index)),
            "ref_bibcodes": [bibcodes[i][1] for i in references[index]],
            "cite_bibcodes": [bibcodes[i][1] for i in citing[index]],
        }
        records.append(record)
        truths.append(PaperTruth(bibcode, plan.card.id, plan.kind, *truth))
    return records, _truth(cards, plans, truths, seed)


def _written(writer: Writer, plan: Plan, rng: Random) -> Text:
    return writer.write(plan.card, plan.story, kind=plan.kind, date=plan.decimal_year, rng=rng)


def _record(
    plan: Plan, text: Text, byline: Byline, rng: Random
) -> tuple[dict[str, Any], tuple[Any, Any]]:
    title, title_mentions = unmark(text.title, field="title")
    abstract, abstract_mentions = unmark(text.abstract, field="abstract")
    traps = find_traps(title, field="title", mentions=title_mentions) + find_traps(
        abstract, field="abstract", mentions=abstract_mentions
    )
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
        "authors": list(byline.authors),
        "aff": list(byline.affiliations),
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
    plans: Sequence[Plan], bylines: Sequence[Byline], *, rng: Random
) -> list[tuple[str, str]]:
    """Journal and bibcode of each paper: 19 characters, as ADS writes them."""
    pages: Counter[tuple[str, int]] = Counter()
    found = []
    for plan, byline in zip(plans, bylines, strict=True):
        stem, journal = _JOURNALS[_journal(plan, rng)]
        volume = plan.day.year - 1989
        pages[stem, volume] += rng.randint(1, 14)
        initial = next((c for c in byline.authors[0].upper() if "A" <= c <= "Z"), "A")
        bibcode = f"{plan.day.year}{stem}{volume:.>4}.{pages[stem, volume]:.>4}{initial}"
        found.append((journal, bibcode))
    return found


def _journal(plan: Plan, rng: Random) -> str:
    if plan.kind == "review":
        return "reviews" if rng.random() < 0.7 else "main"
    if plan.kind == "instrument":
        return "methods" if rng.random() < 0.8 else "main"
    return "letters" if rng.random() < 0.12 else "main"


def _reads(cites: int, plan: Plan, rng: Random) -> int:
    recent = 2.5 if plan.day.year >= 2023 else 1.0
    return round((3.0 + 4.0 * cites) * recent * rng.lognormvariate(0.0, 0.7))


def _truth(
    cards: Sequence[Card], plans: Sequence[Plan], papers: list[PaperTruth], seed: int
) -> Truth:
    sizes = Counter(plan.card.id for plan in plans)
    reviews = Counter(plan.card.id for plan in plans if plan.kind == "review")
    themes = tuple(
        ThemeTruth(
            id=card.id,
            name=card.name,
            category=card.category,
            activity=card.activity,
            start=card.start,
            peak=card.peak if card.activity == "burst" else None,
            uat=card.uat,
            n_papers=sizes[card.id],
            n_reviews=reviews[card.id],
        )
        for card in cards
    )
    return Truth(
        seed=seed,
        n_papers=len(plans),
        review_gaps=tuple(card.id for card in cards if not card.reviewed),
        uncovered_themes=tuple(card.id for card in cards if not card.uat),
        themes=themes,
        papers=tuple(papers),
    )


def _gzipped(content: bytes) -> bytes:
    """Compress without the time of day, so that the bytes depend on the content only."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as stream:
        stream.write(content)
    return buffer.getvalue()
