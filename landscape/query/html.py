"""Results and answers in a notebook: HTML without scripts, styled for light and dark themes.

Everything that comes from papers, users or models is escaped, and MathJax is told to leave it
alone: a title is text, whatever it holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from html import escape as escape_markup

from landscape.plural import count
from landscape.query.markdown import coverage_line
from landscape.query.records import Answer, Claim, Consensus, Evidence, Hit, Paper, Results, Stance
from landscape.search._ads_queries import ads_url

# No colour is set for text, and backgrounds are translucent, so that both themes show through.
STYLE = """
.landscape-results {max-width: 60em; line-height: 1.45; font-size: 14px}
.landscape-results a {color: inherit; text-decoration: underline; text-underline-offset: 2px}
.landscape-results h3 {margin: .2em 0 .6em; font-size: 1.15em}
.landscape-results h4 {margin: 1.1em 0 .3em; font-size: 1em}
.landscape-results ol {margin: .2em 0; padding-left: 2.2em}
.landscape-results li {margin: .45em 0}
.landscape-results summary {cursor: pointer}
.landscape-results summary:focus-visible {outline: 2px solid currentColor; outline-offset: 2px}
.landscape-results details {margin: .3em 0; padding: .15em .6em;
  border-left: 3px solid rgba(128, 128, 128, .45)}
