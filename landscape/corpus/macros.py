"""What LaTeX macros stand for: tables only, the reading of LaTeX is in :mod:`.latex`."""

from __future__ import annotations

from functools import cache

# Macros that authors define for themselves or take from journal styles (aastex, mnras, aa), which
# no general LaTeX table knows. Found by counting unknown macros in real arXiv abstracts.
ASTRONOMY = {
    "AA": "Å",
    "ang": "°",
    "arcdeg": "°",
    "arcm": "′",
    "arcmin": "′",
    "arcs": "″",
    "arcsec": "″",
    "bigstar": "★",
    "cdot": "·",
    "CII": "[C II]",
    "cm": "cm",
    "deg": "°",
    "degr": "°",
    "degree": "°",
    "degrees": "°",
    "eg": "e.g.",
    "ell": "ℓ",
    "epsilon": "ε",
    "etal": "et al.",
    "farcm": "′.",
    "farcs": "″.",
    "fdg": "°.",
    "feh": "[Fe/H]",
    "ga": "≳",
    "gsim": "≳",
    "gta": "≳",
    "gtorder": "≳",
    "gtrapprox": "≳",
    "gtsim": "≳",
    "ha": "Hα",
    "Ha": "Hα",
    "halpha": "Hα",
    "Halpha": "Hα",
    "hb": "Hβ",
    "Hb": "Hβ",
    "hbar": "ħ",
    "HI": "H I",
    "hi": "H I",
    "HII": "H II",
    "hii": "H II",
    "hmpc": "h⁻¹ Mpc",
    "Htwo": "H₂",
    "ie": "i.e.",
    "imath": "i",
    "jmath": "j",
    "kms": "km s⁻¹",
    "la": "≲",
    "LambdaCDM": "ΛCDM",
    "lcdm": "ΛCDM",
    "LCDM": "ΛCDM",
    "leqslant": "≤",
    "geqslant": "≥",
    "lessapprox": "≲",
    "logg": "log g",
    "lq": "‘",
    "rq": "’",
    "lsim": "≲",
    "lsun": "L⊙",
    "Lsun": "L⊙",
    "lta": "≲",
    "ltorder": "≲",
    "ltsim": "≲",
    "lt": "<",
    "gt": ">",
    "lya": "Lyα",
    "Lya": "Lyα",
    "lyA": "Lyα",
    "Mdot": "Ṁ",
    "mdot": "Ṁ",
    "mgii": "Mg II",
    "MgII": "Mg II",
    "micron": "μm",
    "mum": "μm",
    "um": "μm",
    "msun": "M⊙",
    "Msun": "M⊙",
    "msol": "M⊙",
    "Msol": "M⊙",
    "mjup": "M_Jup",
    "Mjup": "M_Jup",
    "mearth": "M⊕",
    "Mearth": "M⊕",
    "rearth": "R⊕",
    "Rearth": "R⊕",
    "rsun": "R⊙",
    "Rsun": "R⊙",
    "odot": "⊙",
    "oiii": "[O III]",
    "OIII": "[O III]",
    "nii": "[N II]",
    "sol": "⊙",
    "simgt": "≳",
    "simlt": "≲",
    "star": "⋆",
    "sun": "⊙",
    "Sun": "⊙",
    "earth": "⊕",
    "teff": "T_eff",
    "Teff": "T_eff",
    "phi": "φ",
    "varphi": "φ",
    "hyphen": "-",
    "mathdegree": "°",
    "slash": "/",
    "textquotesingle": "'",
    "textasciitilde": "∼",
    "textendash": "–",
    "textemdash": "—",
    "textmu": "μ",
    "mu": "μ",
    "slantfrac": "/",
    "ldots": "...",
    "dots": "...",
    "cdots": "...",
    "textellipsis": "...",
    "langle": "⟨",
    "rangle": "⟩",
    "ast": "*",
    "vert": "|",
    "mid": "|",
    "lvert": "|",
    "rvert": "|",
    "Vert": "‖",
    "parallel": "∥",
    "setminus": "\u2216",
    "backslash": "\u2216",
    "textbackslash": "\u2216",
    "lbrace": "(",
    "rbrace": ")",
    "dag": "†",
    "ddag": "‡",
    "today": "today",
}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Typesetting only: nothing of these is left in the text.
SWITCHES = _words(
    """rm it bf tt em sf sl cal mit up rmfamily itshape bfseries ttfamily sffamily upshape
    slshape mdseries normalfont small large Large LARGE huge Huge tiny normalsize scriptsize
    footnotesize scriptstyle scriptscriptstyle displaystyle textstyle boldmath unboldmath bold
    protect noindent limits nolimits nonumber centering relax left right big Big bigg
    Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr middle mathstrut strut raggedright
    xspace ensuremath allowbreak break nobreak linebreak nolinebreak item
    smallskip medskip bigskip maketitle"""
)
SPACES = _words(
    """quad qquad enspace thinspace medspace thickspace space nobreakspace newline par hfill
    hfil"""
)
# One argument, which stays as it is.
TRANSPARENT = _words(
    """mathrm text textit textbf textrm emph mbox hbox vbox fbox mathbf mathit mathcal mathbb
    boldsymbol bm texttt textsf textsl mathsf mathscr mathfrak mathtt operatorname underline
    textnormal textup textmd uppercase lowercase MakeUppercase substack mathop mathord mathbin
    mathrel mathnormal rlap llap smash pmb url path code unit si num title section subsection
    paragraph underbrace overbrace bfv rvec"""
)
# One argument, which goes too.
DROPPED = _words(
    """label ref eqref pageref cite citet citep citealt citealp citeauthor citeyear citeyearpar
    citenum nocite footnote footnotetext thanks phantom hphantom vphantom hspace vspace hskip kern
    begin end color tag input include bibliography bibliographystyle usepackage"""
)

