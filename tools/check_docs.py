# SPDX-License-Identifier: Apache-2.0
"""Checks what the documents say about the tree, and that no file names a place on a machine.

Every folder of foretrain/ is named in docs/architecture.md, every relative link in a Markdown
file leads to a file, as does every path in backticks (from the root, or from foretrain/), every
page that another file names is there, no line of them is longer than 120 columns, the tables of
docs/models/ are what write_models.py writes, and no text file contains a path of somebody's home or working folder.
Prints one line per finding and exits with 1 where there is any.
"""
import argparse
import os
import pathlib
import re
import sys

import write_models
from wrap_docs import COLUMNS

SKIPPED = {"build", ".git", "__pycache__", "node_modules"}
LINK = re.compile(r"\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|#")  # another scheme, or a heading of the same page
PATH = re.compile(r"`([\w.*-]+(?:/[\w.*-]+)+/?)`")
PLACEHOLDER = re.compile(r"(^|/)[A-Z]+([./]|$)")  # data/evaluate/NAME.json
OURS = (".cc", ".h", ".py", ".cmake")  # a path that ends so is one of this repository
PAGE = re.compile(r"(?<![\w/.-])docs/[\w/-]+\.md")  # in any file: a comment, a note of a predictor
MACHINE_PATH = re.compile(r"(?<![\w.~/)\]}-])/(?:home|root|opt|Users|work|workspace)/\w[\w./-]*")


def text_files(root: pathlib.Path) -> list[tuple[str, str]]:
    """Every text file below the root with its path from there."""
    result = []
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(set(folders) - SKIPPED)
        for name in sorted(set(files) - SKIPPED):  # .git is a file in a worktree
            path = pathlib.Path(folder, name)
            try:
                result.append((path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")))
            except (UnicodeDecodeError, OSError):
                continue
    return result


def line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def check_folders(root: pathlib.Path) -> list[str]:
    page = root / "docs/architecture.md"
    if not page.exists():
        return ["docs/architecture.md: missing"]
    text = page.read_text(encoding="utf-8")
    folders = sorted({p.parent.name for p in (root / "foretrain").glob("*/*.*")})
    return [
        f"docs/architecture.md: does not name foretrain/{folder}/"
        for folder in folders
        if not re.search(rf"foretrain/{re.escape(folder)}/", text)
    ]


def check_links(root: pathlib.Path, file: str, text: str) -> list[str]:
    findings = []
    without_code = FENCE.sub(lambda m: "\n" * m.group().count("\n"), text)
    for match in LINK.finditer(without_code):
        target = match.group(1) or match.group(2)
        if ELSEWHERE.match(target):
            continue
        path = target.split("#")[0]
        if not ((root / file).parent / path).exists():
            findings.append(f"{file}:{line_of(without_code, match.start())}: the link {target} leads nowhere")
    return findings


def check_paths(root: pathlib.Path, file: str, text: str) -> list[str]:
    """Whether what is written as a path of this repository exists; what a build makes need not."""
    findings = []
    without_code = FENCE.sub(lambda m: "\n" * m.group().count("\n"), text)
    for match in PATH.finditer(without_code):
        path = match.group(1)
        top = path.split("/")[0]
        known = (root / top).is_dir() or (root / "foretrain" / top).is_dir() or path.endswith(OURS)
        if not known or top in SKIPPED or PLACEHOLDER.search(path):
            continue
        if not any(next(start.glob(path.rstrip("/")), None) for start in (root, root / "foretrain")):
            findings.append(f"{file}:{line_of(without_code, match.start())}: there is no {path}")
    return findings


def check_columns(file: str, text: str) -> list[str]:
    return [
        f"{file}:{number}: {len(line)} columns, more than {COLUMNS}; tools/wrap_docs.py wraps prose, "
        "a table needs shorter cells or text below it"
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > COLUMNS
    ]


def check_pages(root: pathlib.Path, file: str, text: str) -> list[str]:
    return [
        f"{file}:{line_of(text, match.start())}: there is no {match.group()}"
        for match in PAGE.finditer(text)
        if not (root / match.group()).exists()
    ]


def check_machine_paths(file: str, text: str) -> list[str]:
    return [
        f"{file}:{line_of(text, match.start())}: names a place on a machine: {match.group()}"
        for match in MACHINE_PATH.finditer(text)
    ]


def check(root: pathlib.Path) -> list[str]:
    findings = check_folders(root)
    for file, text in text_files(root):
        if file.endswith(".md"):
            findings += check_links(root, file, text) + check_paths(root, file, text)
            findings += check_columns(file, text)
        else:
            findings += check_pages(root, file, text)
        findings += check_machine_paths(file, text)
    return findings + write_models.findings_of(root)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    findings = check(parser.parse_args().root)
    print("\n".join(findings) or "documents: nothing found")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
