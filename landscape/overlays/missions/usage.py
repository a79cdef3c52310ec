"""Find papers that mention facilities, links between regions, and main research fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from landscape._io import data_file, read_yaml
from landscape.corpus.facilities import ROLES
from landscape.errors import InputError
from landscape.overlays.missions.roles import draw_certainty
from landscape.overlays.periods import (
    UNKNOWN_YEAR,
    Years,
    check_period,
    paper_years,
    primary_categories,
    read_years,
)
from landscape.statistics import false_discovery_rates, ratio, share_interval
from landscape.store.facility_lists import LISTED, N_ROLES, UNLISTED, FacilityList, apply_lists

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from landscape.corpus import Facility
    from landscape.corpus.thesaurus import Thesaurus
    from landscape.store import AtlasStore

Role = Literal["science", "instrumentation", "planned", "mention", "any"]
ROLE_CHOICES = (*ROLES, "any")
_VERBS = {
    "science": "use data of",
    "instrumentation": "are about",
    "planned": "plan to use",
    "mention": "only mention",
    "any": "mention",
}
_DRAWS = 200  # number of draws of the confusion matrix for intervals of regions and years


@dataclass(frozen=True)
class Usage:
    """Papers of an atlas, the papers that count for each facility, and the roles of all others.

    `roles` has the number of the strongest role of each facility in each paper, counted from 1 as
    in `ROLES`, or 0 if the paper does not mention the facility, shape (n_facilities, n_papers).
    Where a bibliography decides, the number is `LISTED` or `UNLISTED`.
    """

    facilities: tuple[Facility, ...]
    rows: tuple[NDArray[np.int64], ...]
    roles: csr_array
    role: Role
    has_roles: bool
    region: NDArray[np.int64]
    regions: pd.DataFrame
    year: NDArray[np.int64]
    date: NDArray[np.datetime64]
    cites: NDArray[np.float64]
    years: Years
    category: NDArray[np.object_]  # primary category of each paper, or ""
    lists: Mapping[int, FacilityList] = field(default_factory=dict)  # by number of the facility

    @property
    def n_papers(self) -> int:
        """Number of papers of the corpus."""
        return len(self.region)

    @cached_property
    def covered(self) -> NDArray[np.bool_]:
        """Mask of the papers from years that the corpus covers, shape (n_papers,)."""
        covered = np.isin(self.year, self.years.years[self.years.covered])
        return covered & (self.year != UNKNOWN_YEAR)

    def uses(self, index: int) -> NDArray[np.bool_]:
        """Return a boolean mask of the papers that count for a facility, shape (n_papers,)."""
        mask = np.zeros(self.n_papers, dtype=bool)
        mask[self.rows[index]] = True
        return mask

    @property
    def counted(self) -> NDArray[np.float64]:
        """1 for each number of a role that counts, otherwise 0, shape (7,)."""
        numbers = np.arange(N_ROLES)
        chosen = numbers > 0 if self.role == "any" else numbers == 1 + ROLES.index(self.role)
        chosen[LISTED] |= self.role == "science"
        chosen[UNLISTED] |= self.role == "mention"
        return chosen.astype(np.float64)

    def mentions(self, index: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows of the papers that mention a facility, and the number of its role."""
        row = self.roles[[index]].sorted_indices()
        return row.indices.astype(np.int64), row.data.astype(np.int64)

    @property
    def verb(self) -> str:
        """What the papers that count for a facility do with it, for captions."""
        return _VERBS[self.role]

    def count_roles(
        self, index: int, mask: NDArray[np.bool_], place: NDArray[np.int64], n_places: int
    ) -> NDArray[np.int64]:
        """Count the selected papers by place and number of the role, shape (n_places, 7).

        The first column is 0, because papers that do not mention the facility are not counted.
        """
        size = N_ROLES
        rows, roles = self.mentions(index)
        kept = mask[rows] & (place[rows] >= 0)
        codes = place[rows[kept]] * size + roles[kept]
        return np.bincount(codes, minlength=n_places * size).reshape(n_places, size)

    def share_interval(
        self, index: int, roles: NDArray[np.int64], every: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return Wilson's interval of shares, widened by the error of the classifier of roles.

        `roles` has the numbers of papers as returned by `count_roles`.
        """
        papers = roles @ self.counted
        low, high = share_interval(papers, every)
        if self.role == "any":
            return low, high
        totals = np.bincount(self.mentions(index)[1], minlength=N_ROLES)[1 : 1 + len(ROLES)]
        certainty = self.certainty(totals, _DRAWS, np.random.default_rng(0))
        change = ratio(roles @ (certainty - self.counted).T, every[:, None])
        mean, spread, share = change.mean(axis=1), 2 * change.std(axis=1), ratio(papers, every)
        return (
            np.clip(share + np.minimum(mean, 0) - np.hypot(share - low, spread), 0, 1),
            np.clip(share + np.maximum(mean, 0) + np.hypot(high - share, spread), 0, 1),
        )

    def certainty(
        self, papers: NDArray[np.int64], n_resamples: int, random: np.random.Generator
    ) -> NDArray[np.float64]:
        """Draw the probabilities that papers with each number of a role count, shape (n, 7)."""
        drawn = draw_certainty(papers, self.role, n_resamples=n_resamples, random=random)
        decided = np.broadcast_to(self.counted[LISTED:], (n_resamples, N_ROLES - LISTED))
        return np.hstack([drawn, decided])

    def by_region(self, selected: NDArray[np.bool_] | NDArray[np.int64]) -> NDArray[np.int64]:
        """Count papers, given as a mask or as rows, in each region."""
        region = self.region[selected]
        return np.bincount(region[region >= 0], minlength=len(self.regions)).astype(np.int64)

    def by_year(self, mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Count the selected papers of each year of `years`."""
        year = self.year[mask & (self.year >= 0)]
        return np.bincount(year - self.years.years[0], minlength=len(self.years.years))


def read_usage(
    atlas: AtlasStore, facilities: Sequence[str] | None = None, *, role: Role = "science"
) -> Usage:
    """Read which papers use facilities, by default all facilities of the atlas."""
    import pandas as pd
    from scipy.sparse import csr_array

    if role not in ROLE_CHOICES:
        raise InputError(f"role is {role!r}; choose {', '.join(ROLE_CHOICES)}.")
    named = None if facilities is None else _named(facilities)
    pairs = read_roles(atlas, named)
    has_roles = bool((pairs["role"] >= 0).all())  # not in an atlas of an earlier version
    role = role if has_roles else "any"
    pairs, lists = apply_lists(atlas, pairs)
    counted = pairs[_counts(pairs["role"].to_numpy(np.int64), role)]
    chosen = _by_papers(counted["facility"], pairs["facility"]) if named is None else named
    regions = atlas.topics.loc[atlas.topics["level"] == 1, ["topic_id", "label", "x", "y"]]
    regions = regions.reset_index(drop=True)
    papers = atlas.read_papers(["date", "cites", "categories"])
    year = paper_years(atlas)
    names = [one.name for one in chosen]
    by_name = dict(list(counted.groupby("facility", observed=True)["paper_row"]))
    index = pd.Index(names).get_indexer(pairs["facility"])
    own = pairs[index >= 0]
    places = (index[index >= 0], own["paper_row"].to_numpy(np.int64))
    return Usage(
        lists={number: lists[name] for number, name in enumerate(names) if name in lists},
        facilities=chosen,
        rows=tuple(np.sort(np.asarray(by_name.get(name, []), dtype=np.int64)) for name in names),
        roles=csr_array(
            (own["role"].clip(lower=0).to_numpy(np.int8) + 1, places), (len(names), len(papers))
        ),
        role=role,
        has_roles=has_roles,
        region=pd.Index(regions["topic_id"]).get_indexer(atlas.map["topic_id"]).astype(np.int64),
        regions=regions,
        year=year,
        date=pd.to_datetime(papers["date"]).to_numpy("datetime64[D]"),
        cites=pd.to_numeric(papers["cites"]).to_numpy(np.float64, na_value=np.nan),
        years=read_years(atlas),
        category=primary_categories(papers["categories"]),
    )


def _counts(role: NDArray[np.int64], wanted: Role) -> NDArray[np.bool_]:
    """Return which roles, as places in `ROLES` or numbers of a list minus 1, count."""
    if wanted == "any":
        return np.ones(len(role), dtype=bool)
    of_list = {"science": LISTED - 1, "mention": UNLISTED - 1}.get(wanted, -9)
    return np.asarray((role == ROLES.index(wanted)) | (role == of_list))


def read_roles(atlas: AtlasStore, facilities: Sequence[Facility] | None = None) -> pd.DataFrame:
    """Read the strongest role of each facility in each paper, as its place in `ROLES`.

    The role is -1 in an atlas of an earlier version, which has no roles. Without `facilities`, an
    instrument counts for its telescope; otherwise each mention counts for all that it names.
    """
    import pandas as pd

    mentions = atlas.read_layer("missions", ["facility", "surface", "role"])
    mentions = mentions.assign(role=pd.Index(ROLES).get_indexer(mentions["role"]))
    if facilities is not None:
        chosen = [
            (facility.name, mentions[select_mentions(mentions, facility)])
            for facility in facilities
        ]
        mentions = pd.concat([own.assign(facility=name) for name, own in chosen])
    return mentions.sort_values("role", kind="stable").drop_duplicates(["facility", "paper_row"])


def select_mentions(mentions: pd.DataFrame, facility: Facility) -> NDArray[np.bool_]:
    """Return a mask of the mentions that name a facility or a part of it, shape (n_mentions,)."""
    own = mentions["facility"].isin(facility.counted_as).to_numpy()
    if not facility.is_part:
        return own
    names = mentions["surface"].where(own).astype(object)
    wanted = [
        name for name in names.dropna().unique() if facility.includes(facility.counted_as[0], name)
    ]
    return names.isin(wanted).to_numpy()


def in_period(usage: Usage, since: int | None, until: int | None) -> NDArray[np.bool_]:
    """Return a mask of the papers from the first to the last year of a period."""
    check_period(since, until)
    inside = np.ones(usage.n_papers, dtype=bool)
    if since is not None:
        inside &= usage.year >= since
    if until is not None:
        inside &= (usage.year <= until) & (usage.year != UNKNOWN_YEAR)
    if not inside.any():
        first, last = usage.years.years[[0, -1]]
        raise InputError(
            f"The corpus has no paper of {format_period(since, until)}; choose a period within "
            f"{first} to {last}."
        )
    return inside


def format_period(since: int | None, until: int | None) -> str:
    """Describe a period in words."""
    if since is None and until is None:
        return "all years"
    if until is None:
        return f"{since} and later"
    return f"{until} and earlier" if since is None else f"{since} to {until}"


def _named(names: Sequence[str]) -> tuple[Facility, ...]:
    from landscape.corpus import find_facility

    given = [names] if isinstance(names, str) else list(names)
    if not given:
        raise InputError("No facility is given; name at least one, for example ALMA.")
    return tuple({one.name: one for one in map(find_facility, given)}.values())


def _by_papers(counted: pd.Series, mentioned: pd.Series) -> tuple[Facility, ...]:
    from landscape.corpus import load_facilities

    known = load_facilities()
    counts, used = mentioned.value_counts(), counted.value_counts()
    ranking = sorted(
        (-int(used.get(name, 0)), -int(n), str(name))
        for name, n in counts.items()
        if n and name in known
    )
    if not ranking:
        raise InputError(
            "No paper of this corpus mentions a facility; use an atlas of observational papers."
        )
    return tuple(known[name] for *_, name in ranking)


_BLOCK = 16_384  # number of papers whose vectors are read at a time
_SHARE_BETWEEN = 0.2  # share of the papers, those with the smallest margins, between two regions
_MIN_PAPERS = 3  # minimum number of papers of a listed pair of regions


@dataclass(frozen=True)
class Reach:
    """Links from each paper to other regions."""

    known: NDArray[np.bool_]
    regions: csr_array

    @property
    def n_reached(self) -> NDArray[np.int64]:
        """Number of other regions to which each paper is linked, or -1 if unknown."""
        return np.where(self.known, np.diff(self.regions.indptr), -1).astype(np.int64)


def find_reach_by_vectors(
    vectors: NDArray[np.floating],
    region: NDArray[np.int64],
    n_regions: int,
    *,
    between: float = _SHARE_BETWEEN,
) -> Reach:
    """Link each paper that lies between two regions to the second most similar region."""
    known = region >= 0
    margin = np.full(len(region), np.inf, dtype=np.float32)
    other = np.zeros(len(region), dtype=np.int64)
    if n_regions > 1 and known.any():
        centroids = _centroids(vectors, region, n_regions)
        for start in range(0, len(region), _BLOCK):
            block = slice(start, start + _BLOCK)
            similarity = np.asarray(vectors[block], dtype=np.float32) @ centroids.T
            at = np.arange(len(similarity))
            own = similarity[at, region[block]].copy()
            similarity[at, region[block]] = -np.inf
            other[block] = similarity.argmax(axis=1)
            margin[block] = own - similarity[at, other[block]]
        crossing = known & (margin <= np.quantile(margin[known], between))
    else:
        crossing = np.zeros(len(region), dtype=bool)
    links = _incidence(np.flatnonzero(crossing), other[crossing], len(known), n_regions)
    return Reach(known, links)


def find_reach_by_citations(
    bibcodes: Sequence[str | None],
    references: Sequence[Sequence[str] | None],
    region: NDArray[np.int64],
    n_regions: int,
) -> Reach:
    """Link each paper to the other regions that it cites."""
    import pandas as pd

    lengths = np.array([0 if cited is None else len(cited) for cited in references])
    citing = np.repeat(np.arange(len(region)), lengths)
    names = [name for cited in references if cited is not None for name in cited]
    keys = pd.Series(np.arange(len(region)), index=pd.Index(bibcodes, dtype=object))
    keys = keys[keys.index.notna() & ~keys.index.duplicated()]
    cited = keys.reindex(names).fillna(-1).to_numpy(np.int64)
    into = np.where(cited >= 0, region[cited], -1) if len(cited) else cited
    linked = (into >= 0) & (region[citing] >= 0)
    citing, into = citing[linked], into[linked]
    known = np.zeros(len(region), dtype=bool)
    known[citing] = True
    away = into != region[citing]
    return Reach(known, _incidence(citing[away], into[away], len(known), n_regions))


def crossing_rates(
    reach: Reach, region: NDArray[np.int64], inside: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the share of the papers of each region that are linked to each other region."""
    reached, papers = _reached(reach, region, inside)
    return reached / np.maximum(papers, 1)[:, None]


def find_bridges(
    reach: Reach,
    region: NDArray[np.int64],
    uses: NDArray[np.bool_],
    inside: NDArray[np.bool_],
    *,
    rates: NDArray[np.float64] | None = None,
) -> pd.DataFrame:
    """Find pairs of regions that papers of a facility connect more often than other papers.

    The column ``ratio`` is the number of observed papers divided by the expected number. It is
    the association strength of van Eck & Waltman (2009, JASIST 60, 1635). Rafols & Meyer (2010,
    Scientometrics 82, 263) use such links to measure coherence.
    """
    import pandas as pd
    from scipy.special import pdtrc

    if rates is None:
        rates = crossing_rates(reach, region, inside)
    reached, homes = _reached(reach, region, inside & uses)
    expected = rates * homes[:, None]
    expected += expected.T.copy()
    n_possible = int(np.count_nonzero(expected)) // 2
    reached += reached.T.copy()
    a, b = np.nonzero(np.triu(reached, k=1))
    papers, chance = reached[a, b], expected[a, b]
    p = pdtrc(papers - 1, chance)
    others = np.ones(n_possible - len(p))  # pairs without papers
    q = false_discovery_rates(np.concatenate([p, others]))[: len(p)]
    kept = np.flatnonzero(papers >= _MIN_PAPERS)
    kept = kept[np.lexsort((b[kept], a[kept], p[kept]))]
    found = {"region_a": a, "region_b": b, "papers": papers.astype(np.int64), "expected": chance}
    found |= {"ratio": papers / chance, "p": p, "q": q}
    return pd.DataFrame({name: column[kept] for name, column in found.items()})


def _reached(
    reach: Reach, region: NDArray[np.int64], mask: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Count the papers of each region that are linked to each other region, and in total."""
    n_regions = reach.regions.shape[1]
    rows = np.flatnonzero(mask & reach.known)
    homes = region[rows]
    pairs = reach.regions[rows].tocoo()
    code = homes[pairs.row] * n_regions + pairs.col
    reached = np.bincount(code, minlength=n_regions**2).reshape(n_regions, n_regions)
    return reached.astype(np.float64), np.bincount(homes, minlength=n_regions)


def _centroids(
    vectors: NDArray[np.floating], region: NDArray[np.int64], n_regions: int
) -> NDArray[np.float32]:
    sums = np.zeros((n_regions, vectors.shape[1]), dtype=np.float64)
    for start in range(0, len(region), _BLOCK):
        where = region[start : start + _BLOCK]
        block = np.asarray(vectors[start : start + _BLOCK], dtype=np.float32)
        member = _incidence(np.arange(len(where)), where, len(where), n_regions)
        sums += member.astype(np.float32).T @ block
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    return (sums / np.where(length > 0, length, 1)).astype(np.float32)


def _incidence(
    rows: NDArray[np.int64], columns: NDArray[np.int64], n_papers: int, n_regions: int
) -> csr_array:
    """Return a sparse 0/1 matrix of papers and regions; columns of -1 are ignored."""
    from scipy.sparse import csr_array

    kept = columns >= 0
    ones = np.ones(kept.sum(), dtype=bool)
    made = csr_array((ones, (rows[kept], columns[kept])), shape=(n_papers, n_regions))
    return made.astype(np.int8)


@cache
def read_fields() -> dict[str, list[str]]:
    """Read the research fields of each arXiv category."""
    return read_yaml(data_file("thesaurus.yaml"))["category_fields"]


def read_category_fields(categories: Sequence[Sequence[str] | None]) -> NDArray[np.uint16]:
    """Find the possible fields of each paper from its arXiv categories, including cross-lists."""
    lengths = [0 if names is None else len(names) for names in categories]
    bits = {name: _bits(fields) for name, fields in read_fields().items()}
    flat = [bits.get(name, 0) for names in categories if names is not None for name in names]
    found = np.zeros(len(lengths), dtype=np.uint16)
    np.bitwise_or.at(found, np.repeat(np.arange(len(lengths)), lengths), np.array(flat, np.uint16))
    return found


def match_home_fields(home: Sequence[str], fields: NDArray[np.uint16]) -> NDArray[np.int8]:
    """Return 1 for papers in a main field of a facility, 0 for other papers, -1 if unknown."""
    wanted = _bits(home)
    known = (fields != 0) & bool(wanted)
    return np.where(known, (fields & wanted) != 0, -1).astype(np.int8)


def read_tag_fields(
    tags: pd.DataFrame, thesaurus: Thesaurus, rows: NDArray[np.int64]
) -> NDArray[np.uint16]:
    """Return the fields of each paper's highest-scored concept that has fields."""
    wanted = tags[tags["paper_row"].isin(rows)]
    above = {one: _bits(_fields_above(one, thesaurus)) for one in wanted["concept_id"].unique()}
    wanted = wanted[wanted["concept_id"].isin([one for one, fields in above.items() if fields])]
    best = wanted.sort_values("score", ascending=False, kind="stable").drop_duplicates("paper_row")
    by_row = best.set_index("paper_row")["concept_id"].map(above)
    return by_row.reindex(rows).fillna(0).to_numpy(np.uint16)


def flag_home_papers(atlas: AtlasStore, usage: Usage) -> list[NDArray[np.int8]]:
    """Flag papers in the main fields of each facility, by arXiv category or by concept."""
    every = np.unique(np.concatenate(usage.rows))
    column = atlas.read_papers(["categories"])["categories"].to_numpy()
    fields = read_category_fields(column[every])
    unknown = fields == 0
    if unknown.any():
        fields[unknown] = read_tag_fields(
            atlas.read_layer("uat", ["concept_id", "score"]), atlas.thesaurus, every[unknown]
        )
    return [
        match_home_fields(facility.home_fields, fields[np.searchsorted(every, papers)])
        for facility, papers in zip(usage.facilities, usage.rows, strict=True)
    ]


def _bits(fields: Iterable[str]) -> int:
    """Encode a set of fields as bits; unknown names are ignored."""
    every = sorted({field for of in read_fields().values() for field in of})
    return sum(1 << every.index(field) for field in set(fields).intersection(every))


def _fields_above(concept: str, thesaurus: Thesaurus) -> list[str]:
    """Return the fields of a concept and its ancestors, without "Observational astronomy"."""
    if concept not in thesaurus.concepts:
        return []
    above = {concept, *thesaurus.ancestors(concept)}.intersection(thesaurus.top)
    return sorted({thesaurus.concepts[one].label for one in above} - {"Observational astronomy"})
