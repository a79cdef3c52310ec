"""Say an answer again, in another language or for other readers, without saying anything new."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from landscape.errors import InputError, RemoteError
from landscape.query.citations import (
    CONTRADICTED,
    UNSUPPORTED,
    read_citations,
    without_labels,
    without_markup,
)
from landscape.query.prompts import READERS, REWRITING, REWRITING_SCHEMA, as_data
from landscape.query.quantities import invents_numbers
from landscape.query.records import Answer, Claim

if TYPE_CHECKING:
    from landscape.llm._client import LanguageModel

_LONGEST_LANGUAGE = 40  # characters of a language's name
_GROWTH = 5  # times as long as the old sentence: a rewritten one that is longer says more


def rewrite(
    said: Answer,
    model: LanguageModel,
    *,
    language: str | None = None,
    audience: str | None = None,
) -> Answer:
    """Say an answer again, sentence by sentence, without a new search.

    Citations, evidence and verdicts never pass through the model: each new sentence takes those of
    the old one. A sentence that names a number which the old one lacks spoils the whole; then
    the answer stays as it was, and says so.

    Parameters
    ----------
    said : Answer
    model : LanguageModel
    language : str, optional
        Name of a language. Default: that of the answer.
    audience : {"expert", "student", "public"}, optional

    Returns
    -------
    Answer

    Raises
    ------
    InputError
        The audience is unknown, or the language is no name.

    Examples
    --------
    >>> from landscape.query.records import Coverage, Results
    >>> class Fixed:
    ...     model = "fixed"
    ...     def complete_json(self, system, user, schema):
    ...         return {"sentences": [{"id": 1, "text": "Staub kühlt."}]}
    >>> found = Results("x", (), Coverage("", 0, 0, {}, None, None))
    >>> claim = Claim("Dust cools.", ("2024A&A...1A",), (), "supported")
    >>> said = Answer("?", "Dust cools [2024A&A...1A].", (claim,), found, "fixed")
    >>> rewrite(said, Fixed(), language="German").text
    'Staub kühlt [2024A&A...1A].'
    """
    check_readers(language, audience)
    old = said.claims or (Claim(said.text, ()),)  # "The papers do not say" is a sentence too
    listed = [{"id": n, "text": claim.text} for n, claim in enumerate(old, start=1)]
    data = {
        "language": language or "the language that the sentences are in",
        "readers": READERS[audience or "expert"],
        "sentences": listed,
    }
    try:
        reply = model.complete_json(REWRITING, as_data(data), REWRITING_SCHEMA)
        texts = _accepted(reply, old)
    except RemoteError as error:
        return replace(said, notes=(*said.notes, f"The answer could not be rewritten: {error}"))
    claims = tuple(replace(claim, text=text) for claim, text in zip(old, texts, strict=True))
    wanted = [f"into {language}"] * bool(language) + [f"for the audience {audience}"] * bool(
        audience
    )
    return replace(
        said,
        text=_composed(said, claims),
        claims=claims if said.claims else (),
        method=model.model,
        notes=(*said.notes, f"Rewritten {' '.join(wanted)} by {model.model} after checking."),
    )


def check_readers(language: str | None, audience: str | None) -> None:
    """Refuse an audience that is unknown, and a language that is none.

    Raises
    ------
    InputError

    Examples
    --------
    >>> check_readers("German", "cats")
    Traceback (most recent call last):
    landscape.errors.InputError: The audience 'cats' is unknown. Choose one of: expert, ...
    """
    if audience is not None and audience not in READERS:
        message = f"The audience {audience!r} is unknown. Choose one of: {', '.join(READERS)}."
        raise InputError(message)
    if language is not None and not (
        isinstance(language, str)
        and 0 < len(language) <= _LONGEST_LANGUAGE
        and all(c.isalpha() or c in " ()-'" for c in language)
    ):
        message = f"{str(language)[:60]!r} is no name of a language; write, for example, Spanish."
        raise InputError(message)


def _accepted(reply: dict[str, Any], old: Sequence[Claim]) -> list[str]:
    ids = Counter(row["id"] for row in reply["sentences"])
    if ids != Counter(range(1, len(old) + 1)):
        raise RemoteError("the model did not give one sentence for each.")
    new = {row["id"]: row["text"] for row in reply["sentences"]}
    texts = []
    for n, claim in enumerate(old, start=1):
        text = _bare(new[n])
        if not text or len(text) > _GROWTH * len(claim.text) + 200:
            raise RemoteError("a sentence came back empty or far too long.")
        if invents_numbers(text, claim.text):
            raise RemoteError("a sentence came back with a number that it did not have.")
        texts.append(text)
    return texts


def _bare(text: str) -> str:
    """Plain text on one line, without any citation that the model may have put in."""
    plain = " ".join(without_markup(text).split())
    return without_labels(" ".join(p.text for p in read_citations(plain, ())))


def _composed(said: Answer, claims: Sequence[Claim]) -> str:
    """The new sentences in the layout of the old."""
    if not said.claims:
        return claims[0].text
    labels = {label for claim in claims for label in claim.citations}
    passages = [p for p in read_citations(said.text, labels) if p.is_claim]
    same = len(passages) == len(claims)
    parts = []
    for n, claim in enumerate(claims):
        before = passages[n].before if same else ("\n- " if "\n- " in f"\n{said.text}" else " ")
        parts.append(before + _shown(claim))
    return "".join(parts).strip()


def _shown(claim: Claim) -> str:
    marks = {"contradicted": f" [{CONTRADICTED}]", "not found": f" [{UNSUPPORTED}]"}
    cites = f" [{'; '.join(claim.citations)}]" if claim.citations else ""
    final = claim.text[-1] if claim.text[-1] in ".!?。！？" else ""
    return claim.text.removesuffix(final) + cites + marks.get(claim.verdict, "") + final
