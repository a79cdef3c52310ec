"""The command line: parses, calls, prints. No science, and nothing heavy before it is needed."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from landscape.errors import LandscapeError

if TYPE_CHECKING:
    from landscape.atlas.reading import Atlas
    from landscape.query.records import Results

DONE, FAILED, WRONG_INPUT, STOPPED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words after ``landscape``; those of the process when not given.

    Returns
    -------
    int
        Exit status: 0 done, 2 wrong usage or bad input, 1 anything else, 130 stopped by Ctrl-C.

    Examples
    --------
    >>> main(["info", "no-such.atlas"])
    2
    """
    words = sys.argv[1:] if arguments is None else arguments
    options = _parser().parse_args(_with_filters_joined(words))
    try:
        # Some libraries print as they please; standard output is for the answer alone.
        with redirect_stdout(sys.stderr):
            answer: Answer = options.run(options)
    except KeyboardInterrupt:
        _note("stopped; run the same command again to go on")
        return STOPPED
    except LandscapeError as error:
        if options.debug:
            raise
        _note(f"landscape: {error}")
        return error.exit_status
    except Exception as error:
        if options.debug:
            raise
        first_line = (str(error).splitlines() or [""])[0]
        _note(f"landscape: {type(error).__name__}: {first_line}")
        _note("run with --debug for the traceback")
        return FAILED
    if answer.text:
        try:
            _print(answer.text, sys.stdout)
        except OSError as error:  # a full disk
            _note(f"landscape: the answer cannot be written ({error.strerror})")
            return FAILED
    return answer.status


class Answer(NamedTuple):
    """What a command prints on standard output, and its exit status."""

    text: str
    status: int = DONE


def _demo(options: argparse.Namespace) -> Answer:
    from landscape.atlas.build import build
    from landscape.corpus.demo import write_demo

    out: Path = options.out
    _note(f"writing a generated corpus of {options.papers:,} papers that do not exist")
    files = write_demo(out.with_name(f"{out.stem}-corpus"), n_papers=options.papers)
    atlas = build(
        [files.papers],
        out,
        seed=options.seed,
        workers=options.workers,
        title="Demo corpus (generated)",
        # Its themes share no papers: UMAP would draw each together to a speck.
        min_dist=0.5,
        say=_note,
    )
    options.figures.mkdir(parents=True, exist_ok=True)
    pictures = [options.figures / f"heatmap.{kind}" for kind in ("png", "pdf")]
    for picture in pictures:
        _draw_heatmap(atlas, picture)
    return Answer(
        f"The demo atlas is ready: {len(atlas):,} generated papers in {out}.\n"
        "Every paper in it is made up by Landscape; no output of it says anything about "
        "astronomy.\n\nOpen next:\n"
        f"  {pictures[0]}  the labelled map\n"
        f"  {pictures[1]}  the same, for print\n"
        f"  landscape info {out}\n"
        f"  landscape build YOUR-PAPERS.jsonl --out your.atlas"
    )


def _build(options: argparse.Namespace) -> Answer:
    from landscape.atlas.build import build
    from landscape.atlas.description import count_regions, facts

    atlas = build(
        options.inputs,
        options.out,
        embedder=options.embedder,
        layout=options.layout,
        seed=options.seed,
        n_neighbors=options.n_neighbors,
        min_dist=options.min_dist,
        keywords_limit=options.keywords_limit,
        tagger=options.tagger,
        topics_method=options.topics,
        max_regions=options.regions,
        n_continents=options.continents,
        polish=options.polish,
        title=options.title,
        workers=options.workers,
        approve=_agree if options.yes else _ask,
        say=_note,
    )
    if options.json:
        return Answer(_as_json(facts(atlas)))
    return Answer(f"{atlas.path}: {len(atlas):,} papers in {count_regions(atlas)} named regions")


