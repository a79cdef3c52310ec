"""Name groups of papers by phrases that cover the group and distinguish it from others."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from landscape.corpus.facilities import is_known_name
from landscape.corpus.thesaurus import embedded_thesaurus
from landscape.mapping.phrases import (
    QUANTITIES,
    UNTELLING,
    PhraseTable,
    broadened,
    count_phrases,
    score_phrases,
)
from landscape.text.keywords import MAX_PHRASE
from landscape.text.words import normal_form, normal_forms, read_sections, singular

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

_LISTS = read_sections("regions")
VAGUE = frozenset(_LISTS["vague"])
PEOPLE = frozenset(_LISTS["people"])


@dataclass(frozen=True)
class NameSettings:
    """Weights and thresholds for choosing names, selected with ``benchmarks/regions.py``."""

    many_papers: int = 5000  # of a group that are compared with second subjects
    # minimum share of a group's papers that have the phrase itself
    least_share: tuple[float, float] = (0.01, 0.002)
    # a name in a smaller share of the papers gets a penalty
    common_share: tuple[float, float] = (0.3, 0.5)
    # penalty for each factor e below `common_share`
    rare: tuple[float, float] = (0.1, 0.04)
    # a name with a smaller share of the papers with its last words gets a penalty: of the papers
    # about galaxies in a group, few may be about dwarf galaxies
    least_of_head: float = 0.25
    narrow: tuple[float, float] = (0.07, 0.0)  # penalty for each factor e below `least_of_head`
    lexical: float = 0.05  # weight of the lexical score, relative to the best phrase of the group
    # weight of the similarity to the papers that have the phrase
    usage: tuple[float, float] = (0.2, 0.2)
    # weight of the F-score of the papers that have the phrase, relative to the best phrase
    agreement: float = 0.2
    # importance of recall relative to precision in the F-score (van Rijsbergen 1979)
    recall: tuple[float, float] = (0.5, 1.0)
    # weight of the evenness over the parts of the group
    evenness: tuple[float, float] = (0.15, 0.3)
    field_share: float = 0.33  # minimum share of a group's papers in a field of the thesaurus
    field: float = 0.05  # credit of a field
    singular: float = 0.05  # penalty of a singular, if most phrases have the plural of the word
    concept: float = 0.02  # credit of a name of a thesaurus concept
    quantity: float = 0.2  # penalty of a quantity, a means or a facility
    # penalty for each factor e by which narrower concepts increase the number of papers
    indirect: tuple[float, float] = (0.06, 0.0)
    unspecific: float = 0.1  # penalty if the phrase is less than `least_lift` times as frequent
    # for regions, and for continents: minimum gain in similarity by a second subject
    second_gain: tuple[float, float] = (0.04, 0.03)
    # minimum frequency relative to other groups
    least_lift: tuple[float, float] = (3.0, 2.5)
    second_share: float = 0.3  # minimum share of the papers for which the second subject is better
    second_agreement: tuple[float, float] = (0.5, 0.2)  # weight of the F-score of a second subject
    # minimum F-score of a second subject, relative to the first
    second_least: tuple[float, float] = (0.2, 0.25)
    # minimum share of its papers that have the second subject itself, not a narrower concept
    second_direct: tuple[float, float] = (0.1, 0.0)
    # maximum share of the papers of a subject that have the other subject
    most_shared: tuple[float, float] = (0.7, 0.8)
    most_similar: float = 0.6  # maximum cosine of the two subjects of a name
    rivals: int = 3  # number of other groups that a name is compared with
    main_share: float = 0.5  # minimum share of the papers of a group with its main subject
    main_own: float = 0.75  # minimum agreement of the main subject, relative to the group above
    inertia: float = 0.15  # an old name remains if no name has more additional merit
    wanted: float = 0.2  # penalty of a name that a larger group also needs
    longest: int = 60  # characters


_SETTINGS = NameSettings()


@dataclass(frozen=True)
class Namer:
    """Names groups of papers by phrases. Papers and phrases are compared by their embeddings.

    `embed` embeds texts with the model of `vectors`. Without it, names are chosen by the
    frequencies of phrases alone.
    """

    table: PhraseTable
    vectors: NDArray[np.float32] | None = None
    embed: Callable[[Sequence[str]], NDArray[np.float32] | None] | None = None

    def name(
        self,
        group: NDArray[np.integer],
        neighbours: Sequence[Sequence[int]],
        *,
        taken: Collection[str] = (),
        wanted: Collection[str] = (),
        fields: bool = False,
        pairs: bool = True,
        parts: NDArray[np.integer] | None = None,
        above: NDArray[np.integer] | None = None,
        old: Mapping[int, str] | None = None,
        fallback: str = "Region",
    ) -> tuple[list[str], list[list[str]]]:
        """Give each group of papers a unique name, and a list of distinctive keywords.

        A phrase gets credit for its mean similarity to the papers of the group, for the difference
        to the three other groups that it fits best, for its frequency and for its form. It gets
        credit if its papers agree with those of the group, and if it is frequent in all `parts` of
        the group. A second phrase is added if it fits many papers of the group clearly better than
        the first. Only with `fields`, a name can be that of a field of research, such as "Solar
        physics". With `above`, the larger groups of the papers, a phrase whose papers agree better
        with the larger group is not a name. An `old` name of a group remains unless another is
        clearly better. Names `wanted` by larger groups are used only if they are clearly better.
        """
        n_groups, forms = len(neighbours), self._wide.forms
        group = np.asarray(group)
        ranked = self._candidates(group, neighbours, fields, parts)
        keywords: list[list[str]] = [[] for _ in range(n_groups)]
        for number, found in ranked.groupby("region"):
            several = _distinct(self._wide, found["phrase"].tolist(), 12)
            keywords[int(number)] = [self._wide.shown[phrase] for phrase in several]
        allowed = [self._names_a_subject(phrase) for phrase in ranked["phrase"]]
        ranked = ranked[ranked["is_most"] & np.array(allowed, dtype=bool)]
        ranked = ranked[~self._is_spelled_out(ranked)]
        is_own = True if above is None else self._is_own(ranked, group, above)
        subjects = [part for name in wanted for part in (name, *name.split(" and "))]
        is_wanted = np.isin(forms[ranked["phrase"]].astype(str), normal_forms(subjects))
        ranked = ranked.assign(is_own=is_own, merit=ranked["merit"] - _SETTINGS.wanted * is_wanted)
        ranked = ranked.sort_values("merit", ascending=False, kind="stable")
        if fields:  # as "cosmic inflation" for a continent with the region "Inflation"
            inner = [set(form.split(" ")) for form in normal_forms(list(taken))]
            split_forms = [set(form.split(" ")) for form in forms[ranked["phrase"]]]
            holds = [any(some <= form for some in inner) for form in split_forms]
            ranked = ranked[~np.array(holds, dtype=bool)]
        subjects = [part for name in taken for part in (name, *name.split(" and "))]
        used = {_sorted_words(form) for form in normal_forms(subjects)}
        names = [f"{fallback} {number + 1}" for number in range(n_groups)]
        kept: set[int] = set()
        for number, name in (old or {}).items():
            own = ranked[ranked["region"] == number]
            merit = dict(zip(forms[own["phrase"]], own["merit"], strict=True))
            subjects = normal_forms(name.split(" and "))
            free = {_sorted_words(subject) for subject in subjects if subject in merit} - used
            good = own.loc[own["is_own"], "merit"].max() - _SETTINGS.inertia
            if len(free) == len(subjects) and merit[subjects[0]] >= good:
                names[number] = name
                kept.add(number)
                used |= free
        first: dict[int, int] = {}
        ranked = ranked[ranked["is_own"] & ~ranked["region"].isin(kept)]
        for number, phrase in zip(ranked["region"], ranked["phrase"], strict=True):
            if number not in first and _sorted_words(forms[phrase]) not in used:
                first[int(number)] = int(phrase)
                used.add(_sorted_words(forms[phrase]))
        for number, phrase in sorted(first.items()):
            names[number] = capitalised(self._wide.shown[phrase])
            if not pairs:
                continue
            room = _SETTINGS.longest - len(names[number]) - len(" and ")
            own = ranked[ranked["region"] == number]
            for second in self._seconds(np.flatnonzero(group == number), own, phrase, fields):
                shown = self._wide.shown[second]
                if _sorted_words(forms[second]) not in used and len(shown) <= room:
                    names[number] += f" and {shown}"
                    used.add(_sorted_words(forms[second]))
                    break
        return names, keywords

    def concept_shares(self, group: NDArray[np.integer], n_groups: int) -> NDArray[np.float64]:
        """Return the square roots of the shares of concepts among the papers of each group.

        The concepts are those of the second level of the thesaurus. The distance of two rows is the
        Hellinger distance. A group without concepts has zeros.
        """
        counts = count_phrases(self._wide, group, n_groups, len(self._wide.forms))
        counts = counts[:, self._concepts].toarray()
        return np.sqrt(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))

    def _candidates(
        self,
        group: NDArray[np.integer],
        neighbours: Sequence[Sequence[int]],
        fields: bool,
        parts: NDArray[np.integer] | None,
    ) -> pd.DataFrame:
        """Return the phrases of each group with their merit as a name."""
        ranked = score_phrases(self._wide, group, neighbours)
        if ranked.empty:
            return ranked.assign(merit=0.0, is_most=True, is_best=True, even=1.0, agreement=0.0)
        direct = count_phrases(self.table, group, len(neighbours), len(self._wide.forms))
        papers = np.bincount(group[group >= 0], minlength=len(neighbours))
        itself = np.asarray(direct[ranked["region"], ranked["phrase"]]).ravel()
        least = np.maximum(_SETTINGS.least_share[fields] * papers[ranked["region"]], 1)
        ranked = ranked.assign(direct=itself)[itself >= least].reset_index(drop=True)
        lexical = ranked["score"] / ranked.groupby("region")["score"].transform("max").abs()
        precision = ranked["n"] / self._uses[ranked["phrase"]]
        is_field = np.isin(ranked["phrase"], self._fields)
        square = _SETTINGS.recall[fields] ** 2
        agreement = (1 + square) * precision * ranked["share"]
        agreement /= square * precision + ranked["share"]
        even = np.ones(len(ranked)) if parts is None else self._evenness(group, parts, ranked)
        is_best = agreement == agreement.groupby(ranked["phrase"]).transform("max")
        is_most = ~is_field | (is_best & (ranked["share"] >= _SETTINGS.field_share))
        best = agreement.where(is_most, 0).groupby(ranked["region"]).transform("max")
        ranked = ranked.assign(is_most=is_most, even=even, agreement=agreement, is_best=is_best)
        covers = np.zeros(len(ranked))
        if parts is not None:
            covers += _SETTINGS.agreement * agreement / best.clip(lower=1e-9)
            covers += _SETTINGS.evenness[fields] * even
        phrases, place = np.unique(ranked["phrase"], return_inverse=True)
        if self.vectors is None or not self._embed(phrases):
            return ranked.assign(merit=lexical + covers)
        texts = np.array([self._texts[phrase] for phrase in phrases.tolist()])
        close = mean_vectors(self.vectors, group, len(neighbours)) @ texts.T
        nearest = -np.sort(-close, axis=0)[: _SETTINGS.rivals + 1]
        rivals = np.where(close >= nearest[-1], nearest.sum(axis=0) - close, nearest[:-1].sum(0))
        special = close - rivals / max(len(nearest) - 1, 1)
        penalty = np.array(
            [_penalty(self._wide.forms[p], self._wide.shown[p], fields) for p in phrases]
        )
        least_lift = _SETTINGS.least_lift[fields]
        rare = np.log(np.minimum(ranked["share"] / _SETTINGS.common_share[fields], 1))
        usage = self._usage(group, phrases, len(neighbours))
        narrow = np.log(np.maximum(_SETTINGS.least_of_head * self._head_ratio(ranked), 1))
        return ranked.assign(
            merit=(close + special)[ranked["region"], place]
            + _SETTINGS.usage[fields] * usage[ranked["region"], place]
            + _SETTINGS.rare[fields] * rare
            + _SETTINGS.lexical * lexical
            + covers
            - _SETTINGS.narrow[fields] * narrow
            - _SETTINGS.unspecific * np.log(np.maximum(least_lift / ranked["lift"], 1))
            - penalty[place]
            + _SETTINGS.indirect[fields] * np.log(ranked["direct"] / ranked["n"])
            + _SETTINGS.concept * self._is_concept[ranked["phrase"]]
            + _SETTINGS.field * is_field
            - _SETTINGS.singular * self._is_cut[ranked["phrase"]]
        )

    def _head_ratio(self, ranked: pd.DataFrame) -> NDArray[np.float64]:
        """Return how many times as many papers of the group have the last words of each phrase."""
        regions, phrases = (ranked[name].to_numpy() for name in ("region", "phrase"))
        share = dict(zip(zip(regions, phrases, strict=True), ranked["share"], strict=True))
        ratio = np.ones(len(ranked))
        for place, (region, phrase) in enumerate(zip(regions, phrases, strict=True)):
            words = self._wide.forms[phrase].split(" ")
            heads = (self._number.get(" ".join(words[at:])) for at in range(1, len(words)))
            known = [share[region, head] for head in heads if (region, head) in share]
            ratio[place] = max(known, default=0.0) / share[region, phrase]
        return ratio

    def _evenness(
        self, group: NDArray[np.integer], parts: NDArray[np.integer], ranked: pd.DataFrame
    ) -> NDArray[np.float64]:
        """Return 1 if a phrase is equally frequent in all parts of a group, less if in some.

        The frequency in each part counts up to the frequency in the group.
        """
        known = np.flatnonzero((group >= 0) & (parts >= 0))
        n_parts = int(parts.max(initial=-1)) + 1
        above = np.full(n_parts, -1, dtype=np.int64)
        above[parts[known]] = group[known]
        size = np.bincount(parts[known], minlength=n_parts).astype(np.float64)
        counts = count_phrases(self._wide, parts, n_parts, len(self._wide.forms)).tocsc()
        even = np.zeros(len(ranked))
        for number, rows in ranked.groupby("region").indices.items():
            inside = np.flatnonzero(above == number)
            n = counts[:, ranked["phrase"].to_numpy()[rows]][inside].toarray()
            share = ranked["share"].to_numpy()[rows]
            even[rows] = np.minimum(n, size[inside, None] * share).sum(0) / size[inside].sum()
            even[rows] /= share
        return even

    def _is_own(
        self, ranked: pd.DataFrame, group: NDArray[np.integer], above: NDArray[np.integer]
    ) -> NDArray[np.bool_]:
        """Mark phrases whose papers agree at least as well with the group as with that above it.

        A phrase of most papers of the group that agrees best with it needs less agreement.
        """
        phrase, scores = ranked["phrase"].to_numpy(), []
        n_groups, known = int(group.max(initial=-1)) + 1, group >= 0
        parent = np.zeros(n_groups, dtype=np.int64)
        parent[group[known]] = above[known]
        own = ranked["region"].to_numpy()
        for level, number in ((group, own), (above, parent[own])):
            n = int(level.max(initial=-1)) + 1
            counts = count_phrases(self._wide, level, n, len(self._wide.forms))
            both = np.asarray(counts[number, phrase]).ravel()
            size = np.bincount(level[level >= 0], minlength=n)[number]
            scores.append(2 * both / (size + self._uses[phrase]))  # Dice 1945, Ecology 26, 297
        is_main = ranked["is_best"] & (ranked["share"] >= _SETTINGS.main_share)
        return np.asarray(scores[0] >= np.where(is_main, _SETTINGS.main_own, 1) * scores[1])

    def _names_a_subject(self, phrase: int) -> bool:
        """Return whether a phrase is a subject, not people, a facility or part of a phrase."""
        form, shown = self._wide.forms[phrase], self._wide.shown[phrase]
        words, (_, *others) = form.split(" "), shown.split(" ")
        if (
            form in UNTELLING
            or words[-1] in PEOPLE
            or (shown != shown.lower() and is_known_name(shown))
        ):
            return False
        if others and words[-1] in QUANTITIES:
            is_titled = shown[:1].isupper() and others[-1][:1].isupper()
            if is_titled or is_known_name(shown.rpartition(" ")[0]):
                return False  # as "Large Telescope" and "Chandra observations"
        if phrase in self._beginnings:
            return False
        if len(others) < MAX_PHRASE - 1:
            return True
        # A keyphrase of the greatest length can be cut from a longer phrase.
        inner = self._number.get(normal_form(" ".join(others)))
        return inner is None or self._uses[inner] < 2 * self._uses[phrase]

    def _is_spelled_out(self, ranked: pd.DataFrame) -> NDArray[np.bool_]:
        """Mark acronyms of which the words are another candidate of the group."""
        shown, regions = self._wide.shown[ranked["phrase"]], ranked["region"].tolist()
        initials = {
            (region, "".join(word[0] for word in re.split("[ -]", name)).lower())
            for region, name in zip(regions, shown, strict=True)
            if " " in name
        }
        return np.array(
            [
                _is_symbol(name) and (region, name.removesuffix("s").lower()) in initials
                for region, name in zip(regions, shown, strict=True)
            ],
            dtype=bool,
        )

    def _usage(
        self, group: NDArray[np.integer], phrases: NDArray[np.integer], n_groups: int
    ) -> NDArray[np.float64]:
        """Return the cosines of the papers of each group with the papers that have a phrase."""
        if self.vectors is None:
            return np.zeros((n_groups, len(phrases)))
        member = self._membership.T.tocsr()[phrases]
        width = 65536
        sums = sum(
            member[:, start : start + width] @ np.asarray(self.vectors[start : start + width])
            for start in range(0, len(self.vectors), width)
        )
        users = sums / np.maximum(np.asarray(member.sum(axis=1)), 1)
        means = mean_vectors(self.vectors, group, n_groups)
        centre = means.mean(axis=0)
        users, means = users - centre, means - centre
        users /= np.maximum(np.linalg.norm(users, axis=1, keepdims=True), 1e-9)
        means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9)
        return np.asarray(means @ users.T)

    def _seconds(
        self, papers: NDArray[np.int64], ranked: pd.DataFrame, first: int, fields: bool
    ) -> list[int]:
        """Return phrases that fit many papers clearly better than the first phrase of a name."""
        if first in self._fields:
            return []  # a field is only a name if it has most of the papers
        import pandas as pd

        several = pd.concat([ranked[:30], ranked[ranked["phrase"] == first][:1]])
        phrases, merit = (several[name].to_numpy() for name in ("phrase", "merit"))
        even = several["even"].iloc[-1]
        agreement = several["agreement"].to_numpy()
        if self.vectors is not None and first in self._texts:
            texts = np.array([self._texts[phrase] for phrase in phrases.tolist()])
            few = papers[:: max(1, len(papers) // _SETTINGS.many_papers)]
            close = np.asarray(self.vectors[few]) @ texts.T
            alike = texts @ texts[-1] >= _SETTINGS.most_similar
        else:
            close = self._membership[papers][:, phrases].toarray()
            alike = np.zeros(len(phrases), dtype=bool)
        words = [set(form.split(" ")) for form in self._wide.forms[phrases]]
        shared = np.array(
            [len(some & words[-1]) / min(len(some), len(words[-1])) for some in words]
        )
        alike |= shared >= 0.5
        gain = np.maximum(close - close[:, -1:], 0)
        has = self._membership[papers][:, phrases]
        both = np.asarray(has.T @ has[:, [-1]].toarray()).ravel()
        uses = np.asarray(has.sum(axis=0)).ravel()
        # Each subject needs papers that the other subject does not have.
        alike |= both > _SETTINGS.most_shared[fields] * np.minimum(uses, uses[-1])
        # A subject that is much less typical than the first is not a second subject.
        alike |= agreement < _SETTINGS.second_least[fields] * agreement[-1]
        fits = (gain > 0).mean(axis=0) >= _SETTINGS.second_share
        # A first subject that few parts of the group have needs a second subject more.
        fits &= gain.mean(axis=0) > _SETTINGS.second_gain[fields] * even
        alike |= self._is_cut[phrases]
        direct = (several["direct"] / several["n"]).to_numpy()
        alike |= direct < _SETTINGS.second_direct[fields]
        # The papers with the subject agree best with this group.
        alike |= ~several["is_best"].to_numpy(dtype=bool)
        # A measured quantity, such as dust masses, is not a subject, unless it is a concept.
        heads = [form.rpartition(" ")[2] for form in self._wide.forms[phrases]]
        alike |= ~self._is_concept[phrases] & np.isin(heads, list(QUANTITIES))
        # A symbol, an acronym or a proper name, such as Fe/H, PTAs or Bayesian, explains nothing
        # beside another subject.
        alike |= ~self._is_concept[phrases] & np.array(
            [self._wide.shown[one].rpartition(" ")[2][0].isupper() for one in phrases], dtype=bool
        )
        fits = (fits | ((uses - both >= uses[-1]) & (agreement >= agreement[-1]))) & ~alike
        value = gain.mean(axis=0) + 0.25 * merit + _SETTINGS.second_agreement[fields] * agreement
        some = ranked[:30].assign(value=value[:-1])[fits[:-1]].sort_values("value", ascending=False)
        return [int(phrase) for phrase in some["phrase"]]

    def _embed(self, phrases: NDArray[np.integer]) -> bool:
        """Embed the phrases that were not embedded before; return whether this succeeded."""
        new = [phrase for phrase in phrases.tolist() if phrase not in self._texts]
        if new and self.embed is not None:
            found = self.embed([capitalised(self._wide.shown[phrase]) for phrase in new])
            self._texts.update(zip(new, () if found is None else found, strict=False))
        return len(phrases) > 0 and all(phrase in self._texts for phrase in phrases.tolist())

    @cached_property
    def _texts(self) -> dict[int, NDArray[np.float32]]:
        """Embeddings of phrases that were candidates for a name."""
        return {}

    @cached_property
    def _wide(self) -> PhraseTable:
        return broadened(self.table)

    @cached_property
    def _number(self) -> dict[str, int]:
        return {form: place for place, form in enumerate(self._wide.forms)}

    @cached_property
    def _uses(self) -> NDArray[np.int64]:
        return np.bincount(self._wide.phrase, minlength=len(self._wide.forms))

    @cached_property
    def _is_cut(self) -> NDArray[np.bool_]:
        """Mark phrases that end with the singular of a word that is mostly a plural at the end.

        Most of them are part of a longer phrase, as "historical sunspot" of "sunspot records".
        """
        last = [shown.lower().rpartition(" ")[2] for shown in self._wide.shown]
        is_plural = np.array([singular(word) != word for word in last], dtype=bool)
        _, head = np.unique([singular(word) for word in last], return_inverse=True)
        plural = np.bincount(head, weights=self._uses * is_plural)
        is_cut = ~is_plural & (plural[head] > np.bincount(head, weights=self._uses)[head] / 2)
        return is_cut & ~self._is_concept

    @cached_property
    def _beginnings(self) -> set[int]:
        """Singular phrases that are rarer than a longer one, as "neutron" than "neutron star"."""
        own = np.bincount(self.table.phrase, minlength=len(self._wide.forms))
        longer = np.zeros(len(own), dtype=np.int64)
        for form, uses in zip(self._wide.forms, own, strict=True):
            beginning = self._number.get(form.rpartition(" ")[0], -1)
            if beginning >= 0:
                longer[beginning] = max(longer[beginning], uses)
        found = np.flatnonzero((longer > own) & ~self._is_concept)
        last = ((phrase, self._wide.shown[phrase].rpartition(" ")[2]) for phrase in found.tolist())
        return {phrase for phrase, word in last if singular(word) == word}

    @cached_property
    def _is_concept(self) -> NDArray[np.bool_]:
        """Mark phrases that are names of thesaurus concepts."""
        names = [
            name for concept in embedded_thesaurus().concepts.values() for name in concept.names
        ]
        return np.isin(self._wide.forms.astype(str), normal_forms(names))

    @cached_property
    def _fields(self) -> list[int]:
        """Phrases that are fields of research: concepts without a broader concept."""
        return self._phrases_of(embedded_thesaurus().top)

    @cached_property
    def _concepts(self) -> list[int]:
        """Phrases that are concepts directly below the fields of research."""
        thesaurus = embedded_thesaurus()
        return self._phrases_of(one for top in thesaurus.top for one in thesaurus.narrower(top))

    def _phrases_of(self, concepts: Iterable[str]) -> list[int]:
        labels = [embedded_thesaurus().concepts[one].label for one in dict.fromkeys(concepts)]
        return [self._number[form] for form in normal_forms(labels) if form in self._number]

    @cached_property
    def _membership(self) -> csr_matrix:
        from scipy import sparse

        table = self._wide
        shape = (table.n_papers, len(table.forms))
        return sparse.csr_matrix((np.ones(len(table.paper)), (table.paper, table.phrase)), shape)


def mean_vectors(
    vectors: NDArray[np.float32], group: NDArray[np.integer], n_groups: int, block: int = 65536
) -> NDArray[np.float64]:
    """Return the mean embedding of each group; the vectors are read in blocks."""
    from scipy import sparse

    sums = np.zeros((n_groups, vectors.shape[1]))
    for start in range(0, len(vectors), block):
        here = group[start : start + block]
        rows = np.flatnonzero(here >= 0)
        member = sparse.csr_matrix(
            (np.ones(len(rows), dtype=np.float32), (here[rows], rows)), (n_groups, len(here))
        )
        sums += member @ np.asarray(vectors[start : start + block])
    papers = np.bincount(group[group >= 0], minlength=n_groups)
    return np.asarray(sums / np.maximum(papers, 1)[:, None])


def _penalty(form: str, shown: str, fields: bool) -> float:
    """Return the penalty of a phrase that names a quantity or an acronym, or is vague or long."""
    words = form.split(" ")
    penalty = _SETTINGS.quantity if words[-1] in QUANTITIES else 0.0
    if len(words) == 1:
        penalty += 0.09 if shown[:2].isupper() else 0.0 if shown.endswith(("s", "ae")) else 0.03
    if len(words) >= 4:
        penalty += 0.03
    if sum(word[:1].isupper() and word[1:].islower() for word in shown.split(" ")) >= 2:
        penalty += 0.05  # the name of an instrument, a survey or a place
    if VAGUE & {words[0], words[-1]} and not fields:
        penalty += 0.08
    return penalty


def _sorted_words(form: str) -> str:
    return " ".join(sorted(form.split(" ")))


def _is_symbol(phrase: str) -> bool:
    """Return whether a phrase is one word with two capitals, or with a capital and a slash."""
    return " " not in phrase and sum(map(str.isupper, phrase)) + ("/" in phrase) > 1


def capitalised(phrase: str) -> str:
    """Capitalise the first letter of a phrase, unless the first word has a special spelling."""
    first = phrase.split(" ")[0].split("-")[0]
    if first != first.lower() or not phrase[:1].isascii():
        return phrase  # an acronym, a proper name or a symbol
    return phrase[:1].upper() + phrase[1:]


def _distinct(table: PhraseTable, phrases: Sequence[int], limit: int) -> list[int]:
    """Return up to `limit` phrases; skip phrases that contain or are part of an earlier phrase."""
    chosen: dict[int, set[str]] = {}
    for phrase in phrases:
        if len(chosen) >= limit:
            break
        words = set(table.forms[phrase].split(" "))
        if not any(words <= other or words >= other for other in chosen.values()):
            chosen[phrase] = words
    return list(chosen)
