"""Find the language of a title and abstract by its most frequent function words or its script.

``benchmarks/languages.py`` compares this with py3langid and langdetect.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

#: Names of the languages that are recognised, by ISO 639-1 code.
LANGUAGES = {
    "en": "English",
    "fr": "French",
    "de": "German",
    "es": "Spanish",
    "pt": "Portuguese",
    "it": "Italian",
    "nl": "Dutch",
    "ru": "Russian",
    "zh": "Chinese",
    "ja": "Japanese",
    "ko": "Korean",
}
_FUNCTION_WORDS = {
    "en": "the of and to in is we for that with are by from this as on at be which an our can has",
    "fr": "le la les de des du et est dans en une un pour que qui par sur avec nous sont il à",
    "de": "der die das und in den von mit ist im des eine ein zu wir sich auf aus für dass sind",
    "es": "el la los las de del y en que es una un por con para se son más su al como entre no",
    "pt": "o a os as de do da dos das e em que é uma um por com para não são mais no na nos",
    "it": "il la le di del della dei delle e in che è una un per con sono non da i gli si al alla",
    "nl": "de het een van en in is dat met voor op zijn wij aan door uit te er bij ook dan naar",
}
# Scripts, where one sign of Japanese or Korean decides about the Chinese signs around it.
_SCRIPTS = {"ja": "[\u3040-\u30ff]", "ko": "[\uac00-\ud7a3]", "zh": "[\u4e00-\u9fff]"}
_SCRIPTS["ru"] = "[\u0400-\u04ff]"
_IN_SCRIPT = {code: re.compile(signs) for code, signs in _SCRIPTS.items()}
_WORD = re.compile(r"[^\W\d_]+")
_LANGUAGES_OF: dict[str, list[str]] = {}
for _code, _words in _FUNCTION_WORDS.items():
    for _word in _words.split():
        _LANGUAGES_OF.setdefault(_word, []).append(_code)
_MIN_WORDS = 4  # function words of the language
_MARGIN = 2.0  # ratio to those of English: an English text with a quotation is English


def find_language(text: str) -> str:
    """Return the code of the language of a text; English if the text is short or mixed."""
    letters = sum(map(str.isalpha, text))
    in_script = {code: len(signs.findall(text)) for code, signs in _IN_SCRIPT.items()}
    if 2 * sum(in_script.values()) > letters > 0:
        return next((code for code, n in in_script.items() if 10 * n > letters), "ru")
    hits = dict.fromkeys(_FUNCTION_WORDS, 0)
    for word in _WORD.findall(text.lower()):
        for code in _LANGUAGES_OF.get(word, ()):
            hits[code] += 1
    best = max(hits, key=lambda code: hits[code])
    return best if hits[best] >= max(_MIN_WORDS, _MARGIN * hits["en"]) else "en"


def find_languages(papers: pa.Table) -> list[str]:
    """Return the code of the language of each paper, from its title and abstract."""
    texts = zip(papers["title"].to_pylist(), papers["abstract"].to_pylist(), strict=True)
    return [find_language(f"{title}\n{abstract[:_MAX_LENGTH]}") for title, abstract in texts]


_MAX_LENGTH = 1000  # characters of an abstract that are read
