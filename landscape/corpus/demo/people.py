"""Generated authors with themes, careers, institutes and collaborations.

Family names are put together from parts, so that they sound like places of the world without being
taken from a list of persons; any likeness to a real author is chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from landscape.corpus.demo.cards import demo_data_folder, read_yaml


@dataclass
class Author:
    """One generated person.

    Attributes
    ----------
    first_year, last_year : int
        The career: no papers outside.
    home : str
        Theme in which the author mostly works.
    output : float
        Relative productivity; a few authors write much more than the rest.
    """

    name: str
    home: str
    group: int
    first_year: int
    last_year: int
    output: float
    affiliations: tuple[tuple[int, str], ...]

    def affiliation(self, year: int) -> str:
        """Where the author works in a year.

        Examples
        --------
        >>> Author("A, B", "x", 0, 1990, 2020, 1.0, ((1990, "P"), (2001, "Q"))).affiliation(2005)
        'Q'
        """
        return [place for since, place in self.affiliations if since <= max(year, self.first_year)][
            -1
        ]


@dataclass(frozen=True)
class Byline:
    """The authors of one paper and their affiliations, in the same order."""

    authors: tuple[str, ...]
    affiliations: tuple[str, ...]


class Community:
    """All authors, and who signs a paper.

    Parameters
    ----------
    themes : list of str
        Ids of the themes.
    related : dict of str to tuple of str
        Neighbouring themes, from which guests come.
    per_theme : int
        Authors per theme.
    rng : random.Random
    """

    def __init__(
        self, themes: list[str], related: dict[str, tuple[str, ...]], *, per_theme: int, rng: Random
    ) -> None:
        self._related = related
        names = _distinct_names(len(themes) * per_theme, rng)
        self._members = {
            theme: [self._career(names.pop(), theme, rng) for _ in range(per_theme)]
            for theme in themes
        }

    def sign(self, theme: str, *, year: int, kind: str, rng: Random) -> Byline:
        """Draw the authors of a paper.

        Parameters
        ----------
        theme : str
        year : int
        kind : str
            Surveys and instruments have long bylines, theory and reviews short ones.
        rng : random.Random

        Returns
        -------
        Byline
        """
        size = _team_size(year, kind, rng)
        active = [a for a in self._members[theme] if a.first_year <= year <= a.last_year]
        if not active:
            active = list(self._members[theme])
        lead = rng.choices(active, weights=[a.output for a in active])[0]
        pool = {a.name: a for a in active if a is not lead}
        weights = {
            a.name: a.output * (6.0 if a.group == lead.group else 1.0) for a in pool.values()
        }
        if size > 6 or rng.random() < 0.25:
            for neighbour in self._related.get(theme, ()):
                for guest in self._members[neighbour]:
                    if guest.first_year <= year <= guest.last_year:
                        pool[guest.name] = guest
                        weights[guest.name] = 0.25 * guest.output
        team = [lead]
        while len(team) < size and pool:
            name = rng.choices(list(pool), weights=[weights[n] for n in pool])[0]
            team.append(pool.pop(name))
        if size >= 25:  # large collaborations sign in alphabetical order
            team[1:] = sorted(team[1:], key=lambda a: a.name)
        return Byline(tuple(a.name for a in team), tuple(a.affiliation(year) for a in team))

    def _career(self, named: tuple[str, str], theme: str, rng: Random) -> Author:
        name, country = named
        # Careers overlap the whole span, and more of them begin as the field grows.
        first = 2026 - int(46 * rng.random() ** 1.25)
        last = first + 4 + int(rng.expovariate(1 / 13.0))
        places = [(first, f"{_institute(rng)}, {country}")]
        while rng.random() < 0.5 and places[-1][0] + 3 < last:
            there = rng.choice(list(_parts()["countries"])) if rng.random() < 0.5 else country
            places.append((places[-1][0] + rng.randint(2, 6), f"{_institute(rng)}, {there}"))
        return Author(
            name, theme, rng.randrange(7), first, last, rng.paretovariate(1.3), tuple(places)
        )


def _institute(rng: Random) -> str:
    parts = _parts()
    template: str = rng.choice(parts["institutes"])
    return template.format(rng.choice(parts["towns"]))


def _distinct_names(number: int, rng: Random) -> list[tuple[str, str]]:
    """Names with their countries, none twice."""
    countries = _parts()["countries"]
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


@cache
def _parts() -> Any:
    return read_yaml(demo_data_folder() / "people.yaml")


def _team_size(year: int, kind: str, rng: Random) -> int:
    growth = (year - 1990) / 36.0
    typical = {"theory": 1.8, "review": 1.6, "simulation": 2.6, "learning": 3.0}.get(kind, 3.2)
    size = round(typical * (1.0 + 1.1 * growth) * rng.lognormvariate(0.0, 0.45))
    if kind in ("survey", "observation", "instrument") and rng.random() < 0.05 * growth:
        size = rng.randint(25, 45)
    return max(1, size)
