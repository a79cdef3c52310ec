"""The spaCy pipeline of the keyword stage: a trained model where installed, else built-in rules."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from functools import cache
from typing import TYPE_CHECKING, Any

from landscape.errors import InputError, require
from landscape.text import tagger as rules
from landscape.text.words import split_words

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.strings import StringStore
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

MODEL = "en_core_web_sm"
"""Trained English pipeline that is used where it is installed (conda-forge has it, PyPI not)."""

TAGGERS = ("auto", "rules", MODEL)
"""What can be asked for."""

RANKER = "landscape_textrank"
"""Name of the pipeline component that ranks phrases."""

LONGEST = 20_000
"""Characters of a text that are read; an abstract has some 1,500."""


def tagger_name(*, tagger: str = "auto") -> str:
    """Name the tagger that `load_pipeline` would use, for the manifest.

    Parameters
    ----------
    tagger : {"auto", "rules", "en_core_web_sm"}, default "auto"
        What is asked for; "auto" takes the trained model where it is installed.

    Returns
    -------
    str
        ``"landscape-rules-1"``, or model name and version as in ``"en_core_web_sm-3.8.0"``.

    Raises
    ------
    InputError
        Where there is no such tagger.

    Examples
    --------
    >>> tagger_name(tagger="rules")
    'landscape-rules-1'
    """
    if tagger not in TAGGERS:
        message = f"There is no tagger {tagger!r}; use one of {', '.join(TAGGERS)}."
        raise InputError(message)
    if tagger == "rules" or (tagger == "auto" and importlib.util.find_spec(MODEL) is None):
        return rules.NAME
    require(MODEL, "lab")
    return f"{MODEL}-{importlib.metadata.version(MODEL)}"


@cache
def load_pipeline(*, tagger: str = "auto") -> Language:
    """Load the spaCy pipeline that tags, chunks and ranks.

    Parameters
    ----------
    tagger : {"auto", "rules", "en_core_web_sm"}, default "auto"
        See `tagger_name`.

    Returns
    -------
    spacy.language.Language
        Its documents have parts of speech, sentences, ``noun_chunks``, and ``doc._.phrases``
        ranked by TextRank.

    Raises
    ------
    InputError
        Where there is no such tagger.
    MissingExtraError
        Where the model asked for is not installed.

    Examples
    --------
    >>> doc = load_pipeline(tagger="rules")("Stars form in dense molecular clouds, e.g. Orion.")
    >>> [token.pos_ for token in doc][:5]
    ['NOUN', 'VERB', 'ADP', 'ADJ', 'ADJ']
    """
    return build_pipeline(tagger=tagger)


def build_pipeline(*, tagger: str = "auto", ranker: str = RANKER) -> Language:
    """Build a pipeline of one's own, to be changed freely; see `load_pipeline`.

    Parameters
    ----------
    tagger : {"auto", "rules", "en_core_web_sm"}, default "auto"
        See `tagger_name`.
    ranker : str, default "landscape_textrank"
        Last component; ``"textrank"`` is pytextrank's own.

    Returns
    -------
    spacy.language.Language

    Examples
    --------
    >>> build_pipeline(tagger="rules", ranker="textrank").pipe_names
    ['landscape_tagger', 'textrank']
    """
    import spacy

    from landscape.text.textrank import POS_KEPT

    _register()
    if tagger_name(tagger=tagger) == rules.NAME:
        pipeline = spacy.blank("en")
        _add_rules(pipeline)
    else:
        pipeline = spacy.load(MODEL, exclude=["ner"])
    pipeline.add_pipe(ranker, config={"pos_kept": list(POS_KEPT)})
    return pipeline


def _add_rules(pipeline: Language) -> None:
    from landscape.text.chunks import iterate_noun_chunks

    # Of the twenty facts that spaCy works out for each new word we need one.
    vocab: Any = pipeline.vocab  # spaCy's stubs leave these attributes out
    lower = vocab.strings["LOWER"]
    vocab.lex_attr_getters = {lower: vocab.lex_attr_getters[lower]}
    vocab.get_noun_chunks = iterate_noun_chunks
    pipeline.tokenizer = WordSplitter(vocab)
    pipeline.add_pipe("landscape_tagger")


class WordSplitter:
    """Tokenizer of the built-in pipeline; see `landscape.text.words.split_words`.

    Parameters
    ----------
    vocab : spacy.vocab.Vocab
        Of the pipeline.

    Examples
    --------
    >>> import spacy
    >>> [token.text for token in WordSplitter(spacy.blank("en").vocab)("[O III] in 3C 273.")]
    ['[O III]', 'in', '3C', '273', '.']
    """

    def __init__(self, vocab: Vocab) -> None:
        self._vocab = vocab

    def __call__(self, text: str) -> Doc:
        """Split a text into the words of a document."""
        from spacy.tokens import Doc

        words, spaces = split_words(text[:LONGEST])
        doc = Doc(self._vocab, words=words, spaces=spaces)
        doc.user_data.update(words=words, spaces=spaces)
        return doc


class TaggerComponent:
    """Component that sets parts of speech, lemmas and sentence starts by rule.

    Parameters
    ----------
    vocab : spacy.vocab.Vocab
        Of the pipeline.

    Examples
    --------
    >>> import spacy
    >>> nlp = spacy.blank("en")
    >>> [token.lemma_ for token in TaggerComponent(nlp.vocab)(nlp("Bright galaxies merge"))]
    ['bright', 'galaxy', 'merge']
    """

    def __init__(self, vocab: Vocab) -> None:
        self._tagger = rules.RuleTagger()
        self._hashes = _Hashes(vocab.strings)
        self._parts = {name: vocab.strings[name] for name in rules.PARTS_OF_SPEECH}

    def forget(self) -> None:
        """Forget which lemmas the string store holds: to be called when it has been emptied."""
        self._hashes.clear()

    def __call__(self, doc: Doc) -> Doc:
        """Tag one document."""
        import numpy as np

        words = doc.user_data.get("words") or [token.text for token in doc]
        tagged = self._tagger.tag(words)
        later = tagged.starts[1:]
        doc.user_data["tags"] = tagged.tags
        doc.user_data["title_end"] = later.index(True) + 1 if True in later else len(words)
        if words:
            table: Any = np.empty((len(words), 3), dtype=np.uint64)
            hashes = map(self._hashes.__getitem__, tagged.lemmas)
            table[:, 0] = list(map(self._parts.__getitem__, tagged.tags))
            table[:, 1] = np.fromiter(hashes, dtype=np.uint64, count=len(words))
            table[:, 2] = np.where(tagged.starts, 1, -1)  # 0 would mean that nobody looked
            doc.from_array(["POS", "LEMMA", "SENT_START"], table)
        return doc


class _Hashes(dict[str, int]):
    """Numbers of strings in the string store; a new string is added to it."""

    def __init__(self, strings: StringStore) -> None:
        super().__init__()
        self._strings = strings

    def __missing__(self, string: str) -> int:
        number = self[string] = self._strings.add(string)
        return number


@cache
def _register() -> None:
    """Make our components known to spaCy, on first use: importing spaCy takes a second."""
    from spacy.language import Language

    from landscape.text.textrank import ArrayTextRankFactory

    @Language.factory("landscape_tagger")
    def _tagger(nlp: Language, name: str) -> Any:  # noqa: ARG001  # spaCy's signature
        return TaggerComponent(nlp.vocab)

    @Language.factory(RANKER)
    def _textrank(
        nlp: Language,  # noqa: ARG001  # spaCy's signature
        name: str,  # noqa: ARG001
        pos_kept: list[str],
    ) -> Any:
        return ArrayTextRankFactory(pos_kept=pos_kept)
