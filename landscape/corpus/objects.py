"""Find the names of celestial objects in text, with their normal forms and kinds.

The grammar follows the IAU's rules for designations: an acronym and a number, coordinates or a
date. ``data/objects.yaml`` lists the acronyms, Messier's catalogue, the constellations, the proper
names and the regular expressions. Facilities, spectral lines and types, units, models and classes
are not objects.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

from landscape.corpus._designations import (
    DASHES,
    GRAMMAR,
    PATTERNS,
    ObjectMention,
    alternatives,
    class_names,
    constellation_names,
    find_by_coordinates,
    find_catalogued,
    find_in_constellations,
    find_messier,
    find_small_bodies,
    is_class,
    is_program,
    kinds_of_acronyms,
    mention_at,
    proper_names,
    with_parts,
)
from landscape.corpus.facilities import load_facilities

__all__ = [
    "Coordinates",
    "ObjectMention",
    "coordinates_of",
    "find_objects",
    "normal_name",
    "object_key",
]

_LONGEST = 6_000  # characters of a piece; the time of some rules is quadratic


def find_objects(text: str) -> list[ObjectMention]:
    """Find the celestial objects that a text names.

    Parameters
    ----------
    text : str
        A title, an abstract or another text. The text is the context of short names, up to
        6,000 characters.

    Returns
    -------
    list of ObjectMention
        Mentions in the order of the text; they do not overlap.

    Examples
    --------
    >>> text = "JWST observed K2-18b, M 31 and SDSS J0100+2802; J0100 is a quasar."
    >>> [(mention.surface, mention.name, mention.kind) for mention in find_objects(text)]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('K2-18b', 'K2-18 b', 'planet'), ('M 31', 'NGC 224', 'galaxy'),
     ('SDSS J0100+2802', 'SDSS J0100+2802', ''), ('J0100', 'SDSS J0100+2802', '')]
    >>> find_objects("An M1 model of C IV lines of 5 M⊙ stars with NIRSpec")
    []
    """
    found: list[ObjectMention] = []
    for start, end in _pieces(text):
        found += (
            one._replace(start=one.start + start, end=one.end + start)
            for one in _in_piece(text[start:end])
        )
    return found


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of pieces of a long text, which end after a sentence, or between words."""
    start = 0
    while len(text) - start > _LONGEST:
        ends = (text.rfind(mark, start, start + _LONGEST) + 1 for mark in (". ", " "))
        end = next((end for end in ends if end > start), start + _LONGEST)
        yield start, end
        start = end
    yield start, len(text)


def _in_piece(text: str) -> list[ObjectMention]:
    finders = (
        find_catalogued, find_messier, find_by_coordinates, find_in_constellations,
        find_small_bodies, _named, _in_regions,
    )  # fmt: skip
    found = [one for find in finders for one in find(text)]
    found.sort(key=lambda one: (one.start, -one.end))
    kept: list[ObjectMention] = []
    for one in found:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    taken = _marked(text, kept)
    kept += [one for one in _designated(text) if not any(taken[one.start : one.end])]
    kept = _resolved(text, sorted(kept))
    return sorted([*kept, *_abbreviated(text, kept)])


def normal_name(name: str) -> str:
    """Return the normal form of the name of an object, or the name itself if it is not known.

    >>> normal_name("m31"), normal_name("beta Pictoris b"), normal_name("Planet X")
    ('NGC 224', 'β Pic b', 'Planet X')
    """
    name = " ".join(name.split())
    full = re.sub(r"^[Mm]\s?(?=\d{1,3}$)", "Messier ", name)  # without context, M 1 is a model
    for written in (full, name.upper(), name.title()):
        found = find_objects(written)
        if len(found) == 1 and found[0].surface == written:
            return found[0].name
    for entry in GRAMMAR["bare"]:
        if name.replace(" ", "_") in entry["names"].split():
            return str(entry.get("name") or f"{name} {entry['noun']}")
    return name


