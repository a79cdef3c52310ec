"""Measure phrases that could be new concepts, and score their similarity to known concepts.

Phrases that are terms of the thesaurus are positive examples; all other phrases are unlabelled
(Elkan & Noto 2008, KDD, 213).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from landscape._io import data_file, read_yaml
from landscape.corpus.thesaurus import Thesaurus
from landscape.mapping.phrases import PhraseTable
from landscape.store.years import UNKNOWN_YEAR

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

_ENOUGH_EXAMPLES = 30  # minimum number of phrases of each class, to fit a model
_PRIOR_PAPERS = 5  # number of average papers added to each phrase or category
_FEATURES = (
    "log_papers",
    "log_papers_squared",
    "log_titles",
    "in_title",
    "abbreviated",
    "compactness",
    "promise",
    "one_word",
    "two_words",
    "many_words",
    "name_like",
    "vague",
    "head_rate",
    "start_rate",
    "word_rate",
)


def measure_phrases(
    table: PhraseTable,
    vectors: NDArray[np.floating],
    titles: Sequence[str],
    abstracts: Sequence[str],
    years: NDArray[np.integer],
    categories: NDArray[np.object_],
    *,
    fewest: int = 5,
) -> pd.DataFrame:
    """Compute measures of each phrase that do not depend on a thesaurus."""
    import pandas as pd

    from landscape.text.keywords import has_vague_head

    papers = np.bincount(table.phrase, minlength=len(table.forms))
    kept = np.flatnonzero(papers >= fewest)
    frame = pd.DataFrame({"phrase": kept, "name": table.shown[kept], "form": table.forms[kept]})
    words = [singular_words(form) for form in frame["form"]]
    frame["bag"] = [join_bag(tokens) for tokens in words]
    # The mean cosine of all pairs of papers is computed from the length of the summed vectors.
    n, total = len(vectors), np.asarray(vectors, np.float32).sum(axis=0, dtype=np.float64)
    mean_cosine = float((total @ total - n) / max(n * (n - 1), 1))
    frame["papers"] = papers[kept]
    frame["compactness"] = (mean_cosines(table, vectors) - mean_cosine)[kept]
    titled = count_titles(table, titles)[kept]
    frame["in_title"] = titled / frame["papers"]
    frame["log_titles"] = np.log1p(titled)
    defined = find_abbreviations(abstracts)
    none: Counter[str] = Counter()
    used = [defined.get(bag, none) for bag in frame["bag"]]
    frame["abbreviated"] = np.log1p([of.total() for of in used])
    best = [max(((n, name) for name, n in of.items()), default=(0, "")) for of in used]
    frame["acronym"] = [name if n > 1 else "" for n, name in best]
    late, dated = later_half(years), years != UNKNOWN_YEAR
    expected = expected_shares(late, dated, categories)
    early_papers, late_papers, late_expected = (
        np.bincount(table.phrase, of[table.paper], len(papers))[kept]
        for of in (dated & ~late, late, expected * dated)
    )
    frame["growth_low"], frame["growth"] = growth(early_papers, late_papers, late_expected)
    frame["promise"] = table.promise[kept]
    frame["log_papers"] = np.log(frame["papers"])
    frame["log_papers_squared"] = frame["log_papers"] ** 2
    lengths = np.array([len(tokens) for tokens in words])
    return frame.assign(
        one_word=lengths == 1,
        two_words=lengths == 2,
        many_words=lengths > 3,
        name_like=frame["name"].str.contains(r"[A-Z0-9]"),
        vague=[has_vague_head(form) for form in frame["form"]],
    )


def name_phrases(phrases: pd.DataFrame, named: dict[str, str]) -> pd.DataFrame:
    """Add columns with the concept of each phrase, and whether the thesaurus covers the phrase."""
    words = [singular_words(form) for form in phrases["form"]]
    ids = [named.get(bag, "") for bag in phrases["bag"]]
    known = np.array([bool(one) for one in ids], dtype=bool)
    inside = _inside_names(phrases["bag"].tolist(), named)
    short = {abbreviation_letters(one) for one in phrases.loc[known, "acronym"]} - {""}
    abbreviates = phrases["name"].map(abbreviation_letters).isin(short).to_numpy(dtype=bool)
    longer = [tokens if len(tokens) > 1 else [] for tokens in words]
    synonym = np.array([is_synonym(tokens, named) for tokens in words], dtype=bool)
    return phrases.assign(
        concept_id=ids,
        inside=inside,
        covered=known | inside | abbreviates | synonym,
        head_rate=_rates([one[-1:] for one in longer], known),
        start_rate=_rates([one[:1] for one in longer], known),
        word_rate=_rates([sorted(set(one)) for one in longer], known),
    )


def concept_likeness(phrases: pd.DataFrame) -> NDArray[np.float64]:
    """Score how similar each phrase is to phrases that are terms of the thesaurus."""
    features = phrases[list(_FEATURES)].to_numpy(dtype=np.float64)
    spread = features.std(axis=0)
    scaled = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    named = (phrases["concept_id"] != "").to_numpy()
    open_ = ~phrases["covered"].to_numpy(dtype=bool)
    # Train on narrow concepts only, because few broad concepts are missing. Terms that are part
    # of longer terms are broad.
    leaves = named & ~phrases["inside"].to_numpy(dtype=bool)
    if min(leaves.sum(), open_.sum()) < _ENOUGH_EXAMPLES:
        return np.asarray(scaled[:, _FEATURES.index("compactness")])
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(class_weight="balanced", C=1.0, max_iter=500)
    used = leaves | open_
    return model.fit(scaled[used], named[used]).decision_function(scaled)


def measure_novelty(table: PhraseTable, phrases: pd.DataFrame) -> NDArray[np.float64]:
    """Return the novelty, which is high if the thesaurus covers few phrases of the same papers."""
    covered = np.zeros(len(table.forms))
    covered[phrases["phrase"]] = phrases["covered"]
    measured = np.zeros(len(table.forms))
    measured[phrases["phrase"]] = 1.0
    total = np.bincount(table.paper, measured[table.phrase], table.n_papers)[table.paper]
    hits = np.bincount(table.paper, covered[table.phrase], table.n_papers)[table.paper]
    others = total - measured[table.phrase]
    mean = covered.sum() and float((hits / np.maximum(total, 1))[total > 0].mean())
    share = np.where(others > 0, (hits - covered[table.phrase]) / np.maximum(others, 1), mean)
    sums = np.bincount(table.phrase, share, len(table.forms))
    papers = np.bincount(table.phrase, minlength=len(table.forms))
    if not mean:
        return np.zeros(len(phrases))
    shrunk = (sums + _PRIOR_PAPERS * mean) / (papers + _PRIOR_PAPERS)
    return np.asarray(-np.log(shrunk / mean)[phrases["phrase"]])


def _rates(groups: list[list[str]], known: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Score phrases by the share of concepts among other phrases with the same word (log ratio)."""
    seen: Counter[str] = Counter(word for group in groups for word in group)
    hits: Counter[str] = Counter(
        word for group, is_known in zip(groups, known, strict=True) if is_known for word in group
    )
    base = float(known.mean())
    rates = [
        np.mean(
            [
                np.log((hits[word] - is_known + 2 * base) / (seen[word] - 1 + 2) / base)
                for word in group
            ]
        )
        if group
        else 0.0
        for group, is_known in zip(groups, known.tolist(), strict=True)
    ]
    return np.asarray(rates, dtype=np.float64)


