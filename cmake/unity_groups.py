# SPDX-License-Identifier: Apache-2.0
"""Which source files can be compiled as one: unity_groups.py LINES FILE... prints a group number per file.

Most of a small file's compile time goes into headers and templates that its neighbours need as well. Files become one
translation unit unless their unnamed namespaces or macros define a name twice, or one defines there what another knows
from elsewhere, or they sum to more than LINES lines. CMake asks this when it configures; a name that it misses makes the
compiler complain.
"""
import pathlib
import re
import sys

# Quotes, comments and literals may hold braces and words that look like definitions.
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
TYPE = re.compile(r"^(?:template\s*<.*>\s*)?(?:struct|class|union|enum(?:\s+class)?)\s+(\w+)")
ALIAS = re.compile(r"^(?:using|namespace)\s+(?:\w+::)*(\w+)\s*(?:=.*)?$")
FUNCTION = re.compile(r"(\w+)\s*\(")
VARIABLE = re.compile(r"(\w+)\s*(?:\[[^\]]*\]\s*)*(?:=.*)?$")
# Also those inside of functions, which would hide another file's.
CONSTANT = re.compile(r"\bconst(?:expr)?\b[^;=(){}]*\b(k[A-Z]\w*)")
# The name of a type or a constant, or what is called, where nothing says whose it is.
USE = re.compile(r"(?<![\w.:>~])(?:(k?[A-Z]\w*)|([a-z]\w*)(?=\s*\())")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.MULTILINE)
NO_DEFINITION = ("TEST", "INSTANTIATE", "static_assert")


def unnamed_statements(text: str) -> list[str]:
    """What stands directly in unnamed namespaces, without the bodies of functions and types."""
    statements = []
    for opening in re.finditer(r"\bnamespace\s*\{", text):
        depth, kept = 1, []
        for letter in text[opening.end():]:
            depth += (letter == "{") - (letter == "}")
            if depth == 0:
                break
            if depth == 1 or (depth == 2 and letter == "{"):
                kept.append(letter)
        statements += [" ".join(one.split()) for one in re.split(r"[;{}]", "".join(kept))]
    return [one for one in statements if one]


def definition(statement: str) -> tuple[str, str] | None:
    """A name, and what makes a second definition of it harmless: the same text of an alias, else nothing."""
    for pattern in (ALIAS, TYPE, FUNCTION, VARIABLE):
        if found := pattern.search(statement):
            return found.group(1), statement if pattern is ALIAS else ""
    return None


def stripped(source: str) -> str:
    return NOISE.sub(lambda found: '""' if found.group().startswith(('"', "R")) else " ", source)


def uses_of(path: pathlib.Path) -> set[str]:
    """Unqualified names in a file and in those headers of its own folder, so its namespace, that it reaches."""
    reached = [path.resolve()]
    names = set()
    for file in reached:
        text = file.read_text(encoding="utf-8")
        names |= {kind or called for kind, called in USE.findall(stripped(text))}
        included = map(pathlib.Path.resolve, map(pathlib.Path, INCLUDE.findall(text)))
        reached += [one for one in included if one.parent == reached[0].parent and one.exists() and one not in reached]
    return names


def names_of(path: pathlib.Path) -> tuple[dict[str, str], int]:
    """Names that no other file of a group may define otherwise, and the number of lines."""
    source = path.read_text(encoding="utf-8")
    text = stripped(source)
    names = dict.fromkeys([*MACRO.findall(text), *CONSTANT.findall(text)], "")
    statements = [one for one in unnamed_statements(text) if not one.startswith(NO_DEFINITION)]
    return names | dict(filter(None, map(definition, statements))), source.count("\n")


def groups_of(files: list[pathlib.Path], most_lines: int) -> list[int]:
    """In order of the files, so that neighbours meet: the first group that has room and no such name."""
    groups: list[tuple[dict[str, str], set[str], int]] = []
    result = []
    for path in files:
        names, lines = names_of(path)
        foreign = uses_of(path) - names.keys()
        for number, (taken, used, size) in enumerate(groups):
            if size + lines <= most_lines and foreign.isdisjoint(taken) and all(
                    text and taken[name] == text if name in taken else name not in used for name, text in names.items()):
                break
        else:
            number = len(groups)
            groups.append(({}, set(), 0))
        taken, used, size = groups[number]
        groups[number] = (taken | names, used | foreign, size + lines)
        result.append(number)
    return result


def main() -> int:
    files = [pathlib.Path(name) for name in sys.argv[2:]]
    print("\n".join(map(str, groups_of(files, int(sys.argv[1])))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
