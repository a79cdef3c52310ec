"""An atlas as tools for an assistant, over the Model Context Protocol.

Local and read-only: the server speaks to the process that started it, over standard input and
output, opens no port, and sends nothing anywhere unless it is given a language model.
"""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

from landscape.agents.mcp_tools import NOTICE, WITH_MODEL, Tools
from landscape.corpus._cleaning import one_line
from landscape.errors import require
from landscape.llm._quoting import as_data

if TYPE_CHECKING:
    from landscape.llm._client import WritingModel
    from landscape.store._atlas_store import AtlasStore


def make_server(atlas: AtlasStore, *, model: WritingModel | None = None) -> Any:
    """Make the server of an atlas; nothing runs yet.

    Parameters
    ----------
    atlas : AtlasStore
    model : WritingModel, optional
        For answers, surveys and attributions; without one they work offline.

    Returns
    -------
    mcp.server.MCPServer
        With the tools ``search``, ``similar``, ``paper``, ``graph``, ``ask``, ``survey``,
        ``attribute`` and ``map_region``.

    Raises
    ------
    MissingExtraError
        The package ``mcp`` is not installed.
    """
    from landscape import __version__

    require("mcp.server.mcpserver", "mcp")
    from mcp.server import MCPServer
    from mcp.types import ToolAnnotations

    server = MCPServer(
        "landscape",
        title=f"Landscape: {one_line(atlas.title, most=80)}",
        instructions=_instructions(atlas),
        version=__version__,
        log_level="WARNING",
    )
    for tool in Tools(atlas, model=model).all():
        # A language model costs money, says something else each time, and is another machine.
        is_asked = model is not None and tool.__name__ in WITH_MODEL
        hints = ToolAnnotations(
            read_only_hint=True,
            destructive_hint=False,
            idempotent_hint=not is_asked,
            open_world_hint=is_asked,
        )
        server.add_tool(tool, annotations=hints)
    return server


def serve(atlas: AtlasStore, *, model: WritingModel | None = None) -> None:
    """Serve an atlas over standard input and output until the input ends.

    Parameters
    ----------
    atlas : AtlasStore
    model : WritingModel, optional

    Raises
    ------
    MissingExtraError
        The package ``mcp`` is not installed.
    """
    server = make_server(atlas, model=model)
    # The protocol owns the true standard output, whatever it was redirected to; what libraries
    # print meanwhile goes to standard error.
    with redirect_stdout(sys.__stdout__):
        server.run("stdio")


def _instructions(atlas: AtlasStore) -> str:
    facts = atlas.coverage
    title = as_data(one_line(facts["title"], most=80))  # it may be somebody else's
    made_up = " Its papers are made up." if facts["generated"] else ""
    return (
        f"Search, questions and citations over {facts['papers']:,} papers of {title} "
        f"({facts['first_date']} to {facts['last_date']}).{made_up} It holds these papers and no "
        f"others: what is not found here may still exist. {NOTICE}"
    )
