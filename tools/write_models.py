# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of constants on the pages of docs/models/ from the files in use.

A page has blocks that this program fills; FILE is a name of data/predictors/ without .json:

    <!-- constants: FILE GROUP -->   a table of the group's numbers and their sources, or a list of its entries
    <!-- end -->
    <!-- fields: FILE STRUCT -->     a table of a struct's fields, in the header that goes with FILE
    <!-- end -->

What a number means is said once, in the comment at its field in a C++ header; a unit in brackets may begin it, or
the comment of its struct. No key is named here, so numbers may be added and renamed freely.
With --check nothing is written: prints what differs, groups without a table, constants named in a page's text or
formulas (`group.key`) that no file has, and pages that the index leaves out; exits with 1 where there is any.
"""
import argparse
import dataclasses
import json
import pathlib
import re
import sys

from wrap_docs import wrap

PAGES = "docs/models"
INDEX = "README.md"
# The header and its struct that say what the numbers of a file mean.
HEADERS = {
    "operators": ("foretrain/cost/constants.h", "Constants"),
    "collectives": ("foretrain/comm/constants.h", "Constants"),
    "exchange": ("foretrain/comm/exchange_costs.h", "ExchangeCosts"),
    "straggling": ("foretrain/cost/straggling.h", "Straggling"),
    "replay": ("foretrain/inspector/replay_constants.h", "ReplayConstants"),
    "memory_context": ("foretrain/memory/context.h", "ContextBytes"),
    "frameworks": ("foretrain/cost/framework.h", "Framework"),
    "intervals": ("foretrain/knowledge/intervals.h", "Intervals"),
}
HEAD = ("format", "version", "notes")  # of every file
BLOCK = re.compile(r"<!-- (constants|fields): (\w+) (\w+) -->\n.*?<!-- end -->", re.DOTALL)
STRUCT = re.compile(r"\s*struct (\w+)(?: : \w[\w:]*)? \{$")
FIELD = re.compile(r"(\s*)([\w:]+(?:<.*>)?) (\w+)(?: = ([^;]*)|\{(.*)\})?;\s*(?://\s?(.*))?$")
COMMENT = re.compile(r"(\s*)//\s?(.*)$")
UNIT = re.compile(r"\[([^\]]+)\] *")
NAMED = re.compile(r"`([a-z]\w*)\.([a-z]\w*)(?:\.\d+)?`")
FORMULAS = re.compile(r"^ *```text\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
NAMED_IN_FORMULA = re.compile(r"(?<![\w./])([a-z]\w*)\.([a-z]\w*)(?![\w./(])")
FILE_ENDINGS = {"cc", "cpp", "csv", "cuh", "h", "json", "jsonl", "md", "py", "so", "yaml"}
SUFFIXES = {"_s_per_byte": "s per byte", "_bytes": "B", "_s": "s"}


@dataclasses.dataclass
class Field:
    type: str
    default: str
    comment: str


@dataclasses.dataclass
class Struct:
    comment: str
    fields: dict[str, Field] = dataclasses.field(default_factory=dict)


def read_structs(text: str) -> dict[str, Struct]:
    """The structs of a header with what their comments say, above or beside a field."""
    structs: dict[str, Struct] = {}
    open_structs: list[Struct] = []
    above: list[str] = []
    last: Field | None = None  # whose comment the next line may continue
    last_indent = 0
    for line in re.sub(r"=\n\s+", "= ", text).splitlines():  # a field whose default clang-format has put below it
        comment = COMMENT.match(line)
        if comment and last is not None and len(comment.group(1)) > last_indent:
            last.comment += " " + comment.group(2)
            continue
        last = None
        if comment:
            above.append(comment.group(2))
            continue
        if found := STRUCT.match(line):
            open_structs.append(structs.setdefault(found.group(1), Struct(" ".join(above))))
        elif re.match(r"\s*\};", line) and open_structs:
            open_structs.pop()
        elif open_structs and (found := FIELD.match(line)):
            indent, kind, name, value, braced, beside = found.groups()
            field = Field(kind, value or braced or "", " ".join([*above, *([beside] if beside else [])]))
            open_structs[-1].fields[name] = field
            last, last_indent = (field, len(indent)) if beside else (None, 0)
        above = []
    return structs


def plain(name: str) -> str:
    return name.replace("_", "")


def words(name: str) -> list[str]:
    return sorted(name.split("_"))


def without_suffix(name: str) -> str:
    return next((name[: -len(suffix)] for suffix in SUFFIXES if name.endswith(suffix)), name)


def struct_of(group: str, root: Struct, structs: dict[str, Struct]) -> Struct | None:
    """The struct that a group of the file is read into."""
    for name, field in root.fields.items():
        if plain(name) == plain(group) and field.type in structs:
            return structs[field.type]
    return None


def field_of(group: str, key: str, root: Struct, structs: dict[str, Struct]) -> Field | None:
    """The field that says what `group.key` is: of the group's struct, or of the root by both names or one."""
    struct = struct_of(group, root, structs)
    if struct is not None:
        return struct.fields.get(key)
    both = words(without_suffix(group) + "_" + key)
    for name, field in root.fields.items():
        if words(name) == both:
            return field
    return root.fields.get(key) or root.fields.get(without_suffix(group))


