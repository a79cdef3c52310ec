"""Panels of the analyses in `landscape.overlays`: facilities, reviews, thesaurus, trends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape._io import write_output
from landscape._render import render
from landscape.corpus import find_facility
from landscape.errors import InputError
from landscape.search.settings import readable_text
from landscape.widgets._analysis_panel import AnalysisPanel, File, Result, analyse, choose_one
from landscape.widgets._code_lines import call, figure_lines, join_lines
from landscape.widgets._controls import (
    Chooser,
    YearsControl,
    check_period,
    checked_atlas,
    checked_names,
    checked_whole,
    folded,
    make_control,
    panel_texts,
    show_only,
    what_control,
)
from landscape.widgets._tables import table_html

if TYPE_CHECKING:
    import pandas as pd

    from landscape.atlas import Atlas
    from landscape.figures.scene import Scene
    from landscape.types import Analysis

_OF_THE_FIRST = ("map", "before_after", "report", "compare")
_DEFAULT_FACILITIES = 4


class ImpactPanel(AnalysisPanel):
    """Show the impact of facilities on the literature.

    Parameters
    ----------
    atlas : Atlas
        Atlas with a layer of facilities.
    facilities : str or sequence of str, optional
        Names or aliases of facilities. Default: the most used facilities.
    what : {"map", "ranking", "before_after", "compare", "maps", "report"}, default "map"
        ``"map"``, ``"before_after"`` and ``"report"`` show the first facility.
    since, until : int, optional
        First and last year (inclusive).
    theme : {"light", "dark"}, default "light"

    Examples
    --------
    >>> from landscape.widgets import ImpactPanel
    >>> ImpactPanel(atlas, facilities=["ALMA"], since=2014)  # doctest: +SKIP
    """

    def __init__(
        self,
        atlas: Atlas,
        *,
        facilities: str | Sequence[str] | None = None,
        what: str = "map",
        since: int | None = None,
        until: int | None = None,
        theme: str = "light",
    ) -> None:
        checked_atlas(atlas)
        check_period(since, until)
        given = checked_names("facilities", facilities)
        self._what = what_control("impact", what, self._change)
        self._chooser = Chooser(
            "facility",
            given,
            on_change=self._change,
            find=lambda name: find_facility(name).name,
            on_error=self._show_error,
        )
        self._first = make_control("overlays.first", self._change)
        self._years = YearsControl(atlas, since, until, self._change)
        super().__init__(
            "Impact of facilities:",
            atlas,
            theme=theme,
            controls=[self._what, self._first, self._chooser, self._years],
        )

    @property
    def selection(self) -> dict[str, object]:
        """Settings ``facilities, what, since, until``; the facility that is shown comes first."""
        names, first = self._chooser.value, self._first.value
        if first in names and self._what.value in _OF_THE_FIRST:
            names = [first, *(name for name in names if name != first)]
        return {"facilities": names, "what": self._what.value, **self._years.period}

    def _suit_controls(self) -> None:
        names, first, what = self._chooser.value, self._first.value, self._what.value
        before = tuple(self._first.options)
        if tuple(names) != before:
            self._first.options = tuple(names)
            # The facility that was added is shown; otherwise, a reader takes the old one for it.
            added = [name for name in names if name not in before] if before else []
            kept = first if first in names else next(iter(names), None)
            self._first.value = added[-1] if added else kept
        show_only(
            {
                self._first: len(names) > 1 and what in _OF_THE_FIRST,
                self._years: what != "before_after",
            }
        )

    def _suit_atlas(self, atlas: Atlas) -> None:
        self._years.suit(atlas)

    def _prepare(self) -> dict[str, int]:
        """Return the number of papers that use each facility, the most used first."""
        from landscape.overlays.missions.usage import read_roles

        pairs = read_roles(self.atlas)
        used = (pairs["role"] <= 0).groupby(pairs["facility"].astype(str)).sum()
        return {str(name): int(n) for name, n in used.sort_values(ascending=False).items() if n}

    def _offer(self, known: dict[str, int]) -> None:
        self._chooser.offer(
            {
                f"{name} ({number:,} {'paper' if number == 1 else 'papers'})": name
                for name, number in known.items()
            }
        )
        if not self._chooser.value:
            self._chooser.value = list(known)[:_DEFAULT_FACILITIES]
        self._suit_controls()

    def _make(self, chosen: Mapping[str, Any]) -> Result:
        from landscape.figures import impact, report_scene
        from landscape.figures.export import draw

        names = chosen["facilities"] or list(self._known)[:_DEFAULT_FACILITIES]
        if not names:
            raise InputError("No paper of this corpus uses a facility, so the panel is empty.")
        what, first = chosen["what"], names[0]
        period = {"since": chosen["since"], "until": chosen["until"]}
        stem = "".join(sign if sign.isalnum() else "-" for sign in first.lower()).strip("-") or "it"
        if what == "ranking":
            return self._analysed("missions.impact", "facilities", "facilities", names, **period)
        if what == "before_after":
            return self._analysed(
                "missions.before_after", "before_after", f"{stem}-before-after", first
            )
        if what == "compare":
            return self._analysed(
                "missions.compare_facilities",
                "compare_facilities",
                f"{stem}-compared",
                names,
                **period,
            )
        if what == "map":
            return self._analysed(
                "missions.impact",
                "impact",
                f"{stem}-share",
                columns="facility_regions",
                scene_of=lambda found: impact.scene(
                    self.atlas, analysis=found, colours=self.theme, **period
                ),
                table=_regions_with_papers,
                facilities=[first],
                **period,
            )
        # The remaining figures have only a version for print.
        is_report = what == "report"
        if is_report:
            names, path = [first], f"{stem}-report.pdf"
            page = draw(report_scene(self.atlas, first, **period, colours=self.theme))
            line = call("ls.figures.report", first, path, **period, colours=self._colours)
        else:
            options = {"facilities": list(names), "multiples": True, **period}
            page = impact(self.atlas, **options, colours=self.theme)
            line = call("ls.figures.impact", **options, colours=self._colours)
        found = analyse(self.atlas, "missions.impact", names, **period)
        code = join_lines(
            f"found = {call('ls.overlays.missions.impact', names, **period)}", f"page = {line}"
        )
        return Result(
            found,
            _regions_with_papers(found) if is_report else found.table,
            "facility_regions" if is_report else "",
            page,
            code,
            lambda: page,
            f"{stem}-report" if is_report else "facilities-maps",
        )


def _regions_with_papers(analysis: Analysis) -> pd.DataFrame:
    """Return the regions with papers of the facility, sorted by decreasing share."""
    regions = analysis.tables["regions"]
    return regions[regions["papers"] > 0].sort_values(
        "shrunk_share", ascending=False, ignore_index=True
    )


# -- reviews

_MAX_WEIGHT = 2.0


class ReviewPanel(AnalysisPanel):
    """Show reviews on the map, and rank the regions that need a new review.

    Parameters
    ----------
    atlas : Atlas
        Atlas with a layer of reviews.
    what : {"gaps", "coverage"}, default "gaps"
    weights : mapping of str to float, optional
        Weights of ``volume, growth, citations, years_without, disagreement``; see
        `landscape.overlays.review_gaps`.
    theme : {"light", "dark"}, default "light"

    Examples
    --------
    >>> from landscape.widgets import ReviewPanel
    >>> ReviewPanel(atlas, weights={"growth": 1.0})  # doctest: +SKIP
    """

    def __init__(
        self,
        atlas: Atlas,
        *,
        what: str = "gaps",
        weights: Mapping[str, float] | None = None,
        theme: str = "light",
    ) -> None:
        from landscape.overlays.reviews.gaps import check_weights

        checked_atlas(atlas)
        self._what = what_control("reviews", what, self._change)
        self._weights: dict[str, widgets.Widget] = {}
        for name, weight in check_weights(weights).items():
            words, meaning = panel_texts()["review_weights"][name]
            self._weights[name] = make_control(
                "overlays.weight",
                self._change,
                description=words,
                tooltip=f"{words}: {meaning}",
                value=weight,
                max=max(_MAX_WEIGHT, weight),
            )
        sliders = widgets.HBox(
            list(self._weights.values()),
            layout=widgets.Layout(flex_flow="row wrap", grid_gap="0 10px"),
        )
        title = "Weights of the components; weight 0 omits a component"
        self._weighing = folded(title, sliders)
        super().__init__(
            "Reviews and gaps:", atlas, theme=theme, controls=[self._what, self._weighing]
        )

    @property
    def selection(self) -> dict[str, object]:
        """Settings ``what, weights``."""
        weights = {name: round(slider.value, 2) for name, slider in self._weights.items()}
        return {"what": self._what.value, "weights": weights}

    def _suit_controls(self) -> None:
        show_only({self._weighing: self._what.value == "gaps"})

    def _make(self, chosen: Mapping[str, Any]) -> Result:
        from landscape.figures import coverage_scene, reviews
        from landscape.figures.export import draw
        from landscape.overlays.reviews.gaps import DEFAULT_WEIGHTS

        def scene_of(gaps: Analysis) -> Scene:
            return reviews.scene(self.atlas, analysis=gaps, colours=self.theme)

        if chosen["what"] == "gaps":
            weights = {
                name: weight
                for name, weight in chosen["weights"].items()
                if weight != DEFAULT_WEIGHTS[name]
            }
            return self._analysed(
                "reviews.review_gaps",
                "reviews",
                "review-gaps",
                scene_of=scene_of,
                weights=weights or None,
                unwritten={"signs": self._signs()},
            )
        analysis = analyse(self.atlas, "reviews.reviews")
        figure = draw(coverage_scene(self.atlas, analysis=analysis, colours=self.theme), "plotly")
        code = figure_lines(
            call("ls.overlays.reviews.reviews"),
            "coverage",
            printed="reviews",
            colours=self._colours,
        )
        return Result(
            analysis,
            analysis.table,
            "reviews",
            figure,
            code,
            lambda: draw(scene_of(analyse(self.atlas, "reviews.review_gaps", signs=self._signs()))),
            "review-coverage",
        )

    def _signs(self) -> pd.DataFrame:
        """Read and cache the input of the ranking, which does not depend on the weights."""
        from landscape.overlays.reviews.gaps import review_mask
        from landscape.overlays.reviews.signs import read_signs

        return self.atlas.cached(
            "signs_of_reviews", lambda atlas: read_signs(atlas, review_mask(atlas), seed=0)
        )

    def _put_beside(self, result: Result) -> list[widgets.Widget]:
        if result.analysis.kind != "review_gaps":
            return []
        papers, table = result.analysis.tables["exemplars"], result.analysis.table
        regions = table[table["topic_id"].isin(papers["topic_id"]) & table["rank"].notna()]
        if regions.empty:
            return []
        about = "Papers without a newer review"
        return choose_one(
            [(f"{row.rank}. {row.label}", row.topic_id) for row in regions.itertuples()],
            "Start with the papers in",
            "Region whose papers are listed",
            lambda topic: table_html(
                papers[papers["topic_id"] == topic], "papers_waiting", about=about
            ),
        )


# -- thesaurus

_MAX_PROPOSALS = 10_000


class ThesaurusPanel(AnalysisPanel):
    """Show concepts of the thesaurus on the map, and propose terms that are missing from it.

    Parameters
    ----------
    atlas : Atlas
        Atlas with a thesaurus and tagged papers.
    concepts : str or sequence of str, optional
        Names or ids; default: the top concepts of the thesaurus.
    what : {"overlay", "gaps"}, default "overlay"
    limit : int, default 100
        Maximum number of proposed terms.
    theme : {"light", "dark"}, default "light"

    Examples
    --------
    >>> from landscape.widgets import ThesaurusPanel
    >>> ThesaurusPanel(atlas, concepts=["Exoplanets", "Brown dwarfs"])  # doctest: +SKIP
    """

    def __init__(
        self,
        atlas: Atlas,
        *,
        concepts: str | Sequence[str] | None = None,
        what: str = "overlay",
        limit: int = 100,
        theme: str = "light",
    ) -> None:
        checked_atlas(atlas)
        given = checked_names("concepts", concepts)
        self._limit = checked_whole("limit", limit, 1, _MAX_PROPOSALS)
        self._what = what_control("thesaurus", what, self._change)
        self._chooser = Chooser(
            "concept",
            given,
            on_change=self._change,
            find=lambda name: self.atlas.thesaurus.find(name).label,
            on_error=self._show_error,
        )
        self._top = make_control("overlays.top", self._show_top)
        super().__init__(
            "Thesaurus on the map:",
            atlas,
            theme=theme,
            controls=[self._what, self._chooser, self._top],
        )

    @property
    def selection(self) -> dict[str, object]:
        """Settings ``concepts, what, limit``; an empty list of concepts means the top concepts."""
        return {"concepts": self._chooser.value, "what": self._what.value, "limit": self._limit}

    def _show_top(self) -> None:
        self._chooser.value = []
        self._change()

    def _suit_controls(self) -> None:
        overlay = self._what.value == "overlay"
        show_only({self._chooser: overlay, self._top: overlay and bool(self._chooser.value)})

    def _prepare(self) -> list[str]:
        return sorted(concept.label for concept in self.atlas.thesaurus.concepts.values())

    def _offer(self, known: list[str]) -> None:
        self._chooser.offer({label: label for label in known})

    def _make(self, chosen: Mapping[str, Any]) -> Result:
        from landscape.figures import uat

        if chosen["what"] == "overlay":
            return self._analysed(
                "thesaurus.thesaurus_overlay",
                "uat",
                "concepts",
                scene_of=lambda found: uat.scene(self.atlas, analysis=found, colours=self.theme),
                concepts=chosen["concepts"] or None,
            )
        limit = {} if chosen["limit"] == 100 else {"limit": chosen["limit"]}
        return self._analysed("thesaurus.thesaurus_gaps", "uat_gaps", "thesaurus-gaps", **limit)

    def _files(self, result: Result) -> Iterator[File]:
        from landscape.overlays.thesaurus import to_uat_csv

        yield from super()._files(result)
        found, name = result.analysis, "uat-proposals.csv"
        if found.kind == "thesaurus_gaps":
            yield (
                "Forms for the maintainers",
                name,
                name,
                lambda path: write_output(path, to_uat_csv(found)),
            )

    def _put_beside(self, result: Result) -> list[widgets.Widget]:
        from landscape.overlays.thesaurus import to_uat_form

        found = result.analysis
        if found.kind != "thesaurus_gaps" or found.table.empty:
            return []
        return choose_one(
            [(f"{row.rank}. {row.name}", row.name) for row in found.table.itertuples()],
            "Request for",
            "Proposal for which the request text is shown",
            lambda name: render(
                "panel_results.html", part="proposal", form=to_uat_form(found, name)
            ),
        )


# -- trends

_MAX_NAMES = 400


class TrendsPanel(AnalysisPanel):
    """Show trends of topics and authors, and compare two selections of papers.

    Parameters
    ----------
    atlas : Atlas
    what : {"new", "topics", "author", "compare", "countries", "institutions"}, default "topics"
    months : int, default 12
        Number of the last months in which a topic can become new: 6, 12, 24 or 36.
    since, until : int, optional
        First and last year of the trends of topics.
    author : str, default ""
        Name of an author, as ``"Family, Given"``.
    a, b : str
        Filters of the two selections, such as ``"facility:HST"`` and ``"2015.."``; see
        `landscape.search._filters`. Default: the earlier and the later half of the years.
    theme : {"light", "dark"}, default "light"

    Examples
    --------
    >>> from landscape.widgets import TrendsPanel
    >>> TrendsPanel(atlas, what="compare", a="facility:HST", b="facility:JWST")  # doctest: +SKIP
    """

    def __init__(
        self,
        atlas: Atlas,
        *,
        what: str = "topics",
        months: int = 12,
        since: int | None = None,
        until: int | None = None,
        author: str = "",
        a: str = "",
        b: str = "",
        theme: str = "light",
    ) -> None:
        checked_atlas(atlas)
        check_period(since, until)
        for name, text in (("author", author), ("a", a), ("b", b)):
            readable_text(name, text)
        self._what = what_control("trends", what, self._change)
        self._months = make_control("overlays.months", self._change, value=months)
        self._years = YearsControl(atlas, since, until, self._change)
        middle = sum(self._years.corpus) // 2
        given = {"author": author, "a": a or f"..{middle}", "b": b or f"{middle + 1}.."}
        self._fields = {
            name: make_control(f"overlays.{name}", self._change, value=value)
            for name, value in given.items()
        }
        self._hint = make_control("overlays.hint")
        super().__init__(
            "Trends, authors, comparisons:",
            atlas,
            theme=theme,
            controls=[self._what, self._months, self._years, *self._fields.values(), self._hint],
        )

    @property
    def selection(self) -> dict[str, object]:
        """Settings ``what, months, since, until, author, a, b``."""
        typed = {name: field.value.strip() for name, field in self._fields.items()}
        period = self._years.period
        return {"what": self._what.value, "months": self._months.value, **period, **typed}

    def _suit_controls(self) -> None:
        what, compared = self._what.value, self._what.value == "compare"
        show_only(
            {
                self._months: what == "new",
                self._years: what == "topics",
                self._fields["author"]: what == "author",
                self._fields["a"]: compared,
                self._fields["b"]: compared,
                self._hint: compared,
            }
        )

    def _suit_atlas(self, atlas: Atlas) -> None:
        self._years.suit(atlas)

    def _prepare(self) -> list[str]:
        """Return the names of the authors with the most papers."""
        authors = self.atlas.read_papers(["authors"])["authors"].explode().dropna()
        return [str(name) for name in authors.value_counts().head(_MAX_NAMES).index if "," in name]

    def _offer(self, known: list[str]) -> None:
        self._fields["author"].options = tuple(known)

    def _make(self, chosen: Mapping[str, Any]) -> Result:
        from landscape import figures

        what, author, a, b = (chosen[name] for name in ("what", "author", "a", "b"))
        if what == "new":
            return self._analysed(
                "trends.new_topics",
                "new_topics",
                "new_topics",
                scene_of=lambda found: figures.new_topics.scene(
                    self.atlas, analysis=found, colours=self.theme
                ),
                months=chosen["months"],
            )
        if what == "topics":
            return self._analysed(
                "trends.trends",
                "trends",
                "trends",
                table=lambda found: found.table.sort_values(  # emerging, fading, steady
                    "class", kind="stable", ignore_index=True
                ),
                scene_of=lambda found: figures.trends.scene(
                    self.atlas, analysis=found, colours=self.theme
                ),
                since=chosen["since"],
                until=chosen["until"],
            )
        if what == "author":
            if not author:
                raise InputError('No author is given: write a name, such as "Rubin, Vera".')
            return self._analysed(
                "trends.author_path",
                "author",
                "author",
                author,
                scene_of=lambda found: figures.author.scene(
                    self.atlas, author, analysis=found, colours=self.theme
                ),
            )
        if what == "compare":
            if not (a and b):
                raise InputError(
                    "Write a filter for each of the two selections, such as 2015.. or -review."
                )
            return self._analysed(
                "trends.compare",
                "compare",
                "comparison",
                a,
                b,
                scene_of=lambda found: figures.compare.scene(
                    self.atlas, a, b, analysis=found, colours=self.theme
                ),
            )
        return self._analysed(f"trends.{what}", what, what)

    def _put_beside(self, result: Result) -> list[widgets.Widget]:
        if result.analysis.kind != "author":
            return []
        summary = result.analysis.tables["summary"]
        return [widgets.HTML(table_html(summary, "author_summary", about="Spread and moves"))]
