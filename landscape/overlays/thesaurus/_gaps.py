"""Propose phrases as new concepts of the thesaurus, and backtest the proposals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._progress import progress
from landscape._serializer import to_csv as as_csv
from landscape._wording import did_you_mean
from landscape.corpus import load_facilities
from landscape.corpus.thesaurus import Thesaurus
from landscape.errors import InputError
from landscape.mapping.phrases import PhraseTable, phrase_table
from landscape.overlays.periods import (
    UNKNOWN_YEAR,
    describe_corpus,
    paper_years,
    primary_categories,
    read_years,
)
from landscape.overlays.thesaurus._candidates import (
    abbreviation_letters,
    complete_name,
    concept_likeness,
    index_names,
    measure_novelty,
    measure_phrases,
    name_phrases,
    nearest_concepts,
    quote_definition,
    suggest_parents,
    term_pattern,
    word_bag,
)
from landscape.text.words import normal_form
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.store import AtlasStore

_N_PAPERS_SHOWN = 5  # number of typical papers per proposal


@dataclass(frozen=True)
class GapSettings:
    """Settings of the proposals, tuned with `backtest_gaps` on releases of the thesaurus."""

    fewest_papers: int = 5
    papers_a_phrase: int = 20_000  # at least one paper out of this number must contain a phrase
    growth_weight: float = 0.5
    novelty_weight: float = 0.25


_SETTINGS = GapSettings()


@dataclass(frozen=True)
class Evidence:
    """Phrases of a corpus, with measures that do not depend on a thesaurus."""

    table: PhraseTable
    phrases: pd.DataFrame
    vectors: NDArray[np.floating]


def thesaurus_gaps(
    atlas: AtlasStore, *, limit: int = 100, thesaurus: Thesaurus | None = None
) -> Analysis:
    """Propose concepts that are missing from the thesaurus.

    Parameters
    ----------
    atlas : Atlas
    limit : int, default 100
        Number of proposals.
    thesaurus : Thesaurus, optional
        Thesaurus to extend; default: thesaurus of the atlas.

    Returns
    -------
    Analysis
        Table sorted by rank, with the columns ``rank, name, alternatives, papers, growth,
        growth_low, compactness, in_title, novelty, likeness, score, parent_id, parent, nearest,
        definition, defined_in, region, region_share``: the sentence that defines the phrase best
        and the id of its paper (empty if no paper defines it), and the region with the most papers
        of the phrase, with their share.
        ``tables["papers"]`` has exemplar papers of each proposal (``name, paper_id, title,
        similarity``). ``tables["regions"]`` has one row per region with ``topic_id, label,
        papers, named_share`` (share of the phrases of its papers that the thesaurus covers) and
        ``proposals``.

    Raises
    ------
    InputError
        If the limit is not positive.
    """
    if limit < 1:
        raise InputError(f"The limit is {limit}; give at least 1.")
    import pyarrow as pa
    import pyarrow.compute as pc

    uat = thesaurus or atlas.thesaurus
    with progress("Finding concepts missing in the thesaurus", total=5, unit="steps") as advance:
        papers = atlas.read_papers(
            ["paper_id", "title", "abstract", "keywords", "year", "categories"]
        )
        year = paper_years(atlas)
        advance(1)
        period = read_years(atlas) if (year != UNKNOWN_YEAR).any() else None
        if period is not None:  # growth across a gap of the corpus has no meaning
            comparable = period.years[period.covered & (period.years >= (period.last_stretch or 0))]
            year = np.where(np.isin(year, comparable), year, UNKNOWN_YEAR)
        evidence = gather_evidence(papers, year, atlas.vectors())
        advance(1)
        named, proposals = rank_gaps(evidence, uat, limit=limit)
        advance(1)
        texts = (papers["title"] + ". " + papers["abstract"].fillna("")).to_numpy(dtype=object)
        rows = [_papers_of(evidence.table, phrase) for phrase in proposals["phrase"]]
        proposals["name"] = [
            complete_name(name, texts[of]) for name, of in zip(proposals["name"], rows, strict=True)
        ]
        texts_with = pa.array(texts)
        quotes = []
        for name in proposals["name"]:  # also from papers for which it is not a keyphrase
            has_term = pc.match_substring_regex(texts_with, term_pattern(name), ignore_case=True)
            having = np.flatnonzero(has_term.fill_null(False))
            row, quote = quote_definition(name, texts[having])
            quotes.append((papers["paper_id"].iloc[having[row]] if quote else "", quote))
        proposals["defined_in"], proposals["definition"] = (
            zip(*quotes, strict=True) if quotes else ((), ())
        )
        advance(1)
        proposals = _add_parents(proposals, named, evidence, uat)
        topics = atlas.topics[atlas.topics["level"] == 1]
        topic_of = atlas.map["topic_id"].to_numpy()
        proposals = _add_regions(proposals, evidence.table, topic_of, topics)
        advance(1)
    version = f" {uat.version}" if uat.version else ""
    return Analysis(
        "thesaurus_gaps",
        proposals.drop(columns=["phrase"]),
        f"Phrases that are not in the thesaurus{version} and are used like its terms, in "
        f"{describe_corpus(atlas)}. "
        "The growth is the odds that a paper with the phrase is from the later half, relative to "
        "the odds for papers of the same primary categories.",
        {
            "papers": len(papers),
            "phrases": len(named),
            "phrases in the thesaurus": int((named["concept_id"] != "").sum()),
        },
        atlas.coverage,
        period.warnings if period else ("No paper has a date, so growth is unknown.",),
        {
            "papers": _exemplars(proposals, evidence, papers),
            "regions": _regions(named, proposals, evidence.table, topic_of, topics),
        },
    )


def gather_evidence(
    papers: pd.DataFrame,
    years: NDArray[np.integer],
    vectors: NDArray[np.floating],
    *,
    fewest: int | None = None,
) -> Evidence:
    """Measure the phrases of a corpus from ``title, abstract, keywords, categories``."""
    least = fewest or max(_SETTINGS.fewest_papers, len(papers) // _SETTINGS.papers_a_phrase)
    table = phrase_table(papers["keywords"], fewest=least)
    titles, abstracts = papers["title"].tolist(), papers["abstract"].tolist()
    primary = primary_categories(papers["categories"])
    phrases = measure_phrases(table, vectors, titles, abstracts, years, primary, fewest=least)
    return Evidence(table, phrases, vectors)


def rank_gaps(
    evidence: Evidence, thesaurus: Thesaurus, *, limit: int = 100
) -> tuple[pd.DataFrame, pd.DataFrame]:
    named = name_phrases(evidence.phrases, index_names(thesaurus))
    named["likeness"] = concept_likeness(named)
    grown = np.clip(np.log(np.maximum(named["growth_low"], 1e-9)), -1.0, 3.0)
    named["novelty"] = measure_novelty(evidence.table, named)
    new = np.clip(named["novelty"] / (named["novelty"].std() or 1.0), -2.0, 2.0)
    named["score"] = named["likeness"] + _SETTINGS.growth_weight * grown
    named["score"] += _SETTINGS.novelty_weight * new
    # Telescopes and surveys are not concepts.
    names = {
        normal_form(name) for facility in load_facilities().values() for name in facility.names
    }
    is_facility = named["name"].map(normal_form).isin(names)
    is_term = named["name"].str.contains(r"[a-z]{3}")  # not an object or line ("[O III]")
    return named, merge_spellings(named[~named["covered"] & ~is_facility & is_term], limit=limit)


def merge_spellings(candidates: pd.DataFrame, *, limit: int) -> pd.DataFrame:
    """Merge the spellings and abbreviations of phrases into proposals, sorted by rank."""
    ordered = candidates.sort_values(["score", "name"], ascending=[False, True])
    by_use = candidates.sort_values(["papers", "name"], ascending=[False, True])
    spellings: dict[str, list[str]] = {}
    for bag, name in zip(by_use["bag"], by_use["name"], strict=True):
        spellings.setdefault(bag, []).append(name)
    # Merge an abbreviation with its phrase, even if the abbreviation has the higher rank.
    owned = {abbreviation_letters(one) for one in ordered["acronym"]} - {""}
    best = ordered.drop_duplicates("bag")
    kept = np.array([abbreviation_letters(name) not in owned for name in best["name"]], dtype=bool)
    best = best[kept].head(limit).copy()
    best["name"] = [spellings[bag][0] for bag in best["bag"]]
    best["alternatives"] = [
        tuple(filter(None, (*spellings[bag][1:], acronym)))
        for bag, acronym in zip(best["bag"], best["acronym"], strict=True)
    ]
    best.insert(0, "rank", np.arange(1, len(best) + 1))
    return best.reset_index(drop=True)


_SHOWN = [
    "rank",
    "name",
    "alternatives",
    "papers",
    "growth",
    "growth_low",
    "compactness",
    "in_title",
    "novelty",
    "likeness",
    "score",
    "parent_id",
    "parent",
    "nearest",
    "definition",
    "defined_in",
    "phrase",
]


def _add_parents(
    proposals: pd.DataFrame, named: pd.DataFrame, evidence: Evidence, thesaurus: Thesaurus
) -> pd.DataFrame:
    """Add the concepts with the most similar papers, and the suggested broader concept."""
    wanted = proposals["phrase"].to_numpy(dtype=np.int64)
    nearest = nearest_concepts(evidence.table, evidence.vectors, named, wanted)
    parents = suggest_parents(proposals["name"], nearest, thesaurus, index_names(thesaurus))
    labels = {one: concept.label for one, concept in thesaurus.concepts.items()}
    return proposals.assign(
        parent_id=parents,
        parent=[labels.get(parent, "") for parent in parents],
        nearest=[tuple(f"{labels[one]} ({one})" for one, _ in near[:3]) for near in nearest],
    )[_SHOWN]


def _papers_of(table: PhraseTable, phrase: int) -> NDArray[np.int64]:
    return table.paper[table.phrase == phrase]


def _add_regions(
    proposals: pd.DataFrame, table: PhraseTable, topic_of: NDArray[np.integer], topics: pd.DataFrame
) -> pd.DataFrame:
    """Add the region with the most papers of each proposal, and the share of these papers."""
    labels = dict(zip(topics["topic_id"], topics["label"], strict=True))
    names, shares = [], []
    for phrase in proposals["phrase"]:
        found = topic_of[_papers_of(table, phrase)]
        values, counts = np.unique(found[found >= 0], return_counts=True)
        names.append(labels.get(values[np.argmax(counts)], "") if len(values) else "")
        shares.append(float(counts.max()) / len(found) if len(values) else 0.0)
    return proposals.assign(region=names, region_share=shares)


def _exemplars(proposals: pd.DataFrame, evidence: Evidence, papers: pd.DataFrame) -> pd.DataFrame:
    """Return the papers of each proposal that are nearest to the mean embedding of its papers."""
    import pandas as pd

    chosen = []
    for name, phrase in zip(proposals["name"], proposals["phrase"], strict=True):
        rows = _papers_of(evidence.table, phrase)
        own = np.asarray(evidence.vectors[rows], dtype=np.float64)
        similarity = own @ own.mean(axis=0)
        best = np.argsort(-similarity, kind="stable")[:_N_PAPERS_SHOWN]
        chosen.append(
            papers[["paper_id", "title", "year"]]
            .iloc[rows[best]]
            .assign(name=name, similarity=similarity[best])
        )
    columns = ["name", "paper_id", "title", "year", "similarity"]
    return (
        pd.concat(chosen)[columns].reset_index(drop=True)
        if chosen
        else pd.DataFrame(columns=columns)
    )


def _regions(
    named: pd.DataFrame,
    proposals: pd.DataFrame,
    table: PhraseTable,
    topic_of: NDArray[np.integer],
    topics: pd.DataFrame,
) -> pd.DataFrame:
    """For each region, return the share of its phrases that the thesaurus covers; sort by share."""
    import pandas as pd

    covered = pd.Series(named["covered"].to_numpy(float), index=named["phrase"])
    uses = pd.Series(table.phrase).map(covered)  # NaN for phrases that are not measured
    counts = uses.groupby(topic_of[table.paper]).agg(["count", "sum"])
    counts = counts.reindex(topics["topic_id"], fill_value=0).set_axis(topics.index)
    by_region = proposals.groupby("region")["name"].agg(tuple).to_dict()
    return (
        topics[["topic_id", "label"]]
        .assign(
            papers=topics["n_papers"],
            phrases=counts["count"],
            named_share=counts["sum"] / np.maximum(counts["count"], 1),
            proposals=[by_region.get(label, ()) for label in topics["label"]],
        )
        .sort_values("named_share", kind="stable")
        .reset_index(drop=True)
    )


_FIELDS = (
    "Preferred term",
    "Alternative terms",
    "Broader term",
    "Related terms",
    "Definition",
    "References",
    "Evidence",
)


def to_uat_form(gaps: Analysis, name: str) -> str:
    """Format a proposal as the text of a request for a new concept.

    Parameters
    ----------
    gaps : Analysis
        Result of `landscape.overlays.thesaurus_gaps`.
    name : str
        Name of the proposal.

    Returns
    -------
    str
        Text with one line per field. The definition is a sentence quoted from a paper, with the
        id of the paper; it is a draft to edit, and empty if no paper defines the phrase.

    Raises
    ------
    InputError
        If no proposal has this name.
    """
    fields = _fields(gaps, name)
    return "".join(f"{field}: {text}\n" for field, text in fields.items())


def to_uat_csv(gaps: Analysis) -> str:
    """Write all proposals as CSV, one row per proposal."""
    import pandas as pd

    rows = [_fields(gaps, name) for name in gaps.table["name"]]
    return as_csv(pd.DataFrame(rows, columns=_FIELDS))


def _fields(gaps: Analysis, name: str) -> dict[str, object]:
    found = gaps.table[gaps.table["name"] == name]
    if not len(found):
        hint = did_you_mean(name, gaps.table["name"], n=3)
        raise InputError(f"There is no proposal {name!r} in the table of proposals{hint}")
    row = found.iloc[0]
    papers = gaps.tables["papers"]
    papers = papers[papers["name"] == name]
    parent = f"{row['parent']} ({row['parent_id']})" if row["parent_id"] else ""
    references = (f"{one.paper_id} ({one.year}): {one.title}" for one in papers.itertuples())
    quoted = row["definition"]
    definition = f"\u201c{quoted}\u201d (quoted from {row['defined_in']}; edit)" if quoted else ""
    generated = " (generated papers)" if gaps.bounds.get("generated") else ""
    return {
        "Preferred term": f"{name[:1].upper()}{name[1:]}",
        "Alternative terms": "; ".join(row["alternatives"]),
        "Broader term": parent,
        "Related terms": "; ".join(one for one in row["nearest"] if one != parent),
        "Definition": definition,
        "References": "; ".join(references),
        "Evidence": f"{row['papers']} papers of {gaps.bounds['title']}{generated}; "
        f"{row['in_title']:.0%} have the term in the title",
    }


_METHODS = {"landscape": "score", "frequency": "papers", "compactness": "compactness"}


def backtest_gaps(
    atlas: AtlasStore,
    earlier: Thesaurus,
    later: Thesaurus,
    *,
    limits: tuple[int, ...] = (100, 500, 1000),
) -> Analysis:
    """Count the concepts of a later release that are proposed from an earlier release.

    Parameters
    ----------
    atlas : Atlas
    earlier, later : Thesaurus
        Two releases of the thesaurus with the same ids.
    limits : tuple of int, default (100, 500, 1000)
        Numbers of top proposals to evaluate.

    Returns
    -------
    Analysis
        Table with one row per method and limit. The methods are ``landscape`` (score of
        `rank_gaps`), ``frequency`` (number of papers) and ``compactness``. The columns are
        ``found`` (number of added concepts among the proposals), ``precision`` with a 95%
        interval, ``recall`` (fraction of all added concepts) and ``recall_reachable`` (fraction of
        the added concepts that occur in enough papers of this corpus).
        ``tables["found"]``: ``method, rank, name, concept_id, label``.
    """
    papers = atlas.read_papers(["title", "abstract", "keywords", "categories"])
    evidence = gather_evidence(papers, paper_years(atlas), atlas.vectors())
    added = added_forms(earlier, later)
    table, found = score_proposals(evidence, earlier, added, limits=limits)
    labels = {one: concept.label for one, concept in later.concepts.items()}
    return Analysis(
        "thesaurus_backtest",
        table,
        f"Concepts proposed with thesaurus {earlier.version}, compared with the concepts that "
        f"{later.version} added, in {describe_corpus(atlas)}.",
        {"papers": len(papers), "added concepts": len(set(added.values()))},
        atlas.coverage,
        ("The corpus also contains papers that appeared after the earlier release.",),
        {"found": found.assign(label=found["concept_id"].map(labels))},
    )


def added_forms(earlier: Thesaurus, later: Thesaurus) -> dict[str, str]:
    """Return a mapping from keys of new names to concepts that a later release added."""
    known = index_names(earlier)
    return {
        bag: one
        for bag, one in index_names(later).items()
        if one not in earlier.concepts and bag not in known
    }


def score_proposals(
    evidence: Evidence,
    thesaurus: Thesaurus,
    added: dict[str, str],
    *,
    limits: tuple[int, ...] = (100, 500, 1000),
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Evaluate the top proposals of each method; see `backtest_gaps`."""
    import pandas as pd
    from scipy.stats import binomtest

    named, _ = rank_gaps(evidence, thesaurus, limit=1)
    candidates = named[~named["covered"]]
    reachable = {added[bag] for bag in named["bag"] if bag in added}
    rows: list[dict[str, Any]] = []
    proposals: list[tuple[str, int, str, str]] = []
    for method, column in _METHODS.items():
        ranked = merge_spellings(candidates.assign(score=candidates[column]), limit=max(limits))
        hits = [
            {added[bag] for bag in (row.bag, *map(word_bag, row.alternatives)) if bag in added}
            for row in ranked.itertuples()
        ]
        for limit in limits:
            concepts = set().union(*hits[:limit])
            right, tried = sum(map(bool, hits[:limit])), min(limit, len(hits))
            low, high = binomtest(right, max(tried, 1)).proportion_ci(method="wilson")
            rows.append(
                {
                    "method": method,
                    "proposals": tried,
                    "found": len(concepts),
                    "precision": right / max(tried, 1),
                    "precision_low": low,
                    "precision_high": high,
                    "recall": len(concepts) / max(len(set(added.values())), 1),
                    "recall_reachable": len(concepts & reachable) / max(len(reachable), 1),
                }
            )
        proposals.extend(
            (method, int(rank), str(name), one)
            for rank, name, ids in zip(ranked["rank"], ranked["name"], hits, strict=True)
            for one in sorted(ids)
        )
    return pd.DataFrame(rows), pd.DataFrame(
        proposals, columns=["method", "rank", "name", "concept_id"]
    )
