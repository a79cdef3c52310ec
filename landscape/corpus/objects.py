"""Find the names of celestial objects in text, with their normal forms and kinds.

The grammar follows the IAU's rules for designations: an acronym and a number, coordinates or a
date. ``data/objects.yaml`` lists the acronyms, Messier's catalogue, the constellations, the proper
names and the regular expressions. Facilities, spectral lines and types, units, models and classes
are not objects.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

from landscape._io import data_file, read_yaml
from landscape.corpus.facilities import load_facilities
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


_DATA: dict[str, Any] = dict(read_yaml(data_file("objects.yaml")))
_PATTERNS = {name: re.compile(pattern) for name, pattern in _DATA["patterns"].items()}
_STARS = frozenset({"star", "white dwarf", "brown dwarf", "pulsar", "X-ray source", ""})
# Separators in the text, and in the normal form, for each value of `hyphen` or `glued`.
_SEPARATORS = {
    "": (r"[\s~-]?", " "),
    "True": (r"[-–\s~]?", "-"),
    "only": ("[-–]", "-"),
    "none": (r"[\s~]?", " "),
    "any": (r"[\s-]?", ""),
    "glued": ("", ""),
}
_GREEK = {name: letter for letter, name in GREEK.items()} | {"ϵ": "ε", "ϑ": "θ", "ϕ": "φ"}
_DASHES = str.maketrans("−–‐~\u00a0", "---  ")


def find_objects(text: str) -> list[ObjectMention]:
    """Find the celestial objects that a text names.

    Parameters
    ----------
    text : str
        A title, an abstract or another text. The whole text is the context of short names.

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
    found = [
        *_catalogued(text), *_messier(text), *_by_coordinates(text), *_in_constellations(text),
        *_small_bodies(text), *_named(text), *_in_regions(text),
    ]  # fmt: skip
    found.sort(key=lambda one: (one.start, -one.end))
    kept: list[ObjectMention] = []
    for one in found:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    taken = _marked(text, kept)
    kept += [one for one in _designated(text) if not any(taken[one.start : one.end])]
    kept = _resolved(text, sorted(kept))
    return sorted([*kept, *_abbreviated(text, kept)]) if kept else []


def normal_name(name: str) -> str:
    """Return the normal form of the name of an object, or the name itself if it is not known.

    >>> normal_name("M31"), normal_name("beta Pictoris b"), normal_name("Planet X")
    ('NGC 224', 'β Pic b', 'Planet X')
    """
    name = " ".join(name.split())
    found = find_objects(name)
    is_whole = len(found) == 1 and found[0].surface == name
    return found[0].name if is_whole else name


@lru_cache(maxsize=200_000)
def object_key(name: str) -> str:
    """Return what the names of one object share: arcminutes of coordinates, letters and digits.

    >>> object_key("SDSS J010013.02+280225.8") == object_key("J0100+2802")
    True
    """
    found = _PATTERNS["in_name"].search(name)
    if found:
        return "J{}{}{}{}".format(*found.groups())
    return re.sub(r"(?<!\d)[-–]|[-–](?!\d)|\s", "", name).casefold()


class Coordinates(NamedTuple):
    """Right ascension and declination in degrees (J2000), and the precision in arcseconds."""

    ra: float
    dec: float
    precision: float


def coordinates_of(name: str) -> Coordinates | None:
    """Return the coordinates that a name holds, or None.

    The precision is the step of the last digit of the declination: names truncate coordinates.

    >>> coordinates_of("SDSS J0100+2802")
    Coordinates(ra=15.0, dec=28.033333333333335, precision=60.0)
    """
    found = re.search(r"J(\d{4,9}(?:\.\d+)?)([+-])(\d{2,8}(?:\.\d+)?)", name)
    ra, dec = (_degrees(one) for one in (found[1], found[3])) if found else (None, None)
    if found is None or ra is None or dec is None or ra[0] >= 24 or dec[0] > 90:
        return None
    return Coordinates(ra[0] * 15, -dec[0] if found[2] == "-" else dec[0], dec[1])


