"""How people say what ADS has a field for: words of a request, and the clause that they mean."""

from __future__ import annotations

import re

Rules = tuple[tuple[re.Pattern[str], str], ...]


def _rules(*pairs: tuple[str, str]) -> Rules:
    return tuple((re.compile(pattern, re.IGNORECASE), clause) for pattern, clause in pairs)


PROPERTIES = _rules(
    (r"\b(?:not|non|un)[- ]?(?:refereed|(?:peer[- ])?reviewed)\b|\bnotrefereed\b"
     r"|\bnot (?:been )?peer[- ]reviewed\b", "property:notrefereed"),
    (r"\b(?:(?:that are |only )?(?:refereed|peer[- ]reviewed)(?: only)?)\b", "property:refereed"),
    (r"\bauthor[- ]submitted open[- ]?access\b", "property:author_openaccess"),
    (r"\b(?:that are |only )?(?:open[- ]?access|freely available)(?: only)?\b",
     "property:openaccess"),
    (r"\b(?:with|having|that have|and|including)(?: associated| linked)? data(?: products?)?\b"
     r"|\bdata[- ]rich\b|\b(?:data (?:available|links))\b", "property:data"),
    (r"\b(?:with )?(?:associated )?presentations\b", "property:presentation"),
    (r"\btables? of contents\b|\bwith toc\b|\btoc\b", "property:toc"),
    (r"\blibrary catalog(?: entries)?\b", "property:library_catalog"),
    (r"\bin inspire\b|\binspire records?\b", "property:inspire"),
    (r"\bnon[- ]?articles?\b", "property:nonarticle"),
)  # fmt: skip
"""Of ADS's ``property:``."""

DOCTYPES = _rules(
    (r"\b(?:phd|doctoral)[- ]?(?:thes[ie]s|dissertations?)\b|\bdissertations?\b|\bphdthesis\b",
     "doctype:phdthesis"),
    (r"\bmaster'?s?[- ]?thes[ie]s\b|\bmastersthesis\b", "doctype:mastersthesis"),
    (r"\b(?:conference )?proceedings\b|\bconference papers?\b", "doctype:inproceedings"),
    (r"\b(?:observing )?proposals?\b", "doctype:proposal"),
    (r"\b(?:software|code) (?:papers?|records?|packages?)\b|\bsoftware\b", "doctype:software"),
    (r"\b(?:e-?|pre)prints?(?: only)?\b", "doctype:eprint"),
    (r"\b(?:oral )?presentations?\b|\btalks?\b", "doctype:talk"),
    (r"\btech(?:nical )?reports?\b", "doctype:techreport"),
    (r"\bbook ?reviews?\b", "doctype:bookreview"),
    (r"\b(?:hand)?book (?:chapters?|sections?)\b|\binbook\b", "doctype:inbook"),
    (r"\bpress ?releases?\b", "doctype:pressrelease"),
    (r"\bdata catalog(?:ue)?s?\b|\bcatalog(?:ue)?s?\b(?: records)?", "doctype:catalog"),
    (r"\bcirculars?\b", "doctype:circular"),
    (r"\beditorials?\b|\beditor comments\b", "doctype:editorial"),
    (r"\berrat(?:um|a)\b", "doctype:erratum"),
    (r"\bnewsletters?\b", "doctype:newsletter"),
    (r"\bobituar(?:y|ies)\b", "doctype:obituary"),
)  # fmt: skip
"""Of ADS's ``doctype:``."""

COLLECTIONS = _rules(
    (r"\b(?:from|in|within) (?:the )?(astronomy|physics|general|earth ?science)"
     r"(?: (?:database|collection|journals?))?(?=$|[,.]| on\b| about\b)", ""),
    (r"\b(astronomy|physics|general|earth ?science) (?:database|collection)\b", ""),
    (r"\b(?:only |search (?:for )?|^)(astronomy|physics|earth ?science) (?:journal )?"
     r"(?=(?:papers?|articles?|research|publications?|techreports?)\b)", ""),
    (r"\b(interdisciplinary)\b", ""),
    (r"(?<=records )(astronomy|physics|general|earth ?science)$", ""),
)  # fmt: skip
"""Of ADS's ``collection:``; the name is in the group."""

