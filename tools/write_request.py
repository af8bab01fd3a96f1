# SPDX-License-Identifier: Apache-2.0
"""Writes what follows from the table of a request's fields: docs/request.md and the types of
python/foretrain/request.py. The table comes from the program (`foretrain fields --json`).

    python3 tools/write_request.py --program build/release/foretrain [--check]

With --check nothing is written; it prints one line per file that is not what the table gives, and per field that the
reader, the command's options, the page or Python's types have and the table does not, or the other way round, and
exits with 1 where there is any.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import textwrap

from wrap_docs import wrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = "docs/request.md"
TYPES = "python/foretrain/request.py"
READER = "foretrain/request"  # sources of the JSON reader
WIDTH = 120

PYTHON_TYPES = {
    "text": "str",
    "boolean": "bool",
    "number": "float",
    "integer": "int",
    "list of integers": "list[int]",
    "list of texts": "list[str]",
    "name or object": "str | dict[str, Any]",
    "object": "str | Strategy",
}

DOCS_HEAD = """\
# The fields of a request

`tools/write_request.py` writes this page from the one table of fields in the program; do not edit it.

A request is a JSON object, a line of `foretrain predict --requests FILE`. The options of `foretrain predict` have the
same names with dashes (`--workers-per-node`), those of `strategy` too (`--servers`); `--strategy` itself is its `kind`,
or an object. Python's `foretrain.predict` takes the fields as keyword arguments. Required are `model` and
one of `device`, `cluster` and `cloud`; what is null counts as absent. The report lists the defaults that matter under
its assumptions.
"""

TYPES_HEAD = '''\
# SPDX-License-Identifier: Apache-2.0
"""The fields of a request, for type checkers; docs/request.md says what they mean.

