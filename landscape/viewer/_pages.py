"""Pages of a web site of an atlas, besides the map."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

import numpy as np
import pandas as pd
from scipy.ndimage import gaussian_filter

from landscape._bibliography import citation, escape_latex, to_bibtex
from landscape._progress import progress
from landscape._render import render
from landscape._wording import MAX_COLUMNS, align_decimals, count
from landscape.errors import LandscapeError
from landscape.figures.caption import explanation, facts_of, headline, readable_sources
from landscape.text.words import split_sentences

if TYPE_CHECKING:
    from landscape.atlas import Atlas
    from landscape.types import Analysis, Paper
    from landscape.viewer.source import MapSource

_MAX_ROWS = 300  # of a table on a page; the CSV file has all
_LEAD = 2  # sentences of a caption that are shown before the reader asks for the method
_CELLS = {
    "number": re.compile(r"(?:[+-]?[\d,]+(?:\.\d+)?(?:e[+-]?\d+)?(?: \([^()]*\))?)?"),
    "date": re.compile(r"(?:\d{4}-\d\d(?:-\d\d)?(?: \([^()]*\))?)?"),
}
_MONTHS = (12, 24, 60)  # of the page of new topics
_YEARS = 40  # bars of the chart of a region
_SMALL_MAP = 300  # pixels of the map on the page of a region
_DOTS = 150  # papers of the region that are drawn on it
_NEIGHBOURS, _NEWEST = 5, 5
_CANDIDATES = 50  # papers of the last years whose dates are compared


@dataclass(frozen=True)
class Page:
    """A page: its address without ``.html``, its title, its body, and files beside it."""

    name: str
    title: str
    body: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    is_listed: bool = True


def site_pages(
    source: MapSource, folder: Path, *, figures: bool, say: Callable[[str], None]
) -> list[Page]:
    """Return all pages of a site. Figures are written into a folder."""
    atlas = source.atlas
    pages = [Page("index", "Map")]
    measured = _Measured(atlas)
    makers: dict[str, Callable[[], list[Page]]] = {
        "regions": lambda: _regions(source, measured, folder),
        "facilities": lambda: [_facilities(source, folder, figures=figures)],
        "concepts": lambda: [_concepts(source, folder, figures=figures)],
        "new topics": lambda: [_new_topics(source, folder, figures=figures)],
        "trends": lambda: [_trends(measured, folder, figures=figures)],
        "reviews": lambda: [_reviews(measured, folder, figures=figures)],
        "changes": lambda: [_changes(atlas)] if len(atlas.changes) else [],
        "outreach map": lambda: [_outreach(atlas, folder)] if figures else [],
    }
    with progress("Pages", total=len(makers), unit="pages") as advance:
        for name, make in makers.items():
            say(f"page: {name}")
            try:
                pages += make()
            except LandscapeError as error:  # an analysis needs more than this atlas has
                say(f"a page is left out: {error}")
            advance(1)
    pages.append(_about(atlas))
    return pages


class _Measured:
    """Analyses that several pages show. They are computed once, when they are first needed."""

    def __init__(self, atlas: Atlas) -> None:
        self.atlas = atlas

    @cached_property
    def trends(self) -> Analysis:
        from landscape.overlays.trends import trends

        return trends(self.atlas, scored=False)

    @cached_property
    def gaps(self) -> Analysis:
        from landscape.overlays.reviews import review_gaps

        return review_gaps(self.atlas)

    def sentences(self, topic_id: int) -> list[str]:
        """Return what the analyses say of a region, as sentences."""
        said = []
        with suppress(LandscapeError):
            said += [_trend_sentence(row) for row in _of_topic(self.trends, topic_id)]
        with suppress(LandscapeError):
            said += [_review_sentence(row) for row in _of_topic(self.gaps, topic_id)]
        return [sentence for sentence in said if sentence]


def _of_topic(analysis: Analysis, topic_id: int) -> list[dict[str, Any]]:
    table = analysis.table
    return cast("list[dict[str, Any]]", table[table["topic_id"] == topic_id].to_dict("records"))


def _trend_sentence(row: Mapping[str, Any]) -> str:
    if not row["class"]:
        return f"No trend can be told: {row['why']}." if row["why"] else ""
    first, last = (f"{100 * row[name]:.3g}%" for name in ("share_first", "share_last"))
    return f"Its share of the papers is {row['class']}: {first} at the start, {last} at the end."


def _review_sentence(row: Mapping[str, Any]) -> str:
    last = row["last_review"]
    when = "none is known" if pd.isna(last) else f"the last is from {int(last)}"
    known = count(round(float(row["reviews_near"])), "review")
    rank = "" if pd.isna(row["rank"]) else f" It is number {row['rank']} of the gaps."
    return f"{known} for {row['expected']:.2g} expected; {when}.{rank}"


def map_link(**view: str) -> str:
    """Return the address of the map with a filter, a search or a paper."""
    given = "&".join(f"{name}={quote(value, safe='')}" for name, value in view.items())
    return f"index.html#{given}"


Row = list[tuple[str, str]]  # text and address of each cell; the address can be empty


def _table_page(
    name: str,
    title: str,
    analysis: Analysis,
    link: Callable[[int, list[str]], str],
    *,
    column: str,
    picture: tuple[str, str] | None = None,
    before: str = "",
) -> Page:
    """Return the page of an analysis; the cells of one column link to the map."""
    tables = []
    for heading, names, rows in analysis.sections[:2]:
        at = names.index(column) if column in names else -1
        key = names.index("Key") if "Key" in names else -1  # rows of papers
        paper_at = names.index("Title") if key >= 0 and "Title" in names else key
        classes = _classes(rows)
        columns = (
            align_decimals(column, in_page=True) if "number" in of else column
            for of, column in zip(classes, zip(*rows[:_MAX_ROWS], strict=True), strict=True)
        )
        cells: list[Row] = []
        for number, (row, shown) in enumerate(zip(rows, zip(*columns, strict=True), strict=False)):
            links = [""] * len(row)
            if paper_at >= 0:
                links[paper_at] = map_link(paper=row[key])
            if at >= 0:
                links[at] = link(number, row)
            cells.append([*zip(shown, links, strict=True)])
        tables.append((heading, [*zip(names, classes, strict=True)], cells, len(rows)))
    caption = analysis.caption
    ends = [end for _, end in split_sentences(caption)]
    lead = ends[1] if len(ends) > _LEAD else len(caption)
    body = render(
        "site_table.html",
        caption=caption[:lead],
        details=caption[lead:].strip(),
        notes=analysis.notes,
        tables=tables,
        csv=f"{name}.csv",
        picture=picture,
        before=before,
    )
    return Page(name, title, body, {f"{name}.csv": analysis.to_csv()})


def _classes(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the classes of columns: "number" or "date" for all cells, "more" if it is folded."""
    classes = []
    for place, column in enumerate(zip(*rows, strict=True)):
        kinds = [kind for kind, of in _CELLS.items() if all(of.fullmatch(cell) for cell in column)]
        classes.append(" ".join([*kinds[:1], *["more"] * (place >= MAX_COLUMNS)]))
    return classes


