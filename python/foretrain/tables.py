# SPDX-License-Identifier: Apache-2.0
"""Tables as text and as HTML, for the representations of all classes."""

from __future__ import annotations

import html
from collections.abc import Sequence

Rows = Sequence[Sequence[str]]


def text_table(rows: Rows, header: Sequence[str] = (), indent: str = "") -> str:
    """Columns as wide as their longest cell."""
    lines = [list(header), *map(list, rows)] if header else [list(row) for row in rows]
    if not lines:
        return ""
    count = max(len(line) for line in lines)
    widths = [
        max((len(line[i]) for line in lines if i < len(line)), default=0) for i in range(count)
    ]
    return "\n".join(
        (
            indent + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=False))
        ).rstrip()
        for line in lines
    )


def html_table(rows: Rows, header: Sequence[str] = (), caption: str = "") -> str:
    """A table whose cells are escaped."""

    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    parts = ["<table>"]
    if caption:
        parts.append(f"<caption>{html.escape(caption)}</caption>")
    if header:
        parts.append(f"<thead>{line(header, 'th')}</thead>")
    parts.append("<tbody>" + "".join(line(row, "td") for row in rows) + "</tbody></table>")
    return "".join(parts)


def html_list(title: str, entries: Sequence[str]) -> str:
    """A title with a bulleted list, or nothing where there are no entries."""
    if not entries:
        return ""
    bullets = "".join(f"<li>{html.escape(entry)}</li>" for entry in entries)
    return f"<p><b>{html.escape(title)}</b></p><ul>{bullets}</ul>"