def _degrees(digits: str) -> tuple[float, float] | None:
    """Convert digits such as hhmmss.s, ddmm.m or dd to hours or degrees, with their step."""
    whole, _, rest = digits.partition(".")
    whole, rest = whole[:6], whole[6:] + rest  # 2MASS writes 11481664 for 114816.64
    if len(whole) % 2:
        return None
    parts = [float(whole[place : place + 2]) for place in range(0, len(whole), 2)]
    parts[-1] += float(f"0.{rest or 0}")
    value = sum(part / 60**place for place, part in enumerate(parts))
    return value, 3600 / 60 ** (len(parts) - 1) / 10 ** len(rest)


@cache
def _catalogues() -> tuple[re.Pattern[str], Mapping[str, list[_Catalogue]]]:
    """Return the pattern of the acronyms, and the catalogues of each acronym."""
    catalogues = defaultdict[str, list[_Catalogue]](list)
    for entry in _DATA["catalogues"]:
        glued = {"True": "glued"}.get(str(entry.get("glued", "")), str(entry.get("glued", "")))
        separator, joint = _SEPARATORS[glued or str(entry.get("hyphen", ""))]
        words = entry.get("near", "").split()
        near = re.compile("|".join(map(re.escape, words))) if words else None
        kind = entry.get("kind", "")
        # Letters of components and planets can follow the number of a star.
        end = "(?![0-9])" if kind in _STARS | {"galaxy", "galaxy cluster"} else r"(?![^\W_])"
        number = re.compile(f"(?:{entry['number']}){end}")
        for names in entry["names"].split():
            normal, *others = names.replace("_", " ").split("=")
            one = _Catalogue(
                normal, kind, number, re.compile(separator), " " if normal == "Abell" else joint,
                near, entry.get("not_near", ""), entry.get("list", False),
            )  # fmt: skip
            for name in (normal, *others):
                catalogues[name].append(one)
    acronyms = _alternatives(catalogues)
    follows = r"(?=[\s~\u00a0\-–]?\s?[+\-−–]?[A-Z]{0,3}\s?\d)"
    return re.compile(rf"(?<![\w.\\\-–])({acronyms}){follows}"), catalogues


def _alternatives(names: Iterable[str]) -> str:
    """Return the pattern of any of some names, the longest first."""
    by_letter = defaultdict[str, list[str]](list)  # ten times as fast as one list
    for name in sorted(names, key=len, reverse=True):
        by_letter[re.escape(name[0])].append(re.escape(name[1:]))
    groups = (f"{letter}(?:{'|'.join(rest)})" for letter, rest in by_letter.items())
    return "|".join(groups).replace("\\ ", r"[\s~\u00a0]") or "(?!)"


def _catalogued(text: str) -> Iterator[ObjectMention]:
    pattern, catalogues = _catalogues()
    for match in pattern.finditer(text):
        for catalogue in catalogues[match[1].translate(_DASHES)]:
            gap = catalogue.separator.match(text, match.end())
            number = catalogue.number.match(text, gap.end()) if gap else None
            if number is None or _PATTERNS["unit_after"].match(text, number.end()):
                continue
            is_planet = catalogue.kind in _STARS and _PATTERNS["planets"].match(text, number.end())
            if catalogue.near and not is_planet and not catalogue.near.search(text):
                continue
            if catalogue.not_near and catalogue.not_near in text:
                continue
            if mentions := [*_numbered(text, catalogue, match.start(), number)]:
                yield from mentions
                break


def _numbered(
    text: str, catalogue: _Catalogue, start: int, number: re.Match[str]
) -> Iterator[ObjectMention]:
    """Yield a numbered object or its planets, and the objects that follow in a list."""
    mentions = [
        *_with_parts(
            text, start, number.end(), _numbered_name(catalogue, number[0]), catalogue.kind
        )
    ]
    end = mentions[-1].end
    if end == number.end() and text[end : end + 1].isalpha():
        return
    yield from mentions
    while catalogue.has_list and (more := _PATTERNS["more"].match(text, end)):
        following = catalogue.number.match(text, more.end())
        if following is None or len(following[0]) < 3:
            return
        is_year = re.fullmatch(r"(?:19|20)\d\d", following[0]) and catalogue.kind != "galaxy"
        is_certain = re.match(r"\d{6}", following[0])
        if is_year or not (is_certain or _PATTERNS["after_list"].match(text, following.end())):
            return
        start, end = following.span()
        yield _mention(text, start, end, _numbered_name(catalogue, following[0]), catalogue.kind)