def _info(options: argparse.Namespace) -> Answer:
    from landscape.atlas.description import describe, facts
    from landscape.atlas.reading import open_atlas
    from landscape.atlas.verify import verify

    problems = verify(options.atlas) if options.verify else []
    for problem in problems:
        _note(f"landscape: {problem}")
    if problems:
        found = {"path": str(options.atlas), "verified": False, "problems": problems}
        return Answer(_as_json(found) if options.json else "", WRONG_INPUT)
    atlas = open_atlas(options.atlas)
    for problem in atlas.label_problems:
        _note(f"landscape: {problem}")
    if options.json:
        return Answer(_as_json(facts(atlas) | ({"verified": True} if options.verify else {})))
    verified = f"\n\nverified: all {len(atlas.manifest.files):,} files are as they were written"
    return Answer(describe(atlas) + (verified if options.verify else ""))


def _search(options: argparse.Namespace) -> Answer:
    from landscape.atlas.reading import open_atlas
    from landscape.query.files import check_ending, write_results
    from landscape.query.outliers import spread_of
    from landscape.query.writing import results_as_text

    if options.export:
        check_ending(options.export)
    atlas = open_atlas(options.atlas)
    results = _found(atlas, options)
    if options.export:
        path = write_results(results, options.export)
        left_out = len(results) - len(results.to_bibcodes().split()) if path.suffix == ".txt" else 0
        without = f"; {left_out:,} have no bibcode and are left out" if left_out else ""
        _note(f"{len(results) - left_out:,} papers are in {path}{without}")
    spread = spread_of(atlas, results)
    if options.json:
        return Answer(_as_json(results.to_dict() | {"spread": spread.to_dict()}))
    return Answer(results_as_text(results, spread=spread))


def _found(atlas: Atlas, options: argparse.Namespace) -> Results:
    """Search as the options say; what the reader should know of it goes to standard error."""
    results = atlas.search(
        options.query,
        k=options.k,
        filter=options.filter,
        weights=dict.fromkeys(options.weight or (), 1.0),
        method=options.method,
        rerank=not options.no_rerank,
        reranker=options.rerank_with,
        hyde=options.hyde,
    )
    for note in results.coverage.notes:
        _note(f"landscape: {note}")
    return results


def _ask_question(options: argparse.Namespace) -> Answer:
    from landscape.atlas.reading import open_atlas
    from landscape.query.writing import answer_as_text

    said = open_atlas(options.atlas).ask(
        options.question,
        k=options.k,
        filter=options.filter,
        style=options.style,
        language=options.language,
        audience=options.audience,
    )
    return Answer(_as_json(said.to_dict()) if options.json else answer_as_text(said))


def _figure_heatmap(options: argparse.Namespace) -> Answer:
    from landscape.atlas.reading import open_atlas

    path = _draw_heatmap(
        open_atlas(options.atlas),
        options.output,
        colours=options.colours,
        labels=not options.no_labels,
        max_labels=options.max_labels,
        title=options.title,
    )
    return Answer(str(path))


def _figure_query(options: argparse.Namespace) -> Answer:
    from landscape.atlas.reading import open_atlas
    from landscape.figures import query_map, save_figure
    from landscape.figures.export import check_kind

    check_kind(options.output)
    atlas = open_atlas(options.atlas)
    results = _found(atlas, options)
    figure = query_map(atlas, results, colours=options.colours, title=options.title)
    return Answer(str(save_figure(figure, options.output)))


def _evaluate_map(options: argparse.Namespace) -> Answer:
    from landscape.atlas.description import quality_lines
    from landscape.atlas.reading import open_atlas

    atlas = open_atlas(options.atlas)
    if options.again:
        from landscape.atlas.stages.quality import measure

        quality = measure(atlas.path, atlas.manifest, seed=options.seed)
    else:
        quality = atlas.quality
    if options.json:
        return Answer(_as_json(quality))
    return Answer("\n".join(quality_lines(quality)))


def _evaluate_retrieval(options: argparse.Namespace) -> Answer:
    from landscape.atlas.reading import open_atlas
    from landscape.evaluation.retrieval import evaluate_retrieval

    found = evaluate_retrieval(open_atlas(options.atlas), options.queries)
    return Answer(_as_json(found.to_dict()) if options.json else found.to_text())


