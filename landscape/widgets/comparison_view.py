"""Where a selection has more papers than the rest, in a few lines for the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from landscape.query.html import escape

if TYPE_CHECKING:
    from landscape.overlays._analysis import Analysis


def comparison_html(found: Analysis) -> str:
    """Where the selection is over-represented, briefly; names are escaped."""
    shown = found.table[found.table["over_in"] == "a"].head(8)
    fewer = found.table[found.table["over_in"] == "b"].head(4)
    blocks = []
    for title, rows in (("More than elsewhere", shown), ("Less than elsewhere", fewer)):
        if len(rows):
            items = "".join(
                f"<li>{escape(row.label)}: {row.a_share:.1%} here, {row.b_share:.1%} of the rest"
                "</li>"
                for row in rows.itertuples()
            )
            blocks.append(f"<div class='landscape-fact'><b>{title}</b><ul>{items}</ul></div>")
    if not blocks:
        blocks.append("<div>No region differs from the rest beyond chance.</div>")
    notes = escape(" ".join([found.caption, *found.notes]))
    return "".join(blocks) + f"<div class='landscape-quiet'>{notes}</div>"