def _numbered_name(catalogue: _Catalogue, number: str) -> str:
    digits = " ".join(number.translate(_DASHES).split())
    if catalogue.name in {"NGC", "IC", "UGC"}:
        digits = digits.lstrip("0")
    if catalogue.name == "PSR" and digits[:1].isdigit():
        digits = f"B{digits}"
    return f"{catalogue.name}{catalogue.joint}{digits}"


def _with_parts(text: str, start: int, end: int, name: str, kind: str) -> Iterator[ObjectMention]:
    """Yield a mention with its component, or its planets."""
    if kind in _STARS - {"pulsar"}:
        part = _PATTERNS["component"].match(text, end)
        if part and not _PATTERNS["letter_between"].match(text, end):
            end = part.end()
            name += f" {part[0].strip(' ()')}"
        planets = _PATTERNS["planets"].match(text, end)
        if planets and "".join(sorted(set(planets[1]))) == planets[1]:
            first = planets.start(1)
            for place, letter in enumerate(planets[1]):
                begin = start if place == 0 else first + place
                yield _mention(text, begin, first + place + 1, f"{name} {letter}", "planet")
            more = _PATTERNS["more_planets"].match(text, planets.end())
            while more:
                yield _mention(text, *more.span(1), f"{name} {more[1]}", "planet")
                more = _PATTERNS["more_planets"].match(text, more.end())
            return
    usual, known = _all_names()[1].get(name, (name, ""))
    known = _ngc_kinds().get(usual, known or ("galaxy" if usual.startswith("NGC") else ""))
    yield _mention(text, start, end, usual, known or kind)


def _mention(text: str, start: int, end: int, name: str, kind: str) -> ObjectMention:
    return ObjectMention(start, end, text[start:end], name, kind)


@cache
def _messier_table() -> Mapping[int, tuple[str, str]]:
    table = {40: ("M 40", "star"), 45: ("Pleiades", "open cluster")}
    for entry in _DATA["messier"].split(","):
        messier, acronym, number, kind = entry.split(maxsplit=3)
        table[int(messier)] = f"{acronym} {number}", " ".join(kind.split())
    return table


@cache
def _ngc_kinds() -> Mapping[str, str]:
    listed = _DATA["ngc_kinds"].items()
    kinds = {f"NGC {n}": kind for kind, numbers in listed for n in str(numbers).split()}
    return kinds | dict(_messier_table().values())


def _messier(text: str) -> Iterator[ObjectMention]:
    for match in _PATTERNS["messier"].finditer(text):
        name, kind = _messier_table().get(int(match[1]), ("", ""))
        is_short = not match[0].startswith("Messier")
        if is_short and int(match[1]) < 10 and not _PATTERNS["messier_context"].search(text):
            continue
        if not name or (is_short and _PATTERNS["spectral"].match(text, match.end())):
            continue
        source = match[2]  # such as "X-1" of "M82 X-1"
        name, kind = (f"{name} {source}", "X-ray source") if source else (name, kind)
        yield _mention(text, *match.span(), name, kind)


@cache
def _kinds_of_acronyms() -> Mapping[str, str]:
    return {name: kind for kind, names in _DATA["coordinates"].items() for name in names.split()}


def _by_coordinates(text: str) -> Iterator[ObjectMention]:
    for match in _PATTERNS["glued_acronym"].finditer(text):
        acronym, *groups = match.groups()
        yield from _with_coordinates(text, match.start(), match, groups, acronym)
    for match in _PATTERNS["coordinates"].finditer(text):
        before = _PATTERNS["acronym"].search(text[max(0, match.start() - 24) : match.start()])
        is_acronym = before and (
            sum(map(str.isupper, before[1])) > 1 or before[1] in _kinds_of_acronyms()
        )
        acronym, size = (before[1], len(before[0])) if before and is_acronym else ("", 0)
        yield from _with_coordinates(text, match.start() - size, match, match.groups(), acronym)
    for match in _PATTERNS["survey_dates"].finditer(text):
        yield _mention(text, *match.span(), match[0], "transient")
    for match in _PATTERNS["truncated"].finditer(text):  # "…" marks that the name is not complete
        name = f"{match[1]} J{match[2].translate(_DASHES)}…"
        yield from _with_parts(text, *match.span(), name, "")
    for match in _PATTERNS["galactic"].finditer(text):
        acronym, longitude, sign, latitude = match.groups("")
        if "." in longitude or acronym:
            name = f"{acronym} G{longitude}{sign.translate(_DASHES)}{latitude}".strip()
            yield _mention(text, *match.span(), name, _DATA["galactic_kinds"].get(acronym, ""))