def _inside_names(bags: list[str], named: dict[str, str]) -> NDArray[np.bool_]:
    """Return whether each phrase is contained in a longer name of a concept."""
    names_with: dict[str, set[int]] = {}
    for number, bag in enumerate(named):
        for word in bag.split():
            names_with.setdefault(word, set()).add(number)
    none: set[int] = set()
    shared = [
        len(set.intersection(*(names_with.get(word, none) for word in bag.split()))) for bag in bags
    ]
    own = [bag in named for bag in bags]
    return np.array([n > mine for n, mine in zip(shared, own, strict=True)], dtype=bool)


_QUALIFIER = re.compile(r"(?:(?<!\s)\s++|(?!\s))\([^()]*\)")
_ABBREVIATION = re.compile(r"\(([A-Z][A-Za-z]*[A-Z][A-Za-z]{0,2})\)")


@cache
def _vocabulary() -> tuple[frozenset[str], Mapping[str, str]]:
    """Read the words omitted from keys, and the nouns that replace adjectives in keys."""
    stored = read_yaml(data_file("thesaurus.yaml"))
    return frozenset(stored["small_words"]), stored["nouns"]


@cache
def _variants() -> tuple[Mapping[str, list[str]], frozenset[str], frozenset[str]]:
    """Read words with the same meaning, words of degree, and last words without a meaning."""
    stored = read_yaml(data_file("thesaurus.yaml"))
    alike = {
        word: [other for other in group if other != word]
        for group in stored["same_meaning"]
        for word in group
    }
    return alike, frozenset(stored["degrees"]), frozenset(stored["last_words"])


