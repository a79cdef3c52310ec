"""An answer as a Markdown document, and what was searched in one line."""

from __future__ import annotations

import re

from landscape._wording import count
from landscape.query.records import Answer, Claim, Consensus, Coverage, Hit

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~])")


def answer_as_markdown(answer: Answer) -> str:
    """An answer, its evidence, papers and coverage as one Markdown document.

    The text is Markdown already; what comes from papers is escaped, so that no title or abstract
    can make a link, an image or a heading.

    Examples
    --------
    >>> from landscape.query.records import Coverage, Results
    >>> found = Results("q", (), Coverage("A", 9, 9, {"arxiv": 9}, "2020-01-01", "2024-01-01"))
    >>> print(answer_as_markdown(Answer("Why?", "I do not know.", (), found, "extractive", True)))
    # Why?
    <BLANKLINE>
    I do not know.
    <BLANKLINE>
    *A: 9 papers (arxiv 9), 2020-01-01 to 2024-01-01.*
    <BLANKLINE>
    """
    blocks = [f"# {_escaped(answer.question)}", neutral_html(answer.text.strip())]
    blocks += [f"> {_escaped(note)}" for note in answer.notes]
    if answer.consensus:
        blocks += _consensus_blocks(answer.consensus)
    if answer.claims:
        blocks += ["## Evidence", "\n".join(_evidence_lines(answer.claims))]
    if answer.trace:
        steps = [
            f"{number}. {_escaped(step.thought)} {_code(step.action)} {_escaped(step.observation)}"
            for number, step in enumerate(answer.trace, 1)
        ]
        blocks += ["## How it was found", "\n".join(steps)]
    if answer.ads_query:
        from landscape.search._ads_queries import ads_url

        link = ads_url(answer.ads_query)
        blocks += ["## In ADS", f"{_code(answer.ads_query)} ([run it]({link}))"]
    if answer.results.hits:
        blocks += ["## Papers", "\n".join(_paper_line(hit) for hit in answer.results.hits)]
    blocks.append(f"*{_escaped(coverage_line(answer.results.coverage))}*")
    return "\n\n".join(blocks) + "\n"


def coverage_line(coverage: Coverage) -> str:
    """What was searched, in one line of text.

    Examples
    --------
    >>> coverage_line(Coverage("A", 1200, 30, {"arxiv": 1200}, "2020-01-01", "2024-01-01", True))
    'A: 30 of 1,200 papers searched (arxiv 1,200), 2020-01-01 to 2024-01-01. Generated papers: ...'
    """
    searched = count(coverage.n_papers, "paper")
    if coverage.n_filtered:
        searched = f"{coverage.n_searched:,} of {coverage.n_papers:,} papers searched"
    sources = ", ".join(f"{name} {count:,}" for name, count in coverage.sources.items())
    dates = f", {coverage.first_date} to {coverage.last_date}" if coverage.first_date else ""
    line = f"{coverage.title}: {searched}{f' ({sources})' if sources else ''}{dates}."
    if coverage.generated:
        line += " Generated papers: nothing here is a finding about the sky."
    return " ".join([line, *coverage.notes])


def neutral_html(text: str) -> str:
    """Markdown in which no HTML is left that a renderer would run.

    Examples
    --------
    >>> neutral_html("z < 2 and <script>")
    'z < 2 and &lt;script>'
    """
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text)


def _consensus_blocks(consensus: Consensus) -> list[str]:
    lines = [
        f"- {_escaped(stance.label)} **{stance.position}**"
        + (f": “{_escaped(stance.evidence.text)}”" if stance.evidence else "")
        for stance in consensus.stances
    ]
    return [
        "## Consensus",
        f"**{_escaped(consensus.level)}** with “{_escaped(consensus.statement)}” "
        f"(relevance {consensus.relevance:.2f}). {_escaped(consensus.explanation)}",
        *(["\n".join(lines)] if lines else []),
    ]


def _evidence_lines(claims: tuple[Claim, ...]) -> list[str]:
    lines = []
    for number, claim in enumerate(claims, 1):
        lines.append(f"{number}. {_escaped(claim.text)} (**{claim.verdict}**)")
        lines += [
            f"    - {_escaped(evidence.label)}, characters {evidence.start}-{evidence.end}: "
            f"“{_escaped(evidence.text)}”"
            for evidence in claim.evidence
        ]
    return lines


def _paper_line(hit: Hit) -> str:
    paper = hit.paper
    label = _escaped(paper.label)
    linked = f"[{label}]({_linkable(paper.url)})" if paper.url else label
    year = f", {paper.year}" if paper.year else ""
    authors = _escaped("; ".join(paper.authors[:1])) + (" et al." if paper.authors[1:] else "")
    authors = f"{authors}: " if authors else ""
    apart = " (apart from the others)" if hit.outlier else ""
    return f"{hit.rank}. {authors}{_escaped(paper.title)}{year}. {linked}{apart}"


def _linkable(url: str) -> str:
    return url.replace("(", "%28").replace(")", "%29").replace(" ", "%20").replace("<", "%3C")


def _escaped(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def _code(text: str) -> str:
    """Text as code: fenced by more backticks than it holds."""
    text = " ".join(text.split())
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"
