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
from landscape.text.keywords import MAX_PHRASE
from landscape.text.words import normal_form, normal_forms, read_sections, singular

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

_LISTS = read_sections("regions")
UNTELLING = frozenset(_LISTS["untelling"])
QUANTITIES = frozenset(_LISTS["quantity"])
VAGUE = frozenset(_LISTS["vague"])
PEOPLE = frozenset(_LISTS["people"])


@dataclass(frozen=True)
class NameSettings:
    """Weights and thresholds for choosing names, selected with ``benchmarks/regions.py``."""

    many_papers: int = 5000
    # minimum share of a group's papers that have the phrase itself
    least_share: tuple[float, float] = (0.01, 0.002)
    # a name in a smaller share of the papers gets a penalty
    common_share: tuple[float, float] = (0.2, 0.5)
    # penalty for each factor e below `common_share`
    rare: tuple[float, float] = (0.06, 0.04)
    lexical: float = 0.05  # weight of the lexical score, relative to the best phrase of the group
    # weight of the similarity to the papers that have the phrase
    usage: tuple[float, float] = (0.2, 0.2)
    # weight of the F-score of the papers that have the phrase, relative to the best phrase
    agreement: float = 0.2
    # importance of recall relative to precision in the F-score (van Rijsbergen 1979)
    recall: tuple[float, float] = (0.5, 1.0)
    # weight of the evenness over the parts of the group
    evenness: tuple[float, float] = (0.15, 0.3)
    # minimum share of a group's papers in a field of the thesaurus, and of the field's in the group
    field_share: float = 0.33
    singular: float = 0.05  # penalty of a singular, if most phrases have the plural of the word
    concept: float = 0.02  # credit of a name of a thesaurus concept
    quantity: float = 0.2  # penalty of a quantity, a means or a facility
    # penalty for each factor e by which narrower concepts increase the number of papers
    indirect: tuple[float, float] = (0.02, 0.0)
    unspecific: float = 0.1  # penalty if the phrase is less than `least_lift` times as frequent
    # for regions, and for continents: minimum gain in similarity by a second subject
    second_gain: tuple[float, float] = (0.04, 0.03)
    # minimum frequency relative to other groups
    least_lift: tuple[float, float] = (3.0, 2.5)
    second_share: float = 0.3  # minimum share of the papers for which the second subject is better
    second_agreement: tuple[float, float] = (0.5, 0.2)  # weight of the F-score of a second subject
    most_similar: float = 0.6  # maximum cosine of the two subjects of a name
    rivals: int = 3  # number of other groups that a name is compared with
    inertia: float = 0.15  # an old name remains if no name has more additional merit
    # minimum frequency of a broader concept, relative to a concept that is directly below a field
    least_own: float = 0.2
    longest: int = 60  # characters


_SETTINGS = NameSettings()
_DATA_RELEASE = re.compile(r"e?dr\d+")


@dataclass(frozen=True)
class PhraseTable:
    """Distinct pairs of papers and phrases, with the normal form and spelling of each phrase."""

    paper: NDArray[np.int64]
    phrase: NDArray[np.int64]
    forms: NDArray[np.object_]
    shown: NDArray[np.object_]
    promise: NDArray[np.float64]
    n_papers: int


