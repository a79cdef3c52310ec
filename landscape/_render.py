"""Fill templates of HTML, Markdown and plain text, and escape the inserted text.

The file extension of the template selects how text is escaped. The HTML contains no scripts and
is not processed by MathJax.
"""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Protocol

from landscape._author_names import byline
from landscape._wording import GENERATED, INVISIBLE, count, escape_invisible, one_line

if TYPE_CHECKING:
    from jinja2 import Environment
    from jinja2.runtime import Context

_WIDTH = 88
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~])")
# Terminals interpret some control characters, and HTML allows only white space.
_CONTROLS = dict.fromkeys({*range(0x20), *range(0x7F, 0xA0)} - {0x09, 0x0A, 0x0D})


class Quotation(Protocol):
    """Part of a paper, which is ``abstract[start:end]``."""

    @property
    def paper_id(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def text(self) -> str: ...


def render(template: str, **values: object) -> str:
    """Fill a template of ``landscape/templates``.

    Parameters
    ----------
    template : str
        Name of the file. The extension selects the format and how text is escaped.
    **values
        Variables of the template.

    Returns
    -------
    str
        Text. In Markdown and plain text, several blank lines are replaced by one blank line. Only
        Markdown ends with a newline.
    """
    text = _environment().get_template(template).render(**values)
    if template.endswith((".html", ".xml")):
        return text
    text = escape_invisible(re.sub(r"\n{3,}", "\n\n", text).strip("\n"))
    return text + "\n" if template.endswith(".md") else text


def escape(text: str) -> str:
    r"""Escape HTML markup, and remove control and invisible characters.

    Examples
    --------
    >>> escape("a\x1b[2J<b>")
    'a[2J&lt;b&gt;'
    """
    return html.escape(INVISIBLE.sub("", text.translate(_CONTROLS)))


def neutral_html(text: str) -> str:
    r"""Escape the HTML tags, links and images in a Markdown text.

    Examples
    --------
    >>> print(neutral_html("z < 2 and <script> [2020ApJ...900....1A] ![x](https://a.example)"))
    z < 2 and &lt;script> [2020ApJ...900....1A] \!\[x\](https://a.example)
    """
    text = re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text)
    text = re.sub(r"\\(?=[\[\]!\\])", r"\\\\", text)  # a backslash would undo the escapes below
    # Viewers load images automatically, so the author of a text could see who reads it.
    return re.sub(r"!(?=\[)|\[(?=[^\[\]]*\]\s?[(\[:])|\](?=\s?[(\[:])", r"\\\g<0>", text)


def escape_markdown(text: str) -> str:
    """Escape Markdown and HTML in a text, and join the lines."""
    return _MARKDOWN.sub(r"\\\1", one_line(text))


def code(text: str) -> str:
    """Format text as Markdown code. The number of backticks depends on the text."""
    text = " ".join(text.split())
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"


def marked(text: str, quotations: Iterable[Quotation]) -> list[tuple[str, bool]]:
    """Split a text into pieces, each with a flag that is True if it is quoted.

    Examples
    --------
    >>> from types import SimpleNamespace as Span
    >>> marked("Dust. Gas.", [Span(start=6, end=10, text="Gas."), Span(start=0, end=9, text="?")])
    [('Dust. ', False), ('Gas.', True), ('', False)]
    """
    pieces, done = [], 0
    for quoted in sorted(quotations, key=lambda quoted: (quoted.start, quoted.end)):
        start = max(quoted.start, done)
        if start >= quoted.end or text[quoted.start : quoted.end] != quoted.text:
            continue  # it is part of the previous quotation or belongs to another text
        pieces += [(text[done:start], False), (text[start : quoted.end], True)]
        done = quoted.end
    return [*pieces, (text[done:], False)]


def _by_paper(quotations: Iterable[Quotation]) -> Mapping[str, list[Quotation]]:
    papers: dict[str, list[Quotation]] = {}
    for quotation in quotations:
        papers.setdefault(quotation.paper_id, []).append(quotation)
    return papers


def _linkable(url: str) -> str:
    return url.replace("(", "%28").replace(")", "%29").replace(" ", "%20").replace("<", "%3C")


def _wrap(text: str, first: str = "", rest: str | None = None) -> str:
    indent = first if rest is None else rest
    return textwrap.fill(text, _WIDTH, initial_indent=first, subsequent_indent=indent)


_ESCAPES: Mapping[str, Callable[[str], str]] = {
    "html": escape,
    "xml": escape,
    "md": escape_markdown,
    "txt": escape_invisible,
}


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context, select_autoescape
    from markupsafe import Markup

    @pass_context
    def inert(context: Context, value: object) -> object:
        """Escape a text for the format of the template that contains the text."""
        escaped = _ESCAPES.get(str(context.name).rpartition(".")[2])
        if escaped is None or not isinstance(value, str) or isinstance(value, Markup):
            return value
        return Markup(escaped(value))  # noqa: S704

    environment = Environment(
        loader=PackageLoader("landscape"),
        autoescape=select_autoescape(["html", "md", "xml"]),
        finalize=inert,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["GENERATED"] = GENERATED
    environment.filters |= {
        "by_paper": _by_paper,
        "byline": byline,
        "code": lambda text: Markup(code(text)),  # noqa: S704
        "count": count,
        "linkable": lambda url: Markup(_linkable(url)),  # noqa: S704
        "marked": marked,
        "neutral": lambda text: Markup(neutral_html(text)),  # noqa: S704
        "number": lambda value: f"{value:,}",
        "join_lines": lambda text: " ".join(text.split()),
        "unspaced": lambda url: "".join(url.split()),
        "wrap": _wrap,
    }
    return environment
