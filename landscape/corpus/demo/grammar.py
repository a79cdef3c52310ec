"""Abstracts and titles from material and frames; remembers every sentence it has written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from random import Random
from typing import cast

from landscape.corpus.demo.cards import demo_data_folder, read_yaml
from landscape.corpus.demo.facilities import Trap, load_traps
from landscape.corpus.demo.material import ExhaustedError, Material
from landscape.corpus.demo.themes import Card, Story
from landscape.corpus.demo.wording import mend_articles, sentence_case, spin, title_case, to_latex
from landscape.errors import InputError

FEWEST_WORDS, MOST_WORDS = 92, 188
FEWEST_SENTENCES, MOST_SENTENCES = 5, 9
TRAP_SHARE = 0.22
LATEX_SHARE = 0.45
TITLE_CASE_SHARE = 0.42

_MARKS = re.compile("[\ue000-\ue1ff]")
_MARKED = re.compile("([\ue100-\ue1ff][^\ue000]*\ue000)")
_STRAY_SPACE = re.compile(r"\s+([,.;:?])")
_WORDS = re.compile(r"[a-z]+")
# Roles that an abstract can lose when it is too long, the first first.
_SPARE = (
    "method",
    "outlook",
    "theory_outlook",
    "target",
    "compare",
    "trend",
    "theory_method",
    "background",
    "rivals",
)
_PADDING = ("background", "outlook", "compare", "theory_test", "rivals", "gap")
_MEASURES = {
    "measure": {"=": "measure", "<": "limit", ">": "floor"},
    "theory_measure": {"=": "theory_measure", "<": "theory_limit", ">": "floor"},
    "simulation_measure": {"=": "simulation_measure", "<": "theory_limit", ">": "floor"},
    "review_range": {"=": "review_range", "<": "limit", ">": "floor"},
}
Grammar = dict[str, dict[str, list[str]]]


@cache
def load_grammar() -> Grammar:
    """The frames of ``grammar.yaml``.

    Raises
    ------
    InputError
        If a skeleton names a role that has no frames.

    Examples
    --------
    >>> "observation" in load_grammar()["skeletons"]
    True
    """
    grammar = cast(Grammar, read_yaml(demo_data_folder() / "grammar.yaml"))
    for kind, skeletons in grammar["skeletons"].items():
        for role in (role.strip("()") for skeleton in skeletons for role in skeleton):
            if role not in grammar["roles"]:
                raise InputError(f"grammar.yaml: skeleton {kind} names the unknown role {role!r}")
    return grammar


@dataclass(frozen=True)
class Text:
    """Title and abstract with the facility marks still in them (see ``facilities.unmark``)."""

    title: str
    abstract: str


@dataclass
class Writer:
    """Writes papers that share no sentence and no title.

    Attributes
    ----------
    sentences, titles : set of str
        What has been written so far, in lower case.
    """

    grammar: Grammar = field(default_factory=load_grammar)
    sentences: set[str] = field(default_factory=set)
    titles: set[str] = field(default_factory=set)

    def write(self, card: Card, story: Story, *, kind: str, date: float, rng: Random) -> Text:
        """Write one paper.

        Parameters
        ----------
        card, story : Card, Story
        kind : str
            A skeleton of the grammar: ``"observation"``, ``"theory"``, ``"review"``, ...
        date : float
            Decimal year.
        rng : random.Random

        Returns
        -------
        Text

        Raises
        ------
        InputError
            If the cards are too poor for one more paper of this theme.
        """
        for _ in range(60):
            material = Material(card, story, date=date, kind=kind, rng=rng, grammar=self.grammar)
            sentences = self._abstract(material, kind)
            if sentences is None:
                continue
            title = self._title(material, kind)
            if title is None:
                continue
            self.sentences.update(map(_key, sentences))
            self.titles.add(_key(title))
            abstract = " ".join(sentences)
            if rng.random() < LATEX_SHARE:
                return Text(to_latex(title), to_latex(abstract))
            return Text(title, abstract)
        raise InputError(
            f"{card.id}.yaml has too little material for another {kind} paper on {story.focus!r}: "
            "add facts, findings or alternatives, or generate fewer papers"
        )

    def _abstract(self, material: Material, kind: str) -> list[str] | None:
        rng = material.rng
        skeleton = rng.choice(self.grammar["skeletons"][kind])
        roles = [r.strip("()") for r in skeleton if not r.startswith("(") or rng.random() < 0.5]
        written: list[tuple[str, str]] = []
        for role in roles:
            sentence = self._sentence(material, role, written)
            if sentence is not None:
                written.append((role, sentence))
        self._insert_trap(material, written)
        self._fit(material, written, kind)
        sentences = [sentence for _, sentence in written]
        fits = (
            FEWEST_WORDS <= _words(sentences) <= MOST_WORDS
            and FEWEST_SENTENCES <= len(sentences) <= MOST_SENTENCES
        )
        return sentences if fits and _says_something(written, kind) else None

    def _sentence(
        self, material: Material, role: str, written: list[tuple[str, str]]
    ) -> str | None:
        """A new sentence for a role, or None where the material has run out."""
        if role in _MEASURES:
            measure = material.next_measure()
            if measure is None:
                return None
            role = _MEASURES[role][measure.kind]
        elif role in ("trend", "theory_trend"):
            trend = material.next_trend()
            if trend is None:
                return None
            role = role if trend.sign != "0" else "no_trend"
        openings = {_opening(sentence) for _, sentence in written}
        taken = {_key(sentence) for _, sentence in written}
        saved = material.snapshot()
        for _ in range(40):
            material.restore(saved)
            frame = material.rng.choice(self.grammar["roles"][role])
            if frame in material.frames or material.lacks(frame):
                continue
            try:
                sentence = _finished(material.fill(frame))
            except ExhaustedError:
                continue
            key = _key(sentence)
            fresh = key not in self.sentences and key not in taken
            if fresh and _opening(sentence) not in openings and _reads_well(sentence):
                material.frames.add(frame)
                return sentence
        material.restore(saved)
        return None

    def _insert_trap(self, material: Material, written: list[tuple[str, str]]) -> None:
        rng = material.rng
        traps = [trap for trap in load_traps() if material.card.id in trap.themes]
        if not traps or len(written) >= MOST_SENTENCES or rng.random() > TRAP_SHARE * len(traps):
            return
        sentence = self._trap_sentence(rng.choice(traps), rng)
        if sentence is not None:
            written.insert(max(len(written) - 1, 1), ("trap", sentence))

    def _trap_sentence(self, trap: Trap, rng: Random) -> str | None:
        for _ in range(20):
            sentence = _finished(spin(rng.choice(trap.sentences), rng))
            if _key(sentence) not in self.sentences:
                return sentence
        return None

    def _fit(self, material: Material, written: list[tuple[str, str]], kind: str) -> None:
        """Drop spare sentences from a long abstract, or add to a short one."""
        for role in _SPARE:
            for index in range(len(written) - 1, -1, -1):
                if _words(s for _, s in written) <= MOST_WORDS and len(written) <= MOST_SENTENCES:
                    break
                if written[index][0] == role:
                    del written[index]
        theoretical = kind in ("theory", "simulation")
        for role in _PADDING:
            if _words(s for _, s in written) >= FEWEST_WORDS and len(written) >= FEWEST_SENTENCES:
                return
            if (role == "theory_test") is not theoretical and role in ("theory_test", "compare"):
                continue
            sentence = self._sentence(material, role, written)
            if sentence is not None:
                place = {"background": 0, "rivals": 1, "gap": 1}.get(role, len(written))
                written.insert(place, (role, sentence))

    def _title(self, material: Material, kind: str) -> str | None:
        rng = material.rng
        frames = self.grammar["titles"]
        material.renew()
        for _ in range(60):
            frame = rng.choice(
                frames["any"] if kind != "review" and rng.random() < 0.3 else frames[kind]
            )
            try:
                title = material.fill(frame)
            except ExhaustedError:
                continue
            title = _finished(_tidy_title(title, rng)).removesuffix(".")
            plain = _plain(title)
            if _key(title) in self.titles or not 18 <= len(plain) <= 165 or _stutters(plain):
                continue
            return _title_case(title) if rng.random() < TITLE_CASE_SHARE else title
        return None


def _finished(text: str) -> str:
    """Capital, articles, no stray spaces, one full stop."""
    return sentence_case(mend_articles(_STRAY_SPACE.sub(r"\1", text).strip()))


def _title_case(title: str) -> str:
    """Capitals for the words of a title, facility names left as they are."""
    pieces = _MARKED.split(title)
    pieces[::2] = [title_case(piece, opening=not i) for i, piece in enumerate(pieces[::2])]
    return "".join(pieces)


def _tidy_title(title: str, rng: Random) -> str:
    title = title.replace("?:", "?")
    if title.startswith("the ") and rng.random() < 0.4:
        title = title[4:]
    parts = re.split(r"(?<=[?.:]) ", title)
    return (
        " ".join(
            sentence_case(part) if parts[i - 1][-1] in "?." else part
            for i, part in enumerate(parts)
        )
        if len(parts) > 1
        else title
    )


def _says_something(written: list[tuple[str, str]], kind: str) -> bool:
    """No abstract without a result and a method, whatever had to be left out."""
    roles = {role for role, _ in written}
    has_result = any("measure" in r or "finding" in r or "trend" in r for r in roles)
    if kind == "review":
        return "review_content" in roles
    has_aim = any(r.endswith(("aim", "ask", "plain", "present")) for r in roles)
    return has_result and has_aim


def _reads_well(sentence: str) -> bool:
    plain = _plain(sentence)
    return not _stutters(plain) and 5 <= len(plain.split()) <= 52


def _stutters(text: str) -> bool:
    """Doubled words, a long word three times, or two long words twice in one sentence."""
    words = _WORDS.findall(text.lower())
    if any(first == second for first, second in pairwise(words)):
        return True
    long_words = [word for word in words if len(word) > 5]
    repeated = {word for word in long_words if long_words.count(word) > 1}
    return len(repeated) > 1 or any(long_words.count(word) > 2 for word in repeated)


def _opening(sentence: str) -> str:
    return " ".join(_plain(sentence).lower().split(None, 2)[:2])


def _key(sentence: str) -> str:
    return _plain(sentence).lower().strip(" .")


def _plain(text: str) -> str:
    """The text without facility marks; most sentences have none."""
    return _MARKS.sub("", text) if "\ue000" in text else text


def _words(sentences: Iterable[str]) -> int:
    return sum(sentence.count(" ") + 1 for sentence in sentences)