def phrase_table(keywords: pa.Array | Sequence[Sequence[str]], *, fewest: int = 2) -> PhraseTable:
    """Collect the pairs of papers and phrases from the keywords of n papers."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(keywords, pa.ChunkedArray):
        keywords = keywords.combine_chunks()
    if not isinstance(keywords, pa.Array):
        keywords = pa.array([list(words) for words in keywords], type=pa.list_(pa.string()))
    n_papers = len(keywords)
    paper = np.asarray(pc.list_parent_indices(keywords)).astype(np.int64)
    encoded = pc.list_flatten(keywords).dictionary_encode()
    surface = np.asarray(encoded.indices.fill_null(0)).astype(np.int64)
    surfaces = np.array(encoded.dictionary.to_pylist(), dtype=object)
    uses = np.bincount(surface, minlength=len(surfaces))
    # In a large corpus, most spellings occur once and cannot become names. Omitting them here
    # saves most of the time. In a small corpus, the counts of rare spellings of a form are added.
    kept_surface = np.flatnonzero(uses >= (fewest if n_papers > _SETTINGS.many_papers else 1))
    if len(kept_surface) == 0:
        nothing = np.zeros(0, dtype=np.int64)
        none = np.zeros(0, dtype=object)
        return PhraseTable(nothing, nothing, none, none, np.zeros(0), n_papers)
    surfaces, uses = surfaces[kept_surface], uses[kept_surface]
    form_of_surface, forms = pd.factorize(np.array(normal_forms(surfaces.tolist()), dtype=object))
    frequent = np.bincount(form_of_surface, weights=uses, minlength=len(forms)) >= fewest
    # Use the most frequent spelling of each form, but prefer plurals and ASCII characters, unless
    # they are rare. Ties are resolved by alphabetical order.
    usual = np.array([_preference(text) for text in surfaces])
    order = np.lexsort((surfaces.astype(str), -uses * usual))[::-1]
    shown = np.empty(len(forms), dtype=object)
    shown[form_of_surface[order]] = surfaces[order]

    form_of = np.full(len(encoded.dictionary), -1, dtype=np.int64)
    form_of[kept_surface] = form_of_surface
    form = form_of[surface]
    known = (form >= 0) & np.append(frequent, False)[form]
    paper, form = paper[known], form[known]
    # Encode each pair as one number, because sorting numbers removes duplicates quickly.
    direct = _sorted_unique(paper * len(forms) + form)
    outer, inner = _contained(forms, np.bincount(direct % len(forms), minlength=len(forms)))
    starts = np.searchsorted(outer, direct % len(forms), side="left")
    counts = np.searchsorted(outer, direct % len(forms), side="right") - starts
    within = inner[np.repeat(starts, counts) + _ramps(counts)]
    pairs = _sorted_unique(
        np.concatenate([direct, np.repeat(direct // len(forms), counts) * len(forms) + within])
    )
    form = pairs % len(forms)
    occurs = np.bincount(form, minlength=len(forms)) > 0
    phrase = (np.cumsum(occurs) - 1)[form]
    forms, shown = forms[occurs], shown[occurs]
    return PhraseTable(
        pairs // len(frequent), phrase, forms, shown, _promise(forms, shown), n_papers
    )


def _sorted_unique(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return sorted distinct numbers; sorting is ten times as fast as hashing in `numpy.unique`."""
    ordered = np.sort(numbers)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def _preference(spelling: str) -> float:
    """Return a factor for the uses of a spelling: plurals are preferred, title case is not."""
    last = spelling.split(" ")[-1]
    plural = 3.0 if last.endswith(("s", "ae")) and not last.endswith(("ss", "us", "is")) else 1.0
    titled = 0.3 if " " in spelling and last[:1].isupper() and last[1:].islower() else 1.0
    return plural * titled * (2.0 if spelling.isascii() else 1.0)


def _contained(
    forms: NDArray[np.object_], uses: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return pairs of a phrase and a shorter phrase that is part of it but also occurs alone."""
    number = {form: index for index, form in enumerate(forms)}
    pairs: list[tuple[int, int]] = []
    for index, form in enumerate(forms):
        words = form.split(" ")
        lengths = range(2, len(words) if len(words) <= 5 else 0)
        parts = (words[at : at + n] for n in lengths for at in range(len(words) - n + 1))
        found = (number.get(" ".join(part)) for part in parts)
        pairs += [(index, inner) for inner in found if inner is not None]
    outer_of, inner_of = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    inside = np.bincount(inner_of, weights=uses[outer_of], minlength=len(forms))
    alone = uses[inner_of] >= 0.5 * inside[inner_of]
    return outer_of[alone], inner_of[alone]


def _ramps(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the concatenation of ``range(n)`` for each n in `counts`."""
    ends = np.cumsum(counts)
    return np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - counts, counts)


def score_phrases(
    table: PhraseTable,
    region: NDArray[np.integer],
    neighbours: Sequence[Sequence[int]],
    *,
    per_region: int = 60,
) -> pd.DataFrame:
    r"""Rank phrases by how well they distinguish a region from its neighbours and other regions.

    The score s of a phrase p in a region r is computed from the fractions f of papers that
    contain the phrase:

    .. math:: s = f_{rp}^{\,0.85}\;\log\frac{f_{rp} + \epsilon}{g_{rp} + \epsilon},
        \quad g = \tfrac12 (f_\mathrm{neighbours} + f_\mathrm{elsewhere}),
    """
    import pandas as pd

    n_regions = len(neighbours)
    papers_in = np.bincount(region[region >= 0], minlength=n_regions).astype(np.float64)
    counts = _phrase_counts(table, region, n_regions, len(table.forms))
    everywhere = np.asarray(counts.sum(axis=0)).ravel()
    total = papers_in.sum()
    rows = []
    for number in range(n_regions):
        start, end = counts.indptr[number : number + 2]
        phrase, n = counts.indices[start:end], counts.data[start:end]
        if len(phrase) == 0:
            continue
        share = n / papers_in[number]
        elsewhere = (everywhere[phrase] - n) / max(total - papers_in[number], 1.0)
        near = list(neighbours[number])
        around = (
            np.asarray(counts[near][:, phrase].sum(axis=0)).ravel() / max(papers_in[near].sum(), 1)
            if near
            else elsewhere
        )
        background = 0.5 * (elsewhere + around)
        smallest = 0.5 / max(papers_in[number], 1.0) + 0.0005
        careful = np.maximum(n - np.sqrt(n), 0.25) / papers_in[number]
        lift = (careful + smallest) / (background + smallest)
        score = share**0.85 * np.log(lift) * table.promise[phrase]
        best = np.argsort(-score, kind="stable")[:per_region]
        rows.append(
            pd.DataFrame(
                {
                    "region": number,
                    "phrase": phrase[best],
                    "score": score[best],
                    "share": share[best],
                    "lift": lift[best],
                    "n": n[best].astype(int),
                }
            )
        )
    if not rows:
        nothing: dict[str, list[float]] = {
            "region": [],
            "phrase": [],
            "score": [],
            "share": [],
            "lift": [],
            "n": [],
        }
        return pd.DataFrame(nothing).astype({"region": int, "phrase": int})
    return pd.concat(rows, ignore_index=True)


