# SPDX-License-Identifier: Apache-2.0
"""Wraps Markdown: wrap_docs.py FILE... writes paragraphs that have a line over 120 columns anew.

Tables, headings, code and lines that cannot be broken stay. Programs that write pages call `wrap`.
"""
import pathlib
import re
import sys

COLUMNS = 120
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


def wrap(text: str) -> str:
    """The page with no line over 120 columns outside tables and code; other paragraphs stay as they are."""
    result: list[str] = []
    paragraph: list[str] = []
    code = False

    def end() -> None:
        result.extend(fill(paragraph) if any(len(line) > COLUMNS for line in paragraph) else paragraph)
        paragraph.clear()

    for line in text.split("\n"):
        fence = FENCE.match(line)
        continues = bool(paragraph) and line.startswith("    ") and line.strip() != ""  # of a deep item, no code
        if fence or code or (FIXED.match(line) and not continues):
            end()
            result.append(line)
        else:
            if ITEM.match(line):
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