def is_synonym(words: list[str], named: Mapping[str, str]) -> bool:
    """Return whether words mean the same as a concept, or a degree of it ("massive galaxies")."""
    alike, degrees, last_words = _variants()
    for place, word in enumerate(words):
        before, after = words[:place], words[place + 1 :]
        variants = [[other] for other in alike.get(word, ())]
        if word in degrees or (not after and word in last_words):
            variants.append([])
        if any(join_bag([*before, *variant, *after]) in named for variant in variants):
            return True
    return False


def word_bag(phrase: str) -> str:
    """Return a key of a phrase that is independent of inflection and word order."""
    return join_bag(singular_words(_QUALIFIER.sub("", phrase) or phrase))


def singular_words(phrase: str) -> list[str]:
    """Return the words of a phrase in the singular, without articles and prepositions."""
    from landscape.text.words import normal_form, singular

    words = [singular(word) for word in normal_form(phrase).split()]
    return [word for word in words if word not in _vocabulary()[0]] or words


def join_bag(words: list[str]) -> str:
    """Return the key of words from `singular_words`."""
    nouns = _vocabulary()[1]
    return " ".join(sorted(nouns.get(word, word) for word in words))


_SPECTRAL_CLASSES = ("A ", "Of ")  # the keys of "A stars" and "Of stars" are the key of "stars"


def index_names(thesaurus: Thesaurus) -> dict[str, str]:
    """Return a mapping from the key (`word_bag`) of each term to the id of its concept."""
    names: dict[str, str] = {}
    concepts = thesaurus.concepts.values()
    preferred = [(concept.label, concept.concept_id) for concept in concepts]
    others = [(name, concept.concept_id) for concept in concepts for name in concept.alternatives]
    for name, one in (*preferred, *others):
        if not name.startswith(_SPECTRAL_CLASSES):
            names.setdefault(word_bag(name), one)
    names.pop("", None)
    return names


def find_abbreviations(texts: Sequence[str]) -> dict[str, Counter[str]]:
    """Count abbreviations defined in texts, as in "pulsar wind nebulae (PWNe)", by phrase key."""
    abbreviations: dict[str, Counter[str]] = {}
    for text in texts:
        for match in _ABBREVIATION.finditer(text):
            letters = abbreviation_letters(match[1])
            words = re.findall(r"[^\s\-/]+", text[max(match.start() - 90, 0) : match.start()])
            tail = words[-len(letters) :]
            if "".join(word[0] for word in tail).casefold() == letters:
                abbreviations.setdefault(word_bag(" ".join(tail)), Counter())[match[1]] += 1
    return abbreviations


