"""Find designations: catalogues, coordinates, stars of constellations and small bodies."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

from landscape._io import data_file, read_yaml
from landscape.text.word_index import STOP_WORDS
from landscape.text.words import GREEK


class ObjectMention(NamedTuple):
    """Mention of a celestial object in a text.

    Attributes
    ----------
    start, end : int
        Position of the name: ``text[start:end] == surface``.
    surface : str
        The name as written in the text.
    name : str
        Normal form of the name, such as "NGC 224" for "M31".
    kind : str
        Kind of object, such as "star", "planet" or "galaxy"; "" if the name does not show it.
    """

    start: int
    end: int
    surface: str
    name: str
    kind: str


class _Catalogue(NamedTuple):
    name: str  # normal form of the acronym
    kind: str
    number: re.Pattern[str]
    separator: re.Pattern[str]
    joint: str  # between the acronym and the number of the normal form
    near: re.Pattern[str] | None  # words that the text must have
    not_near: str
    has_list: bool


GRAMMAR: dict[str, Any] = dict(read_yaml(data_file("objects.yaml")))
PATTERNS = {name: re.compile(pattern) for name, pattern in GRAMMAR["patterns"].items()}
_STARS = frozenset({"star", "white dwarf", "brown dwarf", "pulsar", "X-ray source", ""})
_LISTED = 30  # numbers of parts of a list, and of asteroids with names that are listed
_EXTENDED = frozenset({"", "cloud", "nebula", "galaxy cluster"})  # sources in them have names
# Separators in the text, and in the normal form, for each value of `hyphen` or `glued`.
_SEPARATORS = {
    "": (r"[\s~-]?", " "),
    "True": (r"[-–\s~]?", "-"),
    "only": ("[-–]", "-"),
    "none": (r"[\s~]?", " "),
    "any": (r"[\s-]?", ""),
    "glued": ("", ""),
    "space": ("", " "),
    "hyphen": ("", "-"),
}
_GREEK = {name: letter for letter, name in GREEK.items()} | {"ϵ": "ε", "ϑ": "θ", "ϕ": "φ"}
DASHES = str.maketrans("−–‐~\u00a0₂", "---  2")


@cache
def _catalogues() -> tuple[re.Pattern[str], Mapping[str, list[_Catalogue]]]:
    """Return the pattern of the acronyms, and the catalogues of each acronym."""
    catalogues = defaultdict[str, list[_Catalogue]](list)
    for entry in GRAMMAR["catalogues"]:
        glued = {"True": "glued"}.get(str(entry.get("glued", "")), str(entry.get("glued", "")))
        separator, joint = _SEPARATORS[glued or str(entry.get("hyphen", ""))]
        words = [word.replace("_", " ") for word in entry.get("near", "").split()]
        near = re.compile("|".join(map(re.escape, words))) if words else None
        kind = entry.get("kind", "")
        # Letters of components and planets can follow the number of a star.
        end = "(?![0-9])" if kind in _STARS | {"galaxy", "galaxy cluster"} else r"(?![^\W_])"
        number = re.compile(f"(?:{entry['number']}){end}")
        for names in entry["names"].split():
            normal, *others = names.replace("_", " ").split("=")
            one = _Catalogue(
                normal, kind, number, re.compile(separator), joint,
                near, entry.get("not_near", ""), entry.get("list", False),
            )  # fmt: skip
            for name in (normal, *others):
                catalogues[name].append(one)
    acronyms = alternatives(catalogues)
    follows = r"(?=[\s~\u00a0\-–]?\s?(?:[+\-−–]?[A-Z]{0,3}\s?\d|[A-Z]{2,4}-[A-Z]))"
    return re.compile(rf"(?<![\w.\\\-–])({acronyms}){follows}"), catalogues


def alternatives(names: Iterable[str]) -> str:
    """Return the pattern of any of some names, the longest first."""
    by_letter = defaultdict[str, list[str]](list)  # ten times as fast as one list
    for name in sorted(names, key=len, reverse=True):
        by_letter[re.escape(name[0])].append(re.escape(name[1:]))
    groups = (f"{letter}(?:{'|'.join(rest)})" for letter, rest in by_letter.items())
    pattern = "|".join(groups) or "(?!)"
    return pattern.replace("\\ ", r"[\s~\u00a0]").replace("\\-", "[-–−]")


def find_catalogued(text: str) -> Iterator[ObjectMention]:
    for match in _catalogues()[0].finditer(text):
        for size, catalogue in _beginning(match[1].translate(DASHES)):
            gap = catalogue.separator.match(text, match.start() + size)
            number = catalogue.number.match(text, gap.end()) if gap else None
            if number is None or PATTERNS["unit_after"].match(text, number.end()):
                continue
            is_planet = catalogue.kind in _STARS and PATTERNS["planets"].match(text, number.end())
            if catalogue.near and not is_planet and not catalogue.near.search(text):
                continue
            if catalogue.not_near and catalogue.not_near in text:
                continue
            if mentions := [*_numbered(text, catalogue, match.start(), number)]:
                yield from mentions
                break


def _beginning(acronym: str) -> Iterator[tuple[int, _Catalogue]]:
    """Yield the catalogues of an acronym and of its beginnings: "B335" is B 335, not B3 35."""
    for size in range(len(acronym), 0, -1):
        for catalogue in _catalogues()[1].get(acronym[:size], ()):
            yield size, catalogue


def _numbered(
    text: str, catalogue: _Catalogue, start: int, number: re.Match[str]
) -> Iterator[ObjectMention]:
    """Yield a numbered object or its planets, and the objects that follow in a list."""
    mentions = [
        *with_parts(text, start, number.end(), _numbered_name(catalogue, number[0]), catalogue.kind)
    ]
    end = mentions[-1].end
    if end == number.end() and text[end : end + 1].isalpha():
        return
    yield from mentions
    while catalogue.has_list and (more := PATTERNS["more"].match(text, end)):
        following = catalogue.number.match(text, more.end())
        if following is None or len(following[0]) < 3:
            return
        is_year = re.fullmatch(r"(?:19|20)\d\d", following[0]) and catalogue.kind != "galaxy"
        is_certain = more[0] == "/" or re.match(r"\d{6}", following[0])
        if is_year or not (is_certain or PATTERNS["after_list"].match(text, following.end())):
            return
        start, end = following.span()
        yield mention_at(text, start, end, _numbered_name(catalogue, following[0]), catalogue.kind)


def _numbered_name(catalogue: _Catalogue, number: str) -> str:
    digits = " ".join(number.translate(DASHES).split())
    if catalogue.name in {"NGC", "IC", "UGC"}:
        digits = digits.lstrip("0")
    if catalogue.name in {"PSR", "SGR"} and digits[:1].isdigit():
        digits = ("B" if catalogue.name == "PSR" else "J") + digits
    if catalogue.kind == "active region":
        digits = digits.removeprefix("AR").strip()
    return f"{catalogue.name}{catalogue.joint}{digits}"


def with_parts(text: str, start: int, end: int, name: str, kind: str) -> Iterator[ObjectMention]:
    """Yield a mention with its component, or its planets."""
    if kind in _EXTENDED and (part := PATTERNS["source_part"].match(text, end)):
        end, name = part.end(), f"{name}{part[0].translate(DASHES)}"
    if kind in _STARS - {"pulsar"}:
        part = PATTERNS["component"].match(text, end)
        if part and not PATTERNS["letter_between"].match(text, end):
            end, system = part.end(), name
            name += f" {part[0].strip(' ()')}"
            if more := PATTERNS["more_components"].match(text, end):
                yield mention_at(text, *more.span(1), f"{system} {more[1]}", kind)
        planets = PATTERNS["planets"].match(text, end)
        if planets and "".join(sorted(set(planets[1]))) == planets[1]:
            first = planets.start(1)
            for place, letter in enumerate(planets[1]):
                begin = start if place == 0 else first + place
                yield mention_at(text, begin, first + place + 1, f"{name} {letter}", "planet")
            more = PATTERNS["more_planets"].match(text, planets.end())
            while more:
                yield mention_at(text, *more.span(1), f"{name} {more[1]}", "planet")
                more = PATTERNS["more_planets"].match(text, more.end())
            return
    usual, known = proper_names()[1].get(name, (name, ""))
    known = _ngc_kinds().get(re.sub(r"(?<=\d)[A-EI](?:\(N\))?$", "", usual), known)
    if not known and usual.startswith(("NGC", "IC")):
        noun = PATTERNS["noun_before"].search(text, max(0, start - 24), start)
        noun = noun or PATTERNS["noun_after"].match(text, end)
        known = (noun[1] if noun else "galaxy").replace("stellar", "star")
    yield mention_at(text, start, end, usual, known or kind)


def mention_at(text: str, start: int, end: int, name: str, kind: str) -> ObjectMention:
    return ObjectMention(start, end, text[start:end], name, kind)


@cache
def _messier_table() -> Mapping[int, tuple[str, str]]:
    table = {40: ("M 40", "star"), 45: ("Pleiades", "open cluster")}
    for entry in GRAMMAR["messier"].split(","):
        messier, acronym, number, kind = entry.split(maxsplit=3)
        table[int(messier)] = f"{acronym} {number}", " ".join(kind.split())
    return table


@cache
def _ngc_kinds() -> Mapping[str, str]:
    listed = GRAMMAR["ngc_kinds"].items()
    kinds = {f"NGC {n}": kind for kind, numbers in listed for n in str(numbers).split()}
    return kinds | dict(_messier_table().values())


def find_messier(text: str) -> Iterator[ObjectMention]:
    for match in PATTERNS["messier"].finditer(text):
        name, kind = _messier_table().get(int(match[1]), ("", ""))
        is_short = not match[0].startswith("Messier")
        if is_short and int(match[1]) < 10 and not PATTERNS["messier_context"].search(text):
            continue
        is_class = int(match[1]) < 10 and PATTERNS["spectral"].match(text, match.end())
        if not name or (is_short and is_class):
            continue
        source = match[2]  # such as "X-1" of "M82 X-1"
        name, kind = (f"{name} {source}", "X-ray source") if source else (name, kind)
        yield mention_at(text, *match.span(), name, kind)


@cache
def kinds_of_acronyms() -> Mapping[str, str]:
    return {name: kind for kind, names in GRAMMAR["coordinates"].items() for name in names.split()}


def find_by_coordinates(text: str) -> Iterator[ObjectMention]:
    for match in PATTERNS["glued_acronym"].finditer(text):
        acronym, *groups = match.groups()
        yield from _with_coordinates(text, match.start(), match, groups, acronym)
    for match in PATTERNS["coordinates"].finditer(text):
        before = PATTERNS["acronym"].search(text[max(0, match.start() - 24) : match.start()])
        is_acronym = before and (
            sum(map(str.isupper, before[1])) > 1 or before[1] in kinds_of_acronyms()
        )
        acronym, size = (before[1], len(before[0])) if before and is_acronym else ("", 0)
        yield from _with_coordinates(text, match.start() - size, match, match.groups(), acronym)
    for match in PATTERNS["survey_dates"].finditer(text):
        yield mention_at(text, *match.span(), match[0], "transient")
    for match in PATTERNS["truncated"].finditer(text):  # "…" marks that the name is not complete
        name = f"{match[1]} J{match[2].translate(DASHES)}…"
        yield from with_parts(text, *match.span(), name, "")
    for match in PATTERNS["galactic"].finditer(text):
        acronym, longitude, sign, latitude = match.groups("")
        if "." in longitude or acronym:
            name = f"{acronym} G{longitude}{sign.translate(DASHES)}{latitude}".strip()
            yield mention_at(text, *match.span(), name, GRAMMAR["galactic_kinds"].get(acronym, ""))


def _with_coordinates(
    text: str, start: int, match: re.Match[str], groups: Iterable[str | None], acronym: str
) -> Iterator[ObjectMention]:
    ra, sign, dec, suffix = (group or "" for group in groups)
    if int(ra[:2]) > 23 or int(ra[2:4]) > 59 or int(dec[:2]) > 90:
        return
    if acronym in GRAMMAR["class_acronyms"].split():
        start, acronym = match.start(), ""
    acronym = GRAMMAR["spellings"].get(acronym, acronym).translate(DASHES)
    kind = kinds_of_acronyms().get(acronym, "")
    name = f"{acronym} J{ra}{sign.translate(DASHES)}{dec}".strip()
    if not suffix:
        yield from with_parts(text, start, match.end(), name, kind)
    elif suffix in "bcdefg" and kind != "pulsar" and not acronym.endswith("FGL"):
        yield mention_at(
            text, start, match.end(), f"{name} {suffix}", "planet" if kind in _STARS else kind
        )
    else:
        yield mention_at(text, start, match.end(), f"{name}{suffix}", kind)


@cache
def constellation_names() -> Mapping[str, tuple[str, str, str]]:
    """Return the abbreviation, nominative and genitive by all three names of a constellation."""
    found = {}
    for entry in GRAMMAR["constellations"].split(","):
        names = tuple(name.replace("_", " ") for name in entry.split())
        for name in names:
            found[name] = found[name.replace("ö", "o")] = (names[0], names[1], names[2])
    return found


@cache
def _star_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of stars and of dwarf galaxies in constellations."""
    greek = "|".join(
        [*GREEK.values(), *map(str.capitalize, GREEK.values()), *_GREEK.values(), *"ϵϑϕ"]
    )
    letter = rf"(?:{greek})[¹²³1-9]?|\d{{1,3}}|V\d{{3,4}}|[R-Z]|[A-IK-Z]{{2}}|[go]"
    stars = rf"(?<![\w.+\-−])({letter})[\s~\u00a0-]({alternatives(constellation_names())})(?!\w)"
    ambiguous = GRAMMAR["ambiguous_constellations"].split()
    names = {
        name for name, (short, nominative, _) in constellation_names().items()
        if name in {nominative, nominative.replace("ö", "o")} or (name == short not in ambiguous)
    }  # fmt: skip
    roman = r"(?:X{0,3}(?:IX|IV|V?I{1,3}|V)|X{1,3}|[1-9])"
    return re.compile(stars), re.compile(
        rf"(?<!\w)({alternatives(names)}|And(?=\s[XVI]{{2}}))\s({roman})(?![\w.])"
    )


