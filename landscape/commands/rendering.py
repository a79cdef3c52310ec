"""``landscape render``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from landscape.commands.answering import Answer, note
from landscape.commands.parsing import command, positive

_Options = argparse.Namespace


def add_render(commands: Any) -> None:
    """Add ``landscape render``."""
    parser = command(commands, "render", _render, "the outreach map: the literature as terrain")
    parser.add_argument("atlas", type=Path, metavar="DIR")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FILE",
        help="png, pdf or svg; html for one to zoom in a browser",
    )
    parser.add_argument(
        "--theme", default="atlas", metavar="NAME", help="atlas, parchment, night, mono or clear"
    )
    parser.add_argument(
        "--size",
        default="web",
        metavar="SIZE",
        help="web, slide, poster, a4 to a0, or your own such as 600x400mm, 24x36in, 1200x628px",
    )
    parser.add_argument("--dpi", type=positive, metavar="N", help="pixels per inch")
    parser.add_argument("--title", help="default: the name of the atlas")
    parser.add_argument("--credits", default="", metavar="TEXT", help="a line of thanks")
    parser.add_argument(
        "--names",
        type=Path,
        metavar="FILE",
        help="everyday names: CSV with the columns region,name; an edited gazetteer will do",
    )
    parser.add_argument(
        "--everyday",
        action="store_true",
        help="let the language model of OPENAI_API_KEY, or of OPENAI_BASE_URL and "
        "LANDSCAPE_LLM_MODEL, name what the table does not",
    )
    parser.add_argument(
        "--language",
        default="en",
        metavar="CODE",
        help="of names and legend: en, de, ar, hi, zh...",
    )
    parser.add_argument("--max-names", type=positive, metavar="N", help="regions to name at most")
    parser.add_argument(
        "--weights", metavar="MODEL", help="Stable Diffusion weights: a Hub id or a local folder"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N")


def _render(options: _Options) -> Answer:
    from landscape.atlas.reading import open_atlas
    from landscape.outreach.checking import check_target
    from landscape.outreach.rendering import render
    from landscape.outreach.themes import find_theme

    check_target(options.output)
    find_theme(options.theme)
    model = None
    if options.everyday:
        from landscape.llm._client import connect

        model = connect()
    rendering = render(
        open_atlas(options.atlas),
        options.output,
        theme=options.theme,
        size=options.size,
        dpi=options.dpi,
        title=options.title,
        credits=options.credits,
        names=options.names,
        model=model,
        language=options.language,
        max_names=options.max_names,
        weights=options.weights,
        seed=options.seed,
        note=note,
    )
    note(rendering.used)
    return Answer(str(options.output))
