# SPDX-License-Identifier: Apache-2.0
"""Writes docs/accuracy.md: what became of every row of measurement, and the errors.

    python3 tools/write_accuracy.py PROGRAM DATA OUT

runs `PROGRAM evaluate --data DATA --by file,metric --json`; where the numbers come from and what
they were used for is read from the mappings, data/evaluate/*.json.
"""
import argparse
import json
import pathlib
import re
import subprocess

MAPPINGS = pathlib.Path(__file__).resolve().parent.parent / "data/evaluate"
REASONS_SHOWN = 6  # of a file


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else ""


def percent(value: float | None, sign: str = "") -> str:
    return "" if value is None else f"{value:{sign}.1f} %"


def plain(text: str) -> str:
    """Text that a Markdown table shows as it is."""
    return re.sub(r"\s+", " ", text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def table(header: list[str], rows: list[list[str]], left: int) -> list[str]:
    """The first `left` columns hold text, the others numbers."""
    rule = ["---" if i < left else "---:" for i in range(len(header))]
    return ["| " + " | ".join(cells) + " |" for cells in [header, rule, *rows]]


def repositories(file: str) -> str:
    links = [(url.removeprefix("https://github.com/"), url) for url in mapping(file).get("repositories", [])]
    return ", ".join(f"[{name}]({url})" for name, url in links)


def mapping(file: str) -> dict:
    path = MAPPINGS / f"{file}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def coverage(result: dict) -> list[str]:
    rows = []
    for one in [*result["files"], {"file": "all", **result["total"]}]:
        mapped = one["predicted"] + one["refused"]
        rows.append([one["file"], repositories(one["file"]), f"{one['rows']:,}", f"{mapped:,}",
                     share(mapped, one["rows"]), f"{one['predicted']:,}", f"{one['refused']:,}",
                     f"{one['rows'] - mapped:,}"])
    return table(["file", "from", "rows", "mapped", "share", "predicted", "refused", "unmapped"], rows, 2)


def errors(result: dict) -> list[str]:
    rows = [[one["file"], plain(one["metric"]), f"{one['predicted']:,}", percent(one["mape_percent"]),
             percent(one["median_ape_percent"]), percent(one["bias_percent"], "+")]
            for one in result["groups"] if one["predicted"] > 0]
    return table(["file", "number", "cases", "MAPE", "median", "bias"], rows, 2)


def constants(result: dict) -> list[str]:
    rows = []
    for one in result["files"]:
        used = mapping(one["file"]).get("constants", "none")
        if used != "none":
            rows.append([one["file"], plain(used)])
    return table(["file", "constants that were chosen with its rows in view"], rows, 2)


def reasons(result: dict) -> list[str]:
    lines = []
    for one in result["files"]:
        of_file = [r for r in result["unmapped"] if r["file"] == one["file"]]
        if not of_file:
            continue
        lines += ["", f"**{one['file']}**", ""]
        lines += [f"- {r['rows']:,} {r['outcome']}: {plain(r['reason'])}" for r in of_file[:REASONS_SHOWN]]
        rest = of_file[REASONS_SHOWN:]
        if rest:
            lines.append(f"- {sum(r['rows'] for r in rest):,} for {len(rest)} other reasons")
    return lines


def page(result: dict) -> str:
    lines = [
        "# Accuracy",
        "",
        "Written by `make accuracy DATA=dir`; do not edit. Public measurements of training, row by row, against predictions",
        "from the model's graph and the hardware's data sheet. [evaluate.md](evaluate.md) says how rows become requests.",
        "",
        "## Rows",
        "",
        "*Mapped* rows are complete requests; of those, *refused* ones ask for something that this version cannot answer.",
        "*Unmapped* rows do not state enough, are not comparable, or have a model that the zoo cannot name.",
        "",
        *coverage(result),
        "",
        "## Errors",
        "",
        "MAPE is the mean and median the median of abs(predicted / measured − 1), bias the mean of predicted / measured − 1:",
        "above 0 times are predicted too long and rates too high.",
        "",
        *errors(result),
        "",
        "Errors on these files are in sample, in part; [models.md](models.md) says which constant comes from where.",
        "On all other files the errors are of predictions.",
        "",
        *constants(result),
        "",
        "## Rows without a prediction",
        "",
        "`foretrain evaluate --data dir --unmapped` lists every reason with the first line that it holds for.",
        *reasons(result),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("data")
    parser.add_argument("out", type=pathlib.Path)
    options = parser.parse_args()
    command = [options.program, "evaluate", "--data", options.data, "--by", "file,metric", "--json"]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    options.out.write_text(page(json.loads(answer.stdout)), encoding="utf-8")


if __name__ == "__main__":
    main()
