"""What a user can ask of a build, as one typed object."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from landscape.errors import InputError

TopicsMethod = Literal["density", "hdbscan"]


@dataclass(frozen=True)
class BuildOptions:
    """Everything that decides what a build writes; `landscape.build` explains the fields.

    Examples
    --------
    >>> BuildOptions(inputs=(Path("papers.jsonl"),)).topics_method
    'density'
    """

    inputs: tuple[Path, ...]
    embedder: str | None = None
    layout: str | None = None
    seed: int | None = None
    n_neighbors: int = 15
    min_dist: float = 0.05
    keywords_limit: int = 20
    tagger: str = "auto"
    topics_method: TopicsMethod = "density"
    max_regions: int | None = None
    n_continents: int | None = None
    polish: bool = False
    thesaurus: Path | None = None
    known_reviews: tuple[Path, ...] = ()
    citations: tuple[Path, ...] = ()
    title: str | None = None
    workers: int | None = None
    approve: Callable[[str], bool] | None = None

    @property
    def n_workers(self) -> int:
        """Processes to use: as asked, else one a core that this process may run on."""
        if self.workers is not None:
            return self.workers
        try:
            return len(os.sched_getaffinity(0))
        except AttributeError:  # macOS and Windows do not tell
            return os.cpu_count() or 1


def check_options(options: BuildOptions) -> BuildOptions:
    """Refuse options that cannot work, before any work is done.

    Parameters
    ----------
    options : BuildOptions

    Returns
    -------
    BuildOptions
        The same.

    Raises
    ------
    InputError
        With the value seen and the values allowed.

    Examples
    --------
    >>> check_options(BuildOptions(inputs=()))
    Traceback (most recent call last):
    landscape.errors.InputError: No input file is given; name at least one file of papers.
    """
    if not options.inputs:
        raise InputError("No input file is given; name at least one file of papers.")
    _check_choice("topics method", options.topics_method, ("density", "hdbscan"))
    if options.layout is not None:
        from landscape.mapping.projection import LAYOUTS

        _check_choice("layout", options.layout, (*sorted(LAYOUTS), "keep", "ready"))
    if options.embedder is not None:
        from landscape.vectors.embedder import EMBEDDERS

        _check_choice("embedder", options.embedder.partition(":")[0], EMBEDDERS)
    for what, path in (
        ("thesaurus", options.thesaurus),
        *(("list of reviews", path) for path in options.known_reviews),
        *(("list of citations", path) for path in options.citations),
    ):
        if path is not None and not path.is_file():
            raise InputError(f"There is no {what} {path}; give the path of a file.")
    _check_lists(options)
    from landscape.text.pipeline import tagger_name

    tagger_name(tagger=options.tagger)  # says which taggers there are
    for name, least in (
        ("n_neighbors", 2),
        ("keywords_limit", 1),
        ("max_regions", 1),
        ("n_continents", 1),
        ("workers", 1),
        ("seed", 0),
    ):
        value = getattr(options, name)
        if value is not None and value < least:
            raise InputError(f"{name} is {value}; it has to be at least {least}.")
    if not 0 <= options.min_dist <= 1:  # so written, it refuses what is not a number too
        raise InputError(f"min_dist is {options.min_dist}; it has to be between 0 and 1.")
    if options.seed is not None and options.seed >= 2**32:
        raise InputError(f"seed is {options.seed}; it has to be less than {2**32}.")
    return options


def as_paths(inputs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> tuple[Path, ...]:
    """Accept one path or several.

    Parameters
    ----------
    inputs : path or iterable of path

    Returns
    -------
    tuple of pathlib.Path

    Examples
    --------
    >>> as_paths("papers.jsonl") == as_paths([Path("papers.jsonl")])
    True
    """
    if isinstance(inputs, str | os.PathLike):
        return (Path(inputs),)
    return tuple(Path(one) for one in inputs)


def _check_choice(what: str, value: Any, allowed: Iterable[str]) -> None:
    if value not in allowed:
        raise InputError(f"There is no {what} {value!r}; choose one of: {', '.join(allowed)}.")


def _check_lists(options: BuildOptions) -> None:
    """Read now what later stages read: to refuse a file after hours of embedding is too late."""
    from landscape.corpus._thesaurus import read_thesaurus
    from landscape.overlays.reviews._recognition import read_review_list

    if options.thesaurus is not None:
        read_thesaurus(options.thesaurus)
    for path in options.known_reviews:
        read_review_list(path)
    check_citations(options.citations)


def check_citations(files: Iterable[Path]) -> None:
    """Refuse a list of citations that cannot be read.

    Raises
    ------
    InputError
    """
    from landscape.corpus.readers.citations import read_citations

    for path in files:
        read_citations(path)