def _fetch_arxiv(options: argparse.Namespace) -> Answer:
    from landscape.corpus.fetch.arxiv import fetch_arxiv

    return _fetched(
        fetch_arxiv(
            options.output,
            set=options.set,
            since=options.since,
            until=options.until,
            max_records=options.limit,
            notify=_note,
        )
    )


def _fetch_ads(options: argparse.Namespace) -> Answer:
    from landscape.corpus.fetch.ads import fetch_ads

    found = fetch_ads(options.output, query=options.query, max_records=options.limit, notify=_note)
    return _fetched(found)


def _fetch_pathfinder(options: argparse.Namespace) -> Answer:
    from landscape.corpus.fetch.pathfinder import fetch_pathfinder

    return _fetched(fetch_pathfinder(options.output, notify=_note))


def _fetch_uat(options: argparse.Namespace) -> Answer:
    from landscape.corpus.fetch.uat import fetch_uat

    return _fetched(fetch_uat(options.output, version=options.version, notify=_note))


def _fetched(found: Any) -> Answer:
    if found.note:
        _note(found.note)
    return Answer(f"{found.path}: {found.n_records:,} records")


def _draw_heatmap(atlas: Atlas, path: Path, **options: Any) -> Path:
    from landscape.figures import heatmap, save_figure

    return save_figure(heatmap(atlas, **options), path)


def _agree(_question: str) -> bool:
    """The answer of --yes."""
    return True


