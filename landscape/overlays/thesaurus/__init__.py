"""Tag papers with concepts of the Unified Astronomy Thesaurus, and propose missing concepts.

`concept_counts`, `thesaurus_overlay`, `thesaurus_gaps` and `backtest_gaps` take an atlas;
`tag_papers` takes texts.

>>> from landscape.overlays.thesaurus import embedded_thesaurus
>>> embedded_thesaurus().find("Galaxies").concept_id
'573'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import lazy_loader

from landscape.corpus.thesaurus import Concept, Thesaurus, embedded_thesaurus, read_thesaurus

if TYPE_CHECKING:
    from landscape.overlays.thesaurus._extents import concept_counts, thesaurus_overlay
    from landscape.overlays.thesaurus._gaps import (
        backtest_gaps,
        thesaurus_gaps,
        to_uat_csv,
        to_uat_form,
    )
    from landscape.overlays.thesaurus.tagging import tag_papers

__all__ = [
    "Concept",
    "Thesaurus",
    "backtest_gaps",
    "concept_counts",
    "embedded_thesaurus",
    "read_thesaurus",
    "tag_papers",
    "thesaurus_gaps",
    "thesaurus_overlay",
    "to_uat_csv",
    "to_uat_form",
]

__getattr__, _, _ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "_extents": ["concept_counts", "thesaurus_overlay"],
        "_gaps": ["backtest_gaps", "thesaurus_gaps", "to_uat_csv", "to_uat_form"],
        "tagging": ["tag_papers"],
    },
)


def __dir__() -> list[str]:
    return __all__