def _promise(forms: NDArray[np.object_], shown: NDArray[np.object_]) -> NDArray[np.float64]:
    """Score how suitable phrases are as names, based on word count and kind of phrase."""
    # Two or three words are best; one word is often ambiguous, and five words are too long.
    by_length = {1: 0.72, 2: 1.0, 3: 1.08, 4: 0.95}
    promise = np.empty(len(forms))
    for index, (form, text) in enumerate(zip(forms, shown, strict=True)):
        words = form.split(" ")
        promise[index] = by_length.get(len(words), 0.6)
        if words[-1] in QUANTITIES or _DATA_RELEASE.fullmatch(words[-1]):
            promise[index] *= 0.6
        elif len(words) == 1 and text[:2].isupper():
            promise[index] *= 0.6  # many readers do not know the acronym
    return promise


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
        clearly better.
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
        is_own = True if above is None else self._is_own(ranked, group, above)
        ranked = ranked.assign(is_own=is_own)
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
        counts = _phrase_counts(self._wide, group, n_groups, len(self._wide.forms))
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
        direct = _phrase_counts(self.table, group, len(neighbours), len(self._wide.forms))
        papers = np.bincount(group[group >= 0], minlength=len(neighbours))
        itself = np.asarray(direct[ranked["region"], ranked["phrase"]]).ravel()
        least = np.maximum(_SETTINGS.least_share[fields] * papers[ranked["region"]], 1)
        ranked = ranked.assign(direct=itself)[itself >= least].reset_index(drop=True)
        lexical = ranked["score"] / ranked.groupby("region")["score"].transform("max").abs()
        precision = ranked["n"] / self._uses[ranked["phrase"]]
        is_field = np.isin(ranked["phrase"], self._fields)
        is_most = ~is_field | (np.minimum(precision, ranked["share"]) >= _SETTINGS.field_share)
        square = _SETTINGS.recall[fields] ** 2
        agreement = (1 + square) * precision * ranked["share"]
        agreement /= square * precision + ranked["share"]
        best = agreement.where(is_most, 0).groupby(ranked["region"]).transform("max")
        even = np.ones(len(ranked)) if parts is None else self._evenness(group, parts, ranked)
        highest = agreement.groupby(ranked["phrase"]).transform("max")
        ranked = ranked.assign(
            is_most=is_most, even=even, agreement=agreement, is_best=agreement == highest
        )
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
        return ranked.assign(
            merit=(close + special)[ranked["region"], place]
            + _SETTINGS.usage[fields] * usage[ranked["region"], place]
            + _SETTINGS.rare[fields] * rare
            + _SETTINGS.lexical * lexical
            + covers
            - _SETTINGS.unspecific * np.log(np.maximum(least_lift / ranked["lift"], 1))
            - penalty[place]
            + _SETTINGS.indirect[fields] * np.log(ranked["direct"] / ranked["n"])
            + _SETTINGS.concept * self._is_concept[ranked["phrase"]]
            - _SETTINGS.singular * self._is_cut[ranked["phrase"]]
        )

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
        counts = _phrase_counts(self._wide, parts, n_parts, len(self._wide.forms)).tocsc()
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
        """Mark phrases whose papers agree at least as well with the group as with that above it."""
        phrase, scores = ranked["phrase"].to_numpy(), []
        n_groups, known = int(group.max(initial=-1)) + 1, group >= 0
        parent = np.zeros(n_groups, dtype=np.int64)
        parent[group[known]] = above[known]
        own = ranked["region"].to_numpy()
        for level, number in ((group, own), (above, parent[own])):
            n = int(level.max(initial=-1)) + 1
            counts = _phrase_counts(self._wide, level, n, len(self._wide.forms))
            both = np.asarray(counts[number, phrase]).ravel()
            size = np.bincount(level[level >= 0], minlength=n)[number]
            scores.append(2 * both / (size + self._uses[phrase]))  # Dice 1945, Ecology 26, 297
        return np.asarray(scores[0] >= scores[1])

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
        if len(others) < MAX_PHRASE - 1:
            return True
        # A keyphrase of the greatest length can be cut from a longer phrase.
        inner = self._number.get(normal_form(" ".join(others)))
        return inner is None or self._uses[inner] < 2 * self._uses[phrase]

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
        alike |= both > (1 - _SETTINGS.second_share) * np.minimum(uses, uses[-1])
        fits = (gain > 0).mean(axis=0) >= _SETTINGS.second_share
        # A first subject that few parts of the group have needs a second subject more.
        fits &= gain.mean(axis=0) > _SETTINGS.second_gain[fields] * even
        alike |= self._is_cut[phrases]
        # The papers with the subject agree best with this group.
        alike |= ~several["is_best"].to_numpy(dtype=bool)
        # A symbol or an acronym, such as Fe/H or PTAs, explains nothing beside another subject.
        alike |= np.array([_is_symbol(self._wide.shown[one]) for one in phrases], dtype=bool)
        fits = (fits | ((uses - both >= uses[-1]) & (agreement >= agreement[-1]))) & ~alike
        heads = [form.rpartition(" ")[2] for form in self._wide.forms[phrases]]
        value = gain.mean(axis=0) + 0.25 * merit + _SETTINGS.second_agreement[fields] * agreement
        value -= 0.1 * np.isin(heads, list(QUANTITIES))
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


