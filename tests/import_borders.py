"""Contract of import-linter: private modules are imported only inside their package."""

from __future__ import annotations

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class PrivateModules(Contract):
    """A module may import private modules only from its own package or the root package."""

    type_name = "private"

    package = fields.StringField()

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002
        inside = graph.find_descendants(str(self.package))
        broken = [
            (importer, imported)
            for importer in sorted(inside)
            for imported in sorted(graph.find_modules_directly_imported_by(importer))
            if imported in inside and is_foreign(importer, imported)
        ]
        return ContractCheck(kept=not broken, metadata={"imports": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for importer, imported in check.metadata["imports"]:
            output.print_error(f"{importer} imports {imported}, which is private.")


def is_foreign(importer: str, imported: str) -> bool:
    """Return whether `imported` is a private module of another package than `importer`.

    >>> is_foreign("landscape.widgets._panel", "landscape.search._filters")
    True
    >>> is_foreign("landscape.search.engine", "landscape.search._filters")
    False
    >>> is_foreign("landscape.search.engine", "landscape._io")
    False
    """
    _, package, *inner = imported.split(".")
    is_private = any(part.startswith("_") for part in inner)
    return is_private and importer.split(".")[1] != package
