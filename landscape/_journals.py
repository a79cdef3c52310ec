"""Journals of astronomy: bibcode stem, AASTeX macro and names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

_PUNCTUATION = re.compile(r"[^\w&]+")


@dataclass(frozen=True)
class Journal:
    """One journal."""

    stem: str
    names: tuple[str, ...]
    macro: str | None = None
    reviews: bool = False


# Stems: https://ui.adsabs.harvard.edu/help/data_faq/journal-abbreviations ; macros: AASTeX 6.3
JOURNALS = (
    Journal("A&A", ("Astronomy and Astrophysics", "Astronomy & Astrophysics",
                    "Astron. Astrophys.", "A & A", "AA"), "aap"),
    Journal("A&ARv", ("Astronomy and Astrophysics Review", "Astronomy and Astrophysics Reviews",
                      "A&AR", "A&A Rev."), "aapr", reviews=True),
    Journal("A&AS", ("Astronomy and Astrophysics Supplement Series",
                     "Astronomy and Astrophysics Supplement"), "aaps"),
    Journal("AJ", ("Astronomical Journal", "Astron. J."), "aj"),
    Journal("AN", ("Astronomische Nachrichten", "Astron. Nachr.")),
    Journal("ApJ", ("Astrophysical Journal", "Astrophys. J."), "apj"),
    Journal("ApJL", ("Astrophysical Journal Letters", "Astrophys. J. Lett.", "ApJ Letters",
                     "ApJ Lett."), "apjl"),
    Journal("ApJS", ("Astrophysical Journal Supplement Series", "Astrophysical Journal Supplement",
                     "Astrophys. J. Suppl.", "ApJ Supplement"), "apjs"),
    Journal("Ap&SS", ("Astrophysics and Space Science", "Astrophysics & Space Science",
                      "Astrophys. Space Sci."), "apss"),
    Journal("ARA&A", ("Annual Review of Astronomy and Astrophysics",
                      "Annual Review of Astronomy & Astrophysics",
                      "Annu. Rev. Astron. Astrophys."), "araa", reviews=True),
    Journal("CQGra", ("Classical and Quantum Gravity", "Class. Quant. Grav.",
                      "Class. Quantum Grav.")),
    Journal("ExA", ("Experimental Astronomy", "Exp. Astron.")),
    Journal("Icar", ("Icarus",), "icarus"),
    Journal("JATIS", ("Journal of Astronomical Telescopes, Instruments, and Systems",)),
    Journal("JCAP", ("Journal of Cosmology and Astroparticle Physics",
                     "J. Cosmol. Astropart. Phys."), "jcap"),
    Journal("JGR", ("Journal of Geophysical Research", "J. Geophys. Res."), "jgr"),
    Journal("JHEP", ("Journal of High Energy Physics",)),
    Journal("LRR", ("Living Reviews in Relativity", "Living Rev. Relativity"), reviews=True),
    Journal("LRSP", ("Living Reviews in Solar Physics", "Living Rev. Solar Phys."), reviews=True),
    Journal("MNRAS", ("Monthly Notices of the Royal Astronomical Society",
                      "Mon. Not. R. Astron. Soc.", "Mon. Not. Roy. Astron. Soc."), "mnras"),
    Journal("NatAs", ("Nature Astronomy", "Nat. Astron.")),
    Journal("NatCo", ("Nature Communications", "Nat. Commun.")),
    Journal("Natur", ("Nature",), "nat"),
    Journal("NewA", ("New Astronomy",)),
    Journal("NewAR", ("New Astronomy Reviews", "New Astron. Rev."), "nar", reviews=True),
    Journal("OJAp", ("Open Journal of Astrophysics",)),
    Journal("PASA", ("Publications of the Astronomical Society of Australia",), "pasa"),
    Journal("PASJ", ("Publications of the Astronomical Society of Japan",), "pasj"),
    Journal("PASP", ("Publications of the Astronomical Society of the Pacific",), "pasp"),
    Journal("PhR", ("Physics Reports", "Phys. Rep.", "Phys. Rept."), "physrep", reviews=True),
    Journal("PhRvD", ("Physical Review D", "Phys. Rev. D", "PRD"), "prd"),
    Journal("PhRvL", ("Physical Review Letters", "Physical Review Letter", "Phys. Rev. Lett.",
                      "PRL"), "prl"),
    Journal("P&SS", ("Planetary and Space Science", "Planet. Space Sci."), "planss"),
    Journal("PSJ", ("Planetary Science Journal",), "psj"),
    Journal("RPPh", ("Reports on Progress in Physics", "Rep. Prog. Phys."), reviews=True),
    Journal("RMxAA", ("Revista Mexicana de Astronomía y Astrofísica",), "rmxaa"),
    Journal("RvMP", ("Reviews of Modern Physics", "Rev. Mod. Phys."), reviews=True),
    Journal("Sci", ("Science",)),
    Journal("SoPh", ("Solar Physics", "Sol. Phys."), "solphys"),
    Journal("SPIE", ("Society of Photo-Optical Instrumentation Engineers Conference Series",
                     "Proceedings of the SPIE", "Proc. SPIE"), "procspie"),
    Journal("SSRv", ("Space Science Reviews", "Space Sci. Rev."), "ssr", reviews=True),
)  # fmt: skip
"""Those of astronomy that are asked for by name."""


def find_journal(name: str) -> Journal | None:
    """Find a journal by its stem, its macro or any of its names."""
    return _by_name().get(_key(name))


def journal_of_bibcode(bibcode: str) -> Journal | None:
    """Find the journal that a bibcode stands for."""
    stem = bibcode[4:9].rstrip(".")
    if stem == "ApJ" and bibcode[13:14] == "L":
        stem = "ApJL"  # the letter of a bibcode's page tells them apart
    return _by_name().get(_key(stem))


@cache
def _by_name() -> dict[str, Journal]:
    found: dict[str, Journal] = {}
    for journal in JOURNALS:
        for name in (journal.stem, journal.macro or journal.stem, *journal.names):
            found.setdefault(_key(name), journal)
    return found


def _key(name: str) -> str:
    return " ".join(_PUNCTUATION.sub(" ", name).lower().removeprefix("the ").split())
