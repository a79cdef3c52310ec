"""Pages of a web site of an atlas, besides the map."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np
import pandas as pd

from landscape._bibliography import citation, escape_latex, to_bibtex
from landscape._progress import progress
from landscape._render import render
from landscape._serializer import to_csv
from landscape._wording import count
from landscape.errors import LandscapeError
from landscape.figures.caption import explanation, facts_of, headline, readable_sources

if TYPE_CHECKING:
    from landscape.atlas import Atlas
    from landscape.types import Analysis
    from landscape.viewer.source import MapSource

_MAX_ROWS = 300  # of a table on a page; the CSV file has all
_MAX_COLUMNS = 7  # of a table before the reader asks for all
_CELLS = {
    "number": re.compile(r"(?:[+-]?[\d,]+(?:\.\d+)?(?:e[+-]?\d+)?(?: \([^()]*\))?)?"),
    "date": re.compile(r"(?:\d{4}-\d\d(?:-\d\d)?(?: \([^()]*\))?)?"),
}
_MONTHS = (12, 24, 60)  # of the page of new topics
_YEARS = 40  # bars of the chart of a region


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
    makers: dict[str, Callable[[], list[Page]]] = {
        "regions": lambda: _regions(source),
        "facilities": lambda: [_facilities(source, folder, figures=figures)],
        "concepts": lambda: [_concepts(source)],
        "new topics": lambda: [_new_topics(source)],
        "trends": lambda: [_trends(atlas)],
        "reviews": lambda: [_reviews(atlas, folder, figures=figures)],
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
        cells: list[Row] = []
        for number, row in enumerate(rows[:_MAX_ROWS]):
            links = [""] * len(row)
            if paper_at >= 0:
                links[paper_at] = map_link(paper=row[key])
            if at >= 0:
                links[at] = link(number, row)
            cells.append([*zip(row, links, strict=True)])
        tables.append((heading, [*zip(names, _classes(rows), strict=True)], cells, len(rows)))
    body = render(
        "site_table.html",
        caption=analysis.caption,
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
        classes.append(" ".join([*kinds[:1], *["more"] * (place >= _MAX_COLUMNS)]))
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


def _picture(kind: str, atlas: Atlas, folder: Path) -> tuple[str, str]:
    """Draw a figure, and return its address and its alternative text."""
    import landscape

    figure = getattr(landscape.figures, kind)(atlas)
    (folder / "figures").mkdir(exist_ok=True)
    landscape.figures.save_figure(figure, folder / "figures" / f"{kind}.png")
    return f"figures/{kind}.png", str(figure.alt_text)


def _new_topics(source: MapSource) -> Page:
    from landscape.overlays.trends import new_topics

    for months in _MONTHS:  # until something is new
        found = new_topics(source.atlas, months=months)
        if len(found.table):
            break
    regions = found.table["topic_id"].astype(str).tolist()
    return _table_page(
        "new",
        "What is new",
        found,
        lambda number, _: map_link(region=regions[number]),
        column="Region",
        before="" if len(found.table) else f"Nothing is new in the last {months} months.",
    )


def _trends(atlas: Atlas) -> Page:
    from landscape.overlays.trends import trends

    found = trends(atlas)
    decided = found.table[found.table["class"] != ""].drop(columns="why")
    reasons = found.table[["topic_id", "label", "papers", "why"]]
    shown = replace(found, table=decided if len(decided) else reasons, tables={})
    page = _table_page(
        "trends",
        "Trends",
        shown,
        lambda number, _: map_link(region=str(shown.table["topic_id"].iloc[number])),
        column="Region",
        before="" if len(decided) else "The corpus cannot tell the trend of any region.",
    )
    return replace(page, files={"trends.csv": found.to_csv()})  # with the regions without a verdict


def _reviews(atlas: Atlas, folder: Path, *, figures: bool) -> Page:
    from landscape.overlays.reviews import review_gaps

    gaps = review_gaps(atlas)
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


def _concepts(source: MapSource) -> Page:
    rows: list[Row] = [
        [(one.name, map_link(concept=one.name)), (f"{len(one.points):,}", "")]
        for one in source.sets["concepts"]
    ]
    names = [one.name for one in source.sets["concepts"]]
    sizes = [len(one.points) for one in source.sets["concepts"]]
    table = to_csv(pd.DataFrame({"concept": names, "papers": sizes}))
    body = render(
        "site_table.html",
        caption="Concepts of the Unified Astronomy Thesaurus, and the papers about them.",
        notes=[],
        tables=[("Concepts", [("Concept", ""), ("Papers", "number")], rows, len(rows))],
        csv="concepts.csv",
        picture=None,
        before="",
    )
    return Page("concepts", "Concepts", body, {"concepts.csv": table})


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


def _regions(source: MapSource) -> list[Page]:
    from landscape.answers import describe_regions

    atlas, topics = source.atlas, source.topics
    analysis = describe_regions(atlas)
    if not source.has_text.all():  # the sentences are quoted from abstracts
        hidden = analysis.table.assign(sentences=[()] * len(analysis.table))
        analysis = replace(analysis, table=hidden)
    described = analysis.table.set_index("topic_id")
    pages = [
        _region_page(source, row, described.loc[int(one.topic_id)])
        for row, one in enumerate(topics.itertuples())
    ]
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


def _region_page(source: MapSource, row: int, described: pd.Series) -> Page:
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
        years=_year_bars(source, row),
        bib=f"{number}.bib",
    )
    listed = [one if source.has_text[one.row] else replace(one, abstract="") for one in typical]
    files = {f"{number}.bib": to_bibtex(listed)}
    return Page(f"regions/{number}", str(one["label"]), body, files, is_listed=False)


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
