"""Phrases of papers in one spelling, their counts in groups, and broader concepts of phrases."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landscape.corpus.thesaurus import embedded_thesaurus
from landscape.text.words import normal_forms, read_sections

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

_LISTS = read_sections("regions")
UNTELLING = frozenset(_LISTS["untelling"])
QUANTITIES = frozenset(_LISTS["quantity"])
_DATA_RELEASE = re.compile(r"e?dr\d+")
_MANY_PAPERS = 5000  # with more papers, spellings that occur once are omitted
# minimum frequency of a broader concept, relative to a concept that is directly below a field
_LEAST_OWN = 0.2


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
    kept_surface = np.flatnonzero(uses >= (fewest if n_papers > _MANY_PAPERS else 1))
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
    counts = count_phrases(table, region, n_regions, len(table.forms))
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
            and uses[number[form_of[above]]] < _LEAST_OWN * uses[number[form]]
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


def count_phrases(
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


def _lower(label: str) -> str:
    """Return a label in lower case, unless it contains a proper name."""
    return label.lower() if label[1:] == label[1:].lower() else label
