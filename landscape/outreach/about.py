"""What the map says of itself: title, corpus, dates, how to read it, credits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from landscape.outreach.everyday import tidy_name
from landscape.outreach.fonts import is_right_to_left
from landscape.outreach.wording import Wording, wording

if TYPE_CHECKING:
    from landscape.store._atlas_store import AtlasStore

_SOURCES = 4  # named in the fine print
_ENDINGS = re.compile(r"(?:\.(?:bib|csv|tsv|jsonl?|ndjson|parquet|xml|txt|gz|bz2|xz|zst))+$", re.I)
_PROVIDERS = {"arxiv": "arXiv", "ads": "NASA ADS", "pathfinder": "the pathfinder data set"}


@dataclass(frozen=True)
class About:
    """What the cartouche tells.

    Attributes
    ----------
    title : str
    n_papers : int
    first, last : str
        Years of the oldest and the newest paper; empty where unknown.
    middle : int, optional
        Latest year from which on at least half of the dated papers are.
    corpus : str
        Name of the atlas.
    sources : sequence of str
    generated : bool
        True where papers were made up by the demo.
    recent : (int, int) or None
        Years that count as new.
    rivers : bool
        Whether rivers are drawn.
    credits : str
        Who made it, as the user says.
    version : str
        Of Landscape.
    model : str
        What repainted the picture; empty where nothing did.
    language : str
    in_ink : bool
        Whether newer coasts are hatched and not coloured.
    """

    title: str
    n_papers: int = 0
    first: str = ""
    last: str = ""
    middle: int | None = None
    corpus: str = ""
    sources: Sequence[str] = ()
    generated: bool = False
    recent: tuple[int, int] | None = None
    rivers: bool = False
    credits: str = ""
    version: str = ""
    model: str = ""
    language: str = "en"
    in_ink: bool = False

    @property
    def words(self) -> Wording:
        """The words in its language."""
        return wording(self.language)

    def subtitle(self) -> str:
        """How many papers, and of which years.

        Examples
        --------
        >>> About("Stars", n_papers=1200, first="1990", last="2026").subtitle()
        'A map of 1,200 papers, 1990 to 2026'
        """
        parts = [self.words.papers.format(n=self.words.count(self.n_papers))]
        if self.first and self.last and self.first != self.last:
            parts.append(self.words.between.format(first=self.first, last=self.last))
        elif self.first:
            parts.append(self.first)
        return ("، " if is_right_to_left(parts[0]) else ", ").join(parts)

    def legend(self) -> list[str]:
        """How to read land and water, a sentence an item.

        Examples
        --------
        >>> About("Stars", recent=(2022, 2026), in_ink=True).legend()[1]
        'Coasts: hatched where papers are newer than usual (2022–2026).'
        """
        span = "–".join(map(str, dict.fromkeys(self.recent or ())))
        years = f" ({span})" if span else ""
        lines = [self.words.mountains]
        if self.recent:
            coasts = self.words.coasts_in_ink if self.in_ink else self.words.coasts
            lines.append(coasts.format(years=years))
        lines.append(self.words.water)
        if self.rivers:
            lines.append(self.words.rivers)
        return lines

    def fine_print(self) -> list[str]:
        """Where the papers and the picture come from.

        Examples
        --------
        >>> About("Stars", first="1990", last="2026", middle=2019).fine_print()[0]
        'Papers: Stars, from –. At least half are from 2019 or later.'
        """
        sources = list(self.sources)
        named = ", ".join(sources[:_SOURCES]) + (" …" if len(sources) > _SOURCES else "")
        lines = [self.words.sources.format(title=self.corpus or self.title, sources=named or "–")]
        if self.middle is not None and self.first != self.last:
            lines[0] += " " + self.words.half.format(middle=self.middle)
        how = self.words.repainted.format(model=self.model) if self.model else self.words.plain
        lines.append(f"{self.words.drawn.format(version=self.version).strip()}; {how}.")
        if self.credits:
            lines.append(self.credits)
        return lines

    def everything(self) -> list[str]:
        """All texts of the cartouche, to choose fonts for."""
        words = self.words
        return [
            self.title,
            self.subtitle(),
            words.generated,
            words.near,
            *words.few_to_many,
            *words.old_to_new,
            *self.legend(),
            *self.fine_print(),
        ]


def about_atlas(
    atlas: AtlasStore, title: str | None, credits_: str, language: str, model: str
) -> About:
    """Gather what an atlas says of itself; `model` is what repaints it, empty for nothing."""
    from landscape import __version__

    coverage = atlas.coverage
    heading = tidy_name(title if title is not None else coverage["title"], most=120)
    return About(
        title=heading or "Papers",
        n_papers=int(coverage["papers"]),
        first=str(coverage["first_date"] or "")[:4],
        last=str(coverage["last_date"] or "")[:4],
        corpus=tidy_name(coverage["title"], most=80),
        sources=tuple(dict.fromkeys(credit_of(source) for source in coverage["sources"])),
        generated=bool(coverage["generated"]),
        credits=tidy_name(credits_, most=300),
        version=__version__,
        model=tidy_name(Path(model).name if model else "", most=60),
        language=language,
    )


def credit_of(source: str) -> str:
    """Name whom a source is owed to: its provider, or else its file without endings.

    Examples
    --------
    >>> credit_of("arxiv:papers.jsonl.gz"), credit_of("bibtex:A. B. stars.bib"), credit_of("demo")
    ('arXiv', 'A. B. stars', 'demo')
    """
    kind, _, file = source.partition(":")
    return _PROVIDERS.get(kind) or tidy_name(_ENDINGS.sub("", file) or kind, most=60)
