"""Generated authors with themes, careers, institutes and collaborations.

Family names are put together from parts, so that they sound like places of the world without being
taken from a list of persons; any likeness to a real author is chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

_NAMES: tuple[tuple[str, str, str, str], ...] = (
    # country, beginnings, endings, given names
    ("Norway", "Hal Tor Sund Eid Bjerk Lang Fjell Nord", "vik stad haug berget nes dalen", "Ingvild Sverre Marit Eirik Solveig"),
    ("Sweden", "Ek Lind Sjö Ahl Bro Hag Väst Sten", "qvarn holmer gren strand vallen ryd", "Astrid Nils Ebba Gustaf Linnea"),
    ("Finland", "Koi Mäki Leh Saa Vuo Kan Tuo Jär", "vuniemi lahtela rinen kangas selkä mäinen", "Aino Eero Helmi Onni Venla"),
    ("Germany", "Grün Alt Ober Stein Hohen Wald Ried Kalt", "hofen maier bacher feldt leitner acker", "Annika Jörg Svenja Matthis Friederike"),
    ("Netherlands", "van Vel van Oost van Grim van Duin de Wol ter Meul", "dersma enkamp beek haven sluis veldt", "Maaike Joris Fenna Pieter Sanne"),
    ("France", "Mont Beau Font Clair Vau Roche Cour Bois", "vergne lieu sancy telle roux mandel", "Élise Thibault Margaux Lucien Camille"),
    ("Italy", "Val Monte Castel Ser Bel Ross Terra Cor", "randi vecchi lotti marini grossi betti", "Giulia Matteo Serena Davide Ornella"),
    ("Spain", "Agui Monta Ve Carre Oli Zu Riba Ola", "rrondo lbero gasanz tavera zarra ñarte", "Lucía Íñigo Marta Gonzalo Nerea"),
    ("Greece", "Papa Kara Geor Stavr Kalo Niko Mav Dra", "goudis theakis lakos nidis michalis rakis", "Eleni Stavros Dimitra Petros Ioanna"),
    ("Poland", "Kowa Wiś Za Bor Ol Jar Gra Mal", "lczewski niarska borski szyńska ecka owicz", "Agnieszka Tomasz Zofia Paweł Hanna"),
    ("Czechia", "Novo Hra Krej Svo Dvo Pol Jed Bar", "tínek dičný zelka bášek ránek ákova", "Tereza Vojtěch Lenka Ondřej Jitka"),
    ("United Kingdom", "Ash Brack Thorn Wether Kirk Hazel Stan Marl", "worthey combe field by ingham wickley", "Imogen Rhys Harriet Callum Beth"),
    ("United States", "Whit Harl Cald Brent Mor Ells Fair Lock", "enridge mansen well owley croft burne", "Paige Trevor Naomi Dustin Carmen"),
    ("Canada", "Tremb Laf Bouch Gag Mac Ross Cam Des", "onneau rancois erville nonville kinley lauriers", "Chantal Étienne Heather Liam Noémie"),
    ("Chile", "Hui Co Ari Val Cata Mil Que Ñan", "nquelef llipal capán divieso lán pulef", "Javiera Matías Catalina Rodrigo Antonia"),
    ("Brazil", "Al Bran Cam Fer Gui Mou Nasc Sil", "buquer danhos pinhal razzi marense tinhal", "Beatriz Thiago Larissa Rafael Juliana"),
    ("Japan", "Taka Mori Kita Nishi Fuku Haya Asa Kuro", "numa hisa zawa tomo gaki mura", "Haruka Kenji Ayumi Takeshi Misaki"),
    ("South Korea", "Nam Seo Ban Ok Gil Pyo Ma Do", "gung mun neul hwan rim kyeong", "Ji-won Min-ho Seo-yeon Tae-yang Ha-neul"),
    ("China", "Ou Shang Si Huang Zhu Dong Xia Nan", "yangyi guanlin malan fuhe gewei men", "Yuxin Haoran Jiayi Zihan Mengqi"),
    ("India", "Chakra Venka Sri Ra Bhatta Mukh Naga Sub", "dhar natha varma ghavan puri rajan", "Ananya Rohit Kavya Arjun Meera"),
    ("Iran", "Moh Kar Rah Far Sha Gol Tab Nou", "tashemi imzadeh manian hadpour rokhi rizian", "Shirin Behzad Niloofar Kaveh Parisa"),
    ("Türkiye", "Ak Yıl Kar De Öz Gün Tok Boz", "dağlı dırman aoğlan mirel türkmen kaya", "Elif Emre Zeynep Burak Defne"),
    ("Israel", "Ben Bar Shal Gold Rosen Har Kat Avi", "meirov zilai gurion shtai zeev noam", "Noa Eitan Tamar Yonatan Shira"),
    ("South Africa", "Mok Dla Nkos Mab Zw Kho Sib Ndl", "oena mweni asane uzane elibanzi ovuka", "Thandiwe Sipho Naledi Kagiso Lerato"),
    ("Nigeria", "Oka Ade Chu Eze Olu Nwa Iber Ogu", "forwe bamire kwudi nnamo wasegun chukwa", "Ngozi Tunde Adaeze Emeka Folake"),
    ("Australia", "Wal Bar Coo Mel Pen Kir Bil War", "lingford ramund loden rosewick nington rakee", "Matilda Lachlan Zara Angus Tahlia"),
)  # fmt: skip

_TOWNS = (
    "Aldermoor Brightwater Calder Dunmere Eastvale Fernhill Glenrow Highmark Ironbridge Jasper "
    "Kestrel Lakemont Marlow Northgate Oakhaven Pinecrest Quarry Ravenfell Silverlake Thornbury "
    "Underhill Valecrest Westmere Yarrow"
).split()
_PLACES = ("Institute for Astronomy, {} University", "{} Observatory", "Department of Physics, University of {}", "{} Centre for Astrophysics")  # fmt: skip


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
        return [place for since, place in self.affiliations if since <= max(year, self.first_year)][-1]


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
        weights = {a.name: a.output * (6.0 if a.group == lead.group else 1.0) for a in pool.values()}
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
            there = rng.choice(_NAMES)[0] if rng.random() < 0.5 else country
            places.append((places[-1][0] + rng.randint(2, 6), f"{_institute(rng)}, {there}"))
        return Author(
            name, theme, rng.randrange(7), first, last, rng.paretovariate(1.3), tuple(places)
        )


def _institute(rng: Random) -> str:
    return rng.choice(_PLACES).format(rng.choice(_TOWNS))


def _distinct_names(number: int, rng: Random) -> list[tuple[str, str]]:
    seen: dict[str, str] = {}
    while len(seen) < number:
        country, beginnings, endings, given = rng.choice(_NAMES)
        starts = beginnings.split(" ")
        if country == "Netherlands":
            starts = [f"{p} {w}" for p, w in zip(starts[::2], starts[1::2], strict=True)]
        family = rng.choice(starts) + rng.choice(endings.split())
        first = rng.choice(given.split())
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