def _ask(question: str) -> bool:
    """Ask on the terminal; without one the answer is no."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        _note(f"{question} Not asked, because this is no terminal; give --yes to agree.")
        return False
    _print(f"{question} [y/N] ", sys.stderr, end="")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _note(line: str) -> None:
    with suppress(OSError):  # a note that cannot be written stops no work
        _print(line, sys.stderr)


def _print(text: str, stream: IO[str], *, end: str = "\n") -> None:
    """Print; a reader that has gone, as in `landscape info X | head -1`, stops no work."""
    try:
        print(text, end=end, file=stream, flush=True)
    except OSError as error:
        # Whatever is written from here on, by libraries too, goes nowhere instead of failing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            raise


def _as_json(document: Any) -> str:
    from landscape.query.exporting import plain

    return json.dumps(plain(document), indent=1, ensure_ascii=False, allow_nan=False)


def _parser() -> argparse.ArgumentParser:
    from landscape import __version__

    parser = argparse.ArgumentParser(
        prog="landscape",
        description="Map a research literature: from a pile of abstracts to a labelled atlas.",
    )
    parser.add_argument("--version", action="version", version=f"landscape {__version__}")
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in (
        _add_demo,
        _add_build,
        _add_info,
        _add_search,
        _add_ask,
        _add_figure,
        _add_evaluate,
        _add_fetch,
    ):
        add(commands)
    return parser


def _add_demo(commands: Any) -> None:
    demo = _command(commands, "demo", _demo, "the whole tour on a generated corpus")
    demo.add_argument("--out", type=Path, default=Path("demo.atlas"), metavar="DIR")
    demo.add_argument("--papers", type=_positive, default=4000, metavar="N")
    demo.add_argument("--figures", type=Path, default=Path("figures/demo"), metavar="DIR")
    demo.add_argument("--seed", type=int, default=1, help="of the map (default: 1)")
    demo.add_argument("--workers", type=_positive, metavar="N", help="processes")


def _add_build(commands: Any) -> None:
    build = _command(commands, "build", _build, "build an atlas from files of papers")
    build.add_argument("inputs", nargs="+", type=Path, metavar="INPUT", help="files of papers")
    build.add_argument("--out", type=Path, required=True, metavar="DIR", help="the atlas")
    build.add_argument("--title", help="name of the atlas, for captions")
    build.add_argument("--seed", type=int, help="make the map reproducible (slower)")
    build.add_argument("--workers", type=_positive, metavar="N", help="processes")
    build.add_argument(
        "--embedder",
        help="minilm (default), openai:MODEL, st:NAME_OR_PATH, ready (the vectors that the inputs "
        "bring), or ready:FILE[@MODEL] (.npy, a row a record; or Parquet: paper_id, embedding)",
    )
    build.add_argument("--yes", action="store_true", help="agree to the cost of remote embeddings")
    build.add_argument("--keywords-limit", type=_positive, default=20, metavar="N")
    build.add_argument("--tagger", default="auto", help="part-of-speech tagger")
    build.add_argument("--layout", help="umap, tsne, pca, ready or keep (default: umap)")
    build.add_argument("--n-neighbors", type=_positive, default=15, metavar="N", help="of UMAP")
    build.add_argument("--min-dist", type=float, default=0.05, help="of UMAP")
    build.add_argument("--topics", choices=("density", "hdbscan"), default="density")
    build.add_argument("--regions", type=_positive, metavar="N", help="most regions")
    build.add_argument("--continents", type=_positive, metavar="N", help="most continents")
    build.add_argument(
        "--polish", action="store_true", help="let a language model improve the names of topics"
    )
    build.add_argument("--json", action="store_true", help="print one JSON document")


def _add_info(commands: Any) -> None:
    info = _command(commands, "info", _info, "what an atlas holds and how it was made")
    info.add_argument("atlas", type=Path, metavar="DIR")
    info.add_argument("--json", action="store_true", help="print one JSON document")
    info.add_argument("--verify", action="store_true", help="compare every file's checksum")


def _add_search(commands: Any) -> None:
    search = _command(commands, "search", _search, "find papers by meaning and by words")
    search.add_argument("atlas", type=Path, metavar="DIR")
    search.add_argument("query", metavar="QUERY")
    search.add_argument("-k", type=_positive, default=10, metavar="N", help="papers (default: 10)")
    _how_to_search(search)
    search.add_argument(
        "-o",
        "--export",
        type=Path,
        metavar="FILE",
        help="write the papers too: .bib, .ris, .tex (AASTeX), .txt (bibcodes), .csv or .json",
    )
    search.add_argument("--json", action="store_true", help="print one JSON document")


def _how_to_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--filter", metavar="FILTER", help="such as '2015..; author:Hubble; -review; citations>=50'"
    )
    parser.add_argument(
        "--weight",
        action="append",
        choices=("keyword", "time", "citation"),
        help="lift papers with the query's names, recent ones, cited ones; may be repeated",
    )
    parser.add_argument("--method", choices=("hybrid", "semantic", "words"), default="hybrid")
    reranking = parser.add_mutually_exclusive_group()
    reranking.add_argument(
        "--no-rerank", action="store_true", help="do not compare the first papers word by word"
    )
    reranking.add_argument(
        "--rerank-with",
        metavar="MODEL",
        help="instead: cohere:MODEL (needs COHERE_API_KEY, or LANDSCAPE_RERANK_URL of a server of "
        "your own) or cross-encoder:NAME_OR_PATH",
    )
    parser.add_argument(
        "--hyde",
        action="store_true",
        help="search with a hypothetical abstract too, written by the language model of "
        "OPENAI_API_KEY, or OPENAI_BASE_URL and LANDSCAPE_LLM_MODEL",
    )


def _add_ask(commands: Any) -> None:
    ask = _command(commands, "ask", _ask_question, "answer a question with evidence")
    ask.add_argument("atlas", type=Path, metavar="DIR")
    ask.add_argument("question", metavar="QUESTION")
    ask.add_argument("-k", type=_positive, metavar="N", help="papers to answer from")
    ask.add_argument("--filter", metavar="FILTER", help="which papers, as for search")
    ask.add_argument("--style", choices=("single-paper", "multi-paper", "bibliometric", "nuanced"))
    ask.add_argument("--language", help="of the answer (default: of the question)")
    ask.add_argument("--audience", choices=("expert", "student", "public"))
    ask.add_argument("--json", action="store_true", help="print one JSON document")


def _add_figure(commands: Any) -> None:
    figure = commands.add_parser("figure", help="draw a figure")
    kinds = figure.add_subparsers(title="kinds", metavar="KIND", required=True)
    heatmap = _command(kinds, "heatmap", _figure_heatmap, "the labelled density map")
    _what_to_draw(heatmap)
    heatmap.add_argument("--no-labels", action="store_true")
    heatmap.add_argument("--max-labels", type=_positive, metavar="N")

    query = _command(kinds, "query", _figure_query, "where the papers found lie on the map")
    _what_to_draw(query)
    query.add_argument("query", metavar="QUERY")
    query.add_argument("-k", type=_positive, default=20, metavar="N", help="papers (default: 20)")
    _how_to_search(query)


def _what_to_draw(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("atlas", type=Path, metavar="DIR")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="png, pdf or svg"
    )
    parser.add_argument("--colours", choices=("light", "dark"), default="light")
    parser.add_argument("--title")


def _add_evaluate(commands: Any) -> None:
    evaluate = commands.add_parser("evaluate", help="measure how good a result is")
    kinds = evaluate.add_subparsers(title="kinds", metavar="KIND", required=True)
    quality = _command(kinds, "map", _evaluate_map, "how far the map can be trusted")
    quality.add_argument("atlas", type=Path, metavar="DIR")
    quality.add_argument("--json", action="store_true", help="print one JSON document")
    quality.add_argument("--again", action="store_true", help="measure anew, store nothing")
    quality.add_argument("--seed", type=int, default=0, help="of the samples, with --again")

    retrieval = _command(
        kinds, "retrieval", _evaluate_retrieval, "how well questions find their papers"
    )
    retrieval.add_argument("atlas", type=Path, metavar="DIR")
    retrieval.add_argument(
        "--queries",
        type=Path,
        required=True,
        metavar="FILE",
        help='lines {"qid", "question", "relevant": [ids]}, or a format of pathfinder, TREC, '
        "CiteME or PaSa",
    )
    retrieval.add_argument("--json", action="store_true", help="print one JSON document")


def _add_fetch(commands: Any) -> None:
    fetch = commands.add_parser("fetch", help="get papers from the network")
    kinds = fetch.add_subparsers(title="sources", metavar="SOURCE", required=True)
    arxiv = _command(kinds, "arxiv", _fetch_arxiv, "arXiv metadata (OAI-PMH)")
    arxiv.add_argument("--set", default="physics:astro-ph", help="default: physics:astro-ph")
    arxiv.add_argument("--from", dest="since", metavar="DATE", help="first day, YYYY-MM-DD")
    arxiv.add_argument("--until", metavar="DATE", help="last day, YYYY-MM-DD")
    _output_and_limit(arxiv, "arxiv.jsonl")
    ads = _command(kinds, "ads", _fetch_ads, "an ADS query (needs ADS_API_TOKEN)")
    ads.add_argument("--query", required=True, help="in the ADS search syntax")
    _output_and_limit(ads, "ads.jsonl")
    pathfinder = _command(kinds, "pathfinder", _fetch_pathfinder, "the pathfinder corpus, 4.5 GB")
    pathfinder.add_argument("-o", "--output", type=Path, default=Path("pathfinder"), metavar="DIR")
    uat = _command(kinds, "uat", _fetch_uat, "the Unified Astronomy Thesaurus")
    uat.add_argument("--version", default="5.1.0")
    uat.add_argument("-o", "--output", type=Path, default=Path("UAT.json"), metavar="FILE")


def _output_and_limit(parser: argparse.ArgumentParser, name: str) -> None:
    parser.add_argument("-o", "--output", type=Path, default=Path(name), metavar="FILE")
    parser.add_argument("--limit", type=_positive, metavar="N", help="stop after N records")


def _with_filters_joined(words: Sequence[str]) -> list[str]:
    """Join ``--filter -review``, which would be read as two options, to ``--filter=-review``."""
    joined: list[str] = []
    for word in words:
        excludes = word[:1] == "-" and word[1:2] not in ("", "-") and word not in _SHORT_OPTIONS
        if excludes and joined and joined[-1] == "--filter":
            joined[-1] = f"--filter={word}"
        else:
            joined.append(word)
    return joined


_SHORT_OPTIONS = ("-h", "-k", "-o")


def _command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], Answer], meaning: str
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=meaning, description=f"{meaning[0].upper()}{meaning[1:]}."
    )
    parser.set_defaults(run=run)
    # Understood after the command as well as before it.
    parser.add_argument(
        "--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS
    )
    return parser


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value


if __name__ == "__main__":
    sys.exit(main())