def find_in_constellations(text: str) -> Iterator[ObjectMention]:
    stars, dwarfs = _star_patterns()
    for match in stars.finditer(text):
        letter, constellation = match[1], match[2]
        short, nominative, genitive = constellation_names()[constellation]
        number = re.fullmatch(r"(V?\d+|.+?)([¹²³1-9]?)", letter)
        stem, index = (letter, "") if number is None or letter[-3:].isdigit() else number.groups()
        greek = _GREEK.get(stem.lower() if len(stem) > 1 else stem, stem)
        is_greek = greek in GREEK
        is_long_nominative = constellation not in (short, genitive, genitive.replace("ö", "o"))
        is_word = constellation in {"And", "For", "Men"} and letter.isdigit()
        if (
            is_word
            or text.startswith(" cent", match.end())
            or (
                letter in GRAMMAR["not_variables"].split()
                and short in GRAMMAR["ambiguous_constellations"].split()
            )
        ):
            continue
        if is_long_nominative and nominative != genitive and not is_greek:
            continue
        if letter.isdigit() and (
            not 0 < int(letter) < 150 or PATTERNS["roman_after"].match(text, match.end())
        ):
            continue  # "10 Leo I stars"
        if len(letter) == 2 and letter.isupper() and letter > "QZ" and letter[1] < letter[0]:
            continue  # no name of a variable
        name = f"{greek}{index} {short}"
        # "RR Lyrae" is the class, and "RR Lyr" the star; "BL Lacertae" is both.
        is_star = is_greek or short == "Lac" or PATTERNS["star_named_class"].match(name)
        is_long = constellation != short and not is_star
        if name in _only_classes() or (
            name in class_names() and (is_long or is_class(text, match[0]))
        ):
            continue
        yield from with_parts(text, *match.span(), name, "star")
        listed = PATTERNS["variables"].search(text, max(0, match.start() - 60), match.start())
        if listed and len(letter) == 2:
            for one in PATTERNS["variable"].finditer(text, *listed.span()):
                yield mention_at(text, *one.span(), f"{one[0]} {short}", "star")
    if PATTERNS["dwarf"].search(text):
        for match in dwarfs.finditer(text):
            name = f"{constellation_names()[match[1]][1]} {match[2]}"
            yield mention_at(text, *match.span(), name, "galaxy")