def _with_coordinates(
    text: str, start: int, match: re.Match[str], groups: Iterable[str | None], acronym: str
) -> Iterator[ObjectMention]:
    ra, sign, dec, suffix = (group or "" for group in groups)
    if int(ra[:2]) > 23 or int(ra[2:4]) > 59 or int(dec[:2]) > 90:
        return
    if acronym in _DATA["class_acronyms"].split():
        start, acronym = match.start(), ""
    acronym = _DATA["spellings"].get(acronym, acronym).translate(_DASHES)
    kind = _kinds_of_acronyms().get(acronym, "")
    name = f"{acronym} J{ra}{sign.translate(_DASHES)}{dec}".strip()
    if not suffix:
        yield from _with_parts(text, start, match.end(), name, kind)
    elif suffix in "bcdefg" and kind != "pulsar" and not acronym.endswith("FGL"):
        yield _mention(
            text, start, match.end(), f"{name} {suffix}", "planet" if kind in _STARS else kind
        )
    else:
        yield _mention(text, start, match.end(), f"{name}{suffix}", kind)


@cache
def _constellations() -> Mapping[str, tuple[str, str, str]]:
    """Return the abbreviation, nominative and genitive by all three names of a constellation."""
    found = {}
    for entry in _DATA["constellations"].split(","):
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
    stars = rf"(?<![\w.+\-−])({letter})[\s~\u00a0-]({_alternatives(_constellations())})(?!\w)"
    ambiguous = _DATA["ambiguous_constellations"].split()
    names = {
        name for name, (short, nominative, _) in _constellations().items()
        if name in {nominative, nominative.replace("ö", "o")} or (name == short not in ambiguous)
    }  # fmt: skip
    roman = r"(?:X{0,3}(?:IX|IV|V?I{1,3}|V)|X{1,3}|[1-9])"
    return re.compile(stars), re.compile(rf"(?<!\w)({_alternatives(names)})\s({roman})(?![\w.])")


def _in_constellations(text: str) -> Iterator[ObjectMention]:
    stars, dwarfs = _star_patterns()
    for match in stars.finditer(text):
        letter, constellation = match[1], match[2]
        short, nominative, genitive = _constellations()[constellation]
        number = re.fullmatch(r"(V?\d+|.+?)([¹²³1-9]?)", letter)
        stem, index = (letter, "") if number is None or letter[-3:].isdigit() else number.groups()
        greek = _GREEK.get(stem.lower() if len(stem) > 1 else stem, stem)
        is_greek = greek in GREEK
        is_long_nominative = constellation not in (short, genitive, genitive.replace("ö", "o"))
        is_word = constellation in {"And", "For", "Men"} and letter.isdigit()
        if (
            is_word
            or text.startswith(" cent", match.end())
            or letter in _DATA["not_variables"].split()
        ):
            continue
        if is_long_nominative and nominative != genitive and not is_greek:
            continue
        if letter.isdigit() and not 0 < int(letter) < 150:
            continue
        if len(letter) == 2 and letter.isupper() and letter > "QZ" and letter[1] < letter[0]:
            continue  # no name of a variable
        name = f"{greek}{index} {short}"
        # "RR Lyrae" is the class, and "RR Lyr" the star; "BL Lacertae" is both.
        is_long = constellation != short and not is_greek and short != "Lac"
        if name in _classes() and (is_long or _is_class(text, match[0])):
            continue
        yield from _with_parts(text, *match.span(), name, "star")
        listed = _PATTERNS["variables"].search(text, max(0, match.start() - 60), match.start())
        if listed and len(letter) == 2:
            for one in _PATTERNS["variable"].finditer(text, *listed.span()):
                yield _mention(text, *one.span(), f"{one[0]} {short}", "star")
    if _PATTERNS["dwarf"].search(text):
        for match in dwarfs.finditer(text):
            name = f"{_constellations()[match[1]][1]} {match[2]}"
            yield _mention(text, *match.span(), name, "galaxy")