def _facilities(source: MapSource, folder: Path, *, figures: bool) -> Page:
    from landscape.overlays.missions import impact

    atlas = source.atlas
    picture = _picture("impact", atlas, folder) if figures else None
    return _table_page(
        "facilities",
        "Facilities",
        impact(atlas),
        # The numbers of the table are those of papers that use the data of the facility.
        lambda _, row: (link := _links(source, "facilities", row[:1])[0][1]) and f"{link}&uses=1",
        column="Facility",
        picture=picture,
    )


def _picture(kind: str, atlas: Atlas, folder: Path, **options: object) -> tuple[str, str] | None:
    """Draw a figure, and return its address and alternative text, or None if it is impossible."""
    import landscape

    try:
        figure = getattr(landscape.figures, kind)(atlas, **options)
    except LandscapeError:  # the page has its table
        return None
    (folder / "figures").mkdir(exist_ok=True)
    landscape.figures.save_figure(figure, folder / "figures" / f"{kind}.png")
    return f"figures/{kind}.png", str(figure.alt_text)


def _new_topics(source: MapSource, folder: Path, *, figures: bool) -> Page:
    from landscape.overlays.trends import new_topics

    for months in _MONTHS:  # until something is new
        found = new_topics(source.atlas, months=months, scored=False)
        if len(found.table):
            break
    regions = found.table["topic_id"].astype(str).tolist()
    return _table_page(
        "new",
        "What is new",
        found,
        lambda number, _: map_link(region=regions[number]),
        column="Region",
        picture=_picture("new_topics", source.atlas, folder, months=months)
        if figures and len(found.table)
        else None,
        before="" if len(found.table) else f"Nothing is new in the last {months} months.",
    )


def _trends(measured: _Measured, folder: Path, *, figures: bool) -> Page:
    found = measured.trends
    decided = found.table[found.table["class"] != ""].drop(columns="why")
    reasons = found.table[["topic_id", "label", "papers", "why"]]
    shown = replace(found, table=decided if len(decided) else reasons, tables={})
    page = _table_page(
        "trends",
        "Trends",
        shown,
        lambda number, _: map_link(region=str(shown.table["topic_id"].iloc[number])),
        column="Region",
        picture=_picture("trends", measured.atlas, folder) if figures and len(decided) else None,
        before="" if len(decided) else "The corpus cannot tell the trend of any region.",
    )
    return replace(page, files={"trends.csv": found.to_csv()})  # with the regions without a verdict


