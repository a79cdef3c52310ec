"""Evidence beside an ambiguous name: is Cluster the spacecraft, or a cluster of galaxies."""

from __future__ import annotations

import re

_WIDTH = 48  # characters read on either side

# What follows a facility and does not follow a law, a unit or a phenomenon.
_AFTER = re.compile(
    r"(?:['’]s?\s)?[\s~/\-]*(?:\d+(?:\.\d+)?[\s~\-]?m[\s~])?(?:\(?[\w.\-]+\)?[\s~])?"
    r"(?:tele?scopes?|space(?:craft)?s?|satellites?|missions?|observator(?:y|ies)|instruments?|"
    r"data|dataset|archiv\w+|observ\w+|imag\w+|spectr(?:a|um|ograph|oscop\w*|ometer)|photometr\w+|"
    r"catalog\w*|light[\s\-]?curves?|detectors?|collaborations?|consortium|probe|orbiter|lander|"
    r"magnetometer|camera|coronagraph\w*|pointings?|exposures?|campaigns?|program(?:me)?s?|project|"
    r"measurements?|monitoring|detections?|surveys?|fields?|targets?|sources?|IFU|IFS|cubes?|"
    r"transits?|follow-up|candidates?|planets|stars|exoplanets|era|results?|limits|maps?|mosaics?|"
    r"polarimetry|interferometer|array|antennas?|experiment|E?DR\d|data release|cycle \d|GTO|"
    r"Treasury|Legacy|dual-field|in[\s-]situ|astrometry|bands?|blazars?|BL Lacs?|GRBs?|AGNs?|"
    r"detected|observed|onboard|aboard|PCA|XRT|BAT|UVOT|LAT|GBM|WFC3?|ACS|STIS|COS|WFPC2?|NICMOS)\b",
    re.IGNORECASE,
)
# A plain word needs more: "Cluster surveys" are surveys of clusters.
_STRICTLY_AFTER = re.compile(
    r"['’]?[\s~/\-]*(?:\d[\s~])?(?:[\w\-]+[\s~])?(?:spacecraft|satellites?|missions?|telescopes?|"
    r"in[\s-]situ|magnetometer|(?:magnetic field |plasma )?data|observations|measurements)\b"
)
# What stands before a facility.
_BEFORE = re.compile(
    r"(?:\b(?:NASA|ESA|JAXA|NASA/ESA|ESO|NSF|CNSA|ISRO|DLR|MIT)(?:['’]s|-led|/|-)?"
    r"(?: new| upcoming| planned)?|\b(?:on ?board|aboard|satellites?|spacecraft|probes?|"
    r"telescopes?|spectrographs?|observatories|detectors?|experiments?|"
    r"spectrometer|instruments?|missions?|observatory|interferometer|imager|camera)"
    r"(?: such as| like|,? (?:including|e\.g\.,?|namely))?(?: the)?|"
    r"\b(?:observed|detected|measured|discovered|seen|obtained|taken|monitored|imaged|recorded|"
    r"acquired|performed|made|collected|provided|studied|found)"
    r"(?: simultaneously| in situ)? (?:with|by|from|using|on)(?: the)?|"
    r"\b(?:data|observations?|images?|imaging|spectra|spectroscopy|photometry|measurements?|"
    r"light curves?|facilities|surveys?|results?|monitoring)"
    r"(?: obtained| taken| collected)? (?:of|from|by|with|like|such as)(?: the)?|"
    r"\b(?:using|combining)(?: the)?)[\s~]*(?:ultra-deep |deep |new |archival |recent )?$",
    re.IGNORECASE,
)
_STRICTLY_BEFORE = re.compile(
    r"(?:\b(?:NASA|ESA)(?:['’]s|/)?|\b(?:on ?board|aboard|spacecraft|satellites?)(?: the)?|"
    r"\b(?:observed|detected|measured) (?:with|by)(?: the)?|"
    r"\b[Dd]ata (?:from|of)(?: the)?|\d(?:\.\d+)?[\s-]?m)[\s~]*$"
)
_WITH = re.compile(r"\b(?:with|from)(?: the)?[\s~]$")
_SUBSCRIPT = re.compile(r"[_^]\{?\s*(?:\\[a-z]+\s*)?\{?\s*$")
_ITALIC_BEFORE = re.compile(
    r"(?:\\(?:emph|textit|textsl|it|sl|em|rm|mathit)\s*\{?|\{\\(?:it|sl|em|sc)\s*)\s*$|(?<!\d)\$$"
)
_MARKUP_AFTER = re.compile(r"^[}$]+(?:\\/)?")
_MARKUP_BEFORE = re.compile(r"(?:\{?\\[a-z]+\s*\{?|[${])\s*$")
_SENTENCE_START = re.compile(r"(?:^|[.!?:]\s+|\n)$")
_LIST = re.compile(
    r"^(?:[\s~,/+&\-–();}{$]|and|or|as well as|the|with|from|both|\\(?:it|emph|textit|rm))*$"
)
_FARTHEST_IN_LIST = 24
_COMET = re.compile(r"(?:\b[CPAI]/\d{4}(?:[\s~]\w+)?|\b\d+[PI])[\s~/]*\(?(?:[\w]+[-–])?$")
_NAMED_OBJECT = re.compile(
    r"^(?:-[A-Z]{1,4})?(?:[\s~\-–]|\\[,;])*(?:J|GRB|SNR?|CXO)[\s~]?\d{3,}|^[\s~]*J\d|^\$?\^"
)
# Sub-Planck, observational Hubble data (which are rates of expansion), asteroid Psyche.
_OTHER_BEFORE = re.compile(
    r"(?:\b(?:sub|super|trans|anti|Newton|Coulomb)-|"
    r"\b(?:observational|modified|Edwin|asteroid|comet)[\s~]|\(\d+\)[\s~])$",
    re.IGNORECASE,
)
_FACILITY_WORD = re.compile(
    r"telescop|arrays?\b|observator|satellit|survey|mission|explorer|experiment|interferomet|"
    r"spectro|camera|imager|detector|probe|orbiter|instrument|collaboration|monitor|network|"
    r"spacecraft|release|facility|radio|laborator|laser|apertur|LIGO",
    re.IGNORECASE,
)


