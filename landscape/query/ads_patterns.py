"""What requests for papers are made of: identifiers, years, counts and what is done with papers."""

from __future__ import annotations

import re

from landscape.query.ads_wording import Rules

DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"]*[^\s\".,;]")
ARXIV = re.compile(r"\b(?:arxiv[:\s]*)?(\d{4}\.\d{4,5})(?:v\d+)?\b", re.IGNORECASE)
BIBCODE = re.compile(r"\b\d{4}[A-Za-z][A-Za-z0-9.&]{13}[A-Za-z.:]")
OBJECT = re.compile(
    r"\b(?:M ?\d{1,3}|(?:NGC|IC|UGC|HD|HR|HIP|GJ|PSR|PKS|3C|SN|GW|GRB|TOI|KOI|Kepler|Abell|WASP|"
    r"TRAPPIST)[ -]?[J\d][\w+.-]*)\b",
    re.IGNORECASE,
)
YEAR = r"(1[6-9]\d\d|20\d\d)"
YEARS = tuple(
    (re.compile(pattern, re.IGNORECASE), shape)
    for pattern, shape in (
        (rf"\b(?:from|between|during|in|of|years?)?\s*{YEAR}\s*(?:-|–|to|and|until|through)\s*"
         rf"{YEAR}\b", "between"),
        (r"\b(?:from |in |during )?(?:the )?(1[6-9]\d|20\d)0s\b", "decade"),
        (rf"\b(?:since|from|starting(?: in)?)\s+{YEAR}\s*"
         r"(?:on(?=\s*(?:$|[,.;?]))|onwards?\b|to (?:now|present)\b)|"
         rf"\bsince\s+{YEAR}\b", "since"),
        (rf"\b(?:after|later than|newer than)\s+{YEAR}\b", "after"),
        (rf"\b(?:before|prior to|older than|until|up to)\s+{YEAR}\b", "before"),
        (r"\b(?:in |over |from |during )?the (?:last|past) (\d{1,2}|few|couple of)? ?years?\b",
         "last"),
        (r"\b(?:from )?this year\b", "this"),
        (r"\b(?:recent(?:ly)?|latest|newest|current|what's new(?: in)?|up[- ]to[- ]date)\b|^new\b",
         "recent"),
        (rf"\b(?:published )?(?:in |from |of |during |year )?\(?{YEAR}\)?(?![\w.])", "in"),
    )
)  # fmt: skip
OPERATORS: Rules = tuple(
    (re.compile(pattern, re.IGNORECASE), name)
    for pattern, name in (
        (r"^.*?\b(?:referenced by|references (?:of|in|from)|reference list of|cited (?:by|in)(?= "
         r"(?:the )?(?:paper|bibcode|\d)))\b|(?<!most )(?<!highly )\bcited (?:in|by)\b|"
         r"^what (?:does|do)\b(?=.*\bcite\b)|"
         r"\bcites?\s*\??$", "references"),
        (r"^.*?\b(?:(?:who|what|which)(?: (?:papers?|research|articles?|works?))? (?:that )?cites?|"
         r"citing|that cite|which cite|citations? (?:of|to|for)|cites|papers that reference)\b"
         r"(?! (?:many|between|\d{1,4} (?:times|to|and)))", "citations"),
        (r"^.*?\b(?:similar (?:papers |articles |work )?to|papers? like|resembling|related to the "
         r"paper)\b", "similar"),
        (r"\b(?:trending|popular (?:recently|now|among)|hot topics?(?: in)?|what are people reading"
         r"(?: (?:in|about|on))?|being read|currently popular)\b|\bpopular(?= papers)", "trending"),
        (r"\b(?:useful|helpful|key|methodology|methods|essential|"
         r"foundational|instructive|must[- ]read)"
         r"(?: (?:papers?|references?|articles?|methods?))?(?: (?:on|for|about|in))?\b", "useful"),
        (r"\b(?:(?:state[- ]of[- ]the[- ]art |comprehensive |recent |literature )?"
         r"(?:reviews?|surveys?(?= (?:papers?|articles?|of)\b)|overviews?)"
         r"(?: (?:papers?|articles?|of|on|about|that review))*)\b"
         r"(?! (?:telescope|data|catalog))", "reviews"),
    )
)  # fmt: skip
TOP = re.compile(
    r"\btop[- ]?(\d{1,5})\b(?:\s+most[- ]cited)?|\b(\d{1,5}) most[- ](?:highly )?cited\b",
    re.IGNORECASE,
)
CITED = re.compile(r"\b(?:most|highly|best|top|heavily)[- ](?:highly )?cited\b(?: first)?", re.I)
MORE_CITED = re.compile(
    r"\b(?:with |having )?(?:more than|over|at least|>=?)\s*(\d[\d,]*)\s*(?:\+ )?"
    r"(?:citations|cites)"
    r"|\bcited (?:more than|over|at least)\s*(\d[\d,]*)(?: times)?",
    re.IGNORECASE,
)
CITED_BETWEEN = re.compile(
    r"\b(?:with )?(\d+)\s*(?:-|–|to)\s*(\d+) citations\b|"
    r"\bcited between (\d+) and (\d+)(?: times)?",
    re.IGNORECASE,
)
AUTHOR_COUNT = re.compile(
    r"\b(?:with |by )?(\d+)\s*(?:-|–|to)\s*(\d+) authors\b|\bauthor_count:?\s*(\d+)-(\d+)", re.I
)
MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?:[a-z]*)\.?"
MONTHS = re.compile(
    rf"\b(?:from |in |between |published )*{MONTH}\s*(?:{YEAR})?"
    rf"(?:\s*(?:to|-|–|and|until|through)\s*{MONTH})?\s*{YEAR}\b"
    rf"|\b(?:from |in |published )*{MONTH} {YEAR}\b",
    re.IGNORECASE,
)
MONTH_NAMES = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
IN_FIELD = tuple(
    (re.compile(pattern, re.IGNORECASE), name)
    for pattern, name in (
        (r"\b(?:in|with|search|only)?\s*(?:the |their )?titles?(?: field| only)?"
         r"(?: (?:contains?|containing|has|with|exact|includes?|exactly))?\b|\btitled\b", "title"),
        (r"(?<![-\w])(?:in )?(?:the )?(?:full[- ]?text|full field|full)"
         r"(?: (?:contains?|search|for))*\b",
         "full"),
        (r"(?<![-\w])(?:in )?(?:the )?body(?: field)?"
         r"(?: (?:contains?|containing|text))?\b", "body"),
        (r"\b(?:in )?(?:the )?abs(?:tracts?)?(?: field)?(?: (?:contains?|containing|mentions?))?\b",
         "abs"),
        (r"\bobject (?:search|query|tags?)\b|^object\b|\b(?:tagged )?with (?:the )?objects?\b|"
         r"\babout (?:the )?object\b", "object"),
        (r"\bkeywords?\b", "keyword"),
    )
)  # fmt: skip
