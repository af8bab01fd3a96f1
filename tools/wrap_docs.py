# SPDX-License-Identifier: Apache-2.0
"""Wraps Markdown: wrap_docs.py FILE... writes paragraphs and tables that have a line over 120 columns anew.

A table cannot be broken inside a row: where rows are too long, their longest cells go into a list below it, and a
table of mostly such rows becomes a list. Headings, code and lines that cannot be broken stay. Programs that write
pages call `wrap`.
"""
import pathlib
import re
import sys

COLUMNS = 120
BELOW = "see below"
FENCE = re.compile(r"\s*(```|~~~)")
ITEM = re.compile(r"(\s*)([-*+]|\d+\.) ")
FIXED = re.compile(r"\s*(\||#|>|<|\[[^\]]+\]:)|    |\s*$")  # no prose: a table, a heading, a quotation, code
WORD = r"(?:`[^`]*`|!?\[[^\]]*\]\([^)]*\)|\S)+"  # code and links count as one
UNBROKEN = re.compile(WORD + r"(?: (?:[-+*=%>#|]|\d+[.)])(?= |$))*")  # with signs that must not begin a line


def fill(paragraph: list[str]) -> list[str]:
    """A paragraph or an item of a list, with its words spread over lines of at most 120 columns."""
    item = ITEM.match(paragraph[0])
    first = item.group() if item else re.match(r"\s*", paragraph[0]).group()
    lines, line = [], first
    for word in UNBROKEN.findall(" ".join([paragraph[0][len(first):], *paragraph[1:]])):
        blank = "" if line.strip() == "" or line == first else " "
        if blank and len(line) + 1 + len(word) > COLUMNS:
            lines.append(line)
            line, blank = " " * len(first), ""
        line += blank + word
    return [*lines, line]


def cells_of(row: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip())[1:-1]]


def fit_table(rows: list[str]) -> list[str]:
    """A table whose rows fit, with the cells that did not below it; or the list that says the same."""
    long = [row for row in rows[2:] if len(row) > COLUMNS]
    if not long:
        return rows
    least = max(len(cells[0]) + len(cells) * len(f" | {BELOW}") for cells in map(cells_of, long))
    if 2 * len(long) >= len(rows) - 2 or least > COLUMNS:
        items = []
        for head, *rest in map(cells_of, rows[2:]):
            items += fill([f"- {head}: " + "; ".join(cell for cell in rest if cell)])
        return items
    table, below = rows[:2], []
    for row in rows[2:]:
        cells = cells_of(row)
        while len(row) > COLUMNS:
            longest = max(range(1, len(cells)), key=lambda i: len(cells[i]))
            below += fill([f"- {cells[0]}: {cells[longest]}"])
            cells[longest] = BELOW
            row = "| " + " | ".join(cells) + " |"
        table.append(row)
    return [*table, "", *below]


def wrap(text: str) -> str:
    """The page with no line over 120 columns outside code; other paragraphs and tables stay as they are."""
    result: list[str] = []
    paragraph: list[str] = []
    code = False

    def end() -> None:
        long = any(len(line) > COLUMNS for line in paragraph)
        is_table = len(paragraph) > 2 and paragraph[0].startswith("|")
        result.extend(paragraph if not long else fit_table(paragraph) if is_table else fill(paragraph))
        paragraph.clear()

    for line in text.split("\n"):
        fence = FENCE.match(line)
        continues = bool(paragraph) and line.startswith("    ") and line.strip() != ""  # of a deep item, no code
        row = line.startswith("|") and not code
        if row:
            if paragraph and not paragraph[0].startswith("|"):
                end()
            paragraph.append(line)
        elif fence or code or (FIXED.match(line) and not continues):
            end()
            result.append(line)
        else:
            if ITEM.match(line) or (paragraph and paragraph[0].startswith("|")):
                end()
            paragraph.append(line)
        code ^= bool(fence)
    end()
    return "\n".join(result)


def main() -> None:
    for name in sys.argv[1:]:
        path = pathlib.Path(name)
        path.write_text(wrap(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