@cache
def _classes() -> frozenset[str]:
    """Return the names of stars after which classes are named."""
    return frozenset({"Mira", *(one.strip() for one in _DATA["classes"].split(","))})


def _is_class(text: str, name: str) -> bool:
    """Return whether a text uses the name of a star as the name of a class, as in "a BL Lac"."""
    return any(
        _PATTERNS["class_after"].match(text, match.end())
        or _PATTERNS["class_before"].search(text, 0, match.start())
        for match in re.finditer(re.escape(name), text)
    )


def _small_bodies(text: str) -> Iterator[ObjectMention]:
    names = _all_names()[1]
    for match in _PATTERNS["asteroid"].finditer(text):
        name = match[0].translate(_DASHES)
        is_word = match[1] and match[2].lower() in STOP_WORDS
        if name in names or not match[1] or (not is_word and _PATTERNS["asteroids"].search(text)):
            yield _mention(text, *match.span(), *names.get(name, (name, "asteroid")))
    for match in _PATTERNS["comet"].finditer(text):
        name = match[0].translate(_DASHES).replace("’", "'").replace("ʻ", "'")
        kind = "interstellar object" if re.match(r"\dI/", name) else "comet"
        yield _mention(text, *match.span(), *names.get(name, (name, kind)))
    for match in _PATTERNS["numbered_comet"].finditer(text) if "omet" in text else ():
        full = re.search(rf"(?<!\w){match[0]}/[\w–-]+", text)
        name = names.get(match[0], (full[0] if full else match[0], ""))[0]
        yield _mention(text, *match.span(), name.translate(_DASHES), "comet")


@cache
def _all_names() -> tuple[re.Pattern[str], Mapping[str, tuple[str, str]]]:
    """Return the pattern of proper names, and the normal form and kind of each."""
    names: dict[str, tuple[str, str]] = {}
    for kind, listed in _DATA["names"].items():
        for entry in listed.split(","):
            normal, _, others = entry.strip().partition("=")
            for name in (normal, *filter(None, others.split("|"))):
                names.setdefault(name.strip(), (normal, kind))
    return re.compile(rf"(?<![\w.−–*])(?:{_alternatives(names)})(?![\w*]|[-–]\d)"), names


@cache
def _false_names() -> re.Pattern[str]:
    """Return the pattern of names of facilities that begin with the name of an object."""
    begin = tuple(f"{name} " for name in _all_names()[1] if name.isalpha())
    names = (name for facility in load_facilities().values() for name in facility.names)
    return re.compile(_alternatives({n for n in names if n.istitle() and n.startswith(begin)}))


def _named(text: str) -> Iterator[ObjectMention]:
    pattern, names = _all_names()
    for match in pattern.finditer(text):
        article = _PATTERNS["article"].match(text, match.start())
        start = article.end() if article else match.start()
        match = (start > match.start() and pattern.match(text, start)) or match
        name = re.sub(r"[~\s]", " ", match[0])
        usual, kind = names[name]
        if _PATTERNS["name_after"].match(text, match.end()) or _PATTERNS["not_before"].search(
            text, 0, start
        ):
            continue
        if _false_names().match(text, start) or (usual in _classes() and _is_class(text, match[0])):
            continue
        if name == "MW" and _PATTERNS["megawatts"].search(text, 0, start):
            continue
        undefined = _DATA["undefined_abbreviations"].split()
        if name in undefined and not any(
            other in text
            for other, (one, _) in names.items()
            if one == usual and other not in undefined
        ):
            continue
        if kind == "star":
            yield from _with_parts(text, start, match.end(), usual, kind)
        else:
            yield _mention(text, start, match.end(), usual, kind.removesuffix(" itself"))