@cache
def class_names() -> frozenset[str]:
    """Return the names of stars after which classes are named."""
    return frozenset({"Mira", *(one.strip() for one in GRAMMAR["classes"].split(","))})


@cache
def _only_classes() -> frozenset[str]:
    return frozenset(one.strip() for one in GRAMMAR["only_classes"].split(","))


@lru_cache(maxsize=256)  # a text has few names, but may repeat them
def is_class(text: str, name: str) -> bool:
    """Return whether a text uses the name of a star as the name of a class, as in "a BL Lac"."""
    return any(
        PATTERNS["class_after"].match(text, match.end())
        or PATTERNS["class_before"].search(text, max(0, match.start() - 24), match.start())
        for match in re.finditer(re.escape(name), text)
    )


@lru_cache(maxsize=256)
def is_program(text: str, name: str) -> bool:
    """Return whether a simulation or a program has the name, as in "the Rhea simulations"."""
    return any(
        PATTERNS["program_after"].match(text, match.end())
        for match in re.finditer(re.escape(name), text)
    )


def find_small_bodies(text: str) -> Iterator[ObjectMention]:
    names = proper_names()[1]
    for match in PATTERNS["asteroid"].finditer(text):
        name = match[0].translate(DASHES)
        # "(2) Methods" is a part of a list.
        is_word = match[1] and (match[2].lower() in STOP_WORDS or int(match[1]) < _LISTED)
        if name in names or not match[1] or (not is_word and PATTERNS["asteroids"].search(text)):
            yield mention_at(text, *match.span(), *names.get(name, (name, "asteroid")))
    for match in PATTERNS["comet"].finditer(text):
        written = re.sub("['’]s$", "", match[0])
        name = written.translate(DASHES).replace("’", "'").replace("ʻ", "'")
        kind = "interstellar object" if re.match(r"\dI/", name) else "comet"
        end = match.start() + len(written)
        yield mention_at(text, match.start(), end, *names.get(name, (name, kind)))
    for match in PATTERNS["numbered_comet"].finditer(text) if "omet" in text else ():
        full = re.search(rf"(?<!\w){match[0]}/[\w–-]+", text)
        name = names.get(match[0], (full[0] if full else match[0], ""))[0]
        yield mention_at(text, *match.span(), name.translate(DASHES), "comet")


@cache
def proper_names() -> tuple[re.Pattern[str], Mapping[str, tuple[str, str]]]:
    """Return the pattern of proper names, and the normal form and kind of each."""
    names: dict[str, tuple[str, str]] = {}
    for kind, listed in GRAMMAR["names"].items():
        for entry in listed.split(","):
            normal, _, others = entry.strip().partition("=")
            spellings = [normal, *filter(None, others.split("|"))]
            if kind == "region":
                spellings += [name.title() for name in spellings if "'" not in name]
            for name in spellings:
                names.setdefault(name.strip().translate(DASHES), (normal, kind))
    return re.compile(rf"(?<![\w.−–*])(?:{alternatives(names)})(?![\w*]|[-–]\d)"), names