def _reviews(measured: _Measured, folder: Path, *, figures: bool) -> Page:
    atlas, gaps = measured.atlas, measured.gaps
    topics = atlas.topics.set_index("topic_id")
    subregions = topics["level"] == 2  # the map has filters for regions only
    region_of = topics["parent_id"].where(subregions, topics.index)
    regions = gaps.table["topic_id"].map(region_of).astype(str).tolist()
    picture = _picture("reviews", atlas, folder) if figures else None
    return _table_page(
        "reviews",
        "Reviews and gaps",
        gaps,
        lambda number, _: map_link(region=regions[number]),
        column="Region",
        picture=picture,
    )


def _changes(atlas: Atlas) -> Page:
    from landscape.overlays.changes import region_changes

    return _table_page("changes", "Changes", region_changes(atlas), lambda *_: "", column="")


def _concepts(source: MapSource, folder: Path, *, figures: bool) -> Page:
    from landscape.overlays.thesaurus import concept_counts

    found = concept_counts(source.atlas)
    # Concepts with papers of their own come first: the map has these papers.
    found = replace(found, table=found.table.sort_values("papers", ascending=False, kind="stable"))
    return _table_page(
        "concepts",
        "Concepts",
        found,
        lambda _, row: _links(source, "concepts", row[:1])[0][1],
        column="Concept",
        picture=_picture("uat", source.atlas, folder) if figures and len(found.table) else None,
    )


def _outreach(atlas: Atlas, folder: Path) -> Page:
    from landscape.outreach import render as render_terrain

    drawn = render_terrain(atlas)
    (folder / "figures").mkdir(exist_ok=True)
    drawn.save(folder / "figures" / "outreach.png")
    body = render("site_picture.html", address="figures/outreach.png", text=drawn.alt_text)
    return Page("outreach", "Outreach map", body)


def _about(atlas: Atlas) -> Page:
    facts, title = facts_of(atlas), atlas.title
    version, built = atlas.manifest.package_version, atlas.manifest.updated[:10]
    sources = Counter[str]()
    for name, n in atlas.coverage["sources"].items():
        sources[readable_sources([name])[0]] += n
    model = atlas.stages["embeddings"].model or {}
    made = {
        "Embedding model": str(model.get("model") or model.get("name") or "unknown"),
        "Program": f"Landscape {version}",
        "Last change": built,
    }
    bibtex = "\n".join(
        [
            f"@misc{{landscape{built.replace('-', '')},",
            f"  title = {{{{{escape_latex(title)}: map of {count(len(atlas), 'paper')}}}}},",
            f"  year = {{{built[:4]}}},",
            f"  note = {{Made with Landscape {escape_latex(version)}}}",
            "}\n",
            citation(version=version, predecessors=False),
        ]
    )
    body = render(
        "site_about.html",
        headline=headline(facts),
        explanation=" ".join(explanation(facts)),
        sources=[(name, f"{n:,}") for name, n in sources.most_common()],
        made=list(made.items()),
        built=built,
        title=title,
        papers=count(len(atlas), "paper"),
        version=version,
        bibtex=bibtex,
    )
    return Page("about", "About", body)


# -- regions


def _regions(source: MapSource, measured: _Measured, folder: Path) -> list[Page]:
    from landscape.answers import describe_regions

    atlas, topics = source.atlas, source.topics
    analysis = describe_regions(atlas)
    if not source.has_text.all():  # the sentences are quoted from abstracts
        hidden = analysis.table.assign(sentences=[()] * len(analysis.table))
        analysis = replace(analysis, table=hidden)
    described = analysis.table.set_index("topic_id")
    pages = [
        _region_page(source, row, described.loc[int(one.topic_id)], measured)
        for row, one in enumerate(topics.itertuples())
    ]
    (folder / "map.png").write_bytes(_small_map(source))
    tree = list(_tree(topics, -1))
    body = render("site_regions.html", tree=tree)
    return [Page("regions", "Regions", body, {"regions.csv": analysis.to_csv()}), *pages]


def _tree(topics: pd.DataFrame, parent: int, depth: int = 0) -> Iterator[tuple[int, str, str, int]]:
    """Yield depth, name, address and number of papers of all regions, each below its parent."""
    known = set(topics["topic_id"])
    for one in topics.itertuples():
        above = int(one.parent_id) if int(one.parent_id) in known else -1
        if above == parent:
            yield depth, str(one.label), f"regions/{one.topic_id}.html", int(one.n_papers)
            yield from _tree(topics, int(one.topic_id), depth + 1)


