"""Write a web site of an atlas that needs no server: the map, and a page for each analysis.

The site is a folder of files for any web host. It loads nothing from elsewhere. A single page with
the map alone is for up to 100,000 papers, and works from a disk.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape._io import expand_home, refuse_atlas, reporting_unwritable, write_output
from landscape._progress import progress
from landscape._render import render
from landscape._wording import GENERATED, count
from landscape.corpus.libraries import open_library
from landscape.errors import AtlasError, InputError
from landscape.overlays.library import library_rows
from landscape.viewer._pages import Page, site_pages
from landscape.viewer.settings import PublishSettings, SourceSettings
from landscape.viewer.source import MapSource

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from landscape.atlas import Atlas

MAX_DETAILED, MAX_SINGLE = 20_000, 100_000
"""Maximum numbers of papers of a single page with abstracts, and without."""

_MARK = "landscape-site.json"  # file that says that a folder is a site, so it can be replaced
_BUNDLE = Path(__file__).with_name("viewer.js")


def publish(
    atlas: Atlas,
    out: str | os.PathLike[str],
    *,
    settings: PublishSettings | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Path:
    """Write a web site of an atlas.

    Parameters
    ----------
    atlas : Atlas
    out : path
        Folder of the site. It must not exist, be empty, or be an earlier site, which is replaced;
        other files in it, such as ``.git`` or ``CNAME``, stay. With the suffix ``.html``, a
        single page with the map is written instead.
    settings : PublishSettings, optional
    say : callable, optional
        Function that is called with one sentence on each step.

    Returns
    -------
    pathlib.Path
        The folder or the page.

    Raises
    ------
    InputError
        If the folder has other files, the atlas has no papers, or it has too many papers for a
        single page.

    Examples
    --------
    >>> import landscape as ls
    >>> from landscape.viewer import publish
    >>> publish(ls.open("my.atlas"), "site")  # doctest: +SKIP
    """
    target = expand_home(out)
    chosen = settings or PublishSettings()
    if target.suffix.lower() in (".html", ".htm"):
        write_output(target, single_page(atlas, chosen))
        return target
    target = target.resolve()
    refuse_atlas(target)
    kept = other_files(target)
    with reporting_unwritable(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        growing = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        _write_site(atlas, chosen, growing, say)
        growing.chmod(_folder_mode())
        for name in kept:
            if os.path.lexists(growing / name):
                raise InputError(
                    f"The site has a file {name}, and {target / name} is not of the earlier site. "
                    "Rename or move this file, and publish again."
                )
        _swap(growing, target, kept)
    except BaseException:
        shutil.rmtree(growing, ignore_errors=True)
        raise
    return expand_home(out)


def other_files(folder: Path) -> list[str]:
    """Return the files and folders in an earlier site that are not of the site, such as ``.git``.

    Raises
    ------
    InputError
        If the folder is not a site and not empty, or if it is the current folder.
    """
    if not folder.exists():
        return []
    if not folder.is_dir():
        raise InputError(f"{folder} is a file. Name a folder for the site, or a page (.html).")
    if folder == Path.cwd():
        raise InputError(
            f"The site would replace the current folder {folder}. Change to another folder, or "
            "name a folder inside."
        )
    names = sorted(path.name for path in folder.iterdir())
    if names and _MARK not in names:
        raise InputError(
            f"The folder {folder} has other files, such as {names[0]!r}. Name a new folder for "
            "the site."
        )
    if not names:
        return []
    try:
        if (folder / _MARK).is_symlink():
            raise ValueError("a site has no links")
        own = set(json.loads((folder / _MARK).read_text(encoding="utf-8"))["files"])
        own = {name for name in own if isinstance(name, str)}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(
            f"{folder / _MARK} cannot be read, so the files of the site are unknown. Name a new "
            "folder for the site."
        ) from error
    return list(_others(folder, own))


def _others(folder: Path, own: Collection[str], above: str = "") -> Iterator[str]:
    """Yield what is not of the site; folders without a file of the site are one name.

    A site has no symbolic links, so links are not followed, although a forged list names them.
    """
    for path in sorted(folder.iterdir()):
        name, is_link = f"{above}{path.name}", path.is_symlink()
        if name in own and path.is_file() and not is_link:
            continue
        if path.is_dir() and not is_link and any(one.startswith(f"{name}/") for one in own):
            yield from _others(path, own, f"{name}/")
        else:
            yield name


def _folder_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o777 & ~mask


def _swap(new: Path, target: Path, kept: list[str]) -> None:
    """Put a folder in the place of another one, with some of its files."""
    if not target.exists():
        new.rename(target)
        return
    old = new.with_name(f"{new.name}.old")
    target.rename(old)
    try:
        new.rename(target)
    except BaseException:
        old.rename(target)
        raise
    for name in kept:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (old / name).rename(target / name)
    shutil.rmtree(old, ignore_errors=True)


def _write_site(
    atlas: Atlas, settings: PublishSettings, folder: Path, say: Callable[[str], None]
) -> None:
    source = MapSource(atlas, settings, **_own_papers(atlas, settings))
    n_bytes = _write_source(source, folder / "data")
    say(f"the map: {count(len(atlas), 'paper')}, {n_bytes / 1e6:,.1f} MB")
    shutil.copyfile(bundle(), folder / "viewer.js")
    pages = site_pages(source, folder, figures=settings.figures, say=say)
    links = [(page.name, page.title) for page in pages if page.is_listed]
    write_output(folder / "site.css", render("site.css", themes=source.manifest["themes"]))
    made_up = GENERATED if atlas.coverage["generated"] else ""
    for page in pages:
        _write_page(page, links, folder, title=atlas.title, warning=made_up)
    files = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    names = sorted({_MARK, *files})
    mark = {"title": atlas.title, "papers": len(atlas), "public": settings.public, "files": names}
    write_output(folder / _MARK, json.dumps(mark, indent=1) + "\n")
    say(f"pages: {count(len(pages), 'page')}")


def _own_papers(atlas: Atlas, settings: SourceSettings) -> dict[str, Any]:
    """Return the papers and the name of the library that the settings name, if they do."""
    if not isinstance(settings, PublishSettings) or settings.library is None:
        return {}
    library = open_library(settings.library)
    return {"mine": library_rows(atlas, library), "library": library.name}


def _write_source(source: MapSource, folder: Path) -> int:
    n_bytes, names = 0, source.names()
    with progress("Files of the map", total=len(names), unit="files") as advance:
        for name in names:
            path, content = folder / name, source.file(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            n_bytes += len(content)
            advance(1)
    return n_bytes


def _write_page(
    page: Page, links: list[tuple[str, str]], folder: Path, *, title: str, warning: str
) -> None:
    up = "../" * page.name.count("/")
    text = render(
        "site_map.html" if page.name == "index" else "site_page.html",
        page=page,
        links=links,
        up=up,
        title=title,
        warning=warning,
    )
    path = folder / f"{page.name}.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    for name, content in page.files.items():
        (path.parent / name).write_text(content, encoding="utf-8")


def single_page(
    atlas: Atlas,
    settings: SourceSettings | None = None,
    *,
    given: Mapping[str, Any] | None = None,
    mine: NDArray[np.int64] | None = None,
) -> str:
    """Return a page with the map of an atlas, which includes all of its files.

    Parameters
    ----------
    atlas : Atlas
    settings : SourceSettings, optional
    given : mapping, optional
        State that the page shows first, as in ``given.js``; ``selected`` has rows of the atlas.
    mine : ndarray of int, optional
        Rows of the user's own papers.

    Returns
    -------
    str
        HTML. With more than 20,000 papers, it has no abstracts, references and similar papers.

    Raises
    ------
    InputError
        If the atlas has more than 100,000 papers.
    """
    chosen = settings or SourceSettings()
    if len(atlas) > MAX_SINGLE:
        raise InputError(
            f"The atlas has {len(atlas):,} papers, and a single page is for at most "
            f"{MAX_SINGLE:,}. Publish a folder instead: landscape publish {atlas.path} site"
        )
    has_details = len(atlas) <= MAX_DETAILED
    if not has_details:
        chosen = chosen.model_copy(update={"search": "titles"})
    own = {"mine": mine} if mine is not None else _own_papers(atlas, chosen)
    source = MapSource(atlas, chosen, **own, has_details=has_details)
    state = dict(given or {})
    if "selected" in state:
        state["selected"] = source.point_of[state["selected"]].tolist()
    files = {name: base64.b64encode(content).decode() for name, content in source.files()}
    script = bundle().read_text(encoding="utf-8").replace("</script", "<\\/script")
    digest = hashlib.sha256(script.encode()).digest()
    return render(
        "site_single.html",
        title=atlas.title,
        script=script,
        checksum=base64.b64encode(digest).decode(),
        files=json.dumps(files),
        given=json.dumps(state),
    )


def bundle() -> Path:
    """Return the path of the JavaScript of the viewer.

    Raises
    ------
    AtlasError
        If the package was installed without it.
    """
    if not _BUNDLE.is_file():
        raise AtlasError(
            f"The viewer is missing ({_BUNDLE}). Install the package again: pip install --force-"
            "reinstall landscape; in a clone, run: python landscape/viewer/js/build.py"
        )
    return _BUNDLE
