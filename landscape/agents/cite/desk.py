"""The writer's desk: several corpora side by side, each switched on and off by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from landscape.errors import InputError
from landscape.search._engine import open_engine

if TYPE_CHECKING:
    import pandas as pd

    from landscape.llm._client import WritingModel
    from landscape.store._atlas_store import AtlasStore
    from landscape.types import Answer, CitationSuggestions, Paper

    Connection = WritingModel | Literal["auto"] | None


@dataclass(frozen=True)
class Corpus:
    """An atlas on the desk.

    Attributes
    ----------
    name : str
    atlas : AtlasStore
    on : bool
        Whether it is searched.
    """

    name: str
    atlas: AtlasStore
    on: bool = True


@dataclass(frozen=True)
class Desk:
    """Corpora to cite from. Each verb gives a changed desk and leaves this one as it is.

    Attributes
    ----------
    corpora : tuple of Corpus

    Examples
    --------
    >>> from pathlib import Path
    >>> from landscape.store._manifest import Manifest
    >>> from landscape.store._atlas_store import AtlasStore
    >>> def atlas(name):
    ...     return AtlasStore(Path(f"{name}.atlas"), Manifest(title=name))
    >>> desk = Desk().add(atlas("Galaxies")).add(atlas("Mine"), "my papers")
    >>> desk = desk.switch_off("Galaxies")
    >>> [(corpus.name, corpus.on) for corpus in desk.corpora]
    [('Galaxies', False), ('my papers', True)]
    >>> [corpus.name for corpus in desk.remove("my papers").corpora]
    ['Galaxies']
    """

    corpora: tuple[Corpus, ...] = ()

    def add(self, atlas: AtlasStore, name: str | None = None) -> Desk:
        """Put an atlas on the desk.

        Parameters
        ----------
        atlas : AtlasStore
        name : str, optional
            Default: its title.

        Returns
        -------
        Desk

        Raises
        ------
        InputError
            If the desk has one of that name.
        """
        called = (name or atlas.title).strip()
        if not called or any(corpus.name == called for corpus in self.corpora):
            message = f"The desk has a corpus {called!r} already; give this one another name."
            raise InputError(message)
        return Desk((*self.corpora, Corpus(called, atlas)))

    def remove(self, name: str) -> Desk:
        """Take a corpus off the desk; its files stay as they are."""
        gone = self._named(name)
        return Desk(tuple(corpus for corpus in self.corpora if corpus is not gone))

    def switch_off(self, name: str) -> Desk:
        """Leave a corpus out of every search until it is switched on again."""
        return self._switched(name, on=False)

    def switch_on(self, name: str) -> Desk:
        """Search a corpus again."""
        return self._switched(name, on=True)

    @property
    def searched(self) -> tuple[Corpus, ...]:
        """The corpora that are on.

        Raises
        ------
        InputError
            If there is none.
        """
        on = tuple(corpus for corpus in self.corpora if corpus.on)
        if not on:
            message = (
                "No corpus on the desk is switched on; add one with desk.add(atlas), or switch "
                "one on."
            )
            raise InputError(message)
        return on

    @property
    def table(self) -> pd.DataFrame:
        """One row a corpus: ``name, on, papers, path``."""
        import pandas as pd

        rows = [(c.name, c.on, len(c.atlas), str(c.atlas.path)) for c in self.corpora]
        return pd.DataFrame(rows, columns=["name", "on", "papers", "path"])

    def cite(
        self,
        context: str,
        keywords: str | Sequence[str] | None = None,
        *,
        k: int = 10,
        model: Connection = None,
        n_highlights: int = 3,
        full_texts: Mapping[str, str] | None = None,
    ) -> CitationSuggestions:
        """Find papers to cite behind a text; see `landscape.agents.cite.citing.cite`."""
        from landscape.agents.cite.citing import cite

        return cite(
            self,
            context,
            keywords,
            k=k,
            model=model,
            n_highlights=n_highlights,
            full_texts=full_texts,
        )

    def related_work(
        self,
        papers: Sequence[str | Paper],
        *,
        context: str = "",
        model: Connection = None,
    ) -> Answer:
        """Write a paragraph on several papers; see `landscape.agents.cite.paragraph`."""
        from landscape.agents.cite.paragraph import related_work

        return related_work(self, papers, context=context, model=model)

    def find(self, name: str) -> tuple[Corpus, Paper]:
        """Find a paper by its identifier in the first corpus that holds it, switched on or not.

        Raises
        ------
        InputError
            If none does.
        """
        for corpus in self.corpora:
            try:
                row = open_engine(corpus.atlas).row_of(name)
            except InputError:
                continue
            return corpus, open_engine(corpus.atlas).papers([row])[0]
        message = f"No corpus on the desk holds {name!r}; give a bibcode, arXiv identifier or DOI."
        raise InputError(message)

    def _switched(self, name: str, *, on: bool) -> Desk:
        chosen = self._named(name)
        return Desk(
            tuple(replace(corpus, on=on) if corpus is chosen else corpus for corpus in self.corpora)
        )

    def _named(self, name: str) -> Corpus:
        for corpus in self.corpora:
            if corpus.name == name:
                return corpus
        known = ", ".join(repr(corpus.name) for corpus in self.corpora) or "none"
        message = f"The desk has no corpus {name!r}; it has: {known}."
        raise InputError(message)

    def __len__(self) -> int:
        return len(self.corpora)
