# SPDX-License-Identifier: Apache-2.0
"""Holds the C++ sources against the module list of CMakeLists.txt and the rules for files.

Prints one line per finding and exits with 1 where there is any.
"""
import argparse
import pathlib
import re
import sys

ADAPTERS = {"cli", "server"}  # they may use anything; nothing may use them
JSON_HEADER = "foretrain/base/json.h"  # the one header that shows a third-party type
SPDX = "// SPDX-License-Identifier: Apache-2.0"
LINES = 600  # a file must stay below

MODULE = re.compile(r"^\s*foretrain_module\(([^)]*)\)", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
STANDARD = re.compile(r"[a-z0-9_]+")  # a header of the standard library has no folder or suffix


def declared_modules(cmake: str) -> dict[str, list[str]]:
    """The modules in the order of the list, each with those that it may use."""
    modules = {}
    for arguments in MODULE.findall(re.sub(r"#.*", "", cmake)):
        name, *rest = arguments.split()
        uses, keyword = [], None
        for word in rest:
            if word in ("USES", "LINKS", "APART"):
                keyword = word
            elif keyword == "USES":
                uses.append(word)
        modules[name] = uses
    return modules


def check_list(modules: dict[str, list[str]]) -> list[str]:
    """A module may use only what stands before it, so the list cannot have a cycle."""
    findings, before = [], set()
    for name, uses in modules.items():
        for used in uses:
            if used in ADAPTERS:
                findings.append(f"CMakeLists.txt: {name} uses the adapter {used}")
            elif used not in before:
                why = "which comes later: a cycle or the wrong order" if used in modules else "which is not declared"
                findings.append(f"CMakeLists.txt: {name} uses {used}, {why}")
        before.add(name)
    return findings


def is_test(file: str) -> bool:
    """A test, a header that only tests share (test_graphs.h, onnx_test_file.h), or a fuzz target."""
    return file.startswith("fuzz/") or "test" in file.rsplit("/", 1)[-1].split(".")[0].split("_")


def check_include(file: str, module: str | None, mark: str, included: str, modules: dict[str, list[str]]) -> str | None:
    """What is wrong with one include of `file`, which belongs to `module` (None: to no module)."""
    is_header = file.endswith(".h")
    if included.startswith("foretrain/"):
        if is_test(included) and not is_test(file):
            return f"includes {included}, which is for tests"
        used = included.split("/")[1]
        if module is not None and module not in ADAPTERS and used != module:
            if used in ADAPTERS:
                return f"includes {included}: nothing may use {used}"
            if used not in modules.get(module, []):
                return f"includes {included}, but {module} does not use {used}"
        if is_header and included == JSON_HEADER and file != JSON_HEADER:
            return f"includes {included}, which is for .cc files"
        return None
    if mark == '"':
        return f'includes "{included}": write the path from the root, foretrain/...'
    if is_header and file != JSON_HEADER and not is_test(file) and not STANDARD.fullmatch(included):
        return f"is a header and includes <{included}>, which is not of the standard library"
    return None


def check_file(root: pathlib.Path, path: pathlib.Path, modules: dict[str, list[str]]) -> list[str]:
    file = path.relative_to(root).as_posix()
    parts = file.split("/")
    module = parts[1] if parts[0] == "foretrain" and len(parts) > 2 else None
    lines = path.read_text(encoding="utf-8").splitlines()
    findings = []
    if not lines or lines[0] != SPDX:
        findings.append(f"{file}:1: the first line must be {SPDX}")
    if file.endswith(".h") and "#pragma once" not in lines:
        findings.append(f"{file}: #pragma once is missing")
    if len(lines) >= LINES:
        findings.append(f"{file}: {len(lines)} lines; split it below {LINES}")
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if match and (problem := check_include(file, module, *match.groups(), modules)):
            findings.append(f"{file}:{number}: {problem}")
    return findings


def check(root: pathlib.Path) -> list[str]:
    modules = declared_modules((root / "CMakeLists.txt").read_text(encoding="utf-8"))
    if not modules:
        return ["CMakeLists.txt: no foretrain_module(...) found"]
    findings = check_list(modules)
    files = sorted(p for folder in ("foretrain", "bench", "fuzz", "tests") for p in (root / folder).rglob("*"))
    for path in files:
        if path.suffix in (".h", ".cc") and path.is_file():
            findings += check_file(root, path, modules)
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
