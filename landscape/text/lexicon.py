"""The words the built-in tagger knows, read once from the lists beside this file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

Sections = dict[str, list[str]]


@dataclass(frozen=True)
class Lexicon:
    """What the built-in tagger knows of single words.

    Attributes
    ----------
    classes : dict of str to str
        Lower-case word to its word class: a universal part of speech, or one of the ambiguous
        classes (``"verb-noun"``, ``"ed"`` and others), which the tagger settles from
        the words around.
    nouns : frozenset of str
        Common nouns: what a title in capitals may safely write small.
    units, catalogues, proper, name_heads : frozenset of str
        Units of measure, names that a number completes, names always capitalised (lower case
        here), and the heads of long names such as "Telescope".
    """

    classes: dict[str, str]
    nouns: frozenset[str]
    units: frozenset[str]
    catalogues: frozenset[str]
    proper: frozenset[str]
    name_heads: frozenset[str]


@cache
def lexicon() -> Lexicon:
    """Read the lexicon; the first call takes some 20 ms, the next none.

    Returns
    -------
    Lexicon

    Examples
    --------
    >>> [lexicon().classes[word] for word in ("the", "show", "model", "models", "faint")]
    ['DET', 'VERB', 'verb-noun', 'verb-noun-s', 'ADJ']
    """
    names = read_sections("names")
    nouns = read_sections("nouns")["noun"]
    classes = dict.fromkeys(nouns, "NOUN")
    adjectives = read_sections("adjectives")
    for word in adjectives["NOUN"]:
        classes[word] = "NOUN"
    _add_verbs(classes, read_sections("verbs"))
    for word in adjectives["ADJ"]:
        classes[word] = "ADJ"
    for word in adjectives["ADJ-NOUN"]:
        if not classes.get(word, "").startswith("verb-noun"):
            classes[word] = "adj-noun"
    participles = read_sections("nouns_ing")
    classes.update(dict.fromkeys(participles["adjective"], "ing-adjective"))
    classes.update(dict.fromkeys(participles["noun"], "ing-noun"))
    adverbs = read_sections("adverbs")
    classes.update(dict.fromkeys(adverbs["ADV"], "ADV"))
    for section, words in adverbs.items():
        if section.startswith("not-adverb"):
            classes.update(dict.fromkeys(words, section.split()[1]))
    for part_of_speech, words in read_sections("closed").items():
        classes.update(dict.fromkeys(words, part_of_speech))
    return Lexicon(
        classes=classes,
        nouns=frozenset(nouns),
        units=frozenset(names["unit"]),
        catalogues=frozenset(names["catalogue"]),
        proper=frozenset(names["proper"]),
        name_heads=frozenset(names["name-head"]),
    )


def read_sections(name: str) -> Sections:
    """Read one word list.

    Parameters
    ----------
    name : str
        Name of a list in the ``lexicon`` folder, without ``.txt``.

    Returns
    -------
    dict of str to list of str
        Words under their ``[section]``; where a line of a section holds ``|``, its entries are
        what stands between these, spaces included.

    Examples
    --------
    >>> sorted(read_sections("nouns_ing"))
    ['adjective', 'noun']
    """
    sections: Sections = {}
    current: list[str] = []
    text = (files("landscape.text") / "lexicon" / f"{name}.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        heading = re.fullmatch(r"\[(.+)\]", line)
        if heading:
            current = sections.setdefault(heading.group(1), [])
        elif not line.startswith("#"):
            current.extend(line.split("|") if "|" in line else line.split())
    return sections


def _add_verbs(classes: dict[str, str], verbs: Sections) -> None:
    for base in verbs["verb"]:
        classes[base] = "VERB"
        classes[third_person(base)] = "VERB"
    for base in verbs["verb-noun"]:
        classes[base] = "verb-noun"
        classes[third_person(base)] = "verb-noun-s"
    for word in verbs["mostly-verb"]:
        if classes.get(word) == "verb-noun-s":
            classes[word] = "verb-s"
    for word in verbs["irregular"]:
        classes[word] = "VERB"
    for word in verbs["participle-adjective"]:
        classes[word] = "ed"


def third_person(base: str) -> str:
    """Give the form of a verb after "it".

    Parameters
    ----------
    base : str
        Lower-case base form.

    Returns
    -------
    str

    Examples
    --------
    >>> [third_person(base) for base in ("apply", "match", "play", "show", "focus")]
    ['applies', 'matches', 'plays', 'shows', 'focuses']
    """
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return base + "es"
    if base.endswith("y") and base[-2:-1] not in "aeiou":
        return base[:-1] + "ies"
    return base + "s"