@lru_cache(maxsize=200_000)
def object_key(name: str) -> str:
    """Return what the names of one object share: arcminutes of coordinates, letters and digits.

    >>> object_key("SDSS J010013.02+280225.8") == object_key("J0100+2802")
    True
    >>> object_key("γ Cep B") == object_key("γ Cep b")  # a star and its planet
    False
    """
    name = re.sub(r"^\(\d+\) ", "", GRAMMAR["same"].get(name, name))
    found = PATTERNS["in_name"].search(name)
    if found:
        return "J{}{}{}{}{}".format(*found.groups(""))
    whole, _, part = name.rpartition(" ")
    if not whole or not re.fullmatch("[A-Da-k]", part):
        whole, part = name, ""
    # FRB 121102 is FRB 20121102A, and GRB 170817 is GRB 170817A.
    burst = re.fullmatch(r"([FG]RB) (?:20)?(\d{6})A?", name)
    return (
        f"{burst[1]}{burst[2]}"
        if burst
        else re.sub(r"(?<!\d)[-–]|[-–](?!\d)|\s", "", whole).casefold() + part
    )


class Coordinates(NamedTuple):
    """Right ascension and declination in degrees (J2000), and the precision in arcseconds."""

    ra: float
    dec: float
    precision: float


def coordinates_of(name: str) -> Coordinates | None:
    """Return the coordinates that a name holds, or None.

    The precision is the step of the last digit of the right ascension or the declination on the
    sky, whichever is larger: names truncate coordinates.

    >>> place = coordinates_of("SDSS J010013.02+280225.8")
    >>> round(place.ra, 4), round(place.dec, 4), round(place.precision, 2)
    (15.0542, 28.0405, 0.13)
    """
    found = re.search(r"J(\d{4,9}(?:\.\d+)?)([+-])(\d{2,8}(?:\.\d+)?)", name)
    ra, dec = (_degrees(one) for one in (found[1], found[3])) if found else (None, None)
    if found is None or ra is None or dec is None or ra[0] >= 24 or dec[0] > 90:
        return None
    step = ra[1] * 15 * math.cos(math.radians(dec[0]))
    return Coordinates(ra[0] * 15, -dec[0] if found[2] == "-" else dec[0], max(step, dec[1]))


def _degrees(digits: str) -> tuple[float, float] | None:
    """Convert digits such as hhmmss.s, ddmm.m or dd to hours or degrees, with their step."""
    whole, _, rest = digits.partition(".")
    whole, rest = whole[:6], whole[6:] + rest  # 2MASS writes 11481664 for 114816.64
    if len(whole) % 2 and len(whole) > 2:  # a decimal digit, as in J17091 and +070
        whole, rest = whole[:-1], whole[-1] + rest
    if len(whole) % 2:
        return None
    parts = [float(whole[place : place + 2]) for place in range(0, len(whole), 2)]
    parts[-1] += float(f"0.{rest or 0}")
    value = sum(part / 60**place for place, part in enumerate(parts))
    return value, 3600 / 60 ** (len(parts) - 1) / 10 ** len(rest)


@cache
def _false_names() -> re.Pattern[str]:
    """Return the pattern of names of facilities that begin with the name of an object."""
    begin = tuple(f"{name} " for name in proper_names()[1] if name.isalpha())
    names = (name for facility in load_facilities().values() for name in facility.names)
    return re.compile(alternatives({n for n in names if n.istitle() and n.startswith(begin)}))


def _named(text: str) -> Iterator[ObjectMention]:
    pattern, names = proper_names()
    for match in pattern.finditer(text):
        article = PATTERNS["article"].match(text, match.start())
        start = article.end() if article else match.start()
        match = (start > match.start() and pattern.match(text, start)) or match
        name = " ".join(match[0].translate(DASHES).split())
        usual, kind = names[name]
        if PATTERNS["name_after"].match(text, match.end()) or PATTERNS["not_before"].search(
            text, max(0, start - 40), start
        ):
            continue
        if _false_names().match(text, start) or (
            usual in class_names() and is_class(text, match[0])
        ):
            continue
        if kind in {"moon", "asteroid"} and is_program(text, match[0]):
            continue
        if name == "MW" and PATTERNS["megawatts"].search(text, start - 2, start):
            continue
        undefined = GRAMMAR["undefined_abbreviations"].split()
        if name in undefined and not any(
            other in text
            for other, (one, _) in names.items()
            if one == usual and other not in undefined
        ):
            continue
        if kind == "star":
            yield from with_parts(text, start, match.end(), usual, kind)
        else:
            yield mention_at(text, start, match.end(), usual, kind.removesuffix(" itself"))


@cache
def _bare_names() -> list[tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str], Any]]:
    """Return names without a noun, the words that the text has and does not have, and the kind."""
    after = PATTERNS["bare_after"].pattern
    return [
        (
            re.compile(rf"(?<![\w-])(?<!\d\s)(?:{alternatives(names)}){after}"),
            re.compile(entry["near"]), re.compile(entry.get("not_near", "(?!)")), entry,
        )
        for entry in GRAMMAR["bare"]
        for names in [[name.replace("_", " ") for name in entry["names"].split()]]
    ]  # fmt: skip


