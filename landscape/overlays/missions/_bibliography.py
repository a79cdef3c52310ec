"""Compare the bibliography of a facility with the text of the papers, for its librarians."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from landscape._wording import count
from landscape.corpus import find_facility
from landscape.corpus.facilities import ROLES
from landscape.errors import InputError
from landscape.overlays.missions._bodies import READ, certainty_of
from landscape.overlays.missions.roles import Place, score_roles
from landscape.overlays.missions.usage import Usage, read_roles, select_mentions
from landscape.overlays.periods import describe_corpus, paper_years
from landscape.statistics import corrected_count_interval, ratio, share_interval
from landscape.store.facility_lists import FacilityList, apply_lists
from landscape.text import split_sentences
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.store import AtlasStore

_SCIENCE = ROLES.index("science")
_MAX_SENTENCE = 400  # characters
_MISSING, _EXTRA = "not in the list", "in the list, not in the text"


def bibliography(
    atlas: AtlasStore, facility: str, *, by: Literal["year", "region"] | None = None
) -> Analysis:
    """Compare the bibliography of a facility with the text of the papers.

    Parameters
    ----------
    atlas : Atlas
        Atlas with a bibliography of the facility (``landscape build --bibliography``).
    facility : str
        Name of the facility.
    by : {"year", "region"}, optional
        Return the agreement of list and text by year or region as the table, instead of the
        candidates.

    Returns
    -------
    Analysis
        Candidates for corrections of the list in the order of their certainty, first those that
        the list lacks, with the columns ``rank, candidate, certainty, bibcode, year, sentence,
        field, region, title, list_says, arxiv_id, doi, paper_id``. ``candidate`` is "not in the
        list" if the text says that the paper uses the data, and "in the list, not in the text" if
        it mentions the facility in another role. The certainty is that of the text, from 0 to 1.

        ``tables``: ``years`` and ``regions`` with the numbers of papers by the list, the text and
        both, and ``precision``, ``recall`` and ``agreement`` (both among all papers by either)
        with 95% intervals.

    Raises
    ------
    InputError
        If the facility is unknown, or the atlas has no bibliography of it.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.overlays.missions.bibliography(ls.open("my.atlas"), "TESS")  # doctest: +SKIP
    """
    import pandas as pd

    chosen = find_facility(facility)
    _, lists = apply_lists(atlas, read_roles(atlas))
    if chosen.name not in lists:
        stage = atlas.stages.get("bibliographies")
        read = stage.details.get("lists", {}).get(chosen.name) if stage else None
        if read:
            raise InputError(
                f"The atlas has no paper of the {read['entries']:,} entries of "
                f"{read['name']}; compare the identifiers of the list with those of the papers."
            )
        known = ", ".join(sorted(lists)) or "no facility"
        raise InputError(
            f"The atlas has no bibliography of {chosen.name}; it has one of {known}. Add it with: "
            f"landscape update {atlas.path} --bibliography {chosen.name}=FILE"
        )
    of = lists[chosen.name]
    years = paper_years(atlas)
    mentions = atlas.missions
    mentions = mentions[select_mentions(mentions, chosen)]
    inside = of.scope
    missing = np.setdiff1d(of.text[inside[of.text]], of.listed)
    extra = np.setdiff1d(of.listed[inside[of.listed]], of.text)
    silent = np.setdiff1d(extra, mentions["paper_row"])
    parts = [
        _candidates(atlas, mentions, missing, of, kind=_MISSING),
        _candidates(atlas, mentions, np.setdiff1d(extra, silent), of, kind=_EXTRA),
    ]
    table = pd.concat([one for one in parts if len(one)] or parts, ignore_index=True)
    regions = atlas.topics[atlas.topics["level"] == 1]
    names = dict(zip(regions["topic_id"], regions["label"], strict=True))
    topic = atlas.map["topic_id"].to_numpy()
    table["region"] = [names.get(topic[row], "") for row in table["row"]]
    table["year"] = years[table["row"]]
    table["list_says"] = np.where(np.isin(table["row"], of.unrelated), "unrelated", "")
    table.insert(0, "rank", table.groupby("candidate", sort=False).cumcount() + 1)
    both, only_list, only_text = of.agreement()
    spans = {int(year): int(year) for year in range(of.since, of.until + 1)}
    by_year = pd.DataFrame(_by_group(of, years, spans, key="year"))
    by_region = pd.DataFrame(_by_group(of, topic, names, key="region"))
    if len(by_region):
        by_region = by_region.sort_values("list", ascending=False, kind="stable")
    chosen_table = {"year": by_year, "region": by_region}.get(by or "", table.drop(columns="row"))
    listed = int(inside[of.listed].sum())
    never = f"; {len(silent):,} never name {chosen.name}" if len(silent) else ""
    body = "titles, abstracts and full texts" if atlas.has_sections else "titles and abstracts"
    return Analysis(
        "bibliography" if by is None else "bibliography_agreement",
        chosen_table,
        f"The list {of.name} of {chosen.name} ({of.date}, {of.since} to {of.until}) and the text "
        f"of {describe_corpus(atlas, with_size=True)}: of {count(listed, 'listed paper')}, the "
        f"text ({body}) finds {both:,}{never}. "
        f"{count(only_text, 'paper')} that use it by their text are not in the list.",
        {
            "papers in the years of the list": int(inside.sum()),
            "papers of the list": both + only_list,
            "papers that use it by their text": both + only_text,
            "papers of the list that never name it": len(silent),
        },
        atlas.coverage,
        tables={"years": by_year, "regions": by_region},
    )


def _by_group(
    of: FacilityList, group: NDArray[np.int64], names: Mapping[int, object], *, key: str
) -> list[dict[str, object]]:
    """Return the agreement of list and text in each group of papers, such as years."""
    rows = []
    for number, name in names.items():
        both, only_list, only_text = of.agreement(group == number)
        n_list, n_text, every = both + only_list, both + only_text, both + only_list + only_text
        if not every:
            continue
        row: dict[str, object] = {
            key: name, "papers": int((of.scope & (group == number)).sum()),
            "list": n_list, "text": n_text, "both": both,
        }  # fmt: skip
        for column, right, total in (
            ("precision", both, n_text), ("recall", both, n_list), ("agreement", both, every),
        ):  # fmt: skip
            low, high = share_interval(np.array([right]), np.array([total]))
            value = ratio(np.array([right]), np.array([total]))[0]
            row |= {column: value, f"{column}_low": low[0], f"{column}_high": high[0]}
        rows.append(row)
    return rows


def _candidates(
    atlas: AtlasStore,
    mentions: pd.DataFrame,
    rows: NDArray[np.int64],
    of: FacilityList,
    *,
    kind: str,
) -> pd.DataFrame:
    """Return papers with the sentence that decides about each, the most certain first."""
    import pandas as pd

    columns = ["bibcode", "arxiv_id", "doi", "paper_id", "title", "abstract", "date"]
    papers = atlas.read_papers(columns, rows=rows)
    own = mentions[mentions["paper_row"].isin(rows)]
    texts = _section_texts(atlas, own)
    found = []
    every = atlas.missions
    every = every[every["paper_row"].isin(rows) & every["section"].isna()]
    of_paper = dict(list(every.groupby("paper_row")))
    for place, (row, mine) in enumerate((row, own[own["paper_row"] == row]) for row in rows):
        paper = papers.iloc[place]
        certainty, sentence, field = _decide(
            paper, mine, of_paper.get(row, every.iloc[:0]), texts, wants_use=kind == _MISSING
        )
        found.append((certainty, sentence, field))
    table = papers.drop(columns=["abstract", "date"]).assign(row=rows, candidate=kind)
    names = ["certainty", "sentence", "field"]
    table[names] = pd.DataFrame(found, columns=names, index=table.index)
    # A librarian who wrote "unrelated" has read the paper.
    judged = np.isin(table["row"], of.unrelated)
    table = table.assign(judged=judged).sort_values(
        ["judged", "certainty"], ascending=[True, False], kind="stable"
    )
    order = ["candidate", "certainty", "bibcode", "sentence", "field", "title", "arxiv_id", "doi",
             "paper_id", "row"]  # fmt: skip
    return table[order]


def _section_texts(atlas: AtlasStore, mentions: pd.DataFrame) -> dict[tuple[str, int], str]:
    """Return the texts of the sections with mentions, by paper and number."""
    if not atlas.has_sections or mentions["section"].isna().all():
        return {}
    table = atlas.sections(mentions["paper_row"].unique(), kinds=READ)
    keys = zip(table["paper_id"], table["number"], strict=True)
    return dict(zip(keys, table["text"], strict=True))


def _decide(
    paper: Any,
    mentions: pd.DataFrame,
    every: pd.DataFrame,
    texts: dict[tuple[str, int], str],
    *,
    wants_use: bool,
) -> tuple[float, str, str]:
    """Return how certain the text is, the sentence that decides, and its field."""
    title, abstract = paper["title"] or "", paper["abstract"] or ""
    best = (0.0, "", "")
    for one in mentions[mentions["section"].notna()].itertuples():
        text = texts.get((one.paper_id, int(one.section)), "")
        if not text or (one.role == "science") != wants_use:
            continue
        sentence = _sentence(text, one.start)
        value = certainty_of(one.field, sentence, is_use=wants_use)
        if value > best[0]:
            best = (value, sentence, one.field)
    places = [
        Place(one.start + shift, one.end + shift, one.facility)
        for one in every.itertuples()
        for shift in [0 if one.field == "title" else len(title) + 1]
    ]
    order = np.argsort([place.start for place in places], kind="stable")
    places = [places[number] for number in order]
    day = None if paper["date"] is None or paper["date"] != paper["date"] else paper["date"].date()
    scores = score_roles(f"{title}\n{abstract}", places, day)
    if len(scores):
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        chance = odds[:, _SCIENCE] / odds.sum(axis=1)
        starts = {
            (one.start + (0 if one.field == "title" else len(title) + 1)): one
            for one in mentions[mentions["section"].isna()].itertuples()
        }
        values = {
            place.start: float(value)
            for place, value in zip(places, chance, strict=False)
            if place.start in starts
        }
        if values:
            # Use is shown by the clearest mention; no use needs all mentions.
            start = max(values, key=lambda one: values[one])
            value = values[start] if wants_use else 1 - values[start]
            one = starts[start]
            text = title if one.field == "title" else abstract
            if value > best[0] or not best[1]:
                best = (value, _sentence(text, one.start), one.field)
    return best


def _sentence(text: str, start: int) -> str:
    """Return the sentence at a place of a text, on one line."""
    for first, last in split_sentences(text):
        if first <= start < last:
            return " ".join(text[first:last].split())[:_MAX_SENTENCE]
    return " ".join(text[start : start + _MAX_SENTENCE].split())


def list_columns(
    usage: Usage, table: pd.DataFrame, insides: Sequence[NDArray[np.bool_]]
) -> pd.DataFrame:
    """Return the sources of the papers of each row, and its papers corrected for the text."""
    import pandas as pd

    names = [facility.name for facility in usage.facilities]
    rows = []
    for name, inside in zip(table["facility"], insides, strict=True):
        number = names.index(name)
        rows.append(_columns(usage, number, inside) if number in usage.lists else {})
    return pd.DataFrame(rows, index=table.index)


def _columns(usage: Usage, number: int, inside: NDArray[np.bool_]) -> dict[str, Any]:
    of = usage.lists[number]
    counted = usage.uses(number) & inside
    by_list, by_text = np.zeros_like(counted), np.zeros_like(counted)
    by_list[of.listed], by_text[of.text] = True, True
    decided = counted & of.scope
    outside = counted & ~of.scope
    both, only_list, only_text = of.agreement()
    low, high = corrected_count_interval(
        int((outside & ~by_list).sum()), both, only_list, only_text
    )
    factor = ratio(np.array([both + only_list]), np.array([both + only_text]))[0]
    known = int((decided | (outside & by_list)).sum())
    corrected = known + float((outside & ~by_list).sum()) * factor
    every = int(inside.sum())
    found: dict[str, Any] = {
        "listed_papers": int((of.scope & inside).sum()),
        "list_papers": int((counted & by_list).sum()),
        "text_papers": int((counted & by_text).sum()),
        "both_papers": int((counted & by_list & by_text).sum()),
    }
    for name, right, total in (
        ("list_precision", both, both + only_text),
        ("list_recall", both, both + only_list),
    ):
        bounds = share_interval(np.array([right]), np.array([total]))
        found |= {name: ratio(np.array([right]), np.array([total]))[0]}
        found |= {f"{name}_low": bounds[0][0], f"{name}_high": bounds[1][0]}
    for name, scale in (("corrected_papers", 1), ("corrected_share", max(every, 1))):
        found |= {name: corrected / scale}
        found |= {f"{name}_low": (known + low) / scale, f"{name}_high": (known + high) / scale}
    return found


def describe_lists(usage: Usage) -> str:
    """Return sentences on the lists that decide, for captions."""
    said = []
    for number, of in usage.lists.items():
        name = usage.facilities[number].name
        both, only_list, only_text = of.agreement()
        share = of.scope.mean() if len(of.scope) else 0.0
        span = str(of.since) if of.since == of.until else f"{of.since}–{of.until}"
        early = count(of.n_early, "listed paper") if of.n_early else ""
        right = f"{both / (both + only_text):.0%}" if both + only_text else "unknown"
        complete = f"{both / (both + only_list):.0%}" if both + only_list else "unknown"
        said.append(
            f" {name}: the list {of.name} decides for {span} ({share:.0%} of the papers); "
            f"elsewhere, papers of the list or by their text count (precision of the text {right}, "
            f"recall {complete} against the list)."
            + (f" Not counted: {early} from before the first light." if early else "")
        )
    return "".join(said)
