"""How much abstracts disagree: words of contrast, and whether findings confirm or contradict."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Patterns of small letters for lowered text: three times as fast as ignoring case.
_CONTRAST = re.compile(
    r"\b(?:tensions?|disagree\w*|discrepan\w+|inconsisten\w+|contradict\w*|conflict\w*|"
    r"controvers\w+|debate\w*|disput\w+|at odds|puzzl\w+|rival\w*|in contrast (?:to|with)|"
    r"contrary to|competing|unresolved|unsettled|ambigu\w+|differ on|could not decide|"
    r"(?:remains?|is|are) (?:still )?(?:unclear|uncertain|unknown|poorly understood)|"
    r"(?:long-standing|open) (?:problem|question)s?|challeng(?:es|ing) (?:the|current|standard))\b"
)
_PRO = re.compile(
    r"\b(?:confirm\w*|consistent with|support(?:s|ed|ing)?|agree(?:s|d|ment)?|in line with|"
    r"corroborat\w+|validat\w+|as (?:expected|predicted)|compatible with|favou?r(?:s|ed)?)\b"
)
_CON = re.compile(
    r"\b(?:inconsisten\w+|disagree\w*|rules? out|ruled out|excludes?|excluded|disfavou?r\w*|"
    r"contradict\w*|no evidence|incompatible|reject\w*|contrary to|at odds|fails? to|unexpected\w*|"
    r"tension with|in tension|discrepan\w+|challenge[sd]?)\b"
)


def speaks_of_contrast(abstracts: Iterable[str]) -> NDArray[np.bool_]:
    """Whether each abstract speaks of disagreement, tension or an open question.

    Examples
    --------
    >>> speaks_of_contrast(["The two are in tension.", "We present a catalogue."]).tolist()
    [True, False]
    """
    return np.fromiter((bool(_CONTRAST.search(text.lower())) for text in abstracts), dtype=np.bool_)


def stances(abstracts: Iterable[str]) -> NDArray[np.int8]:
    """Whether each abstract confirms (1), contradicts (-1) or neither or both (0).

    Examples
    --------
    >>> stances(["This confirms the model.", "This rules out the model.", "A map."]).tolist()
    [1, -1, 0]
    """
    lowered = (text.lower() for text in abstracts)
    return np.fromiter(
        (int(np.sign(len(_PRO.findall(text)) - len(_CON.findall(text)))) for text in lowered),
        dtype=np.int8,
    )
