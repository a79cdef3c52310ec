"""Types of questions and the search settings for each.

Types, flags and settings follow table 1 of the pathfinder paper (Iyer et al. 2024, ApJS 275, 38).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from landscape.answers._prompts import CLASSIFYING
from landscape.errors import InputError, RemoteError
from landscape.llm._client import LanguageModel, request_reply
from landscape.llm._quoting import as_data
from landscape.llm._replies import ReplyForm


def _rule(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


COUNTERFACTUAL = _rule(
    r"\bwhat if\b",
    r"\bwould\b.*\bif\b",
    r"\bif\b.*\b(?:were|had|did) (?:not|no|n['’]t)\b",
    r"\bif\b.*\b(?:would|could|might)\b",
    r"\bhypothetical",
    r"\bin the absence of\b.*\bwould\b",
    r"\b(?:suppose|imagine|assuming) (?:that )?(?:there|the|we|no)\b",
    r"\bhad (?:not|never) been\b",
    r"\bcould .* (?:have been|be explained without)\b",
)
CONSENSUS = _rule(
    r"\bconsensus\b",
    r"\b(?:do|does|did) (?:astronomers|papers|studies|most|observations|the literature|"
    r"researchers|scientists|people)\b",
    r"\b(?:agree|disagree|debate|controvers|disput)",
    r"\bevidence (?:for|against|that)\b",
    r"\btension\b",
    r"\bis it (?:true|settled|established)",
    r"\bis there (?:a|an|any) ",
    r"\b(?:widely|generally) accepted\b",
    r"\bstill (?:open|viable)\b",
    r"^(?:is|are|do|does|did|can|could|has|have|was|were)\b",
)
COMPOSITIONAL = _rule(
    r"\bcompar(?:e|ed|es|ing|ison)\b",
    r"\bdiffer(?:s|ence|ences|ent)?\b.*\b(?:between|from|and)\b",
    r"\bversus\b|\bvs\b",
    r"\b(?:and|then) (?:how|what|why|which|does|do|is|are)\b",
    r"\brelat(?:e|es|ion|ionship)\b.*\b(?:between|to|with)\b.*\band\b",
    r"\bcombin(?:e|ing|ed)\b",
    r"\?.+\?",
    r"\bhow (?:does|do|did|can|could|might|would) .* (?:given|in light of|in the context)",
    r"\bconnection between\b",
    r"\btrade-?offs?\b",
    r"\bdesign (?:a|an) \b",
)
SINGLE = _rule(
    r"\b(?:what|which) (?:is|was|are|were) the (?:value|mass|radius|age|distance|redshift|"
    r"period|number|name|size|luminosity|temperature|metallicity|spectral type|measured|"
    r"best[- ]fit|resolution|wavelength|frequency|sensitivity|rotation|orbital|"
    r"inclination|magnitude|upper limit)",
    r"\bhow (?:many|much)\b",
    # "how massive is it", and not "how massive stars evolve"
    r"\bhow (?:old|far|massive|large|big|bright|hot|long|fast|distant)(?: away| ago)? "
    r"(?:is|are|was|were|do|does|did|can|could|must|may|might|should|will|would|has|have|had)\b",
    r"^(?:when|where|who)\b",
    r"\bwhich (?:paper|study|telescope|instrument|survey|group|author)\b",
    r"\bin (?:the|this) paper\b",
    r"\bwho (?:first|discovered|measured)\b",
)
MULTIPLE = _rule(
    r"^(?:what|which|how|why)\b",
    r"\b(?:overview|review|summar|explain|describe|list)",
    r"\b(?:methods|models|mechanisms|constraints|properties|approaches|explanations|"
    r"causes)\b",
)
BIBLIOGRAPHIC = _rule(
    r"\b(?:papers?|publications?|articles?|preprints?) (?:by|from|on|about|published|"
    r"written|in|that|with|cited|citing)\b",
    r"\b(?:most|highly|best)[- ]cited\b",
    r"\bcitations?\b",
    r"\bauthors?\b",
    r"\b(?:published|wrote|written)\b",
    r"\bfirst[- ]author",
    r"\bbibcode\b|\bdoi\b|\barxiv:\s?\d",
    r"\bhow many (?:papers|studies|articles|authors)\b",
    r"\bjournals?\b",
    r"\bet al\b",
    r"\bh-?index\b",
)
TIMELY = _rule(
    r"\b(?:recent|recently|latest|newest|current|currently|state[- ]of[- ]the[- ]art|"
    r"to date|so far|today|nowadays|now|upcoming|future|modern|up[- ]to[- ]date)\b",
    r"\b(?:since|after|before|until|in|over) (?:the )?(?:last|past|19\d\d|20\d\d)",
    r"\b(?:last|past|next) (?:few|two|five|ten|\d+|several)? ?(?:years?|decades?|"
    r"months?)\b",
)
# What has a name: objects of catalogues, missions, surveys, constellations.
NAMED = re.compile(
    r"\b(?:NGC|IC|M|HD|HR|GJ|HIP|UGC|PSR|SN|GRB|FRB|AT|KIC|TIC|TOI|WASP|HAT-P|Kepler|K2|"
    r"TRAPPIST|Sgr|Abell|Mrk|Arp|3C|PKS|GW|Proxima|Gliese|2MASS|Cyg|Cen|CID|"
    r"GN)[- ]?[A-Z]?\d[\w.+-]*|\b(?:JWST|HST|Hubble(?! (?:constant|parameter|flow|tension|"
    r"law|diagram|rate|expansion))|ALMA|VLT|VLA|SDSS|DESI|Gaia|Euclid|Kepler(?!ian)|TESS|"
    r"Chandra|XMM|Planck|WMAP|LIGO|Virgo|KAGRA|LSST|Rubin|Roman|Spitzer|Herschel|Fermi|"
    r"Swift|NuSTAR|eROSITA|SKA|LOFAR|MeerKAT|ASKAP|CHIME|IceCube|MUSE|KMOS|COSMOS|CANDELS|"
    r"CEERS|JADES|PHANGS|GALAH|APOGEE|RAVE|LAMOST|IllustrisTNG|EAGLE|FIRE|Illustris|HERA|"
    r"Cassini|Juno|Rosetta|WISE|Subaru|Keck|Gemini|Arecibo|FAST|NICER|Milky Way|Andromeda|"
    r"Magellanic|Crab|Orion|Pleiades|Betelgeuse|Vega|Sirius|Oumuamua|Sagittarius A\*|"
    r"Sgr A\*|Perseus|Coma [Cc]luster|Large Magellanic)(?!\w)"
)
# Words that mean one thing in the field and another, or several, elsewhere.
JARGON = _rule(
    r"\b(?:metals?|metallicity|feedback|quenching|downsizing|main sequence|early[- ]type|"
    r"late[- ]type|bias|cooling flows?|dressed|seeing|cosmic variance|halo (?:model|"
    r"occupation|bias)|sub-?halo|bars?|mergers?|dry merger|cusps?|cores?|winds?|bubbles?|"
    r"jets?|features|tension|void|web|burst|blue nugget|red and dead|green valley|"
    r"little red dots?|changing[- ]look|red clump|bulge|knee|blue stragglers?|dropouts?|"
    r"templates?|priors?|closure|dipper|super[- ]puff|radius valley)\b",
    r"\b(?-i:[A-Z]{2,5})s?\b",  # an acronym
)


QuestionType = Literal[
    "single-paper factual",
    "multi-paper factual",
    "consensus",
    "compositional",
    "counterfactual",
    "unclassified",
]
Flag = Literal["named entity", "jargon", "bibliographic", "time-sensitive"]
TYPES: tuple[QuestionType, ...] = get_args(QuestionType)
FLAGS: tuple[Flag, ...] = get_args(Flag)


class _Classification(ReplyForm):
    type: QuestionType
    flags: list[Flag]


@dataclass(frozen=True)
class QuestionKind:
    """Type and flags of a question.

    Attributes
    ----------
    type : QuestionType
    flags : tuple of Flag
    by : str
        ``"rules"``, ``"the caller"``, or the name of the language model.
    """

    type: QuestionType
    flags: tuple[Flag, ...] = ()
    by: str = "rules"

    def __str__(self) -> str:
        return f"{self.type} ({', '.join(self.flags)})" if self.flags else self.type


@dataclass(frozen=True)
class Preset:
    """How to search for the answer to a kind of question, and how to write it.

    Attributes
    ----------
    name : str
        The row of the table.
    top_k : int
        Papers to find.
    keyword, time, citation : bool
        Which weights are on.
    hyde, rerank : bool
        Whether to search for a hypothetical abstract, and to rerank.
    generation : {"rag", "react"} or None
        How to answer; None leaves it to the question's type.
    style : str
        The prompt's style.
    """

    name: str
    top_k: int
    keyword: bool
    time: bool
    citation: bool
    hyde: bool
    rerank: bool
    generation: Literal["rag", "react"] | None
    style: str = "multi-paper"


# The paper gives ranges of k; the upper end costs nothing offline and loses no paper.
PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset("single-paper factual", 5, True, True, False, True, True, "rag", "single-paper"),
        Preset("multi-paper factual", 10, True, True, True, True, True, "rag"),
        Preset("consensus", 20, True, False, True, True, False, "rag", "nuanced"),
        Preset("counterfactual", 15, True, True, False, True, False, "react", "nuanced"),
        Preset("compositional", 15, True, False, True, True, True, "react"),
        Preset("named entity", 7, True, False, False, True, False, None),
        Preset("jargon", 10, True, True, True, True, True, None),
        Preset("bibliographic", 15, True, False, True, False, False, None, "bibliometric"),
        Preset("time-sensitive", 7, False, True, False, True, False, "rag"),
        Preset("unclassified", 10, True, True, True, True, True, "rag"),
    )
}
"""The table's rows by name; ``"unclassified"`` is searched for as several papers' facts are."""


def classify(question: str, *, model: LanguageModel | None = None) -> QuestionKind:
    """Classify a question.

    Parameters
    ----------
    question : str
    model : LanguageModel, optional
        Default, and where it fails: by rules.

    Returns
    -------
    QuestionKind

    Examples
    --------
    >>> print(classify("Do astronomers agree that dark energy evolves?"))
    consensus
    >>> print(classify("What would happen to NGC 1275 if it had no black hole?"))
    counterfactual (named entity)
    """
    if model is not None and question.strip():
        try:
            reply = request_reply(
                model, CLASSIFYING, as_data({"question": question}), _Classification
            )
        except RemoteError:
            return _by_rule(question)
        flags = tuple(flag for flag in FLAGS if flag in reply.flags)
        return QuestionKind(reply.type, flags, model.model)
    return _by_rule(question)


def read_kind(text: str) -> QuestionKind:
    """Parse the text form of a `QuestionKind`.

    Parameters
    ----------
    text : str
        A type, and flags in brackets where there are any.

    Returns
    -------
    QuestionKind

    Raises
    ------
    InputError
        For a type or flag that is none.

    Examples
    --------
    >>> read_kind("consensus (jargon, time-sensitive)").flags
    ('jargon', 'time-sensitive')
    >>> read_kind("riddle")
    Traceback (most recent call last):
    landscape.errors.InputError: There is no kind of question 'riddle'; use one of ...
    """
    name, _, rest = str(text).partition("(")
    flags = [flag.strip() for flag in rest.rstrip(") ").split(",") if flag.strip()]
    for what, given, allowed in (
        ("kind of question", [name.strip()], TYPES),
        ("flag of a question", flags, FLAGS),
    ):
        unknown = [word for word in given if word not in allowed]
        if unknown:
            message = f"There is no {what} {unknown[0][:60]!r}; use one of {', '.join(allowed)}."
            raise InputError(message)
    kind = next(kind for kind in TYPES if kind == name.strip())
    return QuestionKind(kind, tuple(flag for flag in FLAGS if flag in flags), "the caller")


def preset_for(kind: QuestionKind) -> Preset:
    """Choose the settings for a kind of question.

    A flag that the table has a row for decides for factual and unclassified questions, since those
    rows are about finding; the others keep their own row, whose way of answering they need.

    Parameters
    ----------
    kind : QuestionKind

    Returns
    -------
    Preset

    Examples
    --------
    >>> preset_for(QuestionKind("multi-paper factual", ("bibliographic",))).style
    'bibliometric'
    >>> preset_for(QuestionKind("compositional", ("jargon",))).generation
    'react'
    """
    own = PRESETS[kind.type]
    if kind.type not in ("single-paper factual", "multi-paper factual", "unclassified"):
        return own
    for flag in ("bibliographic", "time-sensitive", "named entity", "jargon"):
        if flag in kind.flags:
            row = PRESETS[flag]
            style = row.style if flag == "bibliographic" else own.style
            return replace(row, generation=row.generation or own.generation, style=style)
    return own


def _by_rule(question: str) -> QuestionKind:
    text = " ".join(question.split())
    flags: list[Flag] = []
    if NAMED.search(text):
        flags.append("named entity")
    if JARGON.search(NAMED.sub(" ", text)):
        flags.append("jargon")
    if BIBLIOGRAPHIC.search(text):
        flags.append("bibliographic")
    if TIMELY.search(text):
        flags.append("time-sensitive")
    return QuestionKind(_type(text), tuple(flags))


def _type(text: str) -> QuestionType:
    ordered: tuple[tuple[re.Pattern[str], QuestionType], ...] = (
        (COUNTERFACTUAL, "counterfactual"),
        (COMPOSITIONAL, "compositional"),
        (SINGLE, "single-paper factual"),
        (CONSENSUS, "consensus"),
        (MULTIPLE, "multi-paper factual"),
    )
    return next((kind for rule, kind in ordered if rule.search(text)), "unclassified")