def split_unit(comment: str) -> tuple[str, str]:
    unit = UNIT.match(comment)
    return (unit.group(1), comment[unit.end():]) if unit else ("", comment)


def unit_of(group: str, key: str, comment: str, struct_comment: str) -> str:
    named = split_unit(comment)[0] or split_unit(struct_comment)[0]
    if named:
        return "" if named == "-" else named
    for name in (key, group):
        for suffix, unit in SUFFIXES.items():
            if name.endswith(suffix):
                return unit
    return ""


def number(value: float) -> str:
    return f"{value:.10g}"


def scaled(value: float, unit: str) -> str:
    """The value with its unit, seconds and bytes in the multiple that reads best."""
    if unit.split(" ")[0] == "s" and value > 0:
        rest = unit[1:]
        for factor, name in ((1, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns"), (1e12, "ps")):
            if value * factor >= 0.9995:
                return f"{number(round(value * factor, 6))} {name}{rest}"
    if unit == "B" and value >= 1e6:
        if value % 2**20 == 0:
            return f"{number(value / 2**20)} MiB"
        return f"{number(value / 1e6)} MB" if value < 1e9 else f"{number(value / 1e9)} GB"
    return (number(value) + " " + unit.replace("us", "µs")).strip()


def shown(value: object, unit: str) -> str:
    if isinstance(value, list):
        return ", ".join(scaled(one, unit) for one in value)
    return scaled(float(value), unit)  # type: ignore[arg-type]


def settings(entry: dict) -> str:
    """Fields of an entry as text: nested ones by their path."""
    parts = []
    for key, value in entry.items():
        if isinstance(value, dict):
            parts += [f"{key}.{part}" for part in settings(value).split(", ")]
        elif value is True:
            parts.append(key)
        else:
            text = "no" if value is False else value if isinstance(value, str) else number(value)
            parts.append(f"{key} {text}")
    return ", ".join(parts)


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").strip()


def table(header: list[str], rows: list[list[str]]) -> list[str]:
    line = lambda cells: "| " + " | ".join(cell(c) for c in cells) + " |"
    return [line(header), "|" + "---|" * len(header), *(line(row) for row in rows)]


def is_group(entries: object) -> bool:
    """Whether they are constants, or entries with names; else they are results such as cells of intervals."""
    return isinstance(entries, dict) or (isinstance(entries, list) and all("name" in entry for entry in entries))


def is_described(entry: object) -> bool:
    return isinstance(entry, dict) and "value" not in entry


def list_of_entries(entries: dict[str, dict]) -> list[str]:
    """Of entries that are described by settings, not numbers; equal ones share an item."""
    rows: dict[tuple[str, str], list[str]] = {}
    for name, entry in entries.items():
        rest = {key: value for key, value in entry.items() if key not in ("name", "source")}
        rows.setdefault((settings(rest), entry.get("source", "")), []).append(f"`{name}`")
    return [f"- {', '.join(names)}: {what}" + (f". *Source:* {source}" if source else "")
            for (what, source), names in rows.items()]


class Repository:
    """The files of constants in use, and the headers that explain them."""

    def __init__(self, root: pathlib.Path):
        self.root = root
        self.files = {}
        self.structs = {}
        for name, (header, _) in HEADERS.items():
            text = (root / "data/predictors" / f"{name}.json").read_text(encoding="utf-8")
            content = json.loads(text)
            self.files[name] = {group: entries for group, entries in content.items()
                                if group not in HEAD and is_group(entries)}
            self.structs[name] = read_structs((root / header).read_text(encoding="utf-8"))

    def group(self, file: str, group: str):
        if file not in self.files:
            raise ValueError(f"no file {file}; known: {', '.join(self.files)}")
        if group not in self.files[file]:
            raise ValueError(f"{file} has no group {group}; it has {', '.join(self.files[file])}")
        entries = self.files[file][group]
        return {entry["name"]: entry for entry in entries} if isinstance(entries, list) else entries

    def constants(self, file: str, group: str) -> list[str]:
        entries = self.group(file, group)
        if all(is_described(entry) for entry in entries.values()):
            return list_of_entries(entries)
        header, root_name = HEADERS[file]
        structs = self.structs[file]
        root = structs[root_name]
        struct = struct_of(group, root, structs)
        group_comment = struct.comment if struct else ""
        rows = []
        sources: list[str] = []
        for key, entry in entries.items():
            if isinstance(entry, str):  # where the whole group comes from
                sources.append(f"- all of them: {entry}")
                continue
            field = field_of(group, key, root, structs)
            if field is None or not split_unit(field.comment)[1]:
                raise ValueError(f"no comment in {header} says what {group}.{key} is")
            value, source = (entry["value"], entry["source"]) if isinstance(entry, dict) else (entry, "")
            text = shown(value, unit_of(group, key, field.comment, group_comment))
            rows.append([f"`{group}.{key}`", text, split_unit(field.comment)[1]])
            sources += [f"- `{group}.{key}`: {source}"] if source else []
        about = split_unit(group_comment)[1]
        return [*([about, ""] if about else []), *table(["constant", "value", "meaning"], rows),
                *(["", "*Sources.*", "", *sources] if sources else [])]

    def fields(self, file: str, struct: str) -> list[str]:
        if file not in self.structs or struct not in self.structs[file]:
            raise ValueError(f"no struct {struct} in the header of {file}")
        rows = [[f"`{name}`", f"`{field.default.split('::')[-1]}`" if field.default else "", field.comment]
                for name, field in self.structs[file][struct].fields.items()]
        return table(["field", "default", "meaning"], rows)

    def names(self) -> set[tuple[str, str]]:
        return {(group, key) for groups in self.files.values() for group, entries in groups.items()
                if isinstance(entries, dict) for key in entries}


def filled(page: str, repository: Repository) -> str:
    def block(match: re.Match) -> str:
        kind, file, name = match.groups()
        lines = getattr(repository, kind)(file, name)
        body = wrap("\n".join(lines))
        return f"<!-- {kind}: {file} {name} -->\n\n{body}\n\n<!-- end -->"
    return BLOCK.sub(block, page)


def named_in(page: str) -> list[tuple[str, str]]:
    """What a page names as group.key, in backticks or in a formula."""
    return NAMED.findall(page) + [name for text in FORMULAS.findall(page) for name in NAMED_IN_FORMULA.findall(text)]


def findings_of(root: pathlib.Path) -> list[str]:
    """What is wrong with the pages, a line each."""
    folder = root / PAGES
    if not folder.is_dir():
        return []
    repository = Repository(root)
    findings = []
    tables = set()
    index = (folder / INDEX).read_text(encoding="utf-8")
    for path in sorted(folder.glob("*.md")):
        page = path.read_text(encoding="utf-8")
        name = path.relative_to(root).as_posix()
        tables |= {(file, group) for kind, file, group in BLOCK.findall(page) if kind == "constants"}
        try:
            if filled(page, repository) != page:
                findings.append(f"{name}: not what the files in use say; tools/write_models.py writes it")
        except ValueError as error:
            findings.append(f"{name}: {error}")
        for group, key in named_in(page):
            if (group, key) not in repository.names() and key not in FILE_ENDINGS:
                findings.append(f"{name}: there is no constant {group}.{key}")
        if path.name != INDEX and f"({path.name})" not in index:
            findings.append(f"{PAGES}/{INDEX}: does not list {path.name}")
    for file, groups in repository.files.items():
        findings += [f"{PAGES}: no page has a table of {file} {group}"
                     for group in groups if (file, group) not in tables]
    return findings


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--check", action="store_true", help="write nothing, say what differs")
    options = parser.parse_args()
    if not options.check:
        repository = Repository(options.root)
        for path in sorted((options.root / PAGES).glob("*.md")):
            page = path.read_text(encoding="utf-8")
            path.write_text(filled(page, repository), encoding="utf-8")
    findings = findings_of(options.root)
    print("\n".join(findings) or "models: nothing found")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