def supported(text: str, start: int, end: int, *, strictly: bool = False) -> bool:
    """Whether the words beside an ambiguous name show that a facility is meant.

    Parameters
    ----------
    text : str
    start, end : int
        Where the name stands.
    strictly : bool, default False
        For a plain word: only what is said of spacecraft and telescopes alone.

    Examples
    --------
    >>> supported("data from the Wind spacecraft", 14, 18)
    True
    >>> supported("The Wind blows", 4, 8)
    False
    """
    before, after = text[max(0, start - _WIDTH) : start], text[end : end + _WIDTH]
    if _ITALIC_BEFORE.search(before) and after[:1] in {"}", "$"} and not strictly:
        return True
    before = _MARKUP_BEFORE.sub("", before)
    after = _MARKUP_AFTER.sub("", after)
    if strictly:
        return bool(_STRICTLY_AFTER.match(after) or _STRICTLY_BEFORE.search(before))
    return bool(_AFTER.match(after) or _BEFORE.search(before) or _WITH.search(before))


def starts_sentence(text: str, start: int) -> bool:
    """Whether a name stands where any word is capitalised."""
    return bool(_SENTENCE_START.search(text[max(0, start - 4) : start]))


def in_list(text: str, end: int, start: int, *, parted: bool = False) -> bool:
    """Whether nothing but what separates the items of a list stands between two names.

    Parameters
    ----------
    text : str
    end, start : int
        Where the first name ends and the second starts.
    parted : bool, default False
        Whether more than a space must separate them.

    Examples
    --------
    >>> in_list("Fermi, and INTEGRAL", 5, 11), in_list("ACT Cluster", 3, 4, parted=True)
    (True, False)
    """
    between = text[end:start]
    near = 0 < len(between) <= _FARTHEST_IN_LIST and bool(_LIST.match(between))
    return near and bool(between.strip() or not parted)


def names_an_object(text: str, start: int, end: int) -> bool:
    """Whether a name is part of a longer one: of a star, a source, a comet, a symbol.

    Examples
    --------
    >>> names_an_object("Swift J1644+57", 0, 5), names_an_object("Swift observed", 0, 5)
    (True, False)
    """
    return bool(
        _NAMED_OBJECT.match(text[end : end + 16]) or _COMET.search(text[max(0, start - 30) : start])
    )


def defined_otherwise(text: str, start: int, end: int) -> bool:
    """Whether an acronym stands in brackets behind other words that it abbreviates.

    Examples
    --------
    >>> defined_otherwise("diffusive shock acceleration (DSA)", 30, 33)
    True
    >>> defined_otherwise("the Deep Synoptic Array (DSA)", 25, 28)
    False
    """
    if text[start - 1 : start] != "(":
        return False
    letters = [letter for letter in text[start:end].lower() if letter.isalpha()]
    if len(letters) < 2:
        return False
    words = re.findall(r"[A-Za-z]+", text[max(0, start - 110) : start])[-len(letters) - 2 :]
    spelled = _spells(words, letters)
    return spelled is not None and not _FACILITY_WORD.search(" ".join(spelled))


def _spells(words: list[str], letters: list[str]) -> list[str] | None:
    """The last words, if their initials are the letters, one small word left out at most."""
    for skipped in range(3):
        tail = words[len(words) - len(letters) - skipped :] if len(words) >= len(letters) else []
        initials = iter([word[0].lower() for word in tail])
        if tail and tail[0][0].lower() == letters[0] and all(one in initials for one in letters):
            return tail
    return None
