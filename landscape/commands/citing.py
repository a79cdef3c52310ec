"""``landscape attribute``, ``cite``, ``check`` and ``mcp``, and how the first two are measured."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape.commands.answering import Answer, as_json, note
from landscape.commands.parsing import command, positive
from landscape.plural import count

if TYPE_CHECKING:
    from landscape.agents.cite.desk import Desk
    from landscape.llm.models import WritingModel

_MODEL = "work without the language model that the environment names"


def add_attribute(commands: Any) -> None:
    """Add ``landscape attribute``."""
    parser = command(commands, "attribute", _attribute, "find the paper that an excerpt cites")
    parser.add_argument("atlas", type=Path, metavar="DIR")
    parser.add_argument("excerpt", metavar="EXCERPT", help="text with [CITATION] in it")
    parser.add_argument("--source", metavar="PAPER", help="the paper that the excerpt is from")
    parser.add_argument("--before", metavar="DATE", help="last day or year that counts")
    parser.add_argument(
        "--max-actions", type=positive, default=15, metavar="N", help="of the model (default: 15)"
    )
    parser.add_argument(
        "--demonstration", action="store_true", help="show the model an example first"
    )
    parser.add_argument("--mark", type=positive, default=1, metavar="N", help="which of several")
    parser.add_argument("--no-model", action="store_true", help=_MODEL)
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def add_cite(commands: Any) -> None:
    """Add ``landscape cite``."""
    parser = command(commands, "cite", _cite, "find papers to cite behind a text")
    parser.add_argument("atlas", type=Path, metavar="DIR")
    parser.add_argument("context", metavar="TEXT", help="the text before the citation")
    parser.add_argument("--keywords", metavar="FILTER", help="such as 'dust; (quasar | AGN)'")
    parser.add_argument("-k", type=positive, default=10, metavar="N", help="papers (default: 10)")
    parser.add_argument(
        "--highlights", type=positive, default=3, metavar="N", help="sentences (default: 3)"
    )
    parser.add_argument(
        "--also", type=Path, action="append", default=[], metavar="DIR", help="another atlas"
    )
    parser.add_argument("-o", "--export", type=Path, metavar="FILE.bib", help="write the papers")
    parser.add_argument("--no-model", action="store_true", help=_MODEL)
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def add_check(commands: Any) -> None:
    """Add ``landscape check``."""
    parser = command(
        commands, "check", _check, "check whether cited papers say what a draft has them say"
    )
    parser.add_argument("bibliography", type=Path, metavar="REFERENCES.bib")
    parser.add_argument("drafts", type=Path, nargs="+", metavar="DRAFT.tex")
    parser.add_argument(
        "--atlas", type=Path, action="append", default=[], metavar="DIR",
        help="where the cited papers are looked for; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--citations-only", action="store_true", help="do not look for missing citations"
    )
    parser.add_argument("--no-model", action="store_true", help=_MODEL)
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def add_mcp(commands: Any) -> None:
    """Add ``landscape mcp``."""
    parser = command(
        commands, "mcp", _mcp, "serve an atlas to an assistant (MCP, standard input and output)"
    )
    parser.add_argument("atlas", type=Path, metavar="DIR")
    parser.add_argument(
        "--model", action="store_true",
        help="let the language model that the environment names answer, survey and attribute",
    )  # fmt: skip


def add_evaluate_citing(kinds: Any) -> None:
    """Add ``landscape evaluate attribution`` and ``citing``."""
    parser = command(
        kinds, "attribution", _evaluate_attribution, "how often the cited paper is found"
    )
    parser.add_argument("atlas", type=Path, metavar="DIR")
    parser.add_argument(
        "--excerpts", type=Path, required=True, metavar="FILE",
        help='CiteME\'s CSV, or lines {"qid", "excerpt", "answer"}',
    )  # fmt: skip
    _measured(parser)
    parser = command(kinds, "citing", _evaluate_citing, "how well papers to cite are found")
    parser.add_argument("atlas", type=Path, metavar="DIR")
    parser.add_argument(
        "--places", type=Path, metavar="FILE",
        help='lines {"context", "cited": [ids]}, optionally "keywords" and "sentence"; '
        "default: made from the citations of the atlas",
    )  # fmt: skip
    parser.add_argument("--n", type=positive, default=200, help="places made (default: 200)")
    parser.add_argument("--seed", type=int, default=0, help="of the places made")
    _measured(parser)


def _measured(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", action="store_true", help="with the environment's model")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def _attribute(options: argparse.Namespace) -> Answer:
    from landscape.atlas.reading import open_atlas

    found = open_atlas(options.atlas).attribute(
        options.excerpt,
        source=options.source,
        before=options.before,
        max_actions=options.max_actions,
        model=None if options.no_model else "auto",
        demonstration=options.demonstration,
        mark=options.mark,
    )
    return Answer(as_json(found.to_dict()) if options.json else found.to_text())


def _cite(options: argparse.Namespace) -> Answer:
    from landscape.errors import InputError
    from landscape.outputs import check_output, write_output

    if options.export:
        check_output(options.export, [".bib"], what="Papers to cite")
    found = _desk([options.atlas, *options.also]).cite(
        options.context,
        options.keywords,
        k=options.k,
        model=None if options.no_model else "auto",
        n_highlights=options.highlights,
    )
    if options.export:
        if not len(found):
            raise InputError(f"No paper was found, so {options.export} is left as it is.")
        write_output(options.export, f"{found.to_bibtex()}\n")
        note(f"{options.export} holds {count(len(found), 'paper')}")
    return Answer(as_json(found.to_dict()) if options.json else found.to_text())


def _check(options: argparse.Namespace) -> Answer:
    from landscape.agents.checking.draft import check_draft

    found = check_draft(
        options.bibliography,
        options.drafts,
        desk=_desk(options.atlas),
        model=None if options.no_model else "auto",
        find_missing=not options.citations_only,
    )
    return Answer(as_json(found.to_dict()) if options.json else found.to_text())


def _mcp(options: argparse.Namespace) -> Answer:
    from landscape.agents.mcp_server import serve
    from landscape.atlas.reading import open_atlas

    atlas = open_atlas(options.atlas)
    model = _model() if options.model else None
    note(f"landscape: serving {atlas.title} ({len(atlas):,} papers) over standard input and output")
    serve(atlas, model=model)
    return Answer("")


def _evaluate_attribution(options: argparse.Namespace) -> Answer:
    from landscape.atlas.reading import open_atlas
    from landscape.evaluation._attribution import evaluate_attribution

    model = _model() if options.model else None
    found = evaluate_attribution(open_atlas(options.atlas), options.excerpts, model=model)
    return Answer(as_json(found.to_dict()) if options.json else found.to_text())


def _evaluate_citing(options: argparse.Namespace) -> Answer:
    from landscape.atlas.reading import open_atlas
    from landscape.evaluation._citing import evaluate_citing, places_from_graph

    atlas = open_atlas(options.atlas)
    places = options.places or places_from_graph(atlas, n=options.n, seed=options.seed)
    found = evaluate_citing(atlas, places, model=_model() if options.model else None)
    return Answer(as_json(found.to_dict()) if options.json else found.to_text())


def _desk(folders: list[Path]) -> Desk:
    """Atlases side by side; two of one title are told apart by their folders."""
    from landscape.agents.cite.desk import Desk
    from landscape.atlas.reading import open_atlas

    desk = Desk()
    for folder in folders:
        atlas = open_atlas(folder)
        taken = any(corpus.name == atlas.title for corpus in desk.corpora)
        desk = desk.add(atlas, f"{atlas.title} in {folder}" if taken else None)
    return desk


def _model() -> WritingModel:
    from landscape.errors import InputError
    from landscape.llm.environment import connect_if_told

    model = connect_if_told()
    if model is None:
        message = (
            "No language model is named: set OPENAI_API_KEY, or OPENAI_BASE_URL and "
            "LANDSCAPE_LLM_MODEL, or leave --model out."
        )
        raise InputError(message)
    return model