@cache
def _typed_pattern() -> re.Pattern[str]:
    """Return the pattern of a constellation and a noun, such as "Pisces overdensity"."""
    names = alternatives(
        set(constellation_names()) - set(GRAMMAR["ambiguous_constellations"].split())
    )
    nouns = "|".join(one for one in GRAMMAR["typed"] if one not in {"nebula", "moving"})
    nouns += r"|moving\sgroup|OB\d[a-c]?"
    return re.compile(rf"(?<!\w)({names})\s({nouns})(?!\w|\s[A-Z])")


def _in_regions(text: str) -> Iterator[ObjectMention]:
    """Yield clusters in lists, such as "Virgo and Coma clusters", and star-forming regions."""
    for match in PATTERNS["cluster_list"].finditer(text):
        yield mention_at(text, *match.span(), f"{match[1]} cluster", "galaxy cluster")
    for names, near, not_near, entry in _bare_names():
        if near.search(text) and not not_near.search(text):
            for match in names.finditer(text):
                name = entry.get("name") or f"{match[0]} {entry['noun']}"
                yield mention_at(text, *match.span(), name, entry["kind"])
    for match in (*PATTERNS["typed"].finditer(text), *_typed_pattern().finditer(text)):
        noun = match[2] if match[2].startswith("OB") else match[2].lower()
        kind = GRAMMAR["typed"].get(noun.split()[0], "stellar association")
        yield mention_at(text, *match.span(), f"{match[1]} {noun}", kind)
    for match in PATTERNS["clouds"].finditer(text) if PATTERNS["young"].search(text) else ():
        first = match[0].split()[0]
        has_cloud = f"{first} molecular cloud" in text or f"{first} Molecular Cloud" in text
        known = proper_names()[1]
        name = known.get(f"{first} molecular cloud", (first, ""))[0] if has_cloud else first
        yield mention_at(text, *match.span(), name, "cloud")


def _resolved(text: str, found: list[ObjectMention]) -> list[ObjectMention]:
    """Give truncated and bare coordinates the designation that the text has elsewhere."""
    full = {one.name: one.kind for one in found if " J" in one.name and "…" not in one.name}
    words = set(re.findall(r"\w+", text)) if any(one.name[0] == "J" for one in found) else set()
    are_pulsars = bool(words & set(GRAMMAR["pulsar_words"].split())) or not words & set(
        GRAMMAR["other_words"].split()
    )
    resolved = []
    for one in found:
        name, kind = one.name, one.kind
        if "…" in name:
            short, _, part = name.partition("…")
            longer = {
                re.sub(r" ?AB$", "", n) for n in full if n.startswith(re.split("[+-]", short)[0])
            }
            name = (longer.pop() if len(longer) == 1 else short.replace(" J", " ")) + part
        elif re.fullmatch(r"J\d{4}[+-]\d{4}[A-Z]?", name):
            known = [other for other in full if object_key(other) == object_key(name)]
            if known:
                name = max(known, key=len)
                kind = full[name]
            elif are_pulsars:
                name, kind = f"PSR {name}", "pulsar"
        resolved.append(one._replace(name=name, kind=kind))
    return resolved


def _marked(text: str, found: list[ObjectMention]) -> bytearray:
    """Return 1 for each character of a text that is in a mention."""
    taken = bytearray(len(text))
    for one in found:
        taken[one.start : one.end] = b"\1" * (one.end - one.start)
    return taken


@cache
def _nouns() -> tuple[re.Pattern[str], Mapping[str, str]]:
    """Return the pattern of the nouns before a designation, and the kind of each."""
    kinds = {
        noun.replace("_", " "): kind
        for kind, nouns in GRAMMAR["nouns"].items()
        for noun in nouns.split()
    }
    return re.compile(rf"\b({alternatives(kinds)})[\s~]"), kinds