def broadened(table: PhraseTable) -> PhraseTable:
    """Count papers with a thesaurus concept also for its broader concepts.

    Concepts that no paper has as a phrase are ignored, except the fields at the top.
    """
    thesaurus = embedded_thesaurus()
    labels = {one: concept.label for one, concept in thesaurus.concepts.items()}
    form_of = dict(zip(labels, normal_forms(list(labels.values())), strict=True))
    number = {form: place for place, form in enumerate(table.forms)}
    fields = [*thesaurus.top, *(one for top in thesaurus.top for one in thesaurus.narrower(top))]
    added = [field for field in dict.fromkeys(fields) if form_of[field] not in number]
    number |= {form_of[one]: len(table.forms) + place for place, one in enumerate(added)}
    top, uses = set(thesaurus.top), np.bincount(table.phrase, minlength=len(number))
    links = sorted(
        (number[form], number[form_of[above]])
        for one, concept in thesaurus.concepts.items()
        for form in set(normal_forms(list(concept.names))) & number.keys()
        for above in (one, *thesaurus.ancestors(one))
        if number.get(form_of[above], number[form]) != number[form]
        # "Dark matter" is cosmology; it is not evidence for "Intergalactic medium".
        and not (
            above not in top
            and top.intersection(concept.broader)
            and uses[number[form_of[above]]] < _SETTINGS.least_own * uses[number[form]]
        )
    )
    forms = np.array([*table.forms, *(form_of[one] for one in added)], dtype=object)
    shown = np.array([*table.shown, *(_lower(labels[one]) for one in added)], dtype=object)
    narrow, broad = np.array(links, dtype=np.int64).reshape(-1, 2).T
    starts = np.searchsorted(narrow, table.phrase, side="left")
    counts = np.searchsorted(narrow, table.phrase, side="right") - starts
    wider = broad[np.repeat(starts, counts) + _ramps(counts)]
    pairs = np.concatenate(
        [
            table.paper * len(forms) + table.phrase,
            np.repeat(table.paper, counts) * len(forms) + wider,
        ]
    )
    pairs = _sorted_unique(pairs)
    promise = np.append(
        table.promise, _promise(forms[len(table.forms) :], shown[len(table.forms) :])
    )
    paper, phrase = pairs // max(len(forms), 1), pairs % max(len(forms), 1)
    return PhraseTable(paper, phrase, forms, shown, promise, table.n_papers)


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


def _phrase_counts(
    table: PhraseTable, group: NDArray[np.integer], n_groups: int, n_phrases: int
) -> csr_matrix:
    """Return the number of papers of each group with each phrase, as a sparse matrix."""
    from scipy import sparse

    inside = group[table.paper]
    known = inside >= 0
    counts = sparse.csr_matrix(
        (np.ones(int(known.sum())), (inside[known], table.phrase[known])),
        shape=(n_groups, max(n_phrases, 1)),
    )
    counts.sum_duplicates()
    return counts


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


def _lower(label: str) -> str:
    """Return a label in lower case, unless it contains a proper name."""
    return label.lower() if label[1:] == label[1:].lower() else label


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