# Accents of text and of mathematics, as combining characters.
ACCENTS = {
    "'": "\u0301",
    "`": "\u0300",
    '"': "\u0308",
    "^": "\u0302",
    "~": "\u0303",
    "=": "\u0304",
    ".": "\u0307",
    "c": "\u0327",
    "v": "\u030c",
    "u": "\u0306",
    "H": "\u030b",
    "k": "\u0328",
    "r": "\u030a",
    "b": "\u0331",
    "d": "\u0323",
    "bar": "\u0304",
    "overline": "\u0304",
    "hat": "\u0302",
    "widehat": "\u0302",
    "tilde": "\u0303",
    "widetilde": "\u0303",
    "dot": "\u0307",
    "ddot": "\u0308",
    "vec": "\u20d7",
    "overrightarrow": "\u20d7",
    "acute": "\u0301",
    "grave": "\u0300",
    "check": "\u030c",
    "breve": "\u0306",
    "mathring": "\u030a",
}

# Relations and binary operators keep the space that the author typed around them.
OPERATORS = frozenset("∼≈≃≲≳≤≥≪≫≡≠∝±∓×÷·→←↔⇒⇔∈∉⊂∪∩∧∨≅≍≶≷/=<>|⟶")

SUPERSCRIPTS = str.maketrans("0123456789+-−=()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾")
SUBSCRIPTS = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")


@cache
def symbols() -> dict[str, str]:
    r"""Macro name to Unicode, from pylatexenc's tables with the astronomers' own on top.

    Examples
    --------
    >>> symbols()["lesssim"], symbols()["Msun"]
    ('≲', 'M⊙')
    """
    from pylatexenc.latex2text import get_default_latex_context_db

    table: dict[str, str] = {}
    for spec in get_default_latex_context_db().iter_macro_specs():
        if isinstance(spec.simplify_repl, str) and spec.macroname.isalpha():
            # The first category that knows a macro wins, as in pylatexenc itself.
            table.setdefault(spec.macroname, spec.simplify_repl)
    # Templates for arguments ("%s") and placeholders are no symbols.
    table = {name: text for name, text in table.items() if text and "%" not in text}
    return table | ASTRONOMY