def _in_regions(text: str) -> Iterator[ObjectMention]:
    """Yield clusters in lists, such as "Virgo and Coma clusters", and star-forming regions."""
    for match in _PATTERNS["cluster_list"].finditer(text):
        yield _mention(text, *match.span(), f"{match[1]} cluster", "galaxy cluster")
    is_detector = "LIGO" in text or "KAGRA" in text
    for match in _PATTERNS["bare"].finditer(text):
        if match[0] in _DATA["dwarfs"].split() and _PATTERNS["dwarf_words"].search(text):
            yield _mention(text, *match.span(), f"{match[0]} dwarf", "galaxy")
        elif match[0] in _DATA["clusters"].split() and "cluster" in text and not is_detector:
            yield _mention(text, *match.span(), f"{match[0]} cluster", "galaxy cluster")
    for match in _PATTERNS["clouds"].finditer(text) if _PATTERNS["young"].search(text) else ():
        yield _mention(text, *match.span(), match[0].split()[0], "cloud")


def _resolved(text: str, found: list[ObjectMention]) -> list[ObjectMention]:
    """Give truncated and bare coordinates the designation that the text has elsewhere."""
    full = {one.name: one.kind for one in found if " J" in one.name and "…" not in one.name}
    words = set(re.findall(r"\w+", text)) if any(one.name[0] == "J" for one in found) else set()
    are_pulsars = bool(words & set(_DATA["pulsar_words"].split())) or not words & set(
        _DATA["other_words"].split()
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
        for kind, nouns in _DATA["nouns"].items()
        for noun in nouns.split()
    }
    return re.compile(rf"\b({_alternatives(kinds)})[\s~]"), kinds


def _designated(text: str) -> Iterator[ObjectMention]:
    """Yield names whose acronym is in no list: after a noun, or with coordinates of B1950."""
    meant = {}
    pattern, kinds = _nouns()
    for noun in pattern.finditer(text):
        match = _PATTERNS["designated"].match(text, noun.end())
        enough = match and len(re.findall(r"[A-Z0-9]", match[1])) > 2
        if match and enough and not _PATTERNS["not_designated"].match(match[1]):
            meant[match[1]] = kinds[noun[1].replace("~", " ")]
    for match in _PATTERNS["besselian"].finditer(text):
        acronym, place = match.groups()
        if acronym not in _DATA["class_acronyms"].split() and not _PATTERNS["calendar"].match(
            place
        ):
            meant.setdefault(match[0], _kinds_of_acronyms().get(acronym, ""))
    for surface, kind in meant.items():
        name = " ".join(surface.translate(_DASHES).split())
        for match in re.finditer(rf"(?<![\w-]){re.escape(surface)}(?![\w-])", text):
            yield _mention(text, *match.span(), name, kind)


def _abbreviated(text: str, found: list[ObjectMention]) -> Iterator[ObjectMention]:
    """Yield short names of objects that the text also names in full."""
    taken = _marked(text, found)
    for match in _PATTERNS["short"].finditer(text):
        written = f"J{match[1]}" if match[1] else re.escape(match[2].translate(_DASHES))
        pattern = re.compile(rf"{written}[\d.]*[+-]" if match[1] else rf"(?<!\d){written}")
        full = {
            (re.sub(r" [b-k]$", "", one.name), "" if one.kind == "planet" else one.kind)
            for one in found if pattern.search(one.name.replace("B", ""))
        }  # fmt: skip
        if len(full) == 1 and not any(taken[match.start() : match.end()]):
            yield from _with_parts(text, *match.span(), *full.pop())
    meant: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for one in found:
        bracket = _PATTERNS["in_brackets"].match(text, one.end)
        words = re.findall(r"[A-Za-z0-9]+", one.surface)
        initials = {"".join(word[0] for word in words).upper(), f"{words[0][0]}{words[-1]}"}
        initials.add(_constellations().get(words[0], ("",))[0].upper())  # "Sagittarius dwarf (Sgr)"
        if bracket and (bracket[1] or bracket[2].removesuffix("s").upper() in initials):
            meant[bracket[2]].add((one.name, one.kind))
        first = _PATTERNS["first_word"].match(one.surface)
        if first and not _PATTERNS["clouds"].fullmatch(first[1]):
            meant[first[1]].add((one.name, one.kind))
    for short, names in meant.items():
        after = r"(?!\w|-\d|\s(?:[A-Z]\w|arm\b|constell|flux))"
        for match in (
            re.finditer(rf"(?<![\w-]){re.escape(short)}{after}", text) if len(names) == 1 else ()
        ):
            if not any(taken[match.start() : match.end()]):
                yield _mention(text, *match.span(), *next(iter(names)))
