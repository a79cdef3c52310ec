"""Web sites and single pages: their files, their links, and what they do not contain."""

from __future__ import annotations

import contextlib
import html.parser
import json
import re
import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import landscape as ls
from landscape import Atlas
from landscape.cli import main
from landscape.errors import InputError
from landscape.viewer import PublishSettings, publish, source


class Links(html.parser.HTMLParser):
    """Addresses of a page, and the policy of its content."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found: list[str] = []
        self.policy = ""
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        given = dict(attrs)
        self.found += [given[name] or "" for name in ("href", "src") if name in given]
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"] or ""
        assert not any(name.startswith("on") or name == "style" for name in given)


@pytest.fixture(scope="module")
def site(demo_atlas: Atlas, tmp_path_factory: pytest.TempPathFactory) -> Path:
    said: list[str] = []
    folder = publish(demo_atlas, tmp_path_factory.mktemp("web") / "site", say=said.append)
    assert said[0].startswith("the map: 400 papers, 0.")
    assert not any("left out" in line for line in said)
    return folder


def test_every_link_leads_to_a_file_or_a_view(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    pages_of = {"index", "regions", "facilities", "concepts", "new", "trends", "reviews", "about"}
    assert pages_of <= {page.stem for page in pages}
    sets = json.loads(gunzip(site / "data" / "source.json"))["sets"]
    names = {kind: {one["name"] for one in sets[kind]} for kind in sets}
    n_views = n_papers = 0
    for page in pages:
        links = Links(page)
        assert "default-src 'none'" in links.policy
        assert "unsafe" not in links.policy
        for address in links.found:
            parts = urlsplit(address)
            if address == "data:,":
                continue
            assert not parts.scheme, f"{page} loads {address}"
            assert (page.parent / parts.path).is_file(), f"{page} has a dead link {address}"
            kind, _, value = parts.fragment.partition("=")
            n_views += bool(kind)
            n_papers += kind == "paper"
            if kind in ("facility", "concept"):
                known = names["facilities" if kind == "facility" else "concepts"]
                assert unquote(value) in known or page.name != "concepts.html"
    assert n_views > 50
    assert n_papers > 10


def gunzip(path: Path) -> bytes:
    import gzip

    return gzip.decompress(path.read_bytes())


def test_tables_are_whole_and_regions_have_a_bibliography(demo_atlas: Atlas, site: Path) -> None:
    for name in ("facilities", "concepts", "trends", "reviews", "regions"):
        lines = (site / f"{name}.csv").read_text().splitlines()
        assert len([line for line in lines if not line.startswith("#")]) > 2
    regions = list((site / "regions").glob("*.html"))
    assert len(regions) == len(demo_atlas.topics)
    assert all("@" in path.read_text() for path in (site / "regions").glob("*.bib"))
    assert (site / "figures" / "outreach.png").stat().st_size > 100_000
    about = (site / "about.html").read_text()
    assert "400" in about
    assert "these papers do not exist" in about
    assert ls.citation(predecessors=False) in html.unescape(about)


def test_wide_tables_show_seven_columns_first(site: Path) -> None:
    page = (site / "reviews.html").read_text()
    assert "<h1>Reviews and gaps</h1>" in page
    heads = re.findall(r'<th scope="col"(?: class="([^"]*)")?>', page.split("</thead>")[0])
    assert len(heads) > 7
    assert [bool(re.search(r"\bmore\b", of)) for of in heads] == [n >= 7 for n in range(len(heads))]
    assert 'class="all-columns"' in page
    assert re.search(r'<td class="number">\d+ <small>\(\d+ to \d+\)</small></td>', page)


def test_the_page_of_a_region_has_a_map_its_analyses_and_its_newest_papers(
    demo_atlas: Atlas, site: Path
) -> None:
    regions = demo_atlas.topics[demo_atlas.topics["level"] == 1]
    one = regions.loc[regions["n_papers"].idxmax()]
    page = (site / "regions" / f"{one.topic_id}.html").read_text()
    assert (site / "map.png").read_bytes().startswith(b"\x89PNG")
    assert '<image href="../map.png"' in page
    assert 10 < page.count("<circle") <= 150
    assert page.count("../regions/") >= 5, "its neighbours"
    assert re.search(r"Its share of the papers is \w+|No trend can be told", page)
    assert re.search(r"\d+ reviews? for [\d.e+]+ expected", page)
    newest = page.split("Newest papers")[1]
    years = [int(year) for year in re.findall(r"((?:19|20)\d\d)-\d\d-\d\d</span>", newest)]
    assert len(years) == 5
    assert years == sorted(years, reverse=True)


def test_pages_of_figures_begin_with_the_picture(site: Path) -> None:
    for name in ("reviews", "facilities"):
        page = (site / f"{name}.html").read_text()
        assert page.index("<img") < page.index("<table")
        assert page.index("<img") < page.index("Based on"), "the words follow the picture"


def test_no_file_is_large(site: Path) -> None:
    assert max(path.stat().st_size for path in site.rglob("*") if path.is_file()) < 20e6


def test_a_site_is_replaced_and_other_folders_are_not(demo_atlas: Atlas, tmp_path: Path) -> None:
    quick = PublishSettings(figures=False)
    folder = tmp_path / "site"
    publish(demo_atlas, folder, settings=quick)
    mark = folder / "landscape-site.json"
    written = json.loads(mark.read_text())
    assert "data/source.json" in written["files"]
    mark.write_text(json.dumps(written | {"files": [*written["files"], "data/old.bin"]}))
    (folder / "data" / "old.bin").write_text("a file of the earlier site")
    mine = {"CNAME": "maps.example.org", "data/mine.csv": "a,b", "figures/mine.txt": "own figure"}
    for name, text in mine.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    publish(demo_atlas, folder, settings=quick)
    assert not (folder / "data" / "old.bin").exists()
    assert {name: (folder / name).read_text() for name in mine} == mine
    without = json.loads(mark.read_text())
    without["files"].remove("trends.csv")
    mark.write_text(json.dumps(without))
    (folder / "trends.csv").write_text("my own trends")
    with pytest.raises(InputError, match=r"The site has a file trends\.csv"):
        publish(demo_atlas, folder, settings=quick)
    assert (folder / "trends.csv").read_text() == "my own trends"
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").write_text("mine")
    with pytest.raises(InputError, match=r"other has other files, such as 'thesis\.tex'"):
        publish(demo_atlas, other, settings=quick)
    with pytest.raises(InputError, match="is a file"):
        publish(demo_atlas, other / "thesis.tex", settings=quick)


@pytest.mark.parametrize("link", ["data", "notes", "data/words", "index.html", "mine.txt"])
def test_a_forged_list_of_files_moves_and_deletes_nothing_outside(
    demo_atlas: Atlas, tmp_path: Path, link: str
) -> None:
    quick = PublishSettings(figures=False)
    outside, folder = tmp_path / "outside", tmp_path / "site"
    for name in ("thesis.tex", "deep/years.csv"):
        (outside / name).parent.mkdir(parents=True, exist_ok=True)
        (outside / name).write_text("years of work")
    (folder / "own").mkdir(parents=True)
    (folder / "own" / "talk.txt").write_text("mine")
    (folder / link).parent.mkdir(exist_ok=True)
    target = outside / "thesis.tex" if "." in link else outside
    (folder / link).symlink_to(target)
    listed = ["own", link, f"{link}/x", f"{link}/deep/x", "../outside/thesis.tex", 7]
    (folder / "landscape-site.json").write_text(json.dumps({"files": listed}))
    with contextlib.suppress(InputError):
        publish(demo_atlas, folder, settings=quick)
    assert (outside / "thesis.tex").read_text() == "years of work"
    assert sorted(path.name for path in outside.rglob("*")) == ["deep", "thesis.tex", "years.csv"]
    assert (folder / link).is_symlink()
    assert (folder / "own" / "talk.txt").read_text() == "mine"


def test_the_list_of_files_of_a_site_is_not_a_link(demo_atlas: Atlas, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (tmp_path / "list.json").write_text('{"files": []}')
    (site / "landscape-site.json").symlink_to(tmp_path / "list.json")
    with pytest.raises(InputError, match="cannot be read, so the files of the site are unknown"):
        publish(demo_atlas, site, settings=PublishSettings(figures=False))
    assert (site / "landscape-site.json").is_symlink()


def test_odd_places_for_a_site(
    demo_atlas: Atlas, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = PublishSettings(figures=False)
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    publish(demo_atlas, tmp_path / "link", settings=quick)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "index.html").is_file()
    monkeypatch.chdir(tmp_path / "real")
    with pytest.raises(InputError, match="would replace the current folder"):
        publish(demo_atlas, ".", settings=quick)
    monkeypatch.chdir(tmp_path)
    rename = Path.rename

    def fail(self: Path, target: Path) -> Path:
        if target == tmp_path / "real" and not self.name.endswith(".old"):
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(OSError, match="Input"):
        publish(demo_atlas, tmp_path / "real", settings=quick)
    assert (tmp_path / "real" / "index.html").is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real"]


def test_a_public_site_has_no_word_of_hidden_abstracts(tmp_path: Path) -> None:
    rows = [
        {
            "title": f"Dust in galaxies {k}",
            "abstract": f"Zyxwv{k} grains absorb light. The grains of Zyxwv{k} are small.",
            "year": 2000 + k % 20,
            "author": ["Rubin, V."],
            "bibcode": f"2001dust..{k:08d}A",
        }
        for k in range(60)
    ]
    papers = tmp_path / "papers.jsonl"
    papers.write_text("".join(json.dumps(row) + "\n" for row in rows))
    atlas = ls.build(papers, tmp_path / "a.atlas", layout="pca", tagger="rules", workers=1)
    for public in (False, True):
        settings = PublishSettings(figures=False, public=public)
        folder = publish(atlas, tmp_path / f"site-{public}", settings=settings)
        found = [path for path in folder.rglob("*") if path.is_file() and quotes_an_abstract(path)]
        assert bool(found) != public


def quotes_an_abstract(path: Path) -> bool:
    content = path.read_bytes()
    if content[:2] == b"\x1f\x8b":
        content = gunzip(path)
    is_index = path.parent.name == "words"
    return b"grains of Zyxwv" in content or (is_index and b"small" in content)


def test_a_site_that_fails_leaves_the_earlier_one(
    demo_atlas: Atlas, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = PublishSettings(figures=False)
    folder = publish(demo_atlas, tmp_path / "site", settings=quick)

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("landscape.viewer.site.site_pages", fail)
    with pytest.raises(OSError, match="No space"):
        publish(demo_atlas, folder, settings=quick)
    assert (folder / "index.html").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_single_page_has_everything(demo_atlas: Atlas, tmp_path: Path) -> None:
    page = publish(demo_atlas, tmp_path / "map.html")
    text = page.read_text()
    files = json.loads(re.findall(r'id="landscape-files">(.*?)</script>', text, re.DOTALL)[0])
    assert set(files) == {name for name, _ in source.MapSource(demo_atlas).files()}
    assert text.count("<script") == text.count("</script>") == 2
    assert "'sha256-" in Links(page).policy
    assert len(text) < 1.5e6


def test_too_many_papers_for_one_page(
    demo_atlas: Atlas, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("landscape.viewer.site.MAX_SINGLE", 399)
    with pytest.raises(InputError, match="400 papers, and a single page is for at most 399"):
        publish(demo_atlas, tmp_path / "map.html")


def test_a_page_of_many_papers_has_no_abstracts(
    demo_atlas: Atlas, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = publish(demo_atlas, tmp_path / "map.html").stat().st_size
    monkeypatch.setattr("landscape.viewer.site.MAX_DETAILED", 399)
    text = publish(demo_atlas, tmp_path / "map.html").read_text()
    files = json.loads(re.findall(r'id="landscape-files">(.*?)</script>', text, re.DOTALL)[0])
    assert not [name for name in files if name.startswith("details")]
    assert len(text) < 0.7 * whole


def test_texts_of_an_atlas_are_inert(tmp_path: Path) -> None:
    wrong = "</script><script>alert(1)</script>"
    rows = [
        {
            "title": f"{wrong} dust {k}",
            "abstract": f"Dust {k} in {wrong} galaxies and stars {k % 7}.",
            "year": 2000 + k % 20,
            "author": [f"A{k}, <b>"],
            "bibcode": f"2001dust..{k:010d}A",
        }
        for k in range(40)
    ]
    papers = tmp_path / "papers.jsonl"
    papers.write_text("".join(json.dumps(row) + "\n" for row in rows))
    atlas = ls.build(
        papers, tmp_path / "a.atlas", title=wrong, layout="pca", tagger="rules", workers=1
    )
    publish(atlas, tmp_path / "site", settings=PublishSettings(figures=False))
    publish(atlas, tmp_path / "map.html")
    for page in (*(tmp_path / "site").rglob("*.html"), tmp_path / "map.html"):
        assert "<script>alert" not in page.read_text()


def test_the_command(demo_atlas: Atlas, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["publish", str(demo_atlas.path), str(tmp_path / "site"), "--no-figures", "--public"]
    assert main(words) == 0
    assert f"python -m http.server -d {tmp_path / 'site'}" in capsys.readouterr().out
    assert json.loads((tmp_path / "site" / "landscape-site.json").read_text())["public"]
    shutil.rmtree(tmp_path / "site")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "a.txt").touch()
    assert main(words) == 2
    assert "Name a new folder for the site." in capsys.readouterr().err


def test_a_page_stays_if_its_figure_is_impossible(
    demo_atlas: Atlas, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise InputError("Nothing to draw.")

    for kind in ("uat", "impact", "reviews", "trends", "new_topics"):
        monkeypatch.setattr(ls.figures, kind, refuse, raising=False)
    folder = publish(demo_atlas, tmp_path / "site")
    assert "<table" in (folder / "concepts.html").read_text("utf-8")
    assert "<img" not in (folder / "concepts.html").read_text("utf-8")
    assert (folder / "facilities.html").is_file()


def test_decimal_points_of_a_page_are_below_each_other(site: Path) -> None:
    cells = re.findall(r'<td class="number">([^<]*)</td>', (site / "concepts.html").read_text())
    shares = [cell for cell in cells if "." in cell]
    assert len(shares) > 5
    assert len({len(cell) for cell in shares}) == 1
    assert len({cell.index(".") for cell in shares}) == 1
