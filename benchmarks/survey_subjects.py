"""Questions whose papers contain certain words, and questions about other subjects."""

from __future__ import annotations

SUBJECTS = {
    "What causes quasi-periodic eruptions in galactic nuclei?": (
        r"quasi.periodic eruption|\bQPEs?\b"
    ),
    "What powers fast radio bursts?": r"fast radio burst|\bFRBs?\b",
    "Why are little red dots weak in X-rays?": r"little red dots?|\bLRDs?\b",
    "How does photoevaporation carve the radius valley?": (
        r"radius (valley|gap|cliff)|photoevaporat|mass.loss of .*planets|core.powered"
        r"|sub.neptune|super.earth"
    ),
    "What fraction of the dark matter halo can be made of MACHOs according to microlensing?": (
        r"\bmachos?\b|microlens"
    ),
    "Does the Hubble constant from the tip of the red giant branch agree with Cepheids?": (
        r"tip of (the )?red giant|\bTRGB\b|cepheid|hubble (constant|tension)|\bH_?[0₀]\b"
        r"|distance ladder|jagb"
    ),
    "Why is lithium-6 reported in metal-poor halo stars, and is it real?": (
        r"lithium|\b6li\b|⁶li|\bli\b"
    ),
    "Where do chondrules come from?": r"chondr",
    "What is the origin of the Radcliffe wave?": r"radcliffe",
    "How do white dwarfs delay their cooling by crystallization and distillation?": (
        r"white dwarf.*(cool|crystal|distil)|crystalli[sz]|q.branch|cooling"
    ),
    "What is the nature of interstellar objects such as 3I/ATLAS and Oumuamua?": (
        r"3i/atlas|oumuamua|interstellar (object|comet)|borisov"
    ),
    "r-process nucleosynthesis in neutron star mergers": (
        r"r.process|kilonova|neutron.star.merger|binary neutron star"
    ),
    "What heats the solar corona by nanoflares?": (
        r"nanoflare|coronal heating|heating of the .*corona|picoflare|campfire"
    ),
    "How were primordial magnetic fields generated and what are their limits?": (
        r"primordial magnetic|magnetogenesis|cosmic(al)? magnetic|seed magnetic"
        r"|intergalactic magnetic"
    ),
    "How do quasi-periodic oscillations arise in black hole X-ray binaries?": (
        r"quasi.periodic oscillation|\bqpos?\b"
    ),
    "What drives the spokes in Saturn's rings?": r"saturn'?s? ?'?s? ring|rings of saturn|spokes",
    "Do brown dwarfs have clouds and weather?": (r"brown dwarf|ultracool|substellar|\b[TLY] dwarf"),
    "How is cosmic reionization timed by the Lyman-alpha forest damping wings?": (
        r"reioni[sz]|damping wing|lyman.?.?(alpha|α) (forest|emitter)|neutral fraction"
    ),
    "What is the stochastic gravitational wave background seen by pulsar timing arrays?": (
        r"pulsar timing|nanohertz|gravitational.wave background|\bPTAs?\b"
    ),
    "Are ultra-diffuse galaxies lacking dark matter?": (
        r"ultra.?diffuse|\bUDGs?\b|dark.matter.(deficient|free|less|lacking)"
    ),
    "How do tidal disruption events launch jets?": r"tidal disruption|\bTDEs?\b",
    "What explains hypervelocity stars?": r"hyper.?velocity|runaway star|unbound star",
    "How does solar wind turbulence heat protons?": r"solar wind",
    "What are the phosphine and habitability claims for Venus clouds?": r"venus|phosphine",
}
"""Question, and a pattern that the title of a paper on its subject holds, or its abstract twice."""

ELSEWHERE = (
    "How does yeast protein folding respond to heat shock?",
    "supernova recipe for dinner",
    "Which telescope should a beginner buy?",
    "How do cats fall on their feet?",
    "Which recipe makes sourdough bread rise overnight?",
    "Who won the football world cup?",
    "How do central banks set interest rates?",
    "best guitar strings for jazz",
)