.landscape-results details[open] {background: rgba(128, 128, 128, .09)}
.landscape-results details.supported {border-left-color: #2c8a57}
.landscape-results details.contradicted {border-left-color: #c8453b}
.landscape-results details.not-found {border-left: 3px dashed #b58a1b}
.landscape-results blockquote {margin: .5em 0 .7em 1em; padding: 0; border: 0}
.landscape-results mark {color: inherit; background: rgba(255, 196, 0, .38); padding: .05em 0;
  text-decoration: underline; text-decoration-thickness: 1px}
.landscape-results .badge {display: inline-block; border: 1px solid currentColor;
  border-radius: .8em; padding: 0 .55em; margin-left: .3em; font-size: .8em; white-space: nowrap}
.landscape-results .quiet {opacity: .78; font-size: .92em}
.landscape-results .notice {border: 1px solid currentColor; padding: .25em .6em; margin: .5em 0}
.landscape-results code {background: rgba(128, 128, 128, .15); padding: .1em .3em}
"""
# Terminals obey some of them, and HTML has none but white space.
_CONTROLS = dict.fromkeys({*range(0x20), *range(0x7F, 0xA0)} - {0x09, 0x0A, 0x0D})
_SIGNS = {"supported": "✓", "contradicted": "✗", "not found": "?"}
_POSITIONS = {"supports": "✓", "refutes": "✗", "mixed": "±", "irrelevant": "–"}
_GENERATED = (
    "This corpus is generated: its papers, authors and results are made up, and nothing here is a "
    "finding about the sky."
)


def results_as_html(results: Results) -> str:
    """Draw a list of papers, each with its abstract to unfold, and what was searched below.

    Examples
    --------
    >>> from landscape.query.records import Coverage
    >>> hit = Hit(1, Paper(0, "x", "<script>alert(1)</script>", "It cools."), 0.5)
    >>> page = results_as_html(Results("dust", (hit,), Coverage("A", 9, 9, {}, None, None)))
    >>> "<script" in page, "&lt;script&gt;alert(1)" in page
    (False, True)
    """
    n = len(results.hits)
    found = count(n, "paper") if n else "No papers"
    blocks = [f"<h3>{found} for “{escape(results.query)}”</h3>"]
    blocks += [_expansion(results), _papers(results.hits), _coverage(results)]
    return _page(blocks)


def answer_as_html(answer: Answer) -> str:
    """Draw an answer: click a claim, and its sentences are marked in the abstract.

    Parameters
    ----------
    answer : Answer

    Returns
    -------
    str
        Claims with their verdicts, the consensus, the steps, the papers and what was searched.

    Examples
    --------
    >>> from landscape.query.records import Coverage
    >>> paper = Paper(0, "x", "Dust", "It is cold. It cools.")
    >>> evidence = Evidence("x", "x", 12, 21, "It cools.")
    >>> claim = Claim("Dust cools.", ("x",), (evidence,), "supported")
    >>> found = Results("q", (Hit(1, paper, 0.5),), Coverage("A", 9, 9, {}, None, None))
    >>> page = answer_as_html(Answer("Why?", "Dust cools. [x]", (claim,), found, "some-model"))
    >>> "It is cold. <mark>It cools.</mark>" in page, "✓ supported" in page
    (True, True)
    """
    papers = {paper.paper_id: paper for paper in answer.papers}
    blocks = [f"<h3>{escape(answer.question)}</h3>"]
    notes = (*answer.notes, *answer.results.coverage.notes)
    blocks += [f'<p class="notice">{escape(note)}</p>' for note in notes]
    blocks += _claims(answer)
    if answer.consensus:
        blocks.append(_consensus(answer.consensus, papers))
    blocks += [*_ads(answer), *_trace(answer)]
    if answer.results.hits:
        blocks += ["<h4>Papers</h4>", _papers(answer.results.hits)]
    blocks += [f'<p class="quiet">{_author(answer)}</p>', _coverage(answer.results, noted=True)]
    return _page(blocks)


def claims_as_html(answer: Answer) -> str:
    """Draw what an answer says, each claim to unfold into its sentences, and nothing else.

    Examples
    --------
    >>> from landscape.query.records import Coverage
    >>> found = Results("q", (), Coverage("A", 9, 9, {}, None, None))
    >>> page = claims_as_html(Answer("Why?", "Nobody knows.", (), found, "extractive"))
    >>> "Nobody knows." in page, "<h3>" in page
    (True, False)
    """
    return _page(_claims(answer))


def consensus_as_html(answer: Answer) -> str:
    """Draw how far the papers agree, and what each says; empty where nobody judged.

    Examples
    --------
    >>> from landscape.query.records import Coverage
    >>> found = Results("q", (), Coverage("A", 9, 9, {}, None, None))
    >>> consensus_as_html(Answer("Why?", "", (), found, "extractive"))
    ''
    """
    if answer.consensus is None:
        return ""
    return _page([_consensus(answer.consensus, {p.paper_id: p for p in answer.papers})])


def method_as_html(answer: Answer) -> str:
    """Draw how an answer was found: notes, expansion, ADS query, steps, and what was searched.

    Examples
    --------
    >>> from landscape.query.records import Coverage
    >>> found = Results("q", (), Coverage("A", 9, 9, {}, None, None))
    >>> "A: 9 papers." in method_as_html(Answer("Why?", "", (), found, "extractive"))
    True
    """
    notes = [f"<li>{escape(note)}</li>" for note in answer.notes]
    return _page(
        [
            f"<ul>{''.join(notes)}</ul>" if notes else "",
            _expansion(answer.results),
            *_ads(answer),
            *_trace(answer),
            f'<p class="quiet">{_author(answer)}</p>',
            _coverage(answer.results),
        ]
    )


def paper_as_html(hit: Hit) -> str:
    """Draw one paper found: its title, its links, and its abstract to unfold.

    Examples
    --------
    >>> hit = Hit(1, Paper(0, "x", "<b>Dust</b>", "", arxiv_id="2401.00001"), 0.5, outlier=True)
    >>> page = paper_as_html(hit)
    >>> "&lt;b&gt;Dust" in page, "https://arxiv.org/abs/2401.00001" in page, "apart" in page
    (True, True, True)
    """
    paper = hit.paper
    links = " ".join(_link(url, name) for name, url in _pages_of(paper))
    facts = [_byline(paper), _cited(paper), links]
    return _page(
        [
            f"<b>{escape(paper.title) or '(no title)'}</b>{_apart(hit)}<br>"
            f'<span class="quiet">{" · ".join(filter(None, facts))}</span>'
            f"<details><summary>Abstract</summary>{escape(paper.abstract) or 'none'}</details>"
        ],
        is_styled=False,
    )


def _claims(answer: Answer) -> list[str]:
    if not answer.claims:
        return [f'<p style="white-space: pre-wrap">{escape(answer.text)}</p>']
    papers = {paper.paper_id: paper for paper in answer.papers}
    told = '<p class="quiet">Click a sentence to see what it rests on.</p>'
    is_quoted = answer.method == "extractive"
    return [*(_claim(claim, papers, is_quoted=is_quoted) for claim in answer.claims), told]


def _ads(answer: Answer) -> list[str]:
    if not answer.ads_query:
        return []
    link = _link(ads_url(answer.ads_query), "run it in ADS")
    return [f"<p>ADS query: <code>{escape(answer.ads_query)}</code> ({link})</p>"]


def _trace(answer: Answer) -> list[str]:
    if not answer.trace:
        return []
    steps = "".join(
        f"<li>{escape(step.thought)} <code>{escape(step.action)}</code><br>"
        f'<span class="quiet">{escape(step.observation)}</span></li>'
        for step in answer.trace
    )
    return [
        f"<details><summary>How it was found: {count(len(answer.trace), 'step')}</summary>"
        f"<ol>{steps}</ol></details>"
    ]


def _author(answer: Answer) -> str:
    if answer.method == "extractive":
        return "No language model wrote this: its sentences are those of the papers."
    return f"Written by: {escape(answer.method)}."


def _expansion(results: Results) -> str:
    if not results.expansion:
        return ""
    return (
        "<details><summary>The query was expanded</summary>"
        f"<blockquote>{escape(results.expansion)}</blockquote></details>"
    )


def _page(blocks: Iterable[str], *, is_styled: bool = True) -> str:
    inside = "\n".join(filter(None, blocks))
    style = f"<style>{STYLE}</style>\n" if is_styled else ""
    return f'{style}<div class="landscape-results tex2jax_ignore mathjax_ignore">\n{inside}\n</div>'


def _papers(hits: tuple[Hit, ...]) -> str:
    return f"<ol>{''.join(_paper(hit) for hit in hits)}</ol>" if hits else ""


def _paper(hit: Hit) -> str:
    paper = hit.paper
    parts = ", ".join(f"{escape(name)} {value:.3g}" for name, value in hit.parts.items())
    cites = f" · {_cited(paper)}" if paper.cites is not None else ""
    score = f'<span title="{parts}">score {hit.score:.3g}</span>'
    return (
        f'<li value="{int(hit.rank)}">{_titled(paper)}{_apart(hit)}<br>'
        f'<span class="quiet">{_byline(paper)}{cites} · {score}</span>'
        f"<details><summary>Abstract</summary>{escape(paper.abstract) or 'none'}</details></li>"
    )


def _apart(hit: Hit) -> str:
    return '<span class="badge">⚠ apart from the others</span>' if hit.outlier else ""


def _pages_of(paper: Paper) -> list[tuple[str, str]]:
    """Where a paper can be read, by name; every address begins with one of our own."""
    ads, arxiv, doi = (
        "https://ui.adsabs.harvard.edu/abs/",
        "https://arxiv.org/abs/",
        "https://doi.org/",
    )
    pages = (
        ("ADS", ads, f"{paper.bibcode}/abstract" if paper.bibcode else ""),
        ("arXiv", arxiv, paper.arxiv_id or ""),
        ("DOI", doi, paper.doi or ""),
    )
    return [(name, home + rest) for name, home, rest in pages if rest]


def _titled(paper: Paper) -> str:
    title = escape(paper.title) or "(no title)"
    return f"<b>{_link(paper.url, title, is_html=True) if paper.url else title}</b>"


def _cited(paper: Paper) -> str:
    if paper.cites is None:
        return ""
    return "cited once" if paper.cites == 1 else f"cited {paper.cites:,} times"


def _byline(paper: Paper) -> str:
    names = "; ".join(paper.authors[:3]) + (" et al." if len(paper.authors) > 3 else "")
    pieces = (names, str(paper.year) if paper.year else "", paper.label)
    return " · ".join(escape(piece) for piece in pieces if piece)


def _claim(claim: Claim, papers: dict[str, Paper], *, is_quoted: bool) -> str:
    labels = ", ".join(escape(label) for label in claim.citations)
    cited = f' <span class="quiet">[{labels}]</span>' if labels else ""
    # A quotation supports itself; a tick would look like a check.
    told = "quoted" if is_quoted else f"{_SIGNS[claim.verdict]} {claim.verdict}"
    badge = f'<span class="badge">{told}</span>'
    return (
        f'<details class="{claim.verdict.replace(" ", "-")}"><summary>{escape(claim.text)}{cited}'
        f"{badge}</summary>{_quotations(claim.evidence, papers)}</details>"
    )


def _quotations(evidence: tuple[Evidence, ...], papers: dict[str, Paper]) -> str:
    if not evidence:
        return '<p class="quiet">No sentence of the papers was found that says this.</p>'
    by_paper: dict[str, list[Evidence]] = {}
    for piece in evidence:
        by_paper.setdefault(piece.paper_id, []).append(piece)
    return "".join(_quotation(pieces, papers.get(key)) for key, pieces in by_paper.items())


def _quotation(pieces: list[Evidence], paper: Paper | None) -> str:
    if paper is None:
        quoted = " … ".join(f"<mark>{escape(piece.text)}</mark>" for piece in pieces)
        return f"<blockquote>{escape(pieces[0].label)}: {quoted}</blockquote>"
    return (
        f"<blockquote>{_titled(paper)} "
        f'<span class="quiet">{escape(paper.label)}</span><br>'
        f"{_marked(paper.abstract, pieces)}</blockquote>"
    )


def _marked(abstract: str, pieces: list[Evidence]) -> str:
    """The abstract with the sentences marked; overlapping ones are marked once."""
    out, done = [], 0
    for piece in sorted(pieces, key=lambda piece: (piece.start, piece.end)):
        start, end = max(piece.start, done), min(piece.end, len(abstract))
        if start >= end:
            continue
        out += [escape(abstract[done:start]), f"<mark>{escape(abstract[start:end])}</mark>"]
        done = end
    return "".join([*out, escape(abstract[done:])])


def _consensus(consensus: Consensus, papers: dict[str, Paper]) -> str:
    ordered = sorted(consensus.stances, key=lambda stance: list(_POSITIONS).index(stance.position))
    stances = "".join(_stance(stance, papers) for stance in ordered)
    return (
        f"<h4>Consensus: {escape(consensus.level)}</h4>"
        f"<p>“{escape(consensus.statement)}” {escape(consensus.explanation)} "
        f'<span class="quiet">Relevance {consensus.relevance:.2f} of 1.</span></p>{stances}'
    )


def _stance(stance: Stance, papers: dict[str, Paper]) -> str:
    evidence = (stance.evidence,) if stance.evidence else ()
    badge = f'<span class="badge">{_POSITIONS[stance.position]} {stance.position}</span>'
    paper = papers.get(stance.paper_id)
    title = f"{escape(paper.title)} " if paper else ""
    return (
        f'<details><summary>{title}<span class="quiet">{escape(stance.label)}</span>{badge}'
        f"</summary>{_quotations(evidence, papers)}</details>"
    )


def _coverage(results: Results, *, noted: bool = False) -> str:
    """What was searched; `noted` where the notes stand elsewhere on the page."""
    notes = () if noted else results.coverage.notes
    line = coverage_line(replace(results.coverage, generated=False, notes=notes))
    notice = f'<p class="notice">{_GENERATED}</p>' if results.coverage.generated else ""
    return f'{notice}<p class="quiet">{escape(line)}</p>'


def escape(text: str) -> str:
    r"""Escape markup, and drop control characters.

    Examples
    --------
    >>> escape("a\x1b[2J<b>")
    'a[2J&lt;b&gt;'
    """
    return escape_markup(text.translate(_CONTROLS))


def _link(url: str, text: str, *, is_html: bool = False) -> str:
    shown = text if is_html else escape(text)
    target = escape("".join(url.split()))
    return f'<a href="{target}" target="_blank" rel="noopener noreferrer">{shown}</a>'