def _designated(text: str) -> Iterator[ObjectMention]:
    """Yield names whose acronym is in no list: after a noun, or with coordinates of B1950."""
    meant = {}
    pattern, kinds = _nouns()
    for noun in pattern.finditer(text):
        match = PATTERNS["designated"].match(text, noun.end())
        enough = match and len(re.findall(r"[A-Z0-9]", match[1])) > 2
        if match and enough and not PATTERNS["not_designated"].match(match[1]):
            meant[match[1]] = kinds[noun[1].replace("~", " ")]
    meant |= {match[1]: "stellar stream" for match in PATTERNS["of_stream"].finditer(text)}
    for match in PATTERNS["besselian"].finditer(text):
        acronym, place = match.groups()
        if acronym not in GRAMMAR["class_acronyms"].split() and not PATTERNS["calendar"].match(
            place
        ):
            meant.setdefault(match[0], kinds_of_acronyms().get(acronym, ""))
    for surface, kind in meant.items():
        name = " ".join(surface.translate(DASHES).split())
        for match in re.finditer(rf"(?<![\w-]){re.escape(surface)}(?![\w-])", text):
            yield mention_at(text, *match.span(), name, kind)


def _is_place(text: str, name: str) -> bool:
    """Return whether digits are hours and minutes, with or without a declination, of a source."""
    if name.startswith("J"):
        return int(name[-4:-2]) < 24 and int(name[-2:]) < 60 and name[-4:] not in {"2000", "1950"}
    is_place = PATTERNS["bare_besselian"].fullmatch(name)
    return bool(is_place and PATTERNS["radio_sources"].search(text))


def _abbreviated(text: str, found: list[ObjectMention]) -> Iterator[ObjectMention]:
    """Yield short names of objects, which the text usually names in full too."""
    taken = _marked(text, found)
    for one in (*_shortened(text, found), *_planets_by_letter(text, found), *_meant(text, found)):
        if not any(taken[one.start : one.end]):
            yield one


def _shortened(text: str, found: list[ObjectMention]) -> Iterator[ObjectMention]:
    """Yield coordinates without the acronym or the declination, such as "J0100"."""
    for match in PATTERNS["short"].finditer(text):
        digits = match[0].translate(DASHES)
        written = f"J{match[1]}" if match[1] else re.escape(digits)
        pattern = re.compile(rf"{written}[\d.]*[+-]" if match[1] else rf"(?<!\d){written}")
        full = {
            (re.sub(r" [b-k]$", "", one.name), "" if one.kind == "planet" else one.kind)
            for one in found if pattern.search(one.name.replace("B", ""))
        }  # fmt: skip
        if len(full) == 1:
            yield from with_parts(text, *match.span(), *full.pop())
        elif not full and _is_place(text, match[0]):
            is_pulsar = "pulsar" in text and not match[1] and not PATTERNS["active"].search(text)
            name, kind = (f"PSR B{digits}", "pulsar") if is_pulsar else (digits, "")
            yield mention_at(text, *match.span(), name, kind)


def _planets_by_letter(text: str, found: list[ObjectMention]) -> Iterator[ObjectMention]:
    """Yield planets such as "planet c" if the text has one host."""
    hosts = {one.name[:-2] for one in found if one.kind == "planet" and one.name[-2:-1] == " "}
    hosts = hosts or {one.name for one in found if one.kind == "star" and one.name != "Sun"}
    for match in PATTERNS["planet_by_letter"].finditer(text) if len(hosts) == 1 else ():
        host = next(iter(hosts))
        yield mention_at(text, match.start(), match.end(1), f"{host} {match[1]}", "planet")
        if match[2]:
            yield mention_at(text, *match.span(2), f"{host} {match[2]}", "planet")


def _meant(text: str, found: list[ObjectMention]) -> Iterator[ObjectMention]:
    """Yield abbreviations that the text defines, and names without the noun of their kind."""
    meant: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for one in found:
        bracket = PATTERNS["in_brackets"].match(text, one.end)
        words = re.findall(r"[A-Za-z0-9]+", one.surface)
        initials = {"".join(word[0] for word in words).upper(), f"{words[0][0]}{words[-1]}"}
        # "Sagittarius dwarf (Sgr)"
        initials.add(constellation_names().get(words[0], ("",))[0].upper())
        if bracket and (bracket[1] or bracket[2].removesuffix("s").upper() in initials):
            meant[bracket[2]].add((one.name, one.kind))
        first = PATTERNS["first_word"].match(one.surface)
        if first and not PATTERNS["clouds"].fullmatch(first[1]):
            meant[first[1]].add((one.name, one.kind))
    after = r"(?!\w|-\d|\s(?:[A-Z]\w|arm\b|constell|flux))"
    for short, names in meant.items():
        if len(names) == 1:
            for match in re.finditer(rf"(?<![\w-]){re.escape(short)}{after}", text):
                yield mention_at(text, *match.span(), *next(iter(names)))