def _region_page(source: MapSource, row: int, described: pd.Series, measured: _Measured) -> Page:
    atlas, one = source.atlas, source.topics.iloc[row]
    engine = atlas.engine
    typical = engine.papers([engine.row_of(name) for name in one["exemplars"]])
    below = source.topics[source.topics["parent_id"] == one["topic_id"]]
    number = int(one["topic_id"])
    body = render(
        "site_region.html",
        papers=count(int(one["n_papers"]), "paper"),
        map=map_link(region=str(number)),
        within=described["within"],
        concepts=_links(source, "concepts", described["concepts"]),
        facilities=_links(source, "facilities", described["facilities"]),
        subregions=[
            (str(sub.label), f"regions/{sub.topic_id}.html", f"{int(sub.n_papers):,}")
            for sub in below.itertuples()
        ],
        sentences=list(described["sentences"]),
        typical=[(paper, map_link(paper=paper.paper_id)) for paper in typical],
        newest=[(paper, map_link(paper=paper.paper_id)) for paper in _newest(source, row)],
        neighbours=_neighbours(source, row),
        dots=_dots(source, row),
        measured=measured.sentences(number),
        years=_year_bars(source, row),
        bib=f"{number}.bib",
    )
    listed = [one if source.has_text[one.row] else replace(one, abstract="") for one in typical]
    files = {f"{number}.bib": to_bibtex(listed)}
    return Page(f"regions/{number}", str(one["label"]), body, files, is_listed=False)


def _small_map(source: MapSource) -> bytes:
    """Return a picture of the density of the papers, on which the region pages draw their dots."""
    from PIL import Image

    side = _SMALL_MAP
    x, y = source.plane.T
    cells = np.histogram2d(y, x, bins=side, range=((0, 1), (0, 1)))[0]
    smooth = gaussian_filter(cells, side / 60)
    shade = np.sqrt(smooth / max(float(smooth.max()), 1e-12))[::-1]
    pixels = np.full((side, side, 4), (74, 140, 200, 0), dtype=np.uint8)
    pixels[..., 3] = np.round(210 * shade)
    stream = BytesIO()
    Image.fromarray(pixels, "RGBA").save(stream, "PNG", optimize=True)
    return stream.getvalue()


def _dots(source: MapSource, row: int) -> list[tuple[float, float]]:
    """Return the places of some papers of a region in the small map, in percent."""
    inside = np.flatnonzero(np.isin(source.region, source.inside(row)))
    x, y = source.plane.T
    chosen = inside[:: max(1, -(-len(inside) // _DOTS))]
    places = np.column_stack([100 * x[chosen], 100 * (1 - y[chosen])])
    return [(float(a), float(b)) for a, b in np.round(places, 1)]


def _neighbours(source: MapSource, row: int) -> list[tuple[str, str]]:
    """Return the nearest regions of the same level on the map, with their addresses."""
    topics, one = source.topics, source.topics.iloc[row]
    others = topics[(topics["level"] == one["level"]) & (topics["topic_id"] != one["topic_id"])]
    distance = np.hypot(others["x"] - one["x"], others["y"] - one["y"])
    near = others.loc[distance.sort_values().index[:_NEIGHBOURS]]
    return [(str(other.label), f"regions/{other.topic_id}.html") for other in near.itertuples()]


def _newest(source: MapSource, row: int) -> list[Paper]:
    """Return the newest papers of a region, the newest first."""
    inside = np.flatnonzero(np.isin(source.region, source.inside(row)) & (source.years > 0))
    latest = inside[np.argsort(-source.years[inside], kind="stable")[:_CANDIDATES]]
    papers = source.atlas.engine.papers(source.order[latest])
    papers.sort(key=lambda paper: paper.date or date.min, reverse=True)
    return papers[:_NEWEST]


def _links(source: MapSource, kind: str, names: Sequence[str]) -> list[tuple[str, str]]:
    """Return names with the addresses of their papers on the map, if the map has a list of them."""
    known = {one.name for one in source.sets[kind]}
    what = {"concepts": "concept", "facilities": "facility"}[kind]
    return [(name, map_link(**{what: name}) if name in known else "") for name in names]


def _year_bars(source: MapSource, row: int) -> list[tuple[int, int, float]]:
    """Return the last years, the papers of a region, and the height of each bar from 0 to 1."""
    inside = np.isin(source.region, source.inside(row))
    years = source.years[inside & (source.years > 0)].astype(np.int64)
    if not len(years):
        return []
    last = int(source.years.max())
    first = max(int(source.years[source.years > 0].min()), last - _YEARS + 1)
    counts = np.bincount(years[years >= first] - first, minlength=last - first + 1)
    most = max(1, int(counts.max()))
    return [(first + at, n, n / most) for at, n in enumerate(counts.tolist())]
