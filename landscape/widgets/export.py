"""Files for the reader: links that hold what they download, and files written from code."""

from __future__ import annotations

import html
from base64 import b64encode
from pathlib import Path

from landscape.errors import InputError

MOST_BYTES = 24_000_000
"""A link holds no more: the page holds it too."""
_KINDS = {
    ".csv": "text/csv", ".bib": "application/x-bibtex", ".png": "image/png",
    ".pdf": "application/pdf", ".html": "text/html", ".svg": "image/svg+xml",
    ".json": "application/json", ".ipynb": "application/x-ipynb+json", ".txt": "text/plain",
    ".md": "text/markdown", ".tex": "application/x-tex", ".ris": "text/plain",
}  # fmt: skip


def download_link(name: str, content: str | bytes, *, text: str | None = None) -> str:
    r"""A link that holds a file.

    Parameters
    ----------
    name : str
        What the browser calls the file; its ending says what it is.
    content : str or bytes
    text : str, optional
        What the link says; the name and the size when not given.

    Returns
    -------
    str
        HTML.

    Raises
    ------
    InputError
        If the file is larger than a page should hold.

    Examples
    --------
    >>> link = download_link("papers.csv", "title\n")
    >>> "download='papers.csv'" in link, "data:text/csv;base64,dGl0bGUK" in link
    (True, True)
    """
    raw = content.encode() if isinstance(content, str) else content
    if len(raw) > MOST_BYTES:
        raise InputError(
            f"{name} has {len(raw) / 1e6:,.0f} MB, too much for a link in the page; "
            f'write it from code, with .save("{name}").'
        )
    kind = _KINDS.get(Path(name).suffix.lower(), "application/octet-stream")
    said = text or f"{name} ({_size(len(raw))})"
    return (
        f"<a class='landscape-download' download='{html.escape(name)}' "
        f"href='data:{kind};base64,{b64encode(raw).decode('ascii')}'>{html.escape(said)}</a>"
    )


def _size(n_bytes: int) -> str:
    if n_bytes < 1_000_000:
        return f"{max(1, round(n_bytes / 1000)):,} kB"
    return f"{n_bytes / 1e6:,.1f} MB"
