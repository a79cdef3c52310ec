"""List the acronyms of astronomy with their long forms, from the abstracts of a large atlas.

``python -m benchmarks.acronyms ATLAS`` finds definitions such as "active galactic nuclei (AGN)"
(Schwartz and Hearst 2003, Pac. Symp. Biocomput. 8, 451) and writes ``data/acronyms.yaml``: acronyms
that several papers define in the same way, without names of facilities.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Iterator

import landscape
from landscape._io import data_file, read_yaml
from landscape.text.words import normal_forms

_DEFINITION = re.compile(r"((?:[\w’'-]+[ /]){1,8})\(([A-Z][A-Za-z]{1,6})\)")
_MIN_PAPERS, _MIN_PAPERS_OF_TWO = 6, 20  # of acronyms with three letters or more, and with two
_MIN_SHARE = 0.6  # of the papers that define the acronym


def long_form(before: str, acronym: str) -> str:
    """Return the shortest end of a text whose letters contain those of an acronym, or "".

    The first letter of the acronym begins the first word.

    >>> long_form("we study active galactic nuclei", "AGN")
    'active galactic nuclei'
    """
    text, place = before.rstrip(), len(before.rstrip()) - 1
    for position, letter in enumerate(reversed(acronym.lower())):
        is_first = position == len(acronym) - 1
        while place >= 0 and (
            text[place].lower() != letter
            or (is_first and place > 0 and (text[place - 1].isalnum() or text[place - 1] == "-"))
        ):
            place -= 1
        if place < 0:
            return ""
        place -= 1
    found = text[place + 1 :]
    many = len(found.split()) > min(len(acronym) + 5, 2 * len(acronym))
    return "" if many or len(found) < 2 * len(acronym) else found


def definitions(text: str) -> Iterator[tuple[str, str]]:
    """Yield the acronyms that a text defines, in the singular, and their long forms."""
    for before, acronym in _DEFINITION.findall(text):
        short = acronym.removesuffix("s")
        if sum(map(str.isupper, short)) >= 2 and (found := long_form(before, short)):
            yield short, found.replace("/", " ")


def main() -> None:
    """Write the list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("atlas")
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    spellings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for abstract in landscape.open(parser.parse_args().atlas).read_papers()["abstract"]:
        for short, found in set(definitions(abstract)):
            [form] = normal_forms([found])
            forms[short][form] += 1
            spellings[form][found.lower()] += 1
    missions = read_yaml(data_file("missions.yaml"))
    facilities = {*missions, *(name for one in missions.values() for name in _names(one))}
    lines = []
    for short in sorted(forms):
        form, n = forms[short].most_common(1)[0]
        share = n / sum(forms[short].values())
        least = _MIN_PAPERS if len(short) > 2 else _MIN_PAPERS_OF_TWO
        if n >= least and share >= _MIN_SHARE and short not in facilities:
            lines.append(f"{short}: {spellings[form].most_common(1)[0][0]}")
    head = "# Acronyms and their long forms, written by `python -m benchmarks.acronyms`.\n"
    path = data_file("missions.yaml").with_name("acronyms.yaml")
    path.write_text(head + "\n".join(lines) + "\n", "utf-8")
    print(f"{len(lines)} acronyms")


def _names(facility: dict[str, object]) -> Iterator[str]:
    """Yield all texts in the entry of a facility."""
    for value in facility.values():
        yield from value if isinstance(value, list) else [str(value)]


if __name__ == "__main__":
    main()
