"""How much abstracts disagree: words of contrast, and whether findings confirm or contradict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# For Arrow's regular expressions (RE2): twenty times as fast here as those of `re`.
_CONTRAST = (
    r"\b(?:tensions?|disagree\w*|discrepan\w+|inconsisten\w+|contradict\w*|conflict\w*|"
    r"controvers\w+|debate\w*|disput\w+|at odds|puzzl\w+|rival\w*|in contrast (?:to|with)|"
    r"contrary to|competing|unresolved|unsettled|ambigu\w+|differ on|could not decide|"
    r"(?:remains?|is|are) (?:still )?(?:unclear|uncertain|unknown|poorly understood)|"
    r"(?:long-standing|open) (?:problem|question)s?|challeng(?:es|ing) (?:the|current|standard))\b"
)
_PRO = (
    r"\b(?:confirm\w*|consistent with|support(?:s|ed|ing)?|agree(?:s|d|ment)?|in line with|"
    r"corroborat\w+|validat\w+|as (?:expected|predicted)|compatible with|favou?r(?:s|ed)?)\b"
)
_CON = (
    r"\b(?:inconsisten\w+|disagree\w*|rules? out|ruled out|excludes?|excluded|disfavou?r\w*|"
    r"contradict\w*|no evidence|incompatible|reject\w*|contrary to|at odds|fails? to|unexpected\w*|"
    r"tension with|in tension|discrepan\w+|challenge[sd]?)\b"
)


def speaks_of_contrast(abstracts: Sequence[str]) -> NDArray[np.bool_]:
    """Whether each abstract speaks of disagreement, tension or an open question.

    Examples
    --------
    >>> speaks_of_contrast(["The two are in tension.", "We present a catalogue."]).tolist()
    [True, False]
    """
    import pyarrow.compute as pc

    found = pc.match_substring_regex(_lowered(abstracts), _CONTRAST)
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.bool_)


def stances(abstracts: Sequence[str]) -> NDArray[np.int8]:
    """Whether each abstract confirms (1), contradicts (-1) or neither or both (0).

    Examples
    --------
    >>> stances(["This confirms the model.", "This rules out the model.", "A map."]).tolist()
    [1, -1, 0]
    """
    import pyarrow.compute as pc

    lowered = _lowered(abstracts)
    pro, con = (
        pc.count_substring_regex(lowered, pattern).to_numpy(zero_copy_only=False)
        for pattern in (_PRO, _CON)
    )
    return np.sign(pro - con).astype(np.int8)


def _lowered(texts: Sequence[str]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.utf8_lower(pa.array(texts, type=pa.large_string()))