tools/write_request.py writes this file from the program's table of fields; do not edit it.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict
'''


def run(program: pathlib.Path, *arguments: str, text: str = "") -> str:
    return subprocess.run([str(program), *arguments], input=text, stdout=subprocess.PIPE,
                          text=True, check=True).stdout


def number(value: float) -> str:
    if 0 < value < 1:
        return f"{value:g}".replace("e-0", "e-")
    return f"{value:g}".replace("e+", "e") if value > 1e12 else f"{value:,.0f}"


def allowed(row: dict) -> str:
    """The type with its words or range, as the page says it."""
    if "words" in row and row["type"] == "text":
        return ", ".join(f"`{word}`" for word in row["words"])
    if row["type"] == "object":
        return "text or object"
    text = row["type"]
    if "most" in row:
        least, most = number(row["least"]), number(row["most"])
        text += f" above {least}, at most {most}" if row["above"] else f", {least} to {most}"
    if "words" in row:
        text += ", or " + ", ".join(f"`{word}`" for word in row["words"])
    return text


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def docs_table(rows: list[dict], prefix: str = "") -> list[str]:
    lines = ["| field | type | meaning (default) |", "|---|---|---|"]
    for row in rows:
        default = f" ({row['default']})" if "default" in row else ""
        lines.append(f"| `{prefix}{row['name']}` | {cell(allowed(row))} | {cell(row['help'] + default)} |")
    return lines


def docs_page(table: list[dict]) -> str:
    lines = [DOCS_HEAD]
    groups = list(dict.fromkeys(row["group"] for row in table))
    for group in groups:
        lines += [f"## {group}", ""]
        lines += docs_table([row for row in table if row["group"] == group])
        for row in table:
            if row["group"] == group and "fields" in row:
                lines += ["", f"The object `{row['name']}`:", ""]
                lines += docs_table(row["fields"], row["name"] + ".")
        lines.append("")
    return wrap("\n".join(lines))


def python_type(row: dict) -> str:
    if "words" in row and row["type"] == "text":
        return "Literal[" + ", ".join(f'"{word}"' for word in row["words"]) + "]"
    if "words" in row and row["type"] == "integer":
        return "int | Literal[" + ", ".join(f'"{word}"' for word in row["words"]) + "]"
    return PYTHON_TYPES[row["type"]]


def typed_dict(name: str, about: str, rows: list[dict]) -> str:
    lines = ["", "", f"class {name}(TypedDict, total=False):", f'    """{about}"""', ""]
    for row in rows:
        line = f"    {row['name']}: {python_type(row)}"
        if len(line) > 100:  # as the formatter breaks it
            words = textwrap.wrap(python_type(row)[len("Literal["):-1], 90)
            line = "\n".join([f"    {row['name']}: Literal["] + ["        " + part for part in words] + ["    ]"])
        lines.append(line)
    return "\n".join(lines) + "\n"


def types_file(table: list[dict]) -> str:
    strategy = next(row for row in table if row["name"] == "strategy")["fields"]
    fields = [row for row in table if row["name"] != "model"]
    return (TYPES_HEAD
            + typed_dict("Strategy", "How the work is divided among the workers.", strategy)
            + typed_dict("Request", "What is asked besides the model: the keyword arguments of ``predict``.",
                         fields))


def names_of(table: list[dict]) -> set[str]:
    names = {row["name"] for row in table}
    return names | {f"{row['name']}.{inner['name']}" for row in table for inner in row.get("fields", [])}


def docs_names(page: str) -> set[str]:
    return set(re.findall(r"^(?:\| |- )`([a-z_.]+)`(?: \||:)", page, re.MULTILINE))


def types_names(text: str) -> set[str]:
    """The keys of both classes, as the table calls them; `model` is the function's own argument."""
    strategy, fields = text.split("class Strategy")[1].split("class Request")
    key = re.compile(r"^    ([a-z_]+): ", re.MULTILINE)
    return {"model"} | set(key.findall(fields)) | {"strategy." + name for name in key.findall(strategy)}


def option_names(program: pathlib.Path, table: list[dict]) -> set[str]:
    """What the groups of the table show in the help of predict, as the table calls it."""
    inner = {field["name"] for row in table for field in row.get("fields", [])}
    shown, group = {"strategy.kind"}, ""  # --strategy is its kind
    groups = {row["group"] for row in table}
    for line in run(program, "predict", "--help").splitlines():
        if re.fullmatch(r"[A-Z]\w*:", line):
            group = line[:-1]
        option = re.match(r"  --([a-z-]+)", line)
        if option and group in groups:
            name = option.group(1).replace("-", "_")
            shown.add("strategy." + name if name in inner else name)
    return shown


def source_words(root: pathlib.Path) -> set[str]:
    """Every word that the reader's sources hold, in quotes or as the name of a member: a field that the reader knows
    is one of them, whether the table has it or not."""
    words: set[str] = set()
    for path in sorted((root / READER).rglob("*")):
        if path.suffix in (".h", ".cc") and not path.name.endswith("_test.cc"):
            text = path.read_text(encoding="utf-8")
            words |= set(re.findall(r'"([a-z][a-z0-9_]*)"', text))
            words |= set(re.findall(r"\b([a-z][a-z0-9_]*)(?:;| = |\{)", text))
    return words


def read_names(program: pathlib.Path, asked: set[str]) -> set[str]:
    """Those that the JSON reader knows: it must object to the value, not to the name."""
    lines, names = [], sorted(asked)
    for name in names:
        outer, _, inner = name.partition(".")
        value = {inner: [[]]} if inner else [[]]
        lines.append(json.dumps({"model": "mlp", outer: value}))
    answers = run(program, "predict", "--requests", "-", text="\n".join(lines) + "\n").splitlines()
    messages = [json.loads(answer).get("error", {}).get("message", "") for answer in answers]
    return {name for name, message in zip(names, messages, strict=True) if "unknown field" not in message}


def findings(root: pathlib.Path, program: pathlib.Path, table: list[dict]) -> list[str]:
    result = []
    for file, text in ((DOCS, docs_page(table)), (TYPES, types_file(table))):
        path = root / file
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            result.append(f"{file}: not what the table of fields gives; run tools/write_request.py")
    names = names_of(table)
    words = source_words(root)
    asked = names | words | {f"{row['name']}.{word}" for row in table if "fields" in row for word in words}
    for what, found in (("the page", docs_names((root / DOCS).read_text(encoding="utf-8"))),
                        ("Python's types", types_names((root / TYPES).read_text(encoding="utf-8"))),
                        ("the options of predict", option_names(program, table)),
                        ("the JSON reader", read_names(program, asked))):
        for name in sorted(names ^ found):
            result.append(f"{name}: " + (f"{what} does not have it" if name in names
                                         else f"{what} has it, the table does not"))
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/foretrain")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    table = json.loads(run(options.program, "fields", "--json"))
    if options.check:
        found = findings(ROOT, options.program, table)
        print("\n".join(found) or "request fields: nothing found")
        return 1 if found else 0
    (ROOT / DOCS).write_text(docs_page(table), encoding="utf-8")
    (ROOT / TYPES).write_text(types_file(table), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
