"""The spaCy pipeline of the keyword stage: a trained model where installed, else built-in rules."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from landscape.errors import InputError, MissingExtraError
from landscape.text import tagger as rules
from landscape.text.chunks import find_noun_chunks, iterate_noun_chunks
from landscape.text.textrank import POS_KEPT
from landscape.text.words import split_words

if TYPE_CHECKING:
    from spacy.language import Language
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
        ``"landscape-rules-2"``, or model name and version as in ``"en_core_web_sm-3.8.0"``.

    Raises
    ------
    InputError
        Where there is no such tagger.

    Examples
    --------
    >>> tagger_name(tagger="rules")
    'landscape-rules-2'
    """
    if tagger not in TAGGERS:
        message = f"There is no tagger {tagger!r}; use one of {', '.join(TAGGERS)}."
        raise InputError(message)
    if tagger == "rules" or (tagger == "auto" and importlib.util.find_spec(MODEL) is None):
        return rules.NAME
    _require_model()
    return f"{MODEL}-{importlib.metadata.version(MODEL)}"


def _require_model() -> None:
    if importlib.util.find_spec(MODEL) is None:
        message = (
            f"The tagger {MODEL} is not installed; install it with: "
            f"conda install -c conda-forge spacy-model-{MODEL}, or use the built-in one (rules)."
        )
        raise MissingExtraError(message)


class TaggedText(NamedTuple):
    """One text as the language tools see it, in plain lists: token objects are slow by the million.

    Attributes
    ----------
    words, tags, lemmas : list of str, shape (n_words,)
        Words, universal parts of speech, lower-case lemmas.
    spaces, starts : list of bool, shape (n_words,)
        Whether a space follows the word, and whether a sentence starts with it.
    chunks : list of (int, int)
        Noun chunks: first word and the one behind the last.
    """

    words: list[str]
    tags: list[str]
    lemmas: list[str]
    spaces: list[bool]
    starts: list[bool]
    chunks: list[tuple[int, int]]

    @property
    def title_end(self) -> int:
        """The word behind the first sentence."""
        return self.starts.index(True, 1) if True in self.starts[1:] else len(self.words)


def tag_texts(texts: Sequence[str], *, tagger: str = "auto") -> list[TaggedText]:
    """Tag texts and find their noun chunks, as the pipeline of `load_pipeline` does.

    The built-in rules need nothing of a spaCy document, so none is made for them: that doubles
    their speed.

    Parameters
    ----------
    texts : sequence of str, shape (n,)
        Title, full stop, abstract; `LONGEST` characters of each are read.
    tagger : {"auto", "rules", "en_core_web_sm"}, default "auto"
        See `tagger_name`.

    Returns
    -------
    list of TaggedText, shape (n,)

    Raises
    ------
    InputError
        Where there is no such tagger.
    MissingExtraError
        Where the model asked for is not installed.

    Examples
    --------
    >>> tag_texts(["We map cool gas."], tagger="rules")[0].tags
    ['PRON', 'VERB', 'ADJ', 'NOUN', 'PUNCT']
    """
    if tagger_name(tagger=tagger) == rules.NAME:
        return [_tag_by_rules(text) for text in texts]
    pipeline = load_pipeline(tagger=tagger)
    # What the texts add to the vocabulary is forgotten with them: millions of texts fit in memory.
    with pipeline.memory_zone():
        documents = pipeline.pipe([text[:LONGEST] for text in texts], disable=[RANKER])
        return [_plain(document) for document in documents]


def _tag_by_rules(text: str) -> TaggedText:
    words, spaces = split_words(text[:LONGEST])
    tagged = _rule_tagger().tag(words)
    chunks = find_noun_chunks(words, tagged.tags)
    return TaggedText(words, tagged.tags, tagged.lemmas, spaces, tagged.starts, chunks)


@cache
def _rule_tagger() -> rules.RuleTagger:
    return rules.RuleTagger()


def _plain(document: Doc) -> TaggedText:
    return TaggedText(
        words=[token.text for token in document],
        tags=[token.pos_ for token in document],
        lemmas=[token.lemma_ for token in document],
        spaces=[bool(token.whitespace_) for token in document],
        starts=[bool(token.is_sent_start) for token in document],
        chunks=[(chunk.start, chunk.end) for chunk in document.noun_chunks],
    )


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

    _register()
    if tagger_name(tagger=tagger) == rules.NAME:
        pipeline = spacy.blank("en")
        _add_rules(pipeline)
    else:
        pipeline = spacy.load(MODEL, exclude=["ner"])
    pipeline.add_pipe(ranker, config={"pos_kept": list(POS_KEPT)})
    return pipeline


def _add_rules(pipeline: Language) -> None:
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
        return Doc(self._vocab, words=words, spaces=spaces)


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
        self._strings = vocab.strings

    def __call__(self, doc: Doc) -> Doc:
        """Tag one document."""
        import numpy as np

        tagged = _rule_tagger().tag([token.text for token in doc])
        if len(doc):
            columns = [
                [self._strings.add(name) for name in tagged.tags],
                [self._strings.add(lemma) for lemma in tagged.lemmas],
                # 0 would mean that nobody looked; -1 as the unsigned number it is stored as
                [1 if start else 2**64 - 1 for start in tagged.starts],
            ]
            table: Any = np.array(columns, dtype=np.uint64).T.copy()
            doc.from_array(["POS", "LEMMA", "SENT_START"], table)
        return doc


@cache
def _register() -> None:
    """Make our components known to spaCy, on first use: importing spaCy takes a second."""
    from spacy.language import Language

    from landscape.text.ranker import ArrayTextRankFactory

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