def abbreviation_letters(name: str) -> str:
    """Return the capital letters of an abbreviation in lower case, or "" for other names."""
    capitals = "".join(sign for sign in name if sign.isupper()).casefold()
    return capitals if len(capitals) > 1 and " " not in name else ""


def term_pattern(name: str) -> str:
    """Return a regular expression of a term in the singular or plural, with any hyphens."""
    *front, last = name.split(" ")
    stem = last[: max(len(last) - 3, 3)]
    return r"[\s-]+".join(map(re.escape, [*front, stem]))


def complete_name(name: str, texts: Sequence[str], *, share: float = 0.8) -> str:
    """Add the first word of a term if it precedes the phrase in most texts."""
    pattern = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)*)?\s+" + term_pattern(name), re.IGNORECASE)
    before = Counter(
        (match[1] or "").casefold() for text in texts for match in pattern.finditer(f". {text}")
    )
    word, uses = max(before.items(), key=lambda item: (item[1], item[0]), default=("", 0))
    if len(word) < 3 or word in _vocabulary()[0] or uses < max(share * before.total(), 2):
        return name
    return f"{word} {name}"


_MAX_DEFINITION, _MIN_CLAUSE = 350, 8  # characters of a sentence, words up to "known as" a term
_NEAR_TERM = 90  # characters between a term and the word for its kind
_KIND = re.compile(
    r"\b(?:defined as|refers? to|known as|class|subset|populations?|types?|kinds?|family|method"
    r"|technique|approach|algorithm|model|scenario|framework|process|period|epoch|era|objects?"
    r"|sources|systems|regions?|phenomenon|effect|discrepancy|ratio|measure|candidate"
    r"|manifestations?|signal|i\.e\.|composed of|consist(?:ing)? of|characterized by"
    r"|superposition|sum of|integral|fraction|bursts|discovery|probe|relics?|remnants?|theory"
    r"|environments|(?:caused|produced|formed|generated) by|arising from|measures"
    r"|quantif(?:y|ies)|occurs? when|arises? when)\b"
)
_DEFINES = re.compile(
    r",? (?:which )?(?:(?:is|are) (?:an?|the|defined|commonly|usually|generally|composed|formed"
    r"|produced|caused|(?:[\w-]+,? (?:and )?){0,3}(?:objects|systems|regions|events|stars|galaxies"
    r"|environments))\b"
    r"|refers? to\b|denotes?\b|i\.e\.|describes?\b|measures?\b|quantif(?:y|ies)\b|consists? of\b"
    r"|(?:occurs?|arises?) when\b)"
)
_APPOSED = re.compile(  # "odd rings, a new class of sources" but not "in odd rings, the class is"
    r"(?:,| [-\u2013\u2014]| \() ?((?:an?|the) (?:[\w-]+ ){0,4}?"
    + _KIND.pattern
    + r" (?:of|for|that"
    r"|which|where|when|in|to|with|used|based|composed|characterized)\b[^,;()\u2013\u2014]{10,}"
    r"|(?:(?:caused|produced|formed|generated) by|arising from) [^,;()]{10,})"
)
_NAMED = (
    r"\b(?:known as|called|referred to as|dubbed|termed|named|nicknamed(?: as)?|so-called)"
    r"(?: the| an?)? [\"'\u2018\u201c`]*"
)
_AFTER_NAME = (
    r"(?=[\"'\u2019\u201d]*(?:[,.;:)]|$| [(\u2013-]"
    r"| (?:is|are|was|were|that|which|in|has|have|at|to|with|and|from|remains?)\b))"
)
_OPINION = re.compile(
    r"\b(?:one of|most|key|important|ideal|powerful|useful|promising|challeng\w*|primary|crucial"
    r"|fundamental|essential|excellent|unique|only|dominant|building blocks?|popular|main|major"
    r"|unconstrained|debated|unknown|source of|consistent|affected|however|here|we|our|this|these"
    r"|such|study|paper)\b",
    re.IGNORECASE,
)


