"""Words by which the kind of a question is told without a language model."""

from __future__ import annotations

import re


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
