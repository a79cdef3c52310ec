"""Name regions by phrases that are frequent in a region and rare in its neighbours."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.text._words import normal_forms, read_sections

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

_LISTS = read_sections("regions")
UNTELLING = frozenset(_LISTS["untelling"])
QUANTITIES = frozenset(_LISTS["quantity"])


@dataclass(frozen=True)
class NameSettings:
    """Thresholds for choosing region names."""

    many_papers: int = 5000
    enough_share: float = 0.1  # minimum share of a region's papers that the first name must cover
    second_share: float = 1.4  # minimum ratio of the share of the second name to that of the first
    second_score: float = 0.6


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


def phrase_table(keywords: Any, *, fewest: int = 2) -> PhraseTable:
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
    # Use the most frequent spelling of each form; ties are resolved by alphabetical order.
    order = np.lexsort((surfaces.astype(str), -uses))[::-1]
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
    per_region: int = 40,
) -> pd.DataFrame:
    r"""Rank phrases by how well they distinguish a region from its neighbours and other regions.

    The score s of a phrase p in a region r is computed from the fractions f of papers that
    contain the phrase:

    .. math:: s = f_{rp}^{\,0.85}\;\log\frac{f_{rp} + \epsilon}{g_{rp} + \epsilon},
        \quad g = \tfrac12 (f_\mathrm{neighbours} + f_\mathrm{elsewhere}),
    """
    import pandas as pd
    from scipy import sparse

    n_regions = len(neighbours)
    papers_in = np.bincount(region[region >= 0], minlength=n_regions).astype(np.float64)
    inside = region[table.paper]
    counts = sparse.csr_matrix(
        (np.ones(int((inside >= 0).sum())), (inside[inside >= 0], table.phrase[inside >= 0])),
        shape=(n_regions, max(len(table.forms), 1)),
    )
    counts.sum_duplicates()
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
        return pd.DataFrame(columns=["region", "phrase", "score", "share", "lift", "n"])
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


def choose_names(
    table: PhraseTable, ranked: pd.DataFrame, n_regions: int, *, taken: Sequence[str] = ()
) -> tuple[list[str], list[list[str]]]:
    """Give every region a unique name and a list of distinctive keywords."""
    candidates: list[list[tuple[float, int]]] = [[] for _ in range(n_regions)]
    for region, phrase, score in zip(ranked.region, ranked.phrase, ranked.score, strict=True):
        candidates[int(region)].append((float(score), int(phrase)))
    keywords = [_distinct(table, [p for _, p in found], 12) for found in candidates]
    names = [""] * n_regions
    used = set(taken)
    # The phrases with the highest scores are assigned first.
    waiting = [
        (score, number, phrase)
        for number, found in enumerate(candidates)
        for score, phrase in found
        if table.forms[phrase] not in UNTELLING
    ]
    for _, number, phrase in sorted(waiting, key=lambda item: (-item[0], item[1], item[2])):
        form = table.forms[phrase]
        if names[number] or any(_same_subject(form, other) for other in used):
            continue
        names[number] = capitalised(table.shown[phrase])
        used.add(form)
    _add_second_names(table, ranked, names, used)
    for number in range(n_regions):
        names[number] = names[number] or f"Region {number + 1}"
    return names, [[table.shown[p] for p in words] for words in keywords]


def _add_second_names(
    table: PhraseTable, ranked: pd.DataFrame, names: list[str], used: set[str]
) -> None:
    """Add a second subject to a name if the first subject covers few papers of its region."""
    form_of = {capitalised(table.shown[phrase]): phrase for phrase in set(ranked["phrase"])}
    for number, found in ranked.groupby("region"):
        phrase = form_of.get(names[int(number)])
        first = found[found["phrase"] == phrase]
        if phrase is None or first.empty or first["share"].iloc[0] >= _SETTINGS.enough_share:
            continue
        second = found[
            (found["score"] >= _SETTINGS.second_score * first["score"].iloc[0])
            & (found["share"] >= _SETTINGS.second_share * first["share"].iloc[0])
        ]
        for candidate in second["phrase"]:
            form = table.forms[candidate]
            if form in used or form in UNTELLING or " " not in form:
                continue
            if not _same_subject(form, table.forms[phrase]):
                names[int(number)] += f" and {table.shown[candidate]}"
                used.add(form)
                break


def pair_names(
    table: PhraseTable,
    region: NDArray[np.integer],
    neighbours: Sequence[Sequence[int]],
    *,
    taken: Collection[str] = (),
    enough: float = 0.5,
    longest: int = 40,
) -> tuple[list[str], list[list[str]]]:
    """Name continents by one phrase, or by two phrases that cover different papers."""
    first = score_phrases(table, region, neighbours)
    _, keywords = choose_names(table, first, len(neighbours))
    lengths = [longest] * len(neighbours)
    leading = _best_subject(table, first, len(neighbours), used={}, lengths=lengths)
    rest = np.asarray(region).copy()
    is_leading = np.asarray(leading, dtype=np.int64)[region[table.paper]] == table.phrase
    rest[table.paper[is_leading & (region[table.paper] >= 0)]] = -1
    used = {table.forms[p]: n for n, p in enumerate(leading) if p >= 0}
    lengths = [longest - len(table.shown[p]) - 5 if p >= 0 else 0 for p in leading]
    complement = score_phrases(table, rest, neighbours)
    second = _best_subject(table, complement, len(neighbours), used=used, lengths=lengths)
    share = {(r, p): s for r, p, s in zip(first.region, first.phrase, first.share, strict=True)}
    lengths = [longest] * len(neighbours)
    used = dict.fromkeys(taken, -1)
    others = _best_subject(table, first, len(neighbours), used=used, lengths=lengths)
    names: list[str] = []
    for number, (one, two, other) in enumerate(zip(leading, second, others, strict=True)):
        enough_alone = two < 0 or share.get((number, one), 0.0) >= enough
        if one < 0:
            names.append(f"Continent {number + 1}")
        elif enough_alone and table.forms[one] not in taken:
            names.append(capitalised(table.shown[one]))
        elif two >= 0:
            names.append(f"{capitalised(table.shown[one])} and {table.shown[two]}")
        elif other >= 0:
            names.append(capitalised(table.shown[other]))
        else:
            names.append(f"Around {table.shown[one]}")
    return names, keywords


def _best_subject(
    table: PhraseTable,
    ranked: pd.DataFrame,
    n_regions: int,
    *,
    used: dict[str, int],
    lengths: Sequence[int],
) -> list[int]:
    """Return the first phrase of each region that names a new subject and is short enough."""
    best = [-1] * n_regions
    taken = {form: set(form.split(" ")) for form in used}
    for region, phrase in zip(ranked.region, ranked.phrase, strict=True):
        form = table.forms[phrase]
        words = set(form.split(" "))
        if best[region] >= 0 or form in UNTELLING or form in taken:
            continue
        if len(table.shown[phrase]) > lengths[region]:
            continue
        own = [taken[other] for other, number in used.items() if number == region]
        if any(words & theirs for theirs in own):
            continue
        best[region] = int(phrase)
        taken[form] = words
    return best


def capitalised(phrase: str) -> str:
    """Capitalise the first letter of a phrase, unless the first word has a special spelling."""
    first = phrase.split(" ")[0].split("-")[0]
    if first != first.lower() or not phrase[:1].isascii():
        return phrase  # an acronym, a proper name or a symbol
    return phrase[:1].upper() + phrase[1:]


def _same_subject(one: str, other: str) -> bool:
    """Return whether two names probably describe the same topic."""
    if one == other:
        return True
    words, others = set(one.split(" ")), set(other.split(" "))
    shared = words & others
    return len(shared) >= 2 and (shared in (words, others))


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