def quote_definition(name: str, texts: Sequence[str]) -> tuple[int, str]:
    """Return the row and the words of the sentence that defines a term best, or (-1, "")."""
    from landscape.text import split_sentences

    # "Odd rings (ORs)", but not "giant odd rings (GORs)"
    initials = re.sub(r"[^A-Z]", "", re.sub(r"\b(\w)\w*|.", r"\1", name).upper())
    pattern = term_pattern(name) + rf"\w{{0,4}}\b(?: \({initials}s?\)|(?! \([A-Z]))"
    term = re.compile(rf"\b{pattern}", re.IGNORECASE)
    named = re.compile(_NAMED + pattern + _AFTER_NAME, re.IGNORECASE)
    best, row, quote = 0, -1, ""
    for number, text in enumerate(texts):
        plain = " ".join(text.split())
        if not term.search(plain):
            continue
        for start, end in split_sentences(plain):
            sentence = _HEADING.sub("", plain[start:end])
            if len(sentence) <= _MAX_DEFINITION:
                clause = _defining_clause(sentence, term, named)
                score = min(len(_KIND.findall(clause)), 2) - 2 * len(_OPINION.findall(clause))
                if score > best:
                    best, row, quote = score, number, sentence
    return row, quote


_HEADING = re.compile(r"^(?:Context|Background|Introduction|Aims)[.:] ")
_BEFORE_TERM = re.compile(r"(?:the |an? )?", re.IGNORECASE)


def _defining_clause(sentence: str, term: re.Pattern[str], named: re.Pattern[str]) -> str:
    """Return the words of a sentence that define a term, with the verb, or an empty string."""
    match = named.search(sentence)
    if match:
        clause = sentence[: match.end()]
        return clause if len(clause.split()) >= _MIN_CLAUSE else ""
    match = term.search(sentence)
    if not match:
        return ""
    apposed = _APPOSED.match(sentence, match.end())
    if apposed:
        before = sentence[: match.start()].removesuffix("the ")
        return "" if before.endswith((", ", "and ", "in ", "In ")) else apposed[1]
    is_subject = _BEFORE_TERM.fullmatch(sentence, 0, match.start())
    defines = is_subject and _DEFINES.match(sentence, match.end())
    near = sentence[match.end() : match.end() + _NEAR_TERM]
    return sentence[match.end() :] if defines and _KIND.search(near) else ""


