"""Describe the regions of a map by their papers, and quote their most central papers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.answers.asking import ask
from landscape.answers.settings import AskSettings
from landscape.corpus.thesaurus import MIN_SCORE
from landscape.errors import AtlasError, InputError
from landscape.search import open_engine, sentences_of
from landscape.search.sentences import says_something, word_scores
from landscape.types import Analysis, Paper

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from landscape.llm import WritingModel
    from landscape.store import AtlasStore

_LISTED = 5  # number of concepts, facilities, typical papers and newest papers
_QUOTED = 2  # number of sentences, each from another paper
_LENGTH = (60, 320)  # characters of a quoted sentence
_ALL = "Regions of the map, described by their papers. Sentences are quoted from central papers."


def describe_regions(
    atlas: AtlasStore, region: str | int | None = None, *, model: WritingModel | None = None
) -> Analysis:
    """Describe the regions of a map: concepts, facilities, years, typical papers, subregions.

    The sentences are quoted from the most central papers. A language model can write a paragraph
    on one region from its papers; the claims are checked like those of an answer.

    Parameters
    ----------
    atlas : Atlas
    region : str or int, optional
        Name or number of a continent, region or subregion. By default all regions are described.
    model : WritingModel, optional
        Language model that writes the paragraph on `region`.

    Returns
    -------
    Analysis
        One row per region, by level and size: ``topic_id, level, region, within, papers,
        first_year, last_year, concepts, facilities, subregions, typical, newest, sentences``, and
        ``paragraph`` if a model wrote one. The caption describes `region` in full.

    Raises
    ------
    InputError
        If the region does not exist, or a model is given without a region.

    Examples
    --------
    >>> import landscape as ls
    >>> from landscape.answers import describe_regions
    >>> describe_regions(ls.open("my.atlas"), "Pulsars")  # doctest: +SKIP
    """
    if model is not None and region is None:
        raise InputError("A language model describes one region; give its name or number.")
    import pandas as pd

    topics = atlas.topics.sort_values(["level", "n_papers"], ascending=[True, False])
    chosen = topics if region is None else topics[_is_region(topics, region)]
    if region is not None and chosen.empty:
        raise InputError(f"There is no region {region!r} on this map; see the table of topics.")
    members = {row.topic_id: _rows_in(atlas, row) for row in chosen.itertuples()}
    papers = atlas.read_papers(["title", "year", "date", "paper_id"])
    names = dict(zip(topics["topic_id"], topics["label"], strict=True))
    concepts, facilities = _concepts(atlas), _facilities(atlas)
    engine = open_engine(atlas)
    rows = []
    for one in chosen.itertuples():
        inside = papers.iloc[members[one.topic_id]]
        years = inside["year"].dropna()
        central = engine.papers([engine.row_of(name) for name in one.exemplars])
        newest = inside.sort_values("date", ascending=False, kind="stable").head(_LISTED)
        below = topics[topics["parent_id"] == one.topic_id]
        rows.append(
            {
                "topic_id": int(one.topic_id),
                "level": int(one.level),
                "region": one.label,
                "within": names.get(one.parent_id, ""),
                "papers": len(inside),
                "first_year": years.min(),
                "last_year": years.max(),
                "concepts": _typical(concepts, members[one.topic_id])
                or list(one.keywords)[:_LISTED],
                "facilities": _typical(facilities, members[one.topic_id], common=True),
                "subregions": list(below["label"]),
                "typical": [f"{paper.title} ({paper.label})" for paper in central[:_LISTED]],
                "newest": [f"{new.title} ({new.year})" for new in newest.itertuples()],
                "sentences": _quotes(central, f"{one.label} {' '.join(one.keywords)}"),
            }
        )
    table = pd.DataFrame(rows).astype({"first_year": "Int64", "last_year": "Int64"})
    warnings: tuple[str, ...] = ()
    if model is not None:
        question = f"What do the papers on {rows[0]['region']} study, and what do they find?"
        settings = AskSettings(k=8, style="multi-paper", generation="rag", hyde=False)
        inside = engine.within(members[rows[0]["topic_id"]])
        answer = ask(inside, question, settings, model=model)
        table, warnings = table.assign(paragraph=answer.text), answer.notes
    return Analysis(
        kind="regions",
        table=table,
        caption=_ALL if region is None else _caption(table.iloc[0]),
        denominators={"papers": len(atlas)},
        bounds=atlas.coverage,
        warnings=warnings,
    )


def _is_region(topics: pd.DataFrame, region: str | int) -> pd.Series:
    """Return a mask of the topics with a name or number."""
    if str(region).isdecimal():
        return topics["topic_id"] == int(region)
    return topics["label"].str.casefold() == str(region).casefold()


def _rows_in(atlas: AtlasStore, topic: Any) -> NDArray[np.int64]:
    """Return the rows of the papers in a continent, region or subregion."""
    if topic.level == 2:
        return np.flatnonzero(atlas.map["subregion_id"].to_numpy() == topic.topic_id)
    children = atlas.topics.loc[atlas.topics["parent_id"] == topic.topic_id, "topic_id"]
    wanted = [topic.topic_id] if topic.level == 1 else children.tolist()
    return np.flatnonzero(atlas.map["topic_id"].isin(wanted).to_numpy())


def _concepts(atlas: AtlasStore) -> pd.DataFrame | None:
    try:
        tags = atlas.read_layer("uat", ["concept_id", "score"])
        labels = {one: concept.label for one, concept in atlas.thesaurus.concepts.items()}
    except AtlasError:
        return None
    tags = tags[tags["score"] >= MIN_SCORE]
    return tags.assign(name=tags["concept_id"].astype(str).map(labels))[["paper_row", "name"]]


def _facilities(atlas: AtlasStore) -> pd.DataFrame | None:
    try:
        mentions = atlas.missions
    except AtlasError:
        return None
    if mentions["role"].notna().any():  # atlases of earlier versions have no roles
        mentions = mentions[mentions["role"] == "science"]
    mentions = mentions.rename(columns={"facility": "name"})[["paper_row", "name"]]
    return mentions.drop_duplicates()


def _typical(table: pd.DataFrame | None, rows: NDArray[np.int64], *, common: bool = False) -> Any:
    """Return the names that are most over-represented in some papers, or most frequent."""
    if table is None or not len(table):
        return []
    inside = table["name"][table["paper_row"].isin(rows)].value_counts()
    inside = inside[inside >= 2]
    if not common:
        share = inside / len(rows)
        everywhere = table["name"].value_counts()[inside.index] / table["paper_row"].nunique()
        inside = (share * np.log(share / everywhere)).sort_values(ascending=False, kind="stable")
        inside = inside[inside > 0]
    return [str(name) for name in inside.index[:_LISTED]]


def _quotes(papers: Sequence[Paper], subject: str) -> list[str]:
    """Quote the sentences of central papers that share most words with a subject."""
    quotes: list[tuple[float, int, str]] = []
    for place, paper in enumerate(papers):
        sentences = [one for one in sentences_of(paper) if says_something(one.text)]
        some = [
            sentence.text
            for sentence in sentences
            if _LENGTH[0] <= len(sentence.text) <= _LENGTH[1]
        ]
        if some:
            scores = word_scores(subject, some)
            best = int(np.argmax(scores))
            quotes.append((-float(scores[best]), place, f"“{some[best]}” ({paper.label})"))
    return [text for _, _, text in sorted(quotes)[:_QUOTED]]


def _caption(row: pd.Series) -> str:
    """Return the description of one region, one line per property."""
    lines = [f"{row['region']}: {row['papers']:,} papers, {row['first_year']}-{row['last_year']}."]
    lines += [f"Part of {row['within']}."] if row["within"] else []
    for name in ("concepts", "facilities", "subregions", "typical", "newest"):
        lines += [f"{name.capitalize()}: {'; '.join(row[name])}."] if row[name] else []
    paragraph = [row["paragraph"]] if "paragraph" in row else []
    return "\n".join([*lines, *row["sentences"], *paragraph])