FACILITIES = {
    "HST": ("HST", "Hubble Space Telescope"),
    "JWST": ("JWST", "James Webb Space Telescope", "Webb Telescope"),
    "Chandra": ("Chandra X-ray Observatory", "Chandra"),
    "XMM": ("XMM-Newton", "XMM"),
    "Spitzer": ("Spitzer Space Telescope", "Spitzer"),
    "Kepler": ("Kepler mission", "Kepler Space Telescope"),
    "K2": ("K2 mission",),
    "TESS": ("TESS", "Transiting Exoplanet Survey Satellite"),
    "GALEX": ("GALEX", "Galaxy Evolution Explorer"),
    "WISE": ("WISE", "Wide-field Infrared Survey Explorer"),
    "NEOWISE": ("NEOWISE Mission", "NEOWISE"),
    "Fermi": ("Fermi Gamma-ray Space Telescope", "Fermi-LAT", "Fermi"),
    "Swift": ("Neil Gehrels Swift Observatory", "Swift"),
    "NuSTAR": ("NuSTAR", "Nuclear Spectroscopic Telescope Array"),
    "RXTE": ("RXTE", "Rossi X-ray Timing Explorer"),
    "SOHO": ("SOHO", "Solar and Heliospheric Observatory"),
    "STEREO": ("STEREO", "Solar TErrestrial RElations Observatory"),
    "SDO": ("SDO", "Solar Dynamics Observatory"),
    "IRAS": ("IRAS", "Infrared Astronomical Satellite"),
    "IUE": ("IUE", "International Ultraviolet Explorer"),
    "EUVE": ("EUVE", "Extreme Ultraviolet Explorer"),
    "FUSE": ("FUSE", "Far Ultraviolet Spectroscopic Explorer"),
    "Gaia": ("Gaia",),
    "Hipparcos": ("Hipparcos",),
    "ESO": ("ESO", "European Southern Observatory"),
    "VLT": ("VLT", "Very Large Telescope"),
    "ALMA": ("ALMA", "Atacama Large Millimeter Array",
             "Atacama Large Millimeter/submillimeter Array"),
    "APEX": ("APEX", "Atacama Pathfinder Experiment"),
    "Keck": ("Keck Observatory", "W. M. Keck Observatory", "Keck"),
    "Gemini": ("Gemini Observatory", "Gemini"),
    "Subaru": ("Subaru Telescope", "Subaru"),
    "CFHT": ("CFHT", "Canada-France-Hawaii Telescope"),
    "UKIRT": ("UKIRT", "United Kingdom Infrared Telescope"),
    "JCMT": ("JCMT", "James Clerk Maxwell Telescope"),
    "SDSS": ("SDSS", "Sloan Digital Sky Survey", "Sloan"),
    "2MASS": ("2MASS", "Two Micron All Sky Survey"),
    "Pan-STARRS": ("Pan-STARRS", "PanSTARRS"),
    "NOAO": ("NOAO",),
    "NOIRLab": ("NOIRLab",),
    "CTIO": ("CTIO", "Cerro Tololo"),
    "KPNO": ("KPNO", "Kitt Peak"),
    "VLA": ("VLA", "Very Large Array"),
    "VLBA": ("VLBA", "Very Long Baseline Array"),
    "GBT": ("GBT", "Green Bank Telescope"),
    "ARECIBO": ("Arecibo Observatory", "Arecibo"),
    "LOFAR": ("LOFAR", "Low Frequency Array"),
    "MeerKAT": ("MeerKAT",),
    "SKA": ("SKA", "Square Kilometre Array", "Square Kilometer Array"),
    "LIGO": ("LIGO",),
    "LISA": ("LISA", "Laser Interferometer Space Antenna"),
    "CfA": ("Center for Astrophysics", "CfA"),
    "SETI": ("SETI bibliography", "SETI"),
}  # fmt: skip
"""Bibliographies that ADS's ``bibgroup:`` knows, each with how its facility is called."""

ASKING = re.compile(
    r"^(?:please |can you |could you )?(?:find|show|list|get|give|search|look(?:ing)?|need|want|"
    r"interested|retrieve|what|which|who|where|are there|is there|have|i(?:'m| am| need| want)?|we)"
    r"\b(?: (?:me|us|all|any|some|for|need|want|in|the|am|looking|interested|to|see|find|"
    r"are|is)\b)*",
    re.IGNORECASE,
)
"""How a request begins."""

COUNTING = re.compile(
    r"\bhow (?:many|much|often)\b(?: (?:has|have|is|are|was|were)(?: there| been)?\b)?"
    r"|\b(?:what is |what's )?(?:the )?(?:total )?(?:number|count) of\b"
    r"(?=(?: [\w-]+){0,2} (?:papers|articles|publications|preprints|works)\b)"
    r"|^(?:please )?count\b(?: all| the| how many)*",
    re.IGNORECASE,
)
"""How a request asks for a number: ADS counts whatever is found."""

INSTITUTIONS = _rules(
    (r"\b(?:space telescope science institute|stsci)\b", "STScI"),
    (r"\b(?:jet propulsion lab(?:oratory)?|jpl)\b", "JPL"),
    (r"\b(?:by researchers )?(?:at|from|affiliated with)?\s*(?:the )?(?:harvard)(?: university)?"
     r"(?: affiliation)?\b", "Harvard"),
    (r"\b(?:california institute of technology|caltech)\b", "Caltech"),
    (r"\b(?:massachusetts institute of technology|MIT)\b(?! data)", "MIT"),
    (r"\bmax[- ]planck[- ]institut\w*\b", "Max Planck"),
    (r"\bnasa goddard\b|\bgoddard space flight center\b", "Goddard"),
)  # fmt: skip
"""Where people work, as ADS's ``aff:`` finds it."""

FILLING = re.compile(
    r"\b(?:(?:scientific |research |journal |regular |published )?(?:papers?|articles?|"
    r"publications?|works?|research|studies|literature|records?|results?)"
    r"(?: (?:written|published|authored|that (?:discuss|mention|are|is)|which|discussing|"
    r"mentioning|using|related to|dealing with))?|only|please|observations of|in the field of|"
    r"work|anything|everything)\b",
    re.IGNORECASE,
)
"""Words of a request that are no topic."""

EDGES = frozenset(
    ["a", "about", "all", "an", "and", "any", "are", "as", "at", "by", "during", "for", "from",
     "in", "into", "is", "of", "on", "only", "or", "published", "that", "the", "to", "using",
     "was", "were", "which", "with", "written", "year", "search", "find", "show", "me", "authored",
     "concerning", "regarding", "related", "some", "most", "cited", "recent", "latest", "new",
     "newest", "highly", "since", "between", "before", "after", "s", "what", "do", "we", "know",
     "how", "does", "who", "have", "has", "been", "there", "exist"]
)  # fmt: skip
"""Words that no topic begins or ends with."""