def mean_cosines(table: PhraseTable, vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the mean cosine similarity of all pairs of papers that contain each phrase."""
    papers = np.bincount(table.phrase, minlength=len(table.forms)).astype(np.float64)
    sums = _sum_vectors(table.phrase, table.paper, vectors, len(papers))
    squared = np.square(sums).sum(axis=1)
    return np.asarray((squared - papers) / np.maximum(papers * (papers - 1), 1))


def _sum_vectors(
    groups: NDArray[np.integer], papers: NDArray[np.integer], vectors: np.ndarray, n_groups: int
) -> NDArray[np.float64]:
    """Return the sum of the embeddings of each group of papers, shape (n_groups, n_dims)."""
    from scipy import sparse

    ones = np.ones(len(groups), dtype=np.float32)
    held = sparse.csr_matrix((ones, (groups, papers)), shape=(n_groups, len(vectors)))
    return np.asarray(held @ np.asarray(vectors, dtype=np.float32), dtype=np.float64)


def later_half(years: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return whether each paper is in the later half; the papers of a year are in the same half.

    Papers with an unknown year are in neither half, so the result for them is False.
    """
    dated = years[years != UNKNOWN_YEAR]
    values, counts = np.unique(dated, return_counts=True)
    if len(values) < 2:
        return np.zeros(len(years), dtype=bool)
    before = np.cumsum(counts)[:-1]
    cut = int(np.argmin(np.abs(before - len(dated) / 2)))
    return np.asarray(years > values[cut])


def expected_shares(
    late: NDArray[np.bool_], dated: NDArray[np.bool_], categories: NDArray[np.object_]
) -> NDArray[np.float64]:
    """Return for each paper the share of late papers in its category."""
    _, category = np.unique(categories, return_inverse=True)
    mean = late.sum() / max(dated.sum(), 1)
    n_late, n_dated = (np.bincount(category, of) for of in (late, dated))
    shares = (n_late + _PRIOR_PAPERS * mean) / (n_dated + _PRIOR_PAPERS)
    return np.asarray(shares[category])


def growth(
    early: np.ndarray, late: np.ndarray, expected: np.ndarray
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lower bound and value of the odds of late papers, relative to those expected.

    Half a paper is added to each number (Haldane 1956).
    """
    odds = (late + 0.5) / (early + 0.5)
    middle = np.log(odds * (early + late - expected + 0.5) / (expected + 0.5))
    return np.exp(middle - np.sqrt(1 / (late + 0.5) + 1 / (early + 0.5))), np.exp(middle)


def count_titles(table: PhraseTable, titles: Sequence[str]) -> NDArray[np.float64]:
    plain = [f" {' '.join(singular_words(title))} " for title in titles]
    needles = [f" {' '.join(singular_words(form))} " for form in table.forms]
    found = [
        needles[phrase] in plain[paper]
        for paper, phrase in zip(table.paper.tolist(), table.phrase.tolist(), strict=True)
    ]
    counted = np.bincount(table.phrase, np.array(found, dtype=float), minlength=len(table.forms))
    return counted.astype(np.float64)


_MIN_PAPERS = 3  # minimum number of papers of a concept that is compared
_MIN_COSINE = 0.3  # with the concept in the name of a phrase, unless the name has another meaning
_UNUSED_COSINE, _LEAST_COSINE = 0.2, 0.02  # of concepts with too few papers, of all concepts
# Fitted to half of the narrowest concepts of release 5.1.0, with each of them hidden.
_N_VOTERS, _N_MORE_VOTERS, _MAJORITY, _SHARED_WORDS = 8, 20, 0.5, 4.0
_ENOUGH_VOTES = 0.25  # share of the votes for a concept that is preferred to a concept at the top
_NAME_VOTE = 0.5  # of the concept in the name, relative to all other votes


def nearest_concepts(
    table: PhraseTable,
    vectors: NDArray[np.floating],
    phrases: pd.DataFrame,
    wanted: NDArray[np.integer],
    *,
    k: int = 2000,
) -> list[list[tuple[str, float]]]:
    """Find the concepts whose papers are most similar to the papers of each phrase."""
    named = phrases[phrases["concept_id"] != ""]
    ids, concept = np.unique(named["concept_id"].to_numpy(dtype=str), return_inverse=True)
    if not len(ids):
        return [[] for _ in wanted]
    concept_of = np.full(len(table.forms), -1)
    concept_of[named["phrase"].to_numpy()] = concept
    pairs = np.unique(
        np.column_stack([concept_of[table.phrase], table.paper])[concept_of[table.phrase] >= 0],
        axis=0,
    )
    papers = np.bincount(pairs[:, 0], minlength=len(ids))
    chosen = np.isin(table.phrase, wanted)
    concepts = _directions(pairs[:, 0], pairs[:, 1], vectors, len(ids))
    sought = _directions(table.phrase[chosen], table.paper[chosen], vectors, len(table.forms))
    sought = sought[wanted]
    cosines = sought @ concepts.T
    cosines[:, papers < _MIN_PAPERS] = -np.inf
    best = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
    return [
        [(str(ids[place]), float(row[place])) for place in places if np.isfinite(row[place])]
        for row, places in zip(cosines, best, strict=True)
    ]


def suggest_parents(
    names: Sequence[str],
    nearest: Sequence[list[tuple[str, float]]],
    thesaurus: Thesaurus,
    named: Mapping[str, str],
) -> list[str]:
    """Return the narrowest concept that contains most of the concepts similar to each phrase.

    Concepts are similar by their papers and by the words of their terms. If they disagree, the
    concept that contains them is a broad one.
    """
    words = {one: singular_words(concept.label) for one, concept in thesaurus.concepts.items()}
    uses = Counter(word for label in words.values() for word in set(label))
    rarity = {word: float(np.log(len(words) / n)) for word, n in uses.items()}
    unused = float(np.log(len(words) + 1))
    suggested = []
    for name, near in zip(names, nearest, strict=True):
        own, cosines = singular_words(name), dict(near)
        whole = sum(rarity.get(word, unused) for word in set(own)) or 1.0
        similar = []
        for one, label in words.items():
            shared = sum(rarity[word] for word in set(own).intersection(label)) / whole
            alike = 1 + _SHARED_WORDS * (shared + (own[-1] == label[-1]))
            similar.append((max(cosines.get(one, _UNUSED_COSINE), _LEAST_COSINE) * alike, one))
        similar.sort(reverse=True)
        inside = _concept_at_end(name, cosines, named, thesaurus)
        parent, is_majority = _elect(similar[:_N_VOTERS], inside, thesaurus)
        suggested.append(
            parent if is_majority else _elect(similar[:_N_MORE_VOTERS], inside, thesaurus)[0]
        )
    return suggested


def _elect(voters: list[tuple[float, str]], inside: str, thesaurus: Thesaurus) -> tuple[str, bool]:
    """Return the narrowest concept that contains most voters, and whether it has a majority."""
    total = sum(weight for weight, _ in voters)
    votes: Counter[str] = Counter()
    if inside:
        voters = [*voters, (_NAME_VOTE * total, inside)]
        total *= 1 + _NAME_VOTE
    for weight, one in voters:
        # A narrowest concept is a sibling of the phrase: only its broader concepts have its vote.
        itself = {one} if one == inside or thesaurus.narrower(one) else set()
        votes.update(dict.fromkeys(thesaurus.ancestors(one) | itself, weight))
    most = max(votes.values(), default=0.0)
    size = {
        one: len(thesaurus.descendants(one))
        for one, vote in votes.items()
        if vote >= min(most, _MAJORITY * total)
    }
    elected = min(size, key=lambda one: (size[one], -votes[one], one), default="")
    if elected in thesaurus.top:  # "Cosmology" says little about the place of a concept
        below = [one for one in votes if one not in thesaurus.top]
        below = [one for one in below if votes[one] >= _ENOUGH_VOTES * total]
        elected = max(below, key=lambda one: (votes[one], one), default=elected)
    return elected, most >= _MAJORITY * total


def _concept_at_end(
    name: str, cosines: Mapping[str, float], named: Mapping[str, str], thesaurus: Thesaurus
) -> str:
    """Return the concept in the last words of a name, unless its papers are too different."""
    # A hyphenated word is kept whole: "low-mass galaxies" are not in "Galaxy masses".
    words, head = name.split(), singular_words(name)[-1]
    for start in range(1, len(words)):
        one = named.get(word_bag(" ".join(words[start:])), "")
        heads = {singular_words(term)[-1] for term in thesaurus.concepts[one].names} if one else ()
        if head in heads and cosines.get(one, 1.0) >= _MIN_COSINE:
            return one
    return ""


def _directions(
    groups: NDArray[np.integer], papers: NDArray[np.integer], vectors: np.ndarray, n_groups: int
) -> np.ndarray:
    """Return the unit vectors from the mean of all papers to the mean of each group."""
    sums = _sum_vectors(groups, papers, vectors, n_groups)
    middle = np.asarray(vectors, dtype=np.float32).mean(axis=0, dtype=np.float64)
    means = sums / np.maximum(np.bincount(groups, minlength=n_groups), 1)[:, None] - middle
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    return np.asarray(means / np.where(lengths > 0, lengths, 1.0))
