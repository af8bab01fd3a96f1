# SPDX-License-Identifier: Apache-2.0
"""Holds the C++ sources against the module list of CMakeLists.txt and the rules for files.

A file includes only what its module declares, and no other module's internal headers; a module declares only what it
includes; the files of a module do not include each other in a circle. Tests are named *_test.cc, what they share
test_*: no other file includes that or their framework, and no other header serves tests alone. Prints one line per
finding and exits with 1 where there is any.
"""
import argparse
import pathlib
import re
import sys
from typing import NamedTuple

ADAPTERS = {"cli", "server"}  # they may use anything; nothing may use them
FOLDERS = ("foretrain", "bench", "fuzz", "python", "tests")  # where C++ files lie
KEYWORDS = ("USES", "TESTS_USE", "LINKS", "APART")
JSON_HEADER = "foretrain/base/json.h"  # the one header that shows a third-party type
SPDX = "// SPDX-License-Identifier: Apache-2.0"
TEST_FRAMEWORKS = ("gtest/", "gmock/")
LINES = 600  # a file must stay below

MODULE = re.compile(r"^\s*foretrain_module\(([^)]*)\)", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
STANDARD = re.compile(r"[a-z0-9_]+")  # a header of the standard library has no folder or suffix


class Module(NamedTuple):
    """What a module may include, and what its tests may besides."""

    uses: list[str]
    tests_use: list[str]


class Include(NamedTuple):
    """One line of a source."""

    file: str
    line: int
    mark: str
    included: str


def declared_modules(cmake: str) -> dict[str, Module]:
    """The modules in the order of the list, each with those that it may use."""
    modules = {}
    for arguments in MODULE.findall(re.sub(r"#.*", "", cmake)):
        name, *rest = arguments.split()
        words: dict[str, list[str]] = {keyword: [] for keyword in KEYWORDS}
        keyword = None
        for word in rest:
            if word in KEYWORDS:
                keyword = word
            elif keyword:
                words[keyword].append(word)
        modules[name] = Module(words["USES"], words["TESTS_USE"])
    return modules


def check_list(modules: dict[str, Module]) -> list[str]:
    """A module may use only what stands before it, so the list cannot have a cycle."""
    findings, before = [], set()
    for name, module in modules.items():
        for used in module.uses + module.tests_use:
            if used in ADAPTERS:
                findings.append(f"CMakeLists.txt: {name} uses the adapter {used}")
            elif used not in before:
                why = "which comes later: a cycle or the wrong order" if used in modules else "which is not declared"
                findings.append(f"CMakeLists.txt: {name} uses {used}, {why}")
        for used in sorted(set(module.uses) & set(module.tests_use)):
            findings.append(f"CMakeLists.txt: {name} names {used} under USES and TESTS_USE: remove the second")
        before.add(name)
    return findings


def is_test(file: str) -> bool:
    """A test (ring_test.cc), what tests share (test_graphs.h), or a fuzz target."""
    name = file.rsplit("/", 1)[-1]
    return file.startswith("fuzz/") or name.startswith("test_") or name.endswith("_test.cc")


def module_of(file: str) -> str | None:
    """The module that a file or an include belongs to."""
    parts = file.split("/")
    return parts[1] if parts[0] == "foretrain" and len(parts) > 2 else None


def is_internal(header: str) -> bool:
    """What lies in a subfolder of a module is for that module alone."""
    return header.startswith("foretrain/") and header.count("/") > 2


def check_include(include: Include, modules: dict[str, Module]) -> str | None:
    """What is wrong with one include."""
    file, included, module = include.file, include.included, module_of(include.file)
    is_header = file.endswith(".h")
    if included.startswith("foretrain/"):
        if is_test(included) and not is_test(file):
            return f"includes {included}, which is for tests"
        used = module_of(included)
        if used != module and is_internal(included) and not file.startswith("fuzz/"):
            return f"includes {included}, which is internal to {used}"
        if module is not None and module not in ADAPTERS and used != module:
            if used in ADAPTERS:
                return f"includes {included}: nothing may use {used}"
            declared = modules.get(module, Module([], []))
            if used not in declared.uses + (declared.tests_use if is_test(file) else []):
                return f"includes {included}, but {module} does not use {used}"
        if is_header and included == JSON_HEADER and file != JSON_HEADER:
            return f"includes {included}, which is for .cc files"
        return None
    if included.startswith(TEST_FRAMEWORKS) and not is_test(file):
        return f"includes <{included}>, but is named neither *_test.cc nor test_*"
    if include.mark == '"':
        return f'includes "{included}": write the path from the root, foretrain/...'
    if is_header and file != JSON_HEADER and not is_test(file) and not STANDARD.fullmatch(included):
        return f"is a header and includes <{included}>, which is not of the standard library"
    return None


def check_lines(file: str, lines: list[str]) -> list[str]:
    findings = []
    if not lines or lines[0] != SPDX:
        findings.append(f"{file}:1: the first line must be {SPDX}")
    if file.endswith(".h") and "#pragma once" not in lines:
        findings.append(f"{file}: #pragma once is missing")
    if len(lines) >= LINES:
        findings.append(f"{file}: {len(lines)} lines; split it below {LINES}")
    return findings


def includes_of(file: str, lines: list[str]) -> list[Include]:
    matches = ((number, INCLUDE.match(line)) for number, line in enumerate(lines, 1))
    return [Include(file, number, *match.groups()) for number, match in matches if match]


def check_uses(modules: dict[str, Module], includes: list[Include]) -> list[str]:
    """A declared use must be one: of some source for USES, of some test for TESTS_USE."""
    seen = {(module_of(i.file), is_test(i.file), module_of(i.included)) for i in includes}
    findings = []
    for name, module in modules.items():
        for used in module.uses:
            if used in modules and (name, False, used) not in seen:
                only = ", only its tests do: move it to TESTS_USE" if (name, True, used) in seen else ""
                findings.append(f"CMakeLists.txt: {name} declares {used}, but does not include it{only}")
        for used in module.tests_use:
            if used in modules and (name, True, used) not in seen:
                findings.append(f"CMakeLists.txt: {name} declares {used} for its tests, which do not include it")
    return findings


def check_served(files: set[str], includes: list[Include]) -> list[str]:
    """A header that tests alone include, besides the source of its name, is theirs or serves nothing."""
    users: dict[str, set[bool]] = {}
    for include in includes:
        if unit(include.file) != unit(include.included):
            users.setdefault(include.included, set()).add(is_test(include.file))
    return [f"{file}: only tests include it: name it test_*, or remove it" for file in sorted(files)
            if file.endswith(".h") and not is_test(file) and users.get(file) == {True}]


def unit(file: str) -> str:
    """A header and the source of its name are one unit, wherever the header lies."""
    return file.rsplit(".", 1)[0].replace("/detail/", "/")


def check_cycles(includes: list[Include]) -> list[str]:
    """Units of one module that include each other in a circle, each circle as one finding."""
    edges: dict[str, set[str]] = {}
    for include in includes:
        module = module_of(include.file)
        if module and module == module_of(include.included):
            edges.setdefault(unit(include.file), set()).add(unit(include.included))

    def reachable(start: str) -> set[str]:
        found: set[str] = set()
        ahead = list(edges.get(start, ()))
        while ahead:
            if (name := ahead.pop()) not in found:
                found.add(name)
                ahead += edges.get(name, ())
        return found

    reach = {name: reachable(name) - {name} for name in edges}
    circles = {frozenset({name} | {other for other in reach[name] if name in reach.get(other, ())}) for name in reach}
    return [f"{' <-> '.join(sorted(circle))}: include each other" for circle in
            sorted(circles, key=sorted) if len(circle) > 1]


def check(root: pathlib.Path) -> list[str]:
    modules = declared_modules((root / "CMakeLists.txt").read_text(encoding="utf-8"))
    if not modules:
        return ["CMakeLists.txt: no foretrain_module(...) found"]
    findings = check_list(modules)
    files, includes = set(), []
    for path in sorted(p for folder in FOLDERS for p in (root / folder).rglob("*")):
        if path.suffix in (".h", ".cc") and path.is_file():
            file = path.relative_to(root).as_posix()
            lines = path.read_text(encoding="utf-8").splitlines()
            files.add(file)
            findings += check_lines(file, lines)
            includes += includes_of(file, lines)
    for include in includes:
        if problem := check_include(include, modules):
            findings.append(f"{include.file}:{include.line}: {problem}")
    findings += check_uses(modules, includes) + check_cycles(includes) + check_served(files, includes)
    for folder in sorted({p.parent.name for p in (root / "foretrain").glob("*/*.*")}):
        if folder not in modules and folder not in ADAPTERS:
            findings.append(f"foretrain/{folder}: not declared by foretrain_module in CMakeLists.txt")
    return findings


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    findings = check(parser.parse_args().root)
    print("\n".join(findings) or "layers: nothing found")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
